"""The statistics of rates seen on devices: confidence intervals, and comparisons.

A rate may be a number of events in a number of runs: iterations that hung, or instances with the outcome that is asked
about. Its confidence interval is Wilson's score interval (Wilson 1927), from SciPy, which is within 0 and 1 and also
bounds rates of events that were never seen: 0 of a million is up to 4e-6.

A rate may also be a number of events in a time. The events are then taken as a Poisson process: where n events are
expected in a period, the chance to see any is 1 - e^-n (Levine et al. 2023, section 4.2, *reproducibility*), and the
interval of n is the exact one (Garwood 1936), from SciPy.

Assumption: runs are independent and alike. Instances of one launch are not quite, so an interval understates the
uncertainty; where a trial ends at its first hang, the number of runs was not fixed beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, expm1, inf, log1p

CONFIDENCE = 0.95


@lru_cache(maxsize=1 << 16)  # most tests of a campaign have no events in equally many runs
def rate_interval(seen: int, runs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the ends of the rate's confidence interval, where ``seen`` of ``runs`` were observed.

    Raises ``ValueError`` unless 0 <= seen <= runs, and 1 <= runs.
    """
    from scipy.stats import binomtest  # slow to import

    interval = binomtest(seen, runs).proportion_ci(confidence, method="wilson")
    return max(0.0, float(interval.low)), min(1.0, float(interval.high))


def runs_without_failure(rate: float, confidence: float = CONFIDENCE) -> int:
    """Return the number of runs without a failure that show that no more than ``rate`` of runs fail.

    They show it with that ``confidence``. Raises ``ValueError`` unless 0 < rate < 1 and 0 < confidence < 1.
    """
    if not (0 < rate < 1 and 0 < confidence < 1):
        raise ValueError(f"expected a rate and a confidence between 0 and 1, found {rate}, {confidence}")
    from scipy.stats import norm  # slow to import

    square = float(norm.ppf((1 + confidence) / 2)) ** 2  # Wilson's upper end for 0 of n is z^2 / (n + z^2)
    return max(1, ceil(square * (1 - rate) / rate))


@lru_cache(maxsize=1 << 16)
def count_interval(seen: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the ends of the confidence interval of an expected number, where ``seen`` were seen."""
    from scipy.special import gammaincinv  # slow to import

    tail = (1 - confidence) / 2
    return float(gammaincinv(seen, tail)) if seen else 0.0, float(gammaincinv(seen + 1, 1 - tail))


def chance_of_some(expected: float) -> float:
    """Return the chance to see at least one where so many are expected."""
    return -expm1(-expected)


def expected_for(chance: float) -> float:
    """Return the number to expect for that chance to see at least one: 3.0 for 95 %, 11.5 for 99.999 %."""
    return -log1p(-chance) if chance < 1 else inf


@lru_cache(maxsize=1 << 16)  # most comparisons of a campaign have equal counts
def rates_equal(seen: int, runs: int, other_seen: int, other_runs: int) -> float:
    """Return the chance of a difference at least as large as that of two rates, if the rates were equal.

    The test is chi-square with Yates' correction where every count is expected to be 5 or more, else Fisher's exact
    test. Raises ``ValueError`` unless 0 <= seen <= runs and 1 <= runs, of both.
    """
    if not (0 <= seen <= runs and 0 <= other_seen <= other_runs and runs and other_runs):
        raise ValueError(f"no rates: {seen} of {runs}, {other_seen} of {other_runs}")
    from scipy.stats import chi2_contingency, fisher_exact  # slow to import

    table = [[seen, runs - seen], [other_seen, other_runs - other_seen]]
    every = runs + other_runs
    least = min(seen + other_seen, every - seen - other_seen) * min(runs, other_runs) / every
    return float((chi2_contingency if least >= 5 else fisher_exact)(table)[1])


def chances_corrected(chances: Sequence[float]) -> list[float]:
    """Correct the chances of several comparisons for their number: at a threshold, that share of findings is false.

    The correction is that of Benjamini and Hochberg 1995, from SciPy.
    """
    if not chances:
        return []
    from scipy.stats import false_discovery_control  # slow to import

    return [float(chance) for chance in false_discovery_control(chances)]
