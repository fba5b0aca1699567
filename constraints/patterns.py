"""Patterns of critical cycles: sets of cycles that differ only in edges and annotations that no constraint tells apart.

To the constraints of ``constraints.cycles`` a fence between two accesses is what plain program order is. So a cycle
with four such edges stands for all cycles that have a fence or program order in each of the four places. The solver
seeks patterns, and their cycles are written out here, each once: turned to the least of its rotations in the order of
the constraints. Where a symmetry of the pattern turns several choices into each other, only the least is given.

Assumption: edges or annotations that are alike may be exchanged at one place, and a cycle remains a cycle
(``CycleBounds.alike``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, combinations, product
from math import prod

from corpus.cycles.cycle import Cycle
from corpus.cycles.edges import Annotation, Edge
from corpus.litmus.locations import Region
from corpus.litmus.normal import renumbered
from corpus.litmus.orders import SCOPES, Place


@dataclass(frozen=True, slots=True)
class Pattern:
    """The cycles that have one of some edges and one of some annotations at each place.

    ``regions`` and ``places`` are those of a ``Cycle``, ``levels`` the levels of the scope tree that vary. ``turns``:
    the rotations that turn the pattern, or what it is a part of, into itself.
    """

    edges: tuple[tuple[Edge, ...], ...]
    annotations: tuple[tuple[Annotation, ...], ...]
    regions: tuple[Region, ...]
    places: tuple[Place, ...]
    levels: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The number of edges of its cycles, which is their number of events."""
        return len(self.edges)

    @property
    def choices(self) -> int:
        """The number of ways to choose its edges and annotations: the number of its cycles, unless the pattern has a
        symmetry."""
        return prod(map(len, (*self.edges, *self.annotations)))

    def parts(self, most: int) -> Iterator[Pattern]:
        """Patterns of at most ``most`` choices that together have the cycles of this one."""
        if self.choices <= most:
            yield self
            return
        name = "edges" if any(len(options) > 1 for options in self.edges) else "annotations"
        places = getattr(self, name)
        place = next(number for number, options in enumerate(places) if len(options) > 1)
        for option in places[place]:
            yield from replace(self, **{name: (*places[:place], (option,), *places[place + 1 :])}).parts(most)

    def cycles(self) -> Iterator[Cycle]:
        """The cycles of the pattern, each the least of its rotations, in ascending order of the choices."""
        size = self.size
        starts = [event for event in range(size) if not self.edges[event - 1][0].internal]
        rest = {start: self._rest(start) for start in starts}  # the parts of a rotation that no choice changes
        edges = sorted({edge for options in self.edges for edge in options})
        notes = sorted({note for options in self.annotations for note in options})
        ranks = [[edges.index(edge) for edge in options] for options in self.edges]
        ranks += [[notes.index(note) for note in options] for options in self.annotations]
        for choice in product(*ranks):
            steps, words = choice[:size] * 2, choice[size:] * 2
            rotations = {start: (steps[start : start + size], words[start : start + size]) for start in starts}
            if any(rotations[turn] < rotations[0] for turn in self.turns):
                continue
            least = min(rotations.values())
            start = min((start for start in starts if rotations[start] == least), key=lambda start: rest[start][0])
            _, regions, places = rest[start]
            yield Cycle(
                tuple(edges[rank] for rank in least[0]), tuple(notes[rank] for rank in least[1]), regions, places
            )

    def _rest(self, start: int) -> tuple[list[bool], tuple[Region, ...], tuple[Place, ...]]:
        """The key by which the rotation from an event is compared after edges and annotations: regions, and who is
        together."""
        homes = list(accumulate((not options[0].internal for options in self.edges[:-1]), initial=0))
        turned = [self.places[home] for home in homes[start:] + homes[:start]]
        regions = self.regions[start:] + self.regions[:start]
        together = [
            one[: SCOPES[level].value] == other[: SCOPES[level].value]
            for level in self.levels
            for one, other in combinations(turned, 2)
        ]
        places = self.places[homes[start] :] + self.places[: homes[start]]
        return [region is Region.SHARED for region in regions] + together, regions, renumbered(places)

    @classmethod
    def of(
        cls,
        found: Cycle,
        edges: Mapping[Edge, tuple[Edge, ...]],
        annotations: Mapping[Annotation, tuple[Annotation, ...]],
        levels: tuple[str, ...],
    ) -> Pattern:
        """The pattern of a cycle, each of whose edges and annotations stands for all that are alike."""
        whole = cls(
            tuple(edges[edge] for edge in found.edges),
            tuple(annotations[note] for note in found.annotations),
            found.regions,
            found.places,
            levels,
        )
        starts = [event for event in range(1, found.size) if not found.edges[event - 1].internal]
        turns = (start for start in starts if whole._turned(start) == whole._turned(0))
        return replace(whole, turns=tuple(turns))

    def _turned(self, start: int) -> tuple[object, ...]:
        edges, notes = (row[start:] + row[:start] for row in (self.edges, self.annotations))
        return edges, notes, self._rest(start)[0]
