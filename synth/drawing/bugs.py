"""Pictures of a mapping's bug. The execution that the source forbids is beside the one that the target allows."""

from __future__ import annotations

from dataclasses import replace

from synth.drawing.execution import draw
from synth.drawing.pictures import Drawing, side_by_side
from synth.memory.bugs import ToldBug


def draw_bug(told: ToldBug) -> Drawing:
    """Draw both executions of a bug, each under its model's verdict."""
    pictures = [
        replace(draw(explanation), title=f"{side} under {explanation.model.name}: {explanation.answer}")
        for side, explanation in zip(("source", "target"), told.explanations, strict=True)
    ]
    return side_by_side(told.bug.source.name, pictures)
