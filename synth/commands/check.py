"""``synth check`` says what may race, break or hang in kernels of CUDA and PTX, at the line of the source."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corpus.errors import InputError
from synth.options.models import ModelName
from synth.options.page import Page
from synth.options.values import JOBS
from synth.options.work import limit_options, workplaces
from synth.worker import Limits

if TYPE_CHECKING:  # what reads and asks is imported where it is needed
    from corpus.kernels.launch import KernelLaunch
    from corpus.kernels.ptx.module import PtxFunction
    from synth.checking.account import CheckedKernel
    from synth.checking.sources import KernelFile

TEXT, JSON, SARIF, JUNIT = "text", "json", "sarif", "junit"

LAUNCH = ("kernel", "grid", "block", "cluster", "warp", "arguments", "expect")
"""The options of a launch, which a comment of a file may have, too."""


@dataclass(frozen=True, slots=True)
class KernelTask:
    """A kernel of a file with a launch, and what is to hold at its end."""

    file: KernelFile
    kernel: PtxFunction
    launch: KernelLaunch
    expectation: str

    @property
    def names(self) -> tuple[str, str, str]:
        """The file, the kernel and the launch as answers name them."""
        return str(self.file.path), self.kernel.name, self.launch.text


@click.command(name="check", cls=Page, first="--grid --block --arg --expect --progress --format")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="KERNEL.cu|KERNEL.ptx...")
@click.option("--kernel", metavar="NAME", help="Only this kernel.")
@click.option("--grid", metavar="N", help="Blocks, as 2 or 2x1x1.")
@click.option("--block", metavar="N", help="Threads of a block, as 32 or 8x4.")
@click.option("--cluster", metavar="N", help="Blocks of a cluster.")
@click.option("--warp", type=click.IntRange(1, 32), default=32, show_default=True, help="Threads of a warp.")
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="4, [1,2,0], or int[8] for zeros.")
@click.option("--expect", default="", metavar="CONDITION", help="What holds at the end: 'data[0] == 2'.")
@click.option(
    "--model", "-m", default="ptx", type=ModelName(), metavar="MODEL", show_default=True, help="Memory model."
)
@click.option("--progress", default="fair", show_default=True, metavar="MODEL", help="The progress that is assumed.")
@click.option("--unroll", type=click.IntRange(0), default=2, show_default=True, help="Jumps back of a loop, at most.")
@click.option("--nvcc-option", "-X", "nvcc_options", multiple=True, metavar="WORD", help="For nvcc: -X -Ifolder.")
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
@limit_options("a kernel may take with a launch. Beyond that its answers are UNKNOWN", 600, 4096)
@click.option("--jobs", "-j", type=JOBS, help="Processes; as many as cores when not given.")
def command(
    files: tuple[Path, ...],
    model: str,
    progress: str,
    unroll: int,
    nvcc_options: tuple[str, ...],
    form: str,
    as_json: bool,
    litmus: Path | None,
    limits: Limits,
    jobs: int | None,
    **launch: Any,
) -> None:
    """Say what may race, break or hang in kernels of CUDA and PTX, at the line of the source.

    A kernel is compiled by nvcc, its PTX is specialised to a small launch, and what is left, accesses, atomics, fences,
    barriers and branches on what was read, is asked: do accesses race, can an expectation, a trap or an assertion fail,
    is shared memory read that nobody wrote, are accesses outside of an array, do all threads reach a barrier; and under
    which progress model it always ends.

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
    """
    from synth.checking.account import unanswered
    from synth.checking.questions import CheckAnswer
    from synth.checking.sources import read_kernels
    from synth.pool import run_tasks

    tasks: list[KernelTask] = []
    for path in files:
        tasks += tasks_of(read_kernels(path, nvcc_options), launch)
    if litmus is not None:
        _write_litmus(litmus, tasks)
    found: dict[int, CheckedKernel] = {}

    def over(task: tuple[int, KernelTask], limit: str) -> None:
        found[task[0]] = unanswered(*task[1].names, f"it takes more than {limit} allows", CheckAnswer.UNKNOWN)

    work = partial(_check, model=model, progress=progress, unroll=unroll)
    with workplaces(jobs, None) as places:
        for result in run_tasks(list(enumerate(tasks)), work, places, limits=limits, over=over):
            if result is not None:
                (number, _), found[number] = result
    checked = [found[number] for number in range(len(tasks))]
    _print(checked, JSON if as_json else form)
    sys.exit(2 if any(each.problem for each in checked) else int(any(each.findings for each in checked)))


def tasks_of(file: KernelFile, given: Mapping[str, Any]) -> Iterator[KernelTask]:
    """Yield each kernel of a file with each launch: that of the options, those of comments, or the usual ones."""
    from synth.checking.sources import argument, launches_of, names_of

    if not file.module.kernels:
        raise InputError("expected a kernel: no .entry has a body", str(file.path))
    said = given["grid"] or given["block"] or not file.launches
    for options in [given] if said else [_read(words, given, file) for words in file.launches]:
        asked = options["kernel"]
        exact = [each for each in file.module.kernels if asked in (None, each.name)]
        kernels = exact or [each for each in file.module.kernels if asked in each.name]
        if not kernels:
            there = ", ".join(each.name for each in file.module.kernels)
            raise InputError(f"expected one of the kernels {there}, found {asked}", str(file.path))
        arguments = dict(map(argument, options["arguments"]))
        for kernel in kernels:
            names = names_of(file, kernel)
            own = [each.name for each in kernel.parameters]
            for name in arguments.keys() - {*names, *own, *map(str, range(len(own)))}:
                there = ", ".join(names or own) or "none"
                raise InputError(f"--arg: {kernel.name} has no parameter {name}; it has {there}", str(file.path))
            sizes = {name: options[name] for name in ("grid", "block", "cluster")}
            for each in launches_of(sizes, options["warp"]):
                yield KernelTask(file, kernel, replace(each, arguments=arguments, names=names), options["expect"])


def _read(words: Sequence[str], given: Mapping[str, Any], file: KernelFile) -> dict[str, Any]:
    """Return the options of a comment line; the kernel is that of the command line where the line names none."""
    own = [param for param in click.get_current_context().command.params if param.name in LAUNCH]
    try:
        context = click.Command("launch", params=own).make_context("launch", list(words))
    except click.ClickException as error:
        said = f"the comment 'synth check: {' '.join(words)}': {error.format_message()}"
        raise InputError(said, str(file.path)) from None
    return {**context.params, "kernel": given["kernel"] or context.params["kernel"]}


def _check(task: tuple[int, KernelTask], model: str, progress: str, unroll: int) -> Iterator[CheckedKernel]:
    from corpus.kernels.program import program_of
    from corpus.kernels.ptx.specialiser import NotUnderstoodError
    from oracle.consistency import AxiomaticModel, resolve_consistency_models
    from synth.checking.account import told, unanswered
    from synth.checking.questions import check

    one = task[1]
    (consistency,) = resolve_consistency_models([model])
    if not isinstance(consistency, AxiomaticModel):
        raise InputError(f"--model: {model} is a transition system, and kernels are asked of .cat files")
    try:
        program = program_of(one.file.module, one.kernel, one.launch)
    except NotUnderstoodError as error:
        yield unanswered(*one.names, str(error))
        return
    yield told(*one.names, check(program, consistency, one.expectation, unroll, progress))


def _write_litmus(path: Path, tasks: Sequence[KernelTask]) -> None:
    from corpus.dialects.registry import DIALECTS, printed
    from corpus.files import write_atomically
    from corpus.kernels.program import program_of

    if len(tasks) != 1:
        raise click.UsageError("--litmus is for one kernel with one launch: --kernel, --grid and --block name them")
    program = program_of(tasks[0].file.module, tasks[0].kernel, tasks[0].launch)
    write_atomically(path, [printed(program.test, DIALECTS["gpu-ptx"])])


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
