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
from types import MappingProxyType

from corpus.assembly.language import MachineJump, MachineLanguage, Meaning, nothing
from corpus.assembly.text import AssemblyLine
from corpus.assembly.thread import AskedBranch, AssemblyThread
from corpus.assembly.values import FAILED, AffineValue, ComparedFlags, MachineValue, UnknownValue, number
from corpus.litmus.processors import mode_of
from corpus.litmus.test import DEFAULT_RMW, PLAIN, Fence

_ADDRESS = re.compile(r"(-?\d+)\((\d+)\)")
_CONDITIONS = {"eq": "eq", "ne": "ne", "lt": "lt", "ge": "ge", "le": "le", "gt": "gt"}
_CONDITIONS |= {"nl": "ge", "ng": "le"}
_SIGNLESS = {"eq": "eq", "ne": "ne", "lt": "ltu", "ge": "geu", "le": "leu", "gt": "gtu"}
_ALL = (1 << 64) - 1


def _get(thread: AssemblyThread, text: str) -> MachineValue:
    return thread.get(f"r{text}")


def _base(thread: AssemblyThread, text: str) -> MachineValue:
    """A register of an address, where 0 is the number."""
    return number(0) if text == "0" else _get(thread, text)


def _put(thread: AssemblyThread, text: str, value: MachineValue) -> None:
    thread.put(f"r{text}", value)


def _immediate(text: str) -> MachineValue:
    try:
        return number(int(text, 0))
    except ValueError:
        return UnknownValue(f"the address {text} is not understood")


def _address(thread: AssemblyThread, operands: tuple[str, ...]) -> MachineValue:
    """The address of an access: ``256(3)``, or two registers."""
    if len(operands) == 2:
        return thread.add(_base(thread, operands[0]), _get(thread, operands[1]))
    found = _ADDRESS.fullmatch(operands[0])
    if found is None:
        return UnknownValue(f"the address {operands[0]} is not understood")
    return thread.add(_base(thread, found[2]), number(int(found[1])))


def _three(operation: str, immediate: bool = False, high: bool = False, record: bool = False) -> Meaning:
    """``op target, left, right``; ``high``: the number is moved up by 16 bits; ``record``: cr0 compares with 0."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target, left, right = ins.operands
        one = _base(thread, left) if ins.mnemonic in ("addi", "addis") else _get(thread, left)
        other = _immediate(right) if immediate else _get(thread, right)
        result = thread.computed(operation, one, thread.shifted(other, 16) if high else other)
        _put(thread, target, result)
        if record:
            thread.compare(result, number(0), carry=False, key="cr0")

    return meaning


def _subtract_from(thread: AssemblyThread, ins: AssemblyLine) -> None:
    target, left, right = ins.operands
    _put(thread, target, thread.subtract(_get(thread, right), _get(thread, left)))


def _move(thread: AssemblyThread, ins: AssemblyLine) -> None:
    _put(thread, ins.operands[0], _get(thread, ins.operands[1]))


def _constant(shift: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        _put(thread, ins.operands[0], thread.shifted(_immediate(ins.operands[1]), shift))

    return meaning


def _mask(begin: int, end: int) -> int:
    """The bits from one to another, which are numbered from the highest one of 64."""
    if begin <= end:
        return (_ALL >> begin) & (_ALL << (63 - end)) & _ALL
    return _ALL & ~_mask(end + 1, begin - 1)


def _rotated(thread: AssemblyThread, value: MachineValue, amount: int, mask: int) -> MachineValue:
    """A value of 32 bits with zeros above, rotated in 64 bits to the left, and masked."""
    if isinstance(value, UnknownValue):
        return value
    amount %= 64
    taken = ((mask >> amount) | (mask << (64 - amount))) & _ALL & 0xFFFFFFFF
    if value.constant is not None:
        whole = value.constant & 0xFFFFFFFF & taken
        return number(((whole << amount) | (whole >> (64 - amount))) & _ALL)
    left = amount if taken >> (64 - amount) == 0 or amount == 0 else amount - 64
    if left < 0 and taken & ((1 << -left) - 1):
        return UnknownValue("a rotation that moves bits both ways is not understood")
    if taken == 0xFFFFFFFF >> max(-left, 0) << max(-left, 0) and left >= 0:
        return thread.shifted(value, left)
    signed = taken - (1 << 32) if taken >> 31 else taken
    return thread.shifted(thread.compute("and", value, number(signed)), left)


def _rotated_word(thread: AssemblyThread, value: MachineValue, amount: int, mask: int) -> MachineValue:
    """A word that is rotated in itself to the left, and masked."""
    if amount and (mask >> amount << amount) != mask:
        # What comes from above: a move to the right by 32 - amount.
        if mask & ((1 << amount) - 1) != mask:
            return UnknownValue("a rotation that moves bits both ways is not understood")
        amount += 32
    return _rotated(thread, value, amount, mask)


def _rotate_word(thread: AssemblyThread, ins: AssemblyLine) -> None:
    """``rlwinm target, source, amount, begin, end``; ``rlwimi`` keeps what the target has outside of the mask."""
    target, source, *numbers = ins.operands
    amount, begin, end = (int(each) for each in numbers)
    mask = _mask(begin + 32, end + 32) & 0xFFFFFFFF
    value = _rotated_word(thread, _get(thread, source), amount, mask)
    if ins.mnemonic == "rlwimi":
        rest = thread.compute("and", _get(thread, target), number(~mask & 0xFFFFFFFF))
        value = thread.compute("or", rest, value)
    _put(thread, target, value)


def _clear_left(thread: AssemblyThread, ins: AssemblyLine) -> None:
    target, source, bits = ins.operands
    _put(thread, target, _rotated_word(thread, _get(thread, source), 0, 0xFFFFFFFF >> int(bits)))


def _rotate(thread: AssemblyThread, ins: AssemblyLine) -> None:
    """``rldicl``, ``rldicr``, ``rldic`` and what is short for them."""
    name, (target, source, *rest) = ins.mnemonic, ins.operands
    amount, *edges = (int(each) for each in rest)
    value = thread.content(f"r{source}")
    turned = 0
    before = thread.content(f"r{source} turned")
    if isinstance(before, ComparedFlags) and isinstance(before.right, AffineValue):
        value, turned = before.left, before.right.number
    if not isinstance(value, AffineValue | UnknownValue):
        value = UnknownValue(f"r{source} holds nothing that is known")
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
        _put(thread, target, UnknownValue("a rotated value is used as it is"))
        thread.put(f"r{target} turned", ComparedFlags(value, number((turned + moved) % 64)))
        return
    _put(thread, target, _rotated(thread, value, turned + moved, masks[name]()))
    thread.forget(f"r{target} turned")


def _word_shift(sign: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target, source, amount = ins.operands
        _put(thread, target, thread.shifted(_get(thread, source), sign * int(amount)))

    return meaning


def _compare(immediate: bool, wide: bool, signless: bool) -> Meaning:
    """``cmpw field, left, right``, where field 0 need not be said."""

    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        field, left, right = ins.operands if len(ins.operands) == 3 else ("0", *ins.operands)
        field = field.removeprefix("cr")
        one, other = _get(thread, left), _immediate(right) if immediate else _get(thread, right)
        thread.compare(one, other, wide, key=f"cr{field}")
        thread.put(f"cr{field} signless", number(int(signless)))

    return meaning


def _asked(thread: AssemblyThread, field: str, operation: str) -> tuple[str, ComparedFlags]:
    signless = thread.content(f"cr{field} signless") == number(1)
    operation = _SIGNLESS[operation] if signless else operation
    return operation, thread.flags(operation, f"cr{field}")


def _select(thread: AssemblyThread, ins: AssemblyLine) -> None:
    """``isel target, one, other, bit``."""
    target, one, other, bit = ins.operands
    field, which = divmod(int(bit), 4)
    if which == 3:
        raise thread.refuse("this bit of the condition register is not known")
    condition = thread.holds(*_asked(thread, str(field), ("lt", "gt", "eq")[which]))
    _put(thread, target, thread.select(condition, _base(thread, one), _get(thread, other)))


def _named_select(operation: str) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        target, one, other, *field = ins.operands
        condition = thread.holds(*_asked(thread, (field or ["0"])[0].removeprefix("cr"), operation))
        _put(thread, target, thread.select(condition, _base(thread, one), _get(thread, other)))

    return meaning


def _unknown(thread: AssemblyThread, ins: AssemblyLine) -> None:
    """What computes with bits of the condition register gives nothing that is known."""
    _put(thread, ins.operands[0], UnknownValue("a bit of the condition register is used as a number"))


def _unknown_bit(thread: AssemblyThread, ins: AssemblyLine) -> None:
    field = int(ins.operands[0]) // 4
    unknown = UnknownValue("a bit of the condition register was computed")
    thread.compare(unknown, unknown, key=f"cr{field}")


def _unknown_field(thread: AssemblyThread, ins: AssemblyLine) -> None:
    field = 7 - int(ins.operands[0]).bit_length() + 1
    unknown = UnknownValue("a field of the condition register was computed")
    thread.compare(unknown, unknown, key=f"cr{field}")


def _load(size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        _put(thread, ins.operands[0], thread.load(_address(thread, ins.operands[1:]), size))

    return meaning


def _store(size: int) -> Meaning:
    def meaning(thread: AssemblyThread, ins: AssemblyLine) -> None:
        address, value = _address(thread, ins.operands[1:]), _get(thread, ins.operands[0])
        thread.store(address, size, value)
        if ins.mnemonic == "stdu":
            _put(thread, ins.operands[1].partition("(")[2].rstrip(")"), address)

    return meaning


def _load_reserve(thread: AssemblyThread, ins: AssemblyLine) -> None:
    _put(thread, ins.operands[0], thread.load_exclusive(_address(thread, ins.operands[1:3]), acquires=False))


def _store_conditional(thread: AssemblyThread, ins: AssemblyLine) -> None:
    source, *address = ins.operands
    read = thread.store_exclusive(_address(thread, tuple(address)), _get(thread, source), lambda _: DEFAULT_RMW)
    thread.control(read)
    thread.compare(AffineValue(FAILED), number(0), key="cr0")
    thread.put("cr0 signless", number(0))


def _fence(word: str) -> Meaning:
    mode = mode_of(Fence, word) or PLAIN
    return lambda thread, ins: thread.fence(mode)


def _sync(thread: AssemblyThread, ins: AssemblyLine) -> None:
    words = {(): "sync", ("0",): "sync", ("1",): "lwsync"}
    if ins.operands not in words:
        raise thread.refuse("this barrier is not known")
    thread.fence(mode_of(Fence, words[ins.operands]) or PLAIN)


def _table() -> Mapping[str, Meaning]:
    table: dict[str, Meaning] = {
        "nop": nothing,
        "li": _constant(0),
        "lis": _constant(16),
        "mr": _move,
        **dict.fromkeys(("extsw", "zextw"), _move),
        "addi": _three("add", True),
        "addis": _three("add", True, True),
        "add": _three("add"),
        "sub": _three("sub"),
        "subf": _subtract_from,
        "mullw": _three("mul"),
        "mulli": _three("mul", True),
        "and": _three("and"),
        "or": _three("or"),
        "xor": _three("xor"),
        "ori": _three("or", True),
        "xori": _three("xor", True),
        "oris": _three("or", True, True),
        "xoris": _three("xor", True, True),
        "andi.": _three("and", True, record=True),
        "andis.": _three("and", True, True, record=True),
        "rlwinm": _rotate_word,
        "rlwimi": _rotate_word,
        **dict.fromkeys(("rldicl", "rldicr", "rldic", "rotldi", "sldi", "clrldi", "srdi"), _rotate),
        "slwi": _word_shift(1),
        "srwi": _word_shift(-1),
        "isel": _select,
        "iseleq": _named_select("eq"),
        "isellt": _named_select("lt"),
        "iselgt": _named_select("gt"),
        **dict.fromkeys(("mfocrf", "mfcr", "setbc", "setbcr"), _unknown),
        **dict.fromkeys(("crmove", "crnot", "crand", "cror", "crxor", "crnor", "creqv"), _unknown_bit),
        "mtocrf": _unknown_field,
        "mtcrf": _unknown_field,
        "lwz": _load(4),
        "lwzx": _load(4),
        "lwa": _load(4),
        "lwax": _load(4),
        "lbz": _load(1),
        "ld": _load(8),
        "ldx": _load(8),
        "std": _store(8),
        "stdx": _store(8),
        "stdu": _store(8),
        "stw": _store(4),
        "stwx": _store(4),
        "stb": _store(1),
        "sync": _sync,
        "hwsync": _fence("sync"),
        "lwsync": _fence("lwsync"),
        "isync": _fence("isync"),
        "eieio": _fence("eieio"),
        "clrlwi": _clear_left,
        "lwarx": _load_reserve,
        "stwcx.": _store_conditional,
    }
    for width, wide in (("w", False), ("d", True)):
        for letter, signless in (("", False), ("l", True)):
            table[f"cmp{letter}{width}"] = _compare(False, wide, signless)
            table[f"cmp{letter}{width}i"] = _compare(True, wide, signless)
    return MappingProxyType(table)


def _jump(ins: AssemblyLine) -> MachineJump | None:
    name, operands = ins.mnemonic.rstrip("+-"), ins.operands
    if name == "blr":
        return MachineJump(None)
    if name == "b":
        return MachineJump(operands[0])
    returns = name.endswith("lr")
    word = name[1:].removesuffix("lr")
    if not name.startswith("b") or word not in _CONDITIONS:
        return None
    field, target = ("0", *operands)[-2:] if not returns else ((*operands, "0")[0], "")
    operation = _CONDITIONS[word]

    def asked(thread: AssemblyThread) -> bool | AskedBranch:
        return thread.asked(*_asked(thread, field.removeprefix("cr"), operation))

    if returns:
        return MachineJump(None, asked)
    return MachineJump("" if target in (".+4", "$+4") else target, asked)


POWER = MachineLanguage("power", "#", ("r3", "r4"), "r1", _table(), _jump)
"""Power, with the words of ``corpus.litmus.processors.POWER``."""
