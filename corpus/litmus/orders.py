"""Defines orders, scopes and tags: how accesses, fences and barriers are done, and where threads are in the scope tree.

They are those that GPU languages share. A dialect reads its own spelling into these and refuses to print what it cannot
say; what only one dialect knows (proxies, storage classes) is a *tag*, which models read as a set of that name.

- ``membar.S`` is ``fence.sc.S`` (Lustig et al. 2019, Fig. 3c); an access without order is ``WEAK`` and has no scope;
- a volatile access is ``WEAK`` with ``volatile`` set, and models see it as relaxed at system scope (ibid., 3.6);
- an rmw without order or scope is relaxed at GPU scope, the default of PTX's ``atom``;
- threads whose dialect says nothing of warps are in a warp each, and in a CTA each where it says nothing of CTAs, as C.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import NamedTuple


class Order(StrEnum):
    """How strongly an access or a fence is ordered. ``WEAK`` is also called plain or non-atomic."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SC = "sc"


class Scope(Enum):
    """The levels of the execution hierarchy, narrowest first; the value is the level's depth in ``Place``.

    ``QUEUE`` is a queue family of Vulkan, or a cluster of PTX (``CLUSTER``).
    """

    WARP = 4
    CTA = 3
    QUEUE = 2
    GPU = 1
    SYS = 0

    @property
    def label(self) -> str:
        """The scope as PTX spells it, ``cta``; ``warp`` and ``queue`` where PTX has no word."""
        return self.name.lower()


SCOPES = {scope.label: scope for scope in (Scope.CTA, Scope.GPU, Scope.SYS)}
"""The scopes that accesses and fences name in PTX, by its words, narrowest first."""


class Place(NamedTuple):
    """Where a thread is in the scope tree: the group at each level, numbered within the group around it."""

    gpu: int = 0
    queue: int = 0
    cta: int = 0
    warp: int = 0

    def shares(self, other: Place, scope: Scope) -> bool:
        """Decide whether both places are in one group at the level of ``scope``."""
        return self[: scope.value] == other[: scope.value]


@dataclass(frozen=True, slots=True)
class Mode:
    """How an access, fence or barrier is done. ``cache`` is a PTX cache operator, as ``cg``; ``tags`` are sorted."""

    order: Order = Order.WEAK
    scope: Scope | None = None
    volatile: bool = False
    cache: str | None = None
    tags: tuple[str, ...] = ()


PROXIES = ("texture", "surface", "constant", "async", "tensormap")
"""The proxies that are not the generic one: tags of accesses through them and, of ``fence.proxy``."""

FENCED = ("generic", *PROXIES, "alias")
"""The proxies that a ``fence.proxy`` may be for, and ``alias``."""

CLUSTER = "cluster"
"""The tag of what has the scope of a cluster: the scope is ``QUEUE`` then, for no language has clusters and queues."""

BULK, COPIES, WGMMA = "cp.async.bulk", "cp.async", "wgmma"
"""The kinds of asynchronous operations that PTX has groups of."""

TENSOR_LOADS, TENSOR_STORES, TENSOR_OPERATIONS = "tcgen05.ld", "tcgen05.st", "tcgen05"
"""The kinds of asynchronous operations on tensor memory: a thread waits for all of the first, or of the second, and
the third complete at mbarriers."""

MBARRIER = "mbarrier"
"""The tag of what is done to an mbarrier, as the first word of the operation is."""

INIT = "init"
"""The tag of what initialises an mbarrier, and of the fence that releases nothing else."""

ONE_WAY = "one-way"
"""The tag of a fence from the generic to another proxy alone."""

EXIT = "exit"
"""The tag of an arrival at a barrier that is the end of a thread: nobody need wait for it, and it orders nothing."""

RELAXED = "relaxed"
"""The tag of an arrival at the barrier of a cluster that orders nothing by itself, and of what lanes of a warp do
together that orders no memory."""

EXCHANGED = "exchanged"
"""The tag of accesses to what lanes of a warp exchange."""

PLAIN = Mode()

ANNOTATED = "'"
"""The first character of a tag that is a word of the user's own bell file, ``'once``, and of its set of events."""

DEFAULT_RMW = Mode(Order.RELAXED, Scope.GPU)
"""An rmw that says neither order nor scope, as PTX's ``atom``."""


def is_atomic(mode: Mode) -> bool:
    """Decide whether an access done in this way is atomic, as volatile accesses are."""
    return mode.order is not Order.WEAK or mode.volatile
