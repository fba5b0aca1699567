"""Mappings checked: how far, what is found, CPU time and memory, beside figures that were published.

    python benchmarks/mappings.py                  scoped RC11 to PTX: Fig. 17 of Lustig et al. 2019, and Fig. 12's bug
    python benchmarks/mappings.py --all            every mapping that ships, from 2 events to 5
    python benchmarks/mappings.py --seconds 60     at most so many seconds of the clock a row

One process for each row. "published" is what Alloy took for the same question (Lustig et al., ASPLOS 2019, Fig. 17a, an
Intel Xeon): of each axiom of the source alone, with a bound on events. Where axioms are "all", it is the three at once.
"seconds" are of CPU; memory is the peak of the process in 10^6 bytes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage
from shutil import copytree
from tempfile import TemporaryDirectory

import measuring
from rich.console import Console
from rich.table import Table

EXAMPLES = Path(__file__).parents[1] / "examples"
AXIOMS = ("coherence", "atomicity", "sc")
PUBLISHED = {
    ("coherence", 4): "41 s",
    ("coherence", 5): "6.4 h",
    ("atomicity", 4): "4 s",
    ("atomicity", 5): "5 s",
    ("sc", 4): "10 s",
    ("sc", 5): "15 min",
}
TABLE = "rc11-scoped-to-ptx"


@dataclass(frozen=True)
class Row:
    """A question: a mapping, of one axiom or all, and the bound that it states."""

    mapping: str
    bound: str
    axiom: str = ""
    published: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seconds", type=int, default=900)
    given = parser.parse_args()
    table = Table("mapping", "axioms", "asked", "answer", "seconds", "MB", "published", box=None)
    for column in table.columns[4:]:
        column.justify = "right"
    with TemporaryDirectory() as folder:
        for row in shipped() if given.all else published():
            table.add_row(*answered(row, Path(folder), given.seconds))
    Console(width=160).print(table)


def published() -> list[Row]:
    """The rows of Fig. 17a, all axioms at once, and the bug of Fig. 12."""
    rows = [Row(TABLE, f"events {events}", axiom, PUBLISHED[axiom, events]) for events in (4, 5) for axiom in AXIOMS]
    rows += [Row(TABLE, f"events 2..{events}") for events in (4, 5)]
    bug = "events 7, threads 3, scopes gpu, max-tests 1"
    return [*rows, Row(f"{TABLE}-fig12", bug, published="out of reach")]


def shipped() -> list[Row]:
    """Every mapping that ships, up to five events."""
    return [Row(path.stem, "events 2..5") for path in sorted((EXAMPLES / "mappings").glob("*.map"))]


def answered(row: Row, folder: Path, seconds: int) -> tuple[str, ...]:
    """A row of the table: a mapping, its bound, the answer of ``synth map`` within so many seconds, and the CPU seconds
    and megabytes that it took.
    """
    command = [measuring.SYNTH, "map", str(write_bounded(row, folder)), "-j", "1"]
    answer, used = measured(command, seconds)
    spent = (f"{used.ru_utime + used.ru_stime:.1f}", f"{used.ru_maxrss / 1000:.0f}")
    return row.mapping, row.axiom or "all", row.bound, answer, *spent, row.published


def write_bounded(row: Row, folder: Path) -> Path:
    """The mapping with its bound, which decides it: what it does not exercise is then not looked for."""
    base = folder / (row.axiom or "all")
    if not base.exists():
        copytree(EXAMPLES, base)
        if row.axiom:
            keep_axiom(base / "models" / "fenced.cat", row.axiom)
    file = base / "mappings" / f"{row.mapping}.map"
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("bound:")]
    file.write_text("\n".join([*lines, f"bound: {row.bound}"]), encoding="utf-8")
    return file


def keep_axiom(model: Path, axiom: str) -> None:
    """Leaves one axiom of the table's source model, and its flags."""
    others = tuple(f" as {other}" for other in AXIOMS if other != axiom)
    lines = model.read_text(encoding="utf-8").splitlines()
    model.write_text("\n".join(line for line in lines if not line.endswith(others)), encoding="utf-8")


def measured(command: list[str], seconds: int) -> tuple[str, struct_rusage]:
    """What a command said in the end, and what it used."""
    process = subprocess.Popen(["timeout", str(seconds), *command], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = process.stdout.read().splitlines()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == 0:
        return lines[-1], used
    bug = next((line.split(":")[0] for line in lines if " of " in line and "allows what" in line), "")
    return bug or ("out of time" if process.returncode == 124 else "failed"), used


if __name__ == "__main__":
    main()
