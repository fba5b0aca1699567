"""The Hasse diagram of models: stronger ones above, with arrows to the next weaker ones.

A node has the models between which no difference was found. An arrow has the name of the smallest test that the weaker
model alone allows. The title states the size up to which tests were searched, the foot their vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from textwrap import wrap

from synth.drawing.layers import ArrowPath, arrange
from synth.drawing.pictures import INK, LINE, Box, Drawing, arrow, framed, quoted, text_at, text_width, veil
from synth.memory.ordering import Group, ModelSearch, Ordering, search_text

_LINE_COLOUR, _FRAME, _FILL, _FOOT_INK = "#3d444d", "#57606a", "#f6f8fa", "#656d76"
_FOOT = 80  # characters of a line of the foot


def draw(ordering: Ordering) -> Drawing:
    """Draw an ordering of models as SVG; equal orderings give equal bytes."""
    groups, covers = ordering.groups(), ordering.covers()
    searches = [ordering.separating(*cover) for cover in covers]
    sizes = [(max(map(text_width, group)) + 24, float(LINE * len(group) + 14)) for group in groups]
    labels = [(text_width(_label(search)) + 6, float(LINE)) for search in searches]
    numbers = {group: number for number, group in enumerate(groups)}
    boxes, routes = arrange(sizes, [(numbers[one], numbers[other]) for one, other in covers], labels)
    body: list[str] = []
    for cover, search, route in zip(covers, searches, routes, strict=True):
        body += _arrow(*cover, search, route)
    for group, box in zip(groups, boxes, strict=True):
        body += _node(group, box)
    covered = [*boxes, *(box for route in routes for box in route.covered())]
    left, right = min(box.left for box in covered), max(box.right for box in covered)
    bottom = max(box.bottom for box in covered)
    for row, line in enumerate(_foot(ordering)):
        foot = Box((left + right) / 2, bottom + (row + 1.5) * LINE, text_width(line), LINE)
        covered.append(foot)
        body.append(text_at(foot.x, foot.y, line, _FOOT_INK))
    return Drawing(_title(ordering), covered, body, [_LINE_COLOUR])


def draw_dot(ordering: Ordering) -> str:
    """Return the Hasse diagram of an ordering of models as Graphviz text."""
    groups = ordering.groups()
    label = "\n".join([_title(ordering), *_foot(ordering)])
    lines = [
        "digraph models {",
        f"  label={quoted(label)}; labelloc=t; fontname=Helvetica;",
        f'  node [shape=box style="rounded,filled" fillcolor="{_FILL}" fontname=Courier];',
        "  edge [fontname=Courier];",
    ]
    for number, group in enumerate(groups):
        lines.append(f"  m{number} [label={quoted(chr(10).join(group))}];")
    for one, other in ordering.covers():
        test = quoted(_label(ordering.separating(one, other)))
        lines.append(f"  m{groups.index(one)} -> m{groups.index(other)} [label={test}];")
    return "\n".join([*lines, "}"]) + "\n"


def _title(ordering: Ordering) -> str:
    return f"Models by strength, up to {ordering.bound()} events"


def _foot(ordering: Ordering) -> list[str]:
    meaning = "An arrow leads to the next weaker model. Of the two it alone allows the test."
    return [*wrap(meaning, _FOOT), *wrap(f"Over {ordering.vocabulary}.", _FOOT)]


def _label(search: ModelSearch) -> str:
    return search.test or f"none up to {search.events} events"


def _arrow(stronger: Group, weaker: Group, search: ModelSearch, route: ArrowPath) -> Iterator[str]:
    title = f"{', '.join(weaker)} weaker than {', '.join(stronger)}: {search_text(search)}"
    yield f"<g><title>{escape(title)}</title>"
    yield f'<path d="{route.path()}" fill="none" stroke="{_LINE_COLOUR}" stroke-width="1.3" {arrow(_LINE_COLOUR)}/>'
    yield veil(route.label)
    yield text_at(route.label.x, route.label.y, _label(search), _LINE_COLOUR)
    yield "</g>"


def _node(group: Group, box: Box) -> Iterator[str]:
    yield framed(box, 0, _FRAME, _FILL, 1.2)
    for row, model in enumerate(group):
        yield text_at(box.x, box.y + (row - (len(group) - 1) / 2) * LINE, model, INK)
