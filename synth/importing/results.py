"""What importing a file is told, what it finds, and the results of several files in one.

The results of several files have each line once, in an order that does not depend on where it came from. Lines are
sorted by test, digest, back end, device, the rest of the trial as text, date, and number of tries; so of one trial the
latest comes last, which is the one that counts. What came from several shards in any order gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from backends.shared.results import Entry, MemoryFailure, ProgressFailure, Times, parse_result, print_result, trial_of
from synth.importing.campaigns import marked, unmarked

TIMEOUT = 20.0
"""The seconds after which a program counts as killed unless the user says otherwise: those of the published runs."""


@dataclass(frozen=True, slots=True)
class ImportSettings:
    """The fields that the user states for all results of the files; ``None`` leaves a field to the files.

    ``timeout``, in seconds, is entered in results that have none: a program does not know when it is killed.
    """

    device: str | None = None
    driver: str | None = None
    compiler: str | None = None
    date: str | None = None
    profile: str | None = None
    timeout: float = TIMEOUT

    def entry(self, known: Mapping[str, Any]) -> Entry:
        """Return the result or failure with these fields. Raises ``ValueError`` where the fields are of neither."""
        given = {"device": self.device, "driver": self.driver, "compiler": self.compiler, "date": self.date}
        if "terms" in known:
            given["profile"] = self.profile
        whole = {"timeout": self.timeout, **known, **{name: word for name, word in given.items() if word is not None}}
        return parse_result(json.dumps(whole, allow_nan=False))


@dataclass(slots=True)
class ImportedResults:
    """The results of a file, each with its wall times where these are known.

    ``refused`` has a line for each thing that was not taken, with the reason; ``notes`` has a line for each that was
    taken on an assumption.
    """

    entries: list[tuple[Entry, Times]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


Key = tuple[str, ...]


def merged(entries: Iterable[tuple[Entry, Times]]) -> list[tuple[Entry, Times]]:
    """The results in order, exact duplicates once, each with its times in seconds: of several of one result the
    smallest that is known. Hangs of campaigns are confirmed where they were repeated and another test, launched in the
    same way, ended (``synth.importing.campaigns``).
    """
    known: dict[str, tuple[Entry, Times]] = {}
    for entry, times in ((unmarked(entry), took) for entry, took in entries):
        line = print_result(entry)
        other = known.get(line)
        if other is None or (times.seconds and (not other[1].seconds or times.seconds < other[1].seconds)):
            known[line] = entry, times
    return marked([known[line] for _, line in sorted((_key(entry), line) for line, (entry, _) in known.items())])


def _key(entry: Entry) -> Key:
    trial = json.dumps(msgspec.to_builtins(trial_of(entry)), sort_keys=True)
    tries = "" if isinstance(entry, ProgressFailure | MemoryFailure) else str(len(entry.tries))
    return entry.test, entry.digest, entry.backend, entry.device, trial, entry.date, tries
