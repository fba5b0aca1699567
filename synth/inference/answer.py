"""The answer of an inference, whatever the family of tests: which models fit some facts, and what tells them apart.

Where models fit, the answer has the weakest and the strongest of them, all their classes where these are few, and the
test to run next. Where none fits, it has the smallest set of facts that contradict each other, and the models that
violate the fewest facts. A *bound* says over which programs models of one class are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Protocol

from constraints.inference import Claim, ExtremeClaim, proved
from oracle.inference.classes import (
    ModelClass,
    SketchTest,
    model_classes,
    next_test,
    separating,
    strongest,
    weakest,
)
from oracle.inference.fitting import Fact, FewestViolations, fewest_violations, fitting, smallest_core
from oracle.inference.model_sets import ModelSet
from synth.memory.ordering import ModelSearch, Ordering

MOST_CLASSES = 200
"""The limit of classes that are listed."""


class Hypotheses(Protocol):
    """The models of which some may fit: those of a sketch, or of a family of promises."""

    @property
    def name(self) -> str:
        """Return the name of the sketch or family."""

    @property
    def valid(self) -> ModelSet:
        """Return the set of all models."""

    def described(self, models: ModelSet) -> list[str]:
        """Return in words what the models of a class are, a line for each hole, or the names of the models."""

    @property
    def allows(self) -> str:
        """Return what models do with a test whose outcome they allow, as a verb."""


@dataclass(frozen=True)
class Contradiction:
    """No model fits: ``core`` is the smallest set of facts that none fits, ``fewest`` the models that violate least.

    ``changes`` are changes of the sketch in words, after which a model fits all facts; empty where none was found.
    """

    core: tuple[Fact, ...]
    fewest: FewestViolations
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class InferenceAnswer:
    """The answer of an inference. ``tests`` separate the models that fit, each in its own way.

    ``bound`` says in words over which programs the answer holds, and ``complete`` that no program of the bound tells
    more apart than ``tests`` do. ``claims`` are what was proved of the answer, with the proofs. ``size``
    is that of the largest programs of the bound, and ``words`` what they are made of. ``evidence`` are facts
    that were not taken as such: outcomes that were never seen.
    """

    hypotheses: Hypotheses
    facts: tuple[Fact, ...]
    tests: tuple[SketchTest, ...]
    fit: ModelSet
    bound: str
    complete: bool
    evidence: tuple[Fact, ...] = ()
    contradiction: Contradiction | None = None
    weakest: tuple[ModelClass, ...] = ()
    strongest: tuple[ModelClass, ...] = ()
    classes: tuple[ModelClass, ...] | None = None
    next: SketchTest | None = None
    claims: tuple[Claim, ...] = field(default=(), repr=False)
    size: int = 0
    words: str = ""

    @property
    def unique(self) -> bool:
        """Return whether all models that fit are of one class."""
        return bool(self.fit) and not self.tests


def answer(
    hypotheses: Hypotheses,
    facts: Sequence[Fact],
    tests: Sequence[SketchTest],
    bound: str,
    complete: bool,
    evidence: Sequence[Fact] = (),
    size: int = 0,
    words: str = "",
) -> InferenceAnswer:
    """Return the answer to some facts, given tests that may tell the fitting models apart."""
    valid = hypotheses.valid
    fit = fitting(valid, facts)
    if not fit:
        contradiction = Contradiction(smallest_core(valid, facts), fewest_violations(valid, facts))
        return InferenceAnswer(hypotheses, tuple(facts), (), fit, bound, complete, tuple(evidence), contradiction)
    apart = separating(fit, tests)
    classes = model_classes(fit, apart, MOST_CLASSES)
    weak, strong = weakest(fit, apart, MOST_CLASSES), strongest(fit, apart, MOST_CLASSES)
    few = len(classes) <= MOST_CLASSES
    claims: list[Claim] = []
    every = separating(valid, tests)
    if every and max(len(weak), len(strong)) <= MOST_CLASSES:
        extremes = [
            ExtremeClaim(name, [[bool(group.models & test.allowing) for test in every] for group in some], weak_end)
            for name, some, weak_end in (("weakest", weak, True), ("strongest", strong, False))
        ]
        claims = proved(extremes, valid, facts, every)
    return InferenceAnswer(
        hypotheses,
        tuple(facts),
        tuple(apart),
        fit,
        bound,
        complete,
        tuple(evidence),
        None,
        tuple(weak),
        tuple(strong),
        tuple(classes) if few else None,
        next_test(fit, apart),
        tuple(claims),
        size or max((test.size for test in tests), default=0),
        words or bound,
    )


def against(models: ModelSet, evidence: Iterable[Fact]) -> int:
    """Return how many outcomes that were never seen all models of a class allow."""
    return sum(not models & fact.fitting for fact in evidence)


def names_of_classes(found: InferenceAnswer) -> list[str]:
    """Return the names of the classes: ``model 1``, .., with ``weakest`` or ``strongest`` where they are alone."""
    names = []
    for number, group in enumerate(found.classes or ()):
        name = f"model {number + 1}"
        if len(found.classes or ()) > 1:
            name += " (weakest)" * (len(found.weakest) == 1 and group.verdicts == found.weakest[0].verdicts)
            name += " (strongest)" * (len(found.strongest) == 1 and group.verdicts == found.strongest[0].verdicts)
        names.append(name)
    return names


def ordering_of(found: InferenceAnswer) -> Ordering:
    """Return the order of the classes by strength, with the smallest test that tells each two apart each way."""
    classes, names = found.classes or (), names_of_classes(found)
    ranked = sorted(range(len(found.tests)), key=lambda number: (found.tests[number].size, found.tests[number].name))
    searches = {}
    for (one, first), (other, second) in permutations(enumerate(classes), 2):
        telling = (n for n in ranked if first.verdicts[n] and not second.verdicts[n])
        number = next(telling, None)
        test = found.tests[number] if number is not None else None
        searches[names[one], names[other]] = (
            ModelSearch(test.name, test.size) if test else ModelSearch(None, found.size)
        )
    return Ordering(tuple(names), searches, found.words)


# Text


def lines_of(found: InferenceAnswer) -> Iterator[str]:
    """Yield the lines that ``synth infer`` prints of an answer."""
    about = found.hypotheses
    many = f"{len(found.facts):,} fact{'s' * (len(found.facts) != 1)}"
    yield f"{about.name}: {about.valid.size:,} model{'s' * (about.valid.size != 1)}, {many}"
    if found.contradiction is not None:
        yield from _contradicting(found.contradiction)
        return
    bound = found.bound if found.complete else f"{found.bound}, and the search was stopped"
    if found.unique:
        yield f"{found.fit.size:,} fit, and are one model {bound}"
        yield ""
        yield from _indented(about.described(found.fit))
    else:
        classes = f"{len(found.classes)}" if found.classes is not None else f"more than {MOST_CLASSES}"
        yield f"{found.fit.size:,} fit, {classes} models {bound}"
        for heading, some in (("weakest", found.weakest), ("strongest", found.strongest)):
            yield from _some(heading, some, found)
    if found.claims:
        yield ""
        yield f"proved: {'; '.join(claim.text for claim in found.claims)}"
    if found.next is not None:
        yield ""
        half = found.fit & found.next.allowing
        share = f"{half.size:,} of {found.fit.size:,}"
        yield f"next test: {found.next.name} ({found.next.size} events), which {share} {about.allows}"


def _some(heading: str, some: Sequence[ModelClass], found: InferenceAnswer) -> Iterator[str]:
    more = f"more than {MOST_CLASSES} {heading} models" if len(some) > MOST_CLASSES else ""
    more = more or ("" if len(some) == 1 else f"{len(some)} {heading} models")
    if more:
        yield ""
        yield f"{more}, the first of which is"
    for group in some[:1]:
        yield ""
        weight = f" (allows {against(group.models, found.evidence)} outcomes never seen)" if found.evidence else ""
        yield f"{heading}{weight}:"
        yield from _indented(found.hypotheses.described(group.models))


def _contradicting(found: Contradiction) -> Iterator[str]:
    yield "no model fits"
    yield ""
    yield (
        f"{len(found.core)} facts contradict each other, and no fewer do:" if len(found.core) > 1 else "no model meets:"
    )
    yield from _indented([fact.text for fact in found.core])
    yield ""
    fewest = found.fewest
    many = f"{fewest.number} fact{'s' * (fewest.number != 1)}"
    yield f"the nearest {fewest.models.size:,} models violate {many}:"
    yield from _indented([fact.text for fact in fewest.violated])
    if fewest.disputed:
        yield f"  and {fewest.number - len(fewest.violated)} of {len(fewest.disputed)} others"
        yield from _indented([f"  {fact.text}" for fact in fewest.disputed[:20]])
    if found.changes:
        yield ""
        yield "the sketch would do with this change:" if len(found.changes) == 1 else "the sketch would do with these:"
        yield from _indented(found.changes)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def record_of(found: InferenceAnswer) -> dict[str, Any]:
    """Return an answer as plain data, as ``--json`` prints it."""
    about = found.hypotheses

    def fact(known: Fact) -> dict[str, Any]:
        return {"test": known.name, "allowed": known.allowed, "source": known.source, "evidence": known.evidence}

    def model(group: ModelClass) -> dict[str, Any]:
        return {
            "models": group.models.size,
            "holes": about.described(group.models),
            "allows": [test.name for test, allowed in zip(found.tests, group.verdicts, strict=True) if allowed],
            "forbids": [test.name for test, allowed in zip(found.tests, group.verdicts, strict=True) if not allowed],
        }

    record: dict[str, Any] = {
        "sketch": about.name,
        "models": about.valid.size,
        "facts": len(found.facts),
        "fit": found.fit.size,
        "bound": found.bound,
        "complete": found.complete,
        "unique": found.unique,
    }
    if found.contradiction is not None:
        fewest = found.contradiction.fewest
        return record | {
            "core": list(map(fact, found.contradiction.core)),
            "nearest": {
                "models": fewest.models.size,
                "violate": fewest.number,
                "violated": list(map(fact, fewest.violated)),
                "disputed": list(map(fact, fewest.disputed)),
            },
            "changes": list(found.contradiction.changes),
        }
    return record | {
        "weakest": list(map(model, found.weakest)),
        "strongest": list(map(model, found.strongest)),
        "classes": None if found.classes is None else list(map(model, found.classes)),
        "tests": [{"name": test.name, "events": test.size} for test in found.tests],
        "next": None if found.next is None else {"name": found.next.name, "events": found.next.size},
        "proved": [claim.text for claim in found.claims],
    }
