"""Follows the function of a thread from block to block, and joins what is known where ways meet.

    ldr w8, [x0]        L0: v0 := [x]
    mov w9, #1              v1 := 1              where the ways bring different numbers, each moves its own
    cbz w8, .L1             beq v0, 0, L2
    mov w9, #2          L1: v1 := 2
    .L1: str ..         L2: st y, v1

Each block is interpreted after all that lead to it, but for ways back. A loop whose end brings what it began with is
one in the code that is left; where it brings something else, it is followed again with a register of its own for each
number that it changes, and nothing known of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from corpus.code.assembly.language import MachineJump, MachineLanguage
from corpus.code.assembly.sums import give_operand, is_whole
from corpus.code.assembly.text import AssemblyCode, AssemblyLabel, AssemblyLine
from corpus.code.assembly.thread import AssemblyThread, Content, Emitted, Key, ProcessorState, Slot
from corpus.code.assembly.values import MEMORY, RESULTS, STACK, AffineValue, MachineValue, UnknownValue, register
from corpus.code.passes.exclusives import AGAIN, JOINED
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Branch, Comparison, Instruction, Label, registers_read

_MEETING = UnknownValue("ways meet that bring different addresses or values that are not known")


@dataclass(frozen=True, slots=True)
class FollowedCode:
    """The code of a thread, and the registers that hold what loops begin with, with what the processor calls these."""

    code: list[Emitted]
    joined: Mapping[str, str]


@dataclass(slots=True)
class _Ending:
    """How a block ends: the blocks that may follow, of which the first one does where ``jump`` is taken."""

    jump: MachineJump | None = None
    instruction: AssemblyLine | None = None
    successors: tuple[int, ...] = ()


@dataclass(slots=True)
class _Block:
    """A block: its instructions, and how it ends."""

    body: list[AssemblyLine] = field(default_factory=list)
    ending: _Ending = field(default_factory=_Ending)


@dataclass(slots=True)
class _Arrival:
    """What is known where a way comes to a block, and where in the code it leaves for it."""

    state: ProcessorState
    place: int


@dataclass(slots=True)
class _Joined:
    """A register that holds what a place of the processor has where a loop begins: what it brings at first and from
    each way back. ``low``: the upper halves of these are not known; ``read``: all were read from memory.
    """

    name: str
    first: AffineValue
    low: bool
    read: bool
    back: dict[str, AffineValue] = field(default_factory=dict)


@dataclass(slots=True)
class _Loop:
    """A loop whose first block has been followed: what was there before, with which it is followed again."""

    entry: ProcessorState
    code: list[Emitted]
    made: dict[str, int]
    definitions: dict[str, Instruction]
    bits: set[str]
    arrivals: dict[int, list[_Arrival]]
    backs: int
    state: ProcessorState = field(default_factory=ProcessorState)
    joined: dict[Key, _Joined] = field(default_factory=dict)
    changed: dict[Key, Content | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Back:
    """A way back: its label, the block that it leads to, and the instruction that takes it."""

    label: str
    block: int
    origin: AssemblyLine


@dataclass(slots=True)
class _Following:
    """A function while it is followed."""

    thread: AssemblyThread
    language: MachineLanguage
    blocks: Sequence[_Block]
    order: Sequence[int]
    ranks: Mapping[int, int]
    within: frozenset[int]
    heads: frozenset[int]
    arrivals: dict[int, list[_Arrival]] = field(default_factory=dict)
    loops: dict[int, _Loop] = field(default_factory=dict)
    backs: list[_Back] = field(default_factory=list)


class _AgainError(Exception):
    """The error for a loop that has to be followed again, which its first block names."""

    def __init__(self, block: int) -> None:
        super().__init__(block)
        self.block = block


def follow(
    thread: AssemblyThread, language: MachineLanguage, code: AssemblyCode, results: Mapping[int, str]
) -> FollowedCode:
    """Return the code of a thread, which ends by moves to the registers of the condition, ``results``.

    Raises ``InputError`` with the line of what is not understood.
    """
    blocks = _cut(code, language)
    order, backward = _order(blocks)
    ranks = {block: rank for rank, block in enumerate(order)}
    following = _Following(thread, language, blocks, order, ranks, _find_loops(blocks, backward), frozenset(backward))
    start: dict[Key, Content] = {
        language.stack: AffineValue(STACK),
        language.arguments[0]: AffineValue(MEMORY),
        language.arguments[1]: AffineValue(RESULTS),
    }
    following.arrivals[0] = [_Arrival(ProcessorState(start), 0)]
    rank = 0
    while rank < len(order):
        try:
            if order[rank] in following.arrivals:
                _follow_block(following, order[rank], results)
            rank += 1
        except _AgainError as again:
            rank = ranks[again.block]
            _restore(following, again.block)
    return FollowedCode(*_write_loops(following))


def _follow_block(following: _Following, number: int, results: Mapping[int, str]) -> None:
    thread, block, end = following.thread, following.blocks[number], len(following.blocks) - 1
    state = _begin(following, number)
    thread.in_loop = number in following.within
    for ins in block.body:
        thread.here = ins
        row = following.language.row_of(following.language.table, ins)
        if isinstance(row, str):
            raise thread.wrong(row)
        row.meaning(thread, state, ins)
    if number == end:
        _keep_registers(thread, state, results)
    elif not block.ending.successors:
        raise InputError("a function that does not return")
    else:
        _leave(following, state, number)


def _begin(following: _Following, number: int) -> ProcessorState:
    """Write the label of a block, and return what is known there."""
    thread, loop = following.thread, following.loops.get(number)
    if loop is None:
        state, label = _join(following, number), f"L{number}"
        if thread.code and thread.code[-1].instruction == Branch(label):
            thread.code.pop()
        thread.code.append(Emitted(Label(label), thread.here))
        if number not in following.heads:
            return state
        loop = following.loops[number] = _Loop(
            state.copy(),
            list(thread.code),
            dict(thread.made),
            dict(thread.definitions),
            set(thread.bits),
            _copy_arrivals(following.arrivals),
            len(following.backs),
        )
    state = loop.entry.copy()
    for key, content in loop.changed.items():
        if content is None:
            state.forget(key)
        else:
            state.put(key, content)
    loop.state = state.copy()
    thread.code.append(Emitted(Label(_inner(number)), thread.here))
    return state


def _inner(number: int) -> str:
    """Return the label that ways back to a block lead to."""
    return f"L{number}b"


def _copy_arrivals(arrivals: Mapping[int, Sequence[_Arrival]]) -> dict[int, list[_Arrival]]:
    return {block: [replace(way) for way in ways] for block, ways in arrivals.items()}


def _restore(following: _Following, number: int) -> None:
    """Go back to where a loop begins, to follow it again."""
    thread, loop = following.thread, following.loops[number]
    thread.code, thread.bits = list(loop.code), set(loop.bits)
    thread.made = {**loop.made, JOINED: thread.made.get(JOINED, 0)}
    thread.definitions = dict(loop.definitions)
    following.arrivals = _copy_arrivals(loop.arrivals)
    del following.backs[loop.backs :]
    inner = [other for other in following.loops if following.ranks[other] > following.ranks[number]]
    for other in inner:
        del following.loops[other]
    labels = {back.label for back in following.backs}
    for one in following.loops.values():
        for joined in one.joined.values():
            joined.back = {label: value for label, value in joined.back.items() if label in labels}
    for joined in loop.joined.values():
        if joined.read:
            thread.definitions[joined.name] = thread.definitions[joined.first.terms[0][0]]


def _leave(following: _Following, state: ProcessorState, number: int) -> None:
    """Write the end of a block, and hand on what is known."""
    thread, ending = following.thread, following.blocks[number].ending
    taken: bool | Comparison = False
    if ending.jump is not None and ending.instruction is not None:
        thread.here = ending.instruction
        taken = True if ending.jump.asked is None else ending.jump.asked(thread, state)
    if isinstance(taken, bool):
        way = ending.successors[0] if taken else ending.successors[-1]
        thread.put(Branch(_go(following, state, number, way)))
        return
    one, other = ending.successors
    label = _go(following, state, number, one)
    place = len(thread.code)
    thread.put(Branch(label, taken))
    thread.put(Branch(_go(following, state.copy(), number, other, place)))


def _go(following: _Following, state: ProcessorState, number: int, way: int, place: int | None = None) -> str:
    """Hand on what is known to a block that follows, and return the label to which control goes there. The way leaves
    at a place of the code.
    """
    if following.ranks[way] > following.ranks[number]:
        place = len(following.thread.code) if place is None else place
        following.arrivals.setdefault(way, []).append(_Arrival(state, place))
        return f"L{way}"
    back = _Back(f"M{len(following.backs)}", way, following.thread.here)
    following.backs.append(back)
    _close(following.loops[way], state, back, following.thread)
    return back.label


def _close(loop: _Loop, state: ProcessorState, back: _Back, thread: AssemblyThread) -> None:
    """Compare what a way back brings with what its loop began with. Raises ``_AgainError`` where that is not enough."""
    again = False
    for key, mine in loop.state.known.items():
        theirs = state.known.get(key)
        joined = loop.joined.get(key)
        if joined is not None:
            value = _number_in(theirs, mine)
            if value is None:
                again = True
                del loop.joined[key]
                loop.changed[key] = _with_value(mine, _MEETING) if theirs is not None else None
            elif _weaken(joined, value, thread):
                again = True
                loop.changed[key] = _with_value(mine, replace(register(joined.name), low=joined.low))
            else:
                joined.back[back.label] = value
        elif theirs != mine and _value_in(mine) != _MEETING:
            again = True
            first, value = _number_in(mine, mine), _number_in(theirs, mine)
            if first is not None and value is not None:
                whole = is_whole(thread, first)
                joined = _Joined(thread.new_register(JOINED), first, not whole, _is_read(thread, first))
                _weaken(joined, value, thread)
                loop.joined[key] = joined
                loop.changed[key] = _with_value(mine, replace(register(joined.name), low=joined.low))
            else:
                known = _value_in(mine) is not None and _value_in(theirs) is not None
                loop.changed[key] = _with_value(mine, _MEETING) if known else None
    if again:
        raise _AgainError(back.block)


def _weaken(joined: _Joined, value: AffineValue, thread: AssemblyThread) -> bool:
    """Say less of a register that holds what a loop begins with, as a value that it gets is less; whether it is."""
    before = joined.low, joined.read
    joined.low = joined.low or not is_whole(thread, value)
    joined.read = joined.read and _is_read(thread, value)
    return before != (joined.low, joined.read)


def _is_read(thread: AssemblyThread, value: AffineValue) -> bool:
    return len(value.terms) == 1 and value == register(value.terms[0][0]) and thread.is_read(value.terms[0][0])


def _value_in(content: Content | None) -> MachineValue | None:
    value = content.value if isinstance(content, Slot) else content
    return value if isinstance(value, AffineValue | UnknownValue) else None


def _number_in(content: Content | None, like: Content) -> AffineValue | None:
    """Return the number that a register or a slot of the same size holds; None where it is none."""
    value = _value_in(content)
    size, other = (it.size if isinstance(it, Slot) else 0 for it in (content, like))
    return value if isinstance(value, AffineValue) and value.base is None and size == other else None


def _with_value(content: Content, value: MachineValue) -> Content:
    return replace(content, value=value) if isinstance(content, Slot) else value


def _join(following: _Following, number: int) -> ProcessorState:
    """Return what is known at the beginning of a block, with moves on the ways to it where they bring other numbers."""
    ways = following.arrivals[number]
    met = ProcessorState()
    for key in ways[0].state.known:
        contents = [content for way in ways if (content := way.state.known.get(key)) is not None]
        if len(contents) < len(ways):
            continue
        joined = contents[0] if all(it == contents[0] for it in contents) else _meet(following, ways, contents)
        if joined is not None:
            met.put(key, joined)
    return met


def _meet(following: _Following, ways: Sequence[_Arrival], contents: Sequence[Content]) -> Content | None:
    """Return what there is where ways bring other contents; None where nothing is known."""
    thread, first = following.thread, contents[0]
    numbers = [value for it in contents if (value := _number_in(it, first)) is not None]
    if len(numbers) == len(contents):
        if all(value == numbers[0] for value in numbers):
            return _with_value(first, numbers[0])
        target, whole = thread.new_register(), all(is_whole(thread, value) for value in numbers)
        for way, value in zip(ways, numbers, strict=True):
            _insert(following, way, target, value)
        return _with_value(first, replace(register(target), low=not whole))
    sizes = {it.size if isinstance(it, Slot) else 0 for it in contents}
    known = len(sizes) == 1 and all(_value_in(it) is not None for it in contents)
    return _with_value(first, _MEETING) if known else None


def _insert(following: _Following, way: _Arrival, target: str, value: AffineValue) -> None:
    """Move a number to a register where a way leaves."""
    thread, outer = following.thread, following.thread.code
    thread.code = []
    thread.code.append(Emitted(Assign(target, "mov", (give_operand(thread, value),)), thread.here))
    place, added = way.place, thread.code
    thread.code = [*outer[:place], *added, *outer[place:]]
    for ways in following.arrivals.values():
        for other in ways:
            if other.place >= place:
                other.place += len(added)


def _keep_registers(thread: AssemblyThread, state: ProcessorState, results: Mapping[int, str]) -> None:
    """Append moves to the registers that the condition asks for."""
    for byte, name in results.items():
        slot = state.known.get((RESULTS, byte))
        if not isinstance(slot, Slot):
            raise InputError(f"the function does not always store the register {name}")
        thread.put(Assign(name, "mov", (give_operand(thread, slot.value),)))


_END = "LEND"


def _write_loops(following: _Following) -> tuple[list[Emitted], dict[str, str]]:
    """Return the code with its ways back, on which registers get what loops begin with, and these registers."""
    thread = following.thread
    if not following.backs:
        return thread.code, {}
    every = {
        joined.name: (head, key, joined)
        for head, loop in following.loops.items()
        for key, joined in loop.joined.items()
    }
    code, needed = thread.code, dict[str, None]()
    moves: dict[str, list[Emitted]] = {}
    waiting = [name for it in code for name in registers_read(it.instruction) if name in every]
    while waiting:
        if (name := waiting.pop()) in needed:
            continue
        needed[name] = None
        head, _, joined = every[name]
        for label, value in ((f"L{head}", joined.first), *joined.back.items()):
            thread.code = []
            thread.code.append(Emitted(Assign(name, "mov", (give_operand(thread, value),)), thread.here))
            moves.setdefault(label, []).extend(thread.code)
            waiting += [held for it in thread.code for held in registers_read(it.instruction) if held in every]
    found = list[Emitted]()
    for it in code:
        found.append(it)
        if isinstance(it.instruction, Label):
            found += moves.get(it.instruction.name, [])
    found.append(Emitted(Branch(_END), thread.here))
    for number, back in enumerate(following.backs):
        mark = Assign(f"{AGAIN}{number}", "mov", (number,))
        written = [
            Label(back.label),
            mark,
            *(it.instruction for it in moves.get(back.label, [])),
            Branch(_inner(back.block)),
        ]
        found += [Emitted(ins, back.origin) for ins in written]
    found.append(Emitted(Label(_END), thread.here))
    return found, {name: _speak(every[name][1]) for name in needed}


def _speak(key: Key) -> str:
    return key if isinstance(key, str) else f"byte {key[1]} of the {key[0]}"


def _cut(code: AssemblyCode, language: MachineLanguage) -> list[_Block]:
    """The blocks of a function. The last one is what comes after it."""
    blocks, labels = [_Block()], dict[str, int]()
    closed = False
    for ins in code:
        if isinstance(ins, AssemblyLabel):
            if blocks[-1].body or closed:
                blocks.append(_Block())
            labels[ins.name] = len(blocks) - 1
            closed = False
            continue
        if closed:
            blocks.append(_Block())
        closed = ins.mnemonic in language.jumps
        if not closed:
            blocks[-1].body.append(ins)
            continue
        row = language.row_of(language.jumps, ins)
        if isinstance(row, str):
            raise InputError(f"{ins}: {row}", line=ins.line)
        blocks[-1].ending = _Ending(row.meaning(ins), ins)
    blocks.append(_Block())
    end = len(blocks) - 1
    for number, block in enumerate(blocks[:-1]):
        jump, following = block.ending.jump, number + 1
        if jump is None:
            block.ending.successors = () if following == end else (following,)
            continue
        if jump.target and jump.target not in labels:
            assert block.ending.instruction is not None
            where = block.ending.instruction
            raise InputError(f"{where}: a jump out of the function", line=where.line)
        target = end if jump.target is None else labels[jump.target] if jump.target else following
        block.ending.successors = (target,) if jump.asked is None else (target, following)
    return blocks


def _order(blocks: Sequence[_Block]) -> tuple[list[int], Mapping[int, frozenset[int]]]:
    """The blocks in an order in which all ways lead forward, and, for each block that a way leads back to, from
    where.
    """
    finished, open_, heads = list[int](), set[int](), dict[int, set[int]]()
    seen = set[int]()
    stack: list[tuple[int, list[int]]] = [(0, list(blocks[0].ending.successors))]
    seen.add(0)
    open_.add(0)
    while stack:
        number, left = stack[-1]
        if not left:
            finished.append(number)
            open_.discard(number)
            stack.pop()
            continue
        following = left.pop(0)
        if following in open_:
            heads.setdefault(following, set()).add(number)
        elif following not in seen:
            seen.add(following)
            open_.add(following)
            stack.append((following, list(blocks[following].ending.successors)))
    return finished[::-1], {head: frozenset(tails) for head, tails in heads.items()}


def _find_loops(blocks: Sequence[_Block], heads: Mapping[int, frozenset[int]]) -> frozenset[int]:
    """The blocks that are in a loop."""
    before: dict[int, set[int]] = {}
    for number, block in enumerate(blocks):
        for following in block.ending.successors:
            before.setdefault(following, set()).add(number)
    within = set[int]()
    for head, tails in heads.items():
        body, waiting = {head}, list(tails)
        while waiting:
            number = waiting.pop()
            if number not in body:
                body.add(number)
                waiting += before.get(number, ())
        within |= body
    return frozenset(within)
