"""What a file of code is: its language, what reads it, and the compiler that is called before.

This is the one list that ``check``, ``fix``, ``validate`` and ``convert`` ask. A row names what it needs as
``module:name``, which is imported when it is first asked for. To add a language, write its folder and add its row; for
one that is compiled to another, name a compiler of ``backends.kernel_compilers`` (docs/add-a-language.md).

The end of a file's name says which format it may have. Where others have files of such names as well, words of its
content say whether it has kernels, and which of two formats it has (``.cpp``: C++, or CUDA C++ where it has
``__global__``); whether SPIR-V is binary or text its content says too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from corpus.errors import InputError
from corpus.files import LARGEST_TEXT, open_bytes

if TYPE_CHECKING:
    from corpus.code.assembly.language import MachineLanguage
    from corpus.code.reading import CodeReader, CodeText, ReadCode
    from corpus.code.thread import KernelLanguage


class Suffix(NamedTuple):
    """An end of the names of files of a format.

    A file in a folder without one of these ``words``, which spaces separate, is left out and never compiled: host code,
    and headers. Empty: any such file may have kernels. ``shared``: files without kernels are called so as well.
    """

    end: str
    words: str = ""
    shared: bool = False


@dataclass(frozen=True, slots=True)
class CodeFormat:
    """A format of files that may have kernels: its name, the ends of their names, and what reads it.

    ``noun`` is what one of its files is. ``languages``: the languages that its modules may have, by the names that they
    have for them. ``binary`` decides by its content whether a file is no text. ``compiler`` is called before the file
    is read, and makes a file of the format ``code``. ``includes``: its files may include others. ``model`` is asked of
    where none is named, if that is another than that of the language. ``columns``: a line of a file has much, so that
    places have columns. ``repaired``: ``synth fix`` repairs its kernels.
    """

    name: str
    suffixes: tuple[Suffix, ...]
    reader: str
    noun: str = ""
    languages: Mapping[str, str] = field(default_factory=dict)
    binary: str = ""
    compiler: str = ""
    code: str = ""
    includes: bool = False
    model: str = ""
    columns: bool = False
    repaired: bool = False

    def read(self) -> CodeReader:
        """Return what reads the format, or what its compiler makes of it."""
        reader: CodeReader = _named(self.reader)
        return reader

    def is_binary(self, data: bytes) -> bool:
        """Decide by the content of a file whether it is no text."""
        return bool(self.binary) and bool(_named(self.binary)(data))


_SPIRV = "corpus.code.spirv.files:read"
_COMPILED = "corpus.code.registry:read_compiled"

FORMATS: tuple[CodeFormat, ...] = (
    CodeFormat(
        "CUDA C++",
        (
            Suffix(".cu"),
            Suffix(".cuh", "__global__"),
            Suffix(".cpp", "__global__", shared=True),
            Suffix(".cc", "__global__", shared=True),
        ),
        "corpus.code.ptx.files:read_cuda",
        "CUDA source",
        compiler="cuda",
        code="PTX",
        includes=True,
        repaired=True,
    ),
    CodeFormat(
        "PTX",
        (Suffix(".ptx", ".entry"),),
        "corpus.code.ptx.files:read",
        "PTX assembly",
        {"ptx": "corpus.code.ptx.table:PTX"},
        repaired=True,
    ),
    CodeFormat(
        "GLSL",
        (Suffix(".comp"), Suffix(".glsl", "local_size")),
        _SPIRV,
        "a GLSL shader",
        compiler="glsl",
        code="SPIR-V",
        includes=True,
    ),
    CodeFormat(
        "OpenCL C",
        (Suffix(".cl", "kernel"),),
        _COMPILED,
        "an OpenCL kernel",
        compiler="opencl",
        code="SPIR-V",
        includes=True,
    ),
    CodeFormat(
        "HIP",
        (Suffix(".hip", "__global__"),),
        _COMPILED,
        "HIP source",
        compiler="hip",
        code="SPIR-V",
        includes=True,
    ),
    CodeFormat(
        "WGSL",
        (Suffix(".wgsl", "@compute"),),
        "corpus.code.spirv.files:read_wgsl",
        "a WGSL shader",
        compiler="wgsl",
        code="SPIR-V",
        includes=True,
        model="webgpu",
        columns=True,
    ),
    CodeFormat(
        "SPIR-V",
        (Suffix(".spv"), Suffix(".spvasm")),
        _SPIRV,
        "SPIR-V",
        {"vulkan": "corpus.code.spirv.meaning:VULKAN", "opencl": "corpus.code.spirv.meaning:OPENCL"},
        binary="corpus.code.spirv.binary:is_binary",
    ),
    CodeFormat(
        "C",
        (Suffix(".c", "main thread", shared=True),),
        "corpus.code.llvm.files:read",
        "C source",
        compiler="c",
        code="LLVM",
        includes=True,
        repaired=True,
    ),
    CodeFormat(
        "C++",
        tuple(Suffix(end, "main thread", shared=True) for end in (".cpp", ".cc", ".cxx")),
        "corpus.code.llvm.files:read",
        "C++ source",
        compiler="cpp",
        code="LLVM",
        includes=True,
        repaired=True,
    ),
    CodeFormat(
        "LLVM",
        (Suffix(".ll", "@main thread", shared=True),),
        "corpus.code.llvm.files:read",
        "LLVM assembly",
        {
            "llvm": "corpus.code.llvm.table:LLVM",
            "llvm-opencl": "corpus.code.llvm.kernel_table:OPENCL",
            "llvm-hip": "corpus.code.llvm.kernel_table:HIP",
        },
    ),
)
"""The formats of files with kernels: all that is read of a folder."""

PROCESSORS: Mapping[str, str] = {
    "x86": "corpus.code.x86.table:X86",
    "armv8": "corpus.code.armv8.table:ARMV8",
    "power": "corpus.code.power.table:POWER",
    "riscv": "corpus.code.riscv.table:RISCV",
}
"""The processors whose assembly is read, by the names that their models have."""


def format_of(path: Path) -> CodeFormat | None:
    """Return the format that a file may have, by the end of its name, and by its content where several have that end;
    None where code of such a file is not read.
    """
    found = _row_of(path)
    return found[0] if found else None


def _row_of(path: Path) -> tuple[CodeFormat, Suffix] | None:
    """Return the format that a file may have, with the end of its name. Of several formats it is the first one whose
    words are in the file, or else the last.
    """
    every = [(row, suffix) for row in FORMATS for suffix in row.suffixes if suffix.end == path.suffix]
    found = next((pair for pair in every[:-1] if has_words(path, pair[1].words)), None)
    return found or (every[-1] if every else None)


def has_words(path: Path, words: str) -> bool:
    """Decide whether a file can be read and has all of some words, which spaces separate."""
    try:
        changed = path.stat().st_mtime_ns
        return all(word.encode() in _content(path, changed) for word in words.split())
    except (OSError, InputError):
        return False


@lru_cache(maxsize=4)
def _content(path: Path, changed: int) -> bytes:
    with open_bytes(path) as file:
        return file.read(LARGEST_TEXT)


def certain_format_of(path: Path) -> CodeFormat | None:
    """Return the format that a file has by the end of its name; None where files without kernels are called so."""
    suffix = suffix_of(path)
    return None if suffix is None or suffix.shared else format_of(path)


def suffix_of(path: Path) -> Suffix | None:
    """Return the end of a file's name where that is one of a format."""
    found = _row_of(path)
    return found[1] if found else None


def format_named(name: str) -> CodeFormat:
    """Return the format of ``FORMATS`` that has a name, of which there has to be one."""
    return next(row for row in FORMATS if row.name == name)


def read_compiled(code: CodeText) -> ReadCode:
    """Return the kernels that a compiler has made of a file: SPIR-V, or else LLVM, whichever compilers are there."""
    spirv = format_named("SPIR-V")
    return (spirv if spirv.is_binary(code.data) else format_named("LLVM")).read()(code)


def language_named(name: str) -> KernelLanguage:
    """Return the language of kernels that modules have this name for."""
    found: KernelLanguage = _named(next(row.languages[name] for row in FORMATS if name in row.languages))
    return found


def processor_named(name: str) -> MachineLanguage:
    """Return the assembly of a processor. Raises ``KeyError`` where ``PROCESSORS`` has none of this name."""
    found: MachineLanguage = _named(PROCESSORS[name])
    return found


def default_models() -> list[str]:
    """Return the models that formats are asked of where none is named."""
    languages = {name for row in FORMATS for name in row.languages}
    return sorted({language_named(name).model for name in languages} | {row.model for row in FORMATS} - {""})


def expected_formats() -> str:
    """Return the formats, each with the end of a file's name: ``CUDA C++ (.cu), PTX (.ptx) or C (.c)``."""
    *others, last = (f"{row.name} ({row.suffixes[0].end})" for row in FORMATS)
    return f"{', '.join(others)} or {last}"


@cache
def _named(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
