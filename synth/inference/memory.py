"""The inference of consistency models: the models of a sketch that fit, and the programs that tell them apart.

Tests that are known come first. Then programs of growing size are searched for one that tells apart what no known test
does, until a solver has shown that none is left; what is found is relaxed step by step, as ``synth compare`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from constraints.loop import solutions
from constraints.programs.forbidden import splits
from constraints.programs.sketched import TellingApart, ToldApart
from corpus.executions.execution import Execution
from corpus.executions.litmus import litmus_test
from corpus.executions.names import name_of
from corpus.executions.vocabulary import Vocabulary
from corpus.journal import first_free
from corpus.test import Test
from oracle.inference.classes import SketchTest, separating
from oracle.inference.model_sets import ModelSet
from oracle.inference.sketch import Filling, Hole, Sketch
from oracle.inference.switches import with_switches
from oracle.inference.verdicts import allowing
from synth.inference.facts import KnownOutcome
from synth.memory.comparison import descended
from synth.memory.judging import labelled_record
from synth.memory.suites import text_of
from synth.units import Until

MOST_CHANGES = 3
"""The limit of changes of a sketch that are tried where no model fits."""

MOST_NAMED = 6
"""The limit of ways to change a sketch that are named."""


@dataclass(frozen=True)
class SketchHypotheses:
    """The models of a sketch, as hypotheses of an inference."""

    sketch: Sketch

    @property
    def name(self) -> str:
        """Return the name of the sketch."""
        return self.sketch.name

    @property
    def valid(self) -> ModelSet:
        """Return the set of all models of the sketch."""
        return self.sketch.valid

    @property
    def allows(self) -> str:
        """Return what models do with a test whose outcome they allow."""
        return "allow"

    def described(self, models: ModelSet) -> list[str]:
        """Return a line for each hole that all models fill in one way, and one for the others together.

        Of a sketch that is made of a model, only the holes that are filled otherwise than usual have lines.
        """
        lines, free = [], []
        for hole in self.sketch.holes:
            ways = self.ways(hole, models)
            if len(ways) > 1:
                free.append(hole.name)
            elif hole.usual is None:
                lines.append(hole.text(ways[0]))
            elif ways != [hole.usual]:
                lines.append(f"without {hole.alternatives[0]} ({hole.name}, line {hole.position.line})")
        if all(hole.usual is not None for hole in self.sketch.holes):
            lines = [f"{self.name}, but:", *lines] if lines else [f"{self.name} as it is"]
        return [*lines, f"either way: {', '.join(free)}"] if free else lines

    def ways(self, hole: Hole, models: ModelSet) -> list[int]:
        """Return the ways in which some of the models fill a hole."""
        return [way for way in hole.ways if models & self.sketch.where(hole, way)]

    def chosen(self, models: ModelSet) -> Filling:
        """Return the model that stands for a class: what is of no consequence is as usual, or else left out."""
        filling = []
        for hole in self.sketch.holes:
            ways = self.ways(hole, models)
            way = hole.usual if hole.usual in ways else ways[0]
            assert way is not None
            filling.append(way)
            models = models & self.sketch.where(hole, way)
        return tuple(filling)


@dataclass(frozen=True, slots=True)
class SeparatingTest:
    """A test that was found to tell models apart: as a test of a corpus, and with the models that allow it."""

    record: Test
    test: SketchTest


@dataclass
class ProgramSearch:
    """The search for programs that tell models of a sketch apart, over a vocabulary.

    ``searched``: the size up to which no program is left. ``taken`` are names that tests have already.
    """

    sketch: Sketch
    words: Vocabulary
    events: tuple[int, int]
    solver: str
    threads: tuple[int, int] | None = None
    searched: int = 0
    stopped: bool = False

    @property
    def bound(self) -> str:
        """Return the bound in words."""
        return f"up to {max(self.searched, self.events[0] - 1)} events"

    @property
    def complete(self) -> bool:
        """Return whether all sizes were searched to their end."""
        return self.searched >= self.events[1]

    def run(
        self,
        fit: ModelSet,
        known: Iterable[SketchTest],
        until: Until,
        watch: Callable[[int, int, int], None] = lambda closed, planned, tests: None,
    ) -> Iterator[SeparatingTest]:
        """Yield the programs that tell apart what no known one does, smallest first, each with a name of its own."""
        tests = list(known)
        for events in range(max(self.events[0], self.searched + 1), self.events[1] + 1):
            for new in self._of_size(events, fit, tests, until, watch):
                tests.append(new.test)
                yield new
            if self.stopped:
                return
            self.searched = events

    def smallest(self, fit: ModelSet, known: Iterable[SketchTest], until: Until) -> list[SeparatingTest]:
        """Return the programs of the first size at which any tells apart what no known one does.

        Sizes at which there is none are not searched again: what fits later is among what fits now.
        """
        tests = list(known)
        for events in range(max(self.events[0], self.searched + 1), self.events[1] + 1):
            found = list(self._of_size(events, fit, tests, until))
            if found or self.stopped:
                return found
            self.searched = events
        return []

    def _of_size(
        self,
        events: int,
        fit: ModelSet,
        known: Sequence[SketchTest],
        until: Until,
        watch: Callable[[int, int, int], None] = lambda closed, planned, tests: None,
    ) -> Iterator[SeparatingTest]:
        tests = list(known)
        taken = {test.name for test in tests}
        found: list[SeparatingTest] = []

        def made(pair: ToldApart) -> ModelSet:
            telling = self._telling(pair.allowing, pair.forbidding)
            found.append(self._test(descended(pair.execution, self.words, telling), taken))
            taken.add(found[-1].record.name)
            return found[-1].test.allowing

        parts = splits(events, self.threads)
        for number, sizes in enumerate(parts):
            watch(number, len(parts), len(found))
            known_sets = [test.allowing for test in separating(fit, [*tests, *(new.test for new in found)])]
            for _ in solutions(TellingApart(self.sketch, fit, known_sets, made, self.words, sizes), self.solver):
                yield found[-1]
                if until.reason(len(found)):
                    break
            if until.reason(len(found)):
                self.stopped = True
                return

    def _judge(self, execution: Execution) -> ModelSet:
        return allowing(litmus_test(execution, "test", observed=False), self.sketch)

    def _telling(self, allows: Filling, forbids: Filling) -> Callable[[Execution], bool]:
        one, other = self.sketch.values(allows), self.sketch.values(forbids)

        def tells(execution: Execution) -> bool:
            models = self._judge(execution)
            return one in models and other not in models

        return tells

    def _test(self, execution: Execution, taken: set[str]) -> SeparatingTest:
        name, turned = name_of(execution)
        name = first_free(name, taken)
        test = litmus_test(turned, name, observed=False)
        record = labelled_record(test, text_of(test, self.words), execution.size, ())
        return SeparatingTest(record, SketchTest(name, execution.size, allowing(test, self.sketch)))


def changes_that_fit(sketch: Sketch, outcomes: Sequence[KnownOutcome]) -> tuple[str, ...]:
    """Return the least changes of a sketch after which a model agrees on all outcomes, each in words; nothing where
    there is none.

    Changes are those of ``oracle.inference.switches``. Outcomes are judged in their order until no model is left, so
    those that contradict each other come first.
    """
    wider = with_switches(sketch.model)
    for number in range(1, MOST_CHANGES + 1):
        near = wider.within(number)
        fit = near.valid
        for outcome in outcomes:
            fit = fit & outcome.fitting(near)
            if not fit:
                break
        else:
            return tuple(_changes(near, fit))
    return ()


def _changes(near: Sketch, fit: ModelSet) -> Iterator[str]:
    """Yield the different changes that fit, a line each."""
    known: dict[str, None] = {}
    left = fit
    while left and len(known) < MOST_NAMED:
        filling = SketchHypotheses(near).chosen(left)
        changed = [(hole, way) for hole, way in zip(near.holes, filling, strict=True) if hole.usual not in (None, way)]
        text = " and ".join(_change(hole) for hole, _ in changed)
        known[text] = None
        here = left
        for hole, way in changed:
            here = here & near.where(hole, way)
        left = left - here
    yield from known


def _change(hole: Hole) -> str:
    return f"line {hole.position.line}, without {hole.alternatives[0]}"
