"""Explanations of a model's verdict on a litmus test, as text and as JSON.

``oracle.executions.witness`` finds explanations for .cat models, ``oracle.operational.explore`` for operational ones.
As in the papers, reads and writes are called a, b, c .. thread by thread; fences are F1, F2 .., barriers B1, B2 .., and
initial writes have the name of their location.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from corpus.errors import InputError
from corpus.litmus.condition import print_condition, spell
from corpus.litmus.describe import describe
from corpus.litmus.instructions import AsyncGroup, Instruction, Load, Rmw, Store, registers_written
from corpus.litmus.locations import Loc, Reg, Region
from corpus.litmus.mbarrier import Mbarrier
from corpus.litmus.orders import CLUSTER, Place, Scope
from corpus.litmus.processors import ALL_WORDS
from corpus.litmus.propositions import FinalRegister, conjunction, propositions
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.cat.syntax import shipped_models
from oracle.cat.terms import ModelCheck
from oracle.cat.text import check_text
from oracle.consistency import OperationalModel
from oracle.executions.derivations import DerivedPair
from oracle.executions.events import INITIAL, MEMORIES, OBJECT, PROXIES, Event, EventKind
from oracle.executions.judge import Answer
from oracle.executions.values import value_text
from oracle.executions.witness import CandidateExecution, MemoryExplanation, Violation
from synth.accounts import Account

_ORDERS = {"RLX": "rlx", "ACQ": "acq", "REL": "rel", "ACQ_REL": "acq_rel", "SC": "sc", "VOL": "volatile"}
_CACHES = {name: name.lower() for name in ("CA", "CG", "CS", "CV", "LU", "WB", "WT")}
_KINDS = {tag: tag.lower() for tag in (*PROXIES, "ONE-WAY", "INIT")}
_DEPENDENCIES = ("addr", "data", "ctrl")


@dataclass(frozen=True, slots=True)
class EventColumn:
    """The events of a thread, one below the other, or those of one asynchronous operation that a thread asks for.

    ``operation``: what the thread asks for, in words: ``P0: cp.async.bulk d, s``; empty for the thread itself.
    ``asker``: the last event of the thread's own column before it asks, None where there is none.
    """

    thread: int
    events: tuple[int, ...]
    operation: str = ""
    asker: int | None = None


def event_columns(execution: CandidateExecution, shown: Collection[int] | None = None) -> tuple[EventColumn, ...]:
    """Return the events of an execution, or those that are shown, in columns: of each thread, and behind it those of
    what it asks for.

    No column has initial writes.
    """
    columns = []
    for thread in range(len(execution.base.places)):
        operations: dict[tuple[int, ...] | None, list[int]] = {None: []}
        for number, event in enumerate(execution.events):
            if event.thread == thread and (shown is None or number in shown):
                operations.setdefault(event.operation, []).append(number)
        own = operations.pop(None)
        columns.append(EventColumn(thread, tuple(own)))
        for events in operations.values():
            words = f"P{thread}: {describe(execution.instruction(events[0]))}"
            asker = max((number for number in own if number < events[0]), default=None)
            columns.append(EventColumn(thread, tuple(events), words, asker))
    return tuple(columns)


def rows_of(columns: Sequence[EventColumn]) -> dict[int, int]:
    """Return the row of each event: an operation begins in the row below what its thread did last before it asked."""
    rows: dict[int, int] = {}
    for column in columns:
        top = 0 if column.asker is None else rows[column.asker] + 1
        rows |= {number: top + row for row, number in enumerate(column.events)}
    return rows


def event_names(events: Sequence[Event]) -> tuple[str, ...]:
    """Return the names of events, such as ``a``, ``F1`` and ``B1``; an initial write has the name of its location."""
    counts = dict.fromkeys(EventKind, 0)
    names = []
    for event in events:
        if event.thread == INITIAL:
            names.append(f"init {event.location}")
            continue
        kind = EventKind.READ if event.kind is EventKind.WRITE else event.kind
        number = counts[kind]
        counts[kind] += 1
        if kind is EventKind.READ:
            names.append(chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else ""))
        else:
            names.append(f"{kind}{number + 1}")
    return tuple(names)


def event_text(execution: CandidateExecution, number: int) -> str:
    """Return what an event does: ``W.cg x=1``, ``R.acq.gpu y=0``, ``F.sc.cta``, ``F.lwsync``, ``B.cta 0``; ``R x=0
    (fails)``.

    What is done to an mbarrier tells its state, ``R.rlx.cta m=(phase 0, pending 1)``.
    """
    event, value = execution.events[number], execution.values[number]
    if isinstance(event.group, AsyncGroup):
        return describe(event.group)
    words = [text for tag, text in (*_ORDERS.items(), *_CACHES.items()) if tag in event.tags]
    if "VOL" in event.tags:
        words.remove("rlx")  # volatile implies it, and the scope as well
    elif event.scope is not None:
        words.append(CLUSTER if "CLUSTER" in event.tags else event.scope.label)
    words += [text for tag, text in _KINDS.items() if tag in event.tags]
    if event.kind is EventKind.FENCE and not event.tags.issuperset(MEMORIES):
        words += [region for region in Region if region.name in event.tags]
    own = [tag.lower() for tag in sorted(event.tags) if tag.lower() in ALL_WORDS]
    head = ".".join((event.kind, *(own or words)))
    if event.barrier is not None:
        head += ".arrive" if "ARRIVE" in event.tags else ".wait" if "WAIT" in event.tags else ""
        name = "" if value is None else value_text(value)
        return f"{head} {name}{' for ever' if event.barrier.stays else ''}"
    failed = " (fails)" if event.spurious else ""
    if value is None:
        return head
    value_shown = str(Mbarrier.of(value)) if OBJECT in event.tags and isinstance(value, int) else value_text(value)
    return f"{head} {event.virtual}={value_shown}{failed}"


def place_text(place: Place) -> str:
    """Return the place of a thread in the scope tree: ``cta 0, gpu 0``."""
    return f"cta {place.cta}, gpu {place.gpu}"


def tells_places(test: LitmusTest) -> bool:
    """Return whether the places of threads may matter.

    They do not in a test in C: it has no scopes, and each of its threads is alone in its group.
    """
    ctas = {thread.place[: Scope.CTA.value] for thread in test.threads}
    gpus = {thread.place.gpu for thread in test.threads}
    modes = [ins.mode for ins in test.instructions if hasattr(ins, "mode")]
    scoped = any(mode.scope not in (None, Scope.SYS) or mode.volatile or mode.cache for mode in modes)
    shared = any(location.region is Region.SHARED for location in test.locations)
    return scoped or shared or len(ctas) < len(test.threads) or len(gpus) > 1


def check_place(check: ModelCheck) -> str:
    """Return the place of a check in its file, ``ptx-rmo.cat:29``; for a model that ships, the path is within its
    folder.
    """
    return f"{_model_file(check)}:{check.position.line}"


def path_text(edges: Sequence[DerivedPair], names: Sequence[str]) -> str:
    """Return edges that follow each other as text: ``a -membar.cta-> b -rfe-> c``."""
    return names[edges[0].source] + "".join(f" -{edge.label}-> {names[edge.target]}" for edge in edges)


def shown_relations(
    execution: CandidateExecution, columns: Sequence[EventColumn]
) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the relations of an execution that are worth a line, without pairs that follow from other pairs.

    Those of asynchronous operations are between events that are in ``columns``.
    """
    retired = {(execution.events[one].operation, wait): one for one, wait in execution.pairs("retired")}
    relations = {
        "rf": execution.pairs("rf"),
        "co": execution.immediate("co"),
        "fr": execution.next_overwrites(),
        "rmw": execution.pairs("rmw"),
        **{name: execution.pairs(name) for name in _DEPENDENCIES},
        "sync_fence": execution.immediate("sync_fence"),
        "syncbar": execution.pairs("syncbar"),
        "asked": tuple((column.asker, column.events[0]) for column in columns if column.asker is not None),
        "retired": tuple((last, wait) for (_, wait), last in retired.items()),
    }
    return {name: pairs for name, pairs in relations.items() if pairs}


def explanation_account(explanation: MemoryExplanation, unroll: int) -> Account:
    """Return the account of an axiomatic model's verdict, as lines to read."""
    lines = []
    if explanation.witness is not None:
        lines += ["This execution has the outcome and passes every check:", ""]
        lines += execution_lines(explanation.witness)
        if explanation.flags:
            lines += ["", f"It raises: {', '.join(explanation.flags)}."]
    elif not explanation.outcomes:
        lines.append("No candidate execution has the outcome: the values cannot come about, whatever the order.")
    else:
        lines += _violation_lines(explanation)
    shown = [violation.execution for violation in explanation.violations if violation.edges]
    if explanation.model.syntax.one_event and any(execution.pairs("rmw") for execution in shown):
        lines += ["", "An atomic update is one event to this model, and has the name of its read in what is forbidden."]
    if explanation.unroll > unroll:
        lines += ["", f"Within {unroll} jumps back the outcome cannot come about: loops were followed further."]
    if not explanation.complete and explanation.answer is Answer.FORBIDDEN:
        lines += ["", _bound_text(explanation.unroll)]
    return _account(explanation.test, explanation.model.name, explanation.answer, lines)


def explanation_record(file: str, explanation: MemoryExplanation, unroll: int) -> dict[str, Any]:
    """Return an axiomatic model's explanation as plain data: ``witness`` is null where the outcome is forbidden."""
    return {
        "file": file,
        "model": explanation.model.name,
        "verdict": explanation.answer,
        "unroll": explanation.unroll if explanation.bounded else None,
        "witness": explanation.witness and execution_record(explanation.witness),
        "flags": list(explanation.flags),
        "outcomes": None if explanation.witness or not explanation.listed else explanation.outcomes,
        "killed": {check.name: count for check, count in explanation.killed},
        "violations": [violation_record(violation) for violation in explanation.violations],
    }


def run_account(test: LitmusTest, model: OperationalModel, unroll: int) -> Account:
    """Return the account of an operational model's verdict: a run, or how far a run was searched for."""
    record = run_record("", test, model, unroll)
    if model.programs and record["run"] is not None:
        code = [[step.instruction.text for step in thread] for thread in model.programs]
        return machine_account(test, model.name, code, record["run"])
    lines = []
    if record["run"] is not None:
        lines += ["A shortest run to the outcome:", "", *_numbered(record["run"])]
    else:
        lines.append(
            f"None of the {_counted(record['finals'], 'final state')} has the outcome; "
            f"all {_counted(record['states'], 'state')} were explored."
        )
        if record["unroll"] is not None:
            lines += ["", _bound_text(unroll)]
    return _account(test, model.name, record["verdict"], lines)


def machine_account(test: LitmusTest, model: str, code: Sequence[Sequence[str]], run: Sequence[str]) -> Account:
    """Return the account of a run of a machine: the machine instructions of each thread, and the run step by step."""
    columns = [[f"P{number}", *thread] for number, thread in enumerate(code)]
    program = [f"  {line}" for line in _table(columns, " | ")]
    steps = ["A shortest run to the outcome:", "", *_numbered(run)]
    return Account(test.name, model, Answer.ALLOWED, "\n".join(program), "\n".join(steps))


def _numbered(run: Sequence[str]) -> list[str]:
    return [f"  {number:2}. {step}" for number, step in enumerate(run, 1)]


def run_record(file: str, test: LitmusTest, model: OperationalModel, unroll: int) -> dict[str, Any]:
    """Return the explanation of an operational model as plain data: ``run`` is null where the outcome is forbidden."""
    run = model.run(test, conjunction(propositions(test.condition)), unroll)
    outcomes = model.explore(test, unroll)
    return {
        "file": file,
        "model": model.name,
        "verdict": Answer.FORBIDDEN if run is None else Answer.ALLOWED,
        "unroll": unroll if outcomes.bounded else None,
        "run": None if run is None else list(run),
        "finals": len(outcomes.finals),
        "states": outcomes.states,
    }


def no_picture(model: OperationalModel) -> NoReturn:
    """Raise ``InputError``, for an operational model has no execution to draw."""
    raise InputError(f"--picture draws executions, and {model.name} has runs; its text lists one")


def derived_edges(violation: Violation) -> list[DerivedPair]:
    """Return the edges, by names of the model, that the base edges of a violation make up, outer ones first.

    An edge that is a single base edge is left out where nothing but the check mentions it.
    """
    top = [edge for edge in (*violation.edges, *violation.aside) if edge.path]
    found: dict[DerivedPair, None] = {}

    def add(edge: DerivedPair) -> None:
        found.setdefault(edge)
        for inner in edge.path:
            if inner.path:
                add(inner)

    for edge in top:
        if len(edge.path) > 1 or edge.path[0].path:
            add(edge)
    return list(found)


def _account(test: LitmusTest, model: str, answer: Answer, reason: Sequence[str]) -> Account:
    return Account(test.name, model, answer, "\n".join(program_lines(test)), "\n".join(reason))


def program_lines(test: LitmusTest, with_condition: bool = True) -> Iterator[str]:
    """Yield the lines of the threads side by side, and of the condition where it is not the asked outcome."""
    places = [f" ({place_text(thread.place)})" * tells_places(test) for thread in test.threads]
    columns = [
        [f"P{number}{places[number]}", *(describe(_by_location(ins, thread)) for ins in thread.instructions)]
        for number, thread in enumerate(test.threads)
    ]
    yield from (f"  {line}" for line in _table(columns, " | "))
    if with_condition:
        yield ""
        yield from (f"  {line}" for line in print_condition(test.condition).splitlines())


def _by_location(instruction: Instruction, thread: Thread) -> Instruction:
    """Return the instruction with its address by name, where the address is in a register that never changes."""
    if not isinstance(instruction, Load | Store | Rmw) or not isinstance(instruction.address, Reg):
        return instruction
    address = dict(thread.registers).get(instruction.address.name)
    kept = all(instruction.address.name not in registers_written(other) for other in thread.instructions)
    return replace(instruction, address=address) if kept and isinstance(address, Loc) else instruction


_BETWEEN = "   "
"""What is between threads that stand side by side."""


def _table(columns: Sequence[Sequence[str]], gap: str) -> Iterator[str]:
    widths = [max(map(len, column), default=0) for column in columns]
    for row in zip_longest(*columns, fillvalue=""):
        yield gap.join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


class ExecutionForm(NamedTuple):
    """What the lines of an execution have: ``notes`` behind events, such as source lines; ``heads`` of threads other
    than ``P0``; all ``relations``, or none; so many columns of the screen, beyond which threads stand below; and some
    ``threads``, or all.
    """

    notes: Mapping[int, str] = MappingProxyType({})
    heads: Mapping[int, str] = MappingProxyType({})
    relations: bool = True
    width: int | None = None
    threads: frozenset[int] | None = None


_WHOLE = ExecutionForm()


def execution_lines(execution: CandidateExecution, form: ExecutionForm = _WHOLE) -> Iterator[str]:
    """Yield the lines of each thread's events side by side, and of the relations that are worth a line.

    What a thread asks for is beside it, below what the thread has done last before.
    """
    names = event_names(execution.events)
    columns = event_columns(execution)
    rows = rows_of(columns)
    cells = [
        [
            *[""] * (rows[column.events[0]] if column.operation else 0),
            column.operation or form.heads.get(column.thread, f"P{column.thread}"),
            *(
                f"{names[number]}: {event_text(execution, number)}  {form.notes.get(number, '')}".rstrip()
                for number in column.events
            ),
        ]
        for column in columns
        if form.threads is None or column.thread in form.threads
    ]
    for group in _side_by_side(cells, form.width):
        yield from (f"  {line}" for line in _table(group, _BETWEEN))
    relations = shown_relations(execution, columns) if form.relations else {}
    finals = ", ".join(
        f"{spell(term)}={value_text(value)}"
        for term, value in execution.finals.items()
        if form.relations or not isinstance(term, FinalRegister)
    )
    if relations or finals:
        yield ""
    width = max((len(name) for name in (*relations, "final")), default=0)
    for name, pairs in relations.items():
        yield f"  {name:<{width}}  {', '.join(f'{names[one]} -> {names[other]}' for one, other in pairs)}"
    if finals:
        yield f"  {'final':<{width}}  {finals}"


def _side_by_side(columns: Sequence[Sequence[str]], width: int | None) -> Iterator[Sequence[Sequence[str]]]:
    """Yield groups of columns that are so wide together at most, where each by itself is."""
    group: list[Sequence[str]] = []
    used = 0
    for column in columns:
        own = max(map(len, column), default=0) + len(_BETWEEN)
        if group and width is not None and used + own > width:
            yield group
            group, used = [], 0
        group.append(column)
        used += own
    yield group


def _violation_lines(explanation: MemoryExplanation) -> Iterator[str]:
    count, shown = explanation.outcomes, explanation.violations
    if not explanation.listed:
        yield "The candidate executions that have the outcome are too many to list; the model forbids each of them."
        for violation in shown:
            check = violation.check
            yield from ("", f"{check.name} ({check_place(check)}) forbids one of them: {check_text(check)}", "")
            yield from (*_reason_lines(violation), "", *execution_lines(violation.execution))
        return
    executions = _counted(count, "candidate execution")
    yield f"{executions} {'has' if count == 1 else 'have'} the outcome, and the model forbids {_them(count)}."
    for violation in shown:
        check = violation.check
        yield ""
        many = f"{violation.count} of them" if count > 1 else "it"
        yield f"{check.name} ({check_place(check)}) forbids {many}: {check_text(check)}"
        yield ""
        yield from _reason_lines(violation)
        yield ""
        yield from execution_lines(violation.execution)
    rest = count - sum(violation.count for violation in shown)
    if rest:
        yield ""
        killed = ", ".join(f"{check.name} {number}" for check, number in explanation.killed)
        yield f"{rest} more are forbidden in other ways. By check, of all {count}: {killed}."


def _reason_lines(violation: Violation) -> Iterator[str]:
    names = event_names(violation.execution.events)
    if violation.check.negated:
        yield "  nothing is there, and something should be"
    elif violation.events:
        yield f"  in the set: {', '.join(names[event] for event in violation.events)}"
    elif not violation.edges:
        yield "  what it is of, the model makes of the members of sets, anew for each execution"
    else:
        yield f"  {path_text(violation.steps, names)}"
        if violation.aside:
            yield f"  {path_text([step for edge in violation.aside for step in edge.steps()], names)}"
    derived = derived_edges(violation)
    heads = [path_text([edge], names) for edge in derived]
    width = max(map(len, heads), default=0)
    if derived:
        yield ""
    for head, edge in zip(heads, derived, strict=True):
        yield f"  {head:<{width}}  is  {path_text(edge.path, names)}"


def execution_record(execution: CandidateExecution) -> dict[str, Any]:
    """Return an execution, with its events and relations, as plain data."""
    names, columns = event_names(execution.events), event_columns(execution)
    operations = {number: column.operation for column in columns if column.operation for number in column.events}
    return {
        "events": [
            {
                "name": names[number],
                "thread": None if event.thread == INITIAL else event.thread,
                "text": event_text(execution, number),
            }
            | ({"operation": operations[number]} if number in operations else {})
            for number, event in enumerate(execution.events)
        ],
        "relations": {
            name: [[names[one], names[other]] for one, other in pairs]
            for name, pairs in shown_relations(execution, columns).items()
        },
        "finals": {spell(term): value_text(value) for term, value in execution.finals.items()},
    }


def violation_record(violation: Violation) -> dict[str, Any]:
    """Return a violation, which is how an execution fails a check, as plain data."""
    check, names = violation.check, event_names(violation.execution.events)

    def edges(path: Sequence[DerivedPair]) -> list[dict[str, Any]]:
        return [
            {"from": names[edge.source], "to": names[edge.target], "relations": list(edge.names)}
            | ({"path": edges(edge.path)} if edge.path else {})
            for edge in path
        ]

    return {
        "check": check.name,
        "text": check_text(check),
        "file": _model_file(check),
        "line": check.position.line,
        "count": violation.count,
        "cycle" if violation.is_cycle else "pair": edges(violation.edges),
        "aside": edges(violation.aside),
        "events": [names[event] for event in violation.events],
        "execution": execution_record(violation.execution),
    }


def _model_file(check: ModelCheck) -> str:
    path = Path(check.position.path)
    for shipped in shipped_models().values():
        if path.is_relative_to(Path(shipped).parent):
            return path.relative_to(Path(shipped).parent).as_posix()
    return check.position.path


def _bound_text(unroll: int) -> str:
    beyond = "what is forbidden here may be allowed beyond"
    return f"Loops were cut after {unroll} jumps back: {beyond}; --unroll {unroll + 1} looks further."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _them(count: int) -> str:
    return "it" if count == 1 else "each of them"
