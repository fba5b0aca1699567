"""The pipeline of memory tests: cycles of each size, their tests, verdicts, what to keep, and the suite on disk.

A suite is a folder that litmus runners take (docs/memory.md):

    NAME.litmus     one test, in the gpu-ptx dialect
    @all            the index, one file name a line
    labels.csv      file, model, verdict and condition
    manifest.json   what was asked, complete or not, counts
    times.json      everything that may differ from one run to the next; nothing else does
    journal.jsonl   only while the suite is not complete: the verdicts known so far

Cycles are found anew when a run goes on, for that takes seconds; verdicts, which take longer, come from the journal.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from constraints.cycles import CycleBounds, cycles
from corpus.containment import key, reductions
from corpus.cycle import Cycle, cycle_name, litmus_test, oriented
from corpus.edges import parse_edges
from corpus.files import write_atomically
from corpus.litmus import Region
from corpus.litmus_text import dialects
from corpus.store import FORMAT, JOURNAL, MANIFEST, Found, Journal
from oracle.consistency import resolve_consistency_models
from oracle.judge import UNROLL, Answer
from synth import VERSION
from synth.judging import AUTO, judge_with
from synth.pool import run_tasks

DIALECT = "gpu-ptx"
"""What suites are written in: the dialect that can say every edge."""

CHUNK = 50
"""Cycles that a process labels at once."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a suite holds. Everything that changes the answer, and nothing that does not."""

    edges: str
    sizes: tuple[int, int]
    threads: int | None = None
    scopes: tuple[str, ...] = ()
    regions: tuple[str, ...] = ("global",)
    thread_accesses: int = 2
    location_accesses: int = 3
    models: tuple[str, ...] = ()
    allowed_by: tuple[str, ...] = ()
    forbidden_by: tuple[str, ...] = ()
    minimal: bool = False

    def as_json(self) -> dict[str, Any]:
        """The request as the suite keeps it."""
        return {"kind": "memory", **asdict(self)}

    def bounds(self) -> CycleBounds:
        """What cycles to make. Raises ``InputError`` where an edge is unknown."""
        return CycleBounds(
            parse_edges(self.edges, self.scopes),
            tuple(scope for scope in ("cta", "gpu") if scope in self.scopes),
            tuple(Region(region) for region in self.regions),
            self.threads,
            self.thread_accesses,
            self.location_accesses,
        )

    def all_models(self) -> tuple[str, ...]:
        """The models to label under, each once."""
        return tuple(dict.fromkeys((*self.models, *self.allowed_by, *self.forbidden_by)))


@dataclass(frozen=True, slots=True)
class Labelled:
    """A test with its verdict and the truth of its condition under each model."""

    name: str
    text: str
    verdicts: tuple[tuple[str, bool | None], ...]
    reasons: tuple[str, ...] = ()


@dataclass(slots=True)
class Outcome:
    """How a run ended. ``stopped`` says why something was left, and is empty where nothing was."""

    stopped: str = ""
    cycles: int = 0
    tests: int = 0

    @property
    def complete(self) -> bool:
        """Whether the solver said for every size that nothing is left."""
        return not self.stopped


def label_cycles(chunk: Sequence[Cycle], models: tuple[str, ...]) -> Iterator[list[Labelled]]:
    """The tests of some cycles with their verdicts; what one process does."""
    resolved = resolve_consistency_models(models) if models else []
    done = []
    for cycle in chunk:
        test = litmus_test(cycle)
        judged = [judge_with(test, model, AUTO, UNROLL) for model in resolved]
        verdicts = tuple((str(judgement.answer), judgement.condition) for judgement in judged)
        text = dialects()[DIALECT].print(test)
        done.append(Labelled(test.name, text, verdicts, tuple(judgement.reason for judgement in judged)))
    yield done


def synthesise(request: Request, journal: Journal, solver: str, jobs: int) -> Iterator[tuple[Cycle, Labelled] | None]:
    """Every cycle with its labelled test, sizes in turn; None now and then, so that the caller can watch a clock."""
    bounds, models = request.bounds(), request.all_models()
    for size in range(request.sizes[0], request.sizes[1] + 1):
        known = {found.program: _restored(found) for found in journal.units.get(str(size), ())}
        waiting = []
        for cycle in map(oriented, cycles(bounds, size, solver)):
            name = cycle_name(cycle)
            if name in known:
                yield cycle, known[name]
            else:
                waiting.append(cycle)
        chunks = [tuple(waiting[start : start + CHUNK]) for start in range(0, len(waiting), CHUNK)]
        for answer in run_tasks(chunks, partial(label_cycles, models=models), jobs if len(chunks) > 1 else 1):
            if answer is None:
                yield None
                continue
            chunk, labels = answer
            journal.append(str(size), [_found(labelled) for labelled in labels])
            yield from zip(chunk, labels, strict=True)


def _found(labelled: Labelled) -> Found:
    return Found(labelled.name, ((labelled.name, json.dumps(asdict(labelled))),))


def _restored(found: Found) -> Labelled:
    record = json.loads(found.tests[0][1])
    verdicts = tuple((verdict, condition) for verdict, condition in record["verdicts"])
    return Labelled(record["name"], record["text"], verdicts, tuple(record["reasons"]))


# What to keep


def kept(request: Request, found: Sequence[tuple[Cycle, Labelled]]) -> list[tuple[Cycle, Labelled]]:
    """The tests that the request asks for, smallest first, then by name."""
    models = request.all_models()
    wanted = dict.fromkeys(request.allowed_by, Answer.ALLOWED)
    wanted |= dict.fromkeys(request.forbidden_by, Answer.FORBIDDEN)
    passing = [
        (cycle, labelled)
        for cycle, labelled in found
        if all(
            verdict == wanted.get(name, verdict) for name, (verdict, _) in zip(models, labelled.verdicts, strict=True)
        )
    ]
    passing.sort(key=lambda pair: (pair[0].size, pair[1].name))
    return _minimal(passing) if request.minimal else passing


def _minimal(found: Sequence[tuple[Cycle, Labelled]]) -> list[tuple[Cycle, Labelled]]:
    """The tests that contain no other of the same verdicts (``corpus.containment``)."""
    vectors = {key(cycle): tuple(verdict for verdict, _ in labelled.verdicts) for cycle, labelled in found}
    below: dict[Hashable, frozenset[tuple[str, ...]]] = {}

    def contained(cycle: Cycle) -> frozenset[tuple[str, ...]]:
        """The verdicts of the tests that a cycle contains, itself left out."""
        name = key(cycle)
        if name not in below:
            found: set[tuple[str, ...]] = set()
            for reduced in reductions(cycle):
                found |= contained(reduced)
                if key(reduced) in vectors:
                    found.add(vectors[key(reduced)])
            below[name] = frozenset(found)
        return below[name]

    return [(cycle, labelled) for cycle, labelled in found if vectors[key(cycle)] not in contained(cycle)]


# The suite on disk


def write_suite(
    request: Request,
    journal: Journal,
    found: Sequence[tuple[Cycle, Labelled]],
    outcome: Outcome,
    times: Mapping[str, Any],
) -> int:
    """Turn what was found into files, and give the number of tests; a complete suite has no journal any more.

    Raises ``InputError`` where a file cannot be written.
    """
    folder, tests = journal.path, kept(request, found)
    for _, labelled in tests:
        write_atomically(folder / f"{labelled.name}.litmus", [labelled.text])
    write_atomically(folder / "@all", [f"{labelled.name}.litmus\n" for _, labelled in tests])
    write_atomically(folder / "labels.csv", [_labels_csv(request.all_models(), [labelled for _, labelled in tests])])
    write_atomically(folder / "times.json", [_pretty(times)])
    sizes = Counter(cycle.size for cycle, _ in tests)
    counts = {
        "cycles": outcome.cycles,
        "tests": len(tests),
        "sizes": {str(size): sizes[size] for size in sorted(sizes)},
    }
    manifest = {
        "format": FORMAT,
        "synth": VERSION,
        "complete": outcome.complete,
        "request": request.as_json(),
        "models": list(request.all_models()),
        "counts": counts,
    }
    write_atomically(folder / MANIFEST, [_pretty(manifest | ({"stopped": outcome.stopped} if outcome.stopped else {}))])
    if outcome.complete:
        journal.close()
        (folder / JOURNAL).unlink()
    return len(tests)


def _labels_csv(models: Sequence[str], tests: Iterable[Labelled]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["file", "model", "verdict", "condition"])
    for labelled in tests:
        for name, (verdict, condition) in zip(models, labelled.verdicts, strict=True):
            truth = "" if condition is None else str(condition).lower()
            writer.writerow([f"{labelled.name}.litmus", name, verdict, truth])
    return out.getvalue()


def _pretty(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
