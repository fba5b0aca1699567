"""Runs the OpenCL kernels of a progress or memory test, again and again. Needs Python 3.11, numpy and pyopencl.

Prints "ready" once the kernels are built and were launched. Of a progress test, prints a line for each iteration that
has terminated; of a memory test, "iteration N" with its outcomes as JSON: a list of rows, the count first and then the
final value of each term, and last the number of instances that found no row. A test that hangs does not come back: run
this under "timeout 20", or let "synth run" watch it. Exit codes: 0 every iteration terminated, 2 the kernels cannot be
built or launched, 3 threads were cut short.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backends.shared import hosting as host

Launch = Callable[..., None]
"""Launches a kernel. Of a progress test: a queue, and the buffer. Of a memory test: a queue, 0 to 2 for reset, run or
count, the buffers of memory, results and histogram, and the seed.
"""

Build = Callable[[Any, str, Path, dict[str, int]], tuple[Any, Launch]]
"""What makes the kernels of a test on a device: its text, its file, its constants; gives a context too."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options that choose a device."""
    parser = host.options(__doc__, "the .cl file")
    parser.add_argument("--platform", default="", help="part of an OpenCL platform's name and version (any)")
    parser.add_argument("--device", type=int, default=0, help="which of the devices of these platforms (0, the first)")
    return parser


def run(arguments: argparse.Namespace, path: Path, iterations: int) -> tuple[int, str]:
    """Run the kernels of a file for so many iterations, and return the exit code and the last words."""
    return run_with(separate, arguments, path, iterations)


def run_with(build: Build, arguments: argparse.Namespace, path: Path, iterations: int) -> tuple[int, str]:
    """Run the kernels that ``build`` makes of a file for so many iterations, and return the exit code and the last
    words.
    """
    import pyopencl as cl

    @contextmanager
    def started(text: str, constant: dict[str, int], report: host.TrialReport) -> Iterator[host.Iterate]:
        try:
            device = find(arguments)
            report.runs_on(f"{device.name.strip()}, {device.platform.version.split(',')[0]}", device.driver_version)
            yield (memory if "ROWS" in constant else progress)(*build(device, text, path, constant), constant)
        except cl.Error as error:
            raise host.HostError(error) from None

    return host.run_program(path, iterations, started)


def find(arguments: argparse.Namespace) -> Any:
    """Return the device that the options of the command line choose."""
    import pyopencl as cl

    devices = [
        device
        for platform in cl.get_platforms()
        if arguments.platform in f"{platform.name}, {platform.version}"
        for device in platform.get_devices()
    ]
    if not 0 <= arguments.device < len(devices):
        raise host.HostError(f"no OpenCL device {arguments.device} on platforms named '{arguments.platform}'")
    return devices[arguments.device]


def built(device: Any, text: str) -> tuple[Any, Any]:
    """Return a context and a program, in the newest OpenCL C of the device; those from 3.0 on call theirs 1.2."""
    import pyopencl as cl

    context = cl.Context([device])
    version = re.match(r"OpenCL ([12])\.", device.version)
    standard = "CL3.0" if version is None else f"CL{version.group(1)}.{'0' if version.group(1) == '2' else '2'}"
    return context, cl.Program(context, text).build([f"-cl-std={standard}"])


def progress(context: Any, launch: Launch, constant: dict[str, int]) -> host.Iterate:
    """Return the function that runs an iteration of a progress test."""
    import numpy as np
    import pyopencl as cl

    queue, finished = cl.CommandQueue(context), host.finished_at(constant)
    cells = np.zeros(finished + constant["STRIDE"], dtype=np.uint32)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, cells.nbytes)
    sum_of_counters = np.zeros(1, dtype=np.uint32)

    def iterate(iteration: int) -> str:
        cells[finished + 1] = iteration == host.WARM_UP
        cl.enqueue_copy(queue, buffer, cells)
        launch(queue, buffer)
        queue.finish()  # a test that hangs stays here
        cl.enqueue_copy(queue, sum_of_counters, buffer, src_offset=finished * 4)
        return host.terminated(int(sum_of_counters[0]), constant, iteration)

    return iterate


def memory(context: Any, launch: Launch, constant: dict[str, int]) -> host.Iterate:
    """Return the function that runs a launch of a memory test."""
    import numpy as np
    import pyopencl as cl

    queue = cl.CommandQueue(context)  # in order: each kernel sees what the one before it wrote
    memory, results, table = (
        cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * constant[size])
        for size in ("WORDS", "RESULT_WORDS", "HISTOGRAM_WORDS")
    )
    histogram = np.zeros(constant["HISTOGRAM_WORDS"], dtype=np.uint32)

    def iterate(iteration: int) -> str:
        cl.enqueue_copy(queue, table, np.zeros_like(histogram))
        for phase in range(3):
            launch(queue, phase, memory, results, table, iteration)
        cl.enqueue_copy(queue, histogram, table)
        return host.outcomes(histogram.tolist(), constant)

    return iterate


def separate(device: Any, text: str, _: Path, constant: dict[str, int]) -> tuple[Any, Launch]:
    """Return a context and the launch of the kernels that the test's own file has."""
    import numpy as np
    import pyopencl as cl

    context, program = built(device, text)
    if "ROWS" not in constant:
        return context, once(program.test, constant)
    kernels = program.reset, program.run, program.count
    per_instance = (constant["INSTANCES"],), (min(256, constant["INSTANCES"]),)
    test = (constant["GROUPS"] * constant["GROUP_SIZE"],), (constant["GROUP_SIZE"],)

    def launch(queue: Any, phase: int, memory: Any, results: Any, table: Any, seed: int) -> None:
        kernels[phase].set_args(*((memory,), (memory, results, np.uint32(seed)), (memory, results, table))[phase])
        cl.enqueue_nd_range_kernel(queue, kernels[phase], *(test if phase == 1 else per_instance))

    return context, launch


def once(kernel: Any, constant: dict[str, int], *arguments: Any) -> Launch:
    """Return the launch of the kernel of a progress test; ``arguments`` come after its buffer."""
    import pyopencl as cl

    size = constant.get("GROUP_SIZE", 1)

    def launch(queue: Any, buffer: Any) -> None:
        kernel.set_args(buffer, *arguments)
        cl.enqueue_nd_range_kernel(queue, kernel, (host.groups_of(constant) * size,), (size,))

    return launch


if __name__ == "__main__":
    sys.exit(host.hosted(parser(), run))
