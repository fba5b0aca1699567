"""Programs that ``synth compile`` writes, compiled to SPIR-V by the compilers of their languages and read back as
kernels.

The program is written for one instance of a test, without stress: that is a launch of the smallest size that the
harness has. What the harness adds to the test is read back as well: the look at the seed, or at the cell of the
warm-up, initial values of shared memory and the barriers around the test, registers that are kept in ``results``, and
the count of threads that have ended. What it does not keep are the names of registers and locations, scopes that the
language has no word for, and in which order C evaluates what is not sequenced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from backends.glsl.amber import shaders
from backends.glsl.spirv import compile_shader
from backends.opencl.spirv import compile_kernels
from backends.registry import BACKENDS
from backends.shared.layout import Layout, Parameters, place
from backends.shared.mapping import launch
from corpus.code.launch.launch import ArrayArgument, KernelLaunch
from corpus.code.program import KernelProgram, program_of
from corpus.code.spirv.files import read_spirv
from corpus.code.spirv.translation import translated
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.locations import Loc
from corpus.litmus.normal import map_condition
from corpus.litmus.propositions import Term
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program

MEMORY = {"glsl": "b0_0", "opencl": "memory"}
"""What the kernels call the memory of the test: in GLSL its set and binding, for several declarations have it."""

ACTIONS = (Load, Store, Rmw, Fence, Barrier)

COMPILERS = {"glsl": compile_shader, "opencl": compile_kernels}
ALONE = Parameters(instances=1, stride=1, shuffle=False, shuffle_blocks=False)


def one_instance(test: LitmusTest) -> Layout:
    """The layout of a test in a launch of one instance, where each warp has the threads of the test alone."""
    return replace(place(test, ALONE), parameters=replace(ALONE, slots=1))


def keeps(backend: str, test: LitmusTest) -> bool:
    """Whether the program of a memory test has each scope of the test, and not another one with the same threads."""
    code = (ins for thread in test.threads for ins in thread.instructions)
    scopes = {ins.mode.scope for ins in code if isinstance(ins, ACTIONS)} - {None}
    return scopes <= set(BACKENDS[backend].memory.scopes)


def memory_test_read_back(backend: str, test: LitmusTest, folder: Path) -> LitmusTest:
    """Return what is read back of a memory test, with the test's condition, of the places that its values are in.

    Raises ``InputError`` where the language has no words for the test.
    """
    layout = one_instance(test)
    text = next(iter(BACKENDS[backend].memory_files("test", layout).values()))
    at = {location.name: number * layout.stride for number, location in enumerate(layout.globals)}
    values = [0] * layout.words
    for location in layout.globals:
        values[at[location.name]] = int(location.initial)
    extent = KernelLaunch(
        (layout.groups, 1, 1),
        (layout.group_size, 1, 1),
        warp=layout.lanes,
        arguments={MEMORY[backend]: ArrayArgument(tuple(values), layout.words, 4), "seed": 0},
    )
    program = read_back(backend, shaders(text)[1] if backend == "glsl" else text, "run", extent, folder)
    return replace(program.test, condition=map_condition(test.condition, _Homes(layout, at, program).of))


class _Homes:
    """Where a program has the values that a condition asks for."""

    def __init__(self, layout: Layout, at: Mapping[str, int], program: KernelProgram) -> None:
        self._layout, self._at = layout, at
        cells = {name: cell for name, cell in program.locations.cells.items() if cell.array.space == "argument"}
        self._names = {(cell.array.name[:6], cell.offset): name for name, cell in cells.items()}

    def of(self, term: Term) -> Term:
        """Return a term of the test as one of the program: a location, or the number that nobody changes."""
        if isinstance(term, int):
            return term
        if isinstance(term, Loc) and term.name in self._at:
            name = self._names.get(("memory", 4 * self._at[term.name]))
            initial = next(each.initial for each in self._layout.globals if each.name == term.name)
            return Loc(name) if name else initial
        name = self._names.get(("result", 4 * self._layout.terms.index(term)))
        return Loc(name) if name else 0


def progress_test_read_back(backend: str, program: Program, folder: Path) -> LitmusTest:
    """Return what is read back of a progress test."""
    shape = launch(program)
    text = next(iter(BACKENDS[backend].progress_files("test", shape).values()))
    extent = KernelLaunch((shape.groups, 1, 1), (1, 1, 1))
    return read_back(backend, shaders(text)[0] if backend == "glsl" else text, "test", extent, folder).test


def read_back(backend: str, text: str, name: str, extent: KernelLaunch, folder: Path) -> KernelProgram:
    """Return the program that is left of a kernel and a launch. ``name`` is that of the kernel in OpenCL C."""
    file, code = folder / "program", folder / "program.spv"
    file.write_text(text, encoding="utf-8")
    compiled = COMPILERS[backend](file, code)
    assert compiled.ok, compiled.output
    found = translated(read_spirv(code.read_bytes(), str(file)))
    (kernel,) = (each for each in found.module.kernels if each.name in (name, "main"))
    return program_of(found.module, kernel, replace(extent, names=found.names[kernel.name]))
