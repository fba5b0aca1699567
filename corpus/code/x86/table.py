"""Reads the assembly of x86-64 in AT&T syntax, as g++ and clang write it.

    xchgl %eax, 256(%rdi)      v0 := rmw exch y, ..         lock orq $0, (%rsp)     F.mfence
    lock cmpxchgl %edx, (%rdi) v0 := rmw cas x, %eax, %edx  movl (%rdi), %eax       v0 := [x]

A locked instruction on the stack is a fence: no other thread sees what it does there, and it empties the store buffer
like an ``mfence``. An ``xchg`` with memory is locked without the word. An instruction on 32 bits of a register clears
the upper half, and one on 8 bits leaves the rest.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2 (instructions) and volume 3A, 9.1 and 9.2
(locked instructions, memory ordering); volume 1, 3.4.1.1 (registers of 64 bits). Gaps: registers of 16 bits and the
upper bytes of them, segments, vectors, and instructions that use the carry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from corpus.code.assembly.comparisons import ask, compare, decide, find_flags, find_sign_flags, forget_flags, select
from corpus.code.assembly.language import LABEL, NUMBER, Jump, MachineJump, MachineLanguage, Meaning, nothing
from corpus.code.assembly.memory import compare_exchange, fence, load, store, update
from corpus.code.assembly.sums import add, calculate, compute, extend, lower, shift, subtract, take_byte
from corpus.code.assembly.text import AssemblyLine
from corpus.code.assembly.thread import STACK, MachineValue, ProcessorState, ProcessorThread
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, READS, WRITES, Kind, Row, kind, table_of
from corpus.code.values import Affine, Compared, Unknown, number
from corpus.litmus.instructions import Fence
from corpus.litmus.orders import DEFAULT_RMW, PLAIN
from corpus.litmus.processors import mode_of

Operation = Callable[[ProcessorThread, MachineValue, MachineValue], MachineValue]

_SIZES = {"b": 1, "l": 4, "q": 8}
_MEMORY = re.compile(rf"(?P<number>(?:{NUMBER})?)\((?P<base>%\w+)?(?:,(?P<index>%\w+)(?:,(?P<factor>\d))?)?\)")


def _registers() -> Mapping[str, tuple[str, int]]:
    """The register of 64 bits that each name is a part of, and the bytes that the name is."""
    found: dict[str, tuple[str, int]] = {}
    for letter in "abcd":
        for name, size in ((f"r{letter}x", 8), (f"e{letter}x", 4), (f"{letter}x", 2), (f"{letter}l", 1)):
            found[f"%{name}"] = (f"%r{letter}x", size)
    for name in ("si", "di", "bp", "sp"):
        for spelled, size in ((f"r{name}", 8), (f"e{name}", 4), (name, 2), (f"{name}l", 1)):
            found[f"%{spelled}"] = (f"%r{name}", size)
    for index in range(8, 16):
        for suffix, size in (("", 8), ("d", 4), ("w", 2), ("b", 1)):
            found[f"%r{index}{suffix}"] = (f"%r{index}", size)
    return MappingProxyType(found)


_REGISTERS = _registers()


def _named(size: int) -> str:
    """The names of the registers of so many bytes."""
    return "|".join(name for name, (_, bytes) in _REGISTERS.items() if bytes == size)


_WHOLE = _named(8)
_KINDS: Mapping[str, Kind] = {
    "r1": kind(_named(1), "%cl", "%r9b"),
    "r4": kind(_named(4), "%ecx", "%r9d"),
    "r8": kind(_WHOLE, "%rcx", "%r9"),
    "cl": kind("%cl", "%cl"),
    "n": kind(rf"\${NUMBER}", "$2", "$-1", "$0x10"),
    "m": kind(rf"(?:{NUMBER})?\((?:{_WHOLE})(?: *, *(?:{_WHOLE})(?: *, *[1248])?)?\)", "(%rdi)", "256(%rdi,%rdx,4)"),
    "nowhere": kind(rf"(?:{NUMBER})?\([^()]*\)|%\w+", "0(%rax,%rax)"),
    "label": LABEL,
}
_CONDITIONS = {
    "e": "eq",
    "z": "eq",
    "ne": "ne",
    "nz": "ne",
    "l": "lt",
    "ge": "ge",
    "le": "le",
    "g": "gt",
    "b": "ltu",
    "ae": "geu",
    "be": "leu",
    "a": "gtu",
    "nl": "ge",
    "ng": "le",
    "nb": "geu",
    "na": "leu",
    "c": "ltu",
    "nc": "geu",
}
_SIGN = {"s": "lt", "ns": "ge"}
"""Conditions on the sign of the result alone: of a comparison with 0."""


def _address(thread: ProcessorThread, state: ProcessorState, text: str) -> MachineValue:
    found = _MEMORY.fullmatch(text.replace(" ", ""))
    if found is None:
        return Unknown(f"the address {text} is not understood")
    total: MachineValue = number(int(found["number"] or "0", 0))
    for name, factor in ((found["base"], 1), (found["index"], int(found["factor"] or "1"))):
        if name is not None:
            value = state.get(_REGISTERS[name][0])
            if isinstance(value, Affine) and factor != 1:
                value = value.times(factor) or Unknown(f"the address {text} is not understood")
            total = add(thread, total, value)
    return total


def read(thread: ProcessorThread, state: ProcessorState, operand: str, size: int) -> MachineValue:
    """Return the value of an operand of so many bytes."""
    if operand.startswith("$"):
        immediate = int(operand[1:], 0)
        return number(immediate & 0xFF if size == 1 else immediate)
    if not operand.startswith("%"):
        return load(thread, state, _address(thread, state, operand), size)
    whole, _ = _REGISTERS[operand]
    if size == 1 and state.find(f"{whole} low") is not None:
        return state.get(f"{whole} low")
    value = state.get(whole)
    return take_byte(thread, value) if size == 1 else value


def write(thread: ProcessorThread, state: ProcessorState, operand: str, size: int, value: MachineValue) -> None:
    """Put a value into an operand of so many bytes. The upper half of a register is 0 where the lower one is written,
    and the rest of it stays where a byte is.
    """
    if not operand.startswith("%"):
        store(thread, state, _address(thread, state, operand), size, value)
        return
    whole, _ = _REGISTERS[operand]
    if size == 1:
        clear, value = state.get(whole) == number(0), take_byte(thread, value)
        state.put(f"{whole} low", value)
        state.put(whole, value if clear else Unknown("one byte of a register was written"))
    else:
        state.forget(f"{whole} low")
        state.put(whole, lower(thread, value) if size == 4 else value)


def _compare(
    thread: ProcessorThread,
    state: ProcessorState,
    left: MachineValue,
    right: MachineValue,
    size: int,
    carry: bool = True,
    order: bool = True,
) -> None:
    """Set flags. A byte is compared as the number that it is with its sign."""
    if size == 1:
        left, right = (_with_sign(take_byte(thread, value)) for value in (left, right))
    compare(state, left, right, size == 8, carry, order)


def _with_sign(value: MachineValue) -> MachineValue:
    known = value.constant if isinstance(value, Affine) else None
    return value if known is None else number((known ^ 0x80) - 0x80)


def _two(operation: Operation, size: int, carry: bool = True, order: bool = True) -> Meaning:
    """``op source, target``: the target becomes ``operation(target, source)``, and the flags compare it with 0."""

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        source, target = ins.operands
        result = operation(thread, read(thread, state, target, size), read(thread, state, source, size))
        write(thread, state, target, size, result)
        _compare(thread, state, result, number(0), size, carry, order)

    return meaning


def _sub(size: int) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        source, target = ins.operands
        left, right = read(thread, state, target, size), read(thread, state, source, size)
        write(thread, state, target, size, subtract(thread, left, right))
        _compare(thread, state, left, right, size)

    return meaning


def _computed(operation: str) -> Operation:
    return lambda thread, left, right: compute(thread, operation, left, right)


def _xor(size: int) -> Meaning:
    """The way to make a register 0 is no computation of what it held."""
    general = _two(_computed("xor"), size)

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        if ins.operands[0] == ins.operands[1]:
            write(thread, state, ins.operands[1], size, number(0))
            _compare(thread, state, number(0), number(0), size)
        else:
            general(thread, state, ins)

    return meaning


def _multiply(size: int) -> Meaning:
    """``imul`` of two operands, of whose flags none is known that is understood here."""

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        source, target = ins.operands
        values = read(thread, state, target, size), read(thread, state, source, size)
        write(thread, state, target, size, compute(thread, "mul", *values))
        forget_flags(state, "the flags of a product")

    return meaning


def _one(change: Callable[[ProcessorThread, MachineValue], MachineValue], size: int, flags: bool = True) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        (target,) = ins.operands
        result = change(thread, read(thread, state, target, size))
        write(thread, state, target, size, result)
        if flags:
            _compare(thread, state, result, number(0), size, carry=False, order=False)

    return meaning


def _shift(sign: int, size: int) -> Meaning:
    """A shift by a count modulo 32 or 64, which leaves the flags where that is 0."""

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        count = read(thread, state, ins.operands[0], 1) if len(ins.operands) == 2 else number(1)
        known = count.constant if isinstance(count, Affine) else None
        target = ins.operands[-1]
        old = read(thread, state, target, size)
        value: MachineValue = Unknown("a shift by what was read is not understood")
        if known is not None:
            known %= 64 if size == 8 else 32
            value = take_byte(thread, old) if size == 1 else old
            value = shift(thread, value, sign * known, size == 8) if known or size == 4 else value
        write(thread, state, target, size, value)
        if known != 0:
            _compare(thread, state, value, number(0), size, carry=False, order=False)

    return meaning


def _move(source_size: int, size: int, signed: bool = False) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        value = read(thread, state, ins.operands[0], source_size)
        write(thread, state, ins.operands[1], size, extend(thread, value, True) if signed else value)

    return meaning


def _lea(size: int) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        write(thread, state, ins.operands[1], size, _address(thread, state, ins.operands[0]))

    return meaning


def _cmp(size: int) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        right, left = (read(thread, state, operand, size) for operand in ins.operands)
        _compare(thread, state, left, right, size)

    return meaning


def _test(size: int) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        right, left = (read(thread, state, operand, size) for operand in ins.operands)
        both = left if left == right else compute(thread, "and", left, right)
        _compare(thread, state, both, number(0), size)

    return meaning


def _condition(state: ProcessorState, word: str) -> tuple[str, Compared]:
    """What a condition asks: a comparison, and of what."""
    if word in _SIGN:
        return _SIGN[word], find_sign_flags(state)
    return _CONDITIONS[word], find_flags(state, _CONDITIONS[word])


def _set(word: str) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        write(thread, state, ins.operands[0], 1, decide(thread, *_condition(state, word)))

    return meaning


def _cmov(word: str, size: int) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        source, target = ins.operands
        value = read(thread, state, source, size), read(thread, state, target, size)
        write(thread, state, target, size, select(thread, decide(thread, *_condition(state, word)), *value))

    return meaning


def _swap(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    one, other = ins.operands
    if one.startswith("%") and other.startswith("%"):
        values = read(thread, state, one, 4), read(thread, state, other, 4)
        write(thread, state, one, 4, values[1])
        write(thread, state, other, 4, values[0])
        return
    source, target = (one, other) if one.startswith("%") else (other, one)
    old = update(thread, "exch", _address(thread, state, target), (read(thread, state, source, 4),), DEFAULT_RMW)
    write(thread, state, source, 4, old)


def _on_stack(thread: ProcessorThread, state: ProcessorState, operand: str) -> bool:
    address = _address(thread, state, operand)
    return isinstance(address, Affine) and address.base == STACK


def _locked(operation: str, size: int) -> Meaning:
    """``lock op source, memory``, or ``lock inc memory``, which gives no result but flags."""

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target = ins.operands[-1]
        value = read(thread, state, ins.operands[0], size) if len(ins.operands) == 2 else number(1)
        if _on_stack(thread, state, target):
            if operation not in ("or", "add") or value != number(0):
                raise thread.out.wrong("a locked instruction that changes the stack")
            fence(thread, mode_of(Fence, "mfence") or PLAIN)
            forget_flags(state, "the flags of a locked instruction on the stack")
            return
        if size != 4:
            raise thread.out.wrong(f"an access of {size} bytes, and locations have 4")
        old = update(thread, operation, _address(thread, state, target), (value,), DEFAULT_RMW)
        sums = operation in ("add", "sub")
        _compare(thread, state, calculate(thread, operation, old, value), number(0), size, carry=False, order=not sums)

    return meaning


def _xadd(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    source, target = ins.operands
    added = read(thread, state, source, 4)
    old = update(thread, "add", _address(thread, state, target), (added,), DEFAULT_RMW)
    _compare(thread, state, add(thread, old, added), number(0), 4, carry=False, order=False)
    write(thread, state, source, 4, old)


def _cmpxchg(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    source, target = ins.operands
    expected, value = state.get("%rax"), read(thread, state, source, 4)
    old, flags = compare_exchange(thread, _address(thread, state, target), expected, value, DEFAULT_RMW)
    write(thread, state, "%eax", 4, old)
    compare(state, flags.left, flags.right)  # the accumulator less what was read


def _push(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    value = read(thread, state, ins.operands[0], 8)
    below = add(thread, state.get("%rsp"), number(-8))
    write(thread, state, "%rsp", 8, below)
    store(thread, state, below, 8, value)


def _pop(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    top = state.get("%rsp")
    value = load(thread, state, top, 8)
    write(thread, state, "%rsp", 8, add(thread, top, number(8)))
    write(thread, state, ins.operands[0], 8, value)


def _leave(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    top = state.get("%rbp")
    write(thread, state, "%rbp", 8, load(thread, state, top, 8))
    write(thread, state, "%rsp", 8, add(thread, top, number(8)))


def _extend_accumulator(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    write(thread, state, "%rax", 8, extend(thread, read(thread, state, "%eax", 4), True))


def _fence(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    fence(thread, mode_of(Fence, "mfence") or PLAIN)


def _rows() -> list[Row[Meaning]]:
    rows: list[Row[Meaning]] = [
        Row("nop", NOTHING, "", nothing),
        Row("nopl,nopw", NOTHING, "nowhere", nothing),
        Row("endbr64", NOTHING, "", nothing),
        Row("leaq", NOTHING, "m r8", _lea(8)),
        Row("leal", NOTHING, "m r4", _lea(4)),
        Row("mfence", ORDERS, "", _fence),
        Row("xchgl", BOTH, "r4 m|r4 / m r4", _swap),
        Row("lock xchgl", BOTH, "r4 m / m r4", _swap),
        Row("lock xaddl", BOTH, "r4 m", _xadd),
        Row("lock cmpxchgl", BOTH, "r4 m", _cmpxchg),
        Row("lock incl", BOTH, "m", _locked("add", 4)),
        Row("lock decl", BOTH, "m", _locked("sub", 4)),
        Row("pushq", NOTHING, "r8|n", _push),
        Row("popq", NOTHING, "r8", _pop),
        Row("leave,leaveq", NOTHING, "", _leave),
        Row("movzbl", READS, "r1|m r4", _move(1, 4)),
        Row("movzbq", READS, "r1|m r8", _move(1, 8)),
        Row("movabsq", NOTHING, "n r8", _move(8, 8)),
        Row("movslq", READS, "r4|m r8", _move(4, 8, signed=True)),
        Row("cltq", NOTHING, "", _extend_accumulator),
    ]
    for suffix, size in _SIZES.items():
        to, back, one, register = f"r{size}|n r{size}|m", f"m r{size}", f"r{size}|m", f"r{size}"
        changes: dict[str, Meaning] = {
            "add": _two(add, size, carry=False, order=False),
            "sub": _sub(size),
            "and": _two(_computed("and"), size),
            "or": _two(_computed("or"), size),
            "xor": _xor(size),
        }
        for name, meaning in changes.items():
            rows += Row(f"{name}{suffix}", BOTH, to, meaning), Row(f"{name}{suffix}", READS, back, meaning)
        rows += [
            Row(f"mov{suffix}", WRITES, to, _move(size, size)),
            Row(f"mov{suffix}", READS, back, _move(size, size)),
            Row(f"cmp{suffix}", READS, f"{to} / {back}", _cmp(size)),
            Row(f"test{suffix}", READS, f"{to} / {back}", _test(size)),
        ]
        if size > 1:
            rows.append(Row(f"imul{suffix}", READS, f"{one}|n {register}", _multiply(size)))
        alone: dict[str, Meaning] = {
            "inc": _one(lambda thread, value: add(thread, value, number(1)), size),
            "dec": _one(lambda thread, value: add(thread, value, number(-1)), size),
            "neg": _one(lambda thread, value: subtract(thread, number(0), value), size),
            "not": _one(lambda thread, value: compute(thread, "xor", value, number(-1)), size, flags=False),
        }
        rows += [Row(f"{name}{suffix}", BOTH, one, meaning) for name, meaning in alone.items()]
        for name, sign in (("shl", 1), ("sal", 1), ("shr", -1)):
            rows.append(Row(f"{name}{suffix}", BOTH, f"n|cl {one} / {one}", _shift(sign, size)))
        for name in ("add", "sub", "and", "or", "xor"):
            rows.append(Row(f"lock {name}{suffix}", BOTH, f"{register}|n m", _locked(name, size)))
    for word in (*_CONDITIONS, *_SIGN):
        rows.append(Row(f"set{word}", WRITES, "r1|m", _set(word)))
        for suffix, size in (("", 4), ("l", 4), ("q", 8)):
            rows.append(Row(f"cmov{word}{suffix}", READS, f"r{size}|m r{size}", _cmov(word, size)))
    return rows


def _branch(word: str) -> Jump:
    def jump(ins: AssemblyLine) -> MachineJump:
        return MachineJump(ins.operands[0], lambda thread, state: ask(thread, *_condition(state, word)))

    return jump


def _jumps() -> list[Row[Jump]]:
    return [
        Row("ret,retq,rep ret", CONTROL, "", lambda ins: MachineJump(None)),
        Row("jmp", CONTROL, "label", lambda ins: MachineJump(ins.operands[0])),
        *(Row(f"j{word}", CONTROL, "label", _branch(word)) for word in (*_CONDITIONS, *_SIGN)),
    ]


X86 = MachineLanguage("x86", "#", ("%rdi", "%rsi"), "%rsp", _KINDS, table_of(_rows()), table_of(_jumps()))
"""x86-64, with the words of ``corpus.litmus.processors.X86``."""
