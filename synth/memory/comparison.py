"""What models allow that others forbid: the smallest tests, of sizes that grow from the least.

Each split of a size into threads is searched for each pair of models, a unit of a journal. Of the tests of one shape
one is shown, relaxed step by step as long as it is a test; or, where that is asked for, those that are minimal for the
model that forbids. A unit that was cut off is searched again from its beginning, so that a search that goes on ends
with the same bytes.
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
from synth.units import NEVER, Record, Until, effort_of, search_units, stopped_by
from synth.worker import UNLIMITED, Limits

Pair = tuple[str, str]
"""The model that allows, and the model that forbids."""


@dataclass(frozen=True)
class ModelComparison:
    """Which models are compared, and over which programs.

    ``every``: all minimal tests of all sizes, and not one of each shape at the first size that has any. ``both_ways``:
    of two models, until there is a test each way.
    """

    models: tuple[ConsistencyModel, ...]
    words: Vocabulary
    events: tuple[int, int]
    threads: tuple[int, int] | None = None
    every: bool = False
    both_ways: bool = False

    @property
    def pairs(self) -> list[Pair]:
        """All ordered pairs."""
        names = [model.name for model in self.models]
        return [(one, other) for one in names for other in names if one != other]

    def model(self, name: str) -> Model:
        """The .cat file of a model. Raises ``InputError`` where it has none."""
        return next(axiomatic(model) for model in self.models if model.name == name)


@dataclass(frozen=True, slots=True)
class Part:
    """A pair of models, and a split of events into threads."""

    pair: Pair
    sizes: tuple[int, ...]

    @property
    def name(self) -> str:
        """Such as ``tso>sc/2.2``: what tso allows and sc forbids."""
        return f"{'>'.join(self.pair)}/{'.'.join(map(str, self.sizes))}"


@dataclass
class Differences:
    """What was found: the tests of each pair, smallest first, and up to which size each pair was searched."""

    tests: dict[Pair, list[Test]] = field(default_factory=dict)
    searched: dict[Pair, int] = field(default_factory=dict)
    stopped: str = ""

    @classmethod
    def none(cls, comparison: ModelComparison) -> Differences:
        """Before anything is found."""
        return cls({pair: [] for pair in comparison.pairs}, dict.fromkeys(comparison.pairs, comparison.events[0] - 1))

    @property
    def events(self) -> int:
        """The largest size that was searched."""
        return max(self.searched.values())

    @property
    def any(self) -> bool:
        """Whether any two models differ."""
        return any(self.tests.values())

    def ordering(self, comparison: ModelComparison) -> Ordering:
        """How the models stand to each other."""
        searches = {}
        for pair in comparison.pairs:
            tests = self.tests[pair]
            searches[pair] = (
                ModelSearch(tests[0].name, tests[0].size) if tests else ModelSearch(None, self.searched[pair])
            )
        names = tuple(model.name for model in comparison.models)
        return Ordering(names, searches, comparison.words.summary)


def run_part(part: Part, comparison: ModelComparison, solver: str) -> Iterator[list[FoundTest] | dict[str, int]]:
    """The tests of a part, each as soon as it is found: of each shape one, relaxed as far as it goes; or all minimal
    ones. Last, its statistics.

    A *shape* is what instructions of which locations there are, what is read and what is last.
    """
    effort = SolverEffort()
    allows, forbids = (comparison.model(name) for name in part.pair)
    question = SeparationQuestion(forbids, (allows,), minimal=comparison.every)
    encoding = Forbidden(question, comparison.words, part.sizes)
    if comparison.every:
        found: Iterable[Execution] = solutions(encoding, solver, effort=effort)
    else:
        told = partial(tells, comparison=comparison, pair=part.pair)
        shapes = solutions(Shapes(encoding), solver, effort=effort)
        found = (descended(some, comparison.words, told) for some in shapes)
    for execution in found:
        yield [FoundTest(execution_text(normal_form(execution)))]
    yield asdict(effort)


def descended(execution: Execution, words: Vocabulary, asked: Callable[[Execution], bool]) -> Execution:
    """What is asked for, relaxed step by step as long as it is."""
    while True:
        ways = (relaxed(execution, way, words) for way in relaxations(execution, words))
        smaller = next((left for left in ways if asked(left)), None)
        if smaller is None:
            return execution
        execution = smaller


def tells(execution: Execution, comparison: ModelComparison, pair: Pair) -> bool:
    """Whether one model allows a test and another forbids it, and neither raises a flag of it."""
    test = litmus_test(execution, "test", observed=False)
    allows, forbids = (judge(test, comparison.model(name)) for name in pair)
    told = allows.answer is Answer.ALLOWED and forbids.answer is Answer.FORBIDDEN
    return told and not allows.flags and not forbids.flags


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
    """The tests of each pair at each size as soon as they are known, all of which are added to ``done``.

    Parts that the journal has closed are not searched again. ``limits``: what a part may take, and a test that is
    labelled. ``watch`` is told of the parts of one size after the other, how many are closed and planned, and how many
    tests are known.
    """
    for events in range(comparison.events[0], comparison.events[1] + 1):
        pairs = [pair for pair in comparison.pairs if comparison.every or not _settled(pair, comparison, done)]
        parts = [Part(pair, sizes) for pair in pairs for sizes in splits(events, comparison.threads)]
        found: dict[Pair, dict[str, None]] = {pair: {} for pair in pairs}
        for part in parts:
            if part.name in journal.closed:
                found[part.pair].update(dict.fromkeys(each.program for each in journal.units.get(part.name, ())))

        def take(part: Part, founds: list[FoundTest], found: dict[Pair, dict[str, None]] = found) -> list[FoundTest]:
            new = [each for each in founds if each.program not in found[part.pair]]
            found[part.pair].update(dict.fromkeys(each.program for each in new))
            return new

        def known(found: dict[Pair, dict[str, None]] = found) -> int:
            return sum(map(len, done.tests.values())) + sum(map(len, found.values()))

        work = partial(run_part, comparison=comparison, solver=solver)
        done.stopped = search_units(parts, work, journal, jobs, take, known, until, watch, limits)
        for pair in pairs:
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
    """The tests of a size that is done, for who reads a corpus that is not finished."""
    unit = " ".join(pair)
    known = {found.program for found in journal.units.get(unit, ())}
    new = [FoundTest(test.name, ((_key(pair, test), test_record(test)),)) for test in tests if test.name not in known]
    if new:
        journal.append(unit, new)


def _key(pair: Pair, test: Test) -> str:
    return f"{test.size:03} {' '.join(pair)} {test.name}"


def write_differences(journal: Journal, done: Differences, solver: str, seconds: float) -> int:
    """Turns the journal into the corpus of the tests, and gives their number.

    Raises ``InputError`` where a file cannot be written.
    """
    keyed = [(_key(pair, test), test) for pair, tests in done.tests.items() for test in tests]
    unique: dict[str, Test] = {}
    for _, test in sorted(keyed, key=lambda each: (each[0], each[1].digest)):
        unique.setdefault(test.digest, test)
    stopped = {"stopped": done.stopped} if done.stopped else {}
    manifest = {"complete": not done.stopped, "version": VERSION, **stopped}
    times = {"seconds": round(seconds, 3), "solver": solver, **effort_of(journal)}
    return finish(journal, manifest, times, lambda tests: list(unique.values()))


def _recorded(
    found: Iterable[str], comparison: ModelComparison, jobs: Jobs, limits: Limits, done: Differences
) -> list[Test]:
    """Executions as tests with the verdicts of all the models, in normal order, as far as the limits let them be."""
    executions = sorted(map(parse_execution, found), key=lambda each: (len(each.threads), execution_text(each)))

    def over(_: object, limit: str) -> None:
        done.stopped = done.stopped or stopped_by([limit])

    tests: list[Test] = []
    some = [executions] if executions else []
    each = replace(limits, whole=False)
    with closing(run_tasks(some, partial(_labelled, comparison=comparison), jobs, limits=each, over=over)) as results:
        tests += (result[1] for result in results if result is not None)
    return tests


def _labelled(executions: Sequence[Execution], comparison: ModelComparison) -> Iterator[Test]:
    for execution in executions:
        name, turned = name_of(execution)
        test = litmus_test(turned, name, observed=False)
        yield labelled_record(test, text_of(test, comparison.words), execution.size, comparison.models)


def _settled(pair: Pair, comparison: ModelComparison, done: Differences) -> bool:
    """Whether a pair needs no further search: it has a test, or of two models the other way has one."""
    either = len(comparison.models) == 2 and not comparison.both_ways
    return bool(done.tests[pair] or (either and done.tests[pair[1], pair[0]]))
