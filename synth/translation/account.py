"""Accounts of judged translations: as text with the execution that is added, as rows of tables, and as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from corpus.errors import InputError
from corpus.litmus.condition import spell
from corpus.litmus.propositions import Term
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel, OperationalModel
from oracle.executions.bounds import UNROLL
from oracle.executions.witness import CandidateExecution
from synth.memory.bugs import by_execution
from synth.memory.explanation import explanation_account, program_lines, run_account
from synth.memory.judging import explain_with
from synth.translation.compiled import REFUSED, CheckedTranslation
from synth.translation.judging import (
    JudgedTranslation,
    TranslationVerdict,
    asking_for,
    common_terms,
    outcome_text,
)

Models = tuple[ConsistencyModel, ConsistencyModel]

MOST_SHOWN = 3
"""The added outcomes that a line shows."""

_MEANINGS: Mapping[TranslationVerdict, str] = {
    TranslationVerdict.SAME: "both have the same outcomes",
    TranslationVerdict.STRONGER: "some outcomes of the program before are gone, and none is added",
    TranslationVerdict.WEAKER: "the program after may do what the program before may not",
    TranslationVerdict.UNDEFINED: "the program before may do anything",
    TranslationVerdict.NOT_READ: "no verdict",
    TranslationVerdict.UNKNOWN: "no verdict",
}


def judged_record(judged: JudgedTranslation) -> dict[str, Any]:
    """Return a verdict as plain data."""
    return {
        "verdict": str(judged.verdict),
        "terms": [spell(term) for term in judged.terms],
        "before": judged.before,
        "after": judged.after,
        "added": [outcome_text(outcome) for outcome in judged.added],
        "lost": [outcome_text(outcome) for outcome in judged.lost],
        "provisional": judged.provisional,
        "reason": judged.reason,
    }


def checked_record(checked: CheckedTranslation) -> dict[str, Any]:
    """Return what came of a task as plain data, but for how long it took."""
    task = checked.task
    before, after = task.model_names
    record = {"test": task.name, "compiler": task.compiler.name, "level": task.level}
    models = {"before_model": before, "after_model": after}
    return record | models | (judged_record(checked.judged) if checked.judged else {"cannot_say": checked.reason})


def verdict_line(judged: JudgedTranslation) -> str:
    """Return a verdict in one line: what it means, how many outcomes there are, and the first that are added."""
    parts = [judged.reason or _MEANINGS[judged.verdict]]
    if judged.verdict is TranslationVerdict.WEAKER and judged.reason:
        parts = [f"the program after may do anything, {judged.reason}"]
    if judged.before is not None:
        parts.append(f"{judged.before} outcomes before, {judged.after} after")
    if judged.verdict in (TranslationVerdict.WEAKER, TranslationVerdict.UNDEFINED) and judged.added:
        more = "; .." if len(judged.added) > MOST_SHOWN else ""
        parts.append(f"added: {'; '.join(map(outcome_text, judged.added[:MOST_SHOWN]))}{more}")
    if judged.provisional:
        parts.append("as far as loops were followed")
    return f"{judged.verdict}: {'; '.join(parts)}"


def finding_lines(
    before: LitmusTest,
    after: LitmusTest,
    models: Models,
    judged: JudgedTranslation,
    unroll: int = UNROLL,
    names: Mapping[Term, Term] = MappingProxyType({}),
) -> Iterator[str]:
    """Yield why a translation is weaker: an execution of the program after with an outcome that is added, and why the
    program before has none.

    ``names``: what terms of the program after are called in the program before, where that is something else. Where the
    program after may do anything, only its code is shown.
    """
    if not judged.added:
        yield from ("", "The program after:", "", *program_lines(after, with_condition=False))
        return
    common, outcome = common_terms(before, after, names), judged.added[0]
    own = tuple((common[term], value) for term, value in outcome)
    sides = ((before, models[0], outcome), (after, models[1], own))
    lines: list[str] = []
    seen: CandidateExecution | None = None
    for side, (test, model, wanted) in reversed(list(zip(("before", "after"), sides, strict=True))):
        observing_test = asking_for(test, wanted)
        if isinstance(model, OperationalModel):
            account = run_account(observing_test, model, unroll)
        else:
            try:
                explanation = explain_with(observing_test, model.model, unroll)
            except InputError as error:
                lines[:0] = ["", f"{side}: {error.message}"]
                continue
            if seen is not None:
                explanation = by_execution(explanation, seen)
            seen = seen or explanation.witness
            account = explanation_account(explanation, unroll)
        lines[:0] = ["", f"The program {side}, {account.text().rstrip()}"]
    yield from "\n".join(lines).split("\n")


COUNTED = (*(str(verdict) for verdict in TranslationVerdict),)
HEADS = ("compiler", "level", "tests", *COUNTED, "not compiled", "seconds a test")
"""The heads of the table of compilers. Tests that are not compiled are among those that are not read."""


def table_rows(checked: Sequence[CheckedTranslation]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each compiler and level: how many tests it can say, and how many have each verdict."""
    groups: dict[tuple[str, str], list[CheckedTranslation]] = {}
    for translation in checked:
        groups.setdefault((translation.task.compiler.name, translation.task.level), []).append(translation)
    for (compiler, level), members in groups.items():
        judged = [member.judged for member in members if member.judged is not None]
        counts = Counter(translation.verdict for translation in judged)
        refused = sum(translation.reason.startswith(REFUSED) for translation in judged)
        took = sum(sum(member.seconds) for member in members if member.judged is not None)
        yield (
            compiler,
            level,
            str(len(judged)),
            *(str(counts[verdict]) for verdict in TranslationVerdict),
            str(refused),
            f"{took / len(judged):.2f}" if judged else "",
        )
