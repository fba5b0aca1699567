"""Where a litmus test may be changed, and into what: its sites, and the levels of each (``constraints.levels``).

Sites are the accesses, fences and barriers that a test has, which may be done in a stronger way or a weaker one, and
the places between instructions, where there may be a fence. Ways are those of a vocabulary
(``corpus.executions.vocabulary``) that the test's dialect can say there. One way is stronger than another where steps
of relaxations (``corpus.executions.relaxations``) lead from it to that.

Of ways that a model does not tell apart (``atom.relaxed.cta`` and ``.gpu``, where it reads no scopes of atomics) one is
tried: the way as written, else, of stronger ones the cheapest whose scope has all threads, and of weaker ones the
strongest, so that what the model does not read stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations, permutations, product
from typing import NamedTuple

from constraints.levels import Site
from constraints.repairs import Ladder, Levels, Requirement
from corpus.dialects.registry import printed
from corpus.errors import InputError
from corpus.executions.execution import OpKind
from corpus.executions.litmus import said
from corpus.executions.vocabulary import vocabulary
from corpus.laws.c11 import told_failure
from corpus.laws.ptx import ARRIVE
from corpus.litmus.test import (
    PLAIN,
    Assign,
    Barrier,
    Branch,
    Fence,
    Instruction,
    Label,
    LitmusTest,
    Load,
    Mode,
    Rmw,
    Scope,
    Store,
    Thread,
    accessed,
    as_accessed,
    element_of,
    is_atomic,
    sequenced,
    sides_of,
    unguarded,
    unsequenced,
)
from corpus.litmus.text import Dialect
from oracle.cat.interpreter import Model
from oracle.executions.vocabulary import dialect_of, mode_tags, telling

KINDS: Mapping[type[Instruction], OpKind] = {
    Load: OpKind.READ,
    Store: OpKind.WRITE,
    Rmw: OpKind.UPDATE,
    Fence: OpKind.FENCE,
    Barrier: OpKind.BARRIER,
}
"""What vocabularies call instructions that make events."""

ORDER_TAGS = ("RLX", "ACQ", "REL", "ACQ_REL", "SC")
"""The sets of what has an order."""

Cost = Callable[[OpKind, Mode | None], int]
"""What an instruction of a kind costs that is done in a way; None: that is not there."""


class SitePlace(NamedTuple):
    """A site by its thread and the instruction of the test as it is written; with ``gap``, the place before it."""

    thread: int
    at: int
    gap: bool


class Direction(StrEnum):
    """Which ways of an instruction are tried: those at least as strong as it is written, or those at most as strong."""

    STRONGER = "stronger"
    WEAKER = "weaker"


@dataclass(frozen=True, slots=True)
class SiteModes:
    """How instructions may be done, or what may be in gaps: ``modes[k]`` is level ``k`` of the ladder.

    There are several places where threads meet at a barrier, and where tests name points of one program.
    """

    places: tuple[SitePlace, ...]
    kind: OpKind
    modes: tuple[Mode | None, ...]
    ladder: Ladder

    def only(self, levels: Sequence[int]) -> SiteModes:
        """The choice of some levels, in ascending order, the first among them."""
        above = tuple(
            frozenset(k for k, level in enumerate(levels) if level in self.ladder.above[one]) for one in levels
        )
        costs = tuple(self.ladder.costs[level] for level in levels)
        return replace(self, modes=tuple(self.modes[level] for level in levels), ladder=Ladder(costs, above))

    @property
    def in_gaps(self) -> bool:
        """Whether it is of something that is not there yet."""
        return any(place.gap for place in self.places)


@dataclass(frozen=True, slots=True)
class Sites:
    """What may be changed in a test; ``atomic_types`` is that of its dialect."""

    test: LitmusTest
    choices: tuple[SiteModes, ...]
    atomic_types: bool = False

    def at(self, levels: Levels) -> LitmusTest:
        """The test with its sites at these levels."""
        return retold(changed(self.test, [(c, c.modes[level]) for c, level in zip(self.choices, levels, strict=True)]))

    @property
    def padded(self) -> LitmusTest:
        """The test with an instruction at each site; barriers have names of their own, so that each meets its own."""
        modes = [(c, next(mode for mode in c.modes if mode is not None)) for c in self.choices]
        return changed(self.test, modes, named=True)

    @property
    def ladders(self) -> list[Ladder]:
        """The levels of each site."""
        return [choice.ladder for choice in self.choices]

    @property
    def sites(self) -> list[Site]:
        """The sites, as instructions of the padded test."""
        gaps = [(place, number) for number, c in enumerate(self.choices) for place in c.places if place.gap]
        return [
            Site(
                tuple(self._position(place, number, gaps) for place in choice.places),
                choice.modes,
                any(self._fails_otherwise(place) for place in choice.places),
            )
            for number, choice in enumerate(self.choices)
        ]

    @property
    def requirements(self) -> list[Requirement]:
        """Which levels of sites go together."""
        return [*self._barriers_in_order(), *(self._of_one_type() if self.atomic_types else ())]

    def _barriers_in_order(self) -> Iterator[Requirement]:
        """Of two barriers that threads would come to in different orders, one is not there."""
        new = (each for each in enumerate(self.choices) if each[1].in_gaps and each[1].kind is OpKind.BARRIER)
        for (one, first), (other, second) in combinations(new, 2):
            if not all(left <= right for left, right in zip(first.places, second.places, strict=False)) and (
                {place.thread for place in first.places} == {place.thread for place in second.places}
            ):
                yield {one: frozenset({0}), other: frozenset({0})}

    def _of_one_type(self) -> Iterator[Requirement]:
        """If one access of a location is plain, all are: in C, ``*x`` is a seq_cst access where ``x`` is an
        ``atomic_int``. Accesses that the test has plain beside atomic ones, as herd reads them, may stay.
        """
        at = {place: number for number, choice in enumerate(self.choices) for place in choice.places}
        users: dict[str, list[SitePlace]] = {}
        accesses = [
            (SitePlace(number, index, False), names)
            for number, thread in enumerate(self.test.threads)
            for index, names in accessed(thread)
        ]
        every = {element_of(location.name)[0] for location in self.test.locations}
        for place, names in accesses:
            for name in sorted(every if names is None else names):
                users.setdefault(name, []).append(place)

        def modes(place: SitePlace) -> list[Mode]:
            mode = self._mode(place)
            ways = self.choices[at[place]].modes if place in at else (mode,)
            return [way for way in ways if way is not None]

        def levels(place: SitePlace, atomic: bool) -> Requirement:
            ways = enumerate(self.choices[at[place]].modes) if place in at else ()
            found = frozenset(level for level, mode in ways if mode is not None and is_atomic(mode) is atomic)
            return {at[place]: found} if found else {}

        for places in users.values():
            mixed = len({is_atomic(self._mode(place)) for place in places}) > 1
            for one, other in permutations(places, 2):
                stays = mixed and not is_atomic(self._mode(one))
                if stays or all(map(is_atomic, modes(one))) or not any(map(is_atomic, modes(other))):
                    continue
                if at.get(one, one) != at.get(other, other):
                    yield {**levels(one, True), **levels(other, False)}

    def _mode(self, place: SitePlace) -> Mode:
        """How the access at a place is done in the test as it is."""
        ins = self.test.threads[place.thread].instructions[place.at]
        assert isinstance(ins, Load | Store | Rmw)
        return ins.mode

    def written(self, choice: SiteModes) -> Mode | None:
        """How a choice is done in the test as it is; None: it is not."""
        ins = self.test.threads[choice.places[0].thread].instructions[choice.places[0].at]
        return None if choice.in_gaps or not isinstance(ins, Load | Store | Rmw | Fence | Barrier) else ins.mode

    def _position(self, place: SitePlace, number: int, gaps: Sequence[tuple[SitePlace, int]]) -> tuple[int, int]:
        thread = self.test.threads[place.thread]
        ins = thread.instructions[place.at]
        own = [(gap.at, other) for gap, other in gaps if gap.thread == place.thread]
        before = sum((at, other) < (place.at, number) if place.gap else at <= place.at for at, other in own)
        guarded = not place.gap and not isinstance(ins, Label) and ins.guard is not None
        lowered = unguarded(replace(thread, instructions=thread.instructions[: place.at]))
        return place.thread, before + len(lowered.instructions) + guarded

    def _fails_otherwise(self, place: SitePlace) -> bool:
        ins = self.test.threads[place.thread].instructions[place.at]
        return not place.gap and isinstance(ins, Rmw) and ins.failure is not None


def changed(test: LitmusTest, modes: Sequence[tuple[SiteModes, Mode | None]], named: bool = False) -> LitmusTest:
    """The test with some choices done in these ways; None: nothing is there. ``named``: new barriers have own names."""
    new: dict[SitePlace, list[Instruction]] = {}
    modes_at: dict[SitePlace, Mode | None] = {}
    for number, (choice, mode) in enumerate(modes):
        for place in choice.places:
            if not place.gap:
                modes_at[place] = mode
            elif mode is not None:
                fence = Fence(mode, sides=_sides(test.threads[place.thread], place.at) or ())
                barrier = Barrier(NAMES + number if named else 0, mode=mode)
                new.setdefault(place, []).append(fence if choice.kind is OpKind.FENCE else barrier)
    threads = []
    for number, thread in enumerate(test.threads):
        body: list[Instruction] = []
        for index, ins in enumerate(thread.instructions):
            here = SitePlace(number, index, False)
            body += new.get(SitePlace(number, index, True), [])
            mode = modes_at.get(here, PLAIN)
            body += [] if mode is None else [done(ins, mode) if here in modes_at else ins]
        threads.append(replace(thread, instructions=tuple(body)))
    return replace(test, threads=tuple(threads))


NAMES = 1000
"""New barriers are numbered from here on, while it is open which there are."""


def done(ins: Instruction, mode: Mode) -> Instruction:
    """An instruction that makes events, done in a way."""
    assert isinstance(ins, Load | Store | Rmw | Fence | Barrier)
    return replace(ins, mode=mode)


def at_place(test: LitmusTest, place: SitePlace, mode: Mode) -> LitmusTest:
    """The test with the instruction at a place done in another way."""
    threads = list(test.threads)
    body = threads[place.thread].instructions
    done_so = (*body[: place.at], done(body[place.at], mode), *body[place.at + 1 :])
    threads[place.thread] = replace(threads[place.thread], instructions=done_so)
    return retold(replace(test, threads=tuple(threads)))


def retold(test: LitmusTest) -> LitmusTest:
    """The test as a reader tells it: without failure orders and types that follow, and operands that do nothing."""
    threads = (
        replace(thread, instructions=sequenced(tuple(map(without_failure, thread.instructions))))
        for thread in test.threads
    )
    return as_accessed(replace(test, threads=tuple(threads)))


def without_failure(ins: Instruction) -> Instruction:
    """An exchange whose failure order follows from its order without it; any other instruction."""
    return replace(ins, failure=told_failure(ins.mode.order, ins.failure)) if isinstance(ins, Rmw) else ins


def sites_of(test: LitmusTest, dialect: Dialect, words: ModelVocabulary, cost: Cost, direction: Direction) -> Sites:
    """The sites of a test, in the order of its text. Fences go into gaps where it is to be stronger.

    Where it is to be weaker, barriers that meet are one site, and may be left out.
    """
    found: list[SiteModes] = []
    met = {place: places for places in met_barriers(test) for place in places if direction is Direction.WEAKER}
    for number, thread in enumerate(test.threads):
        for index, ins in enumerate(thread.instructions):
            if direction is Direction.STRONGER and _is_gap(thread, index):
                found.append(
                    _choice(
                        (SitePlace(number, index, True),), OpKind.FENCE, [None, *words.ways(OpKind.FENCE)], words, cost
                    )
                )
            here = SitePlace(number, index, False)
            places = met.get(here, (here,))
            if isinstance(ins, Load | Store | Rmw | Fence | Barrier) and here == places[0]:
                ways = [*_ways(ins, words, direction), *([None] * (here in met))]
                found.append(_choice(places, KINDS[type(ins)], ways, words, cost))
    if direction is Direction.STRONGER:
        ways = [None, *(mode for mode in words.ways(OpKind.BARRIER) if ARRIVE not in mode.tags)]
        found += [_choice(places, OpKind.BARRIER, ways, words, cost) for places in meetings(test)]
    said = (_said(test, choice, words, dialect, direction) for choice in found)
    return Sites(test, tuple(choice for choice in said if len(choice.modes) > 1), dialect.atomic_types)


def _said(
    test: LitmusTest, choice: SiteModes, words: ModelVocabulary, dialect: Dialect, direction: Direction
) -> SiteModes:
    """The choice of those levels that the dialect can say. Of those that are one to the model: of the one as written,
    else of the cheapest whose scope has all threads, or, to weaken, of the strongest.
    """
    written = Sites(test, (choice,)).written(choice)
    levels = [k for k, mode in enumerate(choice.modes) if is_said(retold(changed(test, [(choice, mode)])), dialect)]
    every, above, costs = common_scope(test), choice.ladder.above, choice.ladder.costs

    def rank(level: int) -> tuple[int, ...]:
        mode = choice.modes[level]
        if direction is Direction.WEAKER:
            return mode != written, -sum(level in each for each in above), level
        return mode != written, mode is not None and not has_all(mode, every), costs[level], level

    kept: dict[object, int] = {}
    for level in sorted(levels, key=rank):
        kept.setdefault(words.told(choice.kind, choice.modes[level]), level)
    return choice.only(sorted(kept.values()))


def common_scope(test: LitmusTest) -> Scope:
    """The narrowest scope that has all threads."""
    first, *others = (thread.place for thread in test.threads)
    return next(scope for scope in Scope if all(first.shares(place, scope) for place in others))


def has_all(mode: Mode, every: Scope) -> bool:
    """Whether the scope of a mode, if it names one, is one that has all threads, as ``every`` has."""
    return mode.scope is None or mode.scope.value <= every.value


MOST_MEETINGS = 256
"""Ways of a work-group to meet at one more barrier that are tried; beyond, none is."""


def meetings(test: LitmusTest) -> list[tuple[SitePlace, ...]]:
    """Where the threads of a work-group may meet at one more barrier: a gap of each, which it comes to once and in any
    case, behind equally many barriers; none where they do not have equally many. In the order of the text.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, thread in enumerate(test.threads):
        groups.setdefault(thread.place[: Scope.CTA.value], []).append(number)
    found: list[tuple[SitePlace, ...]] = []
    for threads in groups.values():
        gaps = [_certain_gaps(test.threads[number], number) for number in threads]
        ways = [
            tuple(place for place, _ in way) for way in product(*gaps) if len({barriers for _, barriers in way}) == 1
        ]
        barriers = {sum(isinstance(ins, Barrier) for ins in test.threads[number].instructions) for number in threads}
        found += ways if len(threads) > 1 and len(barriers) == 1 and len(ways) <= MOST_MEETINGS else []
    return found


def met_barriers(test: LitmusTest) -> list[tuple[SitePlace, ...]]:
    """The barriers that threads meet at, the first of each, the second, and so on, where they are the same in all
    threads of a group that have any, but for who waits, and these come to each once and in any case.
    """
    groups: dict[tuple[int, ...], dict[int, list[int]]] = {}
    for number, thread in enumerate(test.threads):
        for index, ins in enumerate(thread.instructions):
            if isinstance(ins, Barrier):
                groups.setdefault(thread.place[: ins.scope.value], {}).setdefault(number, []).append(index)
    found: list[tuple[SitePlace, ...]] = []
    for threads in groups.values():
        bodies = {number: test.threads[number].instructions for number in threads}
        certain = all(not _is_passed(bodies[number], index) for number, at in threads.items() for index in at)
        rows = [[SitePlace(number, index, False) for index in at] for number, at in threads.items()]
        columns = list(zip(*rows, strict=False))
        found += columns if certain and len({_told(bodies[number], at) for number, at in threads.items()}) == 1 else []
    return found


def _told(body: Sequence[Instruction], at: Sequence[int]) -> tuple[Instruction, ...]:
    """Barriers of a thread, but for whether it waits there."""
    return tuple(replace(ins, arrive=False) for ins in (body[index] for index in at) if isinstance(ins, Barrier))


def _is_passed(body: Sequence[Instruction], index: int) -> bool:
    """Whether a thread may come to an instruction not at all, or more than once."""
    ins = body[index]
    guarded = not isinstance(ins, Label) and ins.guard is not None
    return guarded or any(first < index <= last for first, last in _jumps(body))


def _jumps(body: Sequence[Instruction]) -> list[tuple[int, int]]:
    """From where to where there are jumps, either way, the earlier place first."""
    labels = {ins.name: index for index, ins in enumerate(body) if isinstance(ins, Label)}
    ends = ((index, labels[ins.label]) for index, ins in enumerate(body) if isinstance(ins, Branch))
    return [(min(pair), max(pair)) for pair in ends]


def _certain_gaps(thread: Thread, number: int) -> list[tuple[SitePlace, int]]:
    """The gaps of a thread that it comes to exactly once, with how many barriers are before them."""
    body = thread.instructions
    jumps = _jumps(body)
    return [
        (SitePlace(number, index, True), sum(isinstance(ins, Barrier) for ins in body[:index]))
        for index in range(len(body))
        if _is_gap(thread, index)
        and not _sides(thread, index)
        and not any(first < index <= last for first, last in jumps)
    ]


def in_common(several: Sequence[Sites]) -> list[Sites]:
    """The places that tests of one program have in common, each of them in its own test.

    What has a label before it goes by the label's name, in whichever thread; what has none by its place, where all
    tests have the same code. Raises ``InputError`` where there is nothing in common.
    """
    codes = {tuple(thread.instructions for thread in sites.test.threads) for sites in several}

    def point(test: LitmusTest, choice: SiteModes) -> object:
        place = choice.places[0]
        before = test.threads[place.thread].instructions[: place.at][-1:]
        if len(choice.places) == 1 and before and isinstance(before[0], Label):
            return before[0].name, place.gap, choice.kind
        return (choice.places, choice.kind) if len(codes) == 1 else None

    named: dict[object, list[list[SiteModes]]] = {}
    for number, sites in enumerate(several):
        for choice in sites.choices:
            key = point(sites.test, choice)
            if key is not None:
                named.setdefault(key, [[] for _ in several])[number].append(choice)
    shared: list[list[SiteModes]] = []
    for choices in named.values():
        every = [choice for each in choices for choice in each]
        kept = [mode for mode in every[0].modes if all(mode in choice.modes for choice in every)]
        if len(kept) < 2 or any(choice.modes[0] != every[0].modes[0] for choice in every):
            continue
        whole = every[0].only([every[0].modes.index(mode) for mode in kept])
        shared.append([replace(whole, places=tuple(p for c in each for p in c.places)) for each in choices])
    for number, sites in enumerate(several):
        if not any(row[number].places for row in shared):
            reason = "no place is in common with the other tests: name places by labels, or give tests of the same code"
            raise InputError(reason, sites.test.name)
    return [Sites(sites.test, tuple(row[n] for row in shared)) for n, sites in enumerate(several)]


def _is_gap(thread: Thread, index: int) -> bool:
    """Whether a fence before an instruction is of use: between accesses, and not behind what orders nothing."""
    body = thread.instructions
    accesses = [isinstance(ins, Load | Store | Rmw | Barrier) for ins in body]
    loops = any(isinstance(ins, Label) for ins in body)
    between = any(accesses[:index]) and any(accesses[index:])
    useful = (between or (loops and any(accesses))) and not (index and isinstance(body[index - 1], Assign))
    return useful and _sides(thread, index) is not None


def _sides(thread: Thread, index: int) -> tuple[int, ...] | None:
    """The operands of C's expressions that a fence before an instruction is in; None between two operands, which are in
    no order that it could stand in.
    """
    evaluated = [
        (at, sides_of(ins)) for at, ins in enumerate(thread.instructions) if isinstance(ins, Load | Store | Rmw | Fence)
    ]
    before = next((sides for at, sides in reversed(evaluated) if at < index), ())
    after = next((sides for at, sides in evaluated if at >= index), ())
    return None if unsequenced(before, after) else tuple(side for side in before if side in after)


def _ways(ins: Load | Store | Rmw | Fence | Barrier, words: ModelVocabulary, direction: Direction) -> list[Mode | None]:
    """How an instruction is done, first, and the other ways to do it in that direction."""
    kind = KINDS[type(ins)]
    ways = [mode for mode in words.ways(kind) if mode != ins.mode]
    if words.tells_types:
        ways = [mode for mode in ways if is_atomic(mode) is is_atomic(ins.mode)]
    if direction is Direction.STRONGER:
        return [ins.mode, *(mode for mode in ways if ins.mode in words.below(kind, mode))]
    return [
        ins.mode,
        *(mode for mode in ways if mode in words.below(kind, ins.mode)),
        *([None] * (kind is OpKind.FENCE)),
    ]


def is_said(test: LitmusTest, dialect: Dialect) -> bool:
    """Whether a dialect can say a test."""
    try:
        printed(test, dialect)
    except InputError:
        return False
    return True


class ModelVocabulary:
    """What a model is about, as tests say it, with the ways that are at most as strong as one.

    Orders that the model mentions in flags alone are left out: it does not speak of them. ``tells_types``: it tells
    locations that are atomic from others, and so what is plain stays so, and what is not.
    """

    def __init__(self, model: Model) -> None:
        """Raises ``InputError`` where the model mentions what no vocabulary has."""
        words = vocabulary(dialect_of([model]))
        silent = {name for name in ORDER_TAGS if model.mentions(name) and not model.checks_mention(name)}
        modes = {
            kind: tuple(said(mode) for mode in ways if not silent & frozenset().union(*mode_tags(kind, mode)))
            for kind, ways in words.modes.items()
        }
        self._words = replace(words, modes=modes)
        self.telling = telling([model], flags=True)
        self.tells_types = model.mentions("NAL")
        self._below: dict[tuple[OpKind, Mode], frozenset[Mode]] = {}

    def ways(self, kind: OpKind) -> tuple[Mode, ...]:
        """The ways to do an instruction of a kind."""
        return self._words.modes.get(kind, ())

    def told(self, kind: OpKind, mode: Mode | None) -> object:
        """What the model sees of a way to do an instruction; None where it is as if nothing were there."""
        return None if mode is None or not self.telling.reads(kind, mode) else self.telling.of(kind, mode)

    def below(self, kind: OpKind, mode: Mode) -> frozenset[Mode]:
        """The ways that are at most as strong as this one, itself among them."""
        if (kind, mode) not in self._below:
            words, steps = self._words, list[Mode]()
            if mode in self.ways(kind):
                narrower = words.narrower(kind, mode)
                steps += (*words.lower_orders(kind, mode), *words.less_memory(kind, mode))
                steps += [] if narrower is None else [narrower]
            self._below[kind, mode] = frozenset({mode}).union(*(self.below(kind, step) for step in steps))
        return self._below[kind, mode]

    def weaker(self, kind: OpKind, one: Mode | None, other: Mode | None) -> bool:
        """Whether one way is at most as strong as another; None, that there is nothing, is so."""
        return one is None or (other is not None and one in self.below(kind, other))


def _choice(
    places: tuple[SitePlace, ...], kind: OpKind, modes: Sequence[Mode | None], words: ModelVocabulary, cost: Cost
) -> SiteModes:
    """The levels of a site, the weakest first; each costs what it costs beyond the cheapest, at each place."""
    modes = tuple(sorted(modes, key=lambda mode: sum(words.weaker(kind, other, mode) for other in modes)))
    prices = [cost(kind, mode) for mode in modes]
    costs = tuple(len(places) * (price - min(prices)) for price in prices)
    above = tuple(frozenset(k for k, mode in enumerate(modes) if words.weaker(kind, one, mode)) for one in modes)
    return SiteModes(places, kind, modes, Ladder(costs, above))
