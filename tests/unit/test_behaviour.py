from itertools import permutations, product
from math import factorial

import pytest
from bruteforce import all_tests, start, successors

from corpus.progress.axb import Program
from corpus.progress.text import parse_axb
from oracle.progress.behaviour import behaviour, behaviour_digest
from oracle.progress.system import NO_STEP

SPIN = "THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n"


def same_words(one, other):
    """Whether two programs enable the same threads after every word: a walk over pairs of states."""
    todo = [(start(one), start(other))]
    seen = set(todo)
    for left, right in todo:  # grows while we walk it
        ways = dict(successors(one, left)), dict(successors(other, right))
        if ways[0].keys() != ways[1].keys():
            return False
        for tid in ways[0]:
            pair = (ways[0][tid], ways[1][tid])
            if pair not in seen:
                seen.add(pair)
                todo.append(pair)
    return True


def test_the_automaton_of_a_spin():
    #   both run; T1 has ended and T0 must step once; T0 cannot end before T1; the end
    assert behaviour(parse_axb(SPIN)) == ((0, 1), (2, NO_STEP), (NO_STEP, NO_STEP))


def test_equal_automata_are_equal_behaviour():
    for one, other in product(all_tests(2, 3), repeat=2):
        assert (behaviour(one) == behaviour(other)) == same_words(one, other)


def test_memory_that_nobody_reads_is_not_behaviour():
    more = SPIN.replace("THREAD 1\n0: Mem[0] = 1;", "THREAD 1\n0: Mem[0] = 2;")
    assert behaviour(parse_axb(SPIN)) == behaviour(parse_axb(more))


@pytest.mark.parametrize("bound", [(2, 2), (2, 3), (3, 3)], ids=str)
def test_symmetric_threads(bound):
    for program in all_tests(*bound):
        images = {Program(threads) for threads in permutations(program.threads)}
        least = {behaviour(image, symmetric_threads=True) for image in images}
        assert least == {min(behaviour(image) for image in images)}
        assert len(images) <= factorial(bound[0])


def test_the_digest_is_a_part_of_the_corpus_format():
    assert behaviour_digest(parse_axb(SPIN)) == "b2f437aa12a216b4"
    swapped = Program(tuple(reversed(parse_axb(SPIN).threads)))
    assert behaviour_digest(swapped) != behaviour_digest(parse_axb(SPIN))
    assert behaviour_digest(swapped, True) == behaviour_digest(parse_axb(SPIN), True)
