"""The pipeline of ``synth infer`` for consistency models: facts, tests that tell models apart, the answer.

With ``--run`` the tests are run as they are found, and what is seen is more facts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backends.registry import BACKENDS
from backends.shared.profiles import DEFAULT, STRESS
from corpus.errors import InputError
from corpus.executions.vocabulary import Vocabulary
from corpus.files import halves, inner_folder, new_folder, read_text, write_atomically
from corpus.test import Test
from oracle.inference.fitting import fitting
from oracle.inference.sketch import Sketch
from synth.inference.answer import InferenceAnswer, answer
from synth.inference.facts import MemoryFacts, NeverSeen, read_facts
from synth.inference.loop import LoopBudget, LoopOptions, LoopOutcome, LoopStep, closed_loop
from synth.inference.memory import ProgramSearch, SketchHypotheses, changes_that_fit
from synth.inference.memory_runs import LitmusExperiment
from synth.memory.runs import INSTANCES, Launches
from synth.units import Until
from synth.watch import watching

REQUEST = "request.json"
"""The name of the file with what was asked, in the folder of a loop."""


@dataclass(frozen=True)
class InferenceRequest:
    """A question to ``synth infer``: a sketch, where facts are from, and the programs that may tell models apart."""

    sketch: Sketch
    sources: tuple[Path, ...]
    tests: tuple[str, ...]
    column: str | None
    never: NeverSeen
    words: Vocabulary
    events: tuple[int, int]
    threads: tuple[int, int] | None
    solver: str
    loop: LoopOptions | None = None

    def facts(self, sketch: Sketch) -> MemoryFacts:
        """Return what the sources say, for this sketch or another one."""
        return read_facts(sketch, self.sources, self.tests, self.column, self.never)

    def search(self) -> ProgramSearch:
        """Return a search of the programs that has not begun."""
        return ProgramSearch(self.sketch, self.words, self.events, self.solver, self.threads)

    def as_json(self) -> dict[str, Any]:
        """Return the request as the folder of a loop keeps it."""
        return {
            "sketch": self.sketch.name,
            "digest": self.sketch.model.digest,
            "changes": self.sketch.changes,
            "from": [str(source) for source in self.sources],
            "column": self.column,
            "never_seen": "forbidden" if self.never.forbidden else "evidence",
            "launches": self.never.instances,
            "vocabulary": list(self.words.spelled),
            "events": list(self.events),
            "threads": None if self.threads is None else list(self.threads),
            "run": {} if self.loop is None else self.loop.as_json(),
        }


@dataclass(frozen=True)
class DistinguishingTests:
    """What is known of tests, how far programs were searched, the tests that were found, and how a loop ended."""

    known: MemoryFacts
    search: ProgramSearch
    records: list[Test]
    end: LoopOutcome | None = None


def tell_models_apart(request: InferenceRequest, until: Until) -> DistinguishingTests:
    """Return the facts, and all programs that tell apart what fits them."""
    known, search = request.facts(request.sketch), request.search()
    fit = fitting(request.sketch.valid, known.facts)
    records: list[Test] = []
    with watching("Telling models apart") as watch:
        for found in search.run(fit, known.tests, until, watch) if fit else ():
            records.append(found.record)
            known.tests.append(found.test)
    return DistinguishingTests(known, search, records)


def run_loop(
    request: InferenceRequest, loop: LoopOptions, folder: Path | None, report: Callable[[LoopStep], None]
) -> DistinguishingTests:
    """Return the facts once tests were run on a device until nothing more could be told apart, or the budget was
    spent; ``report`` hears of each step.
    """
    assert folder is not None
    known, search = request.facts(request.sketch), request.search()
    launches = Launches(
        loop.device.instances or INSTANCES, loop.iterations, loop.timeout, STRESS if loop.stress else DEFAULT
    )
    inner_folder(folder, "tests")
    experiment = LitmusExperiment(search, folder, BACKENDS[loop.backend], loop.opened(), launches, request.never, known)

    end = closed_loop(request.sketch.valid, known.facts, experiment, LoopBudget(loop.most, loop.budget), report)
    for name, reason in sorted(experiment.refused.items()):
        known.unread.append(f"{name}: {reason}")
    seen = experiment.known
    known.facts += seen.facts
    known.outcomes += seen.outcomes
    known.evidence += seen.evidence
    known.tests += seen.tests
    known.unread += seen.unread
    return DistinguishingTests(known, search, experiment.records(), end)


def answered(request: InferenceRequest, tests: DistinguishingTests) -> InferenceAnswer:
    """Return the answer, with the least change of the sketch where no model fits."""
    about, known, search = SketchHypotheses(request.sketch), tests.known, tests.search
    found = answer(
        about,
        known.facts,
        known.tests,
        search.bound,
        search.complete,
        known.evidence,
        size=search.searched,
        words=request.words.summary,
    )
    if found.contradiction is None:
        return found
    core = set(map(id, found.contradiction.core))
    ordered = sorted(zip(known.facts, known.outcomes, strict=True), key=lambda pair: id(pair[0]) not in core)
    changed = changes_that_fit(request.sketch, [outcome for _, outcome in ordered])
    return replace(found, contradiction=replace(found.contradiction, changes=changed))


@contextmanager
def folder_of(output: Path | None, request: Mapping[str, Any], stays: bool) -> Iterator[Path | None]:
    """Open the folder of an answer: a new one, there once all is in it; or, where it ``stays``, one that grows.

    Raises ``InputError`` where it is there and is not empty, unless an equal request began its loop.
    """
    if output is None:
        yield None
        return
    if not stays:
        with new_folder(output) as folder:
            yield folder
        return
    file = output / REQUEST
    text = json.dumps(request, ensure_ascii=False, indent=2) + "\n"
    if file.is_file():
        if read_text(file) != text:
            raise InputError("another request began this folder; the same command goes on with it", str(file))
    else:
        # A loop that was killed as it began has left the half of a request.
        if output.exists() and (not output.is_dir() or set(output.iterdir()) - set(halves(output))):
            raise InputError("the output exists and is not an empty folder", str(output))
        output.mkdir(parents=True, exist_ok=True)
        write_atomically(file, [text])
    yield output
