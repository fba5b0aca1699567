"""Memory while threads interleave under RC11: what each location holds, and who knows of its accesses.

Example: P0 writes 1 to x, and 1 to y with release. Of the write to x know P0, and whoever reads y with acquire: it has
two *holders*, the thread P0 and the message in y. When P1 reads y with acquire, it becomes a holder of all that the
message in y holds, so its read of x does not race.

An access happens before the next event of a thread if and only if the thread is among its holders (Elmas, Qadeer and
Tasiran, *Goldilocks*, PLDI 2007, have such sets of locks and threads). A holder is a bit:

- a thread; what it has read without acquire, and learns with its next fence that acquires; what it knew at its last
  fence that releases;
- the *message* that the last write to a location carries, and what a thread has released there before.

Clocks (``oracle.executions.clocks``) say the same of one execution. Holders have no history: two executions that come
to one place have equal ones, however they came there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Concatenate, NamedTuple, ParamSpec

from oracle.executions.values import Value

Masks = frozenset[int]
"""The holders of some accesses, none of which is a part of another's."""

Written = tuple[Value, Hashable]
"""A value, and who has written it, as far as that is told apart: None for the initial write."""


class Message(NamedTuple):
    """The holder that is the message of a location, by the location's place."""

    place: int


class Released(NamedTuple):
    """The holder that is what a thread has released at a location, which its later writes there carry, too."""

    thread: int
    place: int


Name = Message | Released


@dataclass(frozen=True, slots=True)
class MemoryCell:
    """A location: what its ``last`` write has written, and who holds which of its accesses.

    ``plain_writes`` and so on have the holders of accesses that a later one may race with. ``made`` are the holders of
    the last write, ``seen`` of that write or of a read of it, ``base`` of the last write that is of no update or of
    anything read since. ``stale``: for each thread what it may still read besides, written since ``base``; ``older``:
    what was written before.
    """

    last: Written
    plain_writes: Masks
    writes: Masks
    plain_reads: Masks
    reads: Masks
    made: int
    seen: int
    base: int
    stale: tuple[frozenset[Written], ...]
    older: tuple[frozenset[Written], ...]


class _Made(dict[int, int]):
    """What cells become by one change of holders, by their numbers."""

    def __init__(self, make: Callable[[int], int]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> int:
        made = self[number] = self._make(number)
        return made


Arguments = ParamSpec("Arguments")


def _once(make: Callable[Concatenate[Cells, Arguments], int]) -> Callable[Concatenate[Cells, Arguments], int]:
    """A method that makes a cell, and makes it once of the same arguments."""
    name = make.__name__

    @wraps(make)
    def made(self: Cells, /, *args: Arguments.args, **words: Arguments.kwargs) -> int:
        key = (name, args)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = make(self, *args, **words)
        return known

    return made


class Cells:
    """The cells that there are, by number, and what becomes of them. ``threads``: how many there are."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._all = (1 << threads) - 1
        self._bits = 3 * threads
        self._named: dict[Name, int] = {}
        self._cells: list[MemoryCell] = []
        self._numbers: dict[MemoryCell, int] = {}
        self._tables: dict[Hashable, _Made] = {}
        self._known: dict[Hashable, int] = {}

    def __getitem__(self, number: int) -> MemoryCell:
        """The cell of a number."""
        return self._cells[number]

    def initial(self, value: Value) -> int:
        """The number of a cell that nobody has accessed, of whose initial write all know."""
        nothing, none = Masks(), (frozenset[Written](),) * self._threads
        every = self._all
        return self._number(
            MemoryCell((value, None), nothing, nothing, nothing, nothing, every, every, every, none, none)
        )

    def thread(self, thread: int) -> int:
        """The holder that a thread is."""
        return 1 << thread

    def received(self, thread: int) -> int:
        """The holder that is what a thread has read without acquire."""
        return 1 << self._threads + thread

    def fenced(self, thread: int) -> int:
        """The holder that is what a thread knew at its last fence that releases."""
        return 1 << 2 * self._threads + thread

    def named(self, name: Name) -> int:
        """The holder of a name."""
        bit = self._named.get(name)
        if bit is None:
            bit = self._named[name] = 1 << self._bits
            self._bits += 1
        return bit

    def is_named(self, name: Name) -> bool:
        """Whether there is a holder of a name."""
        return name in self._named

    def learned(self, cells: tuple[int, ...], source: int, target: int) -> tuple[int, ...]:
        """Cells after ``target`` has become a holder of all that one of ``source`` holds."""
        return self._changed(cells, ("learned", source, target), lambda mask: mask | target if mask & source else mask)

    def sent(self, cells: tuple[int, ...], source: int, message: int) -> tuple[int, ...]:
        """Cells after a message has come to hold what one of ``source`` holds, and nothing else."""

        def change(mask: int) -> int:
            return mask & ~message | (message if mask & source else 0)

        return self._changed(cells, ("sent", source, message), change)

    def ended(self, cells: tuple[int, ...], thread: int) -> tuple[int, ...]:
        """Cells after a thread has come to its end, so that it does not matter what it knows."""
        itself, gone = self.thread(thread), self.received(thread) | self.fenced(thread)
        for name, bit in self._named.items():
            if isinstance(name, Released) and name.thread == thread:
                gone |= bit
        return self._changed(cells, ("ended", thread, gone), lambda mask: (mask | itself) & ~gone)

    @_once
    def forgotten(self, number: int, thread: int) -> int:
        """The cell where it does not matter what a thread may still read of it."""
        cell = self._cells[number]
        if not cell.stale[thread] and not cell.older[thread]:
            return number
        return self._number(replace(cell, stale=_without(cell.stale, thread), older=_without(cell.older, thread)))

    @_once
    def silent(self, number: int) -> int:
        """A cell of which it does not matter any more who knows of which accesses."""
        cell, nothing = self._cells[number], Masks()
        none, every = (_nothing,) * self._threads, self._all
        return self._number(MemoryCell(cell.last, nothing, nothing, nothing, nothing, every, every, every, none, none))

    def is_based(self, number: int) -> bool:
        """Whether all threads have seen the last write that is of no update."""
        return self._cells[number].base & self._all == self._all

    @_once
    def seen(self, number: int) -> int:
        """A cell of which it does not matter who has seen the last write."""
        cell, every, none = self._cells[number], self._all, (_nothing,) * self._threads
        return self._number(replace(cell, seen=every, base=every, stale=none, older=none))

    @_once
    def kept(self, number: int, plain: bool, writes: bool, plain_writes: bool, made: bool) -> int:
        """The cell without the holders of what no access may race with, where there are some that are not atomic,
        writes, and writes that are not atomic. ``made``: it matters who knows of the last write.
        """
        cell, nothing = self._cells[number], Masks()
        return self._number(
            replace(
                cell,
                writes=cell.writes if plain else nothing,
                plain_reads=cell.plain_reads if writes else nothing,
                reads=cell.reads if plain_writes else nothing,
                made=cell.made if made else self._all,
            )
        )

    def _changed(self, cells: tuple[int, ...], name: Hashable, change: Callable[[int], int]) -> tuple[int, ...]:
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = _Made(partial(self._with, change))
        return tuple(map(table.__getitem__, cells))

    def _with(self, change: Callable[[int], int], number: int) -> int:
        cell = self._cells[number]
        return self._number(
            replace(
                cell,
                plain_writes=_least(map(change, cell.plain_writes)),
                writes=_least(map(change, cell.writes)),
                plain_reads=_least(map(change, cell.plain_reads)),
                reads=_least(map(change, cell.reads)),
                made=change(cell.made),
                seen=change(cell.seen),
                base=change(cell.base),
            )
        )

    def _number(self, cell: MemoryCell) -> int:
        """The number of a cell, without what nobody asks for any more: what all threads know they know for good."""
        every = self._all
        made, seen, base = (every if mask & every == every else mask for mask in (cell.made, cell.seen, cell.base))
        stale = tuple(_nothing if seen >> thread & 1 else found for thread, found in enumerate(cell.stale))
        older = tuple(_nothing if (seen | base) >> thread & 1 else found for thread, found in enumerate(cell.older))

        def kept(masks: Masks) -> Masks:
            return _least(mask for mask in masks if mask & every != every)

        plain_writes, writes = kept(cell.plain_writes), kept(cell.writes)
        plain_reads, reads = kept(cell.plain_reads), kept(cell.reads)
        cell = MemoryCell(cell.last, plain_writes, writes, plain_reads, reads, made, seen, base, stale, older)
        number = self._numbers.setdefault(cell, len(self._cells))
        if number == len(self._cells):
            self._cells.append(cell)
        return number

    def races(self, number: int, thread: int, plain: bool, writes: bool) -> bool:
        """Whether an access of a thread would race with one before, that does not happen before it."""
        cell, itself = self._cells[number], self.thread(thread)
        others = cell.plain_writes
        if plain:
            others |= cell.writes
        if writes:
            others |= cell.plain_reads
        if plain and writes:
            others |= cell.reads
        return not all(mask & itself for mask in others)

    @_once
    def read(self, number: int, thread: int, plain: bool) -> int:
        """The cell after a read of a thread."""
        cell, itself = self._cells[number], self.thread(thread)
        plain_reads, reads = cell.plain_reads, frozenset(mask for mask in cell.reads if not mask & itself)
        if plain:
            plain_reads = frozenset({*(mask for mask in plain_reads if not mask & itself), itself})
        else:
            reads = frozenset({*reads, itself})
        seen, base = cell.seen | itself, cell.base | itself
        return self._number(replace(cell, plain_reads=plain_reads, reads=reads, seen=seen, base=base))

    @_once
    def written(self, number: int, thread: int, last: Written, holders: int) -> int:
        """The cell after an atomic write of a thread, of which some holders know, that is of no update."""
        cell = self._cells[number]
        others = range(self._threads)
        older = tuple(frozenset({*cell.older[other], *cell.stale[other], cell.last}) for other in others)
        none = (_nothing,) * self._threads
        return self._number(replace(self._over(cell, thread, last, holders), base=holders, stale=none, older=older))

    @_once
    def updated(self, number: int, thread: int, last: Written, holders: int) -> int:
        """The cell after the write of an update of a thread, of which some holders know."""
        cell = self._cells[number]
        stale = tuple(frozenset({*found, cell.last}) for found in cell.stale)
        base = cell.base | holders
        return self._number(replace(self._over(cell, thread, last, holders), base=base, stale=stale))

    def _over(self, cell: MemoryCell, thread: int, last: Written, holders: int) -> MemoryCell:
        itself = self.thread(thread)
        writes = frozenset({*(mask for mask in cell.writes if not mask & itself), holders})
        reads = frozenset(mask for mask in cell.reads if not mask & itself)
        return replace(cell, last=last, writes=writes, reads=reads, made=holders, seen=holders)

    @_once
    def overwritten(self, thread: int, last: Written) -> int:
        """The cell after a write of a thread that is not atomic: all before happens before it, or it races."""
        itself, nothing = self.thread(thread), Masks()
        none = (_nothing,) * self._threads
        return self._number(
            MemoryCell(last, frozenset({itself}), nothing, nothing, nothing, itself, itself, itself, none, none)
        )


_nothing = frozenset[Written]()


def _without(row: tuple[frozenset[Written], ...], thread: int) -> tuple[frozenset[Written], ...]:
    return (*row[:thread], _nothing, *row[thread + 1 :])


def _least(masks: Iterable[int]) -> Masks:
    """The masks none of which another one is a part of: who knows of an access with fewer holders knows of both."""
    found = frozenset(masks)
    if len(found) < 2:
        return found
    return frozenset(mask for mask in found if not any(other != mask and other & ~mask == 0 for other in found))
