"""Litmus tests in C-like languages, read: functions ``P0 (..) { .. }`` and the initial state of what they access.

What functions say is in ``corpus.dialects.c_like.code``. This module reads C; its one subclass, OpenCL's, says what
differs.

- A location that any thread declares as ``int`` is not atomic, as Dartagnan's ``NAL``; that is kept where its accesses
  say otherwise.
- A parameter is the location of its name, unless the initial state gives it another value.
- An array's elements are locations, ``x`` and ``x[1]``, ..
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from corpus.dialects.c_like.code import CCode, known_function, parsed, token
from corpus.errors import InputError
from corpus.lalr import Token, Tree
from corpus.litmus.test import (
    LitmusTest,
    Loc,
    Location,
    Operand,
    Place,
    Region,
    Thread,
    accessed_atomically,
    element,
    element_of,
)
from corpus.litmus.text import Source
from corpus.syntax import BLANKS, LARGEST_LOCATION, number, subtrees, wrapped

_LARGEST_ARRAY = 64
_FUNCTION = re.compile(r"(?=\bP[0-9]+\s*[@(])")


class CReader:
    """A file of the C dialect; what OpenCL has besides is in what its reader overrides."""

    code: type[CCode] = CCode

    def __init__(self, source: Source, texts: Sequence[str] | None = None) -> None:
        """``texts`` are those of the functions, to be taken as they are known: errors are then at another place."""
        self._source = source
        self._texts = texts
        self._initial: dict[str, int | Loc] = {}
        self._registers: dict[int, dict[str, Operand]] = {}
        self._owners: dict[int, Token] = {}  # of initial registers, where they are first mentioned
        self._regions: dict[str, Region] = {}
        self._sizes: dict[str, int] = {}  # of arrays
        self._plain: set[str] = set()  # locations that some thread declares as not atomic

    @classmethod
    def read(cls, source: Source) -> LitmusTest:
        """The test of a file. Raises ``InputError`` with line and column."""
        before, *functions = _FUNCTION.split(source.body)
        if functions and not before.strip(BLANKS):
            with suppress(InputError):  # which is to say where it is
                return cls(source, [text.strip(BLANKS) for text in functions])._test()
        return cls(source)._test()

    def _test(self) -> LitmusTest:
        path = self._source.path
        for initial in subtrees(parsed("state", self._source.state, path)):
            self._read_initial(initial)
        functions = self._functions()
        for index, function in enumerate(functions):
            name = token(function)
            if number(name.with_word(name[1:]), path, LARGEST_LOCATION) != index:
                raise self.error(f"expected P{index}, found {name}", name)
            for parameter in subtrees(function, "parameter"):
                self._declare(parameter)
        for index, name in self._owners.items():
            if index >= len(functions):
                raise self.error(f"the initial state has a register of P{index}, which is no thread", name)
        places = self.places(functions)
        threads = [
            self._thread(index, function, place)
            for index, (function, place) in enumerate(zip(functions, places, strict=True))
        ]
        atomic = accessed_atomically(threads)
        names = self._names()
        locations = [self._location(name, name in atomic) for name in names]
        locations = [
            replace(
                location,
                name=element(location.name, index),
                initial=self._initial.get(element(location.name, index), 0),
            )
            for location in locations
            for index in range(self._sizes.get(location.name, 1))
        ]
        return self._source.test(*self.instances(threads, locations))

    def _functions(self) -> list[Tree]:
        if self._texts is not None:
            return list(map(known_function, self._texts))
        return subtrees(parsed("threads", self._source.body, self._source.path))

    def _names(self) -> list[str]:
        """The locations, of arrays the first elements, in the order of their first mention."""
        return list(dict.fromkeys(element_of(name)[0] for name in (*self._initial, *self._regions)))

    def _location(self, name: str, atomic: bool) -> Location:
        # what a location is declared as is kept where its accesses say otherwise
        declared = None if name not in self._regions else name not in self._plain
        told = None if declared is None or declared == atomic else declared
        return Location(name, 0, self._regions.get(name, Region.GLOBAL), atomic=told)

    def instances(
        self, threads: Sequence[Thread], locations: Sequence[Location]
    ) -> tuple[Sequence[Thread], Sequence[Location]]:
        """The threads and locations, with what C-like languages have an instance of for each group of threads."""
        return threads, locations

    def error(self, message: str, place: Token | Tree) -> InputError:
        """An error at a token, or where a tree begins."""
        return InputError(message, self._source.path, place.line, place.column)

    def places(self, functions: Sequence[Tree]) -> list[Place]:
        """Where the threads are: C says nothing of scopes, so each is in a CTA of its own, on one GPU."""
        for function in functions:
            for placement in subtrees(function, "placement"):
                raise self.error("C has no scope tree; expected (, found @ (OPENCL has one)", placement)
        return c_places(len(functions))

    def region(self, space: Token | None) -> Region:
        """The region of an address space."""
        if space is not None:
            raise self.error(f"C has no address spaces; expected a type, found {space}", space)
        return Region.GLOBAL

    def _read_initial(self, tree: Tree) -> None:
        cell, *content = (child for child in subtrees(tree) if child.data != "type")
        if cell.data == "array" or (content and content[0].data == "list"):
            self._read_array(cell, content)
            return
        value = self._content(content[0]) if content else 0
        *threads, name = (child for child in cell.children if isinstance(child, Token))
        known: dict[str, int | Loc] | dict[str, Operand] = self._initial
        if threads:
            digits = threads[0].with_word(threads[0].lstrip("P"))
            index = number(digits, self._source.path, LARGEST_LOCATION)
            self._owners.setdefault(index, threads[0])
            known = self._registers.setdefault(index, {})
        if name in known:
            raise self.error(f"{name} has two initial values", name)
        known[str(name)] = value

    def _read_array(self, cell: Tree, content: Sequence[Tree]) -> None:
        """``x[2] = {1, 2}``: what is not given is 0, as in C."""
        name, *sizes = (child for child in cell.children if isinstance(child, Token))
        if cell.data != "array" or (content and content[0].data != "list"):
            raise self.error("expected an array and a list of values, in braces", content[0] if content else name)
        values = [self._content(value) for value in subtrees(content[0])] if content else []
        size = number(sizes[0], self._source.path, _LARGEST_ARRAY) if sizes else len(values)
        if not 0 < size <= _LARGEST_ARRAY or len(values) > size:
            raise self.error(f"expected 1 to {min(size, _LARGEST_ARRAY) or 1} values, found {len(values)}", name)
        if name in self._initial:
            raise self.error(f"{name} has two initial values", name)
        self._sizes[str(name)] = size
        self._initial |= {element(name, i): values[i] if i < len(values) else 0 for i in range(size)}

    def _content(self, tree: Tree) -> int | Loc:
        first = token(tree)
        match tree.data:
            case "number":
                return wrapped(first, self._source.path)
            case "negative":
                return wrapped(first.with_word(f"-{first}"), self._source.path)
            case "address":
                return Loc(str(first))
        if first not in ("ATOMIC_VAR_INIT", "ATOMIC_INIT"):
            raise self.error(f"expected a number or a location, found {first}", first)
        return self._content(subtrees(tree)[0])

    def _declare(self, parameter: Tree) -> None:
        kind, name = subtrees(parameter)[0], token(parameter)
        tokens = [child for child in kind.children if isinstance(child, Token)]
        if not any(child.type == "POINTER" for child in tokens):
            raise self.error(f"expected *, found {name}: parameters are pointers", name)
        if not any(child.type == "BASE" and child.startswith("atomic_") for child in tokens):
            self._plain.add(str(name))
        region = self.region(next((child for child in tokens if child.type == "SPACE"), None))
        if self._regions.setdefault(str(name), region) is not region:
            raise self.error(f"{name} is in another address space in an earlier thread", name)

    def _thread(self, index: int, function: Tree, place: Place) -> Thread:
        registers = self._registers.get(index, {})
        locations = frozenset({*self._initial, *self._regions})
        if self._texts is not None:
            instructions = self.code.known(self._texts[index], tuple(registers.items()), locations)
        else:
            instructions = self.code(self.error, self._source.path, function, registers, locations).instructions()
        thread = Thread(instructions, place)
        # a register that starts at 0 is not mentioned, unless the condition can only know it from here
        kept = {name: value for name, value in registers.items() if value != 0 or name not in thread.names()}
        for name in map(str, map(token, subtrees(function, "parameter"))):
            if name not in kept and re.search(rf"\b{index}\s*:\s*{name}\b", self._source.condition):
                kept[name] = Loc(name)  # the condition asks for the pointer
        return replace(thread, registers=tuple(sorted(kept.items())))


def read_c(source: Source) -> LitmusTest:
    """The test of a C file. Raises ``InputError`` with line and column."""
    return CReader.read(source)


def c_places(count: int) -> list[Place]:
    """Where the threads of a C test are: each in a CTA of its own, on one GPU."""
    return [Place(cta=index) for index in range(count)]
