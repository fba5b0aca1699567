"""The verdicts of consistency models on litmus tests. The method is the user's, or else the first that can decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from corpus.extras import pip_install
from corpus.litmus.flow import thread_flow
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.consistency import ConsistencyModel, OperationalModel
from oracle.executions import shapes
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import silence
from oracle.executions.judge import Judgement, is_quick_to_list, judge, unknown
from oracle.executions.steps import TooManyError, TooManyValuesError
from synth.requests import AUTO, ENUMERATE, SAT, SMT

if TYPE_CHECKING:  # slow to import, and not every command needs it
    from corpus.test import Test
    from oracle.executions.witness import MemoryExplanation


def judge_by_sat(test: LitmusTest, model: Model, unroll: int) -> Judgement:
    """Judge a test by ``constraints.executions``, which is loaded here since that takes longer than most verdicts."""
    from constraints import executions

    return executions.judge_by_sat(test, model, unroll)


def judge_by_smt(test: LitmusTest, model: Model, unroll: int) -> Judgement:
    """Judge a test by ``constraints.smt``, which is loaded here since loading takes longer than most verdicts."""
    from constraints import smt

    return smt.judge_by_smt(test, model, unroll)


METHODS: dict[str, Callable[[LitmusTest, Model, int], Judgement]] = {
    ENUMERATE: judge,
    SAT: judge_by_sat,
    SMT: judge_by_smt,
}
"""The methods that find the verdict of a .cat model."""

MOST_UNROLL = 8
"""How many jumps back an explanation follows loops by itself, at most."""


def judge_with(test: LitmusTest, model: ConsistencyModel, method: str, unroll: int, counts: bool = True) -> Judgement:
    """Return a model's judgement of a test; an operational model is always explored. UNKNOWN where a test is too large.

    Without ``counts``, executions are listed as far as the answer needs them, and the judgement has the answer and the
    flags, but no counts and no outcomes.
    """
    if isinstance(model, OperationalModel):
        return model.judge(test, unroll)
    reason = silence(test, model.model)
    if reason is not None:
        return unknown(reason)
    try:
        if method == ENUMERATE:
            return judge(test, model.model, unroll, counts)
        if method != AUTO:
            return METHODS[method](test, model.model, unroll)
        return _judge(test, model.model, unroll, counts)
    except TooManyError as error:
        return unknown(error.message)


def judge_together(
    tests: Sequence[LitmusTest], model: ConsistencyModel, method: str, unroll: int
) -> list[Judgement | None]:
    """Return the judgements of many tests, where that is quicker than to ask ``judge_with`` about each.

    None stands for each of the other tests.
    """
    if isinstance(model, OperationalModel) or method not in (AUTO, ENUMERATE):
        return [None] * len(tests)
    return shapes.judge_together(tests, model.model, unroll)


def labelled_record(test: LitmusTest, text: str, size: int, models: Iterable[ConsistencyModel]) -> Test:
    """Return a test, which is written as ``text``, as one of a corpus, with the verdicts of the models."""
    from corpus.cycles.suites import litmus_record

    judged = {model.name: judge_with(test, model, AUTO, UNROLL, counts=False) for model in models}
    verdicts = {name: str(judgement.answer) for name, judgement in judged.items()}
    reasons = {name: judgement.reason for name, judgement in judged.items() if judgement.reason}
    return litmus_record(test, text, size, verdicts, reasons)


def explain_with(test: LitmusTest, model: Model, unroll: int) -> MemoryExplanation:
    """Explain a model's verdict; executions are listed where that is quick, else a solver finds those that are shown.

    Where the outcome cannot come about for loops that were cut, they are followed further, as far as ``MOST_UNROLL``
    jumps back. Raises ``TooManyError`` where executions are too many for a solver, too.
    """
    try:
        first = _explain(test, model, unroll)
    except TooManyError as error:
        fewer = unroll > 0 and any(thread_flow(thread).backward for thread in test.threads)
        hint = f"; with --unroll {unroll - 1} there are fewer executions" if fewer else ""
        raise TooManyError(f"{error.message}{hint}", test.name) from None
    explanation = first
    while explanation.witness is None and not explanation.outcomes and not explanation.complete:
        if explanation.unroll >= MOST_UNROLL:
            return first
        try:
            explanation = _explain(test, model, explanation.unroll + 1)
        except TooManyError:
            return first
    return explanation


def _explain(test: LitmusTest, model: Model, unroll: int) -> MemoryExplanation:
    try:
        if is_quick_to_list(test, model, unroll):
            from oracle.executions.witness import explain_memory

            return explain_memory(test, model, unroll)
    except TooManyError:
        pass
    from constraints.witnesses import explain_by_sat

    return explain_by_sat(test, model, unroll)


def _judge(test: LitmusTest, model: Model, unroll: int, counts: bool) -> Judgement:
    try:
        if is_quick_to_list(test, model, unroll):
            return judge(test, model, unroll, counts)
    except TooManyError:
        pass
    try:
        return judge_by_sat(test, model, unroll)
    except TooManyValuesError as error:  # a test beyond the other bounds is too large for z3 as well
        if find_spec("z3") is None:
            hint = f"z3 may have one: {pip_install('smt')}"
            raise TooManyValuesError(f"{error.message}; {hint}") from None
        return judge_by_smt(test, model, unroll)
