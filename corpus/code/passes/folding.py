"""Folds comparisons: a branch on one that nobody else reads makes it itself, and so does its negation.

eq r1, r2, 0;  bne r1, 0, L          beq r2, 0, L
"""

from __future__ import annotations

from dataclasses import replace

from corpus.code.passes.graph import Live, ResidualGraph, ResidualNode
from corpus.litmus.instructions import COMPARISONS, NEGATED, Assign, Branch, Comparison, Instruction
from corpus.litmus.locations import Reg


def join_comparisons(graph: ResidualGraph) -> None:
    """Have branches and negations make the comparisons that they alone read."""
    graph.join(_compared)


def _compared(first: ResidualNode, second: ResidualNode, live: Live) -> Instruction | None:
    match first.instruction, second.instruction:
        case (
            Assign(target, operation, (left, right)),
            Branch(_, Comparison("eq" | "ne" as sign, Reg(name), 0)) as branch,
        ) if target == name and operation in COMPARISONS and not any(name in live[n] for n in second.after):
            made = operation if sign == "ne" else NEGATED[operation]
            return Branch("", Comparison(made, left, right), checks=branch.checks)
        case (
            Assign(target, operation, values),
            Assign(_, "xor", (Reg(name), 1)) as negation,
        ) if target == name and operation in COMPARISONS and name not in live[second.after[0]]:
            return replace(negation, operation=NEGATED[operation], operands=values)
    return None
