"""Initialisers of C (C11 6.7.9), and the variables of a module with what they hold at the start."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace

from pycparser import c_ast

from corpus.code import ir
from corpus.code.c.declarations import (
    CFunctionName,
    ModuleParts,
    Names,
    StoredVariable,
    characters,
    place_of,
)
from corpus.code.c.emission import register_kind
from corpus.code.c.types import (
    MOST_SLOTS,
    TRUTH,
    CArray,
    CFunction,
    CPointer,
    CScalar,
    CStruct,
    CType,
    bits,
    member_slot,
    scalars,
    slots,
)
from corpus.code.launch.creation import OBJECTS, SLOT

CONSTANTS = "const"
"""The space of variables that are never written."""

Given = Iterator[tuple[int, c_ast.Node | int]]


def initialisers(names: Names, ctype: CType, node: c_ast.Node) -> Given:
    """Yield what an initialiser gives to each slot of an object (C11 6.7.9): an expression, or a character's code."""
    if is_string(node) and isinstance(ctype, CArray):
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
            key = names.constant(first.expr) if isinstance(first, c_ast.ArrayDesignator) else first.name
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
        if isinstance(node, c_ast.InitList) or (is_string(node) and isinstance(part, CArray)):
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
    if is_string(node):
        return CArray(ctype.element, len(characters(node.value)))
    most = len(node.exprs or ()) if isinstance(node, c_ast.InitList) else 0
    given = initialisers(names, CArray(ctype.element, min(MOST_SLOTS, max(most, 1) + _largest(names, node))), node)
    last = max((slot for slot, _ in given), default=-1)
    return CArray(ctype.element, last // max(1, slots(ctype.element)) + 1)


def _largest(names: Names, node: c_ast.Node) -> int:
    """Return the largest index that an initialiser of an array names."""
    named = (each.name[0] for each in getattr(node, "exprs", None) or () if isinstance(each, c_ast.NamedInitializer))
    return max((names.constant(each.expr) or 0 for each in named if isinstance(each, c_ast.ArrayDesignator)), default=0)


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
    if isinstance(already, StoredVariable) and isinstance(already.place, ir.SymbolRef):
        name = already.place.name
        if node.init is None and slots(ctype) <= slots(already.ctype):
            before = parts.variables[name]
            parts.variables[name] = replace(before, extern=before.extern and "extern" in node.storage)
            return already
    else:
        name = parts.free_name(node.name)
    if isinstance(ctype, CArray) and ctype.count is None:
        ctype = counted(names, ctype, node.init)
    if slots(ctype) > MOST_SLOTS:
        raise names.wrong(node, f"an object of more than {MOST_SLOTS} elements is not understood")
    found = StoredVariable(ctype, ir.SymbolRef(name), False)
    names.scopes[-1][node.name] = found  # which its initialiser may name
    data = bytearray(slots(ctype) * SLOT)
    addresses: list[tuple[int, ir.SymbolRef]] = []
    kinds = scalars(ctype)
    for slot, given in initialisers(names, ctype, node.init) if node.init is not None else ():
        value = given if isinstance(given, int) else _static(parts, given, kinds[slot])
        if isinstance(value, ir.SymbolRef):
            addresses.append((slot * SLOT, value))
        else:
            kind = register_kind(kinds[slot])
            width = bits(kind)
            small = value % (1 << width)
            small -= 1 << width if small >> width - 1 else 0
            data[slot * SLOT : (slot + 1) * SLOT] = small.to_bytes(SLOT, "little", signed=True)
    space = "local" if "_Thread_local" in node.storage else CONSTANTS if _is_constant(node) else OBJECTS
    line = place_of(node, names.path)[1]
    parts.variables[name] = ir.Variable(
        name,
        space,
        "b64",
        len(data),
        SLOT,
        bytes(data),
        tuple(addresses),
        "extern" in node.storage and node.init is None,
        line,
    )
    return found


def _is_constant(node: c_ast.Decl) -> bool:
    """Decide whether a variable with an initialiser is ``const``, so that it holds that for ever."""
    ctype = node.type
    while isinstance(ctype, c_ast.ArrayDecl):
        ctype = ctype.type
    return node.init is not None and "const" in (ctype.quals or ())


def _static(parts: ModuleParts, node: c_ast.Node, ctype: CScalar | CPointer) -> int | ir.SymbolRef:
    """Return the value of an initialiser of a variable of the module: a number, or an address (C11 6.6p9)."""
    names = parts.names
    value = names.constant(node)
    if value is not None:
        if isinstance(ctype, CScalar) and ctype.kind[0] == "f":
            code = "<f" if ctype.kind == "f32" else "<d"
            return int.from_bytes(struct.pack(code, float(value)), "little")
        return int(bool(value)) if ctype == TRUTH else value
    if is_string(node):
        return string(parts, node)
    found = _static_address(names, node)
    if found is None:
        raise names.wrong(node, "an initialiser that is no constant is not understood")
    return found[0]


def _static_address(names: Names, node: c_ast.Node) -> tuple[ir.SymbolRef, CType] | None:
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


def _static_place(names: Names, node: c_ast.Node) -> tuple[ir.SymbolRef, CType] | None:
    match node:
        case c_ast.ID():
            meant = names.find(node.name)
            if isinstance(meant, CFunctionName):
                return ir.SymbolRef(node.name), meant.ctype
            if isinstance(meant, StoredVariable) and isinstance(meant.place, ir.SymbolRef):
                return meant.place, meant.ctype
        case c_ast.StructRef(type="."):
            whole = _static_place(names, node.name)
            if whole is not None and isinstance(whole[1], CStruct) and node.field.name in whole[1].members:
                symbol, offset = whole[0], member_slot(whole[1], node.field.name) * SLOT
                return ir.SymbolRef(symbol.name, symbol.offset + offset), whole[1].members[node.field.name]
        case c_ast.ArrayRef():
            whole, index = _static_place(names, node.name), names.constant(node.subscript)
            if whole is not None and isinstance(whole[1], CArray) and index is not None:
                symbol, offset = whole[0], index * slots(whole[1].element) * SLOT
                return ir.SymbolRef(symbol.name, symbol.offset + offset), whole[1].element
    return None


def string(parts: ModuleParts, node: c_ast.Constant) -> ir.SymbolRef:
    """Return the object of a string literal, which is declared in the module."""
    data = b"".join(each.to_bytes(SLOT, "little", signed=True) for each in characters(str(node.value)))
    name = parts.free_name("string")
    parts.variables[name] = ir.Variable(name, OBJECTS, "b64", len(data), SLOT, data)
    return ir.SymbolRef(name)


def is_string(node: c_ast.Node) -> bool:
    """Decide whether an expression is a string literal."""
    return isinstance(node, c_ast.Constant) and str(node.value).startswith('"')
