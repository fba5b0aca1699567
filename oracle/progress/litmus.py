"""The labelled transition system of a litmus test: its threads take turns, and each access to memory is seen at once.

This is the program as progress models see it (Sorensen et al. 2021, section 4.1), whatever dialect it is written in:
sequential consistency, with every access atomic. Orders, scopes, proxies and fences have no effect here;
``oracle.liveness`` adds a memory model.

A *step* of a thread is one access (load, store, read-modify-write) or one barrier, with all that the thread then does
by itself: arithmetic, branches, fences, up to its next access or its end. What it does by itself before its first
access is done with it, and a thread that never accesses memory nor meets others has ended from the start. Nobody can
see where in such a stretch a thread is, and it has steps to take from the beginning of the stretch to its end. So the
twelve models give equal verdicts on these steps and on single instructions;
``tests/differential/test_axb_as_litmus.py`` holds it against an interpreter of single instructions. A thread that goes
round by itself for ever has a step that leads nowhere else.

*Barriers* mean what they do in executions (``oracle.executions.barriers``). A thread that comes to one takes a step. If
with it as many have come as the barrier's quorum, all go on that waited; otherwise it waits (``arrive`` does not) and
has no step until others make it go on. Nobody comes twice to a barrier before it has let others through; a thread that
would, waits. Without a quorum all threads of the group whose code has that barrier must come; if one of them has ended
without it, the others wait on. A wait that is no arrival has a step when the meeting that its thread has arrived at is
complete. Where everybody who has not ended waits, that is for ever
(``oracle.progress.system``).

A weak compare-and-swap that could succeed may fail spuriously, once more and again, but not for ever (C++
[atomics.types.operations]: it should not consistently fail where nobody changes the object). What such failures lead to
are the ``chances`` of a state.

Values are 32-bit numbers and addresses (``oracle.executions.values``), and memory may take any number of them. States
are found one by one, so that a test with more than ``MOST_STATES``, such as one that counts for ever, has no verdict;
nor has one that computes a value without a meaning.

Gaps: asynchronous copies and time-outs are not known. Registers that are not read again are no part of a state, nor are
those that only the condition asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from corpus.litmus.describe import describe
from corpus.litmus.flow import unguarded_flow
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    GroupOperation,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    operands_of,
    registers_written,
)
from corpus.litmus.locations import Loc, Operand, Reg, element, physical
from corpus.litmus.orders import MBARRIER, Place, Scope
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.executions.barriers import certain_names
from oracle.executions.values import Address, Value, address_of, calculate, value_text
from oracle.exploration import FoundStates, NoVerdictError, StateLimit, StateLimitError
from oracle.progress.system import NO_STEP, Action

MOST_STATES = 500_000
"""The default limit of states at which an exploration gives up."""

MOST_LOCAL_STEPS = 100_000
"""The limit of steps that a thread may do by itself between two accesses."""


SEEN_BY_OTHERS = Load | Store | Rmw | Barrier | GroupOperation
"""The instructions that are steps of a thread."""


class Meeting(NamedTuple):
    """A barrier: the group whose threads meet, the level that it is of, what they call it, and the quorum."""

    level: Scope
    group: tuple[int, ...]
    name: Value
    quorum: Value | None


Memory = tuple[tuple[Value, ...], frozenset[tuple[Meeting, int]]]
"""The value of each cell, and the threads that have come to a barrier: by number those whose meeting is not complete,
and as ``~number`` those that have met and may wait for that."""


@dataclass(frozen=True, slots=True)
class ThreadPosition:
    """The position of a thread: an instruction, with the registers that it may still read, ``ThreadFlow.live`` in their
    order.

    ``barrier`` is the barrier that it waits for; ``round``: it goes round for ever, without access.
    """

    pc: int
    registers: tuple[Value, ...]
    barrier: Meeting | None = None
    round: bool = False


class Automaton:
    """One thread: its code, its cells, and its positions as numbers, found as they are asked for.

    It has a position at each access and barrier, and at ``stops``, instructions that it does by itself.
    """

    def __init__(
        self,
        test: LitmusTest,
        number: int,
        cells: Mapping[str, int],
        stops: frozenset[int] = frozenset(),
    ) -> None:
        self.number = number
        self.place = test.threads[number].place
        self.flow = unguarded_flow(test.threads[number])
        self.body = self.flow.code
        self._stops = stops
        self._live = [tuple(sorted(live)) for live in self.flow.live]
        self.numbers = _numbers(test.threads[number])
        self._cells = cells
        self.positions: list[ThreadPosition] = []
        self.meetings: list[Meeting | None] = []
        """For each position the barrier that the thread is at, or waits at."""

        self._index: dict[ThreadPosition, int] = {}
        self._after: dict[tuple[int, Memory], tuple[int, Memory]] = {}
        computed = {name for ins in self.body for name in registers_written(ins)}
        self.waits_later = any(isinstance(ins, Barrier) and ins.wait for ins in self.body)
        self.computed_names = [
            (pc, ins.scope)
            for pc, ins in enumerate(self.body)
            if isinstance(ins, Barrier)
            and ins.quorum is None
            and isinstance(ins.name, Reg)
            and ins.name.name in computed
        ]
        registers = test.threads[number].registers
        self.start = self._run(0, {name: _constant(value) for name, value in registers if not isinstance(value, Reg)})

    def ended(self, position: int) -> bool:
        """Whether the thread has come to its end."""
        return self.positions[position].pc == len(self.body)

    def instruction(self, position: int) -> Instruction:
        """The instruction that a thread does next; the thread must not have ended."""
        return self.body[self.positions[position].pc]

    def is_wait(self, position: int) -> bool:
        """Whether a thread is at a wait that is no arrival."""
        ins = self.instruction(position)
        return isinstance(ins, Barrier) and ins.wait

    def may_come(self, position: int, level: Scope) -> bool:
        """Whether a barrier without a quorum is ahead whose name is computed, so that it may be any."""
        ahead = self.flow.ahead[self.positions[position].pc]
        return any(other is level and pc in ahead for pc, other in self.computed_names)

    def access(self, position: int, memory: Memory) -> tuple[int, Memory]:
        """The position and memory after the access that the thread is at, or after one more round."""
        known = self._after.get((position, memory))
        if known is None:
            known = self._after[position, memory] = self._access(position, memory)
        return known

    def waiting_at(self, position: int) -> int:
        """The position of a thread that waits at the barrier where it is."""
        return self._position(replace(self.positions[position], barrier=self.meetings[position]))

    def passing(self, position: int) -> int:
        """The position after the barrier that the thread is or waits at."""
        here = self.positions[position]
        return self._run(here.pc + 1, self._registers(here))

    def outcome(self, position: int, memory: Memory) -> str:
        """The text of what an access reads, as ``r0 = 1``."""
        ins = self.instruction(position)
        if not isinstance(ins, Load | Rmw) or ins.target is None:
            return ""
        here = self.positions[position]
        result = self._result(here.pc, ins, memory[0][self._cell(here, ins)], self._registers(here))
        return f"{ins.target} = {value_text(result)}"

    def failing(self, position: int, memory: Memory) -> int | None:
        """The position after a weak compare-and-swap that fails for no reason, where it could succeed."""
        here, ins = self.positions[position], self.instruction(position)
        if here.round or not isinstance(ins, Rmw) or ins.success is None:
            return None
        registers = self._registers(here)
        old = memory[0][self._cell(here, ins)]
        if self._updated(here.pc, ins, old, registers) is None:
            return None
        return self._run(here.pc + 1, self._read(ins, registers, old, 0))

    @staticmethod
    def _read(ins: Load | Rmw, registers: dict[str, Value], old: Value, succeeded: int) -> dict[str, Value]:
        """The registers after a read; ``succeeded`` is what a weak compare-and-swap tells."""
        results = [(ins.target, old), (ins.success if isinstance(ins, Rmw) else None, succeeded)]
        return registers | {name: value for name, value in results if name is not None}

    def _access(self, position: int, memory: Memory) -> tuple[int, Memory]:
        here, ins = self.positions[position], self.instruction(position)
        if here.round:
            return position, memory
        if isinstance(ins, GroupOperation):
            raise self._wrong(here.pc, "a stepping says which lanes do it together")
        assert isinstance(ins, Load | Store | Rmw)
        registers = self._registers(here)
        cell = self._cell(here, ins)
        values, arrived = memory
        stored: Value | None
        if isinstance(ins, Store):
            stored = self._value(registers, ins.value)
        else:
            old = values[cell]
            stored = self._updated(here.pc, ins, old, registers) if isinstance(ins, Rmw) else None
            registers = self._read(ins, registers, self._result(here.pc, ins, old, registers), int(stored is not None))
        if stored is not None and stored != values[cell]:
            memory = (*values[:cell], stored, *values[cell + 1 :]), arrived
        return self._run(here.pc + 1, registers), memory

    def _result(self, pc: int, ins: Load | Rmw, old: Value, registers: Mapping[str, Value]) -> Value:
        """What a read gives: the value, or whether an mbarrier has completed a phase."""
        if not isinstance(ins, Load) or ins.phase is None:
            return old
        question = f"{MBARRIER}.{'parity' if ins.parity else 'phase'}"
        return self._computed(pc, question, old, self._value(registers, ins.phase))

    def _updated(self, pc: int, ins: Rmw, old: Value, registers: Mapping[str, Value]) -> Value | None:
        """The value that a read-modify-write stores, None where it stores none."""
        first, *rest = (self._value(registers, operand) for operand in ins.operands)
        if ins.operation == "cas":
            return rest[0] if old == first else None
        return first if ins.operation == "exch" else self._computed(pc, ins.operation, old, first)

    def _run(self, pc: int, registers: dict[str, Value]) -> int:
        """The position that the thread comes to by itself."""
        seen: set[ThreadPosition] = set()
        for _ in range(MOST_LOCAL_STEPS):
            if pc == len(self.body):
                return self._position(ThreadPosition(pc, ()))
            if pc in self._stops or isinstance(self.body[pc], SEEN_BY_OTHERS):
                return self._position(self._thread_position(pc, registers))
            if isinstance(self.body[pc], Branch):
                here = self._thread_position(pc, registers)
                if here in seen:
                    return self._position(replace(here, round=True))
                seen.add(here)
            pc = self._alone(pc, registers)
        raise self._wrong(pc, f"more than {MOST_LOCAL_STEPS:,} steps without an access to memory")

    def _alone(self, pc: int, registers: dict[str, Value]) -> int:
        """The place after an instruction that nobody else sees, which changes ``registers``."""
        match self.body[pc]:
            case AsyncOperation() | AsyncGroup():
                raise self._wrong(pc, "asynchronous operations are in no thread's turn")
            case Assign(target, operation, operands):
                first, *rest = (self._value(registers, operand) for operand in operands)
                registers[target] = self._computed(pc, operation, first, rest[0]) if rest else first
            case Branch(label) as branch if self._holds(pc, branch, registers):
                return self.flow.labels[label]
        return pc + 1

    def _holds(self, pc: int, branch: Branch, registers: Mapping[str, Value]) -> bool:
        if branch.condition is None:
            return True
        sides = (self._value(registers, side) for side in (branch.condition.left, branch.condition.right))
        return bool(self._computed(pc, branch.condition.operation, *sides))

    def jumps(self, position: int) -> bool:
        """Whether a thread that is at a branch takes it."""
        here, ins = self.positions[position], self.instruction(position)
        assert isinstance(ins, Branch)
        return self._holds(here.pc, ins, self._registers(here))

    def onward(self, position: int) -> int:
        """The position after what the thread does by itself at a stop, up to the next one."""
        here = self.positions[position]
        registers = self._registers(here)
        return self._run(self._alone(here.pc, registers), registers)

    def brings(self, position: int) -> tuple[Value, ...]:
        """The values of the operands of the operation of a subgroup that the thread is at, and its mask if any."""
        registers = self._registers(self.positions[position])
        return tuple(self._value(registers, operand) for operand in operands_of(self.instruction(position)))

    def resume(self, position: int, result: Value) -> int:
        """The position after an operation of a subgroup, of which the thread is told the result."""
        here, ins = self.positions[position], self.instruction(position)
        registers = self._registers(here) | dict.fromkeys(registers_written(ins), result)
        return self._run(here.pc + 1, registers)

    def without_meaning(self, position: int, what: str) -> NoVerdictError:
        """The error for an instruction that a thread is at and that has no meaning, with the reason."""
        return self._wrong(self.positions[position].pc, what)

    def _thread_position(self, pc: int, registers: Mapping[str, Value]) -> ThreadPosition:
        return ThreadPosition(pc, tuple(registers.get(name, 0) for name in self._live[pc]))

    def _registers(self, position: ThreadPosition) -> dict[str, Value]:
        return dict(zip(self._live[position.pc], position.registers, strict=True))

    def _position(self, position: ThreadPosition) -> int:
        number = self._index.get(position)
        if number is None:
            number = self._index[position] = len(self.positions)
            self.positions.append(position)
            self.meetings.append(self._meeting(position))
        return number

    def _meeting(self, here: ThreadPosition) -> Meeting | None:
        ins = self.body[here.pc] if here.pc < len(self.body) and not here.round else None
        if not isinstance(ins, Barrier):
            return None
        registers = self._registers(here)
        quorum = None if ins.quorum is None else self._value(registers, ins.quorum)
        return Meeting(ins.scope, self.place[: ins.scope.value], self._value(registers, ins.name), quorum)

    def _value(self, registers: Mapping[str, Value], operand: Operand) -> Value:
        return registers.get(operand.name, 0) if isinstance(operand, Reg) else _constant(operand)

    def _cell(self, here: ThreadPosition, ins: Load | Store | Rmw) -> int:
        address = self._value(self._registers(here), ins.address)
        cell = self._cells.get(element(address.location, address.offset)) if isinstance(address, Address) else None
        if cell is not None:
            return cell
        raise self._wrong(here.pc, f"{value_text(address)} is no location of the test")

    def _computed(self, pc: int, operation: str, left: Value, right: Value) -> Value:
        result = calculate(operation, left, right)
        if result is None:
            raise self._wrong(pc, f"{operation} of {value_text(left)} and {value_text(right)} has no meaning")
        return result

    def _wrong(self, pc: int, what: str) -> NoVerdictError:
        return NoVerdictError(f"P{self.number}: {describe(self.body[pc])}: {what}")


@dataclass(frozen=True)
class LitmusLts:
    """Reachable states, numbered from the start state 0 in breadth-first order: a ``TransitionSystem``.

    A state is a memory and the position of each thread, as a number of its ``Automaton``.
    """

    automata: tuple[Automaton, ...]
    locations: tuple[str, ...]
    states: tuple[tuple[Memory, tuple[int, ...]], ...]
    successors: tuple[tuple[int, ...], ...]
    waits: tuple[int, ...]
    chances: tuple[tuple[int, ...], ...] = ()

    @property
    def places(self) -> list[Place]:
        """The places of the threads in the scope tree."""
        return [thread.place for thread in self.automata]

    @cached_property
    def memories(self) -> tuple[tuple[int | str, ...], ...]:
        """The values of the cells; addresses as they are written."""
        return tuple(
            tuple(value if isinstance(value, int) else value_text(value) for value in values)
            for (values, _), _ in self.states
        )

    @cached_property
    def counters(self) -> tuple[tuple[int, ...], ...]:
        """The number of instructions before the one that each thread is at; labels do not count."""
        return tuple(
            tuple(
                thread.numbers[thread.positions[position].pc]
                for thread, position in zip(self.automata, positions, strict=True)
            )
            for _, positions in self.states
        )

    @property
    def ends(self) -> tuple[int, ...]:
        """The number of instructions of each thread."""
        return tuple(thread.numbers[-1] for thread in self.automata)

    def waiting(self, state: int) -> int:
        """The mask of threads that wait at a barrier."""
        return self.waits[state]

    def masked(self, state: int) -> int:
        """The mask of lanes that wait to reconverge, which are none where every lane is a thread as any other."""
        return 0

    def action(self, state: int, thread: int) -> Action:
        """The access or barrier that a thread is at, and what it reads."""
        memory, positions = self.states[state]
        automaton, position = self.automata[thread], positions[thread]
        here, ins = automaton.positions[position], automaton.instruction(position)
        if here.round:
            outcome = "for ever, without access"
        elif isinstance(ins, Barrier):
            after = self.successors[state][thread]
            stays = after == NO_STEP or self.states[after][1][thread] == self.automata[thread].waiting_at(position)
            outcome = "waits" if stays else ""
        else:
            outcome = automaton.outcome(position, memory)
        return Action(automaton.numbers[here.pc], describe(ins), None, outcome)


def explore_litmus(test: LitmusTest, limit: int = MOST_STATES) -> LitmusLts:
    """All states reachable from the initial one.

    Raises ``NoVerdictError`` where there are more than ``limit``, or a step that can be taken has no meaning.
    """
    cells, place, initial = memory_of(test)
    automata = tuple(Automaton(test, number, cells) for number in range(len(test.threads)))
    meetings = Meetings(test, automata)
    weak = any(isinstance(ins, Rmw) and ins.success is not None for thread in automata for ins in thread.body)

    start = (initial, tuple(thread.start for thread in automata))
    error = StateLimitError(f"{test.name} has more than {limit:,} states")
    number_of = FoundStates([start], StateLimit(limit, error))
    successors: list[tuple[int, ...]] = []
    chances: list[tuple[int, ...]] = []
    waits: list[int] = []
    for number, (now, positions) in enumerate(number_of.waiting):  # grows during the walk
        row = []
        waiting = 0
        for tid, (thread, position) in enumerate(zip(automata, positions, strict=True)):
            if thread.ended(position):
                row.append(NO_STEP)
                continue
            meeting = thread.meetings[position]
            if meeting is None:
                following, stored = thread.access(position, now)
                after = stored, (*positions[:tid], following, *positions[tid + 1 :])
            elif not meetings.may_come(tid, meeting, now, position):
                waiting |= 1 << tid
                row.append(NO_STEP)
                continue
            else:
                after = meetings.come(tid, meeting, now, positions)
            if meetings.named_late:
                after = meetings.late(*after)
            row.append(number_of[after])
        if waiting and all(after == NO_STEP for after in row):
            row = [number if waiting >> tid & 1 else NO_STEP for tid in range(len(automata))]
        successors.append(tuple(row))
        waits.append(waiting)
        if weak:
            others = [NO_STEP] * len(automata)
            for tid, (thread, position) in enumerate(zip(automata, positions, strict=True)):
                failed = None if row[tid] == NO_STEP or thread.meetings[position] else thread.failing(position, now)
                if failed is not None:
                    after = now, (*positions[:tid], failed, *positions[tid + 1 :])
                    others[tid] = number_of[meetings.late(*after) if meetings.named_late else after]
            chances.append(tuple(others))
    return LitmusLts(automata, place, tuple(number_of), tuple(successors), tuple(waits), tuple(chances))


def memory_of(test: LitmusTest) -> tuple[dict[str, int], tuple[str, ...], Memory]:
    """The cell of each location by name, the locations that have cells in their order, and memory at the start."""
    known = {location.name: location for location in test.locations}
    memory = [location for location in test.locations if location.alias is None]
    place = {location.name: number for number, location in enumerate(memory)}
    cells = {name: place[physical(known, name)] for name in known}
    return cells, tuple(place), (tuple(_constant(location.initial) for location in memory), frozenset())


class Meetings:
    """The semantics of barriers: who goes on when a thread comes to one.

    Without a quorum those are awaited whose code has the barrier by a name that is known before anything runs, and, as
    long as that may be so, those who may yet come to one whose name they compute.
    """

    def __init__(self, test: LitmusTest, automata: tuple[Automaton, ...]) -> None:
        self._automata = automata
        self._certain = [certain_names(test, thread.number) for thread in automata]
        self.named_late = any(thread.computed_names for thread in automata)

    def may_come(self, tid: int, meeting: Meeting, memory: Memory, position: int) -> bool:
        """Whether a thread that is at a barrier has a step."""
        thread = self._automata[tid]
        return (meeting, ~tid) in memory[1] if thread.is_wait(position) else (meeting, tid) not in memory[1]

    def come(
        self, tid: int, meeting: Meeting, memory: Memory, positions: tuple[int, ...]
    ) -> tuple[Memory, tuple[int, ...]]:
        """The state after a thread has come to the barrier that it is at."""
        thread, position = self._automata[tid], positions[tid]
        ins = thread.instruction(position)
        assert isinstance(ins, Barrier)
        if ins.wait:
            return memory, (*positions[:tid], thread.passing(position), *positions[tid + 1 :])
        come = memory[1] - {(meeting, ~tid)} | {(meeting, tid)}
        following = thread.passing(position) if ins.arrive else thread.waiting_at(position)
        moved = (*positions[:tid], following, *positions[tid + 1 :])
        if self._is_complete(meeting, come, positions):
            return self._opened(meeting, (memory[0], come), moved)
        return (memory[0], come), moved

    def late(self, memory: Memory, positions: tuple[int, ...]) -> tuple[Memory, tuple[int, ...]]:
        """The state after those threads go on that waited for a thread which came to another barrier in the end."""
        for meeting in dict.fromkeys(meeting for meeting, _ in memory[1]):
            if meeting.quorum is None and self._is_complete(meeting, memory[1], positions):
                return self.late(*self._opened(meeting, memory, positions))
        return memory, positions

    def _is_complete(self, meeting: Meeting, come: frozenset[tuple[Meeting, int]], positions: tuple[int, ...]) -> bool:
        who = {tid for other, tid in come if other == meeting and tid >= 0}
        if meeting.quorum is not None:
            return len(who) == meeting.quorum
        return all(
            tid in who
            for tid, (thread, names) in enumerate(zip(self._automata, self._certain, strict=True))
            if thread.place[: meeting.level.value] == meeting.group
            and (meeting.name in names.get(meeting.level, ()) or thread.may_come(positions[tid], meeting.level))
        )

    def _opened(self, meeting: Meeting, memory: Memory, positions: tuple[int, ...]) -> tuple[Memory, tuple[int, ...]]:
        values, come = memory
        after = tuple(
            thread.passing(position) if thread.positions[position].barrier == meeting else position
            for thread, position in zip(self._automata, positions, strict=True)
        )
        met = {
            (meeting, ~tid)
            for tid, thread in enumerate(self._automata)
            if thread.waits_later and (meeting, tid) in come
        }
        return (values, frozenset(one for one in come if one[0] != meeting) | met), after


def _numbers(thread: Thread) -> tuple[int, ...]:
    """How many instructions of a thread stand before each place of its flow, in which predicates are branches."""
    numbers = []
    count = 0
    for ins in thread.instructions:
        lowered = not isinstance(ins, Label) and ins.guard and not (isinstance(ins, Branch) and ins.condition is None)
        numbers += [count] * (3 if lowered else 1)
        count += not isinstance(ins, Label)
    return (*numbers, count)


def _constant(operand: Operand) -> Value:
    assert not isinstance(operand, Reg)
    return address_of(operand.name) if isinstance(operand, Loc) else operand
