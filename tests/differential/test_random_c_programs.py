"""Random programs in C: what a compiled program does is allowed, and what a sanitizer finds is found.

Programs of two to four threads (``random_c_programs``) are compiled by gcc plainly and with sanitizers, and run some
times (``compared_c_programs``). Where all is SAFE, each outcome of a run is one that an assertion finds; a fault that a
sanitizer finds is a finding of ``synth check`` under rc11, or no answer is given; and in a program that is right by
construction nothing is found. ``benchmarks/c_programs.py`` compares as many more as are wanted.
"""

from __future__ import annotations

import shutil
from collections import Counter

import pytest
from absent import absent
from compared_c_programs import compared, warm

SEEDS = 200
TOGETHER = 25


@pytest.mark.slow
def test_random_programs(tmp_path):
    gcc = shutil.which("gcc")
    if gcc is None:
        absent("gcc is needed")
    warm()
    counts = Counter()
    for first in range(0, SEEDS, TOGETHER):
        for seed, _, word, why, _, _ in compared(gcc, tmp_path, range(first, first + TOGETHER)):
            assert not word.isupper(), (seed, word, why)
            counts[word] += 1
    assert counts["safe"] > SEEDS // 3 and counts["found by both"] > SEEDS // 20, counts
    assert counts["refused"] + counts["unknown"] + counts["too slow"] < SEEDS // 4, counts
