"""Barriers while a thread is followed: where it comes to one, and where it ends and others still wait."""

from __future__ import annotations

from corpus.code import ir
from corpus.code.places import Cell, counter
from corpus.code.thread import BarrierKey, FollowedThread, State
from corpus.litmus.instructions import Barrier
from corpus.litmus.orders import EXIT, RELAXED, Mode, Scope

ENDED_REDUCTION = "a thread ends after bar.red, and others come to that barrier again, which is not understood"

MASK_BITS = 32
"""The bits of the name of a barrier of a warp that are the mask of its lanes; what these do is above them."""


def is_aligned_barrier(origin: ir.KernelInstruction) -> bool:
    """Return whether an instruction is a barrier at which the threads of a warp have to come together."""
    return origin.name == "bar" or (origin.name == "barrier" and "aligned" in origin.words)


def exit_arrival(key: BarrierKey) -> Barrier:
    """Return what the end of a thread is to a barrier: an arrival that orders nothing (PTX ISA, ``exit``)."""
    name, scope = key
    return Barrier(name, arrive=True, mode=Mode(tags=(EXIT,)), scope=scope)


def meet(thread: FollowedThread, state: State, barrier: Barrier) -> None:
    """Append a barrier of a group, and count it where that is asked for."""
    origin, facts = thread.out.origin, thread.facts
    aligned = barrier.scope is not Scope.WARP and origin is not None and is_aligned_barrier(origin)
    thread.notes.met_aligned |= aligned
    if facts.aligns and aligned:
        place = f"{state.function.name} {state.place}"
        name = int.from_bytes(place.encode()) << MASK_BITS | (1 << thread.launch.warp) - 1
        meet(thread, state, Barrier(name, mode=Mode(tags=(RELAXED,)), scope=Scope.WARP))
    key = (barrier.name, barrier.scope)
    if key in facts.owed and not barrier.wait:
        state.known[_arrivals(key)] = _came(thread, state, key) + 1
    thread.out.put(barrier)


def arrive_at_end(thread: FollowedThread, state: State) -> None:
    """Append the arrivals by which a thread that ends has come to barriers as often as others may."""
    owed = thread.facts.owed
    if owed:
        thread.out.begin(None)
    for key, most in owed.items():
        came = _came(thread, state, key)
        if 0 < came < most and key in thread.notes.reduced:
            raise thread.out.wrong(ENDED_REDUCTION)
        for _ in range(most - came):
            thread.out.put(exit_arrival(key))


def _arrivals(key: BarrierKey) -> Cell:
    """Return the cell of the state that counts the arrivals at a barrier."""
    return counter(f"barrier {key[0]} {key[1].label}")


def _came(thread: FollowedThread, state: State, key: BarrierKey) -> int:
    """Return how often the thread has come to a barrier."""
    value = state.known.get(_arrivals(key), 0)
    if not isinstance(value, int):
        raise thread.out.wrong("how often a thread comes to a barrier takes too many ways")
    return value


def count_visit(thread: FollowedThread, state: State, place: str) -> int:
    """Count a visit of the thread to a place, and return how many there were."""
    cell = counter(f"visits of {place}")
    before = state.known.get(cell, 0)
    if not isinstance(before, int):
        raise thread.out.wrong("how often a thread comes here takes too many ways")
    state.known[cell] = before + 1
    return before + 1
