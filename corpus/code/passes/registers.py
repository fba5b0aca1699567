"""Registers: a value that is only moved goes where the move puts it, and what one way needs is made on that way.

ld r1, x;  mov r2, r1                ld r2, x
add r3, r1, 1;  beq r1, 0, L         beq r1, 0, L;  add r3, r1, 1       where nothing at L reads r3
"""

from __future__ import annotations

from dataclasses import replace

from corpus.code.passes.graph import Live, ResidualGraph, ResidualNode
from corpus.code.residual import MARK
from corpus.litmus.instructions import Assign, Branch, Instruction, Load, Rmw, registers_read
from corpus.litmus.locations import Reg


def join_moves(graph: ResidualGraph) -> None:
    """Have a value that is computed or read only to be moved go where the move puts it."""
    graph.join(_moved)


def _moved(first: ResidualNode, second: ResidualNode, live: Live) -> Instruction | None:
    match first.instruction, second.instruction:
        case (
            (Load() | Assign() | Rmw(success=None)) as value,
            Assign(target, "mov", (Reg(source),)),
        ) if value.target == source and source not in live[second.after[0]]:
            return replace(value, target=target)
    return None


def sink_moves(graph: ResidualGraph) -> None:
    """Make a computation before a branch, which is needed on one of its ways alone, on that way."""
    live, before = graph.live(), graph.before()
    for number in graph.reached():
        node = graph.nodes[number]
        then = graph.nodes.get(node.after[0])
        match node.instruction, then and then.instruction:
            case Assign(target), Branch() as branch if (
                before[node.after[0]] == [number]
                and not target.startswith(MARK)
                and target not in registers_read(branch)
            ):
                assert then is not None
                needing = [way for way, place in enumerate(then.after) if target in live[place]]
                if len(needing) == 1 and then.after[0] != then.after[1]:
                    graph.nodes[new := max(graph.nodes) + 1] = ResidualNode(node.residual, [then.after[needing[0]]])
                    then.after[needing[0]] = new
                    graph.redirect({number: node.after[0]})
                    live, before = graph.live(), graph.before()
