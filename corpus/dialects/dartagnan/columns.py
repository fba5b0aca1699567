"""Reads and prints what Dartagnan's litmus dialects for PTX and Vulkan share. That is the initial state, columns,
moves, arithmetic and branches.

    { x=0; P1:r0=1; P1:r1=&x; z=&x; }
     P0@..       | P1@..          ;
     LC0:        | add r2, r0, 1  ;
     bne r1, 0, LC0 | goto LC1    ;

Registers are ``r<digits>`` and labels ``LC<digits>``, each thread's own; labels of any other name are read as well. The
printer keeps names that fit and gives others the smallest free numbers. Addresses of accesses are names of locations;
where a test takes them from registers that only stand for a location, the printer writes the location. A location's
address as a value is a register that starts with it. Predicates become branches.

A dialect says how the threads are placed and how it spells what touches memory or orders it (``Columns``).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import count, zip_longest
from typing import ClassVar

from corpus.dialects.asynchronous import expect_operands
from corpus.errors import InputError
from corpus.lalr import Token, Tree
from corpus.litmus.condition import print_condition, spell
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import (
    COMPARISONS,
    Assign,
    Barrier,
    Branch,
    Comparison,
    Instruction,
    Label,
    addresses_of,
    is_asynchronous,
    operands_of,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Alias, Loc, Location, Operand, Reg, Region
from corpus.litmus.mbarrier import Mbarrier
from corpus.litmus.normal import without_constants, without_predicates
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Atom, FinalRegister, Not, Or, Proposition, Term
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Source, columns
from corpus.litmus.threads import Thread, mbarriers_of
from corpus.syntax import leaves, number, parse, subtrees, wrapped

_GRAMMAR = "corpus.dialects.dartagnan.dartagnan"

_TERMINALS = {
    "NAME": "a location",
    "THREAD": "a thread",
    "REGISTER": "a register",
    "LABEL": "a label",
    "OPCODE": "an instruction",
    "WORD": "a word",
    "NUMBER": "a number",
    "INT": "a number",
    "ALIASES": "aliases",
    "SHARED": "shared",
    "MBARRIER": "mbarrier",
    "SSW": "ssw",
    "$END": "the final condition",
}

_LOCATION = re.compile(r"_*[A-Za-z][A-Za-z0-9_]*")
_REGISTER = re.compile(r"r[0-9]+")
_LABEL = re.compile(r"LC[0-9]+")
_THREAD = re.compile(r"P[0-9]+")
_ARITHMETIC = ("add", "sub", "mul", "div")
_KEYWORDS = (
    "add sub mul div and or xor beq bne blt bgt ble bge goto aliases "
    "locations exists forall final filter not with tso cc optic default"
)
_BRANCHES = {f"b{comparison}": comparison for comparison in COMPARISONS}

Refuse = Callable[[str], InputError]
"""Makes the error that says why an instruction cannot be read or printed, of the reason."""


@dataclass(frozen=True, slots=True)
class CodeCell:
    """An instruction as it stands in a column: its opcode and its operands, with their places in the file."""

    opcode: Token
    operands: tuple[Token, ...]
    path: str | None

    def error(self, message: str) -> InputError:
        """Return an error with a message, placed at the instruction's opcode."""
        return _error(message, self.opcode, self.path)

    def register(self, index: int) -> str:
        """Return the name of the register at an operand's place. Raises ``InputError`` where the operand is of another
        kind.
        """
        return str(self._of("a register", index, "REGISTER"))

    def location(self, index: int) -> Loc:
        """Return the location at an operand's place. Raises ``InputError`` where the operand is of another kind."""
        return Loc(str(self._of("a location", index, "NAME")))

    def addresses(self, index: int) -> tuple[Loc, ...]:
        """Return the location at an operand's place, as the only one that it names."""
        return (self.location(index),)

    def label(self, index: int) -> str:
        """Return the label at an operand's place. Raises ``InputError`` where the operand is of another kind."""
        return str(self._of("a label", index, "LABEL", "NAME"))

    def value(self, index: int) -> Operand:
        """Return the number or register at an operand's place. Raises ``InputError`` where the operand is of another
        kind.
        """
        token = self._of("a number or a register", index, "NUMBER", "REGISTER")
        return Reg(str(token)) if token.type == "REGISTER" else wrapped(token, self.path)

    def count(self, index: int) -> Operand | None:
        """Return the natural number or register at an operand's place, or None where there is no such operand. Raises
        ``InputError`` for a negative number.
        """
        if index >= len(self.operands):
            return None
        value = self.value(index)
        if isinstance(value, int) and value < 0:
            token = self.operands[index]
            raise _error(f"expected a number, found {token}", token, self.path)
        return value

    def _of(self, wanted: str, index: int, *kinds: str) -> Token:
        token = self.operands[index]
        if token.type not in kinds:
            raise _error(f"expected {wanted}, found {token}", token, self.path)
        return token


class ThreadNames:
    """The names that a printed thread gives to registers and labels, and the initial values of the registers that it
    adds.
    """

    def __init__(self, thread: Thread) -> None:
        body = thread.instructions
        used = [name for name, _ in thread.registers]
        for ins in body:
            used += [*registers_read(ins), *registers_written(ins)]
        self._registers = _Fitting("r", _REGISTER, used)
        self._labels = _Fitting("LC", _LABEL, [ins.name for ins in body if isinstance(ins, Label)])
        self.addresses: dict[str, str] = {}

    def register(self, name: str) -> str:
        """Return the name under which a register is printed."""
        return self._registers[name]

    def label(self, name: str) -> str:
        """Return the name under which a label is printed."""
        return self._labels[name]

    def value(self, operand: Operand) -> str:
        """Return a value as an operand, which is a number or a register."""
        if isinstance(operand, Loc):
            if operand.name not in self.addresses:
                self.addresses[operand.name] = self._registers.fresh()
            return self.addresses[operand.name]
        return self._registers[operand.name] if isinstance(operand, Reg) else str(operand)


class _Fitting(dict[str, str]):
    """Names, to themselves where they match the pattern, to the prefix and the next free number where they do not."""

    def __init__(self, prefix: str, pattern: re.Pattern[str], names: Iterable[str]) -> None:
        names = dict.fromkeys(names)
        taken = {name for name in names if pattern.fullmatch(name)}
        self._free = (name for index in count() if (name := f"{prefix}{index}") not in taken)
        super().__init__((name, name if name in taken else self.fresh()) for name in names)

    def fresh(self) -> str:
        return next(self._free)


@dataclass(frozen=True, slots=True)
class _Column:
    """A thread as it is printed: its initial registers, its names and its cells."""

    names: ThreadNames
    registers: tuple[str, ...]
    cells: tuple[str, ...]


_Threads = tuple[Sequence[tuple[int, ...]], Sequence[tuple[Instruction, ...]], Sequence[tuple[int, int]]]
"""The groups of each thread, its code, and which threads synchronise by the system."""


class Columns(ABC):
    """A litmus dialect of Dartagnan. Subclasses say what they spell differently."""

    title: ClassVar[str]
    """The dialect's name in errors, ``the PTX dialect``."""
    language: ClassVar[str]
    levels: ClassVar[tuple[str, ...]]
    """The names of the groups in a thread's header, ``P0@cta 0,gpu 0``."""
    scopes: ClassVar[Mapping[Scope, str]]
    proxies: ClassVar[tuple[str, ...]] = ()
    """The proxies that an alias may be accessed through; empty where the dialect writes ``t aliases x``."""
    move: ClassVar[str]
    """The opcode by which the dialect spells a ``mov``."""
    more_levels: ClassVar[tuple[str, ...]] = ()
    """The names of the groups that a header may have instead of ``levels``."""
    shared: ClassVar[bool] = False
    """Whether locations may be in shared memory, ``shared x=0``, in registers or in tensor memory."""
    synchronises: ClassVar[bool] = False
    """Whether threads can synchronise by the system, ``{ ssw 0 1; }``."""
    keywords: ClassVar[str]
    """Words that no location can be called, for they are Dartagnan's own."""

    @abstractmethod
    def places(self, groups: Sequence[tuple[int, ...]]) -> list[Place]:
        """Return the places of the threads, given the numbers in their headers."""

    @abstractmethod
    def groups(self, places: Sequence[Place]) -> list[tuple[int, ...]]:
        """Return the groups of each thread for its header, the inverse of ``places``. Raises ``InputError`` where a
        header cannot say where a thread is.
        """

    def headers(self, test: LitmusTest) -> list[str]:
        """Return the place of each thread as its header says it, ``cta 0,gpu 0``. Raises ``InputError`` where a header
        cannot say where a thread is.
        """
        groups = self.groups([thread.place for thread in test.threads])
        return [
            ",".join(f"{level} {digits}" for level, digits in zip(self.levels, group, strict=True)) for group in groups
        ]

    @abstractmethod
    def read(self, cell: CodeCell) -> Instruction | tuple[Instruction, ...]:
        """Return what is in a cell that is no label, arithmetic or branch. Raises ``InputError``."""

    @abstractmethod
    def write(self, instruction: Instruction, names: ThreadNames, refuse: Refuse) -> str:
        """Return the text of an instruction that is no label, arithmetic or branch, the inverse of ``read``."""

    # Reading.

    def parse(self, source: Source) -> LitmusTest:
        """Return the test that a file's sections denote. Raises ``InputError`` with line and column."""
        with suppress(InputError):  # which is to say where it is
            return self._assembled(source, *self._known(source.body))
        return self._assembled(source, *self._threads(source.body, source.path))

    def _known(self, text: str) -> _Threads:
        """Column by column, for columns come again in the tests of a suite.

        Raises ``InputError`` where the body is wrong, at another place, or says more than columns.
        """
        table, rest = columns(text)
        if rest or any(not head.startswith(f"P{index}") for index, (head, *_) in enumerate(table)):
            raise InputError("expected a column of each thread")
        texts = (";".join(("P0" + head.removeprefix(f"P{i}"), *cells, "")) for i, (head, *cells) in enumerate(table))
        known = [_known_column(self, text) for text in texts]
        return [group for group, _ in known], [code for _, code in known], ()

    def _threads(self, text: str, path: str | None) -> _Threads:
        body = parse(_GRAMMAR, "body", text, path, _TERMINALS)
        header, *rows = (tree for tree in body.children if isinstance(tree, Tree))
        system = header if header.data == "system" else None
        if system:
            header, *rows = rows
        groups = [self._header(index, place, path) for index, place in enumerate(subtrees(header))]
        codes: list[list[Instruction]] = [[] for _ in groups]
        for row in rows:
            if len(row.children) != len(codes):
                message = f"expected {len(codes)} columns, found {len(row.children)}"
                raise InputError(message, path, row.line, row.column)
            for code, cell in zip(codes, subtrees(row), strict=True):
                for item in subtrees(cell):
                    meant = self._item(item, path)
                    code += meant if isinstance(meant, tuple) else (meant,)
        pairs = [self._pair(pair, len(codes), path) for pair in subtrees(system)] if system else ()
        return groups, list(map(tuple, codes)), pairs

    def _assembled(
        self,
        source: Source,
        groups: Sequence[tuple[int, ...]],
        codes: Sequence[tuple[Instruction, ...]],
        synchronised: Sequence[tuple[int, int]],
    ) -> LitmusTest:
        locations, registers = self._state(source, len(codes))
        threads = [Thread(code, place) for code, place in zip(codes, self.places(groups), strict=True)]
        return source.test(
            [
                replace(thread, registers=_stated(thread, initial))
                for thread, initial in zip(threads, registers, strict=True)
            ],
            locations,
            synchronised,
        )

    def _header(self, index: int, place: Tree, path: str | None) -> tuple[int, ...]:
        thread, *levels = place.children
        assert isinstance(thread, Token)
        if thread != f"P{index}":
            raise _error(f"expected thread P{index}, found {thread}", thread, path)
        tokens = [leaves(level) for level in levels if isinstance(level, Tree)]
        shape = self.more_levels if len(tokens) == len(self.more_levels) else self.levels
        for wanted, (word, _) in zip_longest(shape, tokens, fillvalue=(thread, thread)):
            if word != wanted:
                raise _error(f"expected {thread}@{','.join(f'{level} N' for level in self.levels)}", word, path)
        return tuple(number(digits, path) for _, digits in tokens)

    def _pair(self, pair: Tree, threads: int, path: str | None) -> tuple[int, int]:
        one, other = leaves(pair)
        if not self.synchronises:
            raise _error(f"{self.title} has no threads that synchronise by the system", one, path)
        numbers = []
        for token in (one, other):
            thread = number(token.with_word(token.removeprefix("P")), path)
            if thread >= threads:
                raise _error(f"the test has no thread P{thread}", token, path)
            numbers.append(thread)
        if numbers[0] == numbers[1]:
            raise _error(f"expected two threads after ssw, found P{numbers[0]} twice", other, path)
        return numbers[0], numbers[1]

    def _item(self, item: Tree, path: str | None) -> Instruction | tuple[Instruction, ...]:
        first, *operands = leaves(item)
        if item.data == "label":
            return Label(str(first))
        cell = CodeCell(first, tuple(operands), path)
        if first in _ARITHMETIC:
            expect_operands(cell, 3)
            return Assign(cell.register(0), str(first), (cell.value(1), cell.value(2)))
        if first in _BRANCHES:
            expect_operands(cell, 3)
            return Branch(cell.label(2), Comparison(_BRANCHES[str(first)], cell.value(0), cell.value(1)))
        if first == "goto":
            expect_operands(cell, 1)
            return Branch(cell.label(0))
        return self.read(cell)

    def _state(self, source: Source, threads: int) -> tuple[list[Location], list[dict[str, Operand]]]:
        locations: list[Location] = []
        registers: list[dict[str, Operand]] = [{} for _ in range(threads)]
        for item in subtrees(parse(_GRAMMAR, "state", source.state, source.path, _TERMINALS)):
            first, *others = leaves(item)
            if item.data == "register":
                thread = number(first.with_word(first.removeprefix("P")), source.path)
                register = str(others[0])
                if thread >= threads:
                    raise _error(f"the test has no thread P{thread}", first, source.path)
                if register in registers[thread]:
                    raise _error(f"P{thread}:{register} is declared twice", first, source.path)
                registers[thread][register] = _initial(item, source.path)
            elif item.data == "location":
                spaces = leaves(item, "SHARED")
                if spaces and not self.shared:
                    raise _error(f"{self.title} has no {spaces[0]} memory", first, source.path)
                region = Region(str(spaces[0])) if spaces else Region.GLOBAL
                name = leaves(item, "NAME")[0]
                locations.append(Location(str(name), _initial(item, source.path), region))
            elif item.data == "object":
                locations.append(self._object(item, source.path))
            else:
                locations.append(Location(str(first), alias=self._alias(item, source.path)))
        return locations, registers

    def _object(self, item: Tree, path: str | None) -> Location:
        """The location of an mbarrier that expects arrivals, and bytes."""
        word, name, *counts = leaves(item)
        if not self.shared:
            raise _error(f"{self.title} has no mbarriers", word, path)
        arrivals, size = [*(number(count, path) for count in counts), 0][:2]
        if arrivals < 0 or size < 0 or not arrivals + size:
            raise _error("expected how many arrivals an mbarrier waits for, and how many bytes", counts[0], path)
        return Location(str(name), Mbarrier.expecting(arrivals, size).bits(), Region.SHARED)

    def _alias(self, item: Tree, path: str | None) -> Alias:
        name, proxy, aliased = item.children
        assert isinstance(name, Token)
        if (str(proxy) if proxy else None) not in (self.proxies or (None,)):
            wanted = f"@ {' or '.join(self.proxies)} aliases" if self.proxies else "aliases"
            raise _error(f"expected {name} {wanted} {aliased}", name, path)
        return Alias(str(aliased), None if proxy in (None, "generic") else str(proxy))

    # Printing.

    def print(self, test: LitmusTest) -> str:
        """Return the test as text. Raises ``InputError`` that names what the dialect cannot say."""
        if not all(map(_is_plain, test.threads)):
            test = without_predicates(test)
            if any(_has_address_register(ins) for ins in test.instructions):
                test = without_constants(test)
        objects = mbarriers_of(test.threads)
        declarations = [
            self._declaration(location, location.name in objects) for location in sorted(test.locations, key=_refers)
        ]
        places = self.headers(test)
        columns = [_column(self, index, thread) for index, thread in enumerate(test.threads)]
        printed = []
        for index, (column, place) in enumerate(zip(columns, places, strict=True)):
            declarations += [f"P{index}:{initial};" for initial in column.registers]
            printed.append([f"P{index}@{place}", *column.cells])
        widths = [max(map(len, cells)) for cells in printed]
        rows = [" " + " | ".join(map(str.ljust, row, widths)) + " ;" for row in zip_longest(*printed, fillvalue="")]
        if len(rows) == 1:  # a test without an instruction; the grammar wants a row
            rows.append(" " + " | ".join(" " * width for width in widths) + " ;")

        def spelled(term: Term) -> str:
            if isinstance(term, FinalRegister):
                return f"P{term.thread}:{columns[term.thread].names.register(term.register)}"
            return spell(term)

        heading = [f"{self.language} {test.name}"]
        if test.description:
            heading.append(f'"{test.description}"')
        question = replace(
            test.condition,
            proposition=_sayable(test.condition.proposition),
            filter=None if test.condition.filter is None else _sayable(test.condition.filter),
        )
        declared = ["{", *declarations, "}"]
        if test.synchronised:
            declared += ["{", *(f"ssw {one} {other};" for one, other in test.synchronised), "}"]
        return "\n".join([*heading, *declared, *rows, print_condition(question, spelled)])

    def _declaration(self, location: Location, is_object: bool) -> str:
        name, initial, alias = location.name, location.initial, location.alias
        taken = name in f"{_KEYWORDS} {self.keywords}".split() or any(
            pattern.fullmatch(name) for pattern in (_REGISTER, _LABEL, _THREAD)
        )
        if taken or not _LOCATION.fullmatch(name):
            raise InputError(f"{name}: {self.title} has no location of that name")
        space = "" if location.region is Region.GLOBAL else f"{location.region} "
        if space and not self.shared:
            raise InputError(f"{name}: {self.title} has no word for {location.region} memory")
        if is_object and isinstance(initial, int) and (expected := _expected(initial)):
            return f"mbarrier {name}={expected};"
        if alias is None:
            return f"{space}{name}={'&' + initial.name if isinstance(initial, Loc) else initial};"
        proxy = alias.proxy or (self.proxies and "generic")
        if initial != 0 or (proxy and proxy not in self.proxies):
            raise InputError(f"{name}: {self.title} has no such alias of {alias.location}")
        return f"{name} @ {proxy} aliases {alias.location};" if proxy else f"{name} aliases {alias.location};"

    def _cell(self, ins: Instruction, names: ThreadNames, refuse: Refuse) -> str:
        match ins:
            case Label(name):
                return f"{names.label(name)}:"
            case Assign(target, "mov", (value,)):
                return f"{self.move} {names.register(target)}, {names.value(value)}"
            case Assign(target, operation, (left, right)) if not is_asynchronous(ins):
                if operation not in _ARITHMETIC:
                    raise refuse(f"{self.title} computes with {', '.join(_ARITHMETIC)} only")
                return f"{operation} {names.register(target)}, {names.value(left)}, {names.value(right)}"
            case Branch(label, None):
                return f"goto {names.label(label)}"
            case Branch(label, Comparison(operation, left, right)):
                return f"b{operation} {names.value(left)}, {names.value(right)}, {names.label(label)}"
            case _:
                return self.write(ins, names, refuse)

    # What the dialects' spellings of accesses, fences and barriers have in common.

    def address(self, operand: Operand, refuse: Refuse) -> str:
        """Return the address of an access, which is a location's name."""
        if not isinstance(operand, Loc):
            raise refuse(f"addresses are names of locations in {self.title}")
        return operand.name

    def scope(self, mode: Mode, refuse: Refuse) -> str:
        """Return the dialect's word for the scope of a mode."""
        if mode.scope is None or mode.scope not in self.scopes:
            raise refuse(f"expected a scope of {', '.join(self.scopes.values())} in {self.title}")
        return self.scopes[mode.scope]

    def barrier(self, barrier: Barrier, names: ThreadNames, refuse: Refuse) -> str:
        """Return the operands of a barrier: its number, its resource and its quorum. Dartagnan's numbers are
        constants.
        """
        if barrier.scope is not Scope.CTA:
            raise refuse(f"barriers are of a {self.scopes[Scope.CTA]} in {self.title}")
        constant = isinstance(barrier.number, int)
        if barrier.resource is None and not (constant and barrier.quorum is None):
            barrier = replace(barrier, number=barrier.number if constant else 0, resource=barrier.number)
        return ", ".join(map(names.value, operands_of(barrier)))

    def check(self, mode: Mode, orders: Iterable[Order], tags: Iterable[str], refuse: Refuse) -> None:
        """Raise ``InputError`` where no instruction of the kind can have these orders and tags."""
        if mode.cache is not None:
            raise refuse(f"{self.title} has no cache operators")
        if mode.volatile:
            raise refuse(f"{self.title} has no volatile accesses")
        for tag in mode.tags:
            if tag not in tags:
                raise refuse(f"{self.title} has no such instruction with the tag {tag}")
        if mode.order not in orders:
            raise refuse(f"{self.title} has no such instruction with order {mode.order}")


@lru_cache(maxsize=1 << 12)
def _known_column(dialect: Columns, text: str) -> tuple[tuple[int, ...], tuple[Instruction, ...]]:
    """The groups and the code of the one thread of a body."""
    (group,), (code,), _ = dialect._threads(text, None)
    return group, code


@lru_cache(maxsize=1 << 12)  # the threads of a suite come again and again
def _is_plain(thread: Thread) -> bool:
    """Whether a thread is without predicates, comparisons that may be predicates, and addresses in registers."""
    return not any(
        _has_address_register(ins)
        or not (isinstance(ins, Label) or ins.guard is None)
        or (isinstance(ins, Assign) and ins.operation in COMPARISONS)
        for ins in thread.instructions
    )


def _has_address_register(ins: Instruction) -> bool:
    return any(isinstance(address, Reg) for address in addresses_of(ins))


@lru_cache(maxsize=1 << 12)
def _column(dialect: Columns, index: int, thread: Thread) -> _Column:
    names = ThreadNames(thread)
    cells = tuple(dialect._cell(ins, names, partial(cannot_say, index, ins)) for ins in thread.instructions)
    initial = [(names.register(name), value) for name, value in thread.registers]
    initial += [(register, Loc(location)) for location, register in names.addresses.items()]
    registers = (f"{name}={'&' + value.name if isinstance(value, Loc) else value}" for name, value in initial)
    return _Column(names, tuple(registers), cells)


def _refers(location: Location) -> bool:
    """Whether a declaration mentions another location, which comes first."""
    return location.alias is not None or isinstance(location.initial, Loc)


def _sayable(proposition: Proposition) -> Proposition:
    """The proposition with ``0 == 0`` for true and ``0 == 1`` for false, which Dartagnan has no words for."""
    match proposition:
        case And(()) | Or(()):
            return Atom("eq", 0, int(isinstance(proposition, Or)))
        case And(parts):
            return And(tuple(map(_sayable, parts)))
        case Or(parts):
            return Or(tuple(map(_sayable, parts)))
        case Not(body):
            return Not(_sayable(body))
        case Atom():
            return proposition


def _stated(thread: Thread, initial: Mapping[str, Operand]) -> tuple[tuple[str, Operand], ...]:
    """The initial registers that are not 0, or that a condition can only know from here."""
    known = thread.names
    return tuple(sorted((name, value) for name, value in initial.items() if value != 0 or name not in known))


def _expected(initial: int) -> str:
    """How the initial state of an mbarrier is declared; empty where it is one that none can be declared to have."""
    state = Mbarrier.of(initial)
    if state != Mbarrier.expecting(state.pending, state.tx) or not (state.pending or state.tx > 0):
        return ""
    return f"{state.pending},{state.tx}" if state.tx else str(state.pending)


def _error(message: str, token: Token, path: str | None) -> InputError:
    return InputError(message, path, token.line, token.column)


def _initial(item: Tree, path: str | None) -> int | Loc:
    last = item.children[-1]
    return Loc(str(last.children[0])) if isinstance(last, Tree) else wrapped(last, path)
