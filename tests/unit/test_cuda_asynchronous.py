"""What CUDA programs say of asynchronous operations, mbarriers and clusters, what they do around them, and what they
refuse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backends.cuda.asynchronous import PROXY_FENCES, PhaseWait, homes, waits
from backends.cuda.memory import CudaKernel
from backends.registry import BACKENDS
from backends.shared.layout import GPU, Parameters, place
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.laws.ptx import PROXY_FENCE_WORDS
from corpus.litmus.test import LitmusTest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "memory" / "ptx-async").glob("*.litmus"))
OWN = ("cta 0,gpu 0", "cta 0,gpu 0")
CLUSTER = ("cta 0,cluster 0,gpu 0", "cta 1,cluster 0,gpu 0")


def litmus_of(*code: str, places: tuple[str, str] = OWN, m: int = 0, other: str = "") -> LitmusTest:
    """A test of two threads with ``s`` and ``x`` in global memory, ``d``, ``e`` and the mbarrier ``m`` in shared."""
    rows = "".join(f" {each} | {other if not number else ''} ;\n" for number, each in enumerate(code))
    header = " | ".join(f"P{number}@{each}" for number, each in enumerate(places))
    state = f"s=0; x=0; shared d=0; shared e=0; shared m={m};"
    return parse_litmus(f"PTX t\n{{ {state} }}\n {header} ;\n{rows}exists (s == 1)\n")


def said(test: LitmusTest) -> list[str]:
    """The inline PTX of thread 0, but for what keeps it in order."""
    text = CudaKernel(place(test)).file("t")
    functions = re.findall(r"thread_0_\d\(Registers.*?\n}", text, re.DOTALL)
    return re.findall(r'asm volatile\("([^"]*)"', "".join(functions))


CTA, CLUSTERED = ".shared::cta.b64", ".shared::cluster.b64"
DONE = "mbarrier::complete_tx::bytes"


@pytest.mark.parametrize(
    ("written", "ptx"),
    [
        ("mbarrier.init m, 3", f"mbarrier.init{CTA} [%0], 3;"),
        ("mbarrier.arrive.release.cta r0, m", f"mbarrier.arrive.release.cta{CTA} %0, [%1];"),
        ("mbarrier.arrive.relaxed.cluster r0, m, 2", f"mbarrier.arrive.relaxed.cluster{CTA} %0, [%1], 2;"),
        ("mbarrier.arrive_drop.release.cta r0, m", f"mbarrier.arrive_drop.release.cta{CTA} %0, [%1];"),
        (
            "mbarrier.arrive.expect_tx.release.cta r0, m, 16",
            f"mbarrier.arrive.expect_tx.release.cta{CTA} %0, [%1], 16;",
        ),
        (
            "mbarrier.arrive_drop.expect_tx.relaxed.cta r0, m, r3",
            f"mbarrier.arrive_drop.expect_tx.relaxed.cta{CTA} %0, [%1], %2;",
        ),
        ("mbarrier.expect_tx.relaxed.cta m, 16", f"mbarrier.expect_tx.relaxed.cta{CTA} [%0], 16;"),
        ("mbarrier.complete_tx.relaxed.cluster m, 16", f"mbarrier.complete_tx.relaxed.cluster{CTA} [%0], 16;"),
        ("cp.async d, s", "cp.async.ca.shared.global [%0], [%1], 4;"),
        ("cp.async.commit_group", "cp.async.commit_group;"),
        ("cp.async.wait_group 2", "cp.async.wait_group 2;"),
        ("cp.async.bulk.wait_group.read 1", "cp.async.bulk.wait_group.read 1;"),
        ("cp.async.bulk.bulk_group s, d, 16", "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;"),
        (
            "cp.reduce.async.bulk.bulk_group.max s, d, 16",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%0], [%1], 16;",
        ),
        *((words, f"{words};") for words in (PROXY_FENCE_WORDS[mode] for mode in PROXY_FENCES)),
    ],
)
def test_ptx_word_for_word(written: str, ptx: str) -> None:
    assert said(litmus_of(written)) == [ptx]


@pytest.mark.parametrize(
    ("written", "ptx"),
    [
        (f"cp.async.bulk.{DONE} d, s, 32, m", f"cp.async.bulk.shared::cluster.global.{DONE} [%0], [%1], 32, [%2];"),
        (
            f"cp.async.bulk.{DONE} d, e, 16, m",
            f"cp.async.bulk.shared::cluster.shared::cta.{DONE} [%0], [%1], 16, [%2];",
        ),
        (
            f"cp.reduce.async.bulk.{DONE}.and d, e, 16, m",
            f"cp.reduce.async.bulk.shared::cluster.shared::cta.{DONE}.and.b32 [%0], [%1], 16, [%2];",
        ),
        (f"st.async.{DONE} d, 7, m", f"st.async.shared::cluster.{DONE}.b32 [%0], %1, [%2];"),
        (
            f"red.async.relaxed.cluster.{DONE}.add d, 7, m",
            f"red.async.relaxed.cluster.shared::cluster.{DONE}.add.u32 [%0], %1, [%2];",
        ),
        ("cp.async.mbarrier.arrive m", "cp.async.mbarrier.arrive.shared.b64 [%0];"),
        ("cp.async.mbarrier.arrive.noinc m", "cp.async.mbarrier.arrive.noinc.shared.b64 [%0];"),
    ],
)
def test_what_completes_at_an_mbarrier(written: str, ptx: str) -> None:
    assert said(litmus_of("mbarrier.init m, 1", written))[1] == ptx


def test_a_wait_takes_what_an_arrival_tells() -> None:
    code = (
        "mbarrier.arrive.release.cta r0, m",
        "mbarrier.test_wait.acquire.cta r1, m, r0",
        "mbarrier.pending_count r2, r0",
    )
    text = CudaKernel(place(litmus_of(*code))).file("t")
    assert "struct Registers0 { std::uint64_t reg_r0; std::uint32_t reg_r1; std::uint32_t reg_r2; };" in text
    assert f'test_wait.acquire.cta{CTA} complete, [%1], %2; selp.u32 %0, 1, 0, complete; }}" : "=r"(p0.reg_r1)' in text
    assert 'asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(p0.reg_r2) : "l"(p0.reg_r0)' in text


@pytest.mark.parametrize(
    ("operation", "clustered"),
    [
        (f"st.async.{DONE} d, 1, m", True),
        (f"cp.async.bulk.{DONE} d, e, 16, m", True),
        (f"cp.async.bulk.{DONE} d, s, 16, m", False),
    ],
)
def test_what_writes_to_a_cluster_is_launched_in_one(operation: str, clustered: bool) -> None:
    text = CudaKernel(place(litmus_of("mbarrier.init m, 1", operation))).file("t")
    assert ("__cluster_dims__(1, 1, 1) void run" in text) == clustered


def test_memory_of_another_cta_is_mapped() -> None:
    """The mbarrier is in the CTA of P0, which waits at it; so what completes there is written there."""
    text = CudaKernel(
        place(
            litmus_of(
                "mbarrier.init m, 1",
                "mbarrier.arrive.expect_tx.release.cta r1, m, 4",
                "mbarrier.test_wait.acquire.cluster r0, m, r1",
                places=CLUSTER,
                other=f"st.async.{DONE} d, 1, m",
            )
        )
    ).file("t")
    assert "__cluster_dims__(2, 1, 1) void run" in text and "#define CTAS 2u" in text
    assert re.search(r'"r"\(peer0\[at2 \+ zero\[3u\]\]\), "r"\(1u\), "r"\(peer0\[at4 \+ zero\[3u\]\]\)', text)
    assert text.count("meet_in_cluster();") == 3


@pytest.mark.parametrize(
    ("written", "ptx"),
    [
        ("st.relaxed.cluster m, 1", "st.relaxed.cluster.shared::cluster.u32 [%0], %1;"),
        ("mbarrier.arrive.release.cluster r0, m", f"mbarrier.arrive.release.cluster{CLUSTERED} _, [%0];"),
        ("mbarrier.expect_tx.relaxed.cluster m, 16", f"mbarrier.expect_tx.relaxed.cluster{CLUSTERED} [%0], 16;"),
    ],
)
def test_accesses_and_arrivals_reach_other_ctas(written: str, ptx: str) -> None:
    test = litmus_of("mbarrier.init m, 1", places=CLUSTER, other=written)
    assert homes(test)["m"] == 0
    assert ptx in CudaKernel(place(test)).file("t")


@pytest.mark.parametrize(
    ("code", "wait"),
    [
        (("mbarrier.init m, 1", "mbarrier.arrive.expect_tx.release.cta r0, m, 16"), PhaseWait("m", 0, 1, 1)),
        (("mbarrier.init m, 2", "mbarrier.arrive.release.cta r0, m"), PhaseWait("m", 16, 0, 1)),
        (("mbarrier.init m, 1", "mbarrier.expect_tx.relaxed.cta m, 48"), PhaseWait("m", -32, 0, 1)),
        (
            ("mbarrier.init m, 2", "mbarrier.arrive.release.cta r0, m, 2", "cp.async.mbarrier.arrive.noinc m"),
            PhaseWait("m", 16, 1, 1),
        ),
        (("mbarrier.init m, 3", "cp.async.mbarrier.arrive m"), PhaseWait("m", 16, 0, 3)),
    ],
)
def test_what_a_test_does_not_wait_for(code: tuple[str, ...], wait: PhaseWait) -> None:
    """The program expects what the test has not, and arrives until the phase is whole."""
    test = litmus_of(*code, f"cp.async.bulk.{DONE} d, s, 16, m")
    straight = [id(ins) for thread in test.threads for ins in thread.instructions]
    assert waits(test, straight) == [wait]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            ("mbarrier.init m, 1", "mbarrier.arrive.release.cta r0, m", "st.weak x, r0"),
            "r0 is the state of an mbarrier",
        ),
        (("mbarrier.test_wait.acquire.cta r1, m, r5",), "the state of an mbarrier is what an arrival tells"),
        (("mbarrier.init x, 1",), "PTX has mbarriers in shared memory only"),
        (("cp.async s, d",), "PTX has none from shared to global memory"),
        (("cp.async.bulk.bulk_group d, s, 16",), "PTX has none from global to shared memory"),
        (("mbarrier.init m, 1", f"cp.async.bulk.{DONE} d, s, 8, m"), "of multiples of 16 bytes"),
        ((f"cp.async.bulk.{DONE} d, s, 16, m",), "nobody initialises m"),
        (("mbarrier.init m, 1", "mbarrier.init m, 1", f"st.async.{DONE} d, 1, m"), "m is initialised already"),
        (
            ("mbarrier.init m, 1", "mbarrier.arrive_drop.release.cta r0, m", f"st.async.{DONE} d, 1, m"),
            "nobody knows when phases of m complete",
        ),
        (
            ("mbarrier.init m, 1", "ld.weak r0, x", "beq r0, 0, LC0", f"st.async.{DONE} d, 1, m", "LC0:"),
            "it is in a branch",
        ),
        (("fence.proxy.tensormap",), "PTX has this fence only for accesses through proxies"),
    ],
)
def test_what_is_refused(code: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        said(litmus_of(*code))


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "cuda"])
def test_other_languages_refuse_it_in_a_line(backend: str) -> None:
    for file in EXAMPLES:
        with pytest.raises(InputError) as refused:
            BACKENDS[backend].memory(place(read_litmus(file))).file("t")
        assert len(str(refused.value).splitlines()) == 1


def test_clusters_stay_together() -> None:
    """Each cluster has as many CTAs, which are neighbours in the launch, and play the same instances in each pass."""
    text = """PTX t
{ x=0; }
 P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 1,gpu 0 | P2@cta 2,cluster 0,gpu 0 ;
 fence.sc.cluster | ld.weak r0, x | ld.weak r0, x ;
exists (P1:r0 == 0)
"""
    layout = place(parse_litmus(text), Parameters(stress=3, rotate=True, stripe=True, scatter=True))
    assert (layout.cluster, layout.ctas, layout.breadth, layout.roles) == (2, (0, 2, 1), 4, 8)
    assert not (layout.parameters.rotate or layout.parameters.stripe or layout.parameters.scatter)
    with pytest.raises(InputError, match="OpenCL has no clusters, and a cluster of this test has 2 CTAs"):
        BACKENDS["opencl"].memory(layout)


def test_cells_are_aligned() -> None:
    layout = place(litmus_of("mbarrier.init m, 1", f"cp.async.bulk.{DONE} d, s, 48, m"), GPU)
    assert (layout.cell, layout.stride, layout.shared_stride) == (12, 12, 12)
    assert place(litmus_of("cp.async d, s"), Parameters(stride=5, conflicts=True)).constants["CONFLICTS"] == 0
