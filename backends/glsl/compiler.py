"""Drives glslang and spirv-val, which compile GLSL here. It also probes the Vulkan devices, which run it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from backends.glsl.device import HOST
from backends.glsl.progress import Glsl
from backends.glsl.spirv import INSTALL, glslang, libraries, spirv_val, translated
from backends.shared.toolchain import TIMEOUT, Compilation, Compiler, Probed, run, tried, version


class GlslCompiler:
    """The compilers of the GLSL back end: glslang and spirv-val, on each shader of an Amber script."""

    def missing(self) -> list[str]:
        """Return what is missing on this machine to compile GLSL, as ``Compiler.missing`` does."""
        tools = {"glslang": glslang, "spirv-val": spirv_val}
        return [f"{name}: {INSTALL}" for name, find in tools.items() if find() is None]

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile the shaders of an Amber script, as ``Compiler.compile`` does; no program is kept."""
        validator = spirv_val() or Path("spirv-val")
        with TemporaryDirectory() as scratch:
            compiled, codes = translated(file, Path(scratch), timeout)
            for code in codes:
                command: list[str | Path] = [validator, "--target-env", "vulkan1.2", code]
                judged = run(file, command, None, timeout, libraries(validator))
                if not judged.ok:
                    return judged
        return compiled

    def probe(self) -> list[Probed]:
        """Probe the tools, each with the other, and then the devices, as ``Compiler.probe`` does, with a line
        for each.
        """
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


COMPILER: Compiler = GlslCompiler()
