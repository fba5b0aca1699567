"""Runs memory tests that are in one kernel (``backends.opencl.batch``), for ``backends.shared.serve``.

The file of a test says beside its own constants in which file its kernel is, and its number there: ``// FILE NUMBER``
on its last line. The kernel is built once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from backends.opencl import memory_host
from backends.opencl.memory_host import parser, standard

__all__ = ["parser", "run"]


def run(arguments: argparse.Namespace, path: Path, iterations: int) -> tuple[int, str]:
    """As ``memory_host.run``."""
    return memory_host.run(arguments, path, iterations, build)


@cache
def built(device: Any, path: Path) -> tuple[Any, Any]:
    """The context and the kernel of a file."""
    import pyopencl as cl

    context = cl.Context([device])
    text = path.read_text(encoding="utf-8")
    return context, cl.Program(context, text).build([f"-cl-std={standard(device)}"]).every


def build(device: Any, path: Path, constant: dict[str, int]) -> tuple[Any, Callable[..., None]]:
    """As ``memory_host.separate``."""
    import numpy as np
    import pyopencl as cl

    file, number = path.read_text(encoding="utf-8").splitlines()[-1].removeprefix("// ").split()
    context, kernel = built(device, path.with_name(file))
    size = constant["GROUP_SIZE"]

    def launch(queue: Any, phase: int, memory: Any, results: Any, table: Any, seed: int) -> None:
        kernel.set_args(memory, results, table, np.uint32(seed), np.uint32(3 * int(number) + phase))
        threads = constant["GROUPS"] * size if phase == 1 else constant["INSTANCES"]
        cl.enqueue_nd_range_kernel(queue, kernel, (threads,), (size,))

    return context, launch
