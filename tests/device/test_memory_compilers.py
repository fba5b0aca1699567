"""Generated memory tests are compiled by real compilers, and optcheck looks at what nvcc makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from launching import EVERYTHING

from backends.cuda.compiler import machine_code
from backends.cuda.optcheck import optcheck
from backends.registry import BACKENDS
from backends.shared.files import write_files
from backends.shared.layout import Parameters, chosen, place
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
        files = {name: changed}
    write_files(folder, files)
    compilation = BACKENDS[backend].compiler.compile(folder / next(iter(files)), folder / "program")
    assert compilation.ok, compilation.output
    if backend != "cuda":
        return {}
    codes = machine_code(folder / "program")
    assert list(codes) == ["sm_75", "sm_90"]
    return {chip: [str(each) for each in optcheck(test, sass)] for chip, sass in codes.items()}


@pytest.mark.parametrize("file", examples_for("cuda"))
def test_cuda_is_the_test_after_compilation(file: Path, need: Callable[[str], None], tmp_path: Path) -> None:
    need("cuda")
    complaints = check(file, "cuda", tmp_path)
    assert {chip for chip, found in complaints.items() if found} == (set(complaints) if file.stem in REMOVED else set())


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


@pytest.mark.parametrize("backend", ["opencl", "cpp"])
@pytest.mark.parametrize("file", examples_for("opencl"))
def test_opencl_and_cpp_compile(backend: str, file: Path, need: Callable[[str], None], tmp_path: Path) -> None:
    need(backend)
    check(file, backend, tmp_path)


def example(name: str) -> Path:
    return next(file for file in EXAMPLES if file.stem == name)


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


def test_optcheck_finds_an_order_that_the_compiler_changed(need: Callable[[str], None], tmp_path: Path) -> None:
    """Without what keeps weak accesses apart, ptxas loads from global memory before it stores to shared memory."""
    need("cuda")
    for found in check(example("sb-shared-global"), "cuda", tmp_path, (r"keep_order\(\); (?=asm)", "")).values():
        assert "P1: in the machine code, the order is ld.cg r2, [r3]; st.cg [r1], r0" in found
