"""The verdicts of all models of a sketch on a litmus test at once, as the set of models that allow its outcome.

Each candidate execution that has the outcome is judged once, over an algebra whose truths are sets of models
(``oracle.inference.model_sets``). Example: of the sketch ``acyclic (?po: po) | rf | co | fr``, the models that allow
store buffering are those without ``po``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from corpus.litmus.test import LitmusTest
from oracle.cat.algebra import Algebra, Relation, Set
from oracle.cat.base import Base
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import candidates
from oracle.executions.threads import unroll_threads
from oracle.inference.model_sets import ModelSet, algebra_of
from oracle.inference.sketch import Sketch


@dataclass(frozen=True)
class OneExecution:
    """The base of one execution, of a base of several candidates, whose truths are sets of models.

    ``candidate`` is its bit. What fills holes is answered by their variables.
    """

    base: Base[int]
    candidate: int
    sketch: Sketch

    @cached_property
    def algebra(self) -> Algebra[ModelSet]:
        """The algebra of sets of models over the events of the execution."""
        return algebra_of(self.sketch.valid, self.base.algebra.size)

    def value(self, name: str) -> Set[ModelSet] | Relation[ModelSet] | None:
        """The set or relation of a name, None where the base has none."""
        if name in self.sketch.space:
            here = self.sketch.space.variable(name) & self.sketch.valid
            return dict.fromkeys(range(self.algebra.size), here)
        value = self.base.value(name)
        if value is None:
            return None
        return tuple(map(self._row, value)) if isinstance(value, tuple) else self._row(value)

    def _row(self, row: Mapping[int, int]) -> Mapping[int, ModelSet]:
        every = self.sketch.valid
        return {event: every for event, truth in row.items() if truth & self.candidate}


def allowing(test: LitmusTest, sketch: Sketch, unroll: int = UNROLL) -> ModelSet:
    """The set of the models of a sketch that allow the outcome that a test asks about.

    Raises ``TooManyError`` where executions are too many, and ``InputError`` where the sketch does not speak of what
    the test has.
    """
    condition, found = test.condition, sketch.space.none
    for batch in candidates(test, unroll_threads(test, unroll), sketch.model):
        satisfying = batch.valid & batch.satisfying(condition.proposition)
        if condition.filter is not None:
            satisfying &= batch.satisfying(condition.filter)
        base = batch.only(satisfying) if satisfying else None
        left = base.algebra.true if base is not None else 0
        while left and base is not None and found is not sketch.valid:
            candidate = left & -left
            left ^= candidate
            found = found | sketch.model.passing(OneExecution(base, candidate, sketch))
    return found


def flagging(test: LitmusTest, sketch: Sketch, unroll: int = UNROLL) -> ModelSet:
    """The set of the models that raise a flag on an execution that they allow, so that they promise nothing of a test.

    Raises what ``allowing`` raises.
    """
    found = sketch.space.none
    for batch in candidates(test, unroll_threads(test, unroll), sketch.model) if sketch.model.flags else ():
        base = batch.only(batch.valid)
        left = base.algebra.true
        while left and found is not sketch.valid:
            candidate = left & -left
            left ^= candidate
            passing, raised = sketch.valid, sketch.space.none
            for result in sketch.model.judge(OneExecution(base, candidate, sketch)):
                if result.check.flag:
                    raised = raised | result.truth
                else:
                    passing = passing & result.truth
            found = found | (passing & raised)
    return found
