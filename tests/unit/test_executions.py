"""Executions as clauses: as many models as there are executions, and no more."""

from dataclasses import replace
from random import Random

import pytest
from litmus_code import litmus_test, program
from litmus_models import grounded, odd, shipped
from litmus_random import C11, PLAIN, PTX_2015, PTX_2019, random_test

from constraints.circuit import Circuit
from constraints.executions import Executions, FiniteValues, judge_by_sat
from constraints.smt import judge_by_smt
from constraints.solvers import open_solver
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Load
from corpus.litmus.locations import Loc, Location, Reg
from corpus.litmus.propositions import Atom, FinalRegister
from oracle.executions.judge import Answer, judge
from oracle.executions.spins import forgets_reads, spinning_jumps

MODELS = {name: grounded(model) for name, model in (shipped() | odd()).items()}
SC = shipped()["sc"]
CHOICES = ("step", "rf", "co", "meet", "final")


def number_of_models(test, model, unroll=2):
    """How many executions the clauses have, told apart by what an execution chooses."""
    executions = Executions(test, model, unroll)
    FiniteValues(executions)
    formula = executions.circuit.formula
    places = {event.key: number for number, event in enumerate(executions.events)}

    def told(name, happens):
        """Whether a variable matters: an order of fences that happen, a value of a read that happens."""
        kind, *of = name
        if kind == "order":
            return happens(of[1]) and happens(of[2])
        return happens(places[of[0]]) if kind == "value" else kind in CHOICES

    opened = open_solver("cadical153", formula.variables)
    opened.add(formula.clauses)
    found = 0
    while opened.solve():
        found += 1
        values = opened.model()
        true = [values[abs(literal.number) - 1] * literal.number > 0 for literal in executions.executed]
        chosen = [number for name, number in formula.names() if told(name, true.__getitem__)]
        opened.add([[-values[number - 1] for number in chosen]])
    opened.close()
    return found


@pytest.mark.parametrize(
    "text",
    [
        "st x 1; st y 1 | ld r1 y; ld r2 x",
        "st x 1; cta; ld r1 y | st y 1; gl; ld r1 x",
        "st x 1; gl; st x 2 | gl; ld r1 x | gl",
        "st x 1 | st x 2; st x 3 | ld r1 x",
        "ld r1 x",
        "gl; cta | cta; gl",
    ],
)
@pytest.mark.parametrize("observed", ["", "x"])
def test_as_many_models_as_executions(text, observed):
    test = program(text, (0, 1, 0)[: text.count("|") + 1], observed=observed)
    counts = {name: number_of_models(test, model) for name, model in MODELS.items()}
    assert counts == {name: judge(test, model).executions for name, model in MODELS.items()}
    assert counts["sc"] > 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("profile", [PLAIN, PTX_2015, PTX_2019, C11], ids=lambda profile: profile.name)
@pytest.mark.parametrize("name", MODELS)
def test_as_many_models_as_executions_of_random_tests(name, profile):
    rng, compared = Random(f"{name} {profile.name}"), 0
    for _ in range(6):
        test = random_test(rng, profile)
        unroll = unrolled_by_both(test, MODELS[name])
        try:
            expected = judge(test, MODELS[name], unroll).executions
        except InputError:
            continue
        if expected < 60:  # the solver finds one at a time
            assert number_of_models(test, MODELS[name], unroll) == expected, test
            compared += 1
    assert compared >= 3


def unrolled_by_both(test, model):
    """How often to unroll for the clauses and the oracle to have the same rounds.

    The oracle lists every round up to its bound. The clauses take a jump that spins once, whatever the bound, where the
    model allows the execution without further rounds if it allows that with them (``oracle.executions.spins``). So such
    a pair of test and model is compared with one round, all others with two.
    """
    spins = any(spinning_jumps(test, number) for number in range(len(test.threads)))
    return 1 if spins and forgets_reads(model) else 2


def test_clauses_have_one_round_of_a_loop_that_only_waits():
    """The flag is 1 at once, after one round or after two: the oracle counts three executions, the clauses two."""
    test = parse_litmus("""PTX wait
{ f=0; }
 P0@cta 0,gpu 0          | P1@cta 1,gpu 0    ;
 LC0:                    | st.relaxed.gpu f, 1 ;
 ld.relaxed.gpu r0, f    |                   ;
 bne r0, 1, LC0          |                   ;
exists (P0:r0 == 1)
""")
    for name, model in MODELS.items():
        rounds = [judge(test, model, unroll).executions for unroll in (1, 2)]
        assert rounds == [2, 3], name
        assert number_of_models(test, model) == rounds[0 if forgets_reads(model) else 1], name


THIN_AIR = """PTX thin-air
{ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 ld.weak r1, x  | ld.weak r1, y  ;
 st.weak y, r1  | st.weak x, r1  ;
"""


@pytest.mark.parametrize("condition", ["P0:r1 == 1234", "P0:r1 > 9", "P0:r1 < 0", "not (P0:r1 == 0 \\/ P0:r1 == 1)"])
def test_values_out_of_thin_air_by_either_solver(condition):
    test = parse_litmus(f"{THIN_AIR}exists ({condition})")
    for name, model in shipped().items():
        expected = judge(test, model).answer
        assert judge_by_sat(test, model).answer == judge_by_smt(test, model).answer == expected, name
    assert judge(test, shipped()["rc11-scoped"]).answer is Answer.ALLOWED


def test_z3_carries_arithmetic_that_lists_of_values_cannot():
    """A number in a circle that is tripled: its values cannot be listed, and -2^31 < 3r < 2^31 has others than 0."""
    text = THIN_AIR.replace(" st.weak y, r1  ", " mul r2, r1, 3  ").replace(
        " | st.weak x, r1  ;\n", " | st.weak x, r1  ;\n st.weak y, r2  |                 ;\n"
    )
    test = parse_litmus(f"{text}exists (P0:r1 == -2147483648)")
    assert judge_by_smt(test, shipped()["rc11-scoped"]).answer is Answer.ALLOWED
    assert judge_by_smt(test, SC).answer is Answer.FORBIDDEN


@pytest.mark.parametrize(
    ("operation", "left", "right", "result"),
    [
        ("add", 2**31 - 1, 1, -(2**31)),
        ("sub", -(2**31), 1, 2**31 - 1),
        ("mul", 2**16, 2**15, -(2**31)),
        ("mul", 2**16, 2**16, 0),
        ("div", 7, 2, 3),
        ("div", -7, 2, -3),
        ("div", 7, -2, -3),
        ("div", 7, 0, 0),
        ("div", -7, 0, 0),
        ("div", -(2**31), -1, -(2**31)),
        ("and", -2, 7, 6),
        ("or", -8, 3, -5),
        ("xor", -1, 1, -2),
        ("min", -1, 1, -1),
        ("max", -1, 1, 1),
        ("lt", -1, 1, 1),
        ("gt", -1, 1, 0),
        ("le", 1, 1, 1),
        ("ge", -2, -1, 0),
        ("eq", 3, 3, 1),
        ("ne", 3, 3, 0),
    ],
)
def test_arithmetic_is_the_same_in_every_way(operation, left, right, result):
    """On values that are read, so that each method computes them itself."""
    reads = (Load("r1", Loc("x")), Load("r2", Loc("y")), Assign("r3", operation, (Reg("r1"), Reg("r2"))))
    test = replace(litmus_test([reads], (0,)), locations=(Location("x", left), Location("y", right)))
    for expected, answer in ((result, Answer.ALLOWED), (result + 1 if result < 9 else 0, Answer.FORBIDDEN)):
        proposition = Atom("eq", FinalRegister(0, "r3"), expected)
        asked = replace(test, condition=replace(test.condition, proposition=proposition))
        assert {way(asked, SC).answer for way in (judge, judge_by_sat, judge_by_smt)} == {answer}


LOOP = """PTX loop
{ x=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0   ;
 LC0:           | st.weak x, 1     ;
 ld.weak r1, x  |                  ;
 bne r1, 2, LC0 |                  ;
exists (P0:r1 == 2)
"""


@pytest.mark.parametrize("way", [judge, judge_by_sat, judge_by_smt])
def test_a_loop_that_does_not_end_is_bounded(way):
    judgement = way(parse_litmus(LOOP), SC)
    assert (judgement.answer, judgement.bounded) == (Answer.FORBIDDEN, True)


@pytest.mark.parametrize("way", [judge, judge_by_sat, judge_by_smt])
def test_what_may_be_otherwise_beyond_the_bound_says_so(way):
    """Within two jumps back, which are counted, the load may see 1 or not; 2 is never there."""
    counting = LOOP.replace("bne r1, 2, LC0 |", "add r2, r2, 1  |                  ;\n bne r1, 1, LC0 |")

    def said(condition):
        judgement = way(parse_litmus(counting.replace("exists (P0:r1 == 2)", condition)), SC)
        assert judgement.bounded
        return judgement.answer, judgement.condition, judgement.provisional

    assert said("exists (P0:r1 == 1)") == (Answer.ALLOWED, True, False)
    assert said("exists (P0:r1 == 2)") == (Answer.FORBIDDEN, False, True)
    assert said("~exists (P0:r1 == 1)") == (Answer.ALLOWED, False, False)
    assert said("~exists (P0:r1 == 2)") == (Answer.FORBIDDEN, True, True)
    assert said("forall (P0:r1 == 1)") == (Answer.ALLOWED, True, True)
    assert said("forall (x == 0)") == (Answer.FORBIDDEN, False, True)


@pytest.mark.parametrize("way", [judge, judge_by_sat, judge_by_smt])
def test_a_loop_that_only_waits_needs_no_such_word(way):
    for condition in ("exists (P0:r1 == 3)", "~exists (P0:r1 == 3)", "forall (P0:r1 == 2)"):
        judgement = way(parse_litmus(LOOP.replace("exists (P0:r1 == 2)", condition)), SC)
        assert judgement.bounded and not judgement.provisional


@pytest.mark.parametrize("way", [judge, judge_by_sat, judge_by_smt])
def test_how_often_loops_are_taken(way):
    code = LOOP.replace("bne r1, 2, LC0", "add r2, r2, 1 ").replace(
        "exists", " blt r2, 4, LC0 |                  ;\nexists"
    )
    test = parse_litmus(code.replace("P0:r1 == 2", "P0:r2 == 4"))
    answers = [(way(test, SC, unroll).answer, way(test, SC, unroll).bounded) for unroll in (2, 3)]
    assert answers == [(Answer.FORBIDDEN, True), (Answer.ALLOWED, False)]


def test_gates_are_simplified_and_shared():
    circuit = Circuit()
    a, b = circuit.var("a"), circuit.var("b")
    clauses = len(circuit.formula.clauses)
    assert a & circuit.true is a and a | circuit.false is a and a & a is a
    assert a & circuit.false is circuit.false and a | circuit.true is circuit.true
    assert a & ~a is circuit.false and a | ~a is circuit.true
    assert ~~a is a and not circuit.false and circuit.true and a
    assert len(circuit.formula.clauses) == clauses
    assert a & b is b & a and a | b is ~(~a & ~b)
    assert len(circuit.formula.clauses) == clauses + 2 * 3
