"""The result of a hardening as words and as plain data."""

from __future__ import annotations

from typing import Any

from synth.hardening.application import spelled
from synth.hardening.reduction import FenceTally, Places, Reduction, Verdict
from synth.statistics import rate_interval


def record(reduction: Reduction, verdict: Verdict, confidence: float) -> dict[str, Any]:
    """Return all that a hardening has seen as plain data.

    ``needed`` is ``None`` unless the search came to its end; times are median wall seconds.
    """
    return {
        "verdict": verdict,
        "needed": None if reduction.needed is None else sorted(reduction.needed),
        "places": reduction.places,
        "runs": reduction.runs,
        "stable": reduction.stable,
        "confidence": confidence,
        "restarts": reduction.restarts,
        "configurations": [tally_record(places, tally, confidence) for places, tally in reduction.tallies.items()],
    }


def tally_record(places: Places, tally: FenceTally, confidence: float) -> dict[str, Any]:
    """Return what runs with fences at some places have shown."""
    runs, failures = len(tally.runs), len(tally.failures)
    low, high = rate_interval(failures, runs, confidence) if runs else (0.0, 1.0)
    return {
        "places": sorted(places),
        "runs": runs,
        "failures": failures,
        "hung": tally.hung,
        "low": low,
        "high": high,
        "seconds": tally.seconds,
        "said": tally.failures[0].message if failures else "",
    }


def answer(reduction: Reduction, verdict: Verdict, confidence: float) -> str:
    """Return the result of a hardening as a sentence of one line."""
    every, none = frozenset(range(reduction.places)), frozenset[int]()
    if verdict == "broken":
        return f"with all {reduction.places} fences it fails as well: {_failure(reduction.tallies[every])}"
    if verdict == "stopped":
        return "stopped by --time-limit; the same command goes on"
    assert reduction.needed is not None
    bound = _at_most(reduction.tallies[reduction.needed], confidence)
    if verdict == "no failure":
        return f"no failure was seen without any fence: {bound}"
    rest = f"a failure was seen without {'it' if len(reduction.needed) == 1 else 'each of them'}"
    return (
        f"needed: {_fences(reduction.needed)}; {rest}, and none with "
        f"{'it' if len(reduction.needed) == 1 else 'them'}: {bound}; "
        f"without any fence, {_failure(reduction.tallies[none])}"
    )


def _at_most(tally: FenceTally, confidence: float) -> str:
    high = rate_interval(0, len(tally.runs), confidence)[1]
    return f"{len(tally.runs)} runs, so at most {high:.2%} of runs fail ({confidence:g} confidence)"


def _failure(tally: FenceTally) -> str:
    """Return how often an application failed, and how it failed first."""
    first = tally.failures[0]
    how = "did not end" if first.code is None else f"signal {-first.code}" if first.code < 0 else f"code {first.code}"
    message = f", {first.message}" if first.message else ""
    return f"{len(tally.failures)} of {len(tally.runs)} runs failed (the first: {how}{message})"


def _fences(places: Places) -> str:
    return f"{'fence' if len(places) == 1 else 'fences'} {spelled(places)}" if places else "none"
