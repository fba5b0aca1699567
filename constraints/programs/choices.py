"""The choices by which an outcome comes about, as clauses: the coherence order, and the order of ``fence.sc``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations, permutations

from constraints.circuit import Circuit, Literal
from constraints.programs.skeleton import OrderLiterals, ProgramSkeleton
from corpus.executions.execution import OpKind as Instruction
from corpus.litmus.orders import Order
from oracle.executions.events import EventKind


def choose(
    unknown: ProgramSkeleton,
    name: Hashable,
    executed: Sequence[Literal],
    partial: bool,
    final: Sequence[Literal] = (),
) -> OrderLiterals:
    """New choices of coherence and fence order, called ``name``, for an execution of some events.

    Constraints
        co(w, v)      only between writes of one location that happen; a strict order, total unless ``partial``
        fence(f, g)   one of fence(f, g) and fence(g, f); transitive
        final(w)      where the last write w of a location happens, it is before no other
    """
    circuit, events = unknown.circuit, unknown.events
    writes = {e: unknown.writes(e) & executed[e] for e in events}
    co: list[dict[int, Literal]] = [{} for _ in events]
    for w, v in permutations(events, 2):
        if writes[w] and writes[v]:
            before = co[w][v] = circuit.var("co", name, w, v)
            circuit.require(~before, writes[w])
            circuit.require(~before, writes[v])
    for w, v in combinations(events, 2):
        if v not in co[w]:
            continue
        there, back = co[w][v], co[v][w]
        circuit.require(~there, ~back)
        circuit.require(~there, unknown.loc[w][v])
        circuit.require(~back, unknown.loc[w][v])
        if not partial:
            circuit.require(~unknown.loc[w][v], ~writes[w], ~writes[v], there, back)
    for w, v, x in permutations(events, 3):
        if v in co[w] and x in co[v]:
            circuit.require(~co[w][v], ~co[v][x], co[w][x])
    for w, last in enumerate(final):
        for later in co[w].values():
            circuit.require(~last, ~later)
    return OrderLiterals(co, _fences(unknown, name))


def _fences(unknown: ProgramSkeleton, name: Hashable) -> list[dict[int, Literal]]:
    some = any(mode.order is Order.SC for mode in unknown.words.modes.get(Instruction.FENCE, ()))
    fences = [e for e in unknown.events if some and unknown.ways[e].of(EventKind.FENCE)]
    return ordered(unknown.circuit, name, unknown.size, fences)


def ordered(circuit: Circuit, name: Hashable, size: int, fences: Sequence[int]) -> list[dict[int, Literal]]:
    """The literals ``before[f][g]`` of a total order of those of ``size`` events that may be ``fence.sc``."""
    before: list[dict[int, Literal]] = [{} for _ in range(size)]
    for f, g in combinations(fences, 2):
        before[f][g] = circuit.var("fence", name, f, g)
        before[g][f] = ~before[f][g]
    for f, g, h in permutations(fences, 3):
        circuit.require(~before[f][g], ~before[g][h], before[f][h])
    return before


def chosen(
    unknown: ProgramSkeleton,
    co: frozenset[tuple[int, int]],
    before: frozenset[tuple[int, int]],
    final: Sequence[Literal],
) -> tuple[OrderLiterals, Literal]:
    """Known choices as constants, which any program may make, and the literal that they are possible with these last
    writes.

    ``co`` may relate events that are not writes of one location: only pairs of such writes count.
    """
    circuit = unknown.circuit
    rows: list[dict[int, Literal]] = [{} for _ in unknown.events]
    possible = circuit.true
    for w, v in sorted(co):
        there = rows[w][v] = unknown.loc[w][v] & unknown.writes(w) & unknown.writes(v)
        possible = possible & ~(there & final[w])
    fences: list[dict[int, Literal]] = [{} for _ in unknown.events]
    for f, g in sorted(before):
        fences[f][g] = circuit.true
    return OrderLiterals(rows, fences), possible


def reversed_coherence(choices: OrderLiterals, final: Sequence[Literal]) -> OrderLiterals:
    """The choices with coherence and fence order reversed, except that last writes stay last: another way to the
    outcome.

    Where three writes of one location meet it is the only other way, so that little is left to be learned.
    """
    co = [
        {v: (before & final[v]) | (choices.co[v][w] & ~final[w]) for v, before in row.items()}
        for w, row in enumerate(choices.co)
    ]
    return OrderLiterals(co, [{g: ~before for g, before in row.items()} for row in choices.before])
