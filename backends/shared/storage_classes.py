"""Finds the memory of each storage class of Vulkan's own tests, in one launch.

Class ``sc0`` is a storage buffer and ``sc1`` the memory that a work-group shares. Images (``sc2``) and output (``sc3``)
have no memory here, nor has a second reference to a location; operations of the device, and threads that synchronise
by the system, are of several launches.
"""

from __future__ import annotations

from dataclasses import replace

from corpus.errors import InputError
from corpus.laws.vulkan import DEVICE_OPERATIONS, STORAGE
from corpus.litmus.describe import cannot_say
from corpus.litmus.test import Fence, LitmusTest, Load, Loc, Region, Rmw, Scope, Store

CLASSES = {"sc0": Region.GLOBAL, "sc1": Region.SHARED}
"""The storage classes that have memory, and which."""


def in_memory(test: LitmusTest, language: str) -> LitmusTest:
    """Return a test of Vulkan's own with each location in the memory of its storage class.

    Raises ``InputError`` where a location is of two classes or of one that has no memory here, where shared memory is
    that of two work-groups, and what is no instruction of one launch.
    """
    home: dict[str, Region] = {}
    users: dict[str, int] = {}
    if test.synchronised:
        raise InputError("threads that synchronise by the system are in several launches")
    for index, thread in enumerate(test.threads):
        for ins in thread.instructions:
            if isinstance(ins, Fence) and set(ins.mode.tags) & set(DEVICE_OPERATIONS):
                raise cannot_say(index, ins, "an operation of the device is between launches")
            if not isinstance(ins, Load | Store | Rmw):
                continue
            storage = next((tag for tag in ins.mode.tags if tag in STORAGE), "")
            if storage not in CLASSES or not isinstance(ins.address, Loc):
                raise cannot_say(index, ins, f"{language} has memory of classes {' and '.join(CLASSES)} here")
            name = ins.address.name
            if home.setdefault(name, CLASSES[storage]) is not CLASSES[storage]:
                raise cannot_say(index, ins, f"{name} is of another storage class elsewhere")
            other = users.setdefault(name, index)
            if home[name] is Region.SHARED and not test.threads[other].place.shares(thread.place, Scope.CTA):
                raise cannot_say(index, ins, f"{name} is in shared memory, and P{other} is in another work-group")
    locations = (replace(location, region=home.get(location.name, location.region)) for location in test.locations)
    return replace(test, locations=tuple(locations))
