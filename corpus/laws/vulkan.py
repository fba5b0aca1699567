"""States which orders and tags Vulkan's accesses, fences and barriers can have. Tags say storage classes, availability
and visibility.

An access is weak, and then with or without availability (of a write), visibility (of a read) or ``nonpriv``; or it is
atomic with an order and a scope, and an order names the storage classes that it speaks for. There is no sequential
consistency. Source: the Vulkan specification, appendix "Memory Model".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from corpus.litmus.orders import Order, Scope

SCOPES = (Scope.WARP, Scope.CTA, Scope.QUEUE, Scope.GPU)
"""The scopes: subgroup, workgroup, queue family and device."""

STORAGE = ("sc0", "sc1", "sc2", "sc3")
"""The storage classes, of which an access has one."""
SEMANTICS = ("semsc0", "semsc1", "semsc2", "semsc3")
"""The storage classes that an order speaks for."""
DEVICE_OPERATIONS = ("avdevice", "visdevice")
"""The tags of the operations that make everything available, or visible, to the device."""
OPERATIONS = ("exch", "cas", "add", "sub", "mul", "div", "and", "or", "xor")
"""The operations that an atomic instruction can do."""

_STRONG = (Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL)


@dataclass(frozen=True, slots=True)
class VulkanRule:
    """The rule for a kind of instruction: its orders, what a weak access can be besides, and the semantics of
    an order.
    """

    name: str
    orders: tuple[Order, ...]
    flow: tuple[str, ...] = ()
    semantics: tuple[str, ...] = ()


LOAD = VulkanRule("ld", (Order.WEAK, Order.RELAXED, Order.ACQUIRE), ("vis", "nonpriv"), ("semvis",))
STORE = VulkanRule("st", (Order.WEAK, Order.RELAXED, Order.RELEASE), ("av", "nonpriv"), ("semav",))
RMW = VulkanRule("rmw", (Order.RELAXED, *_STRONG), (), ("semav", "semvis"))
FENCE = VulkanRule("membar", _STRONG, (), ("semav", "semvis"))
BARRIER = VulkanRule("cbar", (Order.WEAK, *_STRONG), (), ("semav", "semvis"))


def implied(tags: Iterable[str], order: Order, write: bool) -> frozenset[str]:
    """Return the tags of a read, a write or a half of an atomic operation, together with the tags that they imply.

    ``order`` is that of the half. Atomic accesses are not private ("Private vs. Non-Private") and are made available or
    visible at their scope ("Descriptions"), and so are accesses with ``av`` or ``vis`` not private. Of an atomic
    operation, the semantics of release are its write's and those of acquire its read's ("Memory Semantics"). Tags
    without a storage class are of another language, and imply nothing.
    """
    words = frozenset(tags)
    if words.isdisjoint(STORAGE):
        return words
    if order is Order.WEAK:
        return words | ({"nonpriv"} if words & {"av", "vis"} else frozenset())
    kept = words - ({"semvis"} if write else {"semav"})
    if order is Order.RELAXED:
        kept -= {*SEMANTICS, "semav", "semvis"}
    return kept | {"nonpriv", "av" if write else "vis"}
