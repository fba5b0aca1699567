"""GLSL as a back end: Amber scripts, run by the Vulkan devices of this machine, or by Amber elsewhere.

Here glslang compiles the shaders of a script and spirv-val judges them. They are launched without Amber, through a host
and the package vulkan (PyPI): scopes and orders are run as they are written. A device needs Vulkan 1.2 with
vulkanMemoryModel and vulkanMemoryModelDeviceScope. A shader that hangs ends with its process; a driver that gives up on
it loses the device, which the host reports as a hang.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from backends.glsl.memory import GlslKernel, decode
from backends.glsl.progress import Glsl
from backends.glsl.spirv import INSTALL, build, glslang, glslang_version, libraries, spirv_val, translated
from backends.shared.backend import Backend
from backends.shared.handing import SOURCE, Word, handed
from backends.shared.hosted import MESA, PROBE_SIZES, Host, HostedDevice
from backends.shared.syntax import C
from backends.shared.toolchain import TIMEOUT, Compilation, Probed, tried, version
from corpus.extras import pip_install
from corpus.private import private_folder

_PROBE = f"""\
#!amber
SHADER compute test GLSL TARGET_ENV spv1.5
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Memory {{ uint memory[]; }};
{chr(10).join(C.definitions(PROBE_SIZES.items(), ()))}
void main() {{
    if (memory[3] != 0u) return;
    while (atomicAdd(memory[0], 1u, gl_ScopeDevice, 0, 0) != SIZE) atomicAdd(memory[2], 1u, gl_ScopeDevice, 0, 0);
}}
END
"""

HOST = Host(
    title="Vulkan device",
    package="vulkan",
    install=f"{pip_install('vulkan')}; {MESA}",
    script=Path(__file__).with_name("host.py"),
    suffix=".amber",
    trial=_PROBE,
    build=build,
    together=True,
    compiler=lambda: f"glslang {glslang_version()}",
)


class GlslCompiler:
    """glslang and spirv-val on each shader of an Amber script."""

    def missing(self) -> list[str]:
        """Name the tools, of glslang and spirv-val, that are not installed."""
        tools = {"glslang": glslang, "spirv-val": spirv_val}
        return [f"{name}: {INSTALL}" for name, find in tools.items() if find() is None]

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile each shader of an Amber script and validate its SPIR-V; no program is kept."""
        validator = spirv_val() or Path("spirv-val")
        with private_folder("compile") as scratch:
            compiled, codes = translated(file, Path(scratch), timeout)
            for code in codes:
                command: list[Word] = [validator, "--target-env", "vulkan1.2", SOURCE]
                judged = handed(code, command, timeout=timeout, environment=libraries(validator))
                if not judged.ok:
                    return judged
        return compiled

    def probe(self) -> list[Probed]:
        """Report on glslang and on spirv-val, each tried with the other, and then on the devices."""
        compiler, validator = glslang(), spirv_val()
        trouble = tried(self, Glsl, ".amber") if compiler and validator else ""
        purpose = "compile (--check)"
        return [
            _probed("glslang", compiler, r"Glslang Version: (?:\d+:)?(\S+)", purpose, trouble or _other(validator)),
            _probed("spirv-val", validator, r"SPIRV-Tools (v\S+)", purpose, trouble or _other(compiler)),
            *HOST.probed("run"),
        ]


def _other(tool: Path | None) -> str:
    return "" if tool else "the other of glslang and spirv-val is not installed"


def _probed(name: str, tool: Path | None, pattern: str, purpose: str, trouble: str) -> Probed:
    if tool is None:
        return Probed(name, "", purpose, "not installed", INSTALL)
    return Probed(name, version([tool, "--version"], pattern, libraries(tool)), purpose, trouble, INSTALL)


BACKEND = Backend(
    name="glsl",
    suffix=".amber",
    progress=Glsl,
    memory=GlslKernel,
    files="TEST.amber",
    usage="amber -d TEST.amber (without -d if there are validation layers)",
    compiler=GlslCompiler(),
    decode=decode,
    device=partial(HostedDevice, HOST),
)
