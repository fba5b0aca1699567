"""Relations whose pairs are made on demand, and the clauses of what is asked for: held against plain relations."""

from dataclasses import dataclass
from random import Random

import pytest

from constraints import demanded as module
from constraints.deferred import Assignment, DeferredCircuit
from constraints.demanded import demanded
from constraints.solvers import open_solver
from oracle.cat.algebra import Algebra
from oracle.cat.interpreter import Model
from oracle.cat.syntax import parse_cat

NAMES = "abrs"
EVENTS = 7
SURELY = {2: [1], 3: [1, 2]}  # events 1, 2 and 3 of one thread, in this order
APART = [(4, 5)]  # two branches of another one


@dataclass
class GivenRelations:
    """A base of given relations and sets."""

    algebra: Algebra
    relations: dict

    def value(self, name):
        return self.relations.get(name)


def program(circuit):
    """An algebra over events of which only some happen: event 0 does, event 6 happens by itself."""
    one, two, three, branch, alone = (circuit.var(name) for name in "12346")
    executed = [circuit.true, one, one & two, one & two & three, branch, ~branch, alone]
    surely, apart = [1] * EVENTS, [0] * EVENTS
    for event, others in SURELY.items():
        surely[event] |= sum(1 << other for other in others)
    for left, right in APART:
        apart[left] |= 1 << right
        apart[right] |= 1 << left
    return demanded(circuit, executed, surely, apart)


def base_of(circuit, rng):
    algebra = program(circuit)
    relations = {}
    for name in NAMES:
        rows = [{} for _ in range(EVENTS)]
        for one in range(EVENTS):
            for other in range(EVENTS):
                if rng.random() < 0.3 and (one, other) not in APART and (other, one) not in APART:
                    both = algebra.executed[one] & algebra.executed[other]
                    rows[one][other] = both if rng.random() < 0.4 else both & circuit.var(name, one, other)
        certain = algebra.pairs((e, f) for e in range(EVENTS) for f in range(e) if rng.random() < 0.15)
        relations[name] = algebra.union(tuple(rows), certain)
    relations["W"] = algebra.select(event for event in range(EVENTS) if rng.random() < 0.5)
    return GivenRelations(algebra, relations)


def plain(base, truth):
    """The base under an assignment: of the events that happen, and the pairs that there are."""

    def row(literals):
        return {other: 1 for other, literal in literals.items() if truth.holds(literal)}

    executed = [int(truth.holds(literal)) for literal in base.algebra.executed]
    relations = {
        name: tuple(map(row, value)) if isinstance(value, tuple) else row(value)
        for name, value in base.relations.items()
    }
    return GivenRelations(Algebra(1, lambda each: 1 ^ each, executed), relations)


def random_term(rng, depth):
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(NAMES)
    one, other = random_term(rng, depth - 1), random_term(rng, depth - 1)
    kind = rng.choice([";", ";", ";", "|", "|", "&", "\\", "?", "^-1", "^+", "^+", "^*", "~", "[W];", "domain", "*"])
    match kind:
        case "?" | "^-1" | "^+" | "^*":
            return f"({one}){kind}"
        case "~":
            return f"(~{one})"
        case "[W];":
            return f"([W]; {one}; [W])"
        case "domain":
            return f"([domain({one})]; {other})"
        case "*":
            return f"(domain({one}) * domain({other}))"
    return f"({one} {kind} {other})"


@pytest.mark.parametrize("seed", range(120))
def test_random_checks(seed, monkeypatch):
    rng = Random(seed)
    if seed % 4 == 0:
        monkeypatch.setattr(module, "DEEPEST", 2)
    check = rng.choice(["acyclic", "acyclic", "irreflexive", "empty"])
    text = f"let x = {random_term(rng, 4)} {check} x {rng.choice(['', '& ' + rng.choice(NAMES)])}"
    model = Model("m", parse_cat(text, "m.cat"))
    circuit = DeferredCircuit()
    base = base_of(circuit, rng)
    (result,) = model.judge(base)
    wanted = [result.truth, ~result.truth][seed % 2]
    (asked,) = circuit.assumptions([wanted])
    inputs = [number for _, number in circuit.formula.names()]
    solver = open_solver("cadical153", circuit.formula.variables)
    solver.add(circuit.formula.clauses)
    for _ in range(8):
        chosen = [circuit.true.number, *(n if rng.random() < 0.6 else -n for n in inputs[1:])]
        truth = Assignment(circuit, chosen)
        (expected,) = model.judge(plain(base, truth))
        assert truth.holds(result.truth) == bool(expected.truth), text
        assert solver.solve([*chosen, asked]) == truth.holds(wanted), text
        relation = model.relations(base)["x"]
        found = [{other for other, literal in row.items() if truth.holds(literal)} for row in relation]
        assert found == [set(row) for row in model.relations(plain(base, truth))["x"]], text
    solver.close()


def test_what_nobody_asks_for_is_not_made():
    circuit = DeferredCircuit()
    rows = tuple({f: circuit.var("a", e, f) for f in range(6) if e != f} for e in range(6))
    base = GivenRelations(demanded(circuit, [circuit.true] * 6), {"a": rows})
    Model("m", parse_cat("let x = (a; a)^+ let y = x \\ a^*", "m.cat")).judge(base)
    assert not circuit.operands


def test_pairs_along_a_thread_cost_one_each():
    """A program order of n events, and pairs from its last one back: n gates, not n^3."""
    sizes = []
    for events in (10, 20, 40):
        circuit = DeferredCircuit()
        algebra = demanded(circuit, [circuit.true] * events)
        order = algebra.pairs((e, f) for f in range(events) for e in range(f))
        back = tuple({0: circuit.var("back", e)} if e == events - 1 else {} for e in range(events))
        check = algebra.is_acyclic(algebra.union(order, back))
        circuit.require(check)
        assert circuit.formula.clauses == [[1], [-circuit.var("back", events - 1).number]]
        sizes.append(len(circuit.operands))
    assert sizes == [0, 0, 0]


def test_gates_are_written_in_the_direction_that_is_asked_for():
    circuit = DeferredCircuit()
    a, b, c, d = (circuit.var(name) for name in "abcd")
    gate = circuit.any_of([a & b, c & d])
    known = len(circuit.formula.clauses)
    circuit.require(~gate)
    assert sorted(circuit.formula.clauses[known:]) == [[-c.number, -d.number], [-a.number, -b.number]]
    circuit.assumptions([gate])
    assert len(circuit.formula.clauses) == known + 2 + 1 + 4
    assert circuit.assumptions([gate]) == [gate.number] and len(circuit.formula.clauses) == known + 7


def test_an_assignment_computes_gates():
    circuit = DeferredCircuit()
    a, b = circuit.var("a"), circuit.var("b")
    for truths in ((True, True), (True, False), (False, False)):
        model = [circuit.true.number, *(n.number if t else -n.number for n, t in zip((a, b), truths, strict=True))]
        found = Assignment(circuit, [*model, -(a & b).number])
        assert found.holds(a & b) == all(truths) and found.holds(a | b) == any(truths)
        assert found.holds(circuit.true) and not found.holds(circuit.false)
