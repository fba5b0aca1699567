"""Whether the clauses that a unit adds to the formula of its shape are what they say, and nothing is left with them.

Only the meaning of variables is taken from the formula's file; what follows is derived here from tests and sets of
states, and the search's code is not used:

- *case*: unit clauses, each that an instruction has a certain jump. The cases of a shape must cover all its programs
  (``check_cases``).
- *blocks*: for a program, a clause for each of its images under permutation of threads that has the shape: one of its
  fields differs. It excludes these programs alone, and does no harm where they are in the corpus or not asked for; that
  is for ``oracle.certificates.tests``.
- *entry*: for a set of states without the start, a clause for each of them: it is not reachable unless a step enters
  the set.
- *exit*: for a set of states without an end, a clause for each: where it is reachable, some step leaves the set.

The last two are loop formulas (Lin and Zhao, ASSAT, 2004). They hold for every progress test of the shape: states are
reachable by steps from the start, and from every reachable state an end can be reached (Sorensen et al. 2021, section
5.1). *Step* means that a thread goes from its instruction to any of its own, or to its end, and at most one cell of
memory changes: no program does more.

A proof that formula and clauses have no model then says that each program of the case that satisfies the formula is
blocked. Assumption: the formula is satisfied by every progress test of the shape, or by one of its images.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from corpus.progress.axb import Program, instructions, rename_locations
from corpus.progress.certificates import State, head, numbers_word, read_program, read_state, state_word
from oracle.certificates.refusal import RefusedError

Clause = tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """Lengths of the threads in ascending order, and how many locations and values there are at most."""

    lengths: tuple[int, ...]
    locations: int
    values: int


@dataclass(frozen=True)
class Formula:
    """The formula of a shape: its variables by what they mean, such as ``jump 0 1 2``, and its clauses."""

    shape: Shape
    variables: dict[str, int]
    clauses: list[Clause]

    def var(self, kind: str, *words: object) -> int:
        """A variable by its meaning. Raises ``RefusedError`` where the formula has none."""
        name = " ".join(map(str, (kind, *words)))
        if name not in self.variables:
            raise RefusedError(f"the formula has no variable '{name}'")
        return self.variables[name]


@dataclass(frozen=True)
class Claims:
    """What a unit claims: its case, the jump of some (thread, instruction) each, the programs that it blocks, how many
    of its clauses are refinements, and all of them."""

    case: dict[tuple[int, int], int]
    programs: list[Program]
    refinements: int
    clauses: list[Clause]


def read_formula(shape: Shape, lines: Sequence[str]) -> Formula:
    """The formula of a shape. Raises ``RefusedError`` with the line that is not as it should be."""
    if not lines or lines[0] != head(shape.lengths, shape.locations, shape.values):
        raise RefusedError("line 1: expected " + head(shape.lengths, shape.locations, shape.values))
    variables: dict[str, int] = {}
    clauses = []
    for number, line in enumerate(lines[1:], 2):
        if line.startswith("c "):
            variable, _, name = line[2:].partition(" ")
            if variable != str(len(variables) + 1) or name in variables:
                raise RefusedError(f"line {number}: expected what variable {len(variables) + 1} means")
            variables[name] = len(variables) + 1
        else:
            clauses.append(_clause(line, number, len(variables)))
    return Formula(shape, variables, clauses)


def check_clauses(formula: Formula, lines: Sequence[str]) -> Claims:
    """What a unit adds to the formula of its shape. Raises ``RefusedError`` where a clause is not what it says."""
    own: list[Clause] = []
    case: dict[tuple[int, int], int] | None = None
    programs: list[Program] = []
    refinements = 0
    for why, clauses, number in _groups(lines, len(formula.variables)):
        kind, _, word = why.partition(" ")
        expected: list[Clause]
        try:
            if (kind == "case") != (case is None):
                raise RefusedError(f"line {number}: expected one case, before all others")
            if kind == "case":
                case = _read_case(word)
                expected = [(formula.var("jump", *site, jump),) for site, jump in case.items()]
            elif kind == "blocks":
                programs.append(read_program(word))
                expected = list(_blocks(formula, programs[-1]))
            elif kind in ("entry", "exit"):
                states = {read_state(each) for each in word.split(" ")}
                expected = list((_entry if kind == "entry" else _exit)(formula, states))
                refinements += len(expected)
            else:
                raise ValueError
        except ValueError:
            raise RefusedError(f"line {number}: expected a case, a test that is blocked, an entry or an exit") from None
        if {frozenset(clause) for clause in clauses} != {frozenset(clause) for clause in expected}:
            raise RefusedError(f"line {number}: the clauses are not those of: {why}")
        own += clauses
    assert case is not None  # there is a group, and the first is it
    promised = f"p cnf {len(formula.variables)} {len(own) + len(formula.clauses)}"
    if lines[0] != promised:
        raise RefusedError(f"line 1: expected {promised}")
    return Claims(case, programs, refinements, own)


def check_cases(shape: Shape, cases: Sequence[dict[tuple[int, int], int]]) -> None:
    """Raises ``RefusedError`` where a program of the shape is in none of the cases; all name the same instructions."""
    sites = list(cases[0]) if cases else []
    if any(not (t < len(shape.lengths) and i < shape.lengths[t]) for t, i in sites):
        raise RefusedError("a case names an instruction that no program has")
    jumps = {tuple(case.get(site) for site in sites) for case in cases if len(case) == len(sites)}
    for needed in product(*(range(shape.lengths[t] + 1) for t, _ in sites)):
        if needed not in jumps:
            words = (f"instruction {i} of thread {t} goes to {j}" for (t, i), j in zip(sites, needed, strict=True))
            raise RefusedError("no unit has the programs in which " + ", ".join(words))


def _groups(lines: Sequence[str], variables: int) -> Iterator[tuple[str, list[Clause], int]]:
    """The clauses of a unit by the comment before them, with its line."""
    why, clauses, start = "", list[Clause](), 0
    for number, line in enumerate(lines[1:], 2):
        if line.startswith("c "):
            if start:
                yield why, clauses, start
            why, clauses, start = line[2:], [], number
        elif not start:
            raise RefusedError(f"line {number}: expected where the clause comes from")
        else:
            clauses.append(_clause(line, number, variables))
    if not start:
        raise RefusedError("the file of the unit's clauses is empty")
    yield why, clauses, start


def _clause(line: str, number: int, variables: int) -> Clause:
    try:
        *literals, end = map(int, line.split())
    except ValueError:
        raise RefusedError(f"line {number}: expected a clause") from None
    if end != 0 or not literals or not all(0 < abs(literal) <= variables for literal in literals):
        raise RefusedError(f"line {number}: expected a clause of variables 1 to {variables}")
    return tuple(literals)


def _read_case(word: str) -> dict[tuple[int, int], int]:
    case = {}
    for each in word.split(" ") if word else ():
        t, i, jump = map(int, each.split("."))
        case[t, i] = jump
    return case


def _blocks(formula: Formula, program: Program) -> Iterator[Clause]:
    lengths = formula.shape.lengths
    if len(program.threads) != len(lengths):
        raise RefusedError(f"a program of {len(program.threads)} threads is not of the shape")
    for order in permutations(program.threads):
        if tuple(map(len, order)) == lengths:
            clause = []
            for t, i, ins in instructions(rename_locations(Program(order))):
                write = -1 if ins.exchange is None else ins.exchange
                fields = (("location", ins.location), ("check", ins.check), ("jump", ins.jump), ("write", write))
                clause += [-formula.var(kind, t, i, value) for kind, value in fields]
            yield tuple(clause)


def _entry(formula: Formula, states: set[State]) -> Iterator[Clause]:
    start = (0,) * formula.shape.locations, (0,) * len(formula.shape.lengths)
    if start in states:
        raise RefusedError("an entry for a set of states that has the start")
    entries = {
        formula.var("support", state_word(before), t, state_word(after))
        for before in _states(formula.shape)
        if before not in states
        for t, _, after in _steps(formula.shape, before)
        if after in states
    }
    for state in states:
        yield (-formula.var("reach", state_word(state)), *entries)


def _exit(formula: Formula, states: set[State]) -> Iterator[Clause]:
    if any(counters == formula.shape.lengths for _, counters in states):
        raise RefusedError("an exit for a set of states that has an end")
    known = set(_states(formula.shape))
    exits = {
        formula.var("step", t, before[1][t], numbers_word(before[0]), jump, numbers_word(after[0]))
        for before in states & known
        for t, jump, after in _steps(formula.shape, before)
        if after not in states
    }
    for state in states:
        yield (-formula.var("reach", state_word(state)), *exits)


def _states(shape: Shape) -> Iterator[State]:
    counters = list(product(*(range(length + 1) for length in shape.lengths)))
    yield from product(product(range(shape.values), repeat=shape.locations), counters)


def _steps(shape: Shape, state: State) -> Iterator[tuple[int, int, State]]:
    """Each thread, the instruction it goes to, and the state after it: what some program does from a state."""
    memory, counters = state
    memories = {
        (*memory[:cell], value, *memory[cell + 1 :]) for cell in range(shape.locations) for value in range(shape.values)
    }
    for t, length in enumerate(shape.lengths):
        if counters[t] < length:
            for jump, after in product(range(length + 1), memories):
                yield t, jump, (after, (*counters[:t], jump, *counters[t + 1 :]))
