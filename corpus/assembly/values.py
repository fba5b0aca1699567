"""Defines what the reader of assembly knows of a value: an address, a number, or a sum of registers of the litmus test.

    256(%rdi)           AffineValue("memory", 256)                     the location at byte 256
    (%rdi,%rcx,4)       AffineValue("memory", 0, (("v1", 4),))         an address that depends on what was read
    addl $1, %ecx       AffineValue(None, 1, (("v1", 1),))             a number
    popq %rbp           AffineValue("initial %rbp")                    what the caller had in a register

Litmus registers are assigned once where the reader makes them, so a sum means the same wherever it goes. Numbers are
right modulo 2^32, as the values of litmus tests are. What is not understood is ``UNKNOWN``, and may be kept and copied,
but takes part in no event and no branch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

STACK, MEMORY, RESULTS = "stack", "memory", "results"
"""The bases of addresses: the stack, the locations of the test, and the registers that its condition asks for."""


SUCCEEDED, FAILED = "succeeded", "failed"
"""The bases of what tells of an atomic operation that is tried until it succeeds: 1 and 0 where it has, or 0 and 1."""


@dataclass(frozen=True, slots=True)
class AffineValue:
    """``base + number + factor * register + ..``; registers are sorted, and no factor is 0."""

    base: str | None
    number: int = 0
    terms: tuple[tuple[str, int], ...] = ()

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
        return AffineValue(base, self.number + other.number, tuple(sorted(factors.items())))

    def times(self, factor: int) -> AffineValue | None:
        """Return the product with a constant; None for an address, and for 0 times something that was read."""
        if factor == 1:
            return self
        if self.base is not None or (factor == 0 and self.terms):
            return None
        return AffineValue(None, self.number * factor, tuple((name, each * factor) for name, each in self.terms))

    def moved(self, number: int) -> AffineValue:
        """Return the value plus a number."""
        return replace(self, number=self.number + number)


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """A value that is not understood, and why, in words that end a sentence."""

    reason: str


MachineValue = AffineValue | UnknownValue


@dataclass(frozen=True, slots=True)
class ComparedFlags:
    """The flags after a comparison of two values; ``wide`` where 64 bits are compared."""

    left: MachineValue
    right: MachineValue
    wide: bool = False


NOTHING = ComparedFlags(UnknownValue("no comparison sets these flags"), UnknownValue("no comparison sets these flags"))


def number(value: int) -> AffineValue:
    """Return a constant."""
    return AffineValue(None, value)


def register(name: str) -> AffineValue:
    """Return what a register of the litmus test holds."""
    return AffineValue(None, 0, ((name, 1),))
