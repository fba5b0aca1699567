"""States the modes of PTX instructions and their words (PTX ISA, 9.7). Words are ``.relaxed.gpu``, ``.cg`` and
``.volatile``, for example.

A load or a store is weak, with a cache operator or ``volatile`` or neither, or has an order and a scope. An atomic has
an order and a scope, and so has a fence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from corpus.errors import InputError
from corpus.litmus.instructions import AsyncOperation, Barrier
from corpus.litmus.orders import CLUSTER, COPIES, FENCED, INIT, MBARRIER, ONE_WAY, RELAXED, SCOPES, Mode, Order, Scope

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

REGISTER_FENCE = "register-fence"
"""The tag of a fence for registers that asynchronous operations access."""

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
    "wgmma.fence.sync.aligned": Mode(tags=("async", REGISTER_FENCE)),
    "tcgen05.fence::before_thread_sync": Mode(tags=("before-sync",)),
    "tcgen05.fence::after_thread_sync": Mode(tags=("after-sync",)),
    **{
        f"fence.proxy.tensormap::generic.{order}.{word}": Mode(
            order, scope, tags=(*([CLUSTER] if word == CLUSTER else []), ONE_WAY, "tensormap")
        )
        for order in (Order.RELEASE, Order.ACQUIRE)
        for word, scope in {**SCOPES, CLUSTER: Scope.QUEUE}.items()
    },
    "fence.mbarrier_init.release.cluster": Mode(Order.RELEASE, Scope.QUEUE, tags=(CLUSTER, INIT)),
}
"""The fences of proxies, and of what initialises mbarriers, by their words."""
PROXY_FENCE_WORDS: Mapping[Mode, str] = {mode: words for words, mode in PROXY_FENCES.items()}
"""The words of these fences."""

ARRIVALS, WAITS = (Order.RELEASE, Order.RELAXED), (Order.ACQUIRE, Order.RELAXED)
"""The orders of arrivals at an mbarrier, and of waits (PTX ISA 9.1, 9.7.13.15), the stronger first."""
MBARRIER_ARRIVALS: Mapping[str, str] = {
    "mbarrier.arrive": "mbarrier.arrive",
    "mbarrier.arrive_drop": "mbarrier.arrive_drop",
    "mbarrier.arrive_expect": "mbarrier.arrive.expect_tx",
    "mbarrier.drop_expect": "mbarrier.arrive_drop.expect_tx",
}
"""The words of the operations on an mbarrier that give its phase."""
MBARRIER_COUNTS = ("mbarrier.expect_tx", "mbarrier.complete_tx")
"""The operations on an mbarrier that give nothing."""
MBARRIER_ORDERS: Mapping[str, tuple[Order, ...]] = {
    **dict.fromkeys(MBARRIER_ARRIVALS.values(), ARRIVALS),
    **dict.fromkeys(MBARRIER_COUNTS, (Order.RELAXED,)),
    **dict.fromkeys(("mbarrier.test_wait", "mbarrier.test_wait.parity"), WAITS),
}
"""The orders of what is done to an mbarrier, by its words."""

CLUSTER_BARRIER = 16
"""The number of the barrier of a cluster, which PTX has without one; those of CTAs have 0 to 15."""
_OF_CLUSTER = Mode(scope=Scope.QUEUE, tags=(CLUSTER,))
CLUSTER_BARRIERS: Mapping[str, Barrier] = {
    "barrier.cluster.arrive.release": Barrier(CLUSTER_BARRIER, arrive=True, mode=_OF_CLUSTER, scope=Scope.QUEUE),
    "barrier.cluster.arrive.relaxed": Barrier(
        CLUSTER_BARRIER, arrive=True, mode=replace(_OF_CLUSTER, tags=(CLUSTER, RELAXED)), scope=Scope.QUEUE
    ),
    "barrier.cluster.wait.acquire": Barrier(CLUSTER_BARRIER, wait=True, mode=_OF_CLUSTER, scope=Scope.QUEUE),
}
"""The two halves of the barrier of a cluster, by their words (PTX ISA 9.1, 9.7.13.3)."""
_ASSUMED = {"barrier.cluster.arrive": ".release", "barrier.cluster.wait": ".acquire"}


def cluster_barrier(opcode: str) -> Barrier | None:
    """Return what a ``barrier.cluster`` is whose order may be left out, and which may be ``.aligned``."""
    words = opcode.removesuffix(".aligned")
    return CLUSTER_BARRIERS.get(words + _ASSUMED.get(words, ""))


ASYNC_FENCE = "fence.proxy.async"
"""The word of the fence between the generic and the async proxy, for all state spaces."""

COMPLETE_TX = "mbarrier::complete_tx::bytes"
"""The word of asynchronous operations that complete at an mbarrier."""
BULK_COPY = Mode(tags=("async",))
"""How bulk copies access memory, and ``st.async``."""
TENSOR_MAP = Mode(tags=("tensormap",))
"""How tensor copies read their tensor maps."""
BULK_REDUCTION = Mode(Order.RELAXED, Scope.GPU, tags=("async",))
"""How ``cp.reduce.async.bulk`` updates its destination."""
WARPGROUP_PRODUCT = Mode(tags=("async", "mma"))
"""How ``wgmma.mma_async`` accesses shared memory and registers."""
TENSOR_ACCESS = Mode(tags=("async", "tcgen05"))
"""How ``tcgen05.ld`` and ``tcgen05.st`` access tensor memory and registers."""
TENSOR_COPY = Mode(tags=("async", "cp", "tcgen05"))
"""How ``tcgen05.cp`` accesses tensor memory and shared memory."""
MATRIX_PRODUCT = Mode(tags=("async", "mma", "tcgen05"))
"""How ``tcgen05.mma`` accesses tensor memory and shared memory."""
TENSOR_COMPLETION = Mode(tags=("tcgen05",))
"""What the completion of operations on tensor memory is besides a completion."""
REMOTE_REDUCTION = Mode(Order.RELAXED, Scope.QUEUE, tags=("async", CLUSTER))
"""How ``red.async`` updates its destination."""


def of_mbarrier(mode: Mode) -> Mode:
    """Return the mode in which something is done to an mbarrier."""
    return replace(mode, tags=tuple(sorted((*mode.tags, MBARRIER))))


MBARRIER_SCOPES: Mapping[str, Mode] = {
    "cta": Mode(scope=Scope.CTA),
    CLUSTER: Mode(scope=Scope.QUEUE, tags=(CLUSTER,)),
}
"""The modes of the scopes that mbarriers are used with, narrowest first, without an order."""


def mbarrier_modes(orders: tuple[Order, ...]) -> tuple[Mode, ...]:
    """Return the modes with these orders in which something may be done to an mbarrier."""
    return tuple(of_mbarrier(replace(mode, order=order)) for order in orders for mode in MBARRIER_SCOPES.values())


def weaker(mode: Mode) -> tuple[Mode, ...]:
    """Return the modes that are weaker than that of something done to an mbarrier, or of a fence of the async proxy.

    The first have a narrower scope, or are relaxed; the others are for one state space.
    """
    if MBARRIER in mode.tags and mode.scope is not None:
        orders = tuple(dict.fromkeys((mode.order, Order.RELAXED)))
        ways = (way for way in mbarrier_modes(orders) if way.scope and way.scope.value >= mode.scope.value)
    elif mode == PROXY_FENCES[ASYNC_FENCE]:
        ways = (way for words, way in PROXY_FENCES.items() if words.startswith(f"{ASYNC_FENCE}."))
    else:
        return ()
    return tuple(way for way in ways if way != mode)


INITIALISING = of_mbarrier(Mode(tags=(INIT,)))
"""How an mbarrier is initialised: weakly."""
COMPLETION = of_mbarrier(Mode(Order.RELEASE, Scope.QUEUE, tags=(CLUSTER,)))
"""How an asynchronous operation completes at an mbarrier (PTX ISA 9.1, ``cp.async.bulk``)."""
TRACKING = of_mbarrier(Mode(Order.RELEASE, Scope.CTA))
"""How an arrival that waits for earlier operations is done (PTX ISA 9.1, ``cp.async.mbarrier.arrive``)."""


def completion(operation: AsyncOperation) -> Mode:
    """Return how an asynchronous operation completes at an mbarrier."""
    mode = TRACKING if operation.group == COPIES else COMPLETION
    tags = operation.mode.tags if operation.target is None else ()
    return replace(mode, tags=tuple(sorted({*mode.tags, *tags})))


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
