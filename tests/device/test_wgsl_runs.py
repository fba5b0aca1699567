"""Memory tests on WebGPU: what the model forbids is not seen, what it allows beyond SC is, and values are right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import synth
from launching import EVERYTHING, launched

from backends.shared.profiles import DEFAULT, STRESS, Profile
from corpus.dialects.registry import parse_litmus, read_litmus

pytestmark = pytest.mark.device

WEBGPU = Path(__file__).parents[2] / "examples" / "memory" / "webgpu"

FEW = ("both-barriers", "mp-barrier", "storage-barrier", "workgroup-barrier")


@pytest.mark.parametrize("name", [*FEW, pytest.param("*", marks=pytest.mark.slow)])
def test_nothing_is_seen_that_the_model_forbids(name: str, need: Callable[[str], None]) -> None:
    need("wgsl")
    options = ["--backend", "wgsl", "--iterations", "2", "--instances", "4096", "--sound", "webgpu", "--json"]
    done = synth("run", *WEBGPU.glob(f"{name}.litmus"), *options)
    assert done.exit_code == 0, done.output


def test_store_buffering_is_seen(need: Callable[[str], None]) -> None:
    need("wgsl")
    test = read_litmus(WEBGPU / "sb.litmus")
    assert any((0, 0) in launched("wgsl", test, 1 << 16, 20).counts for _ in range(40))


@pytest.mark.parametrize("profile", [DEFAULT, STRESS, EVERYTHING], ids=lambda profile: profile.name)
def test_values_are_right_whatever_the_order(profile: Profile, need: Callable[[str], None]) -> None:
    need("wgsl")
    first = (
        "int r0 = atomic_fetch_add_explicit(x, 3, memory_order_relaxed); int r1 = 7; "
        "atomic_compare_exchange_strong_explicit(y, &r1, 9, memory_order_relaxed, memory_order_relaxed); "
        "int r2 = r1 & 0x80000000; int r3 = *(z + r2); int r4 = -7; r4 = r4 / 2; int r5; "
        "if (r4 < 0) { r5 = 11; } else { r5 = 12; } *l = 3; barrier(CLK_LOCAL_MEM_FENCE); int r6 = *l;"
    )
    second = (
        "atomic_fetch_sub_explicit(x, 5, memory_order_relaxed); int r1 = 0; do { r1 = r1 + 1; } while (r1 < 4); "
        "barrier(CLK_LOCAL_MEM_FENCE); int r6 = *l;"
    )
    parameters = "global atomic_int* x, global atomic_int* y, global int* z, local int* l"
    test = parse_litmus(
        f"OPENCL t\n{{ x = 0; y = 0; z = 0; l = 0; }}\n"
        f"P0@wg 0, dev 0 ({parameters}) {{ {first} }}\nP1@wg 0, dev 0 ({parameters}) {{ {second} }}\n"
        "locations [x; y; 0:r1; 0:r4; 0:r5; 1:r1; z; 0:r6; 1:r6; l;] exists (true)\n"
    )
    seen = launched("wgsl", test, 1 << 12, 3, profile=profile)
    assert set(seen.counts) == {(-2, 0, 0, -3, 11, 4, 0, 3, 3, 3)}
    assert (seen.launches, seen.hung, sum(seen.counts.values())) == (3, False, 3 << 12)


def test_a_test_that_hangs_is_killed(need: Callable[[str], None]) -> None:
    need("wgsl")
    parameters = "global atomic_int* x"
    waiting = "int r0; do { r0 = atomic_load_explicit(x, memory_order_relaxed); } while (r0 == 0);"
    test = parse_litmus(
        f"OPENCL t\n{{ x = 0; }}\nP0@wg 0, dev 0 ({parameters}) {{ {waiting} }}\n"
        f"P1@wg 1, dev 0 ({parameters}) {{ int r0 = 1; }}\nexists (0:r0 = 0)\n"
    )
    seen = launched("wgsl", test, 64, 3, 1)
    assert seen.hung and seen.launches == 0 and not seen.counts
