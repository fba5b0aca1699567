"""Parses SASS, the machine code of NVIDIA's GPUs, as ``nvdisasm -c`` prints it: functions, instructions, operands.

``/*0300*/ @!P0 STG.E.STRONG.GPU desc[UR4][R2.64], R7 ;`` is an instruction at 0x300 with the guard ``P0``, for where it
is false, the opcode ``STG`` with the parts ``E``, ``STRONG`` and ``GPU``, and two operands. An instruction with the
guard ``@!PT`` never executes, and is left out.

Source: CUDA Binary Utilities, chapter 4 (instruction sets by their names alone: NVIDIA documents no more).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MARKS = 3
"""The bank of constant memory that holds the marks: what a program declares ``__constant__``."""

SPACES = {"": "generic", "G": "global", "S": "shared"}
"""The state spaces of accesses, by the letter at the end of their opcodes."""
KINDS = {"LD": "load", "ST": "store", "ATOM": "rmw", "RED": "rmw"}
"""The kinds of accesses, by the beginnings of their opcodes."""
SCOPES = {"SM": "cta", "CTA": "cta", "GPU": "gpu", "SYS": "sys"}
"""The scopes of accesses and fences; sm_75 says ``CTA`` where others say ``SM``."""
RMWS = {"EXCH": "exch", "CAS": "cas", "POPC": "add"} | {
    word.upper(): word for word in ("add", "and", "or", "xor", "min", "max")
}
"""The operations of atomics."""
BRANCHES = ("BRA", "BRX", "JMP", "JMX")
ENDS = ("RET", "EXIT")
ASYNCHRONOUS = ("UBLKCP", "UBLKRED", "STAS", "REDAS", "LDGSTS", "ARRIVES", "SYNCS")
"""Opcodes of asynchronous operations and of what is done to an mbarrier."""

_LABEL = re.compile(r"^(?:\$\w+\$)?(\.?\w+):")
_LINE = re.compile(r"\s*/\*[0-9a-f]{4,16}\*/\s+(.*?)\s*(?:/\*[^*]*\*/\s*)*")
_NEVER = re.compile(r"@!U?PT\b.*;")
_INSTRUCTION = re.compile(r"(?:@(!?)(U?P(?:\d|T))\s+)?([A-Z][\w.]*)\s*([^;]*?)\s*;")
_ACCESS = re.compile(r"(LD|ST|ATOM|RED)([GS]?)")
_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)", re.MULTILINE)
_FLAG = re.compile(r"EF_CUDA_SM(\d+)")


@dataclass(frozen=True, slots=True)
class SassInstruction:
    """A machine instruction: the predicate that guards it, the opcode in parts, the operands; ``labels`` before it.

    ``unless``: it executes where the predicate is false. ``line`` is its line in the text.
    """

    guard: str | None
    parts: tuple[str, ...]
    operands: tuple[str, ...]
    labels: tuple[str, ...] = ()
    unless: bool = False
    line: int = 0

    @property
    def is_access(self) -> bool:
        """Whether it is one of those that have marks."""
        return bool(self.access) or self.parts[0] in ASYNCHRONOUS

    @property
    def access(self) -> tuple[str, str] | None:
        """Kind and space, of an access to memory that threads share."""
        return access_of(self.parts[0])

    def __str__(self) -> str:
        return f"{'.'.join(self.parts)} {', '.join(self.operands)}".rstrip()


def access_of(opcode: str) -> tuple[str, str] | None:
    """Return the kind and space of the accesses of an opcode to memory that threads share; None where it has none."""
    found = _ACCESS.fullmatch(opcode)
    return (KINDS[found[1]], SPACES[found[2]]) if found else None


def sass_functions(text: str) -> dict[str, list[SassInstruction]]:
    """Return the instructions of each function, by its name without that of the kernel it is part of."""
    functions: dict[str, list[SassInstruction]] = {}
    code: list[SassInstruction] = []
    labels: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        label, ins = _LABEL.match(line), _LINE.fullmatch(line)
        if label and not label[1].startswith("."):
            code = functions.setdefault(label[1], [])
        elif label:
            labels.append(label[1])
        elif ins and not _NEVER.fullmatch(ins[1]):
            code.append(_instruction(ins[1], tuple(labels), number))
            labels = []
    return functions


def _instruction(text: str, labels: tuple[str, ...], line: int) -> SassInstruction:
    """An instruction; what has the form of none is one whose opcode is the whole text, which no table has."""
    found = _INSTRUCTION.fullmatch(text)
    if found is None:
        return SassInstruction(None, (text,), (), labels, line=line)
    given = tuple(re.split(r",\s*", found[4])) if found[4] else ()
    return SassInstruction(found[2], tuple(found[3].split(".")), given, labels, found[1] == "!", line)


def compute_capability(text: str) -> int | None:
    """Return what machine code is for, 90 for sm_90; None where its text does not say it."""
    found = _TARGET.search(text) or _FLAG.search(text)
    return int(found[1]) if found else None
