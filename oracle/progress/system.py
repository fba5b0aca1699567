"""What models, lassos and pictures know of a program's labelled transition system, whatever it is written in.

AXB programs (``oracle.progress.lts``) and litmus tests (``oracle.progress.litmus``) each make one. The letters are
thread ids; a thread takes a step wherever it has one. A model sees the rows of ``successors`` and nothing else: a
thread is *running* in a state where its row has an entry, so one that has ended is not, nor is one that waits at a
barrier for others. That is what Dartagnan calls schedulable: HSA's promise to the lowest thread passes on to the next
one while the lowest waits, as a thread that is blocked delegates its guarantee in C++ ([intro.progress] 14).

A state in which somebody waits and nobody has a step is never left. There each waiting thread has a step to itself, so
that every model sees a cycle on which all that it promises are kept: a program that can get there may hang under every
model.

What a step does is settled, but for *chances*: a thread may take such a step in place of its own, and does so finitely
often. So chances lead to states, and are part of no cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from oracle.graphs import NO_EDGE

NO_STEP = NO_EDGE
"""Marks, in a row of successors, a thread that takes no step: it has ended, or waits."""

Rows = Sequence[tuple[int, ...]]
"""``rows[s][t]`` is the state after a step of thread ``t`` from state ``s``, or ``NO_STEP``; 0 is the start."""


@dataclass(frozen=True, slots=True)
class Action:
    """A step as people read it: the instruction, its text, whether its branch is taken (None: it has none).

    ``outcome`` is what else there is to say of it, such as the value that it reads.
    """

    instruction: int
    text: str
    taken: bool | None = None
    outcome: str = ""


class TransitionSystem(Protocol):
    """A transition system. Sequences are by state, the start is 0, within a state by location or thread."""

    @property
    def successors(self) -> Rows:
        """The steps."""

    @property
    def chances(self) -> Rows:
        """Steps that a thread may take instead, though not for ever; in the same form, empty where there are none."""

    @property
    def memories(self) -> Sequence[tuple[int | str, ...]]:
        """The values of the locations, numbers and what else there is, as it is written."""

    @property
    def counters(self) -> Sequence[tuple[int, ...]]:
        """The instruction at which each thread is."""

    @property
    def locations(self) -> tuple[str, ...]:
        """The names of the locations, none where they have numbers."""

    @property
    def ends(self) -> tuple[int, ...]:
        """The counter of each thread that has ended."""

    def waiting(self, state: int) -> int:
        """The mask of threads that wait at a barrier."""

    def action(self, state: int, thread: int) -> Action:
        """The step of a thread from a state; the thread must not have ended."""


def having_steps(row: Sequence[int]) -> int:
    """The mask of threads that have a step in a row."""
    return sum(1 << thread for thread, after in enumerate(row) if after != NO_STEP)
