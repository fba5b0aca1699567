"""Reads LLVM's tables of code sequences for AMD's GPUs, and translates litmus tests to machine code by them.

    machine gfx90a
    W.release.gpu @global -> s_waitcnt vmcnt(0) lgkmcnt(0); global_store   # Release Atomic, store atomic, agent, global
    F.acquire.gpu         -> s_waitcnt vmcnt(0) lgkmcnt(0); buffer_wbinvl1_vol

A line is a row of a table: the kind, order and scope of an instruction in the words of vocabularies, the address space,
and the sequence of machine instructions. ``|`` stands between several orders, scopes or spaces that one row is for.
After ``#`` is the section of the table that the row is from. ``-`` is an empty sequence. A row of a fence without a
space is for a fence of all, one with a space for one that has the tag amdgpu-synchronize-as of that space.

An order that makes nothing available (``amdgcn-av`` none) has the sequence of its row without write-backs, one that
makes nothing visible without invalidations; ``store-available`` and ``load-visible`` have those of monotonic atomics
(AMDGPU Memory Model; AMDGPUUsage, Memory Model, note on AV metadata).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import product

from corpus.errors import InputError
from corpus.executions.execution import OpKind
from corpus.executions.vocabulary import KIND_WORDS, Vocabulary
from corpus.laws.amdgpu import (
    ACCESSES,
    BARRIER,
    CACHE_OPERATIONS,
    GLOBAL,
    LOCAL,
    WRITE_BACKS,
    MachineInstruction,
    machine_instruction,
)
from corpus.laws.vulkan import SEMANTICS, STORAGE
from corpus.litmus.instructions import Assign, Barrier, Fence, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Loc, Region
from corpus.litmus.orders import PLAIN, Mode, Order, Scope
from corpus.litmus.test import LitmusTest

_ORDERS = {order.value: order for order in Order}
_SCOPES = {scope.label: scope for scope in Scope}
_KINDS: Mapping[str, type[Instruction]] = {
    "R": Load,
    "W": Store,
    "rmw": Rmw,
    "F": Fence,
}
_OP_KINDS = {word: kind for kind, word in KIND_WORDS.items()}
_OPCODES = {"R": "load", "W": "store", "rmw": "atomic"}
_SPOKEN = {"semsc0": GLOBAL, "global-fence": GLOBAL, "semsc1": LOCAL, "local-fence": LOCAL}
"""The address space that a tag of a fence names."""
_FENCED = {GLOBAL: "global-fence", LOCAL: "local-fence"}
"""The tag of a fence of one address space, in the words of OpenCL."""
ANY = ""
"""The space of a row for fences of all address spaces."""


@dataclass(frozen=True, slots=True, order=True)
class RowKey:
    """What a row of a table is for: a kind, an order and a scope in the words of vocabularies, and an address space."""

    kind: str
    order: str
    scope: str
    space: str

    @property
    def text(self) -> str:
        """The left side of a row for it alone, ``R.acquire.gpu @global``."""
        words = ".".join(filter(None, (self.kind, self.order if self.order != "weak" else "", self.scope)))
        return f"{words} @{self.space}" if self.space else words


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table as it is written: its sequence, the section that it is from, and its line in the file."""

    sequence: tuple[MachineInstruction, ...]
    section: str
    line: int


@dataclass(frozen=True)
class SequenceTable:
    """A table of code sequences: the machine that it is for, and its rows."""

    path: str
    machine: str
    rows: Mapping[RowKey, TableRow]


@dataclass(frozen=True, slots=True)
class MachineStep:
    """A step of a machine program: an instruction, and what it accesses, computes or meets at, if it does."""

    instruction: MachineInstruction
    does: Instruction | None = None


def read_table(text: str, path: str) -> SequenceTable:
    """Return the table that a file says. Raises ``InputError`` with line and column."""
    machine = ""
    rows: dict[RowKey, TableRow] = {}
    for number, whole in enumerate(text.splitlines(), 1):
        line, _, section = whole.partition("#")
        if not line.strip():
            continue
        left, arrow, right = line.partition("->")
        head = left.split()
        if not arrow:
            if len(head) != 2 or head[0] != "machine" or machine:
                raise InputError("expected 'machine NAME' once, or a row with '->'", path, number, 1)
            machine = head[1]
            continue
        sequence = _sequence(right, path, number, len(left) + len(arrow) + 1)
        for key in _keys(head, path, number):
            if key in rows:
                raise InputError(f"a second row for {' '.join(head)}", path, number, 1)
            _check(key, sequence, path, number)
            rows[key] = TableRow(sequence, section.strip(), number)
    if not machine:
        raise InputError("expected 'machine NAME'", path, 1, 1)
    return SequenceTable(path, machine, rows)


def _sequence(text: str, path: str, number: int, column: int) -> tuple[MachineInstruction, ...]:
    if text.strip() == "-":
        return ()
    found = []
    for part in text.split(";"):
        instruction = machine_instruction(part.split()) if part.strip() else None
        if instruction is None:
            raise InputError(f"expected a machine instruction, found '{part.strip()}'", path, number, column)
        found.append(instruction)
        column += len(part) + 1
    return tuple(found)


def _keys(head: list[str], path: str, number: int) -> list[RowKey]:
    words, spaces = (head[0], head[1:]) if head else ("", [])
    kind, *words_after = words.split(".")
    if kind not in _KINDS or len(words_after) not in (0, 2) or len(spaces) > 1:
        raise InputError("expected KIND.ORDER.SCOPE @SPACE, as W.release.gpu @global", path, number, 1)
    orders, scopes = (part.split("|") for part in words_after) if words_after else (["weak"], [""])
    named = spaces[0].removeprefix("@").split("|") if spaces else [ANY]
    for found_words, known in ((orders, [*_ORDERS]), (scopes, ["", *_SCOPES])):
        for word in found_words:
            if word not in known:
                raise InputError(f"expected one of {', '.join(filter(None, known))}, found '{word}'", path, number, 1)
    if not set(named) <= {GLOBAL, LOCAL, ANY} or (named == [ANY]) != (kind == "F" and not spaces):
        raise InputError(f"expected @{GLOBAL} or @{LOCAL} for an access", path, number, 1)
    return [RowKey(kind, *rest) for rest in product(orders, scopes, named)]


def _check(key: RowKey, sequence: tuple[MachineInstruction, ...], path: str, number: int) -> None:
    """Raise ``InputError`` where the accesses of a sequence are not the one that its row is for."""
    made = [ins.opcode for ins in sequence if ins.opcode in ACCESSES]
    wanted = [("ds_" if key.space == LOCAL else "global_") + _OPCODES[key.kind]] if key.kind in _OPCODES else []
    if made != wanted:
        raise InputError(f"expected {' '.join(wanted) or 'no access'} in the sequence, once", path, number, 1)


def translated(test: LitmusTest, table: SequenceTable) -> tuple[tuple[MachineStep, ...], ...]:
    """Return the machine program of each thread of a test. Raises ``InputError`` where a table has no row for an
    instruction, and where the machine has none.
    """
    local = local_names(test)
    return tuple(
        tuple(step for ins in thread.instructions for step in steps_of(number, ins, local, table))
        for number, thread in enumerate(test.threads)
    )


def local_names(test: LitmusTest) -> frozenset[str]:
    """Return the names of the locations in local memory."""
    return frozenset(location.name for location in test.locations if location.region is Region.SHARED)


def steps_of(number: int, ins: Instruction, local: Collection[str], table: SequenceTable) -> tuple[MachineStep, ...]:
    """Return what an instruction of a thread becomes by a table; ``local`` are the locations in local memory. Raises
    ``InputError`` where the table has no row for it, or the machine no such instruction.
    """
    return tuple(step for part in _parts(ins) for step in _steps(number, part, local, table))


def rows_used(test: LitmusTest, table: SequenceTable) -> frozenset[RowKey]:
    """Return the rows that a test is translated by. Raises ``InputError`` where an instruction has none."""
    local = local_names(test)
    parts = [(n, part) for n, ins in test.code for part in _parts(ins)]
    return frozenset(
        _row(number, part, local, table) for number, part in parts if not isinstance(part, Assign | Barrier)
    )


def row_for(kind: str, mode: Mode, space: str, table: SequenceTable) -> RowKey | None:
    """Return the row of an instruction of a kind, done in a way, in an address space; None where there is none.

    A fence that speaks for one space alone has the row of that space, be ``space`` what it may.
    """
    return _found(_wanted(kind, mode, space), table)


def row_key(number: int, ins: Instruction, local: Collection[str]) -> RowKey:
    """Return the row that an instruction of a thread is of. Raises ``InputError`` where no table has such rows."""
    kind = next((word for word, kind in _KINDS.items() if isinstance(ins, kind)), None)
    if kind is None or not isinstance(ins, Load | Store | Rmw | Fence):
        raise InputError(f"P{number}: the tables of code sequences have no {type(ins).__name__}")
    space = ANY if isinstance(ins, Fence) else _space(number, ins, local)
    return _wanted(kind, ins.mode, space)


def words_of(table: SequenceTable, local: bool = True) -> Vocabulary:
    """Return the vocabulary of programs whose instructions have rows, with threads of a wavefront, of a work-group, of
    an agent and apart; ``local``: and with locations in local memory, if that has rows.

    An access has a word where it has a row in some address space. ``bar`` is a barrier with fences of its work-group
    on either side, where these have rows. Raises ``InputError`` where there is no row for a write.
    """
    modes: dict[OpKind, dict[Mode, None]] = {}
    for key in sorted(table.rows, key=lambda key: (key.space != ANY, table.rows[key].line)):
        kind = _OP_KINDS[key.kind]
        tags = (_FENCED[key.space],) if kind is OpKind.FENCE and key.space != ANY else ()
        mode = Mode(_ORDERS[key.order], _SCOPES.get(key.scope), tags=tags)
        if kind is OpKind.FENCE or local or key.space != LOCAL:
            modes.setdefault(kind, {})[mode] = None
    around = (Mode(order, Scope.CTA) for order in (Order.RELEASE, Order.ACQUIRE))
    if all(mode in modes.get(OpKind.FENCE, {}) for mode in around):
        modes[OpKind.BARRIER] = {PLAIN: None}
    if OpKind.WRITE not in modes:
        raise InputError("without W, nothing happens that a model could forbid", table.path, 1, 1)
    local = local and any(key.space == LOCAL and key.kind != "F" for key in table.rows)
    regions = (Region.GLOBAL, Region.SHARED) if local else (Region.GLOBAL,)
    levels = (Scope.GPU, Scope.CTA, Scope.WARP)
    known = {kind: tuple(modes[kind]) for kind in OpKind if kind in modes}
    return Vocabulary("its rows", known, levels, regions, dependencies=(), unmade=())


def _wanted(kind: str, mode: Mode, space: str) -> RowKey:
    order = mode.order
    if order is Order.WEAK and not {"av", "vis"}.isdisjoint(mode.tags):
        order = Order.RELAXED
    spoken = {_SPOKEN[tag] for tag in mode.tags if tag in _SPOKEN}
    if kind == "F" and len(spoken) == 1:
        (space,) = spoken
    scope = mode.scope.label if mode.scope is not None and order is not Order.WEAK else ""
    return RowKey(kind, order.value, scope, space)


def _parts(ins: Instruction) -> list[Instruction]:
    """An instruction, and the fences that a barrier comes with, before and after it."""
    if not isinstance(ins, Barrier):
        return [ins]
    around = [Fence(Mode(order, Scope.CTA, tags=ins.mode.tags)) for order in _around(ins)]
    return [*around[:1], ins, *around[1:]]


def _found(key: RowKey, table: SequenceTable) -> RowKey | None:
    return next((row for row in (key, replace(key, space=ANY)) if row in table.rows), None)


def _row(number: int, ins: Instruction, local: Collection[str], table: SequenceTable) -> RowKey:
    key = row_key(number, ins, local)
    found = _found(key, table)
    if found is None:
        words = f"{key.kind}.{key.order}.{key.scope or '-'}"
        raise InputError(f"{table.path}: no row for {words} of {key.space or 'all spaces'} memory")
    return found


def _steps(number: int, ins: Instruction, local: Collection[str], table: SequenceTable) -> list[MachineStep]:
    if isinstance(ins, Assign):
        return [MachineStep(MachineInstruction("v_mov"), ins)]
    if isinstance(ins, Barrier):
        return [MachineStep(MachineInstruction(BARRIER), ins)]
    key = _row(number, ins, local, table)
    kept = table.rows[key].sequence
    tags = ins.mode.tags if isinstance(ins, Load | Store | Rmw | Fence) else ()
    if not set(tags).isdisjoint({*STORAGE, *SEMANTICS}) and key.order not in ("weak", "relaxed"):
        if "semav" not in tags:
            kept = tuple(step for step in kept if step.opcode not in WRITE_BACKS)
        if "semvis" not in tags:
            kept = tuple(step for step in kept if step.opcode not in CACHE_OPERATIONS or step.opcode in WRITE_BACKS)
    return [MachineStep(step, ins if step.opcode in ACCESSES else None) for step in kept]


def _around(ins: Barrier) -> tuple[Order, ...]:
    """The orders of the fences before and after a barrier: a barrier that names no scope comes with both."""
    named = ins.mode.order is not Order.WEAK
    return (Order.RELEASE, Order.ACQUIRE) if named or ins.mode.scope is None else ()


def _space(number: int, ins: Load | Store | Rmw, local: Collection[str]) -> str:
    if not isinstance(ins.address, Loc):
        raise InputError(f"P{number}: an address in a register may be of either address space")
    return LOCAL if "sc1" in ins.mode.tags or ins.address.name in local else GLOBAL
