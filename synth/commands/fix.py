"""``synth fix``: the cheapest changes after which an outcome is forbidden."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corpus.errors import InputError
from corpus.files import write_atomically
from oracle.executions.steps import TooManyError
from synth.drawing.files import check_picture_name, write_picture
from synth.inputs import Input, expand
from synth.options.bell import bell_option, with_bell
from synth.options.model import ModelName
from synth.options.unroll import unroll_option
from synth.repair.costs import TARGETS
from synth.screen import printable_lines

if TYPE_CHECKING:  # what makes repairs takes its time to be loaded
    from corpus.litmus.test import LitmusTest
    from corpus.litmus.text import Dialect
    from synth.repair.costs import Costs
    from synth.repair.fixing import Fixed

WHAT = ("fences", "orders", "scopes", "barriers")
"""What ``--allow`` names."""


def _allowed(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    words = tuple(value.split(","))
    if not set(words) <= set(WHAT):
        raise click.BadParameter(f"expected some of {', '.join(WHAT)}, found '{value}'")
    return words


@click.command(name="fix")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER...", type=click.Path())
@click.option("-m", "--model", type=ModelName(), required=True, metavar="MODEL", help="A consistency model, or a .cat.")
@click.option("--forbid", metavar="CONDITION", help="What is to be forbidden.  [default: the test's condition]")
@click.option("--race-free", is_flag=True, help="No race is to be left, or other flag of the model's.")
@click.option("--weaken", is_flag=True, help="What is stronger than it has to be, of a test that is right.")
@click.option(
    "--allow",
    "allowed",
    callback=_allowed,
    default=",".join(WHAT),
    show_default=True,
    metavar="WHAT",
    help="What may be changed.",
)
@click.option(
    "--cost",
    metavar="FILE|TARGET",
    help=f"What changes cost: a TOML file, or {', '.join(TARGETS)}.  [default: that of the test's language]",
)
@click.option("--together", is_flag=True, help="The tests are of one program, which is to be right by all of them.")
@click.option("--all", "every", is_flag=True, help="Every minimal repair, the cheapest first.")
@unroll_option()
@bell_option
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT", help="A file, or a folder of several.")
@click.option(
    "--svg", type=click.Path(path_type=Path), metavar="FILE", help="Draw what changes cut: .svg, .pdf or .png."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a test instead of text.")
def command(
    inputs: tuple[str, ...],
    model: str,
    forbid: str | None,
    race_free: bool,
    weaken: bool,
    allowed: tuple[str, ...],
    cost: str | None,
    together: bool,
    every: bool,
    unroll: int,
    bell: str | None,
    output: Path | None,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Repair litmus tests: the cheapest changes after which the outcome is forbidden.

    Fences go between any two instructions, accesses and fences become stronger, and scopes wider, as the test's dialect
    can say it and the model tells apart. That nothing cheaper does it is proved: what is tried hits every way in which
    the outcome was seen to come about, until none is left. Each change comes with an execution that is there without
    it, and with the cycle that it closes in that execution. docs/repair.md has the tables of costs.

    \b
    What is to be forbidden is what the test's condition asks for (or, of a forall, what
    violates it); --forbid 'P0:r0=0 /\\ P1:r0=0' names another outcome, and
    --race-free asks that the model raise none of its flags instead, or besides.

    --weaken goes the other way: the cheapest of all programs that do no more than the test does and still forbid the
    outcome. Where the test raises no flag, it raises none then. What is kept comes with the execution that there would
    be without it.

    --together takes several tests of one program, as of its parts, and repairs them all by the same changes: at places
    that go by a label's name, in whichever thread, or in tests of the same code at the same place.

    \b
    Examples:
      synth fix examples/memory/cas-sl.litmus --model ptx-rmo
      synth fix examples/memory/mp-weak.litmus --model ptx-6.0 --allow fences --all
      synth fix examples/memory/c-sb-rel-acq.litmus --model rc11 --svg sb.svg -o sb-repaired.litmus
      synth fix examples/memory/exch-sl+membar.gls.litmus --model ptx-rmo --weaken
      synth fix examples/memory/opencl --model opencl --race-free -o repaired

    Exit code 1 where a test has no repair.
    """
    if svg:
        check_picture_name(svg)
    tests = with_bell(expand(inputs), bell)
    if svg and len(tests) > 1 and not together:
        raise InputError(f"--svg draws one repair, and these tests are {len(tests)}")
    if race_free and weaken:
        raise click.UsageError("--weaken keeps a test without races as it is, and does not go with --race-free")
    from synth.repair import account
    from synth.repair.fixing import Fixes, Fixing, Question, is_flagged, model_named
    from synth.repair.sites import Direction

    judged = model_named(model)
    direction = Direction.WEAKER if weaken else Direction.STRONGER
    several = len(tests) > 1 or every
    if output is not None and several and output.exists() and not output.is_dir():
        raise InputError("several tests go to a folder, and this is a file", str(output))
    missing = False
    for place, group in enumerate([tests] if together else [[test] for test in tests]):
        read, dialect = _read(group, forbid)
        flags = race_free or (weaken and not any(is_flagged(test, judged, unroll) for test in read))
        question = Question(judged, unroll, not race_free or forbid is not None, flags)
        fixed: list[Fixed] = []
        if place and not as_json:
            _say([""])
        try:
            with Fixing(read, dialect, question, _costs(cost, dialect), direction, allowed) as fixing:
                for number, each in enumerate(itertools.islice(fixing, None if every else 1), 1):
                    fixed.append(each)
                    if output is not None:
                        _write(each, number, dialect, output, several, [given.name for given in group])
                    if not as_json:
                        head = [account.headline(read, each, judged, direction)] if number == 1 else []
                        named = ["", f"repair {number}, cost {each.cost}"] if every else []
                        _say([*head, *named, *account.lines(read, each, dialect, direction)])
        except TooManyError as error:
            hint = f"there is less to say with {f'--unroll {unroll - 1}, ' if unroll else ''}or less to --allow"
            raise InputError(f"{error.message}; {hint}", group[0].place) from None
        found = Fixes(tuple(read), tuple(fixed), fixing.complete)
        missing |= not found.repairs
        if svg and found.repairs and found.repairs[0].changes:
            write_picture(svg, account.drawing(found, judged).svg())
        if as_json:
            click.echo(json.dumps(account.record([given.label for given in group], found, judged, dialect)))
        elif not found.repairs:
            _say([account.headline(read, None, judged, direction)])
        elif not found.complete:
            _say(["", "Loops were cut, and the outcome may be allowed beyond; --unroll looks further."])
    sys.exit(1 if missing else 0)


def _say(lines: Sequence[str]) -> None:
    click.echo(printable_lines("\n".join(lines)))


def _read(group: Sequence[Input], forbid: str | None) -> tuple[list[LitmusTest], Dialect]:
    """Tests of one dialect with it, and with another condition where one is given."""
    from corpus.dialects.registry import dialect_of
    from corpus.litmus.text import sections

    tests, dialects = [], []
    for given in group:
        text = given.text()
        dialect = dialect_of(text, given.place)
        source = replace(sections(text, given.place, dialect.c_comments), bell=given.bell)
        tests.append(dialect.parse(source))
        dialects.append(dialect)
        if forbid is not None:
            try:
                tests[-1] = dialect.parse(replace(source, condition=f"exists ({forbid})"))
            except InputError as error:
                raise InputError(f"--forbid: {error.message}", given.place) from None
    if len({dialect.name for dialect in dialects}) > 1:
        raise InputError("tests of one program are of one dialect, and these are of several")
    return tests, dialects[0]


def _costs(name: str | None, dialect: Dialect) -> Costs:
    from synth.repair.costs import read_costs

    return read_costs(name or (dialect.name if dialect.name in TARGETS else "ptx"))


def _write(fixed: Fixed, number: int, dialect: Dialect, output: Path, several: bool, names: Sequence[str]) -> None:
    """The repaired test into a file; of several, into a folder, those of further repairs numbered."""
    from corpus.dialects.registry import translate

    if several:
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder: {error.strerror}", str(output)) from None
    for name, test in zip(names, fixed.tests, strict=True):
        path = output / f"{name}{f'.{number}' if number > 1 else ''}.litmus" if several else output
        write_atomically(path, [translate(test, dialect)])
