"""What was seen on devices, set against what models say, of tests of either family.

A test asks about one outcome: that it hangs, or that its threads end with certain values. A model forbids that or
allows it. Where it was seen and a model forbids it, the device does not give what the model promises. That it was not
seen shows nothing, so a device can contradict a model, and never be proved to conform.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Status(StrEnum):
    """How a device and a model stand to each other, by what was seen.

    ``WEAKER``: the model allows outcomes of tests that were run, and none of them was seen; a stronger model would do.
    """

    CONTRADICTED = "contradicted"
    CONSISTENT = "consistent"
    WEAKER = "weaker than needed"
    SILENT = "no verdicts"


@dataclass(frozen=True, slots=True)
class Standing(Generic[Key]):
    """A model against the tests that were run.

    It forbids the outcome of ``forbidden`` tests, of which those of ``contradicting`` were seen; it allows that of
    ``allowed`` tests, ``observed`` of which were seen; of ``unknown`` ones it has no verdict.
    """

    model: str
    forbidden: int
    contradicting: tuple[Key, ...]
    allowed: int
    observed: int
    unknown: int

    @property
    def status(self) -> Status:
        """In a word."""
        if self.contradicting:
            return Status.CONTRADICTED
        if not self.forbidden and not self.allowed:
            return Status.SILENT
        return Status.WEAKER if self.allowed and not self.observed else Status.CONSISTENT


def standing(
    model: str, seen: Mapping[Key, bool], verdicts: Mapping[Key, Mapping[str, str]], forbids: str, allows: str
) -> Standing[Key]:
    """How a model stands; ``seen`` says of each test that was run whether its outcome was seen.

    ``verdicts`` has the verdicts of these tests by model; ``forbids`` and ``allows`` are the family's words for them.
    """
    said = {test: verdicts[test].get(model) for test in seen}
    forbidden = [test for test, word in said.items() if word == forbids]
    allowed = [test for test, word in said.items() if word == allows]
    return Standing(
        model,
        len(forbidden),
        tuple(test for test in forbidden if seen[test]),
        len(allowed),
        sum(seen[test] for test in allowed),
        len(seen) - len(forbidden) - len(allowed),
    )
