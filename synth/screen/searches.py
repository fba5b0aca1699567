"""What ``synth tune`` and ``synth harden`` print: the steps of a search on a device, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from backends.shared.profiles import Profile
from corpus.errors import printable
from synth.hardening.account import answer, tally_record
from synth.hardening.application import spelled
from synth.hardening.reduction import Places, Reduction, Verdict
from synth.screen.console import Screen, plain_table
from synth.statistics import INDEPENDENT
from synth.tuning.account import Rate, rate_of, rate_text, verdict
from synth.tuning.search import Patches, ProfileComparison, Trials, TuningResult

_BEST = 5
"""The number of candidates of a step that are printed."""


def print_tuning(found: TuningResult, names: Sequence[str], hardware: str, file: Path, console: Screen) -> None:
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
                for name, row in sorted(scores.items(), key=lambda scored: -sum(scored[1]))[:_BEST]:
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
            table.add_row(Text(name), way, rate_text(rate), _interval(rate), showed, f"{rate.speed:,.0f}")
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


def _interval(rate: Rate) -> str:
    return f"{100 * rate.low:.3g} to {100 * rate.high:.3g} %"


def print_hardening(reduction: Reduction, found: Verdict, confidence: float, console: Screen) -> None:
    """Print the sets of fences in the order in which they were tried, and the answer.

    The last column compares the time of a run with that of a run without any fence; failures end the runs of most sets.
    """
    table = plain_table("Fences", "runs", "failed", "hung", f"rate ({confidence:g} confidence)", "ms", "cost")
    none = reduction.tallies.get(frozenset())
    free = none.seconds if none else None
    for places, tally in reduction.tallies.items():
        row = tally_record(places, tally, confidence)
        seconds = tally.seconds
        cost = f"{seconds / free - 1:+.0%}" if seconds is not None and free else ""
        table.add_row(
            _named(places, reduction),
            str(row["runs"]),
            str(row["failures"]),
            str(row["hung"] or ""),
            f"{row['low']:.2%} to {row['high']:.2%}",
            f"{1000 * seconds:.1f}" if seconds is not None else "",
            cost,
        )
    console.print(table)
    console.print(Text(f"\n{answer(reduction, found, confidence)}"), soft_wrap=True)


def _named(places: Places, reduction: Reduction) -> Text:
    every = len(places) == reduction.places
    return Text("all" if every else spelled(places) or "none", style="bold" if places == reduction.needed else "")
