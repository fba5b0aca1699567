"""Defines an execution with its program. It has threads, instructions, reads-from, coherence order and final values.

A suite that comes from a model is made of these (Lustig, Wright, Papakonstantinou and Giroux, ASPLOS 2017); each stands
for a litmus test, a program with the outcome that the execution has (``corpus.executions.litmus``).

Instructions are numbered through all threads, in program order, thread by thread. An ``UPDATE`` is a read and a
write in one instruction, and counts for two events; anything else is one event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import permutations, product

from corpus.litmus.locations import Region
from corpus.litmus.normal import renumbered
from corpus.litmus.orders import PLAIN, Mode, Place

INITIAL = -1
"""The source of a read that reads the initial value."""

DEPENDENCIES = ("addr", "data", "ctrl")
"""The kinds of dependencies, from a read to a later instruction of its thread."""


class OpKind(StrEnum):
    """The kind of an instruction: a read, a write, an update, a fence or a barrier."""

    READ = "R"
    WRITE = "W"
    UPDATE = "U"
    FENCE = "F"
    BARRIER = "B"

    @property
    def reads(self) -> bool:
        """Reads and updates read memory."""
        return self in (OpKind.READ, OpKind.UPDATE)

    @property
    def writes(self) -> bool:
        """Writes and updates write memory."""
        return self in (OpKind.WRITE, OpKind.UPDATE)

    @property
    def events(self) -> int:
        """The number of events of an instruction of this kind: two for an update, else one."""
        return 2 if self is OpKind.UPDATE else 1


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction of an execution; ``location`` is the number of the location that it accesses.

    ``address``: by which of its addresses, of which it has several where there are aliases.
    """

    kind: OpKind
    location: int | None = None
    mode: Mode = PLAIN
    address: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Dependency:
    """A dependency of a ``kind`` of ``DEPENDENCIES``, from a read to a later instruction of its thread.

    An address or data dependency is one of ``target`` alone. The branch of a control dependency stands right before
    ``target``: all from there on depend on it.
    """

    kind: str
    source: int
    target: int


@dataclass(frozen=True)
class Execution:
    """An execution with its program. ``rf[i]`` is the write that instruction ``i`` reads from, ``INITIAL`` for the
    initial value, or None where the instruction reads nothing or any value.

    ``co`` are the pairs of writes that coherence orders, closed under transitivity, without initial writes; a model may
    leave some unordered. ``final[l]`` is the write whose value location ``l`` has in the end, None where the outcome
    does not say so. ``regions[l]`` is where location ``l`` is. ``synchronised`` are pairs of threads of which all of
    the first happens before all of the second by means of the system (Vulkan), a strict order.
    """

    threads: tuple[tuple[Step, ...], ...]
    places: tuple[Place, ...]
    regions: tuple[Region, ...]
    dependencies: tuple[Dependency, ...]
    rf: tuple[int | None, ...]
    co: frozenset[tuple[int, int]]
    final: tuple[int | None, ...]
    synchronised: tuple[tuple[int, int], ...] = ()

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All instructions of the execution, in the order of their numbers."""
        return tuple(step for thread in self.threads for step in thread)

    @cached_property
    def thread_of(self) -> tuple[int, ...]:
        """The number of the thread of each instruction, in the order of instructions."""
        return tuple(number for number, thread in enumerate(self.threads) for _ in thread)

    @property
    def size(self) -> int:
        """The number of events of the execution, in which an update counts for two."""
        return sum(step.kind.events for step in self.steps)

    def writes(self, location: int) -> list[int]:
        """Return the numbers of the instructions that write a location, in program order."""
        return [i for i, step in enumerate(self.steps) if step.kind.writes and step.location == location]

    def images(self) -> Iterator[Execution]:
        """Return the execution under every exchange of threads of equally many events, this execution first; names are
        normal.
        """
        sizes = [sum(step.kind.events for step in thread) for thread in self.threads]
        groups: dict[int, list[int]] = {}
        for number, size in enumerate(sizes):
            groups.setdefault(size, []).append(number)
        slots = [number for members in groups.values() for number in members]
        for chosen in product(*(permutations(members) for members in groups.values())):
            order = list(range(len(sizes)))
            for slot, number in zip(slots, (number for row in chosen for number in row), strict=True):
                order[slot] = number
            yield self.reordered(order)

    def reordered(self, order: list[int]) -> Execution:
        """Return the execution with thread ``order[t]`` as thread ``t``. Locations are numbered by first occurrence,
        and the places of threads anew.
        """
        starts = [0]
        for thread in self.threads:
            starts.append(starts[-1] + len(thread))
        old = [i for number in order for i in range(starts[number], starts[number + 1])]
        new = {i: place for place, i in enumerate(old)}
        rank = {number: place for place, number in enumerate(order)}
        names: dict[int, int] = {}
        addresses: dict[int, dict[int, int]] = {}
        for i in old:
            if (location := self.steps[i].location) is not None:
                names.setdefault(location, len(names))
                known = addresses.setdefault(location, {})
                known.setdefault(self.steps[i].address, len(known))

        def renamed(step: Step) -> Step:
            if step.location is None:
                return step
            return Step(step.kind, names[step.location], step.mode, addresses[step.location][step.address])

        moved: dict[int | None, int | None] = {None: None, INITIAL: INITIAL}
        moved.update(new.items())
        locations = sorted(names, key=lambda location: names[location])
        return Execution(
            tuple(tuple(map(renamed, self.threads[number])) for number in order),
            renumbered([self.places[number] for number in order]),
            tuple(self.regions[location] for location in locations),
            tuple(sorted(Dependency(dep.kind, new[dep.source], new[dep.target]) for dep in self.dependencies)),
            tuple(moved[self.rf[i]] for i in old),
            frozenset((new[one], new[other]) for one, other in self.co),
            tuple(moved[self.final[location]] for location in locations),
            tuple(
                sorted((rank[one], rank[other]) for one, other in self.synchronised if one in rank and other in rank)
            ),
        )
