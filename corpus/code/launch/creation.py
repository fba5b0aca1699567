"""Threads that create and join others: how they begin and end, and all threads that a first one leads to.

The first thread is alone until it creates others; what memory holds then is where these begin. A thread that is created
after its creator has done something waits for it: the creator writes a location of the system's, which the thread
reads, as release and acquire. So does who joins a thread read what that one writes at its end. Nobody spins there: a
barrier of the two blocks who waits. So what a thread does before it creates another one happens before all that this
one does, and that before a join returns (C11 7.26.5.1p2 and 7.26.5.6p2)::

    st.release thread_1_ended, 1             barrier of two
    barrier of two, without waiting          L0: ld.acquire r, thread_1_ended
                                             beq r, 0, L0

A thread that stops early, at a trap or where what it takes for granted does not hold, says so at its end: who joins it
stops there as well, without a reason of its own. What nobody waits for is left out, and so is a first thread that only
waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from corpus.code import ir
from corpus.code.follower import follow
from corpus.code.launch.contests import ThreadAccesses, contested_bytes
from corpus.code.launch.facts import mixed_parts
from corpus.code.launch.launch import KernelLaunch, ThreadIds
from corpus.code.launch.meanings import without_needless_checks
from corpus.code.launch.sharing import MOST_CREATED, ShownError
from corpus.code.numbered import is_numbered
from corpus.code.passes.tidying import tidied
from corpus.code.places import ANYWHERE, CODE, NOBODY, Array, ArrayPlace, Cell, array_place
from corpus.code.refusals import refusal
from corpus.code.residual import END, MARK, Access, Residual, why_of
from corpus.code.thread import (
    Creation,
    FollowedThread,
    KernelLanguage,
    LaunchFacts,
    Parts,
    ThreadStart,
    new_thread,
)
from corpus.code.values import ArrayAddress, Value
from corpus.errors import InputError
from corpus.graphs import components
from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.orders import PLAIN, Mode, Order, Scope

OBJECTS = "object"
"""The space of memory that all threads may access."""

SLOT = 8
"""The bytes of an element of an array in that space."""

BEGUN, ENDED, GIVEN = "begun", "ended", "result"
"""The locations of the system's by which a thread begins, ends, and leaves a result."""

EARLY = 2
"""What is in the location of the end of a thread that has stopped before its end."""

RESULT = "result"
"""The register that has what a function returns."""

NOTIFIED = "notified."
"""How the names of arrays begin that count how often those were notified who wait for atomic objects of another."""

_SYSTEM = "thread."

MOST_CELLS = 256
"""The elements of an object that may be accessed by addresses that are read from memory."""

_RELEASE = Mode(Order.RELEASE, Scope.SYS)
_ACQUIRE = Mode(Order.ACQUIRE, Scope.SYS)

Step = tuple[Instruction, Access | None]
"""An instruction of the residual program, and the access that it is."""


def system_array(number: int, what: str) -> Array:
    """Return the array of the system's for a thread."""
    return Array(OBJECTS, NOBODY, f"{_SYSTEM}{number}.{what}")


def signal(number: int, what: str, value: int = 1) -> Iterator[Step]:
    """Yield what lets those go on who wait for a thread to begin, or to end, where it has ended early (``EARLY``)."""
    array = system_array(number, what)
    yield Store(array_place(array, 0), value, _RELEASE), Access(array, 0, SLOT)
    yield _meeting(number, what, arrive=True), None


def wait(number: int, what: str) -> Iterator[Step]:
    """Yield what waits for a thread to begin, or to end."""
    array, name = system_array(number, what), f"{what}{number}"
    yield _meeting(number, what, arrive=False), None
    yield Label(name), None
    yield Load(name, array_place(array, 0), _ACQUIRE), Access(array, 0, SLOT)
    yield Branch(name, Comparison("eq", Reg(name), 0)), None


def _meeting(number: int, what: str, arrive: bool) -> Barrier:
    return Barrier(2 * number + (what == ENDED), arrive=arrive, quorum=2, scope=Scope.SYS)


@dataclass
class CreatedThreads:
    """All threads of a program: what is left of each, its function, and what memory holds where others begin.

    ``start`` has the values of memory by its cells, ``sizes`` the bytes of arrays that threads have made, ``zeroed``
    those of them that begin as zeros, ``made`` those that functions such as malloc have made, ``cells`` the places and
    sizes of what addresses from memory may lead to, ``outside`` those behind an array. ``parts``: where plain accesses
    of several sizes overlap, which are made of parts. ``needed``: the threads at whose end the program ends; None: it
    ends where all of them have ended.
    ``kept``: what was read where nobody writes.
    """

    followed: list[tuple[ThreadIds, list[Residual]]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    assumed: dict[str, None] = field(default_factory=dict)
    start: dict[Cell, Value] = field(default_factory=dict)
    sizes: dict[Array, int] = field(default_factory=dict)
    zeroed: set[Array] = field(default_factory=set)
    accesses: list[ThreadAccesses] = field(default_factory=list)
    made: set[Array] = field(default_factory=set)
    outlived: bool = False
    """Whether the first thread ends alone, and the others go on."""
    kept: set[tuple[Array, int, int]] = field(default_factory=set)
    cells: dict[Array, set[tuple[int, int]]] = field(default_factory=dict)
    outside: dict[Array, set[tuple[int, int]]] = field(default_factory=dict)
    parts: Parts = field(default_factory=dict)
    needed: frozenset[int] | None = None


def created_threads(
    module: ir.Module, kernel: ir.KernelFunction, launch: KernelLaunch, language: KernelLanguage
) -> CreatedThreads:
    """Return all threads that a first one leads to. Raises ``NotUnderstoodError`` where one comes to what is not
    understood, and ``InputError`` where there are too many.
    """
    facts, shown = LaunchFacts(), frozenset[Array]()
    for number in range(MOST_ROUNDS + MOST_CONTESTS):
        try:
            found, pointed = _all_threads(module, kernel, launch, language, facts)
        except ShownError as error:
            shown |= {error.array}
            facts = replace(facts, shown=shown)
            continue
        contested = facts.contested
        if contested is not None:
            contested |= contested_bytes(found.accesses, _cells(found, pointed))
        if number == MOST_CONTESTS:
            contested = None
        parts = facts.parts if contested != facts.contested else _parts_of(found, facts.parts)
        if (parts, contested) == (facts.parts, facts.contested):
            break
        facts = LaunchFacts(parts=parts, contested=contested, shown=shown)
    else:
        raise InputError("its threads share memory in more ways than are followed", module.path, kernel.line, 1)
    found.needed = _waited_for(found)
    held = [cell for cell, value in found.start.items() if not isinstance(value, int)]
    addresses = {Array(OBJECTS, NOBODY, cell.name) for cell in held}
    codes = without_needless_checks([code for _, code in found.followed], addresses)
    codes = _needed(_with_early_ends(list(map(_ending_in_loops, codes))))
    found.followed = [(ids, tidied(code)) for (ids, _), code in zip(found.followed, codes, strict=True)]
    found.cells, found.parts = _cells(found, pointed), facts.parts
    for array, offset, size in sorted(found.kept):
        if not any(offset < place + wide and place < offset + size for place, wide in found.cells.get(array, ())):
            found.cells.setdefault(array, set()).add((offset, size))
    codes = [_with_releases(found, code) for _, code in found.followed]
    found.followed = [(ids, code) for (ids, _), code in zip(found.followed, codes, strict=True)]
    return found


def _parts_of(found: CreatedThreads, known: Parts = MappingProxyType({})) -> Parts:
    """Return the parts of accesses, with those that are known: what is made of parts overlaps no more."""
    new = _parts(residual for _, code in found.followed for residual in code)
    return {array: sorted({*known.get(array, ()), *new.get(array, ())}) for array in (*known, *new)}


MOST_BEHIND = 64
"""The bytes behind an object that it is known to be outside to access; what is further away is of no object."""

MOST_ROUNDS, MOST_CONTESTS = 8, 24
"""How often threads are followed until it is known which accesses are made of parts, and before that which places
several threads access.
"""


class _Pointers(NamedTuple):
    """How far addresses from memory are moved, and computed places whose addresses are kept, by their arrays."""

    moves: set[int]
    whole: dict[Array, set[tuple[int, int, int]]]


def _all_threads(
    module: ir.Module, kernel: ir.KernelFunction, launch: KernelLaunch, language: KernelLanguage, facts: LaunchFacts
) -> tuple[CreatedThreads, _Pointers]:
    """Follow a first thread and all that it leads to, with what is known of accesses."""
    found, pointed = CreatedThreads(), _Pointers(set(), {})
    found.sizes |= {Array(OBJECTS, NOBODY, name): variable.size for name, variable in module.variables.items()
                    if variable.space == OBJECTS and variable.size is not None}  # fmt: skip
    starts = [ThreadStart(ids, kernel) for ids in launch.threads()]
    creators = [NOBODY] * len(starts)
    for start in starts:  # which become more
        others = found if found.followed else None
        thread, code = _followed(module, kernel, launch, language, start, len(starts), facts, others)
        created = thread.creation
        number = len(found.accesses)
        creators += [number] * len(created.started)
        found.accesses.append(ThreadAccesses(code, created.reads, created.writes, creators[number]))
        starts += created.started
        if len(starts) > MOST_CREATED:
            raise InputError(f"expected at most {MOST_CREATED} threads", module.path, kernel.line, 1)
        found.followed.append((start.ids, code))
        found.names.append(_called(module, start))
        found.assumed |= thread.notes.assumed
        found.start |= created.image
        found.sizes |= created.sizes
        found.zeroed |= created.zeroed
        found.made.update(created.origins)
        found.outlived |= created.outlived
        found.kept |= created.kept
        pointed.moves.update(created.moves)
        for array, places in created.whole.items():
            pointed.whole.setdefault(array, set()).update(places)
    return found, pointed


def _followed(
    module: ir.Module,
    kernel: ir.KernelFunction,
    launch: KernelLaunch,
    language: KernelLanguage,
    start: ThreadStart,
    following: int,
    facts: LaunchFacts,
    others: CreatedThreads | None,
) -> tuple[FollowedThread, list[Residual]]:
    """Follow a thread, once more for each array of its own that it shows to others. ``others`` are the threads before
    it. Raises ``ShownError`` of one that the thread was given and shows to others.
    """
    shown = {array: array for array in facts.shown}
    while True:
        creation = Creation(start.function is kernel, following, shown)
        if others is not None:
            creation.image.update(others.start)
            creation.sizes.update(others.sizes)
            creation.zeroed.update(others.zeroed)
        creation.private.update(start.given)
        thread = new_thread(module, kernel, launch, start.ids, language, facts, creation=creation)
        before = [*_beginning(thread.block)] if start.waits else []
        try:
            code = follow(thread, start, before)
            for count, origin in creation.ends.items():
                if count != len(creation.started):
                    what = "a thread that is created where memory decides whether it is, is not understood"
                    raise refusal(module, origin, what)
            return thread, code
        except ShownError as error:
            if error.array in start.given or error.array in shown:
                raise
            if not error.array.is_own:
                shown[error.array] = error.array
                continue
            _, depth, name = error.array
            own = Array(OBJECTS, NOBODY, f"{name}.{thread.block}")
            shown[error.array] = own if own not in shown.values() else own._replace(name=f"{own.name}.{depth}")


def _called(module: ir.Module, start: ThreadStart) -> str:
    """Return the name of the function of a thread; where it is one of the library, that which it is given."""
    if start.function.called:
        return start.function.called
    values = (value for cells in start.given.values() for value in cells.values())
    given = (value.array.name for value in values if isinstance(value, ArrayAddress) and value.array.space == CODE)
    every = (module.functions[name] for name in given if name in module.functions)
    return next((function.called or function.name for function in every), start.function.name)


def _beginning(number: int) -> Iterator[Residual]:
    for ins, access in wait(number, BEGUN):
        yield Residual(ins, None, access)


def _waited_for(found: CreatedThreads) -> frozenset[int] | None:
    """Return the threads at whose end the program ends: the first one and those that it waits for wherever it goes, and
    so on; if it only waits, it is none of them.
    """
    if found.outlived:
        return None
    codes = [code for _, code in found.followed]
    if all(map(_only_waits, codes[0])):
        waits = (residual.instruction for residual in codes[0] if isinstance(residual.instruction, Barrier))
        ends = {wait.number // 2 for wait in waits if not wait.arrive and isinstance(wait.number, int)}
    else:
        ends = {0}
    waiting = list(ends)
    while waiting:
        new = _joined_always(codes[waiting.pop()]) - ends
        ends |= new
        waiting += new
    return frozenset(ends)


def _joined_always(code: Sequence[Residual]) -> set[int]:
    """Return the threads that a thread joins whichever way it goes to its end, unless it stops with a finding."""
    joins = {place: number for place, residual in enumerate(code) if (number := _joined(residual)) is not None}
    return {number for place, number in joins.items() if not _ends_without(code, place)}


def _ends_without(code: Sequence[Residual], avoided: int) -> bool:
    """Decide whether a thread may come to its end, but for a finding, on a way that leads past a place."""
    labels = {residual.instruction.name: place for place, residual in enumerate(code)
              if isinstance(residual.instruction, Label)}  # fmt: skip
    waiting, met = [0], {0, avoided}
    while waiting:
        place = waiting.pop()
        if place >= len(code):
            return True
        ways = [place + 1]
        match code[place].instruction:
            case Branch(label, condition):
                ways = [] if condition is None else ways
                if not _stops(code, place):
                    ways.append(labels.get(label, len(code)))
        new = [way for way in ways if way not in met]
        met.update(new)
        waiting += new
    return False


def _with_early_ends(codes: Sequence[list[Residual]]) -> list[list[Residual]]:
    """Return the threads such that who joins one that stops early stops as well.

    Otherwise who joins it waits for ever, and nothing is known of executions that do not come to their end.
    """
    early = {number for number, code in enumerate(codes) if any(_stops(code, place) for place in range(len(code)))}
    joined = [{number for number in map(_joined, code) if number is not None} for code in codes]
    while more := {number for number, others in enumerate(joined) if others & early} - early:
        early |= more
    waited = set[int]().union(*joined)
    return [
        _with_early_end(code, number, early, number in early & waited) if early else code
        for number, code in enumerate(codes)
    ]


def _with_early_end(code: list[Residual], number: int, early: set[int], waited: bool) -> list[Residual]:
    """Return a thread that stops where one that it joins has, and says so where somebody waits for it."""
    target = _STOPPED if waited else END
    done: list[Residual] = []
    for place, residual in enumerate(code):
        if residual.instruction == Label(END) and waited:
            done += [Residual(Branch(END), None), Residual(Label(_STOPPED), None)]
            done += [Residual(ins, None, access) for ins, access in signal(number, ENDED, EARLY)]
        done.append(residual._replace(instruction=Branch(target)) if _stops(code, place) else residual)
        other = _joined(residual)
        if other in early:
            name = f"{ENDED}{other}"
            done.append(residual._replace(instruction=Branch(target, Comparison("eq", Reg(name), EARLY))))
    return done


_STOPPED = "STOPPED"
"""The label of where a thread says that it has ended early."""


def _ending_in_loops(code: Sequence[Residual]) -> list[Residual]:
    """Return a thread that ends at a finding in a loop, behind which it would go on, unless it is an assertion: a round
    that waits is then one that changes nothing.
    """
    labels = {residual.instruction.name: place for place, residual in enumerate(code)
              if isinstance(residual.instruction, Label)}  # fmt: skip
    ways: list[list[int]] = []
    for place, residual in enumerate(code):
        behind = [place + 1] if place + 1 < len(code) else []
        match residual.instruction:
            case Branch(label, condition):
                ways.append([*(behind if condition is not None else ()), *([labels[label]] if label in labels else ())])
            case _:
                ways.append(behind)
    looping = {place for group in components(ways) if len(group) > 1 for place in group}
    done: list[Residual] = []
    for place, residual in enumerate(code):
        done.append(residual)
        match residual.instruction:
            case Assign(target) if target.startswith(MARK) and place in looping and why_of(target) in _GOING_ON:
                done.append(Residual(Branch(END), residual.origin))
    return done


_GOING_ON = ("overflow", "shift", "zero")
"""The findings behind which a thread goes on with some result."""


def _stops(code: Sequence[Residual], place: int) -> bool:
    """Decide whether a thread ends at a place behind a mark that says why."""
    before = code[place - 1].instruction if place else None
    marked = isinstance(before, Assign) and before.target.startswith(MARK)
    return marked and code[place].instruction == Branch(END)


def _joined(residual: Residual) -> int | None:
    """Return the number of the thread for whose end an instruction goes on waiting, None for other instructions."""
    match residual.instruction:
        case Branch(label, Comparison("eq", Reg(name), 0)) if label == name and label.startswith(ENDED):
            return int(label.removeprefix(ENDED))
    return None


def _needed(codes: Sequence[list[Residual]]) -> list[list[Residual]]:
    """Return the threads without what nobody waits for, and with nothing left of a first one that only waits."""
    every = [[*code] for code in codes]
    if all(map(_only_waits, every[0])):
        every[0] = []
    read = {residual.access.array for code in every for residual in code if residual.access and not _is_write(residual)}
    waited = {
        residual.instruction.number
        for code in every
        for residual in code
        if isinstance(residual.instruction, Barrier) and not residual.instruction.arrive
    }

    heard = {residual.access.array for code in every for residual in code
             if residual.access and isinstance(residual.instruction, Load)}  # fmt: skip

    def is_needed(residual: Residual) -> bool:
        if (
            isinstance(residual.instruction, Rmw)
            and residual.access
            and residual.access.array.name.startswith(NOTIFIED)
        ):
            return residual.access.array in heard
        if isinstance(residual.instruction, Barrier):
            return residual.instruction.number in waited
        return not (
            _is_write(residual) and _is_of_system(residual) and residual.access and residual.access.array not in read
        )

    return [list(filter(is_needed, code)) for code in every]


def _is_write(residual: Residual) -> bool:
    return isinstance(residual.instruction, Store)


def _is_of_system(residual: Residual) -> bool:
    array = residual.access and residual.access.array
    return array is not None and array.space == OBJECTS and array.name.startswith(_SYSTEM)


def _only_waits(residual: Residual) -> bool:
    match residual.instruction:
        case Barrier(arrive=False) | Label():
            return True
        case Assign(target):
            return not target.startswith(MARK)
        case Load():
            return _is_of_system(residual)
        case Branch(label, condition):
            return label == END or (condition is not None and label.startswith(ENDED))
    return False


def _places(code: Iterable[Residual]) -> dict[Array, dict[tuple[int, int], bool]]:
    """Return the places and sizes of accesses of each array, and whether all of them are plain."""
    found: dict[Array, dict[tuple[int, int], bool]] = {}
    for residual in code:
        weak = isinstance(residual.instruction, Load | Store) and residual.instruction.mode == PLAIN
        for access in residual.accesses:
            places = found.setdefault(access.array, {})
            for place in places_of(access) if access.size else ():
                places[place] = places.get(place, True) and weak
    return found


def places_of(access: Access) -> Iterator[tuple[int, int]]:
    """Yield the places of an access, with its size: one, or those that its address may be computed to be."""
    if access.offset is not None:
        yield access.offset, access.size
    elif access.step:
        yield from ((place, access.size) for place in range(access.start, access.end, access.step))


def _parts(code: Iterable[Residual]) -> Parts:
    """Return where plain accesses of several sizes overlap, and the largest parts that all of these are made of."""
    found = {array: list(mixed_parts(places)) for array, places in _places(code).items() if array != ANYWHERE}
    return {array: parts for array, parts in found.items() if parts}


def _cells(found: CreatedThreads, pointed: _Pointers) -> dict[Array, set[tuple[int, int]]]:
    """Return the places to which addresses from memory may lead, with the sizes that accesses by them have there.

    What is accessed by its name, or has been written before there were other threads, has the size that it has there.
    """
    every = [residual for _, code in found.followed for residual in code]
    begins = _pointed(found, pointed, every)
    accesses = (access for residual in every for access in residual.accesses if access.size)
    by_address = {(access.offset, access.size) for access in accesses if access.array == ANYWHERE}
    known = _places(every)
    cells: dict[Array, set[tuple[int, int]]] = {}
    for array in sorted(begins):
        size = found.sizes.get(array, 0)
        own = {*known.get(array, ())}
        own |= {(cell.offset, cell.size) for cell in found.start if cell.name == array.name and cell.size}
        cells[array] = set(known.get(array, ()))
        for start in sorted(begins[array]):
            for offset, length in sorted(by_address, key=str):
                places = [start + offset] if offset is not None else range(start % length, size, length)
                for place in places[:MOST_CELLS]:
                    new = (place, length)
                    if size and size <= place <= size + MOST_BEHIND:
                        found.outside.setdefault(array, set()).add(new)
                    if place < 0 or (size and place + length > size) or new in cells[array]:
                        continue
                    if not any(place < other + wide and other < place + length for other, wide in own - {new}):
                        own.add(new)
                        cells[array].add(new)
    return cells


def _pointed(found: CreatedThreads, pointed: _Pointers, code: Iterable[Residual]) -> dict[Array, set[int]]:
    """Return the places whose addresses are in memory, or are computed of such, by their arrays."""
    places: dict[Array, set[int]] = {}
    for residual in code:
        match residual.instruction:
            case Store(value=ArrayPlace() as place) | Assign(operands=(ArrayPlace() as place, *_)):
                places.setdefault(place.array, set()).add(place.offset)
            case Rmw(operands=operands):
                for operand in operands:
                    if isinstance(operand, ArrayPlace):
                        places.setdefault(operand.array, set()).add(operand.offset)
    for value in found.start.values():
        if isinstance(value, ArrayAddress):
            places.setdefault(value.array, set()).add(value.offset)
    for array, every in pointed.whole.items():
        for start, step, end in every:
            places.setdefault(array, set()).update(
                range(start, end or found.sizes.get(array, 0), step or 1)[:MOST_CELLS]
            )
    places = {array: every for array, every in places.items() if not is_numbered(array)}
    for array in sorted(places):
        waiting = list(places[array])
        while waiting and len(places[array]) < MOST_CELLS:
            start, size = waiting.pop(), found.sizes.get(array, 0)
            new = {start + move for move in pointed.moves if 0 <= start + move <= size} - places[array]
            places[array] |= new
            waiting += sorted(new)
    return places


def _with_releases(found: CreatedThreads, code: Sequence[Residual]) -> list[Residual]:
    """Return what is left of a thread in which memory that is given back is written where others may access it."""
    done: list[Residual] = []
    every = _places(other for _, others in found.followed for other in others)
    for residual in code:
        access = residual.access
        if access is None or access.size or not isinstance(residual.instruction, Store):
            done.append(residual)
            continue
        if access.array == ANYWHERE:
            done += _released_by_address(found, residual, residual.instruction.address, every)
            continue
        places = {place for place in (*every.get(access.array, ()), *found.cells.get(access.array, ())) if place[1]}
        for offset, size in sorted(places or {(0, 1)}):  # nobody uses it, and it may be given back twice
            store = Store(array_place(access.array, offset), 0)
            done.append(Residual(store, residual.origin, Access(access.array, offset, size, released=True)))
    return done


def _released_by_address(
    found: CreatedThreads, residual: Residual, address: Operand, known: Mapping[Array, Mapping[tuple[int, int], bool]]
) -> Iterator[Residual]:
    """Yield the writes to an object that is given back by an address from memory: to what each such object has."""
    made = [array for array in found.cells if array.space == OBJECTS and array in found.made]
    places = [{*known.get(array, ()), *found.cells.get(array, ())} for array in made]
    common = set.intersection(*places) if places else set[tuple[int, int]]()
    if not common or any(place != common for place in places):
        found.assumed["of memory that is given back by an address from memory, only what all objects have is"] = None
    assert isinstance(address, Reg)
    for offset, size in sorted(common):
        register = f"{address.name}_released_{offset}"
        yield Residual(Assign(register, "add", (address, offset)), residual.origin)
        yield Residual(Store(Reg(register), 0), residual.origin, Access(ANYWHERE, offset, size, released=True))
