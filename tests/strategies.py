"""Hypothesis strategies for what tests are made of."""

from __future__ import annotations

from hypothesis import strategies as st

from corpus.progress.axb import Instruction, Program, Thread, digest
from corpus.progress.text import print_axb
from corpus.test import Test

MODELS = ["unfair-weak", "hsa-weak", "hsa-strong", "mine+yours-weak"]
VERDICTS = ["TERMINATES", "MAY_HANG", "UNKNOWN"]


@st.composite
def threads(draw: st.DrawFn, locations: int = 3, values: int = 3, longest: int = 4) -> Thread:
    """Any thread, whether it makes sense or not."""
    length = draw(st.integers(1, longest))
    return tuple(
        Instruction(
            draw(st.integers(0, locations - 1)),
            draw(st.integers(0, values - 1)),
            draw(st.integers(0, length)),
            draw(st.none() | st.integers(0, values - 1)),
        )
        for _ in range(length)
    )


def programs(
    locations: int = 3, values: int = 3, longest: int = 4, most_threads: int = 3
) -> st.SearchStrategy[Program]:
    """Any program, whether it is a valid test or not."""
    thread = threads(locations, values, longest)
    return st.lists(thread, min_size=1, max_size=most_threads).map(lambda parts: Program(tuple(parts)))


@st.composite
def corpus_tests(draw: st.DrawFn, name: str = "") -> Test:
    """A test with verdicts of some models, in their order, and tags."""
    program = draw(programs())
    models = [model for model in MODELS if draw(st.booleans())]
    verdicts = {model: draw(st.sampled_from(VERDICTS)) for model in models}
    tags = tuple(draw(st.lists(st.sampled_from(["mutex", "barrier-2"]), unique=True)))
    behaviour = draw(st.sampled_from(["", "0123456789abcdef"]))
    return Test(name, digest(program), print_axb(program), verdicts, tags, behaviour)
