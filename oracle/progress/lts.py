"""The labelled transition system of an AXB program, explored explicitly (Sorensen et al. 2021, sections 4.1 and 5.1).

A state is a memory and one program counter a thread. From each state every thread that has not ended can take exactly
one step, so the system is a deterministic automaton whose letters are thread ids. Only reachable states are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpus.progress.axb import Program
from corpus.progress.text import print_instruction
from oracle.exploration import FoundStates, StateLimit, StateLimitError
from oracle.progress.system import NO_STEP, Action


@dataclass(frozen=True, slots=True)
class Lts:
    """Reachable states, numbered from the start state 0 in breadth-first order.

    ``memories[s]`` and ``counters[s]`` say what state ``s`` is; ``successors[s][t]`` is the state after a step of
    thread ``t`` or ``NO_STEP``; ``running[s]`` is the bit mask of threads that have not ended. An end state has
    ``running == 0``. This is an ``oracle.progress.system.TransitionSystem`` whose threads never wait and
    whose locations have numbers for names.
    """

    program: Program
    memories: tuple[tuple[int, ...], ...]
    counters: tuple[tuple[int, ...], ...]
    successors: tuple[tuple[int, ...], ...]
    running: tuple[int, ...]
    locations: tuple[str, ...] = ()
    chances: tuple[tuple[int, ...], ...] = ()

    @property
    def ends(self) -> tuple[int, ...]:
        """The number of instructions of each thread."""
        return tuple(map(len, self.program.threads))

    def waiting(self, state: int) -> int:
        """The empty mask, since AXB programs have no barrier at which a thread waits."""
        return 0

    def masked(self, state: int) -> int:
        """The empty mask, since the threads of AXB programs are no lanes of one subgroup."""
        return 0

    def action(self, state: int, thread: int) -> Action:
        """The instruction that a thread does from a state, and whether it branches."""
        code = self.program.threads[thread]
        pc = self.counters[state][thread]
        ins = code[pc]
        taken = self.memories[state][ins.location] == ins.check if ins.branches(pc) else None
        return Action(pc, print_instruction(ins, pc, len(code)), taken)


def explore(program: Program) -> Lts:
    """The labelled transition system of all states reachable from memory 0 and every thread at its first
    instruction."""
    return _explore(program, None)


def explore_up_to(program: Program, most: int) -> Lts | None:
    """The labelled transition system of a program; None where it has more than ``most`` states."""
    try:
        return _explore(program, StateLimit(most, StateLimitError(f"the program has more than {most:,} states")))
    except StateLimitError:
        return None


def _explore(program: Program, limit: StateLimit | None) -> Lts:
    threads, lengths = program.threads, [len(thread) for thread in program.threads]
    number_of = FoundStates([((0,) * program.locations, (0,) * len(threads))], limit)
    successors: list[tuple[int, ...]] = []
    running: list[int] = []
    for memory, counters in number_of.waiting:  # grows during the walk
        row = []
        mask = 0
        for tid, pc in enumerate(counters):
            if pc == lengths[tid]:
                row.append(NO_STEP)
                continue
            mask |= 1 << tid
            ins = threads[tid][pc]
            cell = ins.location
            target = ins.jump if memory[cell] == ins.check else pc + 1
            after = memory
            if ins.exchange is not None:
                after = (*memory[:cell], ins.exchange, *memory[cell + 1 :])
            row.append(number_of[after, (*counters[:tid], target, *counters[tid + 1 :])])
        successors.append(tuple(row))
        running.append(mask)
    memories, places = zip(*number_of, strict=True)
    return Lts(program, memories, places, tuple(successors), tuple(running))
