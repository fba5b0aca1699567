"""Verdicts a second of the consistency oracle, for each model and each way to a verdict.

    python benchmarks/oracle.py                    a few hundred tests, each way; then 10,000 files under ptx-rmo
    python benchmarks/oracle.py --tests 1000       more tests
    python benchmarks/oracle.py --files 0          without the 10,000 files

The tests are those of examples/gpu-2015.edges with cycles of 4 and 5 edges, spread evenly. "verdicts/s" is of one
process, without start-up and parsing. "first verdict" is a new process that reads one file and one model. The files are
cycles of 6 edges, labelled by `synth label` over all cores, parsing and output included. Memory is as
benchmarks/measuring.py has it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path[0] = str(Path(__file__).parents[1])  # else this file would be taken for the package of its name

from benchmarks.measuring import SYNTH, measure
from constraints.cycles import cycles
from corpus.cycle import litmus_test, oriented
from corpus.litmus import LitmusTest
from corpus.litmus_text import dialects
from oracle.consistency import ConsistencyModel, OperationalModel, resolve_consistency_models
from oracle.judge import UNROLL
from synth.judging import METHODS, judge_with
from synth.memory import Request

EDGES = Path(__file__).parents[1] / "examples" / "gpu-2015.edges"
SLOWER = {"sat": 2, "smt": 10}
"""A way that takes longer judges a part of the tests, one in so many."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=200, help="tests that each way is given")
    parser.add_argument("--files", type=int, default=10_000, help="files for synth label; 0 for none")
    arguments = parser.parse_args()
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 120

    found = family(4) + family(5)
    tests = found[:: max(1, len(found) // arguments.tests)]
    console.print(f"{len(tests)} tests on one of {os.cpu_count()} cores")
    table = Table("model", box=None, pad_edge=False, header_style="bold")
    for method in METHODS:
        table.add_column(f"{method}, verdicts/s", justify="right")
    for model in resolve_consistency_models():
        table.add_row(model.name, *cells(model, tests))
    console.print(table)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write(path, found[:1])
        seconds, kilobytes = measure([SYNTH, "label", *map(str, path.iterdir()), "-m", "ptx-rmo", "--format", "csv"])
        console.print(f"first verdict of a process: {seconds:.2f} s, {kilobytes / 1024:.0f} MB")
    if arguments.files:
        with tempfile.TemporaryDirectory() as folder:
            files = list(islice(family(6), arguments.files))
            write(Path(folder), files)
            seconds, kilobytes = measure([SYNTH, "label", folder, "-m", "ptx-rmo", "--format", "csv"])
        rate = len(files) / seconds
        console.print(
            f"synth label, {len(files)} files under ptx-rmo: {seconds:.1f} s, {rate:.0f} tests/s, "
            f"{kilobytes / 1024:.0f} MB"
        )


def family(size: int) -> list[LitmusTest]:
    """The tests of one size in the order in which the solver finds their cycles."""
    regions = ("global", "shared") if size < 6 else ("global",)
    scopes = ("cta",) if size < 6 else ("cta", "gpu")
    bounds = Request(EDGES_TEXT, (size, size), scopes=scopes, regions=regions).bounds()
    return [litmus_test(oriented(cycle)) for cycle in islice(cycles(bounds, size), 12_000)]


EDGES_TEXT = " ".join(line.partition("#")[0] for line in EDGES.read_text(encoding="utf-8").splitlines())


def cells(model: ConsistencyModel, tests: Sequence[LitmusTest]) -> list[str]:
    """A rate for each way; an operational model has one way only."""
    if isinstance(model, OperationalModel):
        return [rate(model, tests[::4], next(iter(METHODS))), *[""] * (len(METHODS) - 1)]
    return [rate(model, tests[:: SLOWER.get(method, 1)], method) for method in METHODS]


def rate(model: ConsistencyModel, tests: Sequence[LitmusTest], method: str) -> str:
    started = time.process_time()
    for test in tests:
        judge_with(test, model, method, UNROLL)
    return f"{len(tests) / (time.process_time() - started):.0f}"


def write(folder: Path, tests: Sequence[LitmusTest]) -> None:
    for number, test in enumerate(tests):
        (folder / f"{number:05}.litmus").write_text(dialects()["gpu-ptx"].print(test), encoding="utf-8")


if __name__ == "__main__":
    main()
