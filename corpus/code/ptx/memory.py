"""What loads, stores and atomics of PTX do when a thread is specialised (PTX ISA 9.1, 9.7.9 and 9.7.13)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from corpus.code import ir
from corpus.code.arithmetic import begins_aligned, filled, moved, moved_away, space_of
from corpus.code.evaluation import evaluate, set_result
from corpus.code.memory import accesses_of, address_of, is_inside, loaded, stored, updated
from corpus.code.places import NEAR, Array
from corpus.code.thread import FollowedThread, State
from corpus.code.values import Affine, ArrayAddress, Symbol, Unknown, Value, array_of
from corpus.litmus.instructions import Branch, Comparison, Label
from corpus.litmus.locations import Reg
from corpus.litmus.orders import CLUSTER, DEFAULT_RMW, PLAIN, Mode, Order, Scope
from corpus.litmus.ptx_arithmetic import WIDTHS, type_of

SCOPES = {"cta": Scope.CTA, "gpu": Scope.GPU, "sys": Scope.SYS}
ORDERS = {
    "relaxed": Order.RELAXED,
    "acquire": Order.ACQUIRE,
    "release": Order.RELEASE,
    "acq_rel": Order.ACQ_REL,
    "sc": Order.SC,
}
MEMBARS = {"cta": Scope.CTA, "gl": Scope.GPU, "sys": Scope.SYS}


def access_mode(thread: FollowedThread, words: Sequence[str], default: Mode) -> Mode:
    """Return how an access is done: its order and scope, or volatile."""
    if "volatile" in words:
        return Mode(volatile=True)
    if "mmio" in words:
        return Mode(Order.RELAXED, Scope.SYS)
    order = next((ORDERS[word] for word in words if word in ORDERS), None)
    tags: tuple[str, ...] = ()
    scope = next((SCOPES[word] for word in words if word in SCOPES), None)
    if "cluster" in words:
        scope, tags = Scope.QUEUE, (CLUSTER,)
    if order is None and scope is None:
        return default
    return Mode(order or default.order, scope or default.scope, tags=tags)


def _elements(words: Sequence[str]) -> tuple[int, int, str]:
    """Return the number of elements of an access, the bytes of each, and their type."""
    kind = type_of(words)
    count = next((int(word[1:]) for word in words if word in ("v2", "v4", "v8")), 1)
    return count, WIDTHS[kind] // 8, kind


def in_space(thread: FollowedThread, address: Value, words: Sequence[str]) -> Value:
    """Return an address that is in the state space which an access names. Raises ``NotUnderstoodError`` where it is in
    another one, or in the shared memory of another block, and the access does not say so: that is undefined (5.1).
    """
    word = next((word for word in words if word.partition("::")[0] in _SPACES), None)
    space = space_of(address)
    if word is None and space == "param" and _is_near(address):  # cvta.param makes it a generic one (9.7.9.20)
        raise thread.out.wrong("the address is in param memory, and the access does not say so")
    if word is None and _is_near(address):
        raise thread.out.wrong(
            f"the address is one of .{space}, not a generic one, which is undefined: cvta is missing"
        )
    if word is None or space is None:
        return address
    if word.partition("::")[0] != space:
        raise thread.out.wrong(f"the address is in {space} memory, not in .{word}, which is undefined")
    if space in NEAR and not _is_near(address):
        raise thread.out.wrong(
            f"the address is a generic one, not one of .{word}, which is undefined: cvta.to is missing"
        )
    array = array_of(address)
    if space == "shared" and word != "shared::cluster" and array and array.owner != thread.block:
        raise thread.out.wrong(
            f"the address is in the shared memory of another block, not in .{word}, which is undefined"
        )
    return address


def _is_near(address: Value) -> bool:
    return isinstance(address, ArrayAddress | Affine) and address.near


_SPACES = ("const", "global", "local", "param", "shared")
"""The state spaces that an access may name."""


def is_aligned(thread: FollowedThread, address: Value, size: int) -> bool:
    """Decide whether an address is a multiple of the bytes that are accessed there, and have the thread stop where it
    is not: that is undefined (6.4.1). Where memory decides it, the residual program asks.
    """
    match address:
        case ArrayAddress(array, offset):
            begins_aligned(thread, array, size)
            return offset % size == 0 or thread.out.stops(MISALIGNED)
        case Affine(Array() as array, ((register, scale),), offset):
            begins_aligned(thread, array, size)
            step = math.gcd(scale, size)
            if offset % step:
                return thread.out.stops(MISALIGNED)
            if step < size:
                place = Reg(register)
                if scale != 1:
                    place = Reg(thread.out.temporary("mul.lo.s64", place, scale))
                place = Reg(thread.out.temporary("add.s64", place, offset)) if offset else place
                rest = thread.out.temporary("and.b64", place, size - 1)
                inside = thread.out.new_label()
                thread.out.put(Branch(inside, Comparison("eq", Reg(rest), 0), checks=True))
                thread.out.stops(MISALIGNED)
                thread.out.put(Label(inside))
    return True


MISALIGNED = "misaligned"
"""Why a thread stops whose address is not a multiple of what it accesses."""


def load(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``ld``, also of vectors, of which each element is an access."""
    target, source = ins.operands[:2]
    count, size, kind = _elements(ins.words)
    _check_vector(thread, state, source, count)
    targets = target.parts if isinstance(target, ir.Vector) else (target,)
    mode = access_mode(thread, ins.words, PLAIN)
    address = in_space(thread, address_of(thread, state, source), ins.words)
    if not is_aligned(thread, address, count * size):
        return False
    if count > 1 and isinstance(address, Affine):  # an element may go where the address is
        address = moved_away(thread, address)
    for number, part in enumerate(targets[:count]):
        value = loaded(thread, state, moved(address, number * size), size, kind, mode)
        if value is None:
            return False
        if not _is_used(ins, number * size, size):
            value = Unknown("bytes of a load that .pragma says are not used")
        set_result(thread, state, part, filled(thread, state, part, value, f"u{8 * size}" if kind[0] == "b" else kind))
    return True


def _is_used(ins: ir.KernelInstruction, start: int, size: int) -> bool:
    """Decide whether all of so many bytes of a load are used; of others nothing tells the value (PTX ISA, 12)."""
    every = (1 << size) - 1
    return ins.used is None or ins.used >> start & every == every


def _check_vector(thread: FollowedThread, state: State, operand: ir.Operand, count: int) -> None:
    if count > 1 and isinstance(address_of(thread, state, operand), Symbol):
        raise thread.out.wrong("with an address that was read from memory it is not understood")


def store(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``st``, also of vectors, of which each element is an access."""
    target, source = ins.operands[:2]
    count, size, _ = _elements(ins.words)
    _check_vector(thread, state, target, count)
    sources = source.parts if isinstance(source, ir.Vector) else (source,)
    address, mode = (
        in_space(thread, address_of(thread, state, target), ins.words),
        access_mode(thread, ins.words, PLAIN),
    )
    if not is_aligned(thread, address, count * size):
        return False
    if count > 1 and isinstance(address, Affine):  # the parts may be computed where the address is
        address = moved_away(thread, address)
    for number, part in enumerate(sources[:count]):
        here, value = moved(address, number * size), evaluate(thread, state, part, 8 * size)
        if not stored(thread, state, here, size, value, mode):
            return False
    return True


def atomic(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Keep ``atom`` or ``red`` as an update of the residual program."""
    operands = [*ins.operands]
    target = None if ins.name == "red" else operands.pop(0)
    source, *given = operands
    kind = type_of(ins.words)
    operation = next(word for word in ins.words if word in _ATOMICS)
    given = given[: 2 if operation == "cas" else 1]  # a policy for caches may follow
    mode = access_mode(thread, ins.words, DEFAULT_RMW)
    address = in_space(thread, address_of(thread, state, source), ins.words)
    if kind == "f32" and space_of(address) != "shared":  # subnormal numbers are 0 in global memory (9.7.13.5)
        if space_of(address) is None:
            raise thread.out.wrong(
                "of numbers of which it depends on the state space what they are, it is not understood"
            )
        operation = f"{operation}.ftz"
    if not is_aligned(thread, address, WIDTHS[kind] // 8):
        return False
    return updated(thread, state, target, source, operation, kind, given, mode)


_ATOMICS = ("add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec")


def discard(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``discard``: a weak write, of a value that nothing tells, to all of 128 bytes (9.7.9.16).

    Of these, those that something else in the launch accesses make a difference.
    """
    target, size = ins.operands
    address = in_space(thread, address_of(thread, state, target), ("global",))
    if size != ir.Number(_DISCARDED):
        raise thread.out.wrong(f"of anything but {_DISCARDED} bytes is not understood")
    if not isinstance(address, ArrayAddress):
        raise thread.out.wrong("with an address that memory decides it is not understood")
    if not is_aligned(thread, address, _DISCARDED):
        return False
    if not is_inside(thread, address, _DISCARDED):
        return thread.out.stops("bounds")
    for offset, length in accesses_of(thread, address.array):
        if offset < address.offset + _DISCARDED and address.offset < offset + length:
            here = replace(address, offset=offset)
            if not stored(thread, state, here, length, Unknown("memory that was discarded"), PLAIN):
                return False
    return True


_DISCARDED = 128
"""The bytes that ``discard`` is of."""


def reads_constants(ins: ir.KernelInstruction) -> bool:
    """Decide whether a load is of memory that nothing may write while the kernel runs: ``ldu`` and ``ld.nc``."""
    return ins.name == "ldu" or (ins.name == "ld" and "nc" in ins.words)
