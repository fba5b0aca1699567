"""What the oracle does a second: litmus files read and judged, states of programs; and what a command takes.

    python benchmarks/oracle.py                          all tables
    python benchmarks/oracle.py ways first               some of: reading, ways, states, first, folder, larger
    python benchmarks/oracle.py ways --tests 1000 -m sc  a larger sample, one model

Tests are those of critical cycles, the same each time: of the GPU edges of 2015, plain accesses, membars, dependencies
and memory in two regions; and of a set with acquire, release and atomic operations. "reading", "ways" and "states" are
by seconds of CPU of this process; the way "verdict" is enumeration as far as the verdict needs it, as in
`label --format csv`. "first", "folder" and "larger" are whole commands by the clock, start-up included. Memory is as
benchmarks/measuring.py has it.

"larger": the locks, barriers and scans of examples/locks/larger, by a solver. Events, variables and clauses are those
of the executions that come to an end; variables are those that clauses mention.

"states": a mutex of so many threads, its transition system and the verdicts of all 12 models, each in a process of its
own; nodes are states with the set of threads that have stepped, which is what the models see.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import TypeVar

from measuring import SYNTH, measure
from rich.console import Console
from rich.table import Table

from constraints.cycles import cycles
from constraints.executions import Executions
from constraints.loop import SolverEffort
from constraints.solvers import DEFAULT_SOLVER
from corpus.cycles.cycle import litmus_test, oriented
from corpus.dialects.registry import DIALECTS, parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.journal import read_corpus
from corpus.litmus.test import LitmusTest
from corpus.progress.text import parse_axb
from oracle.consistency import AxiomaticModel, ConsistencyModel, OperationalModel, resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import Judgement
from oracle.liveness import is_liveness_model
from oracle.progress.fast.arrays import explore_arrays
from oracle.progress.models import MODELS, verdicts
from synth.memory.judging import METHODS, judge_with
from synth.memory.synthesis import CycleSuiteRequest
from synth.requests import ENUMERATE

T = TypeVar("T")

EDGES_FILE = Path(__file__).parents[1] / "examples" / "gpu-2015.edges"
EXAMPLES = Path(__file__).parents[1] / "examples" / "memory"
LARGER = Path(__file__).parents[1] / "tests" / "verdicts" / "larger.csv"

FAMILIES = {
    "2015": CycleSuiteRequest(
        " ".join(line.partition("#")[0] for line in EDGES_FILE.read_text().splitlines()),
        (3, 5),
        scopes=("cta",),
        regions=("global", "shared"),
    ),
    "ordered": CycleSuiteRequest(
        "PodWW PodRR PodRW PodWR Rfe Fre Coe Rmw Plain Rel.gpu Acq.gpu FenceSc.gpu.dWR",
        (4, 5),
    ),
}
"""Cycles with the given edges, of the given sizes."""

THIN = {"verdict": 1, "enumerate": 1, "sat": 4, "smt": 16}
"""A slower way judges fewer tests of the sample."""


def family(name: str, count: int) -> list[LitmusTest]:
    """That many tests of a family, or a few more, spread evenly over it."""
    request = FAMILIES[name]
    sizes = range(request.sizes[0], request.sizes[1] + 1)
    found = [cycle for size in sizes for cycle in cycles(request.bounds, size, DEFAULT_SOLVER, SolverEffort())]
    return [litmus_test(oriented(cycle)) for cycle in found[:: max(1, len(found) // count)]]


def a_second(work: Callable[[T], object], items: Sequence[T]) -> str:
    work(items[0])  # what happens once a process is not counted
    started = time.process_time()
    for item in items:
        work(item)
    return f"{len(items) / (time.process_time() - started):.0f}"


def verdict(model: ConsistencyModel, way: str, test: LitmusTest) -> Judgement:
    return judge_with(test, model, way if way in METHODS else ENUMERATE, UNROLL, counts=way in METHODS)


def ways(options: argparse.Namespace) -> Table:
    table = Table(title="tests judged a second of CPU, one process")
    table.add_column("model")
    samples = {name: family(name, options.tests) for name in FAMILIES}
    for name, tests in samples.items():
        for way in THIN:
            table.add_column(f"{name}\n{way}\n{len(tests[:: THIN[way]])}", justify="right")
    for model in resolve_consistency_models(options.model):
        row = [model.name]
        for name, tests in samples.items():
            for way, thin in THIN.items():
                silent = isinstance(model, OperationalModel) and (name, way) != ("2015", ENUMERATE)
                row.append("" if silent else a_second(partial(verdict, model, way), tests[::thin]))
        table.add_row(*row)
    return table


def reading(options: argparse.Namespace) -> Table:
    table = Table(title="litmus files read a second of CPU, one process")
    table.add_column("dialect")
    table.add_column("files", justify="right")
    table.add_column("files/s", justify="right")
    for name in DIALECTS:
        texts = []
        for test in family("2015" if name in ("gpu-ptx", "lisa") else "ordered", options.tests):
            with suppress(InputError):  # what the dialect cannot say
                texts.append(DIALECTS[name].print(test))
        if len(texts) * 2 > options.tests:
            table.add_row(name, str(len(texts)), a_second(parse_litmus, texts))
    return table


LOCK = "0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n"
THREADS = (4, 6, 8, 10, 12)


def states(options: argparse.Namespace) -> Table:
    table = Table(title="a mutex, by seconds of CPU")
    for heading in ("threads", "states", "nodes", "states/s", "verdicts, s", "nodes/s", "MB"):
        table.add_column(heading, justify="right")
    for threads in THREADS:
        with get_context("fork").Pool(1) as pool:
            table.add_row(str(threads), *pool.apply(mutex, (threads,)))
    return table


def mutex(threads: int) -> list[str]:
    program = parse_axb("".join(f"THREAD {thread}\n{LOCK}" for thread in range(threads)), "mutex")
    started = time.process_time()
    found = explore_arrays(program)
    explored = time.process_time() - started
    assert found is not None
    started = time.process_time()
    assert list(verdicts(program)) == list(MODELS)
    judged = time.process_time() - started
    # A thread is at the lock, where it has taken a step or not, in it, which one at most is, or has ended.
    nodes = 3**threads + threads * 3 ** (threads - 1)
    memory = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    numbers = (len(found), nodes, len(found) / explored)
    return [*(f"{number:,.0f}" for number in numbers), f"{judged:.2f}", f"{nodes / judged:,.0f}", f"{memory:.0f}"]


def first(options: argparse.Namespace) -> Table:
    table = Table(title="a process's first verdict: median of 5")
    for heading in ("command", "s", "MB"):
        table.add_column(heading, justify="left" if heading == "command" else "right")
    commands = [["--version"]]
    for model in ("sc", "ptx-6.0"):
        commands += [["label", "mp-acq-rel.litmus", "--model", model, *way] for way in ([], ["--method", "smt"])]
    for command in commands:
        full = [str(EXAMPLES / word) if word.endswith(".litmus") else word for word in command]
        runs = [measure([SYNTH, *full]) for _ in range(5)]
        seconds, kilobytes = (statistics.median(figures) for figures in zip(*runs, strict=True))
        table.add_row(f"synth {' '.join(command)}", f"{seconds:.2f}", f"{kilobytes / 1024:.0f}")
    return table


def folder(options: argparse.Namespace) -> Table:
    table = Table(title=f"a folder of generated tests, {len(os.sched_getaffinity(0))} cores")
    for heading in ("command", "tests", "s", "tests/s", "MB"):
        table.add_column(heading, justify="left" if heading == "command" else "right")
    with tempfile.TemporaryDirectory() as temporary:
        suite = Path(temporary) / "suite"
        edges = ["--edges", f"@{EDGES_FILE}", "--scopes", "cta", "--regions", "global,shared"]
        measure([SYNTH, "memory", *edges, "--size", "3..6", "-o", str(suite)])
        tests = len(read_corpus(suite).tests)
        for model in options.model or ["ptx-rmo"]:
            seconds, kilobytes = measure([SYNTH, "label", str(suite), "--model", model, "--format", "csv"])
            command = f"synth label --model {model}"
            table.add_row(command, str(tests), f"{seconds:.1f}", f"{tests / seconds:.0f}", f"{kilobytes / 1024:.0f}")
    return table


def larger(options: argparse.Namespace) -> Table:
    table = Table(title="programs of three to twelve threads, one process")
    for heading in ("test", "model", "events", "variables", "clauses", "verdict", "s", "MB"):
        table.add_column(heading, justify="left" if heading in ("test", "model", "verdict") else "right")
    with LARGER.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not options.model or row["model"] in options.model]
    for row in rows:
        path = EXAMPLES.parent / "locks" / "larger" / f"{row['test']}.litmus"
        size = [""] * 3 if is_liveness_model(row["model"]) else formula_size(path, row["model"])
        seconds, kilobytes = measure([SYNTH, "label", str(path), "--model", row["model"], "-j", "1"])
        numbers = (f"{seconds:.1f}", f"{kilobytes / 1024:.0f}")
        table.add_row(row["test"], row["model"], *size, row["verdict"], *numbers)
    return table


def formula_size(path: Path, name: str) -> list[str]:
    """The events, variables and clauses of the executions of a test under a model."""
    (model,) = resolve_consistency_models([name])
    assert isinstance(model, AxiomaticModel)
    executions = Executions(read_litmus(path), model.model, UNROLL)
    clauses = executions.circuit.formula.clauses
    variables = {abs(literal) for clause in clauses for literal in clause}
    return [f"{number:,}" for number in (len(executions.events), len(variables), len(clauses))]


TABLES = {"reading": reading, "ways": ways, "states": states, "first": first, "folder": folder, "larger": larger}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=list(TABLES), metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--tests", type=int, default=200, metavar="N", help="of each family  [default: 200]")
    parser.add_argument("-m", "--model", action="append", default=[], help="default: all that ship; folder: ptx-rmo")
    options = parser.parse_args()
    console = Console(width=120 if not sys.stdout.isatty() else None)
    for name in options.tables:
        if name not in TABLES:
            parser.error(f"expected one of {', '.join(TABLES)}, found {name}")
        console.print(TABLES[name](options))


if __name__ == "__main__":
    main()
