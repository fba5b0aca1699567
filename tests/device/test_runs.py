"""Real runs: a test that terminates, and one that hangs and is killed, on OpenCL, Vulkan, WebGPU and the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.cpp.backend import CppDevice
from backends.opencl.backend import OpenClDevice
from backends.opencl.platforms import POCL
from backends.registry import BACKENDS
from backends.shared.device import Device, DeviceOptions, run_files
from backends.shared.process import Run
from corpus.progress.axb import Program
from corpus.progress.text import parse_axb

pytestmark = pytest.mark.device

RUNNING = [name for name, backend in BACKENDS.items() if backend.device is not None]

FORWARD = parse_axb("THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: if (Mem[0] == 0) goto 0;\n")
BACKWARD = parse_axb("THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n")
NEVER = parse_axb("THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: if (Mem[0] == 0) goto 0;\n")
THREE = parse_axb(
    "THREAD 0\n0: Mem[0] = 5;\n"
    "THREAD 1\n0: if (Mem[0] == 0) goto 0;\n1: if (Exch(Mem[0],2) == 5) goto END;\n2: Mem[0] = 9;\n"
    "THREAD 2\n0: if (Mem[1] == 0) goto END;\n"
)


def run_test(backend: str, on: Device, program: Program, mapping: str, iterations: int, timeout: float) -> Run:
    shape = on.launch(program, mapping)
    return run_files(on, BACKENDS[backend].progress_files("t", shape), shape, iterations, timeout)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("backend", RUNNING)
@pytest.mark.parametrize("mapping", ["plain", "round-robin", "chunked"])
def test_terminates(backend: str, mapping: str, need: Callable[[str], None]) -> None:
    need(backend, runs=True)
    for program in (FORWARD, THREE):
        device = BACKENDS[backend].device(DeviceOptions(instances=8))
        assert run_test(backend, device, program, mapping, 5, 60).outcomes == "T" * 5


@pytest.mark.parametrize("backend", [name for name in RUNNING if BACKENDS[name].progress.item])
@pytest.mark.parametrize("placement", ["workgroup", "subgroup"])
def test_terminates_within_a_group(backend: str, placement: str, need: Callable[[str], None]) -> None:
    """Every thread waits for earlier ones only, which even lanes in lock step and work-items in turn allow."""
    need(backend, runs=True)
    device = BACKENDS[backend].device(DeviceOptions(instances=5))
    shape = device.launch(THREE, "chunked", placement)
    assert run_files(device, BACKENDS[backend].progress_files("t", shape), shape, 3, 60).outcomes == "TTT"


@pytest.mark.parametrize("backend", RUNNING)
def test_hangs_and_is_killed(backend: str, need: Callable[[str], None]) -> None:
    need(backend, runs=True)
    device = BACKENDS[backend].device(DeviceOptions(instances=4))
    assert run_test(backend, device, NEVER, "round-robin", 3, 0.5).outcomes == "H"


def test_pocl_is_unfair(need: Callable[..., None]) -> None:
    """Both threads of an instance are in one chunk of work-groups, and the first waits for the second."""
    need("opencl", POCL)
    pocl = OpenClDevice(POCL, instances=16, workers=2)
    assert run_test("opencl", pocl, BACKWARD, "round-robin", 3, 2).outcomes == "H"
    assert run_test("opencl", pocl, FORWARD, "round-robin", 3, 60).outcomes == "TTT"


def test_threads_of_the_cpu_are_fair(need: Callable[[str], None]) -> None:
    need("cpp")
    for subscribe in ("full", "over"):
        assert run_test("cpp", CppDevice(subscribe), BACKWARD, "chunked", 2, 120).outcomes == "TT"
