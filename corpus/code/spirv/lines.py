"""Lines of source code of the instructions of a module: ``OpLine`` (SPIR-V 1.6, 3.52.2), and the scopes and lines of
``OpenCL.DebugInfo.100`` and ``NonSemantic.Shader.DebugInfo.100``.

``OpLine`` holds until the next one, ``OpNoLine`` or the end of the block; ``DebugLine``, which is preferred, and
``DebugScope`` likewise. A scope that was inlined names a ``DebugInlinedAt``: the line of the call, the scope that the
call is in, and where that was inlined in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corpus.code.ir import SourceLine
from corpus.code.spirv.module import (
    Id,
    SpirvInstruction,
    SpirvInteger,
    SpirvOperand,
    extended_of,
    number_of,
    string_of,
)

SETS = ("NonSemantic.Shader.DebugInfo", "OpenCL.DebugInfo")
"""How the names of the sets begin that have lines and scopes."""

MOST_INLINED = 100
"""Calls that are inlined into each other, as far as a line names them."""

_SOURCES = {
    "DebugCompilationUnit": 2,
    "DebugFunction": 2,
    "DebugFunctionDeclaration": 2,
    "DebugTypeComposite": 2,
    "DebugLexicalBlock": 0,
    "DebugLexicalBlockDiscriminator": 0,
}
"""The number of the operand that is a scope's ``DebugSource``."""


class SourceLines:
    """The line that holds at an instruction, and what the ids stand for that lines name.

    ``files`` are the paths of files that the compiler knew by other names.
    """

    def __init__(
        self, defined: Mapping[str, SpirvInstruction], imports: Mapping[str, str], files: Mapping[str, str]
    ) -> None:
        self._defined, self._imports, self._files = defined, imports, files
        self._inlined: dict[str, SourceLine | None] = {}
        self._line: SourceLine | None = None
        self._debug_line: SourceLine | None = None
        self._inlined_at: SourceLine | None = None
        self._here: SourceLine | None = None

    def placed(self, instruction: SpirvInstruction) -> SpirvInstruction | None:
        """Return the next instruction with its line of source code; None where it only says the line."""
        name, operands = instruction.name, instruction.operands
        if name == "OpLine":
            self._line = self._source_line(*operands[:3])
        elif name == "OpNoLine":
            self._line = None
        elif name != "OpExtInst" or not self._debug(instruction):
            return instruction if self._here is None else instruction._replace(source=self._here)
        line = self._debug_line or self._line
        # A compiler gives line 0 to what it has made itself.
        self._here = line._replace(inlined_at=self._inlined_at) if line and line.line else self._inlined_at
        return None

    def end_block(self) -> None:
        """Forget the lines and the scope: a block ends here."""
        self._line = self._debug_line = self._inlined_at = self._here = None

    def _debug(self, instruction: SpirvInstruction) -> bool:
        """Whether an extended instruction says the line or scope of those behind it."""
        which, operands = extended_of(instruction, self._imports, *SETS)
        if which == "DebugLine":
            self._debug_line = self._source_line(*(operands[n] for n in (0, 1, 3) if n < len(operands)))
        elif which == "DebugNoLine":
            self._debug_line = None
        elif which == "DebugScope":
            self._inlined_at = self._call(operands[1]) if len(operands) > 1 else None
        elif which == "DebugNoScope":
            self._inlined_at = None
        else:
            return False
        return True

    def _named(self, operand: SpirvOperand | None) -> tuple[str, Sequence[SpirvOperand]]:
        """Return the name and the operands of the debug instruction that an operand names."""
        found = self._defined.get(operand.name) if isinstance(operand, Id) else None
        return extended_of(found, self._imports, *SETS) if found and found.name == "OpExtInst" else ("", ())

    def _source_line(self, *operands: SpirvOperand) -> SourceLine:
        file, line, column = (*operands, None, None, None)[:3]
        return SourceLine(self._file(file), self._number(line), self._number(column))

    def _file(self, operand: SpirvOperand | None) -> str:
        """Return the name of a file: an ``OpString``, a ``DebugSource`` of one, or a scope that has a source."""
        for _ in range(3):
            path = string_of(operand, self._defined)
            if path is not None:
                return self._files.get(path, path)
            which, operands = self._named(operand)
            number = _SOURCES.get(which, 0)
            if not operands or number >= len(operands):
                break
            operand = operands[number]
        return ""

    def _number(self, operand: SpirvOperand | None) -> int:
        """Return a number that stands here or is a constant; 0 where it is neither."""
        return number_of(operand, self._defined) or 0

    def _call(self, operand: SpirvOperand) -> SourceLine | None:
        """Return the line of the call that a ``DebugInlinedAt`` names, with those of the calls around it."""
        first = operand.name if isinstance(operand, Id) else ""
        if first not in self._inlined:
            calls: list[SourceLine] = []
            for _ in range(MOST_INLINED):
                which, operands = self._named(operand)
                if which != "DebugInlinedAt" or len(operands) < 2:
                    break
                calls.append(SourceLine(self._file(operands[1]), self._number(operands[0]), 0))
                operand = operands[2] if len(operands) > 2 else SpirvInteger(0)
            found: SourceLine | None = None
            for line in reversed(calls):
                found = line._replace(inlined_at=found)
            self._inlined[first] = found
        return self._inlined[first]
