"""Results of several files in one: each line once, in an order that does not depend on where it came from.

Lines are sorted by test, digest, back end, device, the rest of the trial as text, and date; so of one trial the latest
comes last, which is the one that counts. What came from several shards in any order gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec

from backends.shared.results import Entry, print_result, trial_of
from synth.importing.found import Seconds

Key = tuple[str, ...]


def merged(entries: Iterable[tuple[Entry, Seconds]]) -> list[tuple[Entry, Seconds]]:
    """The results in order, exact duplicates once; of several times of one result the smallest that is known."""
    known: dict[str, tuple[Entry, Seconds]] = {}
    for entry, seconds in entries:
        line = print_result(entry)
        other = known.get(line)
        if other is None or (seconds and (not other[1] or seconds < other[1])):
            known[line] = entry, seconds
    return [known[line] for _, line in sorted((_key(entry), line) for line, (entry, _) in known.items())]


def _key(entry: Entry) -> Key:
    trial = json.dumps(msgspec.to_builtins(trial_of(entry)), sort_keys=True)
    return entry.test, entry.digest, entry.backend, entry.device, trial, entry.date
