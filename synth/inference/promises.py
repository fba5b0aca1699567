"""The inference of progress models: the members of a family of promises that fit, and the tests that tell them apart.

What is known of a progress test is one of these:

- a hang that is *confirmed* (``synth.hangs``): the test may hang. No other hang says anything, nor a slow trial;
- a verdict of a table or corpus: the test, which may be a litmus test, terminates, or may hang;
- a test that always terminated is evidence, and a fact only where the user says so, after enough iterations.

A result is about the threads at the places where they were: a test that ran within a workgroup has its threads there.
So one set of results speaks of several levels, and a family that makes promises at these levels hears all of it. A
family of promises to threads by themselves hears of one level at a time. A table is about tests that may place their
threads themselves.

The tests that tell promises apart are those of ``synth progress --all --up-to behaviour``, bound by bound, smallest
first: two threads with two instructions in all, 2x3, 3x3, and so on. All of a bound's tests are judged, so members that
none of them tells apart are equal on all programs of the bound.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from backends.shared.mapping import DEVICE, PLACEMENTS
from backends.shared.process import TERMINATED
from backends.shared.results import RESULTS, ProgressResult, latest
from constraints.solvers import DEFAULT_SOLVER
from corpus.errors import InputError
from corpus.hierarchy import HierarchyLevel, Places
from corpus.journal import Journal, read_corpus
from corpus.litmus.test import LitmusTest
from corpus.private import private_folder
from corpus.progress.text import program_of
from corpus.test import Test
from oracle.exploration import NoVerdictError
from oracle.inference.classes import SketchTest
from oracle.inference.fitting import Fact
from oracle.inference.model_sets import ModelSet
from oracle.inference.promise_family import PromiseFamily
from oracle.progress.hierarchy import fairest
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import MODELS, Verdict
from synth.expectations import read_expected
from synth.inference.facts import RESULT_LINES, TABLE, NeverSeen, column_of, named, test_of
from synth.inputs import MEMORY, PROGRESS, Input, expand, family_of, timed_results
from synth.progress.synthesis import ProgressSuiteRequest, bounds, synthesise, write_suite

Bound = tuple[int, int]
"""A bound of a suite: threads, and instructions of all threads together."""

TESTS = "tests"
"""The name of the folder of tests in the folder of a loop."""

MOST_NAMED = 12
"""The limit of models of a class that are named one by one."""


@dataclass(frozen=True)
class PromiseHypotheses:
    """The members of a family of promises, as hypotheses of an inference."""

    family: PromiseFamily

    @property
    def name(self) -> str:
        """Return the name of the family."""
        return self.family.name

    @property
    def valid(self) -> ModelSet:
        """Return the set of all members."""
        return self.family.valid

    @property
    def allows(self) -> str:
        """Return what models do with a test that may hang under them."""
        return "let hang"

    def described(self, models: ModelSet) -> list[str]:
        """Return a line for each model; of many, a line for each level with what may be promised there."""
        named = self.family.models(models)
        if len(named) <= MOST_NAMED:
            return [model.name for model in named]
        lines = []
        for level in self.family.levels:
            unions = [union.name for union in level.unions if models & self.family.having(level, union)]
            text = "any promise" if len(unions) == len(level.unions) else " or ".join(unions)
            lines.append(f"{level.promise.level.word if level.promise else 'threads'}: {text}")
        readings = [word for word in ("weak", "strong") if any(model.strong == (word == "strong") for model in named)]
        return [*lines, f"{' or '.join(readings)}; {len(named)} models, of which {named[0].name} is one"]

    def shipped(self, models: ModelSet) -> tuple[str, ...]:
        """Return the fairest of those models that ship: those with no fairer one among them."""
        return fairest([model for model in self.family.models(models) if model.name in MODELS])


@dataclass(frozen=True, slots=True)
class PlacedTest:
    """A progress test in a placement, and the members under which it may hang there."""

    test: Test
    placement: str
    sketch: SketchTest


@dataclass
class PromiseJudge:
    """Judges tests under all members of a family, each behaviour and placement once."""

    family: PromiseFamily
    _known: dict[tuple[str, Places], ModelSet] = field(default_factory=dict, repr=False)

    def placed(self, test: Test, placement: str) -> PlacedTest:
        """Return a test in a placement with the members under which it may hang."""
        models = self.may_hang(test, PLACEMENTS[placement].places(test.threads))
        return PlacedTest(test, placement, SketchTest(name_at(test, placement), test.size, models))

    def may_hang(self, test: Test, places: Places = ()) -> ModelSet:
        """Return the members under which a test may hang with its threads at these places, or where it has them."""
        key = test.behaviour or test.text, places if self.family.is_placed else ()
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.family.may_hang_program(program_of(test), places)
        return found

    def may_hang_litmus(self, test: LitmusTest) -> ModelSet:
        """Return the members under which a litmus test may hang, with its threads where its scope tree has them.

        Raises ``NoVerdictError`` where its transition system is not known.
        """
        system = explore_litmus(test)
        places = tuple(tuple(place) for place in system.places)
        return self.family.may_hang(system.successors, places, system.chances)


def name_at(test: Test, placement: str) -> str:
    """Return the name of a test in a placement: ``2x2-0001``, ``2x2-0001 in a subgroup``."""
    return test.name if placement == DEVICE.name else f"{test.name} in a {placement}"


# Suites


MOST_BOUND = (4, 5)
"""The largest bound whose tests are judged one by one."""


def parse_bound(text: str) -> Bound:
    """Return a bound such as ``3x3``. Raises ``InputError`` where the text is none, or it is too large."""
    found = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", text)
    if found is None or not 2 <= int(found[1]) <= int(found[2]):
        raise InputError(f"--bound: expected threads x instructions, such as 3x3, found '{text}'")
    if int(found[1]) > MOST_BOUND[0] or int(found[2]) > MOST_BOUND[1]:
        raise InputError(f"--bound: expected at most {MOST_BOUND[0]}x{MOST_BOUND[1]}, found '{text}'")
    return int(found[1]), int(found[2])


def bounds_up_to(most: Bound) -> list[Bound]:
    """Return the bounds of at most so many threads and instructions, smallest first, of two threads at least."""
    found: list[Bound] = []
    for threads, instrs in bounds(ProgressSuiteRequest(None, None)):
        if instrs > most[1]:
            break
        found += [(threads, instrs)] if threads <= most[0] else []
    return found


@cache
def suite(bound: Bound, levels: tuple[str, ...] = ()) -> tuple[Test, ...]:
    """Return every test of a bound, up to behaviour, named and in the order of the suite that ``synth progress`` makes.

    Where there are levels, each program is there in every placement of its threads in groups of these.
    """
    request = ProgressSuiteRequest(*bound, minimal=False, levels=levels)
    with private_folder("work") as folder:
        path = Path(folder) / "suite"
        with Journal.create(path, request.as_json()) as journal:
            started = time.monotonic()
            outcome = synthesise(request, journal, DEFAULT_SOLVER, 1)
            write_suite(request, journal, DEFAULT_SOLVER, outcome, time.monotonic() - started)
        return tuple(read_corpus(path).tests)


def suite_tests(judge: PromiseJudge, bound: Bound, placements: Sequence[str]) -> Iterator[PlacedTest]:
    """Yield the tests of a bound in some placements; where none is named, in every one in groups of the family's
    levels."""
    levels = [level.promise.level for level in judge.family.levels if level.promise is not None]
    words = tuple(level.word for level in levels if level is not HierarchyLevel.THREAD)
    for test in suite(bound, words) if not placements else ():
        yield PlacedTest(test, "", SketchTest(test.name, test.size, judge.may_hang(test)))
    for test in suite(bound):
        for placement in placements:
            if test.threads <= PLACEMENTS[placement].seats or PLACEMENTS[placement].grows:
                yield judge.placed(test, placement)


# Facts


@dataclass
class PromiseFacts:
    """What is known of progress tests under a family of promises: facts, evidence, and the tests.

    ``unread`` has a line for each test that was left out, with the reason. ``slow`` and ``unconfirmed`` are names of
    tests whose hangs say nothing.
    """

    judge: PromiseJudge
    facts: list[Fact] = field(default_factory=list)
    evidence: list[Fact] = field(default_factory=list)
    tests: list[SketchTest] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    unconfirmed: list[str] = field(default_factory=list)

    def add_verdict(self, test: Test, hangs: bool, source: str) -> None:
        """Add a verdict of a table on a test, whose threads are where it says."""
        models = self.judge.may_hang(test)
        self.tests.append(SketchTest(test.name, test.size, models))
        self.facts.append(_fact(test.name, hangs, models, self.judge, source, ""))

    def add_litmus_verdict(self, test: LitmusTest, hangs: bool, source: str) -> None:
        """Add a verdict of a table on a litmus test, which is judged under sequential consistency."""
        try:
            models = self.judge.may_hang_litmus(test)
        except NoVerdictError as error:
            self.unread.append(f"{test.name}: {error.message}")
            return
        self.tests.append(SketchTest(test.name, sum(len(thread.instructions) for thread in test.threads), models))
        self.facts.append(_fact(test.name, hangs, models, self.judge, source, ""))

    def add_results(
        self, tests: Mapping[str, Test], results: Iterable[ProgressResult], never: NeverSeen, source: str
    ) -> int:
        """Add what results say of tests, by their digests, and return how many results there were of these.

        The results of a test in one placement are taken together.
        """
        grouped: dict[tuple[str, str], list[ProgressResult]] = {}
        for result in results:
            if result.digest in tests:
                grouped.setdefault((result.digest, result.placement), []).append(result)
        for (digest, placement), group in grouped.items():
            placed = self.judge.placed(tests[digest], placement)
            self.tests.append(placed.sketch)
            self._add(placed, group, never, source)
        return sum(map(len, grouped.values()))

    def _add(self, placed: PlacedTest, results: Sequence[ProgressResult], never: NeverSeen, source: str) -> None:
        name, models = placed.sketch.name, placed.sketch.allowing
        hung = [result for result in results if result.confirmed]
        if hung:
            ways = ", ".join(dict.fromkeys(launch.mapping for launch in hung))
            self.facts.append(_fact(name, True, models, self.judge, source, f"hung: {ways}"))
        elif any(result.hangs for result in results):
            self.unconfirmed.append(name)
        elif any(result.slow for result in results):
            self.slow.append(name)
        else:
            ended = sum(result.outcomes.count(TERMINATED) * result.instances for result in results)
            fact = _fact(name, False, models, self.judge, source, f"ended in {ended:,} of {ended:,}")
            (self.facts if never.forbidden and ended >= never.instances else self.evidence).append(fact)


def _fact(name: str, hangs: bool, models: ModelSet, judge: PromiseJudge, source: str, evidence: str) -> Fact:
    fits = models if hangs else judge.family.valid - models
    return Fact(name, hangs, fits, source, evidence, "may hang" if hangs else "terminates")


def placements_in(sources: Sequence[Path]) -> list[str]:
    """Return the placements that results were made in, in their usual order."""
    found = {
        entry.placement
        for source in sources
        for path in [source / RESULTS if source.is_dir() else source]
        if path.suffix == RESULT_LINES and path.is_file()
        for entry, _ in timed_results(path)
        if isinstance(entry, ProgressResult)
    }
    return [name for name in PLACEMENTS if name in found]


def read_promise_facts(
    family: PromiseFamily,
    sources: Sequence[Path],
    tests: Sequence[str],
    column: str | None,
    never: NeverSeen,
    placements: Sequence[str] = tuple(PLACEMENTS),
) -> PromiseFacts:
    """Return the facts of some sources: tables of verdicts (.csv), results (.jsonl), and corpora with either.

    As ``synth.inference.facts.read_facts``. Only results in these placements count.
    """
    found = PromiseFacts(PromiseJudge(family))
    given = list(expand(tests)) if tests else []
    for source in sources:
        if source.suffix == TABLE:
            _read_table(found, source, named(given), column)
        elif source.suffix == RESULT_LINES:
            _read_results(found, source, given, never, placements)
        elif source.is_dir():
            _read_folder(found, source, column, never, placements)
        else:
            wanted = f"a table of verdicts ({TABLE}), results ({RESULT_LINES}) or a corpus"
            raise InputError(f"expected {wanted}", str(source))
    return found


def _around(source: Path) -> Sequence[Input]:
    """Return the tests beside results: those in the folder of tests, where a loop has made one."""
    tests = source.parent / TESTS
    return expand([str(tests if tests.is_dir() else source.parent)])


def _read_table(found: PromiseFacts, source: Path, given: dict[str, Input], column: str | None) -> None:
    name = column_of(source, column)
    number = 0
    for row in read_expected(source, (name,), ("verdict",)):
        number += 1
        test, place = test_of(row.test, source, given, row.line), f"{source}:{row.line}"
        verdict = row.cells["verdict"]
        if verdict not in (Verdict.TERMINATES, Verdict.MAY_HANG):
            found.unread.append(f"{place}: no verdict that is {Verdict.TERMINATES} or {Verdict.MAY_HANG}")
        elif test.record is None and family_of([str(test.path)]) == MEMORY:
            found.add_litmus_verdict(test.litmus(), verdict == Verdict.MAY_HANG, place)
        else:
            found.add_verdict(test.axb(), verdict == Verdict.MAY_HANG, place)
    if not number:
        raise InputError(f"the table has no verdict of {name}", str(source))


def _read_results(
    found: PromiseFacts, source: Path, given: Sequence[Input], never: NeverSeen, placements: Sequence[str]
) -> None:
    """Read results of tests that are given, or else lie beside them."""
    results, _ = latest(entry for entry, _ in timed_results(source))
    by_digest = {test.digest: test for test in (file.axb() for file in dict.fromkeys(given or _around(source)))}
    made = [
        result for result in results.values() if isinstance(result, ProgressResult) and result.placement in placements
    ]
    if not found.add_results(by_digest, made, never, str(source)) and made:
        raise InputError("none of the results is of these tests; --tests names where they are", str(source))


def _read_folder(
    found: PromiseFacts, source: Path, column: str | None, never: NeverSeen, placements: Sequence[str]
) -> None:
    """Read a corpus or folder: its verdicts by the model that a column is named for, else its results."""
    if family_of([str(source)]) != PROGRESS:
        raise InputError("expected progress tests, found litmus tests", str(source))
    results = source / RESULTS
    if column is None:
        if not results.is_file():
            raise InputError("the corpus has no results; --column names the model whose verdicts count", str(source))
        _read_results(found, results, (), never, placements)
        return
    number = 0
    for given in expand([str(source)]):
        test = given.axb()
        verdict = test.verdicts.get(column)
        if verdict in (Verdict.TERMINATES, Verdict.MAY_HANG):
            number += 1
            found.add_verdict(test, verdict == Verdict.MAY_HANG, f"{source}: {column}")
    if not number:
        raise InputError(f"the corpus has no verdicts of {column}", str(source))
