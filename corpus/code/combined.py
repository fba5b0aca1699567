"""Instructions of three operands or more as steps of those with one or two, where memory gives operands (PTX ISA 9.1,
9.7.1 and 9.7.7 to 9.7.9).

A litmus test has operations of two operands. Example: ``shf.l.wrap.b32 a, b, c`` is the upper half of ``b:a`` that is
shifted by ``c & 31``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import combinations

from corpus.code.values import Value
from corpus.litmus.ptx_arithmetic import WIDTHS, compute, type_of

Step = Callable[[str, Sequence[Value]], Value]
"""What gives the result of an instruction, by its opcode, of operands that are known or not."""

Expansion = Callable[[Step, Sequence[str], Sequence[Value]], Value]


def expansion(name: str) -> Expansion | None:
    """Return how an instruction is done in steps; None where it is no such instruction."""
    return _EXPANSIONS.get(name)


def _by_table(step: Step, words: Sequence[str], values: Sequence[Value]) -> Value:
    """``lop3``: a sum, without carry, of products of the operands that are not known, each with a mask: the algebraic
    normal form of the table where the others are known.
    """
    *operands, table = values
    assert isinstance(table, int)
    every = (1 << 32) - 1
    later = [place for place, value in enumerate(operands) if not isinstance(value, int)]
    masks: dict[tuple[int, ...], int] = {}
    for count in range(len(later) + 1):
        for chosen in combinations(later, count):
            bits = [value if isinstance(value, int) else every * (n in chosen) for n, value in enumerate(operands)]
            mask = compute("lop3", ("b32",), [*bits, table])
            for fewer in range(count):
                for others in combinations(chosen, fewer):
                    mask ^= masks[others]
            masks[chosen] = mask
    number = masks.pop(())
    used = {chosen: mask for chosen, mask in masks.items() if mask}
    if number == 0 and len(later) == 2 and len(used) == 3 and len(set(used.values())) == 1:  # x^y^(x&y) is x|y
        return step("and.b32", (step("or.b32", [operands[place] for place in later]), next(iter(used.values()))))
    total: Value = 0
    for chosen, mask in used.items():
        term = reduce(lambda one, other: step("and.b32", (one, other)), [operands[place] for place in chosen])
        total = step("xor.b32", (total, step("and.b32", (term, mask))))
    return step("xor.b32", (total, number))


def _long(step: Step, low: Value, high: Value) -> Value:
    """Return two words as one of 64 bits."""
    up = step("shl.b64", (step("cvt.u64.u32", (high,)), 32))
    return step("or.b64", (up, step("cvt.u64.u32", (low,))))


def _funnel(step: Step, words: Sequence[str], values: Sequence[Value]) -> Value:
    """``shf``: a word of two that are shifted together."""
    low, high, by = values
    count = step("min.u32", (by, 32)) if "clamp" in words else step("and.b32", (by, 31))
    both = _long(step, low, high)
    if "l" in words:
        return step("cvt.u32.u64", (step("shr.u64", (step("shl.b64", (both, count)), 32)),))
    return step("cvt.u32.u64", (step("shr.u64", (both, count)),))


def _field(step: Step, words: Sequence[str], values: Sequence[Value]) -> Value:
    """``bfe``: shifted up as far as it goes, and down again; one without bits is 0."""
    value, start, length = values
    kind = type_of(words)
    width = WIDTHS[kind]
    start, length = step("and.b32", (start, 0xFF)), step("and.b32", (length, 0xFF))
    end = step("min.u32", (step("add.u32", (start, length)), width))
    up = step("sub.u32", (width, end))
    down = step("add.u32", (up, step("min.u32", (start, width))))
    found = step(f"shr.{kind}", (step(f"shl.b{width}", (value, up)), down))
    some = step("neg.s32", (step("min.u32", (length, 1)),))
    return step(f"and.b{width}", (found, step(f"cvt.s{width}.s32", (some,))))


def _inserted(step: Step, words: Sequence[str], values: Sequence[Value]) -> Value:
    """``bfi``: bits by a mask, which is so long and begins there."""
    new, old, start, length = values
    kind = type_of(words)
    start, length = step("and.b32", (start, 0xFF)), step("and.b32", (length, 0xFF))
    ones = step(f"sub.u{kind[1:]}", (step(f"shl.{kind}", (1, length)), 1))
    mask = step(f"shl.{kind}", (ones, start))
    kept = step(f"and.{kind}", (old, step(f"not.{kind}", (mask,))))
    return step(f"or.{kind}", (kept, step(f"and.{kind}", (step(f"shl.{kind}", (new, start)), mask))))


_CHOICES: Mapping[str, Callable[[Step, Value, int], Value]] = {
    "f4e": lambda step, by, index: step("add.u32", (by, index)),
    "b4e": lambda step, by, index: step("sub.u32", (by, index)),
    "rc8": lambda step, by, index: by,
    "ecl": lambda step, by, index: step("max.u32", (by, index)),
    "ecr": lambda step, by, index: step("min.u32", (by, index)),
    "rc16": lambda step, by, index: step("add.u32", (step("shl.b32", (step("and.b32", (by, 1)), 1)), index & 1)),
}
"""Which byte stands at a place of the result of ``prmt``, by the lowest two bits of its selector, in each mode."""


def _permuted(step: Step, words: Sequence[str], values: Sequence[Value]) -> Value:
    """``prmt``: each byte is one of eight, or its sign where the selector says so."""
    one, other, selector = values
    both = _long(step, one, other)
    mode = next((word for word in words if word in _CHOICES), None)
    total: Value = 0
    for index in range(4):
        sign: Value = 0
        if mode is None:
            choice = step("shr.u32", (selector, 4 * index))
            sign = step("neg.s32", (step("and.b32", (step("shr.u32", (choice, 3)), 1)),))
        else:
            choice = _CHOICES[mode](step, step("and.b32", (selector, 3)), index)
        count = step("shl.b32", (step("and.b32", (choice, 7)), 3))
        byte = step("and.b32", (step("cvt.u32.u64", (step("shr.u64", (both, count)),)), 0xFF))
        if sign != 0:
            filled = step("and.b32", (step("neg.s32", (step("shr.u32", (byte, 7)),)), 0xFF))
            changed = step("and.b32", (step("xor.b32", (byte, filled)), sign))
            byte = step("xor.b32", (byte, changed))
        total = step("or.b32", (total, step("shl.b32", (byte, 8 * index))))
    return total


def _selected(step: Step, words: Sequence[str], values: Sequence[Value]) -> Value:
    """``slct``: the first value where the third is at least 0."""
    one, other, by = values
    kind, width = type_of(words), WIDTHS[next(word for word in words if word in WIDTHS)]
    ftz = ".ftz" if "ftz" in words else ""
    return step(f"selp.b{width}", (one, other, step(f"setp.ge{ftz}.{kind}", (by, 0))))


def _apart(step: Step, words: Sequence[str], values: Sequence[Value]) -> Value:
    """``sad``: how far apart two values are, and a third."""
    one, other, more = values
    kind = type_of(words)
    far = step(f"sub.{kind}", (step(f"max.{kind}", (one, other)), step(f"min.{kind}", (one, other))))
    return step(f"add.{kind}", (far, more))


_EXPANSIONS: Mapping[str, Expansion] = {
    "lop3": _by_table,
    "shf": _funnel,
    "bfe": _field,
    "bfi": _inserted,
    "prmt": _permuted,
    "slct": _selected,
    "sad": _apart,
}
"""The instructions of more than two operands, by name."""
