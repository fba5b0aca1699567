"""Mutation scores of environments, and each test's confidence to show its bug.

The mutation score is the share of mutants that are killed (Levine et al., ASPLOS 2023, section 3). Where a mutant is
killed at a rate r, the chance to kill it within t seconds is 1 - e^-rt (section 4.2, *reproducibility*); the paper asks
for 95 % and 99.999 %.

A *bug* is a test and a mutant of it: the device behaves as if the program were relaxed in that way. A run of the test
shows the bug with the confidence with which a run of the mutant, equally long, kills the mutant. A test has several
bugs; its confidence is that of the bug that is seen most easily. Where no mutant of it was killed, nothing is known.

Assumption: kills are a Poisson process (``synth.statistics``). Kills come in bursts, so a rate of a few kills is less
certain than its interval says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from corpus.links import MutantLink
from corpus.test import Test
from synth.memory.counts import axioms
from synth.mutation.kills import Environment, KillCounts, Machine, MutantSuite, Observed
from synth.statistics import chance_of_some, count_interval, expected_for

LEVELS = (0.95, 0.99999)
"""The confidences for which the paper asks: 95 % and 99.999 %."""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of ``mutants``: how many were run, how many of these were killed, and their mean rate of kills in a
    second.

    The mean is over the mutants that were run and whose time is known; None where there is none.
    """

    mutants: int
    run: int
    killed: int
    mean_rate: float | None

    @property
    def share(self) -> float | None:
        """Return the mutation score: the share of run mutants that were killed; None where no mutant was run."""
        return self.killed / self.run if self.run else None


def score(mutants: Iterable[str], seen: Mapping[str, KillCounts]) -> Score:
    """Return the score of some mutants; ``seen`` has the kill counts of those that were run."""
    every = list(dict.fromkeys(mutants))
    run = [seen[name] for name in every if name in seen]
    rates = [rate for trial in run if (rate := trial.rate) is not None]
    mean = sum(rates) / len(rates) if rates else None
    return Score(len(every), len(run), sum(trial.count > 0 for trial in run), mean)


def scores_by(
    suite: MutantSuite, seen: Mapping[str, KillCounts], key: Callable[[MutantLink], Iterable[str]]
) -> dict[str, Score]:
    """Return the scores of the mutants that count, grouped by ``key`` of their links; a mutant may be in several
    groups.
    """
    groups: dict[str, list[str]] = {}
    for links in suite.counted.values():
        for link in links:
            for name in key(link):
                groups.setdefault(name, []).append(link.mutant)
    return {name: score(groups[name], seen) for name in sorted(groups)}


def best_of(observed: Observed) -> dict[str, KillCounts]:
    """Return, for each test and mutant, its kill counts in the environment with the highest kill rate."""
    best: dict[str, KillCounts] = {}
    for seen in observed.values():
        for name, bug in seen.items():
            if name not in best or _order(bug) > _order(best[name]):
                best[name] = bug
    return best


def _order(seen: KillCounts) -> tuple[bool, float]:
    return seen.count > 0, seen.rate or 0.0


def keys(suite: MutantSuite) -> dict[str, Callable[[MutantLink], Iterable[str]]]:
    """Return the keys that group mutants: what their outcome takes, what was relaxed, and the axiom that their test
    pins.
    """
    pinned = {test.name: tuple(axioms(test)) for test in suite.tests}
    return {
        "outcome takes": lambda link: (str(suite.takes[link.mutant]),),
        "relaxation of": lambda link: (link.kind,),
        "axiom": lambda link: pinned[link.test],
    }


@dataclass(frozen=True, slots=True)
class MutantScore:
    """A bug, which is a test and a mutant of it, in an environment, with how often the mutant was seen."""

    link: MutantLink
    environment: Environment
    seen: KillCounts

    @property
    def rate(self) -> float:
        """Return the kills in a second; 0 where the time is not known."""
        return self.seen.rate or 0.0

    @property
    def least_rate(self) -> float:
        """Return the lower end of the rate's 95 % interval, in kills a second."""
        return count_interval(self.seen.count)[0] / self.seen.seconds if self.seen.seconds else 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval of the rate, in kills a second; None where the time is not known."""
        if not self.seen.seconds:
            return None
        low, high = count_interval(self.seen.count)
        return low / self.seen.seconds, high / self.seen.seconds


@dataclass(frozen=True, slots=True)
class Trust:
    """The trust in a conformance test on a machine, by the kills of its mutants.

    ``mutants`` of it count; ``run`` and ``killed`` say how many were run and killed in some environment. ``best`` is
    the mutant with the highest kill rate, None where none was killed. ``mean_rate`` is the mean over all its mutants
    that were run there. ``seen`` is how often the outcome that the test asks about was seen, in ``seconds`` in all
    environments; ``contradicts`` are the models that forbid that outcome, and ``silent`` those that promise nothing of
    the test, each with the reason. ``confidence`` is that of a run as long as the test's own, ``at_least`` by the lower
    ends of the rates' intervals.
    """

    test: Test
    machine: Machine
    mutants: int
    run: int
    killed: int
    best: MutantScore | None
    mean_rate: float
    seen: int
    seconds: float
    confidence: float
    at_least: float
    contradicts: tuple[str, ...] = ()
    silent: Mapping[str, str] = field(default_factory=dict)

    def confidence_in(self, seconds: float) -> float:
        """Return the confidence of a run of so many seconds in the best environment."""
        return chance_of_some(self.best.rate * seconds) if self.best else 0.0

    def seconds_for(self, confidence: float) -> float:
        """Return the seconds to run the test in the best environment; infinite where no mutant was killed."""
        return expected_for(confidence) / self.best.rate if self.best and self.best.rate else inf


def bugs_of(suite: MutantSuite, observed: Observed, machine: Machine, test: str) -> Iterator[MutantScore]:
    """Yield the bugs of a test in the environments of a machine in which their mutants were run, each mutant once."""
    links = {link.mutant: link for link in reversed(suite.counted[test])}
    for environment, seen in observed.items():
        if environment.machine == machine:
            for mutant, link in sorted(links.items()):
                if mutant in seen:
                    yield MutantScore(link, environment, seen[mutant])


def machines(observed: Observed) -> list[Machine]:
    """Return the machines of the environments in which tests were run, each once."""
    return list(dict.fromkeys(environment.machine for environment in observed))


def trust(suite: MutantSuite, observed: Observed, machine: Machine) -> list[Trust]:
    """Return the trust in each test on a machine, in the order of the suite."""
    return [_trust(suite, observed, machine, test) for test in suite.tests]


def _trust(suite: MutantSuite, observed: Observed, machine: Machine, test: Test) -> Trust:
    bugs = list(bugs_of(suite, observed, machine, test.name))
    killed = [bug for bug in bugs if bug.seen.count]
    best = max(killed, key=lambda bug: bug.rate, default=None)
    there = [bug.rate for bug in bugs if best and bug.environment == best.environment]
    own = {where: seen[test.name] for where, seen in observed.items() if where.machine == machine and test.name in seen}
    seen = sum(seen.count for seen in own.values())
    promises = suite.promises(test) if seen else {}
    return Trust(
        test=test,
        machine=machine,
        mutants=len({link.mutant for link in suite.counted[test.name]}),
        run=len({bug.link.mutant for bug in bugs}),
        killed=len({bug.link.mutant for bug in killed}),
        best=best,
        mean_rate=sum(there) / len(there) if there else 0.0,
        seen=seen,
        seconds=sum(seen.seconds or 0.0 for seen in own.values()),
        confidence=_confidence(killed, own, lambda bug: bug.rate),
        at_least=_confidence(killed, own, lambda bug: bug.least_rate),
        contradicts=tuple(model for model, promise in promises.items() if promise.forbids_asked),
        silent={model: promise.reason for model, promise in promises.items() if promise.forbids_asked is None},
    )


def _confidence(
    bugs: Sequence[MutantScore], own: Mapping[Environment, KillCounts], rate: Callable[[MutantScore], float]
) -> float:
    """Return the confidence that the easiest bug would have been seen in the runs of the test itself."""
    expected: dict[str, float] = {}
    for bug in bugs:
        seconds = own[bug.environment].seconds if bug.environment in own else None
        expected[bug.link.mutant] = expected.get(bug.link.mutant, 0.0) + rate(bug) * (seconds or 0.0)
    return chance_of_some(max(expected.values(), default=0.0))
