"""Functions of C as instructions: statements become branches, expressions become instructions on registers.

A variable whose address nobody takes is a register; others are memory of the thread. Operands are evaluated from left
to right. Instructions that other languages do not have are those of ``corpus.kernels.c.meaning``: ``step`` moves an
address by slots, ``load``, ``store`` and ``update`` have the order of an atomic access as an operand. Example::

    while (atomic_load_explicit(&flag, memory_order_acquire) == 0) ;

    L1: load.s32 t'1, [flag], 2
        setp.eq.s32 t'2, t'1, 0
        @t'2 bra L1
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pycparser import c_ast

from corpus.kernels import ir
from corpus.kernels.c.declarations import (
    MOST_SLOTS,
    CFunctionName,
    Enumerator,
    Names,
    StoredVariable,
    TypeName,
    characters,
    number,
    place_of,
)
from corpus.kernels.c.types import (
    CHARACTER,
    DOUBLE,
    INT,
    LONG,
    SIZE,
    SLOT,
    TRUTH,
    UNSIGNED,
    VOID,
    CArray,
    CFunction,
    CPointer,
    CScalar,
    CStruct,
    CType,
    CVoid,
    bits,
    common,
    member_slot,
    plain,
    promoted,
    scalars,
    size,
    slots,
)
from corpus.kernels.creation import OBJECTS
from corpus.kernels.specialiser import NotUnderstoodError

PLAIN, SEQ_CST = -1, 5
"""The orders of accesses as operands have them: none, and the number that ``memory_order_seq_cst`` has."""

RESULT = "result"
"""The register that has what a function returns."""

MOST_UNROLLED = 4_096
"""The most stores that an initialiser, ``memset`` or a copy of a struct may be."""

COMPARED = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
COMPUTED = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "&": "and", "|": "or", "^": "xor",
            "<<": "shl", ">>": "shr"}  # fmt: skip
UPDATED = ("add", "sub", "and", "or", "xor")
"""The operators that an atomic update does at once."""


class TypedValue(NamedTuple):
    """A value: the operand that has it, its type, and the predicate that it is where it is a truth value."""

    operand: ir.Operand
    ctype: CType
    predicate: ir.Register | None = None


class ObjectPlace(NamedTuple):
    """Where an object is: in a register, or at an address."""

    ctype: CType
    register: ir.Register | None = None
    base: ir.Register | ir.Symbol | None = None


@dataclass
class ModuleParts:
    """What the functions of a file have in common: names, variables that are found in functions, lines of source."""

    names: Names
    variables: dict[str, ir.Variable] = field(default_factory=dict)
    sources: dict[str, Sequence[str]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    builtins: Mapping[str, Builtin] = field(default_factory=dict)

    def free_name(self, name: str) -> str:
        """Return a name that no variable of the module has."""
        found = next(each for n in range(1, 1 << 20) if (each := name if n == 1 else f"{name}.{n}") not in self.taken)
        self.taken.add(found)
        return found

    def line_of(self, file: str, line: int) -> str:
        """Return a line of source without the blanks around it."""
        lines = self.sources.get(file, ())
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def number_of(value: int, kind: str) -> ir.Number:
    """Return a number as an operand of a kind."""
    return ir.Number(value % (1 << (64 if bits(kind) == 64 else 32)))


def register_kind(ctype: CType) -> str:
    """Return the kind of the register that has a value of a type: of 32 bits, or of 64."""
    if isinstance(ctype, CScalar):
        return ctype.kind if bits(ctype.kind) >= 32 else "s32"
    return "u64"


class FunctionTranslator:
    """The translator of one function. ``instructions`` and ``labels`` are what it has made so far."""

    def __init__(self, parts: ModuleParts, name: str, ctype: CFunction, body: c_ast.Compound) -> None:
        self.parts, self.names, self.name = parts, parts.names, name
        self.instructions: list[ir.KernelInstruction] = []
        self.labels: dict[str, int] = {}
        self.registers: dict[str, str] = {}
        self.variables: list[ir.Variable] = []
        self._ctype, self._body = ctype, body
        self._at: c_ast.Node | None = body
        self._count = 0
        self._breaks: list[str] = []
        self._continues: list[str] = []
        self._addressed = frozenset(_addressed(body))

    def translated(self, parameters: Sequence[tuple[str, CType]]) -> tuple[ir.Variable, ...]:
        """Translate the function and return its parameters."""
        self.names.enter()
        found: list[ir.Variable] = []
        copied: list[tuple[str, CType, ir.Register]] = []
        for name, ctype in parameters:
            if isinstance(ctype, CStruct):
                copied.append((name, ctype, self.new("u64")))
                register = copied[-1][2]
            elif name in self._addressed:
                copied.append((name, ctype, self.new(register_kind(ctype))))
                register = copied[-1][2]
            else:
                register = self._declared_register(name, ctype)
            found.append(ir.Variable(register.name, "reg", self.registers[register.name], SLOT, SLOT))
        for name, ctype, register in copied:
            place = self._object(name, ctype)
            if isinstance(ctype, CStruct):
                self.copy(place, ObjectPlace(ctype, None, register))
            else:
                self.store(place, TypedValue(register, plain(ctype)))
        self.statement(self._body)
        self._return(None)
        self.names.leave()
        return tuple(found)

    # instructions

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
        self.emit("bra", (), ir.Symbol(label), guard=guard)

    def move(self, kind: str, target: ir.Register, source: ir.Operand) -> None:
        """Give a register a value."""
        self.emit("mov", (kind,), target, source)

    def compute(self, opcode: str, kind: str, *operands: ir.Operand) -> ir.Register:
        """Return a new register of a kind with what an instruction computes."""
        target = self.new(kind)
        name, *words = opcode.split(".")
        self.emit(name, words, target, *operands)
        return target

    # statements

    def statement(self, node: c_ast.Node | None) -> None:
        """Translate a statement; one that is not understood is an instruction that is not."""
        outer, self._at = self._at, node or self._at
        mark = len(self.instructions)
        try:
            self._statement(node)
        except NotUnderstoodError as error:
            if isinstance(node, c_ast.Compound | c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.If | c_ast.Label):
                raise
            del self.instructions[mark:]
            file, line, column = error.path or "", error.line or 1, error.column or 1
            source = ir.SourceLine(file, line, column)
            text = self.parts.line_of(file, line)
            message = ir.Symbol(error.message)
            self.instructions.append(ir.KernelInstruction("refused", (), (message,), None, line, source, text=text))
        self._at = outer

    def _statement(self, node: c_ast.Node | None) -> None:
        match node:
            case None | c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.StaticAssert() | c_ast.Typename():
                pass
            case c_ast.Compound():
                self.names.enter()
                for each in node.block_items or ():
                    self.statement(each)
                self.names.leave()
            case c_ast.DeclList():
                for each in node.decls:
                    self.statement(each)
            case c_ast.Typedef():
                self.names.scopes[-1][node.name] = TypeName(self.names.typed(node.type))
            case c_ast.Decl():
                self._declare(node)
            case c_ast.If():
                otherwise, end = self.new_label(), self.new_label()
                self.jump(node.cond, otherwise, False)
                self.statement(node.iftrue)
                if node.iffalse is not None:
                    self.branch(end)
                self.label(otherwise)
                self.statement(node.iffalse)
                self.label(end)
            case c_ast.While():
                head, end = self.new_label(), self.new_label()
                self.label(head)
                self.jump(node.cond, end, False)
                self._loop(node.stmt, head, end)
                self.branch(head)
                self.label(end)
            case c_ast.DoWhile():
                head, again, end = self.new_label(), self.new_label(), self.new_label()
                self.label(head)
                self._loop(node.stmt, again, end)
                self.label(again)
                self.jump(node.cond, head, True)
                self.label(end)
            case c_ast.For():
                head, again, end = self.new_label(), self.new_label(), self.new_label()
                self.names.enter()
                if isinstance(node.init, c_ast.DeclList):
                    self.statement(node.init)
                elif node.init is not None:
                    self.effect(node.init)
                self.label(head)
                if node.cond is not None:
                    self.jump(node.cond, end, False)
                self._loop(node.stmt, again, end)
                self.label(again)
                if node.next is not None:
                    self.effect(node.next)
                self.branch(head)
                self.label(end)
                self.names.leave()
            case c_ast.Break() | c_ast.Continue():
                labels = self._breaks if isinstance(node, c_ast.Break) else self._continues
                if not labels:
                    raise self.names.expected(node, "expected a loop around break and continue")
                self.branch(labels[-1])
            case c_ast.Switch():
                self._switch(node)
            case c_ast.Return():
                self._return(node.expr)
            case c_ast.Goto():
                self.branch(f"{node.name}'")
            case c_ast.Label():
                if f"{node.name}'" in self.labels:
                    raise self.names.expected(node, f"the label {node.name} is there twice")
                self.label(f"{node.name}'")
                self.statement(node.stmt)
            case c_ast.Case() | c_ast.Default():
                raise self.names.wrong(node, "a case within another statement of a switch is not understood")
            case _:
                self.effect(node)

    def _loop(self, body: c_ast.Node, again: str, end: str) -> None:
        self._breaks.append(end)
        self._continues.append(again)
        self.statement(body)
        self._breaks.pop()
        self._continues.pop()

    def _switch(self, node: c_ast.Switch) -> None:
        value = self.converted(self.value(node.cond), LONG)
        end = self.new_label()
        items = node.stmt.block_items or () if isinstance(node.stmt, c_ast.Compound) else (node.stmt,)
        names: dict[int, str] = {}
        default = end
        for at, each in enumerate(items):
            if isinstance(each, c_ast.Case):
                chosen = self.names.constant(each.expr)
                if chosen is None:
                    raise self.names.expected(each, "expected a constant")
                names[at] = self.new_label()
                equal = self.compute("setp.eq.s64", "pred", value.operand, number_of(chosen, "s64"))
                self.branch(names[at], equal)
            elif isinstance(each, c_ast.Default):
                default = names[at] = self.new_label()
        self.branch(default)
        self.names.enter()
        self._breaks.append(end)
        for at, each in enumerate(items):
            if at in names:
                self.label(names[at])
                for inner in each.stmts or ():
                    self.statement(inner)
            else:
                self.statement(each)
        self._breaks.pop()
        self.names.leave()
        self.label(end)

    def _return(self, node: c_ast.Node | None) -> None:
        result = self._ctype.result
        if node is not None:
            if isinstance(result, CStruct):
                raise self.names.wrong(node, "a function that returns a struct is not understood")
            value = self.value(node) if result != VOID else self.effect(node)
            if value is not None and result != VOID:
                kind = register_kind(result)
                self.registers[RESULT] = kind
                self.move(kind, ir.Register(RESULT), self.converted(value, plain(result)).operand)
        self.emit("ret", ())

    # declarations

    def _declared_register(self, name: str, ctype: CType) -> ir.Register:
        free = next(
            each for n in range(1, 1 << 20) if (each := name if n == 1 else f"{name}'{n}") not in self.registers
        )
        self.registers[free] = register_kind(ctype)
        self.names.scopes[-1][name] = StoredVariable(ctype, ir.Register(free), True)
        return ir.Register(free)

    def _object(self, name: str, ctype: CType) -> ObjectPlace:
        """Declare a variable that is memory of the thread."""
        own = self.parts.free_name(name)
        self.variables.append(ir.Variable(own, "local", "b64", slots(ctype) * SLOT, SLOT))
        symbol = ir.Symbol(own)
        self.names.scopes[-1][name] = StoredVariable(ctype, symbol, False)
        return ObjectPlace(ctype, None, symbol)

    def _declare(self, node: c_ast.Decl) -> None:
        if isinstance(node.type, c_ast.Struct | c_ast.Enum | c_ast.Union):
            self.names.typed(c_ast.TypeDecl(None, [], None, node.type, node.coord))
            return
        ctype = self.names.typed(node)
        if isinstance(ctype, CFunction):
            self.names.scopes[-1][node.name] = CFunctionName(ctype)
            return
        if isinstance(ctype, CArray) and ctype.count is None:
            ctype = counted(self.names, ctype, node.init)
        if slots(ctype) > MOST_SLOTS:
            raise self.names.wrong(node, f"an object of more than {MOST_SLOTS} elements is not understood")
        if "static" in node.storage or "extern" in node.storage or "_Thread_local" in node.storage:
            self.names.scopes[-1][node.name] = declared(self.parts, node, ctype)
            return
        if isinstance(ctype, CArray | CStruct) or node.name in self._addressed:
            place = self._object(node.name, ctype)
        else:
            place = ObjectPlace(ctype, self._declared_register(node.name, ctype))
        if node.init is not None:
            self.initialise(place, node.init)

    def initialise(self, place: ObjectPlace, node: c_ast.Node) -> None:
        """Give an object what an initialiser has; what that does not mention is 0."""
        if isinstance(place.ctype, CScalar | CPointer):
            (inner,) = node.exprs if isinstance(node, c_ast.InitList) and len(node.exprs) == 1 else (node,)
            self.store(place, self.value(inner))
            return
        given = dict(initialisers(self.names, place.ctype, node))
        if place.base is not None and not isinstance(node, c_ast.InitList) and not _is_string(node):
            self.copy(place, self.place(node))
            return
        for at, ctype in enumerate(scalars(place.ctype)):
            if at >= MOST_UNROLLED:
                raise self.names.wrong(node, f"an initialiser of more than {MOST_UNROLLED} elements is not understood")
            inner = given.get(at)
            value = TypedValue(ir.Number(inner or 0), INT) if not isinstance(inner, c_ast.Node) else self.value(inner)
            self.store(self.inside(place, ctype, at), value)

    # places

    def inside(self, place: ObjectPlace, ctype: CType, slot: int) -> ObjectPlace:
        """Return the place of what begins at a slot of an object."""
        assert place.base is not None
        return ObjectPlace(ctype, None, self.stepped(place.base, slot))

    def stepped(self, base: ir.Register | ir.Symbol, slot: int) -> ir.Register | ir.Symbol:
        """Return an address so many slots further on."""
        if isinstance(base, ir.Symbol):
            return ir.Symbol(base.name, base.offset + slot * SLOT)
        return base if slot == 0 else self.compute("step", "u64", base, ir.Number(slot), ir.Number(1))

    def place(self, node: c_ast.Node) -> ObjectPlace:
        """Return the place of an object that an expression names."""
        match node:
            case c_ast.ID():
                meant = self.names.find(node.name)
                if isinstance(meant, StoredVariable):
                    if meant.in_register:
                        assert isinstance(meant.place, ir.Register)
                        return ObjectPlace(meant.ctype, meant.place)
                    return ObjectPlace(meant.ctype, None, meant.place)
                if isinstance(meant, CFunctionName):
                    return ObjectPlace(meant.ctype, None, ir.Symbol(node.name))
                raise self.names.expected(node, f"{node.name} is not declared as a variable")
            case c_ast.UnaryOp(op="*"):
                return self.pointed(self.value(node.expr), node)
            case c_ast.StructRef():
                whole = self.place(node.name) if node.type == "." else self.pointed(self.value(node.name), node)
                if not isinstance(whole.ctype, CStruct):
                    raise self.names.expected(node, f"expected a struct before {node.type}{node.field.name}")
                if node.field.name not in whole.ctype.members:
                    raise self.names.expected(node, f"the struct has no member {node.field.name}")
                slot = member_slot(whole.ctype, node.field.name)
                return self.inside(whole, whole.ctype.members[node.field.name], slot)
            case c_ast.ArrayRef():
                return self.pointed(self.added(self.value(node.name), self.value(node.subscript), node), node)
            case c_ast.CompoundLiteral():
                ctype = self.names.typed(node.type)
                if isinstance(ctype, CArray) and ctype.count is None:
                    ctype = counted(self.names, ctype, node.init)
                place = self._object(f"literal.{self.new_label()[2:]}", ctype)
                self.initialise(place, node.init)
                return place
        raise self.names.wrong(node, "an object by this expression is not understood")

    def pointed(self, value: TypedValue, node: c_ast.Node) -> ObjectPlace:
        """Return the place that a pointer points to."""
        if isinstance(value.ctype, CFunction):
            assert isinstance(value.operand, ir.Symbol | ir.Register)
            return ObjectPlace(value.ctype, None, value.operand)
        if not isinstance(value.ctype, CPointer) or value.ctype.handle:
            raise self.names.expected(node, "expected a pointer")
        if value.ctype.target == VOID:
            raise self.names.wrong(node, "an access by a pointer to void is not understood")
        if isinstance(value.operand, ir.Register | ir.Symbol):
            return ObjectPlace(value.ctype.target, None, value.operand)
        base = self.new("u64")
        self.move("u64", base, value.operand)
        return ObjectPlace(value.ctype.target, None, base)

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
        if isinstance(place.base, ir.Symbol):
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
        """Copy an object, member by member."""
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

    # conditions

    def jump(self, node: c_ast.Node, label: str, when: bool) -> None:
        """Jump to a label where an expression is true, or false."""
        outer, self._at = self._at, node if getattr(node, "coord", None) else self._at
        known = self.names.constant(node)
        match node:
            case _ if known is not None:
                if bool(known) is when:
                    self.branch(label)
            case c_ast.UnaryOp(op="!"):
                self.jump(node.expr, label, not when)
            case c_ast.BinaryOp(op="&&" | "||"):
                if (node.op == "&&") is when:
                    skipped = self.new_label()
                    self.jump(node.left, skipped, not when)
                    self.jump(node.right, label, when)
                    self.label(skipped)
                else:
                    self.jump(node.left, label, when)
                    self.jump(node.right, label, when)
            case c_ast.ExprList():
                for each in node.exprs[:-1]:
                    self.effect(each)
                self.jump(node.exprs[-1], label, when)
            case _:
                self.branch(label, self.true(self.value(node)), when)
        self._at = outer

    def compared(self, operator: str, left: TypedValue, right: TypedValue) -> TypedValue:
        """Return what a comparison gives."""
        if isinstance(left.ctype, CScalar) and isinstance(right.ctype, CScalar):
            kind = common(left.ctype, right.ctype)
            operands = [self.converted(each, kind).operand for each in (left, right)]
            return self.truth(self.compute(f"setp.{COMPARED[operator]}.{kind.kind}", "pred", *operands))
        values = [each if not isinstance(each.ctype, CScalar) else self.converted(each, LONG) for each in (left, right)]
        return self.truth(self.compute(f"setp.{COMPARED[operator]}.u64", "pred", *(each.operand for each in values)))

    # expressions

    def effect(self, node: c_ast.Node) -> TypedValue | None:
        """Evaluate an expression whose value nobody needs."""
        outer, self._at = self._at, node if getattr(node, "coord", None) else self._at
        match node:
            case c_ast.ExprList():
                for each in node.exprs:
                    self.effect(each)
            case c_ast.Cast() if self.names.typed(node.to_type) == VOID:
                self.effect(node.expr)
            case c_ast.ID() | c_ast.Constant():
                pass
            case c_ast.UnaryOp(op="p++" | "p--" | "++" | "--"):
                self._counted(node, needed=False)
            case c_ast.TernaryOp():
                otherwise, end = self.new_label(), self.new_label()
                self.jump(node.cond, otherwise, False)
                self.effect(node.iftrue)
                self.branch(end)
                self.label(otherwise)
                self.effect(node.iffalse)
                self.label(end)
            case c_ast.Assignment():
                self._assign(node, needed=False)
            case c_ast.FuncCall():
                self._call(node)
            case _:
                self.value(node)
        self._at = outer
        return None

    def value(self, node: c_ast.Node) -> TypedValue:
        """Evaluate an expression."""
        outer, self._at = self._at, node if getattr(node, "coord", None) else self._at
        found = self._value(node)
        self._at = outer
        return found

    def _value(self, node: c_ast.Node) -> TypedValue:
        match node:
            case c_ast.Constant():
                return self._constant(node)
            case c_ast.ID():
                meant = self.names.find(node.name)
                if isinstance(meant, Enumerator):
                    return TypedValue(number_of(meant.value, "s32"), INT)
                return self.load(self.place(node))
            case c_ast.ExprList():
                for each in node.exprs[:-1]:
                    self.effect(each)
                return self.value(node.exprs[-1])
            case c_ast.Assignment():
                return self._assign(node, needed=True)
            case c_ast.TernaryOp():
                return self._chosen(node)
            case c_ast.BinaryOp(op="&&" | "||"):
                target, end = self.new("s32"), self.new_label()
                self.move("s32", target, ir.Number(int(node.op == "||")))
                self.jump(node.left, end, node.op == "||")
                self.jump(node.right, end, node.op == "||")
                self.move("s32", target, ir.Number(int(node.op == "&&")))
                self.label(end)
                return TypedValue(target, INT)
            case c_ast.BinaryOp():
                left = self._kept(self.value(node.left), node.right)
                return self.operated(node.op, left, self.value(node.right), node)
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.Cast():
                ctype = self.names.typed(node.to_type)
                value = self.value(node.expr)
                if isinstance(ctype, CPointer) and isinstance(value.ctype, CPointer):
                    self._check_cast(node, value.ctype.target, ctype.target)
                return self.converted(value, ctype)
            case c_ast.FuncCall():
                found = self._call(node)
                if found is None:
                    raise self.names.expected(node, "expected a value, and the function returns none")
                return found
            case c_ast.StructRef() | c_ast.ArrayRef() | c_ast.CompoundLiteral():
                return self.load(self.place(node))
        raise self.names.wrong(node, "an expression of this kind is not understood")

    def _kept(self, value: TypedValue, other: c_ast.Node) -> TypedValue:
        """Return a value that stays as it is while another operand changes variables."""
        changes = any(
            isinstance(each, c_ast.Assignment | c_ast.UnaryOp) and getattr(each, "op", "")[-1] in "=+-"
            for each in _nodes(other)
        )
        if not changes or not isinstance(value.operand, ir.Register):
            return value
        copied = self.new(register_kind(value.ctype))
        self.move(register_kind(value.ctype), copied, value.operand)
        return TypedValue(copied, value.ctype)

    def _check_cast(self, node: c_ast.Node, one: CType, other: CType) -> None:
        """Refuse a cast after which an object's elements would be others."""
        kinds = [[plain(each) for each in scalars(ctype)] for ctype in (one, other)]
        short = min(map(len, kinds))
        alike = all(_lies_alike(a, b) for a, b in zip(kinds[0][:short], kinds[1][:short], strict=True))
        if VOID not in (one, other) and not isinstance(one, CFunction) and not alike:
            raise self.names.wrong(node, "a cast between pointers to objects of other kinds is not understood")

    def _constant(self, node: c_ast.Constant) -> TypedValue:
        if node.type == "string" or str(node.value).startswith(('"', 'L"', 'u8"')):
            text = characters(str(node.value))
            name = self.parts.free_name("string.1")
            data = b"".join(each.to_bytes(SLOT, "little", signed=True) for each in text)
            self.parts.variables[name] = ir.Variable(name, OBJECTS, "b64", len(data), SLOT, data)
            return TypedValue(ir.Symbol(name), CPointer(CHARACTER))
        found = number(node)
        if found is not None:
            value, ctype = found
            return TypedValue(number_of(value, ctype.kind), ctype)
        try:
            real = float(str(node.value).rstrip("fFlL"))
        except ValueError:
            raise self.names.wrong(node, f"the constant {node.value} is not understood") from None
        (raw,) = struct.unpack("<Q", struct.pack("<d", real))
        return TypedValue(ir.Float(raw, 64), DOUBLE)

    def typeof(self, node: c_ast.Node) -> CType:
        """Return the type of an expression, of which nothing is evaluated; an array is one here."""
        kept = len(self.instructions), dict(self.labels), len(self.variables)
        try:
            if isinstance(node, c_ast.ID | c_ast.StructRef | c_ast.ArrayRef) or (
                isinstance(node, c_ast.UnaryOp) and node.op == "*"
            ):
                if not isinstance(node, c_ast.ID) or not isinstance(self.names.find(node.name), Enumerator):
                    return self.place(node).ctype
            if isinstance(node, c_ast.Constant) and (node.type == "string" or str(node.value).startswith('"')):
                return CArray(CHARACTER, len(characters(str(node.value))))
            return self.value(node).ctype
        finally:
            del self.instructions[kept[0] :]
            del self.variables[kept[2] :]
            self.labels = kept[1]

    def _chosen(self, node: c_ast.TernaryOp) -> TypedValue:
        known = self.names.constant(node.cond)
        if known is not None:
            return self.value(node.iftrue if known else node.iffalse)
        one, other = self.typeof(node.iftrue), self.typeof(node.iffalse)
        if isinstance(one, CScalar) and isinstance(other, CScalar):
            ctype: CType = common(one, other)
        elif VOID in (one, other):
            self.effect(node)
            return TypedValue(ir.Number(0), VOID)
        else:
            found = one if not isinstance(one, CScalar) and one != CPointer(VOID) else other
            ctype = CPointer(found.element) if isinstance(found, CArray) else plain(found)
        kind = register_kind(ctype)
        target, otherwise, end = self.new(kind), self.new_label(), self.new_label()
        self.jump(node.cond, otherwise, False)
        self.move(kind, target, self.converted(self.value(node.iftrue), ctype).operand)
        self.branch(end)
        self.label(otherwise)
        self.move(kind, target, self.converted(self.value(node.iffalse), ctype).operand)
        self.label(end)
        return TypedValue(target, ctype)

    def _unary(self, node: c_ast.UnaryOp) -> TypedValue:
        match node.op:
            case "&":
                place = self.place(node.expr)
                if place.base is None:
                    raise self.names.wrong(node, "the address of a register is not understood")
                return TypedValue(place.base, CPointer(place.ctype))
            case "*":
                return self.load(self.place(node))
            case "sizeof" | "_Alignof":
                named = isinstance(node.expr, c_ast.Typename)
                ctype = self.names.typed(node.expr) if named else self.typeof(node.expr)
                return TypedValue(ir.Number(size(ctype)), SIZE)
            case "!":
                predicate = self.true(self.value(node.expr))
                return self.truth(self.compute("not.pred", "pred", predicate))
            case "p++" | "p--" | "++" | "--":
                return self._counted(node, needed=True)
        value = self.value(node.expr)
        if not isinstance(value.ctype, CScalar):
            raise self.names.expected(node, f"expected a number after {node.op}")
        ctype = promoted(value.ctype)
        value = self.converted(value, ctype)
        kind = ctype.kind
        match node.op, value.operand:
            case "+", _:
                return value
            case "-", ir.Number(known):
                return TypedValue(number_of(-known, kind), ctype)
            case "-", _:
                return TypedValue(self.compute(f"neg.{kind.replace('u', 's')}", kind, value.operand), ctype)
            case "~", _:
                return TypedValue(self.compute(f"not.b{bits(kind)}", kind, value.operand), ctype)
        raise self.names.wrong(node, f"the operator {node.op} is not understood")

    def operated(self, operator: str, left: TypedValue, right: TypedValue, node: c_ast.Node) -> TypedValue:
        """Return what an operator computes of two values."""
        if operator in COMPARED:
            return self.compared(operator, left, right)
        if operator in ("+", "-") and not (isinstance(left.ctype, CScalar) and isinstance(right.ctype, CScalar)):
            return self.added(left, right, node, operator == "-")
        if not isinstance(left.ctype, CScalar) or not isinstance(right.ctype, CScalar):
            raise self.names.wrong(node, f"the operator {operator} on pointers is not understood")
        if operator in ("<<", ">>"):
            ctype = promoted(left.ctype)
            amount = self.converted(right, UNSIGNED).operand
            name = f"shl.b{bits(ctype.kind)}" if operator == "<<" else f"shr.{ctype.kind}"
            return TypedValue(self.compute(name, ctype.kind, self.converted(left, ctype).operand, amount), ctype)
        ctype = common(left.ctype, right.ctype)
        operands = [self.converted(each, ctype).operand for each in (left, right)]
        return TypedValue(self.compute(_opcode(operator, ctype.kind), ctype.kind, *operands), ctype)

    def added(self, left: TypedValue, right: TypedValue, node: c_ast.Node, less: bool = False) -> TypedValue:
        """Return a pointer so many elements further on, or less, or the elements between two pointers."""
        if isinstance(left.ctype, CScalar) and not less:
            left, right = right, left
        match left.ctype, right.ctype:
            case CPointer(target), CScalar():
                index = self.converted(right, LONG).operand
                scale = ir.Number((slots(target) if target != VOID else 1) * (-1 if less else 1))
                return TypedValue(self.compute("step", "u64", left.operand, index, scale), plain(left.ctype))
            case CPointer(target), CPointer() if less:
                bytes_ = self.compute("sub.s64", "s64", left.operand, right.operand)
                return TypedValue(self.compute("div.s64", "s64", bytes_, ir.Number(slots(target) * SLOT)), LONG)
        raise self.names.expected(node, "expected a pointer and a number")

    # assignments

    def _assign(self, node: c_ast.Assignment, needed: bool) -> TypedValue:
        if node.op == "=":
            if isinstance(node.lvalue, c_ast.ID | c_ast.StructRef | c_ast.ArrayRef | c_ast.UnaryOp):
                place = self.place(node.lvalue)
            else:
                raise self.names.expected(node, "expected an object before =")
            if isinstance(place.ctype, CStruct):
                self.copy(place, self.place(node.rvalue))
                return TypedValue(ir.Number(0), VOID)
            return self.store(place, self.value(node.rvalue))
        place = self.place(node.lvalue)
        return self.changed(place, node.op[:-1], self.value(node.rvalue), node, old=False, needed=needed)

    def _counted(self, node: c_ast.UnaryOp, needed: bool) -> TypedValue:
        one = TypedValue(ir.Number(1), INT)
        old = node.op.startswith("p")
        return self.changed(self.place(node.expr), node.op[-1], one, node, old, needed)

    def changed(
        self, place: ObjectPlace, operator: str, value: TypedValue, node: c_ast.Node, old: bool, needed: bool
    ) -> TypedValue:
        """Change an object by an operator, and return what it held before (``old``) or holds then."""
        ctype = place.ctype
        if isinstance(ctype, CScalar | CPointer) and ctype.atomic and place.register is None:
            return self._changed_atomically(place, operator, value, node, old, needed)
        before = self.load(place)
        if old and needed and isinstance(before.operand, ir.Register):
            kept = self.new(register_kind(ctype))
            self.move(register_kind(ctype), kept, before.operand)
            before = before._replace(operand=kept)
        after = self.store(place, self.operated(operator, before, value, node))
        return before if old else after

    def _changed_atomically(
        self, place: ObjectPlace, operator: str, value: TypedValue, node: c_ast.Node, old: bool, needed: bool
    ) -> TypedValue:
        """Change an atomic object, in the order of all sequentially consistent ones (C11 6.5.16.2p3)."""
        order = ir.Number(SEQ_CST)
        if (updated := COMPUTED.get(operator)) in UPDATED and _updates_at_once(place.ctype):
            assert updated is not None
            before = self.updated(place, updated, value, order, node, needed)
            return before if old or not needed else self.converted(
                self.operated(operator, before, value, node), plain(place.ctype)
            )  # fmt: skip
        kind = register_kind(place.ctype)
        expected, head = self.new(kind), self.new_label()
        self.move(kind, expected, self.load(place, order).operand)
        self.label(head)
        before = TypedValue(expected, plain(place.ctype))
        new = self.converted(self.operated(operator, before, value, node), plain(place.ctype))
        done = self.exchanged_if(place, before, new, order, order, weak=False)
        end = self.new_label()
        assert done[1].predicate is not None
        self.branch(end, done[1].predicate)
        self.move(kind, expected, done[0].operand)
        self.branch(head)
        self.label(end)
        return before if old else new

    def updated(
        self,
        place: ObjectPlace,
        operation: str,
        value: TypedValue,
        order: ir.Operand,
        node: c_ast.Node,
        needed: bool = True,
    ) -> TypedValue:
        """Update an atomic object at once, and return what it held."""
        ctype = place.ctype
        kind = memory_kind(ctype)
        if isinstance(ctype, CPointer) and operation in ("add", "sub"):
            steps = self.converted(value, LONG).operand
            scale = ir.Number(slots(ctype.target))
            given = self.compute("mul.lo.s64", "s64", steps, scale)
        else:
            given = self.converted(value, plain(ctype)).operand  # type: ignore[assignment]
        if operation in ("add", "sub") and isinstance(ctype, CScalar) and not _updates_at_once(ctype):
            raise self.names.wrong(node, "an atomic addition to a number of less than 32 bits is not understood")
        if place.register is not None:
            raise self.names.wrong(node, "an atomic object in a register is not understood")
        target = self.new(register_kind(ctype)) if needed else ir.Register("_")
        self.emit("update", (operation, kind), target, self.memory(place), given, order)
        return TypedValue(target, plain(ctype))

    def exchanged_if(
        self,
        place: ObjectPlace,
        expected: TypedValue,
        new: TypedValue,
        order: ir.Operand,
        failing: ir.Operand,
        weak: bool,
    ) -> tuple[TypedValue, TypedValue]:
        """Exchange what an object holds where that is as expected; return what it held, and whether that was so."""
        ctype = plain(place.ctype)
        kind = register_kind(ctype)
        target, done = self.new(kind), self.new("pred")
        operands = (self.converted(expected, ctype).operand, self.converted(new, ctype).operand)
        result = ir.Both(target, done)
        words = ("wcas" if weak else "cas", memory_kind(ctype))
        self.emit("update", words, result, self.memory(place), *operands, order, failing)
        return TypedValue(target, ctype), self.truth(done)

    # calls

    def _call(self, node: c_ast.FuncCall) -> TypedValue | None:
        arguments = node.args.exprs if node.args is not None else []
        if isinstance(node.name, c_ast.ID):
            name = node.name.name
            meant = self.names.find(name)
            if not isinstance(meant, StoredVariable) and (builtin := self.parts.builtins.get(name)) is not None:
                return builtin(self, name, arguments, node)
            if meant is None:
                self.emit("call", (), ir.Symbol(name), ir.Vector(()))
                return TypedValue(ir.Number(0), INT)
        called = self.value(node.name)
        function = called.ctype.target if isinstance(called.ctype, CPointer) else called.ctype
        if not isinstance(function, CFunction):
            raise self.names.expected(node, "expected a function")
        given: list[ir.Operand] = []
        for at, each in enumerate(arguments):
            wanted = function.parameters[at] if at < len(function.parameters) else None
            if isinstance(wanted, CStruct):
                base = self.place(each).base
                assert base is not None
                given.append(base)
                continue
            value = self.value(each)
            if wanted is not None:
                value = self.converted(value, wanted)
            given.append(self._kept(value, c_ast.ExprList(arguments[at + 1 :])).operand)
        if len(arguments) < len(function.parameters):
            raise self.names.expected(node, f"expected {len(function.parameters)} arguments, found {len(arguments)}")
        assert isinstance(called.operand, ir.Symbol | ir.Register)
        if function.result == VOID:
            self.emit("call", (), called.operand, ir.Vector(tuple(given)))
            return None
        if isinstance(function.result, CStruct):
            raise self.names.wrong(node, "a function that returns a struct is not understood")
        target = self.new(register_kind(function.result))
        self.emit("call", (), ir.Vector((target,)), called.operand, ir.Vector(tuple(given)))
        return TypedValue(target, plain(function.result))


Builtin = Callable[[FunctionTranslator, str, Sequence[c_ast.Node], c_ast.FuncCall], TypedValue | None]
"""A function of the library that is translated where it is called."""


def implied(ctype: CType) -> ir.Number:
    """Return the order of an access that says none: of an atomic object, the strongest."""
    return ir.Number(SEQ_CST if isinstance(ctype, CScalar | CPointer) and ctype.atomic else PLAIN)


def memory_kind(ctype: CType) -> str:
    """Return the kind of an access to an object: that of a number, ``ptr``, or ``handle`` for the name of a thread."""
    if isinstance(ctype, CScalar):
        return register_kind(ctype)
    return "handle" if isinstance(ctype, CPointer) and ctype.handle else "ptr"


def _updates_at_once(ctype: CType) -> bool:
    return isinstance(ctype, CPointer) or (
        isinstance(ctype, CScalar) and bits(ctype.kind) >= 32 and ctype.kind[0] != "f"
    )


def _lies_alike(one: CType, other: CType) -> bool:
    """Decide whether two scalars are read alike in a slot: both are numbers of one size, or both pointers."""
    if isinstance(one, CScalar) and isinstance(other, CScalar):
        return bits(one.kind) == bits(other.kind) and (one.kind[0] == "f") == (other.kind[0] == "f")
    return isinstance(one, CPointer) and isinstance(other, CPointer)


def _opcode(operator: str, kind: str) -> str:
    name = COMPUTED[operator]
    if kind[0] == "f":
        return {"div": f"div.rn.{kind}"}.get(name, f"{name}.{kind}")
    if name in ("and", "or", "xor"):
        return f"{name}.b{bits(kind)}"
    return f"mul.lo.{kind}" if name == "mul" else f"{name}.{kind}"


def _is_string(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and str(node.value).startswith('"')


def _nodes(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield a node and all below it."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += [child for _, child in found.children()]


_TAKES_PLACE = {
    "atomic_compare_exchange_strong": (1,),
    "atomic_compare_exchange_weak": (1,),
    "atomic_compare_exchange_strong_explicit": (1,),
    "atomic_compare_exchange_weak_explicit": (1,),
    "__atomic_compare_exchange_n": (1,),
    "pthread_create": (0,),
    "thrd_create": (0,),
    "pthread_join": (1,),
    "thrd_join": (1,),
}
"""The arguments of functions of the library that name an object by ``&``, and take no address."""


def _addressed(node: c_ast.Node) -> Iterator[str]:
    """Yield the variables whose addresses a function takes."""
    spared = set()
    for each in _nodes(node):
        match each:
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=exprs)):
                spared |= {id(exprs[at]) for at in _TAKES_PLACE.get(name, ()) if at < len(exprs)}
            case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)) if id(each) not in spared:
                yield name


Given = Iterator[tuple[int, c_ast.Node | int]]


def initialisers(names: Names, ctype: CType, node: c_ast.Node) -> Given:
    """Yield what an initialiser gives to each slot of an object (C11 6.7.9): an expression, or the code of a character."""
    if _is_string(node) and isinstance(ctype, CArray):
        yield from enumerate(characters(node.value)[: ctype.count])
        return
    if not isinstance(node, c_ast.InitList):
        yield 0, node
        return
    waiting = list(reversed(node.exprs or []))
    yield from _given(names, ctype, waiting, 0, True)
    if waiting:
        raise names.expected(waiting[-1], "an initialiser has more than its object")


def _parts(ctype: CType) -> list[tuple[str | int, CType]]:
    match ctype:
        case CArray(element, count):
            return [(n, element) for n in range(count or 0)]
        case CStruct(_, members):
            return list(members.items())
    return []


def _given(names: Names, ctype: CType, waiting: list[c_ast.Node], start: int, braced: bool) -> Given:
    """Yield what the next initialisers give to an object; in ``braced`` ones, members may be named."""
    if isinstance(ctype, CScalar | CPointer):
        if waiting:
            node = waiting.pop()
            yield start, node
        return
    parts = _parts(ctype)
    numbers = {name: n for n, (name, _) in enumerate(parts)}
    offsets = [0]
    for _, each in parts:
        offsets.append(offsets[-1] + slots(each))
    at = 0
    while waiting:
        node = waiting[-1]
        if isinstance(node, c_ast.NamedInitializer):
            if not braced:
                return
            first, *further = node.name
            key: str | int | None = (
                first.name if isinstance(first, c_ast.ID) and isinstance(ctype, CStruct) else names.constant(first)
            )
            if key not in numbers:
                raise names.expected(node, "an initialiser names what its object has not")
            at = numbers[key]
            waiting[-1] = node = c_ast.NamedInitializer(further, node.expr, node.coord) if further else node.expr
            if further:
                inner = [waiting.pop()]
                yield from _given(names, parts[at][1], inner, start + offsets[at], True)
                at += 1
                continue
        if at >= len(parts):
            return
        part = parts[at][1]
        here = start + offsets[at]
        at += 1
        if isinstance(node, c_ast.InitList) or (_is_string(node) and isinstance(part, CArray)):
            waiting.pop()
            for slot, given in initialisers(names, part, node):
                if isinstance(given, c_ast.InitList):
                    raise names.expected(given, "expected fewer braces")
                yield here + slot, given
        else:
            yield from _given(names, part, waiting, here, False)


def counted(names: Names, ctype: CArray, node: c_ast.Node | None) -> CArray:
    """Return an array with as many elements as its initialiser has."""
    if node is None:
        return CArray(ctype.element, 0)
    if _is_string(node):
        return CArray(ctype.element, len(characters(node.value)))
    most = len(node.exprs or ()) if isinstance(node, c_ast.InitList) else 0
    given = initialisers(names, CArray(ctype.element, min(MOST_SLOTS, max(most, 1) + _largest(names, node))), node)
    last = max((slot for slot, _ in given), default=-1)
    return CArray(ctype.element, last // max(1, slots(ctype.element)) + 1)


def _largest(names: Names, node: c_ast.Node) -> int:
    """Return the largest index that an initialiser of an array names."""
    named = (each.name[0] for each in getattr(node, "exprs", None) or () if isinstance(each, c_ast.NamedInitializer))
    return max((names.constant(each) or 0 for each in named if not isinstance(each, c_ast.ID)), default=0)


def declared(parts: ModuleParts, node: c_ast.Decl, ctype: CType) -> StoredVariable:
    """Declare a variable of the module, and return what its name stands for.

    Raises ``NotUnderstoodError`` where its initialiser is no constant.
    """
    names = parts.names
    already = names.scopes[0].get(node.name) if len(names.scopes) == 1 else None
    if (
        "extern" in node.storage
        and len(names.scopes) > 1
        and isinstance(found := names.find(node.name), StoredVariable)
    ):
        return found
    if isinstance(already, StoredVariable) and isinstance(already.place, ir.Symbol):
        name = already.place.name
        if node.init is None and slots(ctype) <= slots(already.ctype):
            return already
    else:
        name = parts.free_name(node.name)
    if isinstance(ctype, CArray) and ctype.count is None:
        ctype = counted(names, ctype, node.init)
    if slots(ctype) > MOST_SLOTS:
        raise names.wrong(node, f"an object of more than {MOST_SLOTS} elements is not understood")
    data = bytearray(slots(ctype) * SLOT)
    addresses: list[tuple[int, ir.Symbol]] = []
    kinds = scalars(ctype)
    for slot, given in initialisers(names, ctype, node.init) if node.init is not None else ():
        value = given if isinstance(given, int) else _static(names, given, kinds[slot])
        if isinstance(value, ir.Symbol):
            addresses.append((slot * SLOT, value))
        else:
            kind = register_kind(kinds[slot])
            width = bits(kind)
            small = value % (1 << width)
            small -= 1 << width if small >> width - 1 else 0
            data[slot * SLOT : (slot + 1) * SLOT] = small.to_bytes(SLOT, "little", signed=True)
    space = "local" if "_Thread_local" in node.storage else OBJECTS
    line = place_of(node, names.path)[1]
    parts.variables[name] = ir.Variable(
        name, space, "b64", len(data), SLOT, bytes(data), tuple(addresses), "extern" in node.storage, line
    )
    return StoredVariable(ctype, ir.Symbol(name), False)


def _static(names: Names, node: c_ast.Node, ctype: CScalar | CPointer) -> int | ir.Symbol:
    """Return the value of an initialiser of a variable of the module: a number, or an address (C11 6.6p9)."""
    value = names.constant(node)
    if value is not None:
        if isinstance(ctype, CScalar) and ctype.kind[0] == "f":
            code = "<f" if ctype.kind == "f32" else "<d"
            return int.from_bytes(struct.pack(code, float(value)), "little")
        return int(bool(value)) if ctype == TRUTH else value
    found = _static_address(names, node)
    if found is None:
        raise names.wrong(node, "an initialiser that is no constant is not understood")
    return found[0]


def _static_address(names: Names, node: c_ast.Node) -> tuple[ir.Symbol, CType] | None:
    """Return the address that an expression is, or that an object has which it names, and the type of that object."""
    match node:
        case c_ast.Cast():
            return _static_address(names, node.expr)
        case c_ast.UnaryOp(op="&"):
            return _static_place(names, node.expr)
        case c_ast.ID():
            found = _static_place(names, node)
            return found if found is not None and isinstance(found[1], CArray | CFunction) else None
    return None


def _static_place(names: Names, node: c_ast.Node) -> tuple[ir.Symbol, CType] | None:
    match node:
        case c_ast.ID():
            meant = names.find(node.name)
            if isinstance(meant, CFunctionName):
                return ir.Symbol(node.name), meant.ctype
            if isinstance(meant, StoredVariable) and isinstance(meant.place, ir.Symbol):
                return meant.place, meant.ctype
        case c_ast.StructRef(type="."):
            whole = _static_place(names, node.name)
            if whole is not None and isinstance(whole[1], CStruct) and node.field.name in whole[1].members:
                symbol, offset = whole[0], member_slot(whole[1], node.field.name) * SLOT
                return ir.Symbol(symbol.name, symbol.offset + offset), whole[1].members[node.field.name]
        case c_ast.ArrayRef():
            whole, index = _static_place(names, node.name), names.constant(node.subscript)
            if whole is not None and isinstance(whole[1], CArray) and index is not None:
                symbol, offset = whole[0], index * slots(whole[1].element) * SLOT
                return ir.Symbol(symbol.name, symbol.offset + offset), whole[1].element
    return None
