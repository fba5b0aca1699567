"""Runs a WGSL shader of a progress or memory test, again and again. Needs Python 3.11 and wgpu.

Prints "ready" once the shader is built and was launched. Of a progress test, prints a line for each iteration that has
terminated; of a memory test, "iteration N" with its outcomes as JSON: a list of rows, the count first and then the
final value of each term, and last the number of instances that found no row. A test that hangs does not come back: run
this under "timeout -s KILL 20", or let "synth run" watch it. Exit codes: 0 every iteration terminated, 2 the shader
cannot be built or launched, 3 threads were cut short, 124 the device gave up.
"""

from __future__ import annotations

import argparse
import struct
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from backends.shared import hosting as host

BINDINGS = ("WORDS", "PLAIN_WORDS", "RESULT_WORDS", "HISTOGRAM_WORDS")
"""The sizes of a memory test's buffers, in the order of their bindings; the number of the iteration comes last."""


KINDS = defaultdict(
    lambda: "other", DiscreteGPU="GPU", IntegratedGPU="integrated GPU", VirtualGPU="virtual GPU", CPU="CPU"
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options that choose an adapter."""
    return host.device_options(__doc__, "the .wgsl file")


def devices() -> list[tuple[str, str]]:
    """Return every adapter as a row of its name and its kind."""
    return [(name, KINDS[adapter.info["adapter_type"]]) for name, adapter in adapters()]


def adapters() -> list[tuple[str, Any]]:
    """Return every adapter of this machine, each with its name."""
    import wgpu
    from wgpu.backends.wgpu_native.extras import set_instance_extras

    set_instance_extras(backends=("Vulkan", "Metal", "DX12"))
    return [(name_of(adapter.info), adapter) for adapter in wgpu.gpu.enumerate_adapters_sync()]


@cache
def find(wanted: str, number: int) -> tuple[str, Any]:
    """Return the name of the adapter that is asked for, and its device."""
    named = [available for available in adapters() if wanted in available[0]]
    if not 0 <= number < len(named):
        raise host.HostError(f"no WebGPU adapter {number} named '{wanted}'")
    name, adapter = named[number]
    return name, adapter.request_device_sync()


def run(arguments: argparse.Namespace, path: Path, iterations: int) -> tuple[int, str]:
    """Run a shader for so many iterations, and return the exit code and the last words."""
    import wgpu

    @contextmanager
    def started(text: str, constant: dict[str, int], report: host.TrialReport) -> Iterator[host.Iterate]:
        try:
            name, device = find(arguments.device, arguments.number)
            report.runs_on(name, compiler=f"wgpu {wgpu.__version__}")
            module = device.create_shader_module(code=text)
            yield (memory if "ROWS" in constant else progress)(device, module, constant)
        except (wgpu.GPUError, RuntimeError) as error:
            raise host.HostError(error, host.LOST if "lost" in str(error).lower() else 2) from None

    return host.run_program(path, iterations, started)


def name_of(info: Any) -> str:
    """Return an adapter in words: what it is, its driver, and what drives it."""
    return ", ".join(filter(None, (info["device"], info["description"], info["backend_type"])))


def progress(device: Any, module: Any, constant: dict[str, int]) -> host.Iterate:
    """Return the function that runs an iteration of a progress test."""
    import wgpu

    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
    size = 4 * (constant["FINISHED"] + constant["STRIDE"])
    buffer = device.create_buffer(size=size, usage=usage)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "test"})
    resource = {"buffer": buffer, "offset": 0, "size": size}
    group = device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0), entries=[{"binding": 0, "resource": resource}]
    )
    groups, finished_at = host.groups_of(constant), 4 * constant["FINISHED"]

    def iterate(iteration: int) -> str:
        device.queue.write_buffer(buffer, finished_at + 4, struct.pack("<I", iteration == host.WARM_UP))
        commands = device.create_command_encoder()
        commands.clear_buffer(buffer, 0, finished_at + 4)
        dispatch(commands, pipeline, group, groups)
        device.queue.submit([commands.finish()])
        finished = device.queue.read_buffer(buffer, finished_at, 4)  # a test that hangs stays here
        (sum_of_counters,) = struct.unpack("<I", finished)
        return host.terminated(sum_of_counters, constant, iteration)

    return iterate


def memory(device: Any, module: Any, constant: dict[str, int]) -> host.Iterate:
    """Return the function that runs a launch of a memory test."""
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
    instance_groups = instances // min(256, instances)

    def iterate(iteration: int) -> str:
        device.queue.write_buffer(seed, 0, struct.pack("<I", iteration))
        commands = device.create_command_encoder()
        commands.clear_buffer(histogram)
        for name, groups in (("reset", instance_groups), ("run", constant["GROUPS"]), ("count", instance_groups)):
            dispatch(commands, pipelines[name], group, groups)
        device.queue.submit([commands.finish()])
        table = struct.unpack(f"<{constant['HISTOGRAM_WORDS']}I", device.queue.read_buffer(histogram))
        return host.outcomes(table, constant)

    return iterate


def dispatch(commands: Any, pipeline: Any, group: Any, groups: int) -> None:
    """Add a launch of so many workgroups to the commands."""
    run = commands.begin_compute_pass()
    run.set_pipeline(pipeline)
    run.set_bind_group(0, group)
    run.dispatch_workgroups(groups)
    run.end()


if __name__ == "__main__":
    sys.exit(host.hosted(parser(), run, devices))
