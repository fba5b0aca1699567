"""The search for the smallest tests that one model allows and another forbids. Sizes grow from the least.

Each split of a size into threads is searched for each pair of models, as a unit of a journal. One test of each shape is
shown, relaxed step by step as long as it tells the models apart. On request, the search instead finds all tests that
are minimal for the model that forbids. A unit that was cut off is searched again from its beginning, so that a resumed
search ends with equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from constraints.loop import SolverEffort, solutions
from constraints.programs.forbidden import Forbidden, SeparationQuestion, Shapes, splits
from corpus.executions.execution import Execution
from corpus.executions.litmus import litmus_test
from corpus.executions.names import name_of
from corpus.executions.relaxations import relaxations, relaxed
from corpus.executions.text import execution_text, normal_form, parse_execution
from corpus.executions.vocabulary import Vocabulary
from corpus.journal import FoundTest, Journal, finish
from corpus.records import test_record
from corpus.test import Test
from oracle.cat.interpreter import Model
from oracle.consistency import ConsistencyModel
from oracle.executions.judge import Answer, judge
from synth import VERSION
from synth.memory.judging import labelled_record
from synth.memory.ordering import ModelSearch, Ordering
from synth.memory.suites import axiomatic, text_of, with_ranks
from synth.pool import Jobs, run_tasks
from synth.units import NEVER, Record, SearchRun, Until, effort_of, new_tests, search_rounds, stopped_by
from synth.worker import UNLIMITED, Limits

Pair = tuple[str, str]
"""The name of the model that allows, and that of the model that forbids."""


@dataclass(frozen=True)
class ModelComparison:
    """The question of a comparison: the models, and the programs over which they are compared.

    ``every``: find all minimal tests of all sizes, and not one of each shape at the first size that has any.
    ``both_ways``: of two models, go on until there is a test each way.
    """

    models: tuple[ConsistencyModel, ...]
    words: Vocabulary
    events: tuple[int, int]
    threads: tuple[int, int] | None = None
    every: bool = False
    both_ways: bool = False

    @property
    def pairs(self) -> list[Pair]:
        """Return all ordered pairs of the names of two different models."""
        names = [model.name for model in self.models]
        return [(one, other) for one in names for other in names if one != other]

    def model(self, name: str) -> Model:
        """Return the .cat model of that name. Raises ``InputError`` where the model is no .cat file."""
        return next(axiomatic(model) for model in self.models if model.name == name)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a comparison: a pair of models, and a split of events into threads."""

    pair: Pair
    sizes: tuple[int, ...]

    @property
    def name(self) -> str:
        """Return the name of the part, such as ``tso>sc/2.2``: what tso allows and sc forbids."""
        return f"{'>'.join(self.pair)}/{'.'.join(map(str, self.sizes))}"


@dataclass
class Differences:
    """The result of a comparison: the tests of each pair, smallest first, and the size up to which it was searched."""

    tests: dict[Pair, list[Test]] = field(default_factory=dict)
    searched: dict[Pair, int] = field(default_factory=dict)
    stopped: str = ""

    @classmethod
    def none(cls, comparison: ModelComparison) -> Differences:
        """Return the result of a comparison in which no size has been searched yet."""
        return cls({pair: [] for pair in comparison.pairs}, dict.fromkeys(comparison.pairs, comparison.events[0] - 1))

    @property
    def events(self) -> int:
        """Return the largest size, in events, that was searched for any pair."""
        return max(self.searched.values())

    @property
    def any(self) -> bool:
        """Return whether there is a pair of models that a test tells apart."""
        return any(self.tests.values())

    def ordering(self, comparison: ModelComparison) -> Ordering:
        """Return the ordering of the models by strength that follows from the tests found."""
        searches = {}
        for pair in comparison.pairs:
            tests = self.tests[pair]
            searches[pair] = (
                ModelSearch(tests[0].name, tests[0].size) if tests else ModelSearch(None, self.searched[pair])
            )
        names = tuple(model.name for model in comparison.models)
        return Ordering(names, searches, comparison.words.summary)


def run_part(part: Part, comparison: ModelComparison, solver: str) -> Iterator[list[FoundTest] | dict[str, int]]:
    """Yield the tests of a part, each as soon as it is found, and last the part's statistics.

    The tests are one of each shape, relaxed as far as it goes, or all minimal ones. A *shape* is a set of instructions
    with their locations, what they read, and which writes are last.
    """
    effort = SolverEffort()
    allows, forbids = (comparison.model(name) for name in part.pair)
    question = SeparationQuestion(forbids, (allows,), minimal=comparison.every)
    encoding = Forbidden(question, comparison.words, part.sizes)
    if comparison.every:
        found: Iterable[Execution] = solutions(encoding, solver, effort=effort)
    else:
        differs = partial(tells, comparison=comparison, pair=part.pair)
        shapes = solutions(Shapes(encoding), solver, effort=effort)
        found = (descended(some, comparison.words, differs) for some in shapes)
    for execution in found:
        yield [FoundTest(execution_text(normal_form(execution)))]
    yield asdict(effort)


def descended(execution: Execution, words: Vocabulary, wanted: Callable[[Execution], bool]) -> Execution:
    """Relax an execution step by step for as long as a relaxation satisfies ``wanted``."""
    while True:
        ways = (relaxed(execution, way, words) for way in relaxations(execution, words))
        smaller = next((left for left in ways if wanted(left)), None)
        if smaller is None:
            return execution
        execution = smaller


def tells(execution: Execution, comparison: ModelComparison, pair: Pair) -> bool:
    """Return whether a pair's first model allows a test, its second forbids it, and neither raises a flag."""
    test = litmus_test(execution, "test", observed=False)
    allows, forbids = (judge(test, comparison.model(name)) for name in pair)
    differs = allows.answer is Answer.ALLOWED and forbids.answer is Answer.FORBIDDEN
    return differs and not allows.flags and not forbids.flags


def compare(
    comparison: ModelComparison,
    journal: Record,
    solver: str,
    jobs: Jobs,
    done: Differences,
    until: Until = NEVER,
    watch: Callable[[int, int, int], None] = lambda closed, planned, tests: None,
    limits: Limits = UNLIMITED,
) -> Iterator[tuple[Pair, list[Test]]]:
    """Yield the tests of each pair at each size as soon as they are known, and add all of them to ``done``.

    Parts that the journal has closed are not searched again. ``limits`` bound a part, and a test that is labelled.
    ``watch`` is told, one size after the other, how many parts are closed and planned, and how many tests are known.
    """
    found: dict[Pair, dict[str, None]] = {}

    def rounds() -> Iterator[tuple[int, list[Part]]]:
        for events in range(comparison.events[0], comparison.events[1] + 1):
            pairs = [pair for pair in comparison.pairs if comparison.every or not _settled(pair, comparison, done)]
            parts = [Part(pair, sizes) for pair in pairs for sizes in splits(events, comparison.threads)]
            found.clear()
            found.update({pair: {} for pair in pairs})
            for part in parts:
                if part.name in journal.closed:
                    found[part.pair].update(dict.fromkeys(unit.program for unit in journal.units.get(part.name, ())))
            yield events, parts

    def take(part: Part, founds: list[FoundTest]) -> list[FoundTest]:
        new = new_tests(founds, found[part.pair])
        found[part.pair].update(dict.fromkeys(unit.program for unit in new))
        return new

    def known() -> int:
        return sum(map(len, done.tests.values())) + sum(map(len, found.values()))

    run = SearchRun(journal, solver, jobs, until, watch, limits)
    work = partial(run_part, comparison=comparison, solver=solver)
    for events, stopped in search_rounds(rounds(), work, take, known, run):
        done.stopped = stopped
        for pair in found:
            tests = with_ranks(
                _recorded(found[pair], comparison, jobs, limits, done), {test.name for test in done.tests[pair]}
            )
            done.tests[pair] += tests
            if not done.stopped:
                done.searched[pair] = events
                _record(journal, pair, tests)
            if tests:
                yield pair, tests
        if done.stopped:
            return


def _record(journal: Record, pair: Pair, tests: Sequence[Test]) -> None:
    """Record the tests of a size that is done, for readers of a corpus that is not finished."""
    unit = " ".join(pair)
    known = {found.program for found in journal.units.get(unit, ())}
    new = [FoundTest(test.name, ((_key(pair, test), test_record(test)),)) for test in tests if test.name not in known]
    if new:
        journal.append(unit, new)


def _key(pair: Pair, test: Test) -> str:
    return f"{test.size:03} {' '.join(pair)} {test.name}"


def write_differences(journal: Journal, done: Differences, solver: str, seconds: float) -> int:
    """Turn the journal into the corpus of the tests, and return their number.

    Raises ``InputError`` where a file cannot be written.
    """
    keyed = [(_key(pair, test), test) for pair, tests in done.tests.items() for test in tests]
    unique: dict[str, Test] = {}
    for _, test in sorted(keyed, key=lambda keyed_test: (keyed_test[0], keyed_test[1].digest)):
        unique.setdefault(test.digest, test)
    stopped = {"stopped": done.stopped} if done.stopped else {}
    manifest = {"complete": not done.stopped, "version": VERSION, **stopped}
    times = {"seconds": round(seconds, 3), "solver": solver, **effort_of(journal)}
    return finish(journal, manifest, times, lambda tests: list(unique.values()))


def _recorded(
    found: Iterable[str], comparison: ModelComparison, jobs: Jobs, limits: Limits, done: Differences
) -> list[Test]:
    """Return executions as tests with the verdicts of all models within the limits, in normal order."""
    executions = sorted(
        map(parse_execution, found), key=lambda execution: (len(execution.threads), execution_text(execution))
    )

    def over(_: object, limit: str) -> None:
        done.stopped = done.stopped or stopped_by([limit])

    tests: list[Test] = []
    some = [executions] if executions else []
    test_limits = replace(limits, whole=False)
    with closing(
        run_tasks(some, partial(_labelled, comparison=comparison), jobs, limits=test_limits, over=over)
    ) as results:
        tests += (result[1] for result in results if result is not None)
    return tests


def _labelled(executions: Sequence[Execution], comparison: ModelComparison) -> Iterator[Test]:
    for execution in executions:
        name, turned = name_of(execution)
        test = litmus_test(turned, name, observed=False)
        yield labelled_record(test, text_of(test, comparison.words), execution.size, comparison.models)


def _settled(pair: Pair, comparison: ModelComparison, done: Differences) -> bool:
    """Return whether a pair needs no further search: it has a test, or the other way of two models has one."""
    either = len(comparison.models) == 2 and not comparison.both_ways
    return bool(done.tests[pair] or (either and done.tests[pair[1], pair[0]]))
