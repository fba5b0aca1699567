"""The grammar of SPIR-V as a table: instructions, enumerants, masks and sets of extended instructions (chapter 3 of
SPIR-V 1.6 and the registered extensions, the specifications of each set).

``grammar.json`` has a line for each name: its number, and the kinds of its operands. ``OpLoad`` is ``61 type result id
MemoryAccess?``: kinds in lower case are defined here, the others name an enumeration or a mask. ``?`` may be left out,
``*`` may stand many times; ``id+id`` is a pair. Names with the same number are aliases of the first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from corpus.files import folder_of, read_text

KINDS = {
    "type": "the id of a type",
    "result": "a new id",
    "id": "an id",
    "integer": "a number of 32 bits",
    "float": "a floating-point number of 32 bits",
    "string": "a string",
    "number": "a number of the result's type, in a switch of the selector's",
    "instruction": "an instruction of an extended set",
    "opcode": "an opcode without Op",
}
"""The kinds of operands that are no enumerations."""


class OperandKind(NamedTuple):
    """What an operand may be: one part, or the parts of a pair; as often as the quantifier, ``""``, ``?`` or ``*``,
    says.
    """

    parts: tuple[str, ...]
    quantifier: str = ""


class GrammarRow(NamedTuple):
    """An instruction, enumerant or bit of a mask: its first name, its number, the kinds of its operands.

    ``type`` and ``result`` are not among the kinds of an instruction's operands.
    """

    name: str
    number: int
    kinds: tuple[OperandKind, ...] = ()
    has_type: bool = False
    has_result: bool = False


class GrammarTable(NamedTuple):
    """Rows by every name, and by number."""

    by_name: Mapping[str, GrammarRow]
    by_number: Mapping[int, GrammarRow]


class SpirvGrammar(NamedTuple):
    """The tables: instructions, enumerations and masks by kind, sets of extended instructions by name."""

    instructions: GrammarTable
    values: Mapping[str, GrammarTable]
    masks: Mapping[str, GrammarTable]
    sets: Mapping[str, GrammarTable]

    def set_named(self, name: str) -> GrammarTable | None:
        """Return the instructions of a set by the name that imports it, where its last number, which is its revision,
        may differ from the table's.
        """
        return self.sets.get(name) or self.sets.get(re.sub(r"\.[0-9]+\Z", "", name))


MANY_IDS = (OperandKind(("id",), "*"),)
"""The operands of an extended instruction of which the table says no more."""


@cache
def spirv_grammar() -> SpirvGrammar:
    """Return the tables of instructions and enumerants, which are read once from ``grammar.json``."""
    tables = json.loads(read_text(folder_of("corpus.code.spirv") / "grammar.json"))
    return SpirvGrammar(
        _table(tables["instructions"]),
        {kind: _table(rows) for kind, rows in tables["values"].items()},
        {kind: _table(rows) for kind, rows in tables["masks"].items()},
        {name: _table(rows, MANY_IDS) for name, rows in tables["sets"].items()},
    )


def bits_of(table: GrammarTable, number: int) -> list[GrammarRow]:
    """Return the row of each bit of a number of 32 bits, those that the table has not named by their number."""
    bits = [1 << place for place in range(32) if number >> place & 1]
    return [table.by_number.get(bit) or GrammarRow(str(bit), bit) for bit in bits]


def _table(rows: Mapping[str, str | int], otherwise: tuple[OperandKind, ...] = ()) -> GrammarTable:
    by_name: dict[str, GrammarRow] = {}
    by_number: dict[int, GrammarRow] = {}
    for name, text in rows.items():
        number, *words = str(text).split()
        row = by_number.get(int(number))
        if row is None:
            kinds = tuple(_kind(word) for word in words if word not in ("type", "result")) or otherwise
            row = GrammarRow(name, int(number), kinds, "type" in words, "result" in words)
            by_number[row.number] = row
        by_name[name] = row
    return GrammarTable(by_name, by_number)


@cache
def _kind(word: str) -> OperandKind:
    name = word.rstrip("?*")
    return OperandKind(tuple(name.split("+")), word[len(name) :])
