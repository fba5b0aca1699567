"""The plan of a campaign: tests, environments and times that show the most bugs. The time of the whole plan is given.

A test may be run in each environment of a machine in which mutants of it were killed. It may run as long as its easiest
mutant needs, or its second easiest too, and so on: each is an *offer* of whole launches. A run is to see *bugs*: a bug
is a test and a mutant of it on a machine, seen where the mutant would be killed with the confidence asked for. A test
is *trusted* on a machine where one bug of it is seen.

The plan has, exactly (``constraints.coverage``): the most trusted tests; then the most bugs seen, which is the greatest
mutation score at that confidence; then the least time; then tests that come first. The cost to compile and start the
program of a run is an input, equal for all runs.

Assumption: times to see a bug do not add up over environments; each run is to see it by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import msgspec

from backends.shared.results import Positive
from constraints.coverage import LARGEST, Offer, best_purchase
from corpus.errors import InputError
from corpus.files import read_text
from corpus.lines import decoder
from corpus.test import Test
from synth.mutation.kills import Environment, KillCounts, Machine, MutantSuite, Observed
from synth.mutation.scores import MutantScore, bugs_of, machines
from synth.statistics import chance_of_some, expected_for

MILLISECONDS = 1000

PLAN = "plan.json"
"""The name of the plan's file in a folder of chosen tests."""


class PlanEntry(msgspec.Struct, frozen=True):
    """A run as a plan's file has it, in the words of results; ``digest`` is the test's."""

    test: str
    digest: str
    backend: str
    device: str
    profile: str
    stress: bool
    instances: Positive
    iterations: Positive


class _File(msgspec.Struct, frozen=True):
    """The part of a plan's file that is read; the rest is for people."""

    runs: tuple[PlanEntry, ...]


_plan = decoder(_File)


def read_plan(path: Path) -> tuple[PlanEntry, ...]:
    """Read the runs of a plan. Raises ``InputError`` where the file cannot be read or is no plan."""
    try:
        return _plan(read_text(path)).runs
    except ValueError as error:
        raise InputError(f"not a plan of synth select --score: {error}", str(path)) from None


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A planned run of a test: its environment, its number of launches and their seconds, and the bugs that it would
    see.

    ``cost`` is in milliseconds, and includes compiling and starting. ``confidence`` is that of its easiest bug.
    """

    test: Test
    environment: Environment
    launches: int
    seconds: float
    cost: int
    bugs: tuple[MutantScore, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan: its runs, and the number of bugs that they see.

    The plan makes ``trusted`` tests on machines out of ``tests``, of which ``possible`` could be trusted with unlimited
    time, and sees ``seen`` bugs out of ``bugs``. ``optimal``: it is proved that no plan within the budget has more.
    ``least`` is the cost of the cheapest run in milliseconds; None where there is none.
    """

    runs: tuple[PlannedRun, ...]
    cost: int
    trusted: int
    possible: int
    tests: int
    seen: int
    bugs: int
    optimal: bool
    least: int | None = None


def plan(
    suite: MutantSuite, observed: Observed, budget: float, confidence: float, overhead: float = 0.0, sure: bool = False
) -> Plan:
    """Return the best plan within ``budget`` seconds; ``overhead`` seconds are for compiling and starting each run.

    ``sure``: take the lower ends of the intervals of kill rates.
    """
    most = int(min(budget * MILLISECONDS, LARGEST >> 20))  # at most two weeks, so that sums do not overflow
    every = list(ways(suite, observed, confidence, overhead, sure))
    runs = [run for run in every if run.cost <= most]
    bugs = list(dict.fromkeys(_name(run, bug) for run in runs for bug in run.bugs))
    trusted = list(dict.fromkeys(name[:2] for name in bugs))
    number: dict[tuple[object, ...], int] = {name: i for i, name in enumerate([*bugs, *trusted])}
    worth = {number[name]: 1 for name in bugs} | {number[name]: len(bugs) + 1 for name in trusted}
    offers = [
        Offer(run.cost, frozenset(number[name] for bug in run.bugs for name in (_name(run, bug), _name(run, bug)[:2])))
        for run in runs
    ]
    bought = best_purchase(offers, worth, most)
    chosen = tuple(runs[place] for place in bought.offers)
    seen = {_name(run, bug) for run in chosen for bug in run.bugs}
    return Plan(
        runs=chosen,
        cost=bought.cost,
        trusted=len({name[:2] for name in seen}),
        possible=len({(run.test.name, run.environment.machine) for run in every}),
        tests=len(suite.tests) * len(machines(observed)),
        seen=len(seen),
        bugs=sum(len({link.mutant for link in links}) for links in suite.counted.values()) * len(machines(observed)),
        optimal=bought.optimal,
        least=min((run.cost for run in every), default=None),
    )


def ways(
    suite: MutantSuite, observed: Observed, confidence: float, overhead: float = 0.0, sure: bool = False
) -> Iterator[PlannedRun]:
    """Yield all runs that a plan may have, by machine and test."""
    for machine in machines(observed):
        for test in suite.tests:
            yield from _runs(suite, observed, machine, test, confidence, overhead, sure)


def _name(run: PlannedRun, bug: MutantScore) -> tuple[object, ...]:
    return run.test.name, run.environment.machine, bug.link.mutant


def _runs(
    suite: MutantSuite,
    observed: Observed,
    machine: Machine,
    test: Test,
    confidence: float,
    overhead: float,
    sure: bool,
) -> Iterator[PlannedRun]:
    """Yield the runs of a test on a machine: in each environment for its easiest bug, its two easiest, and so on."""
    by_environment: dict[Environment, list[tuple[float, MutantScore]]] = {}
    for bug in bugs_of(suite, observed, machine, test.name):
        if (rate := bug.least_rate if sure else bug.rate) > 0:
            by_environment.setdefault(bug.environment, []).append((rate, bug))
    for environment, bugs in by_environment.items():
        seen = observed[environment]
        launch = _launch_seconds([seen[test.name]] if test.name in seen else [bug.seen for _, bug in bugs])
        if launch is None:
            continue
        bugs.sort(key=lambda pair: -pair[0])
        launches = [max(1, ceil(expected_for(confidence) / rate / launch - 1e-9)) for rate, _ in bugs]
        for number in sorted(set(launches)):
            seconds = number * launch
            cost = ceil((seconds + overhead) * MILLISECONDS - 1e-6)
            own = tuple(bug for needed, (_, bug) in zip(launches, bugs, strict=True) if needed <= number)
            yield PlannedRun(test, environment, number, seconds, cost, own, chance_of_some(bugs[0][0] * seconds))


def _launch_seconds(seen: Iterable[KillCounts]) -> float | None:
    """Return the mean seconds of a launch; None where the time is not known."""
    known = [trial for trial in seen if trial.seconds and trial.launches]
    launches = sum(trial.launches for trial in known)
    return sum(trial.seconds or 0.0 for trial in known) / launches if launches else None
