"""Arrays of a residual program as locations of a litmus test.

``data[1]`` is the second element of an array all of whose accesses are of one size; an access of another size at
another place is a location of its own, ``data_at_6``. Accesses that are made of parts have the parts as locations,
``data_parts_of_1[5]``. Where accesses overlap in part, or are of different sizes at one place, the specification says
nothing of them (PTX ISA 9.1, 8.2.2), and they are named (``mixed_sizes``).

1. ``array_accesses`` gathers how each array is accessed, ``ArrayAccesses``.
2. ``name_arrays`` gives each array a name and the size of its elements, ``LocationNames``.
3. ``locations_of`` makes the locations, with what they hold at the start, ``ProgramLocations``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from corpus.code import ir
from corpus.code.launch.created import CreatedThreads
from corpus.code.launch.launch import ArrayArgument, ArrayImage, KernelLaunch
from corpus.code.launch.pointed import places_of
from corpus.code.numbered import is_numbered, number_of
from corpus.code.passes.untold import UntoldValues
from corpus.code.places import ANYWHERE, NOBODY, SLOTS, Array, ArrayPlace, Cell, argument_array
from corpus.code.refusals import NotUnderstoodError
from corpus.code.residual import Residual
from corpus.code.thread import KernelLanguage, Parts
from corpus.code.values import ArrayAddress, plain_name
from corpus.litmus.instructions import Store
from corpus.litmus.locations import Loc, Location, Operand, Region, element
from corpus.litmus.ptx_arithmetic import signed

MOST_ELEMENTS = 1 << 12
"""The elements that an array may have whose index is computed."""

COUNT = 4
"""The elements that an array is taken to have where the index is computed and nothing tells its length."""

_REGIONS = {"shared": Region.SHARED, "register": Region.REGISTER}
"""The regions of arrays that are not in global memory, by the spaces that they are in."""


class MixedSize(NamedTuple):
    """Two accesses that overlap in part, or are of different sizes at one place."""

    array: str
    first: tuple[int, int]
    second: tuple[int, int]
    origins: tuple[ir.KernelInstruction, ...]


class ArrayCell(NamedTuple):
    """The place of a location: its array, by a name that all kernels have for it, its offset and size in bytes."""

    array: Array
    offset: int
    size: int


def outlasts(array: Array) -> bool:
    """Return whether an array is still there when the kernel has ended."""
    return array.space not in ("shared", "register", SLOTS)


@dataclass(frozen=True)
class KernelArrays:
    """What is known of arrays before a kernel runs: by its module, its launch, and the threads that were created."""

    module: ir.Module
    kernel: ir.KernelFunction
    launch: KernelLaunch
    language: KernelLanguage
    created: CreatedThreads = field(default_factory=CreatedThreads)

    def number_of(self, array: Array) -> int | None:
        """Return the number of the parameter that an array is the memory of; None where it is of none."""
        return self.kernel.number_of(array.name) if array.space == "argument" else None

    def shared(self, array: Array) -> Array:
        """Return an array as all kernels of a stream call it: an argument by the name that the source has for it."""
        number = self.number_of(array)
        if number is None:
            return Array(array.space, NOBODY, array.name)
        parameter, sign, coordinates = array.name.partition("(")  # a box of its tensor map: ``map(0,16)``
        name = f"{self.launch.source_name(parameter, number)}{sign}{coordinates}"
        return Array(array.space, NOBODY, name)

    def own(self, shared: Array) -> Array:
        """Return the array of this kernel that all kernels of a stream call so."""
        parameters = enumerate(self.kernel.parameters)
        names = {
            argument_array(self.launch.source_name(parameter.name, n)): parameter.name for n, parameter in parameters
        }
        return argument_array(names[shared]) if shared in names else shared

    def argument(self, array: Array) -> ArrayArgument | None:
        """Return what the launch gives for an array."""
        number = self.kernel.number_of(array.name)
        return None if number is None else self.launch.array(array.name, number)

    def variable(self, array: Array) -> ir.Variable | None:
        """Return the variable of the module that an array is."""
        return self.module.variable(self.kernel, array.name)

    def created_variable(self, array: Array) -> ir.Variable | None:
        """Return the variable that an array is, also one of the stack of a function, which others have come to see."""
        if array.name in self.module.variables:
            return self.module.variables[array.name]
        name = array.name.rstrip("0123456789").removesuffix(".")
        every = (own for function in self.module.functions.values() for own in function.variables)
        return next((own for own in every if own.name == name), None)

    def image(self, array: Array) -> ArrayImage | None:
        """Return what earlier kernels of the stream have left in an array."""
        return self.launch.memory.get(self.shared(array)) if outlasts(array) else None

    def declared(self, array: Array) -> int | None:
        """Return the size of an element of an array as the source has it, where that is known."""
        given, number = self.argument(array), self.kernel.number_of(array.name)
        if given is not None and given.size:
            return given.size
        if not self.language.memory.parted or number is None or number >= len(self.launch.elements):
            return None
        return self.launch.elements[number]

    def source_name(self, array: Array) -> str:
        """Return the name that the source has for an array."""
        return plain_name(self.shared(array).name)

    def at_start(self, array: Array, offset: int, size: int) -> int:
        """Return the number that so many bytes of an array are before any kernel runs."""
        if array.space == SLOTS:  # who has ended brings nothing: what changes no combination of others
            return int(array.name.endswith("_and"))
        given, variable = self.argument(array), self.variable(array)
        if given is not None:
            return given.initial(offset, size)
        if variable is None:
            return 0
        if any(offset < place + 8 and place < offset + size for place, _ in variable.addresses):
            what = f"{variable.name} holds addresses from the start, which is not understood"
            raise NotUnderstoodError(what, self.module.path, variable.line, 1)
        data = variable.initial[offset : offset + size].ljust(size, b"\0")
        return int.from_bytes(data, "little", signed=True)


@dataclass
class ArrayAccesses:
    """How an array is accessed: ``places`` by offset and size, with the instructions that access each; the sizes of
    accesses at computed places, the last of them first, and the most that the index may be, ``limit``. ``outside`` are
    the places that stand for all outside of an array whose addresses are in bytes.
    """

    places: dict[tuple[int, int], list[ir.KernelInstruction]] = field(default_factory=dict)
    computed: tuple[int, ...] = ()
    limit: int | None = None
    outside: set[tuple[int, int]] = field(default_factory=set)

    @property
    def element(self) -> int | None:
        """The size of the array's elements; None where its accesses are of several sizes, or only outside of it."""
        sizes = {size for _, size in self.places} | set(self.computed[:1])
        size = sizes.pop() if sizes else None
        return size if not sizes and size and all(offset % size == 0 for offset, _ in self.places) else None


def array_accesses(arrays: KernelArrays, threads: Iterable[Sequence[Residual]]) -> dict[Array, ArrayAccesses]:
    """Return how each array is accessed, also those that earlier kernels of the stream have left, and the elements that
    addresses from memory may lead to.
    """
    found: dict[Array, ArrayAccesses] = {}
    for residual in (residual for code in threads for residual in code):
        for access in residual.accesses:
            array, offset, size, limit, *_ = access
            if array == ANYWHERE:
                continue
            accesses = found.setdefault(array, ArrayAccesses())
            if access.step:
                for place in places_of(access):
                    accesses.places.setdefault(place, []).extend([residual.origin] if residual.origin else [])
                accesses.outside |= set() if limit is None else {(limit, size)}
                continue
            if offset is None:
                accesses.computed = (size, *(other for other in accesses.computed if other != size))
                accesses.limit = accesses.limit if limit is None else limit
                continue
            origins = accesses.places.setdefault((offset, size), [])
            if residual.origin is not None and residual.origin not in origins:
                origins.append(residual.origin)
    accessed = set(map(arrays.shared, found))
    for kept, image in arrays.launch.memory.items():
        if kept not in accessed:
            places = dict.fromkeys((offset - offset % image.size, image.size) for offset in sorted(image.data))
            found[arrays.own(kept)] = ArrayAccesses({place: [] for place in places})
    for array, behind in arrays.created.outside.items():
        found.setdefault(array, ArrayAccesses()).outside |= behind
    for array, cells in arrays.created.cells.items():
        for reached in sorted(cells):
            found.setdefault(array, ArrayAccesses()).places.setdefault(reached, [])
    return found


class LocationName(NamedTuple):
    """The name of a location. ``parted``: it is a part of larger accesses. ``whole``: the element of the source that it
    is a part of, of so many bytes, the first of which is ``start`` bytes before it, and ``length`` are its own.
    """

    name: str
    parted: bool = False
    whole: str | None = None
    width: int = 0
    start: int = 0
    length: int = 0


@dataclass(frozen=True)
class LocationNames:
    """The names of arrays and of their members, the sizes of their elements, and those that the source declares."""

    names: Mapping[Array, str]
    members: Mapping[Array, tuple[tuple[int, str], ...]]
    accesses: Mapping[Array, ArrayAccesses]
    elements: Mapping[Array, int | None]
    declared: Mapping[Array, int | None]
    parts: Parts
    bytes: bool = False
    """Whether addresses are in bytes: the location ``x[8]`` begins 8 bytes behind ``x``."""

    def locate(self, array: Array, offset: int) -> LocationName:
        """Return the location that begins so many bytes into an array."""
        size = self.elements.get(array)
        stem = self.names.get(array, array.name)
        if self.bytes:
            return LocationName(element(stem, offset))
        for start, name in reversed(self.members.get(array, ())):
            if start <= offset:
                stem, offset = name, offset - start
                break
        whole = self.declared.get(array)
        part = next((part for start, end, part in self.parts.get(array, ()) if start <= offset < end), None)
        if part is not None or (size and whole and size < whole):
            # by a name of its own where it is not an element, for ``x[1]`` is one of the source
            length = part or size or 1
            name = element(stem if length == whole else f"{stem}_parts_of_{length}", offset // length)
            if whole and length < whole:
                wide = element(stem, offset // whole)
                return LocationName(name, part is not None, wide, whole, offset % whole, length)
            return LocationName(name, part is not None)
        if size and whole and size > whole:
            return LocationName(element(f"{stem}_by_{size}", offset // size))
        if size is not None:
            return LocationName(element(stem, offset // size))
        places = self.accesses[array].places if array in self.accesses else {}
        lengths = {length for place, length in places if place == offset}
        if whole and offset % whole == 0 and lengths == {whole}:
            return LocationName(element(stem, offset // whole))
        return LocationName(f"{stem}_at_{offset}" if offset or whole else stem)

    def operand(self, operand: Operand) -> Operand:
        """Return an operand with locations by their names."""
        return Loc(self.locate(operand.array, operand.offset).name) if isinstance(operand, ArrayPlace) else operand


def name_arrays(arrays: KernelArrays, accesses: Mapping[Array, ArrayAccesses], parts: Parts) -> LocationNames:
    """Return names for arrays: their own, with the block where several blocks have one of this name.

    Raises ``NotUnderstoodError`` where accesses of several sizes, one of them at a computed index, have no parts, and
    where what an argument gives depends on the size of its elements, which nothing tells.
    """
    elements = {array: use.element for array, use in accesses.items()}
    grows = arrays.language.control.grows
    if not grows:
        _check_sizes(arrays, accesses, elements, parts)
    owners: dict[str, int] = {}
    for array in accesses:
        owners[array.name] = owners.get(array.name, 0) + 1
    names: dict[Array, str] = {}
    for array in accesses:
        name = _stem(arrays, array, owners[array.name] > 1)
        again = sum(other == name or other.startswith(f"{name}__") for other in names.values())
        names[array] = f"{name}__{again + 1}" if name in names.values() else name
    members = {array: _members(arrays, array, names) for array, use in accesses.items() if not use.computed}
    declared = {array: arrays.declared(array) for array in accesses}
    return LocationNames(names, members, accesses, elements, declared, parts, grows)


def _check_sizes(
    arrays: KernelArrays,
    accesses: Mapping[Array, ArrayAccesses],
    elements: Mapping[Array, int | None],
    parts: Parts,
) -> None:
    path = arrays.module.path
    for array, use in accesses.items():
        name = arrays.source_name(array)
        if (use.computed and elements[array] is None) or len(use.computed) > 1:
            what = f"{name}: accesses of several sizes, of which some are atomic or strong, with a computed index"
            raise NotUnderstoodError(f"{what} are not understood", path)
        given = arrays.argument(array)
        several = array in parts or elements[array] is None
        if several and given is not None and any(given.values) and given.size is None and given.data is None:
            what = f"{name}: accesses are of several sizes, and the size of an element of its --arg is not known"
            raise NotUnderstoodError(what, path)


def _stem(arrays: KernelArrays, array: Array, several: bool) -> str:
    """Return the name of an array: its own, with its block where several blocks have one of this name."""
    space, block, name = array
    number = arrays.number_of(array)
    given = arrays.shared(array).name if space == "argument" else plain_name(name)
    if number is not None and arrays.kernel.parameters[number].space == ir.FIELD:  # p.q[1].data: p.q_1.data
        return re.sub(r"[^\w.]", "_", given.replace("]", ""))
    plain = "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in given.rstrip(")"))
    return f"{plain}_b{block}" if several and space in ("shared", SLOTS) else plain


def _members(arrays: KernelArrays, array: Array, names: Mapping[Array, str]) -> tuple[tuple[int, str], ...]:
    """Return the places and names of the members of a buffer, none of which is the name of another array."""
    number = arrays.number_of(array)
    parts = () if number is None else arrays.kernel.parameters[number].parts
    others = [part for other in arrays.kernel.parameters if other.name != array.name for _, part in other.parts]
    taken = {*names.values(), *others}
    return tuple((offset, f"{names[array]}_{name}" if name in taken else name) for offset, name in parts)


@dataclass(frozen=True)
class ProgramLocations:
    """The locations of a program, with what they hold at the start.

    ``cells`` are the places of locations, ``wholes`` the elements of the source whose parts are locations, with these.
    Names are of locations that are: outside of an array (``outside``), without a value at the start (``undefined``), in
    shared memory with one (``initialised``), parts of larger accesses (``parted``). ``untold`` may hold a value that
    nothing tells, with what it is. ``called``: the names that the source has, where others stand for bytes.
    ``assumed``: what was taken for granted.
    """

    locations: tuple[Location, ...]
    cells: Mapping[str, ArrayCell]
    outside: frozenset[str]
    undefined: frozenset[str]
    initialised: frozenset[str]
    parted: frozenset[str]
    wholes: Mapping[str, tuple[str, ...]]
    untold: Mapping[str, str]
    assumed: tuple[str, ...]
    called: Mapping[str, str] = field(default_factory=dict)


def locations_of(arrays: KernelArrays, names: LocationNames, untold: UntoldValues) -> ProgramLocations:
    """Return the locations that a program accesses or may access by an index, with what they hold at the start."""
    found: dict[str, Location] = {}
    cells: dict[str, ArrayCell] = {}
    outside, undefined, initialised, parted = set[str](), set[str](), set[str](), set[str]()
    of_wholes: dict[tuple[str, int], dict[int, LocationName]] = {}
    open_values: dict[str, str] = {}
    assumed: dict[str, None] = {}
    for array in sorted(names.accesses, key=lambda array: names.names[array]):
        use, places = names.accesses[array], dict.fromkeys(sorted(names.accesses[array].places))
        if use.computed:
            size = use.computed[0]
            count = _count(arrays, names, array, assumed)
            places |= dict.fromkeys((n * size, size) for n in range(count))
            if use.limit is not None:
                end = (use.limit * size, size)
                outside |= set() if end in places else {names.locate(array, end[0]).name}
                places[end] = None
        if use.outside:
            places |= dict.fromkeys(use.outside)
            outside |= {names.locate(array, offset).name for offset, _ in use.outside}
        region = _REGIONS.get(array.space, Region.GLOBAL)
        variable = arrays.variable(array)
        begun = arrays.argument(array) is not None or bool(variable and variable.initial)
        for offset, size in sorted(places):
            place = names.locate(array, offset)
            initialised |= {place.name} if begun and region is Region.SHARED else set()
            parted |= {place.name} if place.parted else set()
            if place.whole is not None:
                of_wholes.setdefault((place.whole, place.width), {})[place.start] = place
            if array in arrays.created.sizes and variable is None:
                known = array in arrays.created.zeroed or _began(arrays, array, offset, size) is not None
                undefined |= set() if known else {place.name}
            cells.setdefault(place.name, ArrayCell(arrays.shared(array), offset, size))
            found.setdefault(place.name, Location(place.name, _initial(arrays, names, array, offset, size), region))
            if (offset, size) in use.places or use.limit is None or offset < use.limit * size:
                why = untold.of(array, offset, size)
                open_values |= {} if why is None else {place.name: why}
    wholes = {}
    for (whole, width), parts in of_wholes.items():
        pieces = [parts[start] for start in sorted(parts)]
        if sum(piece.length for piece in pieces) == width:
            wholes[whole] = tuple(piece.name for piece in pieces)
    return ProgramLocations(
        tuple(found.values()),
        cells,
        frozenset(outside),
        frozenset(undefined),
        frozenset(initialised),
        frozenset(parted),
        wholes,
        open_values,
        tuple(assumed),
        _called(arrays, names, cells) if names.bytes else {},
    )


def _called(arrays: KernelArrays, names: LocationNames, cells: Mapping[str, ArrayCell]) -> dict[str, str]:
    """Return the names that the source has for locations whose places are in bytes: ``ring.items[0]`` for ``ring[16]``,
    and ``f.x@1`` for a variable of the stack of thread 1 in f.
    """
    found: dict[str, str] = {}
    for name, cell in cells.items():
        stem = names.names.get(cell.array, cell.array.name)
        variable = arrays.created_variable(cell.array)
        parts = dict(variable.parts) if variable is not None else {}
        if variable is not None and variable.space == "local":  # of a call in some thread
            stem = f"{variable.name}@{cell.array.name.removeprefix(variable.name).strip('.').partition('.')[0]}"
        behind = parts.get(cell.offset, f"+{cell.offset}" if cell.offset else "")
        found |= {name: f"{stem}{behind}"} if f"{stem}{behind}" != name else {}
    return found


def _count(arrays: KernelArrays, names: LocationNames, array: Array, assumed: dict[str, None]) -> int:
    """Return the number of elements of an array whose index is computed, where they are not too many."""
    use, name = names.accesses[array], names.names[array]
    count = _known_count(arrays, array, use)
    if count is None:
        size, image = use.computed[0], arrays.image(array)
        offsets = (*(offset for offset, _ in use.places), *(image.data if image else ()))
        count = max(COUNT, max((offset // size + 1 for offset in offsets), default=0))
        assumed[f"{name} has {count} elements"] = None
    if count > MOST_ELEMENTS:
        what = f"{name} has {count:,} elements: more than {MOST_ELEMENTS:,} with a computed index"
        raise NotUnderstoodError(f"{what} are not understood", arrays.module.path)
    return count


def _known_count(arrays: KernelArrays, array: Array, use: ArrayAccesses) -> int | None:
    size = use.computed[0]
    if use.limit is not None:
        return use.limit
    given, variable = arrays.argument(array), arrays.variable(array)
    if given is not None and given.elements(size):
        return given.elements(size)
    if array in arrays.created.sizes:
        return arrays.created.sizes[array] // size
    return variable.size // size if variable is not None and variable.size else None


def _initial(arrays: KernelArrays, names: LocationNames, array: Array, offset: int, size: int) -> int | Loc:
    """Return what so many bytes of an array hold where the kernel begins."""
    began = _began(arrays, array, offset, size)
    if isinstance(began, ArrayAddress) and is_numbered(began.array):
        return number_of(arrays.module, began)
    if isinstance(began, ArrayAddress):
        return Loc(names.locate(began.array, began.offset).name)
    if began is not None:
        return signed(began, 8 * size)
    image, value = arrays.image(array), arrays.at_start(array, offset, size)
    return value if image is None else image.over(value, offset, size)


def _began(arrays: KernelArrays, array: Array, offset: int, size: int) -> int | ArrayAddress | None:
    """Return what so many bytes of an array held when threads were created; None where nothing had written them.

    Raises ``NotUnderstoodError`` where it is a part of an address, or nothing tells it.
    """
    start = arrays.created.start
    exact = start.get(Cell(array.owner, array.name, offset, size))
    if isinstance(exact, int | ArrayAddress):
        return exact
    cells = [cell for cell in start if cell.name == array.name and cell.meets(offset, size)]
    if not cells:
        return None
    data = dict[int, int]()
    for cell in cells:
        value = start[cell]
        if isinstance(value, int):
            data |= enumerate(value.to_bytes(cell.size, "little"), cell.offset)
    variable = arrays.variable(array)
    initial = variable.initial[offset : offset + size].ljust(size, b"\0") if variable else bytes(size)
    if any(not isinstance(start[cell], int) for cell in cells):
        what = f"{array.name} holds at byte {offset} what is not known, or a part of an address"
        raise NotUnderstoodError(f"{what}, which is not understood", arrays.module.path)
    return int.from_bytes(bytes(data.get(offset + n, byte) for n, byte in enumerate(initial)), "little")


def notes_of_zeros(arrays: KernelArrays, names: LocationNames, threads: Iterable[Sequence[Residual]]) -> Iterator[str]:
    """Yield notes of the arguments whose memory nothing tells, and of variables that the host may have set."""
    open_ = [
        name
        for array, name in names.names.items()
        if array.space == "argument" and not arrays.argument(array) and not arrays.image(array)
    ]
    if open_:
        yield f"memory of {', '.join(sorted(open_))} begins as zeros"
    if not arrays.language.memory.parted:
        return
    residuals = (residual for code in threads for residual in code if not isinstance(residual.instruction, Store))
    read = dict.fromkeys(access.array for residual in residuals for access in residual.accesses)
    for array in read:  # by which the host may say what a kernel does, as in constant memory
        if array.space == "global" and arrays.variable(array) and not arrays.image(array):
            yield f"{names.names[array]} begins as the module gives it"


def mixed_sizes(names: LocationNames) -> Iterator[MixedSize]:
    """Yield the accesses of one array that overlap and are not of one place and size."""
    for array, use in sorted(names.accesses.items(), key=lambda item: str(item[0])):
        places = sorted(use.places)
        for n, (offset, size) in enumerate(places):
            for other, length in places[n + 1 :]:
                if other < offset + size and offset < other + length:
                    origins = (*use.places[offset, size], *use.places[other, length])
                    yield MixedSize(names.names[array], (offset, size), (other, length), origins)
