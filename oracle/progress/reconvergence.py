"""Where lanes that diverge at a branch come together again: immediate post-dominators, loops and what belongs to them.

     0 LC0:               the branch at 2 goes to 5 or on to 3, and every way from it to the end passes 5, so that 5 is
     1 ld r0, x           its immediate post-dominator
     2 bne r0, 0, LC1
     3 st y, 1            the ways 0-1-2-3-4 make a loop with the header 0, which is left by one way, to 5
     4 goto LC0
     5 LC1:

A place is an instruction's number, or the number of instructions for the end, as in ``oracle.executions.flow``. Who
cannot come to the end is taken to go there from where it stays, as compilers do, so that every place has a
post-dominator.

A *loop* is what its header dominates and what comes back to it. Lanes that leave it come together at its *merge*: where
the only way out leads, or else at the next place that all ways out lead to. What is between a way out and the merge (a
*break block*) belongs to the loop: its lanes are apart as they left, round by round (SPV_KHR_maximal_reconvergence,
"Non-reconvergence"). Litmus tests declare no merge; this is where a compiler that structures them would put it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from corpus.litmus import test as litmus
from oracle.graphs import components, reachable


@dataclass(frozen=True, slots=True)
class NaturalLoop:
    """A loop: its header, and all places that belong to it, break blocks among them."""

    header: int
    places: frozenset[int]


class ControlFlowGraph:
    """The control flow of a thread's code, without predicates, as a graph of places."""

    def __init__(self, body: Sequence[litmus.Instruction]) -> None:
        self._labels = {ins.name: pc for pc, ins in enumerate(body) if isinstance(ins, litmus.Label)}
        self.end = len(body)
        self.successors = [self._after(pc, ins) for pc, ins in enumerate(body)] + [()]
        self.places = sorted(reachable([0], self.successors.__getitem__))
        self._led: dict[tuple[int, int, frozenset[int]], bool] = {}

    def _after(self, pc: int, ins: litmus.Instruction) -> tuple[int, ...]:
        if not isinstance(ins, litmus.Branch):
            return (pc + 1,)
        target = self._labels[ins.label]
        return (target,) if ins.condition is None else tuple(dict.fromkeys((pc + 1, target)))

    def leads(self, start: int, goal: int, avoiding: Iterable[int] = ()) -> bool:
        """Decide whether some way with a step leads from a place to another, and passes none of others between."""
        avoided = frozenset(avoiding) - {goal}
        known = self._led.get((start, goal, avoided))
        if known is None:
            first = [after for after in self.successors[start] if after not in avoided]
            found = reachable(first, lambda pc: [after for after in self.successors[pc] if after not in avoided])
            known = self._led[start, goal, avoided] = goal in found
        return known

    @cached_property
    def _post_dominators(self) -> dict[int, frozenset[int]]:
        """For each place the places that every way from it to the end passes, itself among them."""
        ending = {pc for pc in self.places if pc == self.end or self.leads(pc, self.end)}
        after = {pc: self.successors[pc] if pc in ending else (*self.successors[pc], self.end) for pc in self.places}
        return _dominators([*self.places, self.end], after, self.end)

    @cached_property
    def _dominating(self) -> dict[int, frozenset[int]]:
        """For each place the places that every way from the start to it passes, itself among them."""
        before: dict[int, list[int]] = {pc: [] for pc in self.places}
        for pc in self.places:
            for after in self.successors[pc]:
                before[after].append(pc)
        return _dominators(self.places, before, 0)

    def join(self, branch: int) -> int:
        """The immediate post-dominator of a place, which is not the end."""
        dominators = self._post_dominators[branch] - {branch}
        return max(dominators, key=lambda pc: len(self._post_dominators[pc]))

    @cached_property
    def loops(self) -> tuple[NaturalLoop, ...]:
        """The loops, outer ones first. What comes back to one header is one loop."""
        inside: dict[int, set[int]] = {}
        for pc in self.places:
            for header in self.successors[pc]:
                if header in self._dominating[pc]:
                    members = inside.setdefault(header, {header})
                    members |= {each for each in self.places if each == pc or self.leads(each, pc, [header])}
        loops = [
            NaturalLoop(header, frozenset(self._with_breaks(header, members))) for header, members in inside.items()
        ]
        return tuple(sorted(loops, key=lambda loop: (-len(loop.places), loop.header)))

    def _with_breaks(self, header: int, members: set[int]) -> set[int]:
        members = {pc for pc in members if header in self._dominating[pc]}
        ways_out = {after for pc in members for after in self.successors[pc] if after not in members}
        if not ways_out:
            return members
        common = frozenset[int].intersection(*(self._post_dominators[pc] for pc in ways_out))
        merge = max(common, key=lambda pc: len(self._post_dominators[pc]))
        breaks = reachable(ways_out - {merge}, lambda pc: [each for each in self.successors[pc] if each != merge])
        return members | {pc for pc in breaks if header in self._dominating[pc]}

    @property
    def is_structured(self) -> bool:
        """Whether every way round passes the header of a loop, as it does in code without jumps into loops."""
        number = {pc: at for at, pc in enumerate(self.places)}
        forward = [
            tuple(number[after] for after in self.successors[pc] if after not in self._dominating[pc])
            for pc in self.places
        ]
        return all(len(group) == 1 for group in components(forward))


def _dominators(
    places: Sequence[int], before: dict[int, list[int]] | dict[int, tuple[int, ...]], start: int
) -> dict[int, frozenset[int]]:
    """For each place those that all ways from the start to it pass, itself among them; ``before``: the edges."""
    found = {pc: frozenset(places) for pc in places} | {start: frozenset([start])}
    changed = True
    while changed:
        changed = False
        for pc in places:
            if pc != start and before[pc]:
                new = frozenset[int].intersection(*(found[each] for each in before[pc])) | {pc}
                changed, found[pc] = changed or new != found[pc], new
    return found
