"""``synth label`` prints the verdict of every model on every test."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import click

from corpus.errors import InputError
from synth import VERSION
from synth.expectations import Expectations
from synth.families.interface import chosen, family_given
from synth.growing_file import digest_of, growing
from synth.inputs import Input
from synth.labels import CSV, Labelling, Labels, LabelTally, header_of, known_labels, label_tests, lines_of
from synth.options.form import Page, form_options, print_as, printed_as
from synth.options.models import method_option, model_option, unroll_option
from synth.options.tests import bell_option, choice_options, with_bell
from synth.options.work import jobs_options, limit_options, workplaces
from synth.pool import Jobs
from synth.requests import SelectionFilter
from synth.tables import FORMS
from synth.watch import watching
from synth.worker import Limits


@click.command(name="label", cls=Page, first="--model --where --unroll --output")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER|CORPUS...", type=click.Path())
@model_option(memory=True)
@choice_options
@bell_option
@method_option
@unroll_option("Litmus tests:")
@form_options(
    "csv prints a line for each verdict: file,model,verdict and, for litmus tests, condition. --json prints one object "
    "for each test. Both print verdicts as they come; a table comes at the end.  [default: table; csv with -o]",
    *FORMS,
    CSV,
)
@limit_options("a test may take, or a litmus test under each model; beyond that the verdict is UNKNOWN", 60, 4096)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write csv or json to FILE, each test as soon as it is labelled; FILE.request.json records the question.",
)
@click.option(
    "--expect",
    type=click.Path(path_type=Path),
    metavar="TABLE",
    help="Compare with the verdicts in a table, as csv or a corpus has them; exit code 1 if one differs.",
)
@jobs_options
def command(
    inputs: tuple[str, ...],
    models: tuple[str, ...],
    choice: SelectionFilter,
    bell: str | None,
    method: str,
    unroll: int,
    form: str | None,
    limits: Limits,
    output: Path | None,
    expect: Path | None,
    jobs: int | str | None,
) -> None:
    """Print each model's verdict on a test.

    A progress test (.axb file, folder of them, corpus) is TERMINATES or MAY_HANG. A litmus test (.litmus file in any
    dialect, folder of them, index such as @all) is ALLOWED if some execution that the model allows satisfies the
    condition's proposition, else FORBIDDEN; synth also says whether the condition as written is true. You can ask a
    progress model about a litmus test too: whether its loops may run for ever, or its barriers wait for ever.

    synth reads a folder with its subfolders; if it holds both kinds of tests, synth takes the litmus tests. It skips
    hidden files and symbolic links, and says on standard error what else the folder holds.

    synth always computes verdicts anew and never takes them from a corpus. If a test is FORBIDDEN only as far as loops
    were followed, the verdict says so: FORBIDDEN (unroll 2). A litmus file that is not a test is ERROR. A test that a
    model does not cover, or that exceeds --timeout or --memory, is UNKNOWN. Each of these is one line on standard
    error, and synth goes on with the other tests. The exit code is 2 if a file is not a test or if a model has no
    verdict at all.

    --expect compares the verdicts with those of a table: file,model,verdict as --format csv writes it, name,MODEL,.. as
    labels.csv of a corpus has it, or file,verdict if you name one model. Each difference, and each test in the table
    that was not labelled, is a line on standard error; the exit code is then 1.

    \b
    Examples:
      synth label examples/progress/*.axb
      synth label suite --format csv > labels.csv
      synth label examples/progress/mutex.axb --model obe --model hsa-strong
      synth label suite --model my_scheduler.py --json -j 2
      synth label examples/memory/*.litmus --model sc --model ptx-6.0
      synth label examples/memory --model ptx-rmo --format csv
      synth label examples/memory/*.litmus --model sc --model rmo --format markdown
      synth label suite --where obe-weak=hangs --model lobe
      synth --memory 2000 label suite --timeout 10 -o labels.csv
      synth label examples --model sc --timeout 20 -j 2 -o examples.csv
      synth label examples/memory/coRR.litmus --model rmo --method smt
      synth label suite --expect suite/labels.csv
      synth label examples/liveness --model 'fair & rc11' --model 'obe & ptx-6.0'
      synth label examples/memory --model examples/models/my-model.cat
      synth label examples/locks/ticket-lock.litmus --model ptx-6.0 --model hsa --model fair

    You can define your own progress model in a Python file. This one promises to run the last thread that has not
    finished:

    \b
      NAME = "last"
      def guarantee(running, stepped):  # masks of threads: have a step to take, have stepped
          return 1 << running.bit_length() >> 1

    You can define your own consistency model in a .cat file. This one is sequential consistency:

    \b
      let com = rf | co | fr
      acyclic po | com as sc

    docs/oracle.md describes the built-in models and defines the verdicts.
    """
    if output is not None and form in FORMS:
        raise click.UsageError("-o writes csv or json, not a table")
    form = form or (printed_as() if output is None else CSV)
    if form in FORMS:
        print_as(form)
    kind = family_given(inputs)
    labelling = kind.labelling(models, method, unroll, form, bell)
    tests = with_bell(kind.checked(chosen(kind, inputs, choice)), bell)
    tally = LabelTally(labelling.names)
    expectations = None if expect is None else Expectations(expect, labelling, tests)
    stack = click.get_current_context().with_resource
    places = stack(workplaces(jobs))
    if output is None:
        labelled = _counted(labelling, tests, places, limits, tally, expectations)
        if form in FORMS:
            from synth.screen.labels import print_labels  # rich is slow to import

            print_labels(labelling, labelled)
        else:
            click.echo(header_of(labelling, form), nl=False)
            for labels in labelled:
                click.echo(lines_of(labelling, labels, form), nl=False)
    else:
        request = labelling.request() | {
            "format": form,
            "version": VERSION,
            "timeout": limits.seconds,  # what exceeded a limit is not asked again
            "memory": limits.megabytes,
            "tests": digest_of((test.label, _text(test)) for test in tests),
        }
        if bell is not None:
            request["bell"] = digest_of([(bell, _text(Input(bell, "", Path(bell))))])
        known = known_labels(output, request, labelling, form, [test.label for test in tests])
        for labels in known:
            tally.add(labels)
            if expectations:
                expectations.add(labels, restored=True)
        labelled = _counted(labelling, tests[len(known) :], places, limits, tally, expectations)
        with growing(output) as out:
            for labels in labelled:
                click.echo(lines_of(labelling, labels, form), out, nl=False)
    code, differing = tally.tell(), expectations.tell() if expectations else 0
    sys.exit(code or differing)


def _text(test: Input) -> str:
    """Return the text of a test; empty where it cannot be read, so that the test will be labelled ERROR."""
    try:
        return test.text()
    except InputError:
        return ""


def _counted(
    labelling: Labelling,
    tests: Sequence[Input],
    jobs: Jobs,
    limits: Limits,
    tally: LabelTally,
    expectations: Expectations | None,
) -> Iterator[Labels]:
    """Yield the labels as they come, and count them, with a progress bar where a person watches."""
    done = 0
    with (
        watching("Labelling", found=False) as watch,
        closing(label_tests(labelling, tests, jobs, limits)) as answers,
    ):
        for labels in answers:
            if labels is not None:
                done += 1
                tally.add(labels)
                if expectations:
                    expectations.add(labels)
                yield labels
            watch(done, len(tests), done)
