"""Litmus tests as experiments of ``synth infer --run``: chosen by a search, run on a device, read as facts.

    results.jsonl        what was seen, as synth run writes it
    tests/003-SB.litmus  the tests that were chosen, numbered in their order; those without a result are still to run

Tests are chosen in batches, each of the smallest size at which any tells apart what no test before it did. Of a batch,
the test that splits the models most evenly is run first, and one that no longer tells any apart is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from backends.shared.backend import Backend
from backends.shared.device import Device
from backends.shared.files import file_stem
from backends.shared.results import RESULTS, MemoryResult, latest, open_results
from corpus.dialects.registry import parse_litmus
from corpus.files import read_text, write_atomically
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import LitmusTest
from corpus.test import Test
from oracle.inference.classes import SketchTest, next_test
from oracle.inference.fitting import Fact
from oracle.inference.model_sets import ModelSet
from synth.inference.facts import MemoryFacts, NeverSeen
from synth.inference.memory import ProgramSearch
from synth.inputs import Input, timed_results
from synth.memory.judging import labelled_record
from synth.memory.runs import Launches, made
from synth.units import NEVER


@dataclass(frozen=True, slots=True)
class ChosenTest:
    """A test that was chosen: its text, its digest, and the models that allow it."""

    text: str
    test: LitmusTest
    digest: str
    judged: SketchTest


@dataclass
class LitmusExperiment:
    """The memory half of a closed loop; ``synth.inference.loop.Experiment`` says what its methods do.

    ``given`` are facts and tests that are known beforehand. ``refused`` are tests that the device cannot run, each with
    the reason.
    """

    search: ProgramSearch
    folder: Path
    backend: Backend
    device: Device
    launches: Launches
    never: NeverSeen
    given: MemoryFacts
    refused: dict[str, str] = field(default_factory=dict)
    known: MemoryFacts = field(init=False)
    _chosen: dict[str, ChosenTest] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Read what an earlier call has chosen."""
        self.known = MemoryFacts(self.search.sketch)
        for file in sorted((self.folder / "tests").glob("*.litmus")):
            self._choose(file)

    def facts(self) -> Sequence[Fact]:
        """Return what all results so far say."""
        file = self.folder / RESULTS
        results, _ = latest(entry for entry, _ in timed_results(file)) if file.exists() else ({}, {})
        seen = {result.digest: result for result in results.values() if isinstance(result, MemoryResult)}
        for name, chosen in self._chosen.items():
            result = seen.get(chosen.digest)
            if result is not None and name not in self._read:
                self._read.add(name)
                self.known.add_result(chosen.test, result, self.never, str(file))
        return self.known.facts

    def ran(self) -> int:
        """Return how many tests were run so far."""
        return len(self._read)

    def following(self, fit: ModelSet) -> str | None:
        """Return the name of the test to run next; None where none is left."""
        while True:
            left = [
                replace(program.judged, name=name)
                for name, program in self._chosen.items()
                if name not in self._read and name not in self.refused
            ]
            chosen = next_test(fit, left)
            if chosen is not None:
                return chosen.name
            done = [chosen.judged for chosen in self._chosen.values()]
            found = self.search.smallest(fit, [*self.given.tests, *done], NEVER)
            if not found:
                return None
            for new in found:
                number = len(self._chosen) + 1
                file = self.folder / "tests" / f"{number:03}-{file_stem(new.record.name)}.litmus"
                write_atomically(file, [new.record.text])
                self._choose(file)

    def perform(self, test: str) -> str:
        """Run a test and keep what it showed."""
        file = self.folder / "tests" / f"{test}.litmus"
        with open_results(self.folder / RESULTS) as results:
            ran = made([Input(str(file), file.stem, file)], self.backend, self.device, self.launches, results)
        for reason in (*ran.refused.values(), *ran.failed.values()):
            self.refused[test] = reason
        return ran.stuck

    def name(self, test: str) -> str:
        """Return the name of a test."""
        return self._chosen[test].judged.name

    def records(self) -> list[Test]:
        """Return the tests that were chosen, as those of a corpus."""
        return [labelled_record(chosen.test, chosen.text, chosen.judged.size, ()) for chosen in self._chosen.values()]

    def _choose(self, file: Path) -> None:
        text = read_text(file)
        test = parse_litmus(text, str(file))
        judged = self.known.add_test(test)
        if judged is not None:
            self._chosen[file.stem] = ChosenTest(text, test, litmus_digest(test), judged)
