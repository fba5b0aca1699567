"""The body of a function as blocks of instructions, before they are translated: labels, words, places of the source.

19:                                       ; preds = %36, %2
  %20 = load ptr, ptr %3, align 8, !dbg !161
  br label %37, !dbg !162
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpus.code.llvm.text import TextReader, TypeNames, tokens_of, unquoted
from corpus.code.llvm.types import Type

ENTRY = ""
"""The label of the first block, which has none."""

RESULT_SLOT = "%retval"
"""The variable of the stack by which clang returns a result."""

DECLARED = "#dbg_declare"
"""The name of a line at which the source declares a variable."""


class BodyLine(NamedTuple):
    """An instruction: its register (or nothing), the words behind it, its line, and the node of its place."""

    result: str
    words: list[str]
    line: int
    place: str

    @property
    def name(self) -> str:
        """The name of the instruction."""
        return next((word for word in self.words if word not in ("tail", "musttail", "notail")), "")


@dataclass(frozen=True, slots=True)
class BodyBlock:
    """A block: its label without ``%``, and its instructions."""

    label: str
    lines: list[BodyLine]


@dataclass(frozen=True, slots=True)
class Body:
    """The blocks of a function, and the nodes of its variables by the registers that have their addresses.

    A line with the name ``DECLARED`` is where a variable is declared: its register, its node, and ``whole`` where the
    register has the address of the variable itself. ``labelled``: the source has labels that ``goto`` leads to.
    """

    blocks: list[BodyBlock]
    declared: Mapping[str, str]
    labelled: bool = False

    @property
    def lines(self) -> Iterator[BodyLine]:
        """All instructions."""
        return (line for block in self.blocks for line in block.lines)


_LABEL = re.compile(r'((?:"[^"]*"|[-\w.$]+)):(?:\s|$)')
_RESULT = re.compile(r'\s*(%(?:"[^"]*"|[-\w.$]+)) = ')
_PLACE = re.compile(r", !dbg (!\d+)")
_DECLARED = re.compile(
    r"(?:#dbg_declare\(|@llvm\.dbg\.declare\(metadata )ptr (addrspace\(\d+\) )?(%[-\w.$]+), (?:metadata )?(!\d+)"
    r"(?:.*?(!\d+)\)?$)?"
)
_LABELLED = re.compile(r"#dbg_label\(|@llvm\.dbg\.label\(")
_CONTINUED = re.compile(r"\s+(?:catch|filter|cleanup|to label)\b|\s{4,}\S|\s+\]")


def body_of(lines: Sequence[str], start: int) -> Body:
    """Return the blocks of a body whose first line has this number."""
    blocks, declared, labelled = [BodyBlock(ENTRY, [])], dict[str, str](), False
    for number, line in enumerate(lines, start + 1):
        if not line or line.startswith(";"):
            continue
        if found := _LABEL.match(line):
            blocks.append(BodyBlock(found[1].strip('"'), []))
            continue
        block = blocks[-1].lines
        if line.lstrip().startswith("#") or "@llvm.dbg." in line:
            labelled = labelled or _LABELLED.search(line) is not None
            if found := _DECLARED.search(line):
                whole = ["whole"] if "!DIExpression()" in line else []
                block.append(BodyLine("", [DECLARED, found[2], found[3], *whole], number, found[4] or ""))
                if not found[1]:
                    declared.setdefault(found[2], found[3])
            continue
        if block and _CONTINUED.match(line):
            last = block[-1]
            place = _PLACE.search(line)
            words = [*last.words, *tokens_of(_bare(line))]
            block[-1] = last._replace(words=words, place=place[1] if place else last.place)
            continue
        result, place = _RESULT.match(line), _PLACE.search(line)
        rest = line[result.end() :] if result else line
        block.append(BodyLine(result[1] if result else "", tokens_of(_bare(rest)), number, place[1] if place else ""))
    return Body([block for block in blocks if block.lines], declared, labelled)


def successors(body: Body) -> dict[str, list[str]]:
    """Return the blocks to which control may go from each block, each once, as far as they are there."""
    known = {block.label for block in body.blocks}
    found: dict[str, list[str]] = {}
    for block in body.blocks:
        words = block.lines[-1].words
        targets = (unquoted(word) for place, word in enumerate(words) if words[place - 1] == "label")
        found[block.label] = [target for target in dict.fromkeys(targets) if target in known]
    return found


def is_lifetime(line: BodyLine) -> bool:
    """Decide whether a line marks where the lifetime of a variable begins or ends."""
    return line.name == "call" and any(word.startswith("@llvm.lifetime.") for word in line.words)


def _bare(line: str) -> str:
    """Return a line without its metadata and its comment, but with the mark of checks of clang's."""
    if "!nosanitize " in line and _CHECKING.match(line):
        return f"{_METADATA.sub('', line)} {SANITIZER}"
    return _METADATA.sub("", line.split(" ; ")[0] if '"' not in line else line)


SANITIZER = "!nosanitize"
"""What marks instructions by which clang checks what C leaves undefined."""

_CHECKING = re.compile(r"\s*(?:br|sub|lshr|and|xor) ")
"""The instructions of checks that would be checked themselves, or that a way depends on."""

_METADATA = re.compile(r", !(?!mmra\b)[\w.]+ !\d+|, ![\w.]+ !\{\}")
"""Metadata that changes nothing which an instruction does; ``mmra`` says that it orders less."""


def alloca_type(line: BodyLine, names: TypeNames) -> tuple[Type, str | None]:
    """Return the type of a variable of the stack, and the word that is its number of elements, if any."""
    reader = TextReader(line.words, names)
    reader.expect("alloca")
    reader.take("inalloca")
    reader.take("swifterror")
    type = reader.type()
    if reader.take(",") and reader.word not in ("align", "addrspace"):
        reader.type()
        return type, reader.next()
    return type, None


def only_accessed(body: Body) -> frozenset[str]:
    """Return the addresses of which nothing is made but accesses there, or further addresses of that kind."""
    uses: dict[str, list[BodyLine]] = {}
    for line in body.lines:
        for word in line.words:
            if word.startswith("%"):
                uses.setdefault(word, []).append(line)
    found: dict[str, bool] = {}

    def accessed(register: str) -> bool:
        if register not in found:
            found[register] = False
            lines = uses.get(register, [])
            found[register] = bool(lines) and all(_is_access_of(line, register, accessed) for line in lines)
        return found[register]

    return frozenset(line.result for line in body.lines if line.name == "getelementptr" and accessed(line.result))


def _is_access_of(line: BodyLine, register: str, accessed: Callable[[str], bool]) -> bool:
    """Decide whether a line does nothing with an address but access what is there."""
    words, name = line.words, line.name
    if words.count(register) != 1:
        return False
    pointer = words[words.index(register) - 1] in ("ptr", ")")
    if name == "getelementptr":
        return pointer and accessed(line.result)
    if name == "store":
        return words.index(register) > 3 and pointer and "," in words[: words.index(register)]
    return name in ("load", "atomicrmw", "cmpxchg") and pointer and words.index(register) < 8


LITERAL = "%.compoundliteral"
"""How the names of registers begin that have the addresses of compound literals."""

RENAMING = ("addrspacecast", "bitcast")
"""The instructions that give the address of a variable another name."""

_MOVING = ("@llvm.memcpy.", "@llvm.memmove.", "@llvm.memset.", "@llvm.lifetime.")


def literals_kept(body: Body) -> frozenset[int]:
    """Return the lines of instructions that keep the address of a compound literal: it may be used when the block of
    the literal is over.
    """
    return kept(body, [line.result for line in body.lines if line.name == "alloca" and line.result.startswith(LITERAL)])


def kept(body: Body, variables: Collection[str]) -> frozenset[int]:
    """Return the lines of instructions that have the address of one of these variables of the stack and do more with it
    than access what is there.
    """
    addresses, found, before = {*variables}, set[int](), 0
    while len(addresses) != before:
        before = len(addresses)
        for line in body.lines:
            used = [number for number, word in enumerate(line.words) if word in addresses]
            if not used or line.name in ("load", DECLARED) or any(word.startswith(_MOVING) for word in line.words):
                continue
            if line.name in ("getelementptr", *RENAMING):
                addresses.add(line.result)
            elif line.name != "store" or used[0] <= line.words.index(","):
                found.add(line.line)
    return frozenset(found)
