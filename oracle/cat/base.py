"""What a model is read over: an algebra, and the sets and relations that are said in terms of no others.

The rest of the names are lines of ``prelude.cat``. So an execution that is known in another way than by listing it, or
whose program is not known at all, needs an algebra and this one function to be judged by every model.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from corpus.litmus.test import ANNOTATED
from oracle.cat.algebra import Algebra, Relation, Set, T, bits


class Base(Protocol[T]):
    """An execution, or many at once, as a .cat file sees it."""

    @property
    def algebra(self) -> Algebra[T]:
        """The operations; its events are those of the values."""
        ...

    def value(self, name: str) -> Set[T] | Relation[T] | None:
        """The set or relation of that name, None where the base has none.

        A base may answer for a name of the prelude, too: then the prelude's line is not read.
        """
        ...


@dataclass(frozen=True)
class BaseNames:
    """The names that bases answer for; and a base of no events, over which a model is checked when it is loaded.

    ``chosen``: the relations that an execution chooses; the others are known before anything runs.
    """

    sets: Collection[str]
    relations: Collection[str]
    chosen: Collection[str] = ()

    @property
    def algebra(self) -> Algebra[int]:
        """The algebra of no events."""
        return bits(1, 0)

    def value(self, name: str) -> Set[int] | Relation[int] | None:
        """The empty set or relation of that name, None where there is none."""
        return {} if name in self.sets or name[0] == ANNOTATED else () if name in self.relations else None
