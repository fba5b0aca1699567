"""A residual program as a graph whose nodes are its instructions. Labels and jumps come back when it is written out.

0 ld.acquire r1, x        after (1,)
1 bne r1, 0, ..           after (2, 0): where it falls through, and where it jumps to
2 st y, 1                 after (-1,): the end
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.code.residual import END, Residual
from corpus.litmus.flow import ThreadFlow, live_registers, register_use
from corpus.litmus.instructions import Branch, Instruction, Label


@dataclass(slots=True)
class ResidualNode:
    """An instruction and the nodes that follow it: of a branch where it falls through and where it jumps to."""

    residual: Residual
    after: list[int]

    @property
    def instruction(self) -> Instruction:
        """The instruction of the node."""
        return self.residual.instruction


Live = Mapping[int, frozenset[str]]
"""The registers that are read from each node on, before they are written."""


class ResidualGraph:
    """The instructions of a program by number; -1 is its end. Registers that are ``needed`` are asked for there."""

    def __init__(self, code: Sequence[Residual], needed: frozenset[str] = frozenset()) -> None:
        self._needed = needed
        places = ThreadFlow(tuple(residual.instruction for residual in code)).labels
        kept = [n for n, residual in enumerate(code) if not _is_detour(residual.instruction)]
        numbers = {place: number for number, place in enumerate(kept)}

        def find_node(place: int) -> int:
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

        self.nodes: dict[int, ResidualNode] = {}
        for place in kept:
            ins = code[place].instruction
            after = [find_node(place + 1)]
            if isinstance(ins, Branch):
                after.append(find_node(places[ins.label]))
            self.nodes[numbers[place]] = ResidualNode(code[place], after)
        self.start = find_node(0)
        if -1 in numbers:  # a jump to itself: the thread does nothing for ever
            here = numbers[-1]
            self.nodes[here] = ResidualNode(Residual(Branch(END), None), [here, here])

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

    def live(self) -> dict[int, frozenset[str]]:
        """Return the registers that are read, after each node and before they are written."""
        nodes = [(number, self.nodes[number]) for number in reversed(self.reached())]
        rows = [(number, node.after, register_use(node.instruction)) for number, node in nodes]
        return live_registers(rows, {-1: self._needed})

    def redirect(self, dropped: Mapping[int, int]) -> None:
        """Lead around nodes, each to the node behind it."""

        def end(number: int) -> int:
            seen = set()
            while number in dropped and number not in seen:
                seen.add(number)
                number = dropped[number]
            return number

        for node in self.nodes.values():
            node.after = [end(number) for number in node.after]
        self.start = end(self.start)

    def before(self) -> dict[int, list[int]]:
        """Return the nodes that lead to each."""
        found: dict[int, list[int]] = {}
        for number in self.reached():
            for after in self.nodes[number].after:
                found.setdefault(after, []).append(number)
        return found

    def join(self, joined: Callable[[ResidualNode, ResidualNode, Live], Instruction | None]) -> None:
        """Put two nodes, the first of which leads to the second alone, in place of which an instruction may stand."""
        while True:
            live, before = self.live(), self.before()
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

    def written(self) -> Iterator[Residual]:
        """Yield the instructions with labels where jumps lead to, and jumps where the next node stands elsewhere."""
        order = self.reached()
        following = {number: order[place + 1] if place + 1 < len(order) else -1 for place, number in enumerate(order)}
        jumped = {self.nodes[number].after[0] for number in order if self.nodes[number].after[0] != following[number]}
        for number in order:
            jumped |= set(self.nodes[number].after[1:])
        names = {number: f"L{place}" for place, number in enumerate(node for node in order if node in jumped)}
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
