"""Mutation scores, kill rates, confidences and plans as plain data, and such numbers in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isinf
from typing import Any

from synth.mutation.kills import Environment, KillCounts, Machine, MutantSuite, Observed
from synth.mutation.plans import MILLISECONDS, Plan
from synth.mutation.scores import LEVELS, MutantScore, Score, Trust, best_of, keys, machines, score, scores_by, trust


def suite_record(suite: MutantSuite, observed: Observed, budget: float | None) -> dict[str, Any]:
    """Return the scores of a suite, with every mutant and every test, as plain data."""
    counted = [link.mutant for links in suite.counted.values() for link in links]
    return {
        "tests": len(suite.tests),
        "mutants": {
            name: {"takes": str(suite.takes[name]), "counts": suite.counts(name)} for name in sorted(suite.mutants)
        },
        "links": [{name: getattr(link, name) for name in link.__slots__} for link in suite.links],
        "environments": [
            {
                **environment_record(environment),
                **_score_record(score(counted, seen)),
                "by": {
                    title: {name: _score_record(score) for name, score in scores_by(suite, seen, key).items()}
                    for title, key in keys(suite).items()
                },
                "kills": {name: _seen_record(seen[name]) for name in suite.mutants if name in seen},
            }
            for environment, seen in observed.items()
        ],
        "machines": [_machine_record(suite, observed, machine, counted, budget) for machine in machines(observed)],
    }


def _machine_record(
    suite: MutantSuite, observed: Observed, machine: Machine, counted: Sequence[str], budget: float | None
) -> dict[str, Any]:
    here = {where: seen for where, seen in observed.items() if where.machine == machine}
    tests = [_trust_record(row, budget) for row in trust(suite, observed, machine)]
    return {**_machine(machine), **_score_record(score(counted, best_of(here))), "tests": tests}


def _trust_record(trusted: Trust, budget: float | None) -> dict[str, Any]:
    return {
        "test": trusted.test.name,
        "mutants": trusted.mutants,
        "run": trusted.run,
        "killed": trusted.killed,
        "best": bug_record(trusted.best) if trusted.best else None,
        "mean_rate": trusted.mean_rate,
        "seen": trusted.seen,
        "contradicts": list(trusted.contradicts),
        "seconds": trusted.seconds,
        "confidence": trusted.confidence,
        "at_least": trusted.at_least,
        **({} if budget is None else {"budget": budget, "confidence_in_budget": trusted.confidence_in(budget)}),
        "seconds_for": {str(level): _finite(trusted.seconds_for(level)) for level in LEVELS},
    }


def nothing_planned(plan: Plan, budget: float) -> str:
    """Return the message that explains why a plan has no runs."""
    if plan.least is None:
        return "nothing to plan: no mutant was killed whose launches have known times"
    return f"no run that would see a bug fits into {span(budget)}: the shortest takes {span(plan.least / MILLISECONDS)}"


def plan_record(plan: Plan, budget: float, confidence: float) -> dict[str, Any]:
    """Return a plan as plain data, which ``synth.mutation.plans.read_plan`` reads."""
    return {
        "budget": budget,
        "confidence": confidence,
        "seconds": plan.cost / MILLISECONDS,
        "optimal": plan.optimal,
        **{name: getattr(plan, name) for name in ("trusted", "possible", "tests", "seen", "bugs")},
        "runs": [
            {
                "test": run.test.name,
                "digest": run.test.digest,
                **environment_record(run.environment),
                "iterations": run.launches,
                "seconds": run.seconds,
                "confidence": run.confidence,
                "mutants": [bug.link.mutant for bug in run.bugs],
            }
            for run in plan.runs
        ],
    }


def bug_record(bug: MutantScore) -> dict[str, Any]:
    """Return a bug, with its test, mutant and kill rate, as plain data."""
    interval = list(bug.interval) if bug.interval else None
    return {
        "mutant": bug.link.mutant,
        "relaxation": bug.link.relaxation,
        **environment_record(bug.environment),
        "rate": bug.seen.rate,
        "interval": interval,
    }


def environment_record(environment: Environment) -> dict[str, Any]:
    """Return an environment as plain data, with the keys that results have."""
    way = {"profile": environment.profile, "stress": environment.stress, "instances": environment.instances}
    return {**_machine(environment.machine), **way}


def _machine(machine: Machine) -> dict[str, str]:
    return {name: getattr(machine, name) for name in machine.__slots__}


def _score_record(found: Score) -> dict[str, Any]:
    numbers = {"counted": found.mutants, "run": found.run, "killed": found.killed}
    return {**numbers, "score": found.share, "mean_rate": found.mean_rate}


def _seen_record(seen: KillCounts) -> dict[str, Any]:
    return {"kills": seen.count, "launches": seen.launches, "seconds": seen.seconds, "rate": seen.rate}


def _finite(number: float) -> float | None:
    return None if isinf(number) else number


def percent(share: float | None) -> str:
    """Return a share as a percentage, rounded down, so that only what is certain is 100 %."""
    if share is None:
        return "-"
    digits = 1000 if share > 0.99 else 10
    return f"{floor(share * 100 * digits + 1e-9) / digits:g} %"


def rate(number: float | None) -> str:
    """Return a rate as text with three significant digits, or ``?`` where it is not known."""
    return "?" if number is None else f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def span(seconds: float | None) -> str:
    """Return a time in words, with at most three digits."""
    if seconds is None:
        return "?"
    if isinf(seconds):
        return "never"
    for unit, length in (("h", 3600.0), ("min", 60.0), ("s", 1.0)):
        if seconds >= 2 * length or (unit == "s" and seconds >= 1):
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds * 1000:.3g} ms"
