"""Variants of places: a place of the code is followed once for each state of what is known there and still needed.

So loops whose bounds are known unroll, and a loop that waits for others becomes a loop. A place with more variants than
``MOST_VARIANTS`` has what is known lifted: registers of the residual program hold it, and ways that differ meet.
"""

from __future__ import annotations

from corpus.code.evaluation import lift, lift_moved
from corpus.code.places import Cell, is_of_threads
from corpus.code.thread import FollowedThread, State
from corpus.litmus.instructions import Branch, Comparison
from corpus.litmus.locations import Reg

MOST_VARIANTS = 4_096
"""The most variants that a place may have."""

MOST_MOVED = 16
"""The most variants that a place of a program has before addresses from memory are computed that were moved: a loop
that goes from one such address to another moves it by some bytes each time.
"""


def label_of(thread: FollowedThread, state: State) -> tuple[str, bool]:
    """Return the label of a place with what is known there, and whether it is new."""
    if thread.language.control.places is not None:
        return thread.language.control.places.label(thread, state)
    explored, shape = thread.exploration, thread.shape(state.function)
    place = (state.function.name, state.place)
    live = shape.live[state.place] if state.place < len(shape.live) else frozenset()
    depth = state.depth
    state.known = {
        home: value
        for home, value in state.known.items()
        if isinstance(home, Cell) or home.depth < depth or home.name in live
    }
    if thread.grows and explored.variants.get(place, 0) >= MOST_MOVED:
        for home, value in state.known.items():
            state.known[home] = lift_moved(thread, home, value)
    if explored.variants.get(place, 0) >= MOST_VARIANTS:
        for home, value in state.known.items():
            if not is_of_threads(home):
                state.known[home] = lift(thread, state, home, value)
    key = (*place, state.frames, frozenset(state.known.items()))
    if key in explored.labels:
        return explored.labels[key], False
    explored.variants[place] = explored.variants.get(place, 0) + 1
    label = explored.labels[key] = f"L{len(explored.labels)}"
    return label, True


def follow_later(thread: FollowedThread, state: State) -> str:
    """Return the label of a state, which is followed later where it has not been met."""
    label, new = label_of(thread, state)
    if new:
        thread.exploration.waiting.append((label, state))
    return label


def part_ways(thread: FollowedThread, state: State, predicate: str, register: str, checks: bool = False) -> bool:
    """Go on at the instruction at hand on two ways, as memory decides: on one a predicate holds, on the other not. A
    register of the residual program holds the predicate. ``checks``: the code has no branch there, so nothing depends
    on it.
    """
    holds = state.moved_to(state.place)
    holds.known[state.home(predicate)] = 1
    thread.out.put(Branch(follow_later(thread, holds), Comparison("ne", Reg(register), 0), checks=checks))
    state.known[state.home(predicate)] = 0
    return True


def next_state(thread: FollowedThread) -> tuple[str, State] | None:
    """Return the state that is followed next, with its label; None where all have been."""
    if thread.language.control.places is not None:
        return thread.language.control.places.following(thread)
    return thread.exploration.waiting.pop() if thread.exploration.waiting else None


def is_same(thread: FollowedThread, one: State, other: State) -> bool:
    """Return whether two states are one place with equal knowledge of what is needed."""
    if one.function is not other.function or (one.place, one.frames) != (other.place, other.frames):
        return False
    live = thread.shape(one.function).live[one.place]
    homes = {one.home(name) for name in live} | {home for home in one.known if isinstance(home, Cell)}
    return all(one.known.get(home) == other.known.get(home) for home in homes)
