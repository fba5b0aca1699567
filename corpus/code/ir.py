"""The intermediate representation of kernels: modules with variables, functions and instructions.

It is that of PTX (PTX ISA 9.1, chapters 4, 5 and 11), and other languages are translated to it, with accesses and
fences whose modes are not words but data. ``ld.global.acquire.gpu.u32 %r1, [%rd2+4];`` is ``KernelInstruction("ld",
("global", "acquire", "gpu", "u32"), (Register("%r1"), MemoryOperand(Register("%rd2"), 4)), ..)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from corpus.litmus.orders import PLAIN, Mode, Order

OPAQUE = ("texref", "samplerref", "surfref")
"""The types of PTX whose values no code sees: textures, samplers and surfaces (PTX ISA 9.1, 5.3)."""

NORETURN = ".noreturn"
"""The directive of a function that does not return (PTX ISA 9.1, 11.4)."""


class Register(NamedTuple):
    """A register of a function, or a special register such as ``%tid.x``."""

    name: str


class SymbolRef(NamedTuple):
    """The name of a variable, function, parameter or label, as an address with an offset in bytes."""

    name: str
    offset: int = 0


class Number(NamedTuple):
    """An operand that is an integer constant."""

    value: int


class Float(NamedTuple):
    """A floating-point constant: its bits in the format of 32 or of 64 bits. A decimal constant has 64."""

    bits: int
    width: int


class Sum(NamedTuple):
    """A sum of operands, each with its factor, as of machine code: ``R2+UR4.X4``, ``-R5``."""

    terms: tuple[tuple[Operand, int], ...]


class MemoryOperand(NamedTuple):
    """The memory at an address: ``[%rd1+8]``, ``[x]``, ``[16]``, ``[R2+UR4]``."""

    base: Register | SymbolRef | Number | Sum
    offset: int = 0


class Vector(NamedTuple):
    """Operands in braces: ``{%r1, %r2}``; also the operands of a texture's coordinates, and the arguments of a call."""

    parts: tuple[Operand, ...]


class Negated(NamedTuple):
    """The negation of a predicate, ``!%p1``, or of a number in a register, ``-%r1``; of machine code of every bit."""

    operand: Operand


class Both(NamedTuple):
    """Two results of one instruction, ``%r1|%p1``."""

    first: Operand
    second: Operand


class Element(NamedTuple):
    """One element of a register that is a vector, ``%v.x``, or of an array by a constant index."""

    base: Operand
    which: str


class WrittenOperand(NamedTuple):
    """An operand as it is written, of a language whose meanings read their operands."""

    text: str


Operand = (
    WrittenOperand | Register | SymbolRef | Number | Float | Sum | MemoryOperand | Vector | Negated | Both | Element
)


class SourceLine(NamedTuple):
    """A line of source code, and the line into which it was inlined, if any (``.loc``, 11.5.2)."""

    file: str
    line: int
    column: int
    inlined_at: SourceLine | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def chain(self) -> tuple[SourceLine, ...]:
        """The line, the line into which it was inlined, and so on outwards."""
        return (self, *(self.inlined_at.chain if self.inlined_at else ()))


class KernelGuard(NamedTuple):
    """The predicate of an instruction: ``@%p1``, or ``@!%p1``, which is ``unless``."""

    register: str
    unless: bool = False


class KernelInstruction(NamedTuple):
    """An instruction: its name, the words behind it, its operands, its predicate, and where it stands.

    ``line`` is its line in the compiled text, ``source`` its line in the source code. ``mode`` is how an access, fence
    or barrier is done, where its words do not say it, and ``failure`` the order of the read of a compare-exchange that
    fails. ``text`` is what the language calls the instruction, where that is another name. ``used`` has a bit for each
    byte of a load whose value is used, where not all are.
    """

    name: str
    words: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: KernelGuard | None
    line: int
    source: SourceLine | None = None
    mode: Mode = PLAIN
    failure: Order | None = None
    text: str = ""
    used: int | None = None

    @property
    def opcode(self) -> str:
        """The name with its words, as the text of PTX has it."""
        return ".".join((self.name, *self.words))

    @property
    def called(self) -> str:
        """What the language calls the instruction: ``st.global.u32``, ``OpAtomicStore``."""
        return self.text or self.opcode


FIELD = "field"
"""The space of parameters that are fields of others, behind these (``corpus.code.launch.fields``)."""


class Field(NamedTuple):
    """A number or pointer in a parameter that is a structure: what it is called behind the parameter, ``.q.v[1]``, or
    ``+8`` where nothing names it; the bit that it begins at, and how many it has. ``element``: the bytes of what it
    points to, where that is known.
    """

    name: str
    start: int
    bits: int
    pointer: bool = False
    element: int | None = None

    def meets(self, start: int, end: int) -> bool:
        """Decide whether the field has one of the bits from one place to before another."""
        return self.start < end and start < self.start + self.bits

    def overlaps(self, other: Field) -> bool:
        """Decide whether two fields have a bit in common."""
        return self.meets(other.start, other.start + other.bits)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: state space, type, alignment and size in bytes, and initial bytes as far as they are given.

    ``addresses`` are the symbols whose addresses stand in the initial value, by their place in bytes. ``size`` is None
    where the module does not say it (``extern .shared .b8 a[]``). ``parts`` are the members of a buffer by the bytes
    where they begin. Of a parameter of a kernel ``called`` is its name in the source, where the module says it, and
    ``fields`` are those of a structure.
    """

    name: str
    space: str
    type: str
    size: int | None
    align: int
    initial: bytes = b""
    addresses: tuple[tuple[int, SymbolRef], ...] = ()
    extern: bool = False
    line: int = 0
    parts: tuple[tuple[int, str], ...] = ()
    called: str = ""
    fields: tuple[Field, ...] = ()


class BlockSize(NamedTuple):
    """The threads of a block along x, y and z, where the module says them, and the directions (0 to 2) along which the
    host chooses others.
    """

    threads: tuple[int, int, int] | None = None
    chosen: tuple[int, ...] = ()


ANY_BLOCK = BlockSize()
"""The size of the blocks of a kernel whose module does not say one."""


@dataclass(frozen=True, slots=True)
class KernelFunction:
    """A kernel (``entry``) or function: parameters, results, registers by type, variables, code, and labels.

    Names of nested scopes are made unique. ``labels`` maps a label to the number of the instruction behind it;
    ``tables`` maps the label of a ``.branchtargets`` or ``.calltargets`` to the names that it lists. ``body`` is None
    where the function is only declared.
    """

    name: str
    entry: bool
    results: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    registers: Mapping[str, str]
    variables: tuple[Variable, ...]
    body: tuple[KernelInstruction, ...] | None
    labels: Mapping[str, int]
    tables: Mapping[str, tuple[str, ...]]
    directives: tuple[str, ...] = ()
    line: int = 0
    block_size: BlockSize = ANY_BLOCK
    called: str = ""

    @property
    def declared(self) -> tuple[Variable, ...]:
        """The parameters that are declared, without the fields of structures, which stand behind them."""
        return tuple(parameter for parameter in self.parameters if parameter.space != FIELD)

    def number_of(self, parameter: str) -> int | None:
        """Return the number of a parameter by its name, or by that of a box of its tensor map, ``map(0,16)``; None
        where there is none.
        """
        name = parameter.partition("(")[0]
        return next((number for number, variable in enumerate(self.parameters) if variable.name == name), None)


COMPILED = "line of the compiled code"
"""What the lines of instructions count where the path of their module is that of a source."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module: its version and target, variables and functions by name, the path of its text, and its language.

    ``unit`` is what the lines of its instructions count: lines of a text, ``COMPILED`` where that is what a compiler
    has made of the file, or words of a binary. ``assumed`` is what its
    reader has taken for granted.
    """

    path: str
    version: str
    target: str
    variables: Mapping[str, Variable]
    functions: Mapping[str, KernelFunction]
    language: str
    unit: str = "line"
    assumed: tuple[str, ...] = ()

    @property
    def kernels(self) -> tuple[KernelFunction, ...]:
        """The kernels that have a body, in the order of the text."""
        return tuple(function for function in self.functions.values() if function.entry and function.body is not None)

    def variable(self, function: KernelFunction, name: str) -> Variable | None:
        """Return the variable of a function, or else of the module, that has a name; None where there is none."""
        every = (*function.variables, *self.variables.values())
        return next((variable for variable in every if variable.name == name), None)
