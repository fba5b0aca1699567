"""``synth validate`` checks that translated programs have no outcome that the programs have not."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import dataclass

import click

from corpus.errors import InputError, printable, visible
from corpus.litmus.test import LitmusTest
from oracle.consistency import resolve_consistency_models
from synth.options.form import json_option
from synth.options.launch import LaunchWords, compiler_option, launch_options
from synth.options.models import AUTO, ModelName, unroll_option
from synth.options.page import Page
from synth.options.values import JOBS
from synth.options.work import limit_options, workplaces
from synth.pool import map_each
from synth.screen import plain_table, print_table, screen
from synth.translation.account import finding_lines, judged_record, verdict_line
from synth.translation.compiled import models_of
from synth.translation.judging import JudgedTranslation, TranslationVerdict, judge_translation
from synth.translation.pairs import ProgramPair, beginning_as, pairs_of, read_program, renaming
from synth.watch import watching
from synth.worker import Limits


@dataclass(frozen=True)
class _Answer:
    pair: ProgramPair
    models: tuple[str, str]
    judged: JudgedTranslation
    why: tuple[str, ...] = ()


@click.command(name="validate", cls=Page, first="--model --name --json")
@click.argument("before", metavar="BEFORE", type=click.Path())
@click.argument("after", metavar="AFTER", type=click.Path())
@click.option(
    "--model",
    "-m",
    "models",
    type=ModelName(),
    multiple=True,
    metavar="MODEL",
    help="The model of both sides; given twice, that of BEFORE and that of AFTER.  [default: of their languages]",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="AFTER=BEFORE",
    help="What a location or register of AFTER is called in BEFORE: memory[1]=y, P1:r4=P1:r0, results=P1:r0.",
)
@unroll_option()
@json_option("A JSON object a pair, a line each.")
@launch_options("kernel", "cluster", "warp", "first", "expect")
@compiler_option
@limit_options("a pair may take. Beyond that the verdict is UNKNOWN", 60, 4096)
@click.option("--jobs", "-j", type=JOBS, help="Processes; as many as cores when not given.")
def command(
    before: str,
    after: str,
    models: tuple[str, ...],
    names: tuple[str, ...],
    unroll: int,
    as_json: bool,
    launch: LaunchWords,
    compiler_options: tuple[str, ...],
    limits: Limits,
    jobs: int | None,
) -> None:
    """Check that translated programs have no outcome that the programs have not.

    BEFORE and AFTER are litmus tests in any dialect, or kernels in PTX (.ptx), SPIR-V (.spvasm, .spv) and what synth
    check compiles to these; or two folders, whose programs are paired by their names. The outcomes of AFTER under its
    model must be among those of BEFORE under its own: registers and locations of the same names are compared that both
    observe, in their condition or in its list of locations, and in a kernel all memory that outlasts it.

    \b
    SAME       the same outcomes
    STRONGER   fewer outcomes, which is right as well
    WEAKER     an outcome that BEFORE forbids, or a data race that it has not
    UNDEFINED  BEFORE has a data race, and any translation is right
    NOT_READ   a side is not understood, or its model does not speak of it
    UNKNOWN    time or memory were not enough, or loops were cut

    Of a pair that is WEAKER, an execution of AFTER is shown, and why BEFORE forbids it.

    Models by the language, where none is named: rc11 for C, opencl for OpenCL C, ptx for PTX, vulkan for Vulkan and
    SPIR-V of shaders.

    \b
    Examples:
      synth validate examples/memory/c-sb-sc.litmus examples/memory/c-sb-rel-acq.litmus
      synth validate examples/memory/mp-acq-rel.litmus examples/memory/mp-relaxed.litmus -m ptx -m ptx-6.0
      synth validate examples/kernels/spirv/mp.spvasm examples/kernels/spirv/mp-relaxed.spvasm --json

    The exit code is 1 where a pair is WEAKER; else 2 where one has no verdict.
    """
    if len(models) > 2:
        raise click.UsageError("--model names the model of both sides, or twice that of each")
    resolve_consistency_models(list(dict.fromkeys(models)))
    given = (models[0], models[-1]) if models else ("", "")
    called = renaming(names)
    pairs, alone = pairs_of(before, after)
    for line in alone:
        click.echo(f"synth: {InputError(line)}", err=True)

    def work(pair: ProgramPair) -> _Answer:
        models = given
        try:
            sides = [read_program(each, launch, compiler_options) for each in (pair.before, pair.after)]
            models = (models[0] or sides[0].model, models[1] or sides[1].model)
            if not all(models):
                raise InputError("the dialect has no model of its own: --model names one")
            one: LitmusTest = sides[0].test
            other = beginning_as(sides[1], sides[0], called)
            asked = models_of(*models)
            judged = judge_translation(one, other, asked, AUTO, unroll, called)
            why: tuple[str, ...] = ()
            if judged.verdict is TranslationVerdict.WEAKER:
                why = tuple(finding_lines(one, other, asked, judged, unroll, called))
            return _Answer(pair, models, judged, why)
        except InputError as error:
            return _Answer(pair, models, JudgedTranslation(TranslationVerdict.NOT_READ, reason=str(error)))

    def lost(pair: ProgramPair, reason: str) -> _Answer:
        return _Answer(pair, ("", ""), JudgedTranslation(TranslationVerdict.UNKNOWN, reason=reason))

    answers: list[_Answer] = []
    with (
        workplaces(jobs) as places,
        watching("Judging", found=False) as watch,
        closing(map_each(work, pairs, places, limits, lost)) as found,
    ):
        for answer in found:
            answers += [answer] if answer is not None else []
            if as_json and answer is not None:
                click.echo(visible(json.dumps(_record(answer), ensure_ascii=False)))
            watch(len(answers), len(pairs), len(answers))
    if not as_json:
        _print(answers)
    verdicts = {answer.judged.verdict for answer in answers}
    unsettled = {TranslationVerdict.NOT_READ, TranslationVerdict.UNKNOWN} & verdicts
    sys.exit(1 if TranslationVerdict.WEAKER in verdicts else 2 if unsettled or alone else 0)


def _record(answer: _Answer) -> dict[str, object]:
    before, after = answer.models
    given = {"program": answer.pair.name, "before_file": str(answer.pair.before), "after_file": str(answer.pair.after)}
    told = {"why": list(answer.why)} if answer.why else {}
    return {**given, "before_model": before, "after_model": after, **judged_record(answer.judged), **told}


def _print(answers: list[_Answer]) -> None:
    """Print the answer on one pair with why, or a table with a row for each pair."""
    if len(answers) == 1:
        (answer,) = answers
        models = " to ".join(filter(None, answer.models))
        click.echo(printable(f"{answer.pair.name}, {models}: {verdict_line(answer.judged)}"))
        for line in answer.why:
            click.echo(printable(line))
        return
    table = plain_table("program", "verdict", "before", "after", "what")
    for answer in answers:
        judged = answer.judged
        counts = ["" if count is None else str(count) for count in (judged.before, judged.after)]
        line = verdict_line(judged).partition(": ")[2]
        table.add_row(answer.pair.name, str(judged.verdict), *counts, printable(line))
    print_table(screen(), table)
