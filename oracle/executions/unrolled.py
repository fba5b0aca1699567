"""The merged unrolling of a thread: a graph in which paths that meet again go on as one.

The places of a thread are unrolled by how often each backward jump that may still come has been taken, which makes a
graph without cycles. Its size is that of the program times the combinations of those counts, although the paths through
it may be exponentially many. The value of a register where ways meet is a *merge*: it is the value on the way that was
taken, and so are the reads that it comes from.

An expression names a merge as it names a read, by its key. ``oracle.executions.steps`` defines the steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from corpus.graphs import topological
from corpus.litmus.test import LitmusTest
from oracle.executions.events import Event, Expression, Read
from oracle.executions.spins import spinning_jumps
from oracle.executions.steps import Constraint, Key, RunState, Sources, TooManyError, Walker

MOST_PLACES = 1 << 14
"""The limit of places of an unrolled thread; a thread with more is refused."""


@dataclass(frozen=True, slots=True)
class Move:
    """The effect of one instruction on one way: from a node to a node, if its constraints hold."""

    source: int
    target: int
    events: tuple[Event, ...]
    constraints: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """A value where ways meet: for each step that leads there its value, and the reads (and merges) it comes from."""

    key: Key
    options: tuple[tuple[int, Expression, Sources], ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the unrolled thread: a program counter, with how often backward jumps that may still come were taken.

    ``registers``: the values there of the registers that may be read. ``cuts``: what holds where a run goes on by a
    backward jump that was taken too often, with the place of the jump.
    """

    pc: int
    jumps: Mapping[int, int]
    registers: Mapping[str, Expression]
    cuts: tuple[tuple[int, tuple[Constraint, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Unrolled:
    """An unrolled thread. ``nodes`` are numbered from 0, the start, so that steps lead upwards; ``steps`` are in that
    order.

    ``end`` is the node where the thread ends, None where no way leads there. Each merge has its options in terms of
    reads and earlier merges. ``registers``: their values at the end, of those that the condition asks for. ``cut``: as
    in ``Paths``.
    """

    nodes: tuple[Node, ...]
    steps: tuple[Move, ...]
    end: int | None
    merges: tuple[Merge, ...]
    registers: Mapping[str, Expression]
    cut: frozenset[int]

    @property
    def bounded(self) -> bool:
        """Whether longer ways through the thread were left out."""
        return bool(self.cut)


@lru_cache(maxsize=4)
def merged_threads(test: LitmusTest, unroll: int, once: bool = False, for_ever: bool = False) -> tuple[Unrolled, ...]:
    """Each thread unrolled, each backward jump taken at most ``unroll`` times; with ``once``, those that spin at most
    once.

    To a model that forgets reads further rounds of these make no difference (``oracle.executions.spins``); one of them
    is enough for what its flags say of an event. ``for_ever``: a thread may stay at any barrier. Raises ``InputError``
    where an address is no location of the test, and ``TooManyError`` where a thread has more than ``MOST_PLACES``
    places.
    """
    return tuple(_Merger(test, number, unroll, once, for_ever).unrolled() for number in range(len(test.threads)))


_Place = tuple[int, tuple[tuple[int, int], ...]]
"""A program counter, and how often the backward jumps that may still come have been taken, where they have."""


class _Merger(Walker):
    def __init__(self, test: LitmusTest, number: int, unroll: int, once: bool, for_ever: bool) -> None:
        super().__init__(test, number, unroll, for_ever)
        self._once = spinning_jumps(test, number) if once else frozenset[int]()
        self._test = test
        self._node = 0
        self._keys: dict[tuple[int, int, tuple[int, ...]], Key] = {}
        self._merges: dict[Key, Merge] = {}
        self._cuts: list[tuple[int, tuple[Constraint, ...]]] = []

    def key(self, state: RunState) -> Key:
        """Events are numbered as they are met, which orders those of each way; what two ways share has one number."""
        found = self._node, len(state.events), state.outcomes
        return self._keys.setdefault(found, (self.number, len(self._keys)))

    def most(self, pc: int) -> int:
        """The greatest number of times that the backward jump at a place is taken."""
        most = super().most(pc)
        return min(most, 1) if pc in self._once else most

    def meanings(self, value: Expression) -> tuple[Expression, ...]:
        """The expressions that a merge may be; those of an inner merge, where it merges merges."""
        if isinstance(value, Read) and value.event in self._merges:
            options = self._merges[value.event].options
            return tuple(dict.fromkeys(meaning for _, option, _ in options for meaning in self.meanings(option)))
        return (value,)

    def stop(self, state: RunState) -> None:
        """Remembers what the run would take the jump for."""
        super().stop(state)
        self._cuts.append((state.pc, state.constraints))

    def unrolled(self) -> Unrolled:
        """The whole thread, unrolled, with ways merged where they meet."""
        start = self.start()
        arrived: dict[_Place, list[tuple[int, RunState]]] = {self._place(start): [(-1, start)]}
        made: list[tuple[int, RunState, RunState]] = []
        targets: dict[int, int] = {}
        end: int | None = None
        registers: dict[str, Expression] = {}
        nodes: list[Node] = []
        for place in self._places(start):
            arrivals = arrived.pop(place, [])
            if not arrivals:
                continue
            self._node, self._cuts = len(nodes), []
            targets |= {step: self._node for step, _ in arrivals}
            state = self._met(place, arrivals)
            known = {name: value for name, (value, _) in state.registers.items()}
            if state.pc == self.flow.end:
                end, registers = self._node, known
            else:
                for after in self.step(state):
                    arrived.setdefault(self._place(after), []).append((len(made), after))
                    made.append((self._node, state, after))
            nodes.append(Node(state.pc, state.jumps, known, tuple(self._cuts)))
        steps = tuple(
            Move(source, targets[number], after.events, after.constraints[len(before.constraints) :])
            for number, (source, before, after) in enumerate(made)
        )
        return Unrolled(tuple(nodes), steps, end, tuple(self._merges.values()), registers, frozenset(self.cut))

    def _places(self, start: RunState) -> list[_Place]:
        """Every place that a run may come to, in an order of all runs."""
        seen = 0

        def after(place: _Place) -> Iterator[_Place]:
            nonlocal seen
            seen += 1
            if seen > MOST_PLACES:
                raise TooManyError(f"P{self.number} unrolls to more than {MOST_PLACES} places")
            pc, counts = place
            for following in self.flow.successors[pc]:
                jumps = dict(counts)
                if following <= pc:
                    jumps[pc] = jumps.get(pc, 0) + 1
                if jumps.get(pc, 0) <= self.most(pc):
                    yield self._place(RunState(following, jumps=jumps))

        return topological(self._place(start), after)

    def _place(self, state: RunState) -> _Place:
        ahead = self.flow.ahead[state.pc]
        return state.pc, tuple(sorted((jump, count) for jump, count in state.jumps.items() if jump in ahead))

    def _met(self, place: _Place, arrivals: Sequence[tuple[int, RunState]]) -> RunState:
        """The ways that lead to a place as one."""
        states = [state for _, state in arrivals]
        nothing: tuple[Expression, Sources] = 0, frozenset()
        registers = {
            name: self._merged([(step, *state.registers.get(name, nothing)) for step, state in arrivals])
            for name in sorted(self.flow.live[place[0]])
        }
        _, control = self._merged([(step, 0, state.control) for step, state in arrivals])
        known = states[0].constraints
        known = tuple(held for held in known if all(held in state.constraints for state in states[1:]))
        return RunState(place[0], registers, (), known, control, (), dict(place[1]))

    def _merged(self, options: Sequence[tuple[int, Expression, Sources]]) -> tuple[Expression, Sources]:
        _, value, sources = options[0]
        if all(option[1:] == (value, sources) for option in options):
            return value, sources
        key = (self.number, -1 - len(self._merges))
        self._merges[key] = Merge(key, tuple(options))
        return Read(key), frozenset({key})
