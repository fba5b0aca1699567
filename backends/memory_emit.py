"""A memory test as the files of a language."""

from __future__ import annotations

from backends.cpp.memory import CppKernel
from backends.cuda.memory import CudaKernel
from backends.emit import file_stem
from backends.glsl.memory import GlslKernel
from backends.opencl.memory import OpenClKernel
from backends.shared.kernel import Kernel
from backends.shared.layout import Parameters, place
from corpus.litmus.test import LitmusTest

KERNELS: dict[str, type[Kernel]] = {"cuda": CudaKernel, "opencl": OpenClKernel, "glsl": GlslKernel, "cpp": CppKernel}
"""The languages, by the names of the back ends."""


def compile_memory_test(name: str, test: LitmusTest, backend: str, parameters: Parameters) -> dict[str, str]:
    """The files of one test, by name relative to the output folder.

    The test's own file is ``STEM.SUFFIX``, its stem from ``name``, and comes first; a language may add files that all
    its tests share. Raises ``InputError`` that names the thread, the instruction and the reason where the language
    cannot say the test or a launch cannot hold it.
    """
    kernel = KERNELS[backend]
    stem = file_stem(name)
    return {f"{stem}{kernel.suffix}": kernel(place(test, parameters)).file(stem), **kernel.companions}
