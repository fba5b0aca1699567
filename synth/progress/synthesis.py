"""The pipeline of progress tests: plan units, enumerate, judge, keep, write a corpus.

A *unit* is a cube of a shape (see ``constraints.progress``): independent work that a process can do alone. A unit that
holds more than a process should do at once is cut into parts, which are units as well. The threads of a shape are in
ascending order of length. A program that the solver finds stands for its images under all permutations of threads, and
each image is judged as a test of its own, for thread ids matter to the models; where levels are asked for, in every
placement of its threads (``synth.progress.placements``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import chain, count
from typing import Any

from constraints.formula import Clause
from constraints.loop import SolverEffort, solutions
from constraints.progress import ProgramShape, ProgressEncoding, Solution
from corpus.errors import InputError
from corpus.journal import FoundTest, Journal, finish
from corpus.progress.axb import thread_images
from corpus.progress.text import parse_axb, program_of
from corpus.test import Test
from oracle.progress.behaviour import behaviour_digest
from oracle.progress.models import MODELS, ProgressModel, Vector, Verdict
from oracle.progress.plugins import resolve_models
from synth import VERSION
from synth.pool import Jobs
from synth.units import Parts, SearchOutcome, SearchRun, Until, as_left, effort_of, search_rounds
from synth.watch import watching

CUTTING = 2
"""The version of the division into units. It grows when a bound is cut into other units: a journal knows units by
number, so one of another version cannot be resumed.
"""


@dataclass(frozen=True, slots=True)
class ProgressSuiteRequest:
    """The request for a suite of progress tests: all options that change the corpus, and no others.

    ``threads`` and ``instrs`` may be ``None`` with ``distinguish``: bounds then grow until one holds a test.
    """

    threads: int | None
    instrs: int | None
    locs: int = 2
    values: int = 2
    minimal: bool = True
    up_to: str = "behaviour"  # or "program"
    distinguish: tuple[str, ...] | None = None  # tests terminate under the first, may hang under all others
    symmetric_threads: bool = False
    own: tuple[str, ...] = ()  # models beside the 12 that ship: the user's, and those of levels
    levels: tuple[str, ...] = ()  # each program in every placement in groups of these, from the outside in

    def as_json(self) -> dict[str, Any]:
        """Return the request as the corpus keeps it; the user's models are there with the digests of their files."""
        own = {model.name: model.digest for model in self.own_models}
        given = {name: value for name, value in asdict(self).items() if value or name not in ("own", "levels")}
        digests = {"model_digests": own} if own else {}
        return {"kind": "progress", **given, "cutting": CUTTING, "models": [*MODELS, *own], **digests}

    @property
    def own_models(self) -> tuple[ProgressModel, ...]:
        """Return the models beside those that ship, both readings of each. Raises ``InputError`` where one cannot be
        loaded.
        """
        return tuple(resolve_models(self.own)) if self.own else ()


@dataclass(frozen=True, slots=True)
class CubeUnit:
    """A unit: a cube of a shape, by its number; or a part of one, by the numbers of the further values that it fixes.

    ``known``: programs that were found before, and are not to be found here again.
    """

    shape: ProgramShape
    cube: int
    within: tuple[int, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the unit's name, such as ``1.3/0``: thread lengths and cube; ``1.3/0.2.1`` is a part of a part of that
        cube.
        """
        return f"{'.'.join(map(str, self.shape.lengths))}/{'.'.join(map(str, (self.cube, *self.within)))}"


@dataclass(slots=True)
class ProgressSuiteOutcome(SearchOutcome):
    """The end of a search; ``tests`` is the number of tests before those with equal behaviour are merged."""

    tests: int = 0


_LARGEST = 50_000
"""The largest product of states and instructions of a shape that is tried: half a million clauses; a bound has many
shapes.
"""

_COUNTED = 10**15
"""The most states that are counted for the message, as many as a person may ask for."""


def check(request: ProgressSuiteRequest) -> None:
    """Raise ``InputError`` for a bound that holds no program, or that memory would not hold."""
    if request.threads is not None and request.instrs is not None and request.instrs < request.threads:
        raise InputError(
            f"{request.threads} threads need {request.threads} or more instructions, found {request.instrs}"
        )
    check_size(request)


def check_size(request: ProgressSuiteRequest) -> None:
    """Raise ``InputError`` for a bound that memory would not hold."""
    threads = request.threads or 2  # the first bound where bounds grow
    instrs = request.instrs or max(threads, 2)
    if max(threads, instrs) > _LARGEST:
        raise InputError(f"the bound is too large: {threads} threads of {instrs} instructions; ask for fewer")
    short, longer = divmod(instrs, threads)
    memories = request.values ** min(request.locs, instrs)
    states = memories * (short + 2) ** longer * (short + 1) ** (threads - longer)
    if states * instrs > _LARGEST:
        count = f"{states:,}" if states < _COUNTED else f"more than {_COUNTED:,}"
        raise InputError(
            f"the bound is too large: {instrs} instructions on {count} states, where at most "
            f"{_LARGEST // instrs:,} can be searched; ask for fewer threads, instructions, locations or values"
        )


# -- plan ------------------------------------------------------------------------------------------------------------


def bounds(request: ProgressSuiteRequest) -> Iterator[tuple[int, int]]:
    """Yield the bounds to search, as (threads, instructions), smallest first."""
    if request.threads is not None and request.instrs is not None:
        yield request.threads, request.instrs
        return
    for instrs in count(2) if request.instrs is None else (request.instrs,):
        for threads in range(2, instrs + 1) if request.threads is None else (request.threads,):
            if threads <= instrs:
                yield threads, instrs


def partitions(threads: int, instrs: int, least: int = 1) -> Iterator[tuple[int, ...]]:
    """Yield ascending lengths, of at least ``least``, of ``threads`` threads with ``instrs`` instructions in all."""
    if threads == 1:
        if instrs >= least:
            yield (instrs,)
        return
    for first in range(least, instrs // threads + 1):
        for rest in partitions(threads - 1, instrs - first, first):
            yield (first, *rest)


def cases_of(shape: ProgramShape) -> int:
    """Return the least number of cubes of a shape: enough to keep many cores busy, one where it is done in no time."""
    return {1: 1, 2: 1, 3: 1, 4: 2, 5: 16}.get(sum(shape.lengths), 48)


def units(request: ProgressSuiteRequest, threads: int, instrs: int) -> Iterator[CubeUnit]:
    """Yield the units of a bound; those of longer threads, which have more tests, come first."""
    for lengths in sorted(partitions(threads, instrs), reverse=True):
        shape = ProgramShape(lengths, min(request.locs, instrs), request.values)
        for cube in range(shape.cubes(cases_of(shape))):
            yield CubeUnit(shape, cube)


def parts_of(unit: CubeUnit) -> list[CubeUnit]:
    """Return one part for each value of the next choice that the encoding has; none where all is fixed."""
    encoding, case, _ = prepared(unit)
    choices = encoding.choices()[len(case) :]
    if not choices:
        return []
    known = (Solution(parse_axb(text)) for text in unit.known)
    blocked = [{-literal for clause in encoding.block(solution) for literal in clause} for solution in known]
    return [
        replace(
            unit,
            within=(*unit.within, number),
            known=tuple(text for text, there in zip(unit.known, blocked, strict=True) if literal in there),
        )
        for number, literal in enumerate(choices[0])
    ]


def name_of_whole(name: str) -> str:
    """Return the name of the cube that a unit is, or is a part of."""
    shape, number = name.split("/")
    return f"{shape}/{number.partition('.')[0]}"


# -- work ------------------------------------------------------------------------------------------------------------

BATCH_SECONDS = 0.5
"""The seconds for which a unit gathers what it finds before it hands it over to be written."""


MOST = 30_000
"""The most programs that a unit may find, which takes seconds; where there are more, its parts go on."""


@cache
def encoding_of(shape: ProgramShape) -> tuple[ProgressEncoding, list[list[int]], list[Clause]]:
    """Return the encoding of a shape, its cubes, and the refinements learned so far in this process."""
    encoding = ProgressEncoding(shape)
    return encoding, encoding.cubes(cases_of(shape)), []


_REMEMBERED = 5_000
"""The refinements of earlier units that are kept: a solver has to look at all, and most are of use to one unit only."""


def prepared(unit: CubeUnit) -> tuple[ProgressEncoding, list[int], list[Clause]]:
    """Return the encoding of a unit, the literals that the unit fixes, and the refinements learned so far."""
    encoding, cubes, lemmas = encoding_of(unit.shape)
    if len(lemmas) > _REMEMBERED:
        lemmas.clear()
    cube = cubes[unit.cube]
    further = zip(encoding.choices()[len(cube) :], unit.within, strict=False)
    return encoding, [*cube, *(choice[number] for choice, number in further)], lemmas


def run_unit(
    unit: CubeUnit, request: ProgressSuiteRequest, solver: str
) -> Iterator[list[FoundTest] | Parts[CubeUnit] | dict[str, int]]:
    """Yield in batches what a unit finds beyond what is known, and last its statistics, with its parts if it is cut."""
    # Imported here since it needs numpy, which --help does not.
    from constraints.families import FamilyEncoding, found_in, together
    from oracle.progress.fast.batches import ProgramBatch, joined
    from synth.progress.founds import founds_of

    encoding, case, lemmas = prepared(unit)
    effort, fresh = SolverEffort(), 0
    parts: list[CubeUnit] = []
    known = {image for text in unit.known for image, _ in thread_images(parse_axb(text))}
    programs = list(unit.known)
    own = request.own_models
    tests: list[ProgramBatch] = []
    handed_over = time.monotonic()

    def batch() -> list[FoundTest]:
        founds = list(
            founds_of(
                joined(tests),
                partial(wants, request),
                request.minimal,
                request.symmetric_threads,
                own,
                request.levels,
            )
        )
        programs.extend(found.program for found in founds)
        tests.clear()
        return founds

    found = solutions(FamilyEncoding(encoding, case), solver, case, (), lemmas, effort)
    for family in chain.from_iterable(found_in(families, unit.shape) for families in together(found)):
        tests.append(family.where([program not in known for program in family.programs()]) if known else family)
        fresh += len(tests[-1])
        # The cut does not depend on the clock, since the choice of the kept tests must not.
        if fresh >= MOST or (len(tests[-1]) and time.monotonic() - handed_over > BATCH_SECONDS):
            yield batch()
            handed_over = time.monotonic()
            if fresh >= MOST and (parts := parts_of(replace(unit, known=tuple(programs)))):
                break
    if tests:
        yield batch()
    size = {"variables": encoding.formula.variables, "clauses": len(encoding.formula.clauses)}
    statistics = asdict(effort) | size
    yield Parts(parts, statistics | {"parts": len(parts)}) if parts else statistics


def wants(request: ProgressSuiteRequest, vector: Vector) -> bool:
    """Return whether a test with these verdicts is on the border that the request asks for."""
    if request.distinguish is None:
        return True
    passing, *failing = request.distinguish
    return vector[passing] == Verdict.TERMINATES and all(vector[name] == Verdict.MAY_HANG for name in failing)


def one_per_behaviour(tests: list[Test], symmetric_threads: bool = False) -> list[Test]:
    """Return the first test of each behaviour; with symmetric threads, up to permutation of threads."""
    first: dict[str, Test] = {}
    for test in tests:
        first.setdefault(behaviour_digest(program_of(test), True) if symmetric_threads else test.behaviour, test)
    return list(first.values())


# -- the loop --------------------------------------------------------------------------------------------------------


def synthesise(
    request: ProgressSuiteRequest,
    journal: Journal,
    solver: str,
    jobs: Jobs,
    max_tests: int | None = None,
    time_limit: float | None = None,
    watch: Callable[[int, int, int], None] = lambda closed, planned, tests: None,
) -> ProgressSuiteOutcome:
    """Search every unit that the journal has not closed, and record the tests found there.

    Stops early after ``max_tests`` tests, after ``time_limit`` seconds or at Ctrl-C. ``watch`` is told how many units
    are closed and planned and how many tests found.
    """
    import synth.progress.founds  # noqa: F401 - and what it imports: before processes are forked, which then have it

    until = Until.limits(max_tests, time_limit)
    outcome = ProgressSuiteOutcome(tests=journal.tests.total())

    def take(unit: CubeUnit, founds: list[FoundTest]) -> list[FoundTest]:
        kept = []
        for found in founds:  # batches depend on the clock, and the kept tests must not
            if max_tests is not None and outcome.tests >= max_tests:
                break
            kept.append(found)
            outcome.tests += len(found.tests)
        return kept

    def rounds() -> Iterator[tuple[int, list[CubeUnit]]]:
        """Yield the units of each bound, with how many tests of other bounds earlier runs have found."""
        for threads, instrs in bounds(request):
            planned = [
                part
                for unit in units(request, threads, instrs)
                for part in as_left(unit, journal, lambda unit, _: parts_of(unit))
            ]
            shapes = {shape_of(unit.name) for unit in planned}
            here = sum(tests for name, tests in journal.tests.items() if shape_of(name) in shapes)
            yield outcome.tests - here, planned

    work = partial(run_unit, request=request, solver=solver)
    run = SearchRun(journal, solver, jobs, until, watch)
    for elsewhere, stopped in search_rounds(rounds(), work, take, lambda: outcome.tests, run):
        outcome.stopped = stopped
        if outcome.tests > elsewhere:
            break
    return outcome


def shape_of(unit: str) -> str:
    """Return the lengths of the threads, as the name of a unit has them."""
    return unit.partition("/")[0]


def make_suite(
    request: ProgressSuiteRequest,
    journal: Journal,
    solver: str,
    jobs: Jobs,
    max_tests: int | None = None,
    time_limit: float | None = None,
    certify: Certifier | None = None,
) -> tuple[ProgressSuiteOutcome, int]:
    """Search, certify what is found where that is asked for, write the suite, and return how the search ended and the
    number of tests.
    """
    started = time.monotonic()
    with watching("Synthesising") as watch:
        outcome = synthesise(request, journal, solver, jobs, max_tests, time_limit, watch)
    if certify is not None and outcome.complete:
        with watching("Certifying", found=False) as watch:
            certify(request, journal, solver, jobs, lambda done, of: watch(done, of, 0))
    return outcome, write_suite(request, journal, solver, outcome, time.monotonic() - started, max_tests)


Certifier = Callable[[ProgressSuiteRequest, Journal, str, Jobs, Callable[[int, int], None]], None]
"""Writes the certificate of a complete search: ``synth.progress.certification.certify``."""


def write_suite(
    request: ProgressSuiteRequest,
    journal: Journal,
    solver: str,
    outcome: ProgressSuiteOutcome,
    seconds: float,
    max_tests: int | None = None,
) -> int:
    """Turn the journal into the suite that was asked for, and return the number of its tests."""

    def chosen(tests: list[Test]) -> list[Test]:
        behaviours = request.up_to == "behaviour"
        kept = one_per_behaviour(tests, request.symmetric_threads) if behaviours else tests
        return kept[:max_tests]

    closed = sorted(journal.closed.items())
    encodings = {shape_of(unit): {"variables": work["variables"], "clauses": work["clauses"]} for unit, work in closed}
    everything = request.up_to == "program" and max_tests is None
    return finish(
        journal,
        manifest_of(request, encodings, VERSION, solver, outcome.stopped),
        {"seconds": round(seconds, 3), **effort_of(journal)},
        None if everything else chosen,
    )


def manifest_of(
    request: ProgressSuiteRequest,
    encodings: Mapping[str, Mapping[str, int]],
    version: str,
    solver: str,
    stopped: str = "",
) -> dict[str, Any]:
    """Return the keys of a suite's manifest that do not follow from its tests; ``stopped``: why it is not complete.

    ``encodings``: how large the formula of each shape is.
    """
    record = request.as_json()
    return {
        "complete": not stopped,
        "request": record,
        "models": record["models"],
        **({"stopped": stopped} if stopped else {}),
        "version": version,
        "solver": solver,
        "encodings": encodings,
    }
