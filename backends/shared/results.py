"""What was seen on devices: ``results.jsonl``, one line for each test, device and way to run it (docs/backends.md).

A line holds facts that stay the same when the run is repeated on a device that does the same; wall times go to a
second file beside it. Lines are appended as they come, each on the disk before the next test starts, so a stopped run
goes on where it was: a test that has a line for the same question is not run again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from backends.shared.journal import Journal, open_journal
from backends.shared.process import TERMINATED, TIMED_OUT

RESULTS = "results.jsonl"
"""The name of the file in a corpus folder."""


@dataclass(frozen=True, slots=True)
class Question:
    """What was run where: the test by name and digest, the device in words, the launch, and how often and how long.

    ``timeout`` is in seconds for each iteration; ``every_iteration`` says that those after a hang were run too.
    """

    test: str
    digest: str
    backend: str
    device: str
    mapping: str
    instances: int
    iterations: int
    timeout: float
    every_iteration: bool


@dataclass(frozen=True, slots=True)
class Result:
    """The answer: a letter for each iteration that was run, ``T`` terminated, ``H`` did not within the time-out."""

    question: Question
    outcomes: str

    @property
    def hangs(self) -> bool:
        """Whether any iteration did not terminate."""
        return TIMED_OUT in self.outcomes

    @property
    def always_hangs(self) -> bool:
        """Whether no iteration terminated."""
        return TERMINATED not in self.outcomes


def parse_result(line: str) -> Result:
    """The result that a line of JSON denotes. Raises ``ValueError`` where it denotes none."""
    record = json.loads(line)
    kinds = {each.name: each.type for each in fields(Question)} | {"outcomes": "str"}
    if not isinstance(record, dict) or {name: type(value).__name__ for name, value in record.items()} != kinds:
        raise ValueError("not a result")
    outcomes = record.pop("outcomes")
    if not outcomes or set(outcomes) - {TERMINATED, TIMED_OUT}:
        raise ValueError("not a result")
    return Result(Question(**record), outcomes)


def print_result(result: Result) -> str:
    """The line of a result, without the newline."""
    return json.dumps({**asdict(result.question), "outcomes": result.outcomes}, separators=(",", ":"))


@dataclass(slots=True)
class ResultFile:
    """The results of a file by question, and the way to add to them; made by ``open_results``."""

    answers: dict[Question, Result]
    _lines: Journal[Result]
    _times: Journal[object]

    def add(self, result: Result, seconds: Sequence[float]) -> None:
        """Append a result, and the wall times of its iterations to ``*.times.jsonl``. Raises ``InputError``."""
        self.answers[result.question] = result
        question = result.question
        times = {
            "test": question.test,
            "backend": question.backend,
            "mapping": question.mapping,
            "instances": question.instances,
            "seconds": [round(time, 6) for time in seconds],
        }
        self._times.append(json.dumps(times))
        self._lines.append(print_result(result))


@contextmanager
def open_results(path: Path | None) -> Iterator[ResultFile]:
    """The results in a file, which is made if need be and locked; ``None`` keeps them in memory only.

    A last line that was cut off is dropped, for its test will run again. Raises ``InputError`` where the file cannot be
    opened, holds something else than results, or is in use.
    """
    times = None if path is None else path.with_suffix(".times.jsonl")
    with (
        open_journal(path, parse_result, b'{"test":', "a result of a test") as lines,
        open_journal(times, json.loads, b'{"test":', "the times of a test") as seconds,
    ):
        yield ResultFile({result.question: result for result in lines.entries}, lines, seconds)
