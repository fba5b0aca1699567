"""Tests as lines of JSON, the records of ``tests.jsonl`` (docs/corpus.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from corpus.test import Test

_KEYS = ("name", "digest", "behaviour", "text", "verdicts", "tags")


def test_record(test: Test) -> str:
    """A test as one line of JSON, without the newline. Equal tests give equal lines."""
    return (
        f'{{"name":{compact(test.name)},"digest":{compact(test.digest)},"behaviour":{compact(test.behaviour)},'
        f'"text":{compact(test.text)},'
        f'"verdicts":{_verdict_groups(tuple(test.verdicts.items()))},"tags":{compact(test.tags)}}}'
    )


test_record.__test__ = False  # type: ignore[attr-defined]  # not a test of pytest's


def parse_record(line: str, models: Sequence[str] = ()) -> Test:
    """The test that a line of JSON denotes; its verdicts in the order of ``models``, others after them.

    Raises ``ValueError`` where the line is not a record.
    """
    return RecordReader(models).test(json.loads(line))


class RecordReader:
    """Reads many records; equal verdict vectors share one mapping, for a corpus has few of them."""

    def __init__(self, models: Sequence[str]) -> None:
        self._rank = {model: rank for rank, model in enumerate(models)}
        self._vectors: dict[str, dict[str, str]] = {}

    def test(self, record: Any) -> Test:
        """The test of a decoded record. Raises ``ValueError`` where it is none."""
        try:
            *words, groups, tags = [record[key] for key in _KEYS]
            if not all(isinstance(word, str) for word in words):
                raise TypeError
            name, digest, behaviour, text = words
            key = repr(groups)
            if key not in self._vectors:
                self._vectors[key] = self._vector(groups)
            return Test(name, digest, text, self._vectors[key], tuple(str(tag) for tag in tags), behaviour)
        except (KeyError, TypeError, AttributeError):
            raise ValueError("not a test record") from None

    def _vector(self, groups: dict[str, list[str]]) -> dict[str, str]:
        vector = {model: verdict for verdict, models in groups.items() for model in models}
        return {model: vector[model] for model in sorted(vector, key=lambda m: self._rank.get(m, len(self._rank)))}


@lru_cache(maxsize=4096)  # a corpus has few verdict vectors
def _verdict_groups(vector: tuple[tuple[str, str], ...]) -> str:
    groups: dict[str, list[str]] = {}
    for model, verdict in vector:
        groups.setdefault(str(verdict), []).append(model)
    return compact({verdict: groups[verdict] for verdict in sorted(groups, reverse=True)})  # TERMINATES comes first


compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""JSON on one line, without spaces."""
