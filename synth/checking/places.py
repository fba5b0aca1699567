"""Places of the source in an expectation, as the locations that a program has for them: ``p.q[1][3]`` is ``p.q_1[3]``,
and ``m[1][2]`` of ``int m[2][3]`` is ``m[5]``, where the module says what its memory is made of.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from corpus.code.launch.fields import DescribedArray, place_in
from corpus.code.places import argument_array
from corpus.code.program import KernelProgram
from corpus.errors import InputError
from corpus.litmus.locations import NOWHERE, element, element_of

_PLACE = re.compile(r"(?<![\w.:])[A-Za-z_]\w*(?:\s*\[[^\]]*\]|\s*\.\s*[A-Za-z_]\w*)+")
_PARTS = re.compile(r"\[\s*([0-9]{1,9})\s*\]|\.?([A-Za-z_]\w*)")


MOST_SHOWN = 80
"""The characters of an expectation that an error quotes."""


def shown(expectation: str) -> str:
    """Return an expectation as an error quotes it."""
    return expectation if len(expectation) <= MOST_SHOWN else f"{expectation[: MOST_SHOWN - 20]}.."


def locations(program: KernelProgram) -> list[str]:
    """Return the locations of a program that an expectation may name, in order, as the source has them."""
    called = program.locations.called
    names = (location.name for location in program.test.locations if location.name != NOWHERE)
    return sorted({*program.locations.wholes, *(called.get(name, name) for name in names)})


def located(program: KernelProgram, arrays: Sequence[DescribedArray], expectation: str) -> str:
    """Return an expectation in which places of the source are locations of a program, whose arrays are described.

    Raises ``InputError`` where one is none.
    """
    known = {*locations(program)}
    sources = {called: name for name, called in program.locations.called.items()}

    def name(found: re.Match[str]) -> str:
        text = re.sub(r"\s", "", found[0])
        parts = _parts(text)
        own = _own(program, text, parts, known) if parts else None
        own = sources.get(text) if program.grows else own
        if own is None and parts:
            own = _of_types(program, arrays, parts)
        if own is None:
            there = ", ".join(locations(program)) or "none"
            wanted = f"locations of the program, which are {there}"
            raise InputError(f"--expect: {shown(expectation)}: expected {wanted}; found {text}")
        return own

    return _PLACE.sub(name, expectation)


def _parts(text: str) -> list[str | int]:
    """Return the names and indices that a place is made of; none where an index is no number."""
    found = list(_PARTS.finditer(text))
    if "".join(part[0] for part in found) != text:
        return []
    return [int(part[1]) if part[1] else part[2] for part in found]


def _own(program: KernelProgram, text: str, parts: Sequence[str | int], known: Collection[str]) -> str | None:
    """Return the location that a place is by itself, or that of an array which a field points to: ``p.q_1[3]``."""
    last = parts[-1]
    if not isinstance(last, int):
        return text if text in known else None
    stem = text.rpartition("[")[0]
    base = re.escape(re.sub(r"[^\w.]", "_", stem.replace("]", "")))
    every = (
        name for name, cell in program.locations.cells.items() if cell.array == argument_array(stem) and "." in stem
    )
    found = [name for name in every if re.fullmatch(rf"{base}(__\d+)?", element_of(name)[0])]
    own = element(stem, last)
    return next((name for name in found if element_of(name)[1] == last), own if own in known else None)


def _of_types(program: KernelProgram, arrays: Sequence[DescribedArray], parts: Sequence[str | int]) -> str | None:
    """Return the one location of these parts in what arrays are made of: of an array by its name, or of a member of a
    block, whose names stand for themselves.
    """
    root, *behind = parts
    names = {(cell.array, 8 * cell.offset, 8 * cell.size): name for name, cell in program.locations.cells.items()}
    found: dict[str, None] = {}
    for array, type in arrays:
        for path in ([behind] if array.name == root else []) + [[*parts]]:
            place = place_in(type, path)
            if place is not None and (own := names.get((array, *place))) is not None:
                found[own] = None
    return next(iter(found)) if len(found) == 1 else None
