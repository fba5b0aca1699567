"""Progress tests as experiments of the loop (``synth.inference.loop``): run on a device, with hangs confirmed.

The folder of a loop has ``results.jsonl``, as ``synth run`` writes it, and in ``tests`` the tests that were run, as
.axb files; a test's file is there before its first result. A test is run in every mapping that is asked for. It is done
when all its trials have been made, and a hang in one was confirmed or ended with more time.

The test to run next is the smallest that tells apart what is left (``oracle.inference.classes.next_test``), of the
bounds in turn. A hang may be rare, and need a test of its own; so of tests that tell apart the same models, ``tries``
are run before the models are taken to be told apart no further.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from backends.shared.backend import Backend
from backends.shared.device import Device
from backends.shared.results import RESULTS, ProgressResult, ResultFile, open_results
from corpus.files import inner_folder, write_atomically
from oracle.inference.classes import next_test
from oracle.inference.fitting import Fact
from oracle.inference.model_sets import ModelSet
from oracle.inference.promise_family import PromiseFamily
from synth.campaigns import Campaign
from synth.inference.facts import NeverSeen
from synth.inference.promises import TESTS, Bound, PlacedTest, PromiseFacts, PromiseJudge, suite_tests
from synth.inputs import Input
from synth.progress.runs import DueProgress, control_of, progress_trials
from synth.runs import Running, TrialsRun

TRIES = 2
"""The number of tests that are run, of those that tell apart the same models, unless more are asked for."""


@dataclass
class PromiseExperiment:
    """Progress tests on one device, chosen among the suites of some bounds, in the placements of ``running``."""

    family: PromiseFamily
    backend: Backend
    device: Device
    running: Running
    folder: Path
    file: ResultFile
    bounds: Sequence[Bound]
    never: NeverSeen
    tries: int = TRIES
    _attempted: set[str] = field(default_factory=set, repr=False)
    _begun: dict[tuple[str, str], PlacedTest] = field(default_factory=dict, repr=False)
    _suites: dict[Bound, list[PlacedTest]] = field(default_factory=dict, repr=False)
    _judge: PromiseJudge = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._judge = PromiseJudge(self.family)
        made = {(result.digest, result.placement) for result in self._results()}
        for path in sorted((self.folder / TESTS).glob("*.axb")):
            test = Input(str(path), path.stem, path).axb()
            for placement in self.running.placements:
                if (test.digest, placement) in made:
                    self._begin(self._judge.placed(test, placement))

    def facts(self) -> Sequence[Fact]:
        """Return what the results so far say; what always ended is a fact only where the user says so."""
        return self.known().facts

    def known(self) -> PromiseFacts:
        """Return all that is known from the results so far."""
        found = PromiseFacts(self._judge)
        tests = {placed.test.digest: placed.test for placed in self._begun.values()}
        found.add_results(tests, self._results(), self.never, RESULTS)
        return found

    def ran(self) -> int:
        """Return how many tests were run so far."""
        return len(self._begun)

    def name(self, test: PlacedTest) -> str:
        """Return the name of a test in its placement."""
        return test.sketch.name

    def following(self, fit: ModelSet) -> PlacedTest | None:
        """Return the test to run next: one that was begun, or the next of the suites that tells models apart."""
        for placed in self._begun.values():
            if not self._is_done(placed):
                return placed
        tried = Counter((fit & placed.sketch.allowing).number for placed in self._begun.values())
        for bound in self.bounds:
            left = {
                placed.sketch.name: placed
                for placed in self.suite(bound)
                if (placed.test.digest, placed.placement) not in self._begun
                and tried[(fit & placed.sketch.allowing).number] < self.tries
            }
            best = next_test(fit, [placed.sketch for placed in left.values()])
            if best is not None:
                return left[best.name]
        return None

    def suite(self, bound: Bound) -> list[PlacedTest]:
        """Return the tests of a bound in the placements that are asked for."""
        if bound not in self._suites:
            self._suites[bound] = list(suite_tests(self._judge, bound, self.running.placements))
        return self._suites[bound]

    def perform(self, test: PlacedTest) -> str:
        """Run a test in all mappings, confirm its hangs, and return why no other can be run, if that is so."""
        tests = inner_folder(self.folder, TESTS)
        write_atomically(tests / f"{test.test.name}.axb", [test.test.text])
        self._begin(test)
        ran = TrialsRun[ProgressResult]()
        # Every hang is of use, for the test tells apart models of which some fit: so each is confirmed.
        ran.make(
            self._trials(test), self.file, self.device, Campaign(), control_of(self.backend), lambda _: True, False
        )
        self._attempted.add(test.sketch.name)
        return ran.stuck

    def _begin(self, placed: PlacedTest) -> None:
        self._begun[placed.test.digest, placed.placement] = placed

    def _trials(self, placed: PlacedTest) -> list[DueProgress]:
        running = replace(self.running, placements=(placed.placement,))
        return list(progress_trials([placed.test], self.backend, self.device, running))

    def _is_done(self, placed: PlacedTest) -> bool:
        """Decide whether a test needs no other trial; what was tried in this call is not tried again."""
        return placed.sketch.name in self._attempted or not any(
            Campaign().is_due(trial.trial, self.file, lambda: True) and trial.trial not in self.file.failures
            for trial in self._trials(placed)
        )

    def _results(self) -> Iterator[ProgressResult]:
        """Yield the results that this device gave in the placements that are asked for."""
        for result in self.file.results.values():
            if (
                isinstance(result, ProgressResult)
                and (result.backend, result.device) == (self.backend.name, self.device.name)
                and result.placement in self.running.placements
            ):
                yield result


@contextmanager
def opened(
    family: PromiseFamily,
    backend: Backend,
    device: Device,
    running: Running,
    folder: Path,
    bounds: Iterable[Bound],
    never: NeverSeen,
    tries: int = TRIES,
) -> Iterator[PromiseExperiment]:
    """Open the experiment whose tests and results are in a folder, new ones or those of an earlier call."""
    with open_results(folder / RESULTS) as file:
        yield PromiseExperiment(family, backend, device, running, folder, file, tuple(bounds), never, tries)
