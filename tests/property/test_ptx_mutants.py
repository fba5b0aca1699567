"""Mutants of kernels of PTX, of which a word or operand is another, one more or one less: each is read or refused."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from ptx_mutants import mutant
from random_kernels import random_kernel

from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.code.ptx.reader import read_ptx
from corpus.errors import InputError

NUMBERS = [*range(60), *(pytest.param(n, marks=pytest.mark.slow) for n in range(60, 2000, 20))]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_mutant_is_read_or_refused(number: int) -> None:
    """No slip of ours shows: whatever is wrong is said as what was expected, or not understood, at a line."""
    for seed in range(number, number + (20 if number >= 60 else 1)):
        rng = Random(seed)
        text, _ = mutant(random_kernel(rng).text, rng)
        with suppress(InputError):
            module = read_ptx(text, "mutant.ptx")
            for kernel in module.kernels:
                program_of(module, kernel, KernelLaunch((2, 1, 1), (2, 1, 1)))
