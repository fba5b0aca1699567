"""Which names a model may mention, and what becomes of ``try``: the first term where all of its names are known.

A name is known that a base or the prelude has, or that the model has defined before. One that is not may be a set or
relation of another tool's that no test here has anything of, since it belongs to instruction sets, or to a view of
instructions, that no dialect has; then the error says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from corpus.errors import InputError, did_you_mean
from corpus.litmus.test import ANNOTATED
from oracle.cat.terms import (
    Binding,
    Call,
    Check,
    Definition,
    Linearisation,
    Name,
    Operation,
    Position,
    Statement,
    Syntax,
    Term,
    subterms,
)

_FOREIGN = {
    "a fence of Arm's": r"(DMB|DSB|dmb|dsb)(\..+)?|ISB|isb|ctrlisb",
    "a fence of Power's or MIPS's": r"I?SYNC|LWSYNC|EIEIO|i?sync|lwsync|eieio",
    "a fence of x86's": r"[MLS]FENCE|[mls]fence",
    "an annotation of RISC-V's or BPF's": r"[Ff]ence\..+|Acq|Rel|AcqRel|Sc|AQ|RL|AMO",
    "one of Arm's effects": r"L|EX|T|Tag|N?Exp|Imp|Instr|B?CC|PoD|BR|AccessFlag|Translation|Fault.*|TagCheck.*",
    "of Arm's virtual memory and caches": r"([DI]-)?(PTE|TTD|MMU)\w*|TLBI.*|AF|DB|HU|[DI]C(\..+)?"
    r"|inv-.*|scl|same-.*|.*CMODX.*",
    "of the events within an instruction": r"iico_.*|intrinsic|rf-reg|[RW]reg|N?DATA|ADDR|.*-reg|partial_po|loc-.*",
    "of speculated events": r"N?SPEC|N?EXEC|SPURIOUS",
    "of locks": r"L[KSL]|UL|LK[RW]|LF|R[LU]|crit|critical|lo",
    "of the Linux kernel's primitives": r"ONCE|ACQUIRE|RELEASE|N?MB|NORETURN|Once|Acquire|Release|Noreturn"
    r"|[RW]?[Mm]b|Barrier|(Before|After)-.*|[Ss]?[Rr]cu.*|Sync-.*",
    "of ASL's pseudo-code": r"ASL.*",
    "of undefined behaviour": r"UB|UNDEF",
    "a function that makes sets of sets, or asks what is not known of a test": r"newSet|newRelation|bisimulation|.*lift"
    r"|classes.*|different-values|partition",
}


def resolved(syntax: Syntax, ships: Collection[str]) -> Syntax:
    """The model without ``try``. Raises ``InputError`` where a name is not known: ``ships`` are those of all models."""
    known = set(ships)
    statements = []
    for statement in syntax.statements:
        statements.append(_resolved(statement, known))
        if isinstance(statement, Definition):
            known |= {binding.name for binding in statement.bindings}
        elif isinstance(statement, Linearisation):
            known.add(statement.name)
    return replace(syntax, statements=tuple(statements))


def _resolved(statement: Statement, known: Collection[str]) -> Statement:
    match statement:
        case Check(body=body):
            return replace(statement, body=_checked(body, known))
        case Linearisation(events=events):
            return replace(statement, events=_checked(events, known))
        case Definition(bindings, recursive):
            inside = {*known, *(binding.name for binding in bindings)} if recursive else known
            return Definition(tuple(_bound(binding, inside) for binding in bindings), recursive)


def _bound(binding: Binding, known: Collection[str]) -> Binding:
    inside = {*known, *binding.parameters} if binding.parameters else known
    return replace(binding, body=_checked(binding.body, inside))


def _checked(term: Term, known: Collection[str]) -> Term:
    term = _without_try(term, known)
    for part in subterms(term):
        if _is_unknown(part, known):
            assert isinstance(part, Name | Call)
            raise _unknown(part.name, part.position, sorted({*known, *({"domain"} if isinstance(part, Call) else ())}))
    return term


def _without_try(term: Term, known: Collection[str]) -> Term:
    match term:
        case Operation("otherwise", (one, other)):
            one = _without_try(one, known)
            missing = any(_is_unknown(part, known) for part in subterms(one))
            return _without_try(other, known) if missing else one
        case Operation(operands=operands):
            inner = tuple(_without_try(operand, known) for operand in operands)
            return term if inner == operands else replace(term, operands=inner)
        case Call(arguments=arguments):
            inner = tuple(_without_try(argument, known) for argument in arguments)
            return term if inner == arguments else replace(term, arguments=inner)
        case _:
            return term


def _is_unknown(part: Term, known: Collection[str]) -> bool:
    if not isinstance(part, Name | Call) or part.name in known or part.name[0] == ANNOTATED:
        return False
    return not (isinstance(part, Call) and part.name == "domain")


def _unknown(name: str, position: Position, known: Sequence[str]) -> InputError:
    what = next((what for what, pattern in _FOREIGN.items() if re.fullmatch(pattern, name)), "")
    if what:
        message = f"unknown name '{name}', {what}, which no test here has; 'try {name} with 0' does without it"
        return InputError(message, *position)
    hint = did_you_mean(name, known)
    return InputError(f"unknown name '{name}'{hint and f'; {hint}'}", *position)
