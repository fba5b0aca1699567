"""A suite of three tests with three mutants, and what a device did with it, in round figures."""

from __future__ import annotations

import json
from pathlib import Path

from backends.shared.results import MemoryResult, print_result, times_of
from corpus.dialects.registry import parse_litmus
from corpus.files import write_atomically
from corpus.links import LINKS, MUTANTS, MutantLink, print_links
from corpus.litmus.normal import litmus_digest
from corpus.suite import write_corpus
from corpus.test import Test

TEXT = """C {name}
{{ x = 0; y = 0; }}
P0 (atomic_int* x, atomic_int* y) {{
  atomic_store_explicit(x, {value}, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_relaxed);
}}
P1 (atomic_int* x, atomic_int* y) {{
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}}
exists (P1:r0 = {outcome[0]} /\\ P1:r1 = {outcome[1]})
"""


def record(name: str, outcome: tuple[int, int], value: int, tags: tuple[str, ...] = ()) -> Test:
    """Message passing that asks for an outcome; ``value`` tells tests apart that ask for the same."""
    text = TEXT.format(name=name, outcome=outcome, value=value)
    digest = litmus_digest(parse_litmus(text))
    return Test(name, digest, text, {"sc": "FORBIDDEN"}, tags, bound="2x4")


TESTS = [record(name, (1, 0), value, ("axiom:causality",)) for name, value in (("A", 7), ("B", 8), ("C", 9))]
WEAK, FINE, SERIAL = record("A.m1", (1, 0), 1), record("A.m2", (0, 1), 1), record("A.m3", (1, 1), 1)
"""Mutants whose outcomes take weak memory, interleaving, and neither."""

LINKED = [
    MutantLink("A", "A.m1", "P0's fence: removed", "instruction"),
    MutantLink("A", "A.m2", "P1's load of y: acquire -> relaxed", "order"),
    MutantLink("A", "A.m3", "P0's store to x: removed", "instruction"),
    MutantLink("B", "A.m2", "P0's fence: scope gpu -> cta", "scope"),
    MutantLink("C", "A.m3", "P1's load of x: removed", "instruction"),
]


def result(test: Test, count: int, stress: bool = False, launches: int = 20, device: str = "toy") -> MemoryResult:
    """A result that has the outcome asked for so often, and another one 5 times."""
    asked = tuple(int(part) for part in (test.text.split("P1:r0 = ")[1][0], test.text.split("P1:r1 = ")[1][0]))
    return MemoryResult(
        test=test.name,
        digest=test.digest,
        backend="cpp",
        device=device,
        instances=512,
        iterations=launches,
        timeout=5.0,
        stress=stress,
        terms=("P1:r0", "P1:r1"),
        outcomes=(((0, 0), 5), (asked, count)) if count else (((0, 0), 5),),
        other=0,
        launches=launches,
        hung=False,
    )


SEEN = [
    (result(WEAK, 40), (0.1,) * 20),
    (result(FINE, 0), (0.1,) * 20),
    (result(SERIAL, 1000), (0.1,) * 20),
    (result(TESTS[0], 0), (0.005,) * 20),
    (result(WEAK, 6, stress=True), (0.15,) * 20),
    (result(FINE, 9, stress=True), (0.15,) * 20),
    (result(TESTS[0], 0, stress=True), (0.05,) * 20),
]
"""Plain, the mutants run for 2 s each and A for 0.1 s; with stress 3 s and 1 s."""


def write_suite(folder: Path) -> Path:
    """The suite with its results."""
    for path, tests in ((folder, TESTS), (folder / MUTANTS, [WEAK, FINE, SERIAL])):
        path.mkdir(parents=True)
        write_corpus(path, tests, {"complete": True, "request": {"kind": "memory"}, "models": ["sc"]})
    write_atomically(folder / MUTANTS / LINKS, print_links(LINKED))
    write_results(folder / "results.jsonl")
    return folder


def write_results(path: Path, seen: list[tuple[MemoryResult, tuple[float, ...]]] | None = None) -> None:
    """A file of results with its times."""
    lines, times = [], []
    for each, seconds in SEEN if seen is None else seen:
        lines.append(print_result(each) + "\n")
        way = {"test": each.test, "backend": each.backend, "device": each.device, "instances": each.instances}
        times.append(json.dumps({**way, "seconds": seconds}) + "\n")
    write_atomically(path, lines)
    write_atomically(times_of(path), times)
