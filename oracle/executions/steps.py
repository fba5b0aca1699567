"""The small-step semantics of a thread of a litmus test, with the values of reads as unknowns.

A thread runs with a symbol for each value it reads. Where an outcome depends on such a value (a branch, a
compare-and-swap, an address) the run forks, and each side keeps what must hold for it. A comparison that has been
decided once is not decided again.

Dependencies, as hardware sees them: ``addr`` and ``data`` through registers, from every read whose value reached the
operand; ``ctrl`` from every read that a branch looked at to all later events of the thread. A predicate counts as a
branch around its instruction. Within an rmw, the write depends on the read by ``data`` where its value does, and by
``ctrl`` in a compare-and-swap.

An address that is a known location plus something is that location, or another element of its array: what it adds must
be 0 for the run to go on, as in the dependencies that Alglave et al. 2015, 4.5, manufacture, or lead to an element.
Loops: each backward jump is taken at most ``unroll`` times; where it would be taken once more, the run is cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from corpus.errors import InputError
from corpus.laws import ptx
from corpus.litmus.describe import describe
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Fence,
    GroupOperation,
    Label,
    Load,
    Rmw,
    Store,
    registers_written,
)
from corpus.litmus.locations import NOWHERE, Loc, Location, Operand, Reg, element, element_of, physical
from corpus.litmus.orders import MBARRIER, PLAIN, Mode, Order
from corpus.litmus.test import LitmusTest, plain_locations
from oracle.executions.events import (
    ASYNCHRONOUS,
    GROUP,
    WAITED,
    Apply,
    Arrival,
    Event,
    EventKind,
    Expression,
    Read,
    access_scope,
    access_tags,
    barrier_tags,
    fence_tags,
)
from oracle.executions.flow import flow_of
from oracle.executions.values import Address, address_of, calculate

_UPDATES = {
    "complete_tx": "mbarrier.complete_tx",
    "arrive": "mbarrier.arrive",
    "arrive.noinc": "mbarrier.arrive",
}
"""What the completion of an asynchronous operation does to its mbarrier."""
_MOVED, _MAPPED = "(moved)", "(mapped)"
"""The registers for the value that an asynchronous operation moves, and the address that its tensor map has, while it
does."""

Key = tuple[int, ...]
Sources = frozenset[Key]
Registers = Mapping[str, tuple[Expression, Sources]]


class TooManyError(InputError):
    """The error for a test with more paths, values or executions than a method can list."""


class TooManyValuesError(TooManyError):
    """The error for a test with more values than a method can list; one that computes with unknown values may do."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition for a run to go on: a comparison of two values."""

    operation: str
    left: Expression
    right: Expression

    def opposite(self) -> Constraint:
        """The constraint that holds where this one does not and both values can be compared."""
        return Constraint(_OPPOSITE[self.operation], self.left, self.right)

    def normal(self) -> Constraint:
        """The comparison itself, where this constraint is whether another comparison is true (``(a < b) != 0``)."""
        match self:
            case Constraint("eq" | "ne" as operation, Apply(inner, left, right), 0 | 1 as truth) if inner in _OPPOSITE:
                held = Constraint(inner, left, right)
                return (held if (operation == "eq") == (truth == 1) else held.opposite()).normal()
        return self


NO_GROUP_OPERATIONS = "executions know no operations of a subgroup; a progress model alone judges them"
"""The reason why no consistency model says anything of a test with such operations."""

_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a run so far. ``jumps`` counts the backward jumps taken by place."""

    pc: int = 0
    registers: Registers = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    control: Sources = frozenset()
    outcomes: tuple[int, ...] = ()
    jumps: Mapping[int, int] = field(default_factory=dict)

    def value(self, operand: Operand) -> tuple[Expression, Sources]:
        """The value of an operand, and the reads that it comes from."""
        match operand:
            case Reg(name):
                return self.registers.get(name, (0, frozenset()))
            case Loc(name):
                return address_of(name), frozenset()
            case _:
                return operand, frozenset()

    def assigned(self, register: str | None, value: Expression, sources: Sources) -> RunState:
        """The state after a register is written, with the reads that its value comes from."""
        if register is None:
            return self
        return replace(self, registers={**self.registers, register: (value, sources)})

    def assuming(self, constraint: Constraint, outcome: int) -> RunState | None:
        """The state after a fork, on the side where the constraint holds; None where it cannot hold."""
        if not isinstance(constraint.left, Read | Apply) and not isinstance(constraint.right, Read | Apply):
            return self if calculate(constraint.operation, constraint.left, constraint.right) == 1 else None
        held = constraint.normal()
        if held in self.constraints:
            return self
        if held.opposite() in self.constraints:
            return None
        return replace(self, constraints=(*self.constraints, held), outcomes=(*self.outcomes, outcome))


class Walker:
    """An interpreter of one thread, step by step. ``cut``: the backward jumps at which a run has been cut.

    ``for_ever``: the thread may stay at any barrier that it waits at, not only where others then come to an end.
    """

    def __init__(self, test: LitmusTest, number: int, unroll: int, for_ever: bool = False) -> None:
        self._for_ever = for_ever
        self.flow = flow_of(test, number)
        self.number = number
        self.cut: set[int] = set()
        self._name = test.name
        self._locations: Mapping[str, Location] = {location.name: location for location in test.locations}
        self._plain = plain_locations(test)
        self._initial = test.threads[number].registers
        self._unroll = unroll

    def start(self) -> RunState:
        """The state of the thread before its first instruction."""
        registers: dict[str, tuple[Expression, Sources]] = {
            name: (address_of(value.name) if isinstance(value, Loc) else value, frozenset())
            for name, value in self._initial
            if not isinstance(value, Reg)
        }
        return RunState(registers=registers)

    def key(self, state: RunState) -> Key:
        """The key of the next event of a run."""
        return (self.number, len(state.events), *state.outcomes)

    def meanings(self, value: Expression) -> tuple[Expression, ...]:
        """The expressions that an expression may stand for: itself alone, where runs are told apart."""
        return (value,)

    def step(self, state: RunState) -> Iterator[RunState]:
        """The states of the runs after one more instruction.

        Raises ``InputError`` where an address is no location of the test, or the instruction one of a subgroup.
        """
        ins = self.flow.code[state.pc]
        after = replace(state, pc=state.pc + 1)
        match ins:
            case Label():
                yield after
            case Assign(target, operation, operands):
                yield after.assigned(target, *self._computed(state, operation, operands))
            case Branch():
                yield from self._branch(state, ins)
            case Fence(mode, sides=sides):
                yield _with(after, self._event(state, EventKind.FENCE, fence_tags(mode), mode, sides))
            case Barrier():
                yield from self._barrier(state, ins)
            case Load() | Store() | Rmw():
                for placed, location, sources in self._located(after, ins.address, state.pc):
                    yield from self._access(placed, ins, location, sources, state.pc)
            case GroupOperation():
                raise InputError(f"P{self.number}: {describe(ins)}: {NO_GROUP_OPERATIONS}", self._name)
            case AsyncOperation():
                yield from self._operation(after, ins, state.pc)
            case AsyncGroup():
                event = self._event(state, EventKind.FENCE, frozenset({"F", GROUP}), PLAIN)
                yield _with(after, replace(event, group=replace(ins, guard=None)))

    def _operation(self, state: RunState, ins: AsyncOperation, pc: int) -> Iterator[RunState]:
        """The run after it has asked for an asynchronous operation, whose events are all there.

        Where the operation is an arrival that counts for itself (``cp.async.mbarrier.arrive`` without ``.noinc``), the
        thread makes one more arrival pending first.
        """
        own: list[Rmw] = []
        accesses: list[Load | Store | Rmw] = []
        pairs = [] if ins.target is None else [(ins.target, ins.source), *ins.more]
        if ins.tensor:
            ((target, source),) = pairs
            tensor_map = target if ins.barrier is None or source is None else source
            accesses.append(Load(_MAPPED, tensor_map, ptx.TENSOR_MAP))
            box = Reg(_MAPPED)
            pairs = [(target, box) if tensor_map is source else (box, source)]
        for target, source in pairs:
            value: Operand = ins.value
            if source is not None:
                mode = ins.mode if ins.operation is None else replace(ins.mode, order=Order.WEAK, scope=None)
                accesses.append(Load(_MOVED, source, mode))
                value = Reg(_MOVED)
            if ins.operation is None:
                accesses.append(Store(target, value, ins.mode))
            else:
                accesses.append(Rmw(ins.operation, None, target, (value,), ins.mode))
        if ins.barrier is not None:
            completion = ptx.completion(ins)
            if ins.mbarrier == "arrive":
                relaxed = replace(completion, order=Order.RELAXED)
                own = [Rmw("mbarrier.increment", None, ins.barrier, (ins.count,), relaxed)]
            accesses.append(Rmw(_UPDATES[ins.mbarrier], None, ins.barrier, (ins.count,), completion))
        runs = [state]
        for access in (*own, *accesses):
            runs = [
                after
                for run in runs
                for placed, location, sources in self._located(run, access.address, pc)
                for after in self._access(placed, access, location, sources, pc)
            ]
        begin = len(state.events) + 2 * len(own)  # an update is two events
        for run in runs:
            key = run.events[begin].key
            events = (
                replace(event, operation=key, group=ins.in_group, tags=event.tags | {ASYNCHRONOUS})
                for event in run.events[begin:]
            )
            registers = {name: value for name, value in run.registers.items() if name not in (_MOVED, _MAPPED)}
            yield replace(run, events=(*run.events[:begin], *events), registers=registers)

    def _computed(self, state: RunState, operation: str, operands: tuple[Operand, ...]) -> tuple[Expression, Sources]:
        values = [state.value(operand) for operand in operands]
        sources = frozenset[Key]().union(*(source for _, source in values))
        return (values[0][0] if operation == "mov" else apply(operation, values[0][0], values[1][0])), sources

    def _branch(self, state: RunState, ins: Branch) -> Iterator[RunState]:
        after = replace(state, pc=state.pc + 1)
        if ins.condition is None:
            yield from self._jump(state, ins)
            return
        left, left_sources = state.value(ins.condition.left)
        right, right_sources = state.value(ins.condition.right)
        control = state.control if ins.checks else state.control | left_sources | right_sources
        held = Constraint(ins.condition.operation, left, right)
        falls = replace(after, control=control).assuming(held.opposite(), 0)
        if falls is not None:
            yield falls
        jumps = replace(state, control=control).assuming(held, 1)
        if jumps is not None:
            yield from self._jump(jumps, ins)

    def _jump(self, state: RunState, ins: Branch) -> Iterator[RunState]:
        target = self.flow.labels[ins.label]
        if target <= state.pc:
            count = state.jumps.get(state.pc, 0)
            if count >= self.most(state.pc):
                self.stop(state)
                return
            state = replace(state, jumps={**state.jumps, state.pc: count + 1})
        yield replace(state, pc=target)

    def most(self, pc: int) -> int:
        """The greatest number of times that the backward jump at a place is taken."""
        return self._unroll

    def stop(self, state: RunState) -> None:
        """Cuts a run that would take the backward jump that it is at once too often."""
        self.cut.add(state.pc)

    def _located(self, state: RunState, operand: Operand, pc: int) -> Iterator[tuple[RunState, str, Sources]]:
        """The run at each location that an address may be."""
        value, sources = state.value(operand)
        meanings = self.meanings(value)
        elsewhere = NOWHERE in self._locations
        for meaning in meanings if not elsewhere else ():
            if isinstance(meaning, int) or (isinstance(meaning, Address) and _named(meaning) not in self._locations):
                where = f"P{self.number}, instruction {pc}"
                raise InputError(f"{where}: the address is no location of the test", self._name)
        if isinstance(value, Address | int):
            named = _named(value) if isinstance(value, Address) else NOWHERE
            yield state, named if named in self._locations else NOWHERE, sources
            return
        bases = {_base(meaning) for meaning in meanings}
        every = (name for name in self._locations if name != NOWHERE)
        names = sorted(name for name in every if None in bases or element_of(name)[0] in bases)
        for outcome, name in enumerate(names):
            here = state.assuming(Constraint("eq", value, address_of(name)), outcome)
            if here is not None:
                yield here, name, sources
        if elsewhere:
            away: RunState | None = state
            for outcome, name in enumerate(names, len(names)):
                away = away and away.assuming(Constraint("ne", value, address_of(name)), outcome)
            if away is not None:
                yield away, NOWHERE, sources

    def _access(
        self, state: RunState, ins: Load | Store | Rmw, location: str, addr: Sources, pc: int
    ) -> Iterator[RunState]:
        memory, address = physical(self._locations, location), virtual(self._locations, location)
        region = self._locations[memory].region
        scope, rmw = access_scope(ins.mode), isinstance(ins, Rmw)
        reduces = isinstance(ins, Rmw) and not registers_written(ins)

        def event(
            state: RunState,
            kind: EventKind,
            value: Expression,
            data: Sources,
            ctrl: Sources,
            of: Key | None = None,
            mode: Mode = ins.mode,
        ) -> Event:
            key, tags = self.key(state), access_tags(kind, mode, region, rmw, memory in self._plain, reduces)
            control, round = state.control | ctrl, _round(state, ins.sides)
            return Event(
                key,
                self.number,
                kind,
                tags,
                pc,
                memory,
                address,
                value,
                scope,
                addr,
                data,
                control,
                of,
                sides=ins.sides,
                round=round,
            )

        nothing: Sources = frozenset()
        if isinstance(ins, Store):
            value, data = state.value(ins.value)
            yield _with(state, event(state, EventKind.WRITE, value, data, nothing))
            return

        def reading(
            state: RunState, mode: Mode, compared: Sources = nothing, spurious: bool = False
        ) -> tuple[RunState, Key]:
            key = self.key(state)
            read = event(state, EventKind.READ, Read(key), nothing, nothing, None, mode)
            if compared or spurious:
                read = replace(read, compared=compared, spurious=spurious)
            return _with(state, read, ins.target), key

        if isinstance(ins, Load) and ins.phase is not None:
            phase, given = state.value(ins.phase)
            question = f"{MBARRIER}.{'parity' if ins.parity else 'phase'}"
            succeeds = replace(ins.mode, tags=(*ins.mode.tags, WAITED.lower()))
            for outcome, mode in enumerate((replace(ins.mode, order=Order.RELAXED), succeeds)):
                done, key = reading(replace(state, outcomes=(*state.outcomes, outcome)), mode)
                held = done.assuming(Constraint("eq", apply(question, Read(key), phase), outcome), outcome)
                if held is not None:
                    yield held.assigned(ins.target, outcome, given | {key})
            return
        if isinstance(ins, Load):
            yield reading(state, ins.mode)[0]
            return
        values = [state.value(operand) for operand in ins.operands]
        data = nothing.union(*(sources for _, sources in values))
        if ins.operation == "cas":
            expected, compared = values[0]

            def finished(state: RunState, key: Key, succeeded: int) -> RunState:
                return state.assigned(ins.success, succeeded, compared | {key})

            missing = ins.mode if ins.failure is None else replace(ins.mode, order=ins.failure)
            misses = hits = fails = state
            if missing is not ins.mode or ins.success is not None:  # the read is another event where the exchange fails
                misses, hits, fails = (replace(state, outcomes=(*state.outcomes, outcome)) for outcome in range(3))
            missed, key = reading(misses, missing, compared)
            failed = missed.assuming(Constraint("ne", Read(key), expected), 0)
            if failed is not None:
                yield finished(failed, key, 0)
            hit, key = reading(hits, ins.mode, compared)
            swapped = hit.assuming(Constraint("eq", Read(key), expected), 1)
            if swapped is not None:
                write = event(swapped, EventKind.WRITE, values[1][0], data, frozenset({key}), key)
                yield finished(_with(swapped, write), key, 1)
            if ins.success is not None:
                missed, key = reading(fails, missing, compared, spurious=True)
                failed = missed.assuming(Constraint("eq", Read(key), expected), 2)
                if failed is not None:
                    yield finished(failed, key, 0)
            return
        done, key = reading(state, ins.mode)
        old, itself = Read(key), frozenset({key})
        if ins.operation == "exch":
            yield _with(done, event(done, EventKind.WRITE, values[0][0], data, nothing, key))
        else:
            value = apply(ins.operation, old, values[0][0])
            yield _with(done, event(done, EventKind.WRITE, value, data | itself, nothing, key))

    def _barrier(self, state: RunState, ins: Barrier) -> Iterator[RunState]:
        quorum = None if ins.quorum is None else state.value(ins.quorum)[0]
        arrival = Arrival(state.value(ins.name)[0], ins.scope, quorum)
        stays = not ins.arrive if self._for_ever else state.pc in self.flow.staying
        tags = barrier_tags(ins.mode, ins.arrive, ins.wait)
        for outcome, pc in enumerate((state.pc + 1, self.flow.end)[: 1 + stays]):
            forked = replace(state, outcomes=(*state.outcomes, outcome)) if stays else state
            event = self._event(forked, EventKind.BARRIER, tags, ins.mode)
            yield _with(replace(forked, pc=pc), replace(event, barrier=replace(arrival, stays=outcome > 0)))

    def _event(
        self, state: RunState, kind: EventKind, tags: frozenset[str], mode: Mode, sides: tuple[int, ...] = ()
    ) -> Event:
        return Event(
            self.key(state),
            self.number,
            kind,
            tags,
            state.pc,
            scope=mode.scope,
            ctrl=state.control,
            sides=sides,
            round=_round(state, sides),
        )


def _round(state: RunState, sides: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """The round of the loops around an evaluation of operands."""
    return tuple(sorted(state.jumps.items())) if sides else ()


def virtual(locations: Mapping[str, Location], name: str) -> str:
    """The location whose virtual address a location has: itself, or the location that a proxy's name stands for (``s
    @ surface``)."""
    while (alias := locations[name].alias) is not None and alias.proxy is not None:
        name = alias.location
    return name


def _with(state: RunState, event: Event, target: str | None = None) -> RunState:
    """After an event; ``target`` is the register that it loads into."""
    if target is None:
        return replace(state, events=(*state.events, event))
    registers = {**state.registers, target: (Read(event.key), frozenset({event.key}))}
    return replace(state, events=(*state.events, event), registers=registers)


def apply(operation: str, left: Expression, right: Expression) -> Expression:
    """The expression ``left operation right``, computed where both operands are known."""
    if isinstance(left, Read | Apply) or isinstance(right, Read | Apply):
        return Apply(operation, left, right)
    value = calculate(operation, left, right)
    if value is None:
        raise InputError(f"'{operation}' of {left} and {right} has no meaning")
    return value


def _named(address: Address) -> str:
    return element(address.location, address.offset)


def _base(value: Expression) -> str | None:
    """The location that an address is of whatever is read, if it has the shape ``&x + ..``."""
    match value:
        case Address(location):
            return location
        case Apply("add", left, right):
            return _base(left) or _base(right)
        case Apply("sub", left):
            return _base(left)
        case _:
            return None
