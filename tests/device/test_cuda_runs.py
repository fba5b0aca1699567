"""The way of a test to a GPU and back, with a CUDA runtime of threads in the place of a GPU (``tests/fakes/cuda``).

The fake nvcc builds the generated program with g++, host code and all; libcuda lists two GPUs. Not covered, for want of
a GPU: nvcc's own code, which tests of compilers look at, and a GPU's memory, scheduler and errors.
"""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from absent import absent
from caches import forget
from commands import synth

from backends.cpp.backend import CppDevice
from backends.cuda import gpus as nvidia
from backends.cuda import toolkits
from backends.cuda.compiler import NVIDIA
from backends.registry import BACKENDS
from backends.shared import gpus
from backends.shared.device import Prepared, Runner, run_files
from backends.shared.files import write_files
from backends.shared.gpus import GpuDevice
from backends.shared.layout import Parameters, place
from backends.shared.mapping import PLACEMENTS
from backends.shared.outcomes import outcomes
from backends.shared.process import Run, RunError, watch
from backends.shared.profiles import STRESS
from backends.shared.toolchain import which
from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from corpus.progress.axb import Program
from corpus.progress.text import parse_axb
from oracle.executions.values import holds

pytestmark = pytest.mark.device

FAKES = Path(__file__).parents[1] / "fakes" / "cuda"
MEMORY = Path(__file__).parents[2] / "examples" / "memory"
SB = MEMORY / "sb-fence-sc.litmus"

BACKWARD = parse_axb("THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n")
NEVER = parse_axb("THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: if (Mem[0] == 0) goto 0;\n")


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    if which("g++") is None:
        absent("the fake nvcc needs g++")
    library = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    subprocess.run(["g++", "-shared", "-fPIC", "-o", library, FAKES / "libcuda.cpp"], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_LIBRARY_PATH", str(library.parent))
        patch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        patch.delenv("FAKE_CUDA", raising=False)
        (library.parent / "bin").symlink_to(FAKES)
        patch.setenv("CUDA_HOME", str(library.parent))
        patch.setenv("SYNTH_CACHE_DIR", "")  # no real run may find what is built here
        forget(gpus, nvidia, toolkits)
        yield
    forget(gpus, nvidia, toolkits)


def run(program: Program, placement: str = "device") -> str:
    device = GpuDevice(NVIDIA, instances=2)
    shape = device.launch(program, "chunked", placement)
    files = BACKENDS["cuda"].progress_files("t", shape)
    return run_files(device, files, shape, 2, 1.0).outcomes


@pytest.mark.usefixtures("fake")
def test_gpus_are_listed_and_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (first, second), _ = nvidia.gpus()
    assert (first.name, first.chip, first.driver) == ("Fake New", "90", "CUDA 13.0")
    assert (second.name, second.chip) == ("Fake Old", "75")
    assert NVIDIA.environment(second) == {"CUDA_VISIBLE_DEVICES": "1"}
    monkeypatch.setenv("FAKE_CUDA_LOG", str(tmp_path / "log"))
    device = GpuDevice(NVIDIA, "Old")
    assert (device.name, device.driver, device.compiler) == ("Fake Old", "CUDA 13.0", "nvcc 0.0.0")
    log = (tmp_path / "log").read_text()
    assert "sm_75" in log and "sm_90" not in log  # built for the GPU at hand only
    with pytest.raises(InputError, match="no CUDA GPU named 'H100'"):
        GpuDevice(NVIDIA, "H100")
    forget(gpus, nvidia)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, GPU-abc")
    assert [NVIDIA.environment(gpu)["CUDA_VISIBLE_DEVICES"] for gpu in nvidia.gpus()[0]] == ["3", "GPU-abc"]


@pytest.mark.usefixtures("fake")
def test_what_needs_a_newer_gpu_says_so() -> None:
    test = read_litmus(MEMORY / "mp-acq-rel-cta.litmus")
    files = BACKENDS["cuda"].memory_files("t", place(test))
    name = next(iter(files))
    files[name] = f"// Needs sm_90 or later.\n{files[name]}"
    with pytest.raises(RunError, match="it needs sm_90, and this is sm_75"):
        run_files(GpuDevice(NVIDIA, "Old"), files, place(test))


NOT_IN_CUDA = ("cluster-barrier", "tcgen05", "tensor", "wgmma")
ASYNCHRONOUS = [
    file for file in sorted((MEMORY / "ptx-async").glob("*.litmus")) if not file.stem.startswith(NOT_IN_CUDA)
]
FEW_ASYNCHRONOUS = {
    *("bulk-chain", "bulk-load-no-expect", "bulk-push", "cp-async-mbarrier-inc", "one-way-others"),
    "reading-one-async-proxy",
}
MAY_HANG = {"bulk-load-expect-less", "mbarrier-dropped", "mbarrier-other-parity", "mbarrier-two-arrivals-short"}
"""Tests in which a thread may wait for ever: for a phase that never completes, as fewer bytes are expected than come,
or for one of a parity, whose next but one has come when it looks."""


def asynchronous_tests() -> list[object]:
    """The examples that CUDA can say and whose loops always end; only few of them in the quick tests."""
    cannot = {"mbarrier-init-fence", "mbarrier-init-no-fence", "mbarrier-order-remote"} | MAY_HANG
    slow = pytest.mark.slow
    files = [file for file in ASYNCHRONOUS if file.stem not in cannot]
    return [pytest.param(each, id=each.stem, marks=[] if each.stem in FEW_ASYNCHRONOUS else slow) for each in files]


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("file", asynchronous_tests())
def test_asynchronous_operations_complete_before_memory_is_used_again(file: Path) -> None:
    """Each instance ends with its operations, whatever the test waits for, and shows what ``ptx-async`` allows."""
    test = read_litmus(file)
    device = GpuDevice(NVIDIA)
    layout = device.layout(test, 32, STRESS)
    seen = outcomes(run_files(device, BACKENDS["cuda"].memory_files("t", layout), layout, 2, 60))
    assert sum(seen.counts.values()) == 2 * layout.instances and not seen.hung
    with (FAKES.parents[1] / "verdicts" / "ptx_async.csv").open() as table:
        rows = [row for row in csv.DictReader(table) if row["test"] == file.stem and not row["reading"]]
    if [row["verdict"] for row in rows] == ["FORBIDDEN"]:
        for values in seen.counts:
            final = dict(zip(layout.terms, values, strict=True))
            assert not holds(test.condition.proposition, lambda term, of=final: of.get(term, term)), final


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_progress_tests_terminate_or_hang(placement: str) -> None:
    assert run(BACKWARD, placement) == "TT"
    if placement == "device":
        assert run(NEVER, placement) == "H"


@pytest.mark.usefixtures("fake")
def test_what_fails_is_no_hang(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """But for a kernel that a display's watchdog ends, unless it is that of the warm-up."""
    device = GpuDevice(NVIDIA, instances=2)
    progress = device.launch(BACKWARD, "chunked")
    memory = place(read_litmus(SB), Parameters(64))
    for shape, files, shown in (
        (progress, BACKENDS["cuda"].progress_files("p", progress), "H"),
        (memory, BACKENDS["cuda"].memory_files("m", memory), "TH"),
    ):
        write_files(tmp_path, files)
        program = device.prepare(tmp_path / next(iter(files)), shape)
        faults = {"load": "driver version is insufficient", "launch": "launch: invalid configuration"}
        faults["warm-up"] = "the device gave up on it before the first iteration"
        if shape is progress:
            faults["cut"] = "threads were cut short: sum of counters 3, not 4"
        for fault, message in faults.items():
            monkeypatch.setenv("FAKE_CUDA", fault)
            with pytest.raises(RunError, match=message):
                watch(program.command, 2, 5, program.environment)
        monkeypatch.setenv("FAKE_CUDA", "timeout")
        assert watch(program.command, 2, 5, program.environment).outcomes == shown


def test_programs_run_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many are built at a time: from its start to its end a program has the GPU to itself."""
    turn, held = Lock(), list[bool]()

    def watched(*_: object) -> Run:
        held.append(turn.locked())
        return Run("T", (0.1,))

    monkeypatch.setattr("backends.shared.device.watch", watched)
    with Runner(CppDevice()) as runner:
        runner.watch(Prepared(["program"], turn=turn), 1, 1)
    assert held == [True] and not turn.locked()


@pytest.mark.slow
@pytest.mark.usefixtures("fake")
def test_a_suite_and_memory_tests_by_command(progress_suite: Callable[[str, str], Path], tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    words = ("--backend", "cuda", "--mapping", "chunked", "--instances", 2, "--iterations", 2, "--limit", 1)
    done = synth("run", progress_suite("2x2", "--all"), *words, "-o", results, "--placement", "subgroup")
    assert done.exit_code == 0 and done.stdout.startswith("Fake New\n"), done.output
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    ((device, driver, nvcc, placement, outcomes),) = [
        tuple(each[key] for key in ("device", "driver", "compiler", "placement", "outcomes")) for each in lines
    ]
    assert (device, driver, nvcc, placement) == ("Fake New", "CUDA 13.0", "nvcc 0.0.0", "subgroup")
    assert outcomes == "TT"
    done = synth("run", SB, "--backend", "cuda", "--instances", 64, "--iterations", 2, "-o", results, "--json")
    assert done.exit_code == 0, done.output
    (ran,) = json.loads(done.stdout)["tests"]
    assert sum(row["count"] for row in ran["outcomes"]) == 2 * 64


@pytest.mark.usefixtures("fake")
def test_no_gpu_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CUDA", "none")
    forget(gpus, nvidia)
    done = synth("run", MEMORY / "mp-acq-rel-cta.litmus", "--backend", "cuda")
    assert done.exit_code == 2 and "cuInit: no CUDA-capable device is detected" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    (row,) = NVIDIA.probed()
    assert (row.name, row.usable, row.problem) == ("CUDA GPU", False, "cuInit: no CUDA-capable device is detected")
    forget(gpus, nvidia)


@pytest.mark.slow
@pytest.mark.usefixtures("fake")
def test_the_campaign_of_make_gpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It keeps what was seen and a page of it, goes on where it was, and says in a line that there is no GPU."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    gpu = import_module("gpu")
    ways = ("--mapping", "plain")
    parts = [
        replace(part, run=ways, placements=("workgroup",)) if part.run is gpu.PROGRESS else part for part in gpu.PARTS
    ]
    monkeypatch.setattr(gpu, "PROGRESS", ways)
    monkeypatch.setattr(gpu, "PARTS", [part for part in parts if part.name in ("2x2", "classic", "ptx-async")])
    words = ["--limit", "1", "--instances", "4", "--iterations", "2", "--jobs", "2"]
    folders = ["--suites", str(tmp_path / "suites"), "--results", str(tmp_path / "results")]
    for new in (1, 0):
        assert gpu.main([*words, *folders]) == 0
        page = (tmp_path / "results" / "cuda-Fake-New.md").read_text()
        assert page.startswith("# Fake New") and "(CUDA 13.0, nvcc 0.0.0)" in page
        assert "cuda, cuda" not in page
        assert (
            f"| 2x2 workgroup | {new} | {new} | 0 | 0 |" in page
            and f"| classic | {new} | {new} | 0 | {new * 2 * 64} |" in page
            and f"| ptx-async | {new} | {new} | 0 | {new * 2 * 64} |" in page
        )
    lines = (tmp_path / "results" / "cuda-Fake-New.jsonl").read_text().splitlines()
    assert [json.loads(line).get("placement") for line in lines] == ["workgroup", None, None]
    assert "| ptx-async |" in (tmp_path / "results" / "cuda-Fake-New.ptx-async.md").read_text()
    monkeypatch.setattr(gpu, "PARTS", [part for part in gpu.PARTS if part.name in ("2x2", "ptx-async")])
    gpu.main([*words, *folders, "--platform", "Old"])
    assert "ptx-async: left out, for it needs sm_90, and this is sm_75\n" in capsys.readouterr().out
    assert gpu.main(["--platform", "no such", *folders]) == 2


@pytest.mark.parametrize(("trial", "tests"), [(2.0, 300), (62.0, 300), (0.1, 20)])
def test_hanging_tests_cost_their_own_stage(monkeypatch: pytest.MonkeyPatch, trial: float, tests: int) -> None:
    """``make gpu`` for an hour, in which each progress trial takes so long: what memory tests have of it.

    Each stage may take as long as one trial more than its share, for a trial that has begun comes to its end. Where
    trials are short, all stages end long before the hour.
    """
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    gpu = import_module("gpu")
    stages = [stage for part in gpu.PARTS for stage in part.stages]
    assert [stage.name for stage in stages][:5] == ["2x2 device", "2x2 workgroup", "2x2 subgroup", "classic", "ptx"]
    left = {stage.name: tests if stage.way else 5000 for stage in stages}
    clock, limit = 0.0, 3600.0

    def run(stage: Any, seconds: float) -> int:
        nonlocal clock
        until, each = clock + seconds, trial if stage.way else 0.5
        while clock < until and left[stage.name]:
            clock, left[stage.name] = clock + each, left[stage.name] - 1
        return 0

    assert gpu.shared_out(stages, limit, run, lambda: clock) == 0
    memory = {stage.name: stage.seconds for stage in stages if not stage.way}
    assert all(seconds >= (limit - len(stages) * trial) / len(gpu.PARTS) - 1 for seconds in memory.values()), memory
    assert clock <= limit + trial * len(stages)
    if tests == 20:  # what progress tests leave goes to those that were cut short
        assert clock >= limit - len(stages) and sum(memory.values()) > 3400
    assert gpu.shared_out(stages, limit, lambda stage, seconds: 2, lambda: clock) == 2


def test_a_driver_that_crashes_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    forget(gpus, nvidia)
    assert [each.problem for each in NVIDIA.probed()] == ["listing the GPUs failed"]
    forget(gpus, nvidia)
