"""Compiled kernels of tests read back, from PTX that is written here: names, what is the harness's, what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.shared.layout import single
from backends.shared.read_kernels import read_ptx_test
from backends.shared.readback import CompiledTest, as_in_test, observed
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.describe import describe
from corpus.litmus.instructions import Assign, Load
from corpus.litmus.locations import Loc
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import FinalRegister
from oracle.executions.flow import asked_terms

TEXT = """GPU_PTX MP
{ x = 5; y; }
P0                           | P1                            ;
st.weak.u32 [x], 1           | ld.acquire.gpu.u32 r1, [y]    ;
st.release.gpu.u32 [y], 1    | ld.weak.u32 r2, [x]           ;
ScopeTree(grid (cta (warp P0)) (cta (warp P1)))
exists (1:r1 = 1 /\\ 1:r2 = 5)
"""

KERNEL = """
.version 9.0
.target sm_90
.address_size 64
.const .align 4 .b8 zero[16];
.visible .entry _Z3runPjS_j(.param .u64 a, .param .u64 b, .param .u32 c) {{
    .reg .pred %p<6>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u32 %r1, [c];
    ld.const.u32 %rd4, [zero+4];
    add.s64 %rd1, %rd1, %rd4;
    setp.eq.s32 %p1, %r1, -1;
    @%p1 bra DONE;
    mov.u32 %r2, %ctaid.x;
    setp.eq.s32 %p2, %r2, 1;
    @%p2 bra SECOND;
    {first}
    bra DONE;
SECOND:
    {second}
DONE:
    ret;
}}
"""
FIRST = "st.global.u32 [%rd1], 1; st.release.gpu.global.u32 [%rd1+4], 1;"
SECOND = """ld.acquire.gpu.global.u32 %r3, [%rd1+4]; ld.global.u32 %r4, [%rd1];
    st.global.u32 [%rd2], %r3; st.global.u32 [%rd2+4], %r4;"""


def mp():
    return parse_litmus(TEXT)


def read(first=FIRST, second=SECOND, test=None):
    test = test or mp()
    code = KERNEL.format(first=first, second=second).encode()
    return read_ptx_test(CompiledTest(test, code, path="mp", layout=single(test)))


def code_of(test):
    return [[describe(ins) for ins in thread.instructions] for thread in test.threads]


def test_a_kernel_has_the_names_of_its_test():
    found = read()
    first, second = code_of(found)
    assert first == ["st x, 1", "st.release.gpu y, 1"]
    assert [line.split(", ")[1] for line in second[:2]] == ["y", "x"]
    assert [line.partition(",")[0] for line in second[2:]] == ["mov r1", "mov r2"]
    assert {each.name: each.initial for each in found.locations} == {"x": 5, "y": 0}
    assert set(asked_terms(found)) == {FinalRegister(1, "r1"), FinalRegister(1, "r2")}


@pytest.mark.parametrize(("space", "holds"), [("global", True), ("local", False), ("shared", False), ("const", False)])
def test_the_space_of_an_address_is_known(space, holds):
    """What debug code of nvcc asks of each address before it accesses it, with a trap where the answer is another."""
    asked = f"isspacep.{space} %p3, %rd1; @{'!' * holds}%p3 trap;"
    assert code_of(read(first=asked + FIRST)) == code_of(read())


def test_a_thread_that_does_nothing_is_still_one():
    """A compiler that drops the stores of P0 leaves it empty, at its place."""
    first, second = read(first="").threads
    assert not first.instructions and second.instructions
    assert not first.place.shares(second.place, Scope.CTA)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("st.global.u32 [%rd1+64], 1;", SECOND, "is memory that the test has not"),
        ("st.global.u64 [%rd1], 1;", SECOND, "memory"),
        (
            FIRST,
            "ld.global.u32 %r3, [%rd2]; st.global.u32 [%rd2+4], %r3;",
            "uses the memory in which the harness keeps",
        ),
        ("st.global.u32 [%rd2], 1;", SECOND, "P0 uses the memory in which the harness keeps P1:r1"),
        ("mov.u32 %r5, %clock; st.global.u32 [%rd1], %r5;", SECOND, "not taken for granted"),
        ("trap;", SECOND, "may stop"),
        ("frobnicate.u32 %r5, %r5;", SECOND, "frobnicate"),
    ],
)
def test_what_is_not_understood_is_named(first, second, message):
    with pytest.raises(InputError, match=message):
        read(first, second)


def test_what_is_observed_of_a_test():
    """Besides what a test asks for, the final values of the locations that it writes."""
    assert observed(mp()).condition.observed == (Loc("x"), Loc("y"))


def test_registers_of_the_code_keep_apart_from_those_of_the_test():
    """Code whose own register is called r2 and is stored as r1."""
    second = SECOND.replace("%r3", "%q").replace("%r4", "%r3").replace("%q", "%r4")
    text = KERNEL.replace(".reg .b32 %r<9>", ".reg .b32 %r<9>, r1, r2").replace("%r4", "r1").replace("%r3", "r2")
    code = text.format(first=FIRST, second=second.replace("%r4", "r2").replace("%r3", "r1")).encode()
    found = read_ptx_test(CompiledTest(mp(), code, path="mp", layout=single(mp())))
    assert [ins.target for ins in found.threads[1].instructions if isinstance(ins, Assign)] == ["r1", "r2"]
    loaded = [ins.target for ins in found.threads[1].instructions if isinstance(ins, Load)]
    assert not {"r1", "r2"} & {*loaded}


def test_other_memory_belongs_to_one_thread():
    test = mp()
    with pytest.raises(InputError, match="threads share x, which is no location of the test"):
        as_in_test(test, CompiledTest(test, b"", {"y": Loc("y")}))
    more = replace(test, threads=(*test.threads, test.threads[0]))
    with pytest.raises(InputError, match="expected 2 threads, found 3"):
        as_in_test(more, CompiledTest(test, b""))
