"""Who meets whom at barriers, by all three methods; the differential tests have a naive fourth."""

from dataclasses import replace
from itertools import product

import pytest

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.dialects.registry import parse_litmus
from corpus.litmus.propositions import Atom, FinalRegister, Not, conjunction
from oracle.consistency import load_model
from oracle.executions import barriers as module
from oracle.executions.barriers import meetings
from oracle.executions.candidates import execution_events
from oracle.executions.judge import Answer, judge
from oracle.executions.steps import TooManyError
from oracle.executions.threads import unroll_threads

PTX = load_model("oracle/models/ptx-6.0.cat")
METHODS = (judge, judge_by_sat, judge_by_smt)


def ptx(*columns, ctas=None, condition="exists (x == 0)", initial=""):
    """A test of threads in one CTA, unless told otherwise; each its instructions, with ``;`` between."""
    codes = [column.split("; ") for column in columns]
    heading = " | ".join(f"P{t}@cta {0 if ctas is None else ctas[t]},gpu 0" for t in range(len(codes)))
    heading += " ;"
    rows = [
        " | ".join(code[number] if number < len(code) else "" for code in codes) + " ;"
        for number in range(max(map(len, codes)))
    ]
    return parse_litmus("\n".join(["PTX t", f"{{ x=0; y=0; {initial} }}", heading, *rows, condition]))


def ways(test):
    """Every way to meet, over all paths: what each thread's barriers meet, as the names of both, ``P1.0``."""
    found = set()
    for paths in product(*(thread.paths for thread in unroll_threads(test, 2))):
        events = execution_events(test, [event for path in paths for event in path.events])
        barriers = [
            [index for index, event in enumerate(events) if event.barrier and event.thread == thread]
            for thread in range(len(paths))
        ]
        names = {
            index: f"P{thread}.{number}" for thread, row in enumerate(barriers) for number, index in enumerate(row)
        }
        for way in meetings(test, events):
            found.add(tuple(sorted({tuple(sorted((names[a], names[b]))) for a, b in way.pairs})))
    return sorted(map(list, found))


TWO = "bar.cta.sync 1, 1, 2"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        # without a quorum: all whose code has it
        (["bar.cta.sync 0"] * 2, [[("P0.0", "P1.0")]]),
        (["bar.cta.sync 0", "bar.cta.sync 1"], [[]]),
        (["bar.cta.sync 0", "st.weak x, 1"], [[]]),
        (["bar.cta.sync 0; bar.cta.sync 0"] * 2, [[("P0.0", "P1.0"), ("P0.1", "P1.1")]]),
        (["bar.cta.sync 0; bar.cta.sync 0", "bar.cta.sync 0"], []),
        (["bar.cta.sync 0; bar.cta.sync 1", "bar.cta.sync 1; bar.cta.sync 0"], []),
        (
            ["bar.cta.sync 0; bar.cta.sync 1", "bar.cta.arrive 1; bar.cta.sync 0"],
            [[("P0.0", "P1.1"), ("P0.1", "P1.0")]],
        ),
        (["goto LC00; bar.cta.sync 0; LC00:", "bar.cta.sync 0"], []),
        # names: a resource, whatever the number, and else the number
        (["bar.cta.sync 1, 0", "bar.cta.sync 2, 0"], [[("P0.0", "P1.0")]]),
        (["bar.cta.sync 1, 0", "bar.cta.sync 0"], [[("P0.0", "P1.0")]]),
        (["bar.cta.sync 1, r1", "bar.cta.sync 2, 0"], [[("P0.0", "P1.0")]]),
        # a quorum: any two of three meet, and the third stays
        ([TWO] * 3, [[("P0.0", "P1.0")], [("P0.0", "P2.0")], [("P1.0", "P2.0")]]),
        ([TWO] * 2, [[("P0.0", "P1.0")]]),
        (["bar.cta.sync 1, 1, 1"], [[]]),
        (["bar.cta.sync 1, 1, 3"] * 2, []),
        (["bar.cta.sync 1, 1, 2", "bar.cta.sync 1, 1, 1"], []),  # two barriers, and one of them lets nobody through
        (
            [f"{TWO}; {TWO}", TWO, TWO],
            [[("P0.0", "P1.0"), ("P0.1", "P2.0")], [("P0.0", "P2.0"), ("P0.1", "P1.0")], [("P1.0", "P2.0")]],
        ),
        # who arrives without waiting counts, once
        (["bar.cta.arrive 1, 1, 2", TWO], [[("P0.0", "P1.0")]]),
        (["bar.cta.arrive 1, 1, 2; bar.cta.arrive 1, 1, 2", TWO], [[("P0.0", "P1.0")]]),
        (["bar.cta.arrive 1, 1, 2; bar.cta.arrive 1, 1, 2"], []),
        (["bar.cta.arrive 1, 1, 2"], [[]]),
        # who has arrived and waits elsewhere goes on waiting
        (["bar.cta.arrive 1, 1, 2; bar.cta.sync 2, 2, 2", TWO], []),
        # who has arrived in vain and stays elsewhere stays
        (
            ["bar.cta.arrive 2, 2, 3; bar.cta.sync 1, 1, 2", TWO, TWO],
            [[("P0.1", "P1.0")], [("P0.1", "P2.0")], [("P1.0", "P2.0")]],
        ),
    ],
)
def test_meetings(columns, expected):
    test = ptx(*columns)
    assert ways(test) == sorted(expected)
    assert bool(judge(test, PTX).executions) is bool(expected)
    assert len({method(test, PTX).answer for method in METHODS}) == 1


@pytest.mark.parametrize("ctas", [(0, 0), (0, 1)])
def test_barriers_are_of_a_cta(ctas):
    assert ways(ptx("bar.cta.sync 0", "bar.cta.sync 0", ctas=ctas)) == (
        [[("P0.0", "P1.0")]] if ctas == (0, 0) else [[]]
    )
    assert ways(ptx(TWO, TWO, ctas=ctas)) == ([[("P0.0", "P1.0")]] if ctas == (0, 0) else [])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("first", "second", "read", "both", "stale"),
    [
        # the barrier that a value says: without it the two do not meet
        ("1, r2", "1, 1", 0, True, True),
        ("1, r2", "1, 1", 1, True, False),
        # the quorum that a value says: at 2 the two meet, and else P1 never goes on
        ("1, 1, r2", "1, 1, 2", 0, False, False),
        ("1, 1, r2", "1, 1, 2", 1, False, False),
        ("1, 1, r2", "1, 1, 2", 2, True, False),
    ],
)
def test_values_decide_who_meets(method, first, second, read, both, stale):
    """Store buffering through barriers: whether there is an execution in which that is read, and a stale one."""
    test = ptx(
        f"st.weak x, 1; ld.weak r2, z; bar.cta.sync {first}; ld.weak r0, y",
        f"st.weak y, 1; bar.cta.sync {second}; ld.weak r1, x",
        "st.weak z, 1; st.weak z, 2",
        condition=f"exists (P0:r2 == {read} /\\ P0:r0 == 0 /\\ P1:r1 == 0)",
        initial="z=0;",
    )
    assert (method(test, PTX).answer is Answer.ALLOWED) is stale
    finals = conjunction([Atom("eq", FinalRegister(0, "r2"), read), Atom("ge", FinalRegister(1, "r1"), 0)])
    ended = replace(test, condition=replace(test.condition, proposition=finals))
    assert (method(ended, PTX).answer is Answer.ALLOWED) is both


def test_a_register_that_is_not_written_yet_has_no_final_value():
    """The load behind the barrier may never happen; then nothing is said of its register, not even what it is not."""
    test = ptx(TWO, f"{TWO}; ld.weak r1, x", TWO, condition="exists (P1:r1 == 7)")
    other = replace(test, condition=replace(test.condition, proposition=Not(Atom("eq", FinalRegister(1, "r1"), 0))))
    for method in METHODS:
        assert {method(each, PTX).answer.value for each in (test, other)} == {"FORBIDDEN"}


def test_too_many(monkeypatch):
    monkeypatch.setattr(module, "MOST_ARRIVALS", 3)
    with pytest.raises(TooManyError, match="more than 3 orders of arrival at barriers"):
        judge(ptx(*[TWO] * 4), PTX)
