"""Verdicts of progress models on large transition systems, computed on whole arrays of states.

They are those of ``oracle.progress.models.hangs``. A component of the history graph lies within a *layer*: the nodes
with one set of threads that have taken a step. A layer is the states that can be reached with that set, and the steps
of its threads; steps of others lead to larger layers. So layers are found and judged one by one, smaller ones first,
and none is kept: the history graph, which is many times the size of the transition system, is never built. Within a
layer components are found by colouring (Orzan, "On distributed verification and verified distribution", 2004, 3.4),
which asks for every state at once which is the first that it can reach; where that takes too many rounds, by Tarjan's
algorithm.

numpy is loaded with this module, so it is imported where a system is large: for a small one it takes longer to load
than the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.graphs import NO_EDGE, closed_components, components
from corpus.progress.axb import Instruction, Program, Thread
from oracle.promises import PlacedPromise, delegate_choices

Table = NDArray[np.int32]
"""Rows of successors: ``table[s, t]`` is the state after a step of thread ``t`` from state ``s``, or ``NO_EDGE``."""

Masks = NDArray[np.int64]
"""Sets of threads as bit masks, one for each node."""

Guarantee = Callable[[Any, int], Any]
"""A guarantee of ``oracle.progress.models`` over arrays: the masks of the running threads at several nodes at once."""

MOST_THREADS = 62
"""The limit of threads, which is the number of bits of a mask."""

MOST_ROUNDS = 64
"""The limit of rounds of colouring; Tarjan's algorithm gets the states that are then left."""


def explore_arrays(program: Program) -> Table | None:
    """The rows of all states that are reachable from memory 0 and every thread at its first instruction.

    The start is 0, and states are numbered by their distance from it. None where a state has more than 63 bits.
    """
    threads = program.threads
    values = max([1, *(max(ins.exchange or 0, ins.check) for thread in threads for ins in thread)])
    value_bits = values.bit_length()
    pc_bits = [len(thread).bit_length() for thread in threads]
    shifts = program.locations * value_bits + np.cumsum([0, *pc_bits])
    if shifts[-1] > 63:
        return None
    steps = [
        _stepper(thread, value_bits, int(shift), bits)
        for thread, shift, bits in zip(threads, shifts[:-1], pc_bits, strict=True)
    ]
    frontier = np.zeros(1, np.int64)
    known = frontier
    levels, rows = [frontier], []
    while len(frontier):
        after = np.stack([step(frontier) for step in steps], axis=1)
        rows.append(after)
        found = np.unique(after)
        found = found[found >= 0]
        frontier = found[~_among(found, known)]
        levels.append(frontier)
        known = np.sort(np.concatenate([known, frontier]), kind="stable")
    keys = np.concatenate(levels)
    order = np.argsort(keys)
    after = np.concatenate(rows)
    numbers = order[np.searchsorted(keys[order], np.maximum(after, 0))]
    return np.where(after < 0, NO_EDGE, numbers).astype(np.int32)


def _stepper(
    thread: Thread, value_bits: int, shift: int, pc_bits: int
) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """The states after a step of a thread; -1 where it has ended."""
    end = len(thread)

    def column(of: Callable[[Instruction], int]) -> NDArray[np.int64]:
        return np.array([*(of(ins) for ins in thread), 0], np.int64)

    cells = column(lambda ins: ins.location * value_bits)
    checks, jumps = column(lambda ins: ins.check), column(lambda ins: ins.jump)
    stores, new = column(lambda ins: ins.exchange is not None), column(lambda ins: ins.exchange or 0)
    value_mask = (1 << value_bits) - 1
    pc_mask = (1 << pc_bits) - 1

    def step(states: NDArray[np.int64]) -> NDArray[np.int64]:
        pc = states >> shift & pc_mask
        cell = cells[pc]
        value = states >> cell & value_mask
        target = np.where(value == checks[pc], jumps[pc], pc + 1)
        stored = np.where(stores[pc], new[pc], value)
        return np.where(pc == end, -1, states + (target - pc << shift) + (stored - value << cell))

    return step


def _among(some: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of ``some`` are among the ``known``, which are sorted."""
    places = np.searchsorted(known, some)
    found: NDArray[np.bool_] = known[np.minimum(places, len(known) - 1)] == some
    return found


def as_table(rows: Sequence[Sequence[int]]) -> Table:
    """The rows of successors of a system as an array, a row for each state."""
    return np.array(rows, np.int32)


def by_value(guarantee: Callable[[int, int], int]) -> Guarantee:
    """A guarantee over arrays that calls a given guarantee for each pair of masks, for one that is not arithmetic of
    bits."""

    def promised(running: Masks, stepped: int) -> Masks:
        values, where = np.unique(running, return_inverse=True)
        return np.array([guarantee(int(value), stepped) for value in values], np.int64)[where]

    return promised


def hangs_in_arrays(
    table: Table,
    guarantees: Sequence[Guarantee],
    chances: Table | None = None,
    placed: Sequence[PlacedPromise] = (),
) -> tuple[int, int]:
    """The guarantees under which a program may hang, read weakly and read strongly, bit ``g`` for the ``g``-th; behind
    them the ``placed`` promises of several levels.

    The program has at most ``MOST_THREADS`` threads.
    """
    promises: list[Guarantee | PlacedPromise] = [*guarantees, *placed]
    everyone = (1 << len(promises)) - 1
    weak = strong = 0
    for layer in _layers(table, table if chances is None else np.concatenate([table, chances], axis=1)):
        for g, promise in enumerate(promises):
            if not (weak & strong) >> g & 1:
                for promised in layer.promised(promise):
                    weak |= layer.may_starve(promised) << g
                    strong |= layer.may_trap(promised) << g
        if weak & strong == everyone:
            break
    return weak, strong


class _Layer:
    """The components of a layer that have an edge.

    Nodes are sorted by component; ``starts`` are where each begins. ``rows`` are the nodes that steps lead to inside a
    component, ``NO_EDGE`` where they lead nowhere or elsewhere; ``leaves`` where they lead elsewhere.
    """

    def __init__(self, stepped: int, running: Masks, table: Table, labels: NDArray[np.int64]) -> None:
        """Finds the components of a layer.

        ``table``: all steps from the nodes of the layer; those to other layers lead to ``len(table)``.
        """
        self.stepped = stepped
        same = (table >= 0) & (np.append(labels, NO_EDGE)[table] == labels[:, None])
        cyclic = np.flatnonzero(same.any(axis=1))
        nodes = cyclic[np.argsort(labels[cyclic], kind="stable")]
        own = labels[nodes]
        self.starts = np.flatnonzero(np.append(True, own[1:] != own[:-1])) if len(nodes) else nodes
        place = np.zeros(len(table) + 1, np.int64)
        place[nodes] = np.arange(len(nodes))
        self.running = running[nodes]
        inside = same[nodes]
        self.rows = np.where(inside, place[table[nodes]], NO_EDGE)
        self.leaves = (table[nodes] >= 0) & ~inside
        self._threads = np.arange(table.shape[1])
        self._movers = self._by_component(np.bitwise_or, _masks(inside))

    def _by_component(self, operation: np.ufunc, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the values of each strongly connected component, joined by the operation."""
        return operation.reduceat(values, self.starts) if len(self.starts) else values

    def promised(self, promise: Guarantee | PlacedPromise) -> Iterator[Masks]:
        """The threads that are promised execution at each node, for every choice of delegates in each component."""
        if not isinstance(promise, PlacedPromise):
            yield np.broadcast_to(np.int64(promise(self.running, self.stepped)), self.running.shape)
            return
        views: dict[tuple[int, ...], list[NDArray[np.int64]]] = {}
        for nodes in np.split(np.arange(len(self.running)), self.starts[1:]):
            views.setdefault(tuple(np.unique(self.running[nodes]).tolist()), []).append(nodes)
        choices = [
            (np.array(view), np.concatenate(parts), delegate_choices([promise.sets(r, self.stepped) for r in view]))
            for view, parts in views.items()
        ]
        for number in range(max((len(chosen) for _, _, chosen in choices), default=0)):
            promised = np.zeros(len(self.running), np.int64)
            for view, nodes, chosen in choices:
                masks = np.array(chosen[min(number, len(chosen) - 1)], np.int64)
                promised[nodes] = masks[np.searchsorted(view, self.running[nodes])]
            yield promised

    def may_starve(self, promised: Masks) -> bool:
        """Whether in some component no thread is promised at every node that takes no step inside it."""
        return bool((self._by_component(np.bitwise_and, promised) & ~self._movers == 0).any())

    def may_trap(self, promised: Masks) -> bool:
        """Whether some component holds a set of nodes that a run need never leave: the strong reading of a hang."""
        silent = promised == 0
        always = self._by_component(np.logical_and, silent)
        if always.any():
            return True
        owed = (promised[:, None] >> self._threads & 1).astype(bool)
        inside = owed & (self.rows >= 0)
        escapes = silent | (owed & self.leaves).any(axis=1)
        while not escapes.all():
            more = escapes | (inside & escapes[self.rows]).any(axis=1)
            if (more == escapes).all():
                return True
            escapes = more
        if not silent.any():
            return False
        ends = np.append(self.starts[1:], len(silent))
        unclear = np.flatnonzero(self._by_component(np.logical_or, silent))
        return any(self._has_trap(owed, range(self.starts[one], ends[one])) for one in unclear)

    def _has_trap(self, owed: NDArray[np.bool_], nodes: range) -> bool:
        rows = np.where(self.leaves, len(self.rows), self.rows)
        return any(closed_components(rows.tolist(), np.where(owed, rows, NO_EDGE).tolist(), nodes))


def _layers(table: Table, leading: Table) -> Iterator[_Layer]:
    """The layers that have a component with an edge. ``leading``: the rows of ``table``, and behind them those of
    chances."""
    threads = table.shape[1]
    running = _masks(table >= 0)
    circles = strong_components(table)
    seen = np.zeros(len(table), bool)
    rank = np.full(len(table) + 1, NO_EDGE, np.int32)
    entries: dict[int, list[NDArray[np.int32]]] = {0: [np.zeros(1, np.int32)]}
    waiting = [(0, 0)]
    while waiting:
        _, stepped = heappop(waiting)
        own = [column for column in range(leading.shape[1]) if stepped >> column % threads & 1]
        frontier = np.concatenate(entries.pop(stepped))
        seen[frontier] = True
        while len(frontier):
            after = leading[frontier][:, own].ravel()
            after = after[after >= 0]
            frontier = np.unique(after[~seen[after]])
            seen[frontier] = True
        states = np.flatnonzero(seen)
        seen[states] = False
        steps = table[states]
        for tid in range(threads):
            if not stepped >> tid & 1:
                after = leading[states][:, tid::threads]
                after = np.unique(after[after >= 0])
                if len(after):
                    larger = stepped | 1 << tid
                    if larger not in entries:
                        entries[larger] = []
                        heappush(waiting, (larger.bit_count(), larger))
                    entries[larger].append(after)
        # Steps to other layers, and out of the components of the whole system, are on no cycle.
        rank[states] = np.arange(len(states), dtype=np.int32)
        stays = (steps >= 0) & (circles[steps] == circles[states][:, None])
        stays[:, [tid for tid in range(table.shape[1]) if not stepped >> tid & 1]] = False
        local = np.where(stays, rank[steps], np.where(steps >= 0, len(states), NO_EDGE)).astype(np.int32)
        if stays.any():
            labels = strong_components(np.where(stays, local, NO_EDGE).astype(np.int32))
            yield _Layer(stepped, running[states], local, labels)


def strong_components(table: Table, most_rounds: int = MOST_ROUNDS) -> NDArray[np.int64]:
    """For each node the number of its strongly connected component, that of one of its nodes.

    After so many rounds over whole arrays what is left is searched node by node.
    """
    labels = np.arange(len(table))
    own = np.arange(len(table), dtype=np.int32)[:, None]
    left = np.flatnonzero(((table >= 0) & (table != own)).any(axis=1))  # the others are components by themselves
    place = np.full(len(table) + 1, NO_EDGE, np.int32)
    rounds = 0
    while len(left):
        size = len(left)
        place[left] = np.arange(size)
        rows = place[table[left]]
        place[left] = NO_EDGE
        nodes = np.arange(size)
        rows = np.where(rows < 0, nodes[:, None], rows)  # a step to its own node changes nothing
        if rounds > most_rounds:
            for members in components(rows.tolist()):
                labels[left[members]] = left[members[0]]
            break
        first = nodes  # the first node in reach that is known
        while True:
            rounds += 1
            nearer = np.minimum(first, first[rows].min(axis=1))
            nearer = np.minimum(nearer, nearer[nearer])
            if (nearer == first).all() or rounds > most_rounds:
                break
            first = nearer
        if rounds > most_rounds:
            continue
        found = first == nodes  # in reach of the first node that it reaches
        frontier = np.flatnonzero(found)
        while len(frontier):
            after = rows[frontier]
            inside = (first[after] == first[frontier][:, None]) & ~found[after]
            frontier = np.unique(after[inside])
            found[frontier] = True
        labels[left[found]] = left[first[found]]
        left = left[~found]
    return labels


def _masks(threads: NDArray[np.bool_]) -> Masks:
    """Return each row of truth values as one bit mask."""
    return threads @ (np.int64(1) << np.arange(threads.shape[1], dtype=np.int64))
