"""``synth explain``: why a model says what it says of a test."""

from __future__ import annotations

import json
from pathlib import Path

import click

from corpus.axb_text import read_axb
from corpus.errors import InputError
from corpus.files import write_atomically
from oracle.explain import explain
from oracle.plugins import resolve_models
from synth.drawing import draw_dot, draw_svg
from synth.explanation import explanation_record, explanation_text
from synth.model_option import model_option


@click.command(name="explain")
@click.argument("file", type=click.Path())
@model_option(required=True)
@click.option("--svg", type=click.Path(), metavar="OUT", help="Draw the states and the starving cycle as SVG.")
@click.option("--dot", type=click.Path(), metavar="OUT", help="The same picture as Graphviz text.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a model instead of text.")
def command(file: str, models: tuple[str, ...], svg: str | None, dot: str | None, as_json: bool) -> None:
    """Show why a model says so.

    For MAY_HANG, a lasso: steps from the start to a cycle that keeps every promise of the model, who starves on it, and
    why the model allows it. For TERMINATES, every place where threads can go round, and the promised steps that lead
    out of it.

    \b
    Examples:
      synth explain examples/progress/mutex.axb --model hsa-weak
      synth explain examples/progress/mutex.axb --model obe
      synth explain examples/progress/mutex.axb --model hsa-weak --svg mutex.svg
      synth explain examples/progress/philosophers-simplified.axb --model fair-weak --json

    A picture shows one model: name its reading, as in hsa-weak. Blue steps lead to the cycle, red ones are the cycle.
    """
    resolved = resolve_models(models)
    if (svg or dot) and len(resolved) != 1:
        names = ", ".join(model.name for model in resolved)
        raise InputError(f"--svg and --dot draw one model, and --model names {len(resolved)}: {names}")
    program = read_axb(Path(file))
    name = Path(file).stem
    for number, model in enumerate(resolved):
        explanation = explain(program, model)
        if as_json:
            click.echo(json.dumps(explanation_record(file, explanation)))
        else:
            click.echo("\n" * (number > 0) + explanation_text(name, explanation), nl=False)
        if svg:
            write_atomically(Path(svg), [draw_svg(name, explanation)])
        if dot:
            write_atomically(Path(dot), [draw_dot(name, explanation)])
