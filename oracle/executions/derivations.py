"""The algebra of derivations, in which the truth of a pair is the path of base relations that explains it.

Example: in ``po | rf`` the truth of a pair is one edge, with the names of those of the two that have the pair. In
``(po | rf)^+`` it is a shortest path of such edges.

The truth of a pair is a shortest path that leads from its first event to its second by base relations, such as rf or
po: a composition joins paths, a union takes the better one, a closure finds the best. A relation that depends only on
where events are (``loc``, ``sr``, products and similar ones) restricts a path and is rarely one itself. Of an
intersection the path is taken from the side that says more, and on a par from the left. What a model defines by ``let``
stays visible as one edge that holds its path, unless it is only another name for it. Where a path is too long or deep
to be read, the edge is called ``name...`` and has none: thirty definitions like ``let a2 = a1; a1`` would make a path
of 2^30 edges.

*Better* means fewer edges that only restrict, then fewer edges. Since lengths add up along a path, this is a shortest
path algebra, and ``oracle.cat.algebra`` needs no change to compute in it. On a par the operand on the left wins, so
paths depend on the model's text and the execution alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from oracle.cat.algebra import Algebra, Relation, Set
from oracle.cat.base import Base
from oracle.cat.interpreter import PreludeValues

_ORDERED = frozenset({"po", "po-loc"})
_RESTRICTING = frozenset(
    (
        *("po^-1", "id", "int", "ext", "loc", "vloc", "sr", "cta", "gl", "sys"),
        *("swarp", "scta", "squeue", "sgpu", "ssg", "swg", "sqf", "sdv", "ssw"),
    )
)

MOST_EDGES, MOST_WITHIN = 200, 50
"""Base edges of a path that has a name, and named paths within each other."""


@dataclass(frozen=True, slots=True)
class DerivedPair:
    """A pair of events that a relation has, and the reason why.

    ``names`` are the base relations that hold it, none where only a product does; or, with a ``path``, the one name
    that the model gives to that path. ``length``: the base edges that it consists of; ``depth``: how deeply paths are
    nested. ``vagueness``, 0: says how values or fences order events; 1: that the program does; 2: only where they are.
    """

    source: int
    target: int
    names: tuple[str, ...]
    path: tuple[DerivedPair, ...] = ()
    length: int = field(init=False, repr=False, compare=False)
    depth: int = field(init=False, repr=False, compare=False)
    vagueness: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        path = self.path
        own = min((2 if name in _RESTRICTING else 1 if name in _ORDERED else 0 for name in self.names), default=2)
        object.__setattr__(self, "length", sum(edge.length for edge in path) or 1)
        object.__setattr__(self, "depth", 1 + max(edge.depth for edge in path) if path else 0)
        object.__setattr__(self, "vagueness", max(edge.vagueness for edge in path) if path else own)

    @property
    def label(self) -> str:
        """The names of the edge, joined as in ``po,rf``."""
        return ",".join(self.names) or "_"

    def steps(self) -> Iterator[DerivedPair]:
        """The base edges that the pair's edge consists of."""
        if self.path:
            for edge in self.path:
                yield from edge.steps()
        else:
            yield self


@dataclass(frozen=True, slots=True)
class DerivationPath:
    """A path as a truth; ``edges`` None: false. ``aside``: another path between its end points that must exist as well.

    ``alias``: nothing has been done to the edges but choosing among them.
    """

    edges: tuple[DerivedPair, ...] | None
    cost: tuple[int, int] = (0, 0)
    alias: bool = True
    aside: tuple[DerivedPair, ...] = ()

    def __bool__(self) -> bool:
        return self.edges is not None

    def __and__(self, other: DerivationPath) -> DerivationPath:
        """The path that follows one path and then the other."""
        if self.edges is None or other.edges is None:
            return FALSE
        cost = (self.cost[0] + other.cost[0], self.cost[1] + other.cost[1])
        return DerivationPath(self.edges + other.edges, cost, alias=False)

    def __or__(self, other: DerivationPath) -> DerivationPath:
        """The better of two paths; of two base edges, one edge with both names."""
        if self.edges is None or other.edges is None:
            return other if self.edges is None else self
        if self.cost == other.cost and self._is_base and other._is_base:
            (one,), (two,) = self.edges, other.edges
            names = tuple(dict.fromkeys((*one.names, *two.names)))
            return DerivationPath((DerivedPair(one.source, one.target, names),), self.cost, self.alias and other.alias)
        return min(self, other, key=lambda reason: reason.cost)

    @property
    def _is_base(self) -> bool:
        return self.edges is not None and len(self.edges) == 1 and not self.edges[0].path

    def restricted_by(self, other: DerivationPath) -> DerivationPath:
        """The path that says more, where both paths must exist."""
        left, right = self._vagueness(), other._vagueness()
        chosen, rest = (self, other) if left <= right else (other, self)
        aside = rest.edges if max(left, right) <= 1 else None
        return DerivationPath(chosen.edges, chosen.cost, chosen.alias, chosen.aside or aside or ())

    def _vagueness(self) -> int:
        return max((edge.vagueness for edge in self.edges or ()), default=2)


FALSE = DerivationPath(None)
HERE = DerivationPath(())
"""The empty path: the truth of an event in a set, or of an event related to itself."""


def _base(source: int, target: int, names: tuple[str, ...]) -> DerivationPath:
    edge = DerivedPair(source, target, names)
    return DerivationPath((edge,), (int(edge.vagueness == 2), 1))


@dataclass(frozen=True, slots=True)
class Derivations(Algebra[DerivationPath]):
    """The relational algebra whose truths are paths; the truth of an event in a set is always ``HERE``."""

    def product(self, left: Set[DerivationPath], right: Set[DerivationPath]) -> Relation[DerivationPath]:
        """The relation ``left * right``, whose pairs have no path of base relations."""
        return tuple(
            {other: _base(event, other, ()) for other in right} if event in left else {} for event in range(self.size)
        )

    def intersection(self, left: Relation[DerivationPath], right: Relation[DerivationPath]) -> Relation[DerivationPath]:
        """The relation ``left & right``, each pair with the path of the side that says more."""
        return tuple(
            {event: reason.restricted_by(others[event]) for event, reason in row.items() if event in others}
            for row, others in zip(left, right, strict=True)
        )

    def inverse(self, relation: Relation[DerivationPath]) -> Relation[DerivationPath]:
        """The relation ``relation ^-1``, each pair with its edge reversed."""
        rows: list[dict[int, DerivationPath]] = [{} for _ in range(self.size)]
        for event, row in enumerate(relation):
            for other, reason in row.items():
                rows[other][event] = DerivationPath(_reversed(reason.edges or ()), reason.cost, reason.alias)
        return tuple(rows)

    def domain(self, relation: Relation[DerivationPath]) -> Set[DerivationPath]:
        """The set of events that the relation leads from."""
        return {event: HERE for event, row in enumerate(relation) if row}

    def named(self, name: str, relation: Relation[DerivationPath]) -> Relation[DerivationPath]:
        """The relation with each path as one edge of that name, unless it has one already."""
        return tuple(
            {other: _named(name, event, other, reason) for other, reason in row.items()}
            for event, row in enumerate(relation)
        )


def _named(name: str, source: int, target: int, reason: DerivationPath) -> DerivationPath:
    edges = reason.edges or ()
    if not edges or (len(edges) == 1 and (reason.alias or edges[0].path)):
        return reason
    link = DerivedPair(source, target, (name,), edges)
    if link.length > MOST_EDGES or link.depth > MOST_WITHIN:
        link = DerivedPair(source, target, (f"{name}...",))
    return DerivationPath((link,), reason.cost, aside=reason.aside)


def _inverse_name(name: str) -> str:
    return name.removesuffix("^-1") if name.endswith("^-1") else f"{name}^-1"


def _reversed(edges: tuple[DerivedPair, ...]) -> tuple[DerivedPair, ...]:
    return tuple(
        DerivedPair(edge.target, edge.source, tuple(map(_inverse_name, edge.names)), _reversed(edge.path))
        for edge in reversed(edges)
    )


@dataclass(frozen=True)
class _ReasonBase:
    """A base whose relations are each its own reason, the prelude's too, however they are made."""

    algebra: Derivations
    known: PreludeValues[int]

    def value(self, name: str) -> Set[DerivationPath] | Relation[DerivationPath] | None:
        """The set or relation of a name, None where the base has none."""
        value = self.known.value(name) if name != "id" else None  # that an event is itself needs no edge
        if not isinstance(value, tuple):
            return None if value is None else dict.fromkeys(value, HERE)
        return tuple({other: _base(event, other, (name,)) for other in row} for event, row in enumerate(value))


def with_reasons(execution: Base[int]) -> Base[DerivationPath]:
    """The base of one execution, whose truths are 0 and 1, with paths in place of these truths."""
    there = tuple(HERE if truth else FALSE for truth in execution.algebra.executed)
    algebra = Derivations(HERE, lambda reason: FALSE if reason else HERE, there)
    return _ReasonBase(algebra, PreludeValues(execution))
