"""Defines the one error a user may see, ``InputError``: what is wrong with an input, and where."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

UNSEEN = "\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""The C1 controls, some of which terminals obey, and the characters that reorder the text around them (Unicode Standard
Annex 9, section 2; CVE-2021-42574), as the inside of a set of a regular expression."""

_UNSEEN = re.compile(f"[{UNSEEN}]")

LONGEST = 1000
"""Characters that the line of an error has at most."""


@dataclass
class InputError(Exception):
    """An error in the input: a file, an option or a folder that cannot be used as it is.

    Shown as one line, ``file:line:column: message``, and answered with exit code 2.
    ``line`` and ``column`` count from 1. What a terminal would not print but obey, or could not, is shown escaped.
    What is longer than ``LONGEST`` characters is shown without its middle, for it quotes what was read.
    """

    message: str
    path: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = [str(part) for part in (self.path, self.line, self.column) if part is not None]
        return one_line(": ".join([":".join(place), self.message] if place else [self.message]))


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", cutoff: float = 0.6) -> str:
    """Return what follows an unknown name in an error: ``did you mean a or b?``, or ``otherwise`` where no name is like
    it, in capitals or not.
    """
    from difflib import get_close_matches  # not loaded where nothing is wrong

    every = list(known)
    near = [word for word in every if word.casefold() == name.casefold()] or get_close_matches(
        name, every, cutoff=cutoff
    )
    if not near:
        small = {word.casefold(): word for word in every}
        near = [small[word] for word in get_close_matches(name.casefold(), small, cutoff=cutoff)]
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def one_line(text: str) -> str:
    """Return the text as the line of an error: printable, and without its middle where it is longer than
    ``LONGEST``.
    """
    text = printable(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 203]}...{text[-200:]}"


def printable(text: str) -> str:
    """Return the text with escapes for control characters, line ends among them, and for lone surrogates."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def visible(text: str) -> str:
    """Return the text with an escape such as ``\u202e`` for each character of ``UNSEEN``; line ends and tabs stay.

    In JSON the escape means the character, so nothing is lost there.
    """
    return text if text.isascii() else _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
