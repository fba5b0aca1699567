"""The verdicts of all models of a sketch on a litmus test at once, as the set of models that allow its outcome.

Each candidate execution that has the outcome is judged once, over an algebra whose truths are sets of models: diagrams
(``oracle.inference.model_sets``), or the bits of an integer where the models are few. Example: of the sketch ``acyclic
(?po: po) | rf | co | fr``, the models that allow store buffering are those without ``po``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic

from corpus.litmus.test import LitmusTest
from oracle.cat.algebra import Algebra, Relation, Set, T, among
from oracle.cat.base import Base
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import CandidateBatch, candidates
from oracle.executions.threads import unroll_threads
from oracle.inference.model_sets import ModelSet, algebra_of
from oracle.inference.sketch import Sketch


@dataclass(frozen=True)
class OneExecution(Generic[T]):
    """The base of one execution, of a base of several candidates, whose truths are sets of models.

    ``candidate`` is its bit. ``alternatives``: the models that fill a hole by each alternative, by its name.
    """

    base: Base[int]
    candidate: int
    algebra: Algebra[T]
    alternatives: Mapping[str, T]

    def value(self, name: str) -> Set[T] | Relation[T] | None:
        """The set or relation of a name, None where the base has none."""
        if name in self.alternatives:
            return dict.fromkeys(range(self.algebra.size), self.alternatives[name])
        value = self.base.value(name)
        if value is None:
            return None
        return tuple(map(self._row, value)) if isinstance(value, tuple) else self._row(value)

    def _row(self, row: Mapping[int, int]) -> Mapping[int, T]:
        return {event: self.algebra.true for event, truth in row.items() if truth & self.candidate}


def allowing(test: LitmusTest, sketch: Sketch, unroll: int = UNROLL) -> ModelSet:
    """The set of the models of a sketch that allow the outcome that a test asks about.

    Raises ``TooManyError`` where executions are too many, and ``InputError`` where the sketch does not speak of what
    the test has.
    """
    condition = test.condition

    def asked_about(batch: CandidateBatch) -> int:
        found = batch.valid & batch.satisfying(condition.proposition)
        return found if condition.filter is None else found & batch.satisfying(condition.filter)

    return _models(test, sketch, unroll, asked_about, lambda base: sketch.model.passing(base))


def flagging(test: LitmusTest, sketch: Sketch, unroll: int = UNROLL) -> ModelSet:
    """The set of the models that raise a flag on an execution that they allow, so that they promise nothing of a test.

    Raises what ``allowing`` raises.
    """
    if not sketch.model.flags:
        return sketch.space.none

    def flagged(base: OneExecution[Any]) -> Any:
        passing, raised = base.algebra.true, base.algebra.negate(base.algebra.true)
        for result in sketch.model.judge(base):
            if result.check.flag:
                raised = raised | result.truth
            else:
                passing = passing & result.truth
        return passing & raised

    return _models(test, sketch, unroll, lambda batch: batch.valid, flagged)


def _models(
    test: LitmusTest,
    sketch: Sketch,
    unroll: int,
    question: Callable[[CandidateBatch], int],
    judged: Callable[[OneExecution[Any]], Any],
) -> ModelSet:
    """The models that ``judged`` finds of some execution that is asked for."""
    listed = sketch.listed
    found, bits = sketch.space.none, 0
    for base, candidate in _executions(test, sketch, unroll, question):
        size = base.algebra.size
        if listed is None:
            execution = OneExecution(base, candidate, algebra_of(sketch.valid, size), sketch.alternatives)
            found = found | judged(execution)
            if found is sketch.valid:
                break
        else:
            bits |= judged(OneExecution(base, candidate, among(listed.every, size), listed.masks))
            if bits == listed.every:
                break
    return found if listed is None else listed.set_of(bits)


def _executions(
    test: LitmusTest, sketch: Sketch, unroll: int, question: Callable[[CandidateBatch], int]
) -> Iterator[tuple[Base[int], int]]:
    """The executions of a test that are asked for, each as a base of candidates and its bit there."""
    for batch in candidates(test, unroll_threads(test, unroll), sketch.model):
        some = question(batch)
        if not some:
            continue
        base = batch.only(some)
        left = base.algebra.true
        while left:
            candidate = left & -left
            left ^= candidate
            yield base, candidate
