"""What a model can tell apart: what its vocabulary leaves out makes no difference to it."""

from dataclasses import replace
from functools import cache
from itertools import count
from random import Random

import pytest
from litmus_models import LARGE, odd, shipped
from random_executions import random_execution

from corpus.executions.execution import OpKind
from corpus.executions.litmus import litmus_test
from corpus.executions.vocabulary import vocabulary
from corpus.litmus.instructions import Fence
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Order, Place, Scope
from oracle.cat.interpreter import checked_model
from oracle.cat.syntax import parse_cat
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import judge, judged
from oracle.executions.threads import unroll_threads
from oracle.executions.vocabulary import distinguished, telling, vocabulary_of


def model(text):
    return checked_model("m", parse_cat(text, "m.cat"), VOCABULARY)


MODELS = shipped() | {name: model for name, model in odd().items() if name != "closures"}
"""All that mention nothing that vocabularies cannot make, as warps."""


def said(execution, model):
    """All candidates of an execution's test, and those that each check allows; flags do not count."""
    test = litmus_test(execution, "test", observed=False)
    return [
        [batch.valid, *(result.truth & batch.valid for result in results if not result.check.flag)]
        for batch, _, results in judged(test, unroll_threads(test, 0), model)
    ]


def squashed(execution, words, model):
    """The execution with what stands for it in the vocabulary of the model."""

    @cache
    def standing_for(kind, mode):
        """The way of the vocabulary that the model does not tell from this one."""
        return next(
            way
            for way in words.modes[kind]
            if way == mode or len(distinguished(replace(words, modes={kind: (way, mode)}), [model]).modes[kind]) == 1
        )

    def place(number, old):
        ctas = [(place.gpu, place.cta) for place in execution.places]
        cta = ctas.index((old.gpu, old.cta)) if Scope.CTA in words.levels else number
        return Place(gpu=old.gpu if Scope.GPU in words.levels else 0, cta=cta, warp=number)

    return replace(
        execution,
        threads=tuple(
            tuple(replace(step, mode=standing_for(step.kind, step.mode)) for step in thread)
            for thread in execution.threads
        ),
        places=tuple(place(number, old) for number, old in enumerate(execution.places)),
        regions=tuple(region if region in words.regions else Region.GLOBAL for region in execution.regions),
    )


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", [pytest.param(each, marks=LARGE.get(each, ())) for each in MODELS])
def test_what_a_vocabulary_leaves_out_makes_no_difference(name):
    words = vocabulary_of([MODELS[name]])
    whole = vocabulary(words.name)
    whole = replace(whole, modes={kind: whole.modes[kind] for kind in words.modes}, dependencies=())
    rng, changed, telling = Random(name), 0, 0
    for _ in range(60):
        execution = random_execution(rng, whole, size=5)
        if len([step for step in execution.steps if step.location is not None]) > 6:
            continue
        other = squashed(execution, words, MODELS[name])
        changed += other != execution
        found = said(execution, MODELS[name])
        assert said(other, MODELS[name]) == found, execution
        telling += any(len({*masks}) > 1 or len(found) > 1 for masks in found)
    assert changed > 5 or words.modes == whole.modes
    assert telling > 5


@pytest.mark.parametrize(
    ("text", "name", "kinds"),
    [
        ("empty F & SC as c", "SC", "F"),
        ("empty [F & SC & CTA]; po as c", "CTA", "F"),
        ("empty F | SC as c", "SC", "RWFB"),
        ("empty W \\ REL as c", "REL", "RWFB"),
        ("let release = REL | SC\nempty po; [W & release]; po as c", "SC", "RWFB"),
        ("empty membar.gl as c", "GPU", "F"),
        ("let only(s) = F & s\nempty only(ACQ) as c", "ACQ", "RWFB"),
        ("empty RMW & SC & M as c", "SC", "RW"),
        ("empty IW & SC as c", "SC", ""),
        ("let M = R | F\nempty M & SC as c", "SC", "RWFB"),  # another M than the prelude's
        ("let strong(F) = F & SC\nempty strong(R) as c", "SC", "RWFB"),
        ("empty po as c\nflag ~empty SC as f", "SC", ""),
        ("let unused = SC\nempty po as c", "SC", ""),
    ],
)
def test_with_which_kinds_a_set_is_met(text, name, kinds):
    assert "".join(kind for kind in "RWFB" if model(text).checks_mention(name, kind)) == kinds
    assert model(text).checks_mention(name) == (bool(kinds) or "IW" in text)


def test_flags_are_read_apart_from_checks():
    flagged = model("empty F & SC & CTA as c\nflag ~empty (ACQ | REL) & W as f\nflag ~empty B as g")
    assert [kind for kind in "RWFB" if flagged.flags_mention("ACQ", kind)] == list("RWFB")
    assert [kind for kind in "RWFB" if model("flag ~empty W & ACQ as f").flags_mention("ACQ", kind)] == ["W"]
    assert not flagged.checks_mention("ACQ") and not flagged.flags_mention("CTA")
    assert frozenset({"F", "SC", "CTA"}) in flagged.checks_intersect("F") and not flagged.checks_intersect("W")


@pytest.mark.parametrize(
    ("text", "order", "kind", "reads"),
    [
        ("empty F & SC & CTA as c", Order.SC, OpKind.FENCE, True),
        ("empty F & SC & GPU as c", Order.SC, OpKind.FENCE, False),
        ("empty F & SC as c", Order.ACQ_REL, OpKind.FENCE, False),
        ("acyclic fencerel(F) as c", Order.ACQ_REL, OpKind.FENCE, True),
        ("acyclic sync_fence | po as c", Order.SC, OpKind.FENCE, True),
        ("acyclic sync_fence | po as c", Order.ACQ_REL, OpKind.FENCE, False),
        ("acyclic po as c\nflag ~empty F as f", Order.SC, OpKind.FENCE, False),
        ("acyclic po as c", Order.WEAK, OpKind.BARRIER, False),
        ("acyclic po; syncbar; po as c", Order.WEAK, OpKind.BARRIER, True),
        ("acyclic po as c", Order.RELAXED, OpKind.READ, True),
    ],
)
def test_whether_a_fence_or_barrier_is_read(text, order, kind, reads):
    scope = None if order is Order.WEAK else Scope.CTA
    assert telling([model(text)]).reads(kind, Mode(order, scope)) is reads


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", [pytest.param(each, marks=LARGE.get(each, ())) for each in MODELS])
def test_what_is_not_read_makes_no_difference(name):
    """Fences that are not read may go, and ways that are one may stand for each other, to flags as well."""
    judging, rng, changed = MODELS[name], Random(f"not read {name}"), 0
    told = telling([judging], flags=True)
    for number in count():
        if number >= 50 and changed > 3:
            break
        assert number < 200, "what a model reads is all that there is"
        whole = vocabulary(rng.choice(("ptx", "opencl")))
        execution = random_execution(rng, whole, 5)
        steps = [(thread, at) for thread, body in enumerate(execution.threads) for at in range(len(body))]
        thread, at = rng.choice(steps)
        step = execution.threads[thread][at]
        alike = [way for way in whole.modes[step.kind] if told.of(step.kind, way) == told.of(step.kind, step.mode)]
        other = replace(step, mode=rng.choice(alike))
        body = execution.threads[thread]
        threads = list(execution.threads)
        threads[thread] = (*body[:at], other, *body[at + 1 :])
        test, squashed = (
            litmus_test(each, "test", observed=False)
            for each in (execution, replace(execution, threads=tuple(threads)))
        )
        assert every(test, judging) == every(squashed, judging), (step, other)
        gone = [ins for ins in test.threads[thread].instructions if not is_unread(ins, told)]
        without = replace(test.threads[thread], instructions=tuple(gone))
        fewer = replace(test, threads=(*test.threads[:thread], without, *test.threads[thread + 1 :]))
        assert judge(test, judging).answer == judge(fewer, judging).answer
        changed += other != step or fewer != test


def is_unread(ins, told):
    return isinstance(ins, Fence) and not told.reads(OpKind.FENCE, ins.mode)


def every(test, model):
    """What all of a model's checks and flags say of all candidates."""
    return [
        [result.truth & batch.valid for result in results]
        for batch, _, results in judged(test, unroll_threads(test, 0), model)
    ]


@pytest.mark.parametrize(
    ("text", "joins"),
    [
        ("acyclic rf | addr | data | ctrl as c", True),
        ("let dep = ctrl | (addr | rf) | data\nacyclic dep | po as c", True),
        ("acyclic (addr | data | ctrl); rfe | RW(addr | data | ctrl) as c", True),
        ("acyclic rf | addr | data as c", False),
        ("acyclic rf | addr | data | (ctrl & (R * W)) as c", False),
        ("acyclic rf | ((addr | data | ctrl) & addr) as c", False),
        ("acyclic rf | addr | data | ctrl as c\nempty (addr | data); rf as d", False),
        ("acyclic rf | addr | data | ctrl as c\nflag ~empty addr as f", True),
        ("acyclic rf as c", True),
    ],
)
def test_whether_dependencies_are_one_to_a_model(text, joins):
    assert model(text).joins(("addr", "data", "ctrl")) is joins


@pytest.mark.parametrize(
    "text",
    ["acyclic po | sync_fence | rf | co | fr as c", "acyclic fencerel(SC) | rf | co | fr as c"],
)
def test_fences_are_mentioned_by_their_order(text):
    modes = vocabulary_of([model(f"let far = ext & cta\n{text}\nempty far & 0 & syncbar as d")]).modes
    assert any(mode.order is Order.SC for mode in modes[OpKind.FENCE])
