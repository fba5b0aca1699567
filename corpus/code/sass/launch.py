"""Where a compiled test lies in a launch: the ids of its threads, its locations in memory, and its results."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.code.launch.launch import KernelLaunch, ThreadIds
from corpus.code.places import Array
from corpus.litmus.locations import Loc
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest

WORD = 4
"""Bytes of a word."""
ALL = 0xFFFFFFFF
"""Every bit of a word."""

MEMORY, RESULTS, STACK = 0x7_1000_0000, 0x7_8000_0000, 0x00FF_0000
"""Where memory, results and the stack of the thread are taken to be."""
OWN = Array("local", 0, "own")
"""The memory that a thread has for itself."""
SEED = 0
"""What the kernel is given beside memory and results."""

_PARAMETERS = ((100, 0x380), (90, 0x210), (0, 0x160))
"""Where parameters begin in bank 0 of constant memory, from a compute capability on."""
_STACKS = ((100, 0x37C), (0, 0x28))
"""Where bank 0 keeps the first address of the stack, from a compute capability on."""
_SHARED = ((90, 0x400), (0, 0))
"""Where shared memory of a kernel begins, from a compute capability on."""


@dataclass(frozen=True, slots=True)
class LocationRow:
    """Locations in memory of one kind: their names in turn, from one to the next so many words, and all words."""

    names: tuple[str, ...]
    stride: int
    words: int

    def location(self, offset: int) -> Loc | None:
        """Return the location so many bytes behind the first one; None where there is none."""
        word, rest = divmod(offset & ALL, WORD)
        if rest or not self.names or word >= self.words or word % self.stride:
            return None
        return Loc(self.names[word // self.stride % len(self.names)])


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledLaunch(KernelLaunch):
    """A test as its program launches it.

    ``places`` has for each thread its number in the CTA, along x, and that of the CTA. A barrier counts ``slots``
    threads for each thread of the test, and each of ``terms`` has ``instances`` words of results. ``global_memory`` and
    ``shared_memory`` are where its locations lie.
    """

    test: LitmusTest
    terms: tuple[FinalRegister | Loc, ...]
    places: tuple[tuple[int, int], ...]
    slots: int
    instances: int
    global_memory: LocationRow
    shared_memory: LocationRow

    def ids(self, number: int) -> ThreadIds:
        """Return the ids of a thread of the test."""
        thread, block = self.places[number]
        return ThreadIds((block, 0, 0), (thread, 0, 0))

    def number(self, ids: ThreadIds) -> int:
        """Return the number that a thread has in the test."""
        return self.places.index((ids.thread[0], ids.block[0]))

    def has_company(self, number: int) -> bool:
        """Decide whether another thread of the test is in the CTA of one."""
        place = self.test.threads[number].place
        others = (thread for n, thread in enumerate(self.test.threads) if n != number)
        return any(place.shares(other.place, Scope.CTA) for other in others)

    def constant(self, offset: int, capability: int) -> int | None:
        """Return a word of bank 0 of constant memory; None where nothing tells it."""
        if offset == _by_capability(_STACKS, capability):
            return STACK
        given = (MEMORY & ALL, MEMORY >> 32, RESULTS & ALL, RESULTS >> 32, SEED)
        number, rest = divmod(offset - _by_capability(_PARAMETERS, capability), WORD)
        return given[number] if rest == 0 and 0 <= number < len(given) else None

    def location(self, address: int, space: str, capability: int) -> Loc | None:
        """Return the location at the low half of an address; None where there is none."""
        if space == "shared":
            return self.shared_memory.location(address - _by_capability(_SHARED, capability))
        return self.global_memory.location(address - MEMORY)


def _by_capability(rows: tuple[tuple[int, int], ...], capability: int) -> int:
    """Return the number that stands for a compute capability, of rows that each say from which one on theirs does."""
    return next(value for least, value in rows if capability >= least)
