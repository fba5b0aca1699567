"""The search for the bugs of a mapping, from the least size to the first with a bug. Its parts are units of a journal.

A unit is a split of so many events into threads, searched by one process. The bugs of one shape differ in how
instructions are done and in where threads are; one of them is found, and relaxed step by step as long as it is a bug. A
unit that was cut off is searched again from its beginning and finds its bugs again, so that a resumed search ends with
equal bytes. Of each bug, the journal has the source's test and, beside it, the target's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from typing import Any

from constraints.loop import SolverEffort, solutions
from constraints.programs.forbidden import Forbidden, SeparationQuestion, Shapes, splits
from corpus.executions.execution import Execution
from corpus.executions.names import name_of
from corpus.executions.text import execution_text, normal_form
from corpus.files import inner_folder
from corpus.journal import FoundTest, Journal, finish
from corpus.records import record_reader, test_record
from corpus.suite import write_corpus
from synth import VERSION
from synth.memory.comparison import descended
from synth.memory.suites import renamed, with_ranks
from synth.memory.translating import Checked, Feature, MappingBug, bug_of, features, tells, weakened
from synth.units import SearchRun, effort_of, new_tests, search_rounds, search_statistics

TARGET = "target"
"""The folder in a corpus of bugs that holds the target's tests, under the names of the source's."""


@dataclass(frozen=True, slots=True)
class SizeUnit:
    """A unit of the search: so many events in threads of these sizes."""

    sizes: tuple[int, ...]

    @property
    def name(self) -> str:
        """Return the name of the unit, which is the events of each thread, such as ``3.2``."""
        return ".".join(map(str, self.sizes))


@dataclass(frozen=True, slots=True)
class Weaker:
    """A mapping that is one step weaker: the step, the size up to which it was searched, and the name of a bug."""

    step: str
    events: int
    bug: str = ""


@dataclass
class Searched:
    """The state of a search: the ``bugs`` of the first size that has any, smallest first.

    ``events``: the size up to which every program was searched; ``stopped``: why no further, where that was cut short.
    ``weaker``: the mappings one step weaker than a sound one, if they were asked for. ``exercised``: for each feature
    of the source, if asked for, the name of the smallest outcome that depends on it; empty where there is none.
    """

    events: int
    bugs: list[MappingBug] = field(default_factory=list)
    stopped: str = ""
    weaker: list[Weaker] = field(default_factory=list)
    exercised: list[tuple[Feature, str]] = field(default_factory=list)

    def unexercised(self) -> dict[str, list[str]]:
        """Return by kind the features of the source that no outcome of these sizes depends on."""
        found: dict[str, dict[str, None]] = {}
        for feature, outcome in self.exercised:
            words = found.setdefault(f"{feature.kind}s", {})
            words |= {} if outcome else {feature.word: None}
        return {kind: list(words) for kind, words in found.items()}


def divided(events: int, check: Checked) -> list[tuple[int, ...]]:
    """Return the splits of so many events into threads, even ones first: bugs are likelier where threads do more
    together.
    """
    return splits(events, check.threads)[::-1]


def bugs_of(
    sizes: tuple[int, ...], check: Checked, solver: str, effort: SolverEffort | None = None
) -> Iterator[Execution]:
    """Yield bugs of programs whose threads have so many events: one of each shape, relaxed as far as it goes."""
    source, target = check.models
    question = SeparationQuestion(source, (target,), minimal=False, translation=check.translation)
    differs = cache(partial(tells, check=check))
    shapes = Shapes(Forbidden(question, check.words, sizes), differs)
    for some in filter(differs, solutions(shapes, solver, effort=effort)):
        yield normal_form(descended(some, check.words, differs))


def run_unit(unit: SizeUnit, check: Checked, solver: str) -> Iterator[list[FoundTest] | dict[str, int]]:
    """Yield the bugs of a unit, each as soon as it is found, and last its statistics."""
    effort = SolverEffort()
    for execution in bugs_of(unit.sizes, check, solver, effort):
        bug = bug_of(execution, check)
        key = f"{execution.size:03} {len(execution.threads):03} {execution_text(execution)}"
        tests, beside = (((key, test_record(test)),) for test in (bug.source, bug.target))
        yield [FoundTest(execution_text(execution), tests, beside)]
    yield asdict(effort)


def search(check: Checked, run: SearchRun) -> Searched:
    """Search every unit that the journal has not closed, up to the first size with bugs or ``run.until.tests`` of
    them.
    """
    known = {found.program: found for founds in run.journal.units.values() for found in founds}
    wrong = {name for name, founds in run.journal.units.items() if founds}

    def take(unit: SizeUnit, founds: list[FoundTest]) -> list[FoundTest]:
        new = new_tests(founds, known, run.until.tests)
        known.update({found.program: found for found in new})
        wrong.add(unit.name)
        return new

    done = Searched(check.events[0] - 1)
    units = {
        events: [SizeUnit(sizes) for sizes in divided(events, check)]
        for events in range(check.events[0], check.events[1] + 1)
    }
    work = partial(run_unit, check=check, solver=run.solver)
    for events, stopped in search_rounds(units.items(), work, take, lambda: len(known), run):
        done.stopped = stopped
        if not stopped:
            done.events = events
        if any(unit.name in wrong for unit in units[events]):
            break
    done.bugs = named(known.values(), check)
    return done


def named(founds: Iterable[FoundTest], check: Checked) -> list[MappingBug]:
    """Return the bugs that were found, smallest first, each under a name of its own."""
    read = record_reader([check.source.name, check.target.name])
    pairs = sorted((*source, target) for row in founds for source, (_, target) in [(*row.tests, *row.beside)])
    bugs = {
        bug.source.digest: bug
        for bug in (MappingBug(read(source), read(target)) for _, source, target in reversed(pairs))
    }
    ordered = [*reversed(bugs.values())]
    sources = with_ranks([bug.source for bug in ordered])
    return [MappingBug(source, renamed(bug.target, source.name)) for source, bug in zip(sources, ordered, strict=True)]


@dataclass(frozen=True, slots=True)
class WeakerMapping:
    """A mapping that is one step weaker, with the name of the step."""

    name: str
    check: Checked


def run_step(step: WeakerMapping | Feature, solver: str) -> Iterator[list[FoundTest] | dict[str, Any]]:
    """Yield the size up to which a mapping was searched, and the name of the first bug, empty where there is none."""
    effort, check = SolverEffort(), step.check
    events, bug = check.events[0] - 1, ""
    while not bug and events < check.events[1]:
        events += 1
        found = (
            name_of(execution)[0]
            for sizes in divided(events, check)
            for execution in bugs_of(sizes, check, solver, effort)
        )
        bug = next(found, "")
    yield {**asdict(effort), "events": events, "bug": bug}


def search_weaker(done: Searched, check: Checked, run: SearchRun) -> None:
    """Add to the state of a sound mapping those that are one step weaker, each searched up to its first bug."""
    steps = [WeakerMapping(name, weaker) for name, weaker in weakened(check)]
    done.stopped, found = search_statistics(steps, partial(run_step, solver=run.solver), run)
    done.weaker = [Weaker(step.name, statistics["events"], statistics["bug"]) for step, statistics in found]


def search_features(done: Searched, check: Checked, run: SearchRun) -> None:
    """Add to the state of a sound mapping which features of the source its sizes exercise."""
    done.stopped, found = search_statistics([*features(check)], partial(run_step, solver=run.solver), run)
    done.exercised = [(feature, statistics["bug"]) for feature, statistics in found]


def write_bugs(journal: Journal, done: Searched, solver: str, seconds: float) -> None:
    """Turn the journal into the corpus of the source's tests, with that of the target's tests inside it.

    Raises ``InputError`` where a file cannot be written.
    """
    complete = not done.stopped
    weaker = [asdict(weaker) for weaker in done.weaker]
    manifest: dict[str, Any] = {"complete": complete, "version": VERSION, "searched": done.events}
    manifest |= ({"weaker": weaker} if weaker else {}) | ({"stopped": done.stopped} if done.stopped else {})
    manifest |= {"unexercised": done.unexercised()} if done.exercised else {}
    request = {**journal.request, "becomes": "the tests of the folder around this one"}
    folder = inner_folder(journal.path, TARGET)
    inside = {"complete": complete, "request": request, "models": journal.request["models"]}
    write_corpus(folder, [bug.target for bug in done.bugs], inside)
    times = {"seconds": round(seconds, 3), "solver": solver, **effort_of(journal)}
    finish(journal, manifest, times, lambda tests: [bug.source for bug in done.bugs])
