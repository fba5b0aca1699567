"""What words of SPIR-V do to memory and to control, as far as they are understood."""

from __future__ import annotations

from enum import StrEnum


class Effect(StrEnum):
    """What an instruction does besides giving a result: nothing, reads, writes, both, or control."""

    NOTHING = "nothing"
    READS = "reads"
    WRITES = "writes"
    BOTH = "both"
    CONTROL = "control"
