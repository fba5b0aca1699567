"""The formulas that certificates of memory suites are proofs of, held to plain enumeration and to the oracle."""

from contextlib import closing
from itertools import islice, permutations
from random import Random

import pytest
from bruteforce_cycles import all_cycles, row
from bruteforce_suites import canonical, minimal
from random_executions import WHOLE
from skeletons import Listed, called, check_values
from test_minimal_suites import vocabulary_without

from constraints.solvers import open_solver
from corpus.cycles.cycle import Cycle
from corpus.cycles.edges import all_annotations, all_edges, parse_edges
from corpus.executions.relaxations import relaxations, relaxed
from corpus.litmus.locations import MEMORY_REGIONS, Region
from corpus.litmus.orders import Place
from oracle.cat.syntax import shipped_models
from oracle.certificates import cycle_formulas, model_formulas
from oracle.certificates.cycles import CycleClaim, lacks
from oracle.certificates.cycles import exclusions as cycle_exclusions
from oracle.certificates.executions import can_happen, exclusions, execution_of
from oracle.certificates.programs import Programs
from oracle.certificates.seen import ModelView, choose
from oracle.certificates.weakened import weakened
from oracle.certificates.writing import Writer
from oracle.consistency import load_model
from oracle.executions.initial import sees_initial_writes

SLOW = pytest.mark.slow


def found(formula, decode, exclude):
    """What satisfies a formula, each excluded as it is found; ``decode`` is given the names of what holds."""
    with closing(open_solver("minisat22", len(formula.variables))) as solver:
        solver.add(formula.clauses)
        while solver.solve():
            one = decode({formula.names[literal] for literal in solver.model() if literal > 0})
            yield one
            solver.add(exclude(one))


# -- cycles ----------------------------------------------------------------------------------------------------------

EDGES = "PodWW PodRR PodWR Rfe Fre Coe RfeRel.gpuAcq.gpu Plain"
CYCLES = [
    # edges, sizes, scopes, and what else is asked
    ("PodWW PodRR PodRW PodWR Rfe Fre Coe", 6, (), {}),
    (EDGES, 5, ("cta",), {}),
    (f"{EDGES} PosWW PosRR Rfi [Fri,Rfe] Rmw Acq MembarGldWW", 3, ("cta", "gpu"), {"regions": MEMORY_REGIONS}),
    (f"{EDGES} PosWW PosRR Rfi [Fri,Rfe] Rmw Acq DpAddrdR", 4, ("gpu",), {"thread_accesses": 3}),
    ("PodWW PosRR Rfe Fre Coe PosWW PosRW PosWR Rfi Fri Coi Rmw Rlx.gpu Cg", 4, (), {"compositions": True}),
    ("Rmw Rfe Coe Fre", 6, (), {"thread_accesses": 1, "location_accesses": 5}),
    ("Rmw Rfe Coe Fre PosWR PosRR PodRW", 5, (), {"thread_accesses": 1, "location_accesses": 2}),
    ("Rmw Rfe Coe Fre PodRW PodWW PosWR Acq.gpu Rel.gpu", 4, (), {"threads": (2, 3), "location_accesses": 4}),
    ("[PosWR,Rmw] PosRR Rmw Fre Rfe Vol Plain", 5, (), {"thread_accesses": 4, "location_accesses": 4}),
]


def asked(text, scopes, **changed):
    whole = {"threads": None, "thread_accesses": 2, "location_accesses": 3, "compositions": False}
    levels = tuple(scope for scope in ("cta", "gpu") if scope in scopes)
    return CycleClaim(parse_edges(text, scopes), levels, **{"regions": (Region.GLOBAL,), **whole, **changed})


@pytest.mark.parametrize(("text", "largest", "scopes", "changed"), CYCLES)
def test_every_critical_cycle_satisfies_the_formula_and_nothing_else_does(text, largest, scopes, changed):
    wanted = asked(text, scopes, **changed)
    for size in range(2, largest + 1):
        formula = cycle_formulas.write_formula(wanted, size)
        cycles = list(
            found(
                formula,
                lambda held, size=size: cycle_of(held, size, wanted.levels),
                lambda cycle, formula=formula: cycle_exclusions(formula, wanted.levels, cycle),
            )
        )
        assert [lacks(wanted, size, cycle) for cycle in cycles] == [""] * len(cycles)
        rows = {row(cycle).least() for cycle in cycles}
        assert len(rows) == len(cycles)
        rest = {key: getattr(wanted, key) for key in ("threads", "thread_accesses", "location_accesses")}
        assert rows == all_cycles(
            wanted.vocabulary, size, wanted.levels, wanted.regions, compositions=wanted.compositions, **rest
        )


def cycle_of(held, size, levels):
    """The cycle of which these variables hold."""
    words = sorted(name.split() for name in held)
    edges = tuple(all_edges()[word[2]] for word in words if word[0] == "edge")
    notes = tuple(all_annotations()[word[2]] for word in words if word[0] == "note")
    starts = [event for event in range(size) if not edges[event - 1].internal]
    places = []
    for number, start in enumerate(starts):
        mates = {
            level: [n for n in range(number) if f"same {level} {starts[n]} {start}" in held] for level in ("cta", "gpu")
        }
        gpu = 0
        if "gpu" in levels:
            gpu = places[mates["gpu"][0]].gpu if mates["gpu"] else len({place.gpu for place in places})
        cta = places[mates["cta"][0]].cta if mates["cta"] else len({p.cta for p in places if p.gpu == gpu})
        places.append(Place(gpu, 0, cta, sum((p.gpu, p.cta) == (gpu, cta) for p in places)))
    regions = tuple(Region.SHARED if f"shared {event}" in held else Region.GLOBAL for event in range(size))
    return Cycle(edges, notes, regions, tuple(places))


# -- suites from a model ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "without", "events"),
    [
        ("sc", [], 3),
        ("sc", [], 4),
        ("tso", [], 4),
        ("ptx-rmo", ["acq_rel", "sys"], 3),
        ("rc11", [], 3),
        pytest.param("rc11", [], 4, marks=SLOW),
        ("ptx-6.0", ["sys"], 2),
        pytest.param("ptx-6.0", ["sys"], 3, marks=SLOW),
        ("ptx-7.5", ["gpu", "sys", "bar", "texture", "rmw", "+alias"], 2),
        pytest.param("ptx-7.5", ["gpu", "sys", "bar", "texture", "rmw", "+alias"], 3, marks=SLOW),
        ("ptx", ["gpu", "sys", "bar", "surface", "texture", "+cluster"], 2),
    ],
)
def test_what_satisfies_the_formula_is_a_test_or_its_outcome_can_come_about(name, without, events):
    model, words = load_model(shipped_models()[name], name), vocabulary_without(name, without)
    tests = set()
    for sizes in model_formulas.splits(events, None):
        formula = model_formulas.write_formula(model, words, sizes)
        executions = found(
            formula,
            lambda held, sizes=sizes: execution_of(held, sizes, words),
            lambda one, formula=formula, sizes=sizes: exclusions(formula, sizes, words, one),
        )
        tests |= {canonical(one, words) for one in executions if not can_happen(one, model)}
    listed = minimal(name, words, events, "outcome")
    ended = {one for one in listed if all(end is not None or not one.writes(n) for n, end in enumerate(one.final))}
    assert {bare(test) for test in tests} == {bare(canonical(test, words)) for test in ended}


def bare(execution):
    """An execution without its coherence, of which an outcome says no more than how locations end."""
    return execution.threads, execution.places, execution.regions, execution.dependencies, execution.rf, execution.final


class Drawn:
    """Random models of the formula of all programs whose threads have so many events."""

    def __init__(self, words, sizes, partial):
        self.words, self.sizes = words, sizes
        self.writer = Writer()
        self.program = Programs(self.writer, words, sizes).program
        self.choice = choose(self.program, "whole", partial)
        self.weakened = list(weakened(self.program))
        formula = self.writer.formula
        self.names = dict(formula.names)
        self.open = [number for number, name in self.names.items() if name.split()[0] not in ("and", "true", "equal")]
        self.solver = open_solver("minisat22", len(formula.variables))
        self.solver.add(formula.clauses)

    def name(self, number):
        """What a variable is called, one that a gate was made for since, too."""
        if number not in self.names:
            self.names |= self.writer.formula.names
        return self.names[number]

    def draw(self, rng):
        """What holds in a random model: of many wishes those that the clauses and the earlier ones let be."""
        ways = {}
        for number in self.open:
            kind, event, *word = self.names[number].split()
            if kind == "way":
                ways.setdefault((event, word[0].partition(".")[0]), []).append(number)
        kinds = {event: [own for (other, _), own in ways.items() if other == event] for event, _ in ways}
        wishes = [rng.choice(rng.choice(own)) for own in kinds.values()]
        rng.shuffle(wishes)
        rest = [number for number in self.open if not self.names[number].startswith("way ")]
        wishes += [number if rng.random() < 0.6 else -number for number in rng.sample(rest, len(rest))]
        granted = []
        for wish in wishes:
            if self.solver.solve([*granted, wish]):
                granted.append(wish)
        assert self.solver.solve(granted)
        return Held(self, {abs(literal): literal > 0 for literal in self.solver.model()})

    def close(self):
        self.solver.close()


class Held:
    """What holds in a model, of gates that were made since, too."""

    def __init__(self, drawn, values):
        self.drawn, self.values = drawn, values
        self.said = {drawn.names[number] for number, holds in values.items() if holds}
        self.execution = execution_of(self.said, drawn.sizes, drawn.words)

    def __call__(self, literal):
        number = literal if isinstance(literal, int) else literal.number
        if number < 0:
            return not self(-number)
        if number not in self.values:
            kind, *operands = self.drawn.name(number).split()
            assert kind == "and"
            self.values[number] = all(self(int(each)) for each in operands)
        return self.values[number]

    def pairs(self, rows):
        return {(one, other) for one, each in enumerate(rows) for other, truth in each.items() if self(truth)}

    def events(self, events):
        return {event for event, truth in events.items() if self(truth)}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("sizes", [(2, 2), (3, 1), (2, 1, 1), pytest.param((5,), marks=SLOW)], ids=str)
@pytest.mark.parametrize("name", [name for name, words in WHOLE.items() if not words.asynchronous])
def test_a_program_is_seen_as_the_oracle_sees_it_and_after_each_relaxation(name, sizes):
    rng, partial = Random(f"{name} {sizes}"), (len(sizes) + len(name)) % 2 == 0
    with closing(Drawn(WHOLE[name], sizes, partial)) as drawn:
        for _ in range(2):
            held = drawn.draw(rng)
            execution = held.execution
            formula = drawn.writer.formula
            assert any(
                not any(held(literal) for literal in clause)
                for clause in exclusions(formula, sizes, drawn.words, execution)
            )
            compare(held, drawn.program, execution, partial)
            steps = relaxations(execution, drawn.words)
            applies = {each.name: each.program for each in drawn.weakened if held(each.applies)}
            expected = {name_of(execution, step, drawn.words, applies): step for step in steps}
            assert applies.keys() == expected.keys(), execution
            for known, step in islice(expected.items(), 12):
                left = relaxed(execution, step, drawn.words)
                if left.steps:
                    compare(held, applies[known], left, partial)


def name_of(execution, step, words, applies):
    """What the formula calls a relaxation."""
    name = called(execution, step, words)
    kind, _, rest = name.partition("(")
    numbers = ".".join(part for part in rest.replace("(", "").replace(")", "").replace(",", " ").split())
    known = {"order": "order.0", "other order": "order.1", "scope": "scope.0", "shared": "unshared"}
    known |= {"third order": "order.2", "memory": "memory.0", "other memory": "memory.1"}
    if kind == "branch":
        return next(each for each in applies if each.startswith(f"branch.{numbers}."))
    return f"{known.get(kind, kind)}.{numbers}"


def compare(held, program, execution, partial):
    """Every set and relation, with and without initial writes, and the oracle's of the execution."""
    size = len(program.thread)
    happen = [e for e in program.events if held(program.happens[e])]
    names = {e: number for number, e in enumerate(happen)}
    firsts = {}
    for e in (e for e in happen if held(program.loc[e, e])):
        firsts.setdefault(next(f for f in happen if held(program.related(program.loc, f, e))), len(firsts))
    names |= {size + first: ("init", place) for first, place in firsts.items()}
    chosen = ModelView(program, held.drawn.choice, MODELS[False], fails=False)
    co, order = (
        {(names[one], names[other]) for one, other in held.pairs(chosen.value(name))} for name in ("co", "sync_fence")
    )
    listed = Listed(execution, partial, co, order)

    def base_of(initial):
        return ModelView(program, held.drawn.choice, MODELS[initial], fails=False)

    check_values(held, listed, names, execution, program.words, base_of)


MODELS = {False: load_model(shipped_models()["sc"], "sc"), True: load_model(shipped_models()["c11"], "c11")}
"""Models that see initial writes by ``fr`` alone, and otherwise."""


def test_models_see_initial_writes_or_do_not():
    assert {sees: sees_initial_writes(model) for sees, model in MODELS.items()} == {False: False, True: True}


# -- the writer ------------------------------------------------------------------------------------------------------


def test_gates_have_one_value_and_are_made_once():
    writer = Writer()
    one, other = writer.variable("one"), writer.variable("other")
    assert one & other is other & one and one & writer.true is one and not one & writer.false
    assert not one & ~one and (one | other) is ~(~one & ~other)
    before = writer.formula.clauses[:]
    assert (one & other) is (one & other) and writer.formula.clauses == before
    with closing(open_solver("minisat22", 9)) as solver:
        solver.add(writer.formula.clauses)
        for values in permutations([one.number, other.number, -one.number, -other.number], 2):
            if abs(values[0]) != abs(values[1]):
                assert solver.solve(list(values))
                gate = (one & other).number
                both = all(value > 0 for value in values)
                assert (gate in solver.model()) == both
