"""Reads the assembly of x86-64 in AT&T syntax, as g++ and clang write it.

    xchgl %eax, 256(%rdi)      v0 := rmw exch y, ..         lock orq $0, (%rsp)     F.mfence
    lock cmpxchgl %edx, (%rdi) v0 := rmw cas x, %eax, %edx  movl (%rdi), %eax       v0 := [x]

A locked instruction on the stack is a fence: no other thread sees what it does there, and it empties the store buffer
like an ``mfence``. An ``xchg`` with memory is locked without the word.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2 (instructions) and volume 3A, 9.1 and 9.2
(locked instructions, memory ordering). Gaps: registers of 16 bits, vectors, and instructions that use the carry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from corpus.assembly.language import MachineJump, MachineLanguage, Meaning, nothing
from corpus.assembly.text import AssemblyLine
from corpus.assembly.thread import AskedBranch, AssemblyThread
from corpus.assembly.values import (
    STACK,
    AffineValue,
    ComparedFlags,
    MachineValue,
    UnknownValue,
    number,
)
from corpus.litmus.processors import mode_of
from corpus.litmus.test import DEFAULT_RMW, PLAIN, Fence

Operation = Callable[[AssemblyThread, MachineValue, MachineValue], MachineValue]

_SIZES = {"b": 1, "w": 2, "l": 4, "q": 8}
_MEMORY = re.compile(r"(?P<number>-?(?:0x)?[0-9a-fA-F]*)\((?P<base>%\w+)?(?:,(?P<index>%\w+)(?:,(?P<factor>\d))?)?\)")


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
        try:
            return number(int(operand[1:], 0))
        except ValueError:
            return UnknownValue(f"the address {operand} is not understood")
    if not operand.startswith("%"):
        return thread.load(_address(thread, operand), size)
    if operand not in _REGISTERS:
        return UnknownValue(f"the register {operand} is not understood")
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
    if operand not in _REGISTERS:
        return
    whole, _ = _REGISTERS[operand]
    if size < 4:
        clear = thread.state.get(whole) == number(0)
        thread.put(f"{whole} low", value)
        thread.put(whole, value if clear else UnknownValue("one byte of a register was written"))
    else:
        thread.forget(f"{whole} low")
        thread.put(whole, value)


def _two(operation: Operation, size: int, carry: bool = True) -> Meaning:
    """``op source, target``: the target becomes ``operation(target, source)``, and the flags compare it with 0."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        source, target = ins.operands
        result = operation(thread, read(thread, target, size), read(thread, source, size))
        write(thread, target, size, result)
        thread.compare(result, number(0), size == 8, carry)

    return meaning


def _sub(size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        source, target = ins.operands
        left, right = read(thread, target, size), read(thread, source, size)
        write(thread, target, size, thread.subtract(left, right))
        thread.compare(left, right, size == 8)

    return meaning


def _computed(operation: str) -> Operation:
    return lambda thread, left, right: thread.compute(operation, left, right)


def _xor(size: int) -> Meaning:
    """The way to make a register 0 is no computation of what it held."""
    general = _two(_computed("xor"), size)

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        if ins.operands[0] == ins.operands[1]:
            write(thread, ins.operands[1], size, number(0))
            thread.compare(number(0), number(0), size == 8)
        else:
            general(thread, ins)

    return meaning


def _one(change: Callable[[AssemblyThread, MachineValue], MachineValue], size: int, flags: bool = True) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        result = change(thread, read(thread, ins.operands[-1], size))
        write(thread, ins.operands[-1], size, result)
        if flags:
            thread.compare(result, number(0), size == 8, carry=False)

    return meaning


def _shift(sign: int, size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        count = read(thread, ins.operands[0], 1) if len(ins.operands) == 2 else number(1)
        known = count.constant if isinstance(count, AffineValue) else None
        target = ins.operands[-1]
        value: MachineValue = UnknownValue("a shift by what was read is not understood")
        if known is not None:
            value = thread.shifted(read(thread, target, size), sign * (known % (8 * size)), size == 8)
        write(thread, target, size, value)
        thread.compare(value, number(0), size == 8, carry=False)

    return meaning


def _move(source_size: int, size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        write(thread, ins.operands[1], size, read(thread, ins.operands[0], source_size))

    return meaning


def _lea(thread: AssemblyThread, ins: AssemblyLine) -> None:
    write(thread, ins.operands[1], 8, _address(thread, ins.operands[0]))


def _cmp(size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        right, left = (read(thread, operand, size) for operand in ins.operands)
        thread.compare(left, right, size == 8)

    return meaning


def _test(size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        right, left = (read(thread, operand, size) for operand in ins.operands)
        both = left if left == right else thread.compute("and", left, right)
        thread.compare(both, number(0), size == 8)

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
            thread.compare(UnknownValue("the flags of a locked instruction on the stack"), number(0), size == 8)
            return
        if size != 4:
            raise thread.refuse(f"an access of {size} bytes, and locations have 4")
        old = thread.update(operation, _address(thread, target), (value,), DEFAULT_RMW)
        thread.compare(thread.computed(operation, old, value), number(0), size == 8, carry=False)

    return meaning


def _xadd(thread: AssemblyThread, ins: AssemblyLine) -> None:
    source, target = ins.operands
    old = thread.update("add", _address(thread, target), (read(thread, source, 4),), DEFAULT_RMW)
    write(thread, source, 4, old)


def _cmpxchg(thread: AssemblyThread, ins: AssemblyLine) -> None:
    source, target = ins.operands
    expected, value = thread.get("%rax"), read(thread, source, 4)
    old, flags = thread.compare_exchange(_address(thread, target), expected, value, DEFAULT_RMW)
    write(thread, "%eax", 4, old)
    thread.compare(flags.left, flags.right)


def _push(thread: AssemblyThread, ins: AssemblyLine) -> None:
    below = thread.add(thread.get("%rsp"), number(-8))
    thread.put("%rsp", below)
    thread.store(below, 8, read(thread, ins.operands[0], 8))


def _pop(thread: AssemblyThread, ins: AssemblyLine) -> None:
    top = thread.get("%rsp")
    write(thread, ins.operands[0], 8, thread.load(top, 8))
    thread.put("%rsp", thread.add(top, number(8)))


def _leave(thread: AssemblyThread, ins: AssemblyLine) -> None:
    top = thread.get("%rbp")
    thread.put("%rbp", thread.load(top, 8))
    thread.put("%rsp", thread.add(top, number(8)))


def _fence(thread: AssemblyThread, ins: AssemblyLine) -> None:
    thread.fence(mode_of(Fence, "mfence") or PLAIN)


def _table() -> Mapping[str, Meaning]:
    table: dict[str, Meaning] = {
        **dict.fromkeys(("nop", "nopl", "nopw", "endbr64"), nothing),
        "leaq": _lea,
        "leal": _lea,
        "mfence": _fence,
        "xchgl": _swap,
        "lock xchgl": _swap,
        "lock xaddl": _xadd,
        "lock cmpxchgl": _cmpxchg,
        "lock incl": _locked("add", 4),
        "lock decl": _locked("sub", 4),
        "pushq": _push,
        "popq": _pop,
        "leave": _leave,
        "leaveq": _leave,
        "movzbl": _move(1, 4),
        "movzbq": _move(1, 8),
        "movabsq": _move(8, 8),
        "movslq": _move(4, 8),
        "cltq": lambda thread, ins: write(thread, "%rax", 8, read(thread, "%eax", 4)),
    }
    for suffix, size in _SIZES.items():
        if size == 2:
            continue
        table |= {
            f"mov{suffix}": _move(size, size),
            f"add{suffix}": _two(AssemblyThread.add, size, carry=False),
            f"sub{suffix}": _sub(size),
            f"and{suffix}": _two(_computed("and"), size),
            f"or{suffix}": _two(_computed("or"), size),
            f"xor{suffix}": _xor(size),
            f"imul{suffix}": _two(_computed("mul"), size, carry=False),
            f"cmp{suffix}": _cmp(size),
            f"test{suffix}": _test(size),
            f"inc{suffix}": _one(lambda thread, value: thread.add(value, number(1)), size),
            f"dec{suffix}": _one(lambda thread, value: thread.add(value, number(-1)), size),
            f"neg{suffix}": _one(lambda thread, value: thread.subtract(number(0), value), size),
            f"not{suffix}": _one(lambda thread, value: thread.compute("xor", value, number(-1)), size, flags=False),
            f"shl{suffix}": _shift(1, size),
            f"sal{suffix}": _shift(1, size),
            f"shr{suffix}": _shift(-1, size),
        }
        table |= {f"lock {each}{suffix}": _locked(each, size) for each in ("add", "sub", "and", "or", "xor")}
    for word in (*_CONDITIONS, *_SIGN):
        table |= {f"set{word}": _set(word), f"cmov{word}": _cmov(word, 4)}
        table |= {f"cmov{word}l": _cmov(word, 4), f"cmov{word}q": _cmov(word, 8)}
    return MappingProxyType(table)


def _jump(ins: AssemblyLine) -> MachineJump | None:
    if ins.mnemonic in ("ret", "retq"):
        return MachineJump(None)
    if ins.mnemonic == "jmp":
        return MachineJump(ins.operands[0])
    word = ins.mnemonic[1:]
    if ins.mnemonic.startswith("j") and (word in _CONDITIONS or word in _SIGN):

        def asked(thread: AssemblyThread) -> bool | AskedBranch:
            return thread.asked(*_condition(thread, word))

        return MachineJump(ins.operands[0], asked)
    return None


X86 = MachineLanguage("x86", "#", ("%rdi", "%rsi"), "%rsp", _table(), _jump)
"""x86-64, with the words of ``corpus.litmus.processors.X86``."""
