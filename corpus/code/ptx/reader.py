"""The reader of PTX text (PTX ISA 9.1, chapters 4, 5, 7 and 11): a module of any size becomes ``Module``.

The text is cut into words by one regular expression. A statement ends with a semicolon, so that an instruction which
nobody knows is read as any other: name, words behind it, operands. Only what a launch reaches has to be understood.

Names in nested scopes hide outer ones, and are made unique here: ``%p1`` of the second inner scope becomes ``%p1'2``.
The lines of source code come from ``.loc``; one that says ``inlined_at`` names the line of an earlier ``.loc``, which
may name another, so that a line knows the whole chain of calls that were inlined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from corpus.code.ir import (
    BlockSize,
    KernelFunction,
    KernelGuard,
    KernelInstruction,
    Module,
    Operand,
    SourceLine,
    Variable,
)
from corpus.code.launch.fields import described_as, is_open
from corpus.code.launch.limits import limits_of
from corpus.code.ptx.debugging import described
from corpus.code.ptx.declarations import read_attributes, read_count, read_parameters, read_variables
from corpus.code.ptx.scopes import FlatBody, PtxBlock
from corpus.code.ptx.syntax import MOST_NESTED, read_argument, read_operand
from corpus.code.ptx.tokens import PtxTokens
from corpus.code.ptx.words import (
    DEBUG_SECTION,
    HEADERS,
    LINKAGE,
    MODULE_SPACES,
    PRAGMAS,
    SIZE_BY,
    SPACES,
    TARGET,
    TARGET_OPTIONS,
    USED_BYTES,
)


def read_ptx(text: str, path: str, files: Mapping[str, str] | None = None) -> Module:
    """Return the module that a text of PTX denotes, whose compiler knew source ``files``, paths by name, by others.

    Raises ``InputError`` with line and column.
    """
    tokens = PtxTokens(text, path)
    return _module(tokens, LocatedLines(tokens, files or {}))


class LocatedLines:
    """The lines of source code that ``.file`` and ``.loc`` tell (PTX ISA 9.1, 11.5): the names of files by number, the
    line from here on, and those into which others are inlined.
    """

    def __init__(self, tokens: PtxTokens, files: Mapping[str, str]) -> None:
        self.files: dict[int, str] = {}
        self.source: SourceLine | None = None
        self.inlined: dict[tuple[int, int, int], SourceLine] = {}
        for place in (n for n, word in enumerate(tokens.words) if word == ".file"):
            if tokens.kinds[place + 1] == "number" and tokens.kinds[place + 2] == "string":
                tokens.position = place + 1
                number, name = tokens.number(), tokens.words[place + 2][1:-1]
                self.files[number] = files.get(name, name)
        tokens.position = 0

    def begin(self) -> None:
        """Begin a function, whose lines are its own."""
        self.source, self.inlined = None, {}

    def read(self, tokens: PtxTokens) -> None:
        """Read the line of source code from here on."""
        tokens.position += 1
        place = (tokens.number(), tokens.number(), tokens.number())
        around = None
        if tokens.take(","):
            if tokens.take("function_name"):
                tokens.name("a label")
                if tokens.take("+"):
                    tokens.number()
                tokens.want(",")
            tokens.want("inlined_at")
            inner = (tokens.number(), tokens.number(), tokens.number())
            around = self.inlined.get(inner) or SourceLine(self.files.get(inner[0], "?"), *inner[1:])
            for line in around.chain:  # a function that is inlined into itself has one line in the chain
                if line[:3] == (self.files.get(place[0], "?"), *place[1:]):
                    around = line.inlined_at
        self.source = SourceLine(self.files.get(place[0], "?"), *place[1:], around)
        self.inlined[place] = self.source


def _module(tokens: PtxTokens, lines: LocatedLines) -> Module:
    """Read the whole module."""
    version = target = ""
    variables: dict[str, Variable] = {}
    functions: dict[str, KernelFunction] = {}
    aliases: list[tuple[int, list[str]]] = []
    sized = False
    sections: dict[str, list[str]] = {}
    while tokens.words[tokens.position]:
        word = tokens.words[tokens.position]
        if word == ".version":
            tokens.position += 1
            if tokens.kinds[tokens.position] not in ("float", "number"):
                tokens.wrong("a version")
            version = tokens.words[tokens.position]
            tokens.position += 1
        elif word == ".target":
            target = _target(tokens)
        elif word == ".address_size":
            tokens.position += 1
            if tokens.number() != 64:
                tokens.position -= 1
                tokens.wrong("64, as other sizes of addresses are not understood")
            sized = True
        elif word == ".file":
            _file(tokens)
        elif word == ".section":
            tokens.position += 1
            if not DEBUG_SECTION.match(tokens.words[tokens.position]):
                tokens.wrong("the name of a section of debugging")
            section, start = tokens.name("the name of a section"), tokens.position + 1
            tokens.skip_block()
            sections[section] = tokens.words[start : tokens.position - 1]
        elif word == ".pragma":
            _pragma(tokens)
        elif word == ".alias":
            aliases.append((tokens.position + 1, _list(tokens)))
            tokens.want(";")
        elif word == ".loc":
            lines.read(tokens)
        elif word == ";":
            tokens.position += 1
        else:
            _declaration(tokens, lines, variables, functions)
    if functions and not sized:  # 11.1.3: of 32 bits, where nothing is said
        tokens.position = 0
        tokens.wrong(".address_size 64, as other sizes of addresses are not understood")
    for place, names in aliases:  # 11.2.3
        tokens.position = place
        if len(names) != 2 or names[1] not in functions:
            tokens.wrong("two names, the second of a function")
        functions[names[0]] = replace(functions[names[1]], name=names[0])
    entries = [function for function in functions.values() if function.entry]
    if sections and any(is_open(parameter) for entry in entries for parameter in entry.declared):
        for name, parameters in described(sections).items():
            if name in functions and functions[name].entry:
                functions[name] = described_as(functions[name], parameters)
    return Module(tokens.path, version, target, variables, functions, "ptx")


def _list(tokens: PtxTokens) -> list[str]:
    """The words after a directive, separated by commas."""
    tokens.position += 1
    found: list[str] = []
    while not found or tokens.take(","):
        name = tokens.name("a word")
        found += [f"{name}{n}" for n in range(read_count(tokens))] if tokens.words[tokens.position] == "<" else [name]
    return found


def _target(tokens: PtxTokens) -> str:
    """Read the architecture and its options, each of which is known (11.1.2)."""
    tokens.position += 1
    found: list[str] = []
    while not found or tokens.take(","):
        name = tokens.words[tokens.position]
        if not TARGET.match(name) and name not in TARGET_OPTIONS:
            tokens.wrong(f"an architecture or one of {', '.join(TARGET_OPTIONS)}")
        found.append(tokens.name("an architecture"))
    return ", ".join(found)


def _pragma(tokens: PtxTokens) -> str:
    """Read ``.pragma`` and its strings, each of which is known, up to behind its end; return it without the end."""
    tokens.position += 1
    found: list[str] = []
    while not found or tokens.take(","):
        word = tokens.words[tokens.position]
        if tokens.kinds[tokens.position] != "string" or (word[1:-1].split() or [""])[0] not in PRAGMAS:
            tokens.wrong(f"one of the strings {', '.join(PRAGMAS)}")
        found.append(word)
        tokens.position += 1
    tokens.want(";")
    return f".pragma {' , '.join(found)}"


def _headers(tokens: PtxTokens) -> tuple[str, ...]:
    """Read the directives behind the head of a function, each of which is known (11.4, 11.7, 11.8)."""
    found: list[str] = []
    while tokens.words[tokens.position].startswith("."):
        word = tokens.words[tokens.position]
        if word == ".pragma":
            found.append(_pragma(tokens))
            continue
        if word not in HEADERS:
            tokens.wrong("'{', ';' or a directive of a function")
        tokens.position += 1
        least, most = HEADERS[word]
        numbers: list[str] = []
        while len(numbers) < most and (not numbers or tokens.take(",")):
            numbers.append(str(tokens.number()))
        if len(numbers) < least:
            tokens.wrong("a number")
        found.append(" ".join((word, ", ".join(numbers))).strip())
    return tuple(found)


def _file(tokens: PtxTokens) -> None:
    tokens.position += 1
    tokens.number()
    if tokens.kinds[tokens.position] != "string":
        tokens.wrong("a file name")
    tokens.position += 1
    while tokens.take(","):
        tokens.number()


def _declaration(
    tokens: PtxTokens, lines: LocatedLines, variables: dict[str, Variable], functions: dict[str, KernelFunction]
) -> None:
    extern = False
    while tokens.words[tokens.position] in LINKAGE:
        extern = extern or tokens.words[tokens.position] == ".extern"
        tokens.position += 1
    word = tokens.words[tokens.position]
    if word in (".entry", ".func"):
        start = tokens.position
        function = _function(tokens, lines, word == ".entry")
        before = functions.get(function.name)
        if before is not None and before.body is not None and function.body is not None:
            tokens.position = start
            tokens.wrong(f"one definition of {function.name}")
        if before is None or before.body is None:
            functions[function.name] = function
        return
    if word[1:] not in MODULE_SPACES or word[:1] != ".":
        tokens.wrong("a directive of a module")
    for variable in read_variables(tokens, extern):
        if not (extern and variable.name in variables):
            variables[variable.name] = variable
    tokens.want(";")


def _function(tokens: PtxTokens, lines: LocatedLines, entry: bool) -> KernelFunction:
    tokens.position += 1
    if tokens.take(".attribute"):
        read_attributes(tokens)
    results = read_parameters(tokens) if tokens.words[tokens.position] == "(" else ()
    line, name = tokens.line(), tokens.name("the name of a function")
    parameters = read_parameters(tokens) if tokens.words[tokens.position] == "(" else ()
    directives = _headers(tokens)
    if tokens.take(";"):
        return KernelFunction(name, entry, results, parameters, {}, (), None, {}, {}, directives, line)
    lines.begin()
    tokens.want("{")
    block = _block(tokens, lines, 0)
    for parameter in (*results, *parameters):
        if parameter.space == "reg":
            block.registers[parameter.name] = parameter
    flat = FlatBody()
    flat.block(block, {})
    registers, variables = flat.registers, tuple(flat.variables)
    code, labels, tables = tuple(flat.code), flat.labels, flat.tables
    found = KernelFunction(
        name, entry, results, parameters, registers, variables, code, labels, tables, directives, line
    )
    return replace(found, block_size=BlockSize(limits_of(found, SIZE_BY).block))


def _block(tokens: PtxTokens, lines: LocatedLines, depth: int) -> PtxBlock:
    """Read the statements up to the closing brace of a block whose opening one is read."""
    if depth > MOST_NESTED:
        tokens.wrong(f"at most {MOST_NESTED} blocks within each other")
    block = PtxBlock()
    words, kinds = tokens.words, tokens.kinds
    while True:
        word = words[tokens.position]
        if word == "}":
            tokens.position += 1
            return block
        if word == "{":
            tokens.position += 1
            block.statements.append(_block(tokens, lines, depth + 1))
        elif word == ".loc":
            lines.read(tokens)
        elif word == ".reg":
            for variable in read_variables(tokens, False):
                block.registers[variable.name] = variable
            tokens.want(";")
        elif word[1:] in SPACES and word[0] == ".":
            block.variables += read_variables(tokens, False)
            tokens.want(";")
        elif word == ".pragma" and (mask := USED_BYTES.match(words[tokens.position + 1])):
            block.statements.append(_load_of(tokens, lines, int(mask[1], 0)))
        elif word == ".pragma":
            _pragma(tokens)
        elif word == ";":
            tokens.position += 1
        elif kinds[tokens.position] == "word" and words[tokens.position + 1] == ":":
            block.statements.append(word)
            tokens.position += 2
            _table(tokens, block, word)
        elif (kinds[tokens.position] == "word" and word[0] != ".") or word == "@":
            block.statements.append(_instruction(tokens, lines))
        else:
            tokens.wrong("an instruction")


def _table(tokens: PtxTokens, block: PtxBlock, label: str) -> None:
    if tokens.words[tokens.position] in (".branchtargets", ".calltargets"):
        block.tables[label] = tuple(_list(tokens))
        tokens.want(";")
    elif tokens.take(".callprototype"):
        for _ in range(2):  # results, and parameters behind the name
            if tokens.words[tokens.position] == "(":
                read_parameters(tokens)
            tokens.take("_")
        _headers(tokens)
        tokens.want(";")


def _load_of(tokens: PtxTokens, lines: LocatedLines, used: int) -> KernelInstruction:
    """Read the load behind a ``.pragma`` that says which of its bytes are used (chapter 12)."""
    tokens.position += 2
    tokens.want(";")
    while tokens.words[tokens.position] == ".loc":
        lines.read(tokens)
    if not tokens.words[tokens.position].startswith(("ld.", "@")):
        tokens.wrong("an ld behind used_bytes_mask")
    found = _instruction(tokens, lines)
    if found.name != "ld":
        tokens.wrong("an ld behind used_bytes_mask")
    return found._replace(used=used)


@lru_cache(maxsize=1 << 12)
def _words_of(opcode: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of an instruction and its words: one object each, as there are few, in many places."""
    name, *words = opcode.split(".")
    return name, tuple(words)


def _instruction(tokens: PtxTokens, lines: LocatedLines) -> KernelInstruction:
    line, guard = tokens.line(), None
    if tokens.take("@"):
        unless = tokens.take("!")
        guard = KernelGuard(tokens.name("a predicate"), unless)
    opcode = tokens.name("an instruction")
    name, qualifiers = _words_of(opcode)
    operands: list[Operand] = []
    if not tokens.take(";"):
        read = read_argument if name == "call" else read_operand
        operands.append(read(tokens))
        while tokens.take(","):
            operands.append(read(tokens))
        tokens.want(";")
    return KernelInstruction(name, qualifiers, tuple(operands), guard, line, lines.source)
