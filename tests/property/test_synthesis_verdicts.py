"""Verdicts of a behaviour are verdicts of its programs, and verdicts of the images are those of each image alone.

The synthesis judges a minimal automaton once for all the images of a program; ``oracle.progress.models.verdicts``
judges the reachable states of one program. The two must agree on every program, test or not.
"""

import random

import pytest
from bruteforce import all_tests
from hypothesis import given, settings
from strategies import programs

from corpus.progress.axb import Program, thread_images
from corpus.progress.idioms import idioms
from oracle.progress.behaviour import behaviour, relabel
from oracle.progress.models import image_verdicts, verdicts


def assert_agreement(program: Program) -> None:
    images = thread_images(program)
    automaton = behaviour(program)
    vectors = image_verdicts(automaton, tuple(order for _, order in images))
    for (image, order), vector in zip(images, vectors, strict=True):
        assert relabel(automaton, order) == behaviour(image)
        assert dict(vector) == verdicts(image), image
        assert list(vector) == list(verdicts(image))


@pytest.mark.parametrize(("bound", "stride"), [((2, 3), 1), ((3, 3), 1), ((2, 4), 20)], ids=str)
def test_tests_of_a_bound(bound, stride):
    for program in all_tests(*bound)[::stride]:
        assert_agreement(program)


@pytest.mark.parametrize("name", sorted(set(idioms()) - {"barrier-4"}))  # whose 24 images take long
def test_idioms(name):
    assert_agreement(idioms()[name])


@settings(deadline=None, max_examples=100, derandomize=True)
@given(programs(longest=3, most_threads=4))
def test_any_program(program):
    assert_agreement(program)


def test_tests_put_side_by_side():
    """Larger systems that are sure to have cycles: two tests that know nothing of each other, threads shuffled."""
    rng = random.Random(4)
    small = all_tests(2, 2) + all_tests(2, 3) + all_tests(3, 3)
    for _ in range(15):
        one, other = rng.sample(small[:170], 2)
        shift = one.locations
        moved = [
            tuple(type(ins)(ins.location + shift, ins.check, ins.jump, ins.exchange) for ins in thread)
            for thread in other.threads
        ]
        threads = [*one.threads, *moved]
        rng.shuffle(threads)
        assert_agreement(Program(tuple(threads)))
