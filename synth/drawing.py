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

from oracle.explain import Explanation, ModelLts, Step
from oracle.lts import ENDED
from synth.explanation import counter_text, memory_text, step_text, summary, threads_text

PLAIN, STEM, CYCLE = "#57606a", "#0969da", "#cf222e"
_STATE_FILL, _CYCLE_FILL, _INK = "#f6f8fa", "#ffebe9", "#1f2328"
_FONT, _SIZE, _LINE = "DejaVu Sans Mono, Menlo, Consolas, monospace", 12, 16
_GLYPH = 0.61 * _SIZE  # width of a character of these fonts


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
        f"digraph {_quoted(name)} {{",
        f"  label={_quoted(_title(name, explanation))}; labelloc=t; fontname=Helvetica;",
        f'  node [shape=box style="rounded,filled" fillcolor="{_STATE_FILL}" fontname=Courier];',
        "  edge [fontname=Courier];",
    ]
    for node in range(len(graph.states)):
        extra = "" if graph.running(node) else " peripheries=2"
        extra += " penwidth=2.5" if node == 0 else ""
        extra += f' color="{CYCLE}" fillcolor="{_CYCLE_FILL}"' if node in style.looping else ""
        label = _quoted("\n".join(_state_lines(graph, node)))
        lines.append(f"  s{node} [label={label}{extra}];")
    for step in _steps(graph):
        colour = style.colour(step)
        width = " penwidth=2.2" if colour != PLAIN else ""
        label = _quoted(_step_label(graph, step))
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
    lines = [_Box(x, y, 4, 4) for edge in edges for x, y in edge.points]
    return _page(_title(name, explanation), [*nodes, *lines, *(edge.label for edge in edges)], body)


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


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _width(text: str) -> float:
    return _GLYPH * len(text)


@dataclass(frozen=True, slots=True)
class _Box:
    """A rectangle by its centre."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Edge:
    """A polyline from border to border, and the place of its label."""

    points: tuple[tuple[float, float], ...]
    label: _Box


def _layout(graph: ModelLts, steps: list[Step]) -> tuple[list[_Box], list[_Edge]]:
    import graphlay  # a compiled library, loaded only where a picture is drawn

    drawing = graphlay.Graph()
    for node in range(len(graph.states)):
        width = max(map(_width, _state_lines(graph, node))) + 24
        drawing.node(node, width=width, height=2 * _LINE + 14)
    for step in steps:
        size = {"width": _width(_step_label(graph, step)) + 6, "height": _LINE}
        drawing.edge(step.source, step.target, label_size=size)
    # The gap between layers leaves room for two rows of labels, so that a pair of opposite steps keeps each its own.
    found = graphlay.layout(drawing, options={"direction": "topbottom", "spacing": {"layer_gap": 74, "port_gap": 22}})
    boxes = [_Box(n["center"]["x"], n["center"]["y"], n["size"]["width"], n["size"]["height"]) for n in found.nodes]
    return boxes, [_routed(raw, _step_label(graph, step)) for raw, step in zip(found.edges, steps, strict=True)]


def _routed(raw: dict[str, Any], label: str) -> _Edge:
    points = tuple((point["x"], point["y"]) for point in raw["points"])
    x, y = raw["label_anchor"]["x"], raw["label_anchor"]["y"]
    width = _width(label) + 6
    if raw["kind"] == "selfloop":  # its anchor is a border of the label, not the centre
        side = raw["source_port"]["side"]
        x += {"left": -width / 2, "right": width / 2}.get(side, 0)
        y += {"top": -_LINE / 2, "bottom": _LINE / 2}.get(side, 0)
    return _Edge(points, _Box(x, y, width, _LINE))


def _node(graph: ModelLts, node: int, box: _Box, style: _Style) -> Iterator[str]:
    looping = node in style.looping
    stroke, fill = (CYCLE, _CYCLE_FILL) if looping else (PLAIN, _STATE_FILL)
    yield _rectangle(box, 0, stroke, fill, 2.5 if node == 0 else 1.2)
    if not graph.running(node):
        yield _rectangle(box, 3, stroke, "none", 1.2)
    for row, text in enumerate(_state_lines(graph, node)):
        yield _text(box.x, box.y + (row - 0.5) * _LINE, text, _INK)


def _rectangle(box: _Box, inset: float, stroke: str, fill: str, width: float) -> str:
    x, y = box.x - box.width / 2 + inset, box.y - box.height / 2 + inset
    size = f'width="{_n(box.width - 2 * inset)}" height="{_n(box.height - 2 * inset)}" rx="{_n(8 - inset)}"'
    return f'<rect x="{_n(x)}" y="{_n(y)}" {size} fill="{fill}" stroke="{stroke}" stroke-width="{width}"/>'


def _edge(graph: ModelLts, step: Step, edge: _Edge, colour: str) -> Iterator[str]:
    width = 1.2 if colour == PLAIN else 2.2
    yield f"<g><title>{escape(', '.join(step_text(graph, step)))}</title>"
    marker = f'marker-end="url(#arrow-{colour[1:]})"'
    yield f'<path d="{_rounded(edge.points)}" fill="none" stroke="{colour}" stroke-width="{width}" {marker}/>'
    label = edge.label
    # A veil, so that a line behind the label does not cross its letters.
    x, y = label.x - label.width / 2, label.y - label.height / 2
    size = f'width="{_n(label.width)}" height="{_n(label.height)}"'
    yield f'<rect x="{_n(x)}" y="{_n(y)}" {size} fill="white" fill-opacity="0.85"/>'
    yield _text(label.x, label.y, _step_label(graph, step), colour, bold=colour != PLAIN)
    yield "</g>"


def _rounded(points: tuple[tuple[float, float], ...]) -> str:
    """A path along the points that rounds its corners and stops short, for the arrow head."""
    *rest, (x, y), (end_x, end_y) = points
    length = max(abs(end_x - x) + abs(end_y - y), 1.0)  # segments are level or upright
    tip = (end_x - (end_x - x) * 7 / length, end_y - (end_y - y) * 7 / length)
    points = (*rest, (x, y), tip)
    path = [f"M {_n(points[0][0])} {_n(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        start, stop = _towards(corner, before), _towards(corner, after)
        path.append(f"L {_n(start[0])} {_n(start[1])} Q {_n(corner[0])} {_n(corner[1])} {_n(stop[0])} {_n(stop[1])}")
    path.append(f"L {_n(tip[0])} {_n(tip[1])}")
    return " ".join(path)


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The point up to 6 pixels from a corner, at most half way to the other end of its segment."""
    length = abs(other[0] - corner[0]) + abs(other[1] - corner[1])
    part = min(6.0, length / 2) / length if length else 0.0
    return corner[0] + (other[0] - corner[0]) * part, corner[1] + (other[1] - corner[1]) * part


def _text(x: float, y: float, text: str, colour: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{_n(x)}" y="{_n(y + _SIZE * 0.35)}" fill="{colour}"{weight}>{escape(text)}</text>'


def _page(title: str, boxes: list[_Box], body: list[str]) -> str:
    """The whole document, with the title above everything that ``boxes`` cover."""
    left = min(box.x - box.width / 2 for box in boxes)
    right = max(box.x + box.width / 2 for box in boxes)
    top = min(box.y - box.height / 2 for box in boxes) - 3 * _LINE
    bottom = max(box.y + box.height / 2 for box in boxes)
    spare = max(0.0, (_width(title) * 1.1 - (right - left)) / 2)  # the bold title may be wider than the graph
    left, top = left - spare - 20, top - 10
    width, height = right + spare + 20 - left, bottom + 20 - top
    arrows = [
        f'<marker id="arrow-{colour[1:]}" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M 0 0 L 8 4 L 0 8 Z" fill="{colour}"/></marker>'
        for colour in (PLAIN, STEM, CYCLE)
    ]
    heading = _text(left + width / 2, top + 20, title, _INK, bold=True)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
            f'viewBox="{_n(left)} {_n(top)} {_n(width)} {_n(height)}" '
            f'font-family="{_FONT}" font-size="{_SIZE}" text-anchor="middle">',
            f"<title>{escape(title)}</title>",
            "<defs>",
            *arrows,
            "</defs>",
            f'<rect x="{_n(left)}" y="{_n(top)}" width="{_n(width)}" height="{_n(height)}" fill="white"/>',
            heading,
            *body,
            "</svg>",
            "",
        ]
    )


def _n(number: float) -> str:
    """A coordinate with one digit after the point, never a negative zero."""
    return f"{number:.1f}" if abs(number) >= 0.05 else "0.0"
