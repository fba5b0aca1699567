"""How threads meet when they are specialised: lanes of a warp that come together, and values that threads exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from corpus.kernels import ir
from corpus.kernels.computing import computed
from corpus.kernels.launch import volume
from corpus.kernels.memory import placeholder, stored_operand
from corpus.kernels.specialiser import SLOTS, Access, State, ThreadSpecialiser
from corpus.kernels.values import Held, Value
from corpus.litmus import test as litmus


def lanes_of(at: ThreadSpecialiser, mask: int) -> list[int]:
    """Return the numbers in the warp of the threads that a mask has and that are there."""
    there = min(at.launch.warp, volume(at.launch.block) - at.number + at.lane)
    return [lane for lane in range(there) if mask >> lane & 1]


def converge(at: ThreadSpecialiser, mask: int) -> list[int]:
    """Have the lanes of a mask meet, and return them."""
    lanes = lanes_of(at, mask)
    if len(lanes) > 1:
        at.put(litmus.Barrier(0, quorum=len(lanes), scope=litmus.Scope.WARP))
    return lanes


def folded(at: ThreadSpecialiser, opcode: str, values: Sequence[Value]) -> Value:
    """Return the values of all threads combined by an instruction that computes."""
    return reduce(lambda found, value: computed(at, opcode, [found, value]), values)


def exchanged(
    at: ThreadSpecialiser,
    state: State,
    array: str,
    here: int,
    others: Sequence[int],
    value: Value,
    meeting: litmus.Barrier,
    brings: bool = True,
) -> list[Value]:
    """Return what threads bring: each writes its place of an array, and reads the others' between two barriers.

    ``brings``: somebody asks for what this thread brings.
    """
    if brings:
        at.put(
            litmus.Store(litmus.Loc(placeholder(array, 4 * here)), stored_operand(at, value, 4), at.exchange.access),
            Access(array, 4 * here, 4),
        )
    at.meets(state, meeting)
    found: list[Value] = []
    for other in others:
        if other == here:
            found.append(value)
            continue
        register = at.new_register()
        read = litmus.Load(register, litmus.Loc(placeholder(array, 4 * other)), at.exchange.access)
        at.put(read, Access(array, 4 * other, 4))
        found.append(Held(register, 32))
    at.meets(state, meeting)
    return found


def brought_by(
    at: ThreadSpecialiser,
    state: State,
    ins: ir.KernelInstruction,
    value: Value,
    mask: int,
    partners: Mapping[int, int] | None = None,
) -> dict[int, Value]:
    """Return what each thread of a warp brings to an instruction that they do together.

    ``partners``: the one lane that each lane asks, where it does not ask all. Each instruction has an array of its own,
    for lanes that come to different instructions do not meet.
    """
    lane, lanes = at.lane, lanes_of(at, mask)
    if len(lanes) < 2 or lane not in lanes:
        return {lane: value}
    at.assumed[at.exchange.assumed] = None
    array = f"{SLOTS}:{at.block}:warp{at.number // at.launch.warp}_{ins.line}"
    meeting = litmus.Barrier(0, quorum=len(lanes), scope=litmus.Scope.WARP)
    if partners is None:
        return dict(zip(lanes, exchanged(at, state, array, lane, lanes, value, meeting), strict=True))
    asked = {each: other for each, other in partners.items() if other in lanes and other != each}
    if not asked:
        at.put(meeting)
        return {lane: value}
    own = [lane, asked[lane]] if lane in asked else [lane]
    brings = lane in asked.values()
    return dict(zip(own, exchanged(at, state, array, lane, own, value, meeting, brings), strict=True))
