"""The reason why a repair needs each of its changes: an execution that only that change forbids, and how it does.

A solver is called twice for each change. First, with all changes but this one, the model allows an execution that is
asked for. Second, with this change, that execution with its reads-from and coherence fails a check. Where the change
turns it into another execution, since an order of fences is chosen that did not exist, any execution with equal
reads-from and coherence shows how.
"""

from __future__ import annotations

from dataclasses import dataclass

from constraints.repairs import Levels, RepairableProgram
from constraints.witnesses import violated
from oracle.executions.witness import CandidateExecution, Violation


@dataclass(frozen=True, slots=True)
class Cut:
    """The executions that a change forbids, by an example.

    ``before``: an execution without the change, which raises ``flags``. ``after``: how the execution fails with the
    change, None where nothing is wrong with it any more (it raises no flag).
    """

    before: CandidateExecution
    flags: tuple[str, ...]
    after: Violation | None


def cut_of(program: RepairableProgram, levels: Levels, weaker: Levels) -> Cut | None:
    """An example of the executions that the step from weaker levels to other levels forbids; None where it forbids
    none."""
    left = program.left(weaker)
    if left is None:
        return None
    failing = program.failing(left, levels)
    after = None if failing is None else violated(program.model, failing.failed, failing.execution)
    return Cut(left.execution, left.flags, after)
