"""The tests that tell apart the models of a sketch, against a comparison of each two of its models on their own."""

from __future__ import annotations

from itertools import permutations

import pytest

from constraints.loop import solutions
from constraints.programs.forbidden import Forbidden, SeparationQuestion, splits
from oracle.inference.sketch import Sketch, parse_sketch
from synth.inference.memory import ProgramSearch
from synth.memory.suites import narrowed
from synth.units import NEVER

ORDERS = """acyclic po & ((?wr: W * R) | (?rr: R * R) | (W * W)) | rf | co | fr as order
?loc: acyclic po-loc | rf | co | fr as per-location"""
FENCES = """let scoped = ?scope: membar.cta | membar.gl
acyclic ((?wr: WR(po)) | scoped) & (?gl: gl | sys) | rf | co | fr as order
acyclic po-loc | rf | co | fr as per-location"""


def separated(sketch: Sketch, words, events: tuple[int, int]) -> set[tuple[object, object]]:
    """The pairs of fillings of which the first allows a program that the second forbids, pair by pair."""
    found = set()
    fillings = list(sketch.fillings(sketch.valid))
    models = {filling: sketch.filled(filling) for filling in fillings}
    for one, other in permutations(fillings, 2):
        question = SeparationQuestion(models[other], (models[one],), minimal=False)
        for size in range(events[0], events[1] + 1):
            if any(
                next(iter(solutions(Forbidden(question, words, sizes), "minisat22")), None) is not None
                for sizes in splits(size, (2, 2))
            ):
                found.add((one, other))
                break
    return found


@pytest.mark.parametrize(("text", "events"), [(ORDERS, (2, 4)), (FENCES, (4, 4))], ids=["orders", "fences"])
def test_no_pair_of_models_is_missed(text, events):
    sketch = parse_sketch(text, "sketch.cat")
    words = narrowed([sketch.model], "", (), ())
    search = ProgramSearch(sketch, words, events, "minisat22", (2, 2))
    tests = [found.test for found in search.run(sketch.valid, [], NEVER)]
    assert search.complete
    told = {
        (one, other)
        for one, other in permutations(sketch.fillings(sketch.valid), 2)
        if any(sketch.values(one) in test.allowing and sketch.values(other) not in test.allowing for test in tests)
    }
    assert told == separated(sketch, words, events)
    assert told
