"""Facts about tests, and the models of a sketch that fit them.

Worked example: a sketch with the switches ``ww`` and ``rr``. Two facts forbid message passing, whose outcome only the
models with both switches forbid. A third fact allows it, so no model fits all three. The models that violate one fact
only are those that forbid message passing, and the fact that they violate is the third.

>>> from oracle.inference.model_sets import ModelSpace
>>> space = ModelSpace(["ww", "rr"])
>>> both = space.variable("ww") & space.variable("rr")
>>> facts = [Fact("MP", False, both), Fact("MP+po", False, both), Fact("MP'", True, ~both)]
>>> bool(fitting(space.every, facts))
False
>>> best = fewest_violations(space.every, facts)
>>> best.number, best.models is both, [fact.name for fact in best.violated]
(1, True, ["MP'"])

What contradicts are the third fact and one of the others, the first of which is named:

>>> [fact.name for fact in smallest_core(space.every, facts)]
['MP', "MP'"]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

from oracle.inference.model_sets import ModelSet

MOST_TRIED = 20_000
"""The limit of sets of facts that are tried for a smallest core; beyond it a core is minimal, perhaps not smallest."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about a test: its outcome is allowed, or it is forbidden. ``fitting``: the models that agree.

    ``source`` says where the fact is from, such as a line of a table, and ``evidence`` what it rests on. ``verdict`` is
    the verdict in words, where these are not the usual ones.
    """

    name: str
    allowed: bool
    fitting: ModelSet
    source: str = ""
    evidence: str = ""
    verdict: str = ""

    @property
    def text(self) -> str:
        """The fact in words: ``MP is forbidden``."""
        text = f"{self.name} {self.verdict or ('is allowed' if self.allowed else 'is forbidden')}"
        return text + (f" ({', '.join(filter(None, [self.evidence, self.source]))})" if self.source else "")


@dataclass(frozen=True, slots=True)
class FewestViolations:
    """The models that violate the fewest facts, how many these are, and the facts that all of these models violate.

    ``disputed`` are facts that some of these models violate, and others do not.
    """

    number: int
    models: ModelSet
    violated: tuple[Fact, ...]
    disputed: tuple[Fact, ...]


def fitting(models: ModelSet, facts: Sequence[Fact]) -> ModelSet:
    """The models, of those given, that fit all facts."""
    return reduce(lambda left, fact: left & fact.fitting, facts, models)


def deciding(models: ModelSet, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Some facts that leave the same models as all of them do, and none of which can be left out of these.

    Those that leave fewer models come first.
    """
    fit = fitting(models, facts)
    ranked = sorted(facts, key=lambda fact: (fact.fitting & models).size)
    kept: list[Fact] = []
    left = models
    for fact in ranked:
        if left is not fit and not left <= fact.fitting:
            kept.append(fact)
            left = left & fact.fitting
    for fact in reversed(kept.copy()):
        rest = [other for other in kept if other is not fact]
        if fitting(models, rest) is fit:
            kept = rest
    return tuple(kept)


def fewest_violations(models: ModelSet, facts: Sequence[Fact]) -> FewestViolations:
    """The models that violate as few facts as any; there is at least one model.

    Facts are taken one by one, with the sets of models that violate 0, 1, .. of those so far. The number of such sets
    is doubled until one of them is not empty at the end.
    """
    weights: dict[int, tuple[ModelSet, int]] = {}
    for fact in facts:
        known = weights.get(fact.fitting.number)
        weights[fact.fitting.number] = fact.fitting, (known[1] if known else 0) + 1
    none, most = models - models, 1
    while True:
        levels = [models, *[none] * most]
        for fit, weight in weights.values():
            levels = [
                (level & fit) | (levels[number - weight] - fit if number >= weight else none)
                for number, level in enumerate(levels)
            ]
        found = next((number for number, level in enumerate(levels) if level), None)
        if found is not None:
            best = levels[found]
            violated = tuple(fact for fact in facts if not best & fact.fitting)
            disputed = tuple(fact for fact in facts if best & fact.fitting and best - fact.fitting)
            return FewestViolations(found, best, violated, disputed)
        most *= 2


def smallest_core(models: ModelSet, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The smallest set of facts that no model fits, the first one in the order of the facts; empty where some model
    fits all.

    Sets are tried by size, over one fact for each set of models. Where there are too many, facts are left out one by
    one as long as the rest contradicts.
    """
    if fitting(models, facts):
        return ()
    first: dict[int, Fact] = {}
    for fact in facts:
        first.setdefault((fact.fitting & models).number, fact)
    kept = list(first.values())
    kept = [fact for fact in kept if not _implied(fact, kept, models)]
    tried = 0
    for size in range(1, len(kept) + 1):
        for some in combinations(kept, size):
            tried += 1
            if not fitting(models, some):
                return some
            if tried > MOST_TRIED:
                return _minimal(models, kept)
    raise AssertionError("a set of all facts contradicts")


def _implied(fact: Fact, others: Sequence[Fact], models: ModelSet) -> bool:
    """Whether another fact says more than this one, so that it can stand for this one in every core."""
    own = fact.fitting & models
    return any(other is not fact and other.fitting & models <= own for other in others)


def _minimal(models: ModelSet, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    kept = list(facts)
    for fact in facts:
        rest = [other for other in kept if other is not fact]
        if not fitting(models, rest):
            kept = rest
    return tuple(kept)
