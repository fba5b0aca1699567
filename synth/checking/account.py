"""Answers about kernels as text, as SARIF and as test cases; ``synth.checking.rows`` has them as plain data."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from corpus.code.ir import KernelInstruction, SourceLine
from corpus.code.passes.removed import RemovedAccess
from corpus.code.program import KernelProgram
from corpus.errors import visible
from oracle.executions.events import INITIAL
from oracle.executions.witness import CandidateExecution
from oracle.progress.models import Verdict
from synth import VERSION
from synth.checking.findings import KernelFinding, Origins, origin_of, thread_names
from synth.checking.lines import line_text, own_place, place_text, short
from synth.checking.questions import QUESTIONS, CheckAnswer, KernelAnswers, needed
from synth.junit import Case, CaseOutcome
from synth.memory.explanation import ExecutionForm, execution_lines, execution_record

if TYPE_CHECKING:
    from synth.drawing.pictures import Drawing


@dataclass(frozen=True)
class CheckedKernel:
    """A kernel of a file with its launch under a model: the answers, as lines to read and as data, and the findings; or
    why there are none. Where the file cannot be read, it stands for the file, and names no kernel.

    What it holds can go from one process to another, which executions cannot. ``answer`` is the worst answer, ``kinds``
    are the kinds of what is found, or else the questions without an answer, or else those that are not asked.
    ``answers`` are by question, ``hang`` has the verdicts of progress models, and ``assumed`` what the answers rest on.
    ``bounded``: loops were followed for so many jumps back, and more may be found beyond. ``reasons`` say why questions
    have no answer. ``removed`` are accesses that the compiled code has not, None where that is not known. ``seconds``
    are wall time.
    """

    file: str
    kernel: str
    launch: str
    model: str
    answer: CheckAnswer
    kinds: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    answers: Mapping[str, CheckAnswer] = field(default_factory=dict)
    hang: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    problem: str = ""
    drawing: Drawing | None = None
    bounded: int | None = None
    reasons: tuple[str, ...] = ()
    removed: tuple[RemovedAccess, ...] | None = None
    seconds: float | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The kernel with its file and launch."""
        return named(self.file, self.kernel, self.launch)

    @property
    def needs(self) -> str:
        """The progress that the kernel needs to end; empty where there is no answer."""
        return needed(self.hang) if self.answers and not self.problem else ""

    @property
    def unknown(self) -> str:
        """Why there is no answer, or why some questions have none; empty where all have one."""
        return self.problem or "; ".join(self.reasons)

    @property
    def words(self) -> str:
        """The answer in words: ``FOUND race, hang``, ``SAFE (unroll 2)``."""
        bounded = "" if self.bounded is None else f" (unroll {self.bounded})"
        return answer_words(self.answer, self.kinds) + bounded


def named(file: str, kernel: str, launch: str) -> str:
    """Return what a kernel of a file with a launch is called; the file alone where it names no kernel."""
    return ", ".join(filter(None, (f"{file}: {kernel}" if kernel else file, launch)))


def answer_words(answer: CheckAnswer, kinds: Sequence[str]) -> str:
    """Return an answer with the kinds of what is found or not known, or are not asked where all others are safe."""
    if answer is CheckAnswer.SAFE and kinds:
        return f"{answer}, {', '.join(kinds)} not asked"
    return f"{answer} {', '.join(kinds)}".rstrip()


class FindingRow(NamedTuple):
    """A finding: its kind, what it is in a line, the source lines, and all of it as plain data."""

    kind: str
    text: str
    lines: tuple[SourceLine, ...]
    row: Mapping[str, Any]


def checked_kernel(
    file: str,
    kernel: str,
    launch: str,
    found: KernelAnswers,
    removed: Sequence[RemovedAccess] | str = (),
    drawn: bool = False,
    verbose: bool = False,
) -> CheckedKernel:
    """Return the answers about a kernel and a launch as told, with pictures where they are to be ``drawn``. ``removed``
    are accesses that the compiled code has not, or why that is not known. ``verbose``: with all relations.
    """
    known = None if isinstance(removed, str) else tuple(removed)
    if isinstance(removed, str):
        assumed = (*found.program.assumed, f"the compiler has removed no access, which is not known: {removed}")
        found = replace(found, program=replace(found.program, assumed=assumed))
    findings = tuple(
        FindingRow(finding.kind, finding.text, finding.lines, _finding(finding.program or found.program, finding))
        for finding in found.findings
    )
    name = named(file, kernel, launch)
    answer, kinds = worst(found)
    return CheckedKernel(
        file,
        kernel,
        launch,
        found.model,
        answer,
        kinds,
        (*_lines(name, found, verbose), *_removed_lines(known or ())),
        dict(found.answers),
        dict(found.hang),
        tuple(found.program.assumed),
        findings,
        drawing=_drawing(name, found) if drawn else None,
        bounded=found.unroll if found.bounded else None,
        reasons=tuple(dict.fromkeys(found.reasons)),
        removed=known,
    )


def _removed_lines(removed: Sequence[RemovedAccess]) -> Iterator[str]:
    """Yield what is said of accesses that the compiled code has not."""
    if removed:
        every = ", ".join(f"the {part.kind} of {line_text(part.source)}" for part in removed)
        them = "it" if len(removed) == 1 else "them"
        yield f"  removed by the compiler: the compiled code has not {every}; --as-written judges {them}"


def removed_lines(removed: Iterable[RemovedAccess]) -> list[str]:
    """Return the lines of accesses that the compiled code has not, each once: ``kernel.cu:3``."""
    return list(dict.fromkeys(line_text(part.source) for part in removed))


def worst(found: KernelAnswers) -> tuple[CheckAnswer, tuple[str, ...]]:
    """Return the worst answer about a kernel and a launch, with the kinds of what is found, else of what is not known,
    else of what is not asked.
    """
    wrong = [name for name, answer in found.answers.items() if answer is CheckAnswer.FOUND]
    hangs = [finding.kind for finding in found.findings if finding.kind == "hang"]
    unknown, unasked = (
        tuple(name for name, answer in found.answers.items() if answer is kind)
        for kind in (CheckAnswer.UNKNOWN, CheckAnswer.NOT_ASKED)
    )
    if kinds := tuple(dict.fromkeys((*wrong, *hangs))):
        return CheckAnswer.FOUND, kinds
    return (CheckAnswer.UNKNOWN, unknown) if unknown else (CheckAnswer.SAFE, unasked)


def _drawing(name: str, found: KernelAnswers) -> Drawing | None:
    """Draw the executions that show what is found, with source lines; None where none does."""
    from synth.drawing.execution import NotedExecution, draw_noted  # imported only for pictures

    every = [(finding.program or found.program, finding) for finding in found.findings if finding.execution is not None]
    shown = [
        NotedExecution(
            reported.execution, reported.text, frozenset(reported.events), noted(program.origins, reported.execution)
        )
        for program, reported in every
        if reported.execution is not None and program.test == every[0][0].test
    ]
    return draw_noted(f"{name} under {found.model}", every[0][0].test, shown) if shown else None


def unanswered(
    file: str, kernel: str, launch: str, model: str, problem: str, answer: CheckAnswer = CheckAnswer.NOT_UNDERSTOOD
) -> CheckedKernel:
    """Return that there are no answers, and why: the kernel is not understood, a limit was met (``UNKNOWN``), or the
    file or the question is wrong (``ERROR``), which is told on standard error.
    """
    answers = dict.fromkeys((*QUESTIONS, "hang"), answer)
    lines = () if answer is CheckAnswer.ERROR else (f"{named(file, kernel, launch)}: {answer}: {problem}",)
    return CheckedKernel(file, kernel, launch, model, answer, (), lines, answers, problem=problem)


def own_lines(findings: Iterable[FindingRow]) -> list[str]:
    """Return the lines of the kernel itself that findings are at, or are inlined into, each once: ``kernel.cu:3``."""
    return list(dict.fromkeys(line_text(line.chain[-1]) for finding in findings for line in finding.lines))


def source_lines(ins: KernelInstruction) -> list[dict[str, Any]]:
    """Return the source lines of an instruction as plain data, from the innermost outwards."""
    chain = ins.source.chain if ins.source else ()
    return list(map(line_row, chain))


def line_row(line: SourceLine) -> dict[str, Any]:
    """Return a source line as plain data."""
    return {"file": line.file, "line": line.line, "column": line.column}


def noted(origins: Origins, execution: CandidateExecution) -> dict[int, str]:
    """Return the source line of each event of an execution that has one, in the kernel itself: ``kernel.cu:3``."""
    found = ((number, origin_of(origins, event)) for number, event in enumerate(execution.events))
    return {number: own_place(origin) for number, origin in found if origin is not None and origin.source is not None}


_WIDTH = 76
"""The columns that an execution has beside its margin, on a screen of 80."""


def _lines(name: str, found: KernelAnswers, verbose: bool) -> Iterator[str]:
    """Yield the account of one kernel and launch; ``verbose``: with all relations, and each model of progress."""
    bounded = f", loops followed for {found.unroll} jumps back" if found.bounded else ""
    yield f"{name}: {answer_words(*worst(found))} under {found.model}{bounded}"
    if found.hang:
        yield f"  progress: {_progress_words(found.hang, verbose)}"
    for finding in found.findings:
        yield f"  {finding.kind}: {finding.text}"
        for place in finding.places:
            yield f"    {place_text(place)}: {place.called}"
        if finding.execution is not None:
            program = finding.program or found.program
            notes, heads = noted(program.origins, finding.execution), thread_names(program)
            threads = _who(finding, finding.execution)
            brief = ExecutionForm(_short(notes), heads, relations=False, width=_WIDTH, threads=threads)
            form = ExecutionForm(notes, heads) if verbose else brief
            yield from (f"    {line}".rstrip() for line in execution_lines(finding.execution, form))
            if not verbose and (others := len(heads) - len(threads)):
                yield f"      and {others} other thread{'s' * (others > 1)}; -v shows all"
    for assumed in found.program.assumed:
        yield f"  assumed: {assumed}"
    for reason in dict.fromkeys(found.reasons):
        yield f"  no answer: {reason}"


def _who(finding: KernelFinding, execution: CandidateExecution) -> frozenset[int]:
    """Return the threads that a finding is of, with those whose writes they read; all where that is not known."""
    events = execution.events
    own = {events[number].thread for number in finding.events if events[number].thread != INITIAL}
    if not own:
        return frozenset(range(len(execution.base.places)))
    read = {events[one].thread for one, other in execution.pairs("rf") if events[other].thread in own}
    return frozenset(own | read - {INITIAL})


def _short(notes: Mapping[int, str]) -> dict[int, str]:
    """Return source lines without the name of the file, where it is one, which the places of a finding have."""
    files = {note.partition(":")[0] for note in notes.values()}
    return {event: note.removeprefix(*files) if len(files) == 1 else note for event, note in notes.items()}


def _progress_words(hang: Mapping[str, str], verbose: bool) -> str:
    """Return under which progress a kernel ends: ``terminates under every progress model``."""
    wanted = needed(hang)
    if verbose:
        verdicts = ", ".join(f"{name} {verdict.lower().replace('_', ' ')}" for name, verdict in hang.items())
        return f"{wanted} ({verdicts})"
    if set(hang.values()) == {Verdict.TERMINATES}:
        return "terminates under every progress model"
    hanging = [name for name, verdict in hang.items() if verdict == Verdict.MAY_HANG]
    return f"{wanted}; may hang under {', '.join(hanging)}" if hanging else wanted


def _finding(program: KernelProgram, finding: KernelFinding) -> dict[str, Any]:
    witness = None
    if finding.execution is not None:
        witness = execution_record(finding.execution)
        notes = noted(program.origins, finding.execution)
        witness["events"] = [event | {"line": notes.get(n)} for n, event in enumerate(witness["events"])]
    return {
        "kind": finding.kind,
        "text": finding.text,
        "lines": [line for place in finding.places for line in source_lines(place)],
        "places": [
            {
                "opcode": place.called,
                ("spirv_place" if place.text else "ptx_line"): place.line,
                "lines": source_lines(place),
            }
            for place in finding.places
        ],
        "witness": witness,
    }


RULES = {
    "race": "Two accesses race: they conflict, are not morally strong, and nothing orders them.",
    "expectation": "The final state may be another one than was expected.",
    "barrier": "A thread waits for ever at a barrier that not all threads reach.",
    "bounds": "An access is outside of its array.",
    "trap": "A thread may come to a trap, or an assertion may fail.",
    "uninitialised": "Shared memory is read before anybody has written it.",
    "leak": "Memory is asked for and never given back.",
    "mixed-size": "Accesses overlap that are not of one place and size, which PTX leaves undefined.",
    "hang": "The kernel may run for ever under the progress that is assumed.",
    "not-understood": "The kernel has an instruction that is not understood.",
    "unknown": "A limit was met before there was an answer.",
    "error": "The file cannot be read or compiled, or the question cannot be asked of it.",
}
"""The rules of SARIF: the kinds of findings."""


def sarif(every: Iterable[CheckedKernel]) -> str:
    """Return the findings as SARIF 2.1.0, which code scanning reads."""
    results, notes = [], []
    for checked in every:
        whole = _location(checked.file, 1, 1)
        if checked.problem:
            rule = checked.answer.lower().replace(" ", "-")
            results.append(_result(rule, f"{checked.name}: {checked.problem}", [whole]))
            continue
        for finding in checked.findings:
            own = [_in_file(line, checked.file) for line in finding.lines]
            first, *related = [_location(line.file, line.line, line.column) for line in (*own, *finding.lines)] or [
                whole
            ]
            text = f"{named('', checked.kernel, checked.launch).removeprefix(': ')}: {finding.text}"
            related = [
                location for n, location in enumerate(related) if location != first and location not in related[:n]
            ]
            results.append(_result(finding.kind, text, [first], related))
        removals = (f"{checked.name}: {line.strip()}" for line in _removed_lines(checked.removed or ()))
        notes += [{"level": "note", "message": {"text": text}} for text in removals]
        reasons = [f"{checked.name}: {reason}" for reason in checked.reasons]
        if checked.answer is CheckAnswer.UNKNOWN:
            results += [_result("unknown", reason, [whole]) for reason in reasons]
        else:  # something is found, or what has no answer was not asked for
            notes += [{"level": "note", "message": {"text": reason}} for reason in reasons]
    driver = {
        "name": "synth check",
        "version": VERSION,
        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()],
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results, **_invocation(notes)}],
    }
    return visible(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _invocation(notes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the property of a run that says what is not known besides (SARIF 2.1.0, 3.20.21)."""
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": list(notes)}
    return {"invocations": [invocation]} if notes else {}


def _in_file(line: SourceLine, file: str) -> SourceLine:
    """Return the line of a file into which a line was inlined; the outermost line where none is of that file."""
    return next((line_part for line_part in line.chain if short(line_part.file) == short(file)), line.chain[-1])


def _location(path: str, line: int, column: int) -> dict[str, Any]:
    region = {"startLine": max(1, line), "startColumn": max(1, column)}
    uri = quote(os.fsencode(Path(path).as_posix()))
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}


def _result(
    rule: str, text: str, locations: Sequence[dict[str, Any]], related: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    level = "warning" if rule in ("not-understood", "unknown") else "error"
    found = {"ruleId": rule, "level": level, "message": {"text": text}, "locations": list(locations)}
    return found | ({"relatedLocations": list(related)} if related else {})


def cases(every: Iterable[CheckedKernel]) -> list[Case]:
    """Return the kernels and launches as test cases."""
    found = []
    for checked in every:
        if checked.findings:
            text = "; ".join((*(finding.text for finding in checked.findings), *checked.reasons))
            found.append(Case(checked.name, CaseOutcome.FAILURE, text))
        elif checked.answer is not CheckAnswer.SAFE:
            found.append(Case(checked.name, CaseOutcome.ERROR, checked.unknown))
        else:
            found.append(Case(checked.name, message=checked.unknown))
    return found
