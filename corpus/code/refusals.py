"""The one error for code that is not understood, with the place that a user knows it by."""

from __future__ import annotations

import re
from pathlib import Path

from corpus.code import ir
from corpus.errors import InputError


class NotUnderstoodError(InputError):
    """The error for an instruction that is not understood; its line is one of the PTX text, or of the source."""


def refusal(module: ir.Module, ins: ir.KernelInstruction | None, what: str, grows: bool = False) -> NotUnderstoodError:
    """Return the error for an instruction of a module; ``grows``: places are those of the source alone."""
    what = _MANGLED.sub(lambda found: _as_written(module, found[0]), what)
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


_MANGLED = re.compile(r"\b_Z\w+")


def _as_written(module: ir.Module, name: str) -> str:
    """Return the name that the source has for a function of C++, where the module says it."""
    function = module.functions.get(name)
    return (function.called if function is not None else "") or _without_mangling(name)


def _without_mangling(name: str) -> str:
    """Return the names that a mangled name without templates is made of: ``std::chrono::steady_clock::now`` (Itanium
    C++ ABI, 5.1); another one as it is.
    """
    found = re.match(r"_ZN[KV]*(St)?", name)
    place, parts = (found.end() if found else len(name)), ["std"] if found and found[1] else []
    while number := re.match(r"\d{1,4}", name[place:]):
        start = place + number.end()
        place = start + int(number[0])
        part = name[start:place]
        parts += [] if part.startswith("__") else [part]
    return "::".join(parts) if parts and name[place : place + 1] == "E" else name
