"""Languages of kernels that a compiler has as LLVM: the rows of their instructions, and what they give threads."""

from __future__ import annotations

from corpus.code.doubts import ROWS, rows_in
from corpus.code.launch.built_in import special
from corpus.code.launch.groups import OPENCL_EXCHANGE
from corpus.code.thread import KernelLanguage

OPENCL = KernelLanguage(rows_in("opencl", ROWS), special, "opencl", "opencl", exchange=OPENCL_EXCHANGE)
"""The language of kernels of OpenCL C."""

HIP = KernelLanguage(rows_in("opencl", ROWS), special, "opencl", "opencl", exchange=OPENCL_EXCHANGE)
"""The language of kernels of HIP, whose scopes and orders OpenCL has."""
