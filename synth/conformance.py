"""The comparison of what a device showed with what a model promises, for either family.

Example: two threads of store buffering both read 0 on an x86 machine. SC forbids that outcome, so the machine
contradicts SC. TSO allows it, so the machine is consistent with TSO.

A test asks about one outcome: a hang, or certain final values. A *promise* says which outcomes of a test a model
forbids. A device contradicts a model if it shows an outcome that the model forbids. An outcome that was not seen proves
nothing, so no device is ever proved to conform. A hang that is not confirmed (``synth.hangs``) may be the slowness of a
machine, and contradicts nothing.

A model promises nothing of a test
  - without a verdict (UNKNOWN);
  - with a flag on an allowed execution. A data race is undefined behaviour, after which every outcome is possible
    (C11, 5.1.2.4); ``no-sc-accesses-in-ptx`` says that the model does not describe the program;
  - whose loops were cut, unless the outcome is among those that were found: longer runs may have it.

Every command that says "contradicted", "forbids" or "not sound" of a device asks this module.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

Outcome = tuple[int, ...]
"""The final values of the terms of a memory test, in the test's order (``backends.shared.layout.outcome_terms``)."""

HANG: Outcome = ()
"""The outcome that a progress test asks about."""


@dataclass(frozen=True, slots=True)
class Promise:
    """The promise of a model on one test.

    ``forbids_asked``: whether the model forbids the outcome that the test asks about; None where it has no verdict on
    that. ``allowed``: every outcome that the model allows; None where only the verdict on the asked one is known.
    ``reason``: why the model forbids nothing; empty where it does promise.
    """

    forbids_asked: bool | None
    allowed: frozenset[Outcome] | None = None
    reason: str = ""

    def forbids(self, outcome: Outcome, is_asked: bool) -> bool:
        """Return whether the promise forbids an outcome; ``is_asked``: the test asks about this outcome."""
        if self.reason:
            return False
        if self.allowed is not None:
            return outcome not in self.allowed
        return is_asked and self.forbids_asked is True


NO_PROMISE = Promise(None, reason="no verdict")


@lru_cache(maxsize=1 << 10)  # many tests share a promise
def recorded(verdict: str | None, forbids: str, allows: str, reason: str = "") -> Promise:
    """Return the promise that a verdict stands for, in a family whose two verdicts are the words ``forbids`` and
    ``allows``.

    ``reason`` says why the verdict is UNKNOWN.
    """
    if verdict in (forbids, allows):
        return Promise(verdict == forbids)
    return Promise(None, reason=reason) if reason else NO_PROMISE


def forbidden(promises: Mapping[str, Promise], shown: Iterable[tuple[Outcome, bool]]) -> dict[Outcome, tuple[str, ...]]:
    """Return the outcomes of a test that were seen and that some model forbids, each with the models that forbid it.

    ``shown`` has each outcome that was seen, and whether the test asks about it.
    """
    against = {
        outcome: tuple(model for model, promise in promises.items() if promise.forbids(outcome, is_asked))
        for outcome, is_asked in shown
    }
    return {outcome: models for outcome, models in against.items() if models}


class ConformanceStatus(StrEnum):
    """The relation of a device and a model, by what was seen on the device.

    ``WEAKER``: the model allows outcomes of tests that were run, and none of them was seen, so that a stronger model
    would describe the device.
    """

    CONTRADICTED = "contradicted"
    CONSISTENT = "consistent"
    WEAKER = "weaker than needed"
    SILENT = "no verdicts"


@dataclass(frozen=True, slots=True)
class ModelConformance(Generic[Key]):
    """The conformance of a device to one model, over the tests that were run.

    The model forbids an outcome of ``forbidden`` tests: the outcome that the test asks about, or another that was seen.
    The tests that showed such an outcome are ``contradicting``. The model allows the asked outcome of ``allowed`` other
    tests, and ``observed`` of them showed it. It promises nothing of ``unknown`` tests.
    """

    model: str
    forbidden: int
    contradicting: tuple[Key, ...]
    allowed: int
    observed: int
    unknown: int

    @property
    def status(self) -> ConformanceStatus:
        """Return the relation of the device and the model in one word."""
        if self.contradicting:
            return ConformanceStatus.CONTRADICTED
        if not self.forbidden and not self.allowed:
            return ConformanceStatus.SILENT
        return ConformanceStatus.WEAKER if self.allowed and not self.observed else ConformanceStatus.CONSISTENT


def standing(
    model: str, promises: Mapping[Key, Promise], seen: Mapping[Key, bool], contradicting: Collection[Key]
) -> ModelConformance[Key]:
    """Return how the device of some runs stands to one model.

    ``promises`` are the model's promises, by test. ``seen`` says of each test whether the asked outcome was seen.
    ``contradicting`` are the tests that showed an outcome that the model forbids.
    """
    forbids = [test for test in seen if promises[test].forbids_asked or test in contradicting]
    allows = [test for test in seen if promises[test].forbids_asked is False and test not in contradicting]
    return ModelConformance(
        model,
        len(forbids),
        tuple(test for test in forbids if test in contradicting),
        len(allows),
        sum(seen[test] for test in allows),
        len(seen) - len(forbids) - len(allows),
    )
