"""The statistics of rates seen on devices: confidence intervals, and comparisons.

A rate may be a number of events in a number of runs: iterations that hung, or instances with the outcome that is asked
about. Its confidence interval is Wilson's score interval (Wilson 1927), from SciPy, which is within 0 and 1 and also
bounds rates of events that were never seen: 0 of a million is up to 4e-6.

A rate may also be a number of events in a time. The events are then taken as a Poisson process: where n events are
expected in a period, the chance to see any is 1 - e^-n (Levine et al. 2023, section 4.2, *reproducibility*), and the
interval of n is the exact one (Garwood 1936), from SciPy.

What is counted as independent is an iteration of a progress test, or a launch of a memory test: instances of one launch
are not, for often all of them end alike. Where the outcomes of each launch are known, a rate of instances is the mean
of the shares of its launches, with Student's interval (Student 1908); and two ways to launch are compared by the
differences of their launches, one by one, which a randomisation test judges (Fisher 1935, section 21).

Assumption: runs are independent and alike. Where a trial ends at its first hang, the number of runs was not fixed
beforehand. Where only the sum of all launches is known, as in a file of results, a rate of instances has an interval
that understates the uncertainty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from math import ceil, expm1, inf, log1p, sqrt
from random import Random

CONFIDENCE = 0.95

SIGNIFICANCE = 0.01
"""The chance below which a difference counts."""

INDEPENDENT = "launches of memory tests, iterations of progress tests"
"""The unit that comparisons count."""

FLIPS = 1_999
"""The random assignments of a randomisation test."""


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


def mean_interval(shares: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the ends of the interval of a mean of shares, one of each launch.

    Where all launches are alike nothing tells how they vary: then it is as wide as that of the launches with any event,
    or without. Raises ``ValueError`` where there is no launch.
    """
    count, mean = len(shares), sum(shares) / len(shares) if shares else 0.0
    if min(shares) == max(shares):
        low, high = rate_interval(count * round(mean), count, confidence)
        return min(low, mean), max(high, mean)
    half = _student(count, confidence) * sqrt(_variance(shares) / count)
    return max(0.0, mean - half), min(1.0, mean + half)


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The difference of two sums of means, its interval at a confidence of 1 - ``SIGNIFICANCE``, and the chance of one
    as large if both were alike.
    """

    difference: float
    low: float
    high: float
    chance: float

    @property
    def is_distinguishable(self) -> bool:
        """Return whether chance does not explain the difference."""
        return self.chance <= SIGNIFICANCE


NO_DIFFERENCE = MeanDifference(0.0, -inf, inf, 1.0)


def paired_difference(pairs: Sequence[Sequence[tuple[float, float]]], seed: int = 0) -> MeanDifference:
    """Compare two ways by the shares of their launches: of each test, launch N of one beside launch N of the other.

    The difference is a sum over tests of the means. If both ways were alike, each pair could as well be the other way
    round: ``FLIPS`` random assignments say how often the difference would be as large (p = (b + 1) / (m + 1), Phipson
    and Smyth 2010), and equal pairs and seeds give equal chances.
    """
    differences = [[one - other for one, other in pair] for pair in pairs if pair]
    if not differences:
        return NO_DIFFERENCE
    difference = sum(sum(difference) / len(difference) for difference in differences)
    least = min(map(len, differences))
    error = sqrt(sum(_variance(difference) / len(difference) for difference in differences)) if least > 1 else inf
    half = _student(least, 1 - SIGNIFICANCE) * error if least > 1 else inf
    weights = [value / len(difference) for difference in differences for value in difference if value]
    random, total, as_large = Random(seed), sum(weights), 0
    for _ in range(FLIPS):
        turned = sum(compress(weights, map((1).__and__, random.randbytes(len(weights)))))
        as_large += abs(total - 2 * turned) >= abs(difference) - 1e-12
    return MeanDifference(difference, difference - half, difference + half, (as_large + 1) / (FLIPS + 1))


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _student(count: int, confidence: float) -> float:
    from scipy.stats import t  # slow to import

    return float(t.ppf((1 + confidence) / 2, count - 1))
