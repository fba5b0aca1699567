"""How threads meet when they are specialised: lanes of a warp that come together, and values that threads exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from corpus.code.arithmetic import computed
from corpus.code.follower import MASK_BITS, Access, BarrierKey, State, ThreadSpecialiser
from corpus.code.launch.launch import volume
from corpus.code.memory import stored_operand
from corpus.code.places import SLOTS, Array, array_place
from corpus.code.values import Symbol, Value
from corpus.litmus.instructions import Barrier, Load, Store
from corpus.litmus.orders import Scope


def comers(at: ThreadSpecialiser, what: str, lanes: Sequence[int]) -> list[int]:
    """Return the lanes that come to what they do together, of all that might."""
    first = at.number - at.lane
    site = at.block, first, int.from_bytes(what.encode())
    return [number - first for number in at.come_together(site, [first + lane for lane in lanes])]


WARP_BARRIER = "bar.warp.sync"
"""What lanes do that meet and exchange nothing."""


def lanes_of(at: ThreadSpecialiser, mask: int) -> list[int]:
    """Return the numbers in the warp of the threads that a mask has and that are there."""
    there = min(at.launch.warp, volume(at.launch.block) - at.number + at.lane)
    return [lane for lane in range(there) if mask >> lane & 1]


def warp_meeting(at: ThreadSpecialiser, what: str, mask: int) -> Barrier:
    """Return where the lanes of a mask meet: those that do the same with the same mask, wherever it stands (PTX ISA,
    ``bar.warp.sync``, ``vote.sync``, ``shfl.sync``, ``redux.sync``).
    """
    name = int.from_bytes(what.encode()) << MASK_BITS | mask & (1 << at.launch.warp) - 1
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


def folded(at: ThreadSpecialiser, opcode: str, values: Sequence[Value]) -> Value:
    """Return the values of all threads combined by an instruction that computes."""
    return reduce(lambda found, value: computed(at, opcode, [found, value]), values)


def exchanged(
    at: ThreadSpecialiser,
    state: State,
    array: Array,
    here: int,
    others: Sequence[int],
    value: Value,
    meeting: Barrier,
) -> list[Value]:
    """Return what threads bring: each writes its place of an array, and reads the others' between two barriers."""
    at.put(
        Store(array_place(array, 4 * here), stored_operand(at, value, 4), at.exchange.access),
        Access(array, 4 * here, 4),
    )
    at.meets(state, meeting)
    found: list[Value] = []
    for other in others:
        if other == here:
            found.append(value)
            continue
        register = at.new_register()
        read = Load(register, array_place(array, 4 * other), at.exchange.access)
        at.put(read, Access(array, 4 * other, 4))
        found.append(Symbol(register, 32))
    at.meets(state, meeting)
    return found


def brought_by(
    at: ThreadSpecialiser, state: State, what: str, value: Value, mask: int, asked: int | None = None
) -> dict[int, Value]:
    """Return what each lane of a mask brings to an operation that they do together, of those that come to it.

    ``asked``: the one lane whose value counts, where not all do. Operations with the same words and the same mask have
    an array of their own, for it is these that meet.
    """
    lane, every = at.lane, lanes_of(at, mask)
    if len(every) < 2:
        return {lane: value}
    meeting = replace(warp_meeting(at, what, mask), mode=at.exchange.barrier)
    lanes = comers(at, f"{what} {mask}", every)
    array = Array(SLOTS, at.block, f"warp{at.number // at.launch.warp}_{what}_{mask:x}")
    others = lanes if asked is None else [each for each in lanes if each in (lane, asked)]
    return dict(zip(others, exchanged(at, state, array, lane, others, value, meeting), strict=True))
