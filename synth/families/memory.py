"""Memory tests, which are litmus tests, as commands see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.table import Table

from corpus.cycles.suites import litmus_record
from corpus.suite import Corpus
from corpus.test import Test
from oracle.consistency import OperationalModel, resolve_consistency_models
from oracle.executions.judge import Answer
from oracle.executions.witness import explain_memory
from synth.families.interface import Side, Told
from synth.inputs import Input
from synth.memory import show
from synth.memory.conversion import TARGETS, convert_folder
from synth.memory.explanation import explanation_record, explanation_text, no_picture, run_record, run_text


class Memory:
    """Litmus tests under consistency models."""

    kind = "litmus tests"
    sides = (
        Side(Answer.FORBIDDEN, "forbidden by", "forbidden"),
        Side(Answer.ALLOWED, "allowed by", "allowed"),
    )
    targets = tuple(TARGETS)

    def record(self, given: Input) -> Test:
        return given.record or litmus_record(given.litmus(), given.text())

    def tables(self, corpus: Corpus, list_tests: bool) -> Iterator[tuple[str, Table]]:
        return show.tables(corpus, list_tests)

    def summary(self, corpus: Corpus, list_tests: bool) -> dict[str, Any]:
        return show.summary(corpus, list_tests)

    def distribution_svg(self, corpus: Corpus) -> str:
        from synth.drawing.figures import memory_distribution_svg

        counts = {
            shape: {
                model: (said[Answer.ALLOWED], said[Answer.FORBIDDEN], said[Answer.UNKNOWN])
                for model, said in row.items()
            }
            for shape, row in show.counts_by_shape(corpus).items()
        }
        return memory_distribution_svg(corpus.models, counts)

    def explain(self, given: Input, models: Sequence[str], unroll: int) -> list[Told]:
        from synth.drawing.execution import draw_dot, draw_svg

        resolved = resolve_consistency_models(models)
        test = given.litmus()
        told = []
        for model in resolved:
            if isinstance(model, OperationalModel):
                undrawn = partial(no_picture, model)
                text = partial(run_text, test, model, unroll)
                record = partial(run_record, given.label, test, model, unroll)
                told.append(Told(model.name, text, record, undrawn, undrawn))
            else:
                explanation = explain_memory(test, model.model, unroll)
                told.append(
                    Told(
                        model.name,
                        partial(explanation_text, explanation, unroll),
                        partial(explanation_record, given.label, explanation, unroll),
                        partial(draw_svg, explanation),
                        partial(draw_dot, explanation),
                    )
                )
        return told

    def export(self, tests: Sequence[Input], target: str, dropped: Sequence[str], folder: Path) -> int:
        dialect, runner = TARGETS[target] or (None, None)
        return convert_folder(tests, dialect, dropped, folder, runner, expected=True)


FAMILY = Memory()
