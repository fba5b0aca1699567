"""Places of memory that one thread has for itself though others could access them, or that nobody writes.

What is read at such a place is known where it was known when it was written: as the address of a table of virtual
functions, or the number of a thread that a vector of threads has. Which places are of that kind is known when all
threads have been followed, so it is taken of all places first, and threads are followed again without those where
it was wrong::

    thread 1 writes x, thread 2 reads x                     x is contested
    threads 1 and 2 read y, nobody writes it                y holds what it held when the threads began
    thread 1 writes z before it creates thread 2, which     z holds what it held then
    reads z, and once more when it has joined thread 2
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from corpus.code.places import ANYWHERE, Array
from corpus.code.residual import Access, Residual
from corpus.code.thread import Moment
from corpus.litmus.instructions import Load

ByteOf = tuple[Array, int]
"""A byte of an array."""

BY_ADDRESS = -1
"""Who accesses what an address from memory, or a computed one, leads to."""

ALWAYS = Moment(frozenset(), 0)
"""Where nothing is known of when a thread writes."""


@dataclass
class ThreadAccesses:
    """What a thread accesses: what is left of it, its reads that left nothing, its writes of which it is known when
    they are, and the number of the thread that has created it.
    """

    code: Sequence[Residual]
    reads: Iterable[Access]
    writes: Mapping[Access, set[Moment]]
    creator: int


@dataclass
class _Contest:
    """Who reads each byte, who writes it and when, and who gives back each array and when."""

    readers: dict[ByteOf, set[int]] = field(default_factory=dict)
    writers: dict[ByteOf, dict[int, set[Moment]]] = field(default_factory=dict)
    freed: dict[Array, dict[int, set[Moment]]] = field(default_factory=dict)

    def read(self, access: Access, number: int) -> None:
        for byte in _bytes(access):
            self.readers.setdefault(byte, set()).add(number)

    def write(self, access: Access, number: int, moments: set[Moment]) -> None:
        for byte in _bytes(access):
            self.writers.setdefault(byte, {}).setdefault(number, set()).update(moments)

    def free(self, array: Array, number: int, moments: set[Moment]) -> None:
        self.freed.setdefault(array, {}).setdefault(number, set()).update(moments)


def contested_bytes(
    threads: Sequence[ThreadAccesses], cells: Mapping[Array, Iterable[tuple[int, int]]]
) -> frozenset[ByteOf]:
    """Return the bytes that one thread writes while another one may access them. ``cells``: the places that addresses
    from memory may lead to.
    """
    found = _Contest()
    for number, thread in enumerate(threads):
        for access in thread.reads:
            found.read(access, number)
        for residual in thread.code:
            for access in residual.accesses:
                if access.created:
                    continue
                is_read = isinstance(residual.instruction, Load)
                moments = thread.writes.get(access, {ALWAYS})
                if access.array == ANYWHERE:
                    _by_address(found, access, is_read, cells)
                elif access.size == 0:
                    found.free(access.array, number, moments)
                else:
                    own = number if access.offset is not None else BY_ADDRESS
                    (found.read(access, own) if is_read else found.write(access, own, moments))
    creators = [thread.creator for thread in threads]
    for byte in {*found.readers, *found.writers}:
        for number, moments in found.freed.get(byte[0], {}).items():
            found.writers.setdefault(byte, {}).setdefault(number, set()).update(moments)
    return frozenset(
        byte
        for byte, writers in found.writers.items()
        if _is_contest(writers, found.readers.get(byte, set()), creators)
    )


def _by_address(
    found: _Contest, access: Access, is_read: bool, cells: Mapping[Array, Iterable[tuple[int, int]]]
) -> None:
    """Have what an address from memory may lead to be accessed."""
    for array, places in cells.items():
        if access.size == 0:
            found.free(array, BY_ADDRESS, {ALWAYS})
            continue
        for offset, size in places:
            if is_read:
                found.read(Access(array, offset, size), BY_ADDRESS)
            else:
                found.write(Access(array, offset, size), BY_ADDRESS, {ALWAYS})


def _is_contest(writers: Mapping[int, set[Moment]], readers: set[int], creators: Sequence[int]) -> bool:
    """Decide whether one writes while another one may access; of those by address nobody knows who they are."""
    if BY_ADDRESS in writers:
        return True
    return any(
        not _is_apart(writer, moment, other, creators)
        for writer, moments in writers.items()
        for other in {*readers, *writers} - {writer}
        for moment in moments
    )


def _is_apart(writer: int, moment: Moment, other: int, creators: Sequence[int]) -> bool:
    """Decide whether a thread has not begun at a moment of the one that creates it, or has been joined."""
    return other in moment.joined or (other >= moment.following > 0 and creators[other] == writer)


def _bytes(access: Access) -> Iterator[ByteOf]:
    starts = (access.offset,) if access.offset is not None else range(access.start, access.end, access.step or 1)
    return ((access.array, start + n) for start in starts for n in range(access.size))
