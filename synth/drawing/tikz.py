"""Pictures as TikZ, for papers in LaTeX: our SVG, element by element, as a file for ``\\input``.

    <rect x="0" y="0" width="8" height="4" fill="#fff"/>    \\path[fill=cffffff] (0,0) rectangle (8,4);

The translated elements are those of our pictures: rectangles, paths of lines and curves, lines of text, and groups that
are moved or turned. A length is a pixel of the SVG, three quarters of a point, and y counts downwards as in SVG. Texts
are set in the typewriter font of the document. Gap: pictures by matplotlib, of a search for a profile, have other
elements and are refused; a character beyond Latin-1 for which this module has no LaTeX command becomes a question mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree

from corpus.errors import InputError
from synth.drawing.pictures import SIZE

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_COLOUR = re.compile(r"#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")
_NAMED = ("none", "white", "black")
_SPECIAL = {
    **{char: f"\\{char}" for char in "#$%&{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "_": r"\char95{}",
    "-": "{-}",  # two hyphens would become a dash
    '"': r"\char34{}",
    "'": r"\char39{}",
    "`": r"\char96{}",
    "\u2227": r"$\wedge$",
    "\u2228": r"$\vee$",
    "\u2192": r"$\rightarrow$",
    "\u222a": r"$\cup$",
    "\u2264": r"$\leq$",
    "\u2265": r"$\geq$",
    "\u00b7": r"$\cdot$",
    "\u2212": "$-$",
    "\u2026": r"\ldots{}",
}
_FONT = f"\\ttfamily\\fontsize{{{SIZE * 0.75:g}}}{{12}}\\selectfont\\frenchspacing"
_ANCHORS = {"middle": "base", "start": "base west", "end": "base east"}
_HEAD = r"% \usepackage{tikz} \usetikzlibrary{arrows.meta}"


def tikz(svg: str) -> str:
    """Translate a picture into an environment ``tikzpicture``, whose first line says what the document has to load.

    Raises ``InputError`` where the picture has what no picture of this package has.
    """
    root = ElementTree.fromstring(svg)
    colours = sorted({found.lower() for found in _COLOUR.findall(svg)})
    defined = [f"\\definecolor{{c{colour}}}{{HTML}}{{{_six(colour).upper()}}}" for colour in colours]
    anchor = root.get("text-anchor", "start")
    return "\n".join(
        [
            _HEAD,
            r"\begin{tikzpicture}[x=0.75bp, y=-0.75bp, line width=0.75bp,",
            f"  every node/.style={{inner sep=0, outer sep=0, font={_FONT}}},",
            r"  arrow/.style={-{Triangle[length=6bp, width=6bp]}, shorten >=-5.25bp}]",
            *defined,
            f"\\useasboundingbox {_corners(*map(float, root.attrib['viewBox'].split()))};",
            *_elements(root, anchor),
            r"\end{tikzpicture}",
            "",
        ]
    )


def _six(colour: str) -> str:
    return colour if len(colour) == 6 else "".join(2 * digit for digit in colour)


def _elements(parent: ElementTree.Element, anchor: str) -> Iterator[str]:
    for element in parent:
        match element.tag.removeprefix(_NAMESPACE):
            case "title" | "defs":
                pass
            case "rect":
                yield _rectangle(element)
            case "path":
                yield f"\\path[{_look(element.attrib)}] {_curve(element.attrib['d'])};"
            case "text":
                yield _text(element, anchor)
            case "g":
                yield f"\\begin{{scope}}[{_moved(element.get('transform', ''))}]"
                yield from _elements(element, element.get("text-anchor", anchor))
                yield r"\end{scope}"
            case other:
                raise InputError(f"a picture with <{other}> cannot be said in TikZ; write an .svg or .pdf file")


def _rectangle(element: ElementTree.Element) -> str:
    x, y, width, height = (float(element.attrib[name]) for name in ("x", "y", "width", "height"))
    corners = float(element.get("rx", 0)) * 0.75
    rounded = f", rounded corners={corners:.4g}bp" if corners else ""
    return f"\\path[{_look(element.attrib)}{rounded}] {_corners(x, y, width, height)};"


def _corners(x: float, y: float, width: float, height: float) -> str:
    return f"{_point(x, y)} rectangle {_point(x + width, y + height)}"


def _look(attributes: Mapping[str, str]) -> str:
    """Return the TikZ options for the fill and stroke of an element; SVG fills an element without a fill in black."""
    fill, stroke = attributes.get("fill", "#000000"), attributes.get("stroke", "none")
    options = [] if fill == "none" else [f"fill={_colour(fill)}"]
    if fill != "none" and "fill-opacity" in attributes:
        options.append(f"fill opacity={attributes['fill-opacity']}")
    if stroke != "none":
        options.append(f"draw={_colour(stroke)}, line width={float(attributes.get('stroke-width', 1)) * 0.75:.4g}bp")
        if dashes := attributes.get("stroke-dasharray"):
            on, off = (float(length) * 0.75 for length in dashes.replace(",", " ").split())
            options.append(f"dash pattern=on {on:.4g}bp off {off:.4g}bp")
        if attributes.get("stroke-linecap") == "round":
            options.append("line cap=round")
    if "marker-end" in attributes:
        options.append("arrow")
    return ", ".join(options)


def _colour(text: str) -> str:
    if text in _NAMED:
        return text
    found = _COLOUR.fullmatch(text)
    if not found:
        raise InputError(f"the colour {text} cannot be said in TikZ; write an .svg or .pdf file")
    return f"c{found[1].lower()}"


def _curve(path: str) -> str:
    """Translate a path of SVG with the commands M, L, C and Z in absolute coordinates."""
    words = re.findall(r"[A-Za-z]|-?[0-9.]+(?:e-?[0-9]+)?", path)
    parts: list[str] = []
    command, index = "", 0
    while index < len(words):
        if words[index].isalpha():
            command, index = words[index], index + 1
        count = {"M": 2, "L": 2, "C": 6, "Z": 0}.get(command)
        if count is None:
            raise InputError(f"a path with {command} cannot be said in TikZ; write an .svg or .pdf file")
        numbers = [float(word) for word in words[index : index + count]]
        points = [_point(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
        index += count
        match command:
            case "M":
                parts.append(points[0])
                command = "L"  # further points of a move are lines
            case "L":
                parts.append(f"-- {points[0]}")
            case "C":
                parts.append(f".. controls {points[0]} and {points[1]} .. {points[2]}")
            case _:
                parts.append("-- cycle")
    return " ".join(parts)


def _point(x: float, y: float) -> str:
    return f"({x:.5g},{y:.5g})"


def _text(element: ElementTree.Element, anchor: str) -> str:
    where = _point(float(element.attrib["x"]), float(element.attrib["y"]))
    look = f"anchor={_ANCHORS[element.get('text-anchor', anchor)]}, text={_colour(element.get('fill', '#000000'))}"
    words = "".join(_SPECIAL.get(char, char if char < "\u0100" else "?") for char in element.text or "")
    bold = r"\bfseries " if element.get("font-weight") == "bold" else ""
    return f"\\node[{look}] at {where} {{{bold}{words}}};"


def _moved(transform: str) -> str:
    """Return the options of a scope for ``translate(x y)`` and ``rotate(degrees)``, in this order."""
    options = []
    for name, arguments in re.findall(r"(\w+)\(([^)]*)\)", transform):
        numbers = [float(number) for number in arguments.replace(",", " ").split()]
        if name == "translate":
            options.append(f"shift={{{_point(*(*numbers, 0.0)[:2])}}}")
        elif name == "rotate" and len(numbers) == 1:
            options.append(f"rotate={-numbers[0]:g}, transform shape")
        else:
            raise InputError(f"{name}({arguments}) cannot be said in TikZ; write an .svg or .pdf file")
    return ", ".join(options)
