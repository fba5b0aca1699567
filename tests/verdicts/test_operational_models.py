"""Sorensen 2013, Table 4.2, row by row: what the two operational models say of the litmus tests of its chapter 3.

"?" is allowed but not guaranteed, "x" not allowed, "guaranteed" what it says. A row is checked for every placement it
names: all threads in one block, each in its own; and where the verdict does not depend on it, all those between.
"""

import pytest
from litmus_code import program, where
from reference_thesis import all_placements

from oracle.consistency import OPERATIONAL as MODELS
from oracle.operational.explore import explore, satisfies, witness

COHERENCE = "st a 1 | st a 2 | ld r1 a; {0} ld r2 a | ld r1 a; {0} ld r2 a"  # Figs 3.1, 3.3 and the listing in 4.4
INCOHERENT = where(P2_r1=1, P2_r2=2, P3_r1=2, P3_r2=1)
VISIBILITY = "st a 1; {0} st b 2 | ld r1 b; cta; ld r2 a"  # Fig. 3.5
SEEN, UNSEEN = where(P1_r1=2, P1_r2=1), where(P1_r1=2, P1_r2=0)
ATOMICITY = "st x 1 | st y 1 | ld r1 x; {0} ld r2 y | ld r1 y; {0} ld r2 x"  # Fig. 1.2
TORN = where(P2_r1=1, P2_r2=0, P3_r1=1, P3_r2=0)

NO, TFB, TF = "", "cta;", "gl;"
INTRA, INTER = [(0, 0)], [(0, 1)]
ALL = list(all_placements(4))
ENDS = [(0, 0, 0, 0), (0, 1, 2, 3)]


def verdict(test, violation, strong):
    """What Table 4.2 would say: whether the violation, and whether something else, can come about."""
    outcomes = explore(test, strong)
    assert not outcomes.bounded
    ways = {satisfies(outcomes.terms, final, violation) for final in outcomes.finals}
    return {frozenset({True, False}): "?", frozenset({False}): "x", frozenset({True}): "always"}[frozenset(ways)]


# row of the table, test, fences in the place of {0}, violation, placements, names in shared memory, weak, strong
ROWS = [
    ("classical coherence violation", COHERENCE, [NO], INCOHERENT, ALL, "", "?", "x"),
    ("the same, shared memory", COHERENCE, [NO], INCOHERENT, [(0, 0, 0, 0)], "a", "?", "x"),
    ("relaxed coherence violation", COHERENCE, [TFB, TF], INCOHERENT, ALL, "", "x", "x"),
    ("the same, shared memory", COHERENCE, [TFB, TF], INCOHERENT, [(0, 0, 0, 0)], "a", "x", "x"),
    ("visibility, shared, no fence", VISIBILITY, [NO], UNSEEN, INTRA, "a b", "?", "?"),
    ("visibility, shared, TFB", VISIBILITY, [TFB], UNSEEN, INTRA, "a b", "x", "x"),
    ("visibility, shared, TF", VISIBILITY, [TF], UNSEEN, INTRA, "a b", "x", "x"),
    ("visibility, global, no fence", VISIBILITY, [NO], UNSEEN, INTRA + INTER, "", "?", "?"),
    ("visibility, global, TFB, intra", VISIBILITY, [TFB], UNSEEN, INTRA, "", "x", "x"),
    ("visibility, global, TFB, inter", VISIBILITY, [TFB], UNSEEN, INTER, "", "?", "?"),
    ("visibility, global, TF", VISIBILITY, [TF], UNSEEN, INTRA + INTER, "", "x", "x"),
    ("visibility, both memories, no fence", VISIBILITY, [NO], UNSEEN, INTRA, "a", "?", "?"),
    ("visibility, both memories, fence", VISIBILITY, [TFB, TF], UNSEEN, INTRA, "a", "x", "x"),
    ("write atomicity violation, no fence", ATOMICITY, [NO], TORN, ALL, "", "?", "?"),
    ("write atomicity violation, TFB", ATOMICITY, [TFB], TORN, ENDS, "", "?", "x"),
    ("write atomicity violation, TF", ATOMICITY, [TF], TORN, ALL, "", "?", "x"),
    ("write atomicity violation, shared", ATOMICITY, [TFB, TF], TORN, [(0, 0, 0, 0)], "x y", "?", "x"),
]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_table_4_2(row):
    _, text, fences, violation, placements, shared, weak, strong = row
    for fence in fences:
        for blocks in placements:
            test = program(text.format(fence), blocks, shared)
            assert (verdict(test, violation, False), verdict(test, violation, True)) == (weak, strong), (fence, blocks)


@pytest.mark.parametrize("strong", [False, True])
@pytest.mark.parametrize("fence", [NO, TFB, TF])
@pytest.mark.parametrize("blocks", INTRA + INTER)
def test_a_guarantee_is_not_an_empty_one(strong, fence, blocks):
    assert witness(program(VISIBILITY.format(fence), blocks), strong, SEEN)


@pytest.mark.parametrize("model", sorted(MODELS))
@pytest.mark.parametrize("blocks", INTRA + INTER)
def test_load_buffering_with_membar_cta(model, blocks):
    """Alglave et al. 2015, section 6: the operational model forbids it, and hardware shows it."""
    test = program("ld r1 x; cta; st y 1 | ld r1 y; cta; st x 1", blocks)
    assert verdict(test, where(P0_r1=1, P1_r1=1), MODELS[model]) == "x"


def test_loads_and_stores_of_different_locations_pass_each_other():
    test = program("ld r1 x; st y 1 | ld r1 y; st x 1", (0, 1))
    assert [verdict(test, where(P0_r1=1, P1_r1=1), strong) for strong in (False, True)] == ["?", "?"]


@pytest.mark.parametrize("fences", [("cta;", "gl;"), ("gl;", "cta;"), ("gl;", "gl;")])
@pytest.mark.parametrize("blocks", [(0, 0, 1), (0, 1, 0), (0, 1, 2)])
def test_fences_are_cumulative_in_the_strong_model_alone(fences, blocks):
    """Sorensen 2013, 3.4 and 4.4.1: a fence of the weak model shares what its own thread wrote."""
    test = program("st a 1 | ld r1 a; {} st b 1 | ld r1 b; {} ld r2 a".format(*fences), blocks)
    relayed = where(P1_r1=1, P2_r1=1, P2_r2=0)
    inside = fences[0] == "cta;" and blocks == (0, 0, 1)  # TFB does not reach the other block
    assert (verdict(test, relayed, False), verdict(test, relayed, True)) == ("?", "?" if inside else "x")
