"""The encoding of progress tests: what is reached is really reached, ends are really in reach, and nothing is lost."""

from dataclasses import replace
from itertools import permutations

import pytest
from bruteforce import all_tests, is_valid_test, start, successors
from encoded import Asked, shapes, solved

from constraints.formula import Clause
from constraints.loop import SolverEffort, solutions
from constraints.progress import Loop, ProgramShape, ProgressEncoding
from corpus.progress.axb import Program, thread_images
from corpus.progress.text import parse_axb
from oracle.progress.lts import explore

# Thread 1 can never be at its instruction 1: from memory 0 its first step ends it. But the states in which it is there
# with memory 1 lead to each other, and could claim that they are reached; then both of its branches seem possible.
VOUCHING = """
THREAD 0
0: if (Exch(Mem[0],0) == 0) goto 0;
THREAD 1
0: if (Exch(Mem[0],1) == 0) goto END;
1: if (Mem[0] == 1) goto 0;
"""
VOUCHING_WITH_AN_EXCHANGE = """
THREAD 0
0: if (Exch(Mem[0],0) == 1) goto 0;
THREAD 1
0: if (Exch(Mem[0],1) == 0) goto END;
1: if (Mem[0] == 1) goto 0;
"""
# Once thread 1 has ended with memory 1, thread 0 spins for ever, whatever the scheduler does.
SPINNING = """
THREAD 0
0: if (Mem[0] == 1) goto 0;
THREAD 1
0: Mem[0] = 1;
"""
# Thread 1 may take back the 1 that thread 0 waits for, and end.
TRAPPED = """
THREAD 0
0: if (Exch(Mem[0],0) == 0) goto 0;
THREAD 1
0: if (Exch(Mem[0],1) == 0) goto 0;
1: Mem[0] = 0;
"""


def shape_of(program: Program) -> ProgramShape:
    return ProgramShape(tuple(map(len, program.threads)), 2, 2)


class WithoutEntries(ProgressEncoding):
    """The encoding in which states may vouch for each other."""

    def loop_formulas(self, loop: Loop) -> list[Clause]:
        return [] if loop.needs == "entry" else super().loop_formulas(loop)


class WithoutExits(ProgressEncoding):
    """The encoding in which a state need not reach an end."""

    def loop_formulas(self, loop: Loop) -> list[Clause]:
        return [] if loop.needs == "exit" else super().loop_formulas(loop)


class Unrefined(ProgressEncoding):
    def refine(self, *solution: object) -> list[Clause]:
        return []


def enumerated(shape: ProgramShape, encoding: type[ProgressEncoding] = ProgressEncoding) -> set[Program]:
    return {solution.program for solution in solutions(encoding(shape), "minisat22")}


def reached(program: Program) -> dict[tuple, int]:
    """Every reachable state and the steps of a shortest way to it."""
    distance = {start(program): 0}
    todo = list(distance)
    for state in todo:  # grows while we walk it
        for _, after in successors(program, state):
            if after not in distance:
                distance[after] = distance[state] + 1
                todo.append(after)
    return distance


def to_the_end(program: Program) -> dict[tuple, int]:
    """Every state from which an end is reachable and the steps of a shortest way there."""
    before: dict[tuple, list[tuple]] = {}
    for state in reached(program):
        for _, after in successors(program, state):
            before.setdefault(after, []).append(state)
    distance = {state: 0 for state in reached(program) if not list(successors(program, state))}
    todo = list(distance)
    for state in todo:  # grows while we walk it
        for earlier in before.get(state, []):
            if earlier not in distance:
                distance[earlier] = distance[state] + 1
                todo.append(earlier)
    return distance


# Well-foundedness


@pytest.mark.parametrize("text", [VOUCHING, VOUCHING_WITH_AN_EXCHANGE], ids=["load", "exchange"])
def test_states_cannot_vouch_for_each_other(text):
    program = parse_axb(text)
    assert not is_valid_test(program)
    assert not any(counters[1] == 1 for _, counters in reached(program))
    assert not Asked(shape_of(program)).has(program)
    assert Asked(shape_of(program), WithoutEntries).has(program)


@pytest.mark.parametrize("text", [SPINNING, TRAPPED], ids=["spin", "trap"])
def test_every_reachable_state_reaches_an_end(text):
    program = parse_axb(text)
    assert not is_valid_test(program)
    assert len(to_the_end(program)) < len(reached(program))
    assert not Asked(shape_of(program)).has(program)
    assert Asked(shape_of(program), WithoutExits).has(program)


def test_without_refinement_programs_of_both_kinds_are_found():
    """The tests above would catch an encoding without it; so would every count."""
    refined = {lengths: enumerated(ProgramShape(lengths, 2, 2)) for lengths in [(1, 1), (1, 2), (1, 1, 1)]}
    for lengths, tests in refined.items():
        raw = enumerated(ProgramShape(lengths, 2, 2), Unrefined)
        assert tests < raw
        assert all(map(is_valid_test, tests))
        assert not any(map(is_valid_test, raw - tests))
    raw = enumerated(ProgramShape((1, 2), 2, 2), Unrefined)
    assert {parse_axb(text) for text in (VOUCHING, VOUCHING_WITH_AN_EXCHANGE, TRAPPED)} <= raw - refined[1, 2]
    assert parse_axb(SPINNING) in enumerated(ProgramShape((1, 1), 2, 2), Unrefined) - refined[1, 1]
    doomed = {program for program in raw if len(to_the_end(program)) < len(reached(program))}
    assert (len(raw), len(refined[1, 2]), len(doomed)) == (219, 81, 129)


def true_literals(encoding: ProgressEncoding, program: Program) -> set[int]:
    """What a program's own LTS says of the states and steps of its shape, variable by variable."""
    var, locations = encoding.formula.var, encoding.shape.locations
    unused = (0,) * (locations - program.locations)
    claims = {number: False for (kind, *_), number in encoding.formula.names() if kind in ("reach", "support")}
    for t, i in encoding.sites:  # steps in every memory, reached or not
        for memory in encoding.memories:
            ins = program.threads[t][i]
            target = ins.jump if memory[ins.location] == ins.check else i + 1
            cells = list(memory)
            if ins.exchange is not None:
                cells[ins.location] = ins.exchange
            for jump in range(encoding.shape.lengths[t] + 1):
                for after in encoding.memories:
                    if sum(a != b for a, b in zip(memory, after, strict=True)) <= 1:
                        step = var("step", t, i, memory, jump, after)
                        claims[step] = (jump, after) == (target, tuple(cells))
    for memory, counters in reached(program):
        state = (memory + unused, counters)
        claims[var("reach", state)] = True
        for t, (cells, pcs) in successors(program, (memory, counters)):
            after = (cells + unused, pcs)
            if after not in (state, encoding.start):
                claims[var("support", state, t, after)] = True
    return {variable if holds else -variable for variable, holds in claims.items()}


@pytest.mark.parametrize("lengths", [(1, 2), (1, 1, 1), (2, 2)], ids=str)
def test_no_refinement_excludes_a_test(lengths):
    """Soundness of the lemmas: the true LTS of every test of the shape satisfies all that was ever learned."""
    encoding = ProgressEncoding(ProgramShape(lengths, 2, 2))
    variables = encoding.formula.variables
    lemmas: list[list[int]] = []
    effort = SolverEffort()
    found = {
        image
        for solution in solutions(encoding, "minisat22", lemmas=lemmas, effort=effort)
        for image, _ in solution.images
        if tuple(map(len, image.threads)) == lengths
    }
    assert len(lemmas) == effort.refinements > 0
    asked_for = 0
    for program in found:
        truth = true_literals(encoding, program)
        for lemma in lemmas:
            assert not truth.isdisjoint(lemma), (program, lemma)
            asked_for += -lemma[0] in truth  # its premise, that a state of the set is reached
    assert asked_for > 0
    assert encoding.formula.variables == variables  # the names above are those of the encoding


def test_what_is_learned_excludes_the_model_that_cheats():
    encoding = ProgressEncoding(ProgramShape((2, 2), 2, 2))
    learned = []
    refine = encoding.refine

    def watched(model, solution):
        clauses = refine(model, solution)
        assert all(all(model[abs(literal) - 1] == -literal for literal in clause) for clause in clauses)
        learned.extend(map(tuple, clauses))
        return clauses

    encoding.refine = watched
    assert len(list(solutions(encoding, "minisat22"))) == len(enumerated(encoding.shape))
    assert len(learned) == len(set(learned)) > 0


# No bound on distances

# Found by a search for far states and far ends; the numbers are the longest of all shortest ways.
FAR_STATE = """
THREAD 0
0: if (Exch(Mem[0],0) == 1) goto 0;
1: if (Exch(Mem[1],1) == 1) goto END;
2: if (Exch(Mem[0],1) == 1) goto 0;
THREAD 1
0: if (Exch(Mem[1],0) == 0) goto 0;
1: if (Exch(Mem[0],1) == 1) goto END;
2: if (Exch(Mem[0],1) == 0) goto 0;
"""
FAR_END = """
THREAD 0
0: if (Exch(Mem[0],1) == 1) goto 0;
1: if (Exch(Mem[1],1) == 0) goto 0;
THREAD 1
0: if (Exch(Mem[1],0) == 1) goto 2;
1: if (Exch(Mem[1],1) == 0) goto 1;
2: if (Mem[1] == 0) goto 0;
3: if (Exch(Mem[0],0) == 1) goto 0;
"""
FAR_AT_2X5 = """
THREAD 0
0: if (Exch(Mem[0],0) == 0) goto END;
1: if (Exch(Mem[1],1) == 0) goto 0;
THREAD 1
0: if (Exch(Mem[1],1) == 0) goto 0;
1: if (Exch(Mem[1],0) == 1) goto 1;
2: if (Exch(Mem[0],1) == 0) goto 0;
"""


@pytest.mark.parametrize(
    ("text", "to_states", "to_end"),
    [(FAR_STATE, 26, 8), (FAR_END, 14, 16), (FAR_AT_2X5, 18, 11)],
    ids=["state", "end", "2x5"],
)
def test_no_distance_is_too_long(text, to_states, to_end):
    program = parse_axb(text)
    assert (max(reached(program).values()), max(to_the_end(program).values())) == (to_states, to_end)
    assert is_valid_test(program)
    asked = Asked(shape_of(program))
    assert any(asked.has(image) for image, _ in thread_images(program) if shape_of(image) == asked.encoding.shape)


def test_the_118_tests_that_eight_steps_lose_are_found():
    far = {
        program
        for program in all_tests(2, 4)
        if max(reached(program).values()) > 8 or max(to_the_end(program).values()) > 8
    }
    assert len(far) == 118
    assert far <= {program for shape in shapes(2, 4) for program in solved(shape)}


# The rest


@pytest.mark.parametrize("bound", [(2, 3), (3, 3)], ids=str)
def test_location_names_are_broken_in_the_encoding(bound):
    """Of all ways to name the locations of a test, the formula has the one in the order of their first occurrence."""
    for shape in shapes(*bound, locs=3):
        asked = Asked(shape)
        for program in all_tests(*bound):
            if tuple(map(len, program.threads)) == shape.lengths:
                for names in permutations(range(3), program.locations):
                    renamed = Program(
                        tuple(tuple(replace(i, location=names[i.location]) for i in t) for t in program.threads)
                    )
                    assert renamed == program or not asked.has(renamed)


@pytest.mark.parametrize("lengths", [(1, 1), (2, 2), (1, 1, 1), (1, 1, 2)], ids=str)
def test_one_solution_of_each_orbit(lengths):
    """Programs equal up to the order of threads are found once."""
    encoding = ProgressEncoding(ProgramShape(lengths, 2, 2))
    orbits = [frozenset(image for image, _ in s.images) for s in solutions(encoding, "minisat22")]
    assert len(orbits) == len(set(orbits))


def test_decoding_is_the_inverse_of_literals():
    encoding = ProgressEncoding(ProgramShape((1, 2), 2, 3))
    for solution in solutions(encoding, "minisat22"):
        program = solution.program
        wanted = set(encoding.literals(program))
        model = [v if v in wanted else -v for v in range(1, encoding.formula.variables + 1)]
        assert encoding.decode(model) == solution
        assert solution.lts == explore(program)
