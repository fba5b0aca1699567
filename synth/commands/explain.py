"""``synth explain``: why a model says what it says of a test."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from corpus.errors import InputError
from corpus.files import write_atomically
from oracle.executions.judge import UNROLL
from synth.drawing.files import check_picture_name, write_picture
from synth.options.model import model_option


@dataclass(frozen=True, slots=True)
class _Told:
    """What one model says, in each of the forms that may be asked for."""

    model: str
    text: Callable[[], str]
    record: Callable[[], dict[str, Any]]
    svg: Callable[[], str]
    dot: Callable[[], str]


@click.command(name="explain")
@click.argument("file", type=click.Path())
@model_option(required=True, memory=True)
@click.option(
    "--unroll",
    type=click.IntRange(min=0),
    default=UNROLL,
    show_default=True,
    metavar="N",
    help="Litmus tests: how often each jump backwards is taken at most.",
)
@click.option("--svg", type=click.Path(), metavar="OUT", help="Draw the states or executions: .svg, .pdf or .png.")
@click.option("--dot", type=click.Path(), metavar="OUT", help="The same picture as Graphviz text.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a model instead of text.")
def command(file: str, models: tuple[str, ...], unroll: int, svg: str | None, dot: str | None, as_json: bool) -> None:
    """Show why a model says so.

    Progress tests (.axb). For MAY_HANG, a lasso: steps from the start to a cycle that keeps every promise of the model,
    who starves on it, and why the model allows it. For TERMINATES, every place where threads can go round, and the
    promised steps that lead out of it.

    Litmus tests (.litmus, in any dialect). For ALLOWED, one execution with the outcome that passes every check of the
    model. For FORBIDDEN, the executions that have the outcome, each with the check that it fails and the cycle in it:
    reads and writes are a, b, c .. in program order, and a -rfe-> b says by which relation an edge is one. thesis-weak
    and thesis-strong show a run, step by step, or how many states they searched for one.

    \b
    Examples:
      synth explain examples/progress/mutex.axb --model hsa-weak
      synth explain examples/progress/mutex.axb --model obe
      synth explain examples/progress/mutex.axb --model hsa-weak --svg mutex.svg
      synth explain examples/progress/philosophers-simplified.axb --model fair-weak --json
      synth explain examples/memory/mp+membar.cta+membar.gl.litmus --model ptx-rmo --svg mp.svg
      synth explain examples/memory/sb-fence-sc.litmus --model ptx-6.0 --model sc
      synth explain examples/memory/mp-intra.litmus --model thesis-weak
      synth explain examples/memory/coRR.litmus --model examples/models/my-model.cat --dot coRR.dot

    A picture shows one model. Of a progress test, name its reading, as in hsa-weak: blue steps lead to the cycle, red
    ones are the cycle. Of a litmus test: threads in columns within their scopes, program order downwards, and behind
    what is forbidden a yellow band.
    """
    if svg:
        check_picture_name(Path(svg))
    told = (_memory if Path(file).suffix == ".litmus" else _progress)(file, models, unroll)
    if (svg or dot) and len(told) != 1:
        names = ", ".join(one.model for one in told)
        raise InputError(f"--svg and --dot draw one model, and --model names {len(told)}: {names}")
    if svg:
        write_picture(Path(svg), told[0].svg())
    if dot:
        write_atomically(Path(dot), [told[0].dot()])
    for number, one in enumerate(told):
        if as_json:
            click.echo(json.dumps(one.record()))
        else:
            click.echo("\n" * (number > 0) + one.text(), nl=False)


def _progress(file: str, models: Sequence[str], unroll: int) -> list[_Told]:
    from corpus.progress.text import read_axb
    from oracle.progress.explain import explain
    from oracle.progress.plugins import resolve_models
    from synth.drawing.lts import draw_dot, draw_svg
    from synth.progress.explanation import explanation_record, explanation_text

    resolved = resolve_models(models)
    program, name = read_axb(Path(file)), Path(file).stem
    told = []
    for model in resolved:
        explanation = explain(program, model)
        told.append(
            _Told(
                model.name,
                partial(explanation_text, name, explanation),
                partial(explanation_record, file, explanation),
                partial(draw_svg, name, explanation),
                partial(draw_dot, name, explanation),
            )
        )
    return told


def _memory(file: str, models: Sequence[str], unroll: int) -> list[_Told]:
    from corpus.dialects.registry import read_litmus
    from oracle.consistency import OperationalModel, resolve_consistency_models
    from oracle.executions.witness import explain_memory
    from synth.drawing.execution import draw_dot, draw_svg
    from synth.memory.explanation import explanation_record, explanation_text, no_picture, run_record, run_text

    resolved = resolve_consistency_models(models)
    test = read_litmus(Path(file))
    told = []
    for model in resolved:
        if isinstance(model, OperationalModel):
            undrawn = partial(no_picture, model)
            text, record = partial(run_text, test, model, unroll), partial(run_record, file, test, model, unroll)
            told.append(_Told(model.name, text, record, undrawn, undrawn))
        else:
            explanation = explain_memory(test, model.model, unroll)
            told.append(
                _Told(
                    model.name,
                    partial(explanation_text, explanation, unroll),
                    partial(explanation_record, file, explanation, unroll),
                    partial(draw_svg, explanation),
                    partial(draw_dot, explanation),
                )
            )
    return told
