"""The result of a tuning search in words, as a table and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from backends.shared.profiles import Profile
from corpus.errors import printable
from synth.screen.console import Screen, plain_table
from synth.statistics import INDEPENDENT, mean_interval
from synth.tuning.search import Patches, ProfileComparison, Sample, Trials, TuningResult

_BEST = 5
"""The number of candidates of a step that are printed."""


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
        shown = (f"{_rate(rate_of(samples[number]))} {way}" for way, samples in found.rates.items())
        lines.append(f"{name}, instances with the weak outcome: {', '.join(shown)}.")
    lines.append(verdict(found))
    return "\n".join(line if line.isascii() else ascii(line) for line in lines)


def verdict(found: TuningResult) -> str:
    """Return in a sentence or two whether the winner of the search is distinguishable from the device's own way."""
    gain = found.gain
    launches = sum(len(sample.weak) for sample in found.rates["tuned"])
    told = (
        f"The winner's score less that of the device's own way, by {launches:,} launches of each: "
        f"{gain.difference:.3g} (99 % interval {gain.low:.3g} to {gain.high:.3g}, chance {gain.chance:.2g})"
    )
    if found.kept:
        return f"{told}: it is distinguishable."
    nothing = "Nothing that was tried is better than how the device launches tests of itself."
    return f"{told}. {nothing}" if gain.told else f"{told}: it is not distinguishable. {nothing}"


def record(found: TuningResult, names: Sequence[str], hardware: str) -> dict[str, Any]:
    """Return all measurements of a search as plain data."""
    return {
        "device": hardware,
        "profile": {"name": found.profile.name, **found.profile.chosen},
        "better": found.kept,
        "unit": INDEPENDENT,
        "gain": {**asdict(found.gain), "distinguishable": found.gain.told},
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


def print_found(found: TuningResult, names: Sequence[str], hardware: str, file: Path, console: Screen) -> None:
    """Print the steps, the rates of each way to launch, and the profile."""
    console.print(Text(hardware), soft_wrap=True)
    for title, step in found.steps.items():
        console.print()
        match step:
            case Patches(_, patch):
                console.print(f"patch: {f'{patch} words' if patch else 'none seen, every location is as good'}")
            case ProfileComparison(scores, best, alike):
                table = plain_table(title, *names, "sum")
                for column in table.columns[1:]:
                    column.justify = "right"
                for name, row in sorted(scores.items(), key=lambda each: -sum(each[1]))[:_BEST]:
                    cells = [f"{score:.2e}" for score in (*row, sum(row))]
                    table.add_row(f"{name}{'  <- taken' if name == best else ''}", *cells)
                console.print(table)
                if len(scores) > _BEST:
                    console.print(f"and {len(scores) - _BEST} more; taken: {best}")
                if alike:
                    console.print(f"as good, by what launches tell: {len(alike)} others, of which none comes before it")
            case Trials(scores):
                console.print(f"{len(scores)} random profiles: score of plain launches {scores[0]:.2e}")
                console.print(f"the best {max(scores):.2e}, the median {sorted(scores)[len(scores) // 2]:.2e}")
    console.print()
    table = plain_table("test", "way", "weak", "95 % interval", "launches that showed it", "instances a second")
    for column in table.columns[2:]:
        column.justify = "right"
    for number, name in enumerate(names):
        for way, samples in found.rates.items():
            rate = rate_of(samples[number])
            showed = f"{rate.showed:,} of {rate.launches:,}"
            table.add_row(Text(name), way, _rate(rate), _interval(rate), showed, f"{rate.speed:,.0f}")
    console.print(table)
    for name, sample in zip(names, found.rates["own"], strict=True):
        if sample.error:
            console.print(Text(f"{name}: {sample.error}"), soft_wrap=True)
    console.print()
    console.print(f"counted: {INDEPENDENT}", soft_wrap=True)
    console.print(verdict(found), soft_wrap=True)
    console.print(Text(printable(f"{file}: {_chosen(found.profile)}")), soft_wrap=True)


def _chosen(profile: Profile) -> str:
    return ", ".join(f"{key} {value}" for key, value in profile.chosen.items()) or "nothing is chosen"


def _rate(rate: Rate) -> str:
    return f"{100 * rate.rate:.4g} %" if rate.seen else "none" if rate.runs else "not run"


def _interval(rate: Rate) -> str:
    return f"{100 * rate.low:.3g} to {100 * rate.high:.3g} %"
