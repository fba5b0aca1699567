"""The synthesis finds exactly what plain enumeration finds, at every bound where the latter is feasible."""

import random
from itertools import combinations
from operator import attrgetter

import pytest
from bruteforce import all_tests, is_valid_test
from encoded import Asked, shapes, solved

from constraints.loop import solutions
from constraints.progress import ProgramShape, ProgressEncoding
from corpus.progress.axb import Instruction, Program, rename_locations, thread_images
from oracle.progress.wellformed import is_progress_test
from synth.progress.synthesis import partitions

# threads, instructions, locations (2), values (2) -> tests
SMALL = {
    (2, 2): 8,
    (2, 3): 162,
    (2, 3, 1): 162,
    (2, 3, 3): 162,
    (2, 3, 2, 3): 668,
    (3, 3): 60,
    (3, 3, 3): 60,
    (3, 3, 3, 3): 300,
    (2, 4): 6610,
    (3, 4): 4146,
}
LARGE = {(3, 4, 3): 4146, (2, 4, 3): 6610, (3, 4, 1, 3): 30786}


def found(*bound: int) -> list[Program]:
    return [program for shape in shapes(*bound) for program in solved(shape)]


def same_as_plain_enumeration(bound, tests):
    programs = found(*bound)
    assert len(programs) == tests
    assert sorted(programs, key=lambda program: program.key) == all_tests(*bound)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("bound", "tests"), SMALL.items(), ids=str)
def test_same_tests_as_plain_enumeration(bound, tests):
    same_as_plain_enumeration(bound, tests)


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "tests"), LARGE.items(), ids=str)
def test_same_tests_as_plain_enumeration_at_larger_bounds(bound, tests):
    same_as_plain_enumeration(bound, tests)


# Beyond the bounds that can be enumerated: walks among programs, each step a small change, most of them near the border
# between tests and other programs.


def mutated(program: Program, shape: ProgramShape, rng: random.Random) -> Program:
    threads = [list(thread) for thread in program.threads]
    for _ in range(rng.choice([1, 1, 2])):
        tid = rng.randrange(len(threads))
        pc = rng.randrange(len(threads[tid]))
        location, jump = rng.randrange(shape.locations), rng.randrange(len(threads[tid]) + 1)
        check, exchange = rng.randrange(shape.values), rng.choice([None, *range(shape.values)])
        if jump == pc + 1:
            check, exchange = 0, rng.randrange(shape.values)
        threads[tid][pc] = Instruction(location, check, jump, exchange)
    return rename_locations(Program(tuple(map(tuple, threads))))


def nothing(shape: ProgramShape) -> Program:
    return Program(tuple((Instruction(0, 0, 0),) * length for length in shape.lengths))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "shape",
    [
        ProgramShape((1, 4), 2, 3),
        ProgramShape((2, 3), 3, 2),
        ProgramShape((3, 3), 2, 2),
        ProgramShape((1, 1, 3), 2, 2),
        ProgramShape((1, 2, 2), 3, 2),
        ProgramShape((1, 1, 1, 2), 2, 2),
    ],
    ids=str,
)
def test_random_walks_cross_the_border_where_the_formula_says(shape):
    formula = Asked(shape)
    rng = random.Random(f"{shape.lengths} {shape.locations} {shape.values}")
    program = nothing(shape)
    tests = others = 0
    for _ in range(2000):
        changed = mutated(program, shape, rng)
        valid = is_valid_test(changed)
        assert is_progress_test(changed) == valid
        # Of programs equal up to the order of threads, the formula has at least one.
        lengths = shape.lengths
        images = [image for image, _ in thread_images(changed) if tuple(map(len, image.threads)) == lengths]
        assert any(map(formula.has, images)) == valid, changed
        tests, others = tests + valid, others + (not valid)
        if valid or not is_valid_test(program):
            program = changed
    assert tests > 50 and others > 50


# Cubes


@pytest.mark.parametrize("count", [1, 2, 4, 48])
@pytest.mark.parametrize("lengths", [lengths for bound in [(2, 3), (3, 3), (2, 4)] for lengths in partitions(*bound)])
def test_cubes_cover_every_program_once(lengths, count):
    encoding = ProgressEncoding(ProgramShape(lengths, 2, 2))
    cubes = [set(cube) for cube in encoding.cubes(count)]
    fields = {
        encoding.formula.var("jump", t, i, jump): (t, i) for t, i in encoding.sites for jump in range(lengths[t] + 1)
    }
    for one, other in combinations(cubes, 2):  # no program twice: some field has two values
        assert any(fields[a] == fields[b] for a in one - other for b in other - one)
    for program in solved(encoding.shape):
        if tuple(map(len, program.threads)) == lengths:
            literals = set(encoding.literals(program))
            assert sum(cube <= literals for cube in cubes) == 1


def test_cubes_are_as_many_as_asked_for():
    encoding = ProgressEncoding(ProgramShape((2, 3), 2, 2))
    assert [len(encoding.cubes(count)) for count in (1, 2, 4, 5, 16, 17, 1000)] == [1, 4, 4, 16, 16, 64, 64]


@pytest.mark.parametrize("lengths", [(1, 2), (1, 1, 1), (2, 2)], ids=str)
def test_enumeration_of_cubes_gives_each_test_once(lengths):
    encoding = ProgressEncoding(ProgramShape(lengths, 2, 2))
    programs = [
        image
        for cube in encoding.cubes(9)
        for solution in solutions(encoding, "minisat22", cube)
        for image, _ in solution.images
    ]
    assert len(programs) == len(set(programs))
    assert set(programs) == set(solved(encoding.shape))


def test_known_programs_are_not_found_again():
    encoding = ProgressEncoding(ProgramShape((1, 2), 2, 2))
    everything = list(solutions(encoding, "minisat22"))
    known, rest = everything[::2], everything[1::2]
    again = list(solutions(encoding, "minisat22", known=known))
    key = attrgetter("program.key")
    assert sorted(again, key=key) == sorted(rest, key=key)
