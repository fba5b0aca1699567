"""Idioms are recognised by digest, and the examples are the same programs."""

from pathlib import Path

import pytest

from corpus.progress.axb import canonical, digest
from corpus.progress.idioms import idioms, spin_barrier, tags_of
from corpus.progress.text import read_axb

EXAMPLES = Path(__file__).parents[2] / "examples" / "progress"


@pytest.mark.parametrize("name", [name for name in idioms() if (EXAMPLES / f"{name}.axb").exists()])
def test_examples_of_the_same_name_are_the_same_programs(name):
    assert canonical(read_axb(EXAMPLES / f"{name}.axb")) == canonical(idioms()[name])


def test_the_idioms_of_the_paper_are_among_the_examples():
    assert {path.stem for path in EXAMPLES.glob("*.axb")} >= set(idioms()) - {"barrier-4"}


def test_every_idiom_is_recognised_as_itself_alone():
    for name, program in idioms().items():
        assert tags_of(digest(program)) == (name,)
    assert tags_of("0" * 16) == ()


def test_a_barrier_has_every_thread_wait_for_every_other():
    barrier = spin_barrier(4)
    assert barrier.bound == "4x16"
    for tid, thread in enumerate(barrier.threads):
        assert {ins.location for ins in thread[1:]} == set(range(4)) - {tid}
    with pytest.raises(ValueError, match="at least two"):
        spin_barrier(1)
