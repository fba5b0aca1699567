"""The oracle, the explanations and a second judge built from fixpoints agree on every verdict."""

import pytest
from bruteforce import all_tests
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_judge import may_hang

from corpus.progress.axb import Instruction, Program
from oracle.progress.explain import explain
from oracle.progress.models import MODELS, Verdict, verdicts


def assert_agreement(program):
    for name, verdict in verdicts(program).items():
        base, _, reading = name.rpartition("-")
        hangs = may_hang(program, base, reading == "strong")
        assert (verdict is Verdict.MAY_HANG) == hangs, (name, program)
        assert explain(program, MODELS[name]).verdict is verdict, (name, program)


@pytest.mark.parametrize("bound", [(2, 2), (2, 3), (3, 3)], ids=str)
def test_all_tests_of_a_bound(bound):
    for program in all_tests(*bound):
        assert_agreement(program)


@pytest.mark.slow
def test_every_thirtieth_test_of_2x4():
    for program in all_tests(2, 4)[::30]:
        assert_agreement(program)


@st.composite
def programs(draw):
    """Any programs, also such as synthesis would never give: no end in reach, no cycle, locations never written."""
    threads = []
    for _ in range(draw(st.integers(1, 3))):
        length = draw(st.integers(1, 3))
        fields = st.tuples(
            st.integers(0, 1), st.integers(0, 2), st.integers(0, length), st.one_of(st.none(), st.integers(0, 2))
        )
        threads.append(tuple(Instruction(*draw(fields)) for _ in range(length)))
    return Program(tuple(threads))


@settings(deadline=None, max_examples=150, derandomize=True)
@given(programs())
def test_random_programs(program):
    assert_agreement(program)
