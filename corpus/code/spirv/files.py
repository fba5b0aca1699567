"""Files of SPIR-V as code that is read, whatever they were compiled of: binary by the magic number, otherwise text with
what its annotations say.

A launch may give constants of specialisation, with which a module is translated again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from corpus.code.ir import KernelFunction, Module
from corpus.code.launch.launch import KernelLaunch
from corpus.code.reading import CodeText, ReadCode
from corpus.code.spirv.annotations import LaunchConfig, read_annotations
from corpus.code.spirv.binary import is_binary, read_binary
from corpus.code.spirv.claims import annotated, expectation
from corpus.code.spirv.module import SpirvModule
from corpus.code.spirv.parameters import specialisation
from corpus.code.spirv.text import read_assembly
from corpus.code.spirv.translation import translated
from corpus.errors import InputError
from corpus.files import LARGEST_TEXT

Adapt = Callable[[Module], Module]
"""What a language makes of the module that its compiler has written."""


def read_spirv(data: bytes, path: str, files: Mapping[str, str] | None = None) -> SpirvModule:
    """Return the module that data denotes, whose compiler knew source ``files``, paths by name, by other names.

    Raises ``InputError``, of a text with line and column.
    """
    if len(data) > LARGEST_TEXT:
        raise InputError(f"cannot read: larger than {LARGEST_TEXT} bytes", path)
    if is_binary(data):
        return read_binary(data, path, files)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        raise InputError("expected the magic number of SPIR-V, or UTF-8 text", path, line, column) from None
    return read_assembly(text, path)


def read(code: CodeText) -> ReadCode:
    """Return what a module of SPIR-V has, binary or text."""
    return _translated(read_spirv(code.data, code.path, code.files), _as_it_is)


def read_wgsl(code: CodeText) -> ReadCode:
    """Return what a module has that was compiled of WGSL."""
    return _translated(read_spirv(code.data, code.path, code.files), _of_wgsl)


def _as_it_is(module: Module) -> Module:
    return module


def _of_wgsl(module: Module) -> Module:
    """Return a module as WGSL has it: memory of a work-group begins as zeros (WGSL, 7.3), and all accesses are those of
    WGSL's own memory model.
    """
    begun = {
        name: replace(variable, initial=variable.initial or b"\0") if variable.space == "shared" else variable
        for name, variable in module.variables.items()
    }
    return replace(module, variables=begun, assumed=())


def _translated(spirv: SpirvModule, adapt: Adapt, constants: Mapping[int, int] | None = None) -> ReadCode:
    """Return what a module has, whose constants of specialisation have these values."""
    found, annotations = translated(spirv, constants or {}), read_annotations(spirv)
    module, given = annotated(found.module, annotations, found.homes, found.types)
    claim = expectation(annotations, found.homes, found.types, spirv.path)
    launch = None
    if annotations.config or given or claim:
        threads, subgroups, workgroups = annotations.config or LaunchConfig()
        launch = KernelLaunch((workgroups, 1, 1), (threads * subgroups, 1, 1), warp=threads)
    specialise = partial(_specialised, spirv, adapt)
    return ReadCode(adapt(module), found.names, found.sizes, found.arrays, given, claim, launch, specialise)


def _specialised(spirv: SpirvModule, adapt: Adapt, kernel: KernelFunction, launch: KernelLaunch) -> ReadCode | None:
    """Return what a module has with the constants that a launch gives to a kernel; None where it gives none."""
    constants = specialisation(spirv, kernel, launch)
    return _translated(spirv, adapt, constants) if constants else None
