"""Mutation scores, kill rates, confidences and plans, as tables and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, isinf
from typing import Any

from rich.table import Table
from rich.text import Text

from synth.mutation.kills import Environment, KillCounts, Machine, MutantSuite, Observed
from synth.mutation.plans import MILLISECONDS, Plan
from synth.mutation.scores import LEVELS, MutantScore, Score, Trust, best_of, keys, machines, score, scores_by, trust
from synth.screen.console import plain_table

FEW = 8
"""The most names that are listed where there may be many."""


def tables(
    suite: MutantSuite, observed: Observed, budget: float | None, confidence: float, tests: bool, mutants: bool
) -> Iterator[str | Table]:
    """Yield lines and tables: the scores of each machine, and the confidences of the tests."""
    counted = {link.mutant for links in suite.counted.values() for link in links}
    serial = f"; {len(suite.mutants) - len(counted)} serial ones do not count" if not suite.all_count else ""
    yield f"{suite.path}: {len(suite.tests)} tests, {len(counted)} mutants{serial}"
    if not observed:
        yield "no results of these tests and mutants"
    for machine in machines(observed):
        here = {where: seen for where, seen in observed.items() if where.machine == machine}
        yield ""
        yield str(machine)
        yield _score_table(suite, here)
        yield ""
        yield _group_table(suite, here)
        found = trust(suite, observed, machine)
        if mutants:
            yield ""
            yield _mutant_table(suite, here)
        if tests:
            yield ""
            yield _test_table(found, budget)
        yield ""
        yield from _trust_lines(found, budget, confidence)


def _score_table(suite: MutantSuite, here: Observed) -> Table:
    table = plain_table("environment")
    for column in ("mutants", "run", "killed", "score", "kills a second"):
        table.add_column(column, justify="right")
    counted = [link.mutant for links in suite.counted.values() for link in links]
    rows = [(environment.way, seen) for environment, seen in here.items()]
    if len(rows) > 1:
        rows.append(("any of them", best_of(here)))
    for way, seen in rows:
        found = score(counted, seen)
        numbers = map(str, (found.mutants, found.run, found.killed))
        table.add_row(Text(way), *numbers, percent(found.share), rate(found.mean_rate))
    return table


def _group_table(suite: MutantSuite, here: Observed) -> Table:
    """Return the table of killed mutants out of those that were run, by each grouping and environment."""
    table = plain_table("killed / run", "")
    for environment in here:
        table.add_column(Text(environment.way), justify="right")
    for title, key in keys(suite).items():
        columns = [scores_by(suite, seen, key) for seen in here.values()]
        for number, name in enumerate(columns[0] if columns else ()):
            cells = [f"{column[name].killed} / {column[name].run}" for column in columns]
            table.add_row(title if number == 0 else "", Text(name), *cells)
    return table


def _mutant_table(suite: MutantSuite, here: Observed) -> Table:
    table = _folding("mutant", "of", "relaxation", "takes")
    for environment in here:
        table.add_column(Text(f"kills a second: {environment.way}"), justify="right")
    done = set()
    for links in suite.counted.values():
        for link in links:
            if link.mutant not in done:
                done.add(link.mutant)
                cells = [_cell(seen.get(link.mutant)) for seen in here.values()]
                names = (link.mutant, link.test, link.relaxation)
                table.add_row(*map(Text, names), str(suite.takes[link.mutant]), *cells)
    return table


def _cell(seen: KillCounts | None) -> str:
    if seen is None:
        return "not run"
    return rate(seen.rate) if seen.count else f"0 in {span(seen.seconds)}" if seen.seconds else "0"


def _test_table(found: Sequence[Trust], budget: float | None) -> Table:
    table = _folding("test", "best mutant", "environment")
    headings = ["killed", "kills a second", "mean", "run for", "confidence", "at least"]
    headings += [f"in {span(budget)}"] if budget is not None else []
    for column in (*headings, *(f"for {percent(level)}" for level in LEVELS)):
        table.add_column(column, justify="right")
    for each in found:
        best = each.best
        cells = [f"{each.killed} / {each.mutants}"]
        cells += [rate(best.seen.rate), rate(each.mean_rate)] if best else ["", ""]
        cells += [span(each.seconds), percent(each.confidence), percent(each.at_least)]
        cells += [percent(each.confidence_in(budget))] if budget is not None else []
        cells += [span(each.seconds_for(level)) for level in LEVELS]
        names = (each.test.name, best.link.mutant if best else "", best.environment.way if best else "")
        table.add_row(*map(Text, names), *cells, style="" if best else "dim")
    return table


def _trust_lines(found: Sequence[Trust], budget: float | None, confidence: float) -> Iterator[str]:
    ran = sum(each.confidence >= confidence for each in found)
    yield f"{ran} of {len(found)} tests ran so long that their easiest bug had been seen with {percent(confidence)}"
    if budget is not None:
        would = sum(each.confidence_in(budget) >= confidence for each in found)
        yield f"{would} of them would in {span(budget)} each, in the best environment"
    for what, names in (
        ("no mutant that counts", [each.test.name for each in found if not each.mutants]),
        ("mutants that were not run", [each.test.name for each in found if each.mutants and not each.run]),
        (
            "no mutant that was killed, so that they show nothing",
            [e.test.name for e in found if e.run and not e.killed],
        ),
    ):
        if names:
            more = f", and {len(names) - FEW} more" if len(names) > FEW else ""
            yield f"{len(names)} with {what}: {', '.join(names[:FEW])}{more}"
    for each in found:
        if each.seen:
            against = f"which {', '.join(each.contradicts)} forbids" if each.contradicts else "which no model forbids"
            silent = "".join(f"; {model} promises nothing of it: {reason}" for model, reason in each.silent.items())
            yield f"{each.test.name}: seen {each.seen} times, {against}{silent}"


def record(suite: MutantSuite, observed: Observed, budget: float | None) -> dict[str, Any]:
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
                    title: {name: _score_record(each) for name, each in scores_by(suite, seen, key).items()}
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
    tests = [_trust_record(each, budget) for each in trust(suite, observed, machine)]
    return {**_machine(machine), **_score_record(score(counted, best_of(here))), "tests": tests}


def _trust_record(each: Trust, budget: float | None) -> dict[str, Any]:
    return {
        "test": each.test.name,
        "mutants": each.mutants,
        "run": each.run,
        "killed": each.killed,
        "best": bug_record(each.best) if each.best else None,
        "mean_rate": each.mean_rate,
        "seen": each.seen,
        "contradicts": list(each.contradicts),
        "seconds": each.seconds,
        "confidence": each.confidence,
        "at_least": each.at_least,
        **({} if budget is None else {"budget": budget, "confidence_in_budget": each.confidence_in(budget)}),
        "seconds_for": {str(level): _finite(each.seconds_for(level)) for level in LEVELS},
    }


def plan_tables(plan: Plan, budget: float) -> Iterator[str | Table]:
    """Yield a plan as lines of text and a table."""
    proved = "" if plan.optimal else "; that no plan has more was not proved in time"
    yield (
        f"{plan.trusted} of {plan.tests} tests see a bug, {plan.seen} of {plan.bugs} bugs are seen, "
        f"in {span(plan.cost / MILLISECONDS)} of {span(budget)}{proved}"
    )
    if plan.possible > plan.trusted:
        yield f"{plan.possible - plan.trusted} more tests would see one in more time"
    if plan.possible < plan.tests:
        yield f"{plan.tests - plan.possible} tests would see none however long they ran: no mutant of theirs was killed"
    for machine in dict.fromkeys(run.environment.machine for run in plan.runs):
        table = _folding("test", "environment")
        for column in ("launches", "time", "confidence", "bugs"):
            table.add_column(column, justify="right")
        for run in plan.runs:
            if run.environment.machine == machine:
                cells = (f"{run.launches:,}", span(run.seconds), percent(run.confidence), str(len(run.bugs)))
                table.add_row(Text(run.test.name), Text(run.environment.way), *cells)
        yield ""
        yield str(machine)
        yield table


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


def _folding(*columns: str) -> Table:
    """Return a table without lines whose long names are folded."""
    table = plain_table()
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


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
