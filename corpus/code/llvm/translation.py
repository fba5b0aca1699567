"""Functions of LLVM as functions of the intermediate representation: an instruction becomes one, or one for each part.

    %12 = getelementptr inbounds %struct.node, ptr %11, i32 0, i32 1      getelementptr %12, %11, 8
    store i32 %10, ptr %12, align 8                                       store [%12], %10, 32
    %27 = cmpxchg weak ptr %21, i64 %25, i64 %26 release monotonic        cmpxchg %27.0|%27.1, [%21], %25, %26, 64

What has several parts, as a struct, has a register for each: ``%27.0`` and ``%27.1``. Where blocks meet, a phi is moves
on the ways to it. A variable of the stack of which nothing has the address is a register.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import gcd

from corpus.code import ir
from corpus.code.calls import LIBRARY
from corpus.code.launch.creation import RESULT
from corpus.code.llvm.blocks import (
    ENTRY,
    Body,
    BodyBlock,
    BodyLine,
    Promoted,
    alloca_type,
    body_of,
    only_accessed,
    promoted,
)
from corpus.code.llvm.components import BodyComponents
from corpus.code.llvm.debugging import DebugInformation
from corpus.code.llvm.memory import ALIGNED
from corpus.code.llvm.module import FunctionText, ModuleText
from corpus.code.llvm.steps import STEPS
from corpus.code.llvm.text import UNDEFINED, TextReader, TypedOperand, tokens_of, unquoted
from corpus.code.llvm.types import (
    VOID,
    ArrayType,
    DataLayout,
    FloatType,
    IntType,
    IrError,
    OtherType,
    PointerType,
    Scalar,
    StructType,
    Type,
    bits_of,
)
from corpus.litmus.orders import PLAIN, Mode, Order, Scope

ORDERS: Mapping[str, Order] = {
    "unordered": Order.RELAXED,
    "monotonic": Order.RELAXED,
    "acquire": Order.ACQUIRE,
    "release": Order.RELEASE,
    "acq_rel": Order.ACQ_REL,
    "seq_cst": Order.SC,
}
"""The orders of atomic instructions by their words; unordered is weaker than all that models have."""

NO_SCOPE = "singlethread"
"""The scope of what orders a thread with itself alone, as with its signals."""


def kind_of(scalar: Scalar, sign: str, layout_bits: int) -> str:
    """Return the type of PTX that a scalar is: ``u32``, ``f64``; of one bit ``pred``."""
    if isinstance(scalar, FloatType):
        return "bf16" if scalar.name == "bfloat" else f"f{layout_bits}"
    return "pred" if layout_bits == 1 else f"{sign}{layout_bits}"


NO_LINE = BodyLine("", [], 0, "")


@dataclass(frozen=True)
class KernelDialect:
    """How a language of kernels has what is not LLVM's: the level of a scope by its word, None where it is of the
    thread alone. ``components``: those of vectors are memory locations of their own. Calls of functions without a body
    are instructions ``function``, with the kinds of their arguments.
    """

    scopes: Mapping[str, Scope | None]
    components: bool = False


@dataclass
class FunctionTranslation:
    """A function while it is translated: what is written so far.

    ``lines`` are those of the source by file, where they are known, ``defined`` the functions that have a body.
    ``promoted`` are the variables of the stack that are registers, ``called`` the names of all; ``accessed`` the
    addresses of which nothing is made but accesses. ``line`` is the one at hand, and ``mode`` that of its access, with
    the order of one that fails. ``dialect`` is that of kernels; all variables of the stack are memory there.
    """

    module: ModuleText
    debug: DebugInformation
    function: FunctionText
    lines: Mapping[str, Sequence[str]]
    defined: frozenset[str]
    code: list[ir.KernelInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    registers: dict[str, str] = field(default_factory=dict)
    variables: list[ir.Variable] = field(default_factory=list)
    promoted: dict[str, Promoted] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)
    accessed: frozenset[str] = frozenset()
    declared: Mapping[str, str] = field(default_factory=dict)
    line: BodyLine = NO_LINE
    mode: tuple[Mode, Order | None] = (PLAIN, None)
    count: int = 0
    dialect: KernelDialect | None = None
    components: BodyComponents | None = None
    doing: str = ""


def emit(
    out: FunctionTranslation,
    name: str,
    words: Sequence[str],
    *operands: ir.Operand,
    guard: ir.KernelGuard | None = None,
) -> None:
    """Write an instruction, with the place of the line that is translated."""
    source = out.debug.place(out.line.place) if out.line.place else None
    text = ""
    if source is not None:
        known = out.lines.get(source.file, ())
        text = known[source.line - 1].strip() if source.line <= len(known) else ""
    if out.dialect is not None:
        text = out.doing or out.line.name
    mode, failure = out.mode
    out.code.append(
        ir.KernelInstruction(name, tuple(words), operands, guard, out.line.line, source, mode, failure, text)
    )


def new_register(out: FunctionTranslation, kind: str) -> ir.Register:
    """Return a register that the function does not have."""
    out.count += 1
    name = f"%t'{out.count}"
    out.registers[name] = kind
    return ir.Register(name)


def bits(out: FunctionTranslation, type: Type) -> int:
    """Return the bits of a scalar."""
    if not isinstance(type, Scalar):
        raise IrError("expected a number or an address")
    return bits_of(type, out.module.names.layout)


def kind(out: FunctionTranslation, type: Type, sign: str = "u") -> str:
    """Return the type of PTX that a scalar is."""
    width = bits(out, type)
    assert isinstance(type, Scalar)
    return kind_of(type, sign, width)


def results(out: FunctionTranslation, type: Type) -> list[ir.Register]:
    """Return the registers of the result of the line at hand, one for each scalar of its type."""
    name = out.line.result
    if isinstance(type, Scalar):
        out.registers[name] = kind(out, type)
        return [ir.Register(name)]
    found = []
    for number, (_, scalar) in enumerate(out.module.names.layout.leaves(type)):
        out.registers[f"{name}.{number}"] = kind(out, scalar)
        found.append(ir.Register(f"{name}.{number}"))
    return found


def scalars(out: FunctionTranslation, operand: TypedOperand) -> list[tuple[Scalar, ir.Operand]]:
    """Return the scalars that an operand is made of, with their types."""
    if isinstance(operand.type, Scalar):
        return [(operand.type, operand.operand)]
    leaves = [scalar for _, scalar in out.module.names.layout.leaves(operand.type)]
    if len(leaves) != len(operand.parts):
        raise IrError("expected a value for each part")
    return list(zip(leaves, operand.parts, strict=True))


# accesses


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


def _load(out: FunctionTranslation, reader: TextReader) -> None:
    atomic, _ = bool(reader.take("atomic")), reader.take("volatile")
    type = reader.type()
    reader.expect(",")
    address = reader.typed().operand
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
    address = reader.typed().operand
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
    address = reader.typed().operand
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
    address = reader.typed().operand
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


# addresses


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
            offset += apart * _signed(index.operand.value, bits(out, index.type))
            continue
        wide = _wide(out, index)
        # who reads behind the last element is outside of the array; an address there is none
        most = count - accessed if count > 1 else -1
        steps += [wide, ir.Number(apart), ir.Number(most % (1 << 64))]
    if not steps:
        emit(out, "getelementptr", words, target, base.operand, ir.Number(offset % (1 << 64)))
        return
    emit(out, "getelementptr", words, target, base.operand, ir.Number(offset % (1 << 64)), *steps)


def _signed(value: int, width: int) -> int:
    value %= 1 << width
    return value - (1 << width) if value >> width - 1 else value


def _wide(out: FunctionTranslation, index: TypedOperand) -> ir.Operand:
    """Return an index with its sign in 64 bits."""
    width = bits(out, index.type)
    if isinstance(index.operand, ir.Number):
        return ir.Number(_signed(index.operand.value, width) % (1 << 64))
    if width == 64:
        return index.operand
    wide = new_register(out, "s64")
    emit(out, "cvt", ("s64", f"s{width}"), wide, index.operand)
    return wide


# arithmetic


_BINARY: Mapping[str, tuple[str, str]] = {
    "add": ("add", "s"),
    "sub": ("sub", "s"),
    "mul": ("mul.lo", "s"),
    "udiv": ("div", "u"),
    "sdiv": ("div", "s"),
    "urem": ("rem", "u"),
    "srem": ("rem", "s"),
    "shl": ("shl", "b"),
    "lshr": ("shr", "u"),
    "ashr": ("shr", "s"),
    "and": ("and", "b"),
    "or": ("or", "b"),
    "xor": ("xor", "b"),
    "fadd": ("add.rn", "f"),
    "fsub": ("sub.rn", "f"),
    "fmul": ("mul.rn", "f"),
    "fdiv": ("div.rn", "f"),
}
"""The operations of two operands: their names as instructions of PTX, and the kind of their type."""

_FLAGS = ("nuw", "nsw", "exact", "disjoint", "nneg", "samesign")
"""What is promised of operands: where it does not hold, the result is poison."""

_FAST = ("fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc")
"""What may be done to operations on floating-point numbers."""


def _binary(out: FunctionTranslation, reader: TextReader) -> None:
    name = reader.words[0]
    flags = []
    while reader.word in (*_FLAGS, *_FAST):
        flags.append(reader.next())
    one = reader.typed()
    reader.expect(",")
    other = reader.operand(one.type)
    operation, sign = _BINARY[name]
    pairs = zip(results(out, one.type), scalars(out, one), scalars(out, other), strict=True)
    for target, (scalar, left), (_, right) in pairs:
        words = (operation, kind(out, scalar, sign), *(flag for flag in flags if flag not in _FAST))
        emit(out, "binary", words, target, left, right)


def _fneg(out: FunctionTranslation, reader: TextReader) -> None:
    while reader.take(*_FAST):
        pass
    value = reader.typed()
    for target, (scalar, part) in zip(results(out, value.type), scalars(out, value), strict=True):
        emit(out, "unary", ("neg", kind(out, scalar)), target, part)


_COMPARED: Mapping[str, str] = {
    "eq": "eq",
    "ne": "ne",
    **{f"{sign}{name}": name for sign in "us" for name in ("gt", "ge", "lt", "le")},
}
"""The comparisons of integers by their words, as those of PTX."""

_COMPARED_REALS: Mapping[str, str] = {
    **{f"o{name}": name for name in ("eq", "gt", "ge", "lt", "le", "ne")},
    **{f"u{name}": f"{name}u" for name in ("eq", "gt", "ge", "lt", "le", "ne")},
    "ord": "num",
    "uno": "nan",
}
"""The comparisons of floating-point numbers; the unordered ones, which hold of what is no number, have a u behind."""


def _compare(out: FunctionTranslation, reader: TextReader) -> None:
    real = reader.words[0] == "fcmp"
    while reader.take(*_FLAGS, *_FAST):
        pass
    word = reader.next()
    if word not in (_COMPARED_REALS if real else _COMPARED):
        raise IrError(f"the comparison {word} is not understood")
    name = (_COMPARED_REALS if real else _COMPARED)[word]
    one = reader.typed()
    reader.expect(",")
    other = reader.operand(one.type)
    count = len(scalars(out, one))
    type: Type = IntType(1) if isinstance(one.type, Scalar) else ArrayType(count, IntType(1), vector=True)
    pairs = zip(results(out, type), scalars(out, one), scalars(out, other), strict=True)
    for target, (scalar, left), (_, right) in pairs:
        sign = "u" if word in ("eq", "ne") else word[0]
        form = kind(out, scalar, "f" if real else sign)
        emit(out, "compare", (name, form), target, left, right)


def _cast(out: FunctionTranslation, reader: TextReader) -> None:
    name = reader.words[0]
    while reader.take(*_FLAGS, *_FAST):
        pass
    value = reader.typed()
    reader.expect("to")
    type = reader.type()
    sources = scalars(out, value)
    leaves = [scalar for _, scalar in out.module.names.layout.leaves(type)]
    if len(leaves) != len(sources) and out.dialect is not None and name == "bitcast":
        _regrouped(out, type, [part for _, part in sources])
        return
    if len(leaves) != len(sources):
        raise IrError("to see a vector as one of other elements is not understood")
    for target, scalar, (source, part) in zip(results(out, type), leaves, sources, strict=True):
        emit(out, *_conversion(out, name, source, scalar), target, part)


def _regrouped(out: FunctionTranslation, type: Type, sources: Sequence[ir.Operand]) -> None:
    """Write the same bits in other scalars: each of several that are one now, or several that one is."""
    targets = results(out, type)
    several, one = max(len(targets), len(sources)), min(len(targets), len(sources))
    if several % one:
        raise IrError("to see a vector as one of other elements is not understood")
    each, width = several // one, [kind(out, scalar) for _, scalar in out.module.names.layout.leaves(type)]
    for number in range(one):
        part = slice(number * each, (number + 1) * each)
        if len(targets) < len(sources):
            emit(out, "mov", (width[number],), targets[number], ir.Vector(tuple(sources[part])))
        else:
            whole = f"b{each * int(width[0][1:])}"
            emit(out, "mov", (whole,), ir.Vector(tuple(targets[part])), sources[number])


_CAST_SIGNS = {
    "zext": "uu",
    "trunc": "uu",
    "sext": "ss",
    "uitofp": "uf",
    "sitofp": "sf",
    "fptoui": "fu",
    "fptosi": "fs",
    "fptrunc": "ff",
    "fpext": "ff",
}
"""The casts of numbers: the kinds of the types that they are from and to."""

_ROUNDED = {"uitofp": "rn", "sitofp": "rn", "fptoui": "rzi", "fptosi": "rzi", "fptrunc": "rn"}


def _conversion(out: FunctionTranslation, name: str, source: Scalar, scalar: Scalar) -> tuple[str, tuple[str, ...]]:
    """Return the instruction of a cast, and its words."""
    if name in ("ptrtoint", "inttoptr", "bitcast", "addrspacecast", "ptrtoaddr"):
        one, other = bits(out, source), bits(out, scalar)
        return ("mov", (kind(out, scalar),)) if one == other else ("convert", (f"u{other}", f"u{one}"))
    to, of = _CAST_SIGNS[name][1], _CAST_SIGNS[name][0]
    rounded = (_ROUNDED[name],) if name in _ROUNDED else ()
    return "convert", (*rounded, kind(out, scalar, to), kind(out, source, of))


def _select(out: FunctionTranslation, reader: TextReader) -> None:
    while reader.take(*_FAST):
        pass
    chosen = reader.typed()
    reader.expect(",")
    one = reader.typed()
    reader.expect(",")
    other = reader.typed()
    targets, lefts, rights = results(out, one.type), scalars(out, one), scalars(out, other)
    deciders = (
        scalars(out, chosen) if not isinstance(chosen.type, Scalar) else [(chosen.type, chosen.operand)] * len(targets)
    )
    for target, (scalar, left), (_, right), (_, decider) in zip(targets, lefts, rights, deciders, strict=True):
        emit(out, "select", (kind(out, scalar, "b"),), target, left, right, decider)


def _freeze(out: FunctionTranslation, reader: TextReader) -> None:
    value = reader.typed()
    for target, (scalar, part) in zip(results(out, value.type), scalars(out, value), strict=True):
        emit(out, "mov", (kind(out, scalar),), target, part)


def _part(out: FunctionTranslation, type: Type, reader: TextReader) -> tuple[int, Type]:
    """Read the indices of a part; return the number of its first scalar, and its type."""
    layout, before = out.module.names.layout, 0
    while reader.take(","):
        index = reader.number()
        if isinstance(type, ArrayType) and index >= type.count:
            raise IrError("expected the index of a part")
        following = layout.inside(type, index)[1]
        for number in range(index):
            inner = layout.inside(type, number)[1] if isinstance(type, StructType) else layout.inside(type, 0)[1]
            before += sum(1 for _ in layout.leaves(inner))
        type = following
    return before, type


def _extractvalue(out: FunctionTranslation, reader: TextReader) -> None:
    whole = reader.typed()
    before, type = _part(out, whole.type, reader)
    for number, target in enumerate(results(out, type)):
        scalar, part = scalars(out, whole)[before + number]
        emit(out, "mov", (kind(out, scalar),), target, part)


def _insertvalue(out: FunctionTranslation, reader: TextReader) -> None:
    whole = reader.typed()
    reader.expect(",")
    value = reader.typed()
    before, _ = _part(out, whole.type, reader)
    parts, new = scalars(out, whole), scalars(out, value)
    for number, target in enumerate(results(out, whole.type)):
        inside = before <= number < before + len(new)
        scalar, part = new[number - before] if inside else parts[number]
        emit(out, "mov", (kind(out, scalar),), target, part)


def _element_number(index: TypedOperand) -> int:
    if not isinstance(index.operand, ir.Number):
        raise IrError("an element of a vector by an index that is computed is not understood")
    return index.operand.value


def _extractelement(out: FunctionTranslation, reader: TextReader) -> None:
    whole = reader.typed()
    reader.expect(",")
    scalar, part = scalars(out, whole)[_element_number(reader.typed())]
    emit(out, "mov", (kind(out, scalar),), *results(out, scalar), part)


def _insertelement(out: FunctionTranslation, reader: TextReader) -> None:
    whole = reader.typed()
    reader.expect(",")
    value = reader.typed()
    reader.expect(",")
    index = _element_number(reader.typed())
    for number, (target, (scalar, part)) in enumerate(zip(results(out, whole.type), scalars(out, whole), strict=True)):
        emit(out, "mov", (kind(out, scalar),), target, value.operand if number == index else part)


def _shufflevector(out: FunctionTranslation, reader: TextReader) -> None:
    one = reader.typed()
    reader.expect(",")
    other = reader.typed()
    reader.expect(",")
    mask = reader.typed()
    every = [*scalars(out, one), *scalars(out, other)]
    (scalar, _), *_ = every
    targets = results(out, ArrayType(len(mask.parts), scalar, vector=True))
    for target, index in zip(targets, mask.parts, strict=True):
        part = every[index.value][1] if isinstance(index, ir.Number) else UNDEFINED
        emit(out, "mov", (kind(out, scalar),), target, part)


# calls


@dataclass
class FunctionCall:
    """A call: what it calls, its arguments, and the type of its result."""

    type: Type
    callee: str
    arguments: list[TypedOperand] = field(default_factory=list)


def _call(out: FunctionTranslation, reader: TextReader) -> None:
    for _ in reader.attributes():
        if reader.word.isdigit():
            reader.next()
    type = reader.type()
    if reader.word == "asm":
        _assembly(out, reader)
        return
    call = FunctionCall(type, reader.next())
    reader.expect("(")
    reader.listed(")", lambda: _argument(out, reader, call))
    for word in reader.words[reader.place :]:
        if word in ("[",):  # operands in bundles, as of funclet
            break
    if call.callee.startswith("%"):
        _called(out, call, ir.Register(call.callee))
        return
    if not call.callee.startswith("@"):
        raise IrError(f"a call of {call.callee} is not understood")
    name = out.module.aliased(unquoted(call.callee))
    if name.startswith("llvm."):
        _intrinsic(out, name, call)
    elif _OUTPUT.match(name):
        _external(out, "__synth_printed", call)
    elif name in out.defined:
        _called(out, call, ir.SymbolRef(name))
    else:
        _external(out, name, call)


_OUTPUT = re.compile(
    r"_ZNSt3__1(?:13basic_ostreamIcNS_11char_traitsIcEEE(?:ls|5flush|3put)|24__put_character_sequence|4endl|5flush"
    r"|ls.*basic_ostream)"
)
"""What writes to a stream of C++, and gives it."""


def _argument(out: FunctionTranslation, reader: TextReader, call: FunctionCall) -> None:
    """Read an argument of a call. One that is passed by value is a copy, which the called function has."""
    type = reader.type()
    if isinstance(type, OtherType):
        while reader.word not in (",", ")", ""):
            if reader.word == "(":
                reader.skip_brackets()
            else:
                reader.next()
        return
    copied: Type | None = None
    while True:
        if reader.take("byval"):
            reader.expect("(")
            copied = reader.type()
            reader.expect(")")
        before = reader.place
        next(reader.attributes_before_operand(), None)
        if reader.place == before and reader.word != "byval":
            break
    operand = reader.operand(type)
    if copied is not None:
        size, align = out.module.names.layout.bytes(copied), out.module.names.layout.align(copied)
        out.count += 1
        name = f"{out.function.name}.copy'{out.count}"
        out.variables.append(ir.Variable(name, "local", "b8", size, align))
        copy = new_register(out, "u64")
        emit(out, "alloca", (), copy, ir.SymbolRef(name), ir.Number(1), ir.Number(size), ir.Number(align))
        emit(out, "memcpy", (), ir.Register("_"), copy, operand.operand, ir.Number(size))
        operand = TypedOperand(type, copy)
    call.arguments.append(operand)


def arguments_of(out: FunctionTranslation, call: FunctionCall) -> list[ir.Operand]:
    """Return the scalars of the arguments of a call."""
    return [part for argument in call.arguments for _, part in scalars(out, argument)]


def targets_of(out: FunctionTranslation, call: FunctionCall) -> list[ir.Register]:
    """Return the registers of the result of a call, one for each scalar."""
    if isinstance(call.type, OtherType):
        return []
    if not out.line.result:
        return [ir.Register("_") for _ in out.module.names.layout.leaves(call.type)]
    return results(out, call.type)


def _called(out: FunctionTranslation, call: FunctionCall, function: ir.Register | ir.SymbolRef) -> None:
    """Write a call of a function of the module, or of one by its address."""
    emit(out, "call", (), ir.Vector(tuple(targets_of(out, call))), function, ir.Vector(tuple(arguments_of(out, call))))


def _external(out: FunctionTranslation, name: str, call: FunctionCall) -> None:
    """Write a call of a function that is known by its name, or not at all."""
    if out.dialect is not None:
        _used(out, name, call)
        return
    targets = targets_of(out, call)
    emit(out, f"@{name}", (), targets[0] if targets else ir.Register("_"), *arguments_of(out, call))
    for target in targets[1:]:
        emit(out, "mov", ("u64",), target, UNDEFINED)


def _used(out: FunctionTranslation, name: str, call: FunctionCall) -> None:
    """Write a call in a kernel of a function that the language has: its name, the kinds of what its arguments are made
    of, the registers of its result, and its arguments.
    """
    given = [scalars(out, argument) for argument in call.arguments]
    kinds = [next((kind(out, scalar) for scalar, _ in parts), "") for parts in given]
    vectors = [ir.Vector(tuple(part for _, part in parts)) for parts in given]
    out.doing = name
    emit(out, "function", (name, *kinds), ir.Vector(tuple(targets_of(out, call))), *vectors)


_NOTHING = frozenset(
    (
        *("assume", "donothing", "sideeffect", "prefetch", "x86.sse2.pause", "aarch64.hint", "stackrestore"),
        *("var.annotation", "invariant.start", "invariant.end", "experimental.noalias.scope.decl"),
        *("dbg.declare", "dbg.value", "dbg.label", "pseudoprobe", "fake.use"),
    )
)
"""The intrinsics that do nothing which is asked about."""

_SAME = frozenset(
    (
        *("expect", "expect.with.probability", "threadlocal.address", "launder.invariant.group"),
        *("strip.invariant.group", "ssa.copy", "annotation", "ptr.annotation"),
    )
)
"""The intrinsics that give their first argument."""

_MEMORY = ("memcpy", "memmove", "memset", "memcpy.inline", "memset.inline")

_COMPUTED: Mapping[str, tuple[str, str]] = {
    "umin": ("min", "u"),
    "umax": ("max", "u"),
    "smin": ("min", "s"),
    "smax": ("max", "s"),
    "ctpop": ("popc", "b"),
    "bitreverse": ("brev", "b"),
    "fabs": ("abs", "f"),
    "sqrt": ("sqrt.rn", "f"),
}
"""The intrinsics that compute, as instructions of PTX."""

_TYPES_BEHIND = re.compile(r"(?:\.(?:[pifv]\d+\w*|bf16|s_\w+|sl_\w+))+$")
"""The types at the end of the name of an intrinsic: ``.p0.p0.i64``."""


def _intrinsic(out: FunctionTranslation, name: str, call: FunctionCall) -> None:
    plain = _TYPES_BEHIND.sub("", name.removeprefix("llvm."))
    given = arguments_of(out, call)
    if plain in _NOTHING:
        return
    if plain in ("lifetime.start", "lifetime.end"):
        address = given[-1]
        if isinstance(address, ir.Register) and address.name not in out.promoted:
            emit(out, plain, (), memory(address))
    elif plain in _SAME:
        emit(out, "mov", (kind(out, call.type),), *targets_of(out, call), given[0])
    elif plain in _MEMORY:
        emit(out, plain.removesuffix(".inline"), (), ir.Register("_"), *given[:3])
    elif plain in _COMPUTED and isinstance(call.type, Scalar):
        operation, sign = _COMPUTED[plain]
        words = (operation, kind(out, call.type, sign))
        emit(out, "binary" if len(given) > 1 else "unary", words, *targets_of(out, call), *given)
    elif plain in STEPS and isinstance(call.type, Scalar):
        _in_steps(out, plain, call.type, given)
    elif plain in ("is.constant", "objectsize"):
        emit(out, "mov", (kind(out, call.type),), *targets_of(out, call), _of_nothing(plain, given))
    elif plain.endswith(".with.overflow"):
        targets = targets_of(out, call)
        emit(out, "overflow", (plain.partition(".")[0], kind(out, call.arguments[0].type)), *targets[:2], *given)
    elif plain in ("trap", "debugtrap", "ubsantrap"):
        emit(out, "@abort", (), ir.Register("_"))
    elif plain == "stacksave":
        emit(out, "mov", ("u64",), *targets_of(out, call), ir.Number(0))
    elif out.dialect is not None:
        _used(out, name, call)
    else:
        emit(out, f"@llvm.{plain}", (), *(targets_of(out, call) or [ir.Register("_")]), *given)


def _in_steps(out: FunctionTranslation, name: str, type: Scalar, given: Sequence[ir.Operand]) -> None:
    """Write the steps of an intrinsic that computes a number."""

    def step(operation: str, sign: str, *operands: ir.Operand, flag: str = "") -> ir.Register:
        form = kind(out, type, sign)
        target = new_register(out, form)
        words = (operation, form, *filter(None, [flag]))
        emit(out, "binary" if len(operands) > 1 else "unary", words, target, *operands)
        return target

    count, steps = STEPS[name]
    if len(given) != count:
        raise IrError(f"expected {count} operands of {name}")
    found = steps(step, bits(out, type), given)
    if out.line.result:
        emit(out, "mov", (kind(out, type),), *results(out, type), found)


def _of_nothing(name: str, given: Sequence[ir.Operand]) -> ir.Number:
    """What is said of what the compiler does not know: that it is no constant, and how large an object may be."""
    if name == "is.constant":
        return ir.Number(0)
    return ir.Number(0 if given[1] == ir.Number(1) else (1 << 64) - 1)


_HINTS = re.compile(r"\s*(?:pause|rep;?\s*nop|nop|yield|isb|)\s*;?\s*")
"""The assembly that does nothing but wait, or keep the compiler from moving accesses."""


def _assembly(out: FunctionTranslation, reader: TextReader) -> None:
    text = next((word for word in reader.words[reader.place :] if word.startswith('"')), '""')[1:-1]
    if not _HINTS.fullmatch(text) or out.line.result:
        raise IrError(f"the assembly {text[:40]!r} is not understood")


# control


def _return(out: FunctionTranslation, reader: TextReader) -> None:
    type = reader.type()
    if type != VOID:
        value = scalars(out, reader.operand(type))
        for number, (scalar, part) in enumerate(value):
            name = RESULT if len(value) == 1 else f"{RESULT}.{number}"
            emit(out, "mov", (kind(out, scalar),), ir.Register(name), part)
    emit(out, "ret", ())


@dataclass
class FunctionBlocks:
    """The blocks of a function while they are translated: their phis, and ways to them that are still to be written."""

    phis: Mapping[str, list[BodyLine]]
    passed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Of blocks that an assertion fails in: the block before, and the other one that it may go on in."""
    beginnings: Mapping[str, BodyLine] = field(default_factory=dict)
    block: str = ENTRY
    edges: list[tuple[str, str, BodyLine]] = field(default_factory=list)


def _label(name: str) -> str:
    return f"L{name}"


def _branch(out: FunctionTranslation, reader: TextReader, blocks: FunctionBlocks) -> None:
    if reader.take("label"):
        _go(out, blocks, reader.next()[1:])
        return
    reader.expect("i1")
    decider = reader.operand(IntType(1)).operand
    targets = []
    for _ in range(2):
        reader.expect(",")
        reader.expect("label")
        targets.append(unquoted(reader.next()))
    if not isinstance(decider, ir.Register):
        held = new_register(out, "pred")
        emit(out, "mov", ("pred",), held, decider)
        decider = held
    emit(out, "bra", (), ir.SymbolRef(_way(out, blocks, targets[0])), guard=ir.KernelGuard(decider.name))
    _go(out, blocks, targets[1])


def _switch(out: FunctionTranslation, reader: TextReader, blocks: FunctionBlocks) -> None:
    value = reader.typed()
    reader.expect(",")
    reader.expect("label")
    otherwise = unquoted(reader.next())
    reader.expect("[")
    cases: list[tuple[ir.Operand, BodyLine]] = []
    while not reader.take("]"):
        case = reader.typed()
        reader.expect(",")
        reader.expect("label")
        equal = new_register(out, "pred")
        emit(out, "compare", ("eq", kind(out, value.type)), equal, value.operand, case.operand)
        target = unquoted(reader.next())
        cases.append((case.operand, blocks.beginnings.get(target, NO_LINE)))
        emit(out, "bra", (), ir.SymbolRef(_way(out, blocks, target)), guard=ir.KernelGuard(equal.name))
    if _is_of_orders(blocks.beginnings.get(otherwise, NO_LINE), cases):
        relaxed = new_register(out, "pred")
        emit(out, "compare", ("eq", kind(out, value.type)), relaxed, value.operand, ir.Number(0))
        emit(out, "bra", (), ir.SymbolRef(_way(out, blocks, otherwise)), guard=ir.KernelGuard(relaxed.name))
        emit(out, "refused", (), ir.SymbolRef("an atomic access in an order that it may not have is not understood"))
    _go(out, blocks, otherwise)


def _is_of_orders(line: BodyLine, cases: Sequence[tuple[ir.Operand, BodyLine]]) -> bool:
    """Decide whether a switch chooses the order of an access, which the program computes: relaxed in no case (C17
    7.17.3), and in each case the same access in another order.
    """

    def access(line: BodyLine) -> list[str]:
        return [word for word in line.words if word not in ORDERS]

    atomic = line.name == "atomicrmw" or (line.name in ("load", "store") and "atomic" in line.words[:3])
    known = all(isinstance(case, ir.Number) and 1 <= case.value <= 5 for case, _ in cases)
    return atomic and "monotonic" in line.words and known and all(access(other) == access(line) for _, other in cases)


def _way(out: FunctionTranslation, blocks: FunctionBlocks, target: str) -> str:
    """Return the label of a way to a block: of its own, or of where its phis are given their values first."""
    if not blocks.phis.get(target):
        return _label(target)
    label = f"{_label(target)}'{len(out.code)}"
    blocks.edges.append((label, target, out.line))
    return label


def _go(out: FunctionTranslation, blocks: FunctionBlocks, target: str) -> None:
    """Write the way to a block from the one at hand: its phis, and a jump."""
    line, phis = out.line, blocks.phis.get(target, [])
    moves: list[tuple[str, ir.Register, ir.Operand]] = []
    for phi in phis:
        out.line = phi._replace(place=phi.place or line.place)
        reader = TextReader(phi.words, out.module.names)
        reader.expect("phi")
        while reader.take(*_FAST):
            pass
        type = reader.type()
        while True:
            reader.expect("[")
            value = reader.operand(type)
            reader.expect(",")
            source = unquoted(reader.next())
            reader.expect("]")
            if source == blocks.block or (blocks.block == ENTRY and source not in blocks.phis):
                pairs = zip(results(out, type), scalars(out, value), strict=True)
                moves += [(kind(out, scalar), register, part) for register, (scalar, part) in pairs]
                break
            if not reader.take(","):
                raise IrError(f"no value of a phi for the block {blocks.block}")
    out.line = line
    if len(moves) > 1:  # at once: a phi may be the value of another one
        held = [(form, new_register(out, form), part) for form, _, part in moves]
        for form, register, part in held:
            emit(out, "mov", (form,), register, part)
        moves = [(form, register, copy) for (form, register, _), (_, copy, _) in zip(moves, held, strict=True)]
    for form, register, part in moves:
        emit(out, "mov", (form,), register, part)
    emit(out, "bra", (), ir.SymbolRef(_label(target)))


def _invoked(out: FunctionTranslation, reader: TextReader, blocks: FunctionBlocks) -> None:
    """Write a call that may throw. What is thrown is refused where it is, so the call comes back."""
    _call(out, reader)
    place = max(number for number, word in enumerate(reader.words) if word == "to")
    _go(out, blocks, unquoted(reader.words[place + 2]))


_CONTROL: Mapping[str, Callable[[FunctionTranslation, TextReader, FunctionBlocks], None]] = {
    "br": _branch,
    "switch": _switch,
    "invoke": _invoked,
}

_PLAIN: Mapping[str, Callable[[FunctionTranslation, TextReader], None]] = {
    "load": _load,
    "store": _store,
    "fence": _fence,
    "cmpxchg": _cmpxchg,
    "atomicrmw": _atomicrmw,
    "alloca": _alloca,
    "getelementptr": _getelementptr,
    **dict.fromkeys(_BINARY, _binary),
    "fneg": _fneg,
    **dict.fromkeys(("icmp", "fcmp"), _compare),
    **dict.fromkeys((*_CAST_SIGNS, "ptrtoint", "inttoptr", "bitcast", "addrspacecast", "ptrtoaddr"), _cast),
    "select": _select,
    "freeze": _freeze,
    "extractvalue": _extractvalue,
    "insertvalue": _insertvalue,
    "extractelement": _extractelement,
    "insertelement": _insertelement,
    "shufflevector": _shufflevector,
    "call": _call,
    "ret": _return,
    "unreachable": lambda out, reader: emit(out, "unreachable", ()),
}
"""The instructions by name, each with what translates it."""


def translated(
    module: ModuleText,
    debug: DebugInformation,
    function: FunctionText,
    lines: Mapping[str, Sequence[str]],
    defined: frozenset[str],
    library: bool,
    dialect: KernelDialect | None = None,
) -> tuple[ir.KernelFunction, tuple[str, ...]]:
    """Return a function, and the names of the globals that it mentions. Raises ``InputError`` where it is not of LLVM.

    ``lines``: the source by file, as far as it is known. ``defined``: the functions that have a body.
    """
    assert function.body is not None
    body = body_of(function.body, function.line)
    out = FunctionTranslation(module, debug, function, lines, defined, dialect=dialect)
    try:
        parameters, results_ = _head(out)
        _name_variables(out, body)
    except IrError as error:
        raise debug.wrong(error, module.path, function.line, _described(function)) from None
    phis = {block.label: [line for line in block.lines if line.name == "phi"] for block in body.blocks}
    beginnings = {block.label: next(line for line in block.lines if line.name != "phi") for block in body.blocks}
    blocks = FunctionBlocks(phis, _failing(body), beginnings)
    try:
        for block in body.blocks:
            _block(out, block, blocks)
    except IrError as error:
        raise debug.wrong(error, module.path, out.line.line or function.line, _described(function)) from None
    directives = (LIBRARY,) if library or _is_of_library(out) else ()
    done = ir.KernelFunction(
        function.name,
        False,
        results_,
        parameters,
        out.registers,
        tuple(out.variables),
        tuple(out.code),
        out.labels,
        {},
        directives,
        _line_of(out),
        called=_called_of(out),
    )
    return done, tuple(_mentioned(body))


def _block(out: FunctionTranslation, block: BodyBlock, blocks: FunctionBlocks) -> None:
    blocks.block = block.label
    if block.label != ENTRY:
        out.labels[_label(block.label)] = len(out.code)
    for line in block.lines:
        out.line, out.mode, out.doing = line, (PLAIN, None), ""
        if line.name == "phi":
            continue
        reader = TextReader(line.words, out.module.names)
        while reader.take("tail", "musttail", "notail"):
            pass
        name = reader.next()
        try:
            if name == "unreachable" and block.label in blocks.passed:
                blocks.block, target = blocks.passed[block.label]
                _go(out, blocks, target)
            elif name in _CONTROL:
                _CONTROL[name](out, reader, blocks)
            elif name in _PLAIN:
                _PLAIN[name](out, reader)
            else:
                raise IrError(f"the instruction {name} is not understood")
        except IrError as error:
            out.mode = (PLAIN, None)
            emit(out, "refused", (), ir.SymbolRef(str(error)))
    for label, target, line in blocks.edges:
        out.labels[label] = len(out.code)
        out.line, out.mode = line, (PLAIN, None)
        _go(out, blocks, target)
    blocks.edges.clear()


def _failing(body: Body) -> dict[str, tuple[str, str]]:
    """Return the blocks in which an assertion fails, each with the block before and where that goes on otherwise.

    A thread whose assertion has failed goes on as if it had not, so that what others wait for comes.
    """
    ending = {block.label for block in body.blocks if any("@__assert_fail" in line.words for line in block.lines)}
    found: dict[str, tuple[str, str]] = {}
    for block in body.blocks:
        *_, last = block.lines
        targets = [unquoted(word) for place, word in enumerate(last.words) if last.words[place - 1] == "label"]
        if last.name == "br" and len(targets) == 2:
            one, other = targets
            found |= {one: (block.label, other)} if one in ending else {}
            found |= {other: (block.label, one)} if other in ending else {}
    return found


_HEADERS = re.compile(r"/(?:libcxx/include|include/c\+\+|c\+\+/v\d)/|^c11\.h$|/poll_with_backoff\.h$")
"""The paths of headers of the C++ library."""


def _is_of_library(out: FunctionTranslation) -> bool:
    """Decide whether a function is of a header of the C++ library."""
    found = re.search(r"!dbg (![0-9]+)", out.function.head)
    return bool(found and _HEADERS.search(out.debug.file(found[1])))


def _called_of(out: FunctionTranslation) -> str:
    """Return the name that the source has for a function; nothing where the module does not say it."""
    found = re.search(r"!dbg (![0-9]+)", out.function.head)
    return out.debug.function_name(found[1]) if found else ""


def _line_of(out: FunctionTranslation) -> int:
    """Return the line of the source that a function begins at, or of the module."""
    node = _described(out.function)
    text = out.debug.node(node).get("line", "") if node else ""
    return int(text) if text.isdigit() else out.function.line


def _described(function: FunctionText) -> str:
    """Return the node of the metadata that describes a function; nothing where there is none."""
    found = re.search(r"!dbg (![0-9]+)", function.head)
    return found[1] if found else ""


def _head(out: FunctionTranslation) -> tuple[tuple[ir.Variable, ...], tuple[ir.Variable, ...]]:
    """Return the parameters of a function, one for each scalar, and its results."""
    words = tokens_of(out.function.head)
    place = next(number for number, word in enumerate(words) if word.startswith("@"))
    before = TextReader(words[1:place], out.module.names)
    type: Type = VOID
    while before.word:
        mark = before.place
        for _ in before.attributes():
            if before.word.isdigit():
                before.next()
        if before.word:
            type = before.type()
        if before.place == mark:
            break
    reader = TextReader(words[place + 1 :], out.module.names)
    reader.expect("(")
    parameters: list[ir.Variable] = []
    count = 0

    def parameter() -> None:
        nonlocal count
        if reader.take("..."):
            return
        of = reader.type()
        for _ in reader.attributes():
            pass
        name = reader.next() if reader.word.startswith("%") else f"%{count}"
        count += 1
        leaves = list(out.module.names.layout.leaves(of))
        for number, (_, scalar) in enumerate(leaves):
            register = name if isinstance(of, Scalar) else f"{name}.{number}"
            form = kind(out, scalar)
            out.registers[register] = form
            parameters.append(ir.Variable(register, "reg", form, 8, 8))

    reader.listed(")", parameter)
    leaves = [scalar for _, scalar in out.module.names.layout.leaves(type)]
    names = [RESULT] if len(leaves) == 1 else [f"{RESULT}.{number}" for number in range(len(leaves))]
    out.registers |= {name: kind(out, scalar) for name, scalar in zip(names, leaves, strict=True)}
    found = tuple(ir.Variable(name, "reg", out.registers[name], 8, 8) for name in names)
    return tuple(parameters), found


def _name_variables(out: FunctionTranslation, body: Body) -> None:
    """Give the variables of the stack names: those of the source, with a number where several have one."""
    out.promoted = promoted(body, out.module.names) if out.dialect is None else {}
    out.accessed = only_accessed(body)
    out.declared = body.declared
    if out.dialect is not None and out.dialect.components:
        out.components = BodyComponents(body, out.module.names)
    taken: set[str] = set()
    for line in body.lines:
        if line.name != "alloca":
            continue
        node = body.declared.get(line.result, "")
        plain = (out.debug.name(node) if node else "") or line.result
        name, number = plain, 1
        while name in taken:
            number += 1
            name = f"{plain}'{number}"
        taken.add(name)
        if line.result in out.promoted:
            out.called[line.result] = name
            out.registers[name] = kind(out, out.promoted[line.result].type)
        else:
            out.called[line.result] = f"{out.function.name}.{name}"


def _mentioned(body: Body) -> Iterator[str]:
    """Yield the globals that the instructions of a body name."""
    for line in body.lines:
        for word in line.words:
            if word.startswith("@"):
                yield unquoted(word)
