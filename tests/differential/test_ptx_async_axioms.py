"""``ptx-async.cat`` and axioms written by hand allow the same executions of random tests with asynchronous words."""

from collections import Counter
from random import Random

import pytest
import reference_herd
from litmus_random import asynchronous_test
from ptx_async_axioms import allowed

from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model

MODEL = load_model(shipped_models()["ptx-async"], "ptx-async")


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_axioms_by_hand_allow_the_same_executions(count):
    seen = Counter()
    for number in range(count):
        test = asynchronous_test(Random(f"axioms {number}"), 3)
        for execution, _ in reference_herd.candidates(test, MODEL.syntax):
            answer, _ = execution.judge(MODEL.syntax)
            assert allowed(execution) is answer, test
            seen[answer] += 1
    assert min(seen[True], seen[False]) > count
