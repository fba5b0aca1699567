"""docs/add-a-language.md has all that a new language of code needs: its blocks, taken as they stand, are one."""

import re
from pathlib import Path

import pytest
from commands import synth

import corpus.code.registry
from corpus.code.registry import FORMATS, CodeFormat, Suffix

PAGE = (Path(__file__).parents[2] / "docs" / "add-a-language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(PROGRAM,) = (text for kind, text in BLOCKS if kind == "toy")
MODULE, ROW = (text for kind, text in BLOCKS if kind == "python")


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A folder in which files of Toy are checked, once its module is there and its row is in the registry."""
    (tmp_path / "toy.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    row = eval(ROW, {"CodeFormat": CodeFormat, "Suffix": Suffix})  # the page is ours
    monkeypatch.setattr(corpus.code.registry, "FORMATS", (*FORMATS, row))
    return tmp_path


def checked(folder, program, *words):
    """The answer about a program, in a folder that is the current one."""
    (folder / "mp.toy").write_text(program, encoding="utf-8")
    return synth("check", "mp.toy", "-j", 1, *words)


def shown(text):
    """The lines of the page that show what a command prints of a program, as they are printed."""
    return [line.removeprefix("    ") for line in PAGE.splitlines() if line.startswith("    ") and text in line]


def test_it_is_small():
    assert len((MODULE + ROW).splitlines()) < 60


def test_message_passing_needs_its_fences(toy):
    fenced = checked(toy, PROGRAM)
    assert fenced.exit_code == 0 and fenced.stdout.splitlines()[:1] == shown("SAFE")
    bare = checked(toy, PROGRAM.replace("fence\n", ""))
    assert bare.exit_code == 1 and bare.stdout.splitlines()[:1] == shown("FOUND")
    assert set(shown("may fail")) <= set(bare.stdout.splitlines())
    assert [PROGRAM.replace("fence\n", "").splitlines()[6]] == ["store seen, s"]


def test_one_fence_is_not_enough(toy):
    for half in (PROGRAM.replace("fence\n", "", 1), PROGRAM[::-1].replace("\necnef", "", 1)[::-1]):
        assert half.count("fence") == 1 and checked(toy, half).exit_code == 1


def test_what_is_left_is_a_litmus_test(toy):
    assert checked(toy, PROGRAM, "--litmus", toy / "mp.litmus").exit_code == 0
    assert (toy / "mp.litmus").read_text(encoding="utf-8").startswith("C ")


def test_another_line_is_refused(toy):
    found = checked(toy, PROGRAM.replace("fence", "flush", 1))
    assert found.exit_code == 2 and "mp.toy:6:1: expected a line of Toy, found 'flush'" in found.output


def test_a_folder_and_other_commands_know_it(toy):
    checked(toy, PROGRAM)
    assert "1 SAFE" in synth("check", toy, "-j", 1).stdout
    assert "synth checks kernels in Toy but does not repair them" in synth("fix", toy / "mp.toy").output
    assert "found Toy, which synth check reads" in synth("explain", toy / "mp.toy", "-m", "rc11").output
    same = synth("validate", toy / "mp.toy", toy / "mp.toy")
    assert same.exit_code == 0 and "SAME" in same.output, same.output
