"""The labels of progress tests: what is asked of a program, and how its verdicts look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from oracle.progress.models import ProgressModel, verdicts
from oracle.progress.plugins import resolve_models
from synth.inputs import Input
from synth.labels import UNKNOWN, Labels, LabelTask, ModelAnswer
from synth.requests import AUTO, SAT, SMT

if TYPE_CHECKING:
    from corpus.test import Test


@dataclass(frozen=True, slots=True)
class ProgressLabelling:
    """The labelling of programs by progress models.

    ``models`` are as the user named them, ``names`` are their full names; models travel to other processes by name.
    ``with_facts``: the form of output includes facts on the test itself. ``method``: ``sat`` and ``smt`` ask a solver,
    the other methods explore the transition system.
    """

    models: tuple[str, ...]
    names: tuple[str, ...]
    with_facts: bool = True
    method: str = AUTO
    columns = ("verdict",)
    details = ()
    label_together = None  # each test has a transition system of its own

    @property
    def parts(self) -> Sequence[tuple[int, ...]]:
        """Return all models as one group: most of the work is the transition system, which all models share."""
        return (tuple(range(len(self.names))),)

    def request(self) -> dict[str, object]:
        """Return the request of this labelling: the models with their digests, and a solver's method."""
        solved = {"method": self.method} if self.method in _SOLVERS else {}
        return {"models": {model.name: model.digest for model in resolve_models(self.models)}, **solved}

    def label(self, task: LabelTask) -> Labels:
        """Return the labels of every model. Raises ``InputError`` where the text is no program, or a user's model
        fails.
        """
        from corpus.progress.text import program_of

        test = task.test.record or task.test.axb()
        program, models = program_of(test), _resolved(self.models)
        if self.method in _SOLVERS:
            from constraints.promises import verdicts_by_sat  # imported only for this method

            found = verdicts_by_sat(program, models, *_SOLVERS[self.method])
        else:
            found = verdicts(program, models)
        labels = tuple(ModelAnswer(str(verdict)) for verdict in found.values())
        return Labels(task.test.label, labels, _facts(test) if self.with_facts else {})

    def facts(self, test: Input) -> Mapping[str, object]:
        """Return the digest and the bound of a test, if the form of output has them."""
        return _facts(test.axb()) if self.with_facts else {}

    def cells(self, label: ModelAnswer) -> Sequence[str]:
        """Return the CSV cell of a label, which is the verdict."""
        return (label.verdict,)

    def record(self, label: ModelAnswer) -> object:
        """Return the verdict for JSON; where there is none, with the reason."""
        return {"verdict": label.verdict, "reason": label.reason} if label.verdict == UNKNOWN else label.verdict

    @property
    def heads(self) -> Sequence[str]:
        """Return the heads of the columns of the models: their names, in lines."""
        return [progress_head(name) for name in self.names]

    def detail_cells(self, label: ModelAnswer) -> Sequence[str]:
        """Return no cells: a mark tells all."""
        return ()

    def legend(self, labelled: Sequence[Labels]) -> Sequence[str]:
        """Return the line that says what the marks mean: ``T`` terminates, ``H`` may hang."""
        lost = any(label.verdict == UNKNOWN for labels in labelled for label in labels.labels)
        return [LEGEND + ", ? no verdict" * lost]


_SOLVERS = {SAT: (), SMT: ("z3",)}
"""The solver of each method that asks one, unless it is the usual one."""

LEGEND = "T terminates, H may hang"
"""The legend of the marks in the table."""


def progress_head(name: str) -> str:
    """Return the head of a model's column, a line for each part of its name: guarantees, reading and stepping."""
    base, _, reading = name.rpartition("-")
    return f"{base}\n{reading}".replace(" & ", "\n& ")


def _facts(test: Test) -> Mapping[str, object]:
    return {"digest": test.digest, "bound": test.bound}


@cache
def _resolved(models: tuple[str, ...]) -> list[ProgressModel]:
    return resolve_models(models)
