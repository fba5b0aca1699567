"""What models allow that others forbid: the smallest tests, of sizes that grow from the least.

Each split of a size into threads is searched for each pair of models. Of the tests of one shape one is shown, relaxed
step by step as long as it is a test; or, where that is asked for, those that are minimal for the model that forbids.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from constraints.loop import solutions
from constraints.programs.forbidden import Forbidden, Question, Shapes, splits
from corpus.executions.execution import Execution
from corpus.executions.litmus import litmus_test
from corpus.executions.names import name_of
from corpus.executions.relaxations import relaxations, relaxed
from corpus.executions.text import execution_text
from corpus.executions.vocabulary import Vocabulary
from corpus.test import Test
from oracle.cat.interpreter import Model
from oracle.consistency import ConsistencyModel
from oracle.executions.judge import Answer, judge
from synth.memory.judging import labelled_record
from synth.memory.ordering import Ordering, Search
from synth.memory.suites import axiomatic, normal_form, text_of, with_ranks
from synth.pool import Jobs, run_tasks

Pair = tuple[str, str]
"""The model that allows, and the model that forbids."""


@dataclass(frozen=True)
class Comparison:
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


@dataclass
class Differences:
    """What was found: the tests of each pair, smallest first, and up to which size each pair was searched."""

    tests: dict[Pair, list[Test]] = field(default_factory=dict)
    searched: dict[Pair, int] = field(default_factory=dict)
    stopped: str = ""

    @classmethod
    def none(cls, comparison: Comparison) -> Differences:
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

    def ordering(self, comparison: Comparison) -> Ordering:
        """How the models stand to each other."""
        searches = {}
        for pair in comparison.pairs:
            tests = self.tests[pair]
            searches[pair] = Search(tests[0].name, tests[0].size) if tests else Search(None, self.searched[pair])
        names = tuple(model.name for model in comparison.models)
        return Ordering(names, searches, comparison.words.summary)


def find(part: Part, comparison: Comparison, solver: str) -> Iterator[list[Execution]]:
    """The tests of a part: of each shape one, relaxed as far as it goes; or all minimal ones.

    A *shape* is what instructions of which locations there are, what is read and what is last.
    """
    allows, forbids = (comparison.model(name) for name in part.pair)
    question = Question(forbids, (allows,), minimal=comparison.every)
    encoding = Forbidden(question, comparison.words, part.sizes)
    if comparison.every:
        yield list(map(normal_form, solutions(encoding, solver)))
        return
    shapes, told = Shapes(encoding), partial(tells, comparison=comparison, pair=part.pair)
    yield [normal_form(descended(some, comparison.words, told)) for some in solutions(shapes, solver)]


def descended(execution: Execution, words: Vocabulary, asked: Callable[[Execution], bool]) -> Execution:
    """What is asked for, relaxed step by step as long as it is."""
    while True:
        ways = (relaxed(execution, way, words) for way in relaxations(execution, words))
        smaller = next((left for left in ways if asked(left)), None)
        if smaller is None:
            return execution
        execution = smaller


def tells(execution: Execution, comparison: Comparison, pair: Pair) -> bool:
    """Whether one model allows a test and another forbids it, and neither raises a flag of it."""
    test = litmus_test(execution, "test", observed=False)
    allows, forbids = (judge(test, comparison.model(name)) for name in pair)
    told = allows.answer is Answer.ALLOWED and forbids.answer is Answer.FORBIDDEN
    return told and not allows.flags and not forbids.flags


def compare(
    comparison: Comparison, solver: str, jobs: Jobs, done: Differences
) -> Generator[tuple[Pair, list[Test]] | None]:
    """The tests of each pair at each size as soon as they are known, all of which are added to ``done``.

    None now and then, so that the caller can watch a clock.
    """
    for events in range(comparison.events[0], comparison.events[1] + 1):
        pairs = [pair for pair in comparison.pairs if comparison.every or not _settled(pair, comparison, done)]
        parts = [Part(pair, sizes) for pair in pairs for sizes in splits(events, comparison.threads)]
        found: dict[Pair, list[Execution]] = {pair: [] for pair in pairs}
        for result in run_tasks(parts, partial(find, comparison=comparison, solver=solver), jobs):
            if result is None:
                yield None
                continue
            part, executions = result
            found[part.pair] += executions
        for pair in pairs:
            tests = records(found[pair], comparison, done.tests[pair])
            done.tests[pair] += tests
            done.searched[pair] = events
            if tests:
                yield pair, tests


def _settled(pair: Pair, comparison: Comparison, done: Differences) -> bool:
    """Whether a pair needs no further search: it has a test, or of two models the other way has one."""
    either = len(comparison.models) == 2 and not comparison.both_ways
    return bool(done.tests[pair] or (either and done.tests[pair[1], pair[0]]))


def records(executions: Sequence[Execution], comparison: Comparison, before: Sequence[Test]) -> list[Test]:
    """Executions as tests with names that none before has and the verdicts of all the models, in normal order."""
    made = []
    for execution in sorted(executions, key=lambda each: (len(each.threads), execution_text(each))):
        name, turned = name_of(execution)
        test = litmus_test(turned, name, observed=False)
        made.append(labelled_record(test, text_of(test, comparison.words), execution.size, comparison.models))
    return with_ranks(made, {test.name for test in before})
