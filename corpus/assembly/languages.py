"""Lists the processors whose assembly is read, by the names that their models have."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.assembly.armv8 import ARMV8
from corpus.assembly.language import AssemblyLanguage
from corpus.assembly.power import POWER
from corpus.assembly.riscv import RISCV
from corpus.assembly.x86 import X86

ASSEMBLY_LANGUAGES: Mapping[str, AssemblyLanguage] = {each.name: each for each in (X86, ARMV8, POWER, RISCV)}
"""The processors by name."""
