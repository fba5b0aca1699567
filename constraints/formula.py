"""A CNF whose variables are keyed by meaning, such as ``("reach", state)``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations

Clause = list[int]


class Formula:
    """Clauses over named variables, numbered from 1 in the order of their first mention."""

    def __init__(self) -> None:
        self.clauses: list[Clause] = []
        self._numbers: dict[tuple[Hashable, ...], int] = {}

    @property
    def variables(self) -> int:
        """Number of variables."""
        return len(self._numbers)

    def var(self, *name: Hashable) -> int:
        """The variable of that name, made at its first mention."""
        return self._numbers.setdefault(name, len(self._numbers) + 1)

    def names(self) -> Iterator[tuple[tuple[Hashable, ...], int]]:
        """The variables with their names, in the order of their numbers."""
        yield from self._numbers.items()

    def add(self, *literals: int) -> None:
        """One clause: at least one of the literals."""
        self.clauses.append(list(literals))

    def implies(self, premises: Iterable[int], *conclusions: int) -> None:
        """Where all premises hold, so does one of the conclusions."""
        self.clauses.append([-literal for literal in premises] + list(conclusions))

    def define_and(self, result: int, literals: Sequence[int]) -> None:
        """``result`` exactly when all literals hold."""
        self.clauses += [[-result, literal] for literal in literals]
        self.clauses.append([*(-literal for literal in literals), result])

    def exactly_one(self, literals: Sequence[int]) -> None:
        """Pairwise encoding, for the short lists that programs are made of."""
        self.add(*literals)
        for one, other in combinations(literals, 2):
            self.add(-one, -other)
