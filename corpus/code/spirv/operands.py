"""Instructions read from the words of a binary or of a text by the same table (SPIR-V 1.6, 2.3).

An id may be used before it is defined, in a text by hand even a type or a set of extended instructions. So what the
operands of others are read by is collected first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn, Protocol

from corpus.code.spirv.grammar import MANY_IDS, GrammarRow, GrammarTable, OperandKind, SpirvGrammar, spirv_grammar
from corpus.code.spirv.literals import WORD, NumberType, number_type
from corpus.code.spirv.module import (
    Enumerant,
    Id,
    Mask,
    SpirvFloat,
    SpirvInstruction,
    SpirvInteger,
    SpirvOperand,
    SpirvString,
)
from corpus.errors import InputError

UNKNOWN = (OperandKind(("integer",), "*"),)
"""The operands of an instruction that the grammar does not know: its words."""


class InstructionPlace(NamedTuple):
    """An instruction whose operands are still to be read: they stand from ``start`` to before ``end``."""

    row: GrammarRow
    type: str | None
    result: str | None
    start: int
    end: int
    line: int


DESCRIBING = "OpenCL.DebugInfo"
"""How the name begins of the set of extended instructions for debuggers that LLVM's translator writes."""


class OperandSource(Protocol):
    """The operands of an instruction, one after the other. Each method takes one, or raises ``InputError``."""

    def seek(self, place: InstructionPlace) -> None:
        """Go to the operands of an instruction."""

    def more(self) -> bool:
        """Return whether there is another operand in the instruction."""

    def id(self) -> Id:
        """Take the next operand, which has to be an id."""

    def words(self) -> tuple[SpirvInteger, ...]:
        """Take all operands of an instruction as numbers; none in a text, whose operands are no words."""

    def number(self, type: NumberType) -> SpirvInteger | SpirvFloat:
        """Take a literal number of a type."""

    def string(self) -> SpirvString:
        """Take the next operand, which has to be a literal string."""

    def row(self, table: GrammarTable, what: str, any_name: bool = False) -> GrammarRow:
        """Take one name of a table, or its number; ``any_name`` where a name that is not in the table will do."""

    def rows(self, table: GrammarTable, what: str) -> Sequence[GrammarRow]:
        """Take the names of a mask, in the order of their bits, or its number."""

    def fail(self, wanted: str) -> NoReturn:
        """Raise the error that the next operand, or the end, is not what was wanted."""


class ModuleContext(NamedTuple):
    """What the operands of instructions are read by, beside the grammar: the types of numbers by id, the types of
    results by id, and the sets of extended instructions by the id that imports them.
    """

    grammar: SpirvGrammar
    numbers: dict[str, NumberType]
    types: dict[str, str]
    sets: dict[str, str]


def read_instructions(places: Sequence[InstructionPlace], source: OperandSource) -> Iterator[SpirvInstruction]:
    """Yield the instructions of a stream of words or of text, in their order."""
    context = ModuleContext(spirv_grammar(), {}, {}, {})
    for place in places:
        if place.result is None:
            continue
        if place.type is not None:
            context.types[place.result] = place.type
        elif place.row.name in ("OpTypeInt", "OpTypeFloat", "OpExtInstImport"):
            instruction = _instruction(place, source, context)
            type = number_type(instruction)
            if type is not None:
                context.numbers[place.result] = type
            elif instruction.operands and isinstance(instruction.operands[0], SpirvString):
                context.sets[place.result] = instruction.operands[0].value
    for place in places:
        yield _instruction(place, source, context)


def _instruction(place: InstructionPlace, source: OperandSource, context: ModuleContext) -> SpirvInstruction:
    source.seek(place)
    reader, operands = _OperandReader(context, source, place.type), tuple[SpirvOperand, ...]()
    try:
        operands = reader.read(place.row)
    except InputError:
        if not reader.describes:
            raise
        source.seek(place)
        operands = source.words()
        if not operands:
            raise
    return SpirvInstruction(place.row.name, place.type, place.result, operands, place.line)


class _OperandReader:
    """Reads the operands of one instruction after its result."""

    def __init__(self, context: ModuleContext, source: OperandSource, type: str | None) -> None:
        self._context, self._source, self._type = context, source, type
        self._operands: list[SpirvOperand] = []
        self._unknown = False

    @property
    def describes(self) -> bool:
        """Whether the instruction only describes the source: LLVM's translator writes ids that are 0 there, and some
        instructions with the operands of others.
        """
        return bool(self._operands) and self._set()[0].startswith(DESCRIBING)

    def read(self, row: GrammarRow) -> tuple[SpirvOperand, ...]:
        """Return all operands. What stands behind an enumerant that the grammar does not know is kept as numbers."""
        self._several(row.kinds, self._operands)
        if self._source.more() and not self._unknown:
            self._source.fail(f"the end of {row.name}")
        while self._source.more():
            self._operands.append(self._source.number(WORD))
        return tuple(self._operands)

    def _several(self, kinds: Sequence[OperandKind], operands: list[SpirvOperand]) -> None:
        for parts, quantifier in kinds:
            if not quantifier or self._source.more():
                for part in parts:
                    self._one(part, operands)
            while quantifier == "*" and self._source.more():
                for part in parts:
                    self._one(part, operands)

    def _one(self, kind: str, operands: list[SpirvOperand]) -> None:
        source, grammar = self._source, self._context.grammar
        if kind == "id":
            operands.append(source.id())
        elif kind == "integer":
            operands.append(source.number(WORD))
        elif kind == "float":
            operands.append(source.number(NumberType(32, True)))
        elif kind == "string":
            operands.append(source.string())
        elif kind == "number":
            operands.append(source.number(self._number_type()))
        elif kind == "opcode":
            row = source.row(grammar.instructions, "an opcode")
            if row.name == "OpSpecConstantOp":  # lest they nest without end
                source.fail("the end, as no opcode is within another")
            operands.append(Enumerant(row.name.removeprefix("Op")))
            self._unknown |= row.number not in grammar.instructions.by_number
            self._several(row.kinds, operands)
        elif kind == "instruction":
            name, table = self._set()
            row = source.row(table, f"an instruction of {name or 'a set'}", name.startswith("NonSemantic."))
            operands.append(Enumerant(row.name))
            self._several(row.kinds if row.number in table.by_number else MANY_IDS, operands)
        elif kind in grammar.masks:
            rows = source.rows(grammar.masks[kind], kind)
            operands.append(Mask(tuple(self._enumerant(row, grammar.masks[kind]) for row in rows)))
        else:
            operands.append(self._enumerant(source.row(grammar.values[kind], kind), grammar.values[kind]))

    def _enumerant(self, row: GrammarRow, table: GrammarTable) -> Enumerant:
        self._unknown |= row.number not in table.by_number
        parameters: list[SpirvOperand] = []
        self._several(row.kinds, parameters)
        return Enumerant(row.name, tuple(parameters))

    def _number_type(self) -> NumberType:
        """The type of a constant's value, or of the selector of a switch, its first operand."""
        type = self._type
        if type is None and self._operands and isinstance(self._operands[0], Id):
            type = self._context.types.get(self._operands[0].name)
        found = self._context.numbers.get(type or "")
        return found or self._source.fail(f"no literal, as {f'%{type}' if type else 'its type'} is no type of numbers")

    def _set(self) -> tuple[str, GrammarTable]:
        """Return the name and the instructions of the set that the first operand has imported; none where none."""
        first = self._operands[0]
        name = self._context.sets.get(first.name, "") if isinstance(first, Id) else ""
        return name, self._context.grammar.set_named(name) or GrammarTable({}, {})
