"""The behaviour of a program: its minimal thread-labelled automaton.

A program is a deterministic automaton whose letters are thread ids and whose states know who is still running. Two
programs with equal minimal automata cannot be told apart by any scheduler, whatever their text: they are one test.
Seed 004 (sections 5.2 and 5.5) has no such notion and counts programs.

The automaton is minimised by Moore's partition refinement over the reachable LTS. Memory is not part of it, for only
the threads themselves can see it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import permutations
from operator import itemgetter

from corpus.hierarchy import Places
from corpus.progress.axb import Program, digest_numbers, place_numbers
from oracle.progress.lts import Lts, explore
from oracle.progress.system import NO_STEP

Behaviour = tuple[tuple[int, ...], ...]
"""A minimal automaton: ``behaviour[q][t]`` is the state after a step of thread ``t`` from ``q``, or ``NO_STEP``.

States are numbered breadth-first from the start 0, letters in order, so equal automata are equal tuples.
"""


def behaviour(program: Program, symmetric_threads: bool = False) -> Behaviour:
    """The minimal automaton of a program.

    With ``symmetric_threads``, the least of its images under permutation of thread ids.
    """
    automaton = minimise(explore(program))
    return min(thread_images(automaton)) if symmetric_threads else automaton


def behaviour_digest(program: Program, symmetric_threads: bool = False) -> str:
    """16 hexadecimal digits that name the behaviour: SHA-256 of its numbers, cut.

    The hashed bytes are big-endian 32-bit integers: the number of threads, then the rows one after another, and last
    the places, if the program has any. They are part of the corpus format and do not change.
    """
    return digest_automaton(behaviour(program, symmetric_threads), program.places)


def digest_automaton(automaton: Behaviour, places: Places = ()) -> str:
    """16 hexadecimal digits that name a minimal automaton: the digest of each program at these places with it."""
    numbers = [len(automaton[0])]
    for row in automaton:
        numbers += row
    return digest_numbers(numbers + place_numbers(places))


def minimise(lts: Lts) -> Behaviour:
    """The minimal automaton of a labelled transition system."""
    classes = refine(lts.successors, lts.running)
    rows: dict[int, tuple[int, ...]] = {}
    for own, row in zip(classes, lts.successors, strict=False):
        if own not in rows:
            rows[own] = tuple([classes[after] for after in row])
    return tuple(rows.values())


def refine(successors: Sequence[tuple[int, ...]], labels: Sequence[Hashable]) -> list[int]:
    """The coarsest partition of a deterministic graph whose classes agree on labels and, letter by letter, on classes.

    Gives the class of each state, numbered by the first state in it, and ``NO_STEP`` once more at the end, so that
    index ``NO_STEP`` reads as itself. Where states are numbered breadth-first, letters in order, so are the classes:
    either way a number is the rank of the least word (shorter first, then by letters) that leads there.
    """
    columns = list(zip(*successors, strict=True))
    numbers: dict[Hashable, int] = {}
    classes = [numbers.setdefault(label, len(numbers)) for label in labels]
    count = 0
    while len(numbers) != count:  # each round refines the one before it, so an equal count is an equal partition
        count = len(numbers)
        classes.append(NO_STEP)
        of_class = classes.__getitem__
        numbers = {}
        keys = zip(classes, *[map(of_class, column) for column in columns], strict=False)
        classes = [numbers.setdefault(key, len(numbers)) for key in keys]
    classes.append(NO_STEP)
    return classes


def thread_images(automaton: Behaviour) -> list[Behaviour]:
    """The automaton under every permutation of its letters, in canonical numbering, duplicates included."""
    return [relabel(automaton, order) for order in permutations(range(len(automaton[0])))]


def relabel(automaton: Behaviour, order: tuple[int, ...]) -> Behaviour:
    """The automaton whose letter ``t`` is letter ``order[t]`` of the given one, numbered breadth-first."""
    letters = itemgetter(*order) if len(order) > 1 else tuple  # one letter: nothing to permute
    permuted = [letters(row) for row in automaton]
    unseen = len(automaton)
    number = [0] + [unseen] * (len(automaton) - 1) + [NO_STEP]  # NO_STEP at index NO_STEP: it reads as itself
    states = [0]
    for state in states:  # grows during the walk
        for after in permuted[state]:
            if number[after] == unseen:
                number[after] = len(states)
                states.append(after)
    return tuple([tuple([number[after] for after in permuted[state]]) for state in states])
