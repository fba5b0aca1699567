"""What clspv says of the OpenCL kernels that it has compiled for Vulkan (NonSemantic.ClspvReflection): the names of
arguments, which push constants are built-in values, and which constants of specialisation are the size of a work-group.

    %arg = OpExtInst %void %set ArgumentInfo %string_l
    OpExtInst %void %set ArgumentStorageBuffer %kernel %uint_0 %uint_0 %uint_1 %arg     l is set 0, binding 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from corpus.code.ir import Register
from corpus.code.spirv.module import (
    Enumerant,
    Id,
    SpirvInstruction,
    SpirvModule,
    SpirvOperand,
    extended_of,
    number_of,
    string_of,
)

SET = "NonSemantic.ClspvReflection"
"""How the name of the set begins."""

_BUILT_IN = {
    "PushConstantGlobalOffset": "GlobalOffset",
    "PushConstantEnqueuedLocalSize": "WorkgroupSize",
    "PushConstantGlobalSize": "GlobalSize",
    "PushConstantRegionOffset": "GlobalOffset",
    "PushConstantNumWorkgroups": "NumWorkgroups",
    "PushConstantRegionGroupOffset": "GlobalOffset",
}
"""The built-in values in push constants, by the instructions that say so."""


class ClspvReflection(NamedTuple):
    """Names of buffers by the ids of their variables; the special registers that push constants hold, by their bytes;
    names of arguments in push constants by their bytes; the ``SpecId`` of the size of a work-group along x, y and z;
    and those of the lengths of local memory, which the host gives, with the names of the arguments.
    """

    names: Mapping[str, str]
    built_in: Mapping[int, Register]
    pushed: Mapping[int, str]
    sizes: tuple[int, ...]
    local: Mapping[int, str]


def reflected(module: SpirvModule) -> ClspvReflection:
    """Return what a module says of itself; nothing where it is not of clspv."""
    bound = {
        tuple(module.decorated(id, name) for name in ("DescriptorSet", "Binding")): id
        for id, ins in module.globals.items()
        if ins.name == "OpVariable"
    }
    names: dict[str, str] = {}
    built_in: dict[int, Register] = {}
    pushed: dict[int, str] = {}
    sizes: tuple[int, ...] = ()
    local: dict[int, str] = {}
    for ins in module.debug.values():
        which, operands = extended_of(ins, module.imports, SET)
        numbers = [number_of(operand, module.globals) for operand in operands]
        if which in _BUILT_IN and numbers and numbers[0] is not None:
            built_in |= {numbers[0] + 4 * n: Register(f"%{_BUILT_IN[which]}.{n}") for n in range(3)}
        elif which == "SpecConstantWorkgroupSize":
            sizes = tuple(number for number in numbers if number is not None)
        elif which == "ArgumentWorkgroup" and len(operands) > 2 and numbers[2] is not None:
            local[numbers[2]] = _name(module, operands)
        elif which == "ArgumentPodPushConstant" and len(operands) > 4 and numbers[2] is not None:
            pushed[numbers[2]] = _name(module, operands)
        elif which in ("ArgumentStorageBuffer", "ArgumentUniform") and len(operands) > 4:
            variable = bound.get(tuple(numbers[2:4]))
            name = _name(module, operands)
            if variable is not None and name:
                names[variable] = name
    return ClspvReflection(names, built_in, pushed, sizes, local)


def _name(module: SpirvModule, operands: Sequence[SpirvOperand]) -> str:
    """Return the name of the argument whose ``ArgumentInfo`` is the fifth operand, where there is one."""
    match module.debug.get(operands[4].name) if len(operands) > 4 and isinstance(operands[4], Id) else None:
        case SpirvInstruction(operands=(Id(), Enumerant("ArgumentInfo"), string, *_)):
            return string_of(string, module.debug) or ""
    return ""
