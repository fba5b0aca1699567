"""Final conditions: every spelling, the printer as the parser's inverse, and where an error is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from corpus.litmus.condition import parse_condition, print_condition, print_proposition
from corpus.litmus.instructions import COMPARISONS
from corpus.litmus.locations import Loc
from corpus.litmus.propositions import (
    And,
    Atom,
    Condition,
    FinalRegister,
    Not,
    Or,
    Quantifier,
    conjunction,
    disjunction,
)

X, R = Loc("x"), FinalRegister(1, "r2")
A, B, C = Atom("eq", X, 1), Atom("ne", R, 0), Atom("lt", X, R)


def parsed(text, path=None):
    return parse_condition(text, path, lambda term, token: None)


terms = st.one_of(
    st.integers(-(2**31), 2**31 - 1),
    st.sampled_from([Loc("x"), Loc("existsx"), Loc("not1"), Loc("filtered"), Loc("true_"), Loc("P1"), Loc("y.z")]),
    st.builds(FinalRegister, st.integers(0, 12), st.sampled_from(["r0", "exists1", "%r1", "T0"])),
)
propositions = st.recursive(
    st.builds(Atom, st.sampled_from(COMPARISONS), terms, terms),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.lists(inner, max_size=3).map(conjunction),
        st.lists(inner, max_size=3).map(disjunction),
    ),
    max_leaves=8,
)
conditions = st.builds(
    Condition,
    st.sampled_from(Quantifier),
    propositions,
    st.none() | propositions,
    st.lists(terms, max_size=3).map(tuple),
)


@given(conditions, st.sampled_from(["=", "=="]))
def test_what_is_printed_is_read_back(condition, equals):
    text = print_condition(condition, equals=equals)
    assert parsed(text) == condition
    assert print_condition(parsed(text), equals=equals) == text


@pytest.mark.parametrize(
    ("text", "proposition"),
    [
        ("x=1", A),
        ("[x] == 0x1", A),
        ("*x = 1", A),
        ("1:r2 != 0", B),
        ("P1:r2<>0", B),
        ("P1 : r2 <> 0", B),
        ("x < 1:r2", C),
        ("x = -1", Atom("eq", X, -1)),
        ("x = 0xffffffff", Atom("eq", X, -1)),
        ("(((x=1)))", A),
        ("not x=1", Not(A)),
        ("~x=1", Not(A)),
        ("~(x=1 \\/ ~ not (1:r2 != 0))", Not(Or((A, Not(Not(B)))))),
        ("x=1 /\\ 1:r2 != 0 \\/ x<1:r2", Or((And((A, B)), C))),
        ("x=1 /\\ (1:r2 != 0 \\/ x<1:r2)", And((A, Or((B, C))))),
        ("x=1 /\\ (1:r2 != 0 /\\ x<1:r2)", And((A, B, C))),
        ("~x=1 /\\ 1:r2 != 0", And((Not(A), B))),
        ("true", And(())),
        ("false \\/ x=1", A),
        ("0 == 0", Atom("eq", 0, 0)),
    ],
)
def test_propositions_in_every_spelling(text, proposition):
    assert parsed(f"exists ({text})").proposition == proposition
    assert parsed(f"exists {text}").proposition == proposition
    printed = print_proposition(proposition)
    assert parsed(f"exists {printed}").proposition == proposition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exists (x=1)", Condition(Quantifier.EXISTS, A)),
        ("~exists (x=1);", Condition(Quantifier.NOT_EXISTS, A)),
        ("~ exists (x=1)", Condition(Quantifier.NOT_EXISTS, A)),
        ("not exists (x=1)", Condition(Quantifier.NOT_EXISTS, A)),
        ("forall\n(x=1)\n", Condition(Quantifier.FORALL, A)),
        ("filter (1:r2 != 0) exists (x=1)", Condition(Quantifier.EXISTS, A, B)),
        ("locations [x; 1:r2;] exists (x=1)", Condition(Quantifier.EXISTS, A, None, (X, R))),
        ("filter (1:r2 != 0)\nlocations [x 1:r2]\nforall (x=1)", Condition(Quantifier.FORALL, A, B, (X, R))),
        ("filter (x=1) filter (1:r2 != 0) exists true", Condition(Quantifier.EXISTS, And(()), And((A, B)))),
    ],
)
def test_conditions_in_every_spelling(text, expected):
    assert parsed(text) == expected


def test_the_printer_uses_as_few_brackets_as_it_can():
    assert print_proposition(Or((And((A, B)), Not(C)))) == "x == 1 /\\ P1:r2 != 0 \\/ ~(x < P1:r2)"
    assert print_proposition(And((Or((A, B)), C))) == "(x == 1 \\/ P1:r2 != 0) /\\ x < P1:r2"
    assert print_condition(Condition(Quantifier.NOT_EXISTS, A, B, (X, R)), equals="=") == (
        "locations [x; P1:r2;]\nfilter (P1:r2 != 0)\n~exists (x = 1)\n"
    )


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("exists (x=1", "1:12", "expected ')' or '\\/', found the end of the file"),
        ("exists", "1:7", "found the end of the file"),
        ("\n  exists (x 1)", "2:13", "expected a comparison, found '1'"),
        ("exists (x=1) forall (x=1)", "1:14", "found 'forall'"),
        ("exists (x==99999999999)", "1:12", "expected a 32-bit number, found 99999999999"),
        ("exists (99999999:r1=0)", "1:9", "expected a number up to 65535, found 99999999"),
        ("exists (1:=0)", "1:11", "expected a name, found '='"),
        ("exists (x=1 & y=1)", "1:13", "found '&'"),
        ("locations [x exists (x=1)", "1:14", "found 'exists'"),
        ("filter exists (x=1)", "1:15", "found '('"),
        ("exists (" + "~" * 5 + ")", "1:14", "found ')'"),
    ],
)
def test_malformed_conditions_get_one_line_with_its_place(text, place, message):
    shown = refusal(parsed, text, "t.litmus")
    assert shown.startswith(f"t.litmus:{place}: ")
    assert message in shown


def test_every_name_is_checked():
    seen = []
    parse_condition(
        "locations [a; 0:r1;] filter (b = 0) exists (c = 1 /\\ ~ 1:r2 < d)", None, lambda term, token: seen.append(term)
    )
    assert [str(getattr(term, "name", getattr(term, "register", ""))) for term in seen] == [
        "a",
        "r1",
        "b",
        "c",
        "r2",
        "d",
    ]
