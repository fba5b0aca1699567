"""Whether a proof in LRAT shows that clauses have no model.

A line ``9 -3 4 0 7 2 0`` adds clause 9, -3 or 4, and names clauses that show it, in order: suppose that all its
literals are false; then clause 7 has one literal that is not false, so that is true; and clause 2 has none left. A line
``9 d 7 0`` forgets clauses. The proof ends with the empty clause. Cruz-Filipe, Heule, Hunt, Kaufmann and
Schneider-Kamp, "Efficient Certified RAT Verification" (CADE 2017); time is linear in what the lines name.

Gap: steps by resolution asymmetric tautology, which have negative hints. No unit propagation needs them, and they would
add what the clauses alone do not imply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oracle.certificates.refusal import RefusedError


def check_proof(clauses: Sequence[Sequence[int]], proof: Iterable[str]) -> int:
    """How many clauses the proof adds, the last of them the empty one. ``clauses`` are numbered from 1.

    Raises ``RefusedError`` with the number of the first line that does not hold, or where it does not reach the empty
    clause.
    """
    known: dict[int, Sequence[int]] = dict(enumerate(clauses, 1))
    added = 0
    for number, line in enumerate(proof, 1):
        words = line.split()
        try:
            if len(words) > 1 and words[1] == "d":
                for gone in map(int, words[2:-1]):
                    known.pop(gone, None)
                continue
            name, *numbers = map(int, words)
        except ValueError:
            raise RefusedError(f"line {number} is not one of a proof") from None
        if numbers.count(0) != 2 or numbers[-1] != 0 or name in known:
            raise RefusedError(f"line {number} is not one of a proof")
        end = numbers.index(0)
        clause = numbers[:end]
        _check_step(known, clause, numbers[end + 1 : -1], number)
        known[name] = clause
        added += 1
        if not clause:
            return added
    raise RefusedError("the proof ends before the empty clause")


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
