"""Many programs at once and one by one: the same tests, behaviours, verdicts and images; and families of programs."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from encoded import shapes

import constraints.families
from constraints.families import FamilyEncoding, found_in, together
from constraints.loop import solutions
from constraints.progress import ProgramShape, ProgressEncoding
from corpus.progress.axb import Program, canonical, digest_numbers, rename_locations, thread_images
from oracle.progress.behaviour import digest_automaton, minimise, relabel
from oracle.progress.fast.automata import hangs, minimal_automata
from oracle.progress.fast.batches import NO_EXCHANGE, ProgramBatch, are_tests
from oracle.progress.lts import explore
from oracle.progress.models import GUARANTEES, image_hangs
from oracle.progress.wellformed import is_progress_test

SHAPES = [
    *(ProgramShape(lengths, 2, 2) for lengths in [(1, 1), (1, 2), (2, 2), (2, 3), (1, 4), (1, 1, 3), (1, 2, 2)]),
    ProgramShape((1, 3), 3, 2),
    ProgramShape((2, 2), 1, 3),
    ProgramShape((1, 1, 1, 1), 2, 2),
]


def some(shape: ProgramShape, count: int) -> ProgramBatch:
    """Random programs, of which (a) holds."""
    random = np.random.default_rng(7)
    sites = [(t, pc) for t, length in enumerate(shape.lengths) for pc in range(length)]
    size = len(sites), count
    jump = np.array([random.integers(0, shape.lengths[t] + 1, count) for t, _ in sites])
    stores = jump == np.array([[pc + 1] for _, pc in sites])
    exchange = np.maximum(random.integers(NO_EXCHANGE, shape.values, size), np.where(stores, 0, NO_EXCHANGE))
    check = random.integers(0, shape.values, size) * ~stores
    location = random.integers(0, shape.locations, size)
    batch = ProgramBatch(shape.lengths, shape.locations, shape.values, location, check, jump, exchange)
    return batch.image(tuple(range(len(shape.lengths))))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_which_programs_are_tests(shape):
    batch = some(shape, 1000)
    assert are_tests(batch).tolist() == [is_progress_test(program) for program in batch.programs()]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_behaviours_and_verdicts_of_images(shape):
    """Of programs that are tests or none, with states that nothing ends in as well."""
    batch = some(shape, 150)
    orders = tuple(permutations(range(len(shape.lengths))))
    automata = minimal_automata(batch)
    weak, strong = hangs(automata, orders)
    images = [(batch.image(order).programs(), automata.relabelled(order).numbers()) for order in orders]
    for n, program in enumerate(batch.programs()):
        automaton = minimise(explore(program))
        assert automata.behaviour(n) == automaton
        both = image_hangs(automaton, orders)
        for o, (order, (programs, numbers)) in enumerate(zip(orders, images, strict=True)):
            assert next(programs) == rename_locations(Program(tuple(program.threads[t] for t in order)))
            own = relabel(automaton, order)
            assert digest_numbers(np.frombuffer(numbers[n], ">i4").tolist()) == digest_automaton(own)
            said = [masks >> len(GUARANTEES) * o & 63 for masks in both]
            assert [weak[o, n], strong[o, n]] == said, program


def test_automata_that_no_word_has_room_for():
    """Two threads that count in step with each other: each reads what the other wrote before."""
    length = 12
    shape = ProgramShape((length, length), 2, 2)
    batch = some(shape, 60)
    automata = minimal_automata(batch)
    assert automata.counts.max() > 64
    orders = ((0, 1), (1, 0))
    weak, strong = hangs(automata, orders)
    for n, program in enumerate(batch.programs()):
        both = image_hangs(minimise(explore(program)), orders)
        assert [[weak[o, n], strong[o, n]] for o in (0, 1)] == [[each >> 6 * o & 63 for each in both] for o in (0, 1)]


@pytest.mark.parametrize(
    ("bound", "most"), [((2, 3), 1), ((2, 3), 20), ((2, 3), 8192), ((3, 3), 5), ((3, 4), 100)], ids=str
)
def test_families_hold_what_is_found_one_by_one(monkeypatch, bound, most):
    monkeypatch.setattr(constraints.families, "MOST_PROGRAMS", most)
    for shape in shapes(*bound):
        encoding = ProgressEncoding(shape)
        found = families_of(encoding, [])
        orbits = [frozenset(image for image, _ in thread_images(program)) for program in found]
        assert all(canonical(program) == program for program in found)
        assert len(set(orbits)) == len(orbits)
        assert set(orbits) == {
            frozenset(image for image, _ in each.images) for each in solutions(encoding, "minisat22")
        }


def test_families_within_cases_are_disjoint():
    encoding = ProgressEncoding(ProgramShape((1, 2), 2, 2))
    *jumps, first, second = encoding.choices()[:5]
    assert len(jumps) == 3
    found = [program for one in first for other in second for program in families_of(encoding, [one, other])]
    assert len(found) == len(set(found)) == 81


def families_of(encoding: ProgressEncoding, case: list[int]) -> list[Program]:
    families = solutions(FamilyEncoding(encoding, case), "minisat22", case)
    batches = [batch for some in together(families) for batch in found_in(some, encoding.shape)]
    return [program for batch in batches for program in batch.programs()]
