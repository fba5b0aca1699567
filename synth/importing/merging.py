"""The merge of files of results into one: each line once, in a reproducible order. The order does not depend on the
files.

Lines are sorted by test, digest, back end, device, the rest of the trial as text, date, and number of tries. So the
latest result of a trial comes last, and the last is the one that counts. Shards give equal bytes in any order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec

from backends.shared.results import Entry, MemoryFailure, ProgressFailure, Times, print_result, trial_of

Key = tuple[str, ...]


def merged(entries: Iterable[tuple[Entry, Times]]) -> list[tuple[Entry, Times]]:
    """Return the results in order, exact duplicates once; of several times of one result, the smallest known one."""
    known: dict[str, tuple[Entry, Times]] = {}
    for entry, times in entries:
        line = print_result(entry)
        other = known.get(line)
        if other is None or (times.seconds and (not other[1].seconds or times.seconds < other[1].seconds)):
            known[line] = entry, times
    return [known[line] for _, line in sorted((_key(entry), line) for line, (entry, _) in known.items())]


def _key(entry: Entry) -> Key:
    trial = json.dumps(msgspec.to_builtins(trial_of(entry)), sort_keys=True)
    tries = "" if isinstance(entry, ProgressFailure | MemoryFailure) else str(len(entry.tries))
    return entry.test, entry.digest, entry.backend, entry.device, trial, entry.date, tries
