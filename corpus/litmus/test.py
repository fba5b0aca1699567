"""Defines litmus tests of every dialect. They have threads in a scope tree, locations, and a final condition.

One program is one value whatever it was read from. ``orders`` says what it has in common where dialects differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from corpus.hashing import hashed_once
from corpus.litmus.instructions import Instruction
from corpus.litmus.locations import Loc, Location, element_of, physical
from corpus.litmus.propositions import Condition
from corpus.litmus.threads import Thread, accessed_atomically


@hashed_once
@dataclass(frozen=True)
class LitmusTest:
    """A litmus test. ``locations`` are in the order of declaration; every location the code mentions is there.

    ``synchronised`` are pairs of threads of which all of the first happens before all of the second by means of the
    system, as when one kernel ends before another is launched (Vulkan: system-synchronizes-with).
    """

    name: str
    threads: tuple[Thread, ...]
    locations: tuple[Location, ...]
    condition: Condition
    description: str = ""
    synchronised: tuple[tuple[int, int], ...] = field(default=(), repr=False)

    @cached_property
    def code(self) -> tuple[tuple[int, Instruction], ...]:
        """The instructions of all threads, one thread after the other, each with the number of its thread."""
        return tuple((number, ins) for number, thread in enumerate(self.threads) for ins in thread.instructions)

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions of all threads, one thread after the other."""
        return tuple(ins for thread in self.threads for ins in thread.instructions)


@lru_cache(maxsize=4)
def plain_locations(test: LitmusTest) -> frozenset[str]:
    """Return the locations that are not atomic: declared so, or not declared as anything and accessed by no atomic.

    What is accessed by an alias is the memory of another location.
    """
    known = {location.name: location for location in test.locations}
    memory = {name: physical(known, name) for name in known}
    atomic = {memory.get(name, name) for name in accessed_atomically(test.threads)}
    atomicity = {name: known[memory[name]].atomic for name in known}
    return frozenset(
        name
        for name, declared in atomicity.items()
        if not (element_of(memory[name])[0] in atomic if declared is None else declared)
    )


def as_accessed(test: LitmusTest) -> LitmusTest:
    """Return the test without the declarations that accesses make needless: that a location is atomic, or not."""
    if all(location.atomic is None for location in test.locations):
        return test
    atomic = accessed_atomically(test.threads)
    locations = (
        replace(
            location, atomic=None if location.atomic is (element_of(location.name)[0] in atomic) else location.atomic
        )
        for location in test.locations
    )
    return replace(test, locations=tuple(locations))


def located(locations: tuple[Location, ...], threads: tuple[Thread, ...]) -> tuple[Location, ...]:
    """Return ``locations`` and, after them by name, those that only the code mentions: global, initially 0."""
    known = {location.name for location in locations}
    used = {name for thread in threads for name in thread.locations}
    used |= {location.initial.name for location in locations if isinstance(location.initial, Loc)}
    used |= {location.alias.location for location in locations if location.alias}
    return locations + tuple(Location(name) for name in sorted(used - known))
