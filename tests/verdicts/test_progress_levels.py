"""Verdicts of composed models on programs in placements, stated with reasons in ``progress_levels.csv``.

They were derived from the wording of the models (``oracle.promises``, docs/progress.md), not from what synth says. A
place is written ``workgroup.subgroup``, with the queue family before that, and before that the device, where they are
said. Each row is judged as a program with places and as a litmus test with a scope tree, both read from text.
"""

from __future__ import annotations

import csv
from collections import Counter
from itertools import zip_longest
from pathlib import Path

import pytest

from corpus.dialects.dartagnan.vulkan import VULKAN
from corpus.dialects.registry import parse_litmus
from corpus.progress.as_litmus import VULKAN_RELAXED, axb_program, axb_test
from corpus.progress.axb import placed
from corpus.progress.idioms import idioms
from corpus.progress.text import parse_axb, print_axb
from oracle.liveness import judge_liveness, resolve_liveness_models
from oracle.progress.explain import explain, explain_system
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import system_verdicts, verdicts
from oracle.progress.plugins import resolve_models
from synth.memory.liveness import explain_liveness

with open(Path(__file__).with_suffix(".csv").with_name("progress_levels.csv"), newline="") as file:
    ROWS = list(csv.DictReader(file))

WAIT, WRITE = "0: if (Mem[0] == 0) goto 0;", "0: Mem[0] = 1;"


def program_of(*threads):
    return parse_axb("".join(f"THREAD {tid}\n{code}\n" for tid, code in enumerate(threads)))


PROGRAMS = {
    "consumer-first": idioms()["prodcons-decreasing"],
    "producer-first": idioms()["prodcons-increasing"],
    "lock": idioms()["mutex"],
    "barrier-2": idioms()["barrier-2"],
    "barrier-3": idioms()["barrier-3"],
    "contention": idioms()["philosophers-simplified"],
    "writer-last": program_of(WAIT, WAIT, WRITE),
    "writer-beside-waiter": program_of(WAIT, WRITE, WAIT),
    "two-writers": program_of(WRITE, WRITE, WAIT),
    "pipeline": program_of(WRITE, f"{WAIT}\n1: Mem[1] = 1;", "0: if (Mem[1] == 0) goto 0;"),
}


def places_of(text):
    numbers = [[int(number) for number in place.split(".")] for place in text.split()]
    return tuple((*[0] * (4 - len(place)), *place) for place in numbers)


def stated(row):
    return [row["weak"], row["strong"]]


def test_the_table_is_large_and_has_both_verdicts():
    said = Counter(verdict for row in ROWS for verdict in stated(row))
    assert len(ROWS) >= 40 and min(said.values()) > len(ROWS) / 2
    assert len({(row["program"], row["places"], row["promises"]) for row in ROWS}) == len(ROWS)
    assert all(row["reason"].endswith(".") for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['program']}-{row['places']}-{row['promises']}")
def test_a_row(row):
    program = placed(PROGRAMS[row["program"]], places_of(row["places"]))
    assert parse_axb(print_axb(program)) == program
    models = resolve_models([row["promises"]])
    assert [*verdicts(program, models).values()] == stated(row)
    assert [explain(program, model).verdict for model in models] == stated(row)
    test = axb_test(program, "test", VULKAN_RELAXED)
    if not any(place[0] for place in program.places):
        test = parse_litmus(VULKAN.print(test))
        assert axb_program(test) == program
    system = explore_litmus(test)
    assert [*system_verdicts(system.successors, [m.among(system.places) for m in models]).values()] == stated(row)


# Control barriers, which AXB programs do not have: the threads of PTX tests are in warps of their own.

MEET, FLAG, SPIN = "bar.cta.sync 0", "st.relaxed.gpu x, 1", "LC{0}: ;ld.relaxed.gpu r0, x;beq r0, 0, LC{0}"

BARRIERS = [
    (
        (MEET, MEET),
        (0, 0),
        "hsa@workgroup & obe@subgroup",
        "TERMINATES",
        "Who waits at the barrier does not run. Nobody else has started, so that some other thread is promised a step.",
    ),
    (
        (MEET, MEET),
        (0, 0),
        "fair@workgroup & unfair@subgroup",
        "TERMINATES",
        "While one waits at the barrier the other is all of the workgroup that runs, and the promise goes to it.",
    ),
    (
        (MEET, f"{MEET};{FLAG}", SPIN),
        (0, 0, 1),
        "hsa@workgroup & obe@subgroup",
        "TERMINATES",
        "Both threads of the lowest workgroup come to the barrier, and have then started; workgroup 1 waits for them.",
    ),
    (
        (MEET, f"{MEET};{FLAG}", SPIN),
        (0, 0, 0),
        "hsa@workgroup & obe@subgroup",
        "MAY_HANG",
        "The subgroup that spins has started, and then neither of the two that meet need start.",
    ),
    (
        (MEET, f"{MEET};{FLAG}", SPIN),
        (0, 0, 0),
        "obe@workgroup & hsa@subgroup",
        "TERMINATES",
        "The workgroup has started; its lowest subgroup that runs comes to the barrier, then the next, which writes.",
    ),
    (
        (SPIN, f"{MEET};{FLAG}", MEET),
        (0, 0, 0),
        "obe@workgroup & hsa@subgroup",
        "MAY_HANG",
        "The lowest subgroup spins, and no other one is promised execution.",
    ),
    (
        (MEET, f"{SPIN};{MEET}"),
        (0, 0),
        "fair@workgroup & fair@thread",
        "MAY_HANG",
        "Thread 1 spins before the barrier, and nobody sets the flag.",
    ),
    (
        (f"{FLAG};{MEET}", f"{SPIN};{MEET}"),
        (0, 0),
        "lobe@workgroup & hsa@subgroup",
        "TERMINATES",
        "The lowest subgroup writes before it waits; then thread 1 is the lowest that runs.",
    ),
]


def ptx(codes, ctas):
    columns = [code.format(thread).split(";") for thread, code in enumerate(codes)]
    heads = " | ".join(f"P{thread}@cta {cta},gpu 0" for thread, cta in enumerate(ctas))
    rows = [" | ".join(row) + " ;" for row in zip_longest(*columns, fillvalue="")]
    return parse_litmus("\n".join(["PTX barriers", "{ x=0; }", f"{heads} ;", *rows, "exists (0 == 0)"]))


@pytest.mark.parametrize(("codes", "ctas", "promises", "verdict", "reason"), BARRIERS)
def test_threads_that_wait_at_a_barrier_are_promised_nothing(codes, ctas, promises, verdict, reason):
    test = ptx(codes, ctas)
    system = explore_litmus(test)
    models = [model.among(system.places) for model in resolve_models([promises])]
    assert set(system_verdicts(system.successors, models).values()) == {verdict}, reason
    assert {explain_system(system, model).verdict for model in models} == {verdict}, reason
    (pair,) = resolve_liveness_models([f"{promises} & sc"])
    assert explain_liveness(test, pair, 2).verdict == judge_liveness(test, pair, 2).verdict == verdict, reason
