"""``synth memory --from MODEL`` synthesises every minimal test of a model."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from constraints.programs.criterion import BOTH, Criterion
from corpus.errors import one_line, printable
from corpus.journal import Journal, read_corpus
from corpus.litmus.locations import MEMORY_REGIONS
from corpus.litmus.orders import SCOPES
from synth.memory.suites import Certifier, SuiteRequest, empty_sets, make_suite, remove_mutants
from synth.options.question_folder import corpus_folder, print_state, question_name, span
from synth.options.values import listed
from synth.options.vocabulary import Words
from synth.options.work import workplaces
from synth.pool import resumable
from synth.requests import Numbers, spelled
from synth.screen.console import table_console
from synth.screen.counts import size_table
from synth.units import INTERRUPTED
from synth.worker import Limits


def from_model(
    source: str,
    events: Numbers,
    axioms: tuple[str, ...],
    vocabulary: Words,
    criterion: str,
    up_to: str,
    mutants: bool,
    threads: Numbers | None,
    scopes: str | None,
    regions: str | None,
    models: tuple[str, ...],
    certify: bool,
    max_tests: int | None,
    time_limit: float | None,
    solver: str,
    jobs: int | str | None,
    limits: Limits,
    output: Path | None,
) -> None:
    """Synthesise the suite of a model, print how many tests it has, and exit."""
    request = SuiteRequest(
        model=source,
        events=events,
        axioms=axioms,
        dialect=vocabulary[0],
        more=vocabulary[1],
        without=vocabulary[2],
        threads=threads,
        criterion=Criterion.OUTCOME.value if criterion == BOTH else criterion,
        both_criteria=criterion == BOTH,
        up_to=up_to,
        mutants=mutants,
        labelled_under=models,
        scopes=listed("--scopes", scopes, list(SCOPES)),
        regions=listed("--regions", regions, [region.value for region in MEMORY_REGIONS]),
    )
    request.check()
    certifier: Certifier | None = None
    if certify:
        from synth.memory.certification import certify_suite, check_certifiable  # imported where they are needed

        check_certifiable(request)
        certifier = certify_suite
    question = request.as_json()
    if output is None:
        folder = corpus_folder(question_name(["memory", source, span(events)], ("source", "events")), question)
        if print_state(folder, f"{spelled(events)} events"):
            return
        output = folder.path
    for line in empty_sets(request.words, [request.axiomatic]):
        click.echo(one_line(f"synth: {line}"), err=True)
    with (
        workplaces(jobs, max_tests is not None) as places,
        Journal.open(output, question) as journal,
        resumable(),
    ):
        remove_mutants(output)
        click.echo(f"{request.axiomatic.name} tells apart, in {request.words.name}: {request.words.summary}")
        outcome, tests = make_suite(request, journal, solver, places, max_tests, time_limit, limits, certifier)
    if tests:
        table_console().print(size_table(read_corpus(output)))
    state = "complete" if outcome.complete else f"incomplete: {outcome.stopped}; the same command goes on"
    counted = ", ".join(f"{count} by {criterion}" for criterion, count in sorted(outcome.found.items()))
    by_both = f" ({counted})" if request.both_criteria else ""
    click.echo(f"{printable(str(output))}: {tests} tests{by_both}, {state}")
    sys.exit(130 if outcome.stopped == INTERRUPTED else 0)
