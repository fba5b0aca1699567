"""The labelled transition system of an AXB program, explored explicitly (Sorensen et al. 2021, sections 4.1 and 5.1).

A state is a memory and one program counter a thread. From each state every thread that has not ended can take exactly
one step, so the system is a deterministic automaton whose letters are thread ids. Only reachable states are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus.progress.axb import Program

ENDED = -1
"""Marks, in a row of successors, a thread that has ended and takes no step."""


@dataclass(frozen=True, slots=True)
class Lts:
    """Reachable states, numbered from the start state 0 in breadth-first order.

    ``memories[s]`` and ``counters[s]`` say what state ``s`` is; ``successors[s][t]`` is the state after a step of
    thread ``t`` or ``ENDED``; ``running[s]`` is the bit mask of threads that have not ended. An end state has
    ``running == 0``.
    """

    program: Program
    memories: tuple[tuple[int, ...], ...]
    counters: tuple[tuple[int, ...], ...]
    successors: tuple[tuple[int, ...], ...]
    running: tuple[int, ...]


def explore(program: Program) -> Lts:
    """All states reachable from memory 0 and every thread at its first instruction."""
    threads, lengths = program.threads, [len(thread) for thread in program.threads]
    start = ((0,) * program.locations, (0,) * len(threads))
    index = {start: 0}
    states = [start]
    successors: list[tuple[int, ...]] = []
    running: list[int] = []
    for memory, counters in states:  # grows while we walk it
        row = []
        mask = 0
        for tid, pc in enumerate(counters):
            if pc == lengths[tid]:
                row.append(ENDED)
                continue
            mask |= 1 << tid
            ins = threads[tid][pc]
            cell = ins.location
            target = ins.jump if memory[cell] == ins.check else pc + 1
            after = memory
            if ins.exchange is not None:
                after = (*memory[:cell], ins.exchange, *memory[cell + 1 :])
            state = (after, (*counters[:tid], target, *counters[tid + 1 :]))
            number = index.get(state)
            if number is None:
                number = index[state] = len(states)
                states.append(state)
            row.append(number)
        successors.append(tuple(row))
        running.append(mask)
    return Lts(
        program,
        tuple(memory for memory, _ in states),
        tuple(counters for _, counters in states),
        tuple(successors),
        tuple(running),
    )


def components(successors: Sequence[tuple[int, ...]]) -> list[list[int]]:
    """Strongly connected components of a graph given by rows of successors (``ENDED`` entries are no edges).

    In reverse topological order: a component comes after every component it can reach. Tarjan's algorithm, iterative.
    Every node is assumed to be reachable from node 0.
    """
    count = len(successors)
    order = [0] * count  # 1-based discovery order; 0 is unseen
    low = [0] * count
    done = [False] * count
    found: list[list[int]] = []
    stack: list[int] = [0]
    path = [(0, iter(successors[0]))]
    order[0] = low[0] = clock = 1
    while path:
        node, edges = path[-1]
        for after in edges:
            if after == ENDED or done[after]:
                continue
            if not order[after]:
                clock += 1
                order[after] = low[after] = clock
                stack.append(after)
                path.append((after, iter(successors[after])))
                break
            if order[after] < low[node]:
                low[node] = order[after]
        else:
            path.pop()
            if path and low[node] < low[path[-1][0]]:
                low[path[-1][0]] = low[node]
            if low[node] == order[node]:
                component = []
                while True:
                    member = stack.pop()
                    done[member] = True
                    component.append(member)
                    if member == node:
                        break
                found.append(component)
    return found
