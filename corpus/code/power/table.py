"""Reads the assembly of 64-bit Power, little endian, as clang and gcc write it.

    lwz 3, 256(3)      v0 := [y]              lwarx 6, 3, 5
    cmpd 7, 3, 3                              addi 7, 6, 1       v1 := rmw add y, 1
    bne- 7, .+4        a branch on v0         stwcx. 7, 3, 5     a branch on v1
    isync              F.isync                bne 0, .LBB1_1

The branch after a ``stwcx.`` that leads back is a branch on what was read: a store that succeeds comes after its load,
so that nothing after the branch is decided before the load is done.

Source: Power ISA, version 3.1, book I, 3.3 (fixed-point instructions) and 2.4 (branches), book II, 4.6 (memory
barriers, ``lwarx``) and B.2 (``isync`` after a lock); Sarkar et al., *Synchronising C/C++ and POWER*, PLDI 2012. Gaps:
accesses of 64 bits but on the stack, the condition register but by branches and ``isel``, vectors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from corpus.code.assembly.comparisons import ask, compare, decide, find_flags, forget_flags, select
from corpus.code.assembly.language import LABEL, Jump, MachineJump, MachineLanguage, Meaning, nothing
from corpus.code.assembly.memory import control, fence, load, load_exclusive, store, store_exclusive
from corpus.code.assembly.sums import add, calculate, compute, extend, is_word, shift, subtract, take_word
from corpus.code.assembly.text import AssemblyLine
from corpus.code.assembly.thread import MachineValue, ProcessorState, ProcessorThread
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, READS, WRITES, Kind, Row, kind, table_of
from corpus.code.values import Affine, Compared, Unknown, number
from corpus.litmus.instructions import Fence
from corpus.litmus.orders import PLAIN
from corpus.litmus.processors import mode_of

_ADDRESS = re.compile(r"(-?\d+)\((\d+)\)")
_CONDITIONS = {"eq": "eq", "ne": "ne", "lt": "lt", "ge": "ge", "le": "le", "gt": "gt"}
_CONDITIONS |= {"nl": "ge", "ng": "le"}
_SIGNLESS = {"eq": "eq", "ne": "ne", "lt": "ltu", "ge": "geu", "le": "leu", "gt": "gtu"}
_ALL = (1 << 64) - 1
_R = "(?:[12]?[0-9]|3[01])"
_KINDS: Mapping[str, Kind] = {
    "r": kind(_R, "5", "6", "0"),
    "n": kind("-?(?:0x[0-9a-fA-F]{1,4}|0|[1-9][0-9]{0,4})", "2", "-1", "32768"),
    "u": kind("0x[0-9a-fA-F]{1,4}|0|[1-9][0-9]{0,4}", "2", "32768"),
    "c5": kind(_R, "3"),
    "c6": kind("(?:[1-5]?[0-9]|6[0-3])", "3"),
    "m": kind(rf"-?(?:0|[1-9][0-9]{{0,4}})\({_R}\)", "0(3)", "256(3)"),
    "field": kind("(?:cr)?[0-7]", "7", "cr1"),
    "bit": kind(_R, "2", "30"),
    "mask": kind("0|[1-9][0-9]{0,2}", "128"),
    "one": kind("[01]", "0", "1"),
    "label": LABEL,
    "next": kind(r"[.$]\+4", ".+4"),
}


def _get(state: ProcessorState, text: str) -> MachineValue:
    return state.get(f"r{text}")


def _base(state: ProcessorState, text: str) -> MachineValue:
    """A register of an address, where 0 is the number."""
    return number(0) if text == "0" else _get(state, text)


def _put(state: ProcessorState, text: str, value: MachineValue) -> None:
    state.put(f"r{text}", value)
    state.forget(f"r{text} turned")


def _immediate(text: str) -> Affine:
    return number(int(text, 0))


def _high(text: str) -> Affine:
    """A number of 16 bits with its sign, moved up by 16 bits."""
    return number(((int(text, 0) & 0xFFFF ^ 0x8000) - 0x8000) << 16)


def _address(thread: ProcessorThread, state: ProcessorState, operands: tuple[str, ...]) -> MachineValue:
    """The address of an access: ``256(3)``, or two registers."""
    if len(operands) == 2:
        return add(thread, _base(state, operands[0]), _get(state, operands[1]))
    found = _ADDRESS.fullmatch(operands[0])
    if found is None:
        return Unknown(f"the address {operands[0]} is not understood")
    return add(thread, _base(state, found[2]), number(int(found[1])))


def _three(operation: str, immediate: bool = False, high: bool = False, record: bool = False) -> Meaning:
    """``op target, left, right``; ``high``: the number is moved up by 16 bits; ``record``: cr0 compares 64 bits with 0,
    of which a mask leaves the lower ones.
    """

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target, left, right = ins.operands
        one = _base(state, left) if ins.mnemonic in ("addi", "addis") else _get(state, left)
        other: MachineValue = _immediate(right) if immediate else _get(state, right)
        if high:
            other = _high(right) if operation == "add" else shift(thread, other, 16)
        result = calculate(thread, operation, one, other)
        _put(state, target, result)
        if record:
            compare(state, result, number(0), carry=False, order=not high, key="cr0")

    return meaning


def _subtract_from(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    target, left, right = ins.operands
    _put(state, target, subtract(thread, _get(state, right), _get(state, left)))


def _move(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    _put(state, ins.operands[0], _get(state, ins.operands[1]))


def _constant(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    target, text = ins.operands
    _put(state, target, _high(text) if ins.mnemonic == "lis" else _immediate(text))


def _extend(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    _put(state, ins.operands[0], extend(thread, _get(state, ins.operands[1]), ins.mnemonic == "extsw"))


def _mask(begin: int, end: int) -> int:
    """The bits from one to another, which are numbered from the highest one of 64."""
    if begin <= end:
        return (_ALL >> begin) & (_ALL << (63 - end)) & _ALL
    return _ALL if begin == end + 1 else _ALL & ~_mask(end + 1, begin - 1)


def _rotated(thread: ProcessorThread, value: MachineValue, amount: int, mask: int) -> MachineValue:
    """A value of 32 bits with zeros above, rotated in 64 bits to the left, and masked."""
    if isinstance(value, Unknown) or value.base is not None:
        return value if isinstance(value, Unknown) else Unknown("a rotated address is not understood")
    if amount == 0 and mask == _ALL:
        return value
    amount %= 64
    every = ((mask >> amount) | (mask << (64 - amount))) & _ALL
    taken = every & 0xFFFFFFFF
    if value.constant is not None:
        whole = value.constant & _ALL
        return number(((whole << amount) | (whole >> (64 - amount))) & mask)
    if every == taken:
        value = take_word(thread, value)
    elif not is_word(thread, value):
        return Unknown("a rotation of more than 32 bits is not understood")
    left = amount if taken >> (64 - amount) == 0 or amount == 0 else amount - 64
    if left < 0 and taken & ((1 << -left) - 1):
        return Unknown("a rotation that moves bits both ways is not understood")
    if taken == 0xFFFFFFFF >> max(-left, 0) << max(-left, 0) and left >= 0:
        return shift(thread, value, left)
    signed = taken - (1 << 32) if taken >> 31 else taken
    return shift(thread, compute(thread, "and", value, number(signed)), left)


def _rotated_word(thread: ProcessorThread, value: MachineValue, amount: int, mask: int) -> MachineValue:
    """A word that is rotated in itself to the left, and masked."""
    if amount and (mask >> amount << amount) != mask:
        # What comes from above: a move to the right by 32 - amount.
        if mask & ((1 << amount) - 1) != mask:
            return Unknown("a rotation that moves bits both ways is not understood")
        amount += 32
    if isinstance(value, Affine) and value.base is None:
        value = take_word(thread, value)
    return _rotated(thread, value, amount, mask)


def _rotate_word(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    """``rlwinm target, source, amount, begin, end``; ``rlwimi`` keeps what the target has outside of the mask."""
    target, source, *numbers = ins.operands
    amount, begin, end = (int(operand) for operand in numbers)
    mask = _mask(begin + 32, end + 32) & 0xFFFFFFFF
    value = _rotated_word(thread, _get(state, source), amount, mask)
    if begin > end:
        value = _without_above(thread, value)
    if ins.mnemonic == "rlwimi":
        rest = compute(thread, "and", _get(state, target), number(~mask & 0xFFFFFFFF))
        value = _without_above(thread, compute(thread, "or", rest, value))
    _put(state, target, value)


def _without_above(thread: ProcessorThread, value: MachineValue) -> MachineValue:
    """A value whose upper half is not known: that of the target, or of the mask."""
    return replace(value, low=True) if isinstance(value, Affine) else value


def _clear_left(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    target, source, bits = ins.operands
    _put(state, target, _rotated_word(thread, _get(state, source), 0, 0xFFFFFFFF >> int(bits)))


def _rotate(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    """``rldicl``, ``rldicr``, ``rldic`` and what is short for them."""
    name, (target, source, *rest) = ins.mnemonic, ins.operands
    amount, *edges = (int(operand) for operand in rest)
    value = state.find(f"r{source}")
    turned = 0
    before = state.find(f"r{source} turned")
    if isinstance(before, Compared) and isinstance(before.right, Affine):
        value, turned = before.left, before.right.offset
    if not isinstance(value, Affine | Unknown):
        value = Unknown(f"r{source} holds nothing that is known")
    masks = {
        "rldicl": lambda: _mask(edges[0], 63),
        "rldicr": lambda: _mask(0, edges[0]),
        "rldic": lambda: _mask(edges[0], 63 - amount),
        "rotldi": lambda: _ALL,
        "sldi": lambda: _mask(0, 63 - amount),
        "clrldi": lambda: _mask(amount, 63),
        "srdi": lambda: _mask(amount, 63),
    }
    moved = {"clrldi": 0, "srdi": 64 - amount}.get(name, amount)
    if name == "rotldi":
        _put(state, target, Unknown("a rotated value is used as it is"))
        state.put(f"r{target} turned", Compared(value, number((turned + moved) % 64)))
        return
    _put(state, target, _rotated(thread, value, turned + moved, masks[name]()))


def _word_shift(sign: int) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target, source, amount = ins.operands
        _put(state, target, extend(thread, shift(thread, _get(state, source), sign * int(amount)), False))

    return meaning


def _compare(immediate: bool, wide: bool, signless: bool) -> Meaning:
    """``cmpw field, left, right``, where field 0 need not be said."""

    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        field, left, right = ins.operands if len(ins.operands) == 3 else ("0", *ins.operands)
        one, other = _get(state, left), _immediate(right) if immediate else _get(state, right)
        key = f"cr{field.removeprefix('cr')}"
        flags = Compared(one, other, wide, signless)
        for part in ("", " carry", " order"):
            state.put(f"{key}{part}", flags)

    return meaning


def _field_comparison(state: ProcessorState, field: str, operation: str) -> tuple[str, Compared]:
    key = f"cr{field.removeprefix('cr')}"
    operation = _SIGNLESS[operation] if find_flags(state, "eq", key).signless else operation
    return operation, find_flags(state, operation, key)


def _select(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    """``isel target, one, other, bit``."""
    target, one, other, bit = ins.operands
    field, which = divmod(int(bit), 4)
    if which == 3:
        raise thread.out.wrong("this bit of the condition register is not known")
    condition = decide(thread, *_field_comparison(state, str(field), ("lt", "gt", "eq")[which]))
    _put(state, target, select(thread, condition, _base(state, one), _get(state, other)))


def _named_select(operation: str) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        target, one, other, *field = ins.operands
        condition = decide(thread, *_field_comparison(state, (field or ["0"])[0], operation))
        _put(state, target, select(thread, condition, _base(state, one), _get(state, other)))

    return meaning


def _unknown(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    """What computes with bits of the condition register gives nothing that is known."""
    _put(state, ins.operands[0], Unknown("a bit of the condition register is used as a number"))


def _unknown_bit(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    forget_flags(state, "a bit of the condition register was computed", key=f"cr{int(ins.operands[0]) // 4}")


def _unknown_fields(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    """``mtcrf mask, register``: the highest of eight bits is field 0."""
    for field in range(8):
        if int(ins.operands[0]) >> (7 - field) & 1:
            forget_flags(state, "a field of the condition register was computed", key=f"cr{field}")


def _load(size: int) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        value = load(thread, state, _address(thread, state, ins.operands[1:]), size)
        _put(state, ins.operands[0], extend(thread, value, True) if ins.mnemonic.startswith("lwa") else value)

    return meaning


def _store(size: int) -> Meaning:
    def meaning(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
        address, value = _address(thread, state, ins.operands[1:]), _get(state, ins.operands[0])
        store(thread, state, address, size, value)
        if ins.mnemonic == "stdu":
            _put(state, ins.operands[1].partition("(")[2].rstrip(")"), address)

    return meaning


def _load_reserve(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    _put(state, ins.operands[0], load_exclusive(thread, state, _address(thread, state, ins.operands[1:3]), PLAIN))


def _store_conditional(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    source, *address = ins.operands
    failed = store_exclusive(thread, state, _address(thread, state, tuple(address)), _get(state, source), PLAIN)
    control(thread, failed)
    compare(state, failed, number(0), key="cr0")


def _fence(word: str) -> Meaning:
    mode = mode_of(Fence, word) or PLAIN
    return lambda thread, state, ins: fence(thread, mode)


def _sync(thread: ProcessorThread, state: ProcessorState, ins: AssemblyLine) -> None:
    words = {(): "sync", ("0",): "sync", ("1",): "lwsync"}
    if ins.operands not in words:
        raise thread.out.wrong("this barrier is not known")
    fence(thread, mode_of(Fence, words[ins.operands]) or PLAIN)


def _rows() -> list[Row[Meaning]]:
    rows: list[Row[Meaning]] = [
        Row("nop", NOTHING, "", nothing),
        Row("li,lis", NOTHING, "r n", _constant),
        Row("mr", NOTHING, "r r", _move),
        Row("extsw,zextw", NOTHING, "r r", _extend),
        Row("addi", NOTHING, "r r n", _three("add", True)),
        Row("addis", NOTHING, "r r n", _three("add", True, True)),
        Row("add", NOTHING, "r r r", _three("add")),
        Row("sub", NOTHING, "r r r", _three("sub")),
        Row("subf", NOTHING, "r r r", _subtract_from),
        Row("mullw", NOTHING, "r r r", _three("mul")),
        Row("mulli", NOTHING, "r r n", _three("mul", True)),
        Row("and", NOTHING, "r r r", _three("and")),
        Row("or", NOTHING, "r r r", _three("or")),
        Row("xor", NOTHING, "r r r", _three("xor")),
        Row("ori", NOTHING, "r r u", _three("or", True)),
        Row("xori", NOTHING, "r r u", _three("xor", True)),
        Row("oris", NOTHING, "r r u", _three("or", True, True)),
        Row("xoris", NOTHING, "r r u", _three("xor", True, True)),
        Row("andi.", NOTHING, "r r u", _three("and", True, record=True)),
        Row("andis.", NOTHING, "r r u", _three("and", True, True, record=True)),
        Row("rlwinm,rlwimi", NOTHING, "r r c5 c5 c5", _rotate_word),
        Row("rldicl,rldicr,rldic", NOTHING, "r r c6 c6", _rotate),
        Row("rotldi,sldi,clrldi,srdi", NOTHING, "r r c6", _rotate),
        Row("slwi", NOTHING, "r r c5", _word_shift(1)),
        Row("srwi", NOTHING, "r r c5", _word_shift(-1)),
        Row("clrlwi", NOTHING, "r r c5", _clear_left),
        Row("isel", NOTHING, "r r r bit", _select),
        Row("iseleq", NOTHING, "r r r", _named_select("eq")),
        Row("isellt", NOTHING, "r r r", _named_select("lt")),
        Row("iselgt", NOTHING, "r r r", _named_select("gt")),
        Row("mfocrf", NOTHING, "r mask", _unknown),
        Row("mfcr", NOTHING, "r", _unknown),
        Row("setbc,setbcr", NOTHING, "r bit", _unknown),
        Row("crmove,crnot", NOTHING, "bit bit", _unknown_bit),
        Row("crand,cror,crxor,crnor,creqv", NOTHING, "bit bit bit", _unknown_bit),
        Row("mtocrf,mtcrf", NOTHING, "mask r", _unknown_fields),
        Row("sync", ORDERS, " / c5", _sync),
        Row("hwsync", ORDERS, "", _fence("sync")),
        Row("lwsync", ORDERS, "", _fence("lwsync")),
        Row("isync", ORDERS, "", _fence("isync")),
        Row("eieio", ORDERS, "", _fence("eieio")),
        Row("lwarx", BOTH, "r r r one?", _load_reserve),
        Row("stwcx.", BOTH, "r r r", _store_conditional),
    ]
    for width, wide in (("w", False), ("d", True)):
        for letter, signless in (("", False), ("l", True)):
            rows.append(Row(f"cmp{letter}{width}", NOTHING, "field? r r", _compare(False, wide, signless)))
            immediate = "field? r u" if signless else "field? r n"
            rows.append(Row(f"cmp{letter}{width}i", NOTHING, immediate, _compare(True, wide, signless)))
    for name, size in (("lwz", 4), ("lwa", 4), ("ld", 8), ("lbz", 1)):
        rows.append(Row(name, READS, "r m", _load(size)))
    for name, size in (("lwzx", 4), ("lwax", 4), ("ldx", 8)):
        rows.append(Row(name, READS, "r r r", _load(size)))
    for name, size in (("std", 8), ("stdu", 8), ("stw", 4), ("stb", 1)):
        rows.append(Row(name, WRITES, "r m", _store(size)))
    for name, size in (("stdx", 8), ("stwx", 4)):
        rows.append(Row(name, WRITES, "r r r", _store(size)))
    return rows


def _branch(word: str) -> Jump:
    """``bne 7, label``, where field 0 need not be said."""

    def jump(ins: AssemblyLine) -> MachineJump:
        field, target = ("0", *ins.operands)[-2:]
        is_taken = lambda thread, state: ask(thread, *_field_comparison(state, field, _CONDITIONS[word]))  # noqa: E731
        return MachineJump("" if target in (".+4", "$+4") else target, is_taken)

    return jump


def _return(word: str) -> Jump:
    """``bnelr 7``."""

    def jump(ins: AssemblyLine) -> MachineJump:
        (field,) = ins.operands or ("0",)
        return MachineJump(None, lambda thread, state: ask(thread, *_field_comparison(state, field, _CONDITIONS[word])))

    return jump


def _jumps() -> list[Row[Jump]]:
    rows = [
        Row("blr", CONTROL, "", lambda ins: MachineJump(None)),
        Row("b", CONTROL, "label", lambda ins: MachineJump(ins.operands[0])),
    ]
    for word in _CONDITIONS:
        rows.append(Row(f"b{word},b{word}+,b{word}-", CONTROL, "field? label|next", _branch(word)))
        rows.append(Row(f"b{word}lr,b{word}lr+,b{word}lr-", CONTROL, "field?", _return(word)))
    return rows


POWER = MachineLanguage("power", "#", ("r3", "r4"), "r1", _KINDS, table_of(_rows()), table_of(_jumps()))
"""Power, with the words of ``corpus.litmus.processors.POWER``."""
