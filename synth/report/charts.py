"""Plots of a report as SVG that stands in a page.

Colours are names of the page's style (``var(--ink)``), so that a plot is light where the page is light and dark where
it is dark. Text stays text. Equal evidence gives equal bytes. Names of tests and devices may be anything: they are not
read as mathematics, and matplotlib escapes them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from oracle.progress.hierarchy import TABLE_4, border
from synth.drawing.pictures import printable
from synth.drawing.plotting import plot_svg
from synth.inputs import MEMORY, PROGRESS
from synth.report.evidence import Evidence
from synth.report.tables import label

if TYPE_CHECKING:
    from synth.drawing.plotting import Figure

MOST_ROWS = 40
"""The number of tests for which a plot of rates has room."""

LONGEST = 64
"""The most characters of a name in a plot."""

_INK, _MUTED, _GRID = "#010101", "#020202", "#030303"
_SERIES = [f"#0401{number:02x}" for number in range(8)]
_NEVER = "#040201"
_GUARANTEES = {name: f"#0403{number:02x}" for number, name in enumerate(TABLE_4)}
_STYLE = {
    _INK: "var(--ink)",
    _MUTED: "var(--muted)",
    _GRID: "var(--line)",
    _NEVER: "var(--muted)",
    **{colour: f"var(--series-{number + 1})" for number, colour in enumerate(_SERIES)},
    **{colour: f"var(--{name})" for name, colour in _GUARANTEES.items()},
}
_SETTINGS: Mapping[str, object] = {
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _GRID,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "xtick.color": _MUTED,
    "ytick.color": _MUTED,
    "ytick.labelcolor": _INK,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "axes.spines.left": False,
}
_MARKERS = "osD^v<>P"


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot: its title and description, and a document of SVG without its XML header."""

    title: str
    note: str
    svg: str


def charts(found: Evidence) -> Iterator[Chart]:
    """Yield the plots of a report; a family of which no test was run has none."""
    if found.columns_of(PROGRESS):
        yield from _hangs(found)
    if found.columns_of(MEMORY):
        yield from _rates(found)


def _hangs(found: Evidence) -> Iterator[Chart]:
    """Yield the plot of hangs: a bar for each column, split by the least fair guarantee that each hung test
    contradicts.

    A hang that is not confirmed breaks no promise, and is left out.
    """
    columns = found.columns_of(PROGRESS)
    counts: dict[int, Counter[str]] = {column: Counter() for column in columns}
    for (subject, column), cell in found.cells.items():
        if column in counts and cell.seen and (subject, column) not in found.unconfirmed:
            try:
                cell_of = border(found.subjects[subject].test.verdicts)
            except StopIteration:  # not every model of the paper was asked
                cell_of = None
            counts[column]["never" if cell_of is None else cell_of[1]] += 1
    if not any(counts.values()):
        return

    def draw(axes: Any) -> None:
        left = [0] * len(columns)
        for name, colour in (*_GUARANTEES.items(), ("never", _NEVER)):
            widths = [counts[column][name] for column in columns]
            if any(widths):
                text = "no model" if name == "never" else name if name == "fair" else name.upper()
                axes.barh(range(len(columns)), widths, left=left, height=0.62, color=colour, label=text)
            left = [one + other for one, other in zip(left, widths, strict=True)]
        for row, total in enumerate(left):
            axes.text(total + max(left) * 0.01, row, f"{total}", va="center", color=_MUTED)
        axes.set_yticks(range(len(columns)), [_short(label(found, found.columns[column])) for column in columns])
        axes.set_xlabel("tests that hung")
        axes.xaxis.get_major_locator().set_params(integer=True)

    note = "By the first of HSA, OBE, LOBE and fair that promises that the test ends: that promise was broken."
    yield Chart("Tests that hung", note, _svg(draw, len(columns), "hangs"))


def _rates(found: Evidence) -> Iterator[Chart]:
    """Yield the plot of rates: a row for each test, most frequent outcomes first, with a mark and interval for each
    column.
    """
    columns = found.columns_of(MEMORY)
    shares: dict[int, float] = {}
    for (subject, column), cell in found.cells.items():
        if column in columns and cell.seen:
            shares[subject] = max(shares.get(subject, 0.0), cell.seen / cell.runs)
    rows = sorted(shares, key=lambda subject: (-shares[subject], subject))[:MOST_ROWS]
    if not rows:
        return
    used = [column for column in columns if any((row, column) in found.cells for row in rows)]

    def draw(axes: Any) -> None:
        for number, column in enumerate(used):
            points = []
            for row, subject in enumerate(rows):
                cell = found.cells.get((subject, column))
                if cell is not None and cell.seen and (interval := cell.interval) is not None:
                    points.append((cell.seen / cell.runs, row + (number - (len(used) - 1) / 2) * 0.16, *interval))
            if points:
                x, y = [point[0] for point in points], [point[1] for point in points]
                spans = [[point[0] - point[2] for point in points], [point[3] - point[0] for point in points]]
                spans = [[max(0.0, span) for span in way] for way in spans]
                axes.errorbar(
                    x,
                    y,
                    xerr=spans,
                    fmt=_MARKERS[number % len(_MARKERS)],
                    color=_SERIES[number % len(_SERIES)],
                    markersize=4.5,
                    elinewidth=1.4,
                    label=_short(label(found, found.columns[column])),
                )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda share, _: f"{share:g}")
        axes.xaxis.set_minor_formatter(lambda *_: "")
        low, high = axes.get_xlim()  # from one power of ten to another, for these alone have labels
        axes.set_xlim(10 ** floor(log10(low)), 10 ** ceil(log10(high)))
        axes.set_yticks(range(len(rows)), [_short(found.subjects[row].test.name) for row in rows])
        axes.set_xlabel("share of instances with the outcome that is asked about, 95 % interval")
        axes.set_ylim(len(rows) - 0.5, -0.5)

    kept = f"The {len(rows)} most frequent of {len(shares):,}." if len(shares) > len(rows) else ""
    yield Chart("How often outcomes were seen", kept, _svg(draw, len(rows), "rates"))


def _short(name: str) -> str:
    name = printable(name)
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _svg(draw: Callable[[Any], None], rows: int, salt: str) -> str:
    def whole(figure: Figure) -> None:
        axes = figure.add_subplot()
        draw(axes)
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        axes.tick_params(length=0)
        if not axes.yaxis_inverted():
            axes.invert_yaxis()
        axes.legend(loc="upper left", bbox_to_anchor=(0, 1.0, 1, 0), ncols=4, borderaxespad=0).set_loc("lower left")

    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    saving = {"bbox_inches": "tight", "metadata": metadata}
    size = 8.4, 0.9 + 0.27 * max(rows, 2)
    svg = plot_svg(whole, size, {**_SETTINGS, "svg.hashsalt": salt}, saving=saving)
    svg = re.sub(
        r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", svg[svg.index("<svg") :], flags=re.DOTALL
    )
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)  # ids would repeat in every plot
    for colour, name in _STYLE.items():
        svg = svg.replace(colour, name)
    head, _, rest = svg.partition(">")
    return re.sub(r' (width|height)="[^"]*"', "", head) + ">" + rest
