"""The programs of a device that is slow, stuck or unfair as it is told, which sleep and compute nothing. They import
little, for they are started more than a hundred times.

    python slow_program.py BEHAVIOUR LOG PROGRAM ITERATIONS

BEHAVIOUR is JSON: seconds of a warm-up (``first``), of a launch (``each``), of every third launch of a program
(``third``); the tests that hang (``hangs``), in each launch or in those of these numbers from 1 (``at``); and how many
launches of all programs end before none does any more (``ends``). LOG has a line for the begin and for the end of each.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.shared.hosting import WARM_UP, Iterate, TrialReport, run_program

FOREVER = 3600.0


@dataclass(frozen=True)
class Launched:
    """A launch of a program: of which test, for which iteration, and from when to when; to no end where it hung."""

    test: str
    iteration: int
    begin: float
    end: float


def launches(log: Path) -> list[Launched]:
    """The launches of a log, in the order in which they began."""
    begun: dict[str, Launched] = {}
    for line in log.read_text().splitlines() if log.exists() else []:
        key, test, iteration, at = line.split()
        begin = begun[key].begin if key in begun else float(at)
        begun[key] = Launched(test, int(iteration), begin, float(at) if key in begun else float("inf"))
    return list(begun.values())


def _seconds(behaviour: dict[str, Any], before: list[Launched], test: str, iteration: int) -> float:
    """How long a launch takes, after those that were before."""
    mine = sum(each.test == test and each.iteration != WARM_UP for each in before) + 1
    if len(before) >= behaviour.get("ends", len(before) + 1):
        return FOREVER
    if iteration == WARM_UP:
        return float(behaviour.get("first", 0))
    if test in behaviour.get("hangs", ()) and mine in behaviour.get("at", [mine]):
        return FOREVER
    return float(behaviour["third"] if "third" in behaviour and mine % 3 == 0 else behaviour.get("each", 0))


def main(behaviour: dict[str, Any], log: Path, program: Path, iterations: int) -> int:
    """Run a program so often."""
    test = program.name.partition(".")[0]

    @contextmanager
    def started(_: str, constant: dict[str, int], __: TrialReport) -> Iterator[Iterate]:
        def iterate(iteration: int) -> str:
            seconds = _seconds(behaviour, launches(log), test, iteration)
            line = f"{program}:{time.monotonic()} {test} {iteration}"
            for wait in (seconds, 0):
                with log.open("a") as file:
                    file.write(f"{line} {time.monotonic()}\n")
                time.sleep(wait)
            return json.dumps([[[32, *[0] * (constant["ROW_WORDS"] - 2)]], 0]) if "ROWS" in constant else "terminated"

        yield iterate

    code, words = run_program(program, iterations, started)
    print(words)
    return code


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])))
