"""Prints GPU_PTX litmus tests, whose form ``corpus.dialects.gpu_ptx.dialect`` describes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import count

from corpus.dialects.asynchronous import is_extended, write_asynchronous
from corpus.dialects.scope_tree import print_groups
from corpus.errors import InputError
from corpus.laws.ptx import (
    ATOM,
    FENCE,
    LOAD,
    MEMBARS,
    OPERATIONS,
    RED_ORDERS,
    REDUCTIONS,
    STORE,
    mode_words,
)
from corpus.litmus.condition import print_condition, spell
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import (
    COMPARISONS,
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Comparison,
    Fence,
    GroupOperation,
    Guard,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    addresses_of,
    is_asynchronous,
    operands_of,
    registers_written,
)
from corpus.litmus.locations import Loc, Location, Operand, Reg
from corpus.litmus.normal import observed_registers
from corpus.litmus.orders import DEFAULT_RMW, Mode, Order, Place, Scope
from corpus.litmus.propositions import Condition, FinalRegister, Term
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread, has_clusters, unguarded

_MEMBAR_WORDS = {scope: word for word, scope in MEMBARS.items()}
_NAME = re.compile(r"[A-Za-z%][A-Za-z0-9_]*")


_SHARED = 1 << 12
"""The number of threads, conditions and scope trees that are remembered, for the tests of a suite share them."""


def print_gpu_ptx(test: LitmusTest) -> str:
    """The test as text. Raises ``InputError`` that names what the dialect cannot say."""
    declared, regions, memory = _declared(test.locations)
    traits = [_traits(thread, memory) for thread in test.threads]
    memory = memory or any(wide for _, wide in traits)
    labels = [name for names, _ in traits for name in names]
    numbered = len(labels) > len(set(labels))
    observed = observed_registers(test.condition)
    columns = [
        _column(thread, index, observed.get(index, ()), memory, numbered) for index, thread in enumerate(test.threads)
    ]
    height = max((len(column.cells) for column in columns), default=0)
    rows = zip(*(column.cells + (height - len(column.cells)) * (column.blank,) for column in columns), strict=True)
    lines = [f"GPU_PTX {test.name}"]
    lines += [f'"{test.description}"'] if test.description else []
    lines += ["{", *(f"{column.declarations};" for column in columns if column.declarations), *declared, "}"]
    lines += [f" {' | '.join(row)} ;" for row in rows]
    places = tuple([thread.place for thread in test.threads])
    lines += [_scope_tree(places, has_clusters(test.threads)), *regions]
    return "\n".join([*lines, _condition(test.condition, tuple(column.registers for column in columns))])


@dataclass(frozen=True, slots=True)
class _Column:
    """A thread as it is printed: what it declares, its cells, all of one width, and what its registers are called."""

    declarations: str
    cells: tuple[str, ...]
    blank: str
    registers: tuple[tuple[str, str], ...]


@lru_cache(maxsize=_SHARED)
def _column(thread: Thread, index: int, observed: tuple[str, ...], memory: bool, numbered: bool) -> _Column:
    """Thread ``index``, where the condition asks for some registers; with its number in its labels, if they need it."""
    writer = _Writer(thread, index, observed, memory, numbered)
    cells = [f"T{index}", *writer.cells()]
    width = max(map(len, cells))
    registers = tuple((name, writer.register(name)) for name in observed)
    return _Column(writer.declarations(), tuple(cell.ljust(width) for cell in cells), " " * width, registers)


@lru_cache(maxsize=_SHARED)
def _declared(locations: tuple[Location, ...]) -> tuple[list[str], list[str], bool]:
    """The lines, none or one each, that give locations their values and regions, and whether one holds an address.

    Raises ``InputError`` where the dialect has no such location.
    """
    for location in locations:
        if location.alias or not _NAME.fullmatch(location.name):
            what = "aliases" if location.alias else "locations of that name"
            raise InputError(f"{location.name}: GPU_PTX has no {what}")
    for location in locations:
        if isinstance(location.initial, int) and location.initial.bit_length() > 32:
            raise InputError(f"{location.name}: GPU_PTX has no mbarrier that is initialised before the test begins")
    values = "; ".join(
        f"{location.name}={_constant(location.initial)}" for location in locations if location.initial != 0
    )
    regions = ", ".join(f"{location.name}: {location.region}" for location in locations)
    addresses = any(isinstance(location.initial, Loc) for location in locations)
    return [f"{values};"] if values else [], [regions] if regions else [], addresses


@lru_cache(maxsize=_SHARED)
def _traits(thread: Thread, memory: bool) -> tuple[tuple[str, ...], bool]:
    """The labels of a thread, and whether memory holds 64 bits, as it does where an address may be stored."""
    return tuple(ins.name for ins in thread.instructions if isinstance(ins, Label)), _Wide(thread, memory).memory


@lru_cache(maxsize=_SHARED)
def _scope_tree(places: tuple[Place, ...], clusters: bool) -> str:
    levels = {Scope.QUEUE: "cluster" if clusters else "grid", Scope.CTA: "cta", Scope.WARP: "warp"}
    if any(place.gpu != places[0].gpu for place in places):
        levels[Scope.GPU] = "gpu"
    return f"ScopeTree{print_groups(places, levels, 'T')}"


@lru_cache(maxsize=_SHARED)
def _condition(condition: Condition, registers: tuple[tuple[tuple[str, str], ...], ...]) -> str:
    names = {FinalRegister(thread, name): new for thread, pairs in enumerate(registers) for name, new in pairs}

    def spelled(term: Term) -> str:
        return f"{term.thread}:{names[term]}" if isinstance(term, FinalRegister) else spell(term)

    return print_condition(condition, spelled, "=")


def _constant(value: Operand) -> str:
    return str(value) if isinstance(value, int) else value.name


class _Wide:
    """Which registers of a thread hold 64 bits, as one that may hold an address does, and whether memory does.

    Where memory does, every register does that is loaded or stored; what is computed from a wide operand is wide, and
    so is a register that an access takes its address from.
    """

    def __init__(self, thread: Thread, memory: bool) -> None:
        self.memory = memory
        self._registers = {name for name, value in thread.registers if isinstance(value, Loc)}
        before = None
        while before != (before := (self.memory, len(self._registers))):
            for ins in thread.instructions:
                self._note(ins)

    def __contains__(self, operand: Operand) -> bool:
        return isinstance(operand, Loc) or (isinstance(operand, Reg) and operand.name in self._registers)

    def _note(self, ins: Instruction) -> None:
        match ins:
            case Assign() if ins.operation not in COMPARISONS and any(value in self for value in ins.operands):
                self._registers.add(ins.target)
            case AsyncOperation() | Load() | Store() | Rmw() if is_asynchronous(ins):
                # An mbarrier has 64 bits, and so has what an arrival tells of it.
                results = [ins.target] if isinstance(ins, Rmw) and ins.target else []
                self._registers |= {
                    *results,
                    *(address.name for address in addresses_of(ins) if isinstance(address, Reg)),
                }
            case Load() | Store() | Rmw():
                moved = [*operands_of(ins)[1:], *map(Reg, registers_written(ins))]
                self.memory |= any(value in self for value in moved)
                held = [ins.address, *moved] if self.memory else [ins.address]
                self._registers |= {value.name for value in held if isinstance(value, Reg)}


class _Writer:
    """Prints one thread as a column of GPU_PTX instructions."""

    def __init__(self, thread: Thread, index: int, observed: Collection[str], memory: bool, numbered: bool) -> None:
        self._wide = _Wide(thread, memory)
        predicates = _predicates(thread, observed)
        guards = [(ins, ins.guard) for ins in thread.instructions if not isinstance(ins, Label) and ins.guard]
        if any(guard.register not in predicates or _conditional(ins) for ins, guard in guards):
            thread = unguarded(thread)
            predicates = _predicates(thread, observed)
        self._prefix = f"L{index}_" if numbered else ""
        self._index = index
        self._thread = thread
        names = sorted(thread.names.union(observed))
        taken = {name for name in names if _NAME.fullmatch(name)}
        self._predicates = predicates
        self._fresh = (name for number in count() if (name := f"r{number}") not in taken)
        self._fresh_predicates = (name for number in count() if (name := f"p{number}") not in taken)
        self._names = {name: name if name in taken else next(self._fresh) for name in names}
        self._declared = {
            self._names[name]: ".pred" if name in predicates else _bits(Reg(name) in self._wide) for name in names
        }
        self._initial: dict[str, Operand] = {self._names[name]: value for name, value in thread.registers}
        self._addresses: dict[str, str] = {}
        self._constants: dict[int, str] = {}
        self._lines: list[str] = []

    def register(self, name: str) -> str:
        """Return the name under which a register is printed."""
        return self._names[name]

    def declarations(self) -> str:
        """The registers with their types and initial values, once ``cells`` has been called; the predicates last."""
        lines = []
        for name in sorted(self._declared, key=lambda name: (self._declared[name] == ".pred", len(name), name)):
            value = f" = {_constant(self._initial[name])}" if name in self._initial else ""
            lines.append(f"{self._index}:.reg {self._declared[name]} {name}{value}")
        return "; ".join(lines)

    def cells(self) -> list[str]:
        """Return the instructions as they are printed, one cell each."""
        for ins in self._thread.instructions:
            self._instruction(ins, partial(cannot_say, self._index, ins))
        moves = [f"mov{_bits(self._wide.memory)} {name},{value}" for value, name in self._constants.items()]
        return moves + self._lines

    def value(self, operand: Operand) -> str:
        """Return an operand of an asynchronous instruction."""
        return self._value(operand, False)

    def _instruction(self, ins: Instruction, refuse: Callable[[str], InputError]) -> None:
        if is_extended(ins):
            self._asynchronous(ins, refuse)
            return
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
            case GroupOperation():
                self._together(ins, refuse)
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

    def _asynchronous(self, ins: Instruction, refuse: Callable[[str], InputError]) -> None:
        def address(*operands: Operand) -> str:
            return f"[{','.join(self._address(one, refuse)[1:-1] for one in operands)}]"

        target = None
        if isinstance(ins, Load) and ins.target not in self._predicates:  # whether a wait succeeds is a predicate
            target, ins = self._names[ins.target], replace(ins, target=self._declare(".pred"))
            self._names[ins.target] = ins.target
        words, _, operands = write_asynchronous(ins, self, address, refuse).partition(" ")
        self._add(ins, f"{words}{_async_type(ins)} {operands.replace(', ', ',')}".rstrip())
        if isinstance(ins, Load) and target is not None:
            self._add(ins, f"selp.s32 {target},1,0,{ins.target}")

    def _rmw(self, ins: Rmw, refuse: Callable[[str], InputError]) -> None:
        if ins.operation not in OPERATIONS:
            raise refuse(f"PTX has no atomic {ins.operation}")
        if ins.failure is not None:
            raise refuse("PTX has one order for an exchange, whether or not it fails")
        wide = self._wide.memory
        bits = {"add": ".u64" if wide else ".s32", "min": _signed(wide), "max": _signed(wide)}
        suffix = "" if ins.mode == DEFAULT_RMW else mode_words(ins.mode, ATOM, refuse)
        suffix += f".{ins.operation}{bits.get(ins.operation, '.b64' if wide else '.b32')}"
        reduces = ins.target is None and ins.operation in REDUCTIONS and ins.mode.order in RED_ORDERS
        name = "red" if reduces else "atom"
        target = [] if reduces else ["_" if ins.target is None else self._names[ins.target]]
        values = [self._value(value, wide) for value in ins.operands]
        self._add(ins, f"{name}{suffix} {','.join([*target, self._address(ins.address, refuse), *values])}")

    def _barrier(self, ins: Barrier, refuse: Callable[[str], InputError]) -> None:
        if ins.mode != Mode() or ins.scope is not Scope.CTA or (ins.arrive and ins.quorum is None):
            raise refuse("PTX has bar.sync with a barrier and bar.arrive with a barrier and a number of threads")
        values = [self._value(value, False) for value in (ins.name, ins.quorum) if value is not None]
        self._add(ins, f"bar.{'arrive' if ins.arrive else 'sync'} {','.join(values)}")

    def _together(self, ins: GroupOperation, refuse: Callable[[str], InputError]) -> None:
        if ins.mask is None and ins.operation in ("elect", "barrier"):
            raise refuse("PTX has elect.sync and bar.warp.sync, with a mask of the lanes")
        sync = "" if ins.mask is None else ".sync"
        values = [self._value(value, False) for value in ins.operands]
        mask = [] if ins.mask is None else [self._value(ins.mask, False)]
        if ins.target is None:
            self._add(ins, f"bar.warp.sync {mask[0]}")
            return
        target = self._names[ins.target]
        if ins.operation == "shuffle":
            self._add(ins, f"shfl{sync}.idx.b32 {','.join([target, *values, '31', *mask])}")
            return
        if ins.operands:
            voted = self._declare(".pred")
            self._compare(Assign(voted, "ne", (*ins.operands, 0)), voted)
            values = [voted]
        if ins.operation == "ballot":
            self._add(ins, f"vote{sync}.ballot.b32 {','.join([target, *values, *mask])}")
            return
        result = self._declare(".pred")
        name = "elect.sync" if ins.operation == "elect" else f"vote{sync}.{ins.operation}.pred"
        self._add(ins, f"{name} {','.join([result, *values, *mask])}")
        self._add(ins, f"selp.s32 {target},1,0,{result}")

    def _assign(self, ins: Assign) -> None:
        target, wide = self._names[ins.target], Reg(ins.target) in self._wide
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
        """Add the instruction that compares two operands into a predicate register."""
        wide = any(value in self._wide for value in ins.operands)
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
        if wide and operand not in self._wide:
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
        """Declare a new register of a type and return its name."""
        name = next(self._fresh_predicates if kind == ".pred" else self._fresh)
        self._declared[name] = kind
        return name


def _predicates(thread: Thread, observed: Collection[str]) -> frozenset[str]:
    """The registers that only comparisons write and only guards, or branches in their stead, read."""
    compared: set[str] = set()
    others = {name for name, _ in thread.registers}.union(observed)
    for ins in thread.instructions:
        match ins:
            case Assign(target, operation) if operation in COMPARISONS:
                compared.add(target)
            case Load(target) if ins.phase is not None:
                compared.add(target)
            case (
                Load(target=str() as target)
                | Rmw(target=str() as target)
                | GroupOperation(target=str() as target)
                | Assign(target=target)
            ):
                others.add(target)
            case Branch(condition=Comparison("eq" | "ne", Reg(), 0)):
                continue
        others |= {value.name for value in operands_of(ins) if isinstance(value, Reg)}
    return frozenset(compared - others)


def _async_type(ins: Instruction) -> str:
    """The type of an asynchronous instruction: that of an mbarrier, or of what is stored or added."""
    match ins:
        case Fence() | AsyncGroup():
            return ""
        case AsyncOperation(target, source, operation=operation) if target is not None:
            return ".s32" if source is None or operation is not None else ""
        case _:
            return ".b64"


def _conditional(ins: Instruction) -> bool:
    return isinstance(ins, GroupOperation) or (isinstance(ins, Branch) and ins.condition is not None)


def _bits(wide: bool) -> str:
    return ".b64" if wide else ".s32"


def _signed(wide: bool) -> str:
    return ".s64" if wide else ".s32"
