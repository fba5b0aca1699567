"""The orders that an execution chooses besides coherence, and the pairs of events that each must order.

``sync_fence`` orders the ``fence.sc`` that are of one thread or mutually in scope. A model with ``with S from
linearisations(E, r)`` asks for a total order of the events of E. Both orders have pairs of which each must be ordered
one way or the other, without a cycle; the order is closed under transitivity.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations, permutations

from oracle.cat.algebra import Set, T
from oracle.cat.interpreter import Model
from oracle.executions.events import ProgramBase
from oracle.executions.steps import TooManyError

FENCES = "sync_fence"

MOST_ORDERED = 6
"""The limit of events of which all orders are listed."""

Pairs = frozenset[tuple[int, int]]


def to_order(model: Model, base: ProgramBase[T]) -> Mapping[str, Mapping[tuple[int, int], T]]:
    """The pairs ``i < j`` that must be ordered, by the order's name, and when; nothing is chosen yet in the base."""
    found: dict[str, Mapping[tuple[int, int], T]] = {}
    if model.mentions(FENCES):
        found[FENCES] = base.fence_pairs()
    for name, events in model.linearised(base).items():
        found[name] = _all_pairs(events)
    return found


def _all_pairs(events: Set[T]) -> Mapping[tuple[int, int], T]:
    return {(one, other): events[one] & events[other] for one, other in combinations(sorted(events), 2)}


def orders_of(pairs: Collection[tuple[int, int]], what: str = FENCES) -> list[Pairs]:
    """Every way to order each pair, without a cycle, closed under transitivity; ``what`` is the name of the order.

    Raises ``TooManyError`` where there are too many events to list their orders.
    """
    found: dict[Pairs, None] = {}
    events = sorted({event for pair in pairs for event in pair})
    if len(events) > MOST_ORDERED:
        kind = "fence.sc" if what == FENCES else f"events of {what}"
        raise TooManyError(f"{len(events)} {kind} are too many to list their orders")
    for order in permutations(events):
        rank = {event: number for number, event in enumerate(order)}
        directed = {(one, other) if rank[one] < rank[other] else (other, one) for one, other in pairs}
        while more := {(a, d) for a, b in directed for c, d in directed if b == c} - directed:
            directed |= more
        found[frozenset(directed)] = None
    return list(found)
