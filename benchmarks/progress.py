"""Time, throughput, solver calls and memory of `synth progress`, start-up included: a table for each bound.

    python benchmarks/progress.py                        the bounds that take seconds
    python benchmarks/progress.py 2x5 3x5 4x5            those that take minutes
    python benchmarks/progress.py 2x4 --solver cadical195 --jobs 1

Memory is as benchmarks/measuring.py has it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from measuring import SYNTH, measure
from rich.console import Console
from rich.table import Table

QUICK = ["2x2", "2x3", "3x3", "2x4", "3x4"]


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
    for bound in options.bounds:
        threads, instrs = bound.split("x")
        for kind in options.filter or ["all", "minimal"]:
            with tempfile.TemporaryDirectory() as folder:
                suite = Path(folder) / "suite"
                command = [SYNTH, "progress", "--threads", threads, "--instrs", instrs, f"--{kind}", "-o", str(suite)]
                seconds, kilobytes = measure(command + extra)
                manifest = json.loads((suite / "manifest.json").read_text())
                effort = json.loads((suite / "times.json").read_text())
            tests = manifest["counts"]["tests"]
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
    Console(width=100 if not sys.stdout.isatty() else None).print(table)


if __name__ == "__main__":
    main()
