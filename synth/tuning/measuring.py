"""The measurement of weak outcomes on a device where a test is launched as profiles say."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backends.shared.backend import Backend
from backends.shared.device import Prepared, Runner, batches
from backends.shared.layout import Layout, outcome_terms
from backends.shared.outcomes import outcomes
from backends.shared.process import TERMINATED, TIMED_OUT, Run, RunError
from corpus.awaited import awaiting
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from synth.memory.conformance import is_asked_for
from synth.tuning.search import Ask, Sample


@dataclass(frozen=True, slots=True)
class Bench:
    """A bench of tests on the device of a runner, with ``instances`` in each launch, which has ``timeout`` seconds."""

    backend: Backend
    runner: Runner
    tests: Sequence[LitmusTest]
    instances: int
    timeout: float

    def measure(self, asks: Sequence[Ask]) -> Iterator[Sample]:
        """Run tests and yield their weak outcomes, launch by launch, in the order of the questions.

        Their programs are built together where that is quicker. What cannot be run is a sample with an error.
        """
        found: dict[int, Sample] = {}
        programs: dict[int, tuple[dict[str, str], Layout]] = {}
        for number, ask in enumerate(asks):
            try:
                programs[number] = self._program(ask)
            except InputError as error:
                found[number] = Sample(error=str(error))
        numbers, told = list(programs), 0
        for batch in batches(self.runner.device, [programs[number][1] for number in numbers], 1):
            these = [numbers[each] for each in batch]
            since = time.monotonic()
            with self.runner.prepared([programs[number] for number in these]) as ready:
                built = (time.monotonic() - since) / len(these)
                for number, program in zip(these, ready, strict=True):
                    found[number] = self._sample(asks[number], programs[number][1].instances, program, built)
                    while told in found:
                        yield found[told]
                        told += 1
        yield from (found[number] for number in range(told, len(asks)))

    def _program(self, ask: Ask) -> tuple[dict[str, str], Layout]:
        """Return the files and the layout of a test for a question. Raises ``InputError`` where there are none."""
        test = self.tests[ask.test]
        layout = self.runner.device.layout(test, ask.profile.instances or self.instances, ask.profile)
        return self.backend.memory_files(test.name, layout), layout

    def _sample(self, ask: Ask, instances: int, program: Prepared | RunError, built: float) -> Sample:
        """Return the sample of a program, which took ``built`` seconds to build."""
        since = time.monotonic()
        try:
            if isinstance(program, RunError):
                raise program
            with awaiting(f"{self.tests[ask.test].name} on {self.runner.device.name}"):
                run = self.runner.watch(program, ask.launches, self.timeout)
            weak = tuple(_weak(self.tests[ask.test], run, launch) for launch in range(len(run.lines)))
        except RunError as error:
            return Sample(seconds=round(built + time.monotonic() - since, 3), error=str(error))
        seconds = round(built + time.monotonic() - since, 3)
        if TIMED_OUT in run.outcomes:
            return Sample(seconds=seconds, error=f"a launch took more than {self.timeout:g} seconds")
        return Sample(weak, instances, seconds, round(sum(run.seconds), 3))


def _weak(test: LitmusTest, run: Run, launch: int) -> int:
    """Return the instances of a launch with the outcome that the test asks for."""
    seen = outcomes(Run(TERMINATED, (0.0,), (run.lines[launch],)))
    terms = outcome_terms(test)
    return sum(count for values, count in seen.counts.items() if is_asked_for(test, terms, values))
