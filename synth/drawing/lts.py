"""The LTS of a test under a model as a picture, with the starving cycle marked.

It is drawn as in Figs. 2 and 6 of Sorensen et al. 2021. A state shows memory and program counters, a transition its
thread and who is promised fair execution before it. The start has a thick border, an end state a double one. Steps to
the cycle are blue, the cycle is red. The layout is graphlay's, which gives the same coordinates everywhere; the SVG
is drawn here, so that it needs no program beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from oracle.progress.explain import Explanation, ModelLts, Step
from oracle.progress.lts import ENDED
from synth.drawing.pictures import ARROW, INK, LINE, Box, arrow, coord, page, quoted, text_at, text_width, veil
from synth.progress.explanation import counter_text, memory_text, step_text, summary, threads_text

PLAIN, STEM, CYCLE = "#57606a", "#0969da", "#cf222e"
_STATE_FILL, _CYCLE_FILL = "#f6f8fa", "#ffebe9"


@dataclass(frozen=True, slots=True)
class _Style:
    """How the lasso colours a picture."""

    stem: frozenset[Step]
    cycle: frozenset[Step]
    looping: frozenset[int]

    @classmethod
    def of(cls, explanation: Explanation) -> _Style:
        lasso = explanation.lasso
        stem, cycle = (frozenset(lasso.stem), frozenset(lasso.cycle)) if lasso else (frozenset(), frozenset())
        return cls(stem, cycle, frozenset(step.source for step in cycle))

    def colour(self, step: Step) -> str:
        return CYCLE if step in self.cycle else STEM if step in self.stem else PLAIN


def draw_dot(name: str, explanation: Explanation) -> str:
    """The picture as Graphviz text."""
    graph, style = explanation.graph, _Style.of(explanation)
    lines = [
        f"digraph {quoted(name)} {{",
        f"  label={quoted(_title(name, explanation))}; labelloc=t; fontname=Helvetica;",
        f'  node [shape=box style="rounded,filled" fillcolor="{_STATE_FILL}" fontname=Courier];',
        "  edge [fontname=Courier];",
    ]
    for node in range(len(graph.states)):
        extra = "" if graph.running(node) else " peripheries=2"
        extra += " penwidth=2.5" if node == 0 else ""
        extra += f' color="{CYCLE}" fillcolor="{_CYCLE_FILL}"' if node in style.looping else ""
        label = quoted("\n".join(_state_lines(graph, node)))
        lines.append(f"  s{node} [label={label}{extra}];")
    for step in _steps(graph):
        colour = style.colour(step)
        width = " penwidth=2.2" if colour != PLAIN else ""
        label = quoted(_step_label(graph, step))
        lines.append(
            f'  s{step.source} -> s{step.target} [label={label} color="{colour}" fontcolor="{colour}"{width}];'
        )
    return "\n".join([*lines, "}"]) + "\n"


def draw_svg(name: str, explanation: Explanation) -> str:
    """The picture as SVG, the same bytes each time."""
    graph, style = explanation.graph, _Style.of(explanation)
    steps = list(_steps(graph))
    nodes, edges = _layout(graph, steps)
    body: list[str] = []
    for step, edge in zip(steps, edges, strict=True):
        body += _edge(graph, step, edge, style.colour(step))
    for number, node in enumerate(nodes):
        body += _node(graph, number, node, style)
    lines = [Box(x, y, 4, 4) for edge in edges for x, y in edge.points]
    covered = [*nodes, *lines, *(edge.label for edge in edges)]
    return page(_title(name, explanation), covered, body, (PLAIN, STEM, CYCLE))


def _title(name: str, explanation: Explanation) -> str:
    return f"{name} under {explanation.model.name}: {explanation.verdict}, {summary(explanation)}"


def _steps(graph: ModelLts) -> Iterator[Step]:
    for node, row in enumerate(graph.successors):
        for tid, after in enumerate(row):
            if after != ENDED:
                yield Step(node, tid, after)


def _state_lines(graph: ModelLts, node: int) -> list[str]:
    counters = (f"T{tid}:{counter_text(graph, tid, pc)}" for tid, pc in enumerate(graph.counters(node)))
    return [f"mem {memory_text(graph.memory(node))}", " ".join(counters)]


def _step_label(graph: ModelLts, step: Step) -> str:
    return f"T{step.thread} {threads_text(graph.promised[step.source])}"


@dataclass(frozen=True, slots=True)
class _Edge:
    """A polyline from border to border, and the place of its label."""

    points: tuple[tuple[float, float], ...]
    label: Box


def _layout(graph: ModelLts, steps: list[Step]) -> tuple[list[Box], list[_Edge]]:
    import graphlay  # a compiled library, loaded only where a picture is drawn

    drawing = graphlay.Graph()
    for node in range(len(graph.states)):
        width = max(map(text_width, _state_lines(graph, node))) + 24
        drawing.node(node, width=width, height=2 * LINE + 14)
    for step in steps:
        size = {"width": text_width(_step_label(graph, step)) + 6, "height": LINE}
        drawing.edge(step.source, step.target, label_size=size)
    # The gap between layers leaves room for two rows of labels, so that a pair of opposite steps keeps each its own.
    found = graphlay.layout(drawing, options={"direction": "topbottom", "spacing": {"layer_gap": 74, "port_gap": 22}})
    boxes = [Box(n["center"]["x"], n["center"]["y"], n["size"]["width"], n["size"]["height"]) for n in found.nodes]
    return boxes, [_routed(raw, _step_label(graph, step)) for raw, step in zip(found.edges, steps, strict=True)]


def _routed(raw: dict[str, Any], label: str) -> _Edge:
    points = tuple((point["x"], point["y"]) for point in raw["points"])
    x, y = raw["label_anchor"]["x"], raw["label_anchor"]["y"]
    width = text_width(label) + 6
    if raw["kind"] == "selfloop":  # its anchor is a border of the label, not the centre
        side = raw["source_port"]["side"]
        x += {"left": -width / 2, "right": width / 2}.get(side, 0)
        y += {"top": -LINE / 2, "bottom": LINE / 2}.get(side, 0)
    return _Edge(points, Box(x, y, width, LINE))


def _node(graph: ModelLts, node: int, box: Box, style: _Style) -> Iterator[str]:
    looping = node in style.looping
    stroke, fill = (CYCLE, _CYCLE_FILL) if looping else (PLAIN, _STATE_FILL)
    yield _rectangle(box, 0, stroke, fill, 2.5 if node == 0 else 1.2)
    if not graph.running(node):
        yield _rectangle(box, 3, stroke, "none", 1.2)
    for row, text in enumerate(_state_lines(graph, node)):
        yield text_at(box.x, box.y + (row - 0.5) * LINE, text, INK)


def _rectangle(box: Box, inset: float, stroke: str, fill: str, width: float) -> str:
    x, y = box.left + inset, box.top + inset
    size = f'width="{coord(box.width - 2 * inset)}" height="{coord(box.height - 2 * inset)}" rx="{coord(8 - inset)}"'
    return f'<rect x="{coord(x)}" y="{coord(y)}" {size} fill="{fill}" stroke="{stroke}" stroke-width="{width}"/>'


def _edge(graph: ModelLts, step: Step, edge: _Edge, colour: str) -> Iterator[str]:
    width = 1.2 if colour == PLAIN else 2.2
    yield f"<g><title>{escape(', '.join(step_text(graph, step)))}</title>"
    yield f'<path d="{_rounded(edge.points)}" fill="none" stroke="{colour}" stroke-width="{width}" {arrow(colour)}/>'
    label = edge.label
    yield veil(label)
    yield text_at(label.x, label.y, _step_label(graph, step), colour, bold=colour != PLAIN)
    yield "</g>"


def _rounded(points: tuple[tuple[float, float], ...]) -> str:
    """A path along the points that rounds its corners and stops short, for the arrow head."""
    *rest, (x, y), (end_x, end_y) = points
    length = max(abs(end_x - x) + abs(end_y - y), 1.0)  # segments are level or upright
    tip = (end_x - (end_x - x) * ARROW / length, end_y - (end_y - y) * ARROW / length)
    points = (*rest, (x, y), tip)
    path = [f"M {coord(*points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        path.append(f"L {coord(*_towards(corner, before))} Q {coord(*corner, *_towards(corner, after))}")
    path.append(f"L {coord(*tip)}")
    return " ".join(path)


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The point up to 6 pixels from a corner, at most half way to the other end of its segment."""
    length = abs(other[0] - corner[0]) + abs(other[1] - corner[1])
    part = min(6.0, length / 2) / length if length else 0.0
    return corner[0] + (other[0] - corner[0]) * part, corner[1] + (other[1] - corner[1]) * part
