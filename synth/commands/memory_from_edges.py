"""``synth memory --edges NAMES`` synthesises tests of critical cycles; with ``--cycles`` it lists the cycles."""

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
from corpus.cycles.cycle import cycle_name, oriented
from corpus.cycles.edges import parse_edges
from corpus.errors import InputError, one_line, printable
from corpus.files import read_text
from corpus.journal import Journal
from corpus.litmus.locations import MEMORY_REGIONS, Region
from corpus.litmus.orders import SCOPES
from synth.memory.synthesis import CycleSuiteOutcome, CycleSuiteRequest, synthesise, write_suite
from synth.options.question_folder import corpus_folder, print_state, question_name, span
from synth.options.values import listed
from synth.options.work import workplaces
from synth.pool import resumable
from synth.requests import Numbers, spelled
from synth.units import INTERRUPTED, stopped_by
from synth.watch import watching
from synth.worker import Limits

OTHER_RULES = ("thread_accesses", "location_accesses", "compositions")
"""The options for which diy7 has rules of its own."""


def list_cycles(
    edges: str | None,
    size: Numbers,
    threads: Numbers | None,
    scopes: str | None,
    regions: str | None,
    thread_accesses: int,
    location_accesses: int,
    like_diy7: bool,
    compositions: bool,
    max_tests: int | None,
    solver: str,
) -> None:
    """Print the name of each cycle's test and its edges, smallest cycles first."""
    counts = (thread_accesses, location_accesses)
    request = _request(edges, size, threads, scopes, regions, counts, like_diy7, compositions)
    _check_cycles(request, solver)
    least, largest = request.sizes
    found = (cycle for size in range(least, largest + 1) for cycle in cycles(request.bounds, size, solver))
    turned = map(oriented, islice(found, max_tests))
    sys.stdout.writelines(f"{cycle_name(cycle)}: {cycle.spelled}\n" for cycle in turned)


def from_edges(
    edges: str | None,
    size: Numbers,
    threads: Numbers | None,
    scopes: str | None,
    regions: str | None,
    thread_accesses: int,
    location_accesses: int,
    like_diy7: bool,
    compositions: bool,
    models: tuple[str, ...],
    distinguish: str | None,
    minimal: bool,
    certify: bool,
    max_tests: int | None,
    time_limit: float | None,
    solver: str,
    jobs: int | str | None,
    limits: Limits,
    output: Path | None,
) -> None:
    """Synthesise the tests of all cycles, print how many there are, and exit."""
    allowed, forbidden = _border(distinguish)
    counts = (thread_accesses, location_accesses)
    request = replace(
        _request(edges, size, threads, scopes, regions, counts, like_diy7, compositions),
        labelled_under=models,
        allowed_by=allowed,
        forbidden_by=forbidden,
        minimal=minimal,
    )
    if certify:
        from synth.memory.certification import check_certifiable_cycles  # imported where they are needed

        check_certifiable_cycles(request)
    _check_cycles(request, solver)
    question = request.as_json()
    if output is None:
        words = ["memory", *request.edges.split()] if edges else ["memory"]
        folder = corpus_folder(question_name([*words, span(size)], ("edges", "size")), question)
        if print_state(folder, f"cycles of {spelled(size)} edges"):
            return
        output = folder.path
    started = time.monotonic()
    with (
        workplaces(jobs, max_tests is not None) as places,
        Journal.open(output, question) as journal,
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

            with watching("Certifying", found=False) as watch:
                certify_cycles(request, output, solver, places, lambda done, of: watch(done, of, 0))
        times = {"seconds": round(time.monotonic() - started, 3), "calls": effort.calls}
        tests = write_suite(request, journal, outcome, times)
    state = "complete" if outcome.complete else f"incomplete: {outcome.stopped}; the same command goes on"
    judged = "judged " if request.separates else ""  # the solver left out the others
    click.echo(f"{printable(str(output))}: {tests} tests of {outcome.found} {judged}cycles, {state}")
    if outcome.complete and not tests and (request.allowed_by or request.forbidden_by):
        _tell_cuts(request)
    code = _tell_unknown(outcome, list(question["models"]))
    sys.exit(code or (130 if outcome.stopped == INTERRUPTED else 0))


def _request(
    edges: str | None,
    size: Numbers,
    threads: Numbers | None,
    scopes: str | None,
    regions: str | None,
    counts: tuple[int, int],
    like_diy7: bool,
    compositions: bool,
) -> CycleSuiteRequest:
    """Return the request for all cycles; ``counts`` are the most accesses of a thread, and of a location."""
    _check_threads(threads)
    _check_like_diy7(like_diy7)
    text, file = _edges_text(edges)
    request = CycleSuiteRequest(
        edges=" ".join(word for line in text.splitlines() for word in line.partition("#")[0].split()),
        sizes=size,
        threads=threads,
        scopes=listed("--scopes", scopes, list(SCOPES)),
        regions=listed("--regions", regions or Region.GLOBAL.value, [region.value for region in MEMORY_REGIONS]),
        thread_accesses=counts[0],
        location_accesses=counts[1],
        compositions=compositions,
        like_diy7=like_diy7,
    )
    if file:
        parse_edges(text, request.scopes, str(file))  # parsed here so that an error has its line
    return request


def _check_threads(threads: Numbers | None) -> None:
    if threads is not None and threads[0] < 2:
        raise click.UsageError("--threads: a cycle has two threads or more")


def _check_like_diy7(like_diy7: bool) -> None:
    """Raise ``UsageError`` where --like-diy7 is given with an option for which diy7 has rules of its own."""
    context = click.get_current_context()
    for parameter in context.command.params if like_diy7 else ():
        name = str(parameter.name)
        if name in OTHER_RULES and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} goes without --like-diy7, which has its own rule for it")


def _check_cycles(request: CycleSuiteRequest, solver: str) -> None:
    _tell_idle(request)
    _check_some_cycle(request, solver)


def _collect(
    steps: Generator[None], outcome: CycleSuiteOutcome, max_tests: int | None, time_limit: float | None
) -> str:
    """Run the steps until nothing is left or a limit is met; return the reason to stop."""
    deadline = None if time_limit is None else time.monotonic() + time_limit
    with closing(steps), watching("Synthesising") as watch:
        for _ in steps:
            if deadline is not None and time.monotonic() > deadline:
                return f"the time limit of {time_limit:g} s"
            watch(outcome.found, None, outcome.found - len(outcome.refused))  # the number of cycles is not known
            if max_tests is not None and outcome.found >= max_tests:
                return f"the limit of {max_tests} tests"
    return ""


def _edges_text(edges: str | None) -> tuple[str, Path | None]:
    """Return the edges that are given, and the file that they are from, if they are from one."""
    if edges is None:
        raise click.UsageError("give --edges, or --from MODEL")
    file = Path(edges[1:]) if edges.startswith("@") else None
    text = read_text(file) if file else edges
    if not text.split():
        raise click.UsageError("expected edges, as in --edges 'PodWW Rfe PodRR Fre'; synth edges lists them")
    return text, file


def _border(text: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if text is None:
        return (), ()
    allowing, arrow, forbidding = text.partition(">")
    one, other = (tuple(name.strip() for name in side.split(",") if name.strip()) for side in (allowing, forbidding))
    if not (arrow and (one or other)):
        raise click.BadParameter(f"expected A>B or A>B,C, found '{text}'", param_hint="'--distinguish'")
    return one, other


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
        click.echo(
            printable(f"synth: synth compare {' '.join(names)} needs no edges: it tries all programs of a size"),
            err=True,
        )


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
            return f"edges lead from a {word}, but none leads to one"
        if arriving and not leading:
            return f"edges lead to a {word}, but none leads from one"
    if bounds.regions == (Region.SHARED,) and "cta" not in bounds.levels:
        return "shared memory belongs to one CTA, and without --scopes cta each thread is in its own"
    return "these edges form none" + (f" of {spelled(request.threads)} threads" if request.threads else "")


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
            click.echo(
                one_line(f"synth: {name} has no verdict on {number} of {outcome.tests} tests: {reason}"), err=True
            )
            code = 2 if number == outcome.tests else code
    return code
