"""Confidence intervals of rates."""

from math import exp, inf, log, sqrt

import pytest

from synth.statistics import (
    NO_DIFFERENCE,
    chance_of_some,
    count_interval,
    expected_for,
    mean_interval,
    paired_difference,
    rate_interval,
)


@pytest.mark.parametrize(("seen", "runs"), [(0, 1), (1, 3), (20, 20), (7, 65536), (0, 10**9), (5, 10**12)])
def test_wilsons_formula(seen: int, runs: int) -> None:
    """Against the formula of the paper, with the normal quantile of 95 %."""
    z, share = 1.959963984540054, seen / runs
    centre = (share + z * z / (2 * runs)) / (1 + z * z / runs)
    half = z / (1 + z * z / runs) * sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    low, high = rate_interval(seen, runs)
    assert low == pytest.approx(max(0.0, centre - half), abs=1e-12)
    assert high == pytest.approx(min(1.0, centre + half), rel=1e-9)
    assert 0 <= low <= share <= high <= 1


def test_more_runs_say_more() -> None:
    few, many = rate_interval(1, 10), rate_interval(1000, 10000)
    assert few[0] < many[0] and many[1] < few[1]


def test_there_must_be_runs() -> None:
    with pytest.raises(ValueError, match="not less than 1"):
        rate_interval(0, 0)


@pytest.mark.parametrize(
    ("seen", "low", "high"), [(0, 0, 3.6889), (1, 0.0253, 5.5716), (2, 0.2422, 7.2247), (10, 4.7954, 18.3904)]
)
def test_garwoods_table(seen: int, low: float, high: float) -> None:
    """The limits for 95 % of Garwood 1936."""
    assert count_interval(seen) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_the_chance_to_see_one() -> None:
    """Levine et al. take 3 weak outcomes for 95 % and 12 for 99.999 %, rounded up."""
    assert expected_for(0.95) == pytest.approx(log(20)) and expected_for(0.99999) == pytest.approx(11.5129, abs=1e-4)
    assert chance_of_some(2.5) == pytest.approx(1 - exp(-2.5))
    assert chance_of_some(0) == 0 and expected_for(0) == 0 and expected_for(1) == inf
    assert chance_of_some(expected_for(0.7)) == pytest.approx(0.7)


def test_means_of_launches() -> None:
    """Student's interval by hand: 0.2 and 0.4 have the mean 0.3, the error 0.1, and t is 12.706 at one degree."""
    assert mean_interval([0.2, 0.4]) == (0.0, 1.0)
    low, high = mean_interval([0.2, 0.4] * 8)
    assert (low, high) == (pytest.approx(0.3 - 2.1314 * 0.025820, abs=1e-5), pytest.approx(0.3550, abs=1e-4))
    assert mean_interval([0.0] * 20) == (0.0, pytest.approx(rate_interval(0, 20)[1]))
    low, high = mean_interval([0.25] * 20)
    assert low <= 0.25 <= high


def test_launches_are_compared_in_pairs() -> None:
    """Six pairs, all one way round: of 64 assignments two are as large, which is 1 in 32."""
    six = paired_difference([[(0.3, 0.1)] * 6])
    assert six.difference == pytest.approx(0.2) and six.chance == pytest.approx(1 / 32, abs=0.012)
    assert not six.is_distinguishable
    assert paired_difference([[(0.3, 0.1)] * 3, [(0.2, 0.0)] * 3]).chance == pytest.approx(1 / 32, abs=0.012)
    assert paired_difference([[(0.3, 0.1)] * 20]).is_distinguishable
    assert paired_difference([[(0.1, 0.3)] * 20]).difference < 0
    assert paired_difference([[(0.5, 0.0)] + [(0.0, 0.0)] * 99]).chance == 1.0
    assert paired_difference([[(0.1, 0.1)] * 50]).chance == 1.0
    assert paired_difference([[], []]) == NO_DIFFERENCE and not NO_DIFFERENCE.is_distinguishable
    assert six == paired_difference([[(0.3, 0.1)] * 6])
