"""The one module that calls matplotlib: a figure becomes SVG, with the settings that all plots share.

Matplotlib takes its time to load, so only the drawing of a plot loads it. The same figure gives the same bytes.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from matplotlib import axes, figure

    Axes: TypeAlias = axes.Axes
    Figure: TypeAlias = figure.Figure

_SETTINGS: Any = {  # keys are what matplotlib calls a literal
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def plot_svg(
    draw: Callable[[Figure], None],
    size: tuple[float, float],
    settings: Mapping[str, object],
    layout: Any = None,
    saving: Mapping[str, Any] | None = None,
) -> str:
    """What is drawn on a figure of so many inches by so many; ``settings`` come after those that all plots share.

    ``saving`` are options of matplotlib's ``savefig``. The SVG names neither a date nor its creator.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that the font for measuring has not
        matplotlib.rcdefaults()  # what a stranger's file in the current folder sets counts for nothing
        matplotlib.rcParams.update(_SETTINGS | settings)
        made = Figure(figsize=size, layout=layout)
        FigureCanvasSVG(made)
        draw(made)
        text = io.StringIO()
        made.savefig(text, format="svg", **{"metadata": {"Date": None, "Creator": None}, **(saving or {})})
    return text.getvalue()
