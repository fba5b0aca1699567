"""What fences do when a thread is specialised, and barriers, votes and shuffles, where threads meet (ISA, 9.7.13)."""

from __future__ import annotations

from dataclasses import replace

from corpus.kernels import ir
from corpus.kernels.computing import compared, computed, negated, set_result
from corpus.kernels.launch import volume
from corpus.kernels.meeting import brought_by, converge, exchanged, folded, lanes_of
from corpus.kernels.ptx.memory import MEMBARS, ORDERS, SCOPES, access_mode
from corpus.kernels.specialiser import SLOTS, State, ThreadSpecialiser
from corpus.kernels.values import Pointer, Unknown, Value
from corpus.laws.ptx import PROXY_FENCES, cluster_barrier
from corpus.litmus import test as litmus
from corpus.litmus.ptx_arithmetic import type_of


def fence(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """Keep ``fence`` or ``membar`` as a fence of the residual program."""
    if ins.name == "membar" and ins.words[0] in MEMBARS:
        at.put(litmus.Fence(litmus.Mode(litmus.Order.SC, MEMBARS[ins.words[0]])))
    elif ".".join((ins.name, *ins.words)).replace("membar", "fence") in PROXY_FENCES:
        at.put(litmus.Fence(PROXY_FENCES[".".join((ins.name, *ins.words)).replace("membar", "fence")]))
    else:
        mode = access_mode(at, ins.words, litmus.Mode(litmus.Order.ACQ_REL))
        if mode.scope is None or not set(ins.words) <= {*ORDERS, *SCOPES, "cluster"}:
            raise at.wrong("is not understood")
        at.put(litmus.Fence(mode))
    return True


def barrier(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``bar`` and ``barrier`` of a CTA, of a warp, and of a cluster."""
    words = [word for word in ins.words if word not in ("cta", "aligned")]
    if words[:1] == ["warp"]:
        converge(at, _mask(at, state, ins.operands[0]))
        return True
    if words[:1] == ["cluster"]:
        half = cluster_barrier(ins.opcode)
        if half is None:
            raise at.wrong("is not understood")
        if volume(at.launch.cluster) * volume(at.launch.block) > 1:
            at.meets(state, half)
        return True
    alone = at.launch.block == (1, 1, 1)
    if words[0] in ("sync", "arrive"):
        numbers = [known_number(at, state, operand) for operand in ins.operands]
        if not alone:
            quorum = numbers[1] if len(numbers) > 1 else None
            at.meets(state, litmus.Barrier(numbers[0], words[0] == "arrive", quorum=quorum))
    elif words[0] == "red":
        target, number, *more = ins.operands
        quorum = known_number(at, state, more[0]) if len(more) > 1 else None
        value = at.value(state, more[-1])
        if quorum not in (None, volume(at.launch.block)):
            raise at.wrong("of some threads of the block is not understood")
        every = _met(at, state, words[1], value, known_number(at, state, number), quorum) if not alone else [value]
        if "popc" in words:
            set_result(at, state, target, folded(at, "add.s32", [0, *every]))
        else:
            set_result(at, state, target, folded(at, f"{words[1]}.pred", every))
    else:
        raise at.wrong("is not understood")
    return True


def map_shared(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``mapa``: the place in the shared memory of another block of the cluster; ``getctarank``: the rank of a block."""
    target, source, *rank = ins.operands
    address = at.value(state, source)
    if rank:
        set_result(at, state, target, in_block(at, address, ranked_block(at, at.value(state, rank[0], 32))))
        return True
    blocks = {at.launch.block_number(ids): ids.block for ids in at.launch.threads()}
    block, _ = _shared_by(at, address)
    set_result(at, state, target, at.launch.rank(blocks[block]))
    return True


def ranked_block(at: ThreadSpecialiser, rank: Value) -> int:
    """Return the number in the grid of the block of a rank in the thread's cluster. Raises ``NotUnderstoodError`` where
    there is none."""
    there = at.launch.ranked(at.ids.block, rank) if isinstance(rank, int) else None
    if there is None:
        raise at.wrong("with a rank that is of no block of the cluster is not understood")
    return there


def in_block(at: ThreadSpecialiser, address: Value, block: int) -> Pointer:
    """Return the address at the same offset in the shared memory of a block. Raises ``NotUnderstoodError`` where it is
    not known to be in shared memory."""
    _, pointer = _shared_by(at, address)
    name = pointer.array.split(":", 2)[2]
    return replace(pointer, array=f"shared:{block}:{name}")


def _shared_by(at: ThreadSpecialiser, address: Value) -> tuple[int, Pointer]:
    """Return the number of the block in whose shared memory an address is, and the address."""
    if not isinstance(address, Pointer) or not address.array.startswith("shared:"):
        raise at.wrong("of what is not known to be an address in shared memory is not understood")
    return int(address.array.split(":", 2)[1]), address


def known_number(at: ThreadSpecialiser, state: State, operand: ir.Operand) -> int:
    """Return the number that an operand is. Raises ``NotUnderstoodError`` where memory decides it."""
    value = at.value(state, operand, 32)
    if not isinstance(value, int):
        raise at.wrong("the number of a barrier or of its threads has to be known")
    return value


def _mask(at: ThreadSpecialiser, state: State, operand: ir.Operand) -> int:
    value = at.value(state, operand, 32)
    if not isinstance(value, int):
        at.assumed["a mask of threads that memory decides is taken to have all threads of the warp"] = None
        return 0xFFFFFFFF
    return value


def _met(at: ThreadSpecialiser, state: State, word: str, value: Value, number: int, quorum: int | None) -> list[Value]:
    """Return the values that all threads of a block bring to a barrier, through an array of the system's."""
    at.reduced.add((number, litmus.Scope.CTA))
    meeting, every = litmus.Barrier(number, quorum=quorum), range(volume(at.launch.block))
    return exchanged(at, state, f"{SLOTS}:{at.block}:barrier{number}_{word}", at.number, every, value, meeting)


def vote(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """Combine the predicates of a warp by ``vote``: all, any, uni or ballot."""
    target, source, *mask = ins.operands
    brought = brought_by(at, state, ins, at.value(state, source), _mask(at, state, mask[0]) if mask else 0xFFFFFFFF)
    values = list(brought.values())
    if "ballot" in ins.words:
        found = folded(at, "or.b32", [computed(at, "shl.b32", [value, lane]) for lane, value in brought.items()])
    elif "uni" in ins.words:
        every, none = folded(at, "and.pred", values), negated(at, folded(at, "or.pred", values))
        found = folded(at, "or.pred", [every, none])
    else:
        found = folded(at, "and.pred" if "all" in ins.words else "or.pred", values)
    set_result(at, state, target, found)
    return True


def shuffle(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``shfl``: the value of another thread of the warp (9.7.9.6)."""
    target, source, by, limits, *mask = ins.operands
    value, lane = at.value(state, source), at.lane
    lanes = _mask(at, state, mask[0]) if mask else 0xFFFFFFFF
    found: Value = value
    inside: Value = Unknown("whether the other thread of a shuffle is there")
    if len(lanes_of(at, lanes)) > 1:
        offset, bounds = at.value(state, by), at.value(state, limits)
        mode = next(word for word in ins.words if word in ("up", "down", "bfly", "idx"))
        if not isinstance(offset, int) or (mode == "idx" and not isinstance(bounds, int)):
            raise at.wrong("with lanes that memory decides it is not understood")
        offset &= 0x1F

        def partner(lane: int) -> int:
            segment = bounds >> 8 & 0x1F if isinstance(bounds, int) else 0
            ways = {"up": lane - offset, "down": lane + offset, "bfly": lane ^ offset}
            return ways.get(mode, lane & segment | offset & ~segment)

        other = partner(lane)
        brought = brought_by(at, state, ins, value, lanes, {each: partner(each) for each in lanes_of(at, lanes)})
        if other not in brought:
            at.assumed[f"{ins.name} from a lane that is not there gives a lane its own value"] = None
        there = compared(at, ("ge" if mode == "up" else "le", "s32"), other & 0xFFFFFFFF, _furthest(at, bounds))
        found, inside = computed(at, "selp.b32", [brought.get(other, value), value, there]), there
    set_result(at, state, target, found, inside)
    return True


def _furthest(at: ThreadSpecialiser, bounds: Value) -> Value:
    """Return the furthest lane that a shuffle of this thread may ask, given its third operand."""
    clamp = computed(at, "and.b32", [bounds, 0x1F])
    segment = computed(at, "and.b32", [computed(at, "shr.u32", [bounds, 8]), 0x1F])
    same = computed(at, "and.b32", [segment, at.lane])
    free = computed(at, "xor.b32", [segment, 0x1F])
    return computed(at, "or.b32", [same, computed(at, "and.b32", [free, clamp])])


def reduce_(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``redux``: the values of the threads of a warp combined."""
    target, source, mask = ins.operands
    brought = list(brought_by(at, state, ins, at.value(state, source), _mask(at, state, mask)).values())
    operation = next(word for word in ins.words if word in ("add", "min", "max", "and", "or", "xor"))
    set_result(at, state, target, folded(at, f"{operation}.{type_of(ins.words)}", brought))
    return True


def active(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``activemask`` and ``elect``: all threads of the warp are taken to be there."""
    lanes = lanes_of(at, 0xFFFFFFFF if ins.name == "activemask" else _mask(at, state, ins.operands[1]))
    if len(lanes) > 1:
        at.assumed[f"{ins.name} is of all threads of the warp"] = None
    target = ins.operands[0]
    if ins.name == "activemask":
        set_result(at, state, target, sum(1 << each for each in lanes))
    else:
        set_result(at, state, target, lanes[0], int(at.lane == lanes[0]))
    return True
