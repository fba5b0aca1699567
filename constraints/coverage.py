"""The best purchase within a budget: budgeted maximum coverage, solved exactly (Khuller, Moss and Naor, IPL 1999).

Variables: ``x_o``, offer ``o`` is bought; ``y_g``, good ``g`` is had.
Constraints: a good needs an offer that has it, ``y_g <= sum of x_o``; what is bought costs no more than the budget.
Objective: the worth of the goods that are had; then the least cost; then the least sum of the places of the offers
bought. Each objective is a mixed integer program of its own, which keeps to the optima of those before it. The solver
is HiGHS, from SciPy.

HiGHS calculates with floating-point numbers. Costs and worths are whole numbers, and the purchase that HiGHS proposes
is added up exactly here. It is *optimal* if the bound that HiGHS proved leaves no room for one more. The answer depends
on the machine only where a search is stopped by its time limit.

Assumption: sums of costs, and of worths, are less than 2^50, so that a floating-point number holds them exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

LARGEST = 1 << 50


@dataclass(frozen=True, slots=True)
class Offer:
    """Some goods that are sold together, and their cost, a whole number of 0 or more."""

    cost: int
    goods: frozenset[int]


@dataclass(frozen=True, slots=True)
class Purchase:
    """The offers that are bought, by their places, sorted; their cost, and the worth of the goods that are had.

    ``bound``: no purchase within the budget is proved to be worth more than this.
    """

    offers: tuple[int, ...]
    cost: int
    worth: int
    bound: int

    @property
    def optimal(self) -> bool:
        """Whether it is proved that no purchase within the budget is worth more."""
        return self.worth >= self.bound


def best_purchase(offers: Sequence[Offer], worth: Mapping[int, int], budget: int, time_limit: float = 60.0) -> Purchase:
    """The offers whose goods together are worth the most within a budget; of several such, the cheapest, then the
    first.

    ``worth`` has a whole number, 1 or more, for each good. Each of three searches stops after ``time_limit`` seconds.
    Raises ``ValueError`` where numbers are too large.
    """
    if sum(offer.cost for offer in offers) >= LARGEST or sum(worth.values()) >= LARGEST:
        raise ValueError("costs or worths are too large")
    places = [place for place, offer in enumerate(offers) if offer.cost <= budget and offer.goods]
    if not places:
        return Purchase((), 0, 0, 0)
    goods = sorted(frozenset[int]().union(*(offers[place].goods for place in places)))
    program = _Program([offers[place] for place in places], goods, [worth[good] for good in goods], budget)

    def bought(chosen: Collection[int]) -> tuple[int, int]:
        had = frozenset[int]().union(*(offers[places[i]].goods for i in chosen))
        return sum(offers[places[i]].cost for i in chosen), sum(worth[good] for good in had)

    chosen, bound = program.most_worth(time_limit)
    cost, value = bought(chosen)
    for search in (program.least_cost, program.first):
        better = search(value, cost, time_limit)
        if better is not None and bought(better)[0] <= cost and bought(better)[1] >= value:
            chosen = better
            cost, value = bought(chosen)
    return Purchase(tuple(sorted(places[i] for i in chosen)), cost, value, max(bound, value))


class _Program:
    """The constraints: a column for each offer, then for each good."""

    def __init__(self, offers: Sequence[Offer], goods: Sequence[int], worths: Sequence[int], budget: int) -> None:
        from scipy.sparse import lil_array  # loaded late: SciPy takes long to load

        self._offers, self._budget = offers, budget
        self._columns = len(offers) + len(goods)
        number = {good: row for row, good in enumerate(goods)}
        self._needs: Any = lil_array((len(goods), self._columns))
        for column, offer in enumerate(offers):
            for good in offer.goods:
                self._needs[number[good], column] = -1
        for row in range(len(goods)):
            self._needs[row, len(offers) + row] = 1
        self._needs = self._needs.tocsr()
        self._costs = [*(offer.cost for offer in offers), *(0 for _ in goods)]
        self._worths = [*(0 for _ in offers), *worths]

    def most_worth(self, time_limit: float) -> tuple[frozenset[int], int]:
        """A purchase that is worth the most, as far as is known, and what none is worth more than."""
        chosen, bound = self._solve([-worth for worth in self._worths], [(self._costs, 0, self._budget)], time_limit)
        return chosen or frozenset(), floor(1e-6 - bound)

    def least_cost(self, value: int, cost: int, time_limit: float) -> frozenset[int] | None:
        """A purchase that is worth so much, and costs the least."""
        rows = [(self._worths, value, sum(self._worths)), (self._costs, 0, cost)]
        return self._solve(self._costs, rows, time_limit)[0]

    def first(self, value: int, cost: int, time_limit: float) -> frozenset[int] | None:
        """A purchase that is worth so much, costs no more, and has the least sum of places."""
        rows = [(self._worths, value, sum(self._worths)), (self._costs, 0, cost)]
        places = [*range(1, len(self._offers) + 1), *(0 for _ in range(self._columns - len(self._offers)))]
        return self._solve(places, rows, time_limit)[0]

    def _solve(
        self, objective: Sequence[int], rows: Sequence[tuple[Sequence[int], int, int]], time_limit: float
    ) -> tuple[frozenset[int] | None, float]:
        """The offers of a least solution, None where none was found in time, and a bound that is proved."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        constraints = [LinearConstraint(self._needs, ub=0)]
        constraints += [LinearConstraint([list(row)], low, high) for row, low, high in rows]
        options = {"time_limit": time_limit, "mip_rel_gap": 0.0}
        found = milp(list(objective), integrality=1, bounds=Bounds(0, 1), constraints=constraints, options=options)
        bound = (
            found.mip_dual_bound if found.mip_dual_bound is not None else sum(min(0, weight) for weight in objective)
        )
        if found.x is None:
            return None, float(bound)
        return frozenset(i for i in range(len(self._offers)) if found.x[i] > 0.5), float(bound)
