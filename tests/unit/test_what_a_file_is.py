"""Files and models that do not go together: one line says what each is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from commands import synth

from synth.inputs import MEMORY, PROGRESS, family_of

EXAMPLES = Path(__file__).parents[2] / "examples"
KINDS = "expected a litmus test (.litmus) or a progress test (.axb), found"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lock.cu").write_text("__global__ void lock(int *x) { *x = 1; }\n")
    Path("lock.ptx").write_text("// compiled\n.version 8.0\n.target sm_90\n")
    Path("lock.spv").write_bytes(b"\x03\x02\x23\x07\x00\xff")
    Path("lock.cpp").write_text("int main() { return 0; }\n")
    Path("notes.md").write_text("# Notes\n")
    Path("empty").write_text("")
    shutil.copy(EXAMPLES / "memory" / "coRR.litmus", "coRR.txt")
    shutil.copy(EXAMPLES / "progress" / "mutex.axb", "mutex.txt")
    shutil.copy(EXAMPLES / "progress" / "mutex.axb", "mutex.axb")


def refused(*arguments: str) -> str:
    """The one line with which a command is refused."""
    result = synth(*arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    return result.stderr.removeprefix("synth: ").rstrip("\n")


@pytest.mark.parametrize(
    "command", [("label",), ("explain",), ("run", "--backend", "cpp"), ("compile", "--backend", "cpp")]
)
@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("lock.cu", "CUDA source, which synth check reads"),
        ("lock.ptx", "PTX assembly, which synth check reads"),
        ("lock.spv", "SPIR-V, which synth check reads"),
        ("lock.cpp", "C or C++ source"),
        ("notes.md", "neither"),
        ("empty", "neither"),
    ],
)
def test_a_file_that_is_no_test_is_called_what_it_is(command, file, what):
    output = ("-o", "new") if "compile" in command else ()
    model = () if "compile" in command else ("-m", "ptx-6.0")
    assert refused(command[0], file, *command[1:], *model, *output) == f"{file}: {KINDS} {what}"


def test_a_test_is_known_by_its_first_word_where_its_name_does_not_say():
    assert family_of(["coRR.txt"]) == MEMORY
    assert family_of(["mutex.txt"]) == PROGRESS
    result = synth("label", "coRR.txt", "-m", "ptx-6.0", "--format", "csv")
    assert result.exit_code == 0 and "coRR.txt,ptx-6.0,ALLOWED" in result.stdout


@pytest.mark.parametrize("model", ["sc", "ptx-6.0", "mine.cat", "thesis-weak"])
def test_progress_tests_are_not_asked_about_consistency_models(model):
    assert refused("label", "mutex.axb", "-m", model).startswith(
        f"{model} is a consistency model, for litmus tests (.litmus); progress tests (.axb) take progress models; known"
    )


@pytest.mark.parametrize("model", ["hsa", "obe-weak", "fair@cta", "mine.py"])
def test_outcomes_are_not_asked_of_progress_models(model):
    assert refused("compare", "sc", model).startswith(
        f"{model} is a progress model, which says whether programs end; expected a consistency model; known"
    )


@pytest.mark.parametrize("command", ["label", "explain"])
def test_a_file_that_is_not_there_is_said_once(command):
    assert refused(command, "none.litmus", "-m", "sc") == "none.litmus: cannot read: No such file or directory"
    assert refused(command, "mutex.axb/none.axb", "-m", "fair") == "mutex.axb/none.axb: cannot read: Not a directory"


def test_a_line_of_an_index_that_names_nothing_does_not_cost_the_others():
    shutil.copy("coRR.txt", "coRR.litmus")
    Path("@all").write_text("none.litmus\ncoRR.litmus\n")
    result = synth("label", "@all", "-m", "sc", "--format", "csv")
    assert result.exit_code == 2 and "none.litmus: cannot read" in result.stderr
    assert "coRR.litmus,sc,FORBIDDEN" in result.stdout
