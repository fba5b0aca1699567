"""The search for the bugs of a mapping, from the least size to the first with a bug. Its parts are units of a journal.

A unit is a split of so many events into threads, searched by one process. The bugs of one shape differ in how
instructions are done and in where threads are; one of them is found, and relaxed step by step as long as it is a bug. A
unit that was cut off is searched again from its beginning and finds its bugs again, so that a resumed search ends with
equal bytes. Of each bug, the journal has the source's test and, beside it, the target's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from typing import Any, TypeVar

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
from synth.pool import Jobs
from synth.units import Record, Until, effort_of, search_units
from synth.worker import UNLIMITED, Limits

Watching = Callable[[int, int, int], None]
"""A function that is told how many units are closed and planned, and how many bugs are known."""

TARGET = "target"
"""The folder in a corpus of bugs that holds the target's tests, under the names of the source's."""


def unwatched(closed: int, planned: int, bugs: int) -> None:
    """Ignore the progress of a search that has no watcher."""


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
    asked = cache(partial(tells, check=check))
    shapes = Shapes(Forbidden(question, check.words, sizes), asked)
    for some in filter(asked, solutions(shapes, solver, effort=effort)):
        yield normal_form(descended(some, check.words, asked))


def run_unit(unit: SizeUnit, check: Checked, solver: str) -> Iterator[list[FoundTest] | dict[str, int]]:
    """Yield the bugs of a unit, each as soon as it is found, and last its statistics."""
    effort = SolverEffort()
    for execution in bugs_of(unit.sizes, check, solver, effort):
        bug = bug_of(execution, check)
        key = f"{execution.size:03} {len(execution.threads):03} {execution_text(execution)}"
        tests, beside = (((key, test_record(test)),) for test in (bug.source, bug.target))
        yield [FoundTest(execution_text(execution), tests, beside)]
    yield asdict(effort)


def search(
    check: Checked,
    journal: Record,
    solver: str,
    jobs: Jobs,
    until: Until,
    watch: Watching = unwatched,
    limits: Limits = UNLIMITED,
) -> Searched:
    """Search every unit that the journal has not closed, up to the first size with bugs or ``until.tests`` of them.

    ``limits`` bound a unit. ``watch`` is told of the units of one size after the other.
    """
    known = {found.program: found for founds in journal.units.values() for found in founds}
    wrong = {name for name, founds in journal.units.items() if founds}

    def take(unit: SizeUnit, founds: list[FoundTest]) -> list[FoundTest]:
        new = [found for found in founds if found.program not in known]
        if until.tests is not None:
            new = new[: max(0, until.tests - len(known))]
        known.update({found.program: found for found in new})
        wrong.add(unit.name)
        return new

    done = Searched(check.events[0] - 1)
    for events in range(check.events[0], check.events[1] + 1):
        units = [SizeUnit(sizes) for sizes in divided(events, check)]
        work = partial(run_unit, check=check, solver=solver)
        done.stopped = search_units(units, work, journal, jobs, take, lambda: len(known), until, watch, limits)
        if not done.stopped:
            done.events = events
        if done.stopped or any(unit.name in wrong for unit in units):
            break
    done.bugs = named(known.values(), check)
    return done


def named(founds: Iterable[FoundTest], check: Checked) -> list[MappingBug]:
    """Return the bugs that were found, smallest first, each under a name of its own."""
    read = record_reader([check.source.name, check.target.name])
    pairs = sorted((*source, target) for each in founds for source, (_, target) in [(*each.tests, *each.beside)])
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
        found = (name_of(each)[0] for sizes in divided(events, check) for each in bugs_of(sizes, check, solver, effort))
        bug = next(found, "")
    yield {**asdict(effort), "events": events, "bug": bug}


AnyStep = TypeVar("AnyStep", WeakerMapping, Feature)


Work = tuple[Record, str, Jobs, Until, Watching, Limits]
"""How steps are searched: the journal, the solver, processes, the end, and who watches; limits bound a step."""


def search_steps(steps: Sequence[AnyStep], done: Searched, work: Work) -> list[tuple[AnyStep, Mapping[str, Any]]]:
    """Search mappings near a sound one, each up to its first bug, and return the result of each that was searched."""
    journal, solver, jobs, until, watch, limits = work
    run = partial(run_step, solver=solver)
    done.stopped = search_units(steps, run, journal, jobs, lambda step, founds: [], lambda: 0, until, watch, limits)
    return [(step, journal.closed[step.name]) for step in steps if step.name in journal.closed]


def search_weaker(done: Searched, check: Checked, work: Work) -> None:
    """Add to the state of a sound mapping those that are one step weaker."""
    found = search_steps([WeakerMapping(name, weaker) for name, weaker in weakened(check)], done, work)
    done.weaker = [Weaker(step.name, said["events"], said["bug"]) for step, said in found]


def search_features(done: Searched, check: Checked, work: Work) -> None:
    """Add to the state of a sound mapping which features of the source its sizes exercise."""
    found = search_steps(list(features(check)), done, work)
    done.exercised = [(feature, said["bug"]) for feature, said in found]


def write_bugs(journal: Journal, done: Searched, solver: str, seconds: float) -> None:
    """Turn the journal into the corpus of the source's tests, with that of the target's tests inside it.

    Raises ``InputError`` where a file cannot be written.
    """
    complete = not done.stopped
    weaker = [asdict(each) for each in done.weaker]
    manifest: dict[str, Any] = {"complete": complete, "version": VERSION, "searched": done.events}
    manifest |= ({"weaker": weaker} if weaker else {}) | ({"stopped": done.stopped} if done.stopped else {})
    manifest |= {"unexercised": done.unexercised()} if done.exercised else {}
    asked = {**journal.request, "becomes": "the tests of the folder around this one"}
    folder = inner_folder(journal.path, TARGET)
    inside = {"complete": complete, "request": asked, "models": journal.request["models"]}
    write_corpus(folder, [bug.target for bug in done.bugs], inside)
    times = {"seconds": round(seconds, 3), "solver": solver, **effort_of(journal)}
    finish(journal, manifest, times, lambda tests: [bug.source for bug in done.bugs])
