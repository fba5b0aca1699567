"""Asynchronous operations and mbarriers of an unknown program, as clauses.

Each access of an operation is an event, one right after the other (``corpus.executions.operations``): a copy is its
read and its write, and where it completes at an mbarrier its completion; an ``st.async`` is its write and its
completion.

Variables
    home(e, t)      the location in shared memory that event e accesses is in that of thread t's CTA

Constraints
    the parts of an operation follow each other
    an mbarrier is accessed as one alone, in shared memory; it has one signal, an arrival or a completion, and who waits
        there has read that signal
    copies are between the state spaces that their instructions are for, from one location to another
    a location in shared memory is in that of one CTA, whose threads access it; operations may write it from elsewhere,
        and arrive at it, and what an operation writes is where it completes
    values of one location come to another by one copy at most, and never back

So the values of an outcome tell what each copy has read whose value is read or final, as each other write has a value
of its own. Of the other copies, which are *unseen*, an outcome says nothing: they may read anything. Example of what is
left out: two copies from x to y, and two reads of y that read 1 and 2. Nobody could tell which copy has read which.

For n events these are about n^4 clauses, where there may be several copies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations, permutations

from constraints.circuit import Circuit, Literal
from corpus.executions.execution import OpKind as Instruction
from corpus.executions.operations import BULK, BULK_GROUP, COMPLETE, COPY, is_asynchronous, of_object
from corpus.litmus.orders import Mode

Choice = tuple[Instruction, Mode]
"""The kind of an instruction and how it is done."""


class OperationClauses:
    """The asynchronous operations of threads whose events begin instructions as ``starts[e]`` says.

    ``continues[e]``: event e is a further part of the operation that the event before it is of. ``thread[e]`` is its
    thread, ``loc[e][f]``: that events access one location.
    """

    def __init__(self, circuit: Circuit, thread: Sequence[int], starts: Sequence[Mapping[Choice, Literal]]) -> None:
        self._circuit, self._thread, self._starts = circuit, thread, starts
        self._events = range(len(thread))
        self.continues = [self._continues(e) for e in self._events]
        self._follow_each_other()

    def _begun(self, event: int, fits: Callable[[Instruction, Mode], bool]) -> Literal:
        """The literal that an instruction begins with an event that fits."""
        if event not in self._events:
            return self._circuit.false
        return self._circuit.any_of(
            literal for (kind, mode), literal in self._starts[event].items() if fits(kind, mode)
        )

    def _done(self, event: int, kind: Instruction, *modes: Mode) -> Literal:
        return self._begun(event, lambda begun, mode: begun is kind and mode in modes)

    def read(self, event: int) -> Literal:
        """The literal that an event is the read of a copy, whose write is the next event."""
        if self._after(event) < 0:
            return self._circuit.false
        return self._done(event, Instruction.READ, BULK, BULK_GROUP, COPY)

    @cached_property
    def copies(self) -> list[int]:
        """The events that may be the read of a copy."""
        return [e for e in self._events if self.read(e)]

    def write(self, event: int) -> Literal:
        """The literal that an event is the write of an operation."""
        return self._done(event, Instruction.WRITE, BULK, BULK_GROUP, COPY)

    def completion(self, event: int) -> Literal:
        """The literal that an event is the completion of an operation at an mbarrier."""
        return self._done(event, Instruction.WRITE, COMPLETE)

    def part(self, event: int) -> Literal:
        """The literal that an event is of an operation."""
        return self._begun(event, lambda _, mode: is_asynchronous(mode))

    def object(self, event: int) -> Literal:
        """The literal that an event is done to an mbarrier."""
        return self._begun(event, lambda _, mode: of_object(mode))

    def _after(self, event: int) -> int:
        """The event after another one in its thread; -1 where that is the last."""
        after = event + 1
        return after if after < len(self._thread) and self._thread[after] == self._thread[event] else -1

    def _continues(self, event: int) -> Literal:
        before = event - 1
        if before < 0 or self._thread[before] != self._thread[event]:
            return self._circuit.false
        return (self.read(before) & self.write(event)) | self.completion(event)

    def _follow_each_other(self) -> None:
        require = self._circuit.require
        for e in self._events:
            after = self._after(e)
            before = e - 1 if self._after(e - 1) == e else -1
            for mode in (BULK, BULK_GROUP, COPY):
                require(~self._done(e, Instruction.READ, mode), self._done(after, Instruction.WRITE, mode))
            for mode in (BULK_GROUP, COPY):
                require(~self._done(e, Instruction.WRITE, mode), self._done(before, Instruction.READ, mode))
            require(~self._done(e, Instruction.WRITE, BULK), self.completion(after))
            require(~self.completion(e), self._done(before, Instruction.WRITE, BULK))

    def require_objects(
        self,
        loc: Sequence[Mapping[int, Literal]],
        shared: Sequence[Literal],
        rf: Sequence[Mapping[int, Literal]],
    ) -> None:
        """Requires of mbarriers that each has one signal, which who waits there has read."""
        require = self._circuit.require
        for e in self._events:
            require(~self.object(e), shared[e])
            waits = self.object(e) & self._begun(e, lambda kind, _: kind is Instruction.READ)
            require(~waits, *(row[e] for row in rf if e in row))
        for e, f in permutations(self._events, 2):
            require(~loc[e][f], ~self.object(e), self.object(f))
        for e, f in combinations(self._events, 2):
            require(~loc[e][f], ~self._signal(e), ~self._signal(f))

    def _signal(self, event: int) -> Literal:
        return self.object(event) & self._begun(event, lambda kind, _: kind is Instruction.WRITE)

    def require_state_spaces(self, loc: Sequence[Mapping[int, Literal]], shared: Sequence[Literal]) -> None:
        """Requires of copies that they are between two locations, in the state spaces of their instructions.

        ``cp.async`` copies from global to shared memory; ``cp.async.bulk`` to shared memory where it completes at an
        mbarrier, and otherwise from shared to global memory (PTX ISA 9.1, ``cp.async``, ``cp.async.bulk``).
        """
        require = self._circuit.require
        for e in self._events:
            require(~self._done(e, Instruction.WRITE, BULK, COPY), shared[e])
            require(~self._done(e, Instruction.READ, BULK_GROUP), shared[e])
            require(~self._done(e, Instruction.WRITE, BULK_GROUP), ~shared[e])
            require(~self._done(e, Instruction.READ, COPY), ~shared[e])
            if (after := self._after(e)) > 0:
                require(~self.read(e), ~loc[e][after])

    def require_homes(
        self,
        loc: Sequence[Mapping[int, Literal]],
        shared: Sequence[Literal],
        together: Callable[[int, int], Literal],
    ) -> None:
        """Requires that each location in shared memory is in that of one CTA; ``together(t, u)``: that threads are of
        one CTA."""
        circuit, threads = self._circuit, range(max(self._thread) + 1)
        home = [[circuit.var("home", e, t) for t in threads] for e in self._events]
        for e in self._events:
            circuit.require(~shared[e], *home[e])
            for t, u in combinations(threads, 2):
                same = together(t, u)
                circuit.require(~home[e][t], ~home[e][u], same)
                circuit.require(~same, ~home[e][t], home[e][u])
                circuit.require(~same, home[e][t], ~home[e][u])
            remote = self._done(e, Instruction.WRITE, BULK) | self._signal(e)
            circuit.require(~shared[e], remote, home[e][self._thread[e]])
            for f in range(e):
                for t in threads:
                    circuit.require(~loc[e][f], ~home[e][t], home[f][t])
                    circuit.require(~loc[e][f], home[e][t], ~home[f][t])
            for t in threads if self._after(e - 1) == e else ():
                circuit.require(~self.completion(e), ~home[e][t], home[e - 1][t])

    def require_known_values(self, loc: Sequence[Mapping[int, Literal]]) -> None:
        """Requires that values of a location come to another one by one copy at most, and never back."""
        circuit, copies = self._circuit, self.copies
        feeds = {(c, d): self.read(c) & self.read(d) & loc[c][d + 1] for c in copies for d in copies}
        above = {(c, d): self.read(c) if c == d else feeds[c, d] for c in copies for d in copies}
        for k in copies:  # which copies' values a copy may be of
            above = {(c, d): above[c, d] | (above[c, k] & above[k, d]) for c, d in above}
        for c, d in permutations(copies, 2):
            circuit.require(~above[c, d], ~loc[d][c + 1])
        for c, d in combinations(copies, 2):
            one_place = self.read(c) & self.read(d) & loc[c + 1][d + 1]
            for k in copies:
                for m in copies:
                    of_one = self.read(k) if k == m else loc[k][m]
                    circuit.require(~one_place, ~above[c, k], ~above[d, m], ~of_one)

    def unseen(
        self, rf: Sequence[Mapping[int, Literal]], final: Sequence[Literal], executed: Sequence[Literal]
    ) -> dict[int, Literal]:
        """For each event the literal that it is the read of a copy of which nobody can learn what it has read.

        ``final[w]``: that a write is the last of its location; ``executed[e]``: that an event happens.
        """
        circuit = self._circuit
        unseen = {r: self.read(r) for r in self.copies}
        for _ in self.copies:  # what is copied may be copied on
            unseen = {
                r: self.read(r)
                & ~final[r + 1]
                & ~circuit.any_of(
                    literal & executed[reader] & ~unseen.get(reader, circuit.false)
                    for reader, literal in rf[r + 1].items()
                )
                for r in self.copies
            }
        return unseen
