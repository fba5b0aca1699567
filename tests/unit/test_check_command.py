"""``synth check`` on kernels of PTX that are written by hand: answers, exit codes, formats, launches, refusals."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from commands import synth
from schemas import read_sarif

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
HANDED = """// synth check: --grid 2 --expect 'data == 1'
.visible .entry hand(.param .u64 data, .param .u64 flag, .param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [flag];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %ctaid.x;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra WAIT;
  st.global.u32 [%rd1], 1;
  st.RELEASE.gpu.u32 [%rd2], 1;
  ret;
WAIT:
  ld.ACQUIRE.gpu.u32 %r2, [%rd2];
  setp.eq.s32 %p2, %r2, 0;
  @%p2 bra WAIT;
  ld.global.u32 %r3, [%rd1];
  st.global.u32 [%rd3], %r3;
  ret;
}
"""


def kernel(folder: Path, text: str, name: str = "kernel.ptx") -> Path:
    path = folder / name
    path.write_text(HEAD + text)
    return path


def handed(folder: Path, release: str = "release", acquire: str = "acquire", name: str = "kernel.ptx") -> Path:
    return kernel(folder, HANDED.replace("RELEASE", release).replace("ACQUIRE", acquire), name)


def test_a_value_that_is_handed_over_by_release_and_acquire(tmp_path: Path) -> None:
    result = synth("check", handed(tmp_path), "--json")
    (found,) = json.loads(result.stdout)
    assert result.exit_code == 0 and found["launch"] == "2x1" and found["kernel"] == "hand"
    assert found["answers"] == dict.fromkeys(found["answers"], "SAFE")
    assert set(found["answers"]) == {
        *("race", "expectation", "barrier", "bounds", "trap", "uninitialised", "mixed-size"),
    }
    assert found["hang"] == {
        "unfair": "MAY_HANG",
        "hsa": "TERMINATES",
        "obe": "MAY_HANG",
        "hsa+obe": "TERMINATES",
        "lobe": "TERMINATES",
        "fair": "TERMINATES",
    }
    assert found["needs"] == "needs HSA" and found["bounded"] is None


@pytest.mark.parametrize(("release", "acquire"), [("relaxed", "acquire"), ("release", "relaxed")])
def test_a_race_is_found_at_both_lines(tmp_path: Path, release: str, acquire: str) -> None:
    file = handed(tmp_path, release, acquire)
    result = synth("check", file, "--json")
    (found,) = json.loads(result.stdout)
    assert result.exit_code == 1 and found["answers"]["race"] == "FOUND"
    (race,) = found["findings"]
    lines = file.read_text().splitlines()
    said = [lines[place["ptx_line"] - 1].strip() for place in race["places"]]
    assert sorted(said) == ["ld.global.u32 %r3, [%rd1];", "st.global.u32 [%rd1], 1;"]
    assert race["witness"]["events"]


STORES = """.visible .entry stores(.param .u64 out, .param .u32 n)
{{
  .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  setp.eq.s32 %p1, %r1, 0;
  @%p1 ret;
  mov.u32 %r2, {value};
  st.{how}.u32 [%rd1], %r2;
  ret;
}}
"""


def test_launches_with_one_answer_are_told_at_once(tmp_path: Path) -> None:
    file = kernel(tmp_path, STORES.format(value="7", how="relaxed.gpu.global"))
    every = "2x1, 1x2 warps of 1, 1x2, 2x2"
    told = synth("check", file, "--arg", "n=1").stdout.splitlines()
    assert told[0] == f"{file}: stores, {every}: SAFE under ptx"
    assert told[1:] == ["  progress: terminates under every progress model", "  assumed: memory of out begins as zeros"]
    told = synth("check", file).stdout.splitlines()
    assert len(told) == 1 and told[0].startswith(f"{file}: stores, {every}: NOT UNDERSTOOD: ")


def test_a_finding_has_its_threads_in_columns(tmp_path: Path) -> None:
    file = kernel(tmp_path, STORES.format(value="%tid.x", how="weak.global"))
    asked = ("check", file, "--arg", "n=1", "--block", 2)
    brief, whole = synth(*asked).stdout.splitlines(), synth(*asked, "-v").stdout.splitlines()
    assert (
        "      thread 0 of block 0   thread 1 of block 0" in brief and "      a: W out=0            b: W out=1" in brief
    )
    assert not any(line.startswith("      co ") for line in brief) and max(map(len, brief[3:])) <= 80
    assert any(line.startswith("      co ") for line in whole) and any("unfair terminates" in line for line in whole)


def test_formats(tmp_path: Path) -> None:
    right, wrong = handed(tmp_path, name="right.ptx"), handed(tmp_path, "relaxed", name="wrong.ptx")
    text = synth("check", right, wrong)
    assert text.exit_code == 1
    assert f"{right}: hand, 2x1: SAFE under ptx\n" in text.stdout
    assert f"{wrong}: hand, 2x1: FOUND race under ptx\n" in text.stdout
    sarif = read_sarif(synth("check", right, wrong, "--format", "sarif").stdout)
    (run,) = sarif["runs"]
    (finding,) = run["results"]
    assert sarif["version"] == "2.1.0" and finding["ruleId"] == "race" and finding["level"] == "error"
    assert finding["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    cases = ElementTree.fromstring(synth("check", right, wrong, "--format", "junit").stdout)
    assert cases.attrib["tests"] == "2" and cases.attrib["failures"] == "1"


def test_an_expectation_that_fails(tmp_path: Path) -> None:
    file = handed(tmp_path)
    holds = synth("check", file, "--grid", 2, "--expect", "out == 1 && data == 1")
    fails = synth("check", file, "--grid", 2, "--expect", "out == 0")
    some = synth("check", file, "--grid", 2, "--expect", "exists (out == 2)")
    wrong = synth("check", file, "--grid", 2, "--expect", "nothing == 0")
    assert [holds.exit_code, fails.exit_code, some.exit_code, wrong.exit_code] == [0, 1, 1, 2]
    assert "expectation: the expectation out == 0 may fail" in fails.stdout
    assert wrong.stderr.count("\n") == 1 and "data, flag, out" in wrong.stderr


def test_a_hang_counts_under_the_progress_that_is_assumed(tmp_path: Path) -> None:
    file = handed(tmp_path)
    assert synth("check", file, "--progress", "hsa").exit_code == 0
    result = synth("check", file, "--progress", "obe")
    assert result.exit_code == 1 and "hang: thread 0 of block 1 may go round for ever under obe" in result.stdout


NUMBER = """.visible .entry k(.param .u64 a, .param .u32 n)
{
  .reg .pred %p1; .reg .b32 %r<3>; .reg .b64 %rd1;
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra END;
  st.global.u32 [%rd1], %r2;
END:
  ret;
}
"""


def test_a_number_that_decides_something_has_to_be_given(tmp_path: Path) -> None:
    file = kernel(tmp_path, NUMBER)
    result = synth("check", file, "--block", 2)
    assert result.exit_code == 2 and "NOT UNDERSTOOD" in result.stdout and "--arg n=.." in result.stdout
    assert synth("check", file, "--block", 2, "--arg", "n=1").exit_code == 0
    assert synth("check", file, "--block", 2, "--arg", "1=1").exit_code == 0
    both = synth("check", file, "--block", 2, "--arg", "n=2")
    assert both.exit_code == 1 and "race: the write to a by" in both.stdout


def test_without_a_launch_four_are_tried(tmp_path: Path) -> None:
    found = json.loads(synth("check", kernel(tmp_path, NUMBER), "--arg", "n=9", "--json").stdout)
    assert [each["launch"] for each in found] == ["2x1", "1x2, warps of 1", "1x2", "2x2"]


def test_an_instruction_that_is_not_known_has_its_line(tmp_path: Path) -> None:
    file = kernel(tmp_path, ".visible .entry k()\n{\n  tensormap.replace.tile [0], 1;\n  ret;\n}\n")
    result = synth("check", file, "--grid", 1)
    assert result.exit_code == 2
    assert f"NOT UNDERSTOOD: {file}:6:1: tensormap.replace.tile: is not understood" in result.stdout
    (found,) = json.loads(synth("check", file, "--grid", 1, "--json").stdout)
    assert set(found["answers"].values()) == {"NOT UNDERSTOOD"}


def test_a_limit_that_is_met_leaves_answers_unknown(tmp_path: Path) -> None:
    result = synth("check", handed(tmp_path), "--timeout", 0.01, "--json")
    (found,) = json.loads(result.stdout)
    assert result.exit_code == 2 and set(found["answers"].values()) == {"UNKNOWN"}
    assert found["problem"] == "it takes more than --timeout allows"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--grid", "0"], "--grid: expected a number of blocks or threads"),
        (["--grid", "2", "--arg", "x"], "--arg: expected NAME=4"),
        (["--grid", "2", "--arg", "x=4"], "--arg: expected the name of a parameter, found x: hand has data, flag, out"),
        (["--kernel", "other"], "expected one of the kernels hand, found other"),
        (["--grid", "2", "--block", "33"], "expected a launch of at most 64 threads, found 66"),
        (["-m", "thesis-strong", "--grid", "2"], "is a transition system, and kernels are asked of .cat files"),
    ],
)
def test_misuse_is_a_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    result = synth("check", handed(tmp_path), *arguments)
    assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1


def test_a_comment_that_is_no_launch(tmp_path: Path) -> None:
    file = handed(tmp_path)
    file.write_text("// synth check: --gird 2\n" + file.read_text())
    result = synth("check", file)
    assert result.exit_code == 2 and "--gird" in result.stderr and result.stderr.count("\n") == 1


def test_what_is_no_kernel(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.ptx").write_text(HEAD)
    (tmp_path / "c.ptx").write_text(HEAD + ".visible .entry k() { add.s32 ;;; }}")
    for name, message in [
        ("a.txt", "expected a file of CUDA C++"),
        ("b.ptx", "expected a kernel"),
        ("c.ptx", "c.ptx:4:"),
    ]:
        result = synth("check", tmp_path / name)
        assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1, result.stderr


def test_what_is_left_is_a_litmus_test(tmp_path: Path) -> None:
    out = tmp_path / "out.litmus"
    assert synth("check", handed(tmp_path), "--litmus", out).exit_code == 0
    shown = synth("label", out, "-m", "ptx", "-m", "hsa", "-m", "obe", "--format", "csv")
    assert shown.exit_code == 0 and "TERMINATES" in shown.stdout and "MAY_HANG" in shown.stdout


STREAM = """.visible .entry pick(.param .u64 x)
{
  .reg .b32 %r<3>; .reg .b64 %rd1;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %ctaid.x;
  atom.exch.b32 %r2, [%rd1], %r1;
  ret;
}
.visible .entry use(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r1; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.u32 %r1, [%rd1];
  st.u32 [%rd2], %r1;
  ret;
}
"""


def test_a_kernel_begins_with_what_the_one_before_has_left(tmp_path: Path) -> None:
    """Three blocks exchange their numbers, so one of three numbers is left; what was there first is not."""
    file = kernel(tmp_path, STREAM)
    stream = ["check", file, "--first", "pick --grid 3", "--kernel", "use", "--grid", 1, "--arg", "from=&x"]
    every = [f"to == {n}" for n in range(3)]
    assert synth(*stream, "--expect", " || ".join(every)).exit_code == 0
    for each in every:
        result = synth(*stream, "--expect", f"{each} || {every[0]}" if each == every[1] else each)
        assert result.exit_code == 1 and "use, 1x1 after pick 3x1: FOUND expectation" in result.stdout
    assert synth(*stream, "--expect", "x == 1 && to == 1 || to != 1").exit_code == 0, "memory that it does not access"


def test_both_parameters_are_one_array(tmp_path: Path) -> None:
    file = kernel(tmp_path, STREAM)
    apart = synth("check", file, "--kernel", "use", "--grid", 2, "--arg", "from=[7]", "--expect", "to == 7")
    assert apart.exit_code == 1 and "race: the write to to by" in apart.stdout and "expectation" not in apart.stdout
    one = synth("check", file, "--kernel", "use", "--grid", 1, "--arg", "from=[7]", "--arg", "to=&from")
    assert one.exit_code == 0 and "zeros" not in one.stdout


def test_an_argument_is_for_the_kernels_that_have_it(tmp_path: Path) -> None:
    file = kernel(tmp_path, STREAM)
    result = synth("check", file, "--grid", 1, "--arg", "from=[7]", "--expect", "exists (true)")
    assert result.exit_code == 0
    wrong = synth("check", file, "--grid", 1, "--arg", "y=[7]")
    assert wrong.exit_code == 2 and "found y: pick has x; use has from, to" in wrong.stderr


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("pick --grid", "--first: expected a kernel and its launch, found 'pick --grid'"),
        ("", "--first: expected a kernel and its launch, found ''"),
        ("none --grid 2", "expected one of the kernels pick, use, found none"),
        ("pick --arg y=1", "--arg: expected the name of a parameter, found y: pick has x"),
    ],
)
def test_what_is_no_kernel_before(tmp_path: Path, first: str, message: str) -> None:
    result = synth("check", kernel(tmp_path, STREAM), "--first", first, "--kernel", "use", "--grid", 1)
    assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1


def test_models_are_asked_one_after_the_other(tmp_path: Path) -> None:
    result = synth("check", handed(tmp_path, "relaxed"), "-m", "ptx", "-m", "sc", "--json")
    answers = {each["model"]: each["answers"] for each in json.loads(result.stdout)}
    assert answers["ptx"]["race"] == "FOUND" and answers["sc"]["race"] == "NOT ASKED"


def test_a_kernel_is_repaired_at_its_lines(tmp_path: Path) -> None:
    file = handed(tmp_path, "relaxed", "relaxed")
    lines = [n for n, line in enumerate(file.read_text().splitlines(), 1) if ".relaxed." in line]
    result = synth("fix", file)
    assert result.exit_code == 0 and "hand, 2x1 under ptx: repaired by 2 changes, cost 30" in result.stdout
    store = "make this store release at gpu scope (cuda::memory_order_release, cuda::thread_scope_device)"
    load = "make this load acquire at gpu scope (cuda::memory_order_acquire, cuda::thread_scope_device)"
    for line, change in zip(lines, (store, load), strict=True):
        assert f"  line {line} of the PTX: {change}\n    without it: data-race\n" in result.stdout
    fenced = synth("fix", file, "--allow", "fences", "--json")
    (repair,) = json.loads(fenced.stdout)["repairs"]
    assert [change["change"].partition(" before")[0].partition(": ")[2] for change in repair["changes"]] == [
        "put a fence release at gpu scope",
        "put a fence acquire at gpu scope",
    ]


def test_a_kernel_that_is_right_has_nothing_to_change_and_nothing_to_spare(tmp_path: Path) -> None:
    file = handed(tmp_path)
    assert "nothing to change: no race, and data == 1 holds" in synth("fix", file).stdout
    weak = synth("fix", file, "--weaken")
    assert weak.exit_code == 0 and "nothing can be weaker" in weak.stdout
    assert "this store stays release at gpu scope" in weak.stdout
    racing = synth("fix", handed(tmp_path, "relaxed", name="racing.ptx"), "--weaken")
    assert racing.exit_code == 1 and "it races or fails as it is, so nothing is made weaker" in racing.stdout


def test_what_no_order_repairs(tmp_path: Path) -> None:
    file = handed(tmp_path)
    result = synth("fix", file, "--grid", 2, "--expect", "out == 2")
    assert result.exit_code == 1 and "no repair" in result.stdout


@pytest.mark.parametrize(
    ("model", "message"),
    [("thesis-strong", "is a transition system"), ("nosuch", "unknown consistency model 'nosuch'")],
)
def test_what_is_no_model_of_repairs(tmp_path: Path, model: str, message: str) -> None:
    result = synth("fix", handed(tmp_path), "-m", model)
    assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "more", [["--forbid", "x=1"], ["--together"], ["-o", "out"], ["other.litmus"]], ids=lambda more: more[0]
)
def test_kernels_are_repaired_by_themselves(tmp_path: Path, more: list[str]) -> None:
    result = synth("fix", handed(tmp_path), *more)
    assert result.exit_code == 2 and "take no litmus tests" in result.stderr and result.stderr.count("\n") == 1


APART = """.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.u32 [%rd3], 7;
  ret;
}
"""


def test_elements_of_an_array_and_the_expectation_go_to_the_litmus_test(tmp_path: Path) -> None:
    file, out = kernel(tmp_path, APART), tmp_path / "out.litmus"
    for expected, answer in [("out[0] == 7 && out[1] == 7", "true"), ("out[1] == 0", "false")]:
        synth("check", file, "--grid", 2, "--expect", expected, "--litmus", out)
        shown = synth("label", out, "-m", "ptx", "--format", "csv").stdout.splitlines()
        assert shown[1].split(",")[3] == answer, shown
    assert "forall (out_1 = 0)" in out.read_text()


BULK = """.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  .shared .align 16 .b32 s[4];
  ld.param.u64 %rd1, [out];
  st.shared.u32 [s], 7;
  st.shared.u32 [s+4], 8;
  st.shared.u32 [s+8], 9;
  st.shared.u32 [s+12], 10;
  fence.proxy.async;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 16;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
"""


@pytest.mark.parametrize(("removed", "answer"), [("", "true"), ("fence.proxy.async;", "false")])
def test_a_copy_of_several_elements_goes_to_the_litmus_test(tmp_path: Path, removed: str, answer: str) -> None:
    file, out = kernel(tmp_path, BULK.replace(removed, "") if removed else BULK), tmp_path / "out.litmus"
    result = synth("check", file, "--expect", "out[0] == 7 && out[3] == 10", "--grid", 1, "--litmus", out, "--json")
    (found,) = json.loads(result.stdout)
    assert found["answers"]["expectation"] == ("SAFE" if answer == "true" else "FOUND")
    shown = synth("label", out, "-m", "ptx-async", "--format", "csv").stdout.splitlines()
    assert shown[1].split(",")[3] == answer, shown


def test_executions_may_be_listed(tmp_path: Path) -> None:
    file = handed(tmp_path, "relaxed")
    answers = [json.loads(synth("check", file, "--json", "--method", name).stdout) for name in ("sat", "enumerate")]
    assert answers[0][0]["answers"] == answers[1][0]["answers"] and answers[0][0]["answers"]["race"] == "FOUND"
    many = synth("check", kernel(tmp_path, STREAM), "--kernel", "pick", "--grid", 9, "--method", "enumerate")
    assert many.exit_code == 2 and "UNKNOWN" in many.stdout and "too many to list" in many.stdout


REDUCED = """.visible .entry k(.param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  setp.eq.u32 %p1, %r1, 0;
  bar.red.or.pred %p2, 0, %p1;
  selp.u32 %r2, 7, 0, %p2;
  st.u32 [%rd3], %r2;
  ret;
}
"""


def test_what_threads_exchange_at_a_barrier_is_no_access_of_theirs(tmp_path: Path) -> None:
    launch = ["--block", 2, "--warp", 1, "--expect", "out[0] == 7 && out[1] == 7"]
    result = synth("fix", kernel(tmp_path, REDUCED), "--weaken", *launch)
    assert result.exit_code == 0 and "nothing can be weaker" in result.stdout and "kept" not in result.stdout
    assert synth("check", tmp_path / "kernel.ptx", *launch).exit_code == 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("model", ["c11", "opencl", "ptx-6.0", "ptx-rmo", "rc11", "sc", "tso", "vulkan", "webgpu"])
def test_any_model_answers_or_says_that_it_does_not(tmp_path: Path, model: str) -> None:
    file = handed(tmp_path, "relaxed", "relaxed")
    (found,) = json.loads(synth("check", file, "-m", model, "--json").stdout)
    races = [each["text"] for each in found["findings"] if each["kind"] == "race"]
    assert found["answers"]["race"] == ("FOUND" if races else "NOT ASKED")
    assert bool(races) is (model not in ("ptx-6.0", "ptx-rmo", "sc", "tso")) and "causality" not in "".join(races)
    fixed = synth("fix", file, "-m", model)
    assert fixed.exit_code in (0, 1) and (races or f"{model} does not say what a race is" in fixed.stdout)


@pytest.mark.parametrize(("given", "code"), [("int[2]", 0), ("int[1]", 1), ("char[2]", 0), ("[2]", 0)])
def test_an_array_of_so_many_elements(tmp_path: Path, given: str, code: int) -> None:
    """Elements are of 4 bytes here, also where somebody has called them smaller ones."""
    result = synth("check", kernel(tmp_path, APART), "--grid", 2, "--arg", f"out={given}")
    assert result.exit_code == code and ("bounds: an access is outside" in result.stdout) is bool(code)


COUNTED = """.visible .entry count(.param .u64 x)
{
  .reg .pred %p1; .reg .b32 %r<3>; .reg .b64 %rd1;
  ld.param.u64 %rd1, [x];
  atom.add.u32 %r1, [%rd1], 1;
  setp.eq.u32 %p1, %r1, 0;
  bar.red.popc.u32 %r2, 0, %p1;
  ret;
}
"""


def test_what_threads_exchange_at_a_barrier_is_no_memory(tmp_path: Path) -> None:
    file = kernel(tmp_path, COUNTED + STREAM)
    first = ["check", file, "--first", "count --block 2 --warp 1", "--kernel", "use", "--grid", 1, "--expect"]
    assert synth(*first, "x == 2 && to == 0").exit_code == 0
    assert "which are from, to, x\n" in synth(*first, "slot == 0").stderr


def test_a_picture_is_of_what_is_found(tmp_path: Path) -> None:
    picture = tmp_path / "race.svg"
    right = synth("check", handed(tmp_path), "--picture", picture)
    assert right.exit_code == 0 and "SAFE" in right.stdout and not picture.exists()
    assert right.stderr == f"synth: {picture}: not written, because no finding has an execution\n"
    assert synth("check", handed(tmp_path, "relaxed"), "--picture", picture).exit_code == 1
    assert "write to data by thread 0 of block 0" in picture.read_text()
