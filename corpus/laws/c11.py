"""States the orders of C11's atomic accesses and fences. It says where each order is legal, and what it is made of.

The orders of C++ are those of C11, and OpenCL C has scopes besides (``corpus.laws.opencl``). Source: ISO C11, 7.17; the
table of legal orders is that of Lustig et al. 2019, Fig. 10a. ``memory_order_consume`` is acquire, as every compiler
has it and C++26 says (P3475R2), under the tag ``CONSUME``.
"""

from __future__ import annotations

from collections.abc import Mapping

from corpus.litmus.instructions import Fence, Instruction, Load, Rmw, Store
from corpus.litmus.orders import Mode, Order

ORDERS: Mapping[str, Order] = {
    "memory_order_relaxed": Order.RELAXED,
    "memory_order_acquire": Order.ACQUIRE,
    "memory_order_release": Order.RELEASE,
    "memory_order_acq_rel": Order.ACQ_REL,
    "memory_order_seq_cst": Order.SC,
}
"""The orders, keyed by the words of C11."""

WORDS: Mapping[Order, str] = {order: word for word, order in ORDERS.items()}
"""The words of C11, keyed by order."""

CONSUME = "consume"
"""The tag of an instruction that is ordered as acquire and was written as consume."""

CONSUME_WORD = "memory_order_consume"
"""The spelling of consume in C and C++, which OpenCL C does not have."""

LEGAL_ORDERS: Mapping[type[Instruction], tuple[Order, ...]] = {
    Load: (Order.RELAXED, Order.ACQUIRE, Order.SC),
    Store: (Order.RELAXED, Order.RELEASE, Order.SC),
    Rmw: tuple(ORDERS.values()),
    Fence: tuple(ORDERS.values()),
}
"""The legal orders of each kind of instruction; a relaxed fence is legal, and orders nothing."""

HALVES: Mapping[Order, tuple[Order, Order]] = {
    Order.RELAXED: (Order.RELAXED, Order.RELAXED),
    Order.ACQUIRE: (Order.ACQUIRE, Order.RELAXED),
    Order.RELEASE: (Order.RELAXED, Order.RELEASE),
    Order.ACQ_REL: (Order.ACQUIRE, Order.RELEASE),
    Order.SC: (Order.SC, Order.SC),
}
"""The orders of the read and the write of an atomic operation, by the order of the whole."""

FAILURE_ORDERS: Mapping[Order, Order] = {order: read for order, (read, _) in HALVES.items()}
"""The order of the read of a compare-exchange that fails, where it is as strong as that of one that succeeds."""


def order_word(mode: Mode) -> str:
    """Return the word by which the order of an instruction was spelled."""
    return CONSUME_WORD if CONSUME in mode.tags else WORDS[mode.order]


def failure_order(exchange: Rmw) -> Order:
    """Return the order of the read of a compare-exchange that fails: any order that a load has, as since C++17
    (P0418).
    """
    return FAILURE_ORDERS[exchange.mode.order] if exchange.failure is None else exchange.failure


def explicit_failure(success: Order, failure: Order | None) -> Order | None:
    """Return the failure order of a compare-exchange as ``Rmw`` keeps it: None where the success order implies it."""
    return None if failure is FAILURE_ORDERS.get(success) else failure


WEAKER: Mapping[Order, tuple[Order, ...]] = {
    Order.SC: (Order.ACQ_REL, Order.ACQUIRE, Order.RELEASE, Order.RELAXED),
    Order.ACQ_REL: (Order.ACQUIRE, Order.RELEASE, Order.RELAXED),
    Order.ACQUIRE: (Order.RELAXED,),
    Order.RELEASE: (Order.RELAXED,),
}
"""The orders that are weaker than an order, of the orders of atomics."""

FETCHED = ("add", "sub", "and", "or", "xor")
"""The operations that have an ``atomic_fetch_`` in C11."""


_READS = {Order.ACQ_REL: Order.ACQUIRE, Order.RELEASE: Order.RELAXED}
_WRITES = {Order.ACQ_REL: Order.RELEASE, Order.ACQUIRE: Order.RELAXED}


def read_order(order: Order) -> Order:
    """Return the order of the read of an atomic access."""
    return _READS.get(order, order)


def write_order(order: Order) -> Order:
    """Return the order of the write of an atomic access."""
    return _WRITES.get(order, order)
