"""Algorithms on directed graphs whose nodes are numbered from 0, each given by its row of successors.

A negative entry of a row is no edge, so that a row may have a place for each letter of an automaton. Nothing here is
recursive: graphs of programs are deep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import TypeVar

NO_EDGE = -1
"""An entry of a row that leads nowhere."""

Node = TypeVar("Node", bound=Hashable)


def components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Strongly connected components, in reverse topological order: each comes after every one that it can reach.

    Tarjan, "Depth-first search and linear graph algorithms" (SIAM J. Comput. 1972).
    """
    count = len(successors)
    order = [0] * count  # 1-based discovery order; 0 is unseen
    low = [0] * count
    done = [False] * count
    found: list[list[int]] = []
    stack: list[int] = []
    clock = 0
    for root in range(count):
        if order[root]:
            continue
        clock += 1
        order[root] = low[root] = clock
        stack.append(root)
        path = [(root, iter(successors[root]))]
        while path:
            node, edges = path[-1]
            for after in edges:
                if after < 0 or done[after]:
                    continue
                if not order[after]:
                    clock += 1
                    order[after] = low[after] = clock
                    stack.append(after)
                    path.append((after, iter(successors[after])))
                    break
                if order[after] < low[node]:
                    low[node] = order[after]
            else:
                path.pop()
                if path and low[node] < low[path[-1][0]]:
                    low[path[-1][0]] = low[node]
                if low[node] == order[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        done[member] = True
                        component.append(member)
                        if member == node:
                            break
                    found.append(component)
    return found


def reachable(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> dict[Node, None]:
    """The nodes that paths from ``starts`` lead to, the starts among them, breadth-first."""
    found = dict.fromkeys(starts)
    waiting = list(found)
    for node in waiting:  # grows while we walk it
        for after in successors(node):
            if after not in found:
                found[after] = None
                waiting.append(after)
    return found


def topological(start: Node, successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The nodes of an acyclic graph in reach of ``start``, each before its successors."""
    order: list[Node] = []
    seen = {start}
    path = [(start, iter(successors(start)))]
    while path:
        node, edges = path[-1]
        for after in edges:
            if after not in seen:
                seen.add(after)
                path.append((after, iter(successors(after))))
                break
        else:
            path.pop()
            order.append(node)
    return order[::-1]


def linear_extension(pairs: Collection[tuple[int, int]], count: int) -> frozenset[tuple[int, int]]:
    """All pairs of a total order of the nodes that has the given ones, smaller nodes first where it may choose.

    ``pairs`` have no circle.
    """
    left, order = set(range(count)), list[int]()
    while left:
        first = min(node for node in left if not any(after == node and before in left for before, after in pairs))
        left.remove(first)
        order.append(first)
    return frozenset((one, other) for place, one in enumerate(order) for other in order[place + 1 :])
