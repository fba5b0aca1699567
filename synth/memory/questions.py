"""The questions of a command on a litmus test: consistency models, progress models, pairs. A pair has a model of each
kind.

A name with ``&`` means a pair (``oracle.liveness``). A progress model's name, or a Python file's, means a progress
model. Every other name means a consistency model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from corpus.errors import InputError, did_you_mean
from oracle.consistency import ConsistencyModel, model_names, resolve_consistency_models
from oracle.progress.models import GUARANTEES, MODELS, ProgressModel
from oracle.progress.plugins import is_progress_model, resolve_models

if TYPE_CHECKING:
    from oracle.liveness import LivenessModel


@dataclass(frozen=True, slots=True)
class Questions:
    """The models that a command names, each kind in its order; consistency models come first, pairs next."""

    consistency: tuple[ConsistencyModel, ...]
    liveness: tuple[LivenessModel, ...]
    progress: tuple[ProgressModel, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the models, in the order in which they are asked."""
        return tuple(model.name for model in chain(self.consistency, self.liveness, self.progress))

    @property
    def digests(self) -> dict[str, str]:
        """Return the digests of the models by their names."""
        return {model.name: model.digest for model in chain(self.consistency, self.liveness, self.progress)}


def questions(names: Sequence[str] = (), bell: str | None = None) -> Questions:
    """Return the models that the names mean; where none is named, all consistency models that ship.

    ``bell`` is a bell file that is read before the user's own consistency models.

    Raises ``InputError`` where ``resolve_consistency_models``, ``resolve_models`` or ``resolve_liveness_models`` does,
    and where a name is of no kind.
    """
    liveness: list[str] = []
    pairs: list[LivenessModel] = []
    if any("&" in name for name in names):  # the module that judges pairs is imported only for pairs
        from oracle.liveness import is_liveness_model, resolve_liveness_models

        liveness = [name for name in names if is_liveness_model(name)]
        pairs = resolve_liveness_models(liveness, bell)
    alone = [name for name in names if name not in liveness]
    for name in alone:
        _check(name)
    progress = [name for name in alone if not _is_consistency_model(name)]
    consistency = [name for name in alone if name not in progress]
    return Questions(
        tuple(resolve_consistency_models(consistency, bell=bell)) if consistency or not names else (),
        tuple(pairs),
        tuple(resolve_models(progress, lanes=True)) if progress else (),
    )


def _is_consistency_model(name: str) -> bool:
    return name in model_names() or name.endswith((".cat", ".seq"))


def _check(name: str) -> None:
    if _is_consistency_model(name) or is_progress_model(name):
        return
    known = f"known, besides paths that end in .cat or .py: {', '.join((*model_names(), *GUARANTEES))}"
    hint = did_you_mean(name, (*model_names(), *MODELS, *GUARANTEES), known)
    raise InputError(f"unknown model {name!r}; {hint}")


def refuse_progress(names: Sequence[str]) -> None:
    """Raise ``InputError`` where a name is a progress model's, but the question is about outcomes."""
    for name in names:
        if is_progress_model(name):
            raise InputError(f"{name} is a progress model, and says nothing of outcomes; synth label asks it")
