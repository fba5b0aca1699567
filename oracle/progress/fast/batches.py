"""Many small AXB programs of one shape at once, as arrays: which are progress tests, their images, their digests'
numbers.

``oracle.progress.wellformed`` and ``corpus.progress.axb`` do this for one program. Here it is a hundred times as quick:
a suite has hundreds of thousands of tests, and its search looks at ten times as many programs.

A set of states is a word for each memory, whose bit ``c`` says whether the counters are ``c``, in mixed radix. A step
of a thread from its instruction ``i`` adds one number to ``c`` wherever the other threads are, so the steps of all
states with one memory are a shift of the word. All conditions are fixed points of steps, forwards or backwards, taken
for all programs until none changes.

numpy is loaded with this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import accumulate, pairwise, permutations, product
from operator import mul, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.progress.axb import Instruction, Program

Numbers = NDArray[np.signedinteger[Any]]
Truths = NDArray[np.bool_]
Words = NDArray[Any]
"""Sets of states: unsigned integers, a row a memory and a column a program."""

NO_EXCHANGE = -1
MOST_BITS = 64
"""The limit of counters, which is the number of bits of a word."""

_PIECE = 16384
"""The number of programs whose steps are taken together: more overflow the processor's cache, and fewer take as
long."""


@dataclass(frozen=True)
class ProgramBatch:
    """Programs of one shape: ``lengths`` of threads, and the locations and values that they may use.

    In each array a row is an instruction, thread by thread, and a column a program; ``exchange`` is ``NO_EXCHANGE``
    where nothing is exchanged.
    """

    lengths: tuple[int, ...]
    locations: int
    values: int
    location: Numbers
    check: Numbers
    jump: Numbers
    exchange: Numbers

    def __len__(self) -> int:
        """Return the number of programs in the batch."""
        return int(self.location.shape[1])

    @cached_property
    def sites(self) -> list[tuple[int, int]]:
        """The thread and program counter of each row."""
        return [(t, pc) for t, length in enumerate(self.lengths) for pc in range(length)]

    def where(self, kept: Truths | NDArray[np.intp] | list[bool]) -> ProgramBatch:
        """The batch of some of the programs, chosen by truths or by their numbers."""
        return self._with(array[:, kept] for array in self._fields)

    def widened(self) -> ProgramBatch:
        """The batch in a wider integer type, in which sums do not overflow."""
        return self._with(array.astype(int) for array in self._fields)

    @property
    def _fields(self) -> tuple[Numbers, ...]:
        return self.location, self.check, self.jump, self.exchange

    def _with(self, fields: Iterable[Numbers]) -> ProgramBatch:
        return ProgramBatch(self.lengths, self.locations, self.values, *fields)

    def image(self, order: tuple[int, ...]) -> ProgramBatch:
        """The programs whose thread ``t`` is thread ``order[t]`` of these, locations in order of first occurrence."""
        first = list(accumulate(self.lengths, initial=0))
        rows = [row for t in order for row in range(first[t], first[t + 1])]
        location = _in_order_of_occurrence(self.location[rows], self.locations)
        others = (array[rows] for array in (self.check, self.jump, self.exchange))
        lengths = tuple(self.lengths[t] for t in order)
        return ProgramBatch(lengths, self.locations, self.values, location, *others)

    def programs(self) -> Iterator[Program]:
        """The programs of the batch one by one, as objects."""
        for columns in zip(*(array.T.tolist() for array in self._fields), strict=True):
            code = [
                Instruction(location, check, jump, None if exchange < 0 else exchange)
                for location, check, jump, exchange in zip(*columns, strict=True)
            ]
            ends = list(accumulate(self.lengths, initial=0))
            yield Program(tuple(tuple(code[a:b]) for a, b in pairwise(ends)))

    @property
    def states(self) -> int:
        """The number of states that each program could have."""
        return int(self.values**self.locations * np.prod([length + 1 for length in self.lengths]))

    def pieces(self, size: int) -> Iterator[ProgramBatch]:
        """The batch in pieces of at most ``size`` programs."""
        for start in range(0, len(self), size):
            yield self.where(np.arange(start, min(start + size, len(self))))

    def sort_keys(self) -> list[bytes]:
        """Keys that order programs by the lengths of their threads, then instruction by instruction."""
        fields = [self.location, self.exchange + 1, self.check, self.jump]
        return _columns([*self.lengths, *_instruction_by_instruction(fields)], ">u2")

    def numbers(self) -> list[bytes]:
        """The numbers that ``corpus.progress.axb.digest`` hashes, of programs whose locations are in order of first
        occurrence."""
        rows = _instruction_by_instruction([self.location, self.check, self.jump, self.exchange])
        ends = list(accumulate((4 * length for length in self.lengths), initial=0))
        threads = zip(self.lengths, pairwise(ends), strict=True)
        return _columns([row for length, (a, b) in threads for row in (length, *rows[a:b])], ">i4")

    def codes(self) -> list[list[int]]:
        """The instructions of each program as numbers, which ``instruction_of`` decodes."""
        codes = ((self.location * _FIELD + self.check) * _FIELD + self.jump) * _FIELD + self.exchange + 1
        found: list[list[int]] = codes.T.tolist()
        return found


_FIELD = 1 << 15
"""The base of codes of instructions, greater than every location, value and jump."""


def instruction_of(code: int) -> Instruction:
    """The instruction that a number of ``ProgramBatch.codes`` stands for."""
    fields, exchange = divmod(code, _FIELD)
    fields, jump = divmod(fields, _FIELD)
    location, check = divmod(fields, _FIELD)
    return Instruction(location, check, jump, exchange - 1 if exchange else None)


def _instruction_by_instruction(fields: Sequence[Numbers]) -> Numbers:
    table: Numbers = np.stack(fields, axis=1).reshape(-1, fields[0].shape[1])
    return table


def _columns(rows: Sequence[int | Numbers], kind: str) -> list[bytes]:
    """Each program's column of some rows; a row that is a number has one value for all programs."""
    programs = next(row.shape[0] for row in rows if not isinstance(row, int))
    table = np.empty((programs, len(rows)), kind)
    for place, row in enumerate(rows):
        table[:, place] = row
    data, width = table.tobytes(), table.shape[1] * table.itemsize
    return [data[start : start + width] for start in range(0, len(data), width)]


def joined(batches: list[ProgramBatch]) -> ProgramBatch:
    """One batch of the programs of several batches of one shape, of which there must be at least one."""
    one, *others = batches
    fields = zip(*(batch._fields for batch in batches), strict=True)
    return one._with(np.concatenate(field, axis=1) for field in fields) if others else one


Options = tuple[tuple[int, int], ...]
"""For an instruction: values to compare with, each with one to store or ``NO_EXCHANGE``."""

_NARROW = np.int16
"""The integer type of large batches of programs."""


def completions(
    shape: tuple[tuple[int, ...], int, int], code: Sequence[Instruction], options: tuple[Options, ...]
) -> ProgramBatch:
    """All programs of a shape (lengths, locations, values) that have the locations and jumps of some code, and for
    each instruction one of its options: a value to compare with, and one to store or ``NO_EXCHANGE``."""
    check, exchange = _choices(options)
    location = np.broadcast_to(np.array([[ins.location] for ins in code], _NARROW), check.shape)
    jump = np.broadcast_to(np.array([[ins.jump] for ins in code], _NARROW), check.shape)
    return ProgramBatch(*shape, location, check, jump, exchange)


@lru_cache(maxsize=64)  # thousands of families have a few options in common
def _choices(options: tuple[Options, ...]) -> tuple[Numbers, Numbers]:
    """All choices of one option for each instruction, as two arrays: the values to compare with, and the values to
    store."""
    chosen = np.indices([len(pairs) for pairs in options]).reshape(len(options), -1)
    first, second = (
        np.array(
            [
                np.array([pair[n] for pair in pairs], _NARROW)[choice]
                for pairs, choice in zip(options, chosen, strict=True)
            ]
        )
        for n in (0, 1)
    )
    return first, second


def least_tests(batches: list[ProgramBatch]) -> list[ProgramBatch]:
    """The progress tests of each of some batches of one shape; of the images of a test that have the shape, the least.

    Images are under permutation of threads. The least is least in everything but locations, and then in these. Where
    the shape does not fit (``fits``), all programs are taken for tests.
    """
    batch = joined(batches)
    ends = list(accumulate(map(len, batches)))
    kept = np.flatnonzero(are_tests(batch)) if fits(batch.lengths) else np.arange(len(batch))
    kept = kept[_least(batch.where(kept))]
    return [batch.where(some).widened() for some in np.split(kept, np.searchsorted(kept, ends[:-1]))]


def _least(batch: ProgramBatch) -> Truths:
    keys, least = _image_keys(batch), np.ones(len(batch), bool)
    for order in permutations(range(len(batch.lengths))):
        if tuple(batch.lengths[t] for t in order) == batch.lengths:
            least &= keys <= _image_keys(batch.image(order))
    return least


def _image_keys(batch: ProgramBatch) -> NDArray[np.bytes_]:
    rows = _instruction_by_instruction([batch.jump, batch.exchange + 1, batch.check])
    return np.array(_columns([*rows, *batch.location], ">u2"), f"S{2 * (len(rows) + len(batch.location))}")


def _in_order_of_occurrence(location: Numbers, locations: int) -> Numbers:
    columns = np.arange(location.shape[1])
    names = np.full((locations, location.shape[1]), -1)
    used = np.zeros(location.shape[1], int)
    renamed = np.empty_like(location)
    for row, old in enumerate(location):
        fresh = names[old, columns] < 0
        names[old[fresh], columns[fresh]] = used[fresh]
        used += fresh
        renamed[row] = names[old, columns]
    return renamed


def fits(lengths: tuple[int, ...]) -> bool:
    """Whether programs of a shape are small enough for ``are_tests``."""
    return int(np.prod([length + 1 for length in lengths])) <= MOST_BITS


def are_tests(batch: ProgramBatch) -> Truths:
    """Which programs are progress tests: (b) to (e) of ``oracle.progress.wellformed``; (a) is taken for granted.

    Raises ``ValueError`` where the shape does not fit.
    """
    if not fits(batch.lengths):
        raise ValueError(f"more than {MOST_BITS} counters: {batch.lengths}")
    found = np.zeros(len(batch), bool)
    left: list[NDArray[np.intp]] = []
    states: list[Words] = []
    influencing = np.flatnonzero(_influences(batch))
    for some in np.array_split(influencing, max(1, -(-len(influencing) // _PIECE))):
        steps = _Steps(batch.where(some))
        reached = steps.reached()
        matter = steps.all_matter(reached)
        left.append(some[matter])
        states.append(reached[:, matter])
    places, reached = np.concatenate(left), np.concatenate(states, axis=1)  # few programs: some in a hundred
    ending = _Steps(batch.where(places)).all_can_end(reached)
    places, reached = places[ending], reached[:, ending]
    found[places] = _Steps(batch.where(places)).some_turn(reached)
    return found


def _influences(batch: ProgramBatch) -> Truths:
    """The parts of (b) and (c) that the text alone decides, and that what is compared with anything is ever written:
    else memory stays 0 there, and no branch has both outcomes."""
    exchanges = batch.exchange != NO_EXCHANGE
    branches = np.array([batch.jump[n] != pc + 1 for n, (_, pc) in enumerate(batch.sites)])
    good = np.ones(len(batch), bool)
    thread = np.array([t for t, _ in batch.sites])
    for location in range(batch.locations):
        here = batch.location == location
        good &= ~here.any(axis=0) | (here & (batch.exchange > 0)).any(axis=0)
        for t in range(len(batch.lengths)):
            own, others = thread == t, thread != t
            tested = (here & branches)[others].any(axis=0)
            good &= tested | ~(here & exchanges)[own].any(axis=0)
            good &= here[others].any(axis=0) | ~(here & branches)[own].any(axis=0)
    return good


class _Steps:
    """The steps of programs, on sets of states."""

    def __init__(self, batch: ProgramBatch) -> None:
        self._batch = batch
        memories = list(product(range(batch.values), repeat=batch.locations))
        place = list(accumulate((length + 1 for length in batch.lengths), mul, initial=1))
        counters = range(place.pop())
        word = np.dtype(f"u{next(size for size in (1, 2, 4, 8) if len(counters) <= 8 * size)}")
        self._end = word.type(1 << counters[-1])
        self._place = [word.type(place[t]) for t, _ in batch.sites]
        # Of each instruction: the states in which its thread is there, and how far counters move where it jumps.
        self._shifts = [
            word.type(sum(1 << c for c in counters if c // place[t] % (batch.lengths[t] + 1) == pc))
            for t, pc in batch.sites
        ]
        moves = [(batch.jump[n] - pc) * place[t] for n, (t, pc) in enumerate(batch.sites)]
        self._up = [np.maximum(move, 0).astype(word) for move in moves]
        self._down = [np.maximum(-move, 0).astype(word) for move in moves]
        # Of each instruction in each memory, for each program all bits or none: whether the comparison holds, and
        # which memory comes after it, this one first.
        number = {memory: m for m, memory in enumerate(memories)}
        cells = list(product(range(batch.locations), range(batch.values)))
        self._equal: list[list[Words]] = []
        self._after: list[list[list[tuple[int, Words]]]] = []
        for location, check, exchange in zip(batch.location, batch.check, batch.exchange, strict=True):
            expects = {(cell, value): _masks((location == cell) & (check == value), word) for cell, value in cells}
            stores = {(cell, value): _masks((location == cell) & (exchange == value), word) for cell, value in cells}
            self._equal.append([reduce(or_, map(expects.__getitem__, enumerate(memory))) for memory in memories])
            self._after.append([])
            for memory in memories:
                changes = [
                    (number[*memory[:cell], value, *memory[cell + 1 :]], stored)
                    for (cell, value), stored in stores.items()
                    if value != memory[cell]
                ]
                stays = ~reduce(or_, (stored for _, stored in changes))
                self._after[-1].append([(number[memory], stays), *changes])
        self._none = np.zeros((len(memories), len(batch)), word)

    def reached(self) -> Words:
        """The states that are reachable from the start."""
        states = self._none.copy()
        states[0] = 1
        while True:
            before = states.copy()
            for n, (shift, place, up, down) in enumerate(
                zip(self._shifts, self._place, self._up, self._down, strict=True)
            ):
                for m, (equal, after) in enumerate(zip(self._equal[n], self._after[n], strict=True)):
                    here = states[m] & shift
                    jumping = here & equal
                    moved = (jumping << up >> down) | ((here ^ jumping) << place)
                    for other, lands in after:
                        states[other] |= moved & lands
            if (states == before).all():
                return states

    def _leading_to(self, states: Words, m: int) -> Words:
        """The states with memory ``m`` that have a step to one of these."""
        sources: Words = np.zeros_like(states[m])
        for n, (shift, place, up, down) in enumerate(zip(self._shifts, self._place, self._up, self._down, strict=True)):
            equal = self._equal[n][m]
            moved = reduce(or_, (states[other] & lands for other, lands in self._after[n][m]))
            sources |= ((moved << down >> up & equal) | (moved >> place & ~equal)) & shift
        return sources

    def all_matter(self, reached: Words) -> Truths:
        """(b) and (c): whether an exchange changes memory, and a branch has both outcomes, in reached states."""
        good = np.ones(len(self._batch), bool)
        for n, ((_, pc), shift) in enumerate(zip(self._batch.sites, self._shifts, strict=True)):
            here = reached & shift
            equal = np.array(self._equal[n])
            stays = np.array([after[0][1] for after in self._after[n]])
            changes, holds, fails = ((lanes != 0).any(axis=0) for lanes in (here & ~stays, here & equal, here & ~equal))
            good &= changes | (self._batch.exchange[n] == NO_EXCHANGE)
            good &= (holds & fails) | (self._batch.jump[n] == pc + 1)
        return good

    def all_can_end(self, reached: Words) -> Truths:
        """(d): whether from each reached state an end can be reached."""
        ending = self._none | self._end
        while True:
            before = ending.copy()
            for m in range(len(ending)):
                ending[m] |= self._leading_to(ending, m)
            if (ending == before).all():
                return _none(reached & ~ending)

    def some_turn(self, reached: Words) -> Truths:
        """(e): whether a run from a reached state need never end."""
        endless = reached.copy()
        while True:
            before = endless.copy()
            for m in range(len(endless)):
                endless[m] &= self._leading_to(endless, m)
            if (endless == before).all():
                return ~_none(endless)


def _masks(truths: Truths, word: np.dtype[Any]) -> Words:
    """Words of all ones where something is true, and of zeros elsewhere."""
    masks: Words = -truths.astype(word)
    return masks


def _none(states: Words) -> Truths:
    empty: Truths = (states == 0).all(axis=0)
    return empty


def transitions(batch: ProgramBatch) -> Numbers:
    """The steps of programs from each state that they could have, the start first.

    ``cells[t, s, n]`` is the cell of the state that follows on state ``s`` of program ``n`` by a step of thread ``t``:
    its place in a row of all states of all programs, ``s * len(batch) + n`` for state ``s`` of program ``n``. Where the
    thread has no step it is one state more, the last, which has none itself.
    """
    place = list(accumulate((length + 1 for length in batch.lengths), mul, initial=1))
    counters = place.pop()
    memories = list(product(range(batch.values), repeat=batch.locations))
    first = list(accumulate(batch.lengths, initial=0))
    weight = np.array([batch.values ** (batch.locations - 1 - cell) for cell in range(batch.locations)]) * counters
    # How far a step of an instruction leads in each memory, for each program.
    far = np.empty((len(batch.sites), len(memories), len(batch)), int)
    for n, (t, pc) in enumerate(batch.sites):
        location, exchange = batch.location[n], batch.exchange[n]
        for m, memory in enumerate(memories):
            value = np.array(memory)[location]
            target = np.where(value == batch.check[n], batch.jump[n], pc + 1)
            stored = np.where(exchange == NO_EXCHANGE, value, exchange)
            far[n, m] = (target - pc) * place[t] + (stored - value) * weight[location]
    states = np.arange(batch.states)
    in_memory, counter = np.divmod(states, counters)
    cells = np.full((len(place), len(states) + 1, len(batch)), len(states))
    for t, length in enumerate(batch.lengths):
        position = counter // place[t] % (length + 1)
        running = np.flatnonzero(position < length)
        cells[t, running] = states[running, None] + far[first[t] + position[running], in_memory[running]]
    cells *= len(batch)
    cells += np.arange(len(batch))
    return cells
