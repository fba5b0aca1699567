"""What composed promises say of a transition system, from the definitions alone, for systems of a few states.

A scheduler is a choice, for each situation, of the threads that it treats as promised. A formula says which choices
keep the promise: it is evaluated on a set of threads, level by level, and knows no sets of delegates. A run that goes
on for ever is the set of steps that it takes again and again: a strongly connected set of states with the threads that
step in it. These are listed once for a system, whatever the model.

- weak: the threads that step in the set keep the promise;
- strong: some choice of threads keeps the promise, none of whose steps leads out of the set.
"""

from __future__ import annotations

from itertools import combinations

LEVELS = {"device": 1, "queuefamily": 2, "workgroup": 3, "subgroup": 4, "thread": 5}


def keeps(levels, places, running, stepped, chosen):
    """Whether a choice of threads keeps the promises of levels, ``(word, guarantee)`` from the outside in.

    ``running``, ``stepped`` and ``chosen`` are sets of threads; a guarantee gives and takes sets of numbers.
    """
    return _kept(levels, places, running, stepped, chosen, set(range(len(places))), outermost=True)


def _kept(levels, places, running, stepped, chosen, group, outermost=False):
    if not levels:
        return running & group <= chosen
    (word, guarantee), *inner = levels
    depth = LEVELS[word]
    names = sorted({(*places[t], t)[:depth] for t in group})
    members = [{t for t in group if (*places[t], t)[:depth] == name} for name in names]
    runs = {n for n, threads in enumerate(members) if threads & running}
    promised = guarantee(runs, {n for n, threads in enumerate(members) if threads & stepped})
    said = {n: _kept(inner, places, running, stepped, chosen, members[n]) for n in runs}
    if promised:
        return all(said[n] for n in promised)
    return outermost or any(said.values())


def cycles(rows):
    """What may be done again and again in a system of rows, as ``oracle.progress.system`` has them: for each strongly
    connected set of states the threads that run, those that have stepped, those that step in the set, and those of
    whose steps none leads out of it. No thread waits, so that who runs and who has stepped is one on a cycle."""
    graph, todo = {}, [(0, frozenset())]
    while todo:
        node = todo.pop()
        if node not in graph:
            state, stepped = node
            graph[node] = {t: (after, stepped | {t}) for t, after in enumerate(rows[state]) if after != -1}
            todo += graph[node].values()
    found = set()
    for running, stepped in {(frozenset(steps), node[1]) for node, steps in graph.items() if steps}:
        alike = {n for n, steps in graph.items() if frozenset(steps) == running and n[1] == stepped}
        for size in range(1, len(running) + 1):
            for threads in map(frozenset, combinations(sorted(running), size)):
                for nodes in _strongly_connected(graph, alike, threads):
                    staying = frozenset(t for t in running if all(graph[n][t] in nodes for n in nodes))
                    found.add((running, stepped, threads, staying))
    return found


def may_hang(found, levels, places, strong):
    """Whether a run goes on for ever, by the ``cycles`` of a system."""
    for running, stepped, stepping, staying in found:
        if not strong:
            choices = [stepping]
        else:
            sizes = range(len(staying) + 1)
            choices = [frozenset(some) for size in sizes for some in combinations(sorted(staying), size)]
        if any(keeps(levels, places, running, stepped, some) for some in choices):
            return True
    return False


def _strongly_connected(graph, alike, threads):
    """Strongly connected sets of nodes in which exactly these threads step: the greatest ones, and, so that traps are
    found, the greatest in each set that the steps of some threads do not leave."""
    found = []
    left = [alike]
    while left:
        within = left.pop()
        for nodes in _components(graph, within, threads):
            inside = {t for n in nodes for t in threads if graph[n][t] in nodes}
            if inside != threads or nodes in found:
                continue
            found.append(nodes)
            for size in range(1, len(graph[next(iter(nodes))]) + 1):
                for some in combinations(sorted(graph[next(iter(nodes))]), size):
                    kept = {n for n in nodes if all(graph[n][t] in nodes for t in some)}
                    if kept and kept != nodes:
                        left.append(kept)
    return found


def _components(graph, within, threads):
    """The strongly connected components, with a step, of some nodes under the steps of some threads."""
    reach = {}
    for node in within:
        seen, todo = set(), [node]
        while todo:
            at = todo.pop()
            for t in threads:
                after = graph[at][t]
                if after in within and after not in seen:
                    seen.add(after)
                    todo.append(after)
        reach[node] = seen
    return sorted({frozenset(m for m in reach[n] if n in reach[m]) for n in within if n in reach[n]}, key=sorted)
