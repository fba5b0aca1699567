"""Runs the Metal kernels of a progress or memory test, again and again. Needs macOS, Python 3.11 and
pyobjc-framework-Metal.

Prints "ready" once the kernels are built. Of a progress test, prints a line for each iteration that has terminated; of
a memory test, "iteration N" with its outcomes as JSON: a list of rows, the count first and then the final value of each
term, and last the number of instances that found no row. macOS ends a kernel that hangs after some seconds; where it
does not, end this process. Exit codes: 0 every iteration terminated, 2 the kernels cannot be built or launched, 3
threads were cut short, 124 the device gave up.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from backends.shared.said import Said

BUFFERS = ("WORDS", "RESULT_WORDS", "HISTOGRAM_WORDS")
"""The sizes of a memory test's buffers, in the order of their indices; the number of the iteration comes last."""

TIMEOUT = 2
"""The code of a command buffer that was ended for the time that it took (MTLCommandBufferErrorTimeout)."""


class CutShortError(Exception):
    """Threads ended before their program did."""


class DeviceError(Exception):
    """Metal's own words; ``code`` is the exit code."""

    def __init__(self, words: object, code: int = 2) -> None:
        super().__init__(" ".join(str(words).split()))
        self.code = code


def parser() -> argparse.ArgumentParser:
    """What the command line may say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", type=Path, nargs="?", help="the .metal file")
    parser.add_argument("iterations", type=int, nargs="?", default=20, help="how often to run it (20)")
    parser.add_argument("--device", default="", help="part of a device's name (any)")
    parser.add_argument("--number", type=int, default=0, help="which of the devices of that name (0, the first)")
    parser.add_argument("--list", action="store_true", help="print the devices as JSON, and run nothing")
    return parser


def main() -> int:
    """Build the kernels that the command line names, and run them."""
    arguments = parser().parse_args()
    if arguments.list or arguments.kernel is None:
        kinds = [[device.name(), "GPU" if not device.isLowPower() else "integrated GPU"] for device in devices()]
        print("devices " + json.dumps(kinds))
        return 0
    code, words = run(arguments, arguments.kernel, arguments.iterations)
    if code:
        print(words, file=sys.stderr)
    return code


def devices() -> list[Any]:
    """Every device of the machine."""
    import Metal

    return list(Metal.MTLCopyAllDevices())


def run(arguments: argparse.Namespace, path: Path, iterations: int) -> tuple[int, str]:
    """Run the kernels of a test so often; an exit code, and what to say at the end."""
    text = path.read_text(encoding="utf-8")
    said = Said(text, iterations)
    try:
        # The kernels' own constants say how much to launch.
        constant = {name: int(value) for name, value in re.findall(r"^#define (\w+) (\d+)u$", text, re.MULTILINE)}
        named = [device for device in devices() if arguments.device in device.name()]
        if not 0 <= arguments.number < len(named):
            raise DeviceError(f"no Metal device {arguments.number} named '{arguments.device}'")
        device = named[arguments.number]
        said.runs_on(device.name(), f"macOS {platform.mac_ver()[0]}")
        library, error = device.newLibraryWithSource_options_error_(text, None, None)
        if library is None:
            raise DeviceError(error.localizedDescription())
        iterate = (memory if "ROWS" in constant else progress)(device, library, constant)
        said.began()
        print("ready", flush=True)
        for iteration in range(iterations):
            print(f"iteration {iteration} {(line := iterate(iteration))}", flush=True)
            if "ROWS" in constant:
                said.count(*json.loads(line))
    except CutShortError as error:
        said.failed(str(error))
        return 3, str(error)
    except DeviceError as error:
        if error.code == 2:
            said.failed(str(error))
        return error.code, f"{path.name}: {error}"
    (said.counted if "ROWS" in constant else said.terminated)()
    return 0, ""


def progress(device: Any, library: Any, constant: dict[str, int]) -> Callable[[int], str]:
    """How an iteration of a progress test is run."""
    cells = constant["INSTANCES"] * constant["LOCATIONS"] * constant["STRIDE"]
    buffer = allocated(device, cells + constant["STRIDE"])
    queue, test = device.newCommandQueue(), pipeline(device, library, "test")
    groups = constant.get("GROUPS", constant["THREADS"] * constant["INSTANCES"])
    expected = constant["INSTANCES"] * constant["SIZE"] % 2**32

    def iterate(_: int) -> str:
        words(buffer)[:] = bytes(buffer.length())
        launch(queue, [buffer], [(test, groups, constant.get("GROUP_SIZE", 1))])  # a test that hangs stays here
        (sum_of_counters,) = struct.unpack_from("<I", words(buffer), 4 * cells)
        if sum_of_counters != expected:
            raise CutShortError(f"threads were cut short: sum of counters {sum_of_counters}, not {expected}")
        return "terminated"

    return iterate


def memory(device: Any, library: Any, constant: dict[str, int]) -> Callable[[int], str]:
    """How a launch of a memory test is run."""
    buffers = [*(allocated(device, constant[size]) for size in BUFFERS), allocated(device, 1)]
    histogram, seed = buffers[-2:]
    queue = device.newCommandQueue()
    reset, run, count = (pipeline(device, library, name) for name in ("reset", "run", "count"))
    size = min(256, constant["INSTANCES"])
    each = (constant["INSTANCES"] // size, size)
    row_words = constant["ROW_WORDS"]

    def iterate(iteration: int) -> str:
        words(histogram)[:] = bytes(histogram.length())
        words(seed)[:] = struct.pack("<I", iteration)
        launch(queue, buffers, [(reset, *each), (run, constant["GROUPS"], constant["GROUP_SIZE"]), (count, *each)])
        table = struct.unpack(f"<{constant['HISTOGRAM_WORDS']}I", words(histogram))
        rows = [table[at : at + row_words] for at in range(2, len(table), row_words)]
        seen = sorted((list(row[1:]) for row in rows if row[0]), key=lambda row: row[1:])
        return json.dumps([seen, table[1]])

    return iterate


def allocated(device: Any, size: int) -> Any:
    """A buffer of so many words, which the CPU sees as well."""
    import Metal

    buffer = device.newBufferWithLength_options_(4 * size, Metal.MTLResourceStorageModeShared)
    if buffer is None:
        raise DeviceError(f"no room for {4 * size} bytes")
    return buffer


def words(buffer: Any) -> Any:
    """The bytes of a buffer."""
    return buffer.contents().as_buffer(buffer.length())


def pipeline(device: Any, library: Any, name: str) -> Any:
    """A kernel, ready to be launched."""
    made, error = device.newComputePipelineStateWithFunction_error_(library.newFunctionWithName_(name), None)
    if made is None:
        raise DeviceError(error.localizedDescription())
    return made


def launch(queue: Any, buffers: Sequence[Any], kernels: Sequence[tuple[Any, int, int]]) -> None:
    """Launch kernels, each when the one before it has ended, and wait; of each its threadgroups and their threads."""
    import Metal

    command = queue.commandBuffer()
    for kernel, groups, size in kernels:
        if size > kernel.maxTotalThreadsPerThreadgroup():
            raise DeviceError(f"a threadgroup of {size} threads: at most {kernel.maxTotalThreadsPerThreadgroup()}")
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
        raise DeviceError(error.localizedDescription(), 124 if error.code() == TIMEOUT else 2)


if __name__ == "__main__":
    sys.exit(main())
