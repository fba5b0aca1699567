"""A module of SPIR-V as kernels: its variables as memory, its functions as code, its entry points as kernels.

A function is written where something calls it: its blocks in their order, an instruction by its row. What is not
understood becomes an instruction that nobody understands, so that it counts only where a thread comes there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from corpus.code.doubts import NOT_UNDERSTOOD
from corpus.code.ir import KernelFunction, Module, Variable
from corpus.code.launch.fields import DescribedArray, with_fields
from corpus.code.spirv import pointers
from corpus.code.spirv.claims import SpirvHome
from corpus.code.spirv.code import SpirvCode, SpirvSource
from corpus.code.spirv.constants import SpirvConstants
from corpus.code.spirv.declared import RELAXED, refusals
from corpus.code.spirv.extended import EXTENDED
from corpus.code.spirv.fields import SpirvFields
from corpus.code.spirv.flow import SpirvBody, function_name, results_of
from corpus.code.spirv.modes import MEMORY_MODELS
from corpus.code.spirv.module import SpirvEntryPoint, SpirvFunction, SpirvInstruction, SpirvModule
from corpus.code.spirv.parameters import SpirvParameter, arguments, block_size, given, specialised
from corpus.code.spirv.reflection import reflected
from corpus.code.spirv.source_rules import begun_anew
from corpus.code.spirv.table import row_of
from corpus.code.spirv.types import SpirvTypes
from corpus.code.spirv.variables import SpirvMemory, declare, names_in
from corpus.errors import InputError

KERNELS = ("GLCompute", "Kernel")
"""The execution models of kernels."""


class SpirvKernels(NamedTuple):
    """A module as kernels, the names that the source gives to the parameters of each, by kernel, and the bytes of what
    they point to, and what annotations may name by id: the variables, and the parameters of kernels. ``arrays``: what
    memory is made of.
    """

    module: Module
    names: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, tuple[int | None, ...]]
    homes: Mapping[str, SpirvHome]
    types: SpirvTypes
    arrays: tuple[DescribedArray, ...] = ()


def translated(module: SpirvModule, constants: Mapping[int, int] = MappingProxyType({})) -> SpirvKernels:
    """Return the kernels of a module. ``constants``: the values of constants of specialisation, by ``SpecId``.

    Raises ``InputError`` where the module has a memory model that is not understood, or types that are in themselves.
    """
    source, memory = _source(module, constants), SpirvMemory()
    for id in source.symbols:
        declare(source, memory, id)
    found = _Functions(source)
    names, sizes = {}, {}
    for point in module.entry_points:
        if point.model in KERNELS and point.function in module.functions:
            kernel, parameters = _kernel(found, memory, point)
            names[point.name] = tuple(parameter.source_name for parameter in parameters)
            sizes[point.name] = tuple(parameter.element for parameter in parameters)
            found.written[kernel.name] = kernel
    kernels = Module(
        module.path,
        ".".join(map(str, module.header.version or ())),
        module.models.addressing,
        memory.variables,
        found.written,
        source.model.name,
        "word" if module.header.binary else "line",
        (*source.model.assumed, *_assumed_of_copies(found)),
    )
    return SpirvKernels(kernels, names, sizes, memory.homes, source.types, tuple(memory.arrays))


def _source(module: SpirvModule, specialised: Mapping[int, int]) -> SpirvSource:
    """Return what a module is translated by."""
    model = MEMORY_MODELS.get(module.models.memory)
    if model is None:
        known, what = ", ".join(MEMORY_MODELS), module.models.memory or "none"
        raise InputError(f"expected one of the memory models {known}, found {what}", module.path)
    names = names_in(module)
    symbols = {id: names[id] for id, ins in module.globals.items() if ins.is_variable}
    constants = SpirvConstants(module, specialised, symbols)
    return SpirvSource(
        module, constants, model, names, symbols, reflected(module), SpirvFields(module, constants.types)
    )


# functions


@dataclass(frozen=True, slots=True)
class _Functions:
    """The functions of a module so far: the code of each by its id, and those that kernels consist of, by name."""

    source: SpirvSource
    bodies: dict[str, SpirvBody] = field(default_factory=dict)
    written: dict[str, KernelFunction] = field(default_factory=dict)

    def body(self, id: str) -> SpirvBody:
        """Return the code of a function, which is written here where it is not yet."""
        if id not in self.bodies:
            body = self.bodies[id] = SpirvBody(self.source, self.source.module.functions[id])
            _write(body)
        return self.bodies[id]


def _reached(found: _Functions, start: str) -> list[str]:
    """Return a function and all that it calls, also by way of others."""
    reached, waiting = {start: None}, [start]
    while waiting:
        for called in found.body(waiting.pop()).code.mentioned:
            if called in found.source.module.functions and called not in reached:
                reached[called] = None
                waiting.append(called)
    return list(reached)


def _kernel(
    found: _Functions, memory: SpirvMemory, point: SpirvEntryPoint
) -> tuple[KernelFunction, list[SpirvParameter]]:
    """Return the kernel of an entry point, and its parameters that are declared."""
    source, module = found.source, found.source.module
    function = module.functions[point.function]
    reached = _reached(found, function.name)
    for id in reached[1:]:
        _add_callable(found, module.functions[id])
    mentioned = {id for each in reached for id in found.body(each).code.mentioned}
    if function.name in mentioned:
        _add_callable(found, function)
    code = found.body(function.name).code
    start = SpirvCode(source, SpirvInstruction("OpEntryPoint", None, None, (), function.line))
    _refuse(start, point.function)
    parameters = [*arguments(start, memory, function)]
    for id, name in source.symbols.items():
        if id in mentioned or (id in point.interface and memory.variables[name].space == "argument"):
            parameters += given(start, memory, id)
    parameters += specialised(source, memory)
    kernel = KernelFunction(
        point.name,
        True,
        (),
        tuple(parameter.variable for parameter in parameters),
        {**start.registers, **code.registers},
        (*code.variables.values(), *start.variables.values()),
        (*start.code, *code.code),
        {name: place + len(start.code) for name, place in code.labels.items()},
        {},
        line=function.line,
        block_size=block_size(source, point.function),
    )
    return with_fields(kernel), parameters


def _refuse(start: SpirvCode, function: str) -> None:
    """Write what is not understood of a kernel whatever its threads do: declarations of the module or of its
    function.
    """
    for refused in refusals(start.source.module, EXTENDED):
        if refused.function in (None, function):
            start.at = refused.at
            start.put(NOT_UNDERSTOOD, (refused.why,), ())


def _add_callable(found: _Functions, function: SpirvFunction) -> None:
    """Add a function that others call, with scalars as parameters and results."""
    name = function_name(function.name)
    if name in found.written:
        return
    code = found.body(function.name).code
    try:
        results = results_of(code, function)
        parameters = []
        for each in function.parameters:
            kinds = code.kinds(each.type or "")
            pairs = zip(code.registers_of(each.result or "", kinds), kinds, strict=True)
            parameters += [Variable(register.name, "reg", kind, 8, 8) for register, kind in pairs]
    except InputError:
        return  # that it is not there is said where it is called
    found.written[name] = KernelFunction(
        name,
        False,
        results,
        tuple(parameters),
        code.registers,
        tuple(code.variables.values()),
        tuple(code.code),
        code.labels,
        {},
        line=function.line,
    )


def _assumed_of_copies(found: _Functions) -> Iterator[str]:
    """Yield what is taken for granted of arguments that are copied back to places that are computed."""
    for each in (each for body in found.bodies.values() for each in body.copies if not each.same):
        where = each.second.source or f"{found.source.module.path}:{each.second.line}"
        yield f"the arguments that are copied back at {where} lie apart"


# the code of a function


def _write(body: SpirvBody) -> None:
    """Write the blocks of the function in their order, each behind its label."""
    compiled = bool(body.code.source.module.languages)
    compiled |= any(ins.source for block in body.function.blocks for ins in block.instructions)
    anew = begun_anew(body.function) if compiled else {}  # where SPIR-V is the source, it means what it says
    copied = [copy.second for copy in body.copies if copy.same]
    for parameter in body.function.parameters:
        try:
            body.copy_parameter(parameter)
        except InputError as error:
            body.code.put(NOT_UNDERSTOOD, (error.message,), ())
    for block in body.function.blocks:
        body.code.label(block.label)
        for variable in anew.get(block.label, ()):
            pointers.begin_anew(body.code, variable)
        for ins in block.instructions:
            body.code.at = ins
            mark = len(body.code.code)
            try:
                if any(ins is each for each in copied):
                    raise body.code.wrong("two arguments are copied back to one place, in an order that is left open")
                row_of(body.code).meaning(body, block)
                _relax(body.code, ins)
            except InputError as error:
                del body.code.code[mark:]
                body.code.put(NOT_UNDERSTOOD, (error.message,), ())


def _relax(code: SpirvCode, ins: SpirvInstruction) -> None:
    """Say of which operands a result of relaxed precision is: it counts where 16 bits give it, too."""
    id = ins.result or ""
    if ins.name not in RELAXED or code.source.module.decoration(id, "RelaxedPrecision") is None:
        return
    given = [each for name in code.at.ids for each in code.values(name)] if ins.name != "OpLoad" else []
    words = ("shift",) if ins.name.startswith("OpShift") else ()
    for target in code.registers_of(id, code.kinds(ins.type or "")):
        code.put("relaxed", words, (target, *given))
