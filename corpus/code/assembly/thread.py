"""Reads the assembly of one thread by abstract interpretation: what a table of instructions calls, whatever the
processor.

A register of the processor or a slot of the stack holds a value of ``corpus.code.assembly.values``. Moves, spills and
sums with constants are such values and nothing else. What is read from memory is a fresh register of the litmus test,
and so is what is computed of it, so that dependencies through registers are those of the code:

    ldar w8, [x9]              v0 := [x] ldar        x9 is AffineValue("memory", 256)
    and w8, w8, #0x40000000    v1 := v0 and 2^30
    ldr w8, [x0, w8, uxtw #2]  v2 := x + v1; v3 := [v2]

Where ways meet, a value that differs is moved to a fresh register on each of them.

**Exclusive pairs** (``ldxr`` and ``stxr``, ``lwarx`` and ``stwcx.``, ``lr`` and ``sc``) whose failure leads back to the
first are one atomic operation, whose store succeeds at once. An attempt that fails reads, and nobody asks for what it
has read; so the outcomes are the same. A branch out of the pair is that of a compare-exchange. A loop around x86's
``cmpxchg`` is one operation, too, and the load before it stays a load.

Gaps, each of which is refused by name: other loops, accesses of shared memory that are not of 32 bits, tables of
addresses, calls, vectors, and comparisons of 64 bits whose upper halves are not known.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from corpus.code.assembly.harness import WORD, CompiledNames
from corpus.code.assembly.text import AssemblyLine
from corpus.code.assembly.values import (
    FAILED,
    MEMORY,
    NOTHING,
    RESULTS,
    STACK,
    SUCCEEDED,
    AffineValue,
    ComparedFlags,
    MachineValue,
    UnknownValue,
    number,
    register,
)
from corpus.errors import InputError
from corpus.litmus.arithmetic import compute, wrap
from corpus.litmus.instructions import (
    COMPARISONS,
    NEGATED,
    Assign,
    Branch,
    Comparison,
    Fence,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
)
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.orders import PLAIN, Mode

Key = str | tuple[str, int]
"""A register of the processor, or a byte of the stack or of ``results``."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What is kept in so many bytes of the stack."""

    value: MachineValue
    size: int


@dataclass(slots=True)
class Emitted:
    """A place in the code of a thread and what stands there, with what is computed for it right before.

    An exclusive load has a place whose instruction its store says. ``private``: a store that no other thread sees.
    """

    instruction: Instruction | None
    line: int
    before: list[Emitted] = field(default_factory=list)
    private: bool = False


@dataclass(frozen=True, slots=True)
class OpenPair:
    """An exclusive load whose store has not come yet: ``emitted`` is where the operation of both will stand.

    ``tags``: what is peculiar to the load; ``known``: how many registers of the litmus test there were before it;
    ``expected``: what its result is compared with.
    """

    emitted: Emitted
    address: AffineValue
    operand: Operand
    target: str
    acquires: bool
    tags: tuple[str, ...]
    known: int
    expected: Operand | None = None


Content = MachineValue | ComparedFlags | Slot | OpenPair
State = dict[Key, Content]

_OF_SIGN = {"lt": "ne", "ge": "eq"}
"""What a comparison of a number with 0 asks of the bit of its sign."""
_TRIED = (0, 1, 2, 3)
"""Numbers that tests have."""
_TRUTHS = {SUCCEEDED: (1, 0), FAILED: (0, 1)}

PAIR = "pair"
"""The key of the exclusive pair that is open."""

SIGNED = {"ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}
"""The comparison of two numbers that are not negative, for each that is without a sign."""
_HALF = 1 << 31
"""The least number of 32 bits that is negative with a sign."""
_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
"""The operations whose lowest 32 bits are those of any larger width."""


@dataclass(frozen=True, slots=True)
class AskedBranch:
    """A branch where ``left operation right`` holds, of operands of the litmus test."""

    comparison: Comparison


@dataclass(slots=True)
class WatchedLoop:
    """What the code of a loop has read, of what it began with, what it has written, and how
    many events it has.
    """

    begun: State
    events: int = 0
    read: set[Key] = field(default_factory=set)
    written: set[Key] = field(default_factory=set)


class AssemblyThread:
    """A thread while it is read. ``state`` is what registers hold, and the instructions go to ``code``.

    ``signless``: no number of the test is less than 0; ``signed``: registers of 64 bits keep numbers of 32 with their
    sign.

    ``assumed``: an atomic operation that may fail has just been taken to succeed, and the next branch must lead back
    where it fails; it says which register that was read before then is read by the operation itself. ``loops``: whether
    the code is in a loop; ``asks_success``: whether a branch has asked for that success.
    """

    def __init__(
        self, names: CompiledNames, taken: Collection[str], kept: Mapping[int, str], signless: bool, signed: bool
    ) -> None:
        self._names = names
        self._kept = kept
        self.signless = signless
        self._signed = signed
        self._taken = taken
        self._meaning: dict[str, Assign] = {}
        self._bits: set[str] = set()
        self._read: set[str] = set()
        self._loaded: set[str] = set()
        self._made = 0
        self.state: State = {}
        self.code: list[Emitted] = []
        self.watched: list[WatchedLoop] = []
        self.assumed: Mapping[str, str] | None = None
        self._attempt: Emitted | None = None
        self.loops = False
        self.asks_success = False
        self.here = AssemblyLine(1, "", ())

    def refuse(self, reason: str, line: int | None = None) -> InputError:
        """Return the error for what is not understood, at its line."""
        return InputError(f"{self.here}: {reason}", line=self.here.line if line is None else line)

    # registers and what is in them

    def content(self, key: Key) -> Content | None:
        """Return what a register or a place of the stack holds; None where nothing was put there."""
        for loop in self.watched:
            if key not in loop.written:
                loop.read.add(key)
        return self.state.get(key)

    def put(self, key: Key, value: Content) -> None:
        """Put a value into a register or a place."""
        for loop in self.watched:
            loop.written.add(key)
        self.state[key] = value

    def get(self, key: str) -> MachineValue:
        """Return what a register holds."""
        found = self.content(key)
        if not isinstance(found, AffineValue | UnknownValue):
            return UnknownValue(f"{key} holds nothing that is known")
        return found

    def forget(self, key: Key) -> None:
        """Forget what a register or place holds."""
        for loop in self.watched:
            loop.written.add(key)
        self.state.pop(key, None)

    def flags(self, operation: str, key: str = "flags") -> ComparedFlags:
        """Return the flags that an operation asks, of a processor or of one of its fields of flags."""
        part = " carry" if operation in SIGNED else "" if operation in ("eq", "ne") else " order"
        found = self.content(f"{key}{part}")
        return found if isinstance(found, ComparedFlags) else NOTHING

    def flags_of_sign(self) -> ComparedFlags:
        """Return the flags of a comparison with 0, of which alone the flag of the sign is understood."""
        found = self.flags("eq")
        unknown = UnknownValue("a sign of a difference is not understood")
        return found if found.right == number(0) else ComparedFlags(unknown, number(0))

    def compare(
        self,
        left: MachineValue,
        right: MachineValue,
        wide: bool = False,
        carry: bool = True,
        order: bool = True,
        key: str = "flags",
    ) -> None:
        """Set flags by a comparison. Without ``carry``, the comparisons without a sign tell something else; without
        ``order`` those with one do, as after a sum that may not fit.
        """
        flags = ComparedFlags(left, right, wide)
        self.put(key, flags)
        self.put(f"{key} carry", flags if carry else NOTHING)
        self.put(f"{key} order", flags if order else NOTHING)

    def no_flags(self, reason: str, key: str = "flags") -> None:
        """Set flags of which nothing is known."""
        self.compare(UnknownValue(reason), UnknownValue(reason), key=key)

    # computing

    def fresh(self) -> str:
        """Return a register of the litmus test that is not used yet."""
        while (name := f"v{self._made}") in self._taken:
            self._made += 1
        self._made += 1
        return name

    def emit(self, instruction: Instruction, private: bool = False) -> None:
        """Append an instruction to the code."""
        if PAIR in self.state:
            raise self.refuse("it stands within an exclusive pair")
        for loop in self.watched:
            loop.events += 1
        self.code.append(Emitted(instruction, self.here.line, private=private))

    def assigned(self, operation: str, *operands: Operand) -> AffineValue:
        """Return a fresh register with the result of an operation."""
        target = self.fresh()
        assign = Assign(target, operation, operands)
        self.code.append(Emitted(assign, self.here.line))
        self._meaning[target] = assign
        is_logic = operation in ("and", "or", "xor") and all(map(self._bit, operands))
        if operation in COMPARISONS or operation.startswith("setp.") or is_logic:
            self._bits.add(target)
        return register(target)

    def _bit(self, operand: Operand) -> bool:
        return operand in (0, 1) or (isinstance(operand, Reg) and operand.name in self._bits)

    def operand(self, value: MachineValue) -> Operand:
        """Return a number as an operand of an instruction. Raises ``InputError`` for what is none, or not known."""
        if isinstance(value, UnknownValue):
            raise self.refuse(value.reason)
        if value.base in _TRUTHS:
            return _TRUTHS[value.base][0]
        if value.base is not None:
            raise self.refuse("an address or a register of the caller is used as a number")
        return self._summed(value.number, value.terms)

    def _summed(self, constant: int, terms: tuple[tuple[str, int], ...]) -> Operand:
        total: Operand = wrap(constant)
        for name, factor in terms:
            term: Operand = Reg(name)
            if wrap(factor) != 1:
                (single,) = self.assigned("mul", term, wrap(factor)).terms
                term = Reg(single[0])
            if total == 0:
                total = term
            else:
                ((single_name, _),) = self.assigned("add", total, term).terms
                total = Reg(single_name)
        return total

    def add(self, left: MachineValue, right: MachineValue) -> MachineValue:
        """Return a sum."""
        if isinstance(left, UnknownValue):
            return left
        if isinstance(right, UnknownValue):
            return right
        if (total := left.plus(right)) is not None:
            return total
        if left.base is not None or right.base is not None:
            return UnknownValue("a sum of addresses is not understood")
        return replace(self.assigned("add", self.operand(left), self.operand(right)), low=True)

    def subtract(self, left: MachineValue, right: MachineValue) -> MachineValue:
        """Return a difference."""
        if isinstance(right, UnknownValue):
            return right
        negative = right.times(-1)
        if negative is None:
            return UnknownValue("an address is subtracted")
        if isinstance(left, AffineValue) and left.plus(negative) is None:
            return self.compute("sub", left, right)
        return self.add(left, negative)

    def computed(self, operation: str, left: MachineValue, right: MachineValue) -> MachineValue:
        """Return the result of an operation on two numbers, a sum or difference as such."""
        if operation == "add":
            return self.add(left, right)
        return self.subtract(left, right) if operation == "sub" else self.compute(operation, left, right)

    def compute(self, operation: str, left: MachineValue, right: MachineValue) -> MachineValue:
        """Return the result of an operation of litmus tests on two numbers."""
        for value in (left, right):
            if isinstance(value, UnknownValue):
                return value
            if value.base in _TRUTHS:
                if operation == "and" and value is left and right == number(1):
                    return value
                return UnknownValue("what is computed of the success of an operation is not understood")
            if value.base is not None:
                return UnknownValue(f"'{operation}' of an address is not understood")
        assert isinstance(left, AffineValue) and isinstance(right, AffineValue)
        one, other = left.constant, right.constant
        if one is not None and other is not None and operation in _COMPUTED:
            return number(_COMPUTED[operation](one, other))
        if any(each is not None and not -_HALF <= each < 2 * _HALF for each in (one, other)):
            return UnknownValue(f"'{operation}' of more than 32 bits is not understood")
        if one is not None and other is not None:
            return number(compute(operation, wrap(one), wrap(other)))
        if operation == "and" and other is not None and self._keeps(left, other):
            return left if other == -1 else self.lowered(left)
        if operation in ("or", "xor", "add", "sub") and other == 0:
            return left
        if operation in ("or", "xor", "add") and one == 0:
            return right
        if operation in ("or", "xor"):
            for constant, value in ((one, right), (other, left)):
                if constant is not None and constant & self._possible(value) == 0:
                    return value.moved(constant)  # no bit is in both
        masked = operation == "and" and any(each is not None and 0 <= each < _HALF for each in (one, other))
        kept = all(map(self.is_whole if self._signed else self.is_word, (left, right)))
        low = operation in ("mul", "sub") or (operation in _COMPUTED and not masked and not kept)
        return replace(self.assigned(operation, self.operand(left), self.operand(right)), low=low)

    def _possible(self, value: AffineValue) -> int:
        """The bits that a number may have, as far as a mask before says it."""
        if value.number == 0 and len(value.terms) == 1 and value.terms[0][1] == 1:
            made = self._meaning.get(value.terms[0][0])
            if made is not None and made.operation == "and":
                masks = [each & 0xFFFFFFFF for each in made.operands if isinstance(each, int)]
                inner = [self._possible(register(each.name)) for each in made.operands if isinstance(each, Reg)]
                return reduce(operator.and_, [*masks, *inner], 0xFFFFFFFF)
            if made is not None and made.operation == "shr.u32" and isinstance(made.operands[1], int):
                return 0xFFFFFFFF >> made.operands[1] % 32
        return 1 if self.is_bit(value) else 0xFFFFFFFF

    def _range(self, value: AffineValue) -> tuple[int, int]:
        """The least and the greatest number that a sum may be, of registers of 32 bits with their sign."""
        lowest = highest = value.number
        for name, factor in value.terms:
            possible = self._possible(register(name))
            whole = possible >= _HALF and not (self.signless and name in self._read)
            ends = factor * (-_HALF if whole else 0), factor * min(possible, _HALF - 1)
            lowest, highest = lowest + min(ends), highest + max(ends)
        return lowest, highest

    def is_whole(self, value: MachineValue) -> bool:
        """Whether the 64 bits of a value are a number of 32 bits with its sign."""
        if not isinstance(value, AffineValue) or value.base is not None or value.low:
            return False
        lowest, highest = self._range(value)
        fits = (-_HALF if self._signed or not value.terms else 0) <= lowest and highest < _HALF
        single = value.number == 0 and [factor for _, factor in value.terms] == [1]
        return fits or (single and self._signed)

    def is_word(self, value: AffineValue) -> bool:
        """Whether the 64 bits of a value are some 32 with zeros above, where that is how registers keep numbers."""
        single = value.number == 0 and [factor for _, factor in value.terms] == [1]
        lowest, highest = self._range(value)
        most = _HALF if value.terms else 2 * _HALF
        return value.base is None and not value.low and (single or (lowest >= 0 and highest < most))

    def word(self, value: AffineValue) -> AffineValue:
        """Return the lowest 32 bits of a number with zeros above, in a register of their own where need be."""
        found = self.extended(value, False)
        if isinstance(found, AffineValue) and found.low:
            operand = self.operand(value)
            assert isinstance(operand, Reg)
            return register(operand.name)
        assert isinstance(found, AffineValue)
        return found

    def lowered(self, value: MachineValue) -> MachineValue:
        """Return the lowest 32 bits of a value, extended as registers of 64 bits keep them here."""
        return self.extended(value, self._signed)

    def extended(self, value: MachineValue, signed: bool) -> MachineValue:
        """Return the lowest 32 bits of a value, with their sign or with zeros above."""
        if isinstance(value, UnknownValue) or value.base in _TRUTHS:
            return value
        if value.base is not None:
            return UnknownValue("half of an address is not understood")
        if value.constant is not None:
            low = wrap(value.constant)
            return number(low if signed else low % (2 * _HALF))
        lowest, highest = self._range(value)
        if (-_HALF if signed else 0) <= lowest and highest < _HALF:
            return replace(value, low=False)
        if self._signed and signed and (value.number or [factor for _, factor in value.terms] != [1]):
            found = self.operand(value)
            assert isinstance(found, Reg)
            return register(found.name)
        single = value.number == 0 and [factor for _, factor in value.terms] == [1]
        return replace(value, low=not (single and signed == self._signed))

    def _keeps(self, value: AffineValue, mask: int) -> bool:
        """Whether a mask keeps all bits that a number may have."""
        return wrap(mask) == -1 or (mask & 1 == 1 and self.is_bit(value))

    def is_bit(self, value: MachineValue) -> bool:
        """Decide whether a value is 0 or 1."""
        if not isinstance(value, AffineValue) or value.base is not None:
            return isinstance(value, AffineValue) and value.base in _TRUTHS
        if not value.terms:
            return value.number in (0, 1)
        return (
            value.number == 0 and len(value.terms) == 1 and value.terms[0][1] == 1 and value.terms[0][0] in self._bits
        )

    def shifted(self, value: MachineValue, left: int, wide: bool = False) -> MachineValue:
        """Return a number moved by so many bits to the left, or to the right where they are less than 0; ``wide``: all
        64 bits of it.
        """
        if isinstance(value, UnknownValue):
            return value
        if left >= 0:
            return value.times(1 << left) or UnknownValue("a shifted address is not understood")
        if value.constant is not None:
            return number((value.constant & (1 << (64 if wide else 32)) - 1) >> -left)
        if left == 0:
            return value
        if value.base is not None:
            return UnknownValue("a shifted address is not understood")
        if not wide:
            return self.compute("shr.u32", value, number(-left))
        if not value.low and self._range(value)[0] >= 0 and self._range(value)[1] < _HALF:
            return self.compute("shr.u32", value, number(-left))
        (name, factor), *others = value.terms
        if value.number == 0 and not others and not value.low:
            up = factor.bit_length() - 1
            if factor == 1 << up and 32 <= up < 64:
                # What is left of the number are its lowest bits.
                kept = register(name)
                rest = kept if up == 32 else self.compute("and", kept, number((1 << (64 - up)) - 1))
                return self.shifted(rest, up + left)
        return UnknownValue("a shift of 64 bits is not understood")

    def byte(self, value: MachineValue) -> MachineValue:
        """Return the lowest byte of a value that is known to be no larger."""
        if isinstance(value, UnknownValue) or self.is_bit(value):
            return value
        if value.constant is not None:
            return number(value.constant & 0xFF)
        return UnknownValue("one byte of a larger number is not understood")

    def holds(self, operation: str, flags: ComparedFlags) -> MachineValue:
        """Return 1 or 0: whether a comparison holds. ``operation`` is one of litmus tests or of ``SIGNED``."""
        for value in (flags.left, flags.right):
            if isinstance(value, UnknownValue):
                return value
        if operation in _OF_SIGN and (bit := self._bit_of_sign(flags)) is not None:
            return self.holds(_OF_SIGN[operation], ComparedFlags(bit, number(0)))
        if (told := self._told(operation, flags)) is not None:
            return number(told[0]) if told[0] == told[1] else AffineValue(SUCCEEDED if told[0] else FAILED)
        if (known := _known_comparison(operation, flags)) is not None:
            return number(known)
        return self.compute(self._checked(operation, flags), flags.left, flags.right)

    def _checked(self, operation: str, flags: ComparedFlags) -> str:
        """The operation of litmus tests that a comparison is: one of 32 bits, with or without a sign."""
        left, right = flags.left, flags.right
        if flags.wide and left != right:
            if not self._signed and not self.signless:
                raise self.refuse("a test with negative numbers, and it compares 64 bits")
            if not (self.is_whole(left) and self.is_whole(right)):
                raise self.refuse("a comparison of numbers of 64 bits")
        plain = SIGNED.get(operation, operation)
        ranges = [self._range(each) for each in (left, right) if isinstance(each, AffineValue)]
        if operation in SIGNED and not all(lowest >= 0 and highest < _HALF for lowest, highest in ranges):
            return f"setp.{plain}.u32"
        return plain

    def _bit_of_sign(self, flags: ComparedFlags) -> MachineValue | None:
        """The bit of what was read that has been moved to the sign of 64 bits, where a comparison is of such a one."""
        left = flags.left
        if not flags.wide or flags.right != number(0) or not isinstance(left, AffineValue) or left.low:
            return None
        if len(left.terms) == 1:
            ((name, factor),) = left.terms
            up = factor.bit_length() - 1
            if left.base is None and left.number == 0 and factor == 1 << up and 32 <= up < 64:
                bit = 1 << (63 - up)
                return self.compute("and", register(name), number(bit))
        return None

    def asked(self, operation: str, flags: ComparedFlags) -> bool | AskedBranch:
        """Return whether a branch is taken, or what it asks where what was read decides."""
        left, right = flags.left, flags.right
        if operation in _OF_SIGN and (bit := self._bit_of_sign(flags)) is not None:
            return self.asked(_OF_SIGN[operation], ComparedFlags(bit, number(0)))
        if (told := self._told(operation, flags)) is not None:
            self.asks_success = told[0] != told[1]
            return told[0] == 1
        if isinstance(left, AffineValue) and isinstance(right, AffineValue):
            if (known := _known_comparison(operation, flags)) is not None:
                return known == 1
            meant = self._meaning.get(left.terms[0][0]) if self.is_bit(left) and left.terms else None
            if right.constant == 0 and operation in ("eq", "ne") and meant and meant.operation in COMPARISONS:
                held = meant.operation if operation == "ne" else NEGATED[meant.operation]
                return AskedBranch(Comparison(held, *meant.operands))
        operation = self._checked(operation, flags)
        operands = self.operand(left), self.operand(right)
        if operation in COMPARISONS:
            return AskedBranch(Comparison(operation, *operands))
        ((holder, _),) = self.assigned(operation, *operands).terms
        return AskedBranch(Comparison("ne", Reg(holder), 0))

    def _told(self, operation: str, flags: ComparedFlags) -> tuple[int, int] | None:
        """The results of a comparison of the success of an operation, where it succeeds and where it fails."""
        left, right = flags.left, flags.right
        if not isinstance(left, AffineValue) or left.base not in _TRUTHS or not isinstance(right, AffineValue):
            return None
        if right.constant is None:
            return None
        one, other = (compute(SIGNED.get(operation, operation), each, right.constant) for each in _TRUTHS[left.base])
        return one, other

    def select(self, condition: MachineValue, one: MachineValue, other: MachineValue) -> MachineValue:
        """Return one value where a condition (1 or 0) holds, and another where it does not."""
        if isinstance(condition, UnknownValue):
            return condition
        if condition.constant is not None:
            return one if condition.constant else other
        if one == number(1) and other == number(0):
            return condition
        for value in (one, other):
            if isinstance(value, UnknownValue):
                return value
            if value.base is not None:
                return UnknownValue("a choice between addresses is not understood")
        negated = self.subtract(number(1), condition)
        return self.add(self.compute("mul", condition, one), self.compute("mul", negated, other))

    # memory

    def _place(self, address: MachineValue, size: int) -> AffineValue:
        if isinstance(address, UnknownValue):
            raise self.refuse(address.reason)
        if address.base not in (STACK, MEMORY, RESULTS):
            raise self.refuse("it accesses memory at an address that is not understood")
        if address.base != MEMORY and address.terms:
            raise self.refuse(f"it accesses the {address.base} at an address that was computed of what was read")
        if address.base != STACK and size != WORD:
            raise self.refuse(f"an access of {size} bytes, and locations have {WORD}")
        if address.base != STACK and address.low:
            raise self.refuse("an address of which only the lowest 32 bits are known")
        return address

    def _address(self, place: AffineValue) -> Operand:
        name = self._names.locations.get(place.number)
        if name is None or any(factor % WORD for _, factor in place.terms):
            raise self.refuse(f"byte {place.number} of the memory is no location of the test")
        if not place.terms:
            return Loc(name)
        if any(self._tried(place.terms, read) for read in _TRIED):
            raise self.refuse("an address that is another one for each value that is read")
        added = self._summed(0, tuple((each, factor // WORD) for each, factor in place.terms))
        ((target, _),) = self.assigned("add", Loc(name), added).terms
        return Reg(target)

    def _tried(self, terms: tuple[tuple[str, int], ...], read: int) -> int:
        """What is added to an address where all that is read is one number. It is 0 for every number of a test, or the
        address is of no location.
        """
        values: dict[str, int] = {}

        def value(name: str) -> int:
            if name not in values:
                made = self._meaning.get(name)
                operands = (
                    []
                    if made is None
                    else [
                        each if isinstance(each, int) else value(each.name)
                        for each in made.operands
                        if not isinstance(each, Loc)
                    ]
                )
                values[name] = read if made is None else compute(made.operation, *operands)
            return values[name]

        return sum(factor * value(name) for name, factor in terms)

    def load(self, address: MachineValue, size: int, mode: Mode = PLAIN) -> MachineValue:
        """Return what a load of so many bytes gives."""
        place = self._place(address, size)
        if place.base == MEMORY:
            target = self.fresh()
            self._loaded.add(target)
            self._read.add(target)
            self.emit(Load(target, self._address(place), mode))
            return register(target)
        slot = self.content((str(place.base), place.number))
        if not isinstance(slot, Slot):
            return UnknownValue("it reads of the stack what was not put there")
        if slot.size < size:
            return UnknownValue("it reads more bytes of the stack than were put there")
        return self.byte(slot.value) if size == 1 else self.lowered(slot.value) if size == WORD else slot.value

    def store(self, address: MachineValue, size: int, value: MachineValue, mode: Mode = PLAIN) -> None:
        """Store a value of so many bytes."""
        place = self._place(address, size)
        if place.base == MEMORY:
            self.emit(Store(self._address(place), self.operand(value), mode))
            return
        key = (str(place.base), place.number)
        if place.base == RESULTS:
            if place.number not in self._kept:
                raise self.refuse(f"byte {place.number} of the results is no register of this thread")
            self.emit(Store(Loc(self._kept[place.number]), self.operand(value), mode), private=True)
        else:
            for other, slot in list(self.state.items()):
                if not isinstance(slot, Slot) or not isinstance(other, tuple) or other[0] != STACK or other == key:
                    continue
                if other[1] < key[1] + size and key[1] < other[1] + slot.size:
                    self.forget(other)
        self.put(key, Slot(self.byte(value) if size == 1 else value, size))

    def fence(self, mode: Mode) -> None:
        """Append a fence."""
        self.emit(Fence(mode))

    def control(self, name: str) -> None:
        """Append a branch on what a register holds whose two ways are one: what comes after depends on it."""
        label, read = f"C{self.fresh()}", Reg(name)
        self.code.append(Emitted(Branch(label, Comparison("eq", read, read)), self.here.line))
        self.code.append(Emitted(Label(label), self.here.line))

    def update(
        self,
        operation: str,
        address: MachineValue,
        operands: tuple[MachineValue, ...],
        mode: Mode,
        wanted: bool = True,
    ) -> MachineValue:
        """Return what an atomic operation has read."""
        place = self._place(address, WORD)
        if place.base != MEMORY:
            raise self.refuse(f"an atomic operation on the {place.base}")
        target = self.fresh() if wanted else None
        given = tuple(self.operand(value) for value in operands)
        if target is not None:
            self._read.add(target)
        self.emit(Rmw(operation, target, self._address(place), given, mode))
        return UnknownValue("nothing is read") if target is None else register(target)

    # pairs of exclusive accesses

    def load_exclusive(self, address: MachineValue, acquires: bool, tags: tuple[str, ...] = ()) -> MachineValue:
        """Begin an exclusive pair, and return what its load reads. ``tags`` are what is peculiar to the load."""
        place = self._place(address, WORD)
        if PAIR in self.state or place.base != MEMORY:
            raise self.refuse("it begins an exclusive pair within another one, or not of a location")
        operand = self._address(place)
        known, target = self._made, self.fresh()
        self._read.add(target)
        emitted = Emitted(None, self.here.line)
        self.code.append(emitted)
        for loop in self.watched:
            loop.events += 1
        self.put(PAIR, OpenPair(emitted, place, operand, target, acquires, tags, known))
        return register(target)

    def store_exclusive(
        self, address: MachineValue, value: MachineValue, mode: Callable[[bool], Mode], once: bool = False
    ) -> str:
        """End an exclusive pair, and return the register that holds what its load has read.

        ``mode`` says how the operation is done whose load acquires, or does not. ``once``: it may be a compare-exchange
        that is not tried again, where nothing asks whether it succeeds.
        """
        pair = self.state.get(PAIR)
        if not isinstance(pair, OpenPair) or pair.address != address:
            raise self.refuse("an exclusive store without a load of the same address before it")
        self.forget(PAIR)
        if pair.expected is not None:
            operation, operands = "cas", (value,)
            if self._of(value, pair.target):
                raise self.refuse("a compare-exchange that stores what it has read")
        else:
            operation, operand = self._function(value, pair.target)
            operands = (operand,)
        outer, self.code = self.code, pair.emitted.before
        given = tuple(self.operand(each) for each in operands)
        self.code = outer
        if pair.expected is not None:
            given = (pair.expected, *given)
        for each in (*operands, *given):
            names = [name for name, _ in each.terms] if isinstance(each, AffineValue) else []
            if any(self._number(name) >= pair.known for name in names):
                raise self.refuse("the operand of an exclusive pair is computed within it")
        done = mode(pair.acquires)
        done = replace(done, tags=tuple(sorted({*done.tags, *pair.tags})))
        made = Rmw(operation, pair.target, pair.operand, given, done)
        pair.emitted.instruction = made
        self.assumed, self._attempt = {}, pair.emitted if once and pair.expected is not None else None
        return pair.target

    def tried_once(self) -> bool:
        """Decide whether the operation that was taken to succeed is one attempt, whose success nothing has asked for;
        then it may fail, and nothing is known of its success.
        """
        if self._attempt is None or self.asks_success:
            return False
        made = self._attempt.instruction
        assert isinstance(made, Rmw)
        self._attempt.instruction = replace(made, success=self.fresh())
        self.assumed = self._attempt = None
        for key, value in self.state.items():
            inner = value.value if isinstance(value, Slot) else value
            if isinstance(inner, AffineValue) and inner.base in _TRUTHS:
                self.state[key] = UnknownValue("the success of an exchange that may fail is not understood")
        return True

    def compare_exchange(
        self, address: MachineValue, expected: MachineValue, value: MachineValue, mode: Mode
    ) -> tuple[AffineValue, ComparedFlags]:
        """Return what a compare-exchange has read, and the flags of its comparison. One that is tried again until it
        succeeds is another operation.
        """
        name = expected.terms[0][0] if isinstance(expected, AffineValue) and expected.terms else ""
        if self.loops and expected == register(name) and name in self._loaded:
            operation, operand = self._function(value, name)
            read = self.update(operation, address, (operand,), mode)
            assert isinstance(read, AffineValue)
            self.assumed = {name: read.terms[0][0]}
            return read, ComparedFlags(AffineValue(SUCCEEDED), number(1))
        read = self.update("cas", address, (expected, value), mode)
        assert isinstance(read, AffineValue)
        return read, ComparedFlags(expected, read)

    def leaves(self, comparison: Comparison) -> None:
        """Close the exclusive pair on the way where the comparison does not hold; it is open where both are equal.

        Raises ``InputError`` where it is not of what the pair has read.
        """
        pair = self.state[PAIR]
        assert isinstance(pair, OpenPair)
        sides = {comparison.left: comparison.right, comparison.right: comparison.left}
        expected = sides.get(Reg(pair.target))
        if comparison.operation != "eq" or expected is None or pair.expected is not None:
            raise self.refuse("a branch within an exclusive pair that is no comparison of what was read")
        if isinstance(expected, Reg) and self._number(expected.name) >= pair.known:
            raise self.refuse("the operand of an exclusive pair is computed within it")
        self.state[PAIR] = replace(pair, expected=expected)

    def _number(self, name: str) -> int:
        """How many registers had been made when this one was."""
        return int(name[1:]) if name[1:].isdigit() else 0

    def _of(self, value: MachineValue, name: str) -> bool:
        """Whether a value is computed of a register."""
        if isinstance(value, UnknownValue):
            return False
        below = [each for each, _ in value.terms]
        seen = set(below)
        while below:
            made = self._meaning.get(below.pop())
            found = {each.name for each in made.operands if isinstance(each, Reg)} if made else set()
            below += found - seen
            seen |= found
        return name in seen

    def _function(self, value: MachineValue, old: str) -> tuple[str, MachineValue]:
        """The operation of a litmus test, and its operand, that make a value of what was read."""
        if not self._of(value, old):
            return "exch", value
        assert isinstance(value, AffineValue)
        terms = dict(value.terms)
        if terms.pop(old, 0) == 1 and value.base is None:
            rest = AffineValue(None, value.number, tuple(sorted(terms.items())))
            if not self._of(rest, old):
                return "add", rest
        made = self._meaning.get(value.terms[0][0]) if value == register(value.terms[0][0]) else None
        if made is not None and made.operation in ("and", "or", "xor", "sub"):
            left, right = made.operands
            if right == Reg(old) and made.operation != "sub":
                left, right = right, left
            other = register(right.name) if isinstance(right, Reg) else number(right)  # type: ignore[arg-type]
            if left == Reg(old) and not self._of(other, old):
                return made.operation, other
        raise self.refuse("what it stores is no operation of litmus tests on what was read")


_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {each: getattr(operator, each) for each in COMPARISONS}


def _known_comparison(operation: str, flags: ComparedFlags) -> int | None:
    """Whether a comparison of two constants holds, None where one is none."""
    if not isinstance(flags.left, AffineValue) or not isinstance(flags.right, AffineValue):
        return None
    left, right = flags.left.constant, flags.right.constant
    if left is None or right is None:
        return None
    bits = 1 << (64 if flags.wide else 32)
    one, other = left % bits, right % bits
    if operation not in SIGNED:
        one, other = (each - bits if each >= bits // 2 else each for each in (one, other))
    return int(_COMPARISONS[SIGNED.get(operation, operation)](one, other))
