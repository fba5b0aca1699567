"""The pipeline of memory tests: cycles of each size, their tests, verdicts, what to keep, and the corpus.

Cycles are found anew when a run goes on, for that takes seconds; verdicts, which take longer, come from the journal. A
unit of the journal is a size.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any

from constraints.cycles import CycleBounds, cycles
from constraints.loop import Effort
from corpus.cycles.containment import minimal
from corpus.cycles.cycle import Cycle, cycle_name, litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.cycles.suites import litmus_record
from corpus.dialects.registry import dialect_for
from corpus.errors import InputError
from corpus.journal import Found, Journal, finish
from corpus.litmus.test import Region
from corpus.records import record_reader, test_record
from corpus.test import Test
from oracle.consistency import ConsistencyModel, resolve_consistency_models
from oracle.executions.judge import UNROLL, Answer
from synth import VERSION
from synth.inputs import MEMORY
from synth.memory.judging import AUTO, judge_with
from synth.pool import run_tasks

CHUNK = 50
"""Cycles that a process labels at once."""


@dataclass(frozen=True)
class Request:
    """What a suite holds. Everything that changes the answer, and nothing that does not.

    Raises ``InputError`` where an edge is unknown (when ``bounds`` is asked for), and where filters contradict each
    other.
    """

    edges: str
    sizes: tuple[int, int]
    threads: tuple[int, int] | None = None
    scopes: tuple[str, ...] = ()
    regions: tuple[str, ...] = ("global",)
    thread_accesses: int = 2
    location_accesses: int = 3
    compositions: bool = False
    labelled_under: tuple[str, ...] = ()
    allowed_by: tuple[str, ...] = ()
    forbidden_by: tuple[str, ...] = ()
    minimal: bool = False

    def __post_init__(self) -> None:
        for name in self.allowed_by:
            if name in self.forbidden_by:
                raise InputError(f"no test is like that: {name} is asked to allow it and to forbid it")

    def as_json(self) -> dict[str, Any]:
        """The request as the corpus keeps it, with the text of every model as a digest."""
        models = {model.name: model.digest for model in self.models}
        return {"kind": MEMORY, **asdict(self), "models": list(models), "model_digests": models}

    @cached_property
    def bounds(self) -> CycleBounds:
        """What cycles to make. Raises ``InputError`` where an edge is unknown."""
        return CycleBounds(
            parse_edges(self.edges, self.scopes),
            tuple(scope for scope in ("cta", "gpu") if scope in self.scopes),
            tuple(Region(region) for region in self.regions),
            self.threads,
            self.thread_accesses,
            self.location_accesses,
            self.compositions,
        )

    @property
    def model_words(self) -> tuple[str, ...]:
        """The models to label under as they were asked for, each once."""
        return tuple(dict.fromkeys((*self.labelled_under, *self.allowed_by, *self.forbidden_by)))

    @cached_property
    def models(self) -> list[ConsistencyModel]:
        """Those models. Raises ``InputError`` where one cannot be had."""
        return _resolved(self.model_words)

    def wants(self, test: Test) -> bool:
        """Whether a test with these verdicts is asked for: every filter has its say."""
        names = {word: model.name for word, model in zip(self.model_words, self.models, strict=True)}
        return all(test.verdicts[names[word]] == Answer.ALLOWED for word in self.allowed_by) and all(
            test.verdicts[names[word]] == Answer.FORBIDDEN for word in self.forbidden_by
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """A cycle whose test no dialect says whole, and why."""

    name: str
    reason: str


@dataclass(slots=True)
class Outcome:
    """What a run found, and how it ended. ``stopped`` says why something was left; it is empty where nothing was."""

    stopped: str = ""
    cycles: dict[str, Cycle] = field(default_factory=dict)
    tests: list[Test] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether the solver said for every size that nothing is left."""
        return not self.stopped

    def add(self, cycle: Cycle, made: Test | Refused) -> None:
        """Take in a cycle and what became of it, once: a process that died may have said so before."""
        if made.name in self.cycles:
            return
        self.cycles[made.name] = cycle
        (self.tests if isinstance(made, Test) else self.refused).append(made)  # type: ignore[arg-type]


def _resolved(models: tuple[str, ...]) -> list[ConsistencyModel]:
    return resolve_consistency_models(models) if models else []


def label_cycles(task: tuple[int, Sequence[Cycle]], models: tuple[str, ...]) -> Iterator[list[Test | Refused]]:
    """The tests of some cycles of a size with their verdicts; what one process does."""
    size, chunk = task
    resolved = _resolved(models)
    done: list[Test | Refused] = []
    for cycle in chunk:
        test = litmus_test(cycle)
        try:
            _, text = dialect_for(test)
        except InputError as error:
            done.append(Refused(test.name, error.message))
            continue
        judged = {model.name: judge_with(test, model, AUTO, UNROLL) for model in resolved}
        verdicts = {name: str(judgement.answer) for name, judgement in judged.items()}
        reasons = {name: judgement.reason for name, judgement in judged.items() if judgement.reason}
        done.append(litmus_record(test, text, size, verdicts, reasons))
    yield done


def synthesise(
    request: Request, journal: Journal, solver: str, jobs: int, effort: Effort
) -> Generator[tuple[Cycle, Test | Refused] | None]:
    """Every cycle with its labelled test as soon as it is found; None now and then, so that the caller can watch a
    clock."""
    read = record_reader(list(journal.request["models"]))
    known = {
        found.program: read(record)
        for founds in journal.units.values()
        for found in founds
        for _, record in found.tests
    }
    restored: list[tuple[Cycle, Test | Refused]] = []

    def chunks() -> Iterator[tuple[int, tuple[Cycle, ...]]]:
        for size in range(request.sizes[0], request.sizes[1] + 1):
            waiting: list[Cycle] = []
            for cycle in map(oriented, cycles(request.bounds, size, solver, effort)):
                if test := known.get(cycle_name(cycle)):
                    restored.append((cycle, test))
                    continue
                waiting.append(cycle)
                if len(waiting) == CHUNK:
                    yield size, tuple(waiting)
                    waiting = []
            if waiting:
                yield size, tuple(waiting)

    work = partial(label_cycles, models=request.model_words)
    with closing(run_tasks(chunks(), work, jobs)) as answers:
        for answer in answers:
            yield from _drained(restored)
            if answer is None:
                yield None
                continue
            (size, chunk), made = answer
            journal.append(str(size), [_found(size, test) for test in made if isinstance(test, Test)])
            yield from zip(chunk, made, strict=True)
    yield from _drained(restored)


def _drained(waiting: list[tuple[Cycle, Test | Refused]]) -> Iterator[tuple[Cycle, Test | Refused]]:
    while waiting:
        yield waiting.pop(0)


def _found(size: int, test: Test) -> Found:
    return Found(test.name, ((f"{size:06} {test.name}", test_record(test)),))


def write_suite(request: Request, journal: Journal, outcome: Outcome, times: Mapping[str, Any]) -> int:
    """Turn the journal into the suite that was asked for, smallest tests first, and give the number of its tests.

    Raises ``InputError`` where a file cannot be written.
    """
    there = outcome.cycles

    def chosen(tests: list[Test]) -> list[Test]:
        passing = [test for test in tests if test.name in there and request.wants(test)]
        return minimal_tests(passing, there) if request.minimal else passing

    refused = sorted(outcome.refused, key=lambda each: each.name)
    manifest: dict[str, Any] = {
        "complete": outcome.complete,
        "version": VERSION,
        "counts": {"cycles": len(there), "refused": len(refused)},
    }
    if refused:
        manifest["refused"] = {each.name: each.reason for each in refused}
    if outcome.stopped:
        manifest["stopped"] = outcome.stopped
    return finish(journal, manifest, times, chosen)


def minimal_tests(tests: Iterable[Test], there: Mapping[str, Cycle]) -> list[Test]:
    """The tests that contain no other of the same verdicts (``corpus.cycles.containment``)."""
    groups: dict[tuple[str, ...], list[Test]] = {}
    tests = list(tests)
    for test in tests:
        groups.setdefault(tuple(test.verdicts.values()), []).append(test)
    least = {cycle for group in groups.values() for cycle in minimal([there[test.name] for test in group])}
    return [test for test in tests if there[test.name] in least]
