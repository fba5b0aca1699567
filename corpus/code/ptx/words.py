"""The words of PTX that are no instructions: directives, attributes, types, and options of a target, each with a row.

A word without a row is refused where it stands (PTX ISA 9.1, chapters 5, 11 and 12).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from corpus.code import ir
from corpus.code.launch.launch import Extent, KernelLaunch, volume

LINKAGE = (".visible", ".extern", ".weak", ".common")
"""Who may see a name (11.6). Of a ``.weak`` or ``.common`` one, the definition of the module is taken."""

MODULE_SPACES = ("const", "global", "shared")
"""The state spaces of variables of a module. Registers and local memory of a module have no place in the ABI (7.2),
``.tex`` is a texture (5.1.8), and ``.sreg`` is of registers that nobody declares (5.1.2)."""

SPACES = ("reg", "const", "global", "local", "param", "shared")
"""The state spaces of declarations in a function (5.1)."""

TYPES = frozenset(
    (
        *("b8", "b16", "b32", "b64", "b128", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"),
        *("f16", "f16x2", "f32", "f64", "bf16", "bf16x2", "tf32", "e4m3x2", "e5m2x2", "pred"),
        *ir.OPAQUE,
    )
)
"""The types of declarations: what an access of an opaque one holds is refused where it is asked for (5.2, 5.3)."""

VECTORS = ("v2", "v4", "v8")
"""The vectors of declarations (5.4.2)."""

ATTRIBUTES: Mapping[str, int] = {".managed": 0, ".unified": 2}
"""The attributes of variables and functions, with how many numbers they have: both say where memory may be accessed
from, and change nothing for a kernel alone (5.4.8, 5.5)."""

PRAGMAS = ("nounroll", "enable_smem_spilling", "frequency", "mma_throughput")
"""The strings of ``.pragma`` that change only how fast code is (chapter 12)."""

USED_BYTES = re.compile(r'"used_bytes_mask (0[xX][0-9a-fA-F]{1,8}|0|[1-9][0-9]{0,9})"\Z')
"""The string of ``.pragma`` before an ``ld``, which says by bits what bytes of it are used: others have any value."""

TARGET_OPTIONS = ("texmode_unified", "texmode_independent", "debug")
"""The options of ``.target`` that change nothing but textures and debugging. ``map_f64_to_f32`` changes what arithmetic
gives, and is none of them (11.1.2)."""

TARGET = re.compile(r"sm_\d+[af]?\Z")

DEBUG_SECTION = re.compile(r"\.(?:nv_)?debug_\w+\Z")
"""The sections that are DWARF (11.5.2)."""

HEADERS: Mapping[str, tuple[int, int]] = {
    # how many threads and blocks a launch may have (11.4, 11.7, 11.8)
    ".maxntid": (1, 3),
    ".reqntid": (1, 3),
    ".reqnctapercluster": (1, 3),
    ".maxclusterrank": (1, 1),
    ".explicitcluster": (0, 0),
    ".blocksareclusters": (0, 0),
    # that a function does not return
    ir.NORETURN: (0, 0),
    # how many registers and resources there are: how fast it is
    ".maxnreg": (1, 1),
    ".minnctapersm": (1, 1),
    ".maxnctapersm": (1, 1),
    ".abi_preserve": (1, 1),
    ".abi_preserve_control": (1, 1),
}
"""The directives behind the head of a function, with the least and most numbers that they have."""


class LaunchLimits(NamedTuple):
    """What a kernel asks of its launches: how many threads a block has at most, or has, and the same for clusters.

    ``chosen``: the directions along which the host chooses the size of a block all the same. ``explicit``: its blocks
    are always in clusters. ``of_clusters``: a launch counts clusters in the place of blocks.
    """

    most: int | None = None
    block: Extent | None = None
    cluster: Extent | None = None
    rank: int | None = None
    explicit: bool = False
    of_clusters: bool = False
    chosen: tuple[int, ...] = ()

    def misfit(self, launch: KernelLaunch) -> str | None:
        """Return why a launch cannot be: what was expected and what was found; None where it can."""
        if self.of_clusters:
            return "its launches count clusters, by .blocksareclusters, which is not understood"
        threads, blocks = volume(launch.block), volume(launch.cluster)
        fixed = [] if self.block is None else [n for n in range(3) if n not in self.chosen]
        if self.block is not None and any(self.block[n] != launch.block[n] for n in fixed):
            by = "by .reqntid or LocalSize"
            return f"expected a block of {_said(self.block)} threads, {by}, found {_said(launch.block)}"
        if self.most is not None and threads > self.most:
            return f"expected a block of at most {self.most} threads, by .maxntid or __launch_bounds__, found {threads}"
        if self.cluster not in (None, launch.cluster):
            wanted = f"{_said(self.cluster)} blocks, by .reqnctapercluster"
            return f"expected a cluster of {wanted}, found {_said(launch.cluster)}"
        if self.rank is not None and blocks > self.rank:
            return f"expected a cluster of at most {self.rank} blocks, by .maxclusterrank, found {blocks}"
        return None


def limits_of(kernel: ir.KernelFunction) -> LaunchLimits:
    """Return what the directives of a kernel ask of its launches (11.4, 11.7, 11.8), or a module of SPIR-V.

    Every launch has the size of a work-group that such a module says (SPIR-V 1.6, 3.6, LocalSize; OpenCL 3.0, 5.8,
    CL_INVALID_WORK_GROUP_SIZE).
    """
    found: dict[str, list[int]] = {}
    for directive in kernel.directives:
        name, _, numbers = directive.partition(" ")
        found[name] = [int(each) for each in re.findall(r"\d+", numbers)] if name in HEADERS else []
    most, rank = found.get(".maxntid"), found.get(".maxclusterrank")
    cluster = _extent(found.get(".reqnctapercluster"))
    return LaunchLimits(
        None if most is None else volume(_extent(most) or (1, 1, 1)),
        _extent(found.get(".reqntid")) or kernel.block,
        cluster,
        rank[0] if rank else None,
        ".explicitcluster" in found or cluster is not None,
        ".blocksareclusters" in found,
        kernel.chosen,
    )


def _extent(numbers: list[int] | None) -> Extent | None:
    """Return numbers along x, y and z; those that are not given are 1."""
    if numbers is None:
        return None
    x, y, z = [*numbers, 1, 1][:3]
    return x, y, z


def _said(extent: Extent | None) -> str:
    return "x".join(map(str, extent or ()))
