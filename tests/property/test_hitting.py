"""Least hitting sets and selections of tests against brute force over all subsets."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from constraints.hitting import least_hitting_set
from corpus.test import Test
from synth.selection import select

MODELS = ["a-weak", "a-strong", "b", "c"]
TEXTS = ["THREAD 0\n0: ;\n", "THREAD 0\n0: ;\nTHREAD 1\n0: ;\n", "THREAD 0\n0: ;\n1: ;\n"]


def best(elements, sets, times):
    """Of the smallest sets that hold enough of each set, the one whose greatest elements are least."""
    ways = (chosen for size in range(len(elements) + 1) for chosen in combinations(sorted(elements), size))
    enough = (w for w in ways if all(len(s.intersection(w)) >= min(times, len(s)) for s in sets))
    return list(min(enough, key=lambda chosen: (len(chosen), chosen[::-1])))


@given(st.lists(st.frozensets(st.integers(1, 9)), max_size=8), st.integers(1, 4))
def test_the_least_hitting_set(sets, times):
    assert least_hitting_set(sets, times) == best(frozenset().union(*sets), sets, times)
    assert least_hitting_set([sorted(s, reverse=True) for s in reversed(sets)], times) == best(
        frozenset().union(*sets), sets, times
    )


verdicts = st.dictionaries(st.sampled_from(MODELS), st.sampled_from(["TERMINATES", "MAY_HANG", "UNKNOWN"]))


@given(st.lists(st.tuples(verdicts, st.sampled_from(TEXTS)), max_size=8), st.integers(1, 3))
def test_the_fewest_tests_of_any_table_of_verdicts(table, each):
    tests = [Test(f"t{number}", "", text, said) for number, (said, text) in enumerate(table)]
    by_preference = sorted(tests, key=lambda test: (test.size, test.threads, test.name))
    separates = {
        (a, b): frozenset(
            place
            for place, test in enumerate(by_preference)
            if {test.verdicts.get(a), test.verdicts.get(b)} == {"TERMINATES", "MAY_HANG"}
        )
        for a, b in combinations(MODELS, 2)
    }
    selection = select(tests, MODELS, ("TERMINATES", "MAY_HANG"), each)
    expected = best(range(len(tests)), separates.values(), each)
    assert sorted(test.name for test in selection.tests) == sorted(by_preference[place].name for place in expected)
    assert [test.name for test in selection.tests] == sorted(test.name for test in selection.tests)
    assert selection.separable == {pair: len(places) for pair, places in separates.items()}
