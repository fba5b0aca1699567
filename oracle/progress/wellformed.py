"""The well-formedness of progress tests: Sorensen et al. 2021, sections 5.1 and 5.2, decided on the explicit LTS.

(a) an instruction whose jump is the next instruction is a store: it exchanges, and its check value is 0;
(b) an instruction that exchanges has, in another thread, a branching instruction on its location, and a reachable
    step of it changes memory (inter-thread influence);
(c) a branching instruction has, in another thread, an instruction on its location, and both its outcomes are
    reachable (all branches possible);
(d) from every reachable state an end state is reachable (possible termination);
(e) the reachable LTS has a cycle (non-termination cycle).

A unique start state and that running threads are always enabled hold for every program by construction. This is the
independent twin of ``constraints.progress``, which encodes these conditions as clauses.
"""

from __future__ import annotations

from corpus.graphs import components
from corpus.progress.axb import Program, instructions
from oracle.progress.lts import Lts, explore
from oracle.progress.system import NO_STEP


def is_progress_test(program: Program) -> bool:
    """Whether a program satisfies the conditions (a) to (e)."""
    return influences(program) and terminating_with_a_cycle(explore(program))


def influences(program: Program) -> bool:
    """Whether a program satisfies (a) and the parts of (b) and (c) that the text alone decides."""
    touched: dict[int, set[int]] = {}  # location -> threads
    tested: dict[int, set[int]] = {}  # location -> threads that branch on it
    for tid, pc, ins in instructions(program):
        touched.setdefault(ins.location, set()).add(tid)
        if ins.branches(pc):
            tested.setdefault(ins.location, set()).add(tid)
        elif not ins.is_store(pc):
            return False
    return all(
        (ins.exchange is None or tested.get(ins.location, set()) - {tid})
        and (not ins.branches(pc) or touched[ins.location] - {tid})
        for tid, pc, ins in instructions(program)
    )


def terminating_with_a_cycle(lts: Lts) -> bool:
    """Whether a system satisfies (d), (e) and the parts of (b) and (c) that the reachable steps decide."""
    threads = lts.program.threads
    outcomes: set[tuple[int, int, bool]] = set()  # thread, instruction, comparison held
    changes: set[tuple[int, int]] = set()  # thread, instruction whose step changed memory
    for memory, counters, row in zip(lts.memories, lts.counters, lts.successors, strict=True):
        for tid, after in enumerate(row):
            if after != NO_STEP:
                pc = counters[tid]
                ins = threads[tid][pc]
                outcomes.add((tid, pc, memory[ins.location] == ins.check))
                if lts.memories[after] != memory:
                    changes.add((tid, pc))
    for tid, pc, ins in instructions(lts.program):
        if ins.exchange is not None and (tid, pc) not in changes:
            return False
        if ins.branches(pc) and not ((tid, pc, True) in outcomes and (tid, pc, False) in outcomes):
            return False
    return _every_component_ends_and_one_turns(lts)


def _every_component_ends_and_one_turns(lts: Lts) -> bool:
    """(d) and (e): the only components that nothing leaves are end states, and some component has an edge."""
    turns = False
    for members in components(lts.successors):
        inside = leaves = False
        for node in members:
            for after in lts.successors[node]:
                if after != NO_STEP:
                    if after in members:
                        inside = True
                    else:
                        leaves = True
        if lts.running[members[0]] and not leaves:
            return False
        turns = turns or inside
    return turns
