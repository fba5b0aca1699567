"""A bounded search goes over rounds of units, records what is new, and plans no round after the one that is enough."""

from dataclasses import dataclass

import pytest

from corpus.journal import FoundTest
from synth.units import SearchRun, Until, Unwritten, new_tests, search_rounds, search_statistics


@dataclass(frozen=True)
class Number:
    value: int

    @property
    def name(self):
        return str(self.value)


def find(unit):
    """A unit finds its number, and half of it."""
    yield [FoundTest(str(unit.value)), FoundTest(str(unit.value // 2))]
    yield {"calls": 1}


def search(run, enough):
    """What is found until a round has found so many, the rounds that were planned, and how the last one ended."""
    found, planned, ends = [], [], {}

    def rounds():
        for size in (1, 2, 3):
            planned.append(size)
            yield size, [Number(2 * size), Number(2 * size + 1)]

    def take(unit, founds):
        new = new_tests(founds, found, run.until.tests)
        found.extend(each.program for each in new)
        return new

    for size, stopped in search_rounds(rounds(), find, take, lambda: len(found), run):
        ends[size] = stopped
        if len(found) >= enough:
            break
    return found, planned, ends


def test_a_round_is_planned_when_the_one_before_was_not_enough():
    found, planned, ends = search(SearchRun(Unwritten(), "", 1), enough=4)
    assert (sorted(found), planned, ends) == (["1", "2", "3", "4", "5"], [1, 2], {1: "", 2: ""})


def test_a_round_that_is_stopped_is_the_last():
    found, planned, ends = search(SearchRun(Unwritten(), "", 1, Until(2)), enough=9)
    assert (len(found), planned, ends) == (2, [1], {1: "stopped by --max-tests"})


def test_units_that_are_closed_are_not_searched_again():
    journal = Unwritten(closed={"2": {"calls": 7}})
    stopped, statistics = search_statistics([Number(2), Number(3)], find, SearchRun(journal, "", 1))
    assert (stopped, statistics) == ("", [(Number(2), {"calls": 7}), (Number(3), {"calls": 1})])


@pytest.mark.parametrize(("most", "new"), [(None, ["b", "c"]), (2, ["b"]), (1, []), (0, [])])
def test_only_what_is_not_known_is_new(most, new):
    founds = [FoundTest(program) for program in "abc"]
    assert [each.program for each in new_tests(founds, {"a"}, most)] == new
