"""A small corpus of tests of both families with results of several devices, the same each time."""

from __future__ import annotations

from pathlib import Path

from backends.shared.results import (
    Entry,
    MemoryResult,
    ProgressFailure,
    ProgressResult,
    print_result,
)
from corpus.dialects.registry import parse_litmus
from corpus.progress.axb import digest
from corpus.progress.text import parse_axb
from corpus.suite import write_corpus
from corpus.test import Test
from oracle.consistency import resolve_consistency_models
from oracle.progress.models import MODELS, verdicts
from synth.memory.judging import labelled_record

HOSTILE = "</script><img/src=x/onerror=throw(1)>&$\\alpha$"
"""A name that would run as a script where it stood in a page as it is."""

WAITS = "THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n"
MUTEX = "".join(f"THREAD {tid}\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n" for tid in (0, 1))
SB = """C SB
{ }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (0:r0 = 0 /\\ 1:r0 = 0)
"""


def progress_tests(names: tuple[str, str] = ("waits", "mutex")) -> list[Test]:
    found = []
    for name, text in zip(names, (WAITS, MUTEX), strict=True):
        program = parse_axb(text)
        said = {model: str(verdict) for model, verdict in verdicts(program, list(MODELS.values())).items()}
        found.append(Test(name, digest(program), text, said, ("idiom",) if name == "mutex" else ()))
    return found


def memory_test() -> Test:
    return labelled_record(parse_litmus(SB), SB, 4, resolve_consistency_models(["sc", "tso", "rc11"]))


def write_suite(folder: Path, tests: list[Test], kind: str) -> Path:
    folder.mkdir(parents=True)
    write_corpus(folder, tests, {"complete": True, "request": {"kind": kind}, "models": list(tests[0].verdicts)})
    return folder


def progress_result(test: Test, outcomes: str, **given: object) -> ProgressResult:
    known: dict[str, object] = {
        "test": test.name,
        "digest": test.digest,
        "backend": "opencl",
        "device": "a CPU, OpenCL 3.0",
        "mapping": "round-robin",
        "instances": 16,
        "iterations": 20,
        "timeout": 1.0,
        "every_iteration": True,
        "date": "2026-11-22T12:00:00Z",
    }
    return ProgressResult(**(known | given), outcomes=outcomes)  # type: ignore[arg-type]


def confirmed(test: Test) -> ProgressResult:
    """A hang that came again each time."""
    return progress_result(test, "H", tries=("H", "H", "H"))


def memory_result(test: Test, outcomes: tuple[tuple[tuple[int, ...], int], ...], **given: object) -> MemoryResult:
    known: dict[str, object] = {
        "test": test.name,
        "digest": test.digest,
        "backend": "cpp",
        "device": "Linux, 2 cores",
        "instances": 1000,
        "iterations": 10,
        "timeout": 5.0,
        "stress": False,
        "terms": ("P0:r0", "P1:r0"),
        "launches": 10,
        "other": 0,
        "hung": False,
        "date": "2026-11-21T12:00:00Z",
    }
    return MemoryResult(**(known | given), outcomes=outcomes)  # type: ignore[arg-type]


def entries(waits: Test, mutex: Test, sb: Test) -> list[Entry]:
    """Round-robin hangs what fair promises to end; a mapping failed; a profile makes SB's outcome frequent."""
    failed = progress_result(mutex, "T", mapping="chunked", device="a GPU | 2", driver="driver 5")
    asked = {
        name: getattr(failed, name)
        for name in failed.__struct_fields__
        if name not in ("outcomes", "date", "tries", "repeated")
    }
    return [
        progress_result(waits, "T" * 20),  # an earlier line of the next trial
        progress_result(waits, "TTHHT" * 4, tries=("TTHHT" * 4, "H", "H")),
        progress_result(waits, "T" * 20, mapping="plain", instances=1),
        progress_result(mutex, "T" * 20),
        progress_result(
            waits,
            "H",
            tries=("H", "H", "H"),
            placement="subgroup",
            every_iteration=False,
            device="a GPU | 2",
            driver="driver 5",
        ),
        ProgressFailure(**asked, error="the compiler said: <no>", date="2026-11-22T13:00:00Z"),
        memory_result(sb, (((0, 0), 3), ((0, 1), 4997), ((1, 0), 5000))),
        memory_result(sb, (((0, 0), 1200), ((0, 1), 4400), ((1, 0), 4400)), profile="spread"),
        memory_result(sb, (((0, 1), 5000), ((1, 0), 5000)), device="another", compiler="g++ 14"),
    ]


def write_results(file: Path, results: list[Entry]) -> Path:
    file.write_text("".join(f"{print_result(entry)}\n" for entry in results), encoding="utf-8")
    return file


def write_all(folder: Path, names: tuple[str, str] = ("waits", "mutex")) -> list[Path]:
    """A corpus of each family, each with its results in it."""
    waits, mutex = progress_tests(names)
    sb = memory_test()
    every = entries(waits, mutex, sb)
    progress = write_suite(folder / "progress", [waits, mutex], "progress")
    memory = write_suite(folder / "memory", [sb], "memory")
    write_results(progress / "results.jsonl", [entry for entry in every if not isinstance(entry, MemoryResult)])
    write_results(memory / "results.jsonl", [entry for entry in every if isinstance(entry, MemoryResult)])
    return [progress, memory]
