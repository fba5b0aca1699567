"""Explanations of random litmus tests are true of them: what is said of an execution holds on it."""

from itertools import pairwise
from random import Random

import pytest
from litmus_random import ALL, C11, PLAIN, PTX_2015, PTX_2019, SCOPED_C, random_test

from corpus.litmus.propositions import propositions
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.events import EventKind
from oracle.executions.judge import Answer, judge
from oracle.executions.steps import TooManyError
from oracle.executions.values import holds
from oracle.executions.witness import explain_memory

PROFILES = {
    "sc": (PLAIN, ALL),
    "tso": (PLAIN, ALL),
    "rmo": (PTX_2015,),
    "ptx-rmo": (PTX_2015, ALL),
    "ptx-6.0": (PTX_2019,),
    "rc11": (C11,),
    "rc11-scoped": (SCOPED_C,),
}


def explanations(name, count):
    model = load_model(shipped_models()[name], name)
    for profile in PROFILES[name]:
        rng = Random(f"witness {name} {profile.name}")
        for _ in range(count):
            test = random_test(rng, profile)
            try:
                yield test, judge(test, model), explain_memory(test, model, most=4)
            except TooManyError:
                continue


def satisfies(test, execution):
    def value(term):
        return term if isinstance(term, int) else execution.finals[term]

    return all(holds(proposition, value) for proposition in propositions(test.condition))


def is_execution(execution):
    """Every read reads the value of its one write, and co is a strict partial order from the initial writes on."""
    sources = {}
    for write, read in execution.pairs("rf"):
        assert execution.values[write] == execution.values[read]
        assert execution.events[write].location == execution.events[read].location
        assert sources.setdefault(read, write) == write
    assert set(sources) == {number for number, event in enumerate(execution.events) if event.kind is EventKind.READ}
    co = set(execution.pairs("co"))
    assert all(one != other for one, other in co)
    assert all((a, d) in co for a, b in co for c, d in co if b == c)
    return True


def winds_through(relation, events):
    """Whether some of the events of a cycle, in its order, are a cycle of the relation."""
    size = len(events)
    for start in range(size):
        reached = {start}
        for place in range(start + 1, start + size + 1):
            if any(events[place % size] in relation[events[before % size]] for before in sorted(reached)):
                if place == start + size:
                    return True
                reached.add(place)
    return False


def shortest_cycle(relation):
    best = None
    for start in range(len(relation)):
        front, length, seen = {start}, 0, set()
        while front:
            front, length = {after for event in front for after in relation[event]}, length + 1
            if start in front:
                best = length if best is None else min(best, length)
                break
            front -= seen
            seen |= front
    return best


@pytest.mark.parametrize("name", PROFILES)
def test_explanations_are_true(name):
    seen = {Answer.ALLOWED: 0, Answer.FORBIDDEN: 0}
    for test, judgement, explanation in explanations(name, 40):
        assert explanation.answer is judgement.answer and explanation.bounded == judgement.bounded
        seen[explanation.answer] += bool(explanation.outcomes or explanation.witness)
        if explanation.witness is not None:
            execution = explanation.witness
            assert is_execution(execution) and satisfies(test, execution)
            assert all(result.truth for result in explanation.model.judge(execution.base) if not result.check.flag)
        assert sum(count for _, count in explanation.killed) == explanation.outcomes
        assert sum(violation.count for violation in explanation.violations) <= explanation.outcomes
        assert {violation.check for violation in explanation.violations} == {check for check, _ in explanation.killed}
        for violation in explanation.violations:
            assert violation.count > 0
            the_violation_is_real(test, explanation.model, violation)
    assert min(seen.values()) >= 3, seen


def the_violation_is_real(test, model, violation):
    execution = violation.execution
    assert is_execution(execution) and satisfies(test, execution)
    results = [result for result in model.judge(execution.base) if not result.check.flag]
    failing = next(result for result in results if not result.truth)
    assert failing.check == violation.check  # the first that fails
    for path in (violation.steps, tuple(step for edge in violation.aside for step in edge.steps())):
        for step in path:
            for label in step.names:
                ends = (step.source, step.target)[:: -1 if label.endswith("^-1") else 1]
                assert ends[1] in execution.base.relation(label.removesuffix("^-1"))[ends[0]]
        assert all(one.target == other.source for one, other in pairwise(path))
    first, last = violation.steps[0].source, violation.steps[-1].target
    if violation.check.kind == "empty":
        assert last in failing.value[first]
        assert not violation.aside or (violation.aside[0].source, violation.aside[-1].target) == (first, last)
        return
    assert first == last
    events = [step.source for step in violation.steps]
    if violation.check.kind == "irreflexive":
        assert any(event in failing.value[event] for event in events)
    else:
        assert winds_through(failing.value, events)


def test_cycles_of_sequential_consistency_are_shortest():
    found = 0
    for _, _, explanation in explanations("sc", 40):
        for violation in explanation.violations:
            if violation.check.kind == "acyclic" and not any("syncbar" in step.names for step in violation.steps):
                (result, *_) = explanation.model.judge(violation.execution.base)
                assert len(violation.steps) == shortest_cycle(result.value)
                found += 1
    assert found > 10
