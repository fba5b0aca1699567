"""Bugs of mappings, explained. The source model forbids an outcome that the target model allows.

Both tests write equal values; the target has other fences. Where several executions of the source have the outcome, the
one is explained whose coherence order is most like that of the target's execution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from corpus.dialects.registry import parse_litmus
from corpus.test import Test
from oracle.executions.bounds import UNROLL
from oracle.executions.witness import CandidateExecution, MemoryExplanation, Violation
from synth.memory.explanation import explanation_account, explanation_record
from synth.memory.judging import explain_with
from synth.memory.translating import Checked, MappingBug


@dataclass(frozen=True)
class ExplainedBug:
    """A bug of a mapping, with why the source and the target model give their verdicts."""

    bug: MappingBug
    check: Checked

    @cached_property
    def explanations(self) -> tuple[MemoryExplanation, MemoryExplanation]:
        """Return why the source forbids the outcome, by one execution, and how the target allows it, by another."""
        source, target = (
            explain_with(parse_litmus(test.text, test.name), model, UNROLL)
            for test, model in zip((self.bug.source, self.bug.target), self.check.models, strict=True)
        )
        assert target.witness is not None  # the target allows the outcome
        return by_execution(source, target.witness), target

    def lines(self) -> Iterator[str]:
        """Yield the lines of both tests, each with its model's account."""
        for side, test, explanation in self._sides():
            yield from (side, "", test.text, explanation_account(explanation, UNROLL).text())

    def record(self) -> dict[str, Any]:
        """Return the bug, with both tests and their explanations, as plain data."""
        sides: dict[str, Any] = {}
        for side, test, explanation in self._sides():
            sides[side] = {"text": test.text, **explanation_record(test.name, explanation, UNROLL)}
            del sides[side]["file"]
        return {"name": self.bug.source.name, "events": self.bug.source.size, **sides}

    def _sides(self) -> Iterator[tuple[str, Test, MemoryExplanation]]:
        source, target = self.explanations
        yield "source", self.bug.source, source
        yield "target", self.bug.target, target


def by_execution(explanation: MemoryExplanation, witness: CandidateExecution) -> MemoryExplanation:
    """Return the explanation of a forbidden outcome with one violation alone.

    That violation is of the execution whose coherence order is most like that of ``witness``, an execution of another
    model. The explanation still says how many other executions there are.
    """
    if not explanation.violations:
        return explanation
    there = _coherence(witness)

    def alike(violation: Violation) -> int:
        return len(there & _coherence(violation.execution))

    return replace(explanation, violations=(max(explanation.violations, key=alike),))


def _coherence(execution: CandidateExecution) -> set[tuple[str, str]]:
    written = [f"{event.location}={value}" for event, value in zip(execution.events, execution.values, strict=True)]
    return {(written[one], written[other]) for one, other in execution.pairs("co")}
