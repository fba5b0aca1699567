"""The journal of a search for a profile: a line for each measurement, to resume from. It lies beside the profile.

A search asks its questions in a fixed order, so when it is made again its N-th question is answered by the N-th line. A
line of another question belongs to another search, and is refused. Each line is on the disk before the next question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from corpus.errors import InputError
from corpus.files import read_bytes
from corpus.lines import decoder, open_lines
from synth.tuning.search import Ask, ProfileSearch, Sample, TuningResult

BEGINS = b'{"search":'
BUSY = "another process is at work on this search"


class TuningEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the journal: the key of its search, a question and its answer, as ``Ask`` and ``Sample`` have them."""

    search: str
    test: str
    profile: dict[str, Any]
    launches: int
    weak: tuple[int, ...]
    instances: int
    seconds: float
    running: float
    error: str


class TuningJournal(NamedTuple):
    """The answers of earlier runs, in order, and the function that adds one."""

    path: Path | None
    entries: list[TuningEntry]
    add: Callable[[bytes], None]


def journal_of(profile: Path) -> Path:
    """Return the path of the journal beside a profile's file."""
    return profile.with_suffix(".journal.jsonl")


def search_of(journal: Path) -> str | None:
    """Return the key of the search that a journal is of, empty where it is of none yet; ``None`` where it is no
    journal.
    """
    try:
        first, end, _ = read_bytes(journal).partition(b"\n")
        return decoder(TuningEntry)(first).search if end else ""
    except (InputError, ValueError):
        return None


@contextmanager
def open_journal(path: Path | None) -> Iterator[TuningJournal]:
    """Open and lock a journal, which is made if need be; ``None`` keeps nothing.

    A last line that was cut off is dropped. Raises ``InputError`` where it cannot be opened, is in use, or holds
    something else.
    """
    with open_lines(path, decoder(TuningEntry), BEGINS, "a measurement of a search", BUSY) as (entries, add):
        yield TuningJournal(path, entries, add)


def answered(
    search: ProfileSearch,
    key: str,
    names: Sequence[str],
    measure: Callable[[Sequence[Ask]], Iterator[Sample]],
    journal: TuningJournal,
) -> Iterator[TuningResult | None]:
    """Make a search: yield ``None`` after each measurement, and last the result.

    ``key`` tells searches apart, ``names`` are those of tests. Raises ``InputError`` where the journal is of another
    search.
    """
    earlier = iter(enumerate(journal.entries, 1))
    steps = search.steps()
    asks = next(steps)
    while True:
        samples = []
        for ask in asks:
            number, entry = next(earlier, (0, None))
            if entry is None:
                break
            if any(getattr(entry, name) != value for name, value in _question_record(key, names, ask).items()):
                raise InputError("of another search: remove the file, or give another -o", str(journal.path), number)
            samples.append(Sample(entry.weak, entry.instances, entry.seconds, entry.running, entry.error))
            yield None
        left = asks[len(samples) :]
        for ask, sample in zip(left, measure(left) if left else (), strict=True):
            answer = {name: getattr(sample, name) for name in ("weak", "instances", "seconds", "running", "error")}
            journal.add(json.dumps({**_question_record(key, names, ask), **answer}, separators=(",", ":")).encode())
            samples.append(sample)
            yield None
        try:
            asks = steps.send(samples)
        except StopIteration as done:
            yield done.value
            return


def _question_record(key: str, names: Sequence[str], ask: Ask) -> dict[str, Any]:
    """Return a question in the form of a line."""
    return {"search": key, "test": names[ask.test], "profile": ask.profile.chosen, "launches": ask.launches}
