"""What kernels ask of their launches: sizes of blocks and clusters."""

from __future__ import annotations

import re
from typing import NamedTuple

from corpus.code import ir
from corpus.code.launch.launch import Extent, KernelLaunch, volume


class LaunchLimits(NamedTuple):
    """What a kernel asks of its launches: how many threads a block has at most, or has, and the same for clusters.

    ``size_by`` says what fixes the size of a block. ``chosen``: the directions along which the host chooses it all the
    same. ``explicit``: its blocks are always in clusters. ``of_clusters``: a launch counts clusters in the place of
    blocks.
    """

    most: int | None = None
    block: Extent | None = None
    cluster: Extent | None = None
    rank: int | None = None
    explicit: bool = False
    of_clusters: bool = False
    chosen: tuple[int, ...] = ()
    size_by: str = ""

    def misfit(self, launch: KernelLaunch) -> str | None:
        """Return why a launch cannot be: what was expected and what was found; None where it can."""
        if self.of_clusters:
            return "its launches count clusters, by .blocksareclusters, which is not understood"
        threads, blocks = volume(launch.block), volume(launch.cluster)
        fixed = [] if self.block is None else [n for n in range(3) if n not in self.chosen]
        if self.block is not None and any(self.block[n] != launch.block[n] for n in fixed):
            wanted = f"{_text(self.block)} threads, by {self.size_by}"
            return f"expected a block of {wanted}, found {_text(launch.block)}"
        if self.most is not None and threads > self.most:
            return f"expected a block of at most {self.most} threads, by .maxntid or __launch_bounds__, found {threads}"
        if self.cluster not in (None, launch.cluster):
            wanted = f"{_text(self.cluster)} blocks, by .reqnctapercluster"
            return f"expected a cluster of {wanted}, found {_text(launch.cluster)}"
        if self.rank is not None and blocks > self.rank:
            return f"expected a cluster of at most {self.rank} blocks, by .maxclusterrank, found {blocks}"
        return None


def _text(extent: Extent | None) -> str:
    return "x".join(map(str, extent or ()))


def limits_of(kernel: ir.KernelFunction, size_by: str) -> LaunchLimits:
    """Return what the directives of a kernel ask of its launches (PTX ISA 9.1, 11.4, 11.7, 11.8), and what its module
    says of the size of a block.

    Every launch has the size of a work-group that a module of SPIR-V says (SPIR-V 1.6, 3.6, LocalSize; OpenCL 3.0, 5.8,
    CL_INVALID_WORK_GROUP_SIZE).
    """
    found: dict[str, list[int]] = {}
    for directive in kernel.directives:
        name, _, numbers = directive.partition(" ")
        found[name] = [int(number) for number in re.findall(r"\d+", numbers)]
    most, rank = found.get(".maxntid"), found.get(".maxclusterrank")
    cluster = _extent(found.get(".reqnctapercluster"))
    return LaunchLimits(
        None if most is None else volume(_extent(most) or (1, 1, 1)),
        _extent(found.get(".reqntid")) or kernel.block_size.threads,
        cluster,
        rank[0] if rank else None,
        ".explicitcluster" in found or cluster is not None,
        ".blocksareclusters" in found,
        kernel.block_size.chosen,
        size_by,
    )


def _extent(numbers: list[int] | None) -> Extent | None:
    """Return numbers along x, y and z; those that are not given are 1."""
    if numbers is None:
        return None
    x, y, z = [*numbers, 1, 1][:3]
    return x, y, z
