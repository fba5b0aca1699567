"""The pipeline of memory tests: cycles of each size, their tests, verdicts, what to keep, and the corpus.

Cycles are found anew when a run goes on, for that takes seconds; verdicts, which take longer, come from the journal. A
unit of the journal is a size.

Where tests are asked for that models allow or forbid, the models are part of what the solver is asked
(``constraints.programs.separating``), in processes of their own; only what is left gets verdicts. Models that are no
.cat files have no clauses: then every cycle gets verdicts.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any

from constraints.cycles import CycleBounds, cycles
from constraints.loop import Effort
from constraints.programs.separating import Division, divisions, separating_cycles
from corpus.cycles.containment import minimal
from corpus.cycles.cycle import Cycle, cycle_name, litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.dialects.registry import dialect_for
from corpus.errors import InputError
from corpus.journal import Found, Journal, finish
from corpus.litmus.test import Region
from corpus.records import record_reader, test_record
from corpus.test import Test
from oracle.cat.interpreter import Model
from oracle.consistency import AxiomaticModel, ConsistencyModel, resolve_consistency_models
from oracle.executions.judge import Answer
from synth import VERSION
from synth.inputs import MEMORY
from synth.memory.judging import labelled_record
from synth.pool import Jobs, run_tasks

CHUNK, SMALL_CHUNK = 50, 10
"""Cycles that a process labels at once; fewer where most of them are asked for, and the first are waited for."""


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

    @property
    def separates(self) -> bool:
        """Whether there are filters, all of whose models have clauses: the solver then gives few other cycles."""
        asked = (*self.allowed_by, *self.forbidden_by)
        return bool(asked) and all(isinstance(self._model(word), AxiomaticModel) for word in asked)

    def filters(self) -> tuple[list[Model], list[Model]]:
        """The .cat files that are to allow the tests, and those that are to forbid them."""
        one, other = ([self._model(word) for word in words] for words in (self.allowed_by, self.forbidden_by))
        return _models(one), _models(other)

    def _model(self, word: str) -> ConsistencyModel:
        return self.models[self.model_words.index(word)]

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


def _models(models: Sequence[ConsistencyModel]) -> list[Model]:
    return [model.model for model in models if isinstance(model, AxiomaticModel)]


def label_cycles(chunk: Sequence[Cycle], models: tuple[str, ...]) -> Iterator[list[Test | Refused]]:
    """The tests of some cycles of a size with their verdicts; what one process does."""
    resolved = _resolved(models)
    done: list[Test | Refused] = []
    for cycle in chunk:
        test = litmus_test(cycle)
        try:
            _, text = dialect_for(test)
        except InputError as error:
            done.append(Refused(test.name, error.message))
            continue
        done.append(labelled_record(test, text, cycle.size, resolved))
    yield done


def search_division(division: Division, request: Request, solver: str) -> Iterator[tuple[int, Cycle | None]]:
    """The cycles of a division whose tests may be asked for, each with the calls of the solver since the last; what one
    process does."""
    effort, counted = Effort(), 0
    for cycle in separating_cycles(request.bounds, division, *request.filters(), solver, effort):
        yield effort.calls - counted, cycle
        counted = effort.calls
    yield effort.calls - counted, None


def _every(request: Request, solver: str, effort: Effort) -> Generator[Cycle]:
    for size in range(request.sizes[0], request.sizes[1] + 1):
        yield from cycles(request.bounds, size, solver, effort)


def _separating(request: Request, solver: str, jobs: Jobs, effort: Effort) -> Generator[Cycle | None]:
    """The cycles whose tests may be asked for; None now and then."""
    sizes = range(request.sizes[0], request.sizes[1] + 1)
    tasks = (division for size in sizes for division in divisions(request.bounds, size))
    with closing(run_tasks(tasks, partial(search_division, request=request, solver=solver), jobs)) as answers:
        for answer in answers:
            if answer is None:
                yield None
                continue
            _, (calls, cycle) = answer
            effort.calls += calls
            if cycle is not None:
                yield cycle


def synthesise(
    request: Request, journal: Journal, solver: str, jobs: Jobs, effort: Effort
) -> Generator[tuple[Cycle, Test | Refused] | None]:
    """Every cycle, or every one whose test may be asked for, with its labelled test as soon as it is found.

    None now and then, so that the caller can watch a clock."""
    read = record_reader(list(journal.request["models"]))
    known = {
        found.program: read(record)
        for founds in journal.units.values()
        for found in founds
        for _, record in found.tests
    }
    restored: list[tuple[Cycle, Test | Refused]] = []

    def chunks(found: Iterable[Cycle | None]) -> Iterator[tuple[Cycle, ...]]:
        """Cycles of one size; at once, if only for a look at the clock, where the search has not found more yet."""
        waiting: list[Cycle] = []
        most = SMALL_CHUNK if request.separates else CHUNK
        for cycle in found:
            if waiting and (cycle is None or cycle.size != waiting[0].size or len(waiting) == most):
                yield tuple(waiting)
                waiting = []
            elif cycle is None:
                yield ()
            if cycle is None:
                continue
            turned = oriented(cycle)
            if test := known.get(cycle_name(turned)):
                restored.append((turned, test))
            else:
                waiting.append(turned)
        if waiting:
            yield tuple(waiting)

    work = partial(label_cycles, models=request.model_words)
    asked = _separating(request, solver, jobs, effort) if request.separates else _every(request, solver, effort)
    with closing(asked) as found, closing(run_tasks(chunks(found), work, jobs)) as answers:
        for answer in answers:
            yield from _drained(restored)
            if answer is None:
                yield None
                continue
            chunk, made = answer
            if chunk:
                journal.append(str(chunk[0].size), [_found(test) for test in made if isinstance(test, Test)])
            yield from zip(chunk, made, strict=True)
            if not chunk:
                yield None
    yield from _drained(restored)


def _drained(waiting: list[tuple[Cycle, Test | Refused]]) -> Iterator[tuple[Cycle, Test | Refused]]:
    while waiting:
        yield waiting.pop(0)


def _found(test: Test) -> Found:
    return Found(test.name, ((f"{test.size:06} {test.name}", test_record(test)),))


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
