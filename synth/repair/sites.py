"""The sites where a litmus test may be changed, and the levels of each site. ``constraints.levels`` defines levels.

Sites are the accesses, fences and barriers of a test, each of which may have a stronger or weaker mode, and the gaps
between instructions, where there may be a fence. Modes are those of a vocabulary (``corpus.executions.vocabulary``)
that the test's dialect can say there. One mode is stronger than another where steps of relaxations
(``corpus.executions.relaxations``) lead from it to the other.

Of modes that a model does not tell apart (``atom.relaxed.cta`` and ``.gpu``, where it reads no scopes of atomics) one
is tried: the mode as written; else, of stronger ones the cheapest whose scope has all threads, and of weaker ones the
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
from corpus.executions.litmus import with_scope
from corpus.executions.vocabulary import vocabulary
from corpus.laws import ptx
from corpus.laws.c11 import explicit_failure
from corpus.litmus.flow import thread_flow
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Fence,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    is_asynchronous,
    sequenced,
    sides_of,
    unsequenced,
)
from corpus.litmus.locations import element_of
from corpus.litmus.orders import MBARRIER, PLAIN, Mode, Order, Scope, is_atomic
from corpus.litmus.test import LitmusTest, as_accessed
from corpus.litmus.text import Dialect
from corpus.litmus.threads import Thread, accessed, unguarded
from oracle.cat.interpreter import Model
from oracle.executions.vocabulary import dialect_of, mode_tags, telling

KINDS: Mapping[type[Instruction], OpKind] = {
    Load: OpKind.READ,
    Store: OpKind.WRITE,
    Rmw: OpKind.UPDATE,
    Fence: OpKind.FENCE,
    Barrier: OpKind.BARRIER,
}
"""The word of vocabularies for each type of instruction that makes events."""

ORDER_TAGS = ("RLX", "ACQ", "REL", "ACQ_REL", "SC")
"""The tags of instructions that have an order."""

Cost = Callable[[OpKind, Mode | None], int]
"""A function that returns the cost of an instruction of a kind in a mode; None: the instruction is not there."""


class SitePlace(NamedTuple):
    """The place of a site: its thread, and its instruction in the test as it is written.

    With ``gap``, it is the place before that instruction.
    """

    thread: int
    position: int
    gap: bool


class Direction(StrEnum):
    """The direction of a repair: modes of an instruction at least as strong as it is written, or at most as strong."""

    STRONGER = "stronger"
    WEAKER = "weaker"


@dataclass(frozen=True, slots=True)
class SiteModes:
    """The modes that instructions may have, or that fences in gaps may have: ``modes[k]`` is level ``k`` of the ladder.

    ``places`` has several places where threads meet at a barrier, and where tests name points of one program.
    """

    places: tuple[SitePlace, ...]
    kind: OpKind
    modes: tuple[Mode | None, ...]
    ladder: Ladder

    def only(self, levels: Sequence[int]) -> SiteModes:
        """Return this choice with some levels only, in ascending order, the first level among them."""
        above = tuple(
            frozenset(k for k, level in enumerate(levels) if level in self.ladder.above[one]) for one in levels
        )
        costs = tuple(self.ladder.costs[level] for level in levels)
        return replace(self, modes=tuple(self.modes[level] for level in levels), ladder=Ladder(costs, above))

    @property
    def padding(self) -> Mode:
        """Return the mode in which something is there while it is open which: of a wait at an mbarrier, an acquire."""
        modes = [mode for mode in self.modes if mode is not None]
        waits = self.kind is OpKind.READ and MBARRIER in modes[0].tags
        return next((mode for mode in modes if waits and mode.order is Order.ACQUIRE), modes[0])

    @property
    def in_gaps(self) -> bool:
        """Return whether the site is a gap, where the test has no instruction yet."""
        return any(place.gap for place in self.places)


@dataclass(frozen=True, slots=True)
class Sites:
    """The sites of a test; ``atomic_types`` is that of its dialect."""

    test: LitmusTest
    choices: tuple[SiteModes, ...]
    atomic_types: bool = False

    def with_levels(self, levels: Levels) -> LitmusTest:
        """Return the test with its sites at these levels."""
        return retold(changed(self.test, [(c, c.modes[level]) for c, level in zip(self.choices, levels, strict=True)]))

    @property
    def padded(self) -> LitmusTest:
        """Return the test with an instruction at each site; barriers have names of their own, so that each meets its
        own.
        """
        return changed(self.test, [(c, c.padding) for c in self.choices], named=True)

    @property
    def ladders(self) -> list[Ladder]:
        """Return the ladder of levels of each site, in the order of the sites."""
        return [choice.ladder for choice in self.choices]

    @property
    def sites(self) -> list[Site]:
        """Return the sites, as instructions of the padded test."""
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
        """Return the requirements between sites: which levels of different sites go together."""
        return [*self._barriers_in_order(), *(self._of_one_type() if self.atomic_types else ())]

    def _barriers_in_order(self) -> Iterator[Requirement]:
        """Yield requirements that leave out one of two barriers that threads would come to in different orders."""
        new = (choice for choice in enumerate(self.choices) if choice[1].in_gaps and choice[1].kind is OpKind.BARRIER)
        for (one, first), (other, second) in combinations(new, 2):
            if not all(left <= right for left, right in zip(first.places, second.places, strict=False)) and (
                {place.thread for place in first.places} == {place.thread for place in second.places}
            ):
                yield {one: frozenset({0}), other: frozenset({0})}

    def _of_one_type(self) -> Iterator[Requirement]:
        """Yield requirements that if one access of a location is plain, all are.

        In C, ``*x`` is a seq_cst access where ``x`` is an ``atomic_int``. Accesses that the test has plain beside
        atomic ones, as herd reads them, may stay.
        """
        choice_of = {place: number for number, choice in enumerate(self.choices) for place in choice.places}
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
            ways = self.choices[choice_of[place]].modes if place in choice_of else (mode,)
            return [way for way in ways if way is not None]

        def levels(place: SitePlace, atomic: bool) -> Requirement:
            ways = enumerate(self.choices[choice_of[place]].modes) if place in choice_of else ()
            found = frozenset(level for level, mode in ways if mode is not None and is_atomic(mode) is atomic)
            return {choice_of[place]: found} if found else {}

        for places in users.values():
            mixed = len({is_atomic(self._mode(place)) for place in places}) > 1
            for one, other in permutations(places, 2):
                stays = mixed and not is_atomic(self._mode(one))
                if stays or all(map(is_atomic, modes(one))) or not any(map(is_atomic, modes(other))):
                    continue
                if choice_of.get(one, one) != choice_of.get(other, other):
                    yield {**levels(one, True), **levels(other, False)}

    def _mode(self, place: SitePlace) -> Mode:
        """Return the mode of the access at a place in the test as it is written."""
        ins = self.test.threads[place.thread].instructions[place.position]
        assert isinstance(ins, Load | Store | Rmw)
        return ins.mode

    def written(self, choice: SiteModes) -> Mode | None:
        """Return the mode of a choice in the test as it is written; None: there is no instruction."""
        ins = self.test.threads[choice.places[0].thread].instructions[choice.places[0].position]
        return None if choice.in_gaps or not isinstance(ins, Load | Store | Rmw | Fence | Barrier) else ins.mode

    def _position(self, place: SitePlace, number: int, gaps: Sequence[tuple[SitePlace, int]]) -> tuple[int, int]:
        thread = self.test.threads[place.thread]
        ins = thread.instructions[place.position]
        own = [(gap.position, other) for gap, other in gaps if gap.thread == place.thread]
        here = place.position
        before = sum((index, other) < (here, number) if place.gap else index <= here for index, other in own)
        guarded = not place.gap and not isinstance(ins, Label) and ins.guard is not None
        lowered = unguarded(replace(thread, instructions=thread.instructions[: place.position]))
        return place.thread, before + len(lowered.instructions) + guarded

    def _fails_otherwise(self, place: SitePlace) -> bool:
        ins = self.test.threads[place.thread].instructions[place.position]
        return not place.gap and isinstance(ins, Rmw) and ins.failure is not None


def changed(test: LitmusTest, modes: Sequence[tuple[SiteModes, Mode | None]], named: bool = False) -> LitmusTest:
    """Return the test with some choices in these modes; None stands for no instruction.

    ``named``: new barriers have own names.
    """
    new: dict[SitePlace, list[Instruction]] = {}
    modes_at: dict[SitePlace, Mode | None] = {}
    for number, (choice, mode) in enumerate(modes):
        for place in choice.places:
            if not place.gap:
                modes_at[place] = mode
            elif mode is not None:
                fence = Fence(mode, sides=_sides(test.threads[place.thread], place.position) or ())
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
"""The number from which new barriers are named, while it is open which there are."""


def done(ins: Instruction, mode: Mode) -> Instruction:
    """Return an instruction that makes events, in another mode."""
    assert isinstance(ins, Load | Store | Rmw | Fence | Barrier)
    return replace(ins, mode=mode)


def at_place(test: LitmusTest, place: SitePlace, mode: Mode) -> LitmusTest:
    """Return the test with the instruction at a place in another mode."""
    threads = list(test.threads)
    body = threads[place.thread].instructions
    done_so = (*body[: place.position], done(body[place.position], mode), *body[place.position + 1 :])
    threads[place.thread] = replace(threads[place.thread], instructions=done_so)
    return retold(replace(test, threads=tuple(threads)))


def retold(test: LitmusTest) -> LitmusTest:
    """Return the test as a reader parses it: without failure orders and types that follow, and operands that do
    nothing.
    """
    threads = (
        replace(thread, instructions=sequenced(tuple(map(without_failure, thread.instructions))))
        for thread in test.threads
    )
    return as_accessed(replace(test, threads=tuple(threads)))


def without_failure(ins: Instruction) -> Instruction:
    """Return an exchange without a failure order that follows from its order, and any other instruction unchanged."""
    return replace(ins, failure=explicit_failure(ins.mode.order, ins.failure)) if isinstance(ins, Rmw) else ins


def sites_of(
    test: LitmusTest,
    dialect: Dialect,
    words: ModelVocabulary,
    cost: Cost,
    direction: Direction,
    ends: bool = False,
) -> Sites:
    """Return the sites of a test, in the order of its text; fences go into gaps where the test is to be stronger.

    Where the test is to be weaker, barriers that meet are one site, and may be left out. ``ends``: new barriers may
    stand before all accesses of a thread, and behind them.
    """
    found: list[SiteModes] = []
    fences = [None, *words.ways(OpKind.FENCE), *_proxy_fences(test)]
    met = {place: places for places in met_barriers(test) for place in places if direction is Direction.WEAKER}
    for number, thread in enumerate(test.threads):
        for index, ins in enumerate(thread.instructions):
            if direction is Direction.STRONGER and _is_gap(thread, index):
                found.append(_choice((SitePlace(number, index, True),), OpKind.FENCE, fences, words, cost))
            here = SitePlace(number, index, False)
            places = met.get(here, (here,))
            if isinstance(ins, Load | Store | Rmw | Fence | Barrier) and here == places[0]:
                ways = [*_ways(ins, words, direction), *([None] * (here in met))]
                found.append(_choice(places, KINDS[type(ins)], ways, words, cost))
    if direction is Direction.STRONGER:
        ways = [None, *(mode for mode in words.ways(OpKind.BARRIER) if ptx.ARRIVE not in mode.tags)]
        found += [_choice(places, OpKind.BARRIER, ways, words, cost) for places in meetings(test, ends)]
    choices = (_expressible(test, choice, words, dialect, direction) for choice in found)
    return Sites(test, tuple(choice for choice in choices if len(choice.modes) > 1), dialect.atomic_types)


def _expressible(
    test: LitmusTest, choice: SiteModes, words: ModelVocabulary, dialect: Dialect, direction: Direction
) -> SiteModes:
    """Return the choice with those levels that the dialect can say.

    Of levels that the model does not tell apart, it keeps one: the mode as written, else the cheapest whose scope has
    all threads, or, to weaken, the strongest.
    """
    written = Sites(test, (choice,)).written(choice)
    levels = [
        k for k, mode in enumerate(choice.modes) if is_expressible(retold(changed(test, [(choice, mode)])), dialect)
    ]
    every, above, costs = common_scope(test), choice.ladder.above, choice.ladder.costs

    def rank(level: int) -> tuple[int, ...]:
        mode = choice.modes[level]
        if direction is Direction.WEAKER:
            return mode != written, -sum(level in group for group in above), level
        return mode != written, mode is not None and not has_all(mode, every), costs[level], level

    kept: dict[object, int] = {}
    for level in sorted(levels, key=rank):
        kept.setdefault(words.meaning(choice.kind, choice.modes[level]), level)
    return choice.only(sorted(kept.values()))


def common_scope(test: LitmusTest) -> Scope:
    """Return the narrowest scope that has all threads."""
    first, *others = (thread.place for thread in test.threads)
    return next(scope for scope in Scope if all(first.shares(place, scope) for place in others))


def has_all(mode: Mode, every: Scope) -> bool:
    """Return whether the scope of a mode, if it names one, has all threads of the test; ``every`` is the narrowest
    scope that has them.
    """
    return mode.scope is None or mode.scope.value <= every.value


MOST_MEETINGS = 256
"""The most ways of a work-group to meet at one more barrier that are tried; where there are more, none is."""


def meetings(test: LitmusTest, ends: bool = False) -> list[tuple[SitePlace, ...]]:
    """Return where the threads of a work-group may meet at one more barrier, in the order of the text.

    Such a meeting is a gap of each thread that the thread comes to exactly once, behind equally many barriers; with
    ``ends``, it may be before or behind all accesses of a thread. There is none where the threads do not have equally
    many.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, thread in enumerate(test.threads):
        groups.setdefault(thread.place[: Scope.CTA.value], []).append(number)
    found: list[tuple[SitePlace, ...]] = []
    for threads in groups.values():
        gaps = [_certain_gaps(test.threads[number], number, ends) for number in threads]
        ways = [
            tuple(place for place, _ in way) for way in product(*gaps) if len({barriers for _, barriers in way}) == 1
        ]
        barriers = {sum(isinstance(ins, Barrier) for ins in test.threads[number].instructions) for number in threads}
        found += ways if len(threads) > 1 and len(barriers) == 1 and len(ways) <= MOST_MEETINGS else []
    return found


def met_barriers(test: LitmusTest) -> list[tuple[SitePlace, ...]]:
    """Return the barriers that threads meet at: the first of each thread, the second, and so on.

    They have to be alike in all threads of a group that have any, except for which threads wait, and these threads come
    to each exactly once.
    """
    groups: dict[tuple[int, ...], dict[int, list[int]]] = {}
    for number, thread in enumerate(test.threads):
        for index, ins in enumerate(thread.instructions):
            if isinstance(ins, Barrier):
                groups.setdefault(thread.place[: ins.scope.value], {}).setdefault(number, []).append(index)
    found: list[tuple[SitePlace, ...]] = []
    for threads in groups.values():
        certain = all(
            not _is_passed(test.threads[number], index) for number, indices in threads.items() for index in indices
        )
        rows = [[SitePlace(number, index, False) for index in indices] for number, indices in threads.items()]
        columns = list(zip(*rows, strict=False))
        alike = len({_barriers(test.threads[number], indices) for number, indices in threads.items()}) == 1
        found += columns if certain and alike else []
    return found


def _barriers(thread: Thread, indices: Sequence[int]) -> tuple[Instruction, ...]:
    """Return the barriers of a thread at some places, without whether the thread waits there."""
    code = (thread.instructions[index] for index in indices)
    return tuple(replace(ins, arrive=False) for ins in code if isinstance(ins, Barrier))


def _is_passed(thread: Thread, index: int) -> bool:
    """Return whether a thread may come to an instruction not at all, or more than once."""
    ins = thread.instructions[index]
    guarded = not isinstance(ins, Label) and ins.guard is not None
    return guarded or _is_jumped(thread, index)


def _is_jumped(thread: Thread, index: int) -> bool:
    """Return whether a jump, forward or back, leads across the gap before an instruction."""
    return any(min(jump) < index <= max(jump) for jump in thread_flow(thread).jumps)


def _certain_gaps(thread: Thread, number: int, ends: bool) -> list[tuple[SitePlace, int]]:
    """Return the gaps of a thread that it comes to exactly once, with how many barriers are before them."""
    body = thread.instructions
    return [
        (SitePlace(number, index, True), sum(isinstance(ins, Barrier) for ins in body[:index]))
        for index in range(len(body))
        if (ends or _is_gap(thread, index)) and not _sides(thread, index) and not _is_jumped(thread, index)
    ]


def in_common(several: Sequence[Sites]) -> list[Sites]:
    """Return the places that tests of one program have in common, each of them in its own test.

    A place with a label before it is known by the label's name, in whichever thread; a place without one by its
    position, where all tests have equal code. Raises ``InputError`` where no place is in common.
    """
    codes = {tuple(thread.instructions for thread in sites.test.threads) for sites in several}

    def point(test: LitmusTest, choice: SiteModes) -> object:
        place = choice.places[0]
        before = test.threads[place.thread].instructions[: place.position][-1:]
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
        every = [choice for of_test in choices for choice in of_test]
        kept = [mode for mode in every[0].modes if all(mode in choice.modes for choice in every)]
        if len(kept) < 2 or any(choice.modes[0] != every[0].modes[0] for choice in every):
            continue
        whole = every[0].only([every[0].modes.index(mode) for mode in kept])
        shared.append([replace(whole, places=tuple(p for c in choice for p in c.places)) for choice in choices])
    for number, sites in enumerate(several):
        if not any(row[number].places for row in shared):
            reason = "no place is in common with the other tests: name places by labels, or give tests of the same code"
            raise InputError(reason, sites.test.name)
    return [Sites(sites.test, tuple(row[n] for row in shared)) for n, sites in enumerate(several)]


_Ordering = Load | Store | Rmw | Barrier | AsyncOperation | AsyncGroup


def _proxy_fences(test: LitmusTest) -> list[Mode]:
    """Return the fences of the async proxy that are of use in a test, of all state spaces."""
    instructions = test.instructions
    through = any(isinstance(ins, AsyncOperation) and "async" in ins.mode.tags for ins in instructions)
    return [ptx.PROXY_FENCES[ptx.ASYNC_FENCE]] if through else []


def _is_gap(thread: Thread, index: int) -> bool:
    """Return whether a fence before an instruction is of use: between accesses, and not behind what orders nothing."""
    body = thread.instructions
    accesses = [isinstance(ins, _Ordering) for ins in body]
    loops = any(isinstance(ins, Label) for ins in body)
    between = any(accesses[:index]) and any(accesses[index:])
    useful = (between or (loops and any(accesses))) and not (index and isinstance(body[index - 1], Assign))
    return useful and _sides(thread, index) is not None


def _sides(thread: Thread, index: int) -> tuple[int, ...] | None:
    """Return the operands of C's expressions that a fence before an instruction is in.

    None where it is between two operands, which are in no order that a fence could stand in.
    """
    evaluated = [
        (number, sides_of(ins))
        for number, ins in enumerate(thread.instructions)
        if isinstance(ins, Load | Store | Rmw | Fence)
    ]
    before = next((sides for number, sides in reversed(evaluated) if number < index), ())
    after = next((sides for number, sides in evaluated if number >= index), ())
    return None if unsequenced(before, after) else tuple(side for side in before if side in after)


def _ways(
    ins: Load | Store | Rmw | Fence | Barrier,
    words: ModelVocabulary,
    direction: Direction,
) -> list[Mode | None]:
    """Return the modes of an instruction: its own mode first, and the other modes in that direction."""
    kind = KINDS[type(ins)]
    ways = [mode for mode in _modes(ins, words) if mode != ins.mode]
    if words.tells_types:
        ways = [mode for mode in ways if is_atomic(mode) is is_atomic(ins.mode)]
    if direction is Direction.STRONGER:
        return [ins.mode, *(mode for mode in ways if ins.mode in words.below(kind, mode))]
    return [
        ins.mode,
        *(mode for mode in ways if mode in words.below(kind, ins.mode)),
        *([None] * (kind is OpKind.FENCE)),
    ]


def _modes(ins: Load | Store | Rmw | Fence | Barrier, words: ModelVocabulary) -> tuple[Mode, ...]:
    """Return the modes that an instruction of this kind may have. Only arrivals at mbarriers, and waits, have several
    of those done to an mbarrier.
    """
    match ins:
        case Load(phase=phase) if phase is not None:
            return ptx.mbarrier_modes(ptx.WAITS)
        case Rmw(target=target) if is_asynchronous(ins):
            return (ins.mode,) if target is None else ptx.mbarrier_modes(ptx.ARRIVALS)
        case Store() if is_asynchronous(ins):
            return (ins.mode,)
        case Fence(mode) if "async" in mode.tags:
            return (mode, ptx.PROXY_FENCES[ptx.ASYNC_FENCE], *ptx.weaker(mode))
    return words.ways(KINDS[type(ins)])


def is_expressible(test: LitmusTest, dialect: Dialect) -> bool:
    """Return whether a dialect can say a test."""
    try:
        printed(test, dialect)
    except InputError:
        return False
    return True


class ModelVocabulary:
    """The vocabulary of a model in the terms of tests, with the modes that are at most as strong as one.

    Orders that the model mentions in flags alone are left out: it does not speak of them. ``tells_types``: the model
    tells atomic locations from others, so that plain accesses stay plain, and atomic ones atomic.
    """

    def __init__(self, model: Model) -> None:
        """Find the vocabulary of a model. Raises ``InputError`` where the model mentions what no vocabulary has."""
        name = dialect_of([model])
        words = vocabulary("ptx-proxies" if name == "ptx-async" else name)  # the rest is in _modes and _proxy_fences
        silent = {name for name in ORDER_TAGS if model.mentions(name) and not model.checks_mention(name)}
        modes = {
            kind: tuple(with_scope(mode) for mode in ways if not silent & frozenset().union(*mode_tags(kind, mode)))
            for kind, ways in words.modes.items()
        }
        self._words = replace(words, modes=modes)
        self.telling = telling([model], flags=True)
        self.tells_types = model.mentions("NAL")
        self._below: dict[tuple[OpKind, Mode], frozenset[Mode]] = {}

    def ways(self, kind: OpKind) -> tuple[Mode, ...]:
        """Return the modes of an instruction of a kind."""
        return self._words.modes.get(kind, ())

    def meaning(self, kind: OpKind, mode: Mode | None) -> object:
        """Return what the model sees of a mode; None where the instruction might as well be absent."""
        return None if mode is None or not self.telling.reads(kind, mode) else self.telling.of(kind, mode)

    def below(self, kind: OpKind, mode: Mode) -> frozenset[Mode]:
        """Return the modes that are at most as strong as this one, itself among them."""
        if (kind, mode) not in self._below:
            words, steps = self._words, [*ptx.weaker(mode)]
            if mode in self.ways(kind):
                narrower = words.narrower(kind, mode)
                steps += (*words.lower_orders(kind, mode), *words.less_memory(kind, mode))
                steps += [] if narrower is None else [narrower]
            self._below[kind, mode] = frozenset({mode}).union(*(self.below(kind, step) for step in steps))
        return self._below[kind, mode]

    def weaker(self, kind: OpKind, one: Mode | None, other: Mode | None) -> bool:
        """Return whether one mode is at most as strong as another; None, that is, no instruction, is the weakest."""
        return one is None or (other is not None and one in self.below(kind, other))


def _choice(
    places: tuple[SitePlace, ...], kind: OpKind, modes: Sequence[Mode | None], words: ModelVocabulary, cost: Cost
) -> SiteModes:
    """Return the levels of a site, the weakest first, each with its cost beyond the cheapest, at each place."""
    modes = tuple(sorted(modes, key=lambda mode: sum(words.weaker(kind, other, mode) for other in modes)))
    prices = [cost(kind, mode) for mode in modes]
    costs = tuple(len(places) * (price - min(prices)) for price in prices)
    above = tuple(frozenset(k for k, mode in enumerate(modes) if words.weaker(kind, one, mode)) for one in modes)
    return SiteModes(places, kind, modes, Ladder(costs, above))
