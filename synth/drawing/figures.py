"""Bar charts of a corpus: the distribution of its tests over bounds, families and models.

Progress tests are drawn as in Fig. 10 of Sorensen et al. 2021, memory tests by family and by model. Lengths are pixels;
one corpus always gives one picture, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from oracle.progress.hierarchy import TABLE_4
from synth.drawing.pictures import INK, LINE, Box, Drawing, coord, printable, rectangle, text_at, text_width

# Weak and strong; then the guarantees of Table 4. Chosen to differ in lightness, for print and for colour-blind eyes.
_KINDS = {"weak": "#9ecae1", "strong": "#2b5c8a"}
_GUARANTEES = {"hsa": "#fee08b", "obe": "#f46d43", "lobe": "#a6d96a", "fair": "#1a7a5e"}
_VERDICTS = {"allowed": "#fdbe6f", "forbidden": "#2b5c8a", "unknown": "#d0d5da"}
_DARK = (_KINDS["strong"], _GUARANTEES["fair"])
_AXIS = "#8b949e"

_HEIGHT, _WIDTH, _STEP = 260.0, 84.0, 130.0  # of a bar of progress tests, and from bar to bar
_THICK, _ROW, _LONG = 18.0, 24.0, 130.0  # of a bar of memory tests, from row to row, and the least length of a bar


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a bar: a number of tests, and the shares of the bar at which the part begins and ends."""

    colour: str
    count: int
    start: float
    end: float


def _parts(counts: Iterable[tuple[str, int]]) -> list[_Part]:
    """Return the parts of a bar that are not empty."""
    known = [(colour, count) for colour, count in counts if count]
    total, before, parts = sum(count for _, count in known), 0, []
    for colour, count in known:
        parts.append(_Part(colour, count, before / total, (before + count) / total))
        before += count
    return parts


def distribution_svg(table_4: Mapping[tuple[str, str], int]) -> str:
    """Draw how the tests of a suite spread over strong and weak fairness and over the models, as SVG.

    As in Fig. 10, three bars of shares: all tests by kind, and the weak and the strong tests by the guarantee they are
    distinguishing for. ``table_4`` is ``Census.table_4``.
    """
    kinds = [(colour, sum(table_4.get((kind, name), 0) for name in TABLE_4)) for kind, colour in _KINDS.items()]
    bars = {"All": kinds}
    for kind in _KINDS:
        bars[kind.capitalize()] = [(_GUARANTEES[name], table_4.get((kind, name), 0)) for name in TABLE_4]
    right = _STEP * len(bars)
    body = [
        _line(0, 0, 0, _HEIGHT),
        _line(0, _HEIGHT, right, _HEIGHT),
        f'<g transform="translate(-56 {coord(_HEIGHT / 2)}) rotate(-90)">{text_at(0, 0, "share of tests, %", INK)}</g>',
    ]
    for share in range(0, 101, 20):
        y = _HEIGHT * (1 - share / 100)
        body += [_line(-5, y, 0, y), _text(-10, y, str(share), -1)]
    for position, (name, counts) in enumerate(bars.items()):
        x = _STEP * (position + 0.5)
        body += _upright(x, _parts(counts))
        body.append(text_at(x, _HEIGHT + LINE, name, INK))
        body.append(text_at(x, _HEIGHT + 2 * LINE, f"{sum(count for _, count in counts)} tests", INK))
    key = {f"{kind} tests": colour for kind, colour in _KINDS.items()}
    key |= {name if name == "fair" else name.upper(): colour for name, colour in _GUARANTEES.items()}
    for row, (word, colour) in enumerate(key.items()):
        body += _key(right + 30, 8 + row * 1.4 * LINE, word, colour)
    covered = [
        _spanned(-64, 0, right + 60 + max(map(text_width, key)), _HEIGHT + 2.5 * LINE),
    ]
    return Drawing("Progress tests by fairness and model", covered, body, ()).svg()


def _upright(x: float, parts: Sequence[_Part]) -> Iterator[str]:
    """Yield a bar from the bottom up; each part has its count, beside it where the part is too low to hold it."""
    beside = 0.0  # how far up counts beside the bar reach
    for part in parts:
        low, high = part.start * _HEIGHT, part.end * _HEIGHT
        box = _spanned(x - _WIDTH / 2, _HEIGHT - high, x + _WIDTH / 2, _HEIGHT - low)
        yield rectangle(box, part.colour)
        if high - low >= LINE:
            yield text_at(x, box.y, str(part.count), _ink(part.colour))
        else:
            beside = max((low + high) / 2, beside + LINE)
            yield _text(x + _WIDTH / 2 + 5, _HEIGHT - beside, str(part.count), 1)


def memory_distribution_svg(models: Sequence[str], counts: Mapping[str, Mapping[str, tuple[int, int, int]]]) -> str:
    """Draw how many tests of each family every model allows, forbids and has no verdict on, as SVG: a row for each
    family.

    ``counts``: family -> model -> tests allowed, forbidden and without a verdict; a model that is missing has none of
    them. Families and models are drawn in the order given, under their names.
    """
    none = (0, 0, 0)
    total = {
        model: tuple(sum(of) for of in zip(none, *(row.get(model, none) for row in counts.values()), strict=True))
        for model in models
    }
    rows: list[tuple[str, Mapping[str, Sequence[int]]]] = [("all", total), *counts.items()]
    sums = [max((sum(row.get(model, none)) for model in models), default=0) for _, row in rows]
    names = [printable(name) for name, _ in rows]
    lefts, left = [], max(map(text_width, names)) + text_width(str(max(sums))) + 40
    number = left - 16
    for model in models:
        lefts.append(left)
        left += max(_LONG, text_width(printable(model))) + 20
    body = []
    x = 0.0
    for word, colour in _VERDICTS.items():
        body += _key(x, -2.2 * LINE, word, colour)
        x += text_width(word) + 44
    body += [_text(place, 0, printable(model), 1, bold=True) for place, model in zip(lefts, models, strict=True)]
    y = 0.0
    for row, (name, (_, tallies)) in enumerate(zip(names, rows, strict=True)):
        y += _ROW * (1.4 if row == 1 else 1)
        body += [_text(0, y, name, 1, bold=not row), _text(number, y, str(sums[row]), -1, bold=not row)]
        for place, model in zip(lefts, models, strict=True):
            body += _level(place, y, f"{name} under {printable(model)}", tallies.get(model, none))
    return Drawing(
        "Memory tests by family and model", [_spanned(0, -3 * LINE, max(left, x), y + _THICK)], body, ()
    ).svg()


def _level(x: float, y: float, about: str, counts: Sequence[int]) -> Iterator[str]:
    """Yield a bar from left to right.

    Each part has its count where it can hold it, and shows all three counts where the pointer is on it.
    """
    tally = ", ".join(f"{count} {word}" for word, count in zip(_VERDICTS, counts, strict=True))
    yield f"<g><title>{escape(f'{about}: {tally}')}</title>"
    for part in _parts(zip(_VERDICTS.values(), counts, strict=True)):
        box = _spanned(x + part.start * _LONG, y - _THICK / 2, x + part.end * _LONG, y + _THICK / 2)
        yield rectangle(box, part.colour)
        if text_width(str(part.count)) + 4 <= box.width:
            yield text_at(box.x, y, str(part.count), _ink(part.colour))
    yield "</g>"


def _key(x: float, y: float, word: str, colour: str) -> list[str]:
    return [rectangle(_spanned(x, y - 7, x + 20, y + 7), colour), _text(x + 28, y, word, 1)]


def _ink(colour: str) -> str:
    return "#ffffff" if colour in _DARK else INK


def _text(x: float, y: float, text: str, way: int, bold: bool = False) -> str:
    """Return a line of text that begins (1) or ends (-1) at a point."""
    return text_at(x + way * text_width(text) / 2, y, text, INK, bold)


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path d="M {coord(x, y)} L {coord(to_x, to_y)}" stroke="{_AXIS}" fill="none"/>'


def _spanned(left: float, top: float, right: float, bottom: float) -> Box:
    return Box((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)
