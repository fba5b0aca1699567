"""What a corpus must never do: lose the user's files, mix two models' verdicts, or be a folder that does not open."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from commands import synth

from constraints.cycles import patterns
from corpus.errors import InputError
from corpus.files import LARGEST_TEXT
from corpus.journal import FoundTest, Journal, finish, read_corpus
from corpus.litmus.verdict_table import read_verdicts
from corpus.records import test_record
from corpus.suite import MANIFEST, TESTS
from corpus.test import Test

EXAMPLES = Path(__file__).parents[2] / "examples"
EDGES = "PodWW PodRR PodRW PodWR Rfe Fre Coe"


def memory(folder: Path, *arguments: object) -> Result:
    return synth("memory", "-e", EDGES, *arguments, "-o", folder)


def found(number: int) -> FoundTest:
    text = f"THREAD 0\n0: Mem[{number}] = 1;\n"
    return FoundTest(text, ((f"{number:04}", test_record(Test("", f"{number:016x}", text))),))


class Killed(BaseException):
    """What a kill looks like from inside: nothing after it happens."""


@pytest.mark.parametrize("complete", [False, True])
def test_a_kill_at_any_moment_leaves_a_folder_that_opens(tmp_path, monkeypatch, complete):
    """Stopped early, resumed, and killed before each change of a file in turn."""
    with Journal.create(tmp_path / "start", {"n": 1}) as journal:
        journal.append("a", [found(1), found(2)])
        finish(journal, {"complete": False}, {})

    def steps(folder: Path, most: int) -> bool:
        """Whether the run came to its end before it was killed."""
        left = itertools.count(most, -1)

        def counted(change):
            def call(*args, **kwargs):
                if next(left) <= 0:
                    raise Killed
                return change(*args, **kwargs)

            return call

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", counted(Path.replace))
            patch.setattr(Path, "unlink", counted(Path.unlink))
            try:
                with Journal.resume(folder, {"n": 1}) as journal:
                    journal.append("a", [found(3)])
                    finish(journal, {"complete": complete}, {})
            except Killed:
                return False
        return True

    for most in range(30):
        folder = tmp_path / str(most)
        shutil.copytree(tmp_path / "start", folder)
        ended = steps(folder, most)
        assert len(read_corpus(folder).tests) in ({3} if ended else {2, 3})
        if ended:
            break
        if not read_corpus(folder).complete:
            with Journal.resume(folder, {"n": 1}) as journal:
                journal.append("a", [found(3)])
                finish(journal, {"complete": True}, {})
        assert len(read_corpus(folder).tests) == 3
    assert ended and most > 5


def test_resume_deletes_nothing_that_is_not_its_own(tmp_path):
    assert memory(tmp_path / "d", "--max-tests", 2).exit_code == 0
    mine = {"mine.litmus": "GPU_PTX mine\n", "MP.litmus": "..", ".notes.litmus.1.tmp": "x", "@all": "mine.litmus\n"}
    for name, text in mine.items():
        (tmp_path / "d" / name).write_text(text)
    assert memory(tmp_path / "d").exit_code == 0
    assert {name: (tmp_path / "d" / name).read_text() for name in mine} == mine
    assert len(read_corpus(tmp_path / "d").tests) == 6


def test_a_model_that_changed_is_not_gone_on_with(tmp_path):
    model, part = tmp_path / "m.cat", tmp_path / "part.cat"
    part.write_text("let com = rf | co | fr\n")
    model.write_text('include "part.cat"\nacyclic po | com as sc\n')
    asked = ["-m", model]
    assert memory(tmp_path / "d", *asked, "--max-tests", 2).exit_code == 0
    kept = (tmp_path / "d" / MANIFEST).read_bytes()
    part.write_text("let com = rf | co\n")  # what it includes counts
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", "memory", "-e", EDGES, *asked]
    changed = subprocess.run([*command, "-o", tmp_path / "d"], capture_output=True, text=True)  # models are kept in one
    assert changed.returncode == 2
    assert "the model m has changed since: its verdicts here are old; make the corpus anew" in changed.stderr
    assert (tmp_path / "d" / MANIFEST).read_bytes() == kept
    part.write_text("let com = rf | co | fr\n")
    assert memory(tmp_path / "d", *asked).exit_code == 0
    other = memory(tmp_path / "d", "-m", "sc")
    assert "made with another labelled_under" in other.stderr


def test_filters_are_a_conjunction(tmp_path):
    for asked in (
        ["--distinguish", "sc>sc"],
        ["--distinguish", "tso>sc,tso"],
        ["--distinguish", "tso,sc>rmo,tso"],
    ):
        refused = memory(tmp_path / "d", *asked)
        assert refused.exit_code == 2 and "no test is like that:" in refused.stderr
        assert not (tmp_path / "d").exists()
    assert memory(tmp_path / "d", "--distinguish", "tso,rmo>sc").exit_code == 0
    for test in read_corpus(tmp_path / "d").tests:
        assert dict(test.verdicts) == {"tso": "ALLOWED", "rmo": "ALLOWED", "sc": "FORBIDDEN"}


def test_the_first_tests_of_a_large_size_come_at_once(tmp_path, monkeypatch):
    """Cycles are labelled as they are found: 10 of size 7 need no more than are made at once."""
    calls = []

    def counted(*args, **kwargs):
        for pattern in patterns(*args, **kwargs):
            calls.extend(pattern.cycles())
            yield pattern

    monkeypatch.setattr("synth.memory.synthesis.patterns", counted)
    assert memory(tmp_path / "d", "--size", 7, "--max-tests", 10).exit_code == 0
    assert len(read_corpus(tmp_path / "d").tests) == 10
    assert len(calls) <= 50


def test_what_cannot_be_said_is_left_out_and_listed(tmp_path, monkeypatch):
    """A cycle that no dialect says costs that cycle alone."""
    from synth.memory import synthesis

    said = synthesis.dialect_for

    def picky(test):
        if test.name == "MP":
            raise InputError("no dialect can say it (because)")
        return said(test)

    monkeypatch.setattr(synthesis, "dialect_for", picky)
    result = memory(tmp_path / "d", "-m", "sc", "-j", 1)
    assert result.exit_code == 0
    assert result.stdout.endswith("5 tests of 6 cycles, complete\n")
    assert "1 of 6 tests are left out, and the manifest lists them: MP: no dialect can say it" in result.stderr
    manifest = json.loads((tmp_path / "d" / MANIFEST).read_text())
    assert manifest["refused"] == {"MP": "no dialect can say it (because)"} and manifest["counts"]["refused"] == 1


def test_sc_accesses_beside_cache_operators_do_not_end_a_synthesis(tmp_path):
    result = synth("memory", "-e", "PodWR Fre Sc.gpu Cg Vol", "-m", "sc", "-o", tmp_path / "d")
    assert result.exit_code == 0 and result.stdout.endswith("11 tests of 45 cycles, complete\n")
    assert "34 of 45 tests are left out, and the manifest lists them" in result.stderr
    assert {test.text.split()[0] for test in read_corpus(tmp_path / "d").tests} == {"GPU_PTX", "OPENCL"}
    assert len(json.loads((tmp_path / "d" / MANIFEST).read_text())["refused"]) == 34


@pytest.mark.parametrize(
    "manifest",
    [
        '{"format": 2, "counts": {"tests": 1' + "0" * 5000 + "}}",
        '{"format": 2, "counts": {"tests": "many"}}',
        '{"format": 2, "counts": {"tests": -1}}',
        '{"format": 2, "models": {"sc": 1}}',
        '{"format": 2, "models": "sc"}',
        '{"format": 2, "request": []}',
        '{"format": 2, "complete": "yes"}',
        "[" * 100_000,
        '{"format": true}',
        '{"format": 1, "request": {"kind": "memory"}, "models": ["sc"]}',
        "\ufeff{}",
        '{"format": 2, "models": ["sc", "tso", "sc"]}',
    ],
    ids=range(12),
)
def test_manifests_that_are_none(tmp_path, manifest):
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / MANIFEST).write_text(manifest)
    (folder / TESTS).write_text("")
    for command in (["show"], ["export", "--to", "litmus", "-o", tmp_path / "o"], ["label"]):
        result = synth(command[0], folder, *command[1:])
        assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1, result.output


LINES = [
    '{"unit":1,"program":"","tests":[]}',
    '{"unit":"a","program":"","tests":{}}',
    '{"unit":"a","program":"","tests":[["k"]]}',
    '{"unit":"a","program":"","tests":[["k",7]]}',
    '{"unit":"a","program":"","tests":[["k",{}]]}',
    '{"unit":"a","program":"","tests":[[7,{}]]}',
    '{"unit":"a","closed":[]}',
    '{"closed":{}}',
    '{"tests":[]}',
    '{"request":[]}',
    '{"unit":"a","program":"","tests":[["k",{"name":"","digest":"","text":"","verdicts":{"ALLOWED":"sc"},"tags":[]}]]}',
    '{"unit":"a","program":"","tests":[["k",{"name":"","digest":"","text":"","verdicts":[],"tags":[]}]]}',
    "[" * 5000,
]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_journals_whose_lines_have_the_wrong_shape(tmp_path, line):
    folder = tmp_path / "d"
    assert memory(folder, "-m", "sc", "--max-tests", 2).exit_code == 0
    for name in (TESTS, MANIFEST):
        (folder / name).unlink()
    with (folder / "journal.jsonl").open("a") as file:
        file.write(line + "\n" + '{"unit":"4","closed":{}}\n')
    for result in (synth("show", folder), memory(folder, "-m", "sc")):
        assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1, result.output
        assert "journal.jsonl:" in result.stderr


@pytest.mark.parametrize("kind", ["device", "pipe", "socket", "folder"])
def test_what_is_no_ordinary_file_is_not_read(tmp_path, monkeypatch, kind):
    """A device never ends, a pipe that nobody writes to does not even open, and a socket cannot be opened."""
    monkeypatch.chdir(tmp_path)  # a socket's name has at most 108 bytes
    for name in ("t.axb", "t.litmus", "@all", "m.cat", "edges", "tests.jsonl", "d.txt"):
        path = tmp_path / name
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(name)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero")
    (tmp_path / "@index").write_text("t.litmus\n")
    (tmp_path / "SB.litmus").write_text((EXAMPLES / "memory" / "c-sb-sc.litmus").read_text())
    for line, name in [
        (["label", tmp_path / "t.axb"], "t.axb"),
        (["label", tmp_path / "@all", "-m", "sc"], "@all"),
        (["explain", tmp_path / "t.litmus", "-m", "sc"], "t.litmus"),
        (["explain", tmp_path / "@index", "-m", "sc"], "t.litmus"),
        (["label", tmp_path / "SB.litmus", "-m", tmp_path / "m.cat"], "m.cat"),
        (["memory", "--edges", f"@{tmp_path / 'edges'}", "-o", tmp_path / "out"], "edges"),
        (["run", tmp_path / "SB.litmus", "--backend", "glsl", "--decode", tmp_path / "d.txt"], "d.txt"),
    ]:
        if kind == "folder" and name not in ("m.cat", "edges", "d.txt"):  # folders of tests are read
            continue
        result = synth(*line)
        what = "Is a directory" if kind == "folder" else "not an ordinary file"
        assert result.exit_code == 2 and what in result.stderr.replace("is a directory", what), result.output
        assert len(result.stderr.splitlines()) == 1 and name in result.stderr


def test_a_text_has_a_largest_size(tmp_path):
    with (tmp_path / "t.litmus").open("wb") as file:
        file.truncate(LARGEST_TEXT + 1)
    result = synth("label", tmp_path / "t.litmus", "-m", "sc", "-j", 1)
    assert result.exit_code == 2 and f"t.litmus: cannot read: larger than {LARGEST_TEXT} bytes" in result.stderr


HEADER = "file,model,verdict,condition,flags"


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([HEADER + "\rSB.litmus,sc,FORBIDDEN,false,\r"], "labels.csv:1:1: not CSV: new-line character"),
        ([HEADER, "SB.litmus,sc,,false,"], "labels.csv:2:1: expected file,model,verdict,"),
        (
            [HEADER, f"SB.litmus,sc,{'A' * 200_000},true,"],
            "labels.csv:2:1: not CSV: field larger than field limit (131072)",
        ),
        ([HEADER, 'SB.litmus,"sc"x,ALLOWED,true,'], "labels.csv:2:1: not CSV: ',' expected"),
        ([HEADER, "SB.litmus,sc"], f"labels.csv:2:1: expected {HEADER}"),
        ([], f"labels.csv:1:1: expected the columns {HEADER}"),
    ],
    ids=range(6),
)
def test_tables_of_verdicts_that_are_none(tmp_path, rows, error):
    (tmp_path / "labels.csv").write_text("\n".join(rows), newline="")
    with pytest.raises(InputError, match=re.escape(error)):
        read_verdicts(tmp_path / "labels.csv")


def test_a_surrogate_in_a_manifest_is_no_name(tmp_path):
    (tmp_path / MANIFEST).write_text('{"format": 2, "models": ["\\ud800"]}')
    (tmp_path / TESTS).write_text("")
    result = synth("show", tmp_path)
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1
    assert "not the manifest of a corpus: it cannot be read as JSON" in result.stderr


@pytest.mark.parametrize("verdicts", ['{"ALLOWED": "sc"}', '["ALLOWED"]', '{"ALLOWED": [["sc"]]}', '"ALLOWED"', "null"])
def test_a_list_where_a_verdict_is_due(tmp_path, verdicts):
    (tmp_path / MANIFEST).write_text('{"format": 2, "models": ["sc"], "request": {"kind": "memory"}}')
    line = f'{{"name":"a","digest":"","text":"","bound":"2x4","scopes":[],"verdicts":{verdicts},"tags":[]}}'
    (tmp_path / TESTS).write_text(f"{line}\n")
    result = synth("show", tmp_path)
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1
    assert "tests.jsonl:1: not a test record" in result.stderr


@pytest.mark.parametrize("command", ["export", "select"])
def test_a_link_as_the_output(tmp_path, command):
    """A link to an empty folder means that folder; one to nothing or to anything else is refused."""
    assert synth("progress", "-t", 2, "-n", 2, "-o", tmp_path / "p").exit_code == 0
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("")
    (tmp_path / "elsewhere" / "empty").mkdir(parents=True)
    for name, target in {"dangling": "nothing", "to_full": "full", "to_file": "p/tests.jsonl"}.items():
        (tmp_path / name).symlink_to(target)
    (tmp_path / "to_empty").symlink_to("elsewhere/empty")
    options = ["--to", "axb"] if command == "export" else ["--separate-models"]
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    for name, error in {
        "dangling": "the output is a link to what is not there",
        "to_full": "the output exists and is not an empty folder",
        "to_file": "the output exists and is not an empty folder",
    }.items():
        result = synth(command, tmp_path / "p", *options, "-o", tmp_path / name)
        assert result.exit_code == 2 and result.stderr == f"synth: {tmp_path / name}: {error}\n"
    assert before == {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    assert synth(command, tmp_path / "p", *options, "-o", tmp_path / "to_empty").exit_code == 0
    assert (tmp_path / "to_empty").is_symlink() and list((tmp_path / "elsewhere" / "empty").iterdir())
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["empty"]


def test_indexes_that_double_come_to_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("synth.inputs.MOST_LINES", 1000)
    for number in range(40):
        (tmp_path / f"@{number}").write_text(f"@{number + 1}\n" * 2)
    (tmp_path / "@40").write_text("# nothing\n")
    result = synth("label", tmp_path / "@0", "-m", "sc")
    assert result.exit_code == 2 and "more than 1,000 lines in indexes" in result.stderr


def test_a_pipe_that_the_shell_hands_over_is_read(tmp_path):
    program = f"{sys.executable} -c 'from synth.commands.cli import main; main()'"
    edges = f"{program} memory --edges @<(echo {EDGES}) --size 4 -o {tmp_path}/d"
    done = subprocess.run(["bash", "-c", edges], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "6 tests of 6 cycles, complete" in done.stdout
    model = f"{program} label /dev/stdin < <(printf 'THREAD 0\\n0: Mem[0] = 1;\\n') -m fair"
    done = subprocess.run(["bash", "-c", model], capture_output=True, text=True)
    assert done.returncode == 0 and "/dev/stdin" in done.stdout
