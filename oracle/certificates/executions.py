"""Whether what a unit of a suite from a model adds to its formula is what it says, and whether tests are what they say.

What the variables of the formula mean stands in ``oracle.certificates.programs``; what follows is derived here from
executions:

- *blocks* and *allowed*: for a program with an outcome, a clause for each way to put its threads in the places of
  threads of as many events: something of it is different. What is different is said of every instruction, of every two
  accesses, groups, dependencies, reads and last writes; so a clause excludes this program with this outcome alone. It
  does no harm to block what is in the corpus, or was not asked for, or, *allowed*, is no test: some execution of the
  program has the outcome, and the model allows it or raises a flag.

A test is minimal where the model forbids its outcome and after every single relaxation allows what is left of it
(``corpus.executions.relaxations``); judged by listing executions.

That every test of these sizes satisfies the formula, or one of its images, is for
``oracle.certificates.model_formulas``. Gap: outcomes, not executions, are what is said to be forbidden
(``--criterion outcome``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations, permutations

from corpus.errors import InputError
from corpus.executions.execution import DEPENDENCIES, INITIAL, Execution, Kind
from corpus.executions.litmus import litmus_test
from corpus.executions.relaxations import relaxations, relaxed
from corpus.executions.text import parse_execution
from corpus.executions.vocabulary import Vocabulary, spelled_mode
from corpus.litmus.test import Region
from oracle.cat.interpreter import Model
from oracle.certificates.clauses import Clause, Formula, read_groups
from oracle.certificates.refusal import RefusedError
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import judged
from oracle.executions.threads import unroll_threads


@dataclass(frozen=True)
class Claims:
    """What a unit claims: the tests that it blocks, what is said to be none, and all of its clauses."""

    tests: list[Execution] = field(default_factory=list)
    allowed: list[Execution] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)


def check_clauses(formula: Formula, sizes: Sequence[int], words: Vocabulary, lines: Iterable[str]) -> Claims:
    """What a unit adds to the formula of programs whose threads have these sizes.

    Raises ``RefusedError`` where a clause is not what it says.
    """
    claims = Claims()

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


def exclusions(formula: Formula, sizes: Sequence[int], words: Vocabulary, execution: Execution) -> Iterator[Clause]:
    """A clause for each way to put the threads of an execution in the places of threads of these sizes.

    Raises ``RefusedError`` where there is none, or where the formula has no variable for what is said.
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
    for slots in permutations(range(len(sizes))):
        if all(sizes[slot] == size for slot, size in zip(slots, own, strict=True)):
            names = _Placed(execution, slots, starts, words).said()
            yield tuple(-formula.var(name) if holds else formula.var(name) for name, holds in names)


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
        """The event that writes."""
        return self.first[instruction] + (self.execution.steps[instruction].kind is Kind.UPDATE)

    def said(self) -> Iterator[tuple[str, bool]]:
        """What variables mean that are said of the execution, and whether that is so."""
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


# What the model says


def can_happen(execution: Execution, model: Model) -> bool:
    """Whether some execution with the outcome is allowed, or raises a flag. Raises ``TooManyError``."""
    test = litmus_test(execution, "test", observed=False)
    for batch, allowed, results in judged(test, unroll_threads(test, UNROLL), model):
        asked = batch.satisfying(test.condition.proposition)
        if asked & allowed or any(result.check.flag and result.truth & asked for result in results):
            return True
    return False


def forbidden(execution: Execution, model: Model, _: Vocabulary) -> str:
    """Why a program with an outcome may be a test, where it should be none; empty where the outcome can come about.

    Raises ``TooManyError``."""
    return "" if can_happen(execution, model) else f"{model.name} forbids its outcome, which is said to be allowed"


def lacks(execution: Execution, model: Model, words: Vocabulary) -> str:
    """Why a program with an outcome is no minimal test of a model; empty where it is one. Raises ``TooManyError``."""
    if can_happen(execution, model):
        return f"its outcome is not forbidden by {model.name}"
    for step in relaxations(execution, words):
        if not can_happen(relaxed(execution, step, words), model):
            return f"is not minimal: it is forbidden after this, too: {step.text}"
    return ""
