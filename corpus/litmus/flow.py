"""The control flow of a thread of a litmus test: labels, the ways between places, loops, dominators, live registers.

    0 LC0:            labels {LC0: 0}
    1 ld r0, x        successors (1,) (2,) (3, 0) (4,) ()
    2 beq r0, 0, LC0  jumps ((2, 0),), the one way back, so that 0, 1 and 2 are a loop whose header is 0
    3 st y, r1        live registers {r1} {r1} {r0, r1} {r1} {}
    4                 the end, which every place is post-dominated by

A place is an instruction's number, or the number of instructions for the end. Everything is computed when it is first
asked for, and once for equal threads.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

from corpus.graphs import components, dominators, reachable
from corpus.litmus.instructions import Branch, Instruction, Label, registers_read, registers_written
from corpus.litmus.threads import Thread, unguarded

Node = TypeVar("Node", bound=Hashable)


class RegisterUse(NamedTuple):
    """The registers that an instruction reads, and those that it then writes in any case."""

    read: frozenset[str]
    written: frozenset[str]


def register_use(ins: Instruction) -> RegisterUse:
    """Return the registers that an instruction reads and writes. One with a predicate may write none."""
    surely = isinstance(ins, Label) or ins.guard is None
    return RegisterUse(frozenset(registers_read(ins)), frozenset(registers_written(ins) if surely else ()))


def live_registers(
    rows: Sequence[tuple[Node, Sequence[Node], RegisterUse]], at_ends: Mapping[Node, frozenset[str]]
) -> dict[Node, frozenset[str]]:
    """Return the registers that may be read from each node on before they are written.

    A row is a node, the nodes that control goes to from it, and its use of registers; nodes that come late are best put
    first. ``at_ends``: the registers that are live at nodes without a row.
    """
    live = dict.fromkeys((node for node, _, _ in rows), frozenset[str]()) | dict(at_ends)
    changed = True
    while changed:
        changed = False
        for node, after, use in rows:
            behind = live[after[0]] if len(after) == 1 else frozenset[str]().union(*(live[place] for place in after))
            before = behind - use.written | use.read
            if before != live[node]:
                live[node], changed = before, True
    return live


@dataclass(frozen=True, eq=False)
class ThreadFlow:
    """The control flow of code.

    ``needed``: the registers that are read at the end. ``staying``: places at which a thread may stay for ever in an
    execution that has an end, as if it went from there to the end of its code.
    """

    code: tuple[Instruction, ...]
    needed: frozenset[str] = frozenset()
    staying: frozenset[int] = frozenset()
    _led: dict[tuple[int, int, frozenset[int]], bool] = field(default_factory=dict, init=False, repr=False)

    @property
    def end(self) -> int:
        """The place after the last instruction."""
        return len(self.code)

    @cached_property
    def labels(self) -> Mapping[str, int]:
        """The place of each label."""
        return {ins.name: place for place, ins in enumerate(self.code) if isinstance(ins, Label)}

    @cached_property
    def jumps(self) -> tuple[tuple[int, int], ...]:
        """The place of each branch in the code, and the place that it jumps to."""
        return tuple((place, self.labels[ins.label]) for place, ins in enumerate(self.code) if isinstance(ins, Branch))

    @cached_property
    def backward(self) -> Mapping[int, int]:
        """The target of each jump backwards, or to itself, by the place of the jump."""
        return {place: target for place, target in self.jumps if target <= place}

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """The places that control goes to from each place: the next one, then the target of a jump, or the end from
        where a thread stays.
        """
        rows: list[tuple[int, ...]] = [(place + 1,) for place in range(self.end)]
        for place, target in self.jumps:
            branch = self.code[place]
            assert isinstance(branch, Branch)
            always = branch.condition is None and branch.guard is None
            rows[place] = (target,) if always else tuple(dict.fromkeys((place + 1, target)))
        for place in self.staying:
            rows[place] = tuple(dict.fromkeys((*rows[place], self.end)))
        return (*rows, ())

    def reached(self, starts: Iterable[int], avoiding: Iterable[int] = ()) -> frozenset[int]:
        """Return the places that control can get to from some places, these among them, without passing others."""
        avoided = frozenset(avoiding)
        if not avoided:
            return frozenset(reachable(starts, self.successors.__getitem__))
        rows = self.successors
        return frozenset(reachable(starts, lambda place: [after for after in rows[place] if after not in avoided]))

    @cached_property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """The places that control comes from to each place."""
        rows: list[list[int]] = [[] for _ in range(self.end + 1)]
        for place, after in enumerate(self.successors):
            for other in after:
                rows[other].append(place)
        return tuple(map(tuple, rows))

    def reaching(self, goal: int, avoiding: Iterable[int] = ()) -> frozenset[int]:
        """Return the places from which control can get to a place, itself among them, without passing others on the
        way: it may begin at one of those.
        """
        avoided, rows = frozenset(avoiding), self.predecessors
        return frozenset(reachable([goal], lambda place: () if place in avoided else rows[place]))

    @cached_property
    def ahead(self) -> tuple[frozenset[int], ...]:
        """The places that control can still get to from each place, and the place itself."""
        return tuple(self.reached([place]) for place in range(self.end + 1))

    def leads(self, start: int, goal: int, avoiding: Iterable[int] = ()) -> bool:
        """Decide whether some way with a step leads from a place to another, and passes none of others between."""
        avoided = frozenset(avoiding) - {goal}
        known = self._led.get((start, goal, avoided))
        if known is None:
            first = [after for after in self.successors[start] if after not in avoided]
            known = self._led[start, goal, avoided] = goal in self.reached(first, avoided)
        return known

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The places that control can get to from the start, in their order."""
        return tuple(sorted(self.ahead[0]))

    @cached_property
    def live(self) -> tuple[frozenset[str], ...]:
        """The registers that may be read from each place on before they are written."""
        rows = [(place, self.successors[place], register_use(self.code[place])) for place in reversed(range(self.end))]
        live = live_registers(rows, {self.end: self.needed})
        return tuple(live[place] for place in range(self.end + 1))

    @cached_property
    def dominators(self) -> Mapping[int, frozenset[int]]:
        """For each place that is reached, the places that every way from the start to it passes, itself among them."""
        before: dict[int, list[int]] = {place: [] for place in self.places}
        for place in self.places:
            for after in self.successors[place]:
                before[after].append(place)
        return dominators(self.places, before, 0)

    @cached_property
    def post_dominators(self) -> Mapping[int, frozenset[int]]:
        """For each place that is reached, the places that every way from it to the end passes, itself among them.

        Who cannot come to the end is taken to go there from where it stays, as compilers do.
        """
        after = {
            place: self.successors[place] if self.end in self.ahead[place] else (*self.successors[place], self.end)
            for place in self.places
        }
        return dominators([*self.places, self.end], after, self.end)

    def nearest(self, places: Iterable[int]) -> int:
        """Return the first place, of places that ways to the end pass, that such a way comes to."""
        return max(places, key=lambda place: len(self.post_dominators[place]))

    def join(self, branch: int) -> int:
        """Return the immediate post-dominator of a place, which is not the end."""
        return self.nearest(self.post_dominators[branch] - {branch})

    @cached_property
    def loops(self) -> Mapping[int, frozenset[int]]:
        """The natural loops: for each header the places that it dominates and that come back to it, itself among
        them.
        """
        found: dict[int, set[int]] = {}
        for place in self.places:
            for header in self.successors[place]:
                if header in self.dominators[place]:
                    back = {member for member in self.places if member == place or self.leads(member, place, [header])}
                    found.setdefault(header, {header}).update(back)
        return {
            header: frozenset(place for place in members if header in self.dominators[place])
            for header, members in found.items()
        }

    @cached_property
    def is_structured(self) -> bool:
        """Whether every way round passes the header of a loop, as it does in code without jumps into loops."""
        number = {place: number for number, place in enumerate(self.places)}
        forward = [
            tuple(number[after] for after in self.successors[place] if after not in self.dominators[place])
            for place in self.places
        ]
        return all(len(group) == 1 for group in components(forward))


@lru_cache(maxsize=1 << 10)  # the tests of a suite have threads in common
def thread_flow(thread: Thread) -> ThreadFlow:
    """Return the control flow of a thread as it is written, predicates being part of its instructions."""
    return ThreadFlow(thread.instructions)


def unguarded_flow(thread: Thread) -> ThreadFlow:
    """Return the control flow of a thread each of whose predicates is a branch."""
    return thread_flow(unguarded(thread))
