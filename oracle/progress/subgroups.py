"""The labelled transition system of a litmus test whose lanes of one subgroup step in lock step, independently, or so
that they reconverge maximally.

    P0, r0 = 0          | P1, r0 = 1          two lanes of one subgroup, with one code
    0 bne r0, 0, LC0    | 0 bne r0, 0, LC0    they diverge: P0 goes on, P1 jumps
    1 LC1:              | 1 LC1:
    2 ld r1, flag       | 2 ld r1, flag       in lock step, P0 may go first, and P1 is masked: then P0 spins for ever
    3 beq r1, 0, LC1    | 3 beq r1, 0, LC1
    4 goto LC2          | 4 goto LC2
    5 LC0:              | 5 LC0:
    6 st flag, 1        | 6 st flag, 1
    7 LC2:              | 7 LC2:              the immediate post-dominator of 0, where both come together again

Accesses, barriers and what a thread does by itself are those of ``oracle.progress.litmus``. The lanes of a subgroup are
the threads of one place, numbered in their order. What a stepping adds is when a lane has a step, and which lanes do an
operation of the subgroup together:

- *independent*: a lane has a step as any thread has. Nothing says who does an operation together, so that a lane comes
  to it by one step, and by the next goes on, with all lanes that have come to the same instruction by then
  (NVIDIA, "Tesla V100 GPU architecture", 2017: independent thread scheduling).
- *lock step*: the lanes have one program counter, and a tree of what is still to be done. At a branch where they
  diverge, one side goes first and the other is *masked* until the first has come to the immediate post-dominator; then
  that one goes, and all go on together (Fung et al., "Dynamic warp formation", MICRO 2007; Collange, "Stack-less SIMT
  reconvergence at low cost", 2011). A lane that waits for what a masked lane does waits for ever: SIMT deadlock
  (ElTantawy and Aamodt, "MIMD synchronization on SIMT architectures", MICRO 2016). Which side goes first is up to the
  machine: the lane that takes the next step decides it, unless ``first`` does. Each instruction is done by all lanes
  that are not masked before any goes on, each access by itself, in any order, with other subgroups' between (CUDA C++
  Programming Guide, "SIMT architecture": who writes last is not defined). Operations of the subgroup are done by all
  lanes that are not masked.
- *maximal*: lanes have steps as independent ones, for the extension says nothing of progress. Operations are done by a
  *tangle*: the lanes that come to the instruction in the same round of all loops around it. A lane waits until each
  lane of its subgroup has come, or cannot come any more (SPV_KHR_maximal_reconvergence, "Reconvergence").

An operation with a mask is done by the lanes of the mask that have not ended, under every stepping, once each of them
has come to one with that name and mask (PTX ISA 9.1, ``vote.sync``; ``elect.sync`` and ``bar.warp.sync``, where the ISA
does not speak of threads that have exited, are read so, too). In lock step a masked lane does not come.

Lanes reconverge where they have the same code up to names of registers and labels, as threads of one kernel have. In
lock step, each of several codes in a subgroup is a side of a branch before the first instruction, and all reconverge at
the end; a tangle has one code.

Gaps: a lane that runs ahead of others by more than ``MOST_ROUNDS`` rounds of a loop with such operations, or a loop
that is entered by several ways, leaves the verdict open under *maximal*. Merges are where
``oracle.progress.reconvergence`` puts them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.litmus.describe import describe
from corpus.litmus.flow import ThreadFlow, unguarded_flow
from corpus.litmus.instructions import Assign, Branch, GroupOperation, Instruction, Label, Load, Rmw
from corpus.litmus.locations import Reg
from corpus.litmus.normal import map_operands
from corpus.litmus.orders import Place
from corpus.litmus.test import LitmusTest
from oracle.executions.values import Value
from oracle.exploration import FoundStates, NoVerdictError, StateLimit, StateLimitError
from oracle.progress.litmus import (
    MOST_STATES,
    SEEN_BY_OTHERS,
    Automaton,
    LitmusLts,
    Meetings,
    Memory,
    memory_of,
)
from oracle.progress.reconvergence import ReconvergentLoop, reconvergent_loops
from oracle.progress.system import NO_STEP, Action

MOST_ROUNDS = 8
"""The number of rounds of a loop by which a lane may be ahead of others of its subgroup."""

END = -1
"""The place where lanes of several codes reconverge: the end of each."""


def is_grouped(test: LitmusTest) -> bool:
    """Decide whether a test has operations of a subgroup."""
    return any(isinstance(ins, GroupOperation) for ins in test.instructions)


def subgroups(places: Sequence[Place]) -> list[tuple[int, ...]]:
    """The lanes of each subgroup, which are the threads of one place, by the subgroup's first thread."""
    groups: dict[Place, list[int]] = {}
    for tid, place in enumerate(places):
        groups.setdefault(place, []).append(tid)
    return list(map(tuple, groups.values()))


class Convergence(ABC):
    """What a stepping says of the lanes of one subgroup. Its *control* is what it keeps of a state besides positions.

    Lists of positions are changed: a lane goes on to where it next has a step. Sets of lanes are masks of threads.
    """

    goes_on = False
    """Whether a lane that has come to an operation without a mask goes on by a step, with whoever has come by then."""

    branches = False
    """Whether a branch at which lanes stop is a step of its own."""

    def __init__(self, lanes: Sequence[int], threads: Sequence[Automaton]) -> None:
        self.lanes = lanes
        self._threads = threads
        by_code: dict[tuple[Instruction, ...], list[int]] = {}
        for lane in lanes:
            by_code.setdefault(_without_names(threads[lane].flow), []).append(lane)
        self.codes = list(by_code.values())
        """The lanes that have one code, by code."""

    @staticmethod
    def stops(flow: ThreadFlow) -> frozenset[int]:
        """The places of a code at which lanes stop on their way, besides those that others see."""
        return frozenset()

    @abstractmethod
    def start(self, positions: list[int]) -> object:
        """The control of the first state."""

    @abstractmethod
    def free(self, control: object) -> int:
        """The lanes that have a step as far as the stepping goes."""

    def masked(self, control: object) -> int:
        """The lanes that wait for others of the subgroup to reconverge with them."""
        return 0

    @abstractmethod
    def stepped(self, control: object, lane: int | None, done: int, positions: list[int]) -> object:
        """The control after a lane, if any, has taken a step, and lanes are ``done`` with their instruction."""

    @abstractmethod
    def party(self, control: object, lane: int, come: int, positions: Sequence[int]) -> int:
        """The lanes that now do an operation without a mask together with a lane that has come to it; 0: not yet."""


class _Independent(Convergence):
    """Lanes that step as any threads do."""

    goes_on = True

    def start(self, positions: list[int]) -> object:
        return None

    def free(self, control: object) -> int:
        return _mask(self.lanes)

    def stepped(self, control: object, lane: int | None, done: int, positions: list[int]) -> object:
        return None

    def party(self, control: object, lane: int, come: int, positions: Sequence[int]) -> int:
        (code,) = (code for code in self.codes if lane in code)
        here = _pc(self._threads[lane], positions[lane])
        return _mask(
            member for member in code if come >> member & 1 and _pc(self._threads[member], positions[member]) == here
        )


@dataclass(frozen=True, slots=True)
class Front:
    """Lanes that are at one instruction, and those of them that still have to do it."""

    lanes: int
    todo: int


@dataclass(frozen=True, slots=True)
class Divergence:
    """Lanes that have diverged: the place where they reconverge, those that are there, and the sides that are not.

    ``first`` is the side that goes before the others; None: the next step decides it.
    """

    join: int
    come: int
    sides: tuple[Tree, ...]
    first: int | None


Tree = Front | Divergence


class _LockStep(Convergence):
    """Lanes with one program counter. The control is a tree, None where all lanes have ended."""

    order: int | None = None
    """1 where the side that takes a branch goes first, -1 where the other does; None: either."""

    def __init__(self, lanes: Sequence[int], threads: Sequence[Automaton]) -> None:
        super().__init__(lanes, threads)

    @staticmethod
    def stops(flow: ThreadFlow) -> frozenset[int]:
        branches = [pc for pc in flow.places if len(flow.successors[pc]) > 1]
        return frozenset([*branches, *(flow.join(pc) for pc in branches)]) - {flow.end}

    def start(self, positions: list[int]) -> object:
        return self._diverged(END, 0, [_mask(code) for code in self.codes], positions)

    def free(self, control: object) -> int:
        return _free(control) if isinstance(control, Tree) else 0

    def masked(self, control: object) -> int:
        return _members(control) & ~_active(control) if isinstance(control, Tree) else 0

    def stepped(self, control: object, lane: int | None, done: int, positions: list[int]) -> object:
        if not isinstance(control, Tree):
            return control
        tree = control if lane is None else _chosen(control, lane)
        return self._settled(_without(tree, done), END, positions) if done else tree

    def party(self, control: object, lane: int, come: int, positions: Sequence[int]) -> int:
        assert isinstance(control, Tree)
        front = _front(control, lane)
        return 0 if front.todo & ~come else front.todo

    def _settled(self, tree: Tree, join: int, positions: list[int]) -> Tree | None:
        """The tree after all that its lanes do by themselves; None where all of them are at the join."""
        if isinstance(tree, Front):
            return tree if tree.todo else self._onward(tree.lanes, join, positions)
        come, sides, first = tree.come, [], tree.first
        for number, side in enumerate(tree.sides):
            after = self._settled(side, tree.join, positions)
            if after is None:
                come |= _members(side)
                first = None if first == number else first
            else:
                sides.append((number, after))
        if not sides:
            return self._onward(come, join, positions)
        chosen = next((place for place, (number, _) in enumerate(sides) if number == first), None)
        return self._divergence(tree.join, come, [side for _, side in sides], chosen)

    def _divergence(self, join: int, come: int, sides: list[Tree], first: int | None) -> Divergence:
        if first is None and (self.order is not None or len(sides) == 1):
            first = 0
        return Divergence(join, come, tuple(sides), first)

    def _diverged(self, join: int, come: int, sides: Sequence[int], positions: list[int]) -> Tree | None:
        """The tree of lanes that part into sides; None where all come to the join by themselves."""
        trees = []
        for side in sides if self.order != -1 else reversed(sides):
            tree = self._onward(side, join, positions)
            if tree is None:
                come |= side
            else:
                trees.append(tree)
        if len(trees) == 1 and not come:
            return trees[0]  # one code: there is no branch before the first instruction
        return self._divergence(join, come, trees, None) if trees else None

    def _onward(self, lanes: int, join: int, positions: list[int]) -> Tree | None:
        """The tree of lanes at one place, after what they do by themselves; None where that leads to the join."""
        seen = set[tuple[int, ...]]()
        while True:
            here = tuple(positions[lane] for lane in _threads_of(lanes))
            lane = next(_threads_of(lanes))
            thread, position = self._threads[lane], positions[lane]
            flow, pc = thread.flow, _pc(thread, position)
            if pc == (flow.end if join == END else join):
                return None
            if here in seen or thread.positions[position].round or isinstance(thread.body[pc], SEEN_BY_OTHERS):
                return Front(lanes, lanes)
            seen.add(here)
            jumping = 0
            if len(flow.successors[pc]) > 1:
                jumping = _mask(
                    member for member in _threads_of(lanes) if self._threads[member].jumps(positions[member])
                )
            for member in _threads_of(lanes):
                positions[member] = self._threads[member].onward(positions[member])
            if jumping and jumping != lanes:
                meet = flow.join(pc)
                meet = END if meet == flow.end else meet
                tree = self._diverged(meet, 0, (jumping, lanes & ~jumping), positions)
                if tree is not None:
                    return tree


class _TakenFirst(_LockStep):
    """Lock step where the side that takes a branch goes first; of several codes, that of the lowest lane."""

    order = 1


class _FallThroughFirst(_LockStep):
    """Lock step where the side that does not take a branch goes first; of several codes, the last."""

    order = -1


def _members(tree: Tree) -> int:
    if isinstance(tree, Front):
        return tree.lanes
    return tree.come | _union(map(_members, tree.sides))


def _going(tree: Divergence) -> tuple[Tree, ...]:
    """The sides that may go next."""
    return tree.sides if tree.first is None else (tree.sides[tree.first],)


def _free(tree: Tree) -> int:
    return tree.todo if isinstance(tree, Front) else _union(map(_free, _going(tree)))


def _active(tree: Tree) -> int:
    return tree.lanes if isinstance(tree, Front) else _union(map(_active, _going(tree)))


def _front(tree: Tree, lane: int) -> Front:
    while isinstance(tree, Divergence):
        tree = next(side for side in tree.sides if _members(side) >> lane & 1)
    return tree


def _chosen(tree: Tree, lane: int) -> Tree:
    """The tree whose sides with a lane go first."""
    if isinstance(tree, Front):
        return tree
    first = next(number for number, side in enumerate(tree.sides) if _members(side) >> lane & 1)
    sides = tuple(_chosen(side, lane) if number == first else side for number, side in enumerate(tree.sides))
    return replace(tree, sides=sides, first=first)


def _without(tree: Tree, done: int) -> Tree:
    """The tree after lanes have done their instruction."""
    if isinstance(tree, Front):
        return Front(tree.lanes, tree.todo & ~done)
    return replace(tree, sides=tuple(_without(side, done) for side in tree.sides))


Rounds = Mapping[int, int]
"""For each loop, by its header, that a lane is in, the rounds that it has begun."""


class _Maximal(Convergence):
    """Lanes that step as any threads do, and do operations in tangles.

    The control has the ``Rounds`` of each lane as sorted pairs. They are counted from the lane that is least far, as
    soon as nobody can come to a loop from before it any more. A branch is a step, for others may wait for it.
    """

    branches = True

    def __init__(self, lanes: Sequence[int], threads: Sequence[Automaton]) -> None:
        super().__init__(lanes, threads)
        self._loops = {lane: _loops_with_operations(threads[lane].flow) for lane in lanes}
        self._code = {lane: code for code in self.codes for lane in code}
        for lane in lanes:
            operation = next((ins for ins in threads[lane].body if _is_tangled(ins)), None)
            if operation and len(self._code[lane]) > 1 and not threads[lane].flow.is_structured:
                reason = "a loop is entered by several ways, so that nothing says where lanes reconverge"
                raise NoVerdictError(f"P{lane}: {describe(operation)}: {reason}")

    @staticmethod
    def stops(flow: ThreadFlow) -> frozenset[int]:
        if not any(map(_is_tangled, flow.code)):
            return frozenset()
        branches = {pc for pc in flow.places if len(flow.successors[pc]) > 1}
        return frozenset(branches).union(loop.header for loop in _loops_with_operations(flow))

    def start(self, positions: list[int]) -> object:
        return self._counted([self._onward(lane, {}, positions) for lane in self.lanes], positions)

    def free(self, control: object) -> int:
        return _mask(self.lanes)

    def stepped(self, control: object, lane: int | None, done: int, positions: list[int]) -> object:
        rounds = [
            self._onward(member, known, positions) if done >> member & 1 else known
            for member, known in zip(self.lanes, self._rounds(control), strict=True)
        ]
        return self._counted(rounds, positions)

    def party(self, control: object, lane: int, come: int, positions: Sequence[int]) -> int:
        rounds = dict(zip(self.lanes, self._rounds(control), strict=True))
        here = _pc(self._threads[lane], positions[lane])
        around = [loop for loop in self._loops[lane] if here in loop.places]
        wanted = {loop.header: rounds[lane][loop.header] for loop in around}
        together = 0
        for peer in self._code[lane]:
            pc = _pc(self._threads[peer], positions[peer])
            same = pc == here and all(rounds[peer].get(header) == count for header, count in wanted.items())
            if same and come >> peer & 1:
                together |= 1 << peer
            elif same or self._may_come(peer, pc, rounds[peer], here, around, wanted):
                return 0
        return together

    def _may_come(
        self, lane: int, pc: int, rounds: Rounds, goal: int, around: Sequence[ReconvergentLoop], wanted: Rounds
    ) -> bool:
        """Whether a lane can still come to a place in the given rounds of the loops around it, outermost first."""
        flow = self._threads[lane].flow
        if pc == flow.end:
            return False
        passed: list[int] = []
        for loop in around:
            begun = rounds.get(loop.header)
            if begun is None or begun < wanted[loop.header]:
                return flow.leads(pc, loop.header, passed)
            if begun > wanted[loop.header]:
                return False
            passed.append(loop.header)
        return flow.leads(pc, goal, passed)

    def _rounds(self, control: object) -> list[Rounds]:
        assert isinstance(control, tuple)
        return [dict(pairs) for pairs in control]

    def _onward(self, lane: int, rounds: Rounds, positions: list[int]) -> Rounds:
        """The rounds of a lane after what it does by itself, up to its next branch."""
        thread, loops = self._threads[lane], self._loops[lane]
        counts = dict(rounds)
        seen = set[int]()
        while True:
            position = positions[lane]
            pc = _pc(thread, position)
            counts = {loop.header: counts[loop.header] for loop in loops if loop.header in counts and pc in loop.places}
            still = thread.ended(position) or thread.positions[position].round or position in seen
            if still or isinstance(thread.body[pc], SEEN_BY_OTHERS | Branch):
                return counts
            seen.add(position)
            counts[pc] = counts.get(pc, -1) + 1
            positions[lane] = thread.onward(position)

    def _counted(self, rounds: list[Rounds], positions: Sequence[int]) -> object:
        """The rounds as control, those of each loop from the lane that is least far."""
        known = [dict(loop) for loop in rounds]
        rank = {lane: number for number, lane in enumerate(self.lanes)}
        for code in self.codes:
            for loop in self._loops[code[0]] if len(code) > 1 else ():
                around = [outer for outer in self._loops[code[0]] if loop.header in outer.places and outer != loop]
                inside: dict[tuple[int, ...], list[int]] = {}
                for lane in code:
                    if loop.header in known[rank[lane]]:
                        instance = tuple(known[rank[lane]][outer.header] for outer in around)
                        inside.setdefault(instance, []).append(lane)
                for instance, members in inside.items():
                    wanted = dict(zip((outer.header for outer in around), instance, strict=True))
                    late = (
                        self._may_come(
                            lane,
                            _pc(self._threads[lane], positions[lane]),
                            known[rank[lane]],
                            loop.header,
                            around,
                            wanted,
                        )
                        for lane in code
                        if lane not in members
                    )
                    least = 0 if any(late) else min(known[rank[lane]][loop.header] for lane in members)
                    for lane in members:
                        count = known[rank[lane]][loop.header] - least
                        if count > MOST_ROUNDS:
                            raise NoVerdictError(
                                f"P{lane} is more than {MOST_ROUNDS} rounds ahead of other lanes of its subgroup, in a "
                                "loop with operations of the subgroup"
                            )
                        known[rank[lane]][loop.header] = count
            if len(code) == 1:
                known[rank[code[0]]] = dict.fromkeys(known[rank[code[0]]], 0)
        return tuple(tuple(sorted(loop.items())) for loop in known)


CONVERGENCES: Mapping[str, type[Convergence]] = {
    "independent": _Independent,
    "lockstep": _LockStep,
    "lockstep.taken": _TakenFirst,
    "lockstep.fallthrough": _FallThroughFirst,
    "maximal": _Maximal,
}
"""What each of ``oracle.progress.models.STEPPINGS`` says of a subgroup."""


def _loops_with_operations(flow: ThreadFlow) -> tuple[ReconvergentLoop, ...]:
    operations = {pc for pc, ins in enumerate(flow.code) if _is_tangled(ins)}
    return tuple(loop for loop in reconvergent_loops(flow) if loop.places & operations) if operations else ()


def _without_names(flow: ThreadFlow) -> tuple[Instruction, ...]:
    """The code with registers named by first mention, and labels by their place."""
    registers: dict[str, str] = {}

    def renamed(name: str | None) -> str | None:
        return None if name is None else registers.setdefault(name, f"r{len(registers)}")

    found: list[Instruction] = []
    for ins in flow.code:
        new = map_operands(
            ins, lambda operand: Reg(str(renamed(operand.name))) if isinstance(operand, Reg) else operand
        )
        match new:
            case Label(name):
                new = Label(str(flow.labels[name]))
            case Branch(label):
                new = replace(new, label=str(flow.labels[label]))
            case Load(target) | Assign(target):
                new = replace(new, target=str(renamed(target)))
            case GroupOperation():
                new = replace(new, target=renamed(new.target))
            case Rmw():
                new = replace(new, target=renamed(new.target), success=renamed(new.success))
        found.append(new)
    return tuple(found)


def _is_tangled(ins: Instruction) -> bool:
    return isinstance(ins, GroupOperation) and ins.mask is None


@dataclass(frozen=True)
class SubgroupLts(LitmusLts):
    """A ``LitmusLts`` with the mask of the lanes that are masked in each state."""

    masks: tuple[int, ...] = ()

    def masked(self, state: int) -> int:
        """The mask of lanes that wait for others of their subgroup to reconverge with them."""
        return self.masks[state]

    def action(self, state: int, thread: int) -> Action:
        """The access, barrier or operation of the subgroup that a lane is at, and what it reads."""
        automaton, position = self.automata[thread], self.states[state][1][thread]
        ins = automaton.instruction(position)
        if isinstance(ins, SEEN_BY_OTHERS) and not isinstance(ins, GroupOperation):
            return super().action(state, thread)
        after = self.successors[state][thread]
        outcome = "for ever, without access" if after == state else ""
        if isinstance(ins, GroupOperation):
            waits = after in (NO_STEP, state) or self.states[after][1][thread] == position
            outcome = "waits" if waits else ""
        return Action(automaton.numbers[automaton.positions[position].pc], describe(ins), None, outcome)


def explore_subgroups(test: LitmusTest, convergence: type[Convergence], limit: int = MOST_STATES) -> SubgroupLts:
    """All states reachable from the initial one, where the lanes of each subgroup step as ``convergence`` says.

    Raises ``NoVerdictError`` where there are more than ``limit``, or a step that can be taken has no meaning.
    """
    return _Exploration(test, convergence).all(limit)


@dataclass(frozen=True, slots=True)
class _State:
    """A state: memory, positions, the lanes that have come to an operation, and the control of each subgroup."""

    memory: Memory
    positions: tuple[int, ...]
    come: int
    controls: tuple[object, ...]


class _Exploration:
    """The semantics of a test: the states that a step of a lane leads to."""

    def __init__(self, test: LitmusTest, convergence: type[Convergence]) -> None:
        self._name = test.name
        cells, self._locations, self._memory = memory_of(test)
        stops = [convergence.stops(unguarded_flow(thread)) for thread in test.threads]
        self._threads = tuple(Automaton(test, number, cells, stops[number]) for number in range(len(test.threads)))
        self._meetings = Meetings(test, self._threads)
        groups = subgroups([thread.place for thread in test.threads])
        self._groups = [convergence(lanes, self._threads) for lanes in groups]
        self._of = {lane: number for number, lanes in enumerate(groups) for lane in lanes}
        self._weak = any(
            isinstance(ins, Rmw) and ins.success is not None for thread in self._threads for ins in thread.body
        )

    def all(self, limit: int) -> SubgroupLts:
        """All states, from the first on. Raises ``StateLimitError`` where there are more than ``limit``."""
        error = StateLimitError(f"{self._name} has more than {limit:,} states")
        number_of = FoundStates([self._first()], StateLimit(limit, error))
        successors, chances, waits, masks = [], [], [], []

        def known_as(state: _State | None) -> int:
            return NO_STEP if state is None else number_of[state]

        lanes = range(len(self._threads))
        for number, state in enumerate(number_of.waiting):  # grows during the walk
            going = [tid for tid in lanes if not self._threads[tid].ended(state.positions[tid])]
            free = _union(group.free(control) for group, control in zip(self._groups, state.controls, strict=True))
            row = [known_as(self._after(state, tid)) if tid in going and free >> tid & 1 else NO_STEP for tid in lanes]
            waiting = _mask(tid for tid in going if row[tid] == NO_STEP)
            stepping = {tid for tid in lanes if row[tid] != NO_STEP}
            masked = _union(group.masked(control) for group, control in zip(self._groups, state.controls, strict=True))
            if waiting and all(after == NO_STEP for after in row):
                row = [number if waiting >> tid & 1 else NO_STEP for tid in lanes]
            successors.append(tuple(row))
            waits.append(waiting)
            masks.append(masked & waiting)
            if self._weak:
                failed = (self._failed(state, tid) if tid in stepping else None for tid in lanes)
                chances.append(tuple(map(known_as, failed)))
        return SubgroupLts(
            self._threads,
            self._locations,
            tuple((state.memory, state.positions) for state in number_of),
            tuple(successors),
            tuple(waits),
            tuple(chances),
            tuple(masks),
        )

    def _first(self) -> _State:
        positions = [thread.start for thread in self._threads]
        controls = tuple(group.start(positions) for group in self._groups)
        return _State(self._memory, tuple(positions), 0, controls)

    def _after(self, state: _State, tid: int) -> _State | None:
        """The state after a step of a lane, None where it waits."""
        thread, position = self._threads[tid], state.positions[tid]
        ins, meeting = thread.instruction(position), thread.meetings[position]
        if isinstance(ins, GroupOperation):
            if not state.come >> tid & 1:
                return self._went_on(replace(state, come=state.come | 1 << tid), tid, 0)
            if ins.mask is None and self._groups[self._of[tid]].goes_on:
                party = self._groups[self._of[tid]].party(None, tid, state.come, state.positions)
                return self._went_on(self._together(state, tid, party), tid, party)
            return None
        if meeting is not None:
            if not self._meetings.may_come(tid, meeting, state.memory, position):
                return None
            memory, positions = self._meetings.come(tid, meeting, state.memory, state.positions)
            moved = replace(state, memory=memory, positions=positions)
            waits = positions[tid] == thread.waiting_at(position)
            return self._went_on(moved, tid, self._passed(state, moved) & ~(1 << tid) | (not waits) << tid)
        if isinstance(ins, Branch) and self._groups[self._of[tid]].branches:
            return self._went_on(self._moved(state, tid, thread.onward(position), state.memory), tid, 1 << tid)
        if thread.positions[position].round or not isinstance(ins, SEEN_BY_OTHERS):
            return self._went_on(state, tid, 0)  # for ever
        following, memory = thread.access(position, state.memory)
        return self._went_on(self._moved(state, tid, following, memory), tid, 1 << tid)

    def _failed(self, state: _State, tid: int) -> _State | None:
        """The state after a lane's weak compare-and-swap has failed for no reason, None where it cannot."""
        thread, position = self._threads[tid], state.positions[tid]
        failed = thread.failing(position, state.memory) if isinstance(thread.instruction(position), Rmw) else None
        return None if failed is None else self._went_on(self._moved(state, tid, failed, state.memory), tid, 1 << tid)

    @staticmethod
    def _moved(state: _State, tid: int, following: int, memory: Memory) -> _State:
        positions = (*state.positions[:tid], following, *state.positions[tid + 1 :])
        return replace(state, memory=memory, positions=positions)

    def _passed(self, before: _State, after: _State) -> int:
        """The lanes that are past a barrier that they have waited at."""
        pairs = zip(before.positions, after.positions, strict=True)
        return _mask(tid for tid, (old, new) in enumerate(pairs) if old != new)

    def _went_on(self, state: _State, tid: int | None, done: int) -> _State:
        """The state after all that follows by itself from a step of a lane, and from others being done."""
        positions = list(state.positions)
        controls = list(state.controls)
        for number, group in enumerate(self._groups):
            own = done & _mask(group.lanes)
            stepping = tid if tid is not None and self._of[tid] == number else None
            if own or stepping is not None:
                controls[number] = group.stepped(controls[number], stepping, own, positions)
        state = _State(state.memory, tuple(positions), state.come, tuple(controls))
        for lane in _threads_of(state.come):
            party = self._party(state, lane)
            if party:
                return self._went_on(self._together(state, lane, party), None, party)
        if self._meetings.named_late:
            memory, late = self._meetings.late(state.memory, state.positions)
            moved = replace(state, memory=memory, positions=late)
            if moved != state:
                return self._went_on(moved, None, self._passed(state, moved))
        return state

    def _party(self, state: _State, lane: int) -> int:
        """The lanes that now do the operation together that a lane has come to; 0: not yet."""
        group, ins = self._groups[self._of[lane]], self._threads[lane].instruction(state.positions[lane])
        assert isinstance(ins, GroupOperation)
        if ins.mask is None:
            control = state.controls[self._of[lane]]
            return 0 if group.goes_on else group.party(control, lane, state.come, state.positions)
        mask = self._mask_operand(state, lane)
        wanted = [member for place, member in enumerate(group.lanes) if mask >> place & 1]
        if lane not in wanted:
            raise self._threads[lane].without_meaning(state.positions[lane], "the mask lacks the lane itself")
        wanted = [member for member in wanted if not self._threads[member].ended(state.positions[member])]
        for member in wanted:
            other = self._threads[member].instruction(state.positions[member])
            if not (
                state.come >> member & 1
                and isinstance(other, GroupOperation)
                and (other.operation, other.mask is None) == (ins.operation, False)
                and self._mask_operand(state, member) == mask
            ):
                return 0
        return _mask(wanted)

    def _mask_operand(self, state: _State, lane: int) -> int:
        """The mask that an operation of a lane has."""
        mask = self._threads[lane].brings(state.positions[lane])[-1]
        if not isinstance(mask, int):
            raise self._threads[lane].without_meaning(state.positions[lane], "its mask is an address")
        return mask

    def _together(self, state: _State, lane: int, party: int) -> _State:
        """The state after lanes have done an operation together, before what follows from it."""
        positions = list(state.positions)
        numbers = {member: place for place, member in enumerate(self._groups[self._of[lane]].lanes)}
        brought = {member: self._threads[member].brings(positions[member]) for member in _threads_of(party)}
        for member in brought:
            result = self._result(state, member, {numbers[other]: values for other, values in brought.items()}, numbers)
            positions[member] = self._threads[member].resume(positions[member], result)
        return replace(state, positions=tuple(positions), come=state.come & ~party)

    def _result(
        self, state: _State, lane: int, brought: Mapping[int, tuple[Value, ...]], numbers: Mapping[int, int]
    ) -> Value:
        """What an operation tells a lane, given what the lanes bring by their numbers."""
        ins = self._threads[lane].instruction(state.positions[lane])
        assert isinstance(ins, GroupOperation)
        match ins.operation:
            case "elect":
                return int(numbers[lane] == min(brought))
            case "shuffle":
                other = brought[numbers[lane]][1]
                if other not in brought:
                    raise self._threads[lane].without_meaning(
                        state.positions[lane], f"lane {other} does not take part, so that what it brings has no meaning"
                    )
                return brought[int(other)][0] if isinstance(other, int) else 0
            case "barrier":
                return 0
        holding = [number for number, (value, *_) in brought.items() if value != 0]
        if ins.operation == "ballot":
            return sum(1 << number for number in holding)
        return int(bool(holding)) if ins.operation == "any" else int(len(holding) == len(brought))


def _pc(thread: Automaton, position: int) -> int:
    return thread.positions[position].pc


def _mask(threads: Iterator[int] | Sequence[int]) -> int:
    return sum(1 << tid for tid in threads)


def _union(masks: Iterator[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _threads_of(mask: int) -> Iterator[int]:
    return (tid for tid in range(mask.bit_length()) if mask >> tid & 1)
