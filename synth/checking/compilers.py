"""The languages of kernels that are compiled before they are read, by how the names of their files end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from backends.cuda import headers
from backends.cuda.compiler import AS_WRITTEN, compile_ptx
from backends.glsl import spirv as glsl
from backends.hip import spirv as hip
from backends.opencl import spirv as opencl
from backends.shared.inclusions import copies, including
from backends.shared.toolchain import Compilation, problem
from backends.wgsl import spirv as wgsl
from corpus.errors import InputError
from corpus.files import LARGEST_TEXT, open_bytes
from corpus.private import private_folder


class SourceLanguage(NamedTuple):
    """A language: what compiles it, as ``compile(file, code, options)``, and how the names of the files end that this
    makes. ``as_written`` are the options by which it removes no access; none where it removes none without.
    ``advice`` says what to do about a complaint.
    """

    compile: Callable[[Path, Path, Sequence[str]], Compilation]
    suffix: str
    as_written: tuple[str, ...] = ()
    advice: Callable[[str], str] = lambda complaint: ""


_CUDA, _GLSL = (
    SourceLanguage(compile_ptx, ".ptx", AS_WRITTEN, headers.advice),
    SourceLanguage(glsl.compile_shader, ".spv"),
)

SOURCE_LANGUAGES: Mapping[str, SourceLanguage] = {
    **dict.fromkeys((".cu", ".cuh", ".cpp", ".cc"), _CUDA),
    **dict.fromkeys((".comp", ".glsl"), _GLSL),
    ".cl": SourceLanguage(opencl.compile_kernels, ".spv"),
    ".hip": SourceLanguage(hip.compile_kernels, ".spv"),
    ".wgsl": SourceLanguage(wgsl.compile_shader, ".spv"),
}
"""CUDA C++, GLSL, OpenCL C, HIP and WGSL."""


def source_digest(path: Path, options: Sequence[str]) -> str:
    """Return the digest of a file and of all files of the user that it includes, by which answers about it stay true.

    If one of these cannot be handed to a compiler, the digest is that of the complaint; the answer is then ERROR.
    """
    said = including(options)
    digest = sha256()
    try:
        if path.suffix in SOURCE_LANGUAGES or path.suffix == ".c":
            every = [each.data for each in copies(path, said.folders, said.files)]
        else:
            with open_bytes(path) as file:
                every = [file.read(LARGEST_TEXT)]
    except (InputError, OSError) as error:
        every = [str(error).encode(errors="replace")]
    for data in every:
        digest.update(sha256(data).digest())
    return digest.hexdigest()


def compiled(path: Path, options: Sequence[str]) -> tuple[bytes, Mapping[str, str]]:
    """Return what the compiler of a file's language makes of it, PTX or SPIR-V, and the paths of source files by the
    names that they have in it.

    Raises ``InputError`` where the compiler refuses the file, or is not there.
    """
    language = SOURCE_LANGUAGES[path.suffix]
    with private_folder("compile") as folder:
        code = Path(folder, f"kernel{language.suffix}")
        try:
            done = language.compile(path, code, options)
        except OSError as error:
            raise InputError(f"it is not compiled: {error}", str(path)) from None
        if not done.ok or not code.is_file():
            wrong = problem(done.output)
            raise InputError(
                "; ".join(filter(None, (wrong or "it is not compiled", language.advice(wrong)))), str(path)
            )
        return code.read_bytes(), done.names
