"""The tables of ``synth show`` and ``synth score``: what is in a corpus, and which of its mutants devices kill."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from corpus.suite import Corpus
from corpus.test import Test
from oracle.executions.judge import Answer
from oracle.progress.hierarchy import TABLE_4, conforms
from synth.families.interface import CorpusCounts
from synth.memory.counts import SuiteCounts, axioms, counts_by_size
from synth.mutation.kills import KillCounts, MutantSuite, Observed
from synth.mutation.plans import MILLISECONDS, Plan
from synth.mutation.records import percent, rate, span
from synth.mutation.scores import LEVELS, Trust, best_of, keys, machines, score, scores_by, trust
from synth.progress.counts import ProgressCounts, Vectors, by_bound, by_tag
from synth.screen.console import plain_table


def count_tables(counts: CorpusCounts) -> Iterator[tuple[str, Table]]:
    """Yield the tables of the counts of a corpus, each under its title; a table may have its title in it."""
    if isinstance(counts, ProgressCounts):
        yield from _progress_tables(counts)
    elif isinstance(counts, SuiteCounts):
        yield from _memory_tables(counts)


# Progress tests


def _progress_tables(counts: ProgressCounts) -> Iterator[tuple[str, Table]]:
    if counts.corpus.tests:
        yield "", _terminating(counts.corpus.tests, counts.models)
        yield "", _d_and_c("Models", _D_AND_C, _guarantees(counts.models), counts.by_model())
        if counts.borders.table_4:
            rows = counts.table_4().items()
            cells = {f"{guarantee}-{reading}": cell for reading, row in rows for guarantee, cell in row.items()}
            yield "", _d_and_c("Table 4", _TABLE_4, TABLE_4, cells)


def _guarantees(models: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(model.rpartition("-")[0] for model in models))


def _readings(models: Sequence[str], guarantee: str) -> list[str]:
    return [f"{guarantee}-{reading}" for reading in ("weak", "strong") if f"{guarantee}-{reading}" in models]


def _terminates(vectors: Vectors, model: str) -> int:
    return sum(count for vector, count in vectors.items() if conforms(dict(vector), model))


def _terminating(tests: Sequence[Test], models: Sequence[str]) -> Table:
    table = plain_table("", title="Tests terminating")
    table.add_column("tests", justify="right")
    for guarantee in _guarantees(models):
        readings = [model.rpartition("-")[2] for model in _readings(models, guarantee)]
        table.add_column(Text(f"{guarantee}\n{'/'.join(readings)}"), justify="right", no_wrap=True)
    for group in (by_bound(tests), by_tag(tests)):
        for name, counter in group.items():
            cells = [
                "/".join(str(_terminates(counter, model)) for model in _readings(models, guarantee))
                for guarantee in _guarantees(models)
            ]
            table.add_row(Text(name), str(counter.total()), *cells)
        table.add_section()
    return table


_D_AND_C = (
    "C: tests that terminate under the model. D: those of them that may hang under every model that is less fair."
)
_TABLE_4 = (
    "As in Table 4 of Sorensen et al. 2021: each test is counted once, for the first of these models under which it "
    "terminates. Tests that terminate under weak fairness are weak, others strong."
)


def _d_and_c(
    title: str, legend: str, guarantees: Iterable[str], cells: Mapping[str, Mapping[str, int | None]]
) -> Table:
    """Return the table of distinguishing and conformance tests by model; a dash where they are not known."""
    table = plain_table("model", title=title)
    table.caption, table.caption_justify = legend, "left"
    for heading in ("weak D", "weak C", "strong D", "strong C"):
        table.add_column(heading, justify="right")
    for guarantee in guarantees:
        of = [cells.get(f"{guarantee}-{reading}", {}) for reading in ("weak", "strong")]
        row = [cell.get(key) for cell in of for key in ("distinguishing", "conformance")]
        table.add_row(Text(guarantee), *("-" if cell is None else str(cell) for cell in row))
    return table


# Memory tests


def _memory_tables(counts: SuiteCounts) -> Iterator[tuple[str, Table]]:
    corpus = counts.corpus
    yield "Asked for", _request_table(corpus.manifest.get("request", {}))
    if any(map(axioms, corpus.tests)):
        yield "Tests up to a number of events, by the axioms that they pin", size_table(corpus)
    if corpus.tests:
        yield "Tests, and how many of them each model allows" if counts.models else "Tests", _allowed(counts)
        if counts.models:
            yield "Models", _per_model(counts)
        if len(counts.models) > 1:
            yield "Tests that the model of the row allows and that of the column forbids", _pairs(counts)
            yield "Verdicts that go together: A allowed, F forbidden, ? no verdict", _vector_table(counts)


def size_table(corpus: Corpus) -> Table:
    """Return the table of the tests of a suite from a model up to each number of events, by axiom and in all."""
    counts = counts_by_size(corpus)
    table = plain_table("up to")
    for name in next(iter(counts.values()), {}):
        table.add_column(Text(name), justify="right")
    for size, row in counts.items():
        table.add_row(f"{size} events", *map(str, row.values()))
    return table


def _request_table(request: Mapping[str, Any]) -> Table:
    """Return the table of the request, without what was not asked for, and without what only a machine reads."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in request.items():
        if name in ("kind", "models", "model_digests", "from", "without") or not value:
            continue
        if name in ("sizes", "threads", "events") and isinstance(value, list):
            text = str(value[0]) if value[0] == value[-1] else f"{value[0]}..{value[-1]}"
        elif isinstance(value, list):
            text = ", ".join(map(str, value))
        else:
            text = str(value).lower() if value is True else str(value)
        table.add_row(Text(name.replace("_", " ")), Text(text))
    return table


def _allowed(census: SuiteCounts) -> Table:
    """Return the table of tests by size and by shape, and of each how many every model allows."""
    table = plain_table("")
    for heading in ("tests", *census.models):
        table.add_column(Text(heading), justify="right", no_wrap=True)

    def add(heading: str, tests: int, wanted: Callable[[int, str], bool]) -> None:
        allowed = (census.verdicts_of(model, wanted)[Answer.ALLOWED] for model in census.models)
        table.add_row(Text(heading), str(tests), *map(str, allowed))

    sizes = census.sizes()
    for size, tests in sizes.items() if len(sizes) > 1 else ():
        add(f"size {size}", tests, lambda events, _, size=size: events == size)  # type: ignore[misc]
    add("all", census.tests, lambda *_: True)
    table.add_section()
    for name, tests in census.shapes().items():
        add(name, tests, lambda _, shape, name=name: shape == name)  # type: ignore[misc]
    return table


def _per_model(census: SuiteCounts) -> Table:
    verdicts = {model: census.verdicts_of(model) for model in census.models}
    answers = [answer for answer in Answer if any(counts[answer] for counts in verdicts.values())]
    table = plain_table("model")
    for answer in answers:
        table.add_column(answer.lower(), justify="right")
    for model, counts in verdicts.items():
        table.add_row(Text(model), *(str(counts[answer]) for answer in answers))
    return table


def _pairs(census: SuiteCounts) -> Table:
    table = plain_table("")
    for model in census.models:
        table.add_column(Text(model), justify="right", no_wrap=True)
    for allows in census.models:
        cells = ["" if allows == forbids else str(census.telling(allows, forbids)) for forbids in census.models]
        table.add_row(Text(allows), *cells)
    return table


def _vector_table(census: SuiteCounts) -> Table:
    table = plain_table()
    for heading in census.models:
        table.add_column(Text(heading), justify="center", no_wrap=True)
    table.add_column("tests", justify="right")
    table.add_column("such as", no_wrap=True)
    for vector, count in census.vectors().items():
        letters = ["?" if verdict == Answer.UNKNOWN else verdict[0] for verdict in vector]
        table.add_row(*letters, str(count), Text(census.examples[vector]))
    return table


# Mutation scores and plans

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
    for row in found:
        best = row.best
        cells = [f"{row.killed} / {row.mutants}"]
        cells += [rate(best.seen.rate), rate(row.mean_rate)] if best else ["", ""]
        cells += [span(row.seconds), percent(row.confidence), percent(row.at_least)]
        cells += [percent(row.confidence_in(budget))] if budget is not None else []
        cells += [span(row.seconds_for(level)) for level in LEVELS]
        names = (row.test.name, best.link.mutant if best else "", best.environment.way if best else "")
        table.add_row(*map(Text, names), *cells, style="" if best else "dim")
    return table


def _trust_lines(found: Sequence[Trust], budget: float | None, confidence: float) -> Iterator[str]:
    ran = sum(row.confidence >= confidence for row in found)
    yield f"{ran} of {len(found)} tests ran so long that their easiest bug had been seen with {percent(confidence)}"
    if budget is not None:
        would = sum(row.confidence_in(budget) >= confidence for row in found)
        yield f"{would} of them would in {span(budget)} each, in the best environment"
    for what, names in (
        ("no mutant that counts", [row.test.name for row in found if not row.mutants]),
        ("mutants that were not run", [row.test.name for row in found if row.mutants and not row.run]),
        (
            "no mutant that was killed, so that they show nothing",
            [e.test.name for e in found if e.run and not e.killed],
        ),
    ):
        if names:
            more = f", and {len(names) - FEW} more" if len(names) > FEW else ""
            yield f"{len(names)} with {what}: {', '.join(names[:FEW])}{more}"
    for trusted in found:
        if trusted.seen:
            against = (
                f"which {', '.join(trusted.contradicts)} forbids" if trusted.contradicts else "which no model forbids"
            )
            silent = "".join(f"; {model} promises nothing of it: {reason}" for model, reason in trusted.silent.items())
            yield f"{trusted.test.name}: seen {trusted.seen} times, {against}{silent}"


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
