"""``synth memory`` synthesises memory tests from a model, or from edges of critical cycles."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

import click
from click.core import ParameterSource

from constraints.cycles import cycles, idle
from constraints.loop import SolverEffort
from constraints.programs.criterion import Criterion
from constraints.solvers import DEFAULT_SOLVER
from corpus.cycles.cycle import cycle_name, oriented
from corpus.cycles.edges import parse_edges
from corpus.errors import InputError
from corpus.files import read_text
from corpus.journal import Journal
from corpus.litmus.test import SCOPES, Region
from synth.memory.synthesis import CycleSuiteOutcome, CycleSuiteRequest, synthesise, write_suite
from synth.options.models import ModelName
from synth.options.values import Span, listed, spelled
from synth.options.vocabulary import MOST_EVENTS, Words, vocabulary_option
from synth.options.work import A_PART, limit_options, run_options, workplaces
from synth.pool import resumable
from synth.units import INTERRUPTED, stopped_by
from synth.watch import watching
from synth.worker import Limits


@click.command(name="memory")
@click.option("--edges", "-e", metavar="NAMES", help="The edges that cycles are made of; synth edges lists them.")
@click.option("--edges-file", type=click.Path(path_type=Path), metavar="FILE", help="The same from a file; # comments.")
@click.option("--from", "source", type=ModelName(), metavar="MODEL", help="Every minimal test of this model instead.")
@click.option("--events", type=Span(2, MOST_EVENTS), metavar="N", help="With --from: number of events, 4 or 2..5.")
@click.option("--axiom", "axioms", multiple=True, metavar="NAME", help="With --from: only tests that pin this axiom.")
@vocabulary_option
@click.option(
    "--criterion",
    type=click.Choice([each.value for each in Criterion]),
    default=Criterion.OUTCOME.value,
    show_default=True,
    help="With --from: what is minimal, an outcome or one execution.",
)
@click.option("--both-criteria", is_flag=True, help="With --from: count the tests of the other criterion, too.")
@click.option(
    "--up-to",
    type=click.Choice(["test", "program"]),
    default="test",
    show_default=True,
    help="With --from: keep every test, or one of each program.",
)
@click.option(
    "--mutants",
    is_flag=True,
    help="With --from: near twins of each test too, which are allowed: its relaxations, and accesses turned round.",
)
@click.option("--size", type=Span(2), default="4", show_default=True, help="Number of edges of a cycle.")
@click.option("--threads", "-t", type=Span(1), help="Only tests of so many threads.")
@click.option(
    "--scopes",
    metavar="LIST",
    help="Of cta,gpu,sys: what names without a scope mean, and levels that vary; with --from: only these.",
)
@click.option("--regions", default="global", show_default=True, metavar="LIST", help="Of global,shared.")
@click.option("--thread-accesses", type=click.IntRange(min=1), default=2, show_default=True, help="At most, a thread.")
@click.option(
    "--location-accesses", type=click.IntRange(min=2), default=3, show_default=True, help="At most, a location."
)
@click.option("--like-diy7", is_flag=True, help="The cycles of diy7 -mode critical with these edges.")
@click.option("--compositions", is_flag=True, help="Communication may go on as communication, as rf;fr does: it is co.")
@click.option(
    "-m",
    "--model",
    "models",
    type=ModelName(),
    multiple=True,
    metavar="MODEL",
    help="Label under this model: as for synth label. May be repeated.",
)
@click.option("--distinguish", metavar="A>B", help="Only tests that model A allows and model B forbids (and C: A>B,C).")
@click.option("--allowed-by", multiple=True, type=ModelName(), metavar="MODEL", help="Only tests that it allows.")
@click.option("--forbidden-by", multiple=True, type=ModelName(), metavar="MODEL", help="Only tests that it forbids.")
@click.option("--cycles", "listing", is_flag=True, help="Only print each cycle, a line each, and write nothing.")
@click.option("--minimal", is_flag=True, help="Of tests with the same verdicts, none that contains another.")
@click.option("--certify", is_flag=True, help="Write a certificate that nothing is left, which synth verify checks.")
@click.option("--max-tests", type=click.IntRange(min=1), help="Stop when so many tests are found.")
@run_options(DEFAULT_SOLVER)
@limit_options(f"{A_PART}; with --edges, a test under all models", whole=True)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="The folder to write.")
@click.pass_context
def command(
    context: click.Context,
    edges: str | None,
    edges_file: Path | None,
    source: str | None,
    events: tuple[int, int] | None,
    axioms: tuple[str, ...],
    vocabulary: Words,
    criterion: str,
    both_criteria: bool,
    up_to: str,
    mutants: bool,
    size: tuple[int, int],
    threads: tuple[int, int] | None,
    scopes: str | None,
    regions: str,
    thread_accesses: int,
    location_accesses: int,
    like_diy7: bool,
    compositions: bool,
    models: tuple[str, ...],
    distinguish: str | None,
    allowed_by: tuple[str, ...],
    forbidden_by: tuple[str, ...],
    listing: bool,
    minimal: bool,
    certify: bool,
    max_tests: int | None,
    time_limit: float | None,
    solver: str,
    jobs: int | None,
    cluster: str | None,
    resume: bool,
    limits: Limits,
    output: Path | None,
) -> None:
    """Synthesise memory tests, in one of two ways: from a model, or from edges.

    --from MODEL: every smallest program that the model forbids an outcome of. That is, all programs up to so many
    events with an outcome that the model forbids, and allows after every single relaxation of the program. What
    programs are made of is what the model can tell apart; nothing else is asked. docs/suites.md has the relaxations.

    --edges NAMES: every critical cycle that these edges form, of so many edges. A cycle of program order and
    communication between threads is what sequential consistency forbids; its test asks whether it can happen. Each
    cycle is found once, up to the choice of its first edge and the names of threads and locations, with every scope
    tree that --scopes tells apart. docs/memory.md says what a cycle and its test are, and what --minimal compares.
    --cycles lists them, each with the name of its test, and makes no tests.

    Either way a solver searches until it has proved that nothing is left; then the manifest says complete. The suite is
    a corpus (docs/corpus.md); a run that was stopped goes on with --resume, to the same bytes in the end.

    \b
    All tests of TSO up to five events, and their mutants:
      synth memory --from tso --events 2..5 --mutants -o tso
    The tests of one axiom, without atomics and system scope, labelled under other models too:
      synth memory --from ptx-6.0 --events 2..4 --axiom causality --vocabulary "-rmw -sys" -m rc11-scoped -o causality
    The classic tests of two threads:
      synth memory --edges "PodWW PodRR PodRW PodWR Rfe Fre Coe" --size 4 -o classic
    What these edges would make, before it is made:
      synth memory --edges "PodWW PodRR PodRW PodWR Rfe Fre Coe" --size 2..10 --cycles
    The same with fences, and threads in one CTA or two, labelled:
      synth memory --edges "PodWW PodRR PodRW PodWR Rfe Fre Coe MembarGldWW MembarGldRR" --scopes cta -m ptx-rmo -o gpu
    Release and acquire at each scope:
      synth memory --edges "PodWW PodRR Rfe Fre Rel Acq Plain" --scopes cta,gpu -m ptx-6.0 -m rc11-scoped -o ra
    The smallest tests that PTX allows and sequential consistency forbids:
      synth memory -e "PodWW PodRR PodRW PodWR Rfe Fre Coe" --size 3..6 --distinguish 'ptx-6.0>sc' --minimal -o border
    """
    if source is not None:
        _check_alone(context)
    if listing:
        _check_listing(context)
    elif output is None:
        raise click.UsageError("Missing option '--output' / '-o'.")
    if source is not None and output is not None:
        from synth.commands.suite import synthesise_from  # imported where they are needed
        from synth.memory import suites

        memory = regions if _given(context, "regions") else None
        asked_for = suites.SuiteRequest(
            model=source,
            events=events or (2, 4),
            axioms=axioms,
            dialect=vocabulary[0],
            more=vocabulary[1],
            without=vocabulary[2],
            threads=threads,
            criterion=criterion,
            both_criteria=both_criteria,
            up_to=up_to,
            mutants=mutants,
            labelled_under=models,
            scopes=listed("--scopes", scopes, list(SCOPES)),
            regions=listed("--regions", memory, [region.value for region in Region]),
        )
        synthesise_from(asked_for, resume, solver, jobs, cluster, max_tests, time_limit, limits, certify, output)
    _check_no_model(context)
    _check_like_diy7(context)
    text = _edges_text(edges, edges_file)
    allowed, forbidden = _border(distinguish)
    request = CycleSuiteRequest(
        edges=" ".join(word for line in text.splitlines() for word in line.partition("#")[0].split()),
        sizes=size,
        threads=threads,
        scopes=listed("--scopes", scopes, list(SCOPES)),
        regions=listed("--regions", regions, [region.value for region in Region]),
        thread_accesses=thread_accesses,
        location_accesses=location_accesses,
        compositions=compositions,
        like_diy7=like_diy7,
        labelled_under=models,
        allowed_by=(*allowed, *allowed_by),
        forbidden_by=(*forbidden, *forbidden_by),
        minimal=minimal,
    )
    if edges_file:
        parse_edges(text, request.scopes, str(edges_file))  # parsed here so that an error has its line
    if certify:
        from synth.memory.certification import check_certifiable_cycles  # imported where they are needed

        check_certifiable_cycles(request)
    _tell_idle(request)
    _check_some_cycle(request, solver)
    if output is None:
        _list_cycles(request, solver, max_tests)
        return
    asked = request.as_json()
    started = time.monotonic()
    with (
        workplaces(jobs, cluster, max_tests is not None) as places,
        Journal.open(output, asked, resume) as journal,
        resumable(),
    ):
        effort, outcome = SolverEffort(), CycleSuiteOutcome()
        try:
            steps = synthesise(request, journal, solver, places, effort, outcome, max_tests, limits)
            outcome.stopped = _collect(steps, outcome, max_tests, time_limit) or stopped_by(outcome.exceeded)
        except KeyboardInterrupt:
            outcome.stopped = INTERRUPTED
        if certify and outcome.complete:
            from synth.memory.certification import certify_cycles

            with watching("certifying", found=False) as watch:
                certify_cycles(request, output, solver, places, lambda done, of: watch(done, of, 0))
        times = {"seconds": round(time.monotonic() - started, 3), "calls": effort.calls}
        tests = write_suite(request, journal, outcome, times)
    state = "complete" if outcome.complete else f"incomplete: {outcome.stopped}; --resume goes on"
    judged = "judged " if request.separates else ""  # the solver left out the others
    click.echo(f"{output}: {tests} tests of {outcome.found} {judged}cycles, {state}")
    if outcome.complete and not tests and (request.allowed_by or request.forbidden_by):
        _tell_cuts(request)
    code = _tell_unknown(outcome, list(asked["models"]))
    sys.exit(code or (130 if outcome.stopped == INTERRUPTED else 0))


OF_MODELS = ("events", "axioms", "vocabulary", "criterion", "both_criteria", "up_to", "mutants")
OF_EDGES = (
    *("edges", "edges_file", "size", "thread_accesses", "location_accesses", "compositions", "like_diy7"),
    *("distinguish", "allowed_by", "forbidden_by", "minimal", "listing"),
)
OTHER_RULES = ("thread_accesses", "location_accesses", "compositions")
OF_TESTS = (
    *("models", "distinguish", "allowed_by", "forbidden_by", "minimal", "certify", "output"),
    *("resume", "jobs", "cluster", "time_limit", "timeout", "memory"),
)


def _given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _check_alone(context: click.Context) -> None:
    """Raise ``UsageError`` where --from is given with an option that is for edges."""
    for parameter in context.command.params:
        if parameter.name in OF_EDGES and _given(context, parameter.name):
            raise click.UsageError(f"{parameter.opts[0]} is for edges, and --from needs none")


def _check_listing(context: click.Context) -> None:
    """Raise ``UsageError`` where --cycles is given with an option that is for tests."""
    for parameter in context.command.params:
        if parameter.name in OF_TESTS and _given(context, parameter.name):
            raise click.UsageError(f"{parameter.opts[0]} is for tests, and --cycles makes none")


def _list_cycles(request: CycleSuiteRequest, solver: str, most: int | None) -> None:
    """Print the name of each cycle's test and its edges, smallest cycles first."""
    least, largest = request.sizes
    found = (cycle for size in range(least, largest + 1) for cycle in cycles(request.bounds, size, solver))
    turned = map(oriented, islice(found, most))
    sys.stdout.writelines(f"{cycle_name(cycle)}: {cycle.spelled}\n" for cycle in turned)


def _check_no_model(context: click.Context) -> None:
    """Raise ``UsageError`` where an option of --from is given without it."""
    for parameter in context.command.params:
        if parameter.name in OF_MODELS and _given(context, parameter.name):
            raise click.UsageError(f"{parameter.opts[0]} needs --from MODEL")
    threads = context.params["threads"]
    if threads is not None and threads[0] < 2:
        raise click.UsageError("--threads: a cycle has two threads or more")


def _check_like_diy7(context: click.Context) -> None:
    """Raise ``UsageError`` where --like-diy7 is given with an option for which diy7 has rules of its own."""
    for parameter in context.command.params:
        if context.params["like_diy7"] and parameter.name in OTHER_RULES and _given(context, parameter.name):
            raise click.UsageError(f"{parameter.opts[0]}: --like-diy7 has a rule of its own for it")


def _collect(
    steps: Generator[None], outcome: CycleSuiteOutcome, max_tests: int | None, time_limit: float | None
) -> str:
    """Run the steps until nothing is left or a limit is met; return the reason to stop."""
    deadline = None if time_limit is None else time.monotonic() + time_limit
    with closing(steps), watching() as watch:
        for _ in steps:
            if deadline is not None and time.monotonic() > deadline:
                return f"the time limit of {time_limit:g} s"
            watch(outcome.found, None, outcome.found - len(outcome.refused))  # the number of cycles is not known
            if max_tests is not None and outcome.found >= max_tests:
                return f"the limit of {max_tests} tests"
    return ""


def _edges_text(edges: str | None, file: Path | None) -> str:
    if (edges is None) == (file is None):
        raise click.UsageError("give --edges or --edges-file, one of the two, or --from MODEL")
    text = edges if edges is not None else read_text(file or Path())
    if not text.split():
        raise click.UsageError("expected edges, as in --edges 'PodWW Rfe PodRR Fre'; synth edges lists them")
    return text


def _border(text: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if text is None:
        return (), ()
    allowing, arrow, forbidding = text.partition(">")
    others = tuple(name.strip() for name in forbidding.split(",") if name.strip())
    if not (arrow and allowing.strip() and others):
        raise click.BadParameter(f"expected A>B or A>B,C, found '{text}'", param_hint="'--distinguish'")
    return (allowing.strip(),), others


def _tell_idle(request: CycleSuiteRequest) -> None:
    """Print on standard error which sequences among the edges no cycle has, and why."""
    largest = request.sizes[1]
    for line in idle(request.bounds, largest):
        anyway = request.like_diy7 or line in idle(replace(request.bounds, compositions=True), largest)
        click.echo(f"synth: {line}" + ("" if anyway else "; --compositions allows it"), err=True)


def _tell_cuts(request: CycleSuiteRequest) -> None:
    """Print on standard error what bounded the search for tests between models, and a command that needs no edges."""
    from synth.memory.cuts import cuts  # imported where it is needed

    click.echo(f"synth: {cuts(request)}", err=True)
    names = dict.fromkeys((*request.allowed_by, *request.forbidden_by))
    if request.separates and len(names) > 1:
        click.echo(f"synth: synth compare {' '.join(names)} needs no edges: it tries all programs of a size", err=True)


def _check_some_cycle(request: CycleSuiteRequest, solver: str) -> None:
    """Raise ``InputError``, before anything is written, where the edges close no cycle of any of the sizes."""
    least, most = request.sizes
    if all(next(cycles(request.bounds, size, solver), None) is None for size in range(least, most + 1)):
        sizes = f"{least}" if least == most else f"{least} to {most}"
        raise InputError(f"no cycle of {sizes} edges: {_why_none(request)}")


def _why_none(request: CycleSuiteRequest) -> str:
    bounds = request.bounds
    edges = [edge for run in bounds.vocabulary.runs for edge in run]
    if not edges:
        return "only annotations are given"
    if all(edge.internal for edge in edges):
        return "no edge leads from one thread to another; Rfe, Fre and Coe do"
    for access, word in (("R", "read"), ("W", "write")):
        leading, arriving = (any(getattr(edge, end) == access for edge in edges) for end in ("source", "target"))
        if leading and not arriving:
            return f"edges lead from a {word}, and none arrives at one"
        if arriving and not leading:
            return f"edges arrive at a {word}, and none leads on"
    if bounds.regions == (Region.SHARED,) and "cta" not in bounds.levels:
        return "shared memory is of one CTA, and without --scopes cta every thread is in its own"
    return "these edges close none" + (f" of {spelled(request.threads)} threads" if request.threads else "")


def _tell_unknown(outcome: CycleSuiteOutcome, names: list[str]) -> int:
    """Print on standard error what no dialect says, and where a model has no verdict.

    Return 2 where a model has no verdict at all, else 0.
    """
    code = 0
    if outcome.refused:
        first = outcome.refused[0]
        many = f"{len(outcome.refused)} of {outcome.found} tests"
        click.echo(f"synth: {many} are left out, and the manifest lists them: {first.name}: {first.reason}", err=True)
    for name in names:
        number, reason = outcome.unknown.get(name, (0, ""))
        if number:
            click.echo(f"synth: {name} has no verdict on {number} of {outcome.tests} tests: {reason}", err=True)
            code = 2 if number == outcome.tests else code
    return code
