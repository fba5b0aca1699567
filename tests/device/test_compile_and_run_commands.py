"""``synth compile`` and ``synth run``, from the command line to files on disk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import synth

from backends.opencl.platforms import POCL
from backends.registry import BACKENDS

pytestmark = pytest.mark.device

FORWARD = "THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: if (Mem[0] == 0) goto 0;\n"
BACKWARD = "THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n"
FILED = [(name, each.suffix[1:]) for name, each in BACKENDS.items() if each.bundle is None]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "forward.axb").write_text(FORWARD)
    (folder / "backward.axb").write_text(BACKWARD)
    return folder


@pytest.mark.parametrize(("backend", "suffix"), FILED)
def test_compile_and_check(backend: str, suffix: str, suite: Path, tmp_path: Path, need: Callable[[str], None]) -> None:
    need(backend)
    output = tmp_path / "out"
    done = synth("compile", suite, "--backend", backend, "--mapping", "chunked", "-o", output, "--check")
    assert done.exit_code == 0, done.output
    assert "2 of 2 compile" in done.stderr
    names = sorted(path.name for path in output.glob(f"*.{suffix}"))
    assert names == [f"backward.chunked.{suffix}", f"forward.chunked.{suffix}"]


def test_compile_and_check_one_page(suite: Path, tmp_path: Path, need: Callable[[str], None]) -> None:
    need("web")
    done = synth("compile", suite, "--backend", "web", "--mapping", "chunked", "-o", tmp_path / "out", "--check")
    assert done.exit_code == 0, done.output
    assert "2 of 2 compile" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["index.html"]


def test_the_same_bytes_twice(suite: Path, tmp_path: Path) -> None:
    for output in ("one", "two"):
        assert synth("compile", suite, "--backend", "cuda", "--mapping", "all", "-o", tmp_path / output).exit_code == 0
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert len(one) == 6
    assert one == two


def test_an_output_folder_that_is_not_empty(suite: Path, tmp_path: Path) -> None:
    again = ("compile", suite, "--backend", "cpp", "-o", tmp_path / "out")
    assert synth(*again).exit_code == 0
    refused = synth(*again)
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert synth(*again, "--force").exit_code == 0
    (tmp_path / "file").write_text("precious")
    assert synth("compile", suite, "--backend", "cpp", "-o", tmp_path / "file").exit_code == 2
    assert (tmp_path / "file").read_text() == "precious"


def test_run_resumes_and_reports(suite: Path, tmp_path: Path, need: Callable[..., None]) -> None:
    need("opencl", POCL)
    results = tmp_path / "results.jsonl"
    command = ("run", suite, "--backend", "opencl", "--mapping", "round-robin", "--instances", 16, "--workers", 2)
    command = (*command, "--platform", POCL, "--iterations", 3, "-o", results)
    first = synth(*command, "--where", "forw*")
    assert first.exit_code == 0, first.output
    second = synth(*command)
    assert second.exit_code == 0, second.output
    assert re.search(r"^fair-weak +0 +0 +1$", second.stdout, re.MULTILINE)
    assert "under which these tests terminate, but they hung: backward" in second.stdout
    lines = results.read_text().splitlines()
    assert [(json.loads(line)["test"], json.loads(line)["outcomes"]) for line in lines] == [
        ("forward", "TTT"),
        ("backward", "H"),
        ("backward", "H"),
    ]
    assert json.loads(lines[-1])["tries"] == ["H", "H", "H"]
    third = synth(*command, "--json")
    assert results.read_text().splitlines() == lines
    report = json.loads(third.stdout)
    assert report["mappings"] == [
        {"placement": "device", "mapping": "round-robin", "tests": 2, "hung": 1, "always_hung": 1}
    ]
    assert report["failed"] == {}


def test_run_on_threads(suite: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    command = ("run", suite / "backward.axb", "--backend", "cpp", "--timeout", 60, "--iterations", 2, "--json")
    report = json.loads(synth(*command).stdout)
    assert [result["outcomes"] for result in report["results"]] == ["TT"] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--where", "nothing*"], "no test has a name"),
        (["--timeout", "nan"], "expected a number of seconds"),
        (["--platform", "no such platform"], "no OpenCL device"),
    ],
)
def test_misuse(options: list[str], message: str, suite: Path, need: Callable[[str], None]) -> None:
    need("opencl")
    done = synth("run", suite, "--backend", "opencl", *options)
    assert done.exit_code == 2
    assert message in done.stderr
