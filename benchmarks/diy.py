"""`synth memory` beside diy7 (herdtools7), on the same edges in the same run: the same cycles, and the time they take.

    python benchmarks/diy.py          cycles of up to 8 edges
    python benchmarks/diy.py 8 10     and of up to 10, which takes minutes

The edges are those of diy7's PPC: program order, two fences, dependencies, and communication between threads. Synth has
other words for the fences, membar.sys and fence.acq_rel.gpu, and the cycles are compared one by one, whatever they are
called and wherever they begin. Each is measured twice: where it lists cycles alone, and where it writes the tests, diy7
a file each and synth a corpus, whose tests have digests besides. Seconds of processors are what to compare; memory is
as benchmarks/measuring.py has it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from measuring import SYNTH, cpu_seconds, measure
from rich.console import Console
from rich.table import Table

PLAIN = "PodWW PodRR PodRW PodWR Rfe Fre Coe DpAddrdR DpAddrdW DpDatadW DpCtrldW DpCtrldR"
FENCES = {"Sync": "MembarSys", "LwSync": "FenceAcqRel.gpu."}
"""What diy7 calls fences, and what synth does."""

ENDS = ("dWW", "dRR", "dRW", "dWR")


@dataclass(frozen=True)
class Taken:
    """What a command took: seconds on the clock and of processors, and megabytes."""

    seconds: float
    cpu: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[8], metavar="SIZE", help="most edges of a cycle")
    options = parser.parse_args()
    diy7 = shutil.which("diy7")
    table = Table(title="synth memory -j 1" + (" and diy7 -mode critical" if diy7 else ""))
    for heading in ("what", "size", "cycles", "synth s", "CPU s", "MB", "diy7 s", "CPU s", "MB", "ratio of CPU"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for size in options.sizes:
        ours = listed([*synth(size), "--cycles"], canonical)
        if diy7 and sorted(ours) != sorted(listed([*diy(diy7, size), "-cycleonly", "true"], translated)):
            sys.exit(f"diy7 has other cycles of up to {size} edges")
        for what in ("listed", "tests written"):
            with tempfile.TemporaryDirectory() as folder:
                more = ["--cycles"] if what == "listed" else ["-j", "1", "-o", str(Path(folder) / "suite")]
                taken = take([*synth(size), *more])
                cells = [f"{taken.seconds:.2f}", f"{taken.cpu:.2f}", f"{taken.megabytes:.0f}"]
            if diy7:
                with tempfile.TemporaryDirectory() as folder:
                    more = ["-cycleonly", "true"] if what == "listed" else ["-o", folder]
                    other = take([*diy(diy7, size), *more])
                    cells += [f"{other.seconds:.2f}", f"{other.cpu:.2f}", f"{other.megabytes:.0f}"]
                    cells.append(f"{taken.cpu / other.cpu:.2f}")
            else:
                cells += ["", "", "", ""]
            table.add_row(what, f"<= {size}", str(len(ours)), *cells)
    Console(width=110 if not sys.stdout.isatty() else None).print(table)
    print("The same cycles." if diy7 else "There is no diy7 on the PATH to compare with.")


def synth(size: int) -> list[str]:
    """The command without what it is to do."""
    fences = [word + end for word in FENCES.values() for end in ENDS]
    return [SYNTH, "memory", "--edges", " ".join([PLAIN, *fences]), "--size", f"2..{size}"]


def diy(program: str, size: int) -> list[str]:
    """The same of diy7, whose cycles have no more threads than it is told."""
    fences = [word + end for word in FENCES for end in ENDS]
    edges = " ".join([PLAIN, *fences])
    return [program, "-arch", "PPC", "-safe", edges, "-mode", "critical", "-size", str(size), "-nprocs", str(size)]


def take(command: list[str]) -> Taken:
    """What a command takes."""
    before = cpu_seconds()
    seconds, kilobytes = measure(command)
    return Taken(seconds, cpu_seconds() - before, kilobytes / 1024)


def listed(command: list[str], read: Callable[[str], str]) -> list[str]:
    """The cycles that a command lists, ``NAME: EDGES`` in a line each."""
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [read(line.partition(": ")[2]) for line in lines if ": " in line]


def canonical(edges: str) -> str:
    """A cycle from where it is least."""
    words = edges.split()
    return min(" ".join(words[start:] + words[:start]) for start in range(len(words)))


def translated(edges: str) -> str:
    """The same of a cycle in diy7's words."""
    words = []
    for edge in edges.split():
        fence = next((fence for fence in FENCES if edge.startswith(fence)), "")
        words.append(FENCES[fence] + edge.removeprefix(fence) if fence else edge.replace("Wse", "Coe"))
    return canonical(" ".join(words))


if __name__ == "__main__":
    main()
