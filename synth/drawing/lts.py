"""The picture of a labelled transition system under a progress model. It marks the cycle on which threads starve.

It is drawn as in Figs. 2 and 6 of Sorensen et al. 2021. A state shows memory and program counters. A transition shows
its thread, and the threads that are promised fair execution before it. The start has a thick border, an end state a
double one. Steps to the cycle are blue, the cycle is red.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from oracle.progress.explain import Explanation, LtsStep, ModelLts
from oracle.progress.system import NO_STEP
from synth.drawing.layers import ArrowPath, arrange
from synth.drawing.pictures import INK, LINE, Box, Drawing, arrow, framed, quoted, text_at, text_width, veil
from synth.progress.explanation import counter_text, memory_text, step_text, summary, threads_text

PLAIN, STEM, CYCLE = "#57606a", "#0969da", "#cf222e"
_STATE_FILL, _CYCLE_FILL = "#f6f8fa", "#ffebe9"


@dataclass(frozen=True, slots=True)
class _Style:
    """The colours of a lasso in a picture."""

    stem: frozenset[LtsStep]
    cycle: frozenset[LtsStep]
    looping: frozenset[int]

    @classmethod
    def of(cls, explanation: Explanation) -> _Style:
        lasso = explanation.lasso
        stem, cycle = (frozenset(lasso.stem), frozenset(lasso.cycle)) if lasso else (frozenset(), frozenset())
        return cls(stem, cycle, frozenset(step.source for step in cycle))

    def colour(self, step: LtsStep) -> str:
        return CYCLE if step in self.cycle else STEM if step in self.stem else PLAIN


def draw_dot(name: str, explanation: Explanation) -> str:
    """Return the picture of an explanation's transition system as Graphviz text."""
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


def draw(name: str, explanation: Explanation) -> Drawing:
    """Draw the transition system of an explanation as SVG; equal explanations give equal bytes."""
    graph, style = explanation.graph, _Style.of(explanation)
    steps = list(_steps(graph))
    nodes, routes = _arranged(graph, steps)
    body: list[str] = []
    for step, route in zip(steps, routes, strict=True):
        body += _step(graph, step, route, style.colour(step))
    for number, node in enumerate(nodes):
        body += _node(graph, number, node, style)
    covered = [*nodes, *(box for route in routes for box in route.covered())]
    return Drawing(_title(name, explanation), covered, body, (PLAIN, STEM, CYCLE))


def _title(name: str, explanation: Explanation) -> str:
    return f"{name} under {explanation.model.name}: {explanation.verdict}, {summary(explanation)}"


def _steps(graph: ModelLts) -> Iterator[LtsStep]:
    for node, row in enumerate(graph.successors):
        for successors in (row, graph.chances[node]) if graph.chances else (row,):
            for tid, after in enumerate(successors):
                if after != NO_STEP:
                    yield LtsStep(node, tid, after)


def _state_lines(graph: ModelLts, node: int) -> list[str]:
    counters = (f"T{tid}:{counter_text(graph, tid, pc)}" for tid, pc in enumerate(graph.counters(node)))
    return [f"mem {memory_text(graph, node)}", " ".join(counters)]


def _step_label(graph: ModelLts, step: LtsStep) -> str:
    return f"T{step.thread} {threads_text(graph.promised[step.source])}"


def _arranged(graph: ModelLts, steps: list[LtsStep]) -> tuple[list[Box], list[ArrowPath]]:
    """Return the boxes of the states and the paths of the steps."""
    boxes = [
        (max(map(text_width, _state_lines(graph, node))) + 24, 2.0 * LINE + 14) for node in range(len(graph.states))
    ]
    labels = [(text_width(_step_label(graph, step)) + 6, float(LINE)) for step in steps]
    return arrange(boxes, [(step.source, step.target) for step in steps], labels)


def _node(graph: ModelLts, node: int, box: Box, style: _Style) -> Iterator[str]:
    looping = node in style.looping
    stroke, fill = (CYCLE, _CYCLE_FILL) if looping else (PLAIN, _STATE_FILL)
    yield framed(box, 0, stroke, fill, 2.5 if node == 0 else 1.2)
    if not graph.running(node):
        yield framed(box, 3, stroke, "none", 1.2)
    for row, text in enumerate(_state_lines(graph, node)):
        yield text_at(box.x, box.y + (row - 0.5) * LINE, text, INK)


def _step(graph: ModelLts, step: LtsStep, route: ArrowPath, colour: str) -> Iterator[str]:
    width = 1.2 if colour == PLAIN else 2.2
    yield f"<g><title>{escape(', '.join(step_text(graph, step)))}</title>"
    yield f'<path d="{route.path()}" fill="none" stroke="{colour}" stroke-width="{width}" {arrow(colour)}/>'
    label = route.label
    yield veil(label)
    yield text_at(label.x, label.y, _step_label(graph, step), colour, bold=colour != PLAIN)
    yield "</g>"
