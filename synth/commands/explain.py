"""``synth explain``: why a model says what it says of a test."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path

import click

from corpus.errors import InputError
from corpus.files import write_atomically
from synth.accounts import in_columns
from synth.drawing.files import check_picture_name, write_picture
from synth.drawing.pictures import side_by_side
from synth.families.interface import chosen, family_given
from synth.options.bell import bell_option, with_bell
from synth.options.choice import Choice, choice_options
from synth.options.model import model_option
from synth.options.unroll import unroll_option
from synth.screen import printable_lines, table_console


@click.command(name="explain")
@click.argument("file", metavar="FILE|FOLDER|CORPUS", type=click.Path())
@model_option(required=True, memory=True)
@choice_options
@bell_option
@unroll_option("Litmus tests:")
@click.option(
    "--svg", type=click.Path(path_type=Path), metavar="OUT", help="Draw the states or executions: .svg, .pdf or .png."
)
@click.option("--dot", type=click.Path(path_type=Path), metavar="OUT", help="The same picture as Graphviz text.")
@click.option("--side-by-side", "beside", is_flag=True, help="A column a model, as text and as picture.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a model instead of text.")
def command(
    file: str,
    models: tuple[str, ...],
    choice: Choice,
    bell: str | None,
    unroll: int,
    svg: Path | None,
    dot: Path | None,
    beside: bool,
    as_json: bool,
) -> None:
    """Show why a model says so.

    Progress models, of tests of either family. For MAY_HANG, a lasso: steps from the start to a cycle that keeps every
    promise of the model, who starves on it, and why the model allows it. For TERMINATES, every place where threads can
    go round, and the promised steps that lead out of it.

    Consistency models, of litmus tests in any dialect. For ALLOWED, one execution with the outcome that passes every
    check of the model. For FORBIDDEN, the executions that have the outcome, each with the check that it fails and the
    cycle in it: reads and writes are a, b, c .. in program order, and a -rfe-> b says by which relation an edge is one.
    thesis-weak and thesis-strong show a run, step by step, or how many states they searched for one. Where executions
    are too many to list, a solver finds one for each check that forbids some; where the outcome cannot come about
    within --unroll, loops are followed further, up to 8 jumps back.

    \b
    Examples:
      synth explain examples/progress/mutex.axb --model hsa-weak
      synth explain examples/progress/mutex.axb --model obe
      synth explain examples/progress/mutex.axb --model hsa-weak --svg mutex.svg
      synth explain examples/progress/philosophers-simplified.axb --model fair-weak --json
      synth explain examples/locks/ticket-lock.litmus --model hsa-weak --svg ticket-lock.svg
      synth explain examples/memory/mp+membar.cta+membar.gl.litmus --model ptx-rmo --svg mp.svg
      synth explain examples/memory/mp-weak.litmus -m ptx-6.0 -m tso --side-by-side --svg mp.svg
      synth explain examples/memory/mp-intra.litmus --model thesis-weak
      synth explain examples/memory/coRR.litmus --model examples/models/my-model.cat --dot coRR.dot

    Of a corpus, a folder or an index every test is explained, or those that --test and --where name:

    \b
      synth explain classic --test MP --model ptx-6.0

    Of a litmus test under a pair, 'fair & rc11', a hang is shown: an execution that the consistency model allows, which
    threads have ended in it, and what the others do for ever.

    \b
      synth explain examples/liveness/leader.litmus --model 'fair & tso' --svg leader.svg

    --side-by-side gives each model a column, in the text and in the picture, which otherwise is of one model. Of a
    progress test, name its reading, as in hsa-weak: blue steps lead to the cycle, red ones are the cycle. Of a litmus
    test: threads in columns within their scopes, program order downwards, and behind what is forbidden a yellow band.
    """
    if svg:
        check_picture_name(svg)
    kind = family_given([file])
    tests = with_bell(chosen(kind, [file], choice), bell)
    told = [kind.explain(given, models, unroll) for given in tests]
    if (svg or dot) and len(tests) > 1:
        raise InputError(f"--svg and --dot draw one test, and these are {len(tests)}; --test NAME picks one")
    if (svg or dot) and len(told[0]) > 1 and not beside:
        names = ", ".join(one.model for one in told[0])
        raise InputError(
            f"--svg and --dot draw one model, and --model names {len(told[0])}: {names}; or several --side-by-side"
        )
    if svg:
        drawings = [one.drawing() for one in told[0]]
        drawing = side_by_side(tests[0].name, drawings) if len(drawings) > 1 else drawings[0]
        write_picture(svg, drawing.svg())
    if dot:
        write_atomically(dot, [one.dot() for one in told[0]])
    if as_json:
        for one in chain.from_iterable(told):
            click.echo(json.dumps(one.record()))
        return
    if beside:
        width = table_console().width
        texts = [in_columns([one.account() for one in row], width) for row in told]
    else:
        texts = [one.account().text() for one in chain.from_iterable(told)]
    for number, text in enumerate(texts):
        click.echo(printable_lines("\n" * (number > 0) + text), nl=False)
