"""``synth label --expect``: tables of expected verdicts, of every form, that hold, differ, or say nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from click.testing import Result
from commands import synth

EXAMPLES = Path(__file__).parents[2] / "examples"
MP, CORR = "mp-acq-rel.litmus", "coRR.litmus"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (MP, CORR):
        shutil.copy(EXAMPLES / "memory" / name, name)
    shutil.copy(EXAMPLES / "progress" / "mutex.axb", "mutex.axb")


def label(*arguments: object) -> Result:
    return synth("label", *arguments)


def told(result: Result) -> list[str]:
    return [line.removeprefix("synth: ") for line in result.stderr.splitlines()]


MODELS = ("-m", "ptx-6.0", "-m", "sc")


def test_what_label_writes_is_what_it_expects_again():
    Path("t.csv").write_text(label(MP, CORR, *MODELS, "--format", "csv").stdout)
    result = label(MP, CORR, *MODELS, "--expect", "t.csv")
    assert (result.exit_code, told(result)) == (0, ["t.csv: 4 of 4 expected verdicts hold"])


def test_each_difference_is_a_line_with_its_place_and_the_output_is_as_ever():
    Path("t.csv").write_text(f"file,model,verdict\n{MP},sc,ALLOWED\n{CORR},ptx-6.0,ALLOWED\n{CORR},sc,FORBIDDEN\n")
    plain = label(MP, CORR, *MODELS, "--format", "csv")
    result = label(MP, CORR, *MODELS, "--format", "csv", "--expect", "t.csv")
    assert (result.exit_code, result.stdout) == (1, plain.stdout)
    assert told(result) == [
        f"{MP}: sc: verdict FORBIDDEN, expected ALLOWED (t.csv:2)",
        "t.csv: 2 of 3 expected verdicts hold",
    ]


@pytest.mark.parametrize(
    "table",
    [
        f"name,sc,rmo,ptx-6.0\n{MP.removesuffix('.litmus')},FORBIDDEN,ALLOWED,\ncoRR,FORBIDDEN,FORBIDDEN,ALLOWED\n",
        f"path,sc\n./{MP},FORBIDDEN\n{CORR},FORBIDDEN\n",
    ],
)
def test_tables_with_a_column_for_each_model(table):
    Path("t.csv").write_text(table)
    models = MODELS if "ptx" in table else ("-m", "sc")
    assert label(f"./{MP}", CORR, *models, "--expect", "t.csv").exit_code == 0
    Path("t.csv").write_text(table.replace(f"{CORR},FORBIDDEN", f"{CORR},ALLOWED").replace("coRR,F", "coRR,UNF"))
    assert label(f"./{MP}", CORR, *models, "--expect", "t.csv").exit_code == 1


def test_tables_of_one_model_without_its_name():
    Path("t.csv").write_text(f"path,verdict\n{MP},FORBIDDEN\n")
    assert label(MP, "-m", "sc", "--expect", "t.csv").exit_code == 0
    Path("t.csv").write_text(f"{MP},0\n{CORR},1\n")  # as Dartagnan has them: whether the condition is true
    result = label(MP, CORR, "-m", "ptx-6.0", "--expect", "t.csv")
    assert (result.exit_code, told(result)) == (0, ["t.csv: 2 of 2 expected verdicts hold"])
    Path("t.csv").write_text(f"{MP},1\n{CORR},1\n")
    result = label(MP, CORR, "-m", "ptx-6.0", "--expect", "t.csv")
    assert told(result)[0] == f"{MP}: ptx-6.0: condition false, expected true (t.csv:1)"
    assert label(MP, *MODELS, "--expect", "t.csv").exit_code == 2


def test_a_corpus_holds_its_own_labels():
    made = synth("progress", "-t", "2", "-n", "2", "-o", "suite")
    assert made.exit_code == 0
    result = label("suite", "--expect", "suite/labels.csv")
    assert result.exit_code == 0 and told(result)[-1].endswith("expected verdicts hold")
    lines = Path("suite/labels.csv").read_text().splitlines(keepends=True)
    Path("t.csv").write_text("".join([*lines[:1], lines[1].replace("MAY_HANG", "TERMINATES", 1), *lines[2:]]))
    assert label("suite", "--expect", "t.csv").exit_code == 1


def test_a_test_that_is_not_there_is_a_difference():
    Path("t.csv").write_text(f"file,verdict\n{MP},FORBIDDEN\ngone.litmus,ALLOWED\n")
    result = label(MP, "-m", "sc", "--expect", "t.csv")
    assert (result.exit_code, told(result)) == (
        1,
        ["gone.litmus: sc: no such test was labelled (t.csv:3)", "t.csv: 1 of 2 expected verdicts hold"],
    )


def test_a_file_of_labels_that_goes_on_is_compared_as_a_whole():
    Path("t.csv").write_text(label(MP, CORR, *MODELS, "--format", "csv").stdout)
    assert label(MP, CORR, *MODELS, "-o", "l.csv").exit_code == 0
    whole = Path("l.csv").read_text().splitlines(keepends=True)
    Path("l.csv").write_text("".join(whole[:3]))
    result = label(MP, CORR, *MODELS, "-o", "l.csv", "--expect", "t.csv")
    assert (result.exit_code, told(result)[-1]) == (0, "t.csv: 4 of 4 expected verdicts hold")


def test_what_holds_only_as_far_as_loops_were_followed_is_expected_with_and_without_saying_so():
    lock = EXAMPLES / "locks" / "ticket-lock.litmus"
    said = label(lock, "-m", "sc", "--format", "csv").stdout.splitlines()[1].split(",")[2]
    for verdict in {said, said.partition(" ")[0]}:
        Path("t.csv").write_text(f"file,verdict\n{lock},{verdict}\n")
        assert label(lock, "-m", "sc", "--expect", "t.csv").exit_code == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "t.csv:1:1: expected file,model,verdict or"),
        ("what,ever\n", "t.csv:1:1: expected file,model,verdict or"),
        ("file,model,verdict\na,b\n", "t.csv:2:1: expected 3 cells, found 2"),
        (
            "file,model,verdict\nmp.litmus,tso,ALLOWED\n",
            "t.csv: the table expects nothing of what is asked: 1 tests under sc",
        ),
        ("file,sx\nmp.litmus,ALLOWED\n", "t.csv: the table expects nothing of what is asked"),
        (f"file,verdict\n{MP},ALLOWED\n{MP},FORBIDDEN\n", f"t.csv:3:1: {MP} sc: line 2 expects something else"),
        (f"{MP},0\n{CORR},2\n", "t.csv:2:1: expected 0 or 1, found 2"),
        ('file,verdict\n"', "t.csv:"),
    ],
)
def test_a_table_that_is_wrong_or_says_nothing_is_refused(table, message):
    Path("t.csv").write_text(table)
    result = label(MP, "-m", "sc", "--expect", "t.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"synth: {message}") and result.stderr.count("\n") == 1


def test_a_name_that_two_tests_have_is_refused_and_their_paths_are_not():
    os.mkdir("b")
    shutil.copy(MP, f"b/{MP}")
    Path("t.csv").write_text(f"file,verdict\n{MP.removesuffix('.litmus')},FORBIDDEN\n")
    result = label(MP, f"b/{MP}", "-m", "sc", "--expect", "t.csv")
    assert result.exit_code == 2 and f"may be b/{MP} or {MP}" in result.stderr
    Path("t.csv").write_text(f"file,verdict\n{MP},FORBIDDEN\nb/{MP},FORBIDDEN\n")
    assert label(MP, f"b/{MP}", "-m", "sc", "--expect", "t.csv").exit_code == 0
