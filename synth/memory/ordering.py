"""How models stand to each other, by the smallest test that tells each two of them apart.

A model is *stronger* than another where a test is found that the other alone allows, and none that it alone allows; two
are *incomparable* where there is a test of either sort. Where no test is found nothing more is said than how far was
searched: no difference up to so many events, over a vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, permutations
from typing import Any

from rich.table import Table
from rich.text import Text

from synth.screen import plain_table

Group = tuple[str, ...]
"""Models between which no difference was found."""


@dataclass(frozen=True, slots=True)
class ModelSearch:
    """What came of the search for a test that one model allows and another forbids.

    ``test`` is the name of a smallest one and ``events`` its size; where there is none, it is None and ``events`` says
    up to which size there is none.
    """

    test: str | None
    events: int


class ModelRelation(StrEnum):
    """How one model stands to another."""

    STRONGER = "stronger than"
    WEAKER = "weaker than"
    INCOMPARABLE = "incomparable with"
    ALIKE = "no difference from"


@dataclass(frozen=True)
class Ordering:
    """Models, at least one, and the search for each ordered pair: allowed by the first, forbidden by the second.

    ``vocabulary``: what the tests were made of, in words.
    """

    models: tuple[str, ...]
    searches: Mapping[tuple[str, str], ModelSearch]
    vocabulary: str

    def standing(self, one: str, other: str) -> ModelRelation:
        """How one model stands to another."""
        match self._tells(one, other), self._tells(other, one):
            case False, True:
                return ModelRelation.STRONGER
            case True, False:
                return ModelRelation.WEAKER
            case True, True:
                return ModelRelation.INCOMPARABLE
        return ModelRelation.ALIKE

    def bound(self) -> int:
        """Up to how many events every search went that found nothing; the size of the largest test where all found."""
        empty = [search.events for search in self.searches.values() if search.test is None]
        return min(empty) if empty else max((search.events for search in self.searches.values()), default=0)

    def groups(self) -> list[Group]:
        """The models by groups between which there is no difference, in the order of the models."""
        found: dict[Group, None] = {}
        for model in self.models:
            found[tuple(m for m in self.models if self._within(m, model) and self._within(model, m))] = None
        return list(found)

    def covers(self) -> list[tuple[Group, Group]]:
        """Groups and the next weaker ones: those between which none stands."""
        groups = self.groups()
        within = {(one, other) for one, other in permutations(groups, 2) if self._within(one[0], other[0])}
        return [
            (one, other)
            for one, other in permutations(groups, 2)
            if (one, other) in within
            and not any((one, middle) in within and (middle, other) in within for middle in groups)
        ]

    def separating(self, stronger: Group, weaker: Group) -> ModelSearch:
        """The smallest test that a model of the weaker group allows and one of the stronger forbids.

        Of those of one size the first by the order of models; without a test where searches of different bounds say of
        no pair that there is one.
        """
        searches = [self.searches[one, other] for one in weaker for other in stronger]
        found = [search for search in searches if search.test is not None]
        return min(found or searches, key=lambda search: search.events)

    def _tells(self, allows: str, forbids: str) -> bool:
        return allows != forbids and self.searches[allows, forbids].test is not None

    def _within(self, one: str, other: str) -> bool:
        """Whether one model is at least as strong as the other: each that is as strong as the one is so to the other.

        Where all searches went equally far, that is to say that no test tells so, which is transitive then. Where they
        did not, it need not be, and this is all the same.
        """
        return all(self._tells(model, one) or not self._tells(model, other) for model in self.models)


def ordering_table(ordering: Ordering) -> Table:
    """How each two models stand to each other, and the smallest test that each of them alone allows."""
    table = plain_table("model", "", "model", "the first alone allows", "the second alone allows")
    for one, other in combinations(ordering.models, 2):
        searches = ordering.searches[one, other], ordering.searches[other, one]
        words = (one, ordering.standing(one, other), other, *map(search_text, searches))
        table.add_row(*map(Text, words))
    return table


def search_text(search: ModelSearch) -> str:
    """A test with its size, or up to which there is none: ``SB (4 events)``, ``none up to 6 events``."""
    return f"none up to {search.events} events" if search.test is None else f"{search.test} ({search.events} events)"


def difference_text(ordering: Ordering, one: str, other: str) -> str:
    """How two models stand to each other in one line, with the bound and the vocabulary where nothing was found.

    ``no difference up to 6 events over ptx``; ``sc is stronger than tso: it forbids SB (4 events)``.
    """
    standing = ordering.standing(one, other)
    here, there = ordering.searches[one, other], ordering.searches[other, one]
    if standing is ModelRelation.ALIKE:
        return f"no difference up to {min(here.events, there.events)} events over {ordering.vocabulary}"
    told = f"{one} is {standing} {other}"
    if standing is ModelRelation.INCOMPARABLE:
        return f"{told}: {one} alone allows {search_text(here)}, {other} alone {search_text(there)}"
    test, none = (there, here) if standing is ModelRelation.STRONGER else (here, there)
    verb = "forbids" if standing is ModelRelation.STRONGER else "allows"
    return f"{told}: it {verb} {search_text(test)}; the other way {search_text(none)} over {ordering.vocabulary}"


def ordering_record(ordering: Ordering) -> dict[str, Any]:
    """The ordering as plain data."""
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
