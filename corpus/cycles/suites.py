"""Litmus tests as tests of a corpus."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from corpus.cycles.cycle import family
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.normal import litmus_digest
from corpus.litmus.orders import Scope
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from corpus.test import Test


def litmus_record(
    test: LitmusTest,
    text: str,
    size: int | None = None,
    verdicts: Mapping[str, str] | None = None,
    reasons: Mapping[str, str] | None = None,
) -> Test:
    """Return a litmus test as a test of a corpus; its ``size`` is the length of its cycle, or else its number of
    accesses.

    Its tag is the classic name that its name begins with, if any.
    """
    found = [_accesses(thread) for thread in test.threads]
    accesses = sum(number for number, _ in found)
    scopes = sorted(frozenset().union(*(named for _, named in found)), key=lambda scope: scope.value)
    shape = family(test.name)
    return Test(
        test.name,
        litmus_digest(test),
        text,
        verdicts or {},
        (shape,) if shape else (),
        bound=f"{len(test.threads)}x{accesses if size is None else size}",
        scopes=tuple(scope.label for scope in scopes),
        reasons=reasons or {},
    )


@lru_cache(maxsize=1 << 12)  # a suite has few threads
def _accesses(thread: Thread) -> tuple[int, frozenset[Scope]]:
    """The number of accesses of a thread, and the scopes that it names."""
    accesses = sum(isinstance(ins, Load | Store | Rmw) for ins in thread.instructions)
    modes = [ins.mode for ins in thread.instructions if isinstance(ins, Load | Store | Rmw | Fence | Barrier)]
    return accesses, frozenset(mode.scope for mode in modes if mode.scope is not None)
