"""Who waits for whom among threads that are created: at whose end the program ends, and what nobody waits for."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.code.launch.created import EARLY, ENDED, NOTIFIED, OBJECTS, SYSTEM, CreatedThreads, signal
from corpus.code.residual import END, MARK, Residual, is_of_object, why_of
from corpus.graphs import components
from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Label, Load, Rmw, Store
from corpus.litmus.locations import Reg

STOPPED = "STOPPED"
"""The label of where a thread says that it has ended early."""


def needed_threads(found: CreatedThreads) -> frozenset[int] | None:
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


def with_early_ends(codes: Sequence[list[Residual]]) -> list[list[Residual]]:
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
    target = STOPPED if waited else END
    done: list[Residual] = []
    for place, residual in enumerate(code):
        if residual.instruction == Label(END) and waited:
            done += [Residual(Branch(END), None), Residual(Label(STOPPED), None)]
            done += [Residual(ins, None, access) for ins, access in signal(number, ENDED, EARLY)]
        done.append(residual._replace(instruction=Branch(target)) if _stops(code, place) else residual)
        other = _joined(residual)
        if other in early:
            name = f"{ENDED}{other}"
            done.append(residual._replace(instruction=Branch(target, Comparison("eq", Reg(name), EARLY))))
    return done


def _stops(code: Sequence[Residual], place: int) -> bool:
    """Decide whether a thread ends at a place behind a mark that says why."""
    before = code[place - 1].instruction if place else None
    marked = isinstance(before, Assign) and before.target.startswith(MARK) and not is_of_object(before.target)
    return marked and code[place].instruction == Branch(END)


def _joined(residual: Residual) -> int | None:
    """Return the number of the thread for whose end an instruction goes on waiting, None for other instructions."""
    match residual.instruction:
        case Branch(label, Comparison("eq", Reg(name), 0)) if name.startswith(ENDED) and label.startswith(f"{name}_"):
            return int(name.removeprefix(ENDED))
    return None


def without_needless(codes: Sequence[list[Residual]]) -> list[list[Residual]]:
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
    return array is not None and array.space == OBJECTS and array.name.startswith(SYSTEM)


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


def ending_in_loops(code: Sequence[Residual]) -> list[Residual]:
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
