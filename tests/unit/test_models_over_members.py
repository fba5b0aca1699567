"""Models that go over the members of sets of events: the same verdicts as of models that say it without."""

from random import Random

import pytest
from litmus_code import program
from litmus_random import C11, PTX_2019, random_test
from refusals import refusal

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.errors import InputError
from oracle.consistency import load_model
from oracle.executions.judge import judge
from oracle.executions.steps import TooManyError
from oracle.executions.vocabulary import vocabulary_of
from oracle.executions.witness import explain_memory

ATOMIC = "empty rmw & (fre; coe) as atomicity"
NOTHING_THIN = "acyclic rf | addr | data | ctrl as thin-air"
PRODUCT = """let rec product (all, others) = match all with
|| {} -> 0
|| one ++ rest -> ({one} * others) | product (rest, others)
end
"""
INTO = """let rec into (parts, order) = match parts with
|| {} -> 0
|| part ++ rest -> (order & (part * part)) | into (rest, order)
end
"""


@pytest.fixture
def loaded(tmp_path):
    def load(text, name="m"):
        (tmp_path / f"{name}.cat").write_text(text)
        return load_model(str(tmp_path / f"{name}.cat"))

    return load


SC, COHERENT = "acyclic po | rf | co | fr", "acyclic po-loc | rf | co | fr"
SAME = {
    "pairs of members": (f"{PRODUCT} empty product (R, W) \\ (R * W) {SC}", SC),
    "a set of one event": (
        "let f = match W with || {} -> 0 || e ++ s -> [{e}] end empty f \\ [W] acyclic po",
        "acyclic po",
    ),
    "the middle": (
        "let rec all s = match s with || {} -> 0 || a | e ++ b -> all a | [{e}] | all b end"
        " acyclic (all M; po) | rf | co | fr",
        "acyclic ([M]; po) | rf | co | fr",
    ),
    "by location": (f"{INTO} acyclic into (classes-loc(M), po) | rf | co | fr", COHERENT),
    "partition": (f"{INTO} acyclic into (partition(M), po) | rf | co | fr", COHERENT),
    "classes of a relation": (f"{INTO} acyclic into (classes(loc), po) | rf | co | fr", COHERENT),
    "one by one": (f"forall e in M do acyclic ([{{e}}]; po; [_]) & (po | rf) end {SC}", SC),
    "a condition": (
        "let r = if rf & po = 0 then po else po-loc acyclic r | rf | co | fr empty rf & po",
        f"{SC} empty rf & po",
    ),
    "orders of each location": (
        'include "cross.cat" let all = map (fun s -> linearisations(s & W, co0)) (classes-loc(W))'
        " with mo from cross(all) empty mo \\ co acyclic po | rf | mo | (rf^-1; mo) \\ id",
        SC,
    ),
    "a choice among relations": ("with r from {po-loc, po} acyclic r | rf | co | fr", COHERENT),
    "flags": (
        f"let s = match R with || {{}} -> 0 || e ++ rest -> {{e}} end flag ~empty s as reads {SC}",
        f"flag ~empty R as reads {SC}",
    ),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", SAME)
def test_they_say_what_is_said_without(loaded, name):
    text, plain = SAME[name]
    over = loaded(f"{text} {ATOMIC} {NOTHING_THIN}")
    known = loaded(f"{plain} {ATOMIC} {NOTHING_THIN}", "plain")
    assert over.syntax.over_members is not None
    rng, answers = Random(name), set()
    for number in range(24):
        test = random_test(rng, (C11, PTX_2019)[number % 2])
        if "Barrier" in str(test):
            continue
        said, wanted = judge(test, over), judge(test, known)
        assert (said.answer, said.condition, said.flags) == (wanted.answer, wanted.condition, wanted.flags), test
        answers.add(said.answer)
    assert answers == {"ALLOWED", "FORBIDDEN"}


def test_explanations_name_the_check(loaded):
    over = loaded(f"{INTO} acyclic into (classes-loc(M), po) | rf | co | fr as coherence")
    explained = explain_memory(program("st x 1; ld r1 x | st x 2"), over)
    assert {violation.check.name for violation in explained.violations} <= {"coherence"}


def test_other_methods_say_why_not(loaded):
    over = loaded("let f = match W with || {} -> 0 || one ++ rest -> [{one}] end empty f \\ [W]")
    for way in (judge_by_sat, judge_by_smt):
        with pytest.raises(TooManyError, match="goes over the members of sets, which takes executions to be listed"):
            way(program("st x 1 | ld r1 x"), over)
    with pytest.raises(
        InputError, match=r"m\.cat:1:9: m goes over the members of sets, which are not known of programs"
    ):
        vocabulary_of([over])


def test_too_many_choices_are_no_verdict(loaded):
    over = loaded("let all = linearisations(M, 0) with S from all empty 0 \\ S let f = {po}")
    with pytest.raises(TooManyError, match=r"are too many to list their orders"):
        judge(program("st x 1; st x 2; st x 3; st x 4; st y 1; st y 2; st y 3"), over)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("let s = match R with || {} -> 0 end acyclic s", "m.cat:1:9: no case for this set"),
        ("let s = po ++ W acyclic s", "m.cat:1:9: expected an event or a pair"),
        ("let c = classes-loc(M) acyclic c", "m.cat:1:32: expected a set or relation, found a set of such"),
    ],
)
def test_what_is_wrong_is_one_line(loaded, text, message):
    assert message in refusal(lambda: judge(program("st x 1 | ld r1 x"), loaded(text)))


def test_models_that_do_not_need_it_are_read_as_they_were(loaded):
    """A definition that nothing needs may take more than is known."""
    plain = loaded("let f s = match s with || {} -> 0 || e ++ rest -> {e} end acyclic po | rf | co | fr")
    assert plain.syntax.over_members is None


def test_nothing_to_choose_from_is_no_execution(loaded):
    nothing = loaded("with part from classes(po & 0) acyclic [part]")
    assert judge(program("st x 1 | ld r1 x"), nothing).executions == 0
