"""Pictures as files: SVG as it is drawn, or PDF and PNG where the name says so.

Typst turns SVG into both, with the fonts in its wheel and no others, so that the bytes are the same on every machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from corpus.errors import InputError
from corpus.files import write_atomically

_SUFFIXES = (".svg", ".pdf", ".png")
_PAGE = b"""#set document(date: none)
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg")
"""
_DENSITY, _PIXELS = 2.0, 5e7  # of a PNG: pixels for one of the SVG, as far as that makes no more than so many in all


def check_picture_name(path: Path) -> None:
    """Raises ``InputError`` where a name does not say which kind of picture it is, before work is done for it."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError("a picture is an .svg, .pdf or .png file, and its name must say which", str(path))


def write_picture(path: Path, svg: str) -> None:
    """Write a picture as what the suffix of its name says, whole or not at all, the same bytes each time.

    Raises ``InputError`` for any other suffix, and where the file cannot be written.
    """
    check_picture_name(path)
    suffix = path.suffix.lower()
    write_atomically(path, [svg if suffix == ".svg" else _converted(svg, suffix)])


def _converted(svg: str, suffix: str) -> bytes:
    import typst  # a compiled library, loaded only where it is needed

    root = ElementTree.fromstring(svg)
    area = float(root.attrib["width"]) * float(root.attrib["height"])
    density = min(_DENSITY, (_PIXELS / area) ** 0.5)
    kind: Literal["pdf", "png"] = "pdf" if suffix == ".pdf" else "png"
    # A pixel of SVG is a 96th of an inch.
    return typst.compile(_PAGE, format=kind, ppi=96 * density, sys_inputs={"svg": svg}, ignore_system_fonts=True)
