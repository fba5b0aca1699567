"""The fairness order of progress models, and the tests on the borders between them.

Source: Sorensen et al. 2021, section 5.6.

*Fairness.* A guarantee is at most as fair as another where it never promises more: whoever is running and whoever of
them has taken a step, its promise is part of the other's. Situations where none of the running threads has taken a
step do not count, for no infinite run ends in one. So unfair < HSA, OBE < HSA+OBE < LOBE < fair comes out of the
definitions, and a user's guarantee finds its own place. A model is strictly less fair than another where its guarantee
is at most as fair and it reads it at most as strongly, but not the other way round. A guarantee that promises nothing
is one in both readings.

*Conformance* tests of a model terminate under it; a device that hangs on one does not implement the model.
*Distinguishing* tests of a model terminate under it and may hang under every strictly less fair model there is.
Every model that is asked about counts, HSA+OBE too, so the conformance tests of a model are its distinguishing tests
and those of the models below it, in one union, provided that verdicts are monotone along the order.

*Weak and strong tests.* A weak test terminates under weak fairness (fair-weak), a strong test under strong fairness
only. The paper's Table 4 and Fig. 10 set weak tests against weak models and strong tests against strong ones, and each
test counts once: its published sums (LOBE 122 = 90 + 12 + 20; 323 + 160 = 483 tests) hold only if a test that passes
under both HSA and OBE is HSA's, since such tests exist. ``border`` is that reading: the first of HSA, OBE, LOBE, fair
under which a test terminates. It leaves HSA+OBE out, as the paper does.

Assumption: the promises of a guarantee are compared on four threads; a guarantee that only shows its nature with more
threads is placed too low or too high.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from corpus.hierarchy import parted
from oracle.progress.models import MODELS, Guarantee, ProgressModel, Verdict
from oracle.promises import promised_sets

_THREADS = 4

TABLE_4 = ("hsa", "obe", "lobe", "fair")
"""The guarantees of the paper's Table 4 and Fig. 10, in their order there."""

Verdicts = Mapping[str, str]
"""The verdicts of one test, by the name of the model."""


def at_most_as_fair(lesser: Guarantee, greater: Guarantee) -> bool:
    """Whether ``lesser`` never promises execution to a thread to which ``greater`` does not."""
    return all(not lesser(*situation) & ~greater(*situation) for situation in _situations())


def _situations() -> list[tuple[int, int]]:
    masks = range(1 << _THREADS)
    return [(running, stepped) for running in masks for stepped in masks if running & stepped]


def _never_fairer(lesser: ProgressModel, greater: ProgressModel) -> bool:
    """Whether each set of threads of which ``lesser`` promises execution to some thread has a part of which ``greater``
    does, wherever in groups of one another's levels the threads are."""
    if not lesser.levels and not greater.levels:
        return at_most_as_fair(lesser.guarantee, greater.guarantee)
    depths = sorted({promise.level.value for model in (lesser, greater) for promise in model.levels} | {4})
    for gaps in product([*depths, 5], repeat=_THREADS - 1):
        places = parted(gaps)
        one, other = (model.among(places).promise for model in (lesser, greater))
        for situation in _situations():
            more = promised_sets(other, *situation)
            if not all(any(part & ~threads == 0 for part in more) for threads in promised_sets(one, *situation)):
                return False
    return True


def strictly_less_fair(models: Iterable[ProgressModel]) -> dict[str, tuple[str, ...]]:
    """For each model the names of those among ``models`` that are strictly less fair, in the order given."""
    models = list(models)
    promises = {(id(model.guarantee), model.levels): model for model in models}
    below = {(a, b): _never_fairer(f, g) for a, f in promises.items() for b, g in promises.items()}
    silent = {key for key, model in promises.items() if _never_fairer(model, MODELS["unfair-weak"])}

    def at_most(lesser: ProgressModel, greater: ProgressModel) -> bool:
        a, b = ((id(model.guarantee), model.levels) for model in (lesser, greater))
        return below[a, b] and (lesser.strong <= greater.strong or a in silent)

    return {
        model.name: tuple(other.name for other in models if at_most(other, model) and not at_most(model, other))
        for model in models
    }


def fairest(models: Iterable[ProgressModel]) -> tuple[str, ...]:
    """The names of those models that have no strictly fairer one among them, in the order given."""
    below = strictly_less_fair(models)
    lesser = {name for less_fair in below.values() for name in less_fair}
    return tuple(name for name in below if name not in lesser)


def conforms(verdicts: Verdicts, model: str) -> bool:
    """Whether a test is a conformance test of the model."""
    return verdicts.get(model) == Verdict.TERMINATES


def distinguishes(verdicts: Verdicts, model: str, less_fair: Sequence[str]) -> bool:
    """Whether a test is a distinguishing test of the model, given the names of the strictly less fair ones."""
    return conforms(verdicts, model) and all(verdicts.get(lesser) == Verdict.MAY_HANG for lesser in less_fair)


def kind(verdicts: Verdicts) -> str | None:
    """The kind of a test, ``weak`` or ``strong``; ``None`` where it need not end under strong fairness, or fair was
    not asked."""
    if conforms(verdicts, "fair-weak"):
        return "weak"
    return "strong" if conforms(verdicts, "fair-strong") else None


def border(verdicts: Verdicts) -> tuple[str, str] | None:
    """The cell of Table 4 that a test counts in: its kind and the guarantee that it is distinguishing for."""
    reading = kind(verdicts)
    if reading is None:
        return None
    first = next(guarantee for guarantee in TABLE_4 if conforms(verdicts, f"{guarantee}-{reading}"))
    return reading, first


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """The counts of a suite's tests, by what the models say of them.

    ``conformance`` and ``distinguishing`` are by model name, ``table_4`` by kind and guarantee. Models whose guarantee
    is not known have no entry in ``distinguishing``.
    """

    tests: int
    conformance: dict[str, int]
    distinguishing: dict[str, int]
    table_4: dict[tuple[str, str], int]

    def table_4_conformance(self, reading: str, guarantee: str) -> int:
        """The paper's C column: the D column summed over the guarantee and those below it."""
        below = TABLE_4[: TABLE_4.index(guarantee) + 1] if guarantee in ("lobe", "fair") else (guarantee,)
        return sum(self.table_4.get((reading, lesser), 0) for lesser in below)


def census(suite: Iterable[Verdicts], models: Sequence[str], known: Mapping[str, ProgressModel]) -> VerdictCounts:
    """The counts of a suite of tests under ``models``; ``known`` gives those whose guarantee is known."""
    vectors = Counter(tuple(verdicts.get(model, "") for model in models) for verdicts in suite)
    less_fair = strictly_less_fair(known[model] for model in models if model in known)
    counts = [(dict(zip(models, vector, strict=True)), count) for vector, count in sorted(vectors.items())]
    table: Counter[tuple[str, str]] = Counter()
    for verdicts, count in counts:
        cell = border(verdicts)
        if cell:
            table[cell] += count
    return VerdictCounts(
        sum(vectors.values()),
        {model: sum(n for verdicts, n in counts if conforms(verdicts, model)) for model in models},
        {
            model: sum(n for verdicts, n in counts if distinguishes(verdicts, model, lesser))
            for model, lesser in less_fair.items()
        },
        dict(table),
    )
