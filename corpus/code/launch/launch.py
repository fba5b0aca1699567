"""A launch of a kernel: its grid, blocks, clusters and warps, its arguments, and what memory holds at its start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from corpus.code.places import Array

Extent = tuple[int, int, int]
"""Numbers along x, y and z."""


class ThreadIds(NamedTuple):
    """The place of a thread in a launch: of its block in the grid, of itself in the block."""

    block: Extent
    thread: Extent


@dataclass(frozen=True, slots=True)
class ArrayArgument:
    """The memory that a pointer points to: the initial values of its elements; zeros behind these.

    ``count`` is the number of elements; None: as many as the kernel accesses. ``size``: the bytes of an element, where
    that is known. ``data`` is all of the memory in bytes, where it is given so.
    """

    values: tuple[int, ...] = ()
    count: int | None = None
    size: int | None = None
    data: bytes | None = None

    def length(self, size: int) -> int | None:
        """Return the bytes of the array where they are known, as an access of so many bytes has it: its elements may be
        larger than was said.
        """
        if self.data is not None:
            return len(self.data)
        return None if self.count is None or self.size is None else self.count * max(self.size, size)

    def elements(self, size: int) -> int:
        """Return the number of elements of so many bytes that are given, 0 where none are."""
        count = self.count or len(self.values)
        return count * (self.size or size) // size if self.data is None else len(self.data) // size

    def initial(self, offset: int, size: int) -> int:
        """Return the number, with its sign, that so many bytes are at the start."""
        if self.data is not None:
            return int.from_bytes(self.data[offset : offset + size].ljust(size, b"\0"), "little", signed=True)
        element, bits = self.size or size, 0
        for index in range(offset // element, min(-(-(offset + size) // element), len(self.values))):
            value, shift = self.values[index] % (1 << 8 * element), 8 * (index * element - offset)
            bits |= value << shift if shift >= 0 else value >> -shift
        bits %= 1 << 8 * size
        return bits - (bits >> 8 * size - 1 << 8 * size)


@dataclass(frozen=True, slots=True)
class SharedArgument:
    """The memory of another parameter, or memory that kernels of one stream call by this name: ``&data``."""

    name: str


Argument = int | ArrayArgument | SharedArgument
"""What a launch gives for a parameter."""


@dataclass(frozen=True, slots=True)
class ArrayImage:
    """What earlier kernels of a stream have left in an array: bytes by their offsets. Others are as at the start.

    ``size`` is that of the elements which were accessed last. ``untold`` are the bytes that nothing tells, and why.
    """

    size: int
    data: Mapping[int, int]
    untold: Mapping[int, str] = field(default_factory=dict)

    def over(self, value: int, offset: int, size: int) -> int:
        """Return a value of so many bytes at an offset, with sign, after these bytes have been written over it."""
        before = value.to_bytes(size, "little", signed=value < 0)
        after = bytes(self.data.get(offset + n, byte) for n, byte in enumerate(before))
        return int.from_bytes(after, "little", signed=True)


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """A launch. ``arguments`` has numbers and arrays by the names of parameters; of a pointer that it does not name the
    memory is zeros, as much as is accessed. ``names`` are those that the source gives to the parameters, in their
    order, and arguments may have these too; ``elements`` the bytes of what they point to, None where nothing tells.
    ``warp`` is the number of threads in a warp. ``memory`` is what earlier
    kernels of the stream have left, by the names of arrays. ``choices``: which of the things that the system may do it
    does, by number, such as whom it elects; the first one where nothing is said. ``leaks``: threads note which objects
    they make and give back.
    """

    grid: Extent = (1, 1, 1)
    block: Extent = (1, 1, 1)
    cluster: Extent = (1, 1, 1)
    warp: int = 32
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    elements: tuple[int | None, ...] = ()
    memory: Mapping[Array, ArrayImage] = field(default_factory=dict)
    choices: Mapping[str, int] = field(default_factory=dict)
    leaks: bool = False

    def threads(self) -> Iterator[ThreadIds]:
        """Yield the threads, block by block; x runs fastest."""
        for block in _places(self.grid):
            for thread in _places(self.block):
                yield ThreadIds(block, thread)

    def argument(self, name: str, number: int) -> Argument | None:
        """Return what is given for a parameter: by its name, the name that the source has for it, or its number."""
        every = (name, self.source_name(name, number), str(number))
        return next((self.arguments[key] for key in every if key in self.arguments), None)

    def source_name(self, name: str, number: int) -> str:
        """Return the name that the source gives to a parameter, or its name in the compiled text."""
        return self.names[number] if number < len(self.names) else name

    def array(self, name: str, number: int) -> ArrayArgument | None:
        """Return the array that is given for a parameter."""
        found = self.argument(name, number)
        return found if isinstance(found, ArrayArgument) else None

    def block_number(self, ids: ThreadIds) -> int:
        """Return the number of a thread's block in the grid."""
        return _number(ids.block, self.grid)

    def thread_number(self, ids: ThreadIds) -> int:
        """Return the number of a thread in its block."""
        return _number(ids.thread, self.block)

    def warp_of(self, ids: ThreadIds) -> tuple[int, int]:
        """Return the numbers of a thread's block and of its warp in the block."""
        return self.block_number(ids), self.thread_number(ids) // self.warp

    def cluster_of(self, block: Extent) -> tuple[Extent, Extent]:
        """Return the place of a block's cluster in the grid of clusters, and that of the block in the cluster."""
        pairs = [divmod(coordinate, size) for coordinate, size in zip(block, self.cluster, strict=True)]
        (a, b), (c, d), (e, f) = pairs
        return (a, c, e), (b, d, f)

    def cluster_number(self, ids: ThreadIds) -> int:
        """Return the number of a thread's cluster."""
        return _number(self.cluster_of(ids.block)[0], self.clusters)

    def rank(self, block: Extent) -> int:
        """Return the number of a block in its cluster."""
        return _number(self.cluster_of(block)[1], self.cluster)

    def ranked(self, block: Extent, rank: int) -> int | None:
        """Return the number in the grid of the block that has a rank in the cluster of a block; None: there is none."""
        own = self.cluster_of(block)[0]
        others = (other for other in _places(self.grid) if self.cluster_of(other)[0] == own)
        return next((_number(other, self.grid) for other in others if self.rank(other) == rank), None)

    @property
    def clusters(self) -> Extent:
        """The number of clusters along each direction."""
        x, y, z = (-(-whole // part) for whole, part in zip(self.grid, self.cluster, strict=True))
        return x, y, z

    @property
    def text(self) -> str:
        """The launch in short: ``2x1``, blocks by threads."""
        grid, block = volume(self.grid), volume(self.block)
        warps = f", warps of {self.warp}" if block > 1 and self.warp < 32 else ""
        clusters = f", clusters of {volume(self.cluster)}" if volume(self.cluster) > 1 else ""
        return f"{grid}x{block}{warps}{clusters}"


def volume(extent: Extent) -> int:
    """Return how many places an extent has."""
    return extent[0] * extent[1] * extent[2]


def _places(extent: Extent) -> Iterator[Extent]:
    for z, y, x in product(*map(range, reversed(extent))):
        yield x, y, z


def _number(place: Extent, extent: Extent) -> int:
    return place[0] + extent[0] * (place[1] + extent[1] * place[2])
