"""What asynchronous operations ask for when a thread is specialised, and mbarriers, where they complete (PTX ISA 9.1,
9.7.9.25 and 9.7.13.15).

A copy of 16 bytes between arrays of words copies four elements; ``FollowedThread.grains`` has the sizes of elements
that are not words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corpus.code import ir
from corpus.code.arithmetic import ONE_BIT, moved
from corpus.code.evaluation import evaluate, set_result
from corpus.code.memory import address_of, placed, stored_operand
from corpus.code.places import ANYWHERE, WORD, argument_array
from corpus.code.ptx.meeting import in_block, known_number, ranked_block
from corpus.code.ptx.memory import access_mode, in_space, is_aligned
from corpus.code.residual import Access
from corpus.code.thread import FollowedThread, State
from corpus.code.values import ArrayAddress, Symbol, Value, array_of
from corpus.laws import ptx as laws
from corpus.litmus.instructions import AsyncGroup, AsyncOperation, Load, Rmw, Store
from corpus.litmus.locations import Operand
from corpus.litmus.mbarrier import Mbarrier
from corpus.litmus.orders import BULK, COPIES, Mode, Order, Scope
from corpus.litmus.ptx_arithmetic import WIDTHS, type_of


def mbarrier(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``mbarrier``, whose arrivals and bytes are counted in an object in shared memory (9.7.13.15).

    An arrival gives the object as it was, and a wait asks whether the object has come to another phase.
    """
    kind, *words = ins.words
    if not _MBARRIER_WORDS.issuperset(words):
        raise thread.out.wrong("is not understood")
    operands = [*ins.operands]
    if kind == "inval":
        return True
    if kind == "pending_count":
        value = evaluate(thread, state, operands[1])
        register = thread.out.temporary("mbarrier.pending_count", stored_operand(thread, value, 8), 0)
        set_result(thread, state, operands[0], Symbol(register, 32))
        return True
    target = operands.pop(0) if kind in ("arrive", "arrive_drop", "test_wait", "try_wait") else None
    where = placed(thread, address_of(thread, state, operands[0]), 8)
    if where is None:
        return thread.out.stops("bounds")
    operand, access = where
    if kind == "init":
        count = known_number(thread, state, operands[1])
        thread.out.put(Store(operand, Mbarrier(count, count).bits(), laws.INITIALISING), access)
        return True
    order = Order.RELEASE if kind.startswith("arrive") else Order.ACQUIRE
    order = Order.RELAXED if kind in ("expect_tx", "complete_tx") else order
    mode = laws.of_mbarrier(access_mode(thread, words, Mode(order, Scope.CTA)))
    given = [evaluate(thread, state, operand) for operand in operands[1:]]
    register = thread.out.new_register()
    if kind in ("test_wait", "try_wait"):
        assert target is not None
        parity = "parity" in words
        phase = stored_operand(thread, given[0], 4 if parity else 8)
        thread.out.put(Load(register, operand, mode, phase=phase, parity=parity), access)
        set_result(thread, state, target, Symbol(register, 1))
        return True
    name = {"arrive": "arrive_expect", "arrive_drop": "drop_expect"}[kind] if "expect_tx" in words else kind
    number = stored_operand(thread, given[0], 4) if given else 1
    thread.out.put(Rmw(f"mbarrier.{name}", None if target is None else register, operand, (number,), mode), access)
    if target is not None:
        set_result(thread, state, target, Symbol(register, 64))
    return True


_MBARRIER_WORDS = {
    *("shared", "shared::cta", "shared::cluster", "b64", "parity", "acquire", "release", "relaxed", "cta", "cluster"),
    *("expect_tx", "noComplete"),
}


def copy(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``cp``: asynchronous copies and reductions, their groups, and the waits for these."""
    words = [word for word in ins.words if word.partition("::")[0] != "L2"]
    bulk = "bulk" in words
    kind = BULK if bulk else COPIES
    if words[-1] == "commit_group":
        thread.out.put(AsyncGroup(kind))
    elif "wait_all" in words:
        thread.out.put(AsyncGroup(kind))
        thread.out.put(AsyncGroup(kind, 0))
    elif "wait_group" in words:
        thread.out.put(AsyncGroup(kind, known_number(thread, state, ins.operands[0]), "read" in words))
    elif words[:3] == ["async", "mbarrier", "arrive"]:
        return _track(thread, state, ins, "noinc" in words)
    elif bulk and "prefetch" in words:
        pass
    elif not bulk and words[0] == "async":
        target, source, size = *_addresses(thread, state, ins), known_number(thread, state, ins.operands[2])
        if len(ins.operands) > 3 and evaluate(thread, state, ins.operands[3], 32) != size:
            raise thread.out.wrong("of fewer bytes than it writes is not understood")
        if size not in _COPIED:
            raise thread.out.wrong(f"of {size} bytes is not understood: a copy is of 4, 8 or 16")
        if not (is_aligned(thread, target, size) and is_aligned(thread, source, size)):
            return False
        return _copied(thread, AsyncOperation(None, group=kind), target, source, size, WORD)
    elif words[:2] in (["async", "bulk"], ["reduce", "async"]) and _BULK_WORDS.issuperset(words):
        return _copied_in_bulk(thread, state, ins, words)
    else:
        raise thread.out.wrong("is not understood")
    return True


MULTICAST = "multicast::cluster"
"""The word of copies to several blocks of the cluster: each has what is copied, and the signal, at the same offset."""
_BULK_WORDS = {
    *(
        "reduce",
        "async",
        "bulk",
        *("tensor", "1d", "2d", "3d", "4d", "5d", "tile"),
        "shared::cta",
        "shared::cluster",
        "shared",
        "global",
        "bulk_group",
        laws.COMPLETE_TX,
        MULTICAST,
        "weak",
    ),
    *laws.REDUCTIONS,
    *WIDTHS,
}


def _operation(words: Sequence[str]) -> str | None:
    """Return the operation of a reduction, as updates of the residual program have it; None where it is none."""
    operation, kind = next((word for word in words if word in laws.REDUCTIONS), None), type_of(words)
    if operation is None:
        return None
    plain = kind[0] != "f" and WIDTHS[kind] == 32 and (operation in (*ONE_BIT, "add") or kind == "s32")
    return operation if plain else f"{operation}.{kind}"


def _track(thread: FollowedThread, state: State, ins: ir.KernelInstruction, noinc: bool) -> bool:
    """Ask for an arrival when all earlier copies are complete, by ``cp.async.mbarrier.arrive`` (9.7.13.15.15)."""
    where = placed(thread, address_of(thread, state, ins.operands[0]), 8)
    if where is None:
        return thread.out.stops("bounds")
    operand, access = where
    word = "arrive.noinc" if noinc else "arrive"
    thread.out.put(AsyncOperation(None, barrier=operand, mbarrier=word, count=1, group=COPIES), access)
    return True


def store_asynchronously(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``st.async`` and ``red.async`` of one element, which complete at an mbarrier (9.7.9.12 and 9.7.13.7)."""
    operation, size = _operation(ins.words), WIDTHS[type_of(ins.words)] // 8
    vector = any(word in ins.words for word in ("v2", "v4"))
    if laws.COMPLETE_TX not in ins.words or vector or (ins.name == "red") is (operation is None):
        raise thread.out.wrong("is not understood")
    places = [placed(thread, address_of(thread, state, ins.operands[0]), size)]
    places.append(placed(thread, address_of(thread, state, ins.operands[2]), 8))
    if None in places:
        return thread.out.stops("bounds")
    (target, access), (barrier, counted) = (place for place in places if place is not None)
    value = stored_operand(thread, evaluate(thread, state, ins.operands[1], 8 * size), size)
    mode = laws.REMOTE_REDUCTION if operation else laws.BULK_COPY
    transfer = AsyncOperation(target, None, value, operation, mode, barrier, count=size)
    thread.out.put(transfer, access, (counted,))
    return True


def _addresses(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> tuple[Value, Value]:
    """Return where a copy is to, and where it is from."""
    target, source = (address_of(thread, state, operand) for operand in ins.operands[:2])
    spaces = [word for word in ins.words if word.partition("::")[0] in ("shared", "global")]
    return in_space(thread, target, spaces[:1]), in_space(thread, source, spaces[1:2])


def _copied_in_bulk(thread: FollowedThread, state: State, ins: ir.KernelInstruction, words: Sequence[str]) -> bool:
    """Ask for bulk copies: one, or one to each block that a mask has, where what is copied has the same offset, and the
    mbarrier, too (9.7.9.25.4.1)."""
    operation, operands = _operation(words), [*ins.operands]
    if (words[0] == "reduce") is (operation is None):
        raise thread.out.wrong("is not understood")
    transfer = AsyncOperation(None, operation=operation, mode=laws.BULK_REDUCTION if operation else laws.BULK_COPY)
    if "tensor" in words:
        size = 0
        found: list[Value] = []
        for operand in operands[:2]:
            if isinstance(operand, ir.Vector):
                box, size = _box(thread, state, operand)
                found.append(box)
            else:
                found.append(address_of(thread, state, operand))
        target, source = found
        more = operands[2:]
    else:
        target, source, size = *_addresses(thread, state, ins), known_number(thread, state, operands[2])
        more = operands[3:]
    grain = WORD if operation is None else WIDTHS[type_of(ins.words)] // 8
    if laws.COMPLETE_TX not in words:
        return _copied(thread, transfer, target, source, size, grain)
    signal = address_of(thread, state, more[0])
    if MULTICAST not in words:
        return _copied(thread, transfer, target, source, size, grain, signal)
    mask = known_number(thread, state, more[1])
    for block in [ranked_block(thread, rank) for rank in range(16) if mask >> rank & 1]:
        if not _copied(
            thread, transfer, in_block(thread, target, block), source, size, grain, in_block(thread, signal, block)
        ):
            return False
    return True


def _box(thread: FollowedThread, state: State, operand: ir.Vector) -> tuple[ArrayAddress, int]:
    """Return the box of a tensor that a tensor map and coordinates name, as an array of its own, and its bytes.

    The launch gives what one box holds as the argument of the tensor map. Boxes of other coordinates are other memory.
    """
    place, coordinates = operand.parts
    tensor_map = address_of(thread, state, place)
    name = tensor_map.array.name if isinstance(tensor_map, ArrayAddress) else ""
    number = thread.kernel.number_of(name)
    given = None if number is None else thread.launch.array(name, number)
    size = (given.size if given else None) or WORD
    if given is None or not given.elements(size) or not isinstance(coordinates, ir.Vector):
        raise thread.out.wrong("needs an array as the argument of its tensor map, which is what one box holds")
    thread.notes.assumed["boxes of a tensor are apart from each other where their coordinates differ"] = None
    where = ",".join(str(known_number(thread, state, coordinate)) for coordinate in coordinates.parts)
    return ArrayAddress(argument_array(f"{name}({where})")), given.elements(size) * size


def _copied(
    thread: FollowedThread,
    transfer: AsyncOperation,
    target: Value,
    source: Value,
    size: int,
    grain: int,
    signal: Value | None = None,
) -> bool:
    """Ask for a copy of some elements, or for a reduction of them.

    ``grain``: the bytes of an element of a reduction. ``signal``: the address of the mbarrier where it completes.
    """
    if transfer.operation is None:
        grain = min(_grain(thread, target), _grain(thread, source), size)
    if grain == 0 or size % grain or size // grain > MOST_ELEMENTS:
        raise thread.out.wrong(f"of {size} bytes is more than {MOST_ELEMENTS} elements, or none")
    pairs: list[tuple[Operand, Operand]] = []
    accesses: list[Access] = []
    for offset in range(0, size, grain):
        places = [placed(thread, moved(address, offset), grain) for address in (target, source)]
        if None in places:
            return thread.out.stops("bounds")
        (to, written), (origin, read) = (place for place in places if place is not None)
        pairs.append((to, origin))
        accesses += [written, read]
    if signal is not None:
        where = placed(thread, signal, 8)
        if where is None:
            return thread.out.stops("bounds")
        operand, access = where
        transfer = replace(transfer, barrier=operand, count=size)
        accesses.append(access)
    (first, other), *more = pairs
    thread.out.put(replace(transfer, target=first, source=other, more=tuple(more)), accesses[0], tuple(accesses[1:]))
    return True


_COPIED = (4, 8, 16)
"""The bytes of a copy by ``cp.async``, of which both addresses are multiples (9.7.9.25.3.1)."""

MOST_ELEMENTS = 32
"""The elements of one copy that are followed."""


def _grain(thread: FollowedThread, address: Value) -> int:
    """Return the bytes of an element of the array that an address is in."""
    array = array_of(address)
    return thread.asks_about(array or ANYWHERE).grains.get(array or ANYWHERE, WORD)
