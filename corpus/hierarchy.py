"""The levels of the execution hierarchy, and the words for them in Vulkan, SPIR-V, OpenCL, CUDA, PTX and HSA.

    device > queuefamily > workgroup > subgroup > thread

A thread is in one group of each level, and a group in one of the level above. Sources of the words: Vulkan 1.3,
"Compute Shaders" and "Memory Model" (device, queue family, workgroup, subgroup, invocation); OpenCL C 3.0, 3.2
(work-group, sub-group, work-item); PTX ISA 8.5, 2 (cluster, CTA, warp); HSA Programmer's Reference Manual 1.2, 2.1
(agent, work-group, wavefront, work-item).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

Places = tuple[tuple[int, ...], ...]
"""For each thread the numbers of its device, queue family, workgroup and subgroup, each within the group around it."""


class HierarchyLevel(Enum):
    """A level of the execution hierarchy, outermost first; the value is its depth."""

    DEVICE = 1
    QUEUEFAMILY = 2
    WORKGROUP = 3
    SUBGROUP = 4
    THREAD = 5

    @property
    def word(self) -> str:
        """The level as Vulkan calls it, in one word: ``workgroup``."""
        return self.name.lower()

    def group(self, places: Places, thread: int) -> tuple[int, ...]:
        """The group of this level that a thread is in: the numbers of its groups down to here, or all and its own."""
        return (*places[thread], thread)[: self.value]


_WORDS = {
    HierarchyLevel.DEVICE: ("device", "gpu", "agent"),
    HierarchyLevel.QUEUEFAMILY: ("queuefamily", "queue", "qf", "cluster"),
    HierarchyLevel.WORKGROUP: ("workgroup", "cta", "wg", "block", "work-group"),
    HierarchyLevel.SUBGROUP: ("subgroup", "warp", "sg", "wavefront", "sub-group"),
    HierarchyLevel.THREAD: ("thread", "invocation", "work-item", "lane"),
}

LEVEL_WORDS: dict[str, HierarchyLevel] = {word: level for level, words in _WORDS.items() for word in words}
"""The levels by their words, those of Vulkan first within each level."""

SHORT_WORDS = ("gpu", "queue", "cta", "warp")
"""The words of ``corpus.litmus.orders.Scope.label``, by which a model of one level may be called."""


def apart(threads: int) -> Places:
    """Return the places of threads of which nothing is said: each is in a workgroup of its own, on one device."""
    return tuple((0, 0, thread, 0) for thread in range(threads))


def parted(depths: Sequence[int]) -> Places:
    """Return places in order in which each thread parts from the one before it at a depth: it is in the next group of
    that level, and in the first ones below; at that of threads, in the same place."""
    found: list[tuple[int, ...]] = [(0, 0, 0, 0)]
    for depth in depths:
        before = found[-1]
        new = depth < HierarchyLevel.THREAD.value
        found.append((*before[: depth - 1], before[depth - 1] + 1, *[0] * (4 - depth)) if new else before)
    return tuple(found)


def in_order(places: Places) -> Places:
    """Return the places with the groups of each level numbered from 0 within the group around them, in their order."""
    ranked: list[tuple[int, ...]] = [()] * len(places)
    for depth in range(1, len(places[0]) + 1 if places else 1):
        inner: dict[tuple[int, ...], list[int]] = {}
        for place in sorted({place[:depth] for place in places}):
            inner.setdefault(place[:-1], []).append(place[-1])
        ranked = [
            (*rank, inner[place[: depth - 1]].index(place[depth - 1]))
            for rank, place in zip(ranked, places, strict=True)
        ]
    return tuple(ranked)
