"""SwiftShader, the device of Chromium for CPUs, as one of ours: where Vulkan is told of its driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from absent import absent

from corpus.journal import read_corpus
from oracle.progress.models import Verdict

pytestmark = pytest.mark.device

DRIVER = Path("/usr/lib/chromium/vk_swiftshader_icd.json")


@pytest.fixture
def told() -> dict[str, str]:
    """The environment of a process that has the driver. Where there is none, tests are skipped; on CI they fail.

    The process must be another: in this one the devices that work are known by now.
    """
    if not DRIVER.exists():
        absent("Debian's chromium is not installed")
    return {**os.environ, "VK_ADD_DRIVER_FILES": str(DRIVER)}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("backend", ["glsl", "wgsl"])
def test_what_waits_for_a_later_thread_hangs_chunked(
    backend: str,
    told: dict[str, str],
    need: Callable[..., None],
    progress_suite: Callable[[str, str], Path],
    tmp_path: Path,
) -> None:
    """As in the browser: threads of an instance that are 16 work-groups apart are played one after the other."""
    need(backend, runs=True)
    suite = progress_suite("2x2", "--minimal")
    options = ["--backend", backend, "--platform", "SwiftShader", "--mapping", "chunked", "--instances", "16"]
    options += ["--iterations", "1", "--json", "-o", str(tmp_path / "results.jsonl")]
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", "run", str(suite), *options]
    done = subprocess.run(command, env=told, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    assert {result["device"].partition(" ")[0] for result in results} == {"SwiftShader"}
    hung = {result["test"] for result in results if result["outcomes"] == "H"}
    tests = read_corpus(suite).tests
    assert hung == {test.name for test in tests if test.verdicts["lobe-strong"] == Verdict.MAY_HANG} != set()
