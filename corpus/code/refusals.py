"""The one error for code that is not understood, with the place that a user knows it by."""

from __future__ import annotations

from pathlib import Path

from corpus.code import ir
from corpus.errors import InputError


class NotUnderstoodError(InputError):
    """The error for an instruction that is not understood; its line is one of the PTX text, or of the source."""


def refusal(module: ir.Module, ins: ir.KernelInstruction | None, what: str, grows: bool = False) -> NotUnderstoodError:
    """Return the error for an instruction of a module; ``grows``: places are those of the source alone."""
    if ins is None:
        return NotUnderstoodError(what, module.path)
    if grows and ins.source:
        return NotUnderstoodError(what, ins.source.file, ins.source.line, ins.source.column)
    where = f" ({ins.source})" if ins.source else ""
    own = ins.source.chain[-1] if ins.source else None
    if own and Path(own.file).name == Path(module.path).name:  # the file is the source of what was compiled
        inner = where if ins.source != own else ""
        return NotUnderstoodError(f"{ins.called}: {what}{inner}", module.path, own.line, max(own.column, 1))
    if module.unit == ir.COMPILED:
        where_ = f", at line {ins.line} of the compiled code" if ins.line else ""
        return NotUnderstoodError(f"{what}{where}{where_}", module.path)
    if module.unit != "line":
        return NotUnderstoodError(f"{ins.called}: {what}{where}, at {module.unit} {ins.line}", module.path)
    return NotUnderstoodError(f"{ins.called}: {what}{where}", module.path, ins.line, 1)
