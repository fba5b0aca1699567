"""Defines a test of a corpus, of either family. A test is its text with its name, digest, size, verdicts and tags."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec


def axb_bound(text: str) -> str:
    """Return the bound of a progress test, threads x instructions, counted in its pseudo-code."""
    return _bound(text.count("THREAD"), text.count(";"))


@lru_cache(maxsize=1 << 10)  # a corpus has few, and its tests share them
def _bound(threads: int, instrs: int) -> str:
    return f"{threads}x{instrs}"


class Test(msgspec.Struct, frozen=True, gc=False):  # hundreds of thousands of them, and none in a circle
    """A test of a corpus. ``verdicts`` maps names of models to what they say, ``reasons`` those without a verdict to
    why.

    ``text`` is AXB pseudo-code or a litmus test; it is parsed when somebody asks, so that a corpus of hundreds of
    thousands of tests opens quickly. ``digest`` names the test up to renaming. ``tags`` are names of idioms (``mutex``)
    or of the shape of a cycle (``MP``). ``bound`` is ``2x4``: threads and instructions, or the accesses of a cycle;
    that of a progress test is counted where it is not given. ``scopes`` are those that a litmus test names.
    ``behaviour`` names what tests have in common that are one up to it: the minimal automaton of a progress test, the
    program of a memory test (empty where it was not asked for).
    """

    __test__ = False  # not a test class of pytest's

    name: str
    digest: str
    text: str
    verdicts: Mapping[str, str] = msgspec.field(default_factory=dict)
    tags: tuple[str, ...] = ()
    behaviour: str = ""
    bound: str = ""
    scopes: tuple[str, ...] = ()
    reasons: Mapping[str, str] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.bound:
            msgspec.structs.force_setattr(self, "bound", axb_bound(self.text))

    @property
    def threads(self) -> int:
        """The number of threads of the test, the first number of its bound."""
        return int(self.bound.partition("x")[0])

    @property
    def size(self) -> int:
        """The number of instructions of all threads together, or of accesses of a cycle."""
        return int(self.bound.partition("x")[2])
