"""The best purchase within a budget against all purchases."""

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.coverage import LARGEST, Offer, best_purchase

GOODS = range(5)
offers_of_goods = st.lists(st.builds(Offer, st.integers(0, 12), st.frozensets(st.sampled_from(GOODS))), max_size=7)
worths = st.fixed_dictionaries({good: st.integers(1, 9) for good in GOODS})


def best(offers, worth, budget):
    """Worth, cost and places of the best of all subsets, as the three objectives have it; and who are as good."""
    every = chain.from_iterable(combinations(range(len(offers)), size) for size in range(len(offers) + 1))

    def key(chosen):
        goods = set().union(*(offers[i].goods for i in chosen))
        cost = sum(offers[i].cost for i in chosen)
        return -sum(worth[good] for good in goods), cost

    return min(key(chosen) for chosen in every if key(chosen)[1] <= budget)


@settings(max_examples=60, deadline=None)  # the first of them loads the solver
@given(offers_of_goods, worths, st.integers(0, 40))
def test_no_purchase_is_better(offers, worth, budget):
    found = best_purchase(offers, worth, budget)
    assert (-found.worth, found.cost) == best(offers, worth, budget)
    assert found.optimal and found.bound == found.worth
    assert found.cost == sum(offers[i].cost for i in found.offers) <= budget
    assert found.worth == sum(worth[good] for good in set().union(*(offers[i].goods for i in found.offers)))
    assert list(found.offers) == sorted(set(found.offers))
    assert best_purchase(offers, worth, budget) == found


def test_of_equals_the_first_is_bought():
    offers = [Offer(3, frozenset({0})), Offer(3, frozenset({0})), Offer(2, frozenset({1})), Offer(2, frozenset({1}))]
    assert best_purchase(offers, {0: 1, 1: 1}, 5).offers == (0, 2)


def test_greed_does_not_pay():
    """The offer with the most for its cost leaves no room for the others."""
    offers = [Offer(6, frozenset({0, 1, 2})), Offer(5, frozenset({0, 1})), Offer(5, frozenset({2, 3}))]
    found = best_purchase(offers, dict.fromkeys(range(4), 1), 10)
    assert (found.offers, found.worth, found.optimal) == ((1, 2), 4, True)


def test_numbers_have_room():
    large = best_purchase(
        [Offer(10**12, frozenset({0})), Offer(10**12 + 1, frozenset({1}))], {0: 10**9, 1: 10**9}, 10**12
    )
    assert (large.offers, large.optimal) == ((0,), True)
    with pytest.raises(ValueError, match="too large"):
        best_purchase([Offer(LARGEST, frozenset({0}))], {0: 1}, 5)
