"""The reader of SPIR-V text, as assemblers read it, disassemblers print it, and people write it.

A word ends at white space; a string may have line ends; a comment goes from ``;`` to the end of its line. A word such
as ``OpLoad``, or an id with ``=`` behind it, starts an instruction, so that one may go over several lines. The result
stands before ``=``, or as in a binary behind the type: ``OpLoad %uint %7 %5``. A backslash in a string makes the next
character stand for itself. ``!5`` is a word as such, at the start of a line the first word of an instruction.

Nothing is said here of what a module must have, or in which order.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NoReturn

from corpus.code.spirv.grammar import GrammarRow, GrammarTable, bits_of, spirv_grammar
from corpus.code.spirv.literals import NumberType, integer, of_text, of_words
from corpus.code.spirv.module import Id, SpirvComment, SpirvFloat, SpirvHeader, SpirvInteger, SpirvModule, SpirvString
from corpus.code.spirv.operands import UNKNOWN, InstructionPlace, read_instructions
from corpus.code.spirv.sections import module_of
from corpus.errors import InputError, did_you_mean

# Atomic groups: see corpus.code.ptx.tokens.
_WORDS = re.compile(
    r"""(?>\s*)
    (?:(?P<id>%\w+)
      | (?P<equals>=)
      | (?P<raw>!(?:0[xX][0-9a-fA-F]{1,8}|0|[1-9][0-9]{0,9})(?![^\s;]))
      | (?P<string>"(?>(?:[^"\\]|\\.)*)")
      | (?P<comment>;[^\n]*)
      | (?P<word>[^\s";=%!|]++(?>(?:[ \t]*\|[ \t]*[^\s";=%!|]++)*))
      | (?P<end>\Z))
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_OPCODE = re.compile(r"Op(?:[A-Z]\w*|[0-9]+)")

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LONGEST = 100
"""Characters of a word for which similar names are looked for."""

_VERSION = re.compile(r"\s*Version:\s*([0-9]{1,3})\.([0-9]{1,3})\s*")


def read_assembly(text: str, path: str) -> SpirvModule:
    """Return the module of a text. Raises ``InputError`` with line and column."""
    source = _Text(text, path)
    places = list(source.places())
    return module_of(read_instructions(places, source), source.header())


class _Text:
    """The words of a text, and the operands that are to be read next."""

    def __init__(self, text: str, path: str) -> None:
        self._text, self._path = text, path
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._words: list[str] = []
        self._kinds: list[str] = []
        self._offsets: list[int] = []
        self._comments: list[SpirvComment] = []
        self._ids: dict[str, Id] = {}  # one object each
        self._at = self._end = 0
        self._cut()

    def _cut(self) -> None:
        """Cut the text into words, and comments."""
        end = 0
        for match in _WORDS.finditer(self._text):
            kind = match.lastgroup or ""
            if match.start() != end:
                break
            end = match.end()
            if kind == "comment":
                line, column = self._place(match.start(kind))
                self._comments.append(SpirvComment(match[kind][1:].rstrip("\r"), line, column))
                continue
            self._words.append(match[kind])
            self._kinds.append(kind)
            self._offsets.append(match.start(kind))
            if kind == "end":
                return
        found = re.compile(r"\S").search(self._text, end)
        offset = found.start() if found else end
        wanted = "a string with an end" if self._text[offset : offset + 1] == '"' else "a word of SPIR-V"
        self._raise(f"expected {wanted}, found {self._text[offset : offset + 1]!r}", offset)

    def header(self) -> SpirvHeader:
        """Return the header, which a disassembler prints in the first comments, and all comments."""
        first = self._place(self._offsets[0])[0]
        before = [comment.text for comment in self._comments if comment.line < first]
        version = next((match for text in before if (match := _VERSION.fullmatch(text))), None)
        number = (int(version[1]), int(version[2])) if version else None
        return SpirvHeader(self._path, number, tuple(self._comments))

    # instructions

    def places(self) -> Iterator[InstructionPlace]:
        """Yield the place of each instruction, with its result."""
        starts = [*self._starts(), len(self._words) - 1]
        if starts[0]:
            self._at, self._end = 0, len(self._words) - 1
            self.fail("an instruction")
        for start, end in pairwise(starts):
            self._at, self._end = start, end
            result = type = None
            if self._kinds[start + 1] == "equals":
                result = self.id().name
                self._at += 1
            opcode = self._at
            row = self._opcode()
            if result is not None and not row.has_result:
                self._at = opcode
                self.fail("an instruction that has a result")
            if row.has_type:
                type = self.id().name
            if row.has_result and result is None:
                result = self.id().name
            yield InstructionPlace(row, type, result, self._at, end, self._place(self._offsets[start])[0])

    def _starts(self) -> Iterator[int]:
        """Yield the number of the first word of each instruction."""
        behind = 0  # the word behind the opcode that an OpSpecConstantOp names
        for at, kind in enumerate(self._kinds):
            if kind == "id":
                starts = self._kinds[at + 1] == "equals"
            elif kind == "word":
                starts = at >= behind and _OPCODE.fullmatch(self._words[at]) is not None
                if starts and self._words[at] == "OpSpecConstantOp":
                    behind = at + 3 if self._kinds[at - 1] == "equals" else at + 4
                starts = starts and not (at and self._kinds[at - 1] == "equals")
            elif kind == "raw":
                starts = not at or self._offsets[at - 1] < self._lines[self._place(self._offsets[at])[0] - 1]
            else:
                starts = False
            if starts:
                yield at

    def _opcode(self) -> GrammarRow:
        table = spirv_grammar().instructions
        word, kind = self._words[self._at], self._kinds[self._at]
        if kind == "raw" or (kind == "word" and word[2:].isdigit() and word.startswith("Op")):
            number = int(word[1:], 0) & 0xFFFF if kind == "raw" else int(word[2:][:9])
            row = table.by_number.get(number) or GrammarRow(f"Op{number}", number, UNKNOWN)
        else:
            found = table.by_name.get(word)
            if found is None or kind != "word":
                self.fail("an instruction", table.by_name)
            row = found
        self._at += 1
        return row

    # operands

    def seek(self, place: InstructionPlace) -> None:
        self._at, self._end = place.start, place.end

    def more(self) -> bool:
        return self._at < self._end

    def id(self) -> Id:
        kind, word = self._next()
        if kind not in ("id", "raw"):
            self.fail("an id")
        self._at += 1
        name = word[1:] if kind == "id" else str(int(word[1:], 0))
        return self._ids.setdefault(name, Id(name))

    def words(self) -> tuple[SpirvInteger, ...]:
        """Return nothing: the operands of a text are no words."""
        return ()

    def number(self, type: NumberType) -> SpirvInteger | SpirvFloat:
        kind, word = self._next()
        found = of_text(word, type) if kind == "word" else None
        if kind == "raw":
            words = [self._raw(word)]
            while len(words) < type.words and self._next(len(words))[0] == "raw":
                words.append(self._raw(self._next(len(words))[1]))
            self._at += len(words) - 1
            found = of_words(words, type)
        if found is None:
            self.fail(f"{type}")
        self._at += 1
        return found

    def string(self) -> SpirvString:
        kind, word = self._next()
        if kind != "string":
            self.fail("a string")
        self._at += 1
        return SpirvString(_ESCAPED.sub(r"\1", word[1:-1]))

    def row(self, table: GrammarTable, what: str, any_name: bool = False) -> GrammarRow:
        kind, word = self._next()
        row = table.by_name.get(word) or table.by_name.get(f"Op{word}") if kind == "word" else None
        number = self._raw(word) if kind == "raw" else integer(word) if kind == "word" else None
        if row is None and number is not None and 0 <= number < 1 << 32:
            row = table.by_number.get(number) or GrammarRow(str(number), number)
        if row is None and any_name and kind == "word":
            row = GrammarRow(word, -1)
        if row is None:
            self.fail(what, table.by_name)
        self._at += 1
        return row

    def rows(self, table: GrammarTable, what: str) -> Sequence[GrammarRow]:
        kind, word = self._next()
        number = self._raw(word) if kind == "raw" else integer(word) if kind == "word" else None
        if number is None:
            number = 0
            for name in word.split("|"):
                row = table.by_name.get(name.strip()) if kind == "word" else None
                if row is None:
                    self.fail(f"enumerants of {what}", table.by_name)
                number |= row.number
        self._at += 1
        return bits_of(table, number & 0xFFFFFFFF)

    def fail(self, wanted: str, names: Iterable[str] = ()) -> NoReturn:
        if self._at >= self._end:
            behind = self._offsets[self._end - 1] + len(self._words[self._end - 1])
            self._raise(f"expected {wanted}, found the end of the instruction", behind)
        word = self._words[self._at]
        meant = did_you_mean(word, names) if names and len(word) < _LONGEST else ""
        self._raise(f"expected {wanted}, found '{word}'{meant and f'; {meant}'}", self._offsets[self._at])

    def _next(self, ahead: int = 0) -> tuple[str, str]:
        """Return the kind and text of the next word, or of one further on; of none, empty ones."""
        at = self._at + ahead
        return (self._kinds[at], self._words[at]) if at < self._end else ("", "")

    def _raw(self, word: str) -> int:
        return int(word[1:], 0) & 0xFFFFFFFF

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def _raise(self, message: str, offset: int) -> NoReturn:
        raise InputError(message, self._path, *self._place(offset))
