"""Defines AXB programs, the programs of progress tests (Sorensen et al. 2021, section 3).

The language has one instruction, ``AXB(checkLoc, checkVal, jumpInst, doExch, exchVal)``. Atomically,
``pc' = jumpInst if mem[checkLoc] == checkVal else pc + 1``, and if ``doExch`` then ``mem[checkLoc] := exchVal``.
Memory starts at 0. A jump goes to any instruction of its own thread or to the thread's end, which is the number of
its instructions. A thread is enabled until it reaches its end.

Programs that differ only in the names of locations are one test; the *canonical form* numbers locations in the order
of their first occurrence. Thread order is part of a test, for ids matter to HSA and LOBE, unless asked otherwise.

A program may *place* its threads in the groups of the execution hierarchy (``corpus.hierarchy``). Without places each
thread is in a workgroup of its own, and a program that says so is one without places. The canonical form numbers the
groups of each level from 0, in their order, which is part of a test.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from corpus.hierarchy import Places, apart, in_order


@dataclass(frozen=True, slots=True)
class Instruction:
    """One AXB instruction. ``exchange`` is the value stored, or ``None`` where nothing is exchanged."""

    location: int
    check: int
    jump: int
    exchange: int | None = None

    @property
    def key(self) -> tuple[int, int, int, int]:
        """The place of an instruction in a total order: location, exchanged value (-1 for none), check value, jump."""
        return (self.location, -1 if self.exchange is None else self.exchange, self.check, self.jump)

    def branches(self, pc: int) -> bool:
        """Decide whether the two outcomes of the comparison lead to different instructions, with the instruction at
        ``pc``.
        """
        return self.jump != pc + 1

    def is_store(self, pc: int) -> bool:
        """Decide whether this is a plain store: it exchanges, does not branch, and its check value has the fixed value
        0.
        """
        return self.exchange is not None and self.check == 0 and not self.branches(pc)


Thread = tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """An AXB program: one tuple of instructions a thread, in the order of thread ids.

    ``places`` has the groups of each thread; it is empty where each is in a workgroup of its own. Raises ``ValueError``
    where a thread is empty or has no place while others have, a jump leaves its thread, or a number is negative.
    """

    threads: tuple[Thread, ...]
    places: Places = ()

    def __post_init__(self) -> None:
        if not self.threads:
            raise ValueError("a program needs at least one thread")
        for tid, thread in enumerate(self.threads):
            if not thread:
                raise ValueError(f"thread {tid} has no instruction")
            for pc, ins in enumerate(thread):
                if not 0 <= ins.jump <= len(thread):
                    raise ValueError(f"thread {tid}, instruction {pc}: jump to {ins.jump}, outside 0..{len(thread)}")
                if min(ins.location, ins.check, ins.exchange or 0) < 0:
                    raise ValueError(f"thread {tid}, instruction {pc}: locations and values are not negative")
        if self.places and len(self.places) != len(self.threads):
            raise ValueError(f"{len(self.threads)} threads have {len(self.places)} places")
        if any(len(place) != 4 or min(place) < 0 for place in self.places):
            raise ValueError("a place is four numbers, none of them negative")

    @property
    def key(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The place of a program in a total order, thread by thread, and last its places, where it has any."""
        return (*(tuple(ins.key for ins in thread) for thread in self.threads), *(self.places and (self.places,)))

    @property
    def size(self) -> int:
        """The number of instructions in all threads together."""
        return sum(len(thread) for thread in self.threads)

    @property
    def bound(self) -> str:
        """The bound of a program as text: ``threads x instructions``, as in ``2x4``."""
        return f"{len(self.threads)}x{self.size}"

    @property
    def locations(self) -> int:
        """The number of memory cells that a run needs: the highest location and one."""
        return 1 + max(ins.location for thread in self.threads for ins in thread)

    @property
    def values(self) -> int:
        """The number of values that a run needs, 0 included: the highest value and one."""
        return 1 + max(max(ins.check, ins.exchange or 0) for thread in self.threads for ins in thread)


def instructions(program: Program) -> Iterator[tuple[int, int, Instruction]]:
    """Return every instruction with its thread id and program counter, in textual order."""
    for tid, thread in enumerate(program.threads):
        for pc, ins in enumerate(thread):
            yield tid, pc, ins


def rename_locations(program: Program) -> Program:
    """Return the program with its locations numbered in the order of their first occurrence."""
    names: dict[int, int] = {}
    for _, _, ins in instructions(program):
        names.setdefault(ins.location, len(names))
    if all(old == new for old, new in names.items()):
        return program
    return Program(
        tuple(
            tuple(Instruction(names[i.location], i.check, i.jump, i.exchange) for i in thread)
            for thread in program.threads
        ),
        program.places,
    )


def placed(program: Program, places: Places) -> Program:
    """Return the program with its threads at these places, groups numbered in their order.

    Each in a workgroup of its own, in the order of ids, is a program without places.
    """
    places = in_order(places)
    return Program(program.threads, () if places == apart(len(program.threads)) else places)


def places_of(program: Program) -> Places:
    """Return the places of a program's threads; where it has none, each is in a workgroup of its own."""
    return program.places or apart(len(program.threads))


def _in_order(program: Program, order: tuple[int, ...]) -> Program:
    threads = tuple(program.threads[t] for t in order)
    return placed(Program(threads), tuple(places_of(program)[t] for t in order)) if program.places else Program(threads)


def thread_images(program: Program) -> list[tuple[Program, tuple[int, ...]]]:
    """Return all distinct canonical forms of the program under permutation of its threads, sorted by key.

    Each comes with an order that gives it: thread ``t`` of the image is thread ``order[t]`` of the program.
    """
    images: dict[Program, tuple[int, ...]] = {}
    for order in permutations(range(len(program.threads))):
        images.setdefault(rename_locations(_in_order(program, order)), order)
    return sorted(images.items(), key=lambda image: image[0].key)


def canonical(program: Program, symmetric_threads: bool = False) -> Program:
    """Return the representative of all programs equal to this one up to renaming of locations.

    With ``symmetric_threads``, also up to permutation of threads: the least of the images.
    """
    if symmetric_threads:
        return thread_images(program)[0][0]
    return rename_locations(placed(program, program.places) if program.places else program)


def digest(program: Program, symmetric_threads: bool = False) -> str:
    """Return 16 hexadecimal digits that name the canonical form: SHA-256 of its numbers, cut.

    The hashed bytes are big-endian 32-bit integers: for each thread its length, then location, check, jump and the
    exchanged value (-1 for none) of each instruction; then, of a program with places, 0 and the four numbers of each
    place. They are part of the corpus format and do not change.
    """
    numbers: list[int] = []
    form = canonical(program, symmetric_threads)
    for thread in form.threads:
        numbers.append(len(thread))
        for ins in thread:
            numbers += (ins.location, ins.check, ins.jump, -1 if ins.exchange is None else ins.exchange)
    return digest_numbers(numbers + place_numbers(form.places))


def place_numbers(places: Places) -> list[int]:
    """Return the numbers by which places are part of a digest: none where there are none, else 0 and theirs."""
    return [0, *(number for place in places for number in place)] if places else []


def digest_numbers(numbers: Sequence[int]) -> str:
    """Return 16 hexadecimal digits that name a sequence of numbers: SHA-256 of them as big-endian 32-bit
    integers, cut.
    """
    return hashlib.sha256(struct.pack(f">{len(numbers)}i", *numbers)).hexdigest()[:16]
