"""The programs that tell the models of a sketch apart, as clauses over an unknown program and two unknown models.

Variables: those of ``constraints.programs.forbidden`` for an unknown program with an outcome, and twice those of the
sketch's holes: of a model that allows the outcome, and of one that forbids it.

Constraints
    both models fit, which is given as a set of models (``oracle.inference.model_sets``)
    the one model allows an execution with the outcome, and the other forbids all of them
    of each test that is known already: where the one model allows its outcome, the other does as well

So every solution is a program that tells models apart which no known test tells apart in this direction; it becomes
one that is known. When no solution is left, then whatever one fitting model allows and another forbids in programs of
this split, it also allows and the other forbids some known test. The relation "stronger" between models is then that
between their verdicts on the known tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from constraints.circuit import Circuit, Literal, building
from constraints.formula import Clause
from constraints.inference import member_of
from constraints.programs.forbidden import AllowedChoices, Forbidden, SeparationQuestion, Verifier
from corpus.executions.execution import Execution
from corpus.executions.vocabulary import Vocabulary
from oracle.cat.algebra import Algebra, Relation, Set, T
from oracle.cat.base import Base
from oracle.cat.interpreter import Model
from oracle.inference.model_sets import ModelSet
from oracle.inference.sketch import Filling, Sketch

ALLOWS, FORBIDS = "allows", "forbids"


@dataclass(frozen=True)
class BaseWithHoles:
    """A base of literals which answers for what fills holes by variables of a circuit; ``of`` names one model.

    Without a circuit, whatever a hole may be filled by is there.
    """

    base: Base[Literal]
    circuit: Circuit | None
    signs: Mapping[str, tuple[str, bool]]
    of: str

    @property
    def algebra(self) -> Algebra[Literal]:
        """The algebra of the base."""
        return self.base.algebra

    def value(self, name: str) -> Set[Literal] | Relation[Literal] | None:
        """The set or relation of a name, None where the base has none."""
        if name not in self.signs:
            return self.base.value(name)
        if self.circuit is None:
            return self.algebra.everything()
        variable, truth = self.signs[name]
        literal = hole_literal(self.circuit, self.of, variable)
        return dict.fromkeys(range(self.algebra.size), literal if truth else ~literal)


def hole_literal(circuit: Circuit, of: str, name: str) -> Literal:
    """The literal of a variable of the holes of one of the unknown models."""
    return circuit.var("hole", of, name)


@dataclass(frozen=True)
class UnknownModel(Model):
    """One of the models of a sketch, which clauses choose: its holes are variables."""

    signs: Mapping[str, tuple[str, bool]] = field(hash=False)
    of: str = ""

    def seen(self, base: Base[T]) -> Base[T]:
        """The base of an unknown program as this model reads it; of another base, with all that holes may hold."""
        seen, circuit = super().seen(base), getattr(base.algebra, "circuit", None)
        return cast("Base[T]", BaseWithHoles(cast("Base[Any]", seen), circuit, self.signs, self.of))


def unknown_model(sketch: Sketch, of: str) -> UnknownModel:
    """An unknown model of a sketch, by the name of its copy of the holes."""
    return UnknownModel(sketch.model.name, sketch.model.syntax, sketch.signs, of)


@dataclass(frozen=True, slots=True)
class ToldApart:
    """An execution with its program, a filling whose model allows its outcome, and one whose model forbids it."""

    execution: Execution
    allowing: Filling
    forbidding: Filling


class _Pair(Forbidden):
    """The programs whose outcome an unknown model allows and another forbids."""

    def __init__(self, sketch: Sketch, words: Vocabulary, sizes: tuple[int, ...]) -> None:
        self._names = sketch.space.variables
        self._forbidding: list[bool] = []
        question = SeparationQuestion(unknown_model(sketch, FORBIDS), (unknown_model(sketch, ALLOWS),), minimal=False)
        super().__init__(question, words, sizes)

    def holes(self, model: Sequence[int], of: str) -> list[bool]:
        """The truth of each variable of the holes of one of the models, in a model of the formula."""
        return [hole_literal(self.circuit, of, name).holds(model) for name in self._names]

    def decode(self, model: Sequence[int]) -> Execution:
        """The execution of a model of the formula; which model forbids it is kept for ``refine``."""
        self._forbidding = self.holes(model, FORBIDS)
        return super().decode(model)

    def _search(self, verifier: Verifier, solution: Execution) -> AllowedChoices | None:
        holes = (hole_literal(verifier.circuit, FORBIDS, name) for name in self._names)
        chosen = [hole if value else ~hole for hole, value in zip(holes, self._forbidding, strict=True)]
        return verifier.allowed(solution, chosen)


class TellingApart:
    """The programs of a split that tell apart models of a sketch, as an ``Encoding`` of the synthesis loop.

    ``fit`` are the models of interest, and ``known`` the sets of models that allow the tests which are known. ``made``
    makes a test of each solution, which tells its two models apart, and gives the set of models that allow the test.
    """

    @building()
    def __init__(
        self,
        sketch: Sketch,
        fit: ModelSet,
        known: Iterable[ModelSet],
        made: Callable[[ToldApart], ModelSet],
        words: Vocabulary,
        sizes: tuple[int, ...],
    ) -> None:
        self._sketch = sketch
        self._made = made
        self._pair = _Pair(sketch, words, sizes)
        self._circuit = self._pair.circuit
        self.formula = self._pair.formula
        for of in (ALLOWS, FORBIDS):
            self._circuit.require(self._literal(fit, of))
        for models in known:
            self._learn(models)

    def decode(self, model: Sequence[int]) -> ToldApart:
        """The program and the two models that a model of the formula stands for."""
        execution = self._pair.decode(model)
        allowing, forbidding = (self._sketch.filling(self._pair.holes(model, of)) for of in (ALLOWS, FORBIDS))
        return ToldApart(execution, allowing, forbidding)

    def refine(self, model: Sequence[int], solution: ToldApart) -> Sequence[Clause]:
        """Where the one model allows the outcome by other choices: clauses that it forbids those, too."""
        return self._pair.refine(model, solution.execution)

    @building()
    def block(self, solution: ToldApart) -> Iterable[Clause]:
        """The clauses that exclude whatever tells no more models apart than the test of a solution does."""
        before = len(self.formula.clauses)
        self._learn(self._made(solution))
        return self.formula.clauses[before:]

    def _learn(self, models: ModelSet) -> None:
        """Requires that if the one model is in a set, which allow a test, then so is the other."""
        self._circuit.require(~self._literal(models, ALLOWS), self._literal(models, FORBIDS))

    def _literal(self, models: ModelSet, of: str) -> Literal:
        """The literal that one of the two models is in a set."""
        return member_of(models, self._circuit, partial(hole_literal, self._circuit, of))
