"""Random ways to launch memory tests for who has no tuned one, each drawn from a seed and called by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from backends.shared.layout import Parameters
from backends.shared.profiles import Profile
from synth.memory.bundling import Incantation
from synth.tuning.search import drawn

SLOTS = 64
"""Slots at most, for workgroups of WebGPU have up to 256 threads, and a slot has several."""

_OWN = (Parameters(), Parameters(passes=2))
"""A GPU's own parameters, and such as a CPU has, which knows how many passes it needs."""


def random_incantations(count: int) -> Iterator[Incantation]:
    """Those of the seeds 1 to ``count``: ``random-1`` and so on."""
    for seed in range(1, count + 1):
        name = f"random-{seed}"
        gpu, cpu = (drawn(Profile(name), own, Random(f"{seed} incantation")) for own in _OWN)
        yield Incantation(name, _within(gpu), _within(cpu))


def _within(profile: Profile) -> Profile:
    return replace(profile, slots=min(profile.slots or SLOTS, SLOTS))
