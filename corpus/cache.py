"""Keeps files from one run to the next in the user's cache, from which they may be removed at any time.

The cache is ``SYNTH_CACHE_DIR``, or ``synth`` in the user's cache folder. Nothing depends on it: where it cannot be
written to, all is made anew. An empty ``SYNTH_CACHE_DIR`` keeps nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from corpus.private import temporary_name


@dataclass(frozen=True, slots=True)
class CacheRoom:
    """A folder within the user's cache, for files of one kind; the cache itself where it has no name.

    A run that writes to it leaves ``most`` bytes of what earlier runs wrote; what was used longest ago goes first.
    """

    name: str
    most: int

    def file(self, made_of: Sequence[str]) -> Path | None:
        """Return the path of the file that is made of some texts, be it there or not; None where there is no cache."""
        given = os.environ.get("SYNTH_CACHE_DIR")
        if given == "":
            return None
        home = os.environ.get("XDG_CACHE_HOME")
        try:
            folder = Path(given) if given else (Path(home) if home else Path.home() / ".cache") / "synth"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (OSError, RuntimeError):  # Path.home() knows of none
            return None
        name = sha256(json.dumps(list(made_of)).encode()).hexdigest()
        return folder / self.name / name[:2] / name

    def keep(self, file: Path, write: Callable[[Path], object]) -> None:
        """Have a file of the room written, so that it is whole or not there; where that fails, nothing is kept.

        ``write`` writes to the path that it is given.
        """
        new = file.with_name(temporary_name(file.name, os.urandom(8).hex()))
        with suppress(OSError):
            _make_room(file.parents[1], self.most)
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                write(new)
                new.replace(file)
            finally:
                new.unlink(missing_ok=True)


@cache  # once a run
def _make_room(folder: Path, most: int) -> None:
    files = [(path.stat(), path) for path in folder.glob("??/*") if path.is_file()]
    size = sum(stat.st_size for stat, _ in files)
    for stat, path in sorted(files, key=lambda row: row[0].st_mtime):
        if size <= most:
            break
        path.unlink(missing_ok=True)
        size -= stat.st_size
