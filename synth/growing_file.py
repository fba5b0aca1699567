"""A file of answers that is written for hours. It grows by whole lines, in the order of what was asked, as they come.

In whatever way a run ends, the file holds a beginning of its full content, and a later run goes on after that.
``FILE.request.json`` beside it states what was asked, with digests of the models and of what was read.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, TypeVar

from corpus.errors import InputError
from corpus.files import bounded_lines, open_bytes, read_text, write_atomically
from synth.pool import resumable

Group = TypeVar("Group")

REQUEST = ".request.json"
"""The end of the name of the file with the request."""


class WholeLines:
    """The whole lines of a file, without what is behind the last one.

    ``end`` is the offset of the end of the last line that was taken, and ``number`` its number in the file.
    """

    def __init__(self, file: IO[bytes], number: int) -> None:
        self._lines = bounded_lines(file)
        self.end, self.number = file.tell(), number

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        data = next(self._lines)
        if not data.endswith(b"\n"):
            raise StopIteration
        self.end += len(data)
        self.number += 1
        return data.decode("utf-8", "surrogateescape")


def begun(
    path: Path,
    request: Mapping[str, Any],
    header: str,
    read: Callable[[WholeLines], Iterator[tuple[Group, int]]],
    expected: str,
) -> list[Group]:
    """Return what ``read`` makes of the lines that the file of an equal request has behind its header; what follows the
    last of it is cut off. If there is no such file, create it with its request, and return nothing.

    ``read`` yields each thing that is whole with the offset of its end, and raises ``ValueError`` or the like where a
    line is not ``expected``. Raises ``InputError`` there, and if the file is another request's or cannot be made.
    """
    if not (path.exists() or path.is_symlink() or _request(path).exists()):
        write_atomically(_request(path), [f"{json.dumps(request, indent=1)}\n"])
        write_atomically(path, [header])
        return []
    if path.is_symlink():
        raise InputError("a link, and nothing is written elsewhere", str(path))
    _check_request(path, request)
    if not path.exists():  # an earlier run ended between writing the two files
        write_atomically(path, [header])
    with open_bytes(path) as file:
        start = file.read(len(header))
        if not header.encode().startswith(start):
            raise InputError(f"expected {header.strip()}", str(path), 1, 1)
        lines = WholeLines(file, header.count("\n"))
        try:
            known = list(read(lines))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, csv.Error):
            raise InputError(f"expected {expected}", str(path), lines.number, 1) from None
    if len(start) < len(header):
        write_atomically(path, [header])
    end = known[-1][1] if known else len(header)
    try:
        with path.open("r+b") as file:
            file.truncate(end)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", str(path)) from None
    return [record for record, _ in known]


def digest_of(read: Iterable[tuple[str, str]]) -> str:
    """Return a digest of names and texts, in their order."""
    digest = sha256()
    for name, text in read:
        digest.update(f"{json.dumps([name, text])}\n".encode())
    return digest.hexdigest()


@contextmanager
def growing(path: Path) -> Iterator[IO[str]]:
    """Open the file to add lines; an error that ends the block says that the same command goes on."""
    with path.open("a", encoding="utf-8", errors="surrogateescape", newline="") as out, resumable():
        yield out


def _request(path: Path) -> Path:
    return path.with_name(path.name + REQUEST)


def _check_request(path: Path, request: Mapping[str, Any]) -> None:
    if not _request(path).exists():
        raise InputError(f"the file exists, and no {_request(path).name} is beside it to go on with", str(path))
    try:
        before = json.loads(read_text(_request(path)))
        models = dict(before["models"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError("not the request of such a file", str(_request(path))) from None
    for key, now in json.loads(json.dumps(request)).items():
        then = before.get(key)
        if then == now:
            continue
        if key in ("tests", "files"):
            what = f"the {key} have changed since"
        elif key == "models" and list(models) == list(now):
            changed = [name for name in now if models[name] != now[name]]
            what = f"{', '.join(changed)} {'have' if len(changed) > 1 else 'has'} changed since"
        elif key == "models":
            what = f"other models, {', '.join(models)}, were asked"
        else:
            what = f"it was begun with another {key}, {json.dumps(then)}"
        raise InputError(f"cannot go on: {what}; write into another file", str(path))
