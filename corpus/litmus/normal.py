"""Defines the normal form of litmus tests and its digest. They tell when two tests are equal.

Dialects differ in how they say one thing. Some have predicates and others branches, some take a location as an operand
and others a register that holds its address, some have ``!=`` in conditions and others a negation; registers and labels
are named at will. The normal form has branches, operands without detours, registers ``r0, r1, ..`` and labels
``LC0, LC1, ..`` in the order of their first mention, groups of the scope tree numbered in that order too, and
locations sorted by name. Names of locations and the order of threads are kept: renaming them is a question for tests
that were synthesised, not for texts. Equal normal forms mean equal executions; the other way holds for spellings, not
for programs that are equal by arithmetic or by the shape of their jumps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from corpus.litmus.instructions import (
    NEGATED,
    SWAPPED,
    Assign,
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
    registers_read,
    registers_written,
    sequenced,
)
from corpus.litmus.locations import Loc, Location, Operand, Reg
from corpus.litmus.orders import Mode, Place
from corpus.litmus.propositions import (
    And,
    Atom,
    Condition,
    FinalRegister,
    Not,
    Or,
    Proposition,
    Term,
    atoms_of,
    conjunction,
    disjunction,
    propositions,
)
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread, branching


def litmus_digest(test: LitmusTest) -> str:
    """Return 64 hexadecimal digits that name the test up to its spelling; its name and description do not count.

    They are those of the ``repr`` of the normal form without name and description, put together from parts that many
    tests share, and of what the ``repr`` leaves out.
    """
    plain = normal_form(test)
    locations, threads = [list(map(_digest_part, parts)) for parts in (plain.locations, plain.threads)]
    rows = f"threads={_row(threads)}, locations={_row(locations)}, condition={_repr(plain.condition)}"
    beyond = repr(plain.synchronised) if plain.synchronised else ""
    start = 0
    for part in (*locations, *threads):
        if part.beyond:
            beyond += "".join(f"{start + number}.{value}" for number, value in part.beyond)
        start += part.length
    return sha256(f"LitmusTest(name='', {rows}, description=''){beyond}".encode()).hexdigest()


_SHARED = 1 << 12
"""How much is remembered of each kind of what tests of a suite have in common: threads above all."""

_repr = lru_cache(maxsize=_SHARED)(repr)


class _DigestPart(NamedTuple):
    """A location or a thread: its ``repr``, and what it leaves out of one of its parts, as few tests have it, so that
    all others have the digests that they always had. A location is one part, a thread has its instructions.
    """

    repr: str
    length: int
    beyond: tuple[tuple[int, str], ...]


@lru_cache(maxsize=_SHARED)
def _digest_part(part: Location | Thread) -> _DigestPart:
    parts = part.instructions if isinstance(part, Thread) else (part,)
    beyond = (
        (number, f"{name}={value!r}")
        for number, ins in enumerate(parts)
        for name, default in _BEYOND_REPR.get(type(ins), ())
        if (value := getattr(ins, name)) != default
    )
    return _DigestPart(repr(part), len(parts), tuple(beyond))


def _row(parts: Sequence[_DigestPart]) -> str:
    """Return the ``repr`` of a tuple whose items are printed already."""
    return f"({parts[0].repr},)" if len(parts) == 1 else f"({', '.join([part.repr for part in parts])})"


_BEYOND_REPR: Mapping[type, tuple[tuple[str, object], ...]] = {
    kind: tuple((part.name, part.default) for part in fields(kind) if not part.repr)
    for kind in (Location, Load, Store, Rmw, Fence, Barrier)
}


def normal_form(test: LitmusTest) -> LitmusTest:
    """Return the normal form that this module describes; every spelling of a test has one normal form."""
    places = renumbered([thread.place for thread in test.threads])
    observed = observed_registers(test.condition)
    found = [
        _normal_thread(thread, observed.get(number, ()), place)
        for number, (thread, place) in enumerate(zip(test.threads, places, strict=True))
    ]
    return replace(
        test,
        threads=tuple(normal.thread for normal in found),
        locations=tuple(sorted(test.locations, key=lambda location: location.name)),
        synchronised=tuple(sorted(set(test.synchronised))),
        condition=_normal_condition(test.condition, tuple(normal.registers for normal in found)),
    )


class _Normal(NamedTuple):
    """A thread's normal form, and what registers that are asked for are called there; or the number they stand for."""

    thread: Thread
    registers: tuple[tuple[str, str | int], ...]


@lru_cache(maxsize=_SHARED)
def _normal_thread(thread: Thread, observed: tuple[str, ...], place: Place) -> _Normal:
    plain, constants = _without_constants(branching(thread, observed), observed)
    numbers = {name: value for name, value in constants.items() if isinstance(value, int)}
    renamed, registers = _renamed(_named_barriers(plain), [name for name in observed if name not in numbers])
    names: Mapping[str, str | int] = {**registers, **numbers}
    return _Normal(replace(renamed, place=place), tuple((name, names[name]) for name in observed if name in names))


@lru_cache(maxsize=_SHARED)
def _normal_condition(condition: Condition, registers: tuple[tuple[tuple[str, str | int], ...], ...]) -> Condition:
    numbers: dict[FinalRegister, Term] = {}
    names: dict[FinalRegister, Term] = {}
    for thread, pairs in enumerate(registers):
        for name, new in pairs:
            if isinstance(new, int):
                numbers[FinalRegister(thread, name)] = new
            else:
                names[FinalRegister(thread, name)] = FinalRegister(thread, new)
    plain = map_condition(condition, lambda term: _changed(term, numbers))
    return map_condition(plain, lambda term: _changed(term, names))


def _named_barriers(thread: Thread) -> Thread:
    """The thread with nothing said of barriers but what makes them meet: one that has a resource needs no number."""

    def named(ins: Instruction) -> Instruction:
        return replace(ins, number=ins.name, resource=None) if isinstance(ins, Barrier) else ins

    return replace(thread, instructions=tuple(map(named, thread.instructions)))


def without_predicates(test: LitmusTest) -> LitmusTest:
    """Return the test with branches for predicates, each thread by ``corpus.litmus.threads.branching``."""
    threads = enumerate(test.threads)
    return replace(
        test, threads=tuple(branching(thread, _observed(test.condition, index)) for index, thread in threads)
    )


def without_constants(test: LitmusTest) -> LitmusTest:
    """Return the test, and its condition, without registers that are only other names for a number or an address."""
    values: dict[FinalRegister, Term] = {}
    threads = []
    for number, thread in enumerate(test.threads):
        plain, constants = _without_constants(thread, _observed(test.condition, number))
        values |= {FinalRegister(number, name): value for name, value in constants.items() if isinstance(value, int)}
        threads.append(plain)
    condition = map_condition(test.condition, lambda term: _changed(term, values))
    return replace(test, threads=tuple(threads), condition=condition)


@lru_cache(maxsize=_SHARED)
def observed_registers(condition: Condition) -> Mapping[int, tuple[str, ...]]:
    """Return the registers of each thread that a condition mentions, in the order of their first mention."""
    observed: dict[int, dict[str, None]] = {}
    for term in terms(condition):
        if isinstance(term, FinalRegister):
            observed.setdefault(term.thread, {})[term.register] = None
    return {thread: tuple(names) for thread, names in observed.items()}


def _observed(condition: Condition, thread: int) -> tuple[str, ...]:
    return observed_registers(condition).get(thread, ())


def _changed(term: Term, values: Mapping[FinalRegister, Term]) -> Term:
    return values.get(term, term) if isinstance(term, FinalRegister) else term


def map_condition(condition: Condition, change: Callable[[Term], Term]) -> Condition:
    """Return the condition with every term replaced, its conjunctions and disjunctions flat, and few negations.

    A number that something is compared with stands on the right.
    """

    def walk(proposition: Proposition) -> Proposition:
        match proposition:
            case Atom(operation, left, right):
                return compared(operation, change(left), change(right))
            case Not(Not(body)):
                return walk(body)
            case Not(Atom("eq" | "ne" as operation, left, right)):  # lt and ge can both be false: of addresses
                return compared(NEGATED[operation], change(left), change(right))
            case Not(body):
                return Not(walk(body))
            case And(parts):
                return conjunction(map(walk, parts))
            case Or(parts):
                return disjunction(map(walk, parts))

    return Condition(
        condition.quantifier,
        walk(condition.proposition),
        None if condition.filter is None else walk(condition.filter),
        tuple(map(change, condition.observed)),
    )


def compared(operation: str, left: Term, right: Term) -> Atom:
    """Return a comparison with the number, where there is one, on the right."""
    swapped = isinstance(left, int) and not isinstance(right, int)
    return Atom(SWAPPED[operation], right, left) if swapped else Atom(operation, left, right)


def terms(condition: Condition) -> Iterator[Term]:
    """Return the terms that a condition mentions, each as often as it is mentioned."""
    for proposition in propositions(condition):
        for atom in atoms_of(proposition):
            yield from (atom.left, atom.right)
    yield from condition.observed


def _without_constants(thread: Thread, observed: Collection[str]) -> tuple[Thread, dict[str, Operand]]:
    """The thread without such registers, and what they stand for.

    They are never written, or once: by a ``mov`` that comes before every use and that no jump avoids. Where the
    condition asks for an address in a register, that register stays.
    """
    body = thread.instructions
    writes = [name for ins in body for name in registers_written(ins)]
    constants: dict[str, Operand] = dict.fromkeys(sorted(thread.names.union(observed).difference(writes)), 0)
    for name, initial in thread.registers:
        if name not in writes and (isinstance(initial, int) or name not in observed):
            constants[name] = initial
        else:
            constants.pop(name, None)
    kept: list[Instruction] = []
    used: set[str] = set()
    ahead: set[str] = set()  # labels that a branch skips to
    for ins in body:
        new = _substituted(ins, constants)
        match new:
            case Assign(target, "mov", (int() | Loc() as value,)) if (
                not ahead
                and writes.count(target) == 1
                and target not in used
                and (isinstance(value, int) or target not in observed)
            ):
                constants[target] = value
                continue
            case Branch(label) if Label(label) not in kept:
                ahead.add(label)
            case Label(name):
                ahead.discard(name)
        used |= set(registers_read(ins))
        kept.append(new)
    registers = tuple((name, value) for name, value in thread.registers if name not in constants and value != 0)
    return Thread(tuple(kept), thread.place, registers), constants


def _substituted(ins: Instruction, constants: Mapping[str, Operand]) -> Instruction:
    return map_operands(
        ins, lambda operand: constants.get(operand.name, operand) if isinstance(operand, Reg) else operand
    )


def map_operands(ins: Instruction, change: Callable[[Operand], Operand]) -> Instruction:
    """Return the instruction with every operand replaced; its target and guard stay."""
    match ins:
        case Load():
            phase = None if ins.phase is None else change(ins.phase)
            return replace(ins, address=change(ins.address), phase=phase)
        case Store():
            return replace(ins, address=change(ins.address), value=change(ins.value))
        case Rmw():
            return replace(ins, address=change(ins.address), operands=tuple(map(change, ins.operands)))
        case AsyncOperation():
            target, source, barrier = (
                operand if operand is None else change(operand) for operand in (ins.target, ins.source, ins.barrier)
            )
            value, counted = change(ins.value), change(ins.count)
            further = tuple((change(to), change(origin)) for to, origin in ins.more)
            return replace(ins, target=target, source=source, value=value, barrier=barrier, count=counted, more=further)
        case Assign():
            return replace(ins, operands=tuple(map(change, ins.operands)))
        case Barrier():
            resource, quorum = (extra if extra is None else change(extra) for extra in (ins.resource, ins.quorum))
            return replace(ins, number=change(ins.number), resource=resource, quorum=quorum)
        case GroupOperation():
            mask = None if ins.mask is None else change(ins.mask)
            return replace(ins, operands=tuple(map(change, ins.operands)), mask=mask)
        case Branch(condition=Comparison(operation, left, right)):
            return replace(ins, condition=Comparison(operation, change(left), change(right)))
        case _:
            return ins


def map_modes(test: LitmusTest, change: Callable[[Mode], Mode]) -> LitmusTest:
    """Return the test with the mode of every access, fence and barrier replaced."""

    def changed(ins: Instruction) -> Instruction:
        return replace(ins, mode=change(ins.mode)) if isinstance(ins, Load | Store | Rmw | Fence | Barrier) else ins

    threads = (replace(thread, instructions=tuple(map(changed, thread.instructions))) for thread in test.threads)
    return replace(test, threads=tuple(threads))


def _renamed(thread: Thread, observed: Iterable[str]) -> tuple[Thread, dict[str, str]]:
    """The thread with registers and labels named by first mention; registers that only ``asked`` mentions follow."""
    registers: dict[str, str] = {}
    labels: dict[str, str] = {}
    targets = {ins.label for ins in thread.instructions if isinstance(ins, Branch)}
    first: dict[str, str] = {}  # of labels at one place
    for before, ins in pairwise((None, *thread.instructions)):
        if isinstance(ins, Label):
            first[ins.name] = first[before.name] if isinstance(before, Label) else ins.name

    def register(name: str) -> str:
        return registers.setdefault(name, f"r{len(registers)}")

    def label(name: str) -> str:
        return labels.setdefault(first[name], f"LC{len(labels)}")

    body: list[Instruction] = []
    for ins in thread.instructions:
        new = map_operands(ins, lambda operand: Reg(register(operand.name)) if isinstance(operand, Reg) else operand)
        match new:
            case Label(name):
                if name in targets and Label(label(name)) not in body:
                    body.append(Label(label(name)))
                continue
            case Branch():
                new = replace(new, label=label(new.label))
            case Load() | Assign():
                new = replace(new, target=register(new.target))
            case GroupOperation(target=str(target)):
                new = replace(new, target=register(target))
            case Rmw(target=target, success=success):
                target = None if target is None else register(target)
                new = replace(new, target=target, success=None if success is None else register(success))
        body.append(new)
    initial = dict(thread.registers)
    for name in observed:
        if name in initial:
            register(name)
    named = tuple(sorted((register(name), value) for name, value in initial.items()))
    return Thread(sequenced(body), thread.place, named), registers


def renumbered(places: Iterable[Place]) -> tuple[Place, ...]:
    """Return places whose groups are numbered by their first thread, within the group around them."""
    return _renumbered(tuple(places))


@lru_cache(maxsize=_SHARED)
def _renumbered(places: tuple[Place, ...]) -> tuple[Place, ...]:
    numbers: dict[tuple[int, ...], dict[int, int]] = {}

    def new(place: Place) -> Place:
        parts = []
        for depth, group in enumerate(place):
            level = numbers.setdefault(tuple(place[:depth]), {})
            parts.append(level.setdefault(group, len(level)))
        return Place(*parts)

    return tuple(map(new, places))
