"""Defines the threads of litmus tests, says what they access, and writes their predicates as branches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from corpus.hashing import hashed_once
from corpus.litmus.instructions import (
    COMPARISONS,
    NEGATED,
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Comparison,
    Fence,
    GroupOperation,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    is_asynchronous,
    operands_of,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Loc, Operand, Reg, element_of
from corpus.litmus.orders import CLUSTER, COPIES, Place, Scope, is_atomic


@hashed_once
@dataclass(frozen=True)
class Thread:
    """A column of a test. ``registers`` are initial values other than 0, sorted by name."""

    instructions: tuple[Instruction, ...]
    place: Place
    registers: tuple[tuple[str, Operand], ...] = ()

    @cached_property
    def names(self) -> frozenset[str]:
        """Every register that the thread mentions, in its code or its initial values."""
        mentioned = {name for name, _ in self.registers}
        for instruction in self.instructions:
            mentioned |= set(registers_read(instruction))
            mentioned.update(registers_written(instruction))
        return frozenset(mentioned)

    @cached_property
    def has_operations(self) -> bool:
        """Whether the thread asks for asynchronous operations, or waits for some."""
        return any(isinstance(ins, AsyncOperation | AsyncGroup) for ins in self.instructions)

    @cached_property
    def has_group_operations(self) -> bool:
        """Whether the thread does operations together with the lanes of its subgroup."""
        return any(isinstance(ins, GroupOperation) for ins in self.instructions)

    @cached_property
    def locations(self) -> frozenset[str]:
        """Every location whose address the thread mentions."""
        values = [operand for instruction in self.instructions for operand in operands_of(instruction)]
        values += [initial for _, initial in self.registers]
        return frozenset(value.name for value in values if isinstance(value, Loc))


def has_clusters(threads: Iterable[Thread]) -> bool:
    """Decide whether anything in some threads has the scope of a cluster, as the completion of a bulk copy has, or
    threads of several CTAs use one mbarrier.
    """
    users: dict[str, tuple[int, ...]] = {}
    for thread in threads:
        for ins in thread.instructions:
            if isinstance(ins, AsyncOperation) and ins.barrier is not None and ins.group != COPIES:
                return True
            if isinstance(ins, Load | Store | Rmw | Fence | Barrier) and CLUSTER in ins.mode.tags:
                return True
        cta = thread.place[: Scope.CTA.value]
        if any(users.setdefault(name, cta) != cta for name in mbarriers_of((thread,))):
            return True
    return False


def mbarriers_of(threads: Iterable[Thread]) -> frozenset[str]:
    """Return the locations that some threads use as mbarriers, by name."""
    found: set[str] = set()
    for thread in threads:
        for ins in thread.instructions:
            where = ins.barrier if isinstance(ins, AsyncOperation) else None
            if isinstance(ins, Load | Store | Rmw) and is_asynchronous(ins):
                where = ins.address
            found |= {where.name} if isinstance(where, Loc) else set()
    return frozenset(found)


def accessed_atomically(threads: Iterable[Thread]) -> frozenset[str]:
    """Return the locations, or arrays, that an atomic accesses: by name, or by a register that is computed of it."""
    return frozenset[str]().union(*map(_accessed_atomically, threads))


@lru_cache(maxsize=1 << 10)  # the tests of a suite have threads in common
def _accessed_atomically(thread: Thread) -> frozenset[str]:
    found: set[str] = set()
    held = _held(thread)
    for ins in thread.instructions:
        if isinstance(ins, Load | Store | Rmw) and is_atomic(ins.mode):
            found |= _meant(ins.address, held)
        if isinstance(ins, AsyncOperation) and ins.barrier is not None:
            found |= _meant(ins.barrier, held)
    return frozenset(element_of(name)[0] for name in found)


def accessed(thread: Thread) -> list[tuple[int, frozenset[str] | None]]:
    """Return the accesses of a thread, each with the locations, or arrays, that it accesses by name or by a register
    that is computed of one; None where its address may come from memory.
    """
    accesses = [(place, ins) for place, ins in enumerate(thread.instructions) if isinstance(ins, Load | Store | Rmw)]
    read = {name for _, ins in accesses for name in registers_written(ins)}
    held = _held(thread, read)
    named = [(place, frozenset(element_of(name)[0] for name in _meant(ins.address, held))) for place, ins in accesses]
    return [(place, names if names and _ANYWHERE not in names else None) for place, names in named]


_ANYWHERE = ""
"""The location of an address that is read from memory."""


def _held(thread: Thread, read: Iterable[str] = ()) -> dict[str, set[str]]:
    """The locations whose addresses registers are computed of; ``read``: the registers that may hold any."""
    held = {name: {value.name} for name, value in thread.registers if isinstance(value, Loc)}
    for name in read:
        held.setdefault(name, set()).add(_ANYWHERE)
    computed = [ins for ins in thread.instructions if isinstance(ins, Assign) and ins.operation in ("mov", "add")]
    for _ in computed:  # at most so far can an address go
        for assign in computed:
            held.setdefault(assign.target, set()).update(*(_meant(operand, held) for operand in assign.operands))
    return held


def _meant(operand: Operand, held: Mapping[str, set[str]]) -> set[str]:
    if isinstance(operand, Loc):
        return {operand.name}
    return held.get(operand.name, set()) if isinstance(operand, Reg) else set()


def unguarded(thread: Thread) -> Thread:
    """Return the thread with each predicate written as a branch around its instruction, or as the condition of its
    jump.
    """
    if not any(not isinstance(ins, Label) and ins.guard for ins in thread.instructions):
        return thread
    labels = {ins.name for ins in thread.instructions if isinstance(ins, Label)}
    fresh = (name for number in range(2 * len(thread.instructions)) if (name := f"LC{number}") not in labels)
    lowered: list[Instruction] = []
    for ins in thread.instructions:
        if isinstance(ins, Label) or ins.guard is None:
            lowered.append(ins)
            continue
        holds, fails = ("eq", "ne") if ins.guard.unless else ("ne", "eq")
        predicate = Reg(ins.guard.register)
        if isinstance(ins, Branch) and ins.condition is None:
            lowered.append(Branch(ins.label, Comparison(holds, predicate, 0), checks=ins.checks))
        else:
            label = next(fresh)
            lowered += [Branch(label, Comparison(fails, predicate, 0)), replace(ins, guard=None), Label(label)]
    return replace(thread, instructions=tuple(lowered))


def branching(thread: Thread, kept: Collection[str] = ()) -> Thread:
    """Return the thread with branches instead of predicates. Where only branches ask for a comparison, they make it.

    ``kept`` are registers that must keep their value, as the condition asks for them. What is left are comparisons
    whose result is data, or whose operands change before the branch.
    """
    body = list(unguarded(thread).instructions)
    initial = {name for name, _ in thread.registers}
    for ins in [ins for ins in body if isinstance(ins, Assign) and ins.operation in COMPARISONS]:
        predicate, start = ins.target, next(place for place, other in enumerate(body) if other is ins)
        uses = [place for place, other in enumerate(body) if predicate in registers_read(other)]
        span = body[start + 1 : max(uses, default=start) + 1]
        inside = {other.name for other in span if isinstance(other, Label)}
        entered = [other for other in body[: start + 1] + body[start + 1 + len(span) :] if isinstance(other, Branch)]
        if (
            predicate not in initial.union(kept)
            and [name for other in body for name in registers_written(other)].count(predicate) == 1
            and all(place > start and _asks(body[place], predicate) for place in uses)
            and not {name for other in span for name in registers_written(other)} & set(registers_read(ins))
            and not inside & {other.label for other in entered}
        ):
            body = [_with_condition(other, ins) for other in body if other is not ins]
    return replace(thread, instructions=tuple(body))


def _asks(ins: Instruction, predicate: str) -> bool:
    match ins:
        case Branch(condition=Comparison("eq" | "ne", Reg(name), 0)):
            return name == predicate
    return False


def _with_condition(ins: Instruction, comparison: Assign) -> Instruction:
    if not (isinstance(ins, Branch) and ins.condition and _asks(ins, comparison.target)):
        return ins
    operation = comparison.operation if ins.condition.operation == "ne" else NEGATED[comparison.operation]
    return replace(ins, condition=Comparison(operation, *comparison.operands))
