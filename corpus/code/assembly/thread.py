"""Holds what a thread of a processor is while it is followed: its code so far, and what registers and the stack hold.

A register of the processor or a slot of the stack holds a value of ``corpus.code.assembly.values``. What is read from
memory is a fresh register of the litmus test, and so is what is computed of it, so that dependencies through registers
are those of the code:

    ldar w8, [x9]              v0 := [x] ldar        x9 is AffineValue("memory", 256)
    and w8, w8, #0x40000000    v1 := v0 and 2^30
    ldr w8, [x0, w8, uxtw #2]  v2 := x + v1; v3 := [v2]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from corpus.code.assembly.harness import CompiledNames
from corpus.code.assembly.text import AssemblyLine
from corpus.code.assembly.values import AffineValue, ComparedFlags, MachineValue, UnknownValue
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Instruction, Load, Rmw, registers_written
from corpus.litmus.locations import Operand

Key = str | tuple[str, int]
"""A register of the processor, or a byte of the stack or of ``results``."""

READ = "v"
"""The first letter of registers of the litmus test that hold what was read, or what was computed of it."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What is kept in so many bytes of the stack."""

    value: MachineValue
    size: int


@dataclass(frozen=True, slots=True)
class OpenPair:
    """An exclusive load whose store has not come yet: where it reads, as a sum and as an operand, and its result."""

    place: AffineValue
    address: Operand
    target: str


Content = MachineValue | ComparedFlags | Slot | OpenPair


@dataclass(slots=True)
class ProcessorState:
    """What registers of a processor, slots of the stack and flags hold at a place of the code."""

    known: dict[Key, Content] = field(default_factory=dict)

    def copy(self) -> ProcessorState:
        """Return a state that may change by itself."""
        return ProcessorState(dict(self.known))

    def get(self, key: str) -> MachineValue:
        """Return what a register holds."""
        found = self.known.get(key)
        if not isinstance(found, AffineValue | UnknownValue):
            return UnknownValue(f"{key} holds nothing that is known")
        return found

    def put(self, key: Key, value: Content) -> None:
        """Put a value into a register or a place."""
        self.known[key] = value

    def forget(self, key: Key) -> None:
        """Forget what a register or place holds."""
        self.known.pop(key, None)


@dataclass(frozen=True, slots=True)
class Emitted:
    """An instruction of the litmus test with the line of assembly that it comes from."""

    instruction: Instruction
    origin: AssemblyLine


@dataclass(frozen=True, slots=True)
class NumberRange:
    """What is known of all numbers. ``signless``: none of the test is less than 0; ``signed``: registers of 64 bits
    keep numbers of 32 with their sign.
    """

    signless: bool
    signed: bool


@dataclass(slots=True)
class AssemblyThread:
    """A thread while it is followed, whose instructions go to ``code``.

    ``taken`` are the names that the test has already, ``kept`` the locations that stand for bytes of ``results``.
    ``definitions`` has the instruction that gives a register of the litmus test its value, and ``bits`` those registers
    that are 0 or 1. ``in_loop``: the instruction at hand, ``here``, is in a loop.
    """

    names: CompiledNames
    taken: Collection[str]
    kept: Mapping[int, str]
    numbers: NumberRange
    definitions: dict[str, Instruction] = field(default_factory=dict)
    bits: set[str] = field(default_factory=set)
    made: dict[str, int] = field(default_factory=dict)
    code: list[Emitted] = field(default_factory=list)
    here: AssemblyLine = field(default_factory=lambda: AssemblyLine(1, "", ()))
    in_loop: bool = False

    def wrong(self, reason: str, line: AssemblyLine | None = None) -> InputError:
        """Return the error for what is not understood in an instruction, that at hand or another one."""
        line = line or self.here
        return InputError(f"{line}: {reason}", line=line.line)

    def new_register(self, letter: str = READ) -> str:
        """Return a register of the litmus test that is not used yet."""
        number = self.made.get(letter, 0)
        while (name := f"{letter}{number}") in self.taken:
            number += 1
        self.made[letter] = number + 1
        return name

    def put(self, instruction: Instruction) -> None:
        """Append an instruction to the code."""
        self.code.append(Emitted(instruction, self.here))
        for name in registers_written(instruction):
            self.definitions[name] = instruction

    def assignment(self, name: str) -> Assign | None:
        """Return what computes a register of the litmus test; None where it was read."""
        found = self.definitions.get(name)
        return found if isinstance(found, Assign) else None

    def is_read(self, name: str) -> bool:
        """Decide whether a register holds what was read from memory."""
        return isinstance(self.definitions.get(name), Load | Rmw)
