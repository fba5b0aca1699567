"""Threads that create and join others: how they begin and end, and all threads that a first one leads to.

The first thread is alone until it creates others; what memory holds then is where these begin. A thread that is created
after its creator has done something waits for it: the creator writes a location of the system's, which the thread
reads, as release and acquire. So does who joins a thread read what that one writes at its end. Nobody spins there: a
barrier of the two blocks who waits. So what a thread does before it creates another one happens before all that this
one does, and that before a join returns (C11 7.26.5.1p2 and 7.26.5.6p2)::

    st.release thread_1_ended, 1             barrier of two
    barrier of two, without waiting          L0: ld.acquire r, thread_1_ended
                                             beq r, 0, L0

What nobody waits for is left out, and so is a first thread that only waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from corpus.code import ir
from corpus.code.follower import follow
from corpus.code.launch.launch import KernelLaunch, ThreadIds
from corpus.code.launch.sharing import ShownError
from corpus.code.passes.tidying import tidied
from corpus.code.places import NOBODY, Array, ArrayPlace, array_place
from corpus.code.residual import END, MARK, Access, Residual
from corpus.code.thread import Creation, FollowedThread, KernelLanguage, ThreadStart, new_thread
from corpus.code.values import ArrayAddress, Value
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Reg
from corpus.litmus.orders import Mode, Order, Scope

OBJECTS = "object"
"""The space of memory that all threads may access."""

SLOT = 8
"""The bytes of an element of an array in that space."""

BEGUN, ENDED, GIVEN = "begun", "ended", "result"
"""The locations of the system's by which a thread begins, ends, and leaves a result."""

RESULT = "result"
"""The register that has what a function returns."""

_SYSTEM = "thread."

MOST_CREATED = 16
"""The threads that may be created."""

MOST_CELLS = 256
"""The elements of an object that may be accessed by addresses that are read from memory."""

_RELEASE = Mode(Order.RELEASE, Scope.SYS)
_ACQUIRE = Mode(Order.ACQUIRE, Scope.SYS)

Step = tuple[Instruction, Access | None]
"""An instruction of the residual program, and the access that it is."""


def system_array(number: int, what: str) -> Array:
    """Return the array of the system's for a thread."""
    return Array(OBJECTS, NOBODY, f"{_SYSTEM}{number}.{what}")


def signal(number: int, what: str) -> Iterator[Step]:
    """Yield what lets those go on who wait for a thread to begin, or to end."""
    array = system_array(number, what)
    yield Store(array_place(array, 0), 1, _RELEASE), Access(array, 0, SLOT)
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

    ``start`` has the values of elements by the names of arrays and offsets, ``sizes`` the bytes of arrays that threads
    have made, ``cells`` the offsets of elements that addresses from memory may lead to.
    """

    followed: list[tuple[ThreadIds, list[Residual]]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    assumed: dict[str, None] = field(default_factory=dict)
    start: dict[tuple[str, int], Value] = field(default_factory=dict)
    sizes: dict[Array, int] = field(default_factory=dict)
    cells: dict[Array, set[int]] = field(default_factory=dict)


def created_threads(
    module: ir.Module, kernel: ir.KernelFunction, launch: KernelLaunch, language: KernelLanguage
) -> CreatedThreads:
    """Return all threads that a first one leads to. Raises ``NotUnderstoodError`` where one comes to what is not
    understood, and ``InputError`` where there are too many.
    """
    found = CreatedThreads()
    steps: set[int] = set()
    whole: dict[Array, None] = {}
    starts = [ThreadStart(ids, kernel) for ids in launch.threads()]
    for start in starts:  # which become more
        thread, code = _followed(module, kernel, launch, language, start, len(starts))
        starts += thread.creation.started
        if len(starts) > MOST_CREATED:
            raise InputError(f"expected at most {MOST_CREATED} threads", module.path, kernel.line, 1)
        found.followed.append((start.ids, code))
        found.names.append(start.function.name)
        found.assumed |= thread.notes.assumed
        found.start |= thread.creation.image
        found.sizes |= thread.creation.sizes
        steps |= thread.creation.moves
        whole |= thread.creation.whole
    codes = _needed([code for _, code in found.followed])
    found.followed = [(ids, tidied(code)) for (ids, _), code in zip(found.followed, codes, strict=True)]
    found.cells = _cells(found, steps, whole)
    return found


def _followed(
    module: ir.Module,
    kernel: ir.KernelFunction,
    launch: KernelLaunch,
    language: KernelLanguage,
    start: ThreadStart,
    following: int,
) -> tuple[FollowedThread, list[Residual]]:
    """Follow a thread, once more for each array of its own that it shows to others."""
    shown: dict[Array, Array] = {}
    while True:
        creation = Creation(start.function is kernel, following, shown)
        thread = new_thread(module, kernel, launch, start.ids, language, creation=creation)
        before = [*_beginning(thread.block)] if start.waits else []
        try:
            return thread, follow(thread, start, before)
        except ShownError as error:
            _, depth, name = error.array
            own = Array(OBJECTS, NOBODY, f"{name}.{thread.block}")
            shown[error.array] = own if own not in shown.values() else own._replace(name=f"{own.name}.{depth}")


def _beginning(number: int) -> Iterator[Residual]:
    for ins, access in wait(number, BEGUN):
        yield Residual(ins, None, access)


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

    def is_needed(residual: Residual) -> bool:
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


def _cells(found: CreatedThreads, steps: Iterable[int], whole: Mapping[Array, None]) -> dict[Array, set[int]]:
    """Return the elements that addresses from memory may lead to: those so many steps from where one points to."""
    places: dict[Array, set[int]] = {}
    for _, code in found.followed:
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
    moves = [step * SLOT for step in sorted(set(steps))]
    for array in sorted(places):
        size = found.sizes.get(array, 0)
        if array in whole or 0 in moves:
            places[array] |= set(range(0, min(size, MOST_CELLS * SLOT), SLOT))
        waiting = list(places[array])
        while waiting and len(places[array]) < MOST_CELLS:
            element = waiting.pop()
            new = {element + move for move in moves if 0 <= element + move < size} - places[array]
            places[array] |= new
            waiting += sorted(new)
    return places
