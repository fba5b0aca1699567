"""Loops that wait: the rounds that change nothing, and the models that allow an execution without them if with them.

Example: ``while (exch(lock, 1) != 0)`` waits. Its rounds may be left out of an execution if all other threads that read
a 1 from ``lock`` go round, too.

A backward jump is *idle* where every round that it ends, from its target to itself, can be left out of any execution:

- the target is passed before the jump on every way from the thread's beginning, so that each taking of the jump ends a
  round; an inner loop whose jump lies inside is idle, too, and is left out first;
- each register that a round changes is written again before it is read, by the code or by the condition;
- a round has no barrier, and writes nothing but constants, by read-modify-writes, *that nobody sees*: the condition
  does not ask for the last value of the location, and no read outside of idle rounds can read that value there, for
  what its thread goes on to do would contradict it.

A jump whose rounds have reads and fences alone *spins*: a compare-and-swap that goes round by failing has only read.

Take an execution X, and X' without the events of all idle rounds. The rest of each thread sees equal registers, with
equal sources, so it acts as in X. No read loses its source, for nobody sees what has gone; ``co``, final values that
are asked for and all values read are as before. So each base relation of X' is that of X, restricted to the events that
are left: ``po``, ``loc``, ``rf``, ``co``, ``fr``, scopes, and ``addr``, ``data`` and ``ctrl``, for a dependency is on
the read itself. In particular nothing is put in place of a release sequence that went through an exchange that is gone:
a read of its end reads from an event that is gone, and is gone as well. A total order that a model asks for stays one.
Of ``sync_fence`` pairs that went through an event that is gone may be lost besides. So X' has the outcome of X, and is
allowed if X is, by every model that *forgets rounds*:

- each check that is required is positive (``acyclic``, ``irreflexive``, ``empty``), of a relation that in X' is within
  what it is in X. Unions, intersections, products, compositions, closures and least fixpoints of such relations are
  such relations; so is ``a \\ b``, and ``~b``, where ``b`` in X' is *at least* its restriction. Base relations are, and
  relations made of such by union, intersection, inverse, product and identity, and by composition through events that
  cannot be gone, as a write that is read from by an event that is left, but no other composition or closure;
- flags are of no concern, for nothing that is required depends on them.

Where all rounds that are gone spin, a model need only *forget reads*: through any write a composition is at least its
restriction, too, for no write is gone.

So where the jumps at which runs were cut are all idle, or all spin, and the model forgets rounds, or reads, the parts
that were cut off have no outcome of their own; and solvers, which do not count executions, take jumps that spin once at
most (``oracle.executions.unrolled``).

Compare what GenMC makes of such loops (Kokologiannakis, Ren and Vafeiadis, *Dynamic Partial Order Reductions for
Spinloops*, FMCAD 2021), which waits in place of a round that has no effect. Gap: rounds that undo what they did, as of
a reader who counts itself in and out again, are not idle, for what others then read comes from a write that would be
gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from corpus.errors import InputError
from corpus.litmus.instructions import Load, Rmw
from corpus.litmus.locations import physical
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model, prelude
from oracle.cat.terms import Call, Constant, LetBinding, Linearisation, ModelCheck, Name, Operation, Term
from oracle.executions.events import Apply, EventKind, Expression, Read, reads_in
from oracle.executions.flow import asked_locations, flow_of
from oracle.executions.steps import RunState, Sources, Walker
from oracle.executions.valuations import value_in
from oracle.executions.values import Value, calculate
from oracle.exploration import explore_runs

_MOST_STEPS = 4096
"""The limit of steps of all rounds of a jump together; a jump with more is taken not to be idle."""

_EXACT = frozenset({"union", "intersection", "inverse", "product", "identity", "optional"})
Written = frozenset[tuple[str, Value]]
"""The values that are written to each location."""


@dataclass(frozen=True, slots=True)
class _Effect:
    """The effect of all rounds of a jump besides reading: they take inner jumps, and write constants."""

    inner: frozenset[int]
    writes: Written


def spinning_jumps(test: LitmusTest, number: int) -> frozenset[int]:
    """The places of the backward jumps of a thread that spin."""
    found: set[int] = set()
    for jump, effect in _effects(test, number).items():
        if not effect.writes and effect.inner <= found:
            found.add(jump)
    return frozenset(found)


@lru_cache(maxsize=64)
def idle_jumps(test: LitmusTest) -> tuple[frozenset[int], ...]:
    """The places of the backward jumps of each thread that are idle; those that spin are among them.

    Rounds of several jumps may see each other's writes and be left out together: these are the most jumps that can be.
    """
    alike = _alike(test)
    effects = [_effects(test, number) for number in alike]
    idle = [frozenset(effect) for effect in effects]
    while True:
        written = frozenset[tuple[str, Value]]().union(
            *(effect[jump].writes for effect, jumps in zip(effects, idle, strict=True) for jump in jumps)
        )
        seen = _seen(test, written, dict.fromkeys(zip(alike, idle, strict=True))) if written else written
        fewer = [
            frozenset(jump for jump in jumps if effect[jump].inner <= jumps and not effect[jump].writes & seen)
            for effect, jumps in zip(effects, idle, strict=True)
        ]
        if fewer == idle:
            return tuple(idle)
        idle = fewer


def _alike(test: LitmusTest) -> list[int]:
    """For each thread the first one that has its code: what runs with unknown registers do is the same."""
    flows = [flow_of(test, number) for number in range(len(test.threads))]
    first: dict[object, int] = {}
    return [first.setdefault((flow.code, flow.needed, flow.staying), number) for number, flow in enumerate(flows)]


@lru_cache(maxsize=64)
def _effects(test: LitmusTest, number: int) -> Mapping[int, _Effect]:
    """The effects of rounds, by their jump, where they change no register that is read; inner jumps come first."""
    found: dict[int, _Effect] = {}
    flow = flow_of(test, number)
    for jump, _ in sorted(flow.backward.items(), key=lambda way: (-way[1], way[0])):
        effect = _Round(test, number, jump).effect()
        if effect is not None:
            found[jump] = effect
    return found


def _seen(test: LitmusTest, written: Written, idle: Iterable[tuple[int, frozenset[int]]]) -> Written:
    """Which of the values that idle rounds write may be seen by others, or by the condition. ``idle``: the threads and
    the jumps whose rounds they may leave out.
    """
    locations = {location.name: location for location in test.locations}
    observed = {physical(locations, term.name) for term in asked_locations(test)}
    looks = [_Looks(test, number, jumps) for number, jumps in idle]
    return frozenset(
        (location, value)
        for location, value in written
        if location in observed or any(each.may_see(location, value) for each in looks)
    )


class _Runs(Walker):
    """Runs of a thread that start anywhere, with unknown registers, and take no backward jump."""

    def __init__(self, test: LitmusTest, number: int) -> None:
        super().__init__(test, number, 0)
        names = sorted(frozenset[str]().union(*self.flow.live))
        self._unknown = {name: _unknown(number) for number, name in enumerate(names)}


class _Round(_Runs):
    """Runs that start at the target of a jump, and stay where the jump can be reached."""

    def __init__(self, test: LitmusTest, number: int, jump: int) -> None:
        super().__init__(test, number)
        self._jump_at = jump
        self._target = self.flow.backward[jump]
        self._ends: list[RunState] = []

    def stop(self, state: RunState) -> None:
        """A round is over, or one of an inner loop."""
        super().stop(state)
        if state.pc == self._jump_at:
            self._ends.append(state)

    def effect(self) -> _Effect | None:
        """The effect of the rounds; None where one changes a register that is read after it, or the effect is not
        known."""
        flow, target, jump = self.flow, self._target, self._jump_at
        if target != 0 and jump in flow.reached([0], [target]):
            return None
        inside = flow.reaching(jump, [target])

        def following(state: RunState) -> Iterator[RunState]:
            return (after for after in self.step(state) if after.pc in inside and after.pc != target)

        try:
            for steps, _ in enumerate(explore_runs([RunState(target, self._unknown)], following), 1):
                if steps > _MOST_STEPS:
                    return None
        except InputError:  # not decided where registers are unknown
            return None
        inner = frozenset(pc for pc in self.cut - {jump} if flow.backward[pc] > target)
        writes = [self._writes(end) for end in self._ends]
        known = [write for write in writes if write is not None]
        return _Effect(inner, frozenset[tuple[str, Value]]().union(*known)) if len(known) == len(writes) else None

    def _writes(self, end: RunState) -> Written | None:
        changed = {name for name, value in end.registers.items() if self._unknown.get(name) != value}
        if changed & self.flow.live[self._target]:
            return None
        written = set()
        for event in end.events:
            if event.kind is EventKind.BARRIER:
                return None
            if event.kind is EventKind.WRITE:
                if "RMW" not in event.tags or event.location is None or isinstance(event.value, Read | Apply):
                    return None
                written.add((event.location, event.value))
        return frozenset(written)


class _Looks(_Runs):
    """Runs that start at a read. ``idle``: jumps whose rounds are left out."""

    def __init__(self, test: LitmusTest, number: int, idle: frozenset[int]) -> None:
        super().__init__(test, number)
        self._idle = idle
        self._stopped: list[RunState] = []
        self._begun: dict[int, list[RunState]] = {}

    def stop(self, state: RunState) -> None:
        """Ends a run that would take a backward jump."""
        super().stop(state)
        self._stopped.append(state)

    def may_see(self, location: str, value: Value) -> bool:
        """Whether a read that is not left out may read a value from a location, as far as is known here."""
        places = [pc for pc, ins in enumerate(self.flow.code) if isinstance(ins, Load | Rmw)]
        try:
            return any(self._goes_on(pc, location, value) for pc in places)
        except InputError:  # not decided where registers are unknown
            return True

    def _goes_on(self, pc: int, location: str, value: Value) -> bool:
        """Whether a thread that has read this there may go on, and not to the end of a round that is left out."""

        def allowed(states: Iterable[RunState]) -> list[RunState]:
            return [after for after in states if not _denies(after, location, value)]

        def goes_on(stopped: RunState) -> bool:
            in_round = stopped.pc in self._idle and self.flow.backward[stopped.pc] <= pc
            return not in_round and not _denies(stopped, location, value)

        if pc not in self._begun:
            self._begun[pc] = list(self.step(RunState(pc, self._unknown)))
        self._stopped = []
        for steps, state in enumerate(
            explore_runs(allowed(self._begun[pc]), lambda state: allowed(self.step(state))), 1
        ):
            if state.pc == self.flow.end or steps > _MOST_STEPS or any(map(goes_on, self._stopped)):
                return True
            self._stopped.clear()
        return any(map(goes_on, self._stopped))


def _denies(state: RunState, location: str, value: Value) -> bool:
    """Whether the first read of a run is not of that value from that location."""
    read = next(event for event in state.events if event.kind is EventKind.READ)
    known = {read.key: value}
    return read.location != location or any(
        reads_in(held.left) | reads_in(held.right) == known.keys()
        and calculate(held.operation, value_in(held.left, known), value_in(held.right, known)) != 1
        for held in state.constraints
    )


def _unknown(number: int) -> tuple[Expression, Sources]:
    key = (-2, number)
    return Read(key), frozenset({key})


class _Stays(IntEnum):
    """Whether what a relation starts, or ends, at is left out of no execution: where its other end is not, or ever."""

    UNKNOWN = 0
    WITH_THE_OTHER = 1
    ALWAYS = 2


@dataclass(frozen=True, slots=True)
class _Change:
    """The change of a relation when a round is left out.

    ``within``: it is within what it was; ``kept``: of the events that are left it is at least what it was. ``starts``,
    ``ends``: whether the events at which it starts and ends stay; of a set, both say that of all its events.
    """

    within: bool
    kept: bool
    starts: _Stays = _Stays.UNKNOWN
    ends: _Stays = _Stays.UNKNOWN


Staying = Mapping[str, tuple[_Stays, _Stays]]
"""Whether the events at which base sets and relations start stay, and those at which they end."""

_NEVER = (_Stays.ALWAYS, _Stays.ALWAYS)
_TOGETHER = (_Stays.WITH_THE_OTHER, _Stays.WITH_THE_OTHER)

_WRITES_STAY: Staying = {
    "W": _NEVER,
    "IW": _NEVER,
    "co": _NEVER,
    "rf": (_Stays.ALWAYS, _Stays.UNKNOWN),
    "fr": (_Stays.UNKNOWN, _Stays.ALWAYS),
    "rmw": _TOGETHER,
}
_SEEN_WRITES_STAY: Staying = {
    "IW": _NEVER,
    "rf": (_Stays.WITH_THE_OTHER, _Stays.UNKNOWN),
    "rmw": _TOGETHER,
}


def forgets_reads(model: Model) -> bool:
    """Whether the model allows an execution without the rounds that spin if it allows the one with them."""
    return _forgets(model, reads=True)


def forgets_rounds(model: Model) -> bool:
    """Whether the model allows an execution without the rounds that are idle if it allows the one with them."""
    return _forgets(model, reads=False)


@lru_cache(maxsize=64)
def _forgets(model: Model, reads: bool) -> bool:
    if model.syntax.over_members is not None:  # not all that it requires is known
        return False
    changes = _Changes(_WRITES_STAY if reads else _SEEN_WRITES_STAY)
    names: dict[str, _Change | _Function] = {}
    for statement in model.syntax.statements:
        if isinstance(statement, ModelCheck):
            if not statement.flag and (statement.negated or not changes.of(statement.body, names).within):
                return False
        elif isinstance(statement, Linearisation):
            names[statement.name] = changes.of(statement.events, names)
        elif statement.recursive:
            recursive = dict.fromkeys((binding.name for binding in statement.bindings), _Change(True, False))
            within = all(changes.of(binding.body, {**names, **recursive}).within for binding in statement.bindings)
            names |= dict.fromkeys(recursive, _Change(within, False))
        else:
            names |= {
                binding.name: _Function(binding, dict(names)) if binding.parameters else changes.of(binding.body, names)
                for binding in statement.bindings
            }
    return True


@dataclass(frozen=True, slots=True)
class _Function:
    binding: LetBinding
    names: Mapping[str, _Change | _Function]


@dataclass(frozen=True, slots=True)
class _Changes:
    staying: Staying

    def of(self, term: Term, names: Mapping[str, _Change | _Function]) -> _Change:
        """The change of a term's value when a round is left out."""
        match term:
            case Name(name):
                known = names.get(name)
                if isinstance(known, _Change):
                    return known
                line = prelude().get(name)
                if line is None or name == "fr":  # the write that fr leads through has been read, and is not gone
                    return _Change(True, name != "sync_fence", *self.staying.get(name, ()))
                return self.of(line.body, {})
            case Operation("difference", (Name("W"), Name("RMW"))) if not {"W", "RMW"} & names.keys():
                return _Change(True, True, *_NEVER)  # idle rounds write by read-modify-writes alone
            case Constant():
                return _Change(True, True)
            case Call(name, arguments):
                given = [self.of(argument, names) for argument in arguments]
                function = names.get(name)
                if function is None and name in prelude():
                    function = _Function(prelude()[name], {})
                if isinstance(function, _Function):
                    inner = {**function.names, **dict(zip(function.binding.parameters, given, strict=True))}
                    return self.of(function.binding.body, inner)
                return _Change(all(one.within for one in given), False)
            case Operation(kind, operands):
                return _operated(kind, [self.of(operand, names) for operand in operands])


def _operated(kind: str, parts: Sequence[_Change]) -> _Change:
    """The change of a relation that an operator makes of others, given their changes."""
    first, last = parts[0], parts[-1]
    if kind == "complement":
        return _Change(first.kept, first.within)
    if kind == "difference":
        return _Change(first.within and last.kept, first.kept and last.within, first.starts, first.ends)
    kept = all(one.kept for one in parts)
    if kind == "compose":
        kept = kept and all(one.ends or other.starts for one, other in pairwise(parts))
    elif kind not in _EXACT:
        kept = False
    return _Change(all(one.within for one in parts), kept, *_stays(kind, parts))


def _stays(kind: str, parts: Sequence[_Change]) -> tuple[_Stays, _Stays]:
    """Whether what it starts at stays, and what it ends at."""
    first, last = parts[0], parts[-1]
    starts, ends = [one.starts for one in parts], [one.ends for one in parts]
    match kind:
        case "union":
            return min(starts), min(ends)
        case "intersection":
            return max(starts), max(ends)
        case "inverse":
            return first.ends, first.starts
        case "product":
            return first.starts, last.ends
        case "identity":
            return max(first.starts, _Stays.WITH_THE_OTHER), max(first.ends, _Stays.WITH_THE_OTHER)
        case "compose":  # back from the end, or on from the start, each part stays with the one before
            return (
                _Stays.ALWAYS if first.starts is _Stays.ALWAYS else min(starts),
                _Stays.ALWAYS if last.ends is _Stays.ALWAYS else min(ends),
            )
        case "optional":
            return min(first.starts, _Stays.WITH_THE_OTHER), min(first.ends, _Stays.WITH_THE_OTHER)
    return _Stays.UNKNOWN, _Stays.UNKNOWN
