"""The family of memory tests, which are litmus tests, for the commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.extras import need
from oracle.consistency import OperationalModel, resolve_consistency_models
from oracle.executions.judge import Answer
from synth.families.interface import CorpusCounts, ModelAccount, VerdictWords
from synth.folders import WrittenTests
from synth.inputs import Input
from synth.labels import CSV, JSON, Labelling
from synth.memory.labels import LitmusLabelling
from synth.memory.questions import questions, refuse_progress
from synth.requests import SMT

if TYPE_CHECKING:  # imported only where a command needs it
    from backends.shared.backend import Backend
    from corpus.suite import Corpus
    from corpus.test import Test
    from synth.compilation import LeftOutTest, Making, WrittenPrograms
    from synth.runs import Running, RunReport


class Memory:
    """The family of litmus tests, which are judged under consistency models."""

    kind = "litmus tests"
    sides = (
        VerdictWords(Answer.FORBIDDEN, "forbidden by", "forbidden"),
        VerdictWords(Answer.ALLOWED, "allowed by", "allowed"),
    )
    foreign = ("mappings", "placements", "every_iteration", "subscribe")

    @property
    def targets(self) -> tuple[str, ...]:
        from synth.memory.conversion import CONFORMANCE, RUNNERS_JSON, TARGETS

        return (*TARGETS, CONFORMANCE, RUNNERS_JSON)

    def record(self, given: Input) -> Test:
        if given.record is not None:
            return given.record
        from corpus.cycles.suites import litmus_record

        text = given.text()
        return litmus_record(parse_litmus(text, given.place, given.bell), text)

    def checked(self, tests: Sequence[Input]) -> list[Input]:
        return list(tests)

    def counted(self, corpus: Corpus) -> CorpusCounts:
        from synth.memory.counts import SuiteCounts

        return SuiteCounts(corpus)

    def distribution_svg(self, corpus: Corpus) -> str:
        from synth.drawing.figures import memory_distribution_svg
        from synth.memory.counts import SuiteCounts

        census = SuiteCounts(corpus)
        counts: dict[str, dict[str, tuple[int, int, int]]] = {}
        for shape in census.shapes():
            counts[shape] = {}
            for model in corpus.models:
                found = census.verdicts_of(model, lambda _, own, shape=shape: own == shape)  # type: ignore[misc]
                counts[shape][model] = (found[Answer.ALLOWED], found[Answer.FORBIDDEN], found[Answer.UNKNOWN])
        return memory_distribution_svg(corpus.models, counts)

    def explain(self, given: Input, models: Sequence[str], unroll: int) -> list[ModelAccount]:
        from synth.drawing.execution import draw, draw_dot, draw_hang, draw_hang_dot
        from synth.memory.explanation import (
            explanation_account,
            explanation_record,
            no_picture,
            run_account,
            run_record,
        )
        from synth.memory.judging import explain_with
        from synth.memory.liveness import explain_liveness, liveness_account, liveness_record

        judges = questions(models, given.bell)
        test = given.litmus()
        accounts: list[ModelAccount] = []
        for model in judges.consistency:
            if isinstance(model, OperationalModel):
                undrawn = partial(no_picture, model)
                account = partial(run_account, test, model, unroll)
                record = partial(run_record, given.label, test, model, unroll)
                accounts.append(ModelAccount(model.name, account, record, undrawn, undrawn))
            else:
                explanation = explain_with(test, model.model, unroll)
                accounts.append(
                    ModelAccount(
                        model.name,
                        partial(explanation_account, explanation, unroll),
                        partial(explanation_record, given.label, explanation, unroll),
                        partial(draw, explanation),
                        partial(draw_dot, explanation),
                    )
                )
        for pair in judges.liveness:
            found = explain_liveness(test, pair, unroll)
            accounts.append(
                ModelAccount(
                    pair.name,
                    partial(liveness_account, found),
                    partial(liveness_record, given.label, found),
                    partial(draw_hang, found),
                    partial(draw_hang_dot, found),
                )
            )
        if judges.progress:
            from oracle.progress.stepping import explain_stepping
            from synth.families.progress import account_of_system

            accounts += [account_of_system(given, explain_stepping(test, model)) for model in judges.progress]
        return accounts

    def labelling(
        self, models: Sequence[str], method: str, unroll: int, form: str, bell: str | None = None
    ) -> Labelling:
        if method == SMT:
            need("z3")  # checked here once, and not in each process that uses it
        judges = questions(models, bell)
        return LitmusLabelling(
            tuple(models),
            judges.names,
            len(judges.liveness),
            len(judges.progress),
            method,
            unroll,
            digests=form == JSON,
            counts=form != CSV,
            bell=bell,
        )

    def compile(
        self, tests: Sequence[Input], language: Backend, making: Making, output: Path, left_out: LeftOutTest
    ) -> WrittenPrograms:
        from synth.memory.compilation import PLAIN, compile_memory, memory_bundle

        if language.bundle is None:
            return compile_memory(tests, language, making, output, left_out)
        from synth.compilation import write_bundle
        from synth.tuning.search import random_profiles

        refuse_progress(making.models)
        models = resolve_consistency_models(making.models)
        ways = PLAIN | {profile.label: profile for profile in making.profiles}
        draws = random_profiles(making.random)
        bundle, all_read = memory_bundle(tests, language, ways, making.instances, models, making.iterations, draws)
        return write_bundle(bundle, language, output, left_out, not all_read)

    def run(self, tests: Sequence[Input], language: Backend, running: Running) -> RunReport[Any]:
        from synth.memory.runs import INSTANCES, Launches, decode_memory_test, run_memory_tests

        refuse_progress([*running.models, *running.sound])
        compared = resolve_consistency_models([*running.models, *running.sound])
        sound = (
            resolve_consistency_models(running.sound, among=[*running.models, *running.sound]) if running.sound else []
        )
        believed = [model.name for model in sound]
        if running.decode is not None:
            if language.decode is None:
                raise InputError(f"--decode: {language.name} tests are run here, and write nothing to read")
            if len(tests) != 1:
                raise InputError(f"--decode reads the outcomes of one test, and {len(tests)} are named")
            if running.known is not None:
                raise InputError("--known is for runs, and --decode makes none")
            return decode_memory_test(tests[0], language, running.decode, compared, believed, running.output)
        device = running.device_of(language)
        instances = running.device.instances or running.profile.instances or INSTANCES
        launches = Launches(instances, running.iterations, running.timeout, running.profile)
        if running.plan is not None:
            from synth.mutation.running import planned

            tests, launches = planned(tests, running.plan, language.name, device.hardware, launches, running.device)
        if not running.mutants:
            return run_memory_tests(tests, language, device, launches, running, compared, believed)
        from backends.shared.results import RESULTS
        from synth.mutation.running import of_mutants, report_with, with_mutants

        suite, tests = with_mutants(tests)
        output = running.output or suite.path / RESULTS
        running = replace(running, output=output)
        report = run_memory_tests(tests, language, device, launches, running, compared, believed)
        return report_with(of_mutants(suite, output, language.name, device.hardware), report)

    def export(
        self, tests: Sequence[Input], target: str, dropped: Sequence[str], models: Sequence[str], folder: Path
    ) -> WrittenTests:
        from synth.memory.conversion import CONFORMANCE, RUNNERS_JSON, TARGETS, convert_folder, export_json, model_files

        if target in (CONFORMANCE, RUNNERS_JSON) and (dropped or models):
            raise InputError(f"--{'drop' if dropped else 'model'} is for litmus files, not for {target}")
        if target == RUNNERS_JSON:
            return export_json(tests, folder)
        if target == CONFORMANCE:
            from synth.memory.webgpu_cts import export_to_cts

            return export_to_cts(tests, folder)
        dialect, runner = TARGETS[target] or (None, None)
        beside = model_files(target, models)
        return convert_folder(tests, dialect, dropped, folder, runner, expected=True, beside=beside)


FAMILY = Memory()
