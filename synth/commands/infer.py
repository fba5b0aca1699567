"""``synth infer`` finds the models of a sketch that fit what is known of tests."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import click

from backends.shared.mapping import MAPPINGS, PLACEMENTS
from backends.shared.process import ended_by_signals
from constraints.solvers import DEFAULT_SOLVER
from corpus.errors import InputError, one_line, visible
from oracle.inference.promise_family import is_promise_family, promise_family
from oracle.inference.resolution import resolve_sketch
from synth.inference.answer import lines_of, ordering_of, record_of
from synth.inference.facts import NeverSeen
from synth.inference.loop import LoopOptions, LoopStep
from synth.inference.memory import SketchHypotheses
from synth.inference.output import write_answer, write_program
from synth.inference.pipeline import InferenceRequest, answered, folder_of, run_loop, tell_models_apart
from synth.inference.promise_answers import PromiseRequest, answers_record, infer_promises, placed_lines
from synth.inference.promise_runs import TRIES
from synth.inference.promises import parse_bound
from synth.memory.suites import narrowed
from synth.options.form import Page, json_option
from synth.options.loop import loop_options
from synth.options.tests import refuse_given
from synth.options.values import Span
from synth.options.vocabulary import Words, vocabulary_option
from synth.pool import resumable
from synth.requests import MOST_EVENTS
from synth.screen.console import printable_lines
from synth.screen.pictures import check_picture_name, write_picture
from synth.units import Until

OF_SKETCHES = ("changes", "events", "vocabulary", "threads", "stress")
"""The parameters that a family of promises has no use for."""

OF_PROMISES = ("bound", "placements", "mappings", "tries")
"""The parameters that a sketch of consistency models has no use for."""


EVIDENCE, FORBIDDEN = "evidence", "forbidden"
"""What an outcome is that was never seen."""

ENOUGH = 1_000_000
"""Instances of a test after which an outcome that was never seen is forbidden, unless another number is given."""


class _Never(click.ParamType[NeverSeen]):
    name = "word"

    def convert(self, value: str | NeverSeen, param: click.Parameter | None, ctx: click.Context | None) -> NeverSeen:
        if isinstance(value, NeverSeen):
            return value
        if value in (EVIDENCE, FORBIDDEN):
            return NeverSeen(value == FORBIDDEN, ENOUGH)
        if not re.fullmatch(r"[1-9][0-9]{0,11}", value):
            self.fail(f"expected {EVIDENCE}, {FORBIDDEN} or a number of instances, found '{value}'", param, ctx)
        return NeverSeen(True, int(value))


@click.command(name="infer", cls=Page, first="--from --tests --events --changes --output --picture")
@click.argument("sketch", metavar="SKETCH")
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Read facts from here, as said above. Repeatable.",
)
@click.option(
    "--tests", multiple=True, metavar="PATH", help="Read the tests that the facts are about from here. Repeatable."
)
@click.option("--column", metavar="MODEL", help="Use the verdicts of this model if there are several.")
@click.option(
    "--never-seen",
    type=_Never(),
    default=EVIDENCE,
    show_default=True,
    metavar="WORD",
    help=f"Treat an outcome that was never seen as {EVIDENCE}, or as {FORBIDDEN} if the test ran in at least a million "
    "instances; a number N sets another limit.",
)
@click.option(
    "--changes",
    type=click.IntRange(0, 4),
    default=1,
    show_default=True,
    metavar="N",
    help="Model without holes: change it in at most N places.",
)
@click.option(
    "--events",
    type=Span(2, MOST_EVENTS),
    default="2..4",
    show_default=True,
    metavar="N",
    help="Number of events: 4, 2..6 or ..6.",
)
@vocabulary_option
@click.option("--threads", "-t", type=Span(1), help="Only tests with this many threads.")
@click.option(
    "--bound",
    default="3x3",
    show_default=True,
    metavar="TxN",
    help="Promises: tell models apart by tests of up to T threads with N instructions in all.",
)
@click.option(
    "--placement",
    "placements",
    type=click.Choice([*PLACEMENTS, "all"]),
    multiple=True,
    help="Promises: place threads in this way. Repeatable.  [default: as in the results]",
)
@click.option(
    "--mapping",
    "mappings",
    type=click.Choice([*MAPPINGS, "all"]),
    multiple=True,
    default=("all",),
    show_default=True,
    help="Promises, with --run: how threads are distributed over work-groups. Repeatable.",
)
@click.option(
    "--tries",
    type=click.IntRange(min=1),
    default=TRIES,
    show_default=True,
    metavar="N",
    help="Promises, with --run: run N of the tests that tell apart the same models.",
)
@loop_options
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="Write models, tests and proofs to this new folder."
)
@click.option(
    "--picture",
    "svg",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Draw the models: .svg, .pdf, .png or .tex.",
)
@json_option("Print one JSON object instead of text.")
@click.pass_context
def command(
    context: click.Context,
    sketch: str,
    sources: tuple[Path, ...],
    tests: tuple[str, ...],
    column: str | None,
    never_seen: NeverSeen,
    changes: int,
    events: tuple[int, int],
    vocabulary: Words,
    threads: tuple[int, int] | None,
    time_limit: float | None,
    bound: str,
    placements: tuple[str, ...],
    mappings: tuple[str, ...],
    tries: int,
    loop: LoopOptions | None,
    backend: str | None,
    output: Path | None,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Find the models of a sketch that fit known facts about tests, and the test that would tell those models apart.

    SKETCH is a .cat file with holes, a built-in sketch (cpu, power, gpu, c11), or a model without holes. In a model
    without holes, synth adds a switch to each check, operand of a union and conjunct. A hole is a switch such as
    '?ww: W * W', whose term is present or not, or a choice such as '?fence: membar.cta | membar.gl', which has one of
    its terms.

    Facts are tables of verdicts (.csv), results of synth run (.jsonl), and corpora with results, or with verdicts if
    --column names a model. A model must allow every outcome that was seen and agree with every verdict. An outcome that
    was never seen is only evidence, which ranks the models.

    synth prints the weakest and the strongest models that fit, with a proof that there are no others, up to equality on
    all programs of --events. If several fit, the next test is the smallest that tells them apart. -o writes the models
    as .cat files, the tests as a corpus for synth run, the proofs and a picture.

    SKETCH may instead be 'progress': a union of promises to the lowest id, to threads that have started, to threads
    with a lower id than one that has, or to all threads, read weakly or strongly. 'progress@workgroup &
    progress@subgroup' has one for each level. The facts are then confirmed hangs and verdicts.

    The exit code is 1 if no model fits. synth then prints the smallest set of contradictory facts, and the smallest
    change to the sketch that would resolve the contradiction.

    \b
    Examples:
      synth infer cpu --from examples/inference/x86/tests.csv
      synth infer cpu -o suite --events ..4
      synth infer gpu --from suite/results.jsonl --never-seen forbidden
      synth infer ptx-6.0 --from suite --column ptx-6.0 --changes 2
      synth infer progress --from suite/results.jsonl
      synth infer progress --run --backend opencl --placement all --instances 16 -o pocl
    """
    if svg:
        check_picture_name(svg)
    if loop is not None and output is None:
        raise click.UsageError("--run needs -o, the folder that keeps its results")
    if backend is not None and loop is None and output is None:
        raise click.UsageError("--backend needs --run, or -o to write the next test as a program")
    if is_promise_family(sketch):
        refuse_given(context, OF_SKETCHES, "sketches of consistency models")
        if loop is None:
            refuse_given(context, ("time_limit",), "sketches of consistency models, and for --run")
        chosen = tuple(name for name in PLACEMENTS if name in placements or "all" in placements)
        promises = PromiseRequest(
            promise_family(sketch),
            sources,
            tests,
            column,
            never_seen,
            chosen,
            parse_bound(bound),
            loop,
            tuple(name for name in MAPPINGS if name in mappings or "all" in mappings),
            tries,
            backend,
        )
        sys.exit(_answer_promises(promises, output, as_json, svg))
    refuse_given(context, OF_PROMISES, "families of promises")
    given = resolve_sketch(sketch)
    if all(hole.usual is not None for hole in given.holes):
        given = given.within(changes)
    words = narrowed([given.model], *vocabulary)
    request = InferenceRequest(given, sources, tests, column, never_seen, words, events, threads, DEFAULT_SOLVER, loop)
    if not as_json:
        click.echo(printable_lines(f"over {words.name}: {words.summary}"))
    with folder_of(output, request.as_json(), loop is not None) as folder:
        if loop is None:
            found = tell_models_apart(request, Until.limits(None, time_limit))
        else:
            with ended_by_signals(), resumable():
                found = run_loop(request, loop, folder, _drop_step if as_json else _print_step)
            if found.end is not None and not as_json:
                reason = f": {found.end.reason}" if found.end.reason else ""
                click.echo(f"{found.end.ran} tests ran: {found.end.end}{reason}\n")
        for line in found.known.unread:
            click.echo(one_line(f"synth: {line}"), err=True)
        inferred = answered(request, found)
        if folder is not None:
            write_answer(folder, inferred, SketchHypotheses(given), found.records, {"events": list(events)})
            if backend is not None and loop is None:
                name = write_program(folder, inferred, found.records, backend)
                if inferred.next is not None and name != inferred.next.name:
                    instead = f"the program is of {name}" if name else "nor any other that is left"
                    click.echo(one_line(f"synth: {backend} cannot express {inferred.next.name}, {instead}"), err=True)
    if as_json:
        click.echo(visible(json.dumps(record_of(inferred), ensure_ascii=False)))
    else:
        click.echo(printable_lines("\n".join(lines_of(inferred))))
    if svg and inferred.classes:
        from synth.drawing import order

        write_picture(svg, order.draw(ordering_of(inferred)).svg())
    sys.exit(1 if inferred.contradiction is not None else 0)


def _print_step(step: LoopStep) -> None:
    click.echo(f"{step.name}: {step.before.size:,} -> {step.after.size:,} models fit")


def _drop_step(step: LoopStep) -> None:
    """Print nothing: what is printed is JSON."""


def _answer_promises(request: PromiseRequest, output: Path | None, as_json: bool, svg: Path | None) -> int:
    """Print the answers about promises, and return the exit code: 1 where no model fits, or a device was stuck."""
    found = infer_promises(request, output)
    if as_json:
        click.echo(visible(json.dumps(answers_record(found), ensure_ascii=False)))
    else:
        lines = (line for answer in found for line in placed_lines(answer, len(found) > 1))
        click.echo(printable_lines("\n".join(lines)))
    if svg is not None:
        if len(found) > 1:
            raise InputError("--picture: a picture for each of several placements; --placement names one", str(svg))
        if found[0].answer.classes:
            from synth.drawing import order

            write_picture(svg, order.draw(ordering_of(found[0].answer)).svg())
    return 1 if any(answer.is_stuck or answer.answer.contradiction is not None for answer in found) else 0
