"""The files of a folder and of the folders in it, for commands that are given a folder, and what they leave out.

for path in files_below(Path("suite")):
    suite/a.litmus, suite/b.litmus, suite/inner/a.litmus
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from corpus.errors import InputError
from synth.watch import remark

MOST_FILES = 1_000_000
"""The most files that a folder may have, with those of the folders in it."""

_SHOWN = 6
"""The kinds of files that are named where some are left out."""


class FolderEntry(NamedTuple):
    """A file in a folder, a symbolic ``link``, or a ``folder`` that is not looked into."""

    path: Path
    link: bool = False
    folder: bool = False


def files_below(folder: Path, whole: Callable[[Path], bool] = lambda path: False) -> Iterator[FolderEntry]:
    """Yield the files of a folder, sorted by name, and then those of each folder in it.

    What is hidden, which begins with a dot, is left out. Symbolic links are yielded and not followed, so no file comes
    twice, nothing from outside, and no circle is gone round. A folder inside that is ``whole``, or that cannot be
    listed, is yielded itself. Raises ``InputError`` where ``folder`` cannot be listed or has more than ``MOST_FILES``.
    """
    left, count = [folder], 0
    while left:
        here = left.pop()
        if here is not folder and whole(here):
            yield FolderEntry(here, folder=True)
            continue
        try:
            with os.scandir(here) as entries:
                shown = sorted(
                    (entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name
                )
        except OSError as error:
            if here is folder:
                raise InputError(f"cannot read: {error.strerror}", str(folder)) from None
            yield FolderEntry(here, folder=True)
            continue
        for entry in shown:
            if not entry.is_dir(follow_symlinks=False):
                if (count := count + 1) > MOST_FILES:
                    raise InputError(f"the folder has more than {MOST_FILES:,} files", str(folder))
                yield FolderEntry(here / entry.name, link=entry.is_symlink())
        left += [here / entry.name for entry in reversed(shown) if entry.is_dir(follow_symlinks=False)]


class LeftOut:
    """A count of what lies in folders and is not asked about, by kind, such as ``.py`` or ``symbolic links``."""

    def __init__(self) -> None:
        self._kinds = Counter[str]()

    def add(self, entry: FolderEntry) -> None:
        """Count a file by its suffix, or a symbolic link."""
        self.count("symbolic links" if entry.link else entry.path.suffix or "without a suffix")

    def count(self, kind: str, number: int = 1) -> None:
        """Count so many things of a kind."""
        self._kinds[kind] += number

    def __str__(self) -> str:
        """Return the kinds, the most frequent first: ``left out: .py (12), .txt (1)``; empty where nothing is."""
        kinds = sorted(self._kinds.items(), key=lambda counted: (-counted[1], counted[0]))
        words = [f"{kind} ({number:,})" for kind, number in kinds[:_SHOWN]]
        if others := sum(number for _, number in kinds[_SHOWN:]):
            words.append(f"other kinds ({others:,})")
        return f"left out: {', '.join(words)}" if words else ""

    def tell(self, folders: Iterable[object]) -> None:
        """Print a line on standard error that says what is left out of folders; none where nothing is."""
        if words := str(self):
            remark(f"{', '.join(map(str, folders))}: {words}")


@dataclass(frozen=True, slots=True)
class WrittenTests:
    """Tests that were written into a folder, of so many where some may be left out; ``complete``: none is."""

    folder: Path
    count: int
    total: int | None = None
    complete: bool = True
