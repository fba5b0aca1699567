"""``synth harden`` on an application whose bug this machine's processor really shows."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from commands import synth

from backends.cuda.compiler import ARCHITECTURES, CudaCompiler, cuda_tool
from backends.glsl.spirv import glslang, libraries
from backends.opencl.platforms import choose
from backends.shared.profiles import STRESS, Profile
from synth.hardening.application import defines, include

pytestmark = pytest.mark.device

APPLICATIONS = Path(__file__).parents[2] / "examples" / "applications"
CXX = ["g++", "-O2", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-pthread", "-x", "c++"]
FAKE_NVCC = Path(__file__).parents[1] / "fakes" / "cuda" / "nvcc"
ALL = frozenset(range(32))

TOGETHER = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="threads have to run at the same time")
NEEDED = {"peterson": {1}, "dekker": {0, 5}, "deque": {4}}
"""What x86 needs, which lets a load overtake a store and nothing else."""
OTHERS = ("list", "reduction", "scan")
"""They need no fence there."""
PROFILE = Profile("spread", stress=2, spread=4, sequence="ld st st")


WEAKER = {
    "peterson": [{0, 1, 4, 6}],
    "dekker": [{0, 5, 6, 8}, {0, 5, 6, 9}],
    "deque": [{1, 4, 10, 11}],
    "list": [{0, 3}],
    "reduction": [{0, 1}],
    "scan": [{0, 2, 4}],
}
"""What weaker machines need: as ``tests/unit/test_harden_cores.py`` has it of PTX, and what those cores leave out."""


def built(name: str, folder: Path, fences: frozenset[int], stress: Profile | None = None, *more: str) -> Path:
    """An application as a C++ program."""
    program = folder / f"{name}{len(fences)}"
    told = [*defines(fences, stress), *more]
    subprocess.run([*CXX, *told, APPLICATIONS / f"{name}.cl", "-o", program], check=True)
    return program


def fails(program: Path) -> bool:
    """Whether a run of a C++ program loses something, or does not end.

    Without fences Dekker's lock may do either: both threads are in the critical section, the second to leave gives the
    turn to the first, which has played its last round, and waits for it.
    """
    try:
        return subprocess.run([program], check=False, timeout=60).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def on_opencl(name: str, fences: frozenset[int], launches: int, stress: Profile | None = None) -> int:
    """The exit code of an application on the OpenCL device that the probe chooses."""
    variables = {**choose().environment, "SYNTH_DEFINES": shlex.join(defines(fences, stress))}
    command = [sys.executable, APPLICATIONS / "opencl.py", APPLICATIONS / f"{name}.cl", str(launches)]
    return subprocess.run(command, env={**os.environ, **variables}, check=False, timeout=60).returncode


@pytest.mark.one_in(3)
@TOGETHER
@pytest.mark.parametrize("name", NEEDED)
def test_without_its_fences_an_application_fails(name: str, tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    for fences, runs in ((frozenset[int](), 300), (frozenset(NEEDED[name]), 5)):
        program = built(name, tmp_path, fences)
        if platform.machine() == "x86_64":
            assert any(fails(program) for _ in range(runs)) == (not fences)


@TOGETHER
@pytest.mark.parametrize("name", ["peterson", "deque"])
def test_without_its_fences_an_application_fails_on_opencl(name: str, need: Callable[[str], None]) -> None:
    need("opencl")
    assert on_opencl(name, frozenset(NEEDED[name]), 20) == 0
    if platform.machine() == "x86_64":
        assert any(on_opencl(name, frozenset(), 1000) == 1 for _ in range(30))


@pytest.mark.parametrize("name", [pytest.param("dekker", marks=pytest.mark.slow), *OTHERS])
def test_applications_are_right_with_all_fences_on_opencl(name: str, need: Callable[[str], None]) -> None:
    need("opencl")
    assert on_opencl(name, ALL, 2, PROFILE) == 0


def hardened_on_opencl(play: str, folder: Path, *more: str) -> Result:
    """What ``synth harden`` says of an application with this function, on the OpenCL device that the probe chooses."""
    source = folder / "mine.cl"
    text = f'#define GROUPS 2u\n#define CELLS 1\n#include "application.h"\n{play}\n'
    source.write_text(f"{text}DEVICE unsigned wrong(Memory memory) {{ return 0; }}\n", encoding="utf-8")
    source.with_name("application.h").write_bytes((APPLICATIONS / "application.h").read_bytes())
    host = shlex.join([sys.executable, str(APPLICATIONS / "opencl.py"), str(source)])
    arguments = ["--places", "1", "--build", f"{host} 0", "--run", host, "-o", str(folder / "out"), *more]
    return synth("harden", *arguments, env=dict(choose().environment))


def test_an_opencl_application_that_is_not_built(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("opencl")
    result = hardened_on_opencl("no such word", tmp_path)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert "--build: with fences at 0: " in result.stderr and "unknown type name 'no'" in result.stderr


@pytest.mark.slow
def test_an_opencl_application_that_never_ends(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("opencl")
    play = "DEVICE void play(Memory memory, unsigned me, unsigned seed) { while (!get(memory, 0)) wait_again(me); }"
    result = hardened_on_opencl(play, tmp_path, "--timeout", "5")
    assert result.exit_code == 1 and "1 of 1 runs failed (the first: did not end)" in result.output
    processes = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True).stdout
    assert str(tmp_path) not in processes


@pytest.mark.slow
@TOGETHER
@pytest.mark.parametrize("name", ["peterson", "deque"])
def test_the_fence_is_found_on_opencl(name: str, tmp_path: Path, need: Callable[[str], None]) -> None:
    need("opencl")
    run = shlex.join([sys.executable, str(APPLICATIONS / "opencl.py"), str(APPLICATIONS / f"{name}.cl")])
    places = {"peterson": "8", "deque": "14"}[name]
    arguments = ["--places", places, "--run", run, "--rate", "0.1", "--runs", "16", "-o", str(tmp_path / "out")]
    result = synth("harden", *arguments, "--timeout", "60", "--json", env=dict(choose().environment))
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["verdict"] == "hardened" and NEEDED[name] <= set(found["needed"])


@pytest.mark.slow
@TOGETHER
def test_the_example_of_the_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, need: Callable[[str], None]) -> None:
    need("cpp")
    text = synth("harden", "--help", terminal_width=200).output
    example = shlex.split(next(line for line in text.replace("\\\n", "").splitlines() if "synth harden -" in line))
    monkeypatch.chdir(APPLICATIONS)
    quick = ["-o", str(tmp_path / "out"), "--rate", "0.4", "--runs", "4", "--json"]
    result = synth(*example[1:], *quick)
    assert result.exit_code == 0, result.output
    if platform.machine() == "x86_64":
        assert json.loads(result.stdout)["verdict"] == "hardened"


@pytest.mark.slow
@TOGETHER
def test_the_fence_of_petersons_lock_is_found(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    build = f"{' '.join(CXX)} {{defines}} {APPLICATIONS / 'peterson.cl'} -o {{folder}}/app"
    arguments = ["--places", "8", "--build", build, "--run", "{folder}/app", "--rate", "0.05", "-o", tmp_path / "out"]
    result = synth("harden", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["verdict"] == "hardened" and 1 in found["needed"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "stress"),
    [*((name, stress) for name in NEEDED for stress in (None, STRESS, PROFILE)), *((name, None) for name in OTHERS)],
)
def test_applications_are_right_with_all_fences(
    name: str, stress: Profile | None, tmp_path: Path, need: Callable[[str], None]
) -> None:
    need("cpp")
    subprocess.run([built(name, tmp_path, ALL, stress), "5"], check=True, timeout=60)


def fails_on_a_weaker_machine(name: str, fences: set[int], folder: Path, runs: int) -> bool:
    """Whether a run in C++ fails where memory is ``weak.h``; one that does not end has failed."""
    program = built(name, folder, frozenset(fences), None, "-DWEAK")
    for _ in range(runs):
        try:
            subprocess.run([program], check=True, timeout=60)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return True
    return False


@pytest.mark.slow
def test_a_list_needs_its_fences_on_a_weaker_machine(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    assert not fails_on_a_weaker_machine("list", {0, 3}, tmp_path, 2)
    assert fails_on_a_weaker_machine("list", {3}, tmp_path, 100)


@pytest.mark.slow
@pytest.mark.parametrize("name", WEAKER)
def test_what_a_weaker_machine_needs(name: str, tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    for needed in WEAKER[name]:
        assert not fails_on_a_weaker_machine(name, needed, tmp_path, 5)
        assert all(fails_on_a_weaker_machine(name, needed - {each}, tmp_path, 200) for each in needed)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NEEDED, *OTHERS])
def test_applications_in_cuda(name: str, tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cuda")
    codes = [f"-gencode=arch=compute_{number},code=sm_{number}" for number in ARCHITECTURES]
    for fences, stress in ((ALL, None), (frozenset[int](), STRESS)):
        told = [*codes, "-Werror=all-warnings", *defines(fences, stress)]
        command = [cuda_tool("nvcc"), "-x", "cu", *told, APPLICATIONS / f"{name}.cl", "-o", tmp_path / "program"]
        subprocess.run(command, check=True)


def inlined(source: Path) -> str:
    """A source and what it includes in quotation marks, in one text."""
    folders = (APPLICATIONS, include())

    def included(match: re.Match[str]) -> str:
        return inlined(next(folder / match[1] for folder in folders if (folder / match[1]).is_file()))

    return re.sub(r'^#include "(\S+)"$', included, source.read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize(
    "name", ["list", *(pytest.param(name, marks=pytest.mark.slow) for name in [*NEEDED, "reduction", "scan"])]
)
def test_applications_are_right_with_all_fences_in_cuda(name: str, tmp_path: Path, need: Callable[[str], None]) -> None:
    """On the runtime of threads that stands in for a GPU."""
    need("cpp")
    macros = ["__CUDACC__", *(each[2:] for each in defines(ALL, PROFILE)[1:])]
    lines = [f"#define {each.replace('=', ' ', 1)}\n" for each in macros]
    source, program = tmp_path / f"{name}.cu", tmp_path / name
    text = inlined(APPLICATIONS / f"{name}.cl")
    source.write_text("".join([*lines, "#include <cuda_runtime.h>\n", text]), encoding="utf-8")
    subprocess.run([sys.executable, FAKE_NVCC, "-o", program, source], check=True)
    subprocess.run([program, "2"], check=True, timeout=60)


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
