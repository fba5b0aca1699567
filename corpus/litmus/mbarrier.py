"""What an ``mbarrier`` of PTX holds, and what instructions do to it (PTX ISA 9.1, 9.7.13.15).

>>> barrier = MBARRIER_OPERATIONS["init"](0, 2)
>>> arrived = MBARRIER_OPERATIONS["arrive"](barrier, 1)
>>> Mbarrier.of(arrived)
Mbarrier(expected=2, pending=1, tx=0, phase=0)
>>> Mbarrier.of(MBARRIER_OPERATIONS["arrive"](arrived, 1))
Mbarrier(expected=2, pending=2, tx=0, phase=1)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Mbarrier:
    """The state of an ``mbarrier`` (PTX ISA 9.1, 9.7.13.15.1): how many arrivals its phase expects and how many of
    these are pending, how many bytes of asynchronous operations are (``tx``), and the number of its phase.

    How an object of 64 bits holds these is not specified, and this way is as good as any.
    """

    expected: int
    pending: int
    tx: int = 0
    phase: int = 0

    @classmethod
    def of(cls, bits: int) -> Mbarrier:
        """Return the state that an object holds."""
        tx = bits >> 40 & (1 << 21) - 1
        return cls(bits >> 20 & _COUNT, bits & _COUNT, tx - (tx >> 20 << 21), bits >> 61 & 7)

    @classmethod
    def expecting(cls, arrivals: int, size: int = 0) -> Mbarrier:
        """Return the state in which the first phase still expects arrivals, and bytes."""
        return cls(max(arrivals, 1), arrivals, size)

    def __str__(self) -> str:
        tx = f", tx {self.tx}" if self.tx else ""
        return f"(phase {self.phase}, pending {self.pending}{tx})"

    def bits(self) -> int:
        """Return the object that holds the state, as a signed number."""
        bits = self.phase << 61 | (self.tx & (1 << 21) - 1) << 40 | self.expected << 20 | self.pending
        return bits - (bits >> 63 << 64)

    def changed(self, pending: int = 0, tx: int = 0, expected: int = 0) -> Mbarrier:
        """Return the state after these are added; a phase with nothing pending is complete, and the next one begins."""
        now = Mbarrier(max(self.expected + expected, 0), max(self.pending + pending, 0), self.tx + tx, self.phase)
        return now if now.pending or now.tx else Mbarrier(now.expected, now.expected, 0, (now.phase + 1) % PHASES)


_COUNT = (1 << 20) - 1
PHASES = 8
"""How many phases are told apart: a wait is for the present phase or for the one before."""


def _update(**signs: int) -> Callable[[int, int], int]:
    """Return the function of an object and a number that adds the number, so often, to parts of the state."""

    def updated(bits: int, number: int) -> int:
        return Mbarrier.of(bits).changed(**{part: sign * number for part, sign in signs.items()}).bits()

    return updated


def _dropped(bits: int) -> int:
    state = Mbarrier.of(bits)
    return replace(state, expected=state.expected - 1).bits()


def _arrived_expecting(bits: int, number: int) -> int:
    """Return the object after bytes are expected, and then one arrival."""
    state = Mbarrier.of(bits)
    return replace(state, tx=state.tx + number).changed(pending=-1).bits()


MBARRIER_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "init": lambda bits, number: Mbarrier(number, number).bits(),
    "arrive": _update(pending=-1),
    "arrive_drop": _update(pending=-1, expected=-1),
    "arrive_expect": _arrived_expecting,
    "drop_expect": lambda bits, number: _arrived_expecting(_dropped(bits), number),
    "expect_tx": _update(tx=1),
    "complete_tx": _update(tx=-1),
    "increment": _update(pending=1),
    "pending_count": lambda bits, _: Mbarrier.of(bits).pending,
    "phase": lambda bits, token: int(Mbarrier.of(bits).phase != Mbarrier.of(token).phase),
    "parity": lambda bits, parity: int(Mbarrier.of(bits).phase % 2 != parity),
}
"""What instructions do to an ``mbarrier``, or ask of it, given the object and one number (9.7.13.15)."""
