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
from synth.options.form import Page, json_option
from synth.options.launch import compiler_option, launch_options
from synth.options.models import models_option, unroll_option
from synth.options.values import JOBS
from synth.options.work import limit_options, workplaces
from synth.pool import map_each
from synth.requests import AUTO, LaunchWords
from synth.screen.console import plain_table, print_table, screen
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
@models_option("The model of both sides; give it twice for BEFORE and then AFTER.  [default: those of the languages]")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="AFTER=BEFORE",
    help="Compare a location or register of AFTER with this one of BEFORE: memory[1]=y, P1:r4=P1:r0, results=P1:r0.",
)
@unroll_option()
@json_option("Print a JSON object for each pair, one on each line.")
@launch_options("kernel", "cluster", "warp", "first", "expect")
@compiler_option
@limit_options("a pair may take; beyond that the verdict is UNKNOWN", 60, 4096)
@click.option("--jobs", "-j", type=JOBS, help="Use N processes; one for each core by default.")
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
    """Check that a translated program has no outcome that the original does not have.

    BEFORE and AFTER are litmus tests in any dialect, or kernels: PTX (.ptx), SPIR-V (.spvasm, .spv) or a source that
    synth check compiles to these. They may also be two folders, whose programs are paired by name. Every outcome of
    AFTER under its model must be an outcome of BEFORE under its own. synth compares the registers and locations that
    have the same name and that both observe, in their condition or their list of locations; in a kernel, it compares
    all memory that outlives it.

    \b
    SAME       the same outcomes
    STRONGER   fewer outcomes, which is right too
    WEAKER     an outcome that BEFORE forbids, or a data race that it lacks
    UNDEFINED  BEFORE has a data race, so any translation is right
    NOT_READ   synth does not understand a side, or its model does not cover it
    UNKNOWN    time or memory ran out, or loops were cut

    If a pair is WEAKER, synth shows an execution of AFTER and why BEFORE forbids it.

    If you name no model, the language decides: rc11 for C, opencl for OpenCL C, ptx for PTX, vulkan for Vulkan and
    SPIR-V shaders.

    \b
    Examples:
      synth validate examples/memory/c-sb-sc.litmus examples/memory/c-sb-rel-acq.litmus
      synth validate examples/memory/mp-acq-rel.litmus examples/memory/mp-relaxed.litmus -m ptx -m ptx-6.0
      synth validate examples/kernels/spirv/mp.spvasm examples/kernels/spirv/mp-relaxed.spvasm --json

    The exit code is 1 if a pair is WEAKER, else 2 if one has no verdict.
    """
    if len(models) > 2:
        raise click.UsageError("give --model once for both sides, or twice for BEFORE and AFTER")
    resolve_consistency_models(list(dict.fromkeys(models)))
    given = (models[0], models[-1]) if models else ("", "")
    called = renaming(names)
    pairs, alone = pairs_of(before, after)
    for line in alone:
        click.echo(f"synth: {InputError(line)}", err=True)

    def work(pair: ProgramPair) -> _Answer:
        models = given
        try:
            sides = [read_program(program, launch, compiler_options) for program in (pair.before, pair.after)]
            models = (models[0] or sides[0].model, models[1] or sides[1].model)
            if not all(models):
                raise InputError("the dialect has no default model: name one with --model")
            one: LitmusTest = sides[0].test
            other = beginning_as(sides[1], sides[0], called)
            judges = models_of(*models)
            judged = judge_translation(one, other, judges, AUTO, unroll, called)
            why: tuple[str, ...] = ()
            if judged.verdict is TranslationVerdict.WEAKER:
                why = tuple(finding_lines(one, other, judges, judged, unroll, called))
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
    reasons = {"why": list(answer.why)} if answer.why else {}
    return {**given, "before_model": before, "after_model": after, **judged_record(answer.judged), **reasons}


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
