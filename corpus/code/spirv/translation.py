"""A module of SPIR-V as kernels: variables by what memory they are in, functions as code, entry points as kernels.

A buffer is an argument, by the name that the module gives it (``OpName``), or by its set and binding, ``b0_1``. Memory
of a thread's own is that of ``Function`` and ``Private`` variables, and of what is given: built-in values, push
constants and uniform buffers are written to it at the start. A push constant has the name of its member.

    OpDecorate %out Binding 2                        parameter b0_2, out in the source
    %out = OpVariable %ptr StorageBuffer             an array of global memory
    %tmp = OpVariable %ptr2 Workgroup                an array of shared memory, one in each block
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from corpus.code.ir import (
    BlockSize,
    KernelFunction,
    MemoryOperand,
    Module,
    Number,
    Operand,
    Register,
    SymbolRef,
    Variable,
)
from corpus.code.launch.fields import NUMBER, DescribedArray, DescribedType, with_fields
from corpus.code.launch.launch import KernelLaunch
from corpus.code.places import NOBODY, Array, argument_array
from corpus.code.spirv.bodies import NOT_UNDERSTOOD, SpirvBody, function_name, moved_labels, results_of
from corpus.code.spirv.claims import SpirvHome
from corpus.code.spirv.code import SpirvCode, SpirvSource, bits_of, register_name
from corpus.code.spirv.constants import WORKGROUP_SIZE, SpirvConstants
from corpus.code.spirv.declared import refusals
from corpus.code.spirv.extended import EXTENDED
from corpus.code.spirv.fields import SpirvFields
from corpus.code.spirv.modes import MEMORY_MODELS
from corpus.code.spirv.module import (
    Enumerant,
    Id,
    SpirvEntryPoint,
    SpirvFunction,
    SpirvInstruction,
    SpirvInteger,
    SpirvModule,
    SpirvString,
)
from corpus.code.spirv.names import names_in
from corpus.code.spirv.reflection import reflected
from corpus.code.spirv.special import is_built_in
from corpus.code.spirv.types import ADDRESS, SpirvTypes
from corpus.code.spirv.writing import write
from corpus.errors import InputError
from corpus.litmus.ptx_arithmetic import WIDTHS

KERNELS = ("GLCompute", "Kernel")
"""The execution models of kernels."""

_SPACES = {
    "StorageBuffer": "argument",
    "PhysicalStorageBuffer": "argument",
    "CrossWorkgroup": "global",
    "Workgroup": "shared",
    "Private": "local",
    "Function": "local",
    "Input": "local",
    "Output": "argument",
    "PushConstant": "local",
    "Uniform": "local",
    "UniformConstant": "const",
}
"""The spaces of variables by their storage class. Of a uniform buffer see ``_space``."""

SPECIALISED = "specialised"
"""The space of parameters that are constants of specialisation; their line is their number."""

MOST_GIVEN = 256
"""The scalars that a uniform buffer may have whose values are known from the start; larger ones are memory."""


class SpirvParameter(NamedTuple):
    """A parameter of a kernel: as the representation has it, by the name that the source gives it, and the bytes of
    what it points to, where that is known.
    """

    variable: Variable
    source_name: str
    element: int | None = None


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


def translated(module: SpirvModule, specialised: Mapping[int, int] = MappingProxyType({})) -> SpirvKernels:
    """Return the kernels of a module. ``specialised``: the values of constants of specialisation, by ``SpecId``.

    Raises ``InputError`` where the module has a memory model that is not understood, or types that are in themselves.
    """
    return _Translation(module, specialised).whole()


def specialisation(module: SpirvModule, kernel: KernelFunction, launch: KernelLaunch) -> dict[int, int]:
    """Return the constants of specialisation that a launch gives, by ``SpecId``: the size of a work-group, arguments.

    Raises ``InputError`` where an argument is no number.
    """
    found: dict[int, int] = {}
    for number, size in zip(specialised_sizes(module), launch.block, strict=False):
        found |= {} if number is None else {number: size}
    for place, parameter in enumerate(kernel.parameters):
        given = launch.argument(parameter.name, place) if parameter.space == SPECIALISED else None
        if isinstance(given, int):
            found[parameter.line] = given
        elif given is not None:
            raise InputError(f"--arg: expected a number for {launch.source_name(parameter.name, place)}", module.path)
    return found


_SIZES = ("LocalSize", "LocalSizeId")
"""The modes that give a kernel the size of its work-groups, of which it has one at most (SPIR-V 1.6, 3.6)."""

_LAUNCH_BOUNDS = "launch_bounds "
"""How the annotation begins that the header of HIP makes of ``__launch_bounds__``."""


class _Translation:
    """The translation of one module to variables and functions of kernels."""

    def __init__(self, module: SpirvModule, specialised: Mapping[int, int]) -> None:
        self._module = module
        model = MEMORY_MODELS.get(module.memory_model)
        if model is None:
            known = ", ".join(MEMORY_MODELS)
            what = module.memory_model or "none"
            raise InputError(f"expected one of the memory models {known}, found {what}", module.path)
        self._names = names_in(module)
        variables = (id for id, ins in module.globals.items() if ins.name in ("OpVariable", "OpUntypedVariableKHR"))
        symbols = {id: self._names[id] for id in variables}
        constants = SpirvConstants(module, specialised, symbols)
        self._source = SpirvSource(module, constants, model, symbols)
        self._types = constants.types
        self._fields = SpirvFields(module, self._types)
        self._variables: dict[str, Variable] = {}
        self._functions: dict[str, KernelFunction] = {}
        self._bodies: dict[str, SpirvBody] = {}
        self._homes: dict[str, SpirvHome] = {}
        self._arrays: dict[DescribedArray, None] = {}
        self._reflection = reflected(module)
        self._sizes = specialised_sizes(module)

    def whole(self) -> SpirvKernels:
        """Return the kernels and what they call."""
        for id in self._source.symbols:
            self._declare(id)
        names, sizes = {}, {}
        for point in self._module.entry_points:
            if point.model in KERNELS and point.function in self._module.functions:
                kernel, parameters = self._kernel(point, self._module.functions[point.function])
                names[point.name] = tuple(each.source_name for each in parameters)
                sizes[point.name] = tuple(each.element for each in parameters)
                self._functions[kernel.name] = kernel
        version = ".".join(map(str, self._module.version or ()))
        module = Module(
            self._module.path,
            version,
            self._module.addressing,
            self._variables,
            self._functions,
            self._source.model.name,
            "word" if self._module.binary else "line",
            (*self._source.model.assumed, *self._apart()),
        )
        return SpirvKernels(module, names, sizes, self._homes, self._types, tuple(self._arrays))

    def _apart(self) -> Iterator[str]:
        """Yield what is taken for granted of arguments that are copied back to places that are computed."""
        for each in (each for body in self._bodies.values() for each in body.copies if not each.same):
            where = each.second.source or f"{self._module.path}:{each.second.line}"
            yield f"the arguments that are copied back at {where} lie apart"

    # variables

    def _declare(self, id: str) -> None:
        """Declare a variable of the module in the state space of its storage class."""
        ins = self._module.globals[id]
        name = self._source.symbols[id]
        try:
            type = self._pointee(ins)
            if self._is_several(ins, type):
                raise InputError(f"{name} is several buffers", self._module.path, ins.line, 1)
            size = None if self._types.ends_open(type) or self._is_given(type) else self._types.size(type)
            space = self._space(id, ins)
            other = self._variables.get(name)  # of the same binding, which is the same memory
            if other is not None and other.space != space:
                raise InputError(f"{name} is memory that is written and what is given", self._module.path, ins.line, 1)
            if other is not None:
                size = None if size is None or other.size is None else max(size, other.size)
            initial, extern = self._initial(ins, type), self._is_elsewhere(id)
            self._variables[name] = Variable(name, space, "b8", size, 8, initial, extern=extern, line=ins.line)
            self._homes[id] = SpirvHome(Array(space, NOBODY, name), "", type)
        except InputError:
            self._variables[name] = Variable(name, "opaque", "b8", None, 8, line=ins.line)

    def _is_elsewhere(self, id: str) -> bool:
        """Return whether a variable is one of another module, which it names for the linker; built-in ones are not."""
        said = self._module.decoration(id, "LinkageAttributes")
        builtin = self._module.decoration(id, "BuiltIn")
        return builtin is None and said is not None and Enumerant("Import") in said.parameters

    def _is_given(self, type: str) -> bool:
        """Return whether a type is that of local memory whose length the host gives."""
        ins = self._module.globals.get(type)
        ids = [each.name for each in ins.operands if isinstance(each, Id)] if ins else []
        length = spec_id(self._module, ids[1]) if ins and ins.name == "OpTypeArray" and len(ids) == 2 else None
        return length in self._reflection.local

    def _is_several(self, ins: SpirvInstruction, type: str) -> bool:
        """Return whether a variable is an array of buffers, which are no neighbours in memory (SPIR-V 1.6, 2.16.2)."""
        arrays = ("OpTypeArray", "OpTypeRuntimeArray")
        return self._types.storage(ins.type or "") in ("StorageBuffer", "Uniform") and self._types.name(type) in arrays

    def _pointee(self, ins: SpirvInstruction) -> str:
        if ins.name == "OpVariable":
            return self._types.pointee(ins.type or "")
        return next(each.name for each in ins.operands if isinstance(each, Id))

    def _space(self, id: str, ins: SpirvInstruction) -> str:
        """Return the space of a variable. Uniform memory that is written, or is large, is an argument in memory."""
        storage = self._types.storage(ins.type or "")
        type = self._pointee(ins)
        if storage == "Uniform" and (
            self._module.decoration(type, "Block") is None
            or self._types.ends_open(type)
            or len(self._types.scalars(type)) > MOST_GIVEN
        ):
            return "argument"
        return _SPACES.get(storage, "opaque")

    def _initial(self, ins: SpirvInstruction, type: str) -> bytes:
        """Return the bytes of the initial value of a variable in memory."""
        initial = self._initializer(ins)
        if initial is None:
            return b""
        values = self._source.constants.scalars(initial)
        found = bytearray(self._types.size(type))
        if len(values) != len(self._types.scalars(type)):
            raise InputError("the initial value has another type", self._module.path, ins.line, 1)
        for scalar, value in zip(self._types.scalars(type), values, strict=True):
            size = WIDTHS[bits_of(scalar.memory_kind)] // 8
            if isinstance(value, Number):
                found[scalar.offset : scalar.offset + size] = (value.value % (1 << 8 * size)).to_bytes(size, "little")
        return bytes(found)

    def _initializer(self, ins: SpirvInstruction) -> str | None:
        """Return the constant that is the initial value of a variable; None where it has none."""
        ids = [each.name for each in ins.operands if isinstance(each, Id)]
        own = ids if ins.name == "OpVariable" else ids[1:]
        return own[0] if own else None

    # functions

    def _body(self, id: str) -> SpirvBody:
        """Return the code of a function, which is written here where it is not yet, with those that it calls."""
        if id not in self._bodies:
            body = self._bodies[id] = SpirvBody(self._source, self._module.functions[id], self._names)
            write(body)
        return self._bodies[id]

    def _reached(self, start: str) -> list[str]:
        """Return a function and all that it calls, also by way of others."""
        found, waiting = {start: None}, [start]
        while waiting:
            for called in self._body(waiting.pop()).code.called:
                if called in self._module.functions and called not in found:
                    found[called] = None
                    waiting.append(called)
        return list(found)

    def _kernel(self, point: SpirvEntryPoint, function: SpirvFunction) -> tuple[KernelFunction, list[SpirvParameter]]:
        """Return the kernel of an entry point, and its parameters that are declared."""
        reached = self._reached(function.name)
        for id in reached[1:]:
            self._callable(self._module.functions[id])
        if any(function.name in self._body(id).code.called for id in reached):
            self._callable(function)
        body = self._body(function.name)
        used = {id for each in reached for id in self._body(each).code.used}
        start = SpirvCode(self._source, SpirvInstruction("OpEntryPoint", None, None, (), function.line))
        for refused in refusals(self._module, EXTENDED):
            if refused.function in (None, point.function):
                start.at = refused.at
                start.put(NOT_UNDERSTOOD, (refused.why,), ())
        bounds = [each for id in reached for each in self._launch_bounds(id)]
        for each in bounds:
            if not each.isdecimal():
                start.put(NOT_UNDERSTOOD, (f"__launch_bounds__({each}), which is no number, is not understood",), ())
        parameters = [*self._arguments(start, function)]
        for id, name in self._source.symbols.items():
            bound = id in point.interface and self._variables[name].space == "argument"
            if id in used or bound:
                parameters += self._given(start, id)
        parameters += self._specialised()
        variables = (*body.code.variables.values(), *start.variables.values())
        kernel = KernelFunction(
            point.name,
            True,
            (),
            tuple(each.variable for each in parameters),
            {**start.registers, **body.code.registers},
            variables,
            (*start.code, *body.code.code),
            moved_labels(body.code.labels, len(start.code)),
            {},
            line=function.line,
            directives=tuple(f".maxntid {each}" for each in bounds if each.isdecimal()),
            block_size=BlockSize(
                self._local_size(point.function),
                tuple(n for n, number in enumerate(self._sizes) if number is not None),
            ),
        )
        return with_fields(kernel), parameters

    def _callable(self, function: SpirvFunction) -> None:
        """Add a function that others call, with scalars as parameters and results."""
        name = function_name(function.name)
        if name in self._functions:
            return
        body = self._body(function.name)
        try:
            results = results_of(body.code, function)
            parameters = []
            for each in function.parameters:
                kinds = body.code.kinds(each.type or "")
                registers = body.code.registers_of(each.result or "", kinds)
                pairs = zip(registers, kinds, strict=True)
                parameters += [Variable(register.name, "reg", kind, 8, 8) for register, kind in pairs]
        except InputError:
            return  # that it is not there is said where it is called
        self._functions[name] = KernelFunction(
            name,
            False,
            results,
            tuple(parameters),
            body.code.registers,
            tuple(body.code.variables.values()),
            tuple(body.code.code),
            body.code.labels,
            {},
            line=function.line,
        )

    # what a launch gives

    def _arguments(self, start: SpirvCode, function: SpirvFunction) -> Iterator[SpirvParameter]:
        """Yield the parameters of an OpenCL kernel, whose registers have their values from the start."""
        for parameter in function.parameters:
            id, type = parameter.result or "", parameter.type or ""
            start.at = parameter
            name = self._names[id]
            target = Register(register_name(id))
            storage = self._types.storage(type) if self._types.is_pointer(type) else None
            start.registers[target.name] = ADDRESS
            if storage is None and not self._types.is_value(type):  # an image or the like, whose uses are refused
                yield SpirvParameter(Variable(name, "opaque", "b8", 8, 8), name)
            elif storage == "Workgroup":
                self._variables[name] = Variable(name, "shared", "b8", None, 8, line=parameter.line)
                start.put("mov", ("b64",), (target, SymbolRef(name)))
                self._homes[id] = SpirvHome(
                    Array("shared", NOBODY, name), name, self._types.pointee(type), several=True
                )
                yield SpirvParameter(Variable(name, "shared", ADDRESS, 8, 8), name)
            elif storage == "Function":  # a struct by value
                inner = self._types.pointee(type)
                size, fields = self._types.size(inner), self._fields.of(inner, id)
                self._homes[id] = SpirvHome(Array("param", NOBODY, name), name, inner, value=True)
                start.put("mov", ("b64",), (target, SymbolRef(name)))
                yield SpirvParameter(Variable(name, "param", "b8", size, 8, fields=fields), name)
            elif storage is not None:
                start.put("load", (ADDRESS,), (target, MemoryOperand(SymbolRef(name))))
                self._homes[id] = SpirvHome(argument_array(name), name, self._types.pointee(type), several=True)
                self._describe(argument_array(name), self._fields.pointee(type, id))
                yield SpirvParameter(Variable(name, "param", ADDRESS, 8, 8), name, self._fields.element(type, id))
            else:
                yield from self._values_given(start, id, type, name)

    def _describe(self, array: Array, type: DescribedType | None) -> None:
        """Put down what an array is made of, where that is known."""
        if type is not None:
            self._arrays[DescribedArray(array, type)] = None

    def _values_given(self, start: SpirvCode, id: str, type: str, name: str) -> Iterator[SpirvParameter]:
        """Yield a parameter that is a number, or the numbers of a vector or struct, one after the other."""
        scalars = self._types.scalars(type)
        registers = start.registers_of(id, [scalar.kind for scalar in scalars])
        size = self._types.size(type)
        kind = NUMBER if size == 8 else "b8"
        for register, scalar in zip(registers, scalars, strict=True):
            where = MemoryOperand(SymbolRef(name), scalar.offset)
            start.put("load", (scalar.memory_kind.replace("f", "b"),), (register, where))
        self._homes[id] = SpirvHome(Array("param", NOBODY, name), name, type, value=True)
        yield SpirvParameter(Variable(name, "param", kind, size, 8, fields=self._fields.of(type, id)), name)

    def _given(self, start: SpirvCode, id: str) -> Iterator[SpirvParameter]:
        """Write what a variable holds at the start, where it is the thread's own; yield what the launch gives of it."""
        ins = self._module.globals[id]
        name = self._source.symbols[id]
        variable = self._variables[name]
        start.at = ins._replace(source=None)
        if variable.space == "opaque":
            start.put(NOT_UNDERSTOOD, (f"{name}, or what it begins with, is not understood",), ())
            return
        if variable.space == "argument":
            called = self._called(id)
            type = self._pointee(ins)
            self._homes[id] = SpirvHome(argument_array(called), name, type)
            self._describe(argument_array(called), self._fields.block(type))
            parts = self._parts(type)
            yield SpirvParameter(Variable(name, "argument", "b8", variable.size, 8, parts=parts), called)
        if variable.space != "local":
            return
        type, storage = self._pointee(ins), self._types.storage(ins.type or "")
        values: Sequence[Operand] = ()
        initial = self._initializer(ins)
        if storage == "Input" and initial is None:
            builtin = self._module.decoration(id, "BuiltIn")
            match builtin:
                case Enumerant(_, (Enumerant(which), *_)) if not is_built_in(which):
                    start.put(NOT_UNDERSTOOD, (f"the built-in variable {which} is not understood",), ())
            values = _builtin(builtin, len(self._types.scalars(type)))
        elif storage in ("PushConstant", "Uniform"):
            yield from self._members(start, id, type, name)
            return
        elif initial is not None:
            values = self._source.constants.scalars(initial)
        for scalar, value in zip(self._types.scalars(type), values, strict=False):
            start.put("store", (scalar.memory_kind,), (MemoryOperand(SymbolRef(name), scalar.offset), value))

    def _parts(self, type: str) -> tuple[tuple[int, str], ...]:
        """Return the places and names of the members of a block that has several, where all have names."""
        count = self._types.length(type) or 0 if self._types.name(type) == "OpTypeStruct" else 0
        names = [self._module.member_names.get((type, member), "") for member in range(count)]
        if count < 2 or not all(names):
            return ()
        places = (self._types.element(type, member).offset for member in range(count))
        return tuple(sorted(zip(places, (re.sub(r"\W", "_", name) for name in names), strict=True)))

    def _members(self, start: SpirvCode, id: str, type: str, name: str) -> Iterator[SpirvParameter]:
        """Yield the members of a block of push constants or of a uniform buffer, and write them to it."""
        struct = self._types.name(type) == "OpTypeStruct"
        count = self._types.length(type) or 0 if struct else 1
        built = self._reflection.built_in
        alone = self._module.names.get(id) if count == 1 else None  # naga puts a value into a block of its own
        members: list[tuple[str, int, int]] = []
        for member in range(count):
            element = self._types.element(type, member) if struct else None
            inner, offset = (element.type, element.offset) if element else (type, 0)
            parameter = f"{name}_{member}"
            called = self._module.member_names.get((type, member)) or self._reflection.pushed.get(offset)
            called = called or alone or parameter
            used = False
            for scalar in self._types.scalars(inner):
                kind = scalar.memory_kind.replace("f", "b")
                where = MemoryOperand(SymbolRef(name), offset + scalar.offset)
                value: Operand | None = built.get(offset + scalar.offset)
                if value is None:
                    used = True
                    value = start.temporary(kind)
                    start.put("load", (kind,), (value, MemoryOperand(SymbolRef(parameter), scalar.offset)))
                start.put("store", (kind,), (where, value))
            if used:
                size = self._types.size(inner)
                kinds = {scalar.kind for scalar in self._types.scalars(inner)}
                address = ADDRESS if size == 8 and kinds == {ADDRESS} else "b8"
                members.append((parameter, offset, size))
                own = Variable(parameter, "param", address, size, 8, fields=self._fields.of(inner))
                yield SpirvParameter(own, called)
        self._homes[id] = SpirvHome(Array("param", NOBODY, name), name, type, value=True, members=tuple(members))

    def _called(self, id: str) -> str:
        """Return the name that the source has for a variable, or for what it is a block of."""
        type = self._pointee(self._module.globals[id])
        if id in self._reflection.names:
            return self._reflection.names[id]
        block = self._types.name(type) == "OpTypeStruct"
        member = self._module.member_names.get((type, 0)) if block and self._types.length(type) == 1 else None
        said = self._module.names.get(id) or member or self._module.names.get(type if block else "")
        return re.sub(r"\W", "_", said or ("" if id.isdecimal() else id), flags=re.ASCII) or self._names[id]

    def _specialised(self) -> Iterator[SpirvParameter]:
        """Yield the constants of specialisation, but for those that are the size of a work-group."""
        for id, ins in self._module.globals.items():
            number = spec_id(self._module, id)
            if number is not None and number not in self._sizes and ins.type is not None:
                name = f"spec_{number}"
                variable = Variable(name, SPECIALISED, "b8", self._types.size(ins.type), 8, line=number)
                self._homes[id] = SpirvHome(Array(SPECIALISED, NOBODY, name), name, ins.type, value=True)
                yield SpirvParameter(variable, self._module.names.get(id) or (name if id.isdecimal() else id))

    def _launch_bounds(self, function: str) -> Iterator[str]:
        """Yield the most threads of a block that HIP's ``__launch_bounds__`` gives a function, as it is written."""
        for each in self._module.decorations.get(function, ()):
            match each:
                case Enumerant("UserSemantic", (SpirvString(said), *_)) if said.startswith(_LAUNCH_BOUNDS):
                    yield said.removeprefix(_LAUNCH_BOUNDS).partition(",")[0].strip()

    def _local_size(self, function: str) -> tuple[int, int, int] | None:
        """Return the size of a work-group where the module says it, if by constants of specialisation as they are.

        Raises ``InputError`` where it says it by what is no number from 1 on.
        """
        parts = _size_parts(self._module, function)
        numbers = [self._source.constants.number(each) for each in parts]
        said = [mode for mode in self._module.execution_modes.get(function, ()) if mode.name in _SIZES]
        if len(said) > 1:
            raise InputError(f"{function} has {len(said)} sizes of a work-group", self._module.path)
        for mode in said:
            if mode.name == "LocalSize" and not numbers:
                numbers = [each.value for each in mode.parameters if isinstance(each, SpirvInteger)]
        if not numbers:
            return None
        if len(numbers) != 3 or min(numbers) < 1:
            raise InputError(f"a work-group of {numbers} threads is not understood", self._module.path)
        return numbers[0], numbers[1], numbers[2]


def spec_id(module: SpirvModule, id: str) -> int | None:
    """Return the number of a constant of specialisation; None where it is none."""
    ins, said = module.globals.get(id), module.decoration(id, "SpecId")
    match said:
        case Enumerant(_, (SpirvInteger(number), *_)) if ins is not None and ins.name.startswith("OpSpecConstant"):
            return number
    return None


def specialised_sizes(module: SpirvModule) -> tuple[int | None, ...]:
    """Return the constants of specialisation that are the size of a work-group along x, y and z, by ``SpecId``."""
    return tuple(spec_id(module, each) for each in _size_parts(module, None)) or reflected(module).sizes


def _size_parts(module: SpirvModule, function: str | None) -> list[str]:
    """Return the constants that are the size of a work-group, where the module says it by constants."""
    for id, decorations in module.decorations.items():
        if Enumerant("BuiltIn", (Enumerant(WORKGROUP_SIZE),)) in decorations and id in module.globals:
            return [each.name for each in module.globals[id].operands if isinstance(each, Id)]
    for name, modes in module.execution_modes.items():
        for mode in modes:
            if mode.name == "LocalSizeId" and function in (None, name):
                return [each.name for each in mode.parameters if isinstance(each, Id)]
    return []


def _builtin(decoration: Enumerant | None, count: int) -> list[Operand]:
    """Return the special registers that hold a built-in value."""
    match decoration:
        case Enumerant(_, (Enumerant(name), *_)):
            return [Register(f"%{name}.{n}") for n in range(count)]
    return []
