"""The checker of suites from a model: whether the clauses of a unit are what they claim, and whether its tests are
tests.

``oracle.certificates.programs`` defines the variables of the formula. The clauses are derived here from executions:

- *blocks* and *allowed*: for a program with an outcome, a clause for each way to put its threads in the places of
  threads of as many events: some fact about it is different. These facts are about every instruction, every two
  accesses, groups, dependencies, reads and last writes. So a clause excludes this program with this outcome alone, and
  from the facts ``execution_of`` gets it back. To block it does no harm if it is in the corpus, or was not asked for,
  or, *allowed*, is no test: some execution of the program has the outcome, and the model allows it or raises a flag.

A test is minimal where the model forbids its outcome and after every single relaxation allows what is left of it
(``corpus.executions.relaxations``); judged by listing executions.

``oracle.certificates.model_formulas`` shows that every test of these sizes, or one of its images, satisfies the
formula. Gap: outcomes, not executions, are what is claimed to be forbidden (``--criterion outcome``).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, combinations, permutations

from corpus.errors import InputError
from corpus.executions.execution import DEPENDENCIES, INITIAL, Dependency, Execution, OpKind, Step
from corpus.executions.litmus import litmus_test
from corpus.executions.relaxations import relaxations, relaxed
from corpus.executions.text import normal_form, parse_execution
from corpus.executions.vocabulary import Vocabulary, spelled_mode
from corpus.litmus.locations import Region
from corpus.litmus.normal import renumbered
from corpus.litmus.orders import Place, Scope
from oracle.cat.interpreter import Model
from oracle.certificates.clauses import CertifiedFormula, Clause, read_groups
from oracle.certificates.refusal import RefusedError
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import judged
from oracle.executions.threads import unroll_threads


@dataclass(frozen=True)
class SuiteUnitClaims:
    """The claims of a unit: the tests that it blocks, the programs that it claims to be no tests, and all of its
    clauses."""

    tests: list[Execution] = field(default_factory=list)
    allowed: list[Execution] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)


def check_clauses(
    formula: CertifiedFormula, sizes: Sequence[int], words: Vocabulary, lines: Iterable[str]
) -> SuiteUnitClaims:
    """The clauses that a unit adds to the formula of programs whose threads have these sizes, checked.

    Raises ``RefusedError`` where a clause is not what its comment stands for.
    """
    claims = SuiteUnitClaims()

    def derive(kind: str, word: str, _: list[Clause]) -> Iterator[Clause] | None:
        if kind not in ("blocks", "allowed"):
            return None
        try:
            execution = parse_execution(word)
        except InputError as error:
            raise RefusedError(error.message) from None
        (claims.tests if kind == "blocks" else claims.allowed).append(execution)
        return exclusions(formula, sizes, words, execution)

    claims.clauses.extend(read_groups(formula, lines, derive))
    return claims


def exclusions(
    formula: CertifiedFormula, sizes: Sequence[int], words: Vocabulary, execution: Execution
) -> Iterator[Clause]:
    """The clauses that exclude an execution: one for each way to put its threads in the places of threads of these
    sizes.

    Raises ``RefusedError`` where there is no such way, or where the formula has no variable for one of its facts.
    """
    own = [sum(step.kind.events for step in thread) for thread in execution.threads]
    if sorted(own) != sorted(sizes):
        raise RefusedError(f"its threads have {own} events, and the unit is of {list(sizes)}")
    if not _hangs_together(execution):
        raise RefusedError("it is no execution")
    reads = [source for step, source in zip(execution.steps, execution.rf, strict=True) if step.kind.reads]
    written = [write for place, write in enumerate(execution.final) if execution.writes(place)]
    if None in (*reads, *written):
        raise RefusedError("it does not say what every read reads, and how every location ends")
    starts = [0, *accumulate(sizes)]
    possible = permutations(range(len(sizes)))
    for number, slots in enumerate(slots for slots in possible if [sizes[slot] for slot in slots] == own):
        names = list(_Placed(execution, slots, starts, words).truths())
        clause = tuple(-formula.var(name) if holds else formula.var(name) for name, holds in names)
        if number == 0:
            satisfied = execution_of({name for name, holds in names if holds}, sizes, words)
            if normal_form(satisfied) != normal_form(execution):
                raise RefusedError("it says what the formula does not, so that its clauses exclude another program")
        yield clause


def _hangs_together(execution: Execution) -> bool:
    """Whether what is read was written to the location, and the like: whether it is an execution at all."""
    steps, thread = execution.steps, execution.thread_of
    writes = {(i, step.location) for i, step in enumerate(steps) if step.kind.writes}
    accesses = all((step.location is not None) == (step.kind.reads or step.kind.writes) for step in steps)
    sources = all(
        source is None or (step.kind.reads and (source == INITIAL or (source, step.location) in writes))
        for step, source in zip(steps, execution.rf, strict=True)
    )
    finals = all(write is None or (write, place) in writes for place, write in enumerate(execution.final))
    co = execution.co
    ordered = all(
        one != other and (other, one) not in co and {(one, steps[one].location), (other, steps[one].location)} <= writes
        for one, other in co
    ) and all((one, other) in co for one, middle in co for also, other in co if middle == also)
    depends = all(
        dep.kind in DEPENDENCIES
        and dep.source < dep.target < len(steps)
        and steps[dep.source].kind.reads
        and thread[dep.source] == thread[dep.target]
        for dep in execution.dependencies
    )
    return accesses and sources and finals and ordered and depends


class _Placed:
    """An execution whose thread ``t`` is in the place of thread ``slots[t]``, the events of which begin at
    ``starts[slots[t]]``."""

    def __init__(self, execution: Execution, slots: Sequence[int], starts: Sequence[int], words: Vocabulary) -> None:
        self.execution, self.slots, self.words = execution, slots, words
        self.first: list[int] = []
        for thread, slot in zip(execution.threads, slots, strict=True):
            event = starts[slot]
            for step in thread:
                self.first.append(event)
                event += step.kind.events
        self.ends = {slot: (starts[slot], starts[slot + 1]) for slot in slots}

    def write(self, instruction: int) -> int:
        """The number of the event by which an instruction writes."""
        return self.first[instruction] + (self.execution.steps[instruction].kind is OpKind.UPDATE)

    def truths(self) -> Iterator[tuple[str, bool]]:
        """The names of the variables about the execution, each with its truth value."""
        yield from self._instructions()
        yield from self._tree()
        yield from self._dependencies()
        yield from self._outcome()

    def _instructions(self) -> Iterator[tuple[str, bool]]:
        execution = self.execution
        accesses: list[tuple[int, int, int]] = []
        for step, first in zip(execution.steps, self.first, strict=True):
            yield f"way {first} {spelled_mode(step.kind, step.mode)}", True
            if step.location is not None:
                accesses += [(first + half, step.location, step.address) for half in range(step.kind.events)]
        for (e, place, address), (f, other, by) in combinations(sorted(accesses), 2):
            yield f"loc {e} {f}", place == other
            if self.words.aliases and place == other:
                yield f"vloc {e} {f}", address == by
        if len(self.words.regions) > 1:
            for e, place, _ in accesses:
                yield f"shared {e}", execution.regions[place] is Region.SHARED

    def _tree(self) -> Iterator[tuple[str, bool]]:
        execution = self.execution
        for one, other in permutations(range(len(self.slots)), 2):
            t, u = self.slots[one], self.slots[other]
            for level in self.words.levels if t < u else ():
                together = execution.places[one][: level.value] == execution.places[other][: level.value]
                yield f"same {level.label} {t} {u}", together
            if self.words.synchronises:
                yield f"ssw {t} {u}", (one, other) in execution.synchronised

    def _dependencies(self) -> Iterator[tuple[str, bool]]:
        there = set()
        for dep in self.execution.dependencies:
            target = self.write(dep.target) if dep.kind == "data" else self.first[dep.target]
            there.add((dep.kind, self.first[dep.source], target))
        kinds = [kind for kind in self.words.dependencies if kind != "ctrl" or not self.words.interchangeable]
        for start, end in self.ends.values():
            for r, e in combinations(range(start, end), 2):
                for kind in kinds:
                    yield f"{'branch' if kind == 'ctrl' else kind} {r} {e}", (kind, r, e) in there

    def _outcome(self) -> Iterator[tuple[str, bool]]:
        for i, source in enumerate(self.execution.rf):
            if source is not None:
                yield (
                    (f"init {self.first[i]}" if source == INITIAL else f"rf {self.write(source)} {self.first[i]}"),
                    True,
                )
        for write in self.execution.final:
            if write is not None:
                yield f"final {self.write(write)}", True


def execution_of(held: Container[str], sizes: Sequence[int], words: Vocabulary) -> Execution:
    """The program with its outcome for which exactly the variables with these names hold
    (``oracle.certificates.programs``); in its coherence order, last writes come last."""
    ways = {spelled_mode(kind, mode): (kind, mode) for kind, modes in words.modes.items() for mode in modes}
    ends = list(accumulate(sizes))
    threads: list[list[Step]] = [[] for _ in sizes]
    number: list[int] = []  # the instruction, location and address of each event
    place: list[int | None] = []
    address: list[int] = []
    regions: list[Region] = []
    while (e := len(number)) < ends[-1]:
        kind, mode = next(way for word, way in ways.items() if f"way {e} {word}" in held)
        where, by = None, 0
        if kind.reads or kind.writes:
            where = next((place[f] for f in range(e) if f"loc {f} {e}" in held), None)
            if where is None:
                where = len(regions)
                shared = f"shared {e}" in held or words.regions == (Region.SHARED,)
                regions.append(Region.SHARED if shared else Region.GLOBAL)
            elif words.aliases:
                new = 1 + max(address[f] for f in range(e) if place[f] == where)
                by = next((address[f] for f in range(e) if f"vloc {f} {e}" in held), new)
        threads[next(t for t, end in enumerate(ends) if e < end)].append(Step(kind, where, mode, by))
        number += [number[-1] + 1 if number else 0] * kind.events
        place += [where] * kind.events
        address += [by] * kind.events
    events = range(len(number))
    dependencies = (
        Dependency(kind, number[r], number[e])
        for r, e in combinations(events, 2)
        for kind in ("addr", "data", "ctrl")
        if f"{'branch' if kind == 'ctrl' else kind} {r} {e}" in held
    )
    sources = {number[r]: number[w] for w, r in permutations(events, 2) if f"rf {w} {r}" in held}
    sources |= {number[r]: INITIAL for r in events if f"init {r}" in held}
    final = {place[w]: number[w] for w in events if f"final {w}" in held}
    whole = Execution(
        tuple(map(tuple, threads)),
        tuple(_places(held, len(sizes), words)),
        tuple(regions),
        tuple(sorted(dependencies)),
        tuple(sources.get(i) for i in range(number[-1] + 1)),
        frozenset(),
        tuple(final.get(where) for where in range(len(regions))),
        tuple((t, u) for t, u in permutations(range(len(sizes)), 2) if f"ssw {t} {u}" in held),
    )
    last = ((write, other) for where, write in enumerate(whole.final) for other in whole.writes(where))
    return replace(whole, co=frozenset((other, write) for write, other in last if write not in (None, other)))


def _places(held: Container[str], threads: int, words: Vocabulary) -> tuple[Place, ...]:
    def group(level: Scope, thread: int, fixed: int) -> int:
        if level not in words.levels:
            return fixed
        return next(t for t in range(thread + 1) if t == thread or f"same {level.label} {t} {thread}" in held)

    fixed = {Scope.GPU: 0, Scope.QUEUE: 0}
    levels = (Scope.GPU, Scope.QUEUE, Scope.CTA, Scope.WARP)
    return renumbered(Place(*(group(level, t, fixed.get(level, t)) for level in levels)) for t in range(threads))


# Judgements of the model


def can_happen(execution: Execution, model: Model) -> bool:
    """Whether the model allows, or flags, some execution with the outcome of a given one. Raises ``TooManyError``."""
    test = litmus_test(execution, "test", observed=False)
    for batch, allowed, results in judged(test, unroll_threads(test, UNROLL), model):
        wanted = batch.satisfying(test.condition.proposition)
        if wanted & allowed or any(result.check.flag and result.truth & wanted for result in results):
            return True
    return False


def forbidden(execution: Execution, model: Model, _: Vocabulary) -> str:
    """The reason why a program with an outcome may be a test, though a unit claims that it is none; empty where the
    outcome can come about.

    Raises ``TooManyError``.
    """
    return "" if can_happen(execution, model) else f"{model.name} forbids its outcome, which is said to be allowed"


def lacks(execution: Execution, model: Model, words: Vocabulary) -> str:
    """The reason why a program with an outcome is no minimal test of a model; empty where it is one.

    Raises ``TooManyError``.
    """
    if can_happen(execution, model):
        return f"its outcome is not forbidden by {model.name}"
    for step in relaxations(execution, words):
        if not can_happen(relaxed(execution, step, words), model):
            return f"is not minimal: it is forbidden after this, too: {step.text}"
    return ""
