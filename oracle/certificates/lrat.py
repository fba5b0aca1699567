"""A checker of proofs in LRAT: whether a proof shows that clauses have no model.

A line ``9 -3 4 0 7 2 0`` adds clause 9, -3 or 4, and names clauses that show it, in order: suppose that all its
literals are false; then clause 7 has one literal that is not false, so that is true; and clause 2 has none left. A line
``9 d 7 0`` forgets clauses. The proof ends with the empty clause, and nothing comes after it. Cruz-Filipe, Heule, Hunt,
Kaufmann and Schneider-Kamp, "Efficient Certified RAT Verification" (CADE 2017); time is linear in what the lines name.

Gap: steps by resolution asymmetric tautology, which have negative hints, are refused. No unit propagation needs them,
and they would add what the clauses alone do not imply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from oracle.certificates.refusal import RefusedError

_NUMBER = "[1-9][0-9]{0,11}"
_ADDS = re.compile(f"{_NUMBER} (-?{_NUMBER} )*0 ({_NUMBER} )*0")
_FORGETS = re.compile(f"{_NUMBER} d ({_NUMBER} )+0")


def check_proof(clauses: Sequence[Sequence[int]], proof: Iterable[str]) -> int:
    """Checks a proof, and gives the number of clauses that it adds, the last of them the empty one.

    ``clauses`` are numbered from 1. Raises ``RefusedError`` with the number of the first line that does not hold, or
    where the proof does not end with the empty clause.
    """
    known: dict[int, Sequence[int]] = dict(enumerate(clauses, 1))
    added, last, done = 0, len(known), False
    for number, line in enumerate(proof, 1):
        if done:
            raise RefusedError(f"line {number} comes after the empty clause")
        if _FORGETS.fullmatch(line):
            for gone in map(int, line.split()[2:-1]):
                if known.pop(gone, None) is None:
                    raise RefusedError(f"line {number} forgets clause {gone}, which is not there")
            continue
        name, *numbers = map(int, line.split()) if _ADDS.fullmatch(line) else [0]
        if name <= last:
            raise RefusedError(f"line {number} is not one of a proof")
        end = numbers.index(0)
        clause = numbers[:end]
        _check_step(known, clause, numbers[end + 1 : -1], number)
        known[name] = clause
        added, last, done = added + 1, name, not clause
    if not done:
        raise RefusedError("the proof ends before the empty clause")
    return added


def _check_step(known: dict[int, Sequence[int]], clause: Sequence[int], hints: Sequence[int], number: int) -> None:
    false = set(clause)
    for hint in hints:
        named = known.get(hint)
        if named is None:
            raise RefusedError(f"line {number} names clause {hint}, which is not there")
        left = [literal for literal in named if literal not in false]
        if not left:
            return
        if len(left) > 1:
            raise RefusedError(f"line {number} does not follow: clause {hint} leaves {len(left)} literals open")
        false.add(-left[0])
    raise RefusedError(f"line {number} does not follow: its clauses can all be true")
