"""Algorithms on directed graphs whose nodes are numbered from 0, each given by its row of successors.

A negative entry of a row is no edge, so that a row may have a place for each letter of an automaton. No algorithm is
recursive, for graphs of programs are deep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
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


def closed_components(
    successors: Sequence[Sequence[int]], owed: Sequence[Sequence[int]], nodes: Iterable[int]
) -> Iterator[list[int]]:
    """The largest sets of ``nodes``, each sorted, that have an edge inside, are strongly connected, and keep what they
    owe: no edge of ``owed``, which are among ``successors``, leaves them.

    Maximal end components of a Markov decision process are found in this way (de Alfaro, "Formal verification of
    probabilistic systems", 1997, 3.3): a component loses the nodes whose owed edges leave it, until there are none.
    """
    left = [sorted(nodes)]
    while left:
        inside = left.pop()
        number = {node: place for place, node in enumerate(inside)}
        rows = [[number.get(after, NO_EDGE) for after in successors[node]] for node in inside]
        for component in components(rows):
            members = {inside[place] for place in component}
            if not any(after in members for node in members for after in successors[node]):
                continue
            kept = [node for node in members if all(after < 0 or after in members for after in owed[node])]
            if len(kept) == len(members):
                yield sorted(kept)
            elif kept:
                left.append(sorted(kept))


def reachable(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> dict[Node, None]:
    """The nodes that paths from ``starts`` lead to, the starts among them, breadth-first."""
    found = dict.fromkeys(starts)
    waiting = list(found)
    for node in waiting:  # grows during the walk
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
    """All pairs of a total order of the nodes that has the given pairs, smaller nodes first where several orders do.

    ``pairs`` have no cycle.
    """
    left, order = set(range(count)), list[int]()
    while left:
        first = min(node for node in left if not any(after == node and before in left for before, after in pairs))
        left.remove(first)
        order.append(first)
    return frozenset((one, other) for place, one in enumerate(order) for other in order[place + 1 :])


def dominators(nodes: Sequence[int], before: Mapping[int, Sequence[int]], start: int) -> dict[int, frozenset[int]]:
    """For each node those that all paths from ``start`` to it pass, itself among them; ``before``: the nodes with an
    edge to it. All nodes are in reach of the start.
    """
    found = {node: frozenset(nodes) for node in nodes} | {start: frozenset([start])}
    changed = True
    while changed:
        changed = False
        for node in nodes:
            if node != start and before[node]:
                new = frozenset[int].intersection(*(found[earlier] for earlier in before[node])) | {node}
                changed, found[node] = changed or new != found[node], new
    return found
