"""``synth select`` picks the fewest tests of a corpus that answer a question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace
from rich.table import Table
from rich.text import Text

from backends.shared.results import RESULTS
from corpus.errors import InputError, one_line, printable
from corpus.files import new_folder, write_atomically
from corpus.journal import read_corpus
from corpus.suite import Corpus, pretty, write_corpus
from corpus.test import Test
from synth import VERSION
from synth.families.interface import Family, family
from synth.inputs import MEMORY, Input, family_in
from synth.labels import UNKNOWN
from synth.options.form import Page, json_option
from synth.options.models import models_option
from synth.options.tests import choice_options
from synth.pool import cores
from synth.requests import SelectionFilter
from synth.screen.console import screen
from synth.selection import Selection, Words, select, separated_pairs, sides
from synth.watch import busy


@click.command(name="select", cls=Page, first="--separate-models --each --model --output")
@click.argument("corpus", type=click.Path(path_type=Path))
@click.argument("results", nargs=-1, type=click.Path(path_type=Path))
@click.option("--separate-models", is_flag=True, help="Pick tests that tell apart every pair of models.")
@click.option(
    "--each",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="K",
    help="Separate each pair by K tests.",
)
@models_option(
    "Only pairs of these models, named as in the corpus; a name without -weak or -strong means both. Repeatable.",
    "names",
)
@click.option("--score", is_flag=True, help="Pick the tests, and ways to launch them, that would find the most bugs.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, max=1e9, min_open=True),
    metavar="SECONDS",
    help="With --score: the time that all tests together may take.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="With --score: the least probability with which a test must reveal its bug.",
)
@click.option(
    "--sure", is_flag=True, help="With --score: use the lower ends of the confidence intervals of kill rates."
)
@choice_options
@click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Write the tests as a new corpus.")
@json_option("Print JSON instead of a table.")
def command(
    corpus: Path,
    results: tuple[Path, ...],
    separate_models: bool,
    each: int,
    names: tuple[str, ...],
    score: bool,
    budget: float | None,
    confidence: float,
    sure: bool,
    choice: SelectionFilter,
    output: Path | None,
    as_json: bool,
) -> None:
    """Pick the fewest tests that tell models apart, or those that find the most bugs in a given time.

    A test separates two models if it terminates under one and may hang under the other, or if one allows it and the
    other forbids it. synth uses the verdicts in the corpus, except that a model that raises a flag on a test, such as a
    data race, promises nothing there and separates nothing. --separate-models picks the fewest tests such that K tests
    separate each pair of models, or all that do if the corpus has fewer than K. No smaller choice exists; among the
    smallest, synth prefers small tests.

    --score is for suites of synth memory --mutants whose mutants have run. RESULTS, or the results in the suite's
    folder, say which mutants each device kills, how fast, and with which way to launch (synth score). synth then picks
    tests, ways to launch them and numbers of launches for --budget seconds. It wants the most tests that would reveal
    their bug with --confidence, then the most bugs, then the least time; no choice within the budget does better. With
    -o, the plan is plan.json beside the tests.

    \b
    Examples:
      synth select suite --separate-models
      synth select suite --separate-models --each 3 -o overnight
      synth select suite --separate-models --model obe --model hsa-strong
      synth select suite --separate-models --json | jq -r '.tests[].name'
      synth select tso --score --budget 60 -o ci
      synth select tso laptop.jsonl phone.jsonl --score --budget 3600 --confidence 0.99999 --json

    synth lists the pairs that no test in the corpus separates. unfair-weak and unfair-strong are always among them,
    because no test terminates under either; HSA+OBE and LOBE differ only from three threads on.
    """
    if separate_models == score:
        raise click.UsageError("give either --separate-models or --score")
    if score:
        if budget is None:
            raise click.UsageError("--score needs --budget, the seconds that tests may take")
        _select_by_score(corpus, results, budget, confidence, sure, choice, output, as_json)
        return
    if results:
        raise click.UsageError("RESULTS need --score")
    opened = read_corpus(corpus)
    models = _models(opened, names)
    kind = family(family_in(opened.manifest))
    tests, silent = _promised(opened, choice.of_tests(opened.tests), models)
    for line in silent:
        click.echo(one_line(f"synth: {line}"), err=True)
    with busy("Selecting"):
        selection = select(tests, models, words_of(kind), each)
    if output:
        _write(output, opened, models, each, selection)
    if as_json:
        click.echo(json.dumps(_summary(opened, kind, selection, models, each), indent=2))
    else:
        _print(opened, kind, selection, models, each)
        if output:
            screen().print(f"\nWritten to {printable(str(output))}", markup=False, soft_wrap=True)


def _select_by_score(
    path: Path,
    results: Sequence[Path],
    budget: float,
    confidence: float,
    sure: bool,
    choice: SelectionFilter,
    output: Path | None,
    as_json: bool,
) -> None:
    from synth.mutation.kills import read_kills, read_suite
    from synth.mutation.plans import PLAN, plan
    from synth.mutation.records import nothing_planned, plan_record
    from synth.screen.counts import plan_tables

    suite = read_suite(path, choice)
    with busy("Selecting"):
        best = plan(suite, read_kills(suite, results or [path / RESULTS]), budget, confidence, sure=sure)
    if not best.runs:
        raise InputError(nothing_planned(best, budget), str(path))
    record = plan_record(best, budget, confidence)
    if output:
        source = read_corpus(path)
        request = {"budget": budget, "confidence": confidence, "sure": sure}
        chosen = {run.test.name for run in best.runs}
        with new_folder(output) as folder:
            write_atomically(folder / PLAN, [pretty(record)])
            write_corpus(folder, [test for test in suite.tests if test.name in chosen], _manifest(source, request))
    if as_json:
        click.echo(json.dumps(record, indent=2))
        return
    console = screen()
    for part in plan_tables(best, budget):
        console.print(part, markup=False, soft_wrap=isinstance(part, str))
    if output:
        screen().print(f"\nWritten to {printable(str(output))}", markup=False, soft_wrap=True)


def _promised(source: Corpus, tests: Sequence[Test], models: Sequence[str]) -> tuple[Sequence[Test], list[str]]:
    """Return the tests without the verdicts that are no promises, and a line for each model that has such verdicts.

    A model that raises a flag on a test promises nothing of it, so its verdict separates nothing. Every verdict on a
    progress test is a promise, and so is every verdict of a model that raises no flag.
    """
    if family_in(source.manifest) != MEMORY:
        return tests, []
    from oracle.consistency import AxiomaticModel
    from synth.memory.conformance import labelled_by, models_as_recorded, promises_by_processes

    known = models_as_recorded({name: {digest} for name, digest in labelled_by(source.manifest).items()})
    flagging = [
        known[name] for name in models if isinstance(model := known.get(name), AxiomaticModel) and model.model.flags
    ]
    pairs = [(test, model) for test in tests for model in flagging if test.verdicts.get(model.name, UNKNOWN) != UNKNOWN]
    inputs = [(Input(test.name, test.name, source.path, test), model) for test, model in pairs]
    reasons: dict[str, dict[str, str]] = {}
    silent: dict[str, list[str]] = {}
    for (test, model), promise in zip(pairs, promises_by_processes(inputs, cores()), strict=True):
        if promise.forbids_asked is None:
            reasons.setdefault(test.name, {})[model.name] = promise.reason
            silent.setdefault(model.name, []).append(promise.reason)
    lines = [
        f"{model} promises nothing of {len(why)} of {len(tests)} tests ({', '.join(sorted({*why}))}): they separate it "
        "from no model"
        for model, why in silent.items()
    ]
    without = {name: dict.fromkeys(unknown, UNKNOWN) for name, unknown in reasons.items()}
    promised = [
        replace(test, verdicts={**test.verdicts, **without[test.name]}) if test.name in without else test
        for test in tests
    ]
    return promised, lines


def words_of(kind: Family) -> Words:
    """Return the words of the two verdicts of a family of tests."""
    one, other = kind.sides
    return one.verdict, other.verdict


def _models(corpus: Corpus, names: Sequence[str]) -> list[str]:
    """Return the models that the names mean, in the order of the corpus; all models where none is named."""
    there = list(dict.fromkeys([*corpus.manifest.get("models", []), *(m for t in corpus.tests for m in t.verdicts)]))
    if len(there) < 2:
        raise InputError("the corpus has no verdicts of two models to tell apart", str(corpus.path))
    readings = {name: {name, f"{name}-weak", f"{name}-strong"} for name in names}
    for name, meant in readings.items():
        if meant.isdisjoint(there):
            raise InputError(f"no verdicts of a model '{name}'; there are {', '.join(there)}", str(corpus.path))
    chosen = [model for model in there if not names or any(model in meant for meant in readings.values())]
    if len(chosen) < 2:
        raise InputError("give --model for two models or more")
    return chosen


def _write(output: Path, source: Corpus, models: Sequence[str], least: int, selection: Selection) -> None:
    with new_folder(output) as folder:
        chosen = {test.name for test in selection.tests}  # these have the verdicts of the corpus
        tests = [test for test in source.tests if test.name in chosen]
        write_corpus(folder, tests, _manifest(source, {"separate_models": models, "each": least}))


def _manifest(source: Corpus, request: Mapping[str, object]) -> dict[str, Any]:
    """Return the manifest of a corpus of tests that were chosen from another corpus."""
    origin = {"tests": len(source.tests), "request": source.manifest.get("request")}
    return {
        "complete": bool(source.manifest.get("complete")),
        "version": VERSION,
        "request": {"kind": "select", **request, "from": origin},
        "models": source.manifest.get("models", []),
    }


def _print(source: Corpus, kind: Family, selection: Selection, models: Sequence[str], least: int) -> None:
    console = screen()
    separated = sum(tests > 0 for tests in selection.separable.values())
    times = f", each by {least} where the corpus has so many" if least > 1 else ""
    so_far = "" if source.manifest.get("complete") else "; the corpus is not complete"
    console.print(
        f"{len(selection.tests)} of {len(source.tests)} tests separate "
        f"{separated} of {len(selection.separable)} pairs of models{times}{so_far}"
    )
    if selection.tests:
        console.print(_table(kind, selection.tests, models))
        one, other = (side.heading for side in kind.sides)
        verb = "it terminates under" if one == "terminates under" else "that forbid it"
        others = f"it {other}" if one == "terminates under" else "that allow it"
        console.print(f"\nA test separates the models {verb} from those {others}.")
    for number in range(least):
        pairs = [f"{a}/{b}" for (a, b), tests in selection.separable.items() if tests == number]
        if pairs:
            console.print(Text(f"\nSeparated by {number or 'none'} of the corpus's tests: {'  '.join(pairs)}"))


def _table(kind: Family, tests: Sequence[Test], models: Sequence[str]) -> Table:
    table = Table("test", box=None, pad_edge=False, header_style="bold", padding=(1, 2, 0, 0))
    table.add_column("program", no_wrap=True)
    for side in kind.sides:
        table.add_column(side.heading, overflow="fold")
    for test in tests:
        texts = (" ".join(_brief(side, models)) for side in sides(test.verdicts, models, words_of(kind)))
        table.add_row(Text(test.name), Text(test.text.rstrip()), *map(Text, texts))
    return table


def _brief(chosen: Sequence[str], models: Sequence[str]) -> list[str]:
    """Return the names of models; a bare guarantee where all its readings among ``models`` are chosen."""

    def readings(guarantee: str, among: Sequence[str]) -> list[str]:
        return [model for model in among if _guarantee(model) == guarantee]

    brief = []
    for guarantee in dict.fromkeys(map(_guarantee, chosen)):
        own = readings(guarantee, chosen)
        brief += [guarantee] if len(own) > 1 and own == readings(guarantee, models) else own
    return brief


def _guarantee(model: str) -> str:
    return model.rpartition("-")[0] or model


def _summary(source: Corpus, kind: Family, selection: Selection, models: Sequence[str], least: int) -> dict[str, Any]:
    return {
        "complete": bool(source.manifest.get("complete")),
        "models": models,
        "each": least,
        "tests": [
            {
                "name": test.name,
                "digest": test.digest,
                "text": test.text,
                **dict(
                    zip([side.key for side in kind.sides], sides(test.verdicts, models, words_of(kind)), strict=True)
                ),
            }
            for test in selection.tests
        ],
        "pairs": [
            {
                "models": pair,
                "tests": [
                    test.name
                    for test in selection.tests
                    if pair in separated_pairs(test.verdicts, models, words_of(kind))
                ],
                "tests_in_corpus": number,
            }
            for pair, number in selection.separable.items()
        ],
    }
