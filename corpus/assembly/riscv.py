"""Reads the assembly of RISC-V (RV64), as clang and gcc write it.

    fence r, rw                    F.fence.r.rw       amoswap.w.aqrl a0, a4, (a0)    v0 := rmw exch x, 2 aqrl
    lw a2, 256(a0)                 v1 := [y]          bne a3, a5, .LBB0_2            a branch

Registers have 64 bits, and numbers of 32 are kept in them with their sign.

A pair of ``lr`` and ``sc`` is an atomic operation with the tag ``exclusive``, whose accesses are ordered each by
itself; the branch on the result of the ``sc`` is part of it.

Source: *The RISC-V Instruction Set Manual*, volume I: unprivileged ISA, chapters RV32I, RV64I, A and RVWMO; *RISC-V
Assembly Programmer's Manual* (pseudo-instructions). Gaps: accesses of 64 bits but on the stack, fences of devices, the
extensions B and V.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from corpus.assembly.language import MachineJump, MachineLanguage, Meaning, nothing
from corpus.assembly.text import AssemblyLine
from corpus.assembly.thread import AskedBranch, AssemblyThread
from corpus.assembly.values import FAILED, AffineValue, ComparedFlags, MachineValue, UnknownValue, number
from corpus.litmus.processors import ACQUIRING_STORE, RELEASING_LOAD, exclusive_mode, mode_of
from corpus.litmus.test import DEFAULT_RMW, PLAIN, Fence, Load, Mode, Rmw, Store

Operation = Callable[[AssemblyThread, MachineValue, MachineValue], MachineValue]

_ADDRESS = re.compile(r"(-?(?:0x)?[0-9a-fA-F]*)\((\w+)\)")
_NUMBER = re.compile(r"-?(0x[0-9a-fA-F]+|\d+)")


def _get(thread: AssemblyThread, name: str) -> MachineValue:
    return number(0) if name in ("zero", "x0") else thread.get({"fp": "s0"}.get(name, name))


def _put(thread: AssemblyThread, name: str, value: MachineValue) -> None:
    if name not in ("zero", "x0"):
        thread.put({"fp": "s0"}.get(name, name), value)


def _value(thread: AssemblyThread, text: str) -> MachineValue:
    if _NUMBER.fullmatch(text):
        return number(int(text, 0))
    if text.startswith("%"):
        return UnknownValue(f"the address {text} is not understood")
    return _get(thread, text)


def _address(thread: AssemblyThread, text: str) -> MachineValue:
    found = _ADDRESS.fullmatch(text.replace(" ", ""))
    if found is None:
        return UnknownValue(f"the address {text} is not understood")
    return thread.add(_get(thread, found[2]), number(int(found[1] or "0", 0)))


def _three(operation: str) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target, left, right = ins.operands
        _put(thread, target, thread.computed(operation, _get(thread, left), _value(thread, right)))

    return meaning


def _shift(sign: int, wide: bool) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target, source, amount = ins.operands
        value: MachineValue = UnknownValue("a shift by what was read is not understood")
        if _NUMBER.fullmatch(amount):
            value = thread.shifted(_get(thread, source), sign * int(amount, 0), wide)
            if not wide:
                value = thread.narrowed(value)
        _put(thread, target, value)

    return meaning


def _move(thread: AssemblyThread, ins: AssemblyLine) -> None:
    _put(thread, ins.operands[0], _value(thread, ins.operands[1]))


def _negated(thread: AssemblyThread, ins: AssemblyLine) -> None:
    _put(thread, ins.operands[0], thread.subtract(number(0), _value(thread, ins.operands[1])))


def _narrow(thread: AssemblyThread, ins: AssemblyLine) -> None:
    _put(thread, ins.operands[0], thread.narrowed(_value(thread, ins.operands[1])))


def _upper(thread: AssemblyThread, ins: AssemblyLine) -> None:
    value = _value(thread, ins.operands[1])
    _put(thread, ins.operands[0], thread.shifted(value, 12))


def _set(operation: str, zero: bool = False) -> Meaning:
    """``slt target, left, right``; with ``zero``, a comparison with 0."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target, left, *rest = ins.operands
        right = number(0) if zero else _value(thread, rest[0])
        flags = ComparedFlags(_get(thread, left), right, wide=True)
        _put(thread, target, thread.holds(operation, flags))

    return meaning


def _load(size: int, word: str | None = None) -> Meaning:
    mode = (mode_of(Load, word) or PLAIN) if word else PLAIN

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        _put(thread, ins.operands[0], thread.load(_address(thread, ins.operands[1]), size, mode))

    return meaning


def _load_unsigned(thread: AssemblyThread, ins: AssemblyLine) -> None:
    if not thread.signless:
        raise thread.refuse("a test with negative numbers, and it drops a sign")
    _load(4)(thread, ins)


def _store(size: int, word: str | None = None) -> Meaning:
    mode = (mode_of(Store, word) or PLAIN) if word else PLAIN

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        value = _get(thread, ins.operands[0])
        thread.store(_address(thread, ins.operands[1]), size, value, mode)

    return meaning


def _atomic(operation: str, word: str) -> Meaning:
    mode: Mode = (mode_of(Rmw, word) if word else None) or DEFAULT_RMW

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target, source, address = ins.operands
        operands = (_get(thread, target), _get(thread, source)) if operation == "cas" else (_get(thread, source),)
        place = _address(thread, address)
        _put(thread, target, thread.update(operation, place, operands, mode, target not in ("zero", "x0")))

    return meaning


def _load_reserved(word: str) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        if word == "rl":
            raise thread.refuse("a load that releases and does not acquire")
        more = (RELEASING_LOAD,) if word == "aqrl" else ()
        _put(thread, ins.operands[0], thread.load_exclusive(_address(thread, ins.operands[1]), bool(word), more))

    return meaning


def _store_conditional(word: str) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        if word == "aq":
            raise thread.refuse("a store that acquires and does not release")
        status, source, address = ins.operands
        value = _get(thread, source)

        def mode(acquires: bool) -> Mode:
            done = exclusive_mode(acquires, bool(word))
            return replace(done, tags=(*done.tags, ACQUIRING_STORE)) if word == "aqrl" else done

        thread.store_exclusive(_address(thread, address), value, mode)
        _put(thread, status, AffineValue(FAILED))

    return meaning


def _fence(thread: AssemblyThread, ins: AssemblyLine) -> None:
    words = [each.replace("i", "").replace("o", "") for each in ins.operands] or ["rw", "rw"]
    found = mode_of(Fence, "fence." + ".".join(words))
    if found is None:
        raise thread.refuse("this fence is not known")
    thread.fence(found)


def _fence_tso(thread: AssemblyThread, ins: AssemblyLine) -> None:
    thread.fence(mode_of(Fence, "fence.tso") or PLAIN)


_AMO = {"amoswap": "exch", "amoadd": "add", "amoand": "and", "amoor": "or", "amoxor": "xor"}
_AMO |= {"amomax": "max", "amomin": "min", "amocas": "cas"}
_BRANCHES = {"beq": "eq", "bne": "ne", "blt": "lt", "bge": "ge", "bltu": "ltu", "bgeu": "geu"}
_BRANCHES |= {"bgt": "gt", "ble": "le", "bgtu": "gtu", "bleu": "leu"}
_ZERO_BRANCHES = {"beqz": "eq", "bnez": "ne", "bltz": "lt", "bgez": "ge", "bgtz": "gt", "blez": "le"}


def _table() -> Mapping[str, Meaning]:
    table: dict[str, Meaning] = {
        "nop": nothing,
        "li": _move,
        "mv": _move,
        "lui": _upper,
        **dict.fromkeys(("sext.w", "zext.w"), _narrow),
        **dict.fromkeys(("add", "addi", "addw", "addiw"), _three("add")),
        **dict.fromkeys(("sub", "subw"), _three("sub")),
        **dict.fromkeys(("neg", "negw"), _negated),
        **dict.fromkeys(("mul", "mulw"), _three("mul")),
        **dict.fromkeys(("and", "andi"), _three("and")),
        **dict.fromkeys(("or", "ori"), _three("or")),
        **dict.fromkeys(("xor", "xori"), _three("xor")),
        "slli": _shift(1, True),
        "slliw": _shift(1, False),
        "srli": _shift(-1, True),
        "srliw": _shift(-1, False),
        "slt": _set("lt"),
        "slti": _set("lt"),
        "sltu": _set("ltu"),
        "sltiu": _set("ltu"),
        "seqz": _set("eq", zero=True),
        "snez": _set("ne", zero=True),
        "lw": _load(4),
        "lwu": _load_unsigned,
        "ld": _load(8),
        "lbu": _load(1),
        "lb": _load(1),
        "sw": _store(4),
        "sd": _store(8),
        "sb": _store(1),
        "lw.aq": _load(4, "aq"),
        "sw.rl": _store(4, "rl"),
        "fence": _fence,
        "fence.tso": _fence_tso,
    }
    for order, word in (("", ""), (".aq", "aq"), (".rl", "rl"), (".aqrl", "aqrl")):
        table |= {f"{name}.w{order}": _atomic(operation, word) for name, operation in _AMO.items()}
        table |= {f"lr.w{order}": _load_reserved(word), f"sc.w{order}": _store_conditional(word)}
    return MappingProxyType(table)


def _jump(ins: AssemblyLine) -> MachineJump | None:
    name, operands = ins.mnemonic, ins.operands
    if name == "ret" or (name == "jr" and operands == ("ra",)):
        return MachineJump(None)
    if name == "j":
        return MachineJump(operands[0])
    if name in _BRANCHES:

        def asked(thread: AssemblyThread) -> bool | AskedBranch:
            left, right = (_get(thread, each) for each in operands[:2])
            return thread.asked(_BRANCHES[name], ComparedFlags(left, right, wide=True))

        return MachineJump(operands[2], asked)
    if name in _ZERO_BRANCHES:

        def asked_of_zero(thread: AssemblyThread) -> bool | AskedBranch:
            flags = ComparedFlags(_get(thread, operands[0]), number(0), wide=True)
            return thread.asked(_ZERO_BRANCHES[name], flags)

        return MachineJump(operands[1], asked_of_zero)
    return None


RISCV = MachineLanguage("riscv", "#", ("a0", "a1"), "sp", _table(), _jump, signed=True)
"""RISC-V, with the words of ``corpus.litmus.processors.RISCV``."""
