"""Keeps compiled programs from one run to the next, in the user's cache (``corpus.cache``).

A program is known by what it was made of: its text, the compiler with its version, and its options.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from backends.shared.process import RunError
from backends.shared.toolchain import Compiler
from corpus.cache import CacheRoom

PROGRAMS = CacheRoom("", 1 << 30)


def compiled_once(compiler: Compiler, tool: str, file: Path, binary: Path, *made_of: str) -> None:
    """Compile a file that the compiler, and so much else, makes a program of. Raises ``RunError`` where it refuses."""

    def make(path: Path) -> bool:
        compilation = compiler.compile(file, path)
        if not compilation.ok:
            raise RunError(f"{tool}: {compilation.output}")
        return True

    cached([*made_of, file.read_text(encoding="utf-8")], binary, make)


def cached(made_of: Sequence[str], target: Path, make: Callable[[Path], bool]) -> None:
    """Put at ``target`` what ``make`` makes at a path that it is given; equal ``made_of`` are made only once.

    What ``make`` makes is only kept, and there, where it returns True.
    """
    kept = PROGRAMS.file(made_of)
    if kept is None:
        make(target)
        return
    with suppress(OSError):
        _share(kept, target)
        os.utime(kept)
        return
    if make(target):
        PROGRAMS.keep(kept, lambda copy: shutil.copy2(target, copy))


def _share(kept: Path, target: Path) -> None:
    """One file under two names where that can be: it stays whole in the one when the other goes."""
    try:
        os.link(kept, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(kept, target)
