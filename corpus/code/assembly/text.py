"""Splits assembly into functions, and these into instructions and labels, whatever the processor.

    P0:                                  the function P0
            stlr    w8, [x0]  // note    AssemblyLine(2, "stlr", ("w8", "[x0]"))
    .LBB0_2:                             a label
            .p2align 4                   a directive that says nothing of what is executed, which is left out
            .byte 0xf0                   one that may, AssemblyLine(5, ".byte", ("0xf0",)): no table has a row for it

A function ends at the next label that is none of the compiler's own (``.L..``) or at its ``.size``. Source: GNU as,
sections 3.3 (comments), 3.5 (statements) and 5.3 (labels).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

_LABEL = re.compile(r"([.A-Za-z_$][\w.$@]*):(?=\s|$)")
_PREFIXES = ("lock", "rep", "repe", "repz", "repne", "repnz", "notrack")
_SILENT = frozenset(
    f".{word}"
    for word in (
        *("p2align", "align", "balign", "loc", "file", "ident", "type", "globl", "global", "weak", "hidden", "local"),
        *("size", "addrsig", "addrsig_sym", "localentry", "abiversion", "machine", "option", "attribute", "arch"),
    )
)
"""Directives that put nothing into the code, besides those of call frames (``.cfi_``): GNU as, chapter 7."""


@dataclass(frozen=True, slots=True)
class AssemblyLine:
    """An instruction with the number of its line, its mnemonic in lower case and its operands as they are written."""

    line: int
    mnemonic: str
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.mnemonic} {', '.join(self.operands)}".strip()


@dataclass(frozen=True, slots=True)
class AssemblyLabel:
    """A place in a function that jumps name."""

    line: int
    name: str


AssemblyCode = Sequence[AssemblyLine | AssemblyLabel]


@lru_cache(maxsize=8)  # many tests are compiled together
def functions_of(text: str, comment: str) -> Mapping[str, AssemblyCode]:
    """Return the functions of a text by name; ``comment`` is what begins a comment to the end of the line."""
    functions: dict[str, list[AssemblyLine | AssemblyLabel]] = {}
    here: list[AssemblyLine | AssemblyLabel] | None = None
    for number, whole in enumerate(text.splitlines(), 1):
        rest = whole.split(comment, 1)[0].strip()
        while found := _LABEL.match(rest):
            name, rest = found[1], rest[found.end() :].strip()
            if name.startswith((".Lfunc_", ".LF", ".Ltmp")):
                continue
            if not name.startswith(".L"):
                here = functions[name] = []
            elif here is not None:
                here.append(AssemblyLabel(number, name))
        directive = rest.split()[0] if rest.startswith(".") else ""
        if directive in _SILENT or directive.startswith(".cfi_"):
            if directive == ".size":
                here = None
        elif rest and here is not None:
            here.append(_instruction(number, rest))
    return functions


def _instruction(line: int, text: str) -> AssemblyLine:
    words = text.split(None, 1)
    mnemonic = words[0].lower()
    if mnemonic in _PREFIXES and len(words) == 2:
        rest = words[1].split(None, 1)
        mnemonic, words = f"{mnemonic} {rest[0].lower()}", ["", *rest[1:]]
    return AssemblyLine(line, mnemonic, _operands(words[1]) if len(words) == 2 else ())


def _operands(text: str) -> tuple[str, ...]:
    """Operands with commas between, but those in brackets."""
    found, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            found.append(text[start:place].strip())
            start = place + 1
    return (*found, text[start:].strip())
