"""The paths through each thread of a litmus test: its program unrolled, one path for each row of outcomes of its forks.

``oracle.executions.steps`` defines the steps. Paths share the events of a common beginning. Paths longer than the bound
on loops allows are dropped, and the thread says at which jumps; ``oracle.executions.spins`` decides whether that can
matter.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from corpus.litmus.instructions import Barrier, Branch, Rmw
from corpus.litmus.locations import Location
from corpus.litmus.propositions import FinalRegister, Term
from corpus.litmus.test import LitmusTest, plain_locations
from corpus.litmus.threads import Thread
from oracle.executions.events import ORDERS, Event, Expression
from oracle.executions.flow import asked_terms
from oracle.executions.steps import Constraint, RunState, TooManyError, Walker
from oracle.exploration import explore_runs

MOST_PATHS = 4096
"""The limit of paths through a thread; a thread with more is refused."""

MOST_STEPS = 1 << 17
"""The limit of steps on all paths of a thread, cut ones among them; a thread with more is refused. Late steps count
for more."""


@dataclass(frozen=True)
class Path:
    """One path through a thread, from its beginning to its end: its events, constraints and final registers."""

    events: tuple[Event, ...]
    constraints: tuple[Constraint, ...]
    registers: Mapping[str, Expression]

    @cached_property
    def tags(self) -> tuple[frozenset[str], ...]:
        """The names of the sets that each event is in."""
        return tuple(event.tags for event in self.events)

    @cached_property
    def shape(self) -> Hashable:
        """The path without the memory orders of its events, except those of ``fence.sc``, which executions order."""
        events = tuple(
            event if {"F", "SC"} <= event.tags else replace(event, tags=event.tags - ORDERS) for event in self.events
        )
        return events, self.constraints, tuple(sorted(self.registers.items()))


@dataclass(frozen=True)
class Paths:
    """All paths through a thread. ``cut``: the backward jumps at which paths beyond the bound were left out."""

    paths: tuple[Path, ...]
    cut: frozenset[int] = frozenset()

    @cached_property
    def shape(self) -> object:
        """The key that two threads share which differ in memory orders alone, if they have been compared lately."""
        return _shape(tuple(path.shape for path in self.paths))

    @property
    def bounded(self) -> bool:
        """Whether some paths were left out, since they are longer than the bound."""
        return bool(self.cut)


@lru_cache(maxsize=1 << 12)
def _shape(shape: Hashable) -> object:
    return object()


def unroll_threads(test: LitmusTest, unroll: int) -> tuple[Paths, ...]:
    """The paths through each thread, each backward jump taken at most ``unroll`` times.

    Raises ``InputError`` where an address is no location of the test, and ``TooManyError`` where a thread has more than
    ``MOST_PATHS`` paths, or they more than ``MOST_STEPS`` steps.
    """
    found = _unrolled_threads(test, unroll)
    if isinstance(found, TooManyError):
        raise found
    return found


@lru_cache(maxsize=4)  # models judge a test in turn, and a limit that it exceeds is exceeded for all
def _unrolled_threads(test: LitmusTest, unroll: int) -> tuple[Paths, ...] | TooManyError:
    observed, plain = asked_terms(test), plain_locations(test)
    parts = [
        _Part(
            number,
            thread,
            test.locations,
            tuple(term for term in observed if isinstance(term, FinalRegister) and term.thread == number),
            unroll,
            plain,
            test,
        )
        for number, thread in enumerate(test.threads)
    ]
    try:
        return tuple(_remembered(part) if is_small(part.thread) else _unrolled(part) for part in parts)
    except TooManyError as error:
        return error


@dataclass(frozen=True, slots=True)
class _Part:
    """A thread, and all that its paths depend on; the test besides, which it is a part of."""

    number: int
    thread: Thread
    locations: tuple[Location, ...]
    observed: tuple[Term, ...]
    unroll: int
    plain: frozenset[str]
    test: LitmusTest = field(compare=False)


def is_small(thread: Thread) -> bool:
    """Whether a thread has few branches, barriers and read-modify-writes, and so few paths."""
    return sum(isinstance(ins, Branch | Barrier | Rmw) for ins in thread.instructions) <= _FEW


def _unrolled(part: _Part) -> Paths:
    walker = Walker(part.test, part.number, part.unroll)
    paths = []
    for path in _paths(walker):
        paths.append(path)
        if len(paths) > MOST_PATHS:
            raise TooManyError(f"P{part.number} has more than {MOST_PATHS} ways through it")
    return Paths(tuple(paths), frozenset(walker.cut))


_remembered = lru_cache(maxsize=1024)(_unrolled)  # tests of a suite have threads in common
_FEW = 3


def _paths(walker: Walker) -> Iterator[Path]:
    def following(state: RunState) -> Iterable[RunState]:
        return () if state.pc == walker.flow.end else walker.step(state)

    steps = 0
    for state in explore_runs([walker.start()], following):
        if state.pc == walker.flow.end:
            registers = {name: value for name, (value, _) in state.registers.items()}
            yield Path(state.events, state.constraints, registers)
            continue
        steps += 1 + (len(state.events) + len(state.constraints)) // 8  # which a step copies and looks through
        if steps > MOST_STEPS:
            raise TooManyError(f"the ways through P{walker.number} have more than {MOST_STEPS} steps")
