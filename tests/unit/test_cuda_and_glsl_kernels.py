"""What CUDA and GLSL say of the instructions of memory tests, and what they refuse."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from backends.cuda.memory import CudaKernel
from backends.glsl.memory import GlslKernel
from backends.registry import BACKENDS
from backends.shared.kernel import Kernel
from backends.shared.layout import Parameters, place
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Barrier, Fence, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"


def of(*code: Instruction, other: tuple[Instruction, ...] = (), asks: Quantifier = Quantifier.EXISTS) -> LitmusTest:
    """A test of two threads in one CTA, with ``x`` in global and ``s`` in shared memory."""
    threads = (Thread(code, Place(0, 0, 0, 0)), Thread(other, Place(0, 0, 0, 1)))
    locations = (Location("x"), Location("s", region=Region.SHARED))
    return LitmusTest("t", threads, locations, Condition(asks, And(())))


def strong(order: str, scope: Scope = Scope.GPU) -> Mode:
    return Mode(Order(order), scope)


def text(kernel: type[Kernel], test: LitmusTest) -> str:
    return kernel(place(test)).file("t")


X, S = Loc("x"), Loc("s")


@pytest.mark.parametrize(
    ("instruction", "said"),
    [
        (Load("r", X), "ld.global.u32 %0, [%1];"),
        (Load("r", X, Mode(cache="ca")), "ld.global.ca.u32 %0, [%1];"),
        (Load("r", S, Mode(volatile=True)), "ld.volatile.shared.u32 %0, [%1];"),
        (Load("r", X, strong("acquire", Scope.CTA)), "ld.acquire.cta.global.u32 %0, [%1];"),
        (Store(X, 1, Mode(cache="wt")), "st.global.wt.u32 [%0], %1;"),
        (Store(S, 1, strong("release", Scope.SYS)), "st.release.sys.shared.u32 [%0], %1;"),
        (Rmw("exch", "r", X, (1,), strong("acq_rel")), "atom.acq_rel.gpu.global.exch.b32 %0, [%1], %2;"),
        (Rmw("cas", "r", S, (0, 1), strong("relaxed")), "atom.relaxed.gpu.shared.cas.b32 %0, [%1], %2, %3;"),
        (Rmw("min", "r", X, (1,), strong("relaxed")), "atom.relaxed.gpu.global.min.s32 %0, [%1], %2;"),
        (Rmw("add", None, X, (1,), strong("release")), "red.release.gpu.global.add.u32 [%0], %1;"),
        (Rmw("add", None, X, (1,), strong("acq_rel")), "atom.acq_rel.gpu.global.add.u32 _, [%0], %1;"),
        (Fence(strong("sc", Scope.SYS)), "fence.sc.sys;"),
        (Fence(strong("acq_rel", Scope.CTA)), "fence.acq_rel.cta;"),
        (Fence(strong("acquire")), "fence.acquire.gpu;"),
        (Fence(strong("release", Scope.SYS)), "fence.release.sys;"),
        (Fence(Mode(Order.SC, Scope.QUEUE, tags=("cluster",))), "fence.sc.cluster;"),
        (Load("r", X, Mode(Order.ACQUIRE, Scope.QUEUE, tags=("cluster",))), "ld.acquire.cluster.global.u32 %0, [%1];"),
    ],
)
def test_ptx_word_for_word(instruction: Instruction, said: str) -> None:
    assert f'asm volatile("{said}"' in text(CudaKernel, of(instruction))


def test_what_only_hopper_has_says_so() -> None:
    new = (Fence(strong("acquire")), Fence(Mode(Order.SC, Scope.QUEUE, tags=("cluster",))))
    assert ["// Needs sm_90 or later.\n" in text(CudaKernel, of(each)) for each in (*new, Fence(strong("sc")))] == [
        True,
        True,
        False,
    ]


def test_every_access_has_a_mark_of_its_own() -> None:
    same = Load("r", X)
    written = text(CudaKernel, of(same, same, Store(S, 1), other=(Store(X, 1),)))
    assert re.findall(r"\+ zero\[(\d+)u\]", written) == ["0", "1", "2", "3"]


def test_addresses_have_the_size_of_their_memory() -> None:
    written = text(CudaKernel, of(Load("r", X), Load("r", S)))
    assert '"l"(globals[at0 + zero[0u]])' in written
    assert '"r"(shareds[at1 + zero[1u]])' in written


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ((Load("r", X), Load("r", S)), 1),
        ((Load("r", X), Load("r", S), Load("r", X)), 2),
        ((Load("r", X, strong("relaxed")), Store(S, 1, Mode(cache="cg"))), 1),
        ((Load("r", X, strong("relaxed")), Store(S, 1, strong("relaxed"))), 0),
        ((Load("r", X, Mode(volatile=True)), Store(S, 1, Mode(volatile=True))), 0),
        ((Load("r", X), Fence(strong("sc")), Load("r", S)), 0),
    ],
)
def test_what_ptxas_would_move_is_kept_in_order(code: tuple[Instruction, ...], kept: int) -> None:
    asked = re.findall(r"    keep_order\(zero\[(\d+)u\]\);", text(CudaKernel, of(*code)))
    assert len(set(asked)) == len(asked) == kept


def test_barriers_count_the_threads_that_come() -> None:
    written = text(CudaKernel, of(Barrier(3, arrive=True), other=(Barrier(3, quorum=2),)))
    assert 'if (position == 0u) asm volatile("barrier.arrive 1, 64;"' in written
    assert 'if (position == 1u) asm volatile("barrier.sync 1, 64;"' in written


def test_barriers_of_some_threads_are_not_that_of_all() -> None:
    """``__syncthreads()`` is barrier 0, to which threads without a barrier come while others are at one of the test."""
    names = (2, 0, 14)
    written = text(CudaKernel, of(*map(Barrier, names), other=tuple(map(Barrier, names))))
    assert re.findall(r"barrier\.sync (\d+), 64;", written) == [
        "2",
        "2",
        "1",
        "1",
        "3",
        "3",
    ]  # in the order of the code


def test_one_barrier_is_taken() -> None:
    every = tuple(map(Barrier, range(16)))
    assert "barrier.sync 15, 64;" in text(CudaKernel, of(*every[:15], other=every[:15]))
    with pytest.raises(InputError, match="PTX has 16 barriers, one of which is taken here"):
        text(CudaKernel, of(*every, other=every))


@pytest.mark.parametrize(
    ("instruction", "other", "reason"),
    [
        (Load("r", X, strong("sc")), (), "P0: ld.sc.gpu r, x: PTX has ld with order relaxed, acquire only"),
        (Load("r", X, strong("relaxed", Scope.QUEUE)), (), "PTX has relaxed with a scope of cta, gpu, sys"),
        (Load("r", X, Mode(cache="wt")), (), "PTX has weak ld with one of ca, cg, cs, lu, cv"),
        (Rmw("sub", "r", X, (1,), strong("relaxed")), (), "PTX has no atomic sub"),
        (
            Fence(Mode(tags=("alias",))),
            (),
            "PTX has this fence only for accesses through proxies",
        ),
        (Load("r", X, Mode(tags=("texture",))), (), "P0: ld.texture r, x: PTX has no ld with texture"),
        (Barrier(16), (Barrier(16),), "PTX has barriers 0 to 15"),
        (Barrier(1, quorum=3), (Barrier(1),), "2 threads of its CTA come to it"),
    ],
)
def test_cuda_refuses(instruction: Instruction, other: tuple[Instruction, ...], reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)):
        text(CudaKernel, of(instruction, other=other))


BOTH = "gl_StorageSemanticsBuffer | gl_StorageSemanticsShared"


@pytest.mark.parametrize(
    ("instruction", "said"),
    [
        (Load("r", X), "p0_r = memory[at0];"),
        (Load("r", X, strong("relaxed")), "p0_r = atomicLoad(memory[at0], gl_ScopeDevice, 0, 0);"),
        (
            Load("r", S, strong("acquire", Scope.CTA)),
            "p0_r = atomicLoad(local_memory[at1], gl_ScopeWorkgroup, "
            f"{BOTH}, gl_SemanticsAcquire | gl_SemanticsMakeVisible);",
        ),
        (
            Store(X, 1, strong("release", Scope.QUEUE)),
            "atomicStore(memory[at0], 1u, gl_ScopeQueueFamily, "
            f"{BOTH}, gl_SemanticsRelease | gl_SemanticsMakeAvailable);",
        ),
        (Rmw("add", None, X, (2,), strong("relaxed", Scope.SYS)), "atomicAdd(memory[at0], 2u, gl_ScopeDevice, 0, 0);"),
        (
            Rmw("cas", "r", X, (0, 1), strong("release")),
            f"p0_r = atomicCompSwap(memory[at0], 0u, 1u, gl_ScopeDevice, {BOTH}, "
            "gl_SemanticsRelease | gl_SemanticsMakeAvailable, 0, 0);",
        ),
        (
            Fence(Mode(Order.ACQUIRE, Scope.GPU, tags=("local-fence",))),
            "memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsShared, gl_SemanticsAcquire | gl_SemanticsMakeVisible);",
        ),
    ],
)
def test_glsl(instruction: Instruction, said: str) -> None:
    assert said in text(GlslKernel, of(instruction))


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        (Store(X, 1, strong("acquire")), "P0: st.acquire.gpu x, 1: GLSL takes relaxed, release here"),
        (Load("r", X, strong("release")), "GLSL takes relaxed, acquire here"),
        (Fence(strong("sc")), "GLSL has no order sc"),
        (Load("r", X, Mode(cache="cg")), "GLSL has no cache operators"),
        (Load("r", X, Mode(volatile=True)), "GLSL has no volatile accesses"),
        (Load("r", X, Mode(tags=("texture",))), "GLSL has no word for texture"),
        (Rmw("min", "r", X, (1,), strong("relaxed")), "GLSL compares unsigned numbers here"),
        (Rmw("sub", "r", X, (1,), strong("relaxed")), "GLSL has no atomic sub"),
        (Load("r", X, strong("relaxed", Scope.WARP)), "GLSL has no scope warp"),
    ],
)
def test_glsl_refuses(instruction: Instruction, reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)):
        text(GlslKernel, of(instruction))


def vulkan(line: str, other: str = "", wg: int = 0, state: str = "x=0; y=0;") -> LitmusTest:
    """A test in Vulkan's dialect, with an instruction in the first of two threads."""
    return parse_litmus(
        f"VULKAN t\n{{ {state} }}\n P0@sg 0,wg 0,qf 0 | P1@sg 1,wg {wg},qf 0 ;\n {line} | {other} ;\nexists (0 == 0)\n"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ld.sc0 r1, x", "p0_r1 = memory_private[at0];"),
        ("st.nonpriv.sc0 x, 1", "\n            memory[at0] = 1u;"),
        ("st.av.dv.sc0 x, 1", "memory_device[at0] = 1u;"),
        ("ld.vis.qf.sc0 r1, x", "p0_r1 = memory_queue_family[at0];"),
        ("ld.vis.wg.sc0 r1, x", "p0_r1 = memory_workgroup[at0];"),
        ("st.av.wg.sc1 x, 1", "local_memory[at0] = 1u;"),
        ("ld.atom.dv.sc1 r1, x", "p0_r1 = atomicLoad(local_memory[at0], gl_ScopeDevice, 0, 0);"),
        (
            "st.atom.rel.wg.sc0.semsc0.semsc1 x, 1",
            "atomicStore(memory[at0], 1u, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, "
            "gl_SemanticsRelease);",
        ),
        (
            "membar.acq_rel.dv.semsc2.semav.semvis",
            "memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsImage, "
            "gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);",
        ),
        (
            "rmw.atom.acq_rel.dv.sc0.semsc0.semav.cas r1, x, 0, 1",
            "p0_r1 = atomicCompSwap(memory[at0], 0u, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, "
            "gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);",
        ),
    ],
)
def test_vulkans_own_words_in_glsl(line: str, said: str) -> None:
    assert said in text(GlslKernel, vulkan(line))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plain", "gl_ScopeWorkgroup, 0, 0"),
        ("device", "gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease"),
    ],
)
def test_vulkans_control_barriers_in_glsl(name: str, said: str) -> None:
    test = read_litmus(EXAMPLES / "vulkan" / f"mp-control-barrier-{name}.litmus")
    assert f"controlBarrier(gl_ScopeWorkgroup, {said});" in text(GlslKernel, test)


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        (vulkan("ld.sc2 r1, x"), "P0: ld.sc2 r1, x: GLSL has memory of classes sc0 and sc1 here"),
        (vulkan("ld.sc1 r1, x"), "GLSL has shared memory that is coherent in its work-group"),
        (vulkan("ld.sc0 r1, x", "st.av.wg.sc1 x, 1"), "x is of another storage class elsewhere"),
        (vulkan("ld.vis.wg.sc1 r1, x", "st.av.wg.sc1 x, 1", 1), "x is in shared memory, and P0 is in another work-gr"),
        (vulkan("membar.acq.dv.semsc0.semav"), "GLSL has semav with release and acq_rel alone"),
        (
            vulkan("cbar.rel.wg.semsc0.semvis 0", "cbar.rel.wg.semsc0.semvis 0"),
            "GLSL has semvis with acquire and acq_rel",
        ),
        (vulkan("avdevice", "ld.sc0 r1, x"), "an operation of the device is between launches"),
        (vulkan("cbar.wg 0", "cbar.acq_rel.wg.semsc0 0"), "GLSL has one barrier for all threads of a work-group"),
        (replace(vulkan("ld.sc0 r1, x"), synchronised=((0, 1),)), "threads that synchronise by the system"),
    ],
)
def test_what_of_vulkan_glsl_refuses(test: LitmusTest, reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)):
        text(GlslKernel, test)


@pytest.mark.parametrize(
    ("asks", "claims"), [(Quantifier.EXISTS, []), (Quantifier.NOT_EXISTS, ["0"]), (Quantifier.FORALL, ["320"])]
)
def test_an_amber_script_expects_what_the_condition_claims(asks: Quantifier, claims: list[str]) -> None:
    script = GlslKernel(place(of(asks=asks), Parameters(instances=64, iterations=5))).file("t")
    assert re.findall(r"^EXPECT totals IDX 8 EQ (\d+)$", script, re.MULTILINE) == claims


@pytest.mark.parametrize("backend", ["cuda", "glsl"])
def test_examples_are_said_or_refused_with_a_reason(backend: str) -> None:
    said, refused = 0, []
    for file in sorted(EXAMPLES.glob("*.litmus")):
        try:
            texts = BACKENDS[backend].memory_files(file.stem, place(read_litmus(file)))
        except InputError as error:
            refused.append(error.message)
            continue
        said += 1
        assert list(texts) == [f"{file.stem}.{'cu' if backend == 'cuda' else 'amber'}"]
    assert said >= {"cuda": 80, "glsl": 35}[backend]
    assert [each for each in refused if not re.match(r"P\d+(: .+: (PTX|GLSL|CUDA)| and P\d+ are) ", each)] == []
