"""Promises at several levels of the execution hierarchy, composed: ``hsa@workgroup & obe@subgroup``.

Worked example: threads 0 and 1 are in workgroup 0, each in a subgroup of its own, and thread 2 in workgroup 1. The
lowest workgroup that runs is promised execution, and within it those subgroups that have taken a step:

>>> from oracle.progress.models import hsa, obe
>>> levels = [LevelPromise(HierarchyLevel.WORKGROUP, hsa), LevelPromise(HierarchyLevel.SUBGROUP, obe)]
>>> promise = PlacedPromise(levels, ((0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0)))

Thread 1 has taken a step, so it is promised another. Where neither subgroup has, somebody in workgroup 0 is promised a
step, thread 0 or thread 1. Once both have ended, it is workgroup 1's turn:

>>> [promise.sets(0b111, 0b010), promise.sets(0b111, 0b100), promise.sets(0b100, 0b111)]
[(2,), (3,), (4,)]

A promise at one level is made to groups of that level; each counts as one, running where a thread of it runs, and
stepped where a thread of it has taken a step. The meaning of several, from the outside in:

- the outermost promise is made to all groups of its level, numbered in the order of their places;
- inside a promised group, the next promise is made to the groups of its level, numbered within that group;
- where it promises nothing to any of these, *some* of those that run is promised execution, as a whole;
- a promise to an innermost group is one to all threads of it that run.

So what is promised are *sets of threads*, of each of which some thread is promised execution, its *delegate*: a formula
over threads in conjunctive form. A promise to each thread by itself is a set for each. Who the delegate is, is the
scheduler's choice, and the same wherever the set is promised on a cycle. A program may hang under a composed model
where it may under a promise to delegates:

- weak: some component of the transition system has an edge, and a thread of each set that is promised all along steps;
- strong: with some choice of delegates, Listing 2 of Sorensen et al. finds a trap, from which their steps do not lead.

Levels that are not named are passed over: ``hsa@workgroup`` counts the workgroups of all devices, and ``fair@device &
hsa@workgroup`` those of each.

Sources. That a group that is promised execution passes it on to some group inside it, which then keeps its own
promises, is the *minimal progress forwarding* of Dartagnan (``ProgramEncoder.ForwardProgressEncoder``, 2.2), and the
delegation of C++ ([intro.progress]: of the threads that a thread blocks on, at least one has as strong a guarantee as
that thread; which one is not specified, and need not stay the same). Promises to workgroups are those of Sorensen et
al. 2021, HSA's among them, which is about work-groups by their flattened ids. Vulkan ("Shader Execution") leaves the
order of invocations undefined, and promises nothing.

Differences from Dartagnan: a level that is not named is fair there, and passed over here; and there the machine as a
whole is promised execution, so that *unfair* workgroups run one of them. Here a machine that stops is no hang, and
where the outermost promise promises nothing, nothing is promised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from corpus.hierarchy import HierarchyLevel, Places
from oracle.exploration import NoVerdictError

ThreadSets = tuple[int, ...]
"""Sets of threads as bit masks, sorted, none within another: of each some thread is promised execution."""


@dataclass(frozen=True, slots=True)
class LevelPromise:
    """A promise to the groups of one level: a guarantee whose masks are over groups."""

    level: HierarchyLevel
    guarantee: Callable[[int, int], int]


@dataclass(frozen=True, slots=True)
class _Group:
    """The threads of a group as a mask, and the groups within it that the next level promises execution to."""

    threads: int
    guarantee: Callable[[int, int], int] | None = None
    inner: tuple[_Group, ...] = ()

    def sets(self, running: int, stepped: int) -> ThreadSets:
        """The sets of a group that is promised execution, where its promise is passed on to some group within it."""
        if self.guarantee is None:
            return tuple(_threads(self.threads & running))
        promised = self.guarantee(self.numbers(running), self.numbers(stepped))
        inner = [
            group.sets(running, stepped)
            for number, group in enumerate(self.inner)
            if group.threads & running and (promised >> number & 1 or not promised)
        ]
        if promised:
            return least(mask for clauses in inner for mask in clauses)
        return least(_union(choice) for choice in product(*inner))

    def numbers(self, threads: int) -> int:
        """The mask of the groups within this one that have some of these threads."""
        return sum(1 << number for number, group in enumerate(self.inner) if group.threads & threads)


@dataclass(frozen=True)
class PlacedPromise:
    """The promises of several levels, outermost first, to threads at their places."""

    levels: Sequence[LevelPromise]
    places: Places
    _root: _Group = field(init=False, repr=False, compare=False)
    _known: dict[tuple[int, int], ThreadSets] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_root", _tree(self.levels, self.places, range(len(self.places))))

    def sets(self, running: int, stepped: int) -> ThreadSets:
        """The sets of threads of each of which some thread is promised execution."""
        known = self._known.get((running, stepped))
        if known is None:
            known = self._known[running, stepped] = self._promised(running, stepped)
        return known

    def _promised(self, running: int, stepped: int) -> ThreadSets:
        root = self._root
        assert root.guarantee is not None
        promised = root.guarantee(root.numbers(running), root.numbers(stepped))
        groups = [group for number, group in enumerate(root.inner) if promised >> number & 1]
        return least(mask for group in groups for mask in group.sets(running, stepped))


Promise = Callable[[int, int], int] | PlacedPromise
"""A promise to threads: a guarantee, which promises execution to each of some threads, or one to sets of threads."""


def promised_sets(promise: Promise, running: int, stepped: int) -> ThreadSets:
    """The sets of threads of each of which some thread is promised execution; a guarantee's have one thread each."""
    if isinstance(promise, PlacedPromise):
        return promise.sets(running, stepped)
    return tuple(_threads(promise(running, stepped)))


def _tree(levels: Sequence[LevelPromise], places: Places, threads: Iterable[int]) -> _Group:
    threads = list(threads)
    mask = sum(1 << tid for tid in threads)
    if not levels:
        return _Group(mask)
    first, *others = levels
    groups: dict[tuple[int, ...], list[int]] = {}
    for tid in threads:
        groups.setdefault(first.level.group(places, tid), []).append(tid)
    inner = tuple(_tree(others, places, groups[group]) for group in sorted(groups))
    return _Group(mask, first.guarantee, inner)


def _union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def least(masks: Iterable[int]) -> ThreadSets:
    """The least of some sets, sorted: those that no other is a part of. A promise to a part is one to the whole."""
    found = sorted(set(masks))
    return tuple(mask for mask in found if not any(other != mask and other & ~mask == 0 for other in found))


def delegations(sets: ThreadSets) -> ThreadSets:
    """The least sets of threads that have a thread of each of these sets, sorted."""
    found: ThreadSets = (0,)
    for threads in sets:
        found = least(chosen if chosen & threads else chosen | one for chosen in found for one in _threads(threads))
    return found


MOST_DELEGATIONS = 1 << 16
"""The limit of choices of delegates that are tried on one cycle."""


def delegate_choices(views: Sequence[ThreadSets]) -> list[tuple[int, ...]]:
    """For each choice of delegates that is worth trying, the threads that are promised execution in each situation.

    ``views`` are the promised sets of each situation on a cycle. A set has one delegate in all of them. Raises
    ``NoVerdictError`` where there are several situations, and more than ``MOST_DELEGATIONS`` choices.
    """
    if len(views) == 1:
        return [(mask,) for mask in delegations(views[0])]
    shared = sorted({threads for sets in views for threads in sets})
    if prod(threads.bit_count() for threads in shared) > MOST_DELEGATIONS:
        raise NoVerdictError(f"more than {MOST_DELEGATIONS:,} choices of the threads that stand for their groups")
    tried: dict[tuple[int, ...], None] = {}
    for chosen in product(*map(_threads, shared)):
        delegate = dict(zip(shared, chosen, strict=True))
        tried.setdefault(tuple(_union(delegate[threads] for threads in sets) for sets in views))
    return list(tried)


def _threads(mask: int) -> list[int]:
    """Each thread of a set as a mask."""
    return [1 << tid for tid in range(mask.bit_length()) if mask >> tid & 1]
