"""Writes the bell file that herd7 needs for our LISA tests. It declares the annotations and the levels of scope
trees.

    herd7 -bell synth.bell -model models/ptx-rmo.cat TEST.litmus

An instruction has one list of annotations: an order, then a scope where it has one; or ``weak`` and a cache operator;
or ``volatile``. ``noreturn`` ends the list of an rmw whose result is not wanted. herd7 makes a set of each annotation
(``Acquire`` of ``acquire``), and ``tag2scope`` relates the events of one group of the scope tree; what models make of
both is in ``oracle.herd``.

Source: the bell files of herdtools7's catalogue (hsa, linux), ``lib/LISAParser.mly``, ``lib/BellCheck.ml``; herd7 of
2025 reads tests with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from corpus.laws.c11 import LEGAL_ORDERS
from corpus.laws.ptx import LOAD, STORE
from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.locations import MEMORY_REGIONS
from corpus.litmus.orders import Order, Scope

SCOPES = {
    Scope.WARP: "warp",
    Scope.CTA: "cta",
    Scope.QUEUE: "queue",
    Scope.GPU: "gpu",
    Scope.SYS: "system",
}
"""The word for each scope, narrowest first."""

CACHES = tuple(dict.fromkeys(LOAD.caches + STORE.caches))
VOLATILE = "volatile"
NO_RESULT = "noreturn"

ORDERS: Mapping[str, tuple[Order, ...]] = {
    "R": LEGAL_ORDERS[Load],
    "W": LEGAL_ORDERS[Store],
    "RMW": LEGAL_ORDERS[Rmw],
    "F": tuple(order for order in LEGAL_ORDERS[Fence] if order is not Order.RELAXED),
}
"""The orders other than weak that each kind of instruction may have."""


def bell_file() -> str:
    """Return the text of the bell file, which does not depend on the tests."""
    words = list(SCOPES.values())
    pairs = list(pairwise(words))
    lines = [
        '"Orders, scopes and cache operators of PTX"',
        "",
        f"enum scopes = {_alternatives(words)}",
        _function("narrower", [(wide, narrow) for narrow, wide in reversed(pairs)]),
        _function("wider", pairs),
        "",
        f"enum orders = {_alternatives([*Order, VOLATILE])}",
        f"enum caches = {_alternatives(CACHES)}",
        f"enum results = {_alternatives([NO_RESULT])}",
        f"enum regions = {_alternatives(MEMORY_REGIONS)}",
        "",
    ]
    for kind, orders in ORDERS.items():
        if kind in ("R", "W"):
            lines += [f"instructions {kind}[{_set([Order.WEAK, VOLATILE])}]"]
            lines += [f"instructions {kind}[{_set([Order.WEAK])},caches]"]
        for result in ("", f",{_set([NO_RESULT])}") if kind == "RMW" else ("",):
            lines += [f"instructions {kind}[{_set(orders)}{scope}{result}]" for scope in ("", ",scopes")]
    return "\n".join(lines) + "\n"


def _alternatives(words: Iterable[str]) -> str:
    return " || ".join(f"'{word}" for word in words)


def _set(words: Iterable[str]) -> str:
    return "{" + ",".join(f"'{word}" for word in words) + "}"


def _function(name: str, pairs: Iterable[tuple[str, str]]) -> str:
    cases = "".join(f"  || '{before} -> '{after}\n" for before, after in pairs)
    return f"let {name}(scope) = match scope with\n{cases}end"
