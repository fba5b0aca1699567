"""The tests that a device is tuned by, and the measurement of their weak outcomes on the device of a runner.

The tests are SB (store buffering), MP (message passing) and LB (load buffering), or a user's own. Each of the three is
written once, in OpenCL's dialect, with relaxed accesses of the whole device and threads in work-groups of their own:
every language here can say it (Sorensen and Donaldson 2016, section 3.1).
"""

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
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError, did_you_mean
from corpus.litmus.test import LitmusTest
from synth.inputs import expand
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
        numbers, due = list(programs), 0
        for batch in batches(self.runner.device, [programs[number][1] for number in numbers], 1):
            these = [numbers[place] for place in batch]
            since = time.monotonic()
            with self.runner.prepared([programs[number] for number in these]) as ready:
                built = (time.monotonic() - since) / len(these)
                for number, program in zip(these, ready, strict=True):
                    found[number] = self._sample(asks[number], programs[number][1].instances, program, built)
                    while due in found:
                        yield found[due]
                        due += 1
        yield from (found[number] for number in range(due, len(asks)))

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


def _store(location: str) -> str:
    return f"atomic_store_explicit({location}, 1, memory_order_relaxed, memory_scope_device);"


def _load(register: str, location: str) -> str:
    return f"int {register} = atomic_load_explicit({location}, memory_order_relaxed, memory_scope_device);"


_SHAPES = {
    "SB": ((_store("x"), _load("r0", "y")), (_store("y"), _load("r0", "x")), "0:r0 = 0 /\\ 1:r0 = 0"),
    "MP": ((_store("x"), _store("y")), (_load("r0", "y"), _load("r1", "x")), "1:r0 = 1 /\\ 1:r1 = 0"),
    "LB": ((_load("r0", "x"), _store("y")), (_load("r0", "y"), _store("x")), "0:r0 = 1 /\\ 1:r0 = 1"),
}
"""The code of both threads, and the weak outcome, of each shape."""

SHAPES = tuple(_SHAPES)


def shape(name: str) -> LitmusTest:
    """Return the litmus test of one of ``SHAPES`` in OpenCL's dialect."""
    *threads, weak = _SHAPES[name]
    parameters = "global atomic_int* x, global atomic_int* y"
    code = "\n".join(
        f"P{number}@wg {number}, dev 0 ({parameters}) {{ {' '.join(lines)} }}" for number, lines in enumerate(threads)
    )
    return parse_litmus(f"OPENCL {name}\n{{ x = 0; y = 0; }}\n{code}\nexists ({weak})\n")


def shapes_of(words: Sequence[str]) -> list[LitmusTest]:
    """Return the tests that words mean: names of shapes, or files.

    Raises ``InputError`` where one cannot be read, or two have one name.
    """
    tests: list[LitmusTest] = []
    for word in words:
        if word.upper() in _SHAPES:
            tests.append(shape(word.upper()))
        elif word.isalnum() and (hint := did_you_mean(word.upper(), SHAPES)):
            raise InputError(f"--shapes: there is no shape {word}; {hint}")
        else:
            tests += [given.litmus() for given in expand([word])]
    names = [test.name for test in tests]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"--shapes: two tests are called {name}")
    return tests
