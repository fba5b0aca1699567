"""Reads and writes files and folders so that each is whole or not there at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO

from corpus.awaited import read_through
from corpus.errors import InputError, visible
from corpus.private import folder_beside, hold, remove_halves, temporary_name

LARGEST_TEXT = 64 * 2**20
"""Bytes that a text may have: a test, a model, edges, an index."""


_FEW = 2**16
"""Bytes that most texts have not: to make room for many takes longer than to read few."""


_LARGE = 2**23
"""Bytes of lines that take about a second to be read: a person who waits is told how far it is."""


def folder_of(package: str) -> Path:
    """Return the folder of a package of ours, with the texts that ship with it."""
    return Path(import_module(package).__path__[0])


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read bytes.

    Raises ``InputError`` where it cannot be opened, or is a device, a pipe or a socket, which might never end. A pipe
    that the shell hands over, as in ``<(..)``, is read: somebody writes to it.
    """
    try:
        file = open(path, "rb", opener=_at_once)  # noqa: SIM115 - closed below
    except OSError as error:
        why = "not an ordinary file" if error.errno == errno.ENXIO else error.strerror
        raise InputError(f"cannot read: {why}", str(path)) from None
    with file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISFIFO(mode) and str(path).startswith(("/dev/fd/", "/dev/stdin")):
            os.set_blocking(file.fileno(), True)
        elif not stat.S_ISREG(mode):
            raise InputError("cannot read: not an ordinary file", str(path))
        yield file


def _at_once(path: str, flags: int) -> int:
    """A pipe that nobody writes to is opened, too, so that it can be refused."""
    return os.open(path, flags | os.O_NONBLOCK)


def read_bytes(path: Path, most: int = LARGEST_TEXT) -> bytes:
    """Return what is in a file of no more than so many bytes. Raises ``InputError`` where it cannot be read, or is
    larger.
    """
    with open_bytes(path) as file:
        if os.fstat(file.fileno()).st_size > most:  # a pipe has no size, and is read for so many bytes
            raise InputError(f"cannot read: larger than {most} bytes", str(path))
        try:
            data = file.read(_FEW)
            if len(data) == _FEW:
                data += file.read(most + 1 - _FEW)
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror}", str(path)) from None
    if len(data) > most:
        raise InputError(f"cannot read: larger than {most} bytes", str(path))
    return data


def read_text(path: Path, most: int = LARGEST_TEXT) -> str:
    """Return the text of a file of no more than so many bytes.

    Raises ``InputError`` where it cannot be read, is larger, or is not UTF-8, with line and column.
    """
    data = read_bytes(path, most)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise InputError("cannot read: not UTF-8 text", str(path), line, column) from None


def bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Return the lines of a file with their ends, one of more than ``LARGEST_TEXT`` bytes in parts of one byte more."""
    lines = iter(partial(file.readline, LARGEST_TEXT + 1), b"")
    size = os.fstat(file.fileno()).st_size
    return read_through(lines, size, Path(str(file.name)).name) if size > _LARGE else lines


def is_within(path: Path, folder: Path) -> bool:
    """Decide whether a file lies in a folder, or one in it, when links are followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def inner_folder(folder: Path, name: str) -> Path:
    """Return a folder within a folder, which is made if need be.

    Raises ``InputError`` where it cannot be made, or is a link, for what is written into it would lie elsewhere.
    """
    inner = folder / name
    try:
        if not inner.is_symlink():
            inner.mkdir(exist_ok=True)
            return inner
    except OSError as error:
        raise InputError(f"cannot create: {error.strerror}", str(inner)) from None
    raise InputError("a link, and nothing is written elsewhere", str(inner))


def write_atomically(path: Path, parts: Iterable[str | bytes], durable: bool = True) -> None:
    """Write a file, text as UTF-8, so that it is whole or as it was before. Raises ``InputError`` where that fails.

    No text of a file of ours hides what it says (``corpus.errors.visible``).

    It is on the disk on return, unless it need not be ``durable``: of many files one ``os.sync`` is quicker.
    """
    temporary = path.with_name(temporary_name(path.name, os.getpid()))
    remove_halves(path)
    try:
        try:
            with _new(temporary) as file:
                hold(file.fileno())
                file.writelines(map(_encoded, parts))
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", str(path)) from None


def _encoded(part: str | bytes) -> bytes:
    """Return a part of a file as bytes; names of files may have bytes that are no UTF-8, which stay."""
    return visible(part).encode("utf-8", "surrogateescape") if isinstance(part, str) else part


def _new(path: Path) -> IO[bytes]:
    """Open a file that is not there yet, or was left by an earlier process of our number; a link is not followed."""
    with suppress(FileExistsError):
        return path.open("xb")
    path.unlink()
    return path.open("xb")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Open a folder to write into, which becomes ``folder`` at the end of the block; where the block fails, nothing is
    left.

    Where it is a link to an empty folder, it is that folder that is filled. Raises ``InputError`` where ``folder`` is
    there and is not an empty folder, or cannot be made.
    """
    given = str(folder)
    try:
        if folder.is_symlink():
            if not folder.exists():
                raise InputError("the output is a link to what is not there", given)
            folder = folder.resolve()  # a folder cannot be renamed to a link
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError("the output exists and is not an empty folder", given)
        folder.parent.mkdir(parents=True, exist_ok=True)
        # What is beside it is private to us; what is in it gets the permissions of any new folder.
        with folder_beside(folder) as staging:
            whole = staging / "whole"
            whole.mkdir()
            yield whole
            whole.replace(folder)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", given) from None


def halves(folder: Path) -> list[Path]:
    """Return the files, whole or half, that killed writes have left in a folder: files that nobody asked for."""
    return sorted(folder.glob(temporary_name("*", "*")))
