"""Atomic updates as one event: a base for models that have one event for an update, in place of a read and a write.

    P0: r0 = exchange(x, 1)          two events: R x=0 -rmw-> W x=1          one: RMW x=0>1

herd7 has one event for an update of C, in ``R``, in ``W`` and in ``RMW``, and a model for it need not mention ``rmw``:
``acyclic po-loc | rf | co | fr`` alone says that updates are atomic. Here the read stands for both events. What holds
of the write holds of it, the relations between the two are gone (``rmw`` is empty), and the order is that of the whole
update: an update that acquires and releases is in ``ACQ_REL``, where its read is in ``ACQ`` and its write in ``REL``. A
compare-and-swap that fails is a read.

Source: herdtools7, ``herd/CSem.ml`` (``read_exchange``, ``fetch_op``) and the sets of ``herd/CAction.ml``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic

from oracle.cat.algebra import Algebra, Relation, Set, T
from oracle.cat.base import Base

_STRICT = frozenset({"po", "addr", "data", "ctrl", "casdep", "fr"})
"""Relations that never relate an event to itself."""


@dataclass(frozen=True)
class OneEvent(Generic[T]):
    """The ``base`` with one event for each update: the event of its read, which also stands for its write."""

    base: Base[T]

    @cached_property
    def algebra(self) -> Algebra[T]:
        """The algebra of the base, in which the writes of updates do not happen."""
        inner = self.base.algebra
        kept = inner.set_difference(inner.everything(), self._writes)
        none = inner.negate(inner.true)
        return replace(inner, executed=tuple(kept.get(event, none) for event in range(inner.size)))

    def value(self, name: str) -> Set[T] | Relation[T] | None:
        """The set or relation of a name, None where the base has none."""
        value = self.base.value(name)
        if value is None:
            return None
        if isinstance(value, tuple):
            return self._relation(name, value)
        algebra = self.algebra
        if name == "RMW":  # a set that the read of a compare-and-swap that fails is in as well
            return algebra.domain(self._rmw)
        if name in ("ACQ", "REL", "RLX", "ACQ_REL"):
            return self._ordered(name)
        return self._of_either(value)

    @cached_property
    def _rmw(self) -> Relation[T]:
        value = self.base.value("rmw")
        assert isinstance(value, tuple)
        return value

    @cached_property
    def _writes(self) -> Set[T]:
        algebra = self.base.algebra
        return algebra.domain(algebra.inverse(self._rmw))

    @cached_property
    def _halves(self) -> Relation[T]:
        """The relation from each event to itself, and from an update to its write."""
        return self.algebra.reflexive(self._rmw)

    def _relation(self, name: str, value: Relation[T]) -> Relation[T]:
        algebra = self.algebra
        if name == "rmw":
            return algebra.empty()
        between = algebra.compose(algebra.compose(self._halves, value), algebra.inverse(self._halves))
        if name in _STRICT:
            between = algebra.difference(between, algebra.identity(algebra.everything()))
        return between

    def _of_either(self, events: Set[T]) -> Set[T]:
        algebra = self.algebra
        return algebra.domain(algebra.to_set(self._halves, events))

    def _ordered(self, name: str) -> Set[T]:
        """The events of an order: of an update, that of the whole."""
        algebra = self.algebra
        there, acquires, releases = (self._of_either(self._set(one)) for one in (name, "ACQ", "REL"))
        updates = algebra.domain(self._rmw)
        both = algebra.set_intersection(algebra.set_intersection(acquires, releases), updates)
        if name == "ACQ_REL":
            return algebra.set_union(there, both)
        if name == "RLX":
            both = algebra.set_intersection(algebra.set_union(acquires, releases), updates)
        return algebra.set_difference(there, both)

    def _set(self, name: str) -> Set[T]:
        value = self.base.value(name)
        assert not isinstance(value, tuple) and value is not None
        return value
