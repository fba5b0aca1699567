"""Every generated file is compiled by a real compiler. Skipped where there is none; never on CI."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.cuda.compiler import cuda_tool
from backends.opencl.platforms import choose
from backends.registry import BACKENDS
from backends.shared.backend import Backend
from backends.shared.files import write_files
from backends.shared.mapping import MAPPINGS, PLACEMENTS
from corpus.progress.axb import Program
from corpus.progress.text import parse_axb

pytestmark = pytest.mark.device

FILED = [name for name, each in BACKENDS.items() if each.bundle is None]  # the web page has the shaders of WGSL
SPIN = parse_axb("THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n")
THREE = parse_axb(
    "THREAD 0\n0: Mem[0] = 1;\n1: if (Mem[1] == 7) goto END;\n"
    "THREAD 1\n0: if (Mem[0] == 0) goto 0;\n1: Mem[1] = 3;\n"
    "THREAD 2\n0: if (Exch(Mem[1],2) == 3) goto END;\n1: if (Mem[0] == 0) goto 1;\n"
)


def compile_test(
    name: str, program: Program, backend: Backend, mapping: str = "plain", placement: str = "device"
) -> dict[str, str]:
    return backend.progress_files(name, backend.launch(program, mapping, None, placement))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("backend", FILED)
def test_compiles(backend: str, mapping: str, need: Callable[[str], None], tmp_path: Path) -> None:
    need(backend)
    for name, program in (("spin", SPIN), ("three", THREE)):
        files = compile_test(name, program, BACKENDS[backend], mapping)
        write_files(tmp_path, files)
        compilation = BACKENDS[backend].compiler.compile(tmp_path / next(iter(files)))
        assert compilation.ok, compilation.output


@pytest.mark.one_in(3)
@pytest.mark.parametrize("placement", [name for name in PLACEMENTS if name != "device"])
@pytest.mark.parametrize("backend", [name for name in FILED if BACKENDS[name].progress.item])
def test_compiles_within_groups(backend: str, placement: str, need: Callable[[str], None], tmp_path: Path) -> None:
    need(backend)
    files = compile_test("three", THREE, BACKENDS[backend], "chunked", placement)
    write_files(tmp_path, files)
    compilation = BACKENDS[backend].compiler.compile(tmp_path / next(iter(files)))
    assert compilation.ok, compilation.output


@pytest.mark.parametrize("backend", FILED)
def test_the_compiler_is_asked(backend: str, need: Callable[[str], None], tmp_path: Path) -> None:
    need(backend)
    name, text = next(iter(compile_test("spin", SPIN, BACKENDS[backend]).items()))
    (tmp_path / name).write_text(text.replace("pc = 1u;", "pc = nonsense;"))
    compilation = BACKENDS[backend].compiler.compile(tmp_path / name)
    assert not compilation.ok
    assert "nonsense" in compilation.output


@pytest.mark.usefixtures("bare_machine")
@pytest.mark.parametrize("backend", FILED)
def test_missing_compilers_are_named(backend: str) -> None:
    assert BACKENDS[backend].compiler.missing()


BUILD_AS_OPENCL_1_2 = """
import sys
import pyopencl as cl
selector, text = sys.argv[1:]
platform = next(each for each in cl.get_platforms() if f"{each.name}, {each.version}" == selector)
cl.Program(cl.Context(platform.get_devices()[:1]), text).build(["-cl-std=CL1.2"])
"""


def test_old_opencl_has_a_fallback(need: Callable[[str], None]) -> None:
    need("opencl")
    device = choose()
    text = next(iter(compile_test("three", THREE, BACKENDS["opencl"]).values()))
    command = [sys.executable, "-c", BUILD_AS_OPENCL_1_2, device.selector, text]
    done = subprocess.run(command, env={**os.environ, **device.environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_spins_stay_atomic_loops_on_a_gpu(need: Callable[[str], None], tmp_path: Path) -> None:
    """In the machine code of each architecture: an atomic, and a branch backwards over it."""
    need("cuda")
    for lines in machine_lines(compile_test("spin", SPIN, BACKENDS["cuda"]), tmp_path):
        atomics = [place for place, code in lines if re.search(r"ATOM.*(ADD|EXCH)", code)]
        assert any(start <= atomic < end for start, end in loops(lines) for atomic in atomics)


def test_lanes_of_a_warp_stay_threads_on_a_gpu(need: Callable[[str], None], tmp_path: Path) -> None:
    """Each instruction has an atomic of its own, which no lane makes for another, as ptxas has it with the counters of
    threads that have ended (REDUX, SHFL). Lanes wait for each other (BSSY to BSYNC) within one round of a loop, and
    never for one that may spin.
    """
    need("cuda")
    for lines in machine_lines(compile_test("three", THREE, BACKENDS["cuda"], "chunked", "subgroup"), tmp_path):
        rounds = loops(lines)
        inside = [(place, code) for place, code in lines if any(start <= place < end for start, end in rounds)]
        atomics = [code for _, code in inside if "ATOM" in code]
        assert len(atomics) == sum(map(len, THREE.threads)) and not any(code.startswith("@") for code in atomics)
        assert not any(re.search(r"REDUX|SHFL|MATCH|WARPSYNC|\bBAR\b", code) for _, code in inside)
        meetings = [(place, int(code.rpartition("0x")[2], 16)) for place, code in inside if "BSSY" in code]
        assert not any(begin <= end < meet for begin, meet in meetings for _, end in rounds)


def machine_lines(files: dict[str, str], folder: Path) -> list[list[tuple[int, str]]]:
    """The machine code of the kernel of a program, for each architecture: addresses and instructions."""
    cuobjdump = cuda_tool("cuobjdump")
    assert cuobjdump is not None
    write_files(folder, files)
    assert BACKENDS["cuda"].compiler.compile(folder / next(iter(files)), folder / "program").ok
    command = [cuobjdump, "-sass", folder / "program"]
    sass = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kernels = sass.split("Function : test")[1:]
    assert len(kernels) == 2
    return [
        [(int(place, 16), code) for place, code in re.findall(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", kernel)]
        for kernel in kernels
    ]


def loops(lines: list[tuple[int, str]]) -> list[tuple[int, int]]:
    """From where to where each branch backwards goes, but that of the last line, which is never reached."""
    return [
        (int(target[1], 16), place)
        for place, code in lines
        if (target := re.search(r"BRA\S* .*?0x([0-9a-f]+)$", code)) and int(target[1], 16) < place
    ]
