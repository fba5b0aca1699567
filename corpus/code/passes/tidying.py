"""Makes a residual program small, by passes over its graph until none finds anything more."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from corpus.code.passes.dead_code import drop_dead
from corpus.code.passes.folding import join_comparisons
from corpus.code.passes.graph import ResidualGraph
from corpus.code.passes.joins import merge_equal
from corpus.code.passes.loops import drop_polls, drop_retries
from corpus.code.passes.registers import join_moves, sink_moves
from corpus.code.residual import Residual


def tidied(code: Sequence[Residual], needed: Collection[str] = (), rounds: bool = False) -> list[Residual]:
    """Return a residual program with as few instructions as the passes leave.

    Registers that are ``needed`` are asked for at its end. With ``rounds``, no poll and no retry is dropped.
    """
    graph = ResidualGraph(code, frozenset(needed))
    size = -1
    while size != len(graph.reached()):
        size = len(graph.reached())
        drop_dead(graph)
        join_moves(graph)
        sink_moves(graph)
        join_comparisons(graph)
        if not rounds:
            drop_polls(graph)
            drop_retries(graph)
        merge_equal(graph)
    return list(graph.written())
