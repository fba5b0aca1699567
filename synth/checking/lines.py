"""The words for places in sources: the line that an instruction of a kernel is at, ``kernel.cu:3``."""

from __future__ import annotations

from pathlib import Path

from corpus.code.ir import KernelInstruction, SourceLine
from corpus.code.registry import format_of
from corpus.errors import printable


def place_text(ins: KernelInstruction) -> str:
    """Return the source lines of an instruction, from the innermost outwards, of long rows the ends; its place in what
    was compiled where it has none.
    """
    if ins.source is None:
        return _compiled_place(ins)
    first, *others = map(line_text, ins.source.chain)
    if len(others) > 3:
        others = ["..", *others[-2:]]
    return first + (f", from {', '.join(others)}" if others else "")


def own_place(ins: KernelInstruction) -> str:
    """Return the line of the kernel itself that an instruction is at, or is inlined into: ``kernel.cu:3``."""
    return _compiled_place(ins) if ins.source is None else line_text(ins.source.chain[-1])


def _compiled_place(ins: KernelInstruction) -> str:
    """Return the place of an instruction in what was compiled: a line of PTX, or a word of a binary of SPIR-V."""
    return f"word {ins.line} of the SPIR-V" if ins.text else f"line {ins.line} of the PTX"


def line_text(line: SourceLine) -> str:
    """Return a line of a source, with the column where a line has much: ``kernel.cu:3``."""
    form = format_of(Path(line.file))
    column = f":{line.column}" if form and form.columns and line.column else ""
    return f"{short(line.file)}:{line.line}{column}"


def short(path: str) -> str:
    """Return the last part of a path, as it is shown."""
    return printable(Path(path).name)
