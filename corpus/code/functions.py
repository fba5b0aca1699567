"""What is known of a function before it is followed: where jumps lead to, and which registers are live there.

$L: ld.u32 %r2, [flag];      $L is a leader; live there: what flag's address needs, and what is read behind the loop
    setp.eq.s32 %p2, %r2, 0;
    @%p2 bra $L;
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from corpus.code import ir
from corpus.litmus.flow import RegisterUse, live_registers
from corpus.litmus.ptx_arithmetic import WIDTHS

UNWIND = "unwind"
"""How the name of a table begins that has the label to which an exception of an instruction goes: ``unwind 12``."""


@dataclass(frozen=True, slots=True)
class FunctionShape:
    """Where jumps of a function lead to, and the registers that are live at each place.

    ``widths`` has the bits of registers by their names, ``%x``; of those declared in a row by what they share, ``%r<``.
    """

    leaders: frozenset[int]
    live: tuple[frozenset[str], ...]
    widths: Mapping[str, int]

    def width(self, register: str) -> int:
        """Return the bits of a register; 64 of one that is not declared."""
        return self.declared(register) or 64

    def declared(self, register: str) -> int | None:
        """Return the bits of a register that is declared; None where there is none of its name."""
        name = _ELEMENT.sub("", register)
        return self.widths.get(name) or self.widths.get(f"{_stem(name)}<")

    @classmethod
    def of(cls, function: ir.KernelFunction) -> FunctionShape:
        """Return what is known of a function: a register is live that is read before it is written."""
        body = function.body or ()
        leaders = set(function.labels.values())
        after: list[list[int]] = []
        uses: list[RegisterUse] = []
        for place, ins in enumerate(body):
            written = frozenset(result_registers(ins))
            read = set(registers_in(ins.operands[1:] if written else ins.operands))
            if ins.guard is not None:
                read.add(ins.guard.register)
                if ins.name != "bra":
                    leaders.add(place + 1)
            uses.append(RegisterUse(frozenset(read), written if ins.guard is None else frozenset()))
            following = [] if ins.name in ("ret", "exit", "trap") and ins.guard is None else [place + 1]
            names = [operand.name for operand in ins.operands if isinstance(operand, ir.SymbolRef)]
            if ins.name == "bra":
                following = following if ins.guard is not None else []
                following += [function.labels[name] for name in names if name in function.labels]
            elif ins.name == "brx":
                targets = (target for name in names for target in function.tables.get(name, ()))
                following = [function.labels[target] for target in targets if target in function.labels]
            elif function.tables:
                following += [function.labels[label] for label in function.tables.get(f"{UNWIND} {place}", ())]
            after.append([target for target in following if target <= len(body)])
        rows = [(place, after[place], uses[place]) for place in reversed(range(len(body)))]
        live = live_registers(rows, {len(body): frozenset()})
        widths = {"".join(name.partition("<")[:2]): WIDTHS.get(kind, 64) for name, kind in function.registers.items()}
        return cls(frozenset(leaders), tuple(live[place] for place in range(len(body) + 1)), widths)


def registers_in(operands: Iterable[ir.Operand]) -> Iterable[str]:
    """Yield the names of the registers that operands mention, those of addresses and within vectors, too."""
    for operand in operands:
        match operand:
            case ir.Register(name):
                yield name
            case ir.MemoryOperand(base):
                yield from registers_in((base,))
            case ir.Vector(parts):
                yield from registers_in(parts)
            case ir.Negated(inner) | ir.Element(inner):
                yield from registers_in((inner,))
            case ir.Both(first, second):
                yield from registers_in((first, second))
            case ir.Sum(terms):
                yield from registers_in(operand for operand, _ in terms)


NO_RESULT = frozenset(
    (
        "st",
        "red",
        "cp",
        "bra",
        "brx",
        "ret",
        "exit",
        "trap",
        "bar",
        "barrier",
        "membar",
        "fence",
        "nanosleep",
        "prefetch",
    )
)
"""Instructions whose first operand is no result."""


def result_registers(ins: ir.KernelInstruction) -> list[str]:
    """Return the registers that an instruction writes."""
    if not ins.operands or (ins.name == "call" and not isinstance(ins.operands[0], ir.Vector)):
        return []
    if ins.name in NO_RESULT and "red" not in ins.words:
        return []
    return [name for name in registers_in(ins.operands[:1]) if not isinstance(ins.operands[0], ir.MemoryOperand)]


def _stem(register: str) -> str:
    """Return a register's name without its number: ``%p'2`` for ``%p1'2``, the ``%p1`` of a nested scope."""
    name, mark, scope = register.partition("'")
    return name.rstrip("0123456789") + mark + scope


_ELEMENT = re.compile(r"\.[xyzw]$")
"""The end of the name of an element of a register that is a vector."""
