"""Behaviours of many small programs at once, and the models' verdicts on them: arrays whose last axis is the program.

``oracle.progress.behaviour`` and ``oracle.progress.models`` do this for one program. Automata are numbered
breadth-first and minimised by Moore's partition refinement, as there. A model's promises on a cycle depend on who has
taken a step, the *layer*, and on who is running, and both are constant along it in an AXB program. So a layer's cycles
are those of the steps of its threads alone. What these steps lead to is a word for each state, and closed by Warshall's
algorithm. Then, as in ``models``, a guarantee lets a run hang

- weakly, where a component with an edge has steps of all threads that it promises to run;
- strongly, where from a state on a cycle the steps that it promises lead nowhere but to states of its component.

The verdicts of the models on all images of a program under permutation of its threads are the bits of a few words,
and so each component is asked about all of them in one look at a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from oracle.progress.behaviour import Behaviour
from oracle.progress.fast.batches import Numbers, ProgramBatch, Words, transitions
from oracle.progress.models import GUARANTEES, Permutation, image_hangs, seen_in
from oracle.progress.system import NO_STEP


@dataclass(frozen=True)
class Automata:
    """The automata of programs. ``rows[q, t, n]`` is the state after a step of thread ``t`` from state ``q`` of
    program ``n``, or ``NO_STEP``; the program has states up to ``counts[n]``, the start is 0."""

    rows: Numbers
    counts: Numbers

    def where(self, kept: NDArray[np.intp]) -> Automata:
        """The automata of some of the programs, in a table of the states that they need."""
        counts = self.counts[kept]
        return Automata(self.rows[: counts.max(initial=0), :, kept], counts)

    def relabelled(self, order: Permutation) -> Automata:
        """The automata whose letter ``t`` is letter ``order[t]`` of these, which are numbered breadth-first, too."""
        if order == tuple(range(len(order))):
            return self
        return _breadth_first(self.cells[list(order)])

    @cached_property
    def cells(self) -> Numbers:
        """The steps of all automata as cells, in the form of ``oracle.progress.fast.batches.transitions``."""
        states, threads, programs = self.rows.shape
        known = np.where(self.rows == NO_STEP, states, self.rows).swapaxes(0, 1)
        none = np.full((threads, 1, programs), states)
        cells: Numbers = np.concatenate([known, none], axis=1) * programs + np.arange(programs)
        return cells

    def behaviour(self, n: int) -> Behaviour:
        """The automaton of one of the programs, as rows of successors."""
        return tuple(map(tuple, self.rows[: self.counts[n], :, n].tolist()))

    def numbers(self) -> list[bytes]:
        """For each automaton the numbers that ``oracle.progress.behaviour.digest_automaton`` hashes."""
        states, threads, programs = self.rows.shape
        head = np.full((programs, 1), threads)
        table = np.concatenate([head, self.rows.reshape(states * threads, programs).T], axis=1).astype(">i4")
        data, width = table.tobytes(), 4 * table.shape[1]
        ends = (4 * (1 + self.counts * threads)).tolist()
        return [data[n * width : n * width + end] for n, end in enumerate(ends)]


def minimal_automata(batch: ProgramBatch) -> Automata:
    """The minimal automata of programs, equal to those of ``oracle.progress.behaviour.minimise``."""
    systems = _breadth_first(transitions(batch))
    parts = [(some, _minimised(systems.where(some))) for some in _by_size(systems.counts, 8, 12, 16, 20, 24, 32, 48)]
    found = Automata(np.full_like(systems.rows, NO_STEP), np.zeros_like(systems.counts))
    for some, automata in parts:
        found.rows[: len(automata.rows), :, some] = automata.rows
        found.counts[some] = automata.counts
    return found.where(np.arange(len(batch)))


def _by_size(counts: Numbers, *most: int) -> Iterator[NDArray[np.intp]]:
    """Groups of programs by number of states: those with at most each of some numbers, then the others; no group is
    empty."""
    sizes = np.searchsorted(most, counts)
    for size in range(len(most) + 1):
        if len(some := np.flatnonzero(sizes == size)):
            yield some


def _breadth_first(cells: Numbers) -> Automata:
    """The automata of the states reachable from state 0 of each program, given steps in the form of ``transitions``."""
    threads, states, programs = cells.shape
    states -= 1
    unseen = states
    number = np.full((states + 1) * programs, unseen)
    number[:programs] = 0
    number[states * programs :] = NO_STEP
    order = np.repeat(cells[:1, -1], states, axis=0)  # the states of each program, as cells, when all are found
    order[0] = np.arange(programs)
    counts = np.ones(programs, int)
    after_all = cells.reshape(threads, -1)
    rows: list[list[Numbers]] = []
    while len(rows) < counts.max(initial=0):
        here = order[len(rows)]
        row = []
        for afters in after_all:
            after = afters[here]
            found = number[after]
            new = np.flatnonzero(found == unseen)
            found[new] = counts[new]
            number[after[new]] = counts[new]
            order[counts[new], new] = after[new]
            counts[new] += 1
            row.append(found)
        rows.append(row)
    return Automata(np.array(rows).reshape(len(rows), threads, programs), counts)


def _minimised(automata: Automata) -> Automata:
    rows, counts = automata.rows, automata.counts
    states, threads, programs = rows.shape
    columns, places = np.arange(programs), np.arange(states)[:, None]
    known = places < counts
    after = automata.cells[:, :-1]
    classes = np.full((states + 1, programs), states)  # and one more row, after the last

    def split(keys: Numbers, most: int) -> bool:
        """Makes classes of the states that have a key in common, each called by its first state."""
        first = np.empty(most * programs, np.min_scalar_type(states))
        keys = keys * programs + columns
        for state in range(states - 1, -1, -1):
            first[keys[state]] = state
        found = first[keys]
        changed = bool((found != classes[:-1]).any())
        classes[:-1] = found
        return changed

    # States are told apart by who is running, and from entries that are no states.
    running = sum((rows[:, t] != NO_STEP) << t for t in range(threads))
    split(np.where(known, running, 1 << threads), (1 << threads) + 1)
    changed = True
    while changed:
        changed = False
        for t in range(threads):
            own = classes[:-1] * (states + 1) + classes.ravel()[after[t]]
            changed |= split(own, states * (states + 1))
    classes = classes[:-1]
    leads = (classes == places) & known
    rank = np.cumsum(leads, axis=0) - 1
    number = np.append(np.take_along_axis(rank, classes, axis=0), np.full((1, programs), NO_STEP), axis=0)
    kept, program = np.nonzero(leads)
    counts = rank[-1] + 1
    smaller = np.full((counts.max(initial=0), threads, programs), NO_STEP)
    for t in range(threads):
        smaller[rank[kept, program], t, program] = number[rows[kept, t, program], program]
    return Automata(smaller, counts)


def hangs(automata: Automata, orders: Sequence[Permutation]) -> tuple[Numbers, Numbers]:
    """The guarantees under which programs may hang, read weakly and read strongly.

    Entry ``[o, n]`` is, of the image of program ``n`` that ``orders[o]`` makes, a bit mask of guarantees in the order
    of ``GUARANTEES``.
    """
    orders = tuple(orders)
    weak = np.zeros((len(orders), len(automata.counts)), int)
    strong = weak.copy()
    for some in _by_size(automata.counts, 8, 16, 32, 64):
        most = int(automata.counts[some].max())
        if most <= 64:  # the narrower words are, the more of them are dealt with at once
            kind = next(f"u{bits // 8}" for bits in (8, 16, 32, 64) if most <= bits)
            weak[:, some], strong[:, some] = _hangs_in_words(automata.where(some), orders, kind)
            continue
        for n in some:  # they are few, and one at a time
            for found, masks in zip((weak, strong), image_hangs(automata.behaviour(int(n)), orders), strict=True):
                found[:, n] = [masks >> len(GUARANTEES) * o & (1 << len(GUARANTEES)) - 1 for o in range(len(orders))]
    return weak, strong


def _hangs_in_words(automata: Automata, orders: tuple[Permutation, ...], kind: str) -> tuple[Numbers, Numbers]:
    rows = automata.rows
    states, threads, programs = rows.shape
    word = np.dtype(kind).type
    bits = 8 * np.dtype(kind).itemsize
    place = np.arange(states, dtype=kind)[:, None]

    def join(words: Words | list[Words]) -> Words:
        joined: Words = np.bitwise_or.reduce(words, axis=0)
        return joined

    def among(some: Words, words: Words) -> Words:
        """The union, for each program, of the words of a set of states."""
        return join(-(some >> place & word(1)) & words)

    def close(paths: Words) -> None:
        """Warshall's algorithm. Where a state is led to, what it leads to is added: its bit fills a word as a sign."""
        led = np.empty_like(paths)
        signs = led.view(f"i{kind[1:]}")
        for state in range(states):
            np.left_shift(paths, word(bits - 1 - state), out=led)
            np.right_shift(signs, bits - 1, out=signs)
            np.bitwise_and(led, paths[state], out=led)
            np.bitwise_or(paths, led, out=paths)

    exists = rows.swapaxes(0, 1) != NO_STEP
    steps = exists.astype(kind) << (rows.swapaxes(0, 1) * exists).astype(kind)
    running = join([exists[t].astype(int) << t for t in range(threads)])
    ahead = [np.zeros((states, programs), kind)]  # by the set of threads that step: what paths, not empty, lead to
    layers = [np.ones(programs, kind)]  # by the set of threads that have taken a step: the states
    weak = np.zeros((-(-len(orders) // _ORDERS), programs), int)
    strong = weak.copy()
    for layer in range(1, 1 << threads):
        members = [t for t in range(threads) if layer >> t & 1]
        paths = join([steps[t] for t in members])
        close(paths)
        entered = join([among(layers[layer & ~(1 << t)], steps[t]) for t in members])
        layers.append(entered | among(entered, paths))
        ahead.append(paths)
        component = paths & _transposed(paths)
        movers = np.zeros((states, programs), int)
        for t in members:
            inside = join((steps[t] & component != 0).astype(kind) << place)
            movers |= (component & inside != 0).astype(int) << t
        turning = component & layers[layer] & word(1) << place != 0
        weak_masks, strong_masks = _masks(orders, threads, layer)
        weak |= np.bitwise_or.reduce(weak_masks[:, (running << threads | movers) * turning], axis=1)
        for promised, masks in strong_masks.items():
            trapped = turning & (ahead[promised] & ~component == 0)
            strong |= np.bitwise_or.reduce(masks[:, running * trapped], axis=1)
    return _by_order(weak, len(orders)), _by_order(strong, len(orders))


def _transposed(words: Words) -> Words:
    """Bit ``i`` of word ``j`` where it was bit ``j`` of word ``i``, for no more words than each has bits.

    Blocks beside the diagonal are exchanged, of half the size each time (Warren, Hacker's Delight, section 7-3).
    """
    count, programs = words.shape
    bits, word = 8 * words.itemsize, words.dtype.type
    square = np.zeros((bits, programs), words.dtype)
    square[:count] = words
    width, low = bits // 2, (1 << bits // 2) - 1
    while width:
        blocks = square.reshape(-1, 2, width, programs)
        above, below = blocks[:, 0], blocks[:, 1]
        changed = (above >> word(width) ^ below) & word(low)
        below ^= changed
        above ^= changed << word(width)
        width //= 2
        low ^= low << width & (1 << bits) - 1
    return square[:count]


_ORDERS = 62 // len(GUARANTEES)
"""The number of images whose guarantees fit in one number."""


def _by_order(masks: Numbers, orders: int) -> Numbers:
    """The guarantees of each image, taken from numbers that have those of several images."""
    width = len(GUARANTEES)
    return np.array([masks[o // _ORDERS] >> width * (o % _ORDERS) & (1 << width) - 1 for o in range(orders)])


@cache
def _masks(orders: tuple[Permutation, ...], threads: int, layer: int) -> tuple[Numbers, dict[int, Numbers]]:
    """For each order the guarantees, as a mask, that let a component of a layer run for ever: by who is running and who
    takes steps in it; and by the set of threads that is promised to run, by who is running. A row has ``_ORDERS``.

    Where nobody is running there is no component with an edge, and all are 0.
    """
    weak = np.zeros((-(-len(orders) // _ORDERS), 1 << 2 * threads), int)
    strong: dict[int, Numbers] = {}
    movers = np.arange(1 << threads)
    for (o, order), (g, guarantee) in product(enumerate(orders), enumerate(GUARANTEES.values())):
        seen = seen_in(order, guarantee)
        row, bit = o // _ORDERS, 1 << len(GUARANTEES) * (o % _ORDERS) + g
        for running in range(1, 1 << threads):
            promised = seen(running, layer)
            weak[row, running << threads | movers[promised & ~movers == 0]] |= bit
            if not promised & ~layer:
                strong.setdefault(promised, np.zeros((len(weak), 1 << threads), int))[row, running] |= bit
    return weak, strong
