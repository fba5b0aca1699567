"""What options of the command line and of comments in a file make together, and the exit codes of ``synth check``."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import in_form, synth
from schemas import read_sarif

from corpus.code.launch.launch import ArrayArgument
from synth.checking.sources import argument

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"

COPY = """.visible .entry COPY(.param .u64 a, .param .u32 n)
{
  .reg .b32 %r<5>; .reg .b64 %rd<3>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r1, [n];
  setp.eq.s32 %p1, %r1, 0;
  @%p1 bra END;
  mov.u32 %r2, %ctaid.x;
  setp.ne.s32 %p1, %r2, 0;
  @%p1 bra END;
  mov.u32 %r3, %tid.x;
  setp.ne.s32 %p1, %r3, 0;
  @%p1 bra END;
  st.global.u32 [%rd1], %r1;
END:
  ret;
}
"""
"""The first thread writes ``n`` to ``a[0]``, unless it is 0."""

RACE = """.visible .entry race(.param .u64 a)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [a];
  st.global.u32 [%rd1], 1;
  ret;
}
"""


def copy(*comments: str, name: str = "copy") -> str:
    return "".join(f"// synth check: {line}\n" for line in comments) + HEAD + COPY.replace("COPY", name)


def kernel(folder: Path, text: str, name: str = "kernel.ptx") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("comments", "options", "code", "launches"),
    [
        (["--grid 2 --arg n=3 --expect 'a == 3'"], [], 0, ["2x1"]),
        # An expectation of the command line counts though the file has a launch, and the other way round.
        (["--grid 2 --arg n=3"], ["--expect", "a == 4"], 1, ["2x1"]),
        (["--grid 2 --arg n=3 --expect 'a == 3'"], ["--expect", "a == 4"], 1, ["2x1"]),
        (["--grid 2 --arg n=3 --expect 'a == 4'"], ["--expect", "a == 3"], 0, ["2x1"]),
        (["--arg n=3 --expect 'a == 4'"], ["--grid", "3"], 1, ["3x1"]),
        # Each argument is an option by itself, whichever of its names is used.
        (["--grid 2 --arg n=3 --expect 'a == 3'"], ["--arg", "n=4"], 1, ["2x1"]),
        (["--grid 2 --arg n=3 --expect 'a == 3'"], ["--arg", "1=4"], 1, ["2x1"]),
        (["--grid 2 --arg 1=4 --expect 'a == 3'"], ["--arg", "n=3"], 0, ["2x1"]),
        (["--grid 2 --arg n=3 --expect 'a == 3'"], ["--arg", "a=[7,8]"], 0, ["2x1"]),
        (["--grid 2 --arg n=3", "--block 2 --arg n=5"], ["--expect", "a == 3"], 1, ["2x1", "1x2"]),
        # Launches that are the same by then are one.
        (["--grid 2 --arg n=3", "--grid 3 --arg n=3"], ["--grid", "4"], 0, ["4x1"]),
        # Warps and clusters count whether a launch is named or not.
        (["--block 4 --arg n=3"], ["--warp", "2"], 0, ["1x4, warps of 2"]),
        (["--block 4 --warp 2 --arg n=3"], ["--warp", "32"], 0, ["1x4"]),
        ([], ["--arg", "n=3", "--warp", "1"], 0, ["2x1", "1x2, warps of 1", "2x2, warps of 1"]),
        (
            [],
            ["--arg", "n=3", "--cluster", "2"],
            0,
            ["2x1, clusters of 2", "2x2, warps of 1, clusters of 2", "2x2, clusters of 2"],
        ),
        (["--arg n=3"], ["--block", "2", "--warp", "1"], 0, ["1x2, warps of 1"]),
        # A comment of another kernel does not count for this one.
        (["--kernel copy --grid 3 --arg n=3 --expect 'a == 4'"], ["--kernel", "copy"], 1, ["3x1"]),
    ],
)
def test_the_command_line_wins_option_by_option(
    tmp_path: Path, comments: list[str], options: list[str], code: int, launches: list[str]
) -> None:
    result = synth("check", kernel(tmp_path, copy(*comments)), *options, "--json")
    assert result.exit_code == code, result.output
    assert [each["launch"] for each in json.loads(result.stdout)] == launches


def test_a_comment_of_another_kernel_is_left_out(tmp_path: Path) -> None:
    text = copy("--kernel copy --grid 3 --arg n=3", "--kernel race --grid 2") + RACE
    result = synth("check", kernel(tmp_path, text), "--kernel", "race", "--json")
    assert [(each["kernel"], each["launch"]) for each in json.loads(result.stdout)] == [("race", "2x1")]
    assert result.exit_code == 1
    both = synth("check", kernel(tmp_path, text), "--arg", "n=4", "--json")
    assert [each["kernel"] for each in json.loads(both.stdout)] == ["copy", "race"]


@pytest.mark.parametrize("comment", ["", "--grid 2 --arg n=3"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--arg", "nothere=1"], "expected the name of a parameter, found nothere"),
        (["--expect", "nothere == 1"], "expected locations of the program"),
        (["--expect", " "], "--expect is empty"),
        (["--kernel", ""], "--kernel is empty"),
        (["--grid", ""], "--grid is empty"),
        (["--kernel", "nothere"], "expected one of the kernels copy, found nothere"),
        (["--grid", "3", "--cluster", "2"], "--cluster: expected a grid of whole clusters, found --grid 3"),
    ],
)
def test_what_is_named_is_there(tmp_path: Path, comment: str, options: list[str], message: str) -> None:
    text = copy(comment) if comment else copy()
    more = [] if comment or "nothere=1" in options else ["--arg", "n=3"]
    result = synth("check", kernel(tmp_path, text), *options, *more)
    assert result.exit_code == 2 and message in result.stderr and "SAFE" not in result.stdout, result.output


def test_a_comment_names_what_is_there(tmp_path: Path) -> None:
    """Also in a folder, where a file without a kernel is left out."""
    kernel(tmp_path, copy("--kernel nothere --grid 2"))
    result = synth("check", tmp_path)
    assert result.exit_code == 2 and "found nothere" in result.stderr


UNASKED = ["-m", "sc"]
"""SC does not say what a race is."""

UNKNOWN = ["--expect", "a == 4"]
"""Of a value that nothing tells."""

FILES = {
    "safe": copy("--grid 2 --arg n=3"),
    "found": HEAD + RACE,
    "unknown": copy("--grid 2 --arg n=3").replace(
        "st.global.u32 [%rd1], %r1", "mov.u32 %r1, %clock; st.global.u32 [%rd1], %r1"
    ),
    "not-understood": copy("--grid 2"),
    "error": copy("--grid 2 --arg nothere=3"),
}


@pytest.mark.parametrize(
    ("names", "options", "code"),
    [
        (["safe"], [], 0),
        (["found"], [], 1),
        (["not-understood"], [], 2),
        (["error"], [], 2),
        (["safe"], UNASKED, 0),
        (["unknown"], UNKNOWN, 2),
        (["unknown", "not-understood"], UNASKED, 2),
        (["safe"], ["--timeout", "0.01"], 2),
        (["safe", "found"], [], 1),
        (["safe", "not-understood"], [], 2),
        (["safe", "error"], [], 2),
        (["found", "not-understood"], [], 1),
        (["found", "error"], [], 1),
        (["safe"], [*UNASKED, "--expect", "a == 4"], 1),
        (["safe", "not-understood", "found", "error"], [], 1),
    ],
)
def test_exit_codes(tmp_path: Path, names: list[str], options: list[str], code: int) -> None:
    """1 where anything is found, or else 2 where anything is not known, or else 0."""
    files = [kernel(tmp_path, FILES[name], f"{name}.ptx") for name in names]
    result = synth("check", *files, *options)
    assert result.exit_code == code, result.output
    for form in ("csv", "jsonl"):  # also when it goes on behind what it has
        out = tmp_path / f"answers.{form}"
        assert synth("check", *files, *options, "-o", out, *in_form(form)).exit_code == code
        assert synth("check", *files, *options, "-o", out, *in_form(form)).exit_code == code


@pytest.mark.parametrize("form", ["text", "table", "markdown", "csv", "json", "jsonl", "sarif", "junit"])
@pytest.mark.parametrize("name", ["unknown", "not-understood"])
def test_the_reason_stands_in_every_format(tmp_path: Path, form: str, name: str) -> None:
    options = UNKNOWN if name == "unknown" else []
    reason = "nothing tells its value" if name == "unknown" else "--arg n=.."
    result = synth("check", kernel(tmp_path, FILES[name]), *options, *in_form(form))
    assert result.exit_code == 2
    assert reason in " ".join(result.stdout.split()), result.stdout
    if form == "junit":
        assert ElementTree.fromstring(result.stdout).find(".//error") is not None
    if form == "sarif":
        (said,) = read_sarif(result.stdout)["runs"][0]["results"]
        assert said["level"] == "warning" and reason in said["message"]["text"]
    if form == "csv":
        (row,) = csv.DictReader(io.StringIO(result.stdout))
        assert reason in row["problem"]


@pytest.mark.parametrize("form", ["text", "table", "markdown", "csv", "json", "jsonl", "sarif", "junit"])
def test_what_a_model_has_no_word_for_is_not_asked_and_every_format_says_so(tmp_path: Path, form: str) -> None:
    """Races under SC: no format calls them safe, and they make no exit code."""
    result = synth("check", kernel(tmp_path, FILES["safe"]), *UNASKED, *in_form(form))
    assert result.exit_code == 0, result.output
    assert "race is not asked: sc does not say what a data race is" in " ".join(result.stdout.split()), result.stdout
    if form in ("text", "table", "markdown", "csv"):
        assert "SAFE, race not asked" in result.stdout or ",SAFE,race," in result.stdout
    if form in ("json", "jsonl"):
        (found,) = json.loads(f"[{result.stdout.strip()}]" if form == "jsonl" else result.stdout)
        assert found["answers"]["race"] == "NOT ASKED" and set(found["answers"].values()) == {"NOT ASKED", "SAFE"}
    if form == "junit":
        (case,) = ElementTree.fromstring(result.stdout).iter("testcase")
        assert [each.tag for each in case] == ["system-out"]
    if form == "sarif":
        (run,) = read_sarif(result.stdout)["runs"]
        assert not run["results"] and run["invocations"][0]["toolExecutionNotifications"]


def test_a_repair_says_what_it_was_asked(tmp_path: Path) -> None:
    file = kernel(tmp_path, copy("--grid 2 --arg n=3"))
    said = {
        "": "nothing to change: no race\n",
        "a == 3": "nothing to change: no race, and a == 3 holds\n",
        "exists (a == 9)": "nothing to change: no race; that something is possible (exists) is not asked here\n",
    }
    for expectation, line in said.items():
        assert line in synth("fix", file, *(["--expect", expectation] if expectation else [])).stdout


DIGITS = "9" * 10_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--grid", "60000x60000x60000"], "at most 64 threads, found 216000000000000"),
        (["--cluster", "60000x60000x60000"], "at most 64 threads"),
        (["--block", "1024x1024"], "at most 64 threads, found 1048576"),
        (["--grid", DIGITS], "each below 65536"),
        (["--arg", f"n={DIGITS}"], "a number of at most 64 bits"),
        (["--arg", f"n=0x{DIGITS}"], "a number of at most 64 bits"),
        (["--arg", f"a=[{DIGITS}]"], "a number of at most 64 bits"),
        (["--arg", f"a=[{DIGITS}*0]"], "a number of at most 64 bits"),
        (["--arg", f"a=int[{DIGITS}]"], "a number of at most 64 bits"),
        (["--arg", "a=[9999999999*0,1]"], "at most 65536 elements"),
        (["--arg", "n=1", "--expect", f"a == {DIGITS}"], "expected a 32-bit number"),
    ],
)
def test_a_limit_is_met_before_any_work(tmp_path: Path, options: list[str], message: str) -> None:
    """Also where a comment of the file asks for it. Nothing is answered, and the line is short."""
    begun = time.process_time()
    result = synth("check", kernel(tmp_path, copy()), *options)
    assert result.exit_code == 2 and message in result.stderr and max(map(len, result.stderr.splitlines())) < 400
    comment = " ".join(map(shlex.quote, options))
    commented = synth("check", kernel(tmp_path, copy(comment)))
    assert commented.exit_code == 2 and message in commented.stderr
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "command", ["check big.ptx", "check big.cu", "check big.spv", "label big.litmus", "map big.map"]
)
def test_a_large_file_is_not_read(tmp_path: Path, command: str) -> None:
    name, file = command.split()
    with (tmp_path / file).open("wb") as out:
        out.truncate(2**30)
    result = synth(name, tmp_path / file, *(["-m", "sc"] if name == "label" else []))
    assert result.exit_code == 2 and "larger than 67108864 bytes" in result.stderr


@pytest.mark.parametrize("command", ["import FILE -o all.jsonl", "report FILE -o r.html", "import no.log -o FILE"])
def test_a_line_without_an_end_is_not_read(tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of lines may be large, and each of its lines may not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "no.log").write_text("")
    with (tmp_path / "FILE").open("wb") as out:
        out.truncate(2**30)
    result = synth(*command.split())
    assert result.exit_code == 2 and re.search("FILE:1: expected .* of at most [0-9]+ bytes", result.stderr)


def test_a_large_manifest_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "manifest.json").open("wb") as out:
        out.truncate(2**30)
    result = synth("show", tmp_path)
    assert result.exit_code == 2 and "larger than 67108864 bytes" in result.stderr


def test_a_number_with_zeros_before_it(tmp_path: Path) -> None:
    assert synth("check", kernel(tmp_path, copy()), "--grid", 1, "--arg", "n=007", "--expect", "a == 7").exit_code == 0


@pytest.mark.parametrize("number", ["0" * 5_000 + "5", "-0" + "0" * 5_000 + "5", "0x" + "0" * 5_000 + "5"])
def test_zeros_before_a_number_count_nothing(number: str) -> None:
    assert argument(f"n={number}") == ("n", -5 if number.startswith("-") else 5)
    if "x" not in number:
        assert argument(f"a=[{number}]")[1] == ArrayArgument((-5 if number.startswith("-") else 5,))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--grid", "60000x60000x60000"], "at most 64 threads"),
        (["--arg", f"n={DIGITS}"], "a number of at most 64 bits"),
    ],
)
def test_fix_meets_a_limit_before_it_reads_a_kernel(tmp_path: Path, options: list[str], message: str) -> None:
    result = synth("fix", kernel(tmp_path, "not a kernel"), *options)
    assert result.exit_code == 2 and message in result.stderr
