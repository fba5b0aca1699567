"""What the metadata of a module says of its source: lines with columns and inlining, names of variables.

!48 = !DILocation(line: 55, column: 19, scope: !25)
!25 = distinct !DISubprogram(name: "main", file: !1, line: 53, ..)
!1 = !DIFile(filename: "t.c", directory: "/home")
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from corpus.code import ir
from corpus.code.llvm.text import bytes_of, wrong
from corpus.code.llvm.types import IrError
from corpus.errors import InputError

_FIELD = re.compile(r'(\w+): ("[^"]*"|!\d+|[^,()]*)')


@dataclass(frozen=True, slots=True)
class BitField:
    """A field of a struct by its bits. A bit field has a ``container``, the bits of its type; all others have 0."""

    start: int
    end: int
    container: int


@dataclass(frozen=True)
class DebugInformation:
    """The nodes of the metadata of a module, read when they are asked for; ``files``: what the user calls files."""

    metadata: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    _read: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _places: dict[str, ir.SourceLine | None] = field(default_factory=dict)

    def node(self, name: str) -> Mapping[str, str]:
        """Return the fields of a node, with its kind as ``kind``; none where there is no such node."""
        if name not in self._read:
            text = self.metadata.get(name, "").removeprefix("distinct ")
            kind, _, inner = text.partition("(")
            fields = {found[1]: found[2] for found in _FIELD.finditer(inner)}
            self._read[name] = {**fields, "kind": kind.removeprefix("!"), "text": text}
        return self._read[name]

    def place(self, name: str) -> ir.SourceLine | None:
        """Return the line of the source that a ``DILocation`` is; None where it names none."""
        if name not in self._places:
            node = self.node(name)
            file = self.file(node.get("scope", ""))
            inlined = self.place(node["inlinedAt"]) if "inlinedAt" in node else None
            line, column = (_number(node, key) for key in ("line", "column"))
            known = node["kind"] == "DILocation" and bool(file) and line > 0
            self._places[name] = ir.SourceLine(file, line, column or 1, inlined) if known else inlined
        return self._places[name]

    def declared(self, node: str) -> ir.SourceLine | None:
        """Return the line at which the source has a variable or function; None where that is not known."""
        fields = self.node(node)
        if fields["kind"] == "DIGlobalVariableExpression":
            node = fields.get("var", "")
            fields = self.node(node)
        file, line = self.file(node), _number(fields, "line")
        return ir.SourceLine(file, line, 1) if file and line else None

    def wrong(self, error: IrError, path: str, line: int, node: str = "") -> InputError:
        """Return the error for a line of a module, at the line of the source where a variable or function of it is."""
        source = self.declared(node) if node else None
        if source is not None:
            return InputError(f"LLVM: {error}", source.file, source.line, source.column)
        if self.files:
            return InputError(f"LLVM: {error}, at line {line} of the compiled code", path)
        return wrong(error, path, line)

    def file(self, scope: str) -> str:
        """Return the file that a scope is in; nothing where that is not known."""
        for _ in range(100):
            node = self.node(scope)
            file = scope if node["kind"] == "DIFile" else node.get("file", "")
            if file.startswith("!"):
                return self._path(self.node(file))
            scope = node.get("scope", "")
        return ""

    def _path(self, node: Mapping[str, str]) -> str:
        name, folder = (_text(node.get(key, '""')) for key in ("filename", "directory"))
        whole = str(PurePosixPath(folder) / name)
        return self.files.get(whole, self.files.get(name, name if whole not in self.files else whole))

    def name(self, node: str) -> str:
        """Return the name that the source has for a variable; of a variable's expression, of the variable."""
        fields = self.node(node)
        if fields["kind"] == "DIGlobalVariableExpression":
            fields = self.node(fields.get("var", ""))
        return _text(fields.get("name", '""'))

    def function_name(self, node: str) -> str:
        """Return the name of a function as people write it, with its classes and namespaces: ``std::thread::join``. Of
        the function in which a ``std::thread`` begins it is that of what it runs.
        """
        fields = self.node(node)
        own = _text(fields.get("name", '""'))
        if own.startswith(_THREAD):
            return _of_thread(own)
        parts, scope = [own], fields.get("scope", "")
        for _ in range(MOST_DEPTH):
            around = self.node(scope)
            name = _text(around.get("name", '""'))
            if around["kind"] not in ("DINamespace", "DICompositeType", "DISubprogram"):
                break
            if name and not name.startswith("__"):
                parts.insert(0, name)
            scope = around.get("scope", "")
        return "::".join(parts) if own else ""

    @cached_property
    def bit_fields(self) -> Mapping[str, tuple[BitField, ...]]:
        """The fields of each struct and class that has bit fields, in their order."""
        named = [name for name, text in self.metadata.items() if "DIFlagBitField" in text]
        records = dict.fromkeys(self.node(name).get("scope", "") for name in named)
        structs = (name for name in records if self.node(name).get("tag") != "DW_TAG_union_type")
        return {name: tuple(self._bit_fields(name)) for name in structs}

    def _bit_fields(self, record: str) -> Iterator[BitField]:
        for part in self._elements(self.node(record)):
            member = self.node(part)
            if member.get("tag") in ("DW_TAG_member", "DW_TAG_inheritance") and "DIFlagStatic" not in member["text"]:
                start = _number(member, "offset")
                container = 8 * self._bytes(member.get("baseType", "")) if "DIFlagBitField" in member["text"] else 0
                yield BitField(start, start + _number(member, "size"), container)

    def is_record(self, record: str, name: str, size: int) -> bool:
        """Decide whether a type of the module is a struct or class: ``%"class.std::mutex"``. One without a name may be
        each of its ``size``, in bytes.
        """
        own, called = _text(self.node(record).get("name", '""')), re.sub(r"(?:\.base|\.\d+)*\"?$", "", name)
        if not own:
            return size == self.record_bytes(record)
        return re.split(r"\.|::", called)[-1] == own or own.startswith(f"{re.split(r'[.:]', called)[-1]}<")

    def record_bytes(self, record: str) -> int:
        """Return the bytes of a struct or class."""
        return _number(self.node(record), "size") // 8

    def members(self, variable: str) -> tuple[tuple[int, int, str], ...]:
        """Return the scalars of a variable, each with its byte, its bytes, and its name behind the variable:
        ``(8, 8, ".next")``, ``(4, 4, "[1]")``.
        """
        fields = self.node(variable)
        if fields["kind"] == "DIGlobalVariableExpression":
            fields = self.node(fields.get("var", ""))
        return tuple(self._scalars(fields.get("type", ""), 0, "", 0))[:MOST_MEMBERS]

    def _scalars(self, type: str, place: int, name: str, depth: int) -> list[tuple[int, int, str]]:
        node = self.node(type)
        size = _number(node, "size") // 8
        tag = node.get("tag", "")
        if depth > MOST_DEPTH:
            return []
        if tag in WRAPPING and "baseType" in node:
            return self._scalars(node["baseType"], place, name, depth + 1)
        found: list[tuple[int, int, str]] = []
        if tag == "DW_TAG_array_type":
            counts = [_number(self.node(part), "count") for part in self._elements(node)]
            return self._array(node.get("baseType", ""), counts, place, name, depth)
        if tag in ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type"):
            for part in self._elements(node):
                member = self.node(part)
                if member.get("tag") not in ("DW_TAG_member", "DW_TAG_inheritance") or "DIFlagStatic" in member["text"]:
                    continue
                start = _number(member, "offset")
                if "DIFlagBitField" in member["text"] or start % 8:
                    continue
                label = _text(member.get("name", '""'))
                called = f"{name}.{label}" if label else name
                found += self._scalars(member.get("baseType", ""), place + start // 8, called, depth + 1)
                if len(found) > MOST_MEMBERS:
                    break
            return found
        return [(place, size, name)] if size else []

    def _array(self, element: str, counts: list[int], place: int, name: str, depth: int) -> list[tuple[int, int, str]]:
        if not counts:
            return self._scalars(element, place, name, depth + 1)
        apart = self._bytes(element)
        for count in counts[1:]:
            apart *= count
        found: list[tuple[int, int, str]] = []
        for number in range(max(0, counts[0])):
            found += self._array(element, counts[1:], place + number * apart, f"{name}[{number}]", depth)
            if len(found) > MOST_MEMBERS or not apart:
                break
        return found

    def _bytes(self, type: str) -> int:
        for _ in range(MOST_DEPTH):
            node = self.node(type)
            if node.get("size", "").isdigit():
                return int(node["size"]) // 8
            if "baseType" not in node:
                break
            type = node["baseType"]
        return 0

    def _elements(self, node: Mapping[str, str]) -> list[str]:
        return re.findall(r"!\d+", self.metadata.get(node.get("elements", ""), ""))


_THREAD = "__thread_proxy<"
"""How the name of the function begins in which a ``std::thread`` of libc++ begins."""


def _of_thread(name: str) -> str:
    """Return what the arguments of the template say of what a thread runs: ``lambda at line 9``; nothing of a pointer
    to a function.
    """
    if found := re.search(r"\(lambda at [^()]*?:(\d+):\d+\)", name):
        return f"lambda at line {found[1]}"
    found = re.search(r"__thread_struct> ?>, ([\w:]+)[,> ]", name)
    return found[1] if found and found[1] not in ("void", "int") else ""


WRAPPING = (
    "DW_TAG_typedef",
    "DW_TAG_const_type",
    "DW_TAG_volatile_type",
    "DW_TAG_atomic_type",
    "DW_TAG_restrict_type",
)
"""The types that are another one with a word before it."""

MOST_MEMBERS, MOST_DEPTH = 4_096, 40
"""The scalars of a variable that have names, and the types within each other that are looked at."""


def _number(node: Mapping[str, str], key: str) -> int:
    """Return a field of a node that is a number; 0 where it has none, or one that the running program computes."""
    text = node.get(key, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def _text(quoted: str) -> str:
    return bytes_of(quoted).decode("utf-8", "replace") if quoted.startswith('"') else quoted
