"""Threads unrolled with their ways merged: as many events as the program has, and the executions of its paths."""

from dataclasses import replace
from itertools import product
from random import Random

import pytest
from litmus_models import odd, shipped
from litmus_random import PROFILES, random_test

from constraints import demanded
from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Store
from corpus.litmus.locations import Loc, Reg
from oracle.executions import unrolled as module
from oracle.executions.judge import Answer, judge
from oracle.executions.spins import spinning_jumps
from oracle.executions.steps import TooManyError
from oracle.executions.unrolled import merged_threads

MODELS = shipped() | odd()

CODE = {
    # name: P0, P1, what is asked of each pair of values of two terms
    "ways that write one register": (
        "ld.relaxed.gpu r0, x; beq r0, 0, LC00; ld.relaxed.gpu r1, y; goto LC01; LC00:; add r1, r1, 5; LC01:; "
        "st.weak z, r1",
        "st.relaxed.gpu y, 2; st.relaxed.gpu x, 1",
        ("P0:r1", "z"),
    ),
    "an address of two": (
        "ld.weak r0, x; beq r0, 0, LC00; add r9, r8, 1; goto LC01; LC00:; add r9, r8, 2; LC01:; st.weak [r9], 1; "
        "fence.sc.gpu; ld.weak r1, z",
        "st.weak x, 1; fence.sc.gpu; ld.weak r2, y",
        ("P0:r1", "P1:r2"),
    ),
    "a count of rounds": (
        "LC00:; ld.relaxed.gpu r0, x; add r1, r1, 1; bne r0, 1, LC00; st.weak y, r1",
        "ld.relaxed.gpu r2, y; st.relaxed.gpu x, 1",
        ("P0:r1", "P1:r2"),
    ),
    "rounds within rounds": (
        "LC00:; ld.weak r0, x; LC01:; ld.weak r1, y; add r3, r3, r1; bne r1, 1, LC01; bne r0, 1, LC00",
        "st.weak y, 1; st.weak x, 1",
        ("P0:r3", "P0:r1"),
    ),
    "a lock": (
        "LC00:; atom.acquire.gpu.cas r0, x, 0, 1; bne r0, 0, LC00; ld.weak r1, y; add r1, r1, 1; st.weak y, r1",
        "atom.acquire.gpu.cas r0, x, 0, 1; bne r0, 0, LC10; st.weak y, 1; st.release.gpu x, 0; LC10:",
        ("y", "P0:r1"),
    ),
    "barriers on some ways": (
        "ld.weak r0, x; beq r0, 0, LC00; bar.cta.sync 0; LC00:; bar.cta.sync 0; ld.weak r1, y",
        "st.weak y, 1; bar.cta.sync 0; st.weak x, 1",
        ("P0:r0", "P0:r1"),
    ),
}  # fmt: skip


def written(what: str, proposition: str):
    one, other, _ = CODE[what]
    columns = [one.split("; "), other.split("; ")]
    rows = [
        " | ".join(column[number] if number < len(column) else "" for column in columns) + " ;"
        for number in range(max(map(len, columns)))
    ]
    heading = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;" if "bar." in one else "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;"
    text = "\n".join(["PTX t", "{ x=0; y=0; z=0; w=0; }", heading, *rows, f"exists ({proposition})"])
    test = parse_litmus(text.replace("[r9]", "w"))
    threads = [replace(thread, instructions=tuple(map(by_register, thread.instructions))) for thread in test.threads]
    return replace(test, threads=tuple(threads))


def by_register(instruction):
    """What the dialect has no words for: r8 plus n is the address of the n-th location, and w is where r9 points."""
    match instruction:
        case Assign("r9", "add", (_, number)):
            return Assign("r9", "mov", (Loc("xyz"[number]),))
        case Store(Loc("w"), value, mode):
            return Store(Reg("r9"), value, mode)
    return instruction


@pytest.mark.one_in(3)
@pytest.mark.parametrize("what", CODE)
def test_solvers_see_the_executions_of_the_paths(what):
    one, other = CODE[what][2]
    seen = set()
    for (name, model), values in product(MODELS.items(), product((0, 1, 2, 5), repeat=2)):
        if (len(name) + sum(values)) % 5:
            continue  # a fifth of the combinations, each model with some
        test = written(what, f"{one} == {values[0]} /\\ {other} == {values[1]}")
        judgements = [way(test, model, 1) for way in (judge, judge_by_sat)]
        assert judgements[0].answer is judgements[1].answer, (name, values)
        assert set(judgements[0].flags) == set(judgements[1].flags), (name, values)
        assert judgements[0].bounded is judgements[1].bounded
        seen.add(judgements[0].answer)
    assert seen == {Answer.ALLOWED, Answer.FORBIDDEN}


@pytest.mark.parametrize("what", CODE)
def test_so_does_z3(what):
    one, other = CODE[what][2]
    for values in ((0, 1), (1, 1), (2, 2)):
        test = written(what, f"{one} == {values[0]} /\\ {other} == {values[1]}")
        assert judge(test, MODELS["ptx-6.0"], 1).answer is judge_by_smt(test, MODELS["ptx-6.0"], 1).answer


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", MODELS)
def test_relations_may_be_made_at_once(name, monkeypatch):
    monkeypatch.setattr(demanded, "DEEPEST", 1)
    for number in range(40):
        test = random_test(Random(f"{name} {number}"), PROFILES[number % len(PROFILES)])
        try:
            listed = judge(test, MODELS[name])
        except InputError:
            continue
        solved = judge_by_sat(test, MODELS[name])
        assert (listed.answer, listed.condition) == (solved.answer, solved.condition), test
        assert set(listed.flags) == set(solved.flags)


def ifs(count: int):
    columns = []
    for thread in range(2):
        column = []
        for number in range(count):
            column += [f"ld.relaxed.gpu r{number}, x", f"bne r{number}, 1, LC{thread}{number}"]
            column += [f"st.relaxed.gpu y, {number + 1}", f"LC{thread}{number}:"]
        columns.append(column)
    rows = [" | ".join(row) + " ;" for row in zip(*columns, strict=True)]
    heading = "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;"
    return parse_litmus("\n".join(["PTX ifs", "{ x=0; y=0; }", heading, *rows, "exists (P0:r1 == 1)"]))


def test_a_thread_has_the_events_of_its_program_not_of_its_paths():
    for count in (3, 10, 40):
        for thread in merged_threads(ifs(count), 2):
            assert len({event.key for step in thread.steps for event in step.events}) == 2 * count
            assert not thread.merges and not thread.bounded


def test_loops_in_a_row_do_not_multiply():
    rows = [f"LC{n}: ;\nld.weak r{n}, x ;\nbne r{n}, 1, LC{n} ;" for n in range(8)]
    test = parse_litmus("\n".join(["PTX t", "{ x=0; }", "P0@cta 0,gpu 0 ;", *rows, "exists (x == 0)"]))
    (thread,) = merged_threads(test, 2)
    assert len({event.key for step in thread.steps for event in step.events}) == 8 * 3
    assert thread.cut == spinning_jumps(test, 0)
    (thread,) = merged_threads(test, 2, once=True)
    assert len({event.key for step in thread.steps for event in step.events}) == 8 * 2
    assert thread.cut == spinning_jumps(test, 0)


def test_what_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_PLACES", 10)
    with pytest.raises(TooManyError, match="P0 unrolls to more than 10 places"):
        merged_threads(ifs(4), 2)
