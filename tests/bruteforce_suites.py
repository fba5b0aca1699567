"""Minimal suites of a memory model by plain enumeration: the reference that their synthesis is held to.

It lists every program of a vocabulary with every execution, up to the names of threads, locations and groups, and
shares with what it checks only the data types (``corpus.executions``); the axioms are those of ``bruteforce_axioms``.

A test is minimal (Lustig, Wright, Papakonstantinou and Giroux, ASPLOS 2017) where a model forbids it, and allows what
is left of it after every single step that weakens it. What such a step leaves of an execution or an outcome:

- A read whose write is removed reads nothing, before nothing, in an execution; in an outcome it may read anything.
- A location whose final write is removed may end with anything.
- Of the order of ``fence.sc``, what still must agree, closed under transitivity anew.

Where a model raises a flag, it says nothing, so what is flagged counts as allowed.

What the axioms say of a program is laid out as an array with an axis for each instruction, indexed by its mode: weaker
modes are found along the axes, and what is left after an instruction is removed in the array of the smaller program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain, combinations, combinations_with_replacement, groupby, permutations, product

import numpy as np
from bruteforce_axioms import MODELS, Body, Cases, Choice, Model, Program, Where
from numpy.typing import NDArray

from corpus.executions.execution import INITIAL, Dependency, Execution, OpKind, Step
from corpus.executions.vocabulary import Vocabulary
from corpus.litmus.locations import Region
from corpus.litmus.normal import renumbered
from corpus.litmus.orders import Place, Scope

Axis = tuple[int, tuple[int, ...]]
"""An instruction of another program, and by the mode of that the mode of one here."""


@dataclass(frozen=True)
class Outcome:
    """``rf`` as in an execution, None where a read may read anything; ``final``: the writes whose values are final."""

    rf: tuple[int | None, ...]
    final: frozenset[int]

    @staticmethod
    def of(program: Program, choice: Choice) -> Outcome:
        """What an execution ends with; nothing is said of a location that has several last writes."""
        last: dict[int | None, list[int]] = {}
        for i in last_writes(program, choice):
            last.setdefault(program.location(i), []).append(i)
        return Outcome(choice.rf, frozenset(writes[0] for writes in last.values() if len(writes) == 1))

    def fits(self, program: Program, choice: Choice) -> bool:
        """Whether an execution may end so; any of several last writes may be final."""
        same = all(source is None or source == found for source, found in zip(self.rf, choice.rf, strict=True))
        return same and self.final <= set(last_writes(program, choice))


def last_writes(program: Program, choice: Choice) -> list[int]:
    """The writes after which coherence has none."""
    early = {one for one, _ in choice.co}
    return [i for i, (kind, _) in enumerate(program.steps) if kind.writes and i not in early]


@dataclass(frozen=True)
class Judged:
    """The executions of a program under a model: ``violated[axiom, choice, mode of the first instruction, ..]``."""

    choices: list[Choice]
    violated: NDArray[np.bool_]
    flagged: NDArray[np.bool_]

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """As ``flagged``: no axiom is violated, or there is a flag, so that the model says nothing of it."""
        return ~self.violated.any(axis=0) | self.flagged

    @cached_property
    def index(self) -> dict[Choice, int]:
        return {choice: number for number, choice in enumerate(self.choices)}


# Programs.


def programs(words: Vocabulary, events: int) -> Iterator[Program]:
    """All programs of that many events, at least once up to names; no thread is larger than the one before it."""
    for sizes in _partitions(events, events):
        pools = [combinations_with_replacement(_bodies(words, size), len(list(same))) for size, same in groupby(sizes)]
        for chosen in product(*pools):
            kinds = tuple(chain(*chosen))
            for threads in _located(kinds, words.aliases):
                for places in _scope_trees(words.levels, len(sizes)):
                    if _barriers_meet(threads, places):
                        for dependencies in _dependencies(words, threads):
                            yield Program(threads, places, dependencies)


def _partitions(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    if total == 0:
        yield ()
    for first in range(min(total, largest), 0, -1):
        for rest in _partitions(total - first, first):
            yield (first, *rest)


@cache
def _kinds(events: int) -> tuple[tuple[OpKind, ...], ...]:
    if events <= 0:
        return ((),) * (events == 0)
    return tuple((kind, *rest) for kind in OpKind for rest in _kinds(events - kind.events))


def _bodies(words: Vocabulary, events: int) -> list[tuple[OpKind, ...]]:
    return [body for body in _kinds(events) if all(words.modes.get(kind) for kind in body)]


def _located(kinds: Sequence[tuple[OpKind, ...]], aliases: bool) -> Iterator[tuple[Body, ...]]:
    """Locations for all accesses, numbered by first occurrence, and likewise addresses of each."""

    def names(accesses: int, used: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
        """``used``: how many addresses of each location."""
        if accesses == 0:
            yield ()
            return
        for name, known in enumerate((*used, 0)):
            for address in range(max(1, known + aliases)):
                more = (*used[:name], max(known, address + 1), *used[name + 1 :])
                for rest in names(accesses - 1, more):
                    yield ((name, address), *rest)

    for chosen in names(sum(kind.reads or kind.writes for body in kinds for kind in body), ()):
        left = iter(chosen)
        yield tuple(tuple((kind, next(left) if kind.reads or kind.writes else None) for kind in body) for body in kinds)


def _groupings(threads: int) -> Iterator[tuple[int, ...]]:
    """All ways to put threads into groups, numbered by first member."""
    if threads == 0:
        yield ()
        return
    for rest in _groupings(threads - 1):
        yield from ((*rest, group) for group in range(max(rest, default=-1) + 2))


@cache
def _scope_trees(levels: tuple[Scope, ...], threads: int) -> tuple[tuple[Place, ...], ...]:
    """All scope trees that tell these levels apart; otherwise there is one GPU, and each thread has a CTA."""
    gpus = list(_groupings(threads)) if Scope.GPU in levels else [(0,) * threads]
    queues = list(_groupings(threads)) if Scope.QUEUE in levels else [(0,) * threads]
    ctas = list(_groupings(threads)) if Scope.CTA in levels else [tuple(range(threads))]

    def within(near: tuple[int, ...], far: tuple[int, ...]) -> bool:
        return all(far[i] == far[j] for i, j in combinations(range(threads), 2) if near[i] == near[j])

    return tuple(
        tuple(renumbered([Place(gpu, queue, cta) for gpu, queue, cta in zip(*groups, strict=True)]))
        for groups in product(gpus, queues, ctas)
        if within(groups[2], groups[0])
        and (Scope.QUEUE not in levels or (within(groups[2], groups[1]) and within(groups[1], groups[0])))
    )


def _barriers_meet(threads: Sequence[Body], places: Sequence[Place]) -> bool:
    """Whether threads of one CTA have equally many barriers."""
    counts: dict[object, set[int]] = {}
    for body, place in zip(threads, places, strict=True):
        counts.setdefault(place[: Scope.CTA.value], set()).add(sum(kind is OpKind.BARRIER for kind, _ in body))
    return all(len(found) == 1 for found in counts.values())


def _dependencies(words: Vocabulary, threads: Sequence[Body]) -> Iterator[frozenset[Dependency]]:
    """All sets of dependencies."""
    possible = []
    start = 0
    for body in threads:
        for (i, (source, _)), (j, (target, _)) in combinations(enumerate(body, start), 2):
            if source.reads:
                possible += [Dependency(kind, i, j) for kind in words.dependencies if _may_depend(words, kind, target)]
        start += len(body)
    for count in range(len(possible) + 1):
        yield from map(frozenset, combinations(possible, count))


def _may_depend(words: Vocabulary, kind: str, target: OpKind) -> bool:
    if words.interchangeable:
        return kind == ("data" if target.writes else "addr") and (target.reads or target.writes)
    return {"addr": target.reads or target.writes, "data": target.writes, "ctrl": True}[kind]


# Executions.


def choices(program: Program, model: Model, orphans: bool) -> list[Choice]:
    """All executions of a program; with ``orphans`` also those in which reads read nothing."""
    writers: dict[int | None, list[int]] = {}
    for i, (kind, _) in enumerate(program.steps):
        if kind.writes:
            writers.setdefault(program.location(i), []).append(i)
    rf = [
        [*writers.get(program.location(i), ()), INITIAL, *([None] if orphans else [])] if kind.reads else [None]
        for i, (kind, _) in enumerate(program.steps)
    ]
    co = [_orders(tuple(writes), model.partial) for writes in writers.values()]
    fences = [i for i, (kind, _) in enumerate(program.steps) if kind is OpKind.FENCE] if model.fences else []
    return [
        Choice(sources, frozenset(chain(*orders)), order)
        for sources in product(*rf)
        for orders in product(*co)
        for order in permutations(fences)
    ]


@cache
def _orders(writes: tuple[int, ...], partial: bool) -> list[frozenset[tuple[int, int]]]:
    """All strict orders, total or partial."""
    if not partial:
        return [frozenset(combinations(order, 2)) for order in permutations(writes)]
    pairs = list(combinations(writes, 2))
    found = []
    for directions in product((0, 1, 2), repeat=len(pairs)):
        order = {pair if way == 1 else pair[::-1] for pair, way in zip(pairs, directions, strict=True) if way}
        if all((a, d) in order for a, b in order for c, d in order if b == c):
            found.append(frozenset(order))
    return found


# Relaxations.


@dataclass(frozen=True)
class Relaxed:
    """A program after a relaxation: where the read and the write of each instruction are now, None where they are gone.

    ``axes``: for each instruction, which one it was before, and its mode by the mode of that.
    """

    program: Program
    reads: tuple[int | None, ...]
    writes: tuple[int | None, ...]
    axes: tuple[Axis, ...]

    def choice(self, choice: Choice) -> Choice:
        """What is left of an execution: a read whose write is gone reads nothing."""
        co = ((self.writes[one], self.writes[other]) for one, other in choice.co)
        left = frozenset((one, other) for one, other in co if one is not None and other is not None)
        return Choice(
            self._rf(choice.rf), left, tuple(i for fence in choice.fences if (i := self.reads[fence]) is not None)
        )

    def outcome(self, outcome: Outcome) -> Outcome:
        """What is left of an outcome."""
        final = (self.writes[i] for i in outcome.final)
        return Outcome(self._rf(outcome.rf), frozenset(i for i in final if i is not None))

    def _rf(self, sources: Sequence[int | None]) -> tuple[int | None, ...]:
        rf: list[int | None] = [None] * len(self.axes)
        for i, source in zip(self.reads, sources, strict=True):
            if i is not None and source is not None:
                rf[i] = INITIAL if source == INITIAL else self.writes[source]
        return tuple(rf)

    def cases(self, found: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """An array over the modes of this program, as one over those of the program before."""
        size = len(self.reads)
        if not self.axes:
            return found.reshape(found.shape + (1,) * size)
        return found[(..., *(np.array(modes).reshape(_axis(i, size)) for i, modes in self.axes))]


def _axis(i: int, size: int) -> list[int]:
    """The shape of an array that goes along axis ``i`` of so many."""
    return [-1 if at == i else 1 for at in range(size)]


def relaxations(program: Program, words: Vocabulary) -> Iterator[Relaxed]:
    """Every single step that changes more than modes."""
    same = tuple(range(len(program.steps)))
    axes = tuple((i, tuple(range(len(words.modes[kind])))) for i, (kind, _) in enumerate(program.steps))
    meetings: dict[object, set[int]] = {}
    met: dict[int, int] = {}
    for i, (kind, _) in enumerate(program.steps):
        thread = program.thread_of[i]
        if kind is OpKind.BARRIER:
            met[thread] = met.get(thread, 0) + 1
            meetings.setdefault((program.places[thread][: Scope.CTA.value], met[thread]), set()).add(i)
        else:
            yield _without(program, {i}, axes)
        if kind is OpKind.UPDATE:
            yield _split(program, words, i, axes)
    for barriers in meetings.values():
        yield _without(program, barriers, axes)
    for dependency in program.dependencies:
        yield Relaxed(replace(program, dependencies=program.dependencies - {dependency}), same, same, axes)
    for leaving in _readdressed(program) if words.aliases else ():
        yield Relaxed(_tidy(leaving, program.places, set(program.dependencies)), same, same, axes)
    for places in _moved_apart(program.places, words.levels):
        yield Relaxed(replace(program, places=places), same, same, axes)


def _tidy(threads: Sequence[Body], places: Sequence[Place], dependencies: set[Dependency]) -> Program:
    """Without empty threads, locations and addresses numbered by first occurrence."""
    names: dict[int, list[int]] = {}
    for body in threads:
        for _, where in body:
            if where is not None and where[1] not in (known := names.setdefault(where[0], [])):
                known.append(where[1])

    def renamed_place(where: Where) -> Where:
        return None if where is None else (list(names).index(where[0]), names[where[0]].index(where[1]))

    renamed = (tuple((kind, renamed_place(where)) for kind, where in body) for body in threads)
    kept = [place for place, body in zip(places, threads, strict=True) if body]
    return Program(tuple(filter(None, renamed)), tuple(renumbered(kept)), frozenset(dependencies))


def _without(program: Program, gone: set[int], axes: tuple[Axis, ...]) -> Relaxed:
    size = len(program.steps)
    old = [i for i in range(size) if i not in gone]
    new = {i: place for place, i in enumerate(old)}
    threads = [
        tuple(program.steps[i] for i in old if program.thread_of[i] == number) for number in range(len(program.threads))
    ]
    dependencies = set()
    for dep in program.dependencies:
        target = dep.target
        while dep.kind == "ctrl" and target in gone:
            target += 1
        if dep.source in new and target in new and program.thread_of[target] == program.thread_of[dep.source]:
            dependencies.add(Dependency(dep.kind, new[dep.source], new[target]))
    where = tuple(new.get(i) for i in range(size))
    return Relaxed(_tidy(threads, program.places, dependencies), where, where, tuple(axes[i] for i in old))


def _split(program: Program, words: Vocabulary, i: int, axes: tuple[Axis, ...]) -> Relaxed:
    def half(kind: OpKind) -> Axis:
        return i, tuple(words.modes[kind].index(words.half(kind, mode)) for mode in words.modes[OpKind.UPDATE])

    number, location = program.thread_of[i], program.steps[i][1]
    body = program.threads[number]
    at = i - program.thread_of.index(number)
    halves = ((OpKind.READ, location), (OpKind.WRITE, location))
    threads = [*program.threads[:number], (*body[:at], *halves, *body[at + 1 :]), *program.threads[number + 1 :]]
    reads = tuple(j + (j > i) for j in range(len(program.steps)))
    dependencies = set()
    for dep in program.dependencies:
        targets = {reads[dep.target]}
        if dep.target == i and dep.kind != "ctrl":
            targets = {i, i + 1} if dep.kind == "addr" else {i + 1}
        dependencies |= {Dependency(dep.kind, reads[dep.source], target) for target in targets}
    return Relaxed(
        _tidy(threads, program.places, dependencies),
        reads,
        tuple(j + (j >= i) for j in range(len(program.steps))),
        (*axes[:i], half(OpKind.READ), half(OpKind.WRITE), *axes[i + 1 :]),
    )


def _readdressed(program: Program) -> Iterator[list[Body]]:
    """Every way to give some of the accesses by one address another one, of their own."""
    users: dict[Where, list[int]] = {}
    for i, (_, where) in enumerate(program.steps):
        if where is not None:
            users.setdefault(where, []).append(i)
    for where, accesses in users.items():
        for count in range(1, len(accesses)):
            for leaving in combinations(accesses[1:], count):
                assert where is not None
                steps = list(program.steps)
                for i in leaving:
                    steps[i] = (steps[i][0], (where[0], len(steps)))
                rest = iter(steps)
                yield [tuple(next(rest) for _ in body) for body in program.threads]


def _moved_apart(places: tuple[Place, ...], levels: tuple[Scope, ...]) -> Iterator[tuple[Place, ...]]:
    """Every way to split one group in two, what is inside its parts together as it was."""
    for level in levels:
        finer = [other.value for other in levels if other.value > level.value]
        parts = [place[: min(finer)] if finer else number for number, place in enumerate(places)]
        groups: dict[object, list[object]] = {}
        for place, part in zip(places, parts, strict=True):
            groups.setdefault(place[: level.value], []).append(part)
        for members in groups.values():
            others = list(dict.fromkeys(part for part in members if part != members[0]))
            for moved in chain(*(combinations(others, count) for count in range(1, len(others) + 1))):
                yield tuple(
                    renumbered(
                        place._replace(**{level.label: len(places)}) if part in moved else place
                        for place, part in zip(places, parts, strict=True)
                    )
                )


# Minimal tests.


def minimal(model: str, words: Vocabulary, events: int, criterion: str) -> frozenset[Execution]:
    """All minimal tests of exactly that many events, each by its canonical execution.

    ``criterion`` is ``execution`` or ``outcome``; tests that are one by the outcome have no ``co``.
    """
    suite = Suite(model, words)
    if criterion == "execution":
        return frozenset(test for test, _ in suite.executions(events))
    return frozenset(suite.outcomes(events))


def minimal_by_axiom(model: str, words: Vocabulary, events: int) -> dict[str, frozenset[Execution]]:
    """The minimal executions of exactly that many events, by the axioms that they violate."""
    suite = Suite(model, words)
    found: dict[str, set[Execution]] = {axiom: set() for axiom in suite.axioms}
    for test, axioms in suite.executions(events):
        for axiom in axioms:
            found[axiom].add(test)
    return {axiom: frozenset(tests) for axiom, tests in found.items()}


class Suite:
    """The minimal tests of a model over a vocabulary, which has global memory alone."""

    def __init__(self, model: str, words: Vocabulary) -> None:
        assert words.regions == (Region.GLOBAL,)
        self._model = MODELS[model]
        self._words = words
        self.axioms = list(self._model.axioms(Cases(Program((), ()), words, []))[0])
        self._known: dict[Program, Judged] = {}
        self._left: dict[tuple[Program, Outcome], NDArray[np.bool_]] = {}
        self._steps = {kind: self._weaker(kind) for kind, ways in words.modes.items() if ways}

    def executions(self, events: int) -> Iterator[tuple[Execution, list[str]]]:
        """Minimal executions with the axioms that each violates, at least once."""
        for program in programs(self._words, events):
            judged = self._judged(program, False)
            forbidden = ~judged.allowed
            ways = list(relaxations(program, self._words)) if forbidden.any() else []
            for e in np.flatnonzero(forbidden.any(axis=tuple(range(1, forbidden.ndim)))):
                choice = judged.choices[e]
                found = self._minimal(ways, program, judged.allowed[e], partial(self._smaller, choice))
                for at in np.argwhere(found):
                    violated = judged.violated[(slice(None), e, *at)]
                    axioms = [axiom for axiom, yes in zip(self.axioms, violated, strict=True) if yes]
                    yield canonical(self._execution(program, at, choice), self._words), axioms

    def outcomes(self, events: int) -> Iterator[Execution]:
        """Minimal tests by outcome, at least once."""
        for program in programs(self._words, events):
            judged = self._judged(program, False)
            if judged.allowed.all():
                continue
            ways = list(relaxations(program, self._words))
            for outcome, choice in {Outcome.of(program, choice): choice for choice in judged.choices}.items():
                allowed = judged.allowed[[outcome.fits(program, other) for other in judged.choices]].any(axis=0)
                found = self._minimal(ways, program, allowed, partial(self._reachable, outcome))
                for at in np.argwhere(found):
                    yield canonical(replace(self._execution(program, at, choice), co=frozenset()), self._words)

    def _minimal(
        self,
        ways: Sequence[Relaxed],
        program: Program,
        allowed: NDArray[np.bool_],
        relaxed: Callable[[Relaxed], NDArray[np.bool_]],
    ) -> NDArray[np.bool_]:
        """By modes, whether what is not allowed is so after every step: to weaker modes, and those of ``ways``."""
        found = ~allowed
        for i, (kind, _) in enumerate(program.steps):
            for steps in self._steps[kind]:
                none = (steps < 0).reshape(_axis(i, len(program.steps)))
                found = found & (np.take(allowed, steps, axis=i) | none)
        for way in ways:
            if not found.any():
                break
            found = found & way.cases(relaxed(way))
        return found

    def _smaller(self, choice: Choice, way: Relaxed) -> NDArray[np.bool_]:
        """Whether what is left of an execution is allowed."""
        if way.program not in self._known:
            self._known[way.program] = self._judged(way.program, True)
        judged = self._known[way.program]
        return judged.allowed[judged.index[way.choice(choice)]]

    def _reachable(self, outcome: Outcome, way: Relaxed) -> NDArray[np.bool_]:
        """Whether an execution is allowed that has what is left of an outcome."""
        left = way.program, way.outcome(outcome)
        if left not in self._left:
            if way.program not in self._known:
                self._known[way.program] = self._judged(way.program, False)
            judged = self._known[way.program]
            self._left[left] = judged.allowed[[left[1].fits(way.program, choice) for choice in judged.choices]].any(
                axis=0
            )
        return self._left[left]

    def _weaker(self, kind: OpKind) -> list[NDArray[np.intp]]:
        """By mode the mode a step weaker, -1 where there is none; several where there are several."""
        ways, words = self._words.modes[kind], self._words
        found = [
            [*words.lower_orders(kind, way), *filter(None, [words.narrower(kind, way)]), *words.less_memory(kind, way)]
            for way in ways
        ]
        return [
            np.array([ways.index(steps[number]) if number < len(steps) else -1 for steps in found])
            for number in range(max(map(len, found)))
        ]

    def _judged(self, program: Program, orphans: bool) -> Judged:
        found = choices(program, self._model, orphans)
        cases = Cases(program, self._words, found)
        violated, flagged = self._model.axioms(cases)

        def laid_out(bits: int) -> NDArray[np.bool_]:
            count = cases.block * len(found)
            raw = np.frombuffer((bits & cases.all).to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
            return np.unpackbits(raw, count=count, bitorder="little").astype(bool).reshape(len(found), *cases.shape)

        return Judged(found, np.stack([laid_out(bits) for bits in violated.values()]), laid_out(flagged))

    def _execution(self, program: Program, modes: Sequence[int], choice: Choice) -> Execution:
        left = iter([self._words.modes[kind][mode] for (kind, _), mode in zip(program.steps, modes, strict=True)])
        locations = len({program.location(i) for i in range(len(program.steps))} - {None})
        last = {program.location(i): i for i in Outcome.of(program, choice).final}

        def step(kind: OpKind, where: Where) -> Step:
            return Step(kind, None, next(left)) if where is None else Step(kind, where[0], next(left), where[1])

        return Execution(
            tuple(tuple(step(kind, where) for kind, where in body) for body in program.threads),
            program.places,
            (Region.GLOBAL,) * locations,
            tuple(sorted(program.dependencies)),
            choice.rf,
            choice.co,
            tuple(last.get(location) for location in range(locations)),
        )


def canonical(execution: Execution, words: Vocabulary) -> Execution:
    """The least image of an execution, threads of more events first; of places what the vocabulary tells apart."""
    sizes = [sum(step.kind.events for step in thread) for thread in execution.threads]
    order = sorted(range(len(sizes)), key=lambda number: -sizes[number])
    ctas = [place[: Scope.CTA.value] for place in execution.places]
    places = tuple(
        Place(
            place.gpu if Scope.GPU in words.levels else 0,
            place.queue if Scope.QUEUE in words.levels else 0,
            cta=ctas.index(ctas[number]) if Scope.CTA in words.levels else number,
        )
        for number, place in enumerate(execution.places)
    )
    return min(replace(execution, places=places).reordered(order).images(), key=_key)


def _key(execution: Execution) -> str:
    return repr((replace(execution, co=frozenset()), sorted(execution.co)))


def program_of(execution: Execution, words: Vocabulary) -> Execution:
    """The program alone, canonical."""
    nothing = (None,) * len(execution.rf)
    return canonical(replace(execution, rf=nothing, co=frozenset(), final=(None,) * len(execution.final)), words)
