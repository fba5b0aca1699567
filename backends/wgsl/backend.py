"""WGSL as a back end: compiled and run by the WebGPU adapters of this machine, through the host that wgpu drives.

WebGPU is there for Vulkan, Metal and DX12. A shader is built by the host that would run it, on the adapter that would.
wgpu is of the ``wgpu`` extra (PyPI) and brings its native library. A shader that hangs ends with its process, by
SIGKILL; a driver that gives up on it loses the device, which the host reports as a hang. Lavapipe runs workgroups on
the threads of a pool, and the invocations of a workgroup in the lanes of one.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from backends.shared.backend import Backend
from backends.shared.files import shipped
from backends.shared.hosted import MESA, PROBE_SIZES, Host, HostedDevice
from backends.shared.log import as_comment
from backends.shared.syntax import WGSL
from backends.shared.toolchain import TIMEOUT, Compilation, Probed, run
from backends.wgsl.memory import WgslKernel
from backends.wgsl.progress import Wgsl
from corpus.extras import pip_install

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
    install=f"{pip_install('wgpu')}; {MESA}",
    script=Path(__file__).with_name("host.py"),
    suffix=".wgsl",
    trial=_PROBE,
)


class WgslCompiler:
    """wgpu on the adapter that is chosen where none is named."""

    def missing(self) -> list[str]:
        """Name what is missing, unless some adapter builds and runs a small shader."""
        return HOST.missing()

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Build a shader on the chosen adapter. Raises ``InputError`` without an adapter."""
        return run(file, [*HOST.choose().command(file), "0"], None, timeout, title="wgpu")

    def probe(self) -> list[Probed]:
        """Report on each adapter, whether it compiles and runs a small shader."""
        return HOST.probed("compile and run")


BACKEND = Backend(
    name="wgsl",
    suffix=".wgsl",
    progress=Wgsl,
    memory=WgslKernel,
    files="TEST.wgsl, run_wgsl.py",
    usage="timeout -s KILL 20 python run_wgsl.py TEST.wgsl",
    compiler=WgslCompiler(),
    device=partial(HostedDevice, HOST),
    embed=as_comment,
    companions={"run_wgsl.py": shipped("backends.wgsl", "host.py")},
)
