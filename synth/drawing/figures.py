"""Plots of a corpus as SVG, the same bytes for the same corpus."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from oracle.progress.hierarchy import TABLE_4

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Weak and strong; then the guarantees of Table 4. Chosen to differ in lightness, for print and for colour-blind eyes.
_KINDS = {"weak": "#9ecae1", "strong": "#2b5c8a"}
_GUARANTEES = {"hsa": "#fee08b", "obe": "#f46d43", "lobe": "#a6d96a", "fair": "#1a7a5e"}


def distribution_svg(table_4: Mapping[tuple[str, str], int]) -> str:
    """How the tests of a suite spread over strong and weak fairness and over the models.

    As in Fig. 10 of Sorensen et al. 2021, three bars of shares: all tests by kind, and the weak and the strong
    tests by the guarantee they are distinguishing for. ``table_4`` is ``Census.table_4``.
    """
    # Imported here, for it takes a second.
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    kinds = {kind: sum(table_4.get((kind, name), 0) for name in TABLE_4) for kind in _KINDS}
    bars = {"All": [(_KINDS[kind], count) for kind, count in kinds.items()]}
    for kind in _KINDS:
        bars[kind.capitalize()] = [(_GUARANTEES[name], table_4.get((kind, name), 0)) for name in TABLE_4]

    with rc_context({"svg.hashsalt": "synth", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for position, parts in enumerate(bars.values()):
            _stack(axes, position, parts)
        totals = [sum(count for _, count in parts) for parts in bars.values()]
        axes.set_xticks(range(len(bars)), [f"{name}\n{total} tests" for name, total in zip(bars, totals, strict=True)])
        axes.set_ylim(0, 100)
        axes.set_ylabel("share of tests, %")
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(
            handles=[Patch(color=colour, label=f"{kind} tests") for kind, colour in _KINDS.items()]
            + [
                Patch(color=colour, label=name.upper() if name != "fair" else name)
                for name, colour in _GUARANTEES.items()
            ],
            loc="outside right upper",
            frameon=False,
        )
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def _stack(axes: Axes, position: int, parts: list[tuple[str, int]]) -> None:
    """One bar of shares from the bottom up, each with its count; beside it where it is too low to hold it."""
    total = sum(count for _, count in parts)
    bottom, beside = 0.0, 0.0
    for colour, count in parts:
        if not count:
            continue
        height = 100 * count / total
        axes.bar(position, height, 0.6, bottom, color=colour, edgecolor="white", linewidth=0.5)
        middle = bottom + height / 2
        if height >= 4:
            ink = "white" if colour in (_KINDS["strong"], _GUARANTEES["fair"]) else "black"
            axes.text(position, middle, str(count), ha="center", va="center", color=ink, fontsize=9)
        else:
            beside = max(middle, beside + 4)
            axes.text(position + 0.32, beside, str(count), ha="left", va="center", fontsize=9)
        bottom += height
