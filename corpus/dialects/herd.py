r"""States what herd7 requires of every litmus file besides its language. It restricts names, reserves words and fixes
the form of conditions.

- A test's name is of ``[A-Za-z0-9_/.+:\[\]-]``; what follows on the line is no part of it, so that ``MP@01`` and
  ``MP@10`` are both ``MP``, and of files with one name herd7 runs the first (``lib/splitter.mll``, ``testname``).
- The words that end the code wherever they stand, and those of initial states and conditions, name nothing
  (``lib/splitter.mll``, ``inside_prog``; ``lib/stateLexer.mll``).
- A condition compares by ``=`` and ``!=``, with a location or register on the left. A value on the right that is a
  name is an address; the value of a location is ``[y]``, which only ``=`` compares with (``lib/stateParser.mly``,
  ``atom_prop``). The same goes for initial values: ``x=y``, and no ``&`` (``atom_init``).

Source: herdtools7 as of 2026.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

from corpus.errors import InputError
from corpus.litmus.condition import print_condition, spell
from corpus.litmus.locations import Loc
from corpus.litmus.normal import compared
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

_WORDS = (
    "final forall exists cases observed Observed locations filter with and not true false "
    "NOP nop pac pacda pacdb pacia pacib fault Fault tag TAG attrs Attrs oa PTE TTD PA parel1_t PAREL1_T SS SSCap"
)
WORDS = frozenset(_WORDS.split())
"""Words that are no names of locations, registers or labels."""


_NO_NAME = re.compile(r"[^A-Za-z0-9_.+-]")


def herd_name(name: str) -> str:
    """Return the name with each character that herd7 would end it at spelled out: ``MP@01`` is ``MP+at-01``. Other
    characters become ``_``.
    """
    return _NO_NAME.sub("_", name.replace("@", "+at-"))


def herd_condition(condition: Condition, known: Callable[[Term], Term] = lambda term: term) -> Condition:
    """Return the condition as herd7 reads it, with what is known of its terms; comparisons by size are not changed."""

    def readable(proposition: Proposition) -> Proposition:
        match proposition:
            case Not(body):
                return Not(readable(body))
            case And(parts):
                return conjunction(map(readable, parts))
            case Or(parts):
                return disjunction(map(readable, parts))
            case Atom(operation, left, right):
                return _atom(operation, known(left), known(right))

    return replace(
        condition,
        proposition=readable(condition.proposition),
        filter=None if condition.filter is None else readable(condition.filter),
    )


def herd_text(
    test: LitmusTest,
    language: str,
    state: Iterable[str],
    columns: Sequence[Sequence[str]],
    register: Callable[[FinalRegister], str],
    more: Sequence[str] = (),
) -> str:
    """Return the text of a litmus file: its name and description, the lines of its initial state, a column of
    instructions for each thread, further lines, and the condition, whose registers are called what ``register`` says.
    """

    def spelled(term: Term) -> str:
        return f"{term.thread}:{register(term)}" if isinstance(term, FinalRegister) else spell(term)

    cells = [[f"P{number}", *column] for number, column in enumerate(columns)]
    widths = [max(map(len, column)) for column in cells]
    lines = [f"{language} {test.name}"]
    lines += [f'"{test.description}"'] if test.description else []
    lines += ["{", *state, "}"]
    lines += [" " + " | ".join(map(str.ljust, row, widths)) + " ;" for row in zip_longest(*cells, fillvalue="")]
    return "\n".join([*lines, *more, print_condition(herd_condition(test.condition), spelled, "=")])


def check_comparisons(condition: Condition, reader: str = "herd7") -> None:
    """Raise ``InputError`` where a condition compares by size."""
    for proposition in propositions(condition):
        for atom in atoms_of(proposition):
            if atom.operation not in ("eq", "ne"):
                raise InputError(f"the condition: {reader} compares with = and != only, not with {atom.operation}")


def check_terms(test: LitmusTest) -> None:
    """Raise ``InputError`` where the condition compares two numbers; a register that a thread does not mention counts
    as the number 0.
    """

    def is_number(term: Term) -> bool:
        unknown = isinstance(term, FinalRegister) and term.register not in test.threads[term.thread].names
        return isinstance(term, int) or unknown

    for proposition in propositions(test.condition):
        for atom in atoms_of(proposition):
            if is_number(atom.left) and is_number(atom.right):
                raise InputError("the condition: herd7 compares a location or register, not two numbers")


def _atom(operation: str, left: Term, right: Term) -> Proposition:
    atom = compared(operation, left, right)
    if operation not in ("eq", "ne") or isinstance(atom.right, int):
        return atom
    value = Loc(f"[{atom.right.name}]") if isinstance(atom.right, Loc) else atom.right
    equal = Atom("eq", atom.left, value)
    return equal if operation == "eq" else Not(equal)
