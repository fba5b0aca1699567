"""PTX as a closed world: each instruction and word has a row or is refused, and what nothing tells decides nothing."""

from __future__ import annotations

import pytest
from ptx_text import kernel_text, program

from corpus.code.ptx.table import TABLE
from corpus.code.table import Effect, forms_in
from corpus.errors import InputError
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import CheckAnswer, check

FOUND, SAFE, UNKNOWN = CheckAnswer.FOUND, CheckAnswer.SAFE, CheckAnswer.UNKNOWN


def answers(body, expectation="", block=2, around="", **arguments):
    (model,) = resolve_consistency_models(["ptx"])
    return check(
        program(kernel_text(body, around=around), block=block, **arguments), model, expectation, 2, "fair"
    ).answers


def test_an_instruction_is_understood_or_refused_and_its_rows_have_one_form():
    for name, rows in TABLE.items():
        refused = [row.effect is Effect.REFUSED for row in rows]
        assert refused == [True] or not any(refused), name
        assert all(len(forms_in(row.operands)) == len(forms_in(row.words)) == 1 for row in rows), name


OFFSET = "ld.u32 %r1, [%y]; cvt.u64.u32 %d1, %r1; add.s64 %d1, %x, %d1; st.u32 [%d1], 1;"

PRIORITY = "applypriority.global.L2::evict_normal [%x], 128;"

MINE = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra T0; bra T1;\n"
"""The beginning of a kernel whose two threads do what is behind T0 and T1."""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        # discard is a weak write of a value that nothing tells (9.7.9.16)
        ("T0: discard.global.L2 [%x], 128; ret; T1: st.u32 [%x+4], 1; ret;", {"race": FOUND}),
        ("T0: discard.global.L2 [%x], 128; ret; T1: st.u32 [%x+128], 1; ret;", {"race": SAFE}),
        # an address that is no multiple of the size is undefined (6.4.1), of a vector the whole one's
        ("T0: st.u32 [%x+2], 1; T1: ret;", {"bounds": FOUND}),
        ("T0: st.v2.u32 [%x+4], {1, 2}; T1: ret;", {"bounds": FOUND}),
        ("T0: st.v2.u32 [%x+8], {1, 2}; T1: ret;", {"bounds": SAFE}),
        ("T0: ld.v4.u32 {%r1, _, _, _}, [%x+8]; T1: ret;", {"bounds": FOUND}),
        ("T0: atom.add.u64 %d1, [%x+4], 1; T1: ret;", {"bounds": FOUND}),
        (f"T0: {OFFSET} T1: ret;", {"bounds": SAFE}),
        # prefetches and priorities are no accesses (9.7.9.15 and 9.7.9.17)
        (f"T0: prefetch.global.L2 [%x]; {PRIORITY} ret; T1: st.u32 [%x], 1; ret;", {"race": SAFE}),
    ],
)
def test_what_instructions_do_to_memory(body, found):
    said = answers(MINE + body)
    assert {name: said[name] for name in found} == found


def test_an_offset_that_memory_gives_may_be_no_multiple_of_the_size():
    assert answers(OFFSET, block=1, y=[4], x=[0, 0])["bounds"] is SAFE
    assert answers(OFFSET, block=1, y=[2], x=[0, 0])["bounds"] is FOUND


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("frob.u32 %r1, %r1;", "PTX has no such instruction"),
        ("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f1, %f2}];", "what tex does is not followed"),
        ("addc.u32 %r1, 1, 1;", "what addc does is not followed"),
        ("vadd.u32.u32.u32.sat %r1, %r1, %r1;", "what vadd does is not followed"),
        ("ld.global.foo.u32 %r1, [%x];", "ld has no .foo"),
        ("ld.global.u32 %r1, [%x], %d1;", "expected 2 of them, found 3"),
        ("ld.global.L2::cache_hint.u32 %r1, [%x];", "expected 3 of them, found 2"),
        ("ld.weak.gpu.u32 %r1, [%x];", "not those of one form"),
        ("ld.global.global.u32 %r1, [%x];", ".global stands twice"),
        ("ld.global.v2.u32 {%r1, %r2, %r3}, [%x];", "operand 1 is of another kind"),
        ("ld.global.u64 %r1, [%x];", "%r1 has 32 bits"),
        ("ld.global.u32 %zz, [%x];", "%zz is not declared"),
        ("ld.u32 %r1, [%r2];", "%r2 has 32 bits"),
        ("add.s16 %d1, %x, 4;", "%d1 has 64 bits"),
        ("add.u32 %r1, -%r1, 1;", "operand 2 is of another kind"),
        ("add.u32 %r1, 1;", "expected 3 of them, found 2"),
        ("add.f32 %f1, 1.5, %f1;", "operand 2 is a number of another format"),
        ("add.f32.f16 %f1, %h1, %f1;", "not those of one form"),
        ("fma.rn.oob.f16 %h1, %h1, %h1, %h1;", "fma has no .oob"),
        ("setp.lt.b32 %p1, %r1, %r2;", "not those of one form"),
        ("atom.add.u32 %r1, [%x], 1, 2;", "expected 3 of them, found 4"),
        ("atom.global.add.v2.f32 {%f1, %f2}, [%x], {%f1, %f2};", "atom has no .v2"),
        ("st.bulk.shared::cta [s], 16, 0;", "st has no .bulk"),
        ("st.shared.u32 [%x], 1;", "in global memory, not in .shared"),
        ("ld.global.u32 %r1, [s];", "in shared memory, not in .global"),
        ("@%p1 bra.sat L; L:", "bra has no .sat"),
        ("discard.global.L2 [%x], 64;", "anything but 128 bytes"),
        ("st.u32 [%x], 1; ld.global.nc.u32 %r1, [%x]; st.u32 [%y], %r1;", "memory that the kernel may write"),
        ("st.u32 [%x], 1; ldu.global.u32 %r1, [%x]; st.u32 [%y], %r1;", "memory that the kernel may write"),
        ("ld.u64 %d1, [x];", "in param memory"),
        ("ld.global.u32 %clock, [%x];", "%clock is not a register to write"),
        ("ld.global.u32 %r1, [n];", "what n holds is not in the module"),
        ("call f, (1, 2);", "f has 1 parameters, and 2 are given"),
    ],
)
def test_what_has_no_row_is_refused_by_name_and_place(body, message):
    around = ".shared .align 16 .b8 s[16]; .extern .global .u32 n; .func f(.reg .b32 a) { ret; }\n"
    with pytest.raises(InputError) as error:
        program(kernel_text(body, around=around))
    assert message in error.value.message and error.value.line


LEAST = "ld.u32 %r2, [%x]; min.u32 %r2, %r2, 1; st.u32 [%x], %r2;"
DECIDES = "ld.u32 %r2, [%x]; setp.eq.u32 %p1, %r2, 0; @%p1 st.u32 [%y], 1;"
PLACES = "ld.u32 %r2, [%x]; mul.wide.u32 %d1, %r2, 4; add.s64 %d1, %y, %d1; st.u32 [%d1], 1;"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (f"mov.u32 %r1, %smid; st.u32 [%x], %r1; {DECIDES}", "the value of %smid, whose value nothing tells, decides"),
        (f"mov.u32 %r1, %clock; st.u32 [%x], %r1; {PLACES}", "decides whether or where memory is accessed"),
        ("mov.u32 %r1, %clock; atom.cas.b32 %r2, [%x], %r1, 1;", "decides whether or where memory is accessed"),
        (
            "mov.u32 %r1, %clock; atom.add.u32 %r2, [%x], %r1; atom.cas.b32 %r2, [%x], 0, 1;",
            "decides whether or where memory is accessed",
        ),
        (f"discard.global.L2 [%x], 128; {DECIDES}", "memory that was discarded"),
    ],
)
def test_what_nothing_tells_decides_nothing(body, what):
    with pytest.raises(InputError, match=what):
        program(kernel_text(body))


@pytest.mark.parametrize(
    ("body", "expectation", "answer"),
    [
        ("mov.u32 %r1, %clock; st.u32 [%x], %r1;", "x == 5", UNKNOWN),
        ("mov.u32 %r1, %clock; st.u32 [%x], %r1;", "x != 5", UNKNOWN),
        ("mov.u32 %r1, %clock; st.u32 [%x], %r1; st.u32 [%y], 1;", "y == 1", SAFE),
        ("mov.u32 %r1, %clock; st.u32 [%x], %r1; st.u32 [%x], 3;", "x == 3", SAFE),
        (f"mov.u32 %r1, %clock; st.u32 [%x], %r1; {LEAST}", "x == 1", UNKNOWN),
    ],
)
def test_an_expectation_of_what_nothing_tells_has_no_answer(body, expectation, answer):
    assert answers(body, expectation, block=1)["expectation"] is answer


def test_no_part_of_a_structure_can_be_given():
    text = kernel_text("setp.eq.u32 %p1, %n, 0; @%p1 st.u32 [%x], 1;", "x n:u32")
    assert ".param .u32 n" in text
    with pytest.raises(InputError, match="give it with --arg n="):
        program(text)
    with pytest.raises(InputError, match="byte 0 of the argument n, a structure, of which no part can be given"):
        program(text.replace(".param .u32 n", ".param .align 4 .b8 n[8]"))


def test_a_function_that_does_not_return_returns_not():
    with pytest.raises(InputError, match=r"f is \.noreturn, and returns, which is undefined"):
        program(kernel_text("call f;", around=".func f() .noreturn { ret; }"))
    assert answers("call f; st.u32 [%x], 1;", around=".func f() .noreturn { exit; }")["race"] is SAFE


def test_what_a_texture_holds_is_not_understood():
    with pytest.raises(InputError, match=r"t is a \.texref, of which nothing is understood"):
        program(kernel_text("ld.param.u64 %d1, [t];", "x t:texref").replace("ld.param.texref %t", "ld.param.u64 %t"))
