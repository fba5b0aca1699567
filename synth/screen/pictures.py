"""Pictures as files: SVG, PDF, PNG or TikZ, as the name says, with their titles or without.

Typst turns SVG into both, with the fonts in its wheel and no others, so that the bytes are equal on every machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import click

from corpus.errors import InputError
from corpus.files import write_atomically
from synth.drawing.pictures import TITLE

DOT = ".dot"
"""The suffix of Graphviz text."""

_SUFFIXES = (".svg", ".pdf", ".png", ".tex")
_SPACE = "http://www.w3.org/2000/svg"
_PAGE = b"""#set document(date: none)
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg")
"""
_DENSITY, _PIXELS = 2.0, 5e7  # of a PNG: pixels for a pixel of the SVG, and the most pixels in all


def check_picture_name(path: Path, *also: str) -> None:
    """Raise ``InputError``, before any work is done, if a name does not end in a suffix of a kind of picture, or in one
    of ``also``.
    """
    if path.suffix.lower() not in (*_SUFFIXES, *also):
        *kinds, last = (*_SUFFIXES, *also)
        raise InputError(f"a picture is an {', '.join(kinds)} or {last} file, and its name must say which", str(path))


def write_picture(path: Path, svg: str) -> None:
    """Write a picture in the format of the name's suffix, whole or not at all; one picture always gives one file's
    bytes.

    Raises ``InputError`` for any other suffix, and where the file cannot be written.
    """
    check_picture_name(path)
    suffix = path.suffix.lower()
    context = click.get_current_context(silent=True)
    if context is not None and context.find_root().params.get("untitled"):  # synth --no-title
        svg = untitled(svg)
    write_atomically(path, [svg if suffix == ".svg" else _converted(svg, suffix)])


def untitled(svg: str) -> str:
    """Return a picture without the line of its title and its space; it keeps the title element, which is not shown."""
    ElementTree.register_namespace("", _SPACE)
    root = ElementTree.fromstring(svg)
    title = root.findtext(f"{{{_SPACE}}}title")
    shown = next((text for text in root.findall(f"{{{_SPACE}}}text") if title is not None and text.text == title), None)
    if shown is None:
        return svg
    root.remove(shown)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    root.set("viewBox", f"{left:.1f} {top + TITLE:.1f} {width:.1f} {height - TITLE:.1f}")
    root.set("height", f"{height - TITLE:.1f}")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _converted(svg: str, suffix: str) -> bytes | str:
    if suffix == ".tex":
        from synth.drawing.tikz import tikz

        return tikz(svg)
    import typst  # a compiled library, imported only where it is needed

    root = ElementTree.fromstring(svg)
    area = float(root.attrib["width"]) * float(root.attrib["height"])
    density = min(_DENSITY, (_PIXELS / area) ** 0.5)
    kind: Literal["pdf", "png"] = "pdf" if suffix == ".pdf" else "png"
    # A pixel of SVG is a 96th of an inch.
    return typst.compile(_PAGE, format=kind, ppi=96 * density, sys_inputs={"svg": svg}, ignore_system_fonts=True)
