"""The words of a text of PTX, and the place that its reader has come to (PTX ISA 9.1, chapter 4)."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

from corpus.code.ptx.constants import ConstantValue, literal
from corpus.errors import InputError

# An atomic group: Python 3.11.2 does not go back to where a possessive repeat of a group began to fail.
_WORDS = re.compile(
    r"""(?>(?:\s+|//[^\n]*|/\*.*?\*/|@@(?i:DWARF)[^\n]*)*)
    (?:(?P<word>[A-Za-z_$%.](?<!\.(?=\d))[\w$%.]*(?:::[\w$%.]+)*)
      | (?P<sign><<|>>|<=|>=|==|!=|&&|\|\||/(?!\*)|[][(){}<>,;:=@!|+*%&^?~-])
      | (?P<float>(?:0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}
            |(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?!\w))
      | (?P<number>(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?)(?!\w)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<end>))
    """,
    re.VERBOSE | re.DOTALL,
)


class PtxTokens:
    """The words of a text, their kinds and offsets, and the number of the word that is read next."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.words: list[str] = []
        self.kinds: list[str] = []
        self.offsets: list[int] = []
        self.position = 0
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        for match in _WORDS.finditer(text):
            kind = match.lastgroup or ""
            self.words.append(match[kind])
            self.kinds.append(kind)
            self.offsets.append(match.start(kind))
            if kind == "end":
                break
        if self.offsets[-1] != len(text):
            self.fail("a word of PTX", self.offsets[-1], repr(text[self.offsets[-1]]))

    def fail(self, wanted: str, offset: int, found: str) -> NoReturn:
        """Raise the error for what is found at an offset of the text."""
        line = bisect_right(self._lines, offset)
        column = offset - self._lines[line - 1] + 1
        raise InputError(f"expected {wanted}, found {found}", self.path, line, column)

    def wrong(self, wanted: str) -> NoReturn:
        """Raise the error for the word that is read next."""
        word = self.words[self.position]
        self.fail(wanted, self.offsets[self.position], f"'{word}'" if word else "the end")

    def line(self) -> int:
        """Return the line of the word that is read next."""
        return bisect_right(self._lines, self.offsets[self.position])

    def take(self, word: str) -> bool:
        """Read a word where it is the next one; return whether it is."""
        if self.words[self.position] == word:
            self.position += 1
            return True
        return False

    def want(self, word: str) -> None:
        """Read a word, which has to be the next one."""
        if not self.take(word):
            self.wrong(f"'{word}'")

    def name(self, what: str) -> str:
        """Read a name, and return it. Raises ``InputError`` where the next word is none; ``what`` is expected."""
        if self.kinds[self.position] != "word":
            self.wrong(what)
        self.position += 1
        return self.words[self.position - 1]

    def number(self) -> int:
        """Read an integer of at most 64 bits, and return it. Raises ``InputError`` where the next word is none."""
        if self.kinds[self.position] != "number":
            self.wrong("a number")
        return int(self.literal().value)

    def literal(self) -> ConstantValue:
        """Read an integer constant, and return it. Raises ``InputError`` where it has more than 64 bits."""
        try:
            found = literal(self.words[self.position])
        except ValueError:
            self.wrong("an integer of at most 64 bits")
        self.position += 1
        return found

    def skip_block(self) -> None:
        """Read a block in braces, whatever it holds."""
        self.want("{")
        depth = 1
        while depth:
            word = self.words[self.position]
            if not word:
                self.wrong("'}'")
            depth += (word == "{") - (word == "}")
            self.position += 1
