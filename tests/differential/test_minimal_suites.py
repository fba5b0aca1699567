"""Minimal suites by plain enumeration: the figures of TSO, and its axioms by hand against those of the ``.cat``."""

from dataclasses import replace
from itertools import permutations
from random import Random

import pytest
from bruteforce_axioms import MODELS, Cases, Choice, Program
from bruteforce_suites import Suite, canonical, minimal, minimal_by_axiom, program_of
from random_executions import random_execution

from constraints.loop import solutions
from constraints.programs.criterion import Criterion
from constraints.programs.forbidden import Forbidden, SeparationQuestion, splits
from corpus.executions.execution import DEPENDENCIES, INITIAL, OpKind
from corpus.executions.litmus import litmus_test
from corpus.executions.vocabulary import Vocabulary, vocabulary
from corpus.litmus.locations import Region
from corpus.litmus.orders import Scope
from oracle.cat.algebra import bits
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions import events as oracle
from oracle.executions.judge import Answer, judge
from oracle.executions.vocabulary import halves, mode_tags, vocabulary_of

CPU = vocabulary("cpu").without(["dep"])
PTX = vocabulary("ptx").without(["shared", "cg", "ca", "cs", "lu", "cv", "wb", "wt"])
PROXIES = vocabulary("ptx-proxies", ("alias", "arrive", "cluster", "constant")).without(
    ["cg", "ca", "cs", "lu", "cv", "wb", "wt"]
)
PROXIES = replace(PROXIES, dependencies=DEPENDENCIES)
DIALECTS = {
    "sc": CPU,
    "tso": CPU,
    "ptx-rmo": PTX,
    "rc11": vocabulary("c"),
    "ptx-6.0": PTX,
    "ptx-7.5": PROXIES.without(["cluster"]),
    "ptx": PROXIES,
}

FENCED = PTX.without([word for word in PTX.spelled if word.startswith(("F.acq_rel", "rmw"))])
"""Words among which fences of sequential consistency are not rare."""

TSO = {
    "sc-per-location": [3, 7, 10, 10],
    "atomicity": [0, 1, 4, 4],
    "causality": [1, 3, 10, 18],
    "union": [3, 8, 18, 26],
}
"""Minimal programs of up to 2, 3, 4, 5 events by axiom, as an independent exhaustive program measured them.

The criterion is that of Lustig, Wright, Papakonstantinou and Giroux, ASPLOS 2017, over reads, writes, updates and full
fences. These figures settle what it leaves open: after each step *all* axioms hold, not only the one in question, and a
read whose write is gone is before no write.
"""

SLOW = pytest.mark.slow
CASES = [
    pytest.param(*case, marks=marks)
    for *case, marks in [
        # model, its vocabulary without and with these words, events, minimal tests by execution and by outcome
        ("sc", [], 2, 3, 3, ()),
        ("sc", [], 3, 5, 5, ()),
        ("sc", [], 4, 12, 10, ()),
        ("tso", [], 2, 3, 3, ()),
        ("tso", [], 3, 5, 5, ()),
        ("tso", [], 4, 10, 8, ()),
        ("ptx-rmo", ["acq_rel", "sys"], 2, 3, 3, ()),
        ("ptx-rmo", ["acq_rel", "sys"], 3, 4, 4, ()),
        ("ptx-rmo", ["acq_rel", "sys"], 4, 8, 8, SLOW),
        ("rc11", [], 2, 3, 3, ()),
        ("rc11", [], 3, 7, 7, ()),
        ("rc11", [], 4, 19, 17, ()),
        ("ptx-6.0", ["sys"], 2, 7, 3, ()),
        ("ptx-6.0", ["sys"], 3, 10, 10, ()),
        ("ptx-6.0", ["sys", "bar", "dep"], 4, 30, 38, SLOW),
        ("ptx-7.5", ["gpu", "sys", "bar", "texture", "+alias"], 3, 32, 17, ()),
        ("ptx-7.5", ["gpu", "sys", "+alias", "+constant"], 3, 36, 21, SLOW),
        ("ptx", ["gpu", "sys", "bar", "surface", "texture", "+cluster"], 3, 10, 10, ()),
        ("ptx", ["gpu", "sys", "bar", "+alias", "+cluster"], 3, 38, 23, SLOW),
        ("ptx-6.0", ["gpu", "sys", "rmw", "dep", "F", "relaxed", "acquire", "release", "+arrive"], 4, 4, 3, SLOW),
    ]
]


def vocabulary_without(name, words):
    """What a model can tell apart, without some words, and with those that have a ``+``."""
    more = tuple(word[1:] for word in words if word[0] == "+")
    return vocabulary_of([load_model(shipped_models()[name], name)], more).without(
        word for word in words if word[0] != "+"
    )


@pytest.mark.parametrize("events", [2, 3, 4, pytest.param(5, marks=SLOW)])
def test_the_suite_of_tso_has_the_size_that_was_measured(events):
    words = vocabulary_without("tso", [])
    suites = [minimal_by_axiom("tso", words, size) for size in range(2, events + 1)]
    programs = {axiom: {program_of(test, words) for suite in suites for test in suite[axiom]} for axiom in suites[0]}
    programs["union"] = set().union(*programs.values())
    assert {axiom: len(found) for axiom, found in programs.items()} == {
        axiom: sizes[events - 2] for axiom, sizes in TSO.items()
    }


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("model", "without", "events", "by_execution", "by_outcome"), CASES)
def test_the_enumeration_finds_as_many_as_it_did_and_the_oracle_forbids_them(
    model, without, events, by_execution, by_outcome
):
    words = vocabulary_without(model, without)
    executions = minimal(model, words, events, "execution")
    assert len(executions) == by_execution
    tests = minimal(model, words, events, "outcome")
    assert len(tests) == by_outcome
    cat = load_model(shipped_models()[model], model)
    assert {judge(litmus_test(test, "test", observed=False), cat).answer for test in tests} == {Answer.FORBIDDEN}
    assert by_clauses(cat, words, events, Criterion.EXECUTION) == executions
    # The outcomes of the clauses say how each location ends; where coherence is partial, some of these say less.
    ended = {test for test in tests if all(test.final[n] is not None or not test.writes(n) for n in locations(test))}
    assert by_clauses(cat, words, events, Criterion.OUTCOME) == ended


def locations(execution):
    return range(len(execution.regions))


def by_clauses(model, words, events, criterion):
    """The minimal tests that the solver finds, each by its canonical execution."""
    question = SeparationQuestion(model, criterion=criterion)
    found = set()
    for sizes in splits(events):
        for test in solutions(Forbidden(question, words, sizes), "minisat22"):
            plain = test if criterion is Criterion.EXECUTION else replace(test, co=frozenset())
            found.add(canonical(plain, words))
    return found


def by_the_cat(model, execution, fences):
    """Which checks an execution fails, and whether it raises a flag; ``fences`` is an order of its fences."""
    steps, thread_of = execution.steps, execution.thread_of
    keys = {}
    events = []
    ranks = dict.fromkeys(range(len(execution.threads)), 0)
    meetings = {}
    for i, step in enumerate(steps):
        for half, tags in zip(halves(step.kind), mode_tags(step.kind, step.mode), strict=True):
            keys[i, half.value] = (thread_of[i], len(keys))

            def sources(kind, i=i):
                deps = [
                    dep for dep in execution.dependencies if dep.kind == kind and thread_of[dep.source] == thread_of[i]
                ]
                return frozenset(
                    keys[dep.source, "R"] for dep in deps if (dep.target <= i if kind == "ctrl" else dep.target == i)
                )

            write = half.value == "W"
            barrier = step.kind is OpKind.BARRIER
            events.append(
                oracle.Event(
                    keys[i, half.value],
                    thread_of[i],
                    half,
                    tags if step.location is None else tags | {"GLOBAL"},
                    location=None if step.location is None else f"x{step.location}",
                    virtual=None if step.location is None else f"x{step.location}.{step.address}",
                    scope=oracle.access_scope(step.mode),
                    addr=sources("addr"),
                    data=sources("data") if write else frozenset(),
                    ctrl=sources("ctrl"),
                    rmw=keys[i, "R"] if step.kind is OpKind.UPDATE and write else None,
                    barrier=oracle.Arrival(0) if barrier else None,
                )
            )
            if barrier:
                place = execution.places[thread_of[i]]
                meetings.setdefault((place[: Scope.CTA.value], ranks[thread_of[i]]), []).append(keys[i, half.value])
            ranks[thread_of[i]] += barrier
    for n in range(len(execution.regions)):
        tags = oracle.initial_tags(Region.GLOBAL)
        events.append(oracle.Event((-1, n), -1, oracle.EventKind.WRITE, tags, location=f"x{n}", virtual=f"x{n}.0"))
    at = {event.key: n for n, event in enumerate(events)}
    first = {i: at[-1, step.location] for i, step in enumerate(steps) if step.location is not None}
    reads = {i: at[key] for (i, half), key in keys.items() if half == "R"}
    writes = {i: at[key] for (i, half), key in keys.items() if half == "W"}
    others = {i: at[key] for (i, half), key in keys.items() if half in "FB"}
    rf = [
        (first[i] if source == INITIAL else writes[source], reads[i])
        for i, source in enumerate(execution.rf)
        if source is not None
    ]
    co = [(writes[one], writes[other]) for one, other in execution.co] + [
        (first[i], write) for i, write in writes.items()
    ]
    rank = {others[fence]: number for number, fence in enumerate(fences)}
    order = {
        (one, other) if rank[one] < rank[other] else (other, one)
        for one, other in oracle.sync_fence_pairs(events, execution.places)
    }
    while more := {(a, d) for a, b in order for c, d in order if b == c} - order:
        order |= more
    algebra = bits(1, len(events))
    meet = [(at[one], at[other]) for met in meetings.values() for one, other in permutations(met, 2)]
    fences = {"sync_fence": algebra.pairs(order)}
    chosen = oracle.ExecutionChoices(algebra.pairs(rf), algebra.pairs(co), fences, algebra.pairs(meet))
    results = model.judge(oracle.ProgramBase(algebra, events, execution.places, chosen))
    failed = {result.check.name for result in results if not result.check.flag and not result.truth}
    return failed, any(result.truth for result in results if result.check.flag)


def by_hand(name, execution, fences):
    """The same by the axioms of the enumeration, over a vocabulary of the modes of this execution alone."""
    steps = execution.steps
    modes = {kind: tuple(dict.fromkeys(step.mode for step in steps if step.kind is kind)) for kind in OpKind}
    program = Program(
        tuple(
            tuple((step.kind, None if step.location is None else (step.location, step.address)) for step in thread)
            for thread in execution.threads
        ),
        execution.places,
        frozenset(execution.dependencies),
    )
    cases = Cases(program, Vocabulary("used", modes), [Choice(execution.rf, execution.co, tuple(fences))])
    case = 0
    for step in steps:
        case = case * len(modes[step.kind]) + modes[step.kind].index(step.mode)
    violated, flagged = MODELS[name].axioms(cases)
    return {axiom for axiom, truth in violated.items() if truth >> case & 1}, bool(flagged >> case & 1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", DIALECTS)
def test_the_axioms_by_hand_are_those_of_the_cat(name):
    model = load_model(shipped_models()[name], name)
    rng = Random(name)
    seen = set()
    for turn in range(400):
        words = FENCED if name in ("ptx-6.0", "ptx-7.5", "ptx") and turn % 2 else DIALECTS[name]
        execution = random_execution(rng, words, 6, partial=MODELS[name].partial and turn % 4 < 2)
        fences = [i for i, step in enumerate(execution.steps) if step.kind is OpKind.FENCE]
        rng.shuffle(fences)
        failed, flagged = by_the_cat(model, execution, fences)
        assert by_hand(name, execution, fences) == (failed, flagged)
        seen |= failed
    assert len(seen) == len(Suite(name, DIALECTS[name]).axioms)
