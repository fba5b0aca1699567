"""The dialects of litmus tests: one module each, with a parser and a printer that are inverse of each other."""

from __future__ import annotations

from corpus.dialects.c import C
from corpus.dialects.gpu_ptx import GPU_PTX
from corpus.dialects.lisa import LISA
from corpus.dialects.opencl import OPENCL
from corpus.dialects.ptx import PTX
from corpus.dialects.vulkan import VULKAN
from corpus.litmus_text import Dialect

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        C,
        LISA,
        OPENCL,
        GPU_PTX,
        PTX,
        VULKAN,
    )
}
"""Every dialect by its name."""
