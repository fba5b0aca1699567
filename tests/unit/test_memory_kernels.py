"""What the languages of memory tests refuse, and why; what a scope may be written as; where addresses are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from backends.opencl.memory import OpenClKernel
from backends.registry import BACKENDS
from backends.shared.addresses import address_targets
from backends.shared.layout import Parameters, place
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"


def written(test: LitmusTest, backend: str) -> str:
    return next(iter(BACKENDS[backend].memory_files("t", place(test, Parameters(instances=64))).values()))


def ptx(left: str, right: str = "ld.weak r1, x", places: str = "cta 0,gpu 0 | cta 1,gpu 0", state: str = "x=0;") -> str:
    first, second = places.split("|")
    rows = [f" {left or ' '} | {right} ;"]
    return (
        f"PTX t\n{{ {state} }}\n P0@{first.strip()} | P1@{second.strip()} ;\n" + "\n".join(rows) + "\nexists (x == 0)\n"
    )


def opencl(code: str, parameters: str = "global int* x, global atomic_int* y", where: str = "wg 0, dev 0") -> str:
    return f"OPENCL t\n{{ x = 0; y = 0; }}\nP0@{where} ({parameters}) {{\n{code}\n}}\nexists (y = 0)\n"


def threads(text: str, backend: str) -> list[str]:
    """The code of each thread of a test, in order; of all that a thread does between barriers."""
    if backend == "cpp":
        return re.findall(r"^static void thread\d+\(.*?^}$", text, re.MULTILINE | re.DOTALL)
    parts: dict[int, str] = {}
    for number, code in re.findall(
        r"^ +case \d+u: \{ // P(\d+)$(.*?)^            break;$", text, re.MULTILINE | re.DOTALL
    ):
        parts[int(number)] = parts.get(int(number), "") + code
    return [parts[number] for number in sorted(parts)]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.litmus")), ids=lambda path: path.stem)
@pytest.mark.parametrize("backend", ["opencl", "cpp"])
def test_every_instruction_of_an_example_is_written_once(path: Path, backend: str) -> None:
    """Or the test is refused by instruction; how many are is held below."""
    test = read_litmus(path)
    try:
        text = written(test, backend)
    except InputError:
        return
    layout = place(test, Parameters(instances=64))
    code = threads(text, backend)
    assert len(code) == len(test.threads)
    for number, (thread, mine) in enumerate(zip(test.threads, code, strict=True)):
        accesses = [ins for ins in thread.instructions if isinstance(ins, Load | Store | Rmw)]
        assert len(re.findall(r"memory\[", mine)) == len(accesses)
        assert len(re.findall(r"(?:work_item|thread)_fence\(", mine)) == sum(
            isinstance(ins, Fence) for ins in thread.instructions
        )
        kept = [term for term in layout.terms if isinstance(term, FinalRegister) and term.thread == number]
        assert len(re.findall(r"results\[RESULT\(instance, \d+u\)\] = ", mine)) == len(kept)
    phases = max(sum(isinstance(ins, Barrier) for ins in thread.instructions) for thread in test.threads)
    assert bool(phases) == bool(re.search(r"\{ barrier\(", text))
    for number, location in enumerate(layout.globals):
        assert f"memory[ADDRESS(index, {number}u)] = {location.initial}u; // {location.name}\n" in text
    assert len(re.findall(r"^ +const (?:std::)?uint(?:32_t)? value\d+ = ", text, re.MULTILINE)) == len(layout.terms)


@pytest.mark.parametrize(("backend", "most"), [("opencl", 69), ("cpp", 48)])
def test_how_many_examples_can_be_said(backend: str, most: int) -> None:
    said, refused = 0, []
    for path in sorted(EXAMPLES.glob("*.litmus")):
        try:
            written(read_litmus(path), backend)
            said += 1
        except InputError as error:
            refused.append(error.message)
    reasons = re.compile("cache operators|volatile|barriers|no scope|has none|no word|no work-groups|shared memory")
    assert said >= most
    assert [message for message in refused if not reasons.search(message)] == []


@pytest.mark.parametrize("backend", ["opencl", "cpp"])
def test_the_same_bytes_twice(backend: str) -> None:
    test = read_litmus(EXAMPLES / "iriw-acquire.litmus")
    assert written(test, backend) == written(test, backend)


@pytest.mark.parametrize(
    ("text", "backend", "message"),
    [
        (ptx("st.relaxed.cta x, 1"), "cpp", "P0: st.relaxed.cta x, 1: C++ has no scope cta, nor another of the same"),
        (ptx("atom.relaxed.gpu.mul r0, x, 2"), "opencl", "P0: atom.relaxed.gpu.mul r0, x, 2: OpenCL has no atomic mul"),
        (opencl("atomic_fetch_min_explicit(y, 1, memory_order_relaxed);"), "cpp", "C++ has no atomic min"),
        (ptx("fence.proxy.alias"), "opencl", "OpenCL has no such fence"),
        (ptx("st.weak x, 1", places="cta 0,gpu 0 | cta 0,gpu 1"), "opencl", "P0 and P1 are on different GPUs"),
        (ptx("st.weak x, 1", "ld.weak r1, t", state="x=0; t @ texture aliases x;"), "opencl", "t is an alias of x"),
        (ptx("st.weak x, 1", state="x=0; y=&x;"), "opencl", "y holds an address at the start"),
        (ptx("bar.cta.sync 0", places="cta 0,gpu 0 | cta 0,gpu 0"), "opencl", "do not come to the same barriers"),
        (opencl("if (*x == 1) { barrier(CLK_LOCAL_MEM_FENCE); }"), "opencl", "a barrier can only be where"),
        (opencl("sub_group_barrier(CLK_LOCAL_MEM_FENCE);"), "opencl", "has only barriers of a work-group"),
        (opencl("barrier(CLK_LOCAL_MEM_FENCE);"), "cpp", "C++ has no work-groups whose threads could meet"),
        (opencl("*x = 1;", "local int* x, global atomic_int* y"), "cpp", "x is in shared memory, and C++ has none"),
    ],
)
def test_refused(text: str, backend: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        written(parse_litmus(text), backend)
    assert message in error.value.message


def test_a_scope_is_the_threads_that_it_includes() -> None:
    apart, together = "cta 0,gpu 0 | cta 1,gpu 0", "cta 0,gpu 0 | cta 0,gpu 0"
    assert "memory_scope_device" in written(parse_litmus(ptx("st.relaxed.sys x, 1", places=apart)), "opencl")
    assert "memory_scope_work_group" in written(parse_litmus(ptx("st.relaxed.cta x, 1", places=apart)), "opencl")
    assert ".store(1u" in written(parse_litmus(ptx("st.relaxed.gpu x, 1", places=apart)), "cpp")
    assert ".store(1u" in written(parse_litmus(ptx("st.relaxed.cta x, 1", places=together)), "cpp")


def test_a_work_group_has_a_limit() -> None:
    test = parse_litmus(ptx("st.weak x, 1", places="cta 0,gpu 0 | cta 0,gpu 0"))
    with pytest.raises(InputError, match="a work-group of 2048 threads: expected at most 1024"):
        OpenClKernel(place(test, Parameters(slots=1024)))
    BACKENDS["cpp"].memory_files("t", place(test, Parameters(slots=1024)))


GPU_PTX = """GPU_PTX t
{ 0:.reg .s32 r0; 0:.reg .s32 r1; 0:.reg .s32 r4; 0:.reg .b64 r2 = x; 0:.reg .b64 r3; 0:.reg .pred p1; }
 T0                       ;
 ld.s32 r0,[r2]           ;
 and.b32 r1,r0,0x80000000 ;
 cvt.u64.u32 r3,r1        ;
 add.u64 r3,r2,r3         ;
 ld.s32 r4,[r3]           ;
ScopeTree(grid(cta(warp T0)))
x: shared
exists (0:r0=0)
"""


def test_addresses_flow_through_arithmetic() -> None:
    (registers,) = address_targets(parse_litmus(GPU_PTX))
    assert {name for name, targets in registers.items() if targets} == {"r2", "r3"}
    assert registers["r3"] == {"x"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("and.b32 r1,r0,", "and.b32 r1,r2,"), "it computes with an address"),
        (("exists (0:r0=0)", "exists (0:r3=0)"), "P0:r3 holds an address, and outcomes are numbers here"),
        (("ld.s32 r4,[r3]          ", "st.b64 [r2],r3"), "it puts an address into memory"),
        (
            ("ld.s32 r4,[r3]          ", "setp.eq.s32 p1,r2,0;\n @p1 ld.s32 r4,[r2]"),
            "it compares an address with a number",
        ),
        (("ld.s32 r4,[r3]", "ld.s32 r4,[r0]"), "the address is a number"),
    ],
)
def test_addresses_that_cannot_be_known(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        written(parse_litmus(GPU_PTX.replace(*change)), "opencl")


def test_names_of_registers_are_made_safe() -> None:
    test = read_litmus(EXAMPLES / "c-sb-sc.litmus")
    odd = replace(test.threads[0], registers=(("a__b", 1), ("r.1", 2), ("x0", 3)))
    kernel = OpenClKernel(place(replace(test, threads=(odd, *test.threads[1:]))))
    names = [kernel.register(0, name) for name in ("a__b", "r.1", "x0")]
    assert names == ["p0_x1", "p0_x2", "p0_x0"]


def test_the_order_of_an_exchange_that_fails() -> None:
    exchange = "atomic_compare_exchange_strong_explicit(y, &(int){0}, 1, memory_order_acq_rel, memory_order_relaxed);"
    test = parse_litmus(opencl(exchange))
    assert "memory_order_acq_rel, memory_order_relaxed, memory_scope_device" in written(test, "opencl")
    assert "memory_order_acq_rel, std::memory_order_relaxed" in written(test, "cpp")
    with pytest.raises(InputError, match="PTX has one order for an exchange, whether or not it fails"):
        written(test, "cuda")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_language_has_all_words(backend: str) -> None:
    """C++ has no work-groups, and so no words for them."""
    classes = BACKENDS[backend].memory.__mro__
    words = {
        name for each in classes for name, kind in vars(each).get("__annotations__", {}).items() if "Class" in kind
    }
    missing = {name for name in words if not hasattr(classes[0], name)}
    assert missing == ({"group", "item", "meet"} if backend == "cpp" else set())
