"""The resolution of names to sketches: those that ship, a user's file, and models whose every part gets a switch."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.errors import InputError, did_you_mean
from corpus.files import folder_of
from oracle.consistency import AxiomaticModel, model_names, resolve_consistency_models
from oracle.inference.sketch import Sketch, load_sketch
from oracle.inference.switches import with_switches


def shipped_sketches() -> Mapping[str, str]:
    """The path of every sketch that ships, by its name."""
    return {path.stem: str(path) for path in sorted((folder_of("oracle") / "sketches").glob("*.cat"))}


def resolve_sketch(name: str) -> Sketch:
    """The sketch of a name: one that ships, the path of a .cat file, or a model that ships.

    A model without holes becomes a sketch in which every check, operand of a union and conjunct has a switch
    (``oracle.inference.switches``). Raises ``InputError`` where there is none of that name, and as ``load_sketch``.
    """
    ships = shipped_sketches()
    if name in ships:
        return load_sketch(ships[name], name)
    if name.endswith(".cat"):
        sketch = load_sketch(name)
        return sketch if sketch.holes else with_switches(sketch.model)
    if name in model_names():
        (model,) = resolve_consistency_models([name])
        if not isinstance(model, AxiomaticModel):
            raise InputError(f"{name} is a transition system, and sketches are made of models in .cat files alone")
        return with_switches(model.model)
    known = f"known, besides paths that end in .cat: {', '.join([*ships, *model_names()])}"
    raise InputError(f"unknown sketch {name!r}; {did_you_mean(name, [*ships, *model_names()], known)}")
