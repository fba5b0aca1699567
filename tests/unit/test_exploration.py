"""The explorer of states: each in reach is found once, in order, up to a limit, and runs lead to the nearest goal."""

import pytest

from corpus.errors import InputError
from oracle.exploration import FoundStates, StateLimit, explore, explore_runs, shortest_run

TOO_MANY = InputError("too many")


def halves(number):
    return [number // 2, (number + 1) // 2]


def told(number):
    """The steps down and up."""
    return zip(("down", "up"), halves(number), strict=True)


def test_nearer_states_come_first():
    assert list(explore([5], halves)) == [5, 2, 3, 1, 0]


def test_depth_first_the_last_found_is_the_first():
    assert list(explore([5], halves, depth_first=True)) == [5, 3, 1, 0, 2]


def test_who_has_seen_enough_asks_for_no_more():
    asked = []

    def successors(number):
        asked.append(number)
        return [number + 1]

    assert next(number for number in explore([0], successors) if number == 3) == 3
    assert asked == [0, 1, 2]


@pytest.mark.parametrize("depth_first", [False, True])
def test_as_many_states_as_the_limit_are_explored_and_one_more_is_an_error(depth_first):
    assert len([*explore([5], halves, StateLimit(5, TOO_MANY), depth_first)]) == 5
    with pytest.raises(InputError, match="too many"):
        list(explore([5], halves, StateLimit(4, TOO_MANY), depth_first))
    with pytest.raises(InputError, match="too many"):
        shortest_run([5], told, lambda number: number == 0, StateLimit(3, TOO_MANY))


def test_rows_have_the_numbers_of_states_in_the_order_in_which_they_are_found():
    number_of = FoundStates([5], None)
    rows = [[number_of[after] for after in halves(number)] for number in number_of.waiting]
    assert list(number_of) == number_of.waiting == [5, 2, 3, 1, 0]
    assert rows == [[1, 2], [3, 3], [3, 1], [4, 3], [4, 4]]


def test_a_shortest_run_takes_the_first_steps_of_several():
    assert shortest_run([5], told, lambda number: number == 1) == ["down", "down"]
    assert shortest_run([6], told, lambda number: number == 0) == ["down", "down", "down"]


def test_a_start_that_is_a_goal_needs_no_step_and_what_is_not_in_reach_has_no_run():
    assert shortest_run([9, 1], told, lambda number: number == 1) == []
    assert shortest_run([5], told, lambda number: number == 7) is None


def test_runs_are_told_apart_and_one_ends_before_the_next_begins():
    def following(run):
        return [run + letter for letter in "ab"] if len(run) < 2 else []

    assert list(explore_runs([""], following)) == ["", "a", "aa", "ab", "b", "ba", "bb"]
