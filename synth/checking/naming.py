"""Findings in the words of the source: ``ring.items[0]`` where the program that is left has ``ring[16]``, in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from corpus.code.program import KernelProgram
from corpus.litmus.instructions import Instruction
from corpus.litmus.locations import Loc, Location, Operand
from corpus.litmus.normal import map_operands
from corpus.litmus.propositions import Term
from oracle.executions.events import Event
from oracle.executions.values import Address, Value
from oracle.executions.witness import CandidateExecution
from synth.checking.findings import KernelFinding


def in_source_words(finding: KernelFinding, program: KernelProgram) -> KernelFinding:
    """Return a finding in whose execution locations have the names that the source has for them."""
    if finding.execution is None:
        return finding
    return replace(finding, execution=execution_in_source_words(finding.execution, program))


def execution_in_source_words(execution: CandidateExecution, program: KernelProgram) -> CandidateExecution:
    """Return an execution of a program in which locations have the names that the source has for them."""
    names = program.locations.called
    return _renamed(execution, names) if names else execution


def _renamed(execution: CandidateExecution, names: Mapping[str, str]) -> CandidateExecution:
    def operand(old: Operand) -> Operand:
        return Loc(names.get(old.name, old.name)) if isinstance(old, Loc) else old

    def value(old: Value | None) -> Value | None:
        if not isinstance(old, Address):
            return old
        raw = f"{old.location}[{old.offset}]" if old.offset else old.location
        return Address(names[raw]) if raw in names else old

    def term(old: Term) -> Term:
        return Loc(names.get(old.name, old.name)) if isinstance(old, Loc) else old

    def event(old: Event) -> Event:
        return replace(old, location=names.get(old.location or "", old.location), virtual=names.get(
            old.virtual or "", old.virtual))  # fmt: skip

    def instruction(old: Instruction) -> Instruction:
        return map_operands(old, operand)

    def location(old: Location) -> Location:
        initial = old.initial if isinstance(old.initial, int) else Loc(names.get(old.initial.name, old.initial.name))
        return replace(old, name=names.get(old.name, old.name), initial=initial)

    test = replace(
        execution.test,
        threads=tuple(replace(thread, instructions=tuple(map(instruction, thread.instructions)))
                      for thread in execution.test.threads),
        locations=tuple(map(location, execution.test.locations)),
    )  # fmt: skip
    finals = {term(key): found for key, old in execution.finals.items() if (found := value(old)) is not None}
    return CandidateExecution(
        test,
        replace(execution.base, events=tuple(map(event, execution.base.events))),
        tuple(map(value, execution.values)),
        finals,
    )
