"""The operational models of Sorensen 2013 as a transition system: threads, locations, and the steps that join them.

Threads and locations are automata of their own (``operational_thread``, ``operational_memory``), whose states are
numbers; a state of the system is a number for each. ``operational`` defines the rules, and this module the reductions.
Each reduction keeps the set of final states:

- A location's copies that no step to come can tell apart are one (``LocationAutomaton.forget``).
- Steps are taken at once where they are *quiet*: nobody else can see them, they never become less or more than they
  are now, so that any run may be reordered to do them first, and any run to the end does them. Quiet are a store to a
  location that nobody will load again; a load from one that is never to change again; and a fence of a holder that has
  nothing to share: only its own stores could change that, which wait for the fence, or in the strong model those of
  its block, which may be shared singly at that time.
- A TF with something to share waits. Its effect is to share, and sharing is a step of its own that is always possible.
- Once all is fired, registers that have their values keep them, and the rest can always be done: where no final memory
  is asked for, that is an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from corpus.litmus.instructions import operands_of
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import FinalRegister, Term, atoms_of, propositions
from corpus.litmus.test import LitmusTest
from oracle.executions.values import Address, Value, value_text
from oracle.operational.memory import CopyStatus, LocationAutomaton
from oracle.operational.thread import CUT, FenceStep, LoadStep, Step, StoreStep, ThreadAutomaton, UnmodelledError

Final = tuple[Value, ...]
"""A final state: a value for each of the terms."""


class SystemState(NamedTuple):
    """A state of the system: the number of each thread's state, and of each location's."""

    threads: tuple[int, ...]
    locations: tuple[int, ...]


class Do(NamedTuple):
    """The step in which a thread does the instruction at ``place`` in its queue; a load in one of its ways."""

    thread: int
    place: int
    step: Step
    way: int = 0


class Share(NamedTuple):
    """The step in which a holder shares its value of a location."""

    location: int
    holder: int


class _Outlook(NamedTuple):
    """The steps that may still come, given the states of the threads.

    ``steps``: what each thread may do next. ``watching``: for each location a bit for each holder that may yet look at
    it. ``stores``: a bit for each location that may yet be stored to. ``settled`` and ``ended``: every thread is.
    """

    steps: tuple[Do, ...]
    watching: tuple[int, ...]
    stores: int
    settled: bool
    ended: bool


class OperationalSystem:
    """The transition system of a test. Locations are numbered as in the test, the holders of each location from 0."""

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
                name: cell
                for cell, (name, owner) in enumerate(zip(self._names, owners, strict=True))
                if owner in (None, blocks[number])
            }
            observed = frozenset(
                term.register for term in self.terms if isinstance(term, FinalRegister) and term.thread == number
            )
            self._threads.append(ThreadAutomaton(number, thread, near, observed, strong, unroll))
        self._locations = []
        self._holders: list[dict[int, int]] = []  # for each location: thread -> its holder
        self._observers: list[int | None] = []
        for cell, (location, owner) in enumerate(zip(test.locations, owners, strict=True)):
            keys = blocks if strong else range(len(self._threads))
            used = [key for key, thread in zip(keys, self._threads, strict=True) if thread.accesses >> cell & 1]
            ranks = {key: rank for rank, key in enumerate(dict.fromkeys(used))}
            # A thread that never accesses the location has its block's copy too, which its fences share.
            holders = {number: ranks[key] for number, key in enumerate(keys) if key in ranks}
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

    def start(self) -> list[SystemState]:
        """The start state; none where a thread is stuck or cut before it begins."""
        state = self._settled([thread.start for thread in self._threads], [where.start for where in self._locations])
        return [] if state is None else [state]

    def steps(self, state: SystemState) -> Iterator[Do | Share]:
        """All steps that may be taken from a state."""
        for next_step in self._outlook(state.threads).steps:
            number, place, step, _ = next_step
            if isinstance(step, LoadStep):
                cell = step.location
                for way in range(len(self._locations[cell].load(state.locations[cell], self._holders[cell][number]))):
                    yield Do(number, place, step, way)
            elif isinstance(step, StoreStep) or step.block:
                yield next_step
        for cell, where in enumerate(self._locations):
            for holder in where.pending(state.locations[cell]):
                yield Share(cell, holder)

    def after(
        self, state: SystemState, step: Do | Share, log: Callable[[str], None] | None = None
    ) -> SystemState | None:
        """The state after a step and all quiet steps after it; None where the run has no end."""
        threads, locations = list(state.threads), list(state.locations)
        self._take(threads, locations, step)
        return self._settled(threads, locations, log)

    def final(self, state: SystemState) -> Final | None:
        """The final state that a state is, or is bound to become; None where steps to come decide."""
        outlook = self._outlook(state.threads)
        if not outlook.settled:
            return None
        values: list[Value] = []
        for term in self.terms:
            if isinstance(term, FinalRegister):
                values.append(self._threads[term.thread].register(state.threads[term.thread], term.register))
                continue
            cell = self._names.index(term.name)
            where, own = self._locations[cell], state.locations[cell]
            observer = self._observers[cell]
            if not outlook.ended or where.pending(own) or observer is None:
                return None
            values.append(where.copies(own)[observer].value)
        return tuple(values)

    def describe(self, steps: Iterable[Do | Share]) -> Iterator[str]:
        """The lines that tell a run in words, a line a step."""
        lines: list[str] = []
        threads = [thread.start for thread in self._threads]
        locations = [where.start for where in self._locations]
        state = self._settled(threads, locations, lines.append)
        for step in steps:
            assert state is not None
            lines.append(self._sentence(state.locations, step))
            state = self.after(state, step, lines.append)
        yield from lines
        if state is not None and not self._outlook(state.threads).ended:
            yield "the queues drain"

    def _outlook(self, threads: tuple[int, ...]) -> _Outlook:
        known = self._outlooks.get(threads)
        if known is None:
            known = self._outlooks[threads] = self._look_out(threads)
        return known

    def _look_out(self, threads: tuple[int, ...]) -> _Outlook:
        views = [self._threads[number].view(own) for number, own in enumerate(threads)]
        watching = []
        for cell, holders in enumerate(self._holders):
            observer = self._observers[cell]
            mask = 0 if observer is None else 1 << observer
            for number, holder in holders.items():
                if views[number].loads >> cell & 1:
                    mask |= 1 << holder
            watching.append(mask)
        stores = 0
        for view in views:
            stores |= view.stores
        steps = tuple(Do(number, *found) for number, view in enumerate(views) for found in view.steps)
        settled, ended = all(view.settled for view in views), all(view.ended for view in views)
        return _Outlook(steps, tuple(watching), stores, settled, ended)

    def _settled(
        self, threads: list[int], locations: list[int], log: Callable[[str], None] | None = None
    ) -> SystemState | None:
        """The state after all quiet steps; changes its arguments."""
        while True:
            if min(threads, default=0) < 0:
                self.cut |= CUT in threads
                return None
            outlook = self._outlook(tuple(threads))
            for cell, where in enumerate(self._locations):
                locations[cell] = where.forget(locations[cell], outlook.watching[cell])
            step = next((step for step in outlook.steps if self._is_quiet(step, locations, outlook)), None)
            if step is None:
                return SystemState(tuple(threads), tuple(locations))
            if log is not None:
                log(self._sentence(locations, step))
            self._take(threads, locations, step)

    def _is_quiet(self, taken: Do, locations: list[int], outlook: _Outlook) -> bool:
        number, _, step, _ = taken
        match step:
            case LoadStep(cell):
                return not outlook.stores >> cell & 1 and not self._locations[cell].pending(locations[cell])
            case StoreStep(cell):
                return not outlook.watching[cell]
            case FenceStep(block):
                return not any(self._to_share(number, cell, own, block) for cell, own in enumerate(locations))

    def _to_share(self, thread: int, cell: int, location: int, block: bool) -> bool:
        """Whether a thread's holder has something to share, by a TFB or by a TF."""
        holder = self._holders[cell].get(thread)
        if holder is None:
            return False
        where = self._locations[cell]
        return where.unshared(location, holder) if block else holder in where.pending(location)

    def _held(self, thread: int, cell: int, location: int) -> Value:
        """The value of a location in the copy of a thread's holder."""
        return self._locations[cell].copies(location)[self._holders[cell][thread]].value

    def _take(self, threads: list[int], locations: list[int], taken: Do | Share) -> None:
        if isinstance(taken, Share):
            locations[taken.location] = self._locations[taken.location].share(locations[taken.location], taken.holder)
            return
        number, place, step, way = taken
        value: Value = 0
        match step:
            case LoadStep(cell):
                value, _, locations[cell] = self._locations[cell].load(locations[cell], self._holders[cell][number])[
                    way
                ]
            case StoreStep(cell, stored):
                locations[cell] = self._locations[cell].store(locations[cell], self._holders[cell][number], stored)
            case FenceStep():  # a TF is done when there is nothing left to share
                for cell, own in enumerate(locations):
                    if self._to_share(number, cell, own, block=True):
                        locations[cell] = self._locations[cell].merge(own, self._holders[cell][number])
        threads[number] = self._threads[number].after(threads[number], place, value)

    def _sentence(self, locations: Sequence[int], taken: Do | Share) -> str:
        """A sentence that tells of a step before it is taken."""
        if isinstance(taken, Share):
            cell, holder = taken
            value, status = self._locations[cell].copies(locations[cell])[holder]
            everyone = "all threads" if status is CopyStatus.UNSHARED else "the other blocks"
            return f"{self._whose(cell, holder)} shares {self._names[cell]} = {value_text(value)} with {everyone}"
        number, _, step, way = taken
        match step:
            case LoadStep(cell, register):
                value, source, _ = self._locations[cell].load(locations[cell], self._holders[cell][number])[way]
                into = "" if register is None else f" into {self._threads[number].name(register)}"
                own = source == self._holders[cell][number] and not self._strong
                memory = "its own memory" if own else f"the memory of {self._whose(cell, source)}"
                return f"P{number} loads {self._names[cell]} = {value_text(value)}{into} from {memory}"
            case StoreStep(cell, value):
                return f"P{number} stores {self._names[cell]} = {value_text(value)}"
            case FenceStep(block):
                unshared = [
                    f"{self._names[cell]} = {value_text(self._held(number, cell, own))}"
                    for cell, own in enumerate(locations)
                    if self._to_share(number, cell, own, block=True)
                ]
                passed = f" and passes {', '.join(unshared)} to its block" if unshared else ""
                return f"P{number} does {'membar.cta' if block else 'membar.gl'}{passed}"

    def _whose(self, cell: int, holder: int) -> str:
        owners = [f"P{number}" for number, own in self._holders[cell].items() if own == holder]
        return f"the block of {' and '.join(owners)}" if self._strong else owners[0]


def _terms(test: LitmusTest) -> tuple[FinalRegister | Loc, ...]:
    named: set[Term] = set(test.condition.observed)
    for proposition in propositions(test.condition):
        for atom in atoms_of(proposition):
            named |= {atom.left, atom.right}
    registers = sorted(term for term in named if isinstance(term, FinalRegister))
    return (*registers, *sorted(term for term in named if isinstance(term, Loc)))


def _owner(test: LitmusTest, location: Location, blocks: list[int]) -> int | None:
    """The block that a location in shared memory belongs to, the first one where nobody names it; else None."""
    if location.region is not Region.SHARED:
        return None
    for number, thread in enumerate(test.threads):
        mentioned = [operand for ins in thread.instructions for operand in operands_of(ins)]
        if Loc(location.name) in (*mentioned, *(value for _, value in thread.registers)):
            return blocks[number]
    return 0
