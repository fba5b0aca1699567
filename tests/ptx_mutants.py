"""Mutants of PTX: texts of which one word of one instruction is another, one more, or one less."""

from __future__ import annotations

import re
from random import Random

from instruction_rows import understood, words_of

from corpus.code.ptx.table import TABLE

UNDERSTOOD = [(name, row) for name, row in understood(TABLE) if name != "call"]
WORDS = sorted({word for _, row in UNDERSTOOD for word in words_of(row)})
WORDS += ["unified", "b128", "oob", "cta_group::1", "im2col", "foo", "L3::x", "sem", "v3", "v16", "u128", "e8", "2d"]
"""The words behind the names of instructions, and some that none has."""

NAMES = sorted({*TABLE, "frob"})

OPERANDS = [
    *(
        "0",
        "-1",
        "7",
        "1" * 4301,
        "0f3F800000",
        "0d3FF0000000000000",
        "%r1",
        "%rd1",
        "%p1",
        "!%p1",
        "-%r1",
        "_",
        "%tid.x",
    ),
    *(
        "[%rd1]",
        "[%rd1+3]",
        "[x]",
        "[4]",
        "{%r1, %r2}",
        "{%r1}",
        "{}",
        "{_, _}",
        "%r1|%p1",
        "%p1|%p2",
        "nowhere",
        "%v.x",
    ),
    *("%clock", "%laneid", "%zz", "(%r1)", "[%rd1, {%r1}]", "%r1[2]", "99999999999999999999", "1.5"),
]

_STATEMENT = re.compile(
    r"^(\s*(?:@!?%\w+\s+)?)([a-z]\w*(?:\.[\w:]+)*)(\s+)?([^;{}]*(?:\{[^}]*\}[^;{}]*)*);", re.MULTILINE
)
_SPLIT = re.compile(r",(?![^\[({]*[\])}])")


def mutant(text: str, rng: Random) -> tuple[str, str]:
    """Return a mutant of a text, and what was put in place of which instruction."""
    every = [match for match in _STATEMENT.finditer(text) if match[2].partition(".")[0] in dict(UNDERSTOOD)]
    chosen = rng.choice(every)
    name, *words = chosen[2].split(".")
    operands = [each.strip() for each in _SPLIT.split(chosen[4])] if chosen[4].strip() else []
    kind = rng.choice(("word", "word", "more", "less", "operand", "operand", "shorter", "longer", "name", "swap"))
    at = rng.randrange(len(words)) if words else 0
    if kind == "word" and words:
        words[at] = rng.choice(WORDS)
    elif kind == "more":
        words.insert(rng.randrange(len(words) + 1), rng.choice(WORDS))
    elif kind == "less" and words:
        del words[at]
    elif kind == "operand" and operands:
        operands[rng.randrange(len(operands))] = rng.choice(OPERANDS)
    elif kind == "shorter" and operands:
        del operands[rng.randrange(len(operands))]
    elif kind == "longer":
        operands.insert(rng.randrange(len(operands) + 1), rng.choice(OPERANDS))
    elif kind == "name":
        name = rng.choice(NAMES)
    elif len(operands) > 1:
        one, other = rng.sample(range(len(operands)), 2)
        operands[one], operands[other] = operands[other], operands[one]
    new = f"{'.'.join((name, *words))} {', '.join(operands)};"
    return text[: chosen.start(2)] + new + text[chosen.end() :], f"{chosen[0].strip()} -> {new}"
