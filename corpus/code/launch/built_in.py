"""Values of the built-in variables of kernels by their names in SPIR-V (SPIR-V 1.6, 3.21; the Vulkan and OpenCL
environments): what functions of OpenCL C such as ``get_global_id`` give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from corpus.code.launch.launch import Extent, volume
from corpus.code.thread import FollowedThread
from corpus.code.values import Unknown, Value

VECTORS = (
    *("LocalInvocationId", "WorkgroupId", "GlobalInvocationId", "NumWorkgroups"),
    *("WorkgroupSize", "EnqueuedWorkgroupSize", "GlobalSize", "GlobalOffset"),
)
NUMBERS = (
    *("LocalInvocationIndex", "GlobalLinearId", "WorkDim", "SubgroupSize", "SubgroupMaxSize", "SubgroupId"),
    *("SubgroupLocalInvocationId", "NumSubgroups", "NumEnqueuedSubgroups", "DeviceIndex"),
)
UNTOLD = (
    *("WarpsPerSMNV", "SMCountNV", "WarpIDNV", "SMIDNV", "CoreIDARM", "CoreCountARM", "CoreMaxIDARM", "WarpIDARM"),
    *("WarpMaxIDARM",),
)
"""The built-in variables of kernels: vectors of three, numbers, and those whose values nothing tells."""


def is_built_in(name: str) -> bool:
    """Return whether a built-in variable has a row: what it holds is known, or known to be untold."""
    return name in VECTORS or name in NUMBERS or name in _MASKS or name in UNTOLD


def special(thread: FollowedThread, name: str) -> Value | None:
    """Return the value of a special register, ``%LocalInvocationId.0``; None where there is none of this name."""
    stem, _, part = name.removeprefix("%").rpartition(".")
    if not stem or not part.isdecimal():
        return None
    axis = int(part)
    if "Subgroup" in stem:
        subgroups_assumed(thread)
    vectors, numbers = _vectors(thread), _numbers(thread)
    if stem in vectors and axis < 3:
        return vectors[stem][axis]
    if stem in _MASKS and axis < 4:
        return _MASKS[stem](thread.lane, thread.launch.warp) >> 32 * axis & 0xFFFFFFFF
    if stem in numbers and axis == 0:
        return numbers[stem]
    if stem == "undefined":
        return Unknown("an undefined value")
    return Unknown(f"the value of {stem}") if stem in UNTOLD else None


def subgroups_assumed(thread: FollowedThread) -> None:
    """Note the size of subgroups, which a device chooses (Vulkan 1.3, 9.8; OpenCL 3.0, 3.2.2), and a launch here."""
    thread.notes.assumed[f"subgroups are of {thread.launch.warp} threads"] = None


def _vectors(thread: FollowedThread) -> dict[str, Extent]:
    block, number, size, grid = thread.ids.block, thread.ids.thread, thread.launch.block, thread.launch.grid
    whole = (grid[0] * size[0], grid[1] * size[1], grid[2] * size[2])
    place = (block[0] * size[0] + number[0], block[1] * size[1] + number[1], block[2] * size[2] + number[2])
    nothing = (0, 0, 0)
    return {
        "LocalInvocationId": number, "WorkgroupId": block, "GlobalInvocationId": place, "NumWorkgroups": grid,
        "WorkgroupSize": size, "EnqueuedWorkgroupSize": size, "GlobalSize": whole, "GlobalOffset": nothing,
    }  # fmt: skip


def _numbers(thread: FollowedThread) -> dict[str, int]:
    warp, threads = thread.launch.warp, volume(thread.launch.block)
    dimensions = max((n for n in range(3) if thread.launch.grid[n] * thread.launch.block[n] > 1), default=0) + 1
    return {
        "LocalInvocationIndex": thread.number, "WorkDim": dimensions,
        "GlobalLinearId": thread.block * threads + thread.number,
        "SubgroupSize": warp, "SubgroupMaxSize": warp, "SubgroupId": thread.number // warp,
        "SubgroupLocalInvocationId": thread.lane, "NumSubgroups": -(-threads // warp),
        "NumEnqueuedSubgroups": -(-threads // warp), "DeviceIndex": 0,
    }  # fmt: skip


_MASKS: Mapping[str, Callable[[int, int], int]] = {
    "SubgroupEqMask": lambda lane, warp: 1 << lane,
    "SubgroupGeMask": lambda lane, warp: (1 << warp) - (1 << lane),
    "SubgroupGtMask": lambda lane, warp: (1 << warp) - (2 << lane),
    "SubgroupLeMask": lambda lane, warp: (2 << lane) - 1,
    "SubgroupLtMask": lambda lane, warp: (1 << lane) - 1,
}
"""The masks of subgroups, of the lane of a thread and the size."""
