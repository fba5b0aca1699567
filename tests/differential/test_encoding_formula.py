"""Every program of the smallest shapes, test or not: the formula, the oracle and plain definitions say the same."""

from collections.abc import Iterator
from itertools import product

import pytest
from bruteforce import is_valid_test
from encoded import Asked
from hypothesis import given, settings
from strategies import programs

from constraints.loop import solutions
from constraints.progress import ProgramShape, ProgressEncoding
from corpus.progress.axb import Instruction, Program, rename_locations, thread_images
from oracle.progress.wellformed import is_progress_test


def every_program(lengths: tuple[int, ...]) -> Iterator[Program]:
    """All programs of a shape with two locations and two values, one for each naming of the locations."""
    threads = [
        list(
            product(
                [
                    Instruction(location, check, jump, exchange)
                    for location, check, jump, exchange in product((0, 1), (0, 1), range(length + 1), (None, 0, 1))
                ],
                repeat=length,
            )
        )
        for length in lengths
    ]
    for chosen in product(*threads):
        program = Program(chosen)
        if rename_locations(program) is program:
            yield program


@pytest.mark.parametrize(
    ("lengths", "programs", "tests"), [((1, 1), 288, 8), ((1, 2), 15552, 81), ((1, 1, 1), 6912, 60)], ids=str
)
def test_the_formula_alone_says_which_programs_are_tests(lengths, programs, tests):
    formula = Asked(ProgramShape(lengths, 2, 2))
    said: dict[Program, bool] = {}
    for program in every_program(lengths):
        said[program] = formula.has(program)
    assert len(said) == programs
    valid = 0
    for program in said:
        # Equal threads are ordered in the formula: of the images of a program, it has at least one.
        images = [image for image, _ in thread_images(program) if image in said]
        expected = is_progress_test(program)
        assert expected == is_valid_test(program), program
        assert any(said[image] for image in images) == expected, program
        assert expected or not said[program]
        valid += expected
    assert valid == tests


def test_a_cube_of_one_program():
    """The same through the loop that the synthesis uses."""
    encoding = ProgressEncoding(ProgramShape((1, 2), 2, 2))
    for program in list(every_program((1, 2)))[::40]:
        found = solutions(encoding, "minisat22", cube=encoding.literals(program))
        assert [solution.program for solution in found] == [program] * is_progress_test(program)


@settings(deadline=None, max_examples=500, derandomize=True)
@given(programs(longest=3))
def test_oracle_and_plain_definitions_agree_on_any_program(program):
    assert is_progress_test(program) == is_valid_test(program)
