"""Computes on values of which only some are known when machine code is read.

A value is a number, its 32 bits; or a register of the test that is read, plus a number (``Relative``); or nothing is
known of it (``None``), which is an error only where it decides something. What cannot be computed now becomes an
``Assign`` of the test. Example: with 0x100 in R4 and what a load has read in R2, ``IADD3 R6, R2, R4, 0x8`` leaves
``R2 + 0x108`` in R6, and no instruction, but for a move.

Which opcodes compute what is said in ``corpus.code.sass.computing``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from corpus.litmus.arithmetic import compute as calculated
from corpus.litmus.instructions import COMPARISONS
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.ptx_arithmetic import compute, signed

ALL = 0xFFFFFFFF
"""Every bit of a register."""


@dataclass(frozen=True, slots=True)
class Relative:
    """A number that is added to what a register of the test holds."""

    register: str
    offset: int = 0


MachineValue = int | Relative | None
Emit = Callable[..., Relative]
"""Makes an ``Assign`` of the test, by its operation and operands, and returns the register that holds the result."""


@dataclass(frozen=True)
class Arithmetic:
    """Computes on values; ``emit`` takes what stays."""

    emit: Emit

    def operand(self, value: int | Relative) -> Operand:
        """Return a value as an operand of the test."""
        match value:
            case int():
                return signed(value & ALL, 32)
            case Relative(register, 0):
                return Reg(register)
            case Relative(register, offset):
                return Reg(self.emit("add", Reg(register), signed(offset & ALL, 32)).register)

    def binary(self, operation: str, one: MachineValue, other: MachineValue) -> MachineValue:
        """Return the result of an instruction of PTX by its opcode, such as ``shr.u32``."""
        if one is None or other is None:
            return None
        if isinstance(one, int) and isinstance(other, int):
            return calculated(operation, signed(one & ALL, 32), signed(other & ALL, 32)) & ALL
        return self.emit(operation, self.operand(one), self.operand(other))

    def total(self, values: Sequence[MachineValue]) -> MachineValue:
        """Return a sum."""
        number, found = 0, None
        for value in values:
            match value:
                case None:
                    return None
                case int():
                    number += value
                case Relative(register, offset):
                    number += offset
                    found = (
                        Relative(register) if found is None else self.emit("add", Reg(found.register), Reg(register))
                    )
        return number & ALL if found is None else replace(found, offset=(found.offset + number) & ALL)

    def negative(self, value: MachineValue) -> MachineValue:
        """Return a value with the other sign."""
        if isinstance(value, int):
            return -value & ALL
        return self.binary("sub", 0, value)

    def product(self, one: MachineValue, other: MachineValue) -> MachineValue:
        """Return the low half of a product."""
        for number, value in ((one, other), (other, one)):
            if number == 0:
                return 0
            if number == 1:
                return value
        return self.binary("mul", one, other)

    def logic(self, table: int, values: Sequence[MachineValue]) -> MachineValue:
        """Return what the table of ``LOP3.LUT`` gives for three values (PTX ISA 9.1, ``lop3``).

        Of bits that are not known, the result is a sum modulo 2 of products, with a mask for each: its algebraic
        normal form.
        """
        if any(value is None for value in values):
            return None
        known = [value for value in values if value is not None]
        unknown = [place for place, value in enumerate(known) if not isinstance(value, int)]

        def at(ones: Sequence[int]) -> int:
            """The result where these of the unknown values have all bits, and the others none."""
            bits = [value if isinstance(value, int) else ALL * (place in ones) for place, value in enumerate(known)]
            return compute("lop3", ("b32",), [*(each & ALL for each in bits), table])

        masks: dict[tuple[int, ...], int] = {}
        for size in range(len(unknown) + 1):
            for chosen in combinations(unknown, size):
                mask = at(chosen)
                for less in range(size):
                    for smaller in combinations(chosen, less):
                        mask ^= masks[smaller]
                masks[chosen] = mask
        number = masks.pop(())
        given = {place: self.operand(known[place]) for place in unknown}
        used = {chosen: mask for chosen, mask in masks.items() if mask}
        if len(used) == 3 and len(set(used.values())) == 1 and number == 0 and len(unknown) == 2:  # x|y = x^y^(x&y)
            both = self.emit("or", *given.values())
            return self._masked(both, next(iter(used.values())))
        result: MachineValue = None
        for chosen, mask in used.items():
            term: Relative | Operand = given[chosen[0]]
            for place in chosen[1:]:
                term = Reg(self.emit("and", term, given[place]).register)
            assert isinstance(term, Reg)
            part = self._masked(Relative(term.name), mask)
            result = part if result is None else self.binary("xor", result, part)
        if result is None:
            return number
        return result if number == 0 else self.binary("xor", result, number)

    def _masked(self, value: Relative, mask: int) -> Relative:
        return value if mask == ALL else self.emit("and", Reg(value.register), signed(mask, 32))

    def compared(self, words: Sequence[str], one: MachineValue, other: MachineValue) -> MachineValue:
        """Return whether a comparison holds, by the words of ``ISETP``: ``NE``, and ``U32`` for unsigned numbers."""
        name = next((word.lower() for word in words if word.lower() in COMPARISONS), None)
        if name is None or one is None or other is None:
            return {"T": 1, "F": 0}.get(words[0]) if words else None
        unsigned = "U32" in words and name not in ("eq", "ne")
        if isinstance(one, int) and isinstance(other, int):
            pair = (one & ALL, other & ALL) if "U32" in words else (signed(one & ALL, 32), signed(other & ALL, 32))
            return int(_COMPARED[name](*pair))
        return self.emit(f"setp.{name}.u32" if unsigned else name, self.operand(one), self.operand(other))

    def both(self, operation: str, one: MachineValue, other: MachineValue) -> MachineValue:
        """Return two predicates as one, by ``AND``, ``OR`` or ``XOR``."""
        for value, more in ((one, other), (other, one)):
            if (operation, value) in (("AND", 0), ("OR", 1)):
                return value
            if (operation, value) in (("AND", 1), ("OR", 0), ("XOR", 0)):
                return more
        return self.binary(operation.lower(), one, other)

    def opposite(self, predicate: MachineValue) -> MachineValue:
        """Return the opposite of a predicate."""
        return predicate ^ 1 if isinstance(predicate, int) else self.binary("xor", predicate, 1)


_COMPARED: Mapping[str, Callable[[int, int], bool]] = {name: getattr(operator, name) for name in COMPARISONS}
