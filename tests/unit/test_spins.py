"""Loops that wait: which rounds can be left out, and under which models."""

from dataclasses import replace
from itertools import product

import pytest

from corpus.dialects.registry import parse_litmus
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.cat.syntax import parse_cat, shipped_models
from oracle.consistency import load_model
from oracle.executions.judge import Answer, judge, outcomes
from oracle.executions.spins import forgets_reads, forgets_rounds, idle_jumps, spinning_jumps

MODELS = {name: load_model(path, name) for name, path in shipped_models().items()}
FORGETFUL = {name: model for name, model in MODELS.items() if forgets_reads(model)}
MORE_FORGETFUL = {name: model for name, model in MODELS.items() if forgets_rounds(model)}

LOOPS = {
    # what stands between LC10 and the end of P1, and whether it spins
    "a load": ("ld.acquire.gpu r0, f; bne r0, 1, LC10", True),
    "a load and a fence": ("ld.relaxed.gpu r0, f; fence.sc.gpu; bne r0, 1, LC10", True),
    "two loads and arithmetic": ("ld.weak r0, f; ld.weak r2, x; add r3, r0, r2; blt r3, 1, LC10", True),
    "a compare-and-swap that fails": ("atom.acquire.gpu.cas r0, f, 1, 2; bne r0, 1, LC10", True),
    "two jumps to one target": ("ld.weak r0, f; beq r0, 0, LC10; ld.weak r0, f; bne r0, 1, LC10", True),
    "a loop in a loop": ("LC12:; ld.weak r2, x; beq r2, 0, LC12; ld.weak r0, f; bne r0, 1, LC10", True),
    "a branch in a loop": ("ld.weak r0, f; beq r0, 1, LC11; ld.weak r2, x; goto LC10; LC11:", True),
    "an exchange": ("atom.acquire.gpu.exch r0, f, 1; bne r0, 1, LC10", False),
    "a store": ("ld.weak r0, f; st.weak x, 2; bne r0, 1, LC10", False),
    "a store on one way": ("ld.weak r0, f; beq r0, 1, LC11; st.weak x, 2; LC11:; bne r0, 1, LC10", False),
    "a compare-and-swap that succeeds": ("atom.acquire.gpu.cas r0, f, 1, 2; bne r0, 0, LC10", False),
    "rounds that are counted": ("ld.weak r0, f; add r4, r4, 1; bne r0, 1, LC10", False),
    "a value of the last round": ("add r5, r0, 1; ld.weak r0, f; bne r5, 2, LC10", False),
    "a loop that writes in a loop": ("LC12:; st.weak x, 2; ld.weak r2, x; beq r2, 0, LC12; ld.weak r0, f; "
                                     "bne r0, 1, LC10", False),
}  # fmt: skip


def waiting(loop: str, condition: str = "exists (P1:r1 == 0)") -> LitmusTest:
    other = [*["st.weak x, 1", "st.release.gpu f, 1"]]
    code = ["LC10:", *loop.split("; "), "ld.weak r1, x"]
    rows = [
        f"{other[number] if number < len(other) else ''} | {line} ;" for number, line in enumerate(code)
    ]  # P1 is the longer one
    return parse_litmus("\n".join(["PTX t", "{ f=0; x=0; }", "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;", *rows, condition]))


def model(text: str) -> Model:
    return Model("m", replace(parse_cat(text, "m.cat"), title="m"))


@pytest.mark.parametrize("what", LOOPS)
def test_which_jumps_spin(what):
    loop, spins = LOOPS[what]
    test = waiting(loop)
    outer = [pc for pc, ins in enumerate(test.threads[1].instructions) if getattr(ins, "label", "") == "LC10"]
    assert (set(outer) <= spinning_jumps(test, 1)) is spins and outer


def test_a_register_that_the_condition_asks_for_is_read_at_the_end():
    loop = "ld.weak r0, f; beq r0, 1, LC11; ld.weak r2, x; goto LC10; LC11:"
    assert spinning_jumps(waiting(loop), 1)
    assert not spinning_jumps(waiting(loop, "exists (P1:r2 == 0)"), 1)


def test_a_jump_into_a_loop_passes_its_target_by():
    assert not spinning_jumps(waiting("ld.weak r3, x; LC12:; ld.weak r0, f; bne r0, 1, LC12"), 0)
    rows = ["goto LC01", "LC00:", "ld.weak r0, f", "LC01:", "ld.weak r1, f", "bne r1, 1, LC00"]
    test = parse_litmus("PTX t\n{ f=0; }\nP0@cta 0,gpu 0 ;\n" + "".join(f"{row} ;\n" for row in rows) + "exists (f==1)")
    assert not spinning_jumps(test, 0)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("what", [what for what, (_, spins) in LOOPS.items() if spins])
def test_more_rounds_change_nothing_where_jumps_spin(what):
    for condition in ("exists (P1:r1 == 0)", "exists (P1:r1 == 0 /\\ P1:r0 == 1 /\\ f == 1 /\\ x == 1)"):
        test = waiting(LOOPS[what][0], condition)
        for name, one in FORGETFUL.items():
            # With no jump at all, a compare-and-swap or a load that may see the flag at once sees all there is.
            found = [outcomes(test, one, unroll) for unroll in (0, 1, 3)]
            assert found[0] == found[1] == found[2], name
            judgement = judge(test, one, 1)
            assert judgement.bounded and not judgement.provisional


def test_what_may_change_still_says_so():
    judgement = judge(waiting(LOOPS["an exchange"][0], "exists (P1:r1 == 5)"), MODELS["sc"])
    assert judgement.answer is Answer.FORBIDDEN and judgement.provisional


def test_which_models_forget_reads():
    not_atomic = {"c11", "opencl"}  # there, what a read may see hangs on what happens before it, by whatever way
    assert MODELS.keys() - FORGETFUL.keys() == not_atomic
    for text in (
        "acyclic (po \\ loc) | rf as a",
        "empty rf & ~(po & loc) as a",
        "let f(r) = r; r\nacyclic f(rf | fr | co) as a",
        "flag ~empty (po \\ (po; po)) as f",
        "let rec a = po | (a; rf) and b = a | b\nirreflexive a; b as a",
    ):
        assert forgets_reads(model(text)), text
    for text in (
        "~empty rf as a",
        "acyclic po \\ (po; po) as a",
        "let next = po \\ (po; po)\nacyclic next | rf as a",
        "let f(r) = co \\ r\nempty f(po+) as a",
        "empty (W * W) \\ (membar.gl | co) as a",
        "let rec a = po | (po \\ (po; po); a)\nacyclic a as a",
    ):
        assert not forgets_reads(model(text)), text


def test_a_model_that_counts_reads_keeps_the_word():
    """Under it the load must be the last but one of its thread, so that one more round makes an outcome possible."""
    one = model("let next = po \\ (po; po)\nempty ([R]; po; [R]) & next as a")
    assert judge(waiting(LOOPS["a load"][0]), one).provisional


LOCK = ["LC00:", "atom.acq_rel.gpu.exch r0, f, 1", "bne r0, 0, LC00"]


def locking(*threads: list[str], condition: str = "exists (x == 5)") -> LitmusTest:
    """A test of threads on a lock ``f``, which is taken."""
    rows = max(map(len, threads))
    columns = [[*thread, *[""] * (rows - len(thread))] for thread in threads]
    head = " | ".join(f"P{number}@cta {number},gpu 0" for number in range(len(threads)))
    body = "".join(f"{' | '.join(row)} ;\n" for row in zip(*columns, strict=True))
    return parse_litmus(f"PTX t\n{{ f=1; x=0; }}\n{head} ;\n{body}{condition}\n")


@pytest.mark.parametrize(
    ("others", "condition", "idle"),
    [
        ([["st.release.gpu f, 0"]], "exists (x == 5)", True),
        ([LOCK], "exists (x == 5)", True),
        ([[*LOCK, "st.release.gpu f, 0"]], "exists (x == 5)", True),
        ([["LC10:", "ld.relaxed.gpu r0, f", "bne r0, 0, LC10"]], "exists (x == 5)", True),
        ([["ld.relaxed.gpu r0, f", "st.weak x, r0"]], "exists (x == 5)", False),  # sees who waits
        ([["ld.relaxed.gpu r0, f", "beq r0, 0, LC10", "st.weak x, 1", "LC10:"]], "exists (x == 5)", False),
        ([["atom.relaxed.gpu.cas r0, f, 0, 1", "bne r0, 0, LC10", "LC10:"]], "exists (x == 5)", False),  # tries once
        ([["red.relaxed.gpu.add f, 1"]], "exists (x == 5)", False),
        ([["LC10:", "atom.relaxed.gpu.add r0, f, 1", "bne r0, 0, LC10"]], "exists (x == 5)", False),  # counts
        ([["LC10:", "st.weak x, 1", "ld.relaxed.gpu r0, f", "bne r0, 0, LC10"]], "exists (x == 5)", False),
        ([["st.release.gpu f, 0"]], "exists (f == 5)", False),
    ],
)
def test_which_jumps_that_write_are_idle(others, condition, idle):
    test = locking(LOCK, *others, condition=condition)
    assert idle_jumps(test)[0] == ({2} if idle else set()) and not spinning_jumps(test, 0)


def test_what_is_seen_is_no_idle_rounds():
    """The other reads a 1 before it writes the first 0 or 2: only a round before can have written it."""
    lock = ["LC00:", "atom.acq_rel.gpu.exch r0, f, 1", "bne r0, 2, LC00"]
    other = ["st.relaxed.gpu f, 0", "ld.relaxed.gpu r1, f", "st.relaxed.gpu f, 2"]
    asked = locking(other, lock, condition="exists (P0:r1 == 1)")
    assert [judge(asked, MODELS["sc"], unroll).answer for unroll in (0, 1)] == [Answer.FORBIDDEN, Answer.ALLOWED]
    assert not idle_jumps(asked)[1]


WITH = [  # what another thread does besides, and threads that do not wait
    ["st.release.gpu f, 0"],
    ["st.weak x, 1", "st.release.gpu f, 0"],
    ["st.relaxed.gpu f, 0", "st.weak x, 1"],
    ["st.weak x, 1", "st.release.gpu f, 2", "st.relaxed.gpu f, 0"],
    ["ld.weak r1, x", "fence.sc.gpu", "st.relaxed.gpu f, 0"],
    ["st.release.gpu f, 0", "LC10:", "ld.acquire.gpu r0, f", "bne r0, 0, LC10", "ld.weak r1, x"],
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("other", WITH, ids=" ".join)
def test_more_rounds_change_nothing_where_jumps_are_idle(other):
    for order, scope, more in product(("relaxed", "acq_rel"), ("cta", "gpu"), ("", "ld.weak r9, x", "fence.sc.gpu")):
        lock = ["LC00:", f"atom.{order}.{scope}.exch r0, f, 1", *[more] * bool(more), "bne r0, 0, LC00"]
        terms = ["P0:r1 == 0", *["P1:r1 == 0"] * any("r1" in line for line in other), "x == 0"]
        condition = "exists (" + " /\\ ".join(terms) + ")"
        test = locking([*lock, "ld.weak r1, x", "st.weak x, 2"], other, condition=condition)
        assert all(idle_jumps(test)) or not any("LC" in line for line in other)
        assert idle_jumps(test)[0] and not spinning_jumps(test, 0)
        for name, one in MORE_FORGETFUL.items():
            if name not in ("vulkan", "webgpu"):  # which speak of other instructions
                found = [outcomes(test, one, unroll) for unroll in (0, 1)]
                assert found[0] == found[1], (name, order, scope, more)
                assert not judge(test, one, 0, counts=False).provisional


def test_which_models_forget_rounds():
    assert MORE_FORGETFUL.keys() == FORGETFUL.keys()
    for text in (
        "acyclic (po \\ loc) | rf as a",
        "empty (rf^-1; co) \\ fr as a",
        "acyclic po \\ (rf^-1; [W]; po) as a",
        "acyclic po \\ ([W \\ RMW]; po) as a",
    ):
        assert forgets_rounds(model(text)), text
    for text in (
        "acyclic po \\ (co; po) as a",
        "acyclic po \\ ([W]; po; po) as a",
        "acyclic co \\ (co; co) as a",
        "acyclic po \\ (po; rf; [R]; po) as a",
    ):
        assert not forgets_rounds(model(text)), text
