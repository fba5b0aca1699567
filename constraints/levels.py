"""The levels of instructions as clauses: in which of several ways an instruction is done is open.

Variables
    level(s, k)   site s is at its k-th level

Constraints
    each site is at exactly one level

A site is an instruction of the test, whose levels are modes. A fence may also be left out. Several instructions may be
one site, as barriers where threads meet. All events of a site are at its level, in each round of the loops around it.
A wait at an mbarrier that fails orders nothing at any level; the test has such waits as acquires, where one level is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from constraints.circuit import Circuit, Literal
from corpus.litmus.orders import Mode, Order, Scope
from oracle.executions.events import INITIAL, OBJECT, WAITED, Event, EventKind, done_in


@dataclass(frozen=True, slots=True)
class Site:
    """Instructions, by thread and place, and the levels at which all of them may be done together; None: not at all.

    ``failure``: of a compare-and-swap, that the read of one that fails is done as it is written.
    """

    instructions: tuple[tuple[int, int], ...]
    modes: tuple[Mode | None, ...]
    failure: bool = False


class Levels:
    """The clauses of levels; ``chosen[s][k]`` is the literal that site ``s`` is at its level ``k``."""

    def __init__(self, circuit: Circuit, sites: Sequence[Site], events: Sequence[Event]) -> None:
        self.sites = sites
        self.chosen = [
            [circuit.var("level", number, level) for level in range(len(site.modes))]
            for number, site in enumerate(sites)
        ]
        for literals in self.chosen:
            circuit.exactly_one(literals, circuit.true)
        self.circuit = circuit
        self._events = events
        self._site_numbers = {place: number for number, site in enumerate(sites) for place in site.instructions}
        self._swapped = {event.rmw for event in events if event.rmw is not None}

    @cached_property
    def variants(self) -> list[list[tuple[Event, Literal]]]:
        """The forms that each event may have, each with its literal; an event has none where it does not happen."""
        return list(map(self._variants, self._events))

    def _variants(self, event: Event) -> list[tuple[Event, Literal]]:
        number = self._site(event)
        if number is None or (self.sites[number].failure and self._fails(event)):
            return [(event, self.circuit.true)]
        levels = zip(self.sites[number].modes, self.chosen[number], strict=True)
        return [
            (done_in(event, replace(mode, order=Order.RELAXED) if _waits_on(event) else mode), literal)
            for mode, literal in levels
            if mode is not None and literal
        ]

    def _site(self, event: Event) -> int | None:
        return None if event.thread == INITIAL else self._site_numbers.get((event.thread, event.position))

    def _fails(self, event: Event) -> bool:
        """Whether it is the read of a compare-and-swap that fails."""
        return event.kind is EventKind.READ and event.key not in self._swapped

    def present(self, event: int) -> Literal:
        """The literal that an event is not left out."""
        site = self._site(self._events[event])
        if site is None or None not in self.sites[site].modes:
            return self.circuit.true
        return self.circuit.any_of(literal for _, literal in self.variants[event])

    def when(self, event: int, fits: Callable[[Event], bool]) -> Literal:
        """The literal that an event is done in a way for which ``fits`` is true."""
        return self.circuit.any_of(literal for variant, literal in self.variants[event] if fits(variant))

    def decided(self, event: int, holds: Callable[[Literal], bool]) -> Event:
        """The form that an event that happens has in an execution, given which literals hold."""
        return next(variant for variant, literal in self.variants[event] if holds(literal))

    def scopes(self, event: int, fits: Callable[[Event], bool] = lambda _: True) -> Mapping[Scope | None, Literal]:
        """The scopes that an event may name in ways for which ``fits`` is true, each with its literal."""
        found: dict[Scope | None, Literal] = {}
        for variant, literal in self.variants[event]:
            if fits(variant):
                found[variant.scope] = found.get(variant.scope, self.circuit.false) | literal
        return found


def _waits_on(event: Event) -> bool:
    """Whether an event is the read of a wait at an mbarrier that fails."""
    return event.kind is EventKind.READ and OBJECT in event.tags and event.tags.isdisjoint({WAITED, "RMW"})
