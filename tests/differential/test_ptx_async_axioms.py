"""``ptx-async.cat`` and axioms written by hand allow the same executions of random tests with asynchronous words."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
import reference_herd
from litmus_random import asynchronous_test, halves_test, matrices_test, meeting_test
from ptx_async_axioms import allowed

from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model

MODEL = load_model(shipped_models()["ptx-async"], "ptx-async")
READINGS = Path(__file__).parents[2] / "oracle" / "models" / "readings"
ALL_PHASES = load_model(str(READINGS / "ptx-async-acquires-all-phases.cat"), "ptx-async-acquires-all-phases")


def of_operations(rng):
    """A test with asynchronous operations, of few events."""
    return asynchronous_test(rng, 3)


def of_halves(rng):
    """A test with the halves of the barriers of clusters, of few instructions."""
    return next(test for test in iter(lambda: halves_test(rng), None) if sum(map(size, test.threads)) < 15)


def of_matrices(rng):
    """A test with operations of tensor cores, of few events."""
    return matrices_test(rng, 5)


def size(thread):
    """The number of a thread's instructions."""
    return len(thread.instructions)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("make", [of_operations, of_halves, of_matrices])
@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_axioms_by_hand_allow_the_same_executions(make, count):
    seen = compared(make(Random(f"axioms {number}")) for number in range(count))
    assert min(seen[True], seen[False]) > count


@pytest.mark.slow
@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_axioms_by_hand_allow_the_same_meetings_at_mbarriers(count):
    seen = compared(meeting_test(Random(f"phases {number}")) for number in range(count))
    assert min(seen[True], seen[False]) > count
    assert seen["of another phase"] > count // 50


def compared(tests):
    """How many executions of tests are allowed and not, of which both say the same, and how many waits do not acquire
    an arrival of another phase in."""
    seen = Counter()
    for test in tests:
        for execution, _ in reference_herd.candidates(test, MODEL.syntax):
            answer, _ = execution.judge(MODEL.syntax)
            assert allowed(execution) is answer, test
            seen[answer] += 1
            seen["of another phase"] += answer and not execution.judge(ALL_PHASES.syntax)[0]
    return seen
