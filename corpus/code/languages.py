"""Lists the languages of kernels by the names that modules have for them."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.code.c.meaning import C
from corpus.code.ptx.table import PTX
from corpus.code.spirv.meaning import OPENCL, VULKAN
from corpus.code.thread import KernelLanguage

LANGUAGES: Mapping[str, KernelLanguage] = {"ptx": PTX, "vulkan": VULKAN, "opencl": OPENCL, "c": C}
"""The languages of kernels, by name."""
