"""What is known of a thread while its machine code is followed, and the operands of instructions by that.

A register is known by its name, ``R2``, ``UR4`` or ``P0``. Bank 0 of constant memory holds the parameters of the
kernel, which are taken to be numbers here, and bank 3 the marks of accesses, which are zeros
(``backends.cuda.memory``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from corpus.code.sass.text import MARKS
from corpus.code.sass.values import ALL, Arithmetic, MachineValue, Relative

WORD = 4
"""Bytes of a word."""

MEMORY, RESULTS, STACK = 0x7_1000_0000, 0x7_8000_0000, 0x00FF_0000
"""Where memory, results and the stack of the thread are taken to be."""

PREDICATE = re.compile(r"!?U?P(\d+|T)")
"""A predicate as an operand."""
NOWHERE = ("RZ", "URZ", "PT", "UPT")
"""Registers that keep nothing."""

_PARAMETERS = ((100, 0x380), (90, 0x210), (0, 0x160))
"""Where parameters begin in bank 0, from a compute capability on."""
_STACKS = ((100, 0x37C), (0, 0x28))
"""Where bank 0 keeps the first address of the stack, from a compute capability on."""
_REGISTER = re.compile(r"(U?R)(\d+)")
_NUMBER = re.compile(r"-?0x[0-9a-f]+")
_CONSTANT = re.compile(r"c\[0x([0-9a-f]{1,4})\]\[(?:(U?R(?:\d+|Z))\+?)?(?:0x([0-9a-f]{1,8}))?\]")


@dataclass
class SassState:
    """A place in the code with what is known there: of registers, of predicates, and of the thread's own memory.

    ``calls`` are the places where functions go back to.
    """

    function: str
    place: int = 0
    calls: tuple[tuple[str, int], ...] = ()
    known: dict[str, MachineValue] = field(default_factory=dict)
    own: dict[int, MachineValue] = field(default_factory=dict)

    def copy(self) -> SassState:
        """Return a state that changes by itself."""
        return replace(self, known=dict(self.known), own=dict(self.own))

    @property
    def key(self) -> object:
        """What two states have in common from which the same is done."""
        return (self.function, self.place, self.calls, frozenset(self.known.items()), frozenset(self.own.items()))


class UndecidedError(Exception):
    """A predicate that the running program decides, and the register of the test that holds it."""

    def __init__(self, predicate: str, holder: str) -> None:
        super().__init__(predicate)
        self.predicate, self.holder = predicate, holder


def by_capability(rows: Sequence[tuple[int, int]], capability: int) -> int:
    """Return the number that stands for a compute capability, of rows that each say from which one on theirs does."""
    return next(value for least, value in rows if capability >= least)


def next_register(register: str, step: int = 1) -> str:
    """Return the register so many after one; the rest of RZ is RZ."""
    found = _REGISTER.fullmatch(register)
    return register if found is None else f"{found[1]}{int(found[2]) + step}"


@dataclass(frozen=True)
class SassOperands:
    """The values of operands; ``special`` has those of special registers."""

    arithmetic: Arithmetic
    capability: int
    special: Mapping[str, int]

    def value(self, state: SassState, text: str) -> MachineValue:
        """Return the value of an operand, of 32 bits."""
        text = text.removesuffix(".reuse")
        if _NUMBER.fullmatch(text):
            return int(text, 16) & ALL
        if text.startswith("-"):
            return self.arithmetic.negative(self.value(state, text[1:]))
        if text.startswith("~"):
            return self.arithmetic.binary("xor", self.value(state, text[1:]), ALL)
        if text in NOWHERE:
            return 0
        if text.startswith("c["):
            return self.constants(state, text, 1)[0]
        return state.known.get(text)

    def pair(self, state: SassState, text: str) -> tuple[MachineValue, MachineValue]:
        """Return both halves of an operand of 64 bits."""
        text = text.removesuffix(".reuse")
        if text.startswith("c["):
            low, high = self.constants(state, text, 2)
            return low, high
        if _REGISTER.fullmatch(text):
            return state.known.get(text), state.known.get(next_register(text))
        return self.value(state, text), 0

    def constants(self, state: SassState, text: str, words: int) -> list[MachineValue]:
        """Return so many words of constant memory from ``c[0x0][R2+0x160]`` on."""
        found = _CONSTANT.fullmatch(text)
        index = self.value(state, found[2] or "0x0") if found is not None else None
        if found is None or not isinstance(index, int):
            return [None] * words
        first = (index + int(found[3] or "0", 16)) & ALL
        return [self._constant(int(found[1], 16), first + WORD * step) for step in range(words)]

    def _constant(self, bank: int, offset: int) -> MachineValue:
        if bank == MARKS:
            return 0
        if bank == 0 and offset == by_capability(_STACKS, self.capability):
            return STACK
        given = (MEMORY & ALL, MEMORY >> 32, RESULTS & ALL, RESULTS >> 32, 0)  # memory, results, seed
        number, rest = divmod(offset - by_capability(_PARAMETERS, self.capability), WORD)
        return given[number] if bank == 0 and rest == 0 and 0 <= number < len(given) else None

    def predicate(self, state: SassState, text: str) -> MachineValue:
        """Return the value of a predicate, 0 or 1."""
        name = text.lstrip("!")
        value: MachineValue = 1 if name in NOWHERE else state.known.get(name)
        return self.arithmetic.opposite(value) if text.startswith("!") else value

    def decided(self, state: SassState, text: str) -> bool | None:
        """Return a predicate that decides what is done; None where nothing is known of it. Raises ``UndecidedError``
        where the running program decides it.
        """
        name = text.lstrip("!")
        value = self.predicate(state, name)
        if isinstance(value, Relative):
            raise UndecidedError(name, value.register)
        return None if value is None else bool(value) != text.startswith("!")

    def address(self, state: SassState, text: str) -> MachineValue:
        """Return the low half of an address: ``desc[UR4][R2.64+0x10]``, ``[R2.U32+UR4]``, ``[R7.X4]``."""
        parts = re.findall(r"(-?)(U?R(?:\d+|Z)|0x[0-9a-f]+)((?:\.\w+)*)", text[text.rindex("[") :])
        values: list[MachineValue] = []
        for sign, name, suffix in parts:
            value = self.value(state, sign + name)
            scale = re.search(r"\.X(\d+)", suffix)
            values.append(self.arithmetic.product(value, int(scale[1])) if scale else value)
        return self.arithmetic.total(values)
