"""Runs tests that share one OpenCL kernel. ``backends.opencl.batch`` writes it, and ``backends.shared.serve`` serves
it.

The file of a test says beside its own constants in which file its kernel is, and its number there: ``// FILE NUMBER``
on its last line. The kernel is built once.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

from backends.opencl.host import Launch, built, once, parser, run_with

__all__ = ["parser", "run"]


def run(arguments: argparse.Namespace, path: Path, iterations: int) -> tuple[int, str]:
    """Run a test that shares its kernel with others for so many iterations, and return the exit code and the last
    words.
    """
    return run_with(together, arguments, path, iterations)


@cache
def kernel_of(device: Any, path: Path) -> tuple[Any, Any]:
    """Return the context and the kernel that are built from a file."""
    context, program = built(device, path.read_text(encoding="utf-8"))
    return context, program.every


def together(device: Any, text: str, path: Path, constant: dict[str, int]) -> tuple[Any, Launch]:
    """Return the context of the kernel that a test shares with others, and the function that launches the test."""
    import numpy as np
    import pyopencl as cl

    file, number = text.splitlines()[-1].removeprefix("// ").split()
    context, kernel = kernel_of(device, path.with_name(file))
    if "ROWS" not in constant:
        return context, once(kernel, constant, np.uint32(number))
    size = constant["GROUP_SIZE"]

    def launch(queue: Any, phase: int, memory: Any, results: Any, table: Any, seed: int) -> None:
        kernel.set_args(memory, results, table, np.uint32(seed), np.uint32(3 * int(number) + phase))
        threads = constant["GROUPS"] * size if phase == 1 else constant["INSTANCES"]
        cl.enqueue_nd_range_kernel(queue, kernel, (threads,), (size,))

    return context, launch
