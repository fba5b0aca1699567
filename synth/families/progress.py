"""Progress tests, as commands see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from corpus.errors import InputError
from corpus.export import TARGETS, export
from corpus.progress.text import program_of
from corpus.suite import Corpus
from corpus.test import Test
from oracle.progress.explain import explain
from oracle.progress.models import Verdict
from oracle.progress.plugins import resolve_models
from synth.families.interface import Side, Told
from synth.inputs import Input
from synth.progress import show
from synth.progress.explanation import explanation_record, explanation_text


class Progress:
    """AXB programs under progress models."""

    kind = "progress tests"
    sides = (
        Side(Verdict.TERMINATES, "terminates under", "terminates"),
        Side(Verdict.MAY_HANG, "may hang under", "may_hang"),
    )
    targets = tuple(TARGETS)

    def record(self, given: Input) -> Test:
        return given.axb()

    def tables(self, corpus: Corpus, list_tests: bool) -> Iterator[tuple[str, Table]]:
        return show.tables(corpus, list_tests)

    def summary(self, corpus: Corpus, list_tests: bool) -> dict[str, Any]:
        return show.summary(corpus, list_tests)

    def distribution_svg(self, corpus: Corpus) -> str:
        from synth.drawing.figures import distribution_svg

        return distribution_svg(show.counted(corpus).table_4)

    def explain(self, given: Input, models: Sequence[str], unroll: int) -> list[Told]:
        from synth.drawing.lts import draw_dot, draw_svg

        resolved = resolve_models(models)
        program, name = program_of(given.axb()), given.name
        told = []
        for model in resolved:
            explanation = explain(program, model)
            told.append(
                Told(
                    model.name,
                    partial(explanation_text, name, explanation),
                    partial(explanation_record, given.label, explanation),
                    partial(draw_svg, name, explanation),
                    partial(draw_dot, name, explanation),
                )
            )
        return told

    def export(self, tests: Sequence[Input], target: str, dropped: Sequence[str], folder: Path) -> int:
        if dropped:
            raise InputError("--drop is for litmus tests")
        export([given.axb() for given in tests], target, folder)
        click.echo(f"{len(tests)} tests in {folder}")
        return 0


FAMILY = Progress()
