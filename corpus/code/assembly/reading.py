"""Reads the assembly of a compiled C litmus test as a litmus test in the words of the processor.

    P0:     stlr w8, [x0]   ..      P0: st.release.stlr x, 1 ..
    P1:     ldapr w8, [x8]  ..      P1: ld.acquire.ldapr r0, y ..

The test that is read has the locations, the initial values and the condition of the one that was compiled, and its
registers where the condition names them (``corpus.code.assembly.harness``). Its threads are what the functions do to
the memory that they share:

1. ``corpus.code.assembly.text`` splits the text into functions;
2. a function is cut into blocks, and each is interpreted once, after all that lead to it
   (``corpus.code.assembly.thread``); a way back must be that of an atomic operation that is tried again;
3. computations that nobody needs are left out, and so are stores to ``results`` after which no other event comes. They
   are of one thread alone, so that nothing is ordered by them; one that is not last stays, as a store to a location of
   its own.

Nothing is approximated: what is not understood is refused with its line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from corpus.code.assembly.harness import CompiledNames, function_name
from corpus.code.assembly.language import MachineJump, MachineLanguage
from corpus.code.assembly.text import AssemblyCode, AssemblyLabel, AssemblyLine, functions_of
from corpus.code.assembly.thread import (
    PAIR,
    AskedBranch,
    AssemblyThread,
    Content,
    Emitted,
    Key,
    Slot,
    State,
    WatchedLoop,
)
from corpus.code.assembly.values import MEMORY, RESULTS, STACK, AffineValue, UnknownValue, register
from corpus.errors import InputError
from corpus.litmus.instructions import (
    Assign,
    Branch,
    Comparison,
    Fence,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    operands_of,
    registers_read,
)
from corpus.litmus.locations import Loc, Location, Operand, Reg
from corpus.litmus.normal import map_operands
from corpus.litmus.propositions import Term
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread


def read_assembly(
    language: MachineLanguage,
    text: str,
    test: LitmusTest,
    names: Mapping[str, Term],
    path: str = "",
    prefix: str = "",
) -> LitmusTest:
    """Return the test that the assembly of a compiled test is. ``names`` says what lies in the words of the two arrays,
    as ``corpus.code.assembly.harness.names_of`` does; ``prefix`` is what the names of its functions begin with.

    Raises ``InputError`` with the line of what is not understood.
    """
    try:
        return _read(language, text, test, CompiledNames.of(names), prefix)
    except InputError as error:
        raise InputError(error.message, path or None, error.line) from None


def _read(language: MachineLanguage, text: str, test: LitmusTest, names: CompiledNames, prefix: str) -> LitmusTest:
    functions = functions_of(text, language.comment)
    if not _has_negatives(test):
        found = _threads(language, functions, test, names, prefix, signless=True)
        if not _has_negatives(found):
            return found
    return _threads(language, functions, test, names, prefix, signless=False)


def _threads(
    language: MachineLanguage,
    functions: Mapping[str, AssemblyCode],
    test: LitmusTest,
    names: CompiledNames,
    prefix: str,
    signless: bool,
) -> LitmusTest:
    threads: list[Thread] = []
    kept: dict[str, None] = {}
    for index, thread in enumerate(test.threads):
        name = function_name(index, prefix)
        code = functions.get(name)
        if code is None:
            raise InputError(f"no function {name}")
        mine = _kept_in(test, names, index)
        body = _Function(language, code, names, thread, mine, signless).read()
        stored = {ins.address for ins in body if isinstance(ins, Store)}
        kept |= {name: None for name in mine.values() if Loc(name) in stored}
        threads.append(Thread(body, thread.place))
    locations = (*test.locations, *map(Location, kept))
    return replace(test, threads=tuple(threads), locations=locations)


def _kept_in(test: LitmusTest, names: CompiledNames, thread: int) -> Mapping[int, str]:
    """The location that stands for each word of ``results`` that is of a thread."""
    taken = {location.name for location in test.locations}
    found = {}
    for byte, term in names.results.items():
        if term.thread == thread:
            name = f"kept_{thread}_{byte}"
            while name in taken:
                name += "_"
            found[byte] = name
    return found


def _has_negatives(test: LitmusTest) -> bool:
    """Whether a value that memory holds may be less than 0: a number is, or sums may not fit into 31 bits."""
    every = [ins for thread in test.threads for ins in thread.instructions]
    changing = [ins for ins in every if not isinstance(ins, Assign | Rmw) or ins.operation != "and"]
    values = [operand for ins in changing for operand in operands_of(ins) if isinstance(operand, int)]
    values += [location.initial for location in test.locations if isinstance(location.initial, int)]
    values += [value for thread in test.threads for _, value in thread.registers if isinstance(value, int)]
    sums = [ins.operation for ins in every if isinstance(ins, Assign | Rmw)]
    longest = max((value.bit_length() for value in values), default=0) + sums.count("add")
    return bool({"sub", "mul"} & set(sums)) or longest > 31 or any(value < 0 for value in values)


@dataclass(slots=True)
class _Ending:
    """How a block ends: the blocks that may follow, of which the first one does where ``jump`` is taken."""

    jump: MachineJump | None = None
    instruction: AssemblyLine | None = None
    successors: tuple[int, ...] = ()


@dataclass(slots=True)
class _Part:
    """A block: its instructions, how it ends, and, when it is interpreted, its code and the states that lead to it."""

    body: list[AssemblyLine] = field(default_factory=list)
    ending: _Ending = field(default_factory=_Ending)
    code: list[Emitted] = field(default_factory=list)
    asked: Comparison | None = None
    leads_to: tuple[int, ...] = ()
    before: list[tuple[_Part, State]] = field(default_factory=list)


class _Function:
    """The function of one thread."""

    def __init__(
        self,
        language: MachineLanguage,
        code: AssemblyCode,
        names: CompiledNames,
        thread: Thread,
        kept: Mapping[int, str],
        signless: bool,
    ) -> None:
        self._language = language
        self._results = {byte: term.register for byte, term in names.results.items() if byte in kept}
        self._kept = kept
        self._taken = thread.names
        self._thread = AssemblyThread(names, self._taken, kept, signless, language.signed)
        self._parts = _cut(code, language)
        self._end = len(self._parts) - 1
        self._watched: dict[int, WatchedLoop] = {}

    def read(self) -> tuple[Instruction, ...]:
        """Return the code of the thread."""
        thread, first = self._thread, _Part()
        start: State = {
            self._language.stack: AffineValue(STACK),
            self._language.arguments[0]: AffineValue(MEMORY),
            self._language.arguments[1]: AffineValue(RESULTS),
        }
        order, heads = _ordered(self._parts)
        looping = _within(self._parts, heads)
        self._parts[0].before.append((first, start))
        reached = []
        for number in order:
            part = self._parts[number]
            if not part.before:
                continue
            reached.append(number)
            thread.state = self._met(part)
            thread.code = part.code
            thread.loops = number in looping
            if number in heads:
                watch = self._watched[number] = WatchedLoop(dict(thread.state))
                thread.watched.append(watch)
            for ins in part.body:
                self._interpret(ins)
            if number != self._end and not part.ending.successors:
                raise InputError("a function that does not return")
            if number == self._end:
                self._keep_registers(part)
            else:
                self._leave(number, part, heads)
        asked = set(self._results.values())
        return _renamed(_without_needless(self._flat(first, reached), asked), asked)

    def _interpret(self, ins: AssemblyLine) -> None:
        self._thread.here = ins
        row = self._language.row_of(self._language.table, ins)
        if isinstance(row, str):
            raise self._thread.refuse(row)
        row.meaning(self._thread, ins)

    def _leave(self, number: int, part: _Part, heads: Mapping[int, frozenset[int]]) -> None:
        """Interpret the end of a block, and hand the state on."""
        thread, ending = self._thread, part.ending
        thread.asks_success = False
        taken: bool | AskedBranch = False
        if ending.jump is not None and ending.instruction is not None:
            thread.here = ending.instruction
            taken = True if ending.jump.asked is None else ending.jump.asked(thread)
        succeeding = ending.successors
        if isinstance(taken, bool):
            way = succeeding[0] if taken else succeeding[-1]
            left = succeeding[-1] if taken else succeeding[0]
            if thread.assumed is not None and not thread.tried_once():
                self._check_retry(left)
            if number in heads.get(way, ()):
                raise thread.refuse("a loop")
            part.leads_to = (way,)
            self._parts[way].before.append((part, dict(thread.state)))
            return
        if thread.assumed is not None and not thread.tried_once():
            raise thread.refuse("what an atomic operation that may fail has done is asked for later")
        part.asked, part.leads_to = taken.comparison, succeeding
        for way in succeeding:
            if number in heads.get(way, ()):
                raise thread.refuse("a loop")
        states = [dict(thread.state), dict(thread.state)]
        if PAIR in thread.state:
            # The pair goes on where what was read is what is expected.
            equal = 0 if taken.comparison.operation == "eq" else 1
            thread.leaves(
                replace(taken.comparison, operation="eq" if taken.comparison.operation in ("eq", "ne") else "")
            )
            states[equal] = dict(thread.state)
            del states[1 - equal][PAIR]
        for way, state in zip(succeeding, states, strict=True):
            self._parts[way].before.append((part, state))

    def _check_retry(self, left: int) -> None:
        """Raise ``InputError`` where an operation that was taken to succeed does not begin again where it fails."""
        thread = self._thread
        assumed, thread.assumed = thread.assumed, None
        while left not in self._watched:
            part = self._parts[left]
            if part.body or len(part.ending.successors) != 1:
                break
            (left,) = part.ending.successors
        watch = self._watched.get(left)
        if not thread.asks_success or watch is None or watch.events != 1 or assumed is None:
            raise thread.refuse("an atomic operation that may fail, and does not just begin again where it does")
        for key in watch.read & watch.written:
            if _replaced(watch.begun.get(key), assumed) != _replaced(thread.state.get(key), assumed):
                raise thread.refuse(f"a loop that changes what it begins with, {_spoken(key)}")

    def _met(self, part: _Part) -> State:
        """The state at the beginning of a block, with moves on the ways to it where they bring other values."""
        states = [state for _, state in part.before]
        met: State = {}
        for key in states[0]:
            values = [state.get(key) for state in states]
            if any(value is None for value in values):
                continue
            if all(value == values[0] for value in values):
                met[key] = states[0][key]
            elif (joined := self._joined(part, values)) is not None:
                met[key] = joined
        return met

    def _joined(self, part: _Part, values: Sequence[Content | None]) -> Content | None:
        if all(isinstance(value, Slot) for value in values):
            slots = [value for value in values if isinstance(value, Slot)]
            inner = self._joined(part, [slot.value for slot in slots])
            same = len({slot.size for slot in slots}) == 1
            return Slot(inner, slots[0].size) if same and isinstance(inner, AffineValue | UnknownValue) else None
        if all(value == values[0] for value in values):
            return values[0]
        numbers = [value for value in values if isinstance(value, AffineValue) and value.base is None]
        if len(numbers) < len(values):
            known = all(isinstance(value, AffineValue | UnknownValue) for value in values)
            return (
                UnknownValue("ways meet that bring different addresses or values that are not known") if known else None
            )
        target, whole = self._thread.fresh(), all(map(self._thread.is_whole, numbers))
        for (way, _), value in zip(part.before, numbers, strict=True):
            self._thread.code = way.code
            self._thread.code.append(
                Emitted(Assign(target, "mov", (self._thread.operand(value),)), self._thread.here.line)
            )
        return replace(register(target), low=not whole)

    def _keep_registers(self, part: _Part) -> None:
        """Append moves to the registers that the condition asks for."""
        if self._thread.assumed is not None and not self._thread.tried_once():
            raise self._thread.refuse("an atomic operation that may fail, and nothing asks whether it does")
        for byte, name in self._results.items():
            slot = self._thread.state.get((RESULTS, byte))
            if not isinstance(slot, Slot):
                raise InputError(f"the function does not always store the register {name}")
            part.code.append(Emitted(Assign(name, "mov", (self._thread.operand(slot.value),)), 0))

    def _flat(self, first: _Part, reached: Sequence[int]) -> list[Emitted]:
        """The code of all blocks, one after the other, with branches between."""
        code = [*first.code]
        for place, number in enumerate(reached):
            part = self._parts[number]
            following = reached[place + 1] if place + 1 < len(reached) else None
            code += [Emitted(Label(f"L{number}"), 0), *_with_before(part.code)]
            if part.asked is not None:
                code.append(Emitted(Branch(f"L{part.leads_to[0]}", part.asked), 0))
            if part.leads_to and part.leads_to[-1] != following:
                code.append(Emitted(Branch(f"L{part.leads_to[-1]}"), 0))
        for each in code:
            if each.instruction is None:
                raise InputError("an exclusive load without its store", line=each.line)
        return code


def _goes_on(code: Sequence[Instruction], place: int) -> bool:
    """Whether a jump leads to one of the labels right after it."""
    jump = code[place]
    if not isinstance(jump, Branch) or jump.condition is not None:
        return False
    labels = takewhile(lambda ins: isinstance(ins, Label), code[place + 1 :])
    return Label(jump.label) in labels


def _with_before(code: Sequence[Emitted]) -> Iterator[Emitted]:
    for each in code:
        yield from _with_before(each.before)
        yield each


def _cut(code: AssemblyCode, language: MachineLanguage) -> list[_Part]:
    """The blocks of a function. The last one is what comes after it."""
    parts, labels = [_Part()], dict[str, int]()
    closed = False
    for ins in code:
        if isinstance(ins, AssemblyLabel):
            if parts[-1].body or closed:
                parts.append(_Part())
            labels[ins.name] = len(parts) - 1
            closed = False
            continue
        if closed:
            parts.append(_Part())
        closed = ins.mnemonic in language.jumps
        if not closed:
            parts[-1].body.append(ins)
            continue
        row = language.row_of(language.jumps, ins)
        if isinstance(row, str):
            raise InputError(f"{ins}: {row}", line=ins.line)
        parts[-1].ending = _Ending(row.meaning(ins), ins)
    parts.append(_Part())
    end = len(parts) - 1
    for number, part in enumerate(parts[:-1]):
        jump, following = part.ending.jump, number + 1
        if jump is None:
            part.ending.successors = () if following == end else (following,)
            continue
        if jump.target and jump.target not in labels:
            assert part.ending.instruction is not None
            where = part.ending.instruction
            raise InputError(f"{where}: a jump out of the function", line=where.line)
        target = end if jump.target is None else labels[jump.target] if jump.target else following
        part.ending.successors = (target,) if jump.asked is None else (target, following)
    return parts


def _ordered(parts: Sequence[_Part]) -> tuple[list[int], Mapping[int, frozenset[int]]]:
    """The blocks in an order in which all ways lead forward, and, for each block that a way leads back to, from
    where.
    """
    finished, open_, heads = list[int](), set[int](), dict[int, set[int]]()
    seen = set[int]()
    stack: list[tuple[int, list[int]]] = [(0, list(parts[0].ending.successors))]
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
            stack.append((following, list(parts[following].ending.successors)))
    return finished[::-1], {head: frozenset(tails) for head, tails in heads.items()}


def _within(parts: Sequence[_Part], heads: Mapping[int, frozenset[int]]) -> set[int]:
    """The blocks that are in a loop."""
    before: dict[int, set[int]] = {}
    for number, part in enumerate(parts):
        for following in part.ending.successors:
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
    return within


def _replaced(content: Content | None, names: Mapping[str, str]) -> Content | None:
    """A value with some registers in place of others."""
    if isinstance(content, Slot):
        inner = _replaced(content.value, names)
        return replace(content, value=inner) if isinstance(inner, AffineValue | UnknownValue) else content
    if isinstance(content, AffineValue) and content.terms:
        return replace(content, terms=tuple(sorted((names.get(name, name), factor) for name, factor in content.terms)))
    return content


def _spoken(key: Key) -> str:
    return key if isinstance(key, str) else f"byte {key[1]} of the {key[0]}"


def _without_needless(code: Sequence[Emitted], asked: Collection[str]) -> list[Instruction]:
    """The instructions without private stores after which there is no event, and without what nobody needs."""
    kept, events = list[Emitted](), False
    for each in reversed(code):
        if each.private and not events:
            continue
        events = events or isinstance(each.instruction, Load | Store | Rmw | Fence)
        kept.append(each)
    instructions = [each.instruction for each in reversed(kept) if each.instruction is not None]
    while True:
        used = {name for ins in instructions for name in registers_read(ins)}.union(asked)
        fewer = [ins for ins in instructions if not (isinstance(ins, Assign) and ins.target not in used)]
        if len(fewer) == len(instructions):
            break
        instructions = fewer
    instructions = [ins for place, ins in enumerate(instructions) if not _goes_on(instructions, place)]
    named = {ins.label for ins in instructions if isinstance(ins, Branch)}
    return [ins for ins in instructions if not isinstance(ins, Label) or ins.name in named]


def _renamed(code: Sequence[Instruction], asked: Collection[str]) -> tuple[Instruction, ...]:
    """The code with registers named as the condition has them, where one move to its register is all that is left."""
    names: dict[str, str] = {}
    rest = list(code)
    for ins in code:
        match ins:
            case Assign(target, "mov", (Reg(name),)) if target in asked and name not in asked:
                if name not in names:
                    names[name] = target
                    rest.remove(ins)

    def operand(value: Operand) -> Operand:
        return Reg(names.get(value.name, value.name)) if isinstance(value, Reg) else value

    def renamed(ins: Instruction) -> Instruction:
        ins = map_operands(ins, operand)
        if isinstance(ins, Load | Assign | Rmw) and ins.target is not None:
            return replace(ins, target=names.get(ins.target, ins.target))
        return ins

    return tuple(map(renamed, rest))
