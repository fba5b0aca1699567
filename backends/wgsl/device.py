"""WebGPU adapters, through the host that wgpu drives: Vulkan, Metal and DX12.

wgpu is of the ``wgpu`` extra (PyPI) and brings its native library. A shader that hangs ends with its process, by
SIGKILL; a driver that gives up on it loses the device, which the host reports as a hang. Lavapipe runs workgroups on
the threads of a pool, and the invocations of a workgroup in the lanes of one.
"""

from __future__ import annotations

from pathlib import Path

from backends.shared.hosted import MESA, PROBE_SIZES, Host
from backends.shared.syntax import WGSL

_PROBE = f"""\
@group(0) @binding(0) var<storage, read_write> memory: array<atomic<u32>>;
{chr(10).join(WGSL.definitions([*PROBE_SIZES.items(), ("FINISHED", 2)], ()))}
@compute @workgroup_size(1)
fn test() {{
    if (atomicLoad(&memory[3]) != 0u) {{ return; }}
    while (atomicAdd(&memory[0], 1u) != SIZE) {{ atomicAdd(&memory[FINISHED], 1u); }}
}}
"""

HOST = Host(
    title="WebGPU adapter",
    package="wgpu",
    install=f"pip install 'synth-litmus[wgpu]'; {MESA}",
    script=Path(__file__).with_name("host.py"),
    suffix=".wgsl",
    trial=_PROBE,
)
