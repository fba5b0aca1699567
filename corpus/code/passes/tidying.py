"""Makes a residual program small: computations that nobody needs go, equal ways become one, and so do rows of polls.

The program is a graph whose nodes are its instructions. Labels and jumps come back when the graph is written out.

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

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

from corpus.code.residual import END, MARK, Residual
from corpus.litmus.flow import ThreadFlow, live_registers, register_use
from corpus.litmus.instructions import (
    COMPARISONS,
    NEGATED,
    Assign,
    Branch,
    Comparison,
    Instruction,
    Label,
    Load,
    Rmw,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.normal import map_operands
from corpus.litmus.orders import Order

_MOST_PAIRS = 1_000
"""The pairs of nodes that are compared to find that two ways do the same."""

_OF_FAILED = {Order.RELEASE: Order.RELAXED, Order.ACQ_REL: Order.ACQUIRE}
"""The order of the read of a compare-and-swap that fails, where it is not that of the whole."""


@dataclass(slots=True)
class _Node:
    """An instruction and the nodes that follow it: of a branch where it falls through and where it jumps to."""

    residual: Residual
    after: list[int]

    @property
    def instruction(self) -> Instruction:
        return self.residual.instruction


class _Poll(NamedTuple):
    """A load and a branch on what it gives: where the thread goes on while ``asked`` holds, and where it leaves."""

    load: Load
    asked: Comparison
    on: int
    out: int

    def asks_like(self, other: _Poll) -> bool:
        """Whether both ask the same of what they read."""
        names = (Reg(self.load.target), Reg(other.load.target))
        return replace(other.asked, left=self.asked.left) == self.asked and self.asked.right not in names


Live = Mapping[int, frozenset[str]]
"""The registers that are read from each node on, before they are written."""


def tidied(code: Sequence[Residual], needed: Collection[str] = (), rounds: bool = False) -> list[Residual]:
    """Return a residual program with as few instructions as the rules of this module leave.

    Registers that are ``needed`` are asked for at its end. With ``rounds``, no poll and no retry is dropped.
    """
    graph = _Graph(code, frozenset(needed))
    size = -1
    while size != len(graph.reached()):
        size = len(graph.reached())
        graph.drop_dead()
        graph.join_moves()
        graph.sink_moves()
        graph.join_comparisons()
        if not rounds:
            graph.drop_polls()
            graph.drop_retries()
        graph.merge()
    return list(graph.written())


class _Graph:
    """The instructions of a program by number; -1 is its end."""

    def __init__(self, code: Sequence[Residual], needed: frozenset[str] = frozenset()) -> None:
        self._needed = needed
        places = ThreadFlow(tuple(each.instruction for each in code)).labels
        kept = [n for n, each in enumerate(code) if not _is_detour(each.instruction)]
        numbers = {place: number for number, place in enumerate(kept)}

        def at(place: int) -> int:
            """The node that a place of the code leads to."""
            seen = set()
            while place < len(code) and place not in seen:
                seen.add(place)
                ins = code[place].instruction
                if isinstance(ins, Label):
                    place += 1
                elif isinstance(ins, Branch) and ins.condition is None:
                    place = places[ins.label]
                else:
                    return numbers[place]
            return -1 if place >= len(code) else numbers.setdefault(-1, len(kept))

        self.nodes: dict[int, _Node] = {}
        for place in kept:
            ins = code[place].instruction
            after = [at(place + 1)]
            if isinstance(ins, Branch):
                after.append(at(places[ins.label]))
            self.nodes[numbers[place]] = _Node(code[place], after)
        self.start = at(0)
        if -1 in numbers:  # a jump to itself: the thread does nothing for ever
            here = numbers[-1]
            self.nodes[here] = _Node(Residual(Branch(END), None), [here, here])

    def reached(self) -> list[int]:
        """The nodes that the start leads to, in the order in which they are written."""
        order: list[int] = []
        seen = {-1}
        waiting = [self.start]
        while waiting:
            node = waiting.pop()
            while node not in seen:
                seen.add(node)
                order.append(node)
                first, *others = self.nodes[node].after
                waiting += others
                node = first
        return order

    def _live(self) -> dict[int, frozenset[str]]:
        """The registers that are read, after each node and before they are written."""
        nodes = [(number, self.nodes[number]) for number in reversed(self.reached())]
        rows = [(number, node.after, register_use(node.instruction)) for number, node in nodes]
        return live_registers(rows, {-1: self._needed})

    def _redirect(self, dropped: Mapping[int, int]) -> None:
        """Lead around nodes, each to the node behind it."""

        def end(number: int) -> int:
            seen = set()
            while number in dropped and number not in seen:
                seen.add(number)
                number = dropped[number]
            return number

        for node in self.nodes.values():
            node.after = [end(each) for each in node.after]
        self.start = end(self.start)

    def drop_dead(self) -> None:
        """Drop computations whose results nobody reads, and branches both of whose ways are one."""
        while True:
            live, dropped = self._live(), {}
            for number in self.reached():
                node = self.nodes[number]
                match node.instruction:
                    case Assign(target) if target not in live[node.after[0]] and not target.startswith(MARK):
                        dropped[number] = node.after[0]
                    case Branch() if node.after[0] == node.after[1] and node.after[0] != number:
                        dropped[number] = node.after[0]
            if not dropped:
                return
            self._redirect(dropped)

    def _before(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number in self.reached():
            for each in self.nodes[number].after:
                found.setdefault(each, []).append(number)
        return found

    def join_moves(self) -> None:
        """A value that is computed or read only to be moved goes where the move puts it."""
        self._join(self._moved)

    def join_comparisons(self) -> None:
        """A branch on a comparison that nobody else reads makes the comparison, and so does its negation."""
        self._join(self._compared)

    def _join(self, joined: Callable[[_Node, _Node, Live], Instruction | None]) -> None:
        """Put two nodes, the first of which leads to the second alone, in place of which an instruction may stand."""
        while True:
            live, before = self._live(), self._before()
            done: set[int] = set()
            for number in self.reached():
                earlier = before.get(number, [])
                if len(earlier) != 1 or number == self.start or done.intersection((number, *earlier)):
                    continue
                first, second = self.nodes[earlier[0]], self.nodes[number]
                new = joined(first, second, live) if len(first.after) == 1 else None
                if new is not None:
                    first.residual = first.residual._replace(instruction=new)
                    first.after = list(second.after)
                    done |= {number, earlier[0]}
            if not done:
                return

    @staticmethod
    def _moved(first: _Node, second: _Node, live: Live) -> Instruction | None:
        match first.instruction, second.instruction:
            case (
                (Load() | Assign() | Rmw(success=None)) as value,
                Assign(target, "mov", (Reg(source),)),
            ) if value.target == source and source not in live[second.after[0]]:
                return replace(value, target=target)
        return None

    @staticmethod
    def _compared(first: _Node, second: _Node, live: Live) -> Instruction | None:
        match first.instruction, second.instruction:
            case (
                Assign(target, operation, (left, right)),
                Branch(_, Comparison("eq" | "ne" as sign, Reg(name), 0)),
            ) if target == name and operation in COMPARISONS and not any(name in live[n] for n in second.after):
                made = operation if sign == "ne" else NEGATED[operation]
                return Branch("", Comparison(made, left, right))
            case (
                Assign(target, operation, values),
                Assign(_, "xor", (Reg(name), 1)) as negation,
            ) if target == name and operation in COMPARISONS and name not in live[second.after[0]]:
                return replace(negation, operation=NEGATED[operation], operands=values)
        return None

    def sink_moves(self) -> None:
        """A computation before a branch, needed on one of its ways alone, is made on that way."""
        live, before = self._live(), self._before()
        for number in self.reached():
            node = self.nodes[number]
            then = self.nodes.get(node.after[0])
            match node.instruction, then and then.instruction:
                case Assign(target), Branch() as branch if (
                    before[node.after[0]] == [number]
                    and not target.startswith(MARK)
                    and target not in registers_read(branch)
                ):
                    assert then is not None
                    needing = [way for way, place in enumerate(then.after) if target in live[place]]
                    if len(needing) == 1 and then.after[0] != then.after[1]:
                        self.nodes[new := max(self.nodes) + 1] = _Node(node.residual, [then.after[needing[0]]])
                        then.after[needing[0]] = new
                        self._redirect({number: node.after[0]})
                        live, before = self._live(), self._before()

    def _polls(self, number: int) -> Iterator[_Poll]:
        """Yield the poll at a node, with either of its ways as that by which it leaves."""
        node = self.nodes.get(number)
        if node is None or not isinstance(node.instruction, Load):
            return
        load, then = node.instruction, self.nodes.get(node.after[0])
        match then.instruction if then else None:
            case Branch(_, Comparison(operation, Reg(name), right) as asked) if name == load.target and right != Reg(
                name
            ):
                assert then is not None
                falls, jumps = then.after
                yield _Poll(load, replace(asked, operation=NEGATED[operation]), falls, jumps)
                yield _Poll(load, asked, jumps, falls)

    def drop_polls(self) -> None:
        """Drop a poll that goes on to the same poll, and a loop of polls that goes on to one that comes back to it."""
        live = self._live()
        self._redirect({number: on for number in self.reached() for on in self._same_poll(number, live)})

    def _same_poll(self, number: int, live: Live) -> Iterator[int]:
        """Yield the poll that a poll goes on to, where it is the same and does not need what the first one gave."""
        for poll in self._polls(number):
            loops = poll.on == number
            place = poll.out if loops else poll.on
            for other in self._polls(place) if place != number else ():
                if not poll.asks_like(other) or poll.load.target in live[place]:
                    continue
                if self.nodes[place].residual.accesses != self.nodes[number].residual.accesses:
                    continue
                needed = poll.load.target in live[poll.out] or other.load.target in live[other.out]
                same = replace(other.load, target=poll.load.target) == poll.load and other.out == poll.out
                if (other.on == number and _no_stronger(poll.load, other.load)) if loops else (same and not needed):
                    yield place
                    return

    def drop_retries(self) -> None:
        """A compare-and-swap that fails goes back to a load, where it does what is done from there on."""
        while any(self._drop_retry(number) for number in self.reached()):
            pass

    def _drop_retry(self, number: int) -> bool:
        """Lead the failure of a compare-and-swap back to a load; return whether there is one."""
        node = self.nodes[number]
        branch = self.nodes.get(node.after[0])
        match node.instruction, branch and branch.instruction:
            case (
                Rmw("cas", str(target), address, (expected, _), mode, failure=None, success=None),
                Branch(_, Comparison("eq" | "ne" as sign, left, right)),
            ) if {left, right} == {Reg(target), expected} and self._before()[node.after[0]] == [number]:
                assert branch is not None
                way = int(sign == "ne")
                read = Load("", address, replace(mode, order=_OF_FAILED.get(mode.order, mode.order)))
                for place in self.reached():
                    load = self.nodes[place].instruction
                    if (
                        isinstance(load, Load)
                        and replace(load, target="") == read
                        and self.nodes[place].residual.accesses == node.residual.accesses
                        and branch.after[way] != place
                        and self._only_reads(place, number)
                        and self._alike(branch.after[way], self.nodes[place].after[0], {load.target: target})
                    ):
                        branch.after[way] = place
                        return True
        return False

    def _only_reads(self, first: int, last: int) -> bool:
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
                waiting += self.nodes[node].after
            return found

        if self.start != first and last in reached(self.start, last):
            return False
        inside = {node for node in reached(self.nodes[first].after[0], last) if last in reached(node, last)}
        live = self._live()[first]
        return all(
            isinstance(self.nodes[node].instruction, Assign | Branch)
            and live.isdisjoint(registers_written(self.nodes[node].instruction))
            for node in inside - {last}
        ) and live.isdisjoint(registers_written(self.nodes[last].instruction))

    def _alike(self, one: int, other: int, renamed: Mapping[str, str]) -> bool:
        """Whether the same is done from two nodes on, where registers hold the same but that the second way's
        ``renamed`` hold what others hold. Moves tell which register holds what; no more is asked of them."""
        values, live = count(), self._live()
        waiting: list[tuple[int, int, Mapping[str, str], Mapping[str, str]]] = [(one, other, {}, renamed)]
        seen = set()
        while waiting:
            one, other, first, second = waiting.pop()
            mine = {name: first.get(name, name) for name in sorted(live[one])}
            its = {name: second.get(name, name) for name in sorted(live[other])}
            if one == other and mine == its:
                continue
            numbers: dict[str, int] = {}
            key = (one, other, *(numbers.setdefault(each, len(numbers)) for each in (*mine.values(), *its.values())))
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > _MOST_PAIRS or -1 in (one, other):
                return False
            left, right = self.nodes[one], self.nodes[other]
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

    def merge(self) -> None:
        """Nodes become one from which equal things are done: the coarsest such partition, by refinement."""
        order = self.reached()
        group = {**dict.fromkeys(order, 0), -1: -1}
        while True:
            numbers: dict[object, int] = {}
            new = {-1: -1}
            for number in order:
                node = self.nodes[number]
                ins = node.instruction
                shape = replace(ins, label="") if isinstance(ins, Branch) else ins
                key = (shape, node.residual.accesses, group[number], *(group[each] for each in node.after))
                new[number] = numbers.setdefault(key, len(numbers))
            if len(set(new.values())) == len(set(group.values())):
                break
            group = new
        first: dict[int, int] = {-1: -1}
        for number in order:
            first.setdefault(group[number], number)
        for number in order:
            self.nodes[number].after = [first[group[each]] for each in self.nodes[number].after]
        self.start = first[group[self.start]]

    def written(self) -> Iterator[Residual]:
        """Yield the instructions with labels where jumps lead to, and jumps where the next node stands elsewhere."""
        order = self.reached()
        following = {number: order[at + 1] if at + 1 < len(order) else -1 for at, number in enumerate(order)}
        jumped = {self.nodes[number].after[0] for number in order if self.nodes[number].after[0] != following[number]}
        for number in order:
            jumped |= set(self.nodes[number].after[1:])
        names = {number: f"L{at}" for at, number in enumerate(each for each in order if each in jumped)}
        names[-1] = END
        for number in order:
            node = self.nodes[number]
            if number in names:
                yield Residual(Label(names[number]), None)
            ins = node.instruction
            if isinstance(ins, Branch):
                yield node.residual._replace(instruction=replace(ins, label=names[node.after[1]]))
            else:
                yield node.residual
            if node.after[0] != following[number]:
                yield Residual(Branch(names[node.after[0]]), None)
        if -1 in jumped:
            yield Residual(Label(END), None)


def _is_detour(ins: Instruction) -> bool:
    return isinstance(ins, Label) or (isinstance(ins, Branch) and ins.condition is None)


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


def _with_values(node: _Node, held: Mapping[str, str]) -> tuple[Instruction, Sequence[int]]:
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
        case Branch(condition=Comparison("eq" | "ne" as sign, left, right)):
            equal = Comparison("eq", *sorted((left, right), key=repr))
            return Branch("", equal), node.after if sign == "eq" else node.after[::-1]
        case Branch():
            return replace(ins, label=""), node.after
    return ins, node.after
