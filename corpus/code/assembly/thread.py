"""A thread of a processor while it is followed: what registers and the stack hold, and the code that is left of it.

A register of the processor or a slot of the stack holds an address, a number or a sum of registers of the litmus test
(``Affine``). What is read from memory is a fresh register of the litmus test, which is assigned once, and so is what is
computed of it, so that dependencies through registers are those of the code:

    ldar w8, [x9]              v0 := [x] ldar        x9 is Affine(MEMORY, (), 256)
    and w8, w8, #0x40000000    v1 := v0 and 2^30
    ldr w8, [x0, w8, uxtw #2]  v2 := x + v1; v3 := [v2]

A number is one of 64 bits, with its sign. A sum with registers is right modulo 2^32, as the values of litmus tests are;
the upper half of a machine's register is that of the sum, too, unless it is ``low``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from corpus.code import ir
from corpus.code.assembly import harness
from corpus.code.assembly.harness import CompiledNames
from corpus.code.places import Array, RegisterHome, argument_array
from corpus.code.refusals import NotUnderstoodError, refusal
from corpus.code.residual import Access, ResidualWriter
from corpus.code.thread import FollowedThread, State
from corpus.code.values import Affine, Unknown, Value
from corpus.litmus.instructions import Assign, Instruction, Load, Rmw, registers_written

STACK = Array("local", 0, "stack")
"""The memory of the thread alone that its stack pointer points to."""
MEMORY, RESULTS = argument_array(harness.MEMORY), argument_array(harness.RESULTS)
"""The locations of the test, and the registers that its condition asks for."""

MachineValue = Affine | Unknown
"""What a register of a processor holds."""

READ = "v"
"""The first letter of registers of the litmus test that hold what was read, or what was computed of it."""


@dataclass
class ProcessorState(State):
    """A place in the code of a processor, with what its registers, flags and slots of the stack hold there."""

    def get(self, register: str) -> MachineValue:
        """Return what a register holds; ``Unknown`` where no number or address is known to be there."""
        found = self.known.get(RegisterHome(0, register))
        if not isinstance(found, Affine | Unknown):
            return Unknown(f"{register} holds nothing that is known")
        return found

    def find(self, name: str) -> Value | None:
        """Return what a register or flag holds, None where nothing was put there."""
        return self.known.get(RegisterHome(0, name))

    def put(self, name: str, value: Value) -> None:
        """Put a value into a register or flag."""
        self.known[RegisterHome(0, name)] = value

    def forget(self, name: str) -> None:
        """Forget what a register or flag holds, if anything was put there."""
        self.known.pop(RegisterHome(0, name), None)


class SumWriter(ResidualWriter):
    """Writes the residual program of a thread whose registers are assigned once.

    ``definitions`` has the instruction that gives a register its value, ``bits`` those registers that are 0 or 1.
    ``made`` counts registers by the first letter of their names, of which none is ``taken``.
    """

    def __init__(self, module: ir.Module, taken: Collection[str]) -> None:
        super().__init__(module, 0, False)
        self.definitions: dict[str, Instruction] = {}
        self.bits: set[str] = set()
        self.made: dict[str, int] = {}
        self._taken = taken

    def new_register(self, letter: str = READ) -> str:
        """Return a register that is not used yet."""
        number = self.made.get(letter, 0)
        while (name := f"{letter}{number}") in self._taken:
            number += 1
        self.made[letter] = number + 1
        return name

    def put(self, instruction: Instruction, access: Access | None = None, more: tuple[Access, ...] = ()) -> None:
        """Append an instruction, which defines the registers that it writes."""
        super().put(instruction, access, more)
        for name in registers_written(instruction):
            self.definitions[name] = instruction

    def wrong(self, what: str, origin: ir.KernelInstruction | None = None) -> NotUnderstoodError:
        """Return the error for an instruction, that at hand or another one."""
        return refusal(self._module, origin or self.origin, what, self._grows)

    def assignment(self, name: str) -> Assign | None:
        """Return what computes a register; None where it was read."""
        found = self.definitions.get(name)
        return found if isinstance(found, Assign) else None

    def is_read(self, name: str) -> bool:
        """Decide whether a register holds what was read from memory."""
        return isinstance(self.definitions.get(name), Load | Rmw)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """What is known of all numbers. ``signless``: none of the test is less than 0; ``signed``: registers of 64 bits
    keep numbers of 32 with their sign.
    """

    signless: bool
    signed: bool


@dataclass(frozen=True, slots=True)
class CompiledThread:
    """What is known of a thread that was compiled. ``names`` says what lies in its memory and its results, ``kept`` has
    the locations that stand for bytes of the results.
    """

    names: CompiledNames
    kept: Mapping[int, str]
    numbers: NumberRange


@dataclass(frozen=True)
class ProcessorThread(FollowedThread):
    """A thread of a processor, whose registers of the litmus test are assigned once."""

    out: SumWriter
    compiled: CompiledThread = CompiledThread(CompiledNames({}, {}), {}, NumberRange(False, False))
