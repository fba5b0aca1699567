"""Programs of GLSL and OpenCL C that are compiled and read back as kernels have the verdicts of their tests.

``round_trip`` says what the programs do not keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import synth
from round_trip import keeps, memory_test_read_back, progress_test_read_back

from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.journal import read_corpus
from corpus.litmus.test import LitmusTest
from corpus.progress.text import parse_axb
from oracle.consistency import resolve_consistency_models
from oracle.liveness import resolve_liveness_models
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import system_verdicts, verdicts
from synth.memory.judging import judge_with
from synth.memory.liveness import explain_liveness
from synth.requests import AUTO

pytestmark = pytest.mark.device

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
MODELS = {"glsl": "vulkan", "opencl": "opencl"}
"""The memory model of each language."""

FEW, MANY = 20, 200


def suite_of(backend: str, events: str, folder: Path) -> Iterator[LitmusTest]:
    """The examples of a language's own model, its suite up to so many events, and their mutants."""
    for file in sorted((EXAMPLES / MODELS[backend]).glob("*.litmus")):
        yield read_litmus(file)
    suite = folder / "suite"
    assert synth("memory", "--from", MODELS[backend], "--events", events, "--mutants", "-o", suite).exit_code == 0
    for each in (*read_corpus(suite).tests, *read_corpus(suite / "mutants").tests):
        yield parse_litmus(each.text)


def memory_round_trip(backend: str, events: str, every: int, folder: Path) -> int:
    """Hold each of so many tests against what is read back of it; return how many these are."""
    (model,) = resolve_consistency_models([MODELS[backend]])
    tests = [test for test in suite_of(backend, events, folder) if keeps(backend, test)]
    said = 0
    for test in tests[::every]:
        try:
            back = memory_test_read_back(backend, test, folder)
        except InputError:
            continue  # the language has no words for it
        own, found = (judge_with(each, model, AUTO, 2) for each in (test, back))
        assert (found.answer, sorted(found.flags)) == (own.answer, sorted(own.flags)), test.name
        said += 1
    return said


@pytest.mark.slow
@pytest.mark.parametrize("backend", MODELS)
def test_memory_tests(backend: str, to_spirv: Callable[[str], None], tmp_path: Path) -> None:
    to_spirv(backend)
    assert memory_round_trip(backend, "2..3", 3, tmp_path) >= FEW


@pytest.mark.slow
@pytest.mark.parametrize("backend", MODELS)
def test_many_memory_tests(backend: str, to_spirv: Callable[[str], None], tmp_path: Path) -> None:
    to_spirv(backend)
    assert memory_round_trip(backend, "2..4", 1, tmp_path) >= MANY


def progress_round_trip(backend: str, bounds: tuple[tuple[int, int], ...], every: int, folder: Path) -> int:
    """Hold each of so many progress tests against what is read back of it, under every progress model."""
    said = 0
    for threads, instructions in bounds:
        suite = folder / f"{threads}x{instructions}"
        wanted = ("--threads", threads, "--instrs", instructions, "--all")
        assert synth("progress", *wanted, "-o", suite).exit_code == 0
        for each in read_corpus(suite).tests[::every]:
            program = parse_axb(each.text)
            back = progress_test_read_back(backend, program, folder)
            assert system_verdicts(explore_litmus(back).successors) == verdicts(program), each.text
            said += 1
    return said


@pytest.mark.parametrize("backend", MODELS)
def test_progress_tests(backend: str, to_spirv: Callable[[str], None], tmp_path: Path) -> None:
    to_spirv(backend)
    assert progress_round_trip(backend, ((2, 3), (3, 3)), 10, tmp_path) >= FEW


@pytest.mark.slow
@pytest.mark.parametrize("backend", MODELS)
def test_many_progress_tests(backend: str, to_spirv: Callable[[str], None], tmp_path: Path) -> None:
    to_spirv(backend)
    assert progress_round_trip(backend, ((2, 3), (3, 3)), 1, tmp_path) >= MANY


PROGRAMS = (
    "THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n",
    "THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: if (Mem[0] == 0) goto 0;\n",
    "THREAD 0\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n"
    "THREAD 1\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n",
)
"""Two threads one of which waits for the other, and two with a lock."""


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("backend", MODELS)
def test_progress_tests_under_the_memory_model(
    backend: str, text: str, to_spirv: Callable[[str], None], tmp_path: Path
) -> None:
    """Accesses are of a release and an acquire that are enough: memory adds no hang."""
    to_spirv(backend)
    program = parse_axb(text)
    back = progress_test_read_back(backend, program, tmp_path)
    for name in ("hsa", "obe", "fair"):
        (model,) = resolve_liveness_models([f"{name} & {MODELS[backend]}"])
        assert explain_liveness(back, model, 2).verdict == verdicts(program)[f"{name}-weak"], name
