"""A module of SPIR-V as data: what it declares, its functions, their blocks and instructions (SPIR-V 1.6, chapter 2).

``%7 = OpLoad %uint %5 Aligned|Volatile 4`` is ``SpirvInstruction("OpLoad", "uint", "7", (Id("5"), Mask((
Enumerant("Volatile"), Enumerant("Aligned", (SpirvInteger(4),))))), ..)``. Ids are named as in the text, without ``%``;
in a binary they are numbers. An enumerant has the first of its names in the grammar: ``VulkanKHR`` is ``Vulkan``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from corpus.code.ir import SourceLine


class Id(NamedTuple):
    """An operand that is an id: of a type, a value, a label or a set of instructions."""

    name: str


class SpirvInteger(NamedTuple):
    """A literal integer. Its type gives its width and sign; an operand that is no constant has 32 bits, unsigned."""

    value: int
    width: int = 32


class SpirvFloat(NamedTuple):
    """A literal float: its bits, and the format, which is IEEE 754's unless ``encoding`` names another
    (``BFloat16KHR``).
    """

    bits: int
    width: int
    encoding: str = ""


class SpirvString(NamedTuple):
    """An operand that is a literal string, such as a name."""

    value: str


class Enumerant(NamedTuple):
    """A name of an enumeration, with the operands that come with it: ``BuiltIn WorkgroupId``, ``Aligned 4``.

    Also the instruction that ``OpExtInst`` names, and the opcode, without ``Op``, of ``OpSpecConstantOp``. What the
    grammar has no name for is named by its number.
    """

    name: str
    parameters: tuple[SpirvOperand, ...] = ()


class Mask(NamedTuple):
    """Enumerants of a mask, in the order of their bits; none is ``None`` in text."""

    enumerants: tuple[Enumerant, ...]

    def get(self, name: str) -> Enumerant | None:
        """Return the enumerant of a name, None where it is not in the mask."""
        return next((enumerant for enumerant in self.enumerants if enumerant.name == name), None)


SpirvOperand = Id | SpirvInteger | SpirvFloat | SpirvString | Enumerant | Mask


class SpirvInstruction(NamedTuple):
    """An instruction: its name, the ids of its result type and of its result, and its other operands.

    Pairs of operands, as of ``OpPhi`` and ``OpSwitch``, stand one after the other. ``line`` is its line in the text,
    or in a binary the index of its first word; ``source`` its line in the source code. ``Op9999`` is an instruction
    of a binary that the grammar does not know; its operands are its words.
    """

    name: str
    type: str | None
    result: str | None
    operands: tuple[SpirvOperand, ...]
    line: int
    source: SourceLine | None = None

    @property
    def ids(self) -> list[str]:
        """The operands that are ids, without those of enumerants."""
        return [operand.name for operand in self.operands if isinstance(operand, Id)]

    @property
    def numbers(self) -> list[int]:
        """The operands that are literal integers."""
        return [operand.value for operand in self.operands if isinstance(operand, SpirvInteger)]

    @property
    def is_variable(self) -> bool:
        """Whether the instruction declares a variable."""
        return self.name in ("OpVariable", "OpUntypedVariableKHR")

    @property
    def initializer(self) -> str | None:
        """The constant that a variable holds at first; None where it has none."""
        return next(iter(self.ids if self.name == "OpVariable" else self.ids[1:]), None)


def extended_of(
    instruction: SpirvInstruction | None, imports: Mapping[str, str], *sets: str
) -> tuple[str, Sequence[SpirvOperand]]:
    """Return the name and the operands of an extended instruction of a set whose name begins so; ``""`` of others."""
    match instruction and instruction.operands:
        case (Id(set), Enumerant(name), *operands) if imports.get(set, "").startswith(sets):
            return name, operands
    return "", ()


def number_of(operand: SpirvOperand | None, defined: Mapping[str, SpirvInstruction]) -> int | None:
    """Return the number that an operand is, or that a constant has which it names; None where there is none."""
    if isinstance(operand, Id):
        constant = defined.get(operand.name)
        operand = constant.operands[0] if constant is not None and constant.name == "OpConstant" else None
    return operand.value if isinstance(operand, SpirvInteger) else None


def string_of(operand: SpirvOperand | None, defined: Mapping[str, SpirvInstruction]) -> str | None:
    """Return the string that an operand names; None where it names none."""
    match defined.get(operand.name) if isinstance(operand, Id) else None:
        case SpirvInstruction("OpString", operands=(SpirvString(text), *_)):
            return text
    return None


class SpirvComment(NamedTuple):
    """A comment of a text, without its semicolon: its line and the column of the semicolon, from 1."""

    text: str
    line: int
    column: int


class SpirvEntryPoint(NamedTuple):
    """An ``OpEntryPoint``: execution model, the function's id, the name, and the variables that it names."""

    model: str
    function: str
    name: str
    interface: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpirvBlock:
    """A block: the id of its label, and its instructions, of which the last ends it."""

    label: str
    instructions: tuple[SpirvInstruction, ...]


@dataclass(frozen=True, slots=True)
class SpirvFunction:
    """A function: its id, the id of the type of its result, its ``OpFunctionParameter``, and its blocks in their order,
    none where it is only declared. ``labels`` maps a label to the number of its block.
    """

    name: str
    result_type: str
    parameters: tuple[SpirvInstruction, ...]
    blocks: tuple[SpirvBlock, ...]
    labels: Mapping[str, int]
    line: int


SpirvTarget = str | tuple[str, int]
"""What is named or decorated: an id, or a member of a type by the id of that and its number."""


class SpirvModels(NamedTuple):
    """What ``OpMemoryModel`` says: the addressing model and the memory model."""

    addressing: str = ""
    memory: str = ""


@dataclass(frozen=True, slots=True)
class SpirvHeader:
    """What is known of a module beside its instructions.

    ``version`` is that of a binary, or what a text has in a comment, if it does. ``binary``: it was read from a binary,
    where the lines of instructions are words. ``files`` are the paths of source files that the compiler knew by other
    names.
    """

    path: str
    version: tuple[int, int] | None = None
    comments: tuple[SpirvComment, ...] = ()
    binary: bool = False
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpirvModule:
    """A module by what its instructions declare, in whatever order they stood (2.4).

    ``imports`` are the names of sets of extended instructions by id. ``globals`` are types, constants, variables and
    undefined values by id; ``debug`` what only describes the module and has an id: strings and the instructions of
    non-semantic sets. ``others`` are instructions without a result that no field has, such as ``OpSource``;
    ``declared`` are the capabilities, extensions, imported sets, memory model, execution modes and decorations as
    instructions, with their lines. Decorations of groups are those of their targets.
    """

    header: SpirvHeader
    imports: Mapping[str, str] = field(default_factory=dict)
    models: SpirvModels = field(default_factory=SpirvModels)
    entry_points: tuple[SpirvEntryPoint, ...] = ()
    execution_modes: Mapping[str, tuple[Enumerant, ...]] = field(default_factory=dict)
    names: Mapping[SpirvTarget, str] = field(default_factory=dict)
    decorations: Mapping[SpirvTarget, tuple[Enumerant, ...]] = field(default_factory=dict)
    globals: Mapping[str, SpirvInstruction] = field(default_factory=dict)
    debug: Mapping[str, SpirvInstruction] = field(default_factory=dict)
    functions: Mapping[str, SpirvFunction] = field(default_factory=dict)
    others: tuple[SpirvInstruction, ...] = ()
    declared: tuple[SpirvInstruction, ...] = field(default=(), compare=False)

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.header.path

    @property
    def instructions(self) -> Iterator[SpirvInstruction]:
        """The instructions of all functions, in their order."""
        blocks = (block for function in self.functions.values() for block in function.blocks)
        return (ins for block in blocks for ins in block.instructions)

    @property
    def languages(self) -> frozenset[str]:
        """The source languages that the module says it was compiled of, as ``OpenCL_C``."""
        sources = (ins.operands[0] for ins in self.others if ins.name == "OpSource")
        return frozenset(each.name for each in sources if isinstance(each, Enumerant))

    def decoration(self, target: SpirvTarget, name: str) -> Enumerant | None:
        """Return the decoration of a target by its name; None where there is none."""
        return next((each for each in self.decorations.get(target, ()) if each.name == name), None)

    def decorated(self, target: SpirvTarget, name: str) -> int | None:
        """Return the number that a decoration of a target has first, as ``Offset 8`` has; None where there is none."""
        match self.decoration(target, name):
            case Enumerant(_, (SpirvInteger(number), *_)):
                return number
        return None
