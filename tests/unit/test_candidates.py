"""Candidate executions: orders, values and where they come from, what counts as one execution."""

from itertools import permutations

import pytest
from litmus_code import litmus_test, program

from corpus.dialects.registry import parse_litmus
from corpus.litmus.instructions import Fence
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.propositions import FinalRegister
from oracle.cat.interpreter import Model
from oracle.cat.syntax import parse_cat, shipped_models
from oracle.consistency import load_model
from oracle.executions import candidates as module
from oracle.executions.candidates import candidates, coherence_orders
from oracle.executions.judge import Answer, judge, outcomes
from oracle.executions.orders import orders_of
from oracle.executions.steps import TooManyError
from oracle.executions.threads import unroll_threads

MODELS = {name: load_model(path, name) for name, path in shipped_models().items() if not name.startswith("thesis")}
"""Of those that ship; the axioms for the thesis know no atomic operations."""
ANYTHING = Model("anything", parse_cat("let x = 0", "m.cat"))
PARTIAL = Model("partial", parse_cat("with co from partial-co", "m.cat"))
FENCES = Model("fences", parse_cat("let x = sync_fence", "m.cat"))


def ptx(state, code, condition="exists (0 == 0)"):
    return parse_litmus(f"PTX test\n{{ {state} }}\n{code}\n{condition}\n")


def finals(test, model=ANYTHING):
    """The final states, each as text: ``P0:r1=1 x=2``; sorted."""

    def text(term, value):
        return f"P{term.thread}:{term.register}={value}" if isinstance(term, FinalRegister) else f"{term.name}={value}"

    return sorted(" ".join(sorted(text(*final) for final in state)) for state in outcomes(test, model))


@pytest.mark.parametrize(("writes", "orders"), [(0, 1), (1, 1), (2, 3), (3, 19), (4, 219), (5, 4231)])
def test_partial_orders_are_counted_as_in_the_encyclopedia(writes, orders):
    """OEIS A001035; each order once, transitive, with the initial write before the others."""
    found = coherence_orders(writes + 1, partial=True, observed=False)
    assert len(found) == len({order.pairs for order in found}) == orders
    for order in found[:300]:
        assert all((a, d) in order.pairs for a, b in order.pairs for c, d in order.pairs if b == c)
        assert all((0, write) in order.pairs and (write, 0) not in order.pairs for write in range(1, writes + 1))
        assert all(one != order.final for one, _ in order.pairs)


def test_total_orders():
    assert [len(coherence_orders(writes + 1, partial=False, observed=True)) for writes in range(5)] == [1, 1, 2, 6, 24]


def test_where_final_values_are_asked_for_each_last_write_counts():
    """Of the three orders of two writes one leaves both last; of one write none."""
    assert [len(coherence_orders(n, partial=True, observed=True)) for n in (1, 2, 3)] == [1, 1, 4]


def test_orders_of_fences():
    assert orders_of([]) == [frozenset()]
    assert set(orders_of([(0, 1)])) == {frozenset({(0, 1)}), frozenset({(1, 0)})}
    all_pairs = [(0, 1), (0, 2), (1, 2)]
    assert len(orders_of(all_pairs)) == 6
    path = orders_of([(0, 1), (1, 2)])  # 0 and 2 are not in scope of each other
    assert len(path) == len(set(path)) == 4
    assert frozenset({(0, 1), (1, 2), (0, 2)}) in path


def test_orders_of_fences_of_a_test():
    def orders(*scopes):
        threads = [[Fence(Mode(Order.SC, scope))] for scope in scopes]
        return judge(litmus_test(threads, (0, 0, 1)), FENCES).executions

    assert orders(Scope.GPU, Scope.GPU, Scope.GPU) == 6
    assert orders(Scope.CTA, Scope.CTA, Scope.GPU) == 2
    assert orders(Scope.CTA, Scope.GPU, Scope.GPU) == 4
    assert judge(litmus_test([[Fence(Mode(Order.ACQ_REL, Scope.GPU))]] * 2, (0, 0)), FENCES).executions == 1


@pytest.mark.parametrize(
    ("text", "model", "executions"),
    [
        ("ld r1 x", ANYTHING, 1),
        ("st x 1 | ld r1 x", ANYTHING, 2),
        ("st x 1 | st x 2 | ld r1 x", ANYTHING, 3 * 2),
        ("st x 1 | st x 2 | ld r1 x", PARTIAL, 3 * 3),
        ("st x 1 | st x 2 | st x 3 | ld r1 x", PARTIAL, 4 * 19),
        ("st x 1 | ld r1 x; ld r2 x", MODELS["sc"], 3),
        ("st x 1; st y 1 | ld r1 y; ld r2 x", MODELS["sc"], 3),
        ("st x 1; ld r1 y | st y 1; ld r1 x", MODELS["sc"], 3),
        ("st x 1; ld r1 y | st y 1; ld r1 x", MODELS["tso"], 4),
        ("st x 1; st x 2; st x 3", MODELS["sc"], 1),
        ("st x 1; st x 2; st x 3", ANYTHING, 6),
    ],
)
def test_number_of_executions(text, model, executions):
    assert judge(program(text), model).executions == executions


def test_final_values():
    test = program("st x 1 | st x 2", observed="x")
    assert finals(test) == ["x=1", "x=2"]
    assert finals(program("st x 1; st x 2", observed="x"), MODELS["sc"]) == ["x=2"]
    assert finals(program("ld r1 x", observed="x y")) == ["P0:r1=0 x=0 y=0"]


def test_final_values_where_writes_race():
    """Weak writes of two threads may both stay last, and either value may be the final one."""
    test = program("st x 1 | st x 2", (0, 1), observed="x")
    assert finals(test, MODELS["ptx-6.0"]) == ["x=1", "x=2"]
    assert judge(test, MODELS["ptx-6.0"]).executions == 4


def test_values_are_computed_through_registers_and_memory():
    test = ptx(
        "x=3; y=0; P1:r5=2;",
        """
         P0@cta 0,gpu 0   | P1@cta 0,gpu 0   ;
         ld.weak r1, x    | ld.weak r1, y    ;
         add r2, r1, 4    | sub r2, r1, r5   ;
         st.weak y, r2    | mul r3, r2, 10   ;""",
        "exists (P1:r3 == 50)",
    )
    assert finals(test) == ["P1:r3=-20", "P1:r3=50"]
    assert judge(test, MODELS["sc"]).answer is Answer.ALLOWED


def test_values_wrap_at_32_bits():
    test = ptx("x=2147483647;", " P0@cta 0,gpu 0 ;\n ld.weak r1, x ;\n add r2, r1, 1 ;", "exists (P0:r2 < 0)")
    assert finals(test) == ["P0:r2=-2147483648"]


CAS = """
 P0@cta 0,gpu 0                   | P1@cta 0,gpu 0    ;
 atom.relaxed.gpu.cas r1, x, 1, 5 | st.relaxed.gpu x, 1 ;"""


def test_a_compare_and_swap_writes_only_where_it_succeeds():
    test = ptx("x=0;", CAS, "locations [P0:r1; x;] exists (x == 5)")
    assert finals(test, MODELS["sc"]) == ["P0:r1=0 x=1", "P0:r1=1 x=5"]
    assert judge(test, MODELS["sc"]).executions == 2


ATOMIC = """
 P0@cta 0,gpu 0                | P1@cta {cta},gpu 0             ;
 atom.{order}.{scope}.add r1, x, 1 | {other} ;"""


def atomicity(other, cta=0, scope="gpu", order="relaxed"):
    """Whether another write may come between the two halves of an atomic addition: then its effect is lost."""
    test = ptx("x=0;", ATOMIC.format(cta=cta, scope=scope, order=order, other=other), "exists (P0:r1 == 0 /\\ x == 1)")
    return {name for name, model in MODELS.items() if judge(test, model).answer is Answer.ALLOWED}


def test_a_store_between_the_halves_of_an_rmw():
    """It is excluded, but by RMO per scope, where atomicity holds among atomic operations, by PTX where the two are
    not morally strong, and by Vulkan and LLVM where they are not mutually ordered, which is a data race."""
    assert atomicity("st.relaxed.gpu x, 7") == {"ptx-rmo"}
    assert atomicity("st.weak x, 7") == {
        "amdgpu",
        "ptx-rmo",
        "ptx-6.0",
        "ptx-7.5",
        "ptx",
        "ptx-async",
        "vulkan",
        "webgpu",
    }
    assert atomicity("st.relaxed.gpu x, 7", cta=1, scope="cta") == {
        "amdgpu",
        "ptx-rmo",
        "ptx-6.0",
        "ptx-7.5",
        "ptx",
        "ptx-async",
        "vulkan",
    }
    assert atomicity("st.relaxed.gpu x, 7", cta=0, scope="cta") == {"ptx-rmo"}
    assert atomicity("atom.relaxed.gpu.exch r1, x, 7", cta=1) == set()


def test_two_rmws_never_read_the_same():
    test = ptx("x=0;", ATOMIC.format(cta=1, scope="gpu", order="relaxed", other="atom.relaxed.gpu.add r1, x, 1"))
    for name, model in MODELS.items():
        assert judge(test, model).executions == 2, name


def test_values_out_of_thin_air_are_found_where_a_model_allows_them():
    test = ptx(
        "x=0; y=0;",
        """
         P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
         ld.weak r1, x  | ld.weak r1, y  ;
         st.weak y, r1  | st.weak x, r1  ;""",
        "exists (P0:r1 == 42)",
    )
    allowed = {name for name, model in MODELS.items() if judge(test, model).answer is Answer.ALLOWED}
    assert allowed == {"amdgpu", "rc11-scoped", "vulkan", "webgpu"}
    assert finals(test) == ["P0:r1=0", "P0:r1=42", "P0:r1=43"]  # 43 stands for what the test does not speak of


@pytest.mark.parametrize(
    ("condition", "answer"), [("P0:r1 > 100", "ALLOWED"), ("P0:r1 < 0", "ALLOWED"), ("not (P0:r1 == 0)", "ALLOWED")]
)
def test_thin_air_has_a_value_for_every_comparison(condition, answer):
    code = " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n ld.weak r1, x | ld.weak r1, y ;\n st.weak y, r1 | st.weak x, r1 ;"
    assert judge(ptx("x=0; y=0;", code, f"exists ({condition})"), ANYTHING).answer == answer


def test_a_circle_that_no_value_satisfies():
    test = ptx(
        "x=0; y=0;",
        """
         P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
         ld.weak r1, x  | ld.weak r1, y  ;
         add r2, r1, 1  | st.weak x, r1  ;
         st.weak y, r2  |                ;""",
        "exists (P0:r1 == P1:r1)",
    )
    assert judge(test, ANYTHING).executions == 3  # of the four ways to read


def test_what_may_be_guessed_is_asked_only_where_values_go_in_circles():
    straight = program("st x 1; st y 1 | ld r1 y; ld r2 x")
    assert list(candidates(straight, unroll_threads(straight, 2), ANYTHING, worth_guessing=None))

    def never(_):
        raise AssertionError("nothing is to be guessed")

    assert list(candidates(straight, unroll_threads(straight, 2), ANYTHING, worth_guessing=never))


def test_filters_and_conditions():
    def said(condition):
        code = " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | ld.weak r1, y ;\n st.weak y, 1 | ld.weak r2, x ;"
        judgement = judge(ptx("x=0; y=0;", code, condition), MODELS["sc"])
        return judgement.answer, judgement.condition

    assert said("exists (P1:r1 == 1 /\\ P1:r2 == 0)") == ("FORBIDDEN", False)
    assert said("~exists (P1:r1 == 1 /\\ P1:r2 == 0)") == ("FORBIDDEN", True)
    assert said("forall (P1:r1 == 0 \\/ P1:r2 == 1)") == ("ALLOWED", True)
    assert said("forall (P1:r1 == 0)") == ("ALLOWED", False)
    assert said("filter (P1:r1 == 1) forall (P1:r2 == 1)") == ("ALLOWED", True)
    assert said("filter (P1:r1 == 1) exists (P1:r2 == 0)") == ("FORBIDDEN", False)
    assert said("filter (P1:r1 == 7) forall (P1:r2 == 7)") == ("FORBIDDEN", True)


def test_batches_do_not_change_the_answer(monkeypatch):
    test = program("st x 1; ld r1 y; st x 2 | st y 1; ld r1 x | st y 2; ld r3 y", observed="x y")
    whole = {name: judge(test, model) for name, model in MODELS.items()}
    monkeypatch.setattr(module, "MOST_CANDIDATES", 7)
    assert {name: judge(test, model) for name, model in MODELS.items()} == whole


def test_too_many_writes_or_fences_are_refused_in_one_line():
    many = program(" | ".join(f"st x {number}" for number in range(1, 9)))
    with pytest.raises(TooManyError, match="8 writes to a location"):
        judge(many, MODELS["sc"])
    fences = litmus_test([[Fence(Mode(Order.SC, Scope.SYS))]] * 7, (0,) * 7)
    with pytest.raises(TooManyError, match=r"7 fence\.sc"):
        judge(fences, MODELS["ptx-6.0"])
    assert judge(fences, MODELS["sc"]).executions == 1


def test_the_initial_write_comes_first_in_coherence():
    test = program("st x 1 | st x 2")
    for batch in candidates(test, unroll_threads(test, 2), PARTIAL):
        assert batch.base.choices.co[0] == dict.fromkeys((1, 2), batch.valid)


def test_coherence_orders_are_permutations():
    orders = {order.pairs for order in coherence_orders(4, partial=False, observed=False)}
    assert len(orders) == 6
    for order in permutations((1, 2, 3)):
        chain = (0, *order)
        assert frozenset((a, b) for i, a in enumerate(chain) for b in chain[i + 1 :]) in orders
