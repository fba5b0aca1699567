"""The kinds of operands of PTX (PTX ISA 9.1, chapter 6 and 9.7), as the rows of ``corpus.code.ptx.table`` name them.

d     a register, or _: a result                     a     a register, a number, a symbol: a value
D     results, as many as the vector word says       A     values, as many as the vector word says
dp    two results, or one                            p     a predicate, which may be negated
[]    memory at an address                           [t]   a tensor map with coordinates
v     values in braces                               {}    two or four values in braces, which a type has room for
l     a name: a label, a list                        #     a number
=32   a register of so many bits: 32, 1 for a predicate, =2 for twice as many as the type; =first for those of the
      first type; =wide, =room for at least those of the type, of the first type; =any; else those of the type
c     a policy for caches, with L2::cache_hint       m     the blocks of a multicast, with multicast::cluster
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from corpus.code.functions import registers_in
from corpus.code.ir import (
    Both,
    Float,
    MemoryOperand,
    Negated,
    Number,
    Operand,
    Register,
    SymbolRef,
    Vector,
)
from corpus.code.table import Wrong
from corpus.litmus.ptx_arithmetic import WIDTHS, type_of

WidthOf = Callable[[str], int | None]
"""The bits of a register by its name; None where none of this name is declared, 0 where it is a special one."""


def wrong_operand(words: Sequence[str], width_of: WidthOf) -> Wrong[Operand]:
    """Return what says what is wrong with an operand of an instruction of these words as one of a kind."""

    def wrong(kind: str, operand: Operand, number: int) -> str:
        kind_name, _, wanted = kind.partition("=")
        if not _OPERANDS[kind_name](operand, words):
            return f"operand {number + 1} is of another kind"
        if kind_name == "any":
            return ""
        if isinstance(operand, Float) and not any(_holds(word, operand) for word in words):
            return f"operand {number + 1} is a number of another format"
        return _unfit_register(kind_name, wanted, operand, words, width_of)

    return wrong


def _unfit_register(kind: str, wanted: str, operand: Operand, words: Sequence[str], width_of: WidthOf) -> str:
    """Say what is wrong with the registers of an operand: one that is not declared, or of another width."""
    types = [WIDTHS[word] for word in words if word in WIDTHS]
    full, first = (types[-1], types[0]) if types else (32, 32)
    for name in registers_in((operand,)):
        width = width_of(name) if name != "_" else 0
        if width is None:
            return f"{name} is not declared"
        if not width and name != "_" and kind in ("d", "D", "dp"):
            return f"{name} is not a register to write"
        if kind == "[]":
            near = any(word.partition("::")[0] in ("shared", "local", "const", "param") for word in words)
            fits = width == 64 or (near and width == 32)
        elif kind == "{}":
            fits = isinstance(operand, Vector) and width == full // len(operand.parts)
        elif kind == "p" or wanted == "1":
            fits = width == 1
        elif kind in ("c", "[t]", "v", "m") or wanted == "any":
            fits = True
        elif wanted in ("wide", "room"):
            fits = width >= max(16, full if wanted == "wide" else first)
        else:
            bits = {"": full, "2": 2 * full, "first": first, "32": 32}[wanted]
            fits = width == max(bits, 16 if bits > 1 else 1)
        if not fits and width:
            return f"{name} has {width} bits"
    return ""


def _holds(word: str, number: Float) -> bool:
    """Decide whether a type is one of floating-point numbers of a format, or of bits as many."""
    return word in WIDTHS and word[0] in "fb" and WIDTHS[word] == number.width


def _is_value(operand: Operand) -> bool:
    return isinstance(operand, Register | Number | Float | SymbolRef) and operand != Register("_")


def _is_result(operand: Operand) -> bool:
    return isinstance(operand, Register)


def _is_predicate(operand: Operand) -> bool:
    return isinstance(operand.operand if isinstance(operand, Negated) else operand, Register | Number)


def _is_two(operand: Operand) -> bool:
    every = (operand.first, operand.second) if isinstance(operand, Both) else (operand,)
    return all(map(_is_result, every))


def _is_list(operand: Operand) -> bool:
    every = operand.parts if isinstance(operand, Vector) else ()
    return bool(every) and all(isinstance(part, Register | Number | Float | SymbolRef) for part in every)


def _is_tensor(operand: Operand) -> bool:
    match operand:
        case Vector((MemoryOperand(), coordinates)):
            return _is_list(coordinates)
    return False


def _as_many(kind: Callable[[Operand], bool], operand: Operand, words: Sequence[str]) -> bool:
    """Decide whether an operand is as many of a kind as the vector word says."""
    count = next((int(word[1:]) for word in words if word in ("v2", "v4", "v8")), 1)
    every = operand.parts if count > 1 and isinstance(operand, Vector) else (operand,)
    return len(every) == count and all(map(kind, every))


def _has_room(operand: Operand, words: Sequence[str]) -> bool:
    """Decide whether an operand is two or four values that a type has room for."""
    parts = operand.parts if isinstance(operand, Vector) else ()
    return len(parts) in (2, 4) and WIDTHS[type_of(words)] // len(parts) >= 8 and _is_list(operand)


_OPERANDS: Mapping[str, Callable[[Operand, Sequence[str]], bool]] = {
    "d": lambda operand, words: _is_result(operand),
    "a": lambda operand, words: _is_value(operand),
    "c": lambda operand, words: _is_value(operand),
    "m": lambda operand, words: _is_value(operand),
    "p": lambda operand, words: _is_predicate(operand),
    "D": lambda operand, words: _as_many(_is_result, operand, words),
    "A": lambda operand, words: _as_many(_is_value, operand, words),
    "dp": lambda operand, words: _is_two(operand),
    "[]": lambda operand, words: isinstance(operand, MemoryOperand),
    "[t]": lambda operand, words: _is_tensor(operand),
    "v": lambda operand, words: _is_list(operand),
    "{}": _has_room,
    "l": lambda operand, words: isinstance(operand, SymbolRef) and not operand.offset,
    "#": lambda operand, words: isinstance(operand, Number),
    "any": lambda operand, words: True,
}
"""Whether an operand is of a kind, given the words of the instruction."""
