"""What models allow that others forbid: the smallest tests, of sizes that grow from the least.

A size is searched in two steps, for each split of its events into threads and each pair of models: whether there is any
test at all, which is quick where there is none; then the minimal ones, those of which no relaxation is forbidden.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from constraints.loop import solutions
from constraints.programs.forbidden import Forbidden, Question, splits
from corpus.cycles.suites import litmus_record
from corpus.executions.execution import Execution
from corpus.executions.litmus import litmus_test
from corpus.executions.names import name_of
from corpus.executions.text import execution_text
from corpus.executions.vocabulary import Vocabulary
from corpus.test import Test
from oracle.cat.interpreter import Model
from oracle.consistency import ConsistencyModel
from oracle.executions.judge import UNROLL
from synth.memory.judging import AUTO, judge_with
from synth.memory.ordering import Ordering, Search
from synth.memory.suites import axiomatic, normal_form, text_of, with_ranks
from synth.pool import run_tasks

Pair = tuple[str, str]
"""The model that allows, and the model that forbids."""


@dataclass(frozen=True)
class Comparison:
    """Which models are compared, over which programs, and whether only minimal tests count at sizes beyond the first.

    ``every``: search all sizes, and not only up to the first that has a test of a pair.
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
    """The minimal tests of a part; where there is a test and none is minimal, that one."""
    allows, forbids = (comparison.model(name) for name in part.pair)
    question = Question(forbids, (allows,), minimal=False)
    some = next(solutions(Forbidden(question, comparison.words, part.sizes), solver), None)
    if some is None:
        yield []
        return
    least = list(solutions(Forbidden(replace(question, minimal=True), comparison.words, part.sizes), solver))
    yield list(map(normal_form, least or [some]))


def compare(
    comparison: Comparison, solver: str, jobs: int, done: Differences
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
        judged = {model.name: judge_with(test, model, AUTO, UNROLL) for model in comparison.models}
        verdicts: Mapping[str, str] = {model: str(judgement.answer) for model, judgement in judged.items()}
        reasons = {model: judgement.reason for model, judgement in judged.items() if judgement.reason}
        made.append(litmus_record(test, text_of(test, comparison.words), execution.size, verdicts, reasons))
    return with_ranks(made, {test.name for test in before})
