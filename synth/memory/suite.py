"""A suite of memory tests on disk, as it is read; ``synth.memory.synthesis`` writes it.

A suite is a folder that litmus runners take (docs/memory.md):

    NAME.litmus     one test, in the gpu-ptx dialect
    @all            the index, one file name a line
    labels.csv      file, model, verdict and condition
    manifest.json   what was asked, complete or not, counts
    times.json      everything that may differ from one run to the next; nothing else does
    journal.jsonl   only while the suite is not complete: the tests and verdicts known so far

The index has the smallest tests first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.cycles.cycle import family
from corpus.errors import InputError
from corpus.store import LABELS, MANIFEST, read_manifest
from oracle.executions.judge import Answer
from synth.inputs import litmus_files
from synth.memory.verdict_table import read_verdicts

KIND = "memory"
"""The kind of request, in the manifest."""

INDEX = "@all"

Vector = tuple[str, ...]
"""What each model says of a test."""

OTHER = "other shapes"
"""The family of tests whose shape has no classic name."""


@dataclass(frozen=True, slots=True)
class Row:
    """A test of a suite: number of edges, family, and what each model says."""

    name: str
    size: int
    family: str
    verdicts: Vector


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite as its folder has it. A run that was killed has written no test yet."""

    manifest: Mapping[str, Any]
    rows: Sequence[Row]

    @property
    def models(self) -> list[str]:
        """The models that it is labelled under."""
        return list(self.manifest.get("models", []))

    @property
    def state(self) -> str:
        """Whether there is no other test of what was asked."""
        if self.manifest.get("complete") is True:
            return "complete"
        return f"not complete: {self.manifest.get('stopped', 'the run did not end')}; --resume goes on"

    def verdicts(self, model: str) -> Counter[str]:
        """How often a model says what."""
        return Counter(row.verdicts[self.models.index(model)] for row in self.rows)

    def vectors(self) -> dict[Vector, list[str]]:
        """The names of the tests by what the models say, most frequent first."""
        found: dict[Vector, list[str]] = {}
        for row in self.rows:
            found.setdefault(row.verdicts, []).append(row.name)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    def telling(self, allows: str, forbids: str) -> int:
        """The number of tests that one model allows and another forbids."""
        one, other = self.models.index(allows), self.models.index(forbids)
        return sum(
            len(names)
            for vector, names in self.vectors().items()
            if (vector[one], vector[other]) == (Answer.ALLOWED, Answer.FORBIDDEN)
        )


def read_suite(folder: Path) -> Suite:
    """A suite of memory tests. Raises ``InputError`` where something in it cannot be read or is missing."""
    manifest = read_manifest(folder)
    if not (folder / LABELS).is_file():
        return Suite(manifest, [])
    said = {(row.file, row.model): row.verdict for row in read_verdicts(folder / LABELS)}
    files = [file.name for file in litmus_files([str(folder)])]
    sizes = [int(size) for size, count in manifest.get("counts", {}).get("sizes", {}).items() for _ in range(count)]
    if len(files) != len(sizes):
        raise InputError(f"{len(files)} tests, where the manifest promises {len(sizes)}", str(folder / INDEX))
    rows = []
    for file, size in zip(files, sizes, strict=True):
        name = file.removesuffix(".litmus")
        vector = tuple(said.get((file, model), Answer.UNKNOWN) for model in manifest.get("models", []))
        rows.append(Row(name, size, family(name) or OTHER, vector))
    return Suite(manifest, rows)


def is_memory_suite(folder: Path) -> bool:
    """Whether a folder is a suite of memory tests, finished or not. Raises ``InputError`` where its manifest is bad."""
    return (folder / MANIFEST).is_file() and read_manifest(folder).get("request", {}).get("kind") == KIND


def is_whole(folder: Path) -> bool:
    """Whether a suite is complete and has every file that it should have."""
    try:
        files = litmus_files([str(folder)])
        return read_manifest(folder).get("complete") is True and all(
            file.is_file() for file in (*files, folder / LABELS)
        )
    except InputError:
        return False
