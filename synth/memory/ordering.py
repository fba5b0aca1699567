"""The ordering of models by strength, by the smallest test that tells each two apart.

A model is *stronger* than another where a test is found that only the other allows, and none that only it allows. Two
models are *incomparable* where there is a test of either sort. Where no test is found, the answer is only how far was
searched: no difference up to so many events, over a vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, permutations
from typing import Any

Group = tuple[str, ...]
"""The names of models between which no difference was found."""


@dataclass(frozen=True, slots=True)
class ModelSearch:
    """The result of the search for a test that one model allows and another forbids.

    ``test`` is the name of a smallest one and ``events`` its size; where there is none, it is None and ``events`` says
    up to which size there is none.
    """

    test: str | None
    events: int


class ModelRelation(StrEnum):
    """The relation of one model to another: stronger, weaker, incomparable, or without a difference that was found."""

    STRONGER = "stronger than"
    WEAKER = "weaker than"
    INCOMPARABLE = "incomparable with"
    ALIKE = "no difference from"


@dataclass(frozen=True)
class Ordering:
    """The ordering of at least one model, by the search for each ordered pair: allowed by the first, forbidden by the
    second.

    ``vocabulary``: what the tests were made of, in words.
    """

    models: tuple[str, ...]
    searches: Mapping[tuple[str, str], ModelSearch]
    vocabulary: str

    def standing(self, one: str, other: str) -> ModelRelation:
        """Return the relation of one model to another by the two searches for tests."""
        match self._tells(one, other), self._tells(other, one):
            case False, True:
                return ModelRelation.STRONGER
            case True, False:
                return ModelRelation.WEAKER
            case True, True:
                return ModelRelation.INCOMPARABLE
        return ModelRelation.ALIKE

    def bound(self) -> int:
        """Return up to how many events every search went that found no test.

        Where all searches found tests, return the size of the largest test.
        """
        empty = [search.events for search in self.searches.values() if search.test is None]
        return min(empty) if empty else max((search.events for search in self.searches.values()), default=0)

    def groups(self) -> list[Group]:
        """Return the models in groups between which there is no difference, in the order of the models."""
        found: dict[Group, None] = {}
        for model in self.models:
            found[tuple(m for m in self.models if self._within(m, model) and self._within(model, m))] = None
        return list(found)

    def covers(self) -> list[tuple[Group, Group]]:
        """Return each group with each next weaker one, that is, one with no third group between the two."""
        groups = self.groups()
        within = {(one, other) for one, other in permutations(groups, 2) if self._within(one[0], other[0])}
        return [
            (one, other)
            for one, other in permutations(groups, 2)
            if (one, other) in within
            and not any((one, middle) in within and (middle, other) in within for middle in groups)
        ]

    def separating(self, stronger: Group, weaker: Group) -> ModelSearch:
        """Return the smallest test that a model of the weaker group allows and a model of the stronger one forbids.

        Among tests of one size, it is the first by the order of models. The search has no test where searches of
        different bounds found none for any pair.
        """
        searches = [self.searches[one, other] for one in weaker for other in stronger]
        found = [search for search in searches if search.test is not None]
        return min(found or searches, key=lambda search: search.events)

    def _tells(self, allows: str, forbids: str) -> bool:
        return allows != forbids and self.searches[allows, forbids].test is not None

    def _within(self, one: str, other: str) -> bool:
        """Return whether one model is at least as strong as the other, which this definition makes transitive.

        It is so where every model that no test shows to be weaker than the one is also not shown to be weaker than the
        other. Where all searches went equally far, that means that no test shows the one to be weaker than the other,
        which is transitive then. Where they did not, the absence of a test need not be transitive.
        """
        return all(self._tells(model, one) or not self._tells(model, other) for model in self.models)


def search_text(search: ModelSearch) -> str:
    """Return a test with its size, or the size without one: ``SB (4 events)``, ``none up to 6 events``."""
    return f"none up to {search.events} events" if search.test is None else f"{search.test} ({search.events} events)"


def difference_text(ordering: Ordering, one: str, other: str) -> str:
    """Return the relation of two models in one line, with the bound and the vocabulary where nothing was found.

    ``no difference up to 6 events over ptx``; ``sc is stronger than tso: it forbids SB (4 events)``.
    """
    standing = ordering.standing(one, other)
    here, there = ordering.searches[one, other], ordering.searches[other, one]
    if standing is ModelRelation.ALIKE:
        return f"no difference up to {min(here.events, there.events)} events over {ordering.vocabulary}"
    standing_text = f"{one} is {standing} {other}"
    if standing is ModelRelation.INCOMPARABLE:
        return f"{standing_text}: {one} alone allows {search_text(here)}, {other} alone {search_text(there)}"
    test, none = (there, here) if standing is ModelRelation.STRONGER else (here, there)
    verb = "forbids" if standing is ModelRelation.STRONGER else "allows"
    return (
        f"{standing_text}: it {verb} {search_text(test)}; the other way {search_text(none)} over {ordering.vocabulary}"
    )


def ordering_record(ordering: Ordering) -> dict[str, Any]:
    """Return an ordering, with every search and its bound, as plain data."""
    return {
        "models": list(ordering.models),
        "vocabulary": ordering.vocabulary,
        "searches": [
            {"allowed_by": one, "forbidden_by": other, "test": search.test, "events": search.events}
            for one, other in permutations(ordering.models, 2)
            for search in [ordering.searches[one, other]]
        ],
        "pairs": [
            {"models": [one, other], "standing": ordering.standing(one, other).name.lower()}
            for one, other in combinations(ordering.models, 2)
        ],
        "groups": [list(group) for group in ordering.groups()],
        "order": [
            {"stronger": list(one), "weaker": list(other), "test": ordering.separating(one, other).test}
            for one, other in ordering.covers()
        ],
    }
