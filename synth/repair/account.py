"""Repairs as text, as a diff of texts, as a picture and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from typing import Any

from constraints.repairs import Cut
from corpus.dialects.registry import printed
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect
from oracle.cat.interpreter import Model
from oracle.executions.witness import MemoryExplanation
from synth.drawing.execution import draw
from synth.drawing.pictures import Drawing, side_by_side
from synth.memory.explanation import (
    check_place,
    event_names,
    execution_lines,
    execution_record,
    path_text,
    violation_record,
)
from synth.repair.fixing import Fixed, Fixes, RepairChange
from synth.repair.sites import Direction


def headline(tests: Sequence[LitmusTest], cheapest: Fixed | None, model: Model, direction: Direction) -> str:
    """Return the result of a repair in one line, such as ``SB under tso: repaired by 2 changes, cost 200; ..``."""
    under = f"{', '.join(test.name for test in tests)} under {model.name}:"
    if cheapest is None:
        return f"{under} no repair: no allowed change forbids the outcome"
    changes = f"{len(cheapest.changes)} change{'s' * (len(cheapest.changes) != 1)}"
    if not cheapest.changes:
        return f"{under} nothing to change"
    word = "repaired by" if direction is Direction.STRONGER else "weakened by"
    return f"{under} {word} {changes}, cost {cheapest.cost}; nothing cheaper does it"


def lines(tests: Sequence[LitmusTest], fixed: Fixed, dialect: Dialect) -> Iterator[str]:
    """Yield a repair with its reasons and the diff of the text, an empty line before each."""
    for change in fixed.changes:
        yield from ("", change.text, *([] if change.cut is None else reason_lines(change.cut)))
    for kept in fixed.kept:
        yield from ("", f"kept: {kept.text}", *([OF_ONE_TYPE] if kept.cut is None else reason_lines(kept.cut)))
    if fixed.changes:
        yield ""
        for before, after in zip(tests, fixed.tests, strict=True):
            yield from difference(before, after, dialect)
    yield from warnings(fixed.caveats)


def warnings(caveats: Iterable[str]) -> Iterator[str]:
    """Yield the caveats of an answer as warnings, an empty line before each."""
    for caveat in caveats:
        yield from ("", f"warning: {caveat}")


OF_ONE_TYPE = "  as another access of its location is atomic"
"""The reason why an access stays atomic although it forbids nothing."""


def reason_lines(cut: Cut) -> Iterator[str]:
    """Yield the lines that say why a change is needed: the cycle that it cuts, in its execution."""
    if cut.after is not None and cut.after.edges:
        names = event_names(cut.after.execution.events)
        yield f"  cuts {path_text(cut.after.steps, names)}  ({cut.after.check.name}, {check_place(cut.after.check)})"
    elif cut.flags:
        yield f"  without it: {', '.join(cut.flags)}"
    yield from ("  " + line for line in execution_lines(cut.before))


def difference(before: LitmusTest, after: LitmusTest, dialect: Dialect) -> list[str]:
    """Return the changes of a test's text as a unified diff."""
    old, new = (printed(test, dialect).splitlines() for test in (before, after))
    return list(unified_diff(old, new, before.name, f"{after.name} (repaired)", lineterm="", n=1_000))


def drawing(fixes: Fixes, model: Model) -> Drawing:
    """Draw the cycles that the first repair cuts, side by side."""
    first = fixes.repairs[0]
    changes = [change for change in (*first.changes, *first.kept) if change.cut is not None]
    pictures = [replace(_drawn(first.tests[0], model, change.cut), title=change.text) for change in changes]
    return side_by_side(f"{', '.join(test.name for test in fixes.tests)} under {model.name}", pictures)


def _drawn(test: LitmusTest, model: Model, cut: Cut | None) -> Drawing:
    assert cut is not None
    if cut.after is None:
        return draw(MemoryExplanation(test, model, witness=cut.before, flags=cut.flags))
    return draw(MemoryExplanation(test, model, violations=(cut.after,), outcomes=1, listed=False))


def record(files: Sequence[str], fixes: Fixes, model: Model, dialect: Dialect) -> dict[str, Any]:
    """Return the repairs of some tests, with their costs, changes and texts, as plain data."""
    return {
        "files": list(files),
        "tests": [test.name for test in fixes.tests],
        "model": model.name,
        "complete": fixes.complete,
        "repairs": [_fixed_record(fixed, dialect) for fixed in fixes.repairs],
    }


def _fixed_record(fixed: Fixed, dialect: Dialect) -> dict[str, Any]:
    return {
        "cost": fixed.cost,
        "changes": _changes(fixed.changes),
        "kept": _changes(fixed.kept),
        "warnings": list(fixed.caveats),
        "texts": [printed(test, dialect) for test in fixed.tests],
    }


def _changes(changes: Sequence[RepairChange]) -> list[dict[str, Any]]:
    return [
        {
            "change": change.text,
            "without": change.cut and execution_record(change.cut.before),
            "flags": list(change.cut.flags) if change.cut else [],
            "cut": change.cut and change.cut.after and violation_record(change.cut.after),
        }
        for change in changes
    ]
