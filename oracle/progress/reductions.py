"""The single-step reductions of a progress test, and its minimality.

A test is *minimal* when none of its single-step reductions is a valid test with equal verdicts under every model. Seed
004, section 5.2, found no practical notion of minimality; this one is practical. The steps: delete a thread (of three
or more), delete an instruction (jumps past it move down), drop the exchange of a branching instruction, turn a
branching exchange into a store, merge two locations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain

from corpus.hierarchy import Places, in_order
from corpus.progress.axb import Instruction, Program, Thread, instructions, rename_locations
from oracle.progress.behaviour import Behaviour, minimise
from oracle.progress.lts import explore
from oracle.progress.models import Permutation, Vector, image_verdicts, verdicts
from oracle.progress.wellformed import influences, terminating_with_a_cycle


def reductions(program: Program) -> Iterator[Program]:
    """Every program that one reduction step makes of a program, locations renamed canonically; some may be no valid
    test."""
    for _, smaller in _deletions(program):
        yield smaller
    yield from _changes(program)


def _deletions(program: Program) -> Iterator[tuple[int, Program]]:
    """Every thread that may be deleted, with what is left."""
    threads = program.threads
    if len(threads) > 2:
        for tid in range(len(threads)):
            yield tid, rename_locations(Program(threads[:tid] + threads[tid + 1 :]))


def _changes(program: Program) -> Iterator[Program]:
    """The reductions of a program that keep every thread."""
    threads = program.threads
    for tid, pc, ins in instructions(program):
        if len(threads[tid]) > 1:
            yield _with_thread(program, tid, _without_instruction(threads[tid], pc))
        if ins.exchange is not None and ins.branches(pc):
            yield _with_thread(program, tid, _with_instruction(threads[tid], pc, replace(ins, exchange=None)))
            yield _with_thread(program, tid, _with_instruction(threads[tid], pc, replace(ins, check=0, jump=pc + 1)))
    used = sorted({ins.location for _, _, ins in instructions(program)})
    for index, kept in enumerate(used):
        for merged in used[index + 1 :]:
            yield rename_locations(
                Program(
                    tuple(
                        tuple(replace(ins, location=kept) if ins.location == merged else ins for ins in thread)
                        for thread in threads
                    )
                )
            )


def _with_thread(program: Program, tid: int, thread: Thread) -> Program:
    return rename_locations(Program((*program.threads[:tid], thread, *program.threads[tid + 1 :])))


def _with_instruction(thread: Thread, pc: int, ins: Instruction) -> Thread:
    return (*thread[:pc], ins, *thread[pc + 1 :])


def _without_instruction(thread: Thread, deleted: int) -> Thread:
    """The thread without one instruction; an exchange whose jump now goes to the next instruction is a store."""
    shorter = []
    for pc, ins in enumerate(thread[:deleted] + thread[deleted + 1 :]):
        jump = ins.jump - (ins.jump > deleted)
        shorter.append(replace(ins, jump=jump, check=0 if jump == pc + 1 else ins.check))
    return tuple(shorter)


@lru_cache(maxsize=1 << 15)  # tests of one bound share their reductions
def _behaviour_of_test(program: Program) -> Behaviour | None:
    """The minimal automaton of a valid test, ``None`` for another program."""
    if not influences(program):
        return None
    lts = explore(program)
    return minimise(lts) if terminating_with_a_cycle(lts) else None


Judge = Callable[[Behaviour, tuple[Permutation, ...]], list[Vector]]
"""A function that gives the verdicts of models on the images of a program, given its behaviour."""


def minimal_images(
    program: Program, orders: tuple[Permutation, ...], vectors: Sequence[Vector], judge: Judge = image_verdicts
) -> list[bool]:
    """The images of a test, under permutation of its threads, that are minimal, as a truth for each: no single-step
    reduction of a minimal image is a valid test with equal verdicts under each of the 12 models, or of those that
    ``judge`` asks.

    ``vectors`` are the verdicts of the images. Reductions of an image are images of reductions, so each is made once.
    """
    minimal = [True] * len(orders)
    deletions = ((smaller, _restricted(orders, tid)) for tid, smaller in _deletions(program))
    for smaller, restricted in chain(deletions, ((smaller, orders) for smaller in _changes(program))):
        automaton = _behaviour_of_test(smaller)
        if automaton is not None:
            for image, vector in enumerate(judge(automaton, restricted)):
                if vector == vectors[image]:
                    minimal[image] = False
            if not any(minimal):
                break
    return minimal


@cache
def _restricted(orders: tuple[Permutation, ...], deleted: int) -> tuple[Permutation, ...]:
    """The orders that are left to the other threads, renumbered, when one is deleted."""
    return tuple(tuple(tid - (tid > deleted) for tid in order if tid != deleted) for order in orders)


def is_minimal_at(
    program: Program, places: Places, vector: Vector, judge: Callable[[Behaviour, Places], Vector]
) -> bool:
    """Whether no reduction of a test whose threads are at these places is a valid test with equal verdicts.

    A thread that is deleted leaves the others in their places. ``vector`` are the verdicts of the test.
    """
    deletions = ((smaller, places[:tid] + places[tid + 1 :]) for tid, smaller in _deletions(program))
    for smaller, left in chain(deletions, ((smaller, places) for smaller in _changes(program))):
        automaton = _behaviour_of_test(smaller)
        if automaton is not None and judge(automaton, in_order(left)) == vector:
            return False
    return True


def is_minimal(program: Program) -> bool:
    """Whether none of a test's reductions is a valid test with equal verdicts under the 12 models."""
    order = (tuple(range(len(program.threads))),)
    return minimal_images(program, order, [verdicts(program)])[0]
