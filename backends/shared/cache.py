"""Keeps compiled programs from one run to the next. They are in ``SYNTH_CACHE_DIR``, or in ``synth`` in the user's
cache folder.

A program is known by what it was made of: its text, the compiler with its version, and its options. The folder holds
``MOST`` bytes at the start of a run; what was used longest ago goes first. Nothing depends on it: where it cannot be
written to, programs are compiled anew, and it may be removed at any time. An empty ``SYNTH_CACHE_DIR`` keeps nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

MOST = 1 << 30
"""Bytes that stay from one run to the next."""


def cached(made_of: Sequence[str], target: Path, make: Callable[[Path], bool]) -> None:
    """Put at ``target`` what ``make`` makes at a path that it is given; equal ``made_of`` are made only once.

    What ``make`` makes is only kept, and there, where it returns True.
    """
    folder = _folder()
    if folder is None:
        make(target)
        return
    name = hashlib.sha256(json.dumps(list(made_of)).encode()).hexdigest()
    kept = folder / name[:2] / name
    with suppress(OSError):
        _share(kept, target)
        os.utime(kept)
        return
    if make(target):
        with suppress(OSError):
            kept.parent.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder, prefix="new-") as scratch:
                copy = Path(scratch, name)
                shutil.copy2(target, copy)
                copy.replace(kept)


def _share(kept: Path, target: Path) -> None:
    """One file under two names where that can be: it stays whole in the one when the other goes."""
    try:
        os.link(kept, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(kept, target)


@cache
def _folder() -> Path | None:
    """The folder, made if need be and not too full; ``None`` where there is none."""
    said = os.environ.get("SYNTH_CACHE_DIR")
    if said == "":
        return None
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(said) if said else (Path(home) if home else Path.home() / ".cache") / "synth"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_room(folder)
    except (OSError, RuntimeError):
        return None
    return folder


def _make_room(folder: Path) -> None:
    files = [(path.stat(), path) for path in folder.glob("??/*") if path.is_file()]
    size = sum(stat.st_size for stat, _ in files)
    for stat, path in sorted(files, key=lambda each: each[0].st_mtime):
        if size <= MOST:
            break
        path.unlink(missing_ok=True)
        size -= stat.st_size
