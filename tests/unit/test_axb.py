"""AXB programs, their sizes and their digests."""

import pytest

from corpus.progress.axb import Instruction, Program, canonical, digest, thread_images
from corpus.progress.idioms import idioms

STORE = Instruction(0, 0, 1, 1)
SPIN = Instruction(0, 0, 0)


def test_digests_are_part_of_the_corpus_format_and_do_not_change():
    assert digest(idioms()["mutex"]) == "75b3023f0bfbca24"
    assert digest(idioms()["prodcons-increasing"]) == "32c9ea4144e808fe"
    assert digest(idioms()["prodcons-decreasing"]) == "ec068fa40bbff1f2"


def test_threads_are_symmetric_only_when_asked():
    increasing, decreasing = idioms()["prodcons-increasing"], idioms()["prodcons-decreasing"]
    assert canonical(increasing) != canonical(decreasing)
    assert canonical(increasing, symmetric_threads=True) == canonical(decreasing, symmetric_threads=True)
    assert digest(increasing, symmetric_threads=True) == digest(decreasing, symmetric_threads=True)
    assert len(thread_images(increasing)) == 2
    assert len(thread_images(idioms()["mutex"])) == 1


def test_sizes():
    program = Program(((STORE, Instruction(4, 3, 2, 7)), (SPIN,)))
    assert (program.size, program.bound, program.locations, program.values) == (3, "2x3", 5, 8)


def test_store_and_branch():
    assert STORE.is_store(0) and not STORE.branches(0)
    assert not STORE.is_store(1)  # the same numbers one line on jump to themselves
    assert not Instruction(0, 1, 1, 1).is_store(0)  # its check value is not the fixed one
    assert SPIN.branches(0) and not SPIN.is_store(0)


@pytest.mark.parametrize(
    ("threads", "message"),
    [
        ((), "at least one thread"),
        (((STORE,), ()), "thread 1 has no instruction"),
        (((Instruction(0, 0, 2),),), r"jump to 2, outside 0\.\.1"),
        (((Instruction(0, 0, -1),),), "jump to -1"),
        (((Instruction(-1, 0, 0),),), "not negative"),
        (((Instruction(0, -1, 0),),), "not negative"),
        (((Instruction(0, 0, 0, -1),),), "not negative"),
    ],
)
def test_impossible_programs_are_refused(threads, message):
    with pytest.raises(ValueError, match=message):
        Program(threads)
