"""Reads the assembly of RISC-V (RV64), as clang and gcc write it.

    fence r, rw                    F.fence.r.rw       amoswap.w.aqrl a0, a4, (a0)    v0 := rmw exch x, 2 aqrl
    lw a2, 256(a0)                 v1 := [y]          bne a3, a5, .LBB0_2            a branch

Registers have 64 bits, and numbers of 32 are kept in them with their sign. ``x10`` and ``a0`` are one register.

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

from corpus.code.assembly.comparisons import ask, decide
from corpus.code.assembly.language import LABEL, NUMBER, Jump, MachineJump, MachineLanguage, Meaning, nothing
from corpus.code.assembly.memory import fence, load, load_exclusive, store, store_exclusive, update
from corpus.code.assembly.sums import add, calculate, extend, lower, shift, subtract
from corpus.code.assembly.text import AssemblyLine
from corpus.code.assembly.thread import MachineValue, ProcessorState, ProcessorThread
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, READS, WRITES, Kind, Row, kind, table_of
from corpus.code.values import Affine, Compared, Unknown, number
from corpus.litmus.instructions import Comparison, Fence, Load, Rmw, Store
from corpus.litmus.orders import DEFAULT_RMW, PLAIN, Mode
from corpus.litmus.processors import ACQUIRING_STORE, RELEASING_LOAD, exclusive_mode, mode_of

Operation = Callable[[ProcessorThread, MachineValue, MachineValue], MachineValue]

_ADDRESS = re.compile(rf"((?:{NUMBER})?)\((\w+)\)")
_NUMBER = re.compile(NUMBER)
_NAMES = ("zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", *(f"a{index}" for index in range(8)))
_NAMES += (*(f"s{index}" for index in range(2, 12)), *(f"t{index}" for index in range(3, 7)))
_REGISTERS = {name: name for name in _NAMES} | {f"x{number}": name for number, name in enumerate(_NAMES)} | {"fp": "s0"}
"""The name of each register by the names that it has (RISC-V Assembly Programmer's Manual, general registers)."""
_ANY = "|".join(_REGISTERS)
_KINDS: Mapping[str, Kind] = {
    "r": kind(_ANY, "a5", "t1", "zero", "x14"),
    "n": kind(NUMBER, "2", "-1", "0x10"),
    "u20": kind("0x[0-9a-fA-F]{1,5}|0|[1-9][0-9]{0,6}", "262144"),
    "c5": kind("[12]?[0-9]|3[01]", "3"),
    "c6": kind("[1-5]?[0-9]|6[0-3]", "3"),
    "m": kind(rf"(?:{NUMBER})?\((?:{_ANY})\)", "0(a0)", "256(a0)"),
    "m0": kind(rf"0?\((?:{_ANY})\)", "(a0)"),
    "set": kind("i?o?r?w?", "rw", "r", "iorw"),
    "ra": kind("ra|x1", "ra"),
    "label": LABEL,
}


def _get(state: ProcessorState, name: str) -> MachineValue:
    name = _REGISTERS[name]
    return number(0) if name == "zero" else state.get(name)


def _put(state: ProcessorState, name: str, value: MachineValue) -> None:
    name = _REGISTERS[name]
    if name != "zero":
        state.put(name, value)


def _value(state: ProcessorState, text: str) -> MachineValue:
    return number(int(text, 0)) if _NUMBER.fullmatch(text) else _get(state, text)


def _address(thread: ProcessorThread, state: ProcessorState, text: str) -> MachineValue:
    found = _ADDRESS.fullmatch(text.replace(" ", ""))
    if found is None:
        return Unknown(f"the address {text} is not understood")
    return add(thread, _get(state, found[2]), number(int(found[1] or "0", 0)))


def _word(thread: ProcessorThread, ins: AssemblyLine, value: MachineValue) -> MachineValue:
    """A result, of which an instruction on words keeps the lowest 32 bits with their sign."""
    return lower(thread, value) if ins.mnemonic.endswith("w") else value


def _three(operation: str) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target, left, right = ins.operands
        result = calculate(thread, operation, _get(state, left), _value(state, right))
        _put(state, target, _word(thread, ins, result))

    return meaning


def _shift(sign: int, wide: bool) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target, source, amount = ins.operands
        value = shift(thread, _get(state, source), sign * int(amount, 0), wide)
        _put(state, target, value if wide else lower(thread, value))

    return meaning


def _move(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    _put(state, ins.operands[0], _value(state, ins.operands[1]))


def _negated(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    _put(state, ins.operands[0], _word(thread, ins, subtract(thread, number(0), _value(state, ins.operands[1]))))


def _extend(signed: bool) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        _put(state, ins.operands[0], extend(thread, _get(state, ins.operands[1]), signed))

    return meaning


def _upper(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    _put(state, ins.operands[0], lower(thread, number(int(ins.operands[1], 0) << 12)))


def _set(operation: str, zero: bool = False) -> Meaning:
    """``slt target, left, right``; with ``zero``, a comparison with 0."""

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target, left, *rest = ins.operands
        right = number(0) if zero else _value(state, rest[0])
        flags = Compared(_get(state, left), right, wide=True)
        _put(state, target, decide(thread, operation, flags))

    return meaning


def _load(size: int, word: str | None = None) -> Meaning:
    mode = (mode_of(Load, word) or PLAIN) if word else PLAIN

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        value = load(thread, state, _address(thread, state, ins.operands[1]), size, mode)
        known = value.constant if isinstance(value, Affine) else None
        if ins.mnemonic == "lb" and known is not None:
            value = number((known ^ 0x80) - 0x80)
        _put(state, ins.operands[0], value)

    return meaning


def _load_unsigned(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    if not thread.compiled.numbers.signless:
        raise thread.out.wrong("a test with negative numbers, and it drops a sign")
    _load(4)(thread, state, ins)


def _store(size: int, word: str | None = None) -> Meaning:
    mode = (mode_of(Store, word) or PLAIN) if word else PLAIN

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        value = _get(state, ins.operands[0])
        store(thread, state, _address(thread, state, ins.operands[1]), size, value, mode)

    return meaning


def _atomic(operation: str, word: str) -> Meaning:
    mode: Mode = (mode_of(Rmw, word) if word else None) or DEFAULT_RMW

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target, source, address = ins.operands
        operands = (_get(state, target), _get(state, source)) if operation == "cas" else (_get(state, source),)
        place = _address(thread, state, address)
        _put(state, target, update(thread, operation, place, operands, mode, _REGISTERS[target] != "zero"))

    return meaning


def _load_reserved(word: str) -> Meaning:
    mode = exclusive_mode(bool(word), False)
    if word == "aqrl":
        mode = replace(mode, tags=(*mode.tags, RELEASING_LOAD))

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        if word == "rl":
            raise thread.out.wrong("a load that releases and does not acquire")
        _put(state, ins.operands[0], load_exclusive(thread, state, _address(thread, state, ins.operands[1]), mode))

    return meaning


def _store_conditional(word: str) -> Meaning:
    mode = exclusive_mode(False, bool(word))
    if word == "aqrl":
        mode = replace(mode, tags=(*mode.tags, ACQUIRING_STORE))

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        if word == "aq":
            raise thread.out.wrong("a store that acquires and does not release")
        status, source, address = ins.operands
        value = _get(state, source)
        _put(state, status, store_exclusive(thread, state, _address(thread, state, address), value, mode))

    return meaning


def _fence(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    operands = ins.operands or ("rw", "rw")
    words = [operand.replace("i", "").replace("o", "") for operand in operands]  # devices are not here
    found = mode_of(Fence, "fence." + ".".join(words))
    if found is None:
        raise thread.out.wrong("this fence is not known")
    fence(thread, found)


def _fence_tso(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    fence(thread, mode_of(Fence, "fence.tso") or PLAIN)


_AMO = {"amoswap": "exch", "amoadd": "add", "amoand": "and", "amoor": "or", "amoxor": "xor"}
_AMO |= {"amomax": "max", "amomin": "min", "amocas": "cas"}
_BRANCHES = {"beq": "eq", "bne": "ne", "blt": "lt", "bge": "ge", "bltu": "ltu", "bgeu": "geu"}
_BRANCHES |= {"bgt": "gt", "ble": "le", "bgtu": "gtu", "bleu": "leu"}
_ZERO_BRANCHES = {"beqz": "eq", "bnez": "ne", "bltz": "lt", "bgez": "ge", "bgtz": "gt", "blez": "le"}


def _rows() -> list[Row[Meaning]]:
    rows: list[Row[Meaning]] = [
        Row("nop", NOTHING, "", nothing),
        Row("li", NOTHING, "r n", _move),
        Row("mv", NOTHING, "r r", _move),
        Row("lui", NOTHING, "r u20", _upper),
        Row("sext.w", NOTHING, "r r", _extend(True)),
        Row("zext.w", NOTHING, "r r", _extend(False)),
        Row("neg,negw", NOTHING, "r r", _negated),
        Row("add,addi,addw,addiw", NOTHING, "r r r|n", _three("add")),
        Row("sub,subw", NOTHING, "r r r", _three("sub")),
        Row("mul,mulw", NOTHING, "r r r", _three("mul")),
        Row("and,andi", NOTHING, "r r r|n", _three("and")),
        Row("or,ori", NOTHING, "r r r|n", _three("or")),
        Row("xor,xori", NOTHING, "r r r|n", _three("xor")),
        Row("slli", NOTHING, "r r c6", _shift(1, True)),
        Row("slliw", NOTHING, "r r c5", _shift(1, False)),
        Row("srli", NOTHING, "r r c6", _shift(-1, True)),
        Row("srliw", NOTHING, "r r c5", _shift(-1, False)),
        Row("slt,slti", NOTHING, "r r r|n", _set("lt")),
        Row("sltu,sltiu", NOTHING, "r r r|n", _set("ltu")),
        Row("seqz", NOTHING, "r r", _set("eq", zero=True)),
        Row("snez", NOTHING, "r r", _set("ne", zero=True)),
        Row("lw", READS, "r m", _load(4)),
        Row("lwu", READS, "r m", _load_unsigned),
        Row("ld", READS, "r m", _load(8)),
        Row("lbu", READS, "r m", _load(1)),
        Row("lb", READS, "r m", _load(1)),
        Row("sw", WRITES, "r m", _store(4)),
        Row("sd", WRITES, "r m", _store(8)),
        Row("sb", WRITES, "r m", _store(1)),
        Row("lw.aq", READS, "r m0", _load(4, "aq")),
        Row("sw.rl", WRITES, "r m0", _store(4, "rl")),
        Row("fence", ORDERS, " / set set", _fence),
        Row("fence.tso", ORDERS, "", _fence_tso),
    ]
    for order, word in (("", ""), (".aq", "aq"), (".rl", "rl"), (".aqrl", "aqrl")):
        for name, operation in _AMO.items():
            rows.append(Row(f"{name}.w{order}", BOTH, "r r m0", _atomic(operation, word)))
        rows.append(Row(f"lr.w{order}", BOTH, "r m0", _load_reserved(word)))
        rows.append(Row(f"sc.w{order}", BOTH, "r r m0", _store_conditional(word)))
    return rows


def _branch(operation: str, zero: bool) -> Jump:
    """``bne left, right, label``; with ``zero``, ``bnez left, label``."""

    def jump(ins: AssemblyLine) -> MachineJump:
        left, *rest = ins.operands

        def is_taken(thread: ProcessorThread, state: ProcessorState) -> bool | Comparison:
            right = number(0) if zero else _get(state, rest[0])
            return ask(thread, operation, Compared(_get(state, left), right, wide=True))

        return MachineJump(ins.operands[-1], is_taken)

    return jump


def _jumps() -> list[Row[Jump]]:
    return [
        Row("ret", CONTROL, "", lambda ins: MachineJump(None)),
        Row("jr", CONTROL, "ra", lambda ins: MachineJump(None)),
        Row("j", CONTROL, "label", lambda ins: MachineJump(ins.operands[0])),
        *(Row(name, CONTROL, "r r label", _branch(operation, zero=False)) for name, operation in _BRANCHES.items()),
        *(Row(name, CONTROL, "r label", _branch(operation, zero=True)) for name, operation in _ZERO_BRANCHES.items()),
    ]


RISCV = MachineLanguage("riscv", "#", ("a0", "a1"), "sp", _KINDS, table_of(_rows()), table_of(_jumps()), signed=True)
"""RISC-V, with the words of ``corpus.litmus.processors.RISCV``."""
