"""All minimal repairs of a program: the cheapest changes after which no execution of those asked for is left; exact.

A *repair* gives each site (``constraints.levels``) a level. It is found by implicit hitting sets (Moreno-Centeno and
Karp, Operations Research 2013; of unsatisfiable cores, Ignatiev et al., CP 2015): RC2 picks the cheapest repair that
hits what was learned so far. Where the model, as clauses, leaves an execution with it, that execution is followed to
levels as strong as it can be left at, and tried at all weaker ones. It is left in a *box*, which has some levels of
each site, and so a repair has some site at another level.

Variables of the optimiser
    x(s, k)   site s is at level k; it costs what the level costs, and of two of one cost the weaker is the cheaper
    y(s, c)   site s costs c or more, of the costs that its levels have

Constraints
    x(s, k) implies y(s, c) where level k costs c or more
    each site is at exactly one level
    for each requirement: some site is at one of the levels that it gives for that site
    for each box in which an execution is left: some site is at a level that is not of the box
    for each repair that was found, at levels R: some site is at a level that is not above or at R

No property of the model is assumed. Boxes are large where a weaker program allows all that a stronger one allows. Where
that fails (two scopes of OpenCL 3.0 have to be equal), levels above a repair need not be a repair.

``cut_of`` says why a repair needs a change, by two calls of a solver. With all other changes the model allows an
execution with the outcome. With the change, that execution, of equal reads-from and coherence, fails a check. Where the
change adds a choice to the execution (an order of fences), any execution of equal reads-from and coherence serves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

from constraints.circuit import Literal, Name, building
from constraints.deferred import Assignment
from constraints.executions import Executions, FiniteValues
from constraints.levels import Site
from constraints.solvers import EXECUTION_SOLVER, open_solver
from constraints.witnesses import decoded, violated
from corpus.awaited import awaiting
from corpus.litmus.propositions import Quantifier
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.executions.bounds import UNROLL
from oracle.executions.witness import CandidateExecution, Violation

Levels = tuple[int, ...]
"""A level for each site, by number."""

Box = tuple[frozenset[int], ...]
"""A set of levels for each site."""

Requirement = Mapping[int, frozenset[int]]
"""Levels of some sites, of which at least one site must be at one of its levels."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The levels of a site. ``costs[k]``: the cost of level ``k``; ``above[k]``: the levels as strong as ``k`` or
    stronger, ``k`` among them. Level 0 is below all."""

    costs: tuple[int, ...]
    above: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair of a program: the level of each site, and the cost of all."""

    levels: Levels
    cost: int


class RepairableProgram:
    """A test whose instructions are at open levels, to be asked which executions the model allows at which levels.

    ``outcome``: asks for executions that have the outcome, or violate what is claimed ``forall``; ``flags``: asks for
    executions that raise a flag of the model's, as of a race.

    Most events are of instructions that may be left out, and the number of clauses grows with the cube of the number of
    events. So an execution is looked for among those of the program without the instructions that are left out. Then
    all about it is known except the levels, which are open everywhere.
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
        solver: str = EXECUTION_SOLVER,
    ) -> None:
        """Opens a test at its sites. Raises ``InputError`` where an address is no location of the test, or the model
        says nothing of the test, and ``TooManyError`` where there are too many clauses.
        """
        self.model = model
        self._ladders = ladders
        self._open = partial(_Part, test, model, unroll, sites, ladders, outcome, flags, solver)
        self._optional = [number for number, site in enumerate(sites) if None in site.modes]
        self._parts: dict[frozenset[int], _Part] = {}
        self.complete = self._part((0,) * len(sites)).executions.complete

    def left(self, levels: Levels) -> FoundExecution | None:
        """An unwanted execution that the model allows at these levels; None where there is none. Raises
        ``TooManyError``."""
        part = self._part(levels)
        return FoundExecution(part, part.model()) if part.is_left(levels) else None

    def failing(self, found: FoundExecution, levels: Levels) -> FoundExecution | None:
        """An execution at these levels, with the reads-from, coherence and other choices of a found one, that the
        model forbids."""
        with self._same(found) as part:
            literals = [row[level] for row, level in zip(part.levels, levels, strict=True)]
            return FoundExecution(part, part.model()) if part.solve([*literals, ~part.passes]) else None

    def box(self, levels: Levels) -> Box | None:
        """A box of levels, with the given ones in it, at all of which one execution is left; None where none is left
        at the given levels. Raises ``TooManyError``."""
        part = self._part(levels)
        if not part.is_left(levels):
            return None
        here = FoundExecution(part, part.model())
        strongest = part.strongest(levels, self._open_in(levels))
        with self._same(FoundExecution(part, part.model())) as same:
            strongest = same.strongest(strongest, range(len(levels)))
            below = [
                frozenset(k for k, above in enumerate(ladder.above) if level in above)
                for ladder, level in zip(self._ladders, strongest, strict=True)
            ]
            if same.is_left_at_all(same.orders(), below):
                return tuple(below)
        with self._same(here) as same:
            same.is_left(levels)  # it is satisfiable; the orders are those that were found
            orders = same.orders()
            box = [frozenset({level}) for level in levels]
            for number, ladder in enumerate(self._ladders):
                for level in range(len(ladder.costs)):
                    wider = [*box[:number], box[number] | {level}, *box[number + 1 :]]
                    if level not in box[number] and same.is_left_at_all(orders, wider):
                        box = wider
            return tuple(box)

    def close(self) -> None:
        """Frees the solvers of all parts of the program."""
        for part in self._parts.values():
            part.close()

    def _open_in(self, levels: Levels) -> list[int]:
        """The sites that are open where a program has no more than these levels say: all that is there."""
        absent = {number for number in self._optional if not levels[number]}
        return [number for number in range(len(levels)) if number not in absent]

    def _part(self, levels: Levels) -> _Part:
        """The program without all that these levels leave out."""
        here = frozenset(self._open_in(levels))
        part = self._parts.pop(here, None)
        if part is None:
            if len(self._parts) == MOST_PARTS:
                self._parts.pop(next(iter(self._parts))).close()
            absent = set(self._optional) - here
            part = self._open(
                {
                    ("level", number, level): level == 0
                    for number in absent
                    for level in range(len(self._ladders[number].costs))
                }
            )
        self._parts[here] = part
        return part

    def _same(self, found: FoundExecution) -> _Part:
        return self._open(found.known)


MOST_PARTS = 16
"""The limit of parts of a program that are kept for when they are asked for again."""


class _Part:
    """Clauses of the executions of a program of which some variables are known.

    ``levels``: that a site is at a level; ``passes``: that an execution passes every check.
    """

    def __init__(
        self,
        test: LitmusTest,
        model: Model,
        unroll: int,
        sites: Sequence[Site],
        ladders: Sequence[Ladder],
        outcome: bool,
        flags: bool,
        solver: str,
        known: Mapping[Name, bool],
    ) -> None:
        self._ladders = ladders
        with building():
            self.executions = executions = Executions(
                test, model, unroll, required=False, sites=sites, known=known, grounded=True
            )
            circuit = executions.circuit
            self.values = FiniteValues(executions)
            self.passes = circuit.true
            for check in executions.checks:
                self.passes = self.passes & check
            passes, holds = self.values.question()
            wrong = ~holds if test.condition.quantifier is Quantifier.FORALL else holds
            raised = executions.flags.values() if flags else ()
            self._left = passes & circuit.any_of([*raised, *([wrong] if outcome else [])]) & self.passes
            self.levels = executions.levels.chosen
            self._least = [
                [circuit.any_of(literals[level] for level in sorted(above)) for above in ladder.above]
                for ladder, literals in zip(ladders, self.levels, strict=True)
            ]
        self._circuit = circuit
        self._solver = open_solver(solver, circuit.formula.variables)
        self._added = 0

    def __enter__(self) -> _Part:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the solver of this part of the program."""
        self._solver.close()

    def solve(self, literals: Iterable[Literal]) -> bool:
        """Whether these hold in some execution, allowed or not."""
        wanted = self._circuit.assumptions(literals)
        self._solver.add(self._circuit.formula.clauses[self._added :])
        self._added = len(self._circuit.formula.clauses)
        return self._solver.solve(wanted)

    def model(self) -> Assignment:
        """The truths of all literals in the execution that was found last."""
        return Assignment(self._circuit, self._solver.model())

    def is_left(self, levels: Levels) -> bool:
        """Whether an execution is left at these levels."""
        return self.solve([*(row[level] for row, level in zip(self.levels, levels, strict=True)), self._left])

    def strongest(self, levels: Levels, sites: Iterable[int]) -> Levels:
        """Levels from these on upwards at which an execution is left, none at any that is stronger yet in some sites.

        One was left, and the one that is left is the last that was found.
        """
        for number in sites:
            above, refused = self._ladders[number].above, set[int]()
            while stronger := sorted(above[levels[number]] - refused - {levels[number]}):
                least = (*levels[:number], stronger[0], *levels[number + 1 :])
                if self.solve([*(row[k] for row, k in zip(self._least, least, strict=True)), self._left]):
                    model = self.model()
                    levels = tuple(next(k for k, lit in enumerate(row) if model.holds(lit)) for row in self.levels)
                else:
                    refused |= above[stronger[0]]
        self.is_left(levels)  # an execution is left, and is the last that was found
        return levels

    def is_left_at_all(self, same: Sequence[Literal], box: Sequence[frozenset[int]]) -> bool:
        """Whether one execution, fixed by its literals such as its orders, is left at all levels of a box."""
        elsewhere = (
            ~literal
            for row, levels in zip(self.levels, box, strict=True)
            for level, literal in enumerate(row)
            if level not in levels
        )
        return not self.solve([*same, *elsewhere, ~self._left])

    def orders(self) -> list[Literal]:
        """The orders of what was found last. Fences that are not there have a place, too, after those that are."""
        lines, model, executions = [], self.model(), self.executions
        for name, relation in executions.orders.items():
            events = sorted({event for pair in executions.to_order[name] for event in pair})
            rank = {event: sum(event in row and model.holds(row[event]) for row in relation) for event in events}
            events.sort(key=lambda event: (not model.holds(executions.executed[event]), rank[event], event))
            place = {event: number for number, event in enumerate(events)}
            for one, other in executions.to_order[name]:
                before = executions.circuit.var("order", name, one, other)
                lines.append(before if place[one] < place[other] else ~before)
        return lines


KNOWN = frozenset({"step", "rf", "co", "final", "value"})
"""The variables that fix an execution of threads that finish at all levels, except its orders."""


@dataclass(frozen=True, slots=True)
class FoundExecution:
    """An execution that a solver found: the truths of the literals of a part of the program."""

    part: _Part
    true: Assignment

    @property
    def known(self) -> dict[Name, bool]:
        """The variables that fix the execution in another part of the program, by name, with their values."""
        names = self.part.executions.circuit.formula.names()
        return {name: self.true.has(number) for name, number in names if name[0] in KNOWN}

    @property
    def execution(self) -> CandidateExecution:
        """The execution as a candidate execution of the test: its events and relations."""
        return decoded(self.part.executions, self.part.values, self.true)

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of the model's flags that the execution raises."""
        return tuple(name for name, literal in self.part.executions.flags.items() if self.true.holds(literal))

    @property
    def failed(self) -> int:
        """The number of the first check that the execution fails, of those that the model requires."""
        return next(n for n, check in enumerate(self.part.executions.checks) if not self.true.holds(check))


def repairs(
    programs: Sequence[RepairableProgram], ladders: Sequence[Ladder], required: Iterable[Requirement] = ()
) -> Iterator[Repair]:
    """Every minimal repair of all the programs at once that meets the requirements, the cheapest first; none where
    nothing repairs them."""
    refuted = 0
    with _Optimiser(ladders, required) as optimiser, awaiting("the cheapest repair") as by_now:
        while (levels := optimiser.cheapest()) is not None:
            by_now(f"a repair that costs {_cost(ladders, levels)} ({refuted} cheaper ones are none)")
            boxes = (program.box(levels) for program in programs)
            box = next((box for box in boxes if box is not None), None)
            if box is None:
                yield Repair(levels, _cost(ladders, levels))
                optimiser.exclude(levels)
            else:
                optimiser.learn(box)
                refuted += 1


def _cost(ladders: Sequence[Ladder], levels: Levels) -> int:
    return sum(ladder.costs[level] for ladder, level in zip(ladders, levels, strict=True))


def lowered(levels: Levels, site: int, level: int, required: Iterable[Requirement]) -> Levels | None:
    """The levels after one site goes to another level, together with the sites that a requirement then moves; None
    where the requirements leave no way."""
    left, moved, waiting = list(levels), {site}, list(required)
    left[site] = level
    while broken := next((ways for ways in waiting if all(left[n] not in kept for n, kept in ways.items())), None):
        other = next((number for number in sorted(broken) if number not in moved), None)
        if other is None:
            return None
        left[other] = min(broken[other])
        moved.add(other)
    return tuple(left)


class _Optimiser:
    """A search for the cheapest levels of sites, by RC2."""

    def __init__(self, ladders: Sequence[Ladder], required: Iterable[Requirement]) -> None:
        self._ladders = ladders
        starts = [1 + sum(len(ladder.costs) for ladder in ladders[:number]) for number in range(len(ladders))]
        self._rungs = [range(start, start + len(ladder.costs)) for start, ladder in zip(starts, ladders, strict=True)]
        formula = WCNF()
        whole = 1 + sum(len(ladder.costs) for ladder in ladders)
        free = starts[-1] + len(ladders[-1].costs) if ladders else 1
        for variables, ladder in zip(self._rungs, ladders, strict=True):
            formula.append(list(variables))
            formula.extend([[-one, -other] for one, other in combinations(variables, 2)])
            worths = [cost * whole + sum(k in above for above in ladder.above) for k, cost in enumerate(ladder.costs)]
            least, *steps = sorted(set(worths))
            for step, worth in enumerate(steps, free):
                formula.append([-step], weight=worth - least)
                formula.extend([[-x, step] for x, own in zip(variables, worths, strict=True) if own >= worth])
                least = worth
            free += len(steps)
        formula.extend(
            [self._rungs[site][level] for site in sorted(ways) for level in sorted(ways[site])] for ways in required
        )
        self._rc2 = RC2(formula, adapt=True, exhaust=True, minz=True, trim=5)  # minutes become seconds
        self._refuted = False

    def __enter__(self) -> _Optimiser:
        return self

    def __exit__(self, *_: object) -> None:
        self._rc2.delete()

    def cheapest(self) -> Levels | None:
        """The cheapest levels that satisfy all that was learned; None where there are none."""
        model = None if self._refuted else self._rc2.compute()
        if model is None:
            return None
        chosen = frozenset(literal for literal in model if literal > 0)
        return tuple(
            next(level for level, variable in enumerate(variables) if variable in chosen) for variables in self._rungs
        )

    def learn(self, box: Box) -> None:
        """Excludes a box, for an execution is left at all its levels."""
        self._require(
            [
                [level for level in range(len(ladder.costs)) if level not in levels]
                for ladder, levels in zip(self._ladders, box, strict=True)
            ]
        )

    def exclude(self, repair: Levels) -> None:
        """Excludes the levels of a repair, and all levels as strong or stronger."""
        self._require(
            [
                [level for level in range(len(ladder.costs)) if level not in ladder.above[least]]
                for ladder, least in zip(self._ladders, repair, strict=True)
            ]
        )

    def _require(self, levels: Sequence[Sequence[int]]) -> None:
        """Requires that some site is at one of its given levels."""
        clause = [variables[level] for variables, chosen in zip(self._rungs, levels, strict=True) for level in chosen]
        if clause:
            self._rc2.add_clause(clause)
        self._refuted |= not clause


@dataclass(frozen=True, slots=True)
class Cut:
    """What a change cuts. ``before``: an execution without it, which raises ``flags``; ``after``: how it fails with the
    change, None where it is not wrong any more (it raises no flag).
    """

    before: CandidateExecution
    flags: tuple[str, ...]
    after: Violation | None


def cut_of(program: RepairableProgram, levels: Levels, weaker: Levels) -> Cut | None:
    """What the step from weaker levels to others cuts; None where that is nothing."""
    left = program.left(weaker)
    if left is None:
        return None
    failing = program.failing(left, levels)
    after = None if failing is None else violated(program.model, failing.failed, failing.execution)
    return Cut(left.execution, left.flags, after)
