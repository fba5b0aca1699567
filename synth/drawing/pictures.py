"""The elements that pictures share: reproducible SVG text, and quoting for Graphviz. Lengths are pixels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from corpus.errors import UNSEEN, visible

INK = "#1f2328"
SIZE, LINE = 12, 16
"""The size of the font and the height of a line, in pixels."""

TITLE = 3 * LINE
"""The height that the title of a picture takes."""

ARROW = 7.0
"""How far an arrow head goes beyond the end of its line."""

_UNPRINTABLE = re.compile(f"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[{UNSEEN}]")
_FONT = "DejaVu Sans Mono, Menlo, Consolas, monospace"
_GLYPH = 0.61 * SIZE  # width of a character of these fonts, in pixels
_BOLD = 1.1  # factor by which a bold character is wider


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle given by its centre, its width and its height, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        """Return the smallest x coordinate of the box, in pixels."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """Return the largest x coordinate of the box, in pixels."""
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        """Return the smallest y coordinate of the box, which is its upper edge, in pixels."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """Return the largest y coordinate of the box, which is its lower edge, in pixels."""
        return self.y + self.height / 2

    def encloses(self, other: Box) -> bool:
        """Return whether the other box is within this one."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )


def text_width(text: str) -> float:
    """Return the width of a line of text that is not bold, in pixels."""
    return _GLYPH * len(text)


def coord(*values: float) -> str:
    """Format coordinates with one digit after the point, never as a negative zero: ``12.5 0.0``."""
    return " ".join(f"{value:.1f}" if abs(value) >= 0.05 else "0.0" for value in values)


def printable(text: str) -> str:
    """Return a text with ``\ufffd`` for each character that XML cannot hold or that reorders what is shown."""
    return _UNPRINTABLE.sub("\ufffd", text)


def text_at(x: float, y: float, text: str, colour: str, bold: bool = False) -> str:
    """Return the SVG of a line of text that is centred on a point."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{coord(x)}" y="{coord(y + SIZE * 0.35)}" fill="{colour}"{weight}>{escape(printable(text))}</text>'


def veil(box: Box, colour: str = "white") -> str:
    """Return the SVG of a box, in the colour of what is behind it, that keeps lines from crossing a label's letters."""
    size = f'width="{coord(box.width)}" height="{coord(box.height)}"'
    return f'<rect x="{coord(box.left)}" y="{coord(box.top)}" {size} fill="{colour}" fill-opacity="0.85"/>'


def rectangle(box: Box, colour: str) -> str:
    """Return the SVG of a filled rectangle of one colour, without a border."""
    size = f'width="{coord(box.width)}" height="{coord(box.height)}"'
    return (
        f'<rect x="{coord(box.left)}" y="{coord(box.top)}" {size} fill="{colour}" stroke="white" stroke-width="0.5"/>'
    )


def framed(box: Box, inset: float, stroke: str, fill: str, width: float) -> str:
    """Return the SVG of a rectangle with round corners and a border, ``inset`` pixels within the box."""
    x, y = box.left + inset, box.top + inset
    size = f'width="{coord(box.width - 2 * inset)}" height="{coord(box.height - 2 * inset)}" rx="{coord(8 - inset)}"'
    return f'<rect x="{coord(x)}" y="{coord(y)}" {size} fill="{fill}" stroke="{stroke}" stroke-width="{width}"/>'


def arrow(colour: str) -> str:
    """Return the SVG attribute that ends a line with an arrow head; the line's ``Drawing`` must list the colour."""
    return f'marker-end="url(#arrow-{colour[1:]})"'


@dataclass(frozen=True)
class Drawing:
    """A drawing: elements of SVG within boxes, of which there is at least one; ``colours`` are those of arrow heads."""

    title: str
    boxes: Sequence[Box]
    body: Sequence[str]
    colours: Sequence[str]

    def svg(self) -> str:
        """Return the whole SVG document, with the title above everything else."""
        left, right = min(box.left for box in self.boxes), max(box.right for box in self.boxes)
        top, bottom = min(box.top for box in self.boxes) - TITLE, max(box.bottom for box in self.boxes)
        # The bold title may be wider than the rest.
        spare = max(0.0, (text_width(self.title) * _BOLD - (right - left)) / 2)
        left, top = left - spare - 20, top - 10
        width, height = right + spare + 20 - left, bottom + 20 - top
        arrows = [
            f'<marker id="arrow-{colour[1:]}" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="8" markerHeight="8" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path d="M 0 0 L 8 4 L 0 8 Z" fill="{colour}"/></marker>'
            for colour in self.colours
        ]
        size = f'width="{coord(width)}" height="{coord(height)}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="{coord(left, top, width, height)}" '
                f'font-family="{_FONT}" font-size="{SIZE}" text-anchor="middle">',
                f"<title>{escape(printable(self.title))}</title>",
                "<defs>",
                *arrows,
                "</defs>",
                f'<rect x="{coord(left)}" y="{coord(top)}" {size} fill="white"/>',
                text_at(left + width / 2, top + 20, self.title, INK, bold=True),
                *self.body,
                "</svg>",
                "",
            ]
        )


def listing(title: str, lines: Sequence[str]) -> Drawing:
    """Return lines of text, of which there is at least one, as a drawing."""
    width, height = max(map(text_width, lines)), LINE * len(lines)
    body = [
        text_at(text_width(line) / 2, LINE * (number + 0.5), line, INK) for number, line in enumerate(lines) if line
    ]
    return Drawing(title, [Box(width / 2, height / 2, width, height)], body, [])


def side_by_side(title: str, drawings: Sequence[Drawing]) -> Drawing:
    """Put drawings in a row, each under its own title, and return them as one drawing."""
    boxes: list[Box] = []
    body: list[str] = []
    x = 0.0
    for drawing in drawings:
        left, right = min(box.left for box in drawing.boxes), max(box.right for box in drawing.boxes)
        top, bottom = min(box.top for box in drawing.boxes) - 2 * LINE, max(box.bottom for box in drawing.boxes)
        width = max(right - left, text_width(drawing.title) * _BOLD)
        place = Box(x + width / 2, (bottom - top) / 2, width, bottom - top)
        boxes.append(place)
        body.append(text_at(place.x, LINE / 2, drawing.title, INK, bold=True))
        body.append(f'<g transform="translate({coord(place.x - (left + right) / 2, -top)})">')
        body += [*drawing.body, "</g>"]
        x += width + 3 * LINE
    return Drawing(title, boxes, body, sorted({colour for drawing in drawings for colour in drawing.colours}))


def quoted(text: str) -> str:
    """Return a text as a quoted string of Graphviz's language, with its quotation marks escaped."""
    return '"' + visible(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
