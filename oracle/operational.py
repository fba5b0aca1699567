"""The two operational models of GPU memory of Sorensen 2013 (chapter 4), explored to the last state.

``thesis-weak`` (section 4.2): each thread has its own copy of memory, borrows values from others, and loads pass each
other in its load pool. ``thesis-strong`` (section 4.3, Fig. 4.2): each block has one copy of global and of shared
memory, with one flag a location; there is no load pool and nothing to borrow. For the strong model the thesis lists no
rules. They are read here as those of the weak one with blocks for threads: a store is seen in its block when it leaves
its queue, and by the other blocks once the block has shared the location, at any time or at latest by the TF of one of
its threads; TFB orders a thread's queues and does nothing more.

``membar.cta`` is TFB, ``membar.gl`` and ``membar.sys`` are TF. Cache operators and ``volatile`` are as nothing; what
else the thesis does not speak of is refused as ``UnmodelledError``. A block is a CTA, all threads are on one device.

Slips of the listing, read as what they must mean: ``GlobalShared`` is the flag GS, ``.S`` is LS; the closing "mark as
merged" of a fence sets flags of every location; ``lp_not_locking`` tells a global address from an equal shared one; a
shared location's guard ``!B`` for sharing is what Table 4.1 says of every copy that is to be shared.

*Final memory*, of which the thesis does not speak, is what one more thread, alone in its block (for shared memory: in
that block), has as its copy once all threads are done and nothing is left to share. All copies that are not borrowed
agree with it; a borrowed one may be stale for ever, where what was borrowed has been overwritten before it was shared.

The thesis calls the strong model strictly stronger. By the listing that is so for tests of two threads, of one block
and of one thread a block, but not beyond (``tests/differential/test_operational.py`` has the smallest difference that
we know): within a block the weak model passes a value on by one borrowing, TFB, or sharing with the whole device, and
the strong one at every store.

Reductions, each of which keeps the set of final states:

- A location's copies that no step to come can tell apart are one (``LocationAutomaton.forget``).
- Steps are taken at once where they are *quiet*: nobody else can see them, they never become less or more than they
  are now, so that any run may be reordered to do them first, and any run to the end does them. Quiet are a store to a
  location that nobody will load again; a load from one that is never to change again; and a fence of a holder that has
  nothing to share: only its own stores could change that, which wait for the fence, or in the strong model those of
  its block, which may be shared singly and at the same time.
- A TF with something to share waits: what it does is to share, and sharing is a step of its own that is always there.
- Once all is fired, registers that have their values keep them, and the rest can always be done: where no final memory
  is asked for, that is an end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from corpus.errors import InputError
from corpus.litmus import (
    FinalRegister,
    LitmusTest,
    Loc,
    Location,
    Proposition,
    Region,
    Scope,
    Term,
    atoms,
    operands,
    propositions,
)
from oracle.operational_memory import LocationAutomaton, Status
from oracle.operational_thread import CUT, FenceStep, LoadStep, Step, StoreStep, ThreadAutomaton, UnmodelledError
from oracle.values import Address, Value, holds

__all__ = ["MODELS", "Outcomes", "StateLimitError", "UnmodelledError", "explore", "satisfies", "witness"]

MODELS = {"thesis-weak": False, "thesis-strong": True}
"""The models by name; the value is the argument ``strong``."""

MOST_STATES = 1_000_000
"""Where an exploration gives up, unless told otherwise."""

Final = tuple[Value, ...]
"""A final state: a value for each of ``Outcomes.terms``."""


class StateLimitError(InputError):
    """A test with more states than the limit: there is no verdict."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The final states of a test.

    ``terms`` is what its condition speaks of and observes: registers by thread and name, then locations by name.
    ``bounded``: a run was cut at a loop, and there may be more final states. ``states`` is how many were explored.
    """

    terms: tuple[FinalRegister | Loc, ...]
    finals: frozenset[Final]
    bounded: bool
    states: int


def satisfies(terms: tuple[FinalRegister | Loc, ...], final: Final, proposition: Proposition) -> bool:
    """Whether a proposition over ``terms`` is true in a final state."""
    values: dict[Term, Value] = dict(zip(terms, final, strict=True))
    return holds(proposition, lambda term: term if isinstance(term, int) else values[term])


def explore(test: LitmusTest, strong: bool, unroll: int = 2, limit: int = MOST_STATES) -> Outcomes:
    """All final states of a test under ``thesis-strong`` or ``thesis-weak``.

    Each backward jump is taken at most ``unroll`` times. Raises ``UnmodelledError`` and ``StateLimitError``.
    """
    system = _System(test, strong, unroll)
    finals = set()
    seen = set(system.start())
    todo = list(seen)
    while todo:
        state = todo.pop()
        final = system.final(state)
        if final is not None:
            finals.add(final)
            continue
        for step in system.steps(state):
            after = system.after(state, step)
            if after is not None and after not in seen:
                seen.add(after)
                todo.append(after)
        _check_limit(test, len(seen), limit)
    return Outcomes(system.terms, frozenset(finals), system.cut, len(seen))


def witness(
    test: LitmusTest, strong: bool, proposition: Proposition, unroll: int = 2, limit: int = MOST_STATES
) -> tuple[str, ...] | None:
    """A shortest run to a final state in which the proposition is true, a line a step; None where there is none.

    The proposition may speak of what the test's condition speaks of. Raises as ``explore`` does.
    """
    system = _System(test, strong, unroll)
    before: dict[_State, tuple[_State, _Do | _Share] | None] = dict.fromkeys(system.start())
    todo = deque(before)
    while todo:
        state = todo.popleft()
        final = system.final(state)
        if final is not None:
            if satisfies(system.terms, final, proposition):
                steps = []
                while (last := before[state]) is not None:
                    state, step = last
                    steps.append(step)
                return tuple(system.told(reversed(steps)))
            continue
        for step in system.steps(state):
            after = system.after(state, step)
            if after is not None and after not in before:
                before[after] = (state, step)
                todo.append(after)
        _check_limit(test, len(before), limit)
    return None


def _check_limit(test: LitmusTest, states: int, limit: int) -> None:
    if states > limit:
        raise StateLimitError(f"{test.name} has more than {limit} states in the operational model")


class _State(NamedTuple):
    """The number of each thread's state, and of each location's."""

    threads: tuple[int, ...]
    locations: tuple[int, ...]


class _Do(NamedTuple):
    """A thread does what is at ``place`` in its queue; a load in one of its ways."""

    thread: int
    place: int
    step: Step
    way: int = 0


class _Share(NamedTuple):
    """A holder shares a location."""

    location: int
    holder: int


class _Outlook(NamedTuple):
    """What may yet come, given the states of the threads.

    ``watching``: for each location a bit for each holder that may yet look at it. ``stores``: a bit for each location
    that may yet be stored to. ``settled`` and ``ended``: every thread is.
    """

    watching: tuple[int, ...]
    stores: int
    settled: bool
    ended: bool


class _System:
    """The transition system of a test. Locations are numbered as in the test, holders for each location anew."""

    def __init__(self, test: LitmusTest, strong: bool, unroll: int) -> None:
        self.terms = _terms(test)
        self.cut = False
        """Whether a loop was cut so far."""

        self._strong = strong
        self._names = [location.name for location in test.locations]
        places = [thread.place[: Scope.CTA.value] for thread in test.threads]
        if len({place[: Scope.GPU.value] for place in places}) > 1:
            raise UnmodelledError(f"{test.name}: Sorensen 2013 models threads of one device only")
        groups = sorted(set(places))
        blocks = [groups.index(place) for place in places]
        owners = [_owner(test, location, blocks) for location in test.locations]
        self._threads = []
        for number, thread in enumerate(test.threads):
            near = {
                name: at
                for at, (name, owner) in enumerate(zip(self._names, owners, strict=True))
                if owner in (None, blocks[number])
            }
            observed = frozenset(
                term.register for term in self.terms if isinstance(term, FinalRegister) and term.thread == number
            )
            self._threads.append(ThreadAutomaton(number, thread, near, observed, strong, unroll))
        self._locations = []
        self._holders: list[dict[int, int]] = []  # for each location: thread -> its holder
        self._observers: list[int | None] = []
        for at, (location, owner) in enumerate(zip(test.locations, owners, strict=True)):
            users = [number for number, thread in enumerate(self._threads) if thread.accesses >> at & 1]
            keys = [blocks[number] if strong else number for number in users]
            ranks = {key: rank for rank, key in enumerate(dict.fromkeys(keys))}
            holders = {number: ranks[key] for number, key in zip(users, keys, strict=True)}
            of = [0] * len(ranks)
            for number, holder in holders.items():
                of[holder] = blocks[number]
            observed_here = Loc(location.name) in self.terms
            self._holders.append(holders)
            self._observers.append(len(of) if observed_here else None)
            if observed_here:
                of.append(len(groups) if owner is None else owner)
            initial = location.initial
            value = Address(initial.name) if isinstance(initial, Loc) else initial
            self._locations.append(LocationAutomaton(of, value, not strong))
        self._outlooks: dict[tuple[int, ...], _Outlook] = {}

    def start(self) -> list[_State]:
        """The first state; none where a thread is stuck or cut before it begins."""
        state = self._settled([thread.start for thread in self._threads], [where.start for where in self._locations])
        return [] if state is None else [state]

    def steps(self, state: _State) -> Iterator[_Do | _Share]:
        """All that may be done next."""
        for number, own in enumerate(state.threads):
            for place, step in self._threads[number].view(own).steps:
                match step:
                    case LoadStep(at):
                        ways = self._locations[at].load(state.locations[at], self._holders[at][number])
                        for way in range(len(ways)):
                            yield _Do(number, place, step, way)
                    case StoreStep():
                        yield _Do(number, place, step)
                    case FenceStep(block):
                        if block:
                            yield _Do(number, place, step)
        for at, where in enumerate(self._locations):
            for holder in where.pending(state.locations[at]):
                yield _Share(at, holder)

    def after(self, state: _State, step: _Do | _Share, log: Callable[[str], None] | None = None) -> _State | None:
        """The state after a step and all that is quiet after it; None where the run has no end."""
        threads, locations = list(state.threads), list(state.locations)
        self._take(threads, locations, step)
        return self._settled(threads, locations, log)

    def final(self, state: _State) -> Final | None:
        """The final state that this one is, or is bound to become; None where steps to come decide."""
        outlook = self._outlook(state.threads)
        if not outlook.settled:
            return None
        values: list[Value] = []
        for term in self.terms:
            if isinstance(term, FinalRegister):
                values.append(self._threads[term.thread].register(state.threads[term.thread], term.register))
                continue
            at = self._names.index(term.name)
            where, own = self._locations[at], state.locations[at]
            observer = self._observers[at]
            if not outlook.ended or where.pending(own) or observer is None:
                return None
            values.append(where.copies(own)[observer].value)
        return tuple(values)

    def told(self, steps: Iterator[_Do | _Share]) -> Iterator[str]:
        """A run in words."""
        lines: list[str] = []
        threads = [thread.start for thread in self._threads]
        locations = [where.start for where in self._locations]
        state = self._settled(threads, locations, lines.append)
        for step in steps:
            assert state is not None
            lines.append(self._sentence(list(state.threads), list(state.locations), step))
            state = self.after(state, step, lines.append)
        yield from lines
        if state is not None and not self._outlook(state.threads).ended:
            yield "the queues drain"

    def _outlook(self, threads: tuple[int, ...]) -> _Outlook:
        known = self._outlooks.get(threads)
        if known is not None:
            return known
        views = [self._threads[number].view(own) for number, own in enumerate(threads)]
        watching = []
        for at, holders in enumerate(self._holders):
            observer = self._observers[at]
            mask = 0 if observer is None else 1 << observer
            for number, holder in holders.items():
                if views[number].loads >> at & 1:
                    mask |= 1 << holder
            watching.append(mask)
        stores = 0
        for view in views:
            stores |= view.stores
        ended = all(view.ended for view in views)
        outlook = _Outlook(tuple(watching), stores, all(view.settled for view in views), ended)
        self._outlooks[threads] = outlook
        return outlook

    def _settled(
        self, threads: list[int], locations: list[int], log: Callable[[str], None] | None = None
    ) -> _State | None:
        """The state after all quiet steps."""
        while True:
            if CUT in threads:
                self.cut = True
                return None
            if min(threads, default=0) < 0:
                return None
            outlook = self._outlook(tuple(threads))
            for at, where in enumerate(self._locations):
                locations[at] = where.forget(locations[at], outlook.watching[at])
            step = self._quiet(threads, locations, outlook)
            if step is None:
                return _State(tuple(threads), tuple(locations))
            if log is not None:
                log(self._sentence(threads, locations, step))
            self._take(threads, locations, step)

    def _quiet(self, threads: list[int], locations: list[int], outlook: _Outlook) -> _Do | None:
        for number, own in enumerate(threads):
            for place, step in self._threads[number].view(own).steps:
                match step:
                    case LoadStep(at):
                        quiet = not outlook.stores >> at & 1 and not self._locations[at].pending(locations[at])
                    case StoreStep(at):
                        quiet = not outlook.watching[at]
                    case FenceStep(block):
                        quiet = not any(
                            self._to_share(number, at, locations[at], block) for at in range(len(locations))
                        )
                if quiet:
                    return _Do(number, place, step)
        return None

    def _to_share(self, thread: int, at: int, location: int, block: bool) -> bool:
        """Whether a thread's holder has something to share, by a TFB or by a TF."""
        holder = self._holders[at].get(thread)
        if holder is None:
            return False
        where = self._locations[at]
        return where.unshared(location, holder) if block else holder in where.pending(location)

    def _take(self, threads: list[int], locations: list[int], taken: _Do | _Share) -> None:
        if isinstance(taken, _Share):
            locations[taken.location] = self._locations[taken.location].share(locations[taken.location], taken.holder)
            return
        number, place, step, way = taken
        value: Value = 0
        match step:
            case LoadStep(at):
                value, _, locations[at] = self._locations[at].load(locations[at], self._holders[at][number])[way]
            case StoreStep(at, stored):
                locations[at] = self._locations[at].store(locations[at], self._holders[at][number], stored)
            case FenceStep():  # a TF is done when there is nothing left to share
                for at, own in enumerate(locations):
                    if self._to_share(number, at, own, block=True):
                        locations[at] = self._locations[at].merge(own, self._holders[at][number])
        threads[number] = self._threads[number].after(threads[number], place, value)

    def _sentence(self, threads: list[int], locations: list[int], taken: _Do | _Share) -> str:
        """What a step does, in words, before it is taken."""
        if isinstance(taken, _Share):
            at, holder = taken
            value, status = self._locations[at].copies(locations[at])[holder]
            everyone = "all threads" if status is Status.UNSHARED else "the other blocks"
            return f"{self._whose(at, holder)} shares {self._names[at]} = {_shown(value)} with {everyone}"
        number, _, step, way = taken
        match step:
            case LoadStep(at, register):
                value, source, _ = self._locations[at].load(locations[at], self._holders[at][number])[way]
                into = "" if register is None else f" into {self._threads[number].name(register)}"
                own = source == self._holders[at][number] and not self._strong
                memory = "its own memory" if own else f"the memory of {self._whose(at, source)}"
                return f"P{number} loads {self._names[at]} = {_shown(value)}{into} from {memory}"
            case StoreStep(at, value):
                return f"P{number} stores {self._names[at]} = {_shown(value)}"
            case FenceStep(block):
                unshared = [
                    f"{self._names[at]} = {_shown(self._locations[at].copies(own)[self._holders[at][number]].value)}"
                    for at, own in enumerate(locations)
                    if self._to_share(number, at, own, block=True)
                ]
                passed = f" and passes {', '.join(unshared)} to its block" if unshared else ""
                return f"P{number} does {'membar.cta' if block else 'membar.gl'}{passed}"

    def _whose(self, at: int, holder: int) -> str:
        owners = [f"P{number}" for number, own in self._holders[at].items() if own == holder]
        return f"the block of {' and '.join(owners)}" if self._strong else owners[0]


def _terms(test: LitmusTest) -> tuple[FinalRegister | Loc, ...]:
    named: set[Term] = set(test.condition.observed)
    for proposition in propositions(test.condition):
        for atom in atoms(proposition):
            named |= {atom.left, atom.right}
    registers = sorted(term for term in named if isinstance(term, FinalRegister))
    return (*registers, *sorted(term for term in named if isinstance(term, Loc)))


def _owner(test: LitmusTest, location: Location, blocks: list[int]) -> int | None:
    """The block that a location in shared memory belongs to, the first one where nobody names it; else None."""
    if location.region is not Region.SHARED:
        return None
    for number, thread in enumerate(test.threads):
        mentioned = [operand for ins in thread.instructions for operand in operands(ins)]
        if Loc(location.name) in (*mentioned, *(value for _, value in thread.registers)):
            return blocks[number]
    return 0


def _shown(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    return f"&{value.location}" + (f"{value.offset:+d}" if value.offset else "")
