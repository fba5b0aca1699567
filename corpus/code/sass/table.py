"""What machine instructions do to memory and to control: a table by opcode, beside that of those that compute.

``LDG.E.STRONG.GPU R7, desc[UR4][R2.64]`` of a test is ``ld.relaxed.gpu R7, x``; what the words of accesses and fences
are read as is said in ``corpus.code.sass.words``. A meaning appends what the instruction is in the test, changes what
is known, and returns whether the thread goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from corpus.code.sass.computing import any_of
from corpus.code.sass.operands import PREDICATE, SassState
from corpus.code.sass.text import RMWS, SassInstruction
from corpus.code.sass.thread import OTHER_SIZES, SassThread
from corpus.code.sass.values import Relative
from corpus.code.sass.words import (
    IMPLIED,
    INVALIDATION,
    MACHINE_SCOPES,
    SILENT,
    access_mode,
    acquiring,
    fence_mode,
    releasing,
)
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, READS, REFUSED, WRITES, Row, Table, table_of
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.locations import Operand
from corpus.litmus.orders import Mode, Order

Meaning = Callable[[SassThread, SassState, SassInstruction], bool]
"""What an instruction does to a thread; false where the thread ends."""

_FUNCTION = re.compile(r"thread_(\d+)_(\d+)")


def nothing(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Do nothing, as opcodes do that say nothing of memory."""
    return True


# control


def end(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``EXIT``: the thread ends."""
    return False


def leave(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``RET``: a function goes back to where it was called, and the kernel ends."""
    if not state.calls:
        return False
    state.function, state.place = state.calls[-1]
    state.calls = state.calls[:-1]
    return True


def call(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``CALL``, of the code of the thread of the test."""
    found = _FUNCTION.search(" ".join(ins.operands))
    if found is None or found[0] not in thread.functions:
        raise thread.wrong("expected a call of the code of a thread")
    if int(found[1]) != thread.number:
        raise thread.wrong(f"P{thread.number} of the test is thread {found[1]} in the machine code")
    state.calls = (*state.calls, (state.function, state.place))
    state.function, state.place = found[0], 0
    return True


def branch(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``BRA``. The lanes of a warp are together: ``BRA.CONV`` jumps, ``BRA.DIV`` does not."""
    target = re.search(r"\.\w+", ins.operands[-1])
    if target is None or target[0] not in thread.labels:
        raise thread.wrong("this jump is not understood")
    goes = all(thread.decided(state, text) for text in ins.operands[:-1] if PREDICATE.fullmatch(text))
    if goes and "DIV" not in ins.parts:
        state.function, state.place = thread.labels[target[0]]
    return True


# memory of the thread alone


def store_own(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``STL``."""
    address = thread.own_address(state, ins)
    state.own[address] = thread.kept(f"own{address}", thread.operands.value(state, ins.operands[-1]))
    return True


def load_own(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``LDL``."""
    target = ins.operands[0]
    state.known[target] = thread.kept(target, state.own.get(thread.own_address(state, ins)))
    return True


# fences and barriers


def fence(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``MEMBAR.SC.GPU``: a fence, which a ``CCTL.IVALL`` behind it may make stronger."""
    strength, scope = ins.parts[1:]
    if scope not in MACHINE_SCOPES:
        raise thread.wrong("is not understood")
    thread.put(Fence(fence_mode(strength, MACHINE_SCOPES[scope], False)))
    thread.membar = (len(thread.code) - 1, strength, MACHINE_SCOPES[scope])
    return True


def invalidate(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``CCTL.IVALL``: it belongs to the ``MEMBAR`` or the update before it, if nothing is in between."""
    if (last := thread.last) >= 0 and thread.code[last] == Fence(IMPLIED):
        del thread.code[last]
    last = thread.last
    if thread.membar is not None and thread.membar[0] == last:
        thread.code[last] = Fence(fence_mode(*thread.membar[1:], True))
        thread.membar = None
        return True
    if last >= 0 and isinstance(update := thread.code[last], Rmw):
        thread.code[last] = replace(update, mode=acquiring(update.mode))
    thread.put(Fence(INVALIDATION))
    return True


def meet(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``BAR``, a barrier of the kernel: 0 is none of the test."""
    number, count = ([thread.operands.value(state, text) for text in ins.operands] + [None])[:2]
    if number == 0:
        return True
    if not isinstance(number, int) or not isinstance(count, int):
        raise thread.wrong("a barrier of whom is not understood")
    if ins.operands[0] == ins.operands[1]:
        number, count = number & 0xF, count >> 16
    thread.put(Barrier(number, arrive="ARV" in ins.parts, quorum=count // thread.launch.slots))
    return True


# memory that threads share


class _Access(NamedTuple):
    """An access to memory that threads share: how it is done, its space and address, what it is given, its result."""

    mode: Mode
    space: str
    address: Operand
    given: tuple[Operand, ...]
    target: str


def load(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``LDG`` or ``LDS``; where RZ is the target, it is a load all the same."""
    access = _access(thread, state, ins)
    register = thread.new_register() if access.target == "RZ" else access.target
    thread.put(Load(register, access.address, access.mode))
    return _reads(thread, state, access.target, access.mode)


def store(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``STG`` or ``STS``."""
    access = _access(thread, state, ins)
    (value,) = access.given
    thread.put(Store(access.address, value, access.mode))
    return True


def update(thread: SassThread, state: SassState, ins: SassInstruction) -> bool:
    """Follow ``ATOMG``, ``ATOMS`` or ``RED``: one right behind a ``MEMBAR`` of its scope releases."""
    mode, space, address, given, target = _access(thread, state, ins)
    if thread.membar is not None and thread.membar[0] == thread.last:
        mode = releasing(mode, space, thread.membar[2])
    operation = next((RMWS[part] for part in ins.parts if part in RMWS), None)
    counts = ins.parts[1:3] == ("POPC", "INC")
    unsigned = operation in ("min", "max") and "S32" not in ins.parts
    if operation is None or unsigned or (not counts and {"INC", "DEC"}.intersection(ins.parts)):
        raise thread.wrong("is not understood")
    if len(given) != (0 if counts else 2 if operation == "cas" else 1):
        raise thread.wrong("expected other operands")
    if ins.parts[0].startswith("RED"):
        target = "RZ"
    register = None if target == "RZ" else target
    thread.put(Rmw(operation, register, address, (1,) if counts else given, mode))
    return _reads(thread, state, target, mode)


def _access(thread: SassThread, state: SassState, ins: SassInstruction) -> _Access:
    _, space = ins.access or ("", "")
    mode = access_mode(space, ins.parts)
    if space == "generic" and ins.parts[0] == "RED":
        space = "global"
    if space == "generic":
        raise thread.wrong("generic accesses, to shared memory of another CTA, are not understood")
    if mode is None or not OTHER_SIZES.isdisjoint(ins.parts):
        raise thread.wrong("is not understood")
    place = next(n for n, text in enumerate(ins.operands) if "[" in text and not text.startswith("c["))
    address = thread.location(state, ins.operands[place], space)
    values = [thread.operands.value(state, text) for text in ins.operands[place + 1 :] if text != "PT"]
    given = tuple(map(thread.needed, values))
    has_target = place > 0 and not PREDICATE.fullmatch(ins.operands[place - 1])
    return _Access(mode, space, address, given, ins.operands[place - 1].removesuffix(".reuse") if has_target else "RZ")


def _reads(thread: SassThread, state: SassState, target: str, mode: Mode) -> bool:
    """Note that a register holds what was read, and put the fence behind a strong read that is no instruction."""
    if target != "RZ":
        state.known[target] = Relative(target)
    if mode.order is not Order.WEAK and thread.is_accompanied:
        thread.put(Fence(IMPLIED))
    return True


_ACCESSED = ("E", "EF", "LU", "STRONG", "32", *MACHINE_SCOPES, *sorted(OTHER_SIZES))
_UPDATED = any_of("E", "STRONG", "32", "S32", "INC", *RMWS, *MACHINE_SCOPES)
"""The parts that opcodes of accesses, and of updates, may have."""
_SILENT = (*SILENT, "NOP", "BSSY", "BSYNC", "YIELD", "WARPSYNC", "BREAK", "NANOSLEEP", "DEPBAR", "ENDCOLLECTIVE")
"""Opcodes that say nothing of memory: of the convergence of warps, and of errors."""
_UNKNOWN, _NO_JUMP = "is not understood", "this jump is not understood"

FOLLOWED: Table[Meaning] = table_of(
    [
        Row(
            *(",".join(_SILENT), NOTHING, "any*", nothing),
            any_of("RECONVERGENT", "RELIABLE", "ALL", "COLLECTIVE", "EXCLUSIVE", "LE"),
        ),
        Row("EXIT", CONTROL, "any*", end),
        Row("RET", CONTROL, "any*", leave, any_of("REL", "ABS", "NODEC")),
        Row("CALL", CONTROL, "any*", call, any_of("REL", "ABS", "NOINC")),
        Row("BRA", CONTROL, "any any?", branch, any_of("U", "DIV", "CONV"), _NO_JUMP),
        Row("BRX,JMP,JMX", REFUSED, "", nothing, why=_NO_JUMP),
        Row("LDL", READS, "R a", load_own, any_of(*_ACCESSED)),
        Row("STL", WRITES, "a R", store_own, any_of(*_ACCESSED)),
        Row("LD,LDG", READS, "R a", load, any_of(*_ACCESSED)),
        Row("LDS", READS, "R a", load, any_of(*_ACCESSED, "U")),
        Row("ST,STG", WRITES, "a R", store, any_of(*_ACCESSED)),
        Row("STS", WRITES, "a R", store, any_of(*_ACCESSED, "U")),
        Row("ATOM,ATOMG,ATOMS,RED,REDG,REDS", BOTH, "PT? R a R? R? / a R", update, _UPDATED),
        Row("MEMBAR", ORDERS, "any*", fence, "SC|ALL SM|CTA|GPU|SYS", _UNKNOWN),
        Row("CCTL", ORDERS, "", invalidate, "IVALL", _UNKNOWN),
        Row("BAR", ORDERS, "any any?", meet, any_of("SYNC", "ARV", "DEFER_BLOCKING"), "this barrier is not understood"),
    ]
)
"""The opcodes of control and of memory that are understood."""
