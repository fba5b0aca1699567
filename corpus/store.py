"""The corpus folder: tests on disk, in a form that other runners read (docs/corpus.md).

    manifest.json   what was asked, complete or not, models, counts
    tests.jsonl     one test a line
    labels.csv      name and one verdict a model
    times.json      everything that may differ from one run to the next; nothing else does
    journal.jsonl   only while the corpus is not complete: what has been found so far

A synthesis writes to the journal alone, append-only, and each append is on the disk before it returns. The other
files are derived from it and replaced atomically, ``tests.jsonl`` before ``manifest.json``; where they exist they are
whole. So a run stopped at any instant leaves a corpus that opens and that can go on where it was. A resumed run removes
the derived files first, for they are out of date from its first append on.

Assumption: a file system where renaming over a file is atomic and ``flock`` works.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from corpus.errors import InputError
from corpus.files import open_bytes, temporary_name, write_atomically
from corpus.records import RecordReader, compact, test_record
from corpus.test import Test

FORMAT = 1
"""Version of the corpus format, ``format`` in the manifest. It grows when a reader of the old format would fail."""

MANIFEST = "manifest.json"
TESTS = "tests.jsonl"
LABELS = "labels.csv"
TIMES = "times.json"
JOURNAL = "journal.jsonl"

_REPAIR = "synth progress --resume repairs the corpus"


@dataclass(frozen=True, slots=True)
class Corpus:
    """An opened corpus: its folder, its manifest and its tests in the order of their names."""

    path: Path
    manifest: dict[str, Any]
    tests: list[Test]


@dataclass(frozen=True, slots=True)
class Found:
    """What one solution of a solver gave.

    ``program`` is the solution as text, blocked again on resume. ``tests`` are the tests that came of it, each with
    the key it is sorted by and its record with an empty name; there are none where a filter dropped them.
    """

    program: str
    tests: tuple[tuple[str, str], ...] = ()


# Reading


def is_corpus(path: Path) -> bool:
    """Whether a folder is a corpus, finished or not."""
    return (path / MANIFEST).is_file() or (path / JOURNAL).is_file()


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a corpus. Raises ``InputError`` where there is none or it cannot be read."""
    if not path.exists():
        raise InputError("no such folder", str(path))
    if not is_corpus(path):
        raise InputError("no corpus here: it has neither a manifest.json nor a journal.jsonl", str(path))
    file = path / MANIFEST
    if not file.is_file():  # stopped before the first manifest was written
        return _first_manifest({})
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", str(file)) from None
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", str(file), error.lineno, error.colno) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", str(file)) from None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
        raise InputError("not the manifest of a corpus: it has no format number", str(file))
    if manifest["format"] > FORMAT:
        raise InputError(f"format {manifest['format']} is newer than this synth, which reads {FORMAT}", str(file))
    for key, kind in {"request": dict, "models": list, "counts": dict}.items():
        value = manifest.get(key, kind())
        if not isinstance(value, kind) or (kind is list and not all(isinstance(name, str) for name in value)):
            raise InputError(f"not the manifest of a corpus: '{key}' is not as it should be", str(file))
    return manifest


def read_corpus(path: Path) -> Corpus:
    """A corpus and its tests; of one that is not finished, the tests found so far.

    Raises ``InputError`` with file and line where something in it cannot be read. Nothing is changed or deleted.
    """
    manifest = read_manifest(path)
    if manifest.get("request", {}).get("kind") == "memory":
        raise InputError("a suite of memory tests, where a corpus of progress tests is expected", str(path))
    models = manifest.get("models", [])
    if (path / TESTS).is_file() or not (path / JOURNAL).is_file():
        tests = list(_read_tests(path / TESTS, models))
        promised = manifest.get("counts", {}).get("tests", len(tests))
        if len(tests) != promised:
            raise InputError(
                f"{len(tests)} tests, all intact, where the manifest promises {promised}; {_REPAIR}", str(path / TESTS)
            )
        return Corpus(path, manifest, tests)
    with open_bytes(path / JOURNAL) as file:
        return Corpus(path, manifest, _name(_gather(_read_journal(file, path / JOURNAL), models)))


def is_complete(path: Path) -> bool:
    """Whether a folder is a complete corpus, every test of which can be read."""
    try:
        if read_manifest(path).get("complete") is not True:
            return False
        read_corpus(path)
    except InputError:
        return False
    return True


def _read_tests(path: Path, models: Sequence[str]) -> Iterator[Test]:
    reader = RecordReader(models)
    intact = 0
    with open_bytes(path) as file:
        for line in file:
            try:
                if not line.endswith(b"\n"):
                    raise ValueError
                test = reader.test(json.loads(line))
            except ValueError:
                what = "not a test record" if line.endswith(b"\n") else "the line is cut off"
                raise InputError(
                    f"{what}; the {intact} tests before it are intact; {_REPAIR}",
                    str(path),
                    intact + 1,
                ) from None
            intact += 1
            yield test


# Writing


def write_corpus(
    path: Path, tests: Sequence[Test], manifest: Mapping[str, Any], times: Mapping[str, Any] | None = None
) -> None:
    """Write tests, named and sorted already, as a corpus into an existing folder.

    ``format`` and ``counts`` are added to the manifest; its ``models`` give the columns of the labels. Raises
    ``InputError`` where a file cannot be written; files that were there are then as before.
    """
    given = list(manifest.get("models", []))
    models = given + [
        model for model in dict.fromkeys(m for test in tests for m in test.verdicts) if model not in given
    ]
    bounds = Counter(test.bound for test in tests)
    whole: dict[str, Any] = {"format": FORMAT, **manifest, "models": models}
    whole["counts"] = {"tests": len(tests), "bounds": {bound: bounds[bound] for bound in sorted(bounds)}}
    write_atomically(path / TESTS, (test_record(test) + "\n" for test in tests))
    write_atomically(path / LABELS, _labels(tests, models))
    write_atomically(path / TIMES, [pretty(times or {})])
    write_atomically(path / MANIFEST, [pretty(whole)])


def _labels(tests: Sequence[Test], models: Sequence[str]) -> Iterator[str]:
    yield ",".join(["name", *models]) + "\n"
    for test in tests:
        yield ",".join([test.name, *(test.verdicts.get(model, "") for model in models)]) + "\n"


def pretty(value: Mapping[str, Any]) -> str:
    """JSON for people, as manifests are written."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


# The journal of a running synthesis


@dataclass
class Journal:
    """The append-only record of a synthesis; made by ``create`` or ``resume``, used as a context manager.

    ``units`` holds what an earlier run had found when this one resumed, by unit of work, and ``closed`` the statistics
    of units that are done. The first line of the file is the request; each further line is one ``Found`` of a unit, or
    closes a unit. Only one process can hold a journal.
    """

    path: Path
    request: dict[str, Any]
    units: dict[str, list[Found]] = field(default_factory=dict)
    closed: dict[str, dict[str, Any]] = field(default_factory=dict)
    _file: io.FileIO = field(kw_only=True, repr=False)

    @classmethod
    def create(cls, path: Path, request: Mapping[str, Any]) -> Journal:
        """Start a corpus in a new or empty folder.

        ``request`` is JSON data: what was asked, without what does not change the answer. Its ``models``, if any, is
        the list of model names. Raises ``InputError`` where the folder is not empty or cannot be made.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                unfinished = is_corpus(path) and not read_manifest(path).get("complete")
                hint = "; --resume goes on with it" if unfinished else ""
                raise InputError(f"the folder exists and is not empty{hint}", str(path))
            # Exclusive: of two runs that both saw an empty folder, one stops here.
            file = _hold(path / JOURNAL, os.O_CREAT | os.O_EXCL)
        except OSError as error:
            raise InputError(f"cannot create a corpus here: {error.strerror}", str(path)) from None
        return cls(path, _plain(request), _file=file)._start()

    @classmethod
    def resume(cls, path: Path, request: Mapping[str, Any], is_whole: Callable[[Path], bool] = is_complete) -> Journal:
        """Go on with a corpus that an earlier run left.

        A last line that was cut off is dropped. A corpus that was complete but is damaged has no journal any more and
        starts from nothing. Raises ``InputError`` where there is no corpus, where another request made it, where
        another process is at work on it, and where ``is_whole`` says that there is nothing left to do.
        """
        asked = _plain(request)
        manifest = read_manifest(path)
        if "request" in manifest:
            _check_same(manifest["request"], asked, path)
        if is_whole(path):
            raise InputError("the corpus is complete; there is nothing to resume", str(path))
        try:
            file = _hold(path / JOURNAL, os.O_CREAT)
        except OSError as error:
            raise InputError(f"cannot resume: {error.strerror}", str(path)) from None
        journal = cls(path, asked, _file=file)
        try:
            journal._reload()
        except BaseException:
            file.close()
            raise
        for stale in (path / TESTS, path / LABELS, path / TIMES, *path.glob(temporary_name("*", "*"))):
            stale.unlink(missing_ok=True)
        return journal._start() if file.tell() == 0 else journal

    def append(self, unit: str, founds: Sequence[Found]) -> None:
        """Record what a unit of work found; on the disk on return. Raises ``InputError`` where it cannot be written."""
        name = compact(unit)
        self._write("".join(f'{{"unit":{name},"program":{compact(f.program)},"tests":{_tests(f)}}}\n' for f in founds))

    def close_unit(self, unit: str, statistics: Mapping[str, Any]) -> None:
        """Record that a unit of work is complete. Raises ``InputError`` where it cannot be written."""
        self._write(compact({"unit": unit, "closed": dict(statistics)}) + "\n")
        self.closed[unit] = _plain(statistics)

    def close(self) -> None:
        """Let go of the file; the corpus can then be resumed by another process."""
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> Journal:
        self._write(compact({"format": FORMAT, "request": self.request}) + "\n")
        write_atomically(self.path / MANIFEST, [pretty(_first_manifest(self.request))])
        return self

    def _reload(self) -> None:
        with open_bytes(self.path / JOURNAL) as lines:
            kept = 0
            for end, entry in _read_journal(lines, self.path / JOURNAL):
                kept = end
                if "request" in entry:
                    _check_same(entry["request"], self.request, self.path)
                elif "closed" in entry:
                    self.closed[entry["unit"]] = entry["closed"]
                else:
                    tests = tuple((key, compact(record)) for key, record in entry["tests"])
                    self.units.setdefault(entry["unit"], []).append(Found(entry["program"], tests))
        os.ftruncate(self._file.fileno(), kept)
        self._file.seek(kept)

    def _write(self, text: str) -> None:
        start = self._file.tell()
        data = memoryview(text.encode())
        try:
            while data:  # a write to a file that is nearly full may be a short one
                data = data[self._file.write(data) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):
                self._file.seek(start)
                os.ftruncate(self._file.fileno(), start)
            raise InputError(
                f"cannot write: {error.strerror}; what was found before is kept, --resume goes on with it",
                str(self.path / JOURNAL),
            ) from None


def finish(
    journal: Journal,
    manifest: Mapping[str, Any],
    times: Mapping[str, Any],
    select: Callable[[list[Test]], list[Test]] | None = None,
) -> int:
    """Turn a journal into the corpus it stands for, and give the number of its tests.

    Tests are sorted by their keys, of tests with the same digest the first is kept, ``select`` may drop or replace
    some, and what is left is named ``<bound>-<rank within the bound>``. ``manifest`` says ``complete``; where that is
    true the journal is closed and removed, else it stays for a later run. Raises ``InputError`` where a file cannot be
    written; the journal is then still there.
    """
    request = journal.request
    whole = {"complete": False, "request": request, "models": request.get("models", []), **manifest}
    path = journal.path / JOURNAL
    with open_bytes(path) as file:
        tests = _gather(_read_journal(file, path), whole["models"])
    tests = _name(select(tests) if select else tests)
    write_corpus(journal.path, tests, whole, times)
    if whole["complete"]:
        journal.close()
        path.unlink()
    return len(tests)


def _first_manifest(request: Mapping[str, Any]) -> dict[str, Any]:
    manifest: dict[str, Any] = {"format": FORMAT, "complete": False}
    return manifest | {"request": request, "models": request.get("models", [])} if request else manifest


def _tests(found: Found) -> str:
    return "[" + ",".join(f"[{compact(key)},{record}]" for key, record in found.tests) + "]"


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping as it comes back from JSON, so that it can be compared with one that was read."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(value)))
    return plain


def _hold(path: Path, flags: int) -> io.FileIO:
    """Open a journal for writing and lock it against other processes. Raises ``OSError``, or ``InputError`` if held."""
    file = io.FileIO(os.open(path, os.O_RDWR | os.O_CLOEXEC | flags, 0o666), "r+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise InputError("another process is at work on this corpus", str(path.parent)) from None
    return file


def _check_same(before: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> None:
    for key in sorted({*before, *now}):
        if before.get(key) != now.get(key):
            raise InputError(
                f"the corpus was made with another {key}: {compact(before.get(key))} then, {compact(now.get(key))} now",
                str(path),
            )


def _read_journal(file: IO[bytes], path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every line of a journal with the offset of its end; a last line that was cut off is left out.

    Raises ``InputError`` where a line before the last is not a journal's.
    """
    end = 0
    bad: int | None = None
    for number, line in enumerate(file, 1):
        if bad is not None:
            raise InputError("not a line of a journal", str(path), bad)
        try:
            if not line.endswith(b"\n"):
                raise ValueError
            entry = json.loads(line)
            if not isinstance(entry, dict) or not ("request" in entry or "closed" in entry or "tests" in entry):
                raise ValueError
        except ValueError:
            bad = number
            continue
        end += len(line)
        yield end, entry


def _gather(entries: Iterable[tuple[int, dict[str, Any]]], models: Sequence[str]) -> list[Test]:
    """The tests of a journal, sorted by key, without duplicates."""
    reader = RecordReader(models)
    keyed = [(key, reader.test(record)) for _, entry in entries for key, record in entry.get("tests", ())]
    keyed.sort(key=lambda pair: (pair[0], pair[1].digest))
    unique: dict[str, Test] = {}
    for _, test in keyed:
        unique.setdefault(test.digest, test)
    return list(unique.values())


def _name(tests: list[Test]) -> list[Test]:
    """The tests named by bound and rank."""
    bounds = [test.bound for test in tests]
    totals = Counter(bounds)
    ranks: Counter[str] = Counter()
    named = []
    for test, bound in zip(tests, bounds, strict=True):
        ranks[bound] += 1
        width = max(4, len(str(totals[bound])))
        named.append(replace(test, name=f"{bound}-{ranks[bound]:0{width}}"))
    return named
