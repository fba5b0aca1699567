"""Splits the assembly that clang writes for AMD's GPUs into instructions, between marks and outside of them.

What says nothing of memory is named (``_SILENT``): vector and scalar arithmetic, and a few others. An opcode, a
modifier, a width or operands that no row has is an instruction that is not known, and is kept by its text. Between
marks an access is one of 32 bits; outside of them others may be, as those that store results are.

Source: LLVM, User Guide for AMDGPU Backend (AMDGPUUsage), and the assembler syntax that it links, per family.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from corpus.errors import InputError
from corpus.laws.amdgpu import BARRIER, BITS, CACHE_OPERATIONS, SCOPE_WORDS, MachineInstruction

CodePlace = tuple[int, int]
"""An instruction of a test: its thread, and its number there."""

_MARK = re.compile(r";\s*(begin|end)((?: P\d{1,6}:\d{1,6})+)\s*$")
_TARGET = re.compile(r'^\s*\.amdgcn_target\s+"amdgcn-amd-amdhsa--(gfx\w+)')
_FAMILY = re.compile(r"(gfx90a|gfx942)|(gfx120[0-9a-f])|gfx1[01][0-9a-f]{2}")
"""The chips whose code sequences are in AMDGPUUsage as tables here have them. GFX6 to GFX9.0.8 have other cache
operations, GFX950 and GFX12.5 further ones.
"""
_SPLIT = re.compile(r"^\s*\.amdhsa_tg_split\s+1")
_WGP = re.compile(r"^\s*\.amdhsa_workgroup_processor_mode\s+1")
_NUMBER = r"-?(?:0x[0-9a-f]{1,8}|\d{1,8})"
_COUNTER = re.compile(r"(vmcnt|lgkmcnt|expcnt|vscnt)\((\d{1,3})\)")
_WAIT = re.compile(rf"s_waitcnt(?:\s+(?:{_COUNTER.pattern})(?:\s*&)?)+")
_STORE_WAIT = re.compile(rf"s_waitcnt_vscnt\s+null,\s*({_NUMBER})")
_NAMED_WAIT = re.compile(rf"s_wait_((?:load|store|ds|sample|bvh|km|exp)cnt(?:_\w+cnt)*)\s+({_NUMBER})")
_REGISTER = r"(?:[vsa](?:\d{1,3}|\[\d{1,3}:\d{1,3}\]))"
_MODIFIER = r"(?:offset:-?\d{1,8}|glc|slc|dlc|sc0|sc1|scope:SCOPE_(?:CU|SE|DEV|SYS)|th:TH_ATOMIC_RETURN)"
_OPERANDS = re.compile(rf"((?:{_REGISTER}|off)(?:,\s*(?:{_REGISTER}|off))*)((?:\s+{_MODIFIER})*)")
_WORDS = re.compile(rf"(?:{_MODIFIER}(?:\s+{_MODIFIER})*)?")
_MEMORY = re.compile(r"(global|ds)_(load|read|store|write)_(\w+)")
_GLOBAL_ATOMIC = re.compile(
    r"global_atomic_(?:add|sub|smin|smax|umin|umax|min|max|and|or|xor|inc|dec|swap|(cmpswap))(?:_[biu]32)?"
)
_LDS_ATOMIC = re.compile(r"ds_(?:add|sub|inc|dec|min|max|and|or|xor|wrxchg|storexchg|(cmpst|cmpstore))(_rtn)?_[biu]32")
_STEMS = (
    *(
        "mov",
        "movk",
        "cmov",
        "cmovk",
        "add",
        "addc",
        "addk",
        "sub",
        "subb",
        "add_co",
        "sub_co",
        "mul",
        "mulk",
        "mul_hi",
    ),
    *(
        "min",
        "max",
        "abs",
        "absdiff",
        "and",
        "or",
        "xor",
        "not",
        "nand",
        "nor",
        "xnor",
        "andn1",
        "andn2",
        "orn1",
        "orn2",
    ),
    *("and_not0", "and_not1", "or_not0", "or_not1", "lshl", "lshr", "ashr", "lshl1_add", "lshl2_add", "lshl3_add"),
    *("lshl4_add", "bfe", "bfm", "brev", "bcnt0", "bcnt1", "bitcmp0", "bitcmp1", "bitset0", "bitset1", "ff0", "ff1"),
    *("flbit", "ctz", "clz", "cls", "cselect", "cmp_eq", "cmp_lg", "cmp_gt", "cmp_ge", "cmp_lt", "cmp_le", "cmpk_eq"),
    *("cmpk_lg", "cmpk_gt", "cmpk_ge", "cmpk_lt", "cmpk_le", "sext_i32", "bitreplicate_b64", "wqm", "quadmask"),
)
_SILENT = re.compile(
    rf"v_\w+|s_(?:{'|'.join(_STEMS)})(?:_saveexec|_wrexec)?_(?:[biu](?:8|16|32|64))|"
    r"s_(?:nop|endpgm|clause|delay_alu|sendmsg|getreg_b32|sleep|setprio|getpc_b64|code_end|inst_prefetch|"
    r"set_inst_prefetch_distance|wait_alu|waitcnt_depctr)"
)
"""The instructions that access no memory and order none: vector arithmetic (``v_``), scalar arithmetic, and what only
says how code is fetched or scheduled (LLVM, AMDGPU: assembler syntax of each family, SOP and VOP)."""
_CONSTANTS = re.compile(r"s_(?:load|buffer_load)_\w+")
"""Scalar loads, of what the kernel is given. Where one takes the place of an access of the test, that one lacks."""
_DIRECTIVES = re.compile(
    r"\.(?:amdgcn_target|amdhsa_\w+|amdgpu_lds|end_amdhsa_kernel|text|globl|protected|hidden|weak|p2align|type|section|size|"
    r"set|ident|addrsig|addrsig_sym|file|loc|cfi_\w+)\b.*"
)
"""Directives that put nothing into the code."""
_SIGNAL = "s_barrier_signal -1"
_NAMED_WAITS = {"loadcnt": "s_wait_loadcnt", "storecnt": "s_wait_storecnt", "dscnt": "s_wait_dscnt"}
_JUMPS = ("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call")


def begin(places: Iterable[CodePlace]) -> str:
    """Return the mark before what some instructions of a test become; a barrier is of several threads."""
    return f"begin {spelled(places)}"


def end(places: Iterable[CodePlace]) -> str:
    """Return the mark after what some instructions of a test became."""
    return f"end {spelled(places)}"


def spelled(places: Iterable[CodePlace]) -> str:
    """Return places as marks name them."""
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

    @property
    def is_flow(self) -> bool:
        """Whether it is a label or a jump."""
        return self.instruction is None and (self.text.endswith(":") or self.text.startswith(_JUMPS))


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
    metadata = False
    for number, line in enumerate(lines, before + 1):
        if mark := _MARK.search(line):
            named = tuple((int(t), int(p)) for t, p in re.findall(r"P(\d+):(\d+)", mark[2]))
            if (mark[1] == "begin") == bool(places) or (mark[1] == "end" and named != places):
                raise InputError(f"a mark out of its order: {mark[0]}", path, number, 1)
            pieces.append(CodePiece(places, tuple(found)))
            places, found = (named if mark[1] == "begin" else ()), []
            continue
        if _code_of(line) in (".amdgpu_metadata", ".end_amdgpu_metadata"):
            metadata = _code_of(line) == ".amdgpu_metadata"
            continue
        if metadata:
            continue
        if found and found[-1].text == _SIGNAL and _code_of(line) == "s_barrier_wait -1":
            found[-1] = CodeInstruction(MachineInstruction(BARRIER), number, _SIGNAL.partition(" ")[0])
            continue
        found += _instructions(line, number, chip, bool(places))
    if places:
        raise InputError(f"no end of {spelled(places)}", path, before + len(lines), 1)
    pieces.append(CodePiece((), tuple(found)))
    split = any(map(_SPLIT.match, lines))
    return MachineCode(chip, machine_of(chip, split, any(map(_WGP.match, lines))), tuple(pieces))


def machine_of(chip: str, split: bool, wgp: bool) -> str:
    """Return the name that tables have for the machine of a chip in a mode: ``split`` is the tgsplit mode, ``wgp`` that
    of work-group processors. Raises ``InputError`` where no table is for its family.
    """
    family = _FAMILY.fullmatch(chip)
    if family is None:
        raise InputError(f"expected a GPU of GFX90A, GFX942, GFX10, GFX11 or GFX12.0, whose memory is known: {chip}")
    if family[1]:
        return f"{chip}-tgsplit" if split else chip
    return f"{'gfx12' if family[2] else 'gfx10'}-{'wgp' if wgp else 'cu'}"


def _code_of(line: str) -> str:
    return line.partition(";")[0].partition("//")[0].strip()


def _instructions(line: str, number: int, chip: str, marked: bool) -> Iterator[CodeInstruction]:
    """The instructions of a line that have to do with memory, waiting or branching, and what is not known; ``marked``
    where it is between marks.
    """
    code = _code_of(line)
    if not code or _DIRECTIVES.fullmatch(code):
        return
    opcode, _, rest = code.partition(" ") if "\t" not in code else code.partition("\t")
    rest = rest.strip()
    if opcode.startswith(("s_waitcnt", "s_wait_")) and (waits := _waits(code)) is not None:
        yield from (CodeInstruction(each, number, code) for each in waits)
    elif opcode in CACHE_OPERATIONS and _WORDS.fullmatch(rest):
        yield CodeInstruction(MachineInstruction(opcode, _bits(set(rest.split()), chip)), number, code)
    elif code == BARRIER:
        yield CodeInstruction(MachineInstruction(BARRIER), number, code)
    elif (access := _access(opcode, rest, chip, marked)) is not None:
        yield CodeInstruction(access[0], number, code, access[1])
    elif not _SILENT.fullmatch(opcode) and not _CONSTANTS.fullmatch(opcode):
        yield CodeInstruction(None, number, code)


def _access(opcode: str, rest: str, chip: str, marked: bool) -> tuple[MachineInstruction, bool] | None:
    """An access, and whether it gives a value; None where it is none that is known."""
    given = _OPERANDS.fullmatch(rest)
    if given is None:
        return None
    count, words = given[1].count(",") + 1, set(given[2].split())
    if found := _MEMORY.fullmatch(opcode):
        space, kind, width = found[1], {"read": "load", "write": "store"}.get(found[2], found[2]), found[3]
        if (marked and width not in ("dword", "b32")) or count != (3 if space == "global" else 2):
            return None
        if "th:TH_ATOMIC_RETURN" in words or (space == "ds" and any(not each.startswith("offset:") for each in words)):
            return None
        if marked and "[" in given[1].split(",")[1 if kind == "store" else 0]:
            return None
        return MachineInstruction(f"{space}_{kind}", _bits(words, chip)), True
    if found := _GLOBAL_ATOMIC.fullmatch(opcode):
        returned = {"sc0" if chip.startswith("gfx94") else "glc", "th:TH_ATOMIC_RETURN"}
        returns = bool(returned & words)
        return (
            (MachineInstruction("global_atomic", _bits(words - returned, chip)), returns)
            if count == 3 + returns
            else None
        )
    if found := _LDS_ATOMIC.fullmatch(opcode):
        needed = 2 + bool(found[1]) + bool(found[2])
        plain = all(each.startswith("offset:") for each in words)
        return (MachineInstruction("ds_atomic"), bool(found[2])) if plain and count == needed else None
    return None


def _waits(code: str) -> list[MachineInstruction] | None:
    """The waits of an instruction, None where it is not known; one that waits for less than all is kept as it is."""
    if found := _STORE_WAIT.fullmatch(code):
        return [MachineInstruction("s_waitcnt", (f"vscnt({int(found[1], 0)})",))]
    if _WAIT.fullmatch(code):
        words = tuple(f"{name}({int(count)})" for name, count in _COUNTER.findall(code) if name != "expcnt")
        return [MachineInstruction("s_waitcnt", words)] if words else []
    if found := _NAMED_WAIT.fullmatch(code):
        names, zero = found[1].split("_"), int(found[2], 0) == 0
        if not {*names} <= {*_NAMED_WAITS, "samplecnt", "bvhcnt", "kmcnt", "expcnt"}:
            return None
        waits = [(name, _NAMED_WAITS[name]) for name in names if name in _NAMED_WAITS]
        return [
            MachineInstruction(wait) if zero else MachineInstruction("s_waitcnt", (f"{name}(..)",))
            for name, wait in waits
        ]
    return [] if _SILENT.fullmatch(code.split()[0]) else None


def _bits(words: set[str], chip: str) -> tuple[str, ...]:
    """The cache bits of an instruction, as tables spell them."""
    dropped = {"dlc=1"} if chip.startswith("gfx11") else set[str]()
    bits = [bit for bit in BITS if bit.removesuffix("=1") in words and bit not in dropped]
    return (*bits, *(scope for scope in SCOPE_WORDS[1:] if scope in words))
