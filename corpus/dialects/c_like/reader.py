"""Reads litmus tests in C-like languages: functions ``P0 (..) { .. }`` and the initial state of their locations.

What functions say is in ``corpus.dialects.c_like.code``. This module reads C; its one subclass, OpenCL's, says what
differs.

- A location that any thread declares as ``int`` is not atomic, as Dartagnan's ``NAL``; that is kept where its accesses
  say otherwise.
- A parameter is the location of its name, unless the initial state gives it another value.
- An array's elements are locations, ``x`` and ``x[1]``, ..
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from corpus.dialects.c_like.code import CCode, known_function, parsed, token
from corpus.errors import InputError
from corpus.lalr import Token, Tree
from corpus.litmus.instructions import Instruction
from corpus.litmus.locations import Loc, Location, Operand, Region, element, element_of
from corpus.litmus.orders import Place
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Source
from corpus.litmus.threads import Thread, accessed_atomically
from corpus.syntax import BLANKS, LARGEST_LOCATION, number, subtrees, wrapped

_Registers = tuple[tuple[str, Operand], ...]

_LARGEST_ARRAY = 64
_REGISTER = re.compile(r"\b(\d+)\s*:\s*(\w+)")
_FUNCTION = re.compile(r"(?=\bP[0-9]+\s*[@(])")


class _State:
    """The initial state: values of locations, those of registers by threads, who is the first register of a thread, and
    the sizes of arrays.
    """

    def __init__(self, tree: Tree, path: str | None) -> None:
        self._path = path
        self.initial: dict[str, int | Loc] = {}
        self.registers: dict[int, dict[str, Operand]] = {}
        self.owners: dict[int, Token] = {}
        self.sizes: dict[str, int] = {}
        for value in subtrees(tree):
            self._read(value)

    def _read(self, tree: Tree) -> None:
        cell, *content = (child for child in subtrees(tree) if child.data != "type")
        if cell.data == "array" or (content and content[0].data == "list"):
            self._read_array(cell, content)
            return
        value = self._content(content[0]) if content else 0
        *threads, name = (child for child in cell.children if isinstance(child, Token))
        known: dict[str, int | Loc] | dict[str, Operand] = self.initial
        if threads:
            digits = threads[0].with_word(threads[0].lstrip("P"))
            index = number(digits, self._path, LARGEST_LOCATION)
            self.owners.setdefault(index, threads[0])
            known = self.registers.setdefault(index, {})
        if name in known:
            raise _error(self._path, f"{name} has two initial values", name)
        known[str(name)] = value

    def _read_array(self, cell: Tree, content: Sequence[Tree]) -> None:
        """``x[2] = {1, 2}``: what is not given is 0, as in C."""
        name, *sizes = (child for child in cell.children if isinstance(child, Token))
        if cell.data != "array" or (content and content[0].data != "list"):
            raise _error(
                self._path, "expected an array and a list of values, in braces", content[0] if content else name
            )
        values = [self._content(value) for value in subtrees(content[0])] if content else []
        size = number(sizes[0], self._path, _LARGEST_ARRAY) if sizes else len(values)
        if not 0 < size <= _LARGEST_ARRAY or len(values) > size:
            raise _error(
                self._path, f"expected 1 to {min(size, _LARGEST_ARRAY) or 1} values, found {len(values)}", name
            )
        if name in self.initial:
            raise _error(self._path, f"{name} has two initial values", name)
        self.sizes[str(name)] = size
        self.initial |= {element(name, i): values[i] if i < len(values) else 0 for i in range(size)}

    def _content(self, tree: Tree) -> int | Loc:
        first = token(tree)
        match tree.data:
            case "number":
                return wrapped(first, self._path)
            case "negative":
                return wrapped(first.with_word(f"-{first}"), self._path)
            case "address":
                return Loc(str(first))
        if first not in ("ATOMIC_VAR_INIT", "ATOMIC_INIT"):
            raise _error(self._path, f"expected a number or a location, found {first}", first)
        return self._content(subtrees(tree)[0])


@lru_cache(maxsize=1 << 10)  # the tests of a suite have initial states in common
def _known_state(text: str) -> _State:
    return _State(parsed("state", text, None), None)


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter of a function. ``space``: the address space that it names."""

    name: Token
    pointer: bool
    atomic: bool
    space: Token | None


def _parameters(function: Tree) -> tuple[_Parameter, ...]:
    found = []
    for parameter in subtrees(function, "parameter"):
        tokens = [child for child in subtrees(parameter)[0].children if isinstance(child, Token)]
        pointer = any(child.type == "POINTER" for child in tokens)
        atomic = any(child.type == "BASE" and child.startswith("atomic_") for child in tokens)
        space = next((child for child in tokens if child.type == "SPACE"), None)
        found.append(_Parameter(token(parameter), pointer, atomic, space))
    return tuple(found)


@lru_cache(maxsize=1 << 10)
def _known_parameters(text: str) -> tuple[_Parameter, ...]:
    return _parameters(known_function(text))


def _error(path: str | None, message: str, place: Token | Tree) -> InputError:
    return InputError(message, path, place.line, place.column)


class CReader:
    """The reader of a file in the C dialect; the reader of OpenCL overrides the methods where OpenCL differs."""

    code: type[CCode] = CCode

    def __init__(self, source: Source, texts: Sequence[str] | None = None) -> None:
        """``texts`` are those of the functions, to be taken as they are known: errors are then at another place."""
        self._source = source
        self._texts = texts
        if texts is None:
            self._state = _State(parsed("state", source.state, source.path), source.path)
        else:
            self._state = _known_state(source.state.strip(BLANKS))
        self._regions: dict[str, Region] = {}
        self._plain: set[str] = set()  # locations that some thread declares as not atomic
        self._observed = set(_REGISTER.findall(source.condition))  # registers, each after its thread's number

    @classmethod
    def read(cls, source: Source) -> LitmusTest:
        """Return the test of the file. Raises ``InputError`` with line and column."""
        before, *functions = _FUNCTION.split(source.body)
        if functions and not before.strip(BLANKS):
            with suppress(InputError):  # which is to say where it is
                return cls(source, [text.strip(BLANKS) for text in functions])._test()
        return cls(source)._test()

    def _test(self) -> LitmusTest:
        path = self._source.path
        functions = self._functions()
        for index, function in enumerate(functions):
            name = token(function)
            if number(name.with_word(name[1:]), path, LARGEST_LOCATION) != index:
                raise self.error(f"expected P{index}, found {name}", name)
            for parameter in self._parameters(index, function):
                self._declare(parameter)
        for index, name in self._state.owners.items():
            if index >= len(functions):
                raise self.error(f"the initial state has a register of P{index}, which is no thread", name)
        places = self.places(functions)
        threads = [
            self._thread(index, function, place)
            for index, (function, place) in enumerate(zip(functions, places, strict=True))
        ]
        atomic = accessed_atomically(threads)
        names = self._names()
        locations = [location for name in names for location in self._locations(name, name in atomic)]
        return self._source.test(*self.instances(threads, locations))

    def _functions(self) -> list[Tree]:
        if self._texts is not None:
            return list(map(known_function, self._texts))
        return subtrees(parsed("threads", self._source.body, self._source.path))

    def _names(self) -> list[str]:
        """The locations, of arrays the first elements, in the order of their first mention."""
        return list(dict.fromkeys(element_of(name)[0] for name in (*self._state.initial, *self._regions)))

    def _locations(self, name: str, atomic: bool) -> Iterator[Location]:
        """A location, or the elements of an array."""
        # what a location is declared as is kept where its accesses say otherwise
        declared = None if name not in self._regions else name not in self._plain
        kept = None if declared is None or declared == atomic else declared
        region = self._regions.get(name, Region.GLOBAL)
        for index in range(self._state.sizes.get(name, 1)):
            own = element(name, index)
            yield Location(own, self._state.initial.get(own, 0), region, atomic=kept)

    def instances(
        self, threads: Sequence[Thread], locations: Sequence[Location]
    ) -> tuple[Sequence[Thread], Sequence[Location]]:
        """Return the threads and locations, with a copy of each location that each group of threads has an
        instance of.
        """
        return threads, locations

    def error(self, message: str, place: Token | Tree) -> InputError:
        """Return an error whose place is a token, or where a tree begins."""
        return _error(self._source.path, message, place)

    def places(self, functions: Sequence[Tree]) -> list[Place]:
        """Return the places of the threads. C has no scopes, so each thread is in a CTA of its own, on one GPU."""
        for function in functions:
            for placement in subtrees(function, "placement"):
                raise self.error("C has no scope tree; expected (, found @ (OPENCL has one)", placement)
        return c_places(len(functions))

    def region(self, space: Token | None) -> Region:
        """Return the memory region that the name of an address space stands for."""
        if space is not None:
            raise self.error(f"C has no address spaces; expected a type, found {space}", space)
        return Region.GLOBAL

    def _parameters(self, index: int, function: Tree) -> tuple[_Parameter, ...]:
        return _parameters(function) if self._texts is None else _known_parameters(self._texts[index])

    def _declare(self, parameter: _Parameter) -> None:
        name = parameter.name
        if not parameter.pointer:
            raise self.error(f"expected *, found {name}: parameters are pointers", name)
        if not parameter.atomic:
            self._plain.add(str(name))
        region = self.region(parameter.space)
        if self._regions.setdefault(str(name), region) is not region:
            raise self.error(f"{name} is in another address space in an earlier thread", name)

    def _thread(self, index: int, function: Tree, place: Place) -> Thread:
        registers = self._state.registers.get(index, {})
        locations = frozenset({*self._state.initial, *self._regions})
        names = (str(parameter.name) for parameter in self._parameters(index, function))
        pointers = tuple(name for name in names if (str(index), name) in self._observed)
        if self._texts is not None:
            return _known_thread(
                self.code.known, self._texts[index], tuple(registers.items()), locations, place, pointers
            )
        instructions = self.code(self.error, self._source.path, function, registers, locations).instructions()
        return _thread_of(instructions, place, registers, pointers)


def _thread_of(
    instructions: tuple[Instruction, ...],
    place: Place,
    registers: Mapping[str, Operand],
    pointers: Sequence[str],
) -> Thread:
    """A thread, given the initial values of registers, and the parameters that the condition asks for as pointers."""
    mentioned = Thread(instructions, place).names
    # a register that starts at 0 is not mentioned, unless the condition can only know it from here
    kept = {name: value for name, value in registers.items() if value != 0 or name not in mentioned}
    kept |= {name: Loc(name) for name in pointers if name not in kept}
    return Thread(instructions, place, tuple(sorted(kept.items())))


@lru_cache(maxsize=1 << 12)  # the tests of a suite have threads in common
def _known_thread(
    known: Callable[[str, _Registers, frozenset[str]], tuple[Instruction, ...]],
    text: str,
    registers: _Registers,
    locations: frozenset[str],
    place: Place,
    pointers: tuple[str, ...],
) -> Thread:
    return _thread_of(known(text, registers, locations), place, dict(registers), pointers)


def read_c(source: Source) -> LitmusTest:
    """Return the test of a C file. Raises ``InputError`` with line and column."""
    return CReader.read(source)


def c_places(count: int) -> list[Place]:
    """Return the places of the threads of a C test: each is in a CTA of its own, on one GPU."""
    return [Place(cta=index) for index in range(count)]
