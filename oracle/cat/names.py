"""The resolution of names in a .cat model, and of ``try``: its first term whose names are all known.

A name is known if a base or the prelude has it, or the model has defined it before. An unknown name may be a set or
relation of another tool's that no test here has anything of, since it belongs to instruction sets, or to a view of
instructions, that no dialect has. Then names that are defined by it are not known either, and the error comes where a
check needs one of these. herd7 reports it there as well, for it does not look at definitions before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from corpus.errors import InputError, did_you_mean
from corpus.litmus.orders import ANNOTATED
from oracle.cat import terms

_FOREIGN = {
    "a fence of Arm's": r"(DMB|DSB|dmb|dsb)(\..+)?|ISB|isb|ctrlisb",
    "a fence of Power's or MIPS's": r"I?SYNC|LWSYNC|EIEIO|i?sync|lwsync|eieio",
    "a fence of x86's": r"[MLS]FENCE|[mls]fence",
    "an annotation of RISC-V's or BPF's": r"[Ff]ence\..+|Acq|Rel|AcqRel|Sc|AQ|RL|AMO",
    "one of Arm's effects": r"L|T|Tag|Imp|Instr|CC|EXC-.*|AccessFlag|Translation|Fault.*|FAULT|TagCheck.*",
    "of Arm's virtual memory and caches": r"([DI]-)?(PTE|TTD|MMU)\w*|TLBI.*|AF|DB|HU|IF|[DI]C(\..+)?"
    r"|inv-.*|scl|same-(oa|low|tag|trans).*|aligned|.*CMODX.*",
    "of the events within an instruction": r"iico_.*|intrinsic|rf-reg|.*-reg|partial_po|same-(instr|static).*|control"
    r"|loc-.*",
    "of speculated events": r"NSPEC|NEXEC",
    "of locks": r"L[KSL]|UL|LK[RW]|LF|R[LU]|crit|critical|lo",
    "of the Linux kernel's primitives": r"ONCE|ACQUIRE|RELEASE|N?MB|NORETURN|Once|Acquire|Release|Noreturn"
    r"|[RW]?[Mm]b|Barrier|(Before|After)-.*|[Ss]?[Rr]cu.*|Sync-.*",
    "of ASL's pseudo-code": r"ASL.*",
    "of undefined behaviour": r"UB|UNDEF",
    "a function that makes sets of sets, or asks what is not known of a test": r"newSet|newRelation|bisimulation"
    r"|.*lift.*|classes.*|different-values|at-least-.*|partition|tag2.*|loc2events",
}


class ForeignError(InputError):
    """A name of another tool's, for a set or relation that is empty in every test here."""


def resolved(syntax: terms.ModelSyntax, ships: Collection[str]) -> terms.ModelSyntax:
    """The model without ``try``, and without definitions that mention foreign names and that it does not need.

    Raises ``InputError`` where a name is not known: ``ships`` are those of all models.
    """
    resolver = Resolver(ships)
    found = [resolver.statement(statement) for statement in syntax.statements]
    return replace(syntax, statements=tuple(statement for statement in found if statement is not None))


class Resolver:
    """A resolver of names, statement by statement, which keeps the names that are known by then.

    ``lost``: names whose definitions mention unknown names, each with the reason.
    """

    def __init__(self, known: Collection[str], lost: Mapping[str, ForeignError] = MappingProxyType({})) -> None:
        self.known = set(known)
        self.lost = dict(lost)

    def statement(self, statement: terms.Statement) -> terms.Statement | None:
        """The statement without ``try``; None where none of its names is known. Raises ``InputError`` where it
        mentions, outside of ``try``, a name that is not known.
        """
        match statement:
            case terms.ModelCheck(body=body):
                return replace(statement, body=self.term(body))
            case terms.Linearisation(name, events):
                made = replace(statement, events=self.term(events))
                self._define(name)
                return made
            case terms.Definition():
                definition = self._definition(statement)
                return definition if definition.bindings else None

    def term(self, term: terms.Term) -> terms.Term:
        """The term without ``try``. Raises ``InputError`` where it mentions a name that is not known."""
        term = self._without_try(term)
        for part in terms.subterms(term):
            if self._is_unknown(part):
                assert isinstance(part, terms.Name | terms.Call)
                raise self.lost.get(part.name) or _unknown(part, self.known)
        return term

    def _define(self, name: str) -> None:
        self.known.add(name)
        self.lost.pop(name, None)

    def _definition(self, definition: terms.Definition) -> terms.Definition:
        """The definition without what mentions foreign names, which is lost until it is defined anew."""
        own = [binding.name for binding in definition.bindings]
        inside = self._within(own) if definition.recursive else self
        kept: list[terms.LetBinding] = []
        lost: dict[str, ForeignError] = {}
        for binding in definition.bindings:
            around = inside._within(binding.parameters) if binding.parameters else inside
            try:
                kept.append(replace(binding, body=around.term(binding.body)))
            except ForeignError as error:
                lost[binding.name] = error
        if definition.recursive and lost:
            kept, lost = [], dict.fromkeys(own, next(iter(lost.values())))
        for name in own:
            self._define(name)
        self.known -= lost.keys()
        self.lost |= lost
        return terms.Definition(tuple(kept), definition.recursive)

    def _within(self, names: Collection[str]) -> Resolver:
        """The resolver of a body in which some names mean something of its own."""
        return Resolver({*self.known, *names}, {name: why for name, why in self.lost.items() if name not in names})

    def _without_try(self, term: terms.Term) -> terms.Term:
        match term:
            case terms.Operation("otherwise", (one, other)):
                one = self._without_try(one)
                return self._without_try(other) if any(map(self._is_unknown, terms.subterms(one))) else one
            case terms.Operation(operands=operands):
                inner = tuple(map(self._without_try, operands))
                return term if inner == operands else replace(term, operands=inner)
            case terms.Call(arguments=arguments):
                inner = tuple(map(self._without_try, arguments))
                return term if inner == arguments else replace(term, arguments=inner)
            case _:
                return term

    def _is_unknown(self, part: terms.Term) -> bool:
        if not isinstance(part, terms.Name | terms.Call) or part.name in self.known or part.name[0] == ANNOTATED:
            return False
        return not (isinstance(part, terms.Call) and (part.name == "domain" or part.name[0] == terms.HOLE))


def _unknown(part: terms.Name | terms.Call, known: Collection[str]) -> InputError:
    name = part.name
    what = next((what for what, pattern in _FOREIGN.items() if re.fullmatch(pattern, name)), "")
    if what:
        message = f"unknown name '{name}', {what}, which no test here has; 'try {name} with 0' does without it"
        return ForeignError(message, *part.position)
    hint = did_you_mean(name, sorted({*known, *({"domain"} if isinstance(part, terms.Call) else ())}))
    return InputError(f"unknown name '{name}'{hint and f'; {hint}'}", *part.position)
