"""Tests for gpuweb/cts: TypeScript takes their files, and their shaders do on a device what the tests say.

``tests/webgpu_cts`` declares what the suite exports. ``shader`` puts a test's code where the suite's helper puts it,
among the names that it may use, in our own words, without stress or shuffled workgroups. WGSL has a workgroup's memory
start at 0; wgpu-native leaves there what was there, so ``shader`` clears it.
"""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from absent import absent
from commands import synth

from backends.wgsl.conformance import ConformanceTest, conformance_test
from corpus.dialects.registry import parse_litmus

pytestmark = pytest.mark.device

TESTS = Path(__file__).parents[1]
SUITE = TESTS / "verdicts" / "webgpu_suite.jsonl"
MEMORY_MODEL = Path("webgpu", "shader", "execution", "memory_model")
OPTIONS = ["--noEmit", "--strict", "--target", "es2020", "--module", "es2020", "--moduleResolution", "node"]
OPTIONS += ["--lib", "es2020", "--skipLibCheck"]
GROUPS, SIZE, STRIDE = 8, 256, 4


def suite() -> dict[str, str]:
    """The texts of the tests of ``webgpu`` of two to four events, by name."""
    records = [json.loads(line) for line in SUITE.read_text(encoding="utf-8").splitlines()]
    return {record["name"]: record["text"] for record in records}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """The suite where it belongs among the declarations."""
    files = tmp_path / "files"
    files.mkdir()
    for name, text in suite().items():
        (files / f"{name}.litmus").write_text(text, encoding="utf-8")
    tree = tmp_path / "src"
    shutil.copytree(TESTS / "webgpu_cts", tree)
    folder = tree / MEMORY_MODEL / "synth"
    words = ["export", str(files), "--to", "webgpu-cts", "-o", str(folder)]
    assert synth(*words).exit_code == 0
    return folder


def test_typescript_takes_the_files_and_no_others(exported: Path) -> None:
    tsc = shutil.which("tsc")
    if tsc is None:
        absent("TypeScript is not installed (Debian: node-typescript)")

    def complaints() -> str:
        files = sorted(map(str, exported.glob("*.spec.ts")))
        assert len(files) == 3
        return subprocess.run([tsc, *OPTIONS, *files], capture_output=True, text=True, check=False).stdout

    assert complaints() == ""
    wrong = {
        "barrier": ("IntraWorkgroup", "Intra"),
        "coherence": ("_aliased: true", "_aliased: 'x'"),
        "atomicity": ("run", "ran"),
    }
    for name, (old, new) in wrong.items():
        file = exported / f"{name}.spec.ts"
        file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    told = complaints()
    assert all(f"{name}.spec.ts" in told for name in wrong)


def shader(test: ConformanceTest, permute_second: int) -> tuple[str, str]:
    """The test shader and the result shader of a test."""
    atomic, local = "NonAtomic" not in test.memory_type, "Workgroup" in test.memory_type
    word, across = "atomic<u32>" if atomic else "u32", test.test_type == "InterWorkgroup"
    start = "" if across or local else "shuffled_workgroup * workgroupXSize + "
    away = "stripe_workgroup(shuffled_workgroup, local_invocation_id[0]) * workgroupXSize + "
    head = f"""
    struct Stress {{ permute_first: u32, permute_second: u32, testing_workgroups: u32, mem_stride: u32,
        location_offset: u32 }};
    struct Result {{ r0: atomic<u32>, r1: atomic<u32> }};
    struct Results {{ value: array<Result> }};
    struct Counts {{ seq: atomic<u32>, weak: atomic<u32> }};
    const workgroupXSize = {SIZE}u;
    const stress_params = Stress(101u, {permute_second}u, {GROUPS}u, {STRIDE}u, {0 if test.aliased else STRIDE}u);
    const total_ids = workgroupXSize{" * stress_params.testing_workgroups" if across else ""};
    fn permute_id(id: u32, factor: u32, mask: u32) -> u32 {{ return (id * factor) % mask; }}
    fn stripe_workgroup(group: u32, lane: u32) -> u32 {{
        return (group + 1u + lane % (stress_params.testing_workgroups - 1u)) % stress_params.testing_workgroups;
    }}
    """
    entry = """
    @compute @workgroup_size(workgroupXSize)
    fn main(@builtin(local_invocation_id) local_invocation_id: vec3<u32>, @builtin(workgroup_id) at: vec3<u32>) {
        let shuffled_workgroup = at[0];
    """
    places = "".join(
        f"""
        let x_{k} = ({start}id_{k}) * stress_params.mem_stride * 2u;
        let y_{k} = ({start}permute_id(id_{k}, stress_params.permute_second, total_ids)) * stress_params.mem_stride * 2u
            + stress_params.location_offset;"""
        for k in range(2)
    )
    first = f"{'shuffled_workgroup * workgroupXSize + ' if across else ''}local_invocation_id[0]"
    second = f"{away if across else ''}permute_id(local_invocation_id[0], stress_params.permute_first, workgroupXSize)"
    memory = f"""
    struct Memory {{ value: array<{word}> }};
    @group(0) @binding(0) var<storage, read_write> test_locations: Memory;
    @group(0) @binding(1) var<storage, read_write> results: Results;
    {f"var<workgroup> wg_test_locations: array<{word}, 3584>;" if local else ""}"""
    clear = "atomicStore(&wg_test_locations[at], 0u)" if atomic else "wg_test_locations[at] = 0u"
    cleared = f"""
        for (var at = local_invocation_id[0]; at < 3584u; at += workgroupXSize) {{ {clear}; }}
        workgroupBarrier();"""
    body = f"{cleared if local else ''} let id_0 = {first}; let id_1 = {second}; {places}\n{test.test_code}\n}}"
    results = """
    struct Memory { value: array<u32> };
    @group(0) @binding(0) var<storage, read_write> test_locations: Memory;
    @group(0) @binding(1) var<storage, read_write> read_results: Results;
    @group(0) @binding(2) var<storage, read_write> test_results: Counts;"""
    start = "" if across else "shuffled_workgroup * workgroupXSize + "
    lane = f"permute_id({'id_0' if across else 'local_invocation_id[0]'}, stress_params.permute_second, total_ids)"
    final = f"""
        let id_0 = shuffled_workgroup * workgroupXSize + local_invocation_id[0];
        let r0 = atomicLoad(&read_results.value[id_0].r0);
        let r1 = atomicLoad(&read_results.value[id_0].r1);
        let mem_x_0 = test_locations.value[id_0 * stress_params.mem_stride * 2u];
        let mem_y_0 = test_locations.value[
            ({start}{lane}) * stress_params.mem_stride * 2u + stress_params.location_offset];
        {test.result_code}
    }}"""
    return head + memory + entry + body, head + results + entry + final


class Device:
    """Runs the two shaders of a test, once."""

    def __init__(self) -> None:
        import wgpu

        self.wgpu = wgpu
        self.device = wgpu.gpu.request_adapter_sync().request_device_sync()

    def weak(self, test: ConformanceTest) -> int:
        """How many instances were weak; all of them were counted."""
        usage = self.wgpu.BufferUsage
        sizes = (GROUPS * SIZE * 2 * STRIDE, GROUPS * SIZE * 2, 2)
        buffers = [
            self.device.create_buffer(size=4 * size, usage=usage.STORAGE | usage.COPY_SRC | usage.COPY_DST)
            for size in sizes
        ]
        commands = self.device.create_command_encoder()
        for code, count in zip(shader(test, 1 if test.aliased else 433), (2, 3), strict=True):
            self.dispatch(commands, code, buffers[:count])
        self.device.queue.submit([commands.finish()])
        seq, weak = struct.unpack("<2I", self.device.queue.read_buffer(buffers[2]))
        assert seq + weak == GROUPS * SIZE
        return int(weak)

    def dispatch(self, commands: Any, code: str, buffers: list[Any]) -> None:
        """One pass of all workgroups."""
        stage = self.wgpu.ShaderStage.COMPUTE
        layout = self.device.create_bind_group_layout(
            entries=[
                {"binding": number, "visibility": stage, "buffer": {"type": "storage"}}
                for number in range(len(buffers))
            ]
        )
        group = self.device.create_bind_group(
            layout=layout,
            entries=[
                {"binding": number, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
                for number, buffer in enumerate(buffers)
            ],
        )
        pipeline = self.device.create_compute_pipeline(
            layout=self.device.create_pipeline_layout(bind_group_layouts=[layout]),
            compute={"module": self.device.create_shader_module(code=code), "entry_point": "main"},
        )
        run = commands.begin_compute_pass()
        run.set_pipeline(pipeline)
        run.set_bind_group(0, group)
        run.dispatch_workgroups(GROUPS)
        run.end()


@pytest.fixture(scope="module")
def devices() -> list[Device]:
    """The device of these tests, once one of them has made it."""
    return []


@pytest.fixture
def device(need: Callable[..., None], devices: list[Device]) -> Device:
    need("wgsl")
    if not devices:
        devices.append(Device())
    return devices[0]


def test_no_outcome_of_the_suite_is_seen(device: Device) -> None:
    for name, text in suite().items():
        assert device.weak(conformance_test(parse_litmus(text), name)) == 0, name


def adding(groups: tuple[int, ...], memory: str = "global") -> str:
    """Each thread adds 1 to x and all but the first 1 to y: an outcome that every instance has."""
    threads = [
        f"P{number}@wg {group}, dev 0 ({memory} atomic_int* x, {memory} atomic_int* y) {{"
        + "".join(
            f" atomic_fetch_add_explicit({name}, 1, memory_order_relaxed, memory_scope_device);"
            for name in ("x" if number == 0 else "xy")
        )
        + " }"
        for number, group in enumerate(groups)
    ]
    outcome = f"exists (x = {len(groups)} /\\ y = {len(groups) - 1})\n"
    return "\n\n".join(["OPENCL t\n{ x = 0; y = 0; }", *threads, outcome])


@pytest.mark.parametrize(
    "groups", [(0, 0), (0, 1), (0, 0, 0), (0, 1, 2), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2, 1)]
)
def test_each_thread_of_each_instance_is_played_once(device: Device, groups: tuple[int, ...]) -> None:
    assert device.weak(conformance_test(parse_litmus(adding(groups)), "t")) == GROUPS * SIZE


@pytest.mark.parametrize("groups", [(0, 0), (0, 0, 0)])
def test_so_it_is_in_the_memory_of_the_workgroup(device: Device, groups: tuple[int, ...]) -> None:
    assert device.weak(conformance_test(parse_litmus(adding(groups, "local")), "t")) == GROUPS * SIZE


def test_many_registers_and_a_barrier_come_back(device: Device) -> None:
    given, meet = "(local int* x, global int* y)", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
    text = (
        "OPENCL t\n{ x = 0; y = 0; }\n\n"
        f"P0@wg 0, dev 0 {given} {{ *x = 250; int r0 = *x; *y = 7; {meet} }}\n\n"
        f"P1@wg 0, dev 0 {given} {{ {meet} int r0 = *x; int r1 = *y; }}\n\n"
        "exists (0:r0 = 250 /\\ 1:r0 = 250 /\\ 1:r1 = 7 /\\ x = 250)\n"
    )
    assert device.weak(conformance_test(parse_litmus(text), "t")) == GROUPS * SIZE
