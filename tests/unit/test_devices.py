"""Which OpenCL device is chosen, how tools are watched, and what ``synth devices`` says, without any device."""

import json
import os
import re
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from commands import synth

from backends.llvm import compiler as llvm
from backends.opencl import backend as opencl
from backends.opencl import platforms
from backends.opencl.backend import COMPILER
from backends.opencl.platforms import POCL, choose
from backends.registry import BACKENDS
from backends.shared.hosted import MESA
from backends.shared.layout import CACHE_LINE, gpu_parameters
from backends.shared.profiles import DEFAULT
from backends.shared.toolchain import Compilation, Probed, problem, run, tried
from corpus.dialects.registry import read_litmus
from corpus.errors import InputError

ROOT = Path(__file__).parents[2]
WHEEL, SYSTEM, INTEL = (("OCL_ICD_VENDORS", "pocl.so"),), (), (("OCL_ICD_VENDORS", "intel.so"),)
OURS = (POCL, "OpenCL 3.0 PoCL 3.0-rc2  Linux, Release", "pthread-X", "3.0-rc2", 2)
DEBIAN = (POCL, "OpenCL 3.0 PoCL 3.1+debian  Linux, Release", "pthread-X", "3.1", 2)
CPU = ("Intel(R) OpenCL", "OpenCL 3.1 LINUX", "Xeon", "2026", 2)
GPU = ("NVIDIA CUDA", "OpenCL 3.0 CUDA 13.0.0", "H100", "580", 4)
ODD = ("Some Accelerator", "OpenCL 1.2", "thing", "1", 8)


@pytest.fixture
def machine(monkeypatch):
    """``machine({variables: rows}, broken)``: what loaders list, and the devices that fail, by a part of their name."""

    def install(listed, *broken):
        probed = []

        def probe(device):
            probed.append(device.name)
            return "error: unknown target CPU 'generic'" if any(each in device.selector for each in broken) else ""

        drivers = [(variables, variables not in (SYSTEM,)) for variables in listed]
        monkeypatch.setattr(platforms, "drivers", lambda: drivers)
        monkeypatch.setattr(platforms, "listed", lambda variables: (tuple(listed[variables]), ""))
        monkeypatch.setattr(platforms, "probe", probe)
        monkeypatch.setattr("backends.opencl.backend.probe", probe)
        return probed

    return install


EVERYTHING = {WHEEL: [OURS], SYSTEM: [GPU, ODD, DEBIAN, OURS], INTEL: [CPU]}


@pytest.mark.parametrize(
    ("broken", "platform"),
    [
        ([], OURS),
        (["3.0-rc2"], DEBIAN),
        ([POCL], CPU),
        ([POCL, "Intel"], GPU),
        ([POCL, "Intel", "NVIDIA"], ODD),
    ],
)
def test_the_first_that_works_is_chosen(machine, broken, platform):
    machine(EVERYTHING, *broken)
    chosen = choose()
    assert (chosen.platform, chosen.platform_version) == platform[:2]


def test_a_device_that_works_is_enough(machine):
    """Nothing else is listed or tried, for that takes seconds."""
    probed = machine({WHEEL: [OURS]})
    choose()
    assert probed == ["pthread-X, OpenCL 3.0 PoCL 3.0-rc2 Linux"]


def test_a_named_platform(machine):
    machine(EVERYTHING, "Intel")
    assert choose("NVIDIA").device == "H100"
    assert choose("PoCL 3.1").driver == "3.1"
    assert choose(POCL).driver == "3.0-rc2"
    with pytest.raises(InputError, match=r"named .Intel. that works: Xeon, OpenCL 3\.1 LINUX: error"):
        choose("Intel")
    with pytest.raises(InputError, match="no OpenCL device on a platform named 'none'"):
        choose("none")


def test_two_pocls_are_told_apart(machine):
    machine({WHEEL: [OURS], SYSTEM: [DEBIAN, OURS]})
    wheel, debian = platforms.platform_devices()
    assert wheel.variables == WHEEL and debian.variables == SYSTEM
    assert wheel.name == "pthread-X, OpenCL 3.0 PoCL 3.0-rc2 Linux"
    assert debian.name == "pthread-X, OpenCL 3.0 PoCL 3.1+debian Linux"
    assert wheel.selector != debian.selector
    assert debian.command(Path("k.cl"))[2:6] == ["--platform", debian.selector, "--device", "0"]


def test_devices_of_one_platform_are_counted(machine):
    machine({SYSTEM: [GPU, GPU, (GPU[0], GPU[1] + ".1", "A", "1", 4), GPU]})
    assert [(each.device, each.number) for each in platforms.platform_devices()] == [
        ("H100", 0),
        ("H100", 1),
        ("A", 0),
        ("H100", 3),  # its platform's text is part of that of the device before it
    ]


def test_lavapipe_is_had_in_one_way():
    """What devices hint at is what the documentation says, and what the tests' own installation does."""
    hosts = [import_module(f"backends.{name}.backend").HOST.install for name in ("glsl", "wgsl")]
    assert all(hint.endswith(f"; {MESA}") for hint in hosts)
    backports = "apt install -t bookworm-backports mesa-vulkan-drivers"
    running = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    assert backports in MESA and f"sudo {backports}" in running and "sudo apt install mesa-vulkan-drivers" in running
    source = "deb http://deb.debian.org/debian bookworm-backports main"
    assert source in running and source in (ROOT / ".ci" / "debian-packages").read_text(encoding="utf-8")


def test_what_the_tests_need_is_looked_for_by_names_that_there_are():
    """Else the packages of Debian that the tests need are installed wherever they run."""
    script = (ROOT / ".ci" / "debian-packages").read_text(encoding="utf-8")
    asked = re.findall(r"^from .* import .*$", script, re.MULTILINE)
    assert len(asked) > 2
    exec("\n".join(asked), {})


def test_the_users_variables_stand(monkeypatch):
    monkeypatch.setenv("OCL_ICD_VENDORS", "somewhere")
    assert platforms.drivers() == [((), False)]


def test_memory_tests_are_launched_as_the_device_is(machine):
    """By its type: a CPU of any platform plays CTAs as PoCL does, and only PoCL is told a number of threads."""
    test = read_litmus(Path(__file__).parents[2] / "examples" / "memory" / "c-sb-sc.litmus")
    machine(EVERYTHING)
    cpu, gpu, pocl = (opencl.OpenClDevice(name) for name in ("Intel", "NVIDIA", None))
    layouts = [each.layout(test, 4096, DEFAULT) for each in (cpu, gpu, pocl)]
    assert layouts[0].parameters == layouts[2].parameters != layouts[1].parameters
    assert layouts[0].parameters.stride == CACHE_LINE and layouts[1].parameters == gpu_parameters(test, 4096)
    prepared = [each.prepare(Path("t.cl"), layout) for each, layout in zip((cpu, gpu, pocl), layouts, strict=True)]
    assert ["POCL_MAX_PTHREAD_COUNT" in each.environment for each in prepared] == [False, False, True]
    assert [each.name for each in (cpu, gpu)] == ["Xeon, OpenCL 3.1 LINUX", "H100, OpenCL 3.0 CUDA 13.0.0"]
    assert opencl.OpenClDevice(workers=3).name == "pthread-X, OpenCL 3.0 PoCL 3.0-rc2 Linux, 3 threads"
    with pytest.raises(InputError, match="--workers"):
        opencl.OpenClDevice("NVIDIA", workers=3)


def test_no_device_is_named_with_its_reason(machine):
    machine({WHEEL: [OURS], SYSTEM: [OURS]}, POCL)
    (lacking,) = COMPILER.missing()
    assert "unknown target CPU 'generic'" in lacking and "synth devices" in lacking and "\n" not in lacking


def test_a_tool_that_hangs_ends_with_all_that_it_started(tmp_path):
    seconds = time.monotonic()
    script = f"sleep 100 & echo $! > {tmp_path}/child; wait"
    done = run(tmp_path, ["sh", "-c", script], timeout=1, title="the tool")
    assert not done.ok and done.output == "the tool took more than 1 seconds"
    assert time.monotonic() - seconds < 30
    child = int((tmp_path / "child").read_text())
    for _ in range(100):  # what is killed is gone, or waits to be buried by whoever inherited it
        try:
            os.kill(child, 0)
            if Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return
        except OSError:
            return
        time.sleep(0.05)
    pytest.fail("the child is alive")


def test_a_tool_that_is_killed_or_absent(tmp_path):
    done = run(tmp_path, ["sh", "-c", "echo half; kill -9 $$"])
    assert not done.ok and done.output == "half\nsh was ended by signal 9"
    with pytest.raises(FileNotFoundError):
        run(tmp_path, [tmp_path / "nothing"])


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("", ""),
        ("warm up\n1 error generated.\n a.cl:1: error:  no  such\nmore\n", "a.cl:1: error: no such"),
        ("one\ntwo\n\n", "two"),
    ],
)
def test_the_line_that_says_most(said, line):
    assert problem(said) == line


def test_a_probe_compiles_and_runs(tmp_path):
    class Compiler:
        def compile(self, file, binary=None, timeout=0):
            assert "Mem[0] = 1;" in file.read_text()
            binary.write_text(f"#!/bin/sh\n{self.script}\n")
            binary.chmod(0o700)
            return Compilation(file, self.ok, "x.cpp:1: error: no")

    compiler, renderer = Compiler(), BACKENDS["cpp"].progress
    for ok, script, runs, expected in [
        (True, "exit 0", True, ""),
        (True, "echo cannot start; exit 3", True, "cannot start"),
        (True, "exit 3", True, "it ended with an error"),
        (True, "exit 3", False, ""),
        (False, "", True, "x.cpp:1: error: no"),
    ]:
        compiler.ok, compiler.script = ok, script
        assert tried(compiler, renderer, ".cpp", runs) == expected


@pytest.fixture
def two_backends(monkeypatch):
    """``synth devices`` of a machine with a compiler that works and a device that does not."""

    class Compiler:
        def __init__(self, *found):
            self.found = found

        def probe(self):
            return list(self.found)

    works = Probed("g++", "12.2", "compile and run", "", "apt install g++")
    fails = Probed(
        "PoCL", "3.0", "compile and run", "error: unknown target CPU 'generic'", "apt install pocl-opencl-icd"
    )
    for name in list(BACKENDS):
        found = {"cpp": [works], "opencl": [fails]}.get(name, [])
        monkeypatch.setitem(BACKENDS, name, replace(BACKENDS[name], compiler=Compiler(*found)))
    clang = Probed("clang", "", "read programs in C and C++ (check)", "not installed", "pip install ziglang")
    monkeypatch.setattr("backends.llvm.compiler.probed", lambda: clang)


def test_devices_as_a_table(two_backends):
    done = synth("devices")
    assert done.exit_code == 0
    assert "PoCL: error: unknown target CPU 'generic'; to install: apt install pocl-opencl-icd" in done.stdout
    rows = [line.split()[:4] for line in done.stdout.splitlines()]
    assert ["yes", "cpp", "g++", "12.2"] in rows and ["no", "opencl", "PoCL", "3.0"] in rows
    assert ["no", "llvm", "clang", "-"] in rows


def test_devices_as_json(two_backends):
    done = synth("devices", "--json")
    assert done.exit_code == 0
    fails, works, clang = json.loads(done.stdout)
    assert works == {
        "backend": "cpp",
        "name": "g++",
        "version": "12.2",
        "purpose": "compile and run",
        "problem": "",
        "install": "apt install g++",
        "usable": True,
    }
    assert fails["usable"] is False and fails["backend"] == "opencl"
    assert clang["usable"] is False and clang["backend"] == "llvm"


@pytest.mark.usefixtures("bare_machine")
def test_clang_is_tried_as_programs_are_read(monkeypatch):
    assert llvm.probed().usable
    monkeypatch.setattr(llvm, "find_spec", lambda name: None)
    found = llvm.probed()
    assert not found.usable and found.install == llvm.INSTALL


@pytest.mark.usefixtures("bare_machine")
def test_every_back_end_answers_for_its_compiler():
    """Also on a machine that has nothing: no traceback, and what to install."""
    for backend in BACKENDS.values():
        assert backend.compiler.missing()
        found = backend.compiler.probe()
        assert found and not any(each.usable for each in found)
        assert all(each.install for each in found)
