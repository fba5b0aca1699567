"""The repairs of one program, as a process makes them: their texts, tests and pictures. Each is reported as it is
found.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from corpus.awaited import awaiting
from corpus.dialects.registry import dialect_of, translate
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect, sections
from oracle.executions.steps import TooManyError
from synth.inputs import Input
from synth.repair import account
from synth.repair.caveats import caveats, unread
from synth.repair.costs import TARGETS, Costs, read_costs
from synth.repair.fixing import Fixed, Fixes, Fixing, RepairQuestion, flags_raised, model_named
from synth.repair.sites import Direction


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """The request for repairs of every program, in the words of the command.

    ``forbid`` is a condition, ``cost`` a table of costs, ``every``: all minimal repairs, and ``drawn``: a picture of
    the first.
    """

    model: str
    forbid: str | None
    race_free: bool
    weaken: bool
    allowed: tuple[str, ...]
    cost: str | None
    every: bool
    unroll: int
    drawn: bool


@dataclass(frozen=True, slots=True)
class RepairFound:
    """One repair, in lines, and the tests as it changes them, in their order."""

    lines: tuple[str, ...]
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepairSummary:
    """The end of a search for repairs: the last lines, all as plain data, and a picture where one was asked for.

    ``cut``: a limit ended the search, and there may be more repairs.
    """

    repaired: bool
    lines: tuple[str, ...]
    record: dict[str, Any]
    svg: str | None
    cut: bool = False


def repaired(group: Sequence[Input], request: RepairRequest) -> Iterator[RepairFound | RepairSummary]:
    """Yield the repairs of the tests of one program, the cheapest first, each as soon as it is found.

    Raises ``InputError`` where a test, the model or the costs cannot be read, and where a test is too large.
    """
    with awaiting(", ".join(given.name for given in group)):
        yield from _repaired(group, request)


def _repaired(group: Sequence[Input], request: RepairRequest) -> Iterator[RepairFound | RepairSummary]:
    judged = model_named(request.model, group[0].bell)
    direction = Direction.WEAKER if request.weaken else Direction.STRONGER
    read, dialect = _read(group, request.forbid)
    flags = request.race_free or (
        request.weaken and not any(flags_raised(test, judged, request.unroll) for test in read)
    )
    question = RepairQuestion(judged, request.unroll, not request.race_free or request.forbid is not None, flags)
    costs = _costs(request.cost, dialect)
    found: list[Fixed] = []
    try:
        with Fixing(read, dialect, question, costs, direction, request.allowed) as fixing:
            for number, answer in enumerate(itertools.islice(fixing, None if request.every else 1), 1):
                fixed = replace(answer, caveats=caveats(answer.tests, dialect, question))
                found.append(fixed)
                head = [account.headline(read, fixed, judged, direction)] if number == 1 else []
                named = ["", f"repair {number}, cost {fixed.cost}"] if request.every else []
                lines = (*head, *named, *account.lines(read, fixed, dialect))
                yield RepairFound(lines, tuple(translate(test, dialect) for test in fixed.tests))
    except TooManyError as error:
        less = f"--unroll {request.unroll - 1}, " if request.unroll else ""
        hint = f"there is less to say with {less}or less to --allow"
        raise InputError(f"{error.message}; {hint}", group[0].place) from None
    fixes = Fixes(tuple(read), tuple(found), fixing.complete)
    lines = ()
    if not found:
        lines = (account.headline(read, None, judged, direction), *account.warnings(unread(read, dialect, judged)))
    elif not fixes.complete:
        lines = ("", "Loops were cut, and the outcome may be allowed beyond; --unroll looks further.")
    svg = account.drawing(fixes, judged).svg() if request.drawn and found and found[0].changes else None
    yield RepairSummary(
        bool(found), lines, account.record([given.label for given in group], fixes, judged, dialect), svg
    )


def _read(group: Sequence[Input], forbid: str | None) -> tuple[list[LitmusTest], Dialect]:
    """Read tests of one dialect, with another condition where one is given, and return them with the dialect."""
    tests, dialects = [], []
    for given in group:
        text = given.text()
        dialect = dialect_of(text, given.place)
        source = replace(sections(text, given.place, dialect.c_comments), bell=given.bell)
        tests.append(dialect.parse(source))
        dialects.append(dialect)
        if forbid is not None:
            try:
                tests[-1] = dialect.parse(replace(source, condition=f"exists ({forbid})"))
            except InputError as error:
                raise InputError(f"--forbid: {error.message}", given.place) from None
    if len({dialect.name for dialect in dialects}) > 1:
        raise InputError("tests of one program are of one dialect, and these are of several")
    return tests, dialects[0]


def _costs(name: str | None, dialect: Dialect) -> Costs:
    return read_costs(name or (dialect.name if dialect.name in TARGETS else "ptx"))
