"""The journal of a hardening: every run on a line, so that it can be stopped and resumed.

The runs of a set of places are replayed in their order before a new one is made, in whichever step they were made. So a
hardening can also go on with more runs in each step. A line of another application, or of other commands, is refused.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from corpus.errors import InputError
from corpus.files import read_bytes
from corpus.lines import decoder, open_lines
from synth.hardening.reduction import Places, ProgramRun

NAME = "runs.jsonl"
BEGINS = b'{"hardening":'
BUSY = "another process is at work on this hardening"


class HardeningEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the journal: the key of its hardening, the active places, and the run as ``ProgramRun`` has it."""

    hardening: str
    places: tuple[int, ...]
    code: int | None
    seconds: float
    said: str


def hardening_of(journal: Path) -> str | None:
    """Return the key of the hardening that a journal is of, empty where it is of none yet; ``None`` where it is no
    journal.
    """
    try:
        first, end, _ = read_bytes(journal).partition(b"\n")
        return decoder(HardeningEntry)(first).hardening if end else ""
    except (InputError, ValueError):
        return None


@contextmanager
def journalled(path: Path, key: str, run: Callable[[Places], ProgramRun]) -> Iterator[Callable[[Places], ProgramRun]]:
    """Wrap ``run`` so that it answers with the runs in a file first, and adds new runs to the file.

    ``key`` tells hardenings apart. Raises ``InputError`` where the file cannot be opened, is in use, or belongs to
    something else.
    """
    with open_lines(path, decoder(HardeningEntry), BEGINS, "a run of a hardening", BUSY) as (entries, add):
        earlier: dict[Places, deque[ProgramRun]] = defaultdict(deque)
        for number, entry in enumerate(entries, 1):
            if entry.hardening != key:
                raise InputError("of another hardening: remove the file, or give another -o", str(path), number)
            earlier[frozenset(entry.places)].append(ProgramRun(entry.code, entry.seconds, entry.said))

        def remember(places: Places) -> ProgramRun:
            if earlier[places]:
                return earlier[places].popleft()
            ran = run(places)
            line = HardeningEntry(key, tuple(sorted(places)), ran.code, ran.seconds, ran.message)
            add(json.dumps(msgspec.to_builtins(line), separators=(",", ":")).encode())
            return ran

        yield remember
