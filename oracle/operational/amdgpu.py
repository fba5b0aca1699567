"""The memory of AMD's GPUs as LLVM documents it for each family, as a transition system explored to its final states.

    wave -> queue of LDS -> LDS of the work-group
    wave -> L0 of its CU -> a queue for each address -> L1 of its array -> L2 -> memory

Source: LLVM, User Guide for AMDGPU Backend (AMDGPUUsage), sections Memory Model GFX90A, GFX942, GFX10-GFX11 and GFX12;
sentences of theirs are next to the steps that they describe. What they leave open is taken as weak as they allow:

- Work-groups are on CUs of their own, on GFX10 and GFX11 in shader arrays of their own. In tgsplit and in WGP mode, so
  are the wavefronts of a work-group; the CUs of one are in one array.
- An access takes effect in its CU's L0 when it is issued, in program order; a load that does not hit, a store and an
  atomic operation go on to the L2 in a queue for their address (a channel has disjoint addresses, and may have one). A
  line may go from a cache at any time.
- Each cache may have every location at the start, and a line may come to it at any time, as waves of no thread of the
  test may read. So what a program may do, it may do with an access less.
- A load that comes back fills the L0, unless something has written or invalidated there since. One that passes a cache
  by leaves no line there: a load-visible operation "makes the retrieved state visible" to what is nearer, too.
- Counters count what is still in queues. A write-back is counted, too, and is done after the wave's earlier stores.
- GFX942 has an L2 for each work-group's CUs, as an agent of several L2s has, and memory is local to none of them. On
  other families an agent has one L2, on GFX10 and GFX11 coherent with other agents ("on some targets"). Else, L2s are
  not coherent, but for locations that an atomic operation of system scope accesses, which are uncached (fine-grained
  memory). Atomic updates are done where all of the agent see them.

What is called L0 here is the vector L1 of GFX6 to GFX9. Threads of one wavefront share counters and issue one at a
time. Left out: scalar accesses, images, scratch, generic accesses, branches, values as addresses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from corpus.errors import InputError
from corpus.executions.sequences import MachineStep
from corpus.laws.amdgpu import ACCESSES, BARRIER, LOCAL, WRITE_BACKS, MachineInstruction
from corpus.litmus.instructions import Assign, Instruction, Load, Rmw, Store, registers_read, registers_written
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.normal import terms as terms_of
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import Condition, FinalRegister, Proposition, conjunction, propositions
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.executions.values import Value, calculate
from oracle.exploration import StateLimit, StateLimitError, explore, shortest_run
from oracle.operational.explore import satisfies

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class MachineFamily:
    """A family of GPUs in a mode of execution.

    ``split``: the wavefronts of a work-group may be on different CUs. ``arrays``: there is an L1 for each shader array.
    ``many_l2``: the CUs of an agent may have several L2s. ``coherent``: the L2s of agents are coherent, and so are one.
    ``stores``: stores have a counter of their own. ``local``: there is LDS, as not in tgsplit mode.
    """

    name: str
    split: bool = False
    arrays: bool = False
    many_l2: bool = False
    coherent: bool = False
    stores: bool = False
    local: bool = True


FAMILIES: Mapping[str, MachineFamily] = {
    family.name: family
    for family in (
        MachineFamily("gfx90a"),
        MachineFamily("gfx90a-tgsplit", split=True, local=False),
        MachineFamily("gfx942", many_l2=True),
        MachineFamily("gfx942-tgsplit", split=True, many_l2=True, local=False),
        MachineFamily("gfx10-cu", arrays=True, coherent=True, stores=True),
        MachineFamily("gfx10-wgp", split=True, arrays=True, coherent=True, stores=True),
        MachineFamily("gfx11-cu", arrays=True, coherent=True, stores=True),
        MachineFamily("gfx11-wgp", split=True, arrays=True, coherent=True, stores=True),
        MachineFamily("gfx12-cu", stores=True),
        MachineFamily("gfx12-wgp", split=True, stores=True),
    )
}
"""The families by the names that tables of code sequences give."""

L0, L1, L2, MEMORY = range(4)
"""The levels of memory, nearest first."""


def first_level(instruction: MachineInstruction, family: MachineFamily) -> int:
    """The nearest level at which an access may find or leave its value, by its cache bits.

    GFX90A: glc=1 misses the L1. GFX942: sc0 and sc1 are the scope, of which the work-group's needs the L1 only where it
    may be split. GFX10: glc=1 misses the L0, dlc=1 the L1; GFX11: glc=1 both. GFX12: a cache of a smaller scope
    forwards the access.
    """
    words = set(instruction.words)
    if family.name.startswith("gfx942"):
        if {"sc0=1", "sc1=1"} <= words:
            return MEMORY
        if "sc1=1" in words:
            return MEMORY if family.many_l2 else L2
        return L1 if "sc0=1" in words and family.split else L0
    if "scope:SCOPE_SYS" in words:
        return MEMORY
    if "scope:SCOPE_DEV" in words or "dlc=1" in words or ("glc=1" in words and family.name.startswith("gfx11")):
        return L2
    return L1 if words & {"glc=1", "scope:SCOPE_SE"} else L0


def invalidated(instruction: MachineInstruction, family: MachineFamily) -> frozenset[int]:
    """The levels whose caches an instruction invalidates."""
    words = set(instruction.words)
    match instruction.opcode:
        case "buffer_wbinvl1_vol" | "buffer_gl0_inv":
            return frozenset({L0})
        case "buffer_gl1_inv":
            return frozenset({L1})
        case "buffer_invl2":
            return frozenset({L2})
        case "buffer_inv":  # sc0: the L1; sc1: the L1, and the L2 if there are several; both: the L2 as well
            return frozenset({L0, L2} if "sc1=1" in words and ("sc0=1" in words or family.many_l2) else {L0})
        case "global_inv":  # "invalidates caches whose scope is strictly smaller than the instruction's"
            return frozenset({L0, L2} if "scope:SCOPE_SYS" in words else {L0})
    return frozenset()


def written_back(instruction: MachineInstruction, family: MachineFamily) -> bool:
    """Whether an instruction writes back the L2: that of sc1 alone "does nothing if the agent has a single L2"."""
    if instruction.opcode == "buffer_wbl2" and family.name.startswith("gfx942"):
        return "sc0=1" in instruction.words or family.many_l2
    return instruction.opcode in WRITE_BACKS


class Request(NamedTuple):
    """A request on its way: the thread, the position of its step there, and whether a load fills the L0."""

    thread: int
    step: int
    fills: bool


Lines = tuple[Value | None, ...]
"""A cache whose lines are clean, by location; None where there is no line."""


class CacheLine(NamedTuple):
    """A line of an L2: its value, and whether memory has it not yet."""

    value: Value
    dirty: bool


_OTHERS = "others read"


class MachineMove(NamedTuple):
    """A step of the machine: what is done, by which thread and at which position of its program, or by which L2.

    Of what a wave of no thread reads: beside which thread, and which location.
    """

    kind: str
    of: int
    step: int = -1


class MachineState(NamedTuple):
    """A state: how far each thread is, its registers (None while a load is under way), caches, queues and memories.

    ``queues`` are of a CU and a location each, ``lds_queues`` of a wave, ``write_backs`` the waves whose write-back is
    under way, one for each.
    """

    positions: tuple[int, ...]
    registers: tuple[tuple[Value | None, ...], ...]
    l0: tuple[Lines, ...]
    l1: tuple[Lines, ...]
    l2: tuple[tuple[CacheLine | None, ...], ...]
    memory: tuple[Value, ...]
    lds: tuple[Value, ...]
    queues: tuple[tuple[Request, ...], ...]
    lds_queues: tuple[tuple[Request, ...], ...]
    write_backs: tuple[int, ...]


def changed(values: tuple[Kept, ...], index: int, value: Kept) -> tuple[Kept, ...]:
    """A tuple with another value at a place."""
    return (*values[:index], value, *values[index + 1 :])


class MachineSystem:
    """The transition system of a test's machine programs on a family of GPUs."""

    def __init__(self, test: LitmusTest, programs: Sequence[Sequence[MachineStep]], family: MachineFamily) -> None:
        self.family, self.programs = family, programs
        places = [thread.place for thread in test.threads]
        self._waves = _numbered(places)
        self._groups = _numbered([place[:3] for place in places])
        self._cus = self._waves if family.split else self._groups
        agents = [(0,) if family.coherent else place[:1] for place in places]
        self._l2s = self._groups if family.many_l2 else _numbered(agents)
        self._names = [sorted({*_named(thread)} | {name for name, _ in thread.registers}) for thread in test.threads]
        self._locations = [location.name for location in test.locations]
        self._initial = tuple(_constant(location.initial) for location in test.locations)
        self._starts = [{name: _constant(value) for name, value in thread.registers} for thread in test.threads]
        self._uncached = frozenset(
            self._locations.index(ins.address.name)
            for ins in test.instructions
            if isinstance(ins, Load | Store | Rmw) and ins.mode.scope is Scope.SYS and isinstance(ins.address, Loc)
        )
        self._one_l2 = max(self._l2s) == 0
        self._ahead = [self._loads_ahead(program) for program in programs]

    def start(self) -> MachineState:
        """The first state: nothing is under way, and every cache has what is in memory."""
        count = len(self._locations)
        filled: Lines = self._initial
        cached = [None if self._one_l2 else CacheLine(value, False) for value in self._initial]
        return MachineState(
            positions=(0,) * len(self.programs),
            registers=tuple(
                tuple(start.get(name, 0) for name in names)
                for start, names in zip(self._starts, self._names, strict=True)
            ),
            l0=(filled,) * (max(self._cus) + 1),
            l1=(filled,) * (max(self._groups) + 1),
            l2=(tuple(cached),) * (max(self._l2s) + 1),
            memory=self._initial,
            lds=self._initial,
            queues=((),) * ((max(self._cus) + 1) * count),
            lds_queues=((),) * (max(self._waves) + 1),
            write_backs=(),
        )

    def final(self, state: MachineState) -> bool:
        """Whether all is done: every thread at its end, nothing under way, memory up to date."""
        done = all(place == len(program) for place, program in zip(state.positions, self.programs, strict=True))
        under_way = any(state.queues) or any(state.lds_queues) or state.write_backs
        return done and not under_way and not any(line and line.dirty for cache in state.l2 for line in cache)

    def value_of(self, state: MachineState, term: FinalRegister | Loc) -> Value:
        """The value of a register or a location in a final state."""
        if isinstance(term, Loc):
            index = self._locations.index(term.name)
            return (state.lds if index in self._local else state.memory)[index]
        names = self._names[term.thread]
        value = state.registers[term.thread][names.index(term.register)] if term.register in names else 0
        assert value is not None
        return value

    @cached_property
    def _local(self) -> frozenset[int]:
        """The locations in LDS: those that some access to LDS names."""
        return frozenset(
            self._location_of(step)
            for program in self.programs
            for step in program
            if ACCESSES.get(step.instruction.opcode) == LOCAL
        )

    def steps(self, state: MachineState) -> Iterator[tuple[MachineMove, MachineState]]:
        """The steps that can be taken, each with the state that it leads to.

        A wait that is over is the only one: it stands in no other step's way, whenever it is taken.
        """
        for thread, place in enumerate(state.positions):
            if place < len(self.programs[thread]) and self.programs[thread][place].instruction.is_wait:
                for after in self._issued(state, thread, self.programs[thread][place]):
                    yield MachineMove("issues", thread, place), after
                    return
        for thread, place in enumerate(state.positions):
            if place < len(self.programs[thread]):
                for after in self._issued(state, thread, self.programs[thread][place]):
                    hit = after.queues == state.queues and after.lds_queues == state.lds_queues
                    yield MachineMove("hits" if hit else "issues", thread, place), after
        for number, queue in enumerate(state.queues):
            if queue:
                popped = state._replace(queues=changed(state.queues, number, queue[1:]))
                for after in self._performed(popped, queue[0]):
                    yield MachineMove("performs", queue[0].thread, queue[0].step), after
        for wave, queue in enumerate(state.lds_queues):
            if queue:  # "All LDS operations are performed as wavefront wide operations in a global order"
                where = self._location_of(self._step(queue[0]))
                popped = state._replace(lds_queues=changed(state.lds_queues, wave, queue[1:]))
                value, after = self._done(popped, queue[0], state.lds[where])
                move = MachineMove("performs", queue[0].thread, queue[0].step)
                yield move, after._replace(lds=changed(after.lds, where, value))
        for index, wave in enumerate(state.write_backs):
            rest = (*state.write_backs[:index], *state.write_backs[index + 1 :])
            cache = self._l2s[self._waves.index(wave)]
            yield MachineMove("writes back", cache), self._cleaned(state._replace(write_backs=rest), cache)
        for cache, lines in enumerate(state.l2):
            for index, line in enumerate(lines):
                if line and line.dirty:
                    yield MachineMove("writes a line back", cache), self._cleaned(state, cache, index)
        for thread, place in enumerate(state.positions):
            for where, level in self._ahead[thread][place]:
                for after in self._read_by_others(state, thread, where, level):
                    if after != state:
                        yield MachineMove(_OTHERS, thread, where), after

    def describe(self, move: MachineMove) -> str:
        """A step in words."""
        if move.step < 0:
            return f"L2 {move.of} {move.kind}"
        if move.kind == _OTHERS:
            return f"another wave beside P{move.of} reads {self._locations[move.step]}"
        step = self.programs[move.of][move.step]
        what = f"P{move.of}'s {step.instruction.text}"
        if isinstance(step.does, Load | Store | Rmw) and isinstance(step.does.address, Loc):
            what += f" of {step.does.address.name}"
        where = "LDS" if ACCESSES.get(step.instruction.opcode) == LOCAL else "memory"
        access = step.instruction.opcode in ACCESSES
        match move.kind:
            case "performs":
                return f"{what} reaches {where}"
            case "hits" if access:
                return f"{what} finds its value in the L0"
            case "issues" if access:
                return f"{what} is issued"
        return f"{what} is done"

    # Issue, in program order.

    def _issued(self, state: MachineState, thread: int, step: MachineStep) -> Iterator[MachineState]:
        instruction, wave = step.instruction, self._waves[thread]
        onward = state._replace(positions=changed(state.positions, thread, state.positions[thread] + 1))
        if instruction.is_wait:
            if not instruction.counters & self._outstanding(state, wave):
                yield onward
        elif instruction.opcode == BARRIER:
            yield from self._met(state, thread)
        elif instruction.opcode in ACCESSES:
            if self._known(state, thread, step.does):
                yield from self._sent(onward, thread, state.positions[thread], step)
        elif step.does is not None:
            if self._known(state, thread, step.does):
                assert isinstance(step.does, Assign)
                values = [self._value(state, thread, operand) for operand in step.does.operands]
                result = values[0] if step.does.operation == "mov" else calculate(step.does.operation, *values)
                yield self._written(onward, thread, step.does.target, result)
        elif instruction.opcode in WRITE_BACKS:
            # "performs L2 writeback to ensure previous stores are visible": it comes after those of its wave.
            if not any(self._stores(request) for request in self._requests(state, wave)):
                back = written_back(instruction, self.family) and not self._one_l2
                yield onward._replace(write_backs=(*onward.write_backs, wave)) if back else onward
        else:
            yield self._invalidated(onward, thread, invalidated(instruction, self.family))

    def _sent(self, state: MachineState, thread: int, place: int, step: MachineStep) -> Iterator[MachineState]:
        """An access takes effect in its L0, or goes on from there."""
        ins, where, cu = step.does, self._location_of(step), self._cus[thread]
        if ACCESSES[step.instruction.opcode] == LOCAL:
            wave = self._waves[thread]
            queue = (*state.lds_queues[wave], Request(thread, place, False))
            pending = self._pending(state, thread, ins)
            yield pending._replace(lds_queues=changed(pending.lds_queues, wave, queue))
            return
        lines, number = state.l0[cu], cu * len(self._locations) + where
        queue = state.queues[number]
        fills = False
        if isinstance(ins, Load):
            near = first_level(step.instruction, self.family) == L0
            line = lines[where]
            waiting = any(isinstance(self._step(request).does, Load) for request in queue)
            if near and line is not None and not waiting:
                yield self._written(state, thread, ins.target, line)
            fills = near
            lines = changed(lines, where, None)  # passed by or gone
        else:  # the L0 is written through; an atomic operation is done at the L2
            value = self._value(state, thread, ins.value) if isinstance(ins, Store) else None
            lines = changed(lines, where, value)
            queue = tuple(request._replace(fills=False) for request in queue)
        sent = self._pending(state, thread, ins)
        queue = (*queue, Request(thread, place, fills))
        yield sent._replace(l0=changed(sent.l0, cu, lines), queues=changed(sent.queues, number, queue))

    def _invalidated(self, state: MachineState, thread: int, levels: frozenset[int]) -> MachineState:
        cu, group, cache, count = self._cus[thread], self._groups[thread], self._l2s[thread], len(self._locations)
        if L0 in levels:
            queues = tuple(
                tuple(request._replace(fills=False) for request in queue) if number // count == cu else queue
                for number, queue in enumerate(state.queues)
            )
            state = state._replace(l0=changed(state.l0, cu, (None,) * count), queues=queues)
        if L1 in levels:
            state = state._replace(l1=changed(state.l1, group, (None,) * count))
        if L2 in levels:
            kept = tuple(line if line and line.dirty else None for line in state.l2[cache])
            state = state._replace(l2=changed(state.l2, cache, kept))
        return state

    def _met(self, state: MachineState, thread: int) -> Iterator[MachineState]:
        """All threads of a work-group that have yet to come to a barrier go on from it together, counted as one step of
        the first of them."""
        meeting = [
            other
            for other, program in enumerate(self.programs)
            if self._groups[other] == self._groups[thread]
            and any(step.instruction.opcode == BARRIER for step in program[state.positions[other] :])
        ]
        if thread == meeting[0] and all(
            self.programs[other][state.positions[other]].instruction.opcode == BARRIER for other in meeting
        ):
            positions = tuple(place + (other in meeting) for other, place in enumerate(state.positions))
            yield state._replace(positions=positions)

    # What comes out of the queues, in any order between addresses and CUs.

    def _performed(self, state: MachineState, request: Request) -> Iterator[MachineState]:
        step, thread = self._step(request), request.thread
        where, group = self._location_of(step), self._groups[thread]
        level = first_level(step.instruction, self.family)
        loads = isinstance(step.does, Load)
        if loads and self.family.arrays and level <= L1 and state.l1[group][where] is not None:
            yield self._filled(self._done(state, request, state.l1[group][where])[1], request, where)
        far = level == MEMORY or where in self._uncached or (isinstance(step.does, Rmw) and self.family.many_l2)
        for old, fetched in self._fetched(state, self._l2s[thread], where, far):
            value, after = self._done(fetched, request, old)
            if loads:
                if self.family.arrays:
                    line = value if level <= L1 else None
                    after = after._replace(l1=changed(after.l1, group, changed(after.l1[group], where, line)))
                yield self._filled(after, request, where)
                continue
            if self.family.arrays:
                after = after._replace(l1=changed(after.l1, group, changed(after.l1[group], where, None)))
            if far or self._one_l2:
                yield after._replace(memory=changed(after.memory, where, value))
            else:
                cache = self._l2s[thread]
                lines = changed(after.l2[cache], where, CacheLine(value, True))
                yield after._replace(l2=changed(after.l2, cache, lines))

    def _fetched(self, state: MachineState, cache: int, where: int, far: bool) -> Iterator[tuple[Value, MachineState]]:
        """What a request finds at the L2, or in memory: lines of it that are passed by are written back and gone."""
        line = state.l2[cache][where]
        if line is not None and not far:
            yield line.value, state
            if line.dirty:
                return
        cleaned = self._cleaned(state, cache, where) if line and line.dirty else state
        lines = changed(cleaned.l2[cache], where, None)
        value = cleaned.memory[where]
        if not far and not self._one_l2:
            lines = changed(lines, where, CacheLine(value, False))
        yield value, cleaned._replace(l2=changed(cleaned.l2, cache, lines))

    def _filled(self, state: MachineState, request: Request, where: int) -> MachineState:
        """The state after a load has come back to its L0, or past it."""
        step = self._step(request)
        assert isinstance(step.does, Load)
        cu, passes = self._cus[request.thread], first_level(step.instruction, self.family) != L0
        if not request.fills and not passes:
            return state
        register = self._names[request.thread].index(step.does.target)
        value = None if passes else state.registers[request.thread][register]
        return state._replace(l0=changed(state.l0, cu, changed(state.l0[cu], where, value)))

    def _done(self, state: MachineState, request: Request, old: Value | None) -> tuple[Value, MachineState]:
        """What a location holds after an access where it held ``old``, and the state with what was read."""
        ins, thread = self._step(request).does, request.thread
        assert old is not None
        match ins:
            case Load(target):
                return old, self._written(state, thread, target, old)
            case Store(value=operand):
                return self._value(state, thread, operand), state
            case Rmw(operation, target, operands=operands):
                values = [self._value(state, thread, operand) for operand in operands]
                new = values[-1] if operation == "exch" else None
                if operation == "cas":
                    new = values[1] if old == values[0] else old
                elif new is None:
                    new = calculate(operation, old, values[0])
                assert new is not None
                return new, state if target is None else self._written(state, thread, target, old)
        raise AssertionError(ins)

    def _cleaned(self, state: MachineState, cache: int, where: int | None = None) -> MachineState:
        """The state after an L2 has written back a line, or all of them."""
        lines, memory = list(state.l2[cache]), list(state.memory)
        for index, line in enumerate(lines):
            if line and line.dirty and where in (None, index):
                memory[index], lines[index] = line.value, CacheLine(line.value, False)
        return state._replace(l2=changed(state.l2, cache, tuple(lines)), memory=tuple(memory))

    # What waves of no thread do.

    def _loads_ahead(self, program: Sequence[MachineStep]) -> list[frozenset[tuple[int, int]]]:
        """For each position of a program the locations that loads from there on may find in caches, each with the
        nearest level."""
        rows = [frozenset[tuple[int, int]]()]
        for step in reversed(program):
            cached = isinstance(step.does, Load) and ACCESSES[step.instruction.opcode] != LOCAL
            level = first_level(step.instruction, self.family)
            found = {(self._location_of(step), level)} if cached and level < MEMORY else set[tuple[int, int]]()
            rows.append(rows[-1] | found)
        return rows[::-1]

    def _read_by_others(self, state: MachineState, thread: int, where: int, level: int) -> Iterator[MachineState]:
        """The states after a wave beside a thread has read a location, from a level on: a line comes to caches. It goes
        behind the stores of its CU to that location."""
        cu, group = self._cus[thread], self._groups[thread]
        queue = state.queues[cu * len(self._locations) + where]
        if level == L0 and not all(isinstance(self._step(request).does, Load) for request in queue):
            return

        def near(value: Value, after: MachineState) -> MachineState:
            if level > L0:
                return after
            return after._replace(l0=changed(after.l0, cu, changed(after.l0[cu], where, value)))

        if self.family.arrays and level <= L1 and (line := state.l1[group][where]) is not None:
            yield near(line, state)
        for value, after in self._fetched(state, self._l2s[thread], where, where in self._uncached):
            if self.family.arrays and level <= L1:
                after = after._replace(l1=changed(after.l1, group, changed(after.l1[group], where, value)))
            yield near(value, after)

    # What is under way.

    def _requests(self, state: MachineState, wave: int) -> list[Request]:
        sent = [request for queue in state.queues for request in queue if self._waves[request.thread] == wave]
        return [*sent, *state.lds_queues[wave]]

    def _outstanding(self, state: MachineState, wave: int) -> set[str]:
        """The counters of a wave that are not 0."""
        stores = "vscnt(0)" if self.family.stores else "vmcnt(0)"
        found = {stores} if wave in state.write_backs else set[str]()
        for request in self._requests(state, wave):
            step = self._step(request)
            if ACCESSES[step.instruction.opcode] == LOCAL:
                found.add("lgkmcnt(0)")
            else:
                returns = not isinstance(step.does, Store) and getattr(step.does, "target", None) is not None
                found.add("vmcnt(0)" if returns else stores)
        return found

    def _stores(self, request: Request) -> bool:
        step = self._step(request)
        return ACCESSES[step.instruction.opcode] != LOCAL and not isinstance(step.does, Load)

    def _step(self, request: Request) -> MachineStep:
        return self.programs[request.thread][request.step]

    def _location_of(self, step: MachineStep) -> int:
        assert isinstance(step.does, Load | Store | Rmw) and isinstance(step.does.address, Loc)
        return self._locations.index(step.does.address.name)

    # Registers.

    def _pending(self, state: MachineState, thread: int, ins: Instruction | None) -> MachineState:
        """The state in which what an access will read is not there yet."""
        target = getattr(ins, "target", None)
        return state if target is None else self._written(state, thread, target, None)

    def _written(self, state: MachineState, thread: int, name: str, value: Value | None) -> MachineState:
        own = changed(state.registers[thread], self._names[thread].index(name), value)
        return state._replace(registers=changed(state.registers, thread, own))

    def _known(self, state: MachineState, thread: int, ins: Instruction | None) -> bool:
        """Whether registers that an instruction uses or overwrites are not waiting for a load."""
        assert ins is not None
        used = {*registers_read(ins), *registers_written(ins)}
        return all(state.registers[thread][self._names[thread].index(name)] is not None for name in used)

    def _value(self, state: MachineState, thread: int, operand: Operand) -> Value:
        if isinstance(operand, Reg):
            value = state.registers[thread][self._names[thread].index(operand.name)]
            assert value is not None
            return value
        return _constant(operand)


def _constant(operand: Operand) -> Value:
    if not isinstance(operand, int):
        raise InputError(f"{operand.name} is an address as a value, which the machine does not have")
    return operand


def _numbered(keys: Sequence[tuple[int, ...]]) -> list[int]:
    """The number of each key among the different ones, in their order."""
    return [sorted({*keys}).index(key) for key in keys]


def _named(thread: Thread) -> Iterator[str]:
    for ins in thread.instructions:
        yield from registers_read(ins)
        yield from registers_written(ins)


@dataclass(frozen=True, slots=True)
class MachineOutcomes:
    """The outcomes of a test on a machine: values of the terms of its condition, and how many states were explored."""

    terms: tuple[FinalRegister | Loc, ...]
    finals: frozenset[tuple[Value, ...]]
    states: int

    def has(self, condition: Condition) -> bool:
        """Whether one of them is what a condition asks about."""
        return any(
            satisfies(self.terms, final, condition.proposition)
            for final in self.finals
            if condition.filter is None or satisfies(self.terms, final, condition.filter)
        )


MOST_STATES = 300_000
"""The default limit of states."""


def outcomes(
    test: LitmusTest, programs: Sequence[Sequence[MachineStep]], family: MachineFamily, limit: int = MOST_STATES
) -> MachineOutcomes:
    """All outcomes of a test's machine programs on a family. Raises ``StateLimitError``."""
    finals = [*_finals(test, programs, family, limit)]
    return MachineOutcomes(asked_terms(test), frozenset(final for final in finals if final is not None), len(finals))


def reaches(
    test: LitmusTest, programs: Sequence[Sequence[MachineStep]], family: MachineFamily, limit: int = MOST_STATES
) -> bool:
    """Whether a final state has the outcome that a test asks about. Raises ``StateLimitError``."""
    terms, wanted = asked_terms(test), conjunction(propositions(test.condition))
    finals = _finals(test, programs, family, limit)
    return any(final is not None and satisfies(terms, final, wanted) for final in finals)


def _finals(
    test: LitmusTest, programs: Sequence[Sequence[MachineStep]], family: MachineFamily, limit: int
) -> Iterator[tuple[Value, ...] | None]:
    """The values in each state that is final, None in others."""
    system = MachineSystem(test, programs, family)
    terms = asked_terms(test)

    def successors(state: MachineState) -> Iterator[MachineState]:
        return (after for _, after in system.steps(state))

    for state in explore([system.start()], successors, _limit(test, family, limit), depth_first=True):
        yield tuple(system.value_of(state, term) for term in terms) if system.final(state) else None


def machine_run(
    test: LitmusTest,
    programs: Sequence[Sequence[MachineStep]],
    family: MachineFamily,
    proposition: Proposition,
    limit: int = MOST_STATES,
) -> tuple[str, ...] | None:
    """A shortest run to a final state in which a proposition over the condition's terms is true, a line a step; None
    where there is none. Raises ``StateLimitError``."""
    system = MachineSystem(test, programs, family)
    terms = asked_terms(test)

    def is_goal(state: MachineState) -> bool:
        values = (system.value_of(state, term) for term in terms)
        return system.final(state) and satisfies(terms, tuple(values), proposition)

    run = shortest_run([system.start()], system.steps, is_goal, _limit(test, family, limit))
    return None if run is None else tuple(map(system.describe, run))


def asked_terms(test: LitmusTest) -> tuple[FinalRegister | Loc, ...]:
    """The terms that a test's condition mentions, each once."""
    return tuple(dict.fromkeys(term for term in terms_of(test.condition) if not isinstance(term, int)))


def _limit(test: LitmusTest, family: MachineFamily, most: int) -> StateLimit:
    return StateLimit(most, StateLimitError(f"{test.name} has more than {most} states on {family.name}"))
