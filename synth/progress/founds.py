"""What a search has found as records of a corpus: many tests of one shape at once, with digests, verdicts and texts.

Each test stands for its images under permutation of threads, and each image is a test of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations
from operator import getitem

from corpus.journal import Found
from corpus.progress.axb import thread_images
from corpus.progress.idioms import tags_of
from corpus.progress.text import print_instruction
from corpus.records import test_record
from corpus.test import Test
from oracle.progress.automata import Automata, hangs, minimal_automata
from oracle.progress.batches import Batch, instruction_of
from oracle.progress.models import Vector, vector_of
from oracle.progress.reductions import minimal_images

_TOGETHER = 1024
"""Tests that are judged together: what is known of more of them would leave the processor's cache."""


Wants = Callable[[Vector], bool]
"""Whether a test is wanted that has these verdicts."""


def founds_of(tests: Batch, wants: Wants, minimal: bool, symmetric_threads: bool) -> Iterator[Found]:
    """What tests give, in their order: of each the images that are wanted with their verdicts, and, if asked, minimal.

    With symmetric threads, one of them: the first that is wanted, for another order of the threads may have other
    verdicts.
    """
    for some in tests.pieces(_TOGETHER):
        yield from _judged(some, wants, minimal, symmetric_threads)


def _judged(tests: Batch, wants: Wants, minimal: bool, symmetric_threads: bool) -> Iterator[Found]:
    orders = list(permutations(range(len(tests.lengths))))
    automata = minimal_automata(tests)
    weak, strong = (each.T.tolist() for each in hangs(automata, orders))
    images = [_Images(tests.image(order), automata.relabelled(order)) for order in orders]
    programs = list(tests.programs()) if minimal or symmetric_threads else []
    for n in range(len(tests)):
        if symmetric_threads:
            distinct = [orders.index(order) for _, order in thread_images(programs[n])]
        else:
            first: dict[bytes, int] = {}
            for o, image in enumerate(images):
                first.setdefault(image.keys[n], o)
            distinct = list(first.values())
        vectors = [vector_of(weak[n][o], strong[n][o]) for o in distinct]
        kept = [wants(vector) for vector in vectors]
        if minimal and any(kept):
            least = minimal_images(programs[n], tuple(orders[o] for o in distinct), vectors)
            kept = [asked and so for asked, so in zip(kept, least, strict=True)]
        chosen = [(images[o], vector) for o, vector, keep in zip(distinct, vectors, kept, strict=True) if keep]
        records = [image.record(n, vector) for image, vector in (chosen[:1] if symmetric_threads else chosen)]
        yield Found(images[0].text(n), tuple(records))


class _Images:
    """Programs that are tests, and their behaviours."""

    def __init__(self, programs: Batch, automata: Automata) -> None:
        self.keys = programs.sort_keys()
        self._bound = f"{len(programs.lengths)}x{len(programs.sites)}"
        self._numbers = programs.numbers()
        self._behaviours = automata.numbers()
        self._codes = programs.codes()
        self._lines = [_lines(t, pc, programs.lengths[t]) for t, pc in programs.sites]

    def text(self, n: int) -> str:
        """What ``corpus.progress.text.print_axb`` gives."""
        return "".join(map(getitem, self._lines, self._codes[n]))

    def record(self, n: int, vector: Vector) -> tuple[str, bytes]:
        """A test with the key that it is sorted by."""
        own = _name(self._numbers[n])
        test = Test("", own, self.text(n), vector, tags_of(own), _name(self._behaviours[n]), self._bound)
        return self.keys[n].hex(), test_record(test)


def _name(numbers: bytes) -> str:
    """The digest of ``corpus.progress.axb.digest_numbers``, of numbers that are bytes already."""
    return hashlib.sha256(numbers).hexdigest()[:16]


class _Lines(dict[int, str]):
    """Lines of text by the instruction that they are of, as a number; the head of a thread is part of its first."""

    def __init__(self, t: int, pc: int, length: int) -> None:
        self._head = f"THREAD {t}\n" if pc == 0 else ""
        self._pc = pc
        self._length = length

    def __missing__(self, code: int) -> str:
        ins = instruction_of(code)
        line = f"{self._head}{self._pc}: {print_instruction(ins, self._pc, self._length)}\n"
        self[code] = line
        return line


_lines = cache(_Lines)
