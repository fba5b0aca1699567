"""Defines what the reader of assembly knows of a value: an address, a number, or a sum of registers of the litmus test.

    256(%rdi)           AffineValue("memory", 256)                     the location at byte 256
    (%rdi,%rcx,4)       AffineValue("memory", 0, (("v1", 4),))         an address that depends on what was read
    addl $1, %ecx       AffineValue(None, 1, (("v1", 1),))             a number
    popq %rbp           AffineValue("initial %rbp")                    what the caller had in a register

Litmus registers are assigned once where the reader makes them, so a sum means the same wherever it goes. A number is
one of 64 bits, with its sign. A sum with registers is right modulo 2^32, as the values of litmus tests are; the upper
half of a machine's register is that of the sum, too, unless it is ``low``. What is not understood is ``UnknownValue``,
and may be kept and copied, but takes part in no event and no branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

STACK, MEMORY, RESULTS = "stack", "memory", "results"
"""The bases of addresses: the stack, the locations of the test, and the registers that its condition asks for."""


@dataclass(frozen=True, slots=True)
class AffineValue:
    """``base + number + factor * register + ..``; registers are sorted, and no factor is 0. ``low``: of the sum, only
    the lowest 32 bits are known.
    """

    base: str | None
    number: int = 0
    terms: tuple[tuple[str, int], ...] = ()
    low: bool = False

    @property
    def constant(self) -> int | None:
        """The number that the value is, whatever is read; None where it is another one."""
        return None if self.base is not None or self.terms else self.number

    def plus(self, other: AffineValue) -> AffineValue | None:
        """Return the sum; None where both are addresses, or where a register falls out of it, and a dependency with
        it.
        """
        if self.base is not None and other.base is not None:
            return None
        factors = dict(self.terms)
        for register, factor in other.terms:
            factors[register] = factors.get(register, 0) + factor
        if 0 in factors.values():
            return None
        base = self.base if other.base is None else other.base
        return _made(base, self.number + other.number, factors, self.low or other.low)

    def times(self, factor: int) -> AffineValue | None:
        """Return the product with a constant; None for an address, and for 0 times something that was read."""
        if factor == 1:
            return self
        if self.base is not None:
            return None
        return _made(None, self.number * factor, {name: each * factor for name, each in self.terms}, self.low)

    def moved(self, number: int) -> AffineValue:
        """Return the value plus a number."""
        return replace(self, number=wrap_wide(self.number + number))


def wrap_wide(number: int) -> int:
    """Return a number modulo 2^64, with its sign."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _made(base: str | None, number: int, factors: Mapping[str, int], low: bool) -> AffineValue | None:
    """A sum modulo 2^64; None where a register falls out of it."""
    terms = tuple(sorted((name, wrap_wide(factor)) for name, factor in factors.items()))
    return None if any(factor == 0 for _, factor in terms) else AffineValue(base, wrap_wide(number), terms, low)


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """A value that is not understood, and why, in words that end a sentence."""

    reason: str


MachineValue = AffineValue | UnknownValue


@dataclass(frozen=True, slots=True)
class ComparedFlags:
    """The flags after a comparison of two values; ``wide`` where 64 bits are compared, ``signless`` where what is less
    and greater is so without a sign.
    """

    left: MachineValue
    right: MachineValue
    wide: bool = False
    signless: bool = False


NOTHING = ComparedFlags(UnknownValue("no comparison sets these flags"), UnknownValue("no comparison sets these flags"))


def number(value: int) -> AffineValue:
    """Return a constant."""
    return AffineValue(None, wrap_wide(value))


def register(name: str) -> AffineValue:
    """Return what a register of the litmus test holds."""
    return AffineValue(None, 0, ((name, 1),))
