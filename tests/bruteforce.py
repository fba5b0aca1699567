"""All progress tests of a bound by plain enumeration: the reference that the synthesis is held to.

It shares nothing with the encoder and nothing with the oracle but the data type of programs: it has its own validity
check and its own reachability. What a valid test is: Sorensen et al. 2021, sections 5.1 and 5.2, with

(a) an instruction that does not branch is a store: it exchanges, and its check value is 0;
(b) an exchange needs, in another thread, a branch on its location, and some reachable step of it changes the value;
(c) a branch needs, in another thread, an instruction on its location, and both its outcomes are reachable;
(d) an end state is reachable from every reachable state;
(e) the reachable LTS has a cycle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

from corpus.progress.axb import Instruction, Program, Thread, instructions

State = tuple[tuple[int, ...], tuple[int, ...]]  # memory, program counters


@cache
def all_tests(threads: int, instrs: int, locs: int = 2, values: int = 2) -> list[Program]:
    """Every valid test up to renaming of locations, sorted by key: locations are in the order of first occurrence."""
    found = []
    for split in _compositions(threads, instrs):
        for footprints in product(*[_threads(length, locs, values) for length in split]):
            if _fit(footprints):
                pools = [_threads(k, locs, values)[print_] for k, print_ in zip(split, footprints, strict=True)]
                found += [program for chosen in product(*pools) if is_valid_test(program := Program(chosen))]
    return sorted(found, key=lambda program: program.key)


def is_valid_test(program: Program) -> bool:
    """Whether a program meets (a) to (e)."""
    everything = list(instructions(program))
    for tid, pc, ins in everything:
        others = [(at, other) for who, at, other in everything if who != tid and other.location == ins.location]
        if ins.branches(pc) and not others:
            return False
        if not ins.branches(pc) and (ins.exchange is None or ins.check != 0):
            return False
        if ins.exchange is not None and not any(other.branches(at) for at, other in others):
            return False
    return _runs_well(program)


def successors(program: Program, state: State) -> Iterator[tuple[int, State]]:
    """The step of each thread that has not ended, straight from the definition of AXB."""
    memory, counters = state
    for tid, pc in enumerate(counters):
        if pc < len(program.threads[tid]):
            ins = program.threads[tid][pc]
            target = ins.jump if memory[ins.location] == ins.check else pc + 1
            cells, pcs = list(memory), list(counters)
            pcs[tid] = target
            if ins.exchange is not None:
                cells[ins.location] = ins.exchange
            yield tid, (tuple(cells), tuple(pcs))


def start(program: Program) -> State:
    """Memory 0 and every thread at its first instruction."""
    return (0,) * program.locations, (0,) * len(program.threads)


def _runs_well(program: Program) -> bool:
    """The part of (b) and (c) that is about reachable steps; (d) and (e)."""
    todo = [start(program)]
    before: dict[State, list[State]] = {todo[0]: []}
    leaving: dict[State, int] = {}
    changes, outcomes, ends = set(), set(), []
    for state in todo:  # grows while we walk it
        memory, counters = state
        steps = list(successors(program, state))
        leaving[state] = len(steps)
        if not steps:
            ends.append(state)
        for tid, after in steps:
            pc = counters[tid]
            ins = program.threads[tid][pc]
            outcomes.add((tid, pc, memory[ins.location] == ins.check))
            if after[0] != memory:
                changes.add((tid, pc))
            if after not in before:
                before[after] = []
                todo.append(after)
            before[after].append(state)
    for tid, pc, ins in instructions(program):
        if ins.exchange is not None and (tid, pc) not in changes:
            return False
        if ins.branches(pc) and not ((tid, pc, True) in outcomes and (tid, pc, False) in outcomes):
            return False
    return _all_reach(ends, before) and not _all_leave_in_order(ends, before, leaving)


def _all_reach(ends: list[State], before: dict[State, list[State]]) -> bool:
    can = set(ends)
    todo = list(ends)
    for state in todo:  # grows while we walk it
        fresh = [earlier for earlier in before[state] if earlier not in can]
        can.update(fresh)
        todo += set(fresh)
    return len(can) == len(before)


def _all_leave_in_order(ends: list[State], before: dict[State, list[State]], leaving: dict[State, int]) -> bool:
    """Whether states can be taken away, last first, until none is left: there is no cycle."""
    gone = list(ends)
    for state in gone:  # grows while we walk it
        for earlier in before[state]:
            leaving[earlier] -= 1
            if not leaving[earlier]:
                gone.append(earlier)
    return len(gone) == len(before)


# Pruning: what can be seen without running anything, thread by thread.


@dataclass(frozen=True)
class _Footprint:
    """Locations of a thread in the order of first occurrence, and those it branches on, exchanges, sets to non-zero."""

    order: tuple[int, ...]
    branched: frozenset[int]
    exchanged: frozenset[int]
    raised: frozenset[int]


def _fit(footprints: tuple[_Footprint, ...]) -> bool:
    """Necessary for a canonical valid test: (b) and (c) between threads, and every location can leave its first 0."""
    order = list(dict.fromkeys(location for footprint in footprints for location in footprint.order))
    if order != list(range(len(order))) or not set(order) <= set().union(*(f.raised for f in footprints)):
        return False
    for tid, footprint in enumerate(footprints):
        others = footprints[:tid] + footprints[tid + 1 :]
        if not footprint.exchanged <= set().union(*(other.branched for other in others)):
            return False
        if not footprint.branched <= set().union(*(other.order for other in others)):
            return False
    return True


@cache
def _threads(length: int, locs: int, values: int) -> dict[_Footprint, list[Thread]]:
    """Threads whose text alone does not rule them out, by footprint."""
    grouped = defaultdict(list)
    for thread in product(*[list(_instructions(pc, length, locs, values)) for pc in range(length)]):
        if _flows(thread):
            grouped[_footprint(thread)].append(thread)
    return dict(grouped)


def _instructions(pc: int, length: int, locs: int, values: int) -> Iterator[Instruction]:
    for location in range(locs):
        for value in range(values):
            yield Instruction(location, 0, pc + 1, value)
        for check, jump, exchange in product(range(values), range(length + 1), [None, *range(values)]):
            if jump != pc + 1:
                yield Instruction(location, check, jump, exchange)


def _flows(thread: Thread) -> bool:
    """Every instruction must run for (b) or (c) to hold, and the end must be in reach of each for (d)."""
    size = len(thread)
    edges = [(pc, after) for pc, ins in enumerate(thread) for after in (pc + 1, ins.jump)]
    forward, backward = {0}, {size}
    for _ in range(size):
        forward |= {b for a, b in edges if a in forward}
        backward |= {a for a, b in edges if b in backward}
    return len(forward) == len(backward) == size + 1


def _footprint(thread: Thread) -> _Footprint:
    return _Footprint(
        tuple(dict.fromkeys(ins.location for ins in thread)),
        frozenset(ins.location for pc, ins in enumerate(thread) if ins.branches(pc)),
        frozenset(ins.location for ins in thread if ins.exchange is not None),
        frozenset(ins.location for ins in thread if ins.exchange),
    )


def _compositions(parts: int, total: int) -> Iterator[tuple[int, ...]]:
    """The ways to write ``total`` as an ordered sum of ``parts`` positive numbers."""
    if parts == 1:
        yield (total,)
        return
    for first in range(1, total - parts + 2):
        for rest in _compositions(parts - 1, total - first):
            yield (first, *rest)
