"""Kernels from files: PTX, SPIR-V and C as they stand, other languages compiled to these; and the launches that a file
asks for.

A comment line of a file may say how its kernels are to be launched, in the words of the command line::

    // synth check: --grid 2 --block 32 --arg n=4 --expect 'data[0] == 2'

Each such line is a launch.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from corpus.code.ir import KernelFunction, Module
from corpus.code.languages import LANGUAGES
from corpus.code.launch.fields import DescribedArray, as_in, is_open, with_places
from corpus.code.launch.launch import Argument, ArrayArgument, Extent, KernelLaunch, SharedArgument, volume
from corpus.code.passes.removed import counterpart
from corpus.code.program import MOST_THREADS, check_size
from corpus.code.ptx.reader import read_ptx
from corpus.code.spirv.annotations import LaunchConfig, read_annotations
from corpus.code.spirv.binary import is_binary
from corpus.code.spirv.claims import SpirvExpectation, annotated, expectation
from corpus.code.spirv.module import SpirvModule
from corpus.code.spirv.reader import read_spirv
from corpus.code.spirv.translation import specialisation, translated
from corpus.code.thread import KernelLanguage
from corpus.errors import InputError
from corpus.files import LARGEST_TEXT, open_bytes, read_bytes, read_text
from synth.checking.compilers import SOURCE_LANGUAGES, compiled
from synth.requests import SPIRV, LaunchWords, read_launch


class KernelFormat(NamedTuple):
    """A format of files that may have kernels: its language, and words of each such file that has one.

    A file in a folder without one of these ``words``, which spaces separate, is left out and never compiled: host code,
    and headers. Empty: any file may have kernels. ``model`` is asked of where none is named, if that is another
    than that of what the files are compiled to.
    """

    language: str
    words: str = ""
    model: str = ""


FORMATS = {
    ".cu": KernelFormat("CUDA C++"),
    **dict.fromkeys((".cuh", ".cpp", ".cc"), KernelFormat("CUDA C++", "__global__")),
    ".ptx": KernelFormat("PTX", ".entry"),
    ".comp": KernelFormat("GLSL"),
    ".glsl": KernelFormat("GLSL", "local_size"),
    ".cl": KernelFormat("OpenCL C", "kernel"),
    ".hip": KernelFormat("HIP", "__global__"),
    ".wgsl": KernelFormat("WGSL", "@compute", "webgpu"),
    **dict.fromkeys(SPIRV, KernelFormat("SPIR-V")),
    ".c": KernelFormat("C", "main thread"),
}
"""The formats of files with kernels, by the ends of their names: all that is read of a folder."""

COMMENT = re.compile(r"^[ \t]*(?://|#|;)[ \t]*synth check:[ \t]*(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class KernelFile:
    """A file with kernels: its module, the launches of its comments, and its parameters' names by kernel. ``sizes``:
    the bytes of what these point to, where the source says so plainly. ``given`` are the arguments that its annotations
    give, and ``claim`` what they claim of the end. ``spirv`` is a module of SPIR-V as it was read, whose constants of
    specialisation a launch may give. ``written`` is the module of the same file without optimisations, or why there is
    none, where the compiler of ``module`` may have removed accesses. ``arrays``: what memory is made of, where that is
    known.
    """

    path: Path
    module: Module
    launches: tuple[LaunchWords, ...]
    names: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)
    given: Mapping[str, Argument] = field(default_factory=dict)
    claim: SpirvExpectation | None = None
    spirv: SpirvModule | None = None
    written: Module | str = ""
    arrays: tuple[DescribedArray, ...] = ()

    @property
    def language(self) -> KernelLanguage:
        """The language of its kernels: what instructions mean, and the model that it has."""
        return LANGUAGES[self.module.language]

    @property
    def model(self) -> str:
        """The model that is asked of where none is named."""
        found = FORMATS.get(self.path.suffix)
        return (found.model if found else "") or self.language.model


def default_models() -> list[str]:
    """Return the models that languages are asked of where none is named."""
    return sorted({each.model for each in LANGUAGES.values()} | {each.model for each in FORMATS.values()} - {""})


def languages() -> str:
    """Return the languages of kernels, each with the end of a file's name: ``CUDA C++ (.cu), PTX (.ptx) or C (.c)``."""
    first: dict[str, str] = {}
    for suffix, each in FORMATS.items():
        first.setdefault(each.language, suffix)
    *others, last = (f"{language} ({suffix})" for language, suffix in first.items())
    return f"{', '.join(others)} or {last}"


class NoKernelError(InputError):
    """The error for a file without a kernel, or without the one that is named."""


def may_have_kernels(path: Path) -> bool:
    """Decide by the words of a file whether it may have a kernel. Raises ``InputError`` where it cannot be read."""
    words = FORMATS[path.suffix].words.split()
    if not words:
        return True
    with open_bytes(path) as file:
        text = file.read(LARGEST_TEXT)
    return all(word.encode() in text for word in words)


def read_kernels(path: Path, options: Sequence[str] = ()) -> KernelFile:
    """Return the kernels of a file. Raises ``InputError`` where it cannot be read or compiled."""
    file = _read(path, options)
    bare = any(_is_open(file, kernel) for kernel in file.module.kernels)
    plain = options_of(path, options, True)
    return _told(file, _written(path, plain) if bare and plain != tuple(options) else "")


def _is_open(file: KernelFile, kernel: KernelFunction) -> bool:
    """Return whether a compilation with words for debuggers tells more of the parameters of a kernel: what is no plain
    pointer of the source may be a number.
    """
    plain = [size is not None for size in element_sizes_of(file, kernel)]
    return any(is_open(each) and not plain[number] for number, each in enumerate(kernel.declared))


def _told(file: KernelFile, written: Module | str) -> KernelFile:
    """Return a file of PTX whose kernels have the fields of structures that the module has which was compiled without
    optimisations, with what debuggers need; or else those that their loads are of.
    """
    if file.module.language != "ptx":
        return file
    functions = dict(file.module.functions)
    for kernel in file.module.kernels:
        other = counterpart(kernel, written) if isinstance(written, Module) else None
        functions[kernel.name] = kernel if other is None else as_in(kernel, other)
    return replace(file, module=with_places(replace(file.module, functions=functions)))


def _read(path: Path, options: Sequence[str]) -> KernelFile:
    if path.suffix in SPIRV:
        return spirv_kernels(read_bytes(path), path)
    text = read_text(path)
    launches = launches_in(text, path)
    if path.suffix == ".ptx":
        return KernelFile(path, read_ptx(text, str(path)), launches, {})
    if path.suffix == ".c":
        from corpus.code.c.reader import read_c  # whose libraries are for C alone

        return KernelFile(path, read_c(text, str(path), options), launches, {})
    if path.suffix not in SOURCE_LANGUAGES:
        raise InputError(f"expected a file of {languages()}", str(path))
    code, files = compiled(path, options)
    if SOURCE_LANGUAGES[path.suffix].suffix in SPIRV:
        return spirv_kernels(code, path, text, files)
    module = read_ptx(code.decode("utf-8", "replace"), str(path), files)
    module = replace(module, assumed=(*module.assumed, *_promises(text, *map(_text_of, sorted(files.values())))))
    return KernelFile(path, module, launches, parameter_names(text), element_sizes(text))


_PROMISE = re.compile(r"\b__builtin_unreachable\b|\b__builtin_assume\b|\b__assume\b|\bstd::unreachable\b|\[\[assume\b")
"""What nvcc leaves nothing of but that the code may be other than it is written (CUDA C++ Programming Guide,
Compiler Optimization Hint Functions)."""


def _promises(*texts: str) -> list[str]:
    """Return what is taken for granted of the promises in texts of CUDA C++: nobody sees whether they are kept."""
    found = sorted({match.removeprefix("[[") for text in texts for match in _PROMISE.findall(text)})
    return [f"what is promised by {' and '.join(found)} is so"] if found else []


def _text_of(path: str) -> str:
    """Return the text of a file that was included; nothing of what can no longer be read."""
    try:
        return read_text(Path(path))
    except InputError:
        return ""


def read_for_check(path: Path, options: Sequence[str] = (), as_written: bool = False) -> KernelFile:
    """Return the kernels of a file as ``read_kernels`` does, and beside them, where the compiler of its language may
    remove accesses, what it makes without optimisations; ``as_written``: that alone.
    """
    plain = options_of(path, options, True)
    if as_written or plain == tuple(options):
        return _told(_read(path, plain), "")
    with ThreadPoolExecutor(1) as beside:  # each of the two waits for a process
        written = beside.submit(_written, path, plain)
        file = _read(path, options)
        return replace(_told(file, written.result()), written=written.result())


def options_of(path: Path, options: Sequence[str], as_written: bool) -> tuple[str, ...]:
    """Return the options that the compiler of a file is given, ``as_written`` so that it removes no access."""
    language = SOURCE_LANGUAGES.get(path.suffix)
    return (*options, *(language.as_written if language and as_written else ()))


def _written(path: Path, options: Sequence[str]) -> Module | str:
    try:
        return _told(_read(path, options), "").module
    except InputError as error:
        return error.message


def spirv_kernels(data: bytes, path: Path, text: str = "", files: Mapping[str, str] | None = None) -> KernelFile:
    """Return the kernels of a module of SPIR-V, binary or text, that was compiled of a ``text``, as ``compiled`` does,
    or is its own.

    Raises ``InputError`` where it cannot be read.
    """
    spirv, binary = read_spirv(data, str(path), files), is_binary(data)
    if not text and not binary:
        text = data.decode("utf-8-sig")
    file = _translated(KernelFile(path, Module("", "", "", {}, {}), launches_in(text, path), {}, spirv=spirv), {})
    said = read_annotations(spirv)
    if said.config or file.given or file.claim:
        threads, subgroups, workgroups = said.config or LaunchConfig()
        block = str(threads * subgroups)
        words = LaunchWords(grid=str(workgroups), block=block, warp=threads)
        return replace(file, launches=(*file.launches, words))
    return file


def _translated(file: KernelFile, specialised: Mapping[int, int]) -> KernelFile:
    """Return a file with the kernels of its module of SPIR-V, whose constants of specialisation have these values."""
    spirv = file.spirv
    assert spirv is not None
    found, said = translated(spirv, specialised), read_annotations(spirv)
    module, given = annotated(found.module, said, found.homes, found.types)
    claim = expectation(said, found.homes, found.types, spirv.path)
    if file.path.suffix == ".wgsl":
        module = _of_wgsl(module)
    file = replace(file, module=module, names=found.names, sizes=found.sizes, arrays=found.arrays)
    return replace(file, given=given, claim=claim)


def _of_wgsl(module: Module) -> Module:
    """Return a module as WGSL has it: memory of a work-group begins as zeros (WGSL, 7.3), and all accesses are those of
    WGSL's own memory model.
    """
    begun = {
        name: replace(each, initial=each.initial or b"\0") if each.space == "shared" else each
        for name, each in module.variables.items()
    }
    return replace(module, variables=begun, assumed=())


def specialised(file: KernelFile, kernel: KernelFunction, launch: KernelLaunch) -> tuple[KernelFile, KernelFunction]:
    """Return a file and a kernel of it whose constants of specialisation are those of a launch."""
    if file.spirv is None:
        return file, kernel
    values = specialisation(file.spirv, kernel, launch)
    file = _translated(file, values) if values else file
    found = next(each for each in file.module.kernels if each.name == kernel.name)
    return file, found


def launches_in(text: str, path: Path) -> tuple[LaunchWords, ...]:
    """Return the launches that comments of a text ask for. Raises ``InputError`` where they cannot be read."""
    launches = []
    for match in COMMENT.finditer(text):
        try:
            launches.append(read_launch(shlex.split(match[1])))
        except ValueError as error:
            line = text.count("\n", 0, match.start()) + 1
            wanted = f"expected options of a launch, found {match[1]!r}: {error}"
            raise InputError(wanted, str(path), line, 1) from None
    return tuple(launches)


_KERNEL = re.compile(r"__global__\s+(?:\w+\s+)*?void\s+(?:__\w+__\s*\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)")


def _parameters(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each kernel that a text of CUDA C++ defines, by its name, with its parameters as they stand."""
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for match in _KERNEL.finditer(plain):
        yield match[1], match[2].split(",")


def parameter_names(text: str) -> dict[str, tuple[str, ...]]:
    """Return the names of the parameters of each kernel that a text of CUDA C++ defines, as far as they are plain."""
    words = {name: [re.findall(r"\w+", part) for part in parts] for name, parts in _parameters(text)}
    return {name: tuple(each[-1] if each else "" for each in every) for name, every in words.items()}


def element_sizes(text: str) -> dict[str, tuple[int | None, ...]]:
    """Return the bytes of what the parameters of each kernel point to, where a text of CUDA C++ says so plainly."""
    return {name: tuple(map(_element_size, parts)) for name, parts in _parameters(text)}


def _element_size(parameter: str) -> int | None:
    """Return the bytes of the type that a parameter points to: 4 of ``const int *__restrict__ data``."""
    before, star, _ = parameter.partition("*")
    words = [each for each in re.findall(r"\w+", before) if each not in ("const", "volatile", "signed", "std")]
    if not star or parameter.count("*") > 1 or re.search(r"[^\w\s:]", before):
        return None
    known = [_SIZES.get(word) for word in words]
    if len(words) > 1:  # unsigned char, long long int
        known = [_SIZES.get(word) for word in words if word not in ("unsigned", "int")] or known
    return known[0] if None not in known and len(set(known)) == 1 else None


def source_name(file: KernelFile, kernel: KernelFunction) -> str:
    """Return the name that the source gives to a kernel; its own where that is not one kernel's."""
    found = [_source_name(file, each) for each in file.module.kernels]
    own = _source_name(file, kernel)
    return kernel.name if own is None or found.count(own) > 1 else own


def _source_name(file: KernelFile, kernel: KernelFunction) -> str | None:
    """Return the name of the kernel in the source that has a name in the compiled text, which may be mangled."""
    if kernel.name in file.names:
        return kernel.name
    mangled = (rf"_Z\w*?{len(name)}{re.escape(name)}\w*" for name in file.names)
    return next((name for name, form in zip(file.names, mangled, strict=True) if re.fullmatch(form, kernel.name)), None)


def names_of(file: KernelFile, kernel: KernelFunction) -> tuple[str, ...]:
    """Return the names that the source gives to the parameters of a kernel, whose own name may be mangled."""
    declared = kernel.declared
    names = file.names.get(_source_name(file, kernel) or "", ())
    if declared and all(each.called for each in declared):
        names = tuple(each.called for each in declared)
    fields = [(n, field.name) for n, each in enumerate(declared) for field in each.fields]
    if len(names) != len(declared):
        names = tuple(each.name for each in declared) if fields else ()
    return (*names, *(names[n] + field for n, field in fields))


def element_sizes_of(file: KernelFile, kernel: KernelFunction) -> tuple[int | None, ...]:
    """Return the bytes of what the parameters of a kernel point to, None where nothing tells."""
    declared = kernel.declared
    sizes = file.sizes.get(_source_name(file, kernel) or "", ())
    sizes = sizes if len(sizes) == len(declared) else (None,) * len(declared)
    return (*sizes, *(field.element for each in declared for field in each.fields))


def extent(text: str, option: str) -> Extent:
    """Return ``4``, ``4,2`` or ``4x2x1`` as numbers along x, y and z. Raises ``InputError`` where it is none."""
    parts = re.split(r"[x,]", text)
    numbers = [int(part) for part in parts if re.fullmatch("[0-9]{1,5}", part)]
    if not 1 <= len(parts) == len(numbers) <= 3 or not all(0 < number < 1 << 16 for number in numbers):
        wanted = "a number of blocks or threads, each below 65536, as 2 or 2x1x1"
        raise InputError(f"{option}: expected {wanted}, found {_shown(text)}")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


_SIZES = {
    **dict.fromkeys(("char", "bool", "int8_t", "uint8_t"), 1),
    **dict.fromkeys(("short", "int16_t", "uint16_t"), 2),
    **dict.fromkeys(("int", "unsigned", "float", "int32_t", "uint32_t"), 4),
    **dict.fromkeys(("long", "long long", "double", "int64_t", "uint64_t", "size_t"), 8),
}
"""The bytes of the types of CUDA C++ that ``--arg`` knows."""

_NUMBER = r"-?(?:0[xX][0-9a-fA-F]+|[0-9]+)"
_ELEMENT = r"(?:[0-9]+\*)?-?[0-9]+"

MOST_ELEMENTS = 2**16
"""The most elements of an array whose values are given."""

MOST_ZEROS = 2**40
"""The most elements of an array of zeros, of which only those are kept that are accessed."""


def check_options(words: LaunchWords) -> None:
    """Raise ``InputError`` where the options of a launch are wrong for any kernel, before one is compiled."""
    if sizes := sizes_of(words):
        check_size(KernelLaunch(*sizes), "--grid, --block")
    for text in words.arguments:
        argument(text)


def argument(text: str) -> tuple[str, Argument]:
    """Return ``n=4``, ``data=[1,2]``, ``data=[8*0,1]``, ``data=int[8]`` or ``out=&data`` as a name and its value.

    Raises ``InputError`` for others, and for what is beyond the limits, before anything is made of it.
    """
    name, equals, value = text.partition("=")
    name = re.sub(r"\A(\d+)\.(\d+)\Z", r"b\1_\2", name)  # of a set and a binding
    if equals and re.fullmatch(_NUMBER, value):
        return name, _number(value)
    if equals and re.fullmatch(rf"\[\s*(?:{_ELEMENT}\s*(?:,\s*{_ELEMENT}\s*)*)?\]", value):
        runs = [each.rpartition("*") for each in re.findall(_ELEMENT, value)]
        counted = [(_number(times or "1"), _number(each)) for times, _, each in runs]
        if sum(times for times, _ in counted) > MOST_ELEMENTS:
            raise InputError(f"--arg: expected at most {MOST_ELEMENTS} elements, found {_shown(text)}")
        return name, ArrayArgument(tuple(each for times, each in counted for _ in range(times)))
    if equals and (sized := re.fullmatch(r"([\w ]*)\[([0-9]+)\]", value)):
        count = _number(sized[2])
        if count > MOST_ZEROS:
            raise InputError(f"--arg: expected an array of at most {MOST_ZEROS} elements, found {_shown(text)}")
        return name, ArrayArgument((), count, _SIZES.get(sized[1]))
    if equals and re.fullmatch(r"&\w[\w.\[\]+]*", value):
        return name, SharedArgument(value[1:])
    forms = "NAME=4, NAME=[1,2,0], NAME=[8*0,1], NAME=int[8] or NAME=&OTHER"
    raise InputError(f"--arg: expected {forms}, found {_shown(text)}")


def _number(text: str) -> int:
    """Return a number, decimal or hexadecimal. Raises ``InputError`` where it has more than 64 bits."""
    digits = text.lower().lstrip("-0x") or "0"  # without zeros before them: Python reads no more than 4,300 digits
    number = int(digits, 16 if "x" in text.lower() else 10) if len(digits) <= 20 else 2**64
    number = -number if text.startswith("-") else number
    if not -(2**63) <= number < 2**64:
        raise InputError(f"--arg: expected a number of at most 64 bits, found {_shown(text)}")
    return number


def _shown(text: str) -> str:
    return f"'{text}'" if len(text) <= 80 else f"'{text[:60]}..' of {len(text)} characters"


ONE: tuple[Extent, Extent, Extent] = ((1, 1, 1),) * 3
"""The sizes that are not given: one block, of one thread, in a cluster by itself."""

WARP = KernelLaunch().warp

DEFAULT = (
    KernelLaunch((2, 1, 1), (1, 1, 1)),
    KernelLaunch((1, 1, 1), (2, 1, 1), warp=1),
    KernelLaunch((1, 1, 1), (2, 1, 1)),
    KernelLaunch((2, 1, 1), (2, 1, 1)),
)
"""The launches of a kernel where none is given: two blocks, two warps, two threads of a warp, two blocks of two."""


def sizes_of(words: LaunchWords) -> tuple[Extent, Extent, Extent] | None:
    """Return the grid, block and cluster that options give; None where they give none.

    Raises ``InputError`` where one is no size.
    """
    sizes = {"--grid": words.grid, "--block": words.block, "--cluster": words.cluster}
    if not any(sizes.values()):
        return None
    grid, block, cluster = (extent(size or "1", option) for option, size in sizes.items())
    return grid, block, cluster


def launches_of(file: KernelFile, words: LaunchWords, kernel: KernelFunction) -> tuple[KernelLaunch, ...]:
    """Return the launch of these sizes; those of ``DEFAULT`` where neither a grid nor a block is given. A program of C
    has one without.

    The size of a block that the module says counts where none is given, and along directions in which the host chooses
    it, and the module says 1, one of two threads as well. Raises ``InputError`` where a program of C is given a size,
    or where blocks do not make whole clusters.
    """
    if file.language.grows:
        if words.grid or words.block or words.cluster or words.warp or words.first or words.arguments:
            raise InputError("a program of C has no launch: its main creates its threads", str(file.path))
        return (KernelLaunch(),)
    grid, size, cluster = sizes_of(words) or ONE
    limits = file.language.rules.limits(kernel)
    cluster = cluster if words.cluster or limits.cluster is None else limits.cluster
    block = kernel.block
    blocks = [] if block is None else list(dict.fromkeys((block, _widened(block, kernel.chosen))))
    if words.grid or words.block:
        every = [size] if words.block or not blocks else blocks
        whole = _multiple(grid, cluster)
        if words.grid and whole != grid:  # the CUDA programming guide, thread block clusters
            option = "--cluster" if words.cluster else f"{kernel.name}, with its .reqnctapercluster"
            raise InputError(f"{option}: expected a grid of whole clusters, found --grid {words.grid}", str(file.path))
        grid = whole
        return tuple(KernelLaunch(grid, each, cluster, words.warp or WARP) for each in every)
    allowed = [each for each in DEFAULT if limits.most is None or volume(each.block) <= limits.most]
    usual = allowed if block is None else [each for one in blocks for each in _of_block(one)]
    if 0 in kernel.chosen and block == (1, 1, 1):
        usual = allowed
    sized = (
        replace(each, grid=_multiple(each.grid, cluster), cluster=cluster, warp=words.warp or each.warp)
        for each in usual
    )
    return tuple({(each.grid, each.block, each.warp): each for each in sized}.values())


def _multiple(grid: Extent, cluster: Extent) -> Extent:
    """Return the smallest grid that is no smaller and whose blocks make whole clusters."""
    x, y, z = (-(-blocks // size) * size for blocks, size in zip(grid, cluster, strict=True))
    return x, y, z


def _widened(block: Extent, chosen: Sequence[int]) -> Extent:
    """Return a block with two threads in place of one along the directions in which the host chooses its size."""
    x, y, z = (2 if n in chosen and size == 1 else size for n, size in enumerate(block))
    return x, y, z


def _of_block(block: Extent) -> tuple[KernelLaunch, ...]:
    """Return the launches of ``DEFAULT`` with blocks of a size, each once, of those that have not too many threads."""
    sized = (replace(each, block=block, warp=WARP if volume(block) == 1 else each.warp) for each in DEFAULT)
    every = list({each.text: each for each in sized}.values())
    few = [each for each in every if volume(each.grid) * volume(block) <= MOST_THREADS]
    return tuple(few or every[-1:])
