"""What a word of a kernel's language does besides giving a result, as each table of instructions says of its rows."""

from __future__ import annotations

from enum import StrEnum


class Effect(StrEnum):
    """What an instruction does to memory, or to control. A result it may have besides."""

    NOTHING = "nothing"
    READS = "reads"
    WRITES = "writes"
    BOTH = "both"
    ORDERS = "orders"
    """It orders accesses, or has threads meet."""
    CONTROL = "control"
