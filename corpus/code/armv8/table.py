"""Reads the assembly of Armv8 (AArch64), as clang and gcc write it.

    stlr w8, [x0]            [x] := 1 stlr              swpal w11, w8, [x8]   v0 := rmw exch y, 2 al
    ldr w0, [x0, x11, lsl #2]  v1 := x + v0; v2 := [v1]   dmb ishld             F.dmb.ld

``dmb ish`` is ``dmb sy`` to what is ordinary memory. An atomic operation of LSE whose result is the zero register does
not acquire, and its read is none to a ``dmb ld``: it has no result here, which models call ``NORET``. A pair of
exclusive accesses is an atomic operation with the tag ``exclusive``: one that acquires and releases orders less than
``swpal``.

Source: Arm Architecture Reference Manual, DDI 0487, C6.2 (instructions), B2.3 (memory ordering), B2.9 (exclusives).
Gaps: accesses of 64 bits and pairs of registers but on the stack, ``dsb``, vectors.

An instruction on ``w`` registers clears the upper half of its target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from corpus.code.assembly.comparisons import ask, compare, decide, find_flags, find_sign_flags, select
from corpus.code.assembly.exclusives import CLEARED
from corpus.code.assembly.language import LABEL, NUMBER, Jump, MachineJump, MachineLanguage, Meaning, nothing
from corpus.code.assembly.memory import fence, load, load_exclusive, store, store_exclusive, update
from corpus.code.assembly.sums import add, calculate, compute, extend, lower, shift
from corpus.code.assembly.text import AssemblyLine
from corpus.code.assembly.thread import MEMORY, MachineValue, ProcessorState, ProcessorThread
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, READS, WRITES, Kind, Row, kind, table_of
from corpus.code.values import Affine, Compared, Unknown, number
from corpus.litmus.instructions import Comparison, Fence, Load, Rmw, Store
from corpus.litmus.orders import DEFAULT_RMW, PLAIN, Mode
from corpus.litmus.processors import exclusive_mode, mode_of

Operation = Callable[[ProcessorThread, MachineValue, MachineValue], MachineValue]

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


_X = "x(?:[12]?[0-9]|30|zr)|lr|fp"
_BASE = "(?:x(?:[12]?[0-9]|30)|sp|lr|fp)"
_KINDS: Mapping[str, Kind] = {
    "w": kind("w(?:[12]?[0-9]|30|zr)", "w8", "w9", "wzr"),
    "x": kind(_X, "x8", "x9", "lr", "xzr"),
    "W": kind("w(?:[12]?[0-9]|30|zr|sp)", "w8", "w9"),
    "X": kind(f"{_X}|sp", "x8", "sp", "x9"),
    "n": kind(f"#?{NUMBER}", "#2", "#-1", "#0x10"),
    "c4": kind("#?(?:[12]?[0-9]|3[01])", "#3"),
    "c8": kind("#?(?:[1-5]?[0-9]|6[0-3])", "#3"),
    "shift": kind("ls[lr] #?(?:[1-5]?[0-9]|6[0-3])", "lsl #2", "lsr #3"),
    "left": kind("lsl #?(?:0|16|32|48)", "lsl #16"),
    "ext": kind("[us]xt[wx](?: #?[0-4])?", "uxtw #2", "sxtw"),
    "m0": kind(rf"\[{_BASE}(?:, *#?0)?\]", "[x0]"),
    "mi": kind(rf"\[{_BASE}(?:, *#?{NUMBER})?\]", "[x0]", "[x0, #256]"),
    "mp": kind(rf"\[{_BASE}(?:, *#?{NUMBER})?\]!?", "[x0]", "[x0, #256]!"),
    "m": kind(
        rf"\[{_BASE}(?:, *#?{NUMBER})?\]!?|"
        rf"\[{_BASE}, *(?:{_X})(?:, *(?:lsl|sxtx) #?[0-3])?\]|"
        rf"\[{_BASE}, *w(?:[12]?[0-9]|30|zr), *[us]xtw(?: #?[0-3])?\]",
        *("[x0]", "[x0, #256]", "[x0, x2, lsl #2]", "[x0, w2, uxtw #2]", "[x0, #256]!"),
    ),
    "cond": kind("|".join((*_CONDITIONS, *_SIGN)), "eq", "lo", "mi"),
    "hint": kind("#?(?:0|7|25|27|29|31|32|34|36|38)", "#34"),
    "domain": kind("[a-z]+", "ish", "ishld", "st"),
    "label": LABEL,
}
"""``X`` and ``W`` may be the stack pointer, ``m0`` has no offset, and ``mp`` none that is a register. The hints are
those that sign pointers, mark targets of branches or do nothing."""


def _name(text: str) -> str:
    """The register of 64 bits that an operand is, ``""`` where it is none."""
    found = _REGISTER.fullmatch(text)
    if found is None:
        return ""
    return {"wsp": "sp", "lr": "x30", "fp": "x29"}.get(text, text) if found[3] else f"x{found[2]}"


def _number(text: str) -> int:
    return int(text.lstrip("#"), 0)


def _size(text: str) -> int:
    return 4 if text.startswith("w") else 8


def _get(state: ProcessorState, text: str) -> MachineValue:
    return number(0) if text in ("wzr", "xzr") else state.get(_name(text))


def _put(thread: ProcessorThread, state: ProcessorState, text: str, value: MachineValue) -> None:
    if text not in ("wzr", "xzr"):
        state.put(_name(text), lower(thread, value) if _size(text) == 4 else value)


def _operand(thread: ProcessorThread, state: ProcessorState, text: str, modifier: str = "") -> MachineValue:
    """A register or a number, moved or extended as a further operand says."""
    value = _get(state, text) if _name(text) else number(_number(text))
    words = modifier.split()
    if not words:
        return value
    amount = _number(words[1]) if len(words) > 1 else 0
    if words[0] in ("uxtw", "sxtw"):
        value = extend(thread, value, words[0] == "sxtw")
    if words[0] == "lsr":
        return shift(thread, value, -amount, _size(text) == 8)
    return shift(thread, value, amount)


def _address(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> MachineValue:
    """The address of an access; a base that moves is moved."""
    operands = list(ins.operands)
    position = next(index for index, operand in enumerate(operands) if operand.startswith("["))
    text = operands[position]
    parts = [part.strip() for part in text.rstrip("!").strip("[]").split(",")]
    base = _get(state, parts[0])
    added = _operand(thread, state, parts[1], parts[2] if len(parts) > 2 else "") if len(parts) > 1 else number(0)
    total = add(thread, base, added)
    if text.endswith("!"):
        _put(thread, state, parts[0], total)
    if position + 1 < len(operands):
        _put(thread, state, parts[0], add(thread, base, _operand(thread, state, operands[position + 1])))
    return total


def _computed(operation: str) -> Operation:
    return lambda thread, left, right: calculate(thread, operation, left, right)


def _inverted(thread: ProcessorThread, _: MachineValue, right: MachineValue) -> MachineValue:
    return compute(thread, "xor", right, number(-1))


def _without(thread: ProcessorThread, left: MachineValue, right: MachineValue) -> MachineValue:
    return compute(thread, "and", left, compute(thread, "xor", right, number(-1)))


def _three(operation: Operation, flags: bool = False, unary: bool = False) -> Meaning:
    """``op target, left, right``, with a modifier of the right one after it."""

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target, *rest = ins.operands
        left = number(0) if unary else _get(state, rest.pop(0))
        right = _operand(thread, state, *rest)
        result = operation(thread, left, right)
        _put(thread, state, target, result)
        if flags:
            subtracts = ins.mnemonic == "subs"
            left, right = (left, right) if subtracts else (result, number(0))
            wide, sums = _size(ins.operands[1]) == 8, ins.mnemonic == "adds"
            compare(state, left, right, wide, carry=subtracts, order=not sums)

    return meaning


def _compared(operation: Operation | None) -> Meaning:
    """``cmp left, right``; with an operation, its result and 0."""

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        left, right = _get(state, ins.operands[0]), _operand(thread, state, *ins.operands[1:])
        if operation is not None:
            left, right = operation(thread, left, right), number(0)
        wide, sums = _size(ins.operands[0]) == 8, ins.mnemonic == "cmn"
        compare(state, left, right, wide, carry=operation is None, order=not sums)

    return meaning


def _mov(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    _put(thread, state, ins.operands[0], _operand(thread, state, *ins.operands[1:]))


def _extend(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    _put(thread, state, ins.operands[0], extend(thread, _get(state, ins.operands[1]), ins.mnemonic == "sxtw"))


def _movk(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    old = _get(state, ins.operands[0])
    known = old.constant if isinstance(old, Affine) else None
    shift = _number(ins.operands[2].split()[1]) if len(ins.operands) > 2 else 0
    value: MachineValue = Unknown("half of a register is written")
    if known is not None:
        value = number(known & ~(0xFFFF << shift) | (_number(ins.operands[1]) & 0xFFFF) << shift)
    _put(thread, state, ins.operands[0], value)


def _shift(sign: int) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target, source, amount = ins.operands
        value: MachineValue = Unknown("a shift by what was read is not understood")
        if not _name(amount):
            value = shift(thread, _get(state, source), sign * _number(amount), _size(target) == 8)
        _put(thread, state, target, value)

    return meaning


def _field(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    """``ubfx`` gives some bits of a register, ``ubfiz`` moves the lowest ones up."""
    target, source, low, width = ins.operands
    start, bits, size = _number(low), _number(width), 8 * _size(target)
    if not 0 < bits <= size - start:
        raise thread.out.wrong("a field of bits that its register has not")
    value = _get(state, source)
    if ins.mnemonic == "ubfx":
        value = shift(thread, value, -start, size == 64)
    known = value.constant if isinstance(value, Affine) else None
    if known is not None:
        value = number(known & ((1 << bits) - 1))
        if ins.mnemonic == "sbfiz" and value.offset >> (bits - 1) & 1:
            value = number(value.offset - (1 << bits))
    elif bits == 32:
        value = extend(thread, value, ins.mnemonic == "sbfiz")
    elif bits < 32 and ins.mnemonic != "sbfiz":
        value = compute(thread, "and", value, number((1 << bits) - 1))
    else:
        value = Unknown("some bits with a sign, or more than 32, are not understood")
    _put(thread, state, target, value if ins.mnemonic == "ubfx" else shift(thread, value, start))


def _condition(state: ProcessorState, word: str) -> tuple[str, Compared]:
    """What a condition asks: a comparison, and of what."""
    if word in _SIGN:
        return _SIGN[word], find_sign_flags(state)
    return _CONDITIONS[word], find_flags(state, _CONDITIONS[word])


def _select(change: Operation | None, given: int) -> Meaning:
    """``csel`` and its like: one register where a condition holds, else another one, which is changed. ``given`` is how
    many registers it names.
    """

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target, *sources, word = ins.operands
        if given == 1:
            sources, word = sources * 2, _OPPOSITE[word]
        one, other = (_get(state, source) for source in sources)
        if change is not None:
            other = change(thread, other, number(1))
        _put(thread, state, target, select(thread, decide(thread, *_condition(state, word)), one, other))

    return meaning


def _set(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    target, word = ins.operands
    _put(thread, state, target, decide(thread, *_condition(state, word)))


def _load(size: int | None = None, word: str | None = None) -> Meaning:
    mode = (mode_of(Load, word) or PLAIN) if word else PLAIN

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        value = load(thread, state, _address(thread, state, ins), size or _size(ins.operands[0]), mode)
        _put(thread, state, ins.operands[0], extend(thread, value, True) if ins.mnemonic == "ldrsw" else value)

    return meaning


def _store(size: int | None = None, word: str | None = None) -> Meaning:
    mode = (mode_of(Store, word) or PLAIN) if word else PLAIN

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        bytes_, value = size or _size(ins.operands[0]), _get(state, ins.operands[0])
        store(thread, state, _address(thread, state, ins), bytes_, value, mode)

    return meaning


def _pair(loads: bool) -> Meaning:
    """``ldp`` and ``stp``: two accesses, one after the other, which the model orders no more than that."""

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        one, other, *rest = ins.operands
        size = _size(one)
        values = [_get(state, operand) for operand in (one, other)]
        address = _address(thread, state, AssemblyLine(ins.line, ins.mnemonic, tuple(rest)))
        for place, (text, value) in enumerate(zip((one, other), values, strict=True)):
            access_address = add(thread, address, number(place * size))
            if isinstance(address, Affine) and address.base == MEMORY:
                raise thread.out.wrong("two accesses of shared memory that are one instruction")
            if loads:
                _put(thread, state, text, load(thread, state, access_address, size))
            else:
                store(thread, state, access_address, size, value)

    return meaning


def _update_mode(acquires: bool, releases: bool) -> Mode:
    word = "a" * acquires + "l" * releases
    return (mode_of(Rmw, word) if word else None) or DEFAULT_RMW


def _atomic(operation: str, acquires: bool, releases: bool, negated: bool = False, stores: bool = False) -> Meaning:
    """``swp source, target, [address]`` and the like; ``stores``: without a target."""

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        source, target = ins.operands[0], "wzr" if stores else ins.operands[1]
        value, wanted = _get(state, source), target != "wzr"
        if negated:
            value = compute(thread, "xor", value, number(-1))
        mode = _update_mode(acquires and wanted, releases)
        _put(thread, state, target, update(thread, operation, _address(thread, state, ins), (value,), mode, wanted))

    return meaning


def _cas(acquires: bool, releases: bool) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        expected, new, _ = ins.operands
        values = _get(state, expected), _get(state, new)
        mode = _update_mode(acquires, releases)
        _put(thread, state, expected, update(thread, "cas", _address(thread, state, ins), values, mode))

    return meaning


def _load_exclusive(acquires: bool) -> Meaning:
    mode = exclusive_mode(acquires, False)

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        _put(thread, state, ins.operands[0], load_exclusive(thread, state, _address(thread, state, ins), mode))

    return meaning


def _store_exclusive(releases: bool) -> Meaning:
    mode = exclusive_mode(False, releases)

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        status, source, _ = ins.operands
        value = _get(state, source)
        failed = store_exclusive(thread, state, _address(thread, state, ins), value, mode, once=True)
        _put(thread, state, status, failed)

    return meaning


def _fence(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    (domain,) = ins.operands
    words = {"sy": "dmb.sy", "ish": "dmb.sy", "ld": "dmb.ld", "ishld": "dmb.ld", "st": "dmb.st", "ishst": "dmb.st"}
    if domain not in words:
        raise thread.out.wrong("this barrier is not known")
    fence(thread, mode_of(Fence, words[domain]) or PLAIN)


def _clear_exclusive(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    """``clrex`` makes the store of a pair that is open fail."""
    fence(thread, CLEARED)


def _isb(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    fence(thread, mode_of(Fence, "isb") or PLAIN)


_LSE = {"swp": "exch", "ldadd": "add", "ldset": "or", "ldeor": "xor", "ldclr": "and"}
_LSE |= {"ldsmax": "max", "ldsmin": "min"}


def _both(forms: str) -> str:
    """The forms of registers of 32 bits, and the same of 64."""
    return f"{forms} / {forms.replace('w', 'x').replace('W', 'X').replace('c4', 'c8')}"


def _rows() -> list[Row[Meaning]]:
    sums, logic = f"{_both('W W w|n shift|ext?')} / X X w ext", f"{_both('w w w|n shift?')} / X x n"
    rows: list[Row[Meaning]] = [
        Row("mov", NOTHING, _both("W W|n"), _mov),
        Row("movz", NOTHING, _both("w n left?"), _mov),
        Row("movk", NOTHING, _both("w n left?"), _movk),
        Row("sxtw", NOTHING, "x w", _extend),
        Row("uxtw", NOTHING, _both("w w") + " / x w", _extend),
        Row("add", NOTHING, sums, _three(_computed("add"))),
        Row("sub", NOTHING, sums, _three(_computed("sub"))),
        Row("adds", NOTHING, sums, _three(_computed("add"), True)),
        Row("subs", NOTHING, sums, _three(_computed("sub"), True)),
        Row("mul", NOTHING, _both("w w w"), _three(_computed("mul"))),
        Row("and", NOTHING, logic, _three(_computed("and"))),
        Row("orr", NOTHING, logic, _three(_computed("or"))),
        Row("eor", NOTHING, logic, _three(_computed("xor"))),
        Row("bic", NOTHING, _both("w w w shift?"), _three(_without)),
        Row("ands", NOTHING, _both("w w w|n shift?"), _three(_computed("and"), True)),
        Row("neg", NOTHING, _both("w w shift?"), _three(_computed("sub"), unary=True)),
        Row("mvn", NOTHING, _both("w w shift?"), _three(_inverted, unary=True)),
        Row("cmp", NOTHING, f"{_both('W w|n shift|ext?')} / X w ext", _compared(None)),
        Row("cmn", NOTHING, f"{_both('W w|n shift|ext?')} / X w ext", _compared(_computed("add"))),
        Row("tst", NOTHING, _both("w w|n shift?"), _compared(_computed("and"))),
        Row("lsl", NOTHING, _both("w w w|c4"), _shift(1)),
        Row("lsr", NOTHING, _both("w w w|c4"), _shift(-1)),
        Row("ubfx,ubfiz,sbfiz", NOTHING, _both("w w c4 c4"), _field),
        Row("csel", NOTHING, _both("w w w cond"), _select(None, 2)),
        Row("csinc", NOTHING, _both("w w w cond"), _select(_computed("add"), 2)),
        Row("cinc", NOTHING, _both("w w cond"), _select(_computed("add"), 1)),
        Row("cset", NOTHING, _both("w cond"), _set),
        Row("nop,bti,paciasp,autiasp", NOTHING, "", nothing),
        Row("hint", NOTHING, "hint", nothing),
        Row("clrex", NOTHING, "", _clear_exclusive),
        Row("ldr", READS, "w|x m / w|x m0 n", _load()),
        Row("ldur", READS, "w|x mi", _load()),
        Row("ldrb", READS, "w m / w m0 n", _load(1)),
        Row("ldurb", READS, "w mi", _load(1)),
        Row("ldrsw", READS, "x m / x m0 n", _load(4)),
        Row("str", WRITES, "w|x m / w|x m0 n", _store()),
        Row("stur", WRITES, "w|x mi", _store()),
        Row("strb", WRITES, "w m / w m0 n", _store(1)),
        Row("sturb", WRITES, "w mi", _store(1)),
        Row("ldar", READS, "w|x m0", _load(None, "ldar")),
        Row("ldapr", READS, "w|x m0", _load(None, "ldapr")),
        Row("ldapur", READS, "w|x mi", _load(None, "ldapr")),
        Row("stlr", WRITES, "w|x m0", _store(None, "stlr")),
        Row("stlur", WRITES, "w|x mi", _store(None, "stlr")),
        Row("ldp", READS, f"{_both('w w mp')} / {_both('w w m0 n')}", _pair(True)),
        Row("stp", WRITES, f"{_both('w w mp')} / {_both('w w m0 n')}", _pair(False)),
        Row("ldxr", BOTH, "w m0", _load_exclusive(False)),
        Row("ldaxr", BOTH, "w m0", _load_exclusive(True)),
        Row("stxr", BOTH, "w w m0", _store_exclusive(False)),
        Row("stlxr", BOTH, "w w m0", _store_exclusive(True)),
        Row("dmb", ORDERS, "domain", _fence),
        Row("isb", ORDERS, "", _isb),
    ]
    for suffix in ("", "a", "l", "al"):
        acquires, releases = "a" in suffix, "l" in suffix
        rows.append(Row(f"cas{suffix}", BOTH, "w w m0", _cas(acquires, releases)))
        for name, operation in _LSE.items():
            negated = name == "ldclr"
            atomic = _atomic(operation, acquires, releases, negated)
            rows.append(Row(f"{name}{suffix}", BOTH, "w w m0", atomic))
            if not acquires and name != "swp":
                alone = _atomic(operation, False, releases, negated, stores=True)
                rows.append(Row(f"st{name[2:]}{suffix}", BOTH, "w m0", alone))
    return rows


def _branch(word: str) -> Jump:
    def jump(ins: AssemblyLine) -> MachineJump:
        return MachineJump(ins.operands[0], lambda thread, state: ask(thread, *_condition(state, word)))

    return jump


def _compare_branch(operation: str) -> Jump:
    """``cbz register, label``."""

    def jump(ins: AssemblyLine) -> MachineJump:
        text, target = ins.operands

        def is_taken(thread: ProcessorThread, state: ProcessorState) -> bool | Comparison:
            return ask(thread, operation, Compared(_get(state, text), number(0), _size(text) == 8))

        return MachineJump(target, is_taken)

    return jump


def _test_branch(operation: str) -> Jump:
    """``tbz register, bit, label``."""

    def jump(ins: AssemblyLine) -> MachineJump:
        text, bit, target = ins.operands

        def is_taken(thread: ProcessorThread, state: ProcessorState) -> bool | Comparison:
            tested = compute(thread, "and", _get(state, text), number(1 << _number(bit)))
            return ask(thread, operation, Compared(tested, number(0)))

        return MachineJump(target, is_taken)

    return jump


def _jumps() -> list[Row[Jump]]:
    return [
        Row("ret", CONTROL, "", lambda ins: MachineJump(None)),
        Row("b", CONTROL, "label", lambda ins: MachineJump(ins.operands[0])),
        *(Row(f"b.{word}", CONTROL, "label", _branch(word)) for word in (*_CONDITIONS, *_SIGN)),
        Row("cbz", CONTROL, _both("w label"), _compare_branch("eq")),
        Row("cbnz", CONTROL, _both("w label"), _compare_branch("ne")),
        Row("tbz", CONTROL, _both("w c4 label"), _test_branch("eq")),
        Row("tbnz", CONTROL, _both("w c4 label"), _test_branch("ne")),
    ]


ARMV8 = MachineLanguage("armv8", "//", ("x0", "x1"), "sp", _KINDS, table_of(_rows()), table_of(_jumps()))
"""Armv8, with the words of ``corpus.litmus.processors.ARMV8``."""
