"""``synth harden`` on an application whose bug this machine's processor really shows."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from backends.cuda.compiler import ARCHITECTURES, CudaCompiler
from backends.glsl.spirv import glslang, libraries
from backends.opencl.platforms import choose
from backends.shared.profiles import STRESS, Profile
from synth.cli import main
from synth.hardening.application import defines, include

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


FENCES = "SYNTH_FENCE(1); SYNTH_FENCE(2); SYNTH_FENCE(200);"
ACTIVE = defines(frozenset({1, 200}))
OPENCL = """
import sys
import pyopencl as cl
platform, number, *options = sys.argv[1:]
devices = [d for p in cl.get_platforms() if platform in f"{p.name}, {p.version}" for d in p.get_devices()]
cl.Program(cl.Context([devices[int(number)]]), sys.stdin.read()).build(options)
"""


def test_the_header_in_opencl(need: Callable[[str], None]) -> None:
    need("opencl")
    device = choose()
    kernel = f'#include "synth_fence.h"\nkernel void test(global uint *x) {{ x[0] = 1; {FENCES} x[1] = 1; }}\n'
    command = [sys.executable, "-c", OPENCL, device.selector, str(device.number)]
    environment = {**os.environ, **device.environment}
    for standard in ("CL1.2", "CL3.0"):
        options = [*ACTIVE, f"-cl-std={standard}", "-Werror"]
        subprocess.run([*command, *options], input=kernel, text=True, env=environment, check=True)


def test_the_header_in_glsl(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("glsl")
    file = tmp_path / "kernel.comp"
    extension = '#version 450\n#extension GL_GOOGLE_include_directive : enable\n#include "synth_fence.h"\n'
    words = "layout(local_size_x = 1) in;\nlayout(binding = 0) buffer Words { uint x[]; };\n"
    file.write_text(f"{extension}{words}void main() {{ x[0] = 1; {FENCES} x[1] = 1; }}\n", encoding="utf-8")
    tool = glslang()
    assert tool is not None
    command = [tool, "-V", "-H", *ACTIVE, file, "-o", tmp_path / "spv"]
    said = subprocess.run(command, env={**os.environ, **libraries(tool)}, check=True, capture_output=True)
    assert said.stdout.count(b"MemoryBarrier") >= 2


@pytest.mark.slow
def test_the_header_in_cuda(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cuda")
    file = tmp_path / "kernel.cu"
    header = (include() / "synth_fence.h").read_text(encoding="utf-8")
    kernel = f"__global__ void kernel(unsigned *x) {{ x[0] = 1; {FENCES} x[1] = 1; }}\nint main() {{}}\n"
    file.write_text(f"#define SYNTH_ACTIVE_0 2u\n{header}{kernel}", encoding="utf-8")
    compiled = CudaCompiler((ARCHITECTURES[-1],)).compile(file)
    assert compiled.ok, compiled.output
