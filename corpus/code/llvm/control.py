"""Blocks of LLVM and the ways between them: branches, switches, phis, which are moves on the ways to their block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from corpus.code import ir
from corpus.code.calls import CHECKS
from corpus.code.functions import UNWIND
from corpus.code.launch.created import RESULT
from corpus.code.llvm.blocks import (
    ENTRY,
    SANITIZER,
    BodyLine,
)
from corpus.code.llvm.calls import translate_call
from corpus.code.llvm.operations import FAST_FLAGS
from corpus.code.llvm.text import TextReader, unquoted
from corpus.code.llvm.types import (
    VOID,
    IntType,
    IrError,
)
from corpus.code.llvm.writing import NO_LINE, ORDERS, FunctionTranslation, emit, kind, new_register, results, scalars


def translate_return(out: FunctionTranslation, reader: TextReader) -> None:
    """Write what a function gives, and its return."""
    type = reader.type()
    if type != VOID:
        value = scalars(out, reader.operand(type))
        for number, (scalar, part) in enumerate(value):
            name = RESULT if len(value) == 1 else f"{RESULT}.{number}"
            emit(out, "mov", (kind(out, scalar),), ir.Register(name), part)
    emit(out, "ret", ())


PAD = "pad"
"""How the name of a table begins that has what a block asks of exceptions that go there: ``pad L10``."""


@dataclass
class FunctionBlocks:
    """The blocks of a function while they are translated: their phis, and ways to them that are still to be written."""

    phis: Mapping[str, list[BodyLine]]
    passed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Of blocks that an assertion fails in: the block before, and the other one that it may go on in."""
    beginnings: Mapping[str, BodyLine] = field(default_factory=dict)
    literals: frozenset[int] = frozenset()
    """The lines of instructions by which the address of a compound literal may outlive its block."""
    block: str = ENTRY
    edges: list[tuple[str, str, BodyLine]] = field(default_factory=list)


def label_of(name: str) -> str:
    """Return the label of a block."""
    return f"L{name}"


def _branch(out: FunctionTranslation, reader: TextReader, blocks: FunctionBlocks) -> None:
    if reader.take("label"):
        go_to(out, blocks, reader.next()[1:])
        return
    reader.expect("i1")
    decider = reader.operand(IntType(1)).operand
    targets = []
    for _ in range(2):
        reader.expect(",")
        reader.expect("label")
        targets.append(unquoted(reader.next()))
    if not isinstance(decider, ir.Register):
        held = new_register(out, "pred")
        emit(out, "mov", ("pred",), held, decider)
        decider = held
    words = (CHECKS,) if SANITIZER in reader.words else ()
    emit(out, "bra", words, ir.SymbolRef(_way(out, blocks, targets[0])), guard=ir.KernelGuard(decider.name))
    go_to(out, blocks, targets[1])


def _switch(out: FunctionTranslation, reader: TextReader, blocks: FunctionBlocks) -> None:
    value = reader.typed()
    reader.expect(",")
    reader.expect("label")
    otherwise = unquoted(reader.next())
    reader.expect("[")
    cases: list[tuple[ir.Operand, BodyLine]] = []
    while not reader.take("]"):
        case = reader.typed()
        reader.expect(",")
        reader.expect("label")
        equal = new_register(out, "pred")
        emit(out, "compare", ("eq", kind(out, value.type)), equal, value.operand, case.operand)
        target = unquoted(reader.next())
        cases.append((case.operand, blocks.beginnings.get(target, NO_LINE)))
        emit(out, "bra", (), ir.SymbolRef(_way(out, blocks, target)), guard=ir.KernelGuard(equal.name))
    if _is_of_orders(blocks.beginnings.get(otherwise, NO_LINE), cases):
        relaxed = new_register(out, "pred")
        emit(out, "compare", ("eq", kind(out, value.type)), relaxed, value.operand, ir.Number(0))
        emit(out, "bra", (), ir.SymbolRef(_way(out, blocks, otherwise)), guard=ir.KernelGuard(relaxed.name))
        emit(out, "refused", (), ir.SymbolRef("an atomic access in an order that it may not have is not understood"))
    go_to(out, blocks, otherwise)


def _is_of_orders(line: BodyLine, cases: Sequence[tuple[ir.Operand, BodyLine]]) -> bool:
    """Decide whether a switch chooses the order of an access, which the program computes: relaxed in no case (C17
    7.17.3), and in each case the same access in another order.
    """

    def access(line: BodyLine) -> list[str]:
        return [word for word in line.words if word not in ORDERS]

    atomic = line.name == "atomicrmw" or (line.name in ("load", "store") and "atomic" in line.words[:3])
    known = all(isinstance(case, ir.Number) and 1 <= case.value <= 5 for case, _ in cases)
    return atomic and "monotonic" in line.words and known and all(access(other) == access(line) for _, other in cases)


def _way(out: FunctionTranslation, blocks: FunctionBlocks, target: str) -> str:
    """Return the label of a way to a block: of its own, or of where its phis are given their values first."""
    if not blocks.phis.get(target):
        return label_of(target)
    label = f"{label_of(target)}'{len(out.code)}"
    blocks.edges.append((label, target, out.line))
    return label


def go_to(out: FunctionTranslation, blocks: FunctionBlocks, target: str) -> None:
    """Write the way to a block from the one at hand: its phis, and a jump."""
    line, phis = out.line, blocks.phis.get(target, [])
    moves: list[tuple[str, ir.Register, ir.Operand]] = []
    for phi in phis:
        out.line = phi._replace(place=phi.place or line.place)
        reader = TextReader(phi.words, out.module.names)
        reader.expect("phi")
        while reader.take(*FAST_FLAGS):
            pass
        type = reader.type()
        while True:
            reader.expect("[")
            value = reader.operand(type)
            reader.expect(",")
            source = unquoted(reader.next())
            reader.expect("]")
            if source == blocks.block or (blocks.block == ENTRY and source not in blocks.phis):
                pairs = zip(results(out, type), scalars(out, value), strict=True)
                moves += [(kind(out, scalar), register, part) for register, (scalar, part) in pairs]
                break
            if not reader.take(","):
                raise IrError(f"no value of a phi for the block {blocks.block}")
    out.line = line
    if len(moves) > 1:  # at once: a phi may be the value of another one
        held = [(form, new_register(out, form), part) for form, _, part in moves]
        for form, register, part in held:
            emit(out, "mov", (form,), register, part)
        moves = [(form, register, copy) for (form, register, _), (_, copy, _) in zip(moves, held, strict=True)]
    for form, register, part in moves:
        emit(out, "mov", (form,), register, part)
    emit(out, "bra", (), ir.SymbolRef(label_of(target)))


def _invoked(out: FunctionTranslation, reader: TextReader, blocks: FunctionBlocks) -> None:
    """Write a call that may throw, and where what is thrown goes."""
    begun, words = len(out.code), reader.words
    translate_call(out, reader)
    place = max(number for number, word in enumerate(words) if word == "unwind")
    pad = unquoted(words[place + 2])
    if blocks.phis.get(pad):
        raise IrError("an exception that goes to a place with values of its own is not understood")
    for number in range(begun, len(out.code)):
        out.tables[f"{UNWIND} {number}"] = (label_of(pad),)
    go_to(out, blocks, unquoted(words[place - 1]))


def _landed(out: FunctionTranslation, reader: TextReader, blocks: FunctionBlocks) -> None:
    """Write what an exception brings to a block, and what the block asks of it."""
    pair = reader.type()
    clauses: list[str] = []
    while reader.word:
        if reader.take("cleanup"):
            clauses.append("cleanup")
        elif reader.take("catch"):
            reader.type()
            type = reader.next()
            clauses.append(unquoted(type) if type.startswith("@") else type)
        else:
            clauses.append("filter")
            break
    out.tables[f"{PAD} {label_of(blocks.block)}"] = tuple(clauses)
    emit(out, "landingpad", (), ir.Vector(tuple(results(out, pair))))


CONTROL: Mapping[str, Callable[[FunctionTranslation, TextReader, FunctionBlocks], None]] = {
    "br": _branch,
    "switch": _switch,
    "invoke": _invoked,
    "landingpad": _landed,
    "resume": lambda out, reader, blocks: emit(out, "resume", ()),
}
"""The instructions of control by name, each with what translates it."""
