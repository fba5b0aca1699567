"""Tests through real compilers: each is compiled, what comes out is read back, and the two are judged.

A compiler is called at each of its levels of optimisation. A test that its language cannot say is left out; one that
the compiler refuses, and code that is not understood, is NOT_READ, with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from backends.code_languages import CODE_LANGUAGES, TEST_COMPILERS
from backends.shared.readback import CompiledTest, NotCompiledError, TestCompiler, observed
from corpus.errors import InputError
from corpus.executions.sequences import MachineStep
from corpus.litmus.test import LitmusTest
from corpus.private import private_folder
from oracle.consistency import ConsistencyModel, OperationalModel, resolve_consistency_models
from oracle.executions.bounds import UNROLL
from synth.pool import Jobs, map_each
from synth.requests import AUTO
from synth.translation.judging import JudgedTranslation, TranslationVerdict, judge_translation
from synth.watch import watching
from synth.worker import Limits

REFUSED = "not compiled: "
"""The beginning of the reason for a test that the compiler refuses."""


@dataclass(frozen=True)
class TranslationTask:
    """A test, by its name, for a compiler at a level: one of those of a back end, by its number.

    ``models`` are those of the two sides, empty where they are those of the compiler's languages.
    """

    name: str
    test: LitmusTest
    backend: str
    number: int
    level: str
    models: tuple[str, str] = ("", "")

    @property
    def compiler(self) -> TestCompiler:
        """The compiler of the test."""
        return TEST_COMPILERS[self.backend][self.number]

    @property
    def model_names(self) -> tuple[str, str]:
        """The names of the models of the two sides."""
        before, after = self.models
        return before or self.compiler.source, after or CODE_LANGUAGES[self.compiler.language].model


@dataclass(frozen=True)
class CheckedTranslation:
    """What came of a task: the verdict, and the seconds that compiling, reading and judging took.

    ``judged`` is None where the language cannot say the test, which ``reason`` names. ``before`` and ``after`` are the
    two sides, where there are two. ``programs``: the code as programs of a machine, where it is no litmus test.
    """

    task: TranslationTask
    judged: JudgedTranslation | None
    seconds: tuple[float, float, float] = (0.0, 0.0, 0.0)
    before: LitmusTest | None = None
    after: LitmusTest | None = None
    reason: str = ""
    programs: tuple[tuple[MachineStep, ...], ...] = ()

    @property
    def models(self) -> tuple[ConsistencyModel, ConsistencyModel]:
        """The models of the two sides."""
        before, after = self.task.model_names
        if not self.programs:
            return models_of(before, after)
        (one,) = resolve_consistency_models([before])
        return one, OperationalModel(after, programs=self.programs)


def check_compiled(task: TranslationTask) -> CheckedTranslation:
    """Compile a test, read it back and judge it."""
    begun = time.perf_counter()
    with private_folder("translation") as folder:
        try:
            compiled = task.compiler.compile(observed(task.test), task.level, Path(folder))
        except NotCompiledError as error:
            judged = JudgedTranslation(TranslationVerdict.NOT_READ, reason=f"{REFUSED}{error.message}")
            return CheckedTranslation(task, judged, (time.perf_counter() - begun, 0.0, 0.0))
        except InputError as error:
            return CheckedTranslation(task, None, reason=error.message)
    return judged_as_compiled(task, compiled, time.perf_counter() - begun)


def check_together(tasks: Sequence[TranslationTask]) -> Sequence[CheckedTranslation | None]:
    """Check tests of one compiler and level, which it compiles together where it can; else None for each."""
    first = tasks[0]
    together = first.compiler.together
    if together is None or any((task.compiler, task.level) != (first.compiler, first.level) for task in tasks):
        return [None] * len(tasks)
    begun = time.perf_counter()
    with private_folder("translation") as folder:
        every = together([observed(task.test) for task in tasks], first.level, Path(folder))
    seconds = (time.perf_counter() - begun) / len(tasks)
    return [
        None if compiled is None else judged_as_compiled(task, compiled, seconds)
        for task, compiled in zip(tasks, every, strict=True)
    ]


def judged_as_compiled(task: TranslationTask, compiled: CompiledTest, took: float = 0.0) -> CheckedTranslation:
    """Read a test back that a compiler has compiled in ``took`` seconds, and judge it."""
    begun = time.perf_counter()
    language = CODE_LANGUAGES[task.compiler.language]
    try:
        after = language.read(compiled)
        programs = language.programs(compiled) if language.programs else ()
    except InputError as error:
        judged = JudgedTranslation(TranslationVerdict.NOT_READ, reason=str(replace(error, path=None)))
        return CheckedTranslation(task, judged, (took, time.perf_counter() - begun, 0.0), compiled.test)
    read = time.perf_counter()
    checked = CheckedTranslation(task, None, before=compiled.test, after=after, programs=programs)
    try:
        judged = judge_translation(compiled.test, after, checked.models, AUTO, UNROLL)
    except InputError as error:
        judged = JudgedTranslation(TranslationVerdict.NOT_READ, reason=error.message)
    return replace(checked, judged=judged, seconds=(took, read - begun, time.perf_counter() - read))


@lru_cache(maxsize=16)
def models_of(before: str, after: str) -> tuple[ConsistencyModel, ConsistencyModel]:
    """Return the models of the two sides by name. Raises ``InputError`` where there is no such model."""
    (one,), (other,) = resolve_consistency_models([before]), resolve_consistency_models([after])
    return one, other


def check_all_compiled(tasks: Sequence[TranslationTask], jobs: Jobs, limits: Limits) -> Iterator[CheckedTranslation]:
    """Yield what comes of each task, in order, over processes. What exceeds the limits is UNKNOWN."""

    def lost(task: TranslationTask, reason: str) -> CheckedTranslation:
        return CheckedTranslation(task, JudgedTranslation(TranslationVerdict.UNKNOWN, reason=reason))

    with (
        watching("Checking", found=False) as watch,
        closing(map_each(check_compiled, tasks, jobs, limits, lost, together=check_together)) as answers,
    ):
        done = 0
        for answer in answers:
            if answer is not None:
                done += 1
                yield answer
            watch(done, len(tasks), done)
