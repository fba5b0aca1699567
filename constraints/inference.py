"""Claims about all models that fit some facts, as clauses that have no solution, with their proofs in LRAT.

Worked example: one test, whose outcome only one of the two models that fit allows. The claim that the weakest model
allows it says that no fitting model allows anything that this one forbids.

Variables: those of the holes, in the order of the space, and the gates of diagrams of models.

Constraints
    the model is one of the sketch, and fits each fact
    against the claim: for each class that is claimed to be weakest, the model allows some test that the class forbids;
        for one that is claimed to be strongest, it forbids some test that the class allows

So a proof that there is no solution shows that every model that fits is as strong as some weakest class that was found,
or as weak as some strongest one. ``oracle.certificates.lrat`` checks it.

Size: three gates for each node of a diagram, of three clauses each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from constraints.circuit import Circuit, Literal
from constraints.formula import Formula
from constraints.proofs import prove_unsatisfiable
from oracle.certificates.clauses import clause_line
from oracle.certificates.lrat import check_proof
from oracle.inference.classes import SketchTest
from oracle.inference.fitting import Fact
from oracle.inference.model_sets import ModelSet


@dataclass(frozen=True, slots=True)
class ExtremeClaim:
    """The claim that every model is as strong as a class with such verdicts, where they are the ``weakest``; or as
    weak as one, where they are the strongest."""

    name: str
    verdicts: Sequence[Sequence[bool]]
    weakest: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that was proved: its text, the clauses that have no solution, with comments, and the proof in LRAT."""

    name: str
    text: str
    formula: tuple[str, ...]
    proof: tuple[str, ...]


def proved(
    claims: Sequence[ExtremeClaim], valid: ModelSet, facts: Sequence[Fact], tests: Sequence[SketchTest]
) -> list[Claim]:
    """The claims with their proofs, which have been checked.

    Raises ``ValueError`` where a claim is wrong, and ``RefusedError`` where its proof is.
    """
    made = []
    for claim in claims:
        formula, comments = _formula(claim, valid, facts, tests)
        if [] in formula.clauses:  # a class that allows all tests is as weak as any
            proof = [f"{len(formula.clauses) + 1} 0 {formula.clauses.index([]) + 1} 0"]
        else:
            proof = prove_unsatisfiable(formula.clauses)
        steps = check_proof(formula.clauses, proof)
        text = f"no other is as {'weak' if claim.weakest else 'strong'} ({steps} steps)"
        made.append(Claim(claim.name, text, tuple(_dimacs(formula, comments)), tuple(proof)))
    return made


def member_of(models: ModelSet, circuit: Circuit, hole: Callable[[str], Literal]) -> Literal:
    """The literal that a model is in a set, given the literal of each variable of the holes."""
    space = models.space
    made = {space.every.number: circuit.true, space.none.number: circuit.false}
    for node in models.nodes():
        assert node.low is not None and node.high is not None
        here = hole(space.variables[node.level])
        made[node.number] = (here & made[node.high.number]) | (~here & made[node.low.number])
    return made[models.number]


def _formula(
    claim: ExtremeClaim, valid: ModelSet, facts: Sequence[Fact], tests: Sequence[SketchTest]
) -> tuple[Formula, list[str]]:
    circuit = Circuit()
    comments = [f"variable {circuit.var(name).number} {name}" for name in valid.space.variables]

    def member(models: ModelSet) -> Literal:
        return member_of(models, circuit, circuit.var)

    circuit.require(member(valid))
    for fact in facts:
        circuit.require(member(fact.fitting))
        comments.append(f"fact {fact.text}")
    literals = [member(test.allowing) for test in tests]
    comments += [f"test {literal.number} {test.name}" for test, literal in zip(tests, literals, strict=True)]
    for verdicts in claim.verdicts:
        beyond = (
            literal if claim.weakest else ~literal
            for literal, allowed in zip(literals, verdicts, strict=True)
            if allowed is not claim.weakest
        )
        circuit.require(*beyond)
    return circuit.formula, comments


def _dimacs(formula: Formula, comments: Sequence[str]) -> Iterator[str]:
    yield from (f"c {' '.join(comment.split())}" for comment in comments)
    yield f"p cnf {formula.variables} {len(formula.clauses)}"
    yield from map(clause_line, formula.clauses)
