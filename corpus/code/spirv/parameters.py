"""What a launch gives to a kernel of SPIR-V: its parameters, and what memory holds before its first instruction.

The parameters are the arguments of OpenCL kernels, buffers, the members of push constants and of uniform buffers, which
have the names of these, and constants of specialisation, but for those that are the size of a work-group: that a launch
gives as well, where an execution mode does not say it (SPIR-V 1.6, 3.6; NonSemantic.ClspvReflection).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpus.code.doubts import NOT_UNDERSTOOD
from corpus.code.ir import BlockSize, KernelFunction, MemoryOperand, Operand, Register, SymbolRef, Variable
from corpus.code.launch.built_in import is_built_in
from corpus.code.launch.fields import NUMBER
from corpus.code.launch.launch import KernelLaunch
from corpus.code.places import NOBODY, Array, argument_array
from corpus.code.spirv.claims import SpirvHome
from corpus.code.spirv.code import SpirvCode, SpirvSource, register_name
from corpus.code.spirv.constants import WORKGROUP_SIZE, spec_id
from corpus.code.spirv.module import Enumerant, Id, SpirvFunction, SpirvInteger, SpirvModule
from corpus.code.spirv.reflection import ClspvReflection, reflected
from corpus.code.spirv.types import ADDRESS
from corpus.code.spirv.variables import SpirvMemory, pointee_of
from corpus.errors import InputError

SPECIALISED = "specialised"
"""The space of parameters that are constants of specialisation; their line is their number."""

_SIZES = ("LocalSize", "LocalSizeId")
"""The modes that give a kernel the size of its work-groups, of which it has one at most (SPIR-V 1.6, 3.6)."""


class SpirvParameter(NamedTuple):
    """A parameter of a kernel: as the representation has it, by the name that the source gives it, and the bytes of
    what it points to, where that is known.
    """

    variable: Variable
    source_name: str
    element: int | None = None


# the parameters of functions


def arguments(start: SpirvCode, memory: SpirvMemory, function: SpirvFunction) -> Iterator[SpirvParameter]:
    """Yield the parameters of an OpenCL kernel, whose registers have their values from the ``start``."""
    types, fields = start.types, start.source.fields
    for parameter in function.parameters:
        id, type = parameter.result or "", parameter.type or ""
        start.at = parameter
        name = start.source.names[id]
        target = Register(register_name(id))
        declared = types.of(type)
        storage = declared.storage if declared.is_pointer else None
        start.registers[target.name] = ADDRESS
        if storage is None and not types.is_value(type):  # an image or the like, whose uses are refused
            yield SpirvParameter(Variable(name, "opaque", "b8", 8, 8), name)
        elif storage == "Workgroup":
            memory.variables[name] = Variable(name, "shared", "b8", None, 8, line=parameter.line)
            start.put("mov", ("b64",), (target, SymbolRef(name)))
            memory.homes[id] = SpirvHome(Array("shared", NOBODY, name), name, declared.pointee, several=True)
            yield SpirvParameter(Variable(name, "shared", ADDRESS, 8, 8), name)
        elif storage == "Function":  # a struct by value
            inner = declared.pointee
            memory.homes[id] = SpirvHome(Array("param", NOBODY, name), name, inner, value=True)
            start.put("mov", ("b64",), (target, SymbolRef(name)))
            own = Variable(name, "param", "b8", types.size(inner), 8, fields=fields.of(inner, id))
            yield SpirvParameter(own, name)
        elif storage is not None:
            start.put("load", (ADDRESS,), (target, MemoryOperand(SymbolRef(name))))
            memory.homes[id] = SpirvHome(argument_array(name), name, declared.pointee, several=True)
            memory.describe(argument_array(name), fields.pointee(type, id))
            yield SpirvParameter(Variable(name, "param", ADDRESS, 8, 8), name, fields.element(type, id))
        else:
            yield _value(start, memory, id, type, name)


def _value(start: SpirvCode, memory: SpirvMemory, id: str, type: str, name: str) -> SpirvParameter:
    """Return a parameter that is a number, or the numbers of a vector or struct, one after the other."""
    scalars = start.types.scalars(type)
    registers = start.registers_of(id, [scalar.kind for scalar in scalars])
    size = start.types.size(type)
    kind = NUMBER if size == 8 else "b8"
    for register, scalar in zip(registers, scalars, strict=True):
        where = MemoryOperand(SymbolRef(name), scalar.offset)
        start.put("load", (scalar.memory_kind.replace("f", "b"),), (register, where))
    memory.homes[id] = SpirvHome(Array("param", NOBODY, name), name, type, value=True)
    return SpirvParameter(Variable(name, "param", kind, size, 8, fields=start.source.fields.of(type, id)), name)


# variables


def given(start: SpirvCode, memory: SpirvMemory, id: str) -> Iterator[SpirvParameter]:
    """Write what a variable holds at the start, where it is the thread's own; yield what the launch gives of it."""
    source = start.source
    ins, name = source.module.globals[id], source.symbols[id]
    variable = memory.variables[name]
    start.at = ins._replace(source=None)
    if variable.space == "opaque":
        start.put(NOT_UNDERSTOOD, (f"{name}, or what it begins with, is not understood",), ())
        return
    type, storage = pointee_of(source, ins), source.types.of(ins.type or "").storage
    if variable.space == "argument":
        called = _called(source, id, type)
        memory.homes[id] = SpirvHome(argument_array(called), name, type)
        memory.describe(argument_array(called), source.fields.block(type))
        parts = _parts(source, type)
        yield SpirvParameter(Variable(name, "argument", "b8", variable.size, 8, parts=parts), called)
    elif variable.space == "local" and storage in ("PushConstant", "Uniform"):
        yield from _members(start, memory, id, type)
    elif variable.space == "local":
        _begin(start, id, type, storage)


def _begin(start: SpirvCode, id: str, type: str, storage: str) -> None:
    """Write the initial value of a variable of the thread's own, or the special registers of a built-in one."""
    source, scalars = start.source, start.types.scalars(type)
    initial = source.module.globals[id].initializer
    values: Sequence[Operand] = ()
    if initial is not None:
        values = source.constants.scalars(initial)
    elif storage == "Input":
        match source.module.decoration(id, "BuiltIn"):
            case Enumerant(_, (Enumerant(which), *_)):
                if not is_built_in(which):
                    start.put(NOT_UNDERSTOOD, (f"the built-in variable {which} is not understood",), ())
                values = [Register(f"%{which}.{n}") for n in range(len(scalars))]
    where = source.symbols[id]
    for scalar, value in zip(scalars, values, strict=False):
        start.put("store", (scalar.memory_kind,), (MemoryOperand(SymbolRef(where), scalar.offset), value))


def _parts(source: SpirvSource, type: str) -> tuple[tuple[int, str], ...]:
    """Return the places and names of the members of a block that has several, where all have names."""
    types = source.types
    count = types.length(type) or 0 if types.of(type).name == "OpTypeStruct" else 0
    names = [source.module.names.get((type, member), "") for member in range(count)]
    if count < 2 or not all(names):
        return ()
    places = (types.element(type, member).offset for member in range(count))
    return tuple(sorted(zip(places, (re.sub(r"\W", "_", name) for name in names), strict=True)))


def _members(start: SpirvCode, memory: SpirvMemory, id: str, type: str) -> Iterator[SpirvParameter]:
    """Yield the members of a block of push constants or of a uniform buffer, and write them to it."""
    source, types, module = start.source, start.types, start.source.module
    name, reflection = source.symbols[id], source.reflection
    struct = types.of(type).name == "OpTypeStruct"
    count = types.length(type) or 0 if struct else 1
    alone = module.names.get(id) if count == 1 else None  # naga puts a value into a block of its own
    members: list[tuple[str, int, int]] = []
    for member in range(count):
        element = types.element(type, member) if struct else None
        inner, offset = (element.type, element.offset) if element else (type, 0)
        parameter = f"{name}_{member}"
        called = module.names.get((type, member)) or reflection.pushed.get(offset) or alone or parameter
        used = False
        for scalar in types.scalars(inner):
            kind = scalar.memory_kind.replace("f", "b")
            where = MemoryOperand(SymbolRef(name), offset + scalar.offset)
            value: Operand | None = reflection.built_in.get(offset + scalar.offset)
            if value is None:
                used = True
                value = start.temporary(kind)
                start.put("load", (kind,), (value, MemoryOperand(SymbolRef(parameter), scalar.offset)))
            start.put("store", (kind,), (where, value))
        if used:
            size = types.size(inner)
            kinds = {scalar.kind for scalar in types.scalars(inner)}
            address = ADDRESS if size == 8 and kinds == {ADDRESS} else "b8"
            members.append((parameter, offset, size))
            yield SpirvParameter(Variable(parameter, "param", address, size, 8, fields=source.fields.of(inner)), called)
    memory.homes[id] = SpirvHome(Array("param", NOBODY, name), name, type, value=True, members=tuple(members))


def _called(source: SpirvSource, id: str, type: str) -> str:
    """Return the name that the source has for a variable of a type, or for what it is a block of."""
    names, types = source.module.names, source.types
    if id in source.reflection.names:
        return source.reflection.names[id]
    block = types.of(type).name == "OpTypeStruct"
    member = names.get((type, 0)) if block and types.length(type) == 1 else None
    found = names.get(id) or member or names.get(type if block else "")
    return re.sub(r"\W", "_", found or ("" if id.isdecimal() else id), flags=re.ASCII) or source.names[id]


# constants of specialisation, and sizes of work-groups


def specialised(source: SpirvSource, memory: SpirvMemory) -> Iterator[SpirvParameter]:
    """Yield the constants of specialisation, but for those that are the size of a work-group."""
    sizes = _specialised_sizes(source.module, source.reflection)
    for id, ins in source.module.globals.items():
        number = spec_id(source.module, id)
        if number is not None and number not in sizes and ins.type is not None:
            name = f"spec_{number}"
            variable = Variable(name, SPECIALISED, "b8", source.types.size(ins.type), 8, line=number)
            memory.homes[id] = SpirvHome(Array(SPECIALISED, NOBODY, name), name, ins.type, value=True)
            yield SpirvParameter(variable, source.module.names.get(id) or (name if id.isdecimal() else id))


def specialisation(module: SpirvModule, kernel: KernelFunction, launch: KernelLaunch) -> dict[int, int]:
    """Return the constants of specialisation that a launch gives, by ``SpecId``: the size of a work-group, arguments.

    Raises ``InputError`` where an argument is no number.
    """
    found: dict[int, int] = {}
    for number, size in zip(_specialised_sizes(module, reflected(module)), launch.block, strict=False):
        found |= {} if number is None else {number: size}
    for place, parameter in enumerate(kernel.parameters):
        argument = launch.argument(parameter.name, place) if parameter.space == SPECIALISED else None
        if isinstance(argument, int):
            found[parameter.line] = argument
        elif argument is not None:
            raise InputError(f"--arg: expected a number for {launch.source_name(parameter.name, place)}", module.path)
    return found


def _specialised_sizes(module: SpirvModule, reflection: ClspvReflection) -> tuple[int | None, ...]:
    """Return the constants of specialisation that are the size of a work-group along x, y and z, by ``SpecId``."""
    return tuple(spec_id(module, each) for each in _constants(module, None)) or reflection.sizes


def _constants(module: SpirvModule, function: str | None) -> list[str]:
    """Return the constants that are the size of a work-group, where the module says it by constants: of one function,
    or of the first that has some.
    """
    for target, decorations in module.decorations.items():
        is_size = Enumerant("BuiltIn", (Enumerant(WORKGROUP_SIZE),)) in decorations
        if is_size and isinstance(target, str) and target in module.globals:
            return module.globals[target].ids
    for owner, modes in module.execution_modes.items():
        for mode in modes:
            if mode.name == "LocalSizeId" and function in (None, owner):
                return [parameter.name for parameter in mode.parameters if isinstance(parameter, Id)]
    return []


def block_size(source: SpirvSource, function: str) -> BlockSize:
    """Return the size of a work-group of a function, with the directions in which constants of specialisation are it.

    Raises ``InputError`` where the module says it by what is no number from 1 on.
    """
    sizes = _specialised_sizes(source.module, source.reflection)
    return BlockSize(_threads(source, function), tuple(n for n, number in enumerate(sizes) if number is not None))


def _threads(source: SpirvSource, function: str) -> tuple[int, int, int] | None:
    """Return the size of a work-group where the module says it, if by constants of specialisation as they are."""
    module = source.module
    numbers = [source.constants.number(each) for each in _constants(module, function)]
    modes = [mode for mode in module.execution_modes.get(function, ()) if mode.name in _SIZES]
    if len(modes) > 1:
        raise InputError(f"{function} has {len(modes)} sizes of a work-group", module.path)
    for mode in modes:
        if mode.name == "LocalSize" and not numbers:
            numbers = [size.value for size in mode.parameters if isinstance(size, SpirvInteger)]
    if not numbers:
        return None
    if len(numbers) != 3 or min(numbers) < 1:
        raise InputError(f"a work-group of {numbers} threads is not understood", module.path)
    return numbers[0], numbers[1], numbers[2]
