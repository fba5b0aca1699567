"""What HIP says of tests, and the GPUs that it finds, without a compiler or a device."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.hip import gpus
from backends.hip.compiler import OTHER_MODES, TARGETS
from backends.hip.memory import WAVE, hip_parameters
from backends.hip.words import said_in_hip
from backends.registry import BACKENDS
from backends.shared.layout import place
from backends.shared.profiles import DEFAULT
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Barrier, Fence
from corpus.litmus.locations import Region

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"


def text_of(name: str) -> str:
    return next(iter(BACKENDS["hip"].memory_files("t", place(read_litmus(EXAMPLES / f"{name}.litmus"))).values()))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("amdgpu/mp-agent", "__hip_atomic_store(&memory[at1], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);"),
        (
            "amdgpu/lds-flag",
            "__hip_atomic_store(&local_memory[at1], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);",
        ),
        ("amdgpu/mp-wavefront", "__HIP_MEMORY_SCOPE_WAVEFRONT"),
        ("amdgpu/mp-cluster", "__HIP_MEMORY_SCOPE_AGENT"),
        ("amdgpu/barrier-alone", 'MARK("begin P0:1 P1:0"); __builtin_amdgcn_s_barrier(); MARK("end P0:1 P1:0");'),
        ("amdgpu/barrier-other-space", '__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");'),
        (
            "cl-barrier-local",
            '__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local"); __builtin_amdgcn_s_barrier(); '
            '__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");',
        ),
        ("sb-fence-sc", '__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");'),
        ("c-sb-sc", "__hip_atomic_load(&memory[at1], __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);"),
        ("c-atomicity", "__hip_atomic_fetch_add(&memory[at0], hidden(1u), "),
    ],
)
def test_an_instruction_is_said(name: str, said: str) -> None:
    assert said in text_of(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mp-volatile", "HIP has volatile accesses, but they do not order threads as PTX's do"),
        ("coRR-L2-L1", "HIP has no cache operators"),
        ("mp-bar-arrive", "HIP has only barriers where all threads of a work-group wait for all"),
        ("amdgpu/mp-none-av-vis", "HIP has no plain accesses that are made available or visible"),
        ("amdgpu/mp-release-none", "HIP has no order without semav"),
        ("amdgpu/mp-acquire-none", "HIP has no order without semvis"),
        ("amdgpu/lds-flag-one-as", "HIP has no order of an access that speaks for one memory alone"),
        ("amdgpu/mp-cluster-apart", "P0 and P1 are on different queues"),
        ("ptx-async/bulk-push", "HIP has no asynchronous operations"),
    ],
)
def test_what_hip_has_no_words_for_is_named(name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        text_of(name)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("st.sc0 x, 1", "HIP has no private accesses"),
        ("st.nonpriv.sc2 x, 1", "HIP has global memory"),
        ("membar.acq.dv.semsc2.semvis", "HIP has no order that speaks for neither"),
        ("cbar.acq.wg.semsc0.semvis 0", "HIP has barriers that acquire and release"),
        ("cbar.acq_rel.dv.semsc0.semav.semvis 0", "HIP has barriers that acquire and release for the work-group"),
    ],
)
def test_what_of_vulkan_is_not_llvms_is_named(code: str, reason: str) -> None:
    text = f"VULKAN t\n{{ x=0; y=0; }}\n P0@sg 0,wg 0,qf 0 ;\n {code} ;\n st.nonpriv.sc0 y, 1 ;\nexists (x == 1)\n"
    with pytest.raises(InputError, match=reason):
        said_in_hip(parse_litmus(text))


def test_a_test_of_vulkan_keeps_its_instructions() -> None:
    """Locations are in the memory of their class, and a fence of one class is one of one memory where there are two."""
    test = read_litmus(EXAMPLES / "amdgpu" / "lds-flag.litmus")
    said = said_in_hip(test)
    assert [each.region for each in said.locations] == [Region.GLOBAL, Region.SHARED]
    assert list(map(len, (each.instructions for each in said.threads))) == [2, 2]
    other = said_in_hip(read_litmus(EXAMPLES / "amdgpu" / "barrier-other-space.litmus"))
    tags = {ins.mode.tags for each in other.threads for ins in each.instructions if isinstance(ins, Fence | Barrier)}
    assert tags == {("local-fence",), ("bare",)}


def test_a_fence_of_one_memory_needs_clang_19() -> None:
    assert text_of("cl-barrier-local").startswith("// t. Usage") and "// Needs clang 19 or later.\n" in text_of(
        "cl-barrier-local"
    )
    assert "Needs" not in text_of("mp-acq-rel")


def test_threads_of_two_warps_are_in_two_wavefronts() -> None:
    test = read_litmus(EXAMPLES / "amdgpu" / "mp-workgroup.litmus")
    shape = place(test, hip_parameters(test, 32, DEFAULT))
    assert shape.warps == 2 and shape.parameters.slots == WAVE and shape.group_size == 2 * WAVE


def test_machines_of_targets() -> None:
    assert [each.machine for each in TARGETS] == ["gfx90a", "gfx942", "gfx10-wgp", "gfx10-wgp", "gfx12-wgp"]
    modes = ["gfx90a-tgsplit", "gfx942-tgsplit", "gfx10-cu", "gfx10-cu", "gfx12-cu"]
    assert [each.machine for each in OTHER_MODES] == modes


def test_gpus_are_those_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, version in enumerate((0, 90010, 110000, 90402, 120001)):  # the first is a CPU
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "properties").write_text(f"cpu_cores_count 0\ngfx_target_version {version}\nx 1\n")
    monkeypatch.delenv(gpus.VISIBLE, raising=False)
    found, _ = gpus.gpus(tmp_path)
    assert [gpu.chip for gpu in found] == ["gfx90a", "gfx1100", "gfx942", "gfx1201"]
    assert gpus.AMD.environment(found[2]) == {"HIP_VISIBLE_DEVICES": "2"}
    monkeypatch.setenv(gpus.VISIBLE, "3,0,9,GPU-x")
    assert [(gpu.chip, gpus.AMD.environment(gpu)) for gpu in gpus.gpus(tmp_path)[0]] == [
        ("gfx1201", {"HIP_VISIBLE_DEVICES": "3"}),
        ("gfx90a", {"HIP_VISIBLE_DEVICES": "0"}),
    ]
    assert gpus.gpus(tmp_path / "none") == ([], "")


def test_a_machine_without_a_gpu_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gpus.gpus, "__defaults__", (tmp_path,))
    with pytest.raises(InputError, match="no GPU of AMD named 'MI300'"):
        gpus.AMD.choose("MI300")
    (found,) = gpus.AMD.probed()
    assert not found.usable and found.problem == "the driver of the kernel has none"
