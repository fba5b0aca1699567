"""``synth infer``: what it says, what it writes, its misuse, and the loop of ``--run`` on a machine that is TSO."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands import printed, synth

from corpus.journal import read_corpus
from oracle.certificates.lrat import check_proof
from oracle.consistency import load_model
from synth.inference.pipeline import folder_of

ROOT = Path(__file__).parents[2]
X86 = ROOT / "examples" / "inference" / "x86" / "tests.csv"
SKETCH = """"two switches"
acyclic po & ((?ww: W * W) | (?rr: R * R) | (R * W)) | rf | co | fr as order
"""

TOO_STRONG = """"no way out"
let kept = RM(po) | WW(po) | WR(po) | fencerel(F & SC) | (po & (RMW * M)) | (po & (M * RMW))
acyclic kept | (?rf: rfe | rf) | co | fr as order
acyclic po-loc | rf | co | fr as per-location
"""


def flipped(folder: Path, *names: str) -> Path:
    """The table of x86 with some verdicts turned round, beside links to its tests."""
    for file in X86.parent.glob("*.litmus"):
        (folder / file.name).symlink_to(file)
    other = {"ALLOWED": "FORBIDDEN", "FORBIDDEN": "ALLOWED"}
    lines = []
    for line in X86.read_text().splitlines():
        name, _, verdict = line.partition(",")
        lines.append(f"{name},{other[verdict]}" if name.removesuffix(".litmus") in names else line)
    table = folder / "flipped.csv"
    table.write_text("\n".join([*lines, ""]))
    return table


def test_what_is_published_of_x86_is_tso(tmp_path):
    said = printed("infer", "cpu", "--from", X86, "-o", tmp_path / "out")
    assert "are one model up to 4 events" in said
    assert "\n  no wr\n" in said and "\n  rf: rfe\n" in said and "proved: no other is as weak" in said
    model = tmp_path / "out" / "model.cat"
    assert load_model(str(model)).checks
    compared = synth("compare", model, "tso", "--events", "..4")
    assert (compared.exit_code, "no difference up to 4 events" in compared.stdout) == (0, True)


def test_the_folder_has_models_tests_proofs_and_a_picture(tmp_path):
    sketch = tmp_path / "sketch.cat"
    sketch.write_text(SKETCH)
    out = tmp_path / "out"
    said = printed("infer", sketch, "--events", "..4", "-o", out)
    assert "4 fit, 4 models up to 4 events" in said
    assert sorted(file.name for file in out.iterdir()) == sorted(
        ["answer.json", "lattice.svg", "models", "next.litmus", "tests"]
        + [f"{name}.{form}" for name in ("weakest", "strongest") for form in ("cat", "cnf", "lrat")]
    )
    assert sorted(file.name for file in (out / "models").iterdir()) == ["1.cat", "2.cat", "3.cat", "4.cat"]
    corpus = read_corpus(out / "tests")
    answer = json.loads((out / "answer.json").read_text())
    assert {test.name for test in corpus.tests} == {test["name"] for test in answer["tests"]}
    assert len(answer["classes"]) == 4 and not answer["unique"] and answer["complete"]
    for name in ("weakest", "strongest"):
        clauses = [
            [int(word) for word in line.split()[:-1]]
            for line in (out / f"{name}.cnf").read_text().splitlines()
            if line[0] not in "cp"
        ]
        assert check_proof(clauses, (out / f"{name}.lrat").read_text().splitlines()) >= 1
    again = tmp_path / "again"
    printed("infer", sketch, "--events", "..4", "-o", again)
    for file in sorted(out.rglob("*")):
        if file.is_file() and file.name != "times.json":
            assert file.read_bytes() == (again / file.relative_to(out)).read_bytes(), file.name


ORDERS = X86.parents[1] / "orders.cat"


@pytest.mark.parametrize(("sketch", "backend"), [("gpu", "cuda"), (ORDERS, "cpp")], ids=["cuda", "cpp"])
def test_the_next_test_comes_with_its_program(sketch, backend, tmp_path):
    printed("infer", sketch, "--events", "..3", "-o", tmp_path / "out", "--backend", backend)
    programs = [file for file in (tmp_path / "out" / "next").iterdir() if file.stat().st_size > 1000]
    assert programs and (tmp_path / "out" / "next.litmus").is_file()


def test_verdicts_of_a_corpus_are_facts(tmp_path):
    sketch = tmp_path / "sketch.cat"
    sketch.write_text(SKETCH)
    out = tmp_path / "out"
    printed("infer", sketch, "--events", "..4", "-o", out)
    table = synth("label", out / "tests", "-m", out / "weakest.cat", "--format", "csv").stdout
    labels = tmp_path / "labels.csv"
    labels.write_text(table)
    said = printed("infer", sketch, "--from", labels, "--tests", out / "tests", "--json")
    answer = json.loads(said)
    assert answer["unique"] and answer["fit"] == 1
    assert answer["weakest"][0]["holes"] == ["no ww", "no rr"]


def test_flipped_verdicts_are_named_with_the_fewest_others(tmp_path):
    table = flipped(tmp_path, "sdm-8-1")
    result = synth("infer", "cpu", "--from", table)
    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert "2 facts contradict each other, and no fewer do:" in lines
    assert f"  sdm-8-1 is allowed ({table}:2)" in lines
    assert "violate 1 fact:" in result.stdout


def test_a_sketch_that_is_too_strong_is_told_its_least_change(tmp_path):
    sketch = tmp_path / "sc.cat"
    sketch.write_text(TOO_STRONG)
    table = flipped(tmp_path)
    answer = json.loads(printed_of_code_1("infer", sketch, "--from", table, "--json"))
    assert answer["fit"] == 0 and answer["core"]
    assert "line 2, without WR(po)" in answer["changes"]


def printed_of_code_1(*words: object) -> str:
    result = synth(*words)
    assert result.exit_code == 1, result.output
    return result.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("infer", "nosuch"), "unknown sketch 'nosuch'"),
        (("infer", "cpu", "--from", "nowhere.csv"), "nowhere.csv: cannot read"),
        (("infer", "cpu", "--from", "x.txt"), "expected a table of verdicts (.csv), results (.jsonl) or a corpus"),
        (("infer", "cpu", "--run", "-o", "o"), "--run needs --backend"),
        (("infer", "cpu", "--run", "--backend", "cpp"), "--run needs -o, the folder"),
    ],
)
def test_misuse_is_one_line(words, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.txt").write_text("x")
    result = synth(*words)
    assert result.exit_code == 2 and expected in result.stderr, result.output
    assert result.stderr.count("\n") == 1


# The loop of --run

MACHINE = ROOT / "tests" / "tso_machine.py"


def loop(out: Path, *words: object, kill_after: int = 0) -> subprocess.CompletedProcess[str]:
    """``synth infer --run`` on a machine that shows whatever TSO allows, killed after so many tests."""
    asked = ["infer", "cpu", "--run", "--backend", "cpp", "--vocabulary", "cpu", "--events", "..4", "-o", out]
    return subprocess.run(
        [sys.executable, str(MACHINE), str(kill_after), *map(str, (*asked, *words))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_a_loop_ends_at_the_model_of_the_machine(tmp_path):
    ran = loop(tmp_path / "out", "--never-seen", "1000")
    assert ran.returncode == 0, ran.stderr
    assert "no test is left that would tell models apart" in ran.stdout
    assert "are one model up to 4 events" in ran.stdout
    compared = synth("compare", tmp_path / "out" / "model.cat", "tso", "--events", "..4")
    assert (compared.exit_code, compared.stderr) == (0, "")


def test_without_it_the_strongest_model_is_that_of_the_machine(tmp_path):
    ran = loop(tmp_path / "out")
    assert ran.returncode == 0 and "strongest (allows 0 outcomes never seen):" in ran.stdout, ran.stderr
    compared = synth("compare", tmp_path / "out" / "strongest.cat", "tso", "--events", "..4")
    assert compared.exit_code == 0, compared.output


def test_a_loop_that_is_killed_goes_on_to_the_same_end(tmp_path):
    whole = loop(tmp_path / "whole")
    killed = loop(tmp_path / "killed", kill_after=3)
    assert (whole.returncode, killed.returncode) == (0, -signal.SIGKILL)
    other = loop(tmp_path / "killed", "--never-seen", "forbidden")
    assert other.returncode == 2 and "another request began this folder" in other.stderr
    resumed = loop(tmp_path / "killed")
    assert resumed.returncode == 0, resumed.stderr
    for file in sorted((tmp_path / "whole").rglob("*")):
        name = file.relative_to(tmp_path / "whole")
        if file.is_file() and "times" not in file.name and file.suffix not in (".cnf",):
            assert file.read_bytes() == (tmp_path / "killed" / name).read_bytes(), name


def test_a_loop_that_was_killed_as_it_began_begins(tmp_path):
    half = tmp_path / ".request.json.999999999.tmp"
    half.write_text("{")
    with folder_of(tmp_path, {"n": 1}, stays=True) as folder:
        assert folder == tmp_path and [each.name for each in tmp_path.iterdir()] == ["request.json"]
