"""The loop of a synthesis over its units: search, record, and stop where a limit is met."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from corpus.journal import FoundTest, Journal
from synth.pool import Jobs, Todo, run_tasks
from synth.worker import UNLIMITED, Limits

INTERRUPTED = "interrupted"
"""The reason to stop of a run that was interrupted."""


class SearchUnit(Protocol):
    """A unit of a search: independent work that a process can do alone, under a name that the journal uses."""

    @property
    def name(self) -> str:
        """Return the name of the unit, which is unique in its journal."""
        ...


AnyUnit = TypeVar("AnyUnit", bound=SearchUnit)
Round = TypeVar("Round")


@dataclass(frozen=True, slots=True)
class Parts(Generic[AnyUnit]):
    """The end of a unit that was cut: its statistics, and the parts that hold the rest of the unit."""

    units: Sequence[AnyUnit]
    statistics: Mapping[str, int]


class Divisible(SearchUnit, Protocol):
    """A unit that may be cut into parts. ``known`` is what was found in it before."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def known(self) -> tuple[str, ...]:
        """Return what was found in the unit before, as text; the search leaves it out."""


AnyDivisible = TypeVar("AnyDivisible", bound=Divisible)


class Record(Protocol):
    """The record of a search by units, such as a ``Journal``."""

    units: dict[str, list[FoundTest]]
    closed: dict[str, dict[str, Any]]

    def append(self, unit: str, founds: Sequence[FoundTest]) -> None:
        """Record tests that were found in a unit."""

    def close_unit(self, unit: str, statistics: Mapping[str, Any]) -> None:
        """Record that a unit is done, with its statistics."""


@dataclass
class Unwritten:
    """The record, kept in memory alone, of a search that is not to be resumed."""

    units: dict[str, list[FoundTest]] = field(default_factory=dict)
    closed: dict[str, dict[str, Any]] = field(default_factory=dict)

    def append(self, unit: str, founds: Sequence[FoundTest]) -> None:
        """Ignore the tests found in a unit, since the caller knows them."""

    def close_unit(self, unit: str, statistics: Mapping[str, Any]) -> None:
        """Keep the statistics of a unit that is done."""
        self.closed[unit] = dict(statistics)


def is_done_with(closed: Mapping[str, Any]) -> bool:
    """Return whether the tests found in a unit with these statistics are of no use to what is left: it has no parts."""
    return not closed.get("parts")


def as_left(
    unit: AnyDivisible,
    journal: Journal,
    parts_of: Callable[[AnyDivisible, int], Sequence[AnyDivisible]],
) -> Iterator[AnyDivisible]:
    """Yield a unit that an earlier run may have begun, with what is known of it; or its parts, if it was cut into some.

    ``parts_of`` returns so many parts of a unit.
    """
    closed = journal.closed.get(unit.name)
    if closed is not None and is_done_with(closed):
        yield unit
        return
    found = (record.program for record in journal.units.get(unit.name, ()))
    begun = replace(unit, known=(*unit.known, *found))
    if closed is None:
        yield begun
        return
    for part in parts_of(begun, closed["parts"]):
        yield from as_left(part, journal, parts_of)


@dataclass(slots=True)
class SearchOutcome:
    """The end of a search: ``stopped`` says why a unit was left unsearched, and is empty where none was."""

    stopped: str = ""

    @property
    def complete(self) -> bool:
        """Return whether the solver has proved for every unit that nothing is left."""
        return not self.stopped


def stopped_by(options: Collection[str]) -> str:
    """Return the reason why a search left something, by the options that made it; empty where none did."""
    return f"stopped by {' and '.join(sorted(options))}" if options else ""


@dataclass(frozen=True, slots=True)
class Until:
    """The moment at which a search ends early: at so many tests, or at a value of ``time.monotonic``."""

    tests: int | None = None
    moment: float | None = None

    @classmethod
    def limits(cls, max_tests: int | None, time_limit: float | None) -> Until:
        """Return the end after so many tests, or so many seconds from now."""
        return cls(max_tests, None if time_limit is None else time.monotonic() + time_limit)

    def reason(self, tests: int) -> str:
        """Return why to stop now, with so many tests; empty where there is no reason."""
        if self.tests is not None and tests >= self.tests:
            return stopped_by(["--max-tests"])
        if self.moment is not None and time.monotonic() >= self.moment:
            return stopped_by(["--time-limit"])
        return ""


NEVER = Until()
"""No early end."""


Watching = Callable[[int, int, int], None]
"""A function that is told how many units are closed and planned, and how many tests there are."""


def unwatched(closed: int, planned: int, tests: int) -> None:
    """Ignore the progress of a search that has no watcher."""


@dataclass(frozen=True, slots=True)
class SearchRun:
    """How units are searched: where they are recorded, by which solver and processes, until when, and who watches.

    ``limits`` bound a unit.
    """

    journal: Record
    solver: str
    jobs: Jobs
    until: Until = NEVER
    watch: Watching = unwatched
    limits: Limits = UNLIMITED


UnitWork = Callable[[AnyUnit], Iterator[list[FoundTest] | Parts[AnyUnit] | dict[str, Any]]]
"""What yields in batches the tests that a unit finds, and last its statistics, when it is done or has left the rest to
parts."""


def new_tests(founds: Sequence[FoundTest], known: Collection[str], most: int | None = None) -> list[FoundTest]:
    """Return those tests whose program is not known; no more than what is known lacks to the most."""
    new = [found for found in founds if found.program not in known]
    return new if most is None else new[: max(0, most - len(known))]


def search_rounds(
    rounds: Iterable[tuple[Round, Sequence[AnyUnit]]],
    work: UnitWork[AnyUnit],
    take: Callable[[AnyUnit, list[FoundTest]], list[FoundTest]],
    tests: Callable[[], int],
    run: SearchRun,
) -> Iterator[tuple[Round, str]]:
    """Search the units of one round after the other, such as those of one size, that the journal has not closed.

    ``take`` receives what a unit found and returns what to record of it; ``tests`` says how many tests there are by
    then. A unit that exceeds the limits is left. Yields each round with the reason why some of its units are left,
    empty if none is. A round with a reason is the last, and a round is planned once the ones before it are done:
    whoever has found enough asks for no more.
    """
    for number, planned in rounds:
        stopped = search_units(planned, work, take, tests, run)
        yield number, stopped
        if stopped:
            return


def search_statistics(
    units: Sequence[AnyUnit], work: UnitWork[AnyUnit], run: SearchRun
) -> tuple[str, list[tuple[AnyUnit, Mapping[str, Any]]]]:
    """Search units that find no tests, and return the reason why some are left and the statistics of the others."""
    stopped = search_units(units, work, lambda unit, founds: [], lambda: 0, run)
    closed = run.journal.closed
    return stopped, [(unit, closed[unit.name]) for unit in units if unit.name in closed]


def search_units(
    planned: Sequence[AnyUnit],
    work: UnitWork[AnyUnit],
    take: Callable[[AnyUnit, list[FoundTest]], list[FoundTest]],
    tests: Callable[[], int],
    run: SearchRun,
) -> str:
    """Search the units that the journal has not closed, and return the reason why some are left; empty if none is.

    A unit that exceeds the limits is left, and the others are searched. The parts of a unit come next. ``take`` is told
    what a unit found and returns what to record of it, and ``tests`` says how many tests there are by then.
    """
    journal = run.journal
    todo = Todo([unit for unit in planned if unit.name not in journal.closed])
    total = len(planned)
    closed = total - len(todo)
    exceeded: set[str] = set()

    def over(unit: AnyUnit, limit: str) -> None:
        exceeded.add(limit)

    try:
        with closing(run_tasks(todo, work, run.jobs, limits=run.limits, over=over)) as results:
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
                run.watch(closed, total, tests())
                if reason := run.until.reason(tests()):
                    return reason
    except KeyboardInterrupt:
        return INTERRUPTED
    return stopped_by(exceeded)


def effort_of(journal: Record) -> dict[str, Any]:
    """Return what the closed units took of the solver, in all and each."""
    closed = sorted(journal.closed.items())
    total = {what: sum(work[what] for _, work in closed) for what in ("calls", "refinements")}
    return {**total, "units": {unit: {what: work[what] for what in total} for unit, work in closed}}
