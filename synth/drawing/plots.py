"""Plots of a search for a profile, after the figures of Sorensen and Donaldson 2016, as SVG.

``patches``: weak outcomes by stressed location, a plot for each test and distance (Fig. 3). ``sequences``: the best
sequences (Tab. 3). ``spreads``: the score by the number of patches (Fig. 4). ``incantations``: each on its own and
combined (Alglave et al. 2015, Tab. 6). ``trials``: random profiles in their order, and the best so far. ``rates``:
those of launches without incantations, of the device's own and of the profile's, with intervals. Equal measurements
give equal bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from synth.drawing.plotting import plot_svg
from synth.tuning.account import Rate, rate_of
from synth.tuning.search import INCANTATIONS, Patches, ProfileComparison, Trials, TuningResult

if TYPE_CHECKING:
    from synth.drawing.plotting import Axes, Figure

_COLOURS = ("#0b6e99", "#c4511d", "#4f8a3c", "#7a4f9c", "#b3861b", "#5b6770")
_PALE = "#b9c4ca"
_BEST = 16
"""The number of sequences that are drawn."""


def draw_tuning(found: TuningResult, names: Sequence[str]) -> dict[str, str]:
    """Return a picture of each step and of the rates, by their titles."""
    pictures: dict[str, str] = {}
    for title, step in found.steps.items():
        match step:
            case Patches():
                pictures[title] = _patches(step, names)
            case ProfileComparison() if title == "incantations":
                pictures[title] = _incantations(step, names)
            case ProfileComparison() if title == "spreads":
                pictures[title] = _spreads(step, names)
            case ProfileComparison():
                pictures[title] = _sequences(step, names)
            case Trials():
                pictures[title] = _trials(step)
    pictures["rates"] = rates(
        {
            way: {name: rate_of(sample) for name, sample in zip(names, samples, strict=True)}
            for way, samples in found.rates.items()
        }
    )
    return pictures


def _patches(step: Patches, names: Sequence[str]) -> str:
    distances = sorted({distance for _, distance in step.shares})
    tests = sorted({test for test, _ in step.shares})
    most = max((share for row in step.shares.values() for share in row), default=0.0) or 1.0

    def draw(figure: Figure) -> None:
        grid = figure.subplots(len(distances), len(tests), squeeze=False, sharex=True, sharey=True)
        for row, distance in enumerate(distances):
            for column, test in enumerate(tests):
                axes = grid[row][column]
                shares = step.shares.get((test, distance), ())
                axes.bar(range(len(shares)), [100 * share for share in shares], width=1.0, color=_COLOURS[0])
                axes.set_ylim(0, 105 * most)
                axes.set_title(f"{names[test]}, distance {distance}", loc="left", fontsize=9)
                if row == len(distances) - 1:
                    axes.set_xlabel("stressed location (word)")
                if column == 0:
                    axes.set_ylabel("weak, %")
        word = f"patch: {step.patch} words" if step.patch else "no patch: every location is as good, or none is"
        figure.suptitle(word, x=0.01, ha="left", fontsize=10)

    return _svg(draw, 3.4 * len(tests), 0.6 + 1.5 * len(distances))


def _spreads(step: ProfileComparison, names: Sequence[str]) -> str:
    def draw(axes: Axes) -> None:
        spreads = [int(spread) for spread in step.scores]
        for test, name in enumerate(names):
            scores = [row[test] for row in step.scores.values()]
            axes.plot(spreads, scores, "o-", color=_colour(test), label=name, markersize=4)
        axes.axvline(int(step.best), color=_PALE, zorder=0)
        axes.set_xlabel(f"spread: patches that are stressed at once (taken: {step.best})")
        axes.set_ylabel("score: rates summed over distances")
        axes.set_ylim(bottom=0)
        axes.legend()

    return _svg(_one(draw), 6.4, 3.4)


def _sequences(step: ProfileComparison, names: Sequence[str]) -> str:
    shown = [name for name, _ in sorted(step.scores.items(), key=lambda scored: -sum(scored[1]))]
    hidden = shown[_BEST:]
    shown = [*shown[:_BEST], *([step.best] if step.best in hidden else [])]

    def draw(axes: Axes) -> None:
        _stacked(axes, shown, step, names)
        axes.set_yticks(range(len(shown)), [f"{name}  (taken)" if name == step.best else name for name in shown])
        axes.set_xlabel("score: rates summed over distances and locations")
        if len(step.scores) > len(shown):
            axes.set_title(f"the best {len(shown)} of {len(step.scores)} access sequences", loc="left", fontsize=10)

    return _svg(_one(draw), 6.4, 1.0 + 0.24 * len(shown))


def _incantations(step: ProfileComparison, names: Sequence[str]) -> str:
    shown = list(step.scores)

    def draw(figure: Figure) -> None:
        bars, marks = figure.subplots(1, 2, sharey=True, width_ratios=(4, 1))
        _stacked(bars, shown, step, names)
        bars.set_yticks([])
        bars.set_xlabel("score: rates of weak outcomes")
        for row, name in enumerate(shown):
            for column, incantation in enumerate(INCANTATIONS):
                on = incantation in name
                marks.plot(column, row, "o", color=_COLOURS[0] if on else "#e3e7e9", markersize=6)
        bars.text(1.0, shown.index(step.best), "taken ", transform=bars.get_yaxis_transform(), va="center", ha="right")
        marks.set_xticks(range(len(INCANTATIONS)), INCANTATIONS, rotation=40, ha="right")
        marks.set_xlim(-0.5, len(INCANTATIONS) - 0.5)
        for side in ("left", "bottom"):
            marks.spines[side].set_visible(False)
        marks.tick_params(length=0)

    return _svg(draw, 7.4, 4.4)


def _trials(step: Trials) -> str:
    def draw(axes: Axes) -> None:
        best = [max(step.scores[: number + 1]) for number in range(len(step.scores))]
        axes.plot(range(len(best)), step.scores, "o", color=_COLOURS[0], markersize=3.5, label="a random profile")
        axes.step(range(len(best)), best, where="post", color=_COLOURS[1], label="the best so far")
        axes.axhline(step.scores[0], color=_PALE, zorder=0, label="plain launches")
        axes.set_xlabel("profiles tried")
        axes.set_ylabel("score: mean rate of weak outcomes")
        axes.set_ylim(bottom=0)
        axes.legend()

    return _svg(_one(draw), 6.4, 3.4)


def rates(ways: Mapping[str, Mapping[str, Rate]]) -> str:
    """Draw the rates of each way to launch, with their intervals, by the names of the tests that were launched."""
    first = next(iter(ways.values()))
    width = 0.8 / len(ways)

    def draw(axes: Axes) -> None:
        for number, (label, found) in enumerate(ways.items()):
            places = [place + (number - (len(ways) - 1) / 2) * width for place in range(len(found))]
            heights = [100 * rate.rate for rate in found.values()]
            spans = [
                [max(0.0, 100 * (rate.rate - rate.low)) for rate in found.values()],
                [max(0.0, 100 * (rate.high - rate.rate)) for rate in found.values()],
            ]
            colour = ("#dfe4e7", "#93a8b3", *_COLOURS)[number]
            axes.bar(places, heights, 0.94 * width, yerr=spans, capsize=3, color=colour, label=label)
            for place, found_rate, height in zip(places, found.values(), heights, strict=True):
                text = f"{height:.3g}" if found_rate.seen else "none"
                axes.annotate(
                    text,
                    (place, 100 * found_rate.high),
                    xytext=(0, 4),
                    textcoords="offset points",
                    ha="center",
                    fontsize=8,
                )
        axes.set_xticks(range(len(first)), list(first))
        axes.set_ylabel("instances with the weak outcome, %")
        axes.margins(y=0.12)
        axes.legend()

    return _svg(_one(draw), 2.2 + 1.6 * len(first), 3.4)


def _stacked(axes: Axes, shown: Sequence[str], step: ProfileComparison, names: Sequence[str]) -> None:
    """Draw a bar for each of the candidates from above, with a piece for each test."""
    left = [0.0] * len(shown)
    for test, name in enumerate(names):
        widths = [step.scores[candidate][test] for candidate in shown]
        axes.barh(range(len(shown)), widths, left=left, height=0.7, color=_colour(test), label=name)
        left = [one + other for one, other in zip(left, widths, strict=True)]
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.legend(loc="lower right")


def _colour(test: int) -> str:
    return _COLOURS[test % len(_COLOURS)]


def _one(draw: Callable[[Axes], None]) -> Callable[[Figure], None]:
    return lambda figure: draw(figure.add_subplot())


def _svg(draw: Callable[[Figure], None], width: float, height: float) -> str:
    """A figure of so many inches as SVG."""
    svg = plot_svg(draw, (width, height), {"svg.hashsalt": "synth"}, "constrained")
    return re.sub(r'(width|height)="([0-9.]+)pt"', r'\1="\2"', svg, count=2)  # as our other pictures
