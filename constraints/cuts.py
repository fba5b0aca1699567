"""Why a repair needs each of its changes: an execution that is there without the change, and how the change forbids it.

Two calls of a solver for each change: with all other changes the model allows an execution that is asked for; the same
execution, its reads and coherence and all, fails a check with the change. Where the change makes another one of it
(an order of fences that was not there is chosen), any one with the same reads and coherence shows how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from constraints.repairs import Levels, Program
from constraints.witnesses import decoded, violated
from oracle.executions.witness import Execution, Violation


@dataclass(frozen=True, slots=True)
class Cut:
    """What a change cuts. ``before``: an execution without it, which raises ``flags``; ``after``: how it fails with the
    change, None where it is not wrong any more (it raises no flag).
    """

    before: Execution
    flags: tuple[str, ...]
    after: Violation | None


def cut_of(program: Program, levels: Levels, weaker: Levels) -> Cut | None:
    """What the step from weaker levels to others cuts; None where that is nothing."""
    executions, left = program.executions, program.left(weaker)
    if left is None:
        return None
    before = _decoded(program, left)
    flags = tuple(name for name, literal in executions.flags.items() if literal.holds(left))
    same = [
        literal.as_in(left)
        for relation in (executions.rf, executions.co)
        for row in relation
        for literal in row.values()
    ]
    failing = program.at(levels, [~program.passes, *same])
    if failing is None:
        return Cut(before, flags, None)
    number = next(n for n, check in enumerate(executions.checks) if not check.holds(failing))
    return Cut(before, flags, violated(program.model, number, _decoded(program, failing)))


def _decoded(program: Program, model: Sequence[int]) -> Execution:
    return decoded(program.executions, program.values, frozenset(number for number in model if number > 0))
