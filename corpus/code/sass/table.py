"""What machine instructions do to memory and to control: a table by opcode, beside that of those that compute.

``LDG.E.STRONG.GPU R7, desc[UR4][R2.64]`` of a test is ``ld.relaxed.gpu R7, x``; what the words of accesses and fences
are read as is said in ``corpus.code.sass.words``, and what they are together with those before in
``corpus.code.sass.fences``.

In the kernel, outside of the functions of the test's threads, accesses are those of the harness: it stores results,
which are the final values of registers, and initial values of shared memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from corpus.code import calls, ir
from corpus.code.evaluation import define
from corpus.code.memory import loaded, stored
from corpus.code.sass.computing import COMPUTED, any_of, begin_again, keep_results
from corpus.code.sass.evaluation import address_of, capability_of, give_operand, launch_of, value_of
from corpus.code.sass.fences import FENCE, INVALIDATE
from corpus.code.sass.launch import ALL, MEMORY, OWN, RESULTS, WORD
from corpus.code.sass.operands import CONSTANTS, IS_WRONG, is_address, is_predicate, targets
from corpus.code.sass.text import RMWS, access_of
from corpus.code.sass.words import IMPLIED, INVALIDATION, MACHINE_SCOPES, SILENT, access_mode, fence_mode
from corpus.code.table import (
    BOTH,
    CONTROL,
    NOTHING,
    ORDERS,
    READS,
    REFUSED,
    WRITES,
    Refusal,
    Row,
    Table,
    find,
    forms_in,
    misfit_of,
    table_of,
)
from corpus.code.thread import FollowedThread, Meaning, State
from corpus.code.values import Affine, ArrayAddress, Symbol
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Barrier, Fence, Load, Rmw, Store
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.orders import PLAIN, Mode, Order
from corpus.litmus.propositions import FinalRegister

FINAL = "="
"""The beginning of registers of the test while the code is followed: it sets them apart from those of the machine."""

_FUNCTION = re.compile(r"thread_(\d+)_(\d+)")
_OTHER_SIZES = frozenset(("64", "128", "U8", "S8", "U16", "S16"))
"""The parts of opcodes of accesses to more or less than a word."""
_OF_MEMORY = re.compile(r"LD(?!C)|ST|AT|RED|SU|TEX|TLD|MEMBAR|FENCE|CCTL|SYNCS|UBLK|UTMA|ARRIVES|BAR|UCGABAR|QSPC")
"""The beginnings of opcodes that have to be understood in a thread of the test."""
_OUTSIDE = "any? any? any? a R? R? any?"
"""The operands of an access of the kernel besides the test."""


def nothing(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Do nothing, as opcodes do that say nothing of memory."""
    return True


# control


def call(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``CALL``, of the code of the thread of the test."""
    names = " ".join(operand.name for operand in ins.operands if isinstance(operand, ir.SymbolRef))
    found, number = _FUNCTION.search(names), launch_of(thread).number(thread.ids)
    if found is None or found[0] not in thread.module.functions:
        raise thread.out.wrong("expected a call of the code of a thread")
    if int(found[1]) != number:
        raise thread.out.wrong(f"P{number} of the test is thread {found[1]} in the machine code")
    return calls.call(thread, state, ins._replace(operands=(ir.SymbolRef(found[0]),)))


def branch(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``BRA``. The lanes of a warp are together: ``BRA.CONV`` jumps, ``BRA.DIV`` does not."""
    *conditions, last = ins.operands
    label = re.search(r"\.\w+", last.name) if isinstance(last, ir.SymbolRef) else None
    functions = thread.module.functions.values()
    target = next((function for function in functions if label and label[0] in function.labels), None)
    if target is None or label is None:
        raise thread.out.wrong("this jump is not understood")
    for condition in filter(is_predicate, conditions):
        negative = isinstance(condition, ir.Negated)
        inner = condition.operand if isinstance(condition, ir.Negated) else condition
        match value_of(thread, state, inner):
            case Symbol() as held:
                return begin_again(thread, state, condition, held)
            case int(number):
                if bool(number) is negative:
                    return True
            case _:
                assert isinstance(inner, ir.Register)
                raise thread.out.wrong(f"{'!' * negative}{inner.name} is not understood")
    if "DIV" not in ins.words:
        state.function, state.place = target, target.labels[label[0]]
    return True


def run_off(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Refuse the end of a function, behind which there is nothing."""
    raise InputError("the code ends without an EXIT", thread.module.path or None)


# memory of the thread alone


def store_own(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``STL``, a store of a word to memory of the thread alone."""
    address = _own_address(thread, state, ins)
    return stored(thread, state, address, WORD, value_of(thread, state, ins.operands[-1]), PLAIN)


def load_own(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``LDL``, a load of a word from memory of the thread alone."""
    value = loaded(thread, state, _own_address(thread, state, ins), WORD, "b32", PLAIN)
    if value is not None:
        keep_results(thread, state, (), [(ins.operands[0], value)])
    return value is not None


def _own_address(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> ArrayAddress:
    address = address_of(thread, state, next(filter(is_address, ins.operands)))
    if not isinstance(address, int) or not _OTHER_SIZES.isdisjoint(ins.words):
        raise thread.out.wrong("is not understood")
    return ArrayAddress(OWN, address)


# fences and barriers


def fence(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``MEMBAR.SC.GPU``: a fence, which a ``CCTL.IVALL`` behind it may make stronger."""
    if len(ins.words) != 2 or ins.words[1] not in MACHINE_SCOPES:
        raise thread.out.wrong("is not understood")
    strength, scope = ins.words
    thread.out.put(Fence(fence_mode(strength, MACHINE_SCOPES[scope], False)))
    return True


def invalidate(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow a ``CCTL.IVALL`` that is part of no fence or access: it invalidates the L1 cache."""
    thread.out.put(Fence(INVALIDATION))
    return True


def meet(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``BAR``, a barrier of the kernel: 0 is none of the test."""
    number, *counts = [value_of(thread, state, operand) for operand in ins.operands]
    if number == 0:
        return True
    if not isinstance(number, int) or not counts or not isinstance(counts[0], int):
        raise thread.out.wrong("a barrier of whom is not understood")
    count = counts[0]
    if ins.operands[0] == ins.operands[1]:
        number, count = number & 0xF, count >> 16
    thread.out.put(Barrier(number, arrive="ARV" in ins.words, quorum=count // launch_of(thread).slots))
    return True


# memory that threads share


class _Access(NamedTuple):
    """An access to memory that threads share: how it is done, its address, what it is given, its result."""

    mode: Mode
    address: Operand
    given: tuple[Operand, ...]
    target: str


def load(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``LDG`` or ``LDS``; where RZ is the target, it is a load all the same."""
    access = _access(thread, state, ins)
    register = thread.out.new_register() if access.target == "RZ" else access.target
    thread.out.put(Load(register, access.address, access.mode))
    return _read(thread, state, access.target, access.mode)


def store(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``STG`` or ``STS``."""
    access = _access(thread, state, ins)
    (value,) = access.given
    thread.out.put(Store(access.address, value, access.mode))
    return True


def update(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``ATOMG``, ``ATOMS`` or ``RED``."""
    mode, address, given, target = _access(thread, state, ins)
    operation = next((RMWS[word] for word in ins.words if word in RMWS), None)
    counts = ins.words[:2] == ("POPC", "INC")
    unsigned = operation in ("min", "max") and "S32" not in ins.words
    if operation is None or unsigned or (not counts and {"INC", "DEC"}.intersection(ins.words)):
        raise thread.out.wrong("is not understood")
    if len(given) != (0 if counts else 2 if operation == "cas" else 1):
        raise thread.out.wrong("expected other operands")
    if ins.name.startswith("RED"):
        target = "RZ"
    register = None if target == "RZ" else target
    thread.out.put(Rmw(operation, register, address, (1,) if counts else given, mode))
    return _read(thread, state, target, mode)


def _access(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> _Access:
    _, space = access_of(ins.name) or ("", "")
    mode = access_mode(space, (ins.name, *ins.words))
    if space == "generic" and ins.name == "RED":
        space = "global"
    if space == "generic":
        raise thread.out.wrong("generic accesses, to shared memory of another CTA, are not understood")
    if mode is None or not _OTHER_SIZES.isdisjoint(ins.words):
        raise thread.out.wrong("is not understood")
    place = next(n for n, operand in enumerate(ins.operands) if is_address(operand))
    address = _location(thread, state, ins.operands[place], space)
    always = ir.Register("PT")
    values = [value_of(thread, state, operand) for operand in ins.operands[place + 1 :] if operand != always]
    given = tuple(give_operand(thread, value) for value in values)
    before = ins.operands[place - 1] if place > 0 else None
    has_target = isinstance(before, ir.Register) and not is_predicate(before)
    return _Access(mode, address, given, before.name if isinstance(before, ir.Register) and has_target else "RZ")


def _location(thread: FollowedThread, state: State, operand: ir.Operand, space: str) -> Operand:
    """Return the location at an address, or a register that holds its address."""
    number, register = 0, ""
    match address_of(thread, state, operand):
        case int(number):
            pass
        case Symbol(register):
            pass
        case Affine(None, ((register, 1),), number):
            pass
        case _:
            raise thread.out.wrong("its address is not understood")
    location = launch_of(thread).location(number, space, capability_of(thread))
    if location is None:
        raise thread.out.wrong(f"its address is that of no location in {space} memory")
    return Reg(thread.out.temporary("add", location, Reg(register))) if register else location


def _read(thread: FollowedThread, state: State, target: str, mode: Mode) -> bool:
    """Note that a register holds what was read, and put the fence behind a strong read that is no instruction."""
    if target not in CONSTANTS:
        define(thread, state, state.home(target), Symbol(target, 32))
    launch = launch_of(thread)
    if mode.order is not Order.WEAK and launch.has_company(launch.number(thread.ids)):
        thread.out.put(Fence(IMPLIED))
    return True


# memory as the harness accesses it


def _do_outside(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow what the kernel does to memory besides the test: it may store the final value of a register."""
    launch = launch_of(thread)
    kind, space = access_of(ins.name) or ("", "")
    if kind and all(misfit_of(form, ins.operands, IS_WRONG) for form in forms_in(_OUTSIDE)):
        raise thread.out.wrong("its operands are none of those that are known")
    if kind and space != "shared":
        address = address_of(thread, state, next(filter(is_address, ins.operands)))
        if not isinstance(address, int):
            raise thread.out.wrong("what the kernel accesses here is not understood")
        if (address - MEMORY) & ALL < WORD * launch.global_memory.words:
            raise thread.out.wrong("an access of the test is outside of the code of its thread")
        number, rest = divmod((address - RESULTS) & ALL, WORD * launch.instances)
        term = launch.terms[number] if number < len(launch.terms) else None
        if kind == "store" and rest % WORD == 0 and isinstance(term, FinalRegister):
            if term.thread != launch.number(thread.ids) or not _OTHER_SIZES.isdisjoint(ins.words):
                raise thread.out.wrong("final values of registers are not understood")
            value = give_operand(thread, value_of(thread, state, ins.operands[-1]))
            thread.out.put(Assign(FINAL + term.register, "mov", (value,)))
    if kind != "store":
        keep_results(thread, state, targets(ins))
    return True


_ACCESSED = ("E", "EF", "LU", "STRONG", "32", *MACHINE_SCOPES, *sorted(_OTHER_SIZES))
_UPDATED = any_of("E", "STRONG", "32", "S32", "INC", *RMWS, *MACHINE_SCOPES)
"""The parts that opcodes of accesses, and of updates, may have."""
_SILENT = (*SILENT, "NOP", "BSSY", "BSYNC", "YIELD", "WARPSYNC", "BREAK", "NANOSLEEP", "DEPBAR", "ENDCOLLECTIVE")
"""Opcodes that say nothing of memory: of the convergence of warps, and of errors."""
_UNKNOWN, _NO_JUMP = "is not understood", "this jump is not understood"

END = "end of the code"
"""The name of what stands behind the last instruction of a function."""

FOLLOWED: Table[Meaning] = table_of(
    [
        Row(
            *(",".join(_SILENT), NOTHING, "any*", nothing),
            any_of("RECONVERGENT", "RELIABLE", "ALL", "COLLECTIVE", "EXCLUSIVE", "LE"),
        ),
        Row("EXIT", CONTROL, "any*", calls.end),
        Row("RET", CONTROL, "any*", calls.ret, any_of("REL", "ABS", "NODEC")),
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
        Row(FENCE, ORDERS, "any*", fence, "SC|ALL SM|CTA|GPU|SYS", _UNKNOWN),
        Row(INVALIDATE, ORDERS, "", invalidate, "IVALL", _UNKNOWN),
        Row(END, CONTROL, "", run_off),
        Row("BAR", ORDERS, "any any?", meet, any_of("SYNC", "ARV", "DEFER_BLOCKING"), "this barrier is not understood"),
    ]
)
"""The opcodes of control and of memory that are understood."""

TABLE: Table[Meaning] = {**COMPUTED, **FOLLOWED}
"""The opcodes that are understood."""


@lru_cache(maxsize=1 << 14)  # what is in a loop is followed again and again, and the harness is that of other tests
def row_named(opcode: str, parts: tuple[str, ...], operands: tuple[ir.Operand, ...]) -> Row[Meaning] | Refusal:
    """Return the row of an instruction by its opcode, or why it has none."""
    found = find(TABLE, opcode, operands, IS_WRONG, parts)
    if isinstance(found, Refusal) and opcode not in TABLE and _OF_MEMORY.match(opcode):
        return found._replace(own=_UNKNOWN)
    return found


def _follow_memory(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow an instruction of memory: one of the test where its code has been called, else of the harness."""
    if not state.frames and ins.name not in ("LDL", "STL", "BAR"):
        return _do_outside(thread, state, ins)
    if state.frames and ins.name == "BAR":
        raise thread.out.wrong(_UNKNOWN)
    found = row_named(ins.name, ins.words, ins.operands)
    if isinstance(found, Refusal):
        raise thread.out.wrong(found.why)
    return found.meaning(thread, state, ins)


_MEMORY: Row[Meaning] = Row("any", BOTH, "any*", _follow_memory, "*")
"""The row of every instruction of memory until its place is known."""


def row_of(ins: ir.KernelInstruction, _: Callable[[str], int | None]) -> Row[Meaning] | str:
    """Return the row of an instruction, or why it has none; whether one of memory has some its meaning says."""
    if _OF_MEMORY.match(ins.name):
        return _MEMORY
    found = row_named(ins.name, ins.words, ins.operands)
    return found if isinstance(found, Row) else found.why
