"""Reads the assembly of Armv8 (AArch64), as clang and gcc write it.

    stlr w8, [x0]            [x] := 1 stlr              swpal w11, w8, [x8]   v0 := rmw exch y, 2 al
    ldr w0, [x0, x11, lsl #2]  v1 := x + v0; v2 := [v1]   dmb ishld             F.dmb.ld

``dmb ish`` is ``dmb sy`` to what is ordinary memory. An atomic operation of LSE whose result is the zero register does
not acquire, and its read is none to a ``dmb ld``: it has no result here, which models call ``NORET``. A pair of
exclusive accesses is an atomic operation with the tag ``exclusive``: one that acquires and releases orders less than
``swpal``.

Source: Arm Architecture Reference Manual, DDI 0487, C6.2 (instructions), B2.3 (memory ordering), B2.9 (exclusives).
Gaps: accesses of 64 bits and pairs of registers but on the stack, ``dsb``, vectors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from corpus.assembly.language import MachineJump, MachineLanguage, Meaning, nothing
from corpus.assembly.text import AssemblyLine
from corpus.assembly.thread import AskedBranch, AssemblyThread
from corpus.assembly.values import FAILED, AffineValue, ComparedFlags, MachineValue, UnknownValue, number
from corpus.litmus.processors import exclusive_mode, mode_of
from corpus.litmus.test import DEFAULT_RMW, PLAIN, Fence, Load, Mode, Rmw, Store

Operation = Callable[[AssemblyThread, MachineValue, MachineValue], MachineValue]

_REGISTER = re.compile(r"(?:([wx])(\d+|zr)|(sp|wsp|lr|fp))")
_CONDITIONS = {
    "eq": "eq",
    "ne": "ne",
    "lt": "lt",
    "ge": "ge",
    "le": "le",
    "gt": "gt",
    "lo": "ltu",
    "cc": "ltu",
    "hs": "geu",
    "cs": "geu",
    "ls": "leu",
    "hi": "gtu",
}
_SIGN = {"mi": "lt", "pl": "ge"}
_OPPOSITE = {"eq": "ne", "lt": "ge", "le": "gt", "lo": "hs", "cc": "cs", "ls": "hi", "mi": "pl"}
_OPPOSITE |= {other: one for one, other in _OPPOSITE.items()}


def _name(text: str) -> str:
    """The register of 64 bits that an operand is, ``""`` where it is none."""
    found = _REGISTER.fullmatch(text)
    if found is None:
        return ""
    return {"wsp": "sp", "lr": "x30", "fp": "x29"}.get(text, text) if found[3] else f"x{found[2]}"


def _size(text: str) -> int:
    return 4 if text.startswith("w") else 8


def _get(thread: AssemblyThread, text: str) -> MachineValue:
    if text in ("wzr", "xzr"):
        return number(0)
    name = _name(text)
    return thread.get(name) if name else UnknownValue(f"the register {text} is not understood")


def _put(thread: AssemblyThread, text: str, value: MachineValue) -> None:
    if text not in ("wzr", "xzr") and _name(text):
        thread.put(_name(text), value)


def _operand(thread: AssemblyThread, text: str, modifier: str = "") -> MachineValue:
    """A register or a number, moved or extended as a further operand says."""
    if not _name(text):
        try:
            value: MachineValue = number(int(text.lstrip("#"), 0))
        except ValueError:
            return UnknownValue(f"the operand {text} is not understood")
    else:
        value = _get(thread, text)
    words = modifier.split()
    if not words:
        return value
    amount = int(words[1].lstrip("#"), 0) if len(words) > 1 else 0
    if words[0] in ("lsl", "uxtw", "sxtw", "uxtx", "sxtx"):
        return thread.shifted(value, amount)
    if words[0] == "lsr":
        return thread.shifted(value, -amount, _size(text) == 8)
    return UnknownValue(f"{modifier} is not understood")


def _address(thread: AssemblyThread, ins: AssemblyLine, place: int = -1) -> MachineValue:
    """The address of an access; a base that moves is moved."""
    operands = list(ins.operands)
    at = next((index for index, each in enumerate(operands) if each.startswith("[")), None)
    if at is None:
        return UnknownValue("an address that is a name is not understood")
    text = operands[at]
    parts = [each.strip() for each in text.rstrip("!").strip("[]").split(",")]
    base = _get(thread, parts[0])
    added = _operand(thread, parts[1], parts[2] if len(parts) > 2 else "") if len(parts) > 1 else number(0)
    total = thread.add(base, added)
    if text.endswith("!"):
        _put(thread, parts[0], total)
    if at + 1 < len(operands):
        _put(thread, parts[0], thread.add(base, _operand(thread, operands[at + 1])))
    return total


def _computed(operation: str) -> Operation:
    return lambda thread, left, right: thread.computed(operation, left, right)


def _without(thread: AssemblyThread, left: MachineValue, right: MachineValue) -> MachineValue:
    return thread.compute("and", left, thread.compute("xor", right, number(-1)))


def _three(operation: Operation, flags: bool = False, unary: bool = False) -> Meaning:
    """``op target, left, right``, with a modifier of the right one after it."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target, *rest = ins.operands
        left = number(0) if unary else _get(thread, rest.pop(0))
        right = _operand(thread, *rest)
        result = operation(thread, left, right)
        _put(thread, target, result)
        if flags:
            subtracts = ins.mnemonic == "subs"
            left, right = (left, right) if subtracts else (result, number(0))
            thread.compare(left, right, _size(ins.operands[1]) == 8, carry=subtracts)

    return meaning


def _compared(operation: Operation | None) -> Meaning:
    """``cmp left, right``; with an operation, its result and 0."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        left, right = _get(thread, ins.operands[0]), _operand(thread, *ins.operands[1:])
        if operation is not None:
            left, right = operation(thread, left, right), number(0)
        thread.compare(left, right, _size(ins.operands[0]) == 8, carry=operation is None)

    return meaning


def _mov(thread: AssemblyThread, ins: AssemblyLine) -> None:
    _put(thread, ins.operands[0], _operand(thread, *ins.operands[1:]))


def _movk(thread: AssemblyThread, ins: AssemblyLine) -> None:
    old = _get(thread, ins.operands[0])
    known = old.constant if isinstance(old, AffineValue) else None
    shift = int(ins.operands[2].split()[1].lstrip("#"), 0) if len(ins.operands) > 2 else 0
    value: MachineValue = UnknownValue("half of a register is written")
    if known is not None:
        value = number(known & ~(0xFFFF << shift) | int(ins.operands[1].lstrip("#"), 0) << shift)
    _put(thread, ins.operands[0], value)


def _shift(sign: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target, source, amount = ins.operands
        value: MachineValue = UnknownValue("a shift by what was read is not understood")
        if not _name(amount):
            value = thread.shifted(_get(thread, source), sign * int(amount.lstrip("#"), 0), _size(target) == 8)
        _put(thread, target, value)

    return meaning


def _field(thread: AssemblyThread, ins: AssemblyLine) -> None:
    """``ubfx`` gives some bits of a register, ``ubfiz`` moves the lowest ones up."""
    target, source, low, width = ins.operands
    start, bits = (int(each.lstrip("#"), 0) for each in (low, width))
    value = _get(thread, source)
    if ins.mnemonic.endswith("x"):
        value = thread.shifted(value, -start, _size(target) == 8)
    if bits < 32 or ins.mnemonic[0] == "s":
        value = thread.compute("and", value, number((1 << min(bits, 31)) - 1))
    if ins.mnemonic.endswith("iz"):
        value = thread.shifted(value, start)
    if ins.mnemonic[0] == "s" and bits < 32:
        value = UnknownValue("some bits with a sign are not understood")
    _put(thread, target, value)


def _condition(thread: AssemblyThread, word: str) -> tuple[str, ComparedFlags]:
    """What a condition asks: a comparison, and of what."""
    if word in _SIGN:
        return _SIGN[word], thread.flags_of_sign()
    return _CONDITIONS[word], thread.flags(_CONDITIONS[word])


def _select(change: Operation | None, given: int) -> Meaning:
    """``csel`` and its like: one register where a condition holds, else another one, which is changed. ``given`` is how
    many registers it names.
    """

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target, *sources, word = ins.operands
        if word not in _CONDITIONS and word not in _SIGN:
            raise thread.refuse(f"the condition {word} is not known")
        if given == 1:
            sources, word = sources * 2, _OPPOSITE[word]
        one, other = (_get(thread, each) for each in sources)
        if change is not None:
            other = change(thread, other, number(1))
        _put(thread, target, thread.select(thread.holds(*_condition(thread, word)), one, other))

    return meaning


def _set(thread: AssemblyThread, ins: AssemblyLine) -> None:
    target, word = ins.operands
    if word not in _CONDITIONS and word not in _SIGN:
        raise thread.refuse(f"the condition {word} is not known")
    _put(thread, target, thread.holds(*_condition(thread, word)))


def _load(size: int | None = None, word: str | None = None) -> Meaning:
    mode = (mode_of(Load, word) or PLAIN) if word else PLAIN

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        bytes_ = size or _size(ins.operands[0])
        _put(thread, ins.operands[0], thread.load(_address(thread, ins), bytes_, mode))

    return meaning


def _store(size: int | None = None, word: str | None = None) -> Meaning:
    mode = (mode_of(Store, word) or PLAIN) if word else PLAIN

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        bytes_, value = size or _size(ins.operands[0]), _get(thread, ins.operands[0])
        thread.store(_address(thread, ins), bytes_, value, mode)

    return meaning


def _pair(loads: bool) -> Meaning:
    """``ldp`` and ``stp``: two accesses, one after the other, which the model orders no more than that."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        one, other, *rest = ins.operands
        size = _size(one)
        values = [_get(thread, each) for each in (one, other)]
        address = _address(thread, AssemblyLine(ins.line, ins.mnemonic, tuple(rest)))
        for place, (text, value) in enumerate(zip((one, other), values, strict=True)):
            at = thread.add(address, number(place * size))
            if isinstance(address, AffineValue) and address.base == "memory":
                raise thread.refuse("two accesses of shared memory that are one instruction")
            if loads:
                _put(thread, text, thread.load(at, size))
            else:
                thread.store(at, size, value)

    return meaning


def _update_mode(acquires: bool, releases: bool) -> Mode:
    word = "a" * acquires + "l" * releases
    return (mode_of(Rmw, word) if word else None) or DEFAULT_RMW


def _atomic(operation: str, acquires: bool, releases: bool, negated: bool = False, stores: bool = False) -> Meaning:
    """``swp source, target, [address]`` and the like; ``stores``: without a target."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        source, target = ins.operands[0], "wzr" if stores else ins.operands[1]
        if _size(source) != 4:
            raise thread.refuse("an access of 8 bytes, and locations have 4")
        value, wanted = _get(thread, source), target != "wzr"
        if negated:
            value = thread.compute("xor", value, number(-1))
        mode = _update_mode(acquires and wanted, releases)
        _put(thread, target, thread.update(operation, _address(thread, ins), (value,), mode, wanted))

    return meaning


def _cas(acquires: bool, releases: bool) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        expected, new, _ = ins.operands
        if _size(expected) != 4:
            raise thread.refuse("an access of 8 bytes, and locations have 4")
        values = _get(thread, expected), _get(thread, new)
        mode = _update_mode(acquires, releases)
        _put(thread, expected, thread.update("cas", _address(thread, ins), values, mode))

    return meaning


def _load_exclusive(acquires: bool) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        if _size(ins.operands[0]) != 4:
            raise thread.refuse("an access of 8 bytes, and locations have 4")
        _put(thread, ins.operands[0], thread.load_exclusive(_address(thread, ins), acquires))

    return meaning


def _store_exclusive(releases: bool) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        status, source, _ = ins.operands
        value = _get(thread, source)
        thread.store_exclusive(_address(thread, ins), value, lambda acquires: exclusive_mode(acquires, releases), True)
        _put(thread, status, AffineValue(FAILED))

    return meaning


def _fence(thread: AssemblyThread, ins: AssemblyLine) -> None:
    domain = ins.operands[0] if ins.operands else "sy"
    words = {"sy": "dmb.sy", "ish": "dmb.sy", "ld": "dmb.ld", "ishld": "dmb.ld", "st": "dmb.st", "ishst": "dmb.st"}
    if domain not in words:
        raise thread.refuse("this barrier is not known")
    thread.fence(mode_of(Fence, words[domain]) or PLAIN)


def _isb(thread: AssemblyThread, ins: AssemblyLine) -> None:
    thread.fence(mode_of(Fence, "isb") or PLAIN)


_LSE = {"swp": "exch", "ldadd": "add", "ldset": "or", "ldeor": "xor", "ldsmax": "max", "ldsmin": "min"}


def _table() -> Mapping[str, Meaning]:
    table: dict[str, Meaning] = {
        **dict.fromkeys(("nop", "clrex", "bti", "paciasp", "autiasp", "hint"), nothing),
        **dict.fromkeys(("mov", "movz", "sxtw", "uxtw"), _mov),
        "movk": _movk,
        **{name: _three(_computed(name)) for name in ("add", "sub", "and", "mul")},
        "orr": _three(_computed("or")),
        "eor": _three(_computed("xor")),
        "bic": _three(_without),
        "adds": _three(_computed("add"), True),
        "subs": _three(_computed("sub"), True),
        "ands": _three(_computed("and"), True),
        "neg": _three(_computed("sub"), unary=True),
        "mvn": _three(lambda thread, _, right: thread.compute("xor", right, number(-1)), unary=True),
        "cmp": _compared(None),
        "tst": _compared(_computed("and")),
        "cmn": _compared(_computed("add")),
        "lsl": _shift(1),
        "lsr": _shift(-1),
        **dict.fromkeys(("ubfx", "ubfiz", "sbfiz"), _field),
        "csel": _select(None, 2),
        "csinc": _select(_computed("add"), 2),
        "cinc": _select(_computed("add"), 1),
        "cset": _set,
        "ldr": _load(),
        "ldur": _load(),
        "ldrb": _load(1),
        "ldurb": _load(1),
        "ldrsw": _load(4),
        "str": _store(),
        "stur": _store(),
        "strb": _store(1),
        "sturb": _store(1),
        "ldar": _load(None, "ldar"),
        "ldapr": _load(None, "ldapr"),
        "ldapur": _load(None, "ldapr"),
        "stlr": _store(None, "stlr"),
        "stlur": _store(None, "stlr"),
        "ldp": _pair(True),
        "stp": _pair(False),
        "ldxr": _load_exclusive(False),
        "ldaxr": _load_exclusive(True),
        "stxr": _store_exclusive(False),
        "stlxr": _store_exclusive(True),
        "dmb": _fence,
        "isb": _isb,
    }
    for suffix in ("", "a", "l", "al"):
        acquires, releases = "a" in suffix, "l" in suffix
        table[f"cas{suffix}"] = _cas(acquires, releases)
        table[f"ldclr{suffix}"] = _atomic("and", acquires, releases, negated=True)
        for name, operation in _LSE.items():
            table[f"{name}{suffix}"] = _atomic(operation, acquires, releases)
        if not acquires:
            table[f"stclr{suffix}"] = _atomic("and", False, releases, negated=True, stores=True)
            for name, operation in _LSE.items():
                if name != "swp":
                    table[f"st{name[2:]}{suffix}"] = _atomic(operation, False, releases, stores=True)
    return MappingProxyType(table)


def _jump(ins: AssemblyLine) -> MachineJump | None:
    name, operands = ins.mnemonic, ins.operands
    if name == "ret":
        return MachineJump(None)
    if name == "b":
        return MachineJump(operands[0])
    word = name[2:] if name.startswith("b.") else ""
    if word in _CONDITIONS or word in _SIGN:
        return MachineJump(operands[0], lambda thread: thread.asked(*_condition(thread, word)))
    if name in ("cbz", "cbnz"):
        operation = "eq" if name == "cbz" else "ne"

        def is_zero(thread: AssemblyThread) -> bool | AskedBranch:
            flags = ComparedFlags(_get(thread, operands[0]), number(0), _size(operands[0]) == 8)
            return thread.asked(operation, flags)

        return MachineJump(operands[1], is_zero)
    if name in ("tbz", "tbnz"):
        operation, bit = "eq" if name == "tbz" else "ne", int(operands[1].lstrip("#"), 0)

        def is_clear(thread: AssemblyThread) -> bool | AskedBranch:
            tested = thread.compute("and", _get(thread, operands[0]), number(1 << bit))
            return thread.asked(operation, ComparedFlags(tested, number(0)))

        return MachineJump(operands[2], is_clear)
    return None


ARMV8 = MachineLanguage("armv8", "//", ("x0", "x1"), "sp", _table(), _jump)
"""Armv8, with the words of ``corpus.litmus.processors.ARMV8``."""
