"""A file of JSON lines that only grows: each line is on the disk before the next thing is tried, so a run that was
stopped goes on where it was. One process at a time writes to it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Generic, TypeVar

from corpus.errors import InputError

Entry = TypeVar("Entry")


@dataclass(slots=True)
class Journal(Generic[Entry]):
    """What a file held when it was opened, in its order, and the way to add to it; made by ``open_journal``."""

    entries: list[Entry] = field(default_factory=list)
    _lines: IO[str] | None = None

    def append(self, line: str) -> None:
        """Add a line, which comes without its newline. Raises ``InputError`` where it cannot be written."""
        if self._lines is None:
            return
        try:
            self._lines.write(line + "\n")
            self._lines.flush()
            os.fsync(self._lines.fileno())
        except OSError as error:
            with suppress(OSError):  # or what is still buffered would be tried again, and fail without a name
                self._lines.close()
            raise InputError(f"cannot write: {error.strerror}", self._lines.name) from None


@contextmanager
def open_journal(
    path: Path | None, parse: Callable[[str], Entry], first_key: bytes, expected: str
) -> Iterator[Journal[Entry]]:
    """The journal in a file, which is made if need be and locked; ``None`` keeps nothing.

    ``parse`` reads a line, or raises ``ValueError``. A last line that was cut off is dropped; one that does not begin
    with ``first_key`` was not cut off, it is something else. Raises ``InputError`` where the file cannot be opened, is
    in use, or a line is not ``expected``.
    """
    if path is None:
        yield Journal()
        return
    try:
        lines = path.open("a", encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", str(path)) from None
    with lines:
        try:
            fcntl.flock(lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("another process is at work on these results", str(path)) from None
        yield Journal(_read(path, parse, first_key, expected), lines)


def _read(path: Path, parse: Callable[[str], Entry], first_key: bytes, expected: str) -> list[Entry]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", str(path)) from None
    whole = data.rfind(b"\n") + 1
    entries = []
    for number, line in enumerate(data[:whole].splitlines(), 1):
        try:
            entries.append(parse(line.decode("utf-8")))
        except ValueError:
            raise InputError(f"expected {expected}", str(path), number) from None
    rest = data[whole:]
    if rest:
        if not first_key.startswith(rest[: len(first_key)]):
            raise InputError(f"expected {expected}", str(path), len(entries) + 1)
        os.truncate(path, whole)
    return entries
