"""The reader of PTX text (PTX ISA 9.1, chapters 4, 5, 7 and 11): a module of any size becomes ``Module``.

The text is cut into words by one regular expression. A statement ends with a semicolon, so that an instruction which
nobody knows is read as any other: name, words behind it, operands. Only what a launch reaches has to be understood.

Names in nested scopes hide outer ones, and are made unique here: ``%p1`` of the second inner scope becomes ``%p1'2``.
The lines of source code come from ``.loc``; one that says ``inlined_at`` names the line of an earlier ``.loc``, which
may name another, so that a line knows the whole chain of calls that were inlined.
"""

from __future__ import annotations

import math
import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, NoReturn

from corpus.code.ir import (
    Both,
    Element,
    Float,
    KernelFunction,
    KernelGuard,
    KernelInstruction,
    MemoryOperand,
    Module,
    Negated,
    Number,
    Operand,
    Register,
    SourceLine,
    SymbolRef,
    Variable,
    Vector,
)
from corpus.code.launch.fields import described_as, is_open
from corpus.code.launch.limits import limits_of
from corpus.code.ptx.constants import LEVELS, SUM, ConstantValue, applied, cast, chosen, combined, literal
from corpus.code.ptx.debugging import described
from corpus.code.ptx.scopes import FlatBody, PtxBlock
from corpus.code.ptx.words import (
    ATTRIBUTES,
    DEBUG_SECTION,
    HEADERS,
    LINKAGE,
    MODULE_SPACES,
    PRAGMAS,
    SIZE_BY,
    SPACES,
    TARGET,
    TARGET_OPTIONS,
    TYPES,
    USED_BYTES,
    VECTORS,
)
from corpus.errors import InputError
from corpus.litmus.ptx_arithmetic import WIDTHS

_WORDS = re.compile(
    r"""(?:\s+|//[^\n]*|/\*.*?\*/|@@(?i:DWARF)[^\n]*)*+
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

MOST_NESTED = 100
"""Blocks within blocks, and operands within operands."""

MOST_REGISTERS = 1 << 20
"""The registers that one declaration in an inner scope may have."""

MOST_VALUES = 1 << 24
"""The elements that a variable with an initial value may have."""


def read_ptx(text: str, path: str, files: Mapping[str, str] | None = None) -> Module:
    """Return the module that a text of PTX denotes, whose compiler knew source ``files``, paths by name, by others.

    Raises ``InputError`` with line and column.
    """
    return _Reader(text, path, files or {}).module()


class _AddressByte(NamedTuple):
    """A byte of an address in an initial value: the address, which byte, and which word of the text."""

    symbol: SymbolRef
    place: int
    at: int


_Initial = Number | Float | SymbolRef | _AddressByte


class _Reader:
    """A reader of one text: its words, and the place that it has come to."""

    def __init__(self, text: str, path: str, files: Mapping[str, str]) -> None:
        self._text, self._path = text, path
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._words: list[str] = []
        self._kinds: list[str] = []
        self._offsets: list[int] = []
        self._at = 0
        self._files: dict[int, str] = {}
        self._opcodes: dict[str, tuple[str, tuple[str, ...]]] = {}  # one object each: there are few, in many places
        self._registers: dict[str, Register] = {}
        self._source: SourceLine | None = None
        self._inlined: dict[tuple[int, int, int], SourceLine] = {}
        for match in _WORDS.finditer(text):
            kind = match.lastgroup or ""
            self._words.append(match[kind])
            self._kinds.append(kind)
            self._offsets.append(match.start(kind))
            if kind == "end":
                break
        if self._offsets[-1] != len(text):
            self._fail("a word of PTX", self._offsets[-1], repr(text[self._offsets[-1]]))
        for place in (n for n, word in enumerate(self._words) if word == ".file"):
            if self._kinds[place + 1] == "number" and self._kinds[place + 2] == "string":
                self._at = place + 1
                number, said = self._number(), self._words[place + 2][1:-1]
                self._files[number] = files.get(said, said)
        self._at = 0

    # words

    def _fail(self, wanted: str, offset: int, found: str) -> NoReturn:
        line = bisect_right(self._lines, offset)
        column = offset - self._lines[line - 1] + 1
        raise InputError(f"expected {wanted}, found {found}", self._path, line, column)

    def _wrong(self, wanted: str) -> NoReturn:
        word = self._words[self._at]
        self._fail(wanted, self._offsets[self._at], f"'{word}'" if word else "the end")

    def _line(self) -> int:
        return bisect_right(self._lines, self._offsets[self._at])

    def _take(self, word: str) -> bool:
        if self._words[self._at] == word:
            self._at += 1
            return True
        return False

    def _want(self, word: str) -> None:
        if not self._take(word):
            self._wrong(f"'{word}'")

    def _name(self, what: str) -> str:
        if self._kinds[self._at] != "word":
            self._wrong(what)
        self._at += 1
        return self._words[self._at - 1]

    def _number(self) -> int:
        if self._kinds[self._at] != "number":
            self._wrong("a number")
        return int(self._literal().value)

    # modules

    def module(self) -> Module:
        """Read the whole module."""
        version = target = ""
        variables: dict[str, Variable] = {}
        functions: dict[str, KernelFunction] = {}
        aliases: list[tuple[int, list[str]]] = []
        sized = False
        sections: dict[str, list[str]] = {}
        while self._words[self._at]:
            word = self._words[self._at]
            if word == ".version":
                self._at += 1
                if self._kinds[self._at] not in ("float", "number"):
                    self._wrong("a version")
                version = self._words[self._at]
                self._at += 1
            elif word == ".target":
                target = self._target()
            elif word == ".address_size":
                self._at += 1
                if self._number() != 64:
                    self._at -= 1
                    self._wrong("64, as other sizes of addresses are not understood")
                sized = True
            elif word == ".file":
                self._file()
            elif word == ".section":
                self._at += 1
                if not DEBUG_SECTION.match(self._words[self._at]):
                    self._wrong("the name of a section of debugging")
                section, start = self._name("the name of a section"), self._at + 1
                self._skip_block()
                sections[section] = self._words[start : self._at - 1]
            elif word == ".pragma":
                self._pragma()
            elif word == ".alias":
                aliases.append((self._at + 1, self._list()))
                self._want(";")
            elif word == ".loc":
                self._loc()
            elif word == ";":
                self._at += 1
            else:
                self._declaration(variables, functions)
        if functions and not sized:  # 11.1.3: of 32 bits, where nothing is said
            self._at = 0
            self._wrong(".address_size 64, as other sizes of addresses are not understood")
        for self._at, names in aliases:  # 11.2.3
            if len(names) != 2 or names[1] not in functions:
                self._wrong("two names, the second of a function")
            functions[names[0]] = replace(functions[names[1]], name=names[0])
        if sections and any(map(is_open, (p for each in functions.values() if each.entry for p in each.declared))):
            for name, said in described(sections).items():
                if name in functions and functions[name].entry:
                    functions[name] = described_as(functions[name], said)
        return Module(self._path, version, target, variables, functions)

    def _list(self) -> list[str]:
        """The words after a directive, separated by commas."""
        self._at += 1
        found: list[str] = []
        while not found or self._take(","):
            name = self._name("a word")
            found += [f"{name}{n}" for n in range(self._count())] if self._words[self._at] == "<" else [name]
        return found

    def _target(self) -> str:
        """Read the architecture and its options, each of which is known (11.1.2)."""
        self._at += 1
        found: list[str] = []
        while not found or self._take(","):
            name = self._words[self._at]
            if not TARGET.match(name) and name not in TARGET_OPTIONS:
                self._wrong(f"an architecture or one of {', '.join(TARGET_OPTIONS)}")
            found.append(self._name("an architecture"))
        return ", ".join(found)

    def _pragma(self) -> str:
        """Read ``.pragma`` and its strings, each of which is known, up to behind its end; return it without the end."""
        self._at += 1
        found: list[str] = []
        while not found or self._take(","):
            word = self._words[self._at]
            if self._kinds[self._at] != "string" or (word[1:-1].split() or [""])[0] not in PRAGMAS:
                self._wrong(f"one of the strings {', '.join(PRAGMAS)}")
            found.append(word)
            self._at += 1
        self._want(";")
        return f".pragma {' , '.join(found)}"

    def _attributes(self) -> None:
        """Read the attributes in parentheses, each of which is known (5.4.8, 5.5)."""
        self._want("(")
        count = 0
        while not count or self._take(","):
            needed = ATTRIBUTES.get(self._words[self._at])
            if needed is None:
                self._wrong(f"one of the attributes {', '.join(ATTRIBUTES)}")
            self._at += 1
            for number in range(needed):
                self._want("," if number else "(")
                self._number()
            if needed:
                self._want(")")
            count += 1
        self._want(")")

    def _headers(self) -> tuple[str, ...]:
        """Read the directives behind the head of a function, each of which is known (11.4, 11.7, 11.8)."""
        found: list[str] = []
        while self._words[self._at].startswith("."):
            word = self._words[self._at]
            if word == ".pragma":
                found.append(self._pragma())
                continue
            if word not in HEADERS:
                self._wrong("'{', ';' or a directive of a function")
            self._at += 1
            least, most = HEADERS[word]
            numbers: list[str] = []
            while len(numbers) < most and (not numbers or self._take(",")):
                numbers.append(str(self._number()))
            if len(numbers) < least:
                self._wrong("a number")
            found.append(" ".join((word, ", ".join(numbers))).strip())
        return tuple(found)

    def _count(self) -> int:
        """Return the number of names that ``<n>`` behind a name makes of it (5.4.6)."""
        self._want("<")
        count = self._number()
        if not 0 <= count <= MOST_REGISTERS:
            self._at -= 1
            self._wrong(f"a number up to {MOST_REGISTERS}")
        self._want(">")
        return count

    def _file(self) -> None:
        self._at += 1
        self._number()
        if self._kinds[self._at] != "string":
            self._wrong("a file name")
        self._at += 1
        while self._take(","):
            self._number()

    def _skip_block(self) -> None:
        self._want("{")
        depth = 1
        while depth:
            word = self._words[self._at]
            if not word:
                self._wrong("'}'")
            depth += (word == "{") - (word == "}")
            self._at += 1

    def _declaration(self, variables: dict[str, Variable], functions: dict[str, KernelFunction]) -> None:
        extern = False
        while self._words[self._at] in LINKAGE:
            extern = extern or self._words[self._at] == ".extern"
            self._at += 1
        word = self._words[self._at]
        if word in (".entry", ".func"):
            start = self._at
            function = self._function(word == ".entry")
            before = functions.get(function.name)
            if before is not None and before.body is not None and function.body is not None:
                self._at = start
                self._wrong(f"one definition of {function.name}")
            if before is None or before.body is None:
                functions[function.name] = function
            return
        if word[1:] not in MODULE_SPACES or word[:1] != ".":
            self._wrong("a directive of a module")
        for variable in self._variables(extern):
            if not (extern and variable.name in variables):
                variables[variable.name] = variable
        self._want(";")

    # variables

    def _variables(self, extern: bool) -> Iterator[Variable]:
        """Yield what a declaration declares, from its state space to before its end."""
        space = self._words[self._at][1:]
        self._at += 1
        align, kind, count = 0, "", 1
        while self._words[self._at].startswith("."):
            word = self._words[self._at]
            self._at += 1
            if word == ".align":
                align = self._size()
            elif word[1:] in VECTORS and count == 1:
                count = int(word[2:])
            elif word == ".attribute" and space == "global":
                self._attributes()
            elif word == ".ptr" and space == "param":
                self._take(".global")  # a pointer of another state space is of what no launch gives (5.1.6.3)
            elif word[1:] in TYPES and not kind:
                kind = word[1:]
            else:
                self._at -= 1
                self._wrong("a type or an attribute of a variable")
        if not kind:
            self._wrong("a type")
        width = WIDTHS.get(kind, 64) + 7 >> 3
        while True:
            line, name = self._line(), self._name("the name of a variable")
            if self._words[self._at] == "<":
                name = f"{name}<{self._count()}>"
            shape: list[int | None] = []
            while self._take("["):
                shape.append(None if self._words[self._at] == "]" and not shape else self._size())
                self._want("]")
            shape += [count] if count > 1 else []
            values = self._initial_values(shape) if self._take("=") else None
            if width < 4 and any(isinstance(value, Float) for value in values or ()):
                self._wrong(f"integers before this, as values of .{kind}")
            if shape[:1] == [None] and values is not None:
                shape[0] = len(values) // _volume(shape[1:])
            size = None if shape[:1] == [None] else width * _volume(shape)
            initial = b"".join(_bytes(value, width) for value in values or ())
            addresses = () if values is None else self._addresses(values, width)
            alone = extern or size is None
            yield Variable(name, space, kind, size, align or width * count, initial, addresses, alone, line)
            if not self._take(","):
                return

    def _size(self) -> int:
        """Read a constant expression that is the size of something."""
        start = self._at
        found = self._expression(0)
        if not isinstance(found, Number) or not 0 <= found.value < 1 << 48:
            self._at = start
            self._wrong("a size")
        return found.value

    def _initial_values(self, shape: Sequence[int | None]) -> list[_Initial]:
        if _volume(shape) > MOST_VALUES:
            self._wrong(f"no value for more than {MOST_VALUES} elements")
        return self._initial(shape)

    def _initial(self, shape: Sequence[int | None], depth: int = 0) -> list[_Initial]:
        """Read an initial value of so many values in each dimension. A list in braces is filled with zeros."""
        if not self._take("{"):
            return [self._initial_value(depth)]
        if depth > MOST_NESTED:
            self._wrong(f"at most {MOST_NESTED} braces within each other")
        most, inner = shape[0] if shape else 1, _volume(shape[1:])
        found: list[_Initial] = []
        while not self._take("}"):
            if found:
                self._want(",")
            values = self._initial(shape[1:], depth + 1)
            found += values
            if most is not None and len(found) > most * inner:
                self._at -= 1
                self._wrong(f"at most {most * inner} values")
        whole = -len(found) % inner if most is None else most * inner - len(found) if depth else 0
        return found + [Number(0)] * whole

    def _initial_value(self, depth: int) -> _Initial:
        """Read a number, an address, ``generic(x)+4``, or one byte of an address, ``0xFF00(x)`` (5.4.4)."""
        if depth > MOST_NESTED:
            self._wrong(f"at most {MOST_NESTED} values within each other")
        start = self._at
        found: _Initial | None = None
        if self._kinds[start] == "number" and self._words[start + 1] == "(":
            mask = self._number()
            place = (mask & -mask).bit_length() - 1 >> 3
            if mask != 0xFF << 8 * place or place > 7:
                self._at = start
                self._wrong("a mask of one byte")
            self._want("(")
            value = self._initial_value(depth + 1)
            self._want(")")
            if isinstance(value, SymbolRef):
                found = _AddressByte(value, place, start)
            elif isinstance(value, Number):
                found = Number(value.value >> 8 * place & 0xFF)
        elif self._take("generic"):
            self._want("(")
            value = self._initial_value(depth + 1)
            self._want(")")
            if isinstance(value, SymbolRef):
                found = SymbolRef(value.name, value.offset + self._offset(0))
        else:
            operand = self._operand()
            found = operand if isinstance(operand, Number | Float | SymbolRef) else None
        if found is None:
            self._at = start
            self._wrong("a value")
        return found

    def _addresses(self, values: Sequence[_Initial], width: int) -> tuple[tuple[int, SymbolRef], ...]:
        """Return the addresses among initial values, by their places. Of one that stands as bytes, each has to."""
        found: list[tuple[int, SymbolRef]] = []
        parts: dict[tuple[int, SymbolRef], list[_AddressByte]] = {}
        for n, value in enumerate(values):
            if isinstance(value, SymbolRef):
                found.append((n * width, value))
            elif isinstance(value, _AddressByte):
                parts.setdefault((n * width - value.place, value.symbol), []).append(value)
        for (at, symbol), each in parts.items():
            if width > 1 or [byte.place for byte in each] not in ([*range(4)], [*range(8)]):
                self._at = each[0].at
                self._wrong("every byte of an address")
            found.append((at, symbol))
        return tuple(sorted(found))

    # functions

    def _function(self, entry: bool) -> KernelFunction:
        self._at += 1
        if self._take(".attribute"):
            self._attributes()
        results = self._parameters() if self._words[self._at] == "(" else ()
        line, name = self._line(), self._name("the name of a function")
        parameters = self._parameters() if self._words[self._at] == "(" else ()
        directives = self._headers()
        if self._take(";"):
            return KernelFunction(name, entry, results, parameters, {}, (), None, {}, {}, directives, line)
        self._source, self._inlined = None, {}
        self._want("{")
        block = self._block(0)
        for each in (*results, *parameters):
            if each.space == "reg":
                block.registers[each.name] = each
        flat = FlatBody()
        flat.block(block, {})
        registers, variables = flat.registers, tuple(flat.variables)
        code, labels, tables = tuple(flat.code), flat.labels, flat.tables
        found = KernelFunction(
            name, entry, results, parameters, registers, variables, code, labels, tables, directives, line
        )
        return replace(found, block=limits_of(found, SIZE_BY).block)

    def _parameters(self) -> tuple[Variable, ...]:
        self._want("(")
        found: list[Variable] = []
        while not self._take(")"):
            if found:
                self._want(",")
            if self._words[self._at] not in (".param", ".reg"):
                self._wrong("'.param'")
            found.append(next(self._variables(False)))  # the next one has a state space of its own
        return tuple(found)

    def _block(self, depth: int) -> PtxBlock:
        """Read the statements up to the closing brace of a block whose opening one is read."""
        if depth > MOST_NESTED:
            self._wrong(f"at most {MOST_NESTED} blocks within each other")
        block = PtxBlock()
        words, kinds = self._words, self._kinds
        while True:
            word = words[self._at]
            if word == "}":
                self._at += 1
                return block
            if word == "{":
                self._at += 1
                block.statements.append(self._block(depth + 1))
            elif word == ".loc":
                self._loc()
            elif word == ".reg":
                for variable in self._variables(False):
                    block.registers[variable.name] = variable
                self._want(";")
            elif word[1:] in SPACES and word[0] == ".":
                block.variables += self._variables(False)
                self._want(";")
            elif word == ".pragma" and (said := USED_BYTES.match(words[self._at + 1])):
                block.statements.append(self._load_of(int(said[1], 0)))
            elif word == ".pragma":
                self._pragma()
            elif word == ";":
                self._at += 1
            elif kinds[self._at] == "word" and words[self._at + 1] == ":":
                block.statements.append(word)
                self._at += 2
                self._table(block, word)
            elif (kinds[self._at] == "word" and word[0] != ".") or word == "@":
                block.statements.append(self._instruction())
            else:
                self._wrong("an instruction")

    def _table(self, block: PtxBlock, label: str) -> None:
        if self._words[self._at] in (".branchtargets", ".calltargets"):
            block.tables[label] = tuple(self._list())
            self._want(";")
        elif self._take(".callprototype"):
            for _ in range(2):  # results, and parameters behind the name
                if self._words[self._at] == "(":
                    self._parameters()
                self._take("_")
            self._headers()
            self._want(";")

    def _loc(self) -> None:
        """Read the line of source code from here on."""
        self._at += 1
        place = (self._number(), self._number(), self._number())
        around = None
        if self._take(","):
            if self._take("function_name"):
                self._name("a label")
                if self._take("+"):
                    self._number()
                self._want(",")
            self._want("inlined_at")
            inner = (self._number(), self._number(), self._number())
            around = self._inlined.get(inner) or SourceLine(self._files.get(inner[0], "?"), *inner[1:])
            for each in around.chain:  # a function that is inlined into itself has one line in the chain
                if each[:3] == (self._files.get(place[0], "?"), *place[1:]):
                    around = each.inlined_at
        self._source = SourceLine(self._files.get(place[0], "?"), *place[1:], around)
        self._inlined[place] = self._source

    # instructions

    def _load_of(self, used: int) -> KernelInstruction:
        """Read the load behind a ``.pragma`` that says which of its bytes are used (chapter 12)."""
        self._at += 2
        self._want(";")
        while self._words[self._at] == ".loc":
            self._loc()
        if not self._words[self._at].startswith(("ld.", "@")):
            self._wrong("an ld behind used_bytes_mask")
        found = self._instruction()
        if found.name != "ld":
            self._wrong("an ld behind used_bytes_mask")
        return found._replace(used=used)

    def _instruction(self) -> KernelInstruction:
        line, guard = self._line(), None
        if self._take("@"):
            unless = self._take("!")
            guard = KernelGuard(self._name("a predicate"), unless)
        opcode = self._name("an instruction")
        known = self._opcodes.get(opcode)
        if known is None:
            name, *words = opcode.split(".")
            known = self._opcodes[opcode] = name, tuple(words)
        name, qualifiers = known
        operands: list[Operand] = []
        if not self._take(";"):
            read = self._argument if name == "call" else self._operand
            operands.append(read())
            while self._take(","):
                operands.append(read())
            self._want(";")
        return KernelInstruction(name, qualifiers, tuple(operands), guard, line, self._source)

    def _argument(self) -> Operand:
        """Read an operand of a call, of which some are lists in parentheses."""
        return self._list_of_operands(")", 0) if self._take("(") else self._operand()

    def _operand(self, depth: int = 0) -> Operand:
        if depth > MOST_NESTED:
            self._wrong(f"at most {MOST_NESTED} operands within each other")
        word, kind = self._words[self._at], self._kinds[self._at]
        found: Operand
        if kind == "word":
            self._at += 1
            if word[0] == "%" or word in ("_", "WARP_SZ"):
                found = self._registers.get(word) or self._registers.setdefault(word, Register(word))
            else:
                found = self._symbol(word, depth)
            if self._words[self._at] == "[":
                found = self._element(found)
        elif word in "-!" and kind == "sign" and self._kinds[self._at + 1] == "word":
            self._at += 1
            found = Negated(self._operand(depth + 1))
        elif word == "[":
            self._at += 1
            found = self._memory(depth)
        elif word == "{":
            self._at += 1
            found = self._list_of_operands("}", depth)
        elif kind in ("number", "float") or (kind == "sign" and word in "+-!~("):
            return self._expression(depth)
        else:
            self._wrong("an operand")
        return Both(found, self._operand(depth + 1)) if self._take("|") else found

    def _symbol(self, name: str, depth: int) -> SymbolRef:
        return SymbolRef(name, self._offset(depth)) if self._words[self._at] in ("+", "-") else SymbolRef(name)

    def _offset(self, depth: int) -> int:
        """Read what is added to an address, if anything, in bytes."""
        offset = 0
        while self._words[self._at] in ("+", "-"):
            sign = -1 if self._words[self._at] == "-" else 1
            self._at += 1
            part = self._constant(depth + 1, SUM + 1).value
            if not isinstance(part, int):
                self._at -= 1
                self._wrong("a number of bytes")
            offset += sign * part
        return offset

    def _element(self, base: Operand) -> Element:
        """Read the index of an element of an array: a number, or a register with an offset."""
        self._want("[")
        if self._kinds[self._at] == "word":
            which, offset = self._name("an index"), self._offset(0)
            which += f"{offset:+}" if offset else ""
        else:
            which = str(self._size())
        self._want("]")
        return Element(base, which)

    def _memory(self, depth: int) -> Operand:
        base = self._operand(depth + 1)
        offset = 0
        if isinstance(base, SymbolRef):
            base, offset = SymbolRef(base.name), base.offset
        if not isinstance(base, Register | SymbolRef | Number | Element):
            self._wrong("an address")
        offset += self._offset(depth)
        if isinstance(base, Element):  # one of an array of textures
            found: Operand = base
        else:
            found = MemoryOperand(base, offset)
        if self._take(","):  # of a texture or a tensor
            rest = [self._operand(depth + 1)]
            while self._take(","):
                rest.append(self._operand(depth + 1))
            found = Vector((found, *rest))
        self._want("]")
        return found

    def _list_of_operands(self, end: str, depth: int) -> Vector:
        parts: list[Operand] = []
        while not self._take(end):
            if parts:
                self._want(",")
            parts.append(self._operand(depth + 1))
        return Vector(tuple(parts))

    # constant expressions (4.5)

    def _expression(self, depth: int) -> Number | Float:
        """Read a constant expression. A single-precision constant stands alone, or behind a sign."""
        word = self._words[self._at]
        if self._kinds[self._at] == "number" and self._words[self._at + 1] in (",", ";", "]", "}", ")"):
            return Number(self._number())  # what nearly every constant is
        at = self._at + (word in ("+", "-"))
        if self._words[at][:2] in ("0f", "0F"):
            self._at = at + 1
            return Float(int(self._words[at][2:], 16) ^ (word == "-") << 31, 32)
        value = self._constant(depth).value
        if isinstance(value, int):
            return Number(value)
        return Float(int.from_bytes(struct.pack("<d", value), "little"), 64)

    def _constant(self, depth: int, least: int = 0) -> ConstantValue:
        """Read a constant expression whose operators bind no weaker than ``least``."""
        if depth > MOST_NESTED:
            self._wrong(f"at most {MOST_NESTED} expressions within each other")
        found = self._primary(depth)
        while (level := LEVELS.get(self._words[self._at], -1)) >= least:
            at, sign = self._at, self._words[self._at]
            self._at += 1
            other = self._constant(depth + 1, level + (sign != "?"))
            if sign == "?":
                self._want(":")
                result = chosen(found, other, self._constant(depth + 1))
            else:
                result = combined(sign, found, other)
            if result is None:
                self._at = at
                self._wrong("an operator that its operands have")
            found = result
        return found

    def _primary(self, depth: int) -> ConstantValue:
        at, word = self._at, self._words[self._at]
        found: ConstantValue | None
        if self._kinds[at] == "number":
            return self._literal()
        self._at += 1
        if self._kinds[at] == "float" and word[:2] not in ("0f", "0F"):
            return ConstantValue(_double(word))
        if word == "(" and self._words[at + 1] in (".s64", ".u64"):
            self._at += 1
            self._want(")")
            found = cast(self._nested(depth), self._words[at + 1] == ".u64")
        elif word == "(":
            found = self._constant(depth + 1)
            self._want(")")
        elif word in ("+", "-", "!", "~"):
            found = applied(word, self._nested(depth))
        else:
            self._at = at
            self._wrong("a constant")
        if found is None:
            self._at = at
            self._wrong("an operator that its operand has")
        return found

    def _nested(self, depth: int) -> ConstantValue:
        if depth > MOST_NESTED:
            self._wrong(f"at most {MOST_NESTED} expressions within each other")
        return self._primary(depth + 1)

    def _literal(self) -> ConstantValue:
        try:
            found = literal(self._words[self._at])
        except ValueError:
            self._wrong("an integer of at most 64 bits")
        self._at += 1
        return found


def _double(word: str) -> float:
    if word[:2] in ("0d", "0D"):
        return float(struct.unpack("<d", int(word[2:], 16).to_bytes(8, "little"))[0])
    return float(word)


def _volume(shape: Sequence[int | None]) -> int:
    return math.prod(each for each in shape if each is not None)


def _bytes(value: _Initial, size: int) -> bytes:
    match value:
        case Number(number):
            return (number % (1 << 8 * size)).to_bytes(size, "little")
        case Float(bits, width):
            if width == 64 and size == 4:
                number = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
                try:
                    return struct.pack("<f", number)
                except OverflowError:  # Python refuses to round to infinity
                    return struct.pack("<f", math.copysign(math.inf, number))
            return bits.to_bytes(size, "little")
        case _:
            return bytes(size)
