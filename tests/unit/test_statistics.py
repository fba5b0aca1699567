"""Confidence intervals of rates."""

from math import exp, inf, log, sqrt

import pytest

from synth.statistics import chance_of_some, count_interval, expected_for, rate_interval


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
