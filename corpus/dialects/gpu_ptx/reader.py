"""Reads GPU_PTX litmus tests, whose form ``corpus.dialects.gpu_ptx.dialect`` describes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from corpus.dialects.asynchronous import read_asynchronous
from corpus.dialects.scope_tree import read_places
from corpus.errors import InputError
from corpus.lalr import Token, Tree
from corpus.laws.ptx import (
    ATOM,
    FENCE,
    LOAD,
    MEMBARS,
    OPERATIONS,
    PROXY_FENCES,
    REDUCTIONS,
    STORE,
    AccessRule,
)
from corpus.litmus.instructions import (
    COMPARISONS,
    Assign,
    Barrier,
    Branch,
    Fence,
    GroupOperation,
    Guard,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    operands_of,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Loc, Location, Operand, Reg, Region
from corpus.litmus.normal import map_operands
from corpus.litmus.orders import CLUSTER, DEFAULT_RMW, SCOPES, Mode, Order, Scope
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Source, columns, thread_columns
from corpus.litmus.threads import Thread
from corpus.syntax import error_at, leaves, number, parse, subtrees, wrapped

_GRAMMAR = "corpus.dialects.gpu_ptx.gpu_ptx"

_TERMINALS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "INT": "a thread",
    "THREAD": "a thread",
    "MEMBER": "a thread",
    "LEVEL": "gpu, grid, cluster, cta or warp",
    "SPACE": "global or shared",
    "TYPE": "a type",
    "SCOPETREE": "ScopeTree",
    "LD": "ld",
    "ST": "st",
    "ATOM": "atom",
    "RED": "red",
    "FENCE": "membar",
    "BAR": "bar",
    "TOGETHER": "vote",
    "CONVERGE": "bar.warp",
    "MOV": "mov",
    "CVT": "cvt",
    "COMPUTE": "add",
    "SETP": "setp",
    "SELP": "selp",
    "BRA": "bra",
    "ASYNCHRONOUS": "mbarrier",
    "REG": ".reg",
    "$END": "the final condition",
}

_LEVELS = {
    "gpu": Scope.GPU,
    "device": Scope.GPU,
    "grid": Scope.QUEUE,
    "kernel": Scope.QUEUE,
    "cluster": Scope.QUEUE,
    "cta": Scope.CTA,
    "block": Scope.CTA,
    "warp": Scope.WARP,
}
_TYPES = ("s32", "u32", "b32", "s64", "u64", "b64", "pred")
_SPACES = ("global", "shared", "shared::cta", "shared::cluster")
_SCOPES = {**SCOPES, CLUSTER: Scope.QUEUE}
_WITH_TARGET = ("load", "atom", "move", "convert", "compute", "compare", "select", "together")


_REGISTER = re.compile(r"%?[rp][0-9]+")


def read_gpu_ptx(source: Source) -> LitmusTest:
    """The test that the sections denote. Raises ``InputError`` with line and column."""
    with suppress(InputError):  # which is to say where it is
        return _Reader(source).test(_known_body(source.body))
    return _Reader(source).test(_body(source.body, source.path))


@dataclass(frozen=True, slots=True)
class _Body:
    """The items of each thread's column, the scope tree, and the names and spaces of the memory map."""

    columns: Sequence[Sequence[Tree]]
    scope_tree: Tree
    mapped: Sequence[tuple[Token, Token]]


def _body(text: str, path: str | None) -> _Body:
    body = parse(_GRAMMAR, "body", text, path, _TERMINALS)
    columns = thread_columns(body, "T", path)
    (tree,) = subtrees(body, "scope_tree")
    mappings = (leaves(mapping) for mapped in subtrees(body, "memory_map") for mapping in subtrees(mapped))
    return _Body(columns, tree, [(name, space) for name, space in mappings])


def _known_body(text: str) -> _Body:
    """The parsed body of a test, column by column, for columns come again in the tests of a suite.

    Its tokens have other places. Raises ``InputError``, at another place.
    """
    table, rest = columns(text)
    if [head[1:] for head, *_ in table] != [str(index) for index in range(len(table))]:
        raise InputError("expected a column of each thread")
    known = [_known_part(";".join((head[0] + "0", *cells, _ALONE))).columns[0] for head, *cells in table]
    declared = _known_part(f"T0; {rest}")
    return _Body(known, declared.scope_tree, declared.mapped)


_ALONE = "ScopeTree(warp T0)"


@lru_cache(maxsize=1 << 10)
def _known_part(text: str) -> _Body:
    return _body(text, None)


class _Suffixes:
    """The parts of an opcode, ``.acquire.gpu.s32``, by what they say."""

    def __init__(self, opcode: Token, path: str | None) -> None:
        self.name, *self._parts = opcode.split(".")
        self.opcode = opcode
        self._path = path

    def take(self, *words: str) -> str | None:
        """The first part that is one of ``words``, which is then no longer there."""
        for part in self._parts:
            if part in words:
                self._parts.remove(part)
                return part
        return None

    def operation(self, *words: str) -> str:
        """Take the named part of an instruction. Raises ``InputError`` where it has no such part."""
        found = self.take(*words)
        if found is None:
            raise self.error(f"expected {self.name} with one of {', '.join('.' + word for word in words)}")
        return found

    def mode(self, access: AccessRule) -> Mode:
        """The mode of an access. Raises ``InputError`` where PTX has no such one."""
        order = self.take(*access.orders, *(["weak"] if access.volatile else []))
        scope = self.take(*_SCOPES)
        volatile = access.volatile and self.take("volatile") is not None
        cache = self.take(*access.caches)
        if order in (None, "weak"):
            if scope is not None:
                raise self.error(f"expected an order before the scope of {self.opcode}")
            if (order is not None) + volatile + (cache is not None) > 1:
                raise self.error(f"expected one of weak, volatile and a cache operator in {self.opcode}")
            return Mode(volatile=volatile, cache=cache)
        if volatile or cache:
            raise self.error(f"expected no {cache or 'volatile'} with the order of {self.opcode}")
        if scope is None:
            raise self.error(f"expected a scope, .cta, .gpu or .sys, after the order of {self.opcode}")
        return _scoped(Order(order), scope)

    def end(self) -> None:
        """Raises ``InputError`` where something is left, but for a type or two (of ``cvt``)."""
        self.take(*_TYPES)
        if self.name == "cvt":
            self.take(*_TYPES)
        if self._parts:
            place = self.opcode.find(f".{self._parts[0]}")
            message = f"{self.name} has no .{self._parts[0]} here"
            raise InputError(message, self._path, self.opcode.line, (self.opcode.column or 1) + place)

    def error(self, message: str) -> InputError:
        """Return an error with a message, placed at the opcode."""
        return error_at(message, self.opcode, self._path)


def _scoped(order: Order, scope: str) -> Mode:
    """The mode of an order and a scope, by its word."""
    return Mode(order, _SCOPES[scope], tags=(CLUSTER,) if scope == CLUSTER else ())


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._path = source.path
        self._initial: dict[str, int | Loc] = {}
        self._regions: dict[str, Region] = {}
        self._registers: list[dict[str, int | Loc]] = []

    def test(self, body: _Body) -> LitmusTest:
        columns = body.columns
        self._registers = [{} for _ in columns]
        self._state()
        for name, space in body.mapped:
            self._region(name, space)
        tree = body.scope_tree
        places = read_places(subtrees(tree), _LEVELS, len(columns), leaves(tree)[0], self._path)
        own = [self._own(index, column) for index, column in enumerate(columns)]
        known = self._locations(columns, own)
        threads = []
        for index, (column, place, registers) in enumerate(zip(columns, places, own, strict=True)):
            items = list(_Column(registers, known, self._region, self._path).items(column))
            initial = sorted((name, value) for name, value in self._registers[index].items() if value != 0)
            threads.append(Thread(tuple(_joined(items, partial(self._is_observed, index))), place, tuple(initial)))
        names = dict.fromkeys([*(str(name) for name, _ in body.mapped), *self._initial, *self._regions])
        locations = [
            Location(name, self._initial.get(name, 0), self._regions.get(name, Region.GLOBAL)) for name in names
        ]
        return self._source.test(threads, locations)

    def _state(self) -> None:
        for item in subtrees(parse(_GRAMMAR, "state", self._source.state, self._path, _TERMINALS)):
            value = next((self._value(tree) for tree in subtrees(item)), 0)
            names = leaves(item, "NAME")
            if item.data == "location":
                if names[0] in self._initial:
                    raise error_at(f"location {names[0]} is declared twice", names[0], self._path)
                self._initial[str(names[0])] = value
                for space in leaves(item, "SPACE"):
                    self._region(names[0], space)
                continue
            (thread,) = leaves(item, "THREAD", "INT")
            index = number(thread.with_word(thread.lstrip("TP")), self._path)
            if index >= len(self._registers):
                raise error_at(f"the test has no thread {thread}", thread, self._path)
            for name in names:
                if name in self._registers[index]:
                    raise error_at(f"register {index}:{name} is declared twice", name, self._path)
                self._registers[index][str(name)] = value

    def _value(self, tree: Tree) -> int | Loc:
        (token,) = leaves(tree)
        return wrapped(token, self._path) if token.type == "NUMBER" else Loc(str(token))

    def _region(self, name: Token, space: str) -> None:
        region = Region(space.lstrip("."))
        if self._regions.setdefault(str(name), region) is not region:
            other = self._regions[str(name)]
            raise error_at(f"{name} is in {other} memory, and in {region} memory here", name, self._path)

    def _own(self, index: int, column: Sequence[Tree]) -> set[str]:
        """The registers of a thread: those it declares or writes."""
        targets = [leaves(item, "NAME")[:1] for item in column if item.data in _WITH_TARGET]
        first = [subtrees(item)[0] for item in column if item.data == "asynchronous" and subtrees(item)]
        targets += [leaves(tree, "NAME") for tree in first if tree.data == "value"]
        return {*self._registers[index], *(str(name) for names in targets for name in names)} - {"_"}

    def _locations(self, columns: Sequence[Sequence[Tree]], own: list[set[str]]) -> set[str]:
        """Every name that is a location where it is no register: what is declared, or stands in brackets somewhere."""
        known = {*self._initial, *self._regions}
        known |= {value.name for values in self._registers for value in values.values() if isinstance(value, Loc)}
        for column, registers in zip(columns, own, strict=True):
            places = (tree for item in column for kind in ("address", "elements") for tree in subtrees(item, kind))
            names = (str(name) for tree in places for name in leaves(tree))
            known |= {name for name in names if name not in registers and not _REGISTER.fullmatch(name)}
        return known

    def _is_observed(self, thread: int, register: str) -> bool:
        mention = rf"(?<![\w.])[PT]?{thread}\s*:\s*{re.escape(register)}(?!\w)"
        return re.search(mention, self._source.condition) is not None


@dataclass(frozen=True, slots=True)
class _Column:
    """The meaning of registers, labels and locations by name within one thread."""

    registers: Collection[str]
    locations: Collection[str]
    region: Callable[[Token, str], None]
    path: str | None

    def items(self, column: Sequence[Tree]) -> Iterator[tuple[str, Instruction]]:
        """The instructions, each with the name of its rule in the grammar."""
        guard: Guard | None = None
        for item in column:
            if item.data == "guard":
                unless = bool(leaves(item, "BANG"))
                guard = Guard(self._register(leaves(item, "NAME")[0]), unless)
                continue
            several = self._asynchronous(item) if item.data == "asynchronous" else (self._instruction(item),)
            for instruction in several:
                if guard and not isinstance(instruction, Label):
                    instruction = replace(instruction, guard=guard)
                yield str(item.data), instruction
            guard = None

    def _asynchronous(self, item: Tree) -> tuple[Instruction, ...]:
        (opcode,) = leaves(item)
        parts = opcode.split(".")
        plain = ".".join(part for part in parts if part not in _TYPES and part not in _SPACES)
        words = opcode if opcode in PROXY_FENCES else opcode.with_word(plain)
        found = read_asynchronous(_Cell(words, subtrees(item), self))
        if found is None:
            raise error_at(f"expected an instruction of PTX, found {opcode}", opcode, self.path)
        return found

    def _instruction(self, item: Tree) -> Instruction:
        if item.data == "label":
            return Label(str(leaves(item)[0]))
        opcode, *names = leaves(item)
        suffixes = _Suffixes(opcode, self.path)
        values = subtrees(item, "value")
        instruction: Instruction
        match item.data:
            case "load":
                address = self._address(item, suffixes)
                instruction = Load(str(names[0]), address, suffixes.mode(LOAD))
            case "store":
                instruction = Store(self._address(item, suffixes), self._value(values[0]), suffixes.mode(STORE))
            case "atom" | "red":
                instruction = self._rmw(item, suffixes, None if names in ([], ["_"]) else str(names[0]), values)
            case "fence":
                instruction = self._fence(suffixes)
            case "together":
                instruction = self._together(suffixes, str(names[0]), list(map(self._value, values)))
            case "converge":
                return GroupOperation("barrier", mask=self._value(values[0]))
            case "barrier":
                instruction = self._barrier(suffixes, values)
            case "move" | "convert":
                instruction = Assign(str(names[0]), "mov", (self._value(values[0]),))
            case "compute":
                if suffixes.name == "mul":
                    suffixes.take("lo")
                instruction = Assign(str(names[0]), suffixes.name, (self._value(values[0]), self._value(values[1])))
            case "compare":
                operation = suffixes.operation(*COMPARISONS)
                instruction = Assign(str(names[0]), operation, (self._value(values[0]), self._value(values[1])))
            case "select":
                target, one, zero, predicate = names
                if (one, zero) != ("1", "0"):
                    raise suffixes.error("expected selp between 1 and 0")
                instruction = Assign(str(target), "mov", (Reg(self._register(predicate)),))
            case _:
                suffixes.take("uni")
                instruction = Branch(str(names[0]))
        suffixes.end()
        return instruction

    def _rmw(self, item: Tree, suffixes: _Suffixes, target: str | None, values: Sequence[Tree]) -> Rmw:
        operation = suffixes.operation(*(REDUCTIONS if item.data == "red" else OPERATIONS))
        wanted = 2 if operation == "cas" else 1
        if len(values) != wanted:
            raise suffixes.error(f"expected {wanted} values of {operation} after the address, found {len(values)}")
        address = self._address(item, suffixes)
        order = suffixes.take(*ATOM.orders) or DEFAULT_RMW.order
        scope = suffixes.take(*_SCOPES)
        mode = _scoped(Order(order), scope or "gpu")
        return Rmw(operation, target, address, tuple(map(self._value, values)), mode)

    def _fence(self, suffixes: _Suffixes) -> Fence:
        if suffixes.name == "membar":
            return Fence(Mode(Order.SC, MEMBARS[suffixes.operation(*MEMBARS)]))
        order = suffixes.take(*FENCE.orders) or Order.ACQ_REL
        return Fence(_scoped(Order(order), suffixes.operation(*_SCOPES)))

    def _together(self, suffixes: _Suffixes, target: str, values: list[Operand]) -> GroupOperation:
        words = {"vote": ("any", "all", "ballot"), "shfl": ("idx",)}.get(suffixes.name, ())
        operation = suffixes.operation(*words) if words else "elect"
        masked = suffixes.operation("sync") if operation == "elect" else suffixes.take("sync")
        wanted = {"elect": 0, "idx": 3}.get(operation, 1)
        if len(values) != wanted + bool(masked):
            raise suffixes.error(f"expected {wanted + bool(masked)} values of {suffixes.opcode}, found {len(values)}")
        mask = values.pop() if masked else None
        if operation == "idx":
            if values.pop() != 31:
                raise suffixes.error("expected 31, for a segment of the whole warp, after the lane that shfl asks")
            operation = "shuffle"
        return GroupOperation(operation, target, tuple(values), mask)

    def _barrier(self, suffixes: _Suffixes, values: Sequence[Tree]) -> Barrier:
        suffixes.take("cta")
        arrive = suffixes.operation("sync", "arrive") == "arrive"
        quorum = self._value(values[1]) if len(values) > 1 else None
        if arrive and quorum is None:
            raise suffixes.error(f"expected a number of threads after the barrier of {suffixes.opcode}")
        return Barrier(self._value(values[0]), arrive, quorum=quorum)

    def _address(self, item: Tree, suffixes: _Suffixes) -> Operand:
        (name,) = leaves(subtrees(item, "address")[0])
        space = suffixes.take("global", "shared")
        if space and name not in self.registers:
            self.region(name, space)
        return self.named(name)

    def _value(self, tree: Tree) -> Operand:
        (token,) = leaves(tree)
        return wrapped(token, self.path) if token.type == "NUMBER" else self.named(token)

    def named(self, name: Token) -> Reg | Loc:
        if name in self.registers:
            return Reg(str(name))
        if name not in self.locations:
            raise error_at(f"{name} is neither a register of the thread nor a location", name, self.path)
        return Loc(str(name))

    def _register(self, name: Token) -> str:
        if name not in self.registers:
            raise error_at(f"{name} is no register of the thread", name, self.path)
        return str(name)


@dataclass(frozen=True, slots=True)
class _Cell:
    """An asynchronous instruction, without types and state spaces (``corpus.dialects.asynchronous``)."""

    opcode: Token
    operands: Sequence[Tree]
    column: _Column

    def error(self, message: str) -> InputError:
        """Return an error with a message, placed at the opcode."""
        return error_at(message, self.opcode, self.column.path)

    def register(self, index: int) -> str:
        """Return the register at an operand's place. Raises ``InputError`` where the operand is of another kind."""
        value = self.value(index)
        if not isinstance(value, Reg):
            raise self.error(f"expected a register as operand {index + 1} of {self.opcode}")
        return value.name

    def addresses(self, index: int) -> tuple[Operand, ...]:
        """Return the addresses in brackets at an operand's place. Raises ``InputError`` where there are none."""
        if self.operands[index].data != "elements":
            raise self.error(f"expected an address in brackets as operand {index + 1} of {self.opcode}")
        return tuple(self.column.named(name) for name in leaves(self.operands[index]))

    def value(self, index: int) -> Operand:
        """Return the number or register at an operand's place. Raises ``InputError`` where it is an address."""
        if self.operands[index].data != "value":
            raise self.error(f"expected a number or a register as operand {index + 1} of {self.opcode}")
        (token,) = leaves(self.operands[index])
        return wrapped(token, self.column.path) if token.type == "NUMBER" else self.column.named(token)

    def count(self, index: int) -> Operand | None:
        """Return the natural number or register at an operand's place. Raises ``InputError`` for a negative number."""
        value = self.value(index)
        if isinstance(value, int) and value < 0:
            raise self.error(f"expected no negative number as operand {index + 1} of {self.opcode}")
        return value


def _joined(items: Sequence[tuple[str, Instruction]], is_observed: Callable[[str], bool]) -> list[Instruction]:
    """The instructions without helper registers: what ``cvt`` or ``setp`` computes for the next instruction alone."""
    mentions = Counter(name for _, ins in items for name in (*registers_read(ins), *registers_written(ins)))
    kept: list[tuple[str, Instruction]] = []
    for kind, ins in items:
        new = ins
        while kept and (helper := _helper(*kept[-1])):
            name = helper.target
            if name is None or mentions[name] != 2 or is_observed(name):
                break
            if isinstance(helper, Assign) and helper.operation == "mov" and Reg(name) in operands_of(new):
                source, target = helper.operands[0], Reg(name)
                new = map_operands(new, lambda operand: source if operand == target else operand)  # noqa: B023
            elif (
                isinstance(helper, Assign)
                and helper.operation == "ne"
                and helper.operands[1] == 0
                and isinstance(new, GroupOperation)
                and new.operation in _VOTES
                and new.operands == (Reg(name),)
            ):
                new = replace(new, operands=helper.operands[:1])
            elif kind == "select" and isinstance(new, Assign) and new.operands == (Reg(name),):
                new = replace(helper, target=new.target, guard=new.guard)
            else:
                break
            kept.pop()
        kept.append((kind, new))
    return [ins for _, ins in kept]


_VOTES = ("any", "all", "ballot")


def _helper(kind: str, ins: Instruction) -> Assign | Load | GroupOperation | None:
    match ins:
        case GroupOperation("any" | "all" | "elect", str(), guard=None):
            return ins
        case Assign(guard=None) if kind in ("convert", "compare"):
            return ins
        case Load(guard=None, phase=phase) if phase is not None:
            return ins
    return None
