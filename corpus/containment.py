"""Which critical cycles contain which: what is left when something is taken away.

A step makes one thing weaker or deletes a thread:

- a fence becomes one of a narrower scope, an acq_rel one, or program order; a dependency becomes program order;
- an annotation becomes one of a narrower scope, relaxed, or plain; a cache operator or volatile goes;
- a thread goes, where its neighbours then communicate directly and the cycle still closes (ISA2 without its middle
  thread is MP).

A cycle contains what such steps lead to. ``key`` names a cycle up to rotation.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import TypeVar

from corpus.cycle import Cycle
from corpus.edges import COMMUNICATION, PLAIN, SCOPES, Annotation, Edge, all_annotations
from corpus.litmus import Order
from corpus.litmus_normal import renumbered

Item = TypeVar("Item")

_WIDTHS = list(SCOPES)


def key(cycle: Cycle) -> Hashable:
    """The same for two cycles exactly where one is a rotation of the other."""
    return min(_spelled(rotation) for rotation in _rotations(cycle))


def _rotations(cycle: Cycle) -> Iterator[Cycle]:
    for number, (start, *_) in enumerate(cycle.threads()):
        yield Cycle(
            cycle.edges[start:] + cycle.edges[:start],
            cycle.annotations[start:] + cycle.annotations[:start],
            cycle.regions[start:] + cycle.regions[:start],
            tuple(renumbered(cycle.places[number:] + cycle.places[:number])),
        )


def _spelled(cycle: Cycle) -> tuple[object, ...]:
    return cycle.edges, cycle.annotations, cycle.regions, cycle.places


def reductions(cycle: Cycle) -> Iterator[Cycle]:
    """The cycles that one step leads to, each once up to rotation."""
    seen: set[Hashable] = set()
    for reduced in _reduced(cycle):
        name = key(reduced)
        if name not in seen:
            seen.add(name)
            yield reduced


def _reduced(cycle: Cycle) -> Iterator[Cycle]:
    for position, edge in enumerate(cycle.edges):
        for weaker in weaker_edges(edge):
            yield replace(cycle, edges=_with(cycle.edges, position, weaker))
    for event, annotation in enumerate(cycle.annotations):
        for note in weaker_annotations(annotation, cycle.access(event)):
            yield replace(cycle, annotations=_with(cycle.annotations, event, note))
    for number in range(len(cycle.places)):
        shorter = _without_thread(cycle, number)
        if shorter is not None:
            yield shorter


def _with(items: tuple[Item, ...], index: int, item: Item) -> tuple[Item, ...]:
    return (*items[:index], item, *items[index + 1 :])


def weaker_edges(edge: Edge) -> Iterator[Edge]:
    """The edges of the same accesses that order less."""
    if edge.kind in ("Addr", "Data", "Ctrl"):
        yield _program_order(edge)
    if edge.kind == "Fence":
        yield _program_order(edge)
        for scope in _WIDTHS[: _WIDTHS.index(edge.scope)]:
            yield replace(edge, scope=scope)
        if edge.order is Order.SC:
            yield replace(edge, order=Order.ACQ_REL)


def _program_order(edge: Edge) -> Edge:
    return Edge("Po", edge.source, edge.target, edge.internal, edge.same)


def weaker_annotations(annotation: Annotation, access: str) -> Iterator[Annotation]:
    """The annotations of an access that order less."""
    if annotation == PLAIN:
        return
    yield PLAIN
    for weaker in all_annotations().values():
        if access in weaker.fits and weaker.scope and annotation.scope:
            narrower = _WIDTHS.index(weaker.scope) <= _WIDTHS.index(annotation.scope)
            if narrower and weaker != annotation and weaker.order in (Order.RELAXED, annotation.order):
                yield weaker


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
        tuple(renumbered(place for other, place in enumerate(cycle.places) if other != number)),
    )
