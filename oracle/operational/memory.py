"""One location of the operational models: the copies of its holders, and how values pass between them (Sorensen 2013,
4.2).

A *holder* has a view of memory: a thread in the weak model, a block in the strong one. The flags B, LS and GS of a copy
come in four combinations (Table 4.1), here its ``Status``. Rules, as the thesis lists them:

- a store gives its holder an ``UNSHARED`` value;
- a load takes its holder's value. In the weak model, where that is not ``BORROWED``, it may instead *borrow* a value
  from a holder that has not shared it: with its own block, where both are in one; with other blocks, where they are
  not. The borrower keeps the value as its own copy, and is not to share it;
- an unshared value may at any time be shared with all, one shared in its block with all other blocks, by which the
  others' copies are overwritten, unshared ones too;
- TFB merges what is unshared into the copies in the block. TF merges it into all copies: so does sharing, which comes
  one location after another but may come at any time, hence a TF is a step that waits until its holder has shared.

Where a holder is alone in its block, or nobody is outside its block, a flag about those others says nothing and reads
as shared. Locations in shared memory have holders of one block, and no flag GS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from oracle.executions.values import Value


class CopyStatus(IntEnum):
    """The status of a copy, by what is still to be shared of it: the rows of Table 4.1."""

    SHARED = 0  # B=0 LS=1 GS=1, as all copies start
    BORROWED = 1  # B=1 LS=1 GS=1
    IN_BLOCK = 2  # B=0 LS=1 GS=0: shared in the block only
    UNSHARED = 3  # B=0 LS=0 GS=0


class Copy(NamedTuple):
    """A holder's copy of a location: its value and its status."""

    value: Value
    status: CopyStatus


Copies = tuple[Copy, ...]
"""The copies of all holders of a location."""

FORGOTTEN = Copy(0, CopyStatus.SHARED)
"""The copy that stands for every copy that nobody will look at."""


class Borrowing(NamedTuple):
    """One way to do a load: the value, whose copy it was, and the copies after it."""

    value: Value
    source: int
    after: int


class LocationAutomaton:
    """The states of a location as numbers, found as they are asked for.

    ``blocks`` are those of the holders. ``borrowing``: whether loads may take values from others, as in the weak model.
    """

    def __init__(self, blocks: Sequence[int], initial: Value, borrowing: bool) -> None:
        holders = range(len(blocks))
        self._mates = [[h for h in holders if h != own and blocks[h] == blocks[own]] for own in holders]
        self._others = [[h for h in holders if blocks[h] != blocks[own]] for own in holders]
        self._borrowing = borrowing
        self._numbers: dict[Copies, int] = {}
        self._states: list[Copies] = []
        self._stored: dict[tuple[int, int, Value], int] = {}
        self._loaded: dict[tuple[int, int], tuple[Borrowing, ...]] = {}
        self._shared: dict[tuple[int, int], int] = {}
        self._merged: dict[tuple[int, int], int] = {}
        self._forgotten: dict[tuple[int, int], int] = {}
        self._pending: list[tuple[int, ...]] = []
        self.start = self._number((Copy(initial, CopyStatus.SHARED),) * len(blocks))
        """The first state."""

    def copies(self, state: int) -> Copies:
        """The copies of all holders in a state, which is given by its number."""
        return self._states[state]

    def pending(self, state: int) -> tuple[int, ...]:
        """The holders that have something to share."""
        return self._pending[state]

    def unshared(self, state: int, holder: int) -> bool:
        """Whether the holder's value is unshared even in its block."""
        return self._states[state][holder].status is CopyStatus.UNSHARED

    def store(self, state: int, holder: int, value: Value) -> int:
        """The state after a holder stores a value."""
        key = (state, holder, value)
        if key not in self._stored:
            status = CopyStatus.UNSHARED if self._mates[holder] else self._in_block(holder)
            self._stored[key] = self._changed(state, holder, Copy(value, status))
        return self._stored[key]

    def load(self, state: int, holder: int) -> tuple[Borrowing, ...]:
        """All ways for a holder to do a load, first from its own copy."""
        key = (state, holder)
        if key not in self._loaded:
            own = self._states[state][holder]
            ways = [Borrowing(own.value, holder, state)]
            if self._borrowing and own.status is not CopyStatus.BORROWED:
                seen = set()
                for source in self._lenders(state, holder):
                    value = self._states[state][source].value
                    if value not in seen:
                        seen.add(value)
                        after = self._changed(state, holder, Copy(value, CopyStatus.BORROWED))
                        ways.append(Borrowing(value, source, after))
            self._loaded[key] = tuple(ways)
        return self._loaded[key]

    def share(self, state: int, holder: int) -> int:
        """The state after a holder with something to share shares it."""
        key = (state, holder)
        if key not in self._shared:
            own = self._states[state][holder]
            targets = self._others[holder] + (self._mates[holder] if own.status is CopyStatus.UNSHARED else [])
            self._shared[key] = self._spread(state, holder, targets, CopyStatus.SHARED)
        return self._shared[key]

    def merge(self, state: int, holder: int) -> int:
        """The state after a holder with an unshared value does a TFB."""
        key = (state, holder)
        if key not in self._merged:
            self._merged[key] = self._spread(state, holder, self._mates[holder], self._in_block(holder))
        return self._merged[key]

    def forget(self, state: int, watching: int) -> int:
        """The state without information that no later step can observe.

        ``watching`` has a bit for each holder that may yet load the location. The value of another's copy matters only
        while it is to be shared; and where nobody watches, nothing does.
        """
        key = (state, watching)
        if key not in self._forgotten:
            kept = (
                copy if watching and (copy.status >= CopyStatus.IN_BLOCK or watching >> holder & 1) else FORGOTTEN
                for holder, copy in enumerate(self._states[state])
            )
            self._forgotten[key] = self._number(tuple(kept))
        return self._forgotten[key]

    def _in_block(self, holder: int) -> CopyStatus:
        return CopyStatus.IN_BLOCK if self._others[holder] else CopyStatus.SHARED

    def _lenders(self, state: int, holder: int) -> Iterator[int]:
        copies = self._states[state]
        for source in self._mates[holder]:
            if copies[source].status is CopyStatus.UNSHARED:
                yield source
        for source in self._others[holder]:
            if copies[source].status >= CopyStatus.IN_BLOCK:
                yield source

    def _spread(self, state: int, holder: int, targets: Sequence[int], status: CopyStatus) -> int:
        copies = list(self._states[state])
        value = copies[holder].value
        for target in targets:
            copies[target] = Copy(value, CopyStatus.SHARED)
        copies[holder] = Copy(value, status)
        return self._number(tuple(copies))

    def _changed(self, state: int, holder: int, copy: Copy) -> int:
        copies = self._states[state]
        return self._number((*copies[:holder], copy, *copies[holder + 1 :]))

    def _number(self, copies: Copies) -> int:
        number = self._numbers.get(copies)
        if number is None:
            number = self._numbers[copies] = len(self._states)
            self._states.append(copies)
            self._pending.append(tuple(h for h, copy in enumerate(copies) if copy.status >= CopyStatus.IN_BLOCK))
        return number
