"""Virtual functions and the descriptions of classes, of objects by their tables (Itanium C++ ABI, 2.5 and 2.9.5).

    %vtable'1 = load [%0]                                       the table of an object, at its beginning
    @__dynamic_cast %1, %0, @_ZTI4Base, @_ZTI7Derived, 0, %vtable'1

A table has, before the place that objects have the address of, how far it is to the beginning of the whole object, and
the description of its class. Where memory decides which table it is, there is a way for each
(``corpus.code.numbered``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from corpus.code import ir
from corpus.code.evaluation import evaluate, set_result
from corpus.code.llvm.memory import POINTER, further, loaded
from corpus.code.numbered import TABLE
from corpus.code.table import NOTHING, READS, Row
from corpus.code.thread import FollowedThread, Meaning, State
from corpus.code.values import ArrayAddress, Value
from corpus.litmus.orders import PLAIN
from corpus.litmus.ptx_arithmetic import signed

_DESCRIPTION, _WHOLE = -POINTER, -2 * POINTER
"""Where a table has the description of the class, and how far it is to the whole object."""

_CLASS, _SINGLE, _SEVERAL = "17__class_type_info", "20__si_class_type_info", "21__vmi_class_type_info"
"""The classes of descriptions: without bases, with one at its beginning, with others."""

_OF_DESCRIPTIONS = f"{TABLE}N10__cxxabiv1"
"""How the names of the tables begin that the descriptions of classes have."""

_VIRTUAL, _PUBLIC = 1, 2
"""The bits of a base class among several."""


class _Part(NamedTuple):
    """A part of an object: its class, where it begins, and whether it is public."""

    name: str
    offset: int
    public: bool


def virtual_function(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_virtual(object, number)``: the address of a virtual function of an object, by its number."""
    number, table = (evaluate(thread, state, operand) for operand in ins.operands[2:4])
    if not isinstance(table, ArrayAddress) or not isinstance(number, int):
        return thread.out.stops("null")
    set_result(thread, state, ins.operands[0], _in_table(thread, state, table, POINTER * number))
    return True


def cast(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__dynamic_cast(object, its class, class, hint)``: the part of an object that is of a class; null where there is
    none.
    """
    source, _, wanted, _, table = (evaluate(thread, state, operand) for operand in ins.operands[1:6])
    if not isinstance(table, ArrayAddress) or not table.array.name.startswith(TABLE):
        return thread.out.stops("null")
    if table.array.name.startswith(_OF_DESCRIPTIONS):  # on a way that no object of a class of the program takes
        return thread.out.stops("null")
    assert isinstance(wanted, ArrayAddress)
    described = _in_table(thread, state, table, _DESCRIPTION)
    whole = _in_table(thread, state, table, _WHOLE)
    if not isinstance(described, ArrayAddress) or not isinstance(whole, int):
        raise thread.out.wrong("a cast of an object whose class the program does not describe is not understood")
    found = [part for part in _parts(thread, described.array.name, 0, True) if part.name == wanted.array.name]
    if len(found) > 1 or not all(part.public for part in found):
        raise thread.out.wrong("a cast to one of several base classes, or to a private one, is not understood")
    set_result(thread, state, ins.operands[0], further(source, signed(whole, 64) + found[0].offset) if found else 0)
    return True


def _in_table(thread: FollowedThread, state: State, table: ArrayAddress, place: int) -> Value:
    """Return what a table has at a place, from that on which objects have the address of."""
    return loaded(thread, state, ArrayAddress(table.array, table.offset + place), POINTER, PLAIN)


def _parts(thread: FollowedThread, name: str, offset: int, public: bool) -> Iterator[_Part]:
    """Yield the parts of an object of a class, by the description of that, and all that these have.

    Raises ``NotUnderstoodError`` where the program does not describe one, or has virtual base classes.
    """
    yield _Part(name, offset, public)
    variable = thread.module.variables.get(name)
    if variable is None or not variable.addresses:
        raise thread.out.wrong("a cast of an object whose class the program does not describe is not understood")
    symbols = {place: symbol.name for place, symbol in variable.addresses}
    if _SINGLE in symbols[0]:
        yield from _parts(thread, symbols[2 * POINTER], offset, public)
    elif _SEVERAL in symbols[0]:
        for place in sorted(symbols)[2:]:
            flags = int.from_bytes(variable.initial[place + POINTER : place + 2 * POINTER], "little", signed=True)
            if flags & _VIRTUAL:
                raise thread.out.wrong("a cast of an object with virtual base classes is not understood")
            yield from _parts(thread, symbols[place], offset + (flags >> 8), public and bool(flags & _PUBLIC))
    elif _CLASS not in symbols[0]:
        raise thread.out.wrong("a cast of an object whose class the program does not describe is not understood")


ROWS: tuple[Row[Meaning], ...] = (
    Row("@__dynamic_cast", NOTHING, "any*", cast),
    Row("@__synth_virtual", READS, "any*", virtual_function),
)
"""What is done with the table of an object, by name."""
