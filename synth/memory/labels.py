"""The labels of litmus tests: what is asked about a file, and what its verdicts look like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from corpus.errors import InputError
from corpus.litmus.condition import spell
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import LitmusTest
from corpus.litmus.verdict_table import truth_text
from oracle.consistency import ConsistencyModel
from oracle.executions.judge import Judgement, unknown
from oracle.executions.values import Address, Value
from oracle.progress.models import ProgressModel, Verdict
from synth.inputs import Input
from synth.labels import UNKNOWN, Labels, LabelTask, ModelAnswer
from synth.memory.judging import judge_together, judge_with
from synth.memory.questions import questions
from synth.progress.labels import LEGEND, progress_head

PROGRESS_VERDICTS = (Verdict.TERMINATES, Verdict.MAY_HANG)
"""The verdicts of progress models, which no consistency model has."""


@dataclass(frozen=True, slots=True)
class LitmusLabelling:
    """The way in which litmus files are labelled: by which models and method, and what is told besides verdicts.

    ``models`` are as the user named them, ``names`` are their full names, of which the last ``progress`` are progress
    models and the ``liveness`` before these are pairs. Models travel to other processes by name. ``digests``: the
    labels have the digest of the test. ``counts``: they have counts, flags and outcomes.
    """

    models: tuple[str, ...]
    names: tuple[str, ...]
    liveness: int
    progress: int
    method: str
    unroll: int
    digests: bool = False
    counts: bool = True
    bell: str | None = None
    columns = ("verdict", "condition", "flags")

    @property
    def parts(self) -> Sequence[tuple[int, ...]]:
        """Return each consistency model or pair alone, so that a slow one does not cost the verdicts of the others.

        Progress models are asked at once, for they share the transition system.
        """
        numbers = tuple(range(len(self.names)))
        first = len(numbers) - self.progress
        together = (numbers[first:],) if self.progress else ()
        return (*((number,) for number in numbers[:first]), *together)

    def request(self) -> dict[str, object]:
        """Return the models with their digests, the method, and how far loops are followed."""
        return {"models": questions(self.models, self.bell).digests, "method": self.method, "unroll": self.unroll}

    def label(self, task: LabelTask) -> Labels:
        """Return the labels of some models, or why the file is no test, or no test to one of them."""
        try:
            test = _read(task.test)
            models = _questions(self.models, self.bell)
            first = task.models[0]
            if first < len(models.consistency):
                labels = [self._judged(test, models.consistency[first])]
            elif first < len(models.consistency) + len(models.liveness):
                from synth.memory.liveness import liveness_label

                pair = models.liveness[first - len(models.consistency)]
                labels = [liveness_label(test, pair, self.method, self.unroll)]
            else:
                labels = _progress(test, models.progress)
        except InputError as error:
            return Labels(task.test.label, error=str(error) if error.path else f"{task.test.place}: {error}")
        return self._labels(task.test, test, labels)

    def label_together(self, tasks: Sequence[LabelTask]) -> Sequence[Labels | None]:
        """Return the labels of consistency models, where tests of one shape are judged in one pass."""
        found: list[Labels | None] = [None] * len(tasks)
        models = _questions(self.models).consistency
        by_model: dict[int, list[tuple[int, LitmusTest]]] = {}
        for number, question in enumerate(tasks):
            try:
                if question.models[0] < len(models):
                    by_model.setdefault(question.models[0], []).append((number, _read(question.test)))
            except InputError:  # ``label`` reports the error
                pass
        for model, numbered in by_model.items():
            tests = [test for _, test in numbered]
            judgements = judge_together(tests, models[model], self.method, self.unroll)
            for (number, test), judgement in zip(numbered, judgements, strict=True):
                if judgement is not None:
                    found[number] = self._labels(tasks[number].test, test, [_label(judgement)])
        return found

    def _labels(self, given: Input, test: LitmusTest, labels: Sequence[ModelAnswer]) -> Labels:
        return Labels(given.label, tuple(labels), {"digest": litmus_digest(test) if self.digests else ""})

    def _judged(self, test: LitmusTest, model: ConsistencyModel) -> ModelAnswer:
        return _label(judge_with(test, model, self.method, self.unroll, self.counts))

    def facts(self, test: Input) -> Mapping[str, object]:
        """Return no facts: reading the test may be what failed."""
        return {"digest": ""}

    def cells(self, label: ModelAnswer) -> Sequence[str]:
        """Return the verdict, with the bound of loops where it holds only that far, and the condition's truth."""
        judgement = label.judgement
        if judgement is None:
            return (self._text(label), "", "")
        return (self._text(label), truth_text(judgement.condition), ", ".join(judgement.flags))

    def record(self, label: ModelAnswer) -> object:
        """Return all that was found; of a progress model the verdict alone."""
        if label.verdict in PROGRESS_VERDICTS:
            return {"verdict": label.verdict, "unroll": self.unroll} if label.provisional else label.verdict
        judgement = _judgement(label)
        record: dict[str, object] = {
            "verdict": judgement.answer,
            "condition": judgement.condition,
            "executions": judgement.executions,
            "matching": judgement.matching,
            "flags": list(judgement.flags),
            "unroll": self.unroll if judgement.bounded else None,
        }
        if judgement.outcomes:
            record["outcomes"] = [{spell(term): _value(value) for term, value in final} for final in judgement.outcomes]
        return record | ({"reason": judgement.reason} if judgement.reason else {})

    @property
    def heads(self) -> Sequence[str]:
        """Return the heads of the columns of the models: their names, those of progress models in lines."""
        first = len(self.names) - self.progress
        return [*self.names[:first], *map(progress_head, self.names[first:])]

    @property
    def details(self) -> Sequence[str]:
        """Return the columns of all that one consistency model says; of several models a letter is shown."""
        alone = len(self.names) == 1 and not self._of_progress
        return ("verdict", "condition", "executions", "matching", "flags") if alone else ()

    def detail_cells(self, label: ModelAnswer) -> Sequence[str]:
        """Return the verdict, the condition's truth, how many executions there are, and the flags."""
        judgement = _judgement(label)
        counts = ("" if count is None else str(count) for count in (judgement.executions, judgement.matching))
        return (self._text(label), truth_text(judgement.condition), *counts, ", ".join(judgement.flags))

    def legend(self, labelled: Sequence[Labels]) -> Sequence[str]:
        """Return the lines below a table: what marks mean, all outcomes of tests that ask for none, and what is cut."""
        return list(self._legend(labelled))

    @property
    def _of_progress(self) -> int:
        """Return how many of the models say whether a test hangs."""
        return self.liveness + self.progress

    def _text(self, label: ModelAnswer) -> str:
        hedged = label.provisional or (label.judgement is not None and label.judgement.provisional)
        return f"{label.verdict} (unroll {self.unroll})" if hedged else label.verdict

    def _legend(self, labelled: Sequence[Labels]) -> Iterator[str]:
        every = [label.judgement for labels in labelled for label in labels.labels if label.judgement]
        several = len(self.names) > 1
        if several or self._of_progress:
            consistency = len(self.names) > self._of_progress
            marks = ["A allowed, F forbidden"] * consistency + [LEGEND] * (self._of_progress > 0)
            yield f"{'; '.join(marks)}, ? no verdict"
        for labels in labelled:  # for a test that asks nothing, all outcomes are shown
            for name, label in zip(self.names, labels.labels, strict=False):
                for final in label.judgement.outcomes if label.judgement else ():
                    values = ", ".join(f"{spell(term)} = {_value(value)}" for term, value in final)
                    yield f"{labels.file}{f' under {name}' if several else ''}: {values}"
        if any(judgement.provisional for judgement in every):
            yield f"{'< ' if several else ''}loops were cut after {self.unroll} jumps back: more may be allowed beyond"
        if any(label.provisional for labels in labelled for label in labels.labels):
            yield f"T< loops that write were cut after {self.unroll} jumps back: beyond that a test may hang"
        flags = sorted({flag for judgement in every for flag in judgement.flags})
        if flags and several:
            yield f"* a flag is raised: {', '.join(flags)}"


def _value(value: Value) -> int | str:
    return f"&{value.location}" if isinstance(value, Address) else value


_questions = cache(questions)  # a model caches what is derived from its text


@lru_cache(maxsize=1)
def _read(test: Input) -> LitmusTest:
    # Models are asked about a test one by one.
    return test.litmus()


def _label(judgement: Judgement) -> ModelAnswer:
    return ModelAnswer(judgement.answer, judgement.reason, judgement)


def _judgement(label: ModelAnswer) -> Judgement:
    return label.judgement or unknown(label.reason)


def _progress(test: LitmusTest, models: Sequence[ProgressModel]) -> list[ModelAnswer]:
    """Return the answers of progress models on the test under sequential consistency."""
    from oracle.progress.stepping import stepping_verdicts

    return [
        ModelAnswer(found) if isinstance(found, str) else ModelAnswer(UNKNOWN, found.message)
        for found in stepping_verdicts(test, models).values()
    ]
