"""Defines what the reader knows of a processor: its tables of instructions and of jumps, and where arguments are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from corpus.code.assembly.text import AssemblyLine
from corpus.code.assembly.thread import ProcessorState, ProcessorThread
from corpus.code.table import Kind, Lack, MeaningT, Row, Table, by_patterns, find, kind
from corpus.litmus.instructions import Comparison

Meaning = Callable[[ProcessorThread, ProcessorState, AssemblyLine], None]
"""What an instruction does to a thread, and to what is known."""


def nothing(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    """Do nothing, as instructions do that say nothing of memory: ``nop``."""


@dataclass(frozen=True, slots=True)
class MachineJump:
    """Where an instruction may lead: to a label, to the next instruction (``""``), or out of the function (None).

    ``is_taken`` says whether it does; None: always.
    """

    target: str | None
    is_taken: Callable[[ProcessorThread, ProcessorState], bool | Comparison] | None = None


Jump = Callable[[AssemblyLine], MachineJump]
"""Where control is after an instruction, which may be elsewhere."""


@dataclass(frozen=True, slots=True, eq=False)
class MachineLanguage:
    """The assembly of a processor. ``name`` is that of its model, ``comment`` what begins a comment. ``arguments`` are
    the registers of the two pointers, ``stack`` the stack pointer. ``signed``: registers of 64 bits keep numbers of 32
    with their sign. ``kinds`` are the kinds of operands that forms name.
    """

    name: str
    comment: str
    arguments: tuple[str, str]
    stack: str
    kinds: Mapping[str, Kind]
    table: Table[Meaning]
    jumps: Table[Jump]
    signed: bool = False

    def row_of(self, table: Table[MeaningT], ins: AssemblyLine) -> Row[MeaningT] | str:
        """Return the row that one of the tables has for an instruction, or why it has none."""
        found = find(table, ins.mnemonic, ins.operands, by_patterns(self.kinds))
        if isinstance(found, Row):
            return found
        if found.lack is not Lack.OPERANDS:
            return found.why
        forms = " / ".join(row.operands for row in table[ins.mnemonic])
        return f"{found.why}: {forms.strip() or 'none'}"


NUMBER = r"-?(?:0[xX][0-9a-fA-F]{1,16}|0|[1-9][0-9]{0,18})"
"""A number of no more than 64 bits."""
LABEL = kind(r"[.A-Za-z_$][\w.$@]*", ".L1")
"""A label that a jump names."""
