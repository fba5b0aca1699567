"""Splits the assembly that clang writes for AMD's GPUs into instructions, between marks and outside of them.

An instruction that no row of ``corpus.code.amdgcn.table`` has is not known, and is kept by its text. Between marks an
access is one of 32 bits; outside of them others may be, as those that store results are.

Source: LLVM, User Guide for AMDGPU Backend (AMDGPUUsage), and the assembler syntax that it links, per family.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from corpus.code.amdgcn.table import IS_WRONG, MARKED, MODIFIER, NO_BIT, OFFSET, RETURNS, UNMARKED, AmdgcnLine
from corpus.code.table import Refusal, find
from corpus.errors import InputError
from corpus.laws.amdgpu import BARRIER, MachineInstruction

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
_DIRECTIVES = re.compile(
    r"\.(?:amdgcn_target|amdhsa_\w+|amdgpu_lds|end_amdhsa_kernel|text|globl|protected|hidden|weak|p2align|type|section|size|"
    r"set|ident|addrsig|addrsig_sym|file|loc|cfi_\w+)\b.*"
)
"""Directives that put nothing into the code."""
_SIGNAL = "s_barrier_signal -1"
_JUMPS = ("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call")


def begin(places: Iterable[CodePlace]) -> str:
    """Return the mark before what some instructions of a test become; a barrier is of several threads."""
    return f"begin {spelled(places)}"


def end(places: Iterable[CodePlace]) -> str:
    """Return the mark after what some instructions of a test became."""
    return f"end {spelled(places)}"


def spelled(places: Iterable[CodePlace]) -> str:
    """Return places as marks name them: ``P0:1 P0:2``."""
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
    ins = _split(code, chip)
    row = find(MARKED if marked else UNMARKED, ins.opcode, ins.operands, IS_WRONG, ins.words)
    if isinstance(row, Refusal):
        yield CodeInstruction(None, number, code)
    else:
        yield from (CodeInstruction(found, number, code, returns) for found, returns in row.meaning(ins))


def _split(code: str, chip: str) -> AmdgcnLine:
    """An instruction in parts. Some words have a name of their own: an offset, ``dlc`` of GFX11, which has no such bit,
    and the word by which an atomic operation returns its value.
    """
    opcode, *more = re.split(r"[ \t]", code, maxsplit=1)
    rest = more[0].strip() if more else ""
    if opcode == "s_waitcnt":
        return AmdgcnLine(opcode, tuple(text.removesuffix("&") for text in rest.split() if text != "&"), ())
    *operands, last = re.split(r",\s*", rest)
    parts = last.split()
    if parts and not MODIFIER.fullmatch(parts[0]):
        operands.append(parts.pop(0))
    named = {"dlc": NO_BIT} if chip.startswith("gfx11") else {}
    if opcode.startswith("global_atomic_"):
        named |= dict.fromkeys(("sc0" if chip.startswith("gfx94") else "glc", "th:TH_ATOMIC_RETURN"), RETURNS)
    words = ("offset" if OFFSET.fullmatch(text) else named.get(text, text) for text in parts)
    return AmdgcnLine(opcode, tuple(operands), tuple(words))
