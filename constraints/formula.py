"""A formula in conjunctive normal form whose variables are named by their meaning, such as ``("reach", state)``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations

Clause = list[int]


class Formula:
    """Clauses over named variables, which are numbered from 1 in the order of their first mention."""

    def __init__(self) -> None:
        self.clauses: list[Clause] = []
        self._numbers: dict[tuple[Hashable, ...], int] = {}
        self._nameless = 0

    @property
    def variables(self) -> int:
        """The number of variables, which is the greatest number in a clause."""
        return len(self._numbers) + self._nameless

    def var(self, *name: Hashable) -> int:
        """The number of the variable with a name, which is made at its first mention."""
        return self._numbers.setdefault(name, len(self._numbers) + self._nameless + 1)

    def fresh(self) -> int:
        """The number of a new variable without a name."""
        self._nameless += 1
        return self.variables

    def names(self) -> Iterator[tuple[tuple[Hashable, ...], int]]:
        """The variables with their names, in the order of their numbers."""
        yield from self._numbers.items()

    def add(self, *literals: int) -> None:
        """Adds a clause: at least one of the literals holds."""
        self.clauses.append(list(literals))

    def implies(self, premises: Iterable[int], *conclusions: int) -> None:
        """Adds the clause that one of the conclusions holds where all premises do."""
        self.clauses.append([-literal for literal in premises] + list(conclusions))

    def define_and(self, result: int, literals: Sequence[int]) -> None:
        """Adds the clauses by which ``result`` holds exactly when all literals hold."""
        self.clauses += [[-result, literal] for literal in literals]
        self.clauses.append([*(-literal for literal in literals), result])

    def exactly_one(self, literals: Sequence[int]) -> None:
        """Requires exactly one of the literals, by a pairwise encoding, for the short lists that programs are made
        of."""
        self.add(*literals)
        for one, other in combinations(literals, 2):
            self.add(-one, -other)
