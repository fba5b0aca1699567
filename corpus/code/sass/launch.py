"""Where a compiled test lies in a launch: the ids of its threads, its locations in memory, and its results."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.litmus.locations import Loc
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest


@dataclass(frozen=True, slots=True)
class LocationRow:
    """Locations in memory of one kind: their names in turn, from one to the next so many words, and all words."""

    names: tuple[str, ...]
    stride: int
    words: int


@dataclass(frozen=True, slots=True)
class CompiledLaunch:
    """A test as its program launches it.

    ``ids`` has for each thread its number in the CTA, along x, and that of the CTA. A barrier counts ``slots`` threads
    for each thread of the test, and each of ``terms`` has ``instances`` words of results.
    """

    test: LitmusTest
    terms: tuple[FinalRegister | Loc, ...]
    ids: tuple[tuple[int, int], ...]
    slots: int
    instances: int
    memory: LocationRow
    shared: LocationRow
