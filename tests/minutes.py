"""Where the minutes of the tests go: by file, by fixture and by kind.

    pytest -p minutes --minutes taken -n 2 -m 'not slow'    each process writes what its tests take
    python tests/minutes.py taken                           the tables
    python tests/minutes.py taken --costly                  tests/costly.txt, from a run of all that is not slow

Seconds of CPU are those of the process of the tests and of the processes that it starts and waits for. What a test
takes beyond that it waits: for a device, a browser, another process or the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

UNCHECKED, COSTLY = 0.5, 1.0
"""Seconds of CPU, or half of those by the clock, of a test that is not in ``make check``, and of one that ``make test``
leaves to ``make test-rest``."""

MOST = 45
"""The rows of a table."""


class Taken(NamedTuple):
    """The seconds of CPU in this process and in those that it started, and the seconds by the clock."""

    here: float
    started: float
    clock: float

    @classmethod
    def now(cls) -> Taken:
        """Return the seconds so far."""
        times = os.times()
        return cls(times.user + times.system, times.children_user + times.children_system, time.perf_counter())

    def since(self, begin: Taken) -> Taken:
        """Return the seconds between two moments."""
        return Taken(*(round(now - then, 4) for now, then in zip(self, begin, strict=True)))


class Recorder:
    """Writes a line for each test and each fixture that is set up."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a", encoding="utf-8")
        self._programs: Counter[str] = Counter()
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            words = arguments[1]
            first = words if isinstance(words, str | bytes | os.PathLike) else words[0]
            self._programs[Path(os.fsdecode(first)).name] += 1
        elif event == "os.fork":
            self._programs["(fork)"] += 1

    def _write(self, **record: Any) -> None:
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._programs.clear()
        begin = Taken.now()
        result = yield
        device = item.get_closest_marker("device") is not None
        taken = Taken.now().since(begin)
        self._write(test=item.nodeid, taken=taken, programs=dict(self._programs), device=device)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        begin = Taken.now()
        result = yield
        taken = Taken.now().since(begin)
        if taken.clock > 0.05:
            self._write(fixture=fixturedef.argname, scope=fixturedef.scope, taken=taken)
        return result


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--minutes", type=Path, metavar="FOLDER", help="where to write what tests take")


def pytest_configure(config: pytest.Config) -> None:
    if folder := config.getoption("--minutes"):
        folder.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(Recorder(folder / f"{os.getpid()}.jsonl"))


# Tables


def records(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what was written into a folder."""
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def summed(pairs: Iterable[tuple[str, Taken]]) -> list[tuple[str, int, Taken]]:
    """Return for each name how often it is there, and what that has taken, the most first."""
    found: dict[str, list[Taken]] = defaultdict(list)
    for name, taken in pairs:
        found[name].append(taken)
    rows = [(name, len(each), Taken(*map(sum, zip(*each, strict=True)))) for name, each in found.items()]
    return sorted(rows, key=lambda row: -(row[2].here + row[2].started))


def table(title: str, rows: list[tuple[str, int, Taken]]) -> None:
    """Print the first rows of a table, and all of them as one."""
    if not rows:
        return
    print(f"\n{title:<58} {'count':>6} {'here':>7} {'started':>8} {'clock':>7}")
    whole = ("all", sum(row[1] for row in rows), Taken(*map(sum, zip(*(row[2] for row in rows), strict=True))))
    for name, count, taken in [*rows[:MOST], whole]:
        print(f"{name[:58]:<58} {count:>6} {taken.here:>7.1f} {taken.started:>8.1f} {taken.clock:>7.1f}")


def kind_of(record: dict[str, Any]) -> str:
    """Return the kind of a test: whether it needs devices, and the program that it starts most often."""
    programs = record["programs"]
    most = max(programs, key=lambda name: (programs[name], name), default="")
    most = "python" if most.startswith("python") else most
    return ("device: " if record["device"] else "") + (most or "nothing is started")


def costly(tests: Iterable[dict[str, Any]]) -> list[tuple[str, float]]:
    """Return the tests of which a case takes more than ``UNCHECKED`` seconds, or more than ``COSTLY``, with that limit;
    the cheapest test of each file counts as one that takes less than ``COSTLY``.
    """
    worst: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for record in tests:
        test, taken = record["test"].partition("[")[0], Taken(*record["taken"])
        file = worst[test.partition("::")[0]]
        file[test] = max(file[test], taken.here + taken.started, taken.clock / 2)
    found = []
    for file in worst.values():
        cheapest = min(file, key=lambda test: (file[test], test))
        for test, seconds in file.items():
            if seconds > UNCHECKED:
                found.append((test, COSTLY if seconds > COSTLY and test != cheapest else UNCHECKED))
    return sorted(found)


def main() -> None:
    """Print the tables of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--costly", action="store_true", help="write what is costly into tests/costly.txt")
    words = parser.parse_args()
    every = list(records(words.folder))
    if words.costly:
        text = "".join(f"{limit} {name}\n" for name, limit in costly(each for each in every if "test" in each))
        (Path(__file__).parent / "costly.txt").write_text(text, encoding="utf-8")
        return
    tests = [(each, Taken(*each["taken"])) for each in every if "test" in each]
    table("by kind: devices, and what is started most often", summed((kind_of(each), taken) for each, taken in tests))
    table("by file", summed((each["test"].partition("::")[0], taken) for each, taken in tests))
    table("by test", summed((each["test"].partition("[")[0], taken) for each, taken in tests))
    table("by fixture", summed((each["fixture"], Taken(*each["taken"])) for each in every if "fixture" in each))


if __name__ == "__main__":
    main()
