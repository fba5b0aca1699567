"""Runs the OpenCL kernels of a memory test, again and again. Needs Python 3.11, numpy and pyopencl.

Prints "ready" once the kernels are built, and for each iteration "iteration N" with its outcomes as JSON: a list of
rows, the count first and then the final value of each term, and last the number of instances that found no row. Exit
codes: 0, or 2 where the kernels cannot be built or launched.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backends.shared.said import Said


def parser() -> argparse.ArgumentParser:
    """What the command line may say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", type=Path, nargs="?", help="the .cl file")
    parser.add_argument("iterations", type=int, nargs="?", default=20, help="how often to run it (20)")
    parser.add_argument("--platform", default="", help="part of an OpenCL platform's name and version (any)")
    parser.add_argument("--device", type=int, default=0, help="which of the devices of these platforms (0, the first)")
    return parser


def main() -> int:
    """Build the kernels that the command line names, and run them."""
    arguments = parser().parse_args()
    if arguments.kernel is None:
        parser().error("the .cl file is missing")
    code, words = run(arguments, arguments.kernel, arguments.iterations)
    if code:
        print(words, file=sys.stderr)
    return code


def separate(device: Any, path: Path, constant: dict[str, int]) -> tuple[Any, Callable[..., None]]:
    """The context of a test, and what launches its kernels: a queue, 0 to 2 for reset, run or count, the buffers of
    memory, results and histogram, and the seed.
    """
    import numpy as np
    import pyopencl as cl

    context = cl.Context([device])
    text = path.read_text(encoding="utf-8")
    program = cl.Program(context, text).build([f"-cl-std={standard(device)}"])
    kernels = program.reset, program.run, program.count
    each = (constant["INSTANCES"],), (min(256, constant["INSTANCES"]),)
    test = (constant["GROUPS"] * constant["GROUP_SIZE"],), (constant["GROUP_SIZE"],)

    def launch(queue: Any, phase: int, memory: Any, results: Any, table: Any, seed: int) -> None:
        arguments = ((memory,), (memory, results, np.uint32(seed)), (memory, results, table))[phase]
        kernels[phase].set_args(*arguments)
        cl.enqueue_nd_range_kernel(queue, kernels[phase], *(test if phase == 1 else each))

    return context, launch


def run(
    arguments: argparse.Namespace,
    path: Path,
    iterations: int,
    build: Callable[..., tuple[Any, Callable[..., None]]] = separate,
) -> tuple[int, str]:
    """Run the kernels of a test so often; an exit code, and what to say at the end."""
    import numpy as np
    import pyopencl as cl

    text = path.read_text(encoding="utf-8")
    said = Said(text, iterations)
    try:
        # The kernels' own constants say how much to launch.
        constant = {name: int(value) for name, value in re.findall(r"^#define (\w+) (\d+)u$", text, re.MULTILINE)}
        device = find(arguments)
        said.runs_on(f"{device.name.strip()}, {device.platform.version.split(',')[0]}", device.driver_version)
        context, launch = build(device, path, constant)
        queue = cl.CommandQueue(context)  # in order: each kernel sees what the one before it wrote
        memory, results, table = (
            cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * constant[size])
            for size in ("WORDS", "RESULT_WORDS", "HISTOGRAM_WORDS")
        )
        histogram = np.zeros(constant["HISTOGRAM_WORDS"], dtype=np.uint32)
        said.began()
        print("ready", flush=True)
        for iteration in range(iterations):
            cl.enqueue_copy(queue, table, np.zeros_like(histogram))
            for phase in range(3):
                launch(queue, phase, memory, results, table, iteration)
            cl.enqueue_copy(queue, histogram, table)
            rows = histogram[2:].reshape(-1, constant["ROW_WORDS"])
            seen = sorted(rows[rows[:, 0] > 0, 1:].tolist(), key=lambda row: row[1:])
            print(f"iteration {iteration} {json.dumps([seen, int(histogram[1])])}", flush=True)
            said.count(seen, int(histogram[1]))
        said.counted()
    except (cl.Error, LookupError) as error:
        said.failed(str(error))
        return 2, f"{path.name}: {error}"
    return 0, ""


def find(arguments: argparse.Namespace) -> Any:
    """The device that is asked for. Raises ``LookupError`` where there is none."""
    import pyopencl as cl

    devices = [
        device
        for platform in cl.get_platforms()
        if arguments.platform in f"{platform.name}, {platform.version}"
        for device in platform.get_devices()
    ]
    if not 0 <= arguments.device < len(devices):
        raise LookupError(f"no OpenCL device {arguments.device} on platforms named '{arguments.platform}'")
    return devices[arguments.device]


def standard(device: Any) -> str:
    """The newest OpenCL C of a device; those from 3.0 on call theirs 1.2."""
    version = re.match(r"OpenCL ([12])\.", device.version)
    return "CL3.0" if version is None else f"CL{version.group(1)}.{'0' if version.group(1) == '2' else '2'}"


if __name__ == "__main__":
    sys.exit(main())
