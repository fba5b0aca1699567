"""Liveness models: a progress model and a consistency model in one, named such as ``fair & rc11``.

A program may hang under the two where some execution that never ends is allowed by the consistency model and keeps the
promise of the progress model (``oracle.executions.stuck``). Under ``sc`` the verdict is that of the progress model
alone (``oracle.progress.models``), and a test holds the two together.

A bare ``fair`` is read weakly here, and ``fair & rc11`` is one model. Strong fairness, ``fair-strong & rc11``, gives an
equal verdict wherever threads only wait. It is about states of memory that come again and again, and executions have no
states. So where all hangs that are found are livelocks, which it may forbid, the program has to be *robust*: all its
executions, ended or not, are sequentially consistent, as ``only_as`` finds as far as loops are followed. Then so are
those that never end, for a cycle in one is a cycle in a beginning of it. Memory then has states, and the program alone
decides whether it may hang (``oracle.progress.models``). Where it is not robust the verdict is UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from corpus.errors import InputError, did_you_mean
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.stuck import Hanging, find_hang, only_as, unasked
from oracle.exploration import NoVerdictError
from oracle.lassos import MOST_STATES, hang_of_lasso
from oracle.progress.explain import explain_system
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import GUARANTEES, MODELS, STEPPINGS, ProgressModel, Verdict
from oracle.progress.plugins import AND, is_progress_model, resolve_models

LIVELOCK = (
    "every hang that was found is a livelock; strong fairness is about states of memory, "
    "which a program has only where all its executions are sequentially consistent, and this one has others"
)
"""The reason why strong fairness leaves a verdict open."""


@dataclass(frozen=True, slots=True)
class LivenessModel:
    """A liveness model: a progress model and a consistency model that hold together."""

    name: str
    progress: ProgressModel
    consistency: Model

    def progress_of(self, test: LitmusTest) -> ProgressModel:
        """The progress model as the threads of a test see it from their places in the scope tree."""
        return self.progress.among([thread.place for thread in test.threads])

    @property
    def digest(self) -> str:
        """The digests of both models in one, where both models are texts."""
        return AND.join(digest for digest in (self.progress.digest, self.consistency.digest) if digest)


@dataclass(frozen=True)
class Liveness:
    """The answer of a liveness model on a test. ``hanging``: a hang, if there is one, and how far one was looked for.

    Loops were followed for ``unroll`` jumps back. ``kept``: the hang keeps a strong promise, steady or not.
    """

    test: LitmusTest
    model: LivenessModel
    hanging: Hanging
    unroll: int
    kept: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict: MAY_HANG, TERMINATES, or UNKNOWN where strong fairness leaves it open."""
        hang = self.hanging.hang
        if hang is None:
            return Verdict.TERMINATES
        strong = self.model.progress.strong
        return Verdict.MAY_HANG if hang.steady or self.kept or not strong else Verdict.UNKNOWN

    @property
    def reason(self) -> str:
        """The reason why the verdict is UNKNOWN; empty where it is not."""
        return LIVELOCK if self.verdict is Verdict.UNKNOWN else ""


def judge_liveness(test: LitmusTest, model: LivenessModel, unroll: int = UNROLL) -> Liveness:
    """The answer of a liveness model on a test, by listing executions. Raises ``TooManyError`` where there are too
    many."""
    progress = model.progress_of(test)
    hanging = find_hang(test, progress.promise, model.consistency, unroll, progress.strong)
    found = Liveness(test, model, hanging, unroll)
    return settled(found, lambda sc: only_as(test, model.consistency, sc, unroll))


def settled(found: Liveness, only_as: Callable[[Model], bool]) -> Liveness:
    """The answer found; where strong fairness left it open, the verdict of the program's transition system, if the
    program is robust.

    ``only_as``: whether all executions of the program are executions of a model.
    """
    if found.verdict is not Verdict.UNKNOWN:
        return found
    sc = _sc()
    surely = found.model.consistency.digest == sc.digest
    if not surely and not only_as(sc):
        return found
    progress = found.model.progress_of(found.test)
    try:
        lasso = explain_system(explore_litmus(unasked(found.test), MOST_STATES), progress).lasso
    except NoVerdictError:
        return found
    if lasso is None:
        bounded = found.hanging.bounded and not surely
        return replace(found, hanging=replace(found.hanging, hang=None, provisional=bounded))
    hang = hang_of_lasso(found.test, progress, found.model.consistency)
    return found if hang is None else replace(found, hanging=replace(found.hanging, hang=hang), kept=True)


@cache
def _sc() -> Model:
    (model,) = resolve_consistency_models(["sc"])
    assert isinstance(model, AxiomaticModel)
    return model.model


def is_liveness_model(name: str) -> bool:
    """Whether a name, among those of models of all kinds, is meant for ``resolve_liveness_models``."""
    return AND in name and not Path(name).is_file() and not is_progress_model(name)


def resolve_liveness_models(names: Sequence[str], bell: str | None = None) -> list[LivenessModel]:
    """The models that ``names`` mean, in their order, each once.

    ``bell``: a bell file that comes before each of a user's consistency models. Raises ``InputError`` where one is not
    two names with ``&`` between, where the first is no progress model, or the second no consistency model or one
    without executions, and where a model's file cannot be loaded.
    """
    pairs = list(dict.fromkeys(_two(name) for name in names))
    second = list(dict.fromkeys(consistency for _, consistency in pairs))
    consistency = dict(zip(second, resolve_consistency_models(second, bell=bell), strict=True)) if second else {}
    found: dict[str, LivenessModel] = {}
    for progress, name in pairs:
        fair, model = resolve_models([progress])[0], consistency[name]
        if not isinstance(model, AxiomaticModel):
            raise InputError(f"{progress} {AND} {name}: {name} has no axioms that executions without an end could pass")
        called = f"{fair.name.removesuffix('-weak')} {AND} {model.name}"
        found.setdefault(called, LivenessModel(called, fair, model.model))
    return list(found.values())


def _two(name: str) -> tuple[str, str]:
    if {part.strip() for part in name.split(AND)} & set(STEPPINGS):
        raise InputError(
            f"{name!r}: a stepping of lanes is asked with a progress model alone, as 'fair {AND} lockstep'"
        )
    progress, _, consistency = (part.strip() for part in name.rpartition(AND))
    if not all(part.strip() for part in name.split(AND)) or (AND in progress and "@" not in progress):
        raise InputError(f"expected a progress model {AND} a consistency model, as 'fair {AND} rc11', found {name!r}")
    hint = did_you_mean(consistency, STEPPINGS, cutoff=0.75)
    if hint:
        raise InputError(f"no stepping of lanes {consistency!r} in {name!r}; {hint}")
    if not is_progress_model(progress):
        known = f"known: {', '.join(GUARANTEES)}, with -weak or -strong"
        hint = did_you_mean(progress, (*GUARANTEES, *MODELS), known)
        raise InputError(f"no progress model before the {AND} of {name!r}; {hint}")
    return progress, consistency
