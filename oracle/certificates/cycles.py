"""Whether what a unit of a suite of cycles adds to its formula is what it says, and whether cycles were asked for.

Only the meaning of variables is taken from the formula's file (``constraints.cycles``). *blocks*: of a cycle, clauses
that each exclude one rotation of it that begins a thread: an edge, an annotation, a region or a group is different. So
they exclude nothing but this cycle, whichever rotations they are of, and do no harm where its test is in the corpus.

What a critical cycle is stands in docs/memory.md (Alglave et al. 2015, section 4.1); here it is asked of one that is
given. Assumption: a rotation of every critical cycle satisfies the formula of its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from corpus.cycles.cycle import Cycle
from corpus.cycles.edges import COMMUNICATION, PLAIN, Annotation, Edge, Vocabulary, composed
from corpus.cycles.text import parse_cycle
from corpus.litmus.test import SCOPES, Region
from oracle.certificates.clauses import Clause, Formula, read_groups
from oracle.certificates.refusal import RefusedError


@dataclass(frozen=True)
class Asked:
    """What cycles are asked for, as ``constraints.cycles.CycleBounds`` says it."""

    vocabulary: Vocabulary
    levels: tuple[str, ...]
    regions: tuple[Region, ...]
    threads: tuple[int, int] | None
    thread_accesses: int
    location_accesses: int
    compositions: bool


@dataclass(frozen=True)
class Claims:
    """What a unit claims: the cycles that it blocks, and all of its clauses."""

    cycles: list[Cycle] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)


def check_clauses(formula: Formula, asked: Asked, size: int, lines: Iterable[str]) -> Claims:
    """What a unit adds to the formula of cycles of a size.

    Raises ``RefusedError`` where a clause is not what it says, or a cycle is none that was asked for.
    """
    claims = Claims()

    def derive(kind: str, word: str, clauses: Sequence[Clause]) -> Iterable[Clause] | None:
        if kind != "blocks":
            return None
        cycle = parse_cycle(word)
        if lack := lacks(asked, size, cycle):
            raise RefusedError(f"{word}: {lack}")
        claims.cycles.append(cycle)
        possible = {frozenset(clause) for clause in exclusions(formula, asked.levels, cycle)}
        return [clause for clause in clauses if frozenset(clause) in possible]

    claims.clauses.extend(read_groups(formula, lines, derive))
    return claims


def exclusions(formula: Formula, levels: Sequence[str], cycle: Cycle) -> Iterator[Clause]:
    """A clause for each rotation that begins a thread: not this one."""
    size = cycle.size
    home = [place for events, place in zip(cycle.threads(), cycle.places, strict=True) for _ in events]
    for start in (events[0] for events in cycle.threads()):
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


def lacks(asked: Asked, size: int, cycle: Cycle) -> str:
    """Why a cycle is none that was asked for; empty where it is one."""
    edges, events = cycle.edges, range(cycle.size)
    if cycle.size != size:
        return f"it has {cycle.size} edges"
    if any(edges[event - 1].target != edges[event].source for event in events):
        return "its edges do not meet"
    threads = len(cycle.threads())
    if threads < 2 or (asked.threads is not None and not asked.threads[0] <= threads <= asked.threads[1]):
        return f"it has {threads} threads"
    if sum(not edge.same for edge in edges) == 1:
        return "one edge alone leads to another location"
    for event in events:
        kind = composed(edges[event - 1], edges[event])
        if kind and not (asked.compositions and kind in COMMUNICATION):
            return f"{edges[event - 1].name} and {edges[event].name} are one edge"
    for what, groups, most in (
        ("thread", cycle.threads(), asked.thread_accesses),
        ("location", cycle.locations(), asked.location_accesses),
    ):
        for group in groups:
            accesses = len(group) - sum(edges[event].kind == "Rmw" and (event + 1) % size in group for event in group)
            if accesses > most:
                return f"a {what} has {accesses} accesses"
    return _misplaced(asked, cycle) or _unworded(asked, cycle)


def _misplaced(asked: Asked, cycle: Cycle) -> str:
    home = [place for events, place in zip(cycle.threads(), cycle.places, strict=True) for _ in events]
    for events in cycle.locations():
        regions = {cycle.regions[event] for event in events}
        if len(regions) > 1 or not regions <= set(asked.regions):
            return "its locations are not in the regions that were asked for"
        if regions == {Region.SHARED} and len({home[event][:3] for event in events}) > 1:
            return "a location in shared memory is accessed by several CTAs"
    ctas, gpus = {place[:3] for place in cycle.places}, {place[:1] for place in cycle.places}
    if ("cta" not in asked.levels and len(ctas) < len(cycle.places)) or ("gpu" not in asked.levels and len(gpus) > 1):
        return "its scope tree is none that was asked for"
    return ""


def _unworded(asked: Asked, cycle: Cycle) -> str:
    """That edges come in the runs that were asked for, and that annotations are of the list, or told by these."""
    size, words = cycle.size, asked.vocabulary

    def fits(event: int, told: tuple[Annotation | None, ...]) -> bool:
        note = cycle.annotations[event]
        access = cycle.access(event)
        if access not in note.fits:
            return False
        listed = [each for each in words.annotations if access in each.fits] or [PLAIN]
        if cycle.in_atomic(event):
            listed = [each for each in listed if each.scope or each == PLAIN] or [PLAIN]
            listed = [*listed, PLAIN]
        asked_for = [each for each in told if each is not None]
        return all(each == note for each in asked_for) if asked_for else note in listed

    def bare(edge: Edge) -> Edge:
        return replace(edge, first=None, second=None)

    def tiled(event: int, end: int, chosen: tuple[Edge, ...]) -> bool:
        """Whether runs go on from an event to the end; ``chosen`` are the edges with what they tell so far."""
        if event == end:
            return all(fits((end + n) % size, (chosen[n - 1].second, chosen[n].first)) for n in range(size))
        for run in words.runs:
            stretch = [cycle.edges[(event + n) % size] for n in range(len(run))]
            if (
                event + len(run) <= end
                and stretch == list(map(bare, run))
                and tiled(event + len(run), end, chosen + run)
            ):
                return True
        return False

    longest = max((len(run) for run in words.runs), default=0)
    if any(tiled(start, start + size, ()) for start in range(min(longest, size))):
        return ""
    return "its edges and annotations are not those that were asked for"
