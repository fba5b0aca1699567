"""Values of the special registers of PTX (PTX ISA 9.1, chapter 10)."""

from __future__ import annotations

import re

from corpus.code.follower import WORKSPACE, ThreadSpecialiser
from corpus.code.launch.launch import volume
from corpus.code.places import NOBODY, Array
from corpus.code.ptx.words import limits_of
from corpus.code.values import ArrayAddress, Half, Unknown, Value


def special(at: ThreadSpecialiser, name: str) -> Value | None:
    """Return the value of a special register (chapter 10) or of ``WARP_SZ`` (4.5); None where there is none of this
    name.
    """
    stem, _, axis = name.partition(".")
    lane = at.lane
    cluster, inside = at.launch.cluster_of(at.ids.block)
    extents = {
        "%tid": at.ids.thread, "%ntid": at.launch.block, "%ctaid": at.ids.block, "%nctaid": at.launch.grid,
        "%clusterid": cluster, "%nclusterid": at.launch.clusters, "%cluster_ctaid": inside,
        "%cluster_nctaid": at.launch.cluster,
    }  # fmt: skip
    if stem in extents and axis in ("x", "y", "z"):
        return extents[stem]["xyz".index(axis)]
    size = at.launch.cluster
    every = 0xFFFFFFFF
    numbers = {
        "%laneid": lane, "WARP_SZ": at.launch.warp,
        "%is_explicit_cluster": int(volume(size) > 1 or limits_of(at.kernel).explicit),
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
