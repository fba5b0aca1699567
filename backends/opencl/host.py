"""Runs an OpenCL kernel of a progress test, again and again. Needs Python 3.11, numpy and pyopencl.

Prints "ready" once the kernel is built, and a line for each iteration that has terminated. A test that hangs does not
come back: run this under "timeout 20", or let "synth run" watch it. Exit codes: 0 every iteration terminated,
2 the kernel cannot be built or launched, 3 threads were cut short.
"""

from __future__ import annotations

import argparse
import re
import sys
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
    """Build the kernel that the command line names, and run it."""
    arguments = parser().parse_args()
    if arguments.kernel is None:
        parser().error("the .cl file is missing")
    code, words = run(arguments, arguments.kernel, arguments.iterations)
    print(words, file=sys.stderr if code else sys.stdout)
    return code


def run(arguments: argparse.Namespace, path: Path, iterations: int) -> tuple[int, str]:
    """Run a kernel so often; an exit code, and what to say at the end."""
    import numpy as np
    import pyopencl as cl

    text = path.read_text(encoding="utf-8")
    said = Said(text, iterations)
    try:
        # The kernel's own constants say how much to launch.
        constant = {name: int(value) for name, value in re.findall(r"^#define (\w+) (\d+)u$", text, re.MULTILINE)}
        groups = constant.get("GROUPS", constant["THREADS"] * constant["INSTANCES"])
        size = constant.get("GROUP_SIZE", 1)
        finished = constant["INSTANCES"] * constant["LOCATIONS"] * constant["STRIDE"]
        expected = constant["INSTANCES"] * constant["SIZE"]
        device = find(arguments)
        said.runs_on(f"{device.name.strip()}, {device.platform.version.split(',')[0]}", device.driver_version)
        context = cl.Context([device])
        kernel = cl.Program(context, text).build([f"-cl-std={standard(device)}"]).test
        queue = cl.CommandQueue(context)
        memory = np.zeros(finished + constant["STRIDE"], dtype=np.uint32)
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, memory.nbytes)
        result = np.zeros(1, dtype=np.uint32)
        kernel.set_args(buffer)
        said.began()
        print("ready", flush=True)
        for iteration in range(iterations):
            cl.enqueue_copy(queue, buffer, memory)
            cl.enqueue_nd_range_kernel(queue, kernel, (groups * size,), (size,))
            queue.finish()  # a test that hangs stays here
            cl.enqueue_copy(queue, result, buffer, src_offset=finished * 4)
            if result[0] != expected % 2**32:
                error = f"threads were cut short: sum of counters {result[0]}, not {expected}"
                said.failed(error)
                return 3, error
            print(f"iteration {iteration} terminated", flush=True)
    except (cl.Error, LookupError) as error:
        said.failed(str(error))
        return 2, f"{path.name}: {error}"
    said.terminated()
    return 0, f"{path.stem}: terminated in all of {iterations} iterations"


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
