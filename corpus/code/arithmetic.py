"""What instructions that compute do when a thread is specialised (PTX ISA 9.1, 9.7.1 to 9.7.9).

Where the operands are known, so is the result (``corpus.litmus.ptx_arithmetic``); where one is held by a register of
the residual program, the instruction stays as an ``Assign`` whose operation is its own opcode, such as ``shr.u32``,
which ``corpus.litmus.arithmetic`` computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from corpus.code import ir
from corpus.code.combined import expansion
from corpus.code.evaluation import describe, evaluate, set_result, width_of
from corpus.code.places import NEAR, Array
from corpus.code.thread import FollowedThread, State
from corpus.code.values import (
    Affine,
    ArrayAddress,
    Descriptor,
    Half,
    Missing,
    Partial,
    Symbol,
    Unknown,
    Value,
    array_of,
    bounds,
    cut,
    joined,
    plain_name,
    whole,
)
from corpus.code.variants import follow_later
from corpus.litmus.instructions import COMPARISONS, Branch, Comparison, Label
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.ptx_arithmetic import WIDTHS, compare, computable, compute, result_width, signed, type_of

_AGNOSTIC = ("add", "sub", "mul", "and", "or", "xor")
"""Operations of litmus tests that do not tell signed numbers from unsigned ones."""

ONE_BIT = ("and", "or", "xor")


def compute_(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """An instruction that computes a result from its operands."""
    target, *sources = ins.operands
    values = [evaluate(thread, state, source) for source in sources]
    found = computed(thread, ins.opcode, values)
    if ins.name == "cvt":
        found = filled(thread, state, target, found, next(word for word in ins.words if word in WIDTHS))
    set_result(thread, state, target, found)
    return True


def filled(thread: FollowedThread, state: State, target: ir.Operand, value: Value, kind: str) -> Value:
    """Return a value of a type as its register has it, which may be wider: with its sign, or without one (9.4.1)."""
    if not isinstance(target, ir.Register) or target.name == "_" or kind[0] not in "su":
        return value
    wide, narrow = width_of(thread, state, state.home(target.name)), WIDTHS[kind]
    if wide <= narrow:
        return value
    if isinstance(value, int):
        return signed(value, narrow) % (1 << wide) if kind[0] == "s" else value & (1 << narrow) - 1
    if isinstance(value, Partial):
        low, high = (
            signed(bound, narrow) % (1 << wide) if kind[0] == "s" else bound for bound in (value.low, value.high)
        )
        return replace(value, low=low, high=high)
    if isinstance(value, Symbol) and value.width < wide:
        if kind[0] == "s":
            return Symbol(value.register, wide)
        return Symbol(thread.out.temporary(f"cvt.u{wide}.{kind}", Reg(value.register), 0), wide)
    return value


def computed(thread: FollowedThread, opcode: str, values: Sequence[Value]) -> Value:
    """Return the result of an instruction that computes, by its opcode, such as ``shr.u64``."""
    name, *words = opcode.split(".")
    if not computable(name, words, len(values)):
        return Unknown(f"the result of {opcode}")
    if name in ("div", "rem") and values[1] == 0 and type_of(words)[0] != "f":
        return Unknown("the result of a division by 0")
    if all(isinstance(value, int) for value in values):
        return compute(name, words, [value for value in values if isinstance(value, int)])
    if name == "selp" and isinstance(values[2], int):
        return values[0 if values[2] & 1 else 1]
    if (found := _of_parts(name, words, values)) is not None:
        return found
    values = list(map(whole, values))
    for value in values:
        if isinstance(value, Unknown):
            return value
    if name == "mov" or (name == "cvt" and isinstance(values[0], Missing)):
        return values[0]
    if name == "selp":
        return _selected(thread, words, values)
    if name in ("mad", "mad24") and type_of(words)[0] != "f":
        product = computed(
            thread, ".".join((name.replace("mad", "mul"), *(word for word in words if word != "sat"))), values[:2]
        )
        kind = type_of(words)
        total = f"{kind[0]}{2 * WIDTHS[kind]}" if "wide" in words else kind
        return computed(thread, f"add.{'sat.' * ('sat' in words)}{total}", [product, values[2]])
    found = _of_addresses(thread, name, words, values)
    if found is not None:
        return found
    for value in values:
        if isinstance(value, Missing):
            raise thread.out.wrong(describe(thread, value))
    held = [number_or_held(thread, value) for value in values]
    steps = expansion(name)
    if steps is not None:
        return steps(partial(_step, thread), words, held)
    absorbed = _absorbed(name, held, result_width(name, words))
    return _staying(thread, name, words, held) if absorbed is None else absorbed


def _step(thread: FollowedThread, opcode: str, values: Sequence[Value]) -> Value:
    """Return the result of one step of an instruction that is done in several, a comparison or another."""
    name, *words = opcode.split(".")
    return compared(thread, words, *values) if name == "setp" else computed(thread, opcode, values)


_BITWISE = {"and": 2, "or": 2, "mov": 1, "cvt": 1, "shl": 1, "shr": 1, "prmt": 2, "bfe": 1, "bfi": 2}
"""Instructions of integers each bit of whose result is one of these first operands, two of theirs by ``and`` or ``or``,
or 0, as the other operands say. So no bit of the result is 1 with a 0 in place of an unknown bit, and 0 with a 1.
"""


def _of_parts(name: str, words: Sequence[str], values: Sequence[Value]) -> Value | None:
    """Return the result where bits of operands are known in part; None where none is, or where that does not help."""
    first = _BITWISE.get(name, 0)
    rests = [value.rest for value in values if isinstance(value, Partial)]
    known = [bounds(value) for n, value in enumerate(values) if isinstance(value, int | Partial if n < first else int)]
    if not rests or len(known) < len(values) or any(word[0] == "f" or word == "sat" for word in words):
        return None
    low, high = (compute(name, words, numbers) for numbers in zip(*known, strict=True))
    return joined([low], [high], result_width(name, words), rests[0])


def _absorbed(name: str, values: Sequence[int | Symbol], width: int) -> Value | None:
    """Return a result that one operand decides, as ``x & 0``, or that is the other operand, as ``x | 0``."""
    if len(values) != 2:
        return None
    every = (1 << width) - 1
    for number, other in (values, values[::-1]):
        if isinstance(number, int):
            if (name, number & every) in (("and", 0), ("mul", 0)):
                return 0
            if (name, number & every) == ("or", every):
                return every
            if (name, number & every) in (("and", every), ("or", 0), ("xor", 0), ("add", 0)):
                return other
    return None


def number_or_held(thread: FollowedThread, value: Value) -> int | Symbol:
    """Return a value as a number or a register; an address by parts is computed."""
    match value:
        case int() | Symbol():
            return value
        case Affine(None, ((register, scale),), offset):
            product = thread.out.temporary("mul.lo.s64", Reg(register), scale) if scale != 1 else register
            return Symbol(thread.out.temporary("add.s64", Reg(product), offset) if offset else product, 64)
    raise thread.out.wrong(describe(thread, value))


def residual_operand(value: int | Symbol, width: int) -> Operand:
    """Return a value of so many bits as an operand of the residual program."""
    return signed(value, width) if isinstance(value, int) else Reg(value.register)


def _staying(thread: FollowedThread, name: str, words: Sequence[str], values: Sequence[int | Symbol]) -> Value:
    """Append a computation whose operands are not known."""
    kind = type_of(words)
    width = WIDTHS[kind]
    if name in ("shl", "shr") and isinstance(values[1], int):  # the number of bits is one of 32 bits (9.7.8)
        values = [values[0], min(values[1] & 0xFFFFFFFF, width)]
    given = [residual_operand(value, width) for value in values]
    divided = thread.language.control.division_stops and name in ("div", "rem") and kind[0] != "f"
    if divided and isinstance(given[1], Reg):
        goes_on = thread.out.new_label()
        thread.out.put(Branch(goes_on, Comparison("ne", given[1], 0), checks=True))
        thread.out.stops(DIVISION)
        thread.out.put(Label(goes_on))
    out = result_width(name, words)
    if kind == "pred":
        if name == "not":
            return Symbol(thread.out.temporary("xor", given[0], 1), 1)
        given = [value & 1 if isinstance(value, int) else value for value in given]
        return Symbol(thread.out.temporary(name, *given), 1)
    if name == "mul" and "wide" in words and width == 32:
        register, scale = (values[0], values[1]) if isinstance(values[0], Symbol) else (values[1], values[0])
        if isinstance(register, Symbol) and isinstance(scale, int):
            factor = signed(scale, width) if kind[0] == "s" else scale & (1 << width) - 1
            return Affine(None, ((_widened(thread, register, kind), factor),))
    if name == "shl" and width == 64 and isinstance(values[1], int) and isinstance(values[0], Symbol):
        return Affine(None, ((values[0].register, 1 << values[1]),)) if values[1] < 64 else 0
    if name == "cvt":
        return _converted(thread, words, values[0])
    if len(values) > 2:
        if kind[0] == "f":
            return Unknown("a floating-point number")
        raise thread.out.wrong("with values that memory gives it is not understood")
    if name == "not":
        return Symbol(thread.out.temporary(f"xor.b{width}", given[0], -1), width)
    if name == "neg" and kind[0] != "f":
        return Symbol(thread.out.temporary("sub" if width == 32 else f"sub.{kind}", 0, given[0]), width)
    signless = name in _AGNOSTIC or (name in ("min", "max") and kind[0] == "s")
    plain = signless and width == 32 and "f" not in kind and not {"hi", "sat", "wide"}.intersection(words)
    operation = name if plain else ".".join((name, *words))
    return Symbol(thread.out.temporary(operation, *given, *([0] * (2 - len(given)))), out)


DIVISION = "division"
"""Why a thread is followed no further that divides by 0: the result is not specified (PTX ISA, 9.7.1.8)."""


def _widened(thread: FollowedThread, value: Symbol, kind: str) -> str:
    """Return the register that holds a value of a type in 64 bits."""
    if WIDTHS[kind] == 64 or (kind[0] == "s" and value.width == WIDTHS[kind]):
        return value.register
    return thread.out.temporary(f"cvt.{kind[0]}64.{kind}", Reg(value.register), 0)


def _converted(thread: FollowedThread, words: Sequence[str], value: int | Symbol) -> Value:
    to, of = (word for word in words if word in WIDTHS)
    assert isinstance(value, Symbol)
    if "f" in (to[0], of[0]) or "sat" in words:
        return Symbol(thread.out.temporary(".".join(("cvt", *words)), Reg(value.register), 0), WIDTHS[to])
    if WIDTHS[to] > WIDTHS[of]:
        return Symbol(_widened(thread, value, of) if of[0] == "s" or WIDTHS[to] == 64 else
                    thread.out.temporary(f"cvt.{to}.{of}", Reg(value.register), 0), WIDTHS[to])  # fmt: skip
    if WIDTHS[to] == WIDTHS[of] and value.width == WIDTHS[to]:
        return value
    found = Symbol(thread.out.temporary(f"cvt.s{WIDTHS[to]}.{of}", Reg(value.register), 0), WIDTHS[to])
    return extended(thread, found, to) if WIDTHS[to] < 16 else found


_WINDOW = {0x3FFFF: -1, 0x3FFF0: -16}
"""The masks of an address in shared memory, which has less than 256 KiB, and what they leave of it."""


def _of_addresses(thread: FollowedThread, name: str, words: Sequence[str], values: Sequence[Value]) -> Value | None:
    """Return the result where an operand is an address, or a part of one; None where none is."""
    match name, values:
        case "add", [(ArrayAddress() | Affine()) as address, int(number)] | [
            int(number),
            (ArrayAddress() | Affine()) as address,
        ]:
            return moved(address, signed(number, WIDTHS[type_of(words)]))
        case "sub", [(ArrayAddress() | Affine()) as address, int(number)]:
            return moved(address, -signed(number, WIDTHS[type_of(words)]))
        case "sub", [ArrayAddress(array, offset), ArrayAddress(other, less)] if array == other:
            return offset - less & (1 << 64) - 1
        case "add", [ArrayAddress(array, offset, near), Affine(None) as part] | [
            Affine(None) as part,
            ArrayAddress(array, offset, near),
        ]:
            return replace(part, base=array, offset=part.offset + offset, near=near)
        case "add", [ArrayAddress(array, offset, near), Symbol(register)] | [
            Symbol(register),
            ArrayAddress(array, offset, near),
        ]:
            return Affine(array, ((register, 1),), offset, near)
        case (("cvt" | "cvta"), [ArrayAddress() as pointer]):
            narrow = WIDTHS[next(word for word in words if word in WIDTHS)] < 64
            return Half(pointer, False) if narrow and not pointer.near else pointer
        case "cvt", [Half() as half]:
            return half
        case "cvt", [Affine() as part] if all(WIDTHS[word] == 64 for word in words if word in WIDTHS):
            return part
        case "bfi", [Half(pointer, True), Half(other, False), 32, 32] if pointer == other:
            return pointer
        case "or", [Half(pointer, one), Half(other, two)] if pointer == other and one is not two:
            return pointer
        case "shl", [Half(pointer, True), 32]:
            return Half(pointer, True)
        case "shr", [ArrayAddress() as pointer, 32]:
            return Half(pointer, True)
        case "and", [ArrayAddress(array, offset) as pointer, int(mask)] if mask in _WINDOW and array.space == "shared":
            return replace(pointer, offset=offset & _WINDOW[mask])
        case "shr", [ArrayAddress(array, offset), 4] if array.space == "shared":
            return Descriptor(array, offset & -16)
        case "and", [Descriptor(bits=0) as matrix, 0x3FFF]:
            return matrix
        case "cvt", [Descriptor() as matrix]:
            return matrix
        case "or" | "add", [Descriptor() as matrix, int(number)] | [int(number), Descriptor() as matrix] if (
            name == "add" or number & 0x3FFF == 0
        ):
            further = (number & 0x3FFF) * 16
            return replace(matrix, start=matrix.start + further, bits=matrix.bits + (number >> 14 << 14))
        case "and", [ArrayAddress(array, offset) as pointer, int(mask)] | [
            int(mask),
            ArrayAddress(array, offset) as pointer,
        ]:
            if mask < 256:  # every array begins at a multiple of 256 bytes
                begins_aligned(thread, array, 1 << mask.bit_length())
                return offset & mask
            if mask >> 8 == (1 << 56) - 1:
                return replace(pointer, offset=offset & signed(mask, 64))
    return None


def begins_aligned(thread: FollowedThread, array: Array, size: int) -> None:
    """Note that a variable is taken to begin at a multiple of so many bytes, where the module says less."""
    variable = None if array.space == "argument" else thread.module.variable(thread.kernel, array.name)
    if variable is not None and variable.align % size:
        thread.notes.assumed[f"{plain_name(variable.name)} begins at a multiple of {size} bytes"] = None


def _selected(thread: FollowedThread, words: Sequence[str], values: Sequence[Value]) -> Value:
    one, other, chosen = values
    if isinstance(chosen, int):
        return one if chosen & 1 else other
    if one == other:
        return one
    if not isinstance(chosen, Symbol):
        raise thread.out.wrong(describe(thread, chosen))
    width = WIDTHS[type_of(words)]
    if (one, other) == (1, 0):
        return Symbol(thread.out.temporary("mov", Reg(chosen.register)), width)
    if isinstance(one, ArrayAddress | Affine | Half) or isinstance(other, ArrayAddress | Affine | Half):
        raise thread.out.wrong("with addresses and a predicate that memory decides it is not understood")
    left, right = (residual_operand(number_or_held(thread, value), width) for value in (one, other))
    mask = thread.out.temporary("sub", 0, Reg(chosen.register))
    both = thread.out.temporary(f"xor.b{width}", left, right)
    kept = thread.out.temporary(f"and.b{width}", Reg(both), Reg(mask))
    return Symbol(thread.out.temporary(f"xor.b{width}", right, Reg(kept)), width)


def select(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``selp``: two ways where the predicate is not known and an operand is an address; else a computation."""
    target, one, other, predicate = ins.operands
    chosen = evaluate(thread, state, predicate)
    values = [evaluate(thread, state, one), evaluate(thread, state, other)]
    if isinstance(chosen, Symbol) and any(isinstance(value, ArrayAddress | Affine | Half) for value in values):
        if isinstance(values[0], Affine):  # the other way may put its value where this one is
            values[0] = moved_away(thread, values[0])
        skipped = state.moved_to(state.place)
        set_result(thread, skipped, target, values[1])
        thread.out.put(Branch(follow_later(thread, skipped), Comparison("eq", Reg(chosen.register), 0), checks=True))
        set_result(thread, state, target, values[0])
    else:
        set_result(thread, state, target, computed(thread, ins.opcode, [*values, chosen]))
    return True


def set_predicate(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``setp``: a comparison, which may be combined with a third operand."""
    target, one, other, *more = ins.operands
    value = compared(thread, ins.words, evaluate(thread, state, one), evaluate(thread, state, other))
    negative = negated(thread, value)
    if more:
        boolean = next(word for word in ins.words if word in ONE_BIT)
        third = evaluate(thread, state, more[0])
        value, negative = (computed(thread, f"{boolean}.pred", [predicate, third]) for predicate in (value, negative))
    set_result(thread, state, target, value, negative)
    return True


def negated(thread: FollowedThread, value: Value) -> Value:
    """Return the opposite of a predicate, as a number or a register of the residual program."""
    if isinstance(value, int):
        return value & 1 ^ 1
    return Symbol(thread.out.temporary("xor", Reg(value.register), 1), 1) if isinstance(value, Symbol) else value


def compared(thread: FollowedThread, words: Sequence[str], one: Value, other: Value) -> Value:
    """Return the predicate that a comparison of two values gives, by its words, such as ``ne`` and ``u32``."""
    one, other = whole(one), whole(other)
    for value in (one, other):
        if isinstance(value, Unknown):
            return value
    if not computable("setp", words, 2):
        return Unknown(f"a comparison of {type_of(words)}")
    if isinstance(one, int) and isinstance(other, int):
        return int(compare(words, one, other))
    name = next(word for word in words if word not in WIDTHS and word not in (*ONE_BIT, "ftz"))
    match one, other:
        case [ArrayAddress(array, offset), ArrayAddress(second, less)] if array == second:
            start = 1 << WIDTHS[type_of(words)] - 2  # an address before the array is no large number
            return int(compare(words, start + offset, start + less))
        case [ArrayAddress() | Affine(Array()) | Half() as address, 0] | [
            0,
            ArrayAddress() | Affine(Array()) | Half() as address,
        ] if name in ("eq", "ne"):
            _assume_address(thread, address)
            return int(name == "ne")
        case [ArrayAddress(array), ArrayAddress(second)] if name in ("eq", "ne"):
            return int(name == "ne")
    for value in (one, other):
        if isinstance(value, Missing):
            raise thread.out.wrong(describe(thread, value))
    width = WIDTHS[type_of(words)]
    given = [residual_operand(number_or_held(thread, value), width) for value in (one, other)]
    kind = type_of(words)
    signless = name in ("eq", "ne") or (kind[0] == "s" and name in COMPARISONS)
    plain = kind[0] != "f" and width >= 32 and signless
    full = ("setp", name, "ftz", kind) if "ftz" in words else ("setp", name, kind)
    return Symbol(thread.out.temporary(name if plain else ".".join(full), *given), 1)


def _assume_address(thread: FollowedThread, address: Value) -> None:
    """Note that a parameter which the launch does not give is taken to be the address of an array."""
    argument = isinstance(address, ArrayAddress) and address.array.space == "argument"
    name = address.array.name if isinstance(address, ArrayAddress) and argument else ""
    number = thread.kernel.number_of(name)
    if number is not None and thread.launch.argument(name, number) is None:
        thread.notes.assumed[f"{thread.launch.source_name(name, number)} is the address of an array"] = None


def set_mask(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``set``: a comparison whose result is a mask of bits, or 1.0."""
    target, one, other, *more = ins.operands
    if more:
        raise thread.out.wrong("with a third operand it is not understood")
    to = next(word for word in ins.words if word in WIDTHS)
    words = [*ins.words]
    words.remove(to)
    if to not in ("u32", "s32", "f32"):
        raise thread.out.wrong("is not understood")
    value = compared(thread, words, evaluate(thread, state, one), evaluate(thread, state, other))
    if isinstance(value, int):
        value = value * (0x3F800000 if to == "f32" else (1 << WIDTHS[to]) - 1)
    elif isinstance(value, Symbol):
        mask = thread.out.temporary("sub", 0, Reg(value.register))
        value = Symbol(thread.out.temporary("and", Reg(mask), 0x3F800000) if to == "f32" else mask, 32)
    set_result(thread, state, target, value)
    return True


def move(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``mov``, which also packs and unpacks vectors, and ``cvta``."""
    target, source = ins.operands[:2]
    width = WIDTHS[type_of(ins.words)]
    if isinstance(target, ir.Vector):
        for part, value in zip(
            target.parts, unpacked(thread, evaluate(thread, state, source), width, len(target.parts)), strict=True
        ):
            set_result(thread, state, part, value)
    elif isinstance(source, ir.Vector):
        set_result(
            thread, state, target, packed(thread, [evaluate(thread, state, part) for part in source.parts], width)
        )
    elif ins.name == "cvta":
        set_result(thread, state, target, _seen_from(thread, evaluate(thread, state, source), ins.words))
    else:
        set_result(thread, state, target, evaluate(thread, state, source, width))
    return True


def _seen_from(thread: FollowedThread, address: Value, words: Sequence[str]) -> Value:
    """Return an address as ``cvta`` gives it: a generic one, or one of the state space that it is ``to``."""
    if not isinstance(address, ArrayAddress | Affine):
        return address
    space = space_of(address)
    named = next((word.partition("::")[0] for word in words if word.partition("::")[0] in (*NEAR, "global")), None)
    if space is None or space == named == "global":
        return address
    if space != named or address.near is ("to" in words):
        kind = "one of its state space" if address.near else "a generic one"
        raise thread.out.wrong(f"the address is in {space} memory and {kind}, of which the result is undefined")
    return replace(address, near="to" in words)


def unpacked(thread: FollowedThread, value: Value, bits: int, count: int) -> list[Value]:
    """Return so many parts of a value of so many bits, the lowest first."""
    width = bits // count
    if isinstance(value, Affine) and value.base is None:
        value = number_or_held(thread, value)
    match value:
        case int(number):
            return [number >> width * n & (1 << width) - 1 for n in range(count)]
        case ArrayAddress() as pointer if count == 2:
            return [Half(pointer, False), Half(pointer, True)]
        case Symbol(register, whole):
            parts = [thread.out.temporary(f"shr.u{whole}", Reg(register), width * n) for n in range(count)]
            return [Symbol(thread.out.temporary(f"cvt.s{width}.u{whole}", Reg(part), 0), width) for part in parts]
        case Partial() as number:
            return [cut(number, width * n, width) for n in range(count)]
        case Unknown() | Missing() as unknown:
            return [unknown] * count
        case other:
            raise thread.out.wrong(describe(thread, other))


def packed(thread: FollowedThread, values: Sequence[Value], width: int) -> Value:
    """Return values one after the other, the lowest first, as one of so many bits."""
    part = width // len(values)
    if all(isinstance(value, int) for value in values):
        return sum(value << part * n for n, value in enumerate(values) if isinstance(value, int))
    match values:
        case [Half(pointer, False), Half(other, True)] if pointer == other:
            return pointer
        case [Descriptor(bits=low) as matrix, int(high)] if low < 1 << part:
            return replace(matrix, bits=low + (high << part))
    rests = [value for value in map(whole, values) if isinstance(value, Unknown | Missing)]
    known = [bounds(value) for value in values if isinstance(value, int | Partial)]
    if rests and len(known) == len(values):
        lows, highs = zip(*known, strict=True)
        return joined(lows, highs, part, rests[0])
    if rests:
        return rests[0]
    found: Operand = 0
    word = 1 << (width - 1).bit_length()  # a struct of 3 bytes is computed in 32 bits
    for n, value in enumerate(values):
        held = number_or_held(thread, value)
        if isinstance(held, int):
            piece: Operand = signed(held << part * n, word)
        else:
            wide = thread.out.temporary(f"cvt.u{word}.u{part}", Reg(held.register), 0)
            piece = Reg(thread.out.temporary(f"shl.b{word}", Reg(wide), part * n))
        found = Reg(thread.out.temporary(f"or.b{word}", found, piece))
    assert isinstance(found, Reg)
    return Symbol(found.name, width)


def extended(thread: FollowedThread, value: Symbol, kind: str) -> Symbol:
    """Return a value that was read as the register of its type has it: a small unsigned one without a sign."""
    if value.width < 32 and kind[0] != "s":
        return Symbol(thread.out.temporary(f"cvt.u32.u{value.width}", Reg(value.register), 0), 32)
    return Symbol(value.register, max(32, value.width))


def moved_away(thread: FollowedThread, address: Affine) -> Affine:
    """Return an address whose registers are of its own, for the others may be written before it is used."""
    terms = tuple((thread.out.temporary("mov", Reg(register)), scale) for register, scale in address.terms)
    return replace(address, terms=terms)


def space_of(address: Value) -> str | None:
    """Return the state space that an address is in; None where that is not known. Launches give global memory."""
    array = array_of(address)
    return array.space.replace("argument", "global") if array else None


def moved(address: Value, offset: int) -> Value:
    """Return an address so many bytes further on."""
    match address:
        case ArrayAddress() | Affine() | Missing():
            return replace(address, offset=address.offset + offset)
        case int(number):
            return number + offset
        case _:
            return address
