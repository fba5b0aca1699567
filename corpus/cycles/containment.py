"""Decides which critical cycles contain which.

A cycle contains another that is left of it when some threads go and the rest is made weaker, or stays:

- a fence becomes one of a narrower scope, an acq_rel one, or program order; a dependency becomes program order;
- an access gets a narrower scope, a weaker order, or becomes plain; a cache operator or volatile goes;
- an atomic operation, whose halves have one scope, gets a narrower scope or a weaker order;
- a thread goes where its neighbours then communicate directly and the cycle still closes (ISA2 without its middle
  thread is MP).

Where threads are and where locations are stays as it is. This is a partial order of cycles up to rotation.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from corpus.cycles.cycle import Cycle
from corpus.cycles.edges import COMMUNICATION, Edge, atomic_mode
from corpus.graphs import reachable
from corpus.laws.c11 import WEAKER
from corpus.litmus.normal import renumbered
from corpus.litmus.orders import PLAIN, Mode


def minimal(cycles: Sequence[Cycle]) -> list[Cycle]:
    """Return the cycles that contain no other cycle of the list, in which no two cycles may be rotations of
    each other.
    """
    rotations: dict[Hashable, list[tuple[int, Cycle]]] = {}
    for number, cycle in enumerate(cycles):
        for rotation in cycle.rotations():
            rotations.setdefault(_skeleton(rotation), []).append((number, rotation))
    return [
        cycle
        for number, cycle in enumerate(cycles)
        if not any(
            other != number and _is_at_least(left, rotation)
            for left in _left(cycle)
            for other, rotation in rotations.get(_skeleton(left), ())
        )
    ]


def contains(cycle: Cycle, other: Cycle) -> bool:
    """Decide whether a cycle contains another, or is a rotation of it."""
    rotations = [(rotation, _skeleton(rotation)) for rotation in other.rotations()]
    return any(
        _skeleton(left) == skeleton and _is_at_least(left, rotation)
        for left in _left(cycle)
        for rotation, skeleton in rotations
    )


# What stays as it is


def _skeleton(cycle: Cycle) -> Hashable:
    edges = tuple((edge.source, edge.target, edge.internal, edge.same) for edge in cycle.edges)
    return edges, cycle.regions, cycle.places


# What may be weaker


def _is_at_least(cycle: Cycle, other: Cycle) -> bool:
    """Whether a cycle orders as much as another of its skeleton at every edge and at every event."""
    return all(_edge_is_at_least(edge, weaker) for edge, weaker in zip(cycle.edges, other.edges, strict=True)) and all(
        _mode_is_at_least(mode, weaker) for mode, weaker in zip(_modes(cycle), _modes(other), strict=True)
    )


def _edge_is_at_least(edge: Edge, other: Edge) -> bool:
    if other.kind == "Po":
        return edge.kind in ("Po", "Fence", "Addr", "Data", "Ctrl")
    if (edge.kind, other.kind) == ("Fence", "Fence"):
        return _mode_is_at_least(edge.fence, other.fence)
    return edge.kind == other.kind and (edge.fenced or not other.fenced)


def _modes(cycle: Cycle) -> Iterator[Mode | None]:
    """The mode of each event; that of an atomic operation for both its halves."""
    for event, edge in enumerate(cycle.edges):
        start = event if edge.kind == "Rmw" else event - 1
        if cycle.in_atomic(event):
            yield atomic_mode(cycle.annotations[start], cycle.annotations[(start + 1) % cycle.size])
        else:
            yield cycle.annotations[event].mode


def _mode_is_at_least(mode: Mode | None, other: Mode | None) -> bool:
    if other in (mode, PLAIN):
        return True
    if mode is None or other is None or mode.scope is None or other.scope is None:
        return False
    return mode.scope.value <= other.scope.value and other.order in (mode.order, *WEAKER.get(mode.order, ()))


# What may go


def _left(cycle: Cycle) -> set[Cycle]:
    """The cycle, and what is left of it when threads go one after the other."""

    def smaller(one: Cycle) -> Iterator[Cycle]:
        return (left for number in range(len(one.places)) if (left := _without_thread(one, number)))

    return set(reachable([cycle], smaller))


def _without_thread(cycle: Cycle, number: int) -> Cycle | None:
    """The cycle without a thread, where it still is one."""
    threads = cycle.threads()
    if len(threads) < 3:
        return None
    gone = threads[number]
    kept = [event for event in range(cycle.size) if event not in gone]
    last, first = (gone[0] - 1) % cycle.size, (gone[-1] + 1) % cycle.size
    ends = (cycle.access(last), cycle.access(first))
    kinds = [kind for kind, accesses in COMMUNICATION.items() if accesses == ends]
    if not kinds or cycle.regions[last] is not cycle.regions[first]:
        return None
    joined = Edge(kinds[0], *ends, False, True)
    edges = tuple(joined if event == last else cycle.edges[event] for event in kept)
    if sum(not edge.same for edge in edges) == 1:
        return None
    return Cycle(
        edges,
        tuple(cycle.annotations[event] for event in kept),
        tuple(cycle.regions[event] for event in kept),
        renumbered(place for other, place in enumerate(cycle.places) if other != number),
    )
