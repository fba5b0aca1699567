"""What fences do when a thread is specialised, and barriers, votes and shuffles, where threads meet (ISA, 9.7.13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product

from corpus.code import ir
from corpus.code.arithmetic import compared, computed, negated, number_or_held, residual_operand
from corpus.code.evaluation import describe, evaluate, set_result
from corpus.code.launch.barriers import count_visit, meet
from corpus.code.launch.launch import volume
from corpus.code.launch.meeting import (
    WARP_BARRIER,
    brought_by,
    choose,
    comers,
    exchanged,
    folded,
    lanes_of,
    warp_meeting,
)
from corpus.code.places import SLOTS, Array
from corpus.code.ptx.memory import MEMBARS, ORDERS, SCOPES, access_mode
from corpus.code.residual import END
from corpus.code.thread import FollowedThread, State
from corpus.code.values import ArrayAddress, Symbol, Unknown, Value
from corpus.code.variants import follow_later
from corpus.laws.ptx import PROXY_FENCES, cluster_barrier
from corpus.litmus.instructions import Barrier, Branch, Comparison, Fence
from corpus.litmus.locations import Reg
from corpus.litmus.orders import RELAXED, Mode, Order, Scope
from corpus.litmus.ptx_arithmetic import type_of


def fence(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Keep ``fence`` or ``membar`` as a fence of the residual program."""
    if ins.name == "membar" and ins.words[0] in MEMBARS:
        thread.out.put(Fence(Mode(Order.SC, MEMBARS[ins.words[0]])))
    elif ".".join((ins.name, *ins.words)).replace("membar", "fence") in PROXY_FENCES:
        thread.out.put(Fence(PROXY_FENCES[".".join((ins.name, *ins.words)).replace("membar", "fence")]))
    else:
        mode = access_mode(thread, ins.words, Mode(Order.ACQ_REL))
        if mode.scope is None or not set(ins.words) <= {*ORDERS, *SCOPES, "cluster"}:
            raise thread.out.wrong("is not understood")
        thread.out.put(Fence(mode))
    return True


def barrier(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``bar`` and ``barrier`` of a CTA, of a warp, and of a cluster."""
    words = [word for word in ins.words if word not in ("cta", "aligned")]
    if words[:1] == ["warp"]:
        mask = _mask(thread, state, ins, ins.operands[0])
        if mask is not None and len(lanes_of(thread, mask)) > 1:
            meet(thread, state, warp_meeting(thread, WARP_BARRIER, mask))
        return mask is not None
    if words[:1] == ["cluster"]:
        half = cluster_barrier(ins.opcode)
        if half is None:
            raise thread.out.wrong("is not understood")
        if volume(thread.launch.cluster) * volume(thread.launch.block) > 1:
            meet(thread, state, half)
        return True
    alone = thread.launch.block == (1, 1, 1)
    if words[0] in ("sync", "arrive"):
        number, *more = (known_number(thread, state, operand) for operand in ins.operands)
        quorum = _quorum(thread, number, more)
        if quorum == 0:
            return thread.out.stops("count")
        if not alone or (quorum or 1) > 1:
            meet(thread, state, Barrier(number, words[0] == "arrive", quorum=quorum))
    elif words[0] == "red":
        target, called, *between, predicate = ins.operands
        number, *more = (known_number(thread, state, operand) for operand in (called, *between))
        quorum = _quorum(thread, number, more)
        if quorum == 0:
            return thread.out.stops("count")
        if quorum not in (None, volume(thread.launch.block)):
            raise thread.out.wrong("of some threads of the block is not understood")
        value = evaluate(thread, state, predicate)
        every = _met(thread, state, words[1], value, number, quorum) if not alone else [value]
        if "popc" in words:
            set_result(thread, state, target, folded(thread, "add.s32", [0, *every]))
        else:
            set_result(thread, state, target, folded(thread, f"{words[1]}.pred", every))
    else:
        raise thread.out.wrong("is not understood")
    return True


BARRIERS = 16
"""The barriers of a block (9.7.13.1)."""


def _quorum(thread: FollowedThread, number: int, more: Sequence[int]) -> int | None:
    """Return how many threads a barrier waits for: None where it is all, and 0 where they are no number of warps.

    Warps are counted, a smaller last one as any other.
    """
    if number >= BARRIERS:
        raise thread.out.wrong(f"a barrier {number} is not understood: those of a block are 0 to {BARRIERS - 1}")
    if not more:
        return None
    (count,), block, warp = more, volume(thread.launch.block), thread.launch.warp
    if count % warp or not count:
        return 0
    if count == -(-block // warp) * warp:
        return block
    if block % warp and count < block:
        raise thread.out.wrong("of some of the threads of a block whose last warp is not whole is not understood")
    return count


def map_shared(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``mapa``: the place in the shared memory of another block of the cluster; ``getctarank``: the rank of a block."""
    target, source, *rank = ins.operands
    address = evaluate(thread, state, source)
    if rank:
        set_result(
            thread, state, target, in_block(thread, address, ranked_block(thread, evaluate(thread, state, rank[0], 32)))
        )
        return True
    blocks = {thread.launch.block_number(ids): ids.block for ids in thread.launch.threads()}
    block, _ = _shared_by(thread, address)
    set_result(thread, state, target, thread.launch.rank(blocks[block]))
    return True


def ranked_block(thread: FollowedThread, rank: Value) -> int:
    """Return the number in the grid of the block of a rank in the thread's cluster. Raises ``NotUnderstoodError`` where
    there is none."""
    there = thread.launch.ranked(thread.ids.block, rank) if isinstance(rank, int) else None
    if there is None:
        raise thread.out.wrong("with a rank that is of no block of the cluster is not understood")
    return there


def in_block(thread: FollowedThread, address: Value, block: int) -> ArrayAddress:
    """Return the address at the same offset in the shared memory of a block. Raises ``NotUnderstoodError`` where it is
    not known to be in shared memory."""
    _, pointer = _shared_by(thread, address)
    return replace(pointer, array=pointer.array._replace(owner=block))


def _shared_by(thread: FollowedThread, address: Value) -> tuple[int, ArrayAddress]:
    """Return the number of the block in whose shared memory an address is, and the address."""
    if not isinstance(address, ArrayAddress) or address.array.space != "shared":
        raise thread.out.wrong("of what is not known to be an address in shared memory is not understood")
    return address.array.owner, address


def known_number(thread: FollowedThread, state: State, operand: ir.Operand) -> int:
    """Return the number that an operand is. Raises ``NotUnderstoodError`` where memory decides it."""
    value = evaluate(thread, state, operand, 32)
    if not isinstance(value, int):
        raise thread.out.wrong("the number of a barrier or of its threads has to be known")
    return value


def _mask(thread: FollowedThread, state: State, ins: ir.KernelInstruction, operand: ir.Operand) -> int | None:
    """Return the lanes that an instruction names; None where the thread goes on elsewhere: as a thread that is not
    among them, which is undefined, or to the same instruction with each mask that memory may give.
    """
    value = evaluate(thread, state, operand, 32)
    every = (1 << thread.launch.warp) - 1
    if isinstance(value, Symbol) and isinstance(operand, ir.Register):
        there = lanes_of(thread, every)
        others = [lane for lane in there if lane != thread.lane]
        if len(others) > MOST_OTHERS:
            raise thread.out.wrong(
                f"a mask that memory decides, of more than {MOST_OTHERS + 1} lanes, is not understood"
            )
        absent = every - sum(1 << lane for lane in there)
        named = computed(thread, "and.b32", [value, every])
        for number, more in product(range(1 << len(others)), sorted({0, absent})):
            mask = more | 1 << thread.lane | sum(1 << lane for n, lane in enumerate(others) if number >> n & 1)
            _again(thread, state, operand, named, mask)
        thread.out.stops("lane")
        return None
    if not isinstance(value, int):
        raise thread.out.wrong(f"its mask is {describe(thread, value)}")
    if not value >> thread.lane & 1:
        thread.out.stops("lane")
        return None
    return value & every


def _again(thread: FollowedThread, state: State, operand: ir.Register, value: Value, number: int) -> None:
    """Have the thread do its instruction again where a value is a number, with that number as an operand."""
    again = state.moved_to(state.place - 1)
    again.known[state.home(operand.name)] = number
    same = residual_operand(number_or_held(thread, compared(thread, ("eq", "s32"), value, number)), 1)
    thread.out.put(Branch(follow_later(thread, again), Comparison("ne", same, 0)))


MOST_OTHERS = 4
"""The other lanes of a warp with which a mask that memory decides is followed, each mask on its own."""


def _met(thread: FollowedThread, state: State, word: str, value: Value, number: int, quorum: int | None) -> list[Value]:
    """Return the values that all threads of a block bring to a barrier, through an array of the system's."""
    thread.notes.reduced.add((number, Scope.CTA))
    meeting, every = Barrier(number, quorum=quorum), range(volume(thread.launch.block))
    return exchanged(
        thread, state, Array(SLOTS, thread.block, f"barrier{number}_{word}"), thread.number, every, value, meeting
    )


def vote(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Combine the predicates of a warp by ``vote``: all, any, uni or ballot."""
    target, source, membership = _with_mask(thread, ins)
    mask = _mask(thread, state, ins, membership)
    if mask is None:
        return False
    brought = brought_by(thread, state, ins.opcode, evaluate(thread, state, source), mask)
    values = list(brought.values())
    if "ballot" in ins.words:
        found = folded(
            thread, "or.b32", [computed(thread, "shl.b32", [value, lane]) for lane, value in brought.items()]
        )
        if isinstance(found, Symbol) and isinstance(target, ir.Register) and target.name in _masks(state.function):
            return _follow_masks(thread, state, target, found, list(brought))
    elif "uni" in ins.words:
        every, none = folded(thread, "and.pred", values), negated(thread, folded(thread, "or.pred", values))
        found = folded(thread, "or.pred", [every, none])
    else:
        found = folded(thread, "and.pred" if "all" in ins.words else "or.pred", values)
    set_result(thread, state, target, found)
    return True


def match(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``match``: the lanes of a mask that bring the same value as the thread, or all where all bring the same."""
    target, source, membership = _with_mask(thread, ins)
    mask = _mask(thread, state, ins, membership)
    if mask is None:
        return False
    if "b64" in ins.words:
        raise thread.out.wrong("of 64 bits is not understood")
    value = evaluate(thread, state, source, 32)
    brought = brought_by(thread, state, ins.opcode, value, mask)
    same = {lane: compared(thread, ("eq", "s32"), value, other) for lane, other in brought.items()}
    if "all" in ins.words:
        every = folded(thread, "and.pred", list(same.values()))
        set_result(
            thread, state, target, computed(thread, "selp.b32", [sum(1 << lane for lane in same), 0, every]), every
        )
        return True
    found = folded(thread, "or.b32", [computed(thread, "shl.b32", [equal, lane]) for lane, equal in same.items()])
    if isinstance(found, Symbol) and isinstance(target, ir.Register) and target.name in _masks(state.function):
        return _follow_masks(thread, state, target, found, list(brought))
    set_result(thread, state, target, found)
    return True


def _masks(function: ir.KernelFunction) -> set[str]:
    """Return the registers of a function that may be masks of lanes."""
    body = function.body or ()
    last = (ins.operands[-1] for ins in body if ins.operands and "sync" in ins.words)
    found = {operand.name for operand in last if isinstance(operand, ir.Register)}
    moves = [ins.operands for ins in body if ins.name == "mov"]
    for _ in moves:
        sources = {
            b.name for a, b in moves if isinstance(b, ir.Register) and isinstance(a, ir.Register) and a.name in found
        }
        if sources <= found:
            break
        found |= sources
    return found


def _follow_masks(
    thread: FollowedThread, state: State, target: ir.Register, value: Symbol, lanes: Sequence[int]
) -> bool:
    """Have the thread go on with each mask that a value may be, where these are few: what is made of it is known."""
    if len(lanes) > MOST_OTHERS:
        set_result(thread, state, target, value)
        return True
    for number in range(1 << len(lanes)):
        mask = sum(1 << lane for n, lane in enumerate(lanes) if number >> n & 1)
        after = state.moved_to(state.place)
        set_result(thread, after, target, mask)
        same = residual_operand(number_or_held(thread, compared(thread, ("eq", "s32"), value, mask)), 1)
        thread.out.put(Branch(follow_later(thread, after), Comparison("ne", same, 0)))
    thread.out.put(Branch(END))
    return False


def _with_mask(thread: FollowedThread, ins: ir.KernelInstruction) -> tuple[ir.Operand, ...]:
    """Return the operands of an instruction that lanes do together, the last of which is their mask. Raises
    ``NotUnderstoodError`` where it has none: which lanes do it is not said then (PTX ISA, before 6.0).
    """
    if "sync" not in ins.words:
        raise thread.out.wrong("without .sync and a mask it is not understood: which lanes do it together is not said")
    return ins.operands


def shuffle(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``shfl``: the value of another thread of the warp (9.7.9.6)."""
    target, source, by, limits, membership = _with_mask(thread, ins)
    mask = _mask(thread, state, ins, membership)
    if mask is None:
        return False
    value, offset, bounds = (
        evaluate(thread, state, source),
        evaluate(thread, state, by, 32),
        evaluate(thread, state, limits, 32),
    )
    mode = next(word for word in ins.words if word in ("up", "down", "bfly", "idx"))
    if isinstance(offset, Symbol) and isinstance(by, ir.Register) and isinstance(bounds, int):
        nobody = _known_offset(thread, state, by, mode, offset, bounds, lanes_of(thread, mask))
        if nobody is None:  # all ways go on elsewhere
            thread.out.put(Branch(END))
            return False
        offset = nobody
    if not isinstance(offset, int) or (mode == "idx" and not isinstance(bounds, int)):
        raise thread.out.wrong("with lanes that memory decides it is not understood")
    other = _other(thread.lane, mode, offset, bounds if isinstance(bounds, int) else 0)
    inside = compared(thread, ("ge" if mode == "up" else "le", "s32"), other & 0xFFFFFFFF, _furthest(thread, bounds))
    brought = brought_by(thread, state, ins.opcode, value, mask, thread.lane if inside == 0 else other)
    found = brought.get(other, Unknown(f"the value of lane {other}, which does not come to {ins.opcode} as well"))
    if isinstance(inside, Symbol):
        there = state.moved_to(state.place)
        set_result(thread, there, target, found, 1)
        thread.out.put(Branch(follow_later(thread, there), Comparison("ne", Reg(inside.register), 0)))
    set_result(thread, state, target, found if inside == 1 else value, int(inside == 1))
    return True


def _known_offset(
    thread: FollowedThread, state: State, by: ir.Register, mode: str, offset: Value, bounds: int, lanes: Sequence[int]
) -> int | None:
    """Have a thread do a shuffle again with each offset by which it asks one of some lanes, and return one by which it
    asks none of them; None where there is no such.
    """
    bits = 0x1F & ~(bounds >> 8) if mode == "idx" else 0x1F
    masked = computed(thread, "and.b32", [offset, bits])
    nobody = None
    for number in range(32):
        if number & ~bits:
            continue
        if _other(thread.lane, mode, number, bounds) in lanes:
            _again(thread, state, by, masked, number)
        else:
            nobody = number
    return nobody


def _other(lane: int, mode: str, offset: int, bounds: int) -> int:
    """Return the lane that a shuffle asks for, be it in its bounds or not."""
    by, segment = offset & 0x1F, bounds >> 8 & 0x1F
    return {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": lane & segment | by & ~segment}[mode]


def _furthest(thread: FollowedThread, bounds: Value) -> Value:
    """Return the furthest lane that a shuffle of a thread may ask, given its third operand."""
    clamp = computed(thread, "and.b32", [bounds, 0x1F])
    segment = computed(thread, "and.b32", [computed(thread, "shr.u32", [bounds, 8]), 0x1F])
    free = computed(thread, "xor.b32", [segment, 0x1F])
    return computed(
        thread,
        "or.b32",
        [computed(thread, "and.b32", [segment, thread.lane]), computed(thread, "and.b32", [free, clamp])],
    )


def reduce_(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``redux``: the values of the threads of a warp combined."""
    target, source, membership = _with_mask(thread, ins)
    mask = _mask(thread, state, ins, membership)
    if mask is None:
        return False
    brought = list(brought_by(thread, state, ins.opcode, evaluate(thread, state, source), mask).values())
    if type_of(ins.words)[0] == "f":
        raise thread.out.wrong("of floating-point numbers is not understood")
    operation = next(word for word in ins.words if word in ("add", "min", "max", "and", "or", "xor"))
    set_result(thread, state, target, folded(thread, f"{operation}.{type_of(ins.words)}", brought))
    return True


def active(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``activemask``: some of the lanes that come to the instruction, the thread's own among them. Those that it names
    execute it together, so they get the same mask; where they go on, it does not say.
    """
    place = f"{ins.name} {state.function.name} {state.place}"
    visit = count_visit(thread, state, place)
    if visit > MOST_VISITS:
        raise thread.out.wrong(f"executed by one thread more than {MOST_VISITS} times, it is not understood")
    what = f"{place} {visit}"
    lanes = comers(thread, what, lanes_of(thread, -1))
    if len(lanes) > MOST_PARTED:
        raise thread.out.wrong(
            f"by more than {MOST_PARTED} lanes, which may be parted in too many ways, it is not understood"
        )
    parts = choose(thread, f"{what} {thread.block} {thread.number - thread.lane}", partitions(lanes))
    mask = next(sum(1 << lane for lane in part) for part in parts if thread.lane in part)
    set_result(thread, state, ins.operands[0], mask)
    return True


MOST_PARTED = 6
"""The lanes whose partitions are followed."""

MOST_VISITS = 3
"""How often a thread may execute one ``activemask``."""


def elect(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``elect``: one of the lanes of a mask, the same one each time (9.7.13.15)."""
    target, membership = _with_mask(thread, ins)
    mask = _mask(thread, state, ins, membership)
    if mask is None:
        return False
    lanes = lanes_of(thread, mask)
    if len(lanes) > 1:
        meet(thread, state, replace(warp_meeting(thread, ins.opcode, mask), mode=Mode(tags=(RELAXED,))))
    options = comers(thread, f"{ins.opcode} {mask}", lanes)
    leader = choose(thread, f"{ins.opcode} {mask} {thread.block} {thread.number - thread.lane}", options)
    set_result(thread, state, target, leader, int(thread.lane == leader))
    return True


def partitions(lanes: Sequence[int]) -> list[tuple[tuple[int, ...], ...]]:
    """Return each way to part lanes into sets, that of one set first."""
    if not lanes:
        return [()]
    first, *others = lanes
    found = []
    for count in range(len(others), -1, -1):
        for mates in combinations(others, count):
            rest = [lane for lane in others if lane not in mates]
            found += [((first, *mates), *more) for more in partitions(rest)]
    return found
