"""What a device gives where a test is launched as a profile says."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from backends.shared.backend import Backend
from backends.shared.device import Runner
from backends.shared.layout import outcome_terms
from backends.shared.outcomes import outcomes
from backends.shared.process import TIMED_OUT, Run, RunError
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from synth.memory.conformance import is_asked_for
from synth.tuning.search import Ask, Sample


@dataclass(frozen=True, slots=True)
class Bench:
    """Tests on the device of a runner, ``instances`` in each launch, which has ``timeout`` seconds."""

    backend: Backend
    runner: Runner
    tests: Sequence[LitmusTest]
    instances: int
    timeout: float

    def measure(self, ask: Ask) -> Sample:
        """Run a test and count its weak outcomes, launch by launch; what cannot be run is a sample with an error."""
        test = self.tests[ask.test]
        since = time.monotonic()
        try:
            layout = self.runner.device.layout(test, ask.profile.instances or self.instances, ask.profile)
            files = self.backend.memory_files(test.name, layout)
            run = self.runner.run(files, layout, ask.launches, self.timeout)
            weak = tuple(_weak(test, run, number) for number in range(len(run.said)))
        except (InputError, RunError) as error:
            return Sample(seconds=round(time.monotonic() - since, 3), error=str(error))
        seconds = round(time.monotonic() - since, 3)
        if TIMED_OUT in run.outcomes:
            return Sample(seconds=seconds, error=f"a launch took more than {self.timeout:g} seconds")
        return Sample(weak, layout.instances, seconds, round(sum(run.seconds), 3))


def _weak(test: LitmusTest, run: Run, launch: int) -> int:
    """Instances of a launch with the outcome that the test asks for."""
    seen = outcomes(Run("T", (0.0,), (run.said[launch],)))
    terms = outcome_terms(test)
    return sum(count for values, count in seen.counts.items() if is_asked_for(test, terms, values))
