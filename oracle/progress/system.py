"""The interface of a program's labelled transition system, as models, lassos and pictures use it.

AXB programs (``oracle.progress.lts``) and litmus tests (``oracle.progress.litmus``) each make one. The letters are
thread ids; a thread takes a step wherever it has one. A model sees the rows of ``successors`` and nothing else: a
thread is *running* in a state where its row has an entry, which Dartagnan calls schedulable. A thread that has ended is
not running, nor is one that waits at a barrier for others. So HSA's promise to the lowest thread passes on to the next
one while the lowest waits, as a thread that is blocked delegates its guarantee in C++ ([intro.progress] 14).

A state in which somebody waits and nobody has a step is never left. There each waiting thread has a step to itself, so
that every model sees a cycle on which all that it promises are kept: a program that can get there may hang under every
model.

The effect of a step is determined, except for *chances*: a thread may take such a step in place of its own, and does so
finitely often. So chances lead to states, and are part of no cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from corpus.graphs import NO_EDGE

NO_STEP = NO_EDGE
"""The entry of a row of successors for a thread that takes no step: it has ended, or waits."""


Rows = Sequence[tuple[int, ...]]
"""``rows[s][t]`` is the state after a step of thread ``t`` from state ``s``, or ``NO_STEP``; 0 is the start."""


@dataclass(frozen=True, slots=True)
class Action:
    """A step as people read it: the instruction, its text, whether its branch is taken (None: it has none).

    ``outcome`` has further facts about the step, such as the value that it reads.
    """

    instruction: int
    text: str
    taken: bool | None = None
    outcome: str = ""


class TransitionSystem(Protocol):
    """A transition system. Sequences are by state, the start is 0, within a state by location or thread."""

    @property
    def successors(self) -> Rows:
        """The successors of each state, by thread: the state after its step, or ``NO_STEP``."""

    @property
    def chances(self) -> Rows:
        """The steps that a thread may take in place of its own, though not for ever, as rows of successors; empty
        where there are none."""

    @property
    def memories(self) -> Sequence[tuple[int | str, ...]]:
        """The values of the locations in each state: numbers, and other values as they are written."""

    @property
    def counters(self) -> Sequence[tuple[int, ...]]:
        """The instruction at which each thread is, in each state."""

    @property
    def locations(self) -> tuple[str, ...]:
        """The names of the locations, none where they have numbers."""

    @property
    def ends(self) -> tuple[int, ...]:
        """The program counter by which each thread has ended."""

    def waiting(self, state: int) -> int:
        """The mask of threads that wait at a barrier."""

    def masked(self, state: int) -> int:
        """The mask of lanes that wait for others of their subgroup to reconverge with them; a part of ``waiting``."""

    def action(self, state: int, thread: int) -> Action:
        """The step of a thread from a state; the thread must not have ended."""


def having_steps(row: Sequence[int]) -> int:
    """The mask of threads that have a step in a row of successors."""
    return sum(1 << thread for thread, after in enumerate(row) if after != NO_STEP)
