"""Pictures as files: SVG, PDF, PNG or TikZ, as the name says, with their titles or without.

Typst turns SVG into both, with the fonts in its wheel and no others, so that the bytes are equal on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar
from xml.etree import ElementTree

import click

from corpus.errors import InputError
from corpus.files import write_atomically
from synth.drawing.pictures import TITLE

Result = TypeVar("Result")

_UNTITLED = "synth.untitled"
_SUFFIXES = (".svg", ".pdf", ".png", ".tex")
_SPACE = "http://www.w3.org/2000/svg"
_PAGE = b"""#set document(date: none)
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg")
"""
_DENSITY, _PIXELS = 2.0, 5e7  # of a PNG: pixels for a pixel of the SVG, and the most pixels in all


def title_option(function: Callable[..., Result]) -> Callable[..., Result]:
    """Add the option ``--no-title`` to a command; ``write_picture`` leaves titles out, so the command need not know."""

    @click.option("--no-title", "untitled", is_flag=True, help="Pictures without their titles, for papers.")
    @wraps(function)
    def call(*args: Any, untitled: bool, **kwargs: Any) -> Result:
        click.get_current_context().meta[_UNTITLED] = untitled
        return function(*args, **kwargs)

    return call


def check_picture_name(path: Path) -> None:
    """Raise ``InputError``, before any work is done, where a name does not end in a suffix of a kind of picture."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError("a picture is an .svg, .pdf, .png or .tex file, and its name must say which", str(path))


def write_picture(path: Path, svg: str) -> None:
    """Write a picture in the format of the name's suffix, whole or not at all; one picture always gives one file's
    bytes.

    Raises ``InputError`` for any other suffix, and where the file cannot be written.
    """
    check_picture_name(path)
    suffix = path.suffix.lower()
    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(_UNTITLED):
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
