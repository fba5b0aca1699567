"""Every word of PTX that is no instruction is fed once: it is understood, or refused where it stands.

The words are those of the PTX ISA 9.1 with those that 9.3 adds: its directives (chapter 11 and Table 1), attributes
(5.4.8), types (5.2 and 5.3), state spaces (5.1), options of a target (11.1.2), strings of ``.pragma`` (chapter 12) and
special registers (chapter 10). The counts of both are printed.
"""

from __future__ import annotations

import pytest
from ptx_text import HEADER, kernel_text, program

from backends.shared.clang_llvm import clang
from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.code.ptx.reader import read_ptx
from corpus.errors import InputError
from synth.checking.sources import launches_of, read_kernels
from synth.requests import LaunchWords

KERNEL = ".entry k() { ret; }"

UNDERSTOOD: dict[str, tuple[str, ...]] = {
    "directives of modules": (
        *(".version 9.0", ".target sm_90", ".address_size 64", '.file 1 "a.cu"', ".section .debug_info { .b8 0 }"),
        *(".alias a, f;", ".func f() { ret; }", ".entry j() { ret; }", '.pragma "nounroll";', "@@DWARF .byte 0"),
        *(".visible .global .u32 v;", ".weak .global .u32 v;", ".common .global .u32 v;", ".extern .global .u32 v;"),
    ),
    "directives of functions": (
        *(".maxnreg 32", ".maxntid 1", ".reqntid 1", ".minnctapersm 1", ".maxnctapersm 1", '.pragma "nounroll";'),
        *(".reqnctapercluster 1", ".explicitcluster", ".maxclusterrank 8", ".noreturn", ".abi_preserve 8"),
        ".abi_preserve_control 8",
    ),
    "statements": (
        *(
            "t: .branchtargets L;",
            "t: .calltargets f;",
            "t: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;",
        ),
        *(".loc 1 2 3", '.pragma "nounroll";', "{ }"),
    ),
    "attributes": (".managed", ".unified(1, 2)", ".managed, .unified(1, 2)"),
    "types": (
        *(".b8", ".b16", ".b32", ".b64", ".b128", ".s8", ".s16", ".s32", ".s64", ".u8", ".u16", ".u32", ".u64", ".f16"),
        *(".f16x2", ".f32", ".f64", ".bf16", ".bf16x2", ".tf32", ".e4m3x2", ".e5m2x2", ".v2 .u32", ".v4 .u32"),
        *(".v8 .u32", ".align 16 .u32", ".texref", ".samplerref", ".surfref"),
    ),
    "state spaces": (".const", ".global", ".shared"),
    "state spaces of functions": (".reg", ".const", ".global", ".local", ".param", ".shared"),
    "targets": (
        *("sm_20", "sm_70", "sm_90a", "sm_100f", "sm_120", "sm_90, texmode_unified", "sm_90, texmode_independent"),
        "sm_90, debug",
    ),
    "pragmas": ('"nounroll"', '"enable_smem_spilling"', '"frequency 4"', '"mma_throughput 1"'),
    "special registers": (
        *(
            f"%{name}.{axis}"
            for name in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid")
            for axis in "xyz"
        ),
        *(f"%cluster_{name}.{axis}" for name in ("ctaid", "nctaid") for axis in "xyz"),
        *(
            "WARP_SZ",
            "%laneid",
            "%warpid",
            "%nwarpid",
            "%smid",
            "%nsmid",
            "%gridid",
            "%is_explicit_cluster",
            "%cluster_ctarank",
        ),
        *("%cluster_nctarank", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"),
        *("%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%total_smem_size"),
        *("%dynamic_smem_size", "%aggr_smem_size", "%reserved_smem_offset_begin", "%reserved_smem_offset_end"),
        *("%reserved_smem_offset_cap", "%reserved_smem_offset_0", "%reserved_smem_offset_1", "%current_graph_exec"),
        *(f"%pm{n}{half}" for n in range(8) for half in ("", "_64")),
        *(f"%envreg{n}" for n in range(32)),
    ),
}

REFUSED: dict[str, tuple[str, ...]] = {
    "directives of modules": (
        *('.language "c";', ".frob 1", ".section .text { }", ".address_size 32", '.pragma "used_bytes_mask 0xF";'),
        *(".visible .frob .global .u32 v;", ".hidden .global .u32 v;", ".maxntid 1"),
    ),
    "directives of functions": (
        *(".frob", ".maxntid", ".maxntid 1, 1, 1, 1", ".reqntid", ".maxclusterrank 1, 2", ".noreturn 1", ".weak"),
        *('.language "c"', ".minnreg 4", '.pragma "frob";', ".reqnctapercluster"),
    ),
    "statements": (
        *(".frob 1;", ".maxnreg 32;", "t: .frob L;", "t: .callprototype _ .frob;", '.pragma "frob";', ".sreg .b32 s;"),
        *(".tex .u32 s;", ".shared::cta .u32 s;", ".shared::cluster .u32 s;", ".section .debug_info { }"),
    ),
    "attributes": (".frob", ".managed, .frob", ".unified", ".unified(1)", ".managed(1)", "managed", ""),
    "types": (
        *(".frob", ".b4", ".u128", ".s128", ".f8", ".f128", ".e2m1x2", ".e4m3", ".ue8m0", ".v3 .u32", ".v16 .u32"),
        *(".v2 .v2 .u32", ".u32 .u32", ".ptr .u32", ".global .u32"),
    ),
    "state spaces": (".reg", ".sreg", ".local", ".param", ".tex", ".frob", ".shared::cta", ".shared::cluster"),
    "state spaces of functions": (".sreg", ".tex", ".param::entry", ".param::func", ".frob", ".shared::cluster"),
    "targets": ("sm_90, map_f64_to_f32", "sm_90, frob", "compute_90", "sm_90b", "sm_"),
    "pragmas": ('"used_bytes_mask 0xF"', '"frob"', '""', "nounroll", '"nounroll", "frob"'),
    "special registers": (
        *("%tid", "%tid.w", "%frob", "%clocks", "%clock32", "%pm8", "%pm0_32", "%envreg32", "%smidx", "%laneid.x"),
        *("%lanemask", "%reserved_smem_offset_2", "%reserved_smem", "%warp", "%clusterid", "%nctaid.w"),
    ),
}


def fed(kind: str, word: str) -> None:
    """Read a module with a word, and follow its kernel. Raises ``InputError`` where the word is refused."""
    top, around, entry, inside = HEADER, ".func f() { ret; } .global .u32 g; ", ".entry k()", "L: ret;"
    match kind:
        case "directives of modules":
            around = f"{word}\n{'' if '.func' in word else around}"
        case "directives of functions":
            entry = (
                f".func h() {word} {{ ret; }} .entry k()" if "abi" in word or "noreturn" in word else f"{entry} {word}"
            )
        case "statements":
            inside = f"{word}\n{inside}"
        case "attributes":
            around += f".global .attribute({word}) .u32 v;"
        case "types":
            around += f".global {word} v;"
        case "state spaces":
            around += f"{word} .u32 v;"
        case "state spaces of functions":
            inside = f"{word} .u32 v; {inside}"
        case "targets":
            top = top.replace("sm_90", word)
        case "pragmas":
            inside = f".pragma {word}; {inside}"
        case "special registers":
            program(kernel_text(f"mov.b32 %r1, {word}; cvt.u64.u32 %d1, %r1; st.u32 [%x], 1;"))
    module = read_ptx(f"{top}{around}\n{entry} {{\n{inside}\n}}", "words.ptx")
    program_of(module, module.functions["k"], KernelLaunch())


def test_the_counts_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert {*UNDERSTOOD} == {*REFUSED}
    with capsys.disabled():
        print()
        for kind, words in UNDERSTOOD.items():
            assert not {*words} & {*REFUSED[kind]} and len({*words}) == len(words)
            print(f"ptx: {len(words)} {kind} understood, {len(REFUSED[kind])} refused")


@pytest.mark.parametrize(("kind", "word"), [(kind, word) for kind, words in UNDERSTOOD.items() for word in words])
def test_what_is_understood(kind: str, word: str) -> None:
    fed(kind, word)


@pytest.mark.parametrize(("kind", "word"), [(kind, word) for kind, words in REFUSED.items() for word in words])
def test_what_is_refused_is_refused_where_it_stands(kind: str, word: str) -> None:
    with pytest.raises(InputError) as error:
        fed(kind, word)
    assert error.value.line and error.value.column, word
    named = [each for each in word.replace('"', " ").split() if each in error.value.message]
    assert named or "found" in error.value.message, error.value.message


# What directives say of a launch (11.4, 11.7, 11.8)


@pytest.mark.parametrize(
    ("directives", "block", "cluster", "message"),
    [
        (".maxntid 2", 2, 1, ""),
        (".maxntid 2", 4, 1, "expected a block of at most 2 threads, by .maxntid or __launch_bounds__, found 4"),
        (".maxntid 2, 2", 4, 1, ""),
        (".maxntid 0x2, 1, 1", 3, 1, "expected a block of at most 2 threads"),
        (".reqntid 2", 2, 1, ""),
        (".reqntid 2", 1, 1, "expected a block of 2x1x1 threads, by .reqntid, found 1x1x1"),
        (".reqntid 1, 2", 2, 1, "expected a block of 1x2x1 threads, by .reqntid, found 2x1x1"),
        (".reqnctapercluster 2", 1, 2, ""),
        (".reqnctapercluster 2", 1, 1, "expected a cluster of 2x1x1 blocks, by .reqnctapercluster, found 1x1x1"),
        (".maxclusterrank 1", 1, 1, ""),
        (".maxclusterrank 1", 1, 2, "expected a cluster of at most 1 blocks, by .maxclusterrank, found 2"),
        (".reqntid 1 .reqnctapercluster 2 .blocksareclusters", 1, 2, "its launches count clusters"),
    ],
)
def test_a_launch_that_cannot_be_is_refused(directives: str, block: int, cluster: int, message: str) -> None:
    text = kernel_text("st.u32 [%x], 1;").replace(")\n{", f") {directives}\n{{")
    module = read_ptx(text, "k.ptx")
    launch = KernelLaunch((cluster, 1, 1), (block, 1, 1), (cluster, 1, 1))
    if not message:
        program_of(module, module.kernels[0], launch)
        return
    with pytest.raises(InputError) as error:
        program_of(module, module.kernels[0], launch)
    assert message in error.value.message and error.value.line == 5


@pytest.mark.parametrize(
    ("directives", "words", "launches"),
    [
        (".maxntid 1", LaunchWords(), {"2x1"}),
        (".maxntid 2", LaunchWords(), {"2x1", "1x2, warps of 1", "1x2", "2x2"}),
        (".reqntid 3", LaunchWords(grid="1"), {"1x3"}),
        (".reqnctapercluster 2", LaunchWords(grid="2", block="1"), {"2x1, clusters of 2"}),
    ],
)
def test_the_usual_launches_are_those_that_can_be(tmp_path, directives, words, launches):
    path = tmp_path / "k.ptx"
    path.write_text(kernel_text("st.u32 [%x], 1;").replace(")\n{", f") {directives}\n{{"))
    file = read_kernels(path)
    assert {each.text for each in launches_of(file, words, file.module.kernels[0])} == launches


def test_a_kernel_of_clusters_knows_it():
    text = "mov.u32 %r1, %is_explicit_cluster; setp.eq.u32 %p1, %r1, 1; @%p1 st.u32 [%x], 1; @!%p1 trap;"
    found = program(kernel_text(text).replace(")\n{", ") .explicitcluster\n{"))
    assert not found.marks.stops


def test_without_a_size_addresses_have_32_bits_and_are_refused():
    with pytest.raises(InputError, match=r"expected \.address_size 64"):  # 11.1.3
        read_ptx(f".version 9.0\n.target sm_90\n{KERNEL}", "k.ptx")


@pytest.mark.skipif(clang() is None, reason="no clang that reads HIP")
@pytest.mark.parametrize(
    ("bounds", "block", "message"),
    [
        ("2", 2, ""),
        ("B, 1", 4, "expected a block of at most 2 threads, by .maxntid or __launch_bounds__, found 4"),
        ("2*B", 4, ""),
        ("2*B", 8, "expected a block of at most 4 threads, by .maxntid or __launch_bounds__, found 8"),
    ],
)
def test_launch_bounds_of_hip(tmp_path, bounds, block, message):
    path = tmp_path / "k.hip"
    head = "#include <hip/hip_runtime.h>\n#define B 2\n"
    path.write_text(f"{head}__global__ __launch_bounds__({bounds}) void k(int* x) {{ x[threadIdx.x] = 1; }}\n")
    module = read_kernels(path).module
    launch = KernelLaunch((1, 1, 1), (block, 1, 1))
    if not message:
        program_of(module, module.kernels[0], launch)
        return
    with pytest.raises(InputError) as error:
        program_of(module, module.kernels[0], launch)
    assert message in error.value.message
