"""The cheapest changes of a program after which no execution is left of those that are asked for: exact, all of them.

A *repair* gives each site (``constraints.levels``) a level. It is found by implicit hitting sets (Moreno-Centeno and
Karp, Operations Research 2013; of unsatisfiable cores, Ignatiev et al., CP 2015): RC2 picks the cheapest repair that
hits what was learned so far. Where the model, as clauses, leaves an execution with it, sites are made as strong as they
can be with an execution still left, and the same execution is tried at all weaker levels. It is left in a *box*, some
levels of each site, and so a repair has some site at another level.

Variables of the optimiser
    x(s, k)   site s is at level k; it costs what the level costs, and of two of one cost the weaker is the cheaper

Constraints
    each site is at exactly one level, and of two that exclude each other one at the lowest
    for each box in which an execution is left: some site is at a level that is not of the box
    for each repair that was found, at levels R: some site is at a level that is not above or at R

Nothing is taken for granted of the model. Where what a program allows, a weaker one allows as well, boxes are large.
Where that is not so (two scopes of OpenCL 3.0 have to be the same), what is stronger than a repair need not be one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

from constraints.circuit import Literal, building
from constraints.executions import DEFAULT_SOLVER, Executions, FiniteValues
from constraints.levels import Site
from constraints.solvers import open_solver
from corpus.litmus.test import LitmusTest, Quantifier
from oracle.cat.interpreter import Model
from oracle.executions.judge import UNROLL

Levels = tuple[int, ...]
"""A level of each site."""

Box = tuple[frozenset[int], ...]
"""Levels of each site."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The levels of a site. ``costs[k]``: what level ``k`` costs; ``above[k]``: the levels that are as strong as ``k``
    or stronger, itself among them. Level 0 is below all.
    """

    costs: tuple[int, ...]
    above: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair: the level of each site, and what they cost."""

    levels: Levels
    cost: int


def _asked(executions: Executions, values: FiniteValues, outcome: bool, flags: bool) -> Literal:
    """That an execution is one that there should not be: ``outcome`` and ``flags`` as for ``Program``."""
    passes, holds = values.asked()
    wrong = ~holds if executions.test.condition.quantifier is Quantifier.FORALL else holds
    raised = executions.flags.values() if flags else ()
    return passes & executions.circuit.any_of([*raised, *([wrong] if outcome else [])])


class Program:
    """A test with its instructions at levels that are open: which executions does the model allow at which levels?

    ``executions`` are the clauses, ``passes`` that an execution passes every check.

    ``outcome``: those are asked for that have the outcome, or violate what is claimed ``forall``; ``flags``: those that
    raise a flag of the model's, as of a race.
    """

    def __init__(
        self,
        test: LitmusTest,
        model: Model,
        sites: Sequence[Site],
        ladders: Sequence[Ladder],
        unroll: int = UNROLL,
        outcome: bool = True,
        flags: bool = False,
        solver: str = DEFAULT_SOLVER,
    ) -> None:
        """Raises ``InputError`` and ``TooManyError`` as ``Executions`` does."""
        self.model = model
        self._ladders = ladders
        with building():
            self.executions = executions = Executions(test, model, unroll, required=False, sites=sites)
            circuit = executions.circuit
            self.values = FiniteValues(executions)
            self.passes = circuit.true
            for check in executions.checks:
                self.passes = self.passes & check
            self._left = _asked(executions, self.values, outcome, flags) & self.passes
            self._levels = executions.levels.chosen
            self._least = [
                [circuit.any_of(literals[level] for level in sorted(above)) for above in ladder.above]
                for ladder, literals in zip(ladders, self._levels, strict=True)
            ]
        self.complete = executions.complete
        self._solver = open_solver(solver, circuit.formula.variables)
        self._solver.add(circuit.formula.clauses)

    def left(self, levels: Levels) -> Sequence[int] | None:
        """An execution at these levels that there should not be, as what is true; None where there is none."""
        return self.at(levels, [self._left])

    def at(self, levels: Levels, literals: Sequence[Literal]) -> Sequence[int] | None:
        """An execution at these levels of which literals hold, allowed or not, as what is true."""
        exactly = [row[level] for row, level in zip(self._levels, levels, strict=True)]
        return self._solver.model() if self._solve([*exactly, *literals]) else None

    def box(self, levels: Levels) -> Box | None:
        """Levels, the given ones among them, at all of which one execution is left; None where none is left there."""
        model = self.left(levels)
        if model is None:
            return None
        here = self._same(model)
        there, strongest = self._strongest(levels)
        below = [
            frozenset(k for k, above in enumerate(ladder.above) if level in above)
            for ladder, level in zip(self._ladders, strongest, strict=True)
        ]
        if there and self._is_left(there, below):
            return tuple(below)
        box = [frozenset({level}) for level in levels]
        for number, ladder in enumerate(self._ladders):
            for level in range(len(ladder.costs)):
                wider = [*box[:number], box[number] | {level}, *box[number + 1 :]]
                if level not in box[number] and self._is_left(here, wider):
                    box = wider
        return tuple(box)

    def _strongest(self, levels: Levels) -> tuple[list[Literal], Levels]:
        """Levels from these on upwards at which an execution is left, none at any that is stronger yet; and which."""
        model: Sequence[int] = ()
        for number, ladder in enumerate(self._ladders):
            refused: set[int] = set()
            while stronger := sorted(ladder.above[levels[number]] - refused - {levels[number]}):
                least = (*levels[:number], stronger[0], *levels[number + 1 :])
                if self._solve([*(row[k] for row, k in zip(self._least, least, strict=True)), self._left]):
                    model = self._solver.model()
                    levels = tuple(next(k for k, lit in enumerate(row) if lit.holds(model)) for row in self._levels)
                else:
                    refused |= ladder.above[stronger[0]]
        return (self._same(model) if model else []), levels

    def close(self) -> None:
        """Frees the solver."""
        self._solver.close()

    def _solve(self, literals: Iterable[Literal]) -> bool:
        return self._solver.solve([literal.number for literal in literals])

    def _is_left(self, same: Sequence[Literal], box: Sequence[frozenset[int]]) -> bool:
        """Whether an execution that these literals say all of is left at all levels of a box."""
        elsewhere = (
            ~literal
            for row, levels in zip(self._levels, box, strict=True)
            for level, literal in enumerate(row)
            if level not in levels
        )
        return not self._solve([*same, *elsewhere, ~self._left])

    def _same(self, model: Sequence[int]) -> list[Literal]:
        """What an execution has chosen. Fences that are not there have a place in each order, after those that are."""
        executions = self.executions
        choices = [
            literal for relation in (executions.rf, executions.co) for row in relation for literal in row.values()
        ]
        choices += [literal for taken in executions.runs.taken for literal in taken]
        choices += [literal for last in executions.final.values() for literal in last.values()]
        said = [literal.as_in(model) for literal in choices]
        for name, relation in executions.orders.items():
            events = sorted({event for pair in executions.to_order[name] for event in pair})
            rank = {event: sum(event in row and row[event].holds(model) for row in relation) for event in events}
            events.sort(key=lambda event: (not executions.executed[event].holds(model), rank[event], event))
            place = {event: number for number, event in enumerate(events)}
            for one, other in executions.to_order[name]:
                before = executions.circuit.var("order", name, one, other)
                said.append(before if place[one] < place[other] else ~before)
        return said


def repairs(
    programs: Sequence[Program], ladders: Sequence[Ladder], exclusive: Iterable[tuple[int, int]] = ()
) -> Iterator[Repair]:
    """Every minimal repair of all the programs at once, the cheapest first; none where nothing repairs them.

    ``exclusive``: pairs of sites of which one is at its lowest level.
    """
    with _Optimiser(ladders, exclusive) as optimiser:
        while (levels := optimiser.cheapest()) is not None:
            boxes = (program.box(levels) for program in programs)
            box = next((box for box in boxes if box is not None), None)
            if box is None:
                yield Repair(levels, _cost(ladders, levels))
                optimiser.exclude(levels)
            else:
                optimiser.learn(box)


def _cost(ladders: Sequence[Ladder], levels: Levels) -> int:
    return sum(ladder.costs[level] for ladder, level in zip(ladders, levels, strict=True))


class _Optimiser:
    """RC2 over the levels of sites."""

    def __init__(self, ladders: Sequence[Ladder], exclusive: Iterable[tuple[int, int]]) -> None:
        self._ladders = ladders
        starts = [1 + sum(len(ladder.costs) for ladder in ladders[:number]) for number in range(len(ladders))]
        self._at = [range(start, start + len(ladder.costs)) for start, ladder in zip(starts, ladders, strict=True)]
        formula = WCNF()
        whole = 1 + sum(len(ladder.costs) for ladder in ladders)
        for variables, ladder in zip(self._at, ladders, strict=True):
            formula.append(list(variables))
            formula.extend([[-one, -other] for one, other in combinations(variables, 2)])
            for level, variable in enumerate(variables):
                below = sum(level in above for above in ladder.above) - 1
                if weight := ladder.costs[level] * whole + below:
                    formula.append([-variable], weight=weight)
        formula.extend([[self._at[one][0], self._at[other][0]] for one, other in exclusive])
        self._rc2 = RC2(formula)
        self._refuted = False

    def __enter__(self) -> _Optimiser:
        return self

    def __exit__(self, *_: object) -> None:
        self._rc2.delete()

    def cheapest(self) -> Levels | None:
        """The cheapest levels that all that was learned admits; None where there are none."""
        model = None if self._refuted else self._rc2.compute()
        if model is None:
            return None
        chosen = frozenset(literal for literal in model if literal > 0)
        return tuple(
            next(level for level, variable in enumerate(variables) if variable in chosen) for variables in self._at
        )

    def learn(self, box: Box) -> None:
        """An execution is left at all levels of a box."""
        self._require(
            [
                [level for level in range(len(ladder.costs)) if level not in levels]
                for ladder, levels in zip(self._ladders, box, strict=True)
            ]
        )

    def exclude(self, repair: Levels) -> None:
        """These levels, and stronger ones, are known."""
        self._require(
            [
                [level for level in range(len(ladder.costs)) if level not in ladder.above[least]]
                for ladder, least in zip(self._ladders, repair, strict=True)
            ]
        )

    def _require(self, levels: Sequence[Sequence[int]]) -> None:
        """Some site is at one of its levels."""
        clause = [variables[level] for variables, chosen in zip(self._at, levels, strict=True) for level in chosen]
        if clause:
            self._rc2.add_clause(clause)
        self._refuted |= not clause
