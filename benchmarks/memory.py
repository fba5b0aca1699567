"""Cycles and tests a second, solver calls and memory of `synth memory`, for growing sizes and edge sets.

    python benchmarks/memory.py                          the cuts that take seconds
    python benchmarks/memory.py classic:10 gpu-2015:6    SET:SIZE, the size alone; those that take minutes
    python benchmarks/memory.py fences:5 --solver cadical195 --jobs 1

"cycles/s" is the solver's part alone, in this process: formula, enumeration, decoding. "tests/s" is the whole command
with start-up, verdicts of sc and of one GPU model, and writing. Memory is as benchmarks/measuring.py has it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from measuring import SYNTH, measure
from rich.console import Console
from rich.table import Table

from constraints.cycles import CycleEncoding, cycles
from constraints.loop import SolverEffort
from constraints.solvers import DEFAULT_SOLVER
from synth.memory.synthesis import CycleSuiteRequest


@dataclass(frozen=True, slots=True)
class EdgeSet:
    edges: str
    model: str
    scopes: tuple[str, ...] = ()
    regions: tuple[str, ...] = ("global",)


CLASSIC = "PodWW PodRR PodRW PodWR Rfe Fre Coe"
GPU_2015 = (Path(__file__).parents[1] / "examples" / "gpu-2015.edges").read_text()

SETS = {
    "classic": EdgeSet(CLASSIC, "ptx-6.0"),
    "fences": EdgeSet(f"{CLASSIC} MembarGldWW MembarGldRR MembarGldRW MembarGldWR", "ptx-6.0", ("cta",)),
    "atomics": EdgeSet(f"{CLASSIC} Rlx.gpu Rel.gpu Acq.gpu Plain", "ptx-6.0"),
    "gpu-2015": EdgeSet(
        " ".join(line.partition("#")[0] for line in GPU_2015.splitlines()),
        "ptx-rmo",
        ("cta",),
        ("global", "shared"),
    ),
}

QUICK = ["classic:4", "classic:6", "classic:8", "fences:4", "fences:5", "atomics:4", "gpu-2015:4", "gpu-2015:5"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cuts", nargs="*", default=QUICK, metavar="SET:SIZE", help=f"sets: {', '.join(SETS)}")
    parser.add_argument("--solver", default=DEFAULT_SOLVER)
    parser.add_argument("--jobs", type=int, default=None)
    options = parser.parse_args()
    extra = ["--solver", options.solver] + ([] if options.jobs is None else ["--jobs", str(options.jobs)])

    table = Table(title=f"{' '.join(['synth memory', *extra])}, {len(os.sched_getaffinity(0))} cores")
    for heading in ("edges", "size", "variables", "clauses", "tests", "calls", "cycles/s", "s", "tests/s", "MB"):
        table.add_column(heading, justify="left" if heading == "edges" else "right")
    for cut in options.cuts:
        name, _, size = cut.partition(":")
        if name not in SETS or not size.isdigit():
            parser.error(f"expected SET:SIZE, found {cut}")
        table.add_row(name, size, *row(SETS[name], int(size), options.solver, extra))
    Console(width=100 if not sys.stdout.isatty() else None).print(table)


def row(given: EdgeSet, size: int, solver: str, extra: list[str]) -> list[str]:
    bounds = CycleSuiteRequest(given.edges, (size, size), scopes=given.scopes, regions=given.regions).bounds
    formula = CycleEncoding(bounds, size).formula
    effort, started = SolverEffort(), time.monotonic()
    found = sum(1 for _ in cycles(bounds, size, solver, effort))
    alone = time.monotonic() - started
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "suite"
        command = [SYNTH, "memory", "--edges", given.edges, "--size", str(size), "--regions", ",".join(given.regions)]
        command += ["--scopes", ",".join(given.scopes)] if given.scopes else []
        seconds, kilobytes = measure([*command, "-m", "sc", "-m", given.model, "-o", str(suite), *extra])
        tests = json.loads((suite / "manifest.json").read_text())["counts"]["tests"]
    assert tests == found
    return [
        str(formula.variables),
        str(len(formula.clauses)),
        str(tests),
        str(effort.calls),
        f"{found / alone:.0f}",
        f"{seconds:.2f}",
        f"{tests / seconds:.0f}",
        f"{kilobytes / 1024:.0f}",
    ]


if __name__ == "__main__":
    main()
