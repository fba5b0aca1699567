r"""Parses and prints the final condition of a litmus test. It is, for example,
``filter (..) locations [..] exists (P0:r1 == 1 /\ x = 2)``.

All dialects share its grammar. ``=`` and ``==`` are one, ``1:r2`` is ``P1:r2``, ``[x]`` and ``*x`` are ``x``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from corpus.errors import InputError
from corpus.lalr import Token, Tree
from corpus.litmus.locations import Loc, element
from corpus.litmus.propositions import (
    And,
    Atom,
    Condition,
    FinalRegister,
    Not,
    Or,
    Proposition,
    Quantifier,
    Term,
    conjunction,
    disjunction,
)
from corpus.syntax import BLANKS, LARGEST_LOCATION, chain, number, parse, subtrees, wrapped

_TERMINALS = {
    "EXISTS": "exists",
    "NOT_EXISTS": "~exists",
    "FORALL": "forall",
    "FILTER": "filter",
    "LOCATIONS": "locations",
    "NOT": "not",
    "TRUE": "true",
    "FALSE": "false",
    "THREAD": "a thread",
    "NAME": "a name",
    "NUMBER": "a number",
    "RELATION": "a comparison",
}

_OPERATIONS = {"==": "eq", "=": "eq", "!=": "ne", "<>": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

Check = Callable[[Term, Token], None]
"""Raises ``InputError`` where a term names what the test does not have."""


def parse_condition(
    text: str, path: str | None, check: Check, everything: Callable[[], Sequence[Term]] = tuple
) -> Condition:
    """Return the condition that ``text`` ends with; what comes before it is blank. ``check`` is called on every name.

    Where there is none, or a filter alone, nothing is asked, ``exists (true)``, and what is observed are the terms
    ``everything``, or those that are named.
    """
    try:
        condition, asks, named = _known(text.strip(BLANKS))
        for term, token in named:
            check(term, token)
    except InputError:  # at another place
        condition, asks = _read(text, path, check)
    return condition if asks or condition.observed else replace(condition, observed=tuple(everything()))


def _read(text: str, path: str | None, check: Check) -> tuple[Condition, bool]:
    """The condition, and whether it asks something."""
    tree = parse("corpus.litmus.condition", "condition", text, path, _TERMINALS, chains=("either", "both"))
    asks = any(child.data not in ("observed", "filter") for child in subtrees(tree))
    return _Reader(path, check).condition(tree), asks


@lru_cache(maxsize=1 << 12)  # neighbours in a suite often have one condition
def _known(text: str) -> tuple[Condition, bool, Sequence[tuple[Term, Token]]]:
    """The condition, whether it asks something, and the terms that are to be checked."""
    named: list[tuple[Term, Token]] = []
    return *_read(text, None, lambda term, token: named.append((term, token))), named


class _Reader:
    def __init__(self, path: str | None, check: Check) -> None:
        self._path = path
        self._check = check

    def condition(self, tree: Tree) -> Condition:
        filters: list[Proposition] = []
        observed: list[Term] = []
        quantifier = Quantifier.EXISTS
        body: Proposition = And(())
        for part in subtrees(tree):
            if part.data == "observed":
                observed += map(self._term, subtrees(part))
            elif part.data == "filter":
                filters.append(self._proposition(subtrees(part)[0]))
            elif part.data == "negated_quantifier":
                quantifier = Quantifier.NOT_EXISTS
            elif part.data == "quantifier":
                quantifier = Quantifier(str(part.children[0]))
            else:
                body = self._proposition(part)
        return Condition(quantifier, body, conjunction(filters) if filters else None, tuple(observed))

    def _proposition(self, tree: Tree) -> Proposition:
        match tree.data:
            case "either":
                return disjunction(map(self._proposition, chain(tree)))
            case "both":
                return conjunction(map(self._proposition, chain(tree)))
            case "negated":
                return Not(self._proposition(subtrees(tree)[0]))
            case "always":
                return And(())
            case "never":
                return Or(())
        left, right = map(self._term, subtrees(tree))
        (sign,) = (child for child in tree.children if isinstance(child, Token))
        return Atom(_OPERATIONS[str(sign)], left, right)

    def _term(self, tree: Tree) -> Term:
        tokens = [child for child in tree.children if isinstance(child, Token)]
        term: Term
        match tree.data:
            case "constant":
                return wrapped(tokens[0], self._path)
            case "negative":
                return wrapped(tokens[0].with_word(f"-{tokens[0]}"), self._path)
            case "register":
                thread = tokens[0].with_word(tokens[0].lstrip("PT"))
                term = FinalRegister(number(thread, self._path, LARGEST_LOCATION), str(tokens[1]))
            case "element":
                term = Loc(element(str(tokens[0]), number(tokens[1], self._path, LARGEST_LOCATION)))
            case _:
                term = Loc(str(tokens[0]))
        self._check(term, tokens[0])
        return term


Spell = Callable[[Term], str]
"""A function that spells a term as a dialect does."""


def spell(term: Term) -> str:
    """Return a term in the spelling of most dialects: ``P1:r2`` for a register, a location by its name, a number as it
    is.
    """
    match term:
        case FinalRegister(thread, register):
            return f"P{thread}:{register}"
        case Loc(name):
            return name
        case _:
            return str(term)


def print_condition(condition: Condition, spelled: Spell = spell, equals: str = "==") -> str:
    """Return the condition with a line for each part and a newline at the end; ``parse_condition`` reads it back.

    ``equals`` is the sign of equality: herd's dialects have ``=``.
    """
    lines = []
    if condition.observed:
        lines.append(f"locations [{' '.join(spelled(term) + ';' for term in condition.observed)}]")
    if condition.filter is not None:
        lines.append(f"filter ({print_proposition(condition.filter, spelled, equals)})")
    lines.append(f"{condition.quantifier} ({print_proposition(condition.proposition, spelled, equals)})")
    return "".join(line + "\n" for line in lines)


def print_proposition(proposition: Proposition, spelled: Spell = spell, equals: str = "==") -> str:
    """Return a proposition with as few brackets as its grammar needs."""
    match proposition:
        case Atom(operation, left, right):
            sign = equals if operation == "eq" else _SIGNS[operation]
            return f"{spelled(left)} {sign} {spelled(right)}"
        case Not(body):
            return f"~({print_proposition(body, spelled, equals)})"
        case And(parts):
            return " /\\ ".join(_bracketed(part, spelled, equals, Or, And) for part in parts) or "true"
        case Or(parts):
            return " \\/ ".join(_bracketed(part, spelled, equals, Or) for part in parts) or "false"


def _bracketed(part: Proposition, spelled: Spell, equals: str, *looser: type[And] | type[Or]) -> str:
    text = print_proposition(part, spelled, equals)
    return f"({text})" if isinstance(part, looser) and part.parts else text


def unknown_term(term: Term, token: Token, path: str | None) -> InputError:
    """Return the error for a term that names nothing of the test."""
    kind = "register" if isinstance(term, FinalRegister) else "location"
    return InputError(
        f"the condition names {kind} {spell(term)}, which the test does not have", path, token.line, token.column
    )
