"""Random ways to launch memory tests, drawn as a tuner draws them."""

from __future__ import annotations

from dataclasses import fields

from backends.shared.bundle import Draws
from backends.shared.profiles import Profile
from synth.tuning.search import DRAWN, drawable, sequences

SLOTS = 64
"""The most slots: workgroups of WebGPU have up to 256 threads, and a slot has several."""

LONGEST = 3
"""The most accesses of a sequence."""


def random_profiles(count: int) -> Draws:
    """Return ``count`` random profiles. All that a profile states can be drawn, except its name and the instances."""
    keys = [field.name for field in fields(Profile) if field.name not in ("name", "instances")]
    values = {key: drawable(key) for key in keys}
    values["slots"] = [slots for slots in values["slots"] if slots <= SLOTS]
    values["sequence"] = sequences(LONGEST)
    return Draws(count, DRAWN, values)
