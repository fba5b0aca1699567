"""Progress tests as clauses: AXB programs of one shape whose LTS is well formed and can fail to terminate.

Source: seed 004, sections 5.1 and 5.2. The precise list (a) to (e) is in ``oracle.progress.wellformed``, which decides
these conditions on an explicit LTS and knows nothing of this encoding. A *shape* fixes the number of instructions of
each thread, the number of locations and the number of values; one formula covers one shape.

Variables (t thread, i instruction, l location, v value, m memory, s state = memory and program counters):

    location t i l, check t i v, write t i v (v = -1: no exchange), jump t i j     the program, each field one-hot
    tests t i l           instruction i of t branches on l
    equal t i m           the comparison holds in memory m
    goes t i m j          from memory m, control goes to j
    leaves t i m n        from memory m, memory becomes n, which differs from m in at most one cell
    step t i m j n        both
    reach s               a superset of the reachable states, closed under steps
    support s t s'        s is claimed reachable and a step of t leads from it to s'
    visits, changes, holds, fails t i m      a claimed state where t is at i in memory m, and what its step does
    turns s, turn s t     states with an endless run among claimed states

Constraints, one method each, in the order of the methods. Of the well-formedness conditions, the unique start state and
that running threads are always enabled hold by construction of ``step``.

Two of the conditions are least fixed points, which clauses about one state at a time cannot say: that a claimed state
is *really* reachable, and that from a reachable state the end *really* can be reached. Cycles of states could vouch for
each other. Unrolling distances would need a bound for each shape, and a bound too low loses tests silently. Instead, as
answer-set solvers do (loop formulas: Lin and Zhao, ASSAT, 2004), ``refine`` compares a model with the explicit LTS of
its program and returns, for a set of states that cheat, the clauses they violate: a claimed set without the start
needs a step into it from outside, and a reached set without an end state needs a step out of it. Both hold for all
programs of the shape, so they are added for good. Each excludes the cheating set for every program at once, and about a
hundred sets suffice where a shape has thousands of tests. No bound is involved, so none can be too low.

Symmetry: locations are numbered in the order of their first occurrence (exact). Threads of equal length are ordered by
everything but their locations (exact but for ties); ``block`` covers the images that a tie leaves.

Size: O(states * threads * (longest thread + 1) * locations * values) clauses, a few thousand at 2x4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal

from constraints.formula import Clause, Formula
from corpus.graphs import components, reachable
from corpus.progress.axb import Instruction, Program, thread_images
from oracle.progress.lts import Lts, explore
from oracle.progress.system import NO_STEP

Memory = tuple[int, ...]
State = tuple[Memory, tuple[int, ...]]
Site = tuple[int, int]
"""A thread and one of its instructions."""


@dataclass(frozen=True, slots=True)
class ProgramShape:
    """The shape that one formula covers: instructions of each thread, a maximum of locations, values 0 to ``values -
    1``."""

    lengths: tuple[int, ...]
    locations: int
    values: int

    def fixed_jumps(self, cases: int) -> int:
        """The number of jumps of the longest thread to fix for at least ``cases`` cases; all of its jumps where that
        is too few."""
        longest = max(self.lengths)
        return next((n for n in range(longest) if (longest + 1) ** n >= cases), longest)

    def cubes(self, cases: int) -> int:
        """The number of cases that ``ProgressEncoding.cubes`` gives."""
        return int((max(self.lengths) + 1) ** self.fixed_jumps(cases))


@dataclass(frozen=True)
class Solution:
    """A program that an encoding found: one of each orbit under permutation of equal threads."""

    program: Program

    @cached_property
    def lts(self) -> Lts:
        """The labelled transition system of the program, explored when it is first asked for."""
        return explore(self.program)

    @cached_property
    def images(self) -> list[tuple[Program, tuple[int, ...]]]:
        """The images of the program under permutation of its threads (``thread_images``)."""
        return thread_images(self.program)


@dataclass(frozen=True, slots=True)
class Loop:
    """States, in the encoding's order, that cannot vouch for each other: a step must enter them, or leave them."""

    needs: Literal["entry", "exit"]
    states: tuple[State, ...]


class ProgressEncoding:
    """The formula of a shape, an ``Encoding`` of the synthesis loop: decoding, refinement and blocking of its
    models."""

    def __init__(self, shape: ProgramShape) -> None:
        self.shape = shape
        self.formula = Formula()
        self.sites: list[Site] = [(t, i) for t, length in enumerate(shape.lengths) for i in range(length)]
        self.memories: list[Memory] = list(product(range(shape.values), repeat=shape.locations))
        counters = list(product(*(range(length + 1) for length in shape.lengths)))
        self.states: list[State] = [(memory, pcs) for memory in self.memories for pcs in counters]
        self.start: State = (self.memories[0], counters[0])
        self._fields: dict[tuple[str, int, int], range] = {}
        self._values: dict[int, int] = {}  # variable of a field -> the value it stands for
        self._writes = {memory: [memory, *self._one_cell_away(memory)] for memory in self.memories}
        self._entries: dict[State, list[tuple[State, int]]] = {state: [] for state in self.states}
        self._programs_are_well_typed()
        self._locations_appear_in_order()
        self._equal_threads_are_ordered()
        self._threads_influence_each_other()
        self._steps_follow_the_program()
        self._reach_is_closed_and_supported()
        self._every_instruction_matters()
        self._some_run_is_endless()
        self._reach = [(state, self.formula.var("reach", state)) for state in self.states]

    # -- the program ---------------------------------------------------------------------------------------------

    def _field(self, kind: str, site: Site, domain: range) -> None:
        self._fields[kind, *site] = domain
        variables = {self.formula.var(kind, *site, value): value for value in domain}
        self._values |= variables
        self.formula.exactly_one(list(variables))

    def field(self, kind: str, t: int, i: int) -> dict[int, int]:
        """The variables of a field of an instruction, by the values that they stand for."""
        return {value: self.formula.var(kind, t, i, value) for value in self._fields[kind, t, i]}

    def _programs_are_well_typed(self) -> None:
        """Every field has one value; (a) a store exchanges, and its check value is 0."""
        var, add = self.formula.var, self.formula.add
        for t, i in self.sites:
            self._field("jump", (t, i), range(self.shape.lengths[t] + 1))
            self._field("write", (t, i), range(-1, self.shape.values))
            self._field("check", (t, i), range(self.shape.values))
            self._field("location", (t, i), range(self.shape.locations))
            store = self._store(t, i)
            add(-store, -var("write", t, i, -1))
            add(-store, var("check", t, i, 0))

    def _store(self, t: int, i: int) -> int:
        return self.formula.var("jump", t, i, i + 1)

    def _locations_appear_in_order(self) -> None:
        """Location l occurs only after location l - 1 has."""
        var = self.formula.var
        for n, (t, i) in enumerate(self.sites):
            for location in range(1, self.shape.locations):
                earlier = (var("location", u, j, location - 1) for u, j in self.sites[:n])
                self.formula.implies([var("location", t, i, location)], *earlier)

    def _equal_threads_are_ordered(self) -> None:
        """Requires, of two neighbouring threads of equal length, that the first is not greater in (jump, write,
        check) of its instructions, compared lexicographically."""
        var, implies = self.formula.var, self.formula.implies
        lengths = self.shape.lengths
        for t in range(len(lengths) - 1):
            if lengths[t] != lengths[t + 1]:
                continue
            equal: int | None = None  # the fields so far are equal; none so far: true
            for i in range(lengths[t]):
                for kind in ("jump", "write", "check"):
                    domain = self._fields[kind, t, i]
                    so_far = [] if equal is None else [equal]
                    equal = var("equal so far", t, i, kind)
                    for value in domain:
                        left, right = var(kind, t, i, value), var(kind, t + 1, i, value)
                        implies([*so_far, left, right], equal)
                        for smaller in range(domain.start, value):
                            implies([*so_far, left], -var(kind, t + 1, i, smaller))

    # -- what the text alone decides -----------------------------------------------------------------------------

    def _threads_influence_each_other(self) -> None:
        """The static parts of (b) and (c): an exchange needs another thread that branches on its location, a
        branch needs another thread that uses its location."""
        var, implies = self.formula.var, self.formula.implies
        for t, i in self.sites:
            for location in range(self.shape.locations):
                implies([var("tests", t, i, location)], var("location", t, i, location))
                implies([var("tests", t, i, location)], -self._store(t, i))
        for t, i in self.sites:
            others = [(u, j) for u, j in self.sites if u != t]
            for location in range(self.shape.locations):
                here = var("location", t, i, location)
                implies([here], var("write", t, i, -1), *(var("tests", u, j, location) for u, j in others))
                implies([here], self._store(t, i), *(var("location", u, j, location) for u, j in others))

    # -- the LTS -------------------------------------------------------------------------------------------------

    def _one_cell_away(self, memory: Memory) -> Iterator[Memory]:
        for location, old in enumerate(memory):
            for value in range(self.shape.values):
                if value != old:
                    yield (*memory[:location], value, *memory[location + 1 :])

    def _steps_follow_the_program(self) -> None:
        """Defines ``step``, the semantics of AXB, as a function of the program for each site and memory."""
        var, add, implies = self.formula.var, self.formula.add, self.formula.implies
        for (t, i), memory in product(self.sites, self.memories):
            equal = var("equal", t, i, memory)
            same = var("leaves", t, i, memory, memory)
            implies([var("write", t, i, -1)], same)
            for location, value in enumerate(memory):
                here = var("location", t, i, location)
                implies([here, var("check", t, i, value)], equal)
                implies([here, -var("check", t, i, value)], -equal)
                implies([here, var("write", t, i, value)], same)
            for after in self._writes[memory][1:]:
                location = next(cell for cell, value in enumerate(memory) if value != after[cell])
                causes = [var("location", t, i, location), var("write", t, i, after[location])]
                self.formula.define_and(var("leaves", t, i, memory, after), causes)
                add(-same, -var("leaves", t, i, memory, after))
            for jump in self._fields["jump", t, i]:
                goes, there = var("goes", t, i, memory, jump), var("jump", t, i, jump)
                if jump == i + 1:
                    add(equal, goes)
                    implies([there], goes)
                    implies([goes], -equal, there)
                else:
                    self.formula.define_and(goes, [equal, there])
                for after in self._writes[memory]:
                    step = var("step", t, i, memory, jump, after)
                    self.formula.define_and(step, [goes, var("leaves", t, i, memory, after)])

    def _moves(self, state: State, t: int) -> Iterator[tuple[int, State]]:
        """Every step that some program lets thread t take from a state, with the state after it."""
        memory, counters = state
        i = counters[t]
        if i < self.shape.lengths[t]:
            for jump, after in product(self._fields["jump", t, i], self._writes[memory]):
                step = self.formula.var("step", t, i, memory, jump, after)
                yield step, (after, (*counters[:t], jump, *counters[t + 1 :]))

    def _reach_is_closed_and_supported(self) -> None:
        """The start is reached; a step from a reached state reaches; and a reached state has a step into it."""
        var, add, implies = self.formula.var, self.formula.add, self.formula.implies
        add(var("reach", self.start))
        for state in self.states:
            for t in range(len(self.shape.lengths)):
                for step, after in self._moves(state, t):
                    implies([var("reach", state), step], var("reach", after))
                    if after not in (state, self.start):
                        support = var("support", state, t, after)
                        implies([support], var("reach", state))
                        implies([support], step)
                        self._entries[after].append((state, support))
        for state in self.states:
            if state != self.start:
                implies([var("reach", state)], *(support for _, support in self._entries[state]))

    def _every_instruction_matters(self) -> None:
        """The dynamic parts of (b) and (c): a reached step of an exchange changes memory, and a branch has both
        outcomes in reached states."""
        var, implies = self.formula.var, self.formula.implies
        for t, i in self.sites:
            for memory in self.memories:
                visits = var("visits", t, i, memory)
                implies([visits], *(var("reach", s) for s in self.states if s[0] == memory and s[1][t] == i))
                for kind, fact in (
                    ("changes", -var("leaves", t, i, memory, memory)),
                    ("holds", var("equal", t, i, memory)),
                    ("fails", -var("equal", t, i, memory)),
                ):
                    implies([var(kind, t, i, memory)], visits)
                    implies([var(kind, t, i, memory)], fact)
            implies([-var("write", t, i, -1)], *(var("changes", t, i, memory) for memory in self.memories))
            implies([-self._store(t, i)], *(var("holds", t, i, memory) for memory in self.memories))
            implies([-self._store(t, i)], *(var("fails", t, i, memory) for memory in self.memories))

    def _some_run_is_endless(self) -> None:
        """(e): a non-empty set of reached states, each with a step to one of them; so some step closes a cycle."""
        var, add, implies = self.formula.var, self.formula.add, self.formula.implies
        add(*(var("turns", state) for state in self.states))
        for state in self.states:
            running = [t for t, length in enumerate(self.shape.lengths) if state[1][t] < length]
            implies([var("turns", state)], var("reach", state))
            implies([var("turns", state)], *(var("turn", state, t) for t in running))
            for t in running:
                for step, after in self._moves(state, t):
                    implies([var("turn", state, t), step], var("turns", after))

    # -- models --------------------------------------------------------------------------------------------------

    def decode(self, model: Sequence[int]) -> Solution:
        """The program of a model; ``model[v - 1]`` is the literal of variable ``v``."""
        # The fields come first among the variables, site by site, and each has one true literal.
        values = iter([self._values[literal] for literal in model[: len(self._values)] if literal > 0])
        threads: list[list[Instruction]] = [[] for _ in self.shape.lengths]
        for t, _ in self.sites:
            jump, write, check, location = next(values), next(values), next(values), next(values)
            threads[t].append(Instruction(location, check, jump, None if write < 0 else write))
        return Solution(Program(tuple(tuple(thread) for thread in threads)))

    def refine(self, model: Sequence[int], solution: Solution) -> list[Clause]:
        """Clauses that hold for every program of the shape and that this model violates; none when it does not cheat.

        ``solution`` is the model's.
        """
        return [clause for loop in self.loops(model, solution) for clause in self.loop_formulas(loop)]

    def loops(self, model: Sequence[int], solution: Solution) -> list[Loop]:
        """The sets of states that cheat in a model of the formula; none where it does not. ``solution`` is the
        model's."""
        lts = solution.lts
        unused = (0,) * (self.shape.locations - lts.program.locations)
        reachable = [(memory + unused, counters) for memory, counters in zip(lts.memories, lts.counters, strict=True)]
        unfounded = {state for state, literal in self._reach if model[literal - 1] > 0}.difference(reachable)
        loops = [Loop("entry", self._in_order(self._least_unfounded(model, unfounded)))] if unfounded else []
        return loops + [Loop("exit", self._in_order({reachable[node] for node in trap})) for trap in _traps(lts)]

    def loop_formulas(self, loop: Loop) -> list[Clause]:
        """The clauses that a set of states must satisfy in every program of the shape."""
        return self._needs_an_entry(loop.states) if loop.needs == "entry" else self._needs_an_exit(loop.states)

    def _in_order(self, states: set[State]) -> tuple[State, ...]:
        return tuple(state for state in self.states if state in states)

    def _least_unfounded(self, model: Sequence[int], unfounded: set[State]) -> set[State]:
        """The smallest set of unfounded states that holds, with a state, every source of a step into it that the
        model relies on: the smaller the set, the more its clauses exclude."""

        def sources(state: State) -> Iterator[State]:
            return (before for before, support in self._entries[state] if model[support - 1] > 0)

        least = unfounded
        for state in self.states:
            if state in unfounded:
                closure = reachable([state], sources)
                if len(closure) < len(least):
                    least = set(closure)
        return least

    def _needs_an_entry(self, members: tuple[State, ...]) -> list[Clause]:
        """No state of a set without the start is reachable unless a step enters the set."""
        states = set(members)
        entries = [support for state in members for before, support in self._entries[state] if before not in states]
        return [[-self.formula.var("reach", state), *entries] for state in members]

    def _needs_an_exit(self, members: tuple[State, ...]) -> list[Clause]:
        """A reachable state of a set without an end state: some step leaves the set."""
        states = set(members)
        exits = {
            step
            for state in members
            for t in range(len(self.shape.lengths))
            for step, after in self._moves(state, t)
            if after not in states
        }
        return [[-self.formula.var("reach", state), *sorted(exits)] for state in members]

    def block(self, solution: Solution) -> list[Clause]:
        """Blocking clauses: they exclude the program and those of its images with this shape that the formula's
        symmetry breaking admits."""
        lengths = self.shape.lengths
        return [
            [-literal for literal in self.literals(image)]
            for image, _ in solution.images
            if tuple(map(len, image.threads)) == lengths
        ]

    def literals(self, program: Program) -> list[int]:
        """The literals that hold together in exactly one program of the shape, a given one."""
        found = []
        for t, i in self.sites:
            ins = program.threads[t][i]
            write = -1 if ins.exchange is None else ins.exchange
            for kind, value in (("location", ins.location), ("check", ins.check), ("jump", ins.jump), ("write", write)):
                found.append(self.formula.var(kind, t, i, value))
        return found

    def cubes(self, cases: int) -> list[list[int]]:
        """Cases that split the programs: at least ``cases``, if the longest thread has jumps enough to fix.

        Each is a list of literals. Together they cover every program, and no program twice.
        """
        return [list(case) for case in product(*self.choices()[: self.shape.fixed_jumps(cases)])]

    def choices(self) -> list[list[int]]:
        """The variables that cases fix, in order: for each field of an instruction the variables of its values, of
        which one holds. Jumps come first, and among these the jumps of the longest thread."""
        sites = sorted(self.sites, key=lambda site: (-self.shape.lengths[site[0]], -site[0], site[1]))
        return [
            [self.formula.var(kind, *site, value) for value in self._fields[kind, *site]]
            for kind in ("jump", "write", "check", "location")
            for site in sites
        ]


def _traps(lts: Lts) -> Iterator[list[int]]:
    """Components that nothing leaves, other than end states."""
    ends = [not running for running in lts.running]
    ends.append(False)  # at index NO_STEP
    growing = True
    while growing:  # nearly every model has no trap, and this finds it out sooner than components do
        growing = False
        for node in range(len(lts.successors) - 1, -1, -1):
            if not ends[node] and any(map(ends.__getitem__, lts.successors[node])):
                ends[node] = growing = True
    if all(ends[:-1]):
        return
    for members in components(lts.successors):
        inside = {*members, NO_STEP}
        if lts.running[members[0]] and all(inside.issuperset(lts.successors[node]) for node in members):
            yield members
