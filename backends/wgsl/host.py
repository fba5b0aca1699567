"""Runs a WGSL shader of a progress or memory test, again and again. Needs Python 3.11 and wgpu.

Prints "ready" once the shader is built. Of a progress test, prints a line for each iteration that has terminated; of a
memory test, "iteration N" with its outcomes as JSON: a list of rows, the count first and then the final value of each
term, and last the number of instances that found no row. A test that hangs does not come back: run this under
"timeout -s KILL 20", or let "synth run" watch it. Exit codes: 0 every iteration terminated, 2 the shader cannot be
built or launched, 3 threads were cut short, 124 the device gave up.
"""

from __future__ import annotations

import argparse
import json
import re
import struct
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from backends.shared.said import Said

BINDINGS = ("WORDS", "PLAIN_WORDS", "RESULT_WORDS", "HISTOGRAM_WORDS")
"""The sizes of a memory test's buffers, in the order of their bindings; the number of the iteration comes last."""


KINDS = defaultdict(
    lambda: "other", DiscreteGPU="GPU", IntegratedGPU="integrated GPU", VirtualGPU="virtual GPU", CPU="CPU"
)


class CutShortError(Exception):
    """Threads ended before their program did."""


def parser() -> argparse.ArgumentParser:
    """What the command line may say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shader", type=Path, nargs="?", help="the .wgsl file")
    parser.add_argument("iterations", type=int, nargs="?", default=20, help="how often to run it (20)")
    parser.add_argument("--device", default="", help="part of an adapter's name (any)")
    parser.add_argument("--number", type=int, default=0, help="which of the adapters of that name (0, the first)")
    parser.add_argument("--list", action="store_true", help="print the adapters as JSON, and run nothing")
    return parser


def main() -> int:
    """Build the shader that the command line names, and run it."""
    arguments = parser().parse_args()
    if arguments.list or arguments.shader is None:
        kinds = [[name, KINDS[adapter.info["adapter_type"]]] for name, adapter in adapters()]
        print("devices " + json.dumps(kinds))
        return 0
    code, words = run(arguments, arguments.shader, arguments.iterations)
    if code:
        print(words, file=sys.stderr)
    return code


def adapters() -> list[tuple[str, Any]]:
    """Every adapter with its name."""
    import wgpu
    from wgpu.backends.wgpu_native.extras import set_instance_extras

    set_instance_extras(backends=("Vulkan", "Metal", "DX12"))
    return [(name_of(adapter.info), adapter) for adapter in wgpu.gpu.enumerate_adapters_sync()]


@cache
def find(wanted: str, number: int) -> tuple[str, Any]:
    """An adapter's name and its device. Raises ``LookupError`` where there is none."""
    named = [each for each in adapters() if wanted in each[0]]
    if not 0 <= number < len(named):
        raise LookupError(f"no WebGPU adapter {number} named '{wanted}'")
    name, adapter = named[number]
    return name, adapter.request_device_sync()


def run(arguments: argparse.Namespace, path: Path, iterations: int) -> tuple[int, str]:
    """Run a shader so often; an exit code, and what to say at the end."""
    import wgpu

    text = path.read_text(encoding="utf-8")
    said = Said(text, iterations)
    try:
        # The shader's own constants say how much to launch.
        constant = {name: int(value) for name, value in re.findall(r"^const (\w+) = (\d+)u;$", text, re.MULTILINE)}
        name, device = find(arguments.device, arguments.number)
        said.runs_on(name, compiler=f"wgpu {wgpu.__version__}")
        module = device.create_shader_module(code=text)
        iterate = (memory if "ROWS" in constant else progress)(device, module, constant)
        said.began()
        print("ready", flush=True)
        for iteration in range(iterations):
            print(f"iteration {iteration} {(line := iterate(iteration))}", flush=True)
            if "ROWS" in constant:
                said.count(*json.loads(line))
    except CutShortError as error:
        said.failed(str(error))
        return 3, str(error)
    except (wgpu.GPUError, LookupError, RuntimeError) as error:
        words = " ".join(str(error).split())
        if "lost" in words.lower():
            return 124, f"{path.name}: {words}"
        said.failed(words)
        return 2, f"{path.name}: {words}"
    (said.counted if "ROWS" in constant else said.terminated)()
    return 0, ""


def name_of(info: Any) -> str:
    """An adapter in words: what it is, its driver, and what drives it."""
    return ", ".join(filter(None, (info["device"], info["description"], info["backend_type"])))


def progress(device: Any, module: Any, constant: dict[str, int]) -> Callable[[int], str]:
    """How an iteration of a progress test is run."""
    import wgpu

    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
    size = 4 * (constant["FINISHED"] + constant["STRIDE"])
    buffer = device.create_buffer(size=size, usage=usage)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "test"})
    resource = {"buffer": buffer, "offset": 0, "size": size}
    group = device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0), entries=[{"binding": 0, "resource": resource}]
    )
    expected = constant["INSTANCES"] * constant["SIZE"] % 2**32
    groups = constant.get("GROUPS", constant["THREADS"] * constant["INSTANCES"])

    def iterate(_: int) -> str:
        commands = device.create_command_encoder()
        commands.clear_buffer(buffer)
        dispatch(commands, pipeline, group, groups)
        device.queue.submit([commands.finish()])
        finished = device.queue.read_buffer(buffer, 4 * constant["FINISHED"], 4)  # a test that hangs stays here
        (sum_of_counters,) = struct.unpack("<I", finished)
        if sum_of_counters != expected:
            raise CutShortError(f"threads were cut short: sum of counters {sum_of_counters}, not {expected}")
        return "terminated"

    return iterate


def memory(device: Any, module: Any, constant: dict[str, int]) -> Callable[[int], str]:
    """How a launch of a memory test is run."""
    import wgpu

    storage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
    buffers = [device.create_buffer(size=4 * constant[size], usage=storage) for size in BINDINGS]
    buffers.append(device.create_buffer(size=4, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST))
    histogram, seed = buffers[-2:]
    kinds = ["storage"] * len(BINDINGS) + ["uniform"]
    layout = device.create_bind_group_layout(
        entries=[
            {"binding": number, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}}
            for number, kind in enumerate(kinds)
        ]
    )
    group = device.create_bind_group(
        layout=layout,
        entries=[
            {"binding": number, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
            for number, buffer in enumerate(buffers)
        ],
    )
    pipelines = {
        name: device.create_compute_pipeline(
            layout=device.create_pipeline_layout(bind_group_layouts=[layout]),
            compute={"module": module, "entry_point": name},
        )
        for name in ("reset", "run", "count")
    }
    instances = constant["INSTANCES"]
    each = instances // min(256, instances)
    words = constant["ROW_WORDS"]

    def iterate(iteration: int) -> str:
        device.queue.write_buffer(seed, 0, struct.pack("<I", iteration))
        commands = device.create_command_encoder()
        commands.clear_buffer(histogram)
        for name, groups in (("reset", each), ("run", constant["GROUPS"]), ("count", each)):
            dispatch(commands, pipelines[name], group, groups)
        device.queue.submit([commands.finish()])
        table = struct.unpack(f"<{constant['HISTOGRAM_WORDS']}I", device.queue.read_buffer(histogram))
        rows = [table[at : at + words] for at in range(2, len(table), words)]
        seen = sorted((list(row[1:]) for row in rows if row[0]), key=lambda row: row[1:])
        return json.dumps([seen, table[1]])

    return iterate


def dispatch(commands: Any, pipeline: Any, group: Any, groups: int) -> None:
    """A launch of so many workgroups."""
    run = commands.begin_compute_pass()
    run.set_pipeline(pipeline)
    run.set_bind_group(0, group)
    run.dispatch_workgroups(groups)
    run.end()


if __name__ == "__main__":
    sys.exit(main())
