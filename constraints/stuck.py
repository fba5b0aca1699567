"""Hangs (``oracle.executions.stuck`` defines them) as clauses over the unrolled program.

Variables, besides those of ``constraints.executions``
    hang                 a hang is asked for, and not only whether a loop can be followed further
    left(t, n)           thread t is left at node n
    spin(t, a, b)        thread t goes for ever the round that it has gone from node a to node b
    cycle(t, a, b, c)    thread t goes for ever the round that it has gone from a to b, and from b to c
    steady               the rounds write one value to each location

Constraints
    a thread that stops before its end is left or stuck, in one way; or it waits at a barrier (constraints.meetings)
    a round that spins has neither write nor barrier, and begins and ends with equal registers
    of a round that cycles each step is taken again, a round later, and its reads read equal values again
    what is read for ever is co-maximal, or written for ever
    rf, co, the order of fence.sc and syncbar are within the second round as within the first, and do not lead out of it
    where a hang is asked for, some thread is stuck, or waits and none is left; none is left that is promised execution,
    nor are all threads of a set of which some thread is

A promise may depend in any way on which threads run and which have stepped. Those that ship are known as conditions
(``promised_where``). Clauses of others are added one by one: each for the threads of a hang that breaks the promise.

Values are those that each read may have, or, for the method by SMT, bit vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from constraints.circuit import Literal
from constraints.deferred import Assignment
from constraints.executions import Executions, FiniteValues
from constraints.solvers import EXECUTION_SOLVER, Solver, open_solver
from constraints.witnesses import decoded
from corpus.litmus.instructions import Label
from corpus.litmus.test import LitmusTest
from oracle.cat.algebra import Relation
from oracle.cat.interpreter import Model
from oracle.executions.bounds import UNROLL
from oracle.executions.events import EventKind, Read
from oracle.executions.flow import flow_of
from oracle.executions.spins import forgets_reads, spinning_jumps
from oracle.executions.steps import Key
from oracle.executions.stuck import EVENTFUL, Hang, Hanging, ThreadEnding, stays, unasked
from oracle.executions.unrolled import Move, Node, Unrolled
from oracle.progress import models
from oracle.promises import PlacedPromise, Promise, promised_sets

if TYPE_CHECKING:
    from constraints.smt import BitVectors


@dataclass(frozen=True, slots=True)
class _Round:
    """A round of a stuck thread. ``nodes``: where the round begins, where it ends, and where it ends again if it
    cycles.

    ``steps``: those of the round; of a cycle each with those that may be its counterpart a round later.
    """

    thread: int
    nodes: tuple[int, ...]
    steps: Mapping[int, Sequence[int]]
    literal: Literal


def find_hang_by_sat(
    test: LitmusTest,
    promise: Promise,
    model: Model,
    unroll: int = UNROLL,
    steady: bool = False,
    solver: str = EXECUTION_SOLVER,
    needed: Collection[int] | None = None,
) -> Hanging:
    """Whether a program may hang under a promise and a model, by a SAT solver; ``steady``: look for a steady hang
    first; ``needed``: it ends where these threads do, None: where all of them do.

    One round of each loop is tried first. Loops that spin need no more, and if all loops do, no more is tried.
    ``solver``: one of ``constraints.solvers``, or ``smt``. Raises ``InputError`` where an address is no location of the
    test, or the model says nothing of the test, and ``TooManyError`` where there are too many clauses or values.
    """
    found = _hangs(unasked(test), model, 1, solver).find(promise, steady, needed)
    if unroll > 1 and found.hang is None and found.provisional:
        return _hangs(unasked(test), model, unroll, solver).find(promise, steady, needed)
    return found


def only_as_by_sat(
    test: LitmusTest, model: Model, other: Model, unroll: int = UNROLL, solver: str = EXECUTION_SOLVER
) -> bool:
    """Whether another model allows every execution of a program that a model allows, ended or not, by a SAT solver.

    The other model has a total coherence order and chooses no orders. ``solver``: one of ``constraints.solvers``, or
    ``smt``. Raises ``InputError`` where an address is no location of the test, or a model says nothing of the test, and
    ``TooManyError`` where there are too many clauses or values.
    """
    return _hangs(unasked(test), model, unroll, solver).only_as(other)


def promised_where(
    promise: Promise, thread: int, running: Sequence[Literal], stepped: Sequence[Literal]
) -> Sequence[Sequence[Literal]]:
    """The conditions under which a thread that runs is promised execution by a guarantee that ships, each a conjunction
    of literals; none for other guarantees."""
    is_lowest = [[~other for other in running[:thread]]]
    has_stepped = [[stepped[thread]]]
    conditions: dict[Promise, Sequence[Sequence[Literal]]] = {
        models.hsa: is_lowest,
        models.obe: has_stepped,
        models.hsa_obe: is_lowest + has_stepped,
        models.lobe: [[other] for other in stepped[thread:]],
        models.fair: [[]],
    }
    return [] if isinstance(promise, PlacedPromise) else conditions.get(promise, [])


SMT = "smt"
"""The name of the method by bit vectors, in place of a solver's name."""


def _values(executions: Executions, solver: str) -> FiniteValues | BitVectors:
    if solver != SMT:
        return FiniteValues(executions)
    from constraints.smt import BitVectors  # z3 takes long to load

    return BitVectors(executions)


@lru_cache(maxsize=2)  # the answer of a model does not depend on the promise
def _hangs(test: LitmusTest, model: Model, unroll: int, solver: str) -> _Hangs:
    return _Hangs(test, model, unroll, solver)


class _Hangs:
    """The clauses of hangs. Events go by their number in ``Executions.events``."""

    def __init__(self, test: LitmusTest, model: Model, unroll: int, solver: str) -> None:
        self._test = test
        self._forgets_reads = forgets_reads(model)
        self._executions = Executions(test, model, unroll, unfinished=True)
        self._values = _values(self._executions, solver)
        self._circuit = circuit = self._executions.circuit
        self._runs = self._executions.runs
        self._index = {event.key: number for number, event in enumerate(self._executions.events)}
        self._solver = solver
        self._hang, self._steady = circuit.var("hang"), circuit.var("steady")
        self._left: list[Literal] = []
        self._rounds: list[_Round] = []
        for number, thread in enumerate(self._runs.threads):
            self._endings(number, thread)
        threads = range(len(test.threads))
        self._waits = [self._waiting(number) for number in threads]
        self._running = [~(self._ended(number) | self._waits[number]) for number in threads]
        self._stepped = [~self._unstepped(number) for number in threads]
        stuck = [one.literal for one in self._rounds]
        circuit.require(~self._hang, *stuck, *self._waits)
        for left in self._left:
            circuit.require(~self._hang, *stuck, ~left)
        self._spinning: dict[int, Literal] = {}
        self._again: dict[tuple[int, int], Literal] = {}
        self._rounds_are_gone_again()
        self._what_is_read_for_ever_is_visible()
        self._times_are_alike()
        self._further = self._goes_on()

    def find(self, promise: Promise, steady: bool, needed: Collection[int] | None = None) -> Hanging:
        """The answer whether the program may hang under a promise, so that one of the ``needed`` threads never ends."""
        executions, circuit = self._executions, self._circuit
        promised = circuit.fresh()
        if needed is not None:
            unended = (~self._ended(number) | self._waits[number] for number in sorted(needed))
            circuit.require(~promised, *unended)
        for number, left in enumerate(self._left):
            for condition in promised_where(promise, number, self._running, self._stepped):
                circuit.require(~promised, ~left, ~self._running[number], *(~literal for literal in condition))
        further = circuit.assumptions([~self._hang, self._further])
        opened = self._open()
        try:
            for wanted in [[self._hang, promised, self._steady]] * steady + [[self._hang, promised]]:
                while opened.solve([literal.number for literal in wanted]):
                    found = Assignment(circuit, opened.model())
                    known = len(circuit.formula.clauses)
                    if self._is_kept(promise, promised, found):
                        return Hanging(self._decoded(found), executions.bounded, False)
                    opened.add(circuit.formula.clauses[known:])
            provisional = not executions.complete and opened.solve(further)
            return Hanging(None, executions.bounded, provisional)
        finally:
            opened.close()

    def only_as(self, other: Model) -> bool:
        """Whether another model allows every execution that this one allows."""
        executions, circuit = self._executions, self._circuit
        found = [
            executions.executed[one] & executions.executed[two] & ~(row.get(two, circuit.false) | back)
            for writes in executions.writes.values()
            for one, two in combinations(writes, 2)
            for row, back in [(executions.co[one], executions.co[two].get(one, circuit.false))]
        ]
        found += [~result.truth for result in other.judge(executions.base) if not result.check.flag]
        wanted = circuit.assumptions([~self._hang, circuit.any_of(found)])
        opened = self._open()
        try:
            return not opened.solve(wanted)
        finally:
            opened.close()

    def _open(self) -> Solver:
        """Open a new solver that holds all clauses of the encoding."""
        if isinstance(self._values, FiniteValues):
            opened = open_solver(self._solver, self._circuit.formula.variables)
        else:
            opened = self._values.open()
        opened.add(self._circuit.formula.clauses)
        return opened

    # How threads stop

    def _endings(self, number: int, thread: Unrolled) -> None:
        circuit, stops = self._circuit, self._runs.stops[number]
        flow = flow_of(self._test, number)
        targets = set(flow.backward.values())
        ahead = _ahead(thread)
        visits: dict[int, list[int]] = {}
        for node, place in enumerate(thread.nodes):
            visits.setdefault(place.pc, []).append(node)
        left = []
        for node, stop in stops.items():
            pc = thread.nodes[node].pc
            ways = [circuit.var("left", number, node)]
            left += ways
            before = [earlier for earlier in visits[pc] if earlier < node and ahead[earlier] >> node & 1]
            if pc in targets:
                ways += [self._round(number, thread, ahead, (start, node)) for start in before]
            if isinstance(flow.code[pc], EVENTFUL):
                ways += [
                    self._round(number, thread, ahead, (start, middle, node))
                    for middle in before
                    for start in visits[pc]
                    if start < middle
                    and ahead[start] >> middle & 1
                    and _shift(thread.nodes[start], thread.nodes[middle])
                    == _shift(thread.nodes[middle], thread.nodes[node])
                ]
            ways = [way for way in ways if way is not circuit.false]
            circuit.exactly_one(ways, stop)
            for way in ways:
                circuit.require(~way, stop)
        self._left.append(circuit.any_of(left))

    def _round(self, number: int, thread: Unrolled, ahead: Sequence[int], nodes: tuple[int, ...]) -> Literal:
        """The literal of a round between nodes, with what holds of where it begins and ends."""
        circuit = self._circuit
        start, end = (thread.nodes[node].registers for node in nodes[:2])
        equal = [self._values.compared("eq", start[name], end[name]) for name in start if start[name] != end[name]]
        if circuit.false in equal:
            return circuit.false
        literal = circuit.var("spin" if len(nodes) == 2 else "cycle", number, *nodes)
        for holds in (*equal, *(self._runs.reached[number][node] for node in nodes[:-1])):
            circuit.require(~literal, holds)
        steps: dict[int, list[int]] = {step: [] for step in _between(thread, ahead, *nodes[:2])}
        if len(nodes) == 3:
            shift = _shift(thread.nodes[nodes[0]], thread.nodes[nodes[1]])
            later: dict[object, list[int]] = {}
            for step in _between(thread, ahead, *nodes[1:]):
                later.setdefault(_what(thread, thread.steps[step], {}), []).append(step)
            for step in steps:
                steps[step] = later.get(_what(thread, thread.steps[step], shift), [])
        self._rounds.append(_Round(number, nodes, steps, literal))
        return literal

    def _ended(self, number: int) -> Literal:
        end = self._runs.threads[number].end
        return self._circuit.false if end is None else self._runs.reached[number].get(end, self._circuit.false)

    def _waiting(self, number: int) -> Literal:
        """The literal that a thread waits at a barrier for ever."""
        events, happens = self._runs.events, self._runs.happens
        return self._circuit.any_of(
            happens[key] for key, event in events.items() if event.thread == number and stays(event)
        )

    def _unstepped(self, number: int) -> Literal:
        """The literal that a thread has done no instruction: it has passed labels alone."""
        thread, body = self._runs.threads[number], flow_of(self._test, number).code
        before = {0}
        for step in thread.steps:
            pc = thread.nodes[step.source].pc
            if step.source in before and isinstance(body[pc], Label):
                before.add(step.target)
        stops = [self._runs.stops[number].get(node, self._circuit.false) for node in sorted(before)]
        return self._circuit.any_of([*stops, *([self._ended(number)] if thread.end in before else [])])

    def _goes_on(self) -> Literal:
        """The literal that some loop can be followed further, and does more than wait, or may to the model."""
        found = []
        for number, thread in enumerate(self._runs.threads):
            waits = spinning_jumps(self._test, number) if self._forgets_reads else frozenset[int]()
            for node, stop in self._runs.stops[number].items():
                for jump, constraints in thread.nodes[node].cuts:
                    if jump not in waits:
                        holds = stop
                        for held in constraints:
                            holds = holds & self._values.compared(held.operation, held.left, held.right)
                        found.append(holds)
        return self._circuit.any_of(found)

    def _is_kept(self, promise: Promise, promised: Literal, found: Assignment) -> bool:
        """Whether of each set of threads that is promised execution some thread is not left. From now on, where
        ``promised`` holds, that is so of the sets that are promised it here, when as many have ended and stepped as
        here."""
        running, stepped = _mask(self._running, found), _mask(self._stepped, found)
        sets, left = promised_sets(promise, running, stepped), _mask(self._left, found)
        otherwise = [
            ~literal if mask >> number & 1 else literal
            for mask, literals in ((running, self._running), (stepped, self._stepped))
            for number, literal in enumerate(literals)
        ]
        for threads in sets:
            members = [~literal for number, literal in enumerate(self._left) if threads >> number & 1]
            self._circuit.require(~promised, *otherwise, *members)
        return all(threads & ~left for threads in sets)

    # Rounds that go on for ever

    def _rounds_are_gone_again(self) -> None:
        circuit, events = self._circuit, self._executions.events
        for one in self._rounds:
            thread, taken = self._runs.threads[one.thread], self._runs.taken[one.thread]
            for step, later in one.steps.items():
                here = one.literal & taken[step]
                if len(one.nodes) == 3:
                    circuit.require(~here, *(taken[again] for again in later))
                for event in thread.steps[step].events:
                    number = self._index[event.key]
                    if event.spurious:
                        circuit.require(~here)
                    if len(one.nodes) == 2:
                        if event.kind in (EventKind.WRITE, EventKind.BARRIER):
                            circuit.require(~here)
                        self._spinning[number] = self._spinning.get(number, circuit.false) | here
                for again in later:
                    both = here & taken[again]
                    for event, repeated in zip(thread.steps[step].events, thread.steps[again].events, strict=True):
                        pair = self._index[event.key], self._index[repeated.key]
                        self._again[pair] = self._again.get(pair, circuit.false) | both
        for (once, twice), literal in self._again.items():
            if events[once].kind is EventKind.READ:
                alike = self._values.compared("eq", Read(events[once].key), Read(events[twice].key))
                circuit.require(~literal, alike)

    def _time(self, which: int) -> dict[int, Literal]:
        """How true it is of each event that it is of the first, or second, time of a cycle."""
        found: dict[int, Literal] = {}
        for pair, literal in self._again.items():
            found[pair[which]] = found.get(pair[which], self._circuit.false) | literal
        return found

    def _what_is_read_for_ever_is_visible(self) -> None:
        executions, circuit = self._executions, self._circuit
        events, false = executions.events, circuit.false
        first, second = self._time(0), self._time(1)
        written: dict[str | None, Literal] = {}
        for event, literal in second.items():
            if events[event].kind is EventKind.WRITE:
                location = events[event].location
                written[location] = written.get(location, false) | literal
        for read, literal in self._spinning.items():
            circuit.require(~literal, ~written.get(events[read].location, false))
        for write, row in enumerate(executions.rf):
            for read, rf in row.items():
                again = second.get(read, false)
                others_write = written.get(events[read].location, false)
                circuit.require(~rf, ~again, ~others_write, first.get(write, false), second.get(write, false))
                for_ever = self._spinning.get(read, false) | (again & ~others_write)
                for later in executions.co[write].values():
                    circuit.require(~rf, ~for_ever, ~later)
        for location, literal in written.items():
            if literal is false:
                continue
            writes = executions.writes[location or ""]
            for one in writes:
                for other in writes:
                    if one != other:
                        before = executions.co[one].get(other, false)
                        not_one = (~executions.executed[one], second.get(one, false), before)
                        circuit.require(~first.get(other, false), first.get(one, false), *not_one)
                        circuit.require(~second.get(other, false), *not_one)
        for one, literal in second.items():
            for other, also in second.items():
                alike = events[one].kind is EventKind.WRITE and events[one].location == events[other].location
                if alike and one < other and events[other].kind is EventKind.WRITE:
                    same = self._values.compared("eq", events[one].value, events[other].value)
                    circuit.require(~self._steady, ~literal, ~also, same)

    def _times_are_alike(self) -> None:
        executions, circuit = self._executions, self._circuit
        false, second = circuit.false, self._time(1)
        closed: list[Relation[Literal]] = [executions.rf, *executions.orders.values()]
        relations = [executions.co, *closed]
        if any(event.kind is EventKind.BARRIER for event in executions.events):
            syncbar = executions.base.relation("syncbar")
            relations.append(syncbar)
            closed += [syncbar, executions.algebra.inverse(syncbar)]
        for relation in relations:
            for (one, one_again), literal in self._again.items():
                for (other, other_again), also in self._again.items():
                    there = relation[one].get(other, false)
                    later = relation[one_again].get(other_again, false)
                    if there is not later:
                        circuit.require(~literal, ~also, ~there, later)
                        circuit.require(~literal, ~also, there, ~later)
        for relation in closed:
            for one, literal in second.items():
                for other, pair in relation[one].items():
                    circuit.require(~literal, ~pair, second.get(other, false))

    # Solutions

    def _decoded(self, found: Assignment) -> Hang:
        endings: list[ThreadEnding] = []
        rounds: list[tuple[frozenset[Key], ...]] = []
        kept = [one for one in self._rounds if found.holds(one.literal)]
        for number, thread in enumerate(self._runs.threads):
            stuck = [one for one in kept if one.thread == number]
            if not stuck:
                left, waits = found.holds(self._left[number]), found.holds(self._waits[number])
                endings.append(ThreadEnding.LEFT if left else ThreadEnding.WAITS if waits else ThreadEnding.ENDED)
                rounds.append(())
                continue
            (one,) = stuck
            endings.append(ThreadEnding.SPINS if len(one.nodes) == 2 else ThreadEnding.CYCLES)
            ahead, taken = _ahead(thread), self._runs.taken[number]
            rounds.append(
                tuple(
                    frozenset(
                        event.key
                        for step in _between(thread, ahead, start, end)
                        if found.holds(taken[step])
                        for event in thread.steps[step].events
                    )
                    for start, end in zip(one.nodes, one.nodes[1:], strict=False)
                )
            )
        execution = decoded(self._executions, self._values, found)
        return Hang(execution, tuple(endings), tuple(rounds))


def _ahead(thread: Unrolled) -> list[int]:
    """The nodes that can be reached from each, itself among them, as the bits of a number."""
    ahead = [1 << node for node in range(len(thread.nodes))]
    for step in reversed(thread.steps):
        ahead[step.source] |= ahead[step.target]
    return ahead


def _between(thread: Unrolled, ahead: Sequence[int], start: int, end: int) -> list[int]:
    """The steps that may be taken from one node to another."""
    return [
        number
        for number, step in enumerate(thread.steps)
        if ahead[start] >> step.source & 1 and ahead[step.target] >> end & 1
    ]


def _shift(one: Node, other: Node) -> dict[int, int]:
    """How much more often backward jumps have been taken at a node than at another."""
    jumps = {jump: other.jumps.get(jump, 0) - one.jumps.get(jump, 0) for jump in {*one.jumps, *other.jumps}}
    return {jump: more for jump, more in jumps.items() if more}


def _what(thread: Unrolled, step: Move, shift: Mapping[int, int]) -> object:
    """A key that a step shares with the equal step of a later round."""
    places = []
    for node in (thread.nodes[step.source], thread.nodes[step.target]):
        jumps = {jump: node.jumps.get(jump, 0) + shift.get(jump, 0) for jump in {*node.jumps, *shift}}
        places.append((node.pc, frozenset((jump, count) for jump, count in jumps.items() if count)))
    events = tuple(
        (event.position, event.kind, event.location, event.virtual, event.tags, event.spurious) for event in step.events
    )
    return (*places, events)


def _mask(literals: Sequence[Literal], found: Assignment) -> int:
    return sum(1 << number for number, literal in enumerate(literals) if found.holds(literal))
