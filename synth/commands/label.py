"""``synth label``: what every model says of every test."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from oracle.executions.judge import UNROLL
from synth.inputs import MEMORY, family_of
from synth.memory.judging import AUTO, METHODS
from synth.options.model import model_option
from synth.pool import cores


@click.command(name="label")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER|CORPUS...", type=click.Path())
@model_option(memory=True)
@click.option(
    "--method",
    type=click.Choice([AUTO, *METHODS]),
    default=AUTO,
    show_default=True,
    help="Litmus tests: list the executions, or ask a SAT solver, or z3. auto lists them where they are not too many.",
)
@click.option(
    "--unroll",
    type=click.IntRange(min=0),
    default=UNROLL,
    show_default=True,
    metavar="N",
    help="Litmus tests: how often each jump backwards is taken at most.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="csv: one line a verdict, file,model,verdict and for litmus tests condition. json: one object a test.",
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes.  [default: one a core]")
def command(
    inputs: tuple[str, ...], models: tuple[str, ...], method: str, unroll: int, form: str, jobs: int | None
) -> None:
    """Say what every model says of a test.

    Progress tests (.axb files, folders of them, corpora): TERMINATES or MAY_HANG. Litmus tests (.litmus files in any
    dialect, folders of them, indexes such as @all): ALLOWED where some execution that the model allows satisfies the
    condition's proposition, else FORBIDDEN; and whether the condition as it is written is true.

    Verdicts are always computed anew, never taken from a corpus. What is FORBIDDEN only as far as loops were followed
    says so, as in FORBIDDEN (unroll 2). A litmus file that is no test has the verdict ERROR, a test that a model does
    not speak of UNKNOWN; each is one line on standard error, and the others are labelled. The exit code is 2 where a
    file is no test or a model has no verdict at all.

    \b
    Examples:
      synth label examples/progress/*.axb
      synth label suite --format csv > labels.csv
      synth label examples/progress/mutex.axb --model obe --model hsa-strong
      synth label suite --model my_scheduler.py --format json -j 2
      synth label examples/memory/*.litmus --model sc --model ptx-6.0
      synth label examples/memory --model ptx-rmo --format csv
      synth label examples/memory/coRR.litmus --model rmo --method smt
      synth label examples/memory --model examples/models/my-model.cat

    A Python file defines a progress model of your own. This one promises execution to the last thread that has not
    ended:

    \b
      NAME = "last"
      def guarantee(running, stepped):  # masks of threads: not ended, have stepped
          return 1 << running.bit_length() >> 1

    A .cat file defines a consistency model of your own. This one is sequential consistency:

    \b
      let com = rf | co | fr
      acyclic po | com as sc

    See docs/oracle.md for the models that ship and how verdicts are defined.
    """
    if family_of(inputs) == MEMORY:
        _label_memory(inputs, models, method, unroll, form, jobs or cores())
    else:
        _label_progress(inputs, models, form, jobs or cores())


def _label_memory(
    inputs: Sequence[str], models: tuple[str, ...], method: str, unroll: int, form: str, jobs: int
) -> None:
    from oracle.consistency import resolve_consistency_models
    from synth.inputs import expand
    from synth.memory import labels

    names = [model.name for model in resolve_consistency_models(models)]
    question = labels.Question(models, method, unroll, digests=form == "json")
    labelled = list(labels.label_files(expand(inputs), question, jobs))
    if form == "csv":
        click.echo(labels.labels_csv(labelled, names, unroll), nl=False)
    elif form == "json":
        for row in labelled:
            click.echo(labels.labels_json(row, names, unroll))
    else:
        labels.print_table(labelled, names, unroll)
    sys.exit(labels.exit_code(labelled, names))


def _label_progress(inputs: Sequence[str], models: tuple[str, ...], form: str, jobs: int) -> None:
    from oracle.progress.plugins import resolve_models
    from synth.progress import labels

    names = [model.name for model in resolve_models(models)]
    tests = list(labels.named_tests(inputs))
    rows = labels.label_tests(tests, models, jobs)
    labelled = [(file, row) for (file, _), row in zip(tests, rows, strict=True)]
    if form == "csv":
        click.echo(labels.labels_csv(labelled, names), nl=False)
    elif form == "json":
        for (file, test), row in zip(tests, rows, strict=True):
            record = {"file": file, "digest": test.digest, "bound": test.bound}
            click.echo(json.dumps({**record, "verdicts": dict(zip(names, row, strict=True))}))
    else:
        labels.print_table(labelled, names)
