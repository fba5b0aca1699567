"""Warps: what ``synth check`` says of random kernels, against a machine that runs them (``tests/warp_machine.py``)."""

import random
import re
from dataclasses import replace

import pytest
from warp_machine import UNDEFINED, WARP, Machine, UndefinedControlError, compiled, ptx_of, random_kernel

from corpus.code.launch.launch import ArrayArgument, KernelLaunch
from corpus.code.program import program_of
from corpus.code.ptx.meeting import partitions
from corpus.code.ptx.reader import read_ptx
from corpus.code.refusals import NotUnderstoodError
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import CheckAnswer, check

COSTLY = {12, 18}
"""The seeds of kernels with so many barriers that they take a minute."""

SEEDS = [pytest.param(n, marks=[pytest.mark.slow] if n >= 24 or n in COSTLY else []) for n in range(300)]

REFUSED = "which does not come to shfl|a thread ends after|is in a loop of some threads|equally often"
"""Why a kernel may have no answer."""


@pytest.mark.parametrize("seed", SEEDS)
def test_random_kernels_have_the_answers_of_a_machine(seed):
    rng = random.Random(seed)
    threads = rng.choice([3, 4, 4, 4, 6])
    code = compiled(random_kernel(rng, threads, rng.choice([1, 2, 2])))
    decided = [rng.randint(0, 1) for _ in range(2)]
    machine = Machine(code, threads, decided, rng)
    try:
        machine.run()
    except UndefinedControlError:
        return
    module = read_ptx(ptx_of(code), "k.ptx")
    given = {"a": ArrayArgument((), len(machine.memory), 4), "c": ArrayArgument(tuple(decided))}
    launch = KernelLaunch(block=(threads, 1, 1), warp=WARP, arguments=given)
    (model,) = resolve_consistency_models(["ptx"])
    refused = ""
    try:
        program = program_of(module, module.kernels[0], launch)
    except NotUnderstoodError as error:
        refused = error.message
    if refused:
        assert re.search(REFUSED, refused)
        return
    known = [(n, value) for n, value in enumerate(machine.memory) if machine.writes[n] and value != UNDEFINED]
    ends = [f"{'a' if 'a' in program.locations.cells and not n else f'a[{n}]'} == {value}" for n, value in known]
    answers = check(program, model, "" if machine.found else " && ".join(ends), 2, "fair")
    kinds = {finding.kind for finding in answers.findings}
    if not machine.found:
        assert not kinds and CheckAnswer.UNKNOWN not in answers.answers.values()
    elif "race" in machine.found:
        assert "race" in kinds
    elif (
        program.barriers.uncounted and not kinds
    ):  # memory decides how often threads come to a barrier: there is no answer
        assert answers.answers["barrier"] is CheckAnswer.UNKNOWN
    else:
        assert "barrier" in kinds


def kernel(body, launch, **arguments):
    """The program of a kernel of PTX whose lanes have their numbers in ``%r1``."""
    text = f"""
    .version 8.4
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 a, .param .u64 c) {{
      .reg .pred %p<4>;
      .reg .b32 %r<9>;
      .reg .b64 %rd<5>;
      ld.param.u64 %rd1, [a];
      ld.param.u64 %rd2, [c];
      mov.u32 %r1, %tid.x;
      {body}
      ret;
    }}
    """
    module = read_ptx(text, "k.ptx")
    return program_of(module, module.kernels[0], replace(launch, arguments=arguments))


TWO = KernelLaunch(block=(2, 1, 1))
FOUR = KernelLaunch(block=(4, 1, 1), warp=2)


@pytest.mark.parametrize(
    ("body", "launch", "why"),
    [
        ("vote.any.pred %p2, %p1;", TWO, "without .sync and a mask"),
        ("shfl.bfly.b32 %r2, %r1, 1, 31;", TWO, "without .sync and a mask"),
        ("bar.sync 16;", TWO, "a barrier 16 is not understood"),
        ("bar.red.or.pred %p2, 0, 2, %p1;", FOUR, "of some threads of the block"),
        ("setp.eq.s32 %p1, %r1, 0; @%p1 ret; bar.sync 0, 2;", FOUR, "not all threads of a warp come to it equally"),
        ("mov.u32 %r2, %clock; bar.warp.sync %r2;", TWO, "its mask is the value of %clock"),
        (
            "$L: activemask.b32 %r2; ld.global.u32 %r3, [%rd1]; setp.eq.s32 %p1, %r3, 0; @%p1 bra $L;",
            TWO,
            "more than 3",
        ),
    ],
)
def test_what_is_not_said_of_a_warp_is_refused(body, launch, why):
    with pytest.raises(NotUnderstoodError, match=why):
        kernel(body, launch)


def test_lanes_that_do_not_come_are_in_no_partition():
    assert partitions([0]) == [((0,),)]
    assert partitions([0, 2]) == [((0, 2),), ((0,), (2,))]
    assert [len(partitions(range(n))) for n in range(6)] == [1, 1, 2, 5, 15, 52]  # the numbers of Bell
    found = kernel("setp.eq.s32 %p1, %r1, 1; @%p1 ret; activemask.b32 %r2; st.global.u32 [%rd1], %r2;", TWO)
    assert not found.choices
    both = kernel("activemask.b32 %r2; st.global.u32 [%rd1], %r2;", TWO)
    assert [*both.choices.values()] == [2]


def test_what_follows_an_exchange_with_a_lane_that_memory_ends_is_unknown():
    """The vote goes on without lane 1, and nothing of that is followed."""
    body = """mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; ld.global.u32 %r2, [%rd4];
      setp.ne.s32 %p1, %r2, 0; @!%p1 ret; vote.sync.any.pred %p2, %p1, 3; st.global.u32 [%rd1], 1;"""
    (model,) = resolve_consistency_models(["ptx"])
    answers = check(kernel(body, TWO, c=ArrayArgument((1, 0))), model, "a == 0", 2, "fair")
    assert not answers.findings
    assert answers.answers["expectation"] is answers.answers["race"] is CheckAnswer.UNKNOWN
    both = check(kernel(body, TWO, c=ArrayArgument((1, 1))), model, "a == 1", 2, "fair")
    assert {finding.kind for finding in both.findings} == {"race"}
