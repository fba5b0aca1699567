"""``synth fix`` finds the cheapest changes after which an outcome is forbidden."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backends.shared.files import file_stem
from corpus.awaited import awaiting
from corpus.code.registry import certain_format_of, format_of, suffix_of
from corpus.errors import InputError
from corpus.files import write_atomically
from synth.checking.sources import may_have_kernels
from synth.inputs import Input, check_one_file_each, expand
from synth.options.form import Page, json_option
from synth.options.launch import compiler_option, launch_options
from synth.options.models import ModelName, unroll_option
from synth.options.tests import bell_option, with_bell
from synth.options.work import jobs_options, limit_options, workplaces
from synth.pool import Jobs, results_in_order, run_tasks
from synth.repair.costs import TARGETS
from synth.requests import LaunchWords
from synth.screen.console import printable_lines
from synth.screen.pictures import check_picture_name, write_picture
from synth.units import stopped_by
from synth.watch import Watch, watching
from synth.worker import Limits

if TYPE_CHECKING:  # the modules of repairs are slow to import
    from corpus.code.registry import CodeFormat
    from synth.checking.tasks import KernelTask
    from synth.repair.kernels import KernelRepairRequest, RepairedKernel
    from synth.repair.work import RepairFound, RepairRequest, RepairSummary

WHAT = ("fences", "orders", "scopes", "barriers")
"""The kinds of changes that ``--allow`` names."""


def _allowed(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    words = tuple(value.split(","))
    if not set(words) <= set(WHAT):
        raise click.BadParameter(f"expected some of {', '.join(WHAT)}, found '{value}'")
    return words


@click.command(
    name="fix",
    cls=Page,
    first="--model --forbid --allow --race-free --weaken --all --output",
    sections={"Kernels": "--kernel --grid --block --warp --arg --first --expect --compiler-option"},
)
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER|KERNEL.cu|KERNEL.ptx...", type=click.Path())
@click.option(
    "-m",
    "--model",
    type=ModelName(),
    metavar="MODEL",
    help="A consistency model, or a .cat file.  [default: ptx for kernels]",
)
@click.option("--forbid", metavar="CONDITION", help="Forbid this outcome.  [default: the test's condition]")
@click.option("--race-free", is_flag=True, help="Remove races and all other flags of the model.")
@click.option("--weaken", is_flag=True, help="Weaken whatever a correct test has stronger than it needs.")
@click.option(
    "--allow",
    "allowed",
    callback=_allowed,
    default=",".join(WHAT),
    show_default=True,
    metavar="WHAT",
    help="What a repair may change.",
)
@click.option(
    "--cost",
    metavar="FILE|TARGET",
    help=f"What changes cost: a TOML file, or {', '.join(TARGETS)}.  [default: as for the test's language]",
)
@click.option("--together", is_flag=True, help="Repair all tests by the same changes, as parts of one program.")
@click.option("--all", "every", is_flag=True, help="Find every minimal repair, the cheapest first.")
@launch_options()
@compiler_option
@unroll_option()
@bell_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write to a file, or several tests to a folder.",
)
@click.option(
    "--picture",
    "svg",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the executions that the repair forbids: .svg, .pdf, .png or .tex.",
)
@json_option("Print one JSON object for each test.")
@jobs_options
@limit_options("for a repair, or with --all for all repairs, of a program", whole=True)
def command(
    inputs: tuple[str, ...],
    model: str | None,
    forbid: str | None,
    race_free: bool,
    weaken: bool,
    allowed: tuple[str, ...],
    cost: str | None,
    together: bool,
    every: bool,
    launch: LaunchWords,
    compiler_options: tuple[str, ...],
    unroll: int,
    bell: str | None,
    output: Path | None,
    svg: Path | None,
    as_json: bool,
    jobs: int | str | None,
    limits: Limits,
) -> None:
    """Repair litmus tests and kernels: the cheapest changes after which the outcome is forbidden, or nothing races.

    A repair inserts fences between any two instructions, strengthens accesses and fences, and widens scopes, as far as
    the test's dialect has words for it and the model tells it apart. synth proves that nothing cheaper is enough: each
    candidate breaks every execution found so far that has the outcome, until no such execution is left. With each
    change comes an execution that would be allowed without it, and the cycle that the change closes there.
    docs/repair.md has the tables of costs.

    \b
    A repair forbids the outcome in the test's condition (or, for a forall,
    every outcome that violates it). --forbid 'P0:r0=0 /\\ P1:r0=0' names another
    outcome. --race-free removes all flags of the model, instead or as well.

    --weaken goes the other way: it finds the cheapest program that is no stronger than the test and still forbids the
    outcome. If the test raises no flag, neither does the result. With each thing that has to stay comes the execution
    that would be allowed without it. Whatever the model ignores stays as it is.

    Warnings say what an answer depends on: control dependencies that order reads, and words that the model ignores.

    --together repairs several tests, such as the parts of one program, by the same changes: at labels of the same name,
    in any thread, or, if the tests have the same code, at the same place.

    Kernels in CUDA C++ (.cu) and PTX are repaired at the lines of their source, for the launch that options or the file
    give (synth check --help). A repair forbids races, traps, and whatever --expect excludes.

    \b
    Examples:
      synth fix examples/kernels/mp-fences.cu
      synth fix examples/kernels/ticket-lock.cu --weaken
      synth fix examples/memory/cas-sl.litmus --model ptx-rmo
      synth fix examples/memory/mp-weak.litmus --model ptx-6.0 --allow fences --all
      synth fix examples/memory/c-sb-rel-acq.litmus --model rc11 --picture sb.svg -o sb-repaired.litmus
      synth fix examples/memory/exch-sl+membar.gls.litmus --model ptx-rmo --weaken
      synth fix examples/memory/opencl --model opencl --race-free -o repaired
      synth fix examples/memory/opencl --model opencl --race-free --all --jobs local:4 --json

    Exit code 1 if a test has no repair, 2 if --timeout or --memory cut the search.
    """
    formats = {name: _format_of_kernels(Path(name)) for name in inputs}
    for name, form in formats.items():
        if form and not form.repaired:
            called = form.name if form.code in ("", "LLVM") else form.code
            kind = "programs" if form.code == "LLVM" else "kernels"
            found = f"synth checks {kind} in {called} but does not repair them"
            raise InputError(f"{found}: expected CUDA C++, PTX, C, C++ or litmus tests", name)
    kernels = [Path(name) for name in inputs if formats[name]]
    if kernels:
        if len(kernels) < len(inputs) or forbid or together or bell or output or svg:
            raise click.UsageError(
                "kernels take no litmus tests beside them, and no --forbid, --together, --bell, --picture or --output"
            )
        from synth.checking.sources import check_options, read_kernels
        from synth.checking.tasks import tasks_of
        from synth.repair.kernels import KernelRepairRequest

        check_options(launch)
        tasks = [task for path in kernels for task in tasks_of(read_kernels(path, compiler_options), launch)]
        request = KernelRepairRequest(model or "", weaken, allowed, cost or "", every, unroll)
        with workplaces(jobs) as places:
            sys.exit(_fix_kernels(tasks, request, places, limits, as_json))
    if model is None:
        raise click.UsageError("Missing option '-m' / '--model'.")
    if svg:
        check_picture_name(svg)
    tests = with_bell(expand(inputs), bell)
    if svg and len(tests) > 1 and not together:
        raise InputError(f"--picture draws one repair, and there are {len(tests)} tests")
    if race_free and weaken:
        raise click.UsageError("--weaken keeps a test free of races if it is: give it without --race-free")
    several = len(tests) > 1 or every
    if output is not None and several and output.exists() and not output.is_dir():
        raise InputError("expected a folder for several tests, found a file", str(output))
    if output is not None and several:
        check_one_file_each((f"{file_stem(test.name)}.litmus", test) for test in tests)
    groups = [tests] if together else [[test] for test in tests]
    from synth.repair.work import RepairFound, RepairRequest, RepairSummary  # imported where it is needed

    repair_request = RepairRequest(model, forbid, race_free, weaken, allowed, cost, every, unroll, svg is not None)
    missing = cut = False
    with workplaces(jobs) as places:
        for group, steps in _repairs_in_order(groups, repair_request, places, limits):
            if group is not groups[0] and not as_json:
                _say([""])
            for number, step in enumerate(steps, 1):
                if isinstance(step, RepairFound) and output is not None:
                    _write(step, number, output, several, [file_stem(given.name) for given in group])
                if isinstance(step, RepairSummary):
                    missing |= not step.repaired
                    cut |= step.cut
                    if svg and step.svg:
                        write_picture(svg, step.svg)
                    if as_json:
                        click.echo(json.dumps(step.record))
                if step.lines and not as_json:
                    _say(step.lines)
    sys.exit(1 if missing else 2 if cut else 0)


def _format_of_kernels(path: Path) -> CodeFormat | None:
    """Return the format of a file of code, by its name, or its words where files of tests are called so; else None."""
    form = certain_format_of(path)
    shared = suffix_of(path) if form is None and path.is_file() else None
    return format_of(path) if shared and may_have_kernels(path) else form


def _fix_kernels(
    tasks: Sequence[KernelTask], request: KernelRepairRequest, places: Jobs, limits: Limits, as_json: bool
) -> int:
    """Print the repairs of kernels, each with its launch, in their order; return the exit code."""
    from synth.repair.kernels import repaired_kernel, unrepaired

    def lost(task: KernelTask, reason: str) -> RepairedKernel:
        return unrepaired(task, request, f"it {reason}")

    found = []
    work = partial(repaired_kernel, request=request)
    with (
        awaiting(f"the repair of {', '.join(dict.fromkeys(task.names[0] for task in tasks))}"),
        watching("Repairing", found=False) as watch,
    ):
        for repaired in results_in_order(tasks, work, places, limits, lost, watch):
            if repaired is not None:
                _say([json.dumps(repaired.record)] if as_json else repaired.lines)
                found.append(repaired)
    return 2 if any(kernel.problem for kernel in found) else int(not all(kernel.repaired for kernel in found))


def _repairs_in_order(
    groups: Sequence[Sequence[Input]], request: RepairRequest, places: Jobs, limits: Limits
) -> Iterator[tuple[Sequence[Input], Iterator[RepairFound | RepairSummary]]]:
    """Yield the steps of each program's repair, in order; those of a single program as they come."""
    from synth.repair.work import RepairSummary

    with (
        awaiting(f"the repair of {groups[0][0].name}") as by_now,
        watching("Repairing", found=False) as watch,
    ):
        if len(groups) == 1:
            yield groups[0], (step for _, step in _steps(groups, request, 1, limits, watch))
            return
        ended: dict[int, list[RepairFound | RepairSummary]] = {}
        due = 0
        for number, step in _steps(groups, request, places, limits, watch):
            ended.setdefault(number, []).append(step)
            while due in ended and isinstance(ended[due][-1], RepairSummary):
                yield groups[due], iter(ended.pop(due))
                due += 1
                by_now(f"the repair of {groups[min(due, len(groups) - 1)][0].name}")


def _steps(
    groups: Sequence[Sequence[Input]], request: RepairRequest, places: Jobs, limits: Limits, watch: Watch
) -> Iterator[tuple[int, RepairFound | RepairSummary]]:
    """Yield the steps of each program's repair, with the program's number, by one process or several.

    The last step of a program is its summary, also where a limit cut the search. ``watch`` is told of the summaries.
    """
    from synth.repair.work import RepairFound, RepairSummary

    tasks = [(number, [given.to_carry() for given in group]) for number, group in enumerate(groups)]
    cut: list[tuple[int, str]] = []
    done = 0
    found: dict[int, list[tuple[str, ...]]] = {}

    def over(task: tuple[int, Sequence[Input]], limit: str) -> None:
        cut.append((task[0], limit))

    def ends() -> Iterator[tuple[int, RepairFound | RepairSummary]]:
        while cut:
            number, limit = cut.pop()
            yield number, _cut(groups[number], request, limit, found.get(number, []))

    with closing(run_tasks(tasks, partial(_done, request=request), places, limits=limits, over=over)) as results:
        for result in results:
            watch(done, len(groups))
            yield from ends()
            if result is not None:
                (number, _), step = result
                done += isinstance(step, RepairSummary)
                if isinstance(step, RepairFound):
                    found.setdefault(number, []).append(step.tests)
                yield number, step
    yield from ends()


def _done(task: tuple[int, Sequence[Input]], request: RepairRequest) -> Iterator[RepairFound | RepairSummary]:
    from synth.repair.work import repaired

    yield from repaired(task[1], request)


def _cut(group: Sequence[Input], request: RepairRequest, limit: str, found: Sequence[tuple[str, ...]]) -> RepairSummary:
    """Return the summary of a search that exceeded a limit, with the texts of the repairs found before."""
    from synth.repair.work import RepairSummary

    stopped = stopped_by([limit])
    record = {
        "files": [given.label for given in group],
        "model": request.model,
        "complete": False,
        "repairs": [{"texts": list(texts)} for texts in found],
        "stopped": stopped,
    }
    line = f"There may be others: {stopped}." if found else f"{group[0].name} under {request.model}: UNKNOWN, {stopped}"
    return RepairSummary(True, ("", line) if found else (line,), record, None, cut=True)


def _say(lines: Sequence[str]) -> None:
    click.echo(printable_lines("\n".join(lines)))


def _write(step: RepairFound, number: int, output: Path, several: bool, names: Sequence[str]) -> None:
    """Write a repaired test into a file; of several tests, into a folder, where further repairs are numbered."""
    if several:
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder: {error.strerror}", str(output)) from None
    for name, text in zip(names, step.tests, strict=True):
        path = output / f"{name}{f'.{number}' if number > 1 else ''}.litmus" if several else output
        write_atomically(path, [text])
