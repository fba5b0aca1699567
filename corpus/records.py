"""Tests as lines of JSON, the records of ``tests.jsonl`` (docs/corpus.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec import UNSET, Raw, UnsetType

from corpus.lines import decoder
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


class _Line(msgspec.Struct, gc=False):
    """The same in the order in which it is written."""

    name: str
    digest: str
    behaviour: str | UnsetType
    bound: str | UnsetType
    scopes: tuple[str, ...] | UnsetType
    text: str
    verdicts: Raw
    tags: tuple[str, ...]
    reasons: dict[str, str] | UnsetType


_encode = msgspec.json.Encoder().encode


def test_record(test: Test) -> bytes:
    """A test as one line of JSON, without the newline. Equal tests give equal lines."""
    progress = test.bound == axb_bound(test.text)
    return _encode(
        _Line(
            test.name,
            test.digest,
            test.behaviour if progress or test.behaviour else UNSET,
            UNSET if progress else test.bound,
            UNSET if progress else test.scopes,
            test.text,
            _verdict_groups(tuple(test.verdicts), tuple(test.verdicts.values())),
            test.tags,
            dict(test.reasons) or UNSET,
        )
    )


test_record.__test__ = False  # type: ignore[attr-defined]  # not a test of pytest's


def record_reader(models: Sequence[str] = ()) -> Callable[[bytes], Test]:
    """A reader of records; it raises ``ValueError`` where a line is none.

    Verdicts come in the order of ``models``, others after them. Equal verdict vectors share one mapping, for a corpus
    has few of them.
    """
    decode, groups_of = decoder(_Record), decoder(dict[str, list[str]])
    rank = {model: number for number, model in enumerate(models)}
    vectors: dict[bytes, dict[str, str]] = {}

    def vector(groups: bytes) -> dict[str, str]:
        if groups not in vectors:
            said = {model: verdict for verdict, names in groups_of(groups).items() for model in names}
            vectors[groups] = {model: said[model] for model in sorted(said, key=lambda m: rank.get(m, len(rank)))}
        return vectors[groups]

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


@lru_cache(maxsize=4096)  # a corpus has few verdict vectors
def _verdict_groups(models: tuple[str, ...], verdicts: tuple[str, ...]) -> Raw:
    groups: dict[str, list[str]] = {}
    for model, verdict in zip(models, verdicts, strict=True):
        groups.setdefault(str(verdict), []).append(model)
    return Raw(_encode({verdict: groups[verdict] for verdict in sorted(groups, reverse=True)}))  # TERMINATES first
