"""Random kernels and shaders on machines, against what ``synth check`` says of their memory at the end.

    python benchmarks/kernels_on_machines.py                        200 programs for each machine
    python benchmarks/kernels_on_machines.py 10000 --machine vulkan
    python benchmarks/kernels_on_machines.py 500 --first 3000 --common

OpenCL C runs on PoCL, GLSL on the first device of Vulkan, such as lavapipe. What is no agreement is a line as it is
found, with the seed of the program; ``--show SEED`` prints that program. ``--common``: the programs have only what all
languages have. The exit code is 1 where there is a difference.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import measuring  # noqa: F401, first: it sees to it that our packages are imported by their names
from rich.console import Console
from rich.table import Table

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from machines import MACHINES, seen_on
from random_programs import random_program

AT_ONCE = 50
"""The programs of one compilation."""


def main() -> int:
    """Compare programs, and print a table of answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--machine", action="append", choices=MACHINES)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--common", action="store_true")
    parser.add_argument("--show")
    words = parser.parse_args()
    machines = words.machine or list(MACHINES)
    if words.show is not None:
        for machine in machines:
            print(random_program(words.show, MACHINES[machine], words.common).text)
        return 0
    found: dict[str, Counter[str]] = {machine: Counter() for machine in machines}
    began = time.perf_counter()
    for start in range(words.first, words.first + words.count, AT_ONCE):
        seeds = [str(number) for number in range(start, min(start + AT_ONCE, words.first + words.count))]
        for machine in machines:
            for seen in seen_on(machine, seeds, words.common):
                reason = f": {seen.why.split(' (')[0]}" if seen.answer in ("not understood", "unknown") else ""
                found[machine][seen.answer + reason] += 1
                if seen.answer != "agreed":
                    print(f"{machine} {seen.seed}: {seen.answer}: {seen.why}", flush=True)
    table = Table("answer", *machines)
    for answer in sorted({kind for counts in found.values() for kind in counts}):
        table.add_row(answer, *(f"{found[machine][answer]:,}" for machine in machines))
    Console(width=120).print(table)
    print(f"{words.count} programs a machine in {time.perf_counter() - began:.0f} s")
    return int(any(counts["difference"] for counts in found.values()))


if __name__ == "__main__":
    sys.exit(main())
