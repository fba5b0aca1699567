"""Recognises well-known idioms of synchronisation in a corpus. It does so by the digest of their canonical form.

Source: Sorensen et al. 2021, Figs 2, 3, 8 and 9, and the inter-workgroup barrier that its section 2.4 relies on (Xiao
and Feng, IPDPS 2010) without a master. A tag says that a test *is* the idiom, up to the names of locations, not that it
contains it; thread order counts. ``examples/progress`` holds the same programs under the same names, for a reader.

Gap: of the spin barrier, sizes 2 to 4 are known by name; ``spin_barrier`` builds any.
"""

from __future__ import annotations

from functools import cache

from corpus.progress.axb import Instruction, Program, digest
from corpus.progress.text import parse_axb

_TEXTS = {
    "prodcons-increasing": """
        THREAD 0
        0: Mem[0] = 1;
        THREAD 1
        0: if (Mem[0] == 0) goto 0;
    """,
    "prodcons-decreasing": """
        THREAD 0
        0: if (Mem[0] == 0) goto 0;
        THREAD 1
        0: Mem[0] = 1;
    """,
    "prodcons-bidirectional": """
        THREAD 0
        0: Mem[0] = 1;
        1: if (Mem[0] == 1) goto 1;
        THREAD 1
        0: if (Mem[0] == 0) goto 0;
        1: Mem[0] = 0;
    """,
    "prodcons-bidirectional-2": """
        THREAD 0
        0: if (Mem[0] == 0) goto 0;
        1: Mem[0] = 0;
        THREAD 1
        0: Mem[0] = 1;
        1: if (Mem[0] == 1) goto 1;
    """,
    "mutex": """
        THREAD 0
        0: if (Exch(Mem[0],1) == 1) goto 0;
        1: Mem[0] = 0;
        THREAD 1
        0: if (Exch(Mem[0],1) == 1) goto 0;
        1: Mem[0] = 0;
    """,
    "mutex-simplified": """
        THREAD 0
        0: if (Mem[0] == 1) goto 0;
        THREAD 1
        0: Mem[0] = 1;
        1: Mem[0] = 0;
    """,
    "philosophers-simplified": """
        THREAD 0
        0: if (Exch(Mem[0],0) == 1) goto 0;
        THREAD 1
        0: if (Exch(Mem[0],1) == 0) goto 0;
    """,
}


def spin_barrier(threads: int) -> Program:
    """Return a barrier of ``threads`` threads: each sets its own flag, then spins on the flag of every other thread in
    turn.

    Needs one location a thread. Raises ``ValueError`` for fewer than two threads.
    """
    if threads < 2:
        raise ValueError("a barrier needs at least two threads")
    return Program(tuple(_meet(tid, threads) for tid in range(threads)))


def _meet(tid: int, threads: int) -> tuple[Instruction, ...]:
    others = [other for other in range(threads) if other != tid]
    return (Instruction(tid, 0, 1, 1), *(Instruction(other, 0, pc, None) for pc, other in enumerate(others, 1)))


_BARRIERS = {f"barrier-{threads}": threads for threads in (2, 3, 4)}

IDIOMS = tuple(sorted([*_TEXTS, *_BARRIERS]))
"""The names of the idioms that are recognised, sorted."""


@cache
def idioms() -> dict[str, Program]:
    """Return the idioms by name, as they are written in the paper."""
    barriers = {name: spin_barrier(threads) for name, threads in _BARRIERS.items()}
    return {name: parse_axb(text, name) for name, text in _TEXTS.items()} | barriers


@cache
def _names() -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for name, program in sorted(idioms().items()):
        names[digest(program)] = (*names.get(digest(program), ()), name)
    return names


def tags_of(digest: str) -> tuple[str, ...]:
    """Return the sorted names of the idioms that a test with this ``corpus.progress.axb.digest`` is; most tests are
    none.
    """
    return _names().get(digest, ())
