"""What outcomes take, against all interleavings and against what the shapes are known for."""

from __future__ import annotations

from collections import Counter

import pytest
from commands import synth
from litmus_interleavings import verdicts

from corpus.dialects.registry import parse_litmus
from corpus.journal import read_corpus
from corpus.links import MUTANTS
from oracle.serial import Takes, takes

TEST = """C T
{{ x = 0; y = 0; }}
P0 (atomic_int* x, atomic_int* y) {{ {0} }}
P1 (atomic_int* x, atomic_int* y) {{ {1} }}
{2}
"""
STORE, LOAD = "atomic_store_explicit({}, 1, memory_order_{});", "int r{} = atomic_load_explicit({}, memory_order_{});"
BOTH = STORE.format("x", "relaxed") + STORE.format("y", "relaxed")
READS = LOAD.format(0, "y", "relaxed") + LOAD.format(1, "x", "relaxed")
TWICE = LOAD.format(0, "x", "relaxed") + LOAD.format(1, "x", "relaxed")


@pytest.mark.parametrize(
    ("one", "other", "condition", "expected"),
    [
        (BOTH, READS, "exists (1:r0 = 1 /\\ 1:r1 = 1)", Takes.SERIAL),
        (BOTH, READS, "exists (1:r0 = 0 /\\ 1:r1 = 1)", Takes.INTERLEAVING),
        (BOTH, READS, "exists (1:r0 = 1 /\\ 1:r1 = 0)", Takes.WEAK_MEMORY),
        (BOTH, TWICE, "exists (1:r0 = 0 /\\ 1:r1 = 1)", Takes.INTERLEAVING),
        (BOTH, TWICE, "~exists (1:r0 = 0 /\\ 1:r1 = 0)", Takes.SERIAL),
        (BOTH, TWICE, "exists (1:r0 = 7)", Takes.WEAK_MEMORY),
    ],
)
def test_known_shapes(one, other, condition, expected):
    assert takes(parse_litmus(TEST.format(one, other, condition))) is expected


@pytest.mark.parametrize(
    ("code", "condition", "expected"),
    [
        ("cp.async d, s | ; ld.weak r0, d |", "P0:r0 == 0", Takes.WEAK_MEMORY),  # the copy is late
        ("cp.async d, s | ; ld.weak r0, d |", "P0:r0 == 1", Takes.SERIAL),
        ("cp.async d, s | ; st.weak s, 2 |", "d == 2", Takes.WEAK_MEMORY),
        ("cp.async d, s | st.weak s, 2", "d == 2", Takes.SERIAL),
        ("st.weak f, 1 | st.weak s, 2 ; cp.async d, s | ld.weak r0, f", "d == 2 /\\ P1:r0 == 1", Takes.INTERLEAVING),
    ],
)
def test_an_operation_is_done_where_it_is_asked_for(code: str, condition: str, expected: Takes) -> None:
    rows = "\n".join(f"{row.strip()} ;" for row in code.split(" ; "))
    text = f"PTX T\n{{ s=1; f=0; shared d=0; }}\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n{rows}\nexists ({condition})\n"
    assert takes(parse_litmus(text)) is expected


def test_the_mutants_of_a_suite_take_what_all_interleavings_say(tmp_path):
    made = synth("memory", "--from", "tso", "--events", "2..4", "--mutants", "-o", f"{tmp_path}/d")
    assert made.exit_code == 0, made.output
    counts = Counter()
    for mutant in read_corpus(tmp_path / "d" / MUTANTS).tests:
        test = parse_litmus(mutant.text)
        expected = Takes.WEAK_MEMORY
        if True in verdicts(test):
            expected = Takes.SERIAL if True in verdicts(test, whole_threads=True) else Takes.INTERLEAVING
        counts[expected] += 1
        assert takes(test) is expected, mutant.name
    assert counts[Takes.SERIAL] and counts[Takes.INTERLEAVING]
