"""Reads and writes a corpus, which is a folder of tests of one family. Its form is one that other runners read
(docs/corpus.md).

    manifest.json   what was asked, complete or not, models, counts
    tests.jsonl     one test a line
    labels.csv      name and one verdict a model
    times.json      everything that may differ from one run to the next; nothing else does
    journal.jsonl   only while the corpus is not complete: what has been found so far (``corpus.journal``)
    results.jsonl   results of runs, where there are any

Files are replaced atomically, ``tests.jsonl`` before ``manifest.json``, so that a folder opens at every moment.

Assumption: a file system where renaming over a file is atomic.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from corpus.comma_separated import csv_cell, csv_line
from corpus.errors import InputError
from corpus.files import bounded_lines, open_bytes, read_bytes, write_atomically
from corpus.records import Line, line_of, record_reader
from corpus.test import Test

FORMAT = 2
"""Version of the corpus format, ``format`` in the manifest. It grows when a reader of the old format would fail."""

MANIFEST = "manifest.json"
TESTS = "tests.jsonl"
LABELS = "labels.csv"
TIMES = "times.json"
JOURNAL = "journal.jsonl"

_NAME = re.compile(r"[^\s\x00-\x20\x7f]+")


@dataclass(frozen=True, slots=True)
class Corpus:
    """An opened corpus: its folder, its manifest and its tests in their order."""

    path: Path
    manifest: dict[str, Any]
    tests: list[Test]

    @property
    def models(self) -> list[str]:
        """The names of the models that the corpus is labelled under, in their order."""
        return list(self.manifest.get("models", []))

    @property
    def complete(self) -> bool:
        """A corpus is complete where no test of what was asked for is missing."""
        return self.manifest.get("complete") is True

    @property
    def state(self) -> str:
        """The state of the corpus in words: complete, or why it is not and how to go on."""
        if self.complete:
            return "complete"
        stopped = self.manifest.get("stopped") or ("" if "counts" in self.manifest else "the run did not end")
        return f"not complete: {stopped}; the same command goes on" if stopped else "not complete"


class _Counts(msgspec.Struct):
    tests: Annotated[int, msgspec.Meta(ge=0, le=2**40)] | None = None
    bounds: dict[str, int] = {}


class _Manifest(msgspec.Struct):
    """What every manifest has; other keys say how the corpus came to be."""

    format: Annotated[int, msgspec.Meta(ge=FORMAT)]
    complete: bool = False
    request: dict[str, Any] = {}
    models: list[str] = []
    counts: _Counts = msgspec.field(default_factory=_Counts)


def is_corpus(path: Path) -> bool:
    """Decide whether a folder is a corpus, finished or not."""
    return (path / MANIFEST).is_file() or (path / JOURNAL).is_file()


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a corpus. Raises ``InputError`` where there is none or it cannot be read."""
    if not path.exists():
        raise InputError("no such folder", str(path))
    if not is_corpus(path):
        raise InputError("no corpus here: it has neither a manifest.json nor a journal.jsonl", str(path))
    file = path / MANIFEST
    if not file.is_file():  # stopped before the first manifest was written
        return first_manifest({})
    data = read_bytes(file)
    try:
        manifest = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise _not_json(data, file) from None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
        raise InputError("not the manifest of a corpus: it has no format number", str(file))
    if manifest["format"] > FORMAT:
        raise InputError(f"format {manifest['format']} is newer than this synth, which reads {FORMAT}", str(file))
    try:
        msgspec.convert(manifest, _Manifest)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        key = re.split(r"[^\w]", where)[0] or "format"
        message = f"not the manifest of a corpus: '{key}' is not as it should be: {what.lower()}"
        raise InputError(message, str(file)) from None
    models = manifest.get("models", [])
    if len(set(models)) < len(models):
        raise InputError("not the manifest of a corpus: 'models' is not as it should be: one is there twice", str(file))
    return manifest


def _not_json(data: bytes, file: Path) -> InputError:
    try:
        json.loads(data)  # it says line and column
    except json.JSONDecodeError as error:
        return InputError(f"not JSON: {error.msg}", str(file), error.lineno, error.colno)
    except (ValueError, RecursionError):  # not UTF-8, a number of thousands of digits, brackets without end
        pass
    return InputError("not the manifest of a corpus: it cannot be read as JSON", str(file))


def first_manifest(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest of a corpus that a search has just begun to fill."""
    manifest: dict[str, Any] = {"format": FORMAT, "complete": False}
    return manifest | {"request": request, "models": request.get("models", [])} if request else manifest


def repair_hint(manifest: Mapping[str, Any]) -> str:
    """Return how a damaged corpus is repaired: by the command that made it."""
    request = manifest.get("request", {})
    kind = request.get("kind")
    command = "map" if "mapping" in request else kind if kind in ("memory", "select") else "progress"
    return f"the same synth {command} repairs the corpus" if command != "select" else "make the selection anew"


def read_tests(path: Path, manifest: Mapping[str, Any]) -> list[Test]:
    """Return the tests of ``tests.jsonl`` in a folder. Raises ``InputError`` where a line is damaged or one is
    missing.
    """
    file, repair = path / TESTS, repair_hint(manifest)
    tests = list(_read_lines(file, manifest.get("models", []), repair))
    promised = manifest.get("counts", {}).get("tests", len(tests))
    if len(tests) != promised:
        raise InputError(f"{len(tests)} tests, all intact, where the manifest promises {promised}; {repair}", str(file))
    return tests


def _read_lines(path: Path, models: Sequence[str], repair: str) -> Iterator[Test]:
    read = record_reader(models)
    intact = 0
    with open_bytes(path) as file:
        for line in bounded_lines(file):
            try:
                if not line.endswith(b"\n"):
                    raise ValueError
                test = read(line)
            except ValueError:
                what = "not a test record" if line.endswith(b"\n") else "the line is cut off"
                raise InputError(
                    f"{what}; the {intact} tests before it are intact; {repair}", str(path), intact + 1
                ) from None
            if not _NAME.fullmatch(test.name):
                raise InputError(f"expected a name without spaces, found {test.name[:40]!r}", str(path), intact + 1)
            intact += 1
            yield test


def write_corpus(
    path: Path, tests: Iterable[Test], manifest: Mapping[str, Any], times: Mapping[str, Any] | None = None
) -> int:
    """Write tests, named and sorted already, as a corpus into an existing folder, and return their number.

    ``format`` and ``counts`` are added to the manifest, to the counts that it has; its ``models`` give the columns of
    the labels. Raises ``InputError`` where a file cannot be written; files that were there are then as before.
    """
    return write_lines(path, map(line_of, tests), manifest, times)


def write_lines(
    path: Path, lines: Iterable[Line], manifest: Mapping[str, Any], times: Mapping[str, Any] | None = None
) -> int:
    """Write tests that are lines of JSON already, named and sorted, as a corpus into an existing folder, and return
    their number. ``format`` and ``counts`` are added to the manifest, to the counts that it has. Raises ``InputError``
    where a file cannot be written; files that were there are then as before.
    """
    # Of each test only that is kept of it.
    names: list[str] = []
    labels: list[Mapping[str, str]] = []
    within: list[str] = []

    def records() -> Iterator[bytes]:
        for line in lines:
            names.append(line.name)
            labels.append(line.verdicts)
            within.append(line.bound)
            yield line.record

    write_atomically(path / TESTS, records())
    vectors = {id(verdicts): verdicts for verdicts in labels}.values()  # few: tests of one share the mapping
    models = list(dict.fromkeys([*manifest.get("models", []), *(model for vector in vectors for model in vector)]))
    write_atomically(path / LABELS, label_lines(zip(names, labels, strict=True), models))
    write_atomically(path / TIMES, [pretty(times or {})])
    write_atomically(path / MANIFEST, [pretty(completed(manifest, models, within))])
    return len(names)


def completed(manifest: Mapping[str, Any], models: Sequence[str], bounds: Iterable[str]) -> dict[str, Any]:
    """Return the manifest of tests of these bounds that are labelled under these models, with what it says besides."""
    tests = Counter(bounds)
    counts = {"tests": tests.total(), "bounds": {bound: tests[bound] for bound in sorted(tests)}}
    return {"format": FORMAT, **manifest, "models": list(models), "counts": {**manifest.get("counts", {}), **counts}}


def label_lines(tests: Iterable[tuple[str, Mapping[str, str]]], models: Sequence[str]) -> Iterator[str]:
    """Return ``labels.csv``, line by line: the names of tests and their verdicts, a column for each model."""
    yield csv_line(["name", *models])
    rows: dict[int, str] = {}  # tests of one verdict vector share the mapping
    for name, verdicts in tests:
        row = rows.get(id(verdicts))
        if row is None:
            row = rows[id(verdicts)] = csv_line(["x", *(verdicts.get(model, "") for model in models)])[1:]
        yield csv_cell(name) + row


def pretty(value: Mapping[str, Any]) -> str:
    """Return JSON for people, as manifests are written."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
