"""The layout of boxes in layers, with labelled arrows between them, by Graphviz's dot.

Graphviz is a library in the wheel of pygraphviz, so that no program is needed beside it. It is told the sizes of boxes
and labels and given no text, so that no font of the machine has a say. Lengths are pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from synth.drawing.pictures import ARROW, Box, coord

Size = tuple[float, float]

LARGE = 500  # the number of arrows beyond which curves around boxes and the shortest arrows would take minutes


@dataclass(frozen=True, slots=True)
class ArrowPath:
    """An arrow as cubic Bézier curves end to end, with the end of its head and the place of its label."""

    points: tuple[tuple[float, float], ...]
    label: Box

    def path(self) -> str:
        """Return the curves as the path of an SVG, without the part that the arrow's head covers."""
        start, *points, _ = self.points
        return f"M {coord(*start)} C {' '.join(coord(*point) for point in points)}"

    def covered(self) -> list[Box]:
        """Return the boxes that the arrow and its label cover."""
        return [*(Box(x, y, 4, 4) for x, y in self.points), self.label]


def arrange(
    boxes: Sequence[Size], arrows: Sequence[tuple[int, int]], labels: Sequence[Size]
) -> tuple[list[Box], list[ArrowPath]]:
    """Lay out boxes, given by width and height, and labelled arrows between them, given by the sizes of their labels.

    Graphviz counts y upwards, and the sizes of boxes in inches of 72 pixels.
    """
    import pygraphviz  # a compiled library, imported only where a picture is drawn

    drawing = pygraphviz.AGraph(strict=False, directed=True, ranksep=0.4, nodesep=0.4)
    if len(arrows) > LARGE:
        drawing.graph_attr.update(splines="line", mclimit=0.3, nslimit=1, nslimit1=1)
    drawing.node_attr.update(shape="box", fixedsize="true", label="")
    drawing.edge_attr.update(arrowsize=ARROW / 10)
    for node, (width, height) in enumerate(boxes):
        drawing.add_node(node, width=width / 72, height=height / 72)
    for number, ((source, target), (width, height)) in enumerate(zip(arrows, labels, strict=True)):
        # The empty table is twelve pixels wider than the label, which keeps the line of another arrow off it.
        drawing.add_edge(source, target, key=number, label=_empty_table(width + 12, height))
    drawing.layout("dot")
    placed = [Box(*_points(drawing.get_node(node).attr["pos"])[0], *size) for node, size in enumerate(boxes)]
    routes = []
    for number, ((source, target), size) in enumerate(zip(arrows, labels, strict=True)):
        found = drawing.get_edge(source, target, key=number).attr
        head, *points = _points(found["pos"].removeprefix("e,"))
        routes.append(ArrowPath((*points, head), Box(*_points(found["lp"])[0], *size)))
    return placed, routes


def _empty_table(width: float, height: float) -> str:
    """Return a label of Graphviz's that has a size and no text."""
    bare = 'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" FIXEDSIZE="TRUE"'
    return f'<<TABLE {bare} WIDTH="{width:.0f}" HEIGHT="{height:.0f}"><TR><TD></TD></TR></TABLE>>'


def _points(text: str) -> list[tuple[float, float]]:
    """Parse points as Graphviz writes them, ``12.5,40 13,41``, with y counted downwards."""
    return [(float(x), -float(y)) for x, y in (point.split(",") for point in text.split())]
