"""Values of the special registers of PTX (PTX ISA 9.1, chapter 10)."""

from __future__ import annotations

import re

from corpus.code.launch.launch import volume
from corpus.code.places import NOBODY, Array
from corpus.code.thread import FollowedThread
from corpus.code.values import ArrayAddress, Half, Unknown, Value

WORKSPACE = "grid_workspace"
"""The array that ``%envreg1`` and ``%envreg2`` point to, where cooperative groups keep a grid's barrier."""


def special(thread: FollowedThread, name: str) -> Value | None:
    """Return the value of a special register (chapter 10) or of ``WARP_SZ`` (4.5); None where there is none of this
    name.
    """
    stem, _, axis = name.partition(".")
    lane = thread.lane
    cluster, inside = thread.launch.cluster_of(thread.ids.block)
    extents = {
        "%tid": thread.ids.thread, "%ntid": thread.launch.block,
        "%ctaid": thread.ids.block, "%nctaid": thread.launch.grid,
        "%clusterid": cluster, "%nclusterid": thread.launch.clusters, "%cluster_ctaid": inside,
        "%cluster_nctaid": thread.launch.cluster,
    }  # fmt: skip
    if stem in extents and axis in ("x", "y", "z"):
        return extents[stem]["xyz".index(axis)]
    size = thread.launch.cluster
    every = 0xFFFFFFFF
    numbers = {
        "%laneid": lane, "WARP_SZ": thread.launch.warp,
        "%is_explicit_cluster": int(volume(size) > 1 or thread.language.rules.limits(thread.kernel).explicit),
        "%cluster_ctarank": inside[0] + size[0] * (inside[1] + size[1] * inside[2]),
        "%cluster_nctarank": volume(size), "%lanemask_eq": 1 << lane, "%lanemask_le": (2 << lane) - 1,
        "%lanemask_lt": (1 << lane) - 1, "%lanemask_ge": every & -(1 << lane), "%lanemask_gt": every & -(2 << lane),
    }  # fmt: skip
    if name in numbers:
        return numbers[name]
    if name in ("%envreg1", "%envreg2"):
        return Half(ArrayAddress(Array("global", NOBODY, WORKSPACE)), name == "%envreg1")
    if _UNTOLD.fullmatch(name):
        return Unknown(f"the value of {name}")
    return None


_UNTOLD = re.compile(
    r"%(?:clock|clock_hi|clock64|globaltimer|globaltimer_lo|globaltimer_hi|pm[0-7](?:_64)?"
    r"|(?:dynamic|total|aggr)_smem_size|reserved_smem_offset_(?:begin|end|cap|[01])|envreg(?:[0-9]|[12][0-9]|3[01])"
    r"|current_graph_exec|warpid|nwarpid|smid|nsmid|gridid)"
)
"""The names of registers whose values nothing tells: a thread may be moved, and warps and processors have any numbers
(10.4 to 10.9)."""
