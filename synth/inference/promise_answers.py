"""``synth infer progress``: reads facts, runs tests where that is asked for, and prints the answers.

A family of promises to threads by themselves has an answer for each placement that results were made in, for each is
about another level of the device. A family with levels has one answer.

The folder of ``--output`` holds, beside what ``synth.inference.promise_runs`` keeps there:

request.json        what was asked for; ``--resume`` goes on with nothing else
answer.json         what --json prints
next.axb            the test to run next
promises/           a promise of the weakest and strongest models that does not ship, as a file that ``--model`` takes
lattice.svg         the classes, with a test on each arrow; of several placements, ``lattice-workgroup.svg``
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from backends.shared.backend import Backend
from backends.shared.mapping import DEVICE
from corpus.errors import InputError, one_line
from corpus.files import write_atomically
from oracle.inference.classes import SketchTest, separating
from oracle.inference.fitting import fitting
from oracle.inference.promise_family import ELEMENTARY_TEXTS, PromiseFamily, PromiseUnion
from oracle.progress.models import GUARANTEES
from synth.inference.answer import InferenceAnswer, answer, lines_of, ordering_of, record_of
from synth.inference.facts import NeverSeen
from synth.inference.loop import LoopBudget, LoopEnd, LoopOutcome, LoopStep, closed_loop
from synth.inference.promise_runs import TRIES, opened
from synth.inference.promises import (
    Bound,
    PlacedTest,
    PromiseFacts,
    PromiseHypotheses,
    bounds_up_to,
    placements_of,
    read_promise_facts,
    suite_tests,
)
from synth.runs import Running
from synth.screen import printable_lines

MOST_DRAWN = 40
"""The limit of classes that are drawn."""


@dataclass(frozen=True, slots=True)
class PromiseRequest:
    """The request of ``synth infer`` for a family of promises.

    ``placements`` are those whose results count and in which tests are run; where none are named, those of the results.
    """

    family: PromiseFamily
    sources: tuple[Path, ...] = ()
    tests: tuple[str, ...] = ()
    column: str | None = None
    never: NeverSeen = field(default_factory=NeverSeen)
    placements: tuple[str, ...] = ()
    bound: Bound = (3, 3)
    output: Path | None = None
    resume: bool = False
    as_json: bool = False
    svg: Path | None = None


@dataclass(frozen=True, slots=True)
class PromiseRun:
    """How tests are run that are chosen one by one: on which device, in which ways, and how many."""

    backend: Backend
    running: Running
    budget: LoopBudget = field(default_factory=LoopBudget)
    tries: int = TRIES


@dataclass(frozen=True, slots=True)
class PlacedAnswer:
    """The answer for one placement, or for all together where ``placement`` is empty, and how its loop ended."""

    placement: str
    answer: InferenceAnswer
    hypotheses: PromiseHypotheses
    next: PlacedTest | None
    outcome: LoopOutcome | None = None


def infer_promises(asked: PromiseRequest, run: PromiseRun | None = None) -> int:
    """Print the answers to a request, and return the exit code: 1 where no model fits, or a device was stuck."""
    if run is not None and asked.output is None:
        raise InputError("--run keeps what is seen in a folder: --output names it")
    if asked.output is not None:
        _open_folder(asked, run)
    found = list(_answers(asked, run))
    if asked.output is not None:
        _write(asked.output, found)
    if asked.as_json:
        records = [_record(each) for each in found]
        click.echo(json.dumps(records[0] if len(records) == 1 else {"answers": records}, ensure_ascii=False))
    else:
        click.echo(printable_lines("\n".join(line for each in found for line in _lines(each, len(found) > 1))))
    if asked.svg is not None:
        from synth.drawing import order
        from synth.drawing.files import write_picture

        classes = found[0].answer.classes
        if len(found) > 1:
            raise InputError("--svg: a picture for each of several placements; --placement names one", str(asked.svg))
        if classes:
            write_picture(asked.svg, order.draw(ordering_of(found[0].answer)).svg())
    stuck = any(each.outcome is not None and each.outcome.end is LoopEnd.STOPPED for each in found)
    return 1 if stuck or any(each.answer.contradiction is not None for each in found) else 0


def _answers(asked: PromiseRequest, run: PromiseRun | None) -> Iterator[PlacedAnswer]:
    placements = asked.placements or tuple(placements_of(asked.sources)) or (DEVICE.name,)
    groups = [placements] if asked.family.is_placed else [(each,) for each in placements]
    bounds = bounds_up_to(asked.bound)
    for group in groups:
        found = read_promise_facts(asked.family, asked.sources, asked.tests, asked.column, asked.never, group)
        for line in found.unread:
            click.echo(one_line(f"synth: {line}"), err=True)
        outcome = None
        if run is not None:
            assert asked.output is not None
            outcome = _looped(asked, run, found, group, asked.output, bounds)
        yield _answered(asked, found, group, bounds, outcome, "" if asked.family.is_placed else group[0])


def _answered(
    asked: PromiseRequest,
    found: PromiseFacts,
    placements: Sequence[str],
    bounds: Sequence[Bound],
    outcome: LoopOutcome | None,
    placement: str,
) -> PlacedAnswer:
    """Return the answer to what is known, with the tests of all bounds as those that tell models apart."""
    fit = fitting(asked.family.valid, found.facts)
    placed: dict[str, PlacedTest] = {}
    tests: list[SketchTest] = []
    for bound in bounds if fit else ():
        # Of a suite, only tests that tell apart what those before did not are kept: it has thousands.
        for each in suite_tests(found.judge, bound, placements):
            placed[each.sketch.name] = each
            tests.append(each.sketch)
    tests = separating(fit, [*tests, *found.tests]) if fit else []
    hypotheses = PromiseHypotheses(asked.family)
    words = f"over all programs of up to {asked.bound[0]} threads and {asked.bound[1]} instructions"
    told = answer(hypotheses, found.facts, tests, words, True, found.evidence)
    return PlacedAnswer(placement, told, hypotheses, placed.get(told.next.name) if told.next else None, outcome)


def _looped(
    asked: PromiseRequest,
    run: PromiseRun,
    found: PromiseFacts,
    placements: Sequence[str],
    folder: Path,
    bounds: Sequence[Bound],
) -> LoopOutcome:
    """Run tests until none is left, and add what was seen to what is known."""
    device = run.running.device_of(run.backend)
    run.backend.check_placements(placements)
    running = replace(run.running, placements=tuple(placements))
    valid = asked.family.valid

    def told(step: LoopStep) -> None:
        after = f"{step.after.size} of {valid.size} fit" if step.after is not step.before else "nothing new"
        click.echo(one_line(f"synth: {step.name}: {after}"), err=True)

    with opened(asked.family, run.backend, device, running, folder, bounds, asked.never, run.tries) as experiment:
        outcome = closed_loop(valid, found.facts, experiment, run.budget, told)
        known = experiment.known()
    found.facts += known.facts
    found.evidence += known.evidence
    found.tests += known.tests
    if outcome.reason:
        click.echo(one_line(f"synth: {outcome.reason}"), err=True)
    return outcome


# Text


def _lines(found: PlacedAnswer, several: bool) -> Iterator[str]:
    if several:
        yield f"{found.placement}:"
    yield from lines_of(found.answer)
    shipped = found.hypotheses.shipped(found.answer.fit)
    if shipped and not found.hypotheses.family.is_placed:
        yield ""
        yield f"the fairest of them that ship: {', '.join(shipped)}"
    if found.outcome is not None:
        yield ""
        yield f"{len(found.outcome.steps)} tests were run, then {found.outcome.end}"
    if several:
        yield ""


def _record(found: PlacedAnswer) -> dict[str, Any]:
    record = record_of(found.answer)
    if found.placement:
        record["placement"] = found.placement
    record["ship"] = list(found.hypotheses.shipped(found.answer.fit))
    if found.outcome is not None:
        record["ran"] = [step.name for step in found.outcome.steps]
        record["end"] = str(found.outcome.end)
    return record


# Folder


def _open_folder(asked: PromiseRequest, run: PromiseRun | None) -> None:
    """Make the folder, or check that it is of this request. Raises ``InputError`` where it holds something else."""
    assert asked.output is not None
    folder, file = asked.output, asked.output / "request.json"
    request = {
        "family": asked.family.name,
        "from": list(map(str, asked.sources)),
        "placements": list(asked.placements),
        "bound": list(asked.bound),
        "never_seen": "forbidden" if asked.never.forbidden else "evidence",
        "run": None if run is None else _run_record(run),
    }
    text = json.dumps(request, indent=2) + "\n"
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        if not asked.resume:
            raise InputError("the output exists and is not an empty folder; --resume goes on with it", str(folder))
        if not file.is_file():
            raise InputError("--resume: the folder holds no request of synth infer", str(folder))
        if file.read_text(encoding="utf-8") != text:
            raise InputError("--resume: another request made this folder", str(file))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", str(folder)) from None
    write_atomically(file, [text])


def _run_record(run: PromiseRun) -> dict[str, Any]:
    running = run.running
    return {
        "backend": run.backend.name,
        "mappings": list(running.mappings),
        "instances": running.device.instances,
        "platform": running.device.platform,
        "workers": running.device.workers,
        "subscribe": running.device.subscribe,
        "iterations": running.iterations,
        "timeout": running.timeout,
        "tries": run.tries,
    }


def _write(folder: Path, found: Sequence[PlacedAnswer]) -> None:
    """Write what follows from the results into the folder."""
    from synth.drawing import order

    records = [_record(each) for each in found]
    whole = records[0] if len(records) == 1 else {"answers": records}
    write_atomically(folder / "answer.json", [json.dumps(whole, ensure_ascii=False, indent=2), "\n"])
    several = len(found) > 1
    for each in found:
        suffix = f"-{each.placement}" if several else ""
        if each.next is not None:
            write_atomically(folder / f"next{suffix}.axb", [each.next.test.text])
        else:
            (folder / f"next{suffix}.axb").unlink(missing_ok=True)
        told = each.answer
        if told.classes is not None and 1 < len(told.classes) <= MOST_DRAWN:
            write_atomically(folder / f"lattice{suffix}.svg", [order.draw(ordering_of(told)).svg()])
        for union in _unions_of(each):
            (folder / "promises").mkdir(exist_ok=True)
            write_atomically(folder / "promises" / f"{union.name}.py", [guarantee_text(union)])


def _unions_of(found: PlacedAnswer) -> list[PromiseUnion]:
    """Return the promises of the weakest and strongest models that do not ship."""
    family = found.hypotheses.family
    unions: dict[str, PromiseUnion] = {}
    for each in (*found.answer.weakest, *found.answer.strongest):
        for level in family.levels:
            for union in level.unions if len(level.unions) > 1 else ():
                if union.name not in GUARANTEES and each.models & family.having(level, union):
                    unions[union.name] = union
    return [unions[name] for name in sorted(unions)]


def guarantee_text(union: PromiseUnion) -> str:
    """Return a promise as a Python file that ``--model`` takes."""
    parts = " | ".join(ELEMENTARY_TEXTS[part] for part in union.parts)
    return (
        f'"""A promise to the union of these threads: {", ".join(union.parts)}."""\n\n'
        f"def guarantee(running, stepped):\n    return {parts}\n"
    )
