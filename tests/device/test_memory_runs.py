"""Memory tests on PoCL and on the CPU's threads: weak outcomes are seen where they may be, and none that may not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import synth
from launching import EVERYTHING, launched

from backends.shared.outcomes import SeenOutcomes
from backends.shared.profiles import DEFAULT, STRESS, Profile
from corpus.dialects.registry import parse_litmus
from corpus.litmus.test import LitmusTest
from oracle.consistency import resolve_consistency_models
from synth.memory.conformance import promise_of

pytestmark = pytest.mark.device

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "memory").glob("*.litmus"))
SOUND = {"cpp": "rc11", "opencl": "rc11-scoped"}
"""A model that language and machine together should not go beyond. Both are the language's own for atomics, which
compilers keep to, and both allow what x86 makes of accesses in order. For volatile accesses that race the languages
promise nothing; but each becomes one instruction, in program order, and x86 then gives no more than release and acquire
do, which is less than these models allow of plain accesses."""
FEW = {
    "c-atomicity",
    "c-iriw-sc",
    "c-mp-fences",
    "c-mp-rlx",
    "cl-mp-wg-scope-same-wg",
    "cl-sb-sc-fences-wg",
    "coww-weak",
    "mp-bar-sync",
    "mp-rmw-between",
    "sb-fence-sc",
    "thesis-visibility-shared",
}


def c_test(first: str, second: str, condition: str) -> LitmusTest:
    parameters = "atomic_int* x, atomic_int* y, int* z"
    threads = f"P0 ({parameters}) {{ {first} }}\nP1 ({parameters}) {{ {second} }}\n"
    return parse_litmus(f"C t\n{{ x = 0; y = 0; z = 0; }}\n{threads}{condition}\n")


def store_buffering(order: str) -> LitmusTest:
    first, second = (
        f"atomic_store_explicit({mine}, 1, memory_order_{order}); "
        f"int r0 = atomic_load_explicit({other}, memory_order_{order});"
        for mine, other in ("xy", "yx")
    )
    return c_test(first, second, "exists (0:r0 = 0 /\\ 1:r0 = 0)")


def run(backend: str, test: LitmusTest, instances: int = 1 << 14, iterations: int = 3) -> SeenOutcomes:
    seen = launched(backend, test, instances, iterations)
    assert not seen.hung and seen.launches == iterations
    assert sum(seen.counts.values()) + seen.other == iterations * instances
    return seen


@pytest.mark.parametrize("backend", ["opencl", "cpp"])
def test_store_buffering(backend: str, need: Callable[[str], None]) -> None:
    """The weak outcome comes with relaxed order, in at most 50 million instances, and never with seq_cst."""
    need(backend)
    assert any((0, 0) in run(backend, store_buffering("relaxed"), 1 << 16, 40).counts for _ in range(20))
    assert (0, 0) not in run(backend, store_buffering("seq_cst"), 1 << 16, 20).counts


@pytest.mark.parametrize("backend", ["opencl", "cpp"])
def test_message_passing_is_in_order_on_this_machine(backend: str, need: Callable[[str], None]) -> None:
    need(backend)
    first = "atomic_store_explicit(x, 1, memory_order_release); atomic_store_explicit(y, 1, memory_order_release);"
    second = "int r0 = atomic_load_explicit(y, memory_order_acquire); int r1 = atomic_load(x);"
    seen = run(backend, c_test(first, second, "exists (1:r0 = 1 /\\ 1:r1 = 0)"), 1 << 16, 10)
    assert (1, 0) not in seen.counts


@pytest.mark.parametrize("backend", ["opencl", "cpp"])
def test_updates_arithmetic_and_final_memory(backend: str, need: Callable[[str], None]) -> None:
    """Whatever the interleaving: two additions add up, a compare-and-swap that fails writes nothing, signs are kept."""
    need(backend)
    first = (
        "int r0 = atomic_fetch_add(x, 3); int r1 = 7; atomic_compare_exchange_strong(y, &r1, 9); "
        "int r2 = r1 & 0x80000000; int r3 = *(z + r2); int r4 = -7; r4 = r4 / 2; int r5; "
        "if (r4 < 0) { r5 = 11; } else { r5 = 12; }"
    )
    second = "atomic_fetch_sub(x, 5); int r1 = 0; do { r1 = r1 + 1; *z = r1; } while (r1 < 4);"
    seen = run(backend, c_test(first, second, "locations [x; y; 0:r1; 0:r4; 0:r5; z;] exists (true)"))
    assert set(seen.counts) == {(-2, 0, 0, -3, 11, 4)}


@pytest.mark.parametrize("backend", ["opencl", "cpp"])
def test_weak_exchanges_succeed_or_fail_as_a_whole(backend: str, need: Callable[[str], None]) -> None:
    need(backend)
    first = "int r0 = 0; int r1 = atomic_compare_exchange_weak(x, &r0, 5);"
    second = "int r0 = 3; int r1 = atomic_compare_exchange_weak(y, &r0, 7);"
    seen = run(backend, c_test(first, second, "locations [x; 0:r0; 0:r1; y; 1:r0; 1:r1;] exists (true)"))
    assert set(seen.counts) <= {(5, 0, 1, 0, 0, 0), (0, 0, 0, 0, 0, 0)}


@pytest.mark.parametrize("profile", [DEFAULT, EVERYTHING], ids=lambda profile: profile.name)
def test_shared_memory_and_barriers(profile: Profile, need: Callable[[str], None]) -> None:
    need("opencl")
    test = parse_litmus(
        "OPENCL t\n{ x = 3; y = 0; }\n"
        "P0@wg 0, dev 0 (local int* x, global int* y) { *x = 1; barrier(CLK_LOCAL_MEM_FENCE); int r0 = *x; }\n"
        "P1@wg 0, dev 0 (local int* x, global int* y) { int r0 = *x; barrier(CLK_LOCAL_MEM_FENCE); *x = 2; }\n"
        "P2@wg 1, dev 0 (global int* y) { *y = 5; }\n"
        "locations [x; y; 0:r0; 1:r0;] exists (true)\n"
    )
    seen = launched("opencl", test, 1 << 14, 3, profile=profile)
    assert sum(seen.counts.values()) == 3 << 14
    assert set(seen.counts) <= {(2, 5, mine, theirs) for mine in (1, 2) for theirs in (1, 3)}


@pytest.mark.parametrize("profile", [STRESS, EVERYTHING], ids=lambda profile: profile.name)
@pytest.mark.parametrize("backend", ["opencl", "cpp"])
def test_no_way_to_launch_changes_outcomes(backend: str, profile: Profile, need: Callable[[str], None]) -> None:
    need(backend)
    seen = launched(backend, store_buffering("seq_cst"), 1 << 14, 3, profile=profile)
    assert set(seen.counts) <= {(0, 1), (1, 0), (1, 1)} and seen.launches == 3
    assert sum(seen.counts.values()) == 3 << 14


@pytest.mark.parametrize("backend", ["opencl", "cpp"])
def test_a_test_that_hangs_is_killed(backend: str, need: Callable[[str], None]) -> None:
    need(backend)
    test = c_test("int r0 = atomic_load(x); while (r0 == 0) { r0 = atomic_load(x); }", "*z = 1;", "exists (0:r0 = 0)")
    seen = launched(backend, test, 64, 3, 1)
    assert seen.hung and seen.launches == 0 and not seen.counts


@pytest.mark.one_in(3)
@pytest.mark.parametrize("backend", ["opencl", "cpp"])
@pytest.mark.parametrize(
    "file",
    [pytest.param(file, id=file.stem, marks=[] if file.stem in FEW else [pytest.mark.slow]) for file in EXAMPLES],
)
def test_no_sound_model_forbids_what_is_seen(file: Path, backend: str, need: Callable[[str], None]) -> None:
    need(backend)
    done = synth("run", file, "--backend", backend, "--iterations", 3, "--instances", 8192, "--sound", SOUND[backend])
    assert done.exit_code == 0 or ": P" in done.stderr or "shared memory" in done.stderr, done.output


def test_results_are_kept_and_compared(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    test, results = tmp_path / "sb.litmus", tmp_path / "results.jsonl"
    test.write_text((EXAMPLES[0].parent / "c-sb-rel-acq.litmus").read_text())
    command = ("run", test, "--backend", "cpp", "--iterations", 2, "--instances", 2048, "-o", results)
    first = synth(*command, "--model", "rc11", "--json")
    assert first.exit_code == 0, first.output
    report = json.loads(first.stdout)
    (seen,) = report["tests"]
    assert seen["launches"] == 2 and sum(row["count"] for row in seen["outcomes"]) == 4096
    assert [row["values"] for row in seen["outcomes"] if row["asked"]] == [[0, 0]]
    # As if the weak outcome had been seen, and only that: the test is not run again.
    line = json.loads(results.read_text())
    results.write_text(json.dumps(line | {"outcomes": [[[0, 0], 4096]]}, separators=(",", ":")) + "\n")
    for model, code in (("rc11", 0), ("sc", 1)):
        again = synth(*command, "--sound", model)
        assert again.exit_code == code, again.output
        assert ("sc is not sound here" in again.stderr) == (model == "sc")
        assert re.search(r"^0 +0 +4096 +<- asked for", again.stdout, re.MULTILINE)
    assert len(results.read_text().splitlines()) == 1


def test_a_folder_with_tests_that_cannot_be_said(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    for name in ("c-sb-sc", "mp-L1"):
        (tmp_path / f"{name}.litmus").write_text((EXAMPLES[0].parent / f"{name}.litmus").read_text())
    options = ("--backend", "cpp", "--iterations", 1, "--instances", 512, "--model", "sc")
    done = synth("run", tmp_path, *options)
    assert done.exit_code == 0, done.output
    assert "not run" in done.stdout and "C++ has no cache operators" in done.stdout
    alone = synth("run", tmp_path / "mp-L1.litmus", *options)
    assert alone.exit_code == 2 and alone.stderr.count("\n") == 1 and "no cache operators" in alone.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mapping", "plain"], "--mapping is for progress tests"),
        (["--every-iteration"], "--every-iteration is for progress tests"),
        (["--sound", "nonsense"], "unknown consistency model 'nonsense'"),
        (["--where", "nothing*"], "no test has a name"),
    ],
)
def test_misuse(options: list[str], message: str, need: Callable[[str], None]) -> None:
    need("cpp")
    done = synth("run", EXAMPLES[0], "--backend", "cpp", *options)
    assert done.exit_code == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_options_of_litmus_tests_only(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("cpp")
    (tmp_path / "a.axb").write_text("THREAD 0\n0: Mem[0] = 1;\n")
    done = synth("run", tmp_path / "a.axb", "--backend", "cpp", "--stress")
    assert done.exit_code == 2 and "--stress is for litmus tests" in done.stderr
    done = synth("run", tmp_path / "a.axb", "--backend", "cpp", "--profile", tmp_path / "a.toml")
    assert done.exit_code == 2 and "--profile is for litmus tests" in done.stderr


def test_what_a_model_allows_is_known_beyond_the_condition() -> None:
    (model,) = resolve_consistency_models(["sc"])
    test = store_buffering("relaxed")
    assert promise_of(test, model).allowed == {(0, 1), (1, 0), (1, 1)}
