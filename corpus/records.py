"""Reads and writes tests as lines of JSON, the records of ``tests.jsonl`` (docs/corpus.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec import UNSET, Raw, UnsetType

from corpus.lines import decoder, encode
from corpus.test import Test, axb_bound

NO_REASONS: Mapping[str, str] = {}
"""The reasons of all tests that have none, for an empty mapping each is 20 MB in a large corpus."""

_BOUND = re.compile(r"[1-9][0-9]{0,5}x[0-9]{1,6}")


class _Record(msgspec.Struct, gc=False):
    """A record as JSON has it. Progress tests have a behaviour, litmus tests a bound and scopes, and may have one."""

    name: str
    digest: str
    text: str
    verdicts: Raw
    tags: tuple[str, ...]
    behaviour: str | UnsetType = UNSET
    bound: str | UnsetType = UNSET
    scopes: tuple[str, ...] | UnsetType = UNSET
    reasons: dict[str, str] | UnsetType = UNSET


class _Written(msgspec.Struct, gc=False):
    """A record with its members in the order in which they are written."""

    name: str
    digest: str
    behaviour: str | UnsetType
    bound: str | UnsetType
    scopes: tuple[str, ...] | UnsetType
    text: str
    verdicts: Raw
    tags: tuple[str, ...]
    reasons: dict[str, str] | UnsetType


class Line(msgspec.Struct, frozen=True, gc=False):
    """A record to be written, of which only the parts are read that a corpus counts and sorts by.

    ``rest`` is the record after the name, with the end of the line: a test gets its name last, and nothing else of it
    changes.
    """

    name: str
    digest: str
    bound: str
    verdicts: Mapping[str, str]
    rest: bytes

    @property
    def record(self) -> bytes:
        """The line, with the name that the test has now."""
        return b'{"name":' + encode(self.name) + self.rest


class _Head(msgspec.Struct, gc=False):
    """What a line has of a record."""

    name: str
    digest: str
    text: str
    verdicts: Raw
    bound: str | UnsetType = UNSET


_UNNAMED = b'{"name":"",'


def test_record(test: Test) -> bytes:
    """Return a test as one line of JSON, without the newline. Equal tests give equal lines."""
    progress = test.bound == axb_bound(test.text)
    return encode(
        _Written(
            test.name,
            test.digest,
            test.behaviour if progress or test.behaviour else UNSET,
            UNSET if progress else test.bound,
            UNSET if progress else test.scopes,
            test.text,
            verdict_groups(test.verdicts),
            test.tags,
            dict(test.reasons) or UNSET,
        )
    )


def progress_record(digest: str, behaviour: str, text: str, groups: Raw, tags: tuple[str, ...]) -> bytes:
    """Return the ``test_record`` of a progress test that has no name yet, with its verdicts as ``verdict_groups``."""
    return encode(_Written("", digest, behaviour, UNSET, UNSET, text, groups, tags, UNSET))


test_record.__test__ = False  # type: ignore[attr-defined]  # not a test of pytest's


def record_reader(models: Sequence[str] = ()) -> Callable[[bytes], Test]:
    """Return a reader of records; it raises ``ValueError`` where a line is none.

    Verdicts come in the order of ``models``, others after them. Equal verdict vectors share one mapping, for a corpus
    has few of them.
    """
    decode, vector = decoder(_Record), _vectors(models)

    def read(line: bytes) -> Test:
        record = decode(line)
        if record.bound is not UNSET and not _BOUND.fullmatch(record.bound):
            raise ValueError("not a bound")
        return Test(
            record.name,
            record.digest,
            record.text,
            vector(bytes(record.verdicts)),
            record.tags,
            record.behaviour or "",
            record.bound or "",
            record.scopes or (),
            record.reasons or NO_REASONS,
        )

    return read


def line_of(test: Test) -> Line:
    """Return a test as a line that a corpus can count, sort and write."""
    rest = test_record(test).removeprefix(b'{"name":' + encode(test.name))
    return Line(test.name, test.digest, test.bound, test.verdicts, rest + b"\n")


def line_reader(models: Sequence[str] = ()) -> Callable[[bytes], Line]:
    """Return a reader of records that gives the ``line_of`` each test, in a third of the time where a record has no
    name yet: it is supposed that it was read before, or is ours. It raises ``ValueError`` as ``record_reader`` does,
    where a line is not even the beginning of a record.
    """
    decode, vector, read = decoder(_Head), _vectors(models), record_reader(models)

    def line(record: bytes) -> Line:
        if not record.startswith(_UNNAMED):
            return line_of(read(record))
        head = decode(record)
        bound = head.bound or axb_bound(head.text)
        return Line("", head.digest, bound, vector(bytes(head.verdicts)), record[len(_UNNAMED) - 1 :] + b"\n")

    return line


def _vectors(models: Sequence[str]) -> Callable[[bytes], Mapping[str, str]]:
    """A function from verdicts as a record has them to a mapping from models, in their order."""
    groups_of = decoder(dict[str, list[str]])
    rank = {model: number for number, model in enumerate(models)}
    vectors: dict[bytes, dict[str, str]] = {}

    def vector(groups: bytes) -> Mapping[str, str]:
        if groups not in vectors:
            verdicts = {model: verdict for verdict, names in groups_of(groups).items() for model in names}
            vectors[groups] = {
                model: verdicts[model] for model in sorted(verdicts, key=lambda m: rank.get(m, len(rank)))
            }
        return vectors[groups]

    return vector


def verdict_groups(verdicts: Mapping[str, str]) -> Raw:
    """Return verdicts as a record has them: for each verdict the models that give it."""
    return _verdict_groups(tuple(verdicts), tuple(verdicts.values()))


@lru_cache(maxsize=4096)  # a corpus has few verdict vectors
def _verdict_groups(models: tuple[str, ...], verdicts: tuple[str, ...]) -> Raw:
    groups: dict[str, list[str]] = {}
    for model, verdict in zip(models, verdicts, strict=True):
        groups.setdefault(str(verdict), []).append(model)
    return Raw(encode({verdict: groups[verdict] for verdict in sorted(groups, reverse=True)}))  # TERMINATES first
