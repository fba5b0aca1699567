"""How threads meet when they are specialised: lanes of a warp that come together, and values that threads exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeVar

from corpus.code.arithmetic import computed
from corpus.code.launch.barriers import MASK_BITS, meet
from corpus.code.launch.launch import volume
from corpus.code.memory import stored_operand
from corpus.code.places import SLOTS, Array, array_place
from corpus.code.residual import Access
from corpus.code.thread import BarrierKey, FollowedThread, GroupSite, State
from corpus.code.values import Symbol, Value
from corpus.litmus.instructions import Barrier, Load, Store
from corpus.litmus.orders import Scope


def comers(thread: FollowedThread, what: str, lanes: Sequence[int]) -> list[int]:
    """Return the lanes that come to what they do together, of all that might."""
    first = thread.number - thread.lane
    site = thread.block, first, int.from_bytes(what.encode())
    return [number - first for number in come_together(thread, site, [first + lane for lane in lanes])]


WARP_BARRIER = "bar.warp.sync"
"""What lanes do that meet and exchange nothing."""


def lanes_of(thread: FollowedThread, mask: int) -> list[int]:
    """Return the numbers in the warp of the threads that a mask has and that are there."""
    there = min(thread.launch.warp, volume(thread.launch.block) - thread.number + thread.lane)
    return [lane for lane in range(there) if mask >> lane & 1]


def warp_meeting(thread: FollowedThread, what: str, mask: int) -> Barrier:
    """Return where the lanes of a mask meet: those that do the same with the same mask, wherever it stands (PTX ISA,
    ``bar.warp.sync``, ``vote.sync``, ``shfl.sync``, ``redux.sync``).
    """
    name = int.from_bytes(what.encode()) << MASK_BITS | mask & (1 << thread.launch.warp) - 1
    return Barrier(name, scope=Scope.WARP)


def done_at(key: BarrierKey) -> str:
    """Return what lanes do that meet where a barrier of a warp has this name; for an aligned barrier its place."""
    name, scope = key
    if scope is not Scope.WARP or not isinstance(name, int):
        return ""
    bits = name >> MASK_BITS
    return bits.to_bytes((bits.bit_length() + 7) // 8).decode(errors="replace")


def exchanges(key: BarrierKey) -> bool:
    """Return whether threads that meet at a barrier exchange values there."""
    return done_at(key).startswith(("vote.", "shfl.", "redux.", "match."))


def folded(thread: FollowedThread, opcode: str, values: Sequence[Value]) -> Value:
    """Return the values of all threads combined by an instruction that computes."""
    return reduce(lambda found, value: computed(thread, opcode, [found, value]), values)


def exchanged(
    thread: FollowedThread,
    state: State,
    array: Array,
    here: int,
    others: Sequence[int],
    value: Value,
    meeting: Barrier,
) -> list[Value]:
    """Return what threads bring: each writes its place of an array, and reads the others' between two barriers."""
    thread.out.put(
        Store(array_place(array, 4 * here), stored_operand(thread, value, 4), thread.language.exchange.access),
        Access(array, 4 * here, 4),
    )
    meet(thread, state, meeting)
    found: list[Value] = []
    for other in others:
        if other == here:
            found.append(value)
            continue
        register = thread.out.new_register()
        read = Load(register, array_place(array, 4 * other), thread.language.exchange.access)
        thread.out.put(read, Access(array, 4 * other, 4))
        found.append(Symbol(register, 32))
    meet(thread, state, meeting)
    return found


def brought_by(
    thread: FollowedThread, state: State, what: str, value: Value, mask: int, source: int | None = None
) -> dict[int, Value]:
    """Return what each lane of a mask brings to an operation that they do together, of those that come to it.

    ``source``: the one lane whose value counts, where not all do. Operations with the same words and the same mask have
    an array of their own, for it is these that meet.
    """
    lane, every = thread.lane, lanes_of(thread, mask)
    if len(every) < 2:
        return {lane: value}
    meeting = replace(warp_meeting(thread, what, mask), mode=thread.language.exchange.barrier)
    lanes = comers(thread, f"{what} {mask}", every)
    array = Array(SLOTS, thread.block, f"warp{thread.number // thread.launch.warp}_{what}_{mask:x}")
    others = lanes if source is None else [other for other in lanes if other in (lane, source)]
    return dict(zip(others, exchanged(thread, state, array, lane, others, value, meeting), strict=True))


def come_together(thread: FollowedThread, site: GroupSite, everybody: Sequence[int]) -> list[int]:
    """Return the threads of a group that do something together at a place, of all that might."""
    found = thread.facts.comers.get(site, frozenset(everybody))
    thread.notes.came[site] = found
    return sorted(found)


Option = TypeVar("Option")
"""One of the things that the system may do."""


def choose(thread: FollowedThread, what: str, options: Sequence[Option]) -> Option:
    """Return what the system does where it may do one of several things, as the launch has it."""
    if len(options) > 1:
        thread.notes.choices[what] = len(options)
    return options[min(thread.launch.choices.get(what, 0), len(options) - 1)]
