r"""The logs of our programs, and files of results. Both are lines of JSON, with any other output between them.

A line is a result or a failure (``backends.shared.results``), or ``{"began":{..}}`` (``backends.shared.log``). A trial
that began and has neither result nor failure in the log did not end: it is a hang, as far as a log can tell. The lines
``iteration N ..`` after its beginning list the iterations that ended.

A trial of one iteration that begins several times was repeated: ``for i in $(seq 20); do timeout 20 ./t 1; done`` is
one trial of 20 iterations.

Assumptions: such a program was killed by a time-out; it neither crashed without a message nor is still running. Where
several programs write to one log at once, iterations are counted for the one that began last, as long as their numbers
follow. Where a log was cut, nothing is said of the trial that was under way.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from backends.shared.outcomes import launch_rows
from backends.shared.process import TERMINATED, TIMED_OUT
from backends.shared.results import UNKNOWN, Entry, ProgressResult, ProgressTrial, Times, trial_of
from synth.importing.results import ImportedResults, ImportSettings

_OURS = re.compile(r'\{\s*"(?:began|test)"\s*:')
_PIECE = re.compile(r'^\s*\{"|"(?:digest|outcomes|every_iteration|launches|hung)"\s*:')
"""The beginning or a part of a line that one of our programs wrote."""

_ITERATION = re.compile(r"iteration (\d+) (.*)")
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class _Open:
    """A trial that began: the number of its line, and the iterations of it that ended."""

    trial: dict[str, Any]
    line: int
    printed: list[str] = field(default_factory=list)


class ProgramLog:
    """A reader of a log, by ``line`` and ``end``; the results go to ``found``. ``place`` is the log's name for
    messages.
    """

    def __init__(self, place: str, words: ImportSettings, found: ImportedResults) -> None:
        self._place = place
        self._words = words
        self._found = found
        self._open: list[_Open] = []
        self._begun: Counter[str] = Counter()
        self.lines = 0

    def line(self, number: int, text: str, whole: bool) -> bool:
        """Read a line, and return whether it belongs to a log of our programs.

        ``whole``: the line ends with a line break.
        """
        iteration = _ITERATION.match(text)
        if iteration and self._open:
            latest = self._open[-1]
            if int(iteration[1][:18]) == len(latest.printed) and whole:
                latest.printed.append(iteration[2])
            return True
        start = _OURS.search(text)
        if not start and not _PIECE.search(text):
            return False
        self.lines += 1
        try:
            known, _ = _DECODER.raw_decode(text, start.start() if start else 0)
            if not isinstance(known, dict):
                raise ValueError("expected an object")
            self._take(number, known)
        except (ValueError, RecursionError) as error:
            where = f"{self._place}:{number}"
            if not whole:
                self._found.notes.append(f"{where}: the last line was cut off, and is left out")
                del self._open[-1:]  # the line may have been its result
            else:
                self._found.refused.append(f"{where}: expected a result of a test: {error}")
        return True

    def end(self, cut: bool) -> None:
        """End the log; ``cut``: it ends in the middle of a line."""
        if cut and self._open:
            trial = self._open.pop()
            self._found.notes.append(f"{self._place}: cut off while {trial.trial.get('test')!r} was run: left out")
        hangs = 0
        for begun in self._open:
            try:
                self._found.entries.append((self._hang(begun), UNKNOWN))
                hangs += len(begun.printed) != begun.trial["iterations"]
            except ValueError as error:
                self._found.refused.append(f"{self._place}:{begun.line}: expected a trial of a test: {error}")
        if hangs:
            tests = "1 test" if hangs == 1 else f"{hangs} tests"
            self._found.notes.append(
                f"{self._place}: {tests} began and did not end: hangs, in {self._words.timeout:g} s"
            )
        self._found.entries = list(self._joined(self._found.entries))

    def _take(self, number: int, known: dict[str, Any]) -> None:
        began = known.get("began")
        if isinstance(began, dict):
            self._open.append(_Open(began, number))
            self._begun[_identity(began)] += 1
            return
        entry = self._words.entry(known)
        self._found.entries.append((entry, UNKNOWN))
        for index in range(len(self._open) - 1, -1, -1):
            if all(known.get(name) == value for name, value in self._open[index].trial.items() if name != "date"):
                del self._open[index]
                break

    def _joined(self, entries: Iterable[tuple[Entry, Times]]) -> Iterator[tuple[Entry, Times]]:
        """Yield entries, those of a progress trial that was repeated as one, in the place of the first."""
        repeated: dict[ProgressTrial, list[ProgressResult]] = {}
        others: list[tuple[Entry, Times] | ProgressTrial] = []
        for entry, times in entries:
            name = _identity(msgspec.to_builtins(entry))
            if isinstance(entry, ProgressResult) and name and self._begun[name] > 1:
                trial = trial_of(entry)
                assert isinstance(trial, ProgressTrial)
                if trial not in repeated:
                    others.append(trial)
                repeated.setdefault(trial, []).append(entry)
            else:
                others.append((entry, times))
        for other in others:
            if isinstance(other, ProgressTrial):
                runs = repeated[other]
                outcomes = "".join(run.outcomes for run in runs)
                yield replace(runs[-1], iterations=len(runs), every_iteration=True, outcomes=outcomes), UNKNOWN
            else:
                yield other

    def _hang(self, open_: _Open) -> Entry:
        """Return the result of a trial that did not end. Raises ``ValueError`` where its fields make no result."""
        trial: Mapping[str, Any] = open_.trial
        iterations = trial.get("iterations")
        done = len(open_.printed) == iterations
        if "terms" not in trial:
            return self._words.entry({**trial, "outcomes": TERMINATED * len(open_.printed) + TIMED_OUT * (not done)})
        counts: Counter[tuple[int, ...]] = Counter()
        others = 0
        for line in open_.printed:
            rows, other = launch_rows(line)
            counts.update(rows)
            others += other
        seen = {"outcomes": sorted(counts.items()), "other": others, "launches": len(open_.printed), "hung": not done}
        return self._words.entry({**trial, **seen})


def _identity(known: Mapping[str, Any]) -> str:
    """Return what identifies a trial of one iteration in a log; empty for any other trial."""
    if known.get("iterations") != 1:
        return ""
    return json.dumps([known.get(name) for name in ("test", "digest", "backend", "mapping", "placement", "instances")])
