"""The clauses of a certificate as text: the formula of a shape, and the groups that a unit adds, each with its reason.

A group is the clauses after a comment. It has to be what that comment stands for: the reader of a kind of certificate
derives the clauses from the meaning of variables alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from oracle.certificates.refusal import RefusedError

Clause = tuple[int, ...]


@dataclass(frozen=True)
class CertifiedFormula:
    """The formula of a shape: its clauses, and its variables named by what they mean, such as ``jump 0 1 2``."""

    variables: dict[str, int]
    clauses: list[Clause]

    @cached_property
    def names(self) -> dict[int, str]:
        """The meaning of each variable, by its number."""
        return {number: name for name, number in self.variables.items()}

    def var(self, kind: str, *words: object) -> int:
        """The number of the variable with a meaning. Raises ``RefusedError`` where the formula has none."""
        name = " ".join(map(str, (kind, *words)))
        if name not in self.variables:
            raise RefusedError(f"the formula has no variable '{name}'")
        return self.variables[name]


def formula_lines(head: str, formula: CertifiedFormula) -> Iterator[str]:
    """The lines of the file of a formula: its first line, the meanings of variables, clauses. ``read_clauses`` reads
    it."""
    yield head
    for name, number in formula.variables.items():
        yield f"c {number} {name}"
    yield from map(clause_line, formula.clauses)


def clause_line(clause: Sequence[int]) -> str:
    """The line of DIMACS that writes a clause, ended by 0."""
    return " ".join([*map(str, clause), "0"])


def read_clauses(head: str, lines: Iterable[str]) -> CertifiedFormula:
    """The formula in a file that begins with a given line. Raises ``RefusedError`` with the first line that is
    wrong."""
    variables: dict[str, int] = {}
    clauses = []
    number = 0
    for number, line in enumerate(lines, 1):
        if number == 1:
            if line != head:
                break
        elif line.startswith("c "):
            variable, _, name = line[2:].partition(" ")
            if variable != str(len(variables) + 1) or name in variables:
                raise RefusedError(f"line {number}: expected what variable {len(variables) + 1} means")
            variables[name] = len(variables) + 1
        else:
            clauses.append(_clause(line, number, len(variables)))
    else:
        if number:
            return CertifiedFormula(variables, clauses)
    raise RefusedError(f"line 1: expected {head}")


def read_groups(
    formula: CertifiedFormula, lines: Iterable[str], derive: Callable[[str, str, list[Clause]], Iterable[Clause] | None]
) -> list[Clause]:
    """The clauses that a unit adds to a formula, read from its file and checked group by group.

    ``derive`` is given the first word of a comment, the rest, and the clauses after it, and gives the clauses that the
    comment stands for; None where it does not know the word. Raises ``RefusedError`` with the line where the clauses
    differ from those, and errors of ``derive``; its ``ValueError`` means a word that it cannot read.
    """
    rest = iter(lines)
    first = next(rest, None)
    if first is None:
        raise RefusedError("the file of the unit's clauses is empty")
    own: list[Clause] = []
    for why, clauses, number in _groups(rest, len(formula.variables)):
        kind, _, word = why.partition(" ")
        try:
            expected = derive(kind, word, clauses)
            derived = None if expected is None else {frozenset(clause) for clause in expected}
        except ValueError:
            derived = None
        except RefusedError as error:
            raise RefusedError(f"line {number}: {error}") from None
        if derived is None:
            raise RefusedError(f"line {number}: expected where clauses come from, found {why}")
        if {frozenset(clause) for clause in clauses} != derived:
            raise RefusedError(f"line {number}: the clauses are not those of: {why}")
        own += clauses
    promised = f"p cnf {len(formula.variables)} {len(own) + len(formula.clauses)}"
    if first != promised:
        raise RefusedError(f"line 1: expected {promised}")
    return own


def _groups(lines: Iterator[str], variables: int) -> Iterator[tuple[str, list[Clause], int]]:
    """The clauses of a unit by the comment before them, with its line."""
    why, clauses, start = "", list[Clause](), 0
    for number, line in enumerate(lines, 2):
        if line.startswith("c "):
            if start:
                yield why, clauses, start
            why, clauses, start = line[2:], [], number
        elif not start:
            raise RefusedError(f"line {number}: expected where the clause comes from")
        else:
            clauses.append(_clause(line, number, variables))
    if start:
        yield why, clauses, start


_CLAUSE = re.compile("(-?[1-9][0-9]{0,11} )+0")


def _clause(line: str, number: int, variables: int) -> Clause:
    if not _CLAUSE.fullmatch(line):
        raise RefusedError(f"line {number}: expected a clause")
    literals = tuple(map(int, line.split()[:-1]))
    if any(abs(literal) > variables for literal in literals):
        raise RefusedError(f"line {number}: expected a clause of variables 1 to {variables}")
    return literals
