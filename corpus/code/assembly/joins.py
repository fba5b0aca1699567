"""Joins what is known where ways meet, for threads whose places are each followed once.

    ldr w8, [x0]        L0: v0 := [x]
    mov w9, #1              v1 := 1              where the ways bring different numbers, each moves its own
    cbz w8, .L1             beq v0, 0, L2
    mov w9, #2          L1: v1 := 2
    .L1: str ..         L2: st y, v1

Each block is followed after all that lead to it, but for ways back. A loop whose end brings what it began with is one
in the code that is left; where it brings something else, it is followed again with a register of its own for each
number that it changes, and nothing known of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from corpus.code import ir
from corpus.code.assembly.exclusives import AGAIN, JOINED
from corpus.code.assembly.sums import give_operand, is_whole
from corpus.code.assembly.thread import MachineValue, ProcessorThread
from corpus.code.places import Cell, Home
from corpus.code.residual import Residual
from corpus.code.thread import Exploration, FollowAgainError, FollowedThread, State
from corpus.code.values import Affine, Unknown, Value, register
from corpus.litmus.instructions import Assign, Branch, Instruction, Label, registers_read

_MEETING = Unknown("ways meet that bring different addresses or values that are not known")


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a function by numbers, each with the place where it begins.

    ``order``: in this order, all ways but those back lead forward. ``heads`` are the blocks that a way back leads to,
    ``within`` those that are in a loop.
    """

    starts: Sequence[int]
    order: Sequence[int]
    heads: frozenset[int]
    within: frozenset[int]


@dataclass(slots=True)
class _Arrival:
    """What is known where a way comes to a block, and where in the code it leaves for it."""

    state: State
    place: int


@dataclass(slots=True)
class _Joined:
    """A register that holds what a home has where a loop begins: what it brings at first and from each way back.
    ``low``: the upper halves of these are not known; ``read``: all were read from memory.
    """

    name: str
    first: Affine
    low: bool
    read: bool
    back: dict[str, Affine] = field(default_factory=dict)


@dataclass(slots=True)
class _Loop:
    """A loop whose first block has been met: what was there before, with which it is followed again."""

    entry: State
    code: list[Residual]
    made: dict[str, int]
    definitions: dict[str, Instruction]
    bits: set[str]
    arrivals: dict[int, list[_Arrival]]
    backs: int
    known: dict[Home, Value] = field(default_factory=dict)
    joined: dict[Home, _Joined] = field(default_factory=dict)
    changed: dict[Home, Value | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Back:
    """A way back: its label, the block that it leads to, and the instruction that takes it."""

    label: str
    block: int
    origin: ir.KernelInstruction | None


@dataclass
class JoinedBlocks(Exploration):
    """The blocks of a function while it is followed: what arrives at them, the loops, and the ways back. ``rank`` is
    that of the block at hand in their order.
    """

    blocks: Blocks = field(default_factory=lambda: Blocks((), (), frozenset(), frozenset()))
    rank: int = 0
    arrivals: dict[int, list[_Arrival]] = field(default_factory=dict)
    loops: dict[int, _Loop] = field(default_factory=dict)
    backs: list[_Back] = field(default_factory=list)

    @property
    def block(self) -> int:
        """The number of the block at hand."""
        return self.blocks.order[self.rank]


def _joining(thread: FollowedThread) -> tuple[ProcessorThread, JoinedBlocks]:
    assert isinstance(thread, ProcessorThread) and isinstance(thread.exploration, JoinedBlocks)
    return thread, thread.exploration


def is_in_loop(thread: FollowedThread) -> bool:
    """Decide whether the block at hand is in a loop."""
    _, explored = _joining(thread)
    return explored.block in explored.blocks.within


def begin(followed: FollowedThread, state: State) -> tuple[str, State]:
    """Return the label of the first block, and what is known there at first."""
    thread, explored = _joining(followed)
    explored.arrivals[0], explored.rank = [_Arrival(state, 0)], 0
    return _begin(thread, explored, 0)


def arrive(followed: FollowedThread, state: State) -> tuple[str, bool]:
    """Hand on what is known to the block at a place, and return its label; it is followed when all have arrived."""
    thread, explored = _joining(followed)
    number = explored.blocks.starts.index(state.place)
    if explored.blocks.order.index(number) > explored.rank:
        code = thread.out.code
        branches = code and isinstance(code[-1].instruction, Branch) and code[-1].instruction.condition is not None
        explored.arrivals.setdefault(number, []).append(_Arrival(state, len(code) - bool(branches)))
        return _label(number), False
    back = _Back(f"M{len(explored.backs)}", number, thread.out.origin)
    explored.backs.append(back)
    _close(thread, explored, state, back)
    return back.label, False


def next_block(followed: FollowedThread) -> tuple[str, State] | None:
    """Return the label of the block that is followed next, and what is known there; None where there is none."""
    thread, explored = _joining(followed)
    order = explored.blocks.order
    while explored.rank + 1 < len(order):
        explored.rank += 1
        number = explored.block
        if number in explored.arrivals:
            return _begin(thread, explored, number)
    return None


def _label(number: int) -> str:
    return f"L{number}"


def _inner(number: int) -> str:
    """Return the label that ways back to a block lead to."""
    return f"L{number}b"


def _begin(thread: ProcessorThread, explored: JoinedBlocks, number: int) -> tuple[str, State]:
    loop, out = explored.loops.get(number), thread.out
    if loop is None:
        state, label = _join(thread, explored, number), _label(number)
        if out.code and out.code[-1].instruction == Branch(label):
            out.code.pop()
        if number not in explored.blocks.heads:
            return label, state
        out.put(Label(label))
        loop = explored.loops[number] = _Loop(
            state.moved_to(state.place),
            list(out.code),
            dict(out.made),
            dict(out.definitions),
            set(out.bits),
            _copy_arrivals(explored.arrivals),
            len(explored.backs),
        )
    state = loop.entry.moved_to(loop.entry.place)
    for home, value in loop.changed.items():
        if value is None:
            state.known.pop(home, None)
        else:
            state.known[home] = value
    loop.known = dict(state.known)
    return _inner(number), state


def _copy_arrivals(arrivals: Mapping[int, Sequence[_Arrival]]) -> dict[int, list[_Arrival]]:
    return {
        block: [replace(way, state=way.state.moved_to(way.state.place)) for way in ways]
        for block, ways in arrivals.items()
    }


def _follow_again(thread: ProcessorThread, explored: JoinedBlocks, number: int) -> FollowAgainError:
    """Go back to where a loop begins, to follow it again."""
    loop, out = explored.loops[number], thread.out
    out.code, out.bits = list(loop.code), set(loop.bits)
    out.made = {**loop.made, JOINED: out.made.get(JOINED, 0)}
    out.definitions = dict(loop.definitions)
    explored.arrivals = _copy_arrivals(loop.arrivals)
    del explored.backs[loop.backs :]
    explored.rank = explored.blocks.order.index(number) - 1
    for inner in explored.blocks.order[explored.rank + 2 :]:
        explored.loops.pop(inner, None)
    labels = {back.label for back in explored.backs}
    for joined in (joined for other in explored.loops.values() for joined in other.joined.values()):
        joined.back = {label: value for label, value in joined.back.items() if label in labels}
    for joined in loop.joined.values():
        if joined.read:
            out.definitions[joined.name] = out.definitions[joined.first.terms[0][0]]
    return FollowAgainError()


def _close(thread: ProcessorThread, explored: JoinedBlocks, state: State, back: _Back) -> None:
    """Compare what a way back brings with what its loop began with. Raises ``FollowAgainError`` where that is less."""
    again, loop = False, explored.loops[back.block]
    for home, mine in loop.known.items():
        theirs, joined = state.known.get(home), loop.joined.get(home)
        if joined is not None:
            if not _is_number(theirs):
                again = True
                del loop.joined[home]
                loop.changed[home] = None if theirs is None else _MEETING
            elif _weaken(thread, joined, theirs):
                again = True
                loop.changed[home] = replace(register(joined.name), low=joined.low)
            else:
                joined.back[back.label] = theirs
        elif theirs != mine and mine != _MEETING:
            again = True
            if _is_number(mine) and _is_number(theirs):
                low, read = not is_whole(thread, mine), _is_read(thread, mine)
                joined = _Joined(thread.out.new_register(JOINED), mine, low, read)
                _weaken(thread, joined, theirs)
                loop.joined[home] = joined
                loop.changed[home] = replace(register(joined.name), low=joined.low)
            else:
                known = isinstance(mine, Affine | Unknown) and isinstance(theirs, Affine | Unknown)
                loop.changed[home] = _MEETING if known else None
    if again:
        raise _follow_again(thread, explored, back.block)


def _is_number(value: Value | None) -> TypeGuard[Affine]:
    return isinstance(value, Affine) and value.base is None


def _weaken(thread: ProcessorThread, joined: _Joined, value: Affine) -> bool:
    """Say less of a register that holds what a loop begins with, as a value that it gets is less; whether it is."""
    before = joined.low, joined.read
    joined.low = joined.low or not is_whole(thread, value)
    joined.read = joined.read and _is_read(thread, value)
    return before != (joined.low, joined.read)


def _is_read(thread: ProcessorThread, value: Affine) -> bool:
    return len(value.terms) == 1 and value == register(value.terms[0][0]) and thread.out.is_read(value.terms[0][0])


def _join(thread: ProcessorThread, explored: JoinedBlocks, number: int) -> State:
    """Return what is known at the beginning of a block, with moves on the ways to it where they bring other numbers."""
    ways = explored.arrivals[number]
    met = replace(ways[0].state, known={})
    for home in ways[0].state.known:
        values = [value for way in ways if (value := way.state.known.get(home)) is not None]
        if len(values) < len(ways):
            continue
        joined = values[0] if all(value == values[0] for value in values) else _meet(thread, explored, ways, values)
        if joined is not None:
            met.known[home] = joined
    return met


def _meet(
    thread: ProcessorThread, explored: JoinedBlocks, ways: Sequence[_Arrival], values: Sequence[Value]
) -> MachineValue | None:
    """Return what there is where ways bring other values; None where nothing is known."""
    numbers = [value for value in values if _is_number(value)]
    if len(numbers) == len(values):
        target, whole = thread.out.new_register(), all(is_whole(thread, value) for value in numbers)
        for way, value in zip(ways, numbers, strict=True):
            _insert(thread, explored, way.place, _move(thread, target, value))
        return replace(register(target), low=not whole)
    return _MEETING if all(isinstance(value, Affine | Unknown) for value in values) else None


def _move(thread: ProcessorThread, target: str, value: Affine) -> list[Residual]:
    """Return a move of a number to a register, with what is computed for it."""
    out = thread.out
    outer, out.code = out.code, []
    operand = give_operand(thread, value)
    found, out.code = [*out.code, Residual(Assign(target, "mov", (operand,)), out.origin)], outer
    return found


def _insert(thread: ProcessorThread, explored: JoinedBlocks, place: int, added: Sequence[Residual]) -> None:
    """Insert instructions at a place of the code."""
    thread.out.code[place:place] = added
    for way in (way for ways in explored.arrivals.values() for way in ways):
        if way.place >= place:
            way.place += len(added)


def write_loops(thread: ProcessorThread) -> dict[str, str]:
    """Append the ways back, on which registers get what loops begin with, and return these with what the processor
    calls their homes.
    """
    _, explored = _joining(thread)
    out = thread.out
    every = {
        joined.name: (head, home, joined)
        for head, loop in explored.loops.items()
        for home, joined in loop.joined.items()
    }
    needed: dict[str, str] = {}
    moves: dict[str, list[Residual]] = {}
    waiting = [name for left in out.code for name in registers_read(left.instruction) if name in every]
    while waiting:
        if (name := waiting.pop()) in needed:
            continue
        head, home, joined = every[name]
        needed[name] = f"byte {home.offset} of the {home.name}" if isinstance(home, Cell) else home.name
        for label, value in ((_label(head), joined.first), *joined.back.items()):
            move = _move(thread, name, value)
            moves.setdefault(label, []).extend(move)
            waiting += [held for left in move for held in registers_read(left.instruction) if held in every]
    written = list[Residual]()
    for left in out.code[:-1]:
        written.append(left)
        if isinstance(left.instruction, Label):
            written += moves.get(left.instruction.name, [])
    for number, back in enumerate(explored.backs):
        mark = Assign(f"{AGAIN}{number}", "mov", (number,))
        way = [
            Label(back.label),
            mark,
            *(left.instruction for left in moves.get(back.label, [])),
            Branch(_inner(back.block)),
        ]
        written += [Residual(ins, back.origin) for ins in way]
    out.code = [*written, out.code[-1]]
    return needed
