"""One thread of the operational models: program, registers, instruction queues and load pool (Sorensen 2013, 4.1, 4.2).

A thread *fires* its instructions in program order into a queue for each location, a fence into all of them. What stands
in the queues is done in any order that the queues allow; here they are one list in program order, of which a queue is
the part that its location and the fences make up:

- a store is done once no earlier access to its location is left, in the queue or in the load pool;
- a load is done once no earlier store to its location is left (weak: the load pool is unordered), or no earlier access
  to it (strong: there is no load pool);
- a fence is done once it is the first of the list, and nothing passes it.

Firing, and the step of a load from its queue to the pool, are taken at once: they change nothing that another thread
can see, forbid nothing that was allowed before them (a fired instruction comes last in its queues; a load that stands
first in its queue has no store before it to hold up), commute with every other step, and each run to the end takes
them. Queues of locations that a thread never uses would hold its fences only, all of them in one order, and so never
hold one up.

What the thesis leaves open:

- Its stores carry constants. Here an instruction is fired once every register that it reads has its value, and those
  after it wait for it. Branches, predicates, arithmetic and address registers all work in this way.
- A register that is written again while a load into it is under way keeps the later value in program order.
- An access to a value that is no location (an address plus an offset, a number) has no meaning, and its run has no end.
- A jump backwards is taken at most ``unroll`` times; a run that would take it once more is *cut*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from corpus.errors import InputError
from corpus.litmus.describe import describe
from corpus.litmus.flow import unguarded_flow
from corpus.litmus.instructions import (
    Assign,
    Branch,
    Comparison,
    Fence,
    Instruction,
    Label,
    Load,
    Store,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.orders import Order, Scope
from corpus.litmus.threads import Thread, unguarded
from oracle.executions.values import Address, Value, calculate

CUT: Final = -1
"""Stands for a state: the run would take a backward jump too often."""

STUCK: Final = -2
"""Stands for a state: the run computes or accesses something without meaning, and has no end."""


class UnmodelledError(InputError):
    """The error for a test with an instruction that the operational models do not cover, for which no verdict is
    right."""


class LoadStep(NamedTuple):
    """A load that may be done; ``register`` is None where nobody will look at the value."""

    location: int
    register: int | None


class StoreStep(NamedTuple):
    """A store that may be done next, with its location and value."""

    location: int
    value: Value


class FenceStep(NamedTuple):
    """A fence that may be done next: a TF, or with ``block`` a TFB."""

    block: bool


Step = LoadStep | StoreStep | FenceStep


class _State(NamedTuple):
    """The state of a thread: ``registers`` are values, None while a load is under way; ``queued`` is what was fired
    and is not done."""

    counter: int
    registers: tuple[Value | None, ...]
    queued: tuple[Step, ...]
    jumps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ThreadView:
    """The properties of a thread's state that the rest of the system needs.

    ``steps``: what may be done next, by place in the queue. ``loads``, ``stores``: a bit for each location that the
    thread may yet load, or store to. ``settled``: all is fired, and the observed registers have their final values.
    ``ended``: nothing is left to do.
    """

    steps: tuple[tuple[int, Step], ...]
    loads: int
    stores: int
    settled: bool
    ended: bool


class ThreadAutomaton:
    """The states of a thread as numbers, found as they are asked for.

    ``locations`` numbers those that the thread can access, ``observed`` are the registers whose final values matter.
    Raises ``UnmodelledError`` where the thread has an instruction that the models do not know.
    """

    def __init__(
        self,
        number: int,
        thread: Thread,
        locations: Mapping[str, int],
        observed: frozenset[str],
        strong: bool,
        unroll: int,
    ) -> None:
        for ins in thread.instructions:
            _check_modelled(number, ins)
        self._flow = unguarded_flow(thread)
        self._code = self._flow.code
        self._locations = locations
        self._strong = strong
        self._unroll = unroll
        self._names = tuple(sorted(unguarded(thread).names | observed))
        self._index = {name: index for index, name in enumerate(self._names)}
        self._observed = frozenset(self._index[name] for name in observed)
        reachable = [places - {self._flow.end} for places in self._flow.ahead]
        # More than live registers: a run that is told names the register of a load, though it be written again.
        self._kept = [
            self._observed | {self._index[name] for place in after for name in registers_read(self._code[place])}
            for after in reachable
        ]
        held = self._held(thread)
        self._loads = [self._accessed(after, Load, held) for after in reachable]
        self._stores = [self._accessed(after, Store, held) for after in reachable]
        self.accesses = self._loads[0] | self._stores[0]
        """A bit for each location that the thread may access."""

        self._loops = {place: loop for loop, place in enumerate(self._flow.backward)}
        self._numbers: dict[_State, int] = {}
        self._states: list[_State] = []
        self._views: list[ThreadView] = []
        self._after: dict[tuple[int, int, Value], int] = {}
        initial = dict(thread.registers)
        registers: list[Value | None] = [_constant(initial.get(name, 0)) for name in self._names]
        self.start = self._fire(0, registers, [], (0,) * len(self._loops))
        """The first state, or ``CUT`` or ``STUCK``."""

    def view(self, state: int) -> ThreadView:
        """The properties of a state that the rest of the system needs."""
        return self._views[state]

    def after(self, state: int, place: int, value: Value = 0) -> int:
        """The state after the step at ``place`` is done, a load with ``value``; or ``CUT`` or ``STUCK``."""
        key = (state, place, value)
        known = self._after.get(key)
        if known is None:
            known = self._after[key] = self._do(self._states[state], place, value)
        return known

    def name(self, register: int) -> str:
        """The name of the register that a step calls by its number."""
        return self._names[register]

    def register(self, state: int, name: str) -> Value:
        """The value of an observed register in a settled state."""
        value = self._states[state].registers[self._index[name]]
        assert value is not None
        return value

    def _do(self, state: _State, place: int, value: Value) -> int:
        step = state.queued[place]
        registers = list(state.registers)
        if isinstance(step, LoadStep) and step.register is not None:
            registers[step.register] = value
        return self._fire(state.counter, registers, [*state.queued[:place], *state.queued[place + 1 :]], state.jumps)

    def _fire(self, counter: int, registers: list[Value | None], queued: list[Step], jumps: tuple[int, ...]) -> int:
        """The state after all that can be fired is fired."""

        def value(operand: Operand) -> Value:
            if isinstance(operand, Reg):
                known = registers[self._index[operand.name]]
                assert known is not None
                return known
            return _constant(operand)

        def location(operand: Operand) -> int | None:
            address = value(operand)
            if isinstance(address, Address) and address.offset == 0:
                return self._locations.get(address.location)
            return None

        while counter < len(self._code):
            ins = self._code[counter]
            if any(registers[self._index[name]] is None for name in registers_read(ins)):
                break
            for target in registers_written(ins):  # a load into the register that is under way comes too late
                index = self._index[target]
                queued = [
                    step._replace(register=None) if isinstance(step, LoadStep) and step.register == index else step
                    for step in queued
                ]
            counter += 1
            match ins:
                case Load():
                    cell = location(ins.address)
                    if cell is None:
                        return STUCK
                    queued.append(LoadStep(cell, index))
                    registers[index] = None
                case Store():
                    cell = location(ins.address)
                    if cell is None:
                        return STUCK
                    queued.append(StoreStep(cell, value(ins.value)))
                case Fence():
                    queued.append(FenceStep(ins.mode.scope is Scope.CTA))
                case Assign():
                    first, *rest = map(value, ins.operands)
                    result = calculate(ins.operation, first, rest[0]) if rest else first
                    if result is None:
                        return STUCK
                    registers[index] = result
                case Branch():
                    taken = _truth(ins.condition, value)
                    if taken is None:
                        return STUCK
                    if taken:
                        loop = self._loops.get(counter - 1)
                        if loop is not None:
                            if jumps[loop] == self._unroll:
                                return CUT
                            jumps = (*jumps[:loop], jumps[loop] + 1, *jumps[loop + 1 :])
                        counter = self._flow.labels[ins.label]
        return self._number(counter, registers, queued, jumps)

    def _number(self, counter: int, registers: list[Value | None], queued: list[Step], jumps: tuple[int, ...]) -> int:
        kept = self._kept[counter]  # registers that are not read any more are forgotten
        if counter == len(self._code):
            jumps = ()
        state = _State(
            counter,
            tuple(value if index in kept else 0 for index, value in enumerate(registers)),
            tuple(
                step._replace(register=None) if isinstance(step, LoadStep) and step.register not in kept else step
                for step in queued
            ),
            jumps,
        )
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self._states)
            self._states.append(state)
            self._views.append(self._view(state))
        return number

    def _view(self, state: _State) -> ThreadView:
        steps: list[tuple[int, Step]] = []
        loaded = stored = 0
        open_ended = True  # no fence so far
        for place, step in enumerate(state.queued):
            if isinstance(step, FenceStep):
                if not place:
                    steps.append((place, step))
                open_ended = False
                continue
            bit = 1 << step.location
            waits = stored & bit or (loaded & bit and (self._strong or isinstance(step, StoreStep)))
            if open_ended and not waits:
                steps.append((place, step))
            if isinstance(step, StoreStep):
                stored |= bit
            else:
                loaded |= bit
        fired = state.counter == len(self._code)
        return ThreadView(
            tuple(steps),
            loaded | self._loads[state.counter],
            stored | self._stores[state.counter],
            fired and all(state.registers[index] is not None for index in self._observed),
            fired and not state.queued,
        )

    def _held(self, thread: Thread) -> dict[str, int]:
        """For each register, a bit for each location whose address it may hold at some time."""
        everywhere = sum(1 << cell for cell in self._locations.values())
        held = dict.fromkeys(self._names, 0)
        held |= {name: self._named(initial, held) for name, initial in thread.registers}
        before = None
        while held != before:
            before = dict(held)
            for ins in self._code:
                match ins:
                    case Load(target):
                        held[target] = everywhere
                    case Assign(target, "mov" | "add" | "sub", values):  # addresses; the other operations make none
                        for value in values:
                            held[target] |= self._named(value, held)
        return held

    def _named(self, operand: Operand, held: Mapping[str, int]) -> int:
        match operand:
            case Reg(name):
                return held[name]
            case Loc(name) if name in self._locations:
                return 1 << self._locations[name]
            case _:
                return 0

    def _accessed(self, places: Iterable[int], kind: type[Load] | type[Store], held: Mapping[str, int]) -> int:
        found = 0
        for place in places:
            ins = self._code[place]
            if isinstance(ins, kind):
                found |= self._named(ins.address, held)
        return found


def _check_modelled(number: int, ins: Instruction) -> None:
    match ins:
        case Load(mode=mode) | Store(mode=mode):
            known = mode.order is Order.WEAK and not mode.tags
        case Fence(mode):
            known = mode.order is Order.SC and mode.scope in (Scope.CTA, Scope.GPU, Scope.SYS) and not mode.tags
        case _:
            known = isinstance(ins, Assign | Branch | Label)
    if not known:
        reason = "Sorensen 2013 models plain loads and stores, membar.cta and membar.gl"
        raise UnmodelledError(f"P{number}: {describe(ins)}: {reason}")


def _constant(operand: Operand) -> Value:
    assert not isinstance(operand, Reg)
    return Address(operand.name) if isinstance(operand, Loc) else operand


def _truth(condition: Comparison | None, value: Callable[[Operand], Value]) -> Value | None:
    """1 where a branch is taken, 0 where it is not, None where its comparison has no meaning."""
    if condition is None:
        return 1
    return calculate(condition.operation, value(condition.left), value(condition.right))
