"""What was seen on devices: ``results.jsonl``, one line for each test, device and way to run it (docs/backends.md).

A line holds facts: for a progress test those stay the same when the run is repeated on a device that does the same; the
counts of a memory test do not. Wall times go to a second file beside it. Lines are appended as they come, each on the
disk before the next test starts, so a stopped run goes on where it was: a test that was run in the same way is not run
again. Both families share a file; a line with ``mapping`` is of a progress test, one with ``terms`` of a memory test.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, overload

import msgspec

from backends.shared.process import TERMINATED, TIMED_OUT
from corpus.lines import decoder, open_lines

BEGINS = b'{"test":'
"""How every line begins."""

BUSY = "another process is at work on these results"

RESULTS = "results.jsonl"
"""The name of the file in a corpus folder."""

Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]


class ProgressTrial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A progress test and a way to run it: the test by name and digest, the device in words, the launch, and how often
    and how long.

    ``timeout`` is in seconds for each iteration; ``every_iteration`` says that those after a hang are run too.
    """

    test: str
    digest: str
    backend: str
    device: str
    mapping: str
    instances: Positive
    iterations: Positive
    timeout: Seconds
    every_iteration: bool


class ProgressResult(ProgressTrial, frozen=True, forbid_unknown_fields=True):
    """What a trial gave: a letter for each iteration that was run, ``T`` terminated, ``H`` did not in time."""

    outcomes: Annotated[str, msgspec.Meta(pattern=f"^[{TERMINATED}{TIMED_OUT}]+$")]

    @property
    def hangs(self) -> bool:
        """Whether any iteration did not terminate."""
        return TIMED_OUT in self.outcomes

    @property
    def always_hangs(self) -> bool:
        """Whether no iteration terminated."""
        return TERMINATED not in self.outcomes


class MemoryTrial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A memory test and a way to run it: the test by name and digest, the device in words, and the launches.

    ``instances`` in each of ``iterations`` launches, ``timeout`` seconds for each; ``stress``: with memory stress.
    ``terms`` are the registers and locations whose final values make an outcome, as conditions spell them.
    """

    test: str
    digest: str
    backend: str
    device: str
    instances: Positive
    iterations: Positive
    timeout: Seconds
    stress: bool
    terms: tuple[str, ...]


class MemoryResult(MemoryTrial, frozen=True, forbid_unknown_fields=True):
    """What a trial gave: outcomes, each the final values of its terms, with how often each was seen, by value.

    ``other`` instances had an outcome for which their launch had no room. ``launches`` came to an end; ``hung``: one
    more did not within the time-out, and the rest was skipped.
    """

    outcomes: tuple[tuple[tuple[int, ...], Count], ...]
    other: Count
    launches: Count
    hung: bool

    def __post_init__(self) -> None:
        if any(len(values) != len(self.terms) for values, _ in self.outcomes):
            raise ValueError("an outcome has a value for each term")


Trial = ProgressTrial | MemoryTrial
Result = ProgressResult | MemoryResult


def trial_of(result: Result) -> Trial:
    """What was asked, without what was seen."""
    kind = ProgressTrial if isinstance(result, ProgressResult) else MemoryTrial
    return kind(**{name: getattr(result, name) for name in kind.__struct_fields__})


_as_memory, _as_progress = decoder(MemoryResult), decoder(ProgressResult)
_has_terms = decoder(dict[str, Any])


def parse_result(line: bytes | str) -> Result:
    """The result that a line of JSON denotes. Raises ``ValueError`` where it denotes none."""
    return _as_memory(line) if "terms" in _has_terms(line) else _as_progress(line)


def print_result(result: Result) -> str:
    """The line of a result, without the newline."""
    return json.dumps(msgspec.to_builtins(result), separators=(",", ":"))


@dataclass(slots=True)
class ResultFile:
    """The results of a file by what was asked, and the way to add to them; made by ``open_results``."""

    results: dict[Trial, Result]
    _add: Callable[[bytes], None]
    _add_times: Callable[[bytes], None]

    @overload
    def find(self, trial: ProgressTrial) -> ProgressResult | None: ...
    @overload
    def find(self, trial: MemoryTrial) -> MemoryResult | None: ...
    def find(self, trial: Trial) -> Result | None:
        """What a trial gave, if it was made."""
        return self.results.get(trial)

    def add(self, result: Result, seconds: Sequence[float]) -> None:
        """Append a result, and the wall times of its iterations to ``*.times.jsonl``. Raises ``InputError``."""
        self.results[trial_of(result)] = result
        mapping = {"mapping": result.mapping} if isinstance(result, ProgressResult) else {}
        times = {
            "test": result.test,
            "backend": result.backend,
            **mapping,
            "instances": result.instances,
            "seconds": [round(time, 6) for time in seconds],
        }
        self._add_times(json.dumps(times).encode())
        self._add(print_result(result).encode())


@contextmanager
def open_results(path: Path | None) -> Iterator[ResultFile]:
    """The results in a file, which is made if need be and locked; ``None`` keeps them in memory only.

    A last line that was cut off is dropped, for its test will run again. Raises ``InputError`` where the file cannot be
    opened, holds something else than results, or is in use.
    """
    times = None if path is None else path.with_suffix(".times.jsonl")
    with (
        open_lines(path, parse_result, BEGINS, "a result of a test", BUSY) as (results, add),
        open_lines(times, decoder(dict[str, Any]), BEGINS, "the times of a test", BUSY) as (_, add_times),
    ):
        yield ResultFile({trial_of(result): result for result in results}, add, add_times)
