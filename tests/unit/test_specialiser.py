"""What is left of hand-written PTX for a launch, instruction by instruction, and what is refused with its line."""

import re

import pytest
from ptx_text import kernel_text, lines, program

from corpus.code.launch.launch import ArrayArgument
from corpus.code.refusals import NotUnderstoodError
from corpus.errors import InputError
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import CheckAnswer, check


def left(body, parameters="x y z", around="", **launch):
    """The instructions of the only thread that has any, as one text."""
    found = lines(program(kernel_text(body, parameters, around), **launch))
    return "; ".join(found[0]) if found else ""


def answers(body, expectation="", parameters="x y z", around="", **launch):
    (model,) = resolve_consistency_models(["ptx"])
    return check(program(kernel_text(body, parameters, around), **launch), model, expectation, 2, "fair")


def refusal(body, parameters="x y z", around="", **launch):
    """The line that is refused, and why."""
    text = kernel_text(body, parameters, around)
    with pytest.raises(NotUnderstoodError) as caught:
        program(text, **launch)
    assert caught.value.line is not None
    return text.splitlines()[caught.value.line - 1].strip(), caught.value.message


POLL = "ld.acquire.gpu.u32 %r1, [%x]; setp.ne.s32 %p1, %r1, 0; @%p1 bra D; "

RETRY = (
    "S: ld.acquire.gpu.u32 %r1, [%x]; L: setp.eq.s32 %p1, %r1, 0; @%p1 bra S; add.s32 %r2, %r1, -1; "
    "atom.acquire.gpu.cas.b32 %r3, [%x], %r1, %r2; setp.eq.s32 %p2, %r3, %r1; mov.u32 %r1, %r3; @!%p2 bra L; "
    "st.u32 [%y], 1;"
)
"""A semaphore as in libcu++: where the compare-and-swap fails, what it read is asked as the value of the load is."""

KEPT = (
    "L0:; ld.acquire.gpu r1, x; L1:; beq r1, 0, L0; add r2, r1, -1; atom.acquire.gpu.cas r3, x, r1, r2; "
    "bne r3, r1, L2; st y, 1; goto END; L2:; mov r1, r3; goto L1; END:"
)

WAIT = (
    "A: ld.acquire.gpu.u32 %r1, [%x]; setp.ne.s32 %p1, %r1, 0; @%p1 bra D; "
    "B: ld.relaxed.gpu.u32 %r2, [%x]; setp.eq.s32 %p1, %r2, 0; @%p1 bra B; bra A; D: st.u32 [%y], %r1;"
)
"""A load, and a loop that waits in between for the load to be worth another try."""

WAITS = "L0:; ld.acquire.gpu r1, x; bne r1, 0, L2; L1:; ld.relaxed.gpu r2, x; beq r2, 0, L1; goto L0; L2:; st y, r1"

RULES = {
    # what is computed
    "nothing is left of ids": (
        "mov.u32 %r1, %ctaid.x; setp.ne.s32 %p1, %r1, 0; @%p1 bra D; st.u32 [%x], 1; D:",
        "st x, 1",
    ),
    "a loop with a known bound": (
        "mov.u32 %r1, 0; L: red.add.u32 [%x], %r1; add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 3; @%p1 bra L;",
        "red.relaxed.gpu.add x, 0; red.relaxed.gpu.add x, 1; red.relaxed.gpu.add x, 2",
    ),
    "a loop that waits": (
        "L: ld.acquire.gpu.u32 %r1, [%x]; setp.eq.s32 %p1, %r1, 0; @%p1 bra L; st.u32 [%y], 1;",
        "L0:; ld.acquire.gpu r1, x; beq r1, 0, L0; st y, 1",
    ),
    "a loop without end": ("L: bra L;", "L0:; goto L0; goto L0"),
    "a vector": (
        "ld.v2.u32 {%r1, %r2}, [%x]; st.v2.u32 [%y], {%r2, %r1};",
        "ld r1, x; ld r2, x[1]; st y, r2; st y[1], r1",
    ),
    "private memory": (
        ".local .b32 a[2]; ld.u32 %r1, [%x]; st.local.u32 [a+4], %r1; ld.local.u32 %r2, [a+4]; st.u32 [%y], %r2;",
        "ld r2, x; st y, r2",
    ),
    # dead code
    "a computation that nobody needs": (
        "ld.u32 %r1, [%x]; add.s32 %r2, %r1, 1; xor.b32 %r3, %r2, %r1;",
        "ld t22_1, x",
    ),
    "a computation that is stored": (
        "ld.u32 %r1, [%x]; add.s32 %r2, %r1, 1; xor.b32 %r3, %r2, %r1; st.u32 [%y], %r3;",
        "ld r1, x; add r2, r1, 1; xor r3, r2, r1; st y, r3",
    ),
    # merging
    "equal ways": (
        "ld.u32 %r1, [%x]; setp.eq.s32 %p1, %r1, 0; @%p1 bra A; mov.u32 %r2, 1; bra B; A: mov.u32 %r2, 2; "
        "B: st.u32 [%z], 7;",
        "ld t22_1, x; st z, 7",
    ),
    "ways that store other numbers": (
        "ld.u32 %r1, [%x]; setp.eq.s32 %p1, %r1, 0; @%p1 bra A; mov.u32 %r2, 1; bra B; A: mov.u32 %r2, 2; "
        "B: st.u32 [%z], %r2;",
        "ld r1, x; beq r1, 0, L0; st z, 1; goto END; L0:; st z, 2; END:",
    ),
    "equal ways but for the order": (
        "ld.u32 %r1, [%x]; setp.eq.s32 %p1, %r1, 0; @%p1 bra A; st.relaxed.gpu.u32 [%z], 7; ret; A: st.u32 [%z], 7;",
        "ld r1, x; beq r1, 0, L0; st.relaxed.gpu z, 7; goto END; L0:; st z, 7; END:",
    ),
    # joins
    "a value that is only moved": ("ld.u32 %r1, [%x]; mov.u32 %r2, %r1; st.u32 [%y], %r2;", "ld r2, x; st y, r2"),
    "a value that is moved and kept": (
        "ld.u32 %r1, [%x]; mov.u32 %r2, %r1; st.u32 [%y], %r2; st.u32 [%z], %r1;",
        "ld r1, x; mov r2, r1; st y, r2; st z, r1",
    ),
    "a comparison for a branch": (
        "ld.u32 %r1, [%x]; setp.gt.s32 %p1, %r1, 5; @!%p1 bra A; st.u32 [%y], 1; A:",
        "ld r1, x; ble r1, 5, END; st y, 1; END:",
    ),
    "a comparison without a sign": (
        "ld.u32 %r1, [%x]; setp.gt.u32 %p1, %r1, 5; @!%p1 bra A; st.u32 [%y], 1; A:",
        "ld r1, x; setp.gt.u32 p1, r1, 5; beq p1, 0, END; st y, 1; END:",
    ),
    "a comparison that is needed again": (
        "ld.u32 %r1, [%x]; setp.gt.s32 %p1, %r1, 5; @!%p1 bra A; st.u32 [%y], 1; A: selp.u32 %r2, 1, 0, %p1; "
        "st.u32 [%z], %r2;",
        "ld r1, x; setp.gt p1, r1, 5; beq p1, 0, L0; st y, 1; L0:; mov r2, p1; st z, r2",
    ),
    "a comparison that is negated": (
        "ld.relaxed.gpu.u32 %r1, [%x]; setp.lt.s32 %p1, %r1, 3; not.pred %p2, %p1; @%p2 bra D; st.u32 [%y], 1; D:",
        "ld.relaxed.gpu r1, x; bge r1, 3, END; st y, 1; END:",
    ),
    "a comparison that is needed as well as its negation": (
        "ld.relaxed.gpu.u32 %r1, [%x]; setp.lt.s32 %p1, %r1, 3; not.pred %p2, %p1; @%p2 bra D; "
        "selp.u32 %r2, 5, 6, %p1; st.u32 [%y], %r2; D:",
        "ld.relaxed.gpu r1, x; setp.lt p1, r1, 3; xor p2, p1, 1; bne p2, 0, END; sub t22_1, 0, p1; "
        "xor.b32 t22_2, 5, 6; and.b32 t22_3, t22_2, t22_1; xor.b32 r2, 6, t22_3; st y, r2; END:",
    ),
    # polls
    "two polls": (
        POLL + POLL + "trap; D: st.u32 [%y], 1;",
        "ld.acquire.gpu r1, x; bne r1, 0, L0; mov stopped_by_trap, 1; goto END; L0:; st y, 1; END:",
    ),
    "polls of two orders": (
        POLL.replace("acquire", "relaxed") + POLL + "D: st.u32 [%y], 1;",
        "ld.relaxed.gpu r1, x; bne r1, 0, L0; ld.acquire.gpu t22_1, x; L0:; st y, 1",
    ),
    "polls of two places": (
        POLL.replace("%x", "%z") + POLL + "trap; D: st.u32 [%y], 1;",
        "ld.acquire.gpu r1, z; bne r1, 0, L0; ld.acquire.gpu r1, x; bne r1, 0, L0; mov stopped_by_trap, 1; goto END; "
        "L0:; st y, 1; END:",
    ),
    "polls for two values": (
        POLL + POLL.replace("%r1, 0", "%r1, 1") + "trap; D: st.u32 [%y], 1;",
        "ld.acquire.gpu r1, x; bne r1, 0, L0; ld.acquire.gpu r1, x; bne r1, 1, L0; mov stopped_by_trap, 1; goto END; "
        "L0:; st y, 1; END:",
    ),
    "polls whose value is needed": (
        POLL + POLL + "trap; D: st.u32 [%y], %r1;",
        "ld.acquire.gpu r1, x; bne r1, 0, L0; ld.acquire.gpu r1, x; bne r1, 0, L0; mov stopped_by_trap, 1; goto END; "
        "L0:; st y, r1; END:",
    ),
    "polls with a write between": (
        POLL + "st.u32 [%z], 1; " + POLL + "trap; D: st.u32 [%y], 1;",
        "ld.acquire.gpu r1, x; bne r1, 0, L0; st z, 1; ld.acquire.gpu r1, x; bne r1, 0, L0; mov stopped_by_trap, 1; "
        "goto END; L0:; st y, 1; END:",
    ),
    "atomics are no polls": (
        "atom.add.u32 %r1, [%x], 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra D; atom.add.u32 %r1, [%x], 1; "
        "setp.ne.s32 %p1, %r1, 0; @%p1 bra D; trap; D: st.u32 [%y], 1;",
        "atom.relaxed.gpu.add r1, x, 1; bne r1, 0, L0; atom.relaxed.gpu.add r1, x, 1; bne r1, 0, L0; "
        "mov stopped_by_trap, 1; goto END; L0:; st y, 1; END:",
    ),
    "a loop of polls before a poll": (WAIT, "L0:; ld.acquire.gpu r1, x; bne r1, 0, L1; goto L0; L1:; st y, r1"),
    "a loop of polls of a narrower scope": (
        WAIT.replace("relaxed.gpu", "relaxed.cta"),
        WAITS.replace("relaxed.gpu", "relaxed.cta"),
    ),
    "a loop of polls for another value": (WAIT.replace("%r2, 0", "%r2, 1"), WAITS.replace("r2, 0", "r2, 1")),
    "a loop of polls of another place": (WAIT.replace("%r2, [%x]", "%r2, [%z]"), WAITS.replace("r2, x", "r2, z")),
    "a loop of polls that is not come back to": (
        WAIT.replace("bra A; D", "ld.acquire.gpu.u32 %r1, [%x]; setp.ne.s32 %p1, %r1, 0; @%p1 bra D; trap; D"),
        "ld.acquire.gpu r1, x; bne r1, 0, L1; L0:; ld.relaxed.gpu r2, x; beq r2, 0, L0; ld.acquire.gpu r1, x; "
        "bne r1, 0, L1; mov stopped_by_trap, 1; goto END; L1:; st y, r1; END:",
    ),
    # retries
    "a compare-and-swap that is tried again": (
        RETRY,
        "L0:; ld.acquire.gpu r1, x; beq r1, 0, L0; add r2, r1, -1; atom.acquire.gpu.cas r3, x, r1, r2; "
        "bne r3, r1, L0; st y, 1",
    ),
    "a retry of a load without its order": (
        RETRY.replace("ld.acquire", "ld.relaxed"),
        KEPT.replace("ld.acquire", "ld.relaxed"),
    ),
    "a retry of a load of another place": (RETRY.replace("%r1, [%x]", "%r1, [%z]"), KEPT.replace("r1, x", "r1, z", 1)),
    "a retry that asks something else": (
        RETRY.replace("@!%p2 bra L;", "@%p2 bra E; setp.eq.s32 %p1, %r1, 1; @%p1 bra S; bra L; E:"),
        "L0:; ld.acquire.gpu r1, x; L1:; beq r1, 0, L0; add r2, r1, -1; atom.acquire.gpu.cas r3, x, r1, r2; "
        "beq r3, r1, L2; mov r1, r3; beq r1, 1, L0; goto L1; L2:; st y, 1",
    ),
    "a retry after a write": (
        RETRY.replace("@!%p2", "st.u32 [%z], 5; @!%p2"),
        "L0:; ld.acquire.gpu r1, x; L1:; beq r1, 0, L0; add r2, r1, -1; atom.acquire.gpu.cas r3, x, r1, r2; "
        "setp.eq p2, r3, r1; mov r1, r3; st z, 5; beq p2, 0, L1; st y, 1",
    ),
    # what one way needs alone
    "a computation that one way needs": (
        "ld.u32 %r1, [%x]; setp.gt.s32 %p1, %r1, 5; add.s32 %r2, %r1, 1; @%p1 bra A; st.u32 [%y], %r2; A:",
        "ld r1, x; bgt r1, 5, END; add r2, r1, 1; st y, r2; END:",
    ),
    "a computation that both ways need": (
        "ld.u32 %r1, [%x]; setp.gt.s32 %p1, %r1, 5; add.s32 %r2, %r1, 1; @%p1 bra A; st.u32 [%y], %r2; ret; "
        "A: st.u32 [%z], %r2;",
        "ld r1, x; setp.gt p1, r1, 5; add r2, r1, 1; bne p1, 0, L0; st y, r2; goto END; L0:; st z, r2; END:",
    ),
    # what stops
    "an index outside of an array": (".shared .b32 s[2]; st.shared.u32 [s+8], 1;", "mov stopped_by_bounds, 1"),
    "an index inside of an array": (".shared .b32 s[2]; st.shared.u32 [s+4], 1;", "st s[1], 1"),
    "an address that is a number": ("ld.u32 %r1, [16];", "mov stopped_by_bounds, 1"),
    # what a clock decides
    "a clock that decides how long to sleep": (
        "mov.u32 %r1, %clock; setp.eq.s32 %p1, %r1, 0; @%p1 bra A; nanosleep.u32 20; A: st.u32 [%y], 1;",
        "st y, 1",
    ),
    # the workspace of a grid
    "the barrier of a grid": (
        "mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; mov.b64 %d3, {%r1, %r2}; setp.eq.s64 %p1, %d3, 0; @%p1 trap; "
        "atom.add.release.gpu.u32 %r3, [%d3+4], 1;",
        "atom.release.gpu.add t22_1, grid_workspace[1], 1",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_what_is_left(rule):
    body, expected = RULES[rule]
    assert left(body) == expected


def test_threads_without_effect_are_left_out_but_one_that_goes_round_for_ever_is_not():
    assert lines(program(kernel_text("mov.u32 %r1, %ctaid.x;"), grid=2)) == []
    assert set(answers("ret;").hang.values()) == {"TERMINATES"}
    assert set(answers("L: bra L;", grid=2).hang.values()) == {"MAY_HANG"}


REFUSED = {
    "an instruction": ("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];", "is not understood"),
    "an access that is more": ("st.async.weak.u32 [%x], %r1;", "is not understood"),
    "a store of many bytes": ("st.bulk.weak.shared::cta [%x], 16, 0;", "is not understood"),
    "a clock that decides": ("@%p1 st.u32 [%x], 1;", "the predicate is the value of %clock"),
    "an index into private memory": ("st.local.u32 [%d1], 1;", "the thread's own memory"),
    "an address of private memory in memory": ("st.u64 [%x], a;", "the thread's own memory"),
    "a barrier of some threads that combines": (
        "bar.red.and.pred %p2, 0, 64, %p1;",
        "of some threads of the block is not understood",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_understood_is_named_with_its_line(what):
    bad, why = REFUSED[what]
    before = "mov.u32 %r9, %clock; setp.eq.s32 %p1, %r9, 0;"
    if "private" in what:
        before = ".local .b32 a[4]; ld.u32 %r1, [%x]; mov.u64 %d1, a; mad.wide.u32 %d1, %r1, 4, %d1;"
    line, message = refusal(f"{before}\n  {bad}\n  st.u32 [%y], 2;", block=2)
    assert line == bad
    assert why in message


def test_what_no_thread_comes_to_need_not_be_understood():
    assert left("bra A;\n tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}]; A: st.u32 [%x], 1;") == "st x, 1"


def test_arguments():
    body = "setp.eq.s32 %p1, %n, 0; @%p1 bra A; st.u32 [%x], 1; A:"
    assert left(body, "x n:u32", n=1) == "st x, 1"
    assert left(body, "x n:u32", n=0) == ""
    line, message = refusal(body, "x n:u32")
    assert line.startswith("setp.eq.s32 %p1, %n, 0;")
    assert "--arg n=" in message


def test_a_pointer_that_is_compared_with_0_is_said_to_be_an_address():
    found = program(kernel_text("setp.ne.s64 %p1, %x, 0; @%p1 st.u32 [%y], 1;"))
    assert lines(found) == [["st y, 1"]]
    assert "x is the address of an array" in found.assumed


def test_a_clock_that_is_stored_is_said_to_be_some_number():
    found = program(kernel_text("mov.u32 %r1, %clock; st.u32 [%y], %r1;"))
    assert "some number is stored in place of the value of %clock" in found.assumed


def test_a_variable_that_is_read_is_said_to_begin_as_the_module_gives_it():
    around = ".global .align 4 .u32 given = 3;\n.global .align 4 .u32 written;\n"
    found = program(kernel_text("ld.global.u32 %r1, [given]; st.global.u32 [written], %r1;", around=around))
    assert [each for each in found.assumed if "module" in each] == ["given begins as the module gives it"]


def test_assertions_and_printing():
    around = ".extern .func __assertfail ();\n.extern .func (.param .b32 q) vprintf (.param .b64 a, .param .b64 b);\n"
    body = "ld.u32 %r1, [%x]; setp.eq.s32 %p1, %r1, 1; @%p1 bra A; call __assertfail, (); A:"
    assert left(body, around=around) == "ld r1, x; beq r1, 1, END; mov stopped_by_assert, 1; END:"
    assert answers(body, around=around).answers["trap"] is CheckAnswer.FOUND
    assert answers(body, around=around, x=[1]).answers["trap"] is CheckAnswer.SAFE
    around += ".global .align 1 .b8 $str[6] = {37, 100, 32, 37, 115, 0};\n"  # "%d %s"
    printing = (
        "{ .param .b64 p0; .param .b64 p1; .param .b32 q; .local .align 8 .b8 l[16]; mov.u64 %d1, l; "
        "cvta.local.u64 %d1, %d1; mov.u64 %d2, $str; cvta.global.u64 %d2, %d2; st.u32 [%d1], 3; st.u64 [%d1+8], %d2; "
        "st.param.b64 [p0], %d2; st.param.b64 [p1], %d1; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; } "
    )
    assert left(printing + "st.u32 [%x], 1;", around=around) == "st x, 1"
    assert "in place of what printf returns" in str(
        program(kernel_text(printing + "st.u32 [%x], %r1;", around=around)).assumed
    )
    for wrong in (
        printing.replace("[%d1+8], %d2", "[%d1+8], %x"),  # "%s" of what others may write
        printing.replace("[p0], %d2", "[p0], %x"),
        printing + "setp.eq.s32 %p1, %r1, 2; @%p1 st.u32 [%x], 1;",
    ):
        with pytest.raises(NotUnderstoodError, match=r"a string|a format|what printf returns"):
            left(wrong, around=around)


SIZES = {
    "of two sizes": ("st.u32 [%x], 1; ld.u64 %d1, [%x];", 0),
    "that overlap in part": ("st.v2.u32 [%x+8], {1, 2}; ld.u64 %d1, [%x+8]; ld.u32 %r1, [%x];", 0),
    "on two ways": (
        "ld.u32 %r1, [%y]; setp.eq.s32 %p1, %r1, 0; @%p1 bra A; st.u32 [%x], 1; ret; A: st.u64 [%x], 1;",
        0,
    ),
    "of polls": (
        "ld.volatile.u32 %r1, [%x]; setp.eq.s32 %p1, %r1, 0; @%p1 bra A; ld.volatile.s16 %r1, [%x]; "
        "setp.eq.s32 %p1, %r1, 0; @%p1 bra A; st.u32 [%y], 1; A:",
        1,
    ),
    "with an atomic one": ("st.u32 [%x], 1; atom.add.u64 %d1, [%x], 1;", 1),
    "side by side": ("st.u32 [%x], 1; ld.u64 %d1, [%x+8]; ld.u16 %h1, [%x+4];", 0),
}


@pytest.mark.parametrize("which", SIZES)
def test_mixed_sizes(which):
    """Weak accesses of several sizes that do not race are of their parts; strong ones are named."""
    body, count = SIZES[which]
    assert len(program(kernel_text(body)).mixed) == count
    found = answers(body).answers["mixed-size"]
    assert found is (CheckAnswer.FOUND if count else CheckAnswer.SAFE)


PARTED = "st.u32 [%x+4], 16909060; st.s8 [%x+5], -1; st.u32 [%y], 1;"
"""Element 1 of ``x`` is written by words of 4 and 1 bytes."""


@pytest.mark.parametrize(
    ("size", "expectation", "answer"),
    [
        (4, "x[1] == 16973572", "SAFE"),  # 0x0102ff04
        (4, "x[1] != 16973572", "FOUND"),
        (4, "x[1] == 16909060", "FOUND"),
        (4, "y == 1 && x[1] != 5", "SAFE"),
        (2, "x[2] == -252 && x[3] == 258", "SAFE"),  # 0xff04, 0x0102
        (2, "x[2] == 65284", "SAFE"),
        (1, "x[5] == -1 && x[7] == 1", "SAFE"),
        (1, "x[4] != 4", "FOUND"),
        (8, "x == 0", "expected locations of the program"),  # only a half of it is there
        (4, "x[5] == -1", "expected locations of the program"),
        (4, "x[1] > 5", "expected == or != and a number"),
    ],
)
def test_an_element_that_is_accessed_in_parts_is_expected_by_its_own_name(size, expectation, answer):
    given = {"x": ArrayArgument((), None, size)}
    if answer.startswith("expected"):
        with pytest.raises(InputError, match=answer):
            answers(PARTED, expectation, **given)
    else:
        assert answers(PARTED, expectation, **given).answers["expectation"] is CheckAnswer[answer]


def test_arrays_whose_source_names_are_equal_are_two():
    around = ".shared .b32 _ZN1a1bE;\n.shared .b32 _ZN2cc1bE;\n"
    body = "st.shared.u32 [_ZN1a1bE], 1; st.shared.u32 [_ZN2cc1bE], 2; ld.shared.u32 %r1, [_ZN1a1bE]; st.u32 [%y], %r1;"
    assert left(body, around=around) == "st b, 1; st b__2, 2; ld r1, b; st y, r1"


VALUES = {
    "short without sign that gets one": ("ld.u16 %h1, [%x]; cvt.s32.s16 %r1, %h1; st.u32 [%y], %r1;", [65535], -1),
    "byte without sign that gets one": ("ld.u8 %h1, [%x]; cvt.s32.s8 %r1, %h1; st.u32 [%y], %r1;", [200], -56),
    "short with sign": ("ld.s16 %h1, [%x]; cvt.s32.s16 %r1, %h1; st.u32 [%y], %r1;", [65535], -1),
    "word in a register of 64 bits": ("ld.u32 %d1, [%x]; shr.u64 %d1, %d1, 31; st.u64 [%y], %d1;", [-5], 1),
    "part of a product": ("ld.u32 %r1, [%x]; mul.wide.u32 %d1, %r1, 4; cvt.u32.u64 %r2, %d1; st.u32 [%y], %r2;",
                          [0x40000001], 4),
    "product that is 0": ("ld.u32 %r1, [%x]; mul.wide.u32 %d1, %r1, 4; setp.eq.s64 %p1, %d1, 0; "
                          "selp.u32 %r2, 7, 8, %p1; st.u32 [%y], %r2;", [0], 7),
    "sum of a product": ("ld.u32 %r1, [%x]; mov.u64 %d2, 5; mad.wide.u32 %d1, %r1, 4, %d2; st.u64 [%y], %d1;", [3], 17),
    "product with a number without a sign": (
        "ld.u32 %r1, [%x]; mul.wide.u32 %d1, %r1, -1; shr.u64 %d1, %d1, 32; st.u64 [%y], %d1;", [2], 1),
    "short sum of a product": ("ld.s16 %h1, [%x]; mad.wide.s16 %r1, %h1, -4, 5; st.u32 [%y], %r1;", [3], -7),
    "field at the end": ("ld.u32 %r1, [%x]; bfe.u32 %r2, %r1, 28, 8; st.u32 [%y], %r2;", [0x30000000], 3),
    "field of no bits": ("ld.u32 %r1, [%x]; bfe.s32 %r2, %r1, 3, 0; st.u32 [%y], %r2;", [-1], 0),
    "one as a float": ("ld.u32 %r1, [%x]; set.eq.f32.s32 %f2, %r1, 0; st.f32 [%y], %f2;", [0], 0x3F800000),
    "byte cut off": ("ld.u32 %r1, [%x]; cvt.u8.u32 %h1, %r1; setp.eq.s16 %p1, %h1, 255; selp.u32 %r2, 1, 0, %p1; "
                     "st.u32 [%y], %r2;", [0x1FF], 1),
    "number without a sign": ("ld.u32 %r1, [%x]; setp.eq.s32 %p1, %r1, -1; selp.u32 %r2, 1, 0, %p1; st.u32 [%y], %r2;",
                              [0xFFFFFFFF], 1),
    "address before an array": ("sub.s64 %d1, %x, 4; setp.lt.u64 %p1, %d1, %x; selp.u32 %r2, 1, 0, %p1; "
                                "st.u32 [%y], %r2;", [0], 1),
    "name of an inner scope": ("{ .reg .b32 %r1; mov.u32 %r1, 0xFFFFFFFF; ld.u32 %r2, [%x]; setp.eq.s32 %p1, %r2, 0; "
                               "@%p1 mov.u32 %r1, 5; st.u32 [%y], %r1; }", [1], -1),
}  # fmt: skip
"""Code that reads x and writes y: where a value goes through registers of another size or sign."""


@pytest.mark.parametrize("what", VALUES)
def test_values(what):
    body, given, expected = VALUES[what]
    assert answers(body, f"y == {expected}", x=given).answers["expectation"] is CheckAnswer.SAFE
    assert answers(body, f"~exists (y == {expected})", x=given).answers["expectation"] is CheckAnswer.FOUND


@pytest.mark.parametrize(("width", "number"), [(8, 255), (16, 65535), (32, 4294967295)])
def test_numbers_without_a_sign_are_expected(width, number):
    body = f"mov.u32 %r1, {number}; st.u{width} [%x], %r1;"
    assert answers(body, f"x == {number}").answers["expectation"] is CheckAnswer.SAFE
    assert answers(body, f"x != {number}").answers["expectation"] is CheckAnswer.FOUND


def test_an_element_may_go_where_the_address_of_a_vector_is():
    body = (
        "ld.u32 %r1, [%x]; mul.wide.u32 %d1, %r1, 16; add.s64 %d2, %y, %d1; ld.v2.u64 {%d2, %d3}, [%d2]; "
        "st.u64 [%z], %d3;"
    )
    assert answers(body, "z == 6", x=[0], y=[5, 6]).answers["expectation"] is CheckAnswer.SAFE
    assert answers(body, "z == 8", x=[1], y=[5, 6, 7, 8]).answers["expectation"] is CheckAnswer.SAFE


@pytest.mark.parametrize(("chosen", "array"), [(0, "y"), (1, "z")])
def test_one_of_two_computed_addresses(chosen, array):
    body = (
        "ld.u32 %r1, [%x]; mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %y, %d1; ld.u32 %r2, [%x+4]; "
        "mul.wide.u32 %d3, %r2, 4; add.s64 %d4, %z, %d3; ld.u32 %r3, [%x+8]; setp.eq.s32 %p1, %r3, 0; "
        "selp.b64 %d2, %d2, %d4, %p1; st.u32 [%d2], 5;"
    )
    expected = {"y": "y[1]", "z": "z[2]"}[array]
    arrays = {"x": [1, 2, chosen], "y": [0, 0, 0], "z": [0, 0, 0]}
    assert answers(body, f"{expected} == 5", **arrays).answers["expectation"] is CheckAnswer.SAFE


def test_an_address_that_is_read_and_is_of_no_array_is_never_passed_in_silence():
    found = answers("ld.u64 %d1, [%x]; st.u32 [%d1], 1;", grid=2)
    assert found.answers["race"] is CheckAnswer.UNKNOWN
    assert any(re.search("of no array", reason) for reason in found.reasons)
    with_index = "ld.u32 %r1, [%x]; mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %y, %d1; st.u32 [%d2], 1;"
    assert answers(with_index, x=[9], y=[0, 0]).answers["bounds"] is CheckAnswer.UNKNOWN
    assert answers(with_index, x=[1], y=[0, 0]).answers["bounds"] is CheckAnswer.SAFE
    assert (
        "holds addresses, which are not understood"
        in refusal(
            "ld.global.u64 %d1, [p]; st.u32 [%d1], 1;", around=".global .b32 g;\n.global .u64 p = generic(g);\n"
        )[1]
    )


MBARRIER = (
    ".shared .b64 m; mov.u32 %r1, %tid.x; setp.ne.s32 %p1, %r1, 0; @%p1 bra M; mbarrier.init.shared.b64 [m], 2; "
    "M: bar.sync 0; @!%p1 st.u32 [%x], 1; mbarrier.arrive.shared.b64 %d1, [m]; @!%p1 bra E; WAIT @!%p2 bra W; "
    "ld.u32 %r2, [%x]; E:"
)
"""A thread that waits for another one at an ``mbarrier``."""


@pytest.mark.parametrize(
    ("wait", "race", "fair"),
    [
        ("W: mbarrier.try_wait.shared.b64 %p2, [m], %d1;", "SAFE", "TERMINATES"),
        ("W: mbarrier.test_wait.acquire.cta.shared::cta.b64 %p2, [m], %d1;", "SAFE", "TERMINATES"),
        ("W: mbarrier.test_wait.relaxed.cta.shared::cta.b64 %p2, [m], %d1;", "FOUND", "TERMINATES"),
        ("W: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;", "SAFE", "TERMINATES"),
        ("W: mbarrier.try_wait.parity.shared.b64 %p2, [m], 1;", "FOUND", "MAY_HANG"),
        ("mbarrier.arrive.shared.b64 %d1, [m]; W: mbarrier.try_wait.shared.b64 %p2, [m], %d1;", "FOUND", "MAY_HANG"),
    ],
)
def test_an_mbarrier(wait, race, fair):
    """A wait for parity 1 goes through while the first phase is not over, and not thereafter."""
    found = answers(MBARRIER.replace("WAIT", wait), block=2)
    assert (found.answers["race"], found.hang["fair"]) == (race, fair)


def test_an_mbarrier_that_awaits_more_than_come():
    found = answers(
        MBARRIER.replace("[m], 2", "[m], 3").replace("WAIT", "W: mbarrier.try_wait.shared.b64 %p2, [m], %d1;"), block=2
    )
    assert found.hang["fair"] == "MAY_HANG"


COPY = (
    ".shared .align 16 .b8 s[16]; cp.async.ca.shared.global [s], [%x], 8; cp.async.commit_group; "
    "cp.async.wait_group PENDING; READ"
)
"""A thread that copies eight bytes and reads them."""


@pytest.mark.parametrize(
    "read",
    ["ld.shared.u32 %r1, [s]; ld.shared.u32 %r2, [s+4];", "ld.shared.f64 %d1, [s];", "ld.shared.u16 %h1, [s+6];"],
)
def test_a_copy_is_of_elements_as_its_array_is_used(read):
    found = answers(COPY.replace("PENDING", "0").replace("READ", read))
    assert (found.answers["race"], found.program.mixed) == ("SAFE", ())
    assert answers(COPY.replace("PENDING", "1").replace("READ", read)).answers["race"] == "FOUND"


def test_what_is_copied_and_accessed_in_several_sizes_is_not_understood():
    body = COPY.replace("PENDING", "0").replace("READ", "ld.shared.u16 %h1, [s]; ld.shared.u32 %r2, [s+4];")
    with pytest.raises(NotUnderstoodError, match="s and x: what is copied and accessed in several sizes"):
        program(kernel_text(body))


REDUCE = (
    ".shared .align 16 .b64 s[2]; st.shared.b64 [s], 2; st.shared.b64 [s+8], 3; fence.proxy.async.shared::cta; "
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%x], [s], 16; cp.async.bulk.commit_group; "
    "cp.async.bulk.wait_group 0; ld.u64 %d1, [%x+8]; st.u64 [%y], %d1;"
)


def test_a_bulk_reduction_adds_what_its_type_says():
    found = answers(REDUCE, "x[0] == 2 && x[1] == 3 && y == 3")
    assert (found.answers["race"], found.answers["expectation"]) == ("SAFE", "SAFE")


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        ("cp.async.bulk.global.shared::cta.bulk_group [%x], [s], 1024;", "is more than 32 elements"),
        ("cp.async.ca.shared.global [s], [%x], 8, 4;", "of fewer bytes than it writes"),
        (
            "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%x, {%r1}], [s];",
            "needs an array as the argument of its tensor map",
        ),
        (
            "cp.async.bulk.tensor.3d.im2col.global.shared::cta.bulk_group [%x, {%r1, %r1, %r1}], [s];",
            "is not understood",
        ),
        (
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
            "[s], [%x], 16, [s], 2;",
            "a rank that is of no block of the cluster",
        ),
    ],
)
def test_a_copy_that_is_not_understood(instruction, reason):
    assert reason in refusal(f".shared .align 16 .b8 s[1024]; {instruction}")[1]
