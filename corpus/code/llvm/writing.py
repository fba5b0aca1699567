"""The writing of a function of LLVM in the intermediate representation: its state, registers and instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from corpus.code import ir
from corpus.code.llvm.blocks import BodyLine
from corpus.code.llvm.components import BodyComponents
from corpus.code.llvm.debugging import DebugInformation
from corpus.code.llvm.module import FunctionText, ModuleText
from corpus.code.llvm.promotion import Promoted
from corpus.code.llvm.text import TypedOperand
from corpus.code.llvm.types import (
    FloatType,
    IrError,
    Scalar,
    Type,
    bits_of,
)
from corpus.litmus.orders import PLAIN, Mode, Order, Scope

ORDERS: Mapping[str, Order] = {
    "unordered": Order.RELAXED,
    "monotonic": Order.RELAXED,
    "acquire": Order.ACQUIRE,
    "release": Order.RELEASE,
    "acq_rel": Order.ACQ_REL,
    "seq_cst": Order.SC,
}
"""The orders of atomic instructions by their words; unordered is weaker than all that models have."""

NO_SCOPE = "singlethread"
"""The scope of what orders a thread with itself alone, as with its signals."""


def kind_of(scalar: Scalar, sign: str, layout_bits: int) -> str:
    """Return the type of PTX that a scalar is: ``u32``, ``f64``; of one bit ``pred``."""
    if isinstance(scalar, FloatType):
        return "bf16" if scalar.name == "bfloat" else f"f{layout_bits}"
    return "pred" if layout_bits == 1 else f"{sign}{layout_bits}"


NO_LINE = BodyLine("", [], 0, "")


@dataclass(frozen=True)
class KernelDialect:
    """How a language of kernels has what is not LLVM's: the level of a scope by its word, None where it is of the
    thread alone. ``components``: those of vectors are memory locations of their own. Calls of functions without a body
    are instructions ``function``, with the kinds of their arguments.
    """

    scopes: Mapping[str, Scope | None]
    components: bool = False


@dataclass
class FunctionTranslation:
    """A function while it is translated: what is written so far.

    ``lines`` are those of the source by file, where they are known, ``defined`` the functions that have a body.
    ``promoted`` are the variables of the stack that are registers, ``called`` the names of all; ``accessed`` the
    addresses of which nothing is made but accesses. ``taken`` are the bytes of registers that arguments before dots
    take. ``line`` is the one at hand, and ``mode`` that of its access, with the order of one that fails. ``dialect`` is
    that of kernels; all variables of the stack are memory there.
    """

    module: ModuleText
    debug: DebugInformation
    function: FunctionText
    lines: Mapping[str, Sequence[str]]
    defined: frozenset[str]
    code: list[ir.KernelInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    registers: dict[str, str] = field(default_factory=dict)
    variables: list[ir.Variable] = field(default_factory=list)
    promoted: dict[str, Promoted] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)
    accessed: frozenset[str] = frozenset()
    declared: Mapping[str, str] = field(default_factory=dict)
    line: BodyLine = NO_LINE
    mode: tuple[Mode, Order | None] = (PLAIN, None)
    count: int = 0
    dialect: KernelDialect | None = None
    components: BodyComponents | None = None
    doing: str = ""
    taken: tuple[int, int] = (0, 0)


def emit(
    out: FunctionTranslation,
    name: str,
    words: Sequence[str],
    *operands: ir.Operand,
    guard: ir.KernelGuard | None = None,
) -> None:
    """Write an instruction, with the place of the line that is translated."""
    source = out.debug.place(out.line.place) if out.line.place else None
    text = ""
    if source is not None:
        known = out.lines.get(source.file, ())
        text = known[source.line - 1].strip() if source.line <= len(known) else ""
    if out.dialect is not None:
        text = out.doing or out.line.name
    mode, failure = out.mode
    out.code.append(
        ir.KernelInstruction(name, tuple(words), operands, guard, out.line.line, source, mode, failure, text)
    )


def new_register(out: FunctionTranslation, kind: str) -> ir.Register:
    """Return a register that the function does not have."""
    out.count += 1
    name = f"%t'{out.count}"
    out.registers[name] = kind
    return ir.Register(name)


def bits(out: FunctionTranslation, type: Type) -> int:
    """Return the bits of a scalar."""
    if not isinstance(type, Scalar):
        raise IrError("expected a number or an address")
    return bits_of(type, out.module.names.layout)


def kind(out: FunctionTranslation, type: Type, sign: str = "u") -> str:
    """Return the type of PTX that a scalar is."""
    width = bits(out, type)
    assert isinstance(type, Scalar)
    return kind_of(type, sign, width)


def results(out: FunctionTranslation, type: Type) -> list[ir.Register]:
    """Return the registers of the result of the line at hand, one for each scalar of its type."""
    name = out.line.result
    if isinstance(type, Scalar):
        out.registers[name] = kind(out, type)
        return [ir.Register(name)]
    found = []
    for number, (_, scalar) in enumerate(out.module.names.layout.leaves(type)):
        out.registers[f"{name}.{number}"] = kind(out, scalar)
        found.append(ir.Register(f"{name}.{number}"))
    return found


def scalars(out: FunctionTranslation, operand: TypedOperand) -> list[tuple[Scalar, ir.Operand]]:
    """Return the scalars that an operand is made of, with their types."""
    if isinstance(operand.type, Scalar):
        return [(operand.type, operand.operand)]
    leaves = [scalar for _, scalar in out.module.names.layout.leaves(operand.type)]
    if len(leaves) != len(operand.parts):
        raise IrError("expected a value for each part")
    return list(zip(leaves, operand.parts, strict=True))
