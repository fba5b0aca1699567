"""Repairs of kernels: the cheapest changes after which nothing races and what is expected holds, at the source lines.

What is left of a kernel and a launch (``corpus.code.program``) is repaired as litmus tests are. An instruction of the
code stands in the code of many threads, and more than once where a loop was unrolled; all these places change as one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from constraints.repairs import Cut
from constraints.witnesses import ExecutionSearch
from corpus.awaited import awaiting
from corpus.code.ir import KernelInstruction
from corpus.code.program import KernelProgram
from corpus.code.refusals import NotUnderstoodError
from corpus.code.registry import format_of
from corpus.code.residual import Residual
from corpus.errors import InputError
from corpus.executions.execution import OpKind
from corpus.files import read_text
from corpus.litmus.instructions import (
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Fence,
    Label,
    Load,
    Rmw,
    Store,
)
from corpus.litmus.locations import NOWHERE
from corpus.litmus.propositions import Or
from oracle.cat.interpreter import Model
from oracle.executions.steps import TooManyError
from synth.checking.account import named, noted, source_lines
from synth.checking.findings import Origins, is_creation
from synth.checking.lines import own_place, place_text, short
from synth.checking.naming import execution_in_source_words
from synth.checking.questions import expected_always, flagging, speaking, wrong
from synth.checking.rows import names_row
from synth.checking.tasks import KernelTask
from synth.memory.explanation import (
    ExecutionForm,
    check_place,
    event_names,
    execution_lines,
    execution_record,
    path_text,
    violation_record,
)
from synth.repair.costs import read_costs
from synth.repair.fixing import Fixed, Fixing, RepairChange, RepairQuestion, model_named
from synth.repair.rewriting import OrderedCall, instead, ordered_call
from synth.repair.sites import Direction, SiteModes, SitePlace, Sites
from synth.repair.spelling import CPP, CUDA, C, SourceWords, noun, order_word


@dataclass(frozen=True, slots=True)
class KernelRepairRequest:
    """The request for repairs of every kernel, in the words of the command (``synth.repair.work.RepairRequest``).

    No ``model`` and no ``cost`` are those of the language of a kernel.
    """

    model: str
    weaken: bool
    allowed: tuple[str, ...]
    cost: str
    every: bool
    unroll: int


@dataclass(frozen=True, slots=True)
class RepairedKernel:
    """The repairs of a kernel with a launch, as lines and as plain data; ``repaired``: there is one, or no need.

    ``problem`` says why there is no answer.
    """

    repaired: bool
    lines: tuple[str, ...]
    record: dict[str, Any]
    problem: str = ""


def repaired_kernel(task: KernelTask, request: KernelRepairRequest) -> RepairedKernel:
    """Return the repairs of a kernel, the cheapest first.

    Raises ``InputError`` where the model or the costs cannot be read.
    """
    file, kernel, launch = task.names
    with awaiting(named(short(file), kernel, launch)):
        return _repaired(task, request)


def _repaired(task: KernelTask, request: KernelRepairRequest) -> RepairedKernel:
    words = C if task.file.language.control.grows else CUDA
    request = replace(request, model=request.model or task.file.model, cost=request.cost or words.costs)
    model = _model(request.model)
    try:
        programs = task.programs(model, request.unroll)
        if programs[0].mixed:
            return unrepaired(task, request, "accesses overlap and are not of one place and size")
        request = replace(request, model=speaking(request.model, programs[0]))
        model = _model(request.model)
        if any(map(partial(_leaves, model, request.unroll), programs)):
            return unrepaired(task, request, "an access may be outside of its array, which no change here repairs")
        try:
            found = find_repairs(task, request, programs, request.allowed)
        except TooManyError:
            others = tuple(word for word in request.allowed if word != "fences")
            if len(others) in (0, len(request.allowed)):
                raise
            found = replace(find_repairs(task, request, programs, others), unfenced=True)
    except (NotUnderstoodError, TooManyError) as error:
        return unrepaired(task, request, str(error) if isinstance(error, InputError) else error.message)
    return _account(task, request, found)


def _model(name: str) -> Model:
    """Return the model, with its data races flagged where it has them. Raises ``InputError`` where there is none."""
    plain = model_named(name)
    return flagging(name) or plain


def _leaves(model: Model, unroll: int, program: KernelProgram) -> bool:
    """Return whether an access may be outside of its array, or of memory that is no more."""
    released = {(thread, place) for thread, code in enumerate(program.code) for place, residual in enumerate(code)
                if residual.access is not None and residual.access.released}  # fmt: skip
    outside = {*program.locations.outside, *((NOWHERE,) if program.grows else ())}
    if not outside and not released:
        return False
    search = ExecutionSearch(program.test, model, unroll)
    used = search.after(lambda event: (event.thread, event.position) in released, partial(is_creation, program))
    return any(search.find([question]) is not None for question in (search.accesses(outside), used))


@dataclass(frozen=True, slots=True)
class FoundRepairs:
    """Repairs of a program, cheapest first, and where the instructions come from when all sites have one.

    ``complete``: they hold beyond the rounds of loops that were followed; ``unfenced``: new fences were not tried.
    ``kept`` says which accesses were not changed, as their orders have names of their own.
    """

    program: KernelProgram
    repairs: tuple[Fixed, ...]
    origins: Origins
    complete: bool
    unfenced: bool = False
    words: SourceWords = CUDA
    kept: tuple[str, ...] = ()


def find_repairs(
    task: KernelTask, request: KernelRepairRequest, programs: Sequence[KernelProgram], allowed: Sequence[str]
) -> FoundRepairs:
    """Return the repairs of what is left of a kernel, by changes of these kinds. Raises ``TooManyError``."""
    model = _model(request.model)
    direction = Direction.WEAKER if request.weaken else Direction.STRONGER
    programs = [_ending(program) for program in programs]
    program = programs[0]
    tests = [wrong(program, task.expected(program)) for program in programs]
    outcome = any(test.condition.proposition != Or(()) for test in tests)
    question = RepairQuestion(model, request.unroll, outcome, bool(model.flags))
    words = source_words(program)
    dialect = words.dialect(tests, task.launch.cluster != (1, 1, 1))
    costs = read_costs(request.cost)
    with Fixing(tests, dialect, question, costs, direction, allowed, partial(_tied, program)) as fixing:
        repairs = tuple(itertools.islice(fixing, None if request.every else 1))
        origins, complete = _padded(program, fixing.places[0]), fixing.complete
    form = format_of(task.file.path)
    words = CPP if words is C and form is not None and form.compiler == "cpp" else words
    return FoundRepairs(program, repairs, origins, complete, words=words, kept=tuple(_unchanged(program)))


def _ending(program: KernelProgram) -> KernelProgram:
    """Return a program whose threads have a label at their end, where a barrier may be put."""
    threads = (replace(thread, instructions=(*thread.instructions, Label("BEHIND"))) for thread in program.test.threads)
    test = replace(program.test, threads=tuple(threads))
    return replace(program, test=test, code=tuple((*code, Residual(Label("BEHIND"), None)) for code in program.code))


def _account(task: KernelTask, request: KernelRepairRequest, found: FoundRepairs) -> RepairedKernel:
    lines = list(_lines(f"{named(*task.names)} under {request.model}:", found, request, _right(task, request, found)))
    lines += [f"  {kept}" for kept in found.kept]
    if found.unfenced:
        lines += ["  New fences were not tried: there are too many places for them."]
    if not found.complete:
        lines += [f"  Loops were followed for {request.unroll} jumps back; --unroll looks further."]
    lines += [f"  assumed: {note}" for note in found.program.assumed]
    return RepairedKernel(bool(found.repairs), tuple(lines), _record(task, request, found))


def _right(task: KernelTask, request: KernelRepairRequest, found: FoundRepairs) -> str:
    """Return what was asked of the kernel and holds."""
    expected = task.expectation and expected_always(found.program, task.expected(found.program))
    parts = [
        "no race" if flagging(request.model) else f"{request.model} does not say what a race is",
        *(["no trap"] if found.program.marks.stops else []),
        *([f"{task.expectation} holds"] if expected else []),
    ]
    left_out = "; that something is possible (exists) is not asked here" if task.expectation and not expected else ""
    return f"{', '.join(parts[:-1])}, and {parts[-1]}{left_out}" if len(parts) > 1 else f"{parts[0]}{left_out}"


def unrepaired(task: KernelTask, request: KernelRepairRequest, problem: str) -> RepairedKernel:
    """Return that nothing is known of the repairs of a kernel, and why."""
    record = {**names_row(*task.names, request.model), "problem": problem}
    return RepairedKernel(False, (f"{named(*task.names)} under {request.model}: UNKNOWN, {problem}",), record, problem)


# Sites


_Ordered = Load | Store | Rmw | Fence


def _tied(program: KernelProgram, sites: Sites) -> Sites:
    """Return sites that change as one where they are one instruction of PTX, or one gap between two."""
    groups: dict[object, list[SiteModes]] = {}
    for choice in sites.choices:
        if _may_change(program, choice):
            keys = frozenset(_key(program, choice.kind, place) for place in choice.places)
            groups.setdefault((choice.kind, choice.modes, keys), []).append(choice)
    return replace(sites, choices=tuple(_merged(program, group) for group in groups.values()))


def _merged(program: KernelProgram, group: Sequence[SiteModes]) -> SiteModes:
    """Return sites as one, whose levels cost what they cost in one line of the source. What is put between the accesses
    of one line costs one more: a line end is the better place.
    """
    first = group[0]
    inside = first.in_gaps and any(_is_inside_line(program, place) for place in first.places)
    costs = tuple(cost // len(first.places) + (inside and cost > 0) for cost in first.ladder.costs)
    if first.in_gaps and first.kind is OpKind.BARRIER:  # a block meets once, wherever in a gap
        group = tuple({frozenset(place.thread for place in site.places): site for site in reversed(group)}.values())
    places = tuple(sorted({place for site in group for place in site.places}))
    return replace(first, places=places, ladder=replace(first.ladder, costs=costs))


def source_words(program: KernelProgram) -> SourceWords:
    """Return the words of the language that a program is of."""
    return C if program.grows else CUDA


def _may_change(program: KernelProgram, choice: SiteModes) -> bool:
    """Return whether a site is one of the source: what votes and the like leave stays, and so does a vector whole. A
    barrier goes to one place of the text, which all threads come to.
    """
    around = [_around(program, place) for place in choice.places]
    if choice.kind is OpKind.BARRIER and program.grows:
        return False
    if choice.in_gaps and choice.kind is OpKind.BARRIER:
        last, then = _gap(around)
        return last is None or then is None or (last.line < then.line and _own_line(last) <= _own_line(then))
    for place, (first, here) in zip(choice.places, around, strict=True):
        ins = program.test.threads[place.thread].instructions[place.position]
        asks = place.gap and isinstance(ins, AsyncOperation | AsyncGroup)
        if here is None or (place.gap and first is here) or not (asks or isinstance(ins, _Ordered | Barrier)):
            return False
        meets = here.name in ("bar", "barrier") and "red" not in here.words
        if not (meets if isinstance(ins, Barrier) else source_words(program).noun_of(here)):
            return False
        if not place.gap and written_at(here).problem:
            return False
    return True


def _gap(
    around: Sequence[tuple[KernelInstruction | None, KernelInstruction | None]],
) -> tuple[KernelInstruction | None, KernelInstruction | None]:
    """Return the last instruction before a gap of several threads, and the first one behind it."""
    before, behind = ([ins for ins in side if ins] for side in zip(*around, strict=True))
    return max(before, key=_own_line, default=None), min(behind, key=_own_line, default=None)


def _is_inside_line(program: KernelProgram, place: SitePlace) -> bool:
    """Return whether a gap is between two accesses of one line of the source."""
    before, behind = _around(program, place)
    return bool(before and behind and before.source and behind.source and _own_line(before)[0] == _own_line(behind)[0])


def _own_line(ins: KernelInstruction) -> tuple[int, int]:
    """Return the line of the kernel, and that of the PTX."""
    return (ins.source.chain[-1].line if ins.source else 0), ins.line


def _around(program: KernelProgram, place: SitePlace) -> tuple[KernelInstruction | None, KernelInstruction | None]:
    """Return the instructions of PTX whose accesses are right before a place, and at it or behind it."""
    code = program.test.threads[place.thread].instructions
    accesses = [
        (number, origin) for number, origin in enumerate(program.origins[place.thread])
        if isinstance(code[number], _Ordered | Barrier | AsyncOperation | AsyncGroup)
    ]  # fmt: skip
    before = [origin for number, origin in accesses if number < place.position]
    behind = (origin for number, origin in accesses if number >= place.position)
    return (before[-1] if before else None), next(behind, None)


def _padded(program: KernelProgram, sites: Sites) -> Origins:
    """Return where the instructions of a program come from, with something at each of its sites."""
    gaps = Counter(place for choice in sites.choices for place in choice.places if place.gap)
    return [
        [
            element
            for index, origin in enumerate(code)
            for element in (*[None] * gaps[SitePlace(thread, index, True)], origin)
        ]
        for thread, code in enumerate(program.origins)
    ]


def _key(program: KernelProgram, kind: OpKind, place: SitePlace) -> object:
    before, here = _around(program, place)
    return (before and _line(before) if kind is OpKind.BARRIER else None, here and _line(here), place.gap)


def _line(origin: KernelInstruction) -> object:
    """Return what is one for instructions of one line of the source, as where a compiler has unrolled a loop."""
    return (origin.source.chain, origin.opcode) if origin.source else origin.line


# Words


@cache
def _lines_of(path: str) -> tuple[str, ...]:
    """Return the lines of a source, none where it cannot be read."""
    try:
        return tuple(read_text(Path(path)).splitlines())
    except InputError:
        return ()


def written_at(ins: KernelInstruction) -> OrderedCall:
    """Return how the access of an atomic object is written that an instruction of the C++ library's is; nothing of
    another instruction.
    """
    if ins.name != "call" or ins.source is None:
        return OrderedCall()
    return ordered_call(_lines_of(ins.source.file), ins.source.line, ins.source.column)


def _unchanged(program: KernelProgram) -> Iterator[str]:
    """Yield what is said of accesses whose orders are not given at their places."""
    every = (origin for code in program.origins for origin in code if origin is not None)
    for origin in dict.fromkeys(every):
        call = written_at(origin) if source_words(program).noun_of(origin) else OrderedCall()
        if call.problem:
            yield f"{place_text(origin)}: this {source_words(program).noun_of(origin)} is not changed: {call.problem}"


def change_text(program: KernelProgram, change: RepairChange, words: SourceWords, kept: bool = False) -> str:
    """Return a change in the words of its language, at its source lines: ``kernel.cu:37: make this store release at gpu
    scope (cuda::memory_order_release, cuda::thread_scope_device)``.
    """
    site, mode = change.site, change.mode
    origins = list(dict.fromkeys(program.origins[place.thread][place.position] for place in site.places))
    where = ", ".join(dict.fromkeys(place_text(origin) for origin in origins if origin is not None))
    what = noun(site)
    if mode is None:
        return f"{where}: this {what} is not needed"
    if site.kind is OpKind.BARRIER and kept:
        return f"{where}: this barrier is needed"
    if site.kind is OpKind.BARRIER:
        last, then = _gap([_around(program, place) for place in site.places])
        between = f"between {own_place(last) if last else 'the beginning'} and {own_place(then) if then else 'the end'}"
        return f"{between}: let all threads of the block meet (__syncthreads())"
    here = words.noun_of(origins[0]) or "barrier" if origins[0] is not None else "access"
    if site.in_gaps:
        return f"{where}: put a fence {words.described(mode)} before this {here} ({words.spelled(site.kind, mode)})"
    if kept:
        return f"{where}: this {what} stays {words.described(mode)}"
    calls = [written_at(origin) for origin in origins if origin is not None]
    order = order_word(mode)
    new = [call.with_order(order) if call.line else instead(call.member, order) for call in calls if call.member]
    spelled = ", ".join(dict.fromkeys(new)).removeprefix(", ") or words.spelled(site.kind, mode)
    return f"{where}: make this {what} {words.described(mode)} ({spelled})"


def _lines(head: str, found: FoundRepairs, request: KernelRepairRequest, right: str) -> Iterator[str]:
    if not found.repairs and request.weaken:
        yield f"{head} it races or fails as it is, so nothing is made weaker; without --weaken it is repaired"
        return
    if not found.repairs:
        yield f"{head} no repair: no allowed change of orders, scopes, fences and barriers does it"
        return
    word = "weakened by" if request.weaken else "repaired by"
    for number, fixed in enumerate(found.repairs, 1):
        count = f"{len(fixed.changes)} change{'s' * (len(fixed.changes) != 1)}"
        summary = f"{word} {count}, cost {fixed.cost}; nothing cheaper does it"
        nothing = "nothing can be weaker" if request.weaken else f"nothing to change: {right}"
        summary = summary if fixed.changes else nothing
        yield from [f"{head} {summary}"] if number == 1 else ["", f"repair {number}, cost {fixed.cost}"]
        for change in fixed.changes:
            yield f"  {change_text(found.program, change, found.words)}"
            if change.cut is not None and not request.every:
                yield from (f"    {line}".rstrip() for line in _reason(found, change.cut))
        for kept in fixed.kept:
            yield f"  kept: {change_text(found.program, kept, found.words, kept=True)}"


def _reason(found: FoundRepairs, cut: Cut) -> Iterator[str]:
    """Yield why a change is needed: an execution without it, and the cycle that it closes there."""
    if cut.after is not None and cut.after.edges:
        names = event_names(cut.after.execution.events)
        yield f"cuts {path_text(cut.after.steps, names)}  ({cut.after.check.name}, {check_place(cut.after.check)})"
    elif cut.flags:
        yield f"without it: {', '.join(cut.flags)}"
    before = execution_in_source_words(cut.before, found.program)
    yield from execution_lines(before, ExecutionForm(noted(found.origins, cut.before)))


def _record(task: KernelTask, request: KernelRepairRequest, found: FoundRepairs) -> dict[str, Any]:
    program = found.program

    def changes(every: Sequence[RepairChange], kept: bool) -> list[dict[str, Any]]:
        return [
            {
                "change": change_text(program, change, found.words, kept),
                "lines": [line for origin in _origins(program, change) for line in source_lines(origin)],
                **_edits(program, change, kept),
                "without": change.cut and execution_record(change.cut.before),
                "flags": list(change.cut.flags) if change.cut else [],
                "cut": change.cut and change.cut.after and violation_record(change.cut.after),
            }
            for change in every
        ]

    repairs = [
        {"cost": fixed.cost, "changes": changes(fixed.changes, False), "kept": changes(fixed.kept, True)}
        for fixed in found.repairs
    ]
    whole = {"complete": found.complete, "fences": not found.unfenced}
    kept = {"unchanged": list(found.kept)} if found.kept else {}
    return {
        **names_row(*task.names, request.model),
        "repairs": repairs,
        **whole,
        **kept,
        "assumed": list(program.assumed),
    }


def _edits(program: KernelProgram, change: RepairChange, kept: bool) -> dict[str, Any]:
    """Return what is to stand where in the source, of orders of C++ that are written there."""
    mode = change.mode
    if kept or mode is None or change.site.in_gaps:
        return {}
    found = []
    for origin in _origins(program, change):
        call = written_at(origin)
        if call.line and origin.source is not None:
            place = {"file": origin.source.file, "line": call.line, "column": call.column}
            found.append({**place, "old": call.old, "new": call.with_order(order_word(mode))})
    return {"edits": found} if found else {}


def _origins(program: KernelProgram, change: RepairChange) -> list[KernelInstruction]:
    found = (program.origins[place.thread][place.position] for place in change.site.places)
    return list(dict.fromkeys(origin for origin in found if origin is not None))
