"""A file of labels that is written for hours. It grows by whole lines, in the order of the tests, as the labels come.

In whatever way a run ends, the file holds a beginning of its full content, and a later run goes on after that.
``FILE.request.json`` beside it states the request of the verdicts, with digests of the models and of the tests.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

from corpus.comma_separated import cells
from corpus.errors import InputError, visible
from corpus.files import open_bytes, read_text, write_atomically
from synth.labels import CSV, ERROR, Labelling, Labels, ModelAnswer, header_of

REQUEST = ".request.json"
"""The end of the name of the file with the request."""


def begin(path: Path, request: Mapping[str, Any], labelling: Labelling, form: str) -> None:
    """Create the file and its request. Raises ``InputError`` where the file is there already, or cannot be made."""
    if path.exists():
        raise InputError("the file exists; --resume goes on with it", str(path))
    write_atomically(_request(path), [f"{json.dumps(request, indent=1)}\n"])
    write_atomically(path, [header_of(labelling, form)])


def resume(
    path: Path, request: Mapping[str, Any], labelling: Labelling, form: str, files: Sequence[str]
) -> list[Labels]:
    """Return the labels in a file, which are of the first so many of ``files``; what follows the last whole one is cut
    off.

    Of each label only whether it has a verdict is known. Raises ``InputError`` where the file belongs to another
    request, or is no file of labels.
    """
    _check_request(path, request)
    header = header_of(labelling, form)
    if not path.exists():  # an earlier run ended between writing the two files
        write_atomically(path, [header])
    with open_bytes(path) as file:
        start = file.read(len(header))
        if header.encode().startswith(start):
            known = list(_read(path, file, labelling, form, files))
        else:
            raise InputError(f"expected {header.strip()}", str(path), 1, 1)
    if len(start) < len(header):
        write_atomically(path, [header])
    end = known[-1][1] if known else len(header)
    try:
        with path.open("r+b") as file:
            file.truncate(end)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", str(path)) from None
    return [labels for labels, _ in known]


def _request(path: Path) -> Path:
    return path.with_name(path.name + REQUEST)


def _check_request(path: Path, request: Mapping[str, Any]) -> None:
    if not _request(path).exists():
        raise InputError(f"nothing to resume: there is no {_request(path).name} beside it", str(path))
    try:
        before = json.loads(read_text(_request(path)))
        models = dict(before["models"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError("not the request of a file of labels", str(_request(path))) from None
    for key, now in request.items():
        then = before.get(key)
        if then == now:
            continue
        if key == "tests":
            what = "the tests have changed since"
        elif key == "models" and list(models) == list(now):
            changed = [name for name in now if models[name] != now[name]]
            what = f"{', '.join(changed)} {'have' if len(changed) > 1 else 'has'} changed since"
        elif key == "models":
            what = f"other models, {', '.join(models)}, were asked"
        else:
            what = f"it was begun with another {key}, {json.dumps(then)}"
        raise InputError(f"cannot go on: {what}; label into another file", str(path))


def _read(
    path: Path, file: IO[bytes], labelling: Labelling, form: str, files: Sequence[str]
) -> Iterator[tuple[Labels, int]]:
    """Yield the labels of each test that is whole, and the offset of the end of its lines."""
    offset, line = file.tell(), 1 if form == CSV else 0

    def lines() -> Iterator[str]:
        nonlocal offset, line
        for data in file:
            if not data.endswith(b"\n"):
                return
            offset += len(data)
            line += 1
            yield data.decode("utf-8", "surrogateescape")

    try:
        if form == CSV:
            rows = csv.reader(lines())
            for name in files:
                group = list(islice(rows, len(labelling.names)))
                if len(group) < len(labelling.names):
                    return
                if [cells(row[:2]) for row in group] != [[visible(name), visible(model)] for model in labelling.names]:
                    raise ValueError
                yield _restored(name, [(row[2], "") for row in group]), offset
        else:
            for name, text in zip(files, lines(), strict=False):
                record = json.loads(text)
                if record["file"] != name:
                    raise ValueError
                said = [record["verdicts"][model] for model in labelling.names] if "verdicts" in record else []
                pairs = [(one, "") if isinstance(one, str) else (one["verdict"], one.get("reason", "")) for one in said]
                yield _restored(name, pairs, record.get("error", "")), offset
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, csv.Error):
        raise InputError("expected the verdicts of the tests in their order", str(path), line, 1) from None


def _restored(file: str, said: Sequence[tuple[str, str]], error: str = "") -> Labels:
    if any(verdict == ERROR for verdict, _ in said):
        error = f"{file}: no test, as an earlier run found"
    return Labels(file, tuple(ModelAnswer(verdict, reason) for verdict, reason in said), error=error)
