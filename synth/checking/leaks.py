"""Which objects a program never gives back: those that it has made, has not given back, and has lost, at its end.

An object is lost where no global variable leads to it, by addresses in memory as they are at the end. Where an
execution is found in which it is not lost, others are asked for in which what leads to it here is not so:

    head = &object_5_1, object_5_1[8] = &object_7_1     is there an execution without these two, at the end?
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from corpus.code.launch.created import OBJECTS
from corpus.code.objects import Pointer
from corpus.code.places import Array
from corpus.code.program import KernelProgram
from corpus.code.residual import GIVEN_BACK, OBJECT_MADE, object_mark
from corpus.litmus.locations import Loc
from corpus.litmus.propositions import And, Atom, FinalRegister, Not, Or, Proposition, Term
from oracle.executions.values import Address, Value
from oracle.executions.witness import CandidateExecution
from synth.checking.search import Query, Search

POINTER = 8
"""The bytes of an address."""

MOST_WAYS = 64
"""The ways that may lead to an object, of which executions are asked for that have none."""


class TooManyWaysError(Exception):
    """The error for an object that too many ways lead to."""


def observed(program: KernelProgram) -> Iterator[FinalRegister | Loc]:
    """Yield what tells at the end which objects are lost: marks, and the places that may hold addresses."""
    yield from (FinalRegister(*mark) for mark in program.objects.marks)
    yield from _pointers(program)


def _pointers(program: KernelProgram) -> dict[Loc, Pointer]:
    """Return the locations that may hold addresses, of objects and of global variables."""
    objects = program.objects
    there = {*objects.made, *objects.roots} if objects.marks else set[Array]()
    return {Loc(name): (cell.array, cell.offset) for name, cell in program.locations.cells.items()
            if cell.array in there and cell.size == POINTER and name not in program.locations.outside}  # fmt: skip


def made_objects(program: KernelProgram) -> dict[Array, list[FinalRegister]]:
    """Return the objects that a program makes, with the marks that say so."""
    found: dict[Array, list[FinalRegister]] = {}
    for array in sorted(program.objects.made):
        marks = _marks(program, OBJECT_MADE, array)
        if marks:
            found[array] = marks
    return found


def _marks(program: KernelProgram, word: str, array: Array) -> list[FinalRegister]:
    register = object_mark(word, array)
    return [FinalRegister(*mark) for mark in program.objects.marks if mark[1] == register]


def kept(program: KernelProgram, array: Array, without: Collection[int] = ()) -> Proposition:
    """Return that an object has been made and not given back, as far as threads say so but for some (``without``)."""
    made, back = (
        Or(tuple(Atom("eq", mark, 1) for mark in _marks(program, word, array) if mark.thread not in without))
        for word in (OBJECT_MADE, GIVEN_BACK)
    )
    return And((made, Not(back)))


def lost(
    program: KernelProgram, search: Search[Query], premises: Sequence[Query], array: Array
) -> CandidateExecution | None:
    """Return an execution with all that is asked for in which an object is lost; None where there is none.

    Raises ``TooManyWaysError`` where too many ways lead to it.
    """
    questions = [*premises, search.satisfied(kept(program, array))]
    for _ in range(MOST_WAYS):
        execution = search.find(questions)
        if execution is None:
            return None
        way = _way_to(program, array, execution)
        if way is None:
            return execution
        if not way:  # nobody writes what leads to it
            return None
        questions.append(~search.leaves(way))
    raise TooManyWaysError


def _way_to(program: KernelProgram, array: Array, execution: CandidateExecution) -> Mapping[Term, Value] | None:
    """Return the locations by which a global variable leads to an object at the end, with what they hold, and that no
    object between them is given back; None where none leads to it.
    """
    objects, pointers = program.objects, _pointers(program)
    links: dict[Array, list[tuple[Array, Mapping[Term, Value]]]] = {}
    for location, (holder, _) in pointers.items():
        value = execution.finals.get(location)
        target = objects.arrays.get(value.location) if isinstance(value, Address) else None
        if value is not None and target is not None:
            links.setdefault(holder, []).append((target, {location: value}))
    cells = program.locations.cells.values()
    written = {(cell.array, byte) for cell in cells for byte in range(cell.offset, cell.offset + cell.size)}
    for (holder, offset), target in objects.start.items():
        if not any((holder, offset + byte) in written for byte in range(POINTER)):
            links.setdefault(holder, []).append((target, {}))
    ways: dict[Array, Mapping[Term, Value]] = {root: {} for root in sorted(objects.roots)}
    for holder in (waiting := list(ways)):  # which become more
        there: Mapping[Term, Value] = dict.fromkeys(_marks(program, GIVEN_BACK, holder), 0)
        if any(execution.finals.get(mark, 0) != 0 for mark in there):
            continue
        for target, link in links.get(holder, ()):
            if target not in ways and target.space == OBJECTS:
                ways[target] = {**ways[holder], **there, **link}
                waiting.append(target)
    return ways.get(array)
