"""Variables of a module of SPIR-V: their names, and the memory that they are (SPIR-V 1.6, 3.7).

A buffer is an argument, by the name that the module gives it (``OpName``), or by its set and binding, ``b0_1``. Memory
of a thread's own is that of ``Function`` and ``Private`` variables, and of what is given: built-in values, push
constants and uniform buffers.

    OpDecorate %out Binding 2                        parameter b0_2, out in the source
    %out = OpVariable %ptr StorageBuffer             an array of global memory
    %tmp = OpVariable %ptr2 Workgroup                an array of shared memory, one in each block
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from corpus.code.ir import Number, Variable
from corpus.code.launch.fields import DescribedArray, DescribedType
from corpus.code.places import NOBODY, Array
from corpus.code.spirv.claims import SpirvHome
from corpus.code.spirv.code import SpirvSource, bits_of
from corpus.code.spirv.constants import spec_id
from corpus.code.spirv.fields import passed_on
from corpus.code.spirv.module import Enumerant, Id, SpirvInstruction, SpirvModule, string_of
from corpus.errors import InputError
from corpus.litmus.ptx_arithmetic import WIDTHS

# names


def names_in(module: SpirvModule) -> dict[str, str]:
    """Return a name for each variable, and each parameter of a function, that no other has there: what ``OpName`` says,
    the set and binding of what is bound, or what instructions for debuggers say.

    What has one binding has one name, and parameters of two functions may.
    """
    found: dict[str, str] = {}
    taken = {_bound(module, target) for target in module.decorations if isinstance(target, str)}
    passed, described = passed_on(module), _described(module)

    def name(id: str, taken: set[str]) -> None:
        bound = _bound(module, id)
        if bound:  # what has one binding is one memory
            found[id] = bound
            return
        own = module.names.get(id) or module.names.get(passed.get(id, "")) or described.get(passed.get(id, id), "")
        own = own.removesuffix(".coerce").rpartition(".")[2] or (f"v{id}" if id.isdecimal() else id)
        plain = free = re.sub(r"\W", "_", own, flags=re.ASCII)
        number = 1
        while free in taken:
            number += 1
            free = f"{plain}_{number}"
        taken.add(free)
        found[id] = free

    for id, ins in module.globals.items():
        if ins.is_variable:
            name(id, taken)
    parameters: set[str] = set()
    for function in module.functions.values():
        own = set(taken)
        for parameter in function.parameters:
            name(parameter.result or "", own)
        parameters |= own
    taken |= parameters
    for ins in module.instructions:
        if ins.is_variable:
            name(ins.result or "", taken)
    return found


def _described(module: SpirvModule) -> dict[str, str]:
    """Return the names of the variables of the source whose values ids are, as instructions for debuggers say."""
    found: dict[str, str] = {}
    for ins in module.instructions:
        match ins.operands:
            case (Id(), Enumerant("DebugValue" | "DebugDeclare"), Id(variable), Id(value), *_) if (
                variable in module.debug
            ):
                name = next((each for each in module.debug[variable].operands[2:] if isinstance(each, Id)), None)
                text = string_of(name, module.debug)
                if text is not None:
                    found.setdefault(value, text)
    return found


def _bound(module: SpirvModule, id: str) -> str:
    """Return the name of what is bound by set and binding, ``b0_1``; empty where it is not."""
    numbers = [module.decorated(id, decoration) for decoration in ("DescriptorSet", "Binding")]
    return "" if None in numbers else f"b{numbers[0]}_{numbers[1]}"


# memory

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

MOST_GIVEN = 256
"""The scalars that a uniform buffer may have whose values are known from the start; larger ones are memory."""


@dataclass(frozen=True, slots=True)
class SpirvMemory:
    """The memory of the kernels of a module, as far as it is declared: ``variables`` by name, ``homes`` of what
    annotations may name by id, and what ``arrays`` are made of.
    """

    variables: dict[str, Variable] = field(default_factory=dict)
    homes: dict[str, SpirvHome] = field(default_factory=dict)
    arrays: dict[DescribedArray, None] = field(default_factory=dict)

    def describe(self, array: Array, type: DescribedType | None) -> None:
        """Put down what an array is made of, where that is known."""
        if type is not None:
            self.arrays[DescribedArray(array, type)] = None


def declare(source: SpirvSource, memory: SpirvMemory, id: str) -> None:
    """Declare a variable of the module in the state space of its storage class; one that is not understood is opaque,
    which counts where it is used.
    """
    ins, name = source.module.globals[id], source.symbols[id]
    try:
        memory.variables[name] = _variable(source, memory.variables.get(name), ins, name)
        memory.homes[id] = SpirvHome(Array(memory.variables[name].space, NOBODY, name), "", pointee_of(source, ins))
    except InputError:
        memory.variables[name] = Variable(name, "opaque", "b8", None, 8, line=ins.line)


def _variable(source: SpirvSource, other: Variable | None, ins: SpirvInstruction, name: str) -> Variable:
    """Return the memory that a variable is, which may be that of another one with the same binding."""
    module, types = source.module, source.types
    type = pointee_of(source, ins)
    if _is_several(source, ins, type):
        raise InputError(f"{name} is several buffers", module.path, ins.line, 1)
    size = None if types.ends_open(type) or _is_given(source, type) else types.size(type)
    space = _space(source, ins)
    if other is not None and other.space != space:
        raise InputError(f"{name} is memory that is written and what is given", module.path, ins.line, 1)
    if other is not None:
        size = None if size is None or other.size is None else max(size, other.size)
    extern = _is_elsewhere(module, ins.result or "")
    return Variable(name, space, "b8", size, 8, _initial(source, ins, type), extern=extern, line=ins.line)


def _is_elsewhere(module: SpirvModule, id: str) -> bool:
    """Return whether a variable is one of another module, which it names for the linker; built-in ones are not."""
    linkage = module.decoration(id, "LinkageAttributes")
    return (
        module.decoration(id, "BuiltIn") is None and linkage is not None and Enumerant("Import") in linkage.parameters
    )


def _is_given(source: SpirvSource, type: str) -> bool:
    """Return whether a type is that of local memory whose length the host gives."""
    ins = source.types.of(type).at
    return ins.name == "OpTypeArray" and spec_id(source.module, ins.ids[1]) in source.reflection.local


def _is_several(source: SpirvSource, ins: SpirvInstruction, type: str) -> bool:
    """Return whether a variable is an array of buffers, which are no neighbours in memory (SPIR-V 1.6, 2.16.2)."""
    buffer = source.types.of(ins.type or "").storage in ("StorageBuffer", "Uniform")
    return buffer and source.types.of(type).name in ("OpTypeArray", "OpTypeRuntimeArray")


def pointee_of(source: SpirvSource, ins: SpirvInstruction) -> str:
    """Return the type of what a variable holds. Raises ``InputError`` where nothing says it."""
    if ins.name == "OpVariable":
        return source.types.of(ins.type or "").pointee
    if not ins.ids:
        raise InputError(f"nothing says what %{ins.result} holds", source.module.path, ins.line, 1)
    return ins.ids[0]


def _space(source: SpirvSource, ins: SpirvInstruction) -> str:
    """Return the space of a variable. Uniform memory that is written, or is large, is an argument in memory."""
    storage = source.types.of(ins.type or "").storage
    type = pointee_of(source, ins)
    if storage == "Uniform" and (
        source.module.decoration(type, "Block") is None
        or source.types.ends_open(type)
        or len(source.types.scalars(type)) > MOST_GIVEN
    ):
        return "argument"
    return _SPACES.get(storage, "opaque")


def _initial(source: SpirvSource, ins: SpirvInstruction, type: str) -> bytes:
    """Return the bytes of the initial value of a variable in memory."""
    if ins.initializer is None:
        return b""
    values, scalars = source.constants.scalars(ins.initializer), source.types.scalars(type)
    found = bytearray(source.types.size(type))
    if len(values) != len(scalars):
        raise InputError("the initial value has another type", source.module.path, ins.line, 1)
    for scalar, value in zip(scalars, values, strict=True):
        size = WIDTHS[bits_of(scalar.memory_kind)] // 8
        if isinstance(value, Number):
            found[scalar.offset : scalar.offset + size] = (value.value % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(found)
