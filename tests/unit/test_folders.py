"""Folders on the command line: what is read of them, by ``synth label`` and ``synth check``, and what is left out."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from commands import synth
from schemas import read_sarif

from corpus.code.registry import expected_formats
from synth.checking import work
from synth.checking.compilers import source_digest

EXAMPLES = Path(__file__).parents[2] / "examples"
SB, MP = EXAMPLES / "memory" / "sb-inter.litmus", EXAMPLES / "memory" / "mp-inter.litmus"
MUTEX = EXAMPLES / "progress" / "mutex.axb"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with litmus tests at several depths, and with much that is none."""
    monkeypatch.chdir(tmp_path)
    root = Path("tree")
    for name in ("b.litmus", "a b.litmus", "z/ü.litmus", "z/deep/er/-x.litmus", "c/a.litmus"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(MP, root / name)
    for name in (".git/hidden.litmus", ".hidden.litmus", "c/.venv/x.litmus"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SB, root / name)
    (root / "empty").mkdir()
    (root / "README").write_text("no test")
    (root / "c/notes.md").write_text("no test")
    shutil.copy(MUTEX, root / "z")
    return root


FILES = ["tree/a b.litmus", "tree/b.litmus", "tree/c/a.litmus", "tree/z/ü.litmus", "tree/z/deep/er/-x.litmus"]


def labelled(*arguments: object, code: int = 0) -> tuple[list[str], str]:
    """The files that are labelled, and what is said on standard error."""
    result = synth("label", *arguments, "--format", "csv")
    assert result.exit_code == code, result.stderr
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    return [row["file"] for row in rows], result.stderr


def test_tests_are_read_at_every_depth_in_the_order_of_names(tree: Path) -> None:
    files, said = labelled("tree", "-m", "sc")
    assert files == FILES
    assert said == "synth: tree: left out: .md (1), progress tests (1), without a suffix (1)\n"


def test_progress_tests_are_read_where_there_is_no_litmus_test(tree: Path) -> None:
    shutil.copy(MUTEX, tree / "empty")
    for path in tree.glob("**/*.litmus"):
        path.unlink()
    files, said = labelled("tree", "-m", "hsa-weak")
    assert files == ["tree/empty/mutex.axb", "tree/z/mutex.axb"] and "progress" not in said


def test_links_are_not_followed(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.copy(SB, outside)
    (tree / "loop").symlink_to(tree.resolve())
    (tree / "c/up").symlink_to("..")
    (tree / "outside").symlink_to(outside)
    (tree / "linked.litmus").symlink_to(outside / SB.name)
    (tree / "lost.litmus").symlink_to("nowhere")
    files, said = labelled("tree", "-m", "sc")
    assert files == FILES and "symbolic links (5)" in said
    # A link that the user names is followed.
    assert labelled("tree/outside", "-m", "sc")[0] == [f"tree/outside/{SB.name}"]
    assert labelled("tree/linked.litmus", "-m", "sc")[0] == ["tree/linked.litmus"]


def test_a_corpus_and_an_index_in_a_folder_are_what_they_are_alone(tree: Path) -> None:
    assert synth("memory", "-e", "PodWW PodRR Rfe Fre", "-o", "tree/c/suite").exit_code == 0
    (tree / "z/@all").write_text("ü.litmus # the others are not in it\n")
    alone, _ = labelled("tree/c/suite", "-m", "sc")
    files, said = labelled("tree", "-m", "sc")
    assert alone and files == [*FILES[:3], *(f"tree/c/suite/{name}" for name in alone), "tree/z/ü.litmus"], files
    assert said == "synth: tree: left out: .md (1), without a suffix (1)\n"


def test_a_manifest_of_somebody_else_makes_no_corpus_and_a_damaged_corpus_is_an_error(tree: Path) -> None:
    (tree / "c/manifest.json").write_text('{"name": "a page"}')
    assert labelled("tree", "-m", "sc")[0] == FILES
    assert synth("memory", "-e", "PodWW PodRR Rfe Fre", "-o", "tree/c/suite").exit_code == 0
    (tree / "c/suite/manifest.json").write_text("{")
    files, said = labelled("tree", "-m", "sc", code=2)
    assert files == [] and said.startswith("synth: tree/c/suite/manifest.json:1:") and said.count("\n") == 1


def test_a_folder_that_cannot_be_listed_costs_its_own_row(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refused(path: Path) -> object:
        if Path(path).name == "c":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("synth.folders.os.scandir", refused)
    files, said = labelled("tree", "-m", "sc", code=2)
    assert files == ["tree/a b.litmus", "tree/b.litmus", "tree/c", *FILES[3:]] and "synth: tree/c: cannot read" in said
    assert labelled("tree/c", "-m", "sc", code=2) == ([], "synth: tree/c: cannot read: Permission denied\n")


def test_what_is_no_ordinary_file_costs_its_own_row(tree: Path) -> None:
    os.mkfifo(tree / "pipe.litmus")
    (tree / "c/broken.litmus").write_bytes(b"\xff\n")
    files, said = labelled("tree", "-m", "sc", code=2)
    assert len(files) == len(FILES) + 2
    assert "tree/pipe.litmus: cannot read: not an ordinary file" in said
    assert "tree/c/broken.litmus:1:1: cannot read: not UTF-8 text" in said


def test_an_empty_folder_is_a_line_that_says_what_there_is(tree: Path) -> None:
    (tree / "empty/inner").mkdir()
    (tree / "empty/inner/x.litmus").symlink_to(SB)
    _, said = labelled("tree/empty", code=2)
    wanted = (
        "the folder is no corpus and holds no .axb file, no .litmus file and no index @all, nor does a folder in it"
    )
    assert said == f"synth: tree/empty: {wanted}; left out: symbolic links (1)\n"


def test_folders_deeper_than_a_path_may_be_long(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = Path.cwd()
    os.chdir(tree)
    for _ in range(1200):  # and deeper than Python calls
        os.mkdir("deeper")
        os.chdir("deeper")
    os.chdir(start)
    try:
        files, said = labelled("tree", "-m", "sc", code=2)
    finally:
        subprocess.run(["rm", "-rf", "tree/deeper"], check=True)
    assert [file for file in files if file in FILES] == FILES and len(files) == len(FILES) + 1
    assert "deeper: cannot read: File name too long" in said and len(said) < 2500


def test_the_number_of_files_is_bounded(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("synth.folders.MOST_FILES", 7)
    assert labelled("tree", "-m", "sc", code=2) == ([], "synth: tree: the folder has more than 7 files\n")


def test_tests_of_one_name_do_not_overwrite_each_other(tree: Path) -> None:
    shutil.copy(MP, tree / "z/a.litmus")
    result = synth("fix", "tree", "-m", "sc", "-o", "repaired")
    assert result.exit_code == 2 and "would be one file, a.litmus" in result.stderr and not Path("repaired").exists()


# Kernels

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
STORE = """.visible .entry NAME(.param .u64 out)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  STORE
  ret;
}
"""
RIGHT, WRONG = "st.relaxed.gpu.u32 [%rd1], %r1;", "st.global.u32 [%rd1], %r1;"


def kernel(path: Path, store: str = RIGHT, name: str = "k") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"// synth check: --grid 2\n{HEAD}{STORE.replace('NAME', name).replace('STORE', store)}")
    return path


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with kernels that are right and wrong, and files that have none."""
    monkeypatch.chdir(tmp_path)
    root = Path("kernels")
    kernel(root / "right.ptx")
    kernel(root / "a/wrong.ptx", WRONG)
    kernel(root / "a/b/right.ptx", name="deep")
    kernel(root / ".git/x.ptx", WRONG)
    (root / "a/broken.ptx").write_text(f"{HEAD}.visible .entry k() {{ add.s32 ;;; }}}}\n")
    (root / "a/library.ptx").write_text(HEAD)
    (root / "host.cpp").write_bytes(b"int main() {} // \xe9\n")
    (root / "alone.c").write_text("int main(void) { return f(); }\n")
    (root / "notes.txt").write_text("x")
    (root / "a/loop").symlink_to("..")
    return root


FOUND = [
    ("kernels/right.ptx", "k", "SAFE"),
    ("kernels/a/broken.ptx", "", "ERROR"),
    ("kernels/a/wrong.ptx", "k", "FOUND"),
    ("kernels/a/b/right.ptx", "deep", "SAFE"),
]
LEFT_OUT = "synth: kernels: left out: without a kernel (3), .txt (1), symbolic links (1)\n"


def checked(*arguments: object) -> tuple[list[tuple[str, str, str]], Result]:
    """File, kernel and answer of each row, and the result."""
    result = synth("check", *arguments, "--format", "csv")
    return [(row["file"], row["kernel"], row["answer"]) for row in csv.DictReader(io.StringIO(result.stdout))], result


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_is_wrong_costs_its_own_row(kernels: Path, jobs: int) -> None:
    rows, result = checked("kernels", "-j", jobs)
    assert rows == FOUND and result.exit_code == 1
    assert result.stderr.startswith("synth: kernels/a/broken.ptx:4:36: ") and result.stderr.endswith(LEFT_OUT)
    assert result.stderr.count("\n") == 2
    (kernels / "a/broken.ptx").unlink()
    rows, result = checked("kernels", "-j", jobs)
    assert rows == [FOUND[0], *FOUND[2:]] and (result.exit_code, result.stderr) == (1, LEFT_OUT)
    (kernels / "a/wrong.ptx").unlink()
    assert checked("kernels")[1].exit_code == 0


def test_several_files_are_read_as_a_folder_is(kernels: Path) -> None:
    rows, result = checked(kernels / "a/broken.ptx", kernels / "right.ptx", kernels / "right.ptx")
    assert rows == [FOUND[1], FOUND[0]] and result.exit_code == 2 and result.stderr.count("\n") == 1
    # A file that is named has to have a kernel.
    assert checked(kernels / "a/library.ptx", kernels / "right.ptx")[0][0][2] == "ERROR"


def test_the_forms_of_a_folder(kernels: Path) -> None:
    lines = synth("check", kernels, "-j", 1).stdout.splitlines()
    assert lines[0].split() == ["file", "kernel", "launch", "answer", "progress", "s"]
    words = [line.split() for line in lines[1:-1]]
    assert [(row[0], row[-6:-1]) for row in words if len(row) > 2][1] == (
        "kernels/a/wrong.ptx",
        ["2x1", "FOUND", "race", "no", "fairness"],
    )
    assert lines[-1] == "2 SAFE, 1 FOUND, 1 ERROR"
    assert "| kernels/a/wrong.ptx | k | 2x1 | FOUND race |" in synth("check", kernels, "--format", "markdown").stdout
    whole = json.loads(synth("check", kernels, "--json").stdout)
    assert [(each["file"], each["kernel"], max(each["answers"].values())) for each in whole][1] == FOUND[1]
    by_line = synth("check", kernels, "--format", "jsonl").stdout.splitlines()
    assert list(map(json.loads, by_line)) == whole
    text = synth("check", kernels, "--format", "text").stdout
    assert "kernels/a/wrong.ptx: k, 2x1: FOUND race under ptx\n" in text and "ERROR" not in text


@pytest.mark.parametrize("form", ["csv", "jsonl", "text"])
def test_the_bytes_of_a_folder(kernels: Path, golden: Callable[[str, str], None], form: str) -> None:
    if form != "csv":  # which execution shows a race is the solver's choice
        (kernels / "a/wrong.ptx").unlink()
    golden(f"check/folder.{form}", synth("check", kernels, "--format", form).stdout)


def test_odd_names_and_a_pipe(kernels: Path) -> None:
    odd = kernels / os.fsdecode(b"a\nb \xff,=1.ptx")
    kernel(odd)
    os.mkfifo(kernels / "pipe.cu")
    for form in ("csv", "jsonl"):
        asked = ["check", kernels, "--format", form, "-o", form]
        written = synth(*asked)
        assert written.exit_code == 1 and "kernels/pipe.cu: cannot read: not an ordinary file" in written.stderr
        before = Path(form).read_bytes()
        assert synth(*asked).stderr == written.stderr and Path(form).read_bytes() == before
    assert rb'"kernels/a\nb \udcff,=1.ptx",k,2x1,ptx,SAFE' in Path("csv").read_bytes()
    assert json.loads(Path("jsonl").read_text().splitlines()[0])["file"] == str(odd)
    assert "kernels/a\\nb \\udcff,=1.ptx  k " in synth("check", kernels).stdout


def test_sarif_of_a_folder_names_each_file(kernels: Path) -> None:
    (run,) = read_sarif(synth("check", kernels, "--format", "sarif").stdout)["runs"]
    found = [
        (each["ruleId"], each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) for each in run["results"]
    ]
    assert found == [("error", "kernels/a/broken.ptx"), ("race", "kernels/a/wrong.ptx")]
    assert {each for each, _ in found} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}


def test_a_kernel_by_its_name_is_looked_for_in_every_file(kernels: Path) -> None:
    (kernels / "a/broken.ptx").unlink()
    rows, result = checked(kernels, "--kernel", "deep", "--grid", 2)
    assert rows == [FOUND[3]] and "without a kernel (5)" in result.stderr
    rows, result = checked(kernels, "--kernel", "other")
    assert rows == [] and result.exit_code == 2
    assert result.stderr == "synth: kernels: no kernel in any of the 6 files\n"
    assert synth("check", kernels, "--kernel", "other").stdout == ""


def test_a_folder_without_a_file_of_kernels(kernels: Path) -> None:
    (kernels / "none").mkdir()
    (kernels / "none/x.md").write_text("x")
    _, result = checked(kernels / "none")
    wanted = f"neither the folder nor one in it has a file of {expected_formats()}"
    assert result.exit_code == 2 and result.stderr == f"synth: kernels/none: {wanted}; left out: .md (1)\n"


def test_what_is_wrong_for_every_file_is_one_line(kernels: Path) -> None:
    for arguments, message in {
        ("--grid", "x"): "--grid: expected a number",
        ("--arg", "n"): "--arg: expected NAME=4",
        ("-m", "nothing"): "unknown consistency model",
        ("--progress", "nothing"): "unknown progress model",
        ("-o", "f", "--format", "sarif"): "-o writes csv or jsonl",
        ("-o", "f", "--picture", "x.svg"): "give it without -o",
    }.items():
        result = synth("check", kernels, *arguments)
        assert result.exit_code == 2 and message in result.stderr and result.stdout == "", arguments
        assert not Path("f").exists()


def test_limits_are_those_of_a_kernel(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel takes for ever, one fills the memory, one dies, one meets a fault of ours; the others have answers."""
    for number, name in enumerate(("slow", "large", "dead", "faulty"), 1):
        kernel(kernels / f"{number}-{name}.ptx", name=name)
    check = work.check

    def hard(program: work.KernelTask, *arguments: object) -> object:
        match program.test.name:
            case "slow":
                time.sleep(60)
            case "large":
                bytearray(2**30)
            case "dead":
                os.kill(os.getpid(), signal.SIGKILL)
            case "faulty":
                raise KeyError("what")
        return check(program, *arguments)

    monkeypatch.setattr(work, "check", hard)
    result = synth("--memory", 300, "check", kernels, "--timeout", 1, "--format", "jsonl", "-j", 2)
    found = {record["kernel"]: record for record in map(json.loads, result.stdout.splitlines())}
    problems = {name: record.get("problem", "") for name, record in found.items()}
    assert result.exit_code == 1
    assert problems["slow"] == "it takes more than --timeout allows"
    assert problems["large"] == "it takes more than --memory allows"
    assert "it ended its process with SIGKILL" in problems["dead"]
    assert "KeyError: 'what'" in problems["faulty"]
    assert {found[name]["answers"]["race"] for name in ("slow", "large", "dead", "faulty")} == {"UNKNOWN"}
    assert found["deep"]["answers"]["race"] == "SAFE" and problems["deep"] == ""


# Files of answers

FORMS = pytest.mark.parametrize("form", ["csv", "jsonl"])


@FORMS
def test_a_file_goes_on_from_wherever_it_was_cut(kernels: Path, form: str) -> None:
    file = Path("answers")
    asked = ["check", kernels, "-j", 1]
    printed = synth(*asked, "--format", form)
    form_words = [] if form == "csv" else ["--format", form]  # csv is the default
    written = synth(*asked, "-o", file, *form_words)
    assert written.stdout == "" and (written.exit_code, written.stderr) == (printed.exit_code, printed.stderr)
    whole = file.read_bytes()
    assert whole == printed.stdout_bytes
    for end in (0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 1, len(whole)):
        file.write_bytes(whole[:end])
        resumed = synth(*asked, "-o", file, *form_words)
        assert file.read_bytes() == whole
        assert (resumed.stdout, resumed.stderr, resumed.exit_code) == ("", printed.stderr, printed.exit_code)


def test_what_was_answered_is_not_asked_again(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synth("check", kernels, "-o", "answers")
    asked = []
    check_all = work.check_all

    def noted(tasks: list[work.KernelSource], *arguments: object) -> object:
        asked.extend(str(task.path) for task in tasks)
        return check_all(tasks, *arguments)

    monkeypatch.setattr(work, "check_all", noted)
    synth("check", kernels, "-o", "answers")
    assert asked == ["kernels/a/b/right.ptx"]  # the last one, which may have had more


def test_another_request_is_refused(kernels: Path) -> None:
    synth("check", kernels, "-o", "answers")
    before = Path("answers").read_bytes()
    for arguments, message in {
        ("--unroll", 3): "it was begun with another unroll, 2",
        ("--timeout", 3): "it was begun with another timeout, 600",
        ("--grid", 3): "it was begun with another launch",
        ("-m", "ptx-6.0"): "other models, ",
        ("--format", "jsonl"): 'it was begun with another format, "csv"',
    }.items():
        result = synth("check", kernels, "-o", "answers", *arguments)
        assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1, arguments
    kernel(kernels / "right.ptx", WRONG)
    assert "the files have changed since" in synth("check", kernels, "-o", "answers").stderr
    assert Path("answers").read_bytes() == before


@pytest.mark.parametrize(
    ("row", "line"),
    [("other.ptx,k,2x1,ptx,SAFE,,,,,\n", 2), ("kernels/right.ptx,k,2x1,ptx,FINE,,,,,\n", 2), ("x\n", 2), ("\n", 2)],
)
def test_a_file_that_is_no_file_of_answers(kernels: Path, row: str, line: int) -> None:
    synth("check", kernels, "-o", "answers")
    text = Path("answers").read_text().splitlines(keepends=True)[0] + row + "kernels/a/wrong.ptx,k,2x1,ptx,SAFE,,,,,\n"
    Path("answers").write_text(text)
    result = synth("check", kernels, "-o", "answers")
    assert f"answers:{line}:1: expected the answers about the files in their order" in result.stderr
    assert Path("answers").read_text() == text


def test_killed_and_resumed_the_bytes_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(12):
        path = kernel(tmp_path / f"kernels/{number % 3}/{number}.ptx", (RIGHT, WRONG)[number % 2])
        path.write_text(path.read_text().removeprefix("// synth check: --grid 2\n"))  # four launches each
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", "check", "kernels", "-j", "2"]
    Path("scratch").mkdir()
    places = {"PYTHONPATH": str(EXAMPLES.parent), "TMPDIR": str(tmp_path / "scratch")}
    with subprocess.Popen([*command, "-o", "answers"], env={**os.environ, **places}) as process:
        answers = Path("answers")
        while process.poll() is None and not (answers.exists() and answers.read_bytes().count(b"\n") > 6):
            time.sleep(0.001)
        process.kill()
    assert 6 < answers.read_bytes().count(b"\n") < 49
    result = synth("check", "kernels", "-o", answers)
    assert result.exit_code == 1 and answers.read_text() == synth("check", "kernels", "--format", "csv").stdout


@pytest.mark.parametrize(("suffix", "options"), [(".cu", []), (".cl", ["-Iinc"]), (".comp", ["-I", "inc"]), (".c", [])])
def test_answers_are_about_what_a_file_includes_as_well(suffix: str, options: list[str], tmp_path: Path) -> None:
    """Else answers of an earlier run about a file whose header has changed since would stand."""
    folder = tmp_path / ("inc" if options else "")
    folder.mkdir(exist_ok=True)
    options = [word.replace("inc", str(folder)) for word in options]
    source, first, second = tmp_path / f"k{suffix}", folder / "first.h", folder / "second.h"
    source.write_text('#include "first.h"\n')
    first.write_text('#include "second.h"\n')
    digests = []
    for text in ("#define A 1\n", "#define A 2\n"):
        second.write_text(text)
        digests.append(source_digest(source, options))
        (tmp_path / "other.h").write_text(text)
        assert source_digest(source, options) == digests[-1]
    second.unlink()
    digests.append(source_digest(source, options))
    assert len(set(digests)) == 3
