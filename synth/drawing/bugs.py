"""A bug of a mapping as a picture: the execution that the source forbids, and beside it that of the target."""

from __future__ import annotations

from dataclasses import replace

from synth.drawing.execution import draw
from synth.drawing.pictures import Drawing, side_by_side
from synth.memory.bugs import ToldBug


def draw_bug(told: ToldBug) -> Drawing:
    """Both executions, each under what its model says."""
    pictures = [
        replace(draw(explanation), title=f"{side} under {explanation.model.name}: {explanation.answer}")
        for side, explanation in zip(("source", "target"), told.explanations, strict=True)
    ]
    return side_by_side(told.bug.source.name, pictures)
