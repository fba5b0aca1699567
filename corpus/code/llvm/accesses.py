"""Instructions of LLVM that access memory or compute addresses, as instructions of the intermediate representation.

store i32 %10, ptr %12, align 8                            store [%12], %10, 32
getelementptr %struct.node, ptr %11, i32 0, i32 1          getelementptr %12, %11, 8
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import gcd

from corpus.code import ir
from corpus.code.llvm.blocks import (
    alloca_type,
)
from corpus.code.llvm.memory import ALIGNED
from corpus.code.llvm.text import TextReader, TypedOperand
from corpus.code.llvm.types import (
    ArrayType,
    DataLayout,
    IntType,
    IrError,
    PointerType,
    StructType,
    Type,
)
from corpus.code.llvm.writing import (
    NO_SCOPE,
    ORDERS,
    FunctionTranslation,
    bits,
    emit,
    kind,
    new_register,
    results,
    scalars,
)
from corpus.litmus.orders import PLAIN, Mode, Scope
from corpus.litmus.ptx_arithmetic import signed


def _mode(out: FunctionTranslation, reader: TextReader, atomic: bool) -> None:
    """Read the scope and orders of an access, which stand behind its operands."""
    if "!mmra" in reader.words:
        raise IrError("an order of some address spaces alone is not understood")
    scopes: Mapping[str, Scope | None] = out.dialect.scopes if out.dialect else {"": Scope.SYS, NO_SCOPE: Scope.SYS}
    named = ""
    if reader.take("syncscope"):
        reader.expect("(")
        named = reader.next().strip('"')
        reader.expect(")")
    if named not in scopes:
        raise IrError(f"the scope {named} is not understood")
    scope = scopes[named]
    orders = []
    while reader.word in ORDERS:
        orders.append(ORDERS[reader.next()])
    if atomic and not orders:
        raise IrError("expected an order of an atomic access")
    out.mode = (Mode(orders[0], scope), orders[1] if len(orders) > 1 else None) if orders else (PLAIN, None)


def memory(operand: ir.Operand) -> ir.MemoryOperand:
    """Return the memory at an address."""
    if not isinstance(operand, ir.Register | ir.SymbolRef | ir.Number):
        raise IrError("expected an address")
    return ir.MemoryOperand(operand)


def _address(out: FunctionTranslation, reader: TextReader) -> ir.Operand:
    """Read the address of an access; an index in a constant has to be inside of its array."""
    reader.beyond.clear()
    address = reader.typed().operand
    for index, count in reader.beyond:
        bound = (ir.Number(index % (1 << 64)), ir.Number(0), ir.Number(count - 1))
        emit(out, "getelementptr", (), new_register(out, "u64"), address, ir.Number(0), *bound)
    return address


def _load(out: FunctionTranslation, reader: TextReader) -> None:
    atomic, _ = bool(reader.take("atomic")), reader.take("volatile")
    type = reader.type()
    reader.expect(",")
    address = _address(out, reader)
    _mode(out, reader, atomic)
    if isinstance(address, ir.Register) and address.name in out.promoted:
        width = kind(out, type)
        emit(out, "mov", (width,), *results(out, type), ir.Register(out.called[address.name]))
        return
    targets = results(out, type)
    own = out.components.read(out.line) if out.components and _is_vector(type) else None
    for number, (target, (place, scalar)) in enumerate(zip(targets, out.module.names.layout.leaves(type), strict=True)):
        if own is not None and number not in own:
            continue
        emit(
            out,
            "load",
            (kind(out, scalar), *_alignment(reader, place)),
            target,
            memory(_further(out, address, place)),
            ir.Number(bits(out, scalar)),
        )


def aligned(words: Sequence[str]) -> int:
    """Return what the words of an instruction say that an address is a multiple of; 0 where they say nothing."""
    for place, word in enumerate(words[:-1]):
        if word == "align":
            number = words[place + 1]
            if not re.fullmatch(r"[1-9]\d{0,9}", number):
                raise IrError("expected a number of bytes behind align")
            return int(number)
    return 0


def _alignment(reader: TextReader, place: int = 0) -> tuple[str, ...]:
    """Return the word for what the address of an access is a multiple of, so many bytes behind its beginning."""
    known = aligned(reader.words) or 1
    found = gcd(known, place)
    return (f"{ALIGNED}{found}",) if found > 1 else ()


def _store(out: FunctionTranslation, reader: TextReader) -> None:
    atomic, _ = bool(reader.take("atomic")), reader.take("volatile")
    value = reader.typed()
    reader.expect(",")
    address = _address(out, reader)
    _mode(out, reader, atomic)
    if isinstance(address, ir.Register) and address.name in out.promoted:
        emit(out, "mov", (kind(out, value.type),), ir.Register(out.called[address.name]), value.operand)
        return
    places = [place for place, _ in out.module.names.layout.leaves(value.type)]
    own = out.components.written(out.line) if out.components and _is_vector(value.type) else None
    for number, (place, (scalar, part)) in enumerate(zip(places, scalars(out, value), strict=True)):
        if own is not None and number not in own:
            continue
        emit(
            out,
            "store",
            (kind(out, scalar), *_alignment(reader, place)),
            memory(_further(out, address, place)),
            part,
            ir.Number(bits(out, scalar)),
        )


def _is_vector(type: Type) -> bool:
    return isinstance(type, ArrayType) and type.vector


def _further(out: FunctionTranslation, address: ir.Operand, place: int) -> ir.Operand:
    """Return an address so many bytes further on."""
    if place == 0:
        return address
    if isinstance(address, ir.SymbolRef):
        return address._replace(offset=address.offset + place)
    moved = new_register(out, "u64")
    emit(out, "getelementptr", (), moved, address, ir.Number(place))
    return moved


def _fence(out: FunctionTranslation, reader: TextReader) -> None:
    alone = NO_SCOPE in " ".join(reader.words)
    _mode(out, reader, True)
    if not alone:
        emit(out, "fence", ())


def _cmpxchg(out: FunctionTranslation, reader: TextReader) -> None:
    weak, _ = reader.take("weak"), reader.take("volatile")
    address = _address(out, reader)
    reader.expect(",")
    expected = reader.typed()
    reader.expect(",")
    new = reader.typed()
    _mode(out, reader, True)
    old, success = results(out, StructType((expected.type, IntType(1))))
    emit(
        out,
        "cmpxchg",
        (*(("weak",) if weak else ()), *_alignment(reader)),
        ir.Both(old, success),
        memory(address),
        expected.operand,
        new.operand,
        ir.Number(bits(out, expected.type)),
    )


def _atomicrmw(out: FunctionTranslation, reader: TextReader) -> None:
    reader.take("volatile")
    operation = reader.next()
    address = _address(out, reader)
    reader.expect(",")
    value = reader.typed()
    _mode(out, reader, True)
    (target,) = results(out, value.type)
    width = ir.Number(bits(out, value.type))
    words = (operation, kind(out, value.type), *_alignment(reader))
    emit(out, "atomicrmw", words, target, memory(address), value.operand, width)


def _alloca(out: FunctionTranslation, reader: TextReader) -> None:
    if out.line.result in out.promoted:
        return
    type, count = alloca_type(out.line, out.module.names)
    layout = out.module.names.layout
    name = out.called[out.line.result]
    size, align = layout.bytes(type), layout.align(type)
    number: ir.Operand = ir.Number(1)
    if count is not None:
        number = TextReader([count], out.module.names).operand(IntType(64)).operand
    align = aligned(out.line.words) or align
    parts = tuple((place, called) for place, _, called in out.debug.members(out.declared.get(out.line.result, "")))
    out.variables.append(ir.Variable(name, "local", "b8", size if count is None else None, align, parts=parts))
    (target,) = results(out, PointerType())
    pieces = pieces_of(out.module.names.layout, type) if out.dialect is not None and count is None else ()
    emit(out, "alloca", pieces, target, ir.SymbolRef(name), number, ir.Number(size), ir.Number(align))
    if out.code[-1].source is None and out.line.result in out.declared:
        out.code[-1] = out.code[-1]._replace(source=out.debug.declared(out.declared[out.line.result]))


def pieces_of(layout: DataLayout, type: Type) -> tuple[str, ...]:
    """Return the scalars that a variable of a kernel is made of, as words, each the byte where it begins and its bytes:
    ``8:4``; none where they are more than ``MOST_PIECES``.
    """
    leaves = list(islice(layout.leaves(type), MOST_PIECES + 1))
    return tuple(f"{place}:{layout.stored(scalar)}" for place, scalar in leaves) if len(leaves) <= MOST_PIECES else ()


MOST_PIECES = 4_096
"""The scalars of a variable by which it is copied."""


def _getelementptr(out: FunctionTranslation, reader: TextReader) -> None:
    words = []
    while reader.word in ("inbounds", "nuw", "nusw", "inrange"):
        word = reader.next()
        if word == "inrange":
            reader.skip_brackets()
        words.append(word)
    type = reader.type()
    reader.expect(",")
    base = reader.typed()
    (target,) = results(out, PointerType())
    if not isinstance(base.type, PointerType):
        raise IrError("addresses in vectors are not understood")
    layout, offset, steps, first = out.module.names.layout, 0, list[ir.Operand](), True
    accessed = out.line.result in out.accessed
    while reader.take(","):
        index = reader.typed()
        if isinstance(type, StructType) and not first:
            if not isinstance(index.operand, ir.Number):
                raise IrError("expected the number of a field")
            step, type = layout.inside(type, index.operand.value)
            offset += step
            continue
        count = 0
        if first:
            apart = layout.bytes(type)
        else:
            if not isinstance(type, ArrayType):
                raise IrError("expected no index behind the type of a number")
            apart, count, type = layout.bytes(type.element), type.count, type.element
        known = not first and isinstance(index.operand, ir.Number)
        first = False
        if known and isinstance(index.operand, ir.Number) and not count:
            offset += apart * signed(index.operand.value, bits(out, index.type))
            continue
        wide = _wide(out, index)
        # who reads behind the last element is outside of the array; an address there is none
        most = count - accessed if count > 1 else -1
        steps += [wide, ir.Number(apart), ir.Number(most % (1 << 64))]
    emit(out, "getelementptr", words, target, base.operand, ir.Number(offset % (1 << 64)), *steps)


def _wide(out: FunctionTranslation, index: TypedOperand) -> ir.Operand:
    """Return an index with its sign in 64 bits."""
    width = bits(out, index.type)
    if isinstance(index.operand, ir.Number):
        return ir.Number(signed(index.operand.value, width) % (1 << 64))
    if width == 64:
        return index.operand
    wide = new_register(out, "s64")
    emit(out, "cvt", ("s64", f"s{width}"), wide, index.operand)
    return wide


ACCESSES: Mapping[str, Callable[[FunctionTranslation, TextReader], None]] = {
    "load": _load,
    "store": _store,
    "fence": _fence,
    "cmpxchg": _cmpxchg,
    "atomicrmw": _atomicrmw,
    "alloca": _alloca,
    "getelementptr": _getelementptr,
}
"""The instructions that access memory or compute addresses, by name, each with what translates it."""
