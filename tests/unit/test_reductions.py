"""Single-step reductions and minimality."""

from collections import Counter

import pytest
from bruteforce import all_tests, is_valid_test
from hypothesis import given, settings
from strategies import programs

from corpus.progress.axb import Program, instructions, rename_locations, thread_images
from corpus.progress.idioms import idioms
from corpus.progress.text import parse_axb, print_axb
from oracle.progress.behaviour import behaviour
from oracle.progress.models import verdicts
from oracle.progress.reductions import is_minimal, minimal_images, reductions

# threads, instructions -> minimal tests: measured by an independent exhaustive program
MINIMAL = {(2, 2): 4, (2, 3): 26, (3, 3): 7}


def measure(program: Program) -> int:
    """Instructions, exchanges, branches and locations, all together."""
    everything = list(instructions(program))
    exchanges = sum(ins.exchange is not None for _, _, ins in everything)
    branches = sum(ins.branches(pc) for _, pc, ins in everything)
    return len(everything) + exchanges + branches + len({ins.location for _, _, ins in everything})


def minimal(bound: tuple[int, int]) -> list[Program]:
    return [program for program in all_tests(*bound) if is_minimal(program)]


def assert_smaller(program: Program) -> None:
    for smaller in reductions(program):
        assert measure(smaller) < measure(program)
        assert smaller == rename_locations(smaller)
        assert len(smaller.threads) >= min(2, len(program.threads))


@pytest.mark.parametrize("bound", MINIMAL, ids=str)
def test_every_reduction_makes_a_test_smaller(bound):
    """So reducing ends, and there are minimal tests."""
    for program in all_tests(*bound):
        assert_smaller(program)


@settings(deadline=None, max_examples=300, derandomize=True)
@given(programs())
def test_every_reduction_makes_any_program_smaller(program):
    assert_smaller(program)


def test_the_reductions_of_a_program():
    program = parse_axb(
        "THREAD 0\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[1] = 1;\n"
        "THREAD 1\n0: if (Mem[0] == 0) goto END;\n1: if (Mem[1] == 0) goto 1;\nTHREAD 2\n0: Mem[0] = 0;\n"
    )
    first, second, third = "THREAD 0\n", "THREAD 1\n", "THREAD 2\n"
    lock, store = "0: if (Exch(Mem[0],1) == 1) goto 0;\n", "1: Mem[1] = 1;\n"
    look, spin = "0: if (Mem[0] == 0) goto END;\n", "1: if (Mem[1] == 0) goto 1;\n"
    last = third + "0: Mem[0] = 0;\n"
    expected = {
        # delete a thread
        first + look + spin + second + "0: Mem[0] = 0;\n",
        first + lock + store + second + "0: Mem[0] = 0;\n",
        first + lock + store + second + look + spin,
        # delete an instruction; locations are numbered anew, and a branch over what is gone goes to its end
        first + "0: Mem[0] = 1;\n" + second + "0: if (Mem[1] == 0) goto END;\n1: if (Mem[0] == 0) goto 1;\n"
        + third + "0: Mem[1] = 0;\n",
        first + lock + second + look + spin + last,
        first + lock + store + second + "0: if (Mem[1] == 0) goto 0;\n" + last,
        # drop the exchange of a branch, or the branch of an exchange
        first + "0: if (Mem[0] == 1) goto 0;\n" + store + second + look + spin + last,
        first + "0: Mem[0] = 1;\n" + store + second + look + spin + last,
        # merge the locations
        (first + lock + store + second + look + spin + last).replace("[1]", "[0]"),
    }  # fmt: skip
    found = list(reductions(program))
    texts = {print_axb(smaller) for smaller in found}
    (odd,) = [smaller for smaller in found if print_axb(smaller) not in expected]
    # The load before the deleted spin no longer jumps past anything: neither a store nor a branch, so no test.
    assert odd.threads[1] == (type(odd.threads[1][0])(0, 0, 1),)
    assert len(found) == len(texts) == 10
    assert texts >= expected


def test_a_branch_that_jumps_to_the_next_instruction_is_a_store():
    program = parse_axb(
        "THREAD 0\n0: if (Exch(Mem[0],1) == 1) goto END;\n1: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 0;\n"
    )
    assert "THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: Mem[0] = 0;\n" in map(print_axb, reductions(program))


@pytest.mark.parametrize("bound", MINIMAL, ids=str)
def test_minimal_tests_are_counted(bound):
    found = minimal(bound)
    assert len(found) == len({behaviour(program) for program in found}) == MINIMAL[bound]


@pytest.mark.parametrize("bound", MINIMAL, ids=str)
def test_minimal_is_what_no_valid_reduction_with_the_same_verdicts_says(bound):
    """By the definitions of plain enumeration, without the shared automata and caches."""
    for program in all_tests(*bound):
        own = verdicts(program)
        redundant = any(is_valid_test(smaller) and verdicts(smaller) == own for smaller in reductions(program))
        assert is_minimal(program) == (not redundant)


def test_minimal_tests_say_all_that_tests_say():
    """Every test reduces, step by step and with the same verdicts, to a minimal test of the same or a smaller bound."""
    tests = {bound: Counter(str(verdicts(program)) for program in all_tests(*bound)) for bound in MINIMAL}
    kept = {bound: Counter(str(verdicts(program)) for program in minimal(bound)) for bound in MINIMAL}
    assert set(tests[2, 2]) == set(kept[2, 2])
    assert set(tests[2, 3]) <= set(kept[2, 2]) | set(kept[2, 3])
    assert set(tests[3, 3]) <= set(kept[2, 2]) | set(kept[3, 3])


def test_idioms_that_are_minimal():
    """A barrier of three threads or more has the verdicts of smaller tests; every other idiom is of the smallest."""
    found = {name for name, program in idioms().items() if is_minimal(program)}
    assert set(idioms()) - found == {"barrier-3", "barrier-4"}


@pytest.mark.parametrize("bound", MINIMAL, ids=str)
def test_images_are_minimal_where_each_alone_is(bound):
    """Images under permutation of threads are judged together, from the reductions of one of them."""
    for program in all_tests(*bound):
        images = thread_images(program)
        orders = tuple(order for _, order in images)
        together = minimal_images(program, orders, [verdicts(image) for image, _ in images])
        assert together == [is_minimal(image) for image, _ in images]
