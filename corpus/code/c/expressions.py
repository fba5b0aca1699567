"""Expressions of C as instructions (C11 6.5). Operands are evaluated from left to right."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence

from pycparser import c_ast

from corpus.code import ir
from corpus.code.c.declarations import (
    CFunctionName,
    Enumerator,
    ModuleParts,
    StoredVariable,
    characters,
    number,
)
from corpus.code.c.emission import (
    MOST_UNROLLED,
    SEQ_CST,
    CodeWriter,
    ObjectPlace,
    TypedValue,
    memory_kind,
    number_of,
    register_kind,
)
from corpus.code.c.initialisers import counted, initialisers, is_string, string
from corpus.code.c.types import (
    CHARACTER,
    DOUBLE,
    INT,
    LONG,
    MOST_SLOTS,
    SIZE,
    UNSIGNED,
    VOID,
    CArray,
    CFunction,
    CPointer,
    CScalar,
    CStruct,
    CType,
    bits,
    common,
    member_slot,
    plain,
    promoted,
    scalars,
    size,
    slots,
)
from corpus.code.launch.creation import SLOT

COMPARED = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
COMPUTED = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "&": "and", "|": "or", "^": "xor",
            "<<": "shl", ">>": "shr"}  # fmt: skip
UPDATED = ("add", "sub", "and", "or", "xor")
"""The operators that an atomic update does at once."""


class ExpressionTranslator(CodeWriter):
    """The translator of the expressions of a function. ``builtins`` are the functions that it translates itself."""

    def __init__(self, parts: ModuleParts, builtins: Mapping[str, Builtin]) -> None:
        super().__init__(parts)
        self._builtins = builtins
        self._types: dict[int, CType] = {}  # by the identity of nodes, which stay

    # objects

    def object(self, name: str, ctype: CType) -> ObjectPlace:
        """Declare a variable that is memory of the thread."""
        own = self.parts.free_name(name)
        self.variables.append(ir.Variable(own, "local", "b64", slots(ctype) * SLOT, SLOT))
        symbol = ir.SymbolRef(own)
        self.names.scopes[-1][name] = StoredVariable(ctype, symbol, False)
        return ObjectPlace(ctype, None, symbol)

    def initialise(self, place: ObjectPlace, node: c_ast.Node) -> None:
        """Give an object what an initialiser has; what that does not mention is 0."""
        if isinstance(place.ctype, CScalar | CPointer):
            (inner,) = node.exprs if isinstance(node, c_ast.InitList) and len(node.exprs) == 1 else (node,)
            self.store(place, self.value(inner))
            return
        given = dict(initialisers(self.names, place.ctype, node))
        if place.base is not None and not isinstance(node, c_ast.InitList) and not is_string(node):
            self.copy(place, self.place(node))
            return
        for at, ctype in enumerate(scalars(place.ctype)):
            if at >= MOST_UNROLLED:
                raise self.names.wrong(node, f"an initialiser of more than {MOST_UNROLLED} elements is not understood")
            inner = given.get(at)
            value = TypedValue(ir.Number(inner or 0), INT) if not isinstance(inner, c_ast.Node) else self.value(inner)
            self.store(self.inside(place, ctype, at), value)

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
                    return ObjectPlace(meant.ctype, None, ir.SymbolRef(node.name))
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
                place = self.object(f"literal.{self.new_label()[2:]}", ctype)
                self.initialise(place, node.init)
                return place
        raise self.names.wrong(node, "an object by this expression is not understood")

    def pointed(self, value: TypedValue, node: c_ast.Node) -> ObjectPlace:
        """Return the place that a pointer points to."""
        if isinstance(value.ctype, CFunction):
            assert isinstance(value.operand, ir.SymbolRef | ir.Register)
            return ObjectPlace(value.ctype, None, value.operand)
        if not isinstance(value.ctype, CPointer) or value.ctype.handle:
            raise self.names.expected(node, "expected a pointer")
        if value.ctype.target == VOID:
            raise self.names.wrong(node, "an access by a pointer to void is not understood")
        if isinstance(value.operand, ir.Register | ir.SymbolRef):
            return ObjectPlace(value.ctype.target, None, value.operand)
        base = self.new("u64")
        self.move("u64", base, value.operand)
        return ObjectPlace(value.ctype.target, None, base)

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
        """Return the number that a comparison gives, 0 or 1, as C has it (C11, 6.5.8)."""
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
        """Evaluate an expression, and return the operand that holds its value."""
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
            for each in nodes(other)
        )
        if not changes or not isinstance(value.operand, ir.Register):
            return value
        copied = self.new(register_kind(value.ctype))
        self.move(register_kind(value.ctype), copied, value.operand)
        return TypedValue(copied, value.ctype)

    def _check_cast(self, node: c_ast.Node, one: CType, other: CType) -> None:
        """Refuse a cast after which an object's elements would be others."""
        if max(slots(one), slots(other)) > MOST_SLOTS:
            raise self.names.wrong(node, f"an object of more than {MOST_SLOTS} elements is not understood")
        kinds = [[plain(each) for each in scalars(ctype)] for ctype in (one, other)]
        short = min(map(len, kinds))
        alike = all(_lies_alike(a, b) for a, b in zip(kinds[0][:short], kinds[1][:short], strict=True))
        if VOID not in (one, other) and not isinstance(one, CFunction) and not alike:
            raise self.names.wrong(node, "a cast between pointers to objects of other kinds is not understood")

    def _constant(self, node: c_ast.Constant) -> TypedValue:
        if node.type == "string" or str(node.value).startswith(('"', 'L"', 'u8"')):
            return TypedValue(string(self.parts, node), CPointer(CHARACTER))
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
        if id(node) not in self._types:
            self._types[id(node)] = self._typeof(node)
        return self._types[id(node)]

    def _typeof(self, node: c_ast.Node) -> CType:
        kept = len(self.instructions), dict(self.labels), len(self.variables)
        try:
            match node:
                case c_ast.ID() if isinstance(self.names.find(node.name), Enumerator):
                    return INT
                case c_ast.ID() | c_ast.StructRef() | c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
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
            builtin = None if name in self.parts.defined else self._builtins.get(name)
            if builtin is not None and not isinstance(meant, StoredVariable):
                return builtin(self, name, arguments, node)
            if meant is None:
                self.emit("call", (), ir.SymbolRef(name), ir.Vector(()))
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
        assert isinstance(called.operand, ir.SymbolRef | ir.Register)
        if function.result == VOID:
            self.emit("call", (), called.operand, ir.Vector(tuple(given)))
            return None
        if isinstance(function.result, CStruct):
            raise self.names.wrong(node, "a function that returns a struct is not understood")
        target = self.new(register_kind(function.result))
        self.emit("call", (), ir.Vector((target,)), called.operand, ir.Vector(tuple(given)))
        return TypedValue(target, plain(function.result))


Builtin = Callable[[ExpressionTranslator, str, Sequence[c_ast.Node], c_ast.FuncCall], TypedValue | None]
"""A function of the library that is translated where it is called."""


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


def nodes(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield a node and all below it."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += [child for _, child in found.children()]
