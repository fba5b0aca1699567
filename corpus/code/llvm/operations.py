"""Instructions of LLVM that compute, as instructions of the intermediate representation: one for each scalar.

%3 = add nsw <2 x i32> %1, %2          binary add.s32 %3.0, %1.0, %2.0, nsw;  binary add.s32 %3.1, %1.1, %2.1, nsw
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from corpus.code import ir
from corpus.code.calls import CHECKS
from corpus.code.llvm.blocks import SANITIZER
from corpus.code.llvm.text import UNDEFINED, TextReader, TypedOperand
from corpus.code.llvm.types import (
    ArrayType,
    IntType,
    IrError,
    PointerType,
    Scalar,
    StructType,
    Type,
)
from corpus.code.llvm.writing import FunctionTranslation, bits, emit, kind, results, scalars

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

FAST_FLAGS = ("fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc")
"""What may be done to operations on floating-point numbers."""


def _binary(out: FunctionTranslation, reader: TextReader) -> None:
    name = reader.words[0]
    flags = []
    while reader.word in (*_FLAGS, *FAST_FLAGS):
        flags.append(reader.next())
    one = reader.typed()
    reader.expect(",")
    other = reader.operand(one.type)
    operation, sign = _BINARY[name]
    if SANITIZER in reader.words:
        flags = [CHECKS]
    pairs = zip(results(out, one.type), scalars(out, one), scalars(out, other), strict=True)
    for target, (scalar, left), (_, right) in pairs:
        words = (operation, kind(out, scalar, sign), *(flag for flag in flags if flag not in FAST_FLAGS))
        emit(out, "binary", words, target, left, right)


def _fneg(out: FunctionTranslation, reader: TextReader) -> None:
    while reader.take(*FAST_FLAGS):
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
    while reader.take(*_FLAGS, *FAST_FLAGS):
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
    while reader.take(*_FLAGS, *FAST_FLAGS):
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
    while reader.take(*FAST_FLAGS):
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
        sign = "u" if isinstance(scalar, PointerType) else "b"
        emit(out, "select", (kind(out, scalar, sign),), target, left, right, decider)


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


OPERATIONS: Mapping[str, Callable[[FunctionTranslation, TextReader], None]] = {
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
}
"""The instructions that compute, by name, each with what translates it."""
