"""What random ways to launch memory tests are drawn from where nobody says otherwise: as a tuner draws them."""

from __future__ import annotations

from dataclasses import fields

from backends.shared.bundle import Draws
from backends.shared.profiles import Profile
from synth.tuning.search import DRAWN, drawable, sequences

SLOTS = 64
"""Slots at most, for workgroups of WebGPU have up to 256 threads, and a slot has several."""

LONGEST = 3
"""The most accesses of a sequence."""


def random_profiles(count: int) -> Draws:
    """So many of them. All that a profile can say but its name and the instances can be drawn."""
    keys = [field.name for field in fields(Profile) if field.name not in ("name", "instances")]
    values = {key: drawable(key) for key in keys}
    values["slots"] = [slots for slots in values["slots"] if slots <= SLOTS]
    values["sequence"] = sequences(LONGEST)
    return Draws(count, DRAWN, values)
