"""Sets of the models of a sketch, as reduced ordered binary decision diagrams over what its holes are filled by.

Worked example: a sketch has two switches, ``ww`` and ``rr``. Each variable is the set of the models in which its switch
is on. Two sets are equal exactly when they are one object.

>>> space = ModelSpace(["ww", "rr"])
>>> ww, rr = space.variable("ww"), space.variable("rr")
>>> (ww & rr | ww & ~rr) is ww
True
>>> (ww | rr).size
3

A set is a truth of a relational algebra (``oracle.cat.algebra``): the models in which a pair is related. So one pass of
the interpreter over an execution gives the set of all models of a sketch that allow it.

Source: Bryant, "Graph-Based Algorithms for Boolean Function Manipulation" (IEEE Transactions on Computers 1986).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from oracle.cat.algebra import Algebra, Relation


class ModelSet:
    """A node of a diagram: the models of ``high`` where the variable is true, and those of ``low`` where it is not.

    ``level`` is the number of the variable; the two constants are below all variables. Only the empty set is false.
    """

    __slots__ = ("_complement", "high", "level", "low", "number", "space")

    def __init__(self, space: ModelSpace, number: int, level: int, low: ModelSet | None, high: ModelSet | None) -> None:
        self.space = space
        self.number = number
        self.level = level
        self.low = low
        self.high = high
        self._complement: ModelSet | None = None

    def __and__(self, other: ModelSet) -> ModelSet:
        return self.space.intersection(self, other)

    def __or__(self, other: ModelSet) -> ModelSet:
        return ~self.space.intersection(~self, ~other)

    def __sub__(self, other: ModelSet) -> ModelSet:
        return self.space.intersection(self, ~other)

    def __invert__(self) -> ModelSet:
        return self._complement or self.space.complement(self)

    def __bool__(self) -> bool:
        return self is not self.space.none

    def __le__(self, other: ModelSet) -> bool:
        return not self - other

    def __contains__(self, values: object) -> bool:
        """Decide whether a model is in the set, given the truth of each variable in order."""
        assert isinstance(values, Sequence)
        node = self
        while node.low is not None and node.high is not None:
            node = node.high if values[node.level] else node.low
        return node is self.space.every

    @property
    def size(self) -> int:
        """The number of assignments to the variables that are in the set."""
        return self.space.count(self)

    def nodes(self) -> list[ModelSet]:
        """The nodes of the diagram with their variables, each after those that it leads to."""
        found: dict[int, ModelSet] = {}

        def visit(node: ModelSet) -> None:
            if node.low is not None and node.high is not None and node.number not in found:
                visit(node.low)
                visit(node.high)
                found[node.number] = node

        visit(self)
        return list(found.values())


class ModelSpace:
    """All assignments to some variables, and the diagrams of sets of them."""

    def __init__(self, variables: Sequence[str]) -> None:
        self.variables = tuple(variables)
        self._levels: Mapping[str, int] = {name: level for level, name in enumerate(self.variables)}
        deepest = len(self.variables)
        self.none = ModelSet(self, 0, deepest, None, None)
        self.every = ModelSet(self, 1, deepest, None, None)
        self.none._complement, self.every._complement = self.every, self.none
        self._nodes: dict[tuple[int, int, int], ModelSet] = {}
        self._met: dict[tuple[int, int], ModelSet] = {}
        self._counts: dict[int, int] = {}

    def variable(self, name: str) -> ModelSet:
        """The set of the assignments in which a variable is true."""
        return self._node(self._levels[name], self.none, self.every)

    def containing(self, members: Sequence[Sequence[bool]]) -> ModelSet:
        """The set of some assignments."""

        def below(level: int, some: list[Sequence[bool]]) -> ModelSet:
            if not some:
                return self.none
            if level == len(self.variables):
                return self.every
            low = below(level + 1, [row for row in some if not row[level]])
            return self._node(level, low, below(level + 1, [row for row in some if row[level]]))

        return below(0, list(members))

    def _node(self, level: int, low: ModelSet, high: ModelSet) -> ModelSet:
        if low is high:
            return low
        key = (level, low.number, high.number)
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = ModelSet(self, len(self._nodes) + 2, level, low, high)
        return node

    def complement(self, one: ModelSet) -> ModelSet:
        """The assignments that are not in a set."""
        if one._complement is None:
            assert one.low is not None and one.high is not None
            made = self._node(one.level, self.complement(one.low), self.complement(one.high))
            one._complement, made._complement = made, one
        return one._complement

    def intersection(self, one: ModelSet, other: ModelSet) -> ModelSet:
        """The assignments that are in both sets."""
        if one is other or other is self.every:
            return one
        if one is self.every:
            return other
        if one is self.none or other is self.none:
            return self.none
        key = (one.number, other.number) if one.number < other.number else (other.number, one.number)
        met = self._met.get(key)
        if met is None:
            level = min(one.level, other.level)
            (one_low, one_high), (other_low, other_high) = _cofactors(one, level), _cofactors(other, level)
            low = self.intersection(one_low, other_low)  # one call deeper for each variable, and no more
            high = self.intersection(one_high, other_high)
            met = self._met[key] = self._node(level, low, high)
        return met

    def count(self, one: ModelSet) -> int:
        """The number of assignments in a set."""
        return self._count(one) << one.level

    def _count(self, one: ModelSet) -> int:
        if one.low is None or one.high is None:
            return int(one is self.every)
        known = self._counts.get(one.number)
        if known is None:
            known = sum(self._count(inner) << (inner.level - one.level - 1) for inner in (one.low, one.high))
            self._counts[one.number] = known
        return known

    def members(self, one: ModelSet) -> Iterator[tuple[bool, ...]]:
        """The assignments in a set, those with false before true in the order of the variables."""

        def below(node: ModelSet, level: int) -> Iterator[tuple[bool, ...]]:
            if node is self.none:
                return
            if level == len(self.variables):
                yield ()
                return
            for value, inner in zip((False, True), _cofactors(node, level), strict=True):
                for rest in below(inner, level + 1):
                    yield (value, *rest)

        return below(one, 0)


def _cofactors(node: ModelSet, level: int) -> tuple[ModelSet, ModelSet]:
    if node.level == level:
        assert node.low is not None and node.high is not None
        return node.low, node.high
    return node, node


class AlgebraOfModels(Algebra[ModelSet]):
    """The relational algebra whose truths are sets of models, over events that all happen."""

    def is_acyclic(self, relation: Relation[ModelSet], positive: bool = False) -> ModelSet:
        """The models in which a relation has no cycle; events are eliminated one by one."""
        rows = [dict(row) for row in relation]
        acyclic = self.true
        while rows:
            event = len(rows) - 1
            through = rows.pop()
            own = through.pop(event, None)
            if own is not None:
                acyclic = acyclic - own
            for row in rows:
                truth = row.pop(event, self.negate(self.true))
                for other, value in through.items() if truth else ():
                    both = truth & value
                    if both:
                        row[other] = row[other] | both if other in row else both
        return acyclic


def algebra_of(models: ModelSet, events: int) -> AlgebraOfModels:
    """The algebra over so many events whose truths are sets of some models."""
    return AlgebraOfModels(models, lambda truth: models - truth, (models,) * events)
