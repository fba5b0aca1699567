"""The loop of ``synth infer --run``: choose a test that tells the models that fit apart, run it, add what was seen.

    known facts -> the models that fit -> the next test -> a device -> results.jsonl -> known facts

It ends when no test is left that would tell models apart, when no model fits, or when the budget is spent. What was
seen is kept in a file of results alone, each line on the disk before the next trial. The choice depends on that file
and nothing else, so a loop that was killed at any instant goes on with the test that it was at, and ends as it would
have. A test is run once: what it did not show then is evidence, and no fact (``synth.inference.facts``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from backends.registry import BACKENDS
from backends.shared.device import Device, DeviceOptions
from corpus.errors import InputError
from oracle.inference.fitting import Fact, fitting
from oracle.inference.model_sets import ModelSet

AnyTest = TypeVar("AnyTest")


class LoopEnd(StrEnum):
    """Why a loop ended."""

    NO_TEST = "no test is left that would tell models apart"
    CONTRADICTION = "no model fits what was seen"
    BUDGET = "the budget is spent"
    STOPPED = "the device cannot go on"


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """How tests are run: the language and its device, launches of each test, and when to begin no other test.

    ``timeout`` is in seconds for each launch, None where it is measured; ``budget`` is in seconds. ``most`` is the
    number of tests after which to end, those of earlier calls too.
    """

    backend: str
    device: DeviceOptions
    iterations: int
    timeout: float | None
    stress: bool
    budget: float | None
    most: int | None

    def as_json(self) -> dict[str, Any]:
        """Return the options as the folder of a loop keeps them: all that changes what is run, but the budget."""
        return asdict(replace(self, budget=None, most=None))

    def opened(self) -> Device:
        """Return the device. Raises ``InputError`` where the language has none here."""
        device = BACKENDS[self.backend].device
        if device is None:
            raise InputError(f"--run runs tests on this machine, but {self.backend} tests run elsewhere")
        return device(self.device)


@dataclass(frozen=True, slots=True)
class LoopBudget:
    """The most tests that a loop runs, those of earlier calls too, and the seconds after which it begins no other."""

    tests: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A step of a loop: the test that was run, and the models that fit before and after it."""

    name: str
    before: ModelSet
    after: ModelSet


@dataclass(frozen=True, slots=True)
class LoopOutcome:
    """The end of a loop: all facts, the models that fit, the steps that were made now, and why it ended.

    ``ran`` is the number of tests that were run, in earlier calls too. ``reason`` says more of why it ended.
    """

    facts: tuple[Fact, ...]
    fit: ModelSet
    steps: tuple[LoopStep, ...]
    end: LoopEnd
    ran: int
    reason: str = ""


class Experiment(Protocol[AnyTest]):
    """What a loop has to know of a family of tests and of a device."""

    def facts(self) -> Sequence[Fact]:
        """Return what all results so far say, those of earlier calls too."""

    def ran(self) -> int:
        """Return how many tests were run so far, in earlier calls too."""

    def following(self, fit: ModelSet) -> AnyTest | None:
        """Return the test to run next, given the models that fit: first one that was begun and not finished.

        None where no test is left that tells these models apart and was not run.
        """

    def perform(self, test: AnyTest) -> str:
        """Run a test and keep what it showed; return why the loop cannot go on, or nothing where it can."""

    def name(self, test: AnyTest) -> str:
        """Return the name of a test, for messages."""


def closed_loop(
    models: ModelSet,
    given: Sequence[Fact],
    experiment: Experiment[AnyTest],
    budget: LoopBudget = LoopBudget(),
    report: Callable[[LoopStep], None] = lambda step: None,
) -> LoopOutcome:
    """Run tests until no model or no test is left, or the budget is spent.

    ``models`` are all hypotheses, ``given`` are facts that are known beforehand. ``report`` hears of each step.
    """
    until = None if budget.seconds is None else time.monotonic() + budget.seconds
    steps: list[LoopStep] = []

    def known() -> tuple[Fact, ...]:
        return (*given, *experiment.facts())

    def ended(end: LoopEnd, reason: str = "") -> LoopOutcome:
        return LoopOutcome(facts, fit, tuple(steps), end, experiment.ran(), reason)

    facts = known()
    fit = fitting(models, facts)
    while fit:
        test = experiment.following(fit)
        if test is None:
            return ended(LoopEnd.NO_TEST)
        if budget.tests is not None and experiment.ran() >= budget.tests:
            return ended(LoopEnd.BUDGET)
        if until is not None and time.monotonic() > until:
            return ended(LoopEnd.BUDGET)
        reason = experiment.perform(test)
        before, facts = fit, known()
        fit = fitting(models, facts)
        steps.append(LoopStep(experiment.name(test), before, fit))
        report(steps[-1])
        if reason:
            return ended(LoopEnd.STOPPED, reason)
    return ended(LoopEnd.CONTRADICTION)
