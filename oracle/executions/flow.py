"""The static facts about a thread of a litmus test: control flow, live registers, and terms that the condition asks
for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from corpus.litmus import test as litmus
from oracle.graphs import reachable


@lru_cache(maxsize=4)
def asked_terms(test: litmus.LitmusTest) -> tuple[litmus.Term, ...]:
    """The registers and locations whose final values the condition asks for, in the order of their mention."""
    named = [
        term
        for proposition in litmus.propositions(test.condition)
        for atom in litmus.atoms(proposition)
        for term in (atom.left, atom.right)
        if not isinstance(term, int)
    ]
    return tuple(dict.fromkeys((*named, *(term for term in test.condition.observed if not isinstance(term, int)))))


def asked_locations(test: litmus.LitmusTest) -> list[litmus.Loc]:
    """The locations whose final values the condition asks for."""
    return [term for term in asked_terms(test) if isinstance(term, litmus.Loc)]


class Flow:
    """The control flow of a thread. A place is an instruction's number, or the number of instructions for the end."""

    def __init__(self, test: litmus.LitmusTest, number: int) -> None:
        self.body: Sequence[litmus.Instruction] = litmus.unguarded(test.threads[number]).instructions
        self.labels = {ins.name: pc for pc, ins in enumerate(self.body) if isinstance(ins, litmus.Label)}
        self._asked = frozenset(
            term.register
            for term in asked_terms(test)
            if isinstance(term, litmus.FinalRegister) and term.thread == number
        )

    @property
    def end(self) -> int:
        """The place after the last instruction of the thread."""
        return len(self.body)

    def successors(self, pc: int) -> tuple[int, ...]:
        """The places that control goes to from a place: the next one, then the target of a jump, or the end from
        where a thread stays."""
        on = self._goes_on(pc)
        return tuple(dict.fromkeys((*on, self.end))) if pc in self._staying else on

    def _goes_on(self, pc: int) -> tuple[int, ...]:
        if pc == self.end:
            return ()
        ins = self.body[pc]
        if not isinstance(ins, litmus.Branch):
            return (pc + 1,)
        target = self.labels[ins.label]
        return (target,) if ins.condition is None else tuple(dict.fromkeys((pc + 1, target)))

    def may_stay(self, pc: int) -> bool:
        """Whether a thread may stay for ever at the barrier at a place, in an execution that has an end.

        It may if all that the condition asks of the thread is decided by then: a register that the thread would still
        write has no final value.
        """
        return pc in self._staying

    @cached_property
    def _staying(self) -> frozenset[int]:
        found = set()
        for pc, ins in enumerate(self.body):
            if isinstance(ins, litmus.Barrier) and ins.quorum is not None and not ins.arrive:
                later = reachable([pc + 1], self._goes_on)
                code = [self.body[place] for place in later if place < self.end]
                if self._asked.isdisjoint(name for other in code for name in litmus.written(other)):
                    found.add(pc)
        return frozenset(found)

    def is_backward(self, pc: int) -> bool:
        """Whether the instruction at a place is a jump backwards, or to itself."""
        ins = self.body[pc] if pc < self.end else None
        return isinstance(ins, litmus.Branch) and self.labels[ins.label] <= pc

    def reached(self, starts: Iterable[int], avoiding: int | None = None) -> frozenset[int]:
        """The places that control can get to from some places, these among them, without passing the place
        ``avoiding``."""
        found = reachable(starts, lambda pc: [after for after in self.successors(pc) if after != avoiding])
        return frozenset(found)

    @cached_property
    def ahead(self) -> tuple[frozenset[int], ...]:
        """For each place, the places that control can still get to, and the place itself."""
        return tuple(self.reached(self.successors(pc)) | {pc} for pc in range(self.end + 1))

    @cached_property
    def live(self) -> tuple[frozenset[str], ...]:
        """For each place, the registers that may be read before they are written; at the end those that the
        condition asks for."""
        live = [frozenset[str]()] * self.end + [self._asked]
        changed = True
        while changed:
            changed = False
            for pc in reversed(range(self.end)):
                ins = self.body[pc]
                after = frozenset[str]().union(*(live[place] for place in self.successors(pc)))
                before = after.difference(litmus.written(ins)).union(litmus.reads(ins))
                changed, live[pc] = changed or before != live[pc], before
        return tuple(live)
