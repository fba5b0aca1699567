"""Defines what the reader knows of a processor: a table of instructions, its jumps, and where arguments are.

An entry of the table is a function that is given the thread and the instruction. ``jumps`` are the instructions after
which control may be elsewhere; all others are in ``table``, or are refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from corpus.assembly.text import AssemblyLine
from corpus.assembly.thread import AskedBranch, AssemblyThread

Meaning = Callable[[AssemblyThread, AssemblyLine], None]
"""What an instruction does to a thread."""


def nothing(thread: AssemblyThread, ins: AssemblyLine) -> None:
    """Do nothing, as instructions do that say nothing of memory: ``nop``."""


@dataclass(frozen=True, slots=True)
class MachineJump:
    """Where an instruction may lead: to a label, to the next instruction (``""``), or out of the function (None).

    ``asked`` says whether it does; None: always.
    """

    target: str | None
    asked: Callable[[AssemblyThread], bool | AskedBranch] | None = None


@dataclass(frozen=True, slots=True)
class MachineLanguage:
    """The assembly of a processor. ``name`` is that of its model, ``comment`` what begins a comment. ``arguments`` are
    the registers of the two pointers, ``stack`` the stack pointer. ``signed``: registers of 64 bits keep numbers of 32
    with their sign.
    """

    name: str
    comment: str
    arguments: tuple[str, str]
    stack: str
    table: Mapping[str, Meaning]
    jump: Callable[[AssemblyLine], MachineJump | None]
    signed: bool = False
