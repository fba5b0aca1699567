"""``synth compile`` for litmus tests: files, refusals, optcheck, exit codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import synth

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
WEAK, CACHED = EXAMPLES / "mp-weak.litmus", EXAMPLES / "mp-L1.litmus"
XOR = EXAMPLES / "mp+membar.gl+addr-xor.litmus"


@pytest.mark.parametrize(
    ("backend", "names"),
    [
        ("cuda", ["mp-L1.cu", "mp-weak.cu"]),
        ("opencl", ["mp-weak.cl", "run_opencl.py"]),
        ("glsl", ["mp-weak.amber"]),
        ("wgsl", ["mp-weak.wgsl", "run_wgsl.py"]),
        ("cpp", ["mp-weak.cpp"]),
    ],
)
def test_what_a_language_cannot_say_is_left_out(backend: str, names: list[str], tmp_path: Path) -> None:
    done = synth("compile", CACHED, WEAK, "--backend", backend, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    lines = done.stderr.splitlines()
    assert lines[-1].startswith(f"{2 if backend == 'cuda' else 1} of 2 tests in ")
    if backend != "cuda":
        title = {"opencl": "OpenCL", "glsl": "GLSL", "wgsl": "WGSL", "cpp": "C++"}[backend]
        assert lines[0] == f"{CACHED}: P0: st.cg x, 1: {title} has no cache operators"


def test_the_same_command_writes_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        synth("compile", EXAMPLES, "--backend", "cuda", "-o", tmp_path / folder)
    texts = [{file.name: file.read_bytes() for file in (tmp_path / folder).iterdir()} for folder in ("a", "b")]
    assert texts[0] == texts[1]
    assert len(texts[0]) > 80


def test_nothing_to_say_is_an_error(tmp_path: Path) -> None:
    done = synth("compile", CACHED, "--backend", "glsl", "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "synth: glsl can say none of the 1 tests"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((WEAK, "--mapping", "chunked"), "--mapping is for progress tests"),
        ((WEAK, EXAMPLES.parent / "progress"), "holds litmus tests"),
    ],
)
def test_bad_requests_have_one_line(arguments: tuple[object, ...], message: str, tmp_path: Path) -> None:
    done = synth("compile", *arguments, "--backend", "cpp", "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_two_tests_do_not_share_a_file(tmp_path: Path) -> None:
    files = [WEAK]
    for folder in ("a", "b", "other/a"):
        files.append(tmp_path / folder / "MP-weak.litmus")
        files[-1].parent.mkdir(parents=True)
        files[-1].write_text(WEAK.read_text())
    done = synth("compile", *files[:3], "--backend", "cuda", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert {each.stem for each in (tmp_path / "out").glob("*.cu")} == {"mp-weak", "a-MP-weak", "b-MP-weak"}
    done = synth("compile", *files, "--backend", "cuda", "-o", tmp_path / "more")
    assert done.exit_code == 2
    assert "two tests share a file name" in done.stderr


@pytest.mark.device
@pytest.mark.parametrize("backend", ["opencl", "glsl", "wgsl", "cpp"])
def test_check_compiles(backend: str, need: Callable[[str], None], tmp_path: Path) -> None:
    need(backend)
    done = synth("compile", WEAK, "--backend", backend, "-o", tmp_path / "out", "--check")
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines()[-1] == "1 of 1 compile"


@pytest.mark.device
def test_check_of_cuda_runs_optcheck(need: Callable[[str], None], tmp_path: Path) -> None:
    """The dependency through xor is computed away, on both architectures (Alglave et al. 2015, section 4.5)."""
    need("cuda")
    done = synth("compile", XOR, WEAK, "--backend", "cuda", "-o", tmp_path / "out", "--check")
    assert done.exit_code == 1
    lines = done.stderr.splitlines()
    text = "P1: ld.cg r5, [r4]: in the machine code its address does not depend on ld.cg r1, [r0]"
    file = tmp_path / "out" / "mp+membar.gl+addr-xor.cu"
    assert lines[1:] == [
        f"{file}: sm_75: {text}",
        f"{file}: sm_90: {text}",
        "2 of 2 compile",
        "1 of 2 pass optcheck",
    ]
