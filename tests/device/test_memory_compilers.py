"""Generated memory tests are compiled by real compilers, and optcheck looks at what nvcc makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from launching import EVERYTHING

from backends.cuda.compiler import CudaCompiler, cuda_tool, machine_code
from backends.cuda.optcheck import optcheck
from backends.cuda.toolkits import CudaTarget
from backends.registry import BACKENDS
from backends.shared.files import write_files
from backends.shared.layout import Parameters, chosen, place
from backends.shared.toolchain import run
from corpus.code.ptx.reader import read_ptx
from corpus.dialects.registry import read_litmus
from corpus.errors import InputError

pytestmark = pytest.mark.device

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "memory").glob("*.litmus"))
OF_VULKAN = {"mp", "mp-control-barrier-plain"}
VULKAN = sorted((Path(__file__).parents[2] / "examples" / "memory" / "vulkan").glob("*.litmus"))
FEW = {
    "c-mp-rel-acq",
    "cas-sl",
    "cl-mp-wg-scope-same-wg",
    "coRR-L2-L1+membar.cta",
    "mp+membar.gl+addr",
    "mp-acq-rel-one-cta",
    "mp-bar-arrive",
    "mp-bar-sync",
    "mp-rmw-between",
    "sb-shared-global",
}
NOT_IN_CUDA = ("cluster-barrier", "tcgen05", "tensor", "wgmma")
"""How the names of tests begin that have what no CUDA program here has."""
OF_PTX_ASYNC = sorted((Path(__file__).parents[2] / "examples" / "memory" / "ptx-async").glob("*.litmus"))
ASYNCHRONOUS = [file for file in OF_PTX_ASYNC if not file.stem.startswith(NOT_IN_CUDA)]
FEW_ASYNCHRONOUS = {
    "bulk-chain",
    "cp-async-mbarrier-inc",
    "one-way",
    "red-async",
}
NOT_IN_PTX = {
    "mbarrier-init-fence": "P1: mbarrier.test_wait.parity.acquire.cluster r1, m, 1: m is in shared memory",
    "mbarrier-init-no-fence": "P1: mbarrier.test_wait.parity.acquire.cluster r1, m, 1: m is in shared memory",
    "mbarrier-order-remote": "P1: mbarrier.arrive.relaxed.cta r0, m, 1: PTX has arrivals at an mbarrier of another CTA",
}
"""Tests with what PTX has for mbarriers of the own CTA only (PTX ISA 9.1, 9.7.13.15.8), and why they are refused."""
FENCES_OF_ONE_SIDE = {"c-mp-fences", "cl-mp-local-flag-fences"}
"""Tests with fences that are acquire or release alone, which need sm_90 (PTX ISA 8.6, membar/fence)."""
REMOVED = {"mp+membar.gl+addr-xor"}
"""Tests with a dependency that ptxas computes away (Alglave et al. 2015, Fig. 13a)."""


def examples_for(backend: str) -> list[object]:
    """The examples; for CUDA, whose compiler is slow, only few of them in the quick tests."""
    slow = [pytest.mark.slow] if backend in ("cuda", "opencl") else []
    return [pytest.param(file, id=file.stem, marks=[] if file.stem in FEW else slow) for file in EXAMPLES]


def check(file: Path, backend: str, folder: Path, replaced: tuple[str, str] | None = None) -> dict[str, list[str]]:
    """Compile an example; the complaints of optcheck for each architecture, if it is CUDA."""
    test = read_litmus(file)
    try:
        files = BACKENDS[backend].memory_files(file.stem, place(test, chosen(Parameters(), EVERYTHING)))
    except InputError:
        return {}
    if replaced:
        name, text = next(iter(files.items()))
        changed = re.sub(*replaced, text)
        assert changed != text
        files = {name: changed.replace(" and sm_100a", "")}
    write_files(folder, files)
    compilation = BACKENDS[backend].compiler.compile(folder / next(iter(files)), folder / "program")
    assert compilation.ok, compilation.output
    if backend != "cuda":
        return {}
    codes = machine_code(folder / "program")
    if file not in ASYNCHRONOUS:
        assert list(codes) == ["sm_75", "sm_90"][file.stem in FENCES_OF_ONE_SIDE :]
    return {chip: [str(each) for each in optcheck(test, sass)] for chip, sass in codes.items()}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("file", examples_for("cuda"))
def test_cuda_is_the_test_after_compilation(file: Path, need: Callable[[str], None], tmp_path: Path) -> None:
    need("cuda")
    complaints = check(file, "cuda", tmp_path)
    assert {chip for chip, found in complaints.items() if found} == (set(complaints) if file.stem in REMOVED else set())


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.stem, marks=[] if file.stem in FEW_ASYNCHRONOUS else pytest.mark.slow)
        for file in ASYNCHRONOUS
        if file.stem not in NOT_IN_PTX
    ],
)
def test_asynchronous_operations_are_in_the_machine_code(
    file: Path, need: Callable[[str], None], tmp_path: Path
) -> None:
    need("cuda")
    assert check(file, "cuda", tmp_path) == {"sm_100a": [], "sm_90a": []}


@pytest.mark.parametrize("name", NOT_IN_PTX)
def test_what_ptx_has_for_its_own_cta_only_is_refused(name: str) -> None:
    (file,) = (file for file in ASYNCHRONOUS if file.stem == name)
    with pytest.raises(InputError) as refused:
        BACKENDS["cuda"].memory_files(name, place(read_litmus(file)))
    assert str(refused.value).startswith(NOT_IN_PTX[name])


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "mutation", "complaint"),
    [
        (
            "bulk-load-own-wait",
            (r'fence\.proxy\.async;(?=" : : : "memory"\);\n    keep)', ""),
            "expected fence all gpu, view S",
        ),
        ("bulk-store-reuse", (r"wait_group\.read 0", "wait_group.read 1"), "the machine code has .*wait 1"),
        ("bulk-store-reuse", (r"cp\.async\.bulk\.commit_group;\"", '"'), "expected commit UTMACMDFLUSH"),
        (
            "mbarrier",
            (r"mbarrier\.arrive\.release\.cta", "mbarrier.arrive_drop.release.cta"),
            "OPTOUT.A1T0 in the machine",
        ),
        (
            "bulk-load-fence-shared",
            (r"keep_order\(zero\[\d+u\]\);", "keep_order(zero[6u]);"),
            "P0: after mbarrier.init m, 1: the machine code has fence all cta, view S, expected nothing",
        ),
    ],
)
def test_optcheck_finds_what_is_otherwise_in_asynchronous_code(
    name: str, mutation: tuple[str, str], complaint: str, need: Callable[[str], None], tmp_path: Path
) -> None:
    need("cuda")
    (file,) = (file for file in ASYNCHRONOUS if file.stem == name)
    found = [each for chip in check(file, "cuda", tmp_path, mutation).values() for each in chip]
    assert re.search(complaint, "\n".join(found)), found


@pytest.mark.parametrize("name", ["bulk-chain", "cp-async-mbarrier-inc", "red-async"])
def test_the_reader_of_kernels_finds_the_same_instructions(
    name: str, need: Callable[[str], None], tmp_path: Path
) -> None:
    """What nvcc makes of a program in PTX, read as ``synth check`` reads it, has the inline PTX in its order."""
    need("cuda")
    (file,) = (file for file in ASYNCHRONOUS if file.stem == name)
    files = BACKENDS["cuda"].memory_files(name, place(read_litmus(file)))
    write_files(tmp_path, files)
    done = run(
        tmp_path / f"{name}.cu",
        [cuda_tool("nvcc") or "", "-arch=sm_90a", "-ptx", "-o", "read.ptx", f"{name}.cu"],
        tmp_path,
    )
    assert done.ok, done.output
    module = read_ptx((tmp_path / "read.ptx").read_text(), "read.ptx")
    functions = re.findall(r"(thread_\d_\d)\(Registers.*?\n}", files[f"{name}.cu"], re.DOTALL)
    assert functions
    for function in functions:
        (code,) = re.findall(rf"{function}\(Registers.*?\n}}", files[f"{name}.cu"], re.DOTALL)
        asked = [text.split()[0] for text in re.findall(r'asm volatile\("(?:{[^;]*; )?([^";]*)', code)]
        read = module.functions.get(function)  # nvcc leaves out what does nothing
        found = [".".join((each.name, *each.words)) for each in (read and read.body) or ()]
        assert [each for each in found if each in asked] == asked


@pytest.mark.parametrize(
    "file", [file for file in OF_PTX_ASYNC if file not in ASYNCHRONOUS], ids=lambda file: file.stem
)
def test_what_no_program_has_is_refused_in_a_line(file: Path) -> None:
    with pytest.raises(InputError, match=r"not in CUDA programs here|memory holds numbers here"):
        BACKENDS["cuda"].memory_files("t", place(read_litmus(file)))


def test_ampere_has_copies_but_no_async_proxy(need: Callable[[str], None], tmp_path: Path) -> None:
    need("cuda")
    ampere = CudaCompiler((80,), CudaTarget(80))
    for name, trouble in (("cp-async-mbarrier", ""), ("bulk-load", "it needs sm_90, and this is sm_80")):
        (file,) = (file for file in ASYNCHRONOUS if file.stem == name)
        write_files(tmp_path, BACKENDS["cuda"].memory_files(name, place(read_litmus(file))))
        done = ampere.compile(tmp_path / f"{name}.cu", tmp_path / "program")
        assert (done.ok, done.output) == (not trouble, trouble) or (done.ok and not trouble), done.output


@pytest.mark.parametrize("file", examples_for("glsl"))
def test_glsl_compiles(file: Path, need: Callable[[str], None], tmp_path: Path) -> None:
    need("glsl")
    check(file, "glsl", tmp_path)


@pytest.mark.parametrize(
    "file", [pytest.param(file, marks=[] if file.stem in OF_VULKAN else pytest.mark.slow) for file in VULKAN]
)
def test_vulkans_own_tests_compile(file: Path, need: Callable[[str], None], tmp_path: Path) -> None:
    need("glsl")
    check(file, "glsl", tmp_path)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("backend", ["opencl", "cpp"])
@pytest.mark.parametrize("file", examples_for("opencl"))
def test_opencl_and_cpp_compile(backend: str, file: Path, need: Callable[[str], None], tmp_path: Path) -> None:
    need(backend)
    check(file, backend, tmp_path)


def example(name: str) -> Path:
    return next(file for file in EXAMPLES if file.stem == name)


@pytest.mark.slow
def test_optcheck_finds_loads_that_the_compiler_merged(need: Callable[[str], None], tmp_path: Path) -> None:
    """Without marks, ptxas makes one load of two (Alglave et al. 2015, section 4.4)."""
    need("cuda")
    complaints = check(example("corr-weak"), "cuda", tmp_path, (r" \+ zero\[\du\]", " + zero[1u]"))
    assert all("P1" in " ".join(found) for found in complaints.values())


def test_optcheck_finds_a_store_that_the_compiler_dropped(need: Callable[[str], None], tmp_path: Path) -> None:
    """Plain C++ in place of inline PTX: the first of two stores is dead."""
    need("cuda")
    plain = r'asm volatile\("st[^"]*" : : "l"\((globals\[.*?\])\), "r"\((\w+)\) : "memory"\);'
    text = "GPU_PTX coWW\n{ x=0; y=0; }\n T0 | T1 ;\n st [x],1 | ld r1,[x] ;\n st [x],2 | ;\n"
    text += "ScopeTree(grid(cta(warp T0)) (cta(warp T1)))\nexists (x=1)\n"
    file = tmp_path / "coWW.litmus"
    file.write_text(text)
    assert check(file, "cuda", tmp_path) == {"sm_75": [], "sm_90": []}
    unmarked = (
        plain.replace(r"(globals\[.*?\])", r"globals\[(\w+) \+ zero\[\du\]\]"),
        r"*(std::uint32_t*)(globals.base + \1) = \2;",
    )
    for found in check(file, "cuda", tmp_path, unmarked).values():
        assert "P0: st x, 1: is no longer in the machine code" in found


@pytest.mark.slow
def test_optcheck_finds_an_order_that_the_compiler_changed(need: Callable[[str], None], tmp_path: Path) -> None:
    """Without what keeps weak accesses apart, ptxas loads from global memory before it stores to shared memory."""
    need("cuda")
    for found in check(
        example("sb-shared-global"), "cuda", tmp_path, (r"keep_order\(zero\[\d+u\]\); (?=asm)", "")
    ).values():
        assert "P1: in the machine code, the order is ld.cg r2, [r3]; st.cg [r1], r0" in found
