"""The LTS of a test under a model as a picture, with the starving cycle marked.

It is drawn as in Figs. 2 and 6 of Sorensen et al. 2021. A state shows memory and program counters, a transition its
thread and who is promised fair execution before it. The start has a thick border, an end state a double one. Steps to
the cycle are blue, the cycle is red. The layout is that of Graphviz's dot, a library in the wheel of pygraphviz, so
that no program is needed beside it. It is told the sizes of boxes and labels and given no text, so that no font of the
machine has a say; the SVG is drawn here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from oracle.progress.explain import Explanation, ModelLts, Step
from oracle.progress.lts import ENDED
from synth.drawing.pictures import ARROW, INK, LINE, Box, arrow, coord, page, quoted, text_at, text_width, veil
from synth.progress.explanation import counter_text, memory_text, step_text, summary, threads_text

PLAIN, STEM, CYCLE = "#57606a", "#0969da", "#cf222e"
_STATE_FILL, _CYCLE_FILL = "#f6f8fa", "#ffebe9"
_LARGE = 500  # steps, beyond which curves around boxes and the shortest arrows would cost minutes


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
    nodes, routes = _arranged(graph, steps)
    body: list[str] = []
    for step, route in zip(steps, routes, strict=True):
        body += _step(graph, step, route, style.colour(step))
    for number, node in enumerate(nodes):
        body += _node(graph, number, node, style)
    lines = [Box(x, y, 4, 4) for route in routes for x, y in route.points]
    covered = [*nodes, *lines, *(route.label for route in routes)]
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
class _Route:
    """The way of a step, the points of cubic Bézier curves end to end, up to its arrow head, and its label's place."""

    points: tuple[tuple[float, float], ...]
    label: Box


def _arranged(graph: ModelLts, steps: list[Step]) -> tuple[list[Box], list[_Route]]:
    """Boxes of the states and routes of the steps. Graphviz counts y upwards, sizes of boxes in inches of 72 pixels."""
    import pygraphviz  # a compiled library, loaded only where a picture is drawn

    drawing = pygraphviz.AGraph(strict=False, directed=True, ranksep=0.4, nodesep=0.4)
    if len(steps) > _LARGE:
        drawing.graph_attr.update(splines="line", mclimit=0.3, nslimit=1, nslimit1=1)
    drawing.node_attr.update(shape="box", fixedsize="true", label="")
    drawing.edge_attr.update(arrowsize=ARROW / 10)
    sizes = [
        (max(map(text_width, _state_lines(graph, node))) + 24, 2.0 * LINE + 14) for node in range(len(graph.states))
    ]
    for node, (width, height) in enumerate(sizes):
        drawing.add_node(node, width=width / 72, height=height / 72)
    labels = [(text_width(_step_label(graph, step)) + 6, float(LINE)) for step in steps]
    for number, (step, (width, height)) in enumerate(zip(steps, labels, strict=True)):
        # The empty table is twelve pixels wider than the label, which keeps the line of another step off it.
        drawing.add_edge(step.source, step.target, key=number, label=_empty_table(width + 12, height))
    drawing.layout("dot")
    boxes = [Box(*_points(drawing.get_node(node).attr["pos"])[0], *size) for node, size in enumerate(sizes)]
    routes = []
    for number, (step, size) in enumerate(zip(steps, labels, strict=True)):
        found = drawing.get_edge(step.source, step.target, key=number).attr
        head, *points = _points(found["pos"].removeprefix("e,"))
        routes.append(_Route((*points, head), Box(*_points(found["lp"])[0], *size)))
    return boxes, routes


def _empty_table(width: float, height: float) -> str:
    """A label of Graphviz's with a size and no text."""
    bare = 'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" FIXEDSIZE="TRUE"'
    return f'<<TABLE {bare} WIDTH="{width:.0f}" HEIGHT="{height:.0f}"><TR><TD></TD></TR></TABLE>>'


def _points(text: str) -> list[tuple[float, float]]:
    """Points as Graphviz writes them, ``12.5,40 13,41``, with y counted downwards."""
    return [(float(x), -float(y)) for x, y in (point.split(",") for point in text.split())]


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


def _step(graph: ModelLts, step: Step, route: _Route, colour: str) -> Iterator[str]:
    width = 1.2 if colour == PLAIN else 2.2
    start, *points, _ = route.points
    yield f"<g><title>{escape(', '.join(step_text(graph, step)))}</title>"
    path = f"M {coord(*start)} C {' '.join(coord(*point) for point in points)}"
    yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" {arrow(colour)}/>'
    label = route.label
    yield veil(label)
    yield text_at(label.x, label.y, _step_label(graph, step), colour, bold=colour != PLAIN)
    yield "</g>"
