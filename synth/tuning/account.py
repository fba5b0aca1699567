"""The result of a tuning search in words and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from synth.statistics import INDEPENDENT, mean_interval
from synth.tuning.search import Patches, ProfileComparison, Sample, Trials, TuningResult


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate of weak outcomes in so many instances, with its interval, and the instances a second.

    ``showed`` of the ``launches`` had any; the interval is by launches, for instances of one are not independent.
    """

    seen: int
    runs: int
    showed: int
    launches: int
    low: float
    high: float
    speed: float
    error: str = ""

    @property
    def rate(self) -> float:
        """Return the share of instances that ended in the weak outcome; 0 where there were none."""
        return self.seen / self.runs if self.runs else 0.0


def rate_of(sample: Sample) -> Rate:
    """Return the rate that a sample of a test shows, with its interval."""
    low, high = mean_interval(sample.shares) if sample.runs else (0.0, 1.0)
    speed = sample.runs / sample.running if sample.running else 0.0
    return Rate(sample.seen, sample.runs, sum(map(bool, sample.weak)), len(sample.weak), low, high, speed, sample.error)


def remarks(found: TuningResult, names: Sequence[str], hardware: str, backend: str, method: str, seed: int) -> str:
    """Return the remarks on the origin of a profile, for its file."""
    lines = [f"Found by synth tune --backend {backend} --method {method} --seed {seed}, on {hardware}."]
    for number, name in enumerate(names):
        shown = (f"{rate_text(rate_of(samples[number]))} {way}" for way, samples in found.rates.items())
        lines.append(f"{name}, instances with the weak outcome: {', '.join(shown)}.")
    lines.append(verdict(found))
    return "\n".join(line if line.isascii() else ascii(line) for line in lines)


def verdict(found: TuningResult) -> str:
    """Return in a sentence or two whether the winner of the search is distinguishable from the device's own way."""
    gain = found.gain
    launches = sum(len(sample.weak) for sample in found.rates["tuned"])
    comparison = (
        f"The winner's score less that of the device's own way, by {launches:,} launches of each: "
        f"{gain.difference:.3g} (99 % interval {gain.low:.3g} to {gain.high:.3g}, chance {gain.chance:.2g})"
    )
    if found.kept:
        return f"{comparison}: it is distinguishable."
    nothing = "Nothing that was tried is better than how the device launches tests of itself."
    judgement = "" if gain.is_distinguishable else ": it is not distinguishable"
    return f"{comparison}{judgement}. {nothing}"


def record(found: TuningResult, names: Sequence[str], hardware: str) -> dict[str, Any]:
    """Return all measurements of a search as plain data."""
    return {
        "device": hardware,
        "profile": {"name": found.profile.name, **found.profile.chosen},
        "better": found.kept,
        "unit": INDEPENDENT,
        "gain": {**asdict(found.gain), "distinguishable": found.gain.is_distinguishable},
        "steps": {name: _step(step, names) for name, step in found.steps.items()},
        "rates": [
            {"test": name, **{way: _data(rate_of(samples[number])) for way, samples in found.rates.items()}}
            for number, name in enumerate(names)
        ],
    }


def _data(rate: Rate) -> dict[str, Any]:
    return {**asdict(rate), "rate": rate.rate, "speed": round(rate.speed)}


def _step(step: Patches | ProfileComparison | Trials, names: Sequence[str]) -> dict[str, Any]:
    match step:
        case Patches(shares, patch):
            rows = [
                {"test": names[test], "distance": distance, "shares": list(row)}
                for (test, distance), row in shares.items()
            ]
            return {"patch": patch, "locations": rows}
        case ProfileComparison(scores, best, alike):
            return {
                "best": best,
                "alike": list(alike),
                "scores": {name: dict(zip(names, row, strict=True)) for name, row in scores.items()},
            }
        case Trials(scores):
            return {"scores": list(scores)}


def rate_text(rate: Rate) -> str:
    """Return a rate as a percentage, or why there is none."""
    return f"{100 * rate.rate:.4g} %" if rate.seen else "none" if rate.runs else "not run"
