"""The layout of an execution's picture: threads in columns, events in rows, and arrows.

As in the papers, program order runs down a column and communication crosses from column to column. What a thread asks
for, an asynchronous operation, has a column and a frame of its own, to the right of the thread's, and begins below the
event after which the thread asks. An arrow

- to the next event of a thread is a straight line down;
- to another event of the thread bends out of the column, on the outer side of the picture where there is one;
- to a neighbouring column leaves and enters sideways;
- to a column further away runs between two rows on its way past the others.

A read from initial memory has a short arrow without a source, unless the initial write is shown above the columns. A
label lies on its arrow or beside it, where it covers no event and no other label, and as little as possible of other
arrows. Lengths are pixels; the first row is at y = 0. The layout depends on nothing but the arguments.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from corpus.litmus.orders import Place
from synth.drawing.pictures import LINE, Box, text_width
from synth.memory.explanation import EventColumn, rows_of

Point = tuple[float, float]
Curve = tuple[Point, Point, Point, Point]
"""A cubic Bézier curve: its two ends, and between them its two control points."""

_ROW, _HEIGHT = 70.0, 28.0  # distance of rows; height of a box
_GAP = 96.0  # between columns, besides arrows that bend into the gap
_PAD = 12.0  # between the frame of an operation and its events or words, on either side
_STUB = (30.0, 18.0)
_SPOTS = tuple(0.5 + away * sign for away in (0.0, *(0.04 * n for n in range(1, 10))) for sign in (-1, 1))
"""The candidate places of a label along an arrow, as shares of its way."""
_BESIDE = 30  # the cost of a place beside an arrow, as much as covering three points of another arrow
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one event to another; ``source`` is None where it comes from initial memory."""

    source: int | None
    target: int
    label: str


@dataclass(frozen=True, slots=True)
class LabelledArrow:
    """An arrow as a path of Bézier curves, and the place of its label."""

    curves: tuple[Curve, ...]
    label: Box


@dataclass(frozen=True, slots=True)
class LabelledFrame:
    """The frame around the columns of the threads in one group of the scope tree, or around one operation."""

    label: str
    box: Box

    @property
    def words(self) -> Box:
        """Where the words of an operation are: in the middle, at the top of its frame."""
        return Box(self.box.x, self.box.top + LINE / 2 + 2, text_width(self.label), LINE)


@dataclass(frozen=True)
class Arrangement:
    """The layout of a picture: boxes of events, paths of arrows, middles of columns by thread, and frames: of scopes,
    outer ones first, and of asynchronous operations.
    """

    events: Mapping[int, Box]
    routes: tuple[LabelledArrow, ...]
    columns: Mapping[int, float]
    heading: float
    frames: tuple[LabelledFrame, ...]
    operations: tuple[LabelledFrame, ...]


def arrange(
    columns: Sequence[EventColumn],
    initial: Sequence[int],
    texts: Mapping[int, str],
    arrows: Sequence[Arrow],
    places: Sequence[Place] | None,
) -> Arrangement:
    """Lay out ``columns``, their events from top to bottom, with the ``initial`` writes above them.

    ``texts`` are the labels of events; ``places`` are the places of threads in the scope tree, None where they do not
    matter.
    """
    return _Arranger(columns, initial, texts, arrows, places).arrangement()


class _Arranger:
    def __init__(
        self,
        columns: Sequence[EventColumn],
        initial: Sequence[int],
        texts: Mapping[int, str],
        arrows: Sequence[Arrow],
        places: Sequence[Place] | None,
    ) -> None:
        self._columns = _side_by_side(columns, places)
        self._initial = initial
        self._texts = texts
        self._arrows = arrows
        self._places = places
        # The column and row of an event; an initial write, and None, are in no column.
        self._column: dict[int | None, int] = {
            event: c for c, column in enumerate(self._columns) for event in column.events
        }
        self._row = dict[int | None, int](rows_of(self._columns).items())
        self._levels = self._bends()

    def arrangement(self) -> Arrangement:
        levels = 0 if self._places is None else 2
        heading = -_HEIGHT / 2 - 20
        middles = self._middles()
        self._middle = middles
        boxes = {
            event: Box(middles[c], self._row[event] * _ROW, self._width(event), _HEIGHT)
            for c, column in enumerate(self._columns)
            for event in column.events
        }
        top = heading - LINE / 2 - levels * 22
        spread = (middles[0] + middles[-1]) / 2
        for number, event in enumerate(self._initial):
            x = spread + (number - (len(self._initial) - 1) / 2) * 130
            boxes[event] = Box(x, top - 44, self._width(event), _HEIGHT)
        self._boxes = boxes
        self._ports = self._ported()
        curves = [self._curves(number) for number in range(len(self._arrows))]
        columns = {
            column.thread: middle for column, middle in zip(self._columns, middles, strict=True) if not column.operation
        }
        operations = tuple(self._operations())
        solid = [
            *boxes.values(),
            *(Box(x, heading, 30, LINE) for x in columns.values()),
            *(frame.words for frame in operations),
        ]
        self._turn_stubs(curves, solid)
        labels = self._labels(curves, solid)
        routes = tuple(LabelledArrow(curve, label) for curve, label in zip(curves, labels, strict=True))
        return Arrangement(boxes, routes, columns, heading, tuple(self._frames(heading, boxes)), operations)

    def _width(self, event: int) -> float:
        return text_width(self._texts[event]) + 20

    def _widest(self, column: int) -> float:
        events, words = self._columns[column].events, self._columns[column].operation
        widths = [*(self._width(event) for event in events), *([text_width(words)] if words else [])]
        return max(widths, default=40.0) + 2 * _PAD * bool(words)

    # Columns

    def _bends(self) -> dict[int, int]:
        """Return the arrows that bend out of their column, each with the number of arrows that it must bend around."""
        bent = [number for number, arrow in enumerate(self._arrows) if self._is_bent(arrow)]
        levels: dict[int, int] = {}
        for number in sorted(bent, key=lambda number: (self._span(number)[1] - self._span(number)[0], number)):
            low, high = self._span(number)
            column = self._column[self._arrows[number].target]
            around = [
                levels[other]
                for other in levels
                if self._column[self._arrows[other].target] == column
                and self._span(other)[0] < high
                and low < self._span(other)[1]
            ]
            levels[number] = max(around, default=-1) + 1
        return levels

    def _is_bent(self, arrow: Arrow) -> bool:
        """Return whether an arrow joins two events of one column and is not straight down."""
        return self._is_inside(arrow) and not self._is_down(arrow)

    def _is_inside(self, arrow: Arrow) -> bool:
        column = self._column.get(arrow.source)
        return column is not None and column == self._column.get(arrow.target)

    def _is_down(self, arrow: Arrow) -> bool:
        """Return whether an arrow leads to the next event of the thread."""
        return self._is_inside(arrow) and self._row[arrow.target] == self._row[arrow.source] + 1

    def _span(self, number: int) -> tuple[int, int]:
        """Return the rows between which a bent arrow runs."""
        arrow = self._arrows[number]
        rows = self._row[arrow.source], self._row[arrow.target]
        return min(rows), max(rows)

    def _outward(self, column: int) -> int:
        """Return -1 where arrows that leave a column bend to the left, 1 where they bend to the right."""
        return 1 if column == len(self._columns) - 1 else -1

    def _bend(self, number: int) -> float:
        """Return how far an arrow's control points are out of the column, in pixels."""
        return 44.0 + 34 * self._levels[number]

    def _reach(self, column: int, way: int) -> float:
        """Return how far bent arrows, arrows from initial memory and labels reach out of one side of a column, in
        pixels.
        """
        reach = 0.0
        for number, arrow in enumerate(self._arrows):
            if self._column.get(arrow.target) != column:
                continue
            if arrow.source is None and self._stub_side(arrow.target) == way:
                reach = max(reach, _STUB[0] + text_width(arrow.label))
            elif number in self._levels and self._outward(column) == way:
                reach = max(reach, 0.75 * self._bend(number) + text_width(arrow.label))
            elif way == 1 and arrow.label and self._is_down(arrow):
                reach = max(reach, text_width(arrow.label) + 10 - self._widest(column) / 2)
        return reach

    def _stub_side(self, event: int) -> int:
        """Return the side of an arrow from initial memory: the outer one, unless only that one is taken."""
        outward = self._outward(self._column[event])
        around = any(
            self._column[self._arrows[number].target] == self._column[event]
            and self._span(number)[0] < self._row[event] < self._span(number)[1]
            for number in self._levels
        )
        taken = {outward} if around else set()
        taken |= {
            self._side(event, other)
            for arrow in self._arrows
            if event in (arrow.source, arrow.target) and not self._is_down(arrow)
            for other in (arrow.source, arrow.target)
            if other is not None and other != event and other in self._column
        }
        return -outward if taken == {outward} else outward

    def _middles(self) -> list[float]:
        widths = [self._widest(column) for column in range(len(self._columns))]
        middles = [0.0]
        for left, right in zip(range(len(widths)), range(1, len(widths)), strict=False):
            between = [
                text_width(arrow.label)
                for arrow in self._arrows
                if {self._column.get(arrow.source), self._column.get(arrow.target)} == {left, right}
            ]
            widest = max(between, default=0.0)
            gap = _GAP + widest + min(widest, sum(between) - widest)  # labels are side by side where their arrows cross
            gap += self._reach(left, 1) + self._reach(right, -1)
            middles.append(middles[-1] + widths[left] / 2 + gap + widths[right] / 2)
        return middles

    # Arrows

    def _ported(self) -> dict[tuple[int, int], float]:
        """Return, for each arrow and event, how far from the middle of the box's side the arrow meets it: arrows share
        the side.
        """
        ends: dict[tuple[int, int], list[tuple[float, int]]] = {}
        for number, arrow in enumerate(self._arrows):
            if arrow.source is None or self._is_down(arrow):
                continue
            for event, other in ((arrow.source, arrow.target), (arrow.target, arrow.source)):
                if event in self._column:
                    ends.setdefault((event, self._side(event, other)), []).append((self._boxes[other].y, number))
        ports = {}
        for (event, _), found in ends.items():
            step = min(9.0, 20.0 / max(1, len(found) - 1))
            for rank, (_, number) in enumerate(sorted(found)):
                ports[number, event] = (rank - (len(found) - 1) / 2) * step
        return ports

    def _side(self, event: int, other: int) -> int:
        column = self._column[event]
        if other in self._column:
            away = self._column[other] - column
            return self._outward(column) if away == 0 else 1 if away > 0 else -1
        return 1 if self._boxes[other].x > self._boxes[event].x else -1

    def _curves(self, number: int) -> tuple[Curve, ...]:
        arrow = self._arrows[number]
        target = self._boxes[arrow.target]
        if arrow.source is None:
            return self._stub(arrow.target, -1)
        source = self._boxes[arrow.source]
        if self._is_down(arrow):
            return (_line((source.x, source.bottom), (target.x, target.top)),)
        start, end = self._end(number, arrow.source, arrow.target), self._end(number, arrow.target, arrow.source)
        if arrow.source not in self._column or arrow.target not in self._column:
            return ((start, _away(start, source), _away(end, target), end),)
        away = self._column[arrow.target] - self._column[arrow.source]
        if away == 0:
            way = self._outward(self._column[arrow.target])
            out = max(start[0] * way, end[0] * way) * way + way * self._bend(number)
            return ((start, (out, start[1]), (out, end[1]), end),)
        passed = self._passed(arrow)
        if passed:
            return self._past(number, start, end, passed)
        reach = (end[0] - start[0]) * 0.4
        return ((start, (start[0] + reach, start[1]), (end[0] - reach, end[1]), end),)

    def _stub(self, event: int, way: int) -> tuple[Curve, ...]:
        """Return a short arrow from initial memory to an event, from above (-1) or from below (1)."""
        box, side = self._boxes[event], self._stub_side(event)
        x, y = box.x + side * box.width / 2, box.y + way * 5
        return (_line((x + side * _STUB[0], y + way * _STUB[1]), (x, y)),)

    def _end(self, number: int, event: int, other: int) -> Point:
        """Return the point where an arrow meets the box of an event."""
        box = self._boxes[event]
        if event not in self._column:
            return box.x, box.bottom if other in self._column else box.top
        return box.x + self._side(event, other) * box.width / 2, box.y + self._ports[number, event]

    def _passed(self, arrow: Arrow) -> list[int]:
        """Return the events in the columns between the two ends of an arrow."""
        columns = [self._column.get(event, -1) for event in (arrow.source, arrow.target)]
        between = self._columns[min(columns) + 1 : max(columns)] if -1 not in columns else []
        return [event for column in between for event in column.events]

    def _lane(self, arrow: Arrow) -> float:
        """Return the rows between which an arrow passes the columns on its way: 0.5 for the first two."""
        return (self._row[arrow.source] + self._row[arrow.target]) // 2 + 0.5

    def _past(self, number: int, start: Point, end: Point, passed: Sequence[int]) -> tuple[Curve, ...]:
        """Return the curves of an arrow that runs between two rows past the columns on its way."""
        lane = self._lane(self._arrows[number])
        shared = [
            (self._row[arrow.source] + self._row[arrow.target], other)
            for other, arrow in enumerate(self._arrows)
            if self._passed(arrow) and self._lane(arrow) == lane
        ]
        rank = [other for _, other in sorted(shared)].index(number)
        step = min(LINE + 2.0, (_ROW - _HEIGHT - 16) / max(1, len(shared) - 1))
        y = lane * _ROW + (rank - (len(shared) - 1) / 2) * step
        near = min(self._boxes[event].left for event in passed) - 14
        far = max(self._boxes[event].right for event in passed) + 14
        first, last = ((near, y), (far, y)) if start[0] < end[0] else ((far, y), (near, y))
        one, two = (first[0] - start[0]) * 0.5, (end[0] - last[0]) * 0.5
        return (
            (start, (start[0] + one, start[1]), (first[0] - one, y), first),
            _line(first, last),
            (last, (last[0] + two, y), (end[0] - two, end[1]), end),
        )

    # Labels

    def _turn_stubs(self, curves: list[tuple[Curve, ...]], boxes: Sequence[Box]) -> None:
        """Let an arrow from initial memory come from below where its label would cover something above."""
        beside = [
            self._spots(number, curves[number])[0]
            for number, arrow in enumerate(self._arrows)
            if arrow.label and self._is_down(arrow)
        ]
        drawn = zip(self._arrows, curves, strict=True)
        others = sorted(point for arrow, curve in drawn if arrow.source is not None for point in _sampled(curve))
        for number, arrow in enumerate(self._arrows):
            if arrow.source is None:
                ways = [self._stub(arrow.target, way) for way in (-1, 1)]
                costs = [_cost(self._spots(number, way)[0], [*boxes, *beside], others) for way in ways]
                curves[number] = ways[costs.index(min(costs))]

    def _labels(self, curves: Sequence[tuple[Curve, ...]], boxes: Sequence[Box]) -> list[Box]:
        """Place each label where it covers no box, no other label, and as little as possible of other arrows.

        Each label in turn takes the best of its places as the others are, the widest first, until none moves.
        """
        lines = [_sampled(curve) for curve in curves]
        found = [Box(*point_at(curve, 0.5), 0, 0) for curve in curves]
        spots = {}
        for number, arrow in enumerate(self._arrows):
            if arrow.label:
                others = sorted(chain(*lines[:number], lines[number][-2:], *lines[number + 1 :]))  # its own head too
                found_spots = self._spots(number, curves[number])
                spots[number] = [
                    (box, rank % len(_SPOTS) + rank // len(_SPOTS) * _BESIDE + _cost(box, boxes, others))
                    for rank, box in enumerate(found_spots)
                ]
        order = sorted(spots, key=lambda number: (len(spots[number]) > 1, -spots[number][0][0].width, number))
        taken: dict[int, Box] = {}
        for _ in range(_ROUNDS):
            before = dict(taken)
            for number in order:
                labels = [box for other, box in taken.items() if other != number]
                costs = [(cost + _cost(box, labels, ()), rank) for rank, (box, cost) in enumerate(spots[number])]
                taken[number] = spots[number][min(costs)[1]][0]
            if taken == before:
                break
        for number, box in taken.items():
            found[number] = box
        return found

    def _spots(self, number: int, curve: tuple[Curve, ...]) -> list[Box]:
        """Yield the candidate places of a label: on its arrow from the middle outwards, and then beside it."""
        arrow = self._arrows[number]
        width = text_width(arrow.label) + 6
        if arrow.source is None:
            x, y = point_at(curve, 0)
            above = y < self._boxes[arrow.target].y
            return [Box(x + self._stub_side(arrow.target) * (width / 2 - 2), y - 2 * above, width, LINE)]
        if self._is_down(arrow):
            shifts = [(width / 2 + 4, 0.0), (-width / 2 - 4, 0.0)]
        elif number in self._levels:
            way = self._outward(self._column[arrow.target])
            shifts = [(way * (width / 2 - 8), 0.0), (way * (width / 2 + 4), 0.0)]
        else:
            shifts = [(0.0, 0.0), (0.0, -LINE / 2 - 4), (0.0, LINE / 2 + 4)]
        points = [point_at(curve, part) for part in _SPOTS]
        return [Box(x + dx, y + dy, width, LINE) for dx, dy in shifts for x, y in points]

    # Frames

    def _operations(self) -> Iterable[LabelledFrame]:
        for c, column in enumerate(self._columns):
            if column.operation:
                top = self._boxes[column.events[0]].top - LINE - 4
                low = self._boxes[column.events[-1]].bottom + _PAD
                box = Box(self._middle[c], (top + low) / 2, self._widest(c), low - top)
                yield LabelledFrame(column.operation, box)

    def _frames(self, heading: float, boxes: Mapping[int, Box]) -> Iterable[LabelledFrame]:
        if self._places is None:
            return
        bottom = max((box.bottom for box in boxes.values()), default=0.0) + 18
        for depth, (word, size) in enumerate((("gpu", 1), ("cta", 3))):
            groups: dict[tuple[int, ...], list[int]] = {}
            for c, column in enumerate(self._columns):
                groups.setdefault(self._places[column.thread][:size], []).append(c)
            pad = 12.0 * (1 - depth)
            for key, members in groups.items():
                left = min(self._edge(c, -1) for c in members) - 14 - pad
                right = max(self._edge(c, 1) for c in members) + 14 + pad
                top = heading - LINE / 2 - 24 - 22 * (1 - depth)
                low = bottom + pad
                box = Box((left + right) / 2, (top + low) / 2, right - left, low - top)
                yield LabelledFrame(f"{word} {key[-1]}", box)

    def _edge(self, column: int, way: int) -> float:
        return self._middle[column] + way * (self._widest(column) / 2 + self._reach(column, way))


def point_at(curves: Sequence[Curve], part: float) -> Point:
    """Return the point at a share, 0 to 1, of the way along curves; each curve counts by the distance of its ends."""
    lengths = [max(abs(c[3][0] - c[0][0]) + abs(c[3][1] - c[0][1]), 1.0) for c in curves]
    left = part * sum(lengths)
    for curve, length in zip(curves, lengths, strict=True):
        if left <= length or curve is curves[-1]:
            return _bezier(curve, min(1.0, left / length))
        left -= length
    raise AssertionError("there is a curve")


def _bezier(curve: Curve, t: float) -> Point:
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    return (
        sum(weight * point[0] for weight, point in zip(weights, curve, strict=True)),
        sum(weight * point[1] for weight, point in zip(weights, curve, strict=True)),
    )


def _away(end: Point, box: Box) -> Point:
    """Return the control point of an arrow from or to an initial write: straight out of the box where it ends."""
    if end[0] == box.x:
        return end[0], end[1] + (40 if end[1] > box.y else -30)
    return end[0] + (60 if end[0] > box.x else -60), end[1]


def _line(start: Point, end: Point) -> Curve:
    third = ((end[0] - start[0]) / 3, (end[1] - start[1]) / 3)
    return start, (start[0] + third[0], start[1] + third[1]), (end[0] - third[0], end[1] - third[1]), end


def _sampled(curves: Sequence[Curve]) -> list[Point]:
    """Return points along curves, some five pixels apart."""
    length = sum(abs(curve[3][0] - curve[0][0]) + abs(curve[3][1] - curve[0][1]) for curve in curves)
    count = max(8, int(length / 5))
    return [point_at(curves, part / count) for part in range(count + 1)]


def _cost(box: Box, boxes: Iterable[Box], points: Sequence[Point]) -> float:
    """Return the cost of a label in a box, given the other boxes and the sorted points of lines.

    An overlap is worse than any number of points; to be near something is bad, too.
    """
    near, around = (Box(box.x, box.y, box.width + more, box.height + more) for more in (6, 20))
    cost = 0.0
    for other in boxes:
        if by := _overlap(around, other):
            cost += by / 4 + _overlap(near, other) + 1000 * _overlap(box, other)
    for point in points[bisect_left(points, (around.left, 0.0)) : bisect_left(points, (around.right, 0.0))]:
        if _holds(around, point):
            cost += 10 if _holds(near, point) else 2
    return cost


def _overlap(one: Box, other: Box) -> float:
    width = (one.width + other.width) / 2 - abs(one.x - other.x)
    height = (one.height + other.height) / 2 - abs(one.y - other.y)
    if width <= 0 or height <= 0:
        return 0.0
    return min(width, one.width, other.width) * min(height, one.height, other.height)


def _holds(box: Box, point: Point) -> bool:
    return box.left < point[0] < box.right and box.top < point[1] < box.bottom


def _side_by_side(columns: Sequence[EventColumn], places: Sequence[Place] | None) -> list[EventColumn]:
    """Return the columns in an order that puts those of threads of one group side by side."""
    if places is None:
        return list(columns)
    first: dict[tuple[int, ...], int] = {}
    for column in columns:
        for size in (1, 3):
            first.setdefault(places[column.thread][:size], column.thread)

    def rank(column: EventColumn) -> tuple[int, ...]:
        place = places[column.thread]
        return first[place[:1]], first[place[:3]], column.thread

    return sorted(columns, key=rank)
