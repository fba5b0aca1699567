"""Progress under a memory model: verdicts, hangs, and where loops were cut, as text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from corpus.litmus.test import LitmusTest
from oracle.executions.steps import TooManyError
from oracle.executions.stuck import Hang, Hanging, ThreadEnding
from oracle.lassos import hang_of_lasso
from oracle.liveness import Liveness, LivenessModel, judge_liveness, settled
from oracle.progress.models import Verdict
from synth.accounts import Account
from synth.labels import UNKNOWN, ModelAnswer
from synth.memory.explanation import event_names, execution_lines, execution_record, program_lines
from synth.progress.explanation import promise_text
from synth.requests import AUTO

ENUMERATE, SMT = "enumerate", "smt"


def liveness_label(test: LitmusTest, model: LivenessModel, method: str, unroll: int) -> ModelAnswer:
    """Return the verdict by the method named, or else by SAT; UNKNOWN where a test is too large.

    ``auto`` tries lassos under sequential consistency first.
    """
    try:
        if method == ENUMERATE:
            found = judge_liveness(test, model, unroll)
        elif method == AUTO:
            found = explain_liveness(test, model, unroll)
        else:
            found = _solved(test, model, unroll, SMT if method == SMT else None)
    except TooManyError as error:
        return ModelAnswer(UNKNOWN, error.message)
    return ModelAnswer(found.verdict, found.reason, provisional=found.hanging.provisional)


def explain_liveness(
    test: LitmusTest, model: LivenessModel, unroll: int, needed: Collection[int] | None = None
) -> Liveness:
    """Explain a model's verdict, with a hang if there is one: the execution of a lasso where one is found, else by SAT.

    ``needed``: the program ends where these threads do, None: where all of them do. Raises ``TooManyError`` where that
    takes too much.
    """
    progress = model.progress_of(test)
    lasso = hang_of_lasso(test, progress, model.consistency)
    ends = lasso is not None and needed is not None and all(lasso.endings[n] is ThreadEnding.ENDED for n in needed)
    if lasso is not None and not ends and (lasso.steady or not progress.strong):
        return Liveness(test, model, Hanging(lasso, False, False), unroll)
    return _solved(test, model, unroll, needed=needed)


def _solved(
    test: LitmusTest,
    model: LivenessModel,
    unroll: int,
    named: str | None = None,
    needed: Collection[int] | None = None,
) -> Liveness:
    """Return the verdict and the hang by the named solver of ``constraints.stuck`` alone, or by its usual one."""
    from constraints.solvers import DEFAULT_SOLVER  # imported only for this method
    from constraints.stuck import find_hang_by_sat, only_as_by_sat

    solver = named or DEFAULT_SOLVER
    progress, memory = model.progress_of(test), model.consistency
    hanging = find_hang_by_sat(test, progress.promise, memory, unroll, progress.strong, solver, needed)
    found = Liveness(test, model, hanging, unroll)
    return settled(found, lambda sc: only_as_by_sat(test, memory, sc, unroll, solver))


def stuck_events(hang: Hang) -> frozenset[int]:
    """Return the numbers of the events that repeat for ever, and of the barriers that are waited at for ever."""
    repeated = frozenset[tuple[int, ...]]().union(*(part for parts in hang.rounds for part in parts))
    return frozenset(
        number
        for number, event in enumerate(hang.execution.events)
        if event.key in repeated or (event.barrier is not None and event.barrier.stays)
    )


def liveness_account(found: Liveness) -> Account:
    """Return the account of a verdict under a pair of models, as lines to read."""
    hang, consistency = found.hanging.hang, found.model.consistency.name
    lines = []
    if hang is None:
        lines += [
            f"Every execution that {consistency} allows comes to an end, where all writes become visible at last.",
            "",
        ]
        lines.append(_promise(found))
        if found.hanging.provisional:
            beyond = f"beyond that it may hang; --unroll {found.unroll + 1} looks further."
            lines += ["", f"Loops that write were followed for {found.unroll} jumps back: {beyond}"]
    else:
        lines += [*_story(hang), "", _promise(found), f"{consistency} allows this execution:", ""]
        lines += execution_lines(hang.execution)
        if found.reason:
            lines += ["", f"No verdict: {found.reason}."]
    about = "\n".join(program_lines(found.test, with_condition=False))
    return Account(found.test.name, found.model.name, found.verdict, about, "\n".join(lines))


def _promise(found: Liveness) -> str:
    progress = found.model.progress
    return f"Fair execution under {progress.name}: {promise_text(progress) or 'as its function says'}."


def _story(hang: Hang) -> Iterator[str]:
    """Yield a line for each thread: how it ends, or what it does for ever."""
    events = hang.execution.events
    names = dict(zip((event.key for event in events), event_names(events), strict=True))
    order = {event.key: number for number, event in enumerate(events)}
    for number, (ending, rounds) in enumerate(zip(hang.endings, hang.rounds, strict=True)):
        accesses = [" ".join(names[key] for key in sorted(part, key=order.__getitem__)) for part in rounds]
        match ending:
            case ThreadEnding.SPINS if not accesses[0]:
                yield f"P{number} goes round for ever, and touches no memory."
            case ThreadEnding.SPINS:
                reads = "each reads" if len(rounds[0]) > 1 else "it reads"
                yield f"P{number} does {accesses[0]} again and again: {reads} what no later write overwrites."
            case ThreadEnding.CYCLES:
                yield f"P{number} does {accesses[0]}, then {accesses[1]}, and goes on like that."
            case ThreadEnding.WAITS:
                waits = next(event for event in events if event.thread == number and _stays(event.barrier))
                yield f"P{number} waits at {names[waits.key]} for ever."
            case ThreadEnding.LEFT:
                yield f"P{number} is not run any more."
            case ThreadEnding.ENDED:
                yield f"P{number} has ended."


def _stays(arrival: Any) -> bool:
    return arrival is not None and bool(arrival.stays)


def liveness_record(file: str, found: Liveness) -> dict[str, Any]:
    """Return a verdict under a pair of models as plain data: ``hang`` is null where there is none."""
    hang = found.hanging.hang
    record: dict[str, Any] = {
        "file": file,
        "model": found.model.name,
        "verdict": found.verdict,
        "unroll": found.unroll if found.hanging.provisional else None,
        "hang": None,
    }
    if hang is not None:
        events = hang.execution.events
        names = dict(zip((event.key for event in events), event_names(events), strict=True))
        record["hang"] = execution_record(hang.execution) | {
            "threads": [
                {"ending": ending, "rounds": [sorted(names[key] for key in part) for part in rounds]}
                for ending, rounds in zip(hang.endings, hang.rounds, strict=True)
            ],
            "steady": hang.steady,
        }
    return record | ({"reason": found.reason} if found.verdict is Verdict.UNKNOWN else {})
