"""Loops without effect: polls that are asked again anyway, and compare-and-swaps that fail and begin anew.

A *poll* is a load, and a branch on what it gives that leaves by one way or goes on. Where a poll that fails goes on to
the same poll, with the same way out, the first one can go: an execution in which it fails is one in which only the
second is asked, and an execution in which it succeeds is one in which the second does. So sixteen polls in a row, with
which libcu++ begins to wait, are one. A loop that polls, and goes on to a poll that asks the same and comes back to the
loop where it fails, goes as well: the poll may as well ask again itself.

A *retry* is a compare-and-swap that fails and then does, with the value that it read, what is done with the value of an
earlier load of that place. It may as well go back to the load, for a failed compare-and-swap is a read like the load's:
an execution in which it fails is one in which the load reads what it has read. Both ask that a model allow an execution
without the rounds that only read, as those of ``oracle.executions.spins`` do::

    L0: ld.acquire r1, x             L0: ld.acquire r1, x
    L1: beq r1, 0, L0                    beq r1, 0, L0
        add r2, r1, -1                   add r2, r1, -1
        atom.acquire.cas r3, x, r1, r2   atom.acquire.cas r3, x, r1, r2
        beq r3, r1, L2                   bne r3, r1, L0
        mov r1, r3
        goto L1
    L2:                              L2:
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from corpus.code.passes.graph import Live, ResidualGraph, ResidualNode
from corpus.code.residual import MARK
from corpus.litmus.instructions import NEGATED, Assign, Branch, Comparison, Instruction, Load, Rmw, registers_written
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.normal import map_operands
from corpus.litmus.orders import Order

_MOST_PAIRS = 1_000
"""The pairs of nodes that are compared to find that two ways do the same."""

_OF_FAILED = {Order.RELEASE: Order.RELAXED, Order.ACQ_REL: Order.ACQUIRE}
"""The order of the read of a compare-and-swap that fails, where it is not that of the whole."""


class _Poll(NamedTuple):
    """A load and a branch on what it gives: where the thread goes on while ``condition`` holds, and where it leaves."""

    load: Load
    condition: Comparison
    on: int
    out: int

    def asks_like(self, other: _Poll) -> bool:
        """Whether both ask the same of what they read."""
        names = (Reg(self.load.target), Reg(other.load.target))
        mine, its = self.condition, other.condition
        return replace(its, left=mine.left) == mine and mine.right not in names


def drop_polls(graph: ResidualGraph) -> None:
    """Drop a poll that goes on to the same poll, and a loop of polls that goes on to one that comes back to it."""
    live = graph.live()
    graph.redirect({number: on for number in graph.reached() for on in _same_poll(graph, number, live)})


def drop_retries(graph: ResidualGraph) -> None:
    """A compare-and-swap that fails goes back to a load, where it does what is done from there on."""
    while any(_drop_retry(graph, number) for number in graph.reached()):
        pass


def _polls(graph: ResidualGraph, number: int) -> Iterator[_Poll]:
    """Yield the poll at a node, with either of its ways as that by which it leaves."""
    node = graph.nodes.get(number)
    if node is None or not isinstance(node.instruction, Load):
        return
    load, then = node.instruction, graph.nodes.get(node.after[0])
    match then.instruction if then else None:
        case Branch(_, Comparison(operation, Reg(load.target), right) as condition) if right != Reg(load.target):
            assert then is not None
            falls, jumps = then.after
            yield _Poll(load, replace(condition, operation=NEGATED[operation]), falls, jumps)
            yield _Poll(load, condition, jumps, falls)


def _same_poll(graph: ResidualGraph, number: int, live: Live) -> Iterator[int]:
    """Yield the poll that a poll goes on to, where it is the same and does not need what the first one gave."""
    for poll in _polls(graph, number):
        loops = poll.on == number
        place = poll.out if loops else poll.on
        for other in _polls(graph, place) if place != number else ():
            if not poll.asks_like(other) or poll.load.target in live[place]:
                continue
            if graph.nodes[place].residual.accesses != graph.nodes[number].residual.accesses:
                continue
            needed = poll.load.target in live[poll.out] or other.load.target in live[other.out]
            same = replace(other.load, target=poll.load.target) == poll.load and other.out == poll.out
            if (other.on == number and _no_stronger(poll.load, other.load)) if loops else (same and not needed):
                yield place
                return


def _drop_retry(graph: ResidualGraph, number: int) -> bool:
    """Lead the failure of a compare-and-swap back to a load; return whether there is one."""
    node = graph.nodes[number]
    branch = graph.nodes.get(node.after[0])
    match node.instruction, branch and branch.instruction:
        case (
            Rmw("cas", str(target), address, (expected, _), mode, failure=None, success=None),
            Branch(_, Comparison("eq" | "ne" as sign, left, right)),
        ) if {left, right} == {Reg(target), expected} and graph.before()[node.after[0]] == [number]:
            assert branch is not None
            way = int(sign == "ne")
            read = Load("", address, replace(mode, order=_OF_FAILED.get(mode.order, mode.order)))
            for place in graph.reached():
                load = graph.nodes[place].instruction
                if (
                    isinstance(load, Load)
                    and replace(load, target="") == read
                    and graph.nodes[place].residual.accesses == node.residual.accesses
                    and branch.after[way] != place
                    and _only_reads(graph, place, number)
                    and _alike(graph, branch.after[way], graph.nodes[place].after[0], {load.target: target})
                ):
                    branch.after[way] = place
                    return True
    return False


def _only_reads(graph: ResidualGraph, first: int, last: int) -> bool:
    """Whether the rounds from a load to a compare-and-swap that fails only read: each leaves no trace.

    The load comes first on every way to the other one, and nothing in between writes what is live at the load.
    """

    def reached(start: int, goal: int) -> set[int]:
        seen, waiting = {first, last, -1} - {start}, [start]
        found: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node == goal:
                found.add(node)
            if node in seen:
                continue
            seen.add(node)
            found.add(node)
            waiting += graph.nodes[node].after
        return found

    if graph.start != first and last in reached(graph.start, last):
        return False
    inside = {node for node in reached(graph.nodes[first].after[0], last) if last in reached(node, last)}
    live = graph.live()[first]
    return all(
        isinstance(graph.nodes[node].instruction, Assign | Branch)
        and live.isdisjoint(registers_written(graph.nodes[node].instruction))
        for node in inside - {last}
    ) and live.isdisjoint(registers_written(graph.nodes[last].instruction))


def _alike(graph: ResidualGraph, one: int, other: int, renamed: Mapping[str, str]) -> bool:
    """Whether the same is done from two nodes on, where registers hold the same but that the second way's
    ``renamed`` hold what others hold. Moves tell which register holds what; no more is asked of them."""
    values, live = count(), graph.live()
    waiting: list[tuple[int, int, Mapping[str, str], Mapping[str, str]]] = [(one, other, {}, renamed)]
    seen = set()
    while waiting:
        one, other, first, second = waiting.pop()
        mine = {name: first.get(name, name) for name in sorted(live[one])}
        its = {name: second.get(name, name) for name in sorted(live[other])}
        if one == other and mine == its:
            continue
        numbers: dict[str, int] = {}
        key = (one, other, *(numbers.setdefault(name, len(numbers)) for name in (*mine.values(), *its.values())))
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > _MOST_PAIRS or -1 in (one, other):
            return False
        left, right = graph.nodes[one], graph.nodes[other]
        if (moved := _move(left.instruction)) is not None:
            waiting.append((left.after[0], other, {**first, moved[0]: first.get(moved[1], moved[1])}, second))
        elif (moved := _move(right.instruction)) is not None:
            waiting.append((one, right.after[0], first, {**second, moved[0]: second.get(moved[1], moved[1])}))
        else:
            does, ways = _with_values(left, first)
            also, others = _with_values(right, second)
            if (does, left.residual.accesses) != (also, right.residual.accesses):
                return False
            result = f"={next(values)}"
            first = {**first, **dict.fromkeys(registers_written(left.instruction), result)}
            second = {**second, **dict.fromkeys(registers_written(right.instruction), result)}
            waiting += [(n, m, first, second) for n, m in zip(ways, others, strict=True)]
    return True


def _no_stronger(load: Load, other: Load) -> bool:
    """Whether a load reads as another one does, or does so without its order."""
    weakened = replace(other.mode, order=Order.RELAXED)
    asks = (load.address, load.phase, load.parity) == (other.address, other.phase, other.parity)
    return asks and load.mode in (other.mode, weakened)


def _move(ins: Instruction) -> tuple[str, str] | None:
    """The target and the source of a move between registers."""
    match ins:
        case Assign(target, "mov", (Reg(source),)):
            return target, source
    return None


def _with_values(node: ResidualNode, held: Mapping[str, str]) -> tuple[Instruction, Sequence[int]]:
    """An instruction with names of values in place of the registers that hold them, and without names of its own.

    Of branches on whether two values are equal, those that jump where they are stand for the others.
    """

    def value(operand: Operand) -> Operand:
        return Reg(held.get(operand.name, operand.name)) if isinstance(operand, Reg) else operand

    match ins := map_operands(node.instruction, value):
        case Assign(target) if not target.startswith(MARK):
            return replace(ins, target=""), node.after
        case Load() | Rmw(target=str()):
            return replace(ins, target=""), node.after
        case Branch(condition=Comparison("eq" | "ne" as sign, left, right), checks=checks):
            equal = Comparison("eq", *sorted((left, right), key=repr))
            return Branch("", equal, checks=checks), node.after if sign == "eq" else node.after[::-1]
        case Branch():
            return replace(ins, label=""), node.after
    return ins, node.after
