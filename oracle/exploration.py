"""The exploration of systems of states: every state in reach of some is found once, up to a limit.

>>> def halves(number):
...     return [number // 2, (number + 1) // 2]
>>> list(explore([5], halves))
[5, 2, 3, 1, 0]

``explore`` yields states, so that whoever has seen enough stops. Whoever records what steps lead to asks
``FoundStates`` for the numbers of states, and goes through those that wait. ``shortest_run`` keeps by which step each
was found. ``explore_runs`` is for what cannot be found twice: runs, which are told apart by all that they have done.

A graph whose nodes are all known needs no limit (``corpus.graphs``), and one in an array no states one by one
(``oracle.progress.fast.arrays``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from corpus.errors import InputError

State = TypeVar("State", bound=Hashable)
Step = TypeVar("Step")
Run = TypeVar("Run")


class NoVerdictError(InputError):
    """The error for a test whose transition system is too large, or has a step without meaning."""


class StateLimitError(NoVerdictError):
    """The error for a test with more states than the limit, on which there is no verdict."""


class StateLimit(NamedTuple):
    """The greatest number of states that are explored, and the error where there are more."""

    most: int
    error: InputError


class FoundStates(dict[State, int], Generic[State]):
    """The number of each state that is found, from 0 on. To look up a state that is not known is to find it.

    ``waiting`` has the states that nobody has taken from it, in the order in which they were found.
    """

    __slots__ = ("_limit", "_most", "waiting")

    def __init__(self, starts: Iterable[State], limit: StateLimit | None) -> None:
        self._limit = limit
        self._most = sys.maxsize if limit is None else limit.most
        self.waiting: list[State] = []
        for start in starts:
            self[start]  # which finds it

    def __missing__(self, state: State) -> int:
        number = self[state] = len(self)
        if number >= self._most and self._limit is not None:
            raise self._limit.error
        self.waiting.append(state)
        return number


def explore(
    starts: Iterable[State],
    successors: Callable[[State], Iterable[State]],
    limit: StateLimit | None = None,
    depth_first: bool = False,
) -> Iterator[State]:
    """Each state in reach of ``starts``, before the states that follow it; nearer ones first, or else ``depth_first``,
    of which the last found is the first.

    Raises the error of the limit.
    """
    found = FoundStates(starts, limit)
    waiting = found.waiting
    for state in _popped(waiting) if depth_first else waiting:  # grows during the walk
        yield state
        for after in successors(state):
            found[after]


def _popped(waiting: list[State]) -> Iterator[State]:
    while waiting:
        yield waiting.pop()


def shortest_run(
    starts: Iterable[State],
    steps: Callable[[State], Iterable[tuple[Step, State]]],
    is_goal: Callable[[State], bool],
    limit: StateLimit | None = None,
) -> list[Step] | None:
    """The steps of a shortest run from one of ``starts`` to a goal; None where no goal is in reach.

    Of several, it is the one whose steps come first. Raises the error of the limit.
    """
    found = FoundStates(starts, limit)
    if any(map(is_goal, found)):
        return []
    by: list[tuple[int, Step] | None] = [None] * len(found)  # of each state the step that found it, and from which one
    for number, state in enumerate(found.waiting):  # grows during the walk
        for step, after in steps(state):
            if after not in found:
                found[after]  # which finds it
                by.append((number, step))
                if is_goal(after):
                    return _steps_to(by)
    return None


def _steps_to(by: Sequence[tuple[int, Step] | None]) -> list[Step]:
    """The steps that lead to the last state, by those that found each."""
    run = []
    last = by[-1]
    while last is not None:
        run.append(last[1])
        last = by[last[0]]
    return run[::-1]


def explore_runs(starts: Iterable[Run], following: Callable[[Run], Iterable[Run]]) -> Iterator[Run]:
    """Each run, before those that go on from it; one is followed to its end before the next one is begun."""
    waiting = [*starts][::-1]
    while waiting:
        run = waiting.pop()
        yield run
        waiting += reversed([*following(run)])
