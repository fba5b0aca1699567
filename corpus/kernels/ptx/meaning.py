"""What each instruction of PTX does when a thread is specialised: a table of functions by name (PTX ISA 9.1, 9.7).

A function changes what is known and appends what stays of the instruction. What only computes is in
``corpus.litmus.ptx_arithmetic``: where its operands are known, so is its result; where one is held by a register of
the residual program, the instruction stays as an ``Assign`` whose operation is its own opcode, such as ``shr.u32``,
which ``corpus.litmus.arithmetic`` computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from corpus.kernels.launch import ArrayArgument, SharedArgument, volume
from corpus.kernels.ptx import module as ptx
from corpus.kernels.ptx.specialiser import SLOTS, Access, Meaning, State, ThreadSpecialiser
from corpus.kernels.values import Half, Held, Missing, Pointer, Scaled, Unknown, Value, plain_name
from corpus.litmus import test as litmus
from corpus.litmus.ptx_arithmetic import (
    COMPUTED,
    EXPECTED,
    PHASE,
    WIDTHS,
    compare,
    computable,
    compute,
    result_width,
    signed,
    type_of,
)

SCOPES = {"cta": litmus.Scope.CTA, "gpu": litmus.Scope.GPU, "sys": litmus.Scope.SYS}
ORDERS = {
    "relaxed": litmus.Order.RELAXED,
    "acquire": litmus.Order.ACQUIRE,
    "release": litmus.Order.RELEASE,
    "acq_rel": litmus.Order.ACQ_REL,
    "sc": litmus.Order.SC,
}
MEMBARS = {"cta": litmus.Scope.CTA, "gl": litmus.Scope.GPU, "sys": litmus.Scope.SYS}

_AGNOSTIC = ("add", "sub", "mul", "and", "or", "xor")
"""Operations of litmus tests that do not tell signed numbers from unsigned ones."""

_ONE_BIT = ("and", "or", "xor")


# Computations


def compute_(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """An instruction that computes a result from its operands."""
    target, *sources = ins.operands
    values = [at.value(state, source) for source in sources]
    found = _computed(at, ins.opcode, values)
    if ins.name == "cvt":
        found = _filling(at, state, target, found, next(word for word in ins.words if word in WIDTHS))
    _result(at, state, target, found)
    return True


def _filling(at: ThreadSpecialiser, state: State, target: ptx.Operand, value: Value, kind: str) -> Value:
    """Return a value of a type as its register has it, which may be wider: with its sign, or without one (9.4.1)."""
    if not isinstance(target, ptx.Register) or target.name == "_" or kind[0] not in "su":
        return value
    wide, narrow = at.width(state, at.home(state, target.name)), WIDTHS[kind]
    if wide <= narrow:
        return value
    if isinstance(value, int):
        return signed(value, narrow) % (1 << wide) if kind[0] == "s" else value & (1 << narrow) - 1
    if isinstance(value, Held) and value.width < wide:
        if kind[0] == "s":
            return Held(value.register, wide)
        return Held(at.temporary(f"cvt.u{wide}.{kind}", litmus.Reg(value.register), 0), wide)
    return value


_UNTOLD = Unknown("a second result")


def _result(at: ThreadSpecialiser, state: State, target: ptx.Operand, value: Value, second: Value = _UNTOLD) -> None:
    """Give a register the result of an instruction, and another one the ``second``, where the target is both."""
    if isinstance(target, ptx.Both):
        _result(at, state, target.second, second)
        target = target.first
    if isinstance(target, ptx.Register) and target.name != "_":
        at.define(state, at.home(state, target.name), value)


def _computed(at: ThreadSpecialiser, opcode: str, values: Sequence[Value]) -> Value:
    """Return the result of an instruction that computes, by its opcode, such as ``shr.u64``."""
    name, *words = opcode.split(".")
    if not computable(name, words, len(values)):
        return Unknown(f"the result of {opcode}")
    if name in ("div", "rem") and values[1] == 0 and type_of(words)[0] != "f":
        return Unknown("the result of a division by 0")
    if all(isinstance(value, int) for value in values):
        return compute(name, words, [value for value in values if isinstance(value, int)])
    for value in values:
        if isinstance(value, Unknown):
            return value
    if name == "mov" or (name == "cvt" and isinstance(values[0], Missing)):
        return values[0]
    if name == "selp":
        return _selected(at, words, values)
    if name in ("mad", "mad24") and type_of(words)[0] != "f" and "sat" not in words:
        product = _computed(at, ".".join((name.replace("mad", "mul"), *words)), values[:2])
        kind = type_of(words)
        total = f"{kind[0]}{2 * WIDTHS[kind]}" if "wide" in words else kind
        return _computed(at, f"add.{total}", [product, values[2]])
    found = _of_addresses(at, name, words, values)
    if found is not None:
        return found
    for value in values:
        if isinstance(value, Missing):
            raise at.wrong(at.said(value))
    held = [_held(at, value) for value in values]
    absorbed = _absorbed(name, held, result_width(name, words))
    return _staying(at, name, words, held) if absorbed is None else absorbed


def _absorbed(name: str, values: Sequence[int | Held], width: int) -> Value | None:
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


def _held(at: ThreadSpecialiser, value: Value) -> int | Held:
    """Return a value as a number or a register; an address by parts is computed."""
    match value:
        case int() | Held():
            return value
        case Scaled(None, register, scale, offset):
            product = at.temporary("mul.lo.s64", litmus.Reg(register), scale) if scale != 1 else register
            return Held(at.temporary("add.s64", litmus.Reg(product), offset) if offset else product, 64)
    raise at.wrong(at.said(value))


def _operand(value: int | Held, width: int) -> litmus.Operand:
    return signed(value, width) if isinstance(value, int) else litmus.Reg(value.register)


def _staying(at: ThreadSpecialiser, name: str, words: Sequence[str], values: Sequence[int | Held]) -> Value:
    """Append a computation whose operands are not known."""
    kind = type_of(words)
    width = WIDTHS[kind]
    given = [_operand(value, width) for value in values]
    out = result_width(name, words)
    if kind == "pred":
        if name == "not":
            return Held(at.temporary("xor", given[0], 1), 1)
        given = [value & 1 if isinstance(value, int) else value for value in given]
        return Held(at.temporary(name, *given), 1)
    if name == "mul" and "wide" in words and width == 32:
        register, scale = (values[0], values[1]) if isinstance(values[0], Held) else (values[1], values[0])
        if isinstance(register, Held) and isinstance(scale, int):
            factor = signed(scale, width) if kind[0] == "s" else scale & (1 << width) - 1
            return Scaled(None, _widened(at, register, kind), factor)
    if name == "shl" and width == 64 and isinstance(values[1], int) and isinstance(values[0], Held):
        return Scaled(None, values[0].register, 1 << values[1]) if values[1] < 64 else 0
    if name == "cvt":
        return _converted(at, words, values[0])
    if name == "bfe" and isinstance(values[1], int) and isinstance(values[2], int) and isinstance(values[0], Held):
        start = min(values[1] & 0xFF, width)
        length = min(values[2] & 0xFF, width - start)
        if not values[2] & 0xFF:
            return 0
        up = at.temporary(f"shl.b{width}", given[0], width - start - length)
        return Held(at.temporary(f"shr.{kind}", litmus.Reg(up), width - length), width)
    if name == "bfi" and isinstance(values[2], int) and isinstance(values[3], int):
        start, length = values[2] & 0xFF, values[3] & 0xFF
        mask = (1 << length) - 1 << start & (1 << width) - 1
        up = at.temporary(f"shl.b{width}", given[0], start)
        new = at.temporary(f"and.b{width}", litmus.Reg(up), signed(mask, width))
        old = at.temporary(f"and.b{width}", given[1], signed(~mask, width))
        return Held(at.temporary(f"or.b{width}", litmus.Reg(old), litmus.Reg(new)), width)
    if len(values) > 2:
        if kind[0] == "f":
            return Unknown("a floating-point number")
        raise at.wrong("with values that memory gives it is not understood")
    if name == "not":
        return Held(at.temporary(f"xor.b{width}", given[0], -1), width)
    if name == "neg" and kind[0] != "f":
        return Held(at.temporary("sub" if width == 32 else f"sub.{kind}", 0, given[0]), width)
    signless = name in _AGNOSTIC or (name in ("min", "max") and kind[0] == "s")
    plain = signless and width == 32 and "f" not in kind and not {"hi", "sat"}.intersection(words)
    operation = name if plain else ".".join((name, *words))
    return Held(at.temporary(operation, *given, *([0] * (2 - len(given)))), out)


def _widened(at: ThreadSpecialiser, value: Held, kind: str) -> str:
    """Return the register that holds a value of a type in 64 bits."""
    if WIDTHS[kind] == 64 or (kind[0] == "s" and value.width == WIDTHS[kind]):
        return value.register
    return at.temporary(f"cvt.{kind[0]}64.{kind}", litmus.Reg(value.register), 0)


def _converted(at: ThreadSpecialiser, words: Sequence[str], value: int | Held) -> Value:
    to, of = (word for word in words if word in WIDTHS)
    assert isinstance(value, Held)
    if "f" in (to[0], of[0]) or "sat" in words:
        return Held(at.temporary(".".join(("cvt", *words)), litmus.Reg(value.register), 0), WIDTHS[to])
    if WIDTHS[to] > WIDTHS[of]:
        return Held(_widened(at, value, of) if of[0] == "s" or WIDTHS[to] == 64 else
                    at.temporary(f"cvt.{to}.{of}", litmus.Reg(value.register), 0), WIDTHS[to])  # fmt: skip
    if WIDTHS[to] == WIDTHS[of] and value.width == WIDTHS[to]:
        return value
    found = Held(at.temporary(f"cvt.s{WIDTHS[to]}.{of}", litmus.Reg(value.register), 0), WIDTHS[to])
    return _extended(at, found, to) if WIDTHS[to] < 16 else found


def _of_addresses(at: ThreadSpecialiser, name: str, words: Sequence[str], values: Sequence[Value]) -> Value | None:
    """Return the result where an operand is an address, or a part of one; None where none is."""
    match name, values:
        case "add", [(Pointer() | Scaled()) as address, int(number)] | [int(number), (Pointer() | Scaled()) as address]:
            return _moved(address, signed(number, WIDTHS[type_of(words)]))
        case "sub", [(Pointer() | Scaled()) as address, int(number)]:
            return _moved(address, -signed(number, WIDTHS[type_of(words)]))
        case "sub", [Pointer(array, offset), Pointer(other, less)] if array == other:
            return offset - less & (1 << 64) - 1
        case "add", [Pointer(array, offset), Scaled(None) as part] | [Scaled(None) as part, Pointer(array, offset)]:
            return replace(part, base=array, offset=part.offset + offset)
        case "add", [Pointer(array, offset), Held(register)] | [Held(register), Pointer(array, offset)]:
            return Scaled(array, register, 1, offset)
        case (("cvt" | "cvta"), [Pointer() as pointer]):
            narrow = WIDTHS[next(word for word in words if word in WIDTHS)] < 64
            return Half(pointer, False) if narrow and not pointer.array.startswith("shared") else pointer
        case "cvt", [Half() as half]:
            return half
        case "cvt", [Scaled() as part] if all(WIDTHS[word] == 64 for word in words if word in WIDTHS):
            return part
        case "bfi", [Half(pointer, True), Half(other, False), 32, 32] if pointer == other:
            return pointer
        case "or", [Half(pointer, one), Half(other, two)] if pointer == other and one is not two:
            return pointer
        case "shl", [Half(pointer, True), 32]:
            return Half(pointer, True)
        case "shr", [Pointer() as pointer, 32]:
            return Half(pointer, True)
        case "and", [Pointer(array, offset), int(mask)] | [int(mask), Pointer(array, offset)]:
            if mask < 256:  # every array begins at a multiple of 256 bytes
                return offset & mask
            if mask >> 8 == (1 << 56) - 1:
                return Pointer(array, offset & signed(mask, 64))
    return None


def _selected(at: ThreadSpecialiser, words: Sequence[str], values: Sequence[Value]) -> Value:
    one, other, chosen = values
    if isinstance(chosen, int):
        return one if chosen & 1 else other
    if one == other:
        return one
    if not isinstance(chosen, Held):
        raise at.wrong(at.said(chosen))
    width = WIDTHS[type_of(words)]
    if (one, other) == (1, 0):
        return Held(at.temporary("mov", litmus.Reg(chosen.register)), width)
    if isinstance(one, Pointer | Scaled | Half) or isinstance(other, Pointer | Scaled | Half):
        raise at.wrong("with addresses and a predicate that memory decides it is not understood")
    left, right = (_operand(_held(at, value), width) for value in (one, other))
    mask = at.temporary("sub", 0, litmus.Reg(chosen.register))
    both = at.temporary(f"xor.b{width}", left, right)
    kept = at.temporary(f"and.b{width}", litmus.Reg(both), litmus.Reg(mask))
    return Held(at.temporary(f"xor.b{width}", right, litmus.Reg(kept)), width)


def select(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``selp``: two ways where the predicate is not known and an operand is an address; else a computation."""
    target, one, other, predicate = ins.operands
    chosen = at.value(state, predicate)
    values = [at.value(state, one), at.value(state, other)]
    if isinstance(chosen, Held) and any(isinstance(value, Pointer | Scaled | Half) for value in values):
        if isinstance(values[0], Scaled):  # the other way may put its value where this one is
            values[0] = replace(values[0], register=at.temporary("mov", litmus.Reg(values[0].register)))
        skipped = state.goes(state.at)
        _result(at, skipped, target, values[1])
        at.put(litmus.Branch(at.jump(skipped), litmus.Comparison("eq", litmus.Reg(chosen.register), 0)))
        _result(at, state, target, values[0])
    else:
        _result(at, state, target, _computed(at, ins.opcode, [*values, chosen]))
    return True


def set_predicate(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``setp``: a comparison, which may be combined with a third operand."""
    target, one, other, *more = ins.operands
    value = _compared(at, ins.words, at.value(state, one), at.value(state, other))
    negative = _not(at, value)
    if more:
        boolean = next(word for word in ins.words if word in _ONE_BIT)
        third = at.value(state, more[0])
        value, negative = (_computed(at, f"{boolean}.pred", [each, third]) for each in (value, negative))
    _result(at, state, target, value, negative)
    return True


def _not(at: ThreadSpecialiser, value: Value) -> Value:
    if isinstance(value, int):
        return value & 1 ^ 1
    return Held(at.temporary("xor", litmus.Reg(value.register), 1), 1) if isinstance(value, Held) else value


def _compared(at: ThreadSpecialiser, words: Sequence[str], one: Value, other: Value) -> Value:
    for value in (one, other):
        if isinstance(value, Unknown):
            return value
    if not computable("setp", words, 2):
        return Unknown(f"a comparison of {type_of(words)}")
    if isinstance(one, int) and isinstance(other, int):
        return int(compare(words, one, other))
    name = next(word for word in words if word not in WIDTHS and word not in (*_ONE_BIT, "ftz"))
    match one, other:
        case [Pointer(array, offset), Pointer(second, less)] if array == second:
            start = 1 << WIDTHS[type_of(words)] - 2  # an address before the array is no large number
            return int(compare(words, start + offset, start + less))
        case [Pointer() | Scaled(str()) | Half() as address, 0] | [
            0,
            Pointer() | Scaled(str()) | Half() as address,
        ] if name in ("eq", "ne"):
            _assume_address(at, address)
            return int(name == "ne")
        case [Pointer(array), Pointer(second)] if name in ("eq", "ne"):
            return int(name == "ne")
    for value in (one, other):
        if isinstance(value, Missing):
            raise at.wrong(at.said(value))
    width = WIDTHS[type_of(words)]
    given = [_operand(_held(at, value), width) for value in (one, other)]
    kind = type_of(words)
    signless = name in ("eq", "ne") or (kind[0] == "s" and name in litmus.COMPARISONS)
    plain = kind[0] != "f" and width >= 32 and signless
    full = ("setp", name, "ftz", kind) if "ftz" in words else ("setp", name, kind)
    return Held(at.temporary(name if plain else ".".join(full), *given), 1)


def _assume_address(at: ThreadSpecialiser, address: Value) -> None:
    """Note that a parameter which the launch does not give is taken to be the address of an array."""
    name = address.array.removeprefix("argument::") if isinstance(address, Pointer) else ""
    number = at.kernel.number_of(name)
    if number is not None and at.launch.argument(name, number) is None:
        at.assumed[f"{at.launch.source_name(name, number)} is the address of an array"] = None


def set_mask(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``set``: a comparison whose result is a mask of bits, or 1.0."""
    target, one, other, *more = ins.operands
    if more:
        raise at.wrong("with a third operand it is not understood")
    to = next(word for word in ins.words if word in WIDTHS)
    words = [*ins.words]
    words.remove(to)
    if to not in ("u32", "s32", "f32"):
        raise at.wrong("is not understood")
    value = _compared(at, words, at.value(state, one), at.value(state, other))
    if isinstance(value, int):
        value = value * (0x3F800000 if to == "f32" else (1 << WIDTHS[to]) - 1)
    elif isinstance(value, Held):
        mask = at.temporary("sub", 0, litmus.Reg(value.register))
        value = Held(at.temporary("and", litmus.Reg(mask), 0x3F800000) if to == "f32" else mask, 32)
    _result(at, state, target, value)
    return True


def move(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``mov``, which also packs and unpacks vectors, and ``cvta``."""
    target, source = ins.operands[:2]
    width = WIDTHS[type_of(ins.words)]
    if isinstance(target, ptx.Vector):
        for part, value in zip(target.parts, _unpacked(at, state, ins, source), strict=False):
            _result(at, state, part, value)
    elif isinstance(source, ptx.Vector):
        _result(at, state, target, _packed(at, [at.value(state, part) for part in source.parts], width))
    elif ins.name == "cvta":
        _result(at, state, target, at.value(state, source))
    else:
        _result(at, state, target, at.value(state, source, width))
    return True


def _unpacked(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction, source: ptx.Operand) -> list[Value]:
    target = ins.operands[0]
    assert isinstance(target, ptx.Vector)
    count = len(target.parts)
    width = WIDTHS[type_of(ins.words)] // count
    match at.value(state, source):
        case int(bits):
            return [bits >> width * n & (1 << width) - 1 for n in range(count)]
        case Pointer() as pointer if count == 2:
            return [Half(pointer, False), Half(pointer, True)]
        case Held(register, whole):
            parts = [at.temporary(f"shr.u{whole}", litmus.Reg(register), width * n) for n in range(count)]
            return [Held(at.temporary(f"cvt.s{width}.u{whole}", litmus.Reg(part), 0), width) for part in parts]
        case Unknown() as unknown:
            return [unknown] * count
        case other:
            raise at.wrong(at.said(other))


def _packed(at: ThreadSpecialiser, values: Sequence[Value], width: int) -> Value:
    part = width // len(values)
    if all(isinstance(value, int) for value in values):
        return sum(value << part * n for n, value in enumerate(values) if isinstance(value, int))
    match values:
        case [Half(pointer, False), Half(other, True)] if pointer == other:
            return pointer
    for value in values:
        if isinstance(value, Unknown):
            return value
    found: litmus.Operand = 0
    for n, value in enumerate(values):
        held = _held(at, value)
        if isinstance(held, int):
            piece: litmus.Operand = signed(held << part * n, width)
        else:
            wide = at.temporary(f"cvt.u{width}.u{part}", litmus.Reg(held.register), 0)
            piece = litmus.Reg(at.temporary(f"shl.b{width}", litmus.Reg(wide), part * n))
        found = litmus.Reg(at.temporary(f"or.b{width}", found, piece))
    assert isinstance(found, litmus.Reg)
    return Held(found.name, width)


# Memory


def _mode(at: ThreadSpecialiser, words: Sequence[str], default: litmus.Mode) -> litmus.Mode:
    """Return how an access is done: its order and scope, or volatile."""
    if "volatile" in words:
        return litmus.Mode(volatile=True)
    if "mmio" in words:
        return litmus.Mode(litmus.Order.RELAXED, litmus.Scope.SYS)
    order = next((ORDERS[word] for word in words if word in ORDERS), None)
    tags: tuple[str, ...] = ()
    scope = next((SCOPES[word] for word in words if word in SCOPES), None)
    if "cluster" in words:
        scope, tags = litmus.Scope.QUEUE, (litmus.CLUSTER,)
    if order is None and scope is None:
        return default
    return litmus.Mode(order or default.order, scope or default.scope, tags=tags)


def _elements(words: Sequence[str]) -> tuple[int, int, str]:
    """Return the number of elements of an access, the bytes of each, and their type."""
    kind = type_of(words)
    count = next((int(word[1:]) for word in words if word in ("v2", "v4", "v8")), 1)
    return count, WIDTHS[kind] // 8, kind


_PLAIN_WORDS = frozenset(
    (*ORDERS, *SCOPES, "cluster", "weak", "volatile", "mmio", "nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "noftz",
     "v2", "v4", "v8", "global", "shared", "local", "const", "param", "unified", *WIDTHS)
)  # fmt: skip
"""The words of accesses besides their operations; those with ``::`` are spaces and hints for caches."""


def _check_words(at: ThreadSpecialiser, ins: ptx.PtxInstruction) -> None:
    """Refuse an access that is more than an access, such as ``st.async`` and ``st.bulk``."""
    for word in ins.words:
        stem = word.partition("::")[0]
        if word not in (*_PLAIN_WORDS, *_ATOMICS) and ("::" not in word or stem == "mbarrier"):
            raise at.wrong("is not understood")


def load(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``ld``, also of vectors, of which each element is an access."""
    target, source = ins.operands[:2]
    _check_words(at, ins)
    count, size, kind = _elements(ins.words)
    _check_vector(at, state, source, count)
    targets = target.parts if isinstance(target, ptx.Vector) else (target,)
    if "nc" in ins.words:
        at.assumed["ld.nc is read as a weak load, though it may go past the caches that the model is of"] = None
    mode = _mode(at, ins.words, litmus.PLAIN)
    address = _address(at, state, source)
    if count > 1 and isinstance(address, Scaled):  # an element may go where the address is
        address = replace(address, register=at.temporary("mov", litmus.Reg(address.register)))
    for number, part in enumerate(targets[:count]):
        value = _loaded(at, state, _moved(address, number * size), size, kind, mode)
        if value is None:
            return False
        _result(at, state, part, _filling(at, state, part, value, f"u{8 * size}" if kind[0] == "b" else kind))
    return True


def _address(at: ThreadSpecialiser, state: State, operand: ptx.Operand) -> Value:
    if isinstance(operand, ptx.PtxMemory):
        base = at.value(state, operand.base)
        if isinstance(base, Held) and operand.offset:
            raise at.wrong("with an address that was read from memory, and an offset, it is not understood")
        return _moved(base, operand.offset)
    if isinstance(operand, ptx.Symbol):
        return at.value(state, operand)
    raise at.wrong("the form of its address is not understood")


def _check_vector(at: ThreadSpecialiser, state: State, operand: ptx.Operand, count: int) -> None:
    if count > 1 and isinstance(_address(at, state, operand), Held):
        raise at.wrong("with an address that was read from memory it is not understood")


def _moved(address: Value, offset: int) -> Value:
    """Return an address so many bytes further on."""
    match address:
        case Pointer() | Scaled() | Missing():
            return replace(address, offset=address.offset + offset)
        case int(number):
            return number + offset
        case _:
            return address


def _loaded(
    at: ThreadSpecialiser, state: State, address: Value, size: int, kind: str, mode: litmus.Mode
) -> Value | None:
    """Return what a load gives; None where the thread ends, as its address is in no array."""
    if isinstance(address, Pointer):
        space = address.array.partition(":")[0]
        if space == "param" and state.depth == 0 and address.array.startswith("param:0:"):
            found = _parameter(at, address, size)
            if found is not None:
                return found
        if space in OWN:
            return _cell(at, state, address, size)
        if space == "const":
            return _constant(at, state, address, size)
    where = _placed(at, address, size)
    if where is None:
        at.stops("bounds")
        return None
    operand, access = where
    register = at.new_register()
    at.put(litmus.Load(register, operand, mode), access)
    return _extended(at, Held(register, 8 * size), kind)


def _constant(at: ThreadSpecialiser, state: State, address: Pointer, size: int) -> Value | None:
    """Return what the module says that constant memory holds; None where the thread ends, as it is not there."""
    name = address.array.rpartition(":")[2]
    variable = at.module.variables.get(name)
    if variable is None or variable.size is None:
        raise at.wrong(f"what {name} holds is not in the module")
    if not 0 <= address.offset <= variable.size - size:
        at.stops("bounds")
        return None
    at.assumed[f"{name} holds what the module gives it"] = None
    for place, symbol in variable.addresses:
        if (place, 8) == (address.offset, size):
            return at.value(state, symbol)
        if place < address.offset + size and address.offset < place + 8:
            raise at.wrong(f"a part of an address that {name} holds is not understood")
    data = variable.initial.ljust(variable.size, b"\0")
    return int.from_bytes(data[address.offset : address.offset + size], "little")


def _extended(at: ThreadSpecialiser, value: Held, kind: str) -> Held:
    """Return a value that was read as the register of its type has it: a small unsigned one without a sign."""
    if value.width < 32 and kind[0] != "s":
        return Held(at.temporary(f"cvt.u32.u{value.width}", litmus.Reg(value.register), 0), 32)
    return Held(value.register, max(32, value.width))


def _parameter(at: ThreadSpecialiser, address: Pointer, size: int) -> Value | None:
    """Return what the launch gives for a parameter of the kernel."""
    name = address.array.rpartition(":")[2]
    number = at.kernel.number_of(name)
    if number is None:
        return None
    given = at.launch.argument(name, number)
    if isinstance(given, int):
        return given >> 8 * address.offset & (1 << 8 * size) - 1
    if isinstance(given, SharedArgument):
        parameters = enumerate(at.kernel.parameters)
        called = (each.name for n, each in parameters if given.name in (each.name, at.launch.source_name(each.name, n)))
        return Pointer(f"argument::{next(called, given.name)}")
    if size == 8 or isinstance(given, ArrayArgument):
        return Pointer(f"argument::{name}" + (f"_{address.offset}" if address.offset else ""))
    return Missing(name, address.offset)


def _cell(at: ThreadSpecialiser, state: State, address: Pointer, size: int) -> Value:
    """Return what a thread's own memory holds."""
    home = _cell_home(address, size)
    if home in state.known:
        return state.known[home]
    _, depth, name = address.array.split(":", 2)
    prefix = f"{depth}:[{name}+"
    others = [each for each in state.known if each.startswith(prefix)]
    for other in others:
        start, _, length = other[len(prefix) : -1].partition(":")
        whole = state.known[other]
        inside = int(start) <= address.offset and address.offset + size <= int(start) + int(length)
        if inside and isinstance(whole, int):
            return whole >> 8 * (address.offset - int(start)) & (1 << 8 * size) - 1
    parts = [state.known.get(_cell_home(Pointer(address.array, address.offset + n), 1)) for n in range(size)]
    if all(isinstance(part, int) for part in parts):
        return sum(part << 8 * n for n, part in enumerate(parts) if isinstance(part, int))
    return Unknown(f"{name} at byte {address.offset}, which the thread has not written so")


def _cell_home(address: Pointer, size: int) -> str:
    _, depth, name = address.array.split(":", 2)
    return f"{depth}:[{name}+{address.offset}:{size}]"


def store(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``st``, also of vectors, of which each element is an access."""
    target, source = ins.operands[:2]
    _check_words(at, ins)
    count, size, _ = _elements(ins.words)
    _check_vector(at, state, target, count)
    sources = source.parts if isinstance(source, ptx.Vector) else (source,)
    address, mode = _address(at, state, target), _mode(at, ins.words, litmus.PLAIN)
    for number, part in enumerate(sources[:count]):
        here, value = _moved(address, number * size), at.value(state, part, 8 * size)
        if isinstance(here, Pointer) and here.array.partition(":")[0] in OWN:
            _keep(at, state, here, size, value)
            continue
        where = _placed(at, here, size)
        if where is None:
            return at.stops("bounds")
        operand, access = where
        at.put(litmus.Store(operand, _given(at, value, size), mode), access)
    return True


def _keep(at: ThreadSpecialiser, state: State, address: Pointer, size: int, value: Value) -> None:
    """Write to a thread's own memory; cells that overlap are known no more."""
    _, depth, name = address.array.split(":", 2)
    prefix = f"{depth}:[{name}+"
    for home in [each for each in state.known if each.startswith(prefix)]:
        start, _, length = home[len(prefix) : -1].partition(":")
        if int(start) < address.offset + size and address.offset < int(start) + int(length):
            del state.known[home]
    if isinstance(value, int):
        value &= (1 << 8 * size) - 1
    at.define(state, _cell_home(address, size), value)


def _given(at: ThreadSpecialiser, value: Value, size: int) -> litmus.Operand:
    """Return a value as an operand of an access of so many bytes."""
    match value:
        case Pointer(array, offset):
            if array.startswith(OWN):
                raise at.wrong("of an address in the thread's own memory is not understood")
            return litmus.Loc(placeholder(array, offset))
        case Unknown(reason):
            at.assumed[f"{reason} is stored as some number"] = None
            return signed(0x7F00_0000 + len(at.assumed), 8 * size)
        case Held(register, width) if width > 8 * size:
            return litmus.Reg(at.temporary(f"cvt.s{8 * size}.u{width}", litmus.Reg(register), 0))
        case _:
            return _operand(_held(at, value), 8 * size)


OWN = ("local", "param")
"""The spaces that belong to a thread alone."""


def placeholder(array: str, offset: int) -> str:
    """Return the name that a place in an array has until the sizes of all accesses are known."""
    return f"{array}#{offset}"


def _placed(at: ThreadSpecialiser, address: Value, size: int) -> tuple[litmus.Operand, Access] | None:
    """Return the operand that is an address, and the access; None where it is in no array."""
    base = address.array if isinstance(address, Pointer) else address.base if isinstance(address, Scaled) else None
    variable = at.module.variables.get(base.rpartition(":")[2]) if base and not base.startswith("argument:") else None
    if variable is not None and variable.addresses:
        raise at.wrong(f"{variable.name} holds addresses, which are not understood in memory that may change")
    if base and base.startswith(OWN):
        raise at.wrong("on the thread's own memory with a computed index, or atomically, is not understood")
    match address:
        case Pointer(array, offset):
            length = _length(at, array)
            if offset < 0 or (length is not None and offset + size > length):
                return None
            return litmus.Loc(placeholder(array, offset)), Access(array, offset, size)
        case Scaled(str(array), register, scale, offset):
            index: litmus.Operand = litmus.Reg(register)
            if scale % size == 0:
                if scale != size:
                    index = litmus.Reg(at.temporary("mul.lo.s64", index, scale // size))
            elif scale == 1:
                index = litmus.Reg(at.temporary("div.s64", index, size))
            else:
                raise at.wrong(f"accesses of {size} bytes that are {scale} apart are not understood")
            steps, inside = divmod(offset, size)
            if steps:
                index = litmus.Reg(at.temporary("add.s64", index, steps))
            start = litmus.Loc(placeholder(array, inside))
            length = _length(at, array)
            limit = None if inside or length is None else length // size
            if limit is None:
                name = plain_name(array.rpartition(":")[2])
                at.assumed[f"computed indices of {name} are those of its elements"] = None
            else:
                index = litmus.Reg(at.temporary("min.u64", index, limit))
            return litmus.Reg(at.temporary("add", start, index)), Access(array, None, size, limit)
        case Held(register):
            at.assumed["addresses that are read from memory are those of arrays"] = None
            return litmus.Reg(register), Access("", None, size)
        case int():
            return None
        case _:
            raise at.wrong(at.said(address))


def _length(at: ThreadSpecialiser, array: str) -> int | None:
    """Return the bytes of an array, where they are known."""
    name = array.rpartition(":")[2]
    if array.startswith("argument:"):
        number = at.kernel.number_of(name)
        given = None if number is None else at.launch.array(name, number)
        return given.bytes if given else None
    variable = at.module.variable(at.kernel, name)
    return None if variable is None else variable.size


def atomic(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``atom`` and ``red``."""
    operands = [*ins.operands]
    target = None if ins.name == "red" else operands.pop(0)
    source, *given = operands
    _check_words(at, ins)
    count, size, kind = _elements(ins.words)
    operation = next((word for word in ins.words if word in _ATOMICS), None)
    if operation is None or count > 1:
        raise at.wrong("is not understood")
    given = given[: 2 if operation == "cas" else 1]  # a policy for caches may follow
    mode = _mode(at, ins.words, litmus.DEFAULT_RMW)
    where = _placed(at, _address(at, state, source), size)
    if where is None:
        return at.stops("bounds")
    values = tuple(_given(at, at.value(state, each, 8 * size), size) for each in given)
    operand, access = where
    register = None if target is None else at.new_register()
    plain = operation in ("exch", "cas") or (size == 4 and (operation in (*_ONE_BIT, "add") or kind == "s32"))
    name = operation if plain and kind[0] != "f" else f"{operation}.{kind}"
    at.put(litmus.Rmw(name, register, operand, values, mode), access)
    if target is not None and register is not None:
        _result(at, state, target, Held(register, 8 * size))
    return True


_ATOMICS = ("add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec")


# Order


def fence(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``fence`` and ``membar``."""
    if ins.name == "membar" and ins.words[0] in MEMBARS:
        at.put(litmus.Fence(litmus.Mode(litmus.Order.SC, MEMBARS[ins.words[0]])))
    elif "proxy" in ins.words:
        proxy = ins.words[ins.words.index("proxy") + 1]
        if proxy not in litmus.FENCED or len(ins.words) > 2:
            raise at.wrong("is not understood")
        at.put(litmus.Fence(litmus.Mode(tags=(proxy,))))
    else:
        mode = _mode(at, ins.words, litmus.Mode(litmus.Order.ACQ_REL))
        if mode.scope is None or not set(ins.words) <= {*ORDERS, *SCOPES, "cluster"}:
            raise at.wrong("is not understood")
        at.put(litmus.Fence(mode))
    return True


def barrier(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``bar`` and ``barrier`` of a CTA, of a warp, and of a cluster."""
    words = [word for word in ins.words if word not in ("cta", "aligned")]
    if words[:1] == ["warp"]:
        _converge(at, _mask(at, state, ins.operands[0]))
        return True
    if words[:1] == ["cluster"]:
        return _cluster_barrier(at, state, words[1:])
    alone = at.launch.block == (1, 1, 1)
    if words[0] in ("sync", "arrive"):
        numbers = [_number(at, state, operand) for operand in ins.operands]
        if not alone:
            quorum = numbers[1] if len(numbers) > 1 else None
            at.meets(state, litmus.Barrier(numbers[0], words[0] == "arrive", quorum=quorum))
    elif words[0] == "red":
        target, number, *more = ins.operands
        quorum = _number(at, state, more[0]) if len(more) > 1 else None
        value = at.value(state, more[-1])
        if quorum not in (None, volume(at.launch.block)):
            raise at.wrong("of some threads of the block is not understood")
        every = _met(at, state, words[1], value, _number(at, state, number), quorum) if not alone else [value]
        if "popc" in words:
            _result(at, state, target, _folded(at, "add.s32", [0, *every]))
        else:
            _result(at, state, target, _folded(at, f"{words[1]}.pred", every))
    else:
        raise at.wrong("is not understood")
    return True


CLUSTER_BARRIER = 16
"""The number of the barrier of a cluster, which has no number; those of blocks have 0 to 15."""


def _cluster_barrier(at: ThreadSpecialiser, state: State, words: Sequence[str]) -> bool:
    """``barrier.cluster.arrive``, and the ``wait`` right behind it: together they are a barrier (9.7.13.4)."""
    body = state.function.body or ()
    follows = body[state.at] if state.at < len(body) else None
    waits = follows is not None and follows.name == "barrier" and follows.words[:2] == ("cluster", "wait")
    if words[0] != "arrive" or "relaxed" in words or not waits or (follows and follows.guard):
        raise at.wrong("is understood only as an arrival that releases with the wait right behind it")
    if volume(at.launch.cluster) * volume(at.launch.block) > 1:
        at.meets(state, litmus.Barrier(CLUSTER_BARRIER, scope=litmus.Scope.QUEUE))
    state.at += 1
    return True


def map_shared(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``mapa``: the place in the shared memory of another block of the cluster; ``getctarank``: the rank of a block."""
    target, source, *rank = ins.operands
    address = at.value(state, source)
    if not isinstance(address, Pointer) or not address.array.startswith("shared:"):
        raise at.wrong("of what is not known to be an address in shared memory is not understood")
    _, block, name = address.array.split(":", 2)
    if not rank:
        blocks = {at.launch.block_number(ids): ids.block for ids in at.launch.threads()}
        _result(at, state, target, at.launch.rank(blocks[int(block)]))
        return True
    number = at.value(state, rank[0], 32)
    there = at.launch.ranked(at.ids, number) if isinstance(number, int) else None
    if there is None:
        raise at.wrong("with a rank that is of no block of the cluster is not understood")
    _result(at, state, target, replace(address, array=f"shared:{there}:{name}"))
    return True


def mbarrier(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``mbarrier`` of a CTA, whose arrivals are counted in an object in shared memory (9.7.13.15).

    ``arrive`` gives the object as it was, and a wait asks whether the object has come to another phase.
    """
    kind, *words = ins.words
    operands = [*ins.operands]
    if kind not in ("init", "inval", "arrive", "test_wait", "try_wait") or not _MBARRIER_WORDS.issuperset(words):
        raise at.wrong("is not understood")
    target = operands.pop(0) if kind in ("arrive", "test_wait", "try_wait") else None
    where = _placed(at, _address(at, state, operands[0]), 8)
    if where is None:
        return at.stops("bounds")
    operand, access = where
    given = [at.value(state, each) for each in operands[1:]]
    default = litmus.Mode(litmus.Order.RELEASE if kind == "arrive" else litmus.Order.ACQUIRE, litmus.Scope.CTA)
    mode = _mode(at, words, default)
    if kind == "init":
        count = _number(at, state, operands[1])
        at.put(litmus.Store(operand, count << EXPECTED | count), access)
    elif kind == "arrive":
        assert target is not None
        register = at.new_register()
        arriving = _given(at, given[0], 4) if given else 1
        at.put(litmus.Rmw("mbarrier.arrive", register, operand, (arriving,), mode), access)
        _result(at, state, target, Held(register, 64))
    elif kind != "inval":
        assert target is not None
        register = at.new_register()
        at.put(litmus.Load(register, operand, mode), access)

        def phase(value: Value) -> Value:
            return _computed(at, "shr.u64", [value, PHASE])

        now, before = phase(Held(register, 64)), given[0]
        if "parity" in words:
            now = _computed(at, "and.b64", [now, 1])
        else:
            before = phase(before)
        _result(at, state, target, _compared(at, ("ne", "u32" if "parity" in words else "u64"), now, before))
    return True


_MBARRIER_WORDS = {"shared", "shared::cta", "b64", "parity", "acquire", "release", "relaxed", "cta", "cluster"}


def _number(at: ThreadSpecialiser, state: State, operand: ptx.Operand) -> int:
    value = at.value(state, operand, 32)
    if not isinstance(value, int):
        raise at.wrong("the number of a barrier or of its threads has to be known")
    return value


def _mask(at: ThreadSpecialiser, state: State, operand: ptx.Operand) -> int:
    value = at.value(state, operand, 32)
    if not isinstance(value, int):
        at.assumed["a mask of threads that memory decides is taken to have all threads of the warp"] = None
        return 0xFFFFFFFF
    return value


def _lanes(at: ThreadSpecialiser, mask: int) -> list[int]:
    """Return the numbers in the warp of the threads that a mask has and that are there."""
    there = min(at.launch.warp, volume(at.launch.block) - at.number + at.lane)
    return [lane for lane in range(there) if mask >> lane & 1]


def _converge(at: ThreadSpecialiser, mask: int) -> list[int]:
    lanes = _lanes(at, mask)
    if len(lanes) > 1:
        at.put(litmus.Barrier(0, quorum=len(lanes), scope=litmus.Scope.WARP))
    return lanes


def _folded(at: ThreadSpecialiser, opcode: str, values: Sequence[Value]) -> Value:
    """Return the values of all threads combined by an instruction that computes."""
    return reduce(lambda found, value: _computed(at, opcode, [found, value]), values)


def _met(at: ThreadSpecialiser, state: State, word: str, value: Value, number: int, quorum: int | None) -> list[Value]:
    """Return the values that all threads of a block bring to a barrier, through an array of the system's."""
    at.reduced.add((number, litmus.Scope.CTA))
    meeting, every = litmus.Barrier(number, quorum=quorum), range(volume(at.launch.block))
    return _exchanged(at, state, f"{SLOTS}:{at.block}:barrier{number}_{word}", at.number, every, value, meeting)


def _exchanged(
    at: ThreadSpecialiser,
    state: State,
    array: str,
    here: int,
    others: Sequence[int],
    value: Value,
    meeting: litmus.Barrier,
    brings: bool = True,
) -> list[Value]:
    """Return what threads bring: each writes its place of an array, and reads the others' between two barriers.

    ``brings``: somebody asks for what this thread brings.
    """
    if brings:
        at.put(litmus.Store(litmus.Loc(placeholder(array, 4 * here)), _given(at, value, 4)), Access(array, 4 * here, 4))
    at.meets(state, meeting)
    found: list[Value] = []
    for other in others:
        if other == here:
            found.append(value)
            continue
        register = at.new_register()
        at.put(litmus.Load(register, litmus.Loc(placeholder(array, 4 * other))), Access(array, 4 * other, 4))
        found.append(Held(register, 32))
    at.meets(state, meeting)
    return found


# Threads of a warp


def _brought(
    at: ThreadSpecialiser,
    state: State,
    ins: ptx.PtxInstruction,
    value: Value,
    mask: int,
    partners: Mapping[int, int] | None = None,
) -> dict[int, Value]:
    """Return what each thread of a warp brings to an instruction that they do together.

    ``partners``: the one lane that each lane asks, where it does not ask all. Each instruction has an array of its own,
    for lanes that come to different instructions do not meet.
    """
    lane, lanes = at.lane, _lanes(at, mask)
    if len(lanes) < 2 or lane not in lanes:
        return {lane: value}
    at.assumed["vote, match, shfl and redux order memory as bar.warp.sync does"] = None
    array = f"{SLOTS}:{at.block}:warp{at.number // at.launch.warp}_{ins.line}"
    meeting = litmus.Barrier(0, quorum=len(lanes), scope=litmus.Scope.WARP)
    if partners is None:
        return dict(zip(lanes, _exchanged(at, state, array, lane, lanes, value, meeting), strict=True))
    asked = {each: other for each, other in partners.items() if other in lanes and other != each}
    if not asked:
        at.put(meeting)
        return {lane: value}
    own = [lane, asked[lane]] if lane in asked else [lane]
    brings = lane in asked.values()
    return dict(zip(own, _exchanged(at, state, array, lane, own, value, meeting, brings), strict=True))


def vote(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``vote``: all, any, uni, ballot."""
    target, source, *mask = ins.operands
    brought = _brought(at, state, ins, at.value(state, source), _mask(at, state, mask[0]) if mask else 0xFFFFFFFF)
    values = list(brought.values())
    if "ballot" in ins.words:
        found = _folded(at, "or.b32", [_computed(at, "shl.b32", [value, lane]) for lane, value in brought.items()])
    elif "uni" in ins.words:
        every, none = _folded(at, "and.pred", values), _not(at, _folded(at, "or.pred", values))
        found = _folded(at, "or.pred", [every, none])
    else:
        found = _folded(at, "and.pred" if "all" in ins.words else "or.pred", values)
    _result(at, state, target, found)
    return True


def shuffle(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``shfl``: the value of another thread of the warp (9.7.9.6)."""
    target, source, by, limits, *mask = ins.operands
    value, lane = at.value(state, source), at.lane
    lanes = _mask(at, state, mask[0]) if mask else 0xFFFFFFFF
    found: Value = value
    inside: Value = Unknown("whether the other thread of a shuffle is there")
    if len(_lanes(at, lanes)) > 1:
        offset, bounds = at.value(state, by), at.value(state, limits)
        mode = next(word for word in ins.words if word in ("up", "down", "bfly", "idx"))
        if not isinstance(offset, int) or (mode == "idx" and not isinstance(bounds, int)):
            raise at.wrong("with lanes that memory decides it is not understood")
        offset &= 0x1F

        def partner(lane: int) -> int:
            segment = bounds >> 8 & 0x1F if isinstance(bounds, int) else 0
            ways = {"up": lane - offset, "down": lane + offset, "bfly": lane ^ offset}
            return ways.get(mode, lane & segment | offset & ~segment)

        other = partner(lane)
        brought = _brought(at, state, ins, value, lanes, {each: partner(each) for each in _lanes(at, lanes)})
        if other not in brought:
            at.assumed[f"{ins.name} from a lane that is not there gives a lane its own value"] = None
        there = _compared(at, ("ge" if mode == "up" else "le", "s32"), other & 0xFFFFFFFF, _furthest(at, bounds))
        found, inside = _computed(at, "selp.b32", [brought.get(other, value), value, there]), there
    _result(at, state, target, found, inside)
    return True


def _furthest(at: ThreadSpecialiser, bounds: Value) -> Value:
    """Return the furthest lane that a shuffle of this thread may ask, given its third operand."""
    clamp = _computed(at, "and.b32", [bounds, 0x1F])
    segment = _computed(at, "and.b32", [_computed(at, "shr.u32", [bounds, 8]), 0x1F])
    same = _computed(at, "and.b32", [segment, at.lane])
    free = _computed(at, "xor.b32", [segment, 0x1F])
    return _computed(at, "or.b32", [same, _computed(at, "and.b32", [free, clamp])])


def reduce_(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``redux``: the values of the threads of a warp combined."""
    target, source, mask = ins.operands
    brought = list(_brought(at, state, ins, at.value(state, source), _mask(at, state, mask)).values())
    operation = next(word for word in ins.words if word in ("add", "min", "max", "and", "or", "xor"))
    _result(at, state, target, _folded(at, f"{operation}.{type_of(ins.words)}", brought))
    return True


def active(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``activemask`` and ``elect``: all threads of the warp are taken to be there."""
    lanes = _lanes(at, 0xFFFFFFFF if ins.name == "activemask" else _mask(at, state, ins.operands[1]))
    if len(lanes) > 1:
        at.assumed[f"{ins.name} is of all threads of the warp"] = None
    target = ins.operands[0]
    if ins.name == "activemask":
        _result(at, state, target, sum(1 << each for each in lanes))
    else:
        _result(at, state, target, lanes[0], int(at.lane == lanes[0]))
    return True


# Control


def branch(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``bra``."""
    state.at = at.target(state, ins)
    return True


def branch_by_index(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``brx.idx``: to one of a list of labels."""
    index, table = ins.operands
    value = at.value(state, index)
    names = state.function.tables.get(table.name, ()) if isinstance(table, ptx.Symbol) else ()
    if not isinstance(value, int) or value >= len(names) or names[value] not in state.function.labels:
        raise at.wrong("with an index that memory decides it is not understood")
    state.at = state.function.labels[names[value]]
    return True


def call(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``call``, which is put in place of itself."""
    return at.call(state, ins)


def ret(at: ThreadSpecialiser, state: State, _: ptx.PtxInstruction) -> bool:
    """``ret``."""
    return at.returns(state)


def end(at: ThreadSpecialiser, state: State, _: ptx.PtxInstruction) -> bool:
    """``exit``."""
    state.frames = ()
    return at.returns(state)


def trap(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``trap`` and ``brkpt``."""
    return at.stops("trap")


def nothing(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """A hint, which changes nothing that is asked."""
    return True


def untold(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """An instruction whose result is taken as unknown."""
    _result(at, state, ins.operands[0], Unknown(f"the result of {ins.opcode}"))
    return True


MEANINGS: Mapping[str, Meaning] = {
    **dict.fromkeys(COMPUTED, compute_),
    "mov": move,
    "cvta": move,
    "selp": select,
    "setp": set_predicate,
    "set": set_mask,
    "ld": load,
    "ldu": load,
    "st": store,
    "atom": atomic,
    "red": atomic,
    "fence": fence,
    "membar": fence,
    "bar": barrier,
    "barrier": barrier,
    "mbarrier": mbarrier,
    "mapa": map_shared,
    "getctarank": map_shared,
    "vote": vote,
    "shfl": shuffle,
    "redux": reduce_,
    "activemask": active,
    "elect": active,
    "bra": branch,
    "brx": branch_by_index,
    "call": call,
    "ret": ret,
    "exit": end,
    "trap": trap,
    "brkpt": trap,
    **dict.fromkeys(("nanosleep", "prefetch", "prefetchu", "applypriority", "discard", "setmaxnreg"), nothing),
    **dict.fromkeys(("sin", "cos", "lg2", "ex2", "tanh", "rcp", "rsqrt", "copysign", "testp", "createpolicy"), untold),
}
"""The instructions that are understood, by their names."""
