"""Classes of models that no test tells apart, the weakest and strongest of them, and the test that tells most.

Worked example: four models, two switches, and a test for each switch, which the models with the switch forbid. Each
model is a class. The weakest model allows both tests, and the strongest forbids both.

>>> from oracle.inference.model_sets import ModelSpace
>>> space = ModelSpace(["ww", "rr"])
>>> tests = [SketchTest("MP+rr", 4, ~space.variable("ww")), SketchTest("MP+ww", 4, ~space.variable("rr"))]
>>> [each.verdicts for each in model_classes(space.every, tests)]
[(True, True), (True, False), (False, True), (False, False)]
>>> [each.verdicts for each in weakest(space.every, tests)], [each.verdicts for each in strongest(space.every, tests)]
([(True, True)], [(False, False)])
>>> next_test(space.every, tests).name
'MP+rr'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from oracle.inference.model_sets import ModelSet

Verdicts = tuple[bool, ...]
"""For each test of a list, whether its outcome is allowed."""


@dataclass(frozen=True, slots=True)
class SketchTest:
    """A test with the set of a sketch's models that allow its outcome. ``size``: the number of its events."""

    name: str
    size: int
    allowing: ModelSet


@dataclass(frozen=True, slots=True)
class ModelClass:
    """Models that give equal verdicts on some tests, and those verdicts."""

    verdicts: Verdicts
    models: ModelSet


def separating(fit: ModelSet, tests: Iterable[SketchTest]) -> list[SketchTest]:
    """The tests that some of the models allow and others forbid; of tests that agree on all models, the smallest."""
    kept: dict[int, SketchTest] = {}
    for test in tests:
        allowing = fit & test.allowing
        if allowing and allowing is not fit:
            known = kept.get(allowing.number)
            if known is None or test.size < known.size:
                kept[allowing.number] = test
    return list(kept.values())


def next_test(fit: ModelSet, tests: Iterable[SketchTest]) -> SketchTest | None:
    """The test to run next: the smallest that separates the models, and of these the one that splits them most evenly.

    None where no test separates them.
    """
    every = fit.size
    found = separating(fit, tests)
    return min(
        found, key=lambda test: (test.size, abs(2 * (fit & test.allowing).size - every), test.name), default=None
    )


def model_classes(fit: ModelSet, tests: Sequence[SketchTest], most: int | None = None) -> list[ModelClass]:
    """The classes of some models by their verdicts on tests, the first test's first; at most ``most``, and one more."""
    found = [ModelClass((), fit)] if fit else []
    for number, test in enumerate(tests):
        if most is not None and len(found) > most:
            found = found[: most + 1]
        found = [
            ModelClass((*known.verdicts, allowed), models)
            for known in found
            for allowed, models in ((True, known.models & test.allowing), (False, known.models - test.allowing))
            if models and len(known.verdicts) == number
        ]
    return found


def weakest(fit: ModelSet, tests: Sequence[SketchTest], most: int | None = None) -> list[ModelClass]:
    """The classes that allow what no other class allows more of; at most ``most``, and one more."""
    return _extreme(fit, tests, True, most)


def strongest(fit: ModelSet, tests: Sequence[SketchTest], most: int | None = None) -> list[ModelClass]:
    """The classes that forbid what no other class forbids more of; at most ``most``, and one more."""
    return _extreme(fit, tests, False, most)


def _extreme(fit: ModelSet, tests: Sequence[SketchTest], wanted: bool, most: int | None) -> list[ModelClass]:
    """The classes with the most verdicts ``wanted``: one grows until none has more, then all below it are done."""
    found: list[ModelClass] = []
    sets = [test.allowing if wanted else ~test.allowing for test in tests]
    left = fit
    while left and (most is None or len(found) <= most):
        here, having = left, [False] * len(tests)
        # What is left may lie below a class that was found, but nothing that has more of it does.
        for number, models in enumerate(sets):
            if here & models:
                here, having[number] = here & models, True
        here = fit
        for has, models in zip(having, sets, strict=True):
            here = here & models if has else here - models
        found.append(ModelClass(tuple(has is wanted for has in having), here))
        more = left - left
        for has, models in zip(having, sets, strict=True):
            more = more if has else more | models
        left = left & more
    return found
