"""The certified formula of critical cycles: every cycle of a size that a suite is to hold satisfies it, by one
rotation.

It is written here from the conditions that ``oracle.certificates.cycles.lacks`` checks of a cycle. The search's
formula, of ``constraints.cycles``, is not used. So a proof that only blocked cycles satisfy it shows that every such
cycle is blocked.

**Meaning** of the variables, of a rotation of a cycle that begins a thread and has the least edges of those that do:

    edge p e          edge p, from event p to event p + 1, is e
    note p a          event p has annotation a
    item p k j        edge p is part j of the k-th run that was asked for
    shared p          event p accesses shared memory
    same l p q        the threads of events p < q are in one group of level l, where that level varies
    equal t p         the first p edges are those of the rotation that begins t events later
    internal p, stays p, atomic p, reads p, communicates p
                      edge p stays in a thread, or at a location; is an atomic operation; leads from a read; is Rf, Fr
                      or Co

**Clauses**: each position has one edge, one annotation and one item, and what follows from these is a gate.

    an edge is followed by one that it meets and does not compose with
    the last edge leaves a thread; another one does, too; not one alone leaves a location; some are no communication
    as many threads, and accesses of a thread and of a location, as were asked for
    annotations fit; each is listed, or told by an item beside it; atomic operations and steps are said in one way
    groups are equivalences, of threads, the narrower ones within the wider; a location is in one region, and where
        that is shared memory, its threads in one CTA
    no rotation that begins a thread has lesser edges
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations, product

from corpus.cycles.edges import COMMUNICATION, Annotation, Edge, atomic_mode
from corpus.litmus.locations import Region
from oracle.certificates.clauses import CertifiedFormula
from oracle.certificates.cycles import CycleClaim
from oracle.certificates.writing import Writer, WrittenLiteral


def write_formula(claim: CycleClaim, size: int) -> CertifiedFormula:
    """The formula of the critical cycles of ``size`` edges. Raises ``TooManyError`` where it is too large."""
    return _Cycles(claim, size).writer.formula


class _Cycles:
    def __init__(self, claim: CycleClaim, size: int) -> None:
        self.writer = Writer()
        self.claim, self.size = claim, size
        self.runs = claim.vocabulary.runs
        self.edges = sorted(dict.fromkeys(edge.bare for run in self.runs for edge in run))
        notes = (note for run in self.runs for edge in run for note in (edge.first, edge.second) if note)
        listed = (note for access in "RW" for atomic in (False, True) for note in claim.listed(access, atomic))
        self.notes = sorted({*notes, *listed})
        self._defined = set[WrittenLiteral]()
        self._edges_follow()
        self._threads_and_locations()
        self._items()
        self._annotations()
        self._groups()
        self._regions()
        self._least_rotation()

    def edge(self, position: int, edge: Edge) -> WrittenLiteral:
        return self.writer.variable("edge", position % self.size, edge.name)

    def note(self, event: int, note: Annotation) -> WrittenLiteral:
        return self.writer.variable("note", event % self.size, note.name)

    def item(self, position: int, run: int, part: int) -> WrittenLiteral:
        return self.writer.variable("item", position % self.size, run, part)

    def which(self, words: str, position: int, wanted: Callable[[Edge], bool]) -> WrittenLiteral:
        """The literal that the edge at a position is one of those that are wanted, under the name ``words``."""
        found = self.writer.variable(words, position % self.size)
        if found not in self._defined:
            self._defined.add(found)
            for edge in self.edges:
                self.writer.require(~self.edge(position, edge), found if wanted(edge) else ~found)
        return found

    def internal(self, position: int) -> WrittenLiteral:
        return self.which("internal", position, lambda edge: edge.internal)

    def stays(self, position: int) -> WrittenLiteral:
        return self.which("stays", position, lambda edge: edge.same)

    def atomic(self, position: int) -> WrittenLiteral:
        return self.which("atomic", position, lambda edge: edge.kind == "Rmw")

    def reads(self, position: int) -> WrittenLiteral:
        return self.which("reads", position, lambda edge: edge.source == "R")

    def communicates(self, position: int) -> WrittenLiteral:
        return self.which("communicates", position, lambda edge: edge.kind in COMMUNICATION)

    def together(self, level: str, one: int, other: int) -> WrittenLiteral:
        """The literal that the threads of two events are in one group of a level."""
        one, other = sorted((one % self.size, other % self.size))
        if level in self.claim.levels:
            return self.writer.variable("same", level, one, other)
        if level == "gpu":
            return self.writer.true
        return self.writer.all_of(self.internal(event) for event in range(one, other))

    # Clauses

    def _edges_follow(self) -> None:
        require, claim = self.writer.require, self.claim
        for position in range(self.size):
            self.writer.one_of(self.edge(position, edge) for edge in self.edges)
            for one in self.edges:
                after = (two for two in self.edges if one.target == two.source and not claim.compose(one, two))
                require(~self.edge(position, one), *(self.edge(position + 1, two) for two in after))
        require(*(~self.communicates(position) for position in range(self.size)))

    def _threads_and_locations(self) -> None:
        require, size = self.writer.require, self.size
        require(~self.internal(size - 1))
        require(*(~self.internal(position) for position in range(size - 1)))
        for position in range(size):
            others = (~self.stays(other) for other in range(size) if other != position)
            require(self.stays(position), *others)
        if self.claim.threads is not None:
            least, most = self.claim.threads
            counts = {0: self.writer.true}
            for position in range(size):
                within, counted = self.internal(position), dict(counts)
                counts = {
                    count: (counted.get(count, self.writer.false) & within)
                    | (counted.get(count - 1, self.writer.false) & ~within)
                    for count in range(position + 2)
                }
            require(*(literal for count, literal in counts.items() if least <= count <= most))
        self._few(self.claim.thread_accesses, self.internal)
        self._few(self.claim.location_accesses, self.stays)

    def _few(self, most: int, joined: Callable[[int], WrittenLiteral]) -> None:
        """No stretch of joined edges has more accesses, of which the halves of an atomic operation are one.

        A stretch of all edges but one that is half of an operation would count it twice; all edges have one access
        less, for they come back to the first.
        """
        longest = self.size if any(edge.kind == "Rmw" for edge in self.edges) else most
        for length in range(most, longest + 1):
            enough = length + (length < self.size) - most  # with fewer atomic operations, there are too many accesses
            for start, spared in product(range(self.size), combinations(range(length), max(0, enough - 1))):
                stretch = [start + step for step in range(length)]
                operations = [self.atomic(stretch[step]) for step in range(length) if step not in spared]
                unless = [self.atomic(start - 1)] if length == self.size - 1 else []
                if enough > 0:
                    self.writer.require(*(~joined(edges) for edges in stretch), *operations, *unless)

    def _items(self) -> None:
        require = self.writer.require
        parts = [(k, j) for k, run in enumerate(self.runs) for j in range(len(run))]
        for position in range(self.size):
            self.writer.one_of(self.item(position, k, j) for k, j in parts)
            for k, j in parts:
                here, edge = ~self.item(position, k, j), self.runs[k][j]
                require(here, self.edge(position, edge.bare))
                if j + 1 < len(self.runs[k]):
                    require(here, self.item(position + 1, k, j + 1))
                if j > 0:
                    require(here, self.item(position - 1, k, j - 1))
                if edge.first is not None:
                    require(here, self.note(position, edge.first))
                if edge.second is not None:
                    require(here, self.note(position + 1, edge.second))
            for k, inner in ((k, self.claim.inner(run)) for k, run in enumerate(self.runs)):
                if inner is not None:
                    before = (edge for edge in self.edges if not self.claim.compose(edge, inner))
                    after = [edge for edge in self.edges if not self.claim.compose(inner, edge)]
                    for one, two in product(before, after):
                        require(
                            ~self.item(position, k, 0), ~self.edge(position - 1, one), ~self.edge(position + 1, two)
                        )

    def _stating_items(self, event: int, note: Annotation) -> Iterator[WrittenLiteral]:
        """The items beside an event that say that it has an annotation."""
        for k, run in enumerate(self.runs):
            for j, edge in enumerate(run):
                if edge.first == note:
                    yield self.item(event, k, j)
                if edge.second == note:
                    yield self.item(event - 1, k, j)

    def _annotations(self) -> None:
        require, claim = self.writer.require, self.claim
        for event in range(self.size):
            self.writer.one_of(self.note(event, note) for note in self.notes)
            half = self.atomic(event) | self.atomic(event - 1)
            for access, note in product("RW", self.notes):
                unless = [~self.note(event, note), ~self.reads(event) if access == "R" else self.reads(event)]
                if access not in note.fits:
                    require(*unless)
                if note not in claim.listed(access):
                    require(*unless, half, *self._stating_items(event, note))
                if note not in claim.listed(access, atomic=True):
                    require(*unless, ~half, *self._stating_items(event, note))
            for one, two in product(self.notes, repeat=2):
                unless = [~self.atomic(event), ~self.note(event, one), ~self.note(event + 1, two)]
                mode = atomic_mode(one, two)
                if mode is None:
                    require(*unless)
                elif claim.spelled.get(mode, (one, two)) != (one, two):
                    require(*unless, *self._stating_items(event, one), *self._stating_items(event + 1, two))

    def _groups(self) -> None:
        require, size = self.writer.require, self.size
        for level in self.claim.levels:
            for event in range(size - 1):
                require(~self.internal(event), self.together(level, event, event + 1))
            for one, middle, other in permutations(range(size), 3):
                if one < other:
                    both = self.together(level, one, middle), self.together(level, middle, other)
                    require(~both[0], ~both[1], self.together(level, one, other))
        if "cta" in self.claim.levels:
            for one, other in combinations(range(size), 2):
                require(~self.together("cta", one, other), self.together("gpu", one, other))

    def _regions(self) -> None:
        require = self.writer.require
        shared = [self.writer.variable("shared", event) for event in range(self.size)]
        for event in range(self.size):
            after, leaves = (event + 1) % self.size, ~self.stays(event)
            if Region.SHARED not in self.claim.regions:
                require(~shared[event])
            if Region.GLOBAL not in self.claim.regions:
                require(shared[event])
            require(leaves, ~shared[event], shared[after])
            require(leaves, shared[event], ~shared[after])
            require(leaves, ~shared[event], self.together("cta", event, after))

    def _least_rotation(self) -> None:
        require = self.writer.require
        for turn in range(1, self.size):
            equal = ~self.internal(turn - 1)
            for position in range(self.size):
                further = self.writer.variable("equal", turn, position + 1)
                theirs = [self.edge(position + turn, edge) for edge in self.edges]
                for rank, edge in enumerate(self.edges):
                    ours = self.edge(position, edge)
                    require(~equal, ~ours, *theirs[rank:])
                    require(~equal, ~ours, ~theirs[rank], further)
                equal = further
