"""``synth harden`` on an application whose bug this machine's processor really shows."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from backends.shared.profiles import STRESS, Profile
from synth.cli import main
from synth.hardening.application import defines

pytestmark = pytest.mark.device

APPLICATIONS = Path(__file__).parents[2] / "examples" / "applications"
CXX = ["g++", "-O2", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pthread"]


TOGETHER = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="threads have to run at the same time")
NEEDED = {"peterson": {1}, "dekker": {0, 5}, "deque": {4}}
"""What x86 needs, which lets a load overtake a store and nothing else."""


def fails(program: Path, runs: int) -> bool:
    """Whether a program fails in one of so many runs."""
    return any(subprocess.run([program], check=False, timeout=60).returncode for _ in range(runs))


@TOGETHER
@pytest.mark.parametrize("name", NEEDED)
def test_without_its_fences_an_application_fails(name: str, tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    for fences, runs in ((frozenset[int](), 300), (frozenset(NEEDED[name]), 5)):
        program = tmp_path / f"{name}{len(fences)}"
        subprocess.run([*CXX, *defines(fences), APPLICATIONS / f"{name}.cpp", "-o", program], check=True)
        if platform.machine() == "x86_64":
            assert fails(program, runs) == (not fences)


@pytest.mark.slow
@TOGETHER
def test_the_fence_of_petersons_lock_is_found(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    build = f"{' '.join(CXX)} {{defines}} {APPLICATIONS / 'peterson.cpp'} -o {{folder}}/app"
    arguments = ["--places", "8", "--build", build, "--run", "{folder}/app", "--rate", "0.05", "-o", tmp_path / "out"]
    result = CliRunner().invoke(main, ["harden", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["verdict"] == "hardened" and 1 in found["needed"]


@pytest.mark.parametrize("stress", [None, STRESS, Profile("spread", stress=2, spread=4, sequence="ld st st")])
@pytest.mark.parametrize("name", ["dekker", "deque", "peterson"])
def test_applications_are_right_with_all_fences(
    name: str, stress: Profile | None, tmp_path: Path, need: Callable[[str], None]
) -> None:
    need("cpp")
    told = defines(frozenset(range(32)), stress)
    program = tmp_path / name
    subprocess.run([*CXX, *told, APPLICATIONS / f"{name}.cpp", "-o", program], check=True)
    subprocess.run([program, "1000"], check=True, timeout=60)


HEADER = """
#define SYNTH_THE_FENCE {seen[count++] = place;}
#include "synth_fence.h"
#include <cstdio>
static int seen[256], count, place;
#define AT(n) place = n; SYNTH_FENCE(n)
int main() {
    AT(0); AT(1); AT(31); AT(32); AT(63); AT(64); AT(100); AT(128); AT(160); AT(192); AT(200); AT(254); AT(255);
    for (int each = 0; each < count; ++each) std::printf("%d ", seen[each]);
}
"""


def test_a_place_is_active_or_not(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    active = {1, 31, 32, 64, 160, 192, 255}
    source, program = tmp_path / "places.cpp", tmp_path / "places"
    source.write_text(HEADER)
    subprocess.run([*CXX, *defines(frozenset(active)), source, "-o", program], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert set(map(int, said.split())) == active
