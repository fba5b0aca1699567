"""What WGSL can say of memory tests, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backends.registry import BACKENDS
from backends.shared.layout import Parameters, place
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
RELAXED = "memory_order_relaxed"


def written(text: str, parameters: Parameters | None = None) -> str:
    return next(iter(BACKENDS["wgsl"].memory_files("t", place(parse_litmus(text), parameters)).values()))


def opencl(first: str, second: str = "*y = 5;", parameters: str = "global atomic_int* x, global int* y") -> str:
    threads = f"P0@wg 0, dev 0 ({parameters}) {{ {first} }}\nP1@wg 0, dev 0 ({parameters}) {{ {second} }}\n"
    return f"OPENCL t\n{{ x = 0; y = 0; }}\n{threads}exists (x = 1)\n"


def vulkan(first: str, second: str = "st.atom.qf.sc0 y, 1", group: int = 0) -> str:
    places = f" P0@sg 0,wg 0,qf 0 | P1@sg 1,wg {group},qf 0 ;"
    return f"VULKAN t\n{{ x=0; y=0; }}\n{places}\n {first} | {second} ;\nexists (x == 1)\n"


def code(text: str, thread: int) -> list[str]:
    found = re.search(rf"^ +case \d+u: {{ // P{thread}$(.*?)^            break;$", text, re.MULTILINE | re.DOTALL)
    return [line.strip() for line in found[1].splitlines() if line.strip()]


def test_all_examples_of_the_model_are_said_but_what_wgsl_lacks() -> None:
    refused = {}
    for path in sorted((EXAMPLES / "webgpu").glob("*.litmus")):
        try:
            BACKENDS["wgsl"].memory_files("t", place(read_litmus(path)))
        except InputError as error:
            refused[path.stem] = error.message
    # One shows an order that WGSL lacks, two have textures, of which there is no memory here.
    assert list(refused) == ["beyond-release", "storage-barrier-texture", "texture-barrier-storage"]


def test_what_is_atomic_and_what_is_plain_are_apart() -> None:
    text = written(opencl(f"atomic_store_explicit(x, 1, {RELAXED}); int r0 = *y;"))
    assert code(text, 0)[:2] == ["atomicStore(&memory[at0], 1u);", "p0_r0 = plain_memory[at1];"]
    assert code(text, 1) == ["plain_memory[at1] = 5u;"]
    reset = "atomicStore(&memory[ADDRESS(index, 0u)], 0u); // x\n    plain_memory[ADDRESS(index, 1u)] = 0u; // y"
    assert reset in text


def test_a_compare_exchange_is_tried_until_it_has_a_reason() -> None:
    text = written(opencl(f"int r1 = 7; atomic_compare_exchange_strong_explicit(x, &r1, 9, {RELAXED}, {RELAXED});"))
    tried = "loop { let tried = atomicCompareExchangeWeak(&memory[at0], expected, 9u);"
    assert any(tried in line for line in code(text, 0))


def test_a_weak_compare_exchange_is_tried_once() -> None:
    exchange = f"atomic_compare_exchange_weak_explicit(x, &r1, 9, {RELAXED}, {RELAXED})"
    text = written(opencl(f"int r1 = 7; int r2 = {exchange};"))
    line = next(line for line in code(text, 0) if "tried" in line)
    assert "loop" not in line and "p0_r2 = select(0u, 1u, tried.exchanged);" in line


@pytest.mark.parametrize(
    ("barrier", "call"),
    [
        ("cbar.acq_rel.wg.semsc0 0", "storageBarrier();"),
        ("cbar.acq_rel.wg.semsc1 0", "workgroupBarrier();"),
        ("cbar.acq_rel.wg.semsc0.semsc1 0", "storageBarrier(); workgroupBarrier();"),
    ],
)
def test_barriers_order_the_memory_that_they_name(barrier: str, call: str) -> None:
    assert f"if (cta == 0u) {{ {call} }}" in written(vulkan(barrier, barrier))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (opencl("atomic_store_explicit(x, 1, memory_order_release);"), "has atomics that are relaxed, and no others"),
        (
            opencl("atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);"),
            "no fence",
        ),
        (opencl(f"*y = 1; atomic_fetch_max_explicit(x, 1, {RELAXED});"), "compares unsigned numbers here"),
        (opencl("*x = 1;", f"int r0 = atomic_load_explicit(x, {RELAXED});"), "x has atomic and plain accesses"),
        (vulkan("st.atom.wg.sc0 x, 1", "ld.atom.qf.sc0 r0, x", 1), "has no scope cta"),
        (vulkan("st.sc0 x, 1"), "has plain accesses for the workgroup alone"),
        (vulkan("cbar.acq.wg.semsc0 0", "cbar.acq.wg.semsc0 0"), "has only barriers that acquire and release"),
        (vulkan("cbar.acq_rel.wg.semsc0 0", "cbar.acq_rel.wg.semsc1 0"), "orders other memory for one thread"),
        (vulkan("st.atom.qf.sc2 x, 1"), "WGSL has memory of classes sc0 and sc1 here"),
    ],
)
def test_what_wgsl_lacks_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        written(text)


def test_buffers_have_a_limit() -> None:
    with pytest.raises(InputError, match="more than 128 MiB"):
        written(opencl("*y = 1;"), Parameters(instances=1 << 20))
