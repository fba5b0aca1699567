"""GPU_PTX: PTX litmus tests with a scope tree and a memory map (Alglave et al. 2015, Fig. 12), read and printed.

    GPU_PTX SB
    { 0:.reg .s32 r0; 0:.reg .s32 r2; 0:.reg .b64 r1 = x; 0:.reg .b64 r3 = y;
      1:.reg .s32 r0; 1:.reg .s32 r2; 1:.reg .b64 r1 = y; 1:.reg .b64 r3 = x; }
     T0                | T1                ;
     mov.s32 r0,1      | mov.s32 r0,1      ;
     st.cg.s32 [r1],r0 | st.cg.s32 [r1],r0 ;
     ld.cg.s32 r2,[r3] | ld.cg.s32 r2,[r3] ;
    ScopeTree(grid(cta(warp T0) (warp T1)))
    x: shared, y: global
    exists (0:r2=0 /\\ 1:r2=0)

Read besides, as the paper's other figures have it: instructions without types, locations and numbers as operands
(``st.cg [x],1``), and the spellings of PTX 6.0 and later (``ld.acquire.gpu``, ``fence.acq_rel.cta``).

- Initial state: registers as above, ``x=1``, ``global x=1``, ``x=y`` for the address of ``y``. What is not mentioned
  starts with 0. Types are read and not kept: values are numbers of 32 bits or addresses.
- A name is a register where its thread declares or writes it, and a location elsewhere. A region may stand in the
  initial state, in the memory map or at an access (``ld.shared``); they must agree, and what has none is global.
- ``membar.gl`` is ``fence.sc.gpu``; ``atom`` without an order is relaxed, without a scope at GPU scope; ``_`` as the
  target of ``atom`` means none, as in ``red``. A predicate is a register that is 0 or 1.
- The scope tree's levels are gpu (or device), grid (kernel), cta (block) and warp; see ``corpus.dialects.scope_tree``.

The printer writes what ptxas and the tools of the paper take: registers declared with their types, every address in a
register of 64 bits, numbers stored from registers. Where a number is added to an address, ``cvt`` widens it first;
where the result of a comparison is a number, ``selp`` makes it one. Such helper registers are mentioned by two
instructions, one after the other, and disappear when they are read.

Gaps: ``atom.inc`` and ``dec``, vectors, offsets (``[r1+4]``) and other state spaces are not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, zip_longest

from lark import Token, Tree

from corpus.condition import print_condition, spell
from corpus.dialects.ptx_modes import (
    ATOM,
    FENCE,
    LOAD,
    OPERATIONS,
    RED_ORDERS,
    REDUCTIONS,
    SCOPES,
    STORE,
    Access,
    mode_words,
)
from corpus.dialects.scope_tree import print_groups, read_places
from corpus.errors import InputError
from corpus.litmus import (
    COMPARISONS,
    Assign,
    Barrier,
    Branch,
    Comparison,
    Fence,
    FinalRegister,
    Guard,
    Instruction,
    Label,
    LitmusTest,
    Load,
    Loc,
    Location,
    Mode,
    Operand,
    Order,
    Reg,
    Region,
    Rmw,
    Scope,
    Store,
    Term,
    Thread,
    operands,
    reads,
    unguarded,
    written,
)
from corpus.litmus_describe import cannot_say
from corpus.litmus_normal import map_operands, terms
from corpus.litmus_text import Dialect, Source
from corpus.syntax import number, parse, wrapped

_TERMINALS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "INT": "a thread",
    "THREAD": "a thread",
    "MEMBER": "a thread",
    "LEVEL": "gpu, grid, cta or warp",
    "SPACE": "global or shared",
    "TYPE": "a type",
    "SCOPETREE": "ScopeTree",
    "LD": "ld",
    "ST": "st",
    "ATOM": "atom",
    "RED": "red",
    "FENCE": "membar",
    "BAR": "bar",
    "MOV": "mov",
    "CVT": "cvt",
    "COMPUTE": "add",
    "SETP": "setp",
    "SELP": "selp",
    "BRA": "bra",
    "REG": ".reg",
    "AT": "@",
    "BANG": "!",
    "AMPERSAND": "&",
    "EQUAL": "=",
    "VBAR": "|",
    "SEMICOLON": ";",
    "COLON": ":",
    "COMMA": ",",
    "LBRACE": "{",
    "RBRACE": "}",
    "LSQB": "[",
    "RSQB": "]",
    "LPAR": "(",
    "RPAR": ")",
    "$END": "the final condition",
}

_LEVELS = {
    "gpu": Scope.GPU,
    "device": Scope.GPU,
    "grid": Scope.QUEUE,
    "kernel": Scope.QUEUE,
    "cta": Scope.CTA,
    "block": Scope.CTA,
    "warp": Scope.WARP,
}
_MEMBARS = {"cta": Scope.CTA, "gl": Scope.GPU, "sys": Scope.SYS}
_MEMBAR_WORDS = {scope: word for word, scope in _MEMBARS.items()}
_TYPES = ("s32", "u32", "b32", "s64", "u64", "b64", "pred")
_WITH_TARGET = ("load", "atom", "move", "convert", "compute", "compare", "select")


_DEFAULT_RMW = Mode(Order.RELAXED, Scope.GPU)
_REGISTER = re.compile(r"%?[rp][0-9]+")
_NAME = re.compile(r"[A-Za-z%][A-Za-z0-9_]*")


# Reading.


def _parse(source: Source) -> LitmusTest:
    return _Reader(source).test()


def _trees(tree: Tree[Token], kind: str | None = None) -> list[Tree[Token]]:
    return [child for child in tree.children if isinstance(child, Tree) and kind in (None, child.data)]


def _tokens(tree: Tree[Token], *kinds: str) -> list[Token]:
    return [child for child in tree.children if isinstance(child, Token) and (not kinds or child.type in kinds)]


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
        """As ``take``; raises ``InputError`` where there is no such part."""
        found = self.take(*words)
        if found is None:
            raise self.error(f"expected {self.name} with one of {', '.join('.' + word for word in words)}")
        return found

    def mode(self, access: Access) -> Mode:
        """The mode of an access. Raises ``InputError`` where PTX has no such one."""
        order = self.take(*access.orders, *(["weak"] if access.volatile else []))
        scope = self.take(*SCOPES)
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
        return Mode(Order(order), SCOPES[scope])

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
        """An error at the opcode."""
        return _error(message, self.opcode, self._path)


def _error(message: str, token: Token, path: str | None) -> InputError:
    return InputError(message, path, token.line, token.column)


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._path = source.path
        self._initial: dict[str, int | Loc] = {}
        self._regions: dict[str, Region] = {}
        self._registers: list[dict[str, int | Loc]] = []

    def test(self) -> LitmusTest:
        body = parse("dialects/gpu_ptx", "body", self._source.body, self._path, _TERMINALS)
        header, *rows = (tree for tree in _trees(body) if tree.data in ("header", "row"))
        for index, thread in enumerate(_tokens(header)):
            if thread[1:] != str(index):
                raise _error(f"expected thread T{index}, found {thread}", thread, self._path)
            self._registers.append({})
        self._state()
        mapped = [_tokens(mapping) for tree in _trees(body, "memory_map") for mapping in _trees(tree)]
        for name, space in mapped:
            self._region(name, space)
        (tree,) = _trees(body, "scope_tree")
        places = read_places(_trees(tree), _LEVELS, len(self._registers), _tokens(tree)[0], self._path)
        columns: list[list[Tree[Token]]] = [[] for _ in places]
        for row in rows:
            cells = _trees(row)
            if len(cells) != len(columns):
                message = f"expected {len(columns)} columns, found {len(cells)}"
                raise InputError(message, self._path, row.meta.line, row.meta.column)
            for column, cell in zip(columns, cells, strict=True):
                column += _trees(cell)
        own = [self._own(index, column) for index, column in enumerate(columns)]
        known = self._locations(columns, own)
        threads = []
        for index, (column, place, registers) in enumerate(zip(columns, places, own, strict=True)):
            items = list(_Column(registers, known, self._region, self._path).items(column))
            initial = sorted((name, value) for name, value in self._registers[index].items() if value != 0)
            threads.append(Thread(tuple(_joined(items, partial(self._asked, index))), place, tuple(initial)))
        names = dict.fromkeys([*(str(name) for name, _ in mapped), *self._initial, *self._regions])
        locations = [
            Location(name, self._initial.get(name, 0), self._regions.get(name, Region.GLOBAL)) for name in names
        ]
        return self._source.test(threads, locations)

    def _state(self) -> None:
        for item in _trees(parse("dialects/gpu_ptx", "state", self._source.state, self._path, _TERMINALS)):
            value = next((self._value(tree) for tree in _trees(item)), 0)
            names = _tokens(item, "NAME")
            if item.data == "location":
                if names[0] in self._initial:
                    raise _error(f"location {names[0]} is declared twice", names[0], self._path)
                self._initial[str(names[0])] = value
                for space in _tokens(item, "SPACE"):
                    self._region(names[0], space)
                continue
            (thread,) = _tokens(item, "THREAD", "INT")
            index = number(thread.update(value=thread.lstrip("TP")), self._path)
            if index >= len(self._registers):
                raise _error(f"the test has no thread {thread}", thread, self._path)
            for name in names:
                if name in self._registers[index]:
                    raise _error(f"register {index}:{name} is declared twice", name, self._path)
                self._registers[index][str(name)] = value

    def _value(self, tree: Tree[Token]) -> int | Loc:
        (token,) = _tokens(tree)
        return wrapped(token, self._path) if token.type == "NUMBER" else Loc(str(token))

    def _region(self, name: Token, space: str) -> None:
        region = Region(space.lstrip("."))
        if self._regions.setdefault(str(name), region) is not region:
            other = self._regions[str(name)]
            raise _error(f"{name} is in {other} memory, and in {region} memory here", name, self._path)

    def _own(self, index: int, column: list[Tree[Token]]) -> set[str]:
        """The registers of a thread: those it declares or writes."""
        targets = [_tokens(item, "NAME")[:1] for item in column if item.data in _WITH_TARGET]
        return {*self._registers[index], *(str(name) for names in targets for name in names)} - {"_"}

    def _locations(self, columns: list[list[Tree[Token]]], own: list[set[str]]) -> set[str]:
        """Every name that is a location where it is no register: what is declared, or stands in brackets somewhere."""
        known = {*self._initial, *self._regions}
        known |= {value.name for values in self._registers for value in values.values() if isinstance(value, Loc)}
        for column, registers in zip(columns, own, strict=True):
            names = (str(_tokens(tree)[0]) for item in column for tree in _trees(item, "address"))
            known |= {name for name in names if name not in registers and not _REGISTER.fullmatch(name)}
        return known

    def _asked(self, thread: int, register: str) -> bool:
        mention = rf"(?<![\w.])[PT]?{thread}\s*:\s*{re.escape(register)}(?!\w)"
        return re.search(mention, self._source.condition) is not None


@dataclass(frozen=True, slots=True)
class _Column:
    """What names mean in a thread."""

    registers: Collection[str]
    locations: Collection[str]
    region: Callable[[Token, str], None]
    path: str | None

    def items(self, column: Sequence[Tree[Token]]) -> Iterator[tuple[str, Instruction]]:
        """The instructions, each with the name of its rule in the grammar."""
        guard: Guard | None = None
        for item in column:
            if item.data == "guard":
                unless = bool(_tokens(item, "BANG"))
                guard = Guard(self._register(_tokens(item, "NAME")[0]), unless)
                continue
            instruction = self._instruction(item)
            if guard and not isinstance(instruction, Label):
                instruction = replace(instruction, guard=guard)
            guard = None
            yield str(item.data), instruction

    def _instruction(self, item: Tree[Token]) -> Instruction:
        if item.data == "label":
            return Label(str(_tokens(item)[0]))
        opcode, *names = _tokens(item)
        suffixes = _Suffixes(opcode, self.path)
        values = _trees(item, "value")
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

    def _rmw(self, item: Tree[Token], suffixes: _Suffixes, target: str | None, values: Sequence[Tree[Token]]) -> Rmw:
        operation = suffixes.operation(*(REDUCTIONS if item.data == "red" else OPERATIONS))
        wanted = 2 if operation == "cas" else 1
        if len(values) != wanted:
            raise suffixes.error(f"expected {wanted} values of {operation} after the address, found {len(values)}")
        address = self._address(item, suffixes)
        order = suffixes.take(*ATOM.orders) or _DEFAULT_RMW.order
        scope = suffixes.take(*SCOPES)
        mode = Mode(Order(order), SCOPES[scope] if scope else _DEFAULT_RMW.scope)
        return Rmw(operation, target, address, tuple(map(self._value, values)), mode)

    def _fence(self, suffixes: _Suffixes) -> Fence:
        if suffixes.name == "membar":
            return Fence(Mode(Order.SC, _MEMBARS[suffixes.operation(*_MEMBARS)]))
        order = suffixes.take(*FENCE.orders) or Order.ACQ_REL
        return Fence(Mode(Order(order), SCOPES[suffixes.operation(*SCOPES)]))

    def _barrier(self, suffixes: _Suffixes, values: Sequence[Tree[Token]]) -> Barrier:
        suffixes.take("cta")
        arrive = suffixes.operation("sync", "arrive") == "arrive"
        quorum = self._value(values[1]) if len(values) > 1 else None
        if quorum is not None and not isinstance(quorum, int):
            raise suffixes.error(f"expected a number of threads for {suffixes.opcode}")
        if arrive and quorum is None:
            raise suffixes.error(f"expected a number of threads after the barrier of {suffixes.opcode}")
        return Barrier(self._value(values[0]), arrive, quorum=quorum)

    def _address(self, item: Tree[Token], suffixes: _Suffixes) -> Operand:
        (name,) = _tokens(_trees(item, "address")[0])
        space = suffixes.take("global", "shared")
        if space and name not in self.registers:
            self.region(name, space)
        return self._named(name)

    def _value(self, tree: Tree[Token]) -> Operand:
        (token,) = _tokens(tree)
        return wrapped(token, self.path) if token.type == "NUMBER" else self._named(token)

    def _named(self, name: Token) -> Reg | Loc:
        if name in self.registers:
            return Reg(str(name))
        if name not in self.locations:
            raise _error(f"{name} is neither a register of the thread nor a location", name, self.path)
        return Loc(str(name))

    def _register(self, name: Token) -> str:
        if name not in self.registers:
            raise _error(f"{name} is no register of the thread", name, self.path)
        return str(name)


def _joined(items: Sequence[tuple[str, Instruction]], asked: Callable[[str], bool]) -> list[Instruction]:
    """The instructions without helper registers: what ``cvt`` or ``setp`` computes for the next instruction alone."""
    mentions = Counter(name for _, ins in items for name in (*reads(ins), *filter(None, [written(ins)])))
    kept: list[tuple[str, Instruction]] = []
    for kind, ins in items:
        new = ins
        while kept and (helper := _helper(*kept[-1])) and mentions[helper.target] == 2 and not asked(helper.target):
            if helper.operation == "mov" and Reg(helper.target) in operands(new):
                source, target = helper.operands[0], Reg(helper.target)
                new = map_operands(new, lambda operand: source if operand == target else operand)  # noqa: B023
            elif kind == "select" and isinstance(new, Assign) and new.operands == (Reg(helper.target),):
                new = replace(new, operation=helper.operation, operands=helper.operands)
            else:
                break
            kept.pop()
        kept.append((kind, new))
    return [ins for _, ins in kept]


def _helper(kind: str, ins: Instruction) -> Assign | None:
    return ins if kind in ("convert", "compare") and isinstance(ins, Assign) and not ins.guard else None


# Printing.


def _print(test: LitmusTest) -> str:
    wide = _Wide(test)
    columns = [_Writer(test, index, wide) for index in range(len(test.threads))]
    for location in test.locations:
        if location.alias or not _NAME.fullmatch(location.name):
            what = "aliases" if location.alias else "locations of that name"
            raise InputError(f"{location.name}: GPU_PTX has no {what}")
    cells = [[f"T{index}", *column.cells()] for index, column in enumerate(columns)]
    widths = [max(map(len, column)) for column in cells]
    declarations = [column.declarations() for column in columns]
    declarations.append(
        "; ".join(
            f"{location.name}={_constant(location.initial)}" for location in test.locations if location.initial != 0
        )
    )
    levels = {Scope.QUEUE: "grid", Scope.CTA: "cta", Scope.WARP: "warp"}
    if any(thread.place.gpu != test.threads[0].place.gpu for thread in test.threads):
        levels[Scope.GPU] = "gpu"

    def spelled(term: Term) -> str:
        if isinstance(term, FinalRegister):
            return f"{term.thread}:{columns[term.thread].register(term.register)}"
        return spell(term)

    lines = [f"GPU_PTX {test.name}"]
    lines += [f'"{test.description}"'] if test.description else []
    lines += ["{", *(f"{line};" for line in declarations if line), "}"]
    lines += [" " + " | ".join(map(str.ljust, row, widths)) + " ;" for row in zip_longest(*cells, fillvalue="")]
    lines.append(f"ScopeTree{print_groups(test.threads, levels, 'T')}")
    if test.locations:
        lines.append(", ".join(f"{location.name}: {location.region}" for location in test.locations))
    return "\n".join([*lines, print_condition(test.condition, spelled, "=")])


def _constant(value: Operand) -> str:
    return str(value) if isinstance(value, int) else value.name


class _Wide:
    """Which registers hold 64 bits, as one that may hold an address does, and whether memory does.

    Memory does where an address may be stored, and then every register that is loaded or stored; what is computed from
    a wide operand is wide, and so is a register that an access takes its address from.
    """

    def __init__(self, test: LitmusTest) -> None:
        self.memory = any(isinstance(location.initial, Loc) for location in test.locations)
        self._registers = {
            (index, name)
            for index, thread in enumerate(test.threads)
            for name, value in thread.registers
            if isinstance(value, Loc)
        }
        before = None
        while before != (before := (self.memory, len(self._registers))):
            for index, thread in enumerate(test.threads):
                for ins in thread.instructions:
                    self._note(index, ins)

    def __contains__(self, item: tuple[int, Operand]) -> bool:
        thread, operand = item
        return isinstance(operand, Loc) or (isinstance(operand, Reg) and (thread, operand.name) in self._registers)

    def _note(self, thread: int, ins: Instruction) -> None:
        match ins:
            case Assign() if ins.operation not in COMPARISONS and any(
                (thread, value) in self for value in ins.operands
            ):
                self._registers.add((thread, ins.target))
            case Load() | Store() | Rmw():
                target = written(ins)
                moved = [*operands(ins)[1:], *([] if target is None else [Reg(target)])]
                self.memory |= any((thread, value) in self for value in moved)
                held = [ins.address, *moved] if self.memory else [ins.address]
                self._registers |= {(thread, value.name) for value in held if isinstance(value, Reg)}


class _Writer:
    """One thread as it is printed."""

    def __init__(self, test: LitmusTest, index: int, wide: _Wide) -> None:
        asked = {
            term.register for term in terms(test.condition) if isinstance(term, FinalRegister) and term.thread == index
        }
        thread = test.threads[index]
        predicates = _predicates(thread, asked)
        guards = [(ins, ins.guard) for ins in thread.instructions if not isinstance(ins, Label) and ins.guard]
        if any(guard.register not in predicates or _conditional(ins) for ins, guard in guards):
            thread = unguarded(thread)
            predicates = _predicates(thread, asked)
        labels = Counter(ins.name for other in test.threads for ins in other.instructions if isinstance(ins, Label))
        self._prefix = f"L{index}_" if any(times > 1 for times in labels.values()) else ""
        self._index = index
        self._wide = wide
        self._thread = thread
        names = sorted(thread.names() | asked)
        taken = {name for name in names if _NAME.fullmatch(name)}
        self._predicates = predicates
        self._fresh = (name for at in count() if (name := f"r{at}") not in taken)
        self._fresh_predicates = (name for at in count() if (name := f"p{at}") not in taken)
        self._names = {name: name if name in taken else next(self._fresh) for name in names}
        self._declared = {
            self._names[name]: ".pred" if name in predicates else _bits((index, Reg(name)) in wide) for name in names
        }
        self._initial: dict[str, Operand] = {self._names[name]: value for name, value in thread.registers}
        self._addresses: dict[str, str] = {}
        self._constants: dict[int, str] = {}
        self._lines: list[str] = []

    def register(self, name: str) -> str:
        """A register's printed name."""
        return self._names[name]

    def declarations(self) -> str:
        """The registers with their types and initial values, once ``cells`` has been called; the predicates last."""
        lines = []
        for name in sorted(self._declared, key=lambda name: (self._declared[name] == ".pred", len(name), name)):
            value = f" = {_constant(self._initial[name])}" if name in self._initial else ""
            lines.append(f"{self._index}:.reg {self._declared[name]} {name}{value}")
        return "; ".join(lines)

    def cells(self) -> list[str]:
        """The instructions as they are printed."""
        for ins in self._thread.instructions:
            self._instruction(ins, partial(cannot_say, self._index, ins))
        moves = [f"mov{_bits(self._wide.memory)} {name},{value}" for value, name in self._constants.items()]
        return moves + self._lines

    def _instruction(self, ins: Instruction, refuse: Callable[[str], InputError]) -> None:
        match ins:
            case Label(name):
                self._lines.append(f"{self._prefix}{name}:")
            case Load(target, address, mode):
                suffix = mode_words(mode, LOAD, refuse) + _bits(self._wide.memory)
                self._add(ins, f"ld{suffix} {self._names[target]},{self._address(address, refuse)}")
            case Store(address, value, mode):
                suffix = mode_words(mode, STORE, refuse) + _bits(self._wide.memory)
                stored = self._stored(value, self._wide.memory)
                self._add(ins, f"st{suffix} {self._address(address, refuse)},{stored}")
            case Rmw():
                self._rmw(ins, refuse)
            case Fence(Mode(Order.SC, scope, False, None, ())) if scope in _MEMBAR_WORDS:
                self._add(ins, f"membar.{_MEMBAR_WORDS[scope]}")
            case Fence(mode):
                if mode.order is Order.WEAK:
                    raise refuse("GPU_PTX has no such fence")
                self._add(ins, f"fence{mode_words(mode, FENCE, refuse)}")
            case Barrier():
                self._barrier(ins, refuse)
            case Branch(label, None):
                self._add(ins, f"bra {self._prefix}{label}")
            case Branch(label, Comparison("eq" | "ne" as operation, Reg(name), 0)) if name in self._predicates:
                self._add(Branch(label, guard=Guard(name, operation == "eq")), f"bra {self._prefix}{label}")
            case Branch(label, Comparison(operation, left, right)):
                predicate = self._declare(".pred")
                self._compare(Assign(predicate, operation, (left, right)), predicate)
                self._lines.append(f"@{predicate} bra {self._prefix}{label}")
            case Assign():
                self._assign(ins)

    def _rmw(self, ins: Rmw, refuse: Callable[[str], InputError]) -> None:
        if ins.operation not in OPERATIONS:
            raise refuse(f"PTX has no atomic {ins.operation}")
        wide = self._wide.memory
        bits = {"add": ".u64" if wide else ".s32", "min": _signed(wide), "max": _signed(wide)}
        suffix = "" if ins.mode == _DEFAULT_RMW else mode_words(ins.mode, ATOM, refuse)
        suffix += f".{ins.operation}{bits.get(ins.operation, '.b64' if wide else '.b32')}"
        reduces = ins.target is None and ins.operation in REDUCTIONS and ins.mode.order in RED_ORDERS
        name = "red" if reduces else "atom"
        target = [] if reduces else ["_" if ins.target is None else self._names[ins.target]]
        values = [self._value(value, wide) for value in ins.operands]
        self._add(ins, f"{name}{suffix} {','.join([*target, self._address(ins.address, refuse), *values])}")

    def _barrier(self, ins: Barrier, refuse: Callable[[str], InputError]) -> None:
        if ins.mode != Mode() or ins.resource is not None or (ins.arrive and ins.quorum is None):
            raise refuse("PTX has bar.sync with a barrier and bar.arrive with a barrier and a number of threads")
        values = [self._value(ins.number, False), *([] if ins.quorum is None else [str(ins.quorum)])]
        self._add(ins, f"bar.{'arrive' if ins.arrive else 'sync'} {','.join(values)}")

    def _assign(self, ins: Assign) -> None:
        target, wide = self._names[ins.target], (self._index, Reg(ins.target)) in self._wide
        if ins.operation in COMPARISONS:
            if ins.target in self._predicates:
                self._compare(ins, target)
            else:
                predicate = self._declare(".pred")
                self._compare(replace(ins, guard=None), predicate)
                self._add(ins, f"selp{_signed(wide)} {target},1,0,{predicate}")
            return
        words = {"mov": f"mov{_bits(wide)}", "mul": f"mul.lo{_signed(wide)}"}
        words |= dict.fromkeys(("and", "or", "xor"), f"{ins.operation}{'.b64' if wide else '.b32'}")
        word = words.get(ins.operation, f"{ins.operation}{_signed(wide)}")
        self._add(ins, f"{word} {','.join([target, *(self._value(value, wide) for value in ins.operands)])}")

    def _compare(self, ins: Assign, predicate: str) -> None:
        """A comparison into a predicate register."""
        wide = any((self._index, value) in self._wide for value in ins.operands)
        values = ",".join(self._value(value, wide) for value in ins.operands)
        self._add(ins, f"setp.{ins.operation}{_signed(wide)} {predicate},{values}")

    def _add(self, ins: Instruction, text: str) -> None:
        assert not isinstance(ins, Label)
        guard = f"@{'!' * ins.guard.unless}{self._names[ins.guard.register]} " if ins.guard else ""
        self._lines.append(guard + text)

    def _address(self, operand: Operand, refuse: Callable[[str], InputError]) -> str:
        if isinstance(operand, int):
            raise refuse("PTX takes addresses from registers")
        return f"[{self._value(operand, True)}]"

    def _value(self, operand: Operand, wide: bool) -> str:
        """An operand of an instruction of 32 or of 64 bits."""
        if isinstance(operand, int):
            return str(operand)
        if isinstance(operand, Loc):
            if operand.name not in self._addresses:
                self._addresses[operand.name] = self._declare(".b64")
                self._initial[self._addresses[operand.name]] = operand
            return self._addresses[operand.name]
        if wide and (self._index, operand) not in self._wide:
            helper = self._declare(".b64")
            self._lines.append(f"cvt.s64.s32 {helper},{self._names[operand.name]}")
            return helper
        return self._names[operand.name]

    def _stored(self, operand: Operand, wide: bool) -> str:
        """The value of a store, which is in a register."""
        if not isinstance(operand, int):
            return self._value(operand, wide)
        if operand not in self._constants:
            self._constants[operand] = self._declare(_bits(wide))
        return self._constants[operand]

    def _declare(self, kind: str) -> str:
        """A new register."""
        name = next(self._fresh_predicates if kind == ".pred" else self._fresh)
        self._declared[name] = kind
        return name


def _predicates(thread: Thread, asked: Collection[str]) -> frozenset[str]:
    """The registers that only comparisons write and only guards, or branches in their stead, read."""
    compared: set[str] = set()
    others = {name for name, _ in thread.registers}.union(asked)
    for ins in thread.instructions:
        match ins:
            case Assign(target, operation) if operation in COMPARISONS:
                compared.add(target)
            case Load(target=str() as target) | Rmw(target=str() as target) | Assign(target=target):
                others.add(target)
            case Branch(condition=Comparison("eq" | "ne", Reg(), 0)):
                continue
        others |= {value.name for value in operands(ins) if isinstance(value, Reg)}
    return frozenset(compared - others)


def _conditional(ins: Instruction) -> bool:
    return isinstance(ins, Branch) and ins.condition is not None


def _bits(wide: bool) -> str:
    return ".b64" if wide else ".s32"


def _signed(wide: bool) -> str:
    return ".s64" if wide else ".s32"


GPU_PTX = Dialect("gpu-ptx", "GPU_PTX", _parse, _print)
"""The dialect of Alglave et al. 2015."""
