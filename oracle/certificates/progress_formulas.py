"""The checker of the formulas of progress shapes: every progress test of a shape must satisfy them, whoever wrote them.

For each test there is an assignment, its *meaning*: a variable holds where what its name says is so of the test, put in
order. Here each clause of a file is shown to hold in the meaning of every test; one that is not known to is refused. So
no test is lost. A formula that says too little has models that no clause of a unit excludes, and then it has no proof.
``constraints.progress``, which writes the formulas, is not used.

**Order.** Threads of one length stand in the order of their (jump, write, check), instruction by instruction; then
locations are numbered by their first occurrence, thread by thread. Any test has such an image.

**Meaning.** Of an instruction i of thread t, with (a) of ``oracle.progress.wellformed``: ``location``, ``check``,
``write`` (-1: none), ``jump``; ``tests t i l``, it branches on l; in memory m ``equal``, its comparison holds,
``goes .. j``, control goes to j, ``leaves .. n``, memory is n then, ``step .. j n``, both. Of states: ``reach``, it is
reachable; ``support s t s'``, s is, and t's step leads from s to s'; ``visits t i m``, a reachable state has t at i and
memory m, and ``changes``, ``holds``, ``fails``, then the step changes memory, the comparison holds or does not;
``turns s``, s is reachable and some run from it is endless, ``turn s t``, and so it is after t's step. ``equal so far
t i f``: threads t and t + 1 agree in all up to field f of instruction i.

**Clauses** are shown in two ways. A clause about a single instruction is tried on all instructions of the shape. Other
clauses have to be one of the following, written anew from the definition of tests:

- locations occur in order; of two threads of one length, the first is not the greater;
- (b), (c): an exchange has a test of its location in another thread, and a reached step that changes memory; a branch
  has a use of its location in another thread, and reached states where it holds and where it fails;
- the start is reached, and what a step leads to from there; a reached state but the start has a step into it;
- a state turns, and then is reached; one that turns has a step after which it goes on to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from corpus.progress.axb import Instruction
from corpus.progress.certificates import State, numbers_word, state_word
from oracle.certificates.clauses import Clause
from oracle.certificates.refusal import RefusedError
from oracle.certificates.units import ProgressFormula, UnitShape, states_of, steps_of

_FIELDS = ("jump", "write", "check")
"""The fields of instructions by which threads are ordered."""

Said = list[tuple[bool, str]]
"""A clause, as facts and their truth values, of which at least one is right."""


def check_formula(formula: ProgressFormula) -> None:
    """Checks a formula. Raises ``RefusedError`` with the first clause that is not known to hold for every progress
    test of the shape, or the first variable without a meaning."""
    local = _Instructions(formula.shape)
    known: set[str] = set()
    others: set[frozenset[int]] = set()
    for axiom in _axioms(formula.shape):
        known.update(literal for _, literal in axiom)
        if all(name in formula.variables for _, name in axiom):
            others.add(frozenset(formula.variables[name] * (1 if holds else -1) for holds, name in axiom))
    for name, variable in formula.variables.items():
        if name not in known and not local.speaks_of(name):
            raise RefusedError(f"variable {variable} of the formula means nothing: {name}")
    for number, clause in enumerate(formula.clauses, 1):
        if frozenset(clause) not in others and not local.hold(clause, formula.names):
            words = " or ".join(("" if literal > 0 else "not ") + formula.names[abs(literal)] for literal in clause)
            raise RefusedError(f"clause {number} of the formula is none that every test satisfies: {words}")


class _Instructions:
    """All instructions that a site may have, and for each variable the set of those for which it holds, as bits."""

    def __init__(self, shape: UnitShape) -> None:
        self._shape = shape
        self._sites: dict[tuple[str, str], list[Instruction]] = {}
        self._truths: dict[str, tuple[tuple[str, str], int] | None] = {}

    def hold(self, clause: Clause, names: dict[int, str]) -> bool:
        """Whether a clause is about one instruction, and holds for every instruction that a site may have."""
        sites, either = set(), 0
        for literal in clause:
            found = self._truth(names[abs(literal)])
            if found is None:
                return False
            site, truth = found
            sites.add(site)
            every = (1 << len(self._sites[site])) - 1
            either |= truth if literal > 0 else every ^ truth
        return len(sites) == 1 and either == every

    def speaks_of(self, name: str) -> bool:
        """Whether a variable is about one instruction."""
        return self._truth(name) is not None

    def _truth(self, name: str) -> tuple[tuple[str, str], int] | None:
        if name not in self._truths:
            try:
                kind, t, i, *words = name.split(" ")
                says, instructions = _LOCAL[kind], self._instructions((t, i))
                bits = (says(ins, int(i), words) << n for n, ins in enumerate(instructions))
                self._truths[name] = (t, i), sum(bits)
            except (ValueError, LookupError, TypeError):  # the clause is not about one instruction
                self._truths[name] = None
        return self._truths[name]

    def _instructions(self, site: tuple[str, str]) -> list[Instruction]:
        if site not in self._sites:
            shape, (t, i) = self._shape, map(int, site)
            if not (0 <= t < len(shape.lengths) and 0 <= i < shape.lengths[t]):
                raise LookupError(site)
            fields = product(
                range(shape.locations), range(shape.values), range(shape.lengths[t] + 1), (None, *range(shape.values))
            )
            every = (Instruction(*row) for row in fields)
            self._sites[site] = [ins for ins in every if ins.branches(i) or ins.is_store(i)]
        return self._sites[site]


def _memory(word: str) -> tuple[int, ...]:
    return tuple(map(int, word.split(".")))


def _equal(ins: Instruction, memory: str) -> bool:
    return _memory(memory)[ins.location] == ins.check


def _goes(ins: Instruction, pc: int, memory: str, jump: str) -> bool:
    return int(jump) == (ins.jump if _equal(ins, memory) else pc + 1)


def _leaves(ins: Instruction, before: str, after: str) -> bool:
    memory = list(_memory(before))
    if ins.exchange is not None:
        memory[ins.location] = ins.exchange
    return numbers_word(memory) == after


_LOCAL: dict[str, Callable[[Instruction, int, list[str]], bool]] = {
    "location": lambda ins, pc, words: ins.location == int(words[0]),
    "check": lambda ins, pc, words: ins.check == int(words[0]),
    "jump": lambda ins, pc, words: ins.jump == int(words[0]),
    "write": lambda ins, pc, words: (-1 if ins.exchange is None else ins.exchange) == int(words[0]),
    "tests": lambda ins, pc, words: ins.branches(pc) and ins.location == int(words[0]),
    "equal": lambda ins, pc, words: _equal(ins, words[0]),
    "goes": lambda ins, pc, words: _goes(ins, pc, *words),
    "leaves": lambda ins, pc, words: _leaves(ins, *words),
    "step": lambda ins, pc, words: _goes(ins, pc, words[0], words[1]) and _leaves(ins, words[0], words[2]),
}
"""The meaning of a variable about an instruction, given its place and the further words of the name."""


def _axioms(shape: UnitShape) -> Iterator[Said]:
    """The clauses that hold for every progress test of a shape and are about more than one instruction."""
    yield from _order(shape)
    yield from _influence(shape)
    yield from _runs(shape)


def _order(shape: UnitShape) -> Iterator[Said]:
    sites = [(t, i) for t, length in enumerate(shape.lengths) for i in range(length)]
    for n, (t, i) in enumerate(sites):
        for location in range(1, shape.locations):
            before = [(True, f"location {u} {j} {location - 1}") for u, j in sites[:n]]
            yield [(False, f"location {t} {i} {location}"), *before]
    for t, u in ((t, t + 1) for t in range(len(shape.lengths) - 1) if shape.lengths[t] == shape.lengths[t + 1]):
        so_far: Said = []
        for i, field in product(range(shape.lengths[t]), _FIELDS):
            equal = f"equal so far {t} {i} {field}"
            for one, other in product(range(-1, max(shape.values, shape.lengths[t] + 1)), repeat=2):
                both = [*so_far, (False, f"{field} {t} {i} {one}"), (False, f"{field} {u} {i} {other}")]
                if one == other:
                    yield [*both, (True, equal)]
                elif one > other:
                    yield both
            so_far = [(False, equal)]


def _influence(shape: UnitShape) -> Iterator[Said]:
    sites = [(t, i) for t, length in enumerate(shape.lengths) for i in range(length)]
    memories = list(dict.fromkeys(numbers_word(memory) for memory, _ in states_of(shape)))
    for t, i in sites:
        others = [site for site in sites if site[0] != t]
        exchanges_not, branches_not = (True, f"write {t} {i} -1"), (True, f"jump {t} {i} {i + 1}")
        for location in range(shape.locations):
            here = (False, f"location {t} {i} {location}")
            yield [here, exchanges_not, *((True, f"tests {u} {j} {location}") for u, j in others)]
            yield [here, branches_not, *((True, f"location {u} {j} {location}") for u, j in others)]
        for unless, kind, holds, fact in (
            (exchanges_not, "changes", False, "leaves {t} {i} {m} {m}"),
            (branches_not, "holds", True, "equal {t} {i} {m}"),
            (branches_not, "fails", False, "equal {t} {i} {m}"),
        ):
            yield [unless, *((True, f"{kind} {t} {i} {memory}") for memory in memories)]
            for memory in memories:
                yield [(False, f"{kind} {t} {i} {memory}"), (True, f"visits {t} {i} {memory}")]
                yield [(False, f"{kind} {t} {i} {memory}"), (holds, fact.format(t=t, i=i, m=memory))]
        visited: dict[str, Said] = {memory: [] for memory in memories}
        for state in states_of(shape):
            if state[1][t] == i:
                visited[numbers_word(state[0])].append((True, f"reach {state_word(state)}"))
        for word, reached in visited.items():
            yield [(False, f"visits {t} {i} {word}"), *reached]


def _runs(shape: UnitShape) -> Iterator[Said]:
    every = list(states_of(shape))
    start = state_word(((0,) * shape.locations, (0,) * len(shape.lengths)))
    entries: dict[str, Said] = {state_word(state): [] for state in every}
    yield [(True, f"reach {start}")]
    yield [(True, f"turns {state}") for state in entries]
    for state in every:
        word = state_word(state)
        running = [t for t, length in enumerate(shape.lengths) if state[1][t] < length]
        yield [(False, f"turns {word}"), (True, f"reach {word}")]
        yield [(False, f"turns {word}"), *((True, f"turn {word} {t}") for t in running)]
        for t, jump, after in steps_of(shape, state):
            step, there = (False, _step(state, t, jump, after)), state_word(after)
            yield [(False, f"reach {word}"), step, (True, f"reach {there}")]
            yield [(False, f"turn {word} {t}"), step, (True, f"turns {there}")]
            if there not in (word, start):
                support = f"support {word} {t} {there}"
                yield [(False, support), (True, f"reach {word}")]
                yield [(False, support), (True, step[1])]
                entries[there].append((True, support))
    for there, supports in entries.items():
        if there != start:
            yield [(False, f"reach {there}"), *supports]


def _step(before: State, t: int, jump: int, after: State) -> str:
    return f"step {t} {before[1][t]} {numbers_word(before[0])} {jump} {numbers_word(after[0])}"
