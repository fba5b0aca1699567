"""Mutants of .cat models: what a model says where one of its lines is wrong in one place.

Each is a slip that people make:

    axiom    an axiom is dropped
    closure  a ``?``, ``+`` or ``*`` is lost
    operand  an operand of ``|`` is lost, or what ``\\`` takes away
    test     a restriction is lost: of scope or location, ``incl &``; to a set, ``[W];`` or a side of ``W * R``; that in
             a name such as ``rfe`` or a function such as ``RW``
    link     any other operand of ``&`` or ``;`` is lost, the thing itself; what is left may make little sense

They are made from the syntax tree. A mutant may mean what its parent means, as where ``a | b`` loses a ``b`` that is
within ``a``: that is for a comparison to say. Lines that no axiom depends on have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from oracle.cat.syntax import read_cat, shipped_models
from oracle.cat.terms import (
    Call,
    Constant,
    Definition,
    FilePosition,
    ModelCheck,
    ModelSyntax,
    Name,
    Operation,
    Statement,
    Term,
)
from oracle.cat.text import model_text, term_text

WIDER = {"rfe": "rf", "rfi": "rf", "coe": "co", "coi": "co", "fre": "fr", "fri": "fr", "po-loc": "po"}
"""Names of the prelude that restrict others."""

RESTRICTIONS = {f"{one}{other}" for one in "RWM" for other in "RWM"}
"""Functions of the prelude that restrict their argument."""

TESTS = {"loc", "int", "ext", "sr", "incl", "morally-strong", "cta", "gl", "sys", "scta", "sgpu"}
"""Relations that restrict what they are intersected with, those that models define included."""

_CHAINS = ("union", "intersection", "compose")


@dataclass(frozen=True, slots=True)
class Mutant:
    """``slip`` is the sort of slip, ``label`` what is wrong where; ``text`` is the whole model as one .cat file."""

    slip: str
    label: str
    text: str


def mutants(model: str) -> list[Mutant]:
    """The mutants of a model that ships, those without an axiom first, then line by line; no two alike."""
    path = shipped_models()[model]
    found: dict[str, Mutant] = {}
    for mutant in mutants_of(read_cat(path), path):
        found.setdefault(mutant.text, mutant)
    return list(found.values())


def mutants_of(syntax: ModelSyntax, path: str) -> Iterator[Mutant]:
    """The mutants of a model that was read from ``path``."""
    statements = syntax.statements

    def mutant(slip: str, label: str, at: int, instead: Sequence[Statement]) -> Mutant:
        changed = (*statements[:at], *instead, *statements[at + 1 :])
        return Mutant(slip, label, model_text(replace(syntax, statements=changed)))

    for at, statement in enumerate(statements):
        if isinstance(statement, ModelCheck) and not statement.flag:
            yield mutant("axiom", f"axiom {statement.name} dropped", at, [])
    for at in _living(statements):
        for change, changed in _changed(statements[at], _sets(statements)):
            before, after = term_text(change.before), term_text(change.after)
            yield mutant(change.slip, f"{_where(change.before.position, path)}: {before} -> {after}", at, [changed])


@dataclass(frozen=True, slots=True)
class _Change:
    slip: str
    before: Term
    after: Term


def _where(site: FilePosition, main: str) -> str:
    """Where a term stands; the file is said only where it is an included one."""
    file = "" if site.path == main else f"{Path(site.path).parent.name}/{Path(site.path).name} "
    return f"{file}line {site.line}, column {site.column}"


def _living(statements: Sequence[Statement]) -> list[int]:
    """The statements that axioms are or depend on, by number."""
    needed: set[str] = set()
    found = []
    for at in reversed(range(len(statements))):
        statement = statements[at]
        if isinstance(statement, ModelCheck):
            if statement.flag:
                continue
            needed |= _names(statement.body)
        else:
            bound = {binding.name for binding in statement.bindings}
            if not bound & needed:
                continue
            needed -= bound
            needed |= {name for binding in statement.bindings for name in _names(binding.body)}
        found.append(at)
    return found[::-1]


def _names(term: Term) -> set[str]:
    names = {term.name} if isinstance(term, Name | Call) else set()
    return names.union(*map(_names, _parts(term)))


def _sets(statements: Sequence[Statement]) -> frozenset[str]:
    """The names that the model gives to sets of events."""
    found: frozenset[str] = frozenset()
    for statement in statements:
        if isinstance(statement, Definition):
            found |= {binding.name for binding in statement.bindings if _is_set(binding.body, found)}
    return found


def _is_set(term: Term, sets: frozenset[str]) -> bool:
    match term:
        case Name(name):
            return name.isupper() or name in sets
        case Constant(symbol):
            return symbol == "_"
        case Operation("union" | "intersection" | "difference" | "complement", operands):
            return all(_is_set(operand, sets) for operand in operands)
    return False


def _is_test(term: Term, sets: frozenset[str]) -> bool:
    """Whether a term is there to restrict what it is intersected or composed with."""
    match term:
        case Name(name) if name in TESTS:
            return True
        case Operation("identity" | "product"):
            return True
        case Operation("union" | "intersection" | "difference" | "complement", operands):
            return all(_is_test(operand, sets) for operand in operands)
    return _is_set(term, sets)


def _changed(statement: Statement, sets: frozenset[str]) -> Iterator[tuple[_Change, Statement]]:
    """A statement with one thing changed: what, and all of it."""
    if isinstance(statement, ModelCheck):
        for change, body in _variants(statement.body, sets):
            yield change, replace(statement, body=body)
        return
    for at, binding in enumerate(statement.bindings):
        for change, body in _variants(binding.body, sets):
            bindings = (*statement.bindings[:at], replace(binding, body=body), *statement.bindings[at + 1 :])
            yield change, replace(statement, bindings=bindings)


def _variants(term: Term, sets: frozenset[str]) -> Iterator[tuple[_Change, Term]]:
    """A term with one thing changed in it: what, and the whole."""
    for slip, after in _lost(term, sets):
        yield _Change(slip, term, after), after
    parts = _parts(term)
    for at, part in enumerate(parts):
        for change, changed in _variants(part, sets):
            yield change, _rebuilt(term, (*parts[:at], changed, *parts[at + 1 :]))


def _lost(term: Term, sets: frozenset[str]) -> Iterator[tuple[str, Term]]:
    """What is left of a term that loses something at its head, and which sort of slip that is."""
    parts = _parts(term)
    match term:
        case Name(name, position) if name in WIDER:
            yield "test", Name(WIDER[name], position)
        case Call(function, (argument,)) if function in RESTRICTIONS:
            yield "test", argument
        case Operation("optional" | "plus" | "star", (operand,)):
            yield "closure", operand
        case Operation("difference", (kept, _)):
            yield "operand", kept
        case Operation("product"):
            for at, part in enumerate(parts):
                if not isinstance(part, Constant):
                    yield "test", _rebuilt(term, (*parts[:at], Constant("_", part.position), *parts[at + 1 :]))
        case Operation(kind) if kind in _CHAINS:
            for at, part in enumerate(parts):
                slip = "operand" if kind == "union" else "test" if _is_test(part, sets) else "link"
                yield slip, _rebuilt(term, (*parts[:at], *parts[at + 1 :]))


def _parts(term: Term) -> tuple[Term, ...]:
    """The operands or arguments of a term, all of a chain such as ``a | b | c``."""
    match term:
        case Call(_, arguments):
            return arguments
        case Operation(kind, operands) if kind in _CHAINS:
            return tuple(
                inner
                for part in operands
                for inner in (_parts(part) if isinstance(part, Operation) and part.kind == kind else (part,))
            )
        case Operation(_, operands):
            return operands
        case _:
            return ()


def _rebuilt(term: Term, parts: tuple[Term, ...]) -> Term:
    """The term with other parts; a chain of one part is that part."""
    match term:
        case Call(function, _, position):
            return Call(function, parts, position)
        case Operation(kind, _, position) if kind in _CHAINS:
            return reduce(lambda left, right: Operation(kind, (left, right), position), parts)
        case Operation(kind, _, position):
            return Operation(kind, parts, position)
    return term
