"""States the memory instructions of AMD's GPUs, as far as LLVM's tables of code sequences name them.

    s_waitcnt vmcnt(0) lgkmcnt(0)     global_load sc0=1 sc1=1     global_inv scope:SCOPE_DEV

An instruction is an access, a wait for counters of outstanding accesses, a cache operation or the barrier; its words
are cache bits, counters or a scope. ``buffer/global/flat_load`` of the tables is ``global_load`` here: an access is to
global memory or, with ``ds_``, to local memory, and accesses of the generic address space are left out.

Source: LLVM, User Guide for AMDGPU Backend (AMDGPUUsage), section Memory Model and its tables of code sequences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

GLOBAL, LOCAL = "global", "local"
"""The address spaces that the tables tell apart: addrspace(1), and addrspace(3), which is LDS."""

BITS = ("glc=1", "slc=1", "dlc=1", "sc0=1", "sc1=1")
"""The cache bits of an access or a cache operation, of GFX6 to GFX11."""
SCOPE_WORDS = ("scope:SCOPE_CU", "scope:SCOPE_SE", "scope:SCOPE_DEV", "scope:SCOPE_SYS")
"""The scopes of an access or a cache operation of GFX12, the narrowest first."""

ACCESSES: Mapping[str, str] = {
    "global_load": GLOBAL,
    "global_store": GLOBAL,
    "global_atomic": GLOBAL,
    "ds_load": LOCAL,
    "ds_store": LOCAL,
    "ds_atomic": LOCAL,
}
"""The accesses, and the address space of each."""

COUNTERS = ("vmcnt(0)", "vscnt(0)", "lgkmcnt(0)", "vm/vscnt(0)")
"""The counters that ``s_waitcnt`` waits for. ``vm/vscnt(0)`` is that of an atomic operation, here with a result."""
WAITS: Mapping[str, str] = {
    "s_wait_loadcnt": "vmcnt(0)",
    "s_wait_storecnt": "vscnt(0)",
    "s_wait_dscnt": "lgkmcnt(0)",
}
"""The waits of GFX12, each for one counter, by the name that older targets have for the counter."""
IMAGE_WAITS = ("s_wait_samplecnt", "s_wait_bvhcnt")
"""The waits of GFX12 for accesses that no test has."""

CACHE_OPERATIONS = (
    *("buffer_wbinvl1_vol", "buffer_wbl2", "buffer_invl2", "buffer_inv"),
    *("buffer_gl0_inv", "buffer_gl1_inv", "global_wb", "global_inv"),
)
"""The operations that write back or invalidate caches."""
WRITE_BACKS = ("buffer_wbl2", "global_wb")
"""Those that write back."""
BARRIER = "s_barrier"


@dataclass(frozen=True, slots=True)
class MachineInstruction:
    """An instruction of the machine: its opcode, and its cache bits, counters or scope."""

    opcode: str
    words: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The instruction as tables spell it."""
        return " ".join((self.opcode, *self.words))

    @property
    def counters(self) -> frozenset[str]:
        """The counters that a wait waits for, by their names of GFX10; empty of any other instruction."""
        if self.opcode == "s_waitcnt":
            return frozenset("vmcnt(0)" if word == "vm/vscnt(0)" else word for word in self.words)
        return frozenset({WAITS[self.opcode]}) if self.opcode in WAITS else frozenset()

    @property
    def is_wait(self) -> bool:
        """Whether the instruction waits for counters, be they of accesses that no test has."""
        return self.opcode in ("s_waitcnt", *WAITS, *IMAGE_WAITS)


def machine_instruction(words: Sequence[str]) -> MachineInstruction | None:
    """Return the instruction that some words spell, None where there is none of that opcode with such words."""
    opcode, *more = words
    if opcode in ACCESSES or opcode in CACHE_OPERATIONS:
        known: tuple[str, ...] = (*BITS, *SCOPE_WORDS)
    elif opcode == "s_waitcnt":
        known = COUNTERS if more else ()
    else:
        known = ()
    spelled = opcode in (*ACCESSES, *CACHE_OPERATIONS, *WAITS, *IMAGE_WAITS, "s_waitcnt", BARRIER)
    return MachineInstruction(opcode, tuple(more)) if spelled and set(more) <= set(known) else None
