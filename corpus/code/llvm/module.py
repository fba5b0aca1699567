"""A module of LLVM as text: its globals, its functions, of which only those that are reached are read, its metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from corpus.code.llvm.text import TypeNames, unquoted
from corpus.code.llvm.types import layout_of


@dataclass(frozen=True, slots=True)
class FunctionText:
    """A function: its head, the lines of its body (None where it is only declared), and the line of the head."""

    name: str
    head: str
    body: tuple[str, ...] | None
    line: int


@dataclass(frozen=True)
class ModuleText:
    """The parts of a module, by their names; ``metadata`` by number, ``!5``; ``globals`` with their lines;
    ``attributes`` of functions by number, ``#0``.
    """

    path: str
    names: TypeNames
    globals: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    functions: Mapping[str, FunctionText] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    assembly: int = 0
    """The line of assembly that stands outside of functions; 0 where there is none."""

    def aliased(self, name: str) -> str:
        """Return the global that a name stands for: itself, or what it is another name of."""
        for _ in range(10):
            found = re.search(r'@(?:"[^"]*"|[-\w.$]+)', self.aliases.get(name, ""))
            if found is None:
                return name
            name = unquoted(found[0])
        return name

    @cached_property
    def compiler(self) -> str:
        """What has made the module."""
        named = self.metadata.get("!llvm.ident", "")
        first = re.search(r"!\d+", named)
        found = re.search(r'!"([^"]*)"', self.metadata.get(first[0], "")) if first else None
        return found[1] if found else ""


_TARGET = re.compile(r'target (?:datalayout) = "([^"]*)"')
_TYPE = re.compile(r'(%(?:"[^"]*"|[-\w.$]+)) = type (.*)')
_GLOBAL = re.compile(r'(@(?:"[^"]*"|[-\w.$]+)) = (.*)')
_ATTRIBUTES = re.compile(r"attributes (#\d+) = (.*)")
_METADATA = re.compile(r"(![-\w.$]+) = (.*)")
_FUNCTION = re.compile(r'(?:define|declare)\b[^@]*(@(?:"[^"]*"|[-\w.$]+))')


def module_of(text: str, path: str) -> ModuleText:
    """Return the parts of a module."""
    layout, types = "", dict[str, str]()
    globals_, functions = dict[str, tuple[str, int]](), dict[str, FunctionText]()
    aliases, metadata, attributes, assembly = dict[str, str](), dict[str, str](), dict[str, str](), 0
    lines = text.splitlines()
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        first = line[:1]
        if first == "!":
            if found := _METADATA.match(line):
                metadata[found[1]] = found[2]
        elif first == "d" and (found := _FUNCTION.match(line)):
            begun, name = place, unquoted(found[1])
            body: tuple[str, ...] | None = None
            if line.startswith("define"):
                while place < len(lines) and lines[place] != "}":
                    place += 1
                body = tuple(lines[begun:place])
                place += 1
            functions[name] = FunctionText(name, line, body, begun)
        elif first == "@" and (found := _GLOBAL.match(line)):
            if re.search(r"\b(?:alias|ifunc)\b", re.sub(r'"[^"]*"', "", found[2]).partition("@")[0]):
                aliases[unquoted(found[1])] = found[2]
            else:
                globals_[unquoted(found[1])] = (found[2], place)
        elif first == "%" and (found := _TYPE.match(line)):
            types[found[1]] = found[2].strip()
        elif first == "a" and (found := _ATTRIBUTES.match(line)):
            attributes[found[1]] = found[2]
        elif first == "m" and line.startswith("module asm"):
            assembly = assembly or place
        elif first == "t" and (found := _TARGET.match(line)):
            layout = found[1]
    named = TypeNames(types, layout_of(layout))
    return ModuleText(path, named, globals_, functions, aliases, metadata, attributes, assembly)
