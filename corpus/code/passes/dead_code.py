"""Drops what nobody needs: computations whose results nobody reads, and branches both of whose ways are one."""

from __future__ import annotations

from corpus.code.passes.graph import ResidualGraph
from corpus.code.residual import MARK
from corpus.litmus.instructions import Assign, Branch


def drop_dead(graph: ResidualGraph) -> None:
    """Drop computations whose results nobody reads, and branches both of whose ways are one."""
    while True:
        live, dropped = graph.live(), {}
        for number in graph.reached():
            node = graph.nodes[number]
            match node.instruction:
                case Assign(target) if target not in live[node.after[0]] and not target.startswith(MARK):
                    dropped[number] = node.after[0]
                case Branch() if node.after[0] == node.after[1] and node.after[0] != number:
                    dropped[number] = node.after[0]
        if not dropped:
            return
        graph.redirect(dropped)
