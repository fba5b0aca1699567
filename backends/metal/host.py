"""Runs the Metal kernels of a progress or memory test, again and again. Needs macOS, Python 3.11 and
pyobjc-framework-Metal.

Prints "ready" once the kernels are built and were launched. Of a progress test, prints a line for each iteration that
has terminated; of a memory test, "iteration N" with its outcomes as JSON: a list of rows, the count first and then the
final value of each term, and last the number of instances that found no row. macOS ends a kernel that hangs after some
seconds; where it does not, end this process. Exit codes: 0 every iteration terminated, 2 the kernels cannot be built or
launched, 3 threads were cut short, 124 the device gave up.
"""

from __future__ import annotations

import argparse
import platform
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backends.shared import hosting as host

BUFFERS = ("WORDS", "RESULT_WORDS", "HISTOGRAM_WORDS")
"""The sizes of a memory test's buffers, in the order of their indices; the number of the iteration comes last."""

TIMEOUT = 2
"""The code of a command buffer that was ended for the time that it took (MTLCommandBufferErrorTimeout)."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options that choose a device."""
    return host.device_options(__doc__, "the .metal file")


def devices() -> list[tuple[str, str]]:
    """Return every device as a row of its name and its kind."""
    return [(device.name(), "integrated GPU" if device.isLowPower() else "GPU") for device in found()]


def found() -> list[Any]:
    """Return every device of Metal that this machine has."""
    import Metal

    return list(Metal.MTLCopyAllDevices())


def run(arguments: argparse.Namespace, path: Path, iterations: int) -> tuple[int, str]:
    """Run the kernels of a test for so many iterations, and return the exit code and the last words."""

    @contextmanager
    def started(text: str, constant: dict[str, int], report: host.TrialReport) -> Iterator[host.Iterate]:
        named = [device for device in found() if arguments.device in device.name()]
        if not 0 <= arguments.number < len(named):
            raise host.HostError(f"no Metal device {arguments.number} named '{arguments.device}'")
        device = named[arguments.number]
        report.runs_on(device.name(), f"macOS {platform.mac_ver()[0]}")
        library, error = device.newLibraryWithSource_options_error_(text, None, None)
        if library is None:
            raise host.HostError(error.localizedDescription())
        yield (memory if "ROWS" in constant else progress)(device, library, constant)

    return host.run_program(path, iterations, started)


def progress(device: Any, library: Any, constant: dict[str, int]) -> host.Iterate:
    """Return the function that runs an iteration of a progress test."""
    cells = host.finished_at(constant)
    buffer = allocated(device, cells + constant["STRIDE"])
    queue, test = device.newCommandQueue(), pipeline(device, library, "test")
    groups = host.groups_of(constant)

    def iterate(iteration: int) -> str:
        words(buffer)[:] = bytes(buffer.length())
        struct.pack_into("<I", words(buffer), 4 * cells + 4, iteration == host.WARM_UP)
        launch(queue, [buffer], [(test, groups, constant.get("GROUP_SIZE", 1))])  # a test that hangs stays here
        (sum_of_counters,) = struct.unpack_from("<I", words(buffer), 4 * cells)
        return host.terminated(sum_of_counters, constant, iteration)

    return iterate


def memory(device: Any, library: Any, constant: dict[str, int]) -> host.Iterate:
    """Return the function that runs a launch of a memory test."""
    buffers = [*(allocated(device, constant[size]) for size in BUFFERS), allocated(device, 1)]
    histogram, seed = buffers[-2:]
    queue = device.newCommandQueue()
    reset, run, count = (pipeline(device, library, name) for name in ("reset", "run", "count"))
    size = min(256, constant["INSTANCES"])
    per_instance = (constant["INSTANCES"] // size, size)

    def iterate(iteration: int) -> str:
        words(histogram)[:] = bytes(histogram.length())
        words(seed)[:] = struct.pack("<I", iteration)
        launch(
            queue,
            buffers,
            [(reset, *per_instance), (run, constant["GROUPS"], constant["GROUP_SIZE"]), (count, *per_instance)],
        )
        table = struct.unpack(f"<{constant['HISTOGRAM_WORDS']}I", words(histogram))
        return host.outcomes(table, constant)

    return iterate


def allocated(device: Any, size: int) -> Any:
    """Return a buffer of so many words, which the CPU sees as well."""
    import Metal

    buffer = device.newBufferWithLength_options_(4 * size, Metal.MTLResourceStorageModeShared)
    if buffer is None:
        raise host.HostError(f"no room for {4 * size} bytes")
    return buffer


def words(buffer: Any) -> Any:
    """Return the bytes of a buffer as memory that can be read and written."""
    return buffer.contents().as_buffer(buffer.length())


def pipeline(device: Any, library: Any, name: str) -> Any:
    """Return the pipeline of a kernel, which is ready to be launched."""
    made, error = device.newComputePipelineStateWithFunction_error_(library.newFunctionWithName_(name), None)
    if made is None:
        raise host.HostError(error.localizedDescription())
    return made


def launch(queue: Any, buffers: Sequence[Any], kernels: Sequence[tuple[Any, int, int]]) -> None:
    """Launch kernels, each when the one before it has ended, and wait; of each its threadgroups and their threads."""
    import Metal

    command = queue.commandBuffer()
    for kernel, groups, size in kernels:
        if size > kernel.maxTotalThreadsPerThreadgroup():
            raise host.HostError(f"a threadgroup of {size} threads: at most {kernel.maxTotalThreadsPerThreadgroup()}")
        encoder = command.computeCommandEncoder()
        encoder.setComputePipelineState_(kernel)
        for number, buffer in enumerate(buffers):
            encoder.setBuffer_offset_atIndex_(buffer, 0, number)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(
            Metal.MTLSizeMake(groups, 1, 1), Metal.MTLSizeMake(size, 1, 1)
        )
        encoder.endEncoding()
    command.commit()
    command.waitUntilCompleted()
    error = command.error()
    if error is not None:
        raise host.HostError(error.localizedDescription(), host.LOST if error.code() == TIMEOUT else 2)


if __name__ == "__main__":
    sys.exit(host.hosted(parser(), run, devices))
