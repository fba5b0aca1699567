"""Makes a residual program small: computations that nobody needs go, equal ways become one, and so do rows of polls.

The program is a graph whose nodes are its instructions. Labels and jumps come back when the graph is written out.

A *poll* is a load, and a branch on what it gives that leaves by one way or goes on. Where a poll that fails goes on to
the same poll, with the same way out, the first one can go: an execution in which it fails is one in which only the
second is asked, and an execution in which it succeeds is one in which the second does. So sixteen polls in a row, with
which libcu++ begins to wait, are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.kernels.ptx.specialiser import END, MARK, Residual
from corpus.litmus import test as litmus


@dataclass(slots=True)
class _Node:
    """An instruction and the nodes that follow it: of a branch where it falls through and where it jumps to."""

    residual: Residual
    after: list[int]

    @property
    def instruction(self) -> litmus.Instruction:
        return self.residual.instruction


Live = Mapping[int, frozenset[str]]
"""The registers that are read from each node on, before they are written."""


def tidied(code: Sequence[Residual]) -> list[Residual]:
    """Return a residual program with as few instructions as the rules of this module leave."""
    graph = _Graph(code)
    size = -1
    while size != len(graph.reached()):
        size = len(graph.reached())
        graph.drop_dead()
        graph.join_moves()
        graph.join_comparisons()
        graph.drop_polls()
        graph.merge()
    return list(graph.written())


class _Graph:
    """The instructions of a program by number; -1 is its end."""

    def __init__(self, code: Sequence[Residual]) -> None:
        places = {each.instruction.name: n for n, each in enumerate(code) if isinstance(each.instruction, litmus.Label)}
        numbers: dict[int, int] = {}
        kept = [n for n, each in enumerate(code) if not _is_detour(each.instruction)]
        numbers = {place: number for number, place in enumerate(kept)}

        def at(place: int) -> int:
            """The node that a place of the code leads to."""
            seen = set()
            while place < len(code) and place not in seen:
                seen.add(place)
                ins = code[place].instruction
                if isinstance(ins, litmus.Label):
                    place += 1
                elif isinstance(ins, litmus.Branch) and ins.condition is None:
                    place = places[ins.label]
                else:
                    return numbers[place]
            return -1 if place >= len(code) else numbers.setdefault(-1, len(kept))

        self.nodes: dict[int, _Node] = {}
        for place in kept:
            ins = code[place].instruction
            after = [at(place + 1)]
            if isinstance(ins, litmus.Branch):
                after.append(at(places[ins.label]))
            self.nodes[numbers[place]] = _Node(code[place], after)
        self.start = at(0)
        if -1 in numbers:  # a jump to itself: the thread does nothing for ever
            here = numbers[-1]
            self.nodes[here] = _Node(Residual(litmus.Branch(END), None), [here, here])

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
        order = self.reached()
        before: dict[int, frozenset[str]] = dict.fromkeys((*order, -1), frozenset())
        changed = True
        while changed:
            changed = False
            for number in reversed(order):
                node = self.nodes[number]
                live = frozenset[str]().union(*(before[each] for each in node.after))
                live = live - frozenset(litmus.written(node.instruction)) | frozenset(litmus.reads(node.instruction))
                if live != before[number]:
                    before[number] = live
                    changed = True
        return before

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
                    case litmus.Assign(target) if target not in live[node.after[0]] and not target.startswith(MARK):
                        dropped[number] = node.after[0]
                    case litmus.Branch() if node.after[0] == node.after[1] and node.after[0] != number:
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
        """A branch on a comparison that nobody else reads makes the comparison."""
        self._join(self._compared)

    def _join(self, joined: Callable[[_Node, _Node, Live], litmus.Instruction | None]) -> None:
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
    def _moved(first: _Node, second: _Node, live: Live) -> litmus.Instruction | None:
        match first.instruction, second.instruction:
            case (
                (litmus.Load() | litmus.Assign() | litmus.Rmw(success=None)) as value,
                litmus.Assign(target, "mov", (litmus.Reg(source),)),
            ) if value.target == source and source not in live[second.after[0]]:
                return replace(value, target=target)
        return None

    @staticmethod
    def _compared(first: _Node, second: _Node, live: Live) -> litmus.Instruction | None:
        match first.instruction, second.instruction:
            case (
                litmus.Assign(target, operation, (left, right)),
                litmus.Branch(_, litmus.Comparison("eq" | "ne" as sign, litmus.Reg(name), 0)),
            ) if target == name and operation in litmus.COMPARISONS and not any(name in live[n] for n in second.after):
                made = operation if sign == "ne" else litmus.NEGATED[operation]
                return litmus.Branch("", litmus.Comparison(made, left, right))
        return None

    def _poll(self, number: int) -> tuple[litmus.Load, litmus.Comparison, int, int] | None:
        """The load of a poll, what its branch asks, where it goes on and where it leaves; None where there is none."""
        node = self.nodes.get(number)
        if node is None or not isinstance(node.instruction, litmus.Load):
            return None
        load, then = node.instruction, self.nodes.get(node.after[0])
        match then.instruction if then else None:
            case litmus.Branch(_, litmus.Comparison(_, litmus.Reg(name), right) as asked) if (
                name == load.target and right != litmus.Reg(name)
            ):
                assert then is not None
                return load, asked, then.after[0], then.after[1]
        return None

    def drop_polls(self) -> None:
        """Drop a poll that goes on to the same poll."""
        live = self._live()
        self._redirect({number: on for number in self.reached() for on in self._same_poll(number, live)})

    def _same_poll(self, number: int, live: Live) -> Iterator[int]:
        """Yield the poll that a poll goes on to, where it is the same and does not need what the first one gave."""
        poll = self._poll(number)
        for on, out in ((0, 1), (1, 0)) if poll else ():
            assert poll is not None
            load, asked, *ways = poll
            following = self._poll(ways[on]) if ways[on] != number else None
            if following is None:
                continue
            other, also, *others = following
            names = (litmus.Reg(load.target), litmus.Reg(other.target))
            needed = load.target in live[ways[out]] | live[ways[on]] or other.target in live[others[out]]
            same = replace(other, target=load.target) == load and replace(also, left=asked.left) == asked
            same = same and self.nodes[ways[on]].residual.access == self.nodes[number].residual.access
            if same and others[out] == ways[out] and not needed and asked.right not in names:
                yield ways[on]
                return

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
                shape = replace(ins, label="") if isinstance(ins, litmus.Branch) else ins
                key = (shape, node.residual.access, group[number], *(group[each] for each in node.after))
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
                yield Residual(litmus.Label(names[number]), None)
            ins = node.instruction
            if isinstance(ins, litmus.Branch):
                yield node.residual._replace(instruction=replace(ins, label=names[node.after[1]]))
            else:
                yield node.residual
            if node.after[0] != following[number]:
                yield Residual(litmus.Branch(names[node.after[0]]), None)
        if -1 in jumped:
            yield Residual(litmus.Label(END), None)


def _is_detour(ins: litmus.Instruction) -> bool:
    return isinstance(ins, litmus.Label) or (isinstance(ins, litmus.Branch) and ins.condition is None)
