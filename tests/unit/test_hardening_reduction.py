"""The reduction of fences, held against applications that are simulated: what they need is known."""

from random import Random

import pytest

from synth.hardening.reduction import OutOfTimeError, ProgramRun, Reduction
from synth.statistics import rate_interval, runs_without_failure


class Simulated:
    """An application that is right with all of one of ``enough``, and else fails with a chance of ``rate``."""

    def __init__(self, *enough, rate=1.0, seed=0, most=None):
        self.enough, self.rate, self.random, self.most, self.calls = enough, rate, Random(seed), most, 0

    def __call__(self, active):
        if self.calls == self.most:
            raise OutOfTimeError
        self.calls += 1
        right = any(set(needed) <= active for needed in self.enough)
        return ProgramRun(int(not right and self.random.random() < self.rate), 0.001)


def search(places, runs, stable, application):
    reduction = Reduction(places, runs, stable, application)
    return reduction, reduction.search()


@pytest.mark.parametrize("needed", [{0}, {7}, {3}, {0, 7}, {1, 2, 6}, set(range(8))])
def test_what_is_needed_is_found(needed):
    reduction, verdict = search(8, 4, 16, Simulated(needed))
    assert verdict == "hardened" and reduction.needed == needed and not reduction.restarts


def test_a_single_place():
    assert search(1, 2, 4, Simulated({0}))[0].needed == {0}


def test_one_of_several_ways_is_found():
    reduction, _ = search(6, 4, 16, Simulated({0, 5}, {2}, {3, 4}))
    assert reduction.needed in ({0, 5}, {2}, {3, 4})


@pytest.mark.parametrize("seed", range(30))
def test_flaky_applications(seed):
    """None of the result can go without a failure seen, however rare failures are, and it passed as often as asked."""
    random = Random(seed)
    places = random.randint(1, 12)
    needed = set(random.sample(range(places), random.randint(1, min(3, places))))
    reduction, verdict = search(places, 2, 60, Simulated(needed, rate=random.choice([0.2, 0.5, 0.9]), seed=seed))
    if verdict == "no failure":
        assert len(reduction.tallies[frozenset()].runs) >= 60
        return
    assert verdict == "hardened"
    tally = reduction.tallies[reduction.needed]
    assert not tally.failures and len(tally.runs) >= 60
    assert all(reduction.tallies[reduction.needed - {fence}].failures for fence in reduction.needed)


def test_flaky_applications_are_repaired_nearly_always():
    """60 runs miss a failure of every fifth run once in half a million; with two runs a step all begins anew."""
    found = [search(8, 2, 60, Simulated({2, 5}, rate=0.2, seed=seed)) for seed in range(100)]
    assert all(reduction.needed == {2, 5} for reduction, _ in found)
    assert any(reduction.restarts for reduction, _ in found)


def test_fences_that_do_not_help():
    reduction, verdict = search(4, 4, 16, Simulated({9}, rate=0.5))
    assert verdict == "broken" and reduction.needed is None and len(reduction.tallies) == 1


def test_an_application_that_needs_none():
    reduction, verdict = search(4, 4, 16, Simulated(set()))
    assert verdict == "no failure" and reduction.needed == frozenset()
    assert len(reduction.tallies[frozenset()].runs) == 16


def test_a_run_that_does_not_end_is_a_failure_and_ends_the_step():
    def application(active):
        return ProgramRun(0 if 1 in active else None, 1.0)

    reduction, _ = search(3, 8, 8, application)
    assert reduction.needed == {1}
    assert len(reduction.tallies[frozenset()].runs) == reduction.tallies[frozenset()].hung == 1


def test_without_any_fence_all_runs_of_a_step_are_made():
    reduction, _ = search(4, 8, 16, Simulated({1}))
    assert len(reduction.tallies[frozenset()].failures) == 8


def test_a_search_that_is_stopped_tells_what_it_saw():
    reduction, verdict = search(4, 4, 16, Simulated({1}, most=18))
    assert verdict == "stopped" and reduction.needed is None
    assert sum(len(tally.runs) for tally in reduction.tallies.values()) == 18


def test_runs_without_failure():
    """The least number of runs of which Wilson's interval says it."""
    for rate in (0.5, 0.1, 0.01, 0.001):
        for confidence in (0.9, 0.95, 0.999):
            runs = runs_without_failure(rate, confidence)
            assert rate_interval(0, runs, confidence)[1] <= rate + 1e-12
            assert runs == 1 or rate_interval(0, runs - 1, confidence)[1] > rate
    assert runs_without_failure(0.01) == 381
    with pytest.raises(ValueError, match="between 0 and 1"):
        runs_without_failure(0)
