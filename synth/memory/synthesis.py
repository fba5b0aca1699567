"""The pipeline of memory tests: cycles of each size, their tests, verdicts, what to keep, and the suite on disk.

Cycles are found anew when a run goes on, for that takes seconds; verdicts, which take longer, come from the journal.
``synth.memory.suite`` says what a suite is.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from constraints.cycles import CycleBounds, cycles
from constraints.loop import Effort
from corpus.cycles.containment import minimal
from corpus.cycles.cycle import Cycle, cycle_name, litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.dialects.registry import DIALECTS
from corpus.files import write_atomically
from corpus.litmus.test import Order, Region
from corpus.store import FORMAT, JOURNAL, LABELS, MANIFEST, TIMES, Found, Journal, pretty
from oracle.consistency import ConsistencyModel, resolve_consistency_models
from oracle.executions.judge import UNROLL, Answer
from synth import VERSION
from synth.memory.judging import AUTO, judge_with
from synth.memory.suite import INDEX, KIND
from synth.memory.verdict_table import Verdict, print_verdicts
from synth.pool import run_tasks

DIALECT = "gpu-ptx"
"""What suites are written in: the dialect that can say every edge but sc accesses."""

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
        return {"kind": KIND, **asdict(self)}

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
        """The models to label under, each once, as they were asked for."""
        return tuple(dict.fromkeys((*self.models, *self.allowed_by, *self.forbidden_by)))

    def model_names(self) -> list[str]:
        """What those models are called. Raises ``InputError`` where one cannot be had."""
        return [model.name for model in _resolved(self.all_models())]


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

    @property
    def complete(self) -> bool:
        """Whether the solver said for every size that nothing is left."""
        return not self.stopped


def _resolved(models: tuple[str, ...]) -> list[ConsistencyModel]:
    return resolve_consistency_models(models) if models else []


def _dialect(cycle: Cycle) -> str:
    """What a test is written in: the dialect of PTX, which has no sc accesses; where there are, OpenCL C."""
    return "opencl" if any(note.order is Order.SC for note in cycle.annotations) else DIALECT


def label_cycles(chunk: Sequence[Cycle], models: tuple[str, ...]) -> Iterator[list[Labelled]]:
    """The tests of some cycles with their verdicts; what one process does."""
    resolved = _resolved(models)
    done = []
    for cycle in chunk:
        test = litmus_test(cycle)
        judged = [judge_with(test, model, AUTO, UNROLL) for model in resolved]
        verdicts = tuple((str(judgement.answer), judgement.condition) for judgement in judged)
        text = DIALECTS[_dialect(cycle)].print(test)
        done.append(Labelled(test.name, text, verdicts, tuple(judgement.reason for judgement in judged)))
    yield done


def synthesise(
    request: Request, journal: Journal, solver: str, jobs: int, effort: Effort
) -> Generator[tuple[Cycle, Labelled] | None]:
    """Every cycle with its labelled test, sizes in turn; None now and then, so that the caller can watch a clock."""
    bounds, models = request.bounds(), request.all_models()
    for size in range(request.sizes[0], request.sizes[1] + 1):
        known = {found.program: _restored(found) for found in journal.units.get(str(size), ())}
        waiting = []
        for cycle in map(oriented, cycles(bounds, size, solver, effort)):
            name = cycle_name(cycle)
            if name in known:
                yield cycle, known[name]
            else:
                waiting.append(cycle)
                yield None
        chunks = [tuple(waiting[start : start + CHUNK]) for start in range(0, len(waiting), CHUNK)]
        work = partial(label_cycles, models=models)
        with closing(run_tasks(chunks, work, jobs)) as answers:
            for answer in answers:
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
    """The tests that contain no other of the same verdicts (``corpus.cycles.containment``)."""
    groups: dict[tuple[str, ...], list[Cycle]] = {}
    for cycle, labelled in found:
        groups.setdefault(tuple(verdict for verdict, _ in labelled.verdicts), []).append(cycle)
    chosen = {cycle for group in groups.values() for cycle in minimal(group)}
    return [(cycle, labelled) for cycle, labelled in found if cycle in chosen]


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
    folder, tests, models = journal.path, kept(request, found), request.model_names()
    files = [f"{labelled.name}.litmus" for _, labelled in tests]
    for file, (_, labelled) in zip(files, tests, strict=True):
        write_atomically(folder / file, [labelled.text], durable=False)
    os.sync()
    write_atomically(folder / INDEX, [f"{file}\n" for file in files])
    # An earlier run that knew less may have kept what contains a test found since.
    for stale in sorted({file.name for file in folder.glob("*.litmus")} - set(files)):
        (folder / stale).unlink()
    rows = [
        Verdict(file, model, verdict, condition)
        for file, (_, labelled) in zip(files, tests, strict=True)
        for model, (verdict, condition) in zip(models, labelled.verdicts, strict=True)
    ]
    write_atomically(folder / LABELS, [print_verdicts(rows)])
    write_atomically(folder / TIMES, [pretty(times)])
    sizes = Counter(cycle.size for cycle, _ in tests)
    manifest = {
        "format": FORMAT,
        "complete": outcome.complete,
        "version": VERSION,
        "request": request.as_json(),
        "models": models,
        "counts": {
            "cycles": outcome.cycles,
            "tests": len(tests),
            "sizes": {str(size): sizes[size] for size in sorted(sizes)},
        },
    }
    write_atomically(folder / MANIFEST, [pretty(manifest | ({"stopped": outcome.stopped} if outcome.stopped else {}))])
    if outcome.complete:
        journal.close()
        (folder / JOURNAL).unlink()
    return len(tests)
