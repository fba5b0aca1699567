"""The kills of a suite's mutants on devices: how often, and in how much time.

A *mutant* is a relaxation of a conformance test, and the model allows its outcome. An *environment* is a device and a
way to launch tests. It *kills* a mutant where it shows the mutant's outcome, and its *kill rate* is how often it does
in a second (Levine et al., ASPLOS 2023, section 3; their death rate). An environment that kills no mutant of a test
could not have seen the bug that the test is for.

Some relaxations make no such bug: where a thread that runs after the other shows the outcome, no reordering was seen
and no stress was needed. These *serial* mutants (``oracle.serial``) do not count, unless they are asked for.

Assumptions: a result belongs to a test where digest and terms agree. Results of one environment are summed up over
numbers of launches and time-outs. Time is that of launches, without compiling.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from backends.shared.results import Entry, MemoryResult, trial_of
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.journal import read_corpus
from corpus.links import LINKS, MUTANTS, MutantLink, read_links
from corpus.litmus.test import LitmusTest
from corpus.test import Test
from oracle.consistency import ConsistencyModel
from oracle.serial import Takes, takes
from synth.conformance import Promise
from synth.inputs import timed_results
from synth.memory.conformance import (
    asked_outcomes,
    labelled_by,
    models_as_recorded,
    promise_of,
    recorded_promises,
)
from synth.requests import SelectionFilter


@dataclass(frozen=True, slots=True, order=True)
class Machine:
    """The machine of a test's run: back end, device, driver and compiler."""

    backend: str
    device: str
    driver: str = ""
    compiler: str = ""

    def __str__(self) -> str:
        return f"{self.backend}: {', '.join(part for part in (self.device, self.driver, self.compiler) if part)}"


@dataclass(frozen=True, slots=True, order=True)
class Environment:
    """A testing environment: a machine and how tests are launched on it."""

    machine: Machine
    profile: str
    stress: bool
    instances: int

    @property
    def way(self) -> str:
        """Return the way in which tests are launched, in words."""
        return f"{self.profile or ('stress' if self.stress else 'plain')}, {self.instances:,} instances"

    def __str__(self) -> str:
        return f"{self.machine}: {self.way}"


@dataclass(frozen=True, slots=True)
class KillCounts:
    """How often the outcome that a test asks for was seen, in so many launches and seconds.

    ``seconds`` is None where the time is not known.
    """

    count: int
    launches: int
    seconds: float | None

    @property
    def rate(self) -> float | None:
        """Return the kill rate: how often the outcome was seen in a second; 0 where it was not, None where no time is
        known.
        """
        if not self.count:
            return 0.0
        return self.count / self.seconds if self.seconds else None

    def __add__(self, other: KillCounts) -> KillCounts:
        both = None if self.seconds is None or other.seconds is None else self.seconds + other.seconds
        return KillCounts(self.count + other.count, self.launches + other.launches, both)


Observed = Mapping[Environment, Mapping[str, KillCounts]]
"""For each environment, the kill counts of the tests and mutants that were run there, by name."""


@dataclass(frozen=True)
class MutantSuite:
    """A suite of conformance tests with their mutants by name and the links between them; ``all_count``: serial ones
    count.

    ``links`` are those of the tests, in their order. ``judges`` are the models that labelled the suite and that can be
    asked again (``synth.memory.conformance.models_as_recorded``).
    """

    path: Path
    tests: tuple[Test, ...]
    mutants: Mapping[str, Test]
    links: tuple[MutantLink, ...]
    all_count: bool = False
    judges: Mapping[str, ConsistencyModel] = field(default_factory=dict)

    def promises(self, test: Test) -> dict[str, Promise]:
        """Return the promise on a test of each model that labelled it."""
        parsed = parse_litmus(test.text, f"{self.path}: {test.name}")
        promises = {name: promise_of(parsed, model) for name, model in self.judges.items()}
        return recorded_promises(test) | promises

    def of(self, names: Collection[str]) -> MutantSuite:
        """Return the part of the suite that belongs to the tests of these names."""
        links = tuple(link for link in self.links if link.test in names)
        own = dict.fromkeys(link.mutant for link in links)
        tests = tuple(test for test in self.tests if test.name in names)
        return replace(self, tests=tests, mutants={name: self.mutants[name] for name in own}, links=links)

    @cached_property
    def takes(self) -> Mapping[str, Takes]:
        """Return what the outcome of each mutant takes: serial execution, interleaving or weak memory."""
        place = self.path / MUTANTS
        return {name: takes(parse_litmus(mutant.text, f"{place}: {name}")) for name, mutant in self.mutants.items()}

    def counts(self, mutant: str) -> bool:
        """Return whether the mutant counts, which a serial one does only where all do."""
        return self.all_count or self.takes[mutant] is not Takes.SERIAL

    @cached_property
    def counted(self) -> Mapping[str, tuple[MutantLink, ...]]:
        """Return, for each test, the links to its mutants that count."""
        found: dict[str, list[MutantLink]] = {test.name: [] for test in self.tests}
        for link in self.links:
            if self.counts(link.mutant):
                found[link.test].append(link)
        return {name: tuple(links) for name, links in found.items()}


def read_suite(path: Path, choice: SelectionFilter, all_count: bool = False) -> MutantSuite:
    """Read the tests of a suite that ``choice`` selects, with their mutants.

    Raises ``InputError`` where the suite or its mutants cannot be read, or a link leads nowhere.
    """
    corpus = read_corpus(path)
    every = corpus.tests
    links = read_links(path)
    mutants = {mutant.name: mutant for mutant in read_corpus(path / MUTANTS).tests}
    names = {test.name for test in every}
    for link in links:
        for name, known in ((link.test, names), (link.mutant, mutants)):
            if name not in known:
                raise InputError(f"no test has the name {name!r}", str(path / MUTANTS / LINKS))
    judges = models_as_recorded({name: {digest} for name, digest in labelled_by(corpus.manifest).items()})
    whole = MutantSuite(path, tuple(every), mutants, tuple(links), all_count, judges)
    return whole.of({test.name for test in choice.of_tests(every)})


def read_observed(suite: MutantSuite, paths: Sequence[Path]) -> Observed:
    """Read what files of results say of a suite. Raises ``InputError`` where one cannot be read."""
    return observed(suite, [pair for path in paths for pair in timed_results(path)])


def read_kills(suite: MutantSuite, paths: Sequence[Path]) -> Observed:
    """Read what files of results say of a suite whose mutants were run.

    Raises ``InputError`` where a file cannot be read, and where no mutant that counts was run.
    """
    found = read_observed(suite, paths)
    if not has_mutants(suite, found):
        raise InputError(f"no result of a mutant of {suite.path} that counts; run --mutants makes some", str(paths[0]))
    return found


def observed(suite: MutantSuite, entries: Iterable[tuple[Entry, Sequence[float]]]) -> Observed:
    """Return what results, each with the wall seconds of its launches, say of a suite.

    Of several results of one trial the last counts.
    """
    tests = {test.digest: test for test in (*suite.tests, *suite.mutants.values())}
    last = {
        trial_of(entry): (entry, sum(seconds) if seconds else None)
        for entry, seconds in entries
        if isinstance(entry, MemoryResult) and entry.digest in tests
    }
    parsed: dict[str, LitmusTest] = {}
    found: dict[Environment, dict[str, KillCounts]] = {}
    for result, seconds in last.values():
        test = tests[result.digest]
        if test.name not in parsed:
            parsed[test.name] = parse_litmus(test.text, f"{suite.path}: {test.name}")
        targets = asked_outcomes(parsed[test.name], result)
        if targets is None:
            continue
        count = sum(count for values, count in result.outcomes if values in targets)
        seen = KillCounts(count, result.launches, seconds)
        of_environment = found.setdefault(environment_of(result), {})
        before = of_environment.get(test.name)
        of_environment[test.name] = seen if before is None else before + seen
    return {environment: found[environment] for environment in sorted(found)}


def has_mutants(suite: MutantSuite, observed: Observed) -> bool:
    """Return whether any mutant that counts was run."""
    counted = {link.mutant for links in suite.counted.values() for link in links}
    return any(not counted.isdisjoint(seen) for seen in observed.values())


def environment_of(result: MemoryResult) -> Environment:
    """Return the environment in which a result came about."""
    machine = Machine(result.backend, result.device, result.driver, result.compiler)
    return Environment(machine, result.profile, result.stress, result.instances)
