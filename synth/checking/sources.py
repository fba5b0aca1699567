"""Kernels from files: as they stand, or compiled before they are read (``corpus.code.registry``); and the launches that
a file asks for.

A comment line of a file may say how its kernels are to be launched, in the words of the command line::

    // synth check: --grid 2 --block 32 --arg n=4 --expect 'data[0] == 2'

Each such line is a launch.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from backends.kernel_compilers import KERNEL_COMPILERS
from corpus.code.ir import KernelFunction, Module
from corpus.code.launch.fields import as_in, is_open, with_places
from corpus.code.launch.launch import Argument, ArrayArgument, Extent, KernelLaunch, SharedArgument, volume
from corpus.code.passes.removed import counterpart
from corpus.code.program import MOST_THREADS, check_size
from corpus.code.ptx.files import SIZES
from corpus.code.reading import CodeText, ReadCode
from corpus.code.registry import expected_formats, format_of, language_named, suffix_of
from corpus.code.thread import KernelLanguage
from corpus.errors import InputError
from corpus.files import LARGEST_TEXT, open_bytes, read_bytes, read_text
from synth.checking.compilers import compiled
from synth.requests import LaunchWords, read_launch

COMMENT = re.compile(r"^[ \t]*(?://|#|;)[ \t]*synth check:[ \t]*(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class KernelFile:
    """A file with kernels: what its code has, and the launches of its comments. ``written`` is the module of the same
    file without optimisations, or why there is none, where the compiler of ``code`` may have removed accesses.
    """

    path: Path
    code: ReadCode
    launches: tuple[LaunchWords, ...] = ()
    written: Module | str = ""

    @property
    def module(self) -> Module:
        """The module of its kernels."""
        return self.code.module

    @property
    def language(self) -> KernelLanguage:
        """The language of its kernels: what instructions mean, and the model that it has."""
        return language_named(self.module.language)

    @property
    def model(self) -> str:
        """The model that is asked of where none is named."""
        found = format_of(self.path)
        return (found.model if found else "") or self.language.model

    def with_module(self, module: Module) -> KernelFile:
        """Return the file with another module."""
        return replace(self, code=replace(self.code, module=module))


class NoKernelError(InputError):
    """The error for a file without a kernel, or without the one that is named."""


def may_have_kernels(path: Path) -> bool:
    """Decide by the words of a file whether it may have a kernel. Raises ``InputError`` where it cannot be read."""
    suffix = suffix_of(path)
    words = suffix.words.split() if suffix else []
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
    return _with_fields(file, _written(path, plain) if bare and plain != tuple(options) else "")


def _is_open(file: KernelFile, kernel: KernelFunction) -> bool:
    """Return whether a compilation with words for debuggers tells more of the parameters of a kernel: what is no plain
    pointer of the source may be a number.
    """
    plain = [size is not None for size in element_sizes_of(file, kernel)]
    return any(is_open(parameter) and not plain[number] for number, parameter in enumerate(kernel.declared))


def _with_fields(file: KernelFile, written: Module | str) -> KernelFile:
    """Return a file whose kernels have the fields of structures that the module has which was compiled without
    optimisations, with what debuggers need; or else those that their loads are of.
    """
    if not file.language.memory.structures:
        return file
    functions = dict(file.module.functions)
    for kernel in file.module.kernels:
        other = counterpart(kernel, written) if isinstance(written, Module) else None
        functions[kernel.name] = kernel if other is None else as_in(kernel, other)
    return file.with_module(with_places(replace(file.module, functions=functions)))


def _read(path: Path, options: Sequence[str]) -> KernelFile:
    form = format_of(path)
    if form is not None and form.binary:
        return kernels_of(read_bytes(path), path)
    text = read_text(path)
    launches = launches_in(text, path)
    if form is None:
        raise InputError(f"expected a file of {expected_formats()}", str(path))
    if not form.compiler:
        return KernelFile(path, form.read()(CodeText(text.encode(), str(path), options=options)), launches)
    code, files = compiled(path, options)
    return kernels_of(code, path, text, files)


def read_for_check(path: Path, options: Sequence[str] = (), as_written: bool = False) -> KernelFile:
    """Return the kernels of a file, and beside them, where the compiler of its language may remove accesses, what it
    makes without optimisations; ``as_written``: that alone.

    Raises ``InputError`` where the file cannot be read or compiled.
    """
    plain = options_of(path, options, True)
    if as_written or plain == tuple(options):
        return _with_fields(_read(path, plain), "")
    with ThreadPoolExecutor(1) as beside:  # each of the two waits for a process
        written = beside.submit(_written, path, plain)
        file = _read(path, options)
        return replace(_with_fields(file, written.result()), written=written.result())


def options_of(path: Path, options: Sequence[str], as_written: bool) -> tuple[str, ...]:
    """Return the options that the compiler of a file is given, ``as_written`` so that it removes no access."""
    form = format_of(path)
    compiler = KERNEL_COMPILERS[form.compiler] if form and form.compiler else None
    return (*options, *(compiler.as_written if compiler and as_written else ()))


def _written(path: Path, options: Sequence[str]) -> Module | str:
    try:
        return _with_fields(_read(path, options), "").module
    except InputError as error:
        return error.message


def kernels_of(data: bytes, path: Path, source: str = "", files: Mapping[str, str] | None = None) -> KernelFile:
    """Return the kernels of code: a compiler's, with the text ``source`` that it was made of and the paths of its
    source ``files`` by the names that they have in the code; or the file's own, without these.

    Raises ``InputError`` where it cannot be read.
    """
    form = format_of(path)
    assert form is not None
    code = form.read()(CodeText(data, str(path), source, files or {}))
    text = source or ("" if form.is_binary(data) else data.decode("utf-8-sig"))
    launches = launches_in(text, path)
    if code.launch is not None:
        grid, block, warp = code.launch.grid[0], code.launch.block[0], code.launch.warp
        launches = (*launches, LaunchWords(grid=str(grid), block=str(block), warp=warp))
    return KernelFile(path, code, launches)


def specialised(file: KernelFile, kernel: KernelFunction, launch: KernelLaunch) -> tuple[KernelFile, KernelFunction]:
    """Return a file and a kernel of it whose constants of specialisation are those of a launch."""
    if file.code.specialise is None:
        return file, kernel
    code = file.code.specialise(kernel, launch)
    file = replace(file, code=code) if code else file
    found = next(other for other in file.module.kernels if other.name == kernel.name)
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


def source_name(file: KernelFile, kernel: KernelFunction) -> str:
    """Return the name that the source gives to a kernel; its own where that is not one kernel's."""
    found = [_source_name(file, kernel) for kernel in file.module.kernels]
    own = _source_name(file, kernel)
    return kernel.name if own is None or found.count(own) > 1 else own


def _source_name(file: KernelFile, kernel: KernelFunction) -> str | None:
    """Return the name of the kernel in the source that has a name in the compiled text, which may be mangled."""
    if kernel.name in file.code.names:
        return kernel.name
    mangled = (rf"_Z\w*?{len(name)}{re.escape(name)}\w*" for name in file.code.names)
    return next(
        (name for name, form in zip(file.code.names, mangled, strict=True) if re.fullmatch(form, kernel.name)), None
    )


def names_of(file: KernelFile, kernel: KernelFunction) -> tuple[str, ...]:
    """Return the names that the source gives to the parameters of a kernel, whose own name may be mangled."""
    declared = kernel.declared
    names = file.code.names.get(_source_name(file, kernel) or "", ())
    if declared and all(parameter.called for parameter in declared):
        names = tuple(parameter.called for parameter in declared)
    fields = [(n, field.name) for n, parameter in enumerate(declared) for field in parameter.fields]
    if len(names) != len(declared):
        names = tuple(parameter.name for parameter in declared) if fields else ()
    return (*names, *(names[n] + field for n, field in fields))


def element_sizes_of(file: KernelFile, kernel: KernelFunction) -> tuple[int | None, ...]:
    """Return the bytes of what the parameters of a kernel point to, None where nothing tells."""
    declared = kernel.declared
    sizes = file.code.sizes.get(_source_name(file, kernel) or "", ())
    sizes = sizes if len(sizes) == len(declared) else (None,) * len(declared)
    return (*sizes, *(field.element for parameter in declared for field in parameter.fields))


def extent(text: str, option: str) -> Extent:
    """Return ``4``, ``4,2`` or ``4x2x1`` as numbers along x, y and z. Raises ``InputError`` where it is none."""
    parts = re.split(r"[x,]", text)
    numbers = [int(part) for part in parts if re.fullmatch("[0-9]{1,5}", part)]
    if not 1 <= len(parts) == len(numbers) <= 3 or not all(0 < number < 1 << 16 for number in numbers):
        wanted = "a number of blocks or threads, each below 65536, as 2 or 2x1x1"
        raise InputError(f"{option}: expected {wanted}, found {_shown(text)}")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


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
        runs = [element.rpartition("*") for element in re.findall(_ELEMENT, value)]
        counted = [(_number(times or "1"), _number(number)) for times, _, number in runs]
        if sum(times for times, _ in counted) > MOST_ELEMENTS:
            raise InputError(f"--arg: expected at most {MOST_ELEMENTS} elements, found {_shown(text)}")
        return name, ArrayArgument(tuple(number for times, number in counted for _ in range(times)))
    if equals and (sized := re.fullmatch(r"([\w ]*)\[([0-9]+)\]", value)):
        count = _number(sized[2])
        if count > MOST_ZEROS:
            raise InputError(f"--arg: expected an array of at most {MOST_ZEROS} elements, found {_shown(text)}")
        return name, ArrayArgument((), count, SIZES.get(sized[1]))
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
    if file.language.control.grows:
        if words.grid or words.block or words.cluster or words.warp or words.first or words.arguments:
            raise InputError("a program of C has no launch: its main creates its threads", str(file.path))
        return (KernelLaunch(),)
    grid, size, cluster = sizes_of(words) or ONE
    limits = file.language.rules.limits(kernel)
    cluster = cluster if words.cluster or limits.cluster is None else limits.cluster
    block, chosen = kernel.block_size
    blocks = [] if block is None else list(dict.fromkeys((block, _widened(block, chosen))))
    if words.grid or words.block:
        every = [size] if words.block or not blocks else blocks
        whole = _multiple(grid, cluster)
        if words.grid and whole != grid:  # the CUDA programming guide, thread block clusters
            option = "--cluster" if words.cluster else f"{kernel.name}, with its .reqnctapercluster"
            raise InputError(f"{option}: expected a grid of whole clusters, found --grid {words.grid}", str(file.path))
        grid = whole
        return tuple(KernelLaunch(grid, block_size, cluster, words.warp or WARP) for block_size in every)
    allowed = [launch for launch in DEFAULT if limits.most is None or volume(launch.block) <= limits.most]
    usual = allowed if block is None else [shape for one in blocks for shape in _of_block(one)]
    if 0 in chosen and block == (1, 1, 1):
        usual = allowed
    sized = (
        replace(launch, grid=_multiple(launch.grid, cluster), cluster=cluster, warp=words.warp or launch.warp)
        for launch in usual
    )
    return tuple({(launch.grid, launch.block, launch.warp): launch for launch in sized}.values())


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
    sized = (replace(launch, block=block, warp=WARP if volume(block) == 1 else launch.warp) for launch in DEFAULT)
    every = list({launch.text: launch for launch in sized}.values())
    few = [launch for launch in every if volume(launch.grid) * volume(block) <= MOST_THREADS]
    return tuple(few or every[-1:])
