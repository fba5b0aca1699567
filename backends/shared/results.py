"""Reads and writes ``results.jsonl``, what was seen on devices. It has a line for each test, device and way to
run it.

The form is in docs/results.md. A line holds facts: for a progress test those stay the same when the run is repeated on
a device that does the same; the counts of a memory test do not. Wall times go to a second file beside it. Lines are
appended as they come, each on the disk before the next test starts, so a stopped run goes on where it was: a test that
was run in the same way is not run again. Both families share a file; a line with ``mapping`` is of a progress test, one
with ``terms`` of a memory test.

**Tries.** A time-out is an observation of a machine that may be busy. So a trial that hung is made again, alone, with
``AGAIN`` times the time-out, as long as it hangs. ``tries`` has the outcomes of the first, and a letter for each other:

    outcomes TTH                          the hang is not confirmed, and contradicts no model
    outcomes TTH, tries TTH, H, H         it is confirmed: the trial hung each time
    outcomes TTTT, tries TTH, T           terminated, slow: what it gave with more time counts, and there is no hang

A campaign that was made elsewhere has no tries. There a hang is confirmed by ``repeated``, which ``synth import`` sets
(``synth.importing.campaigns``): each of ``REPEATED`` iterations or more hung, where other tests terminated.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, overload

import msgspec
from msgspec.structs import replace

from backends.shared.process import TERMINATED, TIMED_OUT
from corpus.files import open_bytes, write_atomically
from corpus.lines import decoder, open_lines, whole_lines

BEGINS = b'{"test":'
"""The bytes with which every line begins."""

EXPECTED = "a result of a test"

BUSY = "another process is at work on these results"

RESULTS = "results.jsonl"
"""The name of the file in a corpus folder."""

AGAIN = (5, 25)
"""Time-outs, as multiples of the first one, of the tries after one that hung."""

REPEATED = 20
"""The fewest iterations that confirm a hang without tries, those of the published runs (Sorensen et al. 2021, 6.2)."""

Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Wall = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
Letters = Annotated[str, msgspec.Meta(pattern=f"^[{TERMINATED}{TIMED_OUT}]+$")]
Date = Annotated[str, msgspec.Meta(pattern=r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?$")]


class Trial(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A trial is a test and a way to run it: the test by name and digest, and the device in words.

    ``driver`` and ``compiler`` say of it what ``device`` does not, in words. ``iterations`` are asked for, of
    ``instances`` each, with ``timeout`` seconds for each; ``None`` is a time-out that was measured on the device.
    """

    test: str
    digest: str
    backend: str
    device: str


class ProgressTrial(Trial, frozen=True, kw_only=True):
    """A progress test and a way to run it; ``every_iteration`` says that those after a hang are run too.

    ``placement`` is where the threads of an instance are (``backends.shared.mapping``).
    """

    mapping: str
    instances: Positive
    iterations: Positive
    timeout: Seconds | None
    every_iteration: bool
    placement: str = "device"
    driver: str = ""
    compiler: str = ""


_AGAIN = re.compile(f"{TIMED_OUT}{{0,{len(AGAIN) - 1}}}[{TERMINATED}{TIMED_OUT}]")
"""The letters of the tries after the first."""


class Tried:
    """The tries of a result, where ``counted`` has the letters of the try that counts."""

    __slots__ = ()
    tries: tuple[Letters, ...]

    @property
    def counted(self) -> str:
        """The letters of the try that counts, one for each iteration or launch."""
        raise NotImplementedError

    @property
    def hangs(self) -> bool:
        """A trial hangs where an iteration did not terminate, nor, where the trial was made again, with more time."""
        return TIMED_OUT in self.counted

    @property
    def confirmed(self) -> bool:
        """A hang is confirmed where the trial hung each time that it was made again, so that it may speak against a
        model.
        """
        return self.hangs and len(self.tries) > len(AGAIN)

    @property
    def slow(self) -> bool:
        """A trial is slow where it hung, and terminated with more time."""
        return bool(self.tries) and not self.hangs

    def check_tries(self) -> None:
        """Raise ``ValueError`` where the tries are not of this result."""
        if not self.tries:
            return
        first, *others = self.tries
        if TIMED_OUT not in first or not _AGAIN.fullmatch("".join(others)):
            raise ValueError("expected tries that hang, but for the last, which may terminate")
        if self.counted != first if others[-1] == TIMED_OUT else self.hangs:
            raise ValueError("expected the outcomes of the first try, or of one that terminates")


class ProgressResult(ProgressTrial, Tried, frozen=True, kw_only=True):
    """The result of a progress trial: a letter for each iteration that was run, ``T`` terminated, ``H`` did not in
    time.

    ``date`` is when, in UTC: ``2026-11-22T12:00:00Z``. ``repeated``: the iterations were so many, and made among others
    that terminated, that a hang in each of them is confirmed.
    """

    outcomes: Letters
    date: Date = ""
    tries: tuple[Letters, ...] = ()
    repeated: bool = False

    def __post_init__(self) -> None:
        self.check_tries()
        if self.repeated and not (self.always_hangs and len(self.outcomes) >= REPEATED):
            raise ValueError(f"expected a hang in each of {REPEATED} iterations or more of what is repeated")

    @property
    def counted(self) -> str:
        """The letters of the try that counts, which are the outcomes of its iterations."""
        return self.outcomes

    @property
    def confirmed(self) -> bool:
        """A hang is confirmed by tries, or by a campaign whose every iteration hung."""
        return self.repeated or super().confirmed

    @property
    def always_hangs(self) -> bool:
        """A result always hangs where none of its iterations terminated."""
        return TERMINATED not in self.outcomes


class ProgressFailure(ProgressTrial, frozen=True, kw_only=True):
    """A progress trial that could not be made, and why: its program was not compiled, say, or crashed."""

    error: str
    date: Date = ""


class MemoryTrial(Trial, frozen=True, kw_only=True):
    """A memory test and a way to run it: ``iterations`` launches of ``instances``.

    ``stress``: with memory stress; ``profile`` is the name of the way to launch, where it is not the device's own.
    ``terms`` are the registers and locations whose final values make an outcome, as conditions spell them.
    """

    instances: Positive
    iterations: Positive
    timeout: Seconds | None
    stress: bool
    terms: tuple[str, ...]
    profile: str = ""
    driver: str = ""
    compiler: str = ""


class MemoryResult(MemoryTrial, Tried, frozen=True, kw_only=True):
    """The result of a memory trial: outcomes, each the final values of its terms, with how often each was seen, by
    value.

    ``other`` instances had an outcome for which their launch had no room. ``launches`` came to an end; ``hung``: one
    more did not within the time-out, and the rest was skipped. ``parameters`` is the text of the profile
    (``backends.shared.profiles``) where it is in no file, for it was drawn where the test was run.
    """

    outcomes: tuple[tuple[tuple[int, ...], Count], ...]
    other: Count
    launches: Count
    hung: bool
    date: Date = ""
    parameters: str = ""
    tries: tuple[Letters, ...] = ()

    def __post_init__(self) -> None:
        if any(len(values) != len(self.terms) for values, _ in self.outcomes):
            raise ValueError("an outcome has a value for each term")
        self.check_tries()

    @property
    def counted(self) -> str:
        """The letters of the launches: terminated for each that came to an end, and a hang for one that did not."""
        return TERMINATED * self.launches + TIMED_OUT * self.hung


class MemoryFailure(MemoryTrial, frozen=True, kw_only=True):
    """A memory trial that could not be made, and why; ``parameters`` as of a result."""

    error: str
    date: Date = ""
    parameters: str = ""


Result = ProgressResult | MemoryResult
Failure = ProgressFailure | MemoryFailure
Entry = Result | Failure


class TryEffort(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The effort of a try: its time-out of an iteration, wall seconds of all, CPU seconds of the process that ran them,
    and the load of the machine at its end (the mean number of processes that ran in the last minute), where it was
    known.
    """

    limit: Seconds
    seconds: Wall
    cpu: Wall | None
    load: Wall | None


class Times(msgspec.Struct, frozen=True, omit_defaults=True):
    """The times of a trial: the wall seconds of its iterations, the time-out of one, and what each of its tries
    took.

    Of a trial without a hang, there are no tries to speak of.
    """

    seconds: tuple[Wall, ...] = ()
    limit: Seconds | None = None
    tries: tuple[TryEffort, ...] = ()


def trial_of(entry: Entry) -> ProgressTrial | MemoryTrial:
    """Return the trial of a result or failure: what was asked, without what was seen."""
    kind = ProgressTrial if isinstance(entry, ProgressTrial) else MemoryTrial
    return kind(**{name: getattr(entry, name) for name in kind.__struct_fields__})


def now() -> str:
    """Return the date of a result that is made now, or that of ``SOURCE_DATE_EPOCH`` where it is set."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_KINDS: dict[tuple[bool, bool], Callable[[bytes | str], Entry]] = {
    (False, False): decoder(ProgressResult),
    (False, True): decoder(ProgressFailure),
    (True, False): decoder(MemoryResult),
    (True, True): decoder(MemoryFailure),
}
"""The decoder of a line, by whether it has terms and whether it has an error."""
_keys = decoder(dict[str, msgspec.Raw])


def parse_result(line: bytes | str) -> Entry:
    """Return the result or failure that a line of JSON denotes. Raises ``ValueError`` where it denotes none."""
    keys = _keys(line)
    return _KINDS["terms" in keys, "error" in keys](line)


def print_result(entry: Entry) -> str:
    """Return the line of a result or failure, without the newline."""
    return json.dumps(msgspec.to_builtins(entry), separators=(",", ":"))


UNKNOWN = Times()


@dataclass(slots=True)
class ResultFile:
    """The results of a file by what was asked, the last where there are several, and the way to add to them.

    Made by ``open_results``. ``failures`` are those after which their trial was not made either.
    """

    results: dict[ProgressTrial | MemoryTrial, Result]
    failures: dict[ProgressTrial | MemoryTrial, Failure]
    _add: Callable[[bytes], None]
    _add_times: Callable[[bytes], None]

    @overload
    def find(self, trial: ProgressTrial) -> ProgressResult | None: ...
    @overload
    def find(self, trial: MemoryTrial) -> MemoryResult | None: ...
    def find(self, trial: ProgressTrial | MemoryTrial) -> Result | None:
        """Return the result of a trial, if the trial was made."""
        return self.results.get(trial)

    def add(self, entry: Entry, times: Times = UNKNOWN) -> None:
        """Append a result, and how long it took to ``*.times.jsonl``. Raises ``InputError``."""
        _enter(entry, self.results, self.failures)
        self._add_times(_times_line(entry, times).encode())
        self._add(print_result(entry).encode())


def _enter(
    entry: Entry,
    results: dict[ProgressTrial | MemoryTrial, Result],
    failures: dict[ProgressTrial | MemoryTrial, Failure],
) -> None:
    """The last line of a trial counts; a failure leaves what was seen before it, and a result ends it."""
    trial = trial_of(entry)
    if isinstance(entry, ProgressFailure | MemoryFailure):
        failures[trial] = entry
    else:
        results[trial] = entry
        failures.pop(trial, None)


def latest(
    entries: Iterable[Entry],
) -> tuple[dict[ProgressTrial | MemoryTrial, Result], dict[ProgressTrial | MemoryTrial, Failure]]:
    """Return what counts of the lines of files: by what was asked, the last result of each trial, and the failures
    after which it was not made either.
    """
    results: dict[ProgressTrial | MemoryTrial, Result] = {}
    failures: dict[ProgressTrial | MemoryTrial, Failure] = {}
    for entry in entries:
        _enter(entry, results, failures)
    return results, failures


@contextmanager
def open_results(path: Path | None) -> Iterator[ResultFile]:
    """Open the results in a file, which is made if need be and locked; ``None`` keeps them in memory only.

    A last line that was cut off is dropped, for its test will run again. Raises ``InputError`` where the file cannot be
    opened, holds something else than results, or is in use.
    """
    times = None if path is None else times_of(path)
    with (
        open_lines(path, parse_result, BEGINS, EXPECTED, BUSY) as (entries, add),
        open_lines(times, decoder(dict[str, Any]), BEGINS, "the times of a test", BUSY) as (_, add_times),
    ):
        yield ResultFile(*latest(entries), add, add_times)


def times_of(path: Path) -> Path:
    """Return the file of the wall times of a file of results."""
    return path.with_suffix(".times.jsonl")


def read_results(path: Path) -> list[Entry]:
    """Return every line of a file of results, in its order; a last one that was cut off is left out.

    Raises ``InputError`` where the file cannot be read, or a line is no result.
    """
    with open_bytes(path) as file:
        return [entry for _, entry in whole_lines(file, path, parse_result, EXPECTED)]


def read_times(path: Path) -> list[Times]:
    """Return how long each line of a file of results (``read_results``) took, in its order.

    ``UNKNOWN`` for those whose times are not there. Raises ``InputError`` where one of the two files cannot be read, or
    a line is no result or no times.
    """
    known: dict[str, list[Times]] = {}
    times = times_of(path)
    if times.exists():
        with open_bytes(times) as file:
            for _, (way, took) in whole_lines(file, times, _parse_times, "the times of a test"):
                known.setdefault(way, []).append(took)
    # From the end: a run that was killed between the two files has left times without a result.
    found = [known.get(json.dumps(_timed(entry))) for entry in reversed(read_results(path))]
    return [times.pop() if times else UNKNOWN for times in found][::-1]


_of_times = decoder(dict[str, Any])


def _parse_times(line: bytes) -> tuple[str, Times]:
    """What a line of times says of its result, and the times. Raises ``ValueError`` where it denotes none."""
    fields = _of_times(line)
    times = msgspec.convert({name: fields.pop(name) for name in Times.__struct_fields__ if name in fields}, Times)
    return json.dumps(fields), times


def write_results(path: Path, entries: Sequence[tuple[Entry, Times]]) -> None:
    """Write a file of results anew, and that of their times: each is whole, or as it was before.

    Raises ``InputError`` where that fails.
    """
    write_atomically(times_of(path), (f"{_times_line(entry, times)}\n" for entry, times in entries))
    write_atomically(path, (f"{print_result(entry)}\n" for entry, _ in entries))


def _times_line(entry: Entry, times: Times) -> str:
    rounded = replace(times, seconds=tuple(round(time, 6) for time in times.seconds))
    return json.dumps({**_timed(entry), "seconds": (), **msgspec.to_builtins(rounded)})


def _timed(entry: Entry) -> dict[str, object]:
    """What a line of times says of the result that it belongs to."""
    if isinstance(entry, ProgressTrial):
        way = {"mapping": entry.mapping} | ({"placement": entry.placement} if entry.placement != "device" else {})
    else:
        way = {"profile": entry.profile} if entry.profile else {}
    return {"test": entry.test, "backend": entry.backend, "device": entry.device, **way, "instances": entry.instances}
