"""A check whether a model sees initial writes, other than by what ``fr`` says of them.

The model is evaluated over three events: one that stands for all events of threads, and two for all initial writes.
Facts that are not known of these have a third truth value. Initial writes make no difference among the other events
where no relation leads to one and on from it, no check can fail by one, and no event is in a domain because of a pair
that leads to one. ``fr`` is then given, and not composed of ``rf^-1`` and ``co``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from corpus.litmus.locations import Region
from oracle.cat.algebra import Algebra, Relation, Set
from oracle.cat.interpreter import Model
from oracle.executions.events import MEMORIES, SETS, VOCABULARY, initial_tags

EVENT, *INITIALS = range(3)


@dataclass(frozen=True, slots=True)
class Possible:
    """Kleene's three truth values, as two bits: whether a fact may be true, and whether it may be false."""

    true: bool
    false: bool

    def __and__(self, other: Possible) -> Possible:
        return Possible(self.true and other.true, self.false or other.false)

    def __or__(self, other: Possible) -> Possible:
        return Possible(self.true or other.true, self.false and other.false)

    def __invert__(self) -> Possible:
        return Possible(self.false, self.true)

    def __bool__(self) -> bool:
        return self.true


YES, MAYBE = Possible(True, False), Possible(True, True)


class _SeenError(Exception):
    """Ends the evaluation where an initial write may make a difference."""


@dataclass(frozen=True, slots=True)
class _Watching(Algebra[Possible]):
    """The algebra of the three events, which ends where an initial write may make a difference."""

    def identity(self, events: Set[Possible]) -> Relation[Possible]:
        same = Algebra.identity(self, events)
        return tuple(  # the one event stands for many different ones
            {other: truth & MAYBE if one == EVENT else truth for other, truth in row.items()}
            for one, row in enumerate(same)
        )

    def compose(self, left: Relation[Possible], right: Relation[Possible]) -> Relation[Possible]:
        _watch(_leads_through(left, right))
        return Algebra.compose(self, left, right)

    def compose_within(
        self, left: Relation[Possible], right: Relation[Possible], bound: Relation[Possible]
    ) -> Relation[Possible]:
        return self.compose(left, right)

    def closure(self, relation: Relation[Possible]) -> Relation[Possible]:
        _watch(_leads_through(relation, relation))
        return Algebra.closure(self, relation)

    def domain(self, relation: Relation[Possible]) -> Set[Possible]:
        _watch(any(initial in relation[EVENT] for initial in INITIALS))
        return Algebra.domain(self, relation)

    def is_empty(self, value: Relation[Possible] | Set[Possible]) -> Possible:
        rows = value if isinstance(value, tuple) else (value,)
        _watch(any(initial in row for initial in INITIALS for row in rows) or any(rows[1:]))
        return Algebra.is_empty(self, value)

    def is_acyclic(self, relation: Relation[Possible], positive: bool = False) -> Possible:
        closed = Algebra.closure(self, relation)
        _watch(any(initial in closed[initial] for initial in INITIALS))
        return Algebra.is_acyclic(self, relation, positive)


def _leads_through(left: Relation[Possible], right: Relation[Possible]) -> bool:
    return any(initial in left[EVENT] and EVENT in right[initial] for initial in INITIALS)


def _watch(seen: bool) -> None:
    if seen:
        raise _SeenError


class _ThreeEvents:
    """The base of three events by which a model is asked about initial writes."""

    algebra: Algebra[Possible] = _Watching(YES, lambda truth: ~truth, (YES, YES, YES))

    def value(self, name: str) -> Set[Possible] | Relation[Possible] | None:
        """The events or pairs that may be in the set or relation of a name."""
        if name in SETS:
            return self._set(name)
        if name != "fr" and name not in VOCABULARY.relations:
            return None
        rows: list[dict[int, Possible]] = [{EVENT: MAYBE}, {}, {}]
        for initial in INITIALS:
            if name in ("rf", "co", "loc", "vloc", "ext"):
                rows[initial][EVENT] = MAYBE
            if name in ("loc", "vloc"):
                rows[EVENT][initial], rows[initial][initial] = MAYBE, YES
            if name == "ext":
                rows[initial] = {other: YES for other in (EVENT, *INITIALS) if other != initial}
                rows[EVENT][initial] = YES
        return tuple(rows)

    @staticmethod
    def _set(name: str) -> Set[Possible]:
        if name in MEMORIES:
            return dict.fromkeys((EVENT, *INITIALS), MAYBE)
        found: dict[int, Possible] = {} if name == "IW" else {EVENT: MAYBE}
        return found | (dict.fromkeys(INITIALS, YES) if name in initial_tags(Region.GLOBAL) else {})


@lru_cache(maxsize=256)
def sees_initial_writes(model: Model) -> bool:
    """Whether initial writes may make a difference to a model, other than by its use of ``fr``."""
    try:
        model.judge(_ThreeEvents())
    except _SeenError:
        return True
    return False
