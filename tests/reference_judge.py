"""Progress verdicts a second way: fixpoints over an explicit graph, from the definitions and not from the oracle.

Nodes are (state, threads that have taken a step); promises are Python sets, from Table 1 of Sorensen et al. 2021.

- weak: the greatest set in which, for each thread, every node can reach a step of that thread, or a node where that
  thread is not promised, without leaving the set (Emerson and Lei, 1986). Where it is not empty, some fair run never
  ends.
- strong: Listing 2 of the paper, backwards: the nodes that promised steps lead to the end or to a node where nothing is
  promised. Some node is not among them, or a cycle runs through nodes where nothing is promised.
"""

from __future__ import annotations

from bruteforce import State, start, successors

from corpus.progress.axb import Program

Node = tuple[State, frozenset[int]]
Graph = dict[Node, list[tuple[int, Node]]]


def promises(base: str, running: frozenset[int], stepped: frozenset[int]) -> frozenset[int]:
    """Who is promised fair execution: Table 1 of Sorensen et al. 2021."""
    lowest = {min(running)} if running else set()
    occupants = running & stepped
    below = {t for t in running if any(t <= other for other in stepped)}
    sets = {"unfair": set(), "hsa": lowest, "obe": occupants, "hsa+obe": lowest | occupants, "lobe": below}
    return frozenset(sets.get(base, running))


def may_hang(program: Program, base: str, strong: bool) -> bool:
    """Whether the model lets some run of the program go on for ever."""
    graph = _graph(program)
    promised = {node: promises(base, frozenset(t for t, _ in steps), node[1]) for node, steps in graph.items()}
    if not strong:
        return bool(fair_core(graph, promised, range(len(program.threads))))
    good = {node for node, steps in graph.items() if not steps or not promised[node]}
    while more := {
        node
        for node, steps in graph.items()
        if node not in good and any(tid in promised[node] and after in good for tid, after in steps)
    }:
        good |= more
    unpromised = {node: steps for node, steps in graph.items() if not promised[node]}
    return len(good) < len(graph) or bool(fair_core(unpromised, promised, ()))


def _graph(program: Program) -> Graph:
    root = (start(program), frozenset[int]())
    graph: Graph = {}
    todo = [root]
    while todo:
        node = todo.pop()
        if node not in graph:
            state, stepped = node
            graph[node] = [(tid, (after, stepped | {tid})) for tid, after in successors(program, state)]
            todo += [after for _, after in graph[node]]
    return graph


def fair_core(graph: Graph, promised: dict[Node, frozenset[int]], threads: range | tuple[int, ...]) -> set[Node]:
    """The greatest set whose nodes all go on inside it, and keep every thread's promise again and again."""
    core = set(graph)
    while True:
        kept = {node for node in core if any(after in core for _, after in graph[node])}
        for thread in threads:
            reach = {
                node
                for node in kept
                if any(after in kept and (tid == thread or thread not in promised[node]) for tid, after in graph[node])
            }
            while more := {n for n in kept - reach if any(after in reach for _, after in graph[n])}:
                reach |= more
            kept &= reach
        if kept == core:
            return core
        core = kept
