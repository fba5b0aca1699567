"""Rates of what was seen on devices, and how well they are known.

A rate is so many of so many runs: iterations that hung, instances with the outcome that is asked about. Its confidence
interval is Wilson's score interval (Wilson 1927), from SciPy, which is within 0 and 1 and says something of rates that
were never seen, too: 0 of a million is up to 4e-6.

Assumption: runs are independent and alike. Instances of one launch are not quite, so an interval is a lower bound of
what is not known; where a trial ends at its first hang, the number of runs was not fixed beforehand.
"""

from __future__ import annotations

from functools import lru_cache

CONFIDENCE = 0.95


@lru_cache(maxsize=1 << 16)  # most tests of a campaign are seen in none of the same number of runs
def rate_interval(seen: int, runs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """From where to where the rate is with that confidence, ``seen`` of ``runs`` having been observed.

    Raises ``ValueError`` unless 0 <= seen <= runs, and 1 <= runs.
    """
    from scipy.stats import binomtest  # takes its time to be loaded

    interval = binomtest(seen, runs).proportion_ci(confidence, method="wilson")
    return max(0.0, float(interval.low)), min(1.0, float(interval.high))
