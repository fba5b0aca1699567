"""The pipeline of memory tests from edges: cycles, tests, verdicts, filters, the corpus.

The solver gives patterns of cycles, or cycles one by one; processes write them out, make their tests and judge them.
Patterns are found anew when a run goes on, for that takes moments; tests and verdicts, which take longer, come from the
journal. A unit of the journal is a size. Memory holds the names of cycles, and not their tests.

Where tests are asked for that models allow or forbid, the models are part of what the solver is asked
(``constraints.programs.separating``), in processes of their own; only what is left gets verdicts. Models that are no
.cat files have no clauses: then every cycle gets verdicts.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from constraints.cycles import CycleBounds, patterns
from constraints.loop import SolverEffort
from constraints.patterns import Pattern
from corpus.cycles.containment import minimal
from corpus.cycles.cycle import Cycle, cycle_name, litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.cycles.suites import litmus_record
from corpus.dialects.registry import dialect_for
from corpus.errors import InputError
from corpus.journal import FoundTest, Journal, finish, finish_named
from corpus.litmus.locations import Region
from corpus.records import test_record
from corpus.test import Test
from synth import VERSION
from synth.inputs import MEMORY
from synth.pool import Jobs, run_tasks
from synth.units import SearchOutcome
from synth.worker import UNLIMITED, Limits

if TYPE_CHECKING:  # modules that judge take longer to import than a small suite takes to make
    from constraints.programs.separating import Division
    from oracle.cat.interpreter import Model
    from oracle.consistency import ConsistencyModel

CHUNK, SMALL_CHUNK, PLAIN_CHUNK = 50, 10, 1000
"""The number of cycles that a process labels at once: fewer where most are asked for, and the first are waited for;
more where there is nothing to judge.
"""


@dataclass(frozen=True)
class CycleSuiteRequest:
    """The request for a suite of cycles: all options that change the corpus, and no others.

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
    like_diy7: bool = False
    labelled_under: tuple[str, ...] = ()
    allowed_by: tuple[str, ...] = ()
    forbidden_by: tuple[str, ...] = ()
    minimal: bool = False

    def __post_init__(self) -> None:
        for name in self.allowed_by:
            if name in self.forbidden_by:
                raise InputError(f"no test is like that: {name} is asked to allow it and to forbid it")

    def as_json(self) -> dict[str, Any]:
        """Return the request as the corpus keeps it, with the text of every model as a digest."""
        models = {model.name: model.digest for model in self.models}
        given = {name: value for name, value in asdict(self).items() if value or name != "like_diy7"}
        return {"kind": MEMORY, **given, "models": list(models), "model_digests": models}

    @cached_property
    def bounds(self) -> CycleBounds:
        """Return the bounds of the cycles. Raises ``InputError`` where an edge is unknown."""
        return CycleBounds(
            parse_edges(self.edges, self.scopes),
            tuple(scope for scope in ("cta", "gpu") if scope in self.scopes),
            tuple(Region(region) for region in self.regions),
            self.threads,
            self.thread_accesses,
            self.location_accesses,
            self.compositions,
            self.like_diy7,
        )

    @property
    def model_words(self) -> tuple[str, ...]:
        """Return the names of the models to label under as they were asked for, each once."""
        return tuple(dict.fromkeys((*self.labelled_under, *self.allowed_by, *self.forbidden_by)))

    @cached_property
    def models(self) -> list[ConsistencyModel]:
        """Return the models to label under. Raises ``InputError`` where one cannot be had."""
        return _resolved(self.model_words)

    @property
    def separates(self) -> bool:
        """Return whether there are filters whose models all have clauses: the solver then gives few other cycles."""
        judges = (*self.allowed_by, *self.forbidden_by)
        if not judges:
            return False
        from oracle.consistency import AxiomaticModel

        return all(isinstance(self._model(word), AxiomaticModel) for word in judges)

    def filters(self) -> tuple[list[Model], list[Model]]:
        """Return the .cat files that are to allow the tests, and those that are to forbid them."""
        one, other = ([self._model(word) for word in words] for words in (self.allowed_by, self.forbidden_by))
        return _models(one), _models(other)

    def _model(self, word: str) -> ConsistencyModel:
        return self.models[self.model_words.index(word)]

    def wants(self, test: Test) -> bool:
        """Return whether a test with these verdicts passes every filter."""
        if not (self.allowed_by or self.forbidden_by):
            return True
        from oracle.executions.judge import Answer

        names = {word: model.name for word, model in zip(self.model_words, self.models, strict=True)}
        return all(test.verdicts[names[word]] == Answer.ALLOWED for word in self.allowed_by) and all(
            test.verdicts[names[word]] == Answer.FORBIDDEN for word in self.forbidden_by
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """A cycle whose test no dialect says whole, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Made:
    """The result for a cycle, under the name of its test: the test, why it was refused, or None where the journal has
    it.

    ``cycle`` is the cycle itself, where that was asked for.
    """

    name: str
    test: FoundTest | Refused | None
    cycle: Cycle | None


@dataclass(slots=True)
class CycleSuiteOutcome(SearchOutcome):
    """The result of a run, and how it ended.

    ``found`` is the number of cycles; ``cycles`` has them by the names of their tests, where tests are compared by
    their cycles. ``tests`` is the number of judged tests. ``unknown`` has, for each model without a verdict on some of
    them, their number and the reason for the first.
    """

    found: int = 0
    cycles: dict[str, Cycle] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    tests: int = 0
    unknown: dict[str, tuple[int, str]] = field(default_factory=dict)
    exceeded: set[str] = field(default_factory=set)

    def exceed(self, _: object, limit: str) -> None:
        """Note that something was left because it exceeded the limit of an option."""
        self.exceeded.add(limit)

    def note(self, test: Test) -> None:
        """Count a test that was judged, and the models that have no verdict on it."""
        self.tests += 1
        if not test.verdicts:
            return
        from oracle.executions.judge import Answer

        for model, verdict in test.verdicts.items():
            if verdict == Answer.UNKNOWN:
                number, reason = self.unknown.get(model, (0, test.reasons.get(model, "")))
                self.unknown[model] = (number + 1, reason)


def _resolved(models: tuple[str, ...]) -> list[ConsistencyModel]:
    if not models:
        return []
    from oracle.consistency import resolve_consistency_models

    return resolve_consistency_models(models)


def _models(models: Sequence[ConsistencyModel]) -> list[Model]:
    from oracle.consistency import AxiomaticModel

    return [model.model for model in models if isinstance(model, AxiomaticModel)]


def labelled_test(cycle: Cycle, models: Sequence[ConsistencyModel]) -> Test | Refused:
    """Return the test of an oriented cycle with its verdicts, or why no dialect says it."""
    test = litmus_test(cycle)
    try:
        _, text = dialect_for(test)
    except InputError as error:
        return Refused(test.name, error.message)
    if not models:
        return litmus_record(test, text, cycle.size)
    from synth.memory.judging import labelled_record

    return labelled_record(test, text, cycle.size, models)


def label_cycles(
    chunk: Sequence[Pattern | Cycle], models: tuple[str, ...], known: Collection[str], cycles: bool
) -> Iterator[list[Made]]:
    """Yield the tests of some cycles of a size with their verdicts, but for those that are ``known``; a process calls
    it.

    The cycles themselves come with them where that is asked for.
    """
    resolved = _resolved(models)
    done: list[Made] = []
    for family in chunk:
        for cycle in map(oriented, family.cycles() if isinstance(family, Pattern) else (family,)):
            if known and (name := cycle_name(cycle)) in known:
                done.append(Made(name, None, cycle if cycles else None))
            else:
                test = labelled_test(cycle, resolved)
                found = _found(test) if isinstance(test, Test) else test
                done.append(Made(test.name, found, cycle if cycles else None))
    yield done


def search_division(division: Division, request: CycleSuiteRequest, solver: str) -> Iterator[tuple[int, Cycle | None]]:
    """Yield the cycles of a division whose tests may be asked for, each with the solver calls since the last cycle.

    A process calls it.
    """
    from constraints.programs.separating import separating_cycles

    effort, counted = SolverEffort(), 0
    for cycle in separating_cycles(request.bounds, division, *request.filters(), solver, effort):
        yield effort.calls - counted, cycle
        counted = effort.calls
    yield effort.calls - counted, None


def _every(request: CycleSuiteRequest, solver: str, effort: SolverEffort) -> Generator[Pattern]:
    for size in range(request.sizes[0], request.sizes[1] + 1):
        yield from patterns(request.bounds, size, solver, effort)


def _separating(
    request: CycleSuiteRequest,
    solver: str,
    jobs: Jobs,
    effort: SolverEffort,
    outcome: CycleSuiteOutcome,
    limits: Limits,
) -> Generator[Cycle | None]:
    """Yield the cycles whose tests may be asked for, and None now and then."""
    from constraints.programs.separating import divisions

    sizes = range(request.sizes[0], request.sizes[1] + 1)
    tasks = (division for size in sizes for division in divisions(request.bounds, size))
    work = partial(search_division, request=request, solver=solver)
    with closing(run_tasks(tasks, work, jobs, limits=limits, over=outcome.exceed)) as answers:
        for answer in answers:
            if answer is None:
                yield None
                continue
            _, (calls, cycle) = answer
            effort.calls += calls
            if cycle is not None:
                yield cycle


def synthesise(
    request: CycleSuiteRequest,
    journal: Journal,
    solver: str,
    jobs: Jobs,
    effort: SolverEffort,
    outcome: CycleSuiteOutcome,
    max_tests: int | None,
    limits: Limits = UNLIMITED,
) -> Generator[None]:
    """Take cycles into the outcome, and the labelled test of each into the journal; no more than ``max_tests``.

    Every cycle is taken, or every one whose test may be asked for. ``limits`` bound a test under all models, and a part
    of the search. Yields after each few cycles, and now and then, so that the caller can watch a clock.
    """
    known = {found.program for founds in journal.units.values() for found in founds}
    journal.units.clear()  # the journal's file keeps the units
    outcome.found = len(known)
    work = partial(label_cycles, models=request.model_words, known=known, cycles=request.minimal)
    search: Generator[Pattern | Cycle | None]
    if request.separates:
        search = _separating(request, solver, jobs, effort, outcome, limits)
    else:
        search = _every(request, solver, effort)
    most = SMALL_CHUNK if request.separates else CHUNK if request.model_words else PLAIN_CHUNK
    if limits != UNLIMITED:
        most = 1  # one at a time, so that it is known which was too slow
    with (
        closing(search) as found,
        closing(run_tasks(_chunks(found, most), work, jobs, limits=limits, over=outcome.exceed)) as answers,
    ):
        for answer in answers:
            if answer is not None and answer[0]:  # an empty chunk is a look at the clock
                chunk, made = answer
                _take(made, known, outcome, journal, chunk[0].size, max_tests)
            yield


def _chunks(found: Iterable[Pattern | Cycle | None], most: int) -> Iterator[tuple[Pattern | Cycle, ...]]:
    """Yield chunks of at most ``most`` cycles of one size.

    Where the search has not found more yet, a chunk is yielded at once, if only for a look at the clock.
    """
    waiting: list[Pattern | Cycle] = []
    room = most
    for whole in found:
        if whole is None:
            yield tuple(waiting)
            waiting, room = [], most
            continue
        for part in whole.parts(most) if isinstance(whole, Pattern) else (whole,):
            choices = part.choices if isinstance(part, Pattern) else 1
            if waiting and (part.size != waiting[0].size or choices > room):
                yield tuple(waiting)
                waiting, room = [], most
            waiting.append(part)
            room -= choices
    if waiting:
        yield tuple(waiting)


def _take(
    made: Iterable[Made], known: set[str], outcome: CycleSuiteOutcome, journal: Journal, size: int, most: int | None
) -> None:
    """Take each cycle once, for a process that died may have sent it before; no more than ``most`` of them in all."""
    founds: list[FoundTest] = []
    for candidate in made:
        if candidate.name not in known:
            if most is not None and outcome.found >= most:
                break
            known.add(candidate.name)
            outcome.found += 1
            if isinstance(candidate.test, Refused):
                outcome.refused.append(candidate.test)
            elif candidate.test is not None:
                founds.append(candidate.test)
        if candidate.cycle is not None:
            outcome.cycles[candidate.name] = candidate.cycle
    if founds:
        journal.append(str(size), founds)


def _found(test: Test) -> FoundTest:
    return FoundTest(test.name, ((f"{test.size:06} {test.name}", test_record(test)),))


def write_suite(
    request: CycleSuiteRequest, journal: Journal, outcome: CycleSuiteOutcome, times: Mapping[str, Any]
) -> int:
    """Turn the journal into the suite that was asked for, smallest tests first, and return the number of its tests.

    Raises ``InputError`` where a file cannot be written.
    """

    def wants(test: Test) -> bool:
        outcome.note(test)
        return request.wants(test)

    refused = {refusal.name: refusal.reason for refusal in outcome.refused}
    manifest = manifest_of(request, outcome.found, refused, VERSION, outcome.stopped)
    if request.minimal:
        there = outcome.cycles

        def chosen(tests: list[Test]) -> list[Test]:
            return minimal_tests([test for test in tests if test.name in there and wants(test)], there)

        return finish(journal, manifest, times, chosen)
    return finish_named(journal, manifest, times, wants)


def manifest_of(
    request: CycleSuiteRequest, cycles: int, refused: Mapping[str, str], version: str, stopped: str = ""
) -> dict[str, Any]:
    """Return the keys of a suite's manifest that do not follow from its tests.

    ``refused``: names of tests that no dialect says whole, with the reasons; ``stopped``: why it is not complete.
    """
    record = request.as_json()
    return {
        "complete": not stopped,
        "request": record,
        "models": record["models"],
        "version": version,
        "counts": {"cycles": cycles, "refused": len(refused)},
        **({"refused": dict(sorted(refused.items()))} if refused else {}),
        **({"stopped": stopped} if stopped else {}),
    }


def minimal_tests(tests: Iterable[Test], there: Mapping[str, Cycle]) -> list[Test]:
    """Return the tests that contain no other test with equal verdicts (``corpus.cycles.containment``)."""
    groups: dict[tuple[str, ...], list[Test]] = {}
    tests = list(tests)
    for test in tests:
        groups.setdefault(tuple(test.verdicts.values()), []).append(test)
    least = {cycle for group in groups.values() for cycle in minimal([there[test.name] for test in group])}
    return [test for test in tests if there[test.name] in least]
