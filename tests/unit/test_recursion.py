"""Least fixpoints over literals: what they say is what iteration says of every assignment, and they end early."""

from dataclasses import dataclass
from random import Random

import pytest

from constraints.deferred import Assignment, DeferredCircuit
from constraints.demanded import demanded
from constraints.executions import Executions
from corpus.dialects.registry import parse_litmus
from oracle.cat.algebra import Algebra, bits
from oracle.cat.interpreter import Model, checked_model
from oracle.cat.recursion import solved
from oracle.cat.syntax import parse_cat
from oracle.cat.terms import Name
from oracle.cat.text import term_text
from oracle.executions.events import VOCABULARY

EVENTS = 4
NAMES = "abrs"
PAIRS = [(one, other) for one in range(EVENTS) for other in range(EVENTS)]


@dataclass
class Given:
    """A base whose relations are given."""

    algebra: Algebra
    relations: dict

    def value(self, name):
        return self.relations.get(name)


def meant(model, base):
    """The relation ``x`` of the model."""
    value = model.relations(base)["x"]
    return value if isinstance(value, tuple) else ({},) * EVENTS  # 0


def free_base(circuit, rng, share=0.4):
    """Relations of which some pairs are free variables, some constant."""

    def truth():
        return circuit.true if rng.random() < 0.2 else circuit.var("free", rng.random())

    relations = {
        name: tuple({other: truth() for other in range(EVENTS) if rng.random() < share} for _ in range(EVENTS))
        for name in NAMES
    }
    return Given(demanded(circuit, [circuit.true] * EVENTS), relations)


def assigned(circuit, rng):
    """The truth of every literal, inputs at random."""
    return Assignment(circuit, [circuit.true.number, *(n for _, n in circuit.formula.names() if rng.random() < 0.5)])


def under(relation, truth):
    return tuple({other: 1 for other, literal in row.items() if truth.holds(literal)} for row in relation)


def says_the_same(text, rng, assignments=6):
    circuit = DeferredCircuit()
    base = free_base(circuit, rng)
    model = Model("m", parse_cat(text, "m.cat"))
    found = meant(model, base)
    for _ in range(assignments):
        truth = assigned(circuit, rng)
        known = Given(bits(1, EVENTS), {name: under(value, truth) for name, value in base.relations.items()})
        assert under(found, truth) == meant(model, known), text


def random_body(rng, names, depth):
    """A body that grows with the recursive names."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([*names, *NAMES])
    one, other = random_body(rng, names, depth - 1), random_body(rng, names, depth - 1)
    kind = rng.choice([";", ";", "|", "|", "|", "&", "\\", "?", "^-1", "[domain]"])
    match kind:
        case "?" | "^-1":
            return f"({one}){kind}"
        case "\\":
            return f"({one} \\ {rng.choice(NAMES)})"
        case "[domain]":
            return f"[domain({one})]"
    return f"({one} {kind} {other})"


@pytest.mark.parametrize("seed", range(40))
def test_random_recursions(seed):
    rng = Random(seed)
    names = ["x", "y", "z"][: rng.randint(1, 3)]
    bodies = [f"{name} = {rng.choice(NAMES)} | {random_body(rng, names, 3)}" for name in names]
    says_the_same(f"let rec {' and '.join(bodies)}", rng)


def random_word(rng, names):
    return ";".join(rng.choice([*names, *NAMES, *NAMES]) for _ in range(rng.randint(1, 3)))


@pytest.mark.parametrize("seed", range(60))
def test_random_sums_of_products(seed):
    rng = Random(seed)
    names = ["x", "y", "z"][: rng.randint(1, 3)]
    sums = {name: [random_word(rng, names) for _ in range(rng.randint(1, 4))] for name in names}
    says_the_same("let rec " + " and ".join(f"{n} = ({') | ('.join(words)})" for n, words in sums.items()), rng)


def names_in(term):
    own = frozenset({term.name}) if isinstance(term, Name) else frozenset()
    return own.union(*map(names_in, getattr(term, "operands", getattr(term, "arguments", ()))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a | (x; x)", "x = a^+"),
        ("x = a | (x; r)", "x = a; r^*"),
        ("x = (r; x) | a | x", "x = r^*; a"),
        ("x = a | (x; r; x) | (s; x)", "x = s^*; a; (r; s^*; a)^*"),
        ("x = a | (x; r; x) | (x; x)", "x = a; (r?; a)^*"),
        ("x = a | y and y = x; x", "x = a^+, y = x; x"),
        ("x = a | (b; y) and y = x | s", "y = b^*; (a | s), x = a | (b; y)"),
        ("x = a | (r; x; s)", None),
        ("x = a | (x & r)", None),
        ("x = x; r", None),
        ("x = a | (x; x; x)", None),
        ("x = a | (y; x; y) and y = b | (x; x)", None),
    ],
)
def test_which_equations_are_solved(text, expected):
    (definition,) = parse_cat(f"let rec {text}", "m.cat").statements
    terms = solved(definition.bindings, names_in)
    assert (terms and ", ".join(f"{name} = {term_text(term)}" for name, term in terms)) == expected
    says_the_same(f"let rec {text}", Random(text), assignments=30)


def gates_of(text, events):
    """How many gates a model takes over relations of which nothing is known."""
    circuit = DeferredCircuit()

    def every(name):
        return tuple({f: circuit.var(name, e, f) for f in range(events)} for e in range(events))

    relations = {name: every(name) for name in NAMES}
    found = Model("m", parse_cat(text, "m.cat")).relations(Given(demanded(circuit, [circuit.true] * events), relations))
    assert all(literal for row in found["x"] for literal in row.values())  # each pair is made
    return len(circuit.operands)


def test_what_a_recursion_costs():
    closure = gates_of("let x = (a | r)^+", 6)
    assert gates_of("let rec x = a | r | (x; x)", 6) == closure
    assert gates_of("let rec x = a | r | y and y = x; x", 6) < 2 * closure
    # One row at a time: as many rounds as events; else as many as pairs.
    assert gates_of("let rec x = a | ((x; r) & s)", 5) < gates_of("let rec x = a | ((x; x) & s)", 5) / 4


def test_a_recursion_along_an_order_ends_by_itself():
    circuit = DeferredCircuit()
    after = tuple({f: circuit.var("a", e, f) for f in range(e + 1, 8)} for e in range(8))
    base = Given(demanded(circuit, [circuit.true] * 8), {"a": after, "s": after})
    rounds = []
    composed = Algebra.compose

    class Counting(Algebra):
        def compose(self, left, right):
            rounds.append(1)
            return composed(self, left, right)

    base.algebra = Counting(base.algebra.true, base.algebra.negate, base.algebra.executed, exact=False)
    Model("m", parse_cat("let rec x = a | ((x; a) & s)", "m.cat")).relations(base)
    assert len(rounds) <= 9


SPINS = """PTX spins
{ lock = 0; x = 0; }
 P0@cta 0,gpu 0                          | P1@cta 1,gpu 0                          ;
 LC00:                                   | LC10:                                   ;
 atom.acquire.gpu.exch r0, lock, 1       | atom.acquire.gpu.exch r0, lock, 1       ;
 bne r0, 0, LC00                         | bne r0, 0, LC10                         ;
 ld.relaxed.gpu r1, x                    | st.relaxed.gpu x, 1                     ;
 atom.release.gpu.exch r2, lock, 0       | atom.release.gpu.exch r2, lock, 0       ;
exists (0:r1 = 1)
"""


def test_observed_updates_of_loops_cost_as_much_as_their_closure():
    """PTX's ``let rec obs = mrf | (obs; rmw; obs)`` is ``mrf; (rmw; mrf)*`` in clauses, wherever loops are cut."""
    test = parse_litmus(SPINS)
    sizes = []
    for observation in ("let rec obs = mrf | (obs; rmw; obs)", "let obs = mrf; (rmw; mrf)*"):
        text = f"let mrf = sr & rf {observation} acyclic obs | po-loc | fr | co as c"
        model = checked_model("m", parse_cat(text, "m.cat"), VOCABULARY)
        executions = Executions(test, model, 3)
        sizes.append(len(executions.circuit.formula.clauses))
    assert sizes[0] <= sizes[1] * 1.05
