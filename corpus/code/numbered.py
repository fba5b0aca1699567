"""Numbers that stand for functions and for tables of virtual functions where memory holds their addresses.

No code sees of such an address more than whether it equals another one. A call by an address from memory leads to each
function whose address is taken, behind a branch that compares the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from corpus.code import ir
from corpus.code.places import ANYWHERE, CODE, NOBODY, Array
from corpus.code.thread import FollowedThread, State
from corpus.code.values import ArrayAddress, Symbol, Value
from corpus.code.variants import follow_later
from corpus.litmus.instructions import Branch, Comparison
from corpus.litmus.locations import Reg

TABLE = "_ZTV"
"""How the name of a table of virtual functions begins (Itanium C++ ABI, 5.1.4)."""

_FUNCTIONS, _TABLES = 0x5C0D_0000_0000, 0x5C0E_0000_0000
_APART = 1 << 16


def is_numbered(array: Array) -> bool:
    """Decide whether an array is a function, or a table of virtual functions."""
    return array.space == CODE or (array.space == "const" and array.name.startswith(TABLE))


def number_of(module: ir.Module, address: ArrayAddress) -> int:
    """Return the number that stands for the address of a function or table."""
    if address.array.space == CODE:
        return _FUNCTIONS + sorted(module.functions).index(address.array.name) * _APART + address.offset
    tables = sorted(name for name in module.variables if name.startswith(TABLE))
    return _TABLES + tables.index(address.array.name) * _APART + address.offset


def _operands(operands: tuple[ir.Operand, ...]) -> Iterator[ir.SymbolRef]:
    for operand in operands:
        if isinstance(operand, ir.SymbolRef):
            yield operand
        elif isinstance(operand, ir.Vector):
            yield from _operands(operand.parts)
        elif isinstance(operand, ir.MemoryOperand):
            yield from _operands((operand.base,))


def _mentioned(module: ir.Module) -> Iterator[ir.SymbolRef]:
    """Yield the functions and variables whose addresses the code of a module takes."""
    for function in module.functions.values():
        for ins in function.body or ():
            called = ins.operands[1:2] if ins.name == "call" else ()
            yield from (symbol for symbol in _operands(ins.operands) if symbol not in called)
    for variable in module.variables.values():
        if not variable.name.startswith(TABLE):
            yield from (symbol for _, symbol in variable.addresses)


LIBRARY_OWN = "library."
"""How the names begin of what is the library's own."""


def functions_of(module: ir.Module, parameters: int) -> list[ArrayAddress]:
    """Return the functions of so many parameters whose addresses are taken: of those of the library none that is its
    own, which nothing in memory leads to.
    """
    names = dict.fromkeys(symbol.name for symbol in _mentioned(module) if not symbol.name.startswith(LIBRARY_OWN))
    every = (module.functions[name] for name in sorted(names) if name in module.functions)
    found = (function for function in every if function.body is not None and len(function.parameters) == parameters)
    return [ArrayAddress(Array(CODE, NOBODY, function.name)) for function in found]


def tables_of(module: ir.Module) -> list[ArrayAddress]:
    """Return the places in tables of virtual functions that objects have the addresses of."""
    found = dict.fromkeys(symbol for symbol in _mentioned(module) if symbol.name.startswith(TABLE))
    return [ArrayAddress(Array("const", NOBODY, symbol.name), symbol.offset) for symbol in sorted(found)]


def tables_at(thread: FollowedThread, address: Value) -> list[ArrayAddress]:
    """Return the tables that memory may have at an address, as far as all threads have told."""
    if isinstance(address, ArrayAddress):
        places = ((address.array, address.offset), (ANYWHERE, 0))
        found = {table for *place, table in thread.facts.tables if (*place,) in places or place[0] == ANYWHERE}
    else:
        found = {table for _, _, table in thread.facts.tables}
    return sorted(found, key=lambda table: (table.array, table.offset))


def part_by_number(
    thread: FollowedThread, state: State, place: int, register: str, value: Symbol, every: list[ArrayAddress]
) -> bool:
    """Go on at a place on a way for each address that a register may hold, behind comparisons with its number."""
    for address in every:
        way = state.moved_to(place)
        way.known[state.home(register)] = address
        number = number_of(thread.module, address)
        thread.out.put(Branch(follow_later(thread, way), Comparison("eq", Reg(value.register), number)))
    return thread.out.stops("null")
