"""Hangs of a progress test under promises at several levels (``oracle.promises``), as clauses over its history graph.

Variables
    at(c)        the run ends in component c of the history graph, which has an edge
    here(n)      strongly: the run is at node n again and again
    treated(t)   the scheduler treats thread t as promised execution
    runs(t)      thread t runs at the end of the run, so it has a step to take
    stepped(t)   thread t has taken a step
    strong       the promise is read strongly, and else weakly

Constraints
    the run ends in one component, which says who runs and who has stepped there
    weakly, each treated thread takes a step inside the component
    strongly, the run is somewhere; from where it is some step leads to where it is, and no step of a treated thread
    leads elsewhere
    the treated threads keep the promise: to a group within a promised group, or to some where none is promised, and of
    an innermost group to all threads that run

Delegates are no part of the formula: a set of treated threads that keeps the promise has one of each promised set. So
verdicts are found in another way than ``oracle.progress.models`` does, and tests hold the two together.

Assumption: nobody waits, as in an AXB program, so that who runs is one all over a component.

Size: for each node and thread a clause; for a promise a gate for each group and condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from constraints.circuit import Circuit, Literal
from constraints.solvers import DEFAULT_SOLVER, open_solver
from constraints.stuck import promised_where
from corpus.hierarchy import HierarchyLevel, Places, apart
from corpus.progress.axb import Program, places_of
from oracle.progress.lts import explore
from oracle.progress.models import GUARANTEES, ProgressModel, Verdict, unfold
from oracle.progress.system import NO_STEP, Rows
from oracle.promises import LevelPromise


class PromiseHangs:
    """The clauses of the hangs of one system, and a solver that is asked about one promise after another."""

    def __init__(self, system: Rows, solver: str = DEFAULT_SOLVER) -> None:
        self._threads = range(len(system[0]))
        self._circuit = circuit = Circuit()
        self._strong = circuit.var("strong")
        self._runs = [circuit.var("runs", t) for t in self._threads]
        self._stepped = [circuit.var("stepped", t) for t in self._threads]
        self._treated = [circuit.var("treated", t) for t in self._threads]
        history = unfold(system)
        ends = [(circuit.var("at", c), c) for c in history.cyclic()]
        circuit.exactly_one([event for event, _ in ends], circuit.true)
        for event, c in ends:
            members, movers = history.components[c], history.movers[c]
            for literals, mask in (
                (self._runs, history.running[members[0]]),
                (self._stepped, history.stepped[members[0]]),
            ):
                for t, literal in enumerate(literals):
                    circuit.require(~event, literal if mask >> t & 1 else ~literal)
            for t, treated in enumerate(self._treated):
                if not movers >> t & 1:
                    circuit.require(~event, self._strong, ~treated)
            here = {node: circuit.var("here", node) for node in members}
            circuit.require(~event, ~self._strong, *here.values())
            for node, literal in here.items():
                after = [here.get(target, circuit.false) for target in history.successors[node] if target != NO_STEP]
                circuit.require(~literal, *after)
                for t, target in enumerate(history.successors[node]):
                    if target != NO_STEP:
                        circuit.require(~literal, ~self._treated[t], here.get(target, circuit.false))
        self._solver = open_solver(solver, circuit.formula.variables)
        self._written = 0

    def __enter__(self) -> PromiseHangs:
        return self

    def __exit__(self, *_: object) -> None:
        self._solver.close()

    def may_hang(self, levels: Sequence[LevelPromise], places: Places, strong: bool) -> bool:
        """Whether the program may hang where its threads are at these places; levels are outermost first."""
        kept = self._kept(tuple(levels), places, list(self._threads), outermost=True)
        clauses = self._circuit.formula.clauses
        self._solver.add(clauses[self._written :])
        self._written = len(clauses)
        return self._solver.solve([(self._strong if strong else ~self._strong).number, kept.number])

    def _kept(
        self, levels: tuple[LevelPromise, ...], places: Places, threads: Sequence[int], outermost: bool = False
    ) -> Literal:
        """The literal that the treated threads keep a promise to a group."""
        circuit = self._circuit
        if not levels:
            return ~circuit.any_of(self._runs[t] & ~self._treated[t] for t in threads)
        first, *inner = levels
        names = sorted({first.level.group(places, t) for t in threads})
        groups = [[t for t in threads if first.level.group(places, t) == name] for name in names]
        running = [circuit.any_of(self._runs[t] for t in group) for group in groups]
        stepped = [circuit.any_of(self._stepped[t] for t in group) for group in groups]
        kept = [self._kept(tuple(inner), places, group) for group in groups]
        promised = [
            runs & circuit.any_of(self._all_of(condition) for condition in self._where(first, g, running, stepped))
            for g, runs in enumerate(running)
        ]
        all_kept = ~circuit.any_of(one & ~keeping for one, keeping in zip(promised, kept, strict=True))
        if outermost:
            return all_kept
        some_kept = circuit.any_of(runs & keeping for runs, keeping in zip(running, kept, strict=True))
        return all_kept & (circuit.any_of(promised) | some_kept)

    def _all_of(self, literals: Sequence[Literal]) -> Literal:
        return ~self._circuit.any_of(~literal for literal in literals)

    def _where(
        self, promise: LevelPromise, group: int, running: Sequence[Literal], stepped: Sequence[Literal]
    ) -> Sequence[Sequence[Literal]]:
        """The conditions under which a group that runs is promised execution, each a conjunction; of a guarantee that
        does not ship, one for each situation in which it is."""
        if promise.guarantee in GUARANTEES.values():
            return promised_where(promise.guarantee, group, running, stepped)
        masks = range(1 << len(running))
        return [
            [
                literal if mask >> g & 1 else ~literal
                for mask, literals in ((runs, running), (steps, stepped))
                for g, literal in enumerate(literals)
            ]
            for runs, steps in product(masks, repeat=2)
            if promise.guarantee(runs, steps) >> group & 1
        ]


def verdicts_by_sat(
    program: Program, models: Sequence[ProgressModel], solver: str = DEFAULT_SOLVER
) -> dict[str, Verdict]:
    """The verdict of each model on a program, by model name, by a SAT solver."""
    found = {}
    with PromiseHangs(explore(program).successors, solver) as hangs:
        for model in models:
            levels = model.levels or (LevelPromise(HierarchyLevel.THREAD, model.guarantee),)
            places = places_of(program) if model.levels else apart(len(program.threads))
            hang = hangs.may_hang(levels, places, model.strong)
            found[model.name] = Verdict.MAY_HANG if hang else Verdict.TERMINATES
    return found
