"""The loops in which lanes that diverge are apart, and where they come together again.

     0 LC0:               the branch at 2 goes to 5 or on to 3, and every way from it to the end passes 5, so that 5 is
     1 ld r0, x           its immediate post-dominator
     2 bne r0, 0, LC1
     3 st y, 1            the ways 0-1-2-3-4 make a loop with the header 0, which is left by one way, to 5
     4 goto LC0
     5 LC1:

Places, post-dominators and natural loops are those of ``corpus.litmus.flow``.

A *loop* is what its header dominates and what comes back to it. Lanes that leave it come together at its *merge*: where
the only way out leads, or else at the next place that all ways out lead to. What is between a way out and the merge (a
*break block*) belongs to the loop: its lanes are apart as they left, round by round (SPV_KHR_maximal_reconvergence,
"Non-reconvergence"). Litmus tests declare no merge; this is where a compiler that structures them would put it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from corpus.litmus.flow import ThreadFlow


@dataclass(frozen=True, slots=True)
class ReconvergentLoop:
    """A loop: its header, and all places that belong to it, break blocks among them."""

    header: int
    places: frozenset[int]


@lru_cache(maxsize=64)
def reconvergent_loops(flow: ThreadFlow) -> tuple[ReconvergentLoop, ...]:
    """The loops of a thread's code, outer ones first. What comes back to one header is one loop."""
    loops = [ReconvergentLoop(header, _with_breaks(flow, header, places)) for header, places in flow.loops.items()]
    return tuple(sorted(loops, key=lambda loop: (-len(loop.places), loop.header)))


def _with_breaks(flow: ThreadFlow, header: int, members: frozenset[int]) -> frozenset[int]:
    ways_out = {after for place in members for after in flow.successors[place] if after not in members}
    if not ways_out:
        return members
    merge = flow.nearest(frozenset[int].intersection(*(flow.post_dominators[place] for place in ways_out)))
    breaks = flow.reached(ways_out - {merge}, [merge])
    return members | {place for place in breaks if header in flow.dominators[place]}
