"""The ways through a thread: its program unrolled, with the values of reads as unknowns.

A thread runs with a symbol for each value it reads. Where an outcome hangs on such a value (a branch, a
compare-and-swap, an address) the run forks, and each path keeps what must hold for it. Events of a common beginning
are shared.

Dependencies, as hardware sees them: ``addr`` and ``data`` through registers, from every read whose value reached the
operand; ``ctrl`` from every read that a branch looked at to all later events of the thread. A predicate counts as a
branch around its instruction. Within an rmw, the write depends on the read by ``data`` where its value does, and by
``ctrl`` in a compare-and-swap.

An address that is a known location plus something is that location: what it adds must be 0 for the path to go on, as in
the dependencies that Alglave et al. 2015, 4.5, manufacture. Loops: each backward jump is taken at most ``unroll``
times; longer paths are dropped, and the thread says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from corpus.errors import InputError
from corpus.litmus.test import (
    Assign,
    Barrier,
    Branch,
    Fence,
    Label,
    LitmusTest,
    Load,
    Loc,
    Location,
    Mode,
    Operand,
    Reg,
    Rmw,
    Store,
    Thread,
    unguarded,
)
from oracle.executions.events import (
    Apply,
    Event,
    Expression,
    Kind,
    Read,
    access_scope,
    access_tags,
    barrier_tags,
    fence_tags,
)
from oracle.executions.values import Address, calculate

Key = tuple[int, ...]
Sources = frozenset[Key]

MOST_PATHS = 4096
"""A thread with more ways through it is refused."""


class TooManyError(InputError):
    """A test with more paths, values or executions than a method can list."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """What must hold for a path: a comparison of two values."""

    operation: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Path:
    """One way through a thread, from its beginning to its end."""

    events: tuple[Event, ...]
    constraints: tuple[Constraint, ...]
    registers: Mapping[str, Expression]


@dataclass(frozen=True, slots=True)
class Paths:
    """All ways through a thread. ``bounded``: some were longer than the bound and are left out."""

    paths: tuple[Path, ...]
    bounded: bool


@lru_cache(maxsize=4)  # the models judge a test one after the other
def unroll_threads(test: LitmusTest, unroll: int) -> tuple[Paths, ...]:
    """The ways through each thread, each backward jump taken at most ``unroll`` times.

    Raises ``InputError`` where an address is no location of the test, and ``TooManyError`` where a thread has more than
    ``MOST_PATHS`` ways.
    """
    return tuple(_Unroller(test, number, unroll).paths() for number in range(len(test.threads)))


@dataclass(frozen=True, slots=True)
class _State:
    """A run so far."""

    pc: int = 0
    registers: Mapping[str, tuple[Expression, Sources]] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    control: Sources = frozenset()
    outcomes: tuple[int, ...] = ()
    jumps: Mapping[int, int] = field(default_factory=dict)

    def value(self, operand: Operand) -> tuple[Expression, Sources]:
        """What an operand evaluates to, and the reads that it comes from."""
        match operand:
            case Reg(name):
                return self.registers.get(name, (0, frozenset()))
            case Loc(name):
                return Address(name), frozenset()
            case _:
                return operand, frozenset()

    def assigned(self, register: str | None, value: Expression, sources: Sources) -> _State:
        """With a register written."""
        if register is None:
            return self
        return replace(self, registers={**self.registers, register: (value, sources)})

    def assuming(self, constraint: Constraint, outcome: int) -> _State | None:
        """After a fork, on the side where the constraint holds; None where it cannot."""
        if not isinstance(constraint.left, Read | Apply) and not isinstance(constraint.right, Read | Apply):
            return self if calculate(constraint.operation, constraint.left, constraint.right) == 1 else None
        return replace(self, constraints=(*self.constraints, constraint), outcomes=(*self.outcomes, outcome))


_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}


class _Unroller:
    def __init__(self, test: LitmusTest, number: int, unroll: int) -> None:
        self._name = test.name
        self._locations: Mapping[str, Location] = {location.name: location for location in test.locations}
        self._number = number
        self._thread: Thread = unguarded(test.threads[number])
        self._body = self._thread.instructions
        self._labels = {ins.name: pc for pc, ins in enumerate(self._body) if isinstance(ins, Label)}
        self._unroll = unroll
        self._bounded = False

    def paths(self) -> Paths:
        empty: Sources = frozenset()
        initial = {
            name: (Address(value.name) if isinstance(value, Loc) else value, empty)
            for name, value in self._thread.registers
            if not isinstance(value, Reg)
        }
        done: list[Path] = []
        waiting = [_State(registers=initial)]
        while waiting:
            state = waiting.pop()
            if state.pc == len(self._body):
                registers = {name: value for name, (value, _) in state.registers.items()}
                done.append(Path(state.events, state.constraints, registers))
                if len(done) > MOST_PATHS:
                    raise TooManyError(f"P{self._number} has more than {MOST_PATHS} ways through it")
            else:
                waiting += reversed(list(self._step(state)))
        return Paths(tuple(done), self._bounded)

    def _step(self, state: _State) -> Iterator[_State]:
        ins = self._body[state.pc]
        after = replace(state, pc=state.pc + 1)
        match ins:
            case Label():
                yield after
            case Assign(target, operation, operands):
                yield after.assigned(target, *self._computed(state, operation, operands))
            case Branch():
                yield from self._branch(state, ins)
            case Fence(mode):
                yield _with(after, self._event(state, Kind.FENCE, fence_tags(mode), mode))
            case Barrier(number, arrive, mode=mode):
                yield _with(after, self._barrier(state, state.value(number)[0], barrier_tags(mode, arrive), ins))
            case Load() | Store() | Rmw():
                for placed, location, sources in self._located(after, ins.address):
                    yield from self._access(placed, ins, location, sources, state.pc)

    def _computed(self, state: _State, operation: str, operands: tuple[Operand, ...]) -> tuple[Expression, Sources]:
        values = [state.value(operand) for operand in operands]
        sources = frozenset[Key]().union(*(source for _, source in values))
        return (values[0][0] if operation == "mov" else apply(operation, values[0][0], values[1][0])), sources

    def _branch(self, state: _State, ins: Branch) -> Iterator[_State]:
        after = replace(state, pc=state.pc + 1)
        if ins.condition is None:
            yield from self._jump(state, ins)
            return
        left, left_sources = state.value(ins.condition.left)
        right, right_sources = state.value(ins.condition.right)
        control = state.control | left_sources | right_sources
        operation = ins.condition.operation
        falls = replace(after, control=control).assuming(Constraint(_OPPOSITE[operation], left, right), 0)
        if falls is not None:
            yield falls
        jumps = replace(state, control=control).assuming(Constraint(operation, left, right), 1)
        if jumps is not None:
            yield from self._jump(jumps, ins)

    def _jump(self, state: _State, ins: Branch) -> Iterator[_State]:
        target = self._labels[ins.label]
        if target <= state.pc:
            count = state.jumps.get(state.pc, 0)
            if count == self._unroll:
                self._bounded = True
                return
            state = replace(state, jumps={**state.jumps, state.pc: count + 1})
        yield replace(state, pc=target)

    def _located(self, state: _State, operand: Operand) -> Iterator[tuple[_State, str, Sources]]:
        """The run at each location that an address may be."""
        value, sources = state.value(operand)
        base = _base(value)
        if isinstance(value, int) or (isinstance(value, Address) and value.offset):
            where = f"P{self._number}, instruction {state.pc}"
            raise InputError(f"{where}: the address is no location of the test", self._name)
        if isinstance(value, Address):
            yield state, value.location, sources
            return
        for outcome, name in enumerate([base] if base else sorted(self._locations)):
            here = state.assuming(Constraint("eq", value, Address(name)), outcome)
            if here is not None:
                yield here, name, sources

    def _access(
        self, state: _State, ins: Load | Store | Rmw, location: str, addr: Sources, pc: int
    ) -> Iterator[_State]:
        memory = physical(self._locations, location)
        region = self._locations[memory].region
        scope, rmw = access_scope(ins.mode), isinstance(ins, Rmw)

        def event(
            state: _State, kind: Kind, value: Expression, data: Sources, ctrl: Sources, of: Key | None = None
        ) -> Event:
            key, tags = self._key(state), access_tags(kind, ins.mode, region, rmw)
            return Event(
                key, self._number, kind, tags, pc, memory, location, value, scope, addr, data, state.control | ctrl, of
            )

        nothing: Sources = frozenset()
        if isinstance(ins, Store):
            value, data = state.value(ins.value)
            yield _with(state, event(state, Kind.WRITE, value, data, nothing))
            return
        key = self._key(state)
        old, itself = Read(key), frozenset({key})
        done = _with(state, event(state, Kind.READ, old, nothing, nothing), ins.target)
        if isinstance(ins, Load):
            yield done
            return
        values = [state.value(operand) for operand in ins.operands]
        data = nothing.union(*(sources for _, sources in values))
        if ins.operation == "cas":
            expected, new = values[0][0], values[1][0]
            failed = done.assuming(Constraint("ne", old, expected), 0)
            if failed is not None:
                yield failed
            swapped = done.assuming(Constraint("eq", old, expected), 1)
            if swapped is not None:
                yield _with(swapped, event(swapped, Kind.WRITE, new, data, itself, key))
        elif ins.operation == "exch":
            yield _with(done, event(done, Kind.WRITE, values[0][0], data, nothing, key))
        else:
            value = apply(ins.operation, old, values[0][0])
            yield _with(done, event(done, Kind.WRITE, value, data | itself, nothing, key))

    def _barrier(self, state: _State, number: Expression, tags: frozenset[str], ins: Barrier) -> Event:
        if isinstance(number, Read | Apply):
            where = f"P{self._number}, instruction {state.pc}"
            raise InputError(f"{where}: a barrier's number must not hang on a value that is read", self._name)
        earlier = sum(event.barrier is not None and event.barrier[0] == number for event in state.events)
        return replace(self._event(state, Kind.BARRIER, tags, ins.mode), barrier=(number, earlier))

    def _event(self, state: _State, kind: Kind, tags: frozenset[str], mode: Mode) -> Event:
        return Event(self._key(state), self._number, kind, tags, state.pc, scope=mode.scope, ctrl=state.control)

    def _key(self, state: _State) -> Key:
        return (self._number, len(state.events), *state.outcomes)


def physical(locations: Mapping[str, Location], name: str) -> str:
    """The location whose memory a location is: itself, or what it is an alias of."""
    while (alias := locations[name].alias) is not None:
        name = alias.location
    return name


def _with(state: _State, event: Event, target: str | None = None) -> _State:
    """After an event; ``target`` is the register that it loads into."""
    if target is None:
        return replace(state, events=(*state.events, event))
    registers = {**state.registers, target: (Read(event.key), frozenset({event.key}))}
    return replace(state, events=(*state.events, event), registers=registers)


def apply(operation: str, left: Expression, right: Expression) -> Expression:
    """``left operation right``, computed where both are known."""
    if isinstance(left, Read | Apply) or isinstance(right, Read | Apply):
        return Apply(operation, left, right)
    value = calculate(operation, left, right)
    if value is None:
        raise InputError(f"'{operation}' of {left} and {right} has no meaning")
    return value


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
