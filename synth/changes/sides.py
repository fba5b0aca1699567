"""The two sides of a comparison: results that are chosen by what they say of themselves.

``device=PoCL,date=2026-11`` are the results whose device contains ``PoCL`` and whose date begins with ``2026-11``. A
comma parts two fields where a field's name and ``=`` follow, for names of devices have commas in them. A profile is
called by its name, with or without the digest that follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backends.shared.results import Entry
from corpus.errors import InputError, did_you_mean

WITHIN, BEGINS, IS = "contains", "begins with", "is"

FIELDS = {
    "backend": IS,
    "device": WITHIN,
    "driver": WITHIN,
    "compiler": WITHIN,
    "date": BEGINS,
    "profile": IS,
    "mapping": IS,
    "placement": IS,
}
"""What results are chosen by, and how each is compared."""

_PARTS = re.compile(rf",(?=\s*(?:{'|'.join(FIELDS)})=)")


@dataclass(frozen=True, slots=True)
class Side:
    """One side: ``name`` as the user wrote it, what it asks of each field, and the results that are so."""

    name: str
    asked: tuple[tuple[str, str], ...]
    entries: tuple[Entry, ...]

    @property
    def fields(self) -> frozenset[str]:
        """The fields that it is chosen by."""
        return frozenset(field for field, _ in self.asked)


def side(text: str, entries: Sequence[Entry]) -> Side:
    """The results that ``text`` means.

    Raises ``InputError`` where it is no ``FIELD=VALUE[,FIELD=VALUE]``, and where no result is so: what there is.
    """
    asked = []
    for part in _PARTS.split(text):
        field, sign, value = (word.strip() for word in part.partition("="))
        if not sign or field not in FIELDS:
            hint = did_you_mean(field, FIELDS, f"expected {', '.join(FIELDS)}") if sign else "no file is called that"
            raise InputError(f"expected FIELD=VALUE[,FIELD=VALUE] or a file, found '{text}': {hint}")
        asked.append((field, value))
    found = tuple(entry for entry in entries if all(_is(entry, *each) for each in asked))
    if not found:
        there = "; ".join(f"{field} {', '.join(_values(entries, field)) or '(none)'}" for field, _ in asked)
        raise InputError(f"no result is of {text}; there are: {there}")
    return Side(text, tuple(asked), found)


def _is(entry: Entry, field: str, value: str) -> bool:
    said = getattr(entry, field, None)
    if said is None:  # a field of the other family
        return False
    match FIELDS[field]:
        case "contains":
            return value in said
        case "begins with":
            return bool(said.startswith(value))
    return value in (said, said.partition("#")[0]) if field == "profile" else bool(said == value)


def _values(entries: Iterable[Entry], field: str) -> list[str]:
    """What results say of a field, a few of it."""
    values = sorted({said[:10] if field == "date" else said for e in entries if (said := getattr(e, field, None))})
    return [*values[:5], *["..."] * (len(values) > 5)]
