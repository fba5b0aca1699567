"""The answers of ``synth infer progress``: facts are read, and tests run where that is asked for.

A family of promises to threads by themselves has an answer for each placement that results were made in, for each is
about another level of the device. A family with levels has one answer.

The folder of ``--output`` holds, beside what ``synth.inference.promise_runs`` keeps there:

request.json        what was asked for; the same command alone goes on
answer.json         what --json prints
next/               the test to run next as programs, where a language is named
next.axb            the test to run next; of several placements, next-workgroup.axb, and likewise lattice-workgroup.svg
promises/           a promise of the weakest and strongest models that does not ship, as a file that ``--model`` takes
lattice.svg         the classes, with a test on each arrow
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from backends.registry import BACKENDS
from backends.shared.files import write_files
from backends.shared.mapping import DEVICE, MAPPINGS, PLACEMENTS, launch, placements_of
from backends.shared.process import ended_by_signals
from backends.shared.profiles import DEFAULT
from corpus.errors import InputError
from corpus.files import inner_folder, write_atomically
from corpus.progress.text import program_of
from oracle.inference.classes import next_test
from oracle.inference.fitting import Fact, deciding, fitting
from oracle.inference.promise_family import ELEMENTARY_TEXTS, PromiseFamily, PromiseUnion
from oracle.progress.models import GUARANTEES
from synth.drawing import order
from synth.hangs import remarks
from synth.inference.answer import InferenceAnswer, answer, lines_of, ordering_of, record_of
from synth.inference.facts import NeverSeen
from synth.inference.loop import LoopBudget, LoopEnd, LoopOptions, LoopOutcome, LoopStep, closed_loop
from synth.inference.output import MOST_DRAWN
from synth.inference.pipeline import folder_of
from synth.inference.promise_runs import TRIES, opened
from synth.inference.promises import (
    Bound,
    PlacedTest,
    PromiseFacts,
    PromiseHypotheses,
    bounds_up_to,
    placements_in,
    read_promise_facts,
    suite_tests,
)
from synth.runs import Running
from synth.watch import remark


@dataclass(frozen=True, slots=True)
class PromiseRequest:
    """The request of ``synth infer`` for a family of promises.

    ``placements`` are those in which tests are run, and whose results count where a family has no levels; where none
    are named, those of the results.
    ``loop``, where tests are to be run, says on which device; each is run in all ``mappings``, and ``tries`` tests of
    those that tell apart the same models. Without a loop, the next test is written as programs in the language
    ``backend``, where one is named.
    """

    family: PromiseFamily
    sources: tuple[Path, ...] = ()
    tests: tuple[str, ...] = ()
    column: str | None = None
    never: NeverSeen = field(default_factory=NeverSeen)
    placements: tuple[str, ...] = ()
    bound: Bound = (3, 3)
    loop: LoopOptions | None = None
    mappings: tuple[str, ...] = tuple(MAPPINGS)
    tries: int = TRIES
    backend: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the request as its folder keeps it: all that changes what is chosen, run and found, but its budget."""
        ran = {} if self.loop is None else self.loop.as_json()
        return {
            "family": self.family.name,
            "from": [str(source) for source in self.sources],
            "column": self.column,
            "never_seen": "forbidden" if self.never.forbidden else "evidence",
            "launches": self.never.instances,
            "placements": list(self.placements),
            "bound": list(self.bound),
            "run": ran and {**ran, "mappings": list(self.mappings), "tries": self.tries},
        }


@dataclass(frozen=True, slots=True)
class PlacedAnswer:
    """The answer for one placement, or for all together where ``placement`` is empty, and how its loop ended.

    ``next`` is the test to run next, which was not run yet. ``deciding`` are some facts that leave the same models as
    all do.
    """

    placement: str
    answer: InferenceAnswer
    hypotheses: PromiseHypotheses
    next: PlacedTest | None
    deciding: tuple[Fact, ...]
    outcome: LoopOutcome | None = None

    @property
    def is_stuck(self) -> bool:
        """Return whether the device could not go on."""
        return self.outcome is not None and self.outcome.end is LoopEnd.STOPPED


def infer_promises(request: PromiseRequest, output: Path | None) -> list[PlacedAnswer]:
    """Return the answers to a request, and write its folder, where one is named."""
    with folder_of(output, request.as_json(), request.loop is not None) as folder:
        found = list(_answers(request, folder))
        if folder is not None:
            _write(folder, found)
            if request.backend is not None and request.loop is None:
                _write_programs(folder, found, request.backend, request.mappings)
    return found


def _answers(request: PromiseRequest, folder: Path | None) -> Iterator[PlacedAnswer]:
    made = placements_in(request.sources)
    usual = () if request.family.is_placed and request.loop is None else (DEVICE.name,)
    placements = request.placements or tuple(made) or usual
    # Where levels are told apart, what is known of any level counts, whatever tests are to be run.
    known = [name for name in PLACEMENTS if name in (*made, *placements)]
    groups = (
        [(placements, known)] if request.family.is_placed else [((placement,), [placement]) for placement in placements]
    )
    for group, around in groups:
        found = read_promise_facts(
            request.family, request.sources, request.tests, request.column, request.never, around
        )
        for line in found.unread:
            remark(line)
        outcome = None
        if request.loop is not None and folder is not None:
            outcome = _looped(request, request.loop, found, group, folder)
        for words in remarks(found.slow, found.unconfirmed):
            remark(words)
        yield _answered(request, found, around, outcome)


def _answered(
    request: PromiseRequest, found: PromiseFacts, placements: Sequence[str], outcome: LoopOutcome | None
) -> PlacedAnswer:
    """Return the answer to what is known, with the tests of all bounds as those that tell models apart."""
    fit = fitting(request.family.valid, found.facts)
    bounds = bounds_up_to(request.bound) if fit else ()
    placed = [test for bound in bounds for test in suite_tests(found.judge, bound, placements)]
    words = f"over all programs of up to {request.bound[0]} threads and {request.bound[1]} instructions"
    if request.family.is_placed:
        words += f" in {' and '.join(placements) or 'every'} placement{'s' * (len(placements) > 1)}"
    hypotheses = PromiseHypotheses(request.family)
    tests = [*(level.sketch for level in placed), *found.tests]
    inferred = answer(hypotheses, found.facts, tests, words, True, found.evidence)
    known = {test.name for test in found.tests}
    left = {level.sketch.name: level for level in placed if level.sketch.name not in known}
    ended = outcome is not None and outcome.end is LoopEnd.NO_TEST
    following = None if ended else next_test(fit, [level.sketch for level in left.values()])
    inferred = replace(inferred, next=following)
    return PlacedAnswer(
        "" if request.family.is_placed else placements[0],
        inferred,
        hypotheses,
        left[following.name] if following else None,
        deciding(request.family.valid, found.facts) if fit else (),
        outcome,
    )


def _looped(
    request: PromiseRequest, loop: LoopOptions, found: PromiseFacts, placements: Sequence[str], folder: Path
) -> LoopOutcome:
    """Run tests until none is left, and add what was seen to what is known."""
    backend, device = BACKENDS[loop.backend], loop.opened()
    backend.check_placements(placements)
    running = Running(
        loop.device,
        request.mappings,
        tuple(placements),
        loop.iterations,
        loop.timeout,
        False,
        DEFAULT,
        (),
        (),
        None,
        None,
    )
    valid, bounds = request.family.valid, bounds_up_to(request.bound)

    def report(step: LoopStep) -> None:
        after = f"{step.after.size} of {valid.size} fit" if step.after is not step.before else "nothing new"
        remark(f"{step.name}: {after}")

    with (
        ended_by_signals(),
        opened(request.family, backend, device, running, folder, bounds, request.never, request.tries) as experiment,
    ):
        budget = LoopBudget(loop.most, loop.budget)
        outcome = closed_loop(valid, found.facts, experiment, budget, report)
        known = experiment.known()
    found.facts += known.facts
    found.evidence += known.evidence
    found.tests += known.tests
    found.slow += known.slow
    found.unconfirmed += known.unconfirmed
    if outcome.reason:
        remark(outcome.reason)
    return outcome


# Text


def placed_lines(found: PlacedAnswer, several: bool) -> Iterator[str]:
    """Yield an answer as lines of text, which name its placement where there are several."""
    if several:
        yield f"{found.placement}:"
    yield from lines_of(found.answer)
    if found.deciding:
        yield ""
        yield "decided by:"
        yield from (f"  {fact.text}" for fact in found.deciding)
    shipped = found.hypotheses.shipped(found.answer.fit)
    if shipped:
        yield ""
        yield f"the fairest of them that ship: {', '.join(shipped)}"
    if found.outcome is not None:
        yield ""
        many = found.outcome.ran
        yield f"{many} test{'s' * (many != 1)} ran, then: {found.outcome.end}"
    if several:
        yield ""


def answers_record(found: Sequence[PlacedAnswer]) -> dict[str, Any]:
    """Return the answers as plain data: one alone, or several in a list."""
    records = [_record(placed) for placed in found]
    return records[0] if len(records) == 1 else {"answers": records}


def _record(found: PlacedAnswer) -> dict[str, Any]:
    record = record_of(found.answer)
    if found.placement:
        record["placement"] = found.placement
    record["decided_by"] = [fact.text for fact in found.deciding]
    record["ship"] = list(found.hypotheses.shipped(found.answer.fit))
    if found.outcome is not None:
        record["ran"] = found.outcome.ran
        record["end"] = str(found.outcome.end)
    return record


# Folder


def _write(folder: Path, found: Sequence[PlacedAnswer]) -> None:
    """Write what follows from the results into the folder."""
    text = json.dumps(answers_record(found), ensure_ascii=False, indent=2)
    write_atomically(folder / "answer.json", [text, "\n"])
    several = len(found) > 1
    for placed in found:
        suffix = f"-{placed.placement}" if several else ""
        if placed.next is not None:
            write_atomically(folder / f"next{suffix}.axb", [placed.next.test.text])
        else:
            (folder / f"next{suffix}.axb").unlink(missing_ok=True)
        inferred = placed.answer
        if inferred.classes is not None and 1 < len(inferred.classes) <= MOST_DRAWN:
            write_atomically(folder / f"lattice{suffix}.svg", [order.draw(ordering_of(inferred)).svg()])
        for union in _unions_of(placed):
            write_atomically(inner_folder(folder, "promises") / f"{union.name}.py", [guarantee_text(union)])


def _write_programs(folder: Path, found: Sequence[PlacedAnswer], backend: str, mappings: Sequence[str]) -> None:
    """Write the tests to run next as programs, one for each mapping, and print which cannot be."""
    for following in (placed.next for placed in found if placed.next is not None):
        program = program_of(following.test)
        placements = [following.placement] if following.placement else placements_of(program, ())
        try:
            if not placements:
                raise InputError("no launch has its threads in these places")
            for placement, mapping in product(placements, mappings):
                shape = launch(program, mapping, placement=placement)
                write_files(inner_folder(folder, "next"), BACKENDS[backend].progress_files(following.test.name, shape))
        except InputError as error:
            remark(f"{following.sketch.name}: {error.message}")


def _unions_of(found: PlacedAnswer) -> list[PromiseUnion]:
    """Return the promises of the weakest and strongest models that do not ship."""
    family = found.hypotheses.family
    unions: dict[str, PromiseUnion] = {}
    for group in (*found.answer.weakest, *found.answer.strongest):
        for level in family.levels:
            for union in level.unions if len(level.unions) > 1 else ():
                if union.name not in GUARANTEES and group.models & family.having(level, union):
                    unions[union.name] = union
    return [unions[name] for name in sorted(unions)]


def guarantee_text(union: PromiseUnion) -> str:
    """Return a promise as a Python file that ``--model`` takes."""
    parts = " | ".join(ELEMENTARY_TEXTS[part] for part in union.parts)
    return (
        f'"""A promise to the union of these threads: {", ".join(union.parts)}."""\n\n'
        f"def guarantee(running, stepped):\n    return {parts}\n"
    )
