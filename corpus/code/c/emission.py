"""Writes the instructions that C is translated to: accesses to objects, and conversions between types (C11 6.3).

Instructions that other languages do not have are those of ``corpus.code.c.meaning``: ``step`` moves an address by
slots, ``load``, ``store`` and ``update`` have the order of an atomic access as an operand. Example::

    while (atomic_load_explicit(&flag, memory_order_acquire) == 0) ;

    L'1: load.s32 t'1, [flag], 2
         setp.eq.s32 t'2, t'1, 0
         @t'2 bra L'1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pycparser import c_ast

from corpus.code import ir
from corpus.code.c.declarations import ModuleParts, place_of
from corpus.code.c.types import (
    INT,
    LONG,
    SIZE,
    VOID,
    CArray,
    CFunction,
    CPointer,
    CScalar,
    CStruct,
    CType,
    CVoid,
    bits,
    plain,
    scalars,
    size,
    slots,
)
from corpus.code.launch.creation import SLOT

PLAIN, SEQ_CST = -1, 5
"""The orders of accesses as operands have them: none, and the number that ``memory_order_seq_cst`` has."""

MOST_UNROLLED = 4_096
"""The most stores that an initialiser, ``memset`` or a copy of a struct may be."""


class TypedValue(NamedTuple):
    """A value: the operand that has it, its type, and the predicate that it is where it is a truth value."""

    operand: ir.Operand
    ctype: CType
    predicate: ir.Register | None = None


class ObjectPlace(NamedTuple):
    """Where an object is: in a register, or at an address."""

    ctype: CType
    register: ir.Register | None = None
    base: ir.Register | ir.SymbolRef | None = None


def number_of(value: int, kind: str) -> ir.Number:
    """Return a number as an operand of a kind."""
    return ir.Number(value % (1 << (64 if bits(kind) == 64 else 32)))


def register_kind(ctype: CType) -> str:
    """Return the kind of the register that has a value of a type: of 32 bits, or of 64."""
    if isinstance(ctype, CScalar):
        return ctype.kind if bits(ctype.kind) >= 32 else "s32"
    return "u64"


class CodeWriter:
    """The writer of a function's code. ``instructions`` and ``labels`` are what there is so far."""

    def __init__(self, parts: ModuleParts) -> None:
        self.parts, self.names = parts, parts.names
        self.instructions: list[ir.KernelInstruction] = []
        self.labels: dict[str, int] = {}
        self.registers: dict[str, str] = {}
        self.variables: list[ir.Variable] = []
        self._at: c_ast.Node | None = None
        self._count = 0

    def emit(self, name: str, words: Sequence[str], *operands: ir.Operand, guard: ir.KernelGuard | None = None) -> None:
        """Append an instruction, with the place of what is being translated."""
        file, line, column = place_of(self._at, self.names.path)
        text = self.parts.line_of(file, line)
        source = ir.SourceLine(file, line, column)
        self.instructions.append(ir.KernelInstruction(name, tuple(words), operands, guard, line, source, text=text))

    def new(self, kind: str) -> ir.Register:
        """Return a new register of a kind."""
        self._count += 1
        name = f"t'{self._count}"
        self.registers[name] = kind
        return ir.Register(name)

    def new_label(self) -> str:
        """Return a label that the function does not have yet."""
        self._count += 1
        return f"L'{self._count}"

    def label(self, name: str) -> None:
        """Put a label behind the last instruction."""
        self.labels[name] = len(self.instructions)

    def branch(self, label: str, predicate: ir.Register | None = None, when: bool = True) -> None:
        """Jump to a label, always or where a predicate is ``when``."""
        guard = None if predicate is None else ir.KernelGuard(predicate.name, not when)
        self.emit("bra", (), ir.SymbolRef(label), guard=guard)

    def move(self, kind: str, target: ir.Register, source: ir.Operand) -> None:
        """Append the move of a value to a register of the function."""
        self.emit("mov", (kind,), target, source)

    def compute(self, opcode: str, kind: str, *operands: ir.Operand) -> ir.Register:
        """Return a new register of a kind with what an instruction computes."""
        target = self.new(kind)
        name, *words = opcode.split(".")
        self.emit(name, words, target, *operands)
        return target

    # objects

    def inside(self, place: ObjectPlace, ctype: CType, slot: int) -> ObjectPlace:
        """Return the place of what begins at a slot of an object."""
        assert place.base is not None
        return ObjectPlace(ctype, None, self.stepped(place.base, slot))

    def stepped(self, base: ir.Register | ir.SymbolRef, slot: int) -> ir.Register | ir.SymbolRef:
        """Return an address so many slots further on."""
        if isinstance(base, ir.SymbolRef):
            return ir.SymbolRef(base.name, base.offset + slot * SLOT)
        return base if slot == 0 else self.compute("step", "u64", base, ir.Number(slot), ir.Number(1))

    def load(self, place: ObjectPlace, order: ir.Operand | None = None) -> TypedValue:
        """Return what an object holds; of an array, the address of its first element."""
        match place.ctype:
            case CArray(element):
                assert place.base is not None
                return TypedValue(place.base, CPointer(element))
            case CFunction():
                assert place.base is not None
                return TypedValue(place.base, CPointer(place.ctype))
            case CStruct() | CVoid() if place.register is None:
                raise self.names.wrong(self._at, "a struct as a value is not understood here")
        if place.register is not None:
            return TypedValue(place.register, plain(place.ctype))
        target = self.new(register_kind(place.ctype))
        self.emit("load", (memory_kind(place.ctype),), target, self.memory(place), order or implied(place.ctype))
        return TypedValue(target, plain(place.ctype))

    def memory(self, place: ObjectPlace) -> ir.MemoryOperand:
        """Return the operand that is the memory of an object."""
        assert place.base is not None
        if isinstance(place.base, ir.SymbolRef):
            return ir.MemoryOperand(place.base)
        return ir.MemoryOperand(place.base)

    def store(self, place: ObjectPlace, value: TypedValue, order: ir.Operand | None = None) -> TypedValue:
        """Give an object a value, and return the value as the object has it."""
        new = self.converted(value, plain(place.ctype))
        if place.register is not None:
            self.move(register_kind(place.ctype), place.register, new.operand)
            return TypedValue(place.register, plain(place.ctype))
        kind = memory_kind(place.ctype)
        self.emit("store", (kind,), self.memory(place), new.operand, order or implied(place.ctype))
        return new

    def copy(self, target: ObjectPlace, source: ObjectPlace) -> None:
        """Append the copy of an object to another place, scalar by scalar."""
        if slots(target.ctype) > MOST_UNROLLED:
            raise self.names.wrong(self._at, f"a copy of more than {MOST_UNROLLED} elements is not understood")
        every = list(enumerate(scalars(target.ctype)))
        values = [self.load(self.inside(source, plain(ctype), slot)) for slot, ctype in every]
        for (slot, ctype), value in zip(every, values, strict=True):
            self.store(self.inside(target, plain(ctype), slot), value)

    # conversions

    def converted(self, value: TypedValue, ctype: CType) -> TypedValue:
        """Return a value as one of a type (C11 6.3)."""
        ctype = plain(ctype)
        if isinstance(value.ctype, CArray | CFunction):
            value = TypedValue(value.operand, CPointer(value.ctype))
        match value.ctype, ctype:
            case one, other if one == other:
                return value._replace(ctype=ctype)
            case _, CVoid():
                return TypedValue(ir.Number(0), VOID)
            case CPointer() | CScalar(), CScalar("bool"):
                return self.truth(self.true(value))
            case CPointer(), CPointer(target):
                self._of_type(value.operand, target)
                return value._replace(ctype=ctype, predicate=None)
            case CScalar(), CPointer():
                return TypedValue(self.converted(value, LONG).operand, ctype)
            case CPointer(), CScalar(kind) if bits(kind) == 64 and kind[0] != "f":
                return TypedValue(value.operand, ctype)
            case CPointer(), CScalar(kind) if kind[0] != "f":
                return self.converted(TypedValue(value.operand, SIZE), ctype)
            case CScalar(one), CScalar(kind):
                return TypedValue(self._number(value.operand, one, kind), ctype)
        raise self.names.expected(self._at, "a value of this type cannot be converted")

    def _of_type(self, operand: ir.Operand, ctype: CType) -> None:
        """Have the memory that malloc has just given be objects of a type."""
        last = self.instructions[-1] if self.instructions else None
        if last is not None and last.name == "malloc" and last.operands[0] == operand and ctype != VOID:
            words = (*last.operands[:2], ir.Number(size(ctype)), ir.Number(slots(ctype)))
            self.instructions[-1] = last._replace(operands=words)

    def _number(self, operand: ir.Operand, one: str, kind: str) -> ir.Operand:
        """Return a number of one kind as one of another kind."""
        source = one if one[0] == "f" or bits(one) >= 32 else "s32"
        wide = kind if kind[0] == "f" or bits(kind) >= 32 else "s32"
        if isinstance(operand, ir.Number) and "f" not in (source[0], wide[0]):
            width = bits(kind)
            held = operand.value % (1 << bits(source))
            known = held - (1 << bits(source)) if source[0] == "s" and held >> bits(source) - 1 else held
            small = known % (1 << width)
            return number_of(small - (1 << width) if kind[0] == "s" and small >> width - 1 else small, wide)
        if source[0] == "f" and wide[0] != "f":
            operand, source = self.compute(f"cvt.rzi.{wide}.{source}", wide, operand), wide
        elif wide[0] == "f":
            if source != wide:
                operand = self.compute(f"cvt.rn.{wide}.{source}", wide, operand)
            return operand
        if bits(source) < bits(wide):
            operand = self.compute(f"cvt.{wide[0]}64.{source}", wide, operand)
        elif bits(source) > bits(wide):
            operand = self.compute("cvt.u32.u64", wide, operand)
        width = bits(kind)
        if width < 32 and (bits(one) > width or one[0] != kind[0]) and not (one in ("u8", "bool") and width == 16):
            if kind[0] == "u":
                return self.compute("and.b32", "s32", operand, ir.Number((1 << width) - 1))
            up = self.compute("shl.b32", "s32", operand, ir.Number(32 - width))
            return self.compute("shr.s32", "s32", up, ir.Number(32 - width))
        return operand

    def true(self, value: TypedValue) -> ir.Register:
        """Return the predicate that a value is not 0."""
        if value.predicate is not None:
            return value.predicate
        if isinstance(value.ctype, CPointer | CArray | CFunction):
            return self.compute("setp.ne.u64", "pred", value.operand, ir.Number(0))
        if not isinstance(value.ctype, CScalar):
            raise self.names.expected(self._at, "expected a number or a pointer")
        kind = register_kind(value.ctype)
        return self.compute(f"setp.ne.{kind}", "pred", value.operand, ir.Number(0))

    def truth(self, predicate: ir.Register) -> TypedValue:
        """Return a predicate as 0 or 1."""
        value = self.compute("selp.s32", "s32", ir.Number(1), ir.Number(0), predicate)
        return TypedValue(value, INT, predicate)


def implied(ctype: CType) -> ir.Number:
    """Return the order of an access that says none: of an atomic object, the strongest."""
    return ir.Number(SEQ_CST if isinstance(ctype, CScalar | CPointer) and ctype.atomic else PLAIN)


def memory_kind(ctype: CType) -> str:
    """Return the kind of an access to an object: that of a number, ``ptr``, or ``handle`` for the name of a thread."""
    if isinstance(ctype, CScalar):
        return register_kind(ctype)
    return "handle" if isinstance(ctype, CPointer) and ctype.handle else "ptr"
