"""``synth check`` says what may race, break or hang in kernels of CUDA, PTX and SPIR-V, at the line of the source."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corpus.errors import InputError
from synth.drawing.files import check_picture_name, title_option, write_picture
from synth.options.launch import LaunchWords, launch_options, nvcc_option
from synth.options.models import ENUMERATE, SAT, ModelName
from synth.options.page import Page
from synth.options.values import JOBS
from synth.options.work import limit_options, workplaces
from synth.worker import Limits

if TYPE_CHECKING:  # what reads and asks is imported where it is needed
    from synth.checking.account import CheckedKernel
    from synth.checking.tasks import KernelTask

KERNELS = "KERNEL.cu|KERNEL.ptx|KERNEL.spv|KERNEL.spvasm..."

TEXT, JSON, SARIF, JUNIT = "text", "json", "sarif", "junit"


@click.command(name="check", cls=Page, first="--grid --block --arg --expect --progress --format --svg")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="KERNEL.cu|.ptx|.spv|.spvasm..."
)
@launch_options()
@click.option(
    "--model",
    "-m",
    "models",
    type=ModelName(),
    multiple=True,
    metavar="MODEL",
    help="Memory model; may be repeated. When not given: ptx, or the one that a module of SPIR-V names.",
)
@click.option("--progress", default="fair", show_default=True, metavar="MODEL", help="The progress that is assumed.")
@click.option(
    "--method",
    type=click.Choice([SAT, ENUMERATE]),
    default=SAT,
    show_default=True,
    help="Executions that end: ask a SAT solver, or list them.",
)
@click.option("--unroll", type=click.IntRange(0), default=2, show_default=True, help="Jumps back of a loop, at most.")
@nvcc_option
@click.option(
    "--format",
    "form",
    type=click.Choice([TEXT, JSON, SARIF, JUNIT]),
    default=TEXT,
    show_default=True,
    help="Of the answers.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--litmus", type=click.Path(path_type=Path), metavar="FILE", help="Write what is left of the kernel.")
@title_option
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the executions that show what is found: .svg, .pdf, .png or .tex.",
)
@limit_options("a kernel may take with a launch. Beyond that its answers are UNKNOWN", 600, 4096)
@click.option("--jobs", "-j", type=JOBS, help="Processes; as many as cores when not given.")
def command(
    files: tuple[Path, ...],
    launch: LaunchWords,
    models: tuple[str, ...],
    progress: str,
    method: str,
    unroll: int,
    nvcc_options: tuple[str, ...],
    form: str,
    as_json: bool,
    litmus: Path | None,
    svg: Path | None,
    limits: Limits,
    jobs: int | None,
) -> None:
    """Say what may race, break or hang in kernels of CUDA, PTX and SPIR-V, at the line of the source.

    A kernel of CUDA is compiled by nvcc. Its PTX, or SPIR-V, is specialised to a small launch, and what is left,
    accesses, atomics, fences, barriers and branches on what was read, is asked: do accesses race, can an expectation, a
    trap or an assertion fail, is shared memory read that nobody wrote, are accesses outside of an array, do all threads
    reach a barrier; and under which progress model it always ends.

    Without a launch, two blocks, two warps, two threads of one warp, and two blocks of two threads are tried. Pointers
    are arrays of zeros; a number that decides something has to be given. A comment line of the file may give a launch,
    as // synth check: --grid 2 --block 32 --arg n=4 --expect 'data[0] == 2'

    The exit code is 1 where something is found, or a hang under the progress that is assumed; 2 where an instruction is
    not understood.

    \b
    Examples:
      synth check examples/kernels/ticket-lock.cu
      synth check examples/kernels/counter.cu --kernel counter --grid 3 --expect 'count == 3'
      synth check examples/kernels/spinlock-cas.cu --grid 2 --progress obe
      synth check examples/kernels/ticket-lock.cu examples/kernels/spinlock-cas.cu --format sarif
      synth check examples/kernels/spirv/mp-workgroup-scope.spvasm
      synth check examples/kernels/stream.cu --first 'fill --grid 2' --kernel total --grid 2 --expect 'sum == 3'
    """
    from synth.checking.account import unanswered
    from synth.checking.questions import CheckAnswer
    from synth.checking.sources import read_kernels
    from synth.checking.tasks import tasks_of
    from synth.pool import items_in_order

    if svg is not None:
        check_picture_name(svg)
    tasks: list[KernelTask] = []
    for path in files:
        tasks += tasks_of(read_kernels(path, nvcc_options), launch)
    if litmus is not None:
        _write_litmus(litmus, tasks)

    def over(task: KernelTask, limit: str) -> CheckedKernel:
        return unanswered(*task.names, f"it takes more than {limit} allows", CheckAnswer.UNKNOWN)

    work = partial(_check, models=models, progress=progress, method=method, unroll=unroll, drawn=svg is not None)
    with workplaces(jobs, None) as places:
        checked = items_in_order(tasks, work, places, limits, over)
    _print(checked, JSON if as_json else form)
    if svg is not None:
        _draw(svg, checked)
    sys.exit(2 if any(each.problem for each in checked) else int(any(each.findings for each in checked)))


def _check(
    task: KernelTask, models: Sequence[str], progress: str, method: str, unroll: int, drawn: bool
) -> Iterator[CheckedKernel]:
    from corpus.kernels.languages import LANGUAGES
    from corpus.kernels.specialiser import NotUnderstoodError
    from oracle.consistency import AxiomaticModel, resolve_consistency_models
    from oracle.executions.steps import TooManyError
    from synth.checking.account import told, unanswered
    from synth.checking.questions import CheckAnswer, check, together

    for consistency in resolve_consistency_models(models or [LANGUAGES[task.file.module.language].model]):
        if not isinstance(consistency, AxiomaticModel):
            raise InputError(f"--model: {consistency.name} is a transition system, and kernels are asked of .cat files")
        try:
            programs = task.programs(consistency.model, unroll)
        except NotUnderstoodError as error:
            yield unanswered(*task.names, str(error))
            return
        except TooManyError as error:
            yield unanswered(*task.names, error.message, CheckAnswer.UNKNOWN)
            return
        answers = [
            check(program, consistency, task.expected(program), unroll, progress, method) for program in programs
        ]
        yield told(*task.names, together(answers), drawn)


def _write_litmus(path: Path, tasks: Sequence[KernelTask]) -> None:
    from corpus.dialects.registry import DIALECTS, printed
    from corpus.files import write_atomically
    from corpus.kernels.program import program_of
    from corpus.litmus.test import Region
    from synth.checking.questions import left_over

    if len(tasks) != 1 or tasks[0].before:
        raise click.UsageError("--litmus is for one kernel with one launch: --kernel, --grid and --block name them")
    module = tasks[0].file.module
    program = program_of(module, tasks[0].kernel, tasks[0].launch)
    test = left_over(program, tasks[0].expected(program))
    if module.language == "vulkan":  # accesses say which memory they are of
        test = replace(test, locations=tuple(replace(each, region=Region.GLOBAL) for each in test.locations))
    dialect = DIALECTS["gpu-ptx" if module.language == "ptx" else module.language]
    write_atomically(path, [printed(test, dialect)])


def _draw(path: Path, checked: Sequence[CheckedKernel]) -> None:
    from synth.drawing.pictures import side_by_side

    drawings = [each.drawing for each in checked if each.drawing is not None]
    if drawings:
        write_picture(path, (drawings[0] if len(drawings) == 1 else side_by_side("synth check", drawings)).svg())
    else:
        click.echo(f"synth: {path}: not written, for no execution shows anything that is wrong", err=True)


def _print(checked: Sequence[CheckedKernel], form: str) -> None:
    from synth.checking import account
    from synth.junit import junit

    match form:
        case "json":
            click.echo(json.dumps([each.record for each in checked], ensure_ascii=False))
        case "sarif":
            click.echo(account.sarif(checked), nl=False)
        case "junit":
            click.echo(junit("synth check", {"check": account.cases(checked)}), nl=False)
        case _:
            for each in checked:
                click.echo("\n".join(each.lines))
