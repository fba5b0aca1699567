"""Random kernels on machines: what PoCL makes of OpenCL C, and lavapipe of GLSL, is what ``check`` says that memory
holds at the end.

Half of the programs have only what all languages have, the others what is peculiar to theirs: vectors, functions.
``benchmarks/kernels_on_machines.py`` runs as many as one likes.
"""

from collections import Counter

import pytest
from machines import seen_of_cuda, seen_on

pytestmark = pytest.mark.device

MACHINES = {"opencl": "opencl", "vulkan": "glsl"}
"""The back end that knows whether there is a machine."""

PART = 25


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("machine", MACHINES)
def test_the_memory_that_a_machine_leaves_is_one_that_check_allows(machine, part, need, to_spirv):
    backend = MACHINES[machine]
    need(backend, runs=True)
    to_spirv(backend)
    seeds = [str(number) for number in range(part * PART, part * PART + PART)]
    found = list(seen_on(machine, seeds, common=part % 2 == 1))
    answers = Counter(each.answer for each in found)
    wrong = [each for each in found if each.answer not in ("agreed", "not understood", "unknown")]
    assert not wrong
    assert answers["agreed"] > PART - 5, found


@pytest.mark.parametrize("part", range(2))
def test_kernels_in_cuda_leave_what_the_same_kernels_in_opencl_leave_on_a_machine(part, need):
    """No GPU is needed: a program with the same meaning runs on PoCL."""
    need("opencl", runs=True)
    need("cuda")
    found = list(seen_of_cuda([str(number) for number in range(part * PART, part * PART + PART)]))
    answers = Counter(each.answer for each in found)
    assert not [each for each in found if each.answer not in ("agreed", "not understood", "unknown")]
    assert answers["agreed"] > PART - 5, found
