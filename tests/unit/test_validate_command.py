"""``synth validate``: pairs of files and of folders, names, models, forms and exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from commands import synth

EXAMPLES = Path(__file__).parents[2] / "examples"
MEMORY, SPIRV = EXAMPLES / "memory", EXAMPLES / "kernels" / "spirv"
STRONG, WEAK = MEMORY / "c-sb-sc.litmus", MEMORY / "c-sb-rel-acq.litmus"


def test_a_weaker_pair_is_a_finding_with_the_reasons_of_both_sides():
    result = synth("validate", STRONG, WEAK)
    assert result.exit_code == 1
    first, *rest = result.stdout.splitlines()
    assert first.startswith("c-sb-sc, rc11 to rc11: WEAKER: ") and first.endswith("added: P0:r0=0 P1:r1=0")
    assert "The program before, c-sb-sc under rc11: FORBIDDEN" in rest
    assert "The program after, c-sb-rel-acq under rc11: ALLOWED" in rest


@pytest.mark.parametrize(
    ("before", "after", "options", "line"),
    [
        (WEAK, STRONG, [], "STRONGER: some outcomes of the program before are gone"),
        (STRONG, STRONG, [], "SAME: both have the same outcomes; 3 outcomes before, 3 after"),
        (STRONG, WEAK, ["-m", "sc"], "SAME"),
        (STRONG, WEAK, ["-m", "rc11", "-m", "tso"], "WEAKER"),
        (MEMORY / "c-mp-rel-acq.litmus", MEMORY / "c-mp-rlx.litmus", [], "UNDEFINED: data-race"),
        (STRONG, STRONG, ["-m", "rc11", "-m", "ptx"], "NOT_READ: after: no-sc-accesses-in-ptx"),
        (SPIRV / "mp.spvasm", SPIRV / "mp-relaxed.spvasm", [], "WEAKER: the program after may do anything, data-race"),
        (SPIRV / "mp.spvasm", SPIRV / "mp.spvasm", [], "SAME"),
    ],
)
def test_verdicts_and_exit_codes(before, after, options, line):
    result = synth("validate", before, after, *options)
    verdict = line.partition(":")[0]
    assert f": {line}" in result.stdout.splitlines()[0]
    assert result.exit_code == {"WEAKER": 1, "NOT_READ": 2}.get(verdict, 0)


KERNEL = """.version 9.0
.target sm_90
.address_size 64
.visible .entry mp(.param .u64 memory, .param .u64 results) {
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [memory];
    ld.param.u64 %rd2, [results];
    mov.u32 %r1, %ctaid.x;
    setp.eq.s32 %p1, %r1, 1;
    @%p1 bra READER;
    st.global.u32 [%rd1], 1;
    st.release.gpu.global.u32 [%rd1+4], 1;
    ret;
READER:
    ld.acquire.gpu.global.u32 %r2, [%rd1+4];
    ld.global.u32 %r3, [%rd1];
    st.global.u32 [%rd2], %r2;
    st.global.u32 [%rd2+4], %r3;
    ret;
}
"""


@pytest.mark.parametrize(
    ("kernel", "verdict"), [(KERNEL, "SAME"), (KERNEL.replace("st.release", "st.relaxed"), "WEAKER")]
)
def test_a_kernel_after_a_litmus_test(tmp_path, kernel, verdict):
    """Names say what the memory of a kernel is in the test, and where its registers are kept."""
    after = tmp_path / "mp.ptx"
    after.write_text(kernel)
    names = ("memory=x", "memory[1]=y", "results=P1:r1", "results[1]=P1:r2")
    words = [word for name in names for word in ("--name", name)]
    result = synth("validate", MEMORY / "mp-acq-rel.litmus", after, *words, "--grid", 2, "--block", 1)
    assert result.stdout.startswith(f"mp-acq-rel, ptx to ptx: {verdict}: "), result.output


def test_a_kernel_has_one_launch(tmp_path):
    (tmp_path / "mp.ptx").write_text(KERNEL)
    result = synth("validate", MEMORY / "mp-acq-rel.litmus", tmp_path / "mp.ptx")
    assert result.exit_code == 2 and "expected one kernel with one launch" in result.stdout


def test_folders_are_paired_by_names(tmp_path):
    for side, names in (("before", ("c-sb-sc", "c-lb-rlx", "c-mp-rlx")), ("after", ("c-sb-sc", "c-lb-rlx"))):
        (tmp_path / side / "inner").mkdir(parents=True)
        for name in names:
            shutil.copy(MEMORY / f"{name}.litmus", tmp_path / side / "inner")
    (tmp_path / "after" / "inner" / "c-sb-sc.litmus").write_text(WEAK.read_text())
    result = synth("validate", tmp_path / "before", tmp_path / "after", "--json", "-j", 1)
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(each["program"], each["verdict"]) for each in records] == [
        ("inner/c-lb-rlx", "SAME"),
        ("inner/c-sb-sc", "WEAKER"),
    ]
    assert records[1]["added"] == ["P0:r0=0 P1:r1=0"] and records[1]["why"]
    assert result.exit_code == 1
    assert "inner/c-mp-rlx.litmus: no program of this name" in result.stderr
    table = synth("validate", tmp_path / "before", tmp_path / "after", "-j", 1).stdout.splitlines()
    assert table[0].split()[:4] == ["program", "verdict", "before", "after"] and "WEAKER" in "".join(table)


WRONG = [
    ((STRONG, MEMORY), "expected two files, or two folders"),
    ((STRONG, STRONG, "--name", "x"), "--name: expected AFTER=BEFORE, such as memory[1]=y or out=P1:r0, found 'x'"),
    ((STRONG, STRONG, "--name", "x=a", "--name", "y=a"), "--name: two registers or locations get one name"),
    ((STRONG, STRONG, "-m", "sc", "-m", "tso", "-m", "rc11"), "give --model once for both sides, or"),
    ((STRONG, STRONG, "-m", "no-such"), "no-such"),
    ((STRONG, "missing.litmus"), "missing.litmus"),
]


@pytest.mark.parametrize(("words", "message"), WRONG, ids=[message[:20] for _, message in WRONG])
def test_what_is_wrong_gets_one_line(words, message):
    result = synth("validate", *words)
    assert result.exit_code == 2
    assert message in result.stderr + result.stdout and (result.stderr + result.stdout).count("\n") == 1
