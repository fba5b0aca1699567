"""Why a repair needs each of its changes: an execution that is there without the change, and how the change forbids it.

Two calls of a solver for each change: with all other changes the model allows an execution that is asked for; the same
execution, its reads and coherence and all, fails a check with the change. Where the change makes another one of it
(an order of fences that was not there is chosen), any one with the same reads and coherence shows how.
"""

from __future__ import annotations

from dataclasses import dataclass

from constraints.repairs import Levels, RepairableProgram
from constraints.witnesses import violated
from oracle.executions.witness import CandidateExecution, Violation


@dataclass(frozen=True, slots=True)
class Cut:
    """What a change cuts. ``before``: an execution without it, which raises ``flags``; ``after``: how it fails with the
    change, None where it is not wrong any more (it raises no flag).
    """

    before: CandidateExecution
    flags: tuple[str, ...]
    after: Violation | None


def cut_of(program: RepairableProgram, levels: Levels, weaker: Levels) -> Cut | None:
    """What the step from weaker levels to others cuts; None where that is nothing."""
    left = program.left(weaker)
    if left is None:
        return None
    failing = program.failing(left, levels)
    after = None if failing is None else violated(program.model, failing.failed, failing.execution)
    return Cut(left.execution, left.flags, after)
