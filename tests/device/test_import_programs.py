"""What generated programs print when they are run as a user runs them, elsewhere, is what ``synth import`` reads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import printed

from backends.registry import BACKENDS
from backends.shared.device import DeviceOptions
from backends.shared.results import MemoryFailure, MemoryResult, ProgressResult, read_results

SB = Path(__file__).parents[2] / "examples" / "memory" / "c-sb-sc.litmus"
ENDS = "THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: if (Mem[0] == 0) goto END;\n"
NEVER = "THREAD 0\n0: if (Mem[0] == 0) goto 0;\n"
HOSTILE = 'he said "no\\n" %s ??= *# $x é'


def compiled(test: Path, backend: str, folder: Path, *options: object) -> Path:
    """The program that a test becomes in a new folder."""
    printed("compile", test, "--backend", backend, "-o", folder, *options)
    (program,) = folder.glob(f"*{BACKENDS[backend].suffix}")
    return program


def run(command: list[object], log: Path, timeout: float = 60) -> None:
    with log.open("a") as file:
        subprocess.run(["timeout", str(timeout), *map(str, command)], stdout=file, check=False)


@pytest.mark.device
def test_programs_in_cpp(need: Callable[[str], None], tmp_path: Path) -> None:
    need("cpp")
    (tmp_path / f"{HOSTILE}.axb").write_text(ENDS)
    (tmp_path / "never.axb").write_text(NEVER)
    log = tmp_path / "log"
    for number, (test, timeout) in enumerate(
        [(tmp_path / f"{HOSTILE}.axb", 60), (tmp_path / "never.axb", 1), (SB, 60)]
    ):
        program = compiled(test, "cpp", tmp_path / str(number), "--instances", 64)
        binary = program.with_name("program")
        subprocess.run(["g++", "-std=c++20", "-O1", "-pthread", "-o", binary, program], check=True)
        run([binary, 3], log, timeout)
        run([binary, 0], log, timeout)
    printed("import", log, "-o", tmp_path / "r.jsonl", "--timeout", 1)
    memory, hostile, never = read_results(tmp_path / "r.jsonl")
    device = BACKENDS["cpp"].device
    assert device is not None
    assert {each.device for each in (memory, hostile, never)} == {device(DeviceOptions()).hardware}
    assert isinstance(memory, MemoryResult) and memory.test == "c-sb-sc"
    assert (memory.launches, memory.hung, memory.terms) == (3, False, ("P0:r0", "P1:r1"))
    assert sum(count for _, count in memory.outcomes) == 3 * memory.instances
    assert isinstance(hostile, ProgressResult) and (hostile.test, hostile.outcomes) == (HOSTILE, "TTT")
    assert isinstance(never, ProgressResult) and (never.test, never.outcomes) == ("never", "H")
    assert memory.compiler.startswith("g++ ") and len(memory.date) == 20
    for given, result in ((tmp_path / f"{HOSTILE}.axb", hostile), (SB, memory)):  # the suite knows them again
        (tmp_path / "one").write_text((tmp_path / "r.jsonl").read_text().splitlines()[result is hostile] + "\n")
        printed("import", tmp_path / "one", "--suite", given, "-o", tmp_path / f"{result.digest}.jsonl")
        assert read_results(tmp_path / f"{result.digest}.jsonl") == [result]


@pytest.mark.device
def test_kernels_in_opencl(need: Callable[[str], None], tmp_path: Path) -> None:
    need("opencl")
    (tmp_path / f"{HOSTILE}.axb").write_text(ENDS)
    log = tmp_path / "log"
    program = compiled(tmp_path / f"{HOSTILE}.axb", "opencl", tmp_path / "p", "--mapping", "chunked", "--instances", 8)
    run([sys.executable, program.with_name("run_opencl.py"), program, 2], log)
    program = compiled(SB, "opencl", tmp_path / "m", "--cpu", "--instances", 128)
    run([sys.executable, program.with_name("run_opencl.py"), program, 2], log)
    program.write_text(program.read_text().replace("__kernel void count(", "__kernel no_type count("))
    run([sys.executable, program.with_name("run_opencl.py"), program, 2], log)
    printed("import", log, "-o", tmp_path / "r.jsonl")
    *memories, progress = read_results(tmp_path / "r.jsonl")
    (memory,) = (each for each in memories if isinstance(each, MemoryResult))
    (failed,) = (each for each in memories if isinstance(each, MemoryFailure))
    assert isinstance(progress, ProgressResult)
    assert (progress.test, progress.mapping, progress.instances, progress.outcomes) == (HOSTILE, "chunked", 8, "TT")
    assert (memory.launches, memory.hung) == (2, False)
    assert sum(count for _, count in memory.outcomes) == 2 * memory.instances
    assert (failed.test, failed.digest) == (
        memory.test,
        memory.digest,
    ) and "unknown type name 'no_type'" in failed.error


@pytest.mark.device
def test_shaders_in_wgsl(need: Callable[..., None], tmp_path: Path) -> None:
    need("wgsl", runs=True)
    (tmp_path / "ends.axb").write_text(ENDS)
    log = tmp_path / "log"
    program = compiled(tmp_path / "ends.axb", "wgsl", tmp_path / "p")
    run([sys.executable, program.with_name("run_wgsl.py"), program, 2], log)
    program = compiled(SB.parent / "webgpu" / "mp.litmus", "wgsl", tmp_path / "m", "--cpu", "--instances", 128)
    run([sys.executable, program.with_name("run_wgsl.py"), program, 1], log)
    printed("import", log, "-o", tmp_path / "r.jsonl")
    progress, memory = read_results(tmp_path / "r.jsonl")
    assert isinstance(progress, ProgressResult) and progress.outcomes == "TT"
    assert isinstance(memory, MemoryResult) and memory.launches == 1
