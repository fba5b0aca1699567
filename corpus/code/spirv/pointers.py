"""Pointers, accesses and atomics of functions of SPIR-V as code (SPIR-V 1.6, 3.52.8, 3.52.18 and 3.52.20).

An access chain is a sum of its base, what is known of the indices, and computed indices times the bytes between
elements. An access of a composite is one of each of its scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from corpus.code.ir import KernelGuard, MemoryOperand, Number, Operand, Register, SymbolRef
from corpus.code.spirv.code import SpirvCode, bits_of
from corpus.code.spirv.declared import MEMORY_OPERANDS, STORAGE_CLASSES
from corpus.code.spirv.modes import (
    KNOWN_SEMANTICS,
    ORDERS,
    SCOPES,
    SpirvAccess,
    SpirvSemantics,
    order_of,
)
from corpus.code.spirv.module import Id, Mask, SpirvInstruction, SpirvInteger, SpirvTarget
from corpus.code.spirv.types import TypeScalar
from corpus.laws.c11 import read_order, write_order
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.ptx_arithmetic import WIDTHS

_MOST_COPIED = 1 << 16
"""The bytes that a copy may have."""


def place(code: SpirvCode, pointer: str) -> Register | SymbolRef | Number:
    """Return the address that a pointer is."""
    found = code.value(pointer)
    if not isinstance(found, Register | SymbolRef | Number):
        raise code.wrong(f"%{pointer} is no pointer")
    return found


def storage_of(code: SpirvCode, pointer: str) -> str:
    """Return the storage class of a pointer by which memory is accessed."""
    storage = code.types.of(code.type_of(pointer)).storage
    if storage not in STORAGE_CLASSES:
        raise code.wrong(f"the storage class {storage} is not understood")
    return storage


# access chains


def access_chain(code: SpirvCode) -> None:
    """``OpAccessChain`` and its kin: an address of a part of what a pointer points to."""
    ids = code.at.ids
    untyped = code.at.name.startswith("OpUntyped")
    inner = ids.pop(0) if untyped else ""
    base, *indices = ids
    pointer = code.type_of(base)
    type = inner if untyped else code.types.of(pointer).pointee
    constant, parts = 0, list[Operand]()
    coherent = base in code.coherent or _is_coherent(code, base)
    if "PtrAccessChain" in code.at.name:
        constant += step(code, indices.pop(0), code.types.pointer_stride(pointer), parts)
    for index in indices:
        if code.types.of(type).name == "OpTypeStruct":
            member = code.number(index)
            element = code.types.element(type, member)
            coherent |= _is_coherent(code, (type, member))
            constant += element.offset
            type = element.type
        else:
            constant += step(code, index, code.types.element(type, 1).offset, parts)
            type = code.types.element(type, 0).type
    if coherent:
        code.coherent.add(code.at.result or "")
    (target,) = code.result()
    code.put("mov", ("b64",), (target, sum_of(code, place(code, base), constant, parts)))


def sum_of(
    code: SpirvCode, base: Register | SymbolRef | Number, constant: int, parts: Sequence[Operand]
) -> Register | SymbolRef | Number:
    """Return an address that is so many bytes, and the sum of parts that are computed, behind another one."""
    address = base
    if parts:
        total = parts[0]
        for part in parts[1:]:
            total = code.compute("add.s64", "u64", total, part)
        address = code.compute("add.s64", "u64", address, total)
    return code.compute("add.s64", "u64", address, Number(constant)) if constant else address


def _is_coherent(code: SpirvCode, target: SpirvTarget) -> bool:
    return any(code.source.module.decoration(target, name) is not None for name in ("Coherent", "Volatile"))


def step(code: SpirvCode, index: str, stride: int, parts: list[Operand]) -> int:
    """Return the bytes that an index stands for, where it is known; otherwise append their computation."""
    value = code.value(index)
    (kind,) = code.kinds(code.type_of(index))
    if isinstance(value, Number):
        bits = WIDTHS[kind]
        return stride * (value.value - (value.value >> bits - 1 << bits))
    if WIDTHS[kind] < 32:
        value = code.compute(f"cvt.s32.s{WIDTHS[kind]}", "b32", value)
    if WIDTHS[kind] <= 32:
        parts.append(code.compute("mul.wide.s32", "u64", value, Number(stride)))
    elif stride & stride - 1 == 0 and stride:
        parts.append(code.compute("shl.b64", "u64", value, Number(stride.bit_length() - 1)))
    else:
        parts.append(code.compute("mul.lo.s64", "u64", value, Number(stride)))
    return 0


def array_length(code: SpirvCode) -> None:
    """``OpArrayLength``: the elements of the array at the end of a buffer."""
    pointer = code.at.ids[-1]
    member = code.at.operands[-1]
    ids = code.at.ids
    type = ids[0] if len(ids) > 1 else code.types.of(code.type_of(pointer)).pointee
    if not isinstance(member, SpirvInteger):
        raise code.wrong("expected the number of a member")
    element = code.types.element(type, member.value)
    (target,) = code.result()
    stride = code.types.stride(element.type)
    operands = (target, place(code, pointer), Number(element.offset), Number(max(1, stride)))
    code.put("length", (), operands)


# accesses


def accessed(code: SpirvCode, pointer: str) -> Register | SymbolRef | Number:
    """Return the address of an access by a pointer, whose indices have to be inside of their arrays and vectors."""
    for chain in reversed(_made_by(code, pointer, "AccessChain")):
        _ask_inside(code, chain)
    return place(code, pointer)


def _made_by(code: SpirvCode, pointer: str, *names: str) -> list[SpirvInstruction]:
    """Return the instructions by whose names, or parts of these, a pointer was made of another one, the last first."""
    found: list[SpirvInstruction] = []
    made = code.defined.get(pointer)
    while made is not None and any(name in made.name for name in names):
        if made in found:
            raise code.wrong(f"%{pointer} is made of itself")
        found.append(made)
        ids = made.ids
        made = code.defined.get(ids[made.name.startswith("OpUntyped")])
    return found


def _ask_inside(code: SpirvCode, chain: SpirvInstruction) -> None:
    """End the thread where an index of an access chain is outside of an array within another value, or of a vector: its
    behaviour is undefined there (SPIR-V 1.6, 3.52.8). That of a whole variable is asked for where it is accessed.
    """
    ids = chain.ids
    untyped = chain.name.startswith("OpUntyped")
    type = ids.pop(0) if untyped else ""
    base, *indices = ids
    type = type or code.types.of(code.type_of(base)).pointee
    if "PtrAccessChain" in chain.name:
        del indices[0]
    whole = base not in code.defined and not untyped
    given = whole and storage_of(code, base) == "Workgroup"  # the host may say how long that is
    for index in indices:
        if code.types.of(type).name == "OpTypeStruct":
            whole &= code.types.length(type) == 1
            type = code.types.element(type, code.number(index)).type
            continue
        length = code.types.length(type)
        value = code.value(index)
        if isinstance(value, Number):
            (kind,) = code.kinds(code.type_of(index))
            if length and not (whole and given) and value.value % (1 << WIDTHS[kind]) >= length:
                code.put("outside", (), ())
        elif length and not whole:
            (kind,) = code.kinds(code.type_of(index))
            guard = code.compute(f"setp.ge.u{WIDTHS[kind]}", "pred", value, Number(length))
            code.put("outside", (), (), KernelGuard(guard.name))
        whole = False
        type = code.types.element(type, 0).type


def access_mode(code: SpirvCode, pointer: str, mask: Mask | None, write: bool) -> Mode:
    """Return how an access that is not atomic is done."""

    def scope(name: str) -> Scope | None:
        enumerant = mask.get(name) if mask else None
        match enumerant and enumerant.parameters:
            case (Id(id),):
                return scope_of(code, id)
        return None

    names = {enumerant.name for enumerant in mask.enumerants} if mask else set()
    access = SpirvAccess(
        storage_of(code, pointer),
        scope("MakePointerAvailable"),
        scope("MakePointerVisible"),
        "MakePointerAvailable" in names,
        "MakePointerVisible" in names,
        "NonPrivatePointer" in names,
        pointer in code.coherent or _is_coherent(code, pointer),
    )
    return code.source.model.access(access, write)


def scope_of(code: SpirvCode, id: str) -> Scope | None:
    """Return the level of the hierarchy of threads that a scope is."""
    number = code.number(id)
    if number not in SCOPES:
        raise code.wrong(f"{number} is no scope")
    return SCOPES[number]


def memory_kind(kind: str) -> str:
    """Return the kind that a scalar has in memory: small integers are read with their sign, a truth value is a word."""
    return {"b8": "s8", "b16": "s16", "pred": "b32"}.get(kind, kind)


def _mask(code: SpirvCode, number: int = 0) -> Mask | None:
    masks = [operand for operand in code.at.operands if isinstance(operand, Mask)]
    for each in (each for mask in masks for each in mask.enumerants):
        if each.name not in MEMORY_OPERANDS:
            raise code.wrong(f"the memory operand {each.name} is not understood")
    return masks[min(number, len(masks) - 1)] if masks else None


def align(code: SpirvCode, base: Register | SymbolRef | Number, bytes: int, offset: int = 0) -> None:
    """Ask that an address be a multiple of so many bytes, where it is not a variable's own."""
    if bytes > 1 and (isinstance(base, Register) or offset % bytes):
        code.put("aligned", (), (MemoryOperand(base, offset), Number(bytes)))


def _align_scalars(
    code: SpirvCode, base: Register | SymbolRef | Number, scalars: Sequence[TypeScalar], mask: Mask | None
) -> None:
    """Ask that an address be the multiple that its access says, or that scalars there be multiples of their sizes."""
    aligned = mask.get("Aligned") if mask else None
    if aligned is not None:
        match aligned.parameters:
            case (SpirvInteger(bytes),) if bytes > 0 and bytes & bytes - 1 == 0:
                align(code, base, bytes)
                return
        raise code.wrong("Aligned: expected a power of 2")
    every = [(WIDTHS[scalar.memory_kind] // 8, scalar.offset) for scalar in scalars]
    most = max((size for size, _ in every), default=1)
    for size, offset in {(most, 0), *((size, offset) for size, offset in every if offset % size)}:
        align(code, base, size, offset)


def load(code: SpirvCode) -> None:
    """``OpLoad``: each scalar of what a pointer points to."""
    pointer = code.at.ids[0]
    assert code.at.type is not None
    mode = access_mode(code, pointer, _mask(code), False)
    base = accessed(code, pointer)
    scalars = code.types.scalars(code.at.type)
    _align_scalars(code, base, scalars, _mask(code))
    read = code.components.read(code.at) if code.components else None
    for number, (target, scalar) in enumerate(zip(code.result(), scalars, strict=True)):
        if read is None or number in read:
            code.put("load", (memory_kind(scalar.kind),), (target, MemoryOperand(base, scalar.offset)), mode=mode)


def store(code: SpirvCode) -> None:
    """Write ``OpStore`` as a store of each scalar of the value."""
    pointer, value = code.at.ids[:2]
    mask = _mask(code)
    own = code.components.written(code.at) if code.components else None
    write(code, pointer, code.type_of(value), code.values(value), access_mode(code, pointer, mask, True), mask, own)


def write(
    code: SpirvCode,
    pointer: str,
    type: str,
    values: Sequence[Operand],
    mode: Mode,
    mask: Mask | None = None,
    own: frozenset[int] | None = None,
) -> None:
    """Write the scalars of a value of a type, or its ``own`` ones alone, by an access with these memory operands."""
    base = accessed(code, pointer)
    _align_scalars(code, base, code.types.scalars(type), mask)
    for number, (scalar, value) in enumerate(zip(code.types.scalars(type), values, strict=True)):
        if own is None or number in own:
            code.put("store", (memory_kind(scalar.kind),), (MemoryOperand(base, scalar.offset), value), mode=mode)


def copy(code: SpirvCode) -> None:
    """``OpCopyMemory``, and ``OpCopyMemorySized`` of a size that is known: by the scalars of what pointers point to, or
    else by words where it is one of words.
    """
    target, source, *size = code.at.ids
    reading = access_mode(code, source, _mask(code, 1), False)
    writing = access_mode(code, target, _mask(code, 0), True)
    to, of = accessed(code, target), accessed(code, source)
    if code.at.name == "OpCopyMemory":
        scalars = code.types.scalars(code.types.of(code.type_of(source)).pointee)
        _align_scalars(code, of, scalars, _mask(code, 1))
        _align_scalars(code, to, scalars, _mask(code, 0))
        pieces = [(scalar.offset, scalar.kind) for scalar in scalars]
    else:
        length = code.number(size[0])
        if length > _MOST_COPIED:
            raise code.wrong(f"of more than {_MOST_COPIED:,} bytes is not understood")
        one, other = (_pieces(code, pointer, length) for pointer in (source, target))
        width = next(each for each in (4, 2, 1) if length % each == 0)
        words = [(offset, f"b{8 * width}") for offset in range(0, length, width)]
        pieces = one if one and other in (one, None) else other if other and not one else words
    for offset, kind in pieces:
        value = code.temporary(kind)
        code.put("load", (memory_kind(kind),), (value, MemoryOperand(of, offset)), mode=reading)
        code.put("store", (memory_kind(kind),), (MemoryOperand(to, offset), value), mode=writing)


def _pieces(code: SpirvCode, pointer: str, length: int) -> list[tuple[int, str]] | None:
    """Return the scalars of what a pointer points to, before it was made one to bytes; None where that is not so long.

    What is between them is padding, which holds nothing.
    """
    for made in _made_by(code, pointer, "OpBitcast"):
        pointer = made.ids[0]
    type = code.types.of(code.type_of(pointer)).pointee
    if code.types.ends_open(type) or code.types.size(type) != length:
        return None
    return [(each.offset, each.kind) for each in code.types.scalars(type)]


# lifetimes


def begin_anew(code: SpirvCode, variable: str) -> None:
    """Say that a variable of a function may hold nothing from here on, as a round of a loop begins."""
    name = code.variables[variable].name if variable in code.variables else ""
    if name:
        why = f"{name}, which nothing has written in this round of the one loop that uses it"
        code.put("forget", (why,), (MemoryOperand(SymbolRef(name)),))


def live(code: SpirvCode) -> None:
    """``OpLifetimeStart`` and ``OpLifetimeStop``: a variable holds nothing from here on."""
    variable = code.at.ids[0]
    for made in _made_by(code, variable, "OpBitcast", "OpCopyObject"):
        variable = made.ids[0]
    declared = code.defined.get(variable)
    if declared is None or not declared.is_variable:
        raise code.wrong("of what is no variable of a function is not understood")
    if variable in code.variables:  # one of a type that has no size holds nothing that is followed
        code.put("forget", (), (MemoryOperand(SymbolRef(code.variables[variable].name)),))


# atomics

UPDATES: Mapping[str, tuple[str, str]] = {
    "OpAtomicExchange": ("exch", "b"),
    "OpAtomicIAdd": ("add", "s"),
    "OpAtomicISub": ("sub", "s"),
    "OpAtomicIIncrement": ("add", "s"),
    "OpAtomicIDecrement": ("sub", "s"),
    "OpAtomicAnd": ("and", "b"),
    "OpAtomicOr": ("or", "b"),
    "OpAtomicXor": ("xor", "b"),
    "OpAtomicSMin": ("min", "s"),
    "OpAtomicSMax": ("max", "s"),
    "OpAtomicUMin": ("min", "u"),
    "OpAtomicUMax": ("max", "u"),
    "OpAtomicFAddEXT": ("add", "f"),
    "OpAtomicFMinEXT": ("min", "f"),
    "OpAtomicFMaxEXT": ("max", "f"),
}
"""The operations of atomic updates, and how they take their operands: as bits, signed, unsigned or floating-point."""


def _semantics(code: SpirvCode, scope: str, semantics: str) -> SpirvSemantics:
    bits = code.number(semantics)
    if bits & ~KNOWN_SEMANTICS or sum(bool(bits & order) for order in ORDERS) > 1:
        raise code.wrong(f"the memory semantics {bits:#x} are not understood")
    return SpirvSemantics(scope_of(code, scope), bits)


def _atomic_mode(
    code: SpirvCode, pointer: str, given: SpirvSemantics, part: Callable[[Order], Order] = lambda order: order
) -> Mode:
    """Return how an atomic access with these semantics is done, or the part of one that has an order of its own."""
    model = code.source.model
    return model.atomic(given, storage_of(code, pointer), part(order_of(model, given)))


def _atomic(code: SpirvCode, pointer: str, kind: str) -> MemoryOperand:
    """Return the memory of an atomic access of a kind, whose address has to be a multiple of its size."""
    base = accessed(code, pointer)
    align(code, base, WIDTHS[kind] // 8)
    return MemoryOperand(base)


def _kind(code: SpirvCode, type: str) -> str:
    kinds = code.kinds(type)
    if len(kinds) != 1:
        raise code.wrong("of what is no scalar is not understood")
    return kinds[0]


def atomic_load(code: SpirvCode) -> None:
    """Write ``OpAtomicLoad`` as a load of its order and scope."""
    pointer, scope, semantics = code.at.ids[:3]
    assert code.at.type is not None
    mode = _atomic_mode(code, pointer, _semantics(code, scope, semantics), read_order)
    kind = memory_kind(_kind(code, code.at.type))
    code.put("load", (kind,), (*code.result(), _atomic(code, pointer, kind)), mode=mode)


def atomic_store(code: SpirvCode) -> None:
    """Write ``OpAtomicStore``, or ``OpAtomicFlagClear``, which stores 0, as a store of its order and scope."""
    pointer, scope, semantics, *given = code.at.ids
    mode = _atomic_mode(code, pointer, _semantics(code, scope, semantics), write_order)
    value: Operand = code.value(given[0]) if given else Number(0)
    kind = memory_kind(_kind(code, code.type_of(given[0]))) if given else "b32"
    code.put("store", (kind,), (_atomic(code, pointer, kind), value), mode=mode)


def atomic_update(code: SpirvCode) -> None:
    """Write ``OpAtomicIAdd`` and its kin, also ``OpAtomicExchange``, as an update of its order and scope."""
    pointer, scope, semantics, *given = code.at.ids
    assert code.at.type is not None
    operation, form = UPDATES[code.at.name]
    kind = f"{form}{WIDTHS[_kind(code, code.at.type)]}"
    value = code.value(given[0]) if given else Number(1)
    mode = _atomic_mode(code, pointer, _semantics(code, scope, semantics))
    operands = (*code.result(), _atomic(code, pointer, kind), value)
    code.put("update", (operation, kind), operands, mode=mode)


def compare_exchange(code: SpirvCode) -> None:
    """``OpAtomicCompareExchange``, whose read has an order of its own where it fails."""
    pointer, scope, equal, unequal, value, comparator = code.at.ids[:6]
    assert code.at.type is not None
    made, failed = _semantics(code, scope, equal), _semantics(code, scope, unequal)
    mode, read = _atomic_mode(code, pointer, made), _atomic_mode(code, pointer, failed, read_order)
    kind = bits_of(_kind(code, code.at.type))
    given = (_atomic(code, pointer, kind), code.value(comparator), code.value(value))
    fails = read.order if read.order is not read_order(mode.order) else None
    operands = (*code.result(), *given)
    if not _is_weak(code):
        code.put("update", ("cas", kind), operands, mode=mode, failure=fails)
        return
    spurious, exchanged = code.temporary("pred"), code.temporary("pred")
    code.put("spurious", (), (spurious,))
    code.put("update", ("cas", kind), operands, KernelGuard(spurious.name, True), mode, fails)
    code.put("load", (kind,), operands[:2], KernelGuard(spurious.name), read)
    same = code.compute(f"setp.eq.s{WIDTHS[kind]}", "pred", operands[0], operands[2])
    code.put("selp", ("pred",), (exchanged, Number(0), same, spurious))
    code.exchanged[code.at.result or "", comparator] = exchanged


def _is_weak(code: SpirvCode) -> bool:
    """Return whether an exchange may fail although it finds what it compares with (SPIR-V 1.6, 3.52.18; WGSL, Atomic
    Read-modify-write, whose compilers say it by the stronger instruction).
    """
    return "WGSL" in code.source.module.languages or code.at.name == "OpAtomicCompareExchangeWeak"


def is_exchanged(code: SpirvCode) -> Register | None:
    """Return the register that says whether a weak exchange has been made, for the comparison by which compilers ask
    so: of what was there with what was compared with. None where an instruction is no such comparison.
    """
    one, other = code.at.ids[:2]
    return code.exchanged.get((one, other)) or code.exchanged.get((other, one))


def test_and_set(code: SpirvCode) -> None:
    """``OpAtomicFlagTestAndSet``: whether a flag was set, which then is."""
    pointer, scope, semantics = code.at.ids[:3]
    mode = _atomic_mode(code, pointer, _semantics(code, scope, semantics))
    old = code.temporary("b32")
    code.put("update", ("exch", "b32"), (old, _atomic(code, pointer, "b32"), Number(1)), mode=mode)
    code.put("setp", ("ne", "s32"), (*code.result(), old, Number(0)))


# fences and barriers


def memory_barrier(code: SpirvCode) -> None:
    """``OpMemoryBarrier``; one without an order is none."""
    scope, semantics = code.at.ids[:2]
    mode = code.source.model.fence(_semantics(code, scope, semantics))
    if mode is not None:
        code.put("fence", (), (), mode=mode)


def control_barrier(code: SpirvCode) -> None:
    """``OpControlBarrier`` of a work-group or a subgroup; that of an invocation is a fence."""
    execution, scope, semantics = code.at.ids[:3]
    level, given, model = scope_of(code, execution), _semantics(code, scope, semantics), code.source.model
    if level in (Scope.CTA, Scope.WARP):
        assert level is not None
        code.put("barrier", (level.label,), (), mode=model.barrier(given, level))
    elif level is None:
        mode = model.fence(given)
        if mode is not None:
            code.put("fence", (), (), mode=mode)
    else:
        raise code.wrong("of more than a work-group is not understood")
