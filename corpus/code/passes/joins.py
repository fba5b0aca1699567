"""Joins ways that do the same: nodes from which equal things are done are one."""

from __future__ import annotations

from dataclasses import replace

from corpus.code.passes.graph import ResidualGraph
from corpus.litmus.instructions import Branch


def merge_equal(graph: ResidualGraph) -> None:
    """Make nodes one from which equal things are done: the coarsest such partition, by refinement."""
    order = graph.reached()
    group = {**dict.fromkeys(order, 0), -1: -1}
    while True:
        numbers: dict[object, int] = {}
        new = {-1: -1}
        for number in order:
            node = graph.nodes[number]
            ins = node.instruction
            shape = replace(ins, label="") if isinstance(ins, Branch) else ins
            key = (shape, node.residual.accesses, group[number], *(group[after] for after in node.after))
            new[number] = numbers.setdefault(key, len(numbers))
        if len(set(new.values())) == len(set(group.values())):
            break
        group = new
    first: dict[int, int] = {-1: -1}
    for number in order:
        first.setdefault(group[number], number)
    for number in order:
        graph.nodes[number].after = [first[group[after]] for after in graph.nodes[number].after]
    graph.start = first[group[graph.start]]
