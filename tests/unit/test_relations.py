"""The relational algebra against plain sets of pairs, many candidates at once as each alone."""

from itertools import combinations, product
from random import Random

import pytest

from oracle.cat.algebra import Algebra, bits

SIZE = 5
EVENTS = range(SIZE)
EVERYTHING = set(product(EVENTS, EVENTS))
CANDIDATES = 7
ALGEBRA = bits(CANDIDATES, SIZE)


def some_relation(rng, density):
    return {pair for pair in EVERYTHING if rng.random() < density}


def some_set(rng):
    return {event for event in EVENTS if rng.random() < 0.5}


def closed(pairs):
    """The transitive closure."""
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs = pairs | more
    return pairs


def composed(left, right):
    return {(a, c) for a, b in left for d, c in right if b == d}


def relation_of(each):
    """One relation that is, in candidate ``k``, the ``k``-th of the given sets of pairs."""
    rows = [{} for _ in EVENTS]
    for number, pairs in enumerate(each):
        for one, other in pairs:
            rows[one][other] = rows[one].get(other, 0) | 1 << number
    return tuple(rows)


def set_of(each):
    return {event: mask for event in EVENTS if (mask := sum((event in one) << n for n, one in enumerate(each)))}


def pairs_in(relation, candidate):
    assert all(mask for row in relation for mask in row.values()), "what is false is missing"
    return {(one, other) for one, row in enumerate(relation) for other, mask in row.items() if mask >> candidate & 1}


def events_in(events, candidate):
    return {event for event, mask in events.items() if mask >> candidate & 1}


BINARY = {
    "union": lambda left, right: left | right,
    "intersection": lambda left, right: left & right,
    "difference": lambda left, right: left - right,
    "compose": composed,
}
UNARY = {
    "inverse": lambda pairs: {(b, a) for a, b in pairs},
    "reflexive": lambda pairs: pairs | {(a, a) for a in EVENTS},
    "closure": closed,
}


@pytest.mark.parametrize("seed", range(40))
def test_operations_on_relations(seed):
    rng = Random(seed)
    density = rng.choice((0.1, 0.2, 0.5))
    left = [some_relation(rng, density) for _ in range(CANDIDATES)]
    right = [some_relation(rng, density) for _ in range(CANDIDATES)]
    for name, expected in BINARY.items():
        found = getattr(ALGEBRA, name)(relation_of(left), relation_of(right))
        assert [pairs_in(found, k) for k in range(CANDIDATES)] == list(map(expected, left, right)), name
    bound = [some_relation(rng, density) for _ in range(CANDIDATES)]
    within = ALGEBRA.compose_within(relation_of(left), relation_of(right), relation_of(bound))
    whole = ALGEBRA.intersection(ALGEBRA.compose(relation_of(left), relation_of(right)), relation_of(bound))
    assert ALGEBRA.intersection(within, relation_of(bound)) == whole
    for name, expected in UNARY.items():
        found = getattr(ALGEBRA, name)(relation_of(left))
        assert [pairs_in(found, k) for k in range(CANDIDATES)] == list(map(expected, left)), name
    for relation, place in ((relation_of(left), 0), (ALGEBRA.inverse(relation_of(left)), 1)):
        found = ALGEBRA.domain(relation)
        assert [events_in(found, k) for k in range(CANDIDATES)] == [{pair[place] for pair in one} for one in left]


@pytest.mark.parametrize("seed", range(40))
def test_operations_on_sets(seed):
    rng = Random(seed)
    left = [some_set(rng) for _ in range(CANDIDATES)]
    right = [some_set(rng) for _ in range(CANDIDATES)]
    for name in ("union", "intersection", "difference"):
        found = getattr(ALGEBRA, f"set_{name}")(set_of(left), set_of(right))
        assert [events_in(found, k) for k in range(CANDIDATES)] == list(map(BINARY[name], left, right)), name
    found = ALGEBRA.product(set_of(left), set_of(right))
    assert [pairs_in(found, k) for k in range(CANDIDATES)] == list(map(set, map(product, left, right)))
    found = ALGEBRA.identity(set_of(left))
    assert [pairs_in(found, k) for k in range(CANDIDATES)] == [{(event, event) for event in one} for one in left]


@pytest.mark.parametrize("seed", range(40))
def test_checks(seed):
    rng = Random(seed)
    each = [some_relation(rng, 0.08) for _ in range(CANDIDATES)]
    events = [some_set(rng) if rng.random() < 0.5 else set() for _ in range(CANDIDATES)]

    def candidates(answers):
        return sum(answer << number for number, answer in enumerate(answers))

    relation = relation_of(each)
    assert ALGEBRA.is_empty(relation) == candidates(not pairs for pairs in each)
    assert ALGEBRA.is_empty(set_of(events)) == candidates(not found for found in events)
    assert ALGEBRA.is_irreflexive(relation) == candidates(all(a != b for a, b in pairs) for pairs in each)
    assert ALGEBRA.is_acyclic(relation) == candidates(all(a != b for a, b in closed(pairs)) for pairs in each)


@pytest.mark.parametrize("seed", range(20))
def test_laws(seed):
    rng = Random(seed)
    a, b, c = (relation_of([some_relation(rng, 0.2) for _ in range(CANDIDATES)]) for _ in range(3))
    o, union, both = ALGEBRA.compose, ALGEBRA.union, ALGEBRA.intersection
    universe = ALGEBRA.universe()

    def complement(relation):
        return ALGEBRA.difference(universe, relation)

    assert o(o(a, b), c) == o(a, o(b, c))
    assert o(a, union(b, c)) == union(o(a, b), o(a, c))
    assert ALGEBRA.inverse(o(a, b)) == o(ALGEBRA.inverse(b), ALGEBRA.inverse(a))
    assert complement(union(a, b)) == both(complement(a), complement(b))
    assert complement(complement(a)) == a
    closure = ALGEBRA.closure(a)
    assert closure == union(a, o(a, closure)) == ALGEBRA.closure(closure)
    assert o(ALGEBRA.identity(ALGEBRA.domain(a)), a) == a == o(a, ALGEBRA.identity(ALGEBRA.domain(ALGEBRA.inverse(a))))


def test_nothing_changes_its_operands():
    rng = Random(0)
    a, b = (relation_of([some_relation(rng, 0.3) for _ in range(CANDIDATES)]) for _ in range(2))
    before = [[dict(row) for row in relation] for relation in (a, b)]
    for name in BINARY:
        getattr(ALGEBRA, name)(a, b)
    for name in UNARY:
        getattr(ALGEBRA, name)(a)
    assert [list(relation) for relation in (a, b)] == before


def test_events_that_do_not_happen():
    """In candidate 0 event 1 does not happen: no set and no relation holds it, complements neither."""
    partial = Algebra(0b11, lambda truth: 0b11 ^ truth, (0b11, 0b10, 0b11))
    assert partial.everything() == {0: 0b11, 1: 0b10, 2: 0b11}
    assert partial.universe()[1] == {0: 0b10, 1: 0b10, 2: 0b10}
    assert partial.pairs([(0, 1), (0, 2)])[0] == {1: 0b10, 2: 0b11}
    assert partial.select([1]) == {1: 0b10}
    assert partial.reflexive(partial.empty())[1] == {1: 0b10}
    assert partial.difference(partial.universe(), partial.identity(partial.everything()))[1] == {0: 0b10, 2: 0b10}


def test_acyclic_by_hand():
    cycles = [set(zip(order, (*order[1:], order[0]), strict=True)) for order in combinations(EVENTS, 3)]
    algebra = bits(len(cycles) + 1, SIZE)
    assert algebra.is_acyclic(relation_of([*cycles, {(0, 1), (1, 2), (0, 2)}])) == 1 << len(cycles)
