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

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from corpus.errors import InputError
from corpus.executions.sequences import MachineStep, SequenceTable, local_names, row_key, steps_of
from corpus.laws.amdgpu import (
    ACCESSES,
    BARRIER,
    BITS,
    CACHE_OPERATIONS,
    LOCAL,
    SCOPE_WORDS,
    WAITS,
    WRITE_BACKS,
    MachineInstruction,
)
from corpus.laws.c11 import failure_order
from corpus.litmus import test as litmus

CodePlace = tuple[int, int]
"""An instruction of a test: its thread, and its number there."""

_MARK = re.compile(r";\s*(begin|end)((?: P\d+:\d+)+)\s*$")
_TARGET = re.compile(r'^\s*\.amdgcn_target\s+"amdgcn-amd-amdhsa--(gfx\w+)')
_SPLIT = re.compile(r"^\s*\.amdhsa_tg_split\s+1")
_WGP = re.compile(r"^\s*\.amdhsa_workgroup_processor_mode\s+1")
_COUNTER = re.compile(r"(vmcnt|lgkmcnt|expcnt|vscnt)\((\d+)\)")
_LDS = re.compile(r"ds_(read|load|write|store|(?:add|sub|inc|dec|min|max|and|or|xor|wrxchg|storexchg|cmpst|cmpstore)_)")
_LDS_ACCESSES = {"read": "ds_load", "load": "ds_load", "write": "ds_store", "store": "ds_store"}
_FOREIGN = ("flat_", "buffer_", "scratch_", "tbuffer_", "image_", "global_", "ds_")
"""Beginnings of instructions that access memory."""
_NAMED_WAITS = {"loadcnt": "s_wait_loadcnt", "storecnt": "s_wait_storecnt", "dscnt": "s_wait_dscnt"}
_JUMPS = ("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call")


def begin(places: Iterable[CodePlace]) -> str:
    """Return the mark before what some instructions of a test become; a barrier is of several threads."""
    return f"begin {_spelled(places)}"


def end(places: Iterable[CodePlace]) -> str:
    """Return the mark after what some instructions of a test became."""
    return f"end {_spelled(places)}"


def _spelled(places: Iterable[CodePlace]) -> str:
    return " ".join(f"P{thread}:{place}" for thread, place in places)


@dataclass(frozen=True, slots=True)
class CodeInstruction:
    """An instruction of the assembly: as the machine has it, whether it returns a value (of an atomic operation), and
    its line. ``instruction`` is None where it is not known here, which ``text`` then is.
    """

    instruction: MachineInstruction | None
    line: int
    text: str = ""
    returns: bool = True


@dataclass(frozen=True, slots=True)
class CodePiece:
    """What lies between two marks: the places of the test that it is of, none of what lies outside of them."""

    places: tuple[CodePlace, ...]
    instructions: tuple[CodeInstruction, ...]


@dataclass(frozen=True, slots=True)
class MachineCode:
    """The assembly of a program for one GPU: the chip, the machine that tables name for it, and its pieces in order."""

    chip: str
    machine: str
    pieces: tuple[CodePiece, ...]


def read_assembly(text: str, path: str) -> tuple[MachineCode, ...]:
    """Return what a text says for each GPU; texts for several follow each other. Raises ``InputError`` where it is not
    assembly for AMD's GPUs, or marks do not match.
    """
    starts = [number for number, line in enumerate(text.splitlines()) if _TARGET.match(line)]
    if not starts:
        raise InputError("expected assembly for AMD's GPUs, with .amdgcn_target", path, 1, 1)
    lines = text.splitlines()
    return tuple(
        _read_one(lines[start:stop], start, path) for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True)
    )


def _read_one(lines: Sequence[str], before: int, path: str) -> MachineCode:
    target = _TARGET.match(lines[0])
    assert target
    chip = target[1]
    pieces: list[CodePiece] = []
    places: tuple[CodePlace, ...] = ()
    found: list[CodeInstruction] = []
    for number, line in enumerate(lines, before + 1):
        if mark := _MARK.search(line):
            named = tuple((int(t), int(p)) for t, p in re.findall(r"P(\d+):(\d+)", mark[2]))
            if (mark[1] == "begin") == bool(places) or (mark[1] == "end" and named != places):
                raise InputError(f"a mark out of its order: {mark[0]}", path, number, 1)
            pieces.append(CodePiece(places, tuple(found)))
            places, found = (named if mark[1] == "begin" else ()), []
            continue
        found += _instructions(line, number, chip)
    if places:
        raise InputError(f"no end of {_spelled(places)}", path, before + len(lines), 1)
    pieces.append(CodePiece((), tuple(found)))
    split = any(map(_SPLIT.match, lines))
    return MachineCode(chip, machine_of(chip, split, any(map(_WGP.match, lines))), tuple(pieces))


def machine_of(chip: str, split: bool, wgp: bool) -> str:
    """Return the name that tables have for the machine of a chip in a mode: ``split`` is the tgsplit mode, ``wgp`` that
    of work-group processors.
    """
    if chip in ("gfx90a", "gfx942"):
        return f"{chip}-tgsplit" if split else chip
    return f"{'gfx12' if chip.startswith('gfx12') else 'gfx10'}-{'wgp' if wgp else 'cu'}"


def _instructions(line: str, number: int, chip: str) -> Iterator[CodeInstruction]:
    """The instructions of a line that have to do with memory, waiting or branching."""
    code = line.partition(";")[0].partition("//")[0].strip()
    if not code or (code.startswith(".") and not code.endswith(":")):
        return
    if code.endswith(":"):
        yield CodeInstruction(None, number, code)
        return
    opcode, *operands = code.replace(",", " ").split()
    words = set(operands)
    if opcode.startswith(("s_waitcnt", "s_wait_")):
        yield from (CodeInstruction(each, number, code) for each in _waits(opcode, code))
    elif opcode in CACHE_OPERATIONS:
        yield CodeInstruction(MachineInstruction(opcode, _bits(words, chip)), number, code)
    elif opcode in (BARRIER, "s_barrier_signal"):
        yield CodeInstruction(MachineInstruction(BARRIER), number, code)
    elif opcode == "s_barrier_wait":
        return
    elif opcode.startswith(_JUMPS):
        yield CodeInstruction(None, number, code)
    elif opcode.startswith(("global_load_", "global_store_")):
        kind = "_".join(opcode.split("_")[:2])
        yield CodeInstruction(MachineInstruction(kind, _bits(words, chip)), number, code)
    elif opcode.startswith("global_atomic_"):
        returned = "sc0" if chip.startswith("gfx94") else "glc"
        bits = _bits(words - {returned}, chip)
        returns = returned in words or "th:TH_ATOMIC_RETURN" in words
        yield CodeInstruction(MachineInstruction("global_atomic", bits), number, code, returns)
    elif match := _LDS.match(opcode):
        kind = _LDS_ACCESSES.get(match[1], "ds_atomic")
        yield CodeInstruction(MachineInstruction(kind), number, code, kind != "ds_atomic" or "_rtn_" in opcode)
    elif opcode.startswith(_FOREIGN):
        yield CodeInstruction(None, number, code)


def _waits(opcode: str, code: str) -> Iterator[MachineInstruction]:
    """The waits of an instruction; one that waits for less than all is kept as it is."""
    if opcode == "s_waitcnt_vscnt":
        yield MachineInstruction("s_waitcnt", (f"vscnt({int(code.split(',')[-1], 0)})",))
    elif opcode == "s_waitcnt":
        words = tuple(f"{name}({count})" for name, count in _COUNTER.findall(code) if name != "expcnt")
        if words:
            yield MachineInstruction("s_waitcnt", words)
    elif opcode.startswith("s_wait_"):
        named = [name for name in opcode.removeprefix("s_wait_").split("_") if name in _NAMED_WAITS]
        zero = int(code.split()[-1], 0) == 0
        for name in named:
            wait = _NAMED_WAITS[name]
            yield MachineInstruction(wait) if zero else MachineInstruction("s_waitcnt", (f"{name}(..)",))


def _bits(words: set[str], chip: str) -> tuple[str, ...]:
    """The cache bits of an instruction, as tables spell them."""
    dropped = {"dlc=1"} if chip.startswith("gfx11") else set[str]()
    bits = [bit for bit in BITS if bit.removesuffix("=1") in words and bit not in dropped]
    return (*bits, *(scope for scope in SCOPE_WORDS[1:] if scope in words))


def absent(test: litmus.LitmusTest, code: MachineCode) -> Iterator[tuple[CodePlace, str]]:
    """Yield each access, fence and barrier of a test that is not in the code as what it is, and what is there instead:
    an access is one access of its kind, to the memory of its location, and what is none has none.
    """
    local = local_names(test)
    for thread, each in enumerate(test.threads):
        pieces = [piece for piece in code.pieces if any(owner == thread for owner, _ in piece.places)]
        for number, ins in enumerate(each.instructions):
            if not _is_marked(ins):
                continue
            found = [piece.instructions for piece in pieces if (thread, number) in piece.places]
            if not found:
                yield (thread, number), "it is not in the machine code"
            for instructions in found:
                accesses = [it.opcode for each in instructions if (it := each.instruction) and it.opcode in ACCESSES]
                if accesses != _accesses(ins, local):
                    yield (thread, number), f"in the machine code it is {', '.join(accesses) or 'no access'}"
                    break


def _accesses(ins: litmus.Instruction, local: Collection[str]) -> list[str]:
    """The accesses that an instruction is."""
    kinds = {litmus.Load: "load", litmus.Store: "store", litmus.Rmw: "atomic"}
    if not isinstance(ins, litmus.Load | litmus.Store | litmus.Rmw):
        return []
    in_lds = isinstance(ins.address, litmus.Loc) and ins.address.name in local
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


def held_against(test: litmus.LitmusTest, code: MachineCode, table: SequenceTable) -> tuple[RowCheck, ...]:
    """Hold the code of each access, fence and barrier of a test against its row. ``test`` is in the words of the
    language that was compiled. Raises ``InputError`` where the table is for another machine.
    """
    if table.machine != code.machine:
        raise InputError(f"{table.path} is for {table.machine}, and this is code for {code.machine}")
    local = local_names(test)
    checks: list[RowCheck] = []
    for thread, each in enumerate(test.threads):
        zero, seen, straight = set[str](), set[int](), _is_straight(each)
        for place, instructions in _stream(code, thread):
            if place is None:
                _pass(instructions, zero, code, straight)
                continue
            if not seen or place == min(seen):  # once more: clang may copy a loop of instances
                zero = {"vmcnt(0)", "vscnt(0)", "lgkmcnt(0)"}  # nothing of the instance is under way
            seen.add(place)
            checks.append(_held(thread, place, each.instructions[place], instructions, zero, local, table, code))
        for place, ins in enumerate(each.instructions):
            if place not in seen and _is_marked(ins):
                name = _row_name(thread, ins, local)
                checks.append(RowCheck((thread, place), name, RowVerdict.DIFFERENT, "", "", "it is not in the code"))
    return tuple(checks)


def _is_marked(ins: litmus.Instruction) -> bool:
    return isinstance(ins, litmus.Load | litmus.Store | litmus.Rmw | litmus.Fence | litmus.Barrier)


def _stream(code: MachineCode, thread: int) -> Iterator[tuple[int | None, tuple[CodeInstruction, ...]]]:
    """What a thread executes, in the order of the text: the number of an instruction of its own with its code, and None
    with what it surely executes between two of its own that follow each other in the text.
    """
    before: tuple[CodeInstruction, ...] | None = None
    for piece in code.pieces:
        place = next((place for each, place in piece.places if each == thread), None)
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
    between.
    """
    ends = [number for number, each in enumerate(instructions) if each.instruction is None]
    if not ends:
        return tuple(instructions)
    return (*instructions[: ends[0]], instructions[ends[0]], *instructions[ends[-1] + 1 :])


def _is_straight(thread: litmus.Thread) -> bool:
    """Whether a thread has no branches."""
    return all(_is_marked(each) or isinstance(each, litmus.Assign) for each in thread.instructions)


def _pass(instructions: Iterable[CodeInstruction], zero: set[str], code: MachineCode, straight: bool) -> None:
    """Go over instructions: where a thread may have come by another way, nothing is known of counters."""
    for each in instructions:
        if each.instruction is not None:
            _count(each, zero, code)
        elif not straight:
            zero.clear()


def _count(each: CodeInstruction, zero: set[str], code: MachineCode) -> None:
    """Change the counters that are known to be 0 as an instruction does."""
    assert each.instruction is not None
    opcode = each.instruction.opcode
    zero |= each.instruction.counters & {"vmcnt(0)", "vscnt(0)", "lgkmcnt(0)"}
    stores = "vmcnt(0)" if code.chip.startswith("gfx9") else "vscnt(0)"
    if opcode in WRITE_BACKS or opcode == "global_store" or (opcode == "global_atomic" and not each.returns):
        zero.discard(stores)
    elif opcode in ACCESSES:
        zero.discard("lgkmcnt(0)" if ACCESSES[opcode] == LOCAL else "vmcnt(0)")


def _held(
    thread: int,
    place: int,
    ins: litmus.Instruction,
    found: Sequence[CodeInstruction],
    zero: set[str],
    local: frozenset[str],
    table: SequenceTable,
    code: MachineCode,
) -> RowCheck:
    text = "; ".join(each.text if each.instruction is None else each.instruction.text for each in found) or "-"
    name = _row_name(thread, ins, local)
    row = [step.instruction for step in steps_of(thread, merged(ins), local, table)]
    row = [_of_chip(each, code.chip) for each in row]
    said = "; ".join(each.text for each in row) or "-"
    unread = next((each.text for each in found if each.instruction is None), "")
    if unread:
        zero.clear()
        return RowCheck((thread, place), name, RowVerdict.UNREAD, said, text, f"its code has '{unread}'")
    verdict, problem = _compared(row, found, set(zero), code)
    access = merged(ins)
    if verdict is RowVerdict.DIFFERENT and isinstance(access, litmus.Load | litmus.Store | litmus.Rmw):
        narrower = row if access.mode.order is litmus.Order.SC else _of_one_space(row)
        if narrower != row and _compared(narrower, found, set(zero), code)[0] is not RowVerdict.DIFFERENT:
            verdict = RowVerdict.ONE_AS
    spare = () if any(each.opcode in WRITE_BACKS for each in row) else WRITE_BACKS
    for each in found:
        if each.instruction is not None and each.instruction.opcode not in spare:
            _count(each, zero, code)
    return RowCheck((thread, place), name, verdict, said, text, problem)


def _row_name(thread: int, ins: litmus.Instruction, local: frozenset[str]) -> str:
    if isinstance(ins, litmus.Barrier):
        return "barrier"
    key = row_key(thread, merged(ins), local)
    words = [key.kind, *([key.order, key.scope] if key.order != litmus.Order.WEAK.value else [])]
    return f"{'.'.join(words)}{f' @{key.space}' if key.space else ''}"


def _of_chip(instruction: MachineInstruction, chip: str) -> MachineInstruction:
    """An instruction of a table as a chip has it: GFX11 has no dlc."""
    words = (
        tuple(each for each in instruction.words if each != "dlc=1") if chip.startswith("gfx11") else instruction.words
    )
    return replace(instruction, words=words)


def _of_one_space(row: Sequence[MachineInstruction]) -> list[MachineInstruction]:
    """The row of an access without what is for the address space that it is not in: "If OpenCL, omit" in the tables.
    LDS is in order, so an access to it is left alone.
    """
    if any(ACCESSES.get(each.opcode) == LOCAL for each in row):
        return [each for each in row if each.opcode in ACCESSES]
    found = []
    for each in row:
        words = tuple(word for word in each.words if word != "lgkmcnt(0)")
        if not each.is_wait:
            found.append(each)
        elif each.opcode == "s_waitcnt":
            found += [replace(each, words=words)] if words else []
        elif WAITS.get(each.opcode) != "lgkmcnt(0)":
            found.append(each)
    return found


def _compared(
    row: Sequence[MachineInstruction], found: Sequence[CodeInstruction], zero: set[str], code: MachineCode
) -> tuple[RowVerdict, str]:
    """Walk along a row and the code; ``zero`` are the counters that are 0 at first."""
    extra, rest, returns = False, list(found), True
    asked = set[str]()
    for want in (*row, None):
        if want is not None and want.is_wait:
            asked |= _waited(want, returns, code)
            continue
        while rest and rest[0].instruction != want and _is_harmless(rest[0]):
            one = rest.pop(0)
            assert one.instruction is not None
            extra |= not one.instruction.is_wait or bool(one.instruction.counters - zero - asked)
            if one.instruction.is_wait:  # nobody needs to wait for a write-back that the row has not
                _count(one, zero, code)
        have = rest[0].instruction if rest else None
        if have != want:
            return RowVerdict.DIFFERENT, f"{_told(have)} where the row has {_told(want)}"
        if lacking := sorted(asked - zero):
            before = "at its end" if want is None else f"before {want.text}"
            return RowVerdict.DIFFERENT, f"no wait for {' '.join(lacking)} {before}"
        if want is not None:
            returns = rest[0].returns
            _count(rest.pop(0), zero, code)
            asked = set()
    return RowVerdict.STRONGER if extra else RowVerdict.SAME, ""


def _is_harmless(each: CodeInstruction) -> bool:
    """Whether an instruction that a row has not makes its code stronger: a wait, or a cache operation."""
    return each.instruction is not None and (each.instruction.is_wait or each.instruction.opcode in CACHE_OPERATIONS)


def _waited(wait: MachineInstruction, returns: bool, code: MachineCode) -> set[str]:
    """The counters that a wait of a row is for. The one after an atomic operation without a result is for stores."""
    counters = set(wait.counters)
    after = "vm/vscnt(0)" in wait.words or wait.opcode == "s_wait_loadcnt"
    if after and not returns and not code.chip.startswith("gfx9"):
        counters = counters - {"vmcnt(0)"} | {"vscnt(0)"}
    return counters


def _told(instruction: MachineInstruction | None) -> str:
    return instruction.text if instruction is not None else "nothing"


def merged(ins: litmus.Instruction) -> litmus.Instruction:
    """Return a compare-exchange with the one order that LLVM's code generator gives it, that of success and failure
    together; any other instruction as it is.
    """
    if not isinstance(ins, litmus.Rmw) or ins.operation != "cas":
        return ins
    orders = {ins.mode.order, failure_order(ins)}
    if litmus.Order.SC in orders:
        order = litmus.Order.SC
    elif litmus.Order.ACQUIRE in orders and litmus.Order.RELEASE in orders:
        order = litmus.Order.ACQ_REL
    elif ins.mode.order is litmus.Order.RELAXED:
        order = failure_order(ins)
    else:
        order = ins.mode.order
    return replace(ins, mode=replace(ins.mode, order=order))


# As programs of the machine


def machine_programs(test: litmus.LitmusTest, code: MachineCode) -> tuple[tuple[MachineStep, ...], ...]:
    """Return the code of each thread of a test as a program of its machine. Raises ``InputError`` where the code
    branches, an instruction is not there once, or it waits for less than all that a counter counts.
    """
    return tuple(_program(test, number, code) for number in range(len(test.threads)))


def _program(test: litmus.LitmusTest, thread: int, code: MachineCode) -> tuple[MachineStep, ...]:
    instructions = test.threads[thread].instructions
    if not _is_straight(test.threads[thread]):
        raise InputError(f"P{thread}: the machine has no branches")
    steps: list[MachineStep] = []
    number = 0
    for place, found in _stream(code, thread):
        at = len(instructions) if place is None else place
        if place is not None:
            while number < at and isinstance(instructions[number], litmus.Assign):
                steps.append(MachineStep(MachineInstruction("v_mov"), instructions[number]))
                number += 1
            if number != at:
                raise InputError(f"P{thread}: {_spelled([(thread, number)])} is not in the code once, in order")
            number += 1
        for each in found:
            steps += _step(thread, None if place is None else instructions[place], each, code.chip)
    rest = instructions[number:]
    if not all(isinstance(each, litmus.Assign) for each in rest):
        raise InputError(f"P{thread}: {_spelled([(thread, number)])} is not in the code once, in order")
    return (*steps, *(MachineStep(MachineInstruction("v_mov"), each) for each in rest))


def _step(thread: int, ins: litmus.Instruction | None, each: CodeInstruction, chip: str) -> Iterator[MachineStep]:
    found = each.instruction
    if found is None:
        if ins is None:
            return  # a block that the thread comes to
        raise InputError(f"P{thread}: the machine has no '{each.text}'")
    if found.is_wait:
        if not found.counters <= {"vmcnt(0)", "vscnt(0)", "lgkmcnt(0)"}:
            raise InputError(f"P{thread}: the machine has no '{each.text}'")
        yield MachineStep(found)
    elif ins is not None:
        if chip.startswith("gfx11") and "glc=1" in found.words:
            found = replace(found, words=(*found.words, "dlc=1"))  # its glc is for both caches
        yield MachineStep(found, ins if found.opcode in (*ACCESSES, BARRIER) else None)
