"""Promises inferred from verdicts and from hangs: planted ones are found again, in a loop that may be killed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.slow import SlowDevice

import synth.hangs
from backends.registry import BACKENDS
from backends.shared.device import DeviceOptions
from backends.shared.profiles import DEFAULT
from backends.shared.results import ProgressResult, print_result, read_results
from corpus.dialects.registry import read_litmus
from corpus.progress.text import program_of
from oracle.inference.fitting import deciding, fewest_violations, fitting, smallest_core
from oracle.inference.promise_family import promise_family
from oracle.progress.hierarchy import fairest
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import MODELS, Verdict, system_verdicts, verdicts
from oracle.progress.plugins import resolve_models
from synth.conformance import ConformanceStatus, ModelConformance
from synth.inference.facts import NeverSeen
from synth.inference.loop import LoopBudget, LoopEnd, closed_loop
from synth.inference.promise_runs import PromiseExperiment, opened
from synth.inference.promises import PromiseFacts, PromiseHypotheses, PromiseJudge, parse_bound, suite
from synth.progress.conformance import by_model
from synth.report.tables import strongest as strongest_of_report
from synth.runs import Running
from tests.commands import printed
from tests.commands import synth as run_synth

ROOT = Path(__file__).parents[2]
BOUNDS = ((2, 2), (2, 3), (3, 3))
NEVER = NeverSeen()
SUITE = [test for bound in BOUNDS for test in suite(bound)]


@pytest.fixture(scope="module")
def judge():
    return PromiseJudge(promise_family("progress"))


def table(judge, model, flipped=()):
    """The verdicts of a model on the suites, some of them flipped."""
    found = PromiseFacts(judge)
    for test in SUITE:
        hangs = verdicts(program_of(test), [MODELS[model]])[model] == Verdict.MAY_HANG
        found.add_verdict(test, hangs is not (test.name in flipped), "table.csv")
    return found.facts


@pytest.mark.parametrize("model", MODELS)
def test_planted_models_are_found_again(judge, model):
    fit = fitting(judge.family.valid, table(judge, model))
    alike = {"unfair-weak": "unfair-strong", "unfair-strong": "unfair-weak"}
    assert {each.name for each in judge.family.models(fit)} == {model, alike.get(model, model)}


@pytest.mark.parametrize("model", ["hsa@workgroup & obe@subgroup-weak", "obe@workgroup & fair@subgroup-strong"])
def test_planted_composed_models_are_found_again(tmp_path, model):
    """From their verdicts on all programs of 2x2 and 3x3 in every placement of two levels."""
    tests = [test for bound in ((2, 2), (3, 3)) for test in suite(bound, ("workgroup", "subgroup"))]
    models = resolve_models([model])
    rows = []
    for number, test in enumerate(tests):
        (tmp_path / f"t{number}.axb").write_text(test.text)
        rows.append(f"t{number}.axb,{verdicts(program_of(test), models)[model]}\n")
    (tmp_path / "table.csv").write_text("test,verdict\n" + "".join(rows))
    words = ("infer", "progress@workgroup & progress@subgroup", "--from", tmp_path / "table.csv", "--json")
    record = json.loads(printed(*words, "--bound", "2x2"))
    assert "in every placement" in record["bound"] and record["unique"]
    assert any(model in each["holes"] for each in record["weakest"])


def test_noise_is_found_and_named(judge):
    """Of 207 verdicts, 1 % is flipped where others say more."""
    flipped = {"2x3-0018", "3x3-0002"}
    facts = table(judge, "obe-strong", flipped)
    assert not fitting(judge.family.valid, facts)
    best = fewest_violations(judge.family.valid, facts)
    assert {fact.name for fact in best.violated} == flipped and best.number == 2
    assert [model.name for model in judge.family.models(best.models)] == ["obe-strong"]
    core = smallest_core(judge.family.valid, facts)
    assert len(core) == 2 and {fact.name for fact in core} & flipped


def test_what_decides(judge):
    """A few of 207 facts leave what all leave, and none of these can be spared."""
    facts = table(judge, "lobe-weak")
    fit, kept = fitting(judge.family.valid, facts), deciding(judge.family.valid, facts)
    assert len(kept) <= 5 and fitting(judge.family.valid, kept) is fit
    for fact in kept:
        assert fitting(judge.family.valid, [other for other in kept if other is not fact]) is not fit


def result(test, outcomes, placement="device", tries=(), mapping="plain"):
    return ProgressResult(
        test=test.name,
        digest=test.digest,
        backend="cpp",
        device="planted",
        mapping=mapping,
        instances=1,
        iterations=len(outcomes),
        timeout=1.0,
        every_iteration=False,
        placement=placement,
        outcomes=outcomes,
        tries=tries,
    )


def test_only_a_confirmed_hang_is_a_fact(judge):
    one, other, slow, ended = suite((2, 2))[:4]
    found = PromiseFacts(judge)
    results = [
        result(one, "TH", tries=("TH", "H", "H")),
        result(other, "TH"),
        result(slow, "TT", tries=("TH", "T")),
        result(ended, "TTT"),
        result(ended, "TT", mapping="chunked"),
    ]
    tests = {test.digest: test for test in SUITE}
    assert found.add_results(tests, results, NEVER, "results.jsonl") == 5
    assert [fact.text for fact in found.facts] == [f"{one.name} may hang (hung: plain, results.jsonl)"]
    assert [fact.text for fact in found.evidence] == [f"{ended.name} terminates (ended in 5 of 5, results.jsonl)"]
    assert (found.unconfirmed, found.slow) == ([other.name], [slow.name])
    strict = PromiseFacts(judge)
    strict.add_results(tests, results, NeverSeen(True, 5), "")
    assert [fact.allowed for fact in strict.facts] == [True, False]
    lenient = PromiseFacts(judge)
    lenient.add_results(tests, results, NeverSeen(True, 6), "")
    assert len(lenient.facts) == 1


def test_one_set_of_results_speaks_of_several_levels():
    """The threads of a test within a workgroup are in subgroups of one."""
    judge = PromiseJudge(promise_family("progress@workgroup & progress@subgroup"))
    waits = suite((2, 2))[0]
    found = PromiseFacts(judge)
    hung = [result(waits, "H", placement, ("H", "H", "H")) for placement in ("device", "workgroup")]
    found.add_results({waits.digest: waits}, hung[:1], NEVER, "")
    left = {model.name for model in judge.family.models(fitting(judge.family.valid, found.facts))}
    assert "lobe@workgroup & fair@subgroup-strong" in left and "fair@workgroup & lobe@subgroup-strong" not in left
    found.add_results({waits.digest: waits}, hung[1:], NEVER, "")
    left = {model.name for model in judge.family.models(fitting(judge.family.valid, found.facts))}
    assert "lobe@workgroup & fair@subgroup-strong" not in left and "lobe@workgroup & lobe@subgroup-strong" in left


def test_the_report_and_the_inference_name_one_fairest_model(judge):
    """For every set of hangs that a model allows."""
    said = {test.name: verdicts(program_of(test)) for test in SUITE[::3]}
    for model in MODELS:
        hung = [
            result(test, "H", tries=("H", "H", "H"))
            if verdicts(program_of(test), [MODELS[model]])[model] == Verdict.MAY_HANG
            else result(test, "TTT")
            for test in SUITE[::3]
        ]
        standings = [
            ModelConformance(each.model, len(each.refuting), each.refuting, 1, 1, 0)
            for each in by_model(hung, lambda each: said[each.test])
            if each.model in MODELS
        ]
        assert all((each.status is ConformanceStatus.CONTRADICTED) == bool(each.contradicting) for each in standings)
        found = PromiseFacts(judge)
        found.add_results({test.digest: test for test in SUITE}, hung, NEVER, "")
        fit = fitting(judge.family.valid, found.facts)
        assert PromiseHypotheses(judge.family).shipped(fit) == strongest_of_report(standings)


def test_the_fairest_of_models():
    assert fairest([MODELS[name] for name in ("unfair-strong", "hsa-weak")]) == ("hsa-weak",)
    assert fairest([MODELS[name] for name in ("hsa-weak", "obe-weak", "hsa-strong")]) == ("obe-weak", "hsa-strong")
    assert fairest(MODELS.values()) == ("fair-strong",)
    assert fairest([]) == ()


# The loop


class Planted(PromiseExperiment):
    """An experiment whose device hangs where a model lets it, and that dies after so many lines."""

    model = "lobe-strong"
    lives = 1 << 30

    def perform(self, test):
        def add(entry, times=None, add=self.file.add):
            add(entry)
            type(self).lives -= 1
            if not self.lives:
                raise KeyboardInterrupt

        (self.folder / "tests").mkdir(exist_ok=True)
        (self.folder / "tests" / f"{test.test.name}.axb").write_text(test.test.text)
        self._begin(test)
        said = verdicts(program_of(test.test), [MODELS[self.model]])[self.model]
        hangs = said == Verdict.MAY_HANG
        for due in self._trials(test):
            if due.trial not in self.file.results:
                add(due.result(RunLike("H" if hangs else "TTT")))
            if hangs and not self.file.results[due.trial].confirmed:
                add(replaced(self.file.results[due.trial]))
        self._attempted.add(test.sketch.name)
        return ""


def replaced(entry):
    from msgspec.structs import replace as changed

    return changed(entry, tries=("H", "H", "H"))


class RunLike:
    def __init__(self, outcomes):
        self.outcomes = outcomes


def looped(folder, patch, model, never=NEVER, lives=1 << 30, tests=None):
    """The end of a loop on a device with this model, and the names of the tests that ran."""
    patch.setattr("synth.inference.promise_runs.PromiseExperiment", Planted)
    patch.setattr(Planted, "model", model)
    patch.setattr(Planted, "lives", lives)
    patch.setenv("SOURCE_DATE_EPOCH", "1")
    device = SlowDevice({}, folder / "log")
    running = Running(DeviceOptions(1), ("plain", "chunked"), ("device",), 3, 1.0, False, DEFAULT, (), (), None, None)
    family = promise_family("progress")
    with opened(family, BACKENDS["cpp"], device, running, folder, BOUNDS, never) as experiment:
        outcome = closed_loop(family.valid, (), experiment, LoopBudget(tests))
        return family, outcome, experiment.ran()


@pytest.mark.parametrize("model", ["hsa+obe-weak", "lobe-strong", "fair-strong"])
def test_a_loop_finds_the_promise_of_a_device(tmp_path, monkeypatch, model):
    """What always ends is a fact here, so that one class is left."""
    family, outcome, ran = looped(tmp_path, monkeypatch, model, NeverSeen(True, 6))
    assert [each.name for each in family.models(outcome.fit)] == [model]
    assert outcome.end is LoopEnd.NO_TEST and ran < 12


def test_the_fairest_is_found_from_hangs_alone(tmp_path, monkeypatch):
    family, outcome, _ = looped(tmp_path, monkeypatch, "lobe-strong")
    assert PromiseHypotheses(family).shipped(outcome.fit) == ("lobe-strong",)
    assert outcome.end is LoopEnd.NO_TEST


def test_a_loop_that_was_killed_ends_as_it_would_have(tmp_path, monkeypatch):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    looped(whole, monkeypatch, "hsa-strong")
    lines = (whole / "results.jsonl").read_text().splitlines()
    assert len(lines) > 10
    for lives in (1, 2, 5, 3):
        with pytest.raises(KeyboardInterrupt):
            looped(killed, monkeypatch, "hsa-strong", lives=lives)
    looped(killed, monkeypatch, "hsa-strong")
    assert (killed / "results.jsonl").read_text().splitlines() == lines
    assert {path.name for path in (killed / "tests").iterdir()} == {path.name for path in (whole / "tests").iterdir()}


def test_a_budget_counts_the_tests_of_earlier_calls(tmp_path, monkeypatch):
    _, outcome, ran = looped(tmp_path, monkeypatch, "lobe-strong", tests=3)
    assert outcome.end is LoopEnd.BUDGET and ran == 3
    _, outcome, ran = looped(tmp_path, monkeypatch, "lobe-strong", tests=5)
    assert outcome.end is LoopEnd.BUDGET and ran == 5 and len(outcome.steps) == 2


# The command


def write_results(folder, entries):
    (folder / "tests").mkdir()
    for test in suite((2, 2)):
        (folder / "tests" / f"{test.name}.axb").write_text(test.text)
    (folder / "results.jsonl").write_text("".join(f"{print_result(each)}\n" for each in entries))


def test_the_command_answers_for_each_placement(tmp_path):
    waits, other = suite((2, 2))[0], suite((2, 2))[3]
    entries = [result(waits, "H", tries=("H", "H", "H")), result(other, "TTT", "workgroup")]
    write_results(tmp_path, entries)
    told = printed("infer", "progress", "--from", tmp_path / "results.jsonl")
    first, second = told.split("workgroup:\n")
    assert first.startswith("device:\nprogress: 16 models, 1 fact\n")
    assert "  2x2-0001 may hang (hung: plain, " in first
    assert first.rstrip().endswith("the fairest of them that ship: lobe-strong")
    assert "16 fit, 13 models over all programs of up to 3 threads and 3 instructions" in second
    assert second.rstrip().endswith("the fairest of them that ship: fair-strong")
    record = json.loads(printed("infer", "progress", "--from", tmp_path, "--placement", "device", "--json"))
    assert (record["placement"], record["ship"], record["fit"]) == ("device", ["lobe-strong"], 14)


def test_verdicts_of_a_table_and_a_contradiction(tmp_path):
    write_results(tmp_path, [])
    rows = [(test.name, verdicts(program_of(test))["hsa-strong"]) for test in suite((2, 2))]
    file = tmp_path / "table.csv"
    file.write_text("test,verdict\n" + "".join(f"{name}.axb,{said}\n" for name, said in rows))
    told = printed("infer", "progress", "--from", file, "--tests", tmp_path / "tests", "--bound", "2x2")
    assert "and are one model over all programs of up to 2 threads and 2 instructions" in told
    flip = {"MAY_HANG": "TERMINATES", "TERMINATES": "MAY_HANG"}
    file.write_text(file.read_text() + f"2x2-0004,{flip[rows[3][1]]}\n")
    wrong = run_synth("infer", "progress", "--from", file, "--tests", tmp_path / "tests")
    assert wrong.exit_code == 1 and "2 facts contradict each other, and no fewer do:" in wrong.stdout
    assert "2x2-0004 may hang" in wrong.stdout and "2x2-0004 terminates" in wrong.stdout


def test_the_next_test_as_programs(tmp_path):
    words = ("infer", "progress", "--bound", "2x2", "--backend", "opencl", "--placement", "workgroup")
    printed(*words, "--mapping", "plain", "--mapping", "chunked", "-o", tmp_path / "out")
    programs = {path.name for path in (tmp_path / "out" / "next").glob("*.cl")}
    (test,) = {name.partition(".")[0] for name in programs}
    assert test in {each.name for each in suite((2, 2))}
    assert programs == {f"{test}.{mapping}.workgroup.cl" for mapping in ("plain", "chunked")}


def test_verdicts_of_litmus_tests():
    """They are judged as by the models that ship."""
    judge = PromiseJudge(promise_family("progress"))
    tests = [read_litmus(path) for path in sorted((ROOT / "examples" / "liveness").glob("*.litmus"))]
    told = 0
    for test in tests:
        system = explore_litmus(test)
        models = system_verdicts(system.successors, list(MODELS.values()), system.chances)
        hanging = judge.may_hang_litmus(test)
        for name, verdict in models.items():
            assert bool(judge.family.member(name) & hanging) == (verdict == Verdict.MAY_HANG)
            told += verdict == Verdict.MAY_HANG
    assert told > 10


def test_a_table_of_litmus_tests(tmp_path):
    (test,) = [ROOT / "examples" / "liveness" / "handshake-weak.litmus"]
    file = tmp_path / "table.csv"
    (tmp_path / "t.litmus").write_text(test.read_text())
    file.write_text("file,verdict\nt.litmus,MAY_HANG\n")
    assert "1 fact" in printed("infer", "progress", "--from", file)


def test_what_is_written(tmp_path):
    waits = suite((2, 2))[0]
    (tmp_path / "in").mkdir()
    write_results(tmp_path / "in", [result(waits, "H", tries=("H", "H", "H"))])
    out = tmp_path / "out"
    printed("infer", "progress-weak", "--from", tmp_path / "in", "--bound", "2x2", "-o", out)
    assert {path.name for path in out.iterdir()} == {"answer.json", "lattice.svg", "next.axb", "promises"}
    below = out / "promises" / "below.py"
    answer = printed("label", tmp_path / "in" / "tests" / f"{waits.name}.axb", "-m", below, "--format", "csv")
    assert "below-weak,MAY_HANG" in answer


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["progress", "--bound", "3"], "--bound: expected threads x instructions"),
        (["progress", "--bound", "3x9"], "--bound: expected at most 4x5"),
        (["progress & progress", "--bound", "3x3"], "has no level"),
        (["progress", "--from", "nothing.jsonl"], "nothing.jsonl"),
        (["progress", "--run", "--backend", "cpp"], "--run needs -o, the folder"),
        (["progress", "--events", "3"], "--events is for sketches of consistency models"),
        (["cpu", "--tries", "3"], "--tries is for families of promises"),
    ],
)
def test_misuse(words, said):
    assert said in printed("infer", *words, exit_code=2)


def test_bounds_are_parsed():
    assert parse_bound("2x2") == (2, 2)


def test_tests_are_run_one_after_the_other(tmp_path, monkeypatch):
    """On a toy device on which a waiting thread hangs; then the command goes on where it was."""
    monkeypatch.setattr(synth.hangs, "RUNS", 1)
    monkeypatch.setattr(synth.hangs, "AGAIN", (1, 2))
    behaviour = {"hangs": ["2x2-0001"]}
    toy = replace(BACKENDS["cpp"], device=lambda _: SlowDevice(behaviour, tmp_path / "log"))
    monkeypatch.setitem(BACKENDS, "cpp", toy)
    words = ["infer", "progress", "--run", "--backend", "cpp", "--mapping", "plain", "--iterations", 2]
    words += ["--timeout", 0.3, "--bound", "2x2", "--tries", 1, "-o", tmp_path / "out"]
    first = run_synth(*words, "--max-tests", 1)
    assert first.exit_code == 0, first.output
    assert "1 test ran, then: the budget is spent" in first.stdout
    then = run_synth(*words)
    assert then.exit_code == 0, then.output
    assert "the fairest of them that ship: lobe-strong" in then.stdout
    results = [each for each in read_results(tmp_path / "out" / "results.jsonl") if isinstance(each, ProgressResult)]
    assert {each.test for each in results if each.confirmed} == {"2x2-0001"}
    assert {path.stem for path in (tmp_path / "out" / "tests").iterdir()} == {each.test for each in results}
    assert "another request" in printed(*words[:-2], "-o", tmp_path / "out", "--bound", "2x3", exit_code=2)
