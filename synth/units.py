"""The loop of a synthesis over its units: search each, record what it finds, stop where a limit is met."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from corpus.journal import FoundTest, Journal
from synth.pool import Jobs, Todo, run_tasks
from synth.worker import UNLIMITED, Limits

INTERRUPTED = "interrupted"
"""Why a run stopped that was interrupted."""


class SearchUnit(Protocol):
    """Independent work that a process can do alone, by a name that the journal knows it by."""

    @property
    def name(self) -> str:
        """Its name."""
        ...


AnyUnit = TypeVar("AnyUnit", bound=SearchUnit)


@dataclass(frozen=True, slots=True)
class Parts(Generic[AnyUnit]):
    """The end of a unit that holds more than a unit should: its statistics, and units that hold the rest of it."""

    units: Sequence[AnyUnit]
    statistics: Mapping[str, int]


class Divisible(SearchUnit, Protocol):
    """A unit that may be cut into parts. ``known``: what was found before, as text, and is not to be found again."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def known(self) -> tuple[str, ...]:
        """See above."""


AnyDivisible = TypeVar("AnyDivisible", bound=Divisible)


class Record(Protocol):
    """What is kept of a search, as a ``Journal`` does."""

    units: dict[str, list[FoundTest]]
    closed: dict[str, dict[str, Any]]

    def append(self, unit: str, founds: Sequence[FoundTest]) -> None:
        """What a unit found."""

    def close_unit(self, unit: str, statistics: Mapping[str, Any]) -> None:
        """A unit is done."""


@dataclass
class Unwritten:
    """The record of a search that nobody is to go on with."""

    units: dict[str, list[FoundTest]] = field(default_factory=dict)
    closed: dict[str, dict[str, Any]] = field(default_factory=dict)

    def append(self, unit: str, founds: Sequence[FoundTest]) -> None:
        """What a unit found, which whoever asked knows."""

    def close_unit(self, unit: str, statistics: Mapping[str, Any]) -> None:
        """A unit is done."""
        self.closed[unit] = dict(statistics)


def is_done_with(closed: Mapping[str, Any]) -> bool:
    """Whether what was found in a unit with these statistics is of no use to what is left: it has no parts."""
    return not closed.get("parts")


def as_left(
    unit: AnyDivisible,
    journal: Journal,
    parts_of: Callable[[AnyDivisible, int], Sequence[AnyDivisible]],
) -> Iterator[AnyDivisible]:
    """A unit that an earlier run may have begun, with what is known of it; or its parts, if it was cut into some.

    ``parts_of`` gives so many parts of one.
    """
    closed = journal.closed.get(unit.name)
    if closed is not None and is_done_with(closed):
        yield unit
        return
    found = (each.program for each in journal.units.get(unit.name, ()))
    begun = replace(unit, known=(*unit.known, *found))
    if closed is None:
        yield begun
        return
    for part in parts_of(begun, closed["parts"]):
        yield from as_left(part, journal, parts_of)


def stopped_by(options: Collection[str]) -> str:
    """Why a search left something: the options that made it so; empty where none did."""
    return f"stopped by {' and '.join(sorted(options))}" if options else ""


@dataclass(frozen=True, slots=True)
class Until:
    """When a search is to end before its end: at so many tests, or at a moment of ``time.monotonic``."""

    tests: int | None = None
    moment: float | None = None

    @classmethod
    def limits(cls, max_tests: int | None, time_limit: float | None) -> Until:
        """At so many tests, or so many seconds from now."""
        return cls(max_tests, None if time_limit is None else time.monotonic() + time_limit)

    def reason(self, tests: int) -> str:
        """Why to stop now, with so many tests; empty where there is no reason."""
        if self.tests is not None and tests >= self.tests:
            return stopped_by(["--max-tests"])
        if self.moment is not None and time.monotonic() >= self.moment:
            return stopped_by(["--time-limit"])
        return ""


NEVER = Until()
"""At its end alone."""


def search_units(
    planned: Sequence[AnyUnit],
    work: Callable[[AnyUnit], Iterator[list[FoundTest] | Parts[AnyUnit] | dict[str, int]]],
    journal: Record,
    jobs: Jobs,
    take: Callable[[AnyUnit, list[FoundTest]], list[FoundTest]],
    tests: Callable[[], int],
    until: Until,
    watch: Callable[[int, int, int], None],
    limits: Limits = UNLIMITED,
) -> str:
    """Searches the units that the journal has not closed, and gives the reason why some are left; empty if none is.
    A unit that exceeds the limits is left, and the others are searched.

    ``work`` gives what a unit finds in batches, and its statistics when it is done, or has left the rest to parts,
    which come next. ``take`` is told what a unit found and gives what to record of it, and ``tests``
    says how many there are by then. ``watch`` is told how many units are closed and planned, and how many tests there
    are.
    """
    todo = Todo([unit for unit in planned if unit.name not in journal.closed])
    total = len(planned)
    closed = total - len(todo)
    exceeded: set[str] = set()

    def over(unit: AnyUnit, limit: str) -> None:
        exceeded.add(limit)

    try:
        with closing(run_tasks(todo, work, jobs, limits=limits, over=over)) as results:
            for result in results:
                if result is not None:
                    unit, item = result
                    if isinstance(item, list):
                        if founds := take(unit, item):
                            journal.append(unit.name, founds)
                    else:
                        parts = item.units if isinstance(item, Parts) else ()
                        todo.put_first(parts)
                        total += len(parts)
                        closed += 1
                        journal.close_unit(unit.name, item.statistics if isinstance(item, Parts) else item)
                watch(closed, total, tests())
                if reason := until.reason(tests()):
                    return reason
    except KeyboardInterrupt:
        return INTERRUPTED
    return stopped_by(exceeded)


def effort_of(journal: Record) -> dict[str, Any]:
    """What the units that are closed took of the solver, in all and each."""
    closed = sorted(journal.closed.items())
    total = {what: sum(work[what] for _, work in closed) for what in ("calls", "refinements")}
    return {**total, "units": {unit: {what: work[what] for what in total} for unit, work in closed}}
