"""Declarations of C: names and what they stand for, the types that declarators spell, and constant expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pycparser import c_ast

from corpus.code import ir
from corpus.code.c.types import (
    INT,
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
    alignment,
    bits,
    common,
    promoted,
    scalar,
    size,
)
from corpus.code.refusals import NotUnderstoodError
from corpus.errors import InputError
from corpus.litmus.ptx_arithmetic import signed

HANDLES = ("pthread_t",)
"""The types that name threads."""


class TypeName(NamedTuple):
    """A name that ``typedef`` gives to a type, such as ``node_t``."""

    ctype: CType


class Enumerator(NamedTuple):
    """A name that ``enum`` gives to a number, such as ``RED``."""

    value: int


class StoredVariable(NamedTuple):
    """A variable: its type, and the register that has it or the address of its object."""

    ctype: CType
    place: ir.Register | ir.SymbolRef
    in_register: bool


class CFunctionName(NamedTuple):
    """A function, by its name, as an operand of calls and of comparisons."""

    ctype: CFunction


Meant = TypeName | Enumerator | StoredVariable | CFunctionName
"""What a name stands for."""


def place_of(node: c_ast.Node | None, path: str) -> tuple[str, int, int]:
    """Return the file, line and column of a node."""
    coord = getattr(node, "coord", None)
    if coord is None:
        return path, 1, 1
    return str(coord.file or path), int(coord.line or 1), int(coord.column or 1)


@dataclass
class Names:
    """The names that are known at a place of a text, by scope, outermost first; structs by their tags likewise."""

    path: str
    scopes: list[dict[str, Meant]] = field(default_factory=lambda: [{}])
    tags: list[dict[str, CStruct]] = field(default_factory=lambda: [{}])
    _structs: int = 0

    def wrong(self, node: c_ast.Node | None, what: str) -> NotUnderstoodError:
        """Return the error for a place that is not understood."""
        return NotUnderstoodError(what, *place_of(node, self.path))

    def expected(self, node: c_ast.Node | None, what: str) -> InputError:
        """Return the error for a place that is not C."""
        return InputError(what, *place_of(node, self.path))

    def enter(self) -> None:
        """Begin a scope, whose names hide those outside of it."""
        self.scopes.append({})
        self.tags.append({})

    def leave(self) -> None:
        """End the innermost scope, whose names are gone then."""
        self.scopes.pop()
        self.tags.pop()

    def find(self, name: str) -> Meant | None:
        """Return what a name stands for in the innermost scope that has it."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    # types

    def typed(self, node: c_ast.Node) -> CType:
        """Return the type that a declarator or the name of a type spells."""
        match node:
            case c_ast.Typename() | c_ast.Decl() | c_ast.Typedef():
                found = self.typed(node.type)
                return _atomic(found) if "_Atomic" in (node.quals or ()) else found
            case c_ast.TypeDecl():
                found = self._specified(node.type)
                if isinstance(found, CPointer) and node.declname in HANDLES:
                    found = replace(found, handle=True)
                return _atomic(found) if "_Atomic" in (node.quals or ()) else found
            case c_ast.PtrDecl():
                return CPointer(self.typed(node.type), "_Atomic" in (node.quals or ()))
            case c_ast.ArrayDecl():
                count = None if node.dim is None else self.constant(node.dim)
                if node.dim is not None and (count is None or not 0 <= count <= MOST_SLOTS):
                    raise self.wrong(node, f"an array whose length is no constant up to {MOST_SLOTS} is not understood")
                return CArray(self.typed(node.type), count)
            case c_ast.FuncDecl():
                return CFunction(self.typed(node.type), tuple(each for _, each in self.parameters(node)))
        raise self.wrong(node, "this type is not understood")

    def parameters(self, node: c_ast.FuncDecl) -> Iterator[tuple[str, CType]]:
        """Yield the names and types of the parameters of a function."""
        for number, each in enumerate(node.args.params if node.args else ()):
            if isinstance(each, c_ast.EllipsisParam):
                return
            if isinstance(each, c_ast.ID):
                raise self.wrong(each, "a function in the style before ANSI C is not understood")
            ctype = self.typed(each)
            if ctype == VOID:
                return
            if isinstance(ctype, CArray):
                ctype = CPointer(ctype.element)
            if isinstance(ctype, CFunction):
                ctype = CPointer(ctype)
            yield getattr(each, "name", None) or f"unnamed{number}", ctype

    def _specified(self, node: c_ast.Node) -> CType:
        match node:
            case c_ast.IdentifierType(names=[name]) if isinstance(found := self.find(name), TypeName):
                return (
                    replace(found.ctype, handle=True)
                    if name in HANDLES and isinstance(found.ctype, CPointer)
                    else found.ctype
                )
            case c_ast.IdentifierType(names=names):
                if names == ["void"]:
                    return VOID
                kept = [name for name in names if name != "_Atomic"]
                known = scalar(kept)
                if known is None:
                    raise self.wrong(node, f"the type {' '.join(names)} is not understood")
                return replace(known, atomic=len(kept) < len(names))
            case c_ast.Struct():
                return self._struct(node)
            case c_ast.Enum():
                self._enumerate(node)
                return UNSIGNED if not node.values or all(self._at_least_0(node)) else INT
            case c_ast.Union():
                raise self.wrong(node, "a union is not understood")
        raise self.wrong(node, "this type is not understood")

    def _at_least_0(self, node: c_ast.Enum) -> Iterator[bool]:
        for each in node.values.enumerators:
            found = self.find(each.name)
            yield isinstance(found, Enumerator) and found.value >= 0

    def _enumerate(self, node: c_ast.Enum) -> None:
        value = -1
        for each in node.values.enumerators if node.values else ():
            value += 1
            if each.value is not None:
                given = self.constant(each.value)
                if given is None:
                    raise self.expected(each, "expected a constant")
                value = given
            self.scopes[-1][each.name] = Enumerator(value)

    def _struct(self, node: c_ast.Struct) -> CStruct:
        found = None
        if node.name is not None:
            scopes = self.tags[-1:] if node.decls is not None else reversed(self.tags)
            found = next((tags[node.name] for tags in scopes if node.name in tags), None)
        if found is None:
            self._structs += 1
            found = CStruct(f"{node.name or ''}#{self._structs}", {})
            if node.name is not None:
                self.tags[-1][node.name] = found
        for each in node.decls or ():
            if isinstance(each, c_ast.Pragma | c_ast.StaticAssert):
                continue
            if each.bitsize is not None:
                raise self.wrong(each, "a bit field is not understood")
            ctype = self.typed(each)
            if each.name is None and isinstance(ctype, CStruct):
                found.members.update(ctype.members)
            elif each.name is not None:
                if found in _inside(ctype):
                    raise self.expected(each, "a struct has itself as a member")
                found.members[each.name] = ctype
        return found

    # constants

    def constant(self, node: c_ast.Node) -> int | None:
        """Return the value of an integer constant expression; None where it is none (C11 6.6)."""
        found = self._constant(node)
        return None if found is None else found[0]

    def _constant(self, node: c_ast.Node) -> tuple[int, CScalar] | None:
        """Return the value of an integer constant expression with its type."""
        match node:
            case c_ast.Constant():
                return number(node)
            case c_ast.ID():
                meant = self.find(node.name)
                return (meant.value, INT) if isinstance(meant, Enumerator) else None
            case c_ast.UnaryOp(op="sizeof" | "_Alignof", expr=c_ast.Typename() as named):
                return (size if node.op == "sizeof" else alignment)(self.typed(named)), SIZE
            case c_ast.UnaryOp(op="-" | "+" | "~" | "!"):
                inner = self._constant(node.expr)
                if inner is None:
                    return None
                if node.op == "!":
                    return int(not inner[0]), INT
                ctype, value = promoted(inner[1]), inner[0]
                return wrapped({"-": -value, "+": value, "~": ~value}[node.op], ctype.kind), ctype
            case c_ast.Cast():
                target, inner = self.typed(node.to_type), self._constant(node.expr)
                if inner is None or not isinstance(target, CScalar) or target.kind[0] == "f":
                    return None
                return wrapped(inner[0], target.kind), target
            case c_ast.TernaryOp():
                chosen = self._constant(node.cond)
                one, other = self._constant(node.iftrue), self._constant(node.iffalse)
                if chosen is None or one is None or other is None:
                    return None
                ctype = common(one[1], other[1])
                return wrapped((one if chosen[0] else other)[0], ctype.kind), ctype
            case c_ast.BinaryOp():
                left, right = self._constant(node.left), self._constant(node.right)
                return None if left is None or right is None else _folded(node.op, left, right)
        return None


def wrapped(value: int, kind: str) -> int:
    """Return a number as one of a kind, which it may have to be made to fit (C11 6.3.1.3)."""
    if kind == "bool":
        return int(bool(value))
    width = bits(kind)
    return signed(value % (1 << width), width) if kind[0] == "s" else value % (1 << width)


def _folded(operator: str, left: tuple[int, CScalar], right: tuple[int, CScalar]) -> tuple[int, CScalar] | None:
    """Return the result of an operator on two numbers; None where C does not say it."""
    if operator in ("&&", "||"):
        truths = (bool(left[0]), bool(right[0]))
        return int(all(truths) if operator == "&&" else any(truths)), INT
    if operator in ("<<", ">>"):
        ctype, by = promoted(left[1]), right[0]
        if not 0 <= by < bits(ctype.kind):
            return None
        return wrapped(left[0] << by if operator == "<<" else left[0] >> by, ctype.kind), ctype
    ctype = common(left[1], right[1])
    if ctype.kind[0] == "f":
        return None
    one, other = wrapped(left[0], ctype.kind), wrapped(right[0], ctype.kind)
    if operator in ("/", "%"):
        if other == 0:
            return None
        quotient = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
        return wrapped(quotient if operator == "/" else one - quotient * other, ctype.kind), ctype
    truth = {"==": one == other, "!=": one != other, "<": one < other, "<=": one <= other, ">": one > other,
             ">=": one >= other}.get(operator)  # fmt: skip
    if truth is not None:
        return int(truth), INT
    result = {"+": one + other, "-": one - other, "*": one * other, "&": one & other, "|": one | other,
              "^": one ^ other}.get(operator)  # fmt: skip
    return None if result is None else (wrapped(result, ctype.kind), ctype)


def _atomic(ctype: CType) -> CType:
    return replace(ctype, atomic=True) if isinstance(ctype, CScalar | CPointer) else ctype


def _inside(ctype: CType) -> Iterable[CType]:
    """Yield a type and those of the objects in it."""
    yield ctype
    if isinstance(ctype, CArray):
        yield from _inside(ctype.element)
    if isinstance(ctype, CStruct):
        for each in ctype.members.values():
            yield from _inside(each)


_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}


def number(node: c_ast.Constant) -> tuple[int, CScalar] | None:
    """Return the value and type of a constant that is an integer or a character; None where it is another one."""
    text = str(node.value)
    if text.startswith("'"):
        body = text[1:-1]
        if body.startswith("\\"):
            if (found := re.fullmatch(r"\\x([0-9a-fA-F]{1,2})|\\([0-7]{1,3})", body)) is not None:
                return signed(int(found[1], 16) if found[1] else int(found[2], 8) & 255, 8), INT
            return (_ESCAPES[body[1]], INT) if body[1:] in _ESCAPES else None
        return (ord(body) & 255, INT) if len(body) == 1 else None
    found = re.fullmatch(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]*)", text)
    if found is None or len(text) > 100:
        return None
    digits, suffix = found[1], found[2].lower()
    base = {"0x": 16, "0b": 2}.get(digits[:2].lower(), 8 if digits[0] == "0" and len(digits) > 1 else 10)
    try:
        value = int(digits, base)
    except ValueError:
        return None
    candidates = [CScalar(kind) for kind in ("s32", "u32", "s64", "u64")]
    fitting = [
        each for each in candidates
        if value < 1 << int(each.kind[1:]) - (each.kind[0] == "s")
        and ("u" not in suffix or each.kind[0] == "u")
        and ("l" not in suffix or each.kind[1:] == "64")
        and (base != 10 or "u" in suffix or each.kind[0] == "s" or each.kind == "u64")
    ]  # fmt: skip
    return (value, fitting[0]) if fitting else (value % (1 << 64), SIZE)


def characters(text: str) -> list[int]:
    """Return what a string literal has, with its end."""
    pattern = r"\\x[0-9a-fA-F]{1,2}|\\[0-7]{1,3}|\\.|."
    found = [number(c_ast.Constant("char", f"'{each}'")) for each in re.findall(pattern, text[1:-1], re.DOTALL)]
    return [*(each[0] if each else 63 for each in found), 0]


@dataclass
class ModuleParts:
    """What the functions of a file have in common: names, variables that are found in functions, lines of source, and
    which functions the file defines.
    """

    names: Names
    variables: dict[str, ir.Variable] = field(default_factory=dict)
    sources: dict[str, Sequence[str]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    defined: frozenset[str] = frozenset()

    def free_name(self, name: str) -> str:
        """Return a name that no variable of the module has."""
        found = next(each for n in range(1, 1 << 20) if (each := name if n == 1 else f"{name}.{n}") not in self.taken)
        self.taken.add(found)
        return found

    def line_of(self, file: str, line: int) -> str:
        """Return a line of source without the blanks around it."""
        lines = self.sources.get(file, ())
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""
