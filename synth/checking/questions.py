"""The questions that ``synth check`` asks of a kernel and a launch, and their answers.

The program that is left of the kernel (``corpus.code.program``) is asked under a consistency model: may two accesses
race, may a thread come to a trap or outside of an array, may an expectation fail, is anything read that nobody wrote.
One formula says which executions the model allows, and each question is a literal of it. Whether the program may hang
is asked of each progress model together with the consistency model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial
from typing import Any

from constraints.witnesses import ExecutionSearch
from corpus.awaited import awaiting
from corpus.code.arithmetic import DIVISION
from corpus.code.mapped import mapped
from corpus.code.program import KernelProgram
from corpus.code.refusals import NotUnderstoodError
from corpus.code.residual import ASSUME, DOUBT, MARK, UNMEANT, UNTOLD, is_of_object, why_of
from corpus.errors import InputError
from corpus.files import folder_of
from corpus.graphs import reachable
from corpus.litmus.arithmetic import UNDETERMINED
from corpus.litmus.condition import parse_condition
from corpus.litmus.flow import thread_flow
from corpus.litmus.instructions import (
    Assign,
    Barrier,
    Branch,
    Instruction,
    Store,
    addresses_of,
    is_asynchronous,
    operands_of,
)
from corpus.litmus.locations import NOWHERE, Loc, Location, Operand, Region, element, element_of
from corpus.litmus.normal import map_operands
from corpus.litmus.propositions import (
    And,
    Atom,
    Condition,
    FinalRegister,
    Not,
    Or,
    Proposition,
    Quantifier,
    Term,
    atoms_of,
    conjunction,
    map_atoms,
    propositions,
)
from corpus.litmus.ptx_arithmetic import WIDTHS, signed, type_of
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.cat.interpreter import Model
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from oracle.executions.candidates import physical_location
from oracle.executions.events import Event
from oracle.executions.grown import LEAST_LIMIT, GrownExecutions, limit_of
from oracle.executions.interleaved import InterleavedExecutions
from oracle.executions.listing import ListedExecutions
from oracle.executions.stateless import grows
from oracle.executions.steps import TooManyError
from oracle.executions.stuck import Hanging, ThreadEnding
from oracle.executions.witness import CandidateExecution
from oracle.liveness import Liveness, resolve_liveness_models
from oracle.progress.models import Verdict
from synth.checking import leaks
from synth.checking.findings import (
    RACES,
    KernelFinding,
    bounds_finding,
    hang_finding,
    is_creation,
    marked_places,
    mixed_finding,
    places_of,
    race_finding,
    released_finding,
    terms_of,
    thread_name,
    uninitialised_finding,
    violation_finding,
)
from synth.checking.lines import own_place
from synth.checking.naming import in_source_words
from synth.checking.places import locations, shown
from synth.checking.search import Query, Search, Whole
from synth.memory.liveness import explain_liveness
from synth.requests import AUTO, ENUMERATE, INTERLEAVED, STATELESS

PROGRESS = ("unfair", "hsa", "obe", "hsa+obe", "lobe", "fair")
"""The progress models that are asked about, the least fair first; neither of ``obe`` and ``hsa`` is the fairer one."""


STEPS = (
    "executions that end",
    "accesses outside of arrays",
    "race",
    "uninitialised memory",
    "traps",
    "expectation",
    *(f"progress under {name}" for name in PROGRESS),
)
"""What is asked, in this order, as a person who waits is told."""


class CheckAnswer(StrEnum):
    """The answer to a question about a kernel, the worse ones last."""

    NOT_ASKED = "NOT ASKED"
    """The model has no word for what the question is of, as SC has none for a data race. This is no answer to it."""
    SAFE = "SAFE"
    FOUND = "FOUND"
    UNKNOWN = "UNKNOWN"
    NOT_UNDERSTOOD = "NOT UNDERSTOOD"
    ERROR = "ERROR"
    """The file cannot be read or compiled, or the question cannot be asked of it."""


NEVER_ENDS = "a thread that nobody waits for may never end, and the program ends nevertheless"
QUESTIONS = ("race", "expectation", "barrier", "bounds", "trap", "uninitialised", "mixed-size")
"""The questions besides those about hangs, as ``--json`` names them."""


@dataclass(frozen=True)
class KernelAnswers:
    """The answers about a kernel and a launch under a model. ``hang`` has a verdict for each progress model.

    ``bounded``: loops were followed for ``unroll`` jumps back, and more may be found beyond.
    """

    program: KernelProgram
    model: str
    answers: Mapping[str, CheckAnswer]
    hang: Mapping[str, str]
    findings: tuple[KernelFinding, ...]
    bounded: bool
    unroll: int
    reasons: tuple[str, ...] = ()


@dataclass
class _Inquiry:
    """The answers that are known so far, with the findings and reasons for them. ``by_now`` is told what is asked."""

    by_now: Callable[[str], None]
    unroll: int
    answers: dict[str, CheckAnswer] = field(default_factory=lambda: dict.fromkeys(QUESTIONS, CheckAnswer.SAFE))
    findings: list[KernelFinding] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    bounded: bool = False
    nothing: bool = False
    """Whether no execution comes to its end."""

    def begin(self, step: str) -> None:
        """Say which question is asked now, and within which bound."""
        number = STEPS.index(step) + 1 if step in STEPS else len(STEPS)
        self.by_now(f"{step} ({number} of {len(STEPS)}), at most {self.unroll} jumps back")

    def unknown(self, why: str) -> None:
        safe = [name for name, answer in self.answers.items() if answer is CheckAnswer.SAFE and name != "mixed-size"]
        self.answers |= dict.fromkeys(safe, CheckAnswer.UNKNOWN)
        self.reasons.append(why)

    def leak_unknown(self, why: str) -> None:
        """Say that it is not known what is never given back, unless something is."""
        if self.answers.get("leak") is CheckAnswer.SAFE:
            self.answers["leak"] = CheckAnswer.UNKNOWN
            self.reasons.append(f"whether memory is never given back is not known: {why}")

    def found(self, finding: KernelFinding) -> None:
        if finding.kind in self.answers:  # hangs have verdicts of their own
            self.answers[finding.kind] = CheckAnswer.FOUND
        self.findings.append(finding)


def check(
    program: KernelProgram, model: AxiomaticModel, expectation: str, unroll: int, progress: str, method: str = AUTO
) -> KernelAnswers:
    """Return the answers about a program that is left of a kernel.

    ``expectation`` is a condition on the final state, empty where there is none; ``progress`` is the model that is
    assumed. ``method``: executions are asked of a solver, or those that end are listed (``ENUMERATE``), or all are
    grown event by event (``STATELESS``), or threads that synchronise interleave (``INTERLEAVED``); ``AUTO`` does these
    two, and asks a solver where they are too many. Raises ``InputError`` where the expectation cannot be read.
    """
    with awaiting("all questions") as by_now:
        return _answers(_Inquiry(by_now, unroll), mapped(program, model.name), model, expectation, progress, method)


def _answers(
    inquiry: _Inquiry, program: KernelProgram, model: AxiomaticModel, expectation: str, progress: str, method: str
) -> KernelAnswers:
    model, unroll = _shipped(speaking(model.name, program)) if model.name == "ptx" else model, inquiry.unroll
    condition = _condition(program, expectation) if expectation else None
    if condition is None:
        del inquiry.answers["expectation"]
    if program.launch.leaks:
        inquiry.answers["leak"] = CheckAnswer.SAFE
    if program.launch.leaks and program.test.threads and not program.grows:
        inquiry.answers["leak"] = CheckAnswer.NOT_ASKED
        inquiry.reasons.append("leak is not asked: memory is given back by programs in C and C++")
    if flagging(model.name) is None:
        inquiry.answers["race"] = CheckAnswer.NOT_ASKED
        inquiry.reasons.append(f"race is not asked: {model.name} does not say what a data race is")
    for mixed in program.mixed:
        inquiry.found(mixed_finding(mixed))
    if program.barriers.divergent:
        text = "threads of one warp come to different barriers, where bar.sync has all of a warp come to the same one"
        inquiry.found(KernelFinding("barrier", text, program.barriers.divergent))
    hang: dict[str, str] = {}
    grown = None if program.mixed else _grown(inquiry, program, model, condition, method)
    if grown is None and not program.mixed and method not in _WHOLE:
        refused = _ask_executions(inquiry, program, model, condition, expectation, method)
        if refused and method == AUTO:
            grown = _grown(inquiry, program, model, condition, method, _PATIENCE)
        if refused and grown is None:
            inquiry.unknown(refused)
    if grown is not None:
        _ask_ends(inquiry, program, grown, flagging(model.name), condition, expectation)
        hang = _ask_hangs(inquiry, program, model, unroll, progress, grown)
        never = hang.get(progress) != Verdict.MAY_HANG and grown.never_ends()
        if never:
            inquiry.notes.append(NEVER_ENDS)
        _doubt_leaks(inquiry, program, never or hang.get(progress) == Verdict.MAY_HANG)
        _ask_parts(inquiry, program, flagging(model.name))
    elif not program.mixed and method not in _WHOLE:
        hang = _ask_hangs(inquiry, program, model, unroll, progress)
        asked = hang.get(progress) != Verdict.MAY_HANG and _ask_left_behind(inquiry, program, model, unroll)
        _doubt_leaks(inquiry, program, asked or hang.get(progress) == Verdict.MAY_HANG)
        if inquiry.nothing and hang.get("fair") == Verdict.TERMINATES and (inquiry.bounded or not asked):
            # Also where a plain read waits for what it would race with, of which OpenCL and C11 let it see nothing.
            _ask_unfinished(inquiry, program, model, unroll)
            if inquiry.answers["race"] is not CheckAnswer.FOUND:
                cut = f"no execution comes to its end within {unroll} jumps back of its loops"
                none = "no execution has a meaning: an address that is computed or read is of no array"
                inquiry.unknown(cut if inquiry.bounded else none)
        _ask_parts(inquiry, program, flagging(model.name))
    if program.mixed:
        inquiry.unknown("accesses that overlap and are not of one place and size leave all else undefined")
    elif inquiry.answers["race"] is CheckAnswer.FOUND and model.name not in RACES:
        inquiry.unknown(f"a data race leaves all else undefined under {model.name}")
    findings, reasons = tuple(in_source_words(finding, program) for finding in inquiry.findings), tuple(inquiry.reasons)
    program = replace(program, assumed=(*program.assumed, *inquiry.notes))
    return KernelAnswers(program, model.name, inquiry.answers, hang, findings, inquiry.bounded, unroll, reasons)


def together(every: Sequence[KernelAnswers]) -> KernelAnswers:
    """Return the answers about a kernel that may begin in several states of memory: the worst answer to each question,
    and what is found in any.
    """
    first = every[0]
    answers = {name: max((report.answers[name] for report in every), key=_WORSE.index) for name in first.answers}
    hang = {
        name: max((report.hang.get(name, CheckAnswer.UNKNOWN) for report in every), key=_WORSE.index)
        for name in first.hang
    }
    findings = {
        (finding.kind, "" if finding.kind == "expectation" else finding.text, finding.places): replace(
            finding, program=report.program
        )
        for report in every
        for finding in report.findings
    }
    assumed = tuple(dict.fromkeys(note for report in every for note in report.program.assumed))
    return replace(
        first,
        program=replace(first.program, assumed=assumed),
        answers=answers,
        hang=hang,
        findings=tuple(findings.values()),
        bounded=any(report.bounded for report in every),
        reasons=tuple(reason for report in every for reason in report.reasons),
    )


_WORSE = (
    CheckAnswer.NOT_ASKED,
    CheckAnswer.SAFE,
    Verdict.TERMINATES,
    CheckAnswer.UNKNOWN,
    CheckAnswer.FOUND,
    Verdict.MAY_HANG,
)
"""Answers and verdicts, the worse ones last."""


def _ask_parts(inquiry: _Inquiry, program: KernelProgram, races: Model | None) -> None:
    """Say that accesses of several sizes race, which leaves all else undefined (PTX ISA, Mixed-size Data-Races)."""
    found = next((finding for finding in inquiry.findings if finding.kind == "race"), None)
    if found is None or not program.locations.parted:
        return
    execution = found.execution
    relation = races.relations(execution.base).get("race") if races is not None and execution is not None else None
    rows = relation if isinstance(relation, tuple) else ()
    for pair in ((one, other) for one, row in enumerate(rows) for other in row):
        assert execution is not None
        location, places = execution.events[pair[0]].location, places_of(program, execution, pair)
        if location in program.locations.parted and len({WIDTHS[type_of(place.words)] for place in places}) > 1:
            text = f"accesses of {location} race and are not of one size; the memory model does not define what they do"
            inquiry.found(KernelFinding("mixed-size", text, places, execution, pair))
            inquiry.unknown("accesses that race, and are not of one place and size, leave all else undefined")
            return
    inquiry.answers["mixed-size"] = CheckAnswer.UNKNOWN
    inquiry.unknown("whether accesses of several sizes race is not known; if they do, all else is undefined")


def speaking(name: str, program: KernelProgram) -> str:
    """Return the model that speaks of a program: for ``ptx``, where it has mbarriers or asynchronous operations, the
    model with these.
    """
    every = (ins for thread in program.test.threads for ins in thread.instructions)
    return "ptx-async" if name == "ptx" and any(map(is_asynchronous, every)) else name


def _shipped(name: str) -> AxiomaticModel:
    (model,) = resolve_consistency_models([name])
    assert isinstance(model, AxiomaticModel)
    return model


@cache
def flagging(name: str) -> Model | None:
    """Return the model by whose flag a race is known: PTX has a part for it, other models have flags of their own."""
    model = _shipped(str(folder_of("oracle") / "models" / "parts" / RACES[name]) if name in RACES else name)
    return model.model if any("race" in check.name for check in model.model.flags) else None


def _observing(program: KernelProgram, condition: Condition | None) -> LitmusTest:
    """Return a program that observes where threads stop, and what is expected at its end."""
    stops = [FinalRegister(thread, register) for thread, register in program.marks.stops]
    terms = [term for part in (condition and propositions(condition)) or () for term in terms_of(part)]
    doubts = [FinalRegister(thread, register) for thread, register in program.marks.doubts]
    observed = tuple(dict.fromkeys((*stops, *doubts, *leaks.observed(program), *terms)))
    return replace(program.test, condition=replace(program.test.condition, observed=observed))


_WHOLE = (STATELESS, INTERLEAVED)
"""The methods that find executions without an end, too."""

_PATIENCE = 20
"""How many times as many events are grown where no solver can be asked."""


def _grown(
    inquiry: _Inquiry,
    program: KernelProgram,
    model: AxiomaticModel,
    condition: Condition | None,
    method: str,
    patience: int = 1,
) -> Whole[Any] | None:
    """Return all executions, grown event by event, or as ways through the states of a program that synchronises; None
    where another method is to be asked, or they are too many.
    """
    asked, every = flagging(model.name) or model.model, range(len(program.test.threads))
    ends_early = program.needed is not None and not {*every} <= {*program.needed}
    if method not in (AUTO, *_WHOLE):
        return None
    why = ""
    if not grows(asked):
        why = f"executions are not grown under {model.name}"
    elif condition is not None and ends_early:
        why = "an expectation is not asked of grown executions where the program may end before a thread of it"
    else:
        inquiry.begin("executions that end")
        test, needed = _observing(program, condition), program.needed
        patience = _PATIENCE if method == STATELESS else patience
        most = patience * limit_of(test, asked, inquiry.unroll)
        apart = _told_apart(program)
        grown = partial(GrownExecutions, test, asked, inquiry.unroll, needed)
        interleaved = partial(InterleavedExecutions, test, asked, needed, apart=apart)
        longer: list[Callable[[], Whole[Any]]] = [partial(grown, most)] if most > LEAST_LIMIT else []
        first: list[Callable[[], Whole[Any]]] = (
            [partial(grown, min(most, LEAST_LIMIT)), interleaved] if patience == 1 else []
        )
        ways: Mapping[str, Sequence[Callable[[], Whole[Any]]]] = {
            AUTO: [*first, *longer],
            STATELESS: [partial(grown, most)],
            INTERLEAVED: [interleaved],
        }
        for way in ways[method]:
            try:
                return way()
            except TooManyError as error:
                why = error.message
    if method in _WHOLE:
        inquiry.unknown(why)
    return None


def _told_apart(program: KernelProgram) -> frozenset[str]:
    """Return the locations of which is asked who has written what is read: what may be read that nobody has written,
    and objects that are created or given back.
    """
    names = {location.name for location in program.test.locations}
    found = _unwritten(program) & names
    for thread, code in zip(program.test.threads, program.code, strict=True):
        for ins, residual in zip(thread.instructions, code, strict=True):
            if any(access.created or access.released for access in residual.accesses):
                for address in addresses_of(ins):
                    if not isinstance(address, Loc):
                        return frozenset(names)
                    found.add(physical_location(program.test, address))
    return frozenset(found)


def _unwritten(program: KernelProgram) -> set[str]:
    """Return the locations whose initial values nobody may read."""
    shared = {location.name for location in program.test.locations if location.region is Region.SHARED}
    return (shared | program.locations.undefined) - program.locations.initialised


def _ask_executions(
    inquiry: _Inquiry,
    program: KernelProgram,
    model: AxiomaticModel,
    condition: Condition | None,
    expectation: str,
    method: str,
) -> str:
    """Ask what may happen in an execution that comes to its end. Return why that is not known, empty where it is."""
    test, unroll = _observing(program, condition), inquiry.unroll
    inquiry.begin("executions that end")
    races, left_behind = flagging(model.name), _left_behind(program)
    try:
        if method == ENUMERATE:
            listed = ListedExecutions(test, races or model.model, unroll)
            _ask_ends(inquiry, program, listed, races, condition, expectation, left_behind)
        else:
            search = ExecutionSearch(test, races or model.model, unroll, unfinished=left_behind)
            _ask_ends(inquiry, program, search, races, condition, expectation, left_behind)
    except TooManyError as error:
        return error.message
    return ""


def _found_stop(
    inquiry: _Inquiry, program: KernelProgram, stop: FinalRegister, execution: CandidateExecution | None
) -> None:
    """Note the finding that a thread stops, unless it is known."""
    why = why_of(stop.register)
    marked = marked_places(program, stop)
    where = f", at {own_place(marked[0])}" if marked else ""
    text = f"{_STOPPED[why]}: {thread_name(program, stop.thread)}{where}"
    if not any(finding.places == marked and finding.text.startswith(_STOPPED[why]) for finding in inquiry.findings):
        inquiry.found(KernelFinding(_KINDS.get(why, why), text, marked, execution))


def _left_behind(program: KernelProgram) -> tuple[int, ...]:
    """Return the threads that never end and that the program does not wait for: where it ends, they stop wherever they
    are. What others do that have an end, they may have done before.
    """
    if program.needed is None:
        return ()
    threads = enumerate(program.test.threads)
    return tuple(number for number, thread in threads if number not in program.needed and not _has_end(thread))


def _has_end(thread: Thread) -> bool:
    """Return whether a way leads to the end of a thread that does not stop at a trap or the like."""
    flow = thread_flow(thread)

    def following(place: int) -> Sequence[int]:
        if place == flow.end:
            return ()
        match flow.code[place]:
            case Assign(target) if target.startswith(MARK) and why_of(target) != "assert" and not is_of_object(target):
                return flow.successors[place] if target.startswith(MARK + DOUBT) else ()
        return flow.successors[place]

    return flow.end in reachable([0], following)


def _ask_left_behind(inquiry: _Inquiry, program: KernelProgram, model: AxiomaticModel, unroll: int) -> bool:
    """Ask about executions in which a thread that the program does not wait for never ends, though it has an end;
    return whether there are any.
    """
    left = set(range(len(program.test.threads))) - {*(program.needed or ()), *_left_behind(program)}
    if program.needed is None or not left:
        return False
    (liveness,) = resolve_liveness_models([f"fair & {model.name}"])
    try:
        may_hang = explain_liveness(program.test, liveness, unroll).verdict is not Verdict.TERMINATES
    except TooManyError as error:
        inquiry.unknown(f"whether threads end that nobody waits for: {error.message}")
        return False
    if may_hang:
        inquiry.notes.append(NEVER_ENDS)
        _ask_unfinished(inquiry, program, model, unroll)
    return may_hang


def _ask_ends(
    inquiry: _Inquiry,
    program: KernelProgram,
    search: Search[Query],
    races: Model | None,
    condition: Condition | None,
    expectation: str,
    left_behind: Collection[int] = (),
) -> None:
    """Ask about accesses, traps, and the expectation. ``left_behind``: threads whose traps the search does not see."""
    inquiry.bounded = search.cut
    inside = ~search.accesses({*program.locations.outside, NOWHERE})
    inquiry.nothing = search.find([search.ended]) is None
    _ask_accesses(inquiry, program, search, races)
    inquiry.begin("traps")
    premises, divides = [inside, search.ended], False
    plain = [Atom("eq", FinalRegister(*mark), 1) for mark in program.marks.stops if why_of(mark[1]) not in _NO_TRAPS]
    trapped = search.find([inside, search.satisfied(Or(tuple(plain)))]) is not None  # one question for all
    for thread, register in program.marks.stops:
        if thread in left_behind:  # whose registers have no final values where it is stopped
            inquiry.unknown(
                f"whether {thread_name(program, thread)}, which nobody waits for, comes to a finding of its own"
            )
            continue
        stop = FinalRegister(thread, register)
        stopped, why = search.satisfied(Atom("eq", stop, 1)), why_of(register)
        execution = search.find([inside, stopped]) if trapped or why in _NO_TRAPS else None
        if why == UNMEANT:
            if execution is not None:
                inquiry.unknown("an address is computed with as if it were a number, which is not understood")
            premises.append(~stopped)
            continue
        if why == ASSUME:
            premises.append(~stopped)
            continue
        if why == DIVISION:
            divides = divides or execution is not None
            premises.append(~stopped)
            continue
        if execution is not None or (inquiry.nothing and _is_certain(program.test.threads[thread], register)):
            _found_stop(inquiry, program, stop, execution)
    marks = [FinalRegister(thread, register) for thread, register in program.marks.doubts]
    determined = [~search.satisfied(Atom("eq", mark, 1)) for mark in marks]
    asks = condition is not None or program.marks.decide
    doubt = (
        next((mark for mark, not_so in zip(marks, determined, strict=True) if search.find([~not_so])), None)
        if asks
        else None
    )
    if doubt is not None:
        lines = ", ".join(dict.fromkeys(str(place.source or place.line) for place in marked_places(program, doubt)))
        which = doubt.register.removeprefix(MARK + DOUBT)
        reason = f"the result of {which} is not determined in some execution ({lines})"
        inquiry.unknown(reason) if program.marks.decide else inquiry.reasons.append(reason)
    assumes = any(why_of(register) == ASSUME for _, register in program.marks.stops)
    if assumes and not inquiry.nothing and not inquiry.findings and search.find(premises) is None:
        inquiry.notes.append("what __VERIFIER_assume says, which in no execution holds at every place")
    if program.grows and program.launch.leaks:
        _ask_leaks(inquiry, program, search, premises)
    inquiry.begin("expectation")
    why = _untold(program, condition) if condition is not None else ""
    if condition is not None and why and (program.altered or not _is_exact(condition)):
        inquiry.answers["expectation"] = CheckAnswer.UNKNOWN
        inquiry.reasons.append(why)
    elif condition is not None:
        wanted = condition.quantifier is Quantifier.EXISTS
        holds = search.satisfied(condition.proposition)
        fails = holds if condition.quantifier is Quantifier.NOT_EXISTS else ~holds
        execution = search.find([*premises, fails])
        if wanted:
            execution = None if search.find([*premises, holds]) is not None else search.find([*premises])
        if doubt and (execution is None or wanted or search.find([*premises, fails, *determined]) is None):
            inquiry.answers["expectation"] = CheckAnswer.UNKNOWN
        elif execution is not None and (why or (wanted and divides)):
            inquiry.answers["expectation"] = CheckAnswer.UNKNOWN
            inquiry.reasons += [why] if why else []
        elif execution is not None:
            inquiry.found(violation_finding(program, condition, expectation, execution))
    if divides:
        inquiry.unknown("a thread divides by 0, and nothing tells the result")


def _ask_leaks(inquiry: _Inquiry, program: KernelProgram, search: Search[Query], premises: Sequence[Query]) -> None:
    """Ask for each object whether there is an execution all of whose threads come to their end, none of them early, and
    in which it is lost and nobody has given it back.

    A thread that the program does not wait for has what it has until it is stopped: what it would give back later is
    not lost, and what it would not is lost at its end as well.
    """
    traps = [mark for mark in program.marks.stops if why_of(mark[1]) not in ("assert", *_NO_TRAPS)]
    stopped = search.satisfied(Or(tuple(Atom("eq", FinalRegister(*mark), 1) for mark in traps)))
    objects, left_behind = leaks.made_objects(program), _left_behind(program)
    asked = [*premises, ~stopped] if left_behind else [*premises, ~stopped, search.all_ended]
    kept = Or(tuple(leaks.kept(program, array, left_behind) for array in objects))
    theirs = any(mark.thread in left_behind for marks in objects.values() for mark in marks)
    if objects and inquiry.nothing:
        inquiry.leak_unknown("no execution comes to its end")
    elif left_behind and (theirs or search.find([*asked, search.satisfied(kept)]) is not None):
        inquiry.leak_unknown(f"{thread_name(program, left_behind[0])} never ends, and may have it or give it back")
    if left_behind or inquiry.nothing or search.find([*asked, search.satisfied(kept)]) is None:
        return
    untold = [FinalRegister(*mark) for mark in program.objects.marks if why_of(mark[1]) == UNTOLD]
    doubt = search.satisfied(Or(tuple(Atom("eq", mark, 1) for mark in untold)))
    for array, (mark, *_) in objects.items():
        try:
            execution = leaks.lost(program, search, [*asked, ~doubt], array)
            if execution is None and untold and leaks.lost(program, search, [*asked, doubt], array) is not None:
                owner = thread_name(program, untold[0].thread)
                inquiry.leak_unknown(f"nothing tells what a variable of {owner} leads to where the program ends")
        except leaks.TooManyWaysError:
            inquiry.leak_unknown("too many ways lead to what is not given back")
            return
        places = marked_places(program, mark)
        if execution is None or any(found.kind == "leak" and found.places == places for found in inquiry.findings):
            continue
        text = f"memory is never given back that {thread_name(program, mark.thread)} asks for"
        text += f" at {own_place(places[0])}" if places else ""
        inquiry.found(KernelFinding("leak", text, places, execution))


def _doubt_leaks(inquiry: _Inquiry, program: KernelProgram, never: bool) -> None:
    """Say that leaks are not known where a thread may never end, though it has an end, that nobody waits for."""
    others = set(range(len(program.test.threads))) - {*(program.needed or ()), *_left_behind(program)}
    if never and program.needed is not None and others and leaks.made_objects(program):
        inquiry.leak_unknown("a thread may never end that nobody waits for, and may have it or give it back")


def _untold(program: KernelProgram, condition: Condition) -> str:
    """Return why an expectation has no answer: it is of a location that may hold a value which nothing tells."""
    for term in (term for part in propositions(condition) for term in terms_of(part)):
        if isinstance(term, Loc) and term.name in program.locations.untold:
            why = program.locations.untold[term.name]
            return f"the expectation is of {term.name}, which may hold {why}: nothing tells its value"
    return ""


def _is_exact(condition: Condition) -> bool:
    """Return whether a condition asks that locations have certain values, in every execution. Where it holds for some
    number in place of a value that nothing tells, and that is not altered, nothing that it names hangs on the value.
    """
    atoms = list(atoms_of(condition.proposition))
    equal = all(atom.operation == "eq" and isinstance(atom.right, int) for atom in atoms)
    joined = condition.proposition == conjunction(atoms)
    return equal and joined and condition.quantifier is Quantifier.FORALL and condition.filter is None


def _is_certain(thread: Thread, register: str) -> bool:
    """Return whether a thread sets a register whatever is read, and before it waits for anybody: where others wait for
    it, no execution comes to its end.
    """
    flow = thread_flow(thread)
    place, passed = 0, set[int]()
    while place < flow.end and place not in passed:
        passed.add(place)
        match thread.instructions[place]:
            case Assign(target) if target == register:
                return True
            case Branch(label, None):
                place = flow.labels[label]
            case Branch() | Barrier():
                return False
            case _:
                place += 1
    return False


def _ask_accesses(inquiry: _Inquiry, program: KernelProgram, search: Search[Query], races: Model | None) -> None:
    """Ask whether accesses are outside of an array; where none is, whether they race, and whether anybody reads shared
    memory that nobody has written.
    """
    inquiry.begin("accesses outside of arrays")
    outside = search.accesses({*program.locations.outside, NOWHERE})
    if program.grows:
        _ask_addresses(inquiry, program, search)
    if inquiry.answers["bounds"] is not CheckAnswer.FOUND:
        execution = search.find([search.accesses(program.locations.outside)])
        if execution is not None:
            inquiry.found(bounds_finding(program, execution))
    inquiry.begin("race")
    for name, literal in search.flags.items():
        if races is not None and "race" in name and inquiry.answers["race"] is not CheckAnswer.FOUND:
            execution = search.find([~outside, literal])
            if execution is not None:
                inquiry.found(race_finding(program, races, execution))
    if program.grows and inquiry.answers["race"] is not CheckAnswer.FOUND:
        _ask_releases(inquiry, program, search)
    inquiry.begin("uninitialised memory")
    shared = _unwritten(program)
    if shared and inquiry.answers["uninitialised"] is not CheckAnswer.FOUND:
        execution = search.find([~outside, search.reads_initial(shared)])
        if execution is not None:
            inquiry.found(uninitialised_finding(program, shared, execution))
    created = any(access.created for code in program.code for residual in code for access in residual.accesses)
    if created and inquiry.answers["uninitialised"] is not CheckAnswer.FOUND:
        fresh = shared & {*program.locations.undefined}
        execution = search.find(
            [~outside, search.reads_from(lambda e: is_creation(program, e) and e.location in fresh)]
        )
        if execution is not None:
            inquiry.found(uninitialised_finding(program, fresh, execution))


def _ask_addresses(inquiry: _Inquiry, program: KernelProgram, search: Search[Query]) -> None:
    """Ask where addresses from memory lead to: to no location, or to one of another size than what is accessed."""

    def is_mixed(event: Event) -> bool:
        access = program.code[event.thread][event.position].access
        cell = program.locations.cells.get(event.location or "")
        return access is not None and cell is not None and access.size != cell.size

    if search.find([search.accesses({NOWHERE})]) is not None:
        inquiry.unknown("an address from memory may be of no object, or of a part of one of another size")
    if search.find([search.happens(is_mixed)]) is not None:
        inquiry.answers["mixed-size"] = CheckAnswer.UNKNOWN
        inquiry.unknown("an address from memory leads to what has another size than is accessed there")


def _ask_releases(inquiry: _Inquiry, program: KernelProgram, search: Search[Query]) -> None:
    """Ask whether memory is used after it was given back. Of uses that nothing orders with that the race tells."""

    def is_release(event: Event) -> bool:
        access = program.code[event.thread][event.position].access
        return access is not None and access.released

    released = any(access.released for code in program.code for residual in code for access in residual.accesses)
    elsewhere = search.accesses({NOWHERE})
    execution = search.find([~elsewhere, search.after(is_release, partial(is_creation, program))]) if released else None
    if execution is not None:
        inquiry.found(released_finding(program, execution, is_release))


def _ask_unfinished(inquiry: _Inquiry, program: KernelProgram, model: AxiomaticModel, unroll: int) -> None:
    """Ask about accesses in executions whose threads have come anywhere, as some of them never end."""
    races = flagging(model.name)
    try:
        search = ExecutionSearch(program.test, races or model.model, unroll, unfinished=True)
    except TooManyError as error:
        inquiry.reasons.append(f"whether executions that never end race: {error.message}")
        return
    inquiry.bounded |= search.cut
    _ask_accesses(inquiry, program, search, races)
    _ask_unfinished_traps(inquiry, program, races or model.model, unroll)


def _ask_unfinished_traps(inquiry: _Inquiry, program: KernelProgram, model: Model, unroll: int) -> None:
    """Ask whether threads come to a trap in executions whose threads have come anywhere: by writes to locations that
    say so, for registers have no final values there.
    """
    marks = {mark: f"trap_{number}" for number, mark in enumerate(program.marks.stops)
             if why_of(mark[1]) not in (ASSUME, UNMEANT) and mark[1] != MARK + DIVISION}  # fmt: skip
    if not marks:
        return
    threads = []
    for number, thread in enumerate(program.test.threads):
        code = list[Instruction]()
        for ins in thread.instructions:
            code.append(ins)
            if isinstance(ins, Assign) and (number, ins.target) in marks:
                code.append(Store(Loc(marks[number, ins.target]), 1))
        threads.append(replace(thread, instructions=tuple(code)))
    locations = (*program.test.locations, *map(Location, marks.values()))
    try:
        search = ExecutionSearch(
            replace(program.test, threads=tuple(threads), locations=locations), model, unroll, unfinished=True
        )
    except TooManyError as error:
        inquiry.reasons.append(f"whether executions that never end come to a trap: {error.message}")
        stops = {_KINDS.get(why_of(mark), why_of(mark)) for _, mark in marks}
        safe = [kind for kind in stops if inquiry.answers.get(kind) is CheckAnswer.SAFE]
        inquiry.answers |= dict.fromkeys(safe, CheckAnswer.UNKNOWN)
        return
    inside = ~search.accesses(program.locations.outside)
    for (thread_, register), name in marks.items():
        if search.find([inside, search.accesses([name])]) is not None:
            _found_stop(inquiry, program, FinalRegister(thread_, register), None)


def wrong(program: KernelProgram, expectation: str) -> LitmusTest:
    """Return the program with the condition that it goes wrong at its end: a thread has come to a trap or the like, or
    an expectation fails. One that something be possible (``exists``) is left out.

    Raises ``InputError`` where the expectation cannot be read.
    """
    parts: list[Proposition] = [
        Atom("eq", FinalRegister(thread, register), 1) for thread, register in program.marks.stops
    ]
    if expectation:
        condition = _condition(program, expectation)
        if why := _untold(program, condition):
            raise NotUnderstoodError(why)
        if condition.quantifier is Quantifier.FORALL:
            parts.append(Not(condition.proposition))
        elif condition.quantifier is Quantifier.NOT_EXISTS:
            parts.append(condition.proposition)
    return replace(program.test, condition=Condition(Quantifier.EXISTS, Or(tuple(parts))))


def expected_always(program: KernelProgram, expectation: str) -> bool:
    """Return whether an expectation is of every execution, and not that something be possible (``exists``)."""
    return _condition(program, expectation).quantifier is not Quantifier.EXISTS


def left_over(program: KernelProgram, expectation: str) -> LitmusTest:
    """Return what is left of a kernel as a litmus test that asks for an expectation. Elements of an array whose places
    are known are locations by themselves: ``data_1`` for ``data[1]``, which most dialects have no word for.

    Raises ``InputError`` where the expectation cannot be read.
    """
    test = _without_doubts(program.test)
    if expectation:
        test = replace(test, condition=_condition(program, expectation))
    every = (ins for ins in test.instructions if not is_asynchronous(ins))
    values = [operand for ins in every for operand in operands_of(ins)[len(addresses_of(ins)) :]]
    # From an address that is a value, others may be computed.
    values += [location.initial for location in test.locations]
    computed = {element_of(value.name)[0] for value in values if isinstance(value, Loc)}
    test = replace(test, locations=tuple(_in_rows(test.locations, computed)))
    names: dict[str, str] = {}
    for location in test.locations:
        array, number = element_of(location.name)
        apart = array not in computed and number > 0
        names[location.name] = _unused(f"{array}_{number}" if apart else location.name, names.values())

    def renamed(operand: Operand) -> Operand:
        return Loc(names[operand.name]) if isinstance(operand, Loc) else operand

    def remaining(atom: Atom) -> Atom:
        left, right = (Loc(names[x.name]) if isinstance(x, Loc) else x for x in (atom.left, atom.right))
        return Atom(atom.operation, left, right)

    threads = (
        replace(thread, instructions=tuple(map_operands(ins, renamed) for ins in thread.instructions))
        for thread in test.threads
    )
    return replace(
        test,
        threads=tuple(threads),
        locations=tuple(replace(location, name=names[location.name]) for location in test.locations),
        condition=replace(test.condition, proposition=map_atoms(test.condition.proposition, remaining)),
    )


MOST_ELEMENTS = 4_096
"""The elements that an array may have in a litmus test that is written."""


def _in_rows(locations: Sequence[Location], arrays: Collection[str]) -> Iterator[Location]:
    """Yield locations, and between those of some arrays the elements that no access is to: where places are bytes, the
    element behind ``x`` may be ``x[8]``, and litmus tests number all.
    """
    last: dict[str, int] = {}
    for location in locations:
        array, number = element_of(location.name)
        if array in arrays:
            begun = last.get(array, number - 1)
            if number > MOST_ELEMENTS:
                raise InputError(f"{array} has more than {MOST_ELEMENTS:,} elements, too many for a litmus test")
            yield from (Location(element(array, n), 0, location.region) for n in range(begun + 1, number))
            last[array] = number
        yield location


def _without_doubts(test: LitmusTest) -> LitmusTest:
    """Return a test without what only notes whether results are determined."""

    def doubts(ins: Instruction) -> bool:
        return isinstance(ins, Assign) and (
            ins.target.startswith(MARK + DOUBT) or ins.operation.startswith(UNDETERMINED)
        )

    kept = (tuple(ins for ins in thread.instructions if not doubts(ins)) for thread in test.threads)
    threads = (replace(thread, instructions=code) for thread, code in zip(test.threads, kept, strict=True))
    return replace(test, threads=tuple(threads))


def _of_parts(program: KernelProgram, atom: Atom, expectation: str) -> Proposition:
    """Return what is expected of an element as what is expected of its parts."""
    term, value = (atom.left, atom.right) if isinstance(atom.left, Loc) else (atom.right, atom.left)
    if not isinstance(term, Loc) or not isinstance(value, int) or atom.operation not in ("eq", "ne"):
        wanted = "expected == or != and a number, for other accesses are of parts of that element"
        raise InputError(f"--expect: {shown(expectation)}: {wanted}")
    equal = list[Proposition]()
    for name in program.locations.wholes[term.name]:
        bits = 8 * program.locations.cells[name].size
        equal.append(Atom("eq", Loc(name), value & (1 << bits) - 1))
        value >>= bits
    if value not in (0, -1):
        return Or(()) if atom.operation == "eq" else And(())
    every = conjunction(equal)
    return every if atom.operation == "eq" else Not(every)


def _unused(name: str, others: Collection[str]) -> str:
    return name if name not in others else _unused(f"{name}_", others)


_NO_TRAPS = (UNMEANT, ASSUME, DIVISION)
"""Why threads stop where that is no finding."""

_KINDS = {
    **dict.fromkeys(("assert", "abort", "uncaught"), "trap"),
    **dict.fromkeys(("null", "misaligned", "constant"), "bounds"),
    **dict.fromkeys(("dead", "freed twice", "freed otherwise", "free", "overlap"), "bounds"),
    **dict.fromkeys(
        (
            "joined",
            "undefined",
            "zero",
            "overflow",
            "shift",
            "bits",
            "unreachable",
            "argument",
            "unlock",
            "timed",
            "key",
            "destroyed",
            "destroyed while held",
            "destroyed while waited for",
            "initialised twice",
            "not initialised",
            "conversion",
            "left",
            "length",
        ),
        "trap",
    ),
    **dict.fromkeys(("align", "size", "multiple"), "trap"),
    **dict.fromkeys(("lane", "count"), "barrier"),
}
"""The kinds of findings that a thread stops for, by why it stops, where that is another word."""


_STOPPED = {
    "trap": "a thread comes to a trap",
    "assert": "an assertion fails",
    "bounds": "an access is outside of its array",
    "misaligned": "an address is not a multiple of what its access needs",
    "zero": "a number is divided by 0",
    "null": "a null pointer is dereferenced",
    "abort": "a thread gives up",
    "uncaught": "an exception is thrown that nobody catches",
    "constant": "a constant is written",
    "dead": "a variable is used whose lifetime has ended",
    "free": "what is given back is no object of malloc",
    "freed twice": "an object is given back twice",
    "freed otherwise": "an object is given back otherwise than it was made: by free, delete or delete[]",
    "overlap": "memory is copied to memory that it overlaps with",
    "overflow": "a number is too large for its type",
    "shift": "a number is shifted by more than its bits",
    "left": "a number is shifted to the left that is negative, or becomes too large for its type",
    "conversion": "a floating-point number is converted to a type that it is too large for",
    "length": "an array has no elements, or less",
    "multiple": "memory is asked for whose size is no multiple of its alignment",
    "bits": "the zeros before or behind the bits of 0 are counted",
    "uninitialised": "what nobody has written is read",
    "align": "memory is asked for whose alignment is no power of 2",
    "size": "memory is asked for that is larger than any object",
    "undefined": "what is computed is undefined, as a quotient by 0 or a shift by too much",
    "joined": "a thread is joined twice, or after it was detached",
    "unlock": "a lock is given back that the thread does not hold",
    "timed": "a lock is waited for until a time that does not support it",
    "key": "a key of values of threads is used that there is not",
    "argument": "an argument is read that is not given, or is of another type",
    "unreachable": "a thread comes to a place that it must not reach",
    "destroyed": "a lock is used that is destroyed",
    "destroyed while held": "a lock is destroyed that is held",
    "destroyed while waited for": "a barrier is destroyed that a thread waits at",
    "initialised twice": "a lock, condition variable, barrier or semaphore is initialised that is in use",
    "not initialised": "a barrier or semaphore is used that is not initialised",
    "lane": "a thread is not in the mask of lanes that it names, which PTX leaves undefined",
    "count": "the threads that a barrier waits for are no whole number of warps, as PTX has them",
}


def _condition(program: KernelProgram, expectation: str) -> Condition:
    """Return an expectation as a condition: ``data[0] == 2 && x != 1``, for every execution unless it says exists.

    Values are numbers in two's complement: 255 in a byte is -1 here.
    """
    text = expectation.replace("&&", "/\\").replace("||", "\\/").replace("==", "=")
    if not text.lstrip().startswith(("forall", "exists", "~exists")):
        text = f"forall ({text})"
    known = {*program.locations.wholes, *(location.name for location in program.test.locations)}

    def check_known(term: Term, _: object) -> None:
        if not isinstance(term, Loc) or term.name not in known:
            there = ", ".join(locations(program)) or "none"
            raise InputError(f"--expect: {shown(expectation)}: expected locations of the program, which are {there}")

    def stored(atom: Atom) -> Proposition:
        if any(isinstance(term, Loc) and term.name in program.locations.wholes for term in (atom.left, atom.right)):
            return map_atoms(_of_parts(program, atom, expectation), stored)
        terms = (atom.left, atom.right)
        bits = 8 * max(program.locations.cells[term.name].size for term in terms if isinstance(term, Loc))
        left, right = (signed(term, bits) if isinstance(term, int) else term for term in terms)
        if bits > 32 and "-" not in text and any(isinstance(term, int) and term < 0 for term in terms):
            raise InputError(f"--expect: {shown(expectation)}: expected numbers below 2147483648 for 64 bits")
        if (left, right) != terms and atom.operation not in ("eq", "ne"):
            raise InputError(
                f"--expect: {shown(expectation)}: expected numbers of {bits} bits with a sign, where it is < or >"
            )
        return Atom(atom.operation, left, right)

    try:
        condition = parse_condition(text, None, check_known)
    except InputError as error:
        if error.line is None:
            raise
        problem, (_, _, found) = error.message, error.message.rpartition(", found ")
        if " or " in problem:  # a list of all that may stand there
            problem = f"expected comparisons of locations with numbers, as in 'x[1] == 2 && y != 3', found {found}"
        raise InputError(f"--expect: {shown(expectation)}: {problem}") from None
    return replace(condition, proposition=map_atoms(condition.proposition, stored))


def _ask_hangs(
    inquiry: _Inquiry,
    program: KernelProgram,
    model: AxiomaticModel,
    unroll: int,
    progress: str,
    grown: Whole[Any] | None = None,
) -> dict[str, str]:
    """Ask each progress model whether the program may hang; a hang under the one that is assumed is a finding.

    ``grown``: all executions of the program, where they are known.
    """
    verdicts: dict[str, str] = {}
    if not program.test.threads or program.needed == ():
        return dict.fromkeys((*PROGRESS, progress), Verdict.TERMINATES)
    for name in dict.fromkeys((*PROGRESS, progress)):
        inquiry.begin(f"progress under {name}")
        (liveness,) = resolve_liveness_models([f"{name} & {model.name}"])
        try:
            if grown is not None:
                seen = liveness.progress_of(program.test)
                hang = grown.hang(name, seen.promise, seen.strong)
                found = Liveness(program.test, liveness, Hanging(hang, False, False), unroll)
            else:
                found = explain_liveness(program.test, liveness, unroll, program.needed)
        except TooManyError as error:
            verdicts[name] = CheckAnswer.UNKNOWN
            inquiry.reasons.append(error.message)
            continue
        if program.barriers.uncounted and _waits_for_ended(program, found):
            verdicts[name] = CheckAnswer.UNKNOWN
            inquiry.unknown("memory decides how often threads come to a barrier, and those that end are not waited for")
            continue
        if found.verdict is Verdict.MAY_HANG and any(why_of(mark) == ASSUME for _, mark in program.marks.stops):
            verdicts[name] = CheckAnswer.UNKNOWN
            inquiry.reasons.append("who waits for ever may wait for a thread that stops where an assumption fails")
            continue
        verdicts[name] = found.verdict
        inquiry.bounded |= found.hanging.provisional
        if name == progress and found.verdict is Verdict.MAY_HANG:
            inquiry.found(hang_finding(program, found, progress))
            if grown is None:  # which are executions without an end, too
                _ask_unfinished(inquiry, program, model, unroll)
    if verdicts.get(progress) == CheckAnswer.UNKNOWN and inquiry.answers["barrier"] is CheckAnswer.SAFE:
        inquiry.answers["barrier"] = CheckAnswer.UNKNOWN
    return verdicts


def _waits_for_ended(program: KernelProgram, found: Liveness) -> bool:
    """Return whether threads of a hang wait at a barrier while another one of their block or cluster has ended."""
    hang = found.hanging.hang
    if hang is None:
        return False
    groups = [thread.place.queue for thread in program.test.threads]
    ended = {group for group, end in zip(groups, hang.endings, strict=True) if end is ThreadEnding.ENDED}
    return any(end is ThreadEnding.WAITS and g in ended for g, end in zip(groups, hang.endings, strict=True))


def needed(hang: Mapping[str, str]) -> str:
    """Return which progress a kernel needs: the least fair of the models under which it always ends."""
    ends = [name for name in PROGRESS if hang.get(name) == Verdict.TERMINATES]
    if not ends and CheckAnswer.UNKNOWN in hang.values():
        return "not known"
    if not ends:
        return "" if not hang else "none of the progress models is enough"
    if ends[0] == "unfair":
        return "no fairness"
    unknown = [name.upper() for name in PROGRESS[: PROGRESS.index(ends[0])] if hang.get(name) == CheckAnswer.UNKNOWN]
    least = " or ".join(_least(ends))
    return f"{least} is enough; whether less is, is not known of {', '.join(unknown)}" if unknown else f"needs {least}"


_WEAKER: Mapping[str, Sequence[str]] = {
    "hsa": ("unfair",),
    "obe": ("unfair",),
    "hsa+obe": ("unfair", "hsa", "obe"),
    "lobe": ("unfair", "hsa", "obe", "hsa+obe"),
    "fair": ("unfair", "hsa", "obe", "hsa+obe", "lobe"),
}
"""The models that promise less than each."""


def _least(names: Sequence[str]) -> list[str]:
    return [name.upper() if name != "fair" else "fair scheduling" for name in names
            if not set(_WEAKER.get(name, ())) & set(names)]  # fmt: skip
