"""Machine code of HIP programs held against LLVM's tables of code sequences, and against consistency models.

Each instruction of a test is compared with its row (``corpus.code.amdgcn.reader``). Where models are named, the code is
besides a program of the machine that the table is for (``oracle.operational.amdgpu``): an outcome that the machine has
and a model forbids is a finding, be it about the compiler, the table or the machine.

Gap: the machine has neither branches nor addresses in registers; such tests are counted as not judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from backends.hip.code import compiler_for, describe_problem, machine_codes, rows
from backends.hip.words import said_in_hip
from backends.shared.backend import Backend, ProgramCheck
from corpus.code.amdgcn.reader import RowVerdict, machine_programs
from corpus.code.amdgcn.text import MachineCode
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel, machine_table, resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import Answer
from oracle.operational.amdgpu import FAMILIES, outcomes
from synth.memory.judging import judge_with
from synth.requests import AUTO

BACKEND = "hip"
"""The back end whose code is read."""

FINE = (RowVerdict.SAME, RowVerdict.STRONGER)
"""The verdicts that are no finding."""


@dataclass(frozen=True, slots=True)
class CodeJudgement:
    """Whether a machine can do with the code of a test what a model forbids; ``reason``: why nothing is said of it."""

    reached: bool = False
    reason: str = ""


def with_sequences(backend: Backend, paths: Sequence[Path], models: Sequence[str]) -> Backend:
    """Return the HIP back end with a check that holds the code of memory tests against the tables in these files, and
    against the models of these names. Raises ``InputError`` where a table or a model cannot be read.
    """
    tables = [machine_table(str(path))[0] for path in paths]
    chosen = resolve_consistency_models(models)

    def problems(test: LitmusTest, program: Path) -> list[str]:
        found = []
        for code, check in rows(test, program, tables):
            if check.verdict not in FINE:
                held = f"{check.verdict} from {check.row}: {check.problem}; {check.expected} | {check.found}"
                found.append(f"{_named(code)}: {describe_problem(said_in_hip(test), check.place, held)}")
        return [*dict.fromkeys(found), *_reached(test, program, chosen)]

    def counts(test: LitmusTest, program: Path) -> Mapping[str, int]:
        found = Counter(f"{_named(code)}: rows {check.verdict}" for code, check in rows(test, program, tables))
        for code in machine_codes(program):
            for model in chosen:
                judgement = judged(test, code, model)
                word = (
                    "not judged by" if judgement.reason else "programs against" if judgement.reached else "programs as"
                )
                found[f"{_named(code)}: {word} {model.name}"] += 1
        return found

    return replace(backend, compiler=compiler_for(tables), check=ProgramCheck("sequences", problems, counts))


@lru_cache(maxsize=256)
def judged(test: LitmusTest, code: MachineCode, model: ConsistencyModel) -> CodeJudgement:
    """Decide whether the machine of some code can come to what a test asks about, if the model forbids that."""
    verdict = judge_with(test, model, AUTO, UNROLL)
    if verdict.flags or verdict.answer is Answer.UNKNOWN:
        return CodeJudgement(reason=", ".join(verdict.flags) or verdict.reason or "no verdict")
    in_hip = said_in_hip(test)
    try:
        found = outcomes(in_hip, machine_programs(in_hip, code), FAMILIES[code.machine])
    except InputError as error:
        return CodeJudgement(reason=error.message)
    return CodeJudgement(verdict.answer is Answer.FORBIDDEN and found.has(test.condition))


def _reached(test: LitmusTest, program: Path, models: Sequence[ConsistencyModel]) -> Iterator[str]:
    for code in machine_codes(program):
        for model in models:
            if judged(test, code, model).reached:
                yield f"{_named(code)}: the machine can do with this code what {model.name} forbids"


def _named(code: MachineCode) -> str:
    """The GPU, and the machine of its tables where that has another name."""
    return code.machine if code.machine.startswith(code.chip) else f"{code.chip} ({code.machine})"
