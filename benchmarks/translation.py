"""Real compilers held to the models: suites compiled, read back and judged at each level of optimisation.

    python benchmarks/translation.py                       every suite through every compiler that is here
    python benchmarks/translation.py --suite c --every 10  every tenth test of one suite
    python benchmarks/translation.py --jobs 2 -o FOLDER    the table as Markdown, and each verdict as a line of JSON

The suites: ``c`` are the shapes of two threads and two locations (SB, MP, LB, R, S, 2+2W) with every choice of orders
for their four accesses, MP with updates for its flag, and MP and SB with fences, in C11; ``examples`` are the litmus
tests that ship, for the languages of shaders and CUDA. A compiler gets the tests that its language can say. "seconds a
test" are those of compiling, reading and judging, on the clock.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import measuring as measuring  # first: our packages are imported by their names
from rich.console import Console
from rich.table import Table

from backends.code_languages import TEST_COMPILERS
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.litmus.test import LitmusTest
from synth.translation.account import HEADS, checked_record, table_rows
from synth.translation.compiled import TranslationTask, check_all_compiled
from synth.worker import Limits

EXAMPLES = Path(__file__).parents[1] / "examples" / "memory"

SHAPES = {
    "SB": (("Wx1", "Ry"), ("Wy1", "Rx")),
    "MP": (("Wx1", "Wy1"), ("Ry", "Rx")),
    "LB": (("Rx", "Wy1"), ("Ry", "Wx1")),
    "R": (("Wx1", "Wy1"), ("Wy2", "Rx")),
    "S": (("Wx2", "Wy1"), ("Ry", "Wx1")),
    "2+2W": (("Wx1", "Wy2"), ("Wy1", "Wx2")),
}
"""The threads of each shape: an access, its location, and what it writes."""

LOADS = {"rlx": "relaxed", "acq": "acquire", "sc": "seq_cst"}
STORES = {"rlx": "relaxed", "rel": "release", "sc": "seq_cst"}
UPDATES = {**LOADS, **STORES, "ar": "acq_rel"}
FENCES = [word for word in UPDATES if word != "rlx"]


def c_suite() -> Iterator[LitmusTest]:
    """Every shape with every choice of orders, then MP and SB with fences or updates (``synchronised``)."""
    for shape, threads in SHAPES.items():
        accesses = [access for thread in threads for access in thread]
        for orders in product(*(LOADS if access[0] == "R" else STORES for access in accesses)):
            yield _test(f"{shape}+{'-'.join(orders[:2])}+{'-'.join(orders[2:])}", threads, orders)
    yield from synchronised()


def synchronised() -> Iterator[LitmusTest]:
    """MP with updates and with fences, and SB with fences, of every order; all other accesses are relaxed."""
    for shape, (first, second) in (("MP", SHAPES["MP"]), ("SB", SHAPES["SB"])):
        fenced = ((first[0], "F", first[1]), (second[0], "F", second[1]))
        for one, other in product(FENCES, FENCES):
            yield _test(f"{shape}+f{one}+f{other}", fenced, ("rlx", one, "rlx", "rlx", other, "rlx"))
    updated = (("Wx1", "Xy1"), ("Uy", "Rx"))
    for release, acquire in product(UPDATES, UPDATES):
        yield _test(f"MP+rlx-x{release}+u{acquire}-rlx", updated, ("rlx", release, acquire, "rlx"))


def _test(name: str, threads: Sequence[Sequence[str]], orders: Sequence[str]) -> LitmusTest:
    """A test of C: each access is atomic, and every register and location is observed."""
    words = iter(orders)
    bodies, finals = [], ["x = 0", "y = 0"]
    for number, thread in enumerate(threads):
        lines = []
        for place, access in enumerate(thread):
            order = f"memory_order_{UPDATES[next(words)]}"
            if access == "F":
                lines.append(f"  atomic_thread_fence({order});")
                continue
            kind, location, value = access[0], access[1], access[2:]
            if kind == "W":
                lines.append(f"  atomic_store_explicit({location}, {value}, {order});")
                continue
            call = {
                "R": f"atomic_load_explicit({location}, {order})",
                "X": f"atomic_exchange_explicit({location}, {value}, {order})",
                "U": f"atomic_fetch_add_explicit({location}, 0, {order})",
            }[kind]
            lines.append(f"  int r{place} = {call};")
            finals.append(f"{number}:r{place} = 0")
        bodies.append(f"P{number} (atomic_int* x, atomic_int* y) {{\n" + "\n".join(lines) + "\n}\n")
    condition = " /\\ ".join(finals)
    return parse_litmus(f"C {name}\n{{ }}\n\n" + "\n".join(bodies) + f"\nexists ({condition})\n", name)


def examples() -> Iterator[LitmusTest]:
    """The litmus tests that ship, in the order of their paths, each called by its path."""
    for path in sorted(EXAMPLES.rglob("*.litmus")):
        if path.parent.name not in ("amdgpu", "ptx-async"):
            yield replace(read_litmus(path), name=str(path.relative_to(EXAMPLES).with_suffix("")))


SUITES = {
    "c": (c_suite, ("cuda", "opencl", "glsl", "wgsl", "cpp")),
    "examples": (examples, ("cuda", "opencl", "glsl", "wgsl")),
}
"""The suites, and the back ends whose compilers each goes through."""


def tasks(suite: str, every: int, backends: Sequence[str], levels: Sequence[str]) -> list[TranslationTask]:
    """The tasks of a suite: every so many of its tests by each compiler that is here, at each level or those named."""
    make, usual = SUITES[suite]
    tests = list(make())[::every]
    return [
        TranslationTask(test.name, test, backend, number, level)
        for backend in usual
        if backend in TEST_COMPILERS and (not backends or backend in backends)
        for number, compiler in enumerate(TEST_COMPILERS[backend])
        if not compiler.missing()
        for level in compiler.levels
        if not levels or level in levels
        for test in tests
    ]


def main() -> None:
    """Print the table of a run, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=list(SUITES), action="append")
    parser.add_argument("--backend", choices=list(TEST_COMPILERS), action="append", default=[])
    parser.add_argument("--level", action="append", default=[])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    for suite in given.suite or SUITES:
        selected = tasks(suite, given.every, given.backend, given.level)
        lines = []
        checked = []
        for answer in check_all_compiled(selected, given.jobs, Limits(60.0, 4096)):
            checked.append(answer)
            lines.append(json.dumps(checked_record(answer), ensure_ascii=False))
        table = Table(*HEADS, title=f"{suite}: {len({task.name for task in selected})} tests", box=None)
        rows = list(table_rows(checked))
        for row in rows:
            table.add_row(*row)
        Console(width=200).print(table)
        if given.output:
            given.output.mkdir(parents=True, exist_ok=True)
            (given.output / f"translation-{suite}.jsonl").write_text("".join(f"{line}\n" for line in lines))
            marks = [HEADS, tuple("---" for _ in HEADS), *rows]
            (given.output / f"translation-{suite}.md").write_text("".join(f"| {' | '.join(row)} |\n" for row in marks))


if __name__ == "__main__":
    main()
