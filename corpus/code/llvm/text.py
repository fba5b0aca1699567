"""The words of the textual representation of LLVM, and the types and constants that stand in it.

A ``TextReader`` reads one line, or one definition. Registers keep their ``%``, so ``%5`` is ``Register("%5")``; a
global loses its ``@``, and is a ``SymbolRef``; an undefined value is the register ``undef``.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from corpus.code import ir
from corpus.code.llvm.types import (
    FLOAT_BITS,
    VOID,
    ArrayType,
    DataLayout,
    FloatType,
    IntType,
    IrError,
    OtherType,
    PointerType,
    StructType,
    Type,
)
from corpus.errors import InputError

_TOKEN = re.compile(
    r'c?"[^"]*"'  # a string; quotes in it are written \22
    r'|[%@!#$](?:"[^"]*"|[-\w.$]+)?'
    r"|-?\d+\.\d+(?:[eE][-+]?\d+)?|0x[KLMHR]?[0-9A-Fa-f]+|-?\d+"
    r"|\.\.\.|[\w.$]+|<\{|\}>|[][(){}<>,=*:|!]"
)

UNDEFINED = ir.Register("undef")
"""The operand that is an undefined value."""

POISON = ir.Register("poison")
"""The operand that is the result of what C leaves undefined, as the compiler has computed it."""


def tokens_of(text: str) -> list[str]:
    """Return the words of a text, without its comment."""
    return _TOKEN.findall(text)


def unquoted(name: str) -> str:
    """Return a name without its mark and quotes: ``a b`` for ``@"a\\20b"``."""
    plain = name[1:]
    if plain.startswith('"'):
        return re.sub(r"\\([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), plain[1:-1])
    return plain


def bytes_of(text: str) -> bytes:
    """Return the bytes of a string: ``c"a\\00"``."""
    inner = text[text.index('"') + 1 : -1].encode()
    return re.sub(rb"\\([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), inner)


@dataclass(frozen=True)
class TypeNames:
    """The types of a module that have names: their definitions as text, and those that have been read."""

    texts: Mapping[str, str]
    layout: DataLayout
    read: dict[str, Type] = field(default_factory=dict)

    def named(self, name: str) -> Type:
        """Return the type of a name; one that nothing defines has no values."""
        if name not in self.read:
            text = self.texts.get(name, "opaque")
            type: Type = OtherType(name) if text == "opaque" else TextReader(tokens_of(text), self).type()
            self.read[name] = replace(type, name=name) if isinstance(type, StructType) else type
        return self.read[name]


@dataclass(frozen=True, slots=True)
class TypedOperand:
    """An operand with its type. An aggregate has its ``parts``, the operands of its scalars in their order."""

    type: Type
    operand: ir.Operand
    parts: tuple[ir.Operand, ...] = ()


class TextReader:
    """Reads words from the first on."""

    def __init__(self, words: list[str], names: TypeNames) -> None:
        self.words, self.names = words, names
        self.place = 0
        self.beyond: list[tuple[int, int]] = []  # indices in constants that are outside of an array, and its elements

    # words

    @property
    def word(self) -> str:
        """The word that is to be read; nothing at the end."""
        return self.words[self.place] if self.place < len(self.words) else ""

    def next(self) -> str:
        """Read one word."""
        word = self.word
        self.place += 1
        return word

    def take(self, *words: str) -> str:
        """Read the next word if it is one of these; return it, or nothing."""
        return self.next() if self.word in words else ""

    def expect(self, word: str) -> None:
        """Read a word. Raises ``IrError`` where another one stands there."""
        if self.next() != word:
            raise IrError(f"expected {word}, found {self.words[self.place - 1 : self.place] or 'the end'}")

    def skip_brackets(self) -> None:
        """Read all that is in the brackets which begin here."""
        depth = 0
        while self.place < len(self.words):
            word = self.next()
            depth += (word in ("(", "[", "{", "<", "<{")) - (word in (")", "]", "}", ">", "}>"))
            if depth == 0:
                return

    def listed(self, end: str, read: Callable[[], None]) -> None:
        """Read what has commas between it, up to a bracket, which is read too."""
        while not self.take(end):
            read()
            if not self.take(","):
                self.expect(end)
                return

    def number(self) -> int:
        """Read a number."""
        word = self.next()
        if not re.fullmatch(r"-?\d{1,19}", word):
            raise IrError(f"expected a number, found {word or 'the end'}")
        return int(word)

    # types

    def type(self) -> Type:
        """Read a type; of a function that of its result."""
        found = self._type(self.next())
        while self.word == "(" or self.word == "*":
            if self.next() == "(":
                self.place -= 1
                self.skip_brackets()
            else:
                found = PointerType()
        return found

    def _type(self, word: str) -> Type:
        if re.fullmatch(r"i\d{1,7}", word):
            return IntType(int(word[1:]))
        if word in FLOAT_BITS:
            return FloatType(word)
        if word == "ptr":
            return PointerType(self.address_space())
        if word == "[" or (word == "<" and self.word != "{"):
            count = self.number() if self.word != "vscale" else -1
            if count < 0:
                raise IrError("vectors whose length the processor says are not understood")
            self.expect("x")
            element = self.type()
            self.expect("]" if word == "[" else ">")
            return ArrayType(count, element, word == "<")
        if word in ("{", "<{"):
            fields: list[Type] = []
            self.listed("}" if word == "{" else "}>", lambda: fields.append(self.type()))
            return StructType(tuple(fields), word == "<{")
        if word.startswith("%"):
            return self.names.named(word)
        if word in ("void", "label", "metadata", "token", "x86_mmx", "x86_amx", "opaque"):
            return VOID if word == "void" else OtherType(word)
        if word == "target":
            self.skip_brackets()
            return OtherType("target")
        raise IrError(f"expected a type, found {word or 'the end'}")

    def address_space(self) -> int:
        """Read ``addrspace(3)`` if it stands there, and return its number, else 0."""
        if not self.take("addrspace"):
            return 0
        self.expect("(")
        space = self.number()
        self.expect(")")
        return space

    # operands

    def typed(self) -> TypedOperand:
        """Read a type and an operand of it."""
        return self.operand(self.type())

    def operand(self, type: Type) -> TypedOperand:
        """Read an operand of a type. Raises ``IrError`` where it is none that is known."""
        word = self.next()
        if isinstance(type, ArrayType | StructType):
            return self._aggregate(type, word)
        return TypedOperand(type, self._scalar(type, word))

    def _aggregate(self, type: ArrayType | StructType, word: str) -> TypedOperand:
        scalars = [scalar for _, scalar in self.names.layout.leaves(type)]
        if word.startswith("%"):
            parts: tuple[ir.Operand, ...] = tuple(ir.Register(f"{word}.{number}") for number in range(len(scalars)))
            return TypedOperand(type, ir.Register(word), parts)
        if word in ("undef", "poison", "zeroinitializer", "none"):
            filler: ir.Operand = ir.Number(0) if word == "zeroinitializer" else UNDEFINED
            return TypedOperand(type, filler, (filler,) * len(scalars))
        if word.startswith('c"'):
            return TypedOperand(type, UNDEFINED, tuple(ir.Number(byte) for byte in bytes_of(word)))
        found: list[ir.Operand] = []

        def member() -> None:
            one = self.typed()
            found.extend(one.parts or (one.operand,))

        if word == "splat":
            self.expect("(")
            member()
            self.expect(")")
            found *= len(scalars)
        else:
            ends = {"{": "}", "[": "]", "<{": "}>", "<": ">"}
            if word not in ends:
                raise IrError(f"expected a value of several parts, found {word}")
            self.listed(ends[word], member)
        return TypedOperand(type, UNDEFINED, tuple(found))

    def _scalar(self, type: Type, word: str) -> ir.Operand:
        if word.startswith("%"):
            return ir.Register(word)
        if word.startswith("@"):
            return ir.SymbolRef(unquoted(word))
        if word in ("null", "zeroinitializer", "false", "none"):
            return ir.Number(0)
        if word == "true":
            return ir.Number(1)
        if word in ("undef", "poison"):
            return UNDEFINED if word == "undef" else POISON
        if isinstance(type, FloatType):
            return _float(word, type)
        if re.fullmatch(r"-?\d{1,4000}", word):
            bits = type.bits if isinstance(type, IntType) else 64
            return ir.Number(int(word) % (1 << bits))
        return self._expression(word)

    def _expression(self, word: str) -> ir.Operand:
        """Read a constant that is computed: an address further on, or one as a number."""
        if word == "getelementptr":
            while self.word != "(":
                self.next()
                if self.words[self.place - 1] == "inrange":
                    self.skip_brackets()
            self.expect("(")
            source = self.type()
            self.expect(",")
            base = self.typed().operand
            offset, first = 0, True
            layout = self.names.layout
            while self.take(","):
                index = self.typed().operand
                if not isinstance(index, ir.Number):
                    raise IrError("an index that is no number, in a constant, is not understood")
                value = (index.value + (1 << 63)) % (1 << 64) - (1 << 63)
                value = value - (1 << 32) if 1 << 31 <= value < 1 << 32 else value
                if first:
                    offset, first = value * layout.bytes(source), False
                else:
                    if isinstance(source, ArrayType) and source.count > 1 and not 0 <= value < source.count:
                        self.beyond.append((value, source.count))
                    step, source = layout.inside(source, value)
                    offset += step
            self.expect(")")
            return self._further(base, offset)
        if word in ("inttoptr", "ptrtoint", "bitcast", "addrspacecast"):
            self.expect("(")
            inner = self.typed().operand
            self.expect("to")
            self.type()
            self.expect(")")
            return inner
        if word in ("dso_local_equivalent", "no_cfi"):
            return ir.SymbolRef(unquoted(self.next()))
        if word in ("add", "sub"):
            self.take("nuw")
            self.take("nsw")
            self.expect("(")
            one = self.typed().operand
            self.expect(",")
            other = self.typed().operand
            self.expect(")")
            sign = 1 if word == "add" else -1
            if isinstance(other, ir.Number):
                return self._further(one, sign * ((other.value + (1 << 63)) % (1 << 64) - (1 << 63)))
            if (
                isinstance(one, ir.SymbolRef)
                and isinstance(other, ir.SymbolRef)
                and (word, one.name)
                == (
                    "sub",
                    other.name,
                )
            ):
                return ir.Number((one.offset - other.offset) % (1 << 64))
        raise IrError(f"the constant {word} is not understood")

    def _further(self, base: ir.Operand, offset: int) -> ir.Operand:
        if isinstance(base, ir.SymbolRef):
            return ir.SymbolRef(base.name, base.offset + offset)
        if isinstance(base, ir.Number):
            return ir.Number((base.value + offset) % (1 << 64))
        raise IrError("a constant that is computed of what is no address is not understood")

    def attributes_before_operand(self) -> Iterator[str]:
        """Yield the attributes of an argument, behind its type; ``byval`` is left to be read."""
        while re.fullmatch(r"[a-z]\w*", self.word) and self.word not in _OPERAND_WORDS:
            name = self.next()
            if name == "align" and self.word != "(":
                self.next()
            if self.word == "(":
                self.skip_brackets()
            yield name

    def attributes(self) -> Iterator[str]:
        """Yield the attributes that stand here, each as its name: ``noundef``, ``align``, ``byval``."""
        while re.fullmatch(r"[a-z]\w*", self.word) and not self._begins_type():
            name = self.next()
            if name == "align" and self.word != "(":
                self.next()
            if self.word == "(":
                self.skip_brackets()
            yield name
        while self.word.startswith(('"', "#")):
            self.next()
            if self.take("="):
                self.next()

    def _begins_type(self) -> bool:
        word = self.word
        return bool(re.fullmatch(r"i\d+", word)) or word in FLOAT_BITS or word in _TYPE_WORDS


_TYPE_WORDS = ("ptr", "void", "metadata", "label", "token", "target", "opaque")

_OPERAND_WORDS = frozenset(
    (
        *("byval", "null", "undef", "poison", "zeroinitializer", "true", "false", "none", "splat"),
        *("getelementptr", "inttoptr", "ptrtoint", "bitcast", "addrspacecast", "add", "sub", "c"),
        *("dso_local_equivalent", "no_cfi", "asm", "blockaddress"),
    )
)
"""The words with which an operand begins, and one that says more of an argument."""


def _float(word: str, type: FloatType) -> ir.Operand:
    """Return a floating-point constant: decimal, or the bits of a double; others have a letter for their format."""
    bits = FLOAT_BITS[type.name]
    if re.fullmatch(r"0x[KLMHR][0-9A-Fa-f]+", word):
        return ir.Number(int(word[3:], 16)) if bits != 16 else ir.Float(int(word[3:], 16), 16)
    if word.startswith("0x"):
        value = struct.unpack(">d", int(word, 16).to_bytes(8, "big"))[0]
    else:
        try:
            value = float(word)
        except ValueError:
            raise IrError(f"expected a number, found {word or 'the end'}") from None
    if bits == 32:
        return ir.Float(int.from_bytes(struct.pack(">f", value), "big"), 32)
    if bits == 64:
        return ir.Float(int.from_bytes(struct.pack(">d", value), "big"), 64)
    raise IrError(f"constants of {type.name} are not understood")


def wrong(error: IrError, path: str, line: int) -> InputError:
    """Return the error for a line of a module."""
    return InputError(f"LLVM: {error}", path, line, 1)
