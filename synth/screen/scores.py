"""The tables of ``synth score`` and of plans: mutation scores, kill rates, and the confidences of tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from synth.mutation.kills import KillCounts, MutantSuite, Observed
from synth.mutation.plans import MILLISECONDS, Plan
from synth.mutation.records import percent, rate, span
from synth.mutation.scores import LEVELS, Trust, best_of, keys, machines, score, scores_by, trust
from synth.screen.console import plain_table

FEW = 8
"""The most names that are listed where there may be many."""


def score_tables(
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


def _folding(*columns: str) -> Table:
    """Return a table without lines whose long names are folded."""
    table = plain_table()
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
