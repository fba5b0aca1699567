"""The checker of suites of critical cycles: which cycles belong to a suite, and whether clauses exclude those alone.

docs/memory.md defines critical cycles (Alglave et al. 2015, section 4.1). ``lacks`` checks the conditions of one given
cycle; ``oracle.certificates.cycle_formulas`` states them of all cycles of a size.

*blocks*: a cycle has a clause for each of its rotations that begin with the least edges: an edge, an annotation, a
region or a group is different. So the clauses exclude this cycle and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product

from corpus.cycles.cycle import Cycle, parse_cycle
from corpus.cycles.edges import (
    COMMUNICATION,
    PLAIN,
    Annotation,
    Edge,
    EdgeVocabulary,
    atomic_mode,
    composed,
    inner_communication,
)
from corpus.litmus.locations import Region
from corpus.litmus.normal import renumbered
from corpus.litmus.orders import SCOPES, Mode
from oracle.certificates.clauses import CertifiedFormula, Clause, read_groups
from oracle.certificates.refusal import RefusedError


@dataclass(frozen=True)
class CycleClaim:
    """The claim of a suite of critical cycles: which cycles are asked for.

    ``levels``: the levels of the scope tree that vary, of ``cta`` and ``gpu``; threads are in a CTA each and on one GPU
    where they do not. ``regions``: memory that locations may be in. ``threads``: so many at least and at most. A
    thread, and a location, has at most so many accesses. With ``compositions``, communication may follow communication
    that it composes with, as rf;fr is co.
    """

    vocabulary: EdgeVocabulary
    levels: tuple[str, ...]
    regions: tuple[Region, ...]
    threads: tuple[int, int] | None
    thread_accesses: int
    location_accesses: int
    compositions: bool

    def compose(self, one: Edge, other: Edge) -> bool:
        """Whether an edge and the next one compose into one edge, so that a cycle does not need both."""
        kind = composed(one, other)
        return bool(kind) and not (self.compositions and kind in COMMUNICATION)

    def listed(self, access: str, atomic: bool = False) -> list[Annotation]:
        """The annotations that a read or write may have without an edge that says so; ``atomic``: of an atomic
        operation, which has no cache operators and is not volatile."""
        found = [note for note in self.vocabulary.annotations if access in note.fits] or [PLAIN]
        return [note for note in found if note.scope or note == PLAIN] or [PLAIN] if atomic else found

    @cached_property
    def spelled(self) -> dict[Mode, tuple[Annotation, Annotation]]:
        """For each atomic operation that listed annotations can write in several ways, the way with the fewest
        ``Plain``."""
        pairs = product(self.listed("R", atomic=True), self.listed("W", atomic=True))
        found: dict[Mode, tuple[Annotation, Annotation]] = {}
        for pair in sorted(pairs, key=lambda pair: (pair.count(PLAIN), pair)):
            if (mode := atomic_mode(*pair)) is not None:
                found.setdefault(mode, pair)
        return found

    def inner(self, run: tuple[Edge, ...]) -> Edge | None:
        """The communication within a thread that was asked for and is a synonym of a plain step; None where there is
        none."""
        inner = inner_communication(run[0]) if len(run) == 1 and run[0] == run[0].bare else None
        return inner if (inner,) in self.vocabulary.runs else None


@dataclass(frozen=True)
class CycleUnitClaims:
    """The claims of a unit: the cycles that it blocks, and all of its clauses."""

    cycles: list[Cycle] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)


def check_clauses(formula: CertifiedFormula, claim: CycleClaim, size: int, lines: Iterable[str]) -> CycleUnitClaims:
    """The clauses that a unit adds to the formula of cycles of a size, checked.

    Raises ``RefusedError`` where a clause is not what its comment stands for, or a cycle was not asked for.
    """
    claims = CycleUnitClaims()

    def derive(kind: str, word: str, _: list[Clause]) -> Iterable[Clause] | None:
        if kind != "blocks":
            return None
        cycle = parse_cycle(word)
        if lack := lacks(claim, size, cycle):
            raise RefusedError(f"{word}: {lack}")
        claims.cycles.append(cycle)
        return exclusions(formula, claim.levels, cycle)

    claims.clauses.extend(read_groups(formula, lines, derive))
    return claims


def exclusions(formula: CertifiedFormula, levels: Sequence[str], cycle: Cycle) -> Iterator[Clause]:
    """The clauses that exclude a cycle: one for each rotation that begins a thread and has the least edges."""
    size = cycle.size
    home = [place for events, place in zip(cycle.threads(), cycle.places, strict=True) for _ in events]
    rotations = {events[0]: cycle.edges[events[0] :] + cycle.edges[: events[0]] for events in cycle.threads()}
    for start in (start for start, edges in rotations.items() if edges == min(rotations.values())):
        clause = []
        for event in range(size):
            there = (start + event) % size
            edge, note = cycle.edges[there], cycle.annotations[there]
            clause += [-formula.var("edge", event, edge.name), -formula.var("note", event, note.name)]
            shared = formula.var("shared", event)
            clause.append(-shared if cycle.regions[there] is Region.SHARED else shared)
        for level in levels:
            depth = SCOPES[level].value
            for one, other in combinations(range(size), 2):
                same = formula.var("same", level, one, other)
                places = (home[(start + event) % size][:depth] for event in (one, other))
                clause.append(-same if next(places) == next(places) else same)
        yield tuple(clause)


def lacks(claim: CycleClaim, size: int, cycle: Cycle) -> str:
    """The reason why a cycle is not one that was asked for; empty where it is one."""
    edges, events = cycle.edges, range(cycle.size)
    if cycle.size != size:
        return f"it has {cycle.size} edges"
    if any(edges[event - 1].target != edges[event].source for event in events):
        return "its edges do not meet"
    threads = len(cycle.threads())
    if threads < 2 or (claim.threads is not None and not claim.threads[0] <= threads <= claim.threads[1]):
        return f"it has {threads} threads"
    if sum(not edge.same for edge in edges) == 1:
        return "one edge alone leads to another location"
    for event in events:
        if claim.compose(edges[event - 1], edges[event]):
            return f"{edges[event - 1].name} and {edges[event].name} are one edge"
    for what, groups, most in (
        ("thread", cycle.threads(), claim.thread_accesses),
        ("location", cycle.locations(), claim.location_accesses),
    ):
        for group in groups:
            accesses = len(group) - sum(edges[event].kind == "Rmw" and (event + 1) % size in group for event in group)
            if accesses > most:
                return f"a {what} has {accesses} accesses"
    return _misplaced(claim, cycle) or _unworded(claim, cycle)


def _misplaced(claim: CycleClaim, cycle: Cycle) -> str:
    home = [place for events, place in zip(cycle.threads(), cycle.places, strict=True) for _ in events]
    for events in cycle.locations():
        regions = {cycle.regions[event] for event in events}
        if len(regions) > 1 or not regions <= set(claim.regions):
            return "its locations are not in the regions that were asked for"
        if regions == {Region.SHARED} and len({home[event][:3] for event in events}) > 1:
            return "a location in shared memory is accessed by several CTAs"
    ctas, gpus = {place[:3] for place in cycle.places}, {place[:1] for place in cycle.places}
    apart = "cta" in claim.levels or len(ctas) == len(cycle.places)
    together = "gpu" in claim.levels or len(gpus) == 1
    spelled = cycle.places == renumbered(cycle.places) and not any(place.queue for place in cycle.places)
    if not (apart and together and spelled):
        return "its scope tree is none that was asked for"
    return ""


def _unworded(claim: CycleClaim, cycle: Cycle) -> str:
    """The reason why a cycle is not in the words asked for; empty where it is.

    Edges come in the runs that were asked for, annotations are of the list, or told by these runs, and what several
    words can express is written in one way.
    """
    size, edges, notes = cycle.size, cycle.edges, cycle.annotations

    def fits(event: int, found: set[Annotation | None]) -> bool:
        note, access = notes[event], cycle.access(event)
        listed = claim.listed(access, cycle.in_atomic(event))
        return access in note.fits and (found <= {note} if found else note in listed)

    def said_once(event: int, found: list[set[Annotation | None]]) -> bool:
        """Whether an atomic operation that begins with an event has the one annotation that is chosen, or one that a
        run tells."""
        pair = notes[event], notes[(event + 1) % size]
        mode = atomic_mode(*pair)
        return mode is not None and bool(
            claim.spelled.get(mode, pair) == pair or found[event] or found[(event + 1) % size]
        )

    def superfluous(event: int, run: tuple[Edge, ...]) -> bool:
        """Whether communication could stand for a plain step."""
        inner = claim.inner(run)
        after = edges[(event + 1) % size]
        return inner is not None and not (claim.compose(edges[event - 1], inner) or claim.compose(inner, after))

    def tiled(event: int, end: int, chosen: tuple[Edge, ...]) -> bool:
        """Whether runs go on from an event to the end; ``chosen`` are the edges with what they tell so far."""
        if event == end:
            turned = [chosen[(event - end) % size] for event in range(size)]
            found = [{turned[event - 1].second, turned[event].first} - {None} for event in range(size)]
            once = all(said_once(event, found) for event in range(size) if edges[event].kind == "Rmw")
            return once and all(fits(event, found[event]) for event in range(size))
        for run in claim.vocabulary.runs:
            stretch = [edges[(event + n) % size] for n in range(len(run))]
            whole = event + len(run) <= end and stretch == [edge.bare for edge in run]
            if whole and not superfluous(event % size, run) and tiled(event + len(run), end, chosen + run):
                return True
        return False

    longest = max((len(run) for run in claim.vocabulary.runs), default=0)
    if any(tiled(start, start + size, ()) for start in range(min(longest, size))):
        return ""
    return "its edges and annotations are not those that were asked for"
