"""Tests of Vulkan by Vulkan itself: what the model forbids is not seen, and what hangs is killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import synth
from launching import EVERYTHING, launched

from backends.registry import BACKENDS
from backends.shared.device import DeviceOptions, run_files
from backends.shared.process import RunError
from backends.shared.profiles import DEFAULT, Profile
from corpus.dialects.registry import parse_litmus, read_litmus

pytestmark = pytest.mark.device

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
FEW = ("mp-semav-semvis", "mp-control-barrier", "mp-fences", "iriw")


@pytest.mark.parametrize("name", [*FEW, pytest.param("*", marks=pytest.mark.slow)])
def test_nothing_is_seen_that_the_model_forbids(name: str, need: Callable[..., None]) -> None:
    need("glsl", runs=True)
    options = ["--backend", "glsl", "--iterations", "2", "--instances", "4096", "--sound", "vulkan", "--json"]
    done = synth("run", *(EXAMPLES / "vulkan").glob(f"{name}.litmus"), *options)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("profile", [DEFAULT, EVERYTHING], ids=lambda profile: profile.name)
def test_a_barrier_and_shared_memory(profile: Profile, need: Callable[..., None]) -> None:
    need("glsl", runs=True)
    seen = launched("glsl", read_litmus(EXAMPLES / "mp-bar-sync.litmus"), 1 << 12, 3, profile=profile)
    assert (seen.launches, sum(seen.counts.values())) == (3, 3 << 12)


def test_a_test_that_hangs_is_killed(need: Callable[..., None]) -> None:
    need("glsl", runs=True)
    test = parse_litmus(
        "VULKAN t\n{ x=0; }\n P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 ;\n"
        " LC00: | ld.atom.dv.sc0 r0, x ;\n ld.atom.dv.sc0 r0, x | ;\n bne r0, 1, LC00 | ;\nexists (P0:r0 == 0)\n"
    )
    seen = launched("glsl", test, 64, 3, 1)
    assert seen.hung and seen.launches == 0 and not seen.counts


def test_a_script_that_glslang_refuses_is_no_hang(tmp_path: Path, need: Callable[..., None]) -> None:
    need("glsl", runs=True)
    device = BACKENDS["glsl"].device(DeviceOptions())
    layout = device.layout(read_litmus(EXAMPLES / "mp-bar-sync.litmus"), 64, DEFAULT)
    files = BACKENDS["glsl"].memory_files("t", layout)
    files = {name: text.replace("uint index", "uint nonsense") for name, text in files.items()}
    with pytest.raises(RunError, match="glslang"):
        run_files(device, files, layout, 1, 60)
