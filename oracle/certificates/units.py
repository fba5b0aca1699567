"""The checker of the units of a progress suite: whether the clauses that a unit adds to its shape's formula are valid.

Only the meaning of variables is taken from the formula's file. Clauses are derived here from tests and sets of states,
and the search's code is not used:

- *case*: unit clauses, each that an instruction has a certain jump. The cases of a shape must cover all its programs
  (``check_cases``).
- *blocks*: for a program, a clause for each of its images under permutation of threads that has the shape: one of its
  fields differs. The clauses exclude these programs alone, and do no harm where the programs are in the corpus or were
  not asked for; ``oracle.certificates.tests`` checks that.
- *entry*: for a set of states without the start, a clause for each of them: it is not reachable unless a step enters
  the set.
- *exit*: for a set of states without an end, a clause for each: where it is reachable, some step leaves the set.

The last two are loop formulas (Lin and Zhao, ASSAT, 2004). They hold for every progress test of the shape: states are
reachable by steps from the start, and from every reachable state an end can be reached (Sorensen et al. 2021, section
5.1). *Step* means that a thread goes from its instruction to any of its own, or to its end, and at most one cell of
memory changes: no program does more.

A proof that formula and clauses have no model then shows that each program of the case that satisfies the formula is
blocked. ``oracle.certificates.progress_formulas`` shows that every progress test of the shape, or one of its images,
satisfies the formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from corpus.progress.axb import Program, instructions, rename_locations
from corpus.progress.certificates import State, head, numbers_word, read_case, read_program, read_state, state_word
from oracle.certificates.clauses import CertifiedFormula as Clauses
from oracle.certificates.clauses import Clause, read_clauses, read_groups
from oracle.certificates.refusal import RefusedError


@dataclass(frozen=True)
class UnitShape:
    """The shape that a unit is about: lengths of threads in ascending order, and maxima of locations and values."""

    lengths: tuple[int, ...]
    locations: int
    values: int


@dataclass(frozen=True)
class ProgressFormula(Clauses):
    """The certified formula of a shape of progress tests."""

    shape: UnitShape


@dataclass(frozen=True)
class ProgressUnitClaims:
    """The claims of a unit: its case, as jumps of (thread, instruction) pairs, the programs that it blocks, its
    number of refinements, and all of its clauses."""

    case: dict[tuple[int, int], int]
    programs: list[Program]
    refinements: int
    clauses: list[Clause]


def read_formula(shape: UnitShape, lines: Iterable[str]) -> ProgressFormula:
    """The formula of a shape, read from its file. Raises ``RefusedError`` with the first line that is wrong."""
    read = read_clauses(head(shape.lengths, shape.locations, shape.values), lines)
    return ProgressFormula(read.variables, read.clauses, shape)


def check_clauses(formula: ProgressFormula, lines: Iterable[str]) -> ProgressUnitClaims:
    """The clauses that a unit adds to the formula of its shape, checked.

    Raises ``RefusedError`` where a clause is not what its comment stands for.
    """
    cases: list[dict[tuple[int, int], int]] = []
    programs: list[Program] = []
    refinements = 0

    def derive(kind: str, word: str, _: list[Clause]) -> list[Clause] | None:
        nonlocal refinements
        if (kind == "case") == bool(cases):
            raise RefusedError("expected one case, before all others")
        if kind == "case":
            cases.append({(t, i): jump for t, i, jump in read_case(word)})
            return [(formula.var("jump", *site, jump),) for site, jump in cases[0].items()]
        if kind == "blocks":
            programs.append(read_program(word))
            return list(_blocks(formula, programs[-1]))
        if kind not in ("entry", "exit"):
            return None
        states = {read_state(state) for state in word.split(" ")}
        found = list((_entry if kind == "entry" else _exit)(formula, states))
        refinements += len(found)
        return found

    own = read_groups(formula, lines, derive)
    if not cases:
        raise RefusedError("expected one case, before all others")
    return ProgressUnitClaims(cases[0], programs, refinements, own)


def check_cases(shape: UnitShape, cases: Sequence[dict[tuple[int, int], int]]) -> None:
    """Raises ``RefusedError`` where some program of the shape is in none of the cases; one set of instructions is
    named by all cases."""
    sites = list(cases[0]) if cases else []
    if any(not (0 <= t < len(shape.lengths) and 0 <= i < shape.lengths[t]) for t, i in sites):
        raise RefusedError("a case names an instruction that no program has")
    jumps = {tuple(case.get(site) for site in sites) for case in cases if len(case) == len(sites)}
    for needed in product(*(range(shape.lengths[t] + 1) for t, _ in sites)):
        if needed not in jumps:
            words = (f"instruction {i} of thread {t} goes to {j}" for (t, i), j in zip(sites, needed, strict=True))
            raise RefusedError("no unit has the programs in which " + ", ".join(words))


def _blocks(formula: ProgressFormula, program: Program) -> Iterator[Clause]:
    shape, lengths = formula.shape, formula.shape.lengths
    own = sorted(map(len, program.threads))
    if own != list(lengths) or program.locations > shape.locations or program.values > shape.values:
        raise RefusedError(f"a program of threads of {own} instructions is not of the shape")
    for order in permutations(program.threads):
        if tuple(map(len, order)) == lengths:
            clause = []
            for t, i, ins in instructions(rename_locations(Program(order))):
                write = -1 if ins.exchange is None else ins.exchange
                fields = (("location", ins.location), ("check", ins.check), ("jump", ins.jump), ("write", write))
                clause += [-formula.var(kind, t, i, value) for kind, value in fields]
            yield tuple(clause)


def _entry(formula: ProgressFormula, states: set[State]) -> Iterator[Clause]:
    start = (0,) * formula.shape.locations, (0,) * len(formula.shape.lengths)
    if start in states:
        raise RefusedError("an entry for a set of states that has the start")
    entries = {
        formula.var("support", state_word(before), t, state_word(after))
        for before in states_of(formula.shape)
        if before not in states
        for t, _, after in steps_of(formula.shape, before)
        if after in states
    }
    for state in states:
        yield (-formula.var("reach", state_word(state)), *entries)


def _exit(formula: ProgressFormula, states: set[State]) -> Iterator[Clause]:
    if any(counters == formula.shape.lengths for _, counters in states):
        raise RefusedError("an exit for a set of states that has an end")
    known = set(states_of(formula.shape))
    exits = {
        formula.var("step", t, before[1][t], numbers_word(before[0]), jump, numbers_word(after[0]))
        for before in states & known
        for t, jump, after in steps_of(formula.shape, before)
        if after not in states
    }
    for state in states:
        yield (-formula.var("reach", state_word(state)), *exits)


def states_of(shape: UnitShape) -> Iterator[State]:
    """Every state that a program of the shape may have."""
    counters = list(product(*(range(length + 1) for length in shape.lengths)))
    yield from product(product(range(shape.values), repeat=shape.locations), counters)


def steps_of(shape: UnitShape, state: State) -> Iterator[tuple[int, int, State]]:
    """The steps that some program takes from a state: the thread, the instruction it goes to, and the state after
    it."""
    memory, counters = state
    memories = {
        (*memory[:cell], value, *memory[cell + 1 :]) for cell in range(shape.locations) for value in range(shape.values)
    }
    for t, length in enumerate(shape.lengths):
        if counters[t] < length:
            for jump, after in product(range(length + 1), memories):
                yield t, jump, (after, (*counters[:t], jump, *counters[t + 1 :]))
