"""The two operational models of GPU memory of Sorensen 2013 (chapter 4), explored to their final states.

``thesis-weak`` (section 4.2): each thread has its own copy of memory, borrows values from others, and loads pass each
other in its load pool. ``thesis-strong`` (section 4.3, Fig. 4.2): each block has one copy of global and of shared
memory, with one flag a location; there is no load pool and nothing to borrow. For the strong model the thesis lists no
rules. They are read here as those of the weak one with blocks for threads: a store is seen in its block when it leaves
its queue, and by the other blocks once the block has shared the location, at any time or at latest by the TF of one of
its threads; TFB orders a thread's queues and does nothing more.

``membar.cta`` is TFB, ``membar.gl`` and ``membar.sys`` are TF. Cache operators and ``volatile`` have no effect. Other
instructions that the thesis does not cover are refused as ``UnmodelledError``. A block is a CTA, all threads are on one
device.

Slips of the listing, read as what they must mean: ``GlobalShared`` is the flag GS, ``.S`` is LS; the closing "mark as
merged" of a fence sets flags of every location; ``lp_not_locking`` tells a global address from an equal shared one; a
shared location's guard ``!B`` for sharing is what Table 4.1 says of every copy that is to be shared.

*Final memory*, which the thesis does not define, is what one more thread, alone in its block (for shared memory: in
that block), has as its copy once all threads are done and nothing is left to share. All copies that are not borrowed
agree with it; a borrowed one may be stale for ever, where what was borrowed has been overwritten before it was shared.

The thesis calls the strong model strictly stronger. By the listing that is so for tests of two threads, of one block
and of one thread a block, but not beyond: within a block the weak model passes a value on by one borrowing, TFB, or
sharing with the whole device, and the strong one at every store. ``tests/differential/test_operational_rules.py`` has
the smallest difference that we know. Nor is the weak model quite coherent: a value may be shared, and overwrite another
everywhere, after that other was written by a thread that had borrowed it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from corpus.litmus.locations import Loc
from corpus.litmus.propositions import FinalRegister, Proposition, Term
from corpus.litmus.test import LitmusTest
from oracle.executions.values import Value, holds
from oracle.exploration import StateLimit, StateLimitError, shortest_run
from oracle.exploration import explore as explore_states
from oracle.operational.system import Do, Final, OperationalSystem, Share, SystemState
from oracle.operational.thread import UnmodelledError

__all__ = ["FinalStates", "UnmodelledError", "explore", "satisfies", "witness"]

MOST_STATES = 500_000
"""The default limit of states at which an exploration gives up."""


@dataclass(frozen=True, slots=True)
class FinalStates:
    """The final states of a test.

    ``terms`` are the terms that its condition mentions and observes: registers by thread and name, then locations by
    name. ``bounded``: a run was cut at a loop, and there may be more final states. ``states`` is how many were
    explored.
    """

    terms: tuple[FinalRegister | Loc, ...]
    finals: frozenset[Final]
    bounded: bool
    states: int


def satisfies(terms: tuple[FinalRegister | Loc, ...], final: Final, proposition: Proposition) -> bool:
    """Whether a proposition over ``terms`` is true in a final state."""
    values: dict[Term, Value] = dict(zip(terms, final, strict=True))
    return holds(proposition, lambda term: term if isinstance(term, int) else values[term])


def explore(test: LitmusTest, strong: bool, unroll: int = 2, limit: int = MOST_STATES) -> FinalStates:
    """All final states of a test under ``thesis-strong`` or ``thesis-weak``.

    Each backward jump is taken at most ``unroll`` times. Raises ``UnmodelledError`` and ``StateLimitError``.
    """
    system = OperationalSystem(test, strong, unroll)

    def successors(state: SystemState) -> Iterator[SystemState]:
        return (after for _, after in _steps(system, state))

    states = explore_states(system.start(), successors, _limit(test, limit), depth_first=True)
    finals = [system.final(state) for state in states]
    found = frozenset(final for final in finals if final is not None)
    return FinalStates(system.terms, found, system.cut, len(finals))


def witness(
    test: LitmusTest, strong: bool, proposition: Proposition, unroll: int = 2, limit: int = MOST_STATES
) -> tuple[str, ...] | None:
    """A shortest run to a final state in which the proposition is true, a line a step; None where there is none.

    The proposition may mention the terms that the test's condition mentions. Each backward jump is taken at most
    ``unroll`` times. Raises ``UnmodelledError`` where an instruction is not covered, and ``StateLimitError`` where
    there are more than ``limit`` states.
    """
    system = OperationalSystem(test, strong, unroll)

    def is_goal(state: SystemState) -> bool:
        final = system.final(state)
        return final is not None and satisfies(system.terms, final, proposition)

    run = shortest_run(system.start(), partial(_steps, system), is_goal, _limit(test, limit))
    return None if run is None else tuple(system.describe(run))


def _steps(system: OperationalSystem, state: SystemState) -> Iterator[tuple[Do | Share, SystemState]]:
    """The steps from a state to others, of which a final state has none."""
    if system.final(state) is None:
        for step in system.steps(state):
            after = system.after(state, step)
            if after is not None:
                yield step, after


def _limit(test: LitmusTest, most: int) -> StateLimit:
    return StateLimit(most, StateLimitError(f"{test.name} has more than {most} states in the operational model"))
