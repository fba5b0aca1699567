"""The family of progress tests, which are AXB programs, for the commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus.errors import InputError
from corpus.extras import need
from corpus.test import Test
from oracle.progress.models import Verdict
from oracle.progress.plugins import resolve_models
from synth.families.interface import CorpusCounts, ModelAccount, VerdictWords
from synth.folders import WrittenTests
from synth.inputs import Input, read_all
from synth.labels import JSON, Labelling
from synth.progress.labels import ProgressLabelling
from synth.requests import SMT

if TYPE_CHECKING:  # imported only where a command needs it
    from backends.shared.backend import Backend
    from corpus.suite import Corpus
    from oracle.progress.explain import Explanation
    from synth.compilation import LeftOutTest, Making, WrittenPrograms
    from synth.runs import Running, RunReport


class Progress:
    """The family of AXB programs, which are judged under progress models."""

    kind = "progress tests"
    sides = (
        VerdictWords(Verdict.TERMINATES, "terminates under", "terminates"),
        VerdictWords(Verdict.MAY_HANG, "may hang under", "may_hang"),
    )
    foreign = ("stress", "profile", "profiles", "random", "decode", "mutants", "plan")

    @property
    def targets(self) -> tuple[str, ...]:
        from corpus.export import TARGETS

        return tuple(TARGETS)

    def record(self, given: Input) -> Test:
        return given.record or given.axb()

    def checked(self, tests: Sequence[Input]) -> list[Input]:
        read = [(given, given.axb()) for given in tests]
        return [given if given.record is record else replace(given, record=record) for given, record in read]

    def counted(self, corpus: Corpus) -> CorpusCounts:
        from synth.progress.counts import ProgressCounts

        return ProgressCounts(corpus)

    def distribution_svg(self, corpus: Corpus) -> str:
        from synth.drawing.figures import distribution_svg
        from synth.progress.counts import ProgressCounts

        return distribution_svg(ProgressCounts(corpus).borders.table_4)

    def explain(self, given: Input, models: Sequence[str], unroll: int) -> list[ModelAccount]:
        from corpus.progress.axb import places_of
        from corpus.progress.text import program_of
        from oracle.progress.explain import explain_system
        from oracle.progress.lts import explore

        resolved = resolve_models(models)
        program = program_of(given.axb())
        system, places = explore(program), places_of(program)
        return [account_of_system(given, explain_system(system, model.among(places))) for model in resolved]

    def labelling(
        self, models: Sequence[str], method: str, unroll: int, form: str, bell: str | None = None
    ) -> Labelling:
        if method == SMT:
            need("z3")  # checked here once, and not in each process that uses it
        names = tuple(model.name for model in resolve_models(models))
        return ProgressLabelling(tuple(models), names, with_facts=form == JSON, method=method)

    def compile(
        self, tests: Sequence[Input], language: Backend, making: Making, output: Path, left_out: LeftOutTest
    ) -> WrittenPrograms:
        from synth.compilation import write_bundle
        from synth.progress.compilation import compile_progress, progress_bundle

        found, all_read = read_all(tests, Input.axb)
        language.check_placements(making.placements)
        if language.bundle is not None:
            judges = resolve_models(making.models) if making.models else []
            bundle = progress_bundle(found.values(), language, making, judges)
            return write_bundle(bundle, language, output, left_out, not all_read)
        return compile_progress(found.values(), language, making, output, not all_read)

    def run(self, tests: Sequence[Input], language: Backend, running: Running) -> RunReport[Any]:
        from backends.shared.files import distinct
        from synth.progress.runs import run_progress_tests

        language.check_placements(running.placements)
        device = running.device_of(language)
        found, all_read = read_all(tests, Input.axb)
        named = [*running.models, *running.sound]
        models = resolve_models(named) if named else []
        sound = [model.name for model in resolve_models(running.sound)] if running.sound else []
        return run_progress_tests(distinct(found.values()), language, device, running, models, sound, not all_read)

    def export(
        self, tests: Sequence[Input], target: str, dropped: Sequence[str], models: Sequence[str], folder: Path
    ) -> WrittenTests:
        if dropped or models:
            raise InputError(f"{'--drop' if dropped else '--model'} is for litmus tests")
        from corpus.export import export
        from synth.watch import watched

        export([given.axb() for given in watched(tests, len(tests), "Writing")], target, folder)
        return WrittenTests(folder, len(tests))


def account_of_system(given: Input, explanation: Explanation) -> ModelAccount:
    """Return the verdict of a progress model on a test of either family, with its reasons."""
    from synth.drawing.lts import draw, draw_dot
    from synth.progress.explanation import explanation_account, explanation_record

    return ModelAccount(
        explanation.model.name,
        partial(explanation_account, given.name, explanation),
        partial(explanation_record, given.label, explanation),
        partial(draw, given.name, explanation),
        partial(draw_dot, given.name, explanation),
    )


FAMILY = Progress()
