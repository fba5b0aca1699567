"""The reader of a file that is to be imported. It recognises the file's format by its content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from backends.registry import BACKENDS
from backends.shared.files import file_stem
from backends.shared.layout import outcome_terms
from backends.shared.results import UNKNOWN, Entry, Times, read_results, read_times
from corpus.errors import InputError
from corpus.files import open_bytes, read_text
from corpus.litmus.condition import spell
from corpus.litmus.normal import litmus_digest
from synth.importing.amber_logs import AmberLog, amber_fields
from synth.importing.outcome_logs import OutcomeLog, block_fields
from synth.importing.programs import ProgramLog
from synth.importing.published_tables import BEGINS, PublishedTable
from synth.importing.results import ImportedResults, ImportSettings
from synth.importing.suites import Suite

LONGEST = 1 << 24
"""The most bytes of a line; what has a longer one is no log."""

_DUMP = re.compile(rb"\s*([\w.-]+:)?(\d+:)?\d+\r?\n (?:[0-9a-f]{2} ?)+\r?\n")

EXPECTED = "lines of JSON that our programs print, a log of litmus7, herd7 or Amber, or what amber -b writes"


def read_file(path: Path, suite: Suite | None, words: ImportSettings) -> ImportedResults:
    """Read the results of a file: of our programs, of litmus7 and herd7, of Amber, or of a published campaign.

    Results of all but our programs are taken only for tests of the suite; so are those where there is a suite.
    Raises ``InputError`` where the file cannot be read, or is something else.
    """
    with open_bytes(path) as file:
        start = file.read(1 << 16)
        if _DUMP.match(start):
            return _amber(path, suite, words)
        if start.startswith(BEGINS):
            return _published(path, suite, words)
        lines = _Lines(file, start, path)
        found = ImportedResults()
        programs, amber, outcomes = ProgramLog(str(path), words, found), AmberLog(), OutcomeLog()
        for number, text, whole in lines:
            programs.line(number, text, whole) or amber.line(number, text) or outcomes.line(number, text)
    programs.end(cut=not lines.ends)
    amber.end()
    if not programs.lines and not amber.has_runs and not outcomes.test_blocks and lines.count:
        raise InputError(f"nothing to import: expected {EXPECTED}", str(path))
    _scripts(path, amber, suite, words, found)
    _blocks(path, outcomes, suite, words, found)
    _of_the_suite(path, suite, found)
    if words == ImportSettings() and len(found.entries) == lines.count and not found.notes:
        found.entries = list(zip((entry for entry, _ in found.entries), _times(path, found), strict=True))
    return found


class _Lines:
    """The lines of a file as numbers, texts, and whether each ended with a line break."""

    def __init__(self, file: IO[bytes], start: bytes, path: Path) -> None:
        self._file, self._start, self._path = file, start, path
        self.count = 0
        self.ends = True

    def __iter__(self) -> Iterator[tuple[int, str, bool]]:
        pending = self._start
        while pending or (pending := self._file.readline(LONGEST)):
            line, newline, pending = pending.partition(b"\n")
            if not newline:
                rest = self._file.readline(LONGEST)
                if len(line) + len(rest) > LONGEST:
                    raise InputError(f"expected lines of at most {LONGEST} bytes", str(self._path), self.count + 1)
                line += rest.removesuffix(b"\n")
                newline = rest[-1:] if rest.endswith(b"\n") else b""
            self.count += 1
            self.ends = bool(newline)
            yield self.count, line.decode("utf-8", "replace").rstrip("\r"), self.ends


def _times(path: Path, found: ImportedResults) -> list[Times]:
    """Return the times of a file that holds results alone, in their order; none where they cannot be told."""
    try:
        if read_results(path) == [entry for entry, _ in found.entries]:
            return read_times(path)
    except InputError:
        pass
    return [UNKNOWN for _ in found.entries]


def _amber(path: Path, suite: Suite | None, words: ImportSettings) -> ImportedResults:
    """Return the result in a dump of Amber, for the test in the file's name or for the only test of the suite."""
    found = ImportedResults()
    try:
        if suite is None:
            raise InputError("--suite says of which tests this may be")
        stems = {file_stem(name): given for name, (given, *_) in suite.by_name.items()}
        given = stems.get(path.stem) or (next(iter(suite.records)) if len(suite.records) == 1 else None)
        if given is None:
            raise InputError("the suite has no test that the file is called after; --where NAME says which it is")
        test = given.litmus()
        for backend in (backend for backend in BACKENDS.values() if backend.decode is not None):
            assert backend.decode is not None
            instances, seen = backend.decode(read_text(path), test)
            known = {
                "test": test.name,
                "digest": litmus_digest(test),
                "backend": backend.name,
                "device": _elsewhere(path),
                "instances": instances,
                "iterations": max(1, seen.launches),
                "stress": False,
                "terms": [spell(term) for term in outcome_terms(test)],
                "outcomes": sorted(seen.counts.items()),
                "other": seen.other,
                "launches": seen.launches,
                "hung": seen.hung,
            }
            found.entries.append((words.entry(known), UNKNOWN))
    except (InputError, ValueError) as error:
        found.refused.append(f"{path}: {_message(error)}")
    return found


def _published(path: Path, suite: Suite | None, words: ImportSettings) -> ImportedResults:
    """Return the results in a table of a published campaign, for tests of the suite."""
    found = ImportedResults()
    try:
        if suite is None:
            raise InputError("--suite says of which tests this is")
        table = PublishedTable(path)
    except InputError as error:
        raise InputError(error.message, str(path)) from None
    found.notes += [f"{path}: not read, for it places threads in another way: {title!r}" for title in table.skipped]
    found.refused += [f"{path}:{number}: {message}" for number, message in table.wrong]
    for number, known in table.fields(suite):
        if isinstance(known, InputError):
            found.refused.append(f"{path}:{number}: {known.message}")
        else:
            found.entries.append((words.entry({"device": _elsewhere(path), **known}), UNKNOWN))
    found.refused = list(dict.fromkeys(found.refused))  # a test that is not there has no cell of its row
    return found


def _scripts(path: Path, log: AmberLog, suite: Suite | None, words: ImportSettings, found: ImportedResults) -> None:
    """Add the results in a log of Amber, and what is not told there."""
    found.refused += [f"{path}:{number}: {message}" for number, message in log.wrong]
    for script, runs in log.runs.items():
        try:
            if suite is None:
                raise InputError("--suite says which test this is")
            for known in amber_fields(script, runs, suite):
                found.entries.append((words.entry({"device": _elsewhere(path), **known}), UNKNOWN))
        except (InputError, ValueError) as error:
            found.refused.append(f"{path}:{runs.line}: {script}.amber: {_message(error)}")


def _blocks(path: Path, log: OutcomeLog, suite: Suite | None, words: ImportSettings, found: ImportedResults) -> None:
    """Add the results in a log of litmus7 or herd7."""
    for block in log.test_blocks:
        try:
            if suite is None:
                raise InputError("--suite says which test this is")
            known = block_fields(block, suite.litmus(block.name), int(log.runs or 1))
            known["device"] = (log.device if block.tool == "litmus7" else "") or _elsewhere(path)
            if log.version and block.tool == "litmus7":
                known["compiler"] = f"litmus7 {log.version}"
            found.entries.append((words.entry(known), UNKNOWN))
        except (InputError, ValueError) as error:
            found.refused.append(f"{path}:{block.line}: {block.name}: {_message(error)}")


def _of_the_suite(path: Path, suite: Suite | None, found: ImportedResults) -> None:
    """Leave out results of tests that the suite does not have, with a line for each test."""
    if suite is None:
        return
    taken: list[tuple[Entry, Times]] = []
    refused: dict[str, None] = {}
    for entry, times in found.entries:
        if problem := suite.problem(entry):
            refused[f"{path}: {entry.test}: {problem}"] = None
        else:
            taken.append((entry, times))
    found.entries = taken
    found.refused += refused


def _elsewhere(path: Path) -> str:
    return f"{path.name}, written elsewhere"


def _message(error: InputError | ValueError) -> str:
    return error.message if isinstance(error, InputError) else str(error)
