"""The concurrency that an outcome takes: threads one after the other, threads that interleave, or weak memory.

A device shows a *serial* outcome without running anything at once, so that seeing it says nothing of the stress that a
test was under. Of the mutants of Levine et al. (ASPLOS 2023), those that reverse program order take interleaving, and
those that weaken program order or synchronisation take weak memory; none is serial.

An outcome is *serial* where some sequentially consistent execution with it has all communication between threads go
along one order of them: the relation of threads that communicate is acyclic. Threads that wait for each other at a
barrier count as one after the other where their accesses do.

An asynchronous operation counts as done where it is asked for. An outcome that it takes to be late, such as a copy that
its own thread does not see, takes weak memory.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from pathlib import Path

from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model, checked_model
from oracle.cat.syntax import parse_cat, shipped_models
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import Answer, judge

_INTERLEAVING = """
"Interleaving"
(* To name ASYNCHRONOUS, as within does for its accesses, is to speak of operations. *)
let po = po | asked | retired | (within & (ASYNCHRONOUS * ASYNCHRONOUS))
include "sc.cat"
"""
_SERIAL = f"""{_INTERLEAVING}
let same = int | id
acyclic same; (com & ext); same as serial
"""


class Takes(StrEnum):
    """The concurrency that the outcome of a test takes, the least first."""

    SERIAL = "serial"
    INTERLEAVING = "interleaving"
    WEAK_MEMORY = "weak memory"


def takes(test: LitmusTest) -> Takes:
    """The concurrency that the outcome of a test takes. Raises ``TooManyError`` where executions are too many to
    list."""
    for kind, model in zip(Takes, _models(), strict=False):
        if judge(test, model, counts=False).answer is Answer.ALLOWED:
            return kind
    return Takes.WEAK_MEMORY


@cache
def _models() -> tuple[Model, Model]:
    beside = Path(shipped_models()["sc"])
    serial, interleaving = (
        checked_model(name, parse_cat(text, str(beside.with_name(f"{name}.cat"))), VOCABULARY)
        for name, text in (("serial", _SERIAL), ("interleaving", _INTERLEAVING))
    )
    return serial, interleaving
