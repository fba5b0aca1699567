"""Mutants of code in the assembly of a processor or of a GPU: operands, names and modifiers changed, line by line."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

LONG = "9" * 4301
"""A number with more digits than Python makes a number of."""
_WORD = re.compile(r"[\w.%$#@!+-]+")
_STRANGE = (
    "",
    LONG,
    f"#{LONG}",
    f"${LONG}",
    "-",
    "(",
    "[]",
    "x99",
    "%foo",
    "!PT",
    "0x",
    "08",
    "é",
    "R2.64",
    "c[0x0]",
    ".",
)


def code_mutants(text: str, count: int, rng: random.Random) -> Iterator[str]:
    """Yield mutants of a text of code, each with one line changed."""
    lines = text.splitlines()
    places = [place for place, line in enumerate(lines) if _WORD.search(line)]
    words = sorted({word for line in lines for word in _WORD.findall(line)})
    for _ in range(count):
        changed = list(lines)
        place = rng.choice(places)
        changed[place] = _changed(lines[place], words, rng)
        if rng.random() < 0.1:
            other = rng.choice(places)
            changed[place], changed[other] = lines[other], lines[place]
        yield "\n".join(changed) + "\n"


def _changed(line: str, words: Sequence[str], rng: random.Random) -> str:
    found = list(_WORD.finditer(line))
    at = rng.choice(found)
    match rng.randrange(7):
        case 0:  # an operand less
            parts = line.split(",")
            del parts[rng.randrange(len(parts))]
            return ",".join(parts)
        case 1:  # one more
            return f"{line.rstrip().rstrip(';')}, {rng.choice(words)}"
        case 2:  # another one
            return line[: at.start()] + rng.choice(words) + line[at.end() :]
        case 3:  # one of a kind that no instruction has
            return line[: at.start()] + rng.choice(_STRANGE) + line[at.end() :]
        case 4:  # a modifier less
            return line[: at.start()] + ".".join(at[0].split(".")[:-1]) + line[at.end() :]
        case 5:  # or one more
            return line[: at.end()] + rng.choice((".W", ".x", ".aq", "l", "q", "2", "_b64")) + line[at.end() :]
        case _:  # a character
            letter = rng.randrange(at.start(), at.end())
            return line[:letter] + rng.choice("0189xwrlqb.$%#") + line[letter + 1 :]
