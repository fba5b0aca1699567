"""Hands files to compilers and other tools: copies with names of our own, in a private folder that the tool works in.

No name that a user, an archive or a variable gave is on the command line of a tool. Such a name may begin with ``-`` or
``@``, which is an option or a file of options; or have what a shell obeys, and nvcc and hipcc hand their words, and the
folder that they work in, to a shell. What the tool then says is told with the names that the user knows.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path

from backends.shared.inclusions import FileCopy, copies, copy_name, including
from backends.shared.toolchain import TIMEOUT, Compilation, run
from corpus.errors import InputError
from corpus.files import read_bytes
from corpus.private import private_folder

_OBEYED = re.compile(r"""[$`"'\\;|&<>()*?\[\]{}!~#\x00-\x1f\x7f]""")
"""What a shell may obey in a word."""


class Blank(Enum):
    """What stands in a command line for the file that is handed, what is made of it, and the user's options."""

    SOURCE = auto()
    MADE = auto()
    OPTIONS = auto()


SOURCE, MADE, OPTIONS = Blank
Word = str | Path | Blank


def handed(
    file: Path,
    command: Sequence[Word],
    made: Path | None = None,
    *,
    options: Sequence[str] = (),
    includes: bool = False,
    timeout: float = TIMEOUT,
    environment: Mapping[str, str] | None = None,
    title: str | None = None,
    data: bytes | None = None,
) -> Compilation:
    """Run a compiler on a copy of a file, and put what it makes at ``made``, if that is given.

    ``includes``: the file is somebody's own, and may include others. ``data``: what the copy has, where that is not
    what the file has; its lines are those of the file. Raises ``FileNotFoundError`` where the compiler is
    not there, and ``InputError`` where the file, or one that it includes, cannot be read.
    """
    if includes:
        user = including(options)
        files = copies(file, user.folders, user.files)
        words = user.handed(files)
    else:
        files, words = [FileCopy(copy_name(0, file), file, read_bytes(file) if data is None else data)], list(options)
    target = "synth-made" + (Path(copy_name(0, made)).suffix if made else "")
    with private_folder("tool") as folder:
        for copy in files:
            (folder / copy.name).write_bytes(copy.data)
        filled = {SOURCE: [files[0].name], MADE: [target], OPTIONS: words}
        line = [word for blank in command for word in (filled[blank] if isinstance(blank, Blank) else [blank])]
        done = run(file, line, folder, timeout, environment, title)
        if done.ok and made is not None and (folder / target).is_file():
            made.unlink(missing_ok=True)
            shutil.move(folder / target, made)
        names = {copy.name: str(copy.path) for copy in files}
        output = _with_own_names(done.output, folder, names)
        beside = ("", "./", f"{folder}/", f"{folder}/./")
        names = {f"{before}{name}": path for name, path in names.items() for before in beside}
    return replace(done, output=output, names=names)


def _with_own_names(output: str, folder: Path, names: Mapping[str, str]) -> str:
    """Return what a tool printed, with the names that the user knows files by."""
    output = output.replace(f"{folder}/", "")
    return re.sub(r"(?<![\w./-])(?:\./)?(synth-\d+(?:\.\w+)?)", lambda found: names.get(found[1], found[0]), output)


def check_shell(*words: str | Path) -> None:
    """Check words of our own that a tool hands to a shell: the paths where it and its headers are installed.

    Raises ``InputError``.
    """
    for word in words:
        if found := _OBEYED.search(str(word)):
            raise InputError(f"a shell would read its name, for it has {found[0]!r}: install it elsewhere", str(word))
