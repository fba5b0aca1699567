"""Provides what hosts in Python share. That is their options, how a program is run and what is said of it.

A host knows a language's devices and how to launch a program on one. Its lines are read by ``backends.shared.process``,
and those of JSON by ``synth import`` (``backends.shared.log``).

Needs Python's own library only, for hosts are shipped with it in them (``backends.shared.files.shipped``).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

LOST = 124
"""The exit code where a device gave up on a program, as ``timeout`` has it."""

WARM_UP = (1 << 32) - 1
"""In the place of an iteration's number: the launch before the first iteration, in which every thread ends at once."""


class HostError(Exception):
    """What went wrong, in words; ``code`` is the exit code: 2 the program cannot be built or launched, 3 threads were
    cut short, or ``LOST``.
    """

    def __init__(self, words: object, code: int = 2) -> None:
        super().__init__(str(words) or type(words).__name__)
        self.code = code


def in_one_line(words: str) -> str:
    """Return what went wrong in one line: of a compiler's complaint the line that says most."""
    found = re.search(r"^.*\berror:.*$", words, re.MULTILINE | re.IGNORECASE)
    return " ".join((found[0] if found else words).split())


def options(about: str | None, file: str) -> argparse.ArgumentParser:
    """Return the parser of a host's command line; ``file`` says what file it runs."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", help=file)
    parser.add_argument("iterations", type=int, nargs="?", default=20, help="how often to run it (20)")
    return parser


def device_options(about: str | None, file: str) -> argparse.ArgumentParser:
    """Return the parser of the command line of a host that lists its devices."""
    parser = options(about, file)
    parser.add_argument("--device", default="", help="part of a device's name (any)")
    parser.add_argument("--number", type=int, default=0, help="which of the devices of that name (0, the first)")
    parser.add_argument("--list", action="store_true", help="print the devices as JSON, and run nothing")
    return parser


Run = Callable[[argparse.Namespace, Path, int], tuple[int, str]]
"""Runs a file so often; gives an exit code, and what to say at the end."""

Iterate = Callable[[int], str]
"""Runs a program once, the how manieth time from 0, and gives the rest of its line: ``terminated``, or outcomes.

The number may be ``WARM_UP``: drivers compile a kernel when it is first launched, which is to be no iteration.
"""


def hosted(
    parser: argparse.ArgumentParser, run: Run, devices: Callable[[], Sequence[Sequence[str]]] | None = None
) -> int:
    """Run the file that the command line names, or list the devices, each its name and kind, and return the
    exit code.
    """
    arguments = parser.parse_args()
    if devices is not None and (arguments.list or arguments.file is None):
        try:
            print("devices " + json.dumps(devices()))
        except HostError as error:
            print(error, file=sys.stderr)
            return error.code
        return 0
    if arguments.file is None:
        parser.error("expected a file to run")
    code, words = run(arguments, arguments.file, arguments.iterations)
    if words:
        print(words, file=sys.stderr if code else sys.stdout)
    return code


def run_program(
    path: Path,
    iterations: int,
    started: Callable[[str, dict[str, int], TrialReport], AbstractContextManager[Iterate]],
) -> tuple[int, str]:
    """Run a program for so many iterations; return an exit code, and what to say at the end.

    ``started`` builds it from its text and its constants, says what runs it, and raises ``HostError``.
    """
    text = path.read_text(encoding="utf-8")
    # The program's own constants say how much to launch.
    found = re.findall(r"^(?:#define|const) (\w+) (?:= )?(\d+)u;?$", text, re.MULTILINE)
    constant = {name: int(value) for name, value in found}
    report = TrialReport(text, iterations)
    try:
        with started(text, constant, report) as iterate:
            if iterations:
                iterate(WARM_UP)
            report.began()
            print("ready", flush=True)
            for iteration in range(iterations):
                line = iterate(iteration)
                print(f"iteration {iteration} {line}", flush=True)
                if "ROWS" in constant:
                    report.count(*json.loads(line))
    except HostError as error:
        if error.code != LOST:
            report.failed(in_one_line(str(error)))
        return error.code, f"{path.name}: {error}"
    if "ROWS" in constant:
        report.counted()
        return 0, ""
    report.terminated()
    return 0, f"{path.stem}: terminated in all of {iterations} iterations"


def groups_of(constant: dict[str, int]) -> int:
    """Return the number of work-groups of a progress test."""
    return constant.get("GROUPS", constant["THREADS"] * constant["INSTANCES"])


def finished_at(constant: dict[str, int]) -> int:
    """Return where, in words, the counters of the threads of a progress test that have ended are summed up.

    The word after it is not 0 in the warm-up, and all others are.
    """
    return constant["INSTANCES"] * constant["LOCATIONS"] * constant["STRIDE"]


def terminated(finished: int, constant: dict[str, int], iteration: int) -> str:
    """Return what to say of an iteration whose counters have that sum. Raises ``HostError`` where it is another."""
    expected = 0 if iteration == WARM_UP else constant["INSTANCES"] * constant["SIZE"] % 2**32
    if finished != expected:
        raise HostError(f"threads were cut short: sum of counters {finished}, not {expected}", 3)
    return "terminated"


def outcomes(table: Sequence[int], constant: dict[str, int]) -> str:
    """Return the histogram of a launch as JSON: rows, each a count and the values that it counts, by value; and the
    instances that found no row.
    """
    words = constant["ROW_WORDS"]
    rows = [table[start : start + words] for start in range(2, len(table), words)]
    return json.dumps([sorted((list(row[1:]) for row in rows if row[0]), key=lambda row: row[1:]), table[1]])


class TrialReport:
    """What is said of the test of a file: nothing where the file does not say which test it is, where nothing is run,
    and until it is known what runs it.
    """

    def __init__(self, text: str, iterations: int) -> None:
        known = re.search(r"^// trial (\{.*\})$", text, re.MULTILINE)
        self.trial = {**json.loads(known[1]), "iterations": iterations} if known and iterations > 0 else {}
        self.counts: Counter[tuple[int, ...]] = Counter()
        self.other = 0

    def runs_on(self, device: str, driver: str = "", compiler: str = "") -> None:
        """Take what runs the test, in words; of the driver what the device's words do not say."""
        name = " ".join(device.split())
        if self.trial:
            self.trial |= {"device": name, "driver": "" if driver in name else driver, "compiler": compiler}

    def began(self) -> None:
        """Say that the test begins, with its whole trial."""
        self._say({"began": {**self.trial, "date": _date()}})

    def count(self, rows: Iterable[Sequence[int]], other: int) -> None:
        """Add the histogram of a launch of a memory test: rows of a count and the values that it counts."""
        for number, *values in rows:
            self.counts[tuple(value - (value >> 31 << 32) for value in values)] += number
        self.other += other

    def terminated(self) -> None:
        """Say that all iterations of a progress test terminated."""
        self._say({**self.trial, "outcomes": "T" * self.trial.get("iterations", 0), "date": _date()})

    def counted(self) -> None:
        """Say that all launches of a memory test came to an end, and what was counted."""
        seen = {"outcomes": sorted(self.counts.items()), "other": self.other}
        launches = self.trial.get("iterations", 0)
        self._say({**self.trial, **seen, "launches": launches, "hung": False, "date": _date()})

    def failed(self, error: str) -> None:
        """Say that the test could not be run, and why."""
        self._say({**self.trial, "error": error, "date": _date()})

    def _say(self, line: object) -> None:
        if "device" in self.trial:
            print(json.dumps(line, separators=(",", ":")), flush=True)


def _date() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
