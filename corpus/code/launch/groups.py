"""What barriers and operations of a group do when a thread is followed: of a work-group or a subgroup, in SPIR-V and in
OpenCL C.

The threads that do an operation together are those that come to the instruction by the same calls. They bring their
values through an array of the system's, which in Vulkan's model is of a storage class of its own, so that nothing else
is ordered by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from corpus.code import ir
from corpus.code.arithmetic import compared, computed
from corpus.code.evaluation import evaluate, set_result
from corpus.code.launch.built_in import subgroups_assumed
from corpus.code.launch.launch import volume
from corpus.code.launch.meeting import come_together, exchanged, folded, lanes_of
from corpus.code.places import SLOTS, Array
from corpus.code.thread import FollowedThread, GroupExchange, State
from corpus.code.values import Unknown, Value
from corpus.litmus.instructions import Barrier, Fence
from corpus.litmus.orders import PLAIN, Mode, Order, Scope
from corpus.litmus.ptx_arithmetic import WIDTHS, type_of

OF_MASKS = ("inverse", "extract", "count", "least", "most")
"""Those that only compute, of a ballot that is over."""

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


def barrier(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``OpControlBarrier``: all threads of the work-group come to this instruction, by the same calls, or none goes on;
    of a subgroup those that come there.
    """
    level, number = _LEVELS[ins.words[0]], _number(state, ins)
    threads = _group(thread, level)
    if level is Scope.WARP:
        threads = come_together(thread, (thread.block, threads[0], number), threads)
    if len(threads) > 1:
        thread.out.put(Barrier(number, quorum=len(threads), mode=ins.mode, scope=level))
    elif ins.mode.order is not Order.WEAK:
        thread.out.put(Fence(ins.mode))
    return True


def _group(thread: FollowedThread, level: Scope) -> list[int]:
    """Return the threads of a group by their numbers in the block."""
    if level is Scope.CTA:
        return list(range(volume(thread.launch.block)))
    subgroups_assumed(thread)
    return [thread.number - thread.lane + lane for lane in lanes_of(thread, -1)]


def _number(state: State, ins: ir.KernelInstruction) -> int:
    """Return a number that the instruction has where it is reached by these calls, and no other has."""
    calls = [(frame.function.body or ())[frame.after - 1].line for frame in state.frames]
    bodies = (each.body or () for each in (state.function, *(frame.function for frame in state.frames)))
    lines = max(each.line for body in bodies for each in body) + 1
    return (reduce(lambda number, line: number * lines + line, calls, 0) * lines + ins.line) * _PARTS


def group(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """An operation of a subgroup or a work-group: its words are the level, what is done, how, and by which opcode."""
    level, verb, how, *rest = ins.words
    target, *operands = ins.operands
    scope = _LEVELS[level]
    every = _group(thread, scope)
    number = _number(state, ins)
    first = every[0]
    members = [each - first for each in come_together(thread, (thread.block, first, number), every)]
    here = thread.number - first
    if verb in OF_MASKS:
        set_result(
            thread,
            state,
            target,
            _of_mask(thread, verb, how, [evaluate(thread, state, operand, 32) for operand in operands], here),
        )
        return True
    if verb == "elect":
        set_result(thread, state, target, int(here == members[0]))
        return True
    value = evaluate(thread, state, operands[-1] if verb == "ballot" else operands[0], 32)
    brought = _brought(thread, state, scope, number, rest[-1] if rest else "", members, value)
    if verb == "ballot":
        *targets, _ = ins.operands
        for place, each in enumerate(targets):
            lanes = {lane - 32 * place: one for lane, one in brought.items() if lane // 32 == place}
            bits = [computed(thread, "shl.b32", [one, lane]) for lane, one in lanes.items()]
            set_result(thread, state, each, folded(thread, "or.b32", [0, *bits]))
        return True
    extra = [evaluate(thread, state, operand, 32) for operand in operands[1:]]
    set_result(thread, state, target, _result(thread, verb, how, rest[:-1], brought, here, extra))
    return True


def _brought(
    thread: FollowedThread,
    state: State,
    scope: Scope,
    number: int,
    part: str,
    members: Sequence[int],
    value: Value,
) -> dict[int, Value]:
    """Return what each thread of a group brings, by its number in the group."""
    here = thread.number - _group(thread, scope)[0]
    if len(members) < 2:
        return {here: value}
    if thread.language.exchange.assumed:
        thread.notes.assumed[thread.language.exchange.assumed] = None
    own = number + 1 + int(part.removeprefix("part") or 0)
    array = Array(SLOTS, thread.block, f"group{thread.number - here}_{own}")
    meeting = Barrier(own, quorum=len(members), mode=thread.language.exchange.barrier, scope=scope)
    return dict(zip(members, exchanged(thread, state, array, here, members, value, meeting), strict=True))


def _result(
    thread: FollowedThread,
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
        return folded(thread, "and.pred" if verb == "all" else "or.pred", values)
    if verb == "equal":
        same = [compared(thread, ("eq", "s32"), values[0], value) for value in values[1:]]
        return folded(thread, "and.pred", [1, *same])
    if verb == "first":
        return values[0]
    if verb == "fold":
        return _folded(thread, how, ".".join(opcode), brought, here, extra)
    lane = _partner(thread, verb, here, extra, brought)
    if isinstance(lane, int):
        return brought.get(lane, Unknown(f"the value of invocation {lane} of the group, which does not come there"))
    if {*range(thread.launch.warp)} - {*brought}:
        raise thread.out.wrong("with an invocation that memory decides, which may not be there, it is not understood")
    found = values[0]
    for number, value in list(brought.items())[1:]:
        found = computed(thread, "selp.b32", [value, found, compared(thread, ("eq", "s32"), lane, number)])
    return found


def _partner(
    thread: FollowedThread, verb: str, here: int, extra: Sequence[Value], brought: Mapping[int, Value]
) -> Value:
    """Return the number of the thread whose value is asked for."""
    by = extra[0]
    if verb == "lane":
        return by
    if verb == "rotate":
        return computed(thread, "rem.u32", [computed(thread, "add.s32", [by, here]), thread.launch.warp])
    return computed(thread, {"xor": "xor.b32", "up": "sub.s32", "down": "add.s32"}[verb], [here, by])


def _folded(
    thread: FollowedThread, how: str, opcode: str, brought: Mapping[int, Value], here: int, extra: Sequence[Value]
) -> Value:
    """Return the values of all threads combined, of those up to this one, or of those in its cluster."""
    if how == "Reduce":
        return folded(thread, opcode, list(brought.values()))
    if how in ("InclusiveScan", "ExclusiveScan"):
        before = [value for lane, value in brought.items() if lane < here]
        return folded(
            thread, opcode, [_neutral(opcode), *before] if how == "ExclusiveScan" else [*before, brought[here]]
        )
    if how == "ClusteredReduce" and extra and isinstance(extra[0], int) and extra[0]:
        size = extra[0]
        return folded(thread, opcode, [value for lane, value in brought.items() if lane // size == here // size])
    raise thread.out.wrong(f"{how} is not understood")


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


def _of_mask(thread: FollowedThread, verb: str, how: str, operands: Sequence[Value], here: int) -> Value:
    """Return what an operation gives of a mask of threads in four words, of which the first has all that there are."""
    mask = operands[0]
    if verb == "least":
        return computed(thread, "bfind.u32", [computed(thread, "and.b32", [mask, computed(thread, "neg.s32", [mask])])])
    if verb == "most":
        return computed(thread, "bfind.u32", [mask])
    if verb in ("inverse", "extract"):
        lane = here if verb == "inverse" else operands[-1]
        return compared(
            thread, ("ne", "s32"), computed(thread, "and.b32", [mask, computed(thread, "shl.b32", [1, lane])]), 0
        )
    every = {"Reduce": 0xFFFFFFFF, "InclusiveScan": (2 << here) - 1, "ExclusiveScan": (1 << here) - 1}
    kept = every.get(how)
    if kept is None:
        raise thread.out.wrong(f"{how} is not understood")
    return computed(thread, "popc.b32", [computed(thread, "and.b32", [mask, kept])])
