"""The base of an evaluation of a .cat model: an algebra, and the sets and relations that are not defined by others.

The other names are lines of ``prelude.cat``. An execution may be known otherwise than by listing it, or its program may
be unknown: an algebra and this one function are then enough for every model to judge it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from corpus.litmus.orders import ANNOTATED
from oracle.cat.algebra import Algebra, Relation, Set, T, bits
from oracle.cat.terms import HOLE


class Base(Protocol[T]):
    """An execution, or many at once, as a .cat file sees it."""

    @property
    def algebra(self) -> Algebra[T]:
        """The operations on sets and relations, over the events of this base."""
        ...

    def value(self, name: str) -> Set[T] | Relation[T] | None:
        """The set or relation of a name, None where the base has none.

        A base may also answer for a name of the prelude; the prelude's line is then not read.
        """
        ...


@dataclass(frozen=True)
class BaseNames:
    """The names that bases answer for, which are also a base of no events; a model is checked over it when it is
    loaded.

    ``chosen``: the relations that an execution chooses; the others are known before anything runs.
    """

    sets: Collection[str]
    relations: Collection[str]
    chosen: Collection[str] = ()

    @property
    def algebra(self) -> Algebra[int]:
        """The algebra of no events, over which a model is checked when it is loaded."""
        return bits(1, 0)

    def value(self, name: str) -> Set[int] | Relation[int] | None:
        """The empty set or relation of a name, None where the base has no such name."""
        return {} if name in self.sets or name[0] in (ANNOTATED, HOLE) else () if name in self.relations else None
