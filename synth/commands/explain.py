"""``synth explain`` shows why a model gives a test its verdict."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from corpus.errors import InputError
from corpus.files import write_atomically
from synth.accounts import Account, in_columns
from synth.drawing.pictures import Drawing, side_by_side
from synth.explanations import explanations, unexplained
from synth.families.interface import ModelAccount, chosen, family_given
from synth.inputs import Input
from synth.labels import JSON, UNKNOWN, Labels, LabelTally, ModelAnswer
from synth.options.form import Page, json_option
from synth.options.models import model_option, unroll_option
from synth.options.tests import bell_option, choice_options, with_bell
from synth.options.work import limit_options
from synth.requests import AUTO, SelectionFilter
from synth.screen.console import printable_lines, table_console
from synth.screen.pictures import DOT, check_picture_name, write_picture
from synth.worker import Limits


@click.command(name="explain", cls=Page, first="--model --where --picture --side-by-side")
@click.argument("file", metavar="FILE|FOLDER|CORPUS", type=click.Path())
@model_option(required=True, memory=True)
@choice_options
@bell_option
@unroll_option("Litmus tests:")
@click.option(
    "--picture",
    "svg",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Draw the states or executions: .svg, .pdf, .png, .tex or .dot.",
)
@click.option("--side-by-side", "beside", is_flag=True, help="Show models in columns, in the text and in the picture.")
@json_option("Print one JSON object for each model instead of text.")
@limit_options("a test may take under each model; beyond that the verdict is UNKNOWN")
def command(
    file: str,
    models: tuple[str, ...],
    choice: SelectionFilter,
    bell: str | None,
    unroll: int,
    svg: Path | None,
    beside: bool,
    as_json: bool,
    limits: Limits,
) -> None:
    """Show why a model gives that verdict.

    Progress models, on either kind of test. For MAY_HANG, synth shows a lasso: steps from the start to a cycle that
    keeps every promise of the model, the threads that starve on the cycle, and why the model allows it. For TERMINATES,
    it shows every place where threads can go round, and the promised steps that lead out of it.

    Consistency models, on litmus tests in any dialect. For ALLOWED, synth shows one execution that has the outcome and
    passes every check of the model. For FORBIDDEN, it shows the executions that have the outcome, each with the check
    that it fails and the cycle in it. Reads and writes are a, b, c .. in program order; a -rfe-> b names the relation
    of an edge. thesis-weak and thesis-strong show a run step by step, or how many states they searched for one. If
    there are too many executions to list, a solver finds one for each check that forbids some. If the outcome is
    impossible within --unroll, synth follows loops further, up to 8 jumps back.

    \b
    Examples:
      synth explain examples/progress/mutex.axb --model hsa-weak
      synth explain examples/progress/mutex.axb --model obe
      synth explain examples/progress/mutex.axb --model hsa-weak --picture mutex.svg
      synth explain examples/progress/philosophers-simplified.axb --model fair-weak --json
      synth explain examples/locks/ticket-lock.litmus --model hsa-weak --picture ticket-lock.svg
      synth explain examples/memory/mp+membar.cta+membar.gl.litmus --model ptx-rmo --picture mp.svg
      synth explain examples/memory/mp-weak.litmus -m ptx-6.0 -m tso --side-by-side --picture mp.svg
      synth explain examples/memory/mp-intra.litmus --model thesis-weak
      synth explain examples/memory/coRR.litmus --model examples/models/my-model.cat --picture coRR.dot

    synth explains every test in a corpus, folder or index, or only those that --where selects:

    \b
      synth explain classic --where MP --model ptx-6.0

    If a pair such as 'fair & rc11' lets a litmus test hang, synth shows an execution that the consistency model allows,
    which threads have ended in it, and what the others do for ever.

    \b
      synth explain examples/liveness/leader.litmus --model 'fair & tso' --picture leader.svg

    A picture shows one model; with --side-by-side, picture and text have a column for each. For a progress test, name a
    reading, such as hsa-weak: blue steps lead to the cycle, red steps are the cycle. For a litmus test, threads are
    columns within their scopes, program order runs downwards, and a yellow band marks what is forbidden.
    """
    if svg:
        check_picture_name(svg, DOT)
    as_dot = svg is not None and svg.suffix.lower() == DOT
    kind = family_given([file])
    tests = with_bell(chosen(kind, [file], choice), bell)
    names = kind.labelling(models, AUTO, unroll, JSON).names
    if svg and len(tests) > 1:
        raise InputError(f"--picture draws one test, but there are {len(tests)}; --where NAME picks one")
    if svg and len(names) > 1 and not beside:
        raise InputError(
            f"--picture draws one model, and --model names {len(names)}: {', '.join(names)}; or several --side-by-side"
        )
    tally = LabelTally(names)
    make = partial(_made, as_json=as_json, drawn=svg is not None and not as_dot, dot=as_dot)
    rows = explanations(kind, tests, models, unroll, limits, make, partial(_lost, as_json=as_json))
    for number, (test, row) in enumerate(zip(tests, rows, strict=True)):
        if svg and (drawings := [one.drawing for one in row if one.drawing]):
            write_picture(svg, (side_by_side(test.name, drawings) if len(row) > 1 else drawings[0]).svg())
        if svg and (graphs := [one.dot for one in row if one.dot]):
            write_atomically(svg, graphs)
        _tell([one.content for one in row], number == 0, beside)
        tally.add(Labels(test.label, tuple(ModelAnswer(UNKNOWN if one.reason else "", one.reason) for one in row)))
    sys.exit(tally.tell())


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanation of a model's verdict, as text or as JSON, and as a picture if one was asked for.

    Where the model has no verdict, it holds the ``reason`` for that.
    """

    content: Account | dict[str, Any]
    drawing: Drawing | None = None
    dot: str = ""
    reason: str = ""


def _made(account: ModelAccount, as_json: bool, drawn: bool, dot: bool) -> Explained:
    content = account.record() if as_json else account.account()
    return Explained(content, account.drawing() if drawn else None, account.dot() if dot else "")


def _lost(test: Input, model: str, reason: str, as_json: bool) -> Explained:
    record = {"file": test.label, "model": model, "verdict": UNKNOWN, "reason": reason}
    return Explained(record if as_json else unexplained(test, model, reason), reason=reason)


def _tell(shown: Sequence[Account | dict[str, Any]], first: bool, beside: bool) -> None:
    """Print the verdicts of models on a test with their reasons; ``first``: no other test was printed before."""
    for record in shown:
        if isinstance(record, dict):
            click.echo(json.dumps(record))
    accounts = [account for account in shown if isinstance(account, Account)]
    if beside and accounts:
        texts = [in_columns(accounts, table_console().width)]
    else:
        texts = [account.text() for account in accounts]
    for number, text in enumerate(texts):
        click.echo(printable_lines("\n" * (number > 0 or not first) + text), nl=False)
