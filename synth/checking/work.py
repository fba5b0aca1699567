"""``synth check`` over many files: which there are, and the work on each, which processes share.

A file is read, and compiled, by a worker. It gives the kernels of the file, each with each launch and model, and these
are asked about by whichever worker is free. So a file that is wrong or slow costs its own answers and no others.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from corpus.awaited import awaiting
from corpus.code.refusals import NotUnderstoodError
from corpus.code.registry import expected_formats, format_of
from corpus.errors import InputError
from corpus.private import private_folder
from oracle.consistency import AxiomaticModel, ConsistencyModel, resolve_consistency_models
from oracle.executions.steps import TooManyError
from synth.checking.account import CheckedKernel, checked_kernel, named, unanswered
from synth.checking.lines import short
from synth.checking.questions import CheckAnswer, check, together
from synth.checking.sources import NoKernelError, may_have_kernels, read_for_check
from synth.checking.tasks import KernelTask, tasks_of
from synth.folders import LeftOut, files_below
from synth.pool import Jobs, Subtasks, results_in_order
from synth.requests import LaunchWords
from synth.watch import Watch
from synth.worker import Limits, is_starved


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A file that a command line names, or that is ``inside`` a folder that it names."""

    path: Path
    inside: bool = False


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What is asked of every kernel. No ``models``: each is asked of its language's own. ``drawn``: there are pictures
    of findings. ``as_written``: of code that is compiled without optimisations. ``verbose``: text has all relations.
    ``leaks``: it is asked whether memory is never given back.
    """

    launch: LaunchWords
    models: tuple[str, ...]
    progress: str
    method: str
    unroll: int
    compiler_options: tuple[str, ...]
    drawn: bool = False
    as_written: bool = False
    verbose: bool = False
    leaks: bool = False


@dataclass(frozen=True, slots=True)
class KernelQuestion:
    """A kernel with a launch, and the model that it is asked about under."""

    task: KernelTask
    model: str


CheckTask = KernelSource | KernelQuestion
"""What a worker is given: a file to read, or a kernel to ask about."""


def sources_of(paths: Sequence[Path]) -> tuple[list[KernelSource], LeftOut]:
    """Return the files that paths name, each once, and what else there is in folders.

    Of a folder these are the files with kernels in it and in the folders in it, sorted by name; a folder that cannot
    be listed stands among them, which reading it reports. Raises ``InputError`` where a folder has none.
    """
    found: dict[Path, KernelSource] = {}
    left_out = LeftOut()
    for given in paths:
        if not os.path.isdir(given):  # no error where it cannot be looked at, which reading it reports
            found.setdefault(given, KernelSource(given))
            continue
        some = False
        for entry in files_below(given):
            if entry.folder or (format_of(entry.path) and not entry.link):
                some = True
                found.setdefault(entry.path, KernelSource(entry.path, inside=not entry.folder))
            else:
                left_out.add(entry)
        if not some:
            wanted = f"neither the folder nor one in it has a file of {expected_formats()}"
            raise InputError("; ".join(filter(None, (wanted, str(left_out)))), str(given))
    return list(found.values()), left_out


def axiomatic(models: Sequence[str]) -> list[AxiomaticModel]:
    """Return the models of these names. Raises ``InputError`` where one is unknown, or no .cat file."""
    found: Sequence[ConsistencyModel] = resolve_consistency_models(models)
    axioms = [model for model in found if isinstance(model, AxiomaticModel)]
    for model in found:
        if model not in axioms:
            raise InputError(f"--model: {model.name} is a transition system, and kernels are asked of .cat files")
    return axioms


def check_all(
    tasks: Sequence[CheckTask], request: CheckRequest, places: Jobs, limits: Limits, watch: Watch
) -> Generator[CheckedKernel | None, None, None]:
    """Yield the answers about all kernels of files, in the order of the files; None while they are waited for.

    Limits are those of a kernel with a launch and a model, and of a file while it is read. A file that cannot be read
    or compiled has one answer, ERROR. A file in a folder that has no kernel has none. ``watch`` is told of the answers.
    """
    work = partial(_work, request=request)
    with private_folder("check", all_within=True):  # a worker that is killed while it compiles leaves some files
        yield from results_in_order(tasks, work, places, limits, _lost, watch)


def _work(task: CheckTask, request: CheckRequest) -> CheckedKernel | Subtasks[CheckTask]:
    return _questions(task, request) if isinstance(task, KernelSource) else _answer(task, request)


def _questions(source: KernelSource, request: CheckRequest) -> CheckedKernel | Subtasks[CheckTask]:
    """Return the questions about the kernels of a file."""
    try:
        if source.inside and not may_have_kernels(source.path):
            return Subtasks(())
        with awaiting(short(str(source.path))):
            file = read_for_check(source.path, request.compiler_options, request.as_written)
            tasks = list(tasks_of(file, request.launch))
    except InputError as error:
        if is_starved(error):  # a compiler, which has the limits of its worker
            raise MemoryError from error
        if source.inside and isinstance(error, NoKernelError):
            return Subtasks(())
        return unanswered(str(source.path), "", "", "", str(error), CheckAnswer.ERROR)
    return Subtasks(questions_about(tasks, request))


def questions_about(tasks: Sequence[KernelTask], request: CheckRequest) -> list[CheckTask]:
    """Return the questions about kernels with launches: each model that is asked for, or else the language's own."""
    if request.leaks:
        tasks = [replace(task, launch=replace(task.launch, leaks=True)) for task in tasks]
    return [KernelQuestion(task, model) for task in tasks for model in request.models or (task.file.model,)]


def _answer(question: KernelQuestion, request: CheckRequest) -> CheckedKernel:
    """Return the answers about a kernel with a launch under a model."""
    task, began = question.task, time.perf_counter()
    file, kernel, launch = task.names
    with awaiting(named(short(file), kernel, launch)):
        found = _answered(question, request)
    return replace(found, seconds=time.perf_counter() - began)


def _answered(question: KernelQuestion, request: CheckRequest) -> CheckedKernel:
    task = question.task
    names = (*task.names, question.model)
    (model,) = axiomatic([question.model])
    try:
        programs = task.programs(model.model, request.unroll)
        answers = [
            check(program, model, task.expected(program), request.unroll, request.progress, request.method)
            for program in programs
        ]
        return checked_kernel(*task.names, together(answers), task.removed(programs), request.drawn, request.verbose)
    except NotUnderstoodError as error:
        return unanswered(*names, str(error))
    except TooManyError as error:
        return unanswered(*names, error.message, CheckAnswer.UNKNOWN)
    except InputError as error:
        return unanswered(*names, str(error), CheckAnswer.ERROR)


def _lost(task: CheckTask, reason: str) -> CheckedKernel:
    names = (str(task.path), "", "", "") if isinstance(task, KernelSource) else (*task.task.names, task.model)
    return unanswered(*names, f"it {reason}", CheckAnswer.UNKNOWN)
