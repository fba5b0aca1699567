"""Confidence intervals of rates."""

from math import sqrt

import pytest

from synth.statistics import rate_interval


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
