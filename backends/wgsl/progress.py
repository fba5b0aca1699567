"""Renders progress tests in WGSL. All shaders of a folder share one Python host, ``run_wgsl.py``.

WGSL has neither macros nor variables that a function could see but those of the module, so the instance is one.

Gap: its atomics are relaxed (WGSL, Atomic Operations). Of one location every operation reads from the one before it in
modification order even so; between two locations memory may reorder, and then a hang may be the memory's doing and
not the scheduler's (``backends.shared.renderer``). A read-modify-write sees the last value of its location, so no
thread waits for one that it never gets to see.
"""

from __future__ import annotations

from typing import ClassVar

from backends.shared.mapping import DEVICE, GROUPS, Launch
from backends.shared.renderer import Renderer
from backends.shared.syntax import WGSL


class Wgsl(Renderer):
    """A progress test as ``NAME.wgsl``, run as ``python run_wgsl.py NAME.wgsl [iterations]``."""

    syntax = WGSL
    exchange = "atomicExchange(&memory[cell], value)"
    add = "atomicAdd(&memory[cell], value)"
    read = "atomicLoad(&memory[WARM_UP])"
    header = "@compute @workgroup_size({})\nfn test(@builtin(workgroup_id) workgroup: vec3<u32>{})"
    largest_group = 256
    most_groups = GROUPS
    group = "workgroup.x"
    item = "local.x"
    cells: ClassVar = {"CELL(location)": "(instance * LOCATIONS + location) * STRIDE"}
    file = """\
// $name, mapping $mapping. Usage: python run_wgsl.py NAME.wgsl; a test that hangs does not come back.
$pseudo_code
@group(0) @binding(0) var<storage, read_write> memory: array<atomic<u32>>;
var<private> instance: u32;

$constants

$kernel
"""

    @classmethod
    def sizes(cls, launch: Launch) -> dict[str, int]:  # noqa: D102
        return launch.constants | {"FINISHED": launch.finished, "WARM_UP": launch.finished + 1}

    @classmethod
    def opening(cls, launch: Launch) -> str:
        """Return the beginning of the kernel: the attributes have the size of a workgroup, and the parameters the ids
        that are used.
        """
        local = "" if launch.placement == DEVICE else ", @builtin(local_invocation_id) local: vec3<u32>"
        return cls.header.format(launch.group_size, local)

    @classmethod
    def instance(cls, value: str) -> str:
        """Return an assignment to the variable of the module."""
        return f"instance = {value};"
