"""Lists the processors whose assembly is read, by the names that their models have."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.code.armv8.table import ARMV8
from corpus.code.assembly.language import MachineLanguage
from corpus.code.power.table import POWER
from corpus.code.riscv.table import RISCV
from corpus.code.x86.table import X86

ASSEMBLY_LANGUAGES: Mapping[str, MachineLanguage] = {each.name: each for each in (X86, ARMV8, POWER, RISCV)}
"""The processors by name."""
