"""What was seen of memory tests on devices: a line of JSON for each test, device and way to run it (docs/backends.md).

A test that has a line for the same question is not run again. Unlike hangs of progress tests, counts differ from run to
run; to run a test again, move the file away.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from backends.shared.journal import Journal, open_journal
from corpus.litmus.condition import spell
from corpus.litmus.test import FinalRegister, Loc


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """What was run where: the test by name and digest, the device in words, and the launches.

    ``instances`` in each of ``iterations`` launches, ``timeout`` seconds for each; ``stress``: with memory stress.
    ``terms`` are the registers and locations whose final values make an outcome.
    """

    test: str
    digest: str
    backend: str
    device: str
    instances: int
    iterations: int
    timeout: float
    stress: bool
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryResult:
    """The answer: outcomes, each the final values of the question's terms, with how often each was seen, by value.

    ``other`` instances had an outcome for which their launch had no room. ``launches`` came to an end; ``hung``: one
    more did not within the time-out, and the rest was skipped.
    """

    question: MemoryQuestion
    outcomes: tuple[tuple[tuple[int, ...], int], ...]
    other: int
    launches: int
    hung: bool


def term_names(terms: tuple[FinalRegister | Loc, ...]) -> tuple[str, ...]:
    """Terms as conditions spell them, ``P1:r1``."""
    return tuple(map(spell, terms))


def print_memory_result(result: MemoryResult) -> str:
    """The line of a result, without the newline."""
    record = asdict(result.question) | asdict(result)
    del record["question"]
    return json.dumps(record, separators=(",", ":"))


def parse_memory_result(line: str) -> MemoryResult:
    """The result that a line of JSON denotes. Raises ``ValueError`` where it denotes none."""
    record = json.loads(line)
    names = [each.name for each in (*fields(MemoryQuestion), *fields(MemoryResult)) if each.name != "question"]
    if not isinstance(record, dict) or list(record) != names:
        raise ValueError("not a result")
    kinds = [str, str, str, str, int, int, float, bool, list, list, int, int, bool]
    if [type(value) for value in record.values()] != kinds:
        raise ValueError("not a result")
    asked = {each.name: record[each.name] for each in fields(MemoryQuestion)}
    asked["terms"] = tuple(asked["terms"])
    try:
        outcomes = tuple((tuple(values), count) for values, count in record["outcomes"])
    except TypeError:
        raise ValueError("not a result") from None
    width = len(asked["terms"])
    if not all(
        len(values) == width and all(type(each) is int for each in (*values, count)) for values, count in outcomes
    ):
        raise ValueError("not a result")
    return MemoryResult(MemoryQuestion(**asked), outcomes, record["other"], record["launches"], record["hung"])


@dataclass(slots=True)
class MemoryResultFile:
    """The results of a file by question, and the way to add to them; made by ``open_memory_results``."""

    answers: dict[MemoryQuestion, MemoryResult]
    _lines: Journal[MemoryResult]

    def add(self, result: MemoryResult) -> None:
        """Append a result. Raises ``InputError`` where it cannot be written."""
        self.answers[result.question] = result
        self._lines.append(print_memory_result(result))


@contextmanager
def open_memory_results(path: Path | None) -> Iterator[MemoryResultFile]:
    """The results in a file (``backends.shared.journal.open_journal``); ``None`` keeps them in memory only."""
    with open_journal(path, parse_memory_result, b'{"test":', "a result of a memory test") as lines:
        yield MemoryResultFile({result.question: result for result in lines.entries}, lines)
