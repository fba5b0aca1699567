"""The reader of PTX text (PTX ISA 9.1, chapters 4, 5, 7 and 11): a module of any size becomes ``Module``.

The text is cut into words by one regular expression. A statement ends with a semicolon, so that an instruction which
nobody knows is read as any other: name, words behind it, operands. Only what a launch reaches has to be understood.

Names in nested scopes hide outer ones, and are made unique here: ``%p1`` of the second inner scope becomes ``%p1'2``.
The lines of source code come from ``.loc``; one that says ``inlined_at`` names the line of an earlier ``.loc``, which
may name another, so that a line knows the whole chain of calls that were inlined.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from corpus.errors import InputError
from corpus.kernels.ptx.module import (
    WIDTHS,
    Both,
    Element,
    Float,
    Function,
    Guard,
    Instruction,
    Memory,
    Module,
    Negated,
    Number,
    Operand,
    Register,
    SourceLine,
    Symbol,
    Variable,
    Vector,
)

_WORDS = re.compile(
    r"""(?P<blank>(?:\s+|//[^\n]*|/\*.*?\*/)+)
      | (?P<float>(?:0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?!\w))
      | (?P<number>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?)(?![\w])
      | (?P<word>[A-Za-z_$%.][\w$%.]*(?:::[\w$%.]+)*)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<sign><<|>>|<=|>=|==|!=|&&|\|\||[][(){}<>,;:=@!|+*/%&^~?-])
    """,
    re.VERBOSE | re.DOTALL,
)

SPACES = ("reg", "sreg", "const", "global", "local", "param", "shared", "tex")
"""The state spaces of declarations (5.1)."""

_LINKAGE = (".visible", ".extern", ".weak", ".common")

MOST_NESTED = 200
"""Blocks within blocks."""


def read_ptx(text: str, path: str) -> Module:
    """Return the module that a text of PTX denotes. Raises ``InputError`` with line and column."""
    return _Reader(text, path).module()


@dataclass
class _Block:
    """The statements of a block, in order: labels as text, instructions, and blocks; and what it declares."""

    statements: list[str | Instruction | _Block] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)


class _Reader:
    """A reader of one text: its words, and the place that it has come to."""

    def __init__(self, text: str, path: str) -> None:
        self._text, self._path = text, path
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._words: list[str] = []
        self._kinds: list[str] = []
        self._offsets: list[int] = []
        self._at = 0
        self._files: dict[int, str] = {}
        self._source: SourceLine | None = None
        self._inlined: dict[tuple[int, int, int], SourceLine] = {}
        self._pending: list[tuple[int, int, int, tuple[int, int, int] | None]] = []
        end = 0
        for match in _WORDS.finditer(text):
            if match.start() != end:
                self._fail("a word of PTX", end, repr(text[end]))
            end = match.end()
            if match.lastgroup != "blank":
                self._words.append(match[0])
                self._kinds.append(match.lastgroup or "")
                self._offsets.append(match.start())
        if end != len(text):
            self._fail("a word of PTX", end, repr(text[end]))
        self._words.append("")
        self._kinds.append("end")
        self._offsets.append(len(text))
        for place in (n for n, word in enumerate(self._words) if word == ".file"):
            if self._kinds[place + 1] == "number" and self._kinds[place + 2] == "string":
                self._files[int(self._words[place + 1])] = self._words[place + 2][1:-1]

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
        sign = -1 if self._take("-") else 1
        if self._kinds[self._at] != "number":
            self._wrong("a number")
        self._at += 1
        return sign * _integer(self._words[self._at - 1])

    # modules

    def module(self) -> Module:
        """Read the whole module."""
        version = target = ""
        variables: dict[str, Variable] = {}
        functions: dict[str, Function] = {}
        while self._words[self._at]:
            word = self._words[self._at]
            if word == ".version":
                self._at += 1
                version = self._words[self._at]
                self._at += 1
            elif word == ".target":
                target = ", ".join(self._list())
            elif word == ".address_size":
                self._at += 1
                self._number()
            elif word == ".file":
                self._file()
            elif word == ".section":
                self._at += 2
                self._skip_block()
            elif word in (".pragma", ".alias"):
                self._skip_statement()
            elif word == ".loc":
                self._loc()
            elif word in ("@@DWARF", ";"):
                self._at += 1
            else:
                self._declaration(variables, functions)
        return Module(self._path, version, target, variables, functions)

    def _list(self) -> list[str]:
        """The words after a directive, separated by commas."""
        self._at += 1
        found = [self._name("a word")]
        while self._take(","):
            found.append(self._name("a word"))
        return found

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

    def _skip_statement(self) -> None:
        while self._words[self._at] not in (";", ""):
            self._at += 1
        self._want(";")

    def _declaration(self, variables: dict[str, Variable], functions: dict[str, Function]) -> None:
        extern = False
        while self._words[self._at] in _LINKAGE:
            extern = extern or self._words[self._at] == ".extern"
            self._at += 1
        word = self._words[self._at]
        if word in (".entry", ".func"):
            function = self._function(word == ".entry")
            before = functions.get(function.name)
            if before is None or before.body is None:
                functions[function.name] = function
            return
        if word[1:] not in SPACES or word[:1] != ".":
            self._wrong("a directive of a module")
        for variable in self._variables(extern):
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
                align = self._number()
            elif word in (".v2", ".v4", ".v8"):
                count = int(word[2:])
            elif word == ".attribute":
                self._want("(")
                while not self._take(")"):
                    if not self._words[self._at]:
                        self._wrong("')'")
                    self._at += 1
            elif word != ".ptr" and word[1:] not in SPACES:
                kind = word[1:]
        width = count * (WIDTHS.get(kind, 64) + 7 >> 3)
        while True:
            line, name = self._line(), self._name("the name of a variable")
            size: int | None = width
            if self._take("<"):
                name = f"{name}<{self._number()}>"
                self._want(">")
            while self._take("["):
                size = None if self._words[self._at] == "]" else size and size * self._number()
                self._want("]")
            initial, addresses = b"", []
            if self._take("="):
                values = [*self._initial()]
                addresses = [(n * width, value) for n, value in enumerate(values) if isinstance(value, Symbol)]
                initial = b"".join(_bytes(value, width // count) for value in values)
                size = len(initial) if size is None else size
            yield Variable(
                name, space, kind, size, align or width, initial, tuple(addresses), extern or size is None, line
            )
            if not self._take(","):
                return

    def _initial(self) -> Iterator[Number | Float | Symbol]:
        if self._take("{"):
            while not self._take("}"):
                yield from self._initial()
                if self._words[self._at] != "}":
                    self._want(",")
            return
        value = self._operand()
        if isinstance(value, Symbol) and self._words[self._at] == "(":  # generic(x)
            self._at += 1
            value = self._operand()
            self._want(")")
        elif isinstance(value, Number) and self._words[self._at] == "(":  # 0xFF(x), a byte of an address
            self._wrong("a value, as a byte of an address is not read")
        if not isinstance(value, Number | Float | Symbol):
            self._wrong("a value")
        yield value

    # functions

    def _function(self, entry: bool) -> Function:
        self._at += 1
        results = self._parameters() if self._words[self._at] == "(" else ()
        line, name = self._line(), self._name("the name of a function")
        parameters = self._parameters() if self._words[self._at] == "(" else ()
        directives = []
        while self._words[self._at].startswith("."):
            directive = [self._words[self._at]]
            self._at += 1
            while self._kinds[self._at] in ("number", "string") or self._words[self._at] == ",":
                directive.append(self._words[self._at])
                self._at += 1
            directives.append(" ".join(directive))
        if self._take(";"):
            return Function(name, entry, results, parameters, {}, (), None, {}, {}, tuple(directives), line)
        self._source, self._inlined = None, {}
        self._want("{")
        block = self._block(0)
        flat = _Flat()
        flat.block(block, {})
        registers, variables = flat.registers, tuple(flat.variables)
        code, labels, tables = tuple(flat.code), flat.labels, flat.tables
        directed = tuple(directives)
        return Function(name, entry, results, parameters, registers, variables, code, labels, tables, directed, line)

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

    def _block(self, depth: int) -> _Block:
        """Read the statements up to the closing brace of a block whose opening one is read."""
        if depth > MOST_NESTED:
            self._wrong(f"at most {MOST_NESTED} blocks within each other")
        block = _Block()
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
                    block.registers[variable.name] = variable.type
                self._want(";")
            elif word[1:] in SPACES and word[0] == ".":
                block.variables += self._variables(False)
                self._want(";")
            elif word in (".pragma", ".maxnreg"):
                self._skip_statement()
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

    def _table(self, block: _Block, label: str) -> None:
        if self._words[self._at] in (".branchtargets", ".calltargets"):
            block.tables[label] = tuple(self._list())
            self._want(";")
        elif self._words[self._at] == ".callprototype":
            self._skip_statement()

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
        self._source = SourceLine(self._files.get(place[0], "?"), *place[1:], around)
        self._inlined[place] = self._source

    # instructions

    def _instruction(self) -> Instruction:
        line, guard = self._line(), None
        if self._take("@"):
            unless = self._take("!")
            guard = Guard(self._name("a predicate"), unless)
        name, *words = self._name("an instruction").split(".")
        operands: list[Operand] = []
        if not self._take(";"):
            operands.append(self._operand())
            while self._take(","):
                operands.append(self._operand())
            self._want(";")
        return Instruction(name, tuple(words), tuple(operands), guard, line, self._source)

    def _operand(self, depth: int = 0) -> Operand:
        if depth > MOST_NESTED:
            self._wrong(f"at most {MOST_NESTED} braces within each other")
        word, kind = self._words[self._at], self._kinds[self._at]
        self._at += 1
        found: Operand
        if kind == "word":
            found = Register(word) if word[0] == "%" or word == "_" else Symbol(word)
            following = self._words[self._at]
            if following in "+-" and following and isinstance(found, Symbol):
                self._at += following == "+"
                found = Symbol(word, self._number())
            elif following == "[":
                self._at += 1
                found = Element(found, str(self._number()))
                self._want("]")
        elif kind == "number":
            found = Number(_integer(word))
        elif kind == "float":
            found = _float(word)
        elif word == "-":
            found = _negative(self._operand(depth + 1))
        elif word == "!":
            found = Negated(self._operand(depth + 1))
        elif word == "~":
            inner = self._operand(depth + 1)
            if not isinstance(inner, Number):
                self._wrong("a number behind '~'")
            found = Number(~inner.value)
        elif word == "[":
            found = self._memory(depth)
        elif word in "{(" and word:
            found = self._vector("}" if word == "{" else ")", depth)
        else:
            self._at -= 1
            self._wrong("an operand")
        if self._take("|"):
            return Both(found, self._operand(depth + 1))
        return found

    def _memory(self, depth: int) -> Operand:
        base = self._operand(depth + 1)
        offset = 0
        if isinstance(base, Symbol):
            base, offset = Symbol(base.name), base.offset
        while self._words[self._at] in ("+", "-"):
            self._at += self._words[self._at] == "+"
            offset += self._number()
        if not isinstance(base, Register | Symbol | Number):
            self._wrong("an address")
        found = Memory(base, offset)
        if self._take(","):  # of a texture or a tensor
            rest = [self._operand(depth + 1)]
            while self._take(","):
                rest.append(self._operand(depth + 1))
            self._want("]")
            return Vector((found, *rest))
        self._want("]")
        return found

    def _vector(self, end: str, depth: int) -> Vector:
        parts: list[Operand] = []
        while not self._take(end):
            if parts:
                self._want(",")
            parts.append(self._operand(depth + 1))
        return Vector(tuple(parts))


class _Flat:
    """The blocks of a function as one list, in which each name of a nested scope is unique."""

    def __init__(self) -> None:
        self.registers: dict[str, str] = {}
        self.variables: list[Variable] = []
        self.code: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self._plain: set[str] = set()
        self._scopes = 0

    def block(self, block: _Block, around: dict[str, Operand]) -> None:
        """Append what a block has; ``around`` are the new names of outer scopes."""
        self._scopes += 1
        mark = f"'{self._scopes}" if self._scopes > 1 else ""
        names = dict(around)
        for name, kind in block.registers.items():
            stem, _, count = name.rstrip(">").partition("<")
            every = [f"{stem}{n}" for n in range(int(count))] if count else [name]
            self.registers[f"{stem}{mark}<{count}>" if count else name + mark] = kind
            if mark or not name.startswith("%"):
                names.update((each, Register(each + mark)) for each in every)
        for variable in block.variables:
            self.variables.append(replace(variable, name=variable.name + mark))
            if mark:
                names[variable.name] = Symbol(variable.name + mark)
        if mark:
            labels = [each for each in block.statements if isinstance(each, str)]
            names.update((label, Symbol(label + mark)) for label in labels)
        for label, targets in block.tables.items():
            self.tables[label + mark] = tuple(_named(names, each) for each in targets)
        for statement in block.statements:
            if isinstance(statement, str):
                self.labels[statement + mark] = len(self.code)
            elif isinstance(statement, _Block):
                self.block(statement, names)
            else:
                self.code.append(_renamed(statement, names) if names else statement)


def _named(names: Mapping[str, Operand], name: str) -> str:
    found = names.get(name)
    return found.name if isinstance(found, Register | Symbol) else name


def _renamed(ins: Instruction, names: Mapping[str, Operand]) -> Instruction:
    guard = ins.guard and ins.guard._replace(register=_named(names, ins.guard.register))
    return ins._replace(operands=tuple(_new_name(each, names) for each in ins.operands), guard=guard)


def _new_name(operand: Operand, names: Mapping[str, Operand]) -> Operand:
    match operand:
        case Register(name):
            return names.get(name, operand)
        case Symbol(name, offset):
            found = names.get(name, operand)
            return found._replace(offset=offset) if isinstance(found, Symbol) else found
        case Memory(base, offset):
            renamed = _new_name(base, names)
            assert isinstance(renamed, Register | Symbol | Number)
            return Memory(renamed, offset)
        case Vector(parts):
            return Vector(tuple(_new_name(each, names) for each in parts))
        case Negated(inner):
            return Negated(_new_name(inner, names))
        case Both(first, second):
            return Both(_new_name(first, names), _new_name(second, names))
        case Element(base, which):
            return Element(_new_name(base, names), which)
        case _:
            return operand


def _integer(word: str) -> int:
    """Return an integer constant: decimal, octal, hexadecimal or binary (4.5.1)."""
    digits = word.rstrip("U")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1:].isdigit()
    return int(digits, 8) if octal else int(digits, 0)


def _float(word: str) -> Float:
    if word[:2] in ("0f", "0F"):
        return Float(int(word[2:], 16), 32)
    if word[:2] in ("0d", "0D"):
        return Float(int(word[2:], 16), 64)
    return Float(int.from_bytes(struct.pack("<d", float(word)), "little"), 64)


def _negative(operand: Operand) -> Operand:
    match operand:
        case Number(value):
            return Number(-value)
        case Float(bits, width):
            return Float(bits ^ 1 << width - 1, width)
        case _:
            return Negated(operand)


def _bytes(value: Number | Float | Symbol, size: int) -> bytes:
    match value:
        case Number(number):
            return (number % (1 << 8 * size)).to_bytes(size, "little")
        case Float(bits, width):
            if width == 64 and size == 4:
                number = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
                return struct.pack("<f", number)
            return bits.to_bytes(size, "little")
        case _:
            return bytes(size)
