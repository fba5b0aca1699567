"""``synth show``, ``synth export`` and the inputs they share."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result
from commands import synth

from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from corpus.export import TARGETS, export
from corpus.journal import FoundTest, Journal, finish, read_corpus
from corpus.progress.as_litmus import axb_program
from corpus.progress.axb import digest
from corpus.progress.idioms import idioms, tags_of
from corpus.progress.text import parse_axb, print_axb, program_of
from corpus.records import test_record
from corpus.suite import TESTS
from corpus.test import Test
from oracle.progress.models import MODELS, verdicts
from synth.inputs import expand


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The idioms as a corpus."""
    path = tmp_path_factory.mktemp("show") / "suite"
    with Journal.create(path, {"models": list(MODELS)}) as journal:
        for name, program in idioms().items():
            said = {model: str(verdict) for model, verdict in verdicts(program).items()}
            test = Test("", digest(program), print_axb(program), said, tags_of(digest(program)))
            journal.append("a", [FoundTest("", ((name, test_record(test)),))])
        finish(journal, {"complete": True}, {})
    return path


# show


def test_show_counts_by_bound_tag_and_model(suite):
    shown = synth("show", suite).stdout
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line.strip()}
    assert "10 tests, complete" in shown
    assert rows["2x2"] == ["3", "0/0", "1/2", "0/1", "1/2", "1/2", "2/3"]
    assert rows["all"] == ["10", "0/0", "1/2", "2/3", "3/4", "3/4", "9/10"]
    assert rows["mutex"] == ["1", "0/0", "0/0", "1/1", "1/1", "1/1", "1/1"]


def test_show_as_json(suite):
    summary = json.loads(synth("show", suite, "--json", "--tests").stdout)
    assert summary["tests"] == 10
    assert summary["bounds"] == {"2x2": 3, "2x3": 1, "2x4": 4, "3x9": 1, "4x16": 1}
    assert summary["models"]["hsa-weak"] == {"conformance": 1, "distinguishing": 1}
    assert summary["models"]["fair-strong"] == {"conformance": 10, "distinguishing": 0}
    assert summary["table_4"]["weak"]["lobe"] == {"conformance": 3, "distinguishing": 0}
    listed = {test["tags"][0]: test for test in summary["list"]}
    assert listed["mutex"]["distinguishing"] == ["obe-weak"]
    assert listed["philosophers-simplified"]["distinguishing"] == ["hsa-strong", "obe-strong"]


def test_show_lists_every_test_when_asked(suite):
    shown = synth("show", suite, "--tests").stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("2x3-0001")]
    assert "mutex-simplified" in line and "obe-weak" in line
    assert "2x3-0001" not in synth("show", suite).stdout


def test_the_plot_is_the_same_bytes_each_time(suite, tmp_path):
    for name in ("a.svg", "b.svg"):
        assert "drawn in" in synth("show", suite, "--picture", tmp_path / name).stdout
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert words >= {"HSA", "OBE", "LOBE", "fair", "weak tests", "strong tests", "share of tests, %"}
    assert words >= {"All", "10 tests", "9", "1"}  # 9 of them weak, 1 strong


def test_show_of_an_empty_and_of_an_unfinished_corpus(tmp_path):
    with Journal.create(tmp_path / "c", {"models": list(MODELS)}) as journal:
        assert (
            synth("show", tmp_path / "c").stdout
            == f"{tmp_path / 'c'}: 0 tests, not complete: the run did not end; the same command goes on\n"
        )
        finish(journal, {"complete": True}, {})
    assert synth("show", tmp_path / "c", "--picture", tmp_path / "s.svg").exit_code == 0
    assert json.loads(synth("show", tmp_path / "c", "--json").stdout)["tests"] == 0


# export


@pytest.mark.parametrize("target", ["dartagnan-ptx", "dartagnan-vulkan"])
def test_litmus_folders_have_an_index_and_expected_verdicts(suite, tmp_path, target):
    assert synth("export", suite, "--to", target, "-o", tmp_path / "out").exit_code == 0
    tests = read_corpus(suite).tests
    names = (tmp_path / "out" / "@all").read_text().splitlines()
    assert names == [f"{test.name}.litmus" for test in tests]
    for name, test in zip(names, tests, strict=True):
        assert axb_program(read_litmus(tmp_path / "out" / name)) == program_of(test)
    for model in MODELS:
        rows = (tmp_path / "out" / "expected" / f"{model}.csv").read_text().splitlines()
        assert rows == [f"{test.name}.litmus,{int(test.verdicts[model] == 'TERMINATES')}" for test in tests]


def test_an_exported_folder_of_programs_is_read_again(suite, tmp_path):
    assert synth("export", suite, "--to", "axb", "-o", tmp_path / "out").exit_code == 0
    again = load_tests([str(tmp_path / "out")])
    tests = read_corpus(suite).tests
    assert sorted((test.name, test.digest) for test in tests) == [(test.name, test.digest) for test in again]


def test_export_leaves_no_half_folder(tmp_path):
    broken = Test("b", "0" * 16, "THREAD 0\n0: what\n")
    for target in TARGETS:
        with pytest.raises(InputError):
            export([Test("a", "1" * 16, "THREAD 0\n0: Mem[0] = 1;\n"), broken], target, tmp_path / "out")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../escape", "/etc/x", "", ".hidden", "a\nb", "@all", "a b", "con:x"])
def test_names_that_could_leave_the_folder_are_refused(tmp_path, name):
    with pytest.raises(InputError, match="cannot name a file"):
        export([Test(name, "0" * 16, "THREAD 0\n0: Mem[0] = 1;\n")], "axb", tmp_path / "out")
    said = {name: "TERMINATES"}
    with pytest.raises(InputError, match="model name"):
        export([Test("a", "0" * 16, "THREAD 0\n0: Mem[0] = 1;\n", said)], "dartagnan-ptx", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_unknown_verdicts_are_left_out_of_the_expected_tables(tmp_path):
    said = {"hsa-weak": "UNKNOWN", "fair-weak": "MAY_HANG"}
    export([Test("a", "0" * 16, "THREAD 0\n0: Mem[0] = 1;\n", said)], "dartagnan-ptx", tmp_path / "out")
    assert (tmp_path / "out/expected/hsa-weak.csv").read_text() == ""
    assert (tmp_path / "out/expected/fair-weak.csv").read_text() == "a.litmus,0\n"


# Misuse: one line, exit code 2, nothing lost


def load_tests(paths: list[str]) -> list[Test]:
    return [given.axb() for given in expand(paths)]


def one_line(result: Result) -> str:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_misuse_gets_one_line(suite, tmp_path):
    assert "No such file" in one_line(synth("export", tmp_path / "none", "--to", "axb", "-o", tmp_path / "o"))
    assert "no corpus here" in one_line(synth("show", tmp_path))
    assert "no corpus and holds no .axb file" in one_line(
        synth("export", tmp_path, "--to", "axb", "-o", tmp_path / "o")
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("...")
    error = one_line(synth("export", suite, "--to", "axb", "-o", tmp_path / "mine"))
    assert "the output exists and is not an empty folder" in error
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["notes"]
    (tmp_path / "a.axb").write_text("THREAD 0\n0: Mem[0] = 1;\n")
    error = one_line(synth("export", *[tmp_path / "a.axb"] * 2, "--to", "axb", "-o", tmp_path / "o"))
    assert "2 tests are called 'a'" in error


def test_a_corpus_whose_last_line_is_cut_off(suite, tmp_path):
    cut = shutil.copytree(suite, tmp_path / "cut")
    data = (cut / TESTS).read_bytes()[:-100]
    (cut / TESTS).write_bytes(data)
    for command in (["show", cut], ["export", cut, "--to", "axb", "-o", tmp_path / "o"]):
        assert "tests.jsonl:10: the line is cut off; the 9 tests before it are intact" in one_line(synth(*command))
    assert (cut / TESTS).read_bytes() == data


# inputs


def test_inputs_are_files_folders_and_corpora(suite, tmp_path):
    text = "THREAD 0\n0: Mem[3]   =  1; // written like this\n"
    (tmp_path / "b.axb").write_text(text)
    (tmp_path / "a.axb").write_text("THREAD 0\n0: if (Mem[0] == 0) goto 0;\n")
    (tmp_path / "README").write_text("not a test")
    tests = load_tests([str(tmp_path), str(tmp_path / "b.axb"), str(suite)])
    assert [test.name for test in tests[:3]] == ["a", "b", "b"]
    assert tests[3:] == read_corpus(suite).tests
    assert tests[1].text == "THREAD 0\n0: Mem[3] = 1;\n"  # as it is written, in the printer's spelling
    assert tests[1].digest == digest(parse_axb(text)) and tests[1].verdicts == {}


def test_inputs_that_are_none(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        load_tests([str(tmp_path / "none.axb")])
    (tmp_path / "bad.axb").write_text("THREAD 0\n")
    with pytest.raises(InputError, match=r"bad\.axb:2:1: expected '@' or a number, found the end of the file"):
        load_tests([str(tmp_path)])
