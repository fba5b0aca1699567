"""Keeps the journal of a running synthesis, and makes the corpus of it. ``read_corpus`` opens either.

A synthesis writes to ``journal.jsonl`` alone, append-only, and each append is on the disk before it returns. The other
files are derived from it. So a run that is stopped at any instant leaves a corpus that opens and that can go on where
it was. A resumed run first takes back what the manifest promised, then removes the derived files, for they are out of
date from its first append on.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from corpus.certificates import remove_certificate
from corpus.errors import InputError
from corpus.files import open_bytes, write_atomically
from corpus.lines import LineFile, decoder, encode, whole_lines
from corpus.private import temporary_name
from corpus.records import Line, line_of, line_reader, record_reader
from corpus.suite import (
    FORMAT,
    JOURNAL,
    LABELS,
    MANIFEST,
    TESTS,
    TIMES,
    Corpus,
    first_manifest,
    is_corpus,
    pretty,
    read_manifest,
    read_tests,
    write_lines,
)
from corpus.test import Test


class FoundTest(msgspec.Struct, frozen=True, gc=False):  # processes send hundreds of thousands to each other
    """The record of one solution of a solver.

    ``program`` is the solution as text, blocked again on resume. ``tests`` are the tests that came of it, each with the
    key it is sorted by and its record; there are none where a filter dropped them. Records with an empty name get one
    at the end. ``beside`` are records with their keys that go with the tests and are not part of the corpus.
    """

    program: str
    tests: tuple[tuple[str, bytes], ...] = ()
    beside: tuple[tuple[str, bytes], ...] = ()


class _Entry(msgspec.Struct, omit_defaults=True, gc=False):
    """A line: the request, a ``FoundTest`` of a unit, or the end of a unit."""

    format: int | UnsetType = UNSET
    request: dict[str, Any] | UnsetType = UNSET
    unit: str | UnsetType = UNSET
    program: str | UnsetType = UNSET
    tests: tuple[tuple[str, Raw], ...] | UnsetType = UNSET
    beside: tuple[tuple[str, Raw], ...] = ()
    closed: dict[str, Any] | UnsetType = UNSET


_decode_entry = decoder(_Entry)


def _decode(line: bytes) -> _Entry:
    entry = _decode_entry(line)
    found = entry.unit is not UNSET and entry.program is not UNSET and entry.tests is not UNSET
    closed = entry.unit is not UNSET and entry.closed is not UNSET
    if not (found or closed or entry.request is not UNSET):
        raise ValueError("not a line of a journal")
    return entry


def read_corpus(path: Path) -> Corpus:
    """Return a corpus and its tests; for one that is not finished, the tests found so far.

    Raises ``InputError`` with file and line where something in it cannot be read. Nothing is changed or deleted.
    """
    manifest = read_manifest(path)
    if (path / TESTS).is_file() or not (path / JOURNAL).is_file():
        return Corpus(path, manifest, read_tests(path, manifest))
    entries = (entry for _, entry in _entries(path / JOURNAL))
    return Corpus(path, manifest, _name(_gather(entries, record_reader(manifest.get("models", [])), path / JOURNAL)))


def is_complete(path: Path) -> bool:
    """Decide whether a folder is a complete corpus, every test of which can be read."""
    try:
        return read_manifest(path).get("complete") is True and read_corpus(path).complete
    except InputError:
        return False


def is_of(path: Path, request: Mapping[str, Any]) -> bool:
    """Decide whether a corpus is that of a request, be it finished or not; one that was stopped before it said what was
    asked is any request's. Raises ``InputError`` where it cannot be read.
    """
    before = read_manifest(path).get("request")
    if not (path / MANIFEST).is_file():
        _, first = next(_entries(path / JOURNAL), (0, _Entry()))
        before = _plain(request) if first.request is UNSET else first.request
    return bool(before == _plain(request))


def remove_derived(path: Path, *names: str, halves: bool = False) -> None:
    """Remove files of a folder, and the halves of them that stopped writes have left, or those ``halves`` alone."""
    for name in names:
        for file in (*path.glob(temporary_name(name, "*")), *(() if halves else (path / name,))):
            file.unlink(missing_ok=True)


def _never(statistics: Mapping[str, Any]) -> bool:
    return False


@dataclass
class Journal:
    """The append-only record of a synthesis; made by ``create`` or ``resume``, used as a context manager.

    ``units`` holds what an earlier run had found when this one resumed, by unit of work, ``tests`` how many tests that
    were, and ``closed`` the statistics of units that are done. Those that are done and for which ``is_done_with`` holds
    of these are not in ``units``, for there may be more than memory holds. The first line of the file is the request;
    each further line is one ``FoundTest`` of a unit, or closes a unit. Only one process can hold a journal.
    """

    path: Path
    request: dict[str, Any]
    units: dict[str, list[FoundTest]] = field(default_factory=dict)
    closed: dict[str, dict[str, Any]] = field(default_factory=dict)
    tests: Counter[str] = field(default_factory=Counter)
    is_done_with: Callable[[Mapping[str, Any]], bool] = field(default=_never, kw_only=True, repr=False)
    _file: LineFile = field(kw_only=True, repr=False)

    @classmethod
    def open(
        cls,
        path: Path,
        request: Mapping[str, Any],
        is_done_with: Callable[[Mapping[str, Any]], bool] = _never,
    ) -> Journal:
        """Go on with the corpus that is there, by ``resume``, or ``create`` one. Raises ``InputError`` where another
        request made it, another process is at work on it, nothing is left to do, or the folder cannot be made.
        """
        return cls.resume(path, request, is_done_with) if is_corpus(path) else cls.create(path, request)

    @classmethod
    def create(cls, path: Path, request: Mapping[str, Any]) -> Journal:
        """Start a corpus in a new or empty folder.

        ``request`` is JSON data: what was asked, without what does not change the answer. Its ``models``, if any, is
        the list of model names. Raises ``InputError`` where the folder is not empty or cannot be made.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise InputError("the folder exists and is not empty", str(path))
            # Exclusive: of two runs that both saw an empty folder, one stops here.
            file = _hold(path, new=True)
        except OSError as error:
            raise InputError(f"cannot create a corpus here: {error.strerror}", str(path)) from None
        return cls(path, _plain(request), _file=file)._start()

    @classmethod
    def resume(
        cls, path: Path, request: Mapping[str, Any], is_done_with: Callable[[Mapping[str, Any]], bool] = _never
    ) -> Journal:
        """Go on with a corpus that an earlier run left.

        A last line that was cut off is dropped. A corpus that was complete but is damaged has no journal any more and
        starts from nothing. Raises ``InputError`` where there is no corpus, where another request made it, where
        another process is at work on it, and where there is nothing left to do.
        """
        plain = _plain(request)
        manifest = read_manifest(path)
        if "request" in manifest:
            _check_same(manifest["request"], plain, path)
        if is_complete(path):
            raise InputError("the corpus is complete; nothing is left to do", str(path))
        try:
            file = _hold(path)
        except OSError as error:
            raise InputError(f"cannot resume: {error.strerror}", str(path)) from None
        journal = cls(path, plain, is_done_with=is_done_with, _file=file)
        try:
            if not journal._reload():
                return journal._start()
            journal._take_back()
        except BaseException:
            file.close()
            raise
        return journal

    def append(self, unit: str, founds: Sequence[FoundTest]) -> None:
        """Record what a unit of work found, which is on the disk on return. Raises ``InputError`` where it cannot be
        written.
        """
        self._write(
            _Entry(unit=unit, program=found.program, tests=_raw(found.tests), beside=_raw(found.beside))
            for found in founds
        )

    def close_unit(self, unit: str, statistics: Mapping[str, Any]) -> None:
        """Record that a unit of work is complete. Raises ``InputError`` where it cannot be written."""
        self.closed[unit] = _plain(statistics)
        self._write([_Entry(unit=unit, closed=self.closed[unit])])

    def close(self) -> None:
        """Close the file; another process can then resume the corpus."""
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> Journal:
        self._write([_Entry(format=FORMAT, request=self.request)])
        self._take_back()
        return self

    def _take_back(self) -> None:
        """Promise nothing any more, then remove what was derived: only files that a corpus itself has."""
        write_atomically(self.path / MANIFEST, [pretty(first_manifest(self.request))])
        remove_derived(self.path, TESTS, LABELS, TIMES)
        remove_derived(self.path, MANIFEST, halves=True)
        remove_certificate(self.path)

    def _reload(self) -> bool:
        """Take in what the file holds, and whether it holds anything; what was cut off is dropped."""
        kept, read = 0, record_reader()
        for number, (end, entry) in enumerate(_entries(self.path / JOURNAL), 1):
            kept = end
            if entry.request is not UNSET:
                _check_same(entry.request, self.request, self.path)
            elif entry.unit is not UNSET and entry.closed is not UNSET:
                self.closed[entry.unit] = entry.closed
                if self.is_done_with(entry.closed):
                    self.units.pop(entry.unit, None)
            elif entry.unit is not UNSET and entry.program is not UNSET and entry.tests is not UNSET:
                tests, beside = _plain_records(entry.tests), _plain_records(entry.beside)
                try:
                    for _, record in (*tests, *beside):
                        read(record)
                except ValueError:
                    raise InputError("expected records of tests", str(self.path / JOURNAL), number) from None
                self.units.setdefault(entry.unit, []).append(FoundTest(entry.program, tests, beside))
                self.tests[entry.unit] += len(tests)
        self._file.cut(kept)
        return kept > 0

    def _write(self, entries: Iterable[_Entry]) -> None:
        self._file.append(map(encode, entries), "; what was found before is kept, and the same command goes on")


def finish(
    journal: Journal,
    manifest: Mapping[str, Any],
    times: Mapping[str, Any],
    select: Callable[[list[Test]], list[Test]] | None = None,
) -> int:
    """Turn a journal into the corpus it stands for, and give the number of its tests.

    Tests are sorted by their keys, of tests with the same digest the first is kept, ``select`` may drop or replace
    some, and what is left and has no name is named ``<bound>-<rank within the bound>``. ``manifest`` says ``complete``;
    where that is true the journal is closed and removed, else it stays for a later run. Raises ``InputError`` where a
    file cannot be written; the journal is then still there.
    """
    path, models = journal.path / JOURNAL, journal.request.get("models", [])
    entries = (entry for _, entry in _entries(path))
    lines: Iterable[Line]
    if select is None:
        lines = _name(_gather(entries, line_reader(models), path))
    else:
        lines = map(line_of, _name(select(_gather(entries, record_reader(models), path))))
    return _end(journal, lines, manifest, times)


def finish_named(
    journal: Journal, manifest: Mapping[str, Any], times: Mapping[str, Any], wants: Callable[[Test], bool]
) -> int:
    """Turn a journal whose tests all have names into a corpus of those that are wanted, one at a time, as ``finish``
    does.

    Memory holds where in the journal each test stands, and not the tests. ``wants`` is asked in their order.
    """
    taken = set[str]()
    tests = filter(wants, _stored(journal.path / JOURNAL, journal.request.get("models", [])))
    return _end(journal, (line_of(_called(test, test.name, taken)) for test in tests), manifest, times)


def _end(journal: Journal, lines: Iterable[Line], manifest: Mapping[str, Any], times: Mapping[str, Any]) -> int:
    request = journal.request
    whole = {"complete": False, "request": request, "models": request.get("models", []), **manifest}
    number = write_lines(journal.path, lines, whole, times)
    if whole["complete"]:
        journal.close()
        (journal.path / JOURNAL).unlink()
    return number


def programs_of(journal: Journal) -> dict[str, list[str]]:
    """Return what solvers found, by unit: the text of each solution, in the order in which it was recorded."""
    found: dict[str, list[str]] = {}
    for _, entry in _entries(journal.path / JOURNAL):
        if entry.unit is not UNSET and entry.program is not UNSET:
            found.setdefault(entry.unit, []).append(entry.program)
    return found


def records_beside(journal: Journal) -> list[Test]:
    """Return the records that go with the tests of a journal and are none, sorted by their keys, each digest once."""
    path = journal.path / JOURNAL
    found = (file for _, entry in _entries(path) for file in entry.beside)
    return _gather([_Entry(tests=tuple(found))], record_reader(journal.request.get("models", [])), path)


def _raw(records: Iterable[tuple[str, bytes]]) -> tuple[tuple[str, Raw], ...]:
    return tuple((key, Raw(record)) for key, record in records)


def _plain_records(records: Iterable[tuple[str, Raw]]) -> tuple[tuple[str, bytes], ...]:
    return tuple((key, bytes(record)) for key, record in records)


def first_free(name: str, taken: Collection[str]) -> str:
    """Return a name, or where it is taken the name with the first rank that is not, ``WW.U-2``."""
    ranked = (name if rank == 1 else f"{name}-{rank}" for rank in count(1))
    return next(test for test in ranked if test not in taken)


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping as it comes back from JSON, so that it can be compared with one that was read."""
    plain: dict[str, Any] = msgspec.json.decode(encode(dict(value)))
    return plain


def _hold(path: Path, new: bool = False) -> LineFile:
    try:
        return LineFile.open(path / JOURNAL, "another process is at work on this corpus", new)
    except InputError as error:
        raise InputError(error.message, str(path)) from None


def _check_same(before: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> None:
    """Raises ``InputError`` that names what another request asked for, or a model that has changed since."""
    for key in sorted({*before, *now}):
        if before.get(key) == now.get(key):
            continue
        then, today = before.get(key), now.get(key)
        if key == "model_digests" and isinstance(then, dict) and isinstance(today, dict):
            if changed := [name for name in today if name in then and then[name] != today[name]]:
                wanted = "its verdicts here are old; make the corpus anew"
                raise InputError(f"the model {changed[0]} has changed since: {wanted}", str(path))
            continue  # other models: their names are part of the request
        raise InputError(
            f"the corpus was made with another {key}: {encode(then).decode()} then, {encode(today).decode()} now",
            str(path),
        )


def _entries(path: Path) -> Iterator[tuple[int, _Entry]]:
    with open_bytes(path) as file:
        yield from whole_lines(file, path, _decode, "a line of a journal")


AnyTest = TypeVar("AnyTest", Test, Line)


def _gather(entries: Iterable[_Entry], read: Callable[[bytes], AnyTest], path: Path) -> list[AnyTest]:
    """The tests of a journal, sorted by key, without duplicates."""
    keyed: list[tuple[str, str, AnyTest]] = []
    for number, entry in enumerate(entries, 1):
        try:
            for key, record in entry.tests or ():
                test = read(bytes(record))
                keyed.append((key, test.digest, test))
        except ValueError:
            raise InputError("expected records of tests", str(path), number) from None
    return _once(keyed)


def sorted_once(keyed: Iterable[tuple[str, Test]]) -> list[Test]:
    """Return tests sorted by their keys, the first of each digest, as the tests of a journal become a corpus."""
    return _once([(key, test.digest, test) for key, test in keyed])


def _once(keyed: list[tuple[str, str, AnyTest]]) -> list[AnyTest]:
    keyed.sort(key=itemgetter(0, 1))
    unique: dict[str, AnyTest] = {}
    for _, digest, test in keyed:
        unique.setdefault(digest, test)
    return list(unique.values())


class _Head(msgspec.Struct, gc=False):
    """What of a record tests are told apart by."""

    digest: str


def _stored(path: Path, models: Sequence[str]) -> Iterator[Test]:
    """The tests of a journal, each read when it is its turn."""
    head, read, begin = decoder(_Head), record_reader(models), 0
    found: list[tuple[str, str, int, int]] = []
    try:
        for end, entry in _entries(path):
            for number, (key, record) in enumerate(entry.tests or ()):
                found.append((key, head(bytes(record)).digest, begin, number))
            begin = end
        found.sort()
        unique: dict[str, tuple[int, int]] = {}
        for _, digest, begin, number in found:
            unique.setdefault(digest, (begin, number))
        places = array("Q", chain.from_iterable(unique.values()))
        del found, unique
        with open_bytes(path) as file:
            for begin, number in zip(places[::2], places[1::2], strict=True):
                file.seek(begin)
                _, record = (_decode(file.readline()).tests or ())[number]
                yield read(bytes(record))
    except ValueError:
        raise InputError("expected records of tests", str(path)) from None


def _name(tests: list[AnyTest]) -> list[AnyTest]:
    """The tests named by bound and rank where they have no name yet, and by a rank where another test has their
    name.
    """
    totals = Counter(test.bound for test in tests)
    widths = {bound: max(4, len(str(total))) for bound, total in totals.items()}
    ranks = {bound: count(1) for bound in totals}
    taken: set[str] = set()
    named = []
    for test in tests:
        rank = next(ranks[test.bound])
        named.append(_called(test, test.name or f"{test.bound}-{rank:0{widths[test.bound]}}", taken))
    return named


def _called(test: AnyTest, name: str, taken: set[str]) -> AnyTest:
    """The test by that name, with a rank where it is taken; then it is, too."""
    if name in taken:
        name = first_free(name, taken)
    taken.add(name)
    return test if test.name == name else msgspec.structs.replace(test, name=name)
