"""Defines what the reader knows of a processor: a table of instructions, one of jumps, and where arguments are.

A row of a table says what the instruction does to memory, which operands it takes, and what it does to the thread:

    "ldr": InstructionRow(READS, "w|x m", _load())      a register of the kind w or x, and an address of the kind m

The operands are held against the row before its meaning runs, so that a meaning is only ever given what it was written
for. An instruction without a row is refused by name, and so is one whose operands no form of its row has.

**Forms.** Operands have spaces between them, kinds of one operand ``|``, and forms `` / ``. ``?`` is behind an operand
that may be left out. A kind is a regular expression with examples (``OperandPattern``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from corpus.code.assembly.text import AssemblyLine
from corpus.code.assembly.thread import AskedBranch, AssemblyThread

Meaning = Callable[[AssemblyThread, AssemblyLine], None]
"""What an instruction does to a thread."""


def nothing(thread: AssemblyThread, ins: AssemblyLine) -> None:
    """Do nothing, as instructions do that say nothing of memory: ``nop``."""


class MemoryEffect(StrEnum):
    """What an instruction does to memory, where it has an operand that is a place in memory."""

    NOTHING = "nothing"
    READS = "reads"
    WRITES = "writes"
    MOVES = "reads a source, writes a target"
    UPDATES = "reads, and writes a target"
    ORDERS = "orders"


NOTHING, READS, WRITES, MOVES, UPDATES, ORDERS = MemoryEffect


@dataclass(frozen=True, slots=True)
class OperandPattern:
    """A kind of operands: the regular expression that all of them match, and examples."""

    pattern: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InstructionRow:
    """What is known of an instruction: what it does to memory, the forms of its operands, and what it does."""

    effect: MemoryEffect
    forms: str
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class MachineJump:
    """Where an instruction may lead: to a label, to the next instruction (``""``), or out of the function (None).

    ``asked`` says whether it does; None: always.
    """

    target: str | None
    asked: Callable[[AssemblyThread], bool | AskedBranch] | None = None


@dataclass(frozen=True, slots=True)
class JumpRow:
    """What is known of an instruction after which control may be elsewhere: the forms of its operands, and the jump."""

    forms: str
    jump: Callable[[AssemblyLine], MachineJump]


@dataclass(frozen=True, slots=True)
class MachineLanguage:
    """The assembly of a processor. ``name`` is that of its model, ``comment`` what begins a comment. ``arguments`` are
    the registers of the two pointers, ``stack`` the stack pointer. ``signed``: registers of 64 bits keep numbers of 32
    with their sign. ``kinds`` are the kinds of operands that forms name.
    """

    name: str
    comment: str
    arguments: tuple[str, str]
    stack: str
    kinds: Mapping[str, OperandPattern]
    table: Mapping[str, InstructionRow]
    jumps: Mapping[str, JumpRow]
    signed: bool = False

    def wrong_operands(self, ins: AssemblyLine, forms: str) -> str | None:
        """Return what is wrong with the operands of an instruction whose row has these forms, None if nothing is."""
        patterns = tuple((name, kind.pattern) for name, kind in self.kinds.items())
        if form_pattern(forms, patterns).fullmatch(operand_text(ins.operands)):
            return None
        return f"its operands are none of those that are known: {forms.strip() or 'none'}"


NUMBER = r"-?(?:0[xX][0-9a-fA-F]{1,16}|0|[1-9][0-9]{0,18})"
"""A number of no more than 64 bits."""
LABEL = OperandPattern(r"[.A-Za-z_$][\w.$@]*", (".L1",))
"""A label that a jump names."""


def form_operands(forms: str) -> list[list[tuple[tuple[str, ...], bool]]]:
    """Return the operands of each form: the kinds of each, and whether it may be left out."""
    return [
        [(tuple(word.removesuffix("?").split("|")), word.endswith("?")) for word in form.split()]
        for form in forms.split("/")
    ]


def operand_text(operands: tuple[str, ...]) -> str:
    """Return operands as the text that ``form_pattern`` matches: a line break before each."""
    return "".join(f"\n{each}" for each in operands)


@lru_cache(maxsize=1024)
def form_pattern(forms: str, patterns: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    """Return the regular expression of all operands that have one of the forms, by those of each kind."""
    known = dict(patterns)

    def operand(names: tuple[str, ...], optional: bool) -> str:
        return f"(?:\n(?:{'|'.join(known[name] for name in names)}))" + "?" * optional

    return re.compile("|".join("".join(operand(*each) for each in form) for form in form_operands(forms)))
