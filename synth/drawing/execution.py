"""Executions of a litmus test as pictures, in Graphviz and SVG. They are drawn as by Alglave et al. 2015 (Fig. 14).

Each thread has a column, in frames for its scopes. Reads and writes stand in rows, with program order downwards,
labelled with the fence or dependency on it; rf, co and fr run across. An asynchronous operation has a frame of its own
beside the thread that asks for it, with a broken arrow to it. Fences and barriers are events of their own where there
are such operations, and where an arrow points at them, and initial writes where the violation runs through them. A
violation has a yellow band behind it; all violations of an explanation are drawn, one below the other.

Colours can be told apart with any colour vision, and every arrow but plain program order has its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from corpus.errors import InputError
from corpus.litmus.condition import spell
from corpus.litmus.describe import describe
from corpus.litmus.orders import Place
from corpus.litmus.test import LitmusTest
from oracle.cat.text import check_text
from oracle.executions.derivations import DerivedPair
from oracle.executions.events import INITIAL, EventKind
from oracle.executions.values import value_text
from oracle.executions.witness import CandidateExecution, MemoryExplanation
from oracle.liveness import Liveness
from synth.drawing.arrangement import Arrangement, Arrow, Curve, LabelledArrow, arrange
from synth.drawing.pictures import (
    ARROW,
    INK,
    LINE,
    Box,
    Drawing,
    arrow,
    coord,
    listing,
    quoted,
    side_by_side,
    text_at,
    text_width,
    veil,
)
from synth.memory.explanation import (
    EventColumn,
    event_columns,
    event_names,
    event_text,
    rows_of,
    shown_relations,
    tells_places,
)
from synth.memory.liveness import stuck_events

if TYPE_CHECKING:
    from synth.memory.bugs import ExplainedBug
    from synth.memory.sequences import ExplainedTableBug

_PO, _RF, _CO, _FR, _SYNC, _DEPENDENCY = "#3d444d", "#c2410c", "#0b62a8", "#8a2d7d", "#00695c", "#7a5200"
_COLOURS = {
    **dict.fromkeys(("rf", "rfe", "rfi"), _RF),
    **dict.fromkeys(("co", "coe", "coi"), _CO),
    **dict.fromkeys(("fr", "fre", "fri"), _FR),
    **dict.fromkeys(("sync_fence", "syncbar", "retired"), _SYNC),
    **dict.fromkeys(("addr", "data", "ctrl", "rmw", "amo"), _DEPENDENCY),
}
_BAND, _BOX_FILL, _FRAME, _FRAME_INK = "#ffe58f", "#ffffff", "#c4cad1", "#656d76"
_OPERATION, _OPERATION_FILL = "#8fa9c4", "#e8f0f8"
_ASKED = "asked"
_ACCESSES = (EventKind.READ, EventKind.WRITE)


@dataclass(frozen=True, slots=True)
class _Line:
    """An arrow and how it is drawn. ``band``: it belongs to the violation; ``down``: it leads to the thread's next
    event.
    """

    arrow: Arrow
    names: tuple[str, ...]
    band: bool = False
    down: bool = False

    @property
    def colour(self) -> str:
        return next((_COLOURS[name] for name in self.names if name in _COLOURS), _PO)


@dataclass(frozen=True)
class _Picture:
    """The picture of an execution. ``band``: events of the violation."""

    execution: CandidateExecution
    caption: str
    columns: Sequence[EventColumn]
    initial: tuple[int, ...]
    texts: Mapping[int, str]
    lines: tuple[_Line, ...]
    band: frozenset[int]
    places: tuple[Place, ...] | None


def draw(explanation: MemoryExplanation) -> Drawing:
    """Draw the executions of an explanation; equal explanations give equal bytes. Raises ``InputError`` where there is
    none.
    """
    return _drawing(_title(explanation), _pictures(explanation))


def draw_hang(found: Liveness) -> Drawing:
    """Draw a hang, with a band behind what goes on for ever. Raises ``InputError`` where there is no hang."""
    return _drawing(_hang_title(found), [_hang_picture(found)])


def _drawing(title: str, pictures: Sequence[_Picture]) -> Drawing:
    boxes: list[Box] = []
    body: list[str] = []
    below = 0.0
    for picture in pictures:
        arrangement = arrange(
            picture.columns, picture.initial, picture.texts, [line.arrow for line in picture.lines], picture.places
        )
        covered = [*_covered(picture, arrangement)]
        left, right = min(box.left for box in covered), max(box.right for box in covered)
        top, bottom = min(box.top for box in covered), max(box.bottom for box in covered)
        caption = [picture.caption] if picture.caption else []
        down = below - top + LINE * 1.5 * len(caption)
        across = -(left + right) / 2
        body += [text_at(0, below + LINE / 2, line, INK) for line in caption]
        body.append(f'<g transform="translate({coord(across, down)})">')
        body += _drawn(picture, arrangement)
        body.append("</g>")
        finals = _finals(picture.execution)
        end = bottom + down
        if finals:
            end += LINE * 1.5
            body.append(text_at(0, end - LINE / 2, finals, _FRAME_INK))
        wide = max(right - left, text_width(picture.caption), text_width(finals))
        boxes.append(Box(0, (below + end) / 2, wide, end - below))
        below = end + 2.5 * LINE
    return Drawing(title, boxes, body, sorted({_PO, *_COLOURS.values()}))


class NotedExecution(NamedTuple):
    """An execution to be drawn: its caption, the events with a band behind them, and notes that go behind events."""

    execution: CandidateExecution
    caption: str
    marked: frozenset[int]
    notes: Mapping[int, str]


def draw_noted(title: str, test: LitmusTest, executions: Sequence[NotedExecution]) -> Drawing:
    """Draw executions of a test, at least one, one below the other, with notes such as source lines."""
    pictures = [
        _picture(test, execution.execution, (), execution.marked, execution.caption, execution.notes)
        for execution in executions
    ]
    return _drawing(title, pictures)


def draw_dot(explanation: MemoryExplanation) -> str:
    """Return the pictures of an explanation as Graphviz text, a graph each.

    Raises ``InputError`` where there is no execution to draw.
    """
    return _dot(explanation.test.name, _title(explanation), _pictures(explanation))


def draw_hang_dot(found: Liveness) -> str:
    """Return the picture of a hang as Graphviz text. Raises ``InputError`` where there is no hang."""
    return _dot(found.test.name, _hang_title(found), [_hang_picture(found)])


def _dot(name: str, title: str, pictures: Sequence[_Picture]) -> str:
    lines: list[str] = []
    for picture in pictures:
        label = "\n".join(line for line in (title, picture.caption, _finals(picture.execution)) if line)
        lines += [
            f"digraph {quoted(name)} {{",
            f"  label={quoted(label)}; labelloc=t; fontname=Helvetica; newrank=true; nodesep=0.9;",
            "  node [shape=box style=rounded fontname=Courier];",
            "  edge [fontname=Courier];",
            *_dot_nodes(picture),
            *(_dot_edge(number, line) for number, line in enumerate(picture.lines)),
            "}",
        ]
    return "\n".join(lines) + "\n"


def _title(explanation: MemoryExplanation) -> str:
    return f"{explanation.test.name} under {explanation.model.name}: {explanation.answer}"


def _hang_title(found: Liveness) -> str:
    return f"{found.test.name} under {found.model.name}: {found.verdict}"


def _hang_picture(found: Liveness) -> _Picture:
    hang = found.hanging.hang
    if hang is None:
        raise InputError(
            f"{found.model.name} lets no execution go on for ever, so there is nothing to draw", found.test.name
        )
    return _picture(found.test, hang.execution, (), stuck_events(hang), "")


def _finals(execution: CandidateExecution) -> str:
    return ", ".join(f"{spell(term)}={value_text(value)}" for term, value in execution.finals.items())


# Contents of a picture


def _pictures(explanation: MemoryExplanation) -> list[_Picture]:
    test = explanation.test
    if explanation.witness is not None:
        return [_picture(test, explanation.witness, (), frozenset(), "")]
    if not explanation.violations:
        raise InputError("no candidate execution has the outcome, so there is nothing to draw", test.name)
    pictures = []
    for violation in explanation.violations:
        steps = (*violation.steps, *(step for edge in violation.aside for step in edge.steps()))
        many = f" ({violation.count} of {explanation.outcomes} executions)" if explanation.outcomes > 1 else ""
        caption = f"{violation.check.name}: {check_text(violation.check)}{many}"
        pictures.append(_picture(test, violation.execution, steps, frozenset(violation.events), caption))
    return pictures


def _picture(
    test: LitmusTest,
    execution: CandidateExecution,
    steps: Sequence[DerivedPair],
    marked: frozenset[int],
    caption: str,
    notes: Mapping[int, str] = MappingProxyType({}),
) -> _Picture:
    events, names = execution.events, event_names(execution.events)
    band = marked | {event for step in steps for event in (step.source, step.target)}
    pointed = band | {event for pair in execution.pairs("sync_fence") for event in pair}
    every = any(event.operation is not None for event in events)
    drawn = {n for n, event in enumerate(events) if every or n in pointed or event.kind in _ACCESSES}
    columns = event_columns(execution, drawn)
    initial = tuple(number for number, event in enumerate(events) if event.thread == INITIAL and number in band)
    shown = [*initial, *(number for column in columns for number in column.events)]
    texts = {
        number: event_text(execution, number)
        if events[number].thread == INITIAL
        else f"{names[number]}: {event_text(execution, number)}  {notes.get(number, '')}".rstrip()
        for number in shown
    }
    places = tuple(thread.place for thread in test.threads) if tells_places(test) else None
    lines = tuple(_lines(execution, columns, frozenset(shown), steps))
    return _Picture(execution, caption, columns, initial, texts, lines, frozenset(band), places)


def _lines(
    execution: CandidateExecution,
    columns: Sequence[EventColumn],
    shown: frozenset[int],
    steps: Sequence[DerivedPair],
) -> Iterator[_Line]:
    """Yield the arrows of a picture, one for each pair of events.

    An arrow of the violation has all its names, and comes last, so that it lies on top.
    """
    orders = {pair: "within" if column.operation else "po" for column in columns for pair in pairwise(column.events)}
    following = frozenset(orders)
    names: dict[tuple[int, int], dict[str, None]] = {pair: {orders[pair]: None} for pair in sorted(following)}
    for name, pairs in shown_relations(execution, columns).items():
        for pair in pairs:
            if shown.issuperset(pair) and name != "syncbar" and (name not in ("ctrl", "data") or pair in following):
                names.setdefault(pair, {})[name] = None
    for pair, related in names.items():
        if "rmw" in related:
            names[pair] = {"rmw": None}
        elif len(related) > 1:
            related.pop("within", None)
    banded = {(step.source, step.target): dict.fromkeys(step.names) for step in steps if step.source != step.target}
    for pair, related in banded.items():  # who asks for an operation is shown in a violation, too
        names[pair] = related | ({_ASKED: None} if _ASKED in names.get(pair, ()) else {})
    for write, from_nowhere in execution.pairs("rf"):
        if write not in shown:
            yield _Line(Arrow(None, from_nowhere, "rf"), ("rf",))
    for pair in sorted(names, key=lambda pair: (pair in banded, pair)):
        relations = tuple(names[pair])
        shown_names = [name for name in relations if name != "po"]
        if (pair in following or _ASKED in relations) and pair not in banded:
            shown_names += _hidden_fences(execution, shown, *pair)
        label = ", ".join(shown_names) or "po" * (pair in banded)
        yield _Line(Arrow(*pair, label), relations, pair in banded, pair in following)


def _hidden_fences(execution: CandidateExecution, shown: frozenset[int], before: int, after: int) -> Iterator[str]:
    """Yield the fences and barriers between two events of a thread that are drawn."""
    for number in range(before + 1, after):
        if number not in shown:
            yield describe(execution.instruction(number))


# SVG


def _covered(picture: _Picture, arrangement: Arrangement) -> Iterator[Box]:
    yield from arrangement.events.values()
    yield from (frame.box for frame in (*arrangement.frames, *arrangement.operations))
    yield from (Box(x, arrangement.heading, 40, LINE) for x in arrangement.columns.values())
    for line, route in zip(picture.lines, arrangement.routes, strict=True):
        if line.arrow.label:
            yield route.label
        yield from (Box(x, y, 8, 8) for curve in route.curves for x, y in (curve[0], _halfway(curve), curve[3]))


def _halfway(curve: Curve) -> tuple[float, float]:
    (a, b), (c, d), (e, f), (g, h) = curve
    return (a + 3 * c + 3 * e + g) / 8, (b + 3 * d + 3 * f + h) / 8


def _drawn(picture: _Picture, arrangement: Arrangement) -> Iterator[str]:
    for frame in arrangement.frames:
        yield _rectangle(frame.box, 10, _FRAME, "none", 'stroke-dasharray="5 4"')
        words = text_width(frame.label)
        yield text_at(frame.box.left + 12 + words / 2, frame.box.top + 12, frame.label, _FRAME_INK)
    for frame in arrangement.operations:
        yield _rectangle(frame.box, 10, _OPERATION, _OPERATION_FILL, "")
    for thread, x in arrangement.columns.items():
        yield text_at(x, arrangement.heading, f"P{thread}", INK, bold=True)
    for line, route in zip(picture.lines, arrangement.routes, strict=True):
        if line.band:
            path = f'd="{_path(route, 0)}" fill="none" stroke="{_BAND}"'
            yield f'<path {path} stroke-width="10" stroke-linecap="round"/>'
    for line, route in zip(picture.lines, arrangement.routes, strict=True):
        width = 2.2 if line.band else 1.3
        path = f'd="{_path(route, ARROW)}" fill="none" stroke="{line.colour}" stroke-width="{width}"'
        path += ' stroke-dasharray="5 3"' * (_ASKED in line.names)
        yield f"<path {path} {arrow(line.colour)}/>"
    for frame in arrangement.operations:
        yield veil(frame.words, _OPERATION_FILL)
        yield text_at(frame.words.x, frame.words.y, frame.label, INK)
    for event, box in arrangement.events.items():
        fill, extra = (_BAND, 'stroke-opacity="1"') if event in picture.band else (_BOX_FILL, "")
        yield _rectangle(box, 6, _PO, fill, extra)
        yield text_at(box.x, box.y, picture.texts[event], INK)
    for line, route in zip(picture.lines, arrangement.routes, strict=True):
        if line.arrow.label:
            inside = any(frame.box.encloses(route.label) for frame in arrangement.operations)
            yield veil(route.label, _OPERATION_FILL if inside else "white")
            yield text_at(route.label.x, route.label.y, line.arrow.label, line.colour, bold=line.band)


def _rectangle(box: Box, corner: float, stroke: str, fill: str, extra: str) -> str:
    where = f'x="{coord(box.left)}" y="{coord(box.top)}" width="{coord(box.width)}" height="{coord(box.height)}"'
    return f'<rect {where} rx="{coord(corner)}" fill="{fill}" stroke="{stroke}" {extra}/>'.replace(" />", "/>")


def _path(route: LabelledArrow, short: float) -> str:
    """Return curves as an SVG path that stops short of its end, to leave room for the arrow head."""
    *rest, (start, one, two, end) = route.curves
    dx, dy = end[0] - two[0], end[1] - two[1]
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    tip = (end[0] - dx / length * short, end[1] - dy / length * short)
    parts = [f"C {coord(*curve[1], *curve[2], *curve[3])}" for curve in (*rest, (start, one, two, tip))]
    return f"M {coord(*route.curves[0][0])} {' '.join(parts)}"


# Graphviz


def _dot_nodes(picture: _Picture) -> Iterator[str]:
    for number in picture.initial:
        yield f"  {_dot_node(picture, number)}"
    opened: list[str] = []
    for column in picture.columns:
        thread = column.thread
        groups = [] if picture.places is None else _groups(picture.places[thread])
        while opened and opened != groups[: len(opened)]:
            yield f"{'  ' * len(opened)}}}"
            opened.pop()
        for group in groups[len(opened) :]:
            opened.append(group)
            name = group.rpartition("/")[2]
            cluster = quoted(f"cluster {thread} {group}")
            yield f"{'  ' * len(opened)}subgraph {cluster} {{ label={quoted(name)}; style=dashed; color=gray60;"
        indent = "  " * (len(opened) + 1)
        if column.operation:
            look = f'style="rounded,filled"; color="{_OPERATION}"; fillcolor="{_OPERATION_FILL}"'
            name, label = f"cluster P{thread} e{column.events[0]}", quoted(column.operation)
        else:
            look, name, label = "color=none", f"cluster P{thread}", f"P{thread}"
        yield f"{indent}subgraph {quoted(name)} {{ label={label}; {look};"
        yield from (f"{indent}  {_dot_node(picture, number)}" for number in column.events)
        yield f"{indent}}}"
    yield from ("  " * level + "}" for level in range(len(opened), 0, -1))
    rows: dict[int, list[str]] = {}
    for number, row in rows_of(picture.columns).items():
        rows.setdefault(row, []).append(f"e{number}")
    for _, level in sorted(rows.items()):
        if len(level) > 1:
            yield f"  {{ rank=same; {'; '.join(level)}; }}"


def _groups(place: Place) -> list[str]:
    return [f"gpu {place.gpu}", f"gpu {place.gpu}/{place.queue}/cta {place.cta}"]


def _dot_node(picture: _Picture, number: int) -> str:
    fill = f' style="rounded,filled" fillcolor="{_BAND}"' if number in picture.band else ""
    return f"e{number} [label={quoted(picture.texts[number])}{fill}];"


def _dot_edge(number: int, line: _Line) -> str:
    look = f'label={quoted(line.arrow.label)} color="{line.colour}" fontcolor="{line.colour}"'
    look += " penwidth=2.6" if line.band else ""
    look += " style=dashed" if _ASKED in line.names else ""
    look += "" if line.down else " constraint=false"
    if line.arrow.source is None:
        return f"  r{number} [shape=point style=invis]; r{number} -> e{line.arrow.target} [{look}];"
    return f"  e{line.arrow.source} -> e{line.arrow.target} [{look}];"


def draw_table_bug(bug: ExplainedTableBug) -> Drawing:
    """A bug of a table: the execution under what the source says of it, and the run of the machine in words."""
    source = bug.explanation
    pictures = [
        replace(draw(source), title=f"source under {source.model.name}: {source.answer}"),
        listing(f"target under {bug.table.name}: ALLOWED", [*_code_lines(bug), "", *bug.run]),
    ]
    return side_by_side(bug.bug.test.name, pictures)


def _code_lines(bug: ExplainedTableBug) -> Iterator[str]:
    for number, code in enumerate(bug.code):
        yield f"P{number}: {'; '.join(code)}"


def draw_bug(bug: ExplainedBug) -> Drawing:
    """A bug of a mapping: both executions, each under what its model says."""
    pictures = [
        replace(draw(explanation), title=f"{side} under {explanation.model.name}: {explanation.answer}")
        for side, explanation in zip(("source", "target"), bug.explanations, strict=True)
    ]
    return side_by_side(bug.bug.source.name, pictures)
