"""Verdicts of consistency models on litmus tests by the method that the user names, or by the first that can."""

from __future__ import annotations

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel, OperationalModel
from oracle.executions.judge import Judgement, judge, unknown
from oracle.executions.steps import TooManyError

METHODS = {"enumerate": judge, "sat": judge_by_sat, "smt": judge_by_smt}
"""Ways to the verdict of a model that is a .cat file."""

AUTO = "auto"
"""Enumeration, and where executions are too many to list, SAT; where values are, SMT."""


def judge_with(test: LitmusTest, model: ConsistencyModel, method: str, unroll: int) -> Judgement:
    """The judgement of a model; an operational one is always explored. UNKNOWN where a test is too large."""
    if isinstance(model, OperationalModel):
        return model.judge(test, unroll)
    reason = ""
    for name in METHODS if method == AUTO else [method]:
        try:
            return METHODS[name](test, model.model, unroll)
        except TooManyError as error:
            reason = error.message
    return unknown(reason)
