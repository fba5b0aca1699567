"""The two sides of a comparison: results chosen by the values of their fields.

``device=PoCL,date=2026-11`` are the results whose device contains ``PoCL`` and whose date begins with ``2026-11``;
``device!=PoCL`` are those of the other devices. PoCL names the processor, so on an Intel processor ``device=Intel``
also means PoCL's results. A comma separates two fields only before a field's name and ``=`` or ``!=``, since names of
devices contain commas. A profile is named with or without the digest that follows its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from backends.shared.results import Entry, latest
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
"""The fields by which results are chosen, and how each is compared."""

_NAMES = "|".join(FIELDS)
_PARTS = re.compile(rf",(?=\s*(?:{_NAMES})!?=)")
_PART = re.compile(r"\s*([^=!]*?)\s*(!?)=\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The condition of a side on one field of a result; ``other``: the field must not have the value."""

    field: str
    value: str
    other: bool = False

    def holds(self, entry: Entry) -> bool:
        """Return whether a result meets the condition. A result of the other family may not have the field."""
        value = getattr(entry, self.field, None)
        return value is not None and self._is(value) is not self.other

    def _is(self, found: str) -> bool:
        match FIELDS[self.field]:
            case "contains":
                return self.value in found
            case "begins with":
                return found.startswith(self.value)
        return self.value in (found, found.partition("#")[0]) if self.field == "profile" else found == self.value


@dataclass(frozen=True, slots=True)
class ResultSide:
    """One side: its ``name`` as the user wrote it, its conditions on fields, and the results that meet them."""

    name: str
    wanted: tuple[Wanted, ...]
    entries: tuple[Entry, ...]

    @property
    def fields(self) -> frozenset[str]:
        """Return the fields by which this side is chosen."""
        return frozenset(condition.field for condition in self.wanted)


def side(text: str, entries: Sequence[Entry]) -> ResultSide:
    """Return the side that ``text`` describes, with its results.

    Raises ``InputError`` where the text is no ``FIELD=VALUE[,FIELD!=VALUE]``. Where no result meets the conditions, the
    error lists the values that results have.
    """
    wanted = []
    for part in _PARTS.split(text):
        read = _PART.fullmatch(part)
        if read is None or read[1] not in FIELDS:
            hint = did_you_mean(read[1], FIELDS, f"expected {', '.join(FIELDS)}") if read else "no file is called that"
            raise InputError(f"expected FIELD=VALUE[,FIELD!=VALUE] or a file, found '{text}': {hint}")
        wanted.append(Wanted(read[1], read[3], bool(read[2])))
    found = tuple(entry for entry in entries if all(condition.holds(entry) for condition in wanted))
    if not found:
        there = "; ".join(
            f"{condition.field} {', '.join(_values(entries, condition.field)) or '(none)'}" for condition in wanted
        )
        raise InputError(f"no result is of {text}; there are: {there}")
    return ResultSide(text, tuple(wanted), found)


def check_apart(before: ResultSide, after: ResultSide) -> None:
    """Raise ``InputError`` where a side is empty, and where a result is on both sides and would be compared with
    itself.

    Of several results of one trial only the last counts. Equal lines of two files are one result, unless they have no
    date: logs of simulators have none, and may be equal by right.
    """
    for result_side in (before, after):
        if not result_side.entries:
            raise InputError("no results here, and nothing to compare", result_side.name)
    chosen = {id(entry) for entry in _counted(before)}
    dated = {entry for entry in _counted(before) if entry.date}
    both = [entry for entry in _counted(after) if id(entry) in chosen or entry in dated]
    if both:
        one = f"{both[0].test} on {both[0].backend}: {both[0].device}"
        several = "one result" if len(both) == 1 else f"{len(both)} results, such as one"
        hint = "; FIELD!=VALUE leaves some out" if before.wanted or after.wanted else ""
        raise InputError(f"{before.name} and {after.name} both have {several} of {one}{hint}")


def _counted(one: ResultSide) -> Iterator[Entry]:
    """Yield the results of a side that count."""
    for found in latest(one.entries):
        yield from found.values()


def _values(entries: Iterable[Entry], field: str) -> list[str]:
    """Return the values that results have in a field, at most a few of them."""
    values = sorted({value[:10] if field == "date" else value for e in entries if (value := getattr(e, field, None))})
    return [*values[:5], *["..."] * (len(values) > 5)]
