"""Time, throughput, solver calls and memory of `synth progress`, start-up included, and how it compares with C++.

    python benchmarks/progress.py                        the bounds that take seconds
    python benchmarks/progress.py 2x5 3x5 4x5            those that take minutes
    python benchmarks/progress.py 2x4 --solver cadical195 --jobs 1

Memory is as benchmarks/measuring.py has it.

Seconds mean something on one machine, so each bound is also counted by brute force in the same run, on one core: by
benchmarks/enumerator.cpp, compiled here, which makes every program of the bound and counts those that are tests. It has
no start-up to speak of, no verdicts, no digests and no files, all of which synth has: at a ratio of 1 synth searches,
judges and writes a suite in the time that C++ takes to count it. The second table has the ratios of seconds on the
clock, where synth has all cores, and of seconds of processors; or says that there is no compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from measuring import SYNTH, compiled, cpu_seconds, measure
from rich.console import Console
from rich.table import Table

QUICK = ["2x2", "2x3", "3x3", "2x4", "3x4"]

ENUMERATOR = Path(__file__).with_name("enumerator.cpp")


@dataclass(frozen=True)
class Taken:
    """What a command took: seconds on the clock and of processors, and the tests that it found."""

    seconds: float
    cpu: float
    tests: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bounds", nargs="*", default=QUICK, metavar="NxK")
    parser.add_argument("--filter", choices=["all", "minimal"], action="append", help="default: both")
    parser.add_argument("--solver", default=None)
    parser.add_argument("--jobs", type=int, default=None)
    options = parser.parse_args()
    extra = [] if options.solver is None else ["--solver", options.solver]
    extra += [] if options.jobs is None else ["--jobs", str(options.jobs)]

    command_line = " ".join(["synth progress", *extra])
    table = Table(title=f"{command_line}, {len(os.sched_getaffinity(0))} cores")
    for heading in ("bound", "filter", "tests", "variables", "clauses", "refinements", "calls", "s", "tests/s", "MB"):
        table.add_column(heading, justify="right")
    everything: dict[str, Taken] = {}
    for bound in options.bounds:
        threads, instrs = bound.split("x")
        for kind in options.filter or ["all", "minimal"]:
            with tempfile.TemporaryDirectory() as folder:
                suite = Path(folder) / "suite"
                command = [SYNTH, "progress", "--threads", threads, "--instrs", instrs, f"--{kind}", "-o", str(suite)]
                before = cpu_seconds()
                seconds, kilobytes = measure(command + extra)
                cpu = cpu_seconds() - before
                manifest = json.loads((suite / "manifest.json").read_text())
                effort = json.loads((suite / "times.json").read_text())
            tests = manifest["counts"]["tests"]
            if kind == "all":
                everything[bound] = Taken(seconds, cpu, tests)
            largest = max(manifest["encodings"].values(), key=lambda size: size["clauses"])
            table.add_row(
                bound,
                kind,
                str(tests),
                str(largest["variables"]),
                str(largest["clauses"]),
                str(effort["refinements"]),
                str(effort["calls"]),
                f"{seconds:.2f}",
                f"{tests / seconds:.0f}",
                f"{kilobytes / 1024:.0f}",
            )
    console = Console(width=100 if not sys.stdout.isatty() else None)
    console.print(table)
    if everything:
        console.print(ratios(everything))


def ratios(everything: dict[str, Taken]) -> Table | str:
    """How synth compares, at each bound of which it has found all tests, with an enumeration in C++ that is run now."""
    table = Table(title="synth progress --all, and a count in C++ on one core")
    for heading in ("bound", "synth s", "its CPU s", "C++ s", "its CPU s", "s / s", "CPU / CPU"):
        table.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(ENUMERATOR, Path(folder))
        if program is None:
            return "no C++ compiler here (g++, clang++ or c++): nothing to compare with"
        for bound, synth in everything.items():
            anchor = count(program, bound)
            if anchor.tests != synth.tests:
                sys.exit(f"{bound}: synth found {synth.tests} tests, and C++ {anchor.tests}")
            times = (synth.seconds, synth.cpu, anchor.seconds, anchor.cpu)
            quotients = (synth.seconds / anchor.seconds, synth.cpu / max(anchor.cpu, 1e-3))
            table.add_row(bound, *(f"{value:.2f}" for value in (*times, *quotients)))
    return table


def count(program: Path, bound: str) -> Taken:
    """What the enumeration takes."""
    started, before = time.monotonic(), cpu_seconds()
    output = subprocess.run([program, *bound.split("x")], check=True, capture_output=True, text=True).stdout
    return Taken(time.monotonic() - started, cpu_seconds() - before, int(output))


if __name__ == "__main__":
    main()
