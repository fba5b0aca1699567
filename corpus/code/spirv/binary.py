"""The reader of binary modules (SPIR-V 1.6, 2.3): words of 32 bits, of which the first five are a header.

The magic number gives the order of bytes. A place in a binary is the index of a word, from 0.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from corpus.code.spirv.grammar import GrammarRow, GrammarTable, bits_of, spirv_grammar
from corpus.code.spirv.literals import NumberType, of_words
from corpus.code.spirv.module import Id, SpirvFloat, SpirvHeader, SpirvInteger, SpirvModule, SpirvString
from corpus.code.spirv.operands import UNKNOWN, InstructionPlace, read_instructions
from corpus.code.spirv.sections import module_of
from corpus.errors import InputError

MAGIC = 0x07230203
HEADER = 5
"""Words of the header: magic number, version, generator, bound, and a zero."""


def is_binary(data: bytes) -> bool:
    """Whether data starts with the magic number, in either order of bytes."""
    return data[:4] in (struct.pack("<I", MAGIC), struct.pack(">I", MAGIC))


def read_binary(data: bytes, path: str, files: Mapping[str, str] | None = None) -> SpirvModule:
    """Return the module of a binary, whose compiler knew source ``files``, paths by name, by other names.

    Raises ``InputError``, which names the index of a word.
    """
    words = array("I", data[: len(data) & ~3])
    if words[:1].tolist() != [MAGIC]:
        words.byteswap()
    if len(data) % 4 or len(words) < HEADER:
        raise InputError(f"expected words of 4 bytes, {HEADER} or more, found {len(data)} bytes", path)
    try:
        source = _Words(words, path)
        instructions = read_instructions(list(source.places()), source)
        version = (words[1] >> 16 & 255, words[1] >> 8 & 255)
        return module_of(instructions, SpirvHeader(path, version, binary=True, files=files or {}))
    except InputError as error:
        raise InputError(f"{error.message}, at word {error.line}", path) from None


class _Words:
    """The words of a binary, and the operands that are to be read next."""

    def __init__(self, words: Sequence[int], path: str) -> None:
        self._words, self._path = words, path
        self._at = self._end = HEADER
        self._bound = words[3]
        self._ids: dict[int, Id] = {}  # one object each

    def places(self) -> Iterator[InstructionPlace]:
        """Yield the place of each instruction, with its result."""
        rows = dict(spirv_grammar().instructions.by_number)
        start = HEADER
        while start < len(self._words):
            count, number = self._words[start] >> 16, self._words[start] & 0xFFFF
            if not 0 < count <= len(self._words) - start:
                most = len(self._words) - start
                self._raise(f"expected an instruction of 1 to {most} words, found one of {count}", start)
            self._at, self._end = start + 1, start + count
            row = rows.get(number) or rows.setdefault(number, GrammarRow(f"Op{number}", number, UNKNOWN))
            type = self.id().name if row.has_type else None
            result = self.id().name if row.has_result else None
            yield InstructionPlace(row, type, result, self._at, self._end, start)
            start += count

    def seek(self, place: InstructionPlace) -> None:
        self._at, self._end = place.start, place.end

    def more(self) -> bool:
        return self._at < self._end

    def id(self) -> Id:
        number = self._word("an id")
        found = self._ids.get(number)
        if found is None:
            if not 0 < number < self._bound:
                self._at -= 1
                self.fail(f"an id from 1 to below the bound {self._bound}")
            found = self._ids[number] = Id(str(number))
        return found

    def words(self) -> tuple[SpirvInteger, ...]:
        """Take all operands of the instruction as numbers."""
        found = tuple(SpirvInteger(word) for word in self._words[self._at : self._end])
        self._at = self._end
        return found

    def number(self, type: NumberType) -> SpirvInteger | SpirvFloat:
        if self._end - self._at < type.words:
            self.fail(f"{type}")
        self._at += type.words
        return of_words(self._words[self._at - type.words : self._at], type)

    def string(self) -> SpirvString:
        """Take the words up to the one that has a zero byte; the first byte is that of the lowest order."""
        start, end = self._at, self._at
        while end < self._end and not _has_zero(self._words[end]):
            end += 1
        if end == self._end:
            self.fail("a string that ends with a zero")
        words = self._words[start : end + 1]
        self._at = end + 1
        try:
            return SpirvString(struct.pack(f"<{len(words)}I", *words).partition(b"\0")[0].decode("utf-8"))
        except UnicodeDecodeError:
            self._at = start
            self.fail("a string in UTF-8")

    def row(self, table: GrammarTable, what: str, any_name: bool = False) -> GrammarRow:
        number = self._word(what)
        return table.by_number.get(number) or GrammarRow(str(number), number)

    def rows(self, table: GrammarTable, what: str) -> Sequence[GrammarRow]:
        return bits_of(table, self._word(what))

    def fail(self, wanted: str) -> NoReturn:
        found = f"{self._words[self._at]:#x}" if self._at < self._end else "the end of the instruction"
        self._raise(f"expected {wanted}, found {found}", self._at)

    def _word(self, wanted: str) -> int:
        if self._at >= self._end:
            self.fail(wanted)
        self._at += 1
        return self._words[self._at - 1]

    def _raise(self, message: str, word: int) -> NoReturn:
        raise InputError(message, self._path, word)


def _has_zero(word: int) -> bool:
    """Whether one of the four bytes of a word is zero."""
    return not (word & 0xFF and word & 0xFF00 and word & 0xFF0000 and word & 0xFF000000)
