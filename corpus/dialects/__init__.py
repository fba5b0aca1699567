"""The dialects of litmus tests: one module each, with a parser and a printer that are inverse of each other."""

from __future__ import annotations

from corpus.dialects.ptx import PTX
from corpus.dialects.vulkan import VULKAN
from corpus.litmus_text import Dialect

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        PTX,
        VULKAN,
    )
}
"""Every dialect by its name."""
