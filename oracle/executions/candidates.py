"""The candidate executions of a litmus test, in batches: all that take one path through each thread at once.

A candidate chooses a write for every read, a coherence order for every location and, where a model asks, orders of
other events (``oracle.executions.orders``). Choices are the digits of a number in a mixed radix, and a truth is the set
of numbers for which it holds, the bits of an integer. Values are found by sets of candidates as well: each read has a
map from values to the candidates in which it reads them, grown from the writes until nothing changes. A read that is
then without a value in some candidates takes part in a cycle of justification. For those candidates one such read
guesses its value, and must then read it.

Coherence starts with the initial write. It is total over the writes to a location, or, for models that ask, any strict
partial order. Then the final value of a location is that of any write without a successor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import combinations, permutations, product
from math import factorial, prod
from typing import Any, TypeVar

from corpus.errors import InputError
from corpus.graphs import reachable
from corpus.litmus.locations import Loc, physical
from corpus.litmus.orders import Place
from corpus.litmus.propositions import FinalRegister, Proposition, Term
from corpus.litmus.test import LitmusTest, plain_locations
from oracle.cat.algebra import Algebra, Relation, among, bits
from oracle.cat.interpreter import Model
from oracle.executions.barriers import BarrierRendezvous, meetings
from oracle.executions.domains import read_domains, value_of
from oracle.executions.events import (
    ASYNCHRONOUS,
    INITIAL,
    OBJECT,
    Event,
    EventKind,
    ExecutionChoices,
    Expression,
    ProgramBase,
    initial_tags,
    phase_ends,
    reads_in,
)
from oracle.executions.flow import asked_locations, asked_terms
from oracle.executions.orders import Pairs, orders_of, to_order
from oracle.executions.steps import NO_GROUP_OPERATIONS, Constraint, Key, TooManyError
from oracle.executions.threads import Path, Paths
from oracle.executions.valuations import Valuation, add, compared, evaluate, satisfied
from oracle.executions.values import Value

MOST_CANDIDATES = 1 << 16
"""The limit of candidates judged at once; more are judged in parts."""

FEW_CANDIDATES = 1 << 11
"""The number of candidates up to which picking out some is quicker than numbering them anew."""

MANY_OF = 16
"""The ratio up to which one in so many candidates is picked out sooner than they are numbered anew, whatever their
number."""

MOST_LISTED = 1 << 22
"""The limit of candidates of one path through each thread; with more, a test is for a solver."""

MOST_COMBINATIONS = 1 << 16
"""The limit of ways to take one path through each thread; with more, a test is for a solver."""

MOST_WRITES = 5
"""The limit of writes to a location whose partial orders are listed: five writes have 4231 orders, six 130023."""

T = TypeVar("T")


Outcome = tuple[tuple[Term, Value], ...]
"""Final values, each with the term that it is the value of."""


@dataclass(frozen=True)
class CandidateBatch:
    """Candidates of one path through each thread. ``valid``: those whose values fit; ``finals``: the final values.

    ``only`` makes the base of some of them, which it may number anew. ``programs``: the candidates of each program,
    where several are judged together, else all.
    """

    only: Callable[[int], ProgramBase[int]]
    every: Callable[[], ProgramBase[int]]
    algebra: Algebra[int]
    valid: int
    values: Mapping[Key, Valuation[int]]
    finals: Mapping[Term, Valuation[int]]
    programs: Sequence[int]

    @cached_property
    def base(self) -> ProgramBase[int]:
        """The base of the valid candidates, over which models are evaluated."""
        return self.every()

    def satisfying(self, proposition: Proposition) -> int:
        """The valid candidates whose final state satisfies a proposition."""
        return self.valid & satisfied(proposition, self.finals, self.algebra)

    def outcomes(self, among: int, terms: Sequence[Term]) -> set[Outcome]:
        """The final values of some terms in some of the candidates."""
        parts: list[tuple[int, Outcome]] = [(among, ())]
        for term in terms:
            parts = [
                (mask & where, (*known, (term, value)))
                for mask, known in parts
                for value, where in self.finals[term].items()
                if mask & where
            ]
        return {known for mask, known in parts if mask}


def physical_location(test: LitmusTest, term: Loc) -> str:
    """The location whose memory a term of a condition refers to."""
    return physical({location.name: location for location in test.locations}, term.name)


def silence(test: LitmusTest, model: Model) -> str | None:
    """The reason why a model says nothing of a test: operations of a subgroup, which no execution has, or asynchronous
    ones, which it does not speak of."""
    if any(thread.has_group_operations for thread in test.threads):
        return NO_GROUP_OPERATIONS
    if model.mentions(ASYNCHRONOUS) or not any(thread.has_operations for thread in test.threads):
        return None
    return f"{model.name} does not speak of asynchronous operations"


def check_speaks(test: LitmusTest, model: Model) -> None:
    """Raises ``InputError`` where a model says nothing of a test."""
    reason = silence(test, model)
    if reason is not None:
        raise InputError(reason, test.name)


@dataclass(frozen=True, slots=True)
class Excluded:
    """Choices that are not of interest: a read that reads from a write, a write that comes before another in ``co``."""

    rf: Callable[[Event, Event], bool]
    co: Callable[[Event, Event], bool]


NOTHING_EXCLUDED = Excluded(lambda write, read: False, lambda one, other: False)


def candidates(
    test: LitmusTest,
    threads: Sequence[Paths],
    model: Model,
    worth_guessing: Callable[[ProgramBase[int]], int] | None = None,
    excluded: Excluded = NOTHING_EXCLUDED,
    for_ever: bool = False,
    alike: Sequence[Sequence[Paths]] = (),
) -> Iterator[CandidateBatch]:
    """All candidate executions of a test, in batches, made as they are asked for.

    The model says what is chosen: whether coherence is any partial order, and which other orders executions have.
    ``worth_guessing``: the candidates for which values out of thin air are guessed, all unless it is given. Choices in
    ``excluded`` are left out. ``for_ever``: threads that stay at a barrier may do so whoever goes through there.
    ``alike``: the ways through the threads of several tests of one shape (``oracle.executions.shapes``), the first of
    which is this test; then a batch has the candidates of each of them. Raises ``TooManyError`` where there are too
    many to list, and ``InputError`` as ``check_speaks`` does.
    """
    check_speaks(test, model)
    combinations_of_paths = prod(len(thread.paths) for thread in threads)
    if combinations_of_paths > MOST_COMBINATIONS:
        raise TooManyError(f"{combinations_of_paths} combinations of paths through the threads are too many to list")
    for ways in product(*(range(len(thread.paths)) for thread in threads)):
        programs = [
            tuple(thread.paths[way] for thread, way in zip(members, ways, strict=True))
            for members in alike or [threads]
        ]
        yield from _Combination(test, programs, model, excluded, for_ever).batches(worth_guessing)


def count_candidates(test: LitmusTest, threads: Sequence[Paths], model: Model, most: int) -> int | None:
    """The approximate number of candidates, guessed values apart; None where there are more than ``most``.

    Paths of a thread count alike if they have equally many reads and writes of each location, and equally many events
    that are ordered. So this takes at most a step for each combination of such kinds of paths, and at most ``most``.
    """
    places = tuple(thread.place for thread in test.threads)
    kinds = [Counter(_kind(path, model, places) for path in thread.paths) for thread in threads]
    if prod(map(len, kinds)) > most:
        return None
    total = 0
    for kind in product(*(counted.items() for counted in kinds)):
        accesses = Counter[tuple[EventKind, str]]()
        for of_thread, _ in kind:
            accesses.update(dict(of_thread))
        count = prod(paths for _, paths in kind)
        for (what, location), number in accesses.items():
            if what is EventKind.READ:
                count *= (accesses[EventKind.WRITE, location] + 1) ** number
            elif what is EventKind.WRITE:
                count *= _orders(number) if model.partial_co else factorial(number)
            else:
                count *= factorial(number)
        total += count
        if total > most:
            return None
    return total


def _kind(path: Path, model: Model, places: Sequence[Place]) -> frozenset[tuple[tuple[EventKind, str], int]]:
    """How many reads and writes of each location a path has, and events that an order is chosen of."""
    counted = Counter((event.kind, event.location or "") for event in path.events if event.location is not None)
    if model.chooses_orders:
        for name, pairs in to_order(model, _unchosen(path.events, places)).items():
            counted[EventKind.FENCE, name] = max(1, len({event for pair in pairs for event in pair}))
    return frozenset(counted.items())


def _unchosen(events: Sequence[Event], places: Sequence[Place]) -> ProgramBase[int]:
    """The base of some events of which nothing is chosen yet."""
    algebra = bits(1, len(events))
    return ProgramBase(algebra, events, places, ExecutionChoices(algebra.empty(), algebra.empty()))


def _orders(size: int) -> int:
    """How many strict partial orders there are; beyond ``MOST_WRITES``, no fewer than this."""
    return (1, 1, 3, 19, 219, 4231)[size] if size <= MOST_WRITES else 1 << (size * size // 4)


class _Combination:
    """One path through each thread, in each of some programs that differ in memory orders alone."""

    def __init__(
        self,
        test: LitmusTest,
        programs: Sequence[tuple[Path, ...]],
        model: Model,
        excluded: Excluded,
        for_ever: bool,
    ) -> None:
        paths = programs[0]
        self._test = test
        self._excluded = excluded
        self._paths = paths
        self._programs = programs
        self._places = tuple(thread.place for thread in test.threads)
        self._terms = asked_terms(test)
        self._events = execution_events(test, [event for path in paths for event in path.events])
        self._reads = [index for index, event in enumerate(self._events) if event.kind is EventKind.READ]
        self._writes: dict[str, list[int]] = {}
        for index, event in enumerate(self._events):
            if event.kind is EventKind.WRITE and event.location is not None:
                self._writes.setdefault(event.location, []).append(index)
        self._has_objects = any(OBJECT in event.tags for event in self._events)
        observed = {physical_location(test, term) for term in asked_locations(test)}
        pairs = to_order(model, _unchosen(self._events, self._places)) if model.chooses_orders else {}
        self._ordered = tuple(pairs)
        self._options = _Options(
            tuple(map(self._sources, self._reads)),
            tuple(
                self._coherence(found, model.partial_co and not self._is_object(found), name in observed)
                for name, found in self._writes.items()
            ),
            tuple(tuple(orders_of(ordered, name)) for name, ordered in pairs.items()),
            meetings(test, self._events, for_ever),
            len(programs),
        )

    def _sources(self, read: int) -> tuple[int, ...]:
        event, excluded = self._events[read], self._excluded.rf
        return tuple(write for write in self._writes[event.location or ""] if not excluded(self._events[write], event))

    def _is_object(self, writes: Sequence[int]) -> bool:
        """Whether the writes are all to an mbarrier, whose coherence is total under every model."""
        return all(self._events[write].tags & {OBJECT, "IW"} for write in writes)

    def _coherence(self, writes: list[int], partial: bool, observed: bool) -> tuple[Coherence, ...]:
        excluded = {
            (one, other)
            for (one, first), (other, second) in permutations(enumerate(writes), 2)
            if self._excluded.co(self._events[first], self._events[second])
        }
        return tuple(
            Coherence(frozenset((writes[one], writes[other]) for one, other in order.pairs), writes[order.final])
            for order in coherence_orders(len(writes), partial, observed)
            if not order.pairs & excluded
        )

    def batches(self, worth_guessing: Callable[[ProgramBase[int]], int] | None) -> Iterator[CandidateBatch]:
        if not self._options.count():  # some barrier lets nobody through
            return
        if self._options.count() > MOST_LISTED:
            raise TooManyError(f"{self._options.count()} candidate executions are too many to list")
        for options in self._options.parts():
            yield from self._batches(options.table(), worth_guessing)

    def _batches(
        self, table: _Table, worth_guessing: Callable[[ProgramBase[int]], int] | None
    ) -> Iterator[CandidateBatch]:
        algebra = bits(table.count, len(self._events))
        values, computed = self._values(table, algebra)
        valid = algebra.true
        undefined = [read for read in self._reads if valid & ~_any(values[self._events[read].key].values())]
        if undefined:
            known = valid
            for read in undefined:
                known &= _any(values[self._events[read].key].values())
            circular = valid & ~known
            for read in undefined:  # what an mbarrier holds comes from somewhere, under every model
                if OBJECT in self._events[read].tags:
                    circular &= _any(values[self._events[read].key].values())
            if worth_guessing is not None:
                circular &= worth_guessing(self._base(table, algebra, circular))
            if circular:
                guesser = self._events[self._circular(undefined)].key
                domain = read_domains(self._test, self._paths)[guesser]
                for part in table.guessing(circular, guesser, domain):
                    yield from self._batches(part, worth_guessing)
            valid = known
        for key, guess in table.guessed.items():
            valid &= compared("eq", guess, computed[key], algebra)

        def held(constraint: Constraint) -> int:
            left, right = (evaluate(side, values, algebra) for side in (constraint.left, constraint.right))
            return compared(constraint.operation, left, right, algebra)

        for path in self._paths:
            for constraint in path.constraints:
                valid &= held(constraint)
        for way, mask in table.meetings:
            for constraint in way.constraints:
                valid &= ~mask | held(constraint)
        if valid:
            yield self._batch(table, algebra, values, valid)

    def _values(
        self, table: _Table, algebra: Algebra[int]
    ) -> tuple[dict[Key, Valuation[int]], dict[Key, Valuation[int]]]:
        """The values that each read reads, guesses believed; and those that it would read by its sources."""
        values: dict[Key, Valuation[int]] = {self._events[read].key: {} for read in self._reads} | dict(table.guessed)
        while True:
            computed: dict[Key, Valuation[int]] = {}
            for read, sources in zip(self._reads, table.rf, strict=True):
                masks: dict[Value, int] = {}
                for write, chosen in sources:
                    for value, mask in evaluate(self._events[write].value, values, algebra).items():
                        add(masks, value, mask & chosen)
                computed[self._events[read].key] = masks
            new = computed | dict(table.guessed)
            if new == values:
                return values, computed
            values = new

    def _circular(self, undefined: Sequence[int]) -> int:
        """A read among the undefined ones whose value may hang on itself."""
        writers = {
            self._events[read].key: frozenset[Key]().union(
                *(reads_in(self._events[write].value) for write in self._writes[self._events[read].location or ""])
            )
            for read in undefined
        }
        for read in undefined:
            start = self._events[read].key
            if start in reachable(writers[start] & writers.keys(), lambda key: writers[key] & writers.keys()):
                return read
        return undefined[0]

    def _base(self, table: _Table, algebra: Algebra[int], valid: int) -> ProgramBase[int]:
        """The base of the given candidates, over which models are evaluated."""
        size = len(self._events)
        rf: list[dict[int, int]] = [{} for _ in range(size)]
        for read, sources in zip(self._reads, table.rf, strict=True):
            for write, mask in sources:
                if mask & valid:
                    rf[write][read] = mask & valid
        co: list[dict[int, int]] = [{} for _ in range(size)]
        for orders in table.co:
            for order, mask in orders:
                _add_pairs(co, order.pairs, mask & valid)
        ordered: dict[str, Relation[int]] = {}
        for name, chosen in zip(self._ordered, table.orders, strict=True):
            rows: list[dict[int, int]] = [{} for _ in range(size)]
            for pairs, mask in chosen:
                _add_pairs(rows, pairs, mask & valid)
            ordered[name] = tuple(rows)
        meet: list[dict[int, int]] = [{} for _ in range(size)]
        for way, mask in table.meetings:
            _add_pairs(meet, way.pairs, mask & valid)
        values = self._values(table, algebra)[0] if self._has_objects else {}

        def held(left: Expression, right: Expression) -> int:
            one, other = (evaluate(side, values, algebra) for side in (left, right))
            return compared("eq", one, other, algebra) & valid

        completes = phase_ends(self._events, held)
        choices = ExecutionChoices(tuple(rf), tuple(co), ordered, tuple(meet), completes)
        in_sets = self._orders(table, algebra) if len(self._programs) > 1 else ()
        return ProgramBase(algebra, self._events, self._places, choices, self._test.synchronised, in_sets)

    def _orders(self, table: _Table, algebra: Algebra[int]) -> Sequence[Mapping[frozenset[str], int]]:
        """The memory orders of each event, and the candidates in whose program it has them."""
        own = len(self._events) - sum(len(path.events) for path in self._paths)
        found: list[dict[frozenset[str], int]] = [{event.tags: algebra.true} for event in self._events[:own]]
        found += [{} for _ in self._events[own:]]
        for program, mask in table.programs:
            event = own
            for path in self._programs[program]:
                for tags in path.tags:
                    masks = found[event]
                    masks[tags] = masks.get(tags, 0) | mask
                    event += 1
        return found

    def _batch(
        self, table: _Table, algebra: Algebra[int], values: Mapping[Key, Valuation[int]], valid: int
    ) -> CandidateBatch:
        memory: dict[str, dict[Value, int]] = {}
        for location, orders in zip(self._writes, table.co, strict=True):
            finals: dict[int, int] = {}
            for order, mask in orders:
                finals[order.final] = finals.get(order.final, 0) | mask
            memory[location] = {}
            for write, mask in finals.items():
                for value, where in evaluate(self._events[write].value, values, algebra).items():
                    add(memory[location], value, mask & where)
        final: dict[Term, Valuation[int]] = {}
        for term in self._terms:
            if isinstance(term, FinalRegister):
                final[term] = evaluate(self._paths[term.thread].registers.get(term.register, 0), values, algebra)
            elif isinstance(term, Loc):
                final[term] = memory[physical_location(self._test, term)]

        def only(some: int) -> ProgramBase[int]:
            if table.count <= max(FEW_CANDIDATES, MANY_OF * some.bit_count()):
                return self._base(table, among(some, len(self._events)), some)
            kept = table.keeping(some)
            chosen = bits(kept.count, len(self._events))
            return self._base(kept, chosen, chosen.true)

        known = dict(table.programs)
        programs = [known.get(program, 0) for program in range(len(self._programs))]
        return CandidateBatch(only, partial(self._base, table, algebra, valid), algebra, valid, values, final, programs)


def execution_events(test: LitmusTest, events: Sequence[Event]) -> tuple[Event, ...]:
    """The events of an execution: the initial writes of the locations that events or the condition mention, and the
    events."""
    used = {event.location for event in events} | {physical_location(test, term) for term in asked_locations(test)}
    plain = plain_locations(test)
    initial = [
        Event(
            (INITIAL, number),
            INITIAL,
            EventKind.WRITE,
            initial_tags(location.region, location.name in plain),
            location=location.name,
            virtual=location.name,
            value=value_of(location.initial),
        )
        for number, location in enumerate(test.locations)
        if location.name in used
    ]
    return (*initial, *sorted(events, key=lambda event: event.key))


def _any(masks: Iterable[int]) -> int:
    total = 0
    for mask in masks:
        total |= mask
    return total


def _add_pairs(rows: list[dict[int, int]], pairs: Pairs, mask: int) -> None:
    if mask:
        for one, other in pairs:
            rows[one][other] = rows[one].get(other, 0) | mask


@dataclass(frozen=True, slots=True)
class Coherence:
    """One coherence order of the writes to a location, transitive, and the write whose value is final."""

    pairs: Pairs
    final: int


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of a candidate: a write for each read, an order for each location, further orders, who meets at
    barriers, and one of several programs."""

    rf: tuple[tuple[int, ...], ...]
    co: tuple[tuple[Coherence, ...], ...]
    orders: tuple[tuple[Pairs, ...], ...]
    meetings: tuple[BarrierRendezvous, ...]
    programs: int

    def count(self) -> int:
        """The number of candidates that the options make."""
        return prod(map(len, (*self.rf, *self.co, *self.orders, self.meetings)), start=self.programs)

    def parts(self) -> Iterator[_Options]:
        """These options in parts of at most ``MOST_CANDIDATES``."""
        if self.count() <= MOST_CANDIDATES:
            yield self
            return
        for name in ("rf", "co", "orders"):
            choices: tuple[tuple[Any, ...], ...] = getattr(self, name)
            for digit, options in enumerate(choices):
                if len(options) > 1:
                    for option in options:
                        part = (*choices[:digit], (option,), *choices[digit + 1 :])
                        changed: dict[str, Any] = {name: part}
                        yield from replace(self, **changed).parts()
                    return
        for way in self.meetings:
            yield replace(self, meetings=(way,))

    def table(self) -> _Table:
        """All candidates, numbered in a mixed radix: the source of the first read is the lowest digit."""
        count = self.count()
        stride = 1

        def digit(options: Sequence[T]) -> tuple[tuple[T, int], ...]:
            nonlocal stride
            width = stride * len(options)
            block = _repeated((1 << stride) - 1, width, count // width)
            low, stride = stride, width
            return tuple((option, block << (choice * low)) for choice, option in enumerate(options))

        rf, co = tuple(map(digit, self.rf)), tuple(map(digit, self.co))
        orders, meetings = tuple(map(digit, self.orders)), digit(self.meetings)
        return _Table(count, rf, co, orders, meetings, digit(range(self.programs)), {})


@dataclass(frozen=True, slots=True)
class _Table:
    """Candidates, bits 0 to ``count - 1``, and what they choose: each option with the candidates that take it.

    ``guessed``: the reads that guess their value.
    """

    count: int
    rf: tuple[tuple[tuple[int, int], ...], ...]
    co: tuple[tuple[tuple[Coherence, int], ...], ...]
    orders: tuple[tuple[tuple[Pairs, int], ...], ...]
    meetings: tuple[tuple[BarrierRendezvous, int], ...]
    programs: tuple[tuple[int, int], ...]
    guessed: Mapping[Key, Mapping[Value, int]]

    def guessing(self, among: int, read: Key, domain: Sequence[Value]) -> Iterator[_Table]:
        """The candidates that are ``among`` the given ones, each with each value that the read may guess; in parts."""
        most = max(1, MOST_CANDIDATES // len(domain))
        kept = self.keeping(among)
        for start in range(0, kept.count, most):
            width = min(most, kept.count - start)
            yield kept._part(start, width)._guessed(read, domain)

    def keeping(self, some: int) -> _Table:
        """The table of some of the candidates, which are numbered anew."""
        if some.bit_count() == 1:
            return self._with(1, lambda mask: 1 if mask & some else 0)
        members = [candidate for candidate, member in enumerate(_bits(some, self.count)) if member == "1"]
        return self._with(len(members), lambda mask: _chosen(_bits(mask, self.count), members))

    def _part(self, start: int, width: int) -> _Table:
        return self._with(width, lambda mask: mask >> start & ((1 << width) - 1))

    def _guessed(self, read: Key, domain: Sequence[Value]) -> _Table:
        width, times = self.count, len(domain)
        table = self._with(width * times, lambda mask: _repeated(mask, width, times))
        guess = {value: ((1 << width) - 1) << (number * width) for number, value in enumerate(domain)}
        return replace(table, guessed={**table.guessed, read: guess})

    def _with(self, count: int, change: Callable[[int], int]) -> _Table:
        """The table over other candidates; ``change`` says which of them are those of a mask."""

        def options(taken: tuple[tuple[T, int], ...]) -> tuple[tuple[T, int], ...]:
            return tuple((option, new) for option, mask in taken if (new := change(mask)))

        guessed = {key: {value: change(mask) for value, mask in masks.items()} for key, masks in self.guessed.items()}
        rf, co = tuple(map(options, self.rf)), tuple(map(options, self.co))
        orders, meetings = tuple(map(options, self.orders)), options(self.meetings)
        return _Table(count, rf, co, orders, meetings, options(self.programs), guessed)


def _chosen(text: str, members: Sequence[int]) -> int:
    """The mask of some characters of a text of bits."""
    return int("".join(text[member] for member in reversed(members)), 2)


def _bits(mask: int, width: int) -> str:
    """The bits of a mask, the lowest first."""
    return format(mask, f"0{width}b")[::-1]


def _repeated(mask: int, width: int, times: int) -> int:
    """A mask of ``width`` bits, so many times."""
    return mask * (((1 << (width * times)) - 1) // ((1 << width) - 1))


@cache
def coherence_orders(writes: int, partial: bool, observed: bool) -> tuple[Coherence, ...]:
    """The coherence orders of a number of writes, of which 0 is the initial one and comes first.

    Partial orders are given once for each write that may be final where the final value is asked for. Raises
    ``TooManyError`` where there are too many.
    """
    if writes - 1 > (MOST_WRITES if partial else MOST_WRITES + 2):
        raise TooManyError(f"{writes - 1} writes to a location are too many to list their orders")
    initial = {(0, write) for write in range(1, writes)}
    if not partial:
        return tuple(
            Coherence(frozenset(initial | set(combinations(order, 2))), order[-1] if order else 0)
            for order in permutations(range(1, writes))
        )
    orders = []
    for order in _partial_orders(writes - 1):
        pairs = frozenset(initial | {(one + 1, other + 1) for one, other in order})
        last = [write for write in range(writes) if all(one != write for one, _ in pairs)]
        orders += [Coherence(pairs, final) for final in (last if observed else last[:1])]
    return tuple(orders)


@cache
def _partial_orders(size: int) -> tuple[Pairs, ...]:
    """All strict partial orders of ``range(size)``: 1, 1, 3, 19, 219, 4231, .. (OEIS A001035).

    The last element goes into each order of the others, above a down-set and below an up-set that lies above it.
    """
    if size == 0:
        return (frozenset(),)
    new = size - 1
    orders = []
    for order in _partial_orders(new):
        for where in product((-1, 0, 1), repeat=new):  # below the new element, beside it, above it
            below = {element for element in range(new) if where[element] < 0}
            above = {element for element in range(new) if where[element] > 0}
            closed = all(
                (other not in below or one in below) and (one not in above or other in above) for one, other in order
            )
            if closed and all((one, other) in order for one in below for other in above):
                orders.append(order | {(one, new) for one in below} | {(new, other) for other in above})
    return tuple(orders)
