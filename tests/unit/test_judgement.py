"""A run, its JUnit report, ``report``, ``diff`` and the page for browsers name the same contradictions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import synth

from backends.registry import BACKENDS
from backends.shared.layout import outcome_terms
from backends.shared.results import MemoryResult, print_result
from backends.web.page import page_data
from corpus.dialects.registry import parse_litmus
from corpus.journal import read_corpus
from corpus.litmus.condition import spell
from corpus.litmus.normal import litmus_digest
from oracle.consistency import resolve_consistency_models
from synth.campaigns import ALONE
from synth.inputs import expand
from synth.junit import CaseOutcome
from synth.memory.compilation import PLAIN, memory_bundle
from synth.memory.runs import LitmusRuns, cases_of, report_of
from synth.screen.runs import print_run

MODELS = ("sc", "tso", "c11", "webgpu")

STORE_BUFFERING = """VULKAN {name}
{{ x=0; y=0; }}
 P0@sg 0,wg 0,qf 0        | P1@sg 0,wg 1,qf 0        ;
 st.atom.dv.sc0 x, 1      | st.atom.dv.sc0 y, 1      ;
 ld.atom.dv.sc0 r0, y     | ld.atom.dv.sc0 r0, x     ;
exists ({condition})
"""
TESTS = {
    "asked": STORE_BUFFERING.format(name="asked", condition="P0:r0 == 0 /\\ P1:r0 == 0"),
    "not-asked": STORE_BUFFERING.format(name="not-asked", condition="P0:r0 == 1 /\\ P1:r0 == 1"),
    "race": """VULKAN race
{ x=0; }
 P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 ;
 st.av.wg.sc0 x, 1 | ld.vis.wg.sc0 r0, x ;
                   | ld.vis.wg.sc0 r1, x ;
exists (P1:r0 == 1 /\\ P1:r1 == 0)
""",
}
SEEN = {"asked": {(0, 0): 3, (0, 1): 7}, "not-asked": {(0, 0): 3, (1, 1): 7}, "race": {(1, 0): 3, (0, 0): 7}}
CONTRADICTIONS = {
    ("asked", "sc"),
    ("not-asked", "sc"),
    ("race", "sc"),  # plain accesses: SC has no races
    ("race", "tso"),
}


def result(name: str, outcomes: dict[tuple[int, ...], int]) -> MemoryResult:
    test = parse_litmus(TESTS[name])
    return MemoryResult(
        test=name,
        digest=litmus_digest(test),
        backend="wgsl",
        device="a device",
        instances=10,
        iterations=1,
        timeout=5.0,
        stress=False,
        terms=tuple(map(spell, outcome_terms(test))),
        outcomes=tuple(sorted(outcomes.items())),
        other=0,
        launches=1,
        hung=False,
        date="2026-11-22T00:00:00Z",
    )


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    folder.mkdir()
    for name, text in TESTS.items():
        (folder / f"{name}.litmus").write_text(text, encoding="utf-8")
    return folder


def written(file: Path, results: Sequence[MemoryResult]) -> Path:
    file.write_text("".join(f"{print_result(each)}\n" for each in results), encoding="utf-8")
    return file


def named(*names: str) -> list[str]:
    return [word for name in names for word in ("-m", name)]


def test_a_run(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = expand([str(suite)])
    ran = LitmusRuns(
        tests={str(each): each.litmus() for each in files},
        results={str(each): result(each.name, SEEN[each.name]) for each in files},
    )
    report = report_of("a device", ran, resolve_consistency_models(MODELS), ["sc", "c11"])
    observations = report.observations
    print_run(report, ALONE, as_json=True)
    said = capsys.readouterr()
    assert report.wrong and "synth: sc is not sound here" in said.err
    assert "c11" not in said.err
    models = {report["model"]: report for report in json.loads(said.out)["models"]}
    assert {(Path(file).stem, model) for model in MODELS for file, _ in models[model]["forbidden"]} == CONTRADICTIONS
    assert {Path(file).stem: why for file, why in models["c11"]["reasons"].items()} == {"race": "data-race"}
    cases = cases_of(files, ran, observations, ["sc", "tso"])
    assert {(case.name, case.ending) for case in cases} == {(name, CaseOutcome.FAILURE) for name in TESTS}
    cases = cases_of(files, ran, observations, ["c11"])
    assert {case.ending for case in cases} == {CaseOutcome.PASSED}


def test_a_report(suite: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "all.jsonl", [result(name, seen) for name, seen in SEEN.items()])
    done = synth("report", file, "--suite", suite, *named(*MODELS), "--sound", "c11", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    names = [test["name"] for test in found["tests"]]
    assert {(names[cell["test"]], model) for cell in found["cells"] for model in cell["contradicts"]} == CONTRADICTIONS
    standing = {each["model"]: each for each in found["models"]}
    assert [standing["c11"][key] for key in ("status", "forbidden", "allowed", "unknown")] == ["consistent", 0, 2, 1]
    assert [standing["sc"][key] for key in ("status", "forbidden", "allowed")] == ["contradicted", 3, 0]
    assert synth("report", file, "--suite", suite, *named(*MODELS), "--sound", "tso").exit_code == 1
    done = synth("report", file, "--suite", suite, *named(*MODELS), "--sound", "sc", "--format", "junit")
    assert ElementTree.fromstring(done.stdout).get("failures") == "3"


def test_a_comparison(suite: Path, tmp_path: Path) -> None:
    strong = {"asked": {(0, 1): 7}, "not-asked": {(1, 1): 7}, "race": {(0, 0): 7}}
    before = written(tmp_path / "a.jsonl", [result(name, seen) for name, seen in strong.items()])
    after = written(tmp_path / "b.jsonl", [result(name, seen) for name, seen in SEEN.items()])
    done = synth("diff", before, after, "--suite", suite, *named(*MODELS), "--json")
    found = json.loads(done.stdout)
    assert set(found["contradicted_by_b_only"]) == {model for _, model in CONTRADICTIONS}
    assert found["contradicted_by_a_only"] == {}


def test_a_page(suite: Path) -> None:
    """Its script says that a model with ``allowed`` forbids every outcome that is not among them."""
    models = resolve_consistency_models(MODELS)
    bundle, _ = memory_bundle(expand([str(suite)]), BACKENDS["web"], PLAIN, 32, models, 1)
    data = page_data(bundle)
    found = {
        (test["name"], data["models"][model])
        for test in data["tests"]
        for model, allowed in test["allowed"]
        if {*SEEN[test["name"]]} - {tuple(test["outcomes"][at]) for at in allowed}
    }
    assert found == CONTRADICTIONS
    (race,) = (test for test in data["tests"] if test["name"] == "race")
    silent = {data["models"][model]: why for model, why in race["silent"]}
    assert silent["c11"] == "data-race"


def test_models_of_a_corpus(tmp_path: Path) -> None:
    """A corpus has verdicts and no flags. A model that ships is asked again, a user's of the same name is not."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "tso.cat").write_text("acyclic po | rf | co | fr\n", encoding="utf-8")
    for name, model in (("shipped", "tso"), ("own", str(own / "tso.cat"))):
        words = [
            "memory",
            "--edges",
            "PodWR Fre",
            "--size",
            "4",
            "-m",
            model,
            "-m",
            "c11",
            "-o",
            tmp_path / name / "suite",
        ]
        assert synth(*words).exit_code == 0
    for name, against in (("shipped", set()), ("own", {"tso"})):
        suite = tmp_path / name / "suite"
        (sb,) = read_corpus(suite).tests
        test = parse_litmus(sb.text)
        line = result("asked", {(0, 0): 1})
        fields = {each: getattr(line, each) for each in line.__struct_fields__}
        fields |= {"test": sb.name, "digest": sb.digest, "terms": tuple(map(spell, outcome_terms(test)))}
        written(suite / "results.jsonl", [MemoryResult(**fields)])
        done = synth("report", suite, "--json")
        assert {model for cell in json.loads(done.stdout)["cells"] for model in cell["contradicts"]} == against


def test_a_selection(tmp_path: Path) -> None:
    """Plain accesses race in C, so c11 is told from no model by what it says of them; SC is told from TSO as before."""
    edges = ["--edges", "PodWW PodRR PodRW PodWR Rfe Fre Coe", "--size", "4"]
    suite = tmp_path / "suite"
    assert synth("memory", *edges, *named("sc", "tso", "c11"), "-o", suite).exit_code == 0
    done = synth("select", suite, "--separate-models", "--json", "-o", tmp_path / "few")
    assert "c11 promises nothing of 6 of 6 tests (data-race): they separate it from no model" in done.stderr
    pairs = {tuple(pair["models"]): pair["tests_in_corpus"] for pair in json.loads(done.stdout)["pairs"]}
    assert pairs == {("sc", "tso"): 2, ("sc", "c11"): 0, ("tso", "c11"): 0}
    (chosen,) = read_corpus(tmp_path / "few").tests
    assert chosen.verdicts["c11"] == "ALLOWED"  # as the corpus has it
