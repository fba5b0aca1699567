"""When two litmus tests are the same test: their normal form, and its digest.

Dialects differ in how they say one thing. Some have predicates and others branches, some take a location as an operand
and others a register that holds its address, registers and labels are named at will. The normal form has branches,
operands without detours, registers ``r0, r1, ..`` and labels ``LC0, LC1, ..`` in the order of their first mention,
groups of the scope tree numbered likewise, and locations sorted by name. Names of locations and the order of threads
are kept: renaming them is a question for tests that were synthesised, not for texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256

from corpus.litmus import (
    And,
    Assign,
    Atom,
    Barrier,
    Branch,
    Comparison,
    Condition,
    FinalRegister,
    Instruction,
    Label,
    LitmusTest,
    Load,
    Loc,
    Not,
    Operand,
    Or,
    Place,
    Proposition,
    Reg,
    Rmw,
    Store,
    Term,
    Thread,
    reads,
    unguarded,
    written,
)


def litmus_digest(test: LitmusTest) -> str:
    """64 hexadecimal digits that name the test up to its spelling; its name and description do not count."""
    return sha256(repr(replace(normal_form(test), name="", description="")).encode()).hexdigest()


def normal_form(test: LitmusTest) -> LitmusTest:
    """The test as it is written above; the same for every spelling of it."""
    threads = []
    values: dict[FinalRegister, Term] = {}
    for number, thread in enumerate(test.threads):
        plain, constants = _without_constants(
            unguarded(thread),
            {
                atom_term.register
                for atom_term in _terms(test.condition)
                if isinstance(atom_term, FinalRegister) and atom_term.thread == number
            },
        )
        renamed, registers = _renamed(plain)
        values |= {FinalRegister(number, old): FinalRegister(number, new) for old, new in registers.items()}
        values |= {FinalRegister(number, old): value for old, value in constants.items() if isinstance(value, int)}
        threads.append(renamed)
    places = _renumbered([thread.place for thread in threads])
    return replace(
        test,
        threads=tuple(replace(thread, place=place) for thread, place in zip(threads, places, strict=True)),
        locations=tuple(sorted(test.locations, key=lambda location: location.name)),
        condition=map_condition(test.condition, lambda term: _renamed_term(term, values)),
    )


def _renamed_term(term: Term, values: Mapping[FinalRegister, Term]) -> Term:
    return values.get(term, 0) if isinstance(term, FinalRegister) else term


def map_condition(condition: Condition, change: Callable[[Term], Term]) -> Condition:
    """The condition with every term replaced."""

    def walk(proposition: Proposition) -> Proposition:
        match proposition:
            case Atom(operation, left, right):
                return Atom(operation, change(left), change(right))
            case Not(body):
                return Not(walk(body))
            case And(parts):
                return And(tuple(map(walk, parts)))
            case Or(parts):
                return Or(tuple(map(walk, parts)))

    return Condition(
        condition.quantifier,
        walk(condition.proposition),
        None if condition.filter is None else walk(condition.filter),
        tuple(map(change, condition.observed)),
    )


def _terms(condition: Condition) -> set[Term]:
    found: set[Term] = set()

    def note(term: Term) -> Term:
        found.add(term)
        return term

    map_condition(condition, note)
    return found


def _without_constants(thread: Thread, asked: set[str]) -> tuple[Thread, dict[str, Operand]]:
    """The thread without registers that are only other names for a number or an address, and what they stand for.

    Such a register is never written, or once: by a ``mov`` that comes before every use, label and branch. ``asked`` are
    registers of the condition, which speaks of numbers only.
    """
    body = thread.instructions
    writes = [written(ins) for ins in body]
    constants: dict[str, Operand] = {}
    for name, initial in thread.registers:
        if name not in writes and (isinstance(initial, int) or name not in asked):
            constants[name] = initial
    kept: list[Instruction] = []
    used: set[str] = set()
    entry = True  # before every label and branch
    for ins in body:
        entry = entry and not isinstance(ins, Label | Branch)
        match ins:
            case Assign(target, "mov", (int() | Loc() as value,)) if (
                entry
                and writes.count(target) == 1
                and target not in used
                and (isinstance(value, int) or target not in asked)
            ):
                constants[target] = value
                continue
        used |= set(reads(ins))
        kept.append(_substituted(ins, constants))
    registers = tuple((name, value) for name, value in thread.registers if name not in constants and value != 0)
    return Thread(tuple(kept), thread.place, registers), constants


def _substituted(ins: Instruction, constants: Mapping[str, Operand]) -> Instruction:
    return map_operands(
        ins, lambda operand: constants.get(operand.name, operand) if isinstance(operand, Reg) else operand
    )


def map_operands(ins: Instruction, change: Callable[[Operand], Operand]) -> Instruction:
    """The instruction with every operand replaced; its target and guard stay."""
    match ins:
        case Load():
            return replace(ins, address=change(ins.address))
        case Store():
            return replace(ins, address=change(ins.address), value=change(ins.value))
        case Rmw():
            return replace(ins, address=change(ins.address), operands=tuple(map(change, ins.operands)))
        case Assign():
            return replace(ins, operands=tuple(map(change, ins.operands)))
        case Barrier():
            return replace(ins, number=change(ins.number))
        case Branch(condition=Comparison(operation, left, right)):
            return replace(ins, condition=Comparison(operation, change(left), change(right)))
        case _:
            return ins


def _renamed(thread: Thread) -> tuple[Thread, dict[str, str]]:
    registers: dict[str, str] = {}
    labels: dict[str, str] = {}
    targets = {ins.label for ins in thread.instructions if isinstance(ins, Branch)}

    def register(name: str) -> str:
        return registers.setdefault(name, f"r{len(registers)}")

    def label(name: str) -> str:
        return labels.setdefault(name, f"LC{len(labels)}")

    body: list[Instruction] = []
    for ins in thread.instructions:
        new = map_operands(ins, lambda operand: Reg(register(operand.name)) if isinstance(operand, Reg) else operand)
        match new:
            case Label(name):
                if name in targets:
                    body.append(Label(label(name)))
                continue
            case Branch():
                new = replace(new, label=label(new.label))
            case Load() | Assign():
                new = replace(new, target=register(new.target))
            case Rmw(target=str() as target):
                new = replace(new, target=register(target))
        body.append(new)
    initial = tuple(sorted((register(name), value) for name, value in thread.registers))
    return Thread(tuple(body), thread.place, initial), registers


def _renumbered(places: list[Place]) -> list[Place]:
    """Groups numbered by their first thread, within the group around them."""
    numbers: dict[tuple[int, ...], dict[int, int]] = {}

    def new(place: Place) -> Place:
        parts = []
        for depth, group in enumerate(place):
            level = numbers.setdefault(tuple(place[:depth]), {})
            parts.append(level.setdefault(group, len(level)))
        return Place(*parts)

    return [new(place) for place in places]
