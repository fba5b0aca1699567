"""Every lasso is a run of the program and keeps the promises: replayed from the definition of a step."""

from pathlib import Path

import pytest
from bruteforce import all_tests, start, successors
from reference_judge import promises

from corpus.progress.text import read_axb
from oracle.progress.explain import explain
from oracle.progress.models import MODELS, Verdict

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "progress").glob("*.axb"))


def replay(program, explanation):
    """Walk stem and cycle; return the steps of the cycle as (state, promised, thread), and how the cycle ends."""
    graph, lasso = explanation.graph, explanation.lasso
    base = explanation.model.name.rpartition("-")[0]
    state, stepped, taken = start(program), frozenset(), []
    for number, step in enumerate((*lasso.stem, *lasso.cycle)):
        assert (graph.memory(step.source), graph.counters(step.source)) == state
        moves = dict(successors(program, state))
        promised = promises(base, frozenset(moves), stepped)
        assert graph.promised[step.source] == sum(1 << thread for thread in promised)
        if number >= len(lasso.stem):
            taken.append((state, promised, step.thread))
        stepped |= {step.thread}
        state = moves[step.thread]
    return taken, state, stepped


def assert_fair_lasso(program, explanation):
    lasso, strong = explanation.lasso, explanation.model.strong
    base = explanation.model.name.rpartition("-")[0]
    taken, final, stepped = replay(program, explanation)
    assert taken and final == taken[0][0], "the cycle closes"
    stepping = {thread for _, _, thread in taken}
    for state, _, _ in taken:
        running = frozenset(thread for thread, _ in successors(program, state))
        promised = promises(base, running, stepped)  # in the second round and every later one
        assert lasso.promised == sum(1 << thread for thread in promised)
        assert lasso.starved == sum(1 << thread for thread in running - stepping)
        if strong:
            assert promised <= {thread for other, _, thread in taken if other == state}
        else:
            assert promised <= stepping


def assert_exits(program, explanation):
    """Promised steps only, from a node of the component to one outside."""
    graph = explanation.graph
    for way in explanation.exits:
        assert way.path[0].source in way.nodes and way.path[-1].target not in way.nodes
        assert all(graph.promised[step.source] >> step.thread & 1 for step in way.path)
        assert all(graph.successors[step.source][step.thread] == step.target for step in way.path)
        assert explanation.model.strong or way.leaving
        for node in way.nodes:
            for thread, after in enumerate(graph.successors[node]):
                assert not (way.leaving >> thread & 1 and after in way.nodes)


def assert_explained(program):
    for model in MODELS.values():
        explanation = explain(program, model)
        if explanation.verdict is Verdict.MAY_HANG:
            assert_fair_lasso(program, explanation)
            assert not explanation.exits
        else:
            assert_exits(program, explanation)


@pytest.mark.parametrize("bound", [(2, 2), (2, 3), (3, 3)], ids=str)
def test_all_tests_of_a_bound(bound):
    for program in all_tests(*bound):
        assert_explained(program)


@pytest.mark.slow
def test_every_twentieth_test_of_2x4():
    for program in all_tests(2, 4)[::20]:
        assert_explained(program)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path):
    assert_explained(read_axb(path))
