r"""Reads the assembly that clang writes for AMD's GPUs, and holds it against a table of code sequences.

    ; begin P0:1                                 W.release.gpu @global
        s_waitcnt vmcnt(0) lgkmcnt(0)              s_waitcnt vmcnt(0) lgkmcnt(0); global_store
        global_store_dword v[2:3], v4, off
    ; end P0:1

Programs in HIP have marks around what each instruction of a test became (``backends.hip.memory``). Between them, the
memory instructions are read in the words of ``corpus.laws.amdgpu``: widths, registers and offsets go, and so does the
bit by which an atomic operation returns its value (``glc``, ``sc0``, ``th:TH_ATOMIC_RETURN``). Names are those of the
tables, so ``ds_read_b32`` is ``ds_load``, and ``s_wait_loadcnt_dscnt`` is two waits. GFX11 is read as GFX10, whose
tables it shares: it has no ``dlc``, and its ``glc`` is for both caches.

**Held against a row.** Accesses, cache operations and barriers must be those of the row, in its order, with its bits.
Of a wait of the row, each counter must be known to be 0 where the row waits for it: since the last instruction of the
test that counts there, the code has waited for it, be it within other marks. A write-back counts as a store does. So a
wait that the compiler has left out because there is nothing to wait for is none that lacks.

The verdicts, best first: *same*; *stronger*, with waits or cache operations that the row has not; *one-as*, the row
less its waits and cache operations for the other address space, which clang before 20 makes of orders of accesses in
HIP (llvm/llvm-project, pull 120095); *different*; *not read*, where the code branches or has an instruction not known
here.

Source: LLVM, User Guide for AMDGPU Backend (AMDGPUUsage), and the assembler syntax that it links, per family.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from corpus.code.amdgcn.text import CodeInstruction, CodePlace, MachineCode, spelled
from corpus.errors import InputError
from corpus.executions.sequences import MachineStep, SequenceTable, local_names, row_key, steps_of
from corpus.laws.amdgpu import (
    ACCESSES,
    BARRIER,
    CACHE_OPERATIONS,
    LOCAL,
    WAITS,
    WRITE_BACKS,
    MachineInstruction,
)
from corpus.laws.c11 import failure_order
from corpus.litmus.instructions import Assign, Barrier, Fence, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Loc
from corpus.litmus.orders import Order
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread


def absent(test: LitmusTest, code: MachineCode) -> Iterator[tuple[CodePlace, str]]:
    """Yield each access, fence and barrier of a test that is not in the code as what it is, and what is there instead:
    an access is one access of its kind, to the memory of its location, and what is none has none.
    """
    local = local_names(test)
    for thread, program in enumerate(test.threads):
        pieces = [piece for piece in code.pieces if any(owner == thread for owner, _ in piece.places)]
        for number, ins in enumerate(program.instructions):
            if not _is_marked(ins):
                continue
            found = [piece.instructions for piece in pieces if (thread, number) in piece.places]
            if not found:
                yield (thread, number), "it is not in the machine code"
            for instructions in found:
                accesses = [it.opcode for line in instructions if (it := line.instruction) and it.opcode in ACCESSES]
                if accesses != _accesses(ins, local):
                    yield (thread, number), f"in the machine code it is {', '.join(accesses) or 'no access'}"
                    break


def _accesses(ins: Instruction, local: Collection[str]) -> list[str]:
    """The opcode of the access that an instruction is, as tables spell it; nothing for what is no access."""
    kinds = {Load: "load", Store: "store", Rmw: "atomic"}
    if not isinstance(ins, Load | Store | Rmw):
        return []
    in_lds = isinstance(ins.address, Loc) and ins.address.name in local
    return [f"{'ds' if in_lds else 'global'}_{kinds[type(ins)]}"]


# Held against a table


class RowVerdict(StrEnum):
    """What the code of an instruction is, beside its row of a table; the docstring of this module says what each is."""

    SAME = "same"
    STRONGER = "stronger"
    ONE_AS = "one-as"
    DIFFERENT = "different"
    UNREAD = "not read"


@dataclass(frozen=True, slots=True)
class RowCheck:
    """The code of an instruction beside its row: the row's name, the two as texts, and what is wrong in a few words."""

    place: CodePlace
    row: str
    verdict: RowVerdict
    expected: str
    found: str
    problem: str = ""


def held_against(test: LitmusTest, code: MachineCode, table: SequenceTable) -> tuple[RowCheck, ...]:
    """Hold the code of each access, fence and barrier of a test against its row. ``test`` is in the words of the
    language that was compiled. Raises ``InputError`` where the table is for another machine.
    """
    if table.machine != code.machine:
        raise InputError(f"{table.path} is for {table.machine}, and this is code for {code.machine}")
    local = local_names(test)
    checks: list[RowCheck] = []
    for thread, program in enumerate(test.threads):
        zero, seen, straight = set[str](), set[int](), _is_straight(program)
        for place, instructions in _stream(code, thread):
            if place is None:
                _pass(instructions, zero, code, straight)
                continue
            if not seen or place == min(seen):  # once more: clang may copy a loop of instances
                zero = {"vmcnt(0)", "vscnt(0)", "lgkmcnt(0)"}  # nothing of the instance is under way
            seen.add(place)
            checks.append(_held(thread, place, program.instructions[place], instructions, zero, local, table, code))
        for place, ins in enumerate(program.instructions):
            if place not in seen and _is_marked(ins):
                name = _row_name(thread, ins, local)
                checks.append(RowCheck((thread, place), name, RowVerdict.DIFFERENT, "", "", "it is not in the code"))
    return tuple(checks)


def _is_marked(ins: Instruction) -> bool:
    return isinstance(ins, Load | Store | Rmw | Fence | Barrier)


def _stream(code: MachineCode, thread: int) -> Iterator[tuple[int | None, tuple[CodeInstruction, ...]]]:
    """What a thread executes, in the order of the text: the number of an instruction of its own with its code, and None
    with what it surely executes between two of its own that follow each other in the text.
    """
    before: tuple[CodeInstruction, ...] | None = None
    for piece in code.pieces:
        place = next((place for owner, place in piece.places if owner == thread), None)
        if place is not None:
            if before:
                yield None, before
            yield place, piece.instructions
            before = ()
        elif piece.places:
            before = None
        elif before is not None:
            before = _surely(piece.instructions)


def _surely(instructions: Sequence[CodeInstruction]) -> tuple[CodeInstruction, ...]:
    """What is executed on every way through: up to the first label or jump, and from the last one on, with a label in
    between, and what is not known there.
    """
    ends = [number for number, line in enumerate(instructions) if line.is_flow]
    if not ends:
        return tuple(instructions)
    between = [line for line in instructions[ends[0] : ends[-1]] if line.instruction is None and not line.is_flow]
    return (*instructions[: ends[0]], instructions[ends[0]], *between, *instructions[ends[-1] + 1 :])


def _is_straight(thread: Thread) -> bool:
    """Whether a thread has no branches."""
    return all(_is_marked(ins) or isinstance(ins, Assign) for ins in thread.instructions)


def _pass(instructions: Iterable[CodeInstruction], zero: set[str], code: MachineCode, straight: bool) -> None:
    """Go over instructions: where a thread may have come by another way, or an instruction is not known, nothing is
    known of counters.
    """
    for line in instructions:
        if line.instruction is not None:
            _count(line, zero, code)
        elif not straight or not line.is_flow:
            zero.clear()


def _count(line: CodeInstruction, zero: set[str], code: MachineCode) -> None:
    """Change the counters that are known to be 0 as an instruction does."""
    assert line.instruction is not None
    opcode = line.instruction.opcode
    zero |= line.instruction.counters & {"vmcnt(0)", "vscnt(0)", "lgkmcnt(0)"}
    stores = "vmcnt(0)" if code.chip.startswith("gfx9") else "vscnt(0)"
    if opcode in WRITE_BACKS or opcode == "global_store" or (opcode == "global_atomic" and not line.returns):
        zero.discard(stores)
    elif opcode in ACCESSES:
        zero.discard("lgkmcnt(0)" if ACCESSES[opcode] == LOCAL else "vmcnt(0)")


def _held(
    thread: int,
    place: int,
    ins: Instruction,
    found: Sequence[CodeInstruction],
    zero: set[str],
    local: frozenset[str],
    table: SequenceTable,
    code: MachineCode,
) -> RowCheck:
    text = "; ".join(line.text if line.instruction is None else line.instruction.text for line in found) or "-"
    name = _row_name(thread, ins, local)
    row = [step.instruction for step in steps_of(thread, merged(ins), local, table)]
    row = [_of_chip(instruction, code.chip) for instruction in row]
    expected = "; ".join(instruction.text for instruction in row) or "-"
    unread = next((line.text for line in found if line.instruction is None), "")
    if unread:
        zero.clear()
        return RowCheck((thread, place), name, RowVerdict.UNREAD, expected, text, f"its code has '{unread}'")
    verdict, problem = _compared(row, found, set(zero), code)
    access = merged(ins)
    if verdict is RowVerdict.DIFFERENT and isinstance(access, Load | Store | Rmw):
        narrower = row if access.mode.order is Order.SC else _of_one_space(row)
        if narrower != row and _compared(narrower, found, set(zero), code)[0] is not RowVerdict.DIFFERENT:
            verdict = RowVerdict.ONE_AS
    spare = () if any(instruction.opcode in WRITE_BACKS for instruction in row) else WRITE_BACKS
    for line in found:
        if line.instruction is not None and line.instruction.opcode not in spare:
            _count(line, zero, code)
    return RowCheck((thread, place), name, verdict, expected, text, problem)


def _row_name(thread: int, ins: Instruction, local: frozenset[str]) -> str:
    if isinstance(ins, Barrier):
        return "barrier"
    key = row_key(thread, merged(ins), local)
    words = [key.kind, *([key.order, key.scope] if key.order != Order.WEAK.value else [])]
    return f"{'.'.join(words)}{f' @{key.space}' if key.space else ''}"


def _of_chip(instruction: MachineInstruction, chip: str) -> MachineInstruction:
    """An instruction of a table as a chip has it: GFX11 has no dlc."""
    words = (
        tuple(word for word in instruction.words if word != "dlc=1") if chip.startswith("gfx11") else instruction.words
    )
    return replace(instruction, words=words)


def _of_one_space(row: Sequence[MachineInstruction]) -> list[MachineInstruction]:
    """The row of an access without what is for the address space that it is not in: "If OpenCL, omit" in the tables.
    LDS is in order, so an access to it is left alone.
    """
    if any(ACCESSES.get(instruction.opcode) == LOCAL for instruction in row):
        return [instruction for instruction in row if instruction.opcode in ACCESSES]
    found = []
    for instruction in row:
        words = tuple(word for word in instruction.words if word != "lgkmcnt(0)")
        if not instruction.is_wait:
            found.append(instruction)
        elif instruction.opcode == "s_waitcnt":
            found += [replace(instruction, words=words)] if words else []
        elif WAITS.get(instruction.opcode) != "lgkmcnt(0)":
            found.append(instruction)
    return found


def _compared(
    row: Sequence[MachineInstruction], found: Sequence[CodeInstruction], zero: set[str], code: MachineCode
) -> tuple[RowVerdict, str]:
    """Walk along a row and the code; ``zero`` are the counters that are 0 at first."""
    extra, rest, returns = False, list(found), True
    awaited = set[str]()
    for want in (*row, None):
        if want is not None and want.is_wait:
            awaited |= _waited(want, returns, code)
            continue
        while rest and rest[0].instruction != want and _is_harmless(rest[0]):
            one = rest.pop(0)
            assert one.instruction is not None
            extra |= not one.instruction.is_wait or bool(one.instruction.counters - zero - awaited)
            if one.instruction.is_wait:  # nobody needs to wait for a write-back that the row has not
                _count(one, zero, code)
        have = rest[0].instruction if rest else None
        if have != want:
            return RowVerdict.DIFFERENT, f"{_text_of(have)} where the row has {_text_of(want)}"
        if lacking := sorted(awaited - zero):
            before = "at its end" if want is None else f"before {want.text}"
            return RowVerdict.DIFFERENT, f"no wait for {' '.join(lacking)} {before}"
        if want is not None:
            returns = rest[0].returns
            _count(rest.pop(0), zero, code)
            awaited = set()
    return RowVerdict.STRONGER if extra else RowVerdict.SAME, ""


def _is_harmless(line: CodeInstruction) -> bool:
    """Whether an instruction that a row has not makes its code stronger: a wait, or a cache operation."""
    return line.instruction is not None and (line.instruction.is_wait or line.instruction.opcode in CACHE_OPERATIONS)


def _waited(wait: MachineInstruction, returns: bool, code: MachineCode) -> set[str]:
    """The counters that a wait of a row is for. The one after an atomic operation without a result is for stores."""
    counters = set(wait.counters)
    after = "vm/vscnt(0)" in wait.words or wait.opcode == "s_wait_loadcnt"
    if after and not returns and not code.chip.startswith("gfx9"):
        counters = counters - {"vmcnt(0)"} | {"vscnt(0)"}
    return counters


def _text_of(instruction: MachineInstruction | None) -> str:
    return instruction.text if instruction is not None else "nothing"


def merged(ins: Instruction) -> Instruction:
    """Return a compare-exchange with the one order that LLVM's code generator gives it, that of success and failure
    together; any other instruction as it is.
    """
    if not isinstance(ins, Rmw) or ins.operation != "cas":
        return ins
    orders = {ins.mode.order, failure_order(ins)}
    if Order.SC in orders:
        order = Order.SC
    elif Order.ACQUIRE in orders and Order.RELEASE in orders:
        order = Order.ACQ_REL
    elif ins.mode.order is Order.RELAXED:
        order = failure_order(ins)
    else:
        order = ins.mode.order
    return replace(ins, mode=replace(ins.mode, order=order))


# As programs of the machine


def machine_programs(test: LitmusTest, code: MachineCode) -> tuple[tuple[MachineStep, ...], ...]:
    """Return the code of each thread of a test as a program of its machine. Raises ``InputError`` where the code
    branches, an instruction is not there once, or it waits for less than all that a counter counts.
    """
    return tuple(_program(test, number, code) for number in range(len(test.threads)))


def _program(test: LitmusTest, thread: int, code: MachineCode) -> tuple[MachineStep, ...]:
    instructions = test.threads[thread].instructions
    if not _is_straight(test.threads[thread]):
        raise InputError(f"P{thread}: the machine has no branches")
    steps: list[MachineStep] = []
    number = 0
    for place, found in _stream(code, thread):
        end = len(instructions) if place is None else place
        if place is not None:
            while number < end and isinstance(instructions[number], Assign):
                steps.append(MachineStep(MachineInstruction("v_mov"), instructions[number]))
                number += 1
            if number != end:
                raise InputError(f"P{thread}: {spelled([(thread, number)])} is not in the code once, in order")
            number += 1
        for line in found:
            steps += _step(thread, None if place is None else instructions[place], line, code.chip)
    rest = instructions[number:]
    if not all(isinstance(ins, Assign) for ins in rest):
        raise InputError(f"P{thread}: {spelled([(thread, number)])} is not in the code once, in order")
    return (*steps, *(MachineStep(MachineInstruction("v_mov"), ins) for ins in rest))


def _step(thread: int, ins: Instruction | None, line: CodeInstruction, chip: str) -> Iterator[MachineStep]:
    found = line.instruction
    if found is None:
        if ins is None and line.is_flow:
            return  # a block that the thread comes to
        raise InputError(f"P{thread}: the machine has no '{line.text}'")
    if found.is_wait:
        if not found.counters <= {"vmcnt(0)", "vscnt(0)", "lgkmcnt(0)"}:
            raise InputError(f"P{thread}: the machine has no '{line.text}'")
        yield MachineStep(found)
    elif ins is not None:
        if chip.startswith("gfx11") and "glc=1" in found.words:
            found = replace(found, words=(*found.words, "dlc=1"))  # its glc is for both caches
        yield MachineStep(found, ins if found.opcode in (*ACCESSES, BARRIER) else None)
