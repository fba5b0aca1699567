"""rc11-scoped-fences.cat says of a program what rc11-scoped says of it with its seq_cst accesses turned.

The model is in ``examples/models``; the turned program has a seq_cst fence before an acquire or a release in place of
each seq_cst access (``examples/mappings/rc11-scoped-to-fences.map``). One program, by hand, tells the two models apart.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

from random_executions import OPENCL, random_execution

from corpus.executions.execution import INITIAL, Execution, OpKind, Step
from corpus.executions.litmus import litmus_test
from corpus.executions.translation import read_mapping, translated, translation
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Order, Place, Scope
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import Answer, judge
from oracle.executions.vocabulary import distinguished
from synth.memory.suites import axiomatic

EXAMPLES = Path(__file__).parents[2] / "examples"
PRINTED, FENCES = (
    axiomatic(resolve_consistency_models([name])[0])
    for name in ("rc11-scoped", str(EXAMPLES / "models" / "rc11-scoped-fences.cat"))
)
MAPPING = EXAMPLES / "mappings" / "rc11-scoped-to-fences.map"
WORDS = replace(distinguished(OPENCL, [PRINTED]), regions=(Region.GLOBAL,), dependencies=())
TURNED = translation(read_mapping(MAPPING.read_text(), str(MAPPING)), OPENCL, WORDS, OPENCL)


def of_orders(*orders):
    """The vocabulary with these orders, at two scopes."""
    modes = {
        kind: tuple(mode for mode in ways if mode.order in orders and mode.scope is not Scope.SYS)
        for kind, ways in WORDS.modes.items()
    }
    return replace(WORDS, modes=modes)


def said(execution, model):
    judged = judge(litmus_test(execution, "test", observed=False), model)
    return judged.answer, frozenset(judged.flags)


def test_the_model_is_the_other_one_of_turned_programs():
    few, mixed = of_orders(Order.SC), of_orders(Order.SC, Order.RELAXED)
    answers = Counter()
    for seed in range(240):
        execution = random_execution(Random(seed), (few, mixed, WORDS)[seed % 3], 6, silent=True)
        answer = said(execution, FENCES)
        assert answer == said(translated(execution, TURNED), PRINTED), execution
        answers[answer[0]] += not answer[1]
    assert min(answers.values()) > 20 and len(answers) == 2, answers


def test_an_order_that_goes_through_two_scopes_is_one_of_accesses_and_not_of_fences():
    """``a rf b po c co d po e fr a``: psc has c to d, d to e, e to a; but no fence of e's scope reaches c's thread."""
    gpu, cta = Mode(Order.SC, Scope.GPU), Mode(Order.SC, Scope.CTA)

    def asked(last):
        threads = (
            (Step(OpKind.WRITE, 0, gpu),),
            (Step(OpKind.READ, 0, gpu), Step(OpKind.WRITE, 1, gpu)),
            (Step(OpKind.WRITE, 1, gpu), Step(OpKind.READ, 0, last)),
        )
        places = (Place(), Place(cta=1, warp=1), Place(warp=2))
        regions = (Region.GLOBAL, Region.GLOBAL)
        return Execution(threads, places, regions, (), (None, 0, None, None, INITIAL), frozenset({(2, 3)}), (0, 3))

    assert said(asked(gpu), PRINTED)[0] is said(asked(gpu), FENCES)[0] is Answer.FORBIDDEN
    assert said(asked(cta), PRINTED) == (Answer.FORBIDDEN, frozenset())
    assert said(asked(cta), FENCES) == (Answer.ALLOWED, frozenset())
