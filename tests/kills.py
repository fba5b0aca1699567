"""A command that is killed (SIGKILL) before each change that it makes to files, in turn, and then given again.

Run as a program of its own, for it forks: ``python -m tests.kills FOLDER MOST WORDS...``. In ``FOLDER`` lies ``start``,
the folder that the command begins in; its copies become ``whole``, in which the command ran to its end; for each point
N ``killed-N``, as it was found after the kill, and ``again-N``, where the command was given again. It prints a list in
JSON of ``[N, change, signal, exit code when given again]``, after ``[0, "", 0, exit code of the whole]``.

A change is to open a file in the folder for writing, to rename or remove one, to make a folder, and to bring what was
written to the disk; of the last a kill leaves the last bytes unwritten, so a line is cut. Where there are more than
``MOST`` changes, some are left out, evenly, and neither the first nor the last. Modules are loaded once, by the command
that runs to its end.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

TORN = 7
"""Bytes that are lost of what was being written."""


class Changes:
    """Counts the changes to files below the working directory, and kills this process before one of them."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.last: int | None = None
        self._folder = ""
        self._process = 0
        sys.addaudithook(self._audit)
        sync = os.fsync

        def fsync(file: int) -> None:
            self._change("fsync", f"/proc/self/fd/{file}", lambda: self._tear(file))
            sync(file)

        os.fsync = fsync

    def begin(self, last: int | None) -> None:
        """Count from here on, in this process alone; it does not get past the ``last`` change."""
        self.seen, self.last = [], last
        self._folder, self._process = os.getcwd() + os.sep, os.getpid()

    def _audit(self, event: str, words: tuple[Any, ...]) -> None:
        if os.getpid() != self._process:
            return
        if event == "open":
            path, _, flags = words
            if isinstance(path, str | bytes) and (flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
                self._change("open", path)
        elif event == "os.mkdir":
            self._change(event, words[0])
        elif event in ("os.rename", "os.remove", "os.rmdir") and os.path.lexists(words[0]):
            self._change(event, words[0])  # else it is relative to a folder elsewhere

    def _change(self, what: str, path: Any, leave: Callable[[], object] = lambda: None) -> None:
        place = (os.path.realpath if what == "fsync" else os.path.abspath)(os.fsdecode(path))
        if os.getpid() != self._process or not place.startswith(self._folder):
            return
        self.seen.append(f"{what} {place.removeprefix(self._folder)}")
        if len(self.seen) == self.last:
            leave()
            os.kill(os.getpid(), signal.SIGKILL)

    def _tear(self, file: int) -> None:
        os.ftruncate(file, max(0, os.fstat(file).st_size - TORN))


def given(folder: Path, words: Sequence[str]) -> int:
    """The exit code of a command that is given in a folder."""
    from synth.commands.cli import main

    os.chdir(folder)
    try:
        main(list(words), prog_name="synth")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def forked(work: Callable[[], int]) -> tuple[int, int]:
    """The signal that ended a process of its own, or 0, and its exit code."""
    process = os.fork()
    if process == 0:
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    _, status = os.waitpid(process, 0)
    return (os.WTERMSIG(status), 0) if os.WIFSIGNALED(status) else (0, os.WEXITSTATUS(status))


def main(place: str, most: str, *words: str) -> None:
    folder = Path(place).resolve()
    told, sys.stdout = sys.stdout, sys.stderr
    changes = Changes()

    def copied(start: str, name: str) -> Path:
        return Path(shutil.copytree(folder / start, folder / name, symlinks=True))

    def killed(at: Path, last: int | None) -> int:
        os.chdir(at)
        changes.begin(last)
        return given(at, words)

    found: list[tuple[int, str, int, int]] = [(0, "", 0, killed(copied("start", "whole"), None))]
    seen = changes.seen
    points = range(1, len(seen) + 1)
    if len(seen) > int(most):
        points = sorted({1 + round(number * (len(seen) - 1) / (int(most) - 1)) for number in range(int(most))})
    for point in points:
        again = copied("start", f"again-{point}")
        ended, _ = forked(partial(killed, again, point))
        copied(again.name, f"killed-{point}")
        found.append((point, seen[point - 1], ended, forked(partial(given, again, words))[1]))
    json.dump(found, told)


if __name__ == "__main__":
    main(*sys.argv[1:])
