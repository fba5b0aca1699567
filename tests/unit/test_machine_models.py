"""A table of code sequences as a model: ``-m examples/sequences/gfx942.seq``, its verdicts, its runs and its errors."""

from pathlib import Path

import pytest
from commands import synth

from oracle.consistency import OperationalModel, resolve_consistency_models

ROOT = Path(__file__).parents[2]
ISA2 = ROOT / "examples" / "memory" / "amdgpu" / "isa2-wider.litmus"
WRONG, RIGHT = (ROOT / "examples" / "sequences" / f"{name}.seq" for name in ("gfx10-cu-llvm19", "gfx10-cu"))


def test_a_table_stands_beside_the_model_that_it_is_to_keep():
    result = synth("label", ISA2, "-m", "amdgpu", "-m", WRONG, "-m", RIGHT)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split() == ["test", "amdgpu", "gfx10-cu-llvm19", "gfx10-cu"]
    assert result.stdout.splitlines()[1].split()[1:] == ["F", "A", "F"]


def test_a_run_of_the_machine_is_a_list_of_steps():
    result = synth("explain", ISA2, "-m", WRONG)
    assert "isa2-wider under gfx10-cu-llvm19: ALLOWED" in result.stdout
    assert "4. P1's global_load of y finds its value in the L0\n" in result.stdout
    assert result.stdout.splitlines()[-1].strip() == "16. P0's global_store of x reaches memory"
    result = synth("explain", ISA2, "-m", RIGHT)
    assert "FORBIDDEN" in result.stdout and "has the outcome" in result.stdout


def test_what_the_table_has_not_has_no_verdict():
    cluster = ROOT / "examples" / "memory" / "amdgpu" / "mp-cluster.litmus"
    result = synth("label", cluster, "-m", RIGHT)
    assert "no row for W.release.queue of global memory" in result.stderr
    assert "UNKNOWN" in result.stdout


def test_a_digest_is_of_the_text():
    wrong, right = resolve_consistency_models([str(WRONG), str(RIGHT)])
    assert isinstance(wrong, OperationalModel) and isinstance(right, OperationalModel)
    assert len(wrong.digest) == len(right.digest) == 64 and wrong.digest != right.digest
    (thesis,) = resolve_consistency_models(["thesis-weak"])
    assert thesis.digest == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("machine gfx91a\n", "mine.seq: unknown machine 'gfx91a'; did you mean gfx90a or gfx942?"),
        ("machine gfx90a\nR @global -> global_lode\n", "mine.seq:2:13: expected a machine instruction"),
    ],
)
def test_a_wrong_table_is_one_line(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    Path("mine.seq").write_text(text)
    result = synth("label", ISA2, "-m", "mine.seq")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert message in result.stderr
