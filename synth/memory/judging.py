"""Verdicts of consistency models on litmus tests by the method that the user names, or by the first that can."""

from __future__ import annotations

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.consistency import ConsistencyModel, OperationalModel
from oracle.executions.judge import Judgement, is_quick_to_list, judge, unknown
from oracle.executions.steps import TooManyError, TooManyValuesError

METHODS = {"enumerate": judge, "sat": judge_by_sat, "smt": judge_by_smt}
"""Ways to the verdict of a model that is a .cat file."""

AUTO = "auto"
"""Enumeration where an estimate of the executions is small; else SAT, and where values are too many for it, SMT."""


def judge_with(test: LitmusTest, model: ConsistencyModel, method: str, unroll: int) -> Judgement:
    """The judgement of a model; an operational one is always explored. UNKNOWN where a test is too large."""
    if isinstance(model, OperationalModel):
        return model.judge(test, unroll)
    try:
        if method != AUTO:
            return METHODS[method](test, model.model, unroll)
        return _judge(test, model.model, unroll)
    except TooManyError as error:
        return unknown(error.message)


def _judge(test: LitmusTest, model: Model, unroll: int) -> Judgement:
    try:
        if is_quick_to_list(test, model, unroll):
            return judge(test, model, unroll)
    except TooManyError:
        pass
    try:
        return judge_by_sat(test, model, unroll)
    except TooManyValuesError:  # what else is too much is so for z3, too
        return judge_by_smt(test, model, unroll)
