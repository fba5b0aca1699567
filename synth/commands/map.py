"""``synth map``: whether a mapping of instructions from one model to another is sound."""

from __future__ import annotations

import sys
from contextlib import closing
from os.path import normpath
from pathlib import Path

import click

from backends.shared.files import file_stem, write_files
from constraints.solvers import DEFAULT_SOLVER, SOLVERS
from corpus.errors import InputError
from corpus.executions.translation import MappingFile, Word, read_mapping
from corpus.files import read_text
from corpus.litmus.test import SCOPES
from corpus.test import Test
from oracle.consistency import ConsistencyModel, resolve_consistency_models
from oracle.executions.judge import UNROLL
from synth.families.interface import family
from synth.inputs import MEMORY, Input
from synth.memory.translating import Bug, Checked, check_mapping, checked, weakened
from synth.options.model import ModelName
from synth.options.numbers import JOBS, Seconds
from synth.options.span import Span
from synth.options.vocabulary import MOST_EVENTS
from synth.options.words import listed
from synth.pool import cores
from synth.screen import printable_lines
from synth.units import Until
from synth.watch import watching


@click.command(name="map")
@click.argument("mapping", type=click.Path(path_type=Path), metavar="MAPPING")
@click.option(
    "--events", type=Span(2, MOST_EVENTS), default="2..4", show_default=True, metavar="N", help="4, 2..6 or ..6 events."
)
@click.option("--from", "source", type=ModelName(), metavar="MODEL", help="The source.  [default: the mapping's from]")
@click.option("--to", "target", type=ModelName(), metavar="MODEL", help="The target.  [default: the mapping's to]")
@click.option("--scopes", metavar="LIST", help="Only programs with these of cta,gpu,sys.")
@click.option("--threads", "-t", type=Span(1), help="Only programs of so many threads.")
@click.option("--weakest", is_flag=True, help="Of a sound mapping, what can be one step weaker and is sound as far.")
@click.option("--time-limit", type=Seconds(), metavar="S", help="Stop after S seconds.")
@click.option(
    "--solver", type=click.Choice(SOLVERS), default=DEFAULT_SOLVER, show_default=True, metavar="NAME", help="A solver."
)
@click.option("--jobs", "-j", type=JOBS, help="Processes; as many as cores when not given.")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="A folder for the tests, source and target.")
def command(
    mapping: Path,
    events: tuple[int, int],
    source: str | None,
    target: str | None,
    scopes: str | None,
    threads: tuple[int, int] | None,
    weakest: bool,
    time_limit: float | None,
    solver: str,
    jobs: int | None,
    output: Path | None,
) -> None:
    """Check that what a model allows of translated programs, another allows of the programs themselves.

    MAPPING is a text file with a rule for each instruction of the source: 'W.sc -> W; F'. Programs are unknown: a
    solver finds one with an outcome that the target allows after the translation and the source forbids before it, of
    two events first, then of three and so on. Of larger programs nothing is said.

    The exit code is 1 where a mapping is wrong, 0 where no such program was found.

    \b
    Examples:
      synth map examples/mappings/rc11-to-tso.map
      synth map examples/mappings/rc11-scoped-to-ptx.map --scopes gpu
      synth map examples/mappings/rc11-to-tso.map --to sc --events ..3
    """
    written = read_mapping(read_text(mapping), str(mapping))
    (first, from_name), (second, to_name) = (
        _model(written, *each) for each in (("from", source, written.models[0]), ("to", target, written.models[1]))
    )
    kept = tuple(listed("--scopes", scopes, list(SCOPES)))
    check = checked(written, first, second, events, threads, kept)
    click.echo(f"from {first.name} to {second.name}, over {check.words.name}: {check.words.summary}")
    until = Until.limits(None, time_limit)
    done, stopped, bugs = _search(check, solver, jobs or cores(), until)
    if not bugs:
        click.echo(_sound(done, events, stopped))
        for step, weaker in weakened(check) if weakest else ():
            if not stopped:
                done, stopped, bugs = _search(weaker, solver, jobs or cores(), until)
                wrong = f"wrong, {bugs[0].source.name} of {done} events" if bugs else ""
                click.echo(f"{step}: {wrong or _sound(done, events, stopped)}")
        return
    _tell(bugs, (from_name, to_name))
    if output:
        files = [
            (f"{file_stem(bug.source.name)}.{word}.litmus", test.text) for bug in bugs for word, test in _named(bug)
        ]
        write_files(output, dict(files))
    sys.exit(1)


def _search(check: Checked, solver: str, jobs: int, until: Until) -> tuple[int, str, list[Bug]]:
    """The size up to which was searched, why no further, if that was cut short, and the bugs of that size."""
    done, bugs = check.events[0] - 1, list[Bug]()
    with closing(check_mapping(check, solver, jobs)) as results, watching() as watch:
        for result in results:
            if result is not None:
                done, bugs = result
            watch(done, check.events[1], len(bugs))
            if not bugs and done < check.events[1] and (reason := until.reason(0)):
                return done, f"; {reason}", bugs
    return done, "", bugs


def _sound(done: int, events: tuple[int, int], stopped: str) -> str:
    looked = f"sound up to {done} events" if done >= events[0] else "nothing was searched"
    return f"{looked}{stopped}"


def _model(written: MappingFile, word: str, option: str | None, named: Word | None) -> tuple[ConsistencyModel, str]:
    """The model that an option names, or else the file, and the name. Raises ``InputError`` where neither names one.

    A .cat file that a mapping names is found from where the mapping is.
    """
    if option is not None:
        return resolve_consistency_models([option])[0], option
    if named is None:
        raise InputError(f"expected a model: a line '{word} MODEL', or --{word}", written.path, 1, 1)
    name = named.text
    if name.endswith(".cat"):
        name = normpath(Path(written.path).parent / name)
    try:
        return resolve_consistency_models([name])[0], name
    except InputError as error:
        if error.path is not None:  # of a .cat file
            raise
        raise named.error(error.message, written.path) from None


def _named(bug: Bug) -> tuple[tuple[str, Test], ...]:
    return ("source", bug.source), ("target", bug.target)


def _tell(bugs: list[Bug], models: tuple[str, str]) -> None:
    """Print the first bug whole, with why each model says what it says, and the names of the others.

    ``models``: the source and the target, as they were named.
    """
    first, *others = bugs
    source, target = models
    many = "1 bug" if len(bugs) == 1 else f"{len(bugs)} bugs"
    click.echo(f"{many} of {first.source.size} events: {target} allows what {source} forbids\n")
    kind = family(MEMORY)
    for (side, test), model in zip(_named(first), models, strict=True):
        given = Input(test.name, test.name, Path(test.name), test)
        click.echo(printable_lines(f"{side}\n\n{test.text}"))
        for told in kind.explain(given, (model,), UNROLL):
            click.echo(printable_lines(told.account().text()))
    if others:
        click.echo("and " + "\n    ".join(bug.source.name for bug in others))
