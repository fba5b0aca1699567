"""Candidate executions, all those that take one path through each thread at once.

A candidate chooses a write for every read, a coherence order for every location and, where a model asks, an order of the
``fence.sc``. Choices are the digits of a number in a mixed radix, and a truth is the set of numbers for which it holds,
the bits of an integer. Values are found the same way: to each read belongs a map from values to the candidates in which
it reads them, grown from the writes until nothing changes. Reads that are then without a value in some candidates take
part in a circle of justification; for those candidates one such read guesses its value, and must then read it.

Coherence starts with the initial write. It is total over the writes to a location, or, for models that ask, any strict
partial order. Then the final value of a location is that of any write without a successor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, permutations, product
from math import prod

from corpus.errors import InputError
from corpus.litmus import (
    And,
    Atom,
    FinalRegister,
    LitmusTest,
    Loc,
    Not,
    Or,
    Proposition,
    Term,
    atoms,
    propositions,
)
from oracle.domains import read_domains, value_of
from oracle.events import (
    INITIAL,
    Apply,
    Base,
    Choices,
    Event,
    Expression,
    Kind,
    Read,
    initial_tags,
    sync_fence_pairs,
)
from oracle.relations import bits
from oracle.threads import Key, Path, Paths
from oracle.values import Value, calculate

MOST_CANDIDATES = 1 << 16
"""Candidates judged at once; more are judged in parts."""

MOST_WRITES = 5
"""Writes to a location whose partial orders are listed; 4231 orders of five writes, 130023 of six."""

MOST_FENCES = 6
"""``fence.sc`` whose orders are listed."""

Pairs = frozenset[tuple[int, int]]
Masks = Mapping[Value, int]


@dataclass(frozen=True, slots=True)
class Batch:
    """Candidates of one path through each thread. ``valid``: those whose values fit; ``finals``: the final values."""

    base: Base[int]
    valid: int
    values: Mapping[Key, Masks]
    finals: Mapping[Term, Masks]

    def satisfying(self, proposition: Proposition) -> int:
        """The valid candidates whose final state satisfies the proposition."""
        return self.valid & self._mask(proposition)

    def _mask(self, proposition: Proposition) -> int:
        every = self.base.algebra.true
        match proposition:
            case Atom(operation, left, right):
                return _compared(operation, self._term(left), self._term(right))
            case Not(body):
                return every ^ self._mask(body)
            case And(parts):
                mask = every
                for part in parts:
                    mask &= self._mask(part)
                return mask
            case Or(parts):
                mask = 0
                for part in parts:
                    mask |= self._mask(part)
                return mask

    def _term(self, term: Term) -> Masks:
        return {term: self.base.algebra.true} if isinstance(term, int) else self.finals[term]


def asked_terms(test: LitmusTest) -> tuple[Term, ...]:
    """The registers and locations whose final values the condition asks for, in the order of their mention."""
    named = [
        term
        for proposition in propositions(test.condition)
        for atom in atoms(proposition)
        for term in (atom.left, atom.right)
        if not isinstance(term, int)
    ]
    return tuple(dict.fromkeys((*named, *(term for term in test.condition.observed if not isinstance(term, int)))))


def candidates(test: LitmusTest, threads: Sequence[Paths], partial_co: bool, fence_orders: bool) -> Iterator[Batch]:
    """All candidate executions of a test, in batches.

    ``partial_co``: coherence is any partial order; ``fence_orders``: each order of the ``fence.sc`` is a candidate of its
    own. Raises ``InputError`` where there are too many orders or values to list.
    """
    for paths in product(*(thread.paths for thread in threads)):
        yield from _Combination(test, paths, partial_co, fence_orders).batches()


class _Combination:
    """One path through each thread."""

    def __init__(self, test: LitmusTest, paths: tuple[Path, ...], partial_co: bool, fence_orders: bool) -> None:
        self._test = test
        self._paths = paths
        self._places = tuple(thread.place for thread in test.threads)
        self._terms = asked_terms(test)
        self._events = execution_events(test, [event for path in paths for event in path.events])
        self._reads = [index for index, event in enumerate(self._events) if event.kind is Kind.READ]
        self._writes: dict[str, list[int]] = {}
        for index, event in enumerate(self._events):
            if event.kind is Kind.WRITE and event.location is not None:
                self._writes.setdefault(event.location, []).append(index)
        asked = {term.name for term in self._terms if isinstance(term, Loc)}
        fences = sync_fence_pairs(self._events, self._places) if fence_orders else []
        self._options = _Options(
            tuple(tuple(self._writes[self._events[read].location or ""]) for read in self._reads),
            tuple(self._coherence(found, partial_co, name in asked) for name, found in self._writes.items()),
            tuple(fence_sc_orders(fences)),
        )

    def _coherence(self, writes: list[int], partial: bool, asked: bool) -> tuple[Coherence, ...]:
        try:
            orders = coherence_orders(len(writes), partial, asked)
        except InputError as error:
            raise InputError(error.message, self._test.name) from None
        return tuple(
            Coherence(frozenset((writes[one], writes[other]) for one, other in order.pairs), writes[order.final])
            for order in orders
        )

    def batches(self) -> Iterator[Batch]:
        for options in self._options.parts():
            yield from self._batches(options, (), None)

    def _batches(
        self, options: _Options, guesses: tuple[tuple[int, tuple[Value, ...]], ...], among: int | None
    ) -> Iterator[Batch]:
        """The candidates of these options and, for the reads among ``guesses``, of these values.

        ``among``: only those candidates of the batch without the last guess.
        """
        numbering = _Numbering([*options.radices(), *(len(values) for _, values in guesses)])
        every = numbering.every
        valid = every if among is None else numbering.repeated(among, len(guesses[-1][1]))
        sources = [
            {write: numbering.mask(digit, choice) for choice, write in enumerate(writes)}
            for digit, writes in enumerate(options.rf)
        ]
        first_guess = len(options.radices())
        guessed = {
            self._events[read].key: {value: numbering.mask(first_guess + number, c) for c, value in enumerate(values)}
            for number, (read, values) in enumerate(guesses)
        }
        values, computed = self._values(sources, guessed, every)
        undefined = 0
        for read in self._reads:
            missing = valid & ~_any(values[self._events[read].key].values())
            if missing and not undefined:
                domain = read_domains(self._test, self._paths)[self._events[read].key]
                first = (read, domain)
            undefined |= missing
        if undefined:
            yield from self._batches(options, (*guesses, first), undefined)
            valid &= ~undefined
        for key, masks in guessed.items():
            valid &= _compared("eq", masks, computed[key])
        for path in self._paths:
            for constraint in path.constraints:
                left, right = (evaluate(side, values, every) for side in (constraint.left, constraint.right))
                valid &= _compared(constraint.operation, left, right)
        if valid:
            yield self._batch(options, numbering, sources, values, valid)

    def _values(
        self, sources: Sequence[Mapping[int, int]], guessed: Mapping[Key, Masks], every: int
    ) -> tuple[dict[Key, Masks], dict[Key, Masks]]:
        """What each read reads, guesses believed; and what it would read by its sources."""
        values: dict[Key, Masks] = {self._events[read].key: {} for read in self._reads} | dict(guessed)
        while True:
            computed: dict[Key, Masks] = {}
            for read, writes in zip(self._reads, sources, strict=True):
                masks: dict[Value, int] = {}
                for write, chosen in writes.items():
                    for value, mask in evaluate(self._events[write].value, values, every).items():
                        if mask & chosen:
                            masks[value] = masks.get(value, 0) | mask & chosen
                computed[self._events[read].key] = masks
            new = computed | dict(guessed)
            if new == values:
                return values, computed
            values = new

    def _batch(
        self,
        options: _Options,
        numbering: _Numbering,
        sources: Sequence[Mapping[int, int]],
        values: Mapping[Key, Masks],
        valid: int,
    ) -> Batch:
        size, every = len(self._events), numbering.every
        rf: list[dict[int, int]] = [{} for _ in range(size)]
        for read, writes in zip(self._reads, sources, strict=True):
            for write, mask in writes.items():
                if mask & valid:
                    rf[write][read] = mask & valid
        co: list[dict[int, int]] = [{} for _ in range(size)]
        memory: dict[str, dict[Value, int]] = {}
        for digit, (location, orders) in enumerate(zip(self._writes, options.co, strict=True), start=len(options.rf)):
            finals: dict[int, int] = {}
            for choice, order in enumerate(orders):
                mask = numbering.mask(digit, choice)
                _add_pairs(co, order.pairs, mask & valid)
                finals[order.final] = finals.get(order.final, 0) | mask
            memory[location] = {}
            for write, mask in finals.items():
                for value, where in evaluate(self._events[write].value, values, every).items():
                    memory[location][value] = memory[location].get(value, 0) | mask & where
        sync_fence: list[dict[int, int]] = [{} for _ in range(size)]
        for choice, pairs in enumerate(options.fences):
            _add_pairs(sync_fence, pairs, numbering.mask(len(options.rf) + len(options.co), choice) & valid)
        choices = Choices(tuple(rf), tuple(co), tuple(sync_fence))
        algebra = bits(numbering.count, size)
        return Batch(
            Base(algebra, self._events, self._places, choices), valid, values, self._finals(memory, values, every)
        )

    def _finals(self, memory: Mapping[str, Masks], values: Mapping[Key, Masks], every: int) -> dict[Term, Masks]:
        finals: dict[Term, Masks] = {}
        for term in self._terms:
            if isinstance(term, FinalRegister):
                finals[term] = evaluate(self._paths[term.thread].registers.get(term.register, 0), values, every)
            elif isinstance(term, Loc):
                finals[term] = memory[term.name]
        return finals


def execution_events(test: LitmusTest, events: Sequence[Event]) -> tuple[Event, ...]:
    """The initial writes of the locations that the events or the condition mention, and the events."""
    used = {event.location for event in events} | {term.name for term in asked_terms(test) if isinstance(term, Loc)}
    initial = [
        Event(
            (INITIAL, number),
            INITIAL,
            Kind.WRITE,
            initial_tags(location.region),
            location=location.name,
            value=value_of(location.initial),
        )
        for number, location in enumerate(test.locations)
        if location.name in used
    ]
    return (*initial, *sorted(events, key=lambda event: event.key))


def evaluate(expression: Expression, values: Mapping[Key, Masks], every: int) -> Masks:
    """For each value of an expression, the candidates in which it has that value; none where it has no meaning."""
    match expression:
        case Read(key):
            return values[key]
        case Apply(operation, left, right):
            masks: dict[Value, int] = {}
            others = evaluate(right, values, every)
            for one, mask in evaluate(left, values, every).items():
                for other, where in others.items():
                    value = calculate(operation, one, other) if mask & where else None
                    if value is not None:
                        masks[value] = masks.get(value, 0) | mask & where
            return masks
        case _:
            return {expression: every}


def _compared(operation: str, left: Masks, right: Masks) -> int:
    mask = 0
    for one, where in left.items():
        for other, there in right.items():
            if where & there and calculate(operation, one, other) == 1:
                mask |= where & there
    return mask


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
    """One order of the writes to a location, transitive, and the write whose value is final."""

    pairs: Pairs
    final: int


@dataclass(frozen=True, slots=True)
class _Options:
    """What is chosen: a write for each read, an order for each location, an order of the fences."""

    rf: tuple[tuple[int, ...], ...]
    co: tuple[tuple[Coherence, ...], ...]
    fences: tuple[Pairs, ...]

    def radices(self) -> list[int]:
        return [*map(len, self.rf), *map(len, self.co), len(self.fences)]

    def parts(self) -> Iterator[_Options]:
        """These options in parts of at most ``MOST_CANDIDATES``; the sources of reads are taken apart."""
        if prod(self.radices()) <= MOST_CANDIDATES:
            yield self
            return
        for name in ("rf", "co"):
            choices = getattr(self, name)
            for digit, options in enumerate(choices):
                if len(options) > 1:
                    for option in options:
                        part = (*choices[:digit], (option,), *choices[digit + 1 :])
                        yield from replace(self, **{name: part}).parts()
                    return
        for order in self.fences:
            yield replace(self, fences=(order,))


class _Numbering:
    """Candidates numbered in a mixed radix, the first digit the lowest."""

    def __init__(self, radices: Sequence[int]) -> None:
        self._radices = radices
        self._strides = [prod(radices[:digit]) for digit in range(len(radices))]
        self.count = prod(radices)
        self.every = (1 << self.count) - 1

    def mask(self, digit: int, choice: int) -> int:
        """The candidates with that digit."""
        stride, radix = self._strides[digit], self._radices[digit]
        block = ((1 << stride) - 1) << (choice * stride)
        return self.repeated(block, self.count // (stride * radix), stride * radix)

    def repeated(self, mask: int, times: int, width: int | None = None) -> int:
        """A mask of ``width`` candidates (by default, of all but the highest digit) for each value above it."""
        width = self.count // times if width is None else width
        return mask * (((1 << (width * times)) - 1) // ((1 << width) - 1))


@cache
def coherence_orders(writes: int, partial: bool, asked: bool) -> tuple[Coherence, ...]:
    """The coherence orders of that many writes, of which 0 is the initial one and comes first.

    Partial orders are given once for each write that may be final where the final value is asked for. Raises
    ``InputError`` where there are too many.
    """
    if writes - 1 > (MOST_WRITES if partial else MOST_WRITES + 2):
        raise InputError(f"{writes - 1} writes to a location are too many to list their orders; use --method sat")
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
        orders += [Coherence(pairs, final) for final in (last if asked else last[:1])]
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


def fence_sc_orders(pairs: Sequence[tuple[int, int]]) -> list[Pairs]:
    """The orders of ``fence.sc``: each of the pairs one way or the other, without a cycle, closed under transitivity."""
    found: dict[Pairs, None] = {}
    fences = sorted({fence for pair in pairs for fence in pair})
    if len(fences) > MOST_FENCES:
        raise InputError(f"{len(fences)} fence.sc are too many to list their orders; use --method sat")
    for order in permutations(fences):
        rank = {fence: number for number, fence in enumerate(order)}
        directed = {(one, other) if rank[one] < rank[other] else (other, one) for one, other in pairs}
        while more := {(a, d) for a, b in directed for c, d in directed if b == c} - directed:
            directed |= more
        found[frozenset(directed)] = None
    return list(found)
