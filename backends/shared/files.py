"""Writes the files of tests, under names that cannot leave their folder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from corpus.errors import InputError
from corpus.files import folder_of, write_atomically
from corpus.test import Test


def file_stem(name: str) -> str:
    """Return a safe file name for a test: letters, digits and ``. _ + -``, at most 100, not starting with a dot or a
    dash.

    A name that is safe stays as it is; any other gets a piece of its hash, so that different names stay different.
    """
    safe = re.sub(r"[^A-Za-z0-9._+-]", "_", name)[:80].lstrip(".-")
    if safe == name and safe:
        return name
    return "-".join(filter(None, [safe, hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]]))


def distinct(tests: Iterable[Test]) -> list[Test]:
    """Return the tests without repeats. Raises ``InputError`` where two different tests would have one file name."""
    stems: dict[str, Test] = {}
    for test in tests:
        other = stems.setdefault(file_stem(test.name).lower(), test)  # some file systems fold case
        if (other.name, other.digest) != (test.name, test.digest):
            raise InputError(f"two tests share a file name: '{other.name}' ({other.digest}) and '{test.name}'")
    return list(stems.values())


def shipped(package: str, host: str) -> str:
    """Return the text of a host in Python, for people who take tests elsewhere, with what it imports of ours in its
    place.
    """
    ours = (folder_of("backends.shared") / "hosting.py").read_text("utf-8").partition("annotations\n")[2].strip()
    text = (folder_of(package) / host).read_text("utf-8")
    before, after = text.split("from backends.shared import hosting as host\n")
    return before + ours + "\n" + re.sub(r"\bhost\.(?=\w)", "", after)


def write_files(folder: Path, files: Mapping[str, str], durable: bool = True) -> None:
    """Write each text to its name in ``folder``, which is made if need be; each file appears whole or not at all.

    They are on the disk on return, unless they need not be ``durable``; then ``os.sync`` is for whoever has written the
    last of many. Raises ``InputError`` where the folder cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create: {error.strerror}", str(folder)) from None
    for name, text in sorted(files.items()):
        write_atomically(folder / name, [text], durable)
