"""``synth check`` finds what may race, break or hang in kernels, at the line of the source."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from corpus.errors import one_line, visible
from synth import VERSION
from synth.interruption import until_interrupted
from synth.options.form import Page, form_options, print_as, printed_as
from synth.options.launch import compiler_option, launch_options
from synth.options.models import models_option
from synth.options.values import JOBS
from synth.options.work import limit_options, workplaces
from synth.requests import AUTO, ENUMERATE, INTERLEAVED, SAT, STATELESS, LaunchWords
from synth.screen.pictures import check_picture_name, write_picture
from synth.tables import FORMS, TABLE
from synth.worker import Limits

if TYPE_CHECKING:  # what reads and asks is imported where it is needed
    from synth.checking.account import CheckedKernel
    from synth.checking.tally import CheckTally
    from synth.checking.work import CheckRequest, CheckTask, KernelSource

TEXT, CSV, JSONL, SARIF, JUNIT = "text", "csv", "jsonl", "sarif", "junit"
STREAMED = (TEXT, CSV, JSONL)
"""The forms that are printed as answers come."""


@click.command(name="check", cls=Page, first="--grid --block --arg --expect --progress --format --picture")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="KERNEL|FOLDER...")
@launch_options()
@models_option(
    "Memory model; repeatable.  [default: ptx for CUDA, rc11 for C; vulkan or opencl for SPIR-V, as the module says]"
)
@click.option("--progress", default="fair", show_default=True, metavar="MODEL", help="The progress model to assume.")
@click.option(
    "--method",
    type=click.Choice([AUTO, STATELESS, INTERLEAVED, SAT, ENUMERATE]),
    default=AUTO,
    show_default=True,
    help="Grow executions event by event, or interleave threads that synchronise (rc11 and sc); ask a SAT solver; or "
    "list executions that terminate.",
)
@click.option(
    "--unroll", type=click.IntRange(0), default=2, show_default=True, help="Follow a loop for this many jumps back."
)
@compiler_option
@click.option(
    "--as-written",
    is_flag=True,
    help="Compile CUDA C++ without optimisations, which remove accesses.",
)
@form_options(
    "The form of the answers. A table, csv and jsonl have a row for each kernel and launch. text, csv and jsonl print "
    "each answer as soon as it is known.  [default: text; table for folders; csv with -o]",
    *(TEXT, *FORMS, CSV, JSONL, SARIF, JUNIT),
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write csv or jsonl to FILE, each answer as soon as it is known. FILE.request.json records the request.",
)
@click.option(
    "--known",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The csv of an earlier run. Findings and UNKNOWN answers that it already has do not fail this run.",
)
@click.option("--verbose", "-v", is_flag=True, help="Print every progress model and every relation of executions.")
@click.option(
    "--leaks",
    is_flag=True,
    help="Ask of a program in C or C++ which memory is never given back, and led to by no variable at its end.",
)
@click.option(
    "--litmus", type=click.Path(path_type=Path), metavar="FILE", help="Write the specialised kernel as a litmus test."
)
@click.option(
    "--picture",
    "svg",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the executions behind the findings: .svg, .pdf, .png or .tex.",
)
@limit_options("for a kernel with a launch, or for compiling a file. Beyond that its answers are UNKNOWN", 600, 4096)
@click.option("--jobs", "-j", type=JOBS, help="Processes.  [default: one a core]")
def command(
    files: tuple[Path, ...],
    launch: LaunchWords,
    models: tuple[str, ...],
    progress: str,
    method: str,
    unroll: int,
    compiler_options: tuple[str, ...],
    as_written: bool,
    form: str | None,
    output: Path | None,
    known: Path | None,
    verbose: bool,
    leaks: bool,
    litmus: Path | None,
    svg: Path | None,
    limits: Limits,
    jobs: int | None,
) -> None:
    """Find what may race, break or hang in kernels, at the line of the source.

    Kernels are CUDA C++ (.cu), which nvcc compiles to PTX; GLSL (.comp), OpenCL C (.cl), HIP (.hip) or WGSL (.wgsl),
    which glslang, clang, and naga or Tint compile to SPIR-V; or PTX (.ptx) and SPIR-V (.spv, .spvasm) themselves. A
    program in C (.c) creates its threads in main and has no launch.

    synth specialises a kernel to a small launch. Accesses, atomics, fences, barriers and branches on values read
    remain, and it asks of them: do accesses race? Can an expectation, a trap or an assertion fail? Does a thread read
    shared memory that nobody wrote, or access memory outside an array? Do all threads reach each barrier? Under which
    progress models does the kernel always terminate?

    Without a grid and a block, synth tries two blocks, two warps, two threads of one warp, and two blocks of two
    threads. Pointers are arrays of zeros; you have to give each number that decides something. A comment line in the
    file may give a launch: // synth check: --grid 2 --block 32 --arg n=4 --expect 'data[0] == 2'

    The command line overrides comment lines, option by option and argument by argument. With --kernel, comments that
    name another kernel are ignored.

    In a folder and the folders below it, synth reads every file that may have kernels: those named above, .c files with
    main and threads, and .cuh, .cpp and .cc files with the word __global__. It skips hidden files and symbolic links.
    The limits hold for each kernel and launch by itself, so one that is too hard loses only its own answers. The
    answer for a file that does not compile is ERROR.

    Exit code 1 if anything is found, including a hang under the assumed progress model; 2 if nothing is found and an
    answer is UNKNOWN or NOT UNDERSTOOD, or a file or an option is wrong; else 0.

    \b
    Examples:
      synth check examples/kernels/ticket-lock.cu
      synth check examples/kernels/counter.cu --kernel counter --grid 3 --expect 'count == 3'
      synth check examples/kernels/spinlock-cas.cu --grid 2 --progress obe
      synth check examples/kernels/ticket-lock.cu examples/kernels/spinlock-cas.cu --format sarif
      synth check examples/kernels -j 2 --timeout 60
      synth check examples/c/mcs-lock-late.c -m rc11 -m sc
      synth check examples/kernels -o answers.csv
      synth check examples/kernels/spirv/mp.spvasm
      synth check examples/kernels/stream.cu --first 'fill --grid 2' --kernel total --grid 2 --expect 'sum == 3'
    """
    from backends.shared.process import ended_by_signals
    from synth.checking.tally import CheckTally
    from synth.checking.work import CheckRequest, check_all, sources_of
    from synth.growing_file import growing

    form = _form(form, output, svg, any(map(os.path.isdir, files)))
    drawn = svg is not None
    request = CheckRequest(
        launch, models, progress, method, unroll, compiler_options, drawn, as_written, verbose, leaks
    )
    models_asked = _models(request)
    sources, left_out = sources_of(files)
    tally = CheckTally(sources, left_out, known)
    tasks: Sequence[CheckTask] = sources
    if litmus is not None:
        tasks = _with_litmus(litmus, sources, request)
    if output is not None:
        tasks = sources[_begun(output, request, limits, models_asked, form, tally) :]
    with (
        ended_by_signals(),
        workplaces(jobs) as places,
        closing(tally.counted(partial(check_all, tasks, request, places, limits))) as answers,
    ):
        if output is not None:
            with growing(output) as out:
                _print_lines(answers, form, out)
        else:
            checked = _print(answers, form)
            if svg is not None:
                _draw(svg, checked)
    sys.exit(tally.tell(files))


def _form(form: str | None, output: Path | None, svg: Path | None, folders: bool) -> str:
    """Return the form of the answers. Raises ``click.UsageError`` where options do not go together."""
    if svg is not None:
        check_picture_name(svg)
    if output is None:
        return form or (printed_as() if folders or printed_as() != TABLE else TEXT)
    if form not in (None, CSV, JSONL):
        raise click.UsageError("-o writes csv or jsonl")
    if svg is not None:
        raise click.UsageError("--picture draws printed answers: give it without -o")
    return form or CSV


def _models(request: CheckRequest) -> dict[str, dict[str, str]]:
    """Return the models that are asked and the progress that is assumed, with their digests.

    Raises ``InputError`` where an option is wrong for any file.
    """
    from corpus.code.registry import default_models
    from oracle.progress.plugins import resolve_models
    from synth.checking.sources import check_options
    from synth.checking.work import axiomatic

    check_options(request.launch)
    return {
        "models": {model.name: model.model.digest for model in axiomatic(request.models or default_models())},
        "progress": {model.name: model.digest for model in resolve_models([request.progress])},
    }


def _begun(
    output: Path,
    request: CheckRequest,
    limits: Limits,
    models: dict[str, dict[str, str]],
    form: str,
    tally: CheckTally,
) -> int:
    """Begin the file of answers, or go on with it; return the number of files whose answers it has."""
    from synth.checking.compilers import source_digest
    from synth.checking.rows import known_rows
    from synth.growing_file import digest_of

    files = [str(source.path) for source in tally.sources]
    options = request.compiler_options
    texts = digest_of((str(source.path), source_digest(source.path, options)) for source in tally.sources)
    question = asdict(replace(request, verbose=False)) | models | {"format": form, "version": VERSION, "files": texts}
    question |= {"timeout": limits.seconds, "memory": limits.megabytes}  # what exceeded a limit is not asked again
    known = known_rows(output, question, form, files)
    for _, rows in known:
        for row in rows:
            tally.add(row)
    return files.index(known[-1][0]) + 1 if known else 0


def _with_litmus(path: Path, sources: Sequence[KernelSource], request: CheckRequest) -> list[CheckTask]:
    """Write what is left of the kernel of a file as a litmus test; return the questions about the kernel."""
    from corpus.code.program import program_of
    from corpus.dialects.registry import DIALECTS, printed
    from corpus.files import write_atomically
    from corpus.litmus.locations import Region
    from synth.checking.questions import left_over
    from synth.checking.sources import options_of, read_kernels
    from synth.checking.tasks import tasks_of
    from synth.checking.work import questions_about

    options = request.compiler_options, request.as_written
    files = [read_kernels(source.path, options_of(source.path, *options)) for source in sources[:2]]
    tasks = [task for file in files for task in tasks_of(file, request.launch)]
    if len(tasks) != 1 or tasks[0].before:
        raise click.UsageError("--litmus writes one kernel with one launch: name them by --kernel, --grid and --block")
    module, dialect = tasks[0].file.module, tasks[0].file.language.dialect
    program = program_of(module, tasks[0].kernel, tasks[0].launch)
    test = left_over(program, tasks[0].expected(program))
    if dialect == "vulkan":  # accesses say which memory they are of
        test = replace(test, locations=tuple(replace(location, region=Region.GLOBAL) for location in test.locations))
    write_atomically(path, [printed(test, DIALECTS[dialect])])
    return questions_about(tasks, request)


def _draw(path: Path, checked: Sequence[CheckedKernel]) -> None:
    from synth.drawing.pictures import side_by_side

    drawings = [kernel.drawing for kernel in checked if kernel.drawing is not None]
    if drawings:
        write_picture(path, (drawings[0] if len(drawings) == 1 else side_by_side("synth check", drawings)).svg())
    else:
        click.echo(one_line(f"synth: {path}: not written, because no finding has an execution"), err=True)


def _print(answers: Iterable[CheckedKernel], form: str) -> Sequence[CheckedKernel]:
    """Print answers in a form, as they come where it allows that, and return them."""
    from synth.checking import account
    from synth.checking.rows import accounts, check_row, header_of
    from synth.junit import junit

    if form == TEXT:
        every: list[CheckedKernel] = []
        for text in accounts(_kept(answers, every)):
            click.echo(text, nl=False)
        return every
    if form in STREAMED:
        click.echo(header_of(form), nl=False)
        return _print_lines(answers, form)
    if form in FORMS:
        from synth.screen.checks import print_checks

        print_as(form)
        for checked in until_interrupted(answers):
            if checked:
                print_checks(checked)
        return checked
    checked = list(answers)
    match form:
        case "json":
            click.echo(visible(json.dumps(list(map(check_row, checked)), ensure_ascii=False)))
        case "sarif":
            click.echo(account.sarif(checked), nl=False)
        case "junit":
            click.echo(junit("synth check", {"check": account.cases(checked)}), nl=False)
    return checked


def _kept(answers: Iterable[CheckedKernel], every: list[CheckedKernel]) -> Iterator[CheckedKernel]:
    """Yield answers, and keep them."""
    for answer in answers:
        every.append(answer)
        yield answer


def _print_lines(answers: Iterable[CheckedKernel], form: str, out: IO[str] | None = None) -> Sequence[CheckedKernel]:
    """Print answers line by line, each as soon as it is known, to a file or standard output, and return them."""
    from synth.checking.rows import lines_of

    checked = []
    for answer in answers:
        click.echo(lines_of(answer, form), out, nl=False)
        if out is None:
            checked.append(answer)
    return checked
