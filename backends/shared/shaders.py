"""Renders what memory tests in GLSL and WGSL share. Both take Vulkan's own tests, with the memory of one launch.

Storage class ``sc0`` is a storage buffer and ``sc1`` the memory that a work-group shares. Images (``sc2``) and output
(``sc3``) have no memory here, nor has a second reference to a location; operations of the device, and threads that
synchronise by the system, are of several launches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from backends.shared.atomics import Atomics
from backends.shared.layout import Layout
from backends.shared.mapping import GROUPS
from corpus.dialects.storage_classes import has_classes
from corpus.errors import InputError
from corpus.laws.vulkan import DEVICE_OPERATIONS, STORAGE
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.locations import Loc, Region
from corpus.litmus.orders import Scope
from corpus.litmus.test import LitmusTest

CLASSES = {"sc0": Region.GLOBAL, "sc1": Region.SHARED}
"""The storage classes that have memory, and which."""


class ShaderAtomics(Atomics):
    """A language of shaders, for the devices of an ``interface``. It has no more functions than these, and compares
    unsigned numbers in them.
    """

    interface: ClassVar[str]
    functions: ClassVar[Mapping[str, str]] = {
        "load": "atomicLoad",
        "store": "atomicStore",
        "exch": "atomicExchange",
        "add": "atomicAdd",
        "and": "atomicAnd",
        "or": "atomicOr",
        "xor": "atomicXor",
    }
    lacks: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("min", "max"), "compares unsigned numbers here, and these are signed"
    )

    def __init__(self, layout: Layout) -> None:
        self.check_launch(layout)
        self._own = has_classes(layout.test)
        super().__init__(replace(layout, test=in_memory(layout.test, self.title)) if self._own else layout)

    def check_launch(self, layout: Layout) -> None:
        """Raise ``InputError`` for a launch that devices do not take."""
        if layout.groups > GROUPS:
            taken = f"{self.interface} takes at most {GROUPS}"
            raise InputError(f"{layout.groups} work-groups: {taken}; ask for fewer instances")


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
