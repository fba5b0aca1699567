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

from corpus.code.assembly.language import LABEL, NUMBER, Jump, MachineJump, MachineLanguage, Meaning, nothing
from corpus.code.assembly.text import AssemblyLine
from corpus.code.assembly.thread import AssemblyThread
from corpus.code.assembly.values import (
    STACK,
    AffineValue,
    ComparedFlags,
    MachineValue,
    UnknownValue,
    number,
)
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, READS, WRITES, Kind, Row, kind, table_of
from corpus.litmus.instructions import Fence
from corpus.litmus.orders import DEFAULT_RMW, PLAIN
from corpus.litmus.processors import mode_of

Operation = Callable[[AssemblyThread, MachineValue, MachineValue], MachineValue]

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
    for each in range(8, 16):
        for suffix, size in (("", 8), ("d", 4), ("w", 2), ("b", 1)):
            found[f"%r{each}{suffix}"] = (f"%r{each}", size)
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


def _address(thread: AssemblyThread, text: str) -> MachineValue:
    found = _MEMORY.fullmatch(text.replace(" ", ""))
    if found is None:
        return UnknownValue(f"the address {text} is not understood")
    total: MachineValue = number(int(found["number"] or "0", 0))
    for name, factor in ((found["base"], 1), (found["index"], int(found["factor"] or "1"))):
        if name is not None:
            value = thread.get(_REGISTERS[name][0])
            if isinstance(value, AffineValue) and factor != 1:
                value = value.times(factor) or UnknownValue(f"the address {text} is not understood")
            total = thread.add(total, value)
    return total


def read(thread: AssemblyThread, operand: str, size: int) -> MachineValue:
    """Return the value of an operand of so many bytes."""
    if operand.startswith("$"):
        immediate = int(operand[1:], 0)
        return number(immediate & 0xFF if size == 1 else immediate)
    if not operand.startswith("%"):
        return thread.load(_address(thread, operand), size)
    whole, _ = _REGISTERS[operand]
    if size == 1 and thread.content(f"{whole} low") is not None:
        return thread.get(f"{whole} low")
    value = thread.get(whole)
    return thread.byte(value) if size == 1 else value


def write(thread: AssemblyThread, operand: str, size: int, value: MachineValue) -> None:
    """Put a value into an operand of so many bytes. The upper half of a register is 0 where the lower one is written,
    and the rest of it stays where a byte is.
    """
    if not operand.startswith("%"):
        thread.store(_address(thread, operand), size, value)
        return
    whole, _ = _REGISTERS[operand]
    if size == 1:
        clear, value = thread.get(whole) == number(0), thread.byte(value)
        thread.put(f"{whole} low", value)
        thread.put(whole, value if clear else UnknownValue("one byte of a register was written"))
    else:
        thread.forget(f"{whole} low")
        thread.put(whole, thread.lowered(value) if size == 4 else value)


def _compare(
    thread: AssemblyThread, left: MachineValue, right: MachineValue, size: int, carry: bool = True, order: bool = True
) -> None:
    """Set flags. A byte is compared as the number that it is with its sign."""
    if size == 1:
        left, right = (_with_sign(thread.byte(each)) for each in (left, right))
    thread.compare(left, right, size == 8, carry, order)


def _with_sign(value: MachineValue) -> MachineValue:
    known = value.constant if isinstance(value, AffineValue) else None
    return value if known is None else number((known ^ 0x80) - 0x80)


def _two(operation: Operation, size: int, carry: bool = True, order: bool = True) -> Meaning:
    """``op source, target``: the target becomes ``operation(target, source)``, and the flags compare it with 0."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        source, target = ins.operands
        result = operation(thread, read(thread, target, size), read(thread, source, size))
        write(thread, target, size, result)
        _compare(thread, result, number(0), size, carry, order)

    return meaning


def _sub(size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        source, target = ins.operands
        left, right = read(thread, target, size), read(thread, source, size)
        write(thread, target, size, thread.subtract(left, right))
        _compare(thread, left, right, size)

    return meaning


def _computed(operation: str) -> Operation:
    return lambda thread, left, right: thread.compute(operation, left, right)


def _xor(size: int) -> Meaning:
    """The way to make a register 0 is no computation of what it held."""
    general = _two(_computed("xor"), size)

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        if ins.operands[0] == ins.operands[1]:
            write(thread, ins.operands[1], size, number(0))
            _compare(thread, number(0), number(0), size)
        else:
            general(thread, ins)

    return meaning


def _multiply(size: int) -> Meaning:
    """``imul`` of two operands, of whose flags none is known that is understood here."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        source, target = ins.operands
        write(thread, target, size, thread.compute("mul", read(thread, target, size), read(thread, source, size)))
        thread.no_flags("the flags of a product")

    return meaning


def _one(change: Callable[[AssemblyThread, MachineValue], MachineValue], size: int, flags: bool = True) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        (target,) = ins.operands
        result = change(thread, read(thread, target, size))
        write(thread, target, size, result)
        if flags:
            _compare(thread, result, number(0), size, carry=False, order=False)

    return meaning


def _shift(sign: int, size: int) -> Meaning:
    """A shift by a count modulo 32 or 64, which leaves the flags where that is 0."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        count = read(thread, ins.operands[0], 1) if len(ins.operands) == 2 else number(1)
        known = count.constant if isinstance(count, AffineValue) else None
        target = ins.operands[-1]
        old = read(thread, target, size)
        value: MachineValue = UnknownValue("a shift by what was read is not understood")
        if known is not None:
            known %= 64 if size == 8 else 32
            value = thread.byte(old) if size == 1 else old
            value = thread.shifted(value, sign * known, size == 8) if known or size == 4 else value
        write(thread, target, size, value)
        if known != 0:
            _compare(thread, value, number(0), size, carry=False, order=False)

    return meaning


def _move(source_size: int, size: int, signed: bool = False) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        value = read(thread, ins.operands[0], source_size)
        write(thread, ins.operands[1], size, thread.extended(value, True) if signed else value)

    return meaning


def _lea(size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        write(thread, ins.operands[1], size, _address(thread, ins.operands[0]))

    return meaning


def _cmp(size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        right, left = (read(thread, operand, size) for operand in ins.operands)
        _compare(thread, left, right, size)

    return meaning


def _test(size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        right, left = (read(thread, operand, size) for operand in ins.operands)
        both = left if left == right else thread.compute("and", left, right)
        _compare(thread, both, number(0), size)

    return meaning


def _condition(thread: AssemblyThread, word: str) -> tuple[str, ComparedFlags]:
    """What a condition asks: a comparison, and of what."""
    if word in _SIGN:
        return _SIGN[word], thread.flags_of_sign()
    return _CONDITIONS[word], thread.flags(_CONDITIONS[word])


def _set(word: str) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        write(thread, ins.operands[0], 1, thread.holds(*_condition(thread, word)))

    return meaning


def _cmov(word: str, size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        source, target = ins.operands
        value = read(thread, source, size), read(thread, target, size)
        write(thread, target, size, thread.select(thread.holds(*_condition(thread, word)), *value))

    return meaning


def _swap(thread: AssemblyThread, ins: AssemblyLine) -> None:
    one, other = ins.operands
    if one.startswith("%") and other.startswith("%"):
        values = read(thread, one, 4), read(thread, other, 4)
        write(thread, one, 4, values[1])
        write(thread, other, 4, values[0])
        return
    source, target = (one, other) if one.startswith("%") else (other, one)
    write(thread, source, 4, thread.update("exch", _address(thread, target), (read(thread, source, 4),), DEFAULT_RMW))


def _on_stack(thread: AssemblyThread, operand: str) -> bool:
    address = _address(thread, operand)
    return isinstance(address, AffineValue) and address.base == STACK


def _locked(operation: str, size: int) -> Meaning:
    """``lock op source, memory``, or ``lock inc memory``, which gives no result but flags."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target = ins.operands[-1]
        value = read(thread, ins.operands[0], size) if len(ins.operands) == 2 else number(1)
        if _on_stack(thread, target):
            if operation not in ("or", "add") or value != number(0):
                raise thread.refuse("a locked instruction that changes the stack")
            thread.fence(mode_of(Fence, "mfence") or PLAIN)
            thread.no_flags("the flags of a locked instruction on the stack")
            return
        if size != 4:
            raise thread.refuse(f"an access of {size} bytes, and locations have 4")
        old = thread.update(operation, _address(thread, target), (value,), DEFAULT_RMW)
        sums = operation in ("add", "sub")
        _compare(thread, thread.computed(operation, old, value), number(0), size, carry=False, order=not sums)

    return meaning


def _xadd(thread: AssemblyThread, ins: AssemblyLine) -> None:
    source, target = ins.operands
    added = read(thread, source, 4)
    old = thread.update("add", _address(thread, target), (added,), DEFAULT_RMW)
    _compare(thread, thread.add(old, added), number(0), 4, carry=False, order=False)
    write(thread, source, 4, old)


def _cmpxchg(thread: AssemblyThread, ins: AssemblyLine) -> None:
    source, target = ins.operands
    expected, value = thread.get("%rax"), read(thread, source, 4)
    old, flags = thread.compare_exchange(_address(thread, target), expected, value, DEFAULT_RMW)
    write(thread, "%eax", 4, old)
    thread.compare(flags.left, flags.right)  # the accumulator less what was read


def _push(thread: AssemblyThread, ins: AssemblyLine) -> None:
    value = read(thread, ins.operands[0], 8)
    below = thread.add(thread.get("%rsp"), number(-8))
    write(thread, "%rsp", 8, below)
    thread.store(below, 8, value)


def _pop(thread: AssemblyThread, ins: AssemblyLine) -> None:
    top = thread.get("%rsp")
    value = thread.load(top, 8)
    write(thread, "%rsp", 8, thread.add(top, number(8)))
    write(thread, ins.operands[0], 8, value)


def _leave(thread: AssemblyThread, ins: AssemblyLine) -> None:
    top = thread.get("%rbp")
    write(thread, "%rbp", 8, thread.load(top, 8))
    write(thread, "%rsp", 8, thread.add(top, number(8)))


def _extend_accumulator(thread: AssemblyThread, ins: AssemblyLine) -> None:
    write(thread, "%rax", 8, thread.extended(read(thread, "%eax", 4), True))


def _fence(thread: AssemblyThread, ins: AssemblyLine) -> None:
    thread.fence(mode_of(Fence, "mfence") or PLAIN)


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
            "add": _two(AssemblyThread.add, size, carry=False, order=False),
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
            "inc": _one(lambda thread, value: thread.add(value, number(1)), size),
            "dec": _one(lambda thread, value: thread.add(value, number(-1)), size),
            "neg": _one(lambda thread, value: thread.subtract(number(0), value), size),
            "not": _one(lambda thread, value: thread.compute("xor", value, number(-1)), size, flags=False),
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
        return MachineJump(ins.operands[0], lambda thread: thread.asked(*_condition(thread, word)))

    return jump


def _jumps() -> list[Row[Jump]]:
    return [
        Row("ret,retq,rep ret", CONTROL, "", lambda ins: MachineJump(None)),
        Row("jmp", CONTROL, "label", lambda ins: MachineJump(ins.operands[0])),
        *(Row(f"j{word}", CONTROL, "label", _branch(word)) for word in (*_CONDITIONS, *_SIGN)),
    ]


X86 = MachineLanguage("x86", "#", ("%rdi", "%rsi"), "%rsp", _KINDS, table_of(_rows()), table_of(_jumps()))
"""x86-64, with the words of ``corpus.litmus.processors.X86``."""
