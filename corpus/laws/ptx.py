"""States the modes of PTX instructions and their words (PTX ISA, 9.7). Words are ``.relaxed.gpu``, ``.cg`` and
``.volatile``, for example.

A load or a store is weak, with a cache operator or ``volatile`` or neither, or has an order and a scope. An atomic has
an order and a scope, and so has a fence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from corpus.errors import InputError
from corpus.litmus.test import CLUSTER, FENCED, INIT, MBARRIER, ONE_WAY, SCOPES, Mode, Order, Scope

ONE_SIDED = (Order.ACQUIRE, Order.RELEASE)
"""The orders of fences that PTX has since 8.6 only, for sm_90 and later."""

MEMBARS = {"cta": Scope.CTA, "gl": Scope.GPU, "sys": Scope.SYS}
"""The scopes of the fence ``membar``, keyed by the word for each."""


@dataclass(frozen=True, slots=True)
class AccessRule:
    """The rule for a kind of access: its orders, its cache operators, and its name in messages."""

    name: str
    orders: tuple[Order, ...]
    caches: tuple[str, ...] = ()
    volatile: bool = False


LOAD = AccessRule("ld", (Order.RELAXED, Order.ACQUIRE), ("ca", "cg", "cs", "lu", "cv"), volatile=True)
STORE = AccessRule("st", (Order.RELAXED, Order.RELEASE), ("wb", "cg", "cs", "wt"), volatile=True)
ATOM = AccessRule("atom", (Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL))
FENCE = AccessRule("fence", (Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SC))

PROXY_FENCES: Mapping[str, Mode] = {
    **{f"fence.proxy.{proxy}": Mode(tags=(proxy,)) for proxy in FENCED},
    "fence.proxy.async.global": Mode(tags=("async", "global-fence")),
    "fence.proxy.async.shared::cta": Mode(tags=("async", "local-fence")),
    "fence.proxy.async.shared::cluster": Mode(tags=("async", CLUSTER, "local-fence")),
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster": Mode(
        Order.RELEASE, Scope.QUEUE, tags=("async", CLUSTER, "local-fence", ONE_WAY)
    ),
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster": Mode(
        Order.ACQUIRE, Scope.QUEUE, tags=("async", CLUSTER, "local-fence", ONE_WAY)
    ),
    "fence.mbarrier_init.release.cluster": Mode(Order.RELEASE, Scope.QUEUE, tags=(CLUSTER, INIT)),
}
"""The fences of proxies, and of what initialises mbarriers, by their words."""

COMPLETE_TX = "mbarrier::complete_tx::bytes"
"""The word of asynchronous operations that complete at an mbarrier."""
BULK_COPY = Mode(tags=("async",))
"""How bulk copies access memory, and ``st.async``."""
BULK_REDUCTION = Mode(Order.RELAXED, Scope.GPU, tags=("async",))
"""How ``cp.reduce.async.bulk`` updates its destination."""
REMOTE_REDUCTION = Mode(Order.RELAXED, Scope.QUEUE, tags=("async", CLUSTER))
"""How ``red.async`` updates its destination."""


def of_mbarrier(mode: Mode) -> Mode:
    """Return the mode in which something is done to an mbarrier."""
    return replace(mode, tags=tuple(sorted((*mode.tags, MBARRIER))))


INITIALISING = of_mbarrier(Mode(tags=(INIT,)))
"""How an mbarrier is initialised: weakly."""
COMPLETION = of_mbarrier(Mode(Order.RELEASE, Scope.QUEUE, tags=(CLUSTER,)))
"""How an asynchronous operation completes at an mbarrier (PTX ISA 9.1, ``cp.async.bulk``)."""
TRACKING = of_mbarrier(Mode(Order.RELEASE, Scope.CTA))
"""How an arrival that waits for earlier operations is done (PTX ISA 9.1, ``cp.async.mbarrier.arrive``)."""


PAST_L1 = ("cg", "cv", "wt")
"""The cache operators of accesses that go past the L1, which is not coherent (PTX ISA, 9.7.9.1; Alglave et al. 2015,
section 3.1.2)."""

ARRIVE = "arrive"
"""The tag of a barrier that does not wait, where executions say so (``corpus.executions``)."""
REDUCTIONS = ("add", "and", "or", "xor", "min", "max")
"""The operations of ``red``, which ``atom`` has as well."""
RED_ORDERS = (Order.RELAXED, Order.RELEASE)
"""The orders that a ``red`` can have."""
OPERATIONS = ("exch", "cas", *REDUCTIONS)
"""The operations of ``atom``, those of ``red`` among them."""


def mode_words(mode: Mode, access: AccessRule, refuse: Callable[[str], InputError], space: str = "") -> str:
    """Return the words for a mode, each after a dot, with the state space, as ``.global``, where PTX has it.

    Raises what ``refuse`` makes of a reason where PTX has no such mode.
    """
    tags = tuple(tag for tag in mode.tags if tag != CLUSTER)
    if tags:
        raise refuse(f"PTX has no {access.name} with {tags[0]}")
    if mode.order is Order.WEAK:
        single = mode.volatile + (mode.cache is not None)
        if not access.volatile or mode.scope or single > 1 or (mode.cache and mode.cache not in access.caches):
            raise refuse(f"PTX has weak {access.name} with one of {', '.join(access.caches)} and volatile, or nothing")
        return f".volatile{space}" if mode.volatile else f"{space}.{mode.cache}" if mode.cache else space
    if mode.order not in access.orders:
        raise refuse(f"PTX has {access.name} with order {', '.join(access.orders)} only")
    words = {scope: word for word, scope in SCOPES.items()} | ({Scope.QUEUE: CLUSTER} if CLUSTER in mode.tags else {})
    if mode.scope not in words or mode.volatile or mode.cache:
        raise refuse(f"PTX has {mode.order} with a scope of {', '.join(SCOPES)}, and no volatile or cache operator")
    return f".{mode.order}.{words[mode.scope]}{space}"
