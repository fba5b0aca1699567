"""``synth map`` checks whether a mapping of instructions between two models is sound, or a table of code sequences."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from os.path import normpath
from pathlib import Path
from typing import Any, TypeVar

import click

from backends.shared.files import file_stem, write_files
from constraints.solvers import DEFAULT_SOLVER
from corpus.errors import InputError, printable, visible
from corpus.executions.translation import MappingFile, Word, read_mapping
from corpus.files import read_text
from corpus.journal import Journal
from corpus.litmus.orders import SCOPES
from oracle.consistency import ConsistencyModel, resolve_consistency_models
from synth.drawing.execution import draw_bug
from synth.memory.bugs import ExplainedBug
from synth.memory.refuting import Searched, search, search_features, search_weaker, write_bugs
from synth.memory.translating import Checked, checked
from synth.options.form import Page, json_option
from synth.options.models import ModelName
from synth.options.values import Span, listed
from synth.options.work import A_PART, limit_options, run_options, workplaces
from synth.pool import resumable
from synth.requests import MOST_EVENTS, spelled
from synth.screen.console import printable_lines
from synth.screen.pictures import check_picture_name, write_picture
from synth.units import INTERRUPTED, SearchRun, Until, Unwritten
from synth.watch import watching
from synth.worker import Limits

SHOWN = 1
"""The number of bugs that are printed whole."""

EVENTS, THREADS, TESTS = Span(2, MOST_EVENTS), Span(1), click.IntRange(min=1)
UNBOUND = (2, 4)
"""The least and the most events of programs, where neither the command nor the mapping states them."""

T = TypeVar("T")


@click.command(name="map", cls=Page, first="--events --weakest --output --picture")
@click.argument("mappings", type=click.Path(path_type=Path), metavar="MAPPING", nargs=-1, required=True)
@click.option(
    "--events",
    type=EVENTS,
    metavar="N",
    help=f"Number of events: 4, 2..6 or ..6.  [default: the mapping's bound, else {spelled(UNBOUND)}]",
)
@click.option(
    "--from", "source", type=ModelName(), metavar="MODEL", help="The source model.  [default: the mapping's from]"
)
@click.option(
    "--to", "target", type=ModelName(), metavar="MODEL", help="The target model.  [default: the mapping's to]"
)
@click.option("--scopes", metavar="LIST", help="Only programs with these of cta,gpu,sys.  [default: the bound's]")
@click.option("--threads", "-t", type=THREADS, help="Only programs with this many threads.  [default: the bound's]")
@click.option(
    "--weakest",
    is_flag=True,
    help="For a sound mapping: show which rules stay sound, up to the bound, if made one step weaker.",
)
@click.option("--max-tests", type=TESTS, help="Stop after finding this many bugs.  [default: the bound's]")
@run_options
@limit_options(A_PART, whole=True)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="Write the tests and pictures of bugs to this folder."
)
@click.option(
    "--picture",
    "svg",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Draw the first bug: .svg, .pdf, .png or .tex.",
)
@json_option("Print one JSON object instead of text.")
def command(
    mappings: tuple[Path, ...],
    events: tuple[int, int],
    source: str | None,
    target: str | None,
    scopes: str | None,
    threads: tuple[int, int] | None,
    weakest: bool,
    max_tests: int | None,
    time_limit: float | None,
    jobs: int | str | None,
    limits: Limits,
    output: Path | None,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Check that a mapping adds no outcome: the source must allow whatever the target allows after translation.

    MAPPING is a text file with a rule for each source instruction, such as 'W.sc -> W; F'. A solver searches for a
    program with an outcome that the target allows after translation and the source forbids before it: first with two
    events, then three and so on, up to the first size with bugs. The answer says nothing about larger programs.

    A mapping may state the bound that decides it, 'bound: events 7, threads 3, scopes gpu', which then becomes the
    default of these options. If it states none, an answer that the mapping is sound lists the rules of the mapping, and
    the axioms and definitions of the source, that affect no outcome of these sizes.

    -o writes the bugs as a corpus (docs/corpus.md), each with its picture. If the search is stopped, the same command
    continues it, and the final files are the same, byte for byte.

    A MAPPING whose name ends in .seq is a table of code sequences for an AMD GPU (docs/amdgpu.md); you may give
    several. synth then checks whether the table's machine reaches an outcome that --from (by default amdgpu) forbids,
    and tries well-known shapes beyond the bound too. With --weakest it leaves out each wait, counter, cache operation
    and cache bit in turn.

    The exit code is 1 if a mapping is wrong, 0 if no such program was found.

    \b
    Examples:
      synth map examples/mappings/rc11-to-tso.map
      synth map examples/mappings/rc11-scoped-to-ptx.map --scopes gpu
      synth map examples/mappings/rc11-to-tso-unfenced.map -o bugs --picture bug.svg
      synth map examples/mappings/rc11-to-tso.map --to sc --events ..3
      synth map examples/sequences/gfx90a.seq --scopes gpu --events ..2
    """
    if svg:
        check_picture_name(svg)
    tables = [mapping for mapping in mappings if mapping.suffix == ".seq"]
    if len(mappings) > 1 and len(tables) < len(mappings):
        raise click.UsageError("only tables of code sequences (.seq) can be checked several at once")
    if tables:
        from synth.commands import map_tables  # no other mapping needs a machine

        if target is not None:
            raise click.UsageError("--to does not go with tables of code sequences, which name their own machine")
        if len(tables) > 1 and (output or svg):
            raise click.UsageError("-o and --picture need a single table")
        those = listed("--scopes", scopes, list(map_tables.SCOPES))
        asks = map_tables.question(tables, source, events or UNBOUND, threads, those)
        way = map_tables.TableWork(jobs, limits, Until.limits(max_tests, time_limit))
        sys.exit(map_tables.run(asks, weakest, way, output, svg, as_json))
    (mapping,) = mappings
    written = read_mapping(read_text(mapping), str(mapping))
    first, second = (
        _model(written, *end) for end in (("from", source, written.models[0]), ("to", target, written.models[1]))
    )
    kept = listed("--scopes", scopes, list(SCOPES)) or None
    given = (source, target, events, kept, threads)
    stated = "events" in written.bound and all(option is None for option in given)
    size = _bound(written, "events", EVENTS, events) or UNBOUND
    split = _bound(written, "threads", THREADS, threads)
    within = _bound(written, "scopes", partial(listed, "--scopes", known=list(SCOPES)), kept) or ()
    max_tests = _bound(written, "max-tests", TESTS, max_tests)
    check = checked(written, first, second, size, split, within)
    if not as_json:
        click.echo(f"from {first.name} to {second.name}, over {check.words.name}: {check.words.summary}")
    question = {**check.as_json(), "weakest": weakest}
    started, until = time.monotonic(), Until.limits(max_tests, time_limit)
    with (
        workplaces(jobs, max_tests is not None) as places,
        _journal(output, question) as opened,
        resumable(opened is not None),
    ):
        journal = opened or Unwritten()
        with watching("Translating") as watch:
            done = search(check, SearchRun(journal, DEFAULT_SOLVER, places, until, watch, limits))
        reported = [ExplainedBug(bug, check) for bug in done.bugs]
        if not as_json:
            _tell(check, done, reported)
        if not reported and not done.stopped:
            with watching("Translating") as watch:
                run = SearchRun(journal, DEFAULT_SOLVER, places, until, watch, limits)
                if not stated:
                    search_features(done, check, run)
                if weakest and not done.stopped:
                    search_weaker(done, check, run)
            if not as_json:
                _tell_more(check, done)
        if opened is not None:
            write_files(opened.path, dict(_files(reported)))
            write_bugs(opened, done, DEFAULT_SOLVER, time.monotonic() - started)
    if svg and reported:
        write_picture(svg, draw_bug(reported[0]).svg())
    if as_json:
        click.echo(visible(json.dumps(_record(check, done, reported), ensure_ascii=False)))
    elif output is not None:
        state = f"incomplete: {done.stopped}; the same command goes on" if done.stopped else "complete"
        click.echo(f"\n{printable(str(output))}: {_counted(reported)}, {state}")
    sys.exit(130 if done.stopped == INTERRUPTED else 1 if reported else 0)


def _journal(output: Path | None, question: dict[str, Any]) -> Journal | nullcontext[None]:
    return nullcontext() if output is None else Journal.open(output, question)


def _files(reported: list[ExplainedBug]) -> Iterator[tuple[str, str]]:
    for bug in reported:
        stem = file_stem(bug.bug.source.name)
        yield f"{stem}.source.litmus", bug.bug.source.text
        yield f"{stem}.target.litmus", bug.bug.target.text
        yield f"{stem}.svg", draw_bug(bug).svg()


def _record(check: Checked, done: Searched, reported: list[ExplainedBug]) -> dict[str, Any]:
    """Return what is known of a mapping as plain data; ``searched`` is the size up to which programs were checked."""
    stopped = {"stopped": done.stopped} if done.stopped else {}
    weaker = {"weaker": [asdict(weaker) for weaker in done.weaker]} if done.weaker else {}
    unexercised = {"unexercised": done.unexercised()} if done.exercised else {}
    return {
        "from": check.source.name,
        "to": check.target.name,
        "vocabulary": list(check.words.spelled),
        "searched": done.events,
        "threads": check.threads and list(check.threads),
        "scopes": list(check.scopes),
        "bugs": [found.record() for found in reported],
        **unexercised,
        **weaker,
        **stopped,
    }


def _bound(written: MappingFile, name: str, read: Callable[[str], T], given: T | None) -> T | None:
    """Return the value of an option, or else the mapping's bound. Raises ``InputError`` where that bound is wrong."""
    if name not in written.bound:
        return given
    word = written.bound[name]
    try:
        stated = read(word.text)
    except click.BadParameter as error:
        raise word.error(error.message, written.path) from None
    return stated if given is None else given


def _model(written: MappingFile, word: str, option: str | None, named: Word | None) -> ConsistencyModel:
    """Return the model that an option names, or else the mapping's file. Raises ``InputError`` where neither names one.

    The path of a .cat file in a mapping is relative to the mapping.
    """
    if option is not None:
        return resolve_consistency_models([option])[0]
    if named is None:
        raise InputError(f"expected a model: a line '{word} MODEL', or --{word}", written.path, 1, 1)
    name = named.text
    if name.endswith(".cat"):
        name = normpath(Path(written.path).parent / name)
    try:
        return resolve_consistency_models([name])[0]
    except InputError as error:
        if error.path is not None:  # the error is in a .cat file
            raise
        raise named.error(error.message, written.path) from None


def _counted(reported: list[ExplainedBug]) -> str:
    return "1 bug" if len(reported) == 1 else f"{len(reported)} bugs"


def _tell(check: Checked, done: Searched, reported: list[ExplainedBug]) -> None:
    """Print the size that the search reached, or the first bug whole and the names of the others."""
    stopped = f"; {done.stopped}" if done.stopped else ""
    if reported:
        many, events = _counted(reported), reported[0].bug.source.size
        click.echo(f"{many} of {events} events: {check.target.name} allows what {check.source.name} forbids{stopped}\n")
        for bug in reported[:SHOWN]:
            click.echo(printable_lines("\n".join(bug.lines())))
        if others := [bug.bug.source.name for bug in reported[SHOWN:]]:
            click.echo("and " + "\n    ".join(others))
        return
    click.echo(f"{_sound(done.events, check)}{stopped}")


def _tell_more(check: Checked, done: Searched) -> None:
    """Print what the searched sizes of a sound mapping do not exercise, and which of its instructions can be weaker."""
    unexercised = {kind: words for kind, words in done.unexercised().items() if words}
    if unexercised:
        click.echo(f"no outcome that {check.source.name} forbids there depends on")
    elif done.exercised:
        click.echo(f"outcomes that {check.source.name} forbids there depend on all that it defines, and on each rule")
    for kind, words in unexercised.items():
        click.echo(printable_lines(f"  {kind:<11}  {' '.join(words)}"))
    for weaker in done.weaker:
        wrong = f"wrong, {weaker.bug} of {weaker.events} events"
        click.echo(f"{weaker.step}: {wrong if weaker.bug else _sound(weaker.events, check)}")
    if done.stopped:
        click.echo(f"the rest was not searched; {done.stopped}")


def _sound(events: int, check: Checked) -> str:
    """Return the size up to which a mapping is sound, and of which programs, where these are not all."""
    if events < check.events[0]:
        return "nothing was searched"
    threads = f"threads {spelled(check.threads)}" if check.threads else ""
    within = ", ".join(filter(None, (threads, f"scopes {' '.join(check.scopes)}" if check.scopes else "")))
    return f"sound up to {events} events{f' ({within})' if within else ''}"
