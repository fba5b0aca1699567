"""Tests found by a search, as records of a corpus with digests, verdicts and texts. Many tests of one shape come at
once.

Each test stands for its images under permutation of threads, and each image is a test of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import permutations
from operator import getitem

from msgspec import Raw

from corpus.journal import FoundTest
from corpus.progress.axb import thread_images
from corpus.progress.idioms import tags_of
from corpus.progress.text import print_instruction
from corpus.records import progress_record, verdict_groups
from oracle.progress.fast.automata import Automata, hangs, minimal_automata
from oracle.progress.fast.batches import ProgramBatch, instruction_of
from oracle.progress.models import ProgressModel, Vector, image_verdicts, image_verdicts_with, vector_of
from oracle.progress.reductions import minimal_images
from synth.progress.placements import placed_tests

_TOGETHER = 2048
"""The number of tests that are judged together; the data of more tests would leave the processor's cache."""

_MOST_CELLS = 1 << 21
"""The most states, counted once for each thread, of tests that are judged together: 16 MB."""


Wants = Callable[[Vector], bool]
"""A function that says whether a test with these verdicts is wanted."""


def founds_of(
    tests: ProgramBatch,
    wants: Wants,
    minimal: bool,
    symmetric_threads: bool,
    own: tuple[ProgressModel, ...] = (),
    levels: tuple[str, ...] = (),
) -> Iterator[FoundTest]:
    """Yield the wanted images of tests, in their order, with their verdicts and, if asked, only the minimal ones.

    With symmetric threads, one image of each test is yielded: the first that is wanted, for another order of the
    threads may have other verdicts. ``own`` are the user's models, which are asked beside the 12 built-in ones; that
    takes longer. With ``levels``, each image is a test in each placement of its threads in groups of these levels.
    """
    for some in tests.pieces(min(_TOGETHER, max(1, _MOST_CELLS // (tests.states * len(tests.lengths))))):
        if levels:
            automata = minimal_automata(some)
            for n, program in enumerate(some.programs()):
                yield placed_tests(program, automata.behaviour(n), levels, own, wants, minimal)
            continue
        yield from _judged(some, wants, minimal, symmetric_threads, own)


def _judged(
    tests: ProgramBatch, wants: Wants, minimal: bool, symmetric_threads: bool, own: tuple[ProgressModel, ...]
) -> Iterator[FoundTest]:
    orders = list(permutations(range(len(tests.lengths))))
    automata = minimal_automata(tests)
    weak, strong = (hang.tolist() for hang in hangs(automata, orders))
    judgements = [list(map(_verdict_vector, *masks)) for masks in zip(weak, strong, strict=True)]
    judge = partial(image_verdicts_with, own) if own else image_verdicts
    for n in range(len(tests)) if own else ():
        for o, vector in enumerate(judge(automata.behaviour(n), tuple(orders))):
            judgements[o][n] = vector, verdict_groups(vector)
    images = [
        _Image(tests.image(order), automata.relabelled(order), [groups for _, groups in own])
        for order, own in zip(orders, judgements, strict=True)
    ]
    programs = list(tests.programs()) if minimal or symmetric_threads else []
    for n, text in enumerate(images[0].texts):
        if symmetric_threads:
            distinct = [orders.index(order) for _, order in thread_images(programs[n])]
        else:
            first: dict[bytes, int] = {}
            for o, image in enumerate(images):
                first.setdefault(image.keys[n], o)
            distinct = list(first.values())
        vectors = [judgements[o][n][0] for o in distinct]
        kept = [o for o, vector in zip(distinct, vectors, strict=True) if wants(vector)]
        if minimal and kept:
            least = minimal_images(programs[n], tuple(orders[o] for o in distinct), vectors, judge)
            kept = [o for o, so in zip(distinct, least, strict=True) if so and o in kept]
        yield FoundTest(text, tuple([images[o].record(n) for o in (kept[:1] if symmetric_threads else kept)]))


class _Image:
    """Programs that are tests, with their behaviours and verdicts in the form of records."""

    def __init__(self, programs: ProgramBatch, automata: Automata, verdicts: list[Raw]) -> None:
        self.keys = programs.sort_keys()
        lines = [_lines(t, pc, programs.lengths[t]) for t, pc in programs.sites]
        self.texts = ["".join(map(getitem, lines, codes)) for codes in programs.codes()]  # as ``print_axb`` prints them
        digests = list(map(_name, programs.numbers()))
        behaviours = map(_name, automata.numbers())
        tags = map(tags_of, digests)
        self._records = list(map(progress_record, digests, behaviours, self.texts, verdicts, tags))

    def record(self, n: int) -> tuple[str, bytes]:
        """Return the record of a test with the key that it is sorted by."""
        return self.keys[n].hex(), self._records[n]


@cache
def _verdict_vector(weak: int, strong: int) -> tuple[Vector, Raw]:
    """Return ``vector_of`` the verdicts, and that vector in the form of a record."""
    vector = vector_of(weak, strong)
    return vector, verdict_groups(vector)


def _name(numbers: bytes) -> str:
    """Return the digest of ``corpus.progress.axb.digest_numbers`` for numbers that are bytes already."""
    return hashlib.sha256(numbers).hexdigest()[:16]


class _Lines(dict[int, str]):
    """The lines of text of instructions, by their numbers; the head of a thread is part of its first instruction."""

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
