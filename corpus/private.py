"""Folders and files that belong to a process until it ends, and what killed processes have left of them.

The owner of one holds a lock on it (``flock``), which the kernel gives up with the process, however that ends, and
whatever number a later process gets. So what nobody holds is nobody's: the next process that makes one in the same
place removes it. Folders on file systems without such locks are left where they are.

    with private_folder("run") as folder:    # $TMPDIR/synth-run-k3x_90ab.private
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from corpus.errors import InputError

_SUFFIX = ".private"

_FOLDER = re.compile(r"(?:synth-[a-z]+-|\..+\.)[a-z0-9_]{8}\.private")
"""The names of private folders: in the folder for temporary files, and beside what is being written."""

_PLAIN = re.compile(r"[\w./+:@=,-]+", re.ASCII)

_HALF = re.compile(r"\.(?P<name>.+)\.[0-9]+\.tmp", re.DOTALL)
"""The names of files that are not whole yet (``temporary_name``)."""


@contextmanager
def private_folder(kind: str, all_within: bool = False) -> Iterator[Path]:
    """Open a new folder for temporary files, which no other user can read; at the end of the block it is removed.

    A shell obeys nothing in its path, whatever ``TMPDIR`` says: there are compilers that hand it to one.

    ``all_within``: temporary files that are made within the block lie in it too, those of other processes that are
    forked included. ``kind`` is a word of its name.
    """
    import tempfile  # slow to import, and not all commands need it

    before = tempfile.tempdir
    with _owned_folder(_plain(tempfile.gettempdir()), f"synth-{kind}-") as folder:
        if all_within:
            tempfile.tempdir = str(folder)
        try:
            yield folder
        finally:
            if all_within:
                tempfile.tempdir = before


def _plain(wanted: str) -> Path:
    """Return the folder for temporary files, or else one whose path a shell obeys nothing in."""
    for folder in (wanted, "/tmp", "/var/tmp"):
        if _PLAIN.fullmatch(folder) and _PLAIN.fullmatch(os.path.realpath(folder)) and os.access(folder, os.W_OK):
            return Path(os.path.abspath(folder))
    raise InputError("expected a folder for temporary files with a plain name: set TMPDIR", wanted)


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """Open a new private folder beside a path, on the same file system; at the end of the block it is removed."""
    with _owned_folder(path.parent, f".{path.name}.") as folder:
        yield folder


@contextmanager
def _owned_folder(parent: Path, prefix: str) -> Iterator[Path]:
    import shutil
    from tempfile import mkdtemp

    _remove_folders(parent)
    while True:
        folder = Path(mkdtemp(prefix=prefix, suffix=_SUFFIX, dir=parent))
        try:
            held = _opened(folder, os.O_DIRECTORY)
        except FileNotFoundError:  # another process has taken it for one that was left
            continue
        if hold(held) and folder.exists():  # else another process took it for one that was left
            break
        os.close(held)
    _holding.add(held)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held in _holding:  # and this process is no fork of the owner
            _holding.remove(held)
            os.close(held)


def hold(file: int) -> bool:
    """Hold what is open as this descriptor until it is closed; return whether no other process holds it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # there are no locks here, so nobody will take it for one that was left
        pass
    return True


def temporary_name(name: str, process: object) -> str:
    """Return the name that a process gives a file until it is whole; ``*`` as the process matches what any process
    left.
    """
    return f".{name}.{process}.tmp"


def remove_halves(path: Path) -> None:
    """Remove what killed processes have left of a file that they were writing."""
    for half in _halves(path.parent).pop(path.name, ()):
        with _left(half) as left:
            if left:
                half.unlink(missing_ok=True)


@cache  # a folder is looked through once a process
def _halves(folder: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if (matched := _HALF.fullmatch(entry.name)) and entry.is_file(follow_symlinks=False):
                found.setdefault(matched["name"], []).append(folder / entry.name)
    return found


@cache
def _remove_folders(parent: Path) -> None:
    """Remove the folders in a folder that were private to processes of this user that are no more."""
    import shutil

    left: list[Path] = []
    with suppress(OSError), os.scandir(parent) as entries:
        left += [parent / entry.name for entry in entries if _FOLDER.fullmatch(entry.name)]
    for folder in left:
        with _left(folder, os.O_DIRECTORY) as nobodys:
            if nobodys:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _left(path: Path, flags: int = 0) -> Iterator[bool]:
    """Hold a file or folder within the block; yield whether it is this user's, and no process held it."""
    try:
        held = _opened(path, flags)
    except OSError:
        yield False
        return
    try:
        mine = os.fstat(held).st_uid == os.geteuid()
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        mine = False
    with suppress(OSError):
        yield mine
    os.close(held)


def _opened(path: Path, flags: int) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | flags)


_holding = set[int]()
"""The descriptors of the folders that this process owns."""


def _let_go() -> None:
    """What a process owns, its forks do not: one that outlives it would keep the folder."""
    while _holding:
        os.close(_holding.pop())


os.register_at_fork(after_in_child=_let_go)
