"""What is left of a thread that is followed: instructions of a litmus test, each with its origin and its accesses.

ld.acquire.gpu.u32 %r2, [flag];      Load("r2", place of flag) from line 12, Access(flag, 0, 4)
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from corpus.code import ir
from corpus.code.places import Array
from corpus.code.refusals import NotUnderstoodError, refusal
from corpus.litmus.instructions import Assign, Branch, Instruction
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.ptx_arithmetic import signed

ASSUME = "assume"
"""The word behind ``MARK`` of a thread that has stopped where what the program takes for granted does not hold."""

DOUBT = "doubt_about_"
"""The beginning of the names of registers that say whether a result is not determined, behind ``MARK``."""

OBJECT_MADE, GIVEN_BACK, UNTOLD = "made", "freed", "untold"
"""The words behind ``MARK`` of an object that a thread has made, or has given back, or of which nothing tells where it
leads at the end, where that is asked."""

END = "END"
"""The label behind the last instruction of a residual program."""

MARK = "stopped_by_"
"""The beginning of the names of registers that say why a thread has stopped: a trap, an assertion."""

PLACE = "'"
"""What stands between the word of such a register and the place of the source that the finding is of, if any."""

UNMEANT = "unmeant"
"""Why a thread is followed no further that computes with an address what has no meaning, such as its square."""

SOME_NUMBER = 0x7F00_0000
"""What stands for values that nothing tells begins here."""

_APART, _APART_AT_MOST = 0x9E37_79B1, 1 << 24
"""How far apart the numbers are that stand for such values: no program has them, nor their sums and differences."""


def why_of(mark: str) -> str:
    """Return why a thread stops, by the register that says so: ``bounds`` of ``stopped_by_bounds'7_3``."""
    return mark.removeprefix(MARK).partition(PLACE)[0]


def object_mark(word: str, array: Array) -> str:
    """Return the register that says that an object has been made, or given back: ``stopped_by_made'object_6_1``."""
    return f"{MARK}{word}{PLACE}{array.name.replace('.', '_')}"


def is_of_object(mark: str) -> bool:
    """Decide whether a register says of an object that it has been made, or given back."""
    return mark.startswith(MARK) and why_of(mark) in (OBJECT_MADE, GIVEN_BACK, UNTOLD)


def mark_of(why: str, origin: ir.KernelInstruction | None) -> str:
    """Return the register that says why a thread has stopped, or has come to a finding, at an instruction."""
    place = origin.source if origin is not None else None
    return f"{MARK}{why}" + (f"{PLACE}{place.line}_{place.column}" if place is not None else "")


class Access(NamedTuple):
    """An access of the residual program: the array, the offset in bytes (None: it is computed), and the size.

    ``limit``: a computed index is at most this, the number of elements, which stands for all that are outside. Where
    addresses are in bytes, places are computed from ``start`` to before ``end`` that are ``step`` bytes apart, and
    ``limit`` is the place that stands for all outside. ``released``: the memory is given back; ``created``: it is there
    from then on, which is a write as another thread sees it.
    """

    array: Array
    offset: int | None
    size: int
    limit: int | None = None
    start: int = 0
    step: int = 0
    end: int = 0
    released: bool = False
    created: bool = False


class Residual(NamedTuple):
    """An instruction of the residual program with the instruction of the code that it comes from."""

    instruction: Instruction
    origin: ir.KernelInstruction | None
    access: Access | None = None
    more: tuple[Access, ...] = ()
    """The other accesses of an asynchronous operation: what it reads, and the mbarrier where it completes."""
    untold: str = ""
    """What the value is that an assignment gives, where nothing tells it and it is some number."""
    doubtful: str = ""
    """The register of which an assignment notes whether its value is not determined."""

    @property
    def accesses(self) -> tuple[Access, ...]:
        """All accesses of the instruction, the one that it is named for before the others."""
        return self.more if self.access is None else (self.access, *self.more)


_INTEGER = re.compile(r"[bsu](\d+)")


@cache
def _odd_width(operation: str) -> int | None:
    """Return the bits of numbers that an operation is of and that registers do not have; None where it has others."""
    name, *words = operation.split(".")
    widths = [int(found[1]) for found in map(_INTEGER.fullmatch, words) if found]
    if name == "cvt" and "pred" in words:
        widths.append(1)
    return next((width for width in widths if width not in _HELD), None)


_HELD = (8, 16, 32, 64)
"""The bits of numbers that are computed with."""


class ResidualWriter:
    """Writes the residual program of a thread. ``origin`` is the instruction of the code that is done; registers that
    are made for it are numbered within it. ``thread`` is a number that no other thread has.
    """

    def __init__(self, module: ir.Module, thread: int, grows: bool) -> None:
        self.code: list[Residual] = []
        self.origin: ir.KernelInstruction | None = None
        self._module, self._thread, self._grows = module, thread, grows
        self._registers = self._labels = self._unknown = 0

    def begin(self, origin: ir.KernelInstruction | None) -> None:
        """Go on to another instruction of the code."""
        self.origin, self._registers = origin, 0

    def put(self, instruction: Instruction, access: Access | None = None, more: tuple[Access, ...] = ()) -> None:
        """Append an instruction that ``origin`` becomes, the access that it is named for, and ``more`` accesses."""
        self.code.append(Residual(instruction, self.origin, access, more))

    def temporary(self, operation: str, *operands: Operand) -> str:
        """Append a computation into a register of its own, and return the register."""
        if (odd := _odd_width(operation)) is not None:
            raise self.wrong(f"a number of {odd} bits that memory gives is not understood")
        name = self.new_register()
        self.put(Assign(name, operation, operands))
        return name

    def new_register(self) -> str:
        """Return a register that the instruction of the code has for itself."""
        self._registers += 1
        line = 0 if self.origin is None else self.origin.line
        return f"t{line}_{self._registers}"

    def new_label(self) -> str:
        """Return a label that nothing else has."""
        self._labels += 1
        return f"M{self._labels}"

    def some_number(self, reason: str, width: int) -> Reg:
        """Return a register with some number of so many bits, in place of a value that nothing tells, and why."""
        self._unknown += 1
        which = (self._thread << 8) + self._unknown
        number = signed(SOME_NUMBER + which * _APART % _APART_AT_MOST, width)
        register = self.new_register()
        self.code.append(Residual(Assign(register, "mov", (number,)), self.origin, untold=reason))
        return Reg(register)

    def stops(self, why: str) -> bool:
        """Mark that the thread comes to a trap, a failed assertion or the like, where it ends; return False."""
        self.marks(why)
        self.put(Branch(END))
        return False

    def marks(self, why: str) -> None:
        """Mark that the thread comes to what is a finding; of programs that have no launch, each place has its mark."""
        self.put(Assign(mark_of(why, self.origin if self._grows else None), "mov", (1,)))

    def wrong(self, what: str) -> NotUnderstoodError:
        """Return the error for the instruction at hand."""
        return refusal(self._module, self.origin, what, self._grows)
