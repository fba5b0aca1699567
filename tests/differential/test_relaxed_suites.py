"""Suites that clauses find, each test against the relaxations one by one and the oracle's executions of their tests."""

import pytest

from constraints.loop import solutions
from constraints.programs.criterion import Criterion
from constraints.programs.forbidden import Forbidden, SeparationQuestion, splits
from corpus.executions.litmus import litmus_test
from corpus.executions.names import name_of
from corpus.executions.relaxations import relaxations, relaxed
from corpus.executions.text import execution_text, parse_execution
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import Answer, judge
from oracle.executions.vocabulary import vocabulary_of


@pytest.mark.parametrize(("model", "most"), [("tso", 4), ("rc11", 4), ("ptx-6.0", 3)])
def test_a_minimal_test_is_forbidden_and_each_of_its_mutants_allowed(model, most):
    (entry,) = resolve_consistency_models([model])
    judged = entry.model
    words = vocabulary_of([judged])
    mutants = 0
    for size in range(2, most + 1):
        found = [
            execution
            for sizes in splits(size)
            for execution in solutions(
                Forbidden(SeparationQuestion(judged, criterion=Criterion.OUTCOME), words, sizes), "minisat22"
            )
        ]
        for name, execution in map(name_of, found):
            assert parse_execution(execution_text(execution)) == execution
            assert judge(litmus_test(execution, name, False), judged).answer is Answer.FORBIDDEN
            for step in relaxations(execution, words):
                left = relaxed(execution, step, words)
                mutant = judge(litmus_test(left, name, False), judged)
                assert mutant.answer is Answer.ALLOWED or mutant.flags, f"{name}: {step.text}"
                mutants += 1
    assert mutants > 40
