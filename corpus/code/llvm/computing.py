"""What instructions of LLVM compute when a thread is followed, and what of them C leaves undefined.

Numbers of 8, 16, 32 and 64 bits are those of ``corpus.code.arithmetic``; numbers of other widths have to be known. A
sum that overflows though it may not, a shift by too much and a division by 0 end the thread with a finding.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from corpus.code import ir
from corpus.code.arithmetic import ONE_BIT, compared, computed
from corpus.code.calls import CHECKS
from corpus.code.evaluation import describe, evaluate, set_result
from corpus.code.launch.created import MADE, RESULT
from corpus.code.llvm.cells import NO_RESULT, POISONED, is_unwritten
from corpus.code.llvm.memory import (
    POINTER,
    as_bits,
    check_null,
    further,
    in_register,
    operand_of,
    same,
    stop_where,
)
from corpus.code.llvm.steps import NONZERO
from corpus.code.places import Array
from corpus.code.thread import FollowedThread, State
from corpus.code.values import (
    Affine,
    ArrayAddress,
    Half,
    Partial,
    Symbol,
    Unknown,
    Value,
    bounds,
    cut,
    joined,
    whole,
    wrap_wide,
)
from corpus.code.variants import part_ways
from corpus.litmus.arithmetic import UNDETERMINED
from corpus.litmus.instructions import NEGATED, Assign, Fence, Load, Rmw, Store
from corpus.litmus.locations import Reg
from corpus.litmus.ptx_arithmetic import WIDTHS, signed

_FLAGS = ("nuw", "nsw", "exact", "disjoint")

_OVERFLOWING = {
    "add": lambda one, other: one + other,
    "sub": lambda one, other: one - other,
    "mul": lambda one, other: one * other,
}


def move(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``mov``: a register, of an operand. A variable that is a register has to be written before it is read."""
    target, source = ins.operands
    width = _width(ins.words[0])
    value = evaluate(thread, state, source, width)
    if value == NO_RESULT and isinstance(target, ir.Register) and not target.name.startswith(("%", RESULT)):
        return thread.out.stops("uninitialised")
    if isinstance(source, ir.Register) and isinstance(value, Unknown) and state.home(source.name) not in state.known:
        if source.name.startswith("%retval"):
            value = NO_RESULT
        elif not source.name.startswith(("%", "undef", "poison")):
            return thread.out.stops("uninitialised")
    if value == POISONED and isinstance(target, ir.Register) and not target.name.startswith("%"):
        return thread.out.stops("undefined")
    set_result(thread, state, target, value)
    return True


def _width(kind: str) -> int:
    """Return the bits of a type by its word, also of numbers that PTX has not: ``u24``."""
    return WIDTHS[kind] if kind in WIDTHS else int(kind.lstrip("abcdefghijklmnopqrstuvwxyz"))


FORMATS = ("f16", "bf16", "f32", "f64")
"""The formats of numbers that are computed with."""

LONG = "a number of long double"

ADDRESS = "u64"
"""The kind of registers that have addresses."""

SATURATED = "sat"
"""The word of operations whose result is the least or greatest number instead of one beyond."""


def _has_no_format(kind: str) -> bool:
    """Decide whether numbers are of a format that is not computed with, as ``long double``."""
    return kind[0] == "f" and kind not in FORMATS


def binary(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``binary`` of an operation, a type and flags: the result, of two operands."""
    target, left, right = ins.operands
    operation, kind, *flags = ins.words
    width = _width(kind)
    values = [evaluate(thread, state, operand, width) for operand in (left, right)]
    known = _of_known_bits(operation, kind, width, *values)
    if known is not None:
        set_result(thread, state, target, known)
        return True
    if any(map(is_unwritten, values)) and kind[0] != "b":
        return thread.out.stops("uninitialised")
    if POISONED in values:
        return thread.out.stops("undefined")
    if _has_no_format(kind):
        set_result(thread, state, target, Unknown(LONG))
        return True
    one, other = values
    name = operation.partition(".")[0]
    if isinstance(one, int) and isinstance(other, int):
        one &= (1 << width) - 1
        other &= (1 << width) - 1
        if (why := _undefined(name, kind, flags, one, other)) and not _folds(ins):
            return thread.out.stops(why)
        set_result(thread, state, target, _of_numbers(thread, operation, kind, one, other))
        return True
    if kind == "pred":
        set_result(thread, state, target, _of_predicates(thread, name, one, other))
        return True
    if kind not in WIDTHS:
        raise thread.out.wrong(f"a number of {width} bits that memory gives is not understood")
    if not _folds(ins) and not _checked(thread, name, kind, flags, one, other):
        return False
    set_result(thread, state, target, _of_values(thread, name, operation, kind, one, other))
    return True


def _of_known_bits(operation: str, kind: str, width: int, one: Value, other: Value) -> Value | None:
    """Return the bits of which some are known, the others written by nothing, as those around a field are; None where
    an operation is none of bits, or has other operands.
    """
    every = (1 << width) - 1
    pairs, rest = list[tuple[int, int]](), None
    for value in (one, other):
        unknown = value.rest if isinstance(value, Partial) else value
        if isinstance(unknown, Unknown) and is_unwritten(unknown):
            rest = unknown
        elif not isinstance(value, int):
            return None
        low, high = bounds(value) if isinstance(value, int | Partial) else (0, every)
        pairs.append((low & every, high & every))
    if rest is None:
        return None
    (low, high), (least, most) = pairs
    name = operation.partition(".")[0]
    if name == "and":
        low, high = low & least, high & most
    elif name == "or":
        low, high = low | least, high | most
    elif name in ("shl", "shr") and least == most and least < width:
        if name == "shr" and kind[0] == "s":
            if low >> width - 1 != high >> width - 1:
                return None
            low, high = (signed(bits, width) >> least & every for bits in (low, high))
        else:
            low, high = ((bits << least if name == "shl" else bits >> least) & every for bits in (low, high))
    else:
        return None
    return joined([low], [high], width, rest)


def _checked(thread: FollowedThread, name: str, kind: str, flags: list[str], one: Value, other: Value) -> bool:
    """Write branches to findings where the result of an operation, of which memory gives an operand, is undefined.

    Return whether the thread goes on.
    """
    width = WIDTHS[kind]
    if kind[0] == "f":
        return True
    why = _untold_to_be_defined(name, kind, flags, one, other)
    if why in _CLOCKS and name in _OVERFLOWING:
        thread.notes.assumed["what is computed of the time does not overflow"] = None
    elif why:
        raise thread.out.wrong(f"{why} decides whether the result is defined")
    if name in ("div", "rem"):
        if other == 0:
            return thread.out.stops("zero")
        if isinstance(other, Symbol):
            stop_where(thread, thread.out.temporary("eq", Reg(other.register), 0), "zero")
        least = -(1 << width - 1)
        if kind[0] == "s" and _may_be(one, least, width) and _may_be(other, -1, width):
            asked = [
                thread.out.temporary("eq", Reg(value.register), number)
                for value, number in ((one, least), (other, -1))
                if isinstance(value, Symbol)
            ]
            both = asked[0] if len(asked) == 1 else thread.out.temporary("and", *map(Reg, asked))
            stop_where(thread, both, "overflow")
    elif name in ("shl", "shr"):
        if isinstance(other, int) and other >= width:
            return thread.out.stops("shift")
        if isinstance(other, Symbol):
            stop_where(thread, thread.out.temporary("setp.gt.u64", Reg(other.register), width - 1), "shift")
    elif name in _OVERFLOWING and {*flags} & {"nsw", "nuw"} and _is_number(one) and _is_number(other):
        operands = [operand_of(thread, value, width // 8) for value in (one, other)]
        sign = "signed" if "nsw" in flags else "unsigned"
        operation = f"{UNDETERMINED}{sign}.{name}.{sign[0]}{width}"
        stop_where(thread, thread.out.temporary(operation, *operands), "overflow")
    return True


_CLOCK_NAMES = ("time", "clock", "timespec_get", "clock_gettime", "gettimeofday")
_CLOCKS = frozenset(f"what {name} gives" for name in _CLOCK_NAMES)
"""Why values are not told that are of a clock."""


def _untold_to_be_defined(name: str, kind: str, flags: list[str], one: Value, other: Value) -> str:
    """Return what the operand is by which the result of an operation may be undefined, though nothing tells it."""
    decides = [other] if name in ("div", "rem", "shl", "shr") else []
    if kind[0] == "s" and name in ("div", "rem") and (not isinstance(other, int) or _may_be(other, -1, WIDTHS[kind])):
        decides = [one, other]
    if {*flags} & {"nsw", "nuw"} and (name in _OVERFLOWING or name == "shl"):
        decides = [one, other]
    return next((value.reason for value in decides if isinstance(value, Unknown)), "")


def _is_number(value: Value) -> bool:
    """Decide whether a value is a number, known or read, or a sum of such."""
    return isinstance(value, int | Symbol) or (isinstance(value, Affine) and value.base is None)


def _may_be(value: Value, number: int, width: int) -> bool:
    """Decide whether a value may be a number with a sign."""
    return isinstance(value, Symbol) or (isinstance(value, int) and signed(value, width) == number)


def _folds(ins: ir.KernelInstruction) -> bool:
    """Decide whether an operation is one that the compiler has made: for a check, or one that no line has."""
    return ins.source is None or CHECKS in ins.words


def _undefined(name: str, kind: str, flags: list[str], one: int, other: int) -> str:
    """Return why the result of an operation on two numbers is undefined; nothing where it is not."""
    width = _width(kind)
    if name in ("div", "rem") and kind[0] != "f":
        if other == 0:
            return "zero"
        if kind[0] == "s" and signed(one, width) == -(1 << width - 1) and signed(other, width) == -1:
            return "overflow"
    if name in ("shl", "shr") and other >= width:
        return "shift"
    if "nsw" in flags or "nuw" in flags:
        exact = _OVERFLOWING.get(name)
        if exact is not None and "nsw" in flags:
            result = exact(signed(one, width), signed(other, width))
            return "overflow" if not -(1 << width - 1) <= result < 1 << width - 1 else ""
        if exact is not None:
            return "overflow" if not 0 <= exact(one, other) < 1 << width else ""
        if name == "shl" and "nsw" in flags:
            result = signed(one, width) << other
            return "overflow" if not -(1 << width - 1) <= result < 1 << width - 1 else ""
    return ""


def _of_numbers(thread: FollowedThread, operation: str, kind: str, one: int, other: int) -> Value:
    """Return the result of an operation on two numbers of a type, of any width."""
    width = _width(kind)
    every = (1 << width) - 1
    if kind[0] == "f" or (kind in WIDTHS and width not in (1, 128)):
        return computed(thread, f"{operation}.{kind}", [one, other])
    name, _, how = operation.partition(".")
    if how == SATURATED:
        raise thread.out.wrong(f"a sum of numbers of {width} bits that stays at the greatest is not understood")
    a, b = (signed(one, width), signed(other, width)) if kind[0] == "s" else (one, other)
    match name:
        case "add":
            found = a + b
        case "sub":
            found = a - b
        case "mul":
            found = a * b
        case "div":
            found = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        case "rem":
            found = abs(a) % abs(b) * (1 if a >= 0 else -1)
        case "shl":
            found = one << other
        case "shr":
            found = a >> b
        case "and":
            found = one & other
        case "or":
            found = one | other
        case "xor":
            found = one ^ other
        case "min" | "max":
            found = min(a, b) if name == "min" else max(a, b)
        case _:
            raise thread.out.wrong(f"{name} of numbers of {width} bits is not understood")
    return found & every


def _of_predicates(thread: FollowedThread, name: str, one: Value, other: Value) -> Value:
    """Return the result of an operation on values of one bit: a sum is a difference is an exclusive or."""
    bitwise = {"add": "xor", "sub": "xor", "mul": "and"}.get(name, name)
    if bitwise == "xor" and other == 1:
        return opposite(thread, one)
    if bitwise not in ONE_BIT:
        raise thread.out.wrong(f"{name} of truth values that memory gives is not understood")
    return computed(thread, f"{bitwise}.pred", [one, other])


def alignment_of(thread: FollowedThread, array: Array) -> int:
    """Return a number of bytes that the address of an array is a multiple of."""
    variable = thread.module.variables.get(array.name)
    if variable is not None:
        return variable.align
    return thread.creation.aligned.get(array, 16 if array.name.startswith(MADE) else 1)


def _of_values(thread: FollowedThread, name: str, operation: str, kind: str, one: Value, other: Value) -> Value:
    """Return the result of an operation of which memory gives an operand, or which is of an address."""
    match operation if operation.endswith(SATURATED) else name, one, other:
        case "add" | "sub", (ArrayAddress() | Affine(Array())), int(number):
            by = signed(number, WIDTHS[kind])
            return further(one, by if name == "add" else -by)
        case "add", int(number), (ArrayAddress() | Affine(Array())):
            return further(other, signed(number, WIDTHS[kind]))
        case "rem", ArrayAddress(array, offset), int(number) if alignment_of(thread, array) % (number or -1) == 0:
            return offset % number
        case "and", ArrayAddress(array, offset), int(number) if number < alignment_of(thread, array):
            return offset & number
        case "sub", ArrayAddress(array, offset), ArrayAddress(second, less):
            if array != second:
                return Unknown("the distance of two objects")
            return (offset - less) & (1 << 64) - 1
        case ("sub", Symbol(width=64), ArrayAddress()) | ("sub", ArrayAddress(), Symbol(width=64)):
            operands = [operand_of(thread, value, POINTER) for value in (one, other)]
            return Symbol(thread.out.temporary("sub.s64", *operands), 64)
        case "add", Affine(), Affine(None) | Affine(None), Affine():
            found = one.plus(other) if isinstance(one, Affine) and isinstance(other, Affine) else None
            if found is not None:
                return found
    values = [in_register(thread, value) if isinstance(value, Affine) else value for value in (one, other)]
    for value in values:
        if isinstance(value, ArrayAddress | Half) and not (name == "and" and isinstance(one, ArrayAddress)):
            raise thread.out.wrong("a number that is computed of an address is not understood")
    if name in ("shl", "shr") and isinstance(values[1], int):
        values[1] &= 0xFFFFFFFF
    elif name in ("shl", "shr") and isinstance(values[1], Symbol) and WIDTHS[kind] == 64:
        values[1] = replace(values[1], width=32)
    return computed(thread, f"{operation}.{kind}", values)


def compare(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``compare``: a predicate, of two operands, which may be addresses."""
    target, left, right = ins.operands
    name, kind = ins.words
    width = _width(kind)
    one, other = (evaluate(thread, state, operand, width) for operand in (left, right))
    if any(map(is_unwritten, (one, other))):
        return thread.out.stops("uninitialised")
    if _has_no_format(kind):
        set_result(thread, state, target, Unknown(LONG))
        return True
    if kind == "pred" or kind not in WIDTHS:
        if not isinstance(one, int) or not isinstance(other, int):
            if kind != "pred" or name not in ("eq", "ne"):
                raise thread.out.wrong("a comparison of numbers of this width is not understood")
            found = computed(thread, "xor.pred", [one, other])
            set_result(thread, state, target, found if name == "ne" else opposite(thread, found))
            return True
        one, other = ((signed(value, width) if kind[0] == "s" else value) for value in (one, other))
        held = {"eq": one == other, "ne": one != other, "lt": one < other, "le": one <= other, "gt": one > other,
                "ge": one >= other}  # fmt: skip
        set_result(thread, state, target, int(held[name]))
        return True
    if name in ("eq", "ne") and width == 8 * POINTER and kind[0] != "f":
        found = same(thread, one, other)
        set_result(thread, state, target, found if name == "eq" else opposite(thread, found))
        return True
    one, other = (in_register(thread, value) if isinstance(value, Affine) and value.base is None else value
                  for value in (one, other))  # fmt: skip
    set_result(thread, state, target, compared(thread, (name, kind), one, other))
    return True


def opposite(thread: FollowedThread, value: Value) -> Value:
    """Return the opposite of a predicate: of a comparison that has just been made, the opposite comparison."""
    if isinstance(value, int):
        return value & 1 ^ 1
    if not isinstance(value, Symbol):
        return value
    name = value.register
    written = set[str]()
    for residual in reversed(thread.out.code):
        match residual.instruction:
            case Assign(target, "mov", (Reg(source),)) if target == name and target not in written:
                name = source
            case Assign(target, operation, operands) if target == name and operation in NEGATED:
                if not any(isinstance(operand, Reg) and operand.name in written for operand in operands):
                    return Symbol(thread.out.temporary(NEGATED[operation], *operands), 1)
                break
            case Assign(target):
                written.add(target)
            case Load(target) | Rmw(target=target) if target is not None:
                written.add(target)
            case Store() | Fence():
                pass
            case _:
                break
    return Symbol(thread.out.temporary("xor", Reg(value.register), 1), 1)


def convert(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``convert`` to a type, from a type: a value, of an operand."""
    target, source = ins.operands
    to, of = ins.words[-2:]
    value = evaluate(thread, state, source, _width(of))
    set_result(thread, state, target, _converted(thread, ins.words, to, of, value))
    return True


def _converted(thread: FollowedThread, words: tuple[str, ...], to: str, of: str, value: Value) -> Value:
    wide, narrow = _width(to), _width(of)
    if "f" in (to[0], of[0]) or to == "bf16" or of == "bf16":
        if of == "pred":  # a format has numbers of 32 bits
            *how, _, _ = words
            words, value = (*how, to, "u32"), _converted(thread, (), "u32", of, value)
        return computed(thread, ".".join(("cvt", *words)), [value])
    if isinstance(value, int):
        value &= (1 << narrow) - 1
        return signed(value, narrow) % (1 << wide) if to[0] == "s" else value % (1 << wide)
    if isinstance(value, Affine) and wide == narrow:
        return value
    value = in_register(thread, value) if isinstance(value, Affine) else value
    if of == "pred" and isinstance(value, Symbol):
        if to[0] == "s":
            return Symbol(thread.out.temporary("sub", 0, Reg(value.register)), wide)
        return replace(value, width=wide)  # 0 or 1, in as many bits as are wanted
    if to == "pred":
        return as_bits(thread, value, 1)
    if isinstance(value, Partial) and wide <= narrow:
        return cut(value, 0, wide)
    if isinstance(value, Symbol) and to not in WIDTHS and of == "u64" and to[0] == "u":  # of a struct in a register
        return Symbol(thread.out.temporary("and.b64", Reg(value.register), (1 << wide) - 1), 64)
    if (to not in WIDTHS or of not in WIDTHS) and not isinstance(value, Unknown):
        raise thread.out.wrong("a number of this width that memory gives is not understood")
    if isinstance(value, Symbol) and wide > narrow and to[0] == "s":
        return replace(value, width=wide)  # registers have numbers with their signs
    if isinstance(value, Symbol) and wide <= narrow:
        to = f"s{wide}"
    return computed(thread, f"cvt.{to}.{of}", [value]) if not isinstance(value, Unknown) else value


def choose(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``select``: one of two operands, by a predicate. Where memory decides, the number is computed of all three, so
    that it depends on them; an address, and what has to be known, is chosen on two ways, and nothing depends on that.
    """
    target, left, right, decider = ins.operands
    (kind,) = ins.words
    chosen = evaluate(thread, state, decider, 1)
    one, other = (evaluate(thread, state, operand, _width(kind)) for operand in (left, right))
    if is_unwritten(chosen):
        return thread.out.stops("uninitialised")
    if isinstance(chosen, int):
        set_result(thread, state, target, one if chosen & 1 else other)
        return True
    if not isinstance(chosen, Symbol) or not isinstance(decider, ir.Register):
        raise thread.out.wrong(f"the choice depends on {describe(thread, chosen)}")
    numbers = kind in WIDTHS and kind != ADDRESS and _is_number(one) and _is_number(other)
    if numbers and not thread.creation.parts:
        thread.creation.chooses = True
        set_result(thread, state, target, _chosen(thread, WIDTHS[kind], chosen, one, other))
        return True
    state.place -= 1
    return part_ways(thread, state, decider.name, chosen.register, checks=True)


def _chosen(thread: FollowedThread, width: int, decider: Symbol, one: Value, other: Value) -> Value:
    """Return one of two numbers of so many bits, computed of both and of what decides."""
    if one == other and isinstance(one, int):
        return one
    if (one, other) == (1, 0):
        return Symbol(thread.out.temporary("mov", Reg(decider.register)), width)
    if (one, other) == (0, 1):
        return Symbol(thread.out.temporary("xor", Reg(decider.register), 1), width)
    first, second = (operand_of(thread, value, max(1, width // 8)) for value in (one, other))
    mask = Reg(thread.out.temporary("sub", 0, Reg(decider.register)))
    bits = f"b{max(32, width)}"  # registers have numbers with their signs
    differing = Reg(thread.out.temporary(f"xor.{bits}", first, second))
    kept = Reg(thread.out.temporary(f"and.{bits}", differing, mask))
    return Symbol(thread.out.temporary(f"xor.{bits}", second, kept), width)


def unary(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``unary`` of an operation and a type: the result, of an operand."""
    target, source, *_ = ins.operands
    operation, kind, *flags = ins.words
    value = evaluate(thread, state, source, _width(kind))
    if kind not in WIDTHS and kind[0] != "f":
        raise thread.out.wrong(f"{operation} of a number of {_width(kind)} bits is not understood")
    if is_unwritten(value) and kind[0] != "b":
        return thread.out.stops("uninitialised")
    if _has_no_format(kind):
        set_result(thread, state, target, Unknown(LONG))
        return True
    if NONZERO in flags and isinstance(value, int) and not value & (1 << WIDTHS[kind]) - 1:
        return thread.out.stops("bits")
    if isinstance(value, ArrayAddress | Affine | Half):
        value = in_register(thread, value) if isinstance(value, Affine) and value.base is None else value
        if not isinstance(value, Symbol):
            raise thread.out.wrong("a number that is computed of an address is not understood")
    if NONZERO in flags and isinstance(value, Unknown):
        raise thread.out.wrong(f"{value.reason} decides whether the result is defined")
    if NONZERO in flags and isinstance(value, Symbol):
        stop_where(thread, thread.out.temporary("eq", Reg(value.register), 0), "bits")
    found = computed(thread, f"{operation}.{kind}", [value])
    set_result(thread, state, target, replace(found, width=WIDTHS[kind]) if isinstance(found, Symbol) else found)
    return True


def overflow(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``overflow`` of an operation and a type: the result and whether it overflows, of two operands."""
    target, flag, *given = ins.operands
    operation, kind = ins.words
    width = _width(kind)
    one, other = (evaluate(thread, state, operand, width) for operand in given)
    if any(map(is_unwritten, (one, other))):
        return thread.out.stops("uninitialised")
    sign, name = operation[0], operation[1:]
    if not isinstance(one, int) or not isinstance(other, int):
        if not (_is_number(one) and _is_number(other) and kind in WIDTHS):
            raise thread.out.wrong("whether a sum of these numbers overflows is not understood")
        operands = [operand_of(thread, value, width // 8) for value in (one, other)]
        found = _of_values(thread, name, "mul.lo" if name == "mul" else name, f"{sign}{width}", one, other)
        law = f"{UNDETERMINED}{'signed' if sign == 's' else 'unsigned'}.{name}.{sign}{width}"
        set_result(thread, state, target, found)
        set_result(thread, state, flag, Symbol(thread.out.temporary(law, *operands), 1))
        return True
    if sign == "s":
        one, other = signed(one, width), signed(other, width)
    result = {"add": one + other, "sub": one - other, "mul": one * other}[name]
    low, high = (-(1 << width - 1), 1 << width - 1) if sign == "s" else (0, 1 << width)
    set_result(thread, state, target, result % (1 << width))
    set_result(thread, state, flag, int(not low <= result < high))
    return True


def step(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``getelementptr``: an address, of a base, bytes, and for each index it, the bytes of an element, and the most
    that the index may be, -1 where nothing says it.
    """
    target, base, offset, *steps = ins.operands
    assert isinstance(offset, ir.Number)
    address = evaluate(thread, state, base)
    constant, terms, span = signed(offset.value, 64), list[tuple[str, int]](), _Span(0)
    for place in range(0, len(steps), 3):
        size, most = (signed(part.value, 64) for part in steps[place + 1 : place + 3] if isinstance(part, ir.Number))
        index = evaluate(thread, state, steps[place])
        match index:
            case int(number):
                number = signed(number, 64)
                if most >= 0 and not 0 <= number <= most:
                    return thread.out.stops("bounds")
                constant += size * number
            case Symbol(register):
                if most >= 0:
                    _check_index(thread, register, most)
                span = span.plus(size * most if most >= 0 and size > 0 else None)
                terms.append((register, size))
            case Affine(None, parts, extra):
                span = _Span(None)
                terms += [(register, factor * size) for register, factor in parts]
                constant += size * extra
            case _ if is_unwritten(index):
                return thread.out.stops("uninitialised")
            case _:
                raise thread.out.wrong(describe(thread, whole(index)))
    found = _moved(thread, state, address, constant, tuple(terms), span)
    if found is None:
        return False
    set_result(thread, state, target, found)
    return True


class _Span(NamedTuple):
    """The most that terms are together, which are at least 0; None where that is not known."""

    most: int | None

    def plus(self, other: int | None) -> _Span:
        """Return the most with another term."""
        return _Span(None if self.most is None or other is None else self.most + other)


def _check_index(thread: FollowedThread, register: str, most: int) -> None:
    """Write a branch to a finding where an index is outside of an array within its object."""
    stop_where(thread, thread.out.temporary("setp.gt.u64", Reg(register), most), "bounds")


def _moved(
    thread: FollowedThread, state: State, address: Value, constant: int, terms: tuple[tuple[str, int], ...], span: _Span
) -> Value | None:
    """Return an address so many bytes further on; None where the thread ends, as it is null."""
    if not terms and not constant:
        return address
    match address:
        case int(number) if not terms:
            return (number + constant) % (1 << 64)  # of null as well: it is an error where it is used
        case int(number):
            moved = _merged(Affine(None, terms, wrap_wide(number + constant)))
            return in_register(thread, moved) if moved.terms else moved.offset % (1 << 64)
        case ArrayAddress() if not terms:
            return further(address, constant)
        case ArrayAddress(array, offset):
            return _merged(Affine(array, terms, offset + constant, span=span.most))
        case Affine(base, others, offset, span=known):
            return _merged(Affine(base, (*others, *terms), offset + constant, span=span.plus(known).most))
        case Symbol():
            checked = check_null(thread, state, address)
            return _merged(Affine(None, ((checked.register, 1), *terms), constant))
        case Unknown():
            if is_unwritten(address):
                thread.out.stops("uninitialised")
                return None
            return address
    raise thread.out.wrong(f"an address that is {describe(thread, address)}")


def _merged(address: Affine) -> Affine:
    """Return an address with one term for each register."""
    factors: dict[str, int] = {}
    for register, factor in address.terms:
        factors[register] = factors.get(register, 0) + factor
    return replace(address, terms=tuple(sorted((name, factor) for name, factor in factors.items() if factor)))
