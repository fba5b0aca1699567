"""What progress models say of a transition system given as rows, from the definitions of a fair run alone.

Here the set of threads with a step to take may change on a cycle, for threads wait for each other.

- weak: ``reference_judge.fair_core``;
- strong: the greatest set whose nodes each have a step inside it and no promised step that leaves it. Where it is not
  empty, promised steps and, where nothing is promised, any that stay, lead round in it for ever.
"""

from __future__ import annotations

from reference_judge import fair_core, promises


def may_hang(rows, promised_to, strong):
    """Whether a run goes on for ever; ``promised_to(running, stepped)`` gives and takes sets of threads."""
    graph, todo = {}, [(0, frozenset())]
    while todo:
        node = todo.pop()
        if node not in graph:
            state, stepped = node
            graph[node] = [(tid, (after, stepped | {tid})) for tid, after in enumerate(rows[state]) if after != -1]
            todo += [after for _, after in graph[node]]
    promised = {node: promised_to(frozenset(t for t, _ in steps), node[1]) for node, steps in graph.items()}
    if not strong:
        return bool(fair_core(graph, promised, range(len(rows[0]))))
    core = set(graph)
    while True:
        kept = {
            node
            for node in core
            if any(after in core for _, after in graph[node])
            and all(after in core for tid, after in graph[node] if tid in promised[node])
        }
        if kept == core:
            return bool(core)
        core = kept


def by_name(name):
    """The promise of a built-in guarantee, as sets."""
    return lambda running, stepped: promises(name, running, stepped)
