"""The instructions of AMD's GPUs that the assembly of a test may have, each with a row.

What says nothing of memory is named, too: vector arithmetic (``v_``), scalar arithmetic, and what only says how code is
fetched or scheduled. Scalar loads are of what a kernel is given; where one takes the place of an access of a test, that
one lacks. Names are those of ``corpus.laws.amdgpu``: ``ds_read_b32`` is ``ds_load``.

Source: LLVM, User Guide for AMDGPU Backend (AMDGPUUsage), and the assembler syntax that it links, per family (SOP, VOP,
FLAT, DS).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

from corpus.code.table import BOTH, NOTHING, ORDERS, READS, WRITES, Kind, Row, Table, by_patterns, kind, table_of
from corpus.laws.amdgpu import BARRIER, BITS, CACHE_OPERATIONS, SCOPE_WORDS, MachineInstruction


class AmdgcnLine(NamedTuple):
    """An instruction as the assembly has it."""

    opcode: str
    operands: tuple[str, ...]
    words: tuple[str, ...]


class Decoded(NamedTuple):
    """An instruction of the machine, and whether it returns a value, where it is an atomic operation."""

    instruction: MachineInstruction
    returns: bool = True


Meaning = Callable[[AmdgcnLine], list[Decoded]]
"""What a line of the assembly is as instructions of the machine that have to do with memory."""

RETURNS = "returns"
"""The word of an atomic operation that returns its value: ``glc``, ``sc0`` or ``th:TH_ATOMIC_RETURN``."""
NO_BIT = "no-dlc"
"""The word ``dlc`` where the chip has no such bit."""
OFFSET = re.compile(r"offset:-?\d{1,8}")
MODIFIER = re.compile(rf"{OFFSET.pattern}|glc|slc|dlc|sc0|sc1|scope:SCOPE_(?:CU|SE|DEV|SYS)|th:TH_ATOMIC_RETURN")

_ONE, _MANY = r"[vsa]\d{1,3}", r"[vsa]\[\d{1,3}:\d{1,3}\]"
KINDS: Mapping[str, Kind] = {
    "r": kind(rf"{_ONE}|off", "v4", "off"),
    "R": kind(rf"{_ONE}|{_MANY}|off", "v4", "v[2:3]", "s[0:1]", "off"),
    "n": kind(r"-?(?:0x[0-9a-f]{1,8}|\d{1,8})", "0", "0x3f"),
    "counter": kind(r"(?:vmcnt|lgkmcnt|expcnt|vscnt)\(\d{1,3}\)", "vmcnt(0)", "lgkmcnt(0)"),
    "null": kind("null", "null"),
    "any": kind(".*", "v1", "0"),
}
"""The kinds of operands; ``r`` is one register of 32 bits."""
IS_WRONG = by_patterns(KINDS)


def nothing(line: AmdgcnLine) -> list[Decoded]:
    """Decode what says nothing of memory that threads share."""
    return []


def _is(opcode: str) -> Meaning:
    """An instruction of the machine, with its cache bits and its scope."""
    return lambda line: [Decoded(MachineInstruction(opcode, _bits(line.words)))]


def cache(line: AmdgcnLine) -> list[Decoded]:
    """Decode an operation on caches, whose name the machine has, too."""
    return [Decoded(MachineInstruction(line.opcode, _bits(line.words)))]


def update(line: AmdgcnLine) -> list[Decoded]:
    """Decode an atomic operation on global memory."""
    return [Decoded(MachineInstruction("global_atomic", _bits(line.words)), RETURNS in line.words)]


def _update_local(returns: bool) -> Meaning:
    return lambda line: [Decoded(MachineInstruction("ds_atomic"), returns)]


def _bits(words: tuple[str, ...]) -> tuple[str, ...]:
    """The cache bits of an instruction and its scope, as tables of sequences spell them."""
    bits = (bit for bit in BITS if bit.removesuffix("=1") in words)
    return (*bits, *(scope for scope in SCOPE_WORDS[1:] if scope in words))


def wait(line: AmdgcnLine) -> list[Decoded]:
    """Decode ``s_waitcnt``; one that waits for less than all is kept as it is."""
    counts = [text.rstrip(")").split("(") for text in line.operands]
    words = tuple(f"{name}({int(count)})" for name, count in counts if name != "expcnt")
    return [Decoded(MachineInstruction("s_waitcnt", words))] if words else []


def wait_for_stores(line: AmdgcnLine) -> list[Decoded]:
    """Decode ``s_waitcnt_vscnt null, COUNT``, which waits until no more than so many stores are under way."""
    return [Decoded(MachineInstruction("s_waitcnt", (f"vscnt({int(line.operands[1], 0)})",)))]


def wait_by_name(line: AmdgcnLine) -> list[Decoded]:
    """Decode a wait of GFX12, which names counters: those that no access of a test has are left out."""
    names = [name for name in line.opcode.removeprefix("s_wait_").split("_") if name in _WAITED]
    if int(line.operands[0], 0) == 0:
        return [Decoded(MachineInstruction(f"s_wait_{name}")) for name in names]
    return [Decoded(MachineInstruction("s_waitcnt", (f"{name}(..)",))) for name in names]


_WAITED = ("loadcnt", "storecnt", "dscnt")
"""The counters of GFX12 that accesses of tests have."""
_COUNTERS = (*_WAITED, "samplecnt", "bvhcnt", "kmcnt", "expcnt")

_STEMS = (
    "mov movk cmov cmovk add addc addk sub subb add_co sub_co mul mulk mul_hi min max abs absdiff and or xor not "
    "nand nor xnor andn1 andn2 orn1 orn2 and_not0 and_not1 or_not0 or_not1 lshl lshr ashr lshl1_add lshl2_add "
    "lshl3_add lshl4_add bfe bfm brev bcnt0 bcnt1 bitcmp0 bitcmp1 bitset0 bitset1 ff0 ff1 flbit ctz clz cls cselect "
    "cmp_eq cmp_lg cmp_gt cmp_ge cmp_lt cmp_le cmpk_eq cmpk_lg cmpk_gt cmpk_ge cmpk_lt cmpk_le sext_i32 "
    "bitreplicate_b64 wqm quadmask "
)
_SUFFIXES = [f"_{sign}{width}" for sign in "biu" for width in (8, 16, 32, 64)]
_SCALAR = ",".join(
    f"s_{stem}{saved}{suffix}"
    for stem, saved, suffix in product(_STEMS.split(), ("", "_saveexec", "_wrexec"), _SUFFIXES)
)
"""Scalar arithmetic."""
_SCHEDULING = (
    "s_nop,s_endpgm,s_clause,s_delay_alu,s_sendmsg,s_getreg_b32,s_sleep,s_setprio,s_getpc_b64,s_code_end,"
    "s_inst_prefetch,s_set_inst_prefetch_distance,s_wait_alu,s_waitcnt_depctr"
)
"""What only says how code is fetched or scheduled, or is of the program alone."""

_TYPES = [f"_{sign}32" for sign in "biu"]
_BOTH = ("add", "sub", "inc", "dec", "min", "max", "and", "or", "xor")
_ATOMICS = ",".join(
    f"global_atomic_{name}{type}"
    for name, type in product((*_BOTH, "smin", "smax", "umin", "umax", "swap", "cmpswap"), ("", *_TYPES))
)


def _local(names: tuple[str, ...], infix: str) -> str:
    return ",".join(f"ds_{name}{infix}{type}" for name, type in product(names, _TYPES))


_CHANGED, _COMPARED = (*_BOTH, "wrxchg", "storexchg"), ("cmpst", "cmpstore")
_WORDS = "|".join(("offset", NO_BIT, *(bit.removesuffix("=1") for bit in BITS), *SCOPE_WORDS))


def _accesses(kinds: str, names: tuple[str, ...], widths: tuple[str, ...]) -> str:
    return ",".join(f"{kinds}_{name}_{width}" for name, width in product(names, widths))


def _rows(marked: bool) -> list[Row[Meaning]]:
    """The rows between marks, or those outside of them, where an access may be of any width."""
    widths, one = (("dword", "b32"), "r") if marked else (("*",), "R")
    loads, stores = ("load", "read"), ("store", "write")
    return [
        Row("v_*", NOTHING, "any*", nothing, "*"),
        Row(_SCALAR, NOTHING, "any*", nothing, "*"),
        Row(_SCHEDULING, NOTHING, "any*", nothing, "*"),
        Row("s_load_*,s_buffer_load_*", READS, "any*", nothing, "*"),
        Row(_accesses("global", loads, widths), READS, f"{one} R R", _is("global_load"), f"{_WORDS}*"),
        Row(_accesses("global", stores, widths), WRITES, f"R {one} R", _is("global_store"), f"{_WORDS}*"),
        Row(_accesses("ds", loads, widths), READS, f"{one} R", _is("ds_load"), "offset*"),
        Row(_accesses("ds", stores, widths), WRITES, f"R {one}", _is("ds_store"), "offset*"),
        Row(_ATOMICS, BOTH, "R R R", update, f"{_WORDS}*"),
        Row(_ATOMICS, BOTH, "R R R R", update, f"{RETURNS} {RETURNS}|{_WORDS}*"),
        Row(_local(_CHANGED, ""), BOTH, "R R", _update_local(False), "offset*"),
        Row(_local(_CHANGED, "_rtn"), BOTH, "R R R", _update_local(True), "offset*"),
        Row(_local(_COMPARED, ""), BOTH, "R R R", _update_local(False), "offset*"),
        Row(_local(_COMPARED, "_rtn"), BOTH, "R R R R", _update_local(True), "offset*"),
        Row(",".join(CACHE_OPERATIONS), ORDERS, "", cache, f"{_WORDS}|th:TH_ATOMIC_RETURN*"),
        Row(BARRIER, ORDERS, "", _is(BARRIER)),
        Row("s_waitcnt", ORDERS, "counter counter*", wait),
        Row("s_waitcnt_vscnt", ORDERS, "null n", wait_for_stores),
        Row(",".join(f"s_wait_{name}" for name in _COUNTERS), ORDERS, "n", wait_by_name),
        Row(",".join(f"s_wait_{one}_{other}" for one in _COUNTERS for other in _COUNTERS), ORDERS, "n", wait_by_name),
    ]


MARKED: Table[Meaning] = table_of(_rows(marked=True))
UNMARKED: Table[Meaning] = table_of(_rows(marked=False))
"""The instructions that are known between marks, and outside of them."""
