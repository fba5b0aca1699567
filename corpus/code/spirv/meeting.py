"""What barriers and operations of a group of SPIR-V do when a thread is specialised (SPIR-V 1.6, 3.52.20, 3.52.21).

The threads that do an operation together are those that come to the instruction by the same calls. They bring their
values through an array of the system's, which in Vulkan's model is of a storage class of its own, so that nothing else
is ordered by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from corpus.code import ir
from corpus.code.arithmetic import compared, computed, set_result
from corpus.code.follower import GroupExchange, State, ThreadSpecialiser
from corpus.code.launch.launch import volume
from corpus.code.launch.meeting import exchanged, folded, lanes_of
from corpus.code.places import SLOTS, Array
from corpus.code.spirv.special import subgroups_assumed
from corpus.code.values import Unknown, Value
from corpus.litmus.instructions import Barrier, Fence
from corpus.litmus.orders import PLAIN, Mode, Order, Scope
from corpus.litmus.ptx_arithmetic import WIDTHS, type_of

_LEVELS = {scope.label: scope for scope in (Scope.CTA, Scope.WARP)}

_PARTS = 16
"""The numbers of barriers that one instruction has."""

VULKAN_EXCHANGE = GroupExchange(
    Mode(Order.RELAXED, Scope.CTA, tags=("sc3",)),
    Mode(Order.ACQ_REL, Scope.CTA, tags=("semsc3",)),
)
"""How threads exchange values where the storage classes of other memory are others."""

OPENCL_EXCHANGE = GroupExchange(
    Mode(Order.RELAXED, Scope.CTA),
    PLAIN,
    "operations of a group order memory as its barrier does",
)
"""How threads exchange values where a barrier orders all memory."""


def barrier(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``OpControlBarrier``: all threads of the work-group come to this instruction, by the same calls, or none goes on;
    of a subgroup those that come there.
    """
    level, number = _LEVELS[ins.words[0]], _number(state, ins)
    threads = _group(at, level)
    if level is Scope.WARP:
        threads = at.come_together((at.block, threads[0], number), threads)
    if len(threads) > 1:
        at.put(Barrier(number, quorum=len(threads), mode=ins.mode, scope=level))
    elif ins.mode.order is not Order.WEAK:
        at.put(Fence(ins.mode))
    return True


def _group(at: ThreadSpecialiser, level: Scope) -> list[int]:
    """Return the threads of a group by their numbers in the block."""
    if level is Scope.CTA:
        return list(range(volume(at.launch.block)))
    subgroups_assumed(at)
    return [at.number - at.lane + lane for lane in lanes_of(at, -1)]


def _number(state: State, ins: ir.KernelInstruction) -> int:
    """Return a number that the instruction has where it is reached by these calls, and no other has."""
    calls = [(frame.function.body or ())[frame.after - 1].line for frame in state.frames]
    bodies = (each.body or () for each in (state.function, *(frame.function for frame in state.frames)))
    lines = max(each.line for body in bodies for each in body) + 1
    return (reduce(lambda number, line: number * lines + line, calls, 0) * lines + ins.line) * _PARTS


def group(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """An operation of a subgroup or a work-group: its words are the level, what is done, how, and by which opcode."""
    level, verb, how, *rest = ins.words
    target, *operands = ins.operands
    scope = _LEVELS[level]
    every = _group(at, scope)
    number = _number(state, ins)
    first = every[0]
    members = [each - first for each in at.come_together((at.block, first, number), every)]
    here = at.number - first
    if verb in ("inverse", "extract", "count", "least", "most"):
        set_result(at, state, target, _of_mask(at, verb, how, [at.value(state, each, 32) for each in operands], here))
        return True
    if verb == "elect":
        set_result(at, state, target, int(here == members[0]))
        return True
    value = at.value(state, operands[-1] if verb == "ballot" else operands[0], 32)
    brought = _brought(at, state, scope, number, rest[-1] if rest else "", members, value)
    if verb == "ballot":
        *targets, _ = ins.operands
        for place, each in enumerate(targets):
            lanes = {lane - 32 * place: one for lane, one in brought.items() if lane // 32 == place}
            bits = [computed(at, "shl.b32", [one, lane]) for lane, one in lanes.items()]
            set_result(at, state, each, folded(at, "or.b32", [0, *bits]))
        return True
    extra = [at.value(state, each, 32) for each in operands[1:]]
    set_result(at, state, target, _result(at, verb, how, rest[:-1], brought, here, extra))
    return True


def _brought(
    at: ThreadSpecialiser,
    state: State,
    scope: Scope,
    number: int,
    part: str,
    members: Sequence[int],
    value: Value,
) -> dict[int, Value]:
    """Return what each thread of a group brings, by its number in the group."""
    here = at.number - _group(at, scope)[0]
    if len(members) < 2:
        return {here: value}
    if at.exchange.assumed:
        at.assumed[at.exchange.assumed] = None
    own = number + 1 + int(part.removeprefix("part") or 0)
    array = Array(SLOTS, at.block, f"group{at.number - here}_{own}")
    meeting = Barrier(own, quorum=len(members), mode=at.exchange.barrier, scope=scope)
    return dict(zip(members, exchanged(at, state, array, here, members, value, meeting), strict=True))


def _result(
    at: ThreadSpecialiser,
    verb: str,
    how: str,
    opcode: Sequence[str],
    brought: Mapping[int, Value],
    here: int,
    extra: Sequence[Value],
) -> Value:
    """Return what an operation gives to a thread of the values that all bring."""
    values = list(brought.values())
    if verb in ("all", "any"):
        return folded(at, "and.pred" if verb == "all" else "or.pred", values)
    if verb == "equal":
        same = [compared(at, ("eq", "s32"), values[0], each) for each in values[1:]]
        return folded(at, "and.pred", [1, *same])
    if verb == "first":
        return values[0]
    if verb == "fold":
        return _folded(at, how, ".".join(opcode), brought, here, extra)
    lane = _partner(at, verb, here, extra, brought)
    if isinstance(lane, int):
        return brought.get(lane, Unknown(f"the value of invocation {lane} of the group, which does not come there"))
    if {*range(at.launch.warp)} - {*brought}:
        raise at.wrong("with an invocation that memory decides, which may not be there, it is not understood")
    found = values[0]
    for number, value in list(brought.items())[1:]:
        found = computed(at, "selp.b32", [value, found, compared(at, ("eq", "s32"), lane, number)])
    return found


def _partner(
    at: ThreadSpecialiser, verb: str, here: int, extra: Sequence[Value], brought: Mapping[int, Value]
) -> Value:
    """Return the number of the thread whose value is asked for."""
    by = extra[0]
    if verb == "lane":
        return by
    if verb == "rotate":
        return computed(at, "rem.u32", [computed(at, "add.s32", [by, here]), at.launch.warp])
    return computed(at, {"xor": "xor.b32", "up": "sub.s32", "down": "add.s32"}[verb], [here, by])


def _folded(
    at: ThreadSpecialiser, how: str, opcode: str, brought: Mapping[int, Value], here: int, extra: Sequence[Value]
) -> Value:
    """Return the values of all threads combined, of those up to this one, or of those in its cluster."""
    if how == "Reduce":
        return folded(at, opcode, list(brought.values()))
    if how in ("InclusiveScan", "ExclusiveScan"):
        before = [value for lane, value in brought.items() if lane < here]
        return folded(at, opcode, [_neutral(opcode), *before] if how == "ExclusiveScan" else [*before, brought[here]])
    if how == "ClusteredReduce" and extra and isinstance(extra[0], int) and extra[0]:
        size = extra[0]
        return folded(at, opcode, [value for lane, value in brought.items() if lane // size == here // size])
    raise at.wrong(f"{how} is not understood")


def _neutral(opcode: str) -> int:
    """Return the bits of the value that changes no other one when it is combined with it."""
    name, *words = opcode.split(".")
    kind = type_of(words)
    every = (1 << WIDTHS[kind]) - 1
    if kind[0] == "f":
        one, infinity = {16: (0x3C00, 0x7C00), 32: (0x3F80_0000, 0x7F80_0000)}[WIDTHS[kind]]
        return {"mul": one, "min": infinity, "max": infinity | every ^ every >> 1}.get(name, 0)
    least = 0 if kind[0] == "u" else every ^ every >> 1
    most = every if kind[0] == "u" else every >> 1
    return {"mul": 1, "and": every, "min": most, "max": least}.get(name, 0)


def _of_mask(at: ThreadSpecialiser, verb: str, how: str, operands: Sequence[Value], here: int) -> Value:
    """Return what an operation gives of a mask of threads in four words, of which the first has all that there are."""
    mask = operands[0]
    if verb == "least":
        return computed(at, "bfind.u32", [computed(at, "and.b32", [mask, computed(at, "neg.s32", [mask])])])
    if verb == "most":
        return computed(at, "bfind.u32", [mask])
    if verb in ("inverse", "extract"):
        lane = here if verb == "inverse" else operands[-1]
        return compared(at, ("ne", "s32"), computed(at, "and.b32", [mask, computed(at, "shl.b32", [1, lane])]), 0)
    every = {"Reduce": 0xFFFFFFFF, "InclusiveScan": (2 << here) - 1, "ExclusiveScan": (1 << here) - 1}
    kept = every.get(how)
    if kept is None:
        raise at.wrong(f"{how} is not understood")
    return computed(at, "popc.b32", [computed(at, "and.b32", [mask, kept])])
