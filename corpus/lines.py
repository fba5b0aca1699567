"""Keeps a file of JSON lines that only grows, written by one process at a time.

Each append is on the disk before it returns. So a run that is stopped at any instant leaves whole lines and at most one
that is cut off, which the next run drops.

Assumption: a file system where ``flock`` works.
"""

from __future__ import annotations

import fcntl
import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar
from weakref import WeakSet

import msgspec

from corpus.errors import InputError, visible
from corpus.files import LARGEST_TEXT, bounded_lines, open_bytes

Entry = TypeVar("Entry")


def decoder(kind: type[Entry]) -> Callable[[bytes | str], Entry]:
    """Return a function from a line of JSON to a value of a type; it raises ``ValueError`` where the line
    denotes none.
    """
    typed = msgspec.json.Decoder(kind)

    def decode(line: bytes | str) -> Entry:
        try:
            return typed.decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise ValueError(str(error)) from None

    return decode


_encode = msgspec.json.Encoder().encode


def encode(value: object) -> bytes:
    """Return a value as a line of JSON, without its end, in which nothing is hidden (``corpus.errors.visible``)."""
    data = _encode(value)
    return data if data.isascii() else visible(data.decode()).encode()


def whole_lines(
    file: IO[bytes], path: Path, decode: Callable[[bytes], Entry], expected: str
) -> Iterator[tuple[int, Entry]]:
    """Return every line of a file as ``decode`` reads it, with the offset of its end; a last line that is not whole is
    left out.

    Raises ``InputError`` where a line before the last is not ``expected``, or any has more than ``LARGEST_TEXT`` bytes.
    """
    end, bad = 0, None
    for number, line in enumerate(bounded_lines(file), 1):
        if len(line) > LARGEST_TEXT:
            raise InputError(f"expected {expected}, of at most {LARGEST_TEXT} bytes", str(path), number)
        if bad is not None:
            raise InputError(f"expected {expected}", str(path), bad)
        try:
            if not line.endswith(b"\n"):
                raise ValueError
            entry = decode(line)
        except ValueError:
            bad = number
            continue
        end += len(line)
        yield end, entry


def is_cut(path: Path) -> bool:
    """Decide whether a file ends in the middle of a line. Raises ``InputError`` where it cannot be read."""
    with open_bytes(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return file.read(1) not in (b"", b"\n")


@contextmanager
def open_lines(
    path: Path | None, decode: Callable[[bytes], Entry], begins: bytes, expected: str, busy: str
) -> Iterator[tuple[list[Entry], Callable[[bytes], None]]]:
    """Return the lines that a file holds, which is made if need be, and a function that adds a line; ``None`` keeps
    nothing.

    A last line that was cut off is dropped; one that does not begin as every line does was not cut off, it is something
    else. Raises ``InputError`` where the file cannot be opened, is in use, or a line is not ``expected``.
    """
    if path is None:
        yield [], lambda line: None
        return
    try:
        lines = LineFile.open(path, busy)
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", str(path)) from None
    with lines:
        with open_bytes(path) as file:
            read = list(whole_lines(file, path, decode, expected))
            end = read[-1][0] if read else 0
            file.seek(end)
            rest = file.read()
        if b"\n" in rest or not begins.startswith(rest[: len(begins)]):
            raise InputError(f"expected {expected}", str(path), len(read) + 1)
        lines.cut(end)
        yield [entry for _, entry in read], lambda line: lines.append([line])


class LineFile:
    """A file of lines, open for appending and locked; it is made by ``open``, and is a context manager."""

    def __init__(self, path: Path, file: io.FileIO) -> None:
        self.path = path
        self._file = file
        _HELD.add(self)

    @classmethod
    def open(cls, path: Path, busy: str, new: bool = False) -> LineFile:
        """Open the file at ``path``, made if need be; with ``new`` it must not be there yet.

        A link is not followed: a corpus of somebody else's may have one that leads out of it. Raises ``OSError``, and
        ``InputError`` there, and with the words ``busy`` where another process holds it.
        """
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_EXCL if new else 0)
        if path.is_symlink():
            raise InputError("a link, and nothing is written elsewhere", str(path))
        file = io.FileIO(os.open(path, flags, 0o666), "r+")
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise InputError("not an ordinary file", str(path))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise InputError(busy, str(path)) from None
        return cls(path, file)

    def cut(self, end: int) -> None:
        """Drop what comes after an offset, and go on there."""
        os.ftruncate(self._file.fileno(), end)
        self._file.seek(end)

    def append(self, lines: Iterable[bytes], hint: str = "") -> None:
        """Add lines, which come without their newlines; on return all of them are on the disk, or none.

        Raises ``InputError`` where they cannot be written; ``hint`` is what it then says besides.
        """
        start = self._file.tell()
        data = memoryview(b"".join(line + b"\n" for line in lines))
        try:
            while data:  # a write to a file that is nearly full may be a short one
                data = data[self._file.write(data) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):
                self.cut(start)
            raise InputError(f"cannot write: {error.strerror}{hint}", str(self.path)) from None

    def close(self) -> None:
        """Close the file and give up its lock, so that another process may write to it."""
        self._file.close()

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_HELD: WeakSet[LineFile] = WeakSet()
"""The files that this process holds."""


def _let_go() -> None:
    """What a process holds, its forks do not: one that outlives it would keep the file locked."""
    for lines in list(_HELD):
        lines.close()


os.register_at_fork(after_in_child=_let_go)
