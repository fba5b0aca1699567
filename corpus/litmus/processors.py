"""Defines the words of processors: how x86, Power, Armv8 and RISC-V spell their fences and their ordered accesses.

    W.stlr x; F.dmb.ld; R.ldar y          Armv8
    F.lwsync; W x; F.sync; R y; F.isync   Power
    W x; F.fence.w.w; rmw.aq y            RISC-V

A word is a tag, the only one of its instruction. Where C has an order for the like, the instruction has that order,
too: a full fence of any processor is ``sc``, so that models of several processors can be compared by it. What orders
less than C can say has no order: ``dmb st``, ``isb``, ``eieio``, ``fence r,r``. Models read the order, or, of a word
without one, a set of its name in capitals, ``DMB.ST``.

Source: Alglave, Maranget and Tautschnig, *Herding Cats*, TOPLAS 2014 (Power); Pulte et al., *Simplifying ARM
Concurrency*, POPL 2018, and the Arm Architecture Reference Manual, B2.3 (Armv8); the RISC-V unprivileged
ISA, chapters RVWMO and A (RISC-V); Owens, Sarkar and Sewell, *A Better x86 Memory Model*, TPHOLs 2009 (x86).
Gaps: accesses of several sizes, exclusive pairs that are not one exchange (``ldxr``, ``lwarx``, ``lr``), ``dsb``,
fences of devices and of instructions (``fence.i``), loads and stores of Zalasr that are both (``aqrl``), and those of
x86 that order nothing here (``lfence``, ``sfence``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.orders import DEFAULT_RMW, Mode, Order, Scope

ProcessorWords = Mapping[type, Mapping[str, Order]]
"""The order of each word, by the kind of instruction."""

X86: ProcessorWords = {Fence: {"mfence": Order.SC}}
"""An ``rmw`` is a locked instruction, which needs no word."""
POWER: ProcessorWords = {
    Fence: {"sync": Order.SC, "lwsync": Order.ACQ_REL, "isync": Order.ACQUIRE, "eieio": Order.WEAK},
}
ARMV8: ProcessorWords = {
    Load: {"ldapr": Order.ACQUIRE, "ldar": Order.SC},
    Store: {"stlr": Order.RELEASE},
    Rmw: {"a": Order.ACQUIRE, "l": Order.RELEASE, "al": Order.ACQ_REL},
    Fence: {"dmb.sy": Order.SC, "dmb.ld": Order.ACQUIRE, "dmb.st": Order.WEAK, "isb": Order.WEAK},
}
"""An ``rmw.al`` is ``swpal`` or ``ldaddal``."""
RISCV: ProcessorWords = {
    Load: {"aq": Order.ACQUIRE},
    Store: {"rl": Order.RELEASE},
    Rmw: {"aq": Order.ACQUIRE, "rl": Order.RELEASE, "aqrl": Order.ACQ_REL},
    Fence: {
        "fence.rw.rw": Order.SC,
        "fence.tso": Order.ACQ_REL,
        "fence.r.rw": Order.ACQUIRE,
        "fence.rw.w": Order.RELEASE,
        **{f"fence.{word}": Order.WEAK for word in ("r.r", "r.w", "w.r", "w.w", "w.rw", "rw.r")},
    },
}
"""Loads with ``aq`` and stores with ``rl`` are those of the extension Zalasr."""

EXCLUSIVE = "exclusive"
"""The tag of an atomic operation that is a pair of exclusive accesses which is tried until it succeeds (``ldxr`` and
``stxr``, ``lr`` and ``sc``), where such a pair orders less than one instruction."""
RELEASING_LOAD, ACQUIRING_STORE = "lr.rl", "sc.aq"
"""The tags of such a pair whose load is a release, too (``lr.aqrl``), or whose store is an acquire (``sc.aqrl``)."""

PROCESSORS: Mapping[str, ProcessorWords] = {"x86": X86, "power": POWER, "armv8": ARMV8, "riscv": RISCV}
"""The words of each processor."""

WEAKER: Mapping[str, tuple[str, ...]] = {
    "sync": ("lwsync",),
    "lwsync": ("eieio",),
    "dmb.sy": ("dmb.ld", "dmb.st"),
    "fence.rw.rw": ("fence.tso", "fence.w.rw", "fence.rw.r"),
    "fence.tso": ("fence.r.rw", "fence.rw.w"),
    "fence.r.rw": ("fence.r.r", "fence.r.w"),
    "fence.rw.w": ("fence.r.w", "fence.w.w"),
    "fence.w.rw": ("fence.w.r", "fence.w.w"),
    "fence.rw.r": ("fence.r.r", "fence.w.r"),
}
"""The fences that order one step less than a fence does. A fence that is in no row can only be left out."""


def mode_of(kind: type, word: str) -> Mode | None:
    """Return how an instruction of a kind with this word is done, or None where no processor has the word for it."""
    order = _ORDERS.get((kind, word))
    return None if order is None else _mode(kind, order, word)


def modes_of(processor: str, kind: type) -> Iterator[Mode]:
    """Yield the ways in which a processor does instructions of a kind that have a word."""
    for word, order in PROCESSORS[processor].get(kind, {}).items():
        yield _mode(kind, order, word)


def _mode(kind: type, order: Order, word: str) -> Mode:
    """The mode of a word. What has an order is for all threads, as where a language names no scope."""
    scope = DEFAULT_RMW.scope if kind is Rmw else Scope.SYS
    return Mode(order, None if order is Order.WEAK else scope, tags=(word,))


def exclusive_mode(acquires: bool, releases: bool) -> Mode:
    """Return how a pair of exclusive accesses is done whose load acquires and whose store releases, or not."""
    order = {(False, False): Order.RELAXED, (True, False): Order.ACQUIRE, (False, True): Order.RELEASE}
    return replace(DEFAULT_RMW, order=order.get((acquires, releases), Order.ACQ_REL), tags=(EXCLUSIVE,))


def word_of(mode: Mode) -> str | None:
    """Return the word of an instruction of a processor, or None where it has none."""
    return mode.tags[0] if len(mode.tags) == 1 and mode.tags[0] in ALL_WORDS else None


_ORDERS: Mapping[tuple[type, str], Order] = MappingProxyType(
    {
        (kind, word): order
        for words in PROCESSORS.values()
        for kind, rows in words.items()
        for word, order in rows.items()
    }
)
ALL_WORDS = frozenset(word for _, word in _ORDERS)
"""The words of all processors."""
UNORDERED = tuple(sorted({word for (_, word), order in _ORDERS.items() if order is Order.WEAK}))
"""The words without an order, each of which is a set for models."""
