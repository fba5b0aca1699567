"""ptxas as a compiler of tests whose machine code is read back, at each of its levels of optimisation.

The file is the CUDA program of the test without marks, which keep ptxas from changing accesses: here it is to change
what it likes. Each access is one instruction of PTX in the file, so nvcc, which makes PTX of the rest, is called at one
level.

A test is a file of its own, though starting nvcc and nvdisasm takes longer than compiling it: the order in which ptxas
puts weak accesses depends on what else is in the file, as in ``sb-shared-global`` at -O3 for sm_90.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from backends.cuda.compiler import ARCHITECTURES, INSTALL, compile_sass, cuda_tool
from backends.cuda.memory import CudaKernel
from backends.shared.layout import Layout, place
from backends.shared.readback import CodeLanguage, CompiledTest, TestCompiler, compiled_by
from corpus.code.sass.launch import CompiledLaunch, LocationRow
from corpus.code.sass.reader import read_sass
from corpus.litmus.test import LitmusTest


class UnmarkedKernel(CudaKernel):
    """A memory test whose accesses ptxas may merge, drop and move. It is compiled and read, and never run."""

    marked = False


_LEVELS = ("-O0", "-O1", "-O2", "-O3")


def _compiled(capability: int, test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    kernel = UnmarkedKernel(place(test))
    by = partial(compile_sass, capability=capability, options=[level])
    return compiled_by(kernel, test, folder, kernel.file("test"), ".cu", ".sass", by)


def compiled_launch(layout: Layout) -> CompiledLaunch:
    """Return where a test lies in a launch of its layout: one instance, that of the first slot."""
    parameters = layout.parameters
    ids = []
    for position, cta in zip(layout.positions, layout.ctas, strict=True):
        warp, lane = divmod(position, layout.lanes)
        within = warp - cta * layout.warps
        first = cta * (1 if parameters.interleaved else layout.turns)
        ids.append((within * parameters.slots * layout.lanes + lane, first))
    every, shared = (tuple(location.name for location in row) for row in (layout.globals, layout.shareds))
    return CompiledLaunch(
        test=layout.test,
        terms=layout.terms,
        places=tuple(ids),
        slots=parameters.slots,
        instances=layout.instances,
        global_memory=LocationRow(every, layout.stride, layout.counters),
        shared_memory=LocationRow(shared, layout.shared_stride, layout.shared_words),
    )


def _read(compiled: CompiledTest) -> LitmusTest:
    return read_sass(compiled.text, compiled_launch(compiled.layout or place(compiled.test)), compiled.path)


def _missing() -> list[str]:
    return [] if cuda_tool("nvcc") and cuda_tool("nvdisasm") else [INSTALL]


SASS = CodeLanguage("sass", "ptx", _read)
"""Machine code of NVIDIA's GPUs, as ``nvdisasm -c`` prints it."""

PTXAS = tuple(
    TestCompiler(f"ptxas, sm_{capability}", "sass", "ptx", _LEVELS, partial(_compiled, capability), _missing)
    for capability in ARCHITECTURES
)
"""ptxas for each compute capability that CUDA files are checked for."""
