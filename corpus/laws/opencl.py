"""States the scopes and memories of OpenCL C's atomics, fences and barriers. Their orders are C11's
(``corpus.laws.c11``).

Source: the OpenCL C specification 3.0, 6.15.12 (atomics), 6.15.8 (barriers).
"""

from __future__ import annotations

from collections.abc import Mapping

from corpus.laws import c11
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Order, Scope

SCOPES: Mapping[str, Scope] = {
    "memory_scope_sub_group": Scope.WARP,
    "memory_scope_work_group": Scope.CTA,
    "memory_scope_device": Scope.GPU,
    "memory_scope_all_svm_devices": Scope.SYS,
}
"""The scopes by their words; ``memory_scope_all_devices`` is another word for the last."""

WORK_ITEM = "memory_scope_work_item"
"""The word for the scope of the work-item alone."""

SCOPE_WORDS: Mapping[Scope, str] = {scope: word for word, scope in SCOPES.items()}
"""The words of OpenCL C for scopes, keyed by scope."""

DEFAULT_SCOPE = Scope.GPU
"""The scope of an atomic that says none."""

MEMORY: Mapping[str, str] = {"CLK_GLOBAL_MEM_FENCE": "global-fence", "CLK_LOCAL_MEM_FENCE": "local-fence"}
"""The tag of a fence or barrier that orders one kind of memory alone, by its flag; one that orders both has no tag."""

FENCED: Mapping[str, Region] = {"global-fence": Region.GLOBAL, "local-fence": Region.SHARED}
"""The region of memory that a fence or barrier with one of these tags orders."""

NO_MEMORY = "image-fence"
"""The tag of a barrier that orders neither: it orders images, which are not memory here."""

BARRIERS: Mapping[str, Scope] = {
    "barrier": Scope.CTA,
    "work_group_barrier": Scope.CTA,
    "sub_group_barrier": Scope.WARP,
}
"""The barriers, and whose threads meet there."""

FETCHED = (*c11.FETCHED, "min", "max")
"""The operations that have an ``atomic_fetch_`` in OpenCL C."""


def fence_tags(local: bool, across: bool) -> tuple[str, ...] | None:
    """Return the tags of what orders memory of the work-group, or memory across work-groups: none where it orders both,
    None where it orders neither.
    """
    regions = {region for region, there in ((Region.SHARED, local), (Region.GLOBAL, across)) if there}
    if len(regions) != 1:
        return () if regions else None
    return tuple(tag for tag, region in FENCED.items() if region in regions)


def fence_mode(order: Order, scope: Scope | None, tags: tuple[str, ...] | None) -> Mode | None:
    """Return how a fence is done; None where it orders nothing."""
    return None if tags is None or order is Order.RELAXED else Mode(order, scope, tags=tags)


def barrier_mode(scope: Scope | None, level: Scope, tags: tuple[str, ...] | None) -> Mode:
    """Return how a barrier of a level is done that orders memory for a scope: two fences of acquire and release."""
    if tags is None:
        return Mode(tags=(NO_MEMORY,))
    return Mode(tags=tags) if scope is level else Mode(Order.ACQ_REL, scope, tags=tags)
